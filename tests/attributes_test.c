/* Attributes of random tags, whose values end at every place of the blocks that the fast path
 * reads. The trees must equal those of the same bytes fed in small pieces: there, the tokenizer is
 * close to the end of its input and reads attributes by the standard's states.
 *
 *   HPAR_TEST_SCALE=P   percent of the 1,000 documents (100) */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static const char *const names[] = {
    "class",      "id",    "href",    "style", "title",    "alt", "data-x", "data-some-name",
    "aria-label", "CLASS", "onclick", "x",     "xml:lang", "a/b", "q\"r",   "data-a-name-with-32-bytes-or-more",
    "h\x11",      "=",     "",
};
static const char *const inner[] = {"a",      "bc", "def ", "1234567",  "plain text ", "&amp;", "&", "&x=1",
                                    "&quot;", "\n", "\t",   "\r",       "\r\n",        "'",     "<", ">",
                                    "/",      "=",  "\x01", "\xC3\xA9", "&lt",         "=\""};
static const char *const between[] = {" ", " ", " ", " ", " ", " ", "  ", "\n", "", "/", "\t", " / ", "\r\n"};
static const char *const tags[] = {"<p",    "<a",      "<div", "<span", "<td", "<input",
                                   "<body", "<x-name", "</p",  "<svg",  "<b"};

static void write_value(random_state *random, buffer *to) {
  static const char *const quotes[] = {"\"", "\"", "\"", "\"", "\"", "'", ""};
  const char *quote = RANDOM_OF(random, quotes);
  buffer_text(to, quote);
  for (size_t length = random_below(random, 90), start = to->length; to->length - start < length;) {
    if (random_chance(random, 85))
      buffer_text(to, "x");
    else
      buffer_text(to, *quote == '"' && random_chance(random, 80) ? "&amp;" : RANDOM_OF(random, inner));
    if (!*quote && random_chance(random, 20)) break;
  }
  buffer_text(to, quote);
}

static void write_tag(random_state *random, buffer *to) {
  buffer_text(to, RANDOM_OF(random, tags));
  for (size_t count = random_below(random, 6); count; count--) {
    buffer_text(to, RANDOM_OF(random, between));
    buffer_text(to, random_chance(random, 80) ? names[random_below(random, 10)] : RANDOM_OF(random, names));
    if (random_chance(random, 10)) continue;
    buffer_text(to, random_chance(random, 95) ? "=" : " = ");
    write_value(random, to);
  }
  buffer_text(to, ">");
}

static void feed(hpar_parser *parser, const hpar_options *options, const buffer *html, size_t step,
                 hpar_document *into) {
  CHECK_EQ(hpar_parser_begin(parser, options, into), HPAR_OK);
  for (size_t at = 0; at < html->length; at += step) {
    size_t length = html->length - at < step ? html->length - at : step;
    CHECK_EQ(hpar_parser_feed(parser, html->bytes + at, length), HPAR_OK);
  }
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
}

int main(void) {
  hpar_parser *parser;
  hpar_document *whole, *fed;
  if (hpar_parser_create(&parser) != HPAR_OK || hpar_document_create(&whole) != HPAR_OK ||
      hpar_document_create(&fed) != HPAR_OK)
    return 1;
  const char *scale = getenv("HPAR_TEST_SCALE");
  buffer html = {0}, got = {0}, expected = {0};
  for (int i = 10 * (scale ? atoi(scale) : 100); i; i--) {
    random_state random = {(uint64_t)i};
    buffer_clear(&html);
    for (size_t tag = 1 + random_below(&random, 12); tag; tag--) write_tag(&random, &html);
    hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "UTF-8"};
    options.mode = HPAR_MODE_SEQUENTIAL;
    feed(parser, &options, &html, 1 + random_below(&random, 24), fed);
    options.value_decoding = i % 2 ? HPAR_VALUES_AT_ONCE : HPAR_VALUES_ON_ACCESS;
    CHECK_EQ(hpar_parse(parser, &options, html.bytes, html.length, whole, NULL), HPAR_OK);
    CHECK(compare_dump(whole, &got) && compare_dump(fed, &expected));
    CHECK_BYTES(got.bytes, got.length, expected.bytes, expected.length);
  }
  buffer_free(&html);
  buffer_free(&got);
  buffer_free(&expected);
  hpar_document_destroy(whole);
  hpar_document_destroy(fed);
  hpar_parser_destroy(parser);
  return check_report();
}
