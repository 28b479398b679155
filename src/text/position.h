#ifndef HP_TEXT_POSITION_H
#define HP_TEXT_POSITION_H

/* Turns byte offsets into lines and columns, and offsets in decoded text into those of its source.
 * One pass over the bytes serves any number of ascending offsets. */

#include "text/encoding/encoding.h"
#include "text/input.h"

#include <stddef.h>
#include <stdint.h>

/* Both start at 1. CR, LF and CR LF each end a line and belong to it. A column is a code point.
 * An invalid UTF-8 sequence counts as its U+FFFD, and a BOM does not count. */
typedef struct hp_position {
  uint64_t line, column;
} hp_position;

/* `at` begins the character of the last call, and `position` is its position. `lf` and `cr` are
 * the first LF and CR from `at` on, or `end`. */
typedef struct hp_line_finder {
  const char *bytes, *at, *end, *lf, *cr;
  hp_position position;
} hp_line_finder;

/* `bytes` are the caller's, as they were before decoding, and must stay. */
void hp_line_open(hp_line_finder *finder, const char *bytes, size_t length);

/* Returns the position of the character that has the byte at `offset`, or the end of the input
 * for larger offsets. For an offset below that of the last call it starts at the beginning. */
hp_position hp_line_at(hp_line_finder *finder, uint64_t offset);

/* Returns the same with a column that counts bytes, a BOM included. Requires: all calls with this
 * finder are of this function. */
hp_position hp_line_of_byte(hp_line_finder *finder, uint64_t offset);

/*** offsets in a source that is not UTF-8, from offsets in its decoded text ***/

/* Returns the offset in the source, and moves the cursor there. Requires: the encoding is not
 * UTF-8. */
uint64_t hp_decoded_offset(const hp_input *input, hp_input_cursor *cursor, uint64_t offset);

#endif
