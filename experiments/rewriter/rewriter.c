/* hpar-rewriter ROUNDS FILE...: the speed of the rewriter on pages, as one JSON object. Each case
 * rewrites all pages in each round; the shortest round counts. */

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if HPAR_LEXBOR
#include <lexbor/html/html.h>
#include <lexbor/html/serialize.h>
#include <lexbor/html/tokenizer.h>
#endif

enum { MAX_RULES = 100, SELECTOR_BYTES = 32 };

typedef struct page {
  char *bytes;
  size_t length;
} page;

static page *pages;
static size_t page_count, total, longest;
static char *copy;
static uint64_t sum; /* of all output, so that the compiler keeps it */
static hpar_rewriter *rewriter;
static hpar_rules *rules;

static void check(bool is_fine, const char *problem) {
  if (is_fine) return;
  fprintf(stderr, "hpar-rewriter: %s\n", problem);
  exit(1);
}

static void add_bytes(const char *bytes, size_t length) {
  uint64_t word;
  for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
    memcpy(&word, bytes, sizeof word);
    sum += word;
  }
  while (length--) sum += (unsigned char)*bytes++;
}

static hpar_status add_output(const char *bytes, size_t length, void *context) {
  (void)context;
  add_bytes(bytes, length);
  return HPAR_OK;
}

/*** what is measured ***/

static void run_copy(const page *p) {
  memcpy(copy, p->bytes, p->length);
  add_bytes(copy, p->length);
}

static void run_rewriter(const page *p) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  check(!hpar_rewrite(rewriter, rules, &options, p->bytes, p->length, NULL, add_output, NULL),
        "a page is not rewritten");
}

#if HPAR_LEXBOR
static lxb_html_token_t *take_token(lxb_html_tokenizer_t *tokenizer, lxb_html_token_t *token, void *context) {
  (void)tokenizer, (void)context;
  sum += token->tag_id;
  return token;
}

static void run_lexbor_tokenizer(const page *p) {
  lxb_html_tokenizer_t *tokenizer = lxb_html_tokenizer_create();
  check(tokenizer && !lxb_html_tokenizer_init(tokenizer), "lexbor has no memory");
  lxb_html_tokenizer_callback_token_done_set(tokenizer, take_token, NULL);
  check(!lxb_html_tokenizer_begin(tokenizer) &&
            !lxb_html_tokenizer_chunk(tokenizer, (const lxb_char_t *)p->bytes, p->length) &&
            !lxb_html_tokenizer_end(tokenizer),
        "lexbor does not tokenize a page");
  lxb_html_tokenizer_destroy(tokenizer);
}

static lxb_status_t add_lexbor_output(const lxb_char_t *bytes, size_t length, void *context) {
  (void)context;
  add_bytes((const char *)bytes, length);
  return LXB_STATUS_OK;
}

static void run_lexbor_tree(const page *p) {
  lxb_html_document_t *document = lxb_html_document_create();
  check(document && !lxb_html_document_parse(document, (const lxb_char_t *)p->bytes, p->length),
        "lexbor does not parse a page");
  lxb_html_serialize_tree_cb(lxb_dom_interface_node(document), add_lexbor_output, NULL);
  lxb_html_document_destroy(document);
}
#endif

/*** rules ***/

static hpar_status retire(hpar_element_end *end, void *context) {
  (void)context;
  hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "<script src=a.js></script>", 26, HPAR_CONTENT_HTML);
  return HPAR_RETIRE;
}

static void begin_rules(void) { check(!hpar_rules_create(&rules), "no memory"); }
static void end_rules(void) { check(!hpar_rules_compile(rules), "no memory"); }

static void add_rule(const char *selector, const hpar_action *action) {
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = action, .action_count = action ? 1 : 0};
  hpar_error error;
  check(!hpar_rules_add(rules, &rule, &error), "a rule is refused");
}

static const hpar_action remove_element = {.kind = HPAR_ACTION_REMOVE};
static const hpar_action set_href = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
static const hpar_action set_class = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "class", .value = {"x", 1}};
static const hpar_action find = {
    .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"the", 3}, .replacement = {"a", 1}};
static const hpar_action remove_comment = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};

static void many(size_t count) {
  char selector[SELECTOR_BYTES];
  for (size_t i = 0; i < count; i++) {
    snprintf(selector, sizeof selector, ".c%zu > a[href]", 1000 + i);
    add_rule(selector, &set_href);
  }
}

static void make_none(void) {}
static void make_no_match(void) { add_rule("x-none", &remove_element); }
static void make_no_match_stack(void) { add_rule("x-none y", &remove_element); }
static void make_set(void) { add_rule("a[href]", &set_href); }
static void make_div(void) { add_rule("div", &set_class); }
static void make_1(void) { many(1); }
static void make_10(void) { many(10); }
static void make_100(void) { many(MAX_RULES); }
static void make_find(void) { add_rule(NULL, &find); }
static void make_comments(void) { add_rule(NULL, &remove_comment); }
static void make_inject(void) {
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "head", .end = retire, .limit = 0, .implied = true};
  hpar_error error;
  check(!hpar_rules_add(rules, &rule, &error), "a rule is refused");
}

static const struct {
  const char *name;
  void (*make)(void); /* the rules; NULL: another program */
  void (*run)(const page *page);
} cases[] = {
    {"memcpy", NULL, run_copy},
    {"pass through", make_none, run_rewriter},
    {"no match: x-none", make_no_match, run_rewriter},
    {"no match: x-none y", make_no_match_stack, run_rewriter},
    {"a[href]: set href", make_set, run_rewriter},
    {"div: set class", make_div, run_rewriter},
    {"1 selector", make_1, run_rewriter},
    {"10 selectors", make_10, run_rewriter},
    {"100 selectors", make_100, run_rewriter},
    {"find in all texts", make_find, run_rewriter},
    {"remove comments", make_comments, run_rewriter},
    {"inject at the end of head", make_inject, run_rewriter},
#if HPAR_LEXBOR
    {"lexbor: tokenizer", NULL, run_lexbor_tokenizer},
    {"lexbor: parse and serialise", NULL, run_lexbor_tree},
#endif
};

/*** measurement ***/

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void read_page(const char *path, page *p) {
  FILE *file = fopen(path, "rb");
  check(file && !fseek(file, 0, SEEK_END), path);
  long size = ftell(file);
  check(size >= 0 && !fseek(file, 0, SEEK_SET), path);
  p->length = (size_t)size;
  p->bytes = malloc(p->length + 1);
  check(p->bytes && fread(p->bytes, 1, p->length, file) == p->length, path);
  fclose(file);
  total += p->length;
  if (p->length > longest) longest = p->length;
}

/* Returns the nanoseconds of the shortest round. */
static uint64_t measure(size_t index, unsigned long rounds) {
  uint64_t shortest = UINT64_MAX;
  if (cases[index].make) {
    begin_rules();
    cases[index].make();
    end_rules();
  }
  for (unsigned long round = 0; round < rounds; round++) {
    uint64_t start = now();
    for (size_t i = 0; i < page_count; i++) cases[index].run(&pages[i]);
    uint64_t time = now() - start;
    if (time < shortest) shortest = time;
  }
  hpar_rules_destroy(rules);
  rules = NULL;
  return shortest;
}

int main(int count, char **arguments) {
  unsigned long rounds = count > 2 ? strtoul(arguments[1], NULL, 10) : 0;
  if (!rounds) {
    fputs("usage: hpar-rewriter ROUNDS FILE...\n", stderr);
    return 2;
  }
  page_count = (size_t)count - 2;
  pages = calloc(page_count, sizeof *pages);
  check(pages, "no memory");
  for (size_t i = 0; i < page_count; i++) read_page(arguments[i + 2], &pages[i]);
  copy = malloc(longest + 1);
  check(copy && !hpar_rewriter_create(&rewriter), "no memory");
  printf("{\"rounds\": %lu, \"pages\": %zu, \"bytes\": %zu, \"cases\": {", rounds, page_count, total);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    printf("%s\"%s\": %llu", i ? ", " : "", cases[i].name, (unsigned long long)measure(i, rounds));
  printf("}, \"sum\": %llu}\n", (unsigned long long)sum);
  hpar_rewriter_destroy(rewriter);
  for (size_t i = 0; i < page_count; i++) free(pages[i].bytes);
  free(pages);
  free(copy);
  return 0;
}
