/* The first max_errors parse errors by offset, and the number of all, for each mode and each
 * division of the input, and at a limit of nodes. The errors of tree construction, by the
 * standard. */

#include "check.h"
#include "support/buffer.h"
#include "support/mode.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

enum { PIECES = 1200, ALL = 1 << 20 };

static hpar_parser *parser;
static hpar_document *document;

/* Appends errors of the tokenizer, of the tree and of the input in an order that varies. */
static void append_page(buffer *to, uint64_t seed) {
  static const char *const pieces[] = {
      "<p a=1 a=2 b' \"=3 a>text",
      "</i></b></p>",
      "&#0;&#x80;&bogus;",
      "\x01 control \xC2\x80",
      "<!-- a <!-- b --!>",
      "<table>x<tr>\x02<td></table>",
      "<svg><![CDATA[ c ]]></svg>",
      "<script><!-- <script> </script></script>",
      "<br/><div/ x=<>",
      "<!doctype x><p\n<q <r>",
      "a fairly long run of text without any error, to vary the density; ",
      "<a><b></a><a></b>",
      "\xEF\xBF\xBE<?x>",
      "<select><div></select>",
  };
  random_state random = {seed};
  for (int i = 0; i < PIECES; i++) buffer_text(to, RANDOM_OF(&random, pieces));
  buffer_text(to, "<p title='");
}

static void list_errors(buffer *to, uint64_t count) {
  buffer_clear(to);
  buffer_format(to, "%llu\n", (unsigned long long)count);
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    buffer_format(to, "%llu %s\n", (unsigned long long)error.offset, error.code);
  }
}

/* Parses the page in pieces of `step` bytes; 0: as a whole. */
static void parse(const hpar_options *options, const buffer *page, size_t step, buffer *errors) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  const hpar_status expected = options->limits.nodes ? HPAR_LIMIT_NODES : HPAR_OK;
  if (!step) {
    CHECK_EQ(hpar_study_parse(parser, options, page->bytes, page->length, document, &stats), expected);
  } else {
    CHECK_EQ(hpar_parser_begin(parser, options, document), HPAR_OK);
    for (size_t from = 0; from < page->length; from += step)
      hpar_parser_feed(parser, page->bytes + from, page->length - from < step ? page->length - from : step);
    CHECK_EQ(hpar_study_finish(parser, &stats), expected);
  }
  list_errors(errors, stats.parse_errors);
}

/* Expects the first `most` lines after the line of the number, which is that of the whole list. */
static bool begins(const buffer *part, const buffer *all, size_t most) {
  const char *end = all->bytes;
  for (size_t lines = 0; lines <= most && (size_t)(end - all->bytes) < all->length; lines++)
    end = (const char *)memchr(end, '\n', all->length - (size_t)(end - all->bytes)) + 1;
  size_t length = (size_t)(end - all->bytes);
  return part->length == length && !memcmp(part->bytes, all->bytes, length);
}

static void check_page(uint64_t seed, uint64_t nodes) {
  static const size_t most[] = {1, 7, 500, 3000, ALL};
  static const struct {
    int mode;
    size_t step;
    unsigned threads;
  } ways[] = {
      {HPAR_MODE_SEQUENTIAL, 0, 1}, {HPAR_MODE_SEQUENTIAL, 1, 1},  {HPAR_MODE_SEQUENTIAL, 997, 1},
      {HPAR_MODE_PARALLEL, 0, 3},   {HPAR_MODE_PARALLEL, 4000, 2}, {MODE_PIPELINED, 0, 2},
      {MODE_PIPELINED, 0, 1},
  };
  buffer page = {0}, all = {0}, some = {0};
  append_page(&page, seed);
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ALL, .encoding = "utf-8"};
  hpar_study study = {HPAR_STUDY_INIT};
  options.limits.nodes = nodes;
  parse(&options, &page, 0, &all);
  CHECK(hpar_parse_error_count(parser) > 100);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    if (ways[w].mode != HPAR_MODE_SEQUENTIAL && !hpar_predictor_name(0)) continue;
    for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
      mode_choose(&options, &study, ways[w].mode);
      options.threads = ways[w].threads;
      options.parallel.chunk_size = 700;
      options.max_errors = most[m];
      parse(&options, &page, ways[w].step, &some);
      if (!CHECK(begins(&some, &all, most[m])))
        printf("  seed %d, nodes %d, way %zu, max_errors %zu: %.40s expected %.40s\n", (int)seed, (int)nodes, w,
               most[m], some.bytes, all.bytes);
    }
  }
  buffer_free(&page);
  buffer_free(&all);
  buffer_free(&some);
}

static hpar_status take(const hpar_token *token, void *context) {
  (void)token, (void)context;
  return HPAR_OK;
}

static void token_calls(void) {
  static const char input[] = "\x01<p a a a><p b b>";
  CHECK_EQ(hpar_tokenize(parser, NULL, NULL, 2, input, sizeof input - 1, take, NULL), HPAR_OK);
  if (CHECK_EQ(hpar_parse_error_count(parser), 2)) {
    CHECK_STRING(hpar_parse_error_at(parser, 0).code, "control-character-in-input-stream");
    CHECK_EQ(hpar_parse_error_at(parser, 1).offset, 7);
  }
}

/* Errors of tree construction. "^" stands before each token that is one, and is no part of the
 * page. */
static void tree_errors(void) {
  static const char *const pages[] = {
      "<html><head><title>t</title></head><body><p>a<ul><li>b<li>c</ul><table><tr><td>d</table></body></html>",
      "^</p>",
      "<head>^<head></head>",
      "<head></head>^<link>",
      "x^<!DOCTYPE html>^<html>^<body>^<frameset>^<head>^</head>",
      "x^<tr>^<td>^<col>^<caption>^</td>^</table>",
      "x^</br>^<image>",
      "<div><span>^</div>",
      "<div>^</p></div>^</div>",
      "<p><b>^</p>",
      "<p><b>^<div></div>^</b>",
      "<p><span>^<p>",
      "<p><rt>x</p>",
      "<p><option>x<p>y<optgroup></p>",
      "<a>x^<a>y</a>",
      "<b><p>x^</b></p>",
      "<nobr>^<nobr></nobr>",
      "<h1>^<h2></h2>^</h1>",
      "<h1>^</h2>",
      "^</li>^</dd>",
      "<ul><li><div>^</li></ul>",
      "<ul><li><span>^<li></ul>",
      "<dl><dd><div>^</dd></dl>",
      "<dl><dt><span>^<dd></dl>",
      "<form>^<form></form>^</form>",
      "<form><div>^</form></div>",
      "<button>^<button></button>",
      "<p><applet>^</p></applet>^</applet>",
      "<p><object><b>^</object>",
      "<ruby><b>^<rt></rt>^</ruby>",
      "<ruby><rb>a<rt>b<rtc><rt>c<rp></ruby>",
      "<select><option>a<option>b<optgroup><option>c<hr></select>",
      "<select><option><span>^<option>^</select>",
      "<select><optgroup><div>^<optgroup>^</select>",
      "<select><optgroup><option><div>^<hr>^</select>",
      "<table>^x</table>",
      "<table>^<div>^</div></table>",
      "<table>^<table></table>",
      "<table>^<td></table>",
      "<table>^</tr>^</td>^<input type=hidden>^<form></table>",
      "<table><tbody>^</caption>^</tr></table>",
      "<table><tr>^</td>^</col></table>",
      "<table><thead><tr><td><table><tr>^</thead><td>x</table></table>",
      "<table><tr><td>^</body>^</caption></table>",
      "<table><tr><td><b>^</td></table>",
      "<table><tr><td><b>^<td></table>",
      "<table><tr><td><b>^</table>",
      "<table><colgroup>^</col></colgroup></table>",
      "<table><caption><b>^</caption></table>",
      "<template>^</div></template>^</template>",
      "<frameset>^x^<p></frameset>^<p>",
      "<frameset>^",
      "<body></body>^x",
      "<body></body></html>^<p>",
      "<div>^",
      "<div>^</body>",
      "<p><div>^</html>",
      "<ul><li><p>^",
      "<table><tr><td>^",
      "<dl><dd>x</dl><p><ruby><rb></ruby>",
      "<dl></dl><rp><rt>",
      "<svg>^<p>",
      "<svg><g>^</svg>",
      "<svg>^^</g></svg>",
      "<math>^<div></div>",
      "^<div/></div>^<b/></b><br/><img/><svg/><svg><g/><desc>^<i/></i></desc></svg>",
      "^<html/>",
  };
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ALL};
  buffer page = {0}, expected = {0}, got = {0};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    buffer_clear(&page), buffer_clear(&expected), buffer_clear(&got);
    buffer_text(&page, "<!DOCTYPE html>");
    for (const char *at = pages[i]; *at; at++)
      if (*at == '^')
        buffer_format(&expected, "%zu ", page.length);
      else
        buffer_byte(&page, *at);
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    for (size_t k = 0; k < hpar_parse_error_count(parser); k++)
      buffer_format(&got, "%llu ", (unsigned long long)hpar_parse_error_at(parser, k).offset);
    if (!CHECK_BYTES(got.bytes, got.length, expected.bytes, expected.length)) printf("  %s\n", pages[i]);
  }
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
}

/* The errors of the input stream are in the list, up to its limit. */
static void input_errors(void) {
  static const char page[] = "<!doctype html>\x01\x02\x03";
  for (size_t most = 1; most < 5; most++) {
    const hpar_options options = {HPAR_OPTIONS_INIT, .max_errors = most, .encoding = "utf-8"};
    CHECK_EQ(hpar_parse(parser, &options, page, strlen(page), document, NULL), HPAR_OK);
    CHECK_EQ(hpar_parse_error_count(parser), most < 3 ? most : 3);
  }
}

int main(void) {
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    check_page(seed, 0);
    check_page(seed, 2000);
  }
  token_calls();
  input_errors();
  tree_errors();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
