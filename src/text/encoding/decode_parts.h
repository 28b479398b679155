#ifndef HP_TEXT_ENCODING_DECODE_PARTS_H
#define HP_TEXT_ENCODING_DECODE_PARTS_H

/* What the decoders share: ASCII, single characters, incomplete sequences. */

#include "base/bytes.h"
#include "text/encoding/decoder.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* Defines the decoder `hp_decode_NAME` by inlining `decode_NAME`, so that the end of the text
 * stays in a register. */
#define HP_DECODER(name)                                                                                             \
  const unsigned char *hp_decode_##name(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last, \
                                        char **out) {                                                                \
    char *to = *out;                                                                                                 \
    at = decode_##name(d, at, end, last, &to);                                                                       \
    *out = to;                                                                                                       \
    return at;                                                                                                       \
  }

/* The decoders of legacy multi-byte encodings (legacy.c). */
const unsigned char *hp_decode_gb18030(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                       char **out);
const unsigned char *hp_decode_big5(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                    char **out);
const unsigned char *hp_decode_euc_jp(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                      char **out);
const unsigned char *hp_decode_shift_jis(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                         char **out);
const unsigned char *hp_decode_euc_kr(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                      char **out);
const unsigned char *hp_decode_iso_2022_jp(hp_decoder *d, const unsigned char *at, const unsigned char *end, bool last,
                                           char **out);

#endif
