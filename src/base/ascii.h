#ifndef HP_BASE_ASCII_H
#define HP_BASE_ASCII_H

/* ASCII letters, digits, white space, and comparisons without regard to case. They do not depend
 * on the locale, unlike <ctype.h> and <strings.h>: in a Turkish locale, strncasecmp treats "I" and
 * "i" as different letters. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline char hp_ascii_lower(char c) { return (unsigned char)(c - 'A') < 26 ? (char)(c | 0x20) : c; }

static inline bool hp_ascii_is_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

/* Returns true for the white space of the standard: space, tab, line feed, form feed, return. */
static inline bool hp_ascii_is_white(char c) {
  const uint64_t white = 1 << '\t' | 1 << '\n' | 1 << '\f' | 1 << '\r' | UINT64_C(1) << ' ';
  return (unsigned char)c <= ' ' && white >> c & 1;
}

static inline bool hp_ascii_is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Returns whether the first `length` bytes of `a` and `b` are equal. Ignores the case of ASCII
 * letters. */
static inline bool hp_ascii_equal(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i] && hp_ascii_lower(a[i]) != hp_ascii_lower(b[i])) return false;
  return true;
}

/* Returns the same for two strings that end with a NUL. */
static inline bool hp_ascii_equal_strings(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] && hp_ascii_lower(a[i]) == hp_ascii_lower(b[i])) i++;
  return a[i] == b[i];
}

#endif
