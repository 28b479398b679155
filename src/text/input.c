/* Valid input is looked at once, by the kernels, and not copied. Invalid input is walked twice:
 * the first walk counts what the second writes, so that memory is allocated once and exactly. */

#include "text/input.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "platform/address_range.h"
#include "text/encoding/decoder.h"
#include "text/position.h"
#include "text/scan/scan.h"

#include <hpar/parse.h>
#include <stdbool.h>
#include <string.h>

/* After an invalid sequence the walk decodes this many bytes one by one before it calls a kernel
 * again. The bytes that it passes bound the cost of a call, even if invalid bytes are dense. */
enum { NEAR = 128 };

const char *hp_next_invalid(const char *at, const char *end) {
  const char *far = end - at > NEAR ? at + NEAR : end;
  while (at < far) {
    int length = hp_utf8_sequence(at, end);
    if (length < 0) return at;
    at += length;
  }
  return at == end ? end : hp_scan()->invalid_utf8(at, end);
}

/* The place and the output of a walk. `text` and `repairs` are NULL while it only counts. */
typedef struct walk {
  const char *begin, *at, *end;
  uint32_t bom;
  char *text;
  hp_repair *repairs;
  uint64_t length;
  size_t repair_count;
  uint64_t repaired; /* offset in the text of the last repair */
} walk;

static void put_repair(walk *walk) {
  if (walk->repairs) {
    walk->repairs[walk->repair_count] =
        (hp_repair){(uint32_t)walk->length, walk->bom + (uint32_t)(walk->at - walk->begin)};
  }
  walk->repair_count++;
  walk->repaired = walk->length;
}

/* As many invalid sequences as are alike, `bytes` long each. */
static void replace(walk *walk, int bytes) {
  size_t count = 0;
  const char *at = walk->at;
  do {
    at += bytes;
    count++;
  } while (at != walk->end && hp_utf8_sequence(at, walk->end) == -bytes);
  /* Three in place of two bytes, or two in place of one, are the fewest that cannot be taken for
   * one after bytes. */
  bool run = (3 - bytes) * (int64_t)count > 2;
  if (run && walk->length > walk->repaired) put_repair(walk);
  if (!run && bytes < 3) {
    count = 1;
    at = walk->at + bytes;
  }
  if (walk->text) {
    for (size_t i = 0; i < count; i++) memcpy(walk->text + walk->length + 3 * i, "\xEF\xBF\xBD", 3);
  }
  walk->length += 3 * (uint64_t)count;
  walk->at = at;
  if (bytes < 3) put_repair(walk);
}

/* From `invalid`, the first invalid sequence, to the end, or until the text is too long. */
static void repair(walk *walk, const char *invalid) {
  for (;;) {
    size_t good = (size_t)(invalid - walk->at);
    if (walk->text && good) memcpy(walk->text + walk->length, walk->at, good);
    walk->length += good;
    walk->at = invalid;
    if (invalid == walk->end || walk->length > HPAR_MAX_INPUT) return;
    int length;
    do {
      replace(walk, -hp_utf8_sequence(walk->at, walk->end));
      if (walk->at == walk->end) return;
      length = hp_utf8_sequence(walk->at, walk->end);
    } while (length < 0);
    invalid = hp_next_invalid(walk->at, walk->end);
  }
}

static hp_input of_utf8(const char *bytes, size_t length) {
  hp_input made = {.bytes = length ? bytes : "", .length = length, .encoding = &hp_utf8};
  if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) {
    made.bom = 3;
    made.bytes += 3;
    made.length -= 3;
  }
  return made;
}

/* Slice i is between places i and i + 1. No valid character crosses a place. */
typedef struct check {
  const char *places[HP_DECODE_SLICES + 1];
  bool valid[HP_DECODE_SLICES];
} check;

/* Returns the first place from `at` on that is no continuation of a valid character. */
static const char *skip_continuation(const char *at) {
  for (int k = 0; k < 3 && ((unsigned char)*at & 0xC0) == 0x80; k++) at++;
  return at;
}

static bool is_valid(const char *at, const char *end, hp_unit_steps *steps) {
  enum { STEP_BYTES = 64 << 10 };
  while (at != end) {
    const char *to = end - at > STEP_BYTES ? skip_continuation(at + STEP_BYTES - 3) : end;
    if (hp_scan()->invalid_utf8(at, to) != to) return false;
    hp_note_step(steps);
    at = to;
  }
  return true;
}

static void check_slice(void *job, size_t i, unsigned thread, hp_unit_steps *steps) {
  (void)thread;
  check *all = job;
  all->valid[i] = is_valid(all->places[i], all->places[i + 1], steps);
}

/* Runs the check, and the slices of stragglers here. Returns the index of the first slice that is
 * not valid, or `count`. Drops the job. */
static unsigned first_invalid_slice(check *all, unsigned count, const hp_slice_executor *executor) {
  static const hp_unit_client client = {.run = check_slice, .drop = hp_free};
  hp_slice_batch batch = {.client = &client, .job = all, .count = count};
  const char *places[HP_DECODE_SLICES + 1];
  memcpy(places, all->places, sizeof places);
  bool is_complete = executor->run(executor->context, &batch);
  unsigned i = 0;
  while (i < count && (batch.unfinished >> i & 1 ? is_valid(places[i], places[i + 1], NULL) : all->valid[i])) i++;
  if (is_complete) hp_free(all);
  return i;
}

/* The first invalid sequence, or `end`; looked for in slices where that may be. */
static const char *first_invalid(const char *at, const char *end, const hp_slice_executor *executor) {
  const hp_scan_kernels *scan = hp_scan();
  size_t length = (size_t)(end - at),
         count = executor && executor->run && executor->min_checked_bytes ? length / executor->min_checked_bytes : 1;
  if (count > HP_DECODE_SLICES) count = HP_DECODE_SLICES;
  check *all = count < 2 ? NULL : hp_allocate_zeroed(sizeof *all);
  if (!all) return scan->invalid_utf8(at, end);
  const char *places[HP_DECODE_SLICES + 1];
  for (size_t i = 0; i <= count; i++) {
    const char *place = at + length / count * i;
    places[i] = all->places[i] = i == count ? end : i ? skip_continuation(place) : place;
  }
  /* The bytes before the first slice that is not valid end with a whole character. */
  unsigned first = first_invalid_slice(all, (unsigned)count, executor);
  return first < count ? scan->invalid_utf8(places[first], end) : end;
}

/* Returns memory for the text, or NULL: in the buffer if there is one, otherwise `owned`. A short
 * text is always `owned`, because a buffer takes whole pages. */
static char *text_memory(hp_input *input, size_t length, hp_buffer *buffer) {
  enum { MIN_BUFFERED_BYTES = 128 << 10 };
  char *text = buffer && length >= MIN_BUFFERED_BYTES ? hp_buffer_room_for(buffer, length, length) : NULL;
  input->kept = text;
  return text ? text : (input->owned = hp_allocate(length));
}

//§ utf-8-decode, of the Encoding Standard
static hpar_status open_utf8(hp_input *input, const char *bytes, size_t length, const hp_slice_executor *executor) {
  if (length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  hp_input made = of_utf8(bytes, length);
  const char *end = made.bytes + made.length, *invalid = first_invalid(made.bytes, end, executor);
  if (invalid != end) {
    walk start = {.begin = made.bytes, .at = made.bytes, .end = end, .bom = made.bom};
    walk walk = start;
    repair(&walk, invalid);
    if (walk.length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
    size_t text_length = (size_t)walk.length, repair_count = walk.repair_count;
    walk = start;
    walk.text = text_memory(&made, text_length, executor ? executor->buffer : NULL);
    if (repair_count) made.repairs = walk.repairs = hp_allocate(repair_count * sizeof *made.repairs);
    if (!walk.text || (repair_count && !made.repairs)) {
      hp_input_close(&made);
      return HPAR_ERROR_MEMORY;
    }
    made.bytes = walk.text;
    made.length = text_length;
    made.repair_count = repair_count;
    repair(&walk, invalid);
    if (made.kept) hp_buffer_take(executor->buffer, text_length);
  }
  *input = made;
  return HPAR_OK;
}

hpar_status hp_input_assume_utf8(hp_input *input, const char *bytes, size_t length) {
  if (length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  *input = of_utf8(bytes, length);
  return HPAR_OK;
}

hpar_status hp_input_open(hp_input *input, const char *bytes, size_t length) {
  return open_utf8(input, bytes, length, NULL);
}

static hpar_status decode(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding,
                          const hp_slice_executor *executor) {
  return encoding->kind == HP_ENCODING_UTF8 ? open_utf8(input, bytes, length, executor)
                                            : hp_decode_in_slices(input, bytes, length, encoding, executor);
}

hpar_status hp_input_decode(hp_input *input, const char *bytes, size_t length, const hp_encoding *encoding) {
  return decode(input, bytes, length, encoding, NULL);
}

hpar_status hp_input_decode_sniffed(hp_input *input, const char *bytes, size_t length, hp_sniffed *sniffed,
                                    const hp_slice_executor *executor) {
  if (sniffed->encoding) return decode(input, bytes, length, sniffed->encoding, executor);
  if (length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
  hp_input made = of_utf8(bytes, length);
  const char *end = made.bytes + made.length;
  bool valid = first_invalid(made.bytes, end, executor) == end;
  sniffed->encoding = valid ? &hp_utf8 : &hp_windows1252;
  sniffed->source = valid ? HP_ENCODING_FROM_VALID_UTF8 : HP_ENCODING_FROM_FALLBACK;
  if (!valid) return decode(input, bytes, length, sniffed->encoding, executor);
  *input = made;
  return HPAR_OK;
}

static char *copy_of(const char *bytes, size_t length) {
  char *copy = hp_allocate(length ? length : 1);
  if (copy && length) memcpy(copy, bytes, length);
  return copy;
}

hpar_status hp_input_keep(hp_input *input, hp_buffer *buffer, bool offsets) {
  if (!input->kept && !input->owned && input->length) {
    char *copy = text_memory(input, input->length, buffer);
    if (!copy) return HPAR_ERROR_MEMORY;
    input->bytes = memcpy(copy, input->bytes, input->length);
    if (input->kept) hp_buffer_take(buffer, input->length);
    input->kept = true;
  }
  if (offsets && input->source && !input->owned_source) {
    input->owned_source = copy_of(input->source, input->source_length);
    if (!input->owned_source) return HPAR_ERROR_MEMORY;
    input->source = input->owned_source;
  }
  return HPAR_OK;
}

void hp_input_close(hp_input *input) {
  hp_free(input->owned_source);
  hp_free(input->checkpoints);
  hp_free(input->owned);
  hp_free(input->repairs);
  *input = (hp_input){0};
}

static uint64_t repaired_offset(const hp_input *input, uint64_t offset) {
  size_t low = 0, high = input->repair_count; /* the repairs up to the offset number low..high */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (input->repairs[middle].offset <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  hp_repair before = low ? input->repairs[low - 1] : (hp_repair){0, input->bom};
  uint64_t distance = offset - before.offset;
  if (low < input->repair_count) {
    uint64_t text = input->repairs[low].offset - before.offset;
    uint64_t source = input->repairs[low].source - before.source;
    if (text - source > 2) return before.source + distance / 3 * (source / (text / 3));
    if (distance > source) distance = source;
  }
  return before.source + distance;
}

uint64_t hp_input_offset_from(const hp_input *input, hp_input_cursor *cursor, uint64_t offset) {
  if (input->encoding && input->encoding->kind != HP_ENCODING_UTF8) return hp_decoded_offset(input, cursor, offset);
  return input->repair_count ? repaired_offset(input, offset) : offset + input->bom;
}

uint64_t hp_input_offset(const hp_input *input, uint64_t offset) {
  hp_input_cursor cursor = {0, 0, 0, 0};
  return hp_input_offset_from(input, &cursor, offset);
}

/* Bytes that are prepared at a time: ASan's poison covers those after the text. */
enum { STEP = 1 << 18 };

/* Requires an empty buffer, because its bytes may move. */
static bool reserve(hp_buffer *buffer) {
  const size_t bytes = (size_t)4 << 30;
  if (!hp_block_open(&buffer->block, bytes, STEP)) return false;
  if (buffer->base != buffer->block.base) buffer->reached = 0;
  buffer->base = buffer->block.base;
  buffer->size = buffer->block.size;
  return true;
}

char *hp_buffer_room(hp_buffer *buffer, size_t n) {
  if (!buffer->block.open && !reserve(buffer)) return NULL;
  if (buffer->size - buffer->length < n) return NULL;
  size_t end = buffer->length + n;
  if (end > buffer->block.touched) buffer->block.touched = end;
  if (end > buffer->reached) {
    if (!hp_memory_may()) return NULL;
    size_t reached = buffer->size - end > STEP ? end + STEP : buffer->size;
    HP_POISON(buffer->base + buffer->reached, reached - buffer->reached);
    buffer->reached = reached;
  }
  HP_UNPOISON(buffer->base + buffer->length, n);
  return buffer->base + buffer->length;
}

char *hp_buffer_room_for(hp_buffer *buffer, size_t n, size_t expected) {
  if (!buffer->block.open && !reserve(buffer)) return NULL;
  hp_block_expect(&buffer->block, buffer->length + expected);
  return hp_buffer_room(buffer, n);
}

void hp_buffer_take(hp_buffer *buffer, size_t n) { buffer->length += n; }

hpar_status hp_buffer_add(hp_buffer *buffer, const char *bytes, size_t n) {
  char *room = hp_buffer_room(buffer, n);
  if (!room) return HPAR_ERROR_MEMORY;
  if (n) memcpy(room, bytes, n);
  hp_buffer_take(buffer, n);
  return HPAR_OK;
}

void hp_buffer_clear(hp_buffer *buffer) {
  HP_POISON(buffer->base, buffer->length);
  buffer->length = 0;
}

void hp_buffer_trim(hp_buffer *buffer) {
  if (!buffer->block.open) return;
  HP_UNPOISON(buffer->base, buffer->reached);
  hp_block_trim(&buffer->block, buffer->length);
  buffer->base = buffer->block.base;
  buffer->size = buffer->block.size;
  if (buffer->reached > buffer->size) buffer->reached = buffer->size;
  if (buffer->base) HP_POISON(buffer->base + buffer->length, buffer->reached - buffer->length);
}

void hp_buffer_close(hp_buffer *buffer) {
  if (!buffer->base) return;
  HP_UNPOISON(buffer->base, buffer->reached);
  hp_block_release(&buffer->block);
  *buffer = (hp_buffer){0};
}
