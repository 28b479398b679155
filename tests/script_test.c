/* Scripts with the toy engine: their order and their preparation, written text, changes of the
 * tree, limits. Random documents are parsed in every mode and fed in pieces; the trees and the
 * views of the scripts must be equal. If scripts only write, the tree is that of the page with
 * the written text in it. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/random.h"
#include "support/scripted.h"
#include "support/shared.h"
#include "support/toy.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <time.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer dump;

static hpar_options with_toy(toy *of) {
  return (hpar_options){HPAR_OPTIONS_INIT, .encoding = "utf-8", .script = {.callback = toy_run, .context = of}};
}

static bool parse_with(const hpar_options *options, const char *bytes, size_t length) {
  hpar_status status = hpar_parse(parser, options, bytes, length, document, NULL);
  if (!CHECK_EQ(status, HPAR_OK)) return false;
  return compare_dump(document, &dump);
}

/* Parses a page with the toy engine and checks the body. */
static void check_body(const char *page, const char *expected, int line) {
  static buffer whole;
  toy of = {.keeps_views = true};
  hpar_options options = with_toy(&of);
  buffer_clear(&whole);
  buffer_text(&whole, "<!DOCTYPE html><body>");
  buffer_text(&whole, page);
  if (!parse_with(&options, whole.bytes, whole.length)) return;
  const char *body = memmem(dump.bytes, dump.length, "|   <body>\n", 11);
  if (!check_at(body != NULL, "a body", __FILE__, line)) return;
  body += 11;
  check_bytes_at(body, (size_t)(dump.bytes + dump.length - body), expected, strlen(expected), page, __FILE__, line);
}
#define BODY(page, expected) check_body(page, expected, __LINE__)

/*** written text ***/

static void writes(void) {
  BODY("1<script>w 2</script>3", "|     \"1\"\n|     <script>\n|       \"w 2\"\n|     \"23\"\n");
  BODY("<script>w \\li>x</script>y</i>z",
       "|     <script>\n|       \"w \\li>x\"\n|     <i>\n|       \"xy\"\n|     \"z\"\n");
  /* "</>" is no token, and markup after it is no text */
  BODY("<script>w \\l/>\\l!--a</script>b-->c",
       "|     <script>\n|       \"w \\l/>\\l!--a\"\n|     <!-- ab -->\n|     \"c\"\n");
  BODY("<script>w \\l/>\\l/>\\l![CDATA[a</script>b>c",
       "|     <script>\n|       \"w \\l/>\\l/>\\l![CDATA[a\"\n|     <!-- [CDATA[ab -->\n|     \"c\"\n");
  BODY("<script>w \\l/>a\\l</script>i>c",
       "|     <script>\n|       \"w \\l/>a\\l\"\n|     \"a\"\n|     <i>\n|       \"c\"\n");
  /* a token from two writes, and from a write and the page */
  BODY("<script>w \\l\nw i>x</script>y", "|     <script>\n|       \"w \\l\nw i>x\"\n|     <i>\n|       \"xy\"\n");
  BODY("<script>w \\li cla</script>ss=a>y",
       "|     <script>\n|       \"w \\li cla\"\n|     <i>\n|       class=\"a\"\n|       \"y\"\n");
  BODY("<script>w &am</script>p;y", "|     <script>\n|       \"w &am\"\n|     \"&y\"\n");
  BODY("<script>w \\l!--x</script>-->y", "|     <script>\n|       \"w \\l!--x\"\n|     <!-- x -->\n|     \"y\"\n");
  /* "</>" has no token */
  BODY("<script>w \\l/>\\l!--\nw x--></script>y",
       "|     <script>\n|       \"w \\l/>\\l!--\nw x-->\"\n|     <!-- x -->\n|     \"y\"\n");
  /* the end of the page ends the token */
  BODY("<script>w \\li x</script>", "|     <script>\n|       \"w \\li x\"\n");
  BODY("<script>w \\l/</script>", "|     <script>\n|       \"w \\l/\"\n|     \"</\"\n");
  BODY("<script>w \\l!--x</script>", "|     <script>\n|       \"w \\l!--x\"\n|     <!-- x -->\n");
  /* the "<!--" of a script, and many dashes after it, come byte by byte */
  BODY("<script>c \\lscript>\\l!--------\\lscript>\\l/script>x\\l/script>y</script>z",
       "|     <script>\n|       \"c \\lscript>\\l!--------\\lscript>\\l/script>x\\l/script>y\"\n"
       "|     <script>\n|       \"<!--------<script></script>x\"\n|     \"yz\"\n");
  /* a comment, a table's text and other markup that come byte by byte and have "<", ">" and "-" */
  BODY("<script>c \\l!-->-- >-!>--!>x\\l!---!>--->y\\l!x\\l>z</script>",
       "|     <script>\n|       \"c \\l!-->-- >-!>--!>x\\l!---!>--->y\\l!x\\l>z\"\n"
       "|     <!--  -->\n|     \"-- >-!>--!>x\"\n|     <!-- -!>- -->\n|     \"y\"\n|     <!-- x< -->\n|     \"z\"\n");
  BODY("<script>c \\l!--a>b->c--b>d--!e>f--!>g</script>",
       "|     <script>\n|       \"c \\l!--a>b->c--b>d--!e>f--!>g\"\n|     <!-- a>b->c--b>d--!e>f -->\n|     \"g\"\n");
  BODY("<script>c \\ltable>a\\l b\\l/>c\\l1\\l\\lb>d\\l/b>  \\l/table></script>",
       "|     <script>\n|       \"c \\ltable>a\\l b\\l/>c\\l1\\l\\lb>d\\l/b>  \\l/table>\"\n"
       "|     \"a< bc<1<\"\n|     <b>\n|       \"d\"\n|     <table>\n|       \"  \"\n");
  /* a tag that comes byte by byte and has quotes and ">" */
  BODY("<script>c \\li a='>'b=\">'>\"c=>x\\l/i =' >y\\l/b c='>'>z</script>",
       "|     <script>\n|       \"c \\li a='>'b=\">'>\"c=>x\\l/i =' >y\\l/b c='>'>z\"\n"
       "|     <i>\n|       a=\">\"\n|       b=\">'>\"\n|       c=\"\"\n|       \"x\"\n|     \"yz\"\n");
  /* a CR and a LF are one line break, wherever the CR ends */
  BODY("<script>w a\\r</script>\nb", "|     <script>\n|       \"w a\\r\"\n|     \"a\nb\"\n");
  BODY("<script>w a\\r\nw \\nb</script>c", "|     <script>\n|       \"w a\\r\nw \\nb\"\n|     \"a\nbc\"\n");
  BODY("<script>w a\\r\\r</script>b", "|     <script>\n|       \"w a\\r\\r\"\n|     \"a\n\nb\"\n");
  /* text of a table is a run that the page continues */
  BODY("<script>w \\ltable> </script> x</table>",
       "|     <script>\n|       \"w \\ltable> \"\n|     \"  x\"\n|     <table>\n");
  BODY("<script>w \\ltextarea>\\n</script>\nx</textarea>",
       "|     <script>\n|       \"w \\ltextarea>\\n\"\n|     <textarea>\n|       \"\nx\"\n");
  /* a script in SVG pauses the parser, and sees nothing of what it writes */
  BODY("<svg><script>w \\lg>\ns</script></svg>",
       "|     <svg svg>\n|       <svg script>\n|         \"w \\lg>\ns\"\n|       <svg g>\n|         \"5 1 8\"\n");
  BODY("<script>w \\lplaintext></script><b>x",
       "|     <script>\n|       \"w \\lplaintext>\"\n|     <plaintext>\n|       \"<b>x\"\n");
}

/* Appends a command that writes the text. */
static void add_write(buffer *program, const char *bytes, size_t length) {
  if (program->length) buffer_text(program, "\n");
  buffer_text(program, "w ");
  toy_escape(program, bytes, length);
}

/* Parses a page whose script is the program. Returns the dump after the script. */
static const char *dump_after(const buffer *program) {
  static buffer page, start;
  toy of = {.keeps_views = false};
  hpar_options options = with_toy(&of);
  buffer_clear(&page);
  buffer_clear(&start);
  buffer_format(&page, "<!DOCTYPE html><body><script>%.*s</script>>x", (int)program->length, program->bytes);
  buffer_format(&start, "|     <script>\n|       \"%.*s\"\n", (int)program->length, program->bytes);
  if (!parse_with(&options, page.bytes, page.length)) return NULL;
  const char *after = memmem(dump.bytes, dump.length, start.bytes, start.length);
  buffer_byte(&dump, 0);
  return CHECK(after) ? after + start.length : NULL;
}

/* A text that is written in pieces makes the same tree as in one piece. */
static void pieces(void) {
  static const char *const texts[] = {"<svg><![CDATA[]]><v",
                                      "<svg><![CDATA[]]><v a=b",
                                      "<svg><![CDATA[]]></svg",
                                      "<svg><![CDATA[]]><!--a",
                                      "<svg><![CDATA[]]>&am",
                                      "<svg><![CDATA[]]><![CDATA[]]><p",
                                      "<svg>a<![CDATA[b]]>c<v",
                                      "<svg><![CDATA[a]]]><i",
                                      "<math><mi><![CDATA[]]><b>",
                                      "<svg></><![CDATA[]]></><v",
                                      "</></><v",
                                      "a</><v",
                                      "<p>a</>b<i",
                                      "<table></>a<b></></table><v",
                                      "<table> <![CDATA[]]><tr>",
                                      "<title>a</title><v",
                                      "<title></title><v",
                                      "<style></style></><v",
                                      "<textarea>\n</textarea><v",
                                      "<pre>\n<v",
                                      "<select><option></><v",
                                      "<!-- a --><v",
                                      "<!doctype><v",
                                      "<?pi?><v",
                                      "&amp;&lt<v",
                                      "\r\n\r<v",
                                      "<script><!--</script><v",
                                      "<b><p></b></><v",
                                      "<frameset></><frame",
                                      "<svg><desc><![CDATA[]]></desc><v"};
  buffer program = {0}, whole = {0};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *text = texts[i];
    const size_t n = strlen(text);
    buffer_clear(&program);
    buffer_clear(&whole);
    add_write(&program, text, n);
    const char *after = dump_after(&program);
    if (after) buffer_text(&whole, after);
    buffer_byte(&whole, 0);
    for (size_t a = 1; a < n; a++)
      for (size_t b = a; b < n; b++)
        for (size_t c = b; c < n; c += n < 20 ? 1 : 5) {
          buffer_clear(&program);
          add_write(&program, text, a);
          if (b > a) add_write(&program, text + a, b - a);
          if (c > b) add_write(&program, text + b, c - b);
          add_write(&program, text + c, n - c);
          const char *got = dump_after(&program);
          if (CHECK(got && !strcmp(got, whole.bytes))) continue;
          printf("  %s at %zu, %zu, %zu:\n%s  whole:\n%s", text, a, b, c, got, whole.bytes);
          c = b = a = n;
        }
  }
  buffer_free(&program);
  buffer_free(&whole);
}

/* The number of elements, texts and bytes that a script sees. */
static void views(void) {
  BODY("<script>w ab\ns</script>", "|     <script>\n|       \"w ab\ns\"\n|     \"ab4 2 8\"\n");
  BODY("<script>w \\lb>a&am\ns</script>;",
       "|     <script>\n|       \"w \\lb>a&am\ns\"\n|     <b>\n|       \"a&am5 2 13;\"\n");
  /* markup ends a text that waits for more, and the rest of a piece does not wait */
  BODY("<script>w &am\nw \\lb>\ns</script>",
       "|     <script>\n|       \"w &am\nw \\lb>\ns\"\n|     \"&am\"\n|     <b>\n|       \"5 2 17\"\n");
  BODY("<script>w \\lscript>w \\bli cl\\l/script>ass=y>abc\ns</script>z",
       "|     <script>\n|       \"w \\lscript>w \\bli cl\\l/script>ass=y>abc\ns\"\n|     <script>\n|       \"w "
       "\\li cl\"\n|     <i>\n|       class=\"y\"\n|       \"abc6 3 52z\"\n");
  /* after a change of the tree, an option with the attribute is selected, and not the first one */
  BODY("<select><button><selectedcontent></button><script>t 2 x</script><option>a</option><option selected>b</select>",
       "|     <select>\n|       <button>\n|         <selectedcontent>\n|           \"b\"\n|       <script>\n|         "
       "\"t 2 x\"\n|       <option>\n|         \"a\"\n|       <option>\n|         selected=\"\"\n|         \"b\"\n"
       "|     \"x\"\n");
  /* pending table characters are not in the tree */
  BODY("<script>w \\ltable>  \ns</script>",
       "|     <script>\n|       \"w \\ltable>  \ns\"\n|     \"  5 1 14\"\n|     <table>\n");
  /* the text of a script that is not complete */
  BODY("<script>w \\lscript>\\l!-- ab c\ns\nw \\l/script></script>",
       "|     <script>\n|       \"w \\lscript>\\l!-- ab c\ns\nw \\l/script>\"\n|     <script>\n|       \"<!-- ab c5 2 "
       "45\"\n");
}

/* A text that two or three writes write, and whether the script then sees the node at its end. */
typedef struct parts {
  const char *text;
  size_t first, second;
  hpar_tag tag; /* of the element; HPAR_TAG_NONE: a comment */
  bool is_seen;
} parts;

static hpar_status write_parts(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)script;
  parts *of = context;
  const hpar_document *page = hpar_editor_document(editor);
  const size_t length = strlen(of->text);
  CHECK_EQ(hpar_script_write(editor, of->text, of->first), HPAR_OK);
  CHECK_EQ(hpar_script_write(editor, of->text + of->first, of->second - of->first), HPAR_OK);
  CHECK_EQ(hpar_script_write(editor, of->text + of->second, length - of->second), HPAR_OK);
  const hpar_node root = hpar_document_root(page);
  for (hpar_node node = root; node; node = hpar_node_walk(page, root, node))
    of->is_seen |= of->tag == HPAR_TAG_NONE ? hpar_node_kind(page, node) == HPAR_NODE_COMMENT
                                            : hpar_node_tag(page, node) == of->tag;
  return HPAR_OK;
}

/* A script sees what it has written as soon as the token is complete, wherever its writes end. */
static void complete_tokens(void) {
  static const char page[] = "<!DOCTYPE html><body><script>x</script>y";
  static const struct {
    const char *text;
    hpar_tag tag;
  } texts[] = {{"<!--a>b-c--><hr>", HPAR_TAG_HR},
               {"<!--a->b--!><hr>", HPAR_TAG_HR},
               {"<!x-y><hr>", HPAR_TAG_HR},
               {"text &lt; text<hr>", HPAR_TAG_HR},
               {"a < b </><hr>", HPAR_TAG_HR},
               {"text</p>", HPAR_TAG_P},
               {"text<!--c-->", HPAR_TAG_NONE},
               {"text<!x>", HPAR_TAG_NONE},
               {"<table>abcd<hr>", HPAR_TAG_HR},
               {"<table>abcd</p>", HPAR_TAG_P},
               {"<table>abcd<!--c-->", HPAR_TAG_NONE},
               {"<i a='>' b=\"c>\" d><hr>", HPAR_TAG_HR},
               {"</i a='>'><hr>", HPAR_TAG_HR}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const size_t length = strlen(texts[i].text);
    for (size_t first = 0; first <= length; first++) {
      for (size_t second = first; second <= length; second++) {
        parts of = {texts[i].text, first, second, texts[i].tag, false};
        hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8",
                                .script = {.callback = write_parts, .context = &of}};
        CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_OK);
        if (!CHECK(of.is_seen)) printf("  %s at %zu and %zu\n", texts[i].text, first, second);
      }
    }
  }
}

static void nesting(void) {
  BODY("<script>w \\lscript>w x\\l/script>y</script>z",
       "|     <script>\n|       \"w \\lscript>w x\\l/script>y\"\n|     <script>\n|       \"w x\"\n|     \"xyz\"\n");
  BODY("<script>w \\lscript>w \\bli>x\\l/script>y\\l/i>\nw v</script>z",
       "|     <script>\n|       \"w \\lscript>w \\bli>x\\l/script>y\\l/i>\nw v\"\n|     <script>\n|       \"w "
       "\\li>x\"\n|     <i>\n|       \"xy\"\n|     \"vz\"\n");
  /* the remainder of the inner script is completed by the outer text */
  BODY("<script>w \\lscript>w \\bli cl\\l/script>ass=y>\n</script>z",
       "|     <script>\n|       \"w \\lscript>w \\bli cl\\l/script>ass=y>\n\"\n|     <script>\n|       \"w \\li "
       "cl\"\n|     <i>\n|       class=\"y\"\n|       \"z\"\n");
}

/*** the order of scripts ***/

typedef struct order {
  buffer log;
  const char *write; /* text that each script writes; NULL: none */
  hpar_status answer;
} order;

static hpar_status note_script(hpar_editor *editor, const hpar_script *script, void *context) {
  static const char *const times[] = {"now", "blocking", "deferred", "async"};
  order *of = context;
  hpar_string id = hpar_node_attribute_value(hpar_editor_document(editor), script->node, "id");
  buffer_format(&of->log, "%.*s:%s%s ", (int)id.length, id.bytes ? id.bytes : "", times[script->time],
                script->external ? "+" : "");
  if (of->write) of->answer = hpar_script_write(editor, of->write, strlen(of->write));
  return HPAR_OK;
}

/* Checks the calls of a sequential parse, of parallel ones with chunks of each size, and of one
 * that is fed single bytes. */
static void check_order(const char *page, bool external, const char *expected, int line) {
  order of = {.answer = HPAR_OK};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 3, .parallel.executor = HPAR_EXECUTOR_INLINE,
                          .script = {.callback = note_script, .context = &of, .external = external}};
  for (size_t size = 0; size <= (HPAR_PARALLEL ? strlen(page) : 0); size++) {
    options.mode = size ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
    options.parallel.chunk_size = size;
    buffer_clear(&of.log);
    buffer_text(&of.log, "");
    if (!CHECK_EQ(hpar_study_parse(parser, &options, page, strlen(page), document, NULL), HPAR_OK)) break;
    check_bytes_at(of.log.bytes, of.log.length, expected, strlen(expected), page, __FILE__, line);
  }
  options.mode = HPAR_MODE_SEQUENTIAL;
  buffer_clear(&of.log);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (const char *at = page; *at; at++) CHECK_EQ(hpar_parser_feed(parser, at, 1), HPAR_OK);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
  check_bytes_at(of.log.bytes, of.log.length, expected, strlen(expected), page, __FILE__, line);
  buffer_free(&of.log);
}
#define ORDER(page, external, expected) check_order(page, external, expected, __LINE__)

static void preparation(void) {
  ORDER("<script id=a>x</script><script id=b></script><script id=c>y</script>", false, "a:now c:now ");
  ORDER("<script id=a type='text/javascript '>x</script><script id=b type=text/template>x</script>"
        "<script id=c language=JavaScript1.2>x</script><script id=d language=vbscript>x</script>"
        "<script id=e type>x</script><script id=f type=importmap>x</script>",
        false, "a:now c:now e:now f:now ");
  ORDER("<script id=a nomodule>x</script><script id=b nomodule type=module>x</script>", false, "b:deferred ");
  ORDER("<script id=a for=window event=' onload() '>x</script><script id=b for=q event=onload>x</script>", false,
        "a:now ");
  ORDER("<script id=a src=s>x</script><script id=b>x</script>", false, "b:now ");
  ORDER("<script id=a src=s></script><script id=b src=s defer></script><script id=c src=s async></script>"
        "<script id=d type=module>x</script><script id=e src>x</script><script id=f>x</script>",
        true, "a:blocking+ c:async+ f:now b:deferred+ d:deferred ");
  ORDER("<svg><script id=a href=s></script><script id=b xlink:href=s></script><script id=c src=s>x</script></svg>",
        true, "a:blocking+ b:blocking+ c:now ");
  ORDER("<svg><script id=a href=s /><script id=b /><desc><script id=c src=s /></script></desc>"
        "<g><script id=d href=s />",
        true, "a:blocking+ c:blocking+ d:blocking+ ");
  ORDER("<template><script id=a>x</script></template><svg><script id=b>x</script></svg><script id=c>x", false,
        "b:now ");
  ORDER("<textarea><script id=a>x</script></textarea><!--<script id=b>x</script>--><xmp><script id=c>x</script>", false,
        "");
}

/* Logs the calls for postponed scripts, with their types. */
static hpar_status postpone(hpar_editor *editor, const hpar_script *script, void *context) {
  hpar_string id = hpar_node_attribute_value(hpar_editor_document(editor), script->node, "id");
  buffer_format(context, "%.*s:%d:%s ", (int)id.length, id.bytes, (int)script->type,
                script->time == HPAR_SCRIPT_LATE ? "late" : "now");
  if (script->time == HPAR_SCRIPT_NOW) CHECK_EQ(hpar_script_postpone(editor), HPAR_OK);
  return HPAR_OK;
}

static void postponed(void) {
  static const char page[] = "<script id=a>x</script><script id=b type=importmap>{}</script><script id=c>y</script>"
                             "<script id=d type=module>z</script>";
  buffer log = {0}, expected = {0};
  hpar_options options = {HPAR_OPTIONS_INIT, .script = {.callback = postpone, .context = &log}};
  for (int late = 0; late < 2; late++)
    buffer_format(&expected, "a:%d:%s b:%d:%s c:%d:%s ", HPAR_SCRIPT_CLASSIC, late ? "late" : "now",
                  HPAR_SCRIPT_IMPORT_MAP, late ? "late" : "now", HPAR_SCRIPT_CLASSIC, late ? "late" : "now");
  buffer_format(&expected, "d:%d:now ", HPAR_SCRIPT_MODULE); /* deferred */
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_OK);
  CHECK_BYTES(log.bytes, log.length, expected.bytes, expected.length);
  buffer_free(&log);
  buffer_free(&expected);
}

/* A blocking script that another script has written runs when the outer script has ended. Its text
 * precedes the rest of the outer script's text. */
static hpar_status write_by_id(hpar_editor *editor, const hpar_script *script, void *context) {
  buffer *log = context;
  hpar_string id = hpar_node_attribute_value(hpar_editor_document(editor), script->node, "id");
  buffer_add(log, id.bytes, id.length);
  if (id.bytes[0] == 'a') {
    static const char text[] = "<script id=b src=s></script>2";
    CHECK_EQ(hpar_script_write(editor, text, sizeof text - 1), HPAR_OK);
    buffer_text(log, "(");
    CHECK_EQ(hpar_script_write(editor, "3", 1), HPAR_OK);
    buffer_text(log, ")");
  } else {
    CHECK_EQ(hpar_script_write(editor, "1", 1), HPAR_OK);
  }
  return HPAR_OK;
}

static void blocking(void) {
  static const char page[] = "<!DOCTYPE html><body><script id=a>x</script>4";
  buffer log = {0};
  hpar_options options = {HPAR_OPTIONS_INIT, .script = {.callback = write_by_id, .context = &log, .external = true}};
  if (!parse_with(&options, page, sizeof page - 1)) return;
  CHECK_BYTES(log.bytes, log.length, "a()b", (size_t)4);
  CHECK(memmem(dump.bytes, dump.length, "\"1234\"", 6) != NULL);
  static const char solidus[] = "<!DOCTYPE html><body><svg><script id=b href=s />2";
  if (!parse_with(&options, solidus, sizeof solidus - 1)) return;
  CHECK(memmem(dump.bytes, dump.length, "\"12\"", 4) != NULL);
  buffer_free(&log);
}

/* Writes without an insertion point, in a deferred and in an asynchronous script, have no
 * effect. */
static void ignored_writes(void) {
  static const char page[] = "<!DOCTYPE html><body><script src=s defer></script><script src=s async></script>";
  order of = {.write = "x", .answer = HPAR_LIMIT_TIME};
  hpar_options options = {HPAR_OPTIONS_INIT, .script = {.callback = note_script, .context = &of, .external = true}};
  if (!parse_with(&options, page, sizeof page - 1)) return;
  CHECK_EQ(of.answer, HPAR_OK);
  CHECK(memmem(dump.bytes, dump.length, "\"x\"", 3) == NULL);
  buffer_free(&of.log);
}

/*** statistics ***/

static hpar_study_stats count_scripts(const char *page) {
  toy of = {.max_scripts = 100};
  hpar_options options = with_toy(&of);
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_study_parse(parser, &options, page, strlen(page), document, &stats), HPAR_OK);
  CHECK_EQ(stats.script.runs, of.scripts);
  return stats;
}

static hpar_status wait_for_clock(hpar_editor *editor, const hpar_script *script, void *context) {
  struct timespec before, now;
  (void)editor, (void)script, (void)context;
  clock_gettime(CLOCK_MONOTONIC, &before);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
  return HPAR_OK;
}

static void statistics(void) {
  const hpar_options waits = {HPAR_OPTIONS_INIT, .script.callback = wait_for_clock};
  hpar_study_stats timed = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_study_parse(parser, &waits, "<script>x</script>", 18, document, &timed), HPAR_OK);
  CHECK(timed.ns.scripts > 0);
  CHECK_EQ(count_scripts("<p>a").script.runs, 0);
  const hpar_study_stats written = count_scripts("<p>a<script>w \\li>\\l/i>\n</script>b");
  CHECK_EQ(written.script.bytes_written, 7);
  CHECK_EQ(written.tokens, 8);                                    /* two of them in written text */
  CHECK_EQ(count_scripts("<script>w \\li x</script>").tokens, 3); /* the unfinished tag is none */
  static const char *const balanced[] = {"<p><script>r 9</script>b", "<p>a<script>w x\\li>y\\l/i>\n</script>b",
                                         "<p>a<script>w \\lscript>w z\\l/script>\n</script>b",
                                         "<table><script>w \\ltr>\\l/tr>\\l/tbody>\n</script>"};
  static const char *const unbalanced[] = {
      "<p><script>w \\li>\n</script>b",        "<p><script>w \\l/p>\n</script>b",
      "<p><script>w \\l\n</script>b",          "<b><p><i><script>w \\l/b>\n</script>b",
      "<p><script>w \\ltextarea>\n</script>b", "<p><script>w \\lpre>\n</script>b"};
  for (size_t i = 0; i < sizeof balanced / sizeof *balanced; i++) {
    hpar_study_stats stats = count_scripts(balanced[i]);
    CHECK(!stats.script.state_changes);
    CHECK(!stats.script.bytes_after_change);
  }
  for (size_t i = 0; i < sizeof unbalanced / sizeof *unbalanced; i++) {
    CHECK_EQ(count_scripts(unbalanced[i]).script.state_changes, 1);
  }
  CHECK_EQ(count_scripts(unbalanced[0]).script.bytes_after_change, 1);
}

/*** limits and hostile scripts ***/

static hpar_status write_forever(hpar_editor *editor, const hpar_script *script, void *context) {
  const char *text = context;
  (void)script;
  hpar_status status;
  do status = hpar_script_write(editor, text, strlen(text));
  while (status == HPAR_OK);
  CHECK_EQ(hpar_script_write(editor, "x", 1), status);
  return HPAR_OK;
}

static hpar_status write_once(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)script;
  unsigned *count = context;
  ++*count;
  return hpar_script_write(editor, "<script>x</script>", 18);
}

static hpar_status write_bytes(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)script;
  const char *text = context;
  return hpar_script_write(editor, text, strlen(text));
}

static hpar_status fail(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)context, (void)editor, (void)script;
  return HPAR_ERROR_CALLBACK;
}

static hpar_status parse_hostile(hpar_options options, hpar_script_callback callback, void *context) {
  static const char page[] = "<!DOCTYPE html><p>a<script>x</script>b";
  options.size = sizeof options;
  options.script.callback = callback;
  options.script.context = context;
  return hpar_parse(parser, &options, page, sizeof page - 1, document, NULL);
}

static hpar_status set_two_attributes(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)context;
  CHECK_EQ(hpar_node_set_attribute(editor, script->node, "a", 1, "", 0), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(editor, script->node, "b", 1, "", 0), HPAR_LIMIT_ATTRIBUTES);
  return HPAR_OK;
}

/* Later tags give the html element attributes between the changes of scripts, which find them. */
static void many_attributes(void) {
  enum { COUNT = 40, TAGS = 8 };
  toy of = {.max_scripts = 100};
  const hpar_options options = with_toy(&of);
  buffer page = {0};
  buffer_text(&page, "<html><body><script>");
  for (int i = 0; i < COUNT; i++) buffer_format(&page, "a 0 a%d v\n", i);
  buffer_text(&page, "</script>");
  for (int i = 0; i < TAGS; i++) buffer_format(&page, "<html b%d=v><script>a 0 b%d w</script>", i, i);
  if (parse_with(&options, page.bytes, page.length))
    CHECK_EQ(hpar_node_attribute_count(document, hpar_document_html(document)), COUNT + TAGS);
  buffer_free(&page);
}

/* The parser has prepared the first script, which is empty. It does not run when another script
 * gives it a text and moves it, also if nodes have source positions. */
static void moved_script(void) {
  static const char page[] = "<body><script></script><script>t 3 w x\nm 3 2</script>y";
  for (int positions = 0; positions < 2; positions++) {
    toy of = {.max_scripts = 100};
    hpar_options options = with_toy(&of);
    options.source_offsets = positions;
    if (!parse_with(&options, page, strlen(page))) return;
    CHECK_EQ(of.scripts, 1);
  }
}

static void limits(void) {
  static const char *const texts[] = {"<b>",   "x",          "<table>", "<!--", "<script>x</script>",
                                      "<a b=", "<textarea>", "&am"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    void *text = (void *)(uintptr_t)texts[i];
    hpar_options written = {.script.max_written = 5000}, memory = {.limits.memory = 200000};
    CHECK_EQ(parse_hostile(written, write_forever, text), HPAR_LIMIT_INPUT);
    /* nested writes that are too deep take no memory */
    if (texts[i][1] != 's') CHECK_EQ(parse_hostile(memory, write_forever, text), HPAR_LIMIT_MEMORY);
  }
  hpar_options nodes = {.limits.nodes = 1000}, depth = {.limits.depth = 100}, time = {.limits.time_ns = 20000000};
  CHECK_EQ(parse_hostile(nodes, write_forever, "<br>"), HPAR_LIMIT_NODES);
  CHECK_EQ(parse_hostile(depth, write_forever, "<div>"), HPAR_LIMIT_DEPTH);
  CHECK_EQ(parse_hostile(time, write_forever, "<br>"), HPAR_LIMIT_TIME);
  unsigned count = 0;
  CHECK_EQ(parse_hostile((hpar_options){.size = 0}, write_once, &count), HPAR_OK);
  CHECK_EQ(count, 22); /* the page's script, and 21 nested writes */
  count = 0;
  CHECK_EQ(parse_hostile((hpar_options){.script.max_write_depth = 3}, write_once, &count), HPAR_OK);
  CHECK_EQ(count, 4);
  /* Each script of the page begins at depth 0. */
  static const char twice[] = "<script>x</script><script>x</script>";
  const hpar_options shallow = {HPAR_OPTIONS_INIT,
                                .script = {.callback = write_once, .context = &count, .max_write_depth = 3}};
  count = 0;
  CHECK_EQ(hpar_parse(parser, &shallow, twice, sizeof twice - 1, document, NULL), HPAR_OK);
  CHECK_EQ(count, 8);
  CHECK_EQ(parse_hostile((hpar_options){.size = 0}, fail, NULL), HPAR_ERROR_CALLBACK);
  const hpar_options attributes = {.limits.attributes = 1};
  CHECK_EQ(parse_hostile(attributes, set_two_attributes, NULL), HPAR_LIMIT_ATTRIBUTES);
}

/* The limit of written bytes may be reached. */
static void written_bytes(void) {
  static const char page[] = "<!DOCTYPE html><p>a<script>x</script>b";
  for (uint64_t most = 4; most <= 6; most++) {
    const hpar_options options = {
        HPAR_OPTIONS_INIT, .script = {.callback = write_bytes, .context = (char[]){"12345"}, .max_written = most}};
    hpar_stats stats = {HPAR_STATS_INIT};
    CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, &stats),
             most < 5 ? HPAR_LIMIT_INPUT : HPAR_OK);
    CHECK_EQ(stats.script.runs, 1);
    CHECK_EQ(stats.script.bytes_written, most < 5 ? 0 : 5);
  }
}

/* Fed input has no errors and no tokens after the limit of its scripts, as a whole input. */
static void results_after_a_limit(void) {
  static const char page[] = "<script>x</script>\x01";
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .max_errors = 9,
                          .script = {.callback = write_forever, .context = (char[]){"x"}, .max_written = 100}};
  hpar_stats whole = {HPAR_STATS_INIT}, fed = {HPAR_STATS_INIT};
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, &whole), HPAR_LIMIT_INPUT);
  const size_t count = hpar_parse_error_count(parser);
  options.mode = HPAR_PARALLEL ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, sizeof page - 1), HPAR_LIMIT_INPUT);
  CHECK_EQ(hpar_parser_finish(parser, &fed), HPAR_LIMIT_INPUT);
  CHECK_EQ(hpar_parse_error_count(parser), count);
  CHECK_EQ(fed.tokens, whole.tokens);
#if HPAR_PARALLEL
  const hpar_study pipelined = {HPAR_STUDY_INIT, .driver = "pipelined"};
  options.study = &pipelined;
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, &fed), HPAR_LIMIT_INPUT);
  CHECK_EQ(fed.tokens, whole.tokens);
#endif
}

static hpar_status set_again(hpar_editor *editor, const hpar_script *script, void *context) {
  const hpar_node html = hpar_document_html(hpar_editor_document(editor));
  (void)script, (void)context;
  hpar_status status = hpar_node_remove_attribute(editor, html, "b", 1);
  return status ? status : hpar_node_set_attribute(editor, html, "b", 1, "2", 1);
}

/* An attribute that a script has set has no place, also if a later tag adds more. */
static void places_of_attributes(void) {
  static const char page[] = "<html a=1 b=1><script>x</script><html c=1>";
  const hpar_options options = {HPAR_OPTIONS_INIT, .source_offsets = true, .script.callback = set_again};
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_OK);
  const hpar_node html = hpar_document_html(document);
  hpar_attribute_range ranges[3];
  CHECK_EQ(hpar_node_attribute_count(document, html), 3);
  CHECK_EQ(hpar_node_attribute_ranges(document, html, 0, 3, ranges), 1);
  CHECK_EQ(ranges[0].name_start, 6);
}

/* A parse that fails keeps no errors, and neither does one that is not finished. */
static void errors_after_a_failure(void) {
  static const char page[] = "</p></i><script>x</script>";
  hpar_options options = {HPAR_OPTIONS_INIT, .max_errors = 1};
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_parse_error_count(parser), 1);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, sizeof page - 1), HPAR_OK);
  CHECK_EQ(hpar_parse_error_count(parser), 0);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
  CHECK_EQ(hpar_parse_error_count(parser), 1);
  options.script = (hpar_script_options){.callback = fail};
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_ERROR_CALLBACK);
  CHECK_EQ(hpar_parse_error_count(parser), 0);
  CHECK_STRING(hpar_parse_error_at(parser, 0).code, "");
}

/*** equal trees in every way ***/

typedef struct outcome {
  hpar_status status;
  uint64_t tree, views;
  size_t scripts;
} outcome;

static outcome parse_fed(const hpar_options *options, const toy *of, const buffer *page, random_state *from) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t at = 0, n; at < page->length && status == HPAR_OK; at += n) {
    n = from ? 1 + random_below(from, 40) : 1;
    if (n > page->length - at) n = page->length - at;
    status = hpar_parser_feed(parser, page->bytes + at, n);
  }
  hpar_status finished = hpar_study_finish(parser, NULL);
  if (status == HPAR_OK) status = finished;
  return (outcome){status, toy_hash(document), of->views, of->scripts};
}

/* The ways to parse. */
enum { SEQUENTIAL, LIMITED, INLINE, INLINE_TREE, THREADS, PIPELINED, BYTES, PIECES, WAYS };

static outcome parse_page(unsigned way, const buffer *page, random_state *from) {
  toy of = {.keeps_views = true, .max_scripts = 60};
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = with_toy(&of);
  options.study = &study;
  options.limits.nodes = 20000;
  options.script.max_written = 20000;
  switch (way) {
    case SEQUENTIAL: options.mode = HPAR_MODE_SEQUENTIAL; break;
    case LIMITED: options.limits.time_ns = UINT64_MAX / 2; break;
#if HPAR_PARALLEL
    case INLINE:
    case INLINE_TREE:
    case THREADS:
      options.limits.nodes = 0;
      options.mode = HPAR_MODE_PARALLEL;
      options.threads = 2;
      options.parallel.chunk_size = 1 + random_below(from, 60);
      if (way != THREADS) options.parallel.executor = HPAR_EXECUTOR_INLINE;
      if (way == INLINE_TREE) study.merge = HPAR_MERGE_TREE;
      break;
    case PIPELINED:
      options.limits.nodes = 0;
      study.driver = "pipelined";
      break;
#endif
    case BYTES: return parse_fed(&options, &of, page, NULL);
    case PIECES: return parse_fed(&options, &of, page, from);
    default: break;
  }
  hpar_status status = hpar_parse(parser, &options, page->bytes, page->length, document, NULL);
  return (outcome){status, toy_hash(document), of.views, of.scripts};
}

static bool is_same(outcome a, outcome b) {
  return a.status == b.status && a.tree == b.tree && a.views == b.views && a.scripts == b.scripts;
}

static void show(const char *what, uint64_t seed, const buffer *page) {
  printf("%s, seed %" PRIu64 "\n%.*s\n", what, seed, (int)page->length, page->bytes);
}

/* Returns false after a difference. */
static bool check_ways(uint64_t seed) {
  static buffer page;
  random_state from = {seed};
  scripted_page(&from, &page, SCRIPTED_CHANGES);
  outcome expected = parse_page(SEQUENTIAL, &page, &from);
  uint64_t nodes;
  const char *problem = compare_links(document, &nodes);
  bool fine = !problem || !strcmp(problem, "two texts stand side by side");
  if (!CHECK(fine)) show(problem, seed, &page);
  for (unsigned way = SEQUENTIAL + 1; way < WAYS && fine; way++) {
    outcome got = parse_page(way, &page, &from);
    fine = CHECK(is_same(got, expected));
    if (fine) continue;
    printf("way %u: status %d and %d, scripts %zu and %zu, trees %s, views %s\n", way, got.status, expected.status,
           got.scripts, expected.scripts, got.tree == expected.tree ? "equal" : "differ",
           got.views == expected.views ? "equal" : "differ");
    show("ways differ", seed, &page);
  }
  return fine;
}

/* Appends the page with the written text after each script's end tag. */
static bool flatten(const toy *of, const buffer *page, buffer *flat) {
  uint64_t at = 0, start, end;
  buffer_clear(flat);
  for (size_t i = 0; i < of->log_count; i++) {
    if (!hpar_node_end_tag_range(document, of->log_nodes[i], &start, &end) || end < at) return false;
    buffer_add(flat, page->bytes + at, (size_t)(end - at));
    size_t stop = i + 1 < of->log_count ? of->log_starts[i + 1] : of->log->length;
    buffer_add(flat, of->log->bytes + of->log_starts[i], stop - of->log_starts[i]);
    at = end;
  }
  buffer_add(flat, page->bytes + at, page->length - (size_t)at);
  return true;
}

static bool check_flat(uint64_t seed) {
  static buffer page, log, flat, expected;
  random_state from = {seed};
  scripted_page(&from, &page, SCRIPTED_WRITES);
  buffer_clear(&log);
  buffer_text(&log, "");
  toy of = {.log = &log};
  hpar_options options = with_toy(&of);
  options.source_offsets = true;
  if (!parse_with(&options, page.bytes, page.length) || !flatten(&of, &page, &flat)) return true;
  buffer_clear(&expected);
  buffer_add(&expected, dump.bytes, dump.length);
  hpar_options without = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  if (!parse_with(&without, flat.bytes, flat.length)) return false;
  bool same = CHECK(expected.length == dump.length && !memcmp(expected.bytes, dump.bytes, dump.length));
  if (same) return true;
  show("not as the flat page", seed, &page);
  printf("flat:\n%.*s\ngot:\n%.*sexpected:\n%.*s\n", (int)flat.length, flat.bytes, (int)expected.length, expected.bytes,
         (int)dump.length, dump.bytes);
  return false;
}

/* $HPAR_TEST_SEED is the first seed, for long runs. */
static void random_pages(void) {
  const char *given = getenv("HPAR_TEST_SEED");
  uint64_t first = given ? strtoull(given, NULL, 10) : 1;
  size_t count = (size_t)8000 * compare_scale() / 100, failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 5; seed++) {
    failures += !check_ways(seed);
    failures += !check_flat(seed);
  }
}

/*** a script writes each test of html5lib-tests ***/

static void check_written(const char *path, const dat_test *test, const char *before, char command) {
  static buffer page, expected;
  toy of = {.only_first = true};
  hpar_options options = with_toy(&of), without = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  buffer_clear(&page);
  buffer_text(&page, before);
  buffer_format(&page, "<script>%c ", command);
  toy_escape(&page, test->data, test->data_length);
  buffer_text(&page, "</script>");
  if (!parse_with(&options, page.bytes, page.length)) return;
  buffer_clear(&expected);
  buffer_add(&expected, dump.bytes, dump.length);
  buffer_add(&page, test->data, test->data_length);
  if (!parse_with(&without, page.bytes, page.length)) return;
  if (check_at(expected.length == dump.length && !memcmp(expected.bytes, dump.bytes, dump.length), path, path,
               (int)test->line))
    return;
  printf("%s%c %.*s\ngot:\n%.*sexpected:\n%.*s\n", before, command, (int)test->data_length, test->data,
         (int)expected.length, expected.bytes, (int)dump.length, dump.bytes);
}

static int fixtures(void) {
  static const char *const places[] = {"", "<!DOCTYPE html><body>", "<table><tr>", "<select><optgroup>", "<svg><desc>"};
  char directory[4096];
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return CHECK_SKIPPED;
  shared_list files;
  if (!CHECK(shared_files(directory, ".dat", &files))) return 1;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!CHECK(dat_read(files.paths[i], &file))) continue;
    for (size_t k = 0; k < file.count; k++) {
      const dat_test *test = &file.tests[k];
      if (test->fragment || test->scripting == DAT_OFF) continue;
      size_t count = compare_scale() < 100 ? 2 : sizeof places / sizeof *places;
      for (size_t place = 0; place < count; place++) {
        check_written(files.paths[i], test, places[place], 'w');
        check_written(files.paths[i], test, places[place], 'c');
      }
    }
    dat_free(&file);
  }
  shared_list_free(&files);
  return check_report();
}

int main(int count, char **arguments) {
  if (!CHECK(hpar_parser_create(&parser) == HPAR_OK) || !CHECK(hpar_document_create(&document) == HPAR_OK)) return 1;
  int status;
  if (check_part(count, arguments, "fixtures")) {
    status = fixtures();
  } else {
    writes();
    pieces();
    views();
    complete_tokens();
    nesting();
    preparation();
    postponed();
    blocking();
    ignored_writes();
    statistics();
    limits();
    moved_script();
    many_attributes();
    written_bytes();
    results_after_a_limit();
    places_of_attributes();
    errors_after_a_failure();
    random_pages();
    status = check_report();
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status;
}
