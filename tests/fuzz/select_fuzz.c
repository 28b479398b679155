/* Checks the compiler of selectors and the matchers. The input is a selector, a line feed and a
 * document. An error is at a byte of the selector. One thread and two threads report the same
 * elements, which are those that hpar_matches says, each once and in order. */

#include "fuzz/fuzz.h"

#include <hpar/hpar.h>
#include <string.h>

typedef struct found {
  uint64_t count, sum;
} found;

static void add(found *f, hpar_node node) {
  f->count++;
  f->sum = (f->sum ^ node) * UINT64_C(0x100000001b3);
}

static hpar_status take(hpar_node element, uint32_t selector, void *context) {
  (void)selector;
  add(context, element);
  return HPAR_OK;
}

/* Adds the elements of the document that match one by one. */
static void match_each(const hpar_selectors *selectors, const hpar_document *document, found *f) {
  const hpar_node root = hpar_document_root(document);
  for (hpar_node node = hpar_node_walk(document, root, root); node; node = hpar_node_walk(document, root, node)) {
    bool matches = false;
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    if (hpar_matches(selectors, document, node, 0, &matches)) return;
    if (matches) add(f, node);
  }
}

static void check(const hpar_selectors *selectors, const hpar_document *document, const compare_case *input) {
  found one = {0}, two = {0}, each = {0};
  hpar_select_options threads = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2};
  if (hpar_select(selectors, document, hpar_document_root(document), NULL, take, &one) ||
      hpar_select(selectors, document, hpar_document_root(document), &threads, take, &two))
    return;
  match_each(selectors, document, &each);
  if (one.count != two.count || one.sum != two.sum)
    fuzz_wrong("two threads select other elements", input->bytes, input->length);
  if (one.count != each.count || one.sum != each.sum)
    fuzz_wrong("hpar_matches and hpar_select disagree", input->bytes, input->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MAX_PAGE = 4096 }; /* :has() in :has() takes long, as documented */
  compare_case input;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &input, &choices)) return 0;
  const char *line = input.length ? memchr(input.bytes, '\n', input.length) : NULL;
  size_t length = line ? (size_t)(line - input.bytes) : input.length, from = line ? length + 1 : length;
  hpar_error error = {0};
  hpar_selectors *selectors = NULL;
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  if (input.length - from > MAX_PAGE || hpar_selectors_create(&selectors)) return 0;
  if (hpar_selectors_add(selectors, input.bytes, length, &error)) {
    if (!*error.text || error.offset > length) fuzz_wrong("an error elsewhere", input.bytes, input.length);
  } else if (!hpar_parser_create(&parser) && !hpar_document_create(&document) &&
             !hpar_parse(parser, NULL, input.bytes + from, input.length - from, document, NULL)) {
    check(selectors, document, &input);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  hpar_selectors_destroy(selectors);
  return 0;
}
