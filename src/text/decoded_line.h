#ifndef HP_TEXT_DECODED_LINE_H
#define HP_TEXT_DECODED_LINE_H

/* Lines and columns of byte offsets where the bytes are not UTF-8: text/line.h by way of a
 * decoder. */

#include "text/encoding/decode.h"
#include "text/line.h"

typedef struct hp_decoded_line_finder {
  hp_decoder *decoder;
  const char *bytes, *at, *end;
  hp_position position;
  bool after_cr; /* the line has ended, unless an LF comes */
} hp_decoded_line_finder;

/* Requires: `bytes` stays until the finder is closed. Returns the status of hp_decoder_create. */
hpar_status hp_decoded_line_open(hp_decoded_line_finder *finder, const hp_encoding *encoding, const char *bytes,
                                 size_t length);
void hp_decoded_line_close(hp_decoded_line_finder *finder);

/* Returns the position of the character that begins at `offset`. Requires: `offset` is not below
 * that of the last call. */
hp_position hp_decoded_line_at(hp_decoded_line_finder *finder, uint64_t offset);

#endif
