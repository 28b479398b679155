#ifndef HP_TEXT_INPUT_H
#define HP_TEXT_INPUT_H

/* Turns the caller's bytes into the tokenizer's text: valid UTF-8 without a BOM. */

#include "base/arena.h"
#include "base/target.h"
#include "runtime/units.h"
#include "text/encoding/encoding.h"

#include <hpar/node.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows and never moves: nodes point into it while a parser adds more. The first use
 * reserves address space. Memory is taken as it is written to and kept for the next text. A
 * buffer of zeros is empty. */
typedef struct hp_buffer {
  char *base;    /* NULL: no address space is reserved */
  size_t length; /* <= size */
  size_t size;
  size_t reached; /* bytes that were ever prepared for use */
  hp_block block;
} hp_buffer;

/* Returns space for `n` bytes after the text, or NULL if memory or address space is short.
 * hp_buffer_take makes them part of the text. */
char *hp_buffer_room(hp_buffer *buffer, size_t n);
/* Returns the same for text that will take about `expected` bytes: requests huge pages for it. */
char *hp_buffer_room_for(hp_buffer *buffer, size_t n, size_t expected);
void hp_buffer_take(hp_buffer *buffer, size_t n);

/* Appends bytes. Returns HPAR_ERROR_MEMORY if no space is left. */
hpar_status hp_buffer_add(hp_buffer *buffer, const char *bytes, size_t n);

void hp_buffer_clear(hp_buffer *buffer); /* memory is kept */
/* Gives back the address space after the text. The next text gets a reservation again. */
void hp_buffer_trim(hp_buffer *buffer);
void hp_buffer_close(hp_buffer *buffer);

/* `bytes` is the caller's memory, past the BOM, where that is valid UTF-8; otherwise `owned`,
 * with each invalid sequence replaced. Offsets in the text differ from those in the caller's
 * bytes by the BOM and the replacements: `repairs` lists, ascending, offsets in the text with
 * those that they come from.
 *
 * Between two repairs (and before the first, from the BOM on) the text is one of
 *   - unchanged bytes, perhaps followed by a U+FFFD for 1 or 2 bytes (the source has up to 2 fewer)
 *   - only U+FFFD, each for the same number of bytes (more than 2 fewer in the source)
 * A U+FFFD in place of 3 bytes shifts nothing and counts as a byte run. Both fields ascend
 * strictly. There are at most 2 repairs for 3 bytes of input, rounded up, and at most 3 bytes of
 * text for 1. */
typedef struct hp_repair {
  uint32_t offset, source;
} hp_repair;

/* In other encodings the text is `owned`, unless it is all ASCII, and each stretch of at most
 * HP_CHECKPOINT_BYTES of the source has a checkpoint where it begins. To know an offset between
 * two, the stretch is decoded again. */
typedef struct hp_checkpoint {
  uint32_t offset, source;
  uint32_t state; /* of the decoder (text/encoding/decoder.h) */
} hp_checkpoint;

/* Those of a part of the text that was decoded by itself; the offsets are from `offset`, where
 * it begins. */
typedef struct hp_checkpoints {
  uint32_t offset, count;
  hp_checkpoint *at;
} hp_checkpoints;

enum { HP_CHECKPOINT_BYTES = 512 };

typedef struct hp_input {
  const char *bytes;
  size_t length;
  const hp_encoding *encoding; /* NULL, as after zeroing, is UTF-8 */
  uint32_t bom;                /* bytes of it: 0, 2 or 3 */
  bool kept;                   /* the text is `owned` or in a buffer, and not the caller's */
  char *owned;                 /* NULL or to be freed with hp_free */
  hp_repair *repairs;
  size_t repair_count;
  const char *source; /* the source of the checkpoints; NULL: it may be gone */
  size_t source_length;
  char *owned_source;          /* NULL or to be freed with hp_free */
  hp_checkpoints *checkpoints; /* of each part; one allocation has all their `at` */
  size_t part_count;
} hp_input;

/* Lets the input use its copy of the source, if it has one. */
static inline void hp_input_use_copy(hp_input *input) { input->source = input->owned_source; }

/* An input that owns nothing. It can convert offsets while the original one grows: what the two
 * share does not change. */
typedef struct hp_input_copy {
  hp_input input;
  hp_checkpoints part; /* all its checkpoints, in an encoding other than UTF-8 */
} hp_input_copy;

static inline void hp_input_copy_set(hp_input_copy *copy, const hp_input *input) {
  copy->input = *input;
  if (input->part_count) copy->part = *input->checkpoints;
}
/* Returns the input of a copy, which stays at its place. */
static inline const hp_input *hp_input_of_copy(hp_input_copy *copy) {
  copy->input.checkpoints = &copy->part;
  return &copy->input;
}

/* Returns the first byte that is no part of valid UTF-8, or `end`. The bytes before it bound the
 * cost, even if invalid bytes are dense. Requires: a character begins at `at`. */
const char *hp_next_invalid(const char *at, const char *end);

/* HPAR_ERROR_TOO_LARGE where the bytes or the text are more than HPAR_MAX_INPUT. `bytes` may be
 * NULL if there are none. On failure `input` is as it was. */
HP_SHARED hpar_status hp_input_open(hp_input *input, const char *bytes, size_t length);

/* The same for any encoding. */
hpar_status hp_input_decode(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding);

/* The same for bytes that are probably valid UTF-8: does not check that. */
hpar_status hp_input_assume_utf8(hp_input *input, const char *bytes, size_t length);

/* Slices to run once each. */
typedef struct hp_slice_batch { // value
  const hp_unit_client *client;
  void *job;
  const uint8_t *order; /* in which threads begin them, if the client admits; NULL: ascending */
  unsigned count;
  uint64_t unfinished; /* bit i: slice i, by a straggler */
} hp_slice_batch;

/* The means to decode in slices. All fields may be zero. */
typedef struct hp_slice_executor { // value
  hp_buffer *buffer;               /* empty: it receives the text if it has space */
  unsigned max_slices;
  size_t min_slice_bytes;
  size_t first_slice_bytes; /* of two slices; 0: a half */
  size_t min_checked_bytes; /* of slices that are only validated */
  /* Runs the slices on any threads. Returns true if all have returned. Returns false if there
   * is a straggler: batch->unfinished then has its slices, and the executor drops the job when the
   * thread has left. */
  bool (*run)(void *context, hp_slice_batch *batch);
  void *context;
} hp_slice_executor;

/* Does the same as hp_input_decode, in slices if the executor can run several at once. Requires:
 * `encoding` is not UTF-8. `executor` may be NULL. */
hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor);

/* Returns the first place from `at` on whose byte is not ASCII, or `end`. */
const char *hp_skip_ascii(const char *at, const char *end);

enum { HP_DECODE_SLICES = 64 };

/* The same for what hp_sniff has found; where that is nothing, `sniffed` is completed. */
hpar_status hp_input_decode_sniffed(hp_input *input, const char *bytes, size_t length, hp_sniffed *sniffed,
                                    const hp_slice_executor *executor);

/* Copies the text unless it is independent of the caller's bytes: into `buffer`, which is empty, or
 * into `owned` if the text is short or there is no buffer. With `offsets`, hp_input_offset is
 * independent, too. On failure the caller closes the input. */
hpar_status hp_input_keep(hp_input *input, hp_buffer *buffer, bool offsets);

void hp_input_close(hp_input *input); /* frees repairs and, if still there, owned */

/* Returns the offset in the caller's bytes of an offset in the text. Requires: a character begins
 * at the offset, or the text ends there. */
HP_SHARED uint64_t hp_input_offset(const hp_input *input, uint64_t offset);

/* A converted offset of one input, from which the conversion of later offsets continues. All fields
 * are zero at the beginning. Offsets in any order are allowed. */
typedef struct hp_input_cursor {
  uint64_t offset, source; /* 0 and 0: none */
  size_t part, checkpoint; /* of the input: indices of the last checkpoint before the offset */
} hp_input_cursor;

/* Returns the same as hp_input_offset. The conversion of ascending offsets reads each byte of the
 * source at most once. */
uint64_t hp_input_offset_from(const hp_input *input, hp_input_cursor *cursor, uint64_t offset);

/* Returns the same. Most inputs are UTF-8 without repairs, whose offsets differ by the byte order
 * mark. */
static inline uint64_t hp_input_source_offset(const hp_input *input, hp_input_cursor *cursor, uint32_t offset) {
  return !input->source && !input->repair_count ? offset + input->bom : hp_input_offset_from(input, cursor, offset);
}

#endif
