/* Tags, and the transition from one token to the next.
 *
 * Plain tags and plain text take a fast path. The tokenizer measures names 16 bytes at a time. A
 * small table, whose key is the name itself, maps known names to atoms. Attributes are written to
 * their final place. Values and text are spans of the input.
 *
 * All other input goes through the standard's states: new names, references, errors, and bytes
 * close to the end of the input. */

#include "html/tokenizer/tokenizer.h"

#include "base/memory.h"
#include "base/short_name.h"
#include "base/vector.h"
#include "html/tokenizer/attribute_value.h"
#include "html/tokenizer/probe.h"
#include "html/tokenizer/states.h"
#include "html/tokenizer/tag_cache.h"

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

#include "html/tokenizer/name_cache.inc"

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
  t->errors = NULL;
  t->may_defer = !hp_range_is_limited(nodes->range);
  t->deferred_bytes = 0;
  t->foreign = NULL;
  t->context = NULL;
  t->pending_text = false;
  t->scan = hp_scan();
  hp_tag_cache_open(t);
  if (t->names_generation != interner->generation) forget_names(t);
  t->names_generation = interner->generation;
  if (t->seen_capacity < HP_KNOWN_ATOMS) {
    uint32_t old = t->seen_capacity;
    t->seen = hp_grow_bytes(t->seen, &t->seen_capacity, HP_KNOWN_ATOMS + 64, sizeof *t->seen, interner->unwind);
    memset(t->seen + old, 0, (t->seen_capacity - old) * sizeof *t->seen);
  }
}

void hp_tokenizer_close(hp_tokenizer *t) {
  hp_free(t->names);
  hp_free(t->long_names);
  hp_free(t->cache_memory);
  hp_free(t->seen);
  t->names = NULL;
  t->long_names = NULL;
  t->cached_tags = t->cache_memory = NULL;
  memset(t->document_names, 0, sizeof t->document_names);
  t->seen = NULL;
  t->seen_capacity = t->serial = 0;
}

void hp_token_error(hp_tokenizer *t, hp_error_code code, const char *at) {
  hp_errors_add(t->errors, code, hp_offset(t, at));
}

/* Returns HP_TOKEN_NEED_MORE. Drops the errors of the incomplete token, which recur later. */
static int need_more(hp_tokenizer *t) {
  if (t->errors) {
    t->errors->count = t->error_count;
    t->errors->seen = t->errors_seen;
  }
  return HP_TOKEN_NEED_MORE;
}

static uint32_t next_serial(hp_tokenizer *t) {
  if (++t->serial == 0) {
    memset(t->seen, 0, t->seen_capacity * sizeof *t->seen);
    t->serial = 1;
  }
  return t->serial;
}

/* Returns the limit of a block at the end of the arena: the end of the slab, or less if every byte
 * must be marked as used. */
static inline const char *block_limit(const hp_arena *nodes, size_t room) {
  if (!HP_ASAN || (size_t)(nodes->end - nodes->at) < room) room = (size_t)(nodes->end - nodes->at);
  HP_UNPOISON(nodes->at, room);
  return nodes->at + room;
}

static inline hp_tag_state open_tag(const hp_arena *nodes, uint32_t serial, hp_atom name, uint32_t mark) {
  hp_attributes *attributes = (hp_attributes *)(void *)nodes->at;
  return (hp_tag_state){.attributes = attributes,
                        .item = attributes->items,
                        .limit = block_limit(nodes, 256),
                        .serial = serial,
                        .deferred = mark,
                        .name = name};
}

static inline bool is_room(const hp_tag_state *tag) {
  return tag->limit - (char *)tag->item >= (ptrdiff_t)sizeof(hp_attribute);
}

/* The item of a block is beyond the limit if the block's header does not fit. */
static __attribute__((noinline)) void make_room_for_attribute(hp_arena *nodes, hp_tag_state *tag) {
  size_t used = (size_t)((char *)tag->item - (char *)tag->attributes), room = 2 * used + 8 * sizeof(hp_attribute);
  if ((char *)tag->attributes == nodes->at && (size_t)(nodes->end - nodes->at) >= room) {
    tag->limit = block_limit(nodes, room);
    return;
  }
  char *moved = hp_arena_refill(nodes, room);
  if ((char *)tag->item <= tag->limit) memcpy(moved, tag->attributes, used);
  tag->attributes = (hp_attributes *)(void *)moved;
  tag->item = (hp_attribute *)(void *)(moved + used);
  tag->limit = moved + room;
  if (nodes->at == tag->limit) {
    nodes->at = moved;
    tag->limit = block_limit(nodes, room);
  }
}

/* Closes the block at `end`: after its last item, or at its beginning. */
static inline void close_block(hp_arena *nodes, const hp_tag_state *tag, const void *end) {
  if ((char *)tag->attributes != nodes->at) return;
  nodes->at += (const char *)end - nodes->at;
  if (tag->limit > nodes->at) HP_POISON(nodes->at, (size_t)(tag->limit - nodes->at));
}

static void add_attribute(hp_tokenizer *t, hp_tag_state *tag, hp_attribute attribute, const char *name_end) {
  if (t->seen[attribute.name] == tag->serial) {
    hp_error_at(t, HP_ERROR_DUPLICATE_ATTRIBUTE, name_end);
    tag->deferred &= ~hp_next_value_bit(tag);
    return;
  }
  t->seen[attribute.name] = tag->serial;
  if (!is_room(tag)) make_room_for_attribute(t->nodes, tag);
  *tag->item++ = attribute;
}

static int emit_tag(hp_tokenizer *t, hp_token *token, int kind, unsigned flags, hp_atom name, hp_ref attributes,
                    const char *start, const char *end) {
  token->name = name;
  token->attributes = attributes;
  if (kind == HPAR_TOKEN_START_TAG) {
    t->last_start_tag = name;
  } else {
    t->content = HP_CONTENT_DATA;
  }
  return hp_emit(t, token, kind, flags, start, end);
}

//§ before-attribute-name-state
/* Reads one attribute, white space or '/' at `p` by the standard's states. Returns where the next
 * attribute may begin: at '>' if the tag ends there, or at the end of the input. */
static __attribute__((noinline)) const char *read_any_attribute(hp_tokenizer *t, hp_tag_state *tag, const char *p) {
  const char *end = t->end, *begin, *name_end;
  while (p < end && (hp_class(*p) & HP_BYTE_WHITE)) p++;
  if (p == end || *p == '>') return p;
  if (*p == '/') {
    //§ self-closing-start-tag-state
    p++;
    if (p == end) return p;
    if (*p == '>')
      tag->flags = HP_TOKEN_SELF_CLOSING;
    else
      hp_error_at(t, HP_ERROR_UNEXPECTED_SOLIDUS_IN_TAG, p);
    return p;
  }
  begin = p;
  bool odd = false;
  if (*p == '=') {
    hp_error_at(t, HP_ERROR_UNEXPECTED_EQUALS_SIGN_BEFORE_ATTRIBUTE_NAME, p);
    p++;
  }
  //§ attribute-name-state
  for (; p < end; p++) {
    unsigned kinds = hp_class(*p);
    if (kinds & HP_BYTE_NAME_STOP) break;
    if (kinds & HP_BYTE_ODD_NAME) {
      odd = true;
      if (!*p)
        hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, p);
      else if (!(kinds & HP_BYTE_ALPHA))
        hp_error_at(t, HP_ERROR_UNEXPECTED_CHARACTER_IN_ATTRIBUTE_NAME, p);
    }
  }
  if (p == end) return end;
  hp_attribute attribute = {any_name(t, begin, p, odd), 0, p};
  name_end = p;
  //§ after-attribute-name-state
  while (p < end && (hp_class(*p) & HP_BYTE_WHITE)) p++;
  if (p == end) return end;
  if (*p == '=') {
    //§ before-attribute-value-state
    p++;
    while (p < end && (hp_class(*p) & HP_BYTE_WHITE)) p++;
    if (p == end) return end;
    if (*p == '"' || *p == '\'') {
      p = hp_read_special_value(t, tag, p + 1, t->scan->quoted(p + 1, end, *p), *p, &attribute);
      if (p == end || ++p == end) return end;
      //§ after-attribute-value-(quoted)-state
      if (!(hp_class(*p) & HP_BYTE_TAG_STOP)) hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_BETWEEN_ATTRIBUTES, p);
    } else if (*p == '>') {
      hp_error_at(t, HP_ERROR_MISSING_ATTRIBUTE_VALUE, p);
    } else {
      p = hp_read_unquoted_value(t, tag, p, &attribute);
      if (p == end) return end;
    }
  }
  add_attribute(t, tag, attribute, name_end);
  return p;
}

/* Completes the block of the attributes before `item`. The tag ends at `end`. */
static inline hp_tag_end close_tag(hp_tokenizer *t, hp_tag_state *tag, hp_attribute *item, const char *end) {
  hp_attributes *attributes = tag->attributes;
  if (item == attributes->items) {
    close_block(t->nodes, tag, attributes);
    return (hp_tag_end){end, 0, tag->flags};
  }
  attributes->count = (uint32_t)(item - attributes->items);
  atomic_store_explicit(&attributes->deferred, tag->deferred, memory_order_relaxed);
  close_block(t->nodes, tag, item);
  return (hp_tag_end){end, hp_ref_of(t->nodes->range->base, attributes), tag->flags};
}

hp_tag_end hp_read_attributes(hp_tokenizer *t, hp_atom name, const char *p, uint32_t mark) {
  const char *end = t->end;
  uint32_t serial = next_serial(t), *seen = t->seen;
  hp_tag_state tag = open_tag(t->nodes, serial, name, mark);
  hp_attribute *item = tag.item;

  for (;;) {
    if (end - p >= HP_FAST_REACH) {
      p += *p == ' ';
      unsigned n = probe_attribute_name(p);
      hp_atom atom;
      if (!(atom = hp_short_name_atom(p, n))) {
        name_end found = cached_attribute_name(t, p, n);
        atom = found.atom;
        n = found.length;
        if (!atom) {
          if (*p != '/' || p[1] != '>') goto slowly;
          tag.flags = HP_TOKEN_SELF_CLOSING;
          p++;
          break;
        }
      }
      if (seen[atom] == serial || tag.limit - (char *)item < (ptrdiff_t)sizeof *item) goto slowly;
      const char *value = p + n, *stop = value;
      if (*value == '=') {
        char quote = *++value;
        if (quote == '"' || quote == '\'') {
          stop = ++value;
          for (unsigned i = 0; i < HP_PROBES; i++) {
            n = probe_quoted(stop, quote);
            stop += n;
            if (n < 16) goto stopped;
          }
          stop = t->scan->quoted(stop, end, quote);
          if (stop == end) goto end_of_file;
        stopped:
          item->value = value;
          item->length = (uint32_t)(stop - value);
          if (*stop != quote) {
            tag.item = item;
            if ((stop = hp_read_special_value(t, &tag, value, stop, quote, item)) == end) goto end_of_file;
          }
          seen[atom] = serial;
          item->name = atom;
          item++;
          p = stop + 1;
          if (p == end) goto end_of_file;
          if (*p == ' ') continue;
          if (*p == '>') break;
          if (!(hp_class(*p) & HP_BYTE_TAG_STOP)) hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_BETWEEN_ATTRIBUTES, p);
          while (p < end && (hp_class(*p) & HP_BYTE_WHITE)) p++;
          continue;
        }
        n = probe_unquoted(value);
        stop = value + n;
        if (n - 1 > 14 || (*stop != '>' && !(hp_class(*stop) & HP_BYTE_WHITE))) goto slowly;
      } else if (*stop != '>' && (*stop != ' ' || !hp_is_alpha(stop[1]))) {
        goto slowly;
      }
      seen[atom] = serial;
      item->name = atom;
      item->length = (uint32_t)(stop - value);
      item->value = value;
      item++;
      p = stop;
      if (*p == '>') break;
      continue;
    }
  slowly:
    tag.item = item;
    p = read_any_attribute(t, &tag, p);
    item = tag.item;
    seen = t->seen;
    if (p == end) goto end_of_file;
    if (*p == '>') break;
  }

  return close_tag(t, &tag, item, p + 1);

end_of_file:
  close_block(t->nodes, &tag, tag.attributes);
  return (hp_tag_end){NULL, 0, 0};
}

static int end_in_tag(hp_tokenizer *t, hp_token *token) {
  if (!t->last) return need_more(t);
  hp_error_at(t, HP_ERROR_EOF_IN_TAG, t->end);
  return hp_emit(t, token, HPAR_TOKEN_EOF, 0, t->end, t->end);
}

/* Reads a start tag from the end of its name, `p`, to the end of the tag. */
static int read_start_tag(hp_tokenizer *t, hp_token *token, hp_atom name, const char *start, const char *p) {
  hp_tag_end tag = hp_read_attributes(t, name, p, 0);
  if (!tag.at) return end_in_tag(t, token);
  return emit_tag(t, token, HPAR_TOKEN_START_TAG, tag.flags, name, tag.attributes, start, tag.at);
}

/* Reads an end tag, which drops its attributes, from the end of its name, `p`. */
static int read_end_tag(hp_tokenizer *t, hp_token *token, hp_atom name, const char *start, const char *p) {
  hp_arena mark = *t->nodes;
  hp_tag_end tag = hp_read_attributes(t, name, p, 0);
  if (!tag.at) return end_in_tag(t, token);
  if (tag.attributes) hp_error_at(t, HP_ERROR_END_TAG_WITH_ATTRIBUTES, tag.at - 1);
  if (tag.flags) hp_error_at(t, HP_ERROR_END_TAG_WITH_TRAILING_SOLIDUS, tag.at - 1);
  hp_arena_return(t->nodes, &mark);
  return emit_tag(t, token, HPAR_TOKEN_END_TAG, 0, name, 0, start, tag.at);
}

static int read_rest_of_tag(hp_tokenizer *t, hp_token *token, int kind, hp_atom name, const char *start,
                            const char *p) {
  if (kind == HPAR_TOKEN_START_TAG) return read_start_tag(t, token, name, start, p);
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
  if (at == t->end) return hp_emit(t, token, HPAR_TOKEN_EOF, 0, at, at);
  switch (at[1]) {
    case '!': return hp_read_markup_declaration(t, token, at);
    case '?': return hp_read_processing_instruction(t, token, at);
    case '/':
      if (hp_is_alpha(at[2])) return read_tag(t, token, HPAR_TOKEN_END_TAG, at, at + 2);
      hp_error_at(t, HP_ERROR_INVALID_FIRST_CHARACTER_OF_TAG_NAME, at + 2);
      return hp_read_bogus_comment(t, token, at, at + 2);
    default: return read_tag(t, token, HPAR_TOKEN_START_TAG, at, at + 1);
  }
}

static __attribute__((noinline)) int read_token(hp_tokenizer *t, hp_token *token, const char *clean) {
  const char *at = t->at;
  int kind = hp_read_text(t, token, &at, clean);
  if (kind == HPAR_TOKEN_EOF) {
    bool section = t->content == HP_CONTENT_CDATA_SECTION;
    kind = read_markup(t, token, at);
    if (section && kind != HP_TOKEN_NEED_MORE) t->content = HP_CONTENT_DATA;
  }
  return kind == HP_TOKEN_NEED_MORE ? need_more(t) : kind;
}

/* Reads a tag whose name is not in hp_short_names. Callers call it last, so that they need no saved
 * registers. */
static __attribute__((noinline)) int read_any_tag(hp_tokenizer *t, hp_token *token, int kind) {
  const char *at = t->at, *name = at + (kind == HPAR_TOKEN_START_TAG ? 1 : 2);
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
  if (*stop != '<' || (!hp_is_alpha(stop[1]) && (stop[1] != '/' || !hp_is_alpha(stop[2]))))
    return read_token(t, token, data == at ? stop : at);
  return hp_emit_data(t, token, HPAR_TOKEN_TEXT, flags, data, (uint32_t)(stop - data), at, stop);
}

static __attribute__((noinline)) int read_long_text(hp_tokenizer *t, hp_token *token, const char *data,
                                                    const char *stop) {
  stop = t->scan->text(stop, t->end);
  return t->end - stop < 3 ? read_token(t, token, t->at) : end_text(t, token, 0, data, stop);
}

int hp_next_token_inside(hp_tokenizer *t, hp_token *token, hp_atom current) {
  const char *at = t->at, *end = t->end, *stop = at;
  if (__builtin_expect(t->errors != NULL, 0)) {
    t->error_count = t->errors->count;
    t->errors_seen = t->errors->seen;
  }
  if (t->content != HP_CONTENT_DATA || end - at < HP_FAST_REACH) return read_token(t, token, at);
  unsigned n;
  hp_atom tag;
  if (*at == '<') {
    if (at[1] == '/') {
      if ((n = hp_end_name_length(at + 2, current)))
        return emit_tag(t, token, HPAR_TOKEN_END_TAG, 0, current, 0, at, at + n + 3);
      if (!hp_is_alpha(at[2])) return read_token(t, token, at);
      n = probe_tag_name(at + 2);
      stop = at + 2 + n;
      if (*stop != '>' || !(tag = hp_short_name_atom(at + 2, n))) return read_any_tag(t, token, HPAR_TOKEN_END_TAG);
      return emit_tag(t, token, HPAR_TOKEN_END_TAG, 0, tag, 0, at, stop + 1);
    }
    if (!hp_is_alpha(at[1])) return read_token(t, token, at);
    n = probe_tag_name(at + 1);
    stop = at + 1 + n;
    if (!(tag = hp_short_name_atom(at + 1, n))) return read_any_tag(t, token, HPAR_TOKEN_START_TAG);
    if (*stop == '>') return emit_tag(t, token, HPAR_TOKEN_START_TAG, 0, tag, 0, at, stop + 1);
    if (!(hp_class(*stop) & HP_BYTE_TAG_STOP)) return read_any_tag(t, token, HPAR_TOKEN_START_TAG);
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
