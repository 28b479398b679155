#include "rewrite/edits.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"
#include "text/references/references.h"

#include <stdio.h>
#include <string.h>

/*** memory ***/

enum { FIRST_BYTES = 64, BLOCK_BYTES = 240, KEPT_BYTES = 480 };

struct hp_scratch_block {
  struct hp_scratch_block *next;
  size_t size;
};

static void *refill(hp_scratch *s, size_t bytes) {
  size_t least = s->first ? BLOCK_BYTES : FIRST_BYTES, size = bytes > least ? bytes : least;
  struct hp_scratch_block *block = hp_separates_lines(s->unwind)
                                       ? hp_allocate_aligned(HP_CACHE_LINE, sizeof *block + size)
                                       : hp_allocate(sizeof *block + size);
  if (!block) hp_unwind_now(s->unwind, HPAR_ERROR_MEMORY);
  *block = (struct hp_scratch_block){s->first, size};
  s->first = block;
  s->bytes += size;
  s->begin = !block->next && size <= KEPT_BYTES ? (char *)(block + 1) : NULL;
  s->at = (char *)(block + 1) + bytes;
  s->end = (char *)(block + 1) + size;
  return block + 1;
}

void *hp_scratch_take(hp_scratch *s, size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  if ((size_t)(s->end - s->at) < bytes) return refill(s, bytes);
  char *memory = s->at;
  s->at += bytes;
  return memory;
}

void hp_scratch_shrink(hp_scratch *s, void *memory, size_t taken, size_t used) {
  char *last = (char *)memory + ((taken + 7) & ~(size_t)7);
  if (s->at == last) s->at = (char *)memory + ((used + 7) & ~(size_t)7);
}

static void free_blocks(hp_scratch *s, const struct hp_scratch_block *kept) {
  struct hp_scratch_block *block = s->first, *next;
  for (; block; block = next) {
    next = block->next;
    if (block != kept) hp_free(block);
  }
}

void hp_scratch_free_blocks(hp_scratch *s) {
  struct hp_scratch_block *kept = s->first->size <= KEPT_BYTES ? s->first : NULL;
  free_blocks(s, kept);
  s->first = kept;
  s->bytes = kept ? kept->size : 0;
  if (kept) kept->next = NULL;
  s->begin = s->at = kept ? (char *)(kept + 1) : NULL;
  s->end = kept ? s->at + kept->size : NULL;
}

void hp_scratch_close(hp_scratch *s) {
  free_blocks(s, NULL);
  *s = (hp_scratch){0};
}

char *hp_bytes_extend(hp_bytes *b, size_t length, hp_unwind *unwind) {
  size_t need = b->length + length;
  if (need > UINT32_MAX) hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  hp_grow_tight(&b->data, &b->capacity, need, unwind);
  char *at = b->data + b->length;
  b->length = (uint32_t)need;
  return at;
}

void hp_bytes_append(hp_bytes *b, const char *from, size_t length, hp_unwind *unwind) {
  if (length) memcpy(hp_bytes_extend(b, length, unwind), from, length);
}

void hp_bytes_free(hp_bytes *b) {
  hp_free(b->data);
  *b = (hp_bytes){0};
}

/*** encoding ***/

/* Reads one character of UTF-8 beyond ASCII. Sets its length; an invalid byte is U+FFFD. */
static uint32_t read_character(const char *p, size_t left, size_t *length) {
  const int bytes = hp_utf8_sequence(p, p + left);
  *length = bytes < 0 ? 1 : (size_t)bytes;
  if (bytes < 0) return 0xFFFD;
  uint32_t value = (unsigned char)*p & (0x7Fu >> bytes);
  for (int i = 1; i < bytes; i++) value = value << 6 | ((unsigned char)p[i] & 0x3Fu);
  return value;
}

/* Returns what a byte of ASCII becomes, or NULL if it stays. */
static const char *replacement(const char *p, const char *end, hp_place_kind place) {
  switch (*p) {
    case '<': return place == HP_PLACE_TEXT || place == HP_PLACE_RCDATA ? "&lt;" : NULL;
    case '>': return place == HP_PLACE_TEXT ? "&gt;" : NULL;
    case '"': return place == HP_PLACE_DOUBLE_QUOTED ? "&quot;" : NULL;
    case '\'': return place == HP_PLACE_SINGLE_QUOTED ? "&#39;" : NULL;
    case '\r': return place == HP_PLACE_DOUBLE_QUOTED || place == HP_PLACE_SINGLE_QUOTED ? "&#13;" : NULL;
    case '&':
      if (place == HP_PLACE_TEXT) return "&amp;";
      if (place != HP_PLACE_DOUBLE_QUOTED && place != HP_PLACE_SINGLE_QUOTED) return NULL;
      return hp_read_reference(p, end, true, p, NULL).length ? "&amp;" : NULL;
    default: return NULL;
  }
}

/* Writes the code of a character, or a numeric reference. Sets `*is_code`. Returns the length. */
static size_t write_character(const hp_encoder *encoder, uint32_t c, char to[16], bool *is_code) {
  unsigned char code[HP_MAX_CODE];
  size_t length = encoder->encoding ? hp_encode_character(encoder, c, code) : 0;
  *is_code = length != 0;
  if (!length) return (size_t)snprintf(to, 16, "&#%u;", c);
  memcpy(to, code, length);
  return length;
}

/* Returns true if the encoding has all characters. */
static bool has_all(const hp_encoder *encoder, const char *text, const char *end) {
  char code[16];
  bool is_code = true;
  for (size_t n = 1; text < end && is_code; text += n) {
    n = 1;
    if ((unsigned char)*text >= 0x80)
      write_character(encoder, read_character(text, (size_t)(end - text), &n), code, &is_code);
  }
  return is_code;
}

bool hp_encode(hp_bytes *to, const char *text, size_t length, hp_place_kind place, const hp_encoding *encoding,
               hp_unwind *unwind) {
  if (!length) return true;
  const char *end = text + length, *from = text;
  bool is_utf8 = encoding && encoding->kind == HP_ENCODING_UTF8;
  hp_encoder encoder = {0};
  /* Without a table, all characters beyond ASCII become references. */
  if (encoding && !is_utf8 && hp_encoder_open(&encoder, encoding) != HPAR_OK) encoder.encoding = NULL;
  if (!is_utf8 && place == HP_PLACE_RAW && !has_all(&encoder, text, end)) return false;
  for (const char *p = text; p < end;) {
    if ((unsigned char)*p < 0x80 || is_utf8) {
      const char *other = (unsigned char)*p < 0x80 ? replacement(p, end, place) : NULL;
      p++;
      if (!other) continue;
      hp_bytes_append(to, from, (size_t)(p - 1 - from), unwind);
      hp_bytes_append(to, other, strlen(other), unwind);
    } else {
      char written[16];
      bool is_code;
      size_t n, bytes = write_character(&encoder, read_character(p, (size_t)(end - p), &n), written, &is_code);
      hp_bytes_append(to, from, (size_t)(p - from), unwind);
      hp_bytes_append(to, written, bytes, unwind);
      p += n;
    }
    from = p;
  }
  hp_bytes_append(to, from, (size_t)(end - from), unwind);
  return true;
}

/*** the sink ***/

void hp_sink_open(hp_sink *s, hpar_write_callback write, void *context) {
  s->write = write;
  s->context = context;
  s->written = 0;
  s->status = HPAR_OK;
  s->length = 0;
  s->has_no_mark = false;
}

size_t hp_find_mark(const char *bytes, size_t length) {
  static const char marks[][4] = {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"};
  for (size_t i = 0; i < 3; i++) {
    const size_t full = strlen(marks[i]);
    if (!memcmp(bytes, marks[i], length < full ? length : full)) return full;
  }
  return 0;
}

static void deliver(hp_sink *s, const char *bytes, size_t length) {
  if (s->status != HPAR_OK) return;
  if (s->has_no_mark && !s->written) {
    const size_t mark = hp_find_mark(bytes, length);
    s->has_no_mark = false;
    if (mark && mark <= length) deliver(s, "</>", 3);
    if (s->status != HPAR_OK) return;
  }
  s->written += length;
  if (!s->write) return;
  hpar_status status = s->write(bytes, length, s->context);
  if (status == HPAR_SUSPEND) status = HPAR_ERROR_ARGUMENT;
  /* `write` may have ended the output itself: see hpar_rewriter_destroy. */
  if (s->status == HPAR_OK) s->status = status;
}

void hp_sink_close(hp_sink *s) {
  hp_free(s->buffer);
  s->buffer = NULL;
}

void hp_sink_flush(hp_sink *s) {
  if (s->has_no_mark && s->length && hp_find_mark(s->buffer, s->length) > s->length) return;
  hp_sink_end(s);
}

void hp_sink_end(hp_sink *s) {
  if (s->length) deliver(s, s->buffer, s->length);
  s->length = 0;
}

void hp_sink_put(hp_sink *s, const char *bytes, size_t length) {
  if (!length) return;
  if (!s->buffer && length < HP_SINK_BYTES) s->buffer = hp_allocate_aligned(HP_CACHE_LINE, HP_SINK_BYTES);
  if (!s->buffer) {
    deliver(s, bytes, length);
    return;
  }
  if (s->length || length < HP_SINK_BYTES) {
    size_t part = HP_SINK_BYTES - s->length;
    if (part > length) part = length;
    memcpy(s->buffer + s->length, bytes, part);
    s->length = (uint16_t)(s->length + part);
    bytes += part;
    length -= part;
    if (s->length == HP_SINK_BYTES) hp_sink_flush(s);
  }
  if (length >= HP_SINK_BYTES) {
    deliver(s, bytes, length);
  } else if (length) {
    memcpy(s->buffer + s->length, bytes, length);
    s->length = (uint16_t)(s->length + length);
  }
}

/* Does the same. It is short if the bytes fit into the buffer. */
static inline void put(hp_sink *s, const char *bytes, size_t length) {
  if (s->buffer && length + s->length < HP_SINK_BYTES) {
    memcpy(s->buffer + s->length, bytes, length);
    s->length = (uint16_t)(s->length + length);
  } else {
    hp_sink_put(s, bytes, length);
  }
}

/*** the list ***/

hp_edit_counts hp_edits_take_counts(hp_edits *e) {
  const hp_edit_counts counts = e->counts;
  e->counts = (hp_edit_counts){0, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  return counts;
}

void hp_edits_add_counts(hp_edits *e, const hp_edit_counts *added) {
  hp_edit_counts *to = &e->counts;
  const uint64_t first = added->first_insertion;
  if (!added->edits) return;
  to->edits += added->edits - (first != UINT64_MAX && first == to->last_position && first == to->last_resume);
  to->last_position = added->last_position;
  to->last_resume = added->last_resume;
}

void hp_edits_open(hp_edits *e, uint64_t position) {
  e->count = e->complete = e->complete_text = e->mute_depth = 0;
  e->text.length = 0;
  e->copied = e->safe = position;
  hp_edits_take_counts(e);
}

void hp_edits_close(hp_edits *e) {
  hp_free(e->items);
  hp_bytes_free(&e->text);
  *e = (hp_edits){0};
}

static hp_edit *add_entry(hp_edits *e, uint64_t position, uint64_t resume, hp_unwind *unwind) {
  hp_edit *edit = hp_push_tight(e, unwind);
  hp_edit_counts *counts = &e->counts;
  *edit = (hp_edit){position, resume, 0};
  if (!counts->edits) counts->first_insertion = resume == position ? position : UINT64_MAX;
  if (resume != position || counts->last_position != position || counts->last_resume != position) counts->edits++;
  counts->last_position = position;
  counts->last_resume = resume;
  return edit;
}

void hp_edits_insert(hp_edits *e, uint64_t position, const char *text, size_t length, hp_unwind *unwind) {
  if (!length) return;
  hp_edit *last = e->count > e->complete ? &e->items[e->count - 1] : NULL;
  hp_bytes_append(&e->text, text, length, unwind);
  if (!last || last->position != position || last->resume != position) {
    uint32_t before = e->text.length - (uint32_t)length;
    e->text.length = before; /* the list is consistent if there is no memory */
    last = add_entry(e, position, position, unwind);
    e->text.length = before + (uint32_t)length;
  }
  last->length += (uint32_t)length;
}

void hp_edits_drop(hp_edits *e, uint64_t from, uint64_t to, hp_unwind *unwind) {
  hp_edit *last = e->count > e->complete ? &e->items[e->count - 1] : NULL;
  if (from >= to) return;
  if (last && last->position == from && last->resume == from) {
    last->resume = e->counts.last_resume = to;
    e->counts.edits++;
  } else {
    add_entry(e, from, to, unwind);
  }
}

void hp_edits_mute(hp_edits *e, uint64_t position, hp_unwind *unwind) {
  if (!e->mute_depth++) add_entry(e, position, UINT64_MAX, unwind);
}

void hp_edits_unmute(hp_edits *e, uint64_t position, hp_unwind *unwind) {
  if (--e->mute_depth == 0) add_entry(e, position, position, unwind);
}

void hp_edits_drop_incomplete(hp_edits *e) {
  e->count = e->complete;
  e->text.length = e->complete_text;
}

static void copy_upto(hp_edits *e, hp_sink *sink, const char *window, uint64_t start, uint64_t upto) {
  if (e->copied >= upto) return;
  put(sink, window + (e->copied - start), (size_t)(upto - e->copied));
  e->copied = upto;
}

void hp_edits_apply(hp_edits *e, hp_sink *sink, const char *window, uint64_t start, uint64_t upto) {
  const char *text = e->text.data;
  for (uint32_t i = 0; i < e->count; i++) {
    const hp_edit *edit = &e->items[i];
    if (e->copied != UINT64_MAX)
      copy_upto(e, sink, window, start, edit->position);
    else
      e->copied = edit->position;
    if (edit->length) { /* `text` is NULL before the first insertion */
      put(sink, text, edit->length);
      text += edit->length;
    }
    if (edit->resume > e->copied) e->copied = edit->resume;
  }
  e->count = e->complete = e->complete_text = 0;
  e->text.length = 0;
  if (e->copied != UINT64_MAX) copy_upto(e, sink, window, start, upto);
}
