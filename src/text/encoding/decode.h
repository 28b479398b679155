#ifndef HP_TEXT_ENCODING_DECODE_H
#define HP_TEXT_ENCODING_DECODE_H

/* Bytes of any encoding to UTF-8, as they come. What cannot be decoded becomes U+FFFD as the Encoding Standard says;
 * a byte order mark of the decoder's own encoding (UTF-8, UTF-16) is left out. However the bytes are split, the
 * text is the same. */

#include "text/encoding/encoding.h"

#include <hpar/status.h>

typedef struct hp_decoder hp_decoder;

/* Receives a piece of text, never empty, that begins and ends between characters and is gone after the call.
 * Anything but HPAR_OK stops the decoder and is returned. */
typedef hpar_status (*hp_decoder_sink)(const char *text, size_t length, void *context);

/* HPAR_ERROR_MEMORY; HPAR_ERROR_UNSUPPORTED where the system's iconv lacks the encoding. */
hpar_status hp_decoder_create(hp_decoder **decoder, const hp_encoding *encoding);
void hp_decoder_destroy(hp_decoder *decoder); /* NULL is allowed */

/* Decodes `n` bytes, which the decoder does not need afterwards. With `last`, which may come with no bytes, a
 * sequence that has begun becomes U+FFFD, and the decoder is as new. After a sink has failed it must be destroyed. */
hpar_status hp_decoder_run(hp_decoder *decoder, const char *bytes, size_t n, bool last, hp_decoder_sink sink,
                           void *context);

#endif
