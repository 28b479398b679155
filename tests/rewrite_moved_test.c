/* Edits after which the parser moves content, or reads the following input in another way. The
 * tree of the output is then that of another input, and not the edited tree. `--check` finds such
 * edits. For all others see rewrite_tree_test.c. */

#include "check.h"
#include "support/edited_tree.h"
#include "support/rewriting.h"

#include <stdlib.h>

enum { MAX_SEEN = 16 };

static hpar_parser *parser;
static hpar_document *document;
static hpar_rewriter *rewriter;
static hp_seen seen[MAX_SEEN];
static size_t seen_count;

static const struct {
  const char *selector;
  hpar_action action;
  const char *input, *equal;
} rows[] = {
#define ROW(selector, action_kind, text, input, equal)                                                             \
  {                                                                                                                \
    selector, {.kind = HPAR_ACTION_##action_kind, .format = HPAR_CONTENT_HTML, .value = {text, sizeof(text) - 1}}, \
        input, equal                                                                                               \
  }
#define NAMED(selector, action_kind, name_of, text, input, equal) \
  { selector, {.kind = HPAR_ACTION_##action_kind, .name = name_of, .value = {text, sizeof(text) - 1}}, input, equal }
    /* text in a table moves before the table */
    ROW("tr", BEFORE, "X", "<body><table><tr><td>a</table>", "<body>X<table><tr><td>a</table>"),
    ROW("table", APPEND, "<i>1</i>", "<body><table></table>", "<body><i>1</i><table></table>"),
    /* HTML elements leave svg and math */
    ROW("g", PREPEND, "<span>1</span>", "<svg><g>a</g></svg>", "<svg><g></g></svg><span>1</span>a"),
    /* block content ends a p */
    ROW("p", PREPEND, "<div>1</div>", "<body><p>a</p>b", "<body><p></p><div>1</div>a<p></p>b"),
    NAMED("span", RENAME, "div", "", "<body><p>a<span>b</span>c", "<body><p>a</p><div>b</div>c"),
    ROW("div", UNWRAP, "", "<body><p>a<div>b</div>c", "<body><p>abc"),
    ROW("div", REMOVE, "", "<body><p>a<div>b</div>c", "<body><p>ac"),
    /* content at the end goes into a child that has no end tag */
    ROW("ul", APPEND, "X", "<body><ul><li>a</ul>", "<body><ul><li>aX</ul>"),
    /* an item of a list ends the item around it, unless an element such as section is between */
    ROW("section", UNWRAP, "", "<body><li><section><li>a</li></section></li>", "<body><li></li><li>a</li>"),
    ROW("div", UNWRAP, "", "<body><h1><div><h2>a</h2></div></h1>", "<body><h1></h1><h2>a</h2>"),
    /* the rewriter ends body at its end tag, but the parser adds to it */
    ROW("body", APPEND, "X", "<body>a</body>b", "<body>aXb"),
    /* a comment after the body stays outside */
    ROW("p", BEFORE, "<!--c-->", "<body></body></html><p>a", "<body><p>a</body></html><!--c-->"),
    /* formatting elements without an end tag begin again */
    ROW("p + p", BEFORE, "X", "<body><p><b>a</p><p>c</p>", "<body><p><b>a</b></p><b>X<p>c</p></b>"),
    /* text forms a character reference together with an insertion */
    ROW("b", BEFORE, "t;", "<body>1 &l<b>2</b>", "<body>1 <<b>2</b>"),
    /* before body, a comment stays outside, and text begins the body */
    ROW("p", BEFORE, "<!--c-->", "<!DOCTYPE html><p>a", "<!DOCTYPE html><!--c--><p>a"),
    ROW("title", BEFORE, "X", "<head><title>t</title></head><body>b", "<body>X<title>t</title>b"),
    ROW("frameset", BEFORE, "X", "<frameset></frameset>", "<body>X"),
    /* in svg, a style has tags inside */
    ROW("svg", UNWRAP, "", "<body><svg><style><b></b></style></svg>", "<body><style><b></b></style>"),
    /* an ignored tag has an effect */
    ROW("img", REMOVE, "", "<img><head a=b>c", "<head a=b>c"),
    ROW("p", APPEND, "<!--", "<body><p>a</p>b", "<body><p>a<!--</p>b-->"),
    /* attributes that tree construction reads */
    NAMED("input", SET_ATTRIBUTE, "type", "text", "<body><table><input type=hidden></table>",
          "<body><input type=text><table></table>"),
    NAMED("font", SET_ATTRIBUTE, "size", "1", "<svg><font a=b></font></svg>", "<svg></svg><font a=b size=1></font>"),
#undef ROW
#undef NAMED
};
static hpar_status note_seen(hpar_element *e, void *context) {
  seen[seen_count++] = (hp_seen){context, e->start, e->has_content, NULL};
  return HPAR_OK;
}

static hpar_rules *compile(const hp_edit_rule *edit, const char *selector, const hpar_action *action) {
  hpar_rule observer = {HPAR_RULE_INIT, .selector = selector, .element = note_seen, .context = (void *)(uintptr_t)edit};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = action, .action_count = 1};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &observer, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static hp_text tree_of(const char *text, size_t length, hp_seen *edits) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .source_offsets = true};
  CHECK_EQ(hpar_parse(parser, &options, length ? text : "", length, document, NULL), HPAR_OK);
  return edited_tree(document, false, edits, seen_count);
}

static void check_row(size_t i) {
  hpar_action action = rows[i].action;
  hp_edit_rule edit = {.actions = &action, .count = 1};
  rewriting run = {.compiled = compile(&edit, rows[i].selector, &action)};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  seen_count = 0;
  CHECK_EQ(rewriting_run(&run, rewriter, &options, rows[i].input, strlen(rows[i].input), 0, 0), HPAR_OK);
  CHECK(seen_count > 0);
  hp_text edited = tree_of(rows[i].input, strlen(rows[i].input), seen);
  hp_text got = tree_of(run.out.bytes, run.out.length, NULL);
  hp_text equal = tree_of(rows[i].equal, strlen(rows[i].equal), NULL);
  if (!CHECK(edited_tree_equal(&got, &equal)) || !CHECK(!edited_tree_equal(&got, &edited)))
    printf("  %s in %s: %.*s\n%.*s\n", rows[i].selector, rows[i].input, (int)run.out.length, run.out.bytes,
           (int)got.length, got.bytes);
  free(edited.bytes);
  free(got.bytes);
  free(equal.bytes);
  rewriting_free(&run);
}

int main(void) {
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(i);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  hpar_rewriter_destroy(rewriter);
  return check_report();
}
