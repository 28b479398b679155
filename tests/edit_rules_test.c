/* The rules of changes after a parse: owners, parses in progress, limits, growth, positions,
 * failing allocations, the life of a document, and many documents. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <pthread.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const char page[] = "<!doctype html><p id=one class='a&amp;b'>text<b>bold</b></p><!--c--><p id=two>more";

static hpar_parser *parser;
static hpar_document *document;
static hpar_editor *edit;
static buffer out;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static void open_page_with(const hpar_options *options, const char *text) {
  CHECK_EQ(hpar_parse(parser, options, text, strlen(text), document, NULL), HPAR_OK);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
}
static void open_page(void) { open_page_with(NULL, page); }

static hpar_node find(const char *name, unsigned number) {
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string at = hpar_node_name(document, node);
    if (hpar_node_kind(document, node) == HPAR_NODE_ELEMENT && at.length == strlen(name) &&
        !memcmp(at.bytes, name, at.length) && !number--)
      return node;
  }
  return HPAR_NO_NODE;
}

static void check_html(const hpar_document *of, const char *expected, int line) {
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(of, hpar_document_root(of), 0, collect, &out), HPAR_OK);
  check_bytes_at(out.bytes ? out.bytes : "", out.length, expected, strlen(expected), "html", __FILE__, line);
}
#define HTML(expected) check_html(document, expected, __LINE__)
#define TEXT(literal) (literal), sizeof(literal) - 1

/*** each change ***/

static void changes(void) {
  open_page();
  hpar_node body = find("body", 0), first = find("p", 0), second = find("p", 1), bold = find("b", 0), made, copy;
  CHECK(hpar_editor_document(edit) == document);
  CHECK_EQ(hpar_node_remove(edit, bold), HPAR_OK);
  HTML("<!DOCTYPE html><html><head></head><body><p id=\"one\" class=\"a&amp;b\">text</p><!--c--><p id=\"two\">more</p>"
       "</body></html>");
  CHECK_EQ(hpar_node_parent(document, bold), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_kind(document, hpar_node_first_child(document, bold)), HPAR_NODE_TEXT);
  CHECK_EQ(hpar_node_insert_before(edit, body, second, first), HPAR_OK);
  CHECK_EQ(hpar_node_append(edit, second, bold), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, first, TEXT("title"), TEXT("\"<&")), HPAR_OK);
  CHECK_EQ(hpar_node_remove_attribute(edit, first, TEXT("id")), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(edit, TEXT("<new>"), &made), HPAR_OK);
  CHECK_EQ(hpar_node_append(edit, first, made), HPAR_OK);
  CHECK_EQ(hpar_node_clone(edit, bold, true, &copy), HPAR_OK);
  CHECK_EQ(hpar_node_set_text(edit, hpar_node_first_child(document, bold), TEXT("x")), HPAR_OK);
  CHECK_EQ(hpar_node_append(edit, body, copy), HPAR_OK);
  HTML("<!DOCTYPE html><html><head></head><body><p id=\"two\">more<b>x</b></p>"
       "<p class=\"a&amp;b\" title=\"&quot;&lt;&amp;\">text&lt;new&gt;</p><!--c--><b>bold</b></body></html>");
  CHECK_EQ(hpar_node_set_inner_html(edit, body, TEXT("<p>1<p>2<script>w x</script>")), HPAR_OK);
  HTML("<!DOCTYPE html><html><head></head><body><p>1</p><p>2<script>w x</script></p></body></html>");
  CHECK_EQ(hpar_node_parent(document, first), HPAR_NO_NODE);
  hpar_document_finish_edit(document);
  HTML("<!DOCTYPE html><html><head></head><body><p>1</p><p>2<script>w x</script></p></body></html>");
  hpar_string value = hpar_node_attribute_value(document, first, "title");
  check_bytes_at(value.bytes, value.length, TEXT("\"<&"), "the value of a removed element", __FILE__, __LINE__);
}

/* hpar_node_set_text is `textContent` of the DOM. */
static void texts(void) {
  open_page();
  hpar_node body = find("body", 0), bold = find("b", 0);
  CHECK_EQ(hpar_node_set_text(edit, find("p", 0), TEXT("<&")), HPAR_OK);
  CHECK_EQ(hpar_node_set_text(edit, find("p", 1), TEXT("")), HPAR_OK);
  HTML("<!DOCTYPE html><html><head></head><body><p id=\"one\" class=\"a&amp;b\">&lt;&amp;</p><!--c-->"
       "<p id=\"two\"></p></body></html>");
  CHECK_EQ(hpar_node_parent(document, bold), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_kind(document, hpar_node_first_child(document, bold)), HPAR_NODE_TEXT);
  CHECK_EQ(hpar_node_set_inner_html(edit, body, TEXT("<template>a<b>c</b></template>")), HPAR_OK);
  hpar_node contents = hpar_node_template_contents(document, hpar_node_first_child(document, body));
  CHECK_EQ(hpar_node_set_text(edit, contents, TEXT("t")), HPAR_OK);
  HTML("<!DOCTYPE html><html><head></head><body><template>t</template></body></html>");
  CHECK_EQ(hpar_node_set_text(edit, body, TEXT("\xff")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_set_text(edit, hpar_document_root(document), TEXT("t")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_set_text(edit, hpar_node_first_child(document, hpar_document_root(document)), TEXT("t")),
           HPAR_ERROR_ARGUMENT);
  HTML("<!DOCTYPE html><html><head></head><body><template>t</template></body></html>");
}

static void refusals(void) {
  open_page();
  hpar_node body = find("body", 0), first = find("p", 0), made = 1;
  hpar_editor *none;
  CHECK_EQ(hpar_document_edit(NULL, NULL, &none, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_document_edit(document, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  hpar_options wrong = {HPAR_OPTIONS_INIT, .encoding = "no-such"};
  CHECK_EQ(hpar_document_edit(document, &wrong, &none, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_script_write(edit, TEXT("x")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_script_postpone(edit), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_append(edit, first, body), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_create_text(edit, TEXT("\xff"), &made), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "", 0, &made), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_insert_before(NULL, first, made, HPAR_NO_NODE), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(made, HPAR_NO_NODE);
  /* text is allowed at the top of a fragment only */
  CHECK_EQ(hpar_node_create_text(edit, TEXT("t"), &made), HPAR_OK);
  const hpar_node root = hpar_document_root(document);
  CHECK_EQ(hpar_node_append(edit, root, made), HPAR_ERROR_ARGUMENT);
  /* its own element and doctype are in the way of themselves, too */
  CHECK_EQ(hpar_node_append(edit, root, hpar_document_html(document)), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_insert_before(edit, root, hpar_node_first_child(document, root), hpar_document_html(document)),
           HPAR_ERROR_ARGUMENT);
  hpar_options fragment = {HPAR_OPTIONS_INIT, .fragment = "td"};
  open_page_with(&fragment, "a<b>c");
  CHECK_EQ(hpar_node_create_text(edit, TEXT("t"), &made), HPAR_OK);
  CHECK_EQ(hpar_node_insert_before(edit, hpar_document_root(document), made, find("b", 0)), HPAR_OK);
  HTML("at<b>c</b>");
}

/*** owners, and parses in progress ***/

static void *change_elsewhere(void *context) {
  hpar_editor *other;
  hpar_node made;
  CHECK_EQ(hpar_document_edit(document, NULL, &other, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!other);
  CHECK_EQ(hpar_node_remove(edit, find("p", 0)), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_insert_before(edit, find("body", 0), find("b", 0), HPAR_NO_NODE), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_create_text(edit, TEXT("x"), &made), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_clone(edit, find("b", 0), true, &made), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_set_attribute(edit, find("p", 0), TEXT("a"), TEXT("b")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_remove_attribute(edit, find("p", 0), TEXT("id")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_set_text(edit, hpar_node_first_child(document, find("b", 0)), TEXT("x")), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_set_inner_html(edit, find("p", 0), TEXT("x")), HPAR_ERROR_ARGUMENT);
  return context;
}

/* A call of the owner that fails ends nothing: the editor is the same, with its old limits. */
static void edit_again(void) {
  open_page();
  hpar_options limited = {HPAR_OPTIONS_INIT, .limits = {.nodes = 1}};
  CHECK_EQ(hpar_document_edit(document, &limited, &edit, NULL), HPAR_OK);
  hpar_editor *again = NULL;
  hpar_node made;
  hpar_error error;
  hpar_options wrong = {HPAR_OPTIONS_INIT, .encoding = "no-such"};
  CHECK_EQ(hpar_document_edit(document, &wrong, &again, &error), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(error.text, "hpar_options.encoding"));
  CHECK(again == edit);
  CHECK_EQ(hpar_node_create_text(again, TEXT("t"), &made), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(again, TEXT("t"), &made), HPAR_LIMIT_NODES);
  hpar_document_finish_edit(document);
  CHECK_EQ(hpar_document_edit(document, &wrong, &again, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!again);
}

static void *edit_after(void *context) {
  hpar_editor *other;
  CHECK_EQ(hpar_document_edit(document, NULL, &other, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(other, find("p", 0), TEXT("a"), TEXT("b")), HPAR_OK);
  hpar_document_finish_edit(document);
  return context;
}

static void run_thread(void *(*function)(void *)) {
  pthread_t thread;
  int failed = pthread_create(&thread, NULL, function, NULL);
  if (!failed) failed = pthread_join(thread, NULL);
  CHECK_EQ(failed, 0); /* not while the thread counts checks */
}

static hpar_status edit_in_script(hpar_editor *editor, const hpar_script *script, void *context) {
  hpar_editor *other;
  (void)script;
  ++*(unsigned *)context;
  CHECK_EQ(hpar_document_edit(hpar_editor_document(editor), NULL, &other, NULL), HPAR_ERROR_ARGUMENT);
  return HPAR_OK;
}

/* A call of another parser that fails ends the feed, and leaves a document that can change. */
static void abandoned_feeds(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"}, wrong = {HPAR_OPTIONS_INIT, .encoding = "no-such"};
  for (unsigned way = 0; way < 3; way++) {
    hpar_parser *other;
    hpar_input input = {HPAR_INPUT_INIT, .length = 1, .document = document};
    CHECK_EQ(hpar_parser_create(&other), HPAR_OK);
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(parser, TEXT("<p>")), HPAR_OK);
    if (way == 0) CHECK_EQ(hpar_parse(other, &wrong, TEXT("x"), document, NULL), HPAR_ERROR_ARGUMENT);
    if (way == 1) CHECK_EQ(hpar_parser_begin(other, &wrong, document), HPAR_ERROR_ARGUMENT);
    if (way == 2) CHECK_EQ(hpar_parse_many(other, NULL, &input, 1, NULL, NULL, NULL), HPAR_OK);
    CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
    hpar_parser_destroy(other);
  }
  /* a feed without memory */
  hpar_document *own;
  CHECK_EQ(hpar_document_create(&own), HPAR_OK);
  hp_memory_fail_after(0);
  const hpar_status status = hpar_parser_begin(parser, &options, own);
  hp_memory_fail_after(UINT64_MAX);
  CHECK_EQ(status, HPAR_ERROR_MEMORY);
  CHECK_EQ(hpar_document_edit(own, NULL, &edit, NULL), HPAR_OK);
  hpar_document_destroy(own);
}

static void owners(void) {
  static const char rest[] = "<p id=one class='a&amp;b'>text<b>bold</b></p><!--c--><p id=two>more</p></body></html>";
  open_page();
  buffer expected = {0};
  buffer_text(&expected, "<!DOCTYPE html><html><head></head><body><p id=\"one\" class=\"a&amp;b\">text<b>bold</b></p>"
                         "<!--c--><p id=\"two\">more</p></body></html>");
  run_thread(change_elsewhere);
  HTML(expected.bytes);
  hpar_document_finish_edit(document);
  hpar_document_finish_edit(document);
  hpar_document_finish_edit(NULL);
  run_thread(edit_after);
  CHECK_EQ(hpar_node_attribute_value(document, find("p", 0), "a").length, 1);
  /* a parse is in progress */
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, rest, sizeof rest - 1), HPAR_OK);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  unsigned runs = 0;
  options.script = (hpar_script_options){.callback = edit_in_script, .context = &runs};
  CHECK_EQ(hpar_parse(parser, &options, TEXT("<script>x</script><p>y"), document, NULL), HPAR_OK);
  CHECK_EQ(runs, 1);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_remove(edit, find("script", 0)), HPAR_OK);
  HTML("<html><head></head><body><p>y</p></body></html>");
  /* a failed parse leaves a document that can change */
  options = (hpar_options){HPAR_OPTIONS_INIT, .fragment = "a>"};
  CHECK_EQ(hpar_parse(parser, &options, TEXT("x"), document, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  abandoned_feeds();
  buffer_free(&expected);
}

/*** positions ***/

static void positions(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .source_offsets = true, .encoding = "utf-8"};
  open_page_with(&options, "<p a=1 b='2'>x</p><i>y</i>");
  hpar_node p = find("p", 0), i = find("i", 0), copy, made;
  uint64_t start, end;
  hpar_attribute_range ranges[3];
  CHECK_EQ(hpar_node_set_attribute(edit, p, TEXT("c"), TEXT("3")), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, p, TEXT("b"), TEXT("long value")), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 2);
  CHECK_EQ(ranges[1].value_start, 10);
  CHECK_EQ(ranges[1].value_end, 11);
  CHECK_EQ(hpar_node_remove_attribute(edit, p, TEXT("a")), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 1);
  CHECK_EQ(ranges[0].name_start, 7);
  CHECK_EQ(hpar_node_append(edit, p, i), HPAR_OK);
  CHECK(hpar_node_start_tag_range(document, i, &start, &end));
  CHECK_EQ(start, 18);
  CHECK(hpar_node_end_tag_range(document, i, &start, &end));
  CHECK_EQ(end, 26);
  CHECK_EQ(hpar_node_clone(edit, p, true, &copy), HPAR_OK);
  CHECK(!hpar_node_start_tag_range(document, copy, &start, &end));
  CHECK_EQ(hpar_node_attribute_ranges(document, copy, 0, 3, ranges), 0);
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, TEXT("u"), &made), HPAR_OK);
  CHECK(!hpar_node_start_tag_range(document, made, &start, &end));
  CHECK_EQ(hpar_node_set_inner_html(edit, i, TEXT("<s>z</s>")), HPAR_OK);
  CHECK(!hpar_node_start_tag_range(document, find("s", 0), &start, &end));
  CHECK(!hpar_node_end_tag_range(document, find("s", 0), &start, &end));
  /* an attribute that is removed and set again is new, also if the tag has the name twice */
  open_page_with(&options, "<p a=1 b=2 c=3 a=4>");
  p = find("p", 0);
  for (unsigned k = 0; k < 3; k++) {
    CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 3 - k);
    CHECK_EQ(ranges[0].name_start, 3 + 4 * k);
    CHECK_EQ(hpar_node_clone(edit, p, true, &copy), HPAR_OK);
    CHECK_EQ(hpar_node_remove_attribute(edit, p, &"abc"[k], 1), HPAR_OK);
    CHECK_EQ(hpar_node_set_attribute(edit, p, &"abc"[k], 1, TEXT("new")), HPAR_OK);
  }
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 0);
  /* nothing is left of the block */
  for (unsigned k = 0; k < 3; k++) CHECK_EQ(hpar_node_remove_attribute(edit, p, &"abc"[k], 1), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 0);
  CHECK_EQ(hpar_node_clone(edit, p, true, &copy), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, copy, TEXT("a"), TEXT("1")), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_value(document, p, "a").length, 0);
  /* one that the tag lacks goes again; a clone keeps the only attribute as it was */
  open_page_with(&options, "<p a=1>");
  p = find("p", 0);
  CHECK_EQ(hpar_node_set_attribute(edit, p, TEXT("b"), TEXT("2")), HPAR_OK);
  CHECK_EQ(hpar_node_remove_attribute(edit, p, TEXT("b")), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 3, ranges), 1);
  CHECK_EQ(hpar_node_clone(edit, p, true, &copy), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, p, TEXT("a"), TEXT("new")), HPAR_OK);
  CHECK_EQ(hpar_node_attribute_value(document, copy, "a").length, 1);
}

/*** limits ***/

static void run_tasks(unsigned tasks, void (*task)(void *job, unsigned index), void *job, void *context) {
  (void)context;
  while (tasks--) task(job, tasks);
}

/* Each thread has 64 KB of address space, which do not count. */
static const hpar_options divided = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 8,
                                     .parallel = {.executor = HPAR_EXECUTOR_CALLER, .run = run_tasks}};

/* A text exceeds the limit of memory, also if that is the size of the document. */
static void limits_of_memory(const char *text, size_t length) {
  enum { PAGE = 4 << 10, MOST = 16 };
  for (size_t pages = 1; pages <= MOST; pages++) {
    const hpar_options options = {HPAR_OPTIONS_INIT, .limits.memory = pages * PAGE};
    hpar_document *small;
    hpar_node made;
    CHECK_EQ(hpar_document_create(&small), HPAR_OK);
    CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, small, NULL), HPAR_OK);
    CHECK_EQ(hpar_document_edit(small, &options, &edit, NULL), HPAR_OK);
    CHECK_EQ(hpar_node_create_text(edit, text, length, &made), HPAR_LIMIT_MEMORY);
    hpar_document_destroy(small);
  }
}

static void limits(void) {
  static char long_text[400000];
  memset(long_text, 'x', sizeof long_text);
  limits_of_memory(long_text, sizeof long_text);
  open_page_with(HPAR_PARALLEL ? &divided : NULL, page);
  hpar_node first = find("p", 0), made;
  hpar_options options = {HPAR_OPTIONS_INIT, .limits.memory = hpar_document_memory(document) + 200000};
  CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(edit, long_text, sizeof long_text, &made), HPAR_LIMIT_MEMORY);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, long_text, sizeof long_text), HPAR_LIMIT_MEMORY);
  CHECK(hpar_document_memory(document) <= options.limits.memory);
  unsigned texts = 0;
  hpar_status status;
  while ((status = hpar_node_create_text(edit, long_text, 1000, &made)) == HPAR_OK) texts++;
  CHECK_EQ(status, HPAR_LIMIT_MEMORY);
  CHECK(texts > 100 && texts < 200);
  CHECK(hpar_document_memory(document) <= options.limits.memory);
  CHECK_EQ(hpar_node_remove(edit, find("b", 0)), HPAR_OK);
  options.limits.memory += 600000;
  CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(edit, long_text, sizeof long_text, &made), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(edit, long_text, sizeof long_text, &made), HPAR_LIMIT_MEMORY);
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, long_text, sizeof long_text), HPAR_OK);

  open_page();
  first = find("p", 0);
  options = (hpar_options){HPAR_OPTIONS_INIT, .limits = {.depth = 4, .attributes = 3, .nodes = 10}};
  CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, TEXT("<i><i><i><i><i>")), HPAR_LIMIT_DEPTH);
  CHECK_EQ(hpar_node_set_attribute(edit, first, TEXT("a"), TEXT("1")), HPAR_OK);
  CHECK_EQ(hpar_node_set_attribute(edit, first, TEXT("b"), TEXT("1")), HPAR_LIMIT_ATTRIBUTES);
  CHECK_EQ(hpar_node_set_attribute(edit, first, TEXT("a"), TEXT("2")), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, TEXT("<i a b c d>")), HPAR_LIMIT_ATTRIBUTES);
  HTML("<!DOCTYPE html><html><head></head><body><p id=\"one\" class=\"a&amp;b\" a=\"2\">text<b>bold</b></p><!--c-->"
       "<p id=\"two\">more</p></body></html>");
  for (unsigned i = 0; (status = hpar_node_clone(edit, first, true, &made)) == HPAR_OK && i < 10; i++) {
  }
  CHECK_EQ(status, HPAR_LIMIT_NODES);

  /* What a call has made in vain does not count: before the document grows, and before a limit. */
  enum { MANY = 50000 };
  for (size_t i = 0; i < MANY; i++) memcpy(long_text + 4 * i, "<p>x", 4);
  open_page();
  first = find("p", 0);
  options = (hpar_options){HPAR_OPTIONS_INIT, .limits.nodes = 2 * MANY + 100};
  CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, find("b", 0), long_text, 4 * MANY), HPAR_OK);
  CHECK_EQ(hpar_node_clone(edit, find("b", 0), true, &made), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, long_text, 4 * MANY), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_node_create_text(edit, TEXT("x"), &made), HPAR_OK);

  options = (hpar_options){HPAR_OPTIONS_INIT, .limits.time_ns = 1};
  CHECK_EQ(hpar_document_edit(document, &options, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, first, long_text, sizeof long_text), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_create_text(edit, TEXT("x"), &made), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_clone(edit, first, true, &made), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_append(edit, find("body", 0), first), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_set_attribute(edit, first, TEXT("a"), TEXT("1")), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_remove_attribute(edit, first, TEXT("id")), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_set_text(edit, hpar_node_first_child(document, first), TEXT("x")), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_set_text(edit, find("p", 1), TEXT("x")), HPAR_LIMIT_TIME);
  CHECK_EQ(hpar_node_kind(document, hpar_node_first_child(document, first)), HPAR_NODE_TEXT);
}

/*** growth ***/

/* Fills documents with adjacent memory, so that documents must move. Strings and handles stay
 * valid. */
static void growth(void) {
  enum { DOCUMENTS = 20, TEXTS = 300, BYTES = 30000 };
  static char text[BYTES];
  hpar_document *all[DOCUMENTS];
  hpar_editor *edits[DOCUMENTS];
  hpar_node bodies[DOCUMENTS], made;
  hpar_string values[DOCUMENTS];
  hpar_document *kept = document;
  memset(text, 'y', sizeof text);
  for (unsigned i = 0; i < DOCUMENTS; i++) {
    CHECK_EQ(hpar_document_create(&all[i]), HPAR_OK);
    const hpar_options *options = HPAR_PARALLEL && i % 4 < 2 ? &divided : NULL;
    CHECK_EQ(hpar_parse(parser, options, page, sizeof page - 1, all[i], NULL), HPAR_OK);
    document = all[i];
    bodies[i] = find("body", 0);
    values[i] = hpar_node_attribute_value(document, find("p", 0), "class");
  }
  for (unsigned k = 0; k < TEXTS; k++)
    for (unsigned i = 0; i < DOCUMENTS; i += i % 3 + 1) {
      if (k == TEXTS / 2 && i % 2) hpar_document_finish_edit(all[i]);
      CHECK_EQ(hpar_document_edit(all[i], NULL, &edits[i], NULL), HPAR_OK);
      CHECK_EQ(hpar_node_create_text(edits[i], text, k % 5 ? 30 : sizeof text, &made), HPAR_OK);
      CHECK_EQ(hpar_node_insert_before(edits[i], bodies[i], made, hpar_node_first_child(all[i], bodies[i])), HPAR_OK);
    }
  for (unsigned i = 0; i < DOCUMENTS; i++) {
    size_t count = 0, bytes = 0;
    for (hpar_node n = hpar_node_first_child(all[i], bodies[i]); n; n = hpar_node_next(all[i], n), count++)
      bytes += hpar_node_data(all[i], n).length;
    CHECK(count == 3 || (count == 3 + TEXTS && bytes == 1 + 60 * sizeof text + 240 * 30));
    check_bytes_at(values[i].bytes, values[i].length, TEXT("a&b"), "an old string", __FILE__, __LINE__);
    document = all[i];
    CHECK_EQ(hpar_node_attribute_value(document, find("p", 0), "class").length, 3);
    if (i % 2) CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, all[i], NULL), HPAR_OK);
    hpar_document_destroy(all[i]);
  }
  document = kept;
}

/* A document without a parse, and one that is parsed, cleared and destroyed during an edit. */
static void lives(void) {
  hpar_document *kept = document;
  hpar_node made;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  for (unsigned round = 0; round < 3; round++) {
    CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
    CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, TEXT("x-own"), &made), HPAR_OK);
    CHECK_EQ(hpar_node_append(edit, hpar_document_root(document), made), HPAR_OK);
    CHECK_EQ(hpar_node_set_inner_html(edit, made, TEXT("<i x-y=z>1</i>")), HPAR_OK);
    HTML("<x-own><i x-y=\"z\">1</i></x-own>");
    if (round) hpar_document_finish_edit(document);
    hpar_document_clear(document);
    HTML("");
    if (round < 2) continue;
    open_page();
    CHECK_EQ(hpar_node_clone(edit, find("body", 0), true, &made), HPAR_OK);
    open_page();
    CHECK_EQ(hpar_node_clone(edit, find("body", 0), true, &made), HPAR_OK);
  }
  hpar_document_destroy(document);
  document = kept;
}

/*** failing allocations ***/

static hpar_status change_all(void) {
  hpar_node made, body = find("body", 0);
  hpar_status status = hpar_document_edit(document, NULL, &edit, NULL);
  if (!status) status = hpar_node_set_inner_html(edit, find("p", 0), TEXT("<x-1 y-1=z><template>q</template>"));
  if (!status) status = hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, TEXT("x-2"), &made);
  if (!status) status = hpar_node_set_attribute(edit, made, TEXT("y-2"), TEXT("v"));
  if (!status) status = hpar_node_append(edit, body, made);
  if (!status) status = hpar_node_clone(edit, body, true, &made);
  if (!status) status = hpar_node_append(edit, find("x-2", 0), made);
  if (!status) status = hpar_node_set_text(edit, find("x-2", 0), TEXT("new"));
  return status;
}

static void faults(void) {
  static const char *const before =
      "<!DOCTYPE html><html><head></head><body><p id=\"one\" class=\"a&amp;b\">text<b>bold"
      "</b></p><!--c--><p id=\"two\">more</p></body></html>";
  uint64_t left = 0;
  for (uint64_t n = 0; left == 0; n++) {
    CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL), HPAR_OK);
    hp_memory_fail_after(n);
    hpar_status status = change_all();
    left = hp_memory_left();
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    bool complete = find("x-1", 0) != 0;
    if (status && !complete) HTML(before);
    uint64_t nodes;
    CHECK(!compare_links(document, &nodes));
    CHECK_EQ(change_all(), HPAR_OK);
    CHECK(!compare_links(document, &nodes));
    if (n > 1000) break;
  }
  CHECK(left > 0);
}

/*** many documents ***/

static void many(void) {
  const size_t count = compare_full() ? 100000 : SANITIZED ? 1000 : 20000;
  hpar_document **all = calloc(count, sizeof *all), *kept = document;
  hpar_node made;
  bool fine = true;
  for (size_t i = 0; i < count && fine; i++) {
    fine = CHECK_EQ(hpar_document_create(&all[i]), HPAR_OK);
    document = all[i];
    fine = fine && CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL), HPAR_OK);
    fine = fine && CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
    fine = fine && CHECK_EQ(hpar_node_clone(edit, find("body", 0), true, &made), HPAR_OK);
    fine = fine && CHECK_EQ(hpar_node_append(edit, find("body", 0), made), HPAR_OK);
    if (i % 2) hpar_document_finish_edit(document);
  }
  for (size_t i = 0; i < count; i++) {
    document = all[i];
    if (fine && i % 97 == 0) CHECK(find("b", 1));
    hpar_document_destroy(all[i]);
  }
  free(all);
  document = kept;
}

int main(void) {
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  changes();
  texts();
  refusals();
  edit_again();
  owners();
  positions();
  limits();
  growth();
  lives();
  faults();
  many();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&out);
  return check_report();
}
