#include "rewrite/encode.h"

#include "html/references/character_reference.h"

#include <stdio.h>
#include <string.h>

/* Reads one character of UTF-8. Sets its length; an invalid byte is U+FFFD. */
static uint32_t read_character(const char *p, size_t left, size_t *length) {
  unsigned char c = (unsigned char)*p;
  unsigned more = c >= 0xF0 && c < 0xF5 ? 3 : c >= 0xE0 ? 2 : c >= 0xC2 ? 1 : 0;
  *length = 1;
  if (!more || c >= 0xF5 || more >= left) return 0xFFFD;
  uint32_t value = c & (0x3Fu >> more);
  for (unsigned i = 1; i <= more; i++) {
    if (((unsigned char)p[i] & 0xC0) != 0x80) return 0xFFFD;
    value = value << 6 | ((unsigned char)p[i] & 0x3Fu);
  }
  *length = more + 1;
  return value;
}

static bool is_ascii(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] >= 0x80) return false;
  return true;
}

/* Returns what a byte of ASCII becomes, or NULL if it stays. */
static const char *replacement(const char *p, const char *end, hp_place_kind place) {
  switch (*p) {
    case '<': return place == HP_PLACE_TEXT ? "&lt;" : NULL;
    case '>': return place == HP_PLACE_TEXT ? "&gt;" : NULL;
    case '"': return place == HP_PLACE_DOUBLE_QUOTED ? "&quot;" : NULL;
    case '\'': return place == HP_PLACE_SINGLE_QUOTED ? "&#39;" : NULL;
    case '&':
      if (place == HP_PLACE_TEXT) return "&amp;";
      if (place != HP_PLACE_DOUBLE_QUOTED && place != HP_PLACE_SINGLE_QUOTED) return NULL;
      return hp_read_reference(p, end, true, p, NULL).length ? "&amp;" : NULL;
    default: return NULL;
  }
}

bool hp_encode(hp_bytes *to, const char *text, size_t length, hp_place_kind place, bool is_utf8, hp_unwind *unwind) {
  if (!length) return true;
  if (!is_utf8 && place == HP_PLACE_RAW && !is_ascii(text, length)) return false;
  const char *end = text + length, *from = text;
  for (const char *p = text; p < end;) {
    if ((unsigned char)*p < 0x80 || is_utf8) {
      const char *other = (unsigned char)*p < 0x80 ? replacement(p, end, place) : NULL;
      p++;
      if (!other) continue;
      hp_bytes_append(to, from, (size_t)(p - 1 - from), unwind);
      hp_bytes_append(to, other, strlen(other), unwind);
    } else {
      char reference[16];
      size_t n;
      uint32_t c = read_character(p, (size_t)(end - p), &n);
      hp_bytes_append(to, from, (size_t)(p - from), unwind);
      int written = snprintf(reference, sizeof reference, "&#%u;", c);
      hp_bytes_append(to, reference, (size_t)written, unwind);
      p += n;
    }
    from = p;
  }
  hp_bytes_append(to, from, (size_t)(end - from), unwind);
  return true;
}
