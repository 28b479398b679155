/* hpar_rewrite_options.filter: the output has nothing that a rule removes. Hand-made documents, and
 * generated ones, whose attributes and texts hide tags. The test parses each output. */

#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/rewriting.h"

#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static hpar_rewriter *rewriter;
static uint64_t complete, refused, unsafe;

#define REMOVE \
  { .kind = HPAR_ACTION_REMOVE }
#define UNWRAP \
  { .kind = HPAR_ACTION_UNWRAP }
#define UNSET(of) \
  { .kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = of }
#define RENAME(to) \
  { .kind = HPAR_ACTION_RENAME, .name = to }

typedef struct rule_row {
  const char *selector;
  hpar_action action;
} rule_row;

enum { MAX_RULES = 4 };

static hpar_rules *compile(const rule_row *rows, size_t count) {
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (size_t i = 0; i < count && rows[i].selector; i++) {
    hpar_rule rule = {HPAR_RULE_INIT, .selector = rows[i].selector, .actions = &rows[i].action, .action_count = 1};
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

/*** hand-made documents ***/

static const struct {
  rule_row rules[MAX_RULES];
  const char *input, *output, *filtered; /* `filtered` NULL: the filter refuses the page */
} rows[] = {
    /* ignored tags */
    {{{"[onx]", REMOVE}, {"img", REMOVE}}, "<img><head onx>a", "<head onx>a", "a"},
    {{{"[onx]", REMOVE}, {"table", UNWRAP}}, "<table><tr><td>a</table><td onx>b", "<tr><td>a<td onx>b", "<tr><td>ab"},
    {{{"[onx]", REMOVE}, {"div", REMOVE}}, "<div>a</div><frameset onx>", "<frameset onx>", ""},
    {{{"[onx]", REMOVE}, {"form", UNWRAP}}, "<form>a<form onx>b</form>", "a<form onx>b", "ab"},
    /* a tag without an element of its own, but with an effect */
    {{{"x", REMOVE}}, "<select><option>a<select b>c", "<select><option>a<select b>c", "<select><option>a<select b>c"},
    {{{"x", REMOVE}}, "a<body b><html c>", "a<body b><html c>", "a<body b><html c>"},
    {{{"*", UNSET("onx")}},
     "<template><body onx><html onx></template>",
     "<template><body onx><html onx></template>",
     "<template><body></template>"},
    {{{"*", UNSET("onx")}},
     "<template><html onx><body onx></template>",
     "<template><html onx><body onx></template>",
     "<template><html></template>"},
    {{{"*", UNSET("onx")}}, "<frameset><body onx><html onx>", "<frameset><body onx><html>", "<frameset><html>"},
    {{{"*", UNSET("onx")}}, "<template><svg><body onx>a", "<template><svg><body onx>a", "<template><svg><body>a"},
    /* raw text */
    {{{"textarea", UNWRAP}}, "<textarea>a<img>&amp;</textarea>b", "a&lt;img>&amp;b", "a&lt;img>&amp;b"},
    {{{"style", RENAME("p")}}, "<style>a<i>&lt;</style>", "<p>a&lt;i>&amp;lt;</p>", "<p>a&lt;i>&amp;lt;</p>"},
    {{{"textarea", UNWRAP},
      {"p", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"1", 1}}}},
     "<p><textarea>&lt1<</textarea>&lt1 c",
     "<p>&lt&lt;&lt c",
     "<p>&lt&lt;&lt c"},
    {{{"plaintext", UNWRAP}}, "<plaintext><i></plaintext>", "&lt;i>&lt;/plaintext>", "&lt;i>&lt;/plaintext>"},
    {{{"noscript", UNWRAP}}, "<p><noscript><img></noscript>", "<p>&lt;img>", "<p>&lt;img>"},
    {{{"title", UNWRAP}}, "<svg><title><i></i></title></svg>", "<svg><i></i></svg>", "<svg><i></i></svg>"},
    {{{"i", UNSET("onx")}, {"svg", UNWRAP}},
     "<svg><style><a b='</style><i onx>'>",
     "<style><a b='</style><i onx>'>",
     NULL},
    /* text forms no tag together with what follows an edit */
    {{{"b", REMOVE}}, "<<b>1</b>i onx>", "<</>i onx>", "<</>i onx>"},
    {{{"[onx]", REMOVE}, {"img", REMOVE}}, "<img>a<<head onx>i onx>", "a<<head onx>i onx>", "a<</>i onx>"},
    {{{"b", UNWRAP}}, "<<b>1<</b>i onx>", "<</>1<</>i onx>", "<</>1<</>i onx>"},
    {{{"b", {.kind = HPAR_ACTION_BEFORE, .value = {"i", 1}}}}, "<<b>", "<</>i<b>", "<</>i<b>"},
    {{{"b", {.kind = HPAR_ACTION_BEFORE, .value = {"<i>", 3}, .format = HPAR_CONTENT_HTML}}},
     "<<b>",
     "<<i><b>",
     "<<i><b>"},
    {{{"p", {.kind = HPAR_ACTION_APPEND, .value = {"i", 1}}}}, "<p>a<</p>b", "<p>a<</>i</p>b", "<p>a<</>i</p>b"},
    {{{"p", {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}}},
     "<p><<!--c-->i onx>",
     "<p><</>i onx>",
     "<p><</>i onx>"},
    {{{"p", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"1", 1}}}},
     "<p><1i onx>",
     "<p><</>i onx>",
     "<p><</>i onx>"},
    {{{"svg", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"C", 1}}}},
     "<svg><![CDATA[<Ci]]>C",
     "<svg><![CDATA[<i]]>",
     "<svg><![CDATA[<i]]>"},
    {{{"style", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"1", 1}}}},
     "<style></st1yle><i></style>",
     "<style></st1yle><i></style>",
     "<style></st1yle><i></style>"},
    {{{"script", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"1", 1}}}},
     "<script><!1--<script>1</script>",
     "<script><!1--<script>1</script>",
     "<script><!1--<script>1</script>"},
    /* the end of the page */
    {{{"x", REMOVE}}, "a<img onx", "a<img onx", "a"},
    {{{"x", REMOVE}}, "a<!-- <img", "a<!-- <img", "a<!-- <img-->"},
    {{{"p", REMOVE}}, "<p>a<!-- <img", "", ""},
    {{{"p", {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}}}, "<p>a<!-- <img", "<p>a", "<p>a"},
    /* the edit itself makes what a rule removes */
    {{{"p", RENAME("div")}, {"div", REMOVE}}, "<p>a</p>", "<div>a</div>", NULL},
    {{{"p", {.kind = HPAR_ACTION_REPLACE, .value = {"<p>", 3}, .format = HPAR_CONTENT_HTML}}}, "<p>", "<p>", NULL},
    {{{"p", RENAME("i")}, {"p + b", REMOVE}}, "<p>a</p><b></b>", "<i>a</i>", "<i>a</i>"},
};

/* Names and values in an encoding; NULL: the page declares none. */
static const struct {
  const char *encoding;
  rule_row rule;
  const char *input, *output, *filtered;
} encoded[] = {
    {"utf-8",
     {"img", REMOVE},
     "<x\xFF><svg></x\xFE><![CDATA[><img>]]>",
     "<x\xFF><svg></x\xFE><![CDATA[>]]>",
     "<x\xFF><svg></x\xFE><![CDATA[>]]>"},
    {"utf-8", {"[\xEF\xBF\xBD]", UNSET("\xEF\xBF\xBD")}, "<p \xFF \xFE=1 \x81>", "<p>", "<p>"},
    {"windows-1252",
     {"[\xC3\xA9]", UNSET("\xC3\xA9")},
     "<p \xE9=1 \xE9=2 \xC3\xA9=3>",
     "<p \xC3\xA9=3>",
     "<p \xC3\xA9=3>"},
    {"windows-1252",
     {"x\xC3\xA9", {.kind = HPAR_ACTION_AFTER, .value = {"1", 1}}},
     "<p><x\xE9>a</p>",
     "<p><x\xE9>a</x\xE9>1</p>",
     "<p><x\xE9>a</x\xE9>1</p>"},
    {"windows-1252",
     {"[a\xC3\xA9]", UNSET("a\xC3\xA9")},
     "<p a\xE9=1>a text behind the tag",
     "<p>a text behind the tag",
     "<p>a text behind the tag"},
    {NULL,
     {"x\xC3\xA9", {.kind = HPAR_ACTION_AFTER, .value = {"1", 1}}},
     "<p><x\xC3\xA9>a</p>",
     "<p><x\xC3\xA9>a</x\xC3\xA9>1</p>",
     "<p><x\xC3\xA9>a</x\xC3\xA9>1</p>"},
    {NULL, {"b", REMOVE}, "<x\xE8><b></x\xC3\xA8>", "<x\xE8></x\xC3\xA8>", NULL},
    {NULL,
     {"b", REMOVE},
     "<x\xC3\xA8><i \xC3\xA8=\xC3\xA9>",
     "<x\xC3\xA8><i \xC3\xA8=\xC3\xA9>",
     "<x\xC3\xA8><i \xC3\xA8=\xC3\xA9>"},
    {NULL, {"b", REMOVE}, "<x\xE8><i \xE8=&eacute;>", "<x\xE8><i \xE8=&eacute;>", "<x\xE8><i \xE8=&eacute;>"},
    {NULL, {"b", REMOVE}, "<i \xC3\xA8=&eacute;>", "<i \xC3\xA8=&eacute;>", NULL},
    /* the browser reads the page again if a meta declares an encoding */
    {NULL,
     {"img", REMOVE},
     "<x\xC3\xA9><meta charset=latin1><svg></x\xC3\xA9><![CDATA[><img>]]>",
     "<x\xC3\xA9><meta charset=latin1><svg></x\xC3\xA9><![CDATA[><img>]]>",
     NULL},
    {NULL,
     {"img", REMOVE},
     "<x\xC3\xA9><meta charset=utf-8>",
     "<x\xC3\xA9><meta charset=utf-8>",
     "<x\xC3\xA9><meta charset=utf-8>"},
    {NULL,
     {"img", REMOVE},
     "<svg><![CDATA[\x89]]><a title=\"]]><img>\"></a></svg><meta charset=big5>",
     "<svg><![CDATA[\x89]]><a title=\"]]><img>\"></a></svg><meta charset=big5>",
     NULL},
};

static void check_row(const rule_row *rules, size_t count, const char *encoding, const char *input, const char *output,
                      const char *filtered) {
  static const size_t most[] = {0, 1, 2, 7};
  rewriting run = {.compiled = compile(rules, count)};
  for (size_t k = 0; k < 8; k++) {
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = encoding, .filter = k % 2};
    const char *wanted = k % 2 ? filtered : output;
    hpar_status status = rewriting_run(&run, rewriter, &options, input, strlen(input), most[k / 2], 1 + k);
    CHECK_EQ(status, wanted ? HPAR_OK : HPAR_ERROR_UNSUPPORTED);
    if (wanted && !CHECK_BYTES(run.out.bytes, run.out.length, wanted, strlen(wanted))) printf("  input %s\n", input);
  }
  rewriting_free(&run);
}

static void check_rows(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_row(rows[i].rules, MAX_RULES, "utf-8", rows[i].input, rows[i].output, rows[i].filtered);
  for (size_t i = 0; i < sizeof encoded / sizeof *encoded; i++)
    check_row(&encoded[i].rule, 1, encoded[i].encoding, encoded[i].input, encoded[i].output, encoded[i].filtered);
}

static void check_options(void) {
  const rule_row rule = {"p", REMOVE};
  hpar_rules *rules = compile(&rule, 1);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .filter = true, .utf16 = HPAR_UTF16_PASS};
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_ERROR_ARGUMENT);
  options.utf16 = HPAR_UTF16_DECODE;
  options.on_failure = HPAR_FAIL_PASS;
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

static hpar_status discard(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

/* In each encoding, each pair of bytes beyond ASCII before the end of a CDATA section. */
static void check_sections(void) {
  static const char *const names[] = {"utf-8", "windows-1252", "gb18030", "big5", "shift_jis", "euc-kr", "euc-jp"};
  const rule_row row = {"img", REMOVE};
  buffer page = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hpar_rules *rules = compile(&row, 1);
    hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = names[i]};
    const hpar_options parse_options = {HPAR_OPTIONS_INIT, .encoding = names[i]};
    for (unsigned pair = 0; pair < 0x4080 && check_failed < 3; pair++) {
      buffer_clear(&page);
      buffer_text(&page, "<svg><![CDATA[");
      if (pair < 0x4000) buffer_byte(&page, (char)(0x80 | pair >> 7));
      buffer_byte(&page, (char)(0x80 | (pair & 0x7F)));
      buffer_text(&page, "]]><img>");
      CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page.bytes, page.length, &stats, discard, NULL), HPAR_OK);
      CHECK_EQ(hpar_parse(parser, &parse_options, page.bytes, page.length, document, NULL), HPAR_OK);
      CHECK_EQ(stats.matches, hpar_select_first(document, hpar_document_root(document), "img", NULL) != 0);
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

static hpar_status refuse(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_ERROR_ARGUMENT;
}

/* A failure has the reason of its own stream, although the filter has failed with the same status
 * in the stream before. */
static void check_reasons(void) {
  static const char removed[] = "<p>a</p>", unread[] = "<meta charset=iso-2022-jp>";
  const rule_row row[] = {{"p", RENAME("div")}, {"div", REMOVE}};
  hpar_rules *rules = compile(row, 2), *empty;
  hpar_error error;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .filter = true, .error = &error};
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, removed, sizeof removed - 1, NULL, discard, NULL),
           HPAR_ERROR_UNSUPPORTED);
  CHECK(strstr(error.text, "that a rule removes"));
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, unread, sizeof unread - 1, NULL, discard, NULL),
           HPAR_ERROR_UNSUPPORTED);
  CHECK_STRING(error.text, "the page declares ISO-2022-JP: convert it to UTF-8");
  CHECK_EQ(hpar_rules_create(&empty), HPAR_OK);
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, "a", 1, NULL, refuse, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite(rewriter, empty, &options, "a", 1, NULL, discard, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_STRING(error.text, "the rules are not compiled");
  hpar_rules_destroy(empty);
  hpar_rules_destroy(rules);
}

/* A pure callback runs on the output, too. One that is not pure runs once. */
static hpar_status unset_onx(hpar_element *e, void *context) {
  ++*(unsigned *)context;
  CHECK_EQ(hpar_element_unset(e, "onx"), HPAR_OK);
  return HPAR_OK;
}

static void check_callbacks(void) {
  static const char page[] = "<svg><style><a b='</style><i onx>'></style></svg>";
  const hpar_action unwrap = UNWRAP;
  for (int pure = 0; pure < 2; pure++) {
    unsigned calls = 0;
    hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "svg", .actions = &unwrap, .action_count = 1},
                         {HPAR_RULE_INIT, .selector = "*", .element = unset_onx, .context = &calls, .pure = pure}};
    rewriting run = {0};
    CHECK_EQ(hpar_rules_create(&run.compiled), HPAR_OK);
    for (size_t i = 0; i < 2; i++) CHECK_EQ(hpar_rules_add(run.compiled, &rules[i], NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(run.compiled), HPAR_OK);
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .filter = true};
    hpar_status status = rewriting_run(&run, rewriter, &options, page, sizeof page - 1, 0, 0);
    CHECK_EQ(status, pure ? HPAR_ERROR_UNSUPPORTED : HPAR_OK);
    CHECK_EQ(calls, pure ? 5 : 3);
    rewriting_free(&run);
  }
}

/*** generated documents ***/

/* Bytes that some encodings decode to the same character, and others do not. */
static const hpar_string odd_bytes[] = {{"\xFF", 1},     {"\xFE", 1},         {"\xEF\xBF\xBD", 3},     {"\0", 1},
                                        {"\xE8", 1},     {"\xE9", 1},         {"\xC3\xA8", 2},         {"\xC3\xA9", 2},
                                        {"\x81\x41", 2}, {"\x81\x61", 2},     {"\x81\x30\x81", 3},     {"\x81", 1},
                                        {"\xB1", 1},     {"\x85\x81", 2},     {"\x81\x30\x81\x30", 4}, {"\x87", 1},
                                        {"\xF0\x40", 2}, {"\xE9\x81\x5D", 3}, {"\x8F\xA1\x81", 3},     {"\xA0", 1}};

static void write_odd(random_state *random, buffer *to) {
  const hpar_string bytes = RANDOM_OF(random, odd_bytes);
  buffer_add(to, bytes.bytes, bytes.length);
}

static const rule_row choices[] = {
    {"[onx]", UNSET("onx")},
    {"[onx]", REMOVE},
    {"[\xC3\xA9]", UNSET("\xC3\xA9")},
    {"img", REMOVE},
    {"i", UNWRAP},
    {"svg", UNWRAP},
    {"math", REMOVE},
    {"style", UNWRAP},
    {"textarea", UNWRAP},
    {"title", REMOVE},
    {"noscript", UNWRAP},
    {"table", UNWRAP},
    {"p", REMOVE},
    {"template", UNWRAP},
    {"select", UNWRAP},
    {"b", RENAME("p")},
    {"div", RENAME("svg")},
    {"xmp", REMOVE},
    {"foreignObject", UNWRAP},
    {"a", RENAME("u")},
    {"desc", RENAME("td")},
    {"p", {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}},
    {"body", {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"1", 1}}}};

static void write_tag(random_state *random, buffer *to, int depth);

static void write_hidden(random_state *random, buffer *to, int depth) {
  static const char *const closes[] = {"</style>", "</title>", "</textarea>", "-->", "]]>", "</svg>",  "</noscript>",
                                       "</xmp>",   "</p>",     ">",           "'",   "\"",  "</math>", "</iframe>"};
  buffer_text(to, RANDOM_OF(random, closes));
  write_tag(random, to, depth + 1);
}

static void write_tag(random_state *random, buffer *to, int depth) {
  static const char *const names[] = {"p",          "b",
                                      "i",          "a",
                                      "div",        "img",
                                      "svg",        "math",
                                      "style",      "title",
                                      "textarea",   "xmp",
                                      "table",      "tr",
                                      "td",         "select",
                                      "option",     "template",
                                      "noscript",   "mtext",
                                      "mglyph",     "foreignObject",
                                      "desc",       "annotation-xml",
                                      "form",       "head",
                                      "frameset",   "caption",
                                      "col",        "iframe",
                                      "script",     "noembed",
                                      "plaintext",  "font",
                                      "malignmark", "body",
                                      "html"};
  buffer_format(to, "<%s", RANDOM_OF(random, names));
  while (random_chance(random, 40)) {
    switch (random_below(random, 7)) {
      case 0: buffer_text(to, " onx=1"); break;
      case 3:
        buffer_text(to, " ");
        write_odd(random, to);
        buffer_text(to, "=");
        write_odd(random, to);
        break;
      case 1: buffer_text(to, " encoding=text/html"); break;
      case 2: buffer_text(to, " size=1"); break;
      default: {
        const char *quote = random_chance(random, 50) ? "\"" : "'";
        buffer_format(to, " title=%s", quote);
        if (depth < 3) write_hidden(random, to, depth);
        buffer_text(to, quote);
      }
    }
  }
  buffer_text(to, random_chance(random, 8) ? "/>" : ">");
}

/* Writes formatting elements whose attributes the parser may find equal, or elements whose names it
 * may; and then a section whose bytes are tags if an end tag before it leaves SVG. */
static void write_odd_elements(random_state *random, buffer *to) {
  static const char *const parts[] = {"a", "&eacute;", "&#xFFFD;", "1"};
  const bool is_list = random_chance(random, 60);
  hpar_string some[2] = {RANDOM_OF(random, odd_bytes), RANDOM_OF(random, odd_bytes)};
  const size_t count = is_list ? 4 : 1;
  for (size_t i = 0; i < count; i++) {
    buffer_text(to, is_list ? "<b" : "<x");
    for (size_t n = random_below(random, 3) + !is_list; n; n--) {
      const hpar_string bytes = some[random_below(random, 2)];
      if (is_list) buffer_text(to, " ");
      buffer_add(to, bytes.bytes, bytes.length);
      if (is_list && random_chance(random, 60)) {
        buffer_text(to, "=");
        if (random_chance(random, 50)) buffer_text(to, RANDOM_OF(random, parts));
        if (random_chance(random, 50)) write_odd(random, to);
      }
    }
    buffer_text(to, ">");
  }
  if (is_list) buffer_text(to, "</b></b></b><div>");
  buffer_text(to, is_list ? "<svg></b>" : "<svg></x");
  for (size_t n = random_below(random, 3) + 1; n && !is_list; n--)
    buffer_add(to, some[n % 2].bytes, some[n % 2].length);
  buffer_text(to, is_list ? "<![CDATA[" : "><![CDATA[");
  if (random_chance(random, 50)) write_odd(random, to);
  if (random_chance(random, 50)) buffer_text(to, random_chance(random, 50) ? "]]><img onx>" : "><img onx>]]>");
  if (random_chance(random, 50)) buffer_text(to, "><img title=\"]]><img onx>\">");
}

static void write_document(random_state *random, buffer *to) {
  static const char *const ends[] = {"</p>",   "</svg>", "</style>",  "</title>", "</textarea>", "</table>",
                                     "</b>",   "</i>",   "</select>", "</math>",  "</noscript>", "</template>",
                                     "</div>", "</a>",   "</body>",   "</xmp>"};
  static const char *const texts[] = {"x",    "<",   "1",         "img onx>", "&lt;", "<1",      " ",
                                      "<!--", "-->", "<![CDATA[", "]]>",      "</",   "i onx=1>"};
  buffer_clear(to);
  for (size_t n = 3 + random_below(random, 25); n; n--) {
    switch (random_below(random, 11)) {
      case 0:
      case 1: buffer_text(to, RANDOM_OF(random, ends)); break;
      case 2:
      case 3: buffer_text(to, RANDOM_OF(random, texts)); break;
      case 4: write_odd_elements(random, to); break;
      default: write_tag(random, to, 0);
    }
  }
}

static bool is_named(hpar_string a, const char *b) { return a.length == strlen(b) && !memcmp(a.bytes, b, a.length); }

/* Returns what the tree has although a rule removes it, or NULL. The attributes of html and body
 * are not compared: tags without elements can add to them. */
static const char *find_remains(hpar_node top, const rule_row *rules, size_t count) {
  for (hpar_node node = top; (node = hpar_node_walk(document, top, node));) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    hpar_string name = hpar_node_name(document, node);
    if (is_named(name, "html") || is_named(name, "body")) continue;
    uint64_t start, end;
    bool has_tag = hpar_node_start_tag_range(document, node, &start, &end);
    for (size_t i = 0; i < count && has_tag; i++) {
      const hpar_action *a = &rules[i].action;
      bool removes = a->unit == HPAR_UNIT_ELEMENT && (a->kind == HPAR_ACTION_REMOVE || a->kind == HPAR_ACTION_UNWRAP);
      if (*rules[i].selector == '[') {
        const char *attribute = a->name ? a->name : "onx";
        if (hpar_node_attribute_value(document, node, attribute).bytes) return "an attribute remains";
      } else if (removes && is_named(name, rules[i].selector)) {
        return "an element remains";
      }
    }
    hpar_node contents = hpar_node_template_contents(document, node);
    const char *wrong = contents ? find_remains(contents, rules, count) : NULL;
    if (wrong) return wrong;
  }
  return NULL;
}

/* Parses the output. */
static const char *find_remains_in(const rewriting *run, const hpar_rewrite_options *options, const rule_row *rules,
                                   size_t count) {
  hpar_options parse_options = {HPAR_OPTIONS_INIT, .encoding = options->encoding, .scripting = !options->no_scripting,
                                .fragment = options->fragment, .source_offsets = true};
  const char *bytes = run->out.length ? run->out.bytes : "";
  CHECK_EQ(hpar_parse(parser, &parse_options, bytes, run->out.length, document, NULL), HPAR_OK);
  return find_remains(hpar_document_root(document), rules, count);
}

/* Returns true if a tag of a filtered fragment adds an attribute to the html or body of a page. */
static bool adds_to_page(const rewriting *run, const char *encoding, const rule_row *rules, size_t count) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = encoding, .scripting = true};
  buffer page = {0};
  bool adds = false, unsets = false;
  for (size_t i = 0; i < count; i++) unsets |= !strcmp(rules[i].selector, "[onx]");
  buffer_text(&page, "<!DOCTYPE html><body>");
  buffer_add(&page, run->out.length ? run->out.bytes : "", run->out.length);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  adds |= hpar_node_attribute_value(document, hpar_document_html(document), "onx").bytes != NULL;
  adds |= hpar_node_attribute_value(document, hpar_document_body(document), "onx").bytes != NULL;
  buffer_free(&page);
  return adds && unsets;
}

static void check_document(uint64_t seed, const buffer *page) {
  static const char *const encodings[] = {"utf-8", "windows-1252", "gb18030", "big5", "shift_jis", "euc-kr", "euc-jp"};
  random_state random = {seed * 31};
  rule_row rules[MAX_RULES];
  const size_t count = 1 + random_below(&random, MAX_RULES);
  for (size_t i = 0; i < count; i++) rules[i] = RANDOM_OF(&random, choices);
  rewriting run = {.compiled = compile(rules, count)};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8",
                                  .no_scripting = random_chance(&random, 30)};
  if (!options.no_scripting && random_chance(&random, 30)) options.fragment = "div";
  if (random_chance(&random, 60)) options.encoding = RANDOM_OF(&random, encodings);
  if (seed % 4 && random_chance(&random, 10)) options.encoding = NULL;
  CHECK_EQ(rewriting_run(&run, rewriter, &options, page->bytes, page->length, 0, 0), HPAR_OK);
  unsafe += find_remains_in(&run, &options, rules, count) != NULL;
  options.filter = true;
  hpar_status status = rewriting_run(&run, rewriter, &options, page->bytes, page->length, 1 + seed % 50, seed);
  complete += status == HPAR_OK;
  refused += status == HPAR_ERROR_UNSUPPORTED;
  CHECK(status == HPAR_OK || status == HPAR_ERROR_UNSUPPORTED);
  /* a refused output is a beginning without what the rules remove, too */
  const char *wrong = find_remains_in(&run, &options, rules, count);
  if (!wrong && options.fragment && adds_to_page(&run, options.encoding, rules, count))
    wrong = "an attribute reaches the page around";
  if (!CHECK(!wrong)) {
    printf("  document %llu, %s: %s\n", (unsigned long long)seed, options.encoding ? options.encoding : "-", wrong);
    for (size_t i = 0; i < count; i++) printf("  rule %s, action %d\n", rules[i].selector, rules[i].action.kind);
    printf("  input:  %.*s\n  output: %.*s\n", (int)page->length, page->bytes, (int)run.out.length, run.out.bytes);
  }
  /* the counters of a refused page depend on the division */
  if (status == HPAR_OK) {
    const char *difference = rewriting_difference(&run, rewriter, &options, page->bytes, page->length, seed);
    if (!CHECK(!difference)) printf("  document %llu: %s\n", (unsigned long long)seed, difference);
  } else {
    buffer first = run.out;
    run.out = (buffer){0};
    CHECK_EQ(rewriting_run(&run, rewriter, &options, page->bytes, page->length, 0, 0), status);
    CHECK_BYTES(run.out.bytes, run.out.length, first.bytes, first.length);
    buffer_free(&first);
  }
  rewriting_free(&run);
}

static void generated_documents(void) {
  uint64_t count = compare_full() ? 500000 : 200 * (uint64_t)compare_scale();
  buffer page = {0};
  generated made = {0};
  for (uint64_t seed = 1; seed <= count && check_failed < 3; seed++) {
    random_state random = {seed};
    if (seed % 4) {
      write_document(&random, &page);
      check_document(seed, &page);
    } else {
      generate(seed, &made);
      check_document(seed, &made.text);
    }
  }
  generate_free(&made);
  buffer_free(&page);
  CHECK(complete > refused && unsafe > 0);
  printf("%llu documents filtered, %llu refused; %llu need the filter\n", (unsigned long long)complete,
         (unsigned long long)refused, (unsigned long long)unsafe);
}

int main(void) {
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  check_rows();
  check_sections();
  check_options();
  check_reasons();
  check_callbacks();
  generated_documents();
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  hpar_rewriter_destroy(rewriter);
  return check_report();
}
