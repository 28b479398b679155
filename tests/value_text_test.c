/* Decoding of whole attribute values. The results must equal those of hp_read_reference, which
 * reads the references one by one.
 *
 *   HPAR_TEST_SCALE=P   percent of the 2,000 values (100) */

#include "check.h"
#include "support/random.h"

#include "text/references/entities.inc"
#include "text/references/references.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUE = 400 };

/* Pieces of names and of other text. A random text of them has every kind of reference. */
static const char *const pieces[] = {
    "&",
    "&",
    "&",
    "&",
    ";",
    "=",
    "&amp;",
    "&quot;",
    "&lt;",
    "&gt;",
    "&#39;",
    "&#x27;",
    "&#",
    "&#x",
    "12",
    "39",
    "amp",
    "quot",
    "lt",
    "gt",
    "nbsp;",
    "apos;",
    "copy",
    "reg",
    "nGt;",
    "nLt;",
    "A",
    "z",
    "0",
    "9",
    " ",
    "?",
    "/",
    "\xC3\xA9",
    "acute",
    "not",
    "in;",
    "para",
    "prod",
    "ccedil",
    "#039;",
    "#x27;",
    "[",
    "@",
    "`",
    "{",
    ":",
    "frac12",
    "CounterClockwiseContourIntegral;",
    "plain text of many bytes without a reference",
};

/* Decodes by hp_read_reference. Returns the length. */
static size_t read_one_by_one(char *to, const char *value, const char *end, const char **first) {
  char *start = to;
  *first = end;
  for (const char *at = value; at < end;) {
    hp_reference reference = {.end = at + 1};
    if (*at == '&') reference = hp_read_reference(at, end, true, at, NULL);
    if (reference.length && *first == end) *first = at;
    const char *bytes = reference.length ? reference.bytes : at;
    size_t length = reference.length ? reference.length : (size_t)(reference.end - at);
    memcpy(to, bytes, length);
    to += length;
    at = reference.end;
  }
  return (size_t)(to - start);
}

/* Decodes `value` where `after` more bytes are readable, and compares the copy with `expected`. */
static void check_decoded(const char *value, size_t length, size_t after, const char *expected, size_t size,
                          size_t first) {
  char *memory = malloc(length + after + !(length + after)), *end = memory + length, *limit = end + after;
  memcpy(memory, value, length);
  for (size_t i = 0; i < after; i++) end[i] = "\"&quot;"[i % 7];
  const char *found = hp_find_value_reference(memory, end, limit);
  CHECK_EQ(found - memory, (ptrdiff_t)first);
  if (found < end) {
    size_t room = hp_decoded_bound(length) + HP_DECODING_SLACK;
    char *copy = malloc(room);
    CHECK_BYTES(copy, (size_t)(hp_decode_value_text(copy, memory, found, end, limit) - copy), expected, size);
    free(copy);
  }
  free(memory);
}

static void check_value(const char *value, size_t length) {
  static char expected[2 * MAX_VALUE];
  const char *first;
  size_t size = read_one_by_one(expected, value, value + length, &first);
  for (size_t after = 0; after <= 320; after += after < 20 ? 1 : 60)
    check_decoded(value, length, after, expected, size, (size_t)(first - value));
}

/* Each named reference, alone and before other characters. */
static void named_references(void) {
  static const char *const after[] = {"", ";", "=", ";=", " ", "x", "0=", "&", ";&amp;"};
  for (unsigned i = 1; i <= HP_ENTITIES; i++) {
    const hp_entity *entity = &hp_entities[i];
    const char *name = hp_entity_names + entity->name;
    for (size_t j = 0; j < sizeof after / sizeof *after; j++) {
      char value[64] = "&", expected[64];
      const char *first;
      memcpy(value + 1, name, entity->length);
      strcpy(value + 1 + entity->length, after[j]);
      size_t length = strlen(value), size = read_one_by_one(expected, value, value + length, &first);
      check_decoded(value, length, 0, expected, size, (size_t)(first - value));
      check_decoded(value, length, 96, expected, size, (size_t)(first - value));
      if (*after[j] != ';') continue;
      CHECK(size >= entity->value_length && !memcmp(expected, entity->value, entity->value_length));
    }
  }
}

static void frequent_references(void) {
  unsigned count = 0;
  for (size_t i = 0; i < sizeof hp_frequent_references / sizeof *hp_frequent_references; i++) {
    const hp_frequent_reference *reference = &hp_frequent_references[i];
    if (!reference->length) continue;
    char text[16] = {0};
    uint64_t bytes = reference->bytes >> reference->shift;
    for (unsigned byte = 0; byte < sizeof bytes; byte++) text[byte] = (char)(bytes >> 8 * byte);
    count += hp_find_frequent_reference(text) == reference && strlen(text) == reference->length;
  }
  CHECK_EQ(count, 9);
  CHECK(!hp_find_frequent_reference("\0\0\0\0\0\0\0\0"));
  CHECK(!hp_find_frequent_reference("ampere;; "));
}

static void random_values(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  random_state random = {21};
  for (int i = 20 * (scale ? atoi(scale) : 100); i; i--) {
    char value[MAX_VALUE];
    size_t length = 0, limit = random_below(&random, MAX_VALUE);
    for (;;) {
      const char *piece = RANDOM_OF(&random, pieces);
      if (length + strlen(piece) > limit) break;
      memcpy(value + length, piece, strlen(piece));
      length += strlen(piece);
    }
    check_value(value, length);
  }
}

int main(void) {
  frequent_references();
  named_references();
  random_values();
  return check_report();
}
