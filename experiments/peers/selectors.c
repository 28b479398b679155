/* selectors PAGE...: selection by HPar and by lexbor in one process. Prints, for each selector, the
 * shortest of 9 alternating rounds over all pages in nanoseconds of CPU time, and the matches. */

#include <hpar/hpar.h>
#include <lexbor/css/css.h>
#include <lexbor/html/html.h>
#include <lexbor/selectors/selectors.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9 };

static const char *const texts[] = {
    "a",
    "div",
    ".nav",
    "[href]",
    "#content",
    "div p",
    "ul > li",
    "a[href^=http]",
    "p:first-child",
    "div:not(.x)",
    "li:nth-child(2n+1)",
    "h2 + p",
    "h2 ~ p",
    "div div div",
    "table tr td a",
    "*",
    ":is(ul, ol) > li",
    "p:empty",
    "li:last-child",
    "td:nth-of-type(2)",
    "div:has(> p)",
    "ul li a[href], p a[href]",
};

typedef struct result {
  uint64_t nanoseconds, matches;
} result;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static hpar_status count_hpar(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(uint64_t *)context;
  return HPAR_OK;
}

static lxb_status_t count_lexbor(lxb_dom_node_t *node, lxb_css_selector_specificity_t specificity, void *context) {
  (void)node, (void)specificity;
  ++*(uint64_t *)context;
  return LXB_STATUS_OK;
}

static void keep_shortest(result *best, uint64_t begin, uint64_t matches) {
  uint64_t taken = now() - begin;
  if (taken < best->nanoseconds) best->nanoseconds = taken;
  best->matches = matches;
}

/* Runs one selector. Returns false if a library rejects it. */
static bool compare(const char *text, hpar_document **trees, lxb_html_document_t **others, size_t count, result *hpar,
                    result *lexbor) {
  hpar_selectors *set;
  lxb_css_parser_t *css = lxb_css_parser_create();
  lxb_selectors_t *selectors = lxb_selectors_create();
  if (hpar_selectors_create(&set) || hpar_selectors_add(set, text, strlen(text), NULL)) return false;
  if (lxb_css_parser_init(css, NULL) || lxb_selectors_init(selectors)) return false;
  lxb_selectors_opt_set(selectors, LXB_SELECTORS_OPT_MATCH_FIRST); /* each element once, as HPar */
  lxb_css_selector_list_t *list = lxb_css_selectors_parse(css, (const lxb_char_t *)text, strlen(text));
  if (!list) return false;
  *hpar = *lexbor = (result){UINT64_MAX, 0};
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t matches = 0, begin = now();
    for (size_t i = 0; i < count; i++)
      if (hpar_select(set, trees[i], hpar_document_root(trees[i]), NULL, count_hpar, &matches)) return false;
    keep_shortest(hpar, begin, matches);
    matches = 0;
    begin = now();
    for (size_t i = 0; i < count; i++)
      if (lxb_selectors_find(selectors, lxb_dom_interface_node(others[i]), list, count_lexbor, &matches)) return false;
    keep_shortest(lexbor, begin, matches);
  }
  hpar_selectors_destroy(set);
  lxb_selectors_destroy(selectors, true);
  lxb_css_parser_destroy(css, true);
  return true;
}

/* Returns the bytes of a file, or NULL. The trees point into them, so that nothing frees them. */
static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (bytes) *length = fread(bytes, 1, *length, file);
  fclose(file);
  return bytes;
}

int main(int count, char **arguments) {
  size_t pages = (size_t)count - 1;
  hpar_document **trees = calloc(pages + 1, sizeof *trees);
  lxb_html_document_t **others = calloc(pages + 1, sizeof *others);
  hpar_parser *parser;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  if (!pages || !trees || !others || hpar_parser_create(&parser)) return 2;
  for (size_t i = 0; i < pages; i++) {
    size_t length;
    char *bytes = read_file(arguments[i + 1], &length);
    if (!bytes || hpar_document_create(&trees[i]) || !(others[i] = lxb_html_document_create())) return 1;
    if (hpar_parse(parser, &options, bytes, length, trees[i], NULL)) return 1;
    if (lxb_html_document_parse(others[i], (const lxb_char_t *)bytes, length)) return 1;
  }
  uint64_t hpar_sum = 0, lexbor_sum = 0;
  printf("%-26s %12s %9s %12s %9s %6s\n", "selector", "HPar ns", "matches", "lexbor ns", "matches", "ratio");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    result hpar, lexbor;
    if (!compare(texts[i], trees, others, pages, &hpar, &lexbor)) return 1;
    printf("%-26s %12llu %9llu %12llu %9llu %6.2f\n", texts[i], (unsigned long long)hpar.nanoseconds,
           (unsigned long long)hpar.matches, (unsigned long long)lexbor.nanoseconds, (unsigned long long)lexbor.matches,
           (double)lexbor.nanoseconds / (double)hpar.nanoseconds);
    hpar_sum += hpar.nanoseconds;
    lexbor_sum += lexbor.nanoseconds;
  }
  printf("%-26s %12llu %9s %12llu %9s %6.2f\n", "all", (unsigned long long)hpar_sum, "", (unsigned long long)lexbor_sum,
         "", (double)lexbor_sum / (double)hpar_sum);
  return 0;
}
