#include "study/cut_key.h"

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

static const char *class_of(char c) {
  switch (c) {
    case '>': return ">";
    case '<': return "<";
    case '=': return "=";
    case '"':
    case '\'': return "quote";
    case '\\': return "backslash";
    case ' ':
    case '\t':
    case '\n':
    case '\f':
    case '\r': return "white";
    default: return hp_ascii_is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ? "word" : "other";
  }
}

hp_cut_key hp_cut_key_at(const char *text, size_t length, size_t place) {
  hp_cut_key key = {{0}, {0}};
  const char *at = text + place, *end = text + length;
  strcpy(key.before, place ? class_of(at[-1]) : "start"); // NOLINT: classes are shorter than a key
  if (at == end) {
    strcpy(key.at, "end");
    return key;
  }
  size_t n = *at != '<' ? 0 : end - at > 1 && at[1] == '/' ? 2 : 1;
  if (n && at + n < end && hp_ascii_is_letter(at[n])) {
    memcpy(key.at, at, n);
    for (; at + n < end && n < HP_CUT_KEY - 1 && (hp_ascii_is_letter(at[n]) || (at[n] >= '0' && at[n] <= '9')); n++)
      key.at[n] = hp_ascii_is_letter(at[n]) ? (char)(at[n] | 0x20) : at[n];
  } else if (n && end - at > 1 && (at[1] == '!' || at[1] == '?')) {
    memcpy(key.at, at, 2);
  } else {
    strcpy(key.at, class_of(*at)); // NOLINT: as above
  }
  return key;
}
