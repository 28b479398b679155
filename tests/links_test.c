/* Checks hpar_links: elements and attributes, lists of URLs, the base element, options, the end of
 * a walk. */

#include "check.h"
#include "support/buffer.h"

#include <hpar/hpar.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer out;

static hpar_status collect(const hpar_link *link, void *context) {
  hpar_string name = hpar_node_name(document, link->element);
  (void)context;
  buffer_format(&out, "%.*s %.*s [%.*s] %.*s\n", (int)name.length, name.bytes, (int)link->attribute.length,
                link->attribute.bytes, (int)link->value.length, link->value.bytes, (int)link->url.length,
                link->url.bytes ? link->url.bytes : "");
  return HPAR_OK;
}

static void parse(const char *html) {
  CHECK_EQ(hpar_parse(parser, NULL, html, strlen(html), document, NULL), HPAR_OK);
  buffer_clear(&out);
}

static void check_links(const char *html, const char *document_url, const char *expected) {
  parse(html);
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = document_url};
  CHECK_EQ(hpar_links(document, hpar_document_root(document), &options, collect, NULL), HPAR_OK);
  if (!CHECK_BYTES(out.bytes, out.length, expected, strlen(expected))) printf("  input: %s\n", html);
}

#define URL "http://h/d/p"

static void attributes(void) {
  check_links("<a href=x href=y>", URL, "a href [x] http://h/d/x\n");
  check_links("<a href='' ping=' p  q'><area href=#f><link href=?s>", URL,
              "a href [] http://h/d/p\na ping [p] http://h/d/p\na ping [q] http://h/d/q\n"
              "area href [#f] http://h/d/p#f\nlink href [?s] http://h/d/p?s\n");
  check_links("<body background=a><img src=b longdesc=c><script src=d></script><iframe src=e></iframe><embed src=f>",
              URL,
              "body background [a] http://h/d/a\nimg src [b] http://h/d/b\nimg longdesc [c] http://h/d/c\n"
              "script src [d] http://h/d/d\niframe src [e] http://h/d/e\nembed src [f] http://h/d/f\n");
  check_links("<object data=a></object><video src=b poster=c><track src=d><source src=e></video><audio src=f></audio>",
              URL,
              "object data [a] http://h/d/a\nvideo src [b] http://h/d/b\nvideo poster [c] http://h/d/c\n"
              "track src [d] http://h/d/d\nsource src [e] http://h/d/e\naudio src [f] http://h/d/f\n");
  check_links(
      "<form action=a><input formaction=b src=c><button formaction=d></button></form><q cite=e></q><ins cite=f>", URL,
      "form action [a] http://h/d/a\ninput formaction [b] http://h/d/b\ninput src [c] http://h/d/c\n"
      "button formaction [d] http://h/d/d\nq cite [e] http://h/d/e\nins cite [f] http://h/d/f\n");
  check_links("<frameset><frame src=a longdesc=b></frameset>", URL,
              "frame src [a] http://h/d/a\nframe longdesc [b] http://h/d/b\n");
  check_links("<svg><a xlink:href=a></a><use href=b /><image src=c /></svg><math><mi href=d>", URL,
              "a href [a] http://h/d/a\nuse href [b] http://h/d/b\n");
  check_links("<a action=a cite=b data=c src=d srcset=e background=f longdesc=g poster=h formaction=i>", URL, "");
  check_links("<p href=a src=b><template><a href=c></a></template><div cite=d data=e>", URL, "");
}

static void lists(void) {
  check_links("<img srcset='a 1x, b 2x,c,d e (,f,) , g'>", URL,
              "img srcset [a] http://h/d/a\nimg srcset [b] http://h/d/b\nimg srcset [c,d] http://h/d/c,d\n"
              "img srcset [g] http://h/d/g\n");
  check_links("<source srcset=',,a,, b'><link imagesrcset='a 10w'>", URL,
              "source srcset [a] http://h/d/a\nsource srcset [b] http://h/d/b\nlink imagesrcset [a] http://h/d/a\n");
  check_links("<img srcset=a, ><img srcset=,b >", URL, "img srcset [a] http://h/d/a\nimg srcset [b] http://h/d/b\n");
  check_links("<img srcset=''><a ping='  '>", URL, "");
}

static void bases(void) {
  check_links("<a href=x>", NULL, "a href [x] \n");
  check_links("<a href=http://k/x>", NULL, "a href [http://k/x] http://k/x\n");
  check_links("<base><base href=e/f><base href=g><a href=x>", URL, "a href [x] http://h/d/e/x\n");
  check_links("<a href=x><div><base href=//k></div>", URL, "a href [x] http://k/x\n");
  check_links("<base href=https://k/l/><a href=x>", NULL, "a href [x] https://k/l/x\n");
  check_links("<base href=data:x><a href=x>", URL, "a href [x] http://h/d/x\n");
  check_links("<base href=javascript:x><a href=x>", URL, "a href [x] http://h/d/x\n");
  check_links("<base href=http://:80><a href=x>", URL, "a href [x] http://h/d/x\n");
  check_links("<base href=mailto:x><a href=x><a href=#y>", URL, "a href [x] \na href [#y] mailto:x#y\n");
  check_links("<svg><base href=//k></base></svg><a href=x>", URL,
              "base href [//k] http://k/\na href [x] http://h/d/x\n");
  check_links("<a href=' x\n y\t'><a href='http://['>", URL,
              "a href [ x\n y\t] http://h/d/x%20y\na href [http://[] \n");
}

static hpar_status count_down(const hpar_link *link, void *context) {
  (void)link;
  return --*(int *)context > 0 ? HPAR_OK : HPAR_STOP;
}

static void calls(void) {
  parse("<img src=1><p><a href=2>x</a><img src=3></p><a href=4>");
  hpar_node root = hpar_document_root(document);
  hpar_node body = hpar_node_last_child(document, hpar_node_first_child(document, root));
  hpar_node p = HPAR_NO_NODE;
  for (hpar_node node = body; node; node = hpar_node_walk(document, body, node)) {
    hpar_string name = hpar_node_name(document, node);
    if (name.length == 1 && *name.bytes == 'p') p = node;
  }
  CHECK_EQ(hpar_links(document, p, NULL, collect, NULL), HPAR_OK);
  CHECK_BYTES(out.bytes, out.length, "a href [2] \nimg src [3] \n", 25);
  int left = 2;
  CHECK_EQ(hpar_links(document, root, NULL, count_down, &left), HPAR_OK);
  CHECK_EQ(left, 0);
  buffer_clear(&out);
  CHECK_EQ(hpar_links(document, HPAR_NO_NODE, NULL, collect, NULL), HPAR_OK);
  CHECK_EQ(out.length, 0);
  struct {
    hpar_link_options known;
    size_t unknown;
  } newer = {{.size = sizeof newer}, 1};
  CHECK_EQ(hpar_links(document, root, &newer.known, collect, NULL), HPAR_ERROR_ARGUMENT);
  newer.known.size = 0;
  CHECK_EQ(hpar_links(document, root, &newer.known, collect, NULL), HPAR_ERROR_ARGUMENT);
  hpar_link_options relative = {HPAR_LINK_OPTIONS_INIT, .document_url = "x/y"};
  CHECK_EQ(hpar_links(document, root, &relative, collect, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_links(NULL, root, NULL, collect, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_links(document, root, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
}

static hpar_status add_url(const hpar_link *link, void *context) {
  (void)context;
  buffer_format(&out, "%.*s\n", (int)link->url.length, link->url.bytes ? link->url.bytes : "");
  return HPAR_OK;
}

static void check_query(const char *encoding, const char *wanted, const char *html, const char *expected) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = encoding};
  hpar_link_options link = {HPAR_LINK_OPTIONS_INIT, .query_encoding = wanted, .document_url = "http://h/"};
  CHECK_EQ(hpar_parse(parser, &options, html, strlen(html), document, NULL), HPAR_OK);
  buffer_clear(&out);
  CHECK_EQ(hpar_links(document, hpar_document_root(document), &link, add_url, &out), HPAR_OK);
  CHECK_BYTES(out.bytes, out.length, expected, strlen(expected));
}

static void encodings_of_queries(void) {
  check_query("windows-1252", NULL, "<a href='/\xE9?\xE9 b#\xE9'>", "http://h/%C3%A9?%E9%20b#%C3%A9\n");
  check_query("windows-1252", NULL, "<a href='?&#9731;'>", "http://h/?%26%239731%3B\n");
  check_query("windows-1252", NULL, "<a href='?&#3585;&#128512;&#1048576;a'>",
              "http://h/?%26%233585%3B%26%23128512%3B%26%231048576%3Ba\n");
  check_query("windows-1252", "utf-8", "<a href='?\xE9'>", "http://h/?%C3%A9\n");
  check_query("utf-8", "ISO-8859-2", "<a href='?\xC4\x8D\xC3\xA9'>", "http://h/?%E8%E9\n");
  check_query("shift_jis", NULL, "<a href='?\x83\x5C&yen;&#8254;&#8722;'>", "http://h/?%83\\\\~%81|\n");
  check_query("euc-jp", NULL, "<a href='?&yen;&#8254;&#8722;'>", "http://h/?\\~%A1%DD\n");
  check_query("windows-1252", NULL, "<a href='?&yen;&#8722;'>", "http://h/?%A5%26%238722%3B\n");
  check_query("gbk", NULL, "<a href='?\xC4\xE3&#233;'>", "http://h/?%C4%E3%A8%A6\n");
  check_query("windows-1252", NULL, "<a href='ws://h/?\xE9'><a href='x:?\xE9'>", "ws://h/?%C3%A9\nx:?%C3%A9\n");
  check_query("windows-1252", NULL, "<base href='/b?\xE9'><a href='#c'>", "http://h/b?%E9#c\n");
  hpar_link_options wrong = {HPAR_LINK_OPTIONS_INIT, .query_encoding = "nope"};
  CHECK_EQ(hpar_links(document, hpar_document_root(document), &wrong, add_url, &out), HPAR_ERROR_ARGUMENT);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  attributes();
  lists();
  bases();
  encodings_of_queries();
  calls();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&out);
  return check_report();
}
