#include "programs/warc/codec.h"

#if HPAR_ZLIB

#include "base/memory.h"

#include <zlib.h>
#if HPAR_LIBDEFLATE
#include <libdeflate.h>
#endif

enum { HEADER_CRC = 2, RESERVED_FLAGS = 0xE0, WINDOW_BITS = 15, GZIP_ONLY = 16, MAX_WHOLE = 8 << 20 };

struct hp_codec {
  z_stream stream;
#if HPAR_LIBDEFLATE
  struct libdeflate_decompressor *fast;
#endif
};

static bool is_start(const char *b) {
  return b[0] == '\x1f' && b[1] == '\x8b' && b[2] == 8 && !(b[3] & RESERVED_FLAGS);
}

static void *allocate(void *context, unsigned count, unsigned size) {
  (void)context;
  return hp_allocate_zeroed((size_t)count * size);
}

static void release(void *context, void *memory) {
  (void)context;
  hp_free(memory);
}

static void destroy(hp_codec *c) {
  if (!c) return;
  inflateEnd(&c->stream);
#if HPAR_LIBDEFLATE
  if (c->fast) libdeflate_free_decompressor(c->fast);
#endif
  hp_free(c);
}

static hp_codec *create(void) {
  hp_codec *c = hp_allocate_zeroed(sizeof *c);
  if (!c) return NULL;
  c->stream.zalloc = allocate;
  c->stream.zfree = release;
  if (inflateInit2(&c->stream, WINDOW_BITS + GZIP_ONLY) != Z_OK) {
    hp_free(c);
    return NULL;
  }
#if HPAR_LIBDEFLATE
  c->fast = libdeflate_alloc_decompressor(); /* NULL: zlib decodes everything */
#endif
  return c;
}

static bool reset(hp_codec *c) { return inflateReset(&c->stream) == Z_OK; }

static hp_decoded decode(hp_codec *c, const char **in, const char *in_end, char **out, char *out_end) {
  z_stream *s = &c->stream;
  s->next_in = (Bytef *)*in;
  s->avail_in = (uInt)(in_end - *in);
  s->next_out = (Bytef *)*out;
  s->avail_out = (uInt)(out_end - *out);
  int result = inflate(s, Z_NO_FLUSH);
  *in = (const char *)s->next_in;
  *out = (char *)s->next_out;
  if (result == Z_STREAM_END) return HP_DECODED_END;
  if (result == Z_MEM_ERROR) return HP_DECODED_MEMORY;
  return result == Z_OK || result == Z_BUF_ERROR ? HP_DECODED_MORE : HP_DECODED_DAMAGED;
}

#if HPAR_LIBDEFLATE
/* libdeflate ignores the checksum of a header and zlib checks it. Such members are zlib's. */
static size_t whole(hp_codec *c, const char *in, size_t length, hp_octets *out) {
  if (!c->fast || in[3] & HEADER_CRC) return 0;
  for (size_t size = out->capacity > 1 << 18 ? out->capacity : 1 << 18; size <= MAX_WHOLE; size *= 4) {
    out->length = 0;
    if (!hp_octets_reserve(out, size)) return 0;
    size_t used = 0, made = 0;
    enum libdeflate_result result =
        libdeflate_gzip_decompress_ex(c->fast, in, length, out->at, out->capacity, &used, &made);
    if (result == LIBDEFLATE_SUCCESS) {
      out->length = made;
      return used;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) return 0;
  }
  return 0;
}
#endif

static const hp_codec_kind gzip = {
    .start_bytes = 4,
    .trial_bytes = 1 << 10,
    .first = '\x1f',
    .is_start = is_start,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .decode = decode,
#if HPAR_LIBDEFLATE
    .whole = whole,
#endif
};
const hp_codec_kind *const hp_codec_gzip = &gzip;

#else

const hp_codec_kind *const hp_codec_gzip = NULL;

#endif
