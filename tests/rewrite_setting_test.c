/* A rule that only sets an attribute has a short path, and selectors that read few attributes do
 * not read the others. The output equals that of the same rules with a callback, which reads all
 * attributes and edits the tag by the general path.
 *
 * The tree of the output has exactly the edited attributes, whatever stands between those of the
 * tag. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <stdlib.h>

enum { MAX_ATTRIBUTES = 6, TAGS = 40, ROUNDS = 400 };

static hpar_rewriter *rewriter;

static const struct {
  const char *selector, *name, *value;
} cases[] = {{"a[href]", "href", "/"},
             {"a[href]", "HREF", "a b"},
             {"a[href]", "class", "x=y"},
             {"a", "href", "it's"},
             {"a", "href", "\"q\""},
             {"a", "href", "1&amp;2"},
             {"a", "href", "\xC3\xA4"},
             {"a", "href", ""},
             {"a", "href", "\x01"},
             {"a", "data-long-name-of-an-attribute", "v"},
             {"[href]", "title", "v"},
             {"[class]", "href", "v"},
             {".k[href]", "id", "`"},
             {"a[title][href]", "title", "<i>"},
             {"[data-x]", "data-x", "v"},
             {"p > a[href], b[class]", "href", "v"},
             {"svg [href], svg [viewBox]", "viewbox", "v"},
             {"a:not([class])", "class", "v"}};
enum { CASES = sizeof cases / sizeof *cases };

static const char *const names[] = {"href",
                                    "HREF",
                                    "class",
                                    "title",
                                    "id",
                                    "data-x",
                                    "viewBox",
                                    "x",
                                    "=",
                                    "x1",
                                    "x\x11",
                                    "hre\x06",
                                    "a-name-that-is-longer-than-16-bytes",
                                    "\"",
                                    "hreF"};
static const char *const values[] = {"",
                                     "=\"v\"",
                                     "='v'",
                                     "=v",
                                     "=\"\"",
                                     "=",
                                     " = \"k w\"",
                                     "=k",
                                     "='a\"b'",
                                     "\n=\n'k'",
                                     "=\"a value of more than thirty-two bytes, with > and '\"",
                                     "=v/",
                                     "=\"/\""};
static const char *const gaps[] = {" ", "\n", "/", "  ", " / ", "\t"};
static const char *const elements[] = {"a", "A", "b", "p", "svg", "g", "font", "input", "x-y"};
static random_state state = {16};
#define PICK(list) RANDOM_OF(&state, list)

static hpar_status ignore(hpar_element *element, void *context) {
  (void)element, (void)context;
  return HPAR_OK;
}

static hpar_rules *rules_of(size_t index, bool has_callback) {
  hpar_action action = {.kind = HPAR_ACTION_SET_ATTRIBUTE,
                        .name = cases[index].name,
                        .value = {cases[index].value, strlen(cases[index].value)}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = cases[index].selector, .actions = &action, .action_count = 1};
  if (has_callback) rule.element = ignore;
  hpar_rules *rules = NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

/* Rewrites in pieces of 1 to `most` bytes. */
static hpar_rewrite_stats rewrite(const hpar_rules *rules, const buffer *text, size_t most, buffer *output) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  buffer_clear(output);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, append, output), HPAR_OK);
  for (size_t at = 0, piece; at < text->length; at += piece) {
    piece = 1 + random_below(&state, most);
    if (piece > text->length - at) piece = text->length - at;
    /* a copy of exact size, so that a sanitizer finds reads beyond it */
    char *copy = malloc(piece);
    memcpy(copy, text->bytes + at, piece);
    CHECK_EQ(hpar_rewriter_feed(rewriter, copy, piece), HPAR_OK);
    free(copy);
  }
  CHECK_EQ(hpar_rewriter_finish(rewriter, &stats), HPAR_OK);
  return stats;
}

static void write_tags(buffer *text) {
  buffer_clear(text);
  for (int i = 0; i < TAGS; i++) {
    buffer_format(text, "<%s", PICK(elements));
    for (size_t k = random_below(&state, MAX_ATTRIBUTES); k > 0; k--)
      buffer_format(text, "%s%s%s", PICK(gaps), PICK(names), PICK(values));
    buffer_text(text, random_below(&state, 4) ? " >t" : "/>");
    if (random_below(&state, 3) == 0) buffer_format(text, "</%s>", PICK(elements));
  }
}

/* An element without a tag begins after a tag whose attributes were not read to their end. The
 * bytes of the tag are gone. */
static void check_implied(void) {
  static const char *const tags[] = {"<a href=x class=y>", "<p><a href=x class=y>", "<table><a href=x class=y id=z>"};
  static const char *const implying[] = {"<!doctype html>t", "t", "<!--c-->", "<tr>", "</p>"};
  hpar_action action = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
  hpar_rule setting = {HPAR_RULE_INIT, .selector = "a[href]", .actions = &action, .action_count = 1};
  hpar_rule any = {HPAR_RULE_INIT, .selector = "html, body, p, tbody, b", .element = ignore, .implied = true};
  hpar_rules *rules = NULL;
  buffer text = {0}, output = {0}, again = {0};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &setting, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &any, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    for (size_t k = 0; k < sizeof implying / sizeof *implying; k++) {
      for (int follows = 0; follows < 2; follows++) { /* as the next stream, or in the same one */
        buffer_clear(&text);
        buffer_format(&text, "%s%s", tags[i], follows ? implying[k] : "");
        rewrite(rules, &text, 1 << 20, &output);
        buffer_clear(&text);
        buffer_text(&text, implying[k]);
        rewrite(rules, &text, 1, &output);
        rewrite(rules, &text, 1 << 20, &again);
        CHECK_BYTES(output.bytes, output.length, again.bytes, again.length);
      }
    }
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&output);
  buffer_free(&again);
}

/*** the attributes of the tree ***/

enum { MAX_ACTIONS = 4, MAX_IN_TREE = 64 };

typedef struct tree_attribute {
  hpar_string name, value;
} tree_attribute;

typedef struct attribute_list {
  tree_attribute items[MAX_IN_TREE];
  size_t count;
} attribute_list;

static hpar_parser *parser;
static hpar_document *before, *after;

static bool equal(hpar_string a, hpar_string b) {
  return a.length == b.length && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

static bool is_named(hpar_string name, const char *text) { return equal(name, (hpar_string){text, strlen(text)}); }

static void read_attributes(const hpar_document *document, hpar_node node, attribute_list *to) {
  hpar_attribute a;
  for (to->count = 0; to->count < MAX_IN_TREE && hpar_node_attribute_at(document, node, to->count, &a); to->count++)
    to->items[to->count] = (tree_attribute){a.local_name, a.value};
}

/* Edits the list. The name of an action that unsets is a name, or a letter and "*", or "*". */
static void edit_list(attribute_list *list, const hpar_action *action) {
  const char *star = strchr(action->name, '*');
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const hpar_string name = list->items[i].name;
    bool fits = star ? star == action->name || *name.bytes == *action->name : is_named(name, action->name);
    if (!fits) list->items[kept++] = list->items[i];
  }
  list->count = kept;
  if (action->kind == HPAR_ACTION_SET_ATTRIBUTE)
    list->items[list->count++] = (tree_attribute){{action->name, strlen(action->name)}, action->value};
}

/* The order has no meaning. */
static bool same_attributes(const attribute_list *a, const attribute_list *b) {
  for (size_t i = 0; i < a->count; i++) {
    bool found = false;
    for (size_t k = 0; k < b->count; k++)
      found |= equal(a->items[i].name, b->items[k].name) && equal(a->items[i].value, b->items[k].value);
    if (!found) return false;
  }
  return a->count == b->count;
}

/* Returns true if the tree after the edits is the edited tree before them. */
static bool is_edited(const hpar_action *actions, size_t count) {
  hpar_node a = hpar_document_root(before), b = hpar_document_root(after);
  const hpar_node top = a, other_top = b;
  int depth = 0, other_depth = 0;
  while ((a = hpar_node_walk(before, top, a))) {
    attribute_list expected, got;
    b = hpar_node_walk(after, other_top, b);
    if (!b || hpar_node_kind(before, a) != hpar_node_kind(after, b)) return false;
    depth = other_depth = 0;
    for (hpar_node up = a; up != top; up = hpar_node_parent(before, up)) depth++;
    for (hpar_node up = b; up != other_top; up = hpar_node_parent(after, up)) other_depth++;
    if (depth != other_depth) return false;
    if (hpar_node_kind(before, a) != HPAR_NODE_ELEMENT) {
      if (!equal(hpar_node_data(before, a), hpar_node_data(after, b))) return false;
      continue;
    }
    if (!equal(hpar_node_name(before, a), hpar_node_name(after, b))) return false;
    read_attributes(before, a, &expected);
    read_attributes(after, b, &got);
    for (size_t i = 0; i < count && is_named(hpar_node_name(before, a), "x"); i++) edit_list(&expected, &actions[i]);
    if (!same_attributes(&expected, &got)) return false;
  }
  return !hpar_node_walk(after, other_top, b);
}

static void parse(const buffer *text, hpar_document *document) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  CHECK_EQ(hpar_parse(parser, &options, text->bytes, text->length, document, NULL), HPAR_OK);
}

static void check_edits(const buffer *text, const hpar_action *actions, size_t count) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "x", .actions = actions, .action_count = count};
  hpar_rules *rules = NULL;
  buffer output = {0}, shown = {0};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  rewrite(rules, text, 1 + random_below(&state, 40), &output);
  parse(text, before);
  parse(&output, after);
  if (!CHECK(is_edited(actions, count))) {
    buffer_escaped(&shown, text->bytes, text->length);
    buffer_text(&shown, "\n  gives ");
    buffer_escaped(&shown, output.bytes, output.length);
    printf("  %s\n", shown.bytes);
    for (size_t i = 0; i < count; i++) printf("  %s %s\n", actions[i].value.bytes ? "set" : "unset", actions[i].name);
  }
  hpar_rules_destroy(rules);
  buffer_free(&output);
  buffer_free(&shown);
}

static void random_edits(void) {
  static const char bytes[] = "aab=='\"// \r\n\f\0oOv>&";
  static const char *const set[] = {"a", "b", "o", "c"}, *const unset[] = {"a", "b", "o", "o*", "a*", "*"};
  static const char *const new_values[] = {"", "v", "a b", "/", "v/", "=", "\"", "'", "&lt;", "a`b", "a\rb", "\r\n"};
  buffer text = {0};
  for (int round = 0; round < 20 * ROUNDS && check_failed < 3; round++) {
    hpar_action actions[MAX_ACTIONS];
    const size_t count = 1 + random_below(&state, MAX_ACTIONS);
    for (size_t i = 0; i < count; i++) {
      const char *value = PICK(new_values);
      actions[i] =
          random_below(&state, 2)
              ? (hpar_action){.kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = PICK(unset)}
              : (hpar_action){.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = PICK(set), .value = {value, strlen(value)}};
    }
    buffer_clear(&text);
    buffer_text(&text, random_below(&state, 2) ? "<svg><x" : "<x");
    buffer_byte(&text, " \n/"[random_below(&state, 3)]);
    if (random_below(&state, 2)) {
      for (size_t k = random_below(&state, MAX_ATTRIBUTES); k > 0; k--)
        buffer_format(&text, "%s%s%s", PICK(names), PICK(values), random_below(&state, 4) ? PICK(gaps) : "");
    } else {
      for (size_t k = random_below(&state, 24); k > 0; k--)
        buffer_byte(&text, bytes[random_below(&state, sizeof bytes - 1)]);
    }
    buffer_text(&text, random_below(&state, 3) ? ">t<y a=1>u\"'>w" : "/>t<y a=1>u\"'>w");
    check_edits(&text, actions, count);
  }
  buffer_free(&text);
}

/* What pages have in common with the attacks on a filter. */
static void known_edits(void) {
#define SET(of, to)                                                               \
  {                                                                               \
    .kind = HPAR_ACTION_SET_ATTRIBUTE, .name = of, .value = { to, sizeof to - 1 } \
  }
#define UNSET(of) \
  { .kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = of }
  static const struct {
    hpar_action action;
    const char *input, *output;
  } rows[] = {
      {SET("b", "v"), "<x a=>", "<x a=\"\" b=\"v\">"},
      {SET("b", "v"), "<x a= >", "<x a= \"\" b=\"v\">"},
      {SET("b", "\""), "<x a=>", "<x a=\"\" b=\"&quot;\">"},
      {SET("a", ""), "<x a=>", "<x a=\"\">"},
      {UNSET("b"), "<svg><x a=1 b=\"2\"/><y>", "<svg><x a=1 /><y>"},
      {UNSET("b"), "<x a=http: b=\"2\"//c>", "<x a=http: //c>"},
      {UNSET("b"), "<x a b=\"2\" =c>", "<x a/ =c>"},
      {UNSET("b"), "<x a b=\"2\"=c>", "<x a/=c>"},
      {UNSET("b"), "<x a b=\"2\"/=c>", "<x a/=c>"},
      {UNSET("b"), "<x b=\"2\"=c>", "<x =c>"},
      {UNSET("b"), "<x b=\"2\"c>", "<x c>"},
      {UNSET("b"), "<x b=\"2\"b=\"3\"c>", "<x c>"},
      {UNSET("b"), "<x b=\"2\"/>", "<x/>"},
      {UNSET("b"), "<x a='1' b c>", "<x a='1' c>"},
  };
  buffer text = {0}, output = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = "x", .actions = &rows[i].action, .action_count = 1};
    hpar_rules *rules = NULL;
    CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    buffer_clear(&text);
    buffer_text(&text, rows[i].input);
    rewrite(rules, &text, 1 << 20, &output);
    CHECK_BYTES(output.bytes, output.length, rows[i].output, strlen(rows[i].output));
    check_edits(&text, &rows[i].action, 1);
    hpar_rules_destroy(rules);
  }
  buffer_clear(&text);
  buffer_add(&text, "<x b=\"2\"\0>c", 11);
  check_edits(&text, &(hpar_action)UNSET("b"), 1);
  buffer_free(&text);
  buffer_free(&output);
}

int main(void) {
  static const size_t pieces[] = {1 << 20, 64, 1};
  buffer text = {0}, expected = {0}, output = {0};
  uint64_t edits = 0;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (int round = 0; round < ROUNDS; round++) {
    write_tags(&text);
    size_t index = random_below(&state, CASES);
    hpar_rules *with = rules_of(index, true), *without = rules_of(index, false);
    hpar_rewrite_stats wanted = rewrite(with, &text, 1 << 20, &expected);
    edits += wanted.edits;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
      hpar_rewrite_stats stats = rewrite(without, &text, pieces[i], &output);
      CHECK_BYTES(output.bytes, output.length, expected.bytes, expected.length);
      CHECK_EQ(stats.matches, wanted.matches);
    }
    hpar_rules_destroy(with);
    hpar_rules_destroy(without);
  }
  CHECK(edits > ROUNDS);
  check_implied();
  CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&before) && !hpar_document_create(&after));
  known_edits();
  random_edits();
  hpar_document_destroy(before);
  hpar_document_destroy(after);
  hpar_parser_destroy(parser);
  hpar_rewriter_destroy(rewriter);
  buffer_free(&text);
  buffer_free(&expected);
  buffer_free(&output);
  return check_report();
}
