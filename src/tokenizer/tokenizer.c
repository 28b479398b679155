/* Tags, and the transition from one token to the next.
 *
 * Plain tags and plain text take a fast path. The tokenizer measures names 16 bytes at a time. A
 * small table, whose key is the name itself, maps known names to atoms. Attributes are written to
 * their final place. Values and text are spans of the input.
 *
 * All other input goes through the standard's states: new names, references, errors, and bytes
 * close to the end of the input. */

#include "tokenizer/tokenizer.h"

#include "base/atom.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "tokenizer/attribute_value.h"
#include "tokenizer/probe.h"
#include "tokenizer/states.h"
#include "tokenizer/tag_cache.h"

#define W (HP_BYTE_WHITE | HP_BYTE_TAG_STOP | HP_BYTE_NAME_STOP | HP_BYTE_VALUE_STOP)
#define S (HP_BYTE_TAG_STOP | HP_BYTE_NAME_STOP)
#define U (HP_BYTE_ALPHA | HP_BYTE_ODD_NAME)
#define L HP_BYTE_ALPHA
#define D HP_BYTE_DIGIT
#define V HP_BYTE_VALUE_STOP
#define O HP_BYTE_ODD_NAME
// clang-format off
const uint8_t hp_byte_class[256] = {
    ['\0'] = O | V, ['\t'] = W, ['\n'] = W, ['\f'] = W, ['\r'] = W, [' '] = W,
    ['"'] = O | V, ['&'] = V, ['\''] = O | V, ['/'] = S, ['<'] = O | V, ['='] = HP_BYTE_NAME_STOP | V,
    ['>'] = S | V, ['`'] = V,
    ['0'] = D, D, D, D, D, D, D, D, D, D,
    ['A'] = U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    ['a'] = L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
};
// clang-format on
#undef W
#undef S
#undef U
#undef L
#undef D
#undef V
#undef O

#include "tokenizer/name_cache.inc"

void hp_tokenizer_open(hp_tokenizer *t, hp_arena *nodes, hp_arena *bytes, hp_interner *interner) {
  t->base = t->at = t->end = "";
  t->last = false;
  t->content = HP_CONTENT_DATA;
  t->escape = HP_SCRIPT_PLAIN;
  t->last_start_tag = HP_NO_ATOM;
  t->searched = NULL;
  t->nodes = nodes;
  t->bytes = bytes;
  t->interner = interner;
  t->errors.list = NULL;
  t->may_defer = !hp_range_is_exact(nodes->range);
  t->deferred_bytes = 0;
  t->cdata.is_foreign = NULL;
  t->cdata.context = NULL;
  t->cdata.pending_text = false;
  t->scan = hp_scan();
  hp_tag_cache_open(t);
  if (t->names.generation != interner->generation) forget_names(t);
  t->names.generation = interner->generation;
  if (t->seen.capacity < HP_KNOWN_ATOMS) {
    uint32_t old = t->seen.capacity;
    t->seen.serials = hp_grow_bytes(t->seen.serials, &t->seen.capacity, HP_KNOWN_ATOMS + 64, sizeof *t->seen.serials,
                                    interner->unwind);
    memset(t->seen.serials + old, 0, (t->seen.capacity - old) * sizeof *t->seen.serials);
  }
}

void hp_tokenizer_close(hp_tokenizer *t) {
  hp_free(t->names.short_names);
  hp_free(t->names.long_names);
  hp_free(t->tags.memory);
  hp_free(t->seen.serials);
  t->names.short_names = NULL;
  t->names.long_names = NULL;
  t->tags.cached = t->tags.memory = NULL;
  memset(t->names.of_document, 0, sizeof t->names.of_document);
  t->seen.serials = NULL;
  t->seen.capacity = t->seen.serial = 0;
}

void hp_token_error(hp_tokenizer *t, hp_error_code code, const char *at) {
  hp_errors_add(t->errors.list, code, hp_offset(t, at));
}

/* Returns HP_TOKEN_NEED_MORE. Drops the errors of the incomplete token, which recur later. */
static int need_more(hp_tokenizer *t) {
  if (t->errors.list) {
    t->errors.list->count = t->errors.count_before;
    t->errors.list->seen = t->errors.seen_before;
  }
  return HP_TOKEN_NEED_MORE;
}

#include "tokenizer/attributes.inc"

static int emit_tag(hp_tokenizer *t, hp_token *token, int kind, unsigned flags, hp_atom name, hp_ref attributes,
                    const char *start, const char *end) {
  token->name = name;
  token->attributes = attributes;
  if (kind == HP_TOKEN_START_TAG) {
    t->last_start_tag = name;
  } else {
    t->content = HP_CONTENT_DATA;
  }
  return hp_emit(t, token, kind, flags, start, end);
}

static int end_in_tag(hp_tokenizer *t, hp_token *token) {
  if (!t->last) return need_more(t);
  hp_error_at(t, HP_ERROR_EOF_IN_TAG, t->end);
  return hp_emit(t, token, HP_TOKEN_EOF, 0, t->end, t->end);
}

/* Reads a start tag from the end of its name, `p`, to the end of the tag. */
static int read_start_tag(hp_tokenizer *t, hp_token *token, hp_atom name, const char *start, const char *p) {
  hp_tag_end tag = hp_read_attributes(t, name, start, p, 0);
  if (!tag.at) return end_in_tag(t, token);
  return emit_tag(t, token, HP_TOKEN_START_TAG, tag.flags, name, tag.attributes, start, tag.at);
}

/* Reads an end tag, which drops its attributes, from the end of its name, `p`. */
static int read_end_tag(hp_tokenizer *t, hp_token *token, hp_atom name, const char *start, const char *p) {
  hp_arena mark = *t->nodes;
  hp_tag_end tag = hp_read_attributes(t, name, p, p, 0);
  if (!tag.at) return end_in_tag(t, token);
  if (tag.attributes) hp_error_at(t, HP_ERROR_END_TAG_WITH_ATTRIBUTES, tag.at - 1);
  if (tag.flags) hp_error_at(t, HP_ERROR_END_TAG_WITH_TRAILING_SOLIDUS, tag.at - 1);
  hp_arena_return(t->nodes, &mark);
  return emit_tag(t, token, HP_TOKEN_END_TAG, 0, name, 0, start, tag.at);
}

static int read_rest_of_tag(hp_tokenizer *t, hp_token *token, int kind, hp_atom name, const char *start,
                            const char *p) {
  if (kind == HP_TOKEN_START_TAG) return read_start_tag(t, token, name, start, p);
  return read_end_tag(t, token, name, start, p);
}

//§ tag-name-state
static int read_tag(hp_tokenizer *t, hp_token *token, int kind, const char *start, const char *name) {
  const char *p = name, *end = t->end;
  bool odd = false;
  for (; p < end; p++) {
    unsigned kinds = hp_class(*p);
    if (kinds & HP_BYTE_TAG_STOP) break;
    if (kinds & HP_BYTE_ODD_NAME) {
      odd = true;
      if (!*p) hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, p);
    }
  }
  if (p == end) return end_in_tag(t, token);
  hp_atom tag = any_name(t, name, p, odd);
  if (*p == '>') return emit_tag(t, token, kind, 0, tag, 0, start, p + 1);
  return read_rest_of_tag(t, token, kind, tag, start, p);
}

/* Reads the token at `at`, which is the beginning of markup or the end of the input. */
static int read_markup(hp_tokenizer *t, hp_token *token, const char *at) {
  if (at == t->end) return hp_emit(t, token, HP_TOKEN_EOF, 0, at, at);
  switch (at[1]) {
    case '!': return hp_read_markup_declaration(t, token, at);
    case '?': return hp_read_processing_instruction(t, token, at);
    case '/':
      if (hp_ascii_is_letter(at[2])) return read_tag(t, token, HP_TOKEN_END_TAG, at, at + 2);
      hp_error_at(t, HP_ERROR_INVALID_FIRST_CHARACTER_OF_TAG_NAME, at + 2);
      return hp_read_bogus_comment(t, token, at, at + 2);
    default: return read_tag(t, token, HP_TOKEN_START_TAG, at, at + 1);
  }
}

static __attribute__((noinline)) int read_token(hp_tokenizer *t, hp_token *token, const char *clean) {
  const char *at = t->at;
  int kind = hp_read_text(t, token, &at, clean);
  if (kind == HP_TOKEN_EOF) {
    bool section = t->content == HP_CONTENT_CDATA_SECTION;
    kind = read_markup(t, token, at);
    if (section && kind != HP_TOKEN_NEED_MORE) t->content = HP_CONTENT_DATA;
  }
  return kind == HP_TOKEN_NEED_MORE ? need_more(t) : kind;
}

/* Reads a tag whose name is not in hp_short_names. Callers call it last, so that they need no saved
 * registers. */
static __attribute__((noinline)) int read_any_tag(hp_tokenizer *t, hp_token *token, int kind) {
  const char *at = t->at, *name = at + (kind == HP_TOKEN_START_TAG ? 1 : 2);
  unsigned n = probe_tag_name(name);
  hp_atom tag = cached_name(t, name, n);
  if (tag && name[n] == '>') return emit_tag(t, token, kind, 0, tag, 0, at, name + n + 1);
  if (tag && hp_class(name[n]) & HP_BYTE_TAG_STOP) return read_rest_of_tag(t, token, kind, tag, at, name + n);
  kind = read_tag(t, token, kind, at, name);
  return kind == HP_TOKEN_NEED_MORE ? need_more(t) : kind;
}

/* Completes text that is plain from `data` to `stop`. It is white exactly if `flags` has that bit.
 */
static inline int end_text(hp_tokenizer *t, hp_token *token, unsigned flags, const char *data, const char *stop) {
  const char *at = t->at;
  if (*stop != '<' || (!hp_ascii_is_letter(stop[1]) && (stop[1] != '/' || !hp_ascii_is_letter(stop[2]))))
    return read_token(t, token, data == at ? stop : at);
  return hp_emit_data(t, token, HP_TOKEN_TEXT, flags, data, (uint32_t)(stop - data), at, stop);
}

static __attribute__((noinline)) int read_long_text(hp_tokenizer *t, hp_token *token, const char *data,
                                                    const char *stop) {
  stop = t->scan->text(stop, t->end);
  return t->end - stop < 3 ? read_token(t, token, t->at) : end_text(t, token, 0, data, stop);
}

int hp_next_token_inside(hp_tokenizer *t, hp_token *token, hp_atom current) {
  const char *at = t->at, *end = t->end, *stop = at;
  if (__builtin_expect(t->errors.list != NULL, 0)) {
    t->errors.count_before = t->errors.list->count;
    t->errors.seen_before = t->errors.list->seen;
  }
  if (t->content != HP_CONTENT_DATA || end - at < HP_FAST_REACH) return read_token(t, token, at);
  unsigned n;
  hp_atom tag;
  if (*at == '<') {
    if (at[1] == '/') {
      if ((n = hp_end_name_length(at + 2, current)))
        return emit_tag(t, token, HP_TOKEN_END_TAG, 0, current, 0, at, at + n + 3);
      if (!hp_ascii_is_letter(at[2])) return read_token(t, token, at);
      n = probe_tag_name(at + 2);
      stop = at + 2 + n;
      if (*stop != '>' || !(tag = hp_short_name_atom(at + 2, n))) return read_any_tag(t, token, HP_TOKEN_END_TAG);
      return emit_tag(t, token, HP_TOKEN_END_TAG, 0, tag, 0, at, stop + 1);
    }
    if (!hp_ascii_is_letter(at[1])) return read_token(t, token, at);
    n = probe_tag_name(at + 1);
    stop = at + 1 + n;
    if (!(tag = hp_short_name_atom(at + 1, n))) return read_any_tag(t, token, HP_TOKEN_START_TAG);
    if (*stop == '>') return emit_tag(t, token, HP_TOKEN_START_TAG, 0, tag, 0, at, stop + 1);
    if (!(hp_class(*stop) & HP_BYTE_TAG_STOP)) return read_any_tag(t, token, HP_TOKEN_START_TAG);
    return read_start_tag(t, token, tag, at, stop);
  }
  if (hp_class(*at) & HP_BYTE_WHITE) {
    /* Without its CR the first line break of CR LF is a span. */
    if (*at == '\r' && at[1] == '\n') stop = ++at;
    while ((n = probe_white(stop)) == 16) {
      stop += 16;
      if (end - stop < HP_FAST_REACH) return read_token(t, token, t->at);
    }
    stop += n;
    if (*stop == '<') return end_text(t, token, HP_TEXT_WHITE, at, stop);
    if (hp_class(*stop) & HP_BYTE_WHITE) return read_token(t, token, t->at);
  }
  for (unsigned i = 0; i < HP_PROBES; i++) {
    n = probe_text(stop);
    stop += n;
    if (n < 16) return end_text(t, token, 0, at, stop);
  }
  return read_long_text(t, token, at, stop);
}

hp_tokenizer_input hp_tokenizer_set_input(hp_tokenizer *t, const char *at, const char *end, bool last) {
  hp_tokenizer_input input = {t->base, t->at, t->end, t->searched, t->last, t->tags.cached, t->tags.from};
  t->tags.cached = NULL;
  t->tags.from = SIZE_MAX;
  t->base = t->at = at;
  t->end = end;
  t->last = last;
  t->searched = NULL;
  return input;
}

void hp_tokenizer_restore_input(hp_tokenizer *t, const hp_tokenizer_input *input) {
  t->base = input->base;
  t->at = input->at;
  t->end = input->end;
  t->last = input->last;
  t->searched = input->searched;
  t->tags.cached = input->cached_tags;
  t->tags.from = input->cache_from;
}

int hp_read_raw_text(hp_tokenizer *t) {
  hp_token token;
  int kind = HP_TOKEN_TEXT;
  while (t->content != HP_CONTENT_DATA && kind != HP_TOKEN_EOF && kind != HP_TOKEN_NEED_MORE)
    kind = hp_next_token(t, &token);
  return kind;
}

void hp_skip_raw_text(hp_tokenizer *t) {
  hp_errors *errors = t->errors.list;
  t->errors.list = NULL;
  hp_read_raw_text(t);
  t->errors.list = errors;
}
