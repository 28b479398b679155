#ifndef HP_BASE_ASCII_H
#define HP_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline char hp_ascii_lower(char c) { return (unsigned char)(c - 'A') < 26 ? (char)(c | 0x20) : c; }

/* Returns true if the bytes are equal apart from the case of ASCII letters. */
static inline bool hp_ascii_equal(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (hp_ascii_lower(a[i]) != hp_ascii_lower(b[i])) return false;
  return true;
}

#endif
