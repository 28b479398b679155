#include "rewrite/attributes.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/encoding.h"
#include "text/references/references.h"
#include "text/scan/scan.h"
#include "tokenizer/parts.h"

#include <string.h>

/* Returns the end of the attribute name around `p`. Clears `is_short` unless less than 16 bytes of
 * the name follow, without controls. */
static HP_INLINE const char *find_name_end(const char *p, const char *readable, bool *is_short) {
  unsigned n = readable - p >= 16 ? probe_attribute_end(p) : 16;
  p += n & 15;
  if (n < 16 && hp_class(*p) & HP_BYTE_NAME_STOP) return p;
  *is_short = false;
  while (!(hp_class(*p) & HP_BYTE_NAME_STOP)) p++;
  return p;
}

/* Returns the quote that ends the value at `p`. */
static HP_INLINE const char *find_quote(const char *p, const char *end, const char *readable, char quote) {
  if (readable - p >= 32) {
    unsigned n = probe_byte(p, quote);
    if (n == 16) n += probe_byte(p + 16, quote);
    p += n;
    if (n < 32) return p;
  }
  return memchr(p, quote, (size_t)(end - p));
}

/* Reads the attribute that begins at `name`, by the states of the standard. Returns its end.
 * Requires: `name` is neither white, "/" nor ">". */
static HP_INLINE const char *read_span(hp_span *span, const char *tag, const char *name, const char *end,
                                       const char *readable) {
  bool is_short = (unsigned char)*name > ' ';
  const char *name_end = find_name_end(name + 1, readable, &is_short), *value = name_end, *stop;
  const uint32_t from = (uint32_t)(name - tag), to = (uint32_t)(name_end - tag);
  const uint8_t bit = hp_attribute_bit(name, to - from);
  while (hp_ascii_is_white(*value)) value++;
  if (*value != '=') {
    *span = (hp_span){from, to, 0, 0, to, 0, bit, is_short, false, false};
    return name_end;
  }
  do value++;
  while (hp_ascii_is_white(*value));
  char quote = *value;
  if (quote == '"' || quote == '\'') {
    stop = find_quote(++value, end, readable, quote);
  } else {
    for (stop = value; !hp_ascii_is_white(*stop) && *stop != '>';) stop++;
    quote = 0;
  }
  const uint32_t value_end = (uint32_t)(stop - tag);
  stop += quote != 0;
  *span = (hp_span){from, to,   (uint32_t)(value - tag), value_end, (uint32_t)(stop - tag), quote, bit, is_short,
                    true, false};
  return stop;
}

static bool same_name(const hp_spans *s, const hp_span *a, const hp_span *b) {
  uint32_t length = a->name_end - a->name;
  return b->name_end - b->name == length && hp_ascii_equal(s->tag + a->name, s->tag + b->name, length);
}

static uint64_t hash_name(const hp_spans *s, const hp_span *a) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = a->name; i < a->name_end; i++)
    hash = (hash ^ (unsigned char)hp_ascii_lower(s->tag[i])) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 31;
}

uint32_t *hp_spans_find_first(const hp_spans *s, hp_scratch *scratch) {
  uint32_t *first = hp_scratch_take(scratch, (s->count + 1) * sizeof *first);
  size_t slots = 32;
  while (slots < 2 * (size_t)s->count) slots *= 2;
  uint32_t *table = hp_scratch_take(scratch, slots * sizeof *table);
  memset(table, 0, slots * sizeof *table);
  for (uint32_t i = 0; i < s->count; i++) {
    size_t slot = hash_name(s, &s->items[i]) & (slots - 1);
    while (table[slot] && !same_name(s, &s->items[table[slot] - 1], &s->items[i])) slot = (slot + 1) & (slots - 1);
    if (!table[slot]) table[slot] = i + 1;
    first[i] = table[slot] - 1;
  }
  return first;
}

/* Marks the duplicates in linear time. */
static void mark_duplicates(hp_spans *s, hp_scratch *scratch) {
  enum { FEW = 12 };
  if (s->count <= FEW) {
    for (uint32_t i = 1; i < s->count; i++)
      for (uint32_t j = 0; j < i && !s->items[i].is_duplicate; j++)
        s->items[i].is_duplicate = same_name(s, &s->items[i], &s->items[j]);
    return;
  }
  const uint32_t *first = hp_spans_find_first(s, scratch);
  for (uint32_t i = 0; i < s->count; i++) s->items[i].is_duplicate = first[i] != i;
}

void hp_spans_begin(hp_spans *s, const char *tag, const char *end, uint32_t name_end, const char *readable) {
  s->tag = tag;
  s->count = 0;
  s->name_end = name_end;
  s->close = (uint32_t)(end - 1 - tag);
  s->names = 0;
  s->at = tag + name_end;
  s->end = end;
  s->readable = readable;
}

/* Reads one attribute. Returns its bit, or 0 at the end of the tag. */
static HP_INLINE uint64_t read_next(hp_spans *s, hp_scratch *scratch) {
  const char *p = s->at, *close = s->end - 1;
  for (; p < close && (hp_ascii_is_white(*p) || *p == '/'); p++)
    if (*p == '/' && p + 1 == close) s->close--;
  if (p == close) {
    s->at = p;
    return 0;
  }
  hp_span *span = hp_push_tight(s, scratch->unwind);
  s->at = read_span(span, s->tag, p, s->end, s->readable);
  return (uint64_t)1 << span->name_bit;
}

void hp_spans_complete(hp_spans *s, hp_scratch *scratch) {
  bool may_repeat = false;
  if (s->at == s->end - 1) return;
  for (uint64_t bit; (bit = read_next(s, scratch)) != 0;) {
    may_repeat |= (s->names & bit) != 0;
    s->names |= bit;
  }
  if (may_repeat) mark_duplicates(s, scratch);
}

bool hp_spans_next(hp_spans *s, hp_scratch *scratch) {
  if (s->at == s->end - 1) return false;
  uint64_t bit = read_next(s, scratch);
  bool may_repeat = (s->names & bit) != 0;
  s->names |= bit;
  if (may_repeat) {
    hp_spans_complete(s, scratch);
    mark_duplicates(s, scratch);
  }
  return bit != 0;
}

hp_span *hp_spans_find(const hp_spans *s, const char *name, size_t length) {
  for (uint32_t i = 0; i < s->count; i++) {
    const hp_span *a = &s->items[i];
    if (a->name_end - a->name == length && hp_ascii_equal(s->tag + a->name, name, length)) return &s->items[i];
  }
  return NULL;
}

/*** decoding ***/

static hpar_status copy_piece(const char *text, size_t length, void *context) {
  char **to = context;
  memcpy(*to, text, length);
  *to += length;
  return HPAR_OK;
}

/* Converts bytes to UTF-8. */
static hp_name to_utf8(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch) {
  hp_name same = {from, (uint32_t)length};
  if (hp_is_ascii(from, length)) return same;
  if (encoding->kind == HP_ENCODING_UTF8 && hp_scan()->invalid_utf8(from, from + length) == from + length) return same;
  hp_decoder *decoder;
  hpar_status status = hp_decoder_create(&decoder, encoding);
  if (status != HPAR_OK) hp_unwind_now(scratch->unwind, status);
  char *to = hp_scratch_take(scratch, 3 * length + 8), *end = to;
  /* A byte order mark here is a character. */
  status = hp_decoder_run(decoder, " ", 1, false, copy_piece, &end);
  end = to;
  if (status == HPAR_OK) status = hp_decoder_run(decoder, from, length, true, copy_piece, &end);
  hp_decoder_destroy(decoder);
  if (status != HPAR_OK) hp_unwind_now(scratch->unwind, status);
  size_t shift = to < end && *to == ' ' && *from != ' ' ? 1 : 0;
  return (hp_name){to + shift, (uint32_t)((size_t)(end - to) - shift)};
}

hp_name hp_decode_span(const char *from, size_t length, hp_references references, const hp_encoding *encoding,
                       hp_scratch *scratch) {
  hp_name text = to_utf8(from, length, encoding, scratch);
  const char *p = text.bytes, *end = p + text.length;
  if (hp_scan()->quoted(p, end, '&') == end) return text;
  size_t room = 3 * (size_t)text.length + 8;
  char *start = hp_scratch_take(scratch, room), *to = start;
  for (p = text.bytes; p < end;) {
    if (*p == '&' && references != HP_REFERENCES_NONE) {
      hp_reference r = hp_read_reference(p, end, references == HP_REFERENCES_ATTRIBUTE, text.bytes, NULL);
      if (r.length) {
        memcpy(to, r.bytes, r.length);
        to += r.length;
      } else {
        while (p < r.end) *to++ = *p++;
      }
      p = r.end;
    } else if (*p == '\r') {
      p += p + 1 < end && p[1] == '\n' ? 2 : 1;
      *to++ = '\n';
    } else if (!*p) {
      memcpy(to, "\xEF\xBF\xBD", 3);
      to += 3;
      p++;
    } else {
      *to++ = *p++;
    }
  }
  hp_scratch_shrink(scratch, start, room, (size_t)(to - start));
  return (hp_name){start, (uint32_t)(to - start)};
}

hp_name hp_lower_name(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch) {
  size_t i = 0;
  while (i < length && (unsigned char)from[i] < 0x80 && from[i] && (unsigned char)(from[i] - 'A') >= 26) i++;
  if (i == length) return (hp_name){from, (uint32_t)length};
  hp_name text = hp_decode_span(from, length, HP_REFERENCES_NONE, encoding, scratch);
  char *to = hp_scratch_take(scratch, text.length + 1);
  for (i = 0; i < text.length; i++) to[i] = hp_ascii_lower(text.bytes[i]);
  return (hp_name){to, text.length};
}

hp_name hp_span_name(const hp_spans *s, const hp_span *span, hp_scratch *scratch) {
  return hp_lower_name(s->tag + span->name, span->name_end - span->name, &hp_utf8, scratch);
}

hp_name hp_span_value(const hp_spans *s, const hp_span *span, const hp_encoding *encoding, hp_scratch *scratch) {
  if (!span->has_value) return (hp_name){"", 0};
  const char *from = s->tag + span->value, *to = s->tag + span->value_end;
  if (!encoding) encoding = hp_scan()->invalid_utf8(from, to) == to ? &hp_utf8 : &hp_windows1252;
  return hp_decode_span(from, (size_t)(to - from), HP_REFERENCES_ATTRIBUTE, encoding, scratch);
}
