#include "rewrite/edits.h"

#include "base/memory.h"

#include <string.h>

/*** the sink ***/

void hp_sink_open(hp_sink *s, hpar_write_callback write, void *context) {
  s->write = write;
  s->context = context;
  s->written = 0;
  s->status = HPAR_OK;
  s->length = 0;
}

static void deliver(hp_sink *s, const char *bytes, size_t length) {
  if (s->status != HPAR_OK) return;
  s->written += length;
  if (!s->write) return;
  hpar_status status = s->write(bytes, length, s->context);
  /* `write` may have ended the output itself: see hpar_rewriter_destroy. */
  if (s->status == HPAR_OK) s->status = status;
}

void hp_sink_close(hp_sink *s) {
  hp_free(s->buffer);
  s->buffer = NULL;
}

void hp_sink_flush(hp_sink *s) {
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
    s->length += (uint32_t)part;
    bytes += part;
    length -= part;
    if (s->length == HP_SINK_BYTES) hp_sink_flush(s);
  }
  if (length >= HP_SINK_BYTES) {
    deliver(s, bytes, length);
  } else if (length) {
    memcpy(s->buffer + s->length, bytes, length);
    s->length += (uint32_t)length;
  }
}

/* Does the same. It is short if the bytes fit into the buffer. */
static inline void put(hp_sink *s, const char *bytes, size_t length) {
  if (s->buffer && length < HP_SINK_BYTES - s->length) {
    memcpy(s->buffer + s->length, bytes, length);
    s->length += (uint32_t)length;
  } else {
    hp_sink_put(s, bytes, length);
  }
}

/*** the list ***/

hp_edit_counts hp_edits_take_counts(hp_edits *e) {
  const hp_edit_counts counts = {e->total, e->first_insertion, e->last_position, e->last_resume};
  e->total = 0;
  e->first_insertion = e->last_position = e->last_resume = UINT64_MAX;
  return counts;
}

void hp_edits_add_counts(hp_edits *e, const hp_edit_counts *counts) {
  const uint64_t first = counts->first_insertion;
  if (!counts->edits) return;
  e->total += counts->edits - (first != UINT64_MAX && first == e->last_position && first == e->last_resume);
  e->last_position = counts->last_position;
  e->last_resume = counts->last_resume;
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

static hp_edit *add(hp_edits *e, uint64_t position, uint64_t resume, hp_unwind *unwind) {
  hp_grow_tight(&e->items, &e->capacity, e->count + 1, unwind);
  hp_edit *edit = &e->items[e->count++];
  *edit = (hp_edit){position, resume, 0};
  if (!e->total) e->first_insertion = resume == position ? position : UINT64_MAX;
  if (resume != position || e->last_position != position || e->last_resume != position) e->total++;
  e->last_position = position;
  e->last_resume = resume;
  return edit;
}

void hp_edits_insert(hp_edits *e, uint64_t position, const char *text, size_t length, hp_unwind *unwind) {
  if (!length) return;
  hp_edit *last = e->count > e->complete ? &e->items[e->count - 1] : NULL;
  hp_bytes_append(&e->text, text, length, unwind);
  if (!last || last->position != position || last->resume != position) {
    uint32_t before = e->text.length - (uint32_t)length;
    e->text.length = before; /* the list is consistent if there is no memory */
    last = add(e, position, position, unwind);
    e->text.length = before + (uint32_t)length;
  }
  last->length += (uint32_t)length;
}

void hp_edits_drop(hp_edits *e, uint64_t from, uint64_t to, hp_unwind *unwind) {
  hp_edit *last = e->count > e->complete ? &e->items[e->count - 1] : NULL;
  if (from >= to) return;
  if (last && last->position == from && last->resume == from) {
    last->resume = e->last_resume = to;
    e->total++;
  } else {
    add(e, from, to, unwind);
  }
}

void hp_edits_mute(hp_edits *e, uint64_t position, hp_unwind *unwind) {
  if (!e->mute_depth++) add(e, position, UINT64_MAX, unwind);
}

void hp_edits_unmute(hp_edits *e, uint64_t position, hp_unwind *unwind) {
  if (--e->mute_depth == 0) add(e, position, position, unwind);
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
