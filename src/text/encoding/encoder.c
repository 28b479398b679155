#include "text/encoding/decoder.h"

#include <stdlib.h>
#include <string.h>

/*** the inverse of an index ***/

/* Which pointers of an index an encoding has. */
typedef struct inversion {
  hp_index index;
  uint32_t from, to;               /* only these */
  uint32_t except_from, except_to; /* and not these */
  bool takes_last;                 /* for some characters the last pointer, not the first */
} inversion;

enum { BIG5_FIRST = 5024, SHIFT_JIS_NEC = 8272, SHIFT_JIS_NEC_END = 8836, EUC_JP_END = 94 * HP_JIS_ROW };

static const inversion inversions[] = {
    [HP_ENCODING_GB18030] = {HP_INDEX_GB18030, 0, UINT32_MAX, 0, 0, false},
    [HP_ENCODING_BIG5] = {HP_INDEX_BIG5, BIG5_FIRST, UINT32_MAX, 0, 0, true},
    [HP_ENCODING_EUC_JP] = {HP_INDEX_JIS0208, 0, EUC_JP_END, 0, 0, false},
    [HP_ENCODING_SHIFT_JIS] = {HP_INDEX_JIS0208, 0, UINT32_MAX, SHIFT_JIS_NEC, SHIFT_JIS_NEC_END, false},
    [HP_ENCODING_EUC_KR] = {HP_INDEX_EUC_KR, 0, UINT32_MAX, 0, 0, false},
};
static const inversion jis0212 = {HP_INDEX_JIS0212, 0, UINT32_MAX, 0, 0, false};

static int compare_entries(const void *left, const void *right) {
  const hp_inverse_entry *a = left, *b = right;
  if (a->character != b->character) return a->character < b->character ? -1 : 1;
  return a->pointer < b->pointer ? -1 : a->pointer > b->pointer;
}

//§ index-big5-pointer
static bool has_last_pointer(uint32_t c) {
  return c == 0x2550 || c == 0x255E || c == 0x2561 || c == 0x256A || c == 0x5341 || c == 0x5345;
}

static void make_inverse(const void *key, void *table) {
  const inversion *of = key;
  hp_inverse *inverse = table;
  const hp_character *entries = hp_index_open(of->index);
  hp_inverse_entry *to = inverse->entries;
  uint32_t count = 0, kept = 0, size = hp_index_size(of->index);
  for (uint32_t pointer = of->from; pointer < size && pointer < of->to; pointer++) {
    uint32_t c = hp_code_point_of(&entries[pointer]);
    if (c && (pointer < of->except_from || pointer >= of->except_to)) to[count++] = (hp_inverse_entry){c, pointer};
  }
  qsort(to, count, sizeof *to, compare_entries);
  for (uint32_t i = 0; i < count; i++) {
    if (!kept || to[kept - 1].character != to[i].character)
      to[kept++] = to[i];
    else if (of->takes_last && has_last_pointer(to[i].character))
      to[kept - 1] = to[i];
  }
  inverse->count = kept;
}

static const hp_inverse *open_inverse(const inversion *of) {
  if (!hp_index_open(of->index)) return NULL;
  return hp_table_open(of, sizeof(hp_inverse) + hp_index_size(of->index) * sizeof(hp_inverse_entry), make_inverse);
}

hpar_status hp_encoder_open(hp_encoder *e, const hp_encoding *encoding) {
  *e = (hp_encoder){.encoding = encoding};
  switch (encoding->kind) {
    case HP_ENCODING_X_USER_DEFINED: return HPAR_OK;
    case HP_ENCODING_SINGLE_BYTE:
      e->single = hp_single_byte_open(encoding);
      return e->single ? HPAR_OK : HPAR_ERROR_MEMORY;
    case HP_ENCODING_GB18030:
      if (!(e->ranges = hp_gb18030_ranges_open())) return HPAR_ERROR_MEMORY;
      break;
    case HP_ENCODING_EUC_JP:
      if (!(e->second = open_inverse(&jis0212))) return HPAR_ERROR_MEMORY;
      break;
    case HP_ENCODING_BIG5:
    case HP_ENCODING_SHIFT_JIS:
    case HP_ENCODING_EUC_KR: break;
    default: return HPAR_ERROR_UNSUPPORTED;
  }
  e->inverse = open_inverse(&inversions[encoding->kind]);
  return e->inverse ? HPAR_OK : HPAR_ERROR_MEMORY;
}

/*** codes ***/

/* Returns the pointer of the character, or UINT32_MAX. */
static uint32_t pointer_of(const hp_inverse *inverse, uint32_t c) {
  uint32_t low = 0, high = inverse->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (inverse->entries[middle].character < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low < inverse->count && inverse->entries[low].character == c ? inverse->entries[low].pointer : UINT32_MAX;
}

static size_t put_two(unsigned char *code, uint32_t lead, uint32_t trail) {
  code[0] = (unsigned char)lead;
  code[1] = (unsigned char)trail;
  return 2;
}

//§ single-byte-encoder
static size_t encode_single(const hp_character *table, uint32_t c, unsigned char *code) {
  for (uint32_t byte = 0x80; byte < 0x100; byte++) {
    if (c == 0xFFFD || hp_code_point_of(&table[byte]) != c) continue;
    code[0] = (unsigned char)byte;
    return 1;
  }
  return 0;
}

/* Returns the pointer of a code of four bytes, or UINT32_MAX. */
//§ index-gb18030-ranges-pointer
static uint32_t ranges_pointer(const uint16_t *ranges, uint32_t c) {
  uint32_t low = 0, high = HP_GB18030_FOUR_BYTES;
  if (c >= 0x10000) return 189000 + c - 0x10000;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ranges[middle] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low < HP_GB18030_FOUR_BYTES && ranges[low] == c ? low : UINT32_MAX;
}

//§ gb18030-encoder
static size_t encode_gb18030(const hp_encoder *e, uint32_t c, unsigned char *code) {
  bool is_gbk = !strcmp(e->encoding->name, "GBK");
  if (is_gbk && c == 0x20AC) {
    code[0] = 0x80;
    return 1;
  }
  uint32_t pointer = pointer_of(e->inverse, c);
  if (pointer != UINT32_MAX) {
    uint32_t trail = pointer % HP_GB18030_ROW;
    return put_two(code, pointer / HP_GB18030_ROW + 0x81, trail + (trail < 0x3F ? 0x40 : 0x41));
  }
  if (is_gbk || (pointer = ranges_pointer(e->ranges, c)) == UINT32_MAX) return 0;
  put_two(code, pointer / 12600 + 0x81, pointer / 1260 % 10 + 0x30);
  put_two(code + 2, pointer / 10 % 126 + 0x81, pointer % 10 + 0x30);
  return 4;
}

//§ big5-encoder
static size_t encode_big5(const hp_encoder *e, uint32_t c, unsigned char *code) {
  uint32_t pointer = pointer_of(e->inverse, c), trail = pointer % HP_BIG5_ROW;
  if (pointer == UINT32_MAX) return 0;
  return put_two(code, pointer / HP_BIG5_ROW + 0x81, trail + (trail < 0x3F ? 0x40 : 0x62));
}

static bool is_half_width(uint32_t c) { return c >= 0xFF61 && c <= 0xFF9F; }

//§ euc-jp-encoder
static size_t encode_euc_jp(const hp_encoder *e, uint32_t c, unsigned char *code) {
  if (is_half_width(c)) return put_two(code, 0x8E, c - 0xFF61 + 0xA1);
  uint32_t pointer = pointer_of(e->inverse, c);
  if (pointer != UINT32_MAX) return put_two(code, pointer / HP_JIS_ROW + 0xA1, pointer % HP_JIS_ROW + 0xA1);
  pointer = pointer_of(e->second, c);
  if (pointer == UINT32_MAX) return 0;
  code[0] = 0x8F;
  return 1 + put_two(code + 1, pointer / HP_JIS_ROW + 0xA1, pointer % HP_JIS_ROW + 0xA1);
}

//§ shift_jis-encoder
static size_t encode_shift_jis(const hp_encoder *e, uint32_t c, unsigned char *code) {
  if (c == 0x80 || is_half_width(c)) {
    code[0] = (unsigned char)(c == 0x80 ? c : c - 0xFF61 + 0xA1);
    return 1;
  }
  uint32_t pointer = pointer_of(e->inverse, c);
  if (pointer == UINT32_MAX) return 0;
  uint32_t lead = pointer / HP_SHIFT_JIS_ROW, trail = pointer % HP_SHIFT_JIS_ROW;
  return put_two(code, lead + (lead < 0x1F ? 0x81 : 0xC1), trail + (trail < 0x3F ? 0x40 : 0x41));
}

//§ euc-kr-encoder
static size_t encode_euc_kr(const hp_encoder *e, uint32_t c, unsigned char *code) {
  uint32_t pointer = pointer_of(e->inverse, c);
  if (pointer == UINT32_MAX) return 0;
  return put_two(code, pointer / HP_GB18030_ROW + 0x81, pointer % HP_GB18030_ROW + 0x41);
}

//§ x-user-defined-encoder
static size_t encode_x_user_defined(uint32_t c, unsigned char *code) {
  if (c < 0xF780 || c > 0xF7FF) return 0;
  code[0] = (unsigned char)(c - 0xF780 + 0x80);
  return 1;
}

size_t hp_encode_character(const hp_encoder *e, uint32_t c, unsigned char code[HP_MAX_CODE]) {
  switch (e->encoding->kind) {
    case HP_ENCODING_SINGLE_BYTE: return encode_single(e->single, c, code);
    case HP_ENCODING_GB18030: return encode_gb18030(e, c, code);
    case HP_ENCODING_BIG5: return encode_big5(e, c, code);
    case HP_ENCODING_EUC_JP: return encode_euc_jp(e, c, code);
    case HP_ENCODING_SHIFT_JIS: return encode_shift_jis(e, c, code);
    case HP_ENCODING_EUC_KR: return encode_euc_kr(e, c, code);
    case HP_ENCODING_X_USER_DEFINED: return encode_x_user_defined(c, code);
    default: return 0;
  }
}
