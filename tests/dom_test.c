/* Checks the public view of parsed documents: kinds, names, links, walks, attributes, template
 * contents, source offsets, quirks, both serializations, and reused documents and parsers. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer out;

static hpar_node parse_with(const hpar_options *options, const char *text) {
  CHECK_EQ(hpar_parse(parser, options, text, strlen(text), document, NULL), HPAR_OK);
  return hpar_document_root(document);
}

static hpar_node parse(const char *text) { return parse_with(NULL, text); }

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static hpar_status refuse(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length;
  ++*(int *)context;
  return HPAR_ERROR_IO;
}

/* Returns the first element of this name below `top`, in tree order. */
static hpar_node find(hpar_node top, const char *name) {
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    hpar_string at = hpar_node_name(document, node);
    if (hpar_node_kind(document, node) == HPAR_NODE_ELEMENT && at.length == strlen(name) &&
        !memcmp(at.bytes, name, at.length))
      return node;
  }
  return HPAR_NO_NODE;
}

#define CHECK_IS(string, text)                                                                                   \
  do {                                                                                                           \
    hpar_string got_ = (string);                                                                                 \
    check_bytes_at(got_.bytes, got_.length, (text), sizeof(text) - 1, #string " is " #text, __FILE__, __LINE__); \
  } while (0)

static void kinds(void) {
  hpar_node root = parse("<!--one--><!doctype HTML><?do it now?><p class=a>text</p>");
  CHECK_EQ(hpar_node_kind(document, root), HPAR_NODE_DOCUMENT);
  CHECK_EQ(hpar_node_kind(document, HPAR_NO_NODE), HPAR_NODE_NONE);
  hpar_node comment = hpar_node_first_child(document, root), doctype = hpar_node_next(document, comment);
  hpar_node instruction = hpar_node_next(document, doctype), html = hpar_node_next(document, instruction);
  CHECK_EQ(hpar_node_kind(document, comment), HPAR_NODE_COMMENT);
  CHECK_IS(hpar_node_data(document, comment), "one");
  CHECK_EQ(hpar_node_kind(document, doctype), HPAR_NODE_DOCTYPE);
  CHECK_IS(hpar_node_name(document, doctype), "html");
  CHECK_EQ(hpar_node_public_id(document, doctype).length, 0);
  CHECK_EQ(hpar_node_system_id(document, doctype).length, 0);
  CHECK_EQ(hpar_node_kind(document, instruction), HPAR_NODE_PROCESSING_INSTRUCTION);
  CHECK_IS(hpar_node_name(document, instruction), "do");
  CHECK_IS(hpar_node_data(document, instruction), "it now");
  CHECK_EQ(hpar_node_kind(document, html), HPAR_NODE_ELEMENT);
  CHECK_IS(hpar_node_name(document, html), "html");
  CHECK_EQ(hpar_node_namespace(document, html), HPAR_NAMESPACE_HTML);
  CHECK_EQ(hpar_node_next(document, html), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_last_child(document, root), html);
  hpar_node text = hpar_node_first_child(document, find(root, "p"));
  CHECK_EQ(hpar_node_kind(document, text), HPAR_NODE_TEXT);
  CHECK_IS(hpar_node_data(document, text), "text");
  CHECK_EQ(hpar_node_name(document, text).length, 0);
  CHECK_EQ(hpar_node_first_child(document, text), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_namespace(document, text), HPAR_NAMESPACE_NONE);
  CHECK_EQ(hpar_node_data(document, html).length, 0);

  root = parse("<!DOCTYPE html PUBLIC \"pub\" 'sys'>");
  doctype = hpar_node_first_child(document, root);
  CHECK_IS(hpar_node_public_id(document, doctype), "pub");
  CHECK_IS(hpar_node_system_id(document, doctype), "sys");
}

static void links(void) {
  hpar_node root = parse("<ul><li>a<li>b<li>c</ul>");
  hpar_node html = hpar_node_first_child(document, root), list = find(root, "ul");
  hpar_node first = hpar_node_first_child(document, list), second = hpar_node_next(document, first);
  hpar_node third = hpar_node_next(document, second);
  CHECK_EQ(hpar_node_parent(document, root), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_parent(document, html), root);
  CHECK_EQ(hpar_node_previous(document, html), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_parent(document, hpar_node_parent(document, list)), html);
  CHECK_EQ(hpar_node_previous(document, second), first);
  CHECK_EQ(hpar_node_previous(document, first), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_next(document, third), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_last_child(document, list), third);
  CHECK_EQ(hpar_node_parent(document, second), list);
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, third)), "c");
  uint64_t nodes;
  CHECK(compare_links(document, &nodes) == NULL);
  CHECK_EQ(nodes, 11);

  CHECK_EQ(hpar_node_parent(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_first_child(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_last_child(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_next(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_previous(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_template_contents(document, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_attribute_count(document, HPAR_NO_NODE), 0);
  CHECK_EQ(hpar_node_data(document, HPAR_NO_NODE).length, 0);
}

static void walking(void) {
  hpar_node root = parse("<div id=top><p>1<b>2</b></p><template><i>3</i></template><p>4</p></div>after");
  static const char *const order[] = {"div", "p", "#", "b", "#", "template", "p", "#"};
  hpar_node top = find(root, "div"), node = top;
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++, node = hpar_node_walk(document, top, node)) {
    hpar_string name = hpar_node_name(document, node);
    if (order[i][0] == '#')
      CHECK_EQ(hpar_node_kind(document, node), HPAR_NODE_TEXT);
    else
      CHECK_BYTES(name.bytes, name.length, order[i], strlen(order[i]));
  }
  CHECK_EQ(node, HPAR_NO_NODE);
  hpar_node text = hpar_node_first_child(document, find(top, "b"));
  CHECK_EQ(hpar_node_walk(document, text, text), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_walk(document, text, hpar_node_next(document, top)), HPAR_NO_NODE);
  size_t count = 0;
  for (node = root; node; node = hpar_node_walk(document, root, node)) count++;
  CHECK_EQ(count, 1 + 3 + 8 + 1);

  /* deeper than any stack allows */
  enum { DEPTH = 300000 };
  buffer deep = {0};
  for (int i = 0; i < DEPTH; i++) buffer_text(&deep, "<div>");
  CHECK_EQ(hpar_parse(parser, NULL, deep.bytes, deep.length, document, NULL), HPAR_OK);
  root = hpar_document_root(document);
  count = 0;
  for (node = root; node; node = hpar_node_walk(document, root, node)) count++;
  CHECK_EQ(count, DEPTH + 4);
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, root, 0, collect, &out), HPAR_OK);
  CHECK_EQ(out.length, DEPTH * 11 + strlen("<html><head></head><body></body></html>"));
  buffer_free(&deep);
}

static void attributes(void) {
  hpar_node root = parse("<p b=1 A='two' b=3 c d=&lt;&amp;e><svg XLINK:href=x viewbox=0 xml:lang=y xmlns=z other:w=v>");
  hpar_node p = find(root, "p"), svg = find(root, "svg");
  hpar_attribute at;
  CHECK_EQ(hpar_node_attribute_count(document, p), 4);
  CHECK(hpar_node_attribute_at(document, p, 0, &at));
  CHECK_IS(at.local_name, "b");
  CHECK_IS(at.value, "1");
  CHECK_EQ(at.prefix.length, 0);
  CHECK_EQ(at.ns, HPAR_NAMESPACE_NONE);
  CHECK(hpar_node_attribute_at(document, p, 1, &at));
  CHECK_IS(at.local_name, "a");
  CHECK_IS(at.value, "two");
  CHECK(hpar_node_attribute_at(document, p, 3, &at));
  CHECK_IS(at.value, "<&e");
  at.ns = HPAR_NAMESPACE_XML;
  CHECK(!hpar_node_attribute_at(document, p, 4, &at));
  CHECK_EQ(at.ns, HPAR_NAMESPACE_XML);
  CHECK_IS(hpar_node_attribute_value(document, p, "a"), "two");
  CHECK_IS(hpar_node_attribute_value(document, p, "c"), "");
  CHECK(hpar_node_attribute_value(document, p, "c").bytes != NULL);
  CHECK(hpar_node_attribute_value(document, p, "e").bytes == NULL);
  CHECK(hpar_node_attribute_value(document, p, "nosuchattributeanywhere").bytes == NULL);
  CHECK(hpar_node_attribute_value(document, root, "a").bytes == NULL);

  CHECK_EQ(hpar_node_namespace(document, svg), HPAR_NAMESPACE_SVG);
  CHECK_EQ(hpar_node_attribute_count(document, svg), 5);
  CHECK(hpar_node_attribute_at(document, svg, 0, &at));
  CHECK_EQ(at.ns, HPAR_NAMESPACE_XLINK);
  CHECK_IS(at.prefix, "xlink");
  CHECK_IS(at.local_name, "href");
  CHECK(hpar_node_attribute_at(document, svg, 1, &at));
  CHECK_IS(at.local_name, "viewBox");
  CHECK(hpar_node_attribute_at(document, svg, 2, &at));
  CHECK_EQ(at.ns, HPAR_NAMESPACE_XML);
  CHECK_IS(at.prefix, "xml");
  CHECK(hpar_node_attribute_at(document, svg, 3, &at));
  CHECK_EQ(at.ns, HPAR_NAMESPACE_XMLNS);
  CHECK_EQ(at.prefix.length, 0);
  CHECK_IS(at.local_name, "xmlns");
  CHECK(hpar_node_attribute_at(document, svg, 4, &at));
  CHECK_EQ(at.ns, HPAR_NAMESPACE_NONE);
  CHECK_IS(at.local_name, "other:w");
  CHECK(hpar_node_attribute_value(document, svg, "href").bytes == NULL);
  CHECK_IS(hpar_node_attribute_value(document, svg, "viewBox"), "0");

  root = parse("<html a=1><body b=2><html a=3 c=4><body b=5 d=6>");
  CHECK_IS(hpar_node_attribute_value(document, find(root, "html"), "a"), "1");
  CHECK_IS(hpar_node_attribute_value(document, find(root, "html"), "c"), "4");
  CHECK_IS(hpar_node_attribute_value(document, find(root, "body"), "b"), "2");
  CHECK_IS(hpar_node_attribute_value(document, find(root, "body"), "d"), "6");
}

static void templates(void) {
  hpar_node root = parse("<template><td>a</td><template>b</template></template><svg><template>c</template></svg><p>d");
  hpar_node template = find(root, "template"), contents = hpar_node_template_contents(document, template);
  CHECK_EQ(hpar_node_kind(document, contents), HPAR_NODE_FRAGMENT);
  CHECK_EQ(hpar_node_parent(document, contents), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_first_child(document, template), HPAR_NO_NODE);
  hpar_node cell = hpar_node_first_child(document, contents);
  CHECK_IS(hpar_node_name(document, cell), "td");
  CHECK_EQ(hpar_node_parent(document, cell), contents);
  hpar_node inner = hpar_node_next(document, cell);
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, hpar_node_template_contents(document, inner))),
           "b");
  CHECK_EQ(hpar_node_walk(document, template, template), HPAR_NO_NODE);
  hpar_node foreign = find(find(root, "svg"), "template");
  CHECK_EQ(hpar_node_template_contents(document, foreign), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_kind(document, hpar_node_first_child(document, foreign)), HPAR_NODE_TEXT);
  CHECK_EQ(hpar_node_template_contents(document, find(root, "p")), HPAR_NO_NODE);
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, template, 0, collect, &out), HPAR_OK);
  CHECK_STRING(out.bytes, "<td>a</td><template>b</template>");
  /* White space after a table section reconstructs nothing. */
  root = parse("<template><tbody></tbody><p><b></p> <tbody></template>");
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, find(root, "template"), 0, collect, &out), HPAR_OK);
  CHECK_STRING(out.bytes, "<tbody></tbody><p><b></b></p> <tbody></tbody>");
}

static void quirks(void) {
  parse("<p>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_QUIRKS);
  parse("<!doctype html><p>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_NO_QUIRKS);
  parse("<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Transitional//EN' 'x'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_LIMITED_QUIRKS);
  parse("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_QUIRKS);
  parse("<!DOCTYPE html PUBLIC '-//AS//DTD HTML 3.0 asWedit + extensions//'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_QUIRKS);
  parse("<!DOCTYPE html PUBLIC '-//AS//DTD HTML 3.0 asWedit + extensions/'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_NO_QUIRKS);
  parse("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN' 'x'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_LIMITED_QUIRKS);
  parse("<!doctype html system 'about:legacy-compat'>");
  CHECK_EQ(hpar_document_quirks(document), HPAR_NO_QUIRKS);
  parse("");
  CHECK_EQ(hpar_document_quirks(document), HPAR_QUIRKS);
}

static void offsets(void) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.source_offsets = true;
  static const char text[] = "\xEF\xBB\xBF<p a='>'>x\xFFy<b>z</p>w<i\n>";
  hpar_node root = parse_with(&options, text), p = find(root, "p"), b = find(p, "b");
  uint64_t start = 99, end = 99;
  CHECK(!hpar_node_start_tag_range(document, find(root, "body"), &start, &end));
  CHECK(!hpar_node_start_tag_range(document, root, &start, &end));
  CHECK(!hpar_node_start_tag_range(document, HPAR_NO_NODE, &start, &end));
  CHECK_EQ(start, 99);
  CHECK(hpar_node_start_tag_range(document, p, &start, &end));
  CHECK_EQ(start, 3);
  CHECK_EQ(end, 12);
  CHECK(hpar_node_start_tag_range(document, b, &start, &end));
  CHECK_EQ(start, 15);
  CHECK_EQ(end, 18);
  CHECK(hpar_node_start_tag_range(document, find(root, "i"), &start, &end));
  CHECK_EQ(start, 24);
  CHECK_EQ(end, 28);

  root = parse(text);
  CHECK(!hpar_node_start_tag_range(document, find(root, "p"), &start, &end));
}

static void text(void) {
  hpar_node root = parse("\xEF\xBB\xBF"
                         "a&amp;b\r\nc\rd<p>\xFF\xE2\x82</p>");
  hpar_node body = find(root, "body");
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, body)), "a&b\nc\nd");
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, find(body, "p"))), "\xEF\xBF\xBD\xEF\xBF\xBD");
  root = parse("<table>a<tr>b</table>c");
  body = find(root, "body");
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, body)), "ab");
  CHECK_IS(hpar_node_data(document, hpar_node_last_child(document, body)), "c");
  root = parse("x</y>z");
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, find(root, "body"))), "xz");
}

static void fragments(void) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.fragment = "tr";
  hpar_node root = parse_with(&options, "<td>a<td>b");
  CHECK_EQ(hpar_node_kind(document, root), HPAR_NODE_DOCUMENT);
  CHECK_IS(hpar_node_name(document, hpar_node_first_child(document, root)), "td");
  CHECK_EQ(hpar_node_parent(document, hpar_node_first_child(document, root)), root);
  options.fragment = "svg path";
  root = parse_with(&options, "<g/>");
  CHECK_EQ(hpar_node_namespace(document, hpar_node_first_child(document, root)), HPAR_NAMESPACE_SVG);
  root = parse_with(&options, "<html>a</html>"); /* an element of SVG with this name */
  CHECK_IS(hpar_node_name(document, hpar_node_first_child(document, root)), "html");
  CHECK_EQ(hpar_document_html(document), HPAR_NO_NODE);
  options.fragment = "math mi";
  root = parse_with(&options, "<mglyph/><b>");
  CHECK_EQ(hpar_node_namespace(document, hpar_node_first_child(document, root)), HPAR_NAMESPACE_MATHML);
  CHECK_EQ(hpar_node_namespace(document, hpar_node_last_child(document, root)), HPAR_NAMESPACE_HTML);
}

static void serialising(void) {
  hpar_node root =
      parse("<!doctype html><p title='a\"&\xC2\xA0<'>&lt;x&gt; &amp;\xC2\xA0<br><script>a<b</script><!--c-->");
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, root, 0, collect, &out), HPAR_OK);
  CHECK_STRING(out.bytes, "<!DOCTYPE html><html><head></head><body><p title=\"a&quot;&amp;&nbsp;&lt;\">&lt;x&gt; &amp;"
                          "&nbsp;<br><script>a<b</script><!--c--></p></body></html>");
  int calls = 0;
  CHECK_EQ(hpar_serialize_html(document, root, 0, refuse, &calls), HPAR_ERROR_IO);
  CHECK_EQ(calls, 1);
  CHECK_EQ(hpar_serialize_tree(document, root, refuse, &calls), HPAR_ERROR_IO);
  CHECK_EQ(calls, 2);
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_tree(document, find(root, "p"), collect, &out), HPAR_OK);
  CHECK_STRING(out.bytes, "| \"<x> &\xC2\xA0\"\n| <br>\n| <script>\n|   \"a<b\"\n| <!-- c -->\n");

  /* A program in Python may change the bytes of a document. */
  char page[] = "<p>ab";
  CHECK_EQ(hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL), HPAR_OK);
  page[sizeof page - 2] = (char)0xC2; /* the first byte of U+00A0 */
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, hpar_document_body(document), 0, collect, &out), HPAR_OK);
  CHECK_STRING(out.bytes, "<p>a\xC2</p>");
}

/* Checks that a document has the correct tree after any number of other parses, and keeps it after
 * its parser is destroyed. */
static void reuse(void) {
  static const char *const pages[] = {"<p>a<b>c", "<table><td>x", "", "<svg><g/>", "<select><option>y"};
  enum { PAGES = sizeof pages / sizeof pages[0] };
  buffer first[PAGES] = {{0}};
  for (size_t round = 0; round < 40; round++) {
    size_t i = round * 3 % PAGES;
    parse(pages[i]);
    compare_dump(document, &out);
    if (!first[i].length) buffer_add(&first[i], out.bytes, out.length);
    CHECK_BYTES(out.bytes, out.length, first[i].bytes, first[i].length);
  }
  for (size_t i = 0; i < PAGES; i++) buffer_free(&first[i]);

  /* memory does not grow between parses of the same page */
  buffer page = {0};
  for (int i = 0; i < 5000; i++) buffer_format(&page, "<p class=c%d>text %d<x-%d></x-%d>", i, i, i % 50, i % 50);
  size_t memory = 0;
  hpar_options sequential = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(hpar_parse(parser, &sequential, page.bytes, page.length, document, NULL), HPAR_OK);
    if (i == 1) memory = hpar_document_memory(document);
  }
  CHECK(memory > 0);
  CHECK(hpar_document_memory(document) <= memory + memory / 8);
  /* threads add only a little memory, and a small page uses little memory */
  hpar_options threads = {HPAR_OPTIONS_INIT, .threads = 8};
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(hpar_parse(parser, &threads, page.bytes, page.length, document, NULL), HPAR_OK);
    CHECK(hpar_document_memory(document) <= memory + memory / 4);
  }
  parse("<p>a");
  CHECK(hpar_document_memory(document) < 8 << 10);
  CHECK_EQ(hpar_document_memory(document) % 8, 0); /* all objects are aligned */

  hpar_parser *other = NULL;
  CHECK_EQ(hpar_parser_create(&other), HPAR_OK);
  CHECK_EQ(hpar_parse(other, NULL, "<p>left behind", 14, document, NULL), HPAR_OK);
  hpar_parser_destroy(other);
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, find(hpar_document_root(document), "p"))),
           "left behind");

  hpar_options options = {HPAR_OPTIONS_INIT};
  options.copy_input = true;
  char bytes[] = "<p id=here>kept&amp;<x-name>";
  CHECK_EQ(hpar_parse(parser, &options, bytes, strlen(bytes), document, NULL), HPAR_OK);
  memset(bytes, '-', sizeof bytes);
  CHECK_IS(hpar_node_data(document, hpar_node_first_child(document, find(hpar_document_root(document), "p"))), "kept&");
  CHECK_IS(hpar_node_attribute_value(document, find(hpar_document_root(document), "p"), "id"), "here");
  CHECK(find(hpar_document_root(document), "x-name") != HPAR_NO_NODE);
  buffer_free(&page);
}

static void a_new_document_is_empty(void) {
  hpar_document *fresh = NULL;
  if (!CHECK_EQ(hpar_document_create(&fresh), HPAR_OK)) return;
  hpar_node root = hpar_document_root(fresh);
  CHECK_EQ(hpar_node_kind(fresh, root), HPAR_NODE_DOCUMENT);
  CHECK_EQ(hpar_node_first_child(fresh, root), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_walk(fresh, root, root), HPAR_NO_NODE);
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_tree(fresh, root, collect, &out), HPAR_OK);
  CHECK_EQ(out.length, 0);
  hpar_document_destroy(fresh);
}

static void clearing(void) {
  hpar_options copying = {HPAR_OPTIONS_INIT, .copy_input = true};
  for (int round = 0; round < 4; round++) {
    char *bytes = strdup("<!doctype html><p id='a&amp;b'>text");
    const hpar_options *options = round % 2 ? &copying : NULL;
    CHECK_EQ(hpar_parse(parser, options, bytes, strlen(bytes), document, NULL), HPAR_OK);
    CHECK(hpar_node_first_child(document, hpar_document_root(document)) != HPAR_NO_NODE);
    hpar_document_clear(document);
    free(bytes);
    CHECK_EQ(hpar_node_kind(document, hpar_document_root(document)), HPAR_NODE_DOCUMENT);
    CHECK_EQ(hpar_node_first_child(document, hpar_document_root(document)), HPAR_NO_NODE);
    CHECK_EQ(hpar_document_quirks(document), HPAR_NO_QUIRKS);
  }
  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, "<p>", 3), HPAR_OK);
  hpar_document_clear(document);
  CHECK_EQ(hpar_parser_feed(parser, "<p>", 3), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_ERROR_ARGUMENT);
  hpar_document_clear(document);
  hpar_document_clear(NULL);
}

static void texts(void) {
  for (int i = 0; i <= HPAR_ERROR_UNSUPPORTED; i++) {
    const char *text_of = hpar_status_text((hpar_status)i);
    CHECK(text_of && *text_of && text_of[strlen(text_of) - 1] != '.');
  }
  CHECK(hpar_status_text((hpar_status)1000) != NULL);
  for (int i = 0; i < HPAR_LOG_KINDS; i++) CHECK(hpar_log_kind_name((hpar_log_kind)i) != NULL);
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) CHECK(hpar_assumption_name((hpar_assumption)i) != NULL);
  CHECK(strchr(hpar_version(), '.') != NULL);
}

/* The first and the last name of each namespace that attributes of foreign elements get. */
static void namespaces_of_attributes(void) {
  static const struct {
    const char *prefix, *name;
    hpar_namespace ns;
  } expected[] = {{"xlink", "actuate", HPAR_NAMESPACE_XLINK}, {"xlink", "type", HPAR_NAMESPACE_XLINK},
                  {"xml", "lang", HPAR_NAMESPACE_XML},        {"xml", "space", HPAR_NAMESPACE_XML},
                  {"", "xmlns", HPAR_NAMESPACE_XMLNS},        {"xmlns", "xlink", HPAR_NAMESPACE_XMLNS}};
  parse("<svg xlink:actuate=1 xlink:type=2 xml:lang=3 xml:space=4 xmlns=5 xmlns:xlink=6>");
  hpar_node svg = hpar_node_first_child(document, hpar_document_body(document));
  for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    hpar_attribute at;
    CHECK(hpar_node_attribute_at(document, svg, i, &at));
    CHECK_EQ(at.ns, expected[i].ns);
    CHECK_BYTES(at.prefix.bytes, at.prefix.length, expected[i].prefix, strlen(expected[i].prefix));
    CHECK_BYTES(at.local_name.bytes, at.local_name.length, expected[i].name, strlen(expected[i].name));
  }
}

/* What tests/null_arguments tries in processes of its own, with the results. */
static void nothing(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .source_offsets = true};
  static const char page[] = "<p a=1 x-b=2>x<svg><desc></desc></svg></p>";
  CHECK_EQ(hpar_parse(parser, &options, page, sizeof page - 1, document, NULL), HPAR_OK);
  hpar_node p = hpar_node_first_child(document, hpar_document_body(document));
  hpar_attribute attribute;
  uint64_t offset;
  CHECK_EQ(hpar_document_create(NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_document_quirks(NULL), HPAR_NO_QUIRKS);
  CHECK_EQ(hpar_document_memory(NULL), 0);
  CHECK_EQ(hpar_node_walk(NULL, p, p), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_walk(document, p, HPAR_NO_NODE), HPAR_NO_NODE);
  CHECK_EQ(hpar_node_public_id(document, HPAR_NO_NODE).length, 0);
  CHECK_EQ(hpar_node_public_id(NULL, p).length, 0);
  CHECK(hpar_node_attribute_at(document, p, 0, &attribute) && !hpar_node_attribute_at(document, p, 0, NULL));
  CHECK(!hpar_node_attribute_value(document, p, NULL).bytes && !hpar_node_attribute_value(document, p, "y").bytes);
  CHECK_EQ(hpar_node_attribute_value(document, p, "y").length, 0);
  CHECK_BYTES(hpar_node_attribute_value(document, p, "x-b").bytes, 1, "2", 1);
  CHECK(!hpar_node_start_tag_range(document, p, NULL, &offset) && !hpar_node_end_tag_range(document, p, &offset, NULL));
  CHECK_EQ(hpar_node_attribute_ranges(document, p, 0, 1, NULL), 0);
  CHECK_EQ(hpar_serialize_html(NULL, p, 0, collect, &out), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_serialize_html(document, p, 0, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_serialize_tree(NULL, p, collect, &out), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_serialize_tree(document, p, NULL, NULL), HPAR_ERROR_ARGUMENT);
  buffer_clear(&out);
  CHECK_EQ(hpar_serialize_html(document, HPAR_NO_NODE, HPAR_HTML_OUTER, collect, &out), HPAR_OK);
  CHECK_EQ(hpar_serialize_tree(document, HPAR_NO_NODE, collect, &out), HPAR_OK);
  CHECK_EQ(out.length, 0);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  a_new_document_is_empty();
  kinds();
  links();
  walking();
  attributes();
  namespaces_of_attributes();
  templates();
  quirks();
  offsets();
  text();
  fragments();
  serialising();
  reuse();
  clearing();
  texts();
  nothing();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&out);
  return check_report();
}
