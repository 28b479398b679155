/* Changes of documents after a parse. Random changes run on the library's document and on a plain
 * tree, for documents of every way to parse. The test compares all nodes, also those that a change
 * has removed. Then it serializes the document and selects in it. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/model_dom.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static hpar_parser *parser;
static buffer out;

/*** the ways to parse ***/

typedef enum way { SEQUENTIAL, PARALLEL, TREE_MERGE, PIPELINED, FED, UTF_16, POSITIONS, JEMALLOC, LIMITED, WAYS } way;

static bool is_possible(way which) {
  if (which == PARALLEL || which == TREE_MERGE || which == PIPELINED) return compare_possible();
  if (which == JEMALLOC) return hpar_allocator_name(HPAR_ALLOCATOR_JEMALLOC) != NULL;
  return true;
}

static hpar_study study; /* of the options below */

static hpar_options options_of(way which) {
  study = (hpar_study){HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .mode = HPAR_MODE_SEQUENTIAL, .study = &study};
  switch (which) {
    case PARALLEL:
    case TREE_MERGE:
      options.mode = HPAR_MODE_PARALLEL;
      options.threads = 3;
      options.parallel.chunks = 9;
      study.merge = which == TREE_MERGE ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN;
      break;
    case PIPELINED: study.driver = "pipelined"; break;
    case UTF_16: options.encoding = "utf-16le"; break;
    case POSITIONS: options.source_offsets = true; break;
    case JEMALLOC: options.allocator = HPAR_ALLOCATOR_JEMALLOC; break;
    case LIMITED: options.limits = (hpar_limits)HPAR_LIMITS_UNTRUSTED; break;
    default: break;
  }
  return options;
}

static buffer wide;

/* Parses the text, which stays in place. UTF-16 needs ASCII. */
static bool parse_as(way which, const buffer *text, const char *fragment, hpar_document *document) {
  hpar_options options = options_of(which);
  const buffer *input = text;
  options.fragment = fragment;
  if (which == UTF_16) {
    buffer_clear(&wide);
    for (size_t i = 0; i < text->length; i++) {
      buffer_byte(&wide, (char)(text->bytes[i] & 0x7f));
      buffer_byte(&wide, 0);
    }
    input = &wide;
  }
  if (which != FED) return CHECK_EQ(hpar_parse(parser, &options, input->bytes, input->length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (size_t at = 0; at < text->length; at += 100)
    CHECK_EQ(hpar_parser_feed(parser, text->bytes + at, text->length - at < 100 ? text->length - at : 100), HPAR_OK);
  return CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
}

/*** random changes ***/

static const char *const names[] = {"p", "b", "template", "script", "base", "x-own", "table", "select"};
static const char *const keys[] = {"class", "id", "href", "x-own", "encoding", "data-a"};
static const char *const texts[] = {"", "a", "<b>&amp;", "\xC3\xA4\xE2\x82\xAC", "a longer text of the test"};
static const char *const markup[] = {"<b>x</b>y",
                                     "<li>1<li>2",
                                     "<table><tr><td>c",
                                     "<template><i a=b>t</i></template>z",
                                     "a&amp;b<!--c-->",
                                     "<svg><path d=1 /></svg><p>",
                                     "<a href='?a&amp;b=1' title=&lt;>k</a>",
                                     "",
                                     "<select><option>1</select>",
                                     "<tr><td>q",
                                     "</p>x<p>",
                                     "<script>w x</script>",
                                     "<b><p>1<p>2</b>3<x-new y-new=1>",
                                     "<table>foster<tr>"};

/* A document, its model and the handle of its changes. */
typedef struct pair {
  hpar_document *document;
  hpar_editor *edit;
  model plain;
  random_state random;
  hpar_document *fragment; /* for inner HTML */
  hpar_parser *parser;
} pair;

static size_t any_node(pair *of) { return 1 + random_below(&of->random, of->plain.count - 1); }
static hpar_node handle(const pair *of, size_t node) { return node ? of->plain.nodes[node].handle : HPAR_NO_NODE; }

/* Returns the status that a change of an element has. */
static hpar_status for_elements(const pair *of, size_t node) {
  return of->plain.nodes[node].kind == HPAR_NODE_ELEMENT ? HPAR_OK : HPAR_ERROR_ARGUMENT;
}

static bool make_node(pair *of) {
  hpar_node made;
  const char *text = RANDOM_OF(&of->random, texts);
  switch (random_below(&of->random, 3)) {
    case 0: {
      const char *name = RANDOM_OF(&of->random, names);
      hpar_namespace ns = random_chance(&of->random, 80) ? HPAR_NAMESPACE_HTML : HPAR_NAMESPACE_SVG;
      if (!CHECK_EQ(hpar_node_create_element(of->edit, ns, name, strlen(name), &made), HPAR_OK)) return false;
      size_t node = model_add(&of->plain, of->document, made);
      const model_node *n = &of->plain.nodes[node];
      return CHECK(n->name.length == strlen(name) && n->ns == ns && !n->child_count && !n->attribute_count) &&
             CHECK_EQ(n->contents != 0, ns == HPAR_NAMESPACE_HTML && !strcmp(name, "template"));
    }
    case 1:
      if (!CHECK_EQ(hpar_node_create_text(of->edit, text, strlen(text), &made), HPAR_OK)) return false;
      model_add_node(&of->plain, made, HPAR_NODE_TEXT, text);
      return true;
    default:
      if (!CHECK_EQ(hpar_node_create_comment(of->edit, text, strlen(text), &made), HPAR_OK)) return false;
      model_add_node(&of->plain, made, HPAR_NODE_COMMENT, text);
      return true;
  }
}

static bool insert_node(pair *of) {
  size_t parent = any_node(of), node = any_node(of), before = 0;
  const model_node *p = &of->plain.nodes[parent];
  if (p->child_count && random_chance(&of->random, 60))
    before = p->children[random_below(&of->random, p->child_count)];
  else if (random_chance(&of->random, 10))
    before = any_node(of);
  hpar_status status = hpar_node_insert_before(of->edit, handle(of, parent), handle(of, node), handle(of, before));
  bool fits = model_insert(&of->plain, parent, node, before);
  return CHECK_EQ(status, fits ? HPAR_OK : HPAR_ERROR_ARGUMENT);
}

static bool copy_node(pair *of) {
  size_t node = any_node(of);
  hpar_node_type kind = of->plain.nodes[node].kind;
  bool deep = random_chance(&of->random, 70), may = kind != HPAR_NODE_DOCUMENT && kind != HPAR_NODE_FRAGMENT;
  hpar_node copy;
  if (of->plain.count > 3000) return true;
  hpar_status status = hpar_node_clone(of->edit, handle(of, node), deep, &copy);
  if (!CHECK_EQ(status, may ? HPAR_OK : HPAR_ERROR_ARGUMENT) || !may) return !may;
  const char *problem;
  model_add_clone(&of->plain, of->document, copy, node, deep, &problem);
  if (problem) printf("  %s\n", problem);
  return CHECK(!problem);
}

static bool change_attribute(pair *of) {
  size_t node = any_node(of);
  const char *key = RANDOM_OF(&of->random, keys), *value = RANDOM_OF(&of->random, texts);
  hpar_status expected = for_elements(of, node), status;
  if (random_chance(&of->random, 60)) {
    status = hpar_node_set_attribute(of->edit, handle(of, node), key, strlen(key), value, strlen(value));
    if (expected == HPAR_OK) model_set_attribute(&of->plain, node, key, value);
  } else {
    status = hpar_node_remove_attribute(of->edit, handle(of, node), key, strlen(key));
    if (expected == HPAR_OK) model_remove_attribute(&of->plain, node, key);
  }
  return CHECK_EQ(status, expected);
}

static bool change_data(pair *of) {
  size_t node = any_node(of);
  const char *data = RANDOM_OF(&of->random, texts);
  hpar_node_type kind = of->plain.nodes[node].kind;
  bool may = kind == HPAR_NODE_TEXT || kind == HPAR_NODE_COMMENT || kind == HPAR_NODE_PROCESSING_INSTRUCTION;
  hpar_status status = hpar_node_set_text(of->edit, handle(of, node), data, strlen(data));
  if (may) model_set_data(&of->plain, node, data);
  bool has_children = kind == HPAR_NODE_ELEMENT || kind == HPAR_NODE_FRAGMENT;
  if (has_children) {
    while (of->plain.nodes[node].child_count) model_remove(&of->plain, of->plain.nodes[node].children[0]);
    hpar_node text = hpar_node_first_child(of->document, handle(of, node));
    if (text) model_insert(&of->plain, node, model_add_node(&of->plain, text, HPAR_NODE_TEXT, data), 0);
  }
  return CHECK_EQ(status, may || has_children ? HPAR_OK : HPAR_ERROR_ARGUMENT);
}

static bool change_content(pair *of) {
  size_t node = any_node(of);
  const char *html = RANDOM_OF(&of->random, markup);
  const model_node *n = &of->plain.nodes[node];
  hpar_status expected = for_elements(of, node);
  if (of->plain.count > 3000 || (n->name.length == 14 && !memcmp(n->name.bytes, "annotation-xml", 14))) return true;
  buffer_clear(&out);
  buffer_text(&out, n->ns == HPAR_NAMESPACE_SVG ? "svg " : n->ns == HPAR_NAMESPACE_MATHML ? "math " : "");
  buffer_add(&out, n->name.bytes, n->name.length);
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .fragment = out.bytes};
  if (expected == HPAR_OK &&
      hpar_parse(of->parser, &options, html, strlen(html), of->fragment, NULL) == HPAR_ERROR_ARGUMENT)
    return true; /* the option does not accept the name */
  hpar_status status = hpar_node_set_inner_html(of->edit, handle(of, node), html, strlen(html));
  if (expected == HPAR_OK) model_set_children(&of->plain, node, of->fragment, of->document);
  return CHECK_EQ(status, expected);
}

static bool change_once(pair *of) {
  size_t choice = random_below(&of->random, 100);
  if (choice < 20) return make_node(of);
  if (choice < 50) return insert_node(of);
  if (choice < 62) return copy_node(of);
  if (choice < 76) return change_attribute(of);
  if (choice < 82) return change_data(of);
  if (choice < 90) return change_content(of);
  size_t node = any_node(of);
  model_remove(&of->plain, node);
  return CHECK_EQ(hpar_node_remove(of->edit, handle(of, node)), HPAR_OK);
}

static bool is_equal(pair *of) {
  const char *problem = model_compare(&of->plain, of->document);
  if (problem) printf("  different: %s\n", problem);
  return CHECK(!problem);
}

static size_t count_elements(const hpar_document *d, hpar_node top) {
  size_t count = 0;
  for (hpar_node node = top; node; node = hpar_node_walk(d, top, node))
    count += hpar_node_kind(d, node) == HPAR_NODE_ELEMENT;
  return count;
}

static hpar_status count_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(size_t *)context;
  return HPAR_OK;
}

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static bool reads_fine(const pair *of, hpar_selectors *all) {
  size_t matches = 0;
  hpar_node root = hpar_document_root(of->document);
  buffer_clear(&out);
  return CHECK_EQ(hpar_select(all, of->document, root, NULL, count_match, &matches), HPAR_OK) &&
         CHECK_EQ(matches, count_elements(of->document, root)) &&
         CHECK_EQ(hpar_serialize_html(of->document, root, 0, collect, &out), HPAR_OK) &&
         CHECK_EQ(hpar_serialize_tree(of->document, root, collect, &out), HPAR_OK);
}

static bool change_document(pair *of, way which, const buffer *text, const char *fragment, unsigned rounds,
                            hpar_selectors *all) {
  if (!parse_as(which, text, fragment, of->document)) return false;
  of->plain.is_fragment = fragment != NULL;
  model_add(&of->plain, of->document, hpar_document_root(of->document));
  bool fine = true;
  for (unsigned round = 0; round < rounds && fine; round++) {
    fine = CHECK_EQ(hpar_document_edit(of->document, NULL, &of->edit, NULL), HPAR_OK);
    for (unsigned i = 0; i < 12 && fine; i++) fine = change_once(of);
    if (random_chance(&of->random, 30)) hpar_document_finish_edit(of->document);
    fine = fine && is_equal(of) && reads_fine(of, all);
  }
  model_free(&of->plain);
  return fine;
}

static void random_changes(void) {
  generated made = {0};
  unsigned scale = compare_scale(), pages = 10 + 60 * scale / 100, rounds = 6;
  hpar_error error;
  hpar_selectors *all = NULL;
  CHECK_EQ(hpar_selectors_create(&all), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(all, "*", 1, &error), HPAR_OK);
  for (way which = SEQUENTIAL; which < WAYS; which++) {
    if (!is_possible(which)) continue;
    pair of = {.random = {which + 1}};
    CHECK_EQ(hpar_document_create(&of.document), HPAR_OK);
    CHECK_EQ(hpar_document_create(&of.fragment), HPAR_OK);
    CHECK_EQ(hpar_parser_create(&of.parser), HPAR_OK);
    for (unsigned page = 0; page < pages; page++) {
      buffer text = {0};
      const char *fragment;
      if (page % 2) {
        const compare_case *known = &documents[random_below(&of.random, document_count)];
        buffer_add(&text, known->bytes, known->length < 4000 ? known->length : 4000);
        fragment = known->fragment;
      } else {
        generate(which * 1000 + page, &made);
        buffer_add(&text, made.text.bytes, made.text.length);
        fragment = made.fragment;
      }
      if (!change_document(&of, which, &text, fragment, rounds, all)) printf("  way %d, page %u\n", which, page);
      hpar_document_clear(of.document);
      buffer_free(&text);
    }
    hpar_document_destroy(of.document);
    hpar_document_destroy(of.fragment);
    hpar_parser_destroy(of.parser);
  }
  hpar_selectors_destroy(all);
  generate_free(&made);
}

/*** names ***/

static void names_of_the_dom(void) {
  static const struct {
    const char *name;
    size_t length;
    bool of_element, of_attribute;
  } rows[] = {{"", 0, false, false},
              {"a", 1, true, true},
              {"X-y.z", 5, true, true},
              {"x onclick", 9, false, false},
              {"x\ty", 3, false, false},
              {"x\ny", 3, false, false},
              {"x\fy", 3, false, false},
              {"x\ry", 3, false, false},
              {"x/", 2, false, false},
              {"x>", 2, false, false},
              {"x\0y", 3, false, false},
              {"a=b", 3, true, false},
              {"=b", 2, false, true},
              {"==", 2, false, false},
              {"a\"<'", 4, true, true},
              {"1", 1, false, true},
              {"_1-.:\xC3\xA4", 7, true, true},
              {":a<", 3, false, true},
              {"\xC3\xA4", 2, true, true},
              {"<", 1, false, true},
              {"-", 1, false, true}};
  hpar_document *document;
  hpar_editor *edit;
  hpar_node made, element;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, "<p>", 3, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "p", 1, &element), HPAR_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *name = rows[i].name;
    hpar_status status = hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, name, rows[i].length, &made);
    if (!CHECK_EQ(status, rows[i].of_element ? HPAR_OK : HPAR_ERROR_ARGUMENT)) printf("  element %s\n", name);
    status = hpar_node_set_attribute(edit, element, name, rows[i].length, "v", 1);
    if (!CHECK_EQ(status, rows[i].of_attribute ? HPAR_OK : HPAR_ERROR_ARGUMENT)) printf("  attribute %s\n", name);
  }
  hpar_document_destroy(document);
}

/* A call that fails stores no editor and no node. */
static void results_of_failures(void) {
  hpar_document *document;
  hpar_editor *edit, *none;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, "<p>", 3, document, NULL), HPAR_OK);
  const hpar_options wrong = {HPAR_OPTIONS_INIT, .threads = HPAR_MAX_THREADS + 1};
  none = (hpar_editor *)&document;
  CHECK_EQ(hpar_document_edit(document, &wrong, &none, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!none);
  none = (hpar_editor *)&document;
  CHECK_EQ(hpar_document_edit(NULL, NULL, &none, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!none);
  hpar_error error = {.status = HPAR_ERROR_MEMORY, .text = "of an earlier call"};
  hp_memory_fail_after(0);
  CHECK_EQ(hpar_document_edit(document, NULL, &none, &error), HPAR_ERROR_MEMORY);
  hp_memory_fail_after(UINT64_MAX);
  CHECK_STRING(error.text, hpar_status_text(HPAR_ERROR_MEMORY));
  const hpar_options limited = {HPAR_OPTIONS_INIT, .limits = {.nodes = 1}};
  CHECK_EQ(hpar_document_edit(document, &limited, &edit, NULL), HPAR_OK);
  hpar_node made[] = {9, 9, 9, 9}, body = hpar_document_body(document);
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "<", 1, &made[0]), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_create_text(edit, "\xFF", 1, &made[1]), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_create_comment(NULL, "", 0, &made[2]), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_clone(edit, hpar_document_root(document), true, &made[3]), HPAR_ERROR_ARGUMENT);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(made[i], HPAR_NO_NODE);
  CHECK_EQ(hpar_node_create_text(edit, "a", 1, &made[0]), HPAR_OK);
  for (size_t i = 0; i < 4; i++) made[i] = 9;
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "p", 1, &made[0]), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_node_create_text(edit, "a", 1, &made[1]), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_node_create_comment(edit, "a", 1, &made[2]), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_node_clone(edit, body, true, &made[3]), HPAR_LIMIT_NODES);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(made[i], HPAR_NO_NODE);
  hpar_document_destroy(document);
}

/* Attributes that an edit adds one by one take memory in proportion to their number, on one element
 * and on two by turns. A clone keeps the attributes that its origin had. */
static void attributes_one_by_one(void) {
  enum { COUNT = 2000, BYTES_EACH = 150 };
  hpar_document *document;
  hpar_editor *edit;
  hpar_node nodes[2], copy;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, "<p>", 3, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  for (int i = 0; i < 2; i++) CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "p", 1, &nodes[i]), HPAR_OK);
  size_t before = hpar_document_memory(document);
  for (unsigned i = 0; i < 2 * COUNT; i++) {
    char name[16];
    int length = snprintf(name, sizeof name, "a%u", i / 2);
    CHECK_EQ(hpar_node_set_attribute(edit, nodes[i & 1], name, (size_t)length, "v", 1), HPAR_OK);
  }
  size_t taken = hpar_document_memory(document) - before;
  if (!CHECK(taken < (size_t)2 * COUNT * BYTES_EACH)) printf("  %zu bytes\n", taken);
  CHECK_EQ(hpar_node_clone(edit, nodes[0], false, &copy), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, nodes[0], "a0", 2, "new", 3), HPAR_OK);
  CHECK_EQ(hpar_node_remove_attribute(edit, copy, "a1", 2), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_value(document, nodes[0], "a0").length, 3);
  CHECK_EQ(hpar_node_attribute_value(document, copy, "a0").length, 1);
  CHECK_EQ(hpar_node_attribute_value(document, nodes[0], "a1").length, 1);
  CHECK(!hpar_node_attribute_value(document, copy, "a1").bytes);
  CHECK_EQ(hpar_node_remove_attribute(edit, nodes[1], "a0", 2), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, nodes[0], "a7", 2, "new", 3), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, nodes[1], "a1", 2, "new", 3), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_count(document, nodes[1]), COUNT - 1);
  CHECK_EQ(hpar_node_attribute_value(document, nodes[1], "a1").length, 3);
  hpar_document_destroy(document);
}

/* The options of the last call hold: for nodes and memory also after the document has grown. */
static void options_of_edits(void) {
  enum { BYTES = 1000, MEMORY = 2 << 20 };
  static const char noscript[] = "<noscript><b>x</b></noscript>";
  static char text[BYTES];
  hpar_document *document;
  hpar_editor *edit;
  hpar_node node = HPAR_NO_NODE;
  memset(text, 'x', BYTES);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, "<p>", 3, document, NULL), HPAR_OK);
  hpar_node body = hpar_document_body(document);
  for (int scripting = 0; scripting < 2; scripting++) {
    const hpar_options options = {HPAR_OPTIONS_INIT, .scripting = scripting};
    CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
    CHECK_EQ(hpar_node_set_inner_html(edit, body, noscript, strlen(noscript)), HPAR_OK);
    hpar_node inside = hpar_node_first_child(document, hpar_node_first_child(document, body));
    CHECK_EQ(hpar_node_kind(document, inside), scripting ? HPAR_NODE_TEXT : HPAR_NODE_ELEMENT);
  }
  const hpar_options limited = {HPAR_OPTIONS_INIT, .limits = {.memory = MEMORY}};
  CHECK_EQ(hpar_document_edit(document, &limited, &edit, NULL), HPAR_OK);
  int made = 0;
  hpar_status status = HPAR_OK;
  for (; !status && made < 2 * MEMORY / BYTES; made++) status = hpar_node_create_text(edit, text, BYTES, &node);
  CHECK_EQ(status, HPAR_LIMIT_MEMORY);
  if (!CHECK(made > MEMORY / BYTES / 2 && made <= MEMORY / BYTES)) printf("  %d texts\n", made);
  hpar_document_destroy(document); /* it has grown */
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, "<p>", 3, document, NULL), HPAR_OK);
  const hpar_options counted = {HPAR_OPTIONS_INIT, .limits = {.nodes = 2 * MEMORY / BYTES}};
  CHECK_EQ(hpar_document_edit(document, &counted, &edit, NULL), HPAR_OK);
  made = 0;
  status = HPAR_OK;
  for (; !status && made < 4 * MEMORY / BYTES; made++) status = hpar_node_create_text(edit, text, BYTES, &node);
  CHECK_EQ(status, HPAR_LIMIT_NODES);
  CHECK_EQ(made, 2 * MEMORY / BYTES + 1); /* the last one failed */
  hpar_document_destroy(document);
}

/*** HTML ***/

typedef struct trip {
  hpar_document *document, *again;
  hpar_editor *edit;
  random_state random;
  buffer html, tree, other;
} trip;

static bool is_text(const hpar_document *d, hpar_node node) {
  return node && hpar_node_kind(d, node) == HPAR_NODE_TEXT;
}

/* The elements to which docs/guides/edit.md lets a program add others. */
static bool takes_children(const hpar_document *d, hpar_node node, bool *is_span) {
  if (hpar_node_kind(d, node) != HPAR_NODE_ELEMENT || hpar_node_namespace(d, node) != HPAR_NAMESPACE_HTML) return false;
  hpar_string name = hpar_node_name(d, node);
  *is_span = name.length == 4 && !memcmp(name.bytes, "span", 4);
  return *is_span || (name.length == 4 && !memcmp(name.bytes, "body", 4)) ||
         (name.length == 3 && !memcmp(name.bytes, "div", 3));
}

static hpar_node any_parent(trip *t, bool *is_span) {
  hpar_node root = hpar_document_root(t->document), found = HPAR_NO_NODE;
  size_t seen = 0;
  for (hpar_node node = root; node; node = hpar_node_walk(t->document, root, node)) {
    bool span;
    if (!takes_children(t->document, node, &span) || random_below(&t->random, ++seen)) continue;
    found = node;
    *is_span = span;
  }
  return found;
}

static void change_and_keep_html(trip *t) {
  static const char *const comments[] = {"", "a", "<!--", "a--b", "-", "--", "a-", "<!", "!", "&amp;\n", "-x>", "--!"};
  static const char *const data[] = {"a", "<b>", "&amp;&lt", " \n ", "\n", "</div>-->", "\xC2\xA0\xE2\x82\xAC", "]]>"};
  static const char *const attributes[] = {"a", "x-\"'<", "=x", "\xC3\xA4", "on\x01"};
  bool is_span;
  hpar_node parent = any_parent(t, &is_span), made, before = HPAR_NO_NODE, previous;
  if (!parent) return;
  for (hpar_node child = hpar_node_first_child(t->document, parent); child; child = hpar_node_next(t->document, child))
    if (random_chance(&t->random, 30)) before = child;
  previous = before ? hpar_node_previous(t->document, before) : hpar_node_last_child(t->document, parent);
  const char *text = RANDOM_OF(&t->random, data), *name = RANDOM_OF(&t->random, attributes);
  switch (random_below(&t->random, 5)) {
    case 0: {
      const char *tag = is_span || random_chance(&t->random, 50) ? "span" : "div";
      CHECK_EQ(hpar_node_create_element(t->edit, HPAR_NAMESPACE_HTML, tag, strlen(tag), &made), HPAR_OK);
      break;
    }
    case 1:
      if (is_text(t->document, previous) || is_text(t->document, before)) return;
      CHECK_EQ(hpar_node_create_text(t->edit, text, strlen(text), &made), HPAR_OK);
      break;
    case 2:
      text = RANDOM_OF(&t->random, comments);
      CHECK_EQ(hpar_node_create_comment(t->edit, text, strlen(text), &made), HPAR_OK);
      break;
    case 3: CHECK_EQ(hpar_node_set_attribute(t->edit, parent, name, strlen(name), text, strlen(text)), HPAR_OK); return;
    default:
      if (!before || (is_text(t->document, previous) && is_text(t->document, hpar_node_next(t->document, before))))
        return;
      CHECK_EQ(hpar_node_remove(t->edit, before), HPAR_OK);
      return;
  }
  CHECK_EQ(hpar_node_insert_before(t->edit, parent, made, before), HPAR_OK);
}

/* Returns true if the HTML of the document is parsed to the same tree. */
static bool keeps_its_tree(trip *t) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  buffer_clear(&t->html);
  buffer_clear(&t->tree);
  buffer_clear(&t->other);
  hpar_node root = hpar_document_root(t->document);
  CHECK_EQ(hpar_serialize_html(t->document, root, HPAR_HTML_SCRIPTING, collect, &t->html), HPAR_OK);
  CHECK_EQ(hpar_serialize_tree(t->document, root, collect, &t->tree), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, t->html.bytes, t->html.length, t->again, NULL), HPAR_OK);
  CHECK_EQ(hpar_serialize_tree(t->again, hpar_document_root(t->again), collect, &t->other), HPAR_OK);
  return t->tree.length == t->other.length && !memcmp(t->tree.bytes, t->other.bytes, t->tree.length);
}

static void html_of_edited_trees(void) {
  static const char *const pages[] = {
      "<div>a<span>b</span></div>",
      "<!doctype html><title>t</title><body class=c><p>x<span>y</span><div>z</div><table><td><div>c",
      "<p><span>a<span></span></span><svg><foreignObject><div>b</div></foreignObject></svg><select><option>o",
      "<!--a--><html><head></head><body><div><script>s</script></div><textarea>\nx</textarea></body></html><!--b-->",
  };
  trip t = {.random = {7}};
  CHECK_EQ(hpar_document_create(&t.document), HPAR_OK);
  CHECK_EQ(hpar_document_create(&t.again), HPAR_OK);
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  for (unsigned round = 0; round < 400; round++) {
    const char *page = pages[round % (sizeof pages / sizeof *pages)];
    CHECK_EQ(hpar_parse(parser, &options, page, strlen(page), t.document, NULL), HPAR_OK);
    if (!CHECK(keeps_its_tree(&t))) continue;
    CHECK_EQ(hpar_document_edit(t.document, NULL, &t.edit, NULL), HPAR_OK);
    for (int i = 0; i < 12; i++) change_and_keep_html(&t);
    if (!CHECK(keeps_its_tree(&t)))
      printf("  round %u: %.*s\n%.*s\n%.*s\n", round, (int)t.html.length, t.html.bytes, (int)t.tree.length,
             t.tree.bytes, (int)t.other.length, t.other.bytes);
  }
  hpar_document_destroy(t.document);
  hpar_document_destroy(t.again);
  buffer_free(&t.html);
  buffer_free(&t.tree);
  buffer_free(&t.other);
}

int main(void) {
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  random_changes();
  names_of_the_dom();
  results_of_failures();
  attributes_one_by_one();
  options_of_edits();
  html_of_edited_trees();
  hpar_parser_destroy(parser);
  buffer_free(&out);
  buffer_free(&wide);
  return check_report();
}
