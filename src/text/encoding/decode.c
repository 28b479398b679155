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
/*** GB18030, Big5, EUC-JP, Shift_JIS, EUC-KR and ISO-2022-JP ***/

static char *put_four_bytes(hp_decoder *d, char *out, const byte *code) {
  d->irregular++;
  uint32_t pointer = (((code[0] - 0x81u) * 10 + code[1] - 0x30) * 126 + code[2] - 0x81) * 10 + code[3] - 0x30;
  if (pointer < HP_GB18030_FOUR_BYTES) return hp_put_code_point(out, d->ranges[pointer]);
  if (pointer < 189000 || pointer > 1237575) return hp_put_replacement(out);
  return hp_put_code_point(out, 0x10000 + pointer - 189000);
}

static inline bool is_digit(byte b) { return b >= '0' && b <= '9'; }
static inline bool is_gb_lead(byte b) { return b >= 0x81 && b <= 0xFE; }

static __attribute__((noinline, cold)) char *put_irregular(hp_decoder *d, char *out) {
  d->irregular++;
  return hp_put_replacement(out);
}

/* Decodes pairs of bytes from `least` on whose character has two or three bytes. `width` is the
 * number of characters of a row of the table, and `left` the number of those with a lower second
 * byte. */
INLINE const byte *pass_pairs(const hp_character *table, const byte *at, const byte *end, char **out, byte least,
                              uint32_t width, uint32_t left) {
  char *to = *out;
  while (end - at >= 2) {
    uint32_t row = at[0] - (uint32_t)least, column = at[1] - (uint32_t)least;
    if (row >= 0xFFu - least || column >= 0xFFu - least) break;
    const hp_character *c = &table[row * width + left + column];
    if (!c->utf8[0]) break;
    memcpy(to, c->utf8, 4);
    to += 2 + (c->utf8[2] != 0);
    at += 2;
  }
  *out = to;
  return at;
}

/* Passes a pair with this character; NULL or an empty one: the pair has none. A second byte that is
 * ASCII then stays. */
INLINE const byte *put_pair(const hp_character *c, const byte *at, char **out) {
  const bool has_character = c && c->utf8[0];
  *out = has_character ? hp_put_character(*out, c) : hp_put_replacement(*out);
  return at + (has_character || at[1] >= 0x80 ? 2 : 1);
}

//§ gb18030-decoder
INLINE const byte *decode_gb18030(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    if ((at = pass_pairs(table, at, end, out, 0x81, HP_GB18030_ROW, 0x81 - 0x41)) == end) break;
    byte lead = *at;
    if (lead < 0x80) continue;
    if (lead == 0x80) {
      d->irregular++;
      *out = hp_put_code_point(*out, 0x20AC);
      at++;
      continue;
    }
    if (lead == 0xFF) {
      *out = put_irregular(d, *out);
      at++;
      continue;
    }
    if (end - at < 2) return hp_unfinished_sequence(at, end, last, out);
    byte trail = at[1];
    if (is_digit(trail)) {
      if (end - at < 3 || (end - at < 4 && is_gb_lead(at[2]))) return hp_unfinished_sequence(at, end, last, out);
      if (is_gb_lead(at[2]) && is_digit(at[3])) {
        *out = put_four_bytes(d, *out, at);
        at += 4;
      } else {
        *out = put_irregular(d, *out);
        at++;
      }
      continue;
    }
    if (trail >= 0x40 && trail != 0x7F && trail != 0xFF) {
      uint32_t pointer = (lead - 0x81u) * HP_GB18030_ROW + trail - (trail < 0x7F ? 0x40 : 0x41);
      if (table[pointer].utf8[0]) {
        *out = hp_put_character(*out, &table[pointer]);
        at += 2;
        continue;
      }
    }
    *out = put_irregular(d, *out);
    at += trail < 0x80 ? 1 : 2;
  }
  return at;
}

//§ big5-decoder
INLINE const byte *decode_big5(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead == 0x80 || lead == 0xFF) {
      *out = hp_put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return hp_unfinished_sequence(at, end, last, out);
    byte trail = at[1];
    const hp_character *c = NULL;
    if ((trail >= 0x40 && trail <= 0x7E) || (trail >= 0xA1 && trail <= 0xFE)) {
      uint32_t pointer = (lead - 0x81u) * HP_BIG5_ROW + trail - (trail < 0x7F ? 0x40 : 0x62);
      c = &table[pointer];
    }
    if (c && c->utf8[0]) {
      bool pair = (byte)c->utf8[0] < 0xE0 && c->utf8[2]; /* a letter and an accent */
      *out = hp_put_character(*out, c) + (pair ? 2 : 0);
      at += 2;
    } else {
      *out = hp_put_replacement(*out);
      at += trail < 0x80 ? 1 : 2;
    }
  }
  return at;
}

static inline bool is_euc(byte b) { return b >= 0xA1 && b <= 0xFE; }

//§ euc-jp-decoder
INLINE const byte *decode_euc_jp(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    if ((at = pass_pairs(d->table, at, end, out, 0xA1, HP_JIS_ROW, 0)) == end) break;
    byte lead = *at;
    if (lead < 0x80) continue;
    if (lead != 0x8E && lead != 0x8F && !is_euc(lead)) {
      *out = hp_put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return hp_unfinished_sequence(at, end, last, out);
    byte trail = at[1];
    if (lead == 0x8E && trail >= 0xA1 && trail <= 0xDF) {
      *out = hp_put_code_point(*out, 0xFF61u + trail - 0xA1);
      at += 2;
      continue;
    }
    const hp_character *table = d->table;
    if (lead == 0x8F && is_euc(trail)) {
      if (end - at < 3) return hp_unfinished_sequence(at, end, last, out);
      table = d->second;
      at++;
      lead = trail;
      trail = at[1];
    }
    const hp_character *c = NULL;
    if (is_euc(lead) && is_euc(trail)) c = &table[(lead - 0xA1u) * HP_JIS_ROW + trail - 0xA1];
    at = put_pair(c, at, out);
  }
  return at;
}

//§ shift_jis-decoder
INLINE const byte *decode_shift_jis(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead == 0x80) {
      *out = hp_put_code_point(*out, lead);
      at++;
    } else if (lead >= 0xA1 && lead <= 0xDF) {
      *out = hp_put_code_point(*out, 0xFF61u + lead - 0xA1);
      at++;
    } else if (lead == 0xA0 || lead > 0xFC) {
      *out = hp_put_replacement(*out);
      at++;
    } else {
      if (end - at < 2) return hp_unfinished_sequence(at, end, last, out);
      byte trail = at[1];
      const hp_character *c = NULL;
      if (trail >= 0x40 && trail != 0x7F && trail <= 0xFC) {
        uint32_t row = lead - (lead < 0xA0 ? 0x81u : 0xC1u);
        c = &table[row * HP_SHIFT_JIS_ROW + trail - (trail < 0x7F ? 0x40 : 0x41)];
      }
      at = put_pair(c, at, out);
    }
  }
  return at;
}

//§ euc-kr-decoder
INLINE const byte *decode_euc_kr(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = hp_pass_ascii(at, end, out)) < end) {
    if ((at = pass_pairs(table, at, end, out, 0x81, HP_GB18030_ROW, 0x81 - 0x41)) == end) break;
    byte lead = *at;
    if (lead < 0x80) continue;
    if (!is_gb_lead(lead)) {
      *out = put_irregular(d, *out);
      at++;
      continue;
    }
    if (end - at < 2) return hp_unfinished_sequence(at, end, last, out);
    byte trail = at[1];
    const hp_character *c = NULL;
    if (trail >= 0x41 && trail <= 0xFE) c = &table[(lead - 0x81u) * HP_GB18030_ROW + trail - 0x41];
    if (c && c->utf8[0]) {
      *out = hp_put_character(*out, c);
      at += 2;
    } else {
      *out = put_irregular(d, *out);
      at += trail < 0x80 ? 1 : 2;
    }
  }
  return at;
}

enum { ISO_ASCII, ISO_ROMAN, ISO_KATAKANA, ISO_LEAD, ISO_TRAIL, ISO_ESCAPE_START, ISO_ESCAPE };

static char *iso_2022_jp_byte(hp_decoder *d, byte b, char *out);

/* The bytes are no escape sequence: ESC is an error, and those after it are read again. */
static char *no_escape(hp_decoder *d, char *out) {
  d->iso.output = false;
  d->iso.state = d->iso.output_state;
  return hp_put_replacement(out);
}

static char *iso_2022_jp_byte(hp_decoder *d, byte b, char *out) {
  if (d->iso.state == ISO_ESCAPE_START) {
    if (b == '$' || b == '(') {
      d->iso.lead = b;
      d->iso.state = ISO_ESCAPE;
      return out;
    }
    out = no_escape(d, out);
  } else if (d->iso.state == ISO_ESCAPE) {
    byte lead = d->iso.lead;
    int state = -1;
    d->iso.lead = 0;
    if (lead == '(') state = b == 'B' ? ISO_ASCII : b == 'J' ? ISO_ROMAN : b == 'I' ? ISO_KATAKANA : -1;
    if (lead == '$' && (b == '@' || b == 'B')) state = ISO_LEAD;
    if (state >= 0) {
      bool error = d->iso.output;
      d->iso.state = d->iso.output_state = (uint8_t)state;
      d->iso.output = true;
      return error ? hp_put_replacement(out) : out;
    }
    out = no_escape(d, out);
    out = iso_2022_jp_byte(d, lead, out); /* once: it begins no escape */
  }
  if (b == 0x1B) {
    bool broken = d->iso.state == ISO_TRAIL;
    d->iso.state = ISO_ESCAPE_START;
    return broken ? hp_put_replacement(out) : out;
  }
  if (d->iso.state == ISO_TRAIL) {
    d->iso.state = ISO_LEAD;
    if (b < 0x21 || b > 0x7E) return hp_put_replacement(out);
    const hp_character *c = &d->table[(d->iso.lead - 0x21u) * HP_JIS_ROW + b - 0x21];
    return c->utf8[0] ? hp_put_character(out, c) : hp_put_replacement(out);
  }
  d->iso.output = false;
  switch (d->iso.state) {
    case ISO_LEAD:
      if (b < 0x21 || b > 0x7E) return hp_put_replacement(out);
      d->iso.lead = b;
      d->iso.state = ISO_TRAIL;
      return out;
    case ISO_KATAKANA:
      if (b < 0x21 || b > 0x5F) return hp_put_replacement(out);
      return hp_put_code_point(out, 0xFF61u + b - 0x21);
    default: break;
  }
  if (b >= 0x80 || b == 0x0E || b == 0x0F) return hp_put_replacement(out);
  if (d->iso.state == ISO_ROMAN && b == 0x5C) return hp_put_code_point(out, 0xA5);
  if (d->iso.state == ISO_ROMAN && b == 0x7E) return hp_put_code_point(out, 0x203E);
  *out = (char)b;
  return out + 1;
}

//§ iso-2022-jp-decoder
INLINE const byte *decode_iso_2022_jp(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  while (at < end) *out = iso_2022_jp_byte(d, *at++, *out);
  if (!last) return at;
  if (d->iso.state == ISO_ESCAPE) {
    *out = no_escape(d, *out);
    *out = iso_2022_jp_byte(d, d->iso.lead, *out);
  }
  if (d->iso.state == ISO_TRAIL || d->iso.state == ISO_ESCAPE_START) *out = hp_put_replacement(*out);
  memset(&d->iso, 0, sizeof d->iso);
  return at;
}

/*** all decoders ***/

/* Defines the decoder `hp_decode_NAME` by inlining `decode_NAME`, so that the end of the text
 * stays in a register. */
#define HP_DECODER(name)                                                                                       \
  static const byte *hp_decode_##name(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) { \
    char *to = *out;                                                                                           \
    at = decode_##name(d, at, end, last, &to);                                                                 \
    *out = to;                                                                                                 \
    return at;                                                                                                 \
  }
// clang-format off
HP_DECODER(single_byte) HP_DECODER(x_user_defined) HP_DECODER(replacement) HP_DECODER(utf16le) HP_DECODER(utf16be) HP_DECODER(utf8)
HP_DECODER(gb18030) HP_DECODER(big5) HP_DECODER(euc_jp) HP_DECODER(shift_jis) HP_DECODER(euc_kr) HP_DECODER(iso_2022_jp)

/* The decoder of each kind of encoding, and its indices. */
static const struct {
  hp_decode decode;
  uint8_t index, second; /* + 1; 0: none */
} kinds[] = {
    [HP_ENCODING_UTF8] = {.decode = hp_decode_utf8},
    [HP_ENCODING_UTF16LE] = {.decode = hp_decode_utf16le},
    [HP_ENCODING_UTF16BE] = {.decode = hp_decode_utf16be},
    [HP_ENCODING_REPLACEMENT] = {.decode = hp_decode_replacement},
    [HP_ENCODING_X_USER_DEFINED] = {.decode = hp_decode_x_user_defined},
    [HP_ENCODING_SINGLE_BYTE] = {.decode = hp_decode_single_byte},
    [HP_ENCODING_GB18030] = {.decode = hp_decode_gb18030, .index = HP_INDEX_GB18030 + 1},
    [HP_ENCODING_BIG5] = {.decode = hp_decode_big5, .index = HP_INDEX_BIG5 + 1},
    [HP_ENCODING_EUC_JP] = {hp_decode_euc_jp, HP_INDEX_JIS0208 + 1, HP_INDEX_JIS0212 + 1},
    [HP_ENCODING_ISO_2022_JP] = {.decode = hp_decode_iso_2022_jp, .index = HP_INDEX_JIS0208 + 1},
    [HP_ENCODING_SHIFT_JIS] = {.decode = hp_decode_shift_jis, .index = HP_INDEX_JIS0208 + 1},
    [HP_ENCODING_EUC_KR] = {.decode = hp_decode_euc_kr, .index = HP_INDEX_EUC_KR + 1},
};
// clang-format on

hpar_status hp_decoder_open(hp_decoder *d, const hp_encoding *encoding) {
  const unsigned index = kinds[encoding->kind].index, second = kinds[encoding->kind].second;
  bool fine = true;
  memset(d, 0, offsetof(hp_decoder, out));
  d->encoding = encoding;
  d->decode = kinds[encoding->kind].decode;
  if (encoding->kind == HP_ENCODING_SINGLE_BYTE) fine = (d->table = hp_single_byte_open(encoding));
  if (index) fine = (d->table = hp_index_open((hp_index)(index - 1)));
  if (second) fine = fine && (d->second = hp_index_open((hp_index)(second - 1)));
  if (encoding->kind == HP_ENCODING_GB18030) fine = fine && (d->ranges = hp_gb18030_ranges_open());
  return fine ? HPAR_OK : HPAR_ERROR_MEMORY;
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

/* Completes the held sequence with the first new bytes. */
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
