#ifndef HP_TEXT_ENCODING_DECODER_H
#define HP_TEXT_ENCODING_DECODER_H

/* The inside of a decoder, for decode.c and for input.c, which decodes into place. */

#include "text/encoding/decode.h"
#include "text/encoding/index.h"

enum {
  HP_DECODER_WAITING = 3, /* bytes of a sequence that has begun, at most */
  HP_DECODER_BLOCK = 4096,
  HP_DECODER_SLACK = 8 /* written beyond the three bytes of text for one, at most */
};

/* Decodes from `at`, and moves `*out`, which has room for three bytes a byte and HP_DECODER_SLACK. Answers where it
 * stopped: at `end`, or, not being the last bytes, at the beginning of a sequence that does not end in them. */
typedef const unsigned char *(*hp_decode)(hp_decoder *decoder, const unsigned char *at, const unsigned char *end,
                                          bool last, char **out);

/* All of ISO-2022-JP's state; no other encoding has any between two sequences. */
typedef struct hp_iso_2022_jp {
  uint8_t state, output_state, lead;
  bool output;
} hp_iso_2022_jp;

struct hp_decoder {
  const hp_encoding *encoding;
  hp_decode decode;
  const hp_character *table, *second;
  const uint16_t *ranges;
  hp_iso_2022_jp iso;
  bool replaced; /* the replacement encoding has said all that it says */
  bool begun;    /* past a byte order mark, or the want of one */
  uint8_t bom_count;
  uint8_t waiting_count;
  unsigned char waiting[HP_DECODER_WAITING];
  char out[3 * HP_DECODER_BLOCK + HP_DECODER_SLACK];
};

hpar_status hp_decoder_open(hp_decoder *decoder, const hp_encoding *encoding);

/* The encoding's byte order mark and its length, 0 where it has none. */
size_t hp_encoding_bom(const hp_encoding *encoding, const char **bom);

#endif
