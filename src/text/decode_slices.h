#ifndef HP_TEXT_DECODE_SLICES_H
#define HP_TEXT_DECODE_SLICES_H

/* Decodes encodings other than UTF-8, in slices if the executor can run several at once. */

#include "text/input.h"

/* Opens `input`, as hp_input_decode. Requires: `encoding` is not UTF-8. `executor` may be NULL. */
hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor);

#endif
