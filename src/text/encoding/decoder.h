#ifndef HP_TEXT_ENCODING_DECODER_H
#define HP_TEXT_ENCODING_DECODER_H

/* What decoders and encoders share: indexes, the state of a decoder, single characters. */

#include "base/bytes.h"
#include "text/encoding/encoding.h"

#include <hpar/node.h>
#include <stddef.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/*** the indexes of the Encoding Standard, as tables from pointers to UTF-8 ***/

/* One character in UTF-8, in the first bytes; all bytes are zero for none. Only Big5 has four
 * entries of two characters each. */
typedef struct hp_character {
  char utf8[4];
} hp_character;

/* Returns the code point of an entry; 0: none, or two characters. */
uint32_t hp_code_point_of(const hp_character *entry);

/* The process unpacks each table once, at its first use (1 to 96 KB), and keeps it. */
typedef enum hp_index {
  HP_INDEX_GB18030,
  HP_INDEX_BIG5,
  HP_INDEX_JIS0208,
  HP_INDEX_JIS0212,
  HP_INDEX_EUC_KR,
  HP_INDEXES
} hp_index;

enum {
  HP_BIG5_ROW = 157,
  HP_GB18030_ROW = 190,
  HP_JIS_ROW = 94,
  HP_SHIFT_JIS_ROW = 188,
  HP_GB18030_FOUR_BYTES = 39420 /* pointers of four-byte codes for characters up to U+FFFF */
};

/* The packed characters: see index.c. */
extern const unsigned char hp_packed_gb18030[], hp_packed_big5[], hp_packed_jis0208[], hp_packed_jis0212[],
    hp_packed_euc_kr[], hp_packed_single_bytes[];

/* Fills the memory of a table, which is zero. Opens only tables that have been made: the caller
 * holds a lock. */
typedef void (*hp_table_maker)(const void *key, void *table);
/* Returns the table of `key`. Makes it at its first use; it stays in memory. This function and
 * those below return NULL if no memory is left. */
const void *hp_table_open(const void *key, size_t bytes, hp_table_maker make);

/* Returns the number of pointers of the index. */
uint32_t hp_index_size(hp_index index);
const hp_character *hp_index_open(hp_index index);

/* The characters of the four-byte codes of GB18030 below HP_GB18030_FOUR_BYTES. */
const uint16_t *hp_gb18030_ranges_open(void);

/* The characters of all 256 bytes. A byte without a character has U+FFFD. */
const hp_character *hp_single_byte_open(const hp_encoding *encoding);

/*** the state of a decoder, for decode.c and for input.c, which decodes in place ***/

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

/*** ASCII, single characters, incomplete sequences ***/

static inline char *hp_put_replacement(char *out) {
  memcpy(out, "\xEF\xBF\xBD", 3);
  return out + 3;
}

/* Stores four bytes and returns the end of the character, which may have fewer. */
static inline char *hp_put_character(char *out, const hp_character *c) {
  memcpy(out, c->utf8, 4);
  unsigned char first = (unsigned char)c->utf8[0];
  return out + 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0);
}

/* Returns the number of bytes before the first one whose high bit is set in the word. */
static inline unsigned hp_bytes_before_high(uint64_t high) { return (unsigned)__builtin_ctzll(high) / 8; }

/* Copies the bytes before the next one that is not ASCII. It stores whole blocks, because the
 * output has three bytes per byte of input. */
static inline const unsigned char *hp_copy_ascii(const unsigned char *at, const unsigned char *end, char **out) {
  char *to = *out;
#if defined(__SSE2__)
  while (end - at >= 32) {
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(at + 16));
    _mm_storeu_si128((__m128i *)(void *)to, a);
    _mm_storeu_si128((__m128i *)(void *)(to + 16), b);
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(a, b)), 0)) {
      unsigned high = (unsigned)_mm_movemask_epi8(a) | (unsigned)_mm_movemask_epi8(b) << 16;
      unsigned count = (unsigned)__builtin_ctz(high);
      *out = to + count;
      return at + count;
    }
    at += 32;
    to += 32;
  }
#endif
  while (end - at >= 16) {
    uint64_t a = hp_load_64(at) & UINT64_C(0x8080808080808080);
    uint64_t b = hp_load_64(at + 8) & UINT64_C(0x8080808080808080);
    memcpy(to, at, 16);
    if (a | b) {
      unsigned count = a ? hp_bytes_before_high(a) : 8 + hp_bytes_before_high(b);
      *out = to + count;
      return at + count;
    }
    at += 16;
    to += 16;
  }
  while (at < end && *at < 0x80) *to++ = (char)*at++;
  *out = to;
  return at;
}

static inline const unsigned char *hp_pass_ascii(const unsigned char *at, const unsigned char *end, char **out) {
  return at < end && *at < 0x80 ? hp_copy_ascii(at, end, out) : at;
}

/* Handles an incomplete sequence at the end of the bytes: an error if they are the last. */
static inline const unsigned char *hp_unfinished_sequence(const unsigned char *at, const unsigned char *end, bool last,
                                                          char **out) {
  if (!last) return at;
  *out = hp_put_replacement(*out);
  return end;
}

/* Encodes characters in the encodings other than Unicode's and ISO-2022-JP. It writes only bytes
 * that decode to the character. Where the encoders of the Encoding Standard write bytes of a
 * similar character (U+00A5, U+203E and U+2212 in Japanese encodings, 18 private characters in
 * gb18030), it writes nothing. The process makes the table of an encoding once, at its first use
 * (up to 190 KB), and keeps it. */

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

/* HPAR_ERROR_MEMORY; HPAR_ERROR_UNSUPPORTED for other encodings. */
hpar_status hp_encoder_open(hp_encoder *encoder, const hp_encoding *encoding);

/* Writes the code of a character from U+0080 on. Returns its length, or 0 if it has none. */
size_t hp_encode_character(const hp_encoder *encoder, uint32_t character, unsigned char code[HP_MAX_CODE]);

#endif
