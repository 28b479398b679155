#include "text/decode_slice.h"

#include <stdbool.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef unsigned char byte;

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

const byte *hp_slice_end(const hp_encoding *encoding, const byte *begin, const byte *at, const byte *end) {
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

/* A stretch is shorter by up to three bytes where a character would straddle its end. */
size_t hp_most_checkpoints(const hp_text_slice *s) {
  return (size_t)(s->end - s->begin) / (HP_CHECKPOINT_BYTES - HP_DECODER_WAITING) + 2;
}

static const byte *stretch_end(const byte *at, const byte *end) {
  return end - at > HP_CHECKPOINT_BYTES ? at + HP_CHECKPOINT_BYTES : end;
}

/* Writes the checkpoints of ASCII. Returns their number. */
static size_t note_ascii(hp_checkpoint *to, const byte *at, const byte *end, const byte *source) {
  size_t count = 0;
  for (const byte *begin = at; at < end; at = stretch_end(at, end))
    to[count++] = (hp_checkpoint){(uint32_t)(at - begin), (uint32_t)(at - source), 0};
  return count;
}

void hp_take_ascii(hp_text_slice *s, const byte *source) {
  s->text = (const char *)s->begin;
  s->length = (size_t)(s->end - s->begin);
  s->checkpoints = s->room;
  s->checkpoint_count = note_ascii(s->room, s->begin, s->end, source);
}

void hp_decode_forward(hp_text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                       hp_unit_steps *steps) {
  const byte *at = s->begin;
  char *out = s->place;
  size_t count = 0;
  hp_decoder d;
  s->status = hp_decoder_open(&d, encoding);
  while (s->status == HPAR_OK) {
    s->room[count++] = (hp_checkpoint){(uint32_t)(out - s->place), (uint32_t)(at - source), d.state};
    const byte *stop = stretch_end(at, s->end);
    s->is_saturated = s->limit - out < hp_most_text(at, stop);
    if (s->is_saturated) break;
    at = d.decode(&d, at, stop, stop == s->end, &out);
    if (out - s->place > most) s->status = HPAR_ERROR_TOO_LARGE;
    if (at == s->end) break;
    hp_note_step(steps);
  }
  s->text = s->place;
  s->length = (size_t)(out - s->place);
  s->checkpoints = s->room;
  s->checkpoint_count = count;
}

/* Decodes a slice of a single-byte encoding from the end to the beginning. */
static void decode_backward(hp_text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                            hp_unit_steps *steps) {
  size_t first = hp_most_checkpoints(s), last = first;
  const byte *end = s->end;
  char *out = s->limit;
  hp_decoder d;
  s->status = hp_decoder_open(&d, encoding);
  while (end > s->begin && s->status == HPAR_OK) {
    const byte *at = end - s->begin > HP_CHECKPOINT_BYTES ? end - HP_CHECKPOINT_BYTES : s->begin;
    s->is_saturated = out - s->place < hp_most_text(at, end);
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

void hp_decode_to_limit(hp_text_slice *s, const hp_encoding *encoding, const byte *source, ptrdiff_t most,
                        hp_unit_steps *steps) {
  if (encoding->kind == HP_ENCODING_SINGLE_BYTE) {
    decode_backward(s, encoding, source, most, steps);
  } else {
    hp_decode_forward(s, encoding, source, most, steps);
    s->text = memmove(s->limit - s->length, s->text, s->length);
  }
}
