#include "study/enumerate.h"

#include "speculation/strategy.h"

#include <string.h>

static size_t after(const char *base, const char *at, const char *limit, const char *mark) {
  size_t length = strlen(mark);
  const char *found = memmem(at, (size_t)(limit - at), mark, length);
  return found ? (size_t)(found - base) + length : SIZE_MAX;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the end of the tag, in whose attribute value `quote` is open, or none. */
static size_t after_tag(const char *base, const char *at, const char *limit, char quote) {
  char before = 0;
  for (; at < limit; at++) {
    if (quote) {
      if (*at == quote) quote = 0;
    } else if (*at == '>') {
      return (size_t)(at + 1 - base);
    } else if ((*at == '"' || *at == '\'') && before == '=') {
      quote = *at;
    }
    if (!strchr(" \n\t\r\f", *at)) before = *at;
  }
  return SIZE_MAX;
}

/* Adds the ends of raw text, one per element, in one pass over the end tags. */
static size_t find_raw_texts(const hpar_cut *cut, size_t *starts, size_t most) {
  const char *at = cut->text + cut->begin, *limit = cut->text + cut->end;
  uint32_t seen = 0;
  size_t count = 0;
  for (; count < most && at < limit && (at = memchr(at, '<', (size_t)(limit - at))); at++) {
    if (limit - at < 4 || at[1] != '/') continue;
    const hp_raw_text *raw = hp_raw_text_at(at + 2, limit, cut->scripting);
    if (!raw || seen >> hp_raw_text_index(raw) & 1) continue;
    seen |= 1u << hp_raw_text_index(raw);
    const char *close = memchr(at, '>', (size_t)(limit - at));
    if (close) starts[count++] = (size_t)(close + 1 - cut->text);
  }
  return count;
}

void hp_enumerate_ends(const hpar_cut *cut, size_t ends[HP_ENUMERATED]) {
  const char *base = cut->text, *at = base + cut->begin, *limit = base + cut->end;
  ends[0] = least(after(base, at, limit, "-->"), after(base, at, limit, "--!>"));
  ends[1] = after_tag(base, at, limit, 0);
  ends[2] = after_tag(base, at, limit, '"');
  ends[3] = after_tag(base, at, limit, '\'');
  ends[4] = after(base, at, limit, "]]>");
}

size_t hp_enumerate_starts(const hpar_cut *cut, size_t *starts, size_t most, void *context) {
  (void)context;
  if (most < HP_ENUMERATED + 1) return 0;
  hp_enumerate_ends(cut, starts);
  starts[HP_ENUMERATED] = SIZE_MAX; /* PLAINTEXT */
  return HP_ENUMERATED + 1 + find_raw_texts(cut, starts + HP_ENUMERATED + 1, most - HP_ENUMERATED - 1);
}
