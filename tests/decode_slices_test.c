/* Checks decoding in slices: the text and its offsets are those of one piece, and memory. */

#include "text/encoding/encoding.h"

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/random.h"
#include "support/slice_check.h"

#include <stdlib.h>

static const hp_encoding *named(const char *label) { return hp_encoding_for_label(label, strlen(label)); }

/* Decodes slices that are long enough for a sample before the executor chooses their target. The
 * bytes before the text of two slices are touched without use. They are few, except if the first
 * estimate is too small, because bytes become three bytes each or are outside the sample. */
static void test_target_memory(void) {
  enum { LENGTH = 24000 };
  static const struct {
    const char *label;
    unsigned char byte, others; /* every n-th byte is `byte`; 0: all bytes outside the sample */
    bool overflows;
  } kinds[] = {{"windows-1251", 0xE1, 3, false}, {"windows-1251", 0xE1, 1, false}, {"gbk", 0xC4, 40, false},
               {"windows-874", 0xA1, 1, true},   {"shift_jis", 0xB1, 2, true},     {"x-user-defined", 0xB1, 1, false},
               {"windows-1251", 0xE1, 0, true},  {"windows-1251", 0xE1, 40, false}};
  char *bytes = malloc(LENGTH);
  if (!bytes) exit(1);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const hp_encoding *encoding = named(kinds[k].label);
    const size_t step = LENGTH / 2 / 128;
    for (size_t i = 0; i < LENGTH; i++) {
      bool high = kinds[k].others ? i % kinds[k].others == 0 : i % (LENGTH / 2) % step >= 32;
      bytes[i] = high ? (char)kinds[k].byte : ' ';
    }
    hp_input whole = {0};
    if (!CHECK_EQ(hp_input_decode(&whole, bytes, LENGTH, encoding), HPAR_OK)) continue;
    hp_buffer target = {0};
    unsigned slices = 0;
    hp_sniffed sniffed = {encoding, HP_ENCODING_FROM_HINT, true};
    hp_slice_executor executor = {
        .buffer = &target, .run = run_backwards, .context = &slices, .min_slice_bytes = LENGTH / 8};
    for (executor.max_slices = 2; executor.max_slices < 6; executor.max_slices++) {
      executor.run = executor.max_slices % 2 ? run_and_move : run_backwards;
      hp_input input = {0};
      hp_buffer_clear(&target);
      if (!CHECK_EQ(hp_input_decode_sniffed(&input, bytes, LENGTH, &sniffed, &executor), HPAR_OK)) continue;
      CHECK_EQ(slices, executor.max_slices);
      CHECK_BYTES(input.bytes, input.length, whole.bytes, whole.length);
      for (size_t i = 0; i < input.length; i += 7)
        if (((unsigned char)input.bytes[i] & 0xC0) != 0x80)
          CHECK_EQ(hp_input_offset(&input, i), hp_input_offset(&whole, i));
      size_t before = (size_t)(input.bytes - target.base);
      if (executor.max_slices == 2 && !kinds[k].overflows) CHECK(before < whole.length / 2);
      if (executor.max_slices == 2 && kinds[k].overflows) CHECK(before + input.length / 2 + 8 >= 3 * LENGTH / 2);
      hp_input_close(&input);
    }
    hp_buffer_close(&target);
    hp_input_close(&whole);
  }
  free(bytes);
}

/* Slices find out whether all bytes are ASCII: then the text is the bytes themselves. */
static void test_ascii_in_slices(void) {
  enum { LENGTH = 40000 };
  static const size_t places[] = {LENGTH, 0, 2047, 2048, 9999, 10000, 30000, LENGTH - 1};
  const hp_encoding *encoding = named("windows-1252");
  char *bytes = malloc(LENGTH);
  if (!bytes) exit(1);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    memset(bytes, 'a', LENGTH);
    if (places[i] < LENGTH) bytes[places[i]] = (char)0xE9;
    for (unsigned most = 1; most < 6; most++) { /* two slices are not copied when they are ASCII */
      hp_buffer target = {0};
      unsigned slices = 0;
      hp_sniffed sniffed = {encoding, HP_ENCODING_FROM_HINT, true};
      hp_slice_executor executor = {
          .buffer = &target, .run = run_backwards, .context = &slices, .max_slices = most, .min_slice_bytes = 1000};
      hp_input input = {0}, whole = {0};
      if (CHECK_EQ(hp_input_decode_sniffed(&input, bytes, LENGTH, &sniffed, &executor), HPAR_OK) &&
          CHECK_EQ(hp_input_decode(&whole, bytes, LENGTH, encoding), HPAR_OK)) {
        CHECK_EQ(input.bytes == bytes, places[i] == LENGTH);
        CHECK_BYTES(input.bytes, input.length, whole.bytes, whole.length);
        CHECK_EQ(hp_input_offset(&input, input.length), LENGTH);
      }
      hp_input_close(&whole);
      hp_input_close(&input);
      hp_buffer_close(&target);
    }
  }
  free(bytes);
}

/* A decoder that lacks memory at any place leaves nothing behind, which LeakSanitizer sees. */
static void test_want_of_memory(void) {
  enum { LENGTH = 9000 };
  static char bytes[LENGTH];
  memset(bytes, '\xC4', LENGTH);
  for (int in_buffer = 0; in_buffer < 2; in_buffer++) {
    hpar_status status = HPAR_ERROR_MEMORY;
    uint64_t n = 0;
    for (; status == HPAR_ERROR_MEMORY && n < 100; n++) {
      unsigned slices = 0;
      hp_buffer target = {0};
      hp_sniffed sniffed = {named("gbk"), HP_ENCODING_FROM_HINT, true};
      const hp_slice_executor executor = {.buffer = in_buffer ? &target : NULL,
                                          .run = run_backwards,
                                          .context = &slices,
                                          .max_slices = 3,
                                          .min_slice_bytes = 1000};
      hp_input input = {0};
      hp_memory_fail_once(n);
      status = hp_input_decode_sniffed(&input, bytes, LENGTH, &sniffed, &executor);
      hp_memory_fail_once(UINT64_MAX);
      hp_input_close(&input);
      hp_buffer_close(&target);
    }
    CHECK_EQ(status, HPAR_OK);
    CHECK(n > 2);
  }
}

/*** late threads ***/

/* A slice that its thread runs, until the calling thread takes it at a step. */
static struct {
  const hp_slice_batch *batch;
  hp_buffer *target;
  unsigned slice;
  hp_unit_state unit;
  unsigned steps_left;
} taken;

enum { TAKEN_BYTES = 60000 };

static void invert_target(void) {
  for (size_t i = 0; i < TAKEN_BYTES; i++) taken.target->base[i] = (char)~taken.target->base[i];
}

/* The thread would write the same text again. So its memory has another text until the thread has
 * left. */
static void take_slice(void) {
  if (!taken.batch || taken.steps_left--) return;
  const hp_slice_batch *batch = taken.batch;
  taken.batch = NULL;
  CHECK(hp_unit_give_up(&taken.unit));
  batch->client->run(batch->job, taken.slice, 0, NULL);
  invert_target();
}

static bool run_and_take(void *context, hp_slice_batch *batch) {
  const unsigned slice = *(unsigned *)context % batch->count;
  for (unsigned i = 0; i < batch->count; i++) {
    hp_unit_steps steps = {0};
    if (i == slice) {
      taken.batch = batch;
      taken.slice = i;
      atomic_store(&taken.unit, HP_UNIT_CLAIMED);
      steps.unit = &taken.unit;
    }
    batch->client->run(batch->job, i, i == slice, &steps);
    if (i == slice && taken.batch)
      CHECK(hp_unit_publish(&taken.unit));
    else if (i == slice)
      invert_target();
    taken.batch = NULL;
  }
  return true;
}

/* The calling thread takes a slice at any step of its thread, which then goes on: it writes nothing
 * more. Each slice begins with some KB of ASCII, which are copied. */
static void test_taken_slices(void) {
  enum { LENGTH = TAKEN_BYTES, STEPS = 60 };
  static const char *const labels[] = {"windows-1251", "gbk", "shift_jis", "utf-16le"};
  static char bytes[LENGTH];
  for (size_t i = 0; i < LENGTH; i++) bytes[i] = (char)(i % 7 || i % 10000 < 6000 ? 'a' + i % 23 : 0xC4);
  hp_unit_set_hook(take_slice);
  for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
    const hp_encoding *encoding = named(labels[k]);
    hp_sniffed sniffed = {encoding, HP_ENCODING_FROM_HINT, true};
    hp_input whole = {0};
    if (!CHECK_EQ(hp_input_decode(&whole, bytes, LENGTH, encoding), HPAR_OK)) continue;
    for (unsigned i = 0; i < 2 * 2 * STEPS; i++) {
      hp_buffer target = {0};
      unsigned slice = i % 2;
      hp_slice_executor executor = {.buffer = &target,
                                    .run = run_and_take,
                                    .context = &slice,
                                    .max_slices = 2 + i / 2 % 2,
                                    .min_slice_bytes = 1000};
      hp_input input = {0};
      taken.target = &target;
      taken.steps_left = i / 4;
      if (CHECK_EQ(hp_input_decode_sniffed(&input, bytes, LENGTH, &sniffed, &executor), HPAR_OK)) {
        bool fine = CHECK_BYTES(input.bytes, input.length, whole.bytes, whole.length);
        for (size_t at = 0; fine && at < input.length; at += 997)
          if (((unsigned char)input.bytes[at] & 0xC0) != 0x80)
            fine = CHECK_EQ(hp_input_offset(&input, at), hp_input_offset(&whole, at));
      }
      hp_input_close(&input);
      hp_buffer_close(&target);
    }
    hp_input_close(&whole);
  }
  hp_unit_set_hook(NULL);
}

/*** long texts ***/

static hpar_status gather(const char *text, size_t length, void *context) {
  buffer_add(context, text, length);
  return HPAR_OK;
}

/* Decodes one byte after the other. */
static bool decode_bytes(const hp_encoding *encoding, const char *bytes, size_t length, buffer *text) {
  hp_decoder *decoder;
  buffer_clear(text);
  if (!CHECK_EQ(hp_decoder_create(&decoder, encoding), HPAR_OK)) return false;
  bool fine = true;
  for (size_t i = 0; i < length && fine; i++)
    fine = hp_decoder_run(decoder, bytes + i, 1, i + 1 == length, gather, text) == HPAR_OK;
  hp_decoder_destroy(decoder);
  return fine;
}

/* Writes runs of ASCII, of pairs of bytes and of any bytes. Less than `others` percent of the runs
 * are not ASCII. */
static void write_runs(random_state *state, char *bytes, size_t length, unsigned others) {
  for (size_t at = 0; at < length;) {
    size_t run = 1 + random_below(state, random_chance(state, 30) ? 700 : 40);
    bool is_ascii = !random_chance(state, others), has_pairs = random_chance(state, 90);
    for (; run-- && at < length; at++)
      bytes[at] = (char)(is_ascii    ? ' ' + random_below(state, 95)
                         : has_pairs ? 0xA1 + random_below(state, 94)
                                     : random_below(state, 256));
  }
}

/* Decodes long texts in any number of slices. */
static void test_long_texts(void) {
  enum { MOST = 4000 };
  static const char *const labels[] = {"windows-1252", "windows-1251", "windows-874", "gbk",           "gb18030",
                                       "big5",         "euc-jp",       "shift_jis",   "euc-kr",        "iso-2022-jp",
                                       "utf-16le",     "utf-16be",     "macintosh",   "x-user-defined"};
  static const unsigned others[] = {0, 1, 5, 40, 100};
  static char bytes[MOST];
  buffer text = {0};
  random_state state = {11};
  for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
    const hp_encoding *encoding = named(labels[k]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      size_t length = MOST / 2 + random_below(&state, MOST / 2);
      write_runs(&state, bytes, length, others[i]);
      hp_input whole = {0};
      if (!CHECK(decode_bytes(encoding, bytes, length, &text))) continue;
      if (!CHECK_EQ(hp_input_decode(&whole, bytes, length, encoding), HPAR_OK)) continue;
      CHECK(whole.length == text.length && !memcmp(whole.bytes, text.bytes, text.length));
      if (!CHECK(check_slices(encoding, bytes, length, &whole))) printf("  %s, %u\n", labels[k], others[i]);
      hp_input_close(&whole);
    }
  }
  buffer_free(&text);
}

int main(void) {
  test_ascii_in_slices();
  test_target_memory();
  test_want_of_memory();
  test_taken_slices();
  test_long_texts();
  return check_report();
}
