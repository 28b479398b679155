/* Checks the source positions of start tags, end tags and attributes. They are equal in every mode,
 * and missing without the option.
 *
 *   HPAR_TEST_SCALE=P   percent of the 4,000 generated documents (100) */

#include "check.h"
#include "support/buffer.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer expected, got;

static bool attribute_range(hpar_node element, size_t index, hpar_attribute_range *range) {
  return hpar_node_attribute_ranges(document, element, index, 1, range) == 1;
}

static void add_source(buffer *to, const char *text, uint64_t start, uint64_t end) {
  buffer_add(to, text + start, (size_t)(end - start));
}

/* Appends a line for each element: "name: start tag, end tag, attribute=value; ...", with their
 * source. */
static void add_sources(buffer *to, const char *text) {
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    uint64_t start, end;
    hpar_attribute_range range;
    bool opened = hpar_node_start_tag_range(document, node, &start, &end);
    hpar_string name = hpar_node_name(document, node);
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    buffer_add(to, name.bytes, name.length);
    buffer_text(to, ": ");
    if (opened) add_source(to, text, start, end);
    buffer_text(to, ", ");
    if (hpar_node_end_tag_range(document, node, &start, &end)) add_source(to, text, start, end);
    for (size_t i = 0; attribute_range(node, i, &range); i++) {
      buffer_text(to, i ? "; " : ", ");
      add_source(to, text, range.name_start, range.name_end);
      buffer_text(to, "=");
      add_source(to, text, range.value_start, range.value_end);
    }
    buffer_text(to, "\n");
  }
}

static void check_sources(const char *text, const char *fragment, const char *wanted) {
  hpar_options options = {HPAR_OPTIONS_INIT, .fragment = fragment, .source_offsets = true,
                          .mode = HPAR_MODE_SEQUENTIAL};
  CHECK_EQ(hpar_parse(parser, &options, text, strlen(text), document, NULL), HPAR_OK);
  buffer_clear(&got);
  add_sources(&got, text);
  if (!CHECK_BYTES(got.bytes, got.length, wanted, strlen(wanted))) printf("  input: %s\n", text);
}

static void end_tags(void) {
  check_sources("<html><head></head><body><p>a</p></body></html>", NULL,
                "html: <html>, </html>\nhead: <head>, </head>\nbody: <body>, </body>\np: <p>, </p>\n");
  check_sources("<p>a</body>b</BODY ></html >c", NULL, "html: , </html >\nhead: , \nbody: , </BODY >\np: <p>, \n");
  check_sources("<body><svg><g></body>", NULL, "html: , \nhead: , \nbody: <body>, </body>\nsvg: <svg>, \ng: <g>, \n");
  check_sources("<div><p>a<p>b</div>", "div", "div: <div>, </div>\np: <p>, \np: <p>, \n");
  check_sources("a</p>b</br>", "div", "p: , \nbr: , \n");
  check_sources("<h1>a</h2><h1>b</h1>", "div", "h1: <h1>, </h2>\nh1: <h1>, </h1>\n");
  check_sources("<b><i>a</b>c</i>", "div", "b: <b>, </b>\ni: <i>, \ni: , </i>\n");
  check_sources("<b>a<div>b</b>c</div>", "div", "b: <b>, </b>\ndiv: <div>, </div>\nb: , \n");
  check_sources("<table><td>a</table>", "div", "table: <table>, </table>\ntbody: , \ntr: , \ntd: <td>, \n");
  check_sources("<table><tr><td>a</td></tr></tbody></table>", "div",
                "table: <table>, </table>\ntbody: , </tbody>\ntr: <tr>, </tr>\ntd: <td>, </td>\n");
  check_sources("<form><div></form></div>", "div", "form: <form>, </form>\ndiv: <div>, </div>\n");
  check_sources("<ul><li>a</li><li>b</ul></div>", "div", "ul: <ul>, </ul>\nli: <li>, </li>\nli: <li>, \n");
  check_sources("<svg><g><foreignObject>a</foreignobject></G></svg>", "div",
                "svg: <svg>, </svg>\ng: <g>, </G>\nforeignObject: <foreignObject>, </foreignobject>\n");
  check_sources("<svg><g><a></g><b></svg>", "div", "svg: <svg>, \ng: <g>, </g>\na: <a>, \nb: <b>, \n");
  check_sources("<div><math><mrow>a</div>", "div", "div: <div>, </div>\nmath: <math>, \nmrow: <mrow>, \n");
  check_sources("<svg><html>a</html></svg>", NULL,
                "html: , \nhead: , \nbody: , \nsvg: <svg>, </svg>\nhtml: <html>, </html>\n");
  check_sources("<script></p></script ><textarea>x</textarea>", "div",
                "script: <script>, </script >\ntextarea: <textarea>, </textarea>\n");
  check_sources("<select><option>a</option><option>b</select>", "div",
                "select: <select>, </select>\noption: <option>, </option>\noption: <option>, \n");
  check_sources("<template><p></p></template>", "div", "template: <template>, </template>\n");
  check_sources("<frameset><frame></frameset></html>", NULL,
                "html: , </html>\nhead: , \nframeset: <frameset>, </frameset>\nframe: <frame>, \n");
}

static void attributes(void) {
  check_sources("<p a b=c D = 'e f' g=\"\" a=h/ =i=j/k>x", "div",
                "p: <p a b=c D = 'e f' g=\"\" a=h/ =i=j/k>, , a=; b=c; D=e f; g=; =i=j/k\n");
  check_sources("<p\na=&amp;\tb= >", "div", "p: <p\na=&amp;\tb= >, , a=&amp;; b=\n");
  check_sources("<p/a/b='/>'/>", "div", "p: <p/a/b='/>'/>, , a=; b=/>\n");
  check_sources("<svg viewbox=1 xlink:href=2 Xlink:Href=3 xmlns=4 xml:lang=5 a:b=6>", "div",
                "svg: <svg viewbox=1 xlink:href=2 Xlink:Href=3 xmlns=4 xml:lang=5 a:b=6>, , viewbox=1; xlink:href=2; "
                "xmlns=4; xml:lang=5; a:b=6\n");
  /* repeated attributes, whose names begin as the next attribute does */
  check_sources("<p ab=1 ab=2 abc=3 abc d>", "div", "p: <p ab=1 ab=2 abc=3 abc d>, , ab=1; abc=3; d=\n");
  check_sources("<svg x x xlinkx xlinkx xlink xlink xlink:href=1>", "div",
                "svg: <svg x x xlinkx xlinkx xlink xlink xlink:href=1>, , x=; xlinkx=; xlink=; xlink:href=1\n");
  check_sources("<svg xlinka=1 a=2 xlinka=3 a=4 xlink:href=5>", "div",
                "svg: <svg xlinka=1 a=2 xlinka=3 a=4 xlink:href=5>, , xlinka=1; a=2; xlink:href=5\n");
  check_sources("<html a=1><body b=2><html c=3><body d=4>", NULL,
                "html: <html a=1>, , a=1\nhead: , \nbody: <body b=2>, , b=2\n");
  check_sources("<b a=1><p></b>", "div", "b: <b a=1>, </b>, a=1\np: <p>, \nb: , \n");
  const char nul[] = "<p \0a=1 \0a=2 b=3>";
  hpar_options options = {HPAR_OPTIONS_INIT, .source_offsets = true};
  CHECK_EQ(hpar_parse(parser, &options, nul, sizeof nul - 1, document, NULL), HPAR_OK);
  hpar_node body = hpar_node_last_child(document, hpar_node_first_child(document, hpar_document_root(document)));
  hpar_attribute_range range;
  CHECK(attribute_range(hpar_node_first_child(document, body), 1, &range));
  CHECK_EQ(range.value_start, 15);
  CHECK(!attribute_range(hpar_node_first_child(document, body), 2, &range));
  /* the last name has as many bytes after its x as U+FFFD has */
  const char repeated[] = "<p x\0=1 x\0=2 xyzw=3>";
  CHECK_EQ(hpar_parse(parser, &options, repeated, sizeof repeated - 1, document, NULL), HPAR_OK);
  body = hpar_node_last_child(document, hpar_node_first_child(document, hpar_document_root(document)));
  CHECK(attribute_range(hpar_node_first_child(document, body), 1, &range));
  CHECK_EQ(range.value_start, 18);
}

/* A program in Python may change the bytes of a document. The search for the positions of the
 * attributes then ends with the tag, wherever it is. */
static void changed_bytes(void) {
  static const char *const changes[] = {"<pxxxxxxxxxx", "<p          ",  "<p xxxxxxxxx", "<p a        ",
                                        "<p a=       ", "<p a=\"bbbbbb", "<p a='bbbbbb", "<p a=bbbbbbb",
                                        "<p a=b      ", "<p ////=////",  "<p a=b a=b a", "<p a='b'    "};
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .fragment = "div",
                                .source_offsets = true};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    static const char tag[] = "<p a=b c=de>";
    char *text = malloc(sizeof tag - 1); /* a sanitizer finds a read beyond it */
    if (!text) abort();
    memcpy(text, tag, sizeof tag - 1);
    CHECK_EQ(hpar_parse(parser, &options, text, sizeof tag - 1, document, NULL), HPAR_OK);
    memcpy(text, changes[i], sizeof tag - 1);
    hpar_attribute_range ranges[3];
    const hpar_node p = hpar_node_first_child(document, hpar_document_root(document));
    const size_t count = hpar_node_attribute_ranges(document, p, 0, 3, ranges);
    CHECK(count <= 2);
    for (size_t k = 0; k < count; k++) {
      CHECK(ranges[k].name_start < ranges[k].name_end && ranges[k].name_end <= ranges[k].value_start);
      CHECK(ranges[k].value_start <= ranges[k].value_end && ranges[k].value_end <= sizeof tag - 1);
    }
    hpar_document_clear(document);
    free(text);
  }
}

static void without_the_option(void) {
  const char *text = "<html a=b></html>";
  CHECK_EQ(hpar_parse(parser, NULL, text, strlen(text), document, NULL), HPAR_OK);
  hpar_node html = hpar_node_first_child(document, hpar_document_root(document));
  uint64_t start = 7, end = 8;
  hpar_attribute_range range;
  CHECK(!hpar_node_start_tag_range(document, html, &start, &end));
  CHECK(!hpar_node_end_tag_range(document, html, &start, &end));
  CHECK(!attribute_range(html, 0, &range));
  CHECK(!hpar_node_end_tag_range(document, HPAR_NO_NODE, &start, &end));
  CHECK(start == 7 && end == 8);
}

/*** every mode ***/

/* Appends the positions as numbers, also in the contents of templates. */
static void add_places(buffer *to, hpar_node top) {
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    uint64_t start, end;
    hpar_attribute_range range;
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    if (hpar_node_start_tag_range(document, node, &start, &end)) buffer_format(to, "%d-%d", (int)start, (int)end);
    if (hpar_node_end_tag_range(document, node, &start, &end)) buffer_format(to, "/%d-%d", (int)start, (int)end);
    for (size_t i = 0; attribute_range(node, i, &range); i++)
      buffer_format(to, " %d-%d=%d-%d", (int)range.name_start, (int)range.name_end, (int)range.value_start,
                    (int)range.value_end);
    buffer_byte(to, '\n');
    hpar_node contents = hpar_node_template_contents(document, node);
    if (contents) add_places(to, contents);
  }
}

static bool parse_places(const hpar_options *options, const char *bytes, size_t length, bool fed, buffer *to) {
  hpar_status status;
  if (fed) {
    status = hpar_parser_begin(parser, options, document);
    for (size_t i = 0; !status && i < length; i++) status = hpar_parser_feed(parser, bytes + i, 1);
    if (!status || status == HPAR_LIMIT_NODES) status = hpar_parser_finish(parser, NULL);
  } else {
    status = hpar_parse(parser, options, bytes, length, document, NULL);
  }
  if (status == HPAR_ERROR_UNSUPPORTED) return false;
  CHECK(status == HPAR_OK || (status == HPAR_LIMIT_NODES && options->limits.nodes));
  buffer_clear(to);
  add_places(to, hpar_document_root(document));
  return true;
}

static void check_mode(const hpar_options *options, const char *bytes, size_t length, bool fed, const char *what) {
  if (!parse_places(options, bytes, length, fed, &got)) return;
  if (!CHECK_BYTES(got.bytes, got.length, expected.bytes, expected.length))
    printf("  %s, cut %d, input: %.*s\n", what, options->study ? (int)options->study->cuts[0] : -1, (int)length, bytes);
}

/* Parses the text in all modes, with `cut_count` random cuts. `most_nodes` is a limit of nodes, or
 * 0. */
static void check_modes(const char *bytes, size_t length, const char *fragment, const char *encoding, bool scripting,
                        uint64_t most_nodes, size_t cut_count, random_state *random) {
  hpar_options options = {HPAR_OPTIONS_INIT,    .mode = HPAR_MODE_SEQUENTIAL, .encoding = encoding,
                          .fragment = fragment, .scripting = scripting,       .source_offsets = true,
                          .threads = 3};
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.limits.nodes = most_nodes;
  if (!CHECK(parse_places(&options, bytes, length, false, &expected))) return;
  check_mode(&options, bytes, length, true, "fed");
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options parallel = options;
  parallel.mode = HPAR_MODE_PARALLEL;
  parallel.study = &study;
  for (size_t i = 0; i < cut_count && length > 1; i++) {
    uint64_t cuts[3] = {1 + random_below(random, length - 1)};
    study.cuts = cuts;
    study.checkpoint_bytes = i % 2; /* 1: as many segments as possible */
    study.cut_count = 1;
    check_mode(&parallel, bytes, length, false, "parallel");
    cuts[1] = cuts[0] + 1 + random_below(random, length - cuts[0]);
    cuts[2] = cuts[1] + 1;
    study.cut_count = cuts[2] < length ? 3 : cuts[1] < length ? 2 : 1;
    check_mode(&parallel, bytes, length, false, "parallel, more chunks");
    study.merge = HPAR_MERGE_TREE;
    check_mode(&parallel, bytes, length, false, "merged as a tree");
    study.merge = HPAR_MERGE_CHAIN;
  }
  hpar_options pipelined = options;
  study = (hpar_study){HPAR_STUDY_INIT, .driver = "pipelined", .pipeline.buffer_tokens = 4};
  pipelined.study = &study;
  check_mode(&pipelined, bytes, length, false, "pipelined");
  pipelined.mode = HPAR_MODE_PARALLEL;
  study.driver = NULL;
  study.pipelined_workers = true;
  pipelined.parallel.chunk_size = 16;
  check_mode(&pipelined, bytes, length, false, "pipelined workers");
}

static void every_mode(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  unsigned long percent = scale && *scale ? strtoul(scale, NULL, 10) : 100;
  random_state random = {20261122};
  for (size_t i = 0; i < document_count; i++) {
    const compare_case *of = &documents[i];
    check_modes(of->bytes, of->length, of->fragment, of->encoding, of->scripting, 0, 6, &random);
  }
  generated page = {0};
  for (uint64_t seed = 1; seed <= 40 * percent; seed++) {
    generate(seed, &page);
    check_modes(page.text.bytes, page.text.length, page.fragment, "utf-8", page.scripting, 0, 3, &random);
    uint64_t most_nodes = 1 + random_below(&random, 40);
    check_modes(page.text.bytes, page.text.length, page.fragment, "utf-8", page.scripting, most_nodes, 1, &random);
  }
  generate_free(&page);
}

static void decoded(void) {
  static const char text[] = "<p t\xFCr='\xE4'>\xF6</p ><i \xC4=b>x</i>";
  random_state random = {1};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "windows-1252", .source_offsets = true};
  CHECK_EQ(hpar_parse(parser, &options, text, sizeof text - 1, document, NULL), HPAR_OK);
  buffer_clear(&got);
  add_sources(&got, text);
  const char *wanted =
      "html: , \nhead: , \nbody: , \np: <p t\xFCr='\xE4'>, </p >, t\xFCr=\xE4\ni: <i \xC4=b>, </i>, \xC4=b\n";
  CHECK_BYTES(got.bytes, got.length, wanted, strlen(wanted));
  check_modes(text, sizeof text - 1, NULL, "windows-1252", false, 0, 20, &random);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  end_tags();
  attributes();
  changed_bytes();
  without_the_option();
  decoded();
  every_mode();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
