/* Slices of the source are decoded side by side. Each thread writes its own text and
 * checkpoints; the slices are then moved together. A slice that is ASCII is not decoded: the source
 * is copied to its place, as soon as some other slice is not ASCII.
 *
 * The calling thread decodes the slice of a late thread again, in the same memory. Therefore each
 * other thread decodes steps of a slice in memory of its own, and copies them in short writes
 * (hp_unit_begin_write). */

#include "text/input.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"

#include <hpar/parse.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef unsigned char byte;

/*** one slice ***/

/* A part of the source, and where its text and its checkpoints go. */
typedef struct text_slice {
  const unsigned char *begin, *end;
  size_t ascii;        /* the first bytes that are known to be ASCII */
  char *place, *limit; /* the memory for the text */
  const char *text;    /* the decoded text, or source that is ASCII */
  size_t length;
  hp_checkpoint *room;        /* the memory for most_checkpoints */
  hp_checkpoint *checkpoints; /* offsets are those from `text` */
  size_t checkpoint_count;
  hpar_status status;
  bool is_saturated; /* the text did not fit */
} text_slice;

const char *hp_skip_ascii(const char *at, const char *end) {
#if defined(__SSE2__)
  for (; end - at >= 64; at += 64) {
    const __m128i *part = (const __m128i *)(const void *)at;
    __m128i low = _mm_or_si128(_mm_loadu_si128(part), _mm_loadu_si128(part + 1));
    __m128i high = _mm_or_si128(_mm_loadu_si128(part + 2), _mm_loadu_si128(part + 3));
    if (_mm_movemask_epi8(_mm_or_si128(low, high))) break;
  }
#endif
  while (end - at >= 32) {
    uint64_t part[4];
    memcpy(part, at, sizeof part);
    if ((part[0] | part[1] | part[2] | part[3]) & UINT64_C(0x8080808080808080)) break;
    at += 32;
  }
  while (at < end && (byte)*at < 0x80) at++;
  return at;
}

/* Returns the first place from `at` on where a decoder that started at `begin` has no state.
 * Requires: `begin` < `at`. */
static const byte *slice_end(const hp_encoding *encoding, const byte *begin, const byte *at, const byte *end) {
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

/* Returns the memory that the longest possible text takes. */
static ptrdiff_t most_text(const unsigned char *begin, const unsigned char *end) {
  return 3 * (end - begin) + HP_DECODER_SLACK;
}

/* Returns the maximal number of checkpoints of a slice. A stretch is shorter by up to three bytes
 * where a character would straddle its end, and two may be of any length: the last ones of ASCII
 * that is copied, and of the slice. */
static size_t most_checkpoints(const text_slice *s) {
  return (size_t)(s->end - s->begin) / (HP_CHECKPOINT_BYTES - HP_DECODER_WAITING) + 2;
}

static const byte *stretch_end(const byte *at, const byte *end) {
  return end - at > HP_CHECKPOINT_BYTES ? at + HP_CHECKPOINT_BYTES : end;
}

/* Writes the checkpoints of the slice for the ASCII in [at, end), and their number. Requires: `at`
 * is whole stretches after the beginning, and they are ASCII, too. */
static void note_ascii(text_slice *s, const byte *at, const byte *end, const byte *source) {
  size_t count = (size_t)(at - s->begin) / HP_CHECKPOINT_BYTES;
  for (; at < end; at = stretch_end(at, end))
    s->room[count++] = (hp_checkpoint){(uint32_t)(at - s->begin), (uint32_t)(at - source), 0};
  s->checkpoint_count = count;
}

/* Makes the ASCII source of the slice its text. `source` is the beginning of the whole source, here
 * and below. */
static void take_ascii(text_slice *s, const byte *source) {
  s->text = (const char *)s->begin;
  s->length = (size_t)(s->end - s->begin);
  s->checkpoints = s->room;
  note_ascii(s, s->begin, s->end, source);
}

enum { STAGED = 8 };

/* Stretches that are decoded, but not yet written to the memory of the slice. */
typedef struct stage {
  size_t count, length;
  hp_checkpoint checkpoints[STAGED];
  char text[3 * STAGED * HP_CHECKPOINT_BYTES + HP_DECODER_SLACK];
} stage;

/* Writes the stretches, which end at `out`. Returns false if the slice was given up. */
static bool write_stage(stage *from, char *out, hp_checkpoint *end, hp_unit_steps *steps) {
  if (!hp_unit_begin_write(steps)) return false;
  memcpy(out - from->length, from->text, from->length);
  memcpy(end - from->count, from->checkpoints, from->count * sizeof *end);
  hp_unit_end_write(steps);
  from->count = from->length = 0;
  return true;
}

/* Copies the ASCII that the slice is known to begin with. Returns false if the slice was given up.
 */
static bool copy_ascii(text_slice *s, const byte *source, hp_unit_steps *steps) {
  s->checkpoint_count = 0;
  for (size_t at = 0, next; at < s->ascii; at = next) {
    next = at + STAGED * HP_CHECKPOINT_BYTES < s->ascii ? at + STAGED * HP_CHECKPOINT_BYTES : s->ascii;
    if (!hp_unit_begin_write(steps)) return false;
    memcpy(s->place + at, s->begin + at, next - at);
    note_ascii(s, s->begin + at, s->begin + next, source);
    hp_unit_end_write(steps);
    hp_note_step(steps);
  }
  return true;
}

/* Decodes the slice to a text that begins at `place`, with a stage if `own` is not NULL. The text
 * is at most `most` bytes long. The result is not used if the slice was given up. */
static inline __attribute__((always_inline)) void decode_by(stage *own, text_slice *s, const hp_encoding *encoding,
                                                            const byte *source, ptrdiff_t most, hp_unit_steps *steps) {
  if (!copy_ascii(s, source, steps)) return;
  const byte *at = s->begin + s->ascii;
  char *out = s->place + s->ascii;
  size_t count = s->checkpoint_count;
  hp_decoder d;
  s->status = hp_decoder_open(&d, encoding);
  while (s->status == HPAR_OK) {
    *(own ? &own->checkpoints[own->count++] : &s->room[count]) =
        (hp_checkpoint){(uint32_t)(out - s->place), (uint32_t)(at - source), d.state};
    count++;
    const byte *stop = stretch_end(at, s->end);
    s->is_saturated = s->limit - out < most_text(at, stop);
    if (s->is_saturated) break;
    if (own) {
      char *const begin = own->text + own->length, *to = begin;
      at = d.decode(&d, at, stop, stop == s->end, &to);
      out += to - begin;
      own->length += (size_t)(to - begin);
    } else {
      at = d.decode(&d, at, stop, stop == s->end, &out);
    }
    if (out - s->place > most) s->status = HPAR_ERROR_TOO_LARGE;
    if (own && (at == s->end || own->count == STAGED) && !write_stage(own, out, s->room + count, steps)) return;
    if (at == s->end) break;
    hp_note_step(steps);
  }
  s->text = s->place;
  s->length = (size_t)(out - s->place);
  s->checkpoints = s->room;
  s->checkpoint_count = count;
}

static void decode_forward(text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                           hp_unit_steps *steps) {
  decode_by(NULL, s, encoding, source, most, steps);
}

/* Does the same in short writes. */
static void decode_in_writes(text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                             hp_unit_steps *steps) {
  stage own;
  own.count = own.length = 0;
  decode_by(&own, s, encoding, source, most, steps);
}

/* Decodes a slice of a single-byte encoding from the end to the beginning. */
static void decode_backward(text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                            hp_unit_steps *steps) {
  size_t first = most_checkpoints(s), last = first;
  const byte *end = s->end;
  char *out = s->limit;
  hp_decoder d;
  s->status = hp_decoder_open(&d, encoding);
  while (end > s->begin && s->status == HPAR_OK) {
    const byte *at = end - s->begin > HP_CHECKPOINT_BYTES ? end - HP_CHECKPOINT_BYTES : s->begin;
    s->is_saturated = out - s->place < most_text(at, end);
    if (s->is_saturated) break;
    out = hp_decode_single_byte_backward(&d, at, end, out);
    end = at;
    s->room[--first] = (hp_checkpoint){(uint32_t)(out - s->limit), (uint32_t)(at - source), 0};
    if (s->limit - out > most) s->status = HPAR_ERROR_TOO_LARGE;
    hp_note_step(steps);
  }
  s->text = out;
  s->length = (size_t)(s->limit - out);
  s->checkpoints = s->room + first;
  s->checkpoint_count = last - first;
  for (size_t i = first; i < last; i++) s->room[i].offset += (uint32_t)s->length;
}

/*** all slices ***/

enum { NEAR = 2 << 10 };

/* A slice, and where its text goes: offsets are those from `text` of all slices. */
typedef struct slice {
  text_slice of;
  uint32_t high;      /* bytes of the samples that are not ASCII */
  uint32_t offset;    /* of the text in the whole one, after place_slice */
  bool ends_at_limit; /* the text ends at the limit, where that of the next slice begins */
  bool is_ascii;      /* and not decoded: the source is the text */
  bool is_done;       /* decoded, or taken as ASCII */
  bool is_moved;      /* to its offset */
} slice;

typedef struct decoding {
  const hp_encoding *encoding;
  const unsigned char *source, *end;
  ptrdiff_t most;         /* bytes of text */
  char *text;             /* of all slices */
  uint64_t ascii;         /* bytes before that of the first slice */
  bool keeps_ascii;       /* slices may be ASCII */
  _Atomic bool has_other; /* some slice is not ASCII */
  _Atomic unsigned ascii_slices;
  size_t occupied; /* all slices before this one have left their first place */
  /* The memory of further slices is not touched. */
  unsigned count;
  slice slices[HP_DECODE_SLICES];
  char *begins[HP_DECODE_SLICES]; /* of the slices' texts before they are moved */
  uint8_t order[HP_DECODE_SLICES];
} decoding;

static bool all_are_ascii(decoding *all) { return !atomic_load_explicit(&all->has_other, memory_order_relaxed); }

/* Returns how many bytes at the beginning of the slice are ASCII. Looks at the whole slice, or
 * until some slice is not ASCII. */
static size_t find_ascii(decoding *all, const text_slice *s, bool whole, hp_unit_steps *steps) {
  enum { STEP = 4 << 10 };
  const char *const begin = (const char *)s->begin, *const end = (const char *)s->end, *at = begin;
  while (at < end) {
    const char *stop = end - at > STEP ? at + STEP : end;
    if (!whole && !all_are_ascii(all)) break;
    at = hp_skip_ascii(at, stop);
    if (at < stop) {
      if (all_are_ascii(all)) atomic_store_explicit(&all->has_other, true, memory_order_relaxed);
      break;
    }
    hp_note_step(steps);
  }
  return (size_t)(at - begin);
}

/* Decodes a slice, unless it is ASCII: then the source is copied where the text goes, or is the
 * text if all slices are ASCII. What belongs to other slices, and to the caller, is touched at the
 * begin and the end only: it is other threads'. */
static void decode_slice(void *job, size_t i, unsigned thread, hp_unit_steps *steps) {
  decoding *all = job;
  (void)thread;
  if (!hp_unit_begin_write(steps)) return;
  slice s = all->slices[i];
  hp_unit_end_write(steps);
  if (s.is_done) return;
  const bool is_copied = all->count > 2,
             is_backward = s.ends_at_limit && all->encoding->kind == HP_ENCODING_SINGLE_BYTE;
  void (*const decode)(text_slice *, const hp_encoding *, const byte *, ptrdiff_t, hp_unit_steps *) =
      hp_unit_may_be_taken(steps) ? decode_in_writes
      : is_backward               ? decode_backward
                                  : decode_forward;
  s.of.ascii = all->keeps_ascii ? find_ascii(all, &s.of, is_copied, steps) : 0;
  s.is_ascii = all->keeps_ascii && s.of.ascii == (size_t)(s.of.end - s.of.begin);
  s.is_done = is_copied || !s.is_ascii;
  if (!s.is_ascii) decode(&s.of, all->encoding, all->source, all->most, steps);
  if (!hp_unit_begin_write(steps)) return;
  if (s.is_ascii && is_copied) take_ascii(&s.of, all->source);
  if (!s.is_ascii && s.ends_at_limit) s.of.text = memmove(s.of.limit - s.of.length, s.of.text, s.of.length);
  all->slices[i] = s;
  if (s.is_ascii) atomic_fetch_add_explicit(&all->ascii_slices, 1, memory_order_release);
  /* The publication ends the write. */
}

/* Places the text of a slice after that of the slice before, when some slice is not ASCII. If it
 * has no place, the status is HPAR_OK if the slice did not fit, or if all slices are ASCII. */
static hp_admission place_slice(void *job, size_t i, size_t first) {
  decoding *all = job;
  slice *s = &all->slices[i];
  if (s->of.is_saturated || s->of.status != HPAR_OK) return HP_ADMIT_NONE;
  if (all_are_ascii(all))
    return atomic_load_explicit(&all->ascii_slices, memory_order_acquire) == all->count ? HP_ADMIT_NONE
                                                                                        : HP_ADMIT_LATER;
  uint64_t offset = i ? s[-1].offset + s[-1].of.length : all->ascii;
  if (offset + s->of.length > HPAR_MAX_INPUT) s->of.status = HPAR_ERROR_TOO_LARGE;
  if (s->of.status != HPAR_OK) return HP_ADMIT_NONE;
  s->offset = (uint32_t)offset;
  /* The source of an ASCII slice stays where it is. */
  size_t *occupied = &all->occupied;
  while (*occupied < i && (*occupied < first || all->slices[*occupied].is_ascii)) ++*occupied;
  return *occupied < i && all->text + offset + s->of.length > all->begins[*occupied] ? HP_ADMIT_LATER : HP_ADMIT_NOW;
}

/* Moves the text of a slice to its place. */
static void move_slice(void *job, size_t i) {
  decoding *all = job;
  slice *s = &all->slices[i];
  char *to = all->text + s->offset;
  if (s->of.text != to) s->of.text = memmove(to, s->of.text, s->of.length);
  s->is_moved = true;
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
    all->slices[all->count++] = (slice){.of = {.begin = at, .end = to}};
    at = to;
  }
}

/* Allocates the checkpoints of all slices. No two threads write to one cache line. */
static bool make_checkpoints(hp_input *input, decoding *all) {
  enum { LINE = 64 };
  size_t bytes = all->count * sizeof(hp_checkpoints) + LINE;
  for (unsigned i = 0; i < all->count; i++)
    bytes += most_checkpoints(&all->slices[i].of) * sizeof(hp_checkpoint) + LINE;
  input->checkpoints = hp_allocate(bytes);
  if (!input->checkpoints) return false;
  char *at = (char *)(input->checkpoints + all->count);
  for (unsigned i = 0; i < all->count; i++) {
    at += -(uintptr_t)at & (LINE - 1);
    all->slices[i].of.room = (hp_checkpoint *)(void *)at;
    at += most_checkpoints(&all->slices[i].of) * sizeof(hp_checkpoint);
  }
  return true;
}

/* Returns how many bytes that are not ASCII the samples have, of 8 bytes each. Requires: there are
 * at most 255. */
static uint32_t count_beyond_ascii(const byte *at, ptrdiff_t samples, ptrdiff_t step) {
  const uint64_t even = UINT64_C(0x00FF00FF00FF00FF);
  uint64_t counts = 0; /* a byte for each place in a sample */
  for (const byte *end = at + samples * step; at != end; at += step)
    counts += hp_load_64(at) >> 7 & UINT64_C(0x0101010101010101);
  return (uint32_t)(((counts & even) + (counts >> 8 & even)) * UINT64_C(0x0001000100010001) >> 48);
}

/* Returns the probable length of the text of a slice, and an eighth more. Samples tell how many
 * bytes are not ASCII. All slices share the samples. Each of these bytes makes the text one or two
 * bytes longer. */
static ptrdiff_t probable_text(const decoding *all, slice *s) {
  enum { SAMPLES = 256, SAMPLE = 8, MORE = 4 * HP_CHECKPOINT_BYTES };
  const unsigned char *begin = s->of.begin, *end = s->of.end;
  const ptrdiff_t length = end - begin, most = most_text(begin, end),
                  samples = SAMPLES / (ptrdiff_t)(all->count < 2 ? 2 : all->count), step = length / samples;
  if (step < SAMPLE) return most;
  s->high = count_beyond_ascii(begin, samples, step);
  ptrdiff_t longer = (ptrdiff_t)((uint64_t)length * s->high / (uint64_t)(samples * SAMPLE));
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
    s->of.place = all->begins[i] = at;
    bool is_sampled = all->count > 2 || (all->count == 2 && !i);
    ptrdiff_t probable = is_sampled ? probable_text(all, s) : 0;
    at += surely || i + 1 == all->count ? most_text(s->of.begin, s->of.end) : probable;
    s->of.limit = at;
    s->is_done = s->is_ascii = s->is_moved = false;
  }
  atomic_store_explicit(&all->ascii_slices, 0, memory_order_relaxed);
  all->occupied = 0;
}

/* Puts the slices with many bytes that are not ASCII first: they take several times longer. A
 * straggler may still read the order. */
static void order_slices(decoding *all) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < all->count; i++) sum += all->slices[i].high;
  unsigned placed = 0;
  for (int second = 0; second < 2; second++)
    for (unsigned i = 0; i < all->count; i++)
      if ((2 * sum >= (uint64_t)all->slices[i].high * all->count) == second) all->order[placed++] = (uint8_t)i;
}

static bool any_is_saturated(const decoding *all) {
  for (unsigned i = 0; i < all->count; i++)
    if (all->slices[i].of.is_saturated) return true;
  return false;
}

static bool all_are_done(decoding *all) {
  for (unsigned i = 0; i < all->count; i++)
    if (!all->slices[i].is_done) return all_are_ascii(all);
  return true;
}

/* Runs all slices. Sets `*is_left` if there is a straggler, whose slice the calling thread runs. */
static void run_slices(decoding *all, const hp_slice_executor *executor, bool *is_left) {
  static const hp_unit_client still = {.run = decode_slice, .drop = hp_free},
                              moving = {
                                  .run = decode_slice, .admit = place_slice, .consume = move_slice, .drop = hp_free};
  hp_slice_batch batch = {.client = &still, .job = all, .count = all->count};
  if (all->count > 2) {
    batch.client = &moving;
    batch.order = all->order;
  }
  do {
    batch.unfinished = 0;
    if (all->count < 2)
      decode_slice(all, 0, 0, NULL);
    else if (!executor->run(executor->context, &batch))
      *is_left = true;
    for (unsigned i = 0; i < all->count; i++)
      if (batch.unfinished >> i & 1) decode_slice(all, i, 0, NULL);
    /* One of two slices may end before the other one is found not to be ASCII. */
  } while (!all_are_done(all));
}

/* What follows the ASCII that `input` begins with, in slices, which are then moved together. Sets
 * `*is_left` if there is a straggler: the executor then owns `all`. If all slices are ASCII,
 * `input` gets no text. */
static hpar_status decode_rest(hp_input *input, decoding *all, size_t ascii, const hp_slice_executor *executor,
                               bool *is_left) {
  if (!make_checkpoints(input, all)) return HPAR_ERROR_MEMORY;
  char *text = input->owned ? input->owned : executor->buffer->base;
  if (ascii) memcpy(text, input->source, ascii);
  /* Of two in the buffer the first one gets its place on its own thread, so that each thread goes
   * on to touch memory that it has touched before. */
  bool ends_at_limit = all->slices[0].ends_at_limit = all->count == 2 && !ascii && !input->owned;
  all->text = text;
  all->ascii = ascii;
  for (bool surely = false;; surely = true) {
    place_slices(all, text + ascii, surely);
    if (!surely && all->count > 2) order_slices(all);
    run_slices(all, executor, is_left);
    if (all_are_ascii(all)) return HPAR_OK;
    if (surely || !any_is_saturated(all)) break;
  }
  if (ends_at_limit) all->text = all->slices[0].of.limit - all->slices[0].of.length;
  for (unsigned i = 0; i < all->count; i++) {
    const slice *s = &all->slices[i];
    if (!s->is_moved) {
      if (place_slice(all, i, i) == HP_ADMIT_NONE) return s->of.status;
      move_slice(all, i);
    }
    input->checkpoints[input->part_count++] =
        (hp_checkpoints){s->offset, (uint32_t)s->of.checkpoint_count, s->of.checkpoints};
  }
  input->bytes = all->text;
  const slice *last = &all->slices[all->count - 1];
  input->length = last->offset + last->of.length;
  input->kept = true;
  return HPAR_OK;
}

static hp_input of_ascii(const char *bytes, size_t length, const hp_encoding *encoding) {
  return (hp_input){.bytes = bytes, .length = length, .encoding = encoding, .source_length = length};
}

hpar_status hp_decode_in_slices(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                                const hp_slice_executor *executor) {
  if (length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  if (!length) bytes = "";
  hp_input made = {.bytes = bytes, .length = length, .encoding = encoding, .source = bytes, .source_length = length};
  /* Slices decode the ASCII beginning, too. */
  bool in_slices = executor && executor->run && length / 2 >= executor->min_slice_bytes;
  bool keeps_ascii = hp_encoding_keeps_ascii(encoding), has_other = !in_slices || !keeps_ascii;
  size_t ascii = 0;
  if (keeps_ascii) {
    /* Most texts differ from ASCII early. */
    size_t looked = in_slices && length > NEAR ? NEAR : length;
    size_t found = (size_t)(hp_skip_ascii(bytes, bytes + looked) - bytes);
    if (found == length) {
      *input = of_ascii(bytes, length, encoding);
      return HPAR_OK;
    }
    if (found < looked) has_other = true;
    if (!in_slices) ascii = found;
  }
  const char *bom;
  size_t bom_length = hp_encoding_bom(encoding, &bom);
  if (bom_length && length >= bom_length && !memcmp(bytes, bom, bom_length)) made.bom = (uint32_t)bom_length;
  hp_decoder *first = NULL; /* makes the tables, if they are not there yet */
  hpar_status status = hp_decoder_create(&first, encoding);
  if (status != HPAR_OK) return status;
  hp_decoder_destroy(first);
  const unsigned char *source = (const unsigned char *)bytes;
  decoding *all = hp_allocate(sizeof *all);
  if (!all) return HPAR_ERROR_MEMORY;
  memset(all, 0, offsetof(decoding, slices));
  all->encoding = encoding;
  all->source = source;
  all->end = source + length;
  all->most = (ptrdiff_t)(HPAR_MAX_INPUT - ascii);
  all->keeps_ascii = in_slices && keeps_ascii;
  atomic_store_explicit(&all->has_other, has_other, memory_order_relaxed);
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
  bool is_left = false;
  status = decode_rest(&made, all, ascii, executor, &is_left);
  bool is_ascii = all_are_ascii(all);
  if (!is_left) hp_free(all);
  if (status != HPAR_OK) {
    hp_input_close(&made);
    return status;
  }
  if (is_ascii) {
    hp_input_close(&made);
    *input = of_ascii(bytes, length, encoding);
    return HPAR_OK;
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
