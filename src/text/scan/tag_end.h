#ifndef HP_TEXT_SCAN_TAG_END_H
#define HP_TEXT_SCAN_TAG_END_H

/* The end of a tag by the tokenizer states of the standard, byte by byte. */

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

static inline const char *hp_tag_end_skip_white(const char *at, const char *end) {
  while (at < end && hp_ascii_is_white(*at)) at++;
  return at;
}

/* Returns the end of the attribute name that begins at `at`. */
static inline const char *hp_tag_end_skip_name(const char *at, const char *end) {
  for (at++; at < end; at++)
    if (hp_ascii_is_white(*at) || *at == '/' || *at == '>' || *at == '=') break;
  return at;
}

/* Returns the end of the value that begins at `at`. Returns NULL if its quote is missing. */
static inline const char *hp_tag_end_skip_value(const char *at, const char *end) {
  if (*at == '"' || *at == '\'') {
    const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
    return close ? close + 1 : NULL;
  }
  while (at < end && !hp_ascii_is_white(*at) && *at != '>') at++;
  return at;
}

/* Returns the ">" that ends the tag, or `end`. See the kernel of this name. */
static inline const char *hp_tag_end_by_states(const char *at, const char *end, bool *self_closing) {
  bool after_solidus = false;
  *self_closing = false;
  while (at < end) {
    if (*at == '/' || hp_ascii_is_white(*at)) {
      after_solidus = *at++ == '/';
      continue;
    }
    if (*at == '>') {
      *self_closing = after_solidus;
      return at;
    }
    after_solidus = false;
    at = hp_tag_end_skip_white(hp_tag_end_skip_name(at, end), end);
    if (at == end || *at != '=') continue;
    at = hp_tag_end_skip_white(at + 1, end);
    if (at == end || *at == '>') return at;
    at = hp_tag_end_skip_value(at, end);
    if (!at) return end;
    if (at < end && *at == '>') return at;
  }
  return end;
}

#endif
