/* Checks accessors and serializers on hand-made trees, so that the results do not depend on the
 * parser. */

#include "check.h"

#include "base/memory.h"
#include "dom/node.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

typedef struct text {
  char *bytes;
  size_t length, capacity, pieces, fail_at;
} text;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  text *into = context;
  if (into->fail_at && ++into->pieces == into->fail_at) return HPAR_ERROR_IO;
  if (into->length + length > into->capacity) {
    into->capacity = (into->length + length) * 2;
    into->bytes = realloc(into->bytes, into->capacity);
    if (!into->bytes) abort();
  }
  memcpy(into->bytes + into->length, bytes, length);
  into->length += length;
  return HPAR_OK;
}

typedef struct maker {
  hpar_document *document;
  hp_arena arena;
  hp_interner interner;
  hp_unwind unwind;
} maker;

static void open_maker(maker *maker) {
  if (hpar_document_create(&maker->document) || hp_document_open(maker->document, false, 0)) abort();
  maker->unwind = (hp_unwind){0};
  hp_arena_open(&maker->arena, &maker->document->range, &maker->unwind);
  memset(&maker->interner, 0, sizeof maker->interner);
  hp_interner_open(&maker->interner, &maker->document->atoms, &maker->unwind);
}

static void close_maker(maker *maker) {
  hp_interner_close(&maker->interner);
  hpar_document_destroy(maker->document);
}

static char *base_of(maker *maker) { return maker->document->range.base; }

static hp_node *make(maker *maker, int kind, hp_ref parent, size_t more, hp_ref *ref) {
  hp_node *node = hp_arena_take(&maker->arena, sizeof *node + more);
  memset(node, 0, sizeof *node + more);
  node->kind = (uint8_t)kind;
  *ref = hp_ref_of(base_of(maker), node);
  if (parent) hp_append(base_of(maker), parent, *ref);
  return node;
}

static hp_atom atom(maker *maker, const char *name) { return hp_intern(&maker->interner, name, strlen(name)); }

static hp_ref element_in(maker *maker, hp_ref parent, hpar_namespace ns, const char *name) {
  hp_ref ref;
  hp_node *node = make(maker, HPAR_NODE_ELEMENT, parent, 0, &ref);
  node->ns = (uint8_t)ns;
  node->name = atom(maker, name);
  return ref;
}

static hp_ref element(maker *maker, hp_ref parent, const char *name) {
  return element_in(maker, parent, HPAR_NAMESPACE_HTML, name);
}

static hp_ref data_node(maker *maker, int kind, hp_ref parent, const char *target, const char *data) {
  hp_ref ref;
  hp_node *node = make(maker, kind, parent, 0, &ref);
  node->data = data;
  node->length = (uint32_t)strlen(data);
  if (target) node->target = atom(maker, target);
  return ref;
}

static hp_ref text_node(maker *maker, hp_ref parent, const char *data) {
  hp_ref ref;
  size_t length = strlen(data);
  hp_node *node = make(maker, HPAR_NODE_TEXT, parent, 0, &ref);
  char *bytes = hp_arena_take(&maker->arena, length + 8);
  bytes += length & 7; /* texts have any alignment */
  memcpy(bytes, data, length);
  hp_set_range_text(node, base_of(maker), bytes, (uint32_t)length, 0);
  return ref;
}

static hp_ref template_element(maker *maker, hp_ref parent, hp_ref *contents) {
  hp_ref ref;
  hp_node *node = make(maker, HPAR_NODE_ELEMENT, parent, sizeof(uint64_t), &ref);
  node->ns = HPAR_NAMESPACE_HTML;
  node->name = HP_ATOM_TEMPLATE;
  node->flags = HP_FLAG_TEMPLATE;
  make(maker, HPAR_NODE_FRAGMENT, 0, 0, contents);
  *hp_template_slot(node) = *contents;
  return ref;
}

static hp_ref doctype(maker *maker, const char *name, const char *public_id, const char *system_id) {
  hp_ref ref;
  hp_node *node = make(maker, HPAR_NODE_DOCTYPE, maker->document->root, 0, &ref);
  hp_doctype *made = hp_arena_take(&maker->arena, sizeof *made);
  made->name = (hp_name){name, name ? (uint32_t)strlen(name) : 0};
  made->public_id = (hp_name){public_id, public_id ? (uint32_t)strlen(public_id) : 0};
  made->system_id = (hp_name){system_id, system_id ? (uint32_t)strlen(system_id) : 0};
  node->doctype = made;
  return ref;
}

typedef struct attribute {
  hp_atom name;
  const char *value;
} attribute;

static void set_attributes(maker *maker, hp_ref element, const attribute *items, uint32_t count) {
  hp_attributes *block = hp_arena_take(&maker->arena, sizeof *block + count * sizeof *block->items);
  block->count = count;
  for (uint32_t i = 0; i < count; i++) {
    block->items[i] = (hp_attribute){items[i].name, (uint32_t)strlen(items[i].value), items[i].value};
  }
  hp_node_at(base_of(maker), element)->attributes = hp_ref_of(base_of(maker), block);
}

static text tree_of(maker *maker, hpar_node node) {
  text out = {0};
  CHECK_EQ(hpar_serialize_tree(maker->document, node, collect, &out), HPAR_OK);
  return out;
}

static text html_of(maker *maker, hpar_node node, bool scripting) {
  text out = {0};
  CHECK_EQ(hpar_serialize_html(maker->document, node, scripting ? HPAR_HTML_SCRIPTING : 0, collect, &out), HPAR_OK);
  return out;
}

#define CHECK_TEXT(made, want)                                               \
  do {                                                                       \
    text got = (made);                                                       \
    CHECK_BYTES(got.bytes ? got.bytes : "", got.length, want, strlen(want)); \
    free(got.bytes);                                                         \
  } while (0)

static void test_empty(void) {
  maker m;
  open_maker(&m);
  hp_ref root = hpar_document_root(m.document);
  CHECK_TEXT(tree_of(&m, root), "");
  CHECK_TEXT(html_of(&m, root, false), "");
  CHECK_EQ(hpar_node_kind(m.document, root), HPAR_NODE_DOCUMENT);
  CHECK_EQ(hpar_node_kind(m.document, HPAR_NO_NODE), HPAR_NODE_NONE);
  CHECK_EQ(hpar_node_walk(m.document, root, root), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_parent(m.document, root), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_first_child(m.document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_name(m.document, HPAR_NO_NODE).length, 0);
  close_maker(&m);
}

static void test_kinds(void) {
  maker m;
  open_maker(&m);
  hp_ref root = m.document->root;
  data_node(&m, HPAR_NODE_COMMENT, root, NULL, " a ");
  doctype(&m, "html", NULL, NULL);
  hp_ref plain = doctype(&m, "potato", "go'of", NULL);
  doctype(&m, NULL, NULL, "about:legacy-compat");
  hp_ref html = element(&m, root, "html");
  hp_ref body = element(&m, html, "body");
  data_node(&m, HPAR_NODE_PROCESSING_INSTRUCTION, body, "Target", "");
  hp_ref instruction = data_node(&m, HPAR_NODE_PROCESSING_INSTRUCTION, body, "one", "two=3");
  hp_ref string = text_node(&m, body, "a\nb<&>\"\xC2\xA0\xC2\xA9");
  element(&m, body, "br");
  hp_ref svg = element_in(&m, body, HPAR_NAMESPACE_SVG, "svg");
  text_node(&m, element_in(&m, svg, HPAR_NAMESPACE_SVG, "script"), "<&");
  element_in(&m, element_in(&m, body, HPAR_NAMESPACE_MATHML, "math"), HPAR_NAMESPACE_MATHML, "mi");
  text_node(&m, element(&m, body, "script"), "a<b && c>d");
  text_node(&m, element(&m, body, "noscript"), "<i>");
  CHECK_TEXT(tree_of(&m, root), "| <!--  a  -->\n"
                                "| <!DOCTYPE html>\n"
                                "| <!DOCTYPE potato \"go'of\" \"\">\n"
                                "| <!DOCTYPE  \"\" \"about:legacy-compat\">\n"
                                "| <html>\n"
                                "|   <body>\n"
                                "|     <?Target ?>\n"
                                "|     <?one two=3?>\n"
                                "|     \"a\nb<&>\"\xC2\xA0\xC2\xA9\"\n"
                                "|     <br>\n"
                                "|     <svg svg>\n"
                                "|       <svg script>\n"
                                "|         \"<&\"\n"
                                "|     <math math>\n"
                                "|       <math mi>\n"
                                "|     <script>\n"
                                "|       \"a<b && c>d\"\n"
                                "|     <noscript>\n"
                                "|       \"<i>\"\n");
  CHECK_TEXT(html_of(&m, root, false),
             "<!-- a --><!DOCTYPE html><!DOCTYPE potato><!DOCTYPE ><html><body><?Target ?><?one two=3?>"
             "a\nb&lt;&amp;&gt;\"&nbsp;\xC2\xA9<br><svg><script>&lt;&amp;</script></svg><math><mi></mi></math>"
             "<script>a<b && c>d</script><noscript>&lt;i&gt;</noscript></body></html>");
  CHECK_TEXT(html_of(&m, hpar_node_last_child(m.document, body), true), "<i>");
  CHECK_TEXT(html_of(&m, hpar_node_last_child(m.document, body), false), "&lt;i&gt;");
  CHECK_EQ(hpar_node_kind(m.document, instruction), HPAR_NODE_PROCESSING_INSTRUCTION);
  CHECK_EQ(hpar_node_name(m.document, instruction).length, 3);
  CHECK_EQ(hpar_node_data(m.document, instruction).length, 5);
  CHECK_EQ(hpar_node_data(m.document, body).length, 0);
  CHECK_EQ(hpar_node_first_child(m.document, string), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_attribute_count(m.document, string), 0);
  CHECK_EQ(hpar_node_namespace(m.document, svg), HPAR_NAMESPACE_SVG);
  CHECK_EQ(hpar_node_public_id(m.document, plain).length, 5);
  CHECK(hpar_node_system_id(m.document, plain).bytes != NULL);
  close_maker(&m);
}

static void test_attributes(void) {
  maker m;
  open_maker(&m);
  hp_ref svg = element_in(&m, m.document->root, HPAR_NAMESPACE_SVG, "svg");
  const attribute items[] = {{atom(&m, "zed"), "<a href=\"x\">&\xC2\xA0"},
                             {HP_ATOM_ADJUSTED_XLINK_HREF, "#"},
                             {atom(&m, "xlink:href"), "plain"},
                             {atom(&m, "\xEE\x80\x80"), "U+E000"},
                             {atom(&m, "\xF0\x90\x80\x80"), "U+10000"},
                             {HP_ATOM_ADJUSTED_XML_LANG, "en"},
                             {HP_ATOM_ADJUSTED_XMLNS_XLINK, "l"},
                             {HP_ATOM_ADJUSTED_XMLNS, "n"},
                             {atom(&m, "ab"), ""},
                             {atom(&m, "a"), "1"},
                             {atom(&m, "href"), "no"}};
  set_attributes(&m, svg, items, sizeof items / sizeof *items);
  CHECK_TEXT(tree_of(&m, m.document->root), "| <svg svg>\n"
                                            "|   a=\"1\"\n"
                                            "|   ab=\"\"\n"
                                            "|   href=\"no\"\n"
                                            "|   xlink href=\"#\"\n"
                                            "|   xlink:href=\"plain\"\n"
                                            "|   xml lang=\"en\"\n"
                                            "|   xmlns xlink=\"l\"\n"
                                            "|   xmlns xmlns=\"n\"\n"
                                            "|   zed=\"<a href=\"x\">&\xC2\xA0\"\n"
                                            "|   \xF0\x90\x80\x80=\"U+10000\"\n"
                                            "|   \xEE\x80\x80=\"U+E000\"\n");
  CHECK_TEXT(html_of(&m, m.document->root, false),
             "<svg zed=\"&lt;a href=&quot;x&quot;&gt;&amp;&nbsp;\" xlink:href=\"#\" xlink:href=\"plain\" "
             "\xEE\x80\x80=\"U+E000\" \xF0\x90\x80\x80=\"U+10000\" xml:lang=\"en\" xmlns:xlink=\"l\" xmlns=\"n\" "
             "ab=\"\" a=\"1\" href=\"no\"></svg>");
  hpar_attribute found;
  CHECK_EQ(hpar_node_attribute_count(m.document, svg), 11);
  CHECK(hpar_node_attribute_at(m.document, svg, 1, &found));
  CHECK_EQ(found.ns, HPAR_NAMESPACE_XLINK);
  CHECK_BYTES(found.prefix.bytes, found.prefix.length, "xlink", 5);
  CHECK_BYTES(found.local_name.bytes, found.local_name.length, "href", 4);
  CHECK(!hpar_node_attribute_at(m.document, svg, 11, &found));
  CHECK_EQ(hpar_node_attribute_value(m.document, svg, "href").length, 2);
  CHECK_EQ(hpar_node_attribute_value(m.document, svg, "zed").length, 15);
  CHECK_EQ(hpar_node_attribute_value(m.document, svg, "xlink:href").length, 5);
  CHECK(hpar_node_attribute_value(m.document, svg, "ab").bytes != NULL);
  CHECK(hpar_node_attribute_value(m.document, svg, "lang").bytes == NULL);
  CHECK(hpar_node_attribute_value(m.document, svg, "missing-here").bytes == NULL);
  CHECK(hpar_node_attribute_value(m.document, m.document->root, "href").bytes == NULL);
  close_maker(&m);

  open_maker(&m); /* equal names, which no parse makes */
  const attribute equal[] = {{atom(&m, "a"), "1"}, {atom(&m, "b"), "1"}, {atom(&m, "a"), "1"}};
  set_attributes(&m, element(&m, m.document->root, "p"), equal, 3);
  CHECK_TEXT(tree_of(&m, m.document->root), "| <p>\n|   a=\"1\"\n|   a=\"1\"\n|   b=\"1\"\n");
  close_maker(&m);
}

static void test_many_attributes(void) {
  enum { MANY = 1000 };
  maker m;
  open_maker(&m);
  hp_ref div = element(&m, m.document->root, "div");
  static attribute items[MANY];
  for (int i = 0; i < MANY; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%03d", i * 637 % MANY);
    items[i] = (attribute){atom(&m, name), "v"};
  }
  set_attributes(&m, div, items, MANY);
  text want = {0};
  collect("| <div>\n", 8, &want);
  for (int i = 0; i < MANY; i++) {
    char line[32];
    int length = snprintf(line, sizeof line, "|   n%03d=\"v\"\n", i);
    collect(line, (size_t)length, &want);
  }
  text got = tree_of(&m, m.document->root);
  CHECK_BYTES(got.bytes, got.length, want.bytes, want.length);
  free(got.bytes);
  free(want.bytes);
  close_maker(&m);
}

static void test_templates(void) {
  maker m;
  open_maker(&m);
  hp_ref body = element(&m, m.document->root, "body"), outer, inner, none;
  hp_ref first = template_element(&m, body, &outer);
  element(&m, outer, "p");
  hp_ref second = template_element(&m, outer, &inner);
  text_node(&m, inner, "x");
  template_element(&m, inner, &none);
  element(&m, outer, "b");
  element(&m, body, "i");
  CHECK_TEXT(tree_of(&m, m.document->root), "| <body>\n"
                                            "|   <template>\n"
                                            "|     content\n"
                                            "|       <p>\n"
                                            "|       <template>\n"
                                            "|         content\n"
                                            "|           \"x\"\n"
                                            "|           <template>\n"
                                            "|             content\n"
                                            "|       <b>\n"
                                            "|   <i>\n");
  CHECK_TEXT(html_of(&m, m.document->root, false),
             "<body><template><p></p><template>x<template></template></template><b></b></template><i></i></body>");
  CHECK_TEXT(html_of(&m, first, false), "<p></p><template>x<template></template></template><b></b>");
  CHECK_TEXT(tree_of(&m, inner), "| \"x\"\n| <template>\n|   content\n");
  /* HTML has the contents instead of children, which an edit may add */
  element(&m, second, "u");
  CHECK_TEXT(html_of(&m, first, false), "<p></p><template>x<template></template></template><b></b>");
  CHECK_TEXT(tree_of(&m, second), "| content\n|   \"x\"\n|   <template>\n|     content\n| <u>\n");
  CHECK_EQ(hpar_node_template_contents(m.document, second), inner);
  CHECK_EQ(hpar_node_template_contents(m.document, body), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_parent(m.document, inner), HPAR_NO_NODE);
  close_maker(&m);
}

static void test_cells_and_walk(void) {
  maker m;
  open_maker(&m);
  hp_ref body = element(&m, m.document->root, "body"), cell, upper;
  hp_node *run = make(&m, HP_NODE_ANCHOR, 0, 0, &cell);
  hp_ref a = element(&m, cell, "a"), b = element(&m, cell, "b");
  hp_ref letter = text_node(&m, a, "t");
  hp_node *above = make(&m, HP_NODE_ANCHOR, 0, 0, &upper);
  CHECK_EQ(hpar_node_parent(m.document, a), HPAR_NO_NODE);
  run->parent = upper;
  above->parent = body;
  hp_node_at(base_of(&m), body)->first = run->first;
  hp_node_at(base_of(&m), body)->last = run->last;
  CHECK_EQ(hpar_node_parent(m.document, a), body);
  CHECK_EQ(hpar_node_parent(m.document, b), body);
  CHECK_EQ(hpar_node_next(m.document, a), b);
  CHECK_EQ(hpar_node_previous(m.document, b), a);
  CHECK_EQ(hpar_node_last_child(m.document, body), b);
  const hp_ref order[] = {body, a, letter, b, HPAR_NO_NODE};
  hpar_node at = m.document->root;
  for (size_t i = 0; i < 5; i++) CHECK_EQ(at = hpar_node_walk(m.document, m.document->root, at), order[i]);
  CHECK_EQ(hpar_node_walk(m.document, a, letter), HPAR_NO_NODE);
  CHECK_TEXT(html_of(&m, m.document->root, false), "<body><a>t</a><b></b></body>");
  close_maker(&m);
}

static void test_source_offsets(void) {
  maker m;
  open_maker(&m);
  hp_ref plain = element(&m, m.document->root, "p");
  uint32_t *slots = hp_arena_take(&m.arena, HP_SOURCE_BYTES + sizeof(hp_node));
  hp_node *node = (hp_node *)(slots + 4);
  memset(node, 0, sizeof *node);
  node->kind = HPAR_NODE_ELEMENT;
  node->flags = HP_FLAG_SOURCE;
  slots[0] = 7;
  slots[1] = 12;
  slots[2] = 20;
  slots[3] = 24;
  hp_ref ref = hp_ref_of(base_of(&m), node);
  uint64_t start = 1, end = 2;
  CHECK(!hpar_node_start_tag_range(m.document, plain, &start, &end));
  CHECK_EQ(start, 1);
  CHECK(hpar_node_start_tag_range(m.document, ref, &start, &end));
  CHECK_EQ(start, 7);
  CHECK_EQ(end, 12);
  CHECK(hpar_node_end_tag_range(m.document, ref, &start, &end));
  CHECK_EQ(start, 20);
  CHECK_EQ(end, 24);
  slots[0] = slots[1] = 0;
  CHECK(!hpar_node_start_tag_range(m.document, ref, &start, &end));
  close_maker(&m);
}

static hpar_status count_bytes(const char *bytes, size_t length, void *context) {
  (void)bytes;
  *(size_t *)context += length;
  return HPAR_OK;
}

/* Checks a million levels: a walk uses no stack, and neither does the return from a million
 * templates. */
static void test_deep(void) {
  enum { DEEP = 1000000, SHALLOWER = 3000 };
  maker m;
  open_maker(&m);
  hp_ref at = m.document->root;
  for (int i = 0; i < DEEP; i++) at = element(&m, at, "div");
  size_t length = 0, count = 0;
  CHECK_EQ(hpar_serialize_html(m.document, m.document->root, 0, count_bytes, &length), HPAR_OK);
  CHECK_EQ(length, (size_t)DEEP * 11);
  for (hpar_node n = m.document->root; n; n = hpar_node_walk(m.document, m.document->root, n)) count++;
  CHECK_EQ(count, DEEP + 1);
  close_maker(&m);

  open_maker(&m);
  at = m.document->root;
  for (int i = 0; i < DEEP; i++) template_element(&m, at, &at);
  length = 0;
  CHECK_EQ(hpar_serialize_html(m.document, m.document->root, 0, count_bytes, &length), HPAR_OK);
  CHECK_EQ(length, (size_t)DEEP * 21);
  close_maker(&m);

  open_maker(&m);
  at = m.document->root;
  for (int i = 0; i < SHALLOWER; i++) at = element(&m, at, "b");
  length = 0;
  CHECK_EQ(hpar_serialize_tree(m.document, m.document->root, count_bytes, &length), HPAR_OK);
  CHECK_EQ(length, (size_t)SHALLOWER * 6 + (size_t)SHALLOWER * (SHALLOWER - 1));
  close_maker(&m);
}

/* Checks runs around and beyond the buffer size, and a sink that fails at each piece in turn. */
static void test_sink(void) {
  enum { LONG = 200000 };
  maker m;
  open_maker(&m);
  char *data = malloc(LONG + 1);
  if (!data) abort();
  memset(data, 'x', LONG);
  data[LONG] = 0;
  hp_ref body = element(&m, m.document->root, "body");
  static const uint32_t lengths[] = {65535, 65536, 65537, 1, LONG, 65524, 3};
  size_t total = strlen("<body></body>");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    hp_ref node = text_node(&m, body, data);
    hp_node_at(base_of(&m), node)->text.length = lengths[i];
    total += lengths[i];
  }
  text whole = html_of(&m, m.document->root, false);
  CHECK_EQ(whole.length, total);
  CHECK(!memcmp(whole.bytes, "<body>xxx", 9) && !memcmp(whole.bytes + total - 9, "xx</body>", 9));
  free(whole.bytes);
  for (size_t i = 1; i < 5; i++) {
    text out = {.fail_at = i};
    CHECK_EQ(hpar_serialize_html(m.document, m.document->root, 0, collect, &out), HPAR_ERROR_IO);
    CHECK_EQ(out.pieces, i);
    free(out.bytes);
    out = (text){.fail_at = i};
    CHECK_EQ(hpar_serialize_tree(m.document, m.document->root, collect, &out), HPAR_ERROR_IO);
    free(out.bytes);
  }
  free(data);
  close_maker(&m);
}

static void test_memory(void) {
  maker m;
  open_maker(&m);
  hp_ref contents;
  template_element(&m, m.document->root, &contents);
  const attribute items[] = {{atom(&m, "a"), "1"}};
  set_attributes(&m, element(&m, contents, "p"), items, 1);
  hpar_status status = HPAR_ERROR_MEMORY;
  uint64_t n = 0;
  for (; status && n < 10; n++) {
    text out = {0};
    hp_memory_fail_after(n);
    status = hpar_serialize_tree(m.document, m.document->root, collect, &out);
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    free(out.bytes);
  }
  /* the buffer, the return path from templates, the order of attributes, then none */
  CHECK_EQ(n, 4);
  /* A copy has no length if it fails after some output. */
  static char data[100000];
  memset(data, 'x', sizeof data - 1);
  hp_ref parent = element(&m, m.document->root, "div");
  data_node(&m, HPAR_NODE_COMMENT, parent, NULL, data);
  template_element(&m, parent, &contents);
  hp_memory_fail_once(1);
  CHECK_EQ(hpar_serialize_html_copy(m.document, parent, 0, NULL, 0), 0);
  hp_memory_fail_after(UINT64_MAX);
  close_maker(&m);
}

static text outer_of(maker *maker, hpar_node node) {
  text out = {0};
  CHECK_EQ(hpar_serialize_html(maker->document, node, HPAR_HTML_OUTER, collect, &out), HPAR_OK);
  return out;
}

/* Elements that serialize as void: neither children, which only scripts add, nor an end tag. */
static void test_voids(void) {
  static const char *const voids[] = {"area", "base",     "br",      "col",   "embed",  "hr",
                                      "img",  "input",    "link",    "meta",  "source", "track",
                                      "wbr",  "basefont", "bgsound", "frame", "keygen", "param"};
  for (size_t i = 0; i < sizeof voids / sizeof *voids; i++) {
    maker m;
    open_maker(&m);
    hp_ref made = element(&m, m.document->root, voids[i]);
    hp_ref foreign = element_in(&m, m.document->root, HPAR_NAMESPACE_SVG, voids[i]);
    text_node(&m, made, "x");
    text_node(&m, foreign, "y");
    char outer[32], both[96];
    snprintf(outer, sizeof outer, "<%s>", voids[i]);
    snprintf(both, sizeof both, "%s%sy</%s>", outer, outer, voids[i]);
    CHECK_TEXT(html_of(&m, made, false), "");
    CHECK_TEXT(outer_of(&m, made), outer);
    CHECK_TEXT(html_of(&m, m.document->root, false), both);
    close_maker(&m);
  }
}

/* A line of the tree is indented by more spaces than the writer has in one piece. */
static void test_indentation(void) {
  enum { LEVELS = 200 };
  maker m;
  open_maker(&m);
  hp_ref inner = m.document->root;
  for (int i = 0; i < LEVELS; i++) inner = element(&m, inner, "b");
  text made = tree_of(&m, m.document->root);
  const char *at = made.bytes;
  for (int i = 0; i < LEVELS && CHECK((size_t)(at - made.bytes) + (size_t)i * 2 + 6 <= made.length); i++) {
    bool fine = !memcmp(at, "| ", 2) && !memcmp(at + 2 + 2 * i, "<b>\n", 4);
    for (int k = 0; k < 2 * i; k++) fine &= at[2 + k] == ' ';
    CHECK(fine);
    at += 2 * i + 6;
  }
  CHECK_EQ((size_t)(at - made.bytes), made.length);
  free(made.bytes);
  close_maker(&m);
}

/* Nodes of a run, whose anchor has no parent before the merger splices the run in. */
static void test_run(void) {
  maker m;
  open_maker(&m);
  hp_ref anchor, run = element(&m, m.document->root, "body");
  char *base = base_of(&m);
  make(&m, HP_NODE_ANCHOR, 0, 0, &anchor);
  hp_ref first = text_node(&m, anchor, "a"), second = element(&m, anchor, "p"), third = text_node(&m, anchor, "b");
  CHECK(hp_contains(base, run, run) && !hp_contains(base, run, second));
  hp_remove(base, second);
  CHECK_EQ(hp_node_at(base, first)->next, third);
  hp_remove(base, first);
  hp_remove(base, third);
  hp_remove(base, third);
  CHECK(!hp_node_at(base, anchor)->first && !hp_node_at(base, anchor)->last);
  hp_append(base, run, second);
  hp_append(base, second, first);
  CHECK(hp_contains(base, m.document->root, first));
  CHECK_TEXT(html_of(&m, m.document->root, false), "<body><p>a</p></body>");
  close_maker(&m);
}

static void test_names(void) {
  for (int i = 0; i < HPAR_LOG_KINDS; i++) {
    const char *name = hpar_log_kind_name((hpar_log_kind)i);
    CHECK(name && *name && strcmp(name, "unknown") != 0);
    for (int k = 0; k < i; k++) CHECK(strcmp(name, hpar_log_kind_name((hpar_log_kind)k)) != 0);
  }
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) {
    const char *name = hpar_assumption_name((hpar_assumption)i);
    CHECK(name && *name && strcmp(name, "unknown") != 0);
    for (int k = 0; k < i; k++) CHECK(strcmp(name, hpar_assumption_name((hpar_assumption)k)) != 0);
  }
}

int main(void) {
  test_empty();
  test_kinds();
  test_attributes();
  test_many_attributes();
  test_templates();
  test_cells_and_walk();
  test_source_offsets();
  test_deep();
  test_sink();
  test_memory();
  test_voids();
  test_indentation();
  test_run();
  test_names();
  return check_report();
}
