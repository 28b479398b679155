/* Strings of a token that differ from the input: normalised newlines, U+FFFD for NUL, replaced
 * character references. */

#include "tokenizer/states.h"

static void make_room(hp_span_builder *span, size_t n) {
  size_t used = (size_t)(span->at - span->start), old = (size_t)(span->limit - span->start);
  size_t wanted = (2 * (used + n) + 63) & ~(size_t)63;
  hp_arena *arena = span->arena;
  if (old && arena->at == span->limit && (size_t)(arena->end - arena->at) >= wanted - old) {
    hp_arena_take(arena, wanted - old);
  } else {
    char *moved = hp_arena_take(arena, wanted);
    if (used) memcpy(moved, span->start, used);
    span->start = moved;
    span->at = moved + used;
  }
  span->limit = span->start + wanted;
}

void hp_span_put(hp_span_builder *span, const char *bytes, size_t n) {
  if ((size_t)(span->limit - span->at) < n) make_room(span, n);
  memcpy(span->at, bytes, n); // NOLINT: the capacity of NULL is 0
  span->at += n;
}

static void cut_arena(hp_arena *arena, char *at) {
  at += -(uintptr_t)at & 7;
  HP_POISON(at, (size_t)(arena->at - at));
  arena->at = at;
}

const char *hp_span_end_copy(hp_span_builder *span, const char *upto, uint32_t *length) {
  hp_span_skip(span, upto, upto);
  size_t n = (size_t)(span->at - span->start);
  if (n > UINT32_MAX) hp_unwind_now(span->arena->unwind, HPAR_ERROR_TOO_LARGE);
  if (span->arena->at == span->limit) cut_arena(span->arena, span->at);
  *length = (uint32_t)n;
  return span->start;
}

void hp_arena_return(hp_arena *arena, const hp_arena *mark) {
  if (arena->end == mark->end) cut_arena(arena, mark->at);
}

const char *hp_span_newline(hp_span_builder *span, const char *at, const char *end) {
  hp_span_skip(span, at, at + 1);
  if (at + 1 < end && at[1] == '\n') return at + 2;
  hp_span_put(span, "\n", 1);
  return at + 1;
}

const char *hp_span_nul(hp_span_builder *span, hp_tokenizer *t, const char *at) {
  hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, at);
  hp_span_skip(span, at, at + 1);
  hp_span_put(span, "\xEF\xBF\xBD", 3);
  return at + 1;
}

const char *hp_plain_data(hp_tokenizer *t, const char *from, const char *upto, uint32_t *length) {
  hp_span_builder span = {.arena = t->bytes, .from = from};
  for (const char *p = from; (p = t->scan->raw(p, upto)) < upto;) {
    if (*p == '<')
      p++;
    else
      p = *p ? hp_span_newline(&span, p, upto) : hp_span_nul(&span, t, p);
  }
  return hp_span_end(&span, upto, length);
}
