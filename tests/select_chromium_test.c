/* Compares selections with recorded results of Chromium's querySelectorAll, on the pages of
 * tests/chromium and the generated corpus. scripts/record-chromium-selectors writes the record.
 *
 *   select_chromium_test              checks tests/chromium/recorded.txt
 *   select_chromium_test FILE FOLDER  checks another record, for pages of a folder */

#include "check.h"
#include "support/buffer.h"
#include "support/corpus.h"
#include "support/shared.h"

#include <hpar/hpar.h>
#include <hpar/select.h>
#include <stdlib.h>

enum { MAX_SELECTORS = 300 };

static hpar_parser *parser;
static hpar_document *document;
static char *selectors[MAX_SELECTORS];
static size_t selector_count;

/* The number of each element by its handle, for the page at the time. */
static uint32_t *numbers;
static size_t number_capacity;

typedef struct found {
  uint64_t count;
  uint32_t hash; /* FNV-1a of the numbers of the elements, 4 bytes each */
} found;

static hpar_status add(hpar_node element, uint32_t selector, void *context) {
  found *f = context;
  (void)selector;
  f->count++;
  for (unsigned i = 0; i < 4; i++) f->hash = (f->hash ^ (numbers[element] >> (8 * i) & 255)) * 0x01000193;
  return HPAR_OK;
}

static bool read_selectors(void) {
  size_t length;
  char *text = shared_read(HPAR_SOURCE_DIR "/tests/chromium/selectors.txt", &length);
  if (!CHECK(text)) return false;
  for (char *line = strtok(text, "\n"); line && selector_count < MAX_SELECTORS; line = strtok(NULL, "\n"))
    selectors[selector_count++] = line;
  return CHECK(selector_count > 200 && selector_count < MAX_SELECTORS);
}

static bool number_elements(void) {
  hpar_node root = hpar_document_root(document);
  uint32_t number = 0;
  for (hpar_node node = root; (node = hpar_node_walk(document, root, node));) {
    if (node >= number_capacity) {
      number_capacity = 2 * (size_t)node;
      numbers = realloc(numbers, number_capacity * sizeof *numbers);
      if (!CHECK(numbers)) return false;
    }
    if (hpar_node_kind(document, node) == HPAR_NODE_ELEMENT) numbers[node] = number++;
  }
  return true;
}

/* Reads a page from a folder or, without a folder, from the project. */
static bool load(const char *name, const char *folder) {
  buffer page = {0};
  char path[4096];
  size_t stem = strlen(name) - strlen(".html");
  for (size_t i = 0; !folder && i < corpus_page_count; i++)
    if (strlen(corpus_pages[i].name) == stem && !memcmp(corpus_pages[i].name, name, stem)) corpus_pages[i].write(&page);
  if (!page.bytes) {
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : HPAR_SOURCE_DIR "/tests/chromium", name);
    char *bytes = shared_read(path, &length);
    if (!CHECK(bytes)) return false;
    buffer_add(&page, bytes, length);
    free(bytes);
  }
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8", .copy_input = true};
  bool fine = CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  buffer_free(&page);
  return fine && number_elements();
}

static void check_line(const char *name, size_t selector, const char *result) {
  char got[64] = "error";
  hpar_selectors *set = NULL;
  found f = {0, 0x811c9dc5};
  if (!CHECK(selector < selector_count) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  const char *text = selectors[selector];
  if (!hpar_selectors_add(set, text, strlen(text), NULL)) {
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add, &f), HPAR_OK);
    snprintf(got, sizeof got, "%" PRIu64 "\t%08x", f.count, (unsigned)f.hash);
  }
  hpar_selectors_destroy(set);
  const char *printed = got;
  if (!CHECK_STRING(printed, result)) printf("  %s: %s\n", name, text);
}

static void check_record(const char *path, const char *folder) {
  FILE *record = fopen(path, "r");
  char line[1024], at[256] = "";
  size_t lines = 0;
  bool is_loaded = false;
  if (!CHECK(record)) return;
  for (; fgets(line, sizeof line, record); lines++) {
    char name[256];
    size_t selector;
    int result = 0;
    line[strcspn(line, "\n")] = 0;
    if (!CHECK(sscanf(line, "%255[^\t]\t%zu\t%n", name, &selector, &result) == 2 && result)) break;
    if (strcmp(name, at)) is_loaded = load(strcpy(at, name), folder);
    if (is_loaded) check_line(name, selector, line + result);
  }
  CHECK(lines >= selector_count);
  fclose(record);
}

int main(int count, char **arguments) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  if (read_selectors()) {
    if (count == 3)
      check_record(arguments[1], arguments[2]);
    else
      check_record(HPAR_SOURCE_DIR "/tests/chromium/recorded.txt", NULL);
  }
  free(selectors[0]);
  free(numbers);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
