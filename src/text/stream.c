/* Pieces of UTF-8 are looked at by the kernels where the caller has them, and then copied while
 * they are in the cache. At most three bytes are held back from one piece to the next. */

#include "text/stream.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"
#include "text/input.h"
#include "text/scan/scan.h"

#include <hpar/parse.h>
#include <string.h>

enum { LONGEST_BOM = 3 };

/* May the `n` bytes, which are no sequence, begin one? */
static bool begins_sequence(const char *at, size_t n) {
  unsigned char first = (unsigned char)*at;
  size_t length = first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return n < length && hp_utf8_sequence(at, at + n) == -(int)n;
}

/* Returns the array with memory for `bytes`, of which `used` are kept; NULL if memory is short. */
static void *grow(hp_stream *s, void *array, size_t used, size_t bytes) {
  if (!s->is_shared || !array) return hp_reallocate(array, bytes);
  void *grown = hp_allocate(bytes);
  if (!grown) return NULL;
  s->former[s->former_count++] = array;
  return memcpy(grown, array, used);
}

static size_t next_capacity(const hp_stream *s) { return s->capacity ? s->capacity * 2 : 64; }

static hpar_status put_repair(hp_stream *s, size_t offset, uint64_t source) {
  hp_input *input = s->input;
  if (input->repair_count == s->capacity) {
    size_t capacity = next_capacity(s), used = input->repair_count * sizeof *input->repairs;
    hp_repair *grown = grow(s, input->repairs, used, capacity * sizeof *grown);
    if (!grown) return HPAR_ERROR_MEMORY;
    input->repairs = grown;
    s->capacity = capacity;
  }
  input->repairs[input->repair_count++] = (hp_repair){(uint32_t)offset, (uint32_t)source};
  s->repaired = offset;
  return HPAR_OK;
}

static hpar_status end_run(hp_stream *s) {
  size_t count = s->run_count, offset = s->run_offset;
  uint64_t source = s->run_source;
  unsigned bytes = (unsigned)s->run_bytes;
  hpar_status status = HPAR_OK;
  s->run_count = 0;
  if ((3 - bytes) * count > 2) {
    if (offset > s->repaired) status = put_repair(s, offset, source);
    if (!status) status = put_repair(s, offset + 3 * count, source + bytes * count);
    return status;
  }
  for (size_t i = 1; i <= count && !status; i++) status = put_repair(s, offset + 3 * i, source + bytes * i);
  return status;
}

static hpar_status put(hp_stream *s, const char *bytes, size_t n) {
  if (s->text->length + n > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  return hp_buffer_add(s->text, bytes, n);
}

static hpar_status put_valid(hp_stream *s, const char *bytes, size_t n) {
  if (!n) return HPAR_OK;
  if (s->run_count) {
    hpar_status status = end_run(s);
    if (status) return status;
  }
  if (!s->taken && n >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) {
    s->input->bom = 3;
    s->taken = 3;
    bytes += 3;
    n -= 3;
  }
  s->taken += n;
  return put(s, bytes, n);
}

/* Handles the first invalid bytes, [at, end), after `held` bytes of the sequence. Before them
 * the text equals the bytes. From here on the stream keeps the bytes as long as it may decode
 * them again. */
static hpar_status first_invalid(hp_stream *s, unsigned held, const char *at, const char *end) {
  hpar_status status = HPAR_OK;
  s->replaced = true;
  if (!s->keep && !s->sniffed.certain) {
    hp_buffer_clear(s->source);
    status = hp_buffer_add(s->source, s->text->base, s->text->length);
    if (!status) status = hp_buffer_add(s->source, s->held, held);
    if (!status) status = hp_buffer_add(s->source, at, (size_t)(end - at));
    s->keep = true;
  }
  if (status == HPAR_OK && !s->sniffed.encoding) {
    s->needs_fallback = true;
    return HPAR_ERROR_UNSUPPORTED; /* ends the call of hp_stream_add, which returns HPAR_OK */
  }
  return status;
}

static hpar_status put_replacement(hp_stream *s, int bytes) {
  if (s->run_count && s->run_bytes != bytes) {
    hpar_status status = end_run(s);
    if (status) return status;
  }
  if (bytes < 3) {
    if (!s->run_count) {
      s->run_offset = s->text->length;
      s->run_source = s->taken;
      s->run_bytes = bytes;
    }
    s->run_count++;
  }
  s->taken += (unsigned)bytes;
  return put(s, "\xEF\xBF\xBD", 3);
}

/* Adds the held bytes together with the rest of their sequence. */
static hpar_status add_held(hp_stream *s, const char **at, const char *end, bool last) {
  unsigned before = s->held_count, count = before;
  const char *next = *at;
  while (count < sizeof s->held && next < end) s->held[count++] = *next++;
  int length = hp_utf8_sequence(s->held, s->held + count);
  if (length < 0 && !last && begins_sequence(s->held, count)) {
    s->held_count = count;
    *at = next;
    return HPAR_OK;
  }
  if (length < 0 && !s->replaced) {
    hpar_status status = first_invalid(s, before, *at, end);
    if (status) return status;
  }
  s->held_count = 0;
  *at += (unsigned)(length < 0 ? -length : length) - before;
  return length < 0 ? put_replacement(s, -length) : put_valid(s, s->held, (size_t)length);
}

static hpar_status add_utf8(hp_stream *s, const char *at, const char *end, bool last) {
  if (s->held_count && (at < end || last)) {
    hpar_status status = add_held(s, &at, end, last);
    if (status) return status;
  }
  if (at == end) return HPAR_OK;
  const char *invalid = hp_scan()->invalid_utf8(at, end);
  for (;;) {
    hpar_status status = put_valid(s, at, (size_t)(invalid - at));
    if (status) return status;
    at = invalid;
    if (at == end) return HPAR_OK;
    if (!last && begins_sequence(at, (size_t)(end - at))) {
      s->held_count = (unsigned)(end - at);
      memcpy(s->held, at, s->held_count);
      return HPAR_OK;
    }
    if (!s->replaced && (status = first_invalid(s, 0, at, end))) return status;
    int length = -hp_utf8_sequence(at, end);
    if ((status = put_replacement(s, length))) return status;
    at += length;
    invalid = hp_next_invalid(at, end);
  }
}

/* Notes that the sequence at `taken` begins where the text ends. */
static hpar_status put_checkpoint(hp_stream *s) {
  hp_input *input = s->input;
  hp_checkpoints *part = input->checkpoints;
  size_t count = part ? part->count : 0;
  if (count == s->capacity) {
    size_t capacity = next_capacity(s), used = sizeof *part + count * sizeof(hp_checkpoint);
    part = grow(s, part, used, sizeof *part + capacity * sizeof(hp_checkpoint));
    if (!part) return HPAR_ERROR_MEMORY;
    *part = (hp_checkpoints){0, (uint32_t)count, (hp_checkpoint *)(part + 1)};
    input->checkpoints = part;
    input->part_count = 1;
    s->capacity = capacity;
  }
  part->at[part->count++] = (hp_checkpoint){(uint32_t)s->text->length, (uint32_t)s->taken, s->decoder->state};
  return HPAR_OK;
}

/* Returns the end of the source that may follow before the next checkpoint. 0: one is due. */
static uint64_t stretch_end(const hp_stream *s) {
  const hp_checkpoints *part = s->input->checkpoints;
  if (!part || !part->count) return 0;
  uint64_t end = part->at[part->count - 1].source + (uint64_t)HP_CHECKPOINT_BYTES;
  return end - s->taken > HP_DECODER_WAITING ? end : 0;
}

static void pass_bom(hp_stream *s) {
  const char *bom;
  size_t length = hp_encoding_bom(s->sniffed.encoding, &bom);
  if (!length || s->source->length < length || memcmp(s->source->base, bom, length) != 0) return;
  s->input->bom = (uint32_t)length;
  s->taken = length;
}

/* Decodes the bytes of `source` that are not decoded, with checkpoints. An incomplete sequence
 * stays there. */
static hpar_status add_mapped(hp_stream *s, bool last) {
  hp_decoder *d = s->decoder;
  hp_input *input = s->input;
  const unsigned char *source = (const unsigned char *)s->source->base;
  hpar_status status = HPAR_OK;
  input->source = s->source->base;
  input->source_length = s->source->length;
  if (!s->taken) pass_bom(s);
  /* With `last` also without bytes: ISO-2022-JP may have half a character in its state. */
  for (bool ends = s->taken == input->source_length && !last; !ends && status == HPAR_OK;) {
    uint64_t stop = stretch_end(s);
    if (!stop) {
      status = put_checkpoint(s);
      continue;
    }
    ends = stop >= input->source_length;
    if (ends) stop = input->source_length;
    char *out = d->out;
    const unsigned char *at = d->decode(d, source + s->taken, source + stop, last && ends, &out);
    status = put(s, d->out, (size_t)(out - d->out));
    s->taken = (uint64_t)(at - source);
  }
  return status;
}

static hpar_status add_decoded(const char *text, size_t length, void *stream) { return put(stream, text, length); }

static hpar_status add_bytes(hp_stream *s, const char *bytes, size_t n, bool last) {
  if (!s->decoder) return add_utf8(s, bytes, bytes + n, last);
  return s->offsets ? add_mapped(s, last) : hp_decoder_run(s->decoder, bytes, n, last, add_decoded, s);
}

/* Returns true if the bytes may be needed again and are not the text. */
static bool needs_source(const hp_stream *s) {
  return s->decoder ? s->offsets || !s->sniffed.certain : s->replaced && !s->sniffed.certain;
}

/* From all bytes so far. */
static hpar_status begin(hp_stream *s, bool last) {
  const hp_encoding *encoding = s->sniffed.encoding ? s->sniffed.encoding : &hp_utf8;
  hpar_status status = HPAR_OK;
  s->begun = s->keep = true;
  s->input->encoding = encoding;
  if (encoding->kind != HP_ENCODING_UTF8) status = hp_decoder_create(&s->decoder, encoding);
  if (status == HPAR_OK) status = add_bytes(s, s->source->base, s->source->length, last);
  if (status == HPAR_OK) s->keep = needs_source(s);
  return status;
}

/* Returns true if the source is the text. */
static bool is_ascii(const hp_stream *s) {
  const char *source = s->source->base, *end = source + s->source->length;
  return s->text->length == s->source->length && hp_encoding_keeps_ascii(s->sniffed.encoding) &&
         hp_skip_ascii(source, end) == end;
}

hpar_status hp_stream_end_map(hp_stream *s) {
  if (s->run_count) return end_run(s);
  if (s->decoder && s->offsets && is_ascii(s)) s->input->source = NULL;
  return HPAR_OK;
}

hpar_status hp_stream_open(hp_stream *s, hp_input *input, hp_buffer *text, hp_buffer *source, const hp_encoding *hint,
                           bool prescan, bool offsets) {
  *s =
      (hp_stream){.input = input, .text = text, .source = source, .hint = hint, .prescan = prescan, .offsets = offsets};
  hp_buffer_clear(source);
  if (!hp_buffer_room(text, 0) || !hp_buffer_room(source, 0)) return HPAR_ERROR_MEMORY;
  input->bytes = text->base;
  return HPAR_OK;
}

void hp_stream_close(hp_stream *s) {
  hp_decoder_destroy(s->decoder);
  s->decoder = NULL; /* the stream may be closed again */
  while (s->former_count) hp_free(s->former[--s->former_count]);
}

hpar_status hp_stream_add(hp_stream *s, const char *bytes, size_t n, bool last) {
  hpar_status status = HPAR_OK;
  if (n > HPAR_MAX_INPUT - s->total) return HPAR_ERROR_TOO_LARGE;
  if (!n) bytes = "";
  s->total += n;
  if (!s->begun || s->keep) status = hp_buffer_add(s->source, bytes, n);
  if (status != HPAR_OK) return status;
  if (s->begun) {
    status = add_bytes(s, bytes, n, last);
  } else if (last || s->source->length >= (s->hint || !s->prescan ? LONGEST_BOM : HP_SNIFF_BYTES)) {
    s->sniffed = hp_sniff(s->source->base, s->source->length, s->hint, s->prescan);
    status = begin(s, last);
  }
  s->input->length = s->text->length;
  if (s->needs_fallback) return HPAR_OK;
  return status == HPAR_OK && last ? hp_stream_end_map(s) : status;
}

hpar_status hp_stream_recall(hp_stream *s) {
  if (s->keep) return HPAR_OK;
  hp_buffer_clear(s->source);
  hpar_status status = hp_buffer_add(s->source, s->text->base, s->text->length);
  if (status == HPAR_OK) status = hp_buffer_add(s->source, s->held, s->held_count);
  s->keep = true;
  return status;
}

hpar_status hp_stream_again(hp_stream *s, hp_sniffed sniffed, bool last) {
  hp_stream_close(s);
  s->input->bytes = s->text->base;
  hp_stream made = {.input = s->input,
                    .text = s->text,
                    .source = s->source,
                    .offsets = s->offsets,
                    .is_shared = s->is_shared,
                    .sniffed = sniffed,
                    .total = s->total};
  *s = made;
  hpar_status status = begin(s, last);
  s->input->length = s->text->length;
  return status == HPAR_OK && last ? hp_stream_end_map(s) : status;
}

bool hp_stream_check(hp_stream *s, const char *bytes, size_t n, bool last) {
  const char *at = n ? bytes : "", *end = at + n;
  if (s->held_count) {
    unsigned count = s->held_count;
    while (count < sizeof s->held && at < end) s->held[count++] = *at++;
    int length = hp_utf8_sequence(s->held, s->held + count);
    if (length < 0) {
      s->held_count = count;
      return !last && begins_sequence(s->held, count);
    }
    s->held_count = 0;
    at -= count - (unsigned)length;
  }
  const char *invalid = hp_scan()->invalid_utf8(at, end);
  if (invalid == end) return true;
  if (last || !begins_sequence(invalid, (size_t)(end - invalid))) return false;
  s->held_count = (unsigned)(end - invalid);
  memcpy(s->held, invalid, s->held_count);
  return true;
}

bool hp_stream_keep_encoding(hp_stream *s, const hp_encoding *declared) {
  bool undeclared = !s->sniffed.encoding;
  s->sniffed.certain = true;
  if (undeclared) s->sniffed.encoding = &hp_utf8;
  if (s->begun) s->keep = s->keep && needs_source(s);
  if (declared) s->sniffed.encoding = declared;
  if (declared || undeclared) s->sniffed.source = HP_ENCODING_FROM_LATE_META;
  return undeclared && !declared;
}

size_t hp_stream_mapped(const hp_stream *s) {
  if (s->decoder) return s->offsets ? s->text->length : 0;
  return s->run_count ? s->run_offset : s->text->length;
}
