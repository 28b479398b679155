#ifndef HP_TEXT_ENCODING_DECODE_H
#define HP_TEXT_ENCODING_DECODE_H

/* Decodes bytes of any encoding to UTF-8, piece by piece. An invalid sequence becomes U+FFFD by
 * the rules of the Encoding Standard. The decoder drops a byte order mark of its own encoding
 * (UTF-8, UTF-16). The text does not depend on the pieces. */

#include "text/encoding/encoding.h"

#include <hpar/node.h>

typedef struct hp_decoder hp_decoder;

/* Receives a piece of text that is not empty and has whole characters. The text is valid during
 * the call. A status other than HPAR_OK stops the decoder, which returns it. */
typedef hpar_status (*hp_decoder_sink)(const char *text, size_t length, void *context);

/* HPAR_ERROR_MEMORY. */
hpar_status hp_decoder_create(hp_decoder **decoder, const hp_encoding *encoding);
void hp_decoder_destroy(hp_decoder *decoder); /* NULL is allowed */

/* Decodes `n` bytes. The decoder does not need them after the call. With `last`, an incomplete
 * sequence becomes U+FFFD, and the decoder is ready for new input; `n` may be 0. If the sink
 * fails, the caller must destroy the decoder. */
hpar_status hp_decoder_run(hp_decoder *decoder, const char *bytes, size_t n, bool last, hp_decoder_sink sink,
                           void *context);

#endif
