#ifndef HP_BASE_BYTES_H
#define HP_BASE_BYTES_H

/* Bytes as numbers, as ASCII and as UTF-8. */

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Loads and stores bytes as a number. The first byte has the lowest bits on every system, so that
 * masks, shifts and generated keys are the same everywhere. */
static inline uint64_t hp_load_64(const void *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline uint32_t hp_load_32(const void *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

static inline void hp_store_32(void *at, uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  memcpy(at, &word, sizeof word);
}

/* ASCII letters, digits, white space, and comparisons without regard to case. They do not depend
 * on the locale, unlike <ctype.h> and <strings.h>: in a Turkish locale, strncasecmp treats "I" and
 * "i" as different letters. */

static inline char hp_ascii_lower(char c) { return (unsigned char)(c - 'A') < 26 ? (char)(c | 0x20) : c; }

static inline bool hp_ascii_is_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

/* Returns true for the white space of the standard: space, tab, line feed, form feed, return. */
static inline bool hp_ascii_is_white(char c) {
  const uint64_t white = 1 << '\t' | 1 << '\n' | 1 << '\f' | 1 << '\r' | UINT64_C(1) << ' ';
  return (unsigned char)c <= ' ' && white >> c & 1;
}

static inline bool hp_ascii_is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Returns the value of a hexadecimal digit, or -1. */
static inline int hp_hex_value(char c) {
  if (hp_ascii_is_digit(c)) return c - '0';
  return (unsigned char)((c | 0x20) - 'a') < 6 ? (c | 0x20) - 'a' + 10 : -1;
}

/* Returns true if all bytes are below 0x80. */
static inline bool hp_is_ascii(const char *at, size_t length) {
  uint64_t all = 0, word;
  for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
    memcpy(&word, at, sizeof word);
    all |= word;
  }
  while (length--) all |= (unsigned char)*at++;
  return !(all & UINT64_C(0x8080808080808080));
}

/* Returns whether the first `length` bytes of `a` and `b` are equal. Ignores the case of ASCII
 * letters. */
static inline bool hp_ascii_equal(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i] && hp_ascii_lower(a[i]) != hp_ascii_lower(b[i])) return false;
  return true;
}

/* Returns true if the string is `word`, which is in lower case. Ignores the case of the string.
 * Inlined calls compare with a constant first. */
static inline bool hp_is_word(hpar_string s, const char *word) {
  if (s.length != strlen(word)) return false;
  return !memcmp(s.bytes, word, strlen(word)) || hp_ascii_equal(s.bytes, word, s.length);
}

/* Returns the string without white space around it. */
static inline hpar_string hp_trim(hpar_string s) {
  while (s.length && hp_ascii_is_white(*s.bytes)) s.bytes++, s.length--;
  while (s.length && hp_ascii_is_white(s.bytes[s.length - 1])) s.length--;
  return s;
}

/* Returns the same for two strings that end with a NUL. */
static inline bool hp_ascii_equal_strings(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] && hp_ascii_lower(a[i]) == hp_ascii_lower(b[i])) i++;
  return a[i] == b[i];
}

/* Returns the length of the well-formed UTF-8 sequence at `at` < `end`. If there is none, returns
 * minus the length of the maximal subpart, which the decoder of the Encoding Standard replaces by
 * one U+FFFD. */
static inline int hp_utf8_sequence(const char *at, const char *end) {
  unsigned char first = (unsigned char)at[0], least = 0x80, most = 0xBF;
  int more;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return -1;
  if (first < 0xE0) {
    more = 1;
  } else if (first < 0xF0) {
    more = 2;
    if (first == 0xE0) least = 0xA0;
    if (first == 0xED) most = 0x9F;
  } else {
    more = 3;
    if (first == 0xF0) least = 0x90;
    if (first == 0xF4) most = 0x8F;
  }
  for (int i = 1; i <= more; i++) {
    if (at + i == end) return -i;
    unsigned char next = (unsigned char)at[i];
    if (next < least || next > most) return -i;
    least = 0x80;
    most = 0xBF;
  }
  return more + 1;
}

/* Writes a code point in UTF-8. Returns the end. */
static inline char *hp_put_code_point(char *out, uint32_t c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xC0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out++ = (char)(0xE0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *out++ = (char)(0xF0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  }
  return out;
}

#endif
