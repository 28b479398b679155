/* Tests that threads find invalid UTF-8 wherever it is. A parallel parse of text in UTF-8 validates
 * each chunk on the thread that parses the chunk. Invalid bytes anywhere must end that parse, and
 * the tree must be the sequential one. */

#include "check.h"
#include "support/compare.h"
#include "support/random.h"

#include <string.h>

enum { PAGE_BYTES = 90000, PLACES = 60, LEAST_PLACES = 6, ERRORS = 50 };

static comparer with;
static buffer page, changed;

/* Fills the page with elements, text beyond ASCII, scripts, comments and long tokens. */
static void fill_page(void) {
  buffer_format(&page, "<!doctype html><title>t</title>");
  for (unsigned i = 0; page.length < PAGE_BYTES; i++) {
    buffer_format(&page, "<p class=c%u>p\xC3\xA4ragraph <b>\xE2\x82\xAC%u</b> \xF0\x9F\x98\x80<table><tr><td>x</table>",
                  i, i);
    if (i % 50 == 0) buffer_format(&page, "<script>if (a<b) '\xC3\xA9%u';</script><!-- \xE4\xB8\xAD -->", i);
    for (unsigned k = 0; i % 300 == 299 && k < 900; k++) buffer_format(&page, "long \xC3\xB6");
  }
}

static const compare_how ways[] = {
    {.threads = 2},
    {.threads = 3, .max_errors = ERRORS},
    {.threads = 3, .chunk_size = 1000},
    {.threads = 2, .chunk_size = 4096, .merge = HPAR_MERGE_TREE},
    {.threads = 2, .executor = HPAR_EXECUTOR_INLINE, .chunks = 40},
    {.threads = 2, .executor = HPAR_EXECUTOR_INLINE, .chunks = 7, .cut = "even"},
    {.threads = 4, .pipeline_stages = true, .chunk_size = 5000},
    {.threads = 2, .strategy = "hpar2013"},
    {.threads = 3, .predictor = "oracle"},
    {.threads = 2, .cut = "exact", .chunk_size = 9000},
};

/* Parses the changed page in all ways. */
static void compare_ways_of(const char *encoding, const char *what, size_t at) {
  compare_case document = {.bytes = changed.bytes, .length = changed.length, .encoding = encoding};
  if (!CHECK(compare_expect(&with, &document, ERRORS))) return;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    compare_result result = compare_parallel(&with, &ways[i]);
    if (CHECK_EQ(result, COMPARE_SAME)) continue;
    printf("  %s at %zu, way %zu\n", what, at, i);
  }
}

static const struct {
  const char *what, *bytes;
} changes[] = {{"byte FF", "\xFF"},           {"continuation", "\x80"},
               {"lead byte", "\xE2"},         {"two of three bytes", "\xE2\x82"},
               {"surrogate", "\xED\xA0\x80"}, {"overlong slash", "\xC0\xAF"}};

/* Replaces bytes of the page. A change within a character makes that character invalid, too. */
static void change(const char *bytes, size_t at) {
  buffer_clear(&changed);
  buffer_add(&changed, page.bytes, page.length);
  size_t length = strlen(bytes);
  if (at + length > changed.length) at = changed.length - length;
  memcpy(changed.bytes + at, bytes, length);
}

static void every_kind(unsigned places) {
  random_state random = {11};
  for (unsigned k = 0; k < places; k++) {
    size_t at = k == 0 ? 0 : k == 1 ? page.length - 1 : random_below(&random, page.length);
    size_t kind = k % (sizeof changes / sizeof *changes);
    change(changes[kind].bytes, at);
    compare_ways_of(k % 3 ? "utf-8" : NULL, changes[kind].what, at);
  }
}

/* A meta element that declares an encoding, and bytes that are invalid before or after it. */
static void declared(void) {
  static const char *const encodings[] = {"utf-8", "windows-1252", "gbk"};
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    for (unsigned place = 0; place < 3; place++) {
      buffer_clear(&changed);
      buffer_format(&changed, "<meta charset=utf-8>%s", place == 0 ? "\xFF" : "");
      buffer_add(&changed, page.bytes, page.length / 2);
      buffer_format(&changed, "<meta charset=%s>%s", encodings[i], place == 1 ? "\xE2" : "");
      buffer_add(&changed, page.bytes, page.length / 2);
      buffer_format(&changed, "%s", place == 2 ? "\x80" : "");
      compare_ways_of(NULL, encodings[i], place);
    }
}

/* The threads decode text whose bytes are valid UTF-8 as well, but in another encoding. */
static void other_encoding(void) {
  buffer_clear(&changed);
  while (changed.length < PAGE_BYTES / 4) buffer_text(&changed, "<p>\x1B$B$\"\x1B(Ba <b>b");
  compare_ways_of("iso-2022-jp", "another encoding", 0);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  compare_watch();
  if (!CHECK(compare_open(&with))) return check_report();
  fill_page();
  buffer_add(&changed, page.bytes, page.length);
  compare_ways_of("utf-8", "no change", 0);
  compare_ways_of(NULL, "no change", 0);
  unsigned places = compare_full() ? 20 * PLACES : PLACES * compare_scale() / 100;
  every_kind(places < LEAST_PLACES ? LEAST_PLACES : places);
  declared();
  other_encoding();
  compare_close(&with);
  buffer_free(&page);
  buffer_free(&changed);
  return check_report();
}
