#ifndef HP_TEXT_DECODED_OFFSET_H
#define HP_TEXT_DECODED_OFFSET_H

/* Offsets in a source that is not UTF-8, from offsets in its decoded text. */

#include "text/input.h"

/* Returns the offset in the source, and moves the cursor there. Requires: the encoding is not
 * UTF-8. */
uint64_t hp_decoded_offset(const hp_input *input, hp_input_cursor *cursor, uint64_t offset);

#endif
