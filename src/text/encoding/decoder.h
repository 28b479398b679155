#ifndef HP_TEXT_ENCODING_DECODER_H
#define HP_TEXT_ENCODING_DECODER_H

/* The state of a decoder, for decode.c and for input.c, which decodes in place. */

#include "text/encoding/decode.h"
#include "text/encoding/index.h"

enum {
  HP_DECODER_WAITING = 3, /* maximum bytes of an incomplete sequence */
  HP_DECODER_BLOCK = 4096,
  HP_DECODER_SLACK = 8 /* maximum bytes written after the three bytes of text per byte */
};

/* Decodes from `at` and advances `*out`, which has space for three bytes per byte and
 * HP_DECODER_SLACK. Returns the place where it stopped: `end`, or the beginning of an incomplete
 * sequence if the bytes are not the last ones. */
typedef const unsigned char *(*hp_decode)(hp_decoder *decoder, const unsigned char *at, const unsigned char *end,
                                          bool last, char **out);

/* The state of ISO-2022-JP between two sequences. */
typedef struct hp_iso_2022_jp {
  uint8_t state, output_state, lead;
  bool output;
} hp_iso_2022_jp;

struct hp_decoder {
  const hp_encoding *encoding;
  hp_decode decode;
  const hp_character *table, *second;
  const uint16_t *ranges;
  union {
    hp_iso_2022_jp iso;
    /* GB18030 and EUC-KR: the number of sequences with another length than two bytes, and of
     * invalid ones. Those at the end of the bytes do not count */
    uint32_t irregular;
    uint32_t state; /* of any encoding */
  };
  bool replaced; /* the replacement encoding has written its one U+FFFD */
  bool begun;    /* the check for a byte order mark is done */
  uint8_t bom_count;
  uint8_t waiting_count;
  unsigned char waiting[HP_DECODER_WAITING];
  char out[3 * HP_DECODER_BLOCK + HP_DECODER_SLACK];
};

hpar_status hp_decoder_open(hp_decoder *decoder, const hp_encoding *encoding);

/* Decodes the bytes of a single-byte encoding to the text that ends at `out`. Returns where the
 * text begins. There must be space for three bytes per byte and HP_DECODER_SLACK. */
char *hp_decode_single_byte_backward(const hp_decoder *decoder, const unsigned char *begin, const unsigned char *end,
                                     char *out);

/* Sets `*bom` to the encoding's byte order mark. Returns its length, or 0 for none. */
size_t hp_encoding_bom(const hp_encoding *encoding, const char **bom);

#endif
