#include "study/enumerate.h"

#include "base/clock.h"
#include "speculation/start/markup.h"
#include "speculation/worker/worker.h"

#include <string.h>

enum { NEVER = UINT32_MAX };

static uint32_t after(const char *base, const char *at, const char *limit, const char *mark) {
  size_t length = strlen(mark);
  const char *found = memmem(at, (size_t)(limit - at), mark, length);
  return found ? (uint32_t)(found - base + (ptrdiff_t)length) : NEVER;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns the end of the tag, in whose attribute value `quote` is open, or none. */
static uint32_t after_tag(const char *base, const char *at, const char *limit, char quote) {
  char before = 0;
  for (; at < limit; at++) {
    if (quote) {
      if (*at == quote) quote = 0;
    } else if (*at == '>') {
      return (uint32_t)(at + 1 - base);
    } else if ((*at == '"' || *at == '\'') && before == '=') {
      quote = *at;
    }
    if (!strchr(" \n\t\r\f", *at)) before = *at;
  }
  return NEVER;
}

static void add(uint32_t *places, uint32_t *count, uint32_t place) {
  uint32_t i = 0;
  while (i < *count && places[i] < place) i++; // NOLINT: so many are set
  if (i < *count && places[i] == place) return;
  memmove(places + i + 1, places + i, (*count - i) * sizeof *places);
  places[i] = place;
  ++*count;
}

/* Adds the ends of raw text, one per element, in one pass over the end tags. */
static void add_raw_texts(const hp_request *request, const char *at, const char *limit, uint32_t *places,
                          uint32_t *count) {
  uint32_t seen = 0;
  for (; at < limit && (at = memchr(at, '<', (size_t)(limit - at))); at++) {
    if (limit - at < 4 || at[1] != '/') continue;
    const hp_raw_text *raw = hp_raw_text_at(at + 2, limit, request->scripting);
    if (!raw || seen >> hp_raw_text_index(raw) & 1) continue;
    seen |= 1u << hp_raw_text_index(raw);
    const char *close = memchr(at, '>', (size_t)(limit - at));
    if (close) add(places, count, (uint32_t)(close + 1 - request->text));
  }
}

void hp_enumerate_parse(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_work *chunk) {
  const char *base = request->text, *at = base + chunk->cut, *limit = base + chunk->limit;
  uint32_t places[HP_MAX_HYPOTHESES + 1], count = 0;
  uint64_t begin = hp_now();
  add(places, &count, chunk->cut);
  add(places, &count, least(after(base, at, limit, "-->"), after(base, at, limit, "--!>")));
  add(places, &count, after_tag(base, at, limit, 0));
  add(places, &count, after_tag(base, at, limit, '"'));
  add(places, &count, after_tag(base, at, limit, '\''));
  add(places, &count, after(base, at, limit, "]]>"));
  add_raw_texts(request, at, limit, places, &count);
  add(places, &count, NEVER);
  w->predict_nanoseconds += hp_now() - begin;
  hp_start_state data = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  chunk->start = data;
  hp_worker_speculate_joined(w, request, plan, &data, places, count, chunk);
}
