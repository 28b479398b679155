/* Checks the parser of URLs. The input is a base URL, a line feed and a URL. A URL that has been
 * parsed stays the same when it is parsed again, and its parts are in order. The short ways agree
 * with the parser wherever they answer. */

#include "fuzz/fuzz.h"

#include "url/url.h"

#include <string.h>

static void check_parts(const hp_url *url, const char *bytes, size_t length) {
  if (url->scheme_end > url->authority_end || url->authority_end > url->path || url->path > url->query ||
      url->query > url->fragment || url->fragment > url->length)
    fuzz_wrong("parts out of order", bytes, length);
}

static void check_again(const hp_url *url, const char *bytes, size_t length) {
  hp_url again = {.queries = url->queries};
  if (!hp_url_parse(&again, url->bytes, url->length, NULL)) fuzz_wrong("not valid when parsed again", bytes, length);
  if (again.length != url->length || memcmp(again.bytes, url->bytes, url->length))
    fuzz_wrong("another URL when parsed again", bytes, length);
  hp_url_close(&again);
}

static void check_short_ways(const hp_url *base, const hp_url *url, bool is_valid, const char *bytes, size_t length) {
  hp_plain_base plain;
  hp_url memory = {.queries = url->queries};
  hpar_string short_way;
  hp_plain_base_open(&plain, base);
  if (hp_plain_resolve(&plain, &memory, bytes, length, &short_way) &&
      (!is_valid || short_way.length != url->length || memcmp(short_way.bytes, url->bytes, url->length)))
    fuzz_wrong("the short way makes another URL", bytes, length);
  hp_origin_kind kind = hp_plain_origin(&plain, bytes, length).kind;
  if (kind != HP_ORIGIN_UNKNOWN && !is_valid) fuzz_wrong("the short way finds an origin of no URL", bytes, length);
  hp_url_close(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  compare_case input;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &input, &choices)) return 0;
  const hp_encoding *queries = choices[0] & 1 ? hp_encoding_for_label("windows-1252", 12) : NULL;
  const char *line = input.length ? memchr(input.bytes, '\n', input.length) : NULL;
  size_t first = line ? (size_t)(line - input.bytes) : 0, from = line ? first + 1 : 0, length = input.length - from;
  hp_url base = {.queries = queries}, url = {.queries = queries};
  if (!hp_url_parse(&base, input.bytes, first, NULL)) base.length = 0;
  bool is_valid = hp_url_parse(&url, input.bytes + from, length, base.length ? &base : NULL);
  if (is_valid) {
    check_parts(&url, input.bytes + from, length);
    check_again(&url, input.bytes + from, length);
  }
  check_short_ways(&base, &url, is_valid, input.bytes + from, length);
  hp_url_close(&base);
  hp_url_close(&url);
  return 0;
}
