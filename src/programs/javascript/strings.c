#include "programs/javascript/engine.h"

#include <string.h>

/* Returns the surrogate at `at`, or -1. */
static int surrogate_at(const unsigned char *at, const unsigned char *end) {
  if (end - at < 3 || at[0] != 0xED || at[1] < 0xA0) return -1;
  return 0xD000 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F);
}

hp_javascript_text hp_javascript_utf8_at(duk_context *heap, duk_idx_t index) {
  duk_size_t n;
  const unsigned char *at = (const unsigned char *)duk_to_lstring(heap, index, &n), *end = at + n;
  unsigned char *to = duk_push_fixed_buffer(heap, n + 1), *start = to;
  while (at < end) {
    int lead = surrogate_at(at, end);
    if (lead < 0) {
      *to++ = *at++;
      continue;
    }
    int trail = surrogate_at(at + 3, end);
    at += 3;
    if (lead < 0xDC00 && trail >= 0xDC00) {
      unsigned code = 0x10000u + ((unsigned)(lead & 0x3FF) << 10 | (unsigned)(trail & 0x3FF));
      *to++ = (unsigned char)(0xF0 | code >> 18);
      *to++ = (unsigned char)(0x80 | (code >> 12 & 0x3F));
      *to++ = (unsigned char)(0x80 | (code >> 6 & 0x3F));
      *to++ = (unsigned char)(0x80 | (code & 0x3F));
      at += 3;
    } else {
      memcpy(to, "\xEF\xBF\xBD", 3);
      to += 3;
    }
  }
  *to = 0;
  return (hp_javascript_text){(char *)start, (size_t)(to - start)};
}

/* Appends a surrogate in CESU-8. */
static void push_surrogate(unsigned char **to, unsigned code) {
  *(*to)++ = (unsigned char)(0xE0 | code >> 12);
  *(*to)++ = (unsigned char)(0x80 | (code >> 6 & 0x3F));
  *(*to)++ = (unsigned char)(0x80 | (code & 0x3F));
}

void hp_javascript_push_utf8(duk_context *heap, const char *bytes, size_t length) {
  const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
  const unsigned char *p = at;
  while (p < end && *p < 0xF0) p++;
  if (p == end) {
    duk_push_lstring(heap, bytes, length);
    return;
  }
  unsigned char *to = duk_push_fixed_buffer(heap, length * 3 / 2 + 1), *start = to;
  for (; at < end; at++) {
    if (*at < 0xF0 || end - at < 4) {
      *to++ = *at;
      continue;
    }
    unsigned code = (unsigned)(at[0] & 7) << 18 | (unsigned)(at[1] & 0x3F) << 12 | (unsigned)(at[2] & 0x3F) << 6 |
                    (unsigned)(at[3] & 0x3F);
    push_surrogate(&to, 0xD800 | (code - 0x10000) >> 10);
    push_surrogate(&to, 0xDC00 | ((code - 0x10000) & 0x3FF));
    at += 3;
  }
  duk_push_lstring(heap, (char *)start, (size_t)(to - start));
  duk_remove(heap, -2);
}
