#include "programs/warc/codec.h"

#if HPAR_ZSTD

#include "base/memory.h"

#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { MAX_DICTIONARY = 64 << 20 };

struct hp_codec {
  ZSTD_DCtx *context;
};

/* A frame, or a frame that decoders skip. */
static bool is_start(const char *b) {
  return !memcmp(b, "\x28\xB5\x2F\xFD", 4) || ((b[0] & 0xF0) == 0x50 && !memcmp(b + 1, "\x2A\x4D\x18", 3));
}

static void destroy(hp_codec *c) {
  if (!c) return;
  ZSTD_freeDCtx(c->context);
  hp_free(c);
}

static hp_codec *create(void) {
  hp_codec *c = hp_allocate_zeroed(sizeof *c);
  if (c) c->context = ZSTD_createDCtx();
  if (!c || c->context) return c;
  hp_free(c);
  return NULL;
}

static bool reset(hp_codec *c) { return !ZSTD_isError(ZSTD_DCtx_reset(c->context, ZSTD_reset_session_only)); }

static hp_decoded failure(size_t result) {
  return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? HP_DECODED_MEMORY : HP_DECODED_DAMAGED;
}

static hp_decoded decode(hp_codec *c, const char **in, const char *in_end, char **out, char *out_end) {
  ZSTD_inBuffer from = {*in, (size_t)(in_end - *in), 0};
  ZSTD_outBuffer to = {*out, (size_t)(out_end - *out), 0};
  size_t result = ZSTD_decompressStream(c->context, &to, &from);
  *in += from.pos;
  *out += to.pos;
  if (ZSTD_isError(result)) return failure(result);
  return result ? HP_DECODED_MORE : HP_DECODED_END;
}

/* The dictionary may be a frame itself. */
static hp_decoded take_dictionary(hp_codec *c, const char *bytes, size_t length) {
  size_t result;
  if (length >= 4 && !memcmp(bytes, "\x28\xB5\x2F\xFD", 4)) {
    hp_octets plain = {0};
    ZSTD_inBuffer from = {bytes, length, 0};
    for (result = 1; result && !ZSTD_isError(result);) {
      if (plain.length >= MAX_DICTIONARY || !hp_octets_reserve(&plain, ZSTD_DStreamOutSize())) break;
      ZSTD_outBuffer to = {plain.at + plain.length, plain.capacity - plain.length, 0};
      size_t before = from.pos;
      result = ZSTD_decompressStream(c->context, &to, &from);
      plain.length += to.pos;
      if (from.pos == before && !to.pos) break;
    }
    if (!result)
      result = ZSTD_DCtx_loadDictionary(c->context, plain.at, plain.length);
    else if (!ZSTD_isError(result))
      result = (size_t)-ZSTD_error_dictionary_corrupted;
    hp_octets_free(&plain);
  } else {
    result = ZSTD_DCtx_loadDictionary(c->context, bytes, length);
  }
  return ZSTD_isError(result) ? failure(result) : HP_DECODED_END;
}

static const hp_codec_kind zstd = {.start_bytes = 4,
                                   .trial_bytes = 256 << 10,
                                   .first = '\x28',
                                   .is_start = is_start,
                                   .create = create,
                                   .destroy = destroy,
                                   .reset = reset,
                                   .decode = decode,
                                   .take_dictionary = take_dictionary};
const hp_codec_kind *const hp_codec_zstd = &zstd;

#else

const hp_codec_kind *const hp_codec_zstd = NULL;

#endif
