/* Slices of the source are decoded side by side. Each thread writes its own text and
 * checkpoints; the slices are then moved together. */

#include "text/decode_slices.h"

#include "base/memory.h"
#include "text/encoding/decoder.h"

#include <hpar/parse.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { NEAR = 2 << 10 };

static const char *skip_ascii(const char *at, const char *end) {
  while (end - at >= 32) {
    uint64_t part[4];
    memcpy(part, at, sizeof part);
    if ((part[0] | part[1] | part[2] | part[3]) & UINT64_C(0x8080808080808080)) break;
    at += 32;
  }
  while (at < end && (unsigned char)*at < 0x80) at++;
  return at;
}

/* A part of the source, and where its text and its checkpoints go: offsets are those from
 * `text`. */
typedef struct slice {
  const unsigned char *begin, *end;
  char *text, *limit;
  char *before; /* the text is to be moved to where it ends there; NULL: it stays */
  size_t length;
  uint32_t high;     /* bytes of the samples that are not ASCII */
  uint32_t offset;   /* of the text in the whole one, after place_slice */
  bool is_moved;     /* to that offset */
  bool is_saturated; /* the text did not fit */
  hp_checkpoint *checkpoints;
  size_t checkpoint_count;
  hpar_status status;
} slice;

typedef struct decoding {
  const hp_encoding *encoding;
  const unsigned char *source, *end;
  ptrdiff_t most; /* bytes of text */
  unsigned count;
  slice slices[HP_DECODE_SLICES];
  char *text;                     /* of all slices */
  uint64_t ascii;                 /* bytes before that of the first slice */
  char *begins[HP_DECODE_SLICES]; /* of the slices' texts before they are moved */
  uint8_t order[HP_DECODE_SLICES];
  /* for drop_decoding */
  char *owned;
  hp_checkpoints *checkpoints;
} decoding;

static void drop_decoding(void *job) {
  decoding *all = job;
  hp_free(all->owned);
  hp_free(all->checkpoints);
  hp_free(all);
}

static ptrdiff_t most_text(const unsigned char *begin, const unsigned char *end) {
  return 3 * (end - begin) + HP_DECODER_SLACK;
}

/* What belongs to other slices, and to the caller, is touched at the begin and the end only: it
 * is other threads'. */
static void decode_slice(void *job, unsigned i, _Atomic uint32_t *steps) {
  decoding *all = job;
  slice s = all->slices[i];
  const unsigned char *const source = all->source, *at = s.begin;
  const ptrdiff_t most = all->most;
  char *out = s.text;
  hp_decoder d;
  s.status = hp_decoder_open(&d, all->encoding);
  while (s.status == HPAR_OK) {
    s.checkpoints[s.checkpoint_count++] = (hp_checkpoint){(uint32_t)(out - s.text), (uint32_t)(at - source), d.state};
    const unsigned char *stop = s.end - at > HP_CHECKPOINT_BYTES ? at + HP_CHECKPOINT_BYTES : s.end;
    s.is_saturated = s.limit - out < most_text(at, stop);
    if (s.is_saturated) break;
    at = d.decode(&d, at, stop, stop == s.end, &out);
    if (out - s.text > most) s.status = HPAR_ERROR_TOO_LARGE;
    if (at == s.end) break;
    if (steps) hp_note_step(steps);
  }
  s.length = (size_t)(out - s.text);
  if (s.before) s.text = memmove(s.before - s.length, s.text, s.length);
  all->slices[i] = s;
}

/* Places the text of a slice after that of the slice before. If it has no place, the status is
 * HPAR_OK if the slice did not fit. */
static hp_slice_place place_slice(void *job, unsigned i, unsigned first) {
  decoding *all = job;
  slice *s = &all->slices[i];
  if (s->is_saturated || s->status != HPAR_OK) return HP_PLACE_NONE;
  uint64_t offset = i ? s[-1].offset + s[-1].length : all->ascii;
  if (offset + s->length > HPAR_MAX_INPUT) s->status = HPAR_ERROR_TOO_LARGE;
  if (s->status != HPAR_OK) return HP_PLACE_NONE;
  s->offset = (uint32_t)offset;
  return first < i && all->text + offset + s->length > all->begins[first] ? HP_PLACE_TAKEN : HP_PLACE_FREE;
}

/* Moves the text of a slice to its place. */
static void move_slice(void *job, unsigned i) {
  decoding *all = job;
  slice *s = &all->slices[i];
  char *to = all->text + s->offset;
  if (s->text != to) s->text = memmove(to, s->text, s->length);
  s->is_moved = true;
}

/* Returns the first place from `at` on where a decoder that started at `begin` has no state. */
static const unsigned char *slice_end(const hp_encoding *encoding, const unsigned char *begin, const unsigned char *at,
                                      const unsigned char *end) {
  switch (encoding->kind) {
    case HP_ENCODING_SINGLE_BYTE:
    case HP_ENCODING_X_USER_DEFINED: return at;
    case HP_ENCODING_UTF16LE:
    case HP_ENCODING_UTF16BE: {
      int high = encoding->kind == HP_ENCODING_UTF16LE;
      at -= (at - begin) & 1;
      while (end - at > 1 && (at[high] & 0xFC) == 0xDC) at += 2; /* maybe a low surrogate */
      return at;
    }
    case HP_ENCODING_GB18030:
    case HP_ENCODING_BIG5:
    case HP_ENCODING_EUC_JP:
    case HP_ENCODING_SHIFT_JIS:
    case HP_ENCODING_EUC_KR:
      while (at < end && at[-1] >= '0') at++; /* no code has a lower byte after its first */
      return at;
    default: return end;
  }
}

static void cut_slices(decoding *all, const unsigned char *at, const hp_slice_executor *executor) {
  size_t left = (size_t)(all->end - at),
         count = executor && executor->run && executor->min_slice_bytes ? left / executor->min_slice_bytes : 1;
  if (count > 1 && count > executor->max_slices) count = executor->max_slices;
  if (count > HP_DECODE_SLICES) count = HP_DECODE_SLICES;
  if (count < 1 || left > HPAR_MAX_INPUT / 3) count = 1;
  const unsigned char *begin = at;
  for (size_t i = 1; i <= count && (at < all->end || i == 1); i++) {
    const unsigned char *to =
        begin + (count == 2 && executor->first_slice_bytes ? executor->first_slice_bytes : left / count * i);
    if (i == count || to >= all->end)
      to = all->end;
    else if (to > at)
      to = slice_end(all->encoding, begin, to, all->end);
    if (to <= at && i < count) continue;
    slice *s = &all->slices[all->count++];
    s->begin = at;
    s->end = to;
    at = to;
  }
}

/* At most so many checkpoints: a stretch is shorter by up to three bytes where a character would
 * straddle its end. */
static size_t most_checkpoints(const slice *s) {
  return (size_t)(s->end - s->begin) / (HP_CHECKPOINT_BYTES - HP_DECODER_WAITING) + 2;
}

/* Allocates the checkpoints of all slices. No two threads write to one cache line. */
static bool make_checkpoints(hp_input *input, decoding *all) {
  enum { LINE = 64 };
  size_t bytes = all->count * sizeof(hp_checkpoints) + LINE;
  for (unsigned i = 0; i < all->count; i++) bytes += most_checkpoints(&all->slices[i]) * sizeof(hp_checkpoint) + LINE;
  input->checkpoints = hp_allocate(bytes);
  if (!input->checkpoints) return false;
  char *at = (char *)(input->checkpoints + all->count);
  for (unsigned i = 0; i < all->count; i++) {
    at += -(uintptr_t)at & (LINE - 1);
    all->slices[i].checkpoints = (hp_checkpoint *)(void *)at;
    at += most_checkpoints(&all->slices[i]) * sizeof(hp_checkpoint);
  }
  return true;
}

/* Returns how many of 8 bytes are not ASCII. */
static unsigned count_beyond_ascii(uint64_t bytes) {
  return (unsigned)((bytes >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0101010101010101) >> 56);
}

/* Returns the probable length of the text of a slice, and an eighth more. Samples tell how many
 * bytes are not ASCII. All slices share the samples. Each of these bytes makes the text one or two
 * bytes longer. */
static ptrdiff_t probable_text(const decoding *all, slice *s) {
  enum { SAMPLES = 256, SAMPLE = 8, MORE = 4 * HP_CHECKPOINT_BYTES };
  const ptrdiff_t length = s->end - s->begin, most = most_text(s->begin, s->end),
                  samples = SAMPLES / (ptrdiff_t)(all->count < 2 ? 2 : all->count), step = length / samples;
  if (step < SAMPLE) return most;
  uint64_t high = 0;
  for (ptrdiff_t i = 0; i < samples; i++) {
    uint64_t part[SAMPLE / 8];
    memcpy(part, s->begin + i * step, sizeof part);
    for (unsigned k = 0; k < SAMPLE / 8; k++) high += count_beyond_ascii(part[k]);
  }
  s->high = (uint32_t)high;
  ptrdiff_t longer = (ptrdiff_t)((uint64_t)length * high / (uint64_t)(samples * SAMPLE));
  switch (all->encoding->kind) {
    case HP_ENCODING_UTF16LE:
    case HP_ENCODING_UTF16BE: longer = length / 2; break;
    case HP_ENCODING_X_USER_DEFINED: longer *= 2; break;
    default: break;
  }
  ptrdiff_t probable = length + longer + length / 8 + MORE;
  return probable < most ? probable : most;
}

/* Places the slices close together, because the memory between them is wasted. With `surely`,
 * each has space for its longest possible text. */
static void place_slices(decoding *all, char *at, bool surely) {
  for (unsigned i = 0; i < all->count; i++) {
    slice *s = &all->slices[i];
    s->text = all->begins[i] = at;
    ptrdiff_t probable = all->count > 1 ? probable_text(all, s) : 0;
    at += surely || i + 1 == all->count ? most_text(s->begin, s->end) : probable;
    s->limit = at;
    s->checkpoint_count = 0;
    s->is_moved = false;
  }
}

/* Puts the slices with many bytes that are not ASCII first: they take several times longer. */
static void order_slices(decoding *all) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < all->count; i++) sum += all->slices[i].high;
  unsigned placed = 0;
  for (int late = 0; late < 2; late++)
    for (unsigned i = 0; i < all->count; i++)
      if ((2 * sum >= (uint64_t)all->slices[i].high * all->count) == late) all->order[placed++] = (uint8_t)i;
}

static bool any_is_saturated(const decoding *all) {
  for (unsigned i = 0; i < all->count; i++)
    if (all->slices[i].is_saturated) return true;
  return false;
}

/* What follows the ASCII that `input` begins with, in slices, which are then moved together. Sets
 * `*is_late` if a thread is late: then the executor owns `all` and the memory of `input`. */
static hpar_status decode_rest(hp_input *input, decoding *all, size_t ascii, const hp_slice_executor *executor,
                               bool *is_late) {
  if (!make_checkpoints(input, all)) return HPAR_ERROR_MEMORY;
  char *text = input->owned ? input->owned : executor->buffer->base;
  if (ascii) memcpy(text, input->source, ascii);
  /* Of two in the buffer the first is moved, so that each thread goes on to touch memory that it
   * has touched before. */
  bool moves_first = all->count == 2 && !ascii && !input->owned;
  for (bool surely = false;; surely = true) {
    place_slices(all, text + ascii, surely);
    if (moves_first) all->slices[0].before = all->slices[1].text;
    all->text = text;
    all->ascii = ascii;
    hp_slice_batch batch = {.work = decode_slice, .job = all, .drop = drop_decoding, .count = all->count};
    if (all->count > 2) {
      order_slices(all);
      batch.place = place_slice;
      batch.move = move_slice;
      batch.order = all->order;
    }
    all->owned = input->owned;
    all->checkpoints = input->checkpoints;
    if (all->count > 1)
      *is_late = !executor->run(executor->context, &batch); // NOLINT
    else
      decode_slice(all, 0, NULL);
    if (*is_late) return HPAR_OK;
    if (surely || !any_is_saturated(all)) break;
  }
  if (moves_first) all->text = all->slices[0].text;
  for (unsigned i = 0; i < all->count; i++) {
    const slice *s = &all->slices[i];
    if (!s->is_moved) {
      if (place_slice(all, i, i) == HP_PLACE_NONE) return s->status;
      move_slice(all, i);
    }
    input->checkpoints[input->part_count++] =
        (hp_checkpoints){s->offset, (uint32_t)s->checkpoint_count, s->checkpoints};
  }
  input->bytes = all->text;
  const slice *last = &all->slices[all->count - 1];
  input->length = last->offset + last->length;
  input->kept = true;
  return HPAR_OK;
}

typedef struct ascii_check {
  const char *bytes;
  size_t length;
  unsigned count;       /* slices */
  _Atomic bool is_over; /* some byte is not ASCII */
} ascii_check;

static void check_slice(void *job, unsigned i, _Atomic uint32_t *steps) {
  enum { STEP = 4 << 10 }; /* between two looks at `is_over` */
  ascii_check *all = job;
  const char *at = all->bytes + all->length / all->count * i;
  const char *end = i + 1 == all->count ? all->bytes + all->length : at + all->length / all->count;
  while (at < end && !atomic_load_explicit(&all->is_over, memory_order_relaxed)) {
    const char *stop = end - at > STEP ? at + STEP : end;
    if (skip_ascii(at, stop) < stop) atomic_store_explicit(&all->is_over, true, memory_order_relaxed);
    if (steps) hp_note_step(steps);
    at = stop;
  }
}

/* Returns whether all bytes are ASCII. Runs the slices of late threads here. */
static bool is_ascii_in_slices(ascii_check *all, const hp_slice_executor *executor) {
  hp_slice_batch batch = {.work = check_slice, .job = all, .drop = hp_free, .count = all->count};
  bool is_complete = executor->run(executor->context, &batch);
  for (unsigned i = 0; !is_complete && i < all->count; i++)
    if (batch.late >> i & 1) check_slice(all, i, NULL);
  bool is_ascii = !atomic_load_explicit(&all->is_over, memory_order_relaxed);
  if (is_complete) hp_free(all);
  return is_ascii;
}

/* Returns whether all bytes are ASCII. The slices of the executor stop at the first other byte. */
static bool is_ascii(const char *bytes, size_t length, const hp_slice_executor *executor) {
  size_t count = executor->min_checked_bytes ? length / executor->min_checked_bytes : 1;
  if (count > HP_DECODE_SLICES) count = HP_DECODE_SLICES;
  /* Most texts differ from ASCII early. */
  size_t first = length < NEAR ? length : NEAR;
  if (skip_ascii(bytes, bytes + first) < bytes + first) return false;
  ascii_check *all = count < 2 ? NULL : hp_allocate_zeroed(sizeof *all);
  if (!all) return skip_ascii(bytes, bytes + length) == bytes + length;
  *all = (ascii_check){.bytes = bytes, .length = length, .count = (unsigned)count};
  return is_ascii_in_slices(all, executor);
}

hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor) {
  if (length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  if (!length) bytes = "";
  hp_input made = {.bytes = bytes, .length = length, .encoding = encoding, .source = bytes, .source_length = length};
  /* Slices decode the ASCII beginning, too. */
  bool in_slices = executor && executor->run && length / 2 >= executor->min_slice_bytes;
  size_t ascii = 0;
  if (hp_encoding_keeps_ascii(encoding)) {
    if (!in_slices)
      ascii = (size_t)(skip_ascii(bytes, bytes + length) - bytes);
    else if (is_ascii(bytes, length, executor))
      ascii = length;
    if (ascii == length) {
      made.source = NULL;
      *input = made;
      return HPAR_OK;
    }
  }
  const char *bom;
  size_t bom_length = hp_encoding_bom(encoding, &bom);
  if (bom_length && length >= bom_length && !memcmp(bytes, bom, bom_length)) made.bom = (uint32_t)bom_length;
  hp_decoder *first = NULL; /* makes the tables, if they are not there yet */
  hpar_status status = hp_decoder_create(&first, encoding);
  if (status != HPAR_OK) return status;
  hp_decoder_destroy(first);
  const unsigned char *source = (const unsigned char *)bytes;
  decoding *all = hp_allocate_zeroed(sizeof *all);
  if (!all) return HPAR_ERROR_MEMORY;
  all->encoding = encoding;
  all->source = source;
  all->end = source + length;
  all->most = (ptrdiff_t)(HPAR_MAX_INPUT - ascii);
  cut_slices(all, source + ascii + made.bom, executor);
  uint64_t most = ascii + 3 * (uint64_t)(length - ascii), past = HPAR_MAX_INPUT + 3 * HP_CHECKPOINT_BYTES;
  if (most > past) most = past;
  size_t room = (size_t)most + all->count * HP_DECODER_SLACK;
  bool in_buffer = executor && executor->buffer && hp_buffer_room_for(executor->buffer, room, length);
  if (!in_buffer) {
    made.owned = hp_allocate(room);
    if (!made.owned) {
      hp_free(all);
      return HPAR_ERROR_MEMORY;
    }
  }
  bool is_late = false;
  status = decode_rest(&made, all, ascii, executor, &is_late);
  /* The late thread may write to the text, so that the calling thread needs other memory. */
  if (is_late) return hp_decode_in_slices(input, bytes, length, encoding, NULL);
  hp_free(all);
  if (status != HPAR_OK) {
    hp_input_close(&made);
    return status;
  }
  if (in_buffer) {
    hp_buffer_take(executor->buffer, (size_t)(made.bytes - executor->buffer->base) + made.length);
  } else {
    char *fitted = hp_reallocate(made.owned, made.length ? made.length : 1);
    if (fitted) made.bytes = made.owned = fitted;
  }
  *input = made;
  return HPAR_OK;
}
