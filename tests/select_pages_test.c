/* Compares selections on real and generated pages with a plain matcher from right to left. Each
 * page has selectors of its own, made of the names that occur in it. The real pages are below
 * $HPAR_SHARED. The default is 20 selectors a page: HPAR_TEST_SCALE changes it, and HPAR_TEST_FULL
 * checks 200. */

#include "check.h"
#include "support/compare.h"
#include "support/corpus.h"
#include "support/plain_select.h"
#include "support/shared.h"

#include <stdlib.h>

enum { MAX_NAMES = 400, MAX_ELEMENTS = 50000, NAME_BYTES = 24 };

static hpar_parser *parser;
static hpar_document *document;

/* Names of the page, with repetitions, so that frequent names are drawn often. */
typedef struct names {
  char bytes[MAX_NAMES][NAME_BYTES];
  const char *list[MAX_NAMES];
  size_t count;
} names;

static names types, classes, ids, attributes;

/* Takes names that need no escape in a selector. */
static void take_name(names *to, const char *bytes, size_t length) {
  if (to->count == MAX_NAMES || !length || length >= NAME_BYTES) return;
  for (size_t i = 0; i < length; i++) {
    bool is_letter = bytes[i] >= 'a' && bytes[i] <= 'z';
    if (!is_letter && !(i && ((bytes[i] >= '0' && bytes[i] <= '9') || bytes[i] == '-'))) return;
  }
  memcpy(to->bytes[to->count], bytes, length);
  to->bytes[to->count][length] = 0;
  to->list[to->count] = to->bytes[to->count];
  to->count++;
}

static void take_names(hpar_node element) {
  hpar_string name = hpar_node_name(document, element), id = hpar_node_attribute_value(document, element, "id");
  take_name(&types, name.bytes, name.length);
  if (id.bytes) take_name(&ids, id.bytes, id.length);
  hpar_string value = hpar_node_attribute_value(document, element, "class");
  for (size_t from = 0, to; value.bytes && from < value.length; from = to + 1) {
    for (to = from; to < value.length && value.bytes[to] != ' ';) to++;
    take_name(&classes, value.bytes + from, to - from);
  }
}

/* Collects the elements. Returns their number. */
static size_t collect(hpar_node *elements) {
  static const char *const usual[] = {"href", "class", "id", "src", "style", "title"};
  hpar_node root = hpar_document_root(document);
  size_t count = 0;
  types.count = classes.count = ids.count = attributes.count = 0;
  for (hpar_node node = root; (node = hpar_node_walk(document, root, node)) && count < MAX_ELEMENTS;) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    if (count % 3 == 0) take_names(node);
    elements[count++] = node;
  }
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) take_name(&attributes, usual[i], strlen(usual[i]));
  take_name(&types, "p", 1);
  take_name(&classes, "x", 1);
  take_name(&ids, "x", 1);
  return count;
}

typedef struct found {
  hpar_node elements[MAX_ELEMENTS];
  size_t count;
} found;

static hpar_status add(hpar_node element, uint32_t selector, void *context) {
  found *f = context;
  (void)selector;
  if (f->count < MAX_ELEMENTS) f->elements[f->count++] = element;
  return HPAR_OK;
}

static void compare_page(const char *name, uint64_t seed_number, size_t selectors) {
  static hpar_node elements[MAX_ELEMENTS];
  static char text[PLAIN_TEXT];
  static found f;
  size_t count = collect(elements);
  plain_open(document);
  random_state state = {seed_number}, *seed = &state;
  for (size_t i = 0; i < selectors; i++) {
    plain_vocabulary vocabulary = {.types = types.list,
                                   .classes = classes.list,
                                   .ids = ids.list,
                                   .attributes = attributes.list,
                                   .type_count = types.count,
                                   .class_count = classes.count,
                                   .id_count = ids.count,
                                   .attribute_count = attributes.count,
                                   .has = count < 1000};
    plain_reset();
    plain_selector *plain = plain_make(seed, &vocabulary, 1);
    hpar_selectors *set = NULL;
    *text = 0;
    plain_print(plain, text);
    if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
    f.count = 0;
    if (CHECK_EQ(hpar_selectors_add(set, text, strlen(text), NULL), HPAR_OK))
      CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add, &f), HPAR_OK);
    bool same = true;
    size_t at = 0;
    for (size_t k = 0; k < count && same; k++) {
      bool is_found = at < f.count && f.elements[at] == elements[k];
      at += is_found;
      same = plain_matches(plain, elements[k]) == is_found;
    }
    if (!CHECK(same && (at == f.count || count == MAX_ELEMENTS))) printf("  %s: %s\n", name, text);
    hpar_selectors_destroy(set);
  }
}

static void check_bytes(const char *name, const char *bytes, size_t length, uint64_t seed, size_t selectors) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  if (CHECK_EQ(hpar_parse(parser, &options, bytes, length, document, NULL), HPAR_OK))
    compare_page(name, seed, selectors);
}

static void check_shared(const char *below, size_t selectors) {
  char path[4096];
  shared_list files;
  if (!shared_path(path, sizeof path, below) || !shared_files(path, ".html", &files)) return;
  for (size_t i = 0; i < files.count; i++) {
    size_t length;
    char *bytes = shared_read(files.paths[i], &length);
    if (CHECK(bytes)) check_bytes(files.paths[i], bytes, length, 1000 + i, selectors);
    free(bytes);
  }
  shared_list_free(&files);
}

int main(void) {
  enum { SELECTORS = 20, ALL_SELECTORS = 200 };
  size_t selectors = compare_full() ? ALL_SELECTORS : (SELECTORS * compare_scale() + 99) / 100;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  for (size_t i = 0; i < corpus_page_count; i++) {
    buffer page = {0};
    corpus_pages[i].write(&page);
    check_bytes(corpus_pages[i].name, page.bytes, page.length, i, selectors);
    buffer_free(&page);
  }
  check_shared("corpus/paper", selectors);
  check_shared("corpus/pages", selectors);
  plain_close();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
