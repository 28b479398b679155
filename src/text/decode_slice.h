#ifndef HP_TEXT_DECODE_SLICE_H
#define HP_TEXT_DECODE_SLICE_H

/* Decodes one slice of the source, to text and checkpoints of its own. */

#include "text/encoding/decoder.h"
#include "text/input.h"

#include <stdbool.h>

/* A part of the source, and where its text and its checkpoints go. */
typedef struct hp_text_slice {
  const unsigned char *begin, *end;
  char *place, *limit; /* the memory for the text */
  const char *text;    /* the decoded text, or source that is ASCII */
  size_t length;
  hp_checkpoint *room;        /* the memory for hp_most_checkpoints */
  hp_checkpoint *checkpoints; /* offsets are those from `text` */
  size_t checkpoint_count;
  hpar_status status;
  bool is_saturated; /* the text did not fit */
} hp_text_slice;

/* Returns the first place from `at` on whose byte is not ASCII, or `end`. */
const char *hp_skip_ascii(const char *at, const char *end);

/* Returns the first place from `at` on where a decoder that started at `begin` has no state.
 * Requires: `begin` < `at`. */
const unsigned char *hp_slice_end(const hp_encoding *encoding, const unsigned char *begin, const unsigned char *at,
                                  const unsigned char *end);

/* Returns the memory that the longest possible text takes. */
static inline ptrdiff_t hp_most_text(const unsigned char *begin, const unsigned char *end) {
  return 3 * (end - begin) + HP_DECODER_SLACK;
}

/* Returns the maximal number of checkpoints of a slice. */
size_t hp_most_checkpoints(const hp_text_slice *slice);

/* Makes the ASCII source of the slice its text. `source` is the beginning of the whole source, here
 * and below. */
void hp_take_ascii(hp_text_slice *slice, const unsigned char *source);

/* Decodes the slice to a text that begins at `place`. The text is at most `most` bytes long. */
void hp_decode_forward(hp_text_slice *slice, const hp_encoding *encoding, const unsigned char *source, ptrdiff_t most,
                       hp_unit_steps *steps);

/* Decodes the slice to a text that ends at `limit`. */
void hp_decode_to_limit(hp_text_slice *slice, const hp_encoding *encoding, const unsigned char *source, ptrdiff_t most,
                        hp_unit_steps *steps);

/*** decode_slices.c ***/

/* Opens `input`, as hp_input_decode, in slices if the executor can run several at once. Requires:
 * `encoding` is not UTF-8. `executor` may be NULL. */
hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor);

#endif
