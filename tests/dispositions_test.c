/* A worker decides about each token without knowledge of the elements below its cut.
 * speculation/dispositions.c is the account of the rules by which it decides. This test compares
 * that account with the exact builder: for each insertion mode, each tag that tree construction
 * tests, many stacks of the worker, and many stacks below the cut.
 *
 * The exact builder parses the text before the cut, the worker's text and the token. Its accesses
 * to what was there at the cut are recorded by their effect:
 *
 *   a write   an outer element, list entry, template mode, pointer or node is another one
 *             afterwards, or a script runs, or the encoding is decided
 *   a read    the worker's own nodes, stack, list, modes or parse errors differ from those that the
 *             worker has built on unknown elements
 *
 * A LOCAL token may do neither wherever the merger accepts the assumptions of the segment, and may
 * not poison the segment. The worker builds the tokens one by one, and again by the loop over plain
 * tokens. A SPLIT token must do the same as a whole, and as a first half and a rest.
 *
 * A deferred token that writes nothing and does the same below all outer stacks is a lost chance.
 * tests/dispositions.txt has all of them, and the test fails if there are others.
 *
 *   HPAR_TEST_FULL=1        takes the whole product instead of a sample
 *   HPAR_TEST_SCALE=P       takes P percent of the sample (100)
 *   HPAR_TEST_TOKENS=LIST   takes the whole product of these tokens, in the form of that file
 *   dispositions_test FILE  writes the lost chances to the file */

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 0

#include "base/atom.h"
#include "base/memory.h"
#include "check.h"
#include "dom/node.h"
#include "speculation/dispositions.h"
#include "speculation/worker.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "tokenizer/parts.h"
#include "tree/builder.h"

#include "tree/context.inc"

#include "merge/check.inc"
#include "study/true_state.h"

#include <assert.h>
#include <stdlib.h>

/*** what is before the cut, what the worker has built, and the token ***/

/* Text before the cut. It ends in the data state, and not with text. */
static const char *const outers[] = {
    /* the beginning and the end of a document */
    "", "<!doctype html>", "<!doctype html><html>", "<!doctype html><head>", "<!doctype html><head><title>t</title>",
    "<!doctype html><head><template>", "<!doctype html><head></head>", "<!doctype html><head></head><template>",
    "<!doctype html><body></body>", "<!doctype html><body></body></html>", "<!doctype html><body><p></body>",
    "<!doctype html><frameset>", "<!doctype html><frameset><frameset>", "<!doctype html><frameset></frameset>",
    "<!doctype html><frameset></frameset></html>", "<!doctype html><head><noscript>",
    /* the body */
    "<!doctype html><body>", "<body>", "<!doctype html><p>", "<p>", "<!doctype html><div>", "<!doctype html><div><p>",
    "<!doctype html><p><span>", "<!doctype html><p><b>", "<!doctype html><p><b></p>", "<!doctype html><b>",
    "<!doctype html><b><b><b>", "<!doctype html><b><div>", "<!doctype html><b><p>", "<!doctype html><a href=q>",
    "<!doctype html><a href=q><div>", "<!doctype html><p><a></p>", "<!doctype html><nobr>",
    "<!doctype html><div><nobr></div>", "<!doctype html><i><b><p>", "<!doctype html><button>",
    "<!doctype html><button><p>", "<!doctype html><p><button>", "<!doctype html><p><object>",
    "<!doctype html><object><p>", "<!doctype html><b><object>", "<!doctype html><marquee>",
    "<!doctype html><object><b></object>", "<!doctype html><h1>", "<!doctype html><h1><span>",
    "<!doctype html><div><h2>", "<!doctype html><span>", "<!doctype html><x-y>", "<!doctype html><div><x-y>",
    "<!doctype html><font>",
    /* lists */
    "<!doctype html><ul>", "<!doctype html><ul><li>", "<!doctype html><ul><li><p>", "<!doctype html><ul><li><div>",
    "<!doctype html><ol><li><b>", "<!doctype html><li>", "<!doctype html><li><ul>", "<!doctype html><dl><dd>",
    "<!doctype html><dl><dt>", "<!doctype html><dl><dd><p>", "<!doctype html><dd><div>", "<!doctype html><dt><section>",
    /* forms, selects, ruby */
    "<!doctype html><form>", "<!doctype html><form><div>", "<!doctype html><form></form>",
    "<!doctype html><div><form><p></div>", "<!doctype html><select>", "<!doctype html><select><option>",
    "<!doctype html><select><optgroup>", "<!doctype html><select><optgroup><option>", "<!doctype html><select><div>",
    "<!doctype html><p><select>", "<!doctype html><option>", "<!doctype html><optgroup>",
    "<!doctype html><optgroup><option>", "<!doctype html><option><b>",
    "<!doctype html><select><button><selectedcontent></button>",
    "<!doctype html><select><button><selectedcontent></button><option>", "<!doctype html><selectedcontent>",
    "<!doctype html><ruby>", "<!doctype html><ruby><rb>", "<!doctype html><ruby><rtc>", "<!doctype html><ruby><rt>",
    "<!doctype html><ruby><rtc><rt>", "<!doctype html><rt>", "<!doctype html><object><select>",
    /* tables */
    "<!doctype html><table>", "<!doctype html><table><tbody>", "<!doctype html><table><thead>",
    "<!doctype html><table><tr>", "<!doctype html><table><tr><td>", "<!doctype html><table><tr><th>",
    "<!doctype html><table><tr><td><p>", "<!doctype html><table><tr><td><b>", "<!doctype html><b><table><tr><td>",
    "<!doctype html><table><tr><td><ul><li>", "<!doctype html><table><tr><td><select>",
    "<!doctype html><table><tr><td><table>", "<!doctype html><table><tr><td><table><tr>",
    "<!doctype html><table><tr><td><table><tr><td>", "<!doctype html><table><caption>",
    "<!doctype html><table><caption><p>", "<!doctype html><table><colgroup>", "<!doctype html><table><b>",
    "<!doctype html><table><tr><b>", "<!doctype html><table><tr><div>", "<!doctype html><p><table>", "<p><table>",
    "<!doctype html><form><table>", "<!doctype html><table><form>", "<!doctype html><table><form></table>",
    "<!doctype html><a><table>", "<!doctype html><a><table><tr><td>", "<!doctype html><table><tr><form>",
    "<!doctype html><table><tr><td><form>", "<!doctype html><b><table>", "<!doctype html><b><table><tr>",
    "<!doctype html><p><b></p><table><tr>", "<!doctype html><table><tr><td><button>",
    /* templates */
    "<!doctype html><template>", "<!doctype html><template><p>", "<!doctype html><template><div>",
    "<!doctype html><template><tr>", "<!doctype html><template><tbody>", "<!doctype html><template><td>",
    "<!doctype html><template><col>", "<!doctype html><template><table>", "<!doctype html><template><table><tr>",
    "<!doctype html><table><template>", "<!doctype html><table><tr><template>",
    "<!doctype html><table><tr><td><template>", "<!doctype html><template><template>",
    "<!doctype html><template><form>", "<!doctype html><form><template>", "<!doctype html><b><template>",
    "<!doctype html><select><template>", "<!doctype html><template><select><option>",
    "<!doctype html><template><b></template><template>",
    /* foreign content */
    "<!doctype html><svg>", "<!doctype html><svg><g>", "<!doctype html><svg><title>", "<!doctype html><svg><desc>",
    "<!doctype html><svg><foreignObject>", "<!doctype html><svg><foreignObject><p>",
    "<!doctype html><svg><foreignObject><table><tr>", "<!doctype html><svg><script>", "<!doctype html><p><svg>",
    "<!doctype html><b><svg>", "<!doctype html><p><b></p><svg>", "<!doctype html><ul><li><svg>",
    "<!doctype html><table><tr><td><svg>", "<!doctype html><table><svg>", "<!doctype html><template><svg>",
    "<!doctype html><math>", "<!doctype html><math><mi>", "<!doctype html><math><mi><b>",
    "<!doctype html><math><annotation-xml>", "<!doctype html><math><annotation-xml encoding=text/html>",
    "<!doctype html><math><annotation-xml><svg>", "<!doctype html><math><mrow>",
    "<!doctype html><svg><foreignObject><math>", "<!doctype html><svg><svg>"};

/* A stack below the cut is also one of these, and one of the others above it. */
static const char *const layers[] = {"<!doctype html><body>",
                                     "<!doctype html><table><tr><td>",
                                     "<!doctype html><table><caption>",
                                     "<!doctype html><template>",
                                     "<!doctype html><svg><foreignObject>",
                                     "<!doctype html><object>",
                                     "<!doctype html><button>",
                                     "<!doctype html><select>",
                                     "<!doctype html><form>",
                                     "<!doctype html><p>",
                                     "<!doctype html><ul><li>",
                                     "<!doctype html><b>",
                                     "<!doctype html><table><tr>",
                                     "<!doctype html><math><mi>"};
static const char *const uppers[] = {"<p>",
                                     "<p><b></p>",
                                     "<b>",
                                     "<a>",
                                     "<nobr>",
                                     "<li>",
                                     "<dd>",
                                     "<dt>",
                                     "<h3>",
                                     "<button>",
                                     "<select>",
                                     "<option>",
                                     "<optgroup>",
                                     "<ruby>",
                                     "<ruby><rt>",
                                     "<form>",
                                     "<div>",
                                     "<span>",
                                     "<section>",
                                     "<table>",
                                     "<table><tr>",
                                     "<table><tr><td>",
                                     "<table><caption>",
                                     "<object>",
                                     "<template>",
                                     "<template><tr>",
                                     "<svg>",
                                     "<svg><desc>",
                                     "<math>",
                                     "<math><mi>",
                                     "<i><div>",
                                     "<tr>",
                                     "<td>"};

/* A stack below the cut is also one of these with the name of the token. */
static const char *const named_outers[] = {"<!doctype html><%s>",
                                           "<%s>",
                                           "<!doctype html><%s><div>",
                                           "<!doctype html><%s><span>",
                                           "<!doctype html><p><%s></p>",
                                           "<!doctype html><table><tr><td><%s>",
                                           "<!doctype html><table><caption><%s>",
                                           "<!doctype html><template><%s>",
                                           "<!doctype html><select><%s>",
                                           "<!doctype html><svg><%s>",
                                           "<!doctype html><svg><%s><g>",
                                           "<!doctype html><svg><foreignObject><%s>",
                                           "<!doctype html><math><%s>",
                                           "<!doctype html><math><%s><mrow>",
                                           "<!doctype html><svg><g><%s><x-z>",
                                           "<!doctype html><%s><svg>",
                                           "<!doctype html><%s><math>",
                                           "<!doctype html><table><%s>",
                                           "<!doctype html><head><%s>"};

/* What the worker has built before the token. */
static const char *const owns[] = {
    "", "<p>", "<p></p>", "<div>", "<div></div>", "<div><p>", "<span>", "<span></span>", "<b>", "<b></b>", "<b><p>",
    "<p><b>", "<p><b></p>", "<div><b></div>", "<a>", "<a></a>", "<a><div>", "<b><b><b>", "<nobr>", "<nobr></nobr>",
    "<li>", "<li></li>", "<li><p>", "<li><div>", "<ul>", "<ul></ul>", "<ul><li>", "<ol><li><b>", "<div><li>", "<dd>",
    "<dt>", "<dl><dd>", "<dl><dt><p>", "<h1>", "<h1></h1>", "<h1><span>", "<h6>", "<button>", "<button></button>",
    "<button><p>", "<select>", "<select></select>", "<select><option>", "<select><optgroup>",
    "<select><optgroup><option>", "<option>", "<option><b>", "<optgroup>", "<div><option>", "<div><optgroup>",
    "<object>", "<object></object>", "<object><p>", "<marquee><b>", "<marquee><b></marquee>", "<applet>", "<ruby>",
    "<ruby><rb>", "<ruby><rtc>", "<ruby><rt>", "<form>", "<form></form>", "<form><div>", "<div><form></div>", "<table>",
    "<table></table>", "<table><form>", "<table><tbody>", "<table><tr>", "<table><tr><td>", "<table><tr><th><p>",
    "<table><tr><td><b>", "<table><caption>", "<table><colgroup>", "<table><tr><td><table>", "<table><tr><td><ul><li>",
    "<table><b>", "<p><table>", "<template>", "<template></template>", "<template><p>", "<template><tr>",
    "<template><td>", "<template><table>", "<template><col>", "<template><form>", "<div><template>",
    "<template><template>", "<svg>", "<svg></svg>", "<svg><g>", "<svg><title>", "<svg><desc>", "<svg><foreignObject>",
    "<svg><foreignObject><p>", "<svg><p>", "<p><svg>", "<math>", "<math><mi>", "<math><mi><b>",
    "<math><annotation-xml>", "<math><annotation-xml encoding=text/html>", "<div><svg>", "<x-y>", "<pre>",
    "<pre></pre>", "<font>", "<img>", "<br>", "<input>", "<hr>", "<!--c-->", " ", " <!--c-->", "<title>",
    "<title></title>", "<textarea>", "<textarea></textarea>", "<style>", "<style></style>", "<script>",
    "<script></script>", "<xmp>", "<iframe>", "<noembed>", "<noframes>", "<noscript>", "<noscript></noscript>",
    "<meta>",
    /* in modes of tables */
    "<td>", "<th>", "<td></td>", "<td><p>", "<td><b>", "<td><b></td>", "<td><ul><li>", "<td><table>", "<td><table><tr>",
    "<td><template>", "<td><svg>", "<td><svg></svg>", "<td><form>", "<td><select>", "<td><button>", "<td><h1>",
    "<td><option>", "<td><object>", "<tr>", "<tr></tr>", "<tr><td>", "<tr><td></td>", "<tr><td><p>", "<tr><template>",
    "<tbody>", "<tbody></tbody>", "<tbody><tr>", "<tbody><tr><td>", "<tbody><tr><td></td>", "<thead><tr><th>",
    "<tfoot>", "<tfoot><tr>", "<tfoot><tr><td>", "<caption>", "<caption></caption>", "<colgroup>", "<col>",
    /* in foreign content */
    "<g>", "<g></g>", "<title><p>", "<desc>", "<desc><p>", "<desc></desc>", "<foreignObject>", "<foreignObject><p>",
    "<foreignObject><b>", "<foreignObject><table>", "<mi>", "<mi></mi>", "<mi><p>", "<mi><b>", "<mrow>",
    "<annotation-xml>", "<annotation-xml encoding=text/html><p>", "<g><svg>", "<g><foreignObject><svg>"};

/* Tokens beside a start and an end tag of each name that tree construction tests. */
static const char *const other_tokens[] = {" ",
                                           "\n",
                                           "x",
                                           " x",
                                           "\n x",
                                           "\x01",
                                           "&amp;",
                                           "<!--c-->",
                                           "<!doctype html>",
                                           "<!doctype x>",
                                           "<?p d>",
                                           "<![CDATA[x]]>",
                                           "<x-y>",
                                           "</x-y>",
                                           "<p/>",
                                           "<svg/>",
                                           "<math/>",
                                           "<g/>",
                                           "<script/>",
                                           "<input type=hidden>",
                                           "<input type=text>",
                                           "<font color=c>",
                                           "<font size=1 x>",
                                           "<a href=q>",
                                           "<a href=r>",
                                           "<b id=i>",
                                           "<img src=s>",
                                           "<annotation-xml encoding=text/html>",
                                           "<annotation-xml encoding=application/xhtml+xml>",
                                           "<mglyph>",
                                           "<malignmark>",
                                           "<meta charset=utf-8>",
                                           "<body class=c>",
                                           "<html lang=l>",
                                           "<table background=b>",
                                           "<td background=b>",
                                           "<option selected>",
                                           "<select multiple>",
                                           "<lineargradient>",
                                           "</lineargradient>",
                                           "</foreignObject>"};

typedef struct piece {
  const char *bytes;
  size_t length;
} piece;

static const piece nul_texts[] = {{"\0", 1}, {"x\0", 2}, {" \0", 2}};

/* A kind of parse. */
typedef struct setting {
  const char *name;
  const char *fragment; /* its context; NULL: a document */
  hpar_quirks quirks;
  bool scripting;
  bool is_watched; /* scripts run, and the encoding is tentative */
} setting;

/* The first one has the list of lost chances. */
static const setting settings[] = {
    {.name = "document", .quirks = HPAR_NO_QUIRKS},
    {.name = "document with scripting", .quirks = HPAR_NO_QUIRKS, .scripting = true},
    {.name = "document whose scripts run", .quirks = HPAR_NO_QUIRKS, .scripting = true, .is_watched = true},
    {.name = "document in quirks mode", .quirks = HPAR_QUIRKS},
    {.name = "fragment of select", .quirks = HPAR_NO_QUIRKS, .fragment = "select"},
    {.name = "fragment of td", .quirks = HPAR_NO_QUIRKS, .fragment = "td"},
    {.name = "fragment of tr", .quirks = HPAR_NO_QUIRKS, .fragment = "tr"},
    {.name = "fragment of template", .quirks = HPAR_NO_QUIRKS, .fragment = "template"},
    {.name = "fragment of form", .quirks = HPAR_NO_QUIRKS, .fragment = "form"},
    {.name = "fragment of svg g", .quirks = HPAR_NO_QUIRKS, .fragment = "svg g"},
    {.name = "fragment of math mi", .quirks = HPAR_NO_QUIRKS, .fragment = "math mi"},
    {.name = "fragment of html", .quirks = HPAR_NO_QUIRKS, .fragment = "html"},
};

/* What the worker assumes at the cut. "In body" stands for "in cell" and "in caption", too. */
typedef struct start {
  uint8_t mode, ns;
  bool lists; /* some tokens are LOCAL there, so that the others can be lost chances */
} start;

static const start starts[] = {
    {HP_INITIAL, HPAR_NAMESPACE_HTML, false},
    {HP_BEFORE_HTML, HPAR_NAMESPACE_HTML, false},
    {HP_BEFORE_HEAD, HPAR_NAMESPACE_HTML, false},
    {HP_IN_HEAD, HPAR_NAMESPACE_HTML, true},
    {HP_IN_HEAD_NOSCRIPT, HPAR_NAMESPACE_HTML, false},
    {HP_AFTER_HEAD, HPAR_NAMESPACE_HTML, false},
    {HP_IN_BODY, HPAR_NAMESPACE_HTML, true},
    {HP_IN_TABLE, HPAR_NAMESPACE_HTML, true},
    {HP_IN_COLUMN_GROUP, HPAR_NAMESPACE_HTML, false},
    {HP_IN_TABLE_BODY, HPAR_NAMESPACE_HTML, true},
    {HP_IN_ROW, HPAR_NAMESPACE_HTML, true},
    {HP_IN_TEMPLATE, HPAR_NAMESPACE_HTML, false},
    {HP_AFTER_BODY, HPAR_NAMESPACE_HTML, false},
    {HP_IN_FRAMESET, HPAR_NAMESPACE_HTML, false},
    {HP_AFTER_FRAMESET, HPAR_NAMESPACE_HTML, false},
    {HP_AFTER_AFTER_BODY, HPAR_NAMESPACE_HTML, false},
    {HP_AFTER_AFTER_FRAMESET, HPAR_NAMESPACE_HTML, false},
    {HP_IN_BODY, HPAR_NAMESPACE_SVG, true},
    {HP_IN_BODY, HPAR_NAMESPACE_MATHML, true},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How the worker builds the token. */
typedef enum way {
  SINGLY,     /* it relies on every default answer */
  PLAINLY,    /* the same, by the loop over plain tokens */
  DOUBTFULLY, /* it relies on none, so that it splits tokens */
  WAYS
} way;

enum { MAX_RESULTS = COUNT(starts) * WAYS, MAX_OPEN = 32, MAX_NODES = 64, SHOWN = 20 };

/*** the state of a builder, as text ***/

/* The nodes of the run, in tree order. The number of a node is its index + 1. */
typedef struct numbers {
  hp_ref nodes[MAX_NODES];
  unsigned count;
} numbers;

static unsigned number_of(const numbers *of, hp_ref node) {
  for (unsigned i = 0; i < of->count; i++)
    if (of->nodes[i] == node) return i + 1;
  return 0;
}

static void write_attributes(buffer *to, const hp_builder *b, const hp_node *node) {
  const hp_attributes *block = node->attributes ? hp_at(b->base, node->attributes) : NULL;
  for (uint32_t i = 0; block && i < block->count; i++) {
    buffer_format(to, " %u=", block->items[i].name);
    buffer_add(to, block->items[i].value, block->items[i].length);
  }
}

/* `of`: takes the nodes; or NULL. */
static void write_node(buffer *to, const hp_builder *b, hp_ref ref, numbers *of) {
  const hp_node *node = node_at(b, ref);
  if (of && of->count < MAX_NODES) of->nodes[of->count++] = ref;
  buffer_format(to, "(%u.%u", node->kind, node->ns);
  switch (node->kind) {
    case HPAR_NODE_DOCTYPE: break;
    case HPAR_NODE_TEXT: {
      hpar_string text = text_of(b, node);
      buffer_escaped(to, text.bytes, text.length);
      break;
    }
    case HPAR_NODE_COMMENT:
    case HPAR_NODE_PROCESSING_INSTRUCTION: buffer_escaped(to, node->data, node->length); break;
    default:
      buffer_format(to, " %u", node->name);
      if (node->kind == HPAR_NODE_ELEMENT) write_attributes(to, b, node);
      if (node->flags & HP_FLAG_TEMPLATE) write_node(to, b, *hp_template_slot(node_at(b, ref)), of);
      for (hp_ref child = node->first; child; child = node_at(b, child)->next) write_node(to, b, child, of);
  }
  buffer_byte(to, ')');
}

/* Writes the siblings from `first` on, and the parts of the stack, the list and the template modes
 * from these indices on. */
static void write_own(buffer *to, const hp_builder *b, hp_ref first, uint32_t depth, uint32_t listed,
                      uint32_t templates, numbers *of) {
  buffer_clear(to);
  of->count = 0;
  for (hp_ref node = first; node; node = node_at(b, node)->next) write_node(to, b, node, of);
  buffer_text(to, " stack");
  for (uint32_t i = depth + 1; i <= b->stack.depth; i++)
    if (b->stack.entries[i].node)
      buffer_format(to, " %u.%u#%u", b->stack.entries[i].ns, b->stack.entries[i].name,
                    number_of(of, b->stack.entries[i].node));
  buffer_text(to, " list");
  for (uint32_t i = listed; i < b->formatting.count; i++) {
    const hp_formatting *e = &b->formatting.entries[i];
    if (!e->node)
      buffer_text(to, " |");
    else if (e->node != HP_FORMATTING_TOMBSTONE)
      buffer_format(to, " %u#%u", e->name, number_of(of, e->node));
  }
  buffer_text(to, " templates");
  for (uint32_t i = templates; i < b->templates.count; i++) buffer_format(to, " %u", b->templates.modes[i]);
  const hp_tokenizer *t = b->tokenizer;
  buffer_format(to, " content %u.%u%s", t->content, t->content ? t->last_start_tag : 0, hp_ignores_lf(b) ? " lf" : "");
}

/* Writes the errors from the number `from` on, by their distance from the cut. */
static void write_errors(buffer *to, const hp_errors *errors, uint32_t from, size_t cut) {
  buffer_clear(to);
  for (uint32_t i = from; i < errors->count; i++)
    buffer_format(to, " %s@%zu", hp_error_text((hp_error_code)errors->items[i].code), errors->items[i].offset - cut);
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

/*** the worker ***/

/* What a token has done below all outer stacks that the merger accepts for the tokens before. */
typedef struct outcomes {
  unsigned count;
  bool writes, differ;
  buffer first;
} outcomes;

/* A worker's result for a start and a way. */
typedef struct result {
  start start;
  way way;
  hp_disposition disposition;
  hp_segment segment; /* with the token if it is LOCAL */
  /* Of a LOCAL token: */
  bool is_poisoned, has_open, mode_is_base, original_is_base, frameset_ok, form_known;
  uint8_t mode, original_mode;
  unsigned form; /* its number, or 0 */
  buffer own, errors;
  /* Of a deferred one: where any assumption of the worker's own may fail, and where none does. */
  outcomes all, usual;
} result;

typedef struct bench {
  const setting *setting;
  hp_fragment_case fragment;
  hpar_document *documents[2];
  hp_worker *worker;
  hp_engine *exact;
  piece outer, made, token; /* the text before the cut, the worker's, and the token; "" is EOF */
  result results[MAX_RESULTS];
  size_t result_count;
  bool script_ran; /* of the exact builder */
  buffer text, own, errors, outcome, outer_tree, tree, whole, halves;
  numbers numbers;
  uint64_t dispositions[HP_DISPOSITION_SPLIT + 1], compared, failed;
} bench;

static void print_escaped(const char *label, const char *bytes, size_t length) {
  buffer text = {0};
  buffer_escaped(&text, bytes, length);
  printf("  %s %s\n", label, text.bytes ? text.bytes : "");
  buffer_free(&text);
}

/* Counts a check, and prints it if it fails. The test ends after SHOWN of these. `what`: the
 * problem; or NULL. */
static void report(bench *t, const result *r, const char *what) {
  static const char *const ways[] = {"one by one", "by the loop over plain tokens", "in doubt"};
  if (!what) {
    check_passed++;
    return;
  }
  check_failed++;
  if (t->failed++ >= SHOWN) return;
  printf("%s, worker begins \"%s\" in namespace %u, %s: the token %s\n", t->setting->name, hp_mode_name(r->start.mode),
         r->start.ns, ways[r->way], what);
  print_escaped("outer ", t->outer.bytes, t->outer.length);
  print_escaped("made  ", t->made.bytes, t->made.length);
  print_escaped("token ", t->token.bytes, t->token.length);
  fflush(stdout); /* scripts/mutate-dispositions waits for it */
  if (r->disposition != HP_DISPOSITION_LOCAL) return;
  print_escaped("exact ", t->own.bytes, t->own.length);
  print_escaped("worker", r->own.bytes, r->own.length);
  print_escaped("exact errors ", t->errors.bytes, t->errors.length);
  print_escaped("worker errors", r->errors.bytes, r->errors.length);
}

/* Sets the text of the next parse. */
static void set_text(bench *t, bool has_outer, bool is_padded) {
  buffer_clear(&t->text);
  if (has_outer) buffer_add(&t->text, t->outer.bytes, t->outer.length);
  buffer_add(&t->text, t->made.bytes, t->made.length);
  buffer_add(&t->text, t->token.bytes, t->token.length);
  if (!is_padded) return;
  /* The fused loop reads only far from the end. No token of the test reaches this text. */
  buffer_text(&t->text, "<!--");
  for (int i = 0; i < HP_FAST_REACH; i++) buffer_byte(&t->text, '-');
}

/* Opens the document for a parse of the text. */
static hp_request request_of(bench *t, hpar_document *document, bool has_errors) {
  if (hp_document_open(document, false, t->text.length)) CHECK(false); /* memory */
  return (hp_request){.document = document,
                      .text = t->text.bytes ? t->text.bytes : "",
                      .length = t->text.length,
                      .scripting = t->setting->scripting,
                      .runs_scripts = t->setting->is_watched,
                      .tentative = t->setting->is_watched ? &hp_utf8 : NULL,
                      .decodes_values = true,
                      .max_errors = has_errors ? UINT32_MAX : 0};
}

/* Opens the worker at the start of the result. */
static void begin_worker(bench *t, const result *r) {
  hp_worker *w = t->worker;
  hp_request request = request_of(t, t->documents[0], r->way != PLAINLY);
  hp_worker_open(w, &request, &t->fragment);
  t->documents[0]->quirks = t->setting->quirks; /* constant before workers begin */
  w->engine.builder.stack.entries[0].node = 0;
  hp_speculative_of(&w->engine.builder)->likely_false = 0;
  hp_speculative_of(&w->engine.builder)->outer_a_likely = false;
  w->outer = (hp_outer_context){.confident = ~0u, .checkpoint_bytes = SIZE_MAX, .ask_at = UINT32_MAX};
  hp_begin_segment(w, 0, r->start.mode, r->start.ns);
  if (r->way == PLAINLY) w->engine.builder.flags.frameset_ok = false; /* for the fused loop */
}

/* Returns whether the mode is neither that of the outer context nor of an own element. */
static bool loses_mode(const hp_worker *w) {
  const hp_builder *b = &w->engine.builder;
  return b->stack.depth == 0 && b->mode != w->outer.base_mode && b->mode != HP_IN_TEXT;
}

/* Gives the next token to the worker. Returns whether it is LOCAL. */
static bool step_singly(hp_worker *w) {
  hp_builder *b = &w->engine.builder;
  hp_token token;
  w->outer.disposition = HP_DISPOSITION_LOCAL;
  hp_next_token_inside(&w->engine.tokenizer, &token, b->stack.top->name);
  hp_speculative_token(b, &token);
  return w->outer.disposition == HP_DISPOSITION_LOCAL;
}

/* Does the same by the loop over plain tokens, up to `limit`. */
static bool step_plainly(hp_worker *w, const char *limit) {
  hp_builder *b = &w->engine.builder;
  hp_token token;
  w->outer.disposition = HP_DISPOSITION_LOCAL;
  while (w->engine.tokenizer.at < limit && !w->outer.poisoned && !loses_mode(w)) {
    if (b->stack.depth == 0)
      b->stack.entries[0].kind = (uint8_t)(b->mode == HP_IN_TEXT ? HP_OPEN_OTHER : hp_outer_kind(b));
    hp_plain_run run = hp_speculative_plain_tokens(b, &token, limit);
    if (run.end == HP_PLAIN_LEFT) hp_speculative_token(b, &token);
    if (w->outer.disposition != HP_DISPOSITION_LOCAL) return false;
  }
  return true;
}

static bool step_to(hp_worker *w, way by, const char *limit) {
  if (by == PLAINLY) return w->engine.tokenizer.at >= limit || step_plainly(w, limit);
  while (w->engine.tokenizer.at < limit)
    if (!step_singly(w) || w->outer.poisoned) return false;
  return true;
}

/* Returns the segment as hp_worker_end_segment logs it, but without what lets the merger repair a
 * wrong assumption. */
static hp_segment current_segment(const hp_worker *w) {
  hp_segment s = w->outer.now;
  s.assumes.questions = hp_read_speculative(&w->engine.builder)->assumed;
  s.misnested = s.fostered = true;
  s.ark_known = false;
  s.tokens = 1;
  return s;
}

static void note_local(const bench *t, result *r) {
  const hp_worker *w = t->worker;
  const hp_builder *b = &w->engine.builder;
  bool has_template = b->stack.last[HP_ATOM_TEMPLATE];
  numbers of;
  r->is_poisoned = w->outer.poisoned || loses_mode(w);
  write_own(&r->own, b, node_at(b, b->stack.entries[0].node)->first, 0, 0, 0, &of);
  write_errors(&r->errors, &w->engine.errors, 0, 0);
  r->mode = b->mode;
  r->original_mode = b->original_mode;
  r->has_open = b->stack.depth > 0;
  r->mode_is_base = b->mode == r->start.mode && !has_template;
  r->original_is_base = b->original_mode == r->start.mode && !has_template;
  r->frameset_ok = b->flags.frameset_ok;
  r->form_known = hp_knows_form(b);
  r->form = hp_form_pointer(b) ? number_of(&of, hp_form_pointer(b)) : 0;
  if (hp_form_pointer(b) && !r->form) r->is_poisoned = true; /* a form that is in no tree */
}

typedef struct worker_run {
  bench *test;
  result *result;
  bool is_valid; /* the worker has built all tokens before the last one */
} worker_run;

static hpar_status run_worker(void *argument) {
  worker_run *run = argument;
  bench *t = run->test;
  result *r = run->result;
  hp_worker *w = t->worker;
  begin_worker(t, r);
  hp_builder *b = &w->engine.builder;
  const char *token = w->engine.tokenizer.base + t->made.length, *end = token + t->token.length;
  if (!step_to(w, r->way, token) || w->engine.tokenizer.at != token || w->outer.poisoned || loses_mode(w))
    return HPAR_OK;
  /* chunk_run.c processes the end of the input there, and the text would contain the padding. */
  if (b->mode == HP_IN_TEXT && (!t->token.length || r->way == PLAINLY)) return HPAR_OK;
  run->is_valid = true;
  r->segment = current_segment(w);
  if (r->way == DOUBTFULLY) {
    w->outer.confident = 0;
    w->outer.minimise_log = true;
    /* a worker never doubts other answers */
    hp_speculative_of(b)->likely_false = 1u << HP_ASSUME_NO_P_IN_BUTTON_SCOPE | 1u << HP_ASSUME_NOT_IN_SCOPE;
    hp_speculative_of(b)->outer_a_likely = true;
  }
  bool is_local = r->way == PLAINLY ? step_plainly(w, end) : step_singly(w);
  r->disposition = w->outer.disposition;
  if (!is_local) return HPAR_OK;
  r->segment = current_segment(w);
  note_local(t, r);
  return HPAR_OK;
}

/* Lets the worker build its text and the token from each start, in each way. */
static void run_workers(bench *t) {
  t->result_count = 0;
  for (size_t i = 0; i < MAX_RESULTS; i++) {
    result *r = &t->results[t->result_count];
    r->start = starts[i / WAYS];
    r->way = (way)(i % WAYS);
    r->all = (outcomes){.first = r->all.first};
    r->usual = (outcomes){.first = r->usual.first};
    r->is_poisoned = false;
    if (r->way == PLAINLY && !t->token.length) continue; /* chunk_run.c processes the end */
    set_text(t, false, r->way == PLAINLY);
    worker_run run = {t, r, false};
    if (hp_try(&t->worker->engine.unwind, run_worker, &run) != HPAR_OK) report(t, r, "ends the worker");
    /* In doubt, only what it splits is new. */
    if (!run.is_valid || (r->way == DOUBTFULLY && r->disposition != HP_DISPOSITION_SPLIT)) continue;
    t->result_count++;
    t->dispositions[r->disposition]++;
    if (r->disposition == HP_DISPOSITION_LOCAL && r->is_poisoned) report(t, r, "is LOCAL and poisons the segment");
  }
}

/*** the exact builder ***/

/* What the exact builder has at the cut. */
typedef struct boundary {
  uint32_t depth, listed, templates, errors;
  hp_ref stack[MAX_OPEN], entries[MAX_OPEN];
  uint8_t template_modes[MAX_OPEN];
  hp_ref head, form, parent, last;
  uint8_t mode;
  bool frameset_ok;
} boundary;

static boundary note_boundary(bench *t) {
  hp_builder *b = &t->exact->builder;
  boundary at = {.depth = b->stack.depth,
                 .listed = b->formatting.count,
                 .templates = b->templates.count,
                 .errors = t->exact->errors.count,
                 .head = b->pointers.head,
                 .form = hp_form_pointer(b),
                 .mode = b->mode,
                 .frameset_ok = b->flags.frameset_ok};
  assert(at.depth < MAX_OPEN && at.listed < MAX_OPEN && at.templates < MAX_OPEN);
  for (uint32_t i = 1; i <= at.depth; i++) at.stack[i] = b->stack.entries[i].node;
  for (uint32_t i = 0; i < at.listed; i++) at.entries[i] = b->formatting.entries[i].node;
  if (at.templates) memcpy(at.template_modes, b->templates.modes, at.templates);
  at.parent = hp_exact_appropriate_place(b).parent;
  at.last = node_at(b, at.parent)->last;
  buffer_clear(&t->outer_tree);
  write_node(&t->outer_tree, b, t->documents[1]->root, NULL);
  return at;
}

/* Takes the nodes that follow the last child at the cut out of the tree. Returns the first one. */
static hp_ref take_run(const hp_builder *b, const boundary *at) {
  hp_node *parent = node_at(b, at->parent), *last = at->last ? node_at(b, at->last) : NULL;
  if (last && last->parent != at->parent) return 0;
  hp_ref first = last ? last->next : parent->first;
  if (last)
    last->next = 0;
  else
    parent->first = 0;
  parent->last = at->last;
  return first;
}

/* Returns what has changed that was there at the cut, or NULL. */
static const char *find_write(bench *t, const boundary *at) {
  const hp_builder *b = &t->exact->builder;
  if (b->stack.depth < at->depth) return "pops outer elements";
  for (uint32_t i = 1; i <= at->depth; i++)
    if (b->stack.entries[i].node != at->stack[i]) return "changes the outer stack";
  if (b->formatting.count < at->listed) return "removes outer entries of the list";
  for (uint32_t i = 0; i < at->listed; i++)
    if (b->formatting.entries[i].node != at->entries[i]) return "changes outer entries of the list";
  if (b->templates.count < at->templates) return "ends outer templates";
  for (uint32_t i = 0; i < at->templates; i++)
    if (b->templates.modes[i] != at->template_modes[i]) return "changes the outer template modes";
  if (b->pointers.head != at->head) return "changes the head pointer";
  if (t->script_ran) return "runs a script";
  if (t->setting->is_watched && !b->encoding.tentative) return "decides the encoding";
  buffer_clear(&t->tree);
  write_node(&t->tree, b, t->documents[1]->root, NULL);
  return same(&t->tree, &t->outer_tree) ? NULL : "changes outer nodes";
}

/* Returns what differs between the exact builder's own part and the worker's, or NULL. */
static const char *find_read(const bench *t, const boundary *at, const result *r) {
  const hp_builder *b = &t->exact->builder;
  if (!same(&t->own, &r->own)) return "builds something else";
  if (r->way != PLAINLY && !same(&t->errors, &r->errors)) return "has other errors";
  bool sets_mode = r->mode == HP_IN_TEXT || (r->has_open && !r->mode_is_base);
  if (b->mode != (sets_mode ? r->mode : at->mode)) return "leads to another mode";
  if (b->mode == HP_IN_TEXT && b->original_mode != (r->original_is_base ? at->mode : r->original_mode))
    return "leads to another mode after its text";
  if (r->way != PLAINLY && b->flags.frameset_ok != (at->frameset_ok && r->frameset_ok))
    return "leads to another frameset-ok flag";
  if (!r->form_known) return hp_form_pointer(b) == at->form ? NULL : "changes the form element pointer";
  return r->form == (hp_form_pointer(b) ? number_of(&t->numbers, hp_form_pointer(b)) : 0) &&
                 !r->form == !hp_form_pointer(b)
             ? NULL
             : "leads to another form element pointer";
}

/* Returns whether the merger would accept the segment if it relied on every default answer. No
 * segment relies on an answer about ruby: workers defer the tags that ask. */
static bool holds_by_default(hp_builder *b, const hp_segment *s) {
  hp_segment all = *s;
  all.assumes.questions = ~(1u << HP_ASSUME_NAMESPACE);
  all.assumes.in_scope = (1u << HP_SCOPED_NAMES) - 1;
  all.assumes.top = HP_TOP_HEADING | HP_TOP_OPTION | HP_TOP_OPTGROUP;
  all.assumes.formatting_names = (uint16_t)((1u << HP_FORMATTING_NAMES) - 1);
  return !has_element_in_scope(b, HP_ATOM_RUBY) && first_wrong_assumption(b, &all) == HP_ASSUMPTION_KINDS;
}

typedef enum answer { REJECTED, ACCEPTED, ACCEPTED_BY_DEFAULT } answer;

/* Returns whether the merger accepts the segment here. A segment that a deferred token ends states
 * the modes of the tokens before it only. The token itself is compared in the modes for which the
 * start stands. */
static answer answer_to(hp_builder *b, const result *r) {
  hp_segment s = r->segment;
  bool is_local = r->disposition == HP_DISPOSITION_LOCAL;
  uint32_t content = 1u << HP_IN_BODY | 1u << HP_IN_CELL | 1u << HP_IN_CAPTION;
  if (!is_local) s.assumes.modes &= r->start.mode == HP_IN_BODY ? content : 1u << r->start.mode;
  if (r->is_poisoned || first_wrong_assumption(b, &s) != HP_ASSUMPTION_KINDS) return REJECTED;
  return !is_local && holds_by_default(b, &s) ? ACCEPTED_BY_DEFAULT : ACCEPTED;
}

static void add_outcome(outcomes *to, bool writes, const buffer *outcome) {
  if (writes) {
    to->writes = true;
  } else if (!to->first.length || !to->count) {
    buffer_clear(&to->first);
    buffer_add(&to->first, outcome->bytes, outcome->length);
  } else {
    to->differ |= !same(&to->first, outcome);
  }
  to->count++;
}

/* Writes what the token has done, so that the same text means the same effect. A worker can log
 * that it clears the frameset-ok flag, so that flag is no part of the text. */
static void write_outcome(bench *t, const boundary *at) {
  const hp_builder *b = &t->exact->builder;
  unsigned form = hp_form_pointer(b) == at->form ? 0 : 1 + number_of(&t->numbers, hp_form_pointer(b));
  buffer_clear(&t->outcome);
  buffer_add(&t->outcome, t->own.bytes, t->own.length);
  buffer_add(&t->outcome, t->errors.bytes ? t->errors.bytes : "", t->errors.length);
  buffer_format(&t->outcome, " mode %d form %u", b->mode == at->mode ? -1 : b->mode, form);
}

/* Writes all of the state. */
static void write_whole(bench *t, buffer *to) {
  const hp_engine *e = t->exact;
  const hp_builder *b = &e->builder;
  numbers of;
  write_own(to, b, t->documents[1]->root, 0, 0, 0, &of);
  write_errors(&t->outcome, &e->errors, 0, 0);
  buffer_add(to, t->outcome.bytes ? t->outcome.bytes : "", t->outcome.length);
  buffer_format(to, " mode %u.%u form %u head %u%s", b->mode, b->original_mode, number_of(&of, hp_form_pointer(b)),
                number_of(&of, b->pointers.head), b->flags.frameset_ok ? " frameset-ok" : "");
}

static void note_script(void *context, hp_ref script) {
  bench *t = context;
  const hp_builder *b = &t->exact->builder;
  hp_ref root = script;
  while (node_at(b, root)->parent) root = node_at(b, root)->parent;
  if (node_at(b, root)->kind == HPAR_NODE_DOCUMENT) t->script_ran = true; /* not in a template */
}

/* Opens the exact builder at the beginning of the text. */
static void begin_exact(bench *t) {
  hp_engine *e = t->exact;
  hp_builder *b = &e->builder;
  hp_request request = request_of(t, t->documents[1], true);
  hp_engine_open(e, &request);
  if (t->setting->is_watched) b->script.ended = note_script;
  b->script.context = t;
  t->script_ran = false;
  if (!t->setting->fragment) return;
  b->fragment = t->fragment;
  hp_exact_begin_fragment(b);
}

static void build_exactly(hp_engine *e) {
  hp_token token;
  hp_next_token_inside(&e->tokenizer, &token, e->builder.stack.top->name);
  hp_exact_token(&e->builder, &token);
  e->builder.flags.prepared = false;
}

static void build_exactly_to(bench *t, size_t offset) {
  hp_engine *e = t->exact;
  while (e->tokenizer.at < e->tokenizer.base + offset) build_exactly(e);
}

/* Returns whether the merger is between two tokens of the data state, as it must be to adopt. */
static bool is_at_cut(const bench *t) {
  const hp_engine *e = t->exact;
  return e->tokenizer.at == e->tokenizer.base + t->outer.length && e->tokenizer.content == HP_TEXT_STATE_DATA &&
         e->builder.mode != HP_IN_TEXT && e->builder.stack.depth && t->documents[1]->quirks == t->setting->quirks;
}

/* Builds the text, and the token in two halves, as the merger does. */
static hpar_status run_halves(void *argument) {
  bench *t = argument;
  hp_builder *b = &t->exact->builder;
  begin_exact(t);
  build_exactly_to(t, t->outer.length + t->made.length);
  hp_tokenizer *tokenizer = &t->exact->tokenizer;
  hp_token token;
  hp_next_token_inside(tokenizer, &token, b->stack.top->name);
  if (!hp_splits_row(&token)) {
    if (can_run_first_half(b)) hp_exact_prepare(b, &token);
  } else if (!hp_ignores_lf(b) && hp_exact_adjusted_current_node(b)->ns == HPAR_NAMESPACE_HTML) {
    hp_exact_prepare_row(b, &token);
  }
  hp_exact_token(b, &token);
  b->flags.prepared = false;
  write_whole(t, &t->halves);
  return HPAR_OK;
}

typedef struct exact_run {
  bench *test;
  bool is_listed;          /* the outer stack counts for lost chances */
  const result *has_split; /* the merger accepts the segment before a SPLIT token */
} exact_run;

static hpar_status run_exactly(void *argument) {
  exact_run *run = argument;
  bench *t = run->test;
  hp_builder *b = &t->exact->builder;
  answer answers[MAX_RESULTS], any = REJECTED;
  begin_exact(t);
  build_exactly_to(t, t->outer.length);
  if (!is_at_cut(t)) return HPAR_OK;
  for (size_t i = 0; i < t->result_count; i++) {
    answers[i] = answer_to(b, &t->results[i]);
    any |= answers[i];
  }
  if (!any) return HPAR_OK;
  boundary at = note_boundary(t);
  build_exactly_to(t, t->outer.length + t->made.length + t->token.length);
  if (!t->token.length) build_exactly(t->exact);
  for (size_t i = 0; i < t->result_count; i++)
    if (answers[i] && t->results[i].disposition == HP_DISPOSITION_SPLIT) run->has_split = &t->results[i];
  if (run->has_split) write_whole(t, &t->whole);
  hp_ref first = take_run(b, &at);
  const char *write = find_write(t, &at);
  write_own(&t->own, b, first, at.depth, at.listed, at.templates, &t->numbers);
  write_errors(&t->errors, &t->exact->errors, at.errors, t->outer.length);
  write_outcome(t, &at);
  for (size_t i = 0; i < t->result_count; i++) {
    result *r = &t->results[i];
    if (!answers[i]) continue;
    t->compared++;
    if (r->disposition == HP_DISPOSITION_LOCAL) report(t, r, write ? write : find_read(t, &at, r));
    if (r->disposition != HP_DISPOSITION_DEFER || !run->is_listed) continue;
    add_outcome(&r->all, write, &t->outcome);
    if (answers[i] == ACCEPTED_BY_DEFAULT) add_outcome(&r->usual, write, &t->outcome);
  }
  return HPAR_OK;
}

/* Compares the token on this outer stack with all results of the worker. */
static void check_below(bench *t, const char *outer, bool is_listed) {
  t->outer = (piece){outer, strlen(outer)};
  set_text(t, true, false);
  exact_run run = {t, is_listed, NULL};
  if (hp_try(&t->exact->unwind, run_exactly, &run) != HPAR_OK) report(t, &t->results[0], "ends the exact builder");
  if (!run.has_split) return;
  hp_try(&t->exact->unwind, run_halves, t);
  report(t, run.has_split, same(&t->whole, &t->halves) ? NULL : "is SPLIT, and its halves do something else");
}

/*** lost chances ***/

/* The tokens that are lost chances after a text of the worker. */
typedef struct lost {
  char label[64]; /* of the start */
  const char *made;
  buffer tokens; /* each after SEPARATOR */
  bool is_written;
} lost;

#define SEPARATOR "  " /* no text of the test has two spaces */

/* The list of the file, or the list that the test makes. */
typedef struct lost_list {
  lost *items;
  size_t count, capacity, tokens;
} lost_list;

static void add_lost(lost_list *to, const char *label, const char *made, const char *token) {
  size_t i = to->count;
  while (i && to->items[i - 1].made == made && strcmp(to->items[i - 1].label, label) != 0) i--;
  lost *into = i && to->items[i - 1].made == made ? &to->items[i - 1] : NULL;
  if (!into) {
    if (to->count == to->capacity) {
      to->capacity = 2 * to->capacity + 64;
      to->items = realloc(to->items, to->capacity * sizeof *to->items);
      assert(to->items);
    }
    into = &to->items[to->count++];
    *into = (lost){.made = made};
    snprintf(into->label, sizeof into->label, "%s", label);
  }
  buffer_text(&into->tokens, SEPARATOR);
  buffer_text(&into->tokens, token);
  to->tokens++;
}

/* Returns how the file shows a text of the worker, or a token. `empty`: how it shows none. */
static const char *shown(buffer *to, piece text, const char *empty) {
  bool begins_with_space = text.length && *text.bytes == ' ';
  buffer_clear(to);
  buffer_text(to, !text.length ? empty : begins_with_space ? "\\040" : "");
  buffer_escaped(to, text.bytes + begins_with_space, text.length - begins_with_space);
  return to->bytes;
}

static void write_label(char *to, size_t room, const start *s, bool by_default) {
  const char *ns = s->ns == HPAR_NAMESPACE_SVG ? " in svg" : s->ns == HPAR_NAMESPACE_MATHML ? " in math" : "";
  snprintf(to, room, "%s%s%s", hp_mode_name(s->mode), ns, by_default ? " by default" : "");
}

/* Writes the list, a line for the worker's texts with the same tokens. */
static bool write_list(const lost_list *list, const char *path) {
  FILE *file = fopen(path, "w");
  buffer made = {0};
  if (!file) return false;
  fputs(
      "# Tokens that a worker defers although they access nothing below its cut: a line for a start, the worker's\n"
      "# texts before the token (\"-\": none), and the tokens. \"By default\": they access nothing where all default\n"
      "# answers hold. dispositions_test compares the list with the code, and writes it: dispositions_test FILE.\n",
      file);
  for (size_t i = 0; i < list->count; i++) {
    lost *first = &list->items[i];
    if (first->is_written) continue;
    fprintf(file, "%s" SEPARATOR "|", first->label);
    for (size_t k = i; k < list->count; k++) {
      lost *other = &list->items[k];
      if (strcmp(other->label, first->label) != 0 || !same(&other->tokens, &first->tokens)) continue;
      fprintf(file, SEPARATOR "%s", shown(&made, (piece){other->made, strlen(other->made)}, "-"));
      other->is_written = true;
    }
    fprintf(file, SEPARATOR "|%s\n", first->tokens.bytes);
  }
  buffer_free(&made);
  return !fclose(file);
}

/* The lines of the file, and how many pairs of a worker's text and a token they have. */
typedef struct known_list {
  char *bytes;
  char **labels, **made, **tokens;
  size_t count, tokens_count;
} known_list;

/* Returns the number of parts between separators. */
static size_t count_parts(const char *text) {
  size_t count = 0;
  while ((text = strstr(text, SEPARATOR))) text += strlen(SEPARATOR), count++;
  return count;
}

static bool has_part(const char *text, const char *part) {
  size_t length = strlen(part);
  for (const char *at = text; (at = strstr(at, SEPARATOR));) {
    at += strlen(SEPARATOR);
    if (!strncmp(at, part, length) && (!at[length] || !strncmp(at + length, SEPARATOR, strlen(SEPARATOR)))) return true;
  }
  return false;
}

static bool read_list(known_list *list, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  list->bytes = calloc((size_t)size + 1, 1);
  bool is_read = fread(list->bytes, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  char **fields = calloc((size_t)size + 1, 3 * sizeof *fields);
  list->labels = fields;
  list->made = fields + size + 1;
  list->tokens = list->made + size + 1;
  for (char *line = strtok(list->bytes, "\n"); line; line = strtok(NULL, "\n")) {
    char *made = strstr(line, SEPARATOR "|"), *tokens = made ? strstr(made + 3, SEPARATOR "|") : NULL;
    if (*line == '#' || !tokens) continue;
    *made = *tokens = 0;
    list->labels[list->count] = line;
    list->made[list->count] = made + 3;
    list->tokens[list->count++] = tokens + 3;
    list->tokens_count += count_parts(made + 3) * count_parts(tokens + 3);
  }
  return is_read;
}

static bool is_known(const known_list *list, const char *label, const char *made, const char *token) {
  for (size_t i = 0; i < list->count; i++)
    if (!strcmp(list->labels[i], label) && has_part(list->made[i], made) && has_part(list->tokens[i], token))
      return true;
  return false;
}

/* Returns whether the outcomes are those of a token without accesses. */
static bool accesses_nothing(const outcomes *of) { return of->count > 1 && !of->writes && !of->differ; }

/* Compares the deferred results with the list, and adds the lost chances to `found`. */
static void check_lost(bench *t, const known_list *known, lost_list *found) {
  buffer made_text = {0}, token_text = {0};
  const char *made = shown(&made_text, t->made, "-"), *token = shown(&token_text, t->token, "EOF");
  for (size_t i = 0; i < t->result_count; i++) {
    const result *r = &t->results[i];
    if (!r->start.lists || r->way != SINGLY) continue;
    bool is_end_tag = t->token.length > 1 && t->token.bytes[0] == '<' && t->token.bytes[1] == '/';
    for (int by_default = 0; by_default < 2; by_default++) {
      char label[64];
      write_label(label, sizeof label, &r->start, by_default);
      bool is_lost = r->disposition == HP_DISPOSITION_DEFER && accesses_nothing(by_default ? &r->usual : &r->all);
      /* By default no element is open that an end tag could close. The tag shows that one is. */
      if (by_default) is_lost = is_lost && !is_end_tag && !accesses_nothing(&r->all);
      if (is_lost) add_lost(found, label, t->made.bytes, token);
      if (!known) continue;
      bool was_lost = is_known(known, label, made, token);
      if (is_lost != was_lost && t->failed < SHOWN) printf("%s: %s, after %s\n", label, token, made);
      report(t, r,
             is_lost == was_lost ? NULL
             : is_lost           ? "is a lost chance that the list lacks"
                                 : "is in the list, but is no lost chance");
    }
  }
  buffer_free(&made_text);
  buffer_free(&token_text);
}

/*** the product ***/

typedef struct token_list {
  piece *items;
  char (*tags)[40];
  size_t count;
} token_list;

static token_list all_tokens(void) {
  token_list list = {.items =
                         calloc(COUNT(other_tokens) + COUNT(nul_texts) + 1 + 2 * HP_TESTED_TAGS, sizeof *list.items),
                     .tags = calloc(2 * HP_TESTED_TAGS, sizeof *list.tags)};
  assert(list.items && list.tags);
  for (size_t i = 0; i < COUNT(other_tokens); i++)
    list.items[list.count++] = (piece){other_tokens[i], strlen(other_tokens[i])};
  for (size_t i = 0; i < COUNT(nul_texts); i++) list.items[list.count++] = nul_texts[i];
  list.items[list.count++] = (piece){"", 0};
  for (hp_atom i = 2; i < 2 * HP_TESTED_TAGS; i++) {
    const hp_known_name *name = &hp_known_names[i / 2];
    int length =
        snprintf(list.tags[i], sizeof list.tags[i], i % 2 ? "</%.*s>" : "<%.*s>", (int)name->length, name->bytes);
    list.items[list.count++] = (piece){list.tags[i], (size_t)length};
  }
  return list;
}

/* Leaves only the tokens of HPAR_TEST_TOKENS, if it is set. Returns whether it is. */
static bool select_tokens(token_list *list) {
  const char *wanted = getenv("HPAR_TEST_TOKENS");
  size_t count = list->count;
  buffer text = {0};
  if (!wanted) return false;
  list->count = 0;
  for (size_t i = 0; i < count; i++)
    if (has_part(wanted, shown(&text, list->items[i], "EOF"))) list->items[list->count++] = list->items[i];
  CHECK(list->count == count_parts(wanted));
  buffer_free(&text);
  return true;
}

/* Writes the name of the tag. Returns false if the token is no tag. */
static bool write_name(char *to, size_t room, const piece *token) {
  const char *at = token->bytes;
  if (token->length < 3 || *at++ != '<') return false;
  if (*at == '/') at++;
  if (*at == '!' || *at == '?') return false;
  snprintf(to, room, "%.*s", (int)strcspn(at, " />"), at);
  return true;
}

/* Compares the token on all listed outer stacks, and on `count` of the combined ones. */
static void check_token(bench *t, size_t first, size_t count) {
  char outer[160], name[40];
  for (size_t i = 0; i < COUNT(outers); i++) check_below(t, outers[i], true);
  for (size_t i = 0; write_name(name, sizeof name, &t->token) && i < COUNT(named_outers); i++) {
    snprintf(outer, sizeof outer, named_outers[i], name);
    check_below(t, outer, true);
  }
  for (size_t i = 0; i < count; i++) {
    size_t at = (first + i) % (COUNT(layers) * COUNT(uppers));
    snprintf(outer, sizeof outer, "%s%s", layers[at / COUNT(uppers)], uppers[at % COUNT(uppers)]);
    check_below(t, outer, false);
  }
}

/* What of the product the test takes. */
typedef enum share {
  SAMPLE,     /* some pairs of a worker's text and a token, each with a combined outer stack */
  EVERYTHING, /* all pairs, in the first setting with all combined outer stacks */
  THE_LIST    /* all pairs of the first setting, with what the list needs */
} share;

static void check_setting(bench *t, const token_list *tokens, share share, const known_list *known, lost_list *found) {
  bool is_first = t->setting == settings;
  /* The sample has one of 8 pairs of the first setting, and one of 128 of the others. */
  const uint64_t every = is_first ? 800 : 12800;
  const size_t combined = share == THE_LIST ? 0 : share == EVERYTHING && is_first ? COUNT(layers) * COUNT(uppers) : 1;
  uint32_t random = (uint32_t)(t->setting - settings);
  for (size_t i = 0; i < COUNT(owns); i++)
    for (size_t k = 0; k < tokens->count && t->failed < SHOWN; k++) {
      random = random * 1664525 + 1013904223;
      if (share == SAMPLE && (random * every) >> 32 >= compare_scale()) continue;
      t->made = (piece){owns[i], strlen(owns[i])};
      t->token = tokens->items[k];
      run_workers(t);
      if (t->result_count) check_token(t, random >> 8, combined);
      if (is_first) check_lost(t, known, found);
    }
}

static hpar_status read_context(void *argument) {
  bench *t = argument;
  hp_request request = request_of(t, t->documents[1], false);
  hp_engine_open(t->exact, &request);
  CHECK(hp_builder_parse_context(&t->exact->builder, t->setting->fragment));
  t->fragment = t->exact->builder.fragment;
  return HPAR_OK;
}

static void close_bench(bench *t) {
  hp_worker_close(t->worker);
  hp_engine_close(t->exact);
  hp_free(t->worker);
  hp_free(t->exact);
  for (int i = 0; i < 2; i++) hpar_document_destroy(t->documents[i]);
  for (size_t i = 0; i < MAX_RESULTS; i++) {
    buffer_free(&t->results[i].own);
    buffer_free(&t->results[i].errors);
    buffer_free(&t->results[i].all.first);
    buffer_free(&t->results[i].usual.first);
  }
  buffer *const buffers[] = {&t->text,       &t->own,  &t->errors, &t->outcome,
                             &t->outer_tree, &t->tree, &t->whole,  &t->halves};
  for (size_t i = 0; i < COUNT(buffers); i++) buffer_free(buffers[i]);
}

int main(int count, char **arguments) {
  static bench t;
  const char *to = count > 1 ? arguments[1] : NULL;
  known_list known = {0};
  lost_list found = {0};
  token_list tokens = all_tokens();
  bool is_selection = select_tokens(&tokens);
  share share = to ? THE_LIST : is_selection || compare_full() ? EVERYTHING : SAMPLE;
  t.worker = hp_allocate_zeroed(sizeof *t.worker);
  t.exact = hp_allocate_zeroed(sizeof *t.exact);
  if (!CHECK(t.worker && t.exact)) return check_report();
  for (int i = 0; i < 2; i++) CHECK(!hpar_document_create(&t.documents[i]));
  if (!to) CHECK(read_list(&known, HPAR_SOURCE_DIR "/tests/dispositions.txt"));
  for (size_t i = 0; i < (to ? 1 : COUNT(settings)); i++) {
    t.setting = &settings[i];
    t.fragment = (hp_fragment_case){0};
    if (t.setting->fragment) CHECK(!hp_try(&t.exact->unwind, read_context, &t));
    check_setting(&t, &tokens, share, to ? NULL : &known, &found);
  }
  if (to)
    CHECK(write_list(&found, to));
  else if (share == EVERYTHING && !is_selection && !t.failed)
    CHECK_EQ(found.tokens, known.tokens_count);
  printf("%" PRIu64 " tokens of workers are LOCAL, %" PRIu64 " DEFER, %" PRIu64 " SPLIT; %" PRIu64
         " comparisons with the exact builder; %zu lost chances\n",
         t.dispositions[HP_DISPOSITION_LOCAL], t.dispositions[HP_DISPOSITION_DEFER],
         t.dispositions[HP_DISPOSITION_SPLIT], t.compared, found.tokens);
  close_bench(&t);
  for (size_t i = 0; i < found.count; i++) buffer_free(&found.items[i].tokens);
  free(found.items);
  free(known.bytes);
  free(known.labels);
  free(tokens.items);
  free(tokens.tags);
  return check_report();
}
