/* Checks the walks of hpar_select on random trees, many of them deep. Every set is selected below
 * the document and below random elements, alone and together with enough other selectors that the
 * walk for large sets runs. A plain matcher of types, classes and ids gives the expected elements.
 * hpar_matches gives those of all other selectors. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/select.h>
#include <stdlib.h>

enum { MAX_ELEMENTS = 3000, MAX_TEXT = 64, FILLERS = 70 };

static hpar_parser *parser;
static hpar_document *document;

typedef struct found {
  hpar_node elements[MAX_ELEMENTS];
  size_t count;
  uint32_t selector; /* whose matches these are */
} found;

static found elements, alone, together, expected;

static hpar_status add(hpar_node element, uint32_t selector, void *context) {
  found *f = context;
  if (selector == f->selector && f->count < MAX_ELEMENTS) f->elements[f->count++] = element;
  return HPAR_OK;
}

static bool equal(const found *a, const found *b) {
  return a->count == b->count && (!a->count || !memcmp(a->elements, b->elements, a->count * sizeof *a->elements));
}

/* Letters that differ in case or by one bit, white space, and bytes above 0x7F. */
static const char *const letters[] = {"a", "a", "a", "b", "A", "B", "!", "\xC3\xA9", "\xC3\x89"};
static const char *const spaces[] = {" ", " ", "  ", "\t", "\n", "\f"};

static size_t make_word(random_state *seed, char *to) {
  size_t length = 0;
  for (size_t count = 1 + random_below(seed, random_chance(seed, 80) ? 3 : 20); count--;) {
    const char *letter = RANDOM_OF(seed, letters);
    memcpy(to + length, letter, strlen(letter));
    length += strlen(letter);
  }
  to[length] = 0;
  return length;
}

static void add_words(random_state *seed, buffer *page, size_t count) {
  char word[MAX_TEXT];
  if (random_chance(seed, 10)) buffer_text(page, RANDOM_OF(seed, spaces));
  for (size_t i = 0; i < count; i++) {
    if (i) buffer_text(page, RANDOM_OF(seed, spaces));
    make_word(seed, word);
    buffer_text(page, word);
  }
  if (random_chance(seed, 10)) buffer_text(page, RANDOM_OF(seed, spaces));
}

static void make_page(random_state *seed, buffer *page) {
  static const char *const names[] = {"div", "div", "span", "section", "x-y", "g"};
  unsigned deep = (unsigned)random_below(seed, 100);
  size_t open = 0;
  buffer_text(page, random_chance(seed, 50) ? "<!DOCTYPE html>" : "");
  for (size_t left = 20 + random_below(seed, 500); left--;) {
    if (open && !random_chance(seed, 40 + deep / 2)) {
      buffer_text(page, "</div>"); /* closes the innermost div and all elements in it */
      open--;
      continue;
    }
    const char *name = RANDOM_OF(seed, names);
    buffer_format(page, "<%s", name);
    if (random_chance(seed, 40)) {
      buffer_text(page, " title=t class='");
      add_words(seed, page, random_below(seed, 7));
      buffer_text(page, "'");
    }
    if (random_chance(seed, 20)) {
      buffer_text(page, " id='");
      add_words(seed, page, 1);
      buffer_text(page, "'");
    }
    buffer_text(page, ">");
    if (random_chance(seed, 50)) buffer_text(page, "t<!--c-->");
    open += !strcmp(name, "div");
  }
  /* Open elements with later siblings, more than the flat walk keeps. */
  if (random_chance(seed, 80)) return;
  size_t depth = 60 + random_below(seed, 200);
  for (size_t i = 0; i < depth; i++) buffer_text(page, "<div>");
  for (size_t i = 0; i < depth; i++)
    buffer_text(page,
                random_chance(seed, 80) ? "</div><x-y class=a></x-y>t" : "</div><span><g class='b a'></g></span>");
}

static bool collect(void) {
  hpar_node root = hpar_document_root(document);
  elements.count = 0;
  for (hpar_node node = root; (node = hpar_node_walk(document, root, node));) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    if (elements.count == MAX_ELEMENTS) return false;
    elements.elements[elements.count++] = node;
  }
  return true;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

static bool same_text(hpar_string value, size_t at, const char *text, size_t length, bool ignore_case) {
  for (size_t i = 0; i < length; i++)
    if (ignore_case ? lower(value.bytes[at + i]) != lower(text[i]) : value.bytes[at + i] != text[i]) return false;
  return true;
}

static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

/* Returns whether the attribute has the text as one of its words or, for an id, as its value. */
static bool has_text(hpar_node element, char sign, const char *text, size_t length) {
  bool ignore_case = hpar_document_quirks(document) == HPAR_QUIRKS;
  hpar_string value = hpar_node_attribute_value(document, element, sign == '#' ? "id" : "class");
  if (!value.bytes) return false;
  if (sign == '#') return value.length == length && same_text(value, 0, text, length, ignore_case);
  for (size_t at = 0; at + length <= value.length; at++)
    if ((!at || is_white(value.bytes[at - 1])) && (at + length == value.length || is_white(value.bytes[at + length])) &&
        same_text(value, at, text, length, ignore_case))
      return true;
  return false;
}

static bool is_below(hpar_node node, hpar_node top) {
  while ((node = hpar_node_parent(document, node)))
    if (node == top) return true;
  return false;
}

static void add_fillers(hpar_selectors *set, size_t count) {
  for (size_t i = 0; i < count; i++) {
    static const char *const others[] = {"div", ".a", "#a", "span > .b", "[title]", "*", "section + div"};
    const char *other = others[i % (sizeof others / sizeof *others)];
    CHECK_EQ(hpar_selectors_add(set, other, strlen(other), NULL), HPAR_OK);
  }
}

/* Selects with these numbers of other selectors before and after the selector. */
static void select_into(const char *text, size_t length, hpar_node top, size_t before, size_t after, found *to) {
  hpar_selectors *set = NULL;
  to->count = 0;
  to->selector = (uint32_t)before;
  if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  add_fillers(set, before);
  CHECK_EQ(hpar_selectors_add(set, text, length, NULL), HPAR_OK);
  add_fillers(set, after);
  CHECK_EQ(hpar_select(set, document, top, NULL, add, to), HPAR_OK);
  hpar_selectors_destroy(set);
}

/* Compares the two walks with each other and with `expected`. */
static void check_below(const char *text, size_t length, hpar_node top) {
  select_into(text, length, top, 0, 0, &alone);
  const size_t before = length % 2 * FILLERS;
  select_into(text, length, top, before, FILLERS - before, &together);
  if (!CHECK(equal(&alone, &expected)) || !CHECK(equal(&together, &expected)))
    printf("  %.*s: %zu, %zu, expected %zu\n", (int)length, text, alone.count, together.count, expected.count);
}

static void check_word(random_state *seed, hpar_node top) {
  char text[2 * MAX_TEXT], word[MAX_TEXT];
  size_t length = make_word(seed, word), written = 0;
  char sign = random_chance(seed, 70) ? '.' : '#';
  text[written++] = sign;
  for (size_t i = 0; i < length; i++) {
    if (word[i] == '!') text[written++] = '\\';
    text[written++] = word[i];
  }
  expected.count = 0;
  for (size_t i = 0; i < elements.count; i++)
    if (is_below(elements.elements[i], top) && has_text(elements.elements[i], sign, word, length))
      expected.elements[expected.count++] = elements.elements[i];
  check_below(text, written, top);
}

static void check_selector(const char *text, hpar_node top) {
  hpar_selectors *set = NULL;
  if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  CHECK_EQ(hpar_selectors_add(set, text, strlen(text), NULL), HPAR_OK);
  expected.count = 0;
  for (size_t i = 0; i < elements.count; i++) {
    bool matches = false;
    if (!is_below(elements.elements[i], top)) continue;
    CHECK_EQ(hpar_matches(set, document, elements.elements[i], 0, &matches), HPAR_OK);
    if (matches) expected.elements[expected.count++] = elements.elements[i];
  }
  hpar_selectors_destroy(set);
  check_below(text, strlen(text), top);
}

static void check_tree(uint64_t number) {
  static const char *const selectors[] = {"*",
                                          "div",
                                          "x-y, g",
                                          "[title]",
                                          "[class~='a b']",
                                          ".a\\ b",
                                          ":is(div, .a) > span",
                                          ":where(.a, .b)",
                                          "div div span",
                                          "div > x-y + span",
                                          "div ~ g",
                                          "span:nth-of-type(2n)",
                                          "svg|g, html|g:first-of-type",
                                          ":nth-of-type(2)",
                                          "div:nth-child(2n+1) > :last-child",
                                          "div:has(> .a)",
                                          "div:has(+ span)",
                                          "span:has(> div, + g)",
                                          "div:has(> div > span)",
                                          ":not(div):empty",
                                          "div:only-of-type",
                                          ":is(.a, #b, div.a)"};
  random_state state = {number}, *seed = &state;
  buffer page = {0};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  make_page(seed, &page);
  if (CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK) && CHECK(collect())) {
    hpar_node root = hpar_document_root(document);
    for (unsigned i = 0; i < 12; i++) {
      bool is_whole = random_chance(seed, 60);
      size_t place = random_below(seed, elements.count);
      check_word(seed, is_whole ? root : elements.elements[place]);
    }
    size_t place = random_below(seed, elements.count);
    check_selector(selectors[number % (sizeof selectors / sizeof *selectors)], root);
    check_selector(RANDOM_OF(seed, selectors), elements.elements[place]);
  }
  buffer_free(&page);
}

int main(void) {
  uint64_t trees = 10 * compare_scale();
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  for (uint64_t i = 0; i < trees; i++) check_tree(i);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
