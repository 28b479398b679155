#ifndef HP_TEXT_DECODE_SLICES_H
#define HP_TEXT_DECODE_SLICES_H

#include "text/input.h"

/* Returns the first place from `at` on whose byte is not ASCII, or `end`. */
const char *hp_skip_ascii(const char *at, const char *end);

/* Opens `input`, as hp_input_decode, in slices if the executor can run several at once. Requires:
 * `encoding` is not UTF-8. `executor` may be NULL. */
hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor);

#endif
