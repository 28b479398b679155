/* Checks the streaming rewriter: edits, ends, callbacks, limits, failures, encodings. Every case
 * runs on the whole input, byte by byte, and with several other divisions. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static hpar_rewriter *rewriter;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static hpar_string text_of(const char *text) { return (hpar_string){text, strlen(text)}; }

static hpar_rules *rules_of(const hpar_rule *rules, size_t count) {
  hpar_rules *made = NULL;
  CHECK_EQ(hpar_rules_create(&made), HPAR_OK);
  for (size_t i = 0; i < count; i++) {
    hpar_error error;
    if (!CHECK_EQ(hpar_rules_add(made, &rules[i], &error), HPAR_OK)) printf("  at %zu: %s\n", error.offset, error.text);
  }
  CHECK_EQ(hpar_rules_compile(made), HPAR_OK);
  return made;
}

/* Rewrites the input in pieces of `feed` bytes; 0: as a whole. */
static hpar_status run(const hpar_rules *rules, const hpar_rewrite_options *options, const char *input, size_t length,
                       size_t feed, buffer *out, hpar_rewrite_stats *stats) {
  buffer_clear(out);
  hpar_status status = hpar_rewriter_begin(rewriter, rules, options, collect, out);
  if (status) return status;
  if (!feed) feed = length ? length : 1;
  for (size_t at = 0; at < length; at += feed) {
    /* memory of exactly this size, so that a sanitizer detects a read past the end */
    size_t part = length - at < feed ? length - at : feed;
    char *copy = malloc(part);
    memcpy(copy, input + at, part);
    hpar_rewriter_feed(rewriter, copy, part);
    free(copy);
  }
  return hpar_rewriter_finish(rewriter, stats);
}

static const size_t feeds[] = {0, 1, 2, 3, 5, 16};

static void expect_with(const hpar_rules *rules, const hpar_rewrite_options *options, const char *input,
                        const char *expected) {
  buffer out = {0};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    CHECK_EQ(run(rules, options, input, strlen(input), feeds[i], &out, NULL), HPAR_OK);
    if (!CHECK_BYTES(out.bytes, out.length, expected, strlen(expected))) {
      printf("  input %s, in pieces of %zu\n", input, feeds[i]);
      break;
    }
  }
  buffer_free(&out);
}

/* Checks one rule with one action. */
static void expect_action(const char *selector, hpar_action action, const char *input, const char *expected) {
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &action, .action_count = 1};
  hpar_rules *rules = rules_of(&rule, 1);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  expect_with(rules, &options, input, expected);
  hpar_rules_destroy(rules);
}

#define ACTION(action_kind, text) \
  ((hpar_action){.kind = HPAR_ACTION_##action_kind, .format = HPAR_CONTENT_HTML, .value = text_of(text)})
#define ATTRIBUTE(action_kind, attribute, text) \
  ((hpar_action){.kind = HPAR_ACTION_##action_kind, .name = attribute, .value = text_of(text)})

static void insertions(void) {
  expect_action("p", ACTION(BEFORE, "X"), "a<p>b</p>c", "aX<p>b</p>c");
  expect_action("p", ACTION(PREPEND, "X"), "a<p>b</p>c", "a<p>Xb</p>c");
  expect_action("p", ACTION(APPEND, "X"), "a<p>b</p>c", "a<p>bX</p>c");
  expect_action("p", ACTION(AFTER, "X"), "a<p>b</p>c", "a<p>b</p>Xc");
  expect_action("p", ACTION(INNER, "X"), "a<p>b<i>c</i></p>d", "a<p>X</p>d");
  expect_action("p", ACTION(REPLACE, "X"), "a<p>b<p>c</p>d", "aXXd");
  expect_action("p", ACTION(REMOVE, ""), "a<p>b<i>c</i></p>d", "ad");
  expect_action("p", ACTION(UNWRAP, ""), "a<p>b<i>c</i></p >d", "ab<i>c</i>d");
  expect_action("p", ((hpar_action){.kind = HPAR_ACTION_RENAME, .name = "section"}), "a<P id=x>b</P >d",
                "a<section id=x>b</section >d");
  /* text is escaped */
  hpar_action text = ACTION(BEFORE, "<&>");
  text.format = HPAR_CONTENT_TEXT;
  expect_action("p", text, "<p>", "&lt;&amp;&gt;<p>");
  /* void elements, and elements that "/>" ends, have no inside */
  expect_action("br", ACTION(APPEND, "X"), "a<br>b", "a<br>b");
  expect_action("br", ACTION(AFTER, "X"), "a<br>b", "a<br>Xb");
  expect_action("br", ACTION(REPLACE, "X"), "a<br/>b", "aXb");
  expect_action("g", ACTION(INNER, "X"), "<svg><g/>b</svg>", "<svg><g/>b</svg>");
  expect_action("p", ACTION(PREPEND, "X"), "<p/>b", "<p/>Xb");
}

static void attributes(void) {
  const char *page = "<a HREF='x' b=y c = \"z\" d e>t</a>";
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "href", "n'"), page, "<a HREF='n&#39;' b=y c = \"z\" d e>t</a>");
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "b", "n"), page, "<a HREF='x' b=n c = \"z\" d e>t</a>");
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "b", "n m"), page, "<a HREF='x' b=\"n m\" c = \"z\" d e>t</a>");
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "c", "\"&lt;&a"), page,
                "<a HREF='x' b=y c = \"&quot;&amp;lt;&a\" d e>t</a>");
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "d", ""), page, "<a HREF='x' b=y c = \"z\" d=\"\" e>t</a>");
  expect_action("a", ATTRIBUTE(SET_ATTRIBUTE, "f", "1"), page, "<a HREF='x' b=y c = \"z\" d e f=\"1\">t</a>");
  expect_action("a", ATTRIBUTE(UNSET_ATTRIBUTE, "href", ""), page, "<a b=y c = \"z\" d e>t</a>");
  expect_action("a", ATTRIBUTE(UNSET_ATTRIBUTE, "c", ""), page, "<a HREF='x' b=y d e>t</a>");
  expect_action("a", ATTRIBUTE(UNSET_ATTRIBUTE, "e", ""), page, "<a HREF='x' b=y c = \"z\" d>t</a>");
  expect_action("a", ATTRIBUTE(UNSET_ATTRIBUTE, "x", ""), page, page);
  expect_action("br", ATTRIBUTE(SET_ATTRIBUTE, "a", "b"), "<br/><br />", "<br a=\"b\"/><br a=\"b\" />");
  expect_action("i", ATTRIBUTE(UNSET_ATTRIBUTE, "a", ""), "<i a=\"1\"b=\"2\">", "<i b=\"2\">");
  expect_action("i", ATTRIBUTE(UNSET_ATTRIBUTE, "a", ""), "<i a=1 b A=2 a='3'>", "<i b>");
  expect_action("i", ATTRIBUTE(SET_ATTRIBUTE, "A", "3"), "<i a=1 A=2><i>", "<i a=3 A=2><i a=\"3\">");
  hpar_action prefix = ATTRIBUTE(PREFIX_ATTRIBUTE, "href", "http:");
  prefix.replacement = text_of("https:");
  expect_action("a[href^='http:']", prefix, "<a href=http://x/ id=1><a href='http&#58;//y'><a href=ftp:>",
                "<a href=https://x/ id=1><a href='https://y'><a href=ftp:>");
  prefix.replacement = text_of("");
  expect_action("a", prefix, "<a href=http:><a href=http:b>", "<a href=\"\"><a href=b>");
}

/* Each type of children has a counter of its own. */
static void types(void) {
  expect_action(":nth-of-type(2)", ACTION(REMOVE, ""), "<b>a</b><i>b</i><p>c</p><p>d</p>", "<b>a</b><i>b</i><p>c</p>");
}

/* A line feed at the beginning of a pre is no text, also as a reference, and reopens nothing. */
static void first_line_feeds(void) {
  expect_action("pre > div", ACTION(PREPEND, "X"), "<p><b></p><pre>&#10;<div>a</div></pre>",
                "<p><b></p><pre>&#10;<div>Xa</div></pre>");
  expect_action("pre > div", ACTION(PREPEND, "X"), "<p><b></p><pre>&#10;&#10;<div>a</div></pre>",
                "<p><b></p><pre>&#10;&#10;<div>a</div></pre>");
}

/* The rows of inputs on which a rewriter without tree construction is wrong. */
static void exactness(void) {
  expect_action("img", ACTION(REMOVE, ""), "<template><col><style></template><img src=x onerror=1><style></style>",
                "<template><col><style></template><style></style>");
  expect_action("i", ACTION(REMOVE, ""), "<div><svg></div><style><i></i></style>",
                "<div><svg></div><style><i></i></style>");
  expect_action("img", ACTION(REMOVE, ""), "<svg/><style><img src=x></style>", "<svg/><style><img src=x></style>");
  expect_action("b", ACTION(REMOVE, ""), "<svg><g><svg><p><title><b></title>", "<svg><g><svg><p><title><b></title>");
  expect_action("i", ACTION(REMOVE, ""), "<td><svg><desc><table><td></desc><style><i></i></style>",
                "<td><svg><desc><table><td></desc><style><i></i></style>");
  expect_action("li", ACTION(APPEND, "X"), "<ul><li>a<li>b</ul>", "<ul><li>aX<li>bX</ul>");
  expect_action("li", ACTION(REMOVE, ""), "<ul><li>a<li>b</ul>", "<ul></ul>");
  expect_action("li", ((hpar_action){.kind = HPAR_ACTION_RENAME, .name = "div"}), "<ul><li>a<li>b</ul>",
                "<ul><div>a</div><div>b</div></ul>");
  expect_action("li", ACTION(AFTER, "X"), "<ul><li>a<li>b</ul>", "<ul><li>a</li>X<li>b</li>X</ul>");
  expect_action("p", ACTION(REMOVE, ""), "<p>a<div>b</div>", "<div>b</div>");
  expect_action("table > tr", ACTION(BEFORE, "X"), "<table><tr>", "<table><tr>");
  expect_action("tbody > tr", ACTION(BEFORE, "X"), "<table><tr>", "<table>X<tr>");
  expect_action("style", ACTION(APPEND, "X"), "<select><style><b></style></select>",
                "<select><style><b>X</style></select>");
}

static void implied_elements(void) {
  hpar_action actions[] = {ACTION(BEFORE, "1"), ACTION(PREPEND, "2"), ACTION(APPEND, "3"), ACTION(AFTER, "4")};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "body, tbody", .actions = actions, .action_count = 4, .implied = true};
  hpar_rules *rules = rules_of(&rule, 1);
  expect_with(rules, NULL, "<p class=x>a", "12<p class=x>a34");
  expect_with(rules, NULL, "<body><table><tr id=b><td>", "1<body>2<table>12<tr id=b><td>343</body>4");
  hpar_rules_destroy(rules);
}

static void ends(void) {
  expect_action("p", ACTION(AFTER, "X"), "<p>a<p>b", "<p>a</p>X<p>b</p>X");
  expect_action("p", ACTION(APPEND, "X"), "<p>a<!-- b", "<p>a<!-- b-->X");
  expect_action("svg", ACTION(AFTER, "X"), "<svg><![CDATA[a]", "<svg><![CDATA[a]]]></svg>X");
  expect_action("svg", ACTION(INNER, "X"), "<svg><![CDATA[a]", "<svg>X");
  expect_action("p", ACTION(APPEND, "X"), "<p>a<b c='", "<p>aX<b c='");
  expect_action("body", ACTION(APPEND, "X"), "<body>a</body></html>\n", "<body>aX</body></html>\n");
  expect_action("body", ACTION(APPEND, "X"), "<body>a", "<body>aX");
  expect_action("body", ACTION(APPEND, "X"), "<body>a</html>", "<body>aX</html>");
  expect_action("html", ACTION(AFTER, "X"), "<html>a</body></html>b", "<html>a</body></html>Xb");
  expect_action("head", ACTION(APPEND, "X"), "<head><title>a</title><body>b", "<head><title>a</title>X<body>b");
  expect_action("b", ACTION(AFTER, "X"), "<p><b>a</p>c</b>d", "<p><b>aX</p>c</b>d");
  expect_action("b", ACTION(UNWRAP, ""), "<p><b>a</p>c</b>d", "<p>a</p>cd");
  expect_action("b", ACTION(APPEND, "X"), "<b><p>a</b>c</p>", "<b><p>aX</b>c</p>");
  expect_action("b", ((hpar_action){.kind = HPAR_ACTION_RENAME, .name = "i"}), "<b><p>a</b>c</p>", "<i><p>a</i>c</p>");
  expect_action("b", ACTION(UNWRAP, ""), "<b><p>a<</b>c</p>", "<p>a<</>c</p>");
  expect_action("h1", ACTION(AFTER, "X"), "<h1>a</h2>c", "<h1>a</h2>Xc");
  expect_action("script", ACTION(AFTER, "X"), "<script><!--<script></script>a</script>b",
                "<script><!--<script></script>a</script>Xb");
  expect_action("textarea", ACTION(APPEND, "X"), "<textarea>\n<p></textarea>", "<textarea>\n<p>X</textarea>");
}

static void units(void) {
  hpar_action text = {.unit = HPAR_UNIT_TEXT, .format = HPAR_CONTENT_HTML, .value = text_of("X")};
  expect_action("p", text, "a<p>b<i>c &amp; d</i></>e</p>f", "a<p>Xb<i>Xc &amp; d</i>X</>e</p>f");
  text.kind = HPAR_ACTION_AFTER;
  expect_action(NULL, text, "a<p>b < c</p><!-- -->d", "aX<p>b < cX</p><!-- -->dX");
  text.kind = HPAR_ACTION_REPLACE;
  expect_action("p", text, "a<p>b<i>c</i>d</p>e", "a<p>X<i>X</i>X</p>e");
  text.format = HPAR_CONTENT_TEXT;
  expect_action("p", text, "<p><style>a</style><script>b</script>", "<p><style>X</style><script>X</script>");
  text.kind = HPAR_ACTION_FIND;
  text.value = text_of("cat");
  text.replacement = text_of("dog");
  expect_action("p", text, "cat<p>a cat, cats<b>cat</b>", "cat<p>a dog, dogs<b>dog</b>");
  hpar_action comment = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};
  expect_action("p", comment, "<!--a--><p><!--b--><b><!c></b></p><!--d-->", "<!--a--><p><b></b></p><!--d-->");
  expect_action("b", comment, "<p><b>a</p><!--b-->c<!--d--></b><!--e-->", "<p><b>a</p><!--b-->c</b><!--e-->");
  expect_action(NULL, comment, "<!--a--!><p>-<!-->-</ b>-<!---->-->", "<p>----->");
  hpar_action doctype = {.unit = HPAR_UNIT_DOCTYPE, .kind = HPAR_ACTION_REMOVE};
  expect_action(NULL, doctype, "<!DOCTYPE html>\n<p>", "\n<p>");
  hpar_action end = {.unit = HPAR_UNIT_DOCUMENT_END, .kind = HPAR_ACTION_APPEND, .value = text_of("X")};
  expect_action(NULL, end, "<p>a", "<p>aX");
  expect_action(NULL, end, "", "X");
}

/* Content for the end of the document goes before an unfinished tag, also after all other rules. */
static void document_ends(void) {
  const hpar_action end = {.unit = HPAR_UNIT_DOCUMENT_END, .kind = HPAR_ACTION_APPEND, .value = text_of("X")};
  const hpar_action set = ATTRIBUTE(SET_ATTRIBUTE, "k", "v");
  const hpar_rule given[] = {{HPAR_RULE_INIT, .actions = &end, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "p", .actions = &set, .action_count = 1, .limit = 1}};
  static const char *const pages[][3] = {
      {"<p>a<p>b<i class=\"c", "<p>a<p>bX<i class=\"c", "<p k=\"v\">a<p>bX<i class=\"c"},
      {"<p>a<p>b</i", "<p>a<p>bX</i", "<p k=\"v\">a<p>bX</i"},
      {"<p>a<p><!--b", "<p>a<p><!--b-->X", "<p k=\"v\">a<p><!--b-->X"},
      {"a<p></", "a<p></>&lt;/X", "a<p k=\"v\"></>&lt;/X"},
      {"<p>a<p><!--</", "<p>a<p><!--</-->X", "<p k=\"v\">a<p><!--</-->X"},
      {"<p><b c=</", "<p>X<b c=</", "<p k=\"v\">X<b c=</"},
      {"<p>a<svg><![CDATA[b", "<p>a<svg><![CDATA[b]]>X", "<p k=\"v\">a<svg><![CDATA[b]]>X"},
      {"<p>a<svg><![CDATA[]<]]", "<p>a<svg><![CDATA[]<]]]]>X", "<p k=\"v\">a<svg><![CDATA[]<]]]]>X"}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (int count = 1; count <= 2; count++) {
    hpar_rules *rules = rules_of(given, (size_t)count);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
      expect_with(rules, &options, pages[i][0], pages[i][count]);
    hpar_rules_destroy(rules);
  }
}

/* A text that ends in an open CDATA section stays apart from content behind it. */
static void open_sections(void) {
  const hpar_action end = {.unit = HPAR_UNIT_DOCUMENT_END, .kind = HPAR_ACTION_APPEND, .value = text_of("X")};
  hpar_action edit = {.unit = HPAR_UNIT_TEXT, .format = HPAR_CONTENT_HTML, .value = text_of("Y")};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "svg", .actions = &edit, .action_count = 1},
                             {HPAR_RULE_INIT, .actions = &end, .action_count = 1}};
  static const struct {
    hpar_action_kind kind;
    const char *expected;
  } cases[] = {{HPAR_ACTION_BEFORE, "<svg>Ya<![CDATA[b]]]>X"},
               {HPAR_ACTION_AFTER, "<svg>a<![CDATA[b]]]>Y<![CDATA[]]>X"},
               {HPAR_ACTION_REPLACE, "<svg>Y<![CDATA[]]>X"},
               {HPAR_ACTION_REMOVE, "<svg><![CDATA[]]>X"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    edit.kind = cases[i].kind;
    hpar_rules *rules = rules_of(given, 2);
    expect_with(rules, NULL, "<svg>a<![CDATA[b]", cases[i].expected);
    hpar_rules_destroy(rules);
  }
}

/* html ends at its tag after a frameset, too, which leaves no other element open. */
static void end_after_frameset(void) {
  expect_action("html", ACTION(APPEND, "X"), "<html><frameset></frameset></html><!--a-->",
                "<html><frameset></frameset>X</html><!--a-->");
}

/* The second reading of a filter's output adds nothing at the end. */
static void filtered_end(void) {
  const hpar_action end = {.unit = HPAR_UNIT_DOCUMENT_END, .kind = HPAR_ACTION_APPEND, .value = text_of("X")};
  const hpar_rule rule = {HPAR_RULE_INIT, .actions = &end, .action_count = 1};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .filter = true};
  hpar_rules *rules = rules_of(&rule, 1);
  expect_with(rules, &options, "<p>a", "<p>aX");
  hpar_rules_destroy(rules);
}

/* An <a> closes the earlier one below an open table, whose contents still go into that one. */
static void closed_parents(void) {
  expect_action("a > a", ATTRIBUTE(SET_ATTRIBUTE, "k", "v"), "<a><table><a>p</a><a>p</a>",
                "<a><table><a k=\"v\">p</a><a k=\"v\">p</a>");
  expect_action("a p", ATTRIBUTE(SET_ATTRIBUTE, "k", "v"), "<a><table><p><a>x</a></p><p>",
                "<a><table><p k=\"v\"><a>x</a></p><p k=\"v\">");
}

static hpar_status note_length(hpar_text_piece *t, void *context) {
  buffer_format(context, "%d ", (int)t->raw.length);
  return HPAR_OK;
}

/* A text of more than 64 KB comes in pieces, unless the options have another limit. */
static void long_text(void) {
  buffer page = {0}, out = {0}, lengths = {0};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .text = note_length, .context = &lengths};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = rules_of(&rule, 1);
  buffer_text(&page, "<p>");
  for (int i = 0; i < 64 << 10; i++) buffer_byte(&page, 'a');
  for (int i = 0; i < 2; i++) {
    buffer_clear(&lengths);
    CHECK_EQ(run(rules, &options, page.bytes, page.length, 0, &out, NULL), HPAR_OK);
    CHECK_STRING(lengths.bytes, i ? "65536 1 " : "65536 0 ");
    buffer_byte(&page, 'b');
  }
  hpar_rules_destroy(rules);
  buffer_free(&page);
  buffer_free(&out);
  buffer_free(&lengths);
}

static void orders(void) {
  hpar_action actions[] = {ACTION(BEFORE, "1"), ACTION(AFTER, "1"), ACTION(PREPEND, "1"), ACTION(APPEND, "1"),
                           ACTION(BEFORE, "2"), ACTION(AFTER, "2"), ACTION(PREPEND, "2"), ACTION(APPEND, "2")};
  hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "p", .actions = actions, .action_count = 8},
                       {HPAR_RULE_INIT, .selector = "p.a", .actions = actions, .action_count = 4},
                       {HPAR_RULE_INIT, .selector = "i", .actions = actions, .action_count = 1, .limit = 2}};
  hpar_rules *made = rules_of(rules, 3);
  expect_with(made, NULL, "<p class=a>x</p><i></i><i></i><i></i>",
              "121<p class=a>121x121</p>1211<i></i>1<i></i><i></i>");
  hpar_rules_destroy(made);
}

/* A rule with a limit still edits inside the last element that it matches. */
static void limited_units(void) {
  hpar_action actions[] = {{.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_REPLACE, .value = text_of("X")},
                           {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE},
                           ACTION(APPEND, "Y")};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "b", .actions = actions, .action_count = 3, .limit = 2};
  hpar_rules *rules = rules_of(&rule, 1);
  expect_with(rules, NULL, "a<b>c</b>d<p><b>e<i>f</i><!--g--><b>h</b><p>i</b>j<b>k<!--l--></b>",
              "a<b>XY</b>d<p><b>X<i>X</i><b>X</b>Y<p>X</b>j<b>k<!--l--></b>");
  hpar_rules_destroy(rules);
}

/*** callbacks ***/

static hpar_status note_element(hpar_element *e, void *context) {
  hpar_string name = e->name, value = hpar_element_attribute(e, "title");
  size_t count = 0;
  while (hpar_element_attribute_at(e, count, NULL, NULL)) count++;
  const uint64_t start = e->start, end = e->end;
  buffer_format(context, "[%.*s %d %zu %.*s %d %d %u %d-%d]", (int)name.length, name.bytes, e->ns, count,
                (int)value.length, value.bytes ? value.bytes : "", e->implied, e->has_content, hpar_element_depth(e),
                (int)start, (int)end);
  return HPAR_OK;
}

static hpar_status note_end(hpar_element_end *e, void *context) {
  hpar_string name = e->name;
  const uint64_t start = e->start, end = e->end;
  buffer_format(context, "[/%.*s %d %d-%d]", (int)name.length, name.bytes, e->implied, (int)start, (int)end);
  return HPAR_OK;
}

static hpar_status note_text(hpar_text_piece *t, void *context) {
  hpar_string raw = t->raw, text = hpar_text_piece_decoded(t);
  buffer_format(context, "(%d %d %.*s|%.*s)", (int)t->offset, t->kind, (int)raw.length, raw.bytes, (int)text.length,
                text.bytes);
  return HPAR_OK;
}

/* A value that an action has set stays valid while the callback edits the element. */
static hpar_status copy_edited(hpar_element *e, void *context) {
  static const char long_value[1000] = "x";
  const hpar_string value = hpar_element_attribute(e, "a"), empty = hpar_element_attribute(e, "b");
  CHECK(empty.bytes && !empty.length);
  CHECK_EQ(hpar_element_set(e, "data-copy", value.bytes, value.length), HPAR_OK);
  CHECK_EQ(hpar_element_set(e, "a", long_value, sizeof long_value), HPAR_OK);
  CHECK_EQ(hpar_element_set(e, "a", value.bytes, value.length - 1), HPAR_OK);
  CHECK_EQ(hpar_element_unset(e, "b"), HPAR_OK);
  CHECK_EQ(hpar_element_set(e, "c", empty.bytes, empty.length), HPAR_OK);
  CHECK(value.length == 3 && !memcmp(value.bytes, "new", 3));
  CHECK(!hpar_element_attribute(e, "b").bytes);
  ++*(int *)context;
  return HPAR_OK;
}

static void edited_values(void) {
  hpar_action actions[] = {{.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "a", .value = {"new", 3}},
                           {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "b"}};
  int calls = 0;
  hpar_rule rule = {HPAR_RULE_INIT,    .selector = "p",        .actions = actions,
                    .action_count = 2, .element = copy_edited, .context = &calls};
  hpar_rules *made = rules_of(&rule, 1);
  expect_with(made, NULL, "<p a=old>x", "<p a=ne data-copy=\"new\" c=\"\">x");
  CHECK(calls > 0);
  hpar_rules_destroy(made);
}

static void callbacks(void) {
  buffer log = {0}, out = {0};
  hpar_rule rule = {HPAR_RULE_INIT,    .selector = "*", .element = note_element, .end = note_end,
                    .text = note_text, .context = &log, .implied = true};
  hpar_rules *rules = rules_of(&rule, 1);
  const char *page = "<p title='a&amp;b' x x>c&lt;<br><svg viewbox=1><g/></svg><title>&amp;</p>";
  const char *expected = "[html 1 0  1 1 0 0-0][head 1 0  1 1 1 0-0][/head 1 0-0][body 1 0  1 1 1 0-0]"
                         "[p 1 2 a&b 0 1 2 0-23](23 0 c&lt;|c<)[br 1 0  0 0 3 28-32][/br 1 32-32]"
                         "[svg 2 1  0 1 3 32-47][g 2 0  0 0 4 47-51][/g 1 51-51][/svg 0 51-57][title 1 0  0 1 3 "
                         "57-64](64 1 &amp;</p>|&</p>)"
                         "[/title 1 73-73][/p 1 73-73][/body 1 73-73][/html 1 73-73]";
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    buffer_clear(&log);
    CHECK_EQ(run(rules, NULL, page, strlen(page), feeds[i], &out, NULL), HPAR_OK);
    CHECK_STRING(log.bytes, expected);
    CHECK_BYTES(out.bytes, out.length, page, strlen(page));
  }
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&out);
}

static hpar_status rename_end(hpar_element_end *end, void *context) {
  (void)context;
  CHECK_EQ(hpar_element_end_rename(end, "a b"), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_element_end_rename(end, "x"), HPAR_OK);
  return HPAR_OK;
}

/* A callback renames the end tag that is there. Only a new name of the start tag makes one. */
static void renamed_ends(void) {
  const hpar_action action = {.kind = HPAR_ACTION_RENAME, .name = "div"};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p, b", .actions = &action, .end = rename_end};
  for (rule.action_count = 0; rule.action_count < 2; rule.action_count++) {
    hpar_rules *rules = rules_of(&rule, 1);
    expect_with(rules, NULL, "<p>a</p><p>b<i></i><p><b>c<p>d</b>e<p>f",
                rule.action_count ? "<div>a</x><div>b<i></i></div><div><div>c</div></div><div>d</div>e</div><div>f"
                                  : "<p>a</x><p>b<i></i><p><b>c<p>d</b>e<p>f");
    hpar_rules_destroy(rules);
  }
}

static hpar_status edit_end(hpar_element_end *end, void *context) {
  (void)context;
  CHECK_EQ(hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "1", 1, HPAR_CONTENT_TEXT), HPAR_OK);
  CHECK_EQ(hpar_element_end_insert(end, HPAR_WHERE_AFTER, "2", 1, HPAR_CONTENT_TEXT), HPAR_OK);
  CHECK_EQ(hpar_element_end_rename(end, "x"), HPAR_OK);
  return hpar_element_end_remove(end);
}

static hpar_status await_end(hpar_element *e, void *context) { return hpar_element_on_end(e, edit_end, context); }

/* An element without content ends behind its tag, and nothing goes into it. */
static void empty_ends(void) {
  const hpar_action actions[] = {ACTION(APPEND, "3"), ACTION(AFTER, "4"), ACTION(REMOVE, "")};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "br, path", .actions = actions, .element = await_end, .end = edit_end};
  for (rule.action_count = 0; rule.action_count <= 3; rule.action_count++) {
    static const char *const expected[] = {"<p>a<br>22b<svg><path/>22</svg>", "<p>a<br>22b<svg><path/>22</svg>",
                                           "<p>a<br>224b<svg><path/>224</svg>", "<p>a224b<svg>224</svg>"};
    hpar_rules *rules = rules_of(&rule, 1);
    expect_with(rules, NULL, "<p>a<br>b<svg><path/></svg>", expected[rule.action_count]);
    hpar_rules_destroy(rules);
  }
}

static hpar_status stop(hpar_element *e, void *context) {
  (void)context;
  hpar_element_insert(e, HPAR_WHERE_BEFORE, "lost", 4, HPAR_CONTENT_HTML);
  return HPAR_ERROR_CALLBACK;
}

static hpar_status reenter(hpar_element *e, void *context) {
  (void)e, (void)context;
  CHECK_EQ(hpar_rewriter_feed(rewriter, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_ERROR_ARGUMENT);
  return HPAR_RETIRE;
}

static hpar_status destroy(hpar_element *e, void *context) {
  (void)e;
  hpar_rewriter_destroy(*(hpar_rewriter **)context);
  return HPAR_OK;
}

static hpar_status retire_text(hpar_text_piece *t, void *context) {
  (void)t, (void)context;
  return HPAR_RETIRE;
}

/* The rewriter passes the rest on when the only rule retires inside its element. */
static void retired_texts(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .text = retire_text};
  hpar_rules *rules = rules_of(&rule, 1);
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  buffer out = {0};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    CHECK_EQ(run(rules, NULL, "<p>a<b>c</b></p><i>", 19, feeds[i], &out, &stats), HPAR_OK);
    CHECK_BYTES(out.bytes, out.length, "<p>a<b>c</b></p><i>", 19);
    CHECK(stats.retired);
  }
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

static void failures(void) {
  buffer out = {0};
  hpar_action action = ACTION(BEFORE, "X");
  hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "i", .actions = &action, .action_count = 1},
                       {HPAR_RULE_INIT, .selector = "b", .element = stop}};
  hpar_rules *made = rules_of(rules, 2);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  const char *page = "a<i>c</i><b>d</b><i>e</i>";
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    options.on_failure = HPAR_FAIL_STOP;
    CHECK_EQ(run(made, &options, page, strlen(page), feeds[i], &out, &stats), HPAR_ERROR_CALLBACK);
    CHECK_BYTES(out.bytes, out.length, "aX<i>c</i>", 10);
    CHECK_EQ(stats.failed_at, 9);
    options.on_failure = HPAR_FAIL_PASS;
    CHECK_EQ(run(made, &options, page, strlen(page), feeds[i], &out, &stats), HPAR_ERROR_CALLBACK);
    CHECK_BYTES(out.bytes, out.length, "aX<i>c</i><b>d</b><i>e</i>", 26);
  }
  hpar_rules_destroy(made);
  rules[0].element = reenter;
  made = rules_of(rules, 1);
  CHECK_EQ(run(made, NULL, page, strlen(page), 0, &out, &stats), HPAR_OK);
  CHECK_BYTES(out.bytes, out.length, "aX<i>c</i><b>d</b><i>e</i>", 26);
  CHECK(stats.retired);
  hpar_rules_destroy(made);
  hpar_rewriter *own;
  CHECK_EQ(hpar_rewriter_create(&own), HPAR_OK);
  rules[0].element = destroy;
  rules[0].context = &own;
  made = rules_of(rules, 1);
  CHECK_EQ(hpar_rewriter_begin(own, made, NULL, NULL, NULL), HPAR_OK);
  CHECK_EQ(hpar_rewriter_feed(own, page, strlen(page)), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(made);
  buffer_free(&out);
}

static hpar_status block(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length;
  return --*(int *)context < 0 ? HPAR_ERROR_IO : HPAR_OK;
}

static void limits(void) {
  buffer out = {0};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p[a]", .element = note_element, .context = &out};
  hpar_rules *rules = rules_of(&rule, 1);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .max_token = 100, .max_text = 1};
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_OK);
  hpar_status status = hpar_rewriter_feed(rewriter, "<p b='", 6);
  for (int i = 0; i < 100 && !status; i++) status = hpar_rewriter_feed(rewriter, "xxxxxxxxxx", 10);
  CHECK_EQ(status, HPAR_LIMIT_MEMORY);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_LIMIT_MEMORY);
  /* a tag that a rule reads, of the longest length and one byte more */
  options = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .max_token = 12};
  for (size_t step = 0; step <= 24; step++) {
    CHECK_EQ(run(rules, &options, "text<p a='45678'>x", 18, step, &out, NULL), HPAR_LIMIT_MEMORY);
    CHECK_BYTES(out.bytes, out.length, "text", 4);
    CHECK_EQ(run(rules, &options, "<div ccccccccccccccc><p a='4567'>", 33, step, &out, NULL), HPAR_OK);
  }
  options = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .max_depth = 5};
  CHECK_EQ(run(rules, &options, "<b><b><b><b><b>", 15, 0, &out, NULL), HPAR_LIMIT_DEPTH);
  CHECK_BYTES(out.bytes, out.length, "<b><b><b>", 9);
  options = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .max_input = 4, .on_failure = HPAR_FAIL_PASS};
  CHECK_EQ(run(rules, &options, "<b><i>", 6, 0, &out, NULL), HPAR_LIMIT_INPUT);
  /* the reason of a failure stays while the rest passes */
  static const char foreign[] = "<meta charset=iso-2022-jp><p>";
  options = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .on_failure = HPAR_FAIL_PASS};
  CHECK_EQ(run(rules, &options, foreign, sizeof foreign - 1, 1, &out, NULL), HPAR_ERROR_UNSUPPORTED);
  CHECK_STRING(hpar_rewriter_error(rewriter)->text, "the page declares ISO-2022-JP: convert it to UTF-8");
  CHECK_BYTES(out.bytes, out.length, foreign, sizeof foreign - 1);
  int left = 1;
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, NULL, block, &left), HPAR_OK);
  CHECK_EQ(hpar_rewriter_feed(rewriter, "<p>", 3), HPAR_OK);
  CHECK_EQ(hpar_rewriter_feed(rewriter, "<p>", 3), HPAR_ERROR_IO);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_ERROR_IO);
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/* A name with U+0000 has U+FFFD instead. */
static void replaced_names(void) {
  const hpar_action action = {.kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = "a\xEF\xBF\xBDz"};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .actions = &action, .action_count = 1};
  static const char page[] = "<p a\0z=1>a text behind the tag";
  hpar_rules *rules = rules_of(&rule, 1);
  buffer out = {0};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    CHECK_EQ(run(rules, NULL, page, sizeof page - 1, feeds[i], &out, NULL), HPAR_OK);
    CHECK_BYTES(out.bytes, out.length, "<p>a text behind the tag", 24);
  }
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

static void encodings(void) {
  hpar_action action = ACTION(BEFORE, "\xC3\xA9");
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p[title='\xC3\xA9']", .actions = &action, .action_count = 1};
  hpar_rules *rules = rules_of(&rule, 1);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  expect_with(rules, &options, "<p title=\xC3\xA9><p title=&eacute;>",
              "\xC3\xA9<p title=\xC3\xA9>\xC3\xA9<p title=&eacute;>");
  options.encoding = "latin1";
  expect_with(rules, &options, "<p title=\xE9>", "\xE9<p title=\xE9>");
  options.encoding = NULL;
  expect_with(rules, &options, "\xEF\xBB\xBF<p title=\xC3\xA9>", "\xEF\xBB\xBF\xC3\xA9<p title=\xC3\xA9>");
  expect_with(rules, &options, "<meta charset=latin1><p title=\xE9>", "<meta charset=latin1>\xE9<p title=\xE9>");
  expect_with(rules, &options, "<meta http-equiv=content-type content='; charset=latin1'><p title=\xE9>",
              "<meta http-equiv=content-type content='; charset=latin1'>\xE9<p title=\xE9>");
  expect_with(rules, &options, "<p title=\xC3\xA9>", "&#233;<p title=\xC3\xA9>");
  static const char wide[] = "\xFF\xFE<\0p\0 \0t\0i\0t\0l\0e\0=\0\xE9\0>\0";
  buffer out = {0};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    options.utf16 = HPAR_UTF16_PASS;
    CHECK_EQ(run(rules, &options, wide, sizeof wide - 1, feeds[i], &out, &stats), HPAR_OK);
    CHECK_BYTES(out.bytes, out.length, wide, sizeof wide - 1);
    CHECK(stats.passed_through);
    CHECK(!stats.decoded);
    options.utf16 = (hpar_utf16)0; /* the default */
    CHECK_EQ(run(rules, &options, wide, sizeof wide - 1, feeds[i], &out, &stats), HPAR_OK);
    CHECK_BYTES(out.bytes, out.length, "\xC3\xA9<p title=\xC3\xA9>", 14);
    CHECK(stats.decoded && !stats.passed_through);
    CHECK_STRING(stats.encoding, "UTF-8");
    /* half a character at the end */
    CHECK_EQ(run(rules, &options, wide, sizeof wide - 2, feeds[i], &out, &stats), HPAR_OK);
    CHECK_BYTES(out.bytes, out.length, "<p title=\xC3\xA9\xEF\xBF\xBD", 14);
  }
  /* a byte order mark precedes the label */
  static const char *const labels[] = {"utf-16le", "utf-16be"};
  static const char marked[] = "\xEF\xBB\xBF<p title=\xC3\xA9>", edited[] = "\xEF\xBB\xBF\xC3\xA9<p title=\xC3\xA9>";
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
    for (int form = HPAR_UTF16_DECODE; form <= HPAR_UTF16_REFUSE; form++) {
      options.utf16 = (hpar_utf16)form;
      options.encoding = labels[i % 2];
      CHECK_EQ(run(rules, &options, marked, sizeof marked - 1, feeds[i], &out, &stats), HPAR_OK);
      CHECK_BYTES(out.bytes, out.length, edited, sizeof edited - 1);
      CHECK(!stats.passed_through);
      hpar_status refused = form == HPAR_UTF16_REFUSE ? HPAR_ERROR_UNSUPPORTED : HPAR_OK;
      CHECK_EQ(run(rules, &options, wide, sizeof wide - 1, feeds[i], &out, &stats), refused);
      if (form == HPAR_UTF16_DECODE) CHECK_BYTES(out.bytes, out.length, "\xC3\xA9<p title=\xC3\xA9>", 14);
      options.encoding = "utf-16le";
      CHECK_EQ(run(rules, &options, wide + 2, sizeof wide - 3, feeds[i], &out, &stats), refused);
      CHECK_EQ(run(rules, &options, "", 0, feeds[i], &out, &stats), refused);
    }
  }
  options.encoding = "iso-2022-jp";
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_ERROR_UNSUPPORTED);
  CHECK_STRING(hpar_rewriter_error(rewriter)->text, "the input is ISO-2022-JP: convert it to UTF-8");
  buffer_free(&out);
  hpar_rules_destroy(rules);
}

static void refusals(void) {
  static const struct {
    const char *selector, *reason;
    size_t offset;
  } cases[] = {{"p:has(b)", ":has() needs what follows the start tag", 1},
               {"a, p:last-child", ":last-child needs what follows the start tag", 4},
               {"p:empty", ":empty needs what follows the start tag", 1},
               {"p >", "a compound selector must be here", 3}};
  hpar_rules *rules;
  hpar_error error;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_rule rule = {HPAR_RULE_INIT, .selector = cases[i].selector, .element = note_element};
    CHECK_EQ(hpar_rules_add(rules, &rule, &error), HPAR_ERROR_ARGUMENT);
    if (i < 3) CHECK_STRING(error.text, cases[i].reason);
    CHECK_EQ(error.offset, cases[i].offset);
  }
  hpar_action action = {.kind = HPAR_ACTION_RENAME, .name = "a b"};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .actions = &action, .action_count = 1};
  CHECK_EQ(hpar_rules_add(rules, &rule, &error), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(error.item, 0);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  rule.actions = NULL;
  rule.action_count = 0;
  CHECK_EQ(hpar_rules_add(rules, &rule, &error), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

/* Each allocation fails once. The output is complete, or it ends at a place where the rewriter
 * reports the failure. */
static void faults(void) {
  static const char page[] = "<!doctype html><p class=a title=b>x<b>y</p>z</b><custom-element></custom-element>"
                             "<ul><li>a<li>b</ul><table><td>c<svg><a xlink:href=x></table>";
  hpar_action actions[] = {ACTION(BEFORE, "1"),
                           ACTION(AFTER, "2"),
                           ATTRIBUTE(SET_ATTRIBUTE, "id", "3"),
                           {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_AFTER, .value = text_of("4")}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p, p ~ b, li:nth-of-type(2), custom-element", .actions = actions,
                    .action_count = 4};
  buffer whole = {0}, out = {0};
  hpar_rules *rules = rules_of(&rule, 1);
  CHECK_EQ(run(rules, NULL, page, sizeof page - 1, 7, &whole, NULL), HPAR_OK);
  hpar_rules_destroy(rules);
  hpar_rewriter *kept = rewriter;
  bool fine = false;
  for (uint64_t n = 0; !fine && n < 2000; n++) {
    hp_memory_fail_once(n);
    hpar_status status = hpar_rules_create(&rules);
    if (!status) {
      status = hpar_rules_add(rules, &rule, NULL);
      if (!status) status = hpar_rules_compile(rules);
      rewriter = NULL;
      if (!status) status = hpar_rewriter_create(&rewriter);
      buffer_clear(&out);
      if (!status) status = run(rules, NULL, page, sizeof page - 1, 7, &out, NULL);
      hpar_rewriter_destroy(rewriter);
      hpar_rules_destroy(rules);
      CHECK(status != HPAR_OK || (out.length == whole.length && !memcmp(out.bytes, whole.bytes, out.length)));
      CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
      CHECK(out.length <= whole.length && (!out.length || !memcmp(out.bytes, whole.bytes, out.length)));
    }
    fine = hp_memory_left() == UINT64_MAX ? false : status == HPAR_OK;
  }
  hp_memory_fail_after(UINT64_MAX);
  CHECK(fine);
  rewriter = kept;
  buffer_free(&whole);
  buffer_free(&out);
}

int main(void) {
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  insertions();
  attributes();
  exactness();
  types();
  first_line_feeds();
  implied_elements();
  ends();
  units();
  document_ends();
  open_sections();
  end_after_frameset();
  filtered_end();
  closed_parents();
  long_text();
  orders();
  limited_units();
  edited_values();
  callbacks();
  renamed_ends();
  empty_ends();
  retired_texts();
  failures();
  limits();
  replaced_names();
  encodings();
  refusals();
  faults();
  hpar_rewriter_destroy(rewriter);
  return check_report();
}
