/* Checks the estimate of the work by place, by which the threads divide a text: places ascend and
 * lie in the text, equal text has equal shares, and text with more tags has smaller ones. */

#include "check.h"
#include "speculation/cut.h"
#include "support/buffer.h"
#include "support/random.h"

enum { SHARES = 16, LENGTH = 1 << 20 };

static hp_cost_estimate estimate_of(const buffer *text) {
  hp_cost_estimate estimate;
  hp_estimate_cost(&estimate, text->bytes, text->length);
  return estimate;
}

static void check_bounds(const buffer *text) {
  hp_cost_estimate estimate = estimate_of(text);
  size_t last = 0;
  for (uint32_t part = 0; part <= SHARES; part++) {
    size_t place = hp_cost_place(&estimate, part, SHARES);
    if (!CHECK(place >= last && place <= text->length)) return;
    last = place;
  }
}

static void append(buffer *text, const char *unit, size_t length) {
  for (size_t end = text->length + length; text->length < end;) buffer_text(text, unit);
}

static void check_equal_text(void) {
  static const char *const units[] = {"x", "<p>text</p>", "<", "<a href=\"/some/where\">link</a> and text\n"};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    buffer text = {0};
    append(&text, units[i], LENGTH);
    hp_cost_estimate estimate = estimate_of(&text);
    for (uint32_t part = 1; part < SHARES; part++) {
      size_t equal = text.length * part / SHARES, place = hp_cost_place(&estimate, part, SHARES);
      size_t error = place > equal ? place - equal : equal - place;
      CHECK(error < text.length / SHARES / 4);
    }
    buffer_free(&text);
  }
}

/* Half of the text has no tags. */
static void check_uneven_text(void) {
  for (int tags_first = 0; tags_first < 2; tags_first++) {
    buffer text = {0};
    append(&text, tags_first ? "<p>text</p>" : "var x = 1;\n", LENGTH);
    append(&text, tags_first ? "var x = 1;\n" : "<p>text</p>", LENGTH);
    hp_cost_estimate estimate = estimate_of(&text);
    size_t middle = hp_cost_place(&estimate, 1, 2);
    CHECK(tags_first ? middle < LENGTH * 3 / 4 : middle > LENGTH * 5 / 4);
    buffer_free(&text);
  }
}

static void check_any_length(void) {
  random_state random = {1};
  for (size_t length = 0; length < 2000; length += 1 + length / 16) {
    buffer text = {0};
    for (size_t i = 0; i < length; i++) buffer_byte(&text, random_below(&random, 8) ? 'x' : '<');
    check_bounds(&text);
    buffer_free(&text);
  }
}

/* Places and parts at the very end of the text, and beyond it. */
static void check_end(void) {
  buffer text = {0};
  append(&text, "<p>", 256 * 30);
  hp_cost_estimate estimate = estimate_of(&text);
  uint64_t whole = hp_cost_until(&estimate, text.length);
  CHECK(whole > 0);
  CHECK_EQ(hp_cost_until(&estimate, SIZE_MAX / 2), whole);
  CHECK_EQ(hp_cost_place(&estimate, whole, whole), text.length); /* where the last sample ends */
  CHECK_EQ(hp_find_cut(&hp_smart_cuts, text.bytes, text.length, text.length), text.length);
  CHECK_EQ(hp_chunk_size(SIZE_MAX / 2, 2), 128 << 10);
  CHECK_EQ(hp_chunk_size(0, 2), 16 << 10);
  buffer_free(&text);
}

int main(void) {
  check_equal_text();
  check_uneven_text();
  check_any_length();
  check_end();
  return check_report();
}
