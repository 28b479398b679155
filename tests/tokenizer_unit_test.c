/* Checks the tokens of the project's inputs: every group of states, the fast paths at both sides of
 * their limits, each input split at every byte, and long inputs at two sizes. */

#include "base/memory.h"
#include "check.h"
#include "support/growth.h"
#include "support/tokens.h"

#include <hpar/study.h>
#include <stdlib.h>

typedef struct test_case {
  const char *input, *expected;
  hp_text_state content;
  const char *last_start_tag;
  bool foreign;
  size_t length;
} test_case;

#define LONG_TEXT "a text that is longer than what the fast ways of the tokenizer read beyond a tag, and then some"
#define T(text, ...) \
  { .input = text, .length = sizeof text - 1, .expected = __VA_ARGS__ }

static const test_case cases[] = {
    /* Text. */
    T("", ""),
    T("a", "text \"a\"\n"),
    T(" \n\t\f", "white text \" \\n\\t\\014\"\n"),
    T("\r\n \r<p>", "white text \"\\n \\n\"\nstart \"p\"\n"),
    T("\n<b>xxxxxxxxxxxx                <i>" LONG_TEXT,
      "white text \"\\n\"\nstart \"b\"\ntext \"xxxxxxxxxxxx                \"\n"
      "start \"i\"\ntext \"" LONG_TEXT "\"\n"),
    T("a\r\nb\rc", "text \"a\\nb\\nc\"\n"),
    T("a < b", "text \"a < b\"\nerror 1:4 invalid-first-character-of-tag-name\n"),
    T("a<1", "text \"a<1\"\nerror 1:3 invalid-first-character-of-tag-name\n"),
    T("a</>b", "text \"ab\"\nerror 1:4 missing-end-tag-name\n"),
    T("</><b>", "start \"b\"\nerror 1:3 missing-end-tag-name\n"),
    T(" </> ", "white text \"  \"\nerror 1:4 missing-end-tag-name\n"),
    T("a<", "text \"a<\"\nerror 1:3 eof-before-tag-name\n"),
    T("a</", "text \"a</\"\nerror 1:4 eof-before-tag-name\n"),
    T("a\0b", "nul text \"a\\000b\"\nerror 1:2 unexpected-null-character\n"),
    T("a\0b", "text \"a\\357\\277\\275b\"\nerror 1:2 unexpected-null-character\n", .content = HP_TEXT_STATE_RAWTEXT),
    T("\x01", "text \"\\001\"\nerror 1:1 control-character-in-input-stream\n"),
    T("\xEF\xBF\xBE", "text \"\\357\\277\\276\"\nerror 1:1 noncharacter-in-input-stream\n"),
    /* Character references. */
    T("&amp;&lt;&gt;&quot;&#39;&nbsp;", "text \"&<>\\\"'\\302\\240\"\n"),
    T("&Tab;&#10;", "white text \"\\t\\n\"\n"),
    T("&#13;", "white text \"\\r\"\nerror 1:6 control-character-reference\n"),
    T("&notit; &notin; &not",
      "text \"\\302\\254it; \\342\\210\\211 \\302\\254\"\nerror 1:5 missing-semicolon-after-character-reference\n"
      "error 1:21 missing-semicolon-after-character-reference\n"),
    T("&CounterClockwiseContourIntegral;", "text \"\\342\\210\\263\"\n"),
    T("&nGt;&nLt;", "text \"\\342\\211\\253\\342\\203\\222\\342\\211\\252\\342\\203\\222\"\n"),
    T("&unknown; &; &", "text \"&unknown; &; &\"\nerror 1:9 unknown-named-character-reference\n"),
    T("&#x80;&#128",
      "text \"\\342\\202\\254\\342\\202\\254\"\nerror 1:7 control-character-reference\n"
      "error 1:12 control-character-reference\nerror 1:12 missing-semicolon-after-character-reference\n"),
    T("&#0;&#xD800;&#x110000;&#99999999999999999999;",
      "text \"\\357\\277\\275\\357\\277\\275\\357\\277\\275\\357\\277\\275\"\nerror 1:5 null-character-reference\n"
      "error 1:13 surrogate-character-reference\nerror 1:23 character-reference-outside-unicode-range\n"
      "error 1:46 character-reference-outside-unicode-range\n"),
    T("&#x;&#;", "text \"&#x;&#;\"\nerror 1:4 absence-of-digits-in-numeric-character-reference\n"
                 "error 1:7 absence-of-digits-in-numeric-character-reference\n"),
    T("<a b=\"&copy=1 &copyx &copy &copy;\">", "start \"a\" \"b\"=\"&copy=1 &copyx \\302\\251 \\302\\251\"\nerror 1:27 "
                                               "missing-semicolon-after-character-reference\n"),
    T("<a b=&lt;&amp>", "start \"a\" \"b\"=\"<&\"\nerror 1:14 missing-semicolon-after-character-reference\n"),
    /* Tags. */
    T("<a><B></b></A>", "start \"a\"\nstart \"b\"\nend \"b\"\nend \"a\"\n"),
    T("<h1><x-y:z></x-y:z></h1>", "start \"h1\"\nstart \"x-y:z\"\nend \"x-y:z\"\nend \"h1\"\n"),
    T("<a\xC3\xA9>", "start \"a\\303\\251\"\n"),
    T("<averylongnameindeedthatisnotshort></averylongnameindeedthatisnotshort>",
      "start \"averylongnameindeedthatisnotshort\"\nend \"averylongnameindeedthatisnotshort\"\n"),
    T("<xy ab><xy\0 ab\0>", "start \"xy\" \"ab\"=\"\"\nstart \"xy\\357\\277\\275\" \"ab\\357\\277\\275\"=\"\"\n"
                            "error 1:11 unexpected-null-character\nerror 1:15 unexpected-null-character\n"),
    T("<A\0b>", "start \"a\\357\\277\\275b\"\nerror 1:3 unexpected-null-character\n"),
    T("<a\r\nb\r\n=\r\nc\r\n>", "start \"a\" \"b\"=\"c\"\n"),
    T("<br/><br /><br / >", "start \"br\" /\nstart \"br\" /\nstart \"br\"\nerror 1:17 unexpected-solidus-in-tag\n"),
    T("<a b='1'c>", "start \"a\" \"b\"=\"1\" \"c\"=\"\"\nerror 1:9 missing-whitespace-between-attributes\n"),
    T("<a b c=d e='f' g=\"h\">", "start \"a\" \"b\"=\"\" \"c\"=\"d\" \"e\"=\"f\" \"g\"=\"h\"\n"),
    T("<a B=1 b=2 b>", "start \"a\" \"b\"=\"1\"\nerror 1:9 duplicate-attribute\nerror 1:13 duplicate-attribute\n"),
    T("<a =b =>", "start \"a\" \"=b\"=\"\"\nerror 1:4 unexpected-equals-sign-before-attribute-name\n"
                  "error 1:8 missing-attribute-value\n"),
    T("<a b=>", "start \"a\" \"b\"=\"\"\nerror 1:6 missing-attribute-value\n"),
    T("<a b\"'<=c>",
      "start \"a\" \"b\\\"'<\"=\"c\"\nerror 1:5 unexpected-character-in-attribute-name\n"
      "error 1:6 unexpected-character-in-attribute-name\nerror 1:7 unexpected-character-in-attribute-name\n"),
    T("<a b=c\"d'e`f=g<h>",
      "start \"a\" \"b\"=\"c\\\"d'e`f=g<h\"\nerror 1:7 unexpected-character-in-unquoted-attribute-value\n"
      "error 1:9 unexpected-character-in-unquoted-attribute-value\n"
      "error 1:11 unexpected-character-in-unquoted-attribute-value\n"
      "error 1:13 unexpected-character-in-unquoted-attribute-value\n"
      "error 1:15 unexpected-character-in-unquoted-attribute-value\n"),
    T("<a b='\0' c=\0>", "start \"a\" \"b\"=\"\\357\\277\\275\" \"c\"=\"\\357\\277\\275\"\n"
                         "error 1:7 unexpected-null-character\nerror 1:12 unexpected-null-character\n"),
    T("<a b=\"x\r\ny\rz\">", "start \"a\" \"b\"=\"x\\ny\\nz\"\n"),
    T("</a b=c/>", "end \"a\"\nerror 1:9 end-tag-with-attributes\n"),
    T("</a b='c'/>", "end \"a\"\nerror 1:11 end-tag-with-attributes\nerror 1:11 end-tag-with-trailing-solidus\n"),
    T("x<a", "text \"x\"\nerror 1:4 eof-in-tag\n"),
    T("<a b", "error 1:5 eof-in-tag\n"),
    T("<a b='&amp;", "error 1:12 eof-in-tag\n"),
    T("<a b=\"c\"", "error 1:9 eof-in-tag\n"),
    T("</1>", "comment \"1\"\nerror 1:3 invalid-first-character-of-tag-name\n"),
    /* Comments. */
    T("<!---->", "comment \"\"\n"),
    T("<!--a-b--c-->", "comment \"a-b--c\"\n"),
    T("<!-->x", "comment \"\"\ntext \"x\"\nerror 1:5 abrupt-closing-of-empty-comment\n"),
    T("<!--->x", "comment \"\"\ntext \"x\"\nerror 1:6 abrupt-closing-of-empty-comment\n"),
    T("<!--a--->", "comment \"a-\"\n"),
    T("<!--a--!>", "comment \"a\"\nerror 1:9 incorrectly-closed-comment\n"),
    T("<!---!>-->", "comment \"-!>\"\n"),
    T("<!--a--!-->", "comment \"a--!\"\n"),
    T("<!--<!-->", "comment \"<!\"\n"),
    T("<!--<!--a-->", "comment \"<!--a\"\nerror 1:9 nested-comment\n"),
    T("<!--<!--->", "comment \"<!-\"\nerror 1:9 nested-comment\n"),
    T("<!--a--", "comment \"a\"\nerror 1:8 eof-in-comment\n"),
    T("<!--a--!", "comment \"a\"\nerror 1:9 eof-in-comment\n"),
    T("<!--a---", "comment \"a-\"\nerror 1:9 eof-in-comment\n"),
    T("<!--\r\n\r-->", "comment \"\\n\\n\"\n"),
    T("<!--\0-->", "comment \"\\357\\277\\275\"\nerror 1:5 unexpected-null-character\n"),
    T("<!a>b", "comment \"a\"\ntext \"b\"\nerror 1:3 incorrectly-opened-comment\n"),
    T("<!-a>", "comment \"-a\"\nerror 1:3 incorrectly-opened-comment\n"),
    T("<!", "comment \"\"\nerror 1:3 incorrectly-opened-comment\n"),
    /* Doctypes. */
    T("<!DOCTYPE html>", "doctype \"html\" - -\n"),
    T("<!doctype HTML>", "doctype \"html\" - -\n"),
    T("<!DOCTYPE html PUBLIC \"p\" 's'>", "doctype \"html\" \"p\" \"s\"\n"),
    T("<!DOCTYPE html SYSTEM ''>", "doctype \"html\" - \"\"\n"),
    T("<!DOCTYPE html PUBLIC\"p\"'s'>",
      "doctype \"html\" \"p\" \"s\"\n"
      "error 1:22 missing-whitespace-after-doctype-public-keyword\n"
      "error 1:25 missing-whitespace-between-doctype-public-and-system-identifiers\n"),
    T("<!DOCTYPE html PUBLIC \"a\r\nb\rc\" 'd\r\ne'>", "doctype \"html\" \"a\\nb\\nc\" \"d\\ne\"\n"),
    T("<!DOCTYPE>", "doctype - - - quirks\nerror 1:10 missing-doctype-name\n"),
    T("<!DOCTYPE html x y>z",
      "doctype \"html\" - - quirks\ntext \"z\"\nerror 1:16 invalid-character-sequence-after-doctype-name\n"),
    T("<!DOCTYPE html SYSTEM 's' x>",
      "doctype \"html\" - \"s\"\nerror 1:27 unexpected-character-after-doctype-system-identifier\n"),
    T("<!DOCTYPE html PUBLIC 'p>", "doctype \"html\" \"p\" - quirks\nerror 1:25 abrupt-doctype-public-identifier\n"),
    T("<!DOCTYPE html SYSTEM", "doctype \"html\" - - quirks\nerror 1:22 eof-in-doctype\n"),
    T("<!doctyp>", "comment \"doctyp\"\nerror 1:3 incorrectly-opened-comment\n"),
    /* Processing instructions. */
    T("<?a b?>", "pi \"a\" \"b\"\n"),
    T("<?Ab-_9>", "pi \"Ab-_9\" \"\"\n"),
    T("<?_ \r\n x?\?>", "pi \"_\" \"x?\"\n"),
    T("<?a?b?c>", "pi \"a\" \"?b?c\"\n"),
    T("<?xml version='1'?>", "comment \"?xml version='1'?\"\nerror 1:6 disallowed-processing-instruction-target\n"),
    T("<?XML-StyleSheet?>", "comment \"?XML-StyleSheet?\"\nerror 1:17 disallowed-processing-instruction-target\n"),
    T("<?xmlx>", "pi \"xmlx\" \"\"\n"),
    T("<?a.b c?>d", "comment \"?a.b c?\"\ntext \"d\"\nerror 1:4 invalid-processing-instruction-target\n"),
    T("<?1?>", "comment \"?1?\"\nerror 1:3 invalid-first-character-of-processing-instruction-target\n"),
    T("a<?b c", "text \"a\"\nerror 1:7 eof-in-processing-instruction\n"),
    T("<?a \0?>", "pi \"a\" \"\\357\\277\\275\"\nerror 1:5 unexpected-null-character\n"),
    /* RCDATA, RAWTEXT, PLAINTEXT. */
    T("<title>a&amp;<b></titl></title ><i>", "start \"title\"\ntext \"a&<b></titl>\"\nend \"title\"\nstart \"i\"\n"),
    T("<textarea>\r\n</TEXTAREA>", "start \"textarea\"\nwhite text \"\\n\"\nend \"textarea\"\n"),
    T("<style>&amp;</style\r\n></style>", "start \"style\"\ntext \"&amp;\"\nend \"style\"\nend \"style\"\n"),
    T("<style></style/></stylex>",
      "start \"style\"\nend \"style\"\nend \"stylex\"\nerror 1:16 end-tag-with-trailing-solidus\n"),
    T("<style>a</style", "start \"style\"\ntext \"a</style\"\n"),
    T("<style>a</style x", "start \"style\"\ntext \"a\"\nerror 1:18 eof-in-tag\n"),
    T("<plaintext></plaintext>&amp;", "start \"plaintext\"\ntext \"</plaintext>&amp;\"\n"),
    T("</a>", "text \"</a>\"\n", .content = HP_TEXT_STATE_RCDATA),
    T("x</xmp >", "text \"x\"\nend \"xmp\"\n", .content = HP_TEXT_STATE_RAWTEXT, .last_start_tag = "xmp"),
    /* Script data. */
    T("<script>a<b</script>", "start \"script\"\ntext \"a<b\"\nend \"script\"\n"),
    T("<script><!--</script>", "start \"script\"\ntext \"<!--\"\nend \"script\"\n"),
    T("<script><!--<script></script>--></script>",
      "start \"script\"\ntext \"<!--<script></script>-->\"\nend \"script\"\n"),
    T("<script><!--<script></script></script>", "start \"script\"\ntext \"<!--<script></script>\"\nend \"script\"\n"),
    T("<script><!--<script>--></script>", "start \"script\"\ntext \"<!--<script>-->\"\nend \"script\"\n"),
    T("<script><!--><script></script>", "start \"script\"\ntext \"<!--><script>\"\nend \"script\"\n"),
    T("<script><!-- - <scripty></script>", "start \"script\"\ntext \"<!-- - <scripty>\"\nend \"script\"\n"),
    T("<script><!--<SCRIPT/--</Script >x--></script>",
      "start \"script\"\ntext \"<!--<SCRIPT/--</Script >x-->\"\nend \"script\"\n"),
    T("<script><!--<script",
      "start \"script\"\ntext \"<!--<script\"\nerror 1:20 eof-in-script-html-comment-like-text\n"),
    T("<script><!--\0\r\n</script>", "start \"script\"\ntext \"<!--\\357\\277\\275\\n\"\nend \"script\"\n"
                                     "error 1:13 unexpected-null-character\n"),
    T("<script><!-</script>", "start \"script\"\ntext \"<!-\"\nend \"script\"\n"),
    /* CDATA sections. */
    T("a<![CDATA[b]]>c", "text \"a\"\ncomment \"[CDATA[b]]\"\ntext \"c\"\nerror 1:10 cdata-in-html-content\n"),
    T("a<![CDATA[<b>&amp;\r\n]]]>c<b>", "text \"a<b>&amp;\\n]c\"\nstart \"b\"\n", .foreign = true),
    T("<![CDATA[]]><b>", "start \"b\"\n", .foreign = true),
    T("<![CDATA[]]>", "", .foreign = true),
    T(" <![CDATA[ ]]> ", "white text \"   \"\n", .foreign = true),
    T("<![CDATA[\0]]>", "nul text \"\\000\"\n", .foreign = true),
    T("<![CDATA[a]]", "text \"a]]\"\nerror 1:13 eof-in-cdata\n", .foreign = true),
    T("<![CDATA", "comment \"[CDATA\"\nerror 1:3 incorrectly-opened-comment\n", .foreign = true),
    T("a]]>b<c>", "text \"ab\"\nstart \"c\"\n", .content = HP_TEXT_STATE_CDATA_SECTION),
    T("]]><c>", "start \"c\"\n", .content = HP_TEXT_STATE_CDATA_SECTION),
    T("", "error 1:1 eof-in-cdata\n", .content = HP_TEXT_STATE_CDATA_SECTION),
};

/* Padding after the case, which keeps the fast paths running until the end of the case, and the
 * tokens of the padding. */
#define PADDING \
  "<!--................................................................................................-->"
#define PADDING_TOKEN \
  "comment \"................................................................................................\"\n"

static bool ends_inside(const test_case *test, size_t n) {
  return !n || strstr(test->expected, "eof-") || test->content || test->input[n - 1] != '>' ||
         strstr(test->input, "<plaintext>");
}

static bool check_run(tokens *tokens, const test_case *test, const char *input, size_t n, size_t split,
                      const buffer *expected) {
  static buffer got;
  buffer_clear(&got);
  tokens_run(tokens, test->content, test->last_start_tag, input, n, split, &got);
  bool same = got.length == expected->length && (!got.length || !memcmp(got.bytes, expected->bytes, got.length));
  if (CHECK(same)) return true;
  buffer shown = {0};
  buffer_escaped(&shown, input, n);
  printf("input %s\ncut at %zu of %zu\nexpected\n%sgot\n%s\n", shown.bytes, split, n,
         expected->length ? expected->bytes : "", got.length ? got.bytes : "");
  buffer_free(&shown);
  return false;
}

static void check_case(tokens *tokens, const test_case *test) {
  static buffer expected;
  size_t n = test->length;
  tokens->foreign = test->foreign;
  buffer_clear(&expected);
  buffer_text(&expected, test->expected);
  char *input = malloc(n + sizeof PADDING);
  if (!input) exit(1);
  char *exact = realloc(NULL, n ? n : 1);
  if (!exact) exit(1);
  memcpy(exact, test->input, n);
  for (size_t split = 0; split <= n && check_run(tokens, test, exact, n, split, &expected);) split++;
  free(exact);
  if (!ends_inside(test, n)) {
    const char *errors = strstr(test->expected, "error ");
    size_t before = errors ? (size_t)(errors - test->expected) : strlen(test->expected);
    buffer_clear(&expected);
    buffer_add(&expected, test->expected, before);
    buffer_text(&expected, PADDING_TOKEN);
    if (errors) buffer_text(&expected, errors);
    memcpy(input, test->input, n);
    memcpy(input + n, PADDING, sizeof PADDING - 1);
    size_t whole = n + sizeof PADDING - 1;
    for (size_t split = 0; split <= whole && check_run(tokens, test, input, whole, split, &expected);) split++;
  }
  free(input);
}

/* Simulates a node in an HTML element of a foreign one: the text before the section makes it a
 * comment. */
static bool foreign_without_text(void *context) { return !((tokens *)context)->tokenizer.cdata.pending_text; }

static void test_pending_text(tokens *tokens) {
  static const char input[] = "a<![CDATA[b]]>";
  buffer out = {0};
  tokens_run(tokens, HP_TEXT_STATE_DATA, NULL, "", 0, 0, &out);
  hp_tokenizer *tokenizer = &tokens->tokenizer;
  tokenizer->cdata.is_foreign = foreign_without_text;
  tokenizer->cdata.context = tokens;
  tokenizer->base = tokenizer->at = input;
  tokenizer->end = input + sizeof input - 1;
  tokenizer->last = true;
  hp_token token;
  CHECK_EQ(hp_next_token(tokenizer, &token), HPAR_TOKEN_TEXT);
  CHECK_BYTES(token.data, token.length, "a", 1);
  CHECK_EQ(hp_next_token(tokenizer, &token), HPAR_TOKEN_TEXT);
  CHECK_BYTES(token.data, token.length, "b", 1);
  CHECK_EQ(hp_next_token(tokenizer, &token), HPAR_TOKEN_EOF);
  buffer_free(&out);
}

static void test_error_limit(tokens *tokens) {
  static const char input[] = "<<<<<<<<";
  buffer out = {0};
  tokens_run(tokens, HP_TEXT_STATE_DATA, NULL, "", 0, 0, &out);
  hp_tokenizer *tokenizer = &tokens->tokenizer;
  tokenizer->base = tokenizer->at = input;
  tokenizer->end = input + sizeof input - 1;
  tokenizer->last = true;
  tokens->errors.limit = 3;
  hp_token token;
  CHECK_EQ(hp_next_token(tokenizer, &token), HPAR_TOKEN_TEXT);
  CHECK_EQ(tokens->errors.count, 3);
  CHECK_EQ(tokens->errors.seen, 8);
  buffer_free(&out);
}

static void test_error_sort(void) {
  hp_unwind unwind = {0};
  hp_errors errors = {.limit = 1000, .unwind = &unwind};
  for (uint32_t i = 0; i < 500; i++) hp_errors_add(&errors, (hp_error_code)(i % HP_ERROR_CODES), i * 7919 % 101);
  hp_errors_finish(&errors);
  bool ordered = true;
  uint32_t earlier = 0;
  for (uint32_t i = 0; i < errors.count; i++) {
    /* The i-th error of an offset is the i-th error that was added with it: their numbers are 101
     * apart. */
    uint32_t place = i && errors.items[i - 1].offset == errors.items[i].offset ? ++earlier : (earlier = 0);
    uint32_t number = 0;
    while (number * 7919 % 101 != errors.items[i].offset) number++;
    ordered &= (!i || errors.items[i - 1].offset <= errors.items[i].offset) &&
               errors.items[i].code == (number + place * 101) % HP_ERROR_CODES;
  }
  CHECK(ordered);
  CHECK_EQ(errors.count, 500);
  CHECK_STRING(hp_error_text(HP_ERROR_EOF_IN_TAG), "eof-in-tag");
  free(errors.items);
}

/* Checks that a failing n-th allocation gives a status, and that the tokenizer works again
 * afterwards. */
static void test_memory(void) {
  static const char input[] = "<a b='&amp;&amp;' c1 c2 c3 c4 c5 c6 c7 c8 c9>x&amp;y<unknownelement unknownattribute=1>";
  for (uint64_t n = 0; n < 12; n++) {
    tokens tokens;
    tokens_open(&tokens);
    buffer out = {0}, again = {0};
    hp_memory_fail_after(n);
    tokens_run(&tokens, HP_TEXT_STATE_DATA, NULL, input, sizeof input - 1, sizeof input - 1, &out);
    hp_memory_fail_after(UINT64_MAX);
    tokens_run(&tokens, HP_TEXT_STATE_DATA, NULL, input, sizeof input - 1, sizeof input - 1, &again);
    CHECK(!strstr(again.bytes, "failed") && strstr(again.bytes, "\"b\"=\"&&\""));
    if (!strstr(out.bytes, "failed")) CHECK_STRING(out.bytes, again.bytes);
    buffer_free(&out);
    buffer_free(&again);
    tokens_close(&tokens);
  }
}

/* Returns the CPU seconds that the tokens of an input take. */
static double time_input(const char *input, size_t n, bool errors) {
  tokens tokens;
  tokens_open(&tokens);
  buffer out = {0};
  tokens_run(&tokens, HP_TEXT_STATE_DATA, NULL, "", 0, 0, &out);
  hp_tokenizer *tokenizer = &tokens.tokenizer;
  tokens.errors.limit = 100;
  if (!errors) tokenizer->errors.list = NULL;
  tokenizer->base = tokenizer->at = input;
  tokenizer->end = input + n;
  tokenizer->last = true;
  hp_token token;
  double start = growth_thread_seconds();
  while (hp_next_token(tokenizer, &token) != HPAR_TOKEN_EOF)
    if (token.kind == HPAR_TOKEN_START_TAG && token.name == HP_ATOM_SCRIPT)
      tokenizer->content = HP_TEXT_STATE_SCRIPT_DATA;
  double taken = growth_thread_seconds() - start;
  buffer_free(&out);
  tokens_close(&tokens);
  return taken;
}

/* An input: `pattern` repeated between `before` and `after`. "########" in the pattern is a
 * counter. */
typedef struct long_input {
  const char *name, *before, *pattern, *after;
} long_input;

static const long_input long_inputs[] = {
    {"less-than signs", "", "<", ""},
    {"ampersands", "", "&", ""},
    {"names behind ampersands", "", "&abcdefgh", ""},
    {"one name behind an ampersand", "&", "a", ";"},
    {"digits of a reference", "&#", "1", ";"},
    {"references", "", "&lt;&notin;&not", ""},
    {"an attribute value", "<a b=\"", "x", "\">"},
    {"an attribute value of references", "<a b='", "&amp;\r", "'>"},
    {"an unquoted value", "<a b=", "&x\"", ">"},
    {"an attribute name", "<a ", "X", ">"},
    {"equal attributes", "<a", " b", ">"},
    {"different attributes", "<a", " a######## =1", ">"},
    {"attributes of an end tag", "</a", " a########=1", ">"},
    {"a tag name", "<", "aB", ">"},
    {"a comment", "<!--", "-", ""},
    {"comments in a comment", "<!--", "<!-->x", "-->"},
    {"a comment of NUL-free lines", "<!--", "\r\n>", "-->"},
    {"a doctype", "<!DOCTYPE ", "A", ">"},
    {"a processing instruction", "<?a ", "?", ">"},
    {"empty end tags", "", "</>", ""},
    {"end tags in script", "<script>", "</scripx>", "</script>"},
    {"escapes in script", "<script>", "<!--<script>-</script>-->", "</script>"},
    {"dashes in script", "<script><!--", "-", ""},
    {"one word in script", "<script><!--<", "s", ""},
};

typedef struct long_case {
  char *bytes[2];
  size_t lengths[2];
  bool errors;
} long_case;

static double time_case(void *context, int size) {
  const long_case *of = context;
  return time_input(of->bytes[size], of->lengths[size], of->errors);
}

static void check_growth(const long_input *of) {
  enum { BYTES = 60000 }; /* four times as much still fits in the caches of a core */
  long_case made = {0};
  size_t head = strlen(of->before), piece = strlen(of->pattern), tail = strlen(of->after);
  const char *number = strstr(of->pattern, "########");
  for (int size = 0; size < 2; size++) {
    size_t wanted = size ? BYTES * GROWTH_FACTOR : BYTES, n = head;
    char *input = made.bytes[size] = malloc(head + wanted + piece + tail);
    if (!input) exit(1);
    memcpy(input, of->before, head);
    for (unsigned i = 0; n < wanted; i++, n += piece) {
      memcpy(input + n, of->pattern, piece);
      if (!number) continue;
      char digits[9];
      snprintf(digits, sizeof digits, "%08x", i);
      memcpy(input + n + (number - of->pattern), digits, 8);
    }
    memcpy(input + n, of->after, tail);
    made.lengths[size] = n + tail;
  }
  for (int errors = 0; errors < 2; errors++) {
    made.errors = errors;
    CHECK(growth_is_below(GROWTH_BOUND, of->name, time_case, &made));
  }
  for (int size = 0; size < 2; size++) free(made.bytes[size]);
}

int main(int count, char **arguments) {
  if (check_part(count, arguments, "growth")) {
    if (!growth_can_be_measured()) return CHECK_SKIPPED;
    for (size_t i = 0; i < sizeof long_inputs / sizeof *long_inputs; i++) check_growth(&long_inputs[i]);
    return check_report();
  }
  tokens tokens;
  tokens_open(&tokens);
  tokens.flags = true;
  tokens.follow = true;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&tokens, &cases[i]);
  test_pending_text(&tokens);
  test_error_limit(&tokens);
  tokens_close(&tokens);
  test_error_sort();
  test_memory();
  return check_report();
}
