#include "speculation/start/value.h"

#include <stddef.h>
#include <string.h>

static const char escaped[] = "&quot;";

static bool is_escaped(const char *at, const char *end) {
  return end - at >= (ptrdiff_t)sizeof escaped - 1 && !memcmp(at, escaped, sizeof escaped - 1);
}

/* Returns the first escaped quote in [at, end), or NULL. */
static const char *escaped_quote(const char *at, const char *end) {
  for (; (at = memchr(at, '&', (size_t)(end - at))); at++)
    if (is_escaped(at, end)) return at;
  return NULL;
}

bool hp_is_in_value(const char *text, const char *cut, const char *end) {
  enum { MOST = 4 << 10 };
  const char *from = cut - text > MOST ? cut - MOST : text;
  const char *to = end - cut > MOST ? cut + MOST : end;
  const char *quote = memchr(cut, '"', (size_t)(to - cut));
  if (!escaped_quote(cut, quote ? quote : to)) return false;
  quote = memrchr(from, '"', (size_t)(cut - from));
  return escaped_quote(quote ? quote : from, cut);
}

bool hp_has_escaped_attribute(const char *cut, const char *end) {
  enum { LONGEST_TAG = 512 };
  const char *stop = end - cut > LONGEST_TAG ? cut + LONGEST_TAG : end;
  const char *equals = memchr(cut, '=', (size_t)(stop - cut)), *at = equals;
  if (!equals) return false;
  for (at++; at < stop && *at == '\\'; at++) {
  }
  return is_escaped(at, stop) && *cut == '<' && !memchr(cut, '>', (size_t)(equals - cut));
}
