/* The decoders read as many whole sequences as there are; the rest of one, three bytes at most,
 * waits in the decoder for the next call. Runs of ASCII are copied 16 bytes at a time, and a
 * character beyond it is a look into a table that holds UTF-8 and one store. */

#include "text/encoding/encoding.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"
#include "text/scan/scan.h"

#include <string.h>

typedef unsigned char byte;

#define INLINE static inline __attribute__((always_inline))

//§ single-byte-decoder, of the Encoding Standard, as are all below
INLINE const byte *decode_single_byte(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  (void)last;
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    const byte *stop = end - at > 8 ? at + 8 : end;
    while (at < stop) *out = hp_put_character(*out, &table[*at++]);
  }
  return at;
}

/* Copies the bytes after the last one that is not ASCII. */
INLINE const byte *copy_ascii_backward(const byte *begin, const byte *at, char **out) {
  char *to = *out;
#if defined(__SSE2__)
  while (at - begin >= 32) {
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(at - 32));
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(at - 16));
    _mm_storeu_si128((__m128i *)(void *)(to - 32), a);
    _mm_storeu_si128((__m128i *)(void *)(to - 16), b);
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(a, b)), 0)) {
      unsigned high = (unsigned)_mm_movemask_epi8(a) | (unsigned)_mm_movemask_epi8(b) << 16;
      unsigned count = (unsigned)__builtin_clz(high);
      *out = to - count;
      return at - count;
    }
    at -= 32;
    to -= 32;
  }
#endif
  while (at - begin >= 16) {
    uint64_t a = hp_load_64(at - 16) & UINT64_C(0x8080808080808080);
    uint64_t b = hp_load_64(at - 8) & UINT64_C(0x8080808080808080);
    memcpy(to - 16, at - 16, 16);
    if (a | b) {
      unsigned count = (unsigned)(b ? __builtin_clzll(b) : 64 + __builtin_clzll(a)) / 8;
      *out = to - count;
      return at - count;
    }
    at -= 16;
    to -= 16;
  }
  while (at > begin && at[-1] < 0x80) *--to = (char)*--at;
  *out = to;
  return at;
}

char *hp_decode_single_byte_backward(const hp_decoder *d, const byte *begin, const byte *end, char *out) {
  while ((end = copy_ascii_backward(begin, end, &out)) > begin) {
    const byte *stop = end - begin > 8 ? end - 8 : begin;
    while (end > stop) {
      uint32_t word = hp_load_32(d->table[*--end].utf8);
      unsigned length = 1u + (word > 0xFF) + (word > 0xFFFF);
      hp_store_32(out - 4, word << (32 - 8 * length));
      out -= length;
    }
  }
  return out;
}

//§ x-user-defined-decoder
INLINE const byte *decode_x_user_defined(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)d;
  (void)last;
  for (; (at = hp_copy_ascii(at, end, out)) < end; at++) *out = hp_put_code_point(*out, 0xF780u + *at - 0x80);
  return at;
}

//§ replacement-decoder
INLINE const byte *decode_replacement(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)last;
  if (at < end && !d->replaced) *out = hp_put_replacement(*out);
  if (at < end) d->replaced = true;
  return end;
}
static inline uint32_t unit(const byte *at, int low) { return (uint32_t)(at[low] | at[!low] << 8); }

//§ shared-utf-16-decoder
INLINE const byte *utf16(const byte *at, const byte *end, bool last, char **out, int low) {
  char *to = *out;
  while (at < end) {
    while (end - at >= 8) {
      uint32_t a = unit(at, low), b = unit(at + 2, low), c = unit(at + 4, low), e = unit(at + 6, low);
      if ((a | b | c | e) >= 0x80) break;
      to[0] = (char)a;
      to[1] = (char)b;
      to[2] = (char)c;
      to[3] = (char)e;
      to += 4;
      at += 8;
    }
    uint32_t first = end - at < 2 ? 0 : unit(at, low);
    bool high = (first & 0xFC00) == 0xD800;
    if (end - at < (high ? 4 : 2)) {
      if (at == end) break;
      *out = to;
      return hp_unfinished_sequence(at, end, last, out);
    }
    at += 2;
    if (high && (unit(at, low) & 0xFC00) == 0xDC00) {
      first = 0x10000 + ((first & 0x3FF) << 10) + (unit(at, low) & 0x3FF);
      at += 2;
    } else if ((first & 0xF800) == 0xD800) {
      first = 0xFFFD;
    }
    to = hp_put_code_point(to, first);
  }
  *out = to;
  return at;
}

INLINE const byte *decode_utf16le(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)d;
  return utf16(at, end, last, out, 0);
}

INLINE const byte *decode_utf16be(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)d;
  return utf16(at, end, last, out, 1);
}

/* Is the sequence, which is not well-formed, only cut short? */
static bool is_cut_short(const byte *at, const byte *end, int length) {
  return *at >= 0xC2 && *at <= 0xF4 && length < 0 && end - at == -length;
}

//§ utf-8-decoder
INLINE const byte *decode_utf8(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)d;
  while (at < end) {
    int length = hp_utf8_sequence((const char *)at, (const char *)end);
    if (is_cut_short(at, end, length)) return hp_unfinished_sequence(at, end, last, out);
    if (length > 0) {
      memcpy(*out, at, (size_t)length);
      *out += length;
      at += length;
    } else {
      *out = hp_put_replacement(*out);
      at -= length;
    }
  }
  return at;
}
static HP_DECODER(single_byte) static HP_DECODER(x_user_defined) static HP_DECODER(replacement) static HP_DECODER(
    utf16le) static HP_DECODER(utf16be) static HP_DECODER(utf8)

    hpar_status hp_decoder_open(hp_decoder *d, const hp_encoding *encoding) {
  hpar_status status = HPAR_OK;
  memset(d, 0, offsetof(hp_decoder, out));
  d->encoding = encoding;
  switch (encoding->kind) {
    case HP_ENCODING_UTF8: d->decode = hp_decode_utf8; break;
    case HP_ENCODING_UTF16LE: d->decode = hp_decode_utf16le; break;
    case HP_ENCODING_UTF16BE: d->decode = hp_decode_utf16be; break;
    case HP_ENCODING_REPLACEMENT: d->decode = hp_decode_replacement; break;
    case HP_ENCODING_X_USER_DEFINED: d->decode = hp_decode_x_user_defined; break;
    case HP_ENCODING_SINGLE_BYTE:
      d->decode = hp_decode_single_byte;
      status = hp_single_byte_open(encoding, &d->table);
      break;
    case HP_ENCODING_GB18030:
      d->decode = hp_decode_gb18030;
      status = hp_index_open(HP_INDEX_GB18030, &d->table);
      if (status == HPAR_OK) status = hp_gb18030_ranges_open(&d->ranges);
      break;
    case HP_ENCODING_BIG5:
      d->decode = hp_decode_big5;
      status = hp_index_open(HP_INDEX_BIG5, &d->table);
      break;
    case HP_ENCODING_EUC_JP:
      d->decode = hp_decode_euc_jp;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      if (status == HPAR_OK) status = hp_index_open(HP_INDEX_JIS0212, &d->second);
      break;
    case HP_ENCODING_ISO_2022_JP:
      d->decode = hp_decode_iso_2022_jp;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      break;
    case HP_ENCODING_SHIFT_JIS:
      d->decode = hp_decode_shift_jis;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      break;
    case HP_ENCODING_EUC_KR:
      d->decode = hp_decode_euc_kr;
      status = hp_index_open(HP_INDEX_EUC_KR, &d->table);
      break;
  }
  return status;
}

size_t hp_encoding_bom(const hp_encoding *encoding, const char **bom) {
  switch (encoding->kind) {
    case HP_ENCODING_UTF8: *bom = "\xEF\xBB\xBF"; return 3;
    case HP_ENCODING_UTF16LE: *bom = "\xFF\xFE"; return 2;
    case HP_ENCODING_UTF16BE: *bom = "\xFE\xFF"; return 2;
    default: *bom = ""; return 0;
  }
}

hpar_status hp_decoder_create(hp_decoder **decoder, const hp_encoding *encoding) {
  hp_decoder *made = hp_allocate(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hpar_status status = hp_decoder_open(made, encoding);
  if (status != HPAR_OK)
    hp_free(made);
  else
    *decoder = made;
  return status;
}

void hp_decoder_destroy(hp_decoder *decoder) { hp_free(decoder); }

static hpar_status flush(hp_decoder *d, const char *out, hp_decoder_sink sink, void *context) {
  return out > d->out ? sink(d->out, (size_t)(out - d->out), context) : HPAR_OK;
}

/* What waits, and enough of what has come to be done with it. */
static hpar_status finish_waiting(hp_decoder *d, const byte **at, const byte *end, bool last, hp_decoder_sink sink,
                                  void *context) {
  byte both[HP_DECODER_WAITING + 8];
  size_t more = (size_t)(end - *at) < 8 ? (size_t)(end - *at) : 8;
  memcpy(both, d->waiting, d->waiting_count);
  if (more) memcpy(both + d->waiting_count, *at, more);
  const byte *all = both + d->waiting_count + more;
  char *out = d->out;
  const byte *stop = d->decode(d, both, all, last && *at + more == end, &out);
  size_t done = (size_t)(stop - both);
  if (done >= d->waiting_count) {
    *at += done - d->waiting_count;
    d->waiting_count = 0;
  } else {
    memmove(d->waiting, stop, (size_t)(all - stop));
    d->waiting_count = (uint8_t)(all - stop);
    *at += more;
  }
  return flush(d, out, sink, context);
}

static void keep_waiting(hp_decoder *d, const byte *at, const byte *end) {
  d->waiting_count = (uint8_t)(end - at);
  if (at < end) memcpy(d->waiting, at, d->waiting_count);
}

/* UTF-8 is passed on as it lies there. */
static hpar_status pass_utf8(hp_decoder *d, const byte *at, const byte *end, bool last, hp_decoder_sink sink,
                             void *context) {
  const hp_scan_kernels *scan = hp_scan();
  while (at < end) {
    const byte *bad = (const byte *)scan->invalid_utf8((const char *)at, (const char *)end);
    hpar_status status = bad > at ? sink((const char *)at, (size_t)(bad - at), context) : HPAR_OK;
    if (status != HPAR_OK) return status;
    at = bad;
    /* The decoder takes a block of bad bytes at once, so the kernel does not start for each. */
    const byte *stop = end - at > HP_DECODER_BLOCK / 16 ? at + HP_DECODER_BLOCK / 16 : end;
    char *out = d->out;
    at = hp_decode_utf8(d, at, stop, last && stop == end, &out);
    status = flush(d, out, sink, context);
    if (status != HPAR_OK) return status;
    if (stop == end) break;
  }
  keep_waiting(d, at, end);
  return HPAR_OK;
}

static hpar_status feed(hp_decoder *d, const byte *at, size_t n, bool last, hp_decoder_sink sink, void *context) {
  const byte *end = at + n;
  hpar_status status = HPAR_OK;
  if (at == end && !last) return HPAR_OK;
  while (d->waiting_count) {
    status = finish_waiting(d, &at, end, last, sink, context);
    if (status != HPAR_OK) return status;
    if (at == end && d->waiting_count) return HPAR_OK;
  }
  if (d->encoding->kind == HP_ENCODING_UTF8) return pass_utf8(d, at, end, last, sink, context);
  do {
    const byte *stop = end - at > HP_DECODER_BLOCK ? at + HP_DECODER_BLOCK : end;
    char *out = d->out;
    at = d->decode(d, at, stop, last && stop == end, &out);
    status = flush(d, out, sink, context);
    if (status != HPAR_OK) return status;
    if (stop == end) break;
  } while (at < end);
  keep_waiting(d, at, end);
  return HPAR_OK;
}

hpar_status hp_decoder_run(hp_decoder *d, const char *bytes, size_t n, bool last, hp_decoder_sink sink, void *context) {
  if (!n) bytes = "";
  if (!d->begun) {
    const char *bom;
    size_t length = hp_encoding_bom(d->encoding, &bom);
    while (d->bom_count < length && n && *bytes == bom[d->bom_count]) {
      d->bom_count++;
      bytes++;
      n--;
    }
    if (d->bom_count < length) {
      if (!n && !last) return HPAR_OK;
      hpar_status status = feed(d, (const byte *)bom, d->bom_count, false, sink, context);
      if (status != HPAR_OK) return status;
    }
    d->begun = true;
  }
  hpar_status status = feed(d, (const byte *)bytes, n, last, sink, context);
  if (!last) return status;
  d->begun = false;
  d->bom_count = 0;
  d->replaced = false;
  return status;
}
