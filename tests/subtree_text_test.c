/* Checks hpar_text: omitted elements, white space, lines, each option, pieces of all sizes,
 * failures of the sink. */

#include "check.h"
#include "support/buffer.h"

#include <hpar/hpar.h>
#include <stdlib.h>
#include <sys/mman.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer out;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static void check_text(const char *html, const hpar_text_options *options, const char *expected) {
  CHECK_EQ(hpar_parse(parser, NULL, html, strlen(html), document, NULL), HPAR_OK);
  buffer_clear(&out);
  CHECK_EQ(hpar_text(document, hpar_document_root(document), options, collect, &out), HPAR_OK);
  if (!CHECK_BYTES(out.bytes, out.length, expected, strlen(expected))) printf("  input: %s\n", html);
}

/* What a script or the caller has removed from an element hides nothing. */
static void check_without(const char *html, const char *removed, const char *before, const char *after) {
  hpar_editor *editor;
  check_text(html, NULL, before);
  CHECK_EQ(hpar_document_edit(document, NULL, &editor, NULL), HPAR_OK);
  hpar_node element = hpar_node_last_child(document, hpar_document_root(document)); /* html */
  element = hpar_node_first_child(document, hpar_node_last_child(document, element));
  CHECK_EQ(hpar_node_remove_attribute(editor, element, removed, strlen(removed)), HPAR_OK);
  hpar_document_finish_edit(document);
  buffer_clear(&out);
  CHECK_EQ(hpar_text(document, hpar_document_root(document), NULL, collect, &out), HPAR_OK);
  CHECK_BYTES(out.bytes, out.length, after, strlen(after));
}

/* Compares with the definition, character by character. */
static void check_words(const char *text) {
  static buffer expected, page;
  buffer_clear(&expected);
  bool space = false;
  for (const char *at = text; *at; at++) {
    bool white = strchr(" \t\n\f\r", *at) != NULL;
    if (!white && space && expected.length) buffer_byte(&expected, ' ');
    if (!white) buffer_byte(&expected, *at);
    space = white;
  }
  buffer_clear(&page);
  buffer_text(&page, "<p>");
  buffer_text(&page, text);
  check_text(page.bytes, NULL, expected.length ? expected.bytes : "");
}

static void defaults(void) {
  check_text("", NULL, "");
  check_text("<title>t</title><style>s</style><script>c</script><p>a<noscript>n</noscript><template>u</template>b",
             NULL, "ab");
  check_text("<p> a  b\n\tc <b> d</b> <i>e </i> f </p> g", NULL, "a b c d e f\ng");
  check_text("<div><div><p>a</div></div>b<div></div><div> </div>c", NULL, "a\nb\nc");
  check_text("a<br>b<br><br>c<div>d<br></div>e", NULL, "a\nb\n\nc\nd\ne");
  check_text("<table><caption>x</caption><tr><td>a<td> b <th>c<tr><td><td>d</table>e", NULL, "x\na\tb\tc\nd\ne");
  check_text("<table><tr><td><p>a</p><td>b", NULL, "a\nb");
  check_text("<table><tr><td>a<td><br>b", NULL, "a\t\nb");
  check_text("<table><tr><td>a<tr><td>b</table>c<br>d<p></p><br>e", NULL, "a\nb\nc\nd\n\ne");
  check_text("a <pre> b\n  c\n</pre> d<textarea> e  f </textarea>g", NULL, "a\n b\n  c\nd e  f g");
  check_text("a<svg><title>t</title><style>s</style><script>c</script><text>d</text></svg>", NULL, "atd");
  check_text("<select><optgroup><option>a<option>b</select>c<input value=d><img alt=e>", NULL, "a\nb\nc");
  check_text("a<!-- b --><?c d?>&nbsp;e\xC2\xA0 f", NULL,
             "a\xC2\xA0"
             "e\xC2\xA0 f");
  check_text("<frameset><noframes>a</noframes></frameset>", NULL, "");
  check_text("a\x01 \x02", NULL, "a\x01 \x02");
}

static void hidden_elements(void) {
  check_text("a<p hidden>b<b>c</b></p><div hidden=until-found>d</div><br hidden>e", NULL, "ae");
  check_text("<video>a<i>b</i></video><audio>c</audio><canvas>d</canvas><meter>e</meter><progress>f</progress>g", NULL,
             "g");
  check_text("<dialog>a</dialog><dialog open>b</dialog><dialog open popover>c</dialog><dialog open hidden>d</dialog>",
             NULL, "b\nc");
  check_text("<div popover>a</div><p popover=x>b</p>c", NULL, "c");
  check_text("<details>a<summary>b<i>c</i></summary>d<summary>e</summary>f</details>g", NULL, "bc\ng");
  check_text("<details open>a<summary>b</summary>c<summary>d</summary></details>", NULL, "a\nb\nc\nd");
  check_text("<details>a</details><details></details><details><i>b<summary>c</summary></i></details>d", NULL, "d");
  check_text("<details><summary>a<details><summary hidden>b</summary>c</details>d</summary>e</details>f", NULL,
             "a\nd\nf");
  check_text(
      "<details><summary>a<details>x<summary>b<details open>c<summary>d</summary></details></details>e</summary>f"
      "<summary>g</details>h",
      NULL, "a\nb\nc\nd\ne\nh");
  check_text("<svg><g hidden=''><text>a</text></g><details>b</details></svg>", NULL, "ab");
  check_text("<details class=x open>a</details><details class=y>b<svg><summary>c</summary></svg><summary>d</details>",
             NULL, "a\nd");
  check_without("<p id=a hidden>b</p>c", "hidden", "c", "b\nc");
  check_without("<div id=a hidden>b</div>c", "id", "c", "c");
  check_without("<dialog id=a open>b</dialog>c", "open", "b\nc", "c");
  check_without("<details id=a open>b<summary>c</summary></details>d", "open", "b\nc\nd", "c\nd");
  hpar_text_options all = {HPAR_TEXT_OPTIONS_INIT, .all_elements = true};
  check_text("<p hidden>a<video>b</video><details>c<summary>d</summary></details><dialog popover>e</dialog>", &all,
             "ab\nc\nd\ne");
  const char *html = "<body hidden><details hidden>a<summary>b";
  CHECK_EQ(hpar_parse(parser, NULL, html, strlen(html), document, NULL), HPAR_OK);
  hpar_node body = hpar_node_last_child(document, hpar_node_first_child(document, hpar_document_root(document)));
  char copy[8];
  CHECK_EQ(hpar_text_copy(document, body, NULL, copy, sizeof copy), 0);
  CHECK_EQ(hpar_text_copy(document, hpar_node_first_child(document, body), NULL, copy, sizeof copy), 3);
  buffer page = {0};
  for (int i = 0; i < 100000; i++) buffer_text(&page, "<details>a<summary>b");
  CHECK_EQ(hpar_parse(parser, NULL, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_text_copy(document, hpar_document_root(document), NULL, NULL, 0), 64 * 2 + 4 * (100000 - 64) - 1);
  hpar_document_clear(document);
  buffer_free(&page);
}

static void options(void) {
  hpar_text_options all = {HPAR_TEXT_OPTIONS_INIT, .all_elements = true};
  check_text("<title>t</title><script>c</script><p>a<noscript>n</noscript><template>u</template>b", &all, "tc\nanb");
  hpar_text_options keep = {HPAR_TEXT_OPTIONS_INIT, .keep_white_space = true};
  check_text("<p> a  b\n</p><p>c </p> d", &keep, " a  b\nc \n d");
  hpar_editor *editor;
  hpar_node none;
  CHECK_EQ(hpar_document_edit(document, NULL, &editor, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(editor, "", 0, &none), HPAR_OK);
  CHECK_EQ(hpar_node_append(editor, hpar_document_body(document), none), HPAR_OK);
  hpar_document_finish_edit(document);
  char copy[32];
  CHECK_EQ(hpar_text_copy(document, hpar_document_root(document), &keep, copy, sizeof copy), 11);
  hpar_text_options joined = {HPAR_TEXT_OPTIONS_INIT, .no_breaks = true};
  check_text("<p> a  b\n</p><p>c<br>d<table><td>e<td>f", &joined, "a b cdef");
  hpar_text_options raw = {HPAR_TEXT_OPTIONS_INIT, true, true, true};
  check_text("<p> a  b\n<p>c<br>d<script> e</script> ", &raw, " a  b\ncd e ");
}

static void sizes(void) {
  struct {
    hpar_text_options known;
    size_t unknown;
  } newer = {{.size = sizeof newer}, 0};
  check_text("<p>a<p>b", &newer.known, "a\nb");
  newer.unknown = 1;
  CHECK_EQ(hpar_text(document, hpar_document_root(document), &newer.known, collect, &out), HPAR_ERROR_ARGUMENT);
  hpar_text_options older = {.size = sizeof(size_t), .no_breaks = true};
  check_text("<p>a<p>b", &older, "a\nb");
  older.size = 0;
  CHECK_EQ(hpar_text(document, hpar_document_root(document), &older, collect, &out), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_text(NULL, 1, NULL, collect, &out), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_text(document, hpar_document_root(document), NULL, NULL, &out), HPAR_ERROR_ARGUMENT);
}

/* Every pattern of ten characters, and long texts with white space at the ends of pieces. */
static void white_space(void) {
  for (unsigned pattern = 0; pattern < 1u << 10; pattern++) {
    char text[24];
    size_t length = 0;
    for (unsigned i = 0; i < 10; i++) text[length++] = pattern >> i & 1 ? ' ' : (char)('a' + (int)i);
    text[length] = 0;
    check_words(text);
    text[pattern % 10] = '\n';
    check_words(text);
    text[pattern % 7] = '\x1f';
    check_words(text);
  }
  for (size_t length = 1; length < 70; length++) { /* without white space, as the whole input */
    char text[71] = "";
    for (size_t i = 0; i < length; i++) text[i] = (char)('A' + i % 26);
    check_text(text, NULL, text);
  }
  for (size_t length = 1000; length < 20000; length += 1 + length % 300) {
    buffer text = {0};
    for (size_t i = 0; i < length; i++) buffer_byte(&text, (i * i + i / 3) % 7 < 2 ? ' ' : (char)('a' + (int)(i % 26)));
    check_words(text.bytes);
    buffer_free(&text);
  }
}

static hpar_status count_down(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length;
  return --*(int *)context ? HPAR_OK : HPAR_ERROR_IO;
}

static void subtrees(void) {
  const char *html = "<ul><li>a <b>b</b><li>c</ul><script>d</script><pre> e</pre><!--f-->";
  CHECK_EQ(hpar_parse(parser, NULL, html, strlen(html), document, NULL), HPAR_OK);
  hpar_node html_element = hpar_node_first_child(document, hpar_document_root(document));
  hpar_node list = hpar_node_first_child(document, hpar_node_last_child(document, html_element));
  char copy[8];
  CHECK_EQ(hpar_text_copy(document, list, NULL, copy, sizeof copy), 5);
  CHECK_BYTES(copy, 5, "a b\nc", 5);
  memset(copy, '-', sizeof copy);
  CHECK_EQ(hpar_text_copy(document, list, NULL, copy, 3), 5);
  CHECK_BYTES(copy, 4, "a b-", 4);
  CHECK_EQ(hpar_text_copy(document, list, NULL, NULL, 0), 5);
  hpar_node script = hpar_node_next(document, list), pre = hpar_node_next(document, script);
  CHECK_EQ(hpar_text_copy(document, script, NULL, copy, sizeof copy), 1);
  CHECK_EQ(hpar_text_copy(document, pre, NULL, copy, sizeof copy), 2);
  CHECK_EQ(hpar_text_copy(document, hpar_node_next(document, pre), NULL, copy, sizeof copy), 0);
  CHECK_EQ(hpar_text_copy(document, HPAR_NO_NODE, NULL, copy, sizeof copy), 0);
  hpar_node text = hpar_node_first_child(document, hpar_node_first_child(document, list));
  CHECK_EQ(hpar_text_copy(document, text, NULL, copy, sizeof copy), 1);

  const char *others = "<body><textarea> a </textarea><template><p>b<p>c</template>";
  CHECK_EQ(hpar_parse(parser, NULL, others, strlen(others), document, NULL), HPAR_OK);
  hpar_node area = hpar_node_first_child(document, hpar_document_body(document));
  CHECK_EQ(hpar_text_copy(document, area, NULL, copy, sizeof copy), 3);
  CHECK_BYTES(copy, 3, " a ", 3);
  hpar_node contents = hpar_node_template_contents(document, hpar_node_next(document, area));
  CHECK_EQ(hpar_text_copy(document, contents, NULL, copy, sizeof copy), 3);
  CHECK_BYTES(copy, 3, "b\nc", 3);
}

/* Texts with character references lie in the memory of the document, here below the input, which is
 * on the stack. Their last bytes are no whole block. */
static void texts_below_the_input(void) {
  char page[] = "<p>a&amp;b  c<p>some words  &lt; others";
  CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL), HPAR_OK);
  char copy[32];
  size_t length = hpar_text_copy(document, hpar_document_root(document), NULL, copy, sizeof copy);
  CHECK_BYTES(copy, length, "a&b c\nsome words < others", 25);
}

/* The buffer is full when a line break or a separator follows, for one of the lengths. */
static void full_buffers(void) {
  enum { BUFFER = 8192 };
  buffer page = {0}, wanted = {0};
  for (size_t length = BUFFER - 2; length <= BUFFER + 1; length++) {
    buffer_clear(&page);
    buffer_clear(&wanted);
    buffer_text(&page, "<pre>");
    for (size_t i = 0; i < length; i++) buffer_byte(&wanted, 'a');
    buffer_add(&page, wanted.bytes, length);
    buffer_text(&page, "<br>b</pre><p>c");
    buffer_text(&wanted, "\nb\nc");
    check_text(page.bytes, NULL, wanted.bytes);
  }
  buffer_free(&page);
  buffer_free(&wanted);
}

static void a_sink_that_fails(void) {
  buffer page = {0};
  for (int i = 0; i < 20000; i++) buffer_text(&page, "<p>word");
  CHECK_EQ(hpar_parse(parser, NULL, page.bytes, page.length, document, NULL), HPAR_OK);
  int calls = 2;
  CHECK_EQ(hpar_text(document, hpar_document_root(document), NULL, count_down, &calls), HPAR_ERROR_IO);
  CHECK_EQ(calls, 0);
  hpar_text_options raw = {HPAR_TEXT_OPTIONS_INIT, .keep_white_space = true};
  buffer_clear(&page);
  buffer_text(&page, "a");
  for (int i = 0; i < 3000; i++) buffer_text(&page, "long text ");
  calls = 1;
  CHECK_EQ(hpar_parse(parser, NULL, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_text(document, hpar_document_root(document), &raw, count_down, &calls), HPAR_ERROR_IO);
  /* a short text and then a long one, which the sink no longer receives */
  *strchr(page.bytes, ' ') = '<';
  page.bytes[strlen("along<")] = 'b';
  page.bytes[strlen("along<b")] = '>';
  calls = 1;
  CHECK_EQ(hpar_parse(parser, NULL, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_text(document, hpar_document_root(document), &raw, count_down, &calls), HPAR_ERROR_IO);
  CHECK_EQ(calls, 0);
  buffer_free(&page);
}

/* The text is read up to the last byte of the input, and not further. */
static void end_of_input(void) {
  enum { PAGE = 64 << 10, LONGEST = 70 };
  static const char *const patterns[] = {"a", "word ", "a  b", " x\n"};
  const hpar_options copying = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .copy_input = true};
  const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!CHECK(pages != MAP_FAILED) || !CHECK(!mprotect(pages + PAGE, PAGE, PROT_NONE))) return;
  buffer expected = {0};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    for (size_t length = 1; length < LONGEST; length++) {
      char *text = pages + PAGE - length, *page = text - 3;
      memcpy(page, "<p>", 3);
      for (size_t k = 0; k < length; k++) text[k] = patterns[i][k % strlen(patterns[i])];
      buffer_clear(&expected);
      buffer_clear(&out);
      CHECK_EQ(hpar_parse(parser, &copying, page, length + 3, document, NULL), HPAR_OK);
      CHECK_EQ(hpar_text(document, hpar_document_root(document), NULL, collect, &expected), HPAR_OK);
      CHECK_EQ(hpar_parse(parser, &options, page, length + 3, document, NULL), HPAR_OK);
      CHECK_EQ(hpar_text(document, hpar_document_root(document), NULL, collect, &out), HPAR_OK);
      CHECK_BYTES(out.bytes, out.length, expected.bytes, expected.length);
    }
  }
  hpar_document_clear(document);
  munmap(pages, 2 * PAGE);
  buffer_free(&expected);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  defaults();
  hidden_elements();
  options();
  sizes();
  white_space();
  subtrees();
  texts_below_the_input();
  full_buffers();
  a_sink_that_fails();
  end_of_input();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&out);
  return check_report();
}
