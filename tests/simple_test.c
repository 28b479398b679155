/* The calls for the simple case: they agree with longer ways, and explain their failures. */

#include "base/memory.h"
#include "check.h"

#include <hpar/hpar.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char page[] =
    "<!doctype html><html lang=en><title> My \n page </title><body class=b>"
    "<svg><title>drawing</title></svg><main><a href=1>one</a><a name=x>x</a><a href=2>two</a></main>";
enum { LENGTH = sizeof page - 1 };

static void check_text(const hpar_document *document, hpar_node node, const char *expected) {
  char text[64];
  size_t length = hpar_text_copy(document, node, NULL, text, sizeof text - 1);
  text[length < sizeof text - 1 ? length : sizeof text - 1] = 0;
  const char *found = text;
  CHECK_STRING(found, expected);
}

static void parts(void) {
  hpar_error error = {.status = HPAR_ERROR_IO, .text = "old"};
  hpar_document *document = hpar_parse_bytes(page, LENGTH, NULL, &error);
  if (!CHECK(document)) return;
  CHECK_EQ(error.status, HPAR_OK);
  CHECK_EQ(error.text[0], 0);
  hpar_node html = hpar_document_html(document), body = hpar_document_body(document);
  CHECK_EQ(hpar_node_parent(document, html), hpar_document_root(document));
  CHECK_EQ(hpar_node_attribute_value(document, html, "lang").length, 2);
  CHECK_EQ(hpar_node_parent(document, hpar_document_head(document)), html);
  CHECK_EQ(hpar_node_attribute_value(document, body, "class").length, 1);
  check_text(document, hpar_document_title(document), "My page");
  hpar_document_destroy(document);

  /* frameset counts as body; the title of a drawing is none; a fragment has no such parts. */
  document = hpar_parse_bytes("<frameset rows=1>", 17, NULL, NULL);
  CHECK_EQ(hpar_node_attribute_value(document, hpar_document_body(document), "rows").length, 1);
  CHECK_EQ(hpar_document_title(document), HPAR_NO_NODE);
  hpar_document_destroy(document);
  document = hpar_parse_bytes("<svg><title>x</title></svg><title>y</title>", 43, NULL, NULL);
  check_text(document, hpar_document_title(document), "y");
  hpar_document_destroy(document);
  hpar_options options = {HPAR_OPTIONS_INIT, .fragment = "div"};
  document = hpar_parse_bytes("<p>x", 4, &options, NULL);
  CHECK_EQ(hpar_document_html(document), HPAR_NO_NODE);
  CHECK_EQ(hpar_document_head(document) | hpar_document_body(document), HPAR_NO_NODE);
  hpar_document_destroy(document);
  CHECK_EQ(hpar_document_html(NULL) | hpar_document_title(NULL), HPAR_NO_NODE);
}

static hpar_status fail_by_own_status(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)editor, (void)script, (void)context;
  return (hpar_status)77;
}

static hpar_status destroy_document(hpar_editor *editor, const hpar_script *script, void *context) {
  (void)script;
  hpar_document_destroy(hpar_editor_document(editor));
  return *(hpar_status *)context;
}

static void failures(void) {
  hpar_error error;
  CHECK(!hpar_parse_bytes(NULL, 3, NULL, &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK(strstr(error.text, "bytes is NULL and length is 3"));
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "klingon"};
  CHECK(!hpar_parse_bytes(page, LENGTH, &options, &error));
  CHECK(strstr(error.text, "encoding is \"klingon\""));
  CHECK(!hpar_parse_bytes(page, LENGTH, &options, NULL));

  /* A limit leaves the tree so far. */
  hpar_options limited = {HPAR_OPTIONS_INIT, .limits.nodes = 6};
  hpar_document *document = hpar_parse_bytes(page, LENGTH, &limited, &error);
  CHECK(document && hpar_document_html(document));
  CHECK_EQ(error.status, HPAR_LIMIT_NODES);
  hpar_document_destroy(document);

  /* A status of the caller's is no limit. */
  hpar_options scripted = {HPAR_OPTIONS_INIT, .script.callback = fail_by_own_status};
  CHECK(!hpar_parse_bytes("<script>1</script>", 18, &scripted, &error));
  CHECK_EQ(error.status, (hpar_status)77);

  /* A callback destroys the document, and the parse goes on or not. */
  for (hpar_status status = HPAR_OK; status <= HPAR_ERROR_MEMORY; status++) {
    scripted.script = (hpar_script_options){.callback = destroy_document, .context = &status};
    CHECK(!hpar_parse_bytes("<script>1</script>", 18, &scripted, &error));
    CHECK_EQ(error.status, status ? status : HPAR_ERROR_ARGUMENT);
  }
}

/* The text of an error is that of the call which returned its status. */
static void texts_of_calls(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .limits.nodes = 6};
  hpar_stats unsized = {0};
  CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&document));
  CHECK_EQ(hpar_parser_error(parser)->item, SIZE_MAX);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, NULL, 5), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "bytes is NULL"));
  CHECK_EQ(hpar_parser_feed(parser, "<p>", 3), HPAR_OK);
  CHECK_STRING(hpar_parser_error(parser)->text, "");
  hpar_status status = HPAR_OK;
  for (int i = 0; i < 1000 && !status; i++) status = hpar_parser_feed(parser, page, LENGTH);
  CHECK_EQ(status, HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_parser_finish(parser, &unsized), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_stats"));
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_parser_error(parser)->status, HPAR_LIMIT_NODES);
  CHECK(!strstr(hpar_parser_error(parser)->text, "hpar_stats"));
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);

  hpar_rules *rules = NULL;
  hpar_rewriter *rewriter = NULL;
  hpar_rewrite_options limited = {HPAR_REWRITE_OPTIONS_INIT, .max_input = 10};
  hpar_rewrite_stats small = {0};
  CHECK(!hpar_rules_create(&rules) && !hpar_rules_compile(rules) && !hpar_rewriter_create(&rewriter));
  CHECK_EQ(hpar_rewriter_feed(rewriter, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_rewriter_error(rewriter)->text, "hpar_rewriter_begin"));
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &limited, NULL, NULL), HPAR_OK);
  CHECK_EQ(hpar_rewriter_feed(rewriter, page, LENGTH), HPAR_LIMIT_INPUT);
  char reason[256];
  snprintf(reason, sizeof reason, "%s", hpar_rewriter_error(rewriter)->text);
  CHECK_EQ(hpar_rewriter_finish(rewriter, &small), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_rewriter_error(rewriter)->text, "hpar_rewrite_stats"));
  CHECK_EQ(hpar_rewriter_feed(rewriter, NULL, 1), HPAR_ERROR_ARGUMENT);
  CHECK_STRING(hpar_rewriter_error(rewriter)->text, "bytes is NULL");
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_LIMIT_INPUT);
  CHECK_EQ(hpar_rewriter_error(rewriter)->status, HPAR_LIMIT_INPUT);
  CHECK_STRING(hpar_rewriter_error(rewriter)->text, reason);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
}

/* Parses with options of a program that is older or newer than the library. */
static void sizes(const char *path, size_t length) {
  hpar_error error;
  /* An older program lacks copy_input. The document keeps the bytes nevertheless. */
  hpar_options older = {.size = sizeof older.size};
  hpar_document *document = hpar_parse_file(path, &older, &error);
  if (CHECK(document)) {
    char *text = malloc(length);
    size_t size = hpar_text_copy(document, hpar_document_root(document), NULL, text, length);
    if (CHECK(size > length - 1000 && size <= length)) {
      size_t i = 1000;
      while (i < size && text[i] == 'x') i++;
      CHECK_EQ(i, size);
    }
    free(text);
  }
  hpar_document_destroy(document);

  /* A newer program has more fields: zero is accepted, and another value is named. */
  struct {
    hpar_options options;
    uint64_t later[512];
  } newer = {.options = {HPAR_OPTIONS_INIT}};
  newer.options.size = sizeof newer;
  document = hpar_parse_file(path, &newer.options, &error);
  CHECK(document);
  CHECK_EQ(error.status, HPAR_OK);
  hpar_document_destroy(document);
  newer.later[511] = 1;
  CHECK(!hpar_parse_file(path, &newer.options, &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  char place[40];
  snprintf(place, sizeof place, "value at byte %zu,", sizeof newer - sizeof *newer.later);
  CHECK(strstr(error.text, place));
}

static void files(void) {
  char path[] = "/tmp/hpar-simple-XXXXXX";
  int file = mkstemp(path);
  if (!CHECK(file >= 0)) return;
  /* Longer than the first buffer, so that reading grows it. */
  size_t length = 300000;
  char *bytes = malloc(length);
  memset(bytes, 'x', length);
  memcpy(bytes, page, LENGTH);
  CHECK_EQ(write(file, bytes, length), (ssize_t)length);
  close(file);
  hpar_error error;
  hpar_document *document = hpar_parse_file(path, NULL, &error), *same = hpar_parse_bytes(bytes, length, NULL, NULL);
  if (CHECK(document && same)) {
    size_t size = hpar_serialize_html_copy(same, hpar_document_html(same), HPAR_HTML_OUTER, NULL, 0);
    char *a = malloc(size), *b = malloc(size);
    CHECK_EQ(hpar_serialize_html_copy(document, hpar_document_html(document), HPAR_HTML_OUTER, a, size), size);
    CHECK_EQ(hpar_serialize_html_copy(same, hpar_document_html(same), HPAR_HTML_OUTER, b, size), size);
    CHECK(size > length - 100 && !memcmp(a, b, size));
    b[10] = '#';
    CHECK_EQ(hpar_serialize_html_copy(same, hpar_document_html(same), HPAR_HTML_OUTER, b, 10), size);
    CHECK(!memcmp(a, b, 10) && b[10] == '#');
    hpar_node head = hpar_document_head(same);
    CHECK_EQ(hpar_serialize_html_copy(same, head, 0, NULL, 0) + strlen("<head></head>"),
             hpar_serialize_html_copy(same, head, HPAR_HTML_OUTER, NULL, 0));
    CHECK_EQ(hpar_serialize_html_copy(same, head, HPAR_HTML_OUTER | 4, NULL, 0), 0);
    CHECK_EQ(HPAR_HTML_SCRIPTING, true); /* the parameter was `bool scripting` in 0.2 */
    free(a);
    free(b);
  }
  hpar_document_destroy(document);
  hpar_document_destroy(same);
  hpar_options wrong = {.size = 3};
  error.offset = 7;
  CHECK(!hpar_parse_file(path, &wrong, &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK_EQ(error.offset, 0);
  sizes(path, length);
  unlink(path);
  CHECK(!hpar_parse_file(path, NULL, &error));
  CHECK_EQ(error.status, HPAR_ERROR_IO);
  CHECK(strstr(error.text, path) && strstr(error.text, "No such file"));
  error.offset = 7;
  CHECK(!hpar_parse_file("/tmp", NULL, &error));
  CHECK_EQ(error.status, HPAR_ERROR_IO);
  CHECK_EQ(error.offset, 0);
  error.offset = 7;
  CHECK(!hpar_parse_file(NULL, NULL, &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK_EQ(error.offset, 0);
  CHECK_STRING(error.text, "path is NULL");
  free(bytes);
}

static void selections(void) {
  hpar_document *document = hpar_parse_bytes(page, LENGTH, NULL, NULL);
  hpar_node root = hpar_document_root(document);
  hpar_error error;
  hpar_node_list *links = hpar_select_all(document, root, "a[href]", &error);
  if (CHECK(links)) {
    CHECK_EQ(links->count, 2);
    CHECK_EQ(links->nodes[0], hpar_select_first(document, root, "a[href], a", &error));
    CHECK_EQ(error.status, HPAR_OK);
    check_text(document, links->nodes[1], "two");
  }
  hpar_list_destroy(links);
  char many[40 * 8 + 1] = "";
  for (int k = 0; k < 40; k++) strcat(many, "<i></i>\n"); /* more than the first room */
  hpar_document *italics = hpar_parse_bytes(many, strlen(many), NULL, NULL);
  links = hpar_select_all(italics, hpar_document_root(italics), "i", NULL);
  CHECK(links && links->count == 40 && links->nodes[39] != links->nodes[38]);
  hpar_list_destroy(links);
  hpar_document_destroy(italics);
  links = hpar_select_all(document, root, "table", NULL);
  CHECK(links && !links->count);
  hpar_list_destroy(links);
  CHECK_EQ(hpar_select_first(document, root, "table", &error), HPAR_NO_NODE);
  CHECK_EQ(error.status, HPAR_OK);
  CHECK_STRING(error.text, "");
  CHECK_EQ(hpar_select_first(document, root, "a:nope", &error), HPAR_NO_NODE);
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK(error.offset == 1 || error.offset == 2);
  CHECK(strstr(error.text, "a:nope") != NULL);
  CHECK(!hpar_select_all(document, root, NULL, &error));
  CHECK(!hpar_select_all(NULL, root, "a", &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK(strstr(error.text, "document is NULL") != NULL);
  /* an allocation fails, also that of the list */
  bool is_complete = false;
  for (uint64_t n = 0; n < 1000 && !is_complete; n++) {
    hp_memory_fail_once(n);
    links = hpar_select_all(document, root, "a[href]", &error);
    is_complete = hp_memory_left() != UINT64_MAX;
    hp_memory_fail_after(UINT64_MAX);
    CHECK(links ? links->count == 2 : !is_complete);
    CHECK_EQ(error.status, links ? HPAR_OK : HPAR_ERROR_MEMORY);
    CHECK_STRING(error.text, links ? "" : hpar_status_text(HPAR_ERROR_MEMORY));
    hpar_list_destroy(links);
  }
  CHECK(is_complete);
  hpar_list_destroy(NULL);
  hpar_document_destroy(document);
}

static bool is_utf8(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    int more = *at < 0x80 ? 0 : *at >= 0xC2 && *at < 0xE0 ? 1 : *at >= 0xE0 && *at < 0xF0 ? 2 : *at < 0xF5 ? 3 : -1;
    if (more < 0 || (*at >= 0x80 && *at < 0xC2)) return false;
    for (at++; more > 0; more--, at++)
      if ((*at & 0xC0) != 0x80) return false;
  }
  return true;
}

static void check_utf8(const hpar_error *error) {
  CHECK(error->status == HPAR_ERROR_ARGUMENT || error->status == HPAR_ERROR_IO);
  CHECK(*error->text && strlen(error->text) < sizeof error->text);
  if (!CHECK(is_utf8(error->text))) printf("  %s\n", error->text);
}

/* Texts of errors are UTF-8 wherever the array cuts a name, and whatever bytes it has. */
static void error_texts(void) {
  static const char *const parts[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                      "\xff",     "\xe2\x82",     "\xf0\x9f\x98z"};
  hpar_document *document = hpar_parse_bytes(page, LENGTH, NULL, NULL);
  hpar_parser *parser;
  hpar_rules *rules;
  if (!CHECK(!hpar_parser_create(&parser)) || !CHECK(!hpar_rules_create(&rules))) return;
  for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
    for (size_t pad = 0; pad < 8; pad++) {
      char name[420];
      size_t length = 0;
      while (length < pad) name[length++] = 'a';
      while (length < 400) length += (size_t)snprintf(name + length, sizeof name - length, "%s", parts[part]);
      strcpy(name + length, "$");
      hpar_error error;
      CHECK_EQ(hpar_select_first(document, hpar_document_root(document), name, &error), HPAR_NO_NODE);
      check_utf8(&error);
      CHECK(!hpar_parse_file(name, NULL, &error));
      check_utf8(&error);
      hpar_options options = {HPAR_OPTIONS_INIT, .encoding = name};
      CHECK(!hpar_parse_bytes("", 0, &options, &error));
      check_utf8(&error);
      CHECK_EQ(hpar_parse(parser, &options, "", 0, document, NULL), HPAR_ERROR_ARGUMENT);
      check_utf8(hpar_parser_error(parser));
      hpar_editor *editor;
      CHECK_EQ(hpar_document_edit(document, &options, &editor, &error), HPAR_ERROR_ARGUMENT);
      check_utf8(&error);
      CHECK_EQ(error.item, SIZE_MAX);
      CHECK_EQ(hpar_parse(parser, NULL, page, LENGTH, document, NULL), HPAR_OK);
      CHECK_EQ(hpar_parser_error(parser)->status, HPAR_OK);
      CHECK_EQ(*hpar_parser_error(parser)->text, 0);
      hpar_rule rule = {HPAR_RULE_INIT, .selector = name};
      CHECK_EQ(hpar_rules_add(rules, &rule, &error), HPAR_ERROR_ARGUMENT);
      check_utf8(&error);
    }
  hpar_rules_destroy(rules);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
}

static void check_position(hpar_position position, uint64_t line, uint64_t column) {
  CHECK_EQ(position.line, line);
  CHECK_EQ(position.column, column);
}

static void places(void) {
  static const char bytes[] = "\xef\xbb\xbf"
                              "ab\r\nc\xc3\xa9"
                              "d\re\n\nf";
  static const uint64_t offsets[] = {0, 3, 6, 7, 10, 12, 13, 14, 99, 10};
  hpar_position at[10];
  hpar_positions(bytes, sizeof bytes - 1, offsets, 10, at);
  check_position(at[0], 1, 1); /* the byte order mark */
  check_position(at[1], 1, 4);
  check_position(at[2], 1, 7); /* LF of CR LF */
  check_position(at[3], 2, 1);
  check_position(at[4], 2, 4); /* after two bytes of one character */
  check_position(at[5], 3, 1);
  check_position(at[6], 3, 2);
  check_position(at[7], 4, 1);
  check_position(at[8], 5, 2); /* the end */
  check_position(at[9], 2, 4); /* back */
  at[1].line = 99;
  hpar_positions(bytes, sizeof bytes - 1, offsets, 1, at);
  CHECK_EQ(at[1].line, 99); /* not written */
  hpar_positions(NULL, 0, offsets + 1, 1, at + 9);
  check_position(at[9], 1, 1);
  hpar_positions(NULL, 5, offsets, 1, NULL);
}

/* Compares a list with the calls of a callback. */
typedef struct reported {
  const hpar_link_list *links;
  const hpar_resource_list *resources;
  size_t count;
} reported;

static bool same(hpar_string a, hpar_string b) {
  return a.length == b.length && !a.bytes == !b.bytes && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

static hpar_status check_link(const hpar_link *link, void *context) {
  reported *r = context;
  if (!CHECK(r->count < r->links->count)) return HPAR_STOP;
  const hpar_link *listed = &r->links->links[r->count++];
  CHECK(same(listed->url, link->url) && same(listed->value, link->value) && same(listed->attribute, link->attribute));
  return CHECK_EQ(listed->element, link->element) ? HPAR_OK : HPAR_STOP;
}

static hpar_status check_resource(const hpar_resource *resource, void *context) {
  reported *r = context;
  if (!CHECK(r->count < r->resources->count)) return HPAR_STOP;
  const hpar_resource *listed = &r->resources->resources[r->count++];
  CHECK(same(listed->url, resource->url) && same(listed->content, resource->content));
  CHECK_EQ(listed->kind, resource->kind);
  return CHECK_EQ(listed->element, resource->element) ? HPAR_OK : HPAR_STOP;
}

static void links_and_resources(void) {
  static const char linked[] =
      "<base href=http://a/b/><style>@import \"\\61.css\" print; @import 'c.css';</style><a href=x>1</a>"
      "<a href='http://['>2</a><img src=y srcset='z 2x, http://q/'><script src=s></script><a href=''>3</a>"
      "<script type=module>import '.\\/\\x61bcdefgh.js'</script>";
  hpar_document *document = hpar_parse_bytes(linked, sizeof linked - 1, NULL, NULL);
  hpar_node root = hpar_document_root(document);
  hpar_error error;
  reported r = {.links = hpar_links_all(document, root, NULL, &error)};
  CHECK_EQ(error.status, HPAR_OK);
  if (CHECK(r.links)) {
    CHECK_EQ(hpar_links(document, root, NULL, check_link, &r), HPAR_OK);
    CHECK_EQ(r.count, r.links->count);
    CHECK(r.count >= 7);
    hpar_list_destroy((void *)(uintptr_t)r.links);
  }
  r = (reported){.resources = hpar_resources_all(document, root, &error)};
  if (CHECK(r.resources)) {
    CHECK_EQ(hpar_resources(document, root, check_resource, &r), HPAR_OK);
    CHECK_EQ(r.count, r.resources->count);
    CHECK(r.count >= 5);
    CHECK(same(r.resources->resources[1].url, (hpar_string){"a.css", 5}));
    const hpar_resource *module = NULL;
    for (size_t i = 0; i < r.resources->count; i++)
      if (r.resources->resources[i].kind == HPAR_RESOURCE_MODULE_IMPORT) module = &r.resources->resources[i];
    CHECK(module && same(module->url, (hpar_string){"./abcdefgh.js", 13}));
    hpar_list_destroy((void *)(uintptr_t)r.resources);
  }
  /* the first URL of the list is decoded, and longer than its first room */
  char decoded[400] = "<style>@import '\\61";
  memset(decoded + strlen(decoded), 'g', 300);
  strcat(decoded, "'</style>");
  hpar_document *other = hpar_parse_bytes(decoded, strlen(decoded), NULL, NULL);
  hpar_resource_list *all = hpar_resources_all(other, hpar_document_root(other), NULL);
  CHECK(all && all->count == 1 && all->resources[0].url.length == 301 &&
        !memcmp(all->resources[0].url.bytes, "agg", 3));
  hpar_list_destroy(all);
  hpar_document_destroy(other);
  other = hpar_parse_bytes("<img src=a>", 11, NULL, NULL); /* the list needs no text of its own */
  all = hpar_resources_all(other, hpar_document_root(other), NULL);
  CHECK(all && all->count == 1 && same(all->resources[0].url, (hpar_string){"a", 1}));
  hpar_list_destroy(all);
  hpar_document_destroy(other);
  static const char two[] = "<style>@import 'a\\62 c';@import 'd\\65 f'</style>";
  other = hpar_parse_bytes(two, strlen(two), NULL, NULL);
  all = hpar_resources_all(other, hpar_document_root(other), NULL);
  CHECK(all && all->count == 2 && same(all->resources[0].url, (hpar_string){"abc", 3}) &&
        same(all->resources[1].url, (hpar_string){"def", 3}));
  hpar_list_destroy(all);
  hpar_document_destroy(other);
  hpar_link_list *none = hpar_links_all(document, HPAR_NO_NODE, NULL, NULL);
  CHECK(none && !none->count);
  hpar_list_destroy(none);
  hpar_link_options wrong = {HPAR_LINK_OPTIONS_INIT, .document_url = "x"};
  CHECK(!hpar_links_all(document, root, &wrong, &error));
  CHECK_EQ(error.status, HPAR_ERROR_ARGUMENT);
  CHECK(strstr(error.text, "document_url") != NULL);
  CHECK(!hpar_links_all(NULL, root, NULL, &error) && strstr(error.text, "document is NULL"));
  CHECK(!hpar_resources_all(NULL, root, &error) && strstr(error.text, "document is NULL"));
  hpar_document_destroy(document);
}

int main(void) {
  parts();
  failures();
  texts_of_calls();
  files();
  selections();
  error_texts();
  places();
  links_and_resources();
  return check_report();
}
