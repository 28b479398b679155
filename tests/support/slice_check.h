#ifndef TESTS_SUPPORT_SLICE_CHECK_H
#define TESTS_SUPPORT_SLICE_CHECK_H

/* Checks of a test program that decodes in slices: text and offsets are those of one piece. */

#include "text/input.h"

#include "check.h"

static inline bool run_backwards(void *context, hp_slice_batch *batch) {
  hp_unit_steps steps = {0};
  *(unsigned *)context = batch->count;
  for (unsigned i = batch->count; i--;) batch->client->run(batch->job, i, 0, &steps);
  return true;
}

/* Runs all slices. Then moves them as several threads may: slices get a place before the last ones
 * are moved, and a later slice is moved first. */
static inline bool run_and_move(void *context, hp_slice_batch *batch) {
  run_backwards(context, batch);
  unsigned moved = 0, placed = 0;
  while (batch->client->admit && moved < batch->count) {
    hp_admission place = HP_ADMIT_NOW;
    while (placed < batch->count && (place = batch->client->admit(batch->job, placed, moved)) == HP_ADMIT_NOW) placed++;
    if (moved == placed) break; /* the rest has no place */
    for (unsigned i = placed; i-- > moved;) batch->client->consume(batch->job, i);
    moved = placed;
    if (place == HP_ADMIT_NONE) break;
  }
  return true;
}

/* A batch whose middle slice belongs to a late thread. */
typedef struct late_batch {
  hp_slice_batch of;
  bool is_left;
} late_batch;

static inline bool run_with_late_thread(void *context, hp_slice_batch *batch) {
  late_batch *late = context;
  hp_unit_steps steps = {0};
  bool is_late = !late->is_left;
  for (unsigned i = 0; i < batch->count; i++)
    if (!is_late || i != batch->count / 2) batch->client->run(batch->job, i, 0, &steps);
  if (!is_late) return true;
  batch->unfinished = UINT64_C(1) << batch->count / 2;
  late->is_left = true;
  late->of = *batch;
  return false;
}

/* Decodes or validates while a thread is late. The thread finishes its slice when the input is
 * complete: it must not change the text. */
static inline bool check_late_slice(const hp_encoding *encoding, const char *bytes, size_t length,
                                    const hp_input *whole) {
  hp_buffer target = {0};
  hp_input input = {0};
  late_batch late = {.is_left = false};
  hp_sniffed sniffed = {encoding, HP_ENCODING_FROM_HINT, true};
  hp_slice_executor executor = {.buffer = &target,
                                .run = run_with_late_thread,
                                .context = &late,
                                .max_slices = 3,
                                .min_slice_bytes = 2,
                                .min_checked_bytes = 8};
  bool fine = CHECK_EQ(hp_input_decode_sniffed(&input, bytes, length, &sniffed, &executor), HPAR_OK);
  hp_unit_state unit = HP_UNIT_GIVEN_UP;
  hp_unit_steps steps = {.unit = &unit};
  if (late.is_left) {
    late.of.client->run(late.of.job, late.of.count / 2, 1, &steps);
    late.of.client->drop(late.of.job);
  }
  fine = fine && input.length == whole->length && (!input.length || !memcmp(input.bytes, whole->bytes, input.length));
  hp_input_close(&input);
  hp_buffer_close(&target);
  return fine;
}

/* Decodes slices of minimum length into a buffer. */
static inline bool check_slices(const hp_encoding *encoding, const char *bytes, size_t length, const hp_input *whole) {
  hp_buffer target = {0};
  unsigned slices = 0;
  hp_sniffed sniffed = {encoding, HP_ENCODING_FROM_HINT, true};
  hp_slice_executor executor = {.buffer = &target, .run = run_backwards, .context = &slices, .min_slice_bytes = 2};
  bool fine = true;
  for (executor.max_slices = 1; executor.max_slices < 12 && fine; executor.max_slices++) {
    executor.run = executor.max_slices % 2 ? run_and_move : run_backwards;
    hp_input input = {0};
    hp_buffer_clear(&target);
    if (!CHECK_EQ(hp_input_decode_sniffed(&input, bytes, length, &sniffed, &executor), HPAR_OK)) return false;
    fine = input.length == whole->length && (!input.length || !memcmp(input.bytes, whole->bytes, input.length));
    for (size_t i = 0; i <= input.length && fine; i++)
      if (i == input.length || ((unsigned char)input.bytes[i] & 0xC0) != 0x80)
        fine = hp_input_offset(&input, i) == hp_input_offset(whole, i);
    hp_input_close(&input);
  }
  if (length > 40 && encoding->kind == HP_ENCODING_SINGLE_BYTE && slices) CHECK(slices > 2);
  fine = fine && CHECK(check_late_slice(encoding, bytes, length, whole));
  hp_buffer_close(&target);
  return fine;
}

#endif
