/* The decoders read as many whole sequences as there are; the rest of one, three bytes at most,
 * waits in the decoder for the next call. Runs of ASCII are copied 16 bytes at a time, and a
 * character beyond it is a look into a table that holds UTF-8 and one store. */

#include "text/encoding/decode.h"

#include "base/memory.h"
#include "text/encoding/decoder.h"
#include "text/scan/scan.h"
#include "text/scan/utf8.h"

#include <string.h>

typedef unsigned char byte;

#define HIGH_BITS UINT64_C(0x8080808080808080)

static inline char *put_replacement(char *out) {
  memcpy(out, "\xEF\xBF\xBD", 3);
  return out + 3;
}

/* Stores four bytes, of which those count that the character has. */
static inline char *put_character(char *out, const hp_character *c) {
  memcpy(out, c->utf8, 4);
  byte first = (byte)c->utf8[0];
  return out + 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0);
}

/* How many bytes in memory precede the first whose high bit is set in the word. */
static inline unsigned before_high(uint64_t high) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (unsigned)__builtin_clzll(high) / 8;
#else
  return (unsigned)__builtin_ctzll(high) / 8;
#endif
}

/* Copies the bytes before the next one that is not ASCII. It stores whole words, because the
 * output has three bytes per byte of input. */
static inline const byte *copy_ascii(const byte *at, const byte *end, char **out) {
  char *to = *out;
  while (end - at >= 16) {
    uint64_t a, b;
    memcpy(&a, at, 8);
    memcpy(&b, at + 8, 8);
    memcpy(to, &a, 8);
    memcpy(to + 8, &b, 8);
    a &= HIGH_BITS;
    b &= HIGH_BITS;
    if (a | b) {
      unsigned count = a ? before_high(a) : 8 + before_high(b);
      *out = to + count;
      return at + count;
    }
    at += 16;
    to += 16;
  }
  while (at < end && *at < 0x80) *to++ = (char)*at++;
  *out = to;
  return at;
}

static inline const byte *pass_ascii(const byte *at, const byte *end, char **out) {
  return at < end && *at < 0x80 ? copy_ascii(at, end, out) : at;
}

#define INLINE static inline __attribute__((always_inline))

//§ single-byte-decoder, of the Encoding Standard, as are all below
INLINE const byte *decode_single_byte(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  (void)last;
  while ((at = pass_ascii(at, end, out)) < end) {
    const byte *stop = end - at > 8 ? at + 8 : end;
    while (at < stop) *out = put_character(*out, &table[*at++]);
  }
  return at;
}

//§ x-user-defined-decoder
INLINE const byte *decode_x_user_defined(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)d;
  (void)last;
  for (; (at = copy_ascii(at, end, out)) < end; at++) *out = hp_put_code_point(*out, 0xF780u + *at - 0x80);
  return at;
}

//§ replacement-decoder
INLINE const byte *decode_replacement(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  (void)last;
  if (at < end && !d->replaced) *out = put_replacement(*out);
  if (at < end) d->replaced = true;
  return end;
}

/* A sequence that the bytes end in: an error if they are the last. */
static const byte *unfinished(const byte *at, const byte *end, bool last, char **out) {
  if (!last) return at;
  *out = put_replacement(*out);
  return end;
}

static char *put_four_bytes(hp_decoder *d, char *out, const byte *code) {
  uint32_t pointer = (((code[0] - 0x81u) * 10 + code[1] - 0x30) * 126 + code[2] - 0x81) * 10 + code[3] - 0x30;
  if (pointer < HP_GB18030_FOUR_BYTES) return hp_put_code_point(out, d->ranges[pointer]);
  if (pointer < 189000 || pointer > 1237575) return put_replacement(out);
  return hp_put_code_point(out, 0x10000 + pointer - 189000);
}

static inline bool is_digit(byte b) { return b >= '0' && b <= '9'; }
static inline bool is_gb_lead(byte b) { return b >= 0x81 && b <= 0xFE; }

//§ gb18030-decoder
INLINE const byte *decode_gb18030(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead == 0x80) {
      *out = hp_put_code_point(*out, 0x20AC);
      at++;
      continue;
    }
    if (lead == 0xFF) {
      *out = put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return unfinished(at, end, last, out);
    byte trail = at[1];
    if (is_digit(trail)) {
      if (end - at < 3 || (end - at < 4 && is_gb_lead(at[2]))) return unfinished(at, end, last, out);
      if (is_gb_lead(at[2]) && is_digit(at[3])) {
        *out = put_four_bytes(d, *out, at);
        at += 4;
      } else {
        *out = put_replacement(*out);
        at++;
      }
      continue;
    }
    if (trail >= 0x40 && trail != 0x7F && trail != 0xFF) {
      uint32_t pointer = (lead - 0x81u) * HP_GB18030_ROW + trail - (trail < 0x7F ? 0x40 : 0x41);
      if (table[pointer].utf8[0]) {
        *out = put_character(*out, &table[pointer]);
        at += 2;
        continue;
      }
    }
    *out = put_replacement(*out);
    at += trail < 0x80 ? 1 : 2;
  }
  return at;
}

//§ big5-decoder
INLINE const byte *decode_big5(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead == 0x80 || lead == 0xFF) {
      *out = put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return unfinished(at, end, last, out);
    byte trail = at[1];
    const hp_character *c = NULL;
    if ((trail >= 0x40 && trail <= 0x7E) || (trail >= 0xA1 && trail <= 0xFE)) {
      uint32_t pointer = (lead - 0x81u) * HP_BIG5_ROW + trail - (trail < 0x7F ? 0x40 : 0x62);
      c = &table[pointer];
    }
    if (c && c->utf8[0]) {
      bool pair = (byte)c->utf8[0] < 0xE0 && c->utf8[2]; /* a letter and an accent */
      *out = put_character(*out, c) + (pair ? 2 : 0);
      at += 2;
    } else {
      *out = put_replacement(*out);
      at += trail < 0x80 ? 1 : 2;
    }
  }
  return at;
}

static inline bool is_euc(byte b) { return b >= 0xA1 && b <= 0xFE; }

//§ euc-jp-decoder
INLINE const byte *decode_euc_jp(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  while ((at = pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead != 0x8E && lead != 0x8F && !is_euc(lead)) {
      *out = put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return unfinished(at, end, last, out);
    byte trail = at[1];
    if (lead == 0x8E && trail >= 0xA1 && trail <= 0xDF) {
      *out = hp_put_code_point(*out, 0xFF61u + trail - 0xA1);
      at += 2;
      continue;
    }
    const hp_character *table = d->table;
    if (lead == 0x8F && is_euc(trail)) {
      if (end - at < 3) return unfinished(at, end, last, out);
      table = d->second;
      at++;
      lead = trail;
      trail = at[1];
    }
    const hp_character *c = NULL;
    if (is_euc(lead) && is_euc(trail)) c = &table[(lead - 0xA1u) * HP_JIS_ROW + trail - 0xA1];
    if (c && c->utf8[0]) {
      *out = put_character(*out, c);
      at += 2;
    } else {
      *out = put_replacement(*out);
      at += trail < 0x80 ? 1 : 2;
    }
  }
  return at;
}

//§ shift_jis-decoder
INLINE const byte *decode_shift_jis(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (lead == 0x80) {
      *out = hp_put_code_point(*out, lead);
      at++;
    } else if (lead >= 0xA1 && lead <= 0xDF) {
      *out = hp_put_code_point(*out, 0xFF61u + lead - 0xA1);
      at++;
    } else if (lead == 0xA0 || lead > 0xFC) {
      *out = put_replacement(*out);
      at++;
    } else {
      if (end - at < 2) return unfinished(at, end, last, out);
      byte trail = at[1];
      const hp_character *c = NULL;
      if (trail >= 0x40 && trail != 0x7F && trail <= 0xFC) {
        uint32_t row = lead - (lead < 0xA0 ? 0x81u : 0xC1u);
        c = &table[row * HP_SHIFT_JIS_ROW + trail - (trail < 0x7F ? 0x40 : 0x41)];
      }
      if (c && c->utf8[0]) {
        *out = put_character(*out, c);
        at += 2;
      } else {
        *out = put_replacement(*out);
        at += trail < 0x80 ? 1 : 2;
      }
    }
  }
  return at;
}

//§ euc-kr-decoder
INLINE const byte *decode_euc_kr(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) {
  const hp_character *table = d->table;
  while ((at = pass_ascii(at, end, out)) < end) {
    byte lead = *at;
    if (!is_gb_lead(lead)) {
      *out = put_replacement(*out);
      at++;
      continue;
    }
    if (end - at < 2) return unfinished(at, end, last, out);
    byte trail = at[1];
    const hp_character *c = NULL;
    if (trail >= 0x41 && trail <= 0xFE) c = &table[(lead - 0x81u) * HP_GB18030_ROW + trail - 0x41];
    if (c && c->utf8[0]) {
      *out = put_character(*out, c);
      at += 2;
    } else {
      *out = put_replacement(*out);
      at += trail < 0x80 ? 1 : 2;
    }
  }
  return at;
}

enum { ISO_ASCII, ISO_ROMAN, ISO_KATAKANA, ISO_LEAD, ISO_TRAIL, ISO_ESCAPE_START, ISO_ESCAPE };

static char *iso_2022_jp_byte(hp_decoder *d, byte b, char *out);

/* What began with an escape is none: its bytes after that are read again. */
static char *no_escape(hp_decoder *d, char *out) {
  d->iso.output = false;
  d->iso.state = d->iso.output_state;
  return put_replacement(out);
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
      return error ? put_replacement(out) : out;
    }
    out = no_escape(d, out);
    out = iso_2022_jp_byte(d, lead, out); /* once: it begins no escape */
  }
  if (b == 0x1B) {
    bool broken = d->iso.state == ISO_TRAIL;
    d->iso.state = ISO_ESCAPE_START;
    return broken ? put_replacement(out) : out;
  }
  if (d->iso.state == ISO_TRAIL) {
    d->iso.state = ISO_LEAD;
    if (b < 0x21 || b > 0x7E) return put_replacement(out);
    const hp_character *c = &d->table[(d->iso.lead - 0x21u) * HP_JIS_ROW + b - 0x21];
    return c->utf8[0] ? put_character(out, c) : put_replacement(out);
  }
  d->iso.output = false;
  switch (d->iso.state) {
    case ISO_LEAD:
      if (b < 0x21 || b > 0x7E) return put_replacement(out);
      d->iso.lead = b;
      d->iso.state = ISO_TRAIL;
      return out;
    case ISO_KATAKANA:
      if (b < 0x21 || b > 0x5F) return put_replacement(out);
      return hp_put_code_point(out, 0xFF61u + b - 0x21);
    default: break;
  }
  if (b >= 0x80 || b == 0x0E || b == 0x0F) return put_replacement(out);
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
  if (d->iso.state == ISO_TRAIL || d->iso.state == ISO_ESCAPE_START) *out = put_replacement(*out);
  memset(&d->iso, 0, sizeof d->iso);
  return at;
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
      return unfinished(at, end, last, out);
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
    if (is_cut_short(at, end, length)) return unfinished(at, end, last, out);
    if (length > 0) {
      memcpy(*out, at, (size_t)length);
      *out += length;
      at += length;
    } else {
      *out = put_replacement(*out);
      at -= length;
    }
  }
  return at;
}

/* Inlined into these, the decoders have the end of the text in a register. */
#define DECODER(name)                                                                              \
  static const byte *name(hp_decoder *d, const byte *at, const byte *end, bool last, char **out) { \
    char *to = *out;                                                                               \
    at = decode_##name(d, at, end, last, &to);                                                     \
    *out = to;                                                                                     \
    return at;                                                                                     \
  }
DECODER(single_byte)
DECODER(x_user_defined)
DECODER(replacement)
DECODER(gb18030)
DECODER(big5)
DECODER(euc_jp)
DECODER(shift_jis)
DECODER(euc_kr)
DECODER(iso_2022_jp)
DECODER(utf16le)
DECODER(utf16be)
DECODER(utf8)
#undef DECODER

hpar_status hp_decoder_open(hp_decoder *d, const hp_encoding *encoding) {
  hpar_status status = HPAR_OK;
  memset(d, 0, offsetof(hp_decoder, out));
  d->encoding = encoding;
  switch (encoding->kind) {
    case HP_ENCODING_UTF8: d->decode = utf8; break;
    case HP_ENCODING_UTF16LE: d->decode = utf16le; break;
    case HP_ENCODING_UTF16BE: d->decode = utf16be; break;
    case HP_ENCODING_REPLACEMENT: d->decode = replacement; break;
    case HP_ENCODING_X_USER_DEFINED: d->decode = x_user_defined; break;
    case HP_ENCODING_SINGLE_BYTE:
      d->decode = single_byte;
      status = hp_single_byte_open(encoding, &d->table);
      break;
    case HP_ENCODING_GB18030:
      d->decode = gb18030;
      status = hp_index_open(HP_INDEX_GB18030, &d->table);
      if (status == HPAR_OK) status = hp_gb18030_ranges_open(&d->ranges);
      break;
    case HP_ENCODING_BIG5:
      d->decode = big5;
      status = hp_index_open(HP_INDEX_BIG5, &d->table);
      break;
    case HP_ENCODING_EUC_JP:
      d->decode = euc_jp;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      if (status == HPAR_OK) status = hp_index_open(HP_INDEX_JIS0212, &d->second);
      break;
    case HP_ENCODING_ISO_2022_JP:
      d->decode = iso_2022_jp;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      break;
    case HP_ENCODING_SHIFT_JIS:
      d->decode = shift_jis;
      status = hp_index_open(HP_INDEX_JIS0208, &d->table);
      break;
    case HP_ENCODING_EUC_KR:
      d->decode = euc_kr;
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
    at = utf8(d, at, stop, last && stop == end, &out);
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
  while (d->waiting_count && (at < end || last)) {
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
