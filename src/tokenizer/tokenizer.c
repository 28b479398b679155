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
#include "tokenizer/parts.h"

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

/*** a cache of names ***/

/* It has the names of up to 15 bytes that the tokenizer
 * has read and that hp_short_names does not have, and in a table of their own those of 16 to 31
 * bytes. The key is the name as in the input. */

/* A name as in the input, padded with zeros, and its atom. All names here are plain. */
struct hp_cached_name {
  uint64_t low, high;
  hp_atom atom;
};

/* The same for a longer name. */
struct hp_cached_long_name {
  uint64_t words[4];
  hp_atom atom;
};

/* Removes all names except those of the standard. */
static void forget_names(hp_tokenizer *t) {
  if (t->names.long_names) memset(t->names.long_names, 0, HP_CACHED_LONG_NAMES * sizeof *t->names.long_names);
  for (int word = 0; word < HP_CACHED_NAMES / 64; word++) {
    for (uint64_t rest = t->names.of_document[word]; rest; rest &= rest - 1)
      t->names.short_names[64 * word + __builtin_ctzll(rest)] = (struct hp_cached_name){0};
    t->names.of_document[word] = 0;
  }
}

/* Grows the marks by atom to include `atom`, so that later functions need no check. */
static hp_atom reach(hp_tokenizer *t, hp_atom atom) {
  if (atom >= t->seen.capacity) {
    uint32_t old = t->seen.capacity;
    hp_grow(&t->seen.serials, &t->seen.capacity, (size_t)atom + 1, t->interner->unwind);
    memset(t->seen.serials + old, 0, (t->seen.capacity - old) * sizeof *t->seen.serials);
  }
  return atom;
}

typedef struct cache_key {
  uint64_t low, high;
} cache_key;

/* Returns the key of a name of up to 16 bytes. Requires: 16 bytes are readable. */
static inline cache_key cache_key_of(const char *name, unsigned length) {
  cache_key key = {0, 0};
  key.low = hp_load_64(name);
  if (length <= 8) {
    key.low &= hp_short_names.masks[length];
  } else {
    key.high = hp_load_64(name + 8);
    key.high &= hp_short_names.masks[length - 8];
  }
  return key;
}

static inline struct hp_cached_name *cache_slot(const hp_tokenizer *t, cache_key key) {
  return &t->names.short_names[((key.low ^ key.high * 3) * HP_NAME_K1) >> 56];
}

/* Returns the atom of a name in the cache, or HP_NO_ATOM. Requires: 16 bytes are readable. */
static inline hp_atom cached_name(const hp_tokenizer *t, const char *name, unsigned length) {
  if (length > 15 || !t->names.short_names) return HP_NO_ATOM;
  cache_key key = cache_key_of(name, length);
  const struct hp_cached_name *entry = cache_slot(t, key);
  return entry->low == key.low && entry->high == key.high ? entry->atom : HP_NO_ATOM;
}

/* Sets the key of a name of 16 to 31 bytes. Requires: 32 bytes are readable. */
static inline void set_long_key(uint64_t key[4], const char *name, unsigned length) {
  for (unsigned i = 0; i < 4; i++) key[i] = hp_load_64(name + 8 * i);
  key[2] &= hp_short_names.masks[length < 24 ? length - 16 : 8];
  key[3] &= hp_short_names.masks[length < 24 ? 0 : length - 24];
}

static inline struct hp_cached_long_name *long_slot(const hp_tokenizer *t, const uint64_t key[4]) {
  return &t->names.long_names[(key[0] ^ key[1] * 3 ^ key[2] * 5 ^ key[3] * 7) * HP_NAME_K1 >> 58];
}

typedef struct name_end {
  hp_atom atom; /* HP_NO_ATOM: not in the cache */
  unsigned length;
} name_end;

/* Finds the name of an attribute. The first 16 bytes have `length` bytes of it. HP_FAST_REACH bytes
 * are readable from there, and after a longer name still those of the fast path. */
static __attribute__((noinline)) name_end cached_attribute_name(const hp_tokenizer *t, const char *name,
                                                                unsigned length) {
  if (length < 16) return (name_end){cached_name(t, name, length), length};
  if (!t->names.long_names || t->end - name < HP_FAST_REACH + 16) return (name_end){HP_NO_ATOM, 0};
  length += probe_attribute_name(name + 16);
  if (length > 31) return (name_end){HP_NO_ATOM, 0};
  uint64_t key[4];
  set_long_key(key, name, length);
  const struct hp_cached_long_name *entry = long_slot(t, key);
  bool is_same =
      entry->words[0] == key[0] && entry->words[1] == key[1] && entry->words[2] == key[2] && entry->words[3] == key[3];
  return (name_end){is_same ? entry->atom : HP_NO_ATOM, length};
}

static void learn_long_name(hp_tokenizer *t, const char padded[32], size_t length, hp_atom atom) {
  if (!t->names.long_names)
    t->names.long_names = hp_allocate_zeroed(HP_CACHED_LONG_NAMES * sizeof *t->names.long_names);
  if (!t->names.long_names) return;
  uint64_t key[4];
  set_long_key(key, padded, (unsigned)length);
  *long_slot(t, key) = (struct hp_cached_long_name){{key[0], key[1], key[2], key[3]}, atom};
}

enum { LONGEST_CACHED = 31 };

/* Enters a name, unless it has a byte that is an error or ends another kind of name. */
static void learn_name(hp_tokenizer *t, const char *name, size_t length, hp_atom atom) {
  char padded[LONGEST_CACHED + 1] = {0};
  if (length > LONGEST_CACHED) return;
  for (size_t i = 0; i < length; i++) {
    unsigned kinds = hp_class(name[i]);
    if (kinds & HP_BYTE_NAME_STOP || (kinds & HP_BYTE_ODD_NAME && !(kinds & HP_BYTE_ALPHA))) return;
    padded[i] = name[i];
  }
  if (length > 15) {
    learn_long_name(t, padded, length, atom);
    return;
  }
  if (!t->names.short_names) t->names.short_names = hp_allocate_zeroed(HP_CACHED_NAMES * sizeof *t->names.short_names);
  if (!t->names.short_names) return;
  cache_key key = cache_key_of(padded, 16);
  struct hp_cached_name *slot = cache_slot(t, key);
  size_t index = (size_t)(slot - t->names.short_names);
  if (atom >= HP_KNOWN_ATOMS) t->names.of_document[index / 64] |= UINT64_C(1) << index % 64;
  *slot = (struct hp_cached_name){key.low, key.high, atom};
}

/* Returns the atom of any name. `odd`: the name has upper-case letters or NUL. A name that the
 * cache may have takes no memory of the document, so that a limit of memory ends a parse at the
 * same tree, whatever is in the cache. */
static __attribute__((noinline)) hp_atom any_name(hp_tokenizer *t, const char *name, const char *end, bool odd) {
  size_t length = (size_t)(end - name), n = length;
  hp_arena mark = *t->bytes;
  const char *lower = name;
  char room[3 * LONGEST_CACHED];
  if (odd) {
    char *to = length > LONGEST_CACHED ? hp_arena_take(t->bytes, 3 * length) : room;
    lower = to;
    for (const char *p = name; p < end; p++) {
      if (*p) {
        *to++ = (unsigned char)(*p - 'A') < 26 ? (char)(*p | 0x20) : *p;
      } else {
        memcpy(to, "\xEF\xBF\xBD", 3);
        to += 3;
      }
    }
    n = (size_t)(to - lower);
  }
  hp_atom atom = reach(t, hp_intern(t->interner, lower, n));
  if (odd) hp_arena_return(t->bytes, &mark);
  learn_name(t, name, length, atom);
  return atom;
}

void hp_tokenizer_open(hp_tokenizer *t, hp_arena *nodes, hp_arena *bytes, hp_interner *interner) {
  t->base = t->at = t->end = "";
  t->last = false;
  t->content = HP_TEXT_STATE_DATA;
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
  reach(t, HP_KNOWN_ATOMS + 63);
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

/*** the attributes of a tag ***/

/* Attributes with known names take a fast path,
 * which reads quotation marks in blocks of 64 bytes. Others go through the standard's states. */

static uint32_t next_serial(hp_tokenizer *t) {
  if (++t->seen.serial == 0) {
    memset(t->seen.serials, 0, t->seen.capacity * sizeof *t->seen.serials);
    t->seen.serial = 1;
  }
  return t->seen.serial;
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
  if (t->seen.serials[attribute.name] == tag->serial) {
    hp_error_at(t, HP_ERROR_DUPLICATE_ATTRIBUTE, name_end);
    tag->deferred &= ~hp_next_value_bit(tag);
    return;
  }
  t->seen.serials[attribute.name] = tag->serial;
  if (!is_room(tag)) make_room_for_attribute(t->nodes, tag);
  *tag->item++ = attribute;
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

/* The loop over the attributes of a tag. All functions of the loop are inlined and no address of a
 * member leaves them, so the members live in registers. */
typedef struct attribute_loop {
  hp_tokenizer *t;
  hp_tag_state *tag;
  hp_attribute *item;
  uint32_t serial, *seen;
  const char *at; /* where the next attribute begins */
  const char *base;
  hp_quote_block block; /* the quotation marks from `base` on that are not before `at` */
} attribute_loop;

typedef enum attribute_step {
  READ,   /* the attribute is read */
  CLOSED, /* it is read, and '>' follows */
  ENDED,  /* the input ends inside the tag */
  LEFT    /* nothing has changed */
} attribute_step;

/* Returns true if the block of the tag has no attribute of this name, and memory for one more. */
static HP_INLINE bool may_add(const attribute_loop *l, hp_atom name) {
  return l->seen[name] != l->serial && l->tag->limit - (char *)l->item >= (ptrdiff_t)sizeof *l->item;
}

static HP_INLINE void add_item(attribute_loop *l, hp_atom name) {
  l->seen[name] = l->serial;
  l->item->name = name;
  l->item++;
}

/* Adds the attribute whose value begins at `value`. The first special byte of the value, or its
 * quotation mark, is at `stop`. */
static HP_INLINE attribute_step add_quoted(attribute_loop *l, hp_atom name, const char *value, const char *stop,
                                           char quote) {
  hp_tokenizer *t = l->t;
  const char *end = t->end;
  l->item->value = value;
  l->item->length = (uint32_t)(stop - value);
  if (*stop != quote) {
    l->tag->item = l->item;
    stop = hp_read_special_value(t, l->tag, value, stop, quote, l->item);
    if (stop == end) return ENDED;
  }
  add_item(l, name);
  const char *p = stop + 1;
  l->at = p;
  if (p == end) return ENDED;
  if (*p == ' ') return READ;
  if (*p == '>') return CLOSED;
  if (!(hp_class(*p) & HP_BYTE_TAG_STOP)) hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_BETWEEN_ATTRIBUTES, p);
  while (p < end && (hp_class(*p) & HP_BYTE_WHITE)) p++;
  l->at = p;
  return READ;
}

/* Reads an attribute with a known name of up to 15 bytes and a value in double quotes. The name is
 * between `at` and the '=' before the quotation mark: a look-up compares all its bytes. */
static HP_INLINE attribute_step read_by_quotes(attribute_loop *l) {
  hp_tokenizer *t = l->t;
  if (!(l->block.quotes & (l->block.quotes - 1))) {
    l->base = l->at;
    l->block = probe_quotes(l->at);
  }
  uint64_t quotes = l->block.quotes, rest = quotes & (quotes - 1);
  l->block.quotes = 0;
  if (!quotes) return LEFT;
  const char *value = l->base + __builtin_ctzll(quotes), *stop;
  size_t length = (size_t)(value - 1 - l->at);
  if (length > 15 || value[-1] != '=') return LEFT;
  hp_atom name = hp_short_name_atom(l->at, (unsigned)length);
  if (!name) name = cached_name(t, l->at, (unsigned)length);
  if (!name || !may_add(l, name)) return LEFT;
  value++;
  size_t before = (size_t)(l->at - l->base); /* the bytes of the block before the name */
  uint64_t odd = l->block.odd >> before << before;
  if (rest && !(odd & (rest ^ (rest - 1)))) {
    l->block.quotes = rest & (rest - 1);
    return add_quoted(l, name, value, l->base + __builtin_ctzll(rest), '"');
  }
  if (odd & (quotes ^ (quotes - 1))) return LEFT; /* the look-up requires a name without controls */
  stop = t->scan->quoted(rest || odd ? value : l->base + HP_QUOTE_BLOCK, t->end, '"');
  return stop < t->end ? add_quoted(l, name, value, stop, '"') : ENDED;
}

/* Reads an attribute with a known name. Probes find the end of the name and of the value. */
static HP_INLINE attribute_step read_by_probes(attribute_loop *l) {
  hp_tokenizer *t = l->t;
  const char *p = l->at, *end = t->end;
  unsigned n = probe_attribute_name(p);
  hp_atom name = hp_short_name_atom(p, n);
  if (!name) {
    name_end found = cached_attribute_name(t, p, n);
    name = found.atom;
    n = found.length;
    if (!name) {
      if (*p != '/' || p[1] != '>') return LEFT;
      l->tag->flags = HP_TOKEN_SELF_CLOSING;
      l->at = p + 1;
      return CLOSED;
    }
  }
  if (!may_add(l, name)) return LEFT;
  const char *value = p + n, *stop = value;
  if (*value == '=') {
    char quote = *++value;
    if (quote == '"' || quote == '\'') {
      stop = ++value;
      for (unsigned i = 0; i < HP_PROBES; i++) {
        n = probe_quoted(stop, quote);
        stop += n;
        if (n < 16) return add_quoted(l, name, value, stop, quote);
      }
      stop = t->scan->quoted(stop, end, quote);
      return stop < end ? add_quoted(l, name, value, stop, quote) : ENDED;
    }
    n = probe_unquoted(value);
    stop = value + n;
    if (n - 1 > 14 || (*stop != '>' && !(hp_class(*stop) & HP_BYTE_WHITE))) return LEFT;
  } else if (*stop != '>' && (*stop != ' ' || !hp_ascii_is_letter(stop[1]))) {
    return LEFT;
  }
  l->item->length = (uint32_t)(stop - value);
  l->item->value = value;
  add_item(l, name);
  l->at = stop;
  return *stop == '>' ? CLOSED : READ;
}

/* Reads one attribute, white space or '/' by the standard's states. */
static HP_INLINE attribute_step read_by_states(attribute_loop *l) {
  l->tag->item = l->item;
  l->at = read_any_attribute(l->t, l->tag, l->at);
  l->item = l->tag->item;
  l->seen = l->t->seen.serials;
  if (l->at == l->t->end) return ENDED;
  return *l->at == '>' ? CLOSED : READ;
}

hp_tag_end hp_read_attributes(hp_tokenizer *t, hp_atom name, const char *start, const char *at, uint32_t mark) {
  const char *end = t->end;
  uint32_t serial = next_serial(t);
  hp_tag_state tag = open_tag(t->nodes, serial, name, mark);
  attribute_loop l = {
      .t = t, .tag = &tag, .item = tag.item, .serial = serial, .seen = t->seen.serials, .at = at, .base = start};
  if (end - start >= HP_FAST_REACH) l.block = probe_quotes(start);
  attribute_step step;
  do {
    step = LEFT;
    if (end - l.at >= HP_FAST_REACH) {
      l.at += *l.at == ' ';
      step = read_by_quotes(&l);
      if (step == LEFT) step = read_by_probes(&l);
    }
    if (step == LEFT) step = read_by_states(&l);
  } while (step == READ);
  if (step == CLOSED) return close_tag(t, &tag, l.item, l.at + 1);
  close_block(t->nodes, &tag, tag.attributes);
  return (hp_tag_end){NULL, 0, 0};
}

static int emit_tag(hp_tokenizer *t, hp_token *token, int kind, unsigned flags, hp_atom name, hp_ref attributes,
                    const char *start, const char *end) {
  token->name = name;
  token->attributes = attributes;
  if (kind == HP_TOKEN_START_TAG) {
    t->last_start_tag = name;
  } else {
    t->content = HP_TEXT_STATE_DATA;
  }
  return hp_emit(t, token, kind, flags, start, end);
}

static int end_in_tag(hp_tokenizer *t, hp_token *token) {
  if (!t->last) return need_more(t);
  hp_error_at(t, HP_ERROR_EOF_IN_TAG, t->end);
  return hp_emit_end_of_input(t, token);
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
  if (at == t->end) return hp_emit_end_of_input(t, token);
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
    bool section = t->content == HP_TEXT_STATE_CDATA_SECTION;
    kind = read_markup(t, token, at);
    if (section && kind != HP_TOKEN_NEED_MORE) t->content = HP_TEXT_STATE_DATA;
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
  if (t->content != HP_TEXT_STATE_DATA || end - at < HP_FAST_REACH) return read_token(t, token, at);
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
  while (t->content != HP_TEXT_STATE_DATA && kind != HP_TOKEN_EOF && kind != HP_TOKEN_NEED_MORE)
    kind = hp_next_token(t, &token);
  return kind;
}

void hp_skip_raw_text(hp_tokenizer *t) {
  hp_errors *errors = t->errors.list;
  t->errors.list = NULL;
  hp_read_raw_text(t);
  t->errors.list = errors;
}
