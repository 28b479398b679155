/* The decoders of multi-byte encodings other than Unicode's: GB18030, Big5, EUC-JP, Shift_JIS,
 * EUC-KR and ISO-2022-JP. */

#include "text/encoding/decoder.h"

typedef unsigned char byte;

#define INLINE static inline __attribute__((always_inline))

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
    if (c && c->utf8[0]) {
      *out = hp_put_character(*out, c);
      at += 2;
    } else {
      *out = hp_put_replacement(*out);
      at += trail < 0x80 ? 1 : 2;
    }
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
      if (c && c->utf8[0]) {
        *out = hp_put_character(*out, c);
        at += 2;
      } else {
        *out = hp_put_replacement(*out);
        at += trail < 0x80 ? 1 : 2;
      }
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

/* What began with an escape is none: its bytes after that are read again. */
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

HP_DECODER(gb18030)
HP_DECODER(big5)
HP_DECODER(euc_jp)
HP_DECODER(shift_jis)
HP_DECODER(euc_kr)
HP_DECODER(iso_2022_jp)
