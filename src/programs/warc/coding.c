#include "programs/warc/coding.h"

#include "base/bytes.h"

#include <stdint.h>
#include <string.h>

#if HPAR_ZLIB
#include <zlib.h>
#endif
#if HPAR_BROTLI
#include <brotli/decode.h>
#endif

enum { FIRST = 64 << 10 };

/* Makes space in `out`, and sets `*space` to the bytes that a decoder may write: at most one more
 * than the limit. */
#if HPAR_ZLIB || HPAR_BROTLI
static bool make_space(hp_octets *out, size_t limit, size_t *space) {
  size_t more = out->length ? out->length : FIRST, most = limit - out->length;
  if (most < SIZE_MAX) most++;
  if (!hp_octets_reserve(out, more < most ? more : most)) return false;
  *space = out->capacity - out->length;
  if (*space > most) *space = most;
  return true;
}
#endif

#if HPAR_ZLIB

enum { ZLIB = 15, RAW = -15, GZIP = 31, AT_ONCE = 1 << 30 };

static hp_coding_result inflate_stream(z_stream *s, const char **in, const char *end, size_t limit, hp_octets *out) {
  for (;;) {
    size_t left = (size_t)(end - *in), space;
    if (!make_space(out, limit, &space)) return HP_CODING_MEMORY;
    s->next_in = (Bytef *)*in;
    s->avail_in = (uInt)(left < AT_ONCE ? left : AT_ONCE);
    s->next_out = (Bytef *)out->at + out->length;
    s->avail_out = (uInt)(space < AT_ONCE ? space : AT_ONCE);
    int result = inflate(s, Z_NO_FLUSH);
    *in = (const char *)s->next_in;
    bool full = !s->avail_out;
    out->length = (size_t)((char *)s->next_out - out->at);
    if (out->length > limit) return HP_CODING_TOO_LARGE;
    if (result == Z_STREAM_END) return HP_CODING_FINE;
    if (result == Z_MEM_ERROR) return HP_CODING_MEMORY;
    if (result != Z_OK && result != Z_BUF_ERROR) return HP_CODING_DAMAGED;
    if (!full && *in == end) return HP_CODING_DAMAGED;
  }
}

static hp_coding_result decode_zlib(int bits, const char *in, size_t length, size_t limit, hp_octets *out) {
  const char *end = in + length;
  z_stream s = {0};
  if (inflateInit2(&s, bits) != Z_OK) return HP_CODING_MEMORY;
  hp_coding_result result = inflate_stream(&s, &in, end, limit, out);
  /* Further members of gzip. Other bytes after the last member are ignored, as browsers do. */
  while (!result && bits == GZIP && end - in > 3 && !memcmp(in, "\x1f\x8b\x08", 3) && inflateReset(&s) == Z_OK)
    result = inflate_stream(&s, &in, end, limit, out);
  inflateEnd(&s);
  return result;
}

/* "deflate" is a zlib stream by the standard, and a raw one from some servers. */
static hp_coding_result decode_deflate(const char *in, size_t length, size_t limit, hp_octets *out) {
  bool has_header = length > 1 && (in[0] & 0x0F) == 8 && ((unsigned char)in[0] * 256 + (unsigned char)in[1]) % 31 == 0;
  return decode_zlib(has_header ? ZLIB : RAW, in, length, limit, out);
}

#endif

#if HPAR_BROTLI
static hp_coding_result decode_brotli(const char *in, size_t length, size_t limit, hp_octets *out) {
  BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
  if (!state) return HP_CODING_MEMORY;
  const uint8_t *next_in = (const uint8_t *)in;
  hp_coding_result result = HP_CODING_FINE;
  for (BrotliDecoderResult done = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
       !result && done == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;) {
    size_t space;
    if (!make_space(out, limit, &space)) {
      result = HP_CODING_MEMORY;
      break;
    }
    uint8_t *next_out = (uint8_t *)out->at + out->length;
    done = BrotliDecoderDecompressStream(state, &length, &next_in, &space, &next_out, NULL);
    out->length = (size_t)((char *)next_out - out->at);
    if (out->length > limit)
      result = HP_CODING_TOO_LARGE;
    else if (done == BROTLI_DECODER_RESULT_ERROR || done == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
      result = HP_CODING_DAMAGED;
  }
  BrotliDecoderDestroyInstance(state);
  return result;
}
#endif

hp_coding_result hp_coding_decode(const char *name, size_t name_length, const char *in, size_t length, size_t limit,
                                  hp_octets *out) {
#define IS(text) (name_length == sizeof text - 1 && hp_ascii_equal(name, text, sizeof text - 1))
#if HPAR_ZLIB
  if (IS("gzip") || IS("x-gzip")) return decode_zlib(GZIP, in, length, limit, out);
  if (IS("deflate")) return decode_deflate(in, length, limit, out);
#endif
#if HPAR_BROTLI
  if (IS("br")) return decode_brotli(in, length, limit, out);
#endif
  if (!IS("identity")) return HP_CODING_UNSUPPORTED;
#undef IS
  if (length > limit) return HP_CODING_TOO_LARGE;
  return hp_octets_add(out, in, length) ? HP_CODING_FINE : HP_CODING_MEMORY;
}
