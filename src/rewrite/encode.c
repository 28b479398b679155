#include "rewrite/edits.h"

#include "text/encoding/encoder.h"
#include "text/references/character_reference.h"

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

/* Returns what a byte of ASCII becomes, or NULL if it stays. */
static const char *replacement(const char *p, const char *end, hp_place_kind place) {
  switch (*p) {
    case '<': return place == HP_PLACE_TEXT || place == HP_PLACE_RCDATA ? "&lt;" : NULL;
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

/* Writes the code of a character, or a numeric reference. Sets `*is_code`. Returns the length. */
static size_t write_character(const hp_encoder *encoder, uint32_t c, char to[16], bool *is_code) {
  unsigned char code[HP_MAX_CODE];
  size_t length = encoder->encoding ? hp_encode_character(encoder, c, code) : 0;
  *is_code = length != 0;
  if (!length) return (size_t)snprintf(to, 16, "&#%u;", c);
  memcpy(to, code, length);
  return length;
}

/* Returns true if the encoding has all characters. */
static bool has_all(const hp_encoder *encoder, const char *text, const char *end) {
  char code[16];
  bool is_code = true;
  for (size_t n = 1; text < end && is_code; text += n) {
    n = 1;
    if ((unsigned char)*text >= 0x80)
      write_character(encoder, read_character(text, (size_t)(end - text), &n), code, &is_code);
  }
  return is_code;
}

bool hp_encode(hp_bytes *to, const char *text, size_t length, hp_place_kind place, const hp_encoding *encoding,
               hp_unwind *unwind) {
  if (!length) return true;
  const char *end = text + length, *from = text;
  bool is_utf8 = encoding && encoding->kind == HP_ENCODING_UTF8;
  hp_encoder encoder = {0};
  /* Without a table, all characters beyond ASCII become references. */
  if (encoding && !is_utf8 && hp_encoder_open(&encoder, encoding) != HPAR_OK) encoder.encoding = NULL;
  if (!is_utf8 && place == HP_PLACE_RAW && !has_all(&encoder, text, end)) return false;
  for (const char *p = text; p < end;) {
    if ((unsigned char)*p < 0x80 || is_utf8) {
      const char *other = (unsigned char)*p < 0x80 ? replacement(p, end, place) : NULL;
      p++;
      if (!other) continue;
      hp_bytes_append(to, from, (size_t)(p - 1 - from), unwind);
      hp_bytes_append(to, other, strlen(other), unwind);
    } else {
      char written[16];
      bool is_code;
      size_t n, bytes = write_character(&encoder, read_character(p, (size_t)(end - p), &n), written, &is_code);
      hp_bytes_append(to, from, (size_t)(p - from), unwind);
      hp_bytes_append(to, written, bytes, unwind);
      p += n;
    }
    from = p;
  }
  hp_bytes_append(to, from, (size_t)(end - from), unwind);
  return true;
}
