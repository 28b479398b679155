/* Attribute values: their ends, their references, and whether they are decoded now or on access. */

#include "base/memory.h"
#include "dom/tag.h"
#include "tokenizer/parts.h"

/* Returns true if the next attribute's value may keep its references. The errors of references are
 * found by decoding. */
static bool may_defer(const hp_tokenizer *t, const hp_tag_state *tag) {
  return t->may_defer && !t->errors.list && hp_next_value_bit(tag) && !hp_reads_values(tag->name);
}

/* Sets the next attribute's value to a span with undecoded references. */
static void defer(hp_tokenizer *t, hp_tag_state *tag, const char *from, const char *upto, hp_attribute *attribute) {
  attribute->value = from;
  attribute->length = (uint32_t)(upto - from);
  tag->deferred |= hp_next_value_bit(tag);
  t->deferred_bytes += hp_decoded_bound(attribute->length);
}

/* Sets the next attribute's value to [from, upto), decoded. `at` is its first '&'. */
static void decode(hp_tokenizer *t, const char *from, const char *at, const char *upto, hp_attribute *attribute) {
  const char *first = hp_find_value_reference(at, upto, t->end);
  attribute->value = from;
  attribute->length = (uint32_t)(upto - from);
  if (first == upto) return;
  size_t room = (hp_decoded_bound(attribute->length) + HP_DECODING_SLACK + 7) & ~(size_t)7;
  char *to = hp_arena_take(t->bytes, room);
  char *stop = hp_decode_value_text(to, from, first, upto, t->end);
  hp_span_builder span = {.arena = t->bytes, .from = upto, .start = to, .at = stop, .limit = to + room};
  attribute->value = hp_span_end_copy(&span, upto, &attribute->length);
}

//§ attribute-value-(double-quoted)-state
//§ attribute-value-(single-quoted)-state
static const char *read_quoted(hp_tokenizer *t, const char *p, const char *stop, char quote, hp_attribute *attribute) {
  hp_span_builder span = {.arena = t->bytes, .from = p};
  const char *end = t->end;
  for (p = stop; (p = t->scan->quoted(p, end, quote)) < end && *p != quote;) {
    if (*p == '&')
      p = hp_span_reference(&span, t, p, true);
    else
      p = hp_span_replace(&span, t, p, end);
  }
  attribute->value = hp_span_end(&span, p, &attribute->length);
  return p;
}

const char *hp_read_special_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, const char *stop, char quote,
                                  hp_attribute *attribute) {
  const char *end = t->end;
  if (stop < end && *stop == '&' && !t->errors.list && !hp_range_is_exact(t->nodes->range)) {
    const char *p = t->scan->quote(stop + 1, end, quote);
    if (p == end) return end;
    if (*p == quote) {
      if (may_defer(t, tag))
        defer(t, tag, value, p, attribute);
      else
        decode(t, value, stop, p, attribute);
      return p;
    }
  }
  return read_quoted(t, value, stop, quote, attribute);
}

//§ attribute-value-(unquoted)-state
const char *hp_read_unquoted_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, hp_attribute *attribute) {
  hp_span_builder span = {.arena = t->bytes, .from = value};
  const char *p = value, *end = t->end;
  bool defers = may_defer(t, tag), has_reference = false;
  for (;;) {
    while (p < end && !(hp_class(*p) & HP_BYTE_VALUE_STOP)) p++;
    if (p == end || *p == '>' || (hp_class(*p) & HP_BYTE_WHITE)) break;
    if (*p == '&' && defers) {
      has_reference = true;
      p++;
    } else if (*p == '&') {
      p = hp_span_reference(&span, t, p, true);
    } else if (!*p && has_reference) {
      defers = has_reference = false;
      p = value;
    } else if (!*p) {
      defers = false; /* the raw span has the NUL */
      p = hp_span_replace(&span, t, p, end);
    } else {
      hp_error_at(t, HP_ERROR_UNEXPECTED_CHARACTER_IN_UNQUOTED_ATTRIBUTE_VALUE, p++);
    }
  }
  if (has_reference)
    defer(t, tag, value, p, attribute);
  else
    attribute->value = hp_span_end(&span, p, &attribute->length);
  return p;
}

/* Strings of a token that differ from the input: normalised newlines, U+FFFD for NUL, replaced
 * character references. */

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

const char *hp_span_replace(hp_span_builder *span, hp_tokenizer *t, const char *at, const char *end) {
  hp_span_skip(span, at, at + 1);
  if (!*at) {
    hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, at);
    hp_span_put(span, "\xEF\xBF\xBD", 3);
  } else if (at + 1 < end && at[1] == '\n') {
    return at + 2;
  } else {
    hp_span_put(span, "\n", 1);
  }
  return at + 1;
}

const char *hp_plain_data(hp_tokenizer *t, const char *from, const char *upto, uint32_t *length) {
  hp_span_builder span = {.arena = t->bytes, .from = from};
  for (const char *p = from; (p = t->scan->raw(p, upto)) < upto;) {
    if (*p == '<')
      p++;
    else
      p = hp_span_replace(&span, t, p, upto);
  }
  return hp_span_end(&span, upto, length);
}

_Static_assert(HP_CACHED_TAGS == 1 << 8, "a hash has 8 bits");

void hp_tag_cache_open(hp_tokenizer *t) {
  bool is_exact = hp_range_is_exact(t->nodes->range);
  t->tags.cached = is_exact ? NULL : t->tags.memory;
  t->tags.from = is_exact || t->tags.memory ? SIZE_MAX : HP_UNCACHED_BYTES;
  if (++t->tags.generation) return;
  t->tags.generation = 1;
  if (t->tags.memory) memset(t->tags.memory, 0, HP_CACHED_TAGS * sizeof *t->tags.memory);
}

void hp_tag_cache_make(hp_tokenizer *t) {
  t->tags.cached = t->tags.memory = hp_allocate_zeroed(HP_CACHED_TAGS * sizeof *t->tags.memory);
  t->tags.from = SIZE_MAX;
}
