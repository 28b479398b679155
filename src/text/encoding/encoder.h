#ifndef HP_TEXT_ENCODING_ENCODER_H
#define HP_TEXT_ENCODING_ENCODER_H

/* Encodes characters in the encodings other than Unicode's and ISO-2022-JP. It writes only bytes
 * that decode to the character. Where the encoders of the Encoding Standard write bytes of a
 * similar character (U+00A5, U+203E and U+2212 in Japanese encodings, 18 private characters in
 * gb18030), it writes nothing. The process makes the table of an encoding once, at its first use
 * (up to 190 KB), and keeps it. */

#include "text/encoding/index.h"

#include <stddef.h>

enum { HP_MAX_CODE = 4 }; /* bytes of a character */

/* A character and its place in the index. */
typedef struct hp_inverse_entry {
  uint32_t character, pointer;
} hp_inverse_entry;

typedef struct hp_inverse {
  uint32_t count;
  hp_inverse_entry entries[]; /* in ascending order of the characters */
} hp_inverse;

typedef struct hp_encoder {
  const hp_encoding *encoding;
  const hp_character *single;         /* of single-byte encodings */
  const hp_inverse *inverse, *second; /* of the others; `second` of EUC-JP */
  const uint16_t *ranges;             /* of gb18030 */
} hp_encoder;

/* HPAR_ERROR_MEMORY; HPAR_ERROR_UNSUPPORTED for other encodings, and where the system's iconv lacks
 * the encoding. */
hpar_status hp_encoder_open(hp_encoder *encoder, const hp_encoding *encoding);

/* Writes the code of a character from U+0080 on. Returns its length, or 0 if it has none. */
size_t hp_encode_character(const hp_encoder *encoder, uint32_t character, unsigned char code[HP_MAX_CODE]);

#endif
