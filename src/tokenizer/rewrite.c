/* Strings of a token that differ from the input: normalised newlines, U+FFFD for NUL, replaced
 * character references. */

#include "tokenizer/states.h"

static void make_room(hp_rewrite *rewrite, size_t n) {
  size_t used = (size_t)(rewrite->at - rewrite->start), old = (size_t)(rewrite->limit - rewrite->start);
  size_t wanted = (2 * (used + n) + 63) & ~(size_t)63;
  hp_arena *arena = rewrite->arena;
  if (old && arena->at == rewrite->limit && (size_t)(arena->end - arena->at) >= wanted - old) {
    hp_arena_take(arena, wanted - old);
  } else {
    char *moved = hp_arena_take(arena, wanted);
    if (used) memcpy(moved, rewrite->start, used);
    rewrite->start = moved;
    rewrite->at = moved + used;
  }
  rewrite->limit = rewrite->start + wanted;
}

void hp_rewrite_put(hp_rewrite *rewrite, const char *bytes, size_t n) {
  if ((size_t)(rewrite->limit - rewrite->at) < n) make_room(rewrite, n);
  memcpy(rewrite->at, bytes, n); // NOLINT: the capacity of NULL is 0
  rewrite->at += n;
}

static void cut_arena(hp_arena *arena, char *at) {
  at += -(uintptr_t)at & 7;
  HP_POISON(at, (size_t)(arena->at - at));
  arena->at = at;
}

const char *hp_rewrite_end_copy(hp_rewrite *rewrite, const char *upto, uint32_t *length) {
  hp_rewrite_skip(rewrite, upto, upto);
  size_t n = (size_t)(rewrite->at - rewrite->start);
  if (n > UINT32_MAX) hp_unwind_now(rewrite->arena->unwind, HPAR_ERROR_TOO_LARGE);
  if (rewrite->arena->at == rewrite->limit) cut_arena(rewrite->arena, rewrite->at);
  *length = (uint32_t)n;
  return rewrite->start;
}

void hp_arena_return(hp_arena *arena, const hp_arena *mark) {
  if (arena->end == mark->end) cut_arena(arena, mark->at);
}

const char *hp_rewrite_newline(hp_rewrite *rewrite, const char *at, const char *end) {
  hp_rewrite_skip(rewrite, at, at + 1);
  if (at + 1 < end && at[1] == '\n') return at + 2;
  hp_rewrite_put(rewrite, "\n", 1);
  return at + 1;
}

const char *hp_rewrite_nul(hp_rewrite *rewrite, hp_tokenizer *t, const char *at) {
  hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, at);
  hp_rewrite_skip(rewrite, at, at + 1);
  hp_rewrite_put(rewrite, "\xEF\xBF\xBD", 3);
  return at + 1;
}

const char *hp_plain_data(hp_tokenizer *t, const char *from, const char *upto, uint32_t *length) {
  hp_rewrite rewrite = {.arena = t->bytes, .from = from};
  for (const char *p = from; (p = t->scan->raw(p, upto)) < upto;) {
    if (*p == '<')
      p++;
    else
      p = *p ? hp_rewrite_newline(&rewrite, p, upto) : hp_rewrite_nul(&rewrite, t, p);
  }
  return hp_rewrite_end(&rewrite, upto, length);
}
