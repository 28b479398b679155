#ifndef HP_TOKENIZER_PROBE_H
#define HP_TOKENIZER_PROBE_H

/* Each function returns how many of the 16 bytes at `at` precede the first byte of a set, or 16 if
 * none is in the set. Requires: 16 bytes are readable. Most names and many values end within 16
 * bytes and need no kernel call. */

#include "tokenizer/states.h"

/* The number of bytes that fast paths may read without a check for the end: white space, a name of
 * 15 bytes, "=", a quote, and HP_PROBES times 16 bytes of value. */
enum { HP_PROBES = 3, HP_FAST_REACH = 18 + 16 * HP_PROBES + 6 };

/* Some bytes of a block of 64 bytes, as bits. */
typedef struct hp_quote_block {
  uint64_t quotes; /* '"' */
  uint64_t odd;    /* '&' and controls */
} hp_quote_block;

enum { HP_QUOTE_BLOCK = 64 };
_Static_assert((int)HP_QUOTE_BLOCK < (int)HP_FAST_REACH, "fast paths may read a block");

#if defined(__SSE2__)
#include <emmintrin.h>

static inline unsigned first_of(__m128i found) {
  return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(found) | 0x10000);
}
static inline __m128i sixteen(const char *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }
static inline __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

static inline __m128i between(__m128i bytes, char first, char last) {
  __m128i from_first = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(from_first, _mm_set1_epi8((char)(last - first))), from_first);
}

/* The set: the ends of a tag name, and other controls. */
static inline unsigned probe_tag_name(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  return first_of(_mm_or_si128(_mm_or_si128(low, equal(bytes, '>')), equal(bytes, '/')));
}

/* The set: the ends of an attribute name except '/', and other controls. */
static inline unsigned probe_attribute_name(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  return first_of(_mm_or_si128(_mm_or_si128(low, equal(bytes, '>')), equal(bytes, '=')));
}

/* The set: the ends of an attribute name, and other controls. */
static inline unsigned probe_attribute_end(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  return first_of(
      _mm_or_si128(_mm_or_si128(low, equal(bytes, '/')), _mm_or_si128(equal(bytes, '>'), equal(bytes, '='))));
}

/* The set: the special bytes of an unquoted value, and other controls. */
static inline unsigned probe_unquoted(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  return first_of(_mm_or_si128(_mm_or_si128(_mm_or_si128(low, between(bytes, '<', '>')), between(bytes, '&', '\'')),
                               _mm_or_si128(equal(bytes, '"'), equal(bytes, '`'))));
}

static inline unsigned probe_byte(const char *at, char byte) { return first_of(equal(sixteen(at), byte)); }

static inline unsigned probe_quoted(const char *at, char quote) {
  __m128i bytes = sixteen(at);
  return first_of(_mm_or_si128(_mm_or_si128(equal(bytes, quote), equal(bytes, '&')),
                               _mm_or_si128(equal(bytes, '\r'), equal(bytes, 0))));
}

static inline unsigned probe_text(const char *at) { return probe_quoted(at, '<'); }

/* The set: the end of a tag. */
static inline unsigned probe_tag_end(const char *at) { return first_of(equal(sixteen(at), '>')); }

/* Returns the number of equal bytes before the first different byte, or 16. */
static inline unsigned probe_difference(const char *left, const char *right) {
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen(left), sixteen(right))));
}

/* Returns the quotation marks of a block. Their places do not depend on the attributes before
 * them, so the processor reads several attributes at once. */
static inline hp_quote_block probe_quotes(const char *at) {
  hp_quote_block block = {0, 0};
  for (unsigned i = 0; i < HP_QUOTE_BLOCK; i += 16) {
    __m128i bytes = sixteen(at + i), low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    block.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(equal(bytes, '"')) << i;
    block.odd |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(low, equal(bytes, '&'))) << i;
  }
  return block;
}

/* The set: space, LF and tab, the common white space. */
static inline unsigned probe_white(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i white = _mm_or_si128(_mm_or_si128(equal(bytes, ' '), equal(bytes, '\n')), equal(bytes, '\t'));
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(white));
}

#else

static inline unsigned probe_tag_name(const char *at) {
  unsigned n = 0;
  while (n < 16 && (unsigned char)at[n] > ' ' && !(hp_class(at[n]) & HP_BYTE_TAG_STOP)) n++;
  return n;
}

static inline unsigned probe_attribute_name(const char *at) {
  unsigned n = 0;
  while (n < 16 && (unsigned char)at[n] > ' ' && !(hp_class(at[n]) & HP_BYTE_NAME_STOP)) n++;
  return n;
}

static inline unsigned probe_attribute_end(const char *at) { return probe_attribute_name(at); }

static inline unsigned probe_unquoted(const char *at) {
  unsigned n = 0;
  while (n < 16 && !(hp_class(at[n]) & HP_BYTE_VALUE_STOP)) n++;
  return n;
}

static inline unsigned probe_byte(const char *at, char byte) {
  unsigned n = 0;
  while (n < 16 && at[n] != byte) n++;
  return n;
}

static inline unsigned probe_quoted(const char *at, char quote) {
  unsigned n = 0;
  while (n < 16 && at[n] != quote && at[n] != '&' && at[n] != '\r' && at[n]) n++;
  return n;
}

static inline unsigned probe_text(const char *at) { return probe_quoted(at, '<'); }

static inline unsigned probe_white(const char *at) {
  unsigned n = 0;
  while (n < 16 && (at[n] == ' ' || at[n] == '\n' || at[n] == '\t')) n++;
  return n;
}

/* Finds nothing: without vectors, probes find the end of each value. */
static inline hp_quote_block probe_quotes(const char *at) { return (void)at, (hp_quote_block){0, 0}; }

static inline unsigned probe_tag_end(const char *at) {
  unsigned n = 0;
  while (n < 16 && at[n] != '>') n++;
  return n;
}

static inline unsigned probe_difference(const char *left, const char *right) {
  unsigned n = 0;
  if (!memcmp(left, right, 16)) return 16;
  while (left[n] == right[n]) n++;
  return n;
}

#endif
#endif
