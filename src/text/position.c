/* The kernels find line ends. Only the line of the offset has its characters counted. */

#include "text/position.h"

#include "base/bytes.h"
#include "text/encoding/decoder.h"
#include "text/scan/scan.h"

#include <stdbool.h>
#include <string.h>

void hp_line_open(hp_line_finder *finder, const char *bytes, size_t length) {
  if (!length) bytes = "";
  const char *end = bytes + length, *at = bytes; // NOLINT: "" only where length is 0
  if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) at += 3;
  *finder = (hp_line_finder){bytes, at, end, hp_scan()->byte(at, end, '\n'), hp_scan()->byte(at, end, '\r'), {1, 1}};
}

/* The beginning of the next line, or NULL. */
static const char *next_line(const hp_line_finder *finder) {
  if (finder->lf == finder->end && finder->cr == finder->end) return NULL;
  if (finder->lf < finder->cr) return finder->lf + 1;
  return finder->cr + 1 < finder->end && finder->cr[1] == '\n' ? finder->cr + 2 : finder->cr + 1;
}

/* Goes on to the line of the offset. Returns the byte there. */
static const char *find_line(hp_line_finder *finder, uint64_t offset) {
  size_t length = (size_t)(finder->end - finder->bytes);
  if (offset > length) offset = length;
  const char *target = finder->bytes + offset;
  if (target < finder->at) hp_line_open(finder, finder->bytes, length);
  for (const char *next; (next = next_line(finder)) && next <= target;) {
    finder->position = (hp_position){finder->position.line + 1, 1};
    finder->at = next;
    if (finder->lf < next) finder->lf = hp_scan()->byte(next, finder->end, '\n');
    if (finder->cr < next) finder->cr = hp_scan()->byte(next, finder->end, '\r');
  }
  return target;
}

hp_position hp_line_at(hp_line_finder *finder, uint64_t offset) {
  const char *target = find_line(finder, offset);
  while (finder->at < target) {
    int bytes = hp_utf8_sequence(finder->at, finder->end);
    if (bytes < 0) bytes = -bytes;
    if (target - finder->at < bytes) break;
    finder->at += bytes;
    finder->position.column++;
  }
  return finder->position;
}

hp_position hp_line_of_byte(hp_line_finder *finder, uint64_t offset) {
  const char *target = find_line(finder, offset);
  const char *line = finder->position.line == 1 ? finder->bytes : finder->at;
  return (hp_position){finder->position.line, (uint64_t)(target - line) + 1};
}

/* Offsets in the source of decoded text. Where the bytes of the text alone give the length of the
 * source, its characters are counted from the nearest checkpoint. Elsewhere a walk passes through
 * the source and its text in parallel. The text is known, so that the walk decodes only sequences
 * that it cannot measure: invalid ones, and those of ISO-2022-JP. */

typedef struct walk {
  const hp_input *input;
  const unsigned char *at, *end;      /* in the source */
  const unsigned char *text, *target; /* in the text */
  bool measures;                      /* false: the walk decodes each sequence */
  bool is_inside;                     /* the target is inside the sequence at `at` */
  uint32_t state;                     /* of the decoder where the walk begins */
} walk;

/*** sequences that the walk decodes ***/

/* The decoder has decoded [at, stop) to text whose part from `rest` on begins at the target.
 * Returns where this part begins in the source, or NULL if it begins inside a sequence. */
static const unsigned char *find_rest(hp_decoder *d, const unsigned char *at, const unsigned char *stop,
                                      const char *rest, size_t length, bool last) {
  char expected[4 * HP_DECODER_WAITING + HP_DECODER_SLACK];
  if (length > sizeof expected) return NULL;
  memcpy(expected, rest, length);
  while (++at < stop) {
    char *out = d->out;
    const unsigned char *end = d->decode(d, at, stop, last, &out);
    if (end == stop && (size_t)(out - d->out) == length && !memcmp(d->out, expected, length)) return at;
  }
  return NULL;
}

/* Decodes sequences until the walk can measure again, or reaches the target. */
static __attribute__((noinline, cold)) void decode(walk *w) {
  hp_decoder d;
  if (hp_decoder_open(&d, w->input->encoding) != HPAR_OK) {
    w->text = w->target;
    return;
  }
  d.state = w->state;
  for (size_t more = 1; w->text < w->target && w->at < w->end;) {
    size_t left = (size_t)(w->end - w->at);
    char *out = d.out;
    const unsigned char *stop = d.decode(&d, w->at, w->at + (more < left ? more : left), more >= left, &out);
    if (out - d.out > w->target - w->text) { /* other characters may follow an invalid sequence */
      const char *rest = d.out + (w->target - w->text);
      const unsigned char *at = find_rest(&d, w->at, stop, rest, (size_t)(out - rest), more >= left);
      w->is_inside = !at;
      if (at) w->at = at;
      w->text = w->target;
      return;
    }
    w->text += out - d.out;
    more = stop > w->at ? 1 : more + 1;
    w->at = stop;
    if (w->measures && out > d.out) return;
  }
  w->text = w->target;
}

/*** sequences that the walk measures ***/

/* Passes ASCII, which is the same in the source and in the text. */
static void pass_ascii(walk *w) {
  const unsigned char *at = w->at, *text = w->text;
  while (text < w->target && at < w->end && *at < 0x80) at++, text++;
  w->at = at;
  w->text = text;
}

/* Returns the number of bytes of a character in the text. */
static unsigned text_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

/* Returns the number of bytes of the sequence at `at`, whose character is not U+FFFD. 0: the number
 * is unknown. */
static unsigned source_length(hp_encoding_kind kind, const unsigned char *at) {
  unsigned char lead = *at;
  switch (kind) {
    case HP_ENCODING_GB18030:
      if (lead == 0x80) return 1;
      return (unsigned char)(at[1] - '0') < 10 ? 4 : 2;
    case HP_ENCODING_BIG5: return lead == 0x88 ? 0 : 2; /* some stand for two characters */
    case HP_ENCODING_EUC_JP: return lead == 0x8F ? 3 : 2;
    case HP_ENCODING_SHIFT_JIS: return lead == 0x80 || (lead >= 0xA1 && lead < 0xE0) ? 1 : 2;
    case HP_ENCODING_EUC_KR: return 2;
    default: return 0;
  }
}

/* Passes the sequence at `at`, which is not ASCII. Returns false if its length is unknown. */
static bool pass_sequence(walk *w) {
  static const unsigned char replacement[] = {0xEF, 0xBF, 0xBD};
  hp_encoding_kind kind = w->input->encoding->kind;
  unsigned length = text_length(*w->text), bytes = 1;
  if (kind != HP_ENCODING_SINGLE_BYTE && kind != HP_ENCODING_X_USER_DEFINED) {
    if (w->end - w->at < 4 || w->target - w->text < (ptrdiff_t)length) return false;
    if (length == 3 && !memcmp(w->text, replacement, 3)) return false;
    bytes = source_length(kind, w->at);
    if (!bytes) return false;
  }
  w->at += bytes;
  w->text += length;
  return true;
}

/* UTF-16: each character has two bytes, or four. */
static void pass_utf16(walk *w) {
  while (w->text < w->target && w->end - w->at >= 2) {
    unsigned length = text_length(*w->text);
    w->at += length == 4 ? 4 : 2;
    w->text += length;
  }
  if (w->text < w->target) w->at = w->end, w->text = w->target;
}

static void walk_to_target(walk *w) {
  hp_encoding_kind kind = w->input->encoding->kind;
  if (kind == HP_ENCODING_UTF16LE || kind == HP_ENCODING_UTF16BE) {
    pass_utf16(w);
    return;
  }
  w->measures = kind != HP_ENCODING_ISO_2022_JP && kind != HP_ENCODING_REPLACEMENT;
  while (w->text < w->target) {
    if (w->measures) pass_ascii(w);
    if (w->text == w->target || w->at == w->end) return;
    if (!w->measures || !pass_sequence(w)) decode(w);
  }
}

/*** checkpoints ***/

static uint64_t offset_of(const hp_input *input, size_t part, size_t checkpoint) {
  return input->checkpoints[part].offset + (uint64_t)input->checkpoints[part].at[checkpoint].offset;
}

/* Sets the cursor to the last checkpoint before `offset`, by a galloping search from the cursor. */
static __attribute__((noinline)) void find_checkpoint(const hp_input *input, hp_input_cursor *cursor, uint64_t offset) {
  size_t part = cursor->part, low = cursor->checkpoint;
  if (offset_of(input, part, low) >= offset) part = low = 0;
  while (part + 1 < input->part_count && input->checkpoints[part + 1].offset < offset) part++, low = 0;
  size_t count = input->checkpoints[part].count, step = 1;
  while (low + step < count && offset_of(input, part, low + step) < offset) {
    low += step;
    step *= 2;
  }
  size_t high = low + step < count ? low + step : count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (offset_of(input, part, middle) < offset)
      low = middle;
    else
      high = middle;
  }
  cursor->part = part;
  cursor->checkpoint = low;
}

/*** characters that are counted ***/

/* The bytes of the text to which the source has no byte: byte & mask == value. */
typedef struct counted_bytes {
  unsigned char mask, value; /* 0 and 0: the text does not give the length of the source */
} counted_bytes;

/* By kind. A character has one byte in the source, or two if it has two or three in the text. */
static const counted_bytes bytes_to_count[HP_ENCODING_X_USER_DEFINED + 1] = {
    [HP_ENCODING_SINGLE_BYTE] = {0xC0, 0x80},
    [HP_ENCODING_X_USER_DEFINED] = {0xC0, 0x80},
    [HP_ENCODING_GB18030] = {0xF0, 0xE0},
    [HP_ENCODING_EUC_KR] = {0xF0, 0xE0},
};

/* Returns the number of counted bytes in the `length` bytes from `at` on. Requires: the text has
 * HP_SCAN_COUNTED more. */
static inline uint32_t count_bytes(const char *at, uint32_t length, counted_bytes counted) {
  const hp_scan_kernels *scan = hp_scan();
  uint32_t count = 0;
  for (; __builtin_expect(length > HP_SCAN_COUNTED, 0); at += HP_SCAN_COUNTED, length -= HP_SCAN_COUNTED)
    count += scan->count(at, HP_SCAN_COUNTED, counted.mask, counted.value);
  return count + scan->count(at, length, counted.mask, counted.value);
}

/* Sets the offset in the source by counting from the checkpoint of the cursor, or from the next
 * one. Returns false if the text between the two does not give the length of the source. */
static inline bool count_from_checkpoint(const hp_input *input, const hp_input_cursor *cursor, uint64_t offset,
                                         uint64_t *source) {
  counted_bytes counted = bytes_to_count[input->encoding->kind];
  const hp_checkpoints *part = &input->checkpoints[cursor->part];
  if (!counted.mask || cursor->checkpoint + 1 == part->count) return false;
  const hp_checkpoint *low = &part->at[cursor->checkpoint], *high = low + 1;
  uint32_t at = (uint32_t)(offset - part->offset);
  if (low->state != high->state) return false;
  if (high->offset - low->offset == high->source - low->source) { /* ASCII */
    *source = low->source + (at - low->offset);
    return true;
  }
  if (input->length - part->offset < (uint64_t)high->offset + HP_SCAN_COUNTED) return false;
  /* Without branches: the nearer checkpoint is hard to predict. `is_low` is 0 or has all bits. */
  uint32_t below = at - low->offset, above = high->offset - at, is_low = 0u - (below <= above);
  uint32_t length = above ^ ((below ^ above) & is_low), begin = at - (below & is_low);
  uint32_t base = high->source ^ ((low->source ^ high->source) & is_low);
  length -= count_bytes(input->bytes + part->offset + begin, length, counted);
  *source = base + ((length ^ ~is_low) - ~is_low);
  return true;
}

/* Walks from the checkpoint of the cursor, or from the cursor if it is nearer. */
static __attribute__((noinline)) uint64_t walk_to(const hp_input *input, hp_input_cursor *cursor, uint64_t offset) {
  uint64_t reached = offset_of(input, cursor->part, cursor->checkpoint);
  hp_checkpoint from = input->checkpoints[cursor->part].at[cursor->checkpoint];
  uint64_t source = from.source;
  if (reached < cursor->offset && cursor->offset <= offset && input->encoding->kind != HP_ENCODING_ISO_2022_JP) {
    reached = cursor->offset;
    source = cursor->source;
  }
  const unsigned char *bytes = (const unsigned char *)input->source, *text = (const unsigned char *)input->bytes;
  walk w = {.input = input,
            .at = bytes + source,
            .end = bytes + input->source_length,
            .text = text + reached,
            .target = text + offset,
            .state = from.state};
  walk_to_target(&w);
  source = (uint64_t)(w.at - bytes);
  if (w.is_inside) return source;
  cursor->offset = offset;
  cursor->source = source;
  return source;
}

uint64_t hp_decoded_offset(const hp_input *input, hp_input_cursor *cursor, uint64_t offset) {
  if (!input->source || !input->part_count || offset < input->checkpoints[0].offset) return offset + input->bom;
  find_checkpoint(input, cursor, offset);
  uint64_t source;
  return count_from_checkpoint(input, cursor, offset, &source) ? source : walk_to(input, cursor, offset);
}
