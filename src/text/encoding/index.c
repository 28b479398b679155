#include "text/encoding/index.h"

#include "base/memory.h"
#include "text/scan/utf8.h"

#include <iconv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*** tables that have been made ***/

typedef struct made {
  const void *key;
  struct made *next;
  _Alignas(max_align_t) unsigned char table[];
} made;

static _Atomic(made *) tables;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

typedef hpar_status (*maker)(const void *key, void *table);

static made *find(const void *key) {
  made *at = atomic_load_explicit(&tables, memory_order_acquire);
  while (at && at->key != key) at = at->next;
  return at;
}

static hpar_status open_table(const void *key, size_t bytes, maker make, const void **table) {
  made *one = find(key);
  hpar_status status = HPAR_OK;
  if (!one) {
    pthread_mutex_lock(&making);
    one = find(key);
    if (!one) {
      one = hp_allocate_zeroed(sizeof *one + bytes);
      status = one ? make(key, one->table) : HPAR_ERROR_MEMORY;
      if (status == HPAR_OK) {
        one->key = key;
        one->next = atomic_load_explicit(&tables, memory_order_relaxed);
        atomic_store_explicit(&tables, one, memory_order_release);
      } else {
        hp_free(one);
      }
    }
    pthread_mutex_unlock(&making);
  }
  if (status == HPAR_OK) *table = one->table;
  return status;
}

static hp_character character(uint32_t code_point) {
  hp_character c = {{0}};
  hp_put_code_point(c.utf8, code_point);
  return c;
}

/*** iconv ***/

enum { BATCH = 256, LONGEST_CODE = 4, LONGEST_LINE = 16 };

/* Writes the code of a pointer and returns its length. */
typedef unsigned (*coder)(uint32_t pointer, unsigned char *code);

/* The codes are given to iconv a line each, so that what one stands for cannot be taken for
 * another's; one that stands for nothing, or for more than one character, has no entry. */
static hpar_status ask(iconv_t converter, coder code_of, uint32_t from, uint32_t to, hp_character *table) {
  unsigned char codes[BATCH * (LONGEST_CODE + 1)];
  char lines[BATCH * LONGEST_LINE];
  size_t codes_left = 0, lines_left = sizeof lines;
  for (uint32_t pointer = from; pointer < to; pointer++) {
    codes_left += code_of(pointer, codes + codes_left);
    codes[codes_left++] = '\n';
  }
  char *in = (char *)codes, *out = lines;
  iconv(converter, NULL, NULL, NULL, NULL);
  while (iconv(converter, &in, &codes_left, &out, &lines_left) == (size_t)-1) {
    char *next = codes_left ? memchr(in, '\n', codes_left) : NULL;
    iconv(converter, NULL, NULL, &out, &lines_left);
    if (!next || lines_left < LONGEST_LINE) break;
    memcpy(out, "??\n", 3);
    out += 3;
    lines_left -= 3;
    codes_left -= (size_t)(next + 1 - in);
    in = next + 1;
  }
  const char *line = lines;
  for (uint32_t pointer = from; pointer < to; pointer++) {
    const char *end = memchr(line, '\n', (size_t)(out - line));
    if (!end) return HPAR_ERROR_UNSUPPORTED;
    bool one = line < end && (unsigned char)*line >= 0x80 && hp_utf8_sequence(line, end) == end - line;
    if (one && memcmp(line, "\xEF\xBF\xBD", 3) != 0) memcpy(table[pointer].utf8, line, (size_t)(end - line));
    line = end + 1;
  }
  return HPAR_OK;
}

static hpar_status ask_all(const char *name, coder code_of, uint32_t size, hp_character *table) {
  iconv_t converter = iconv_open("UTF-8", name);
  if (converter == (iconv_t)-1) return HPAR_ERROR_UNSUPPORTED;
  hpar_status status = HPAR_OK;
  for (uint32_t from = 0; from < size && status == HPAR_OK; from += BATCH)
    status = ask(converter, code_of, from, from + BATCH < size ? from + BATCH : size, table);
  iconv_close(converter);
  return status;
}

/*** codes of two bytes and more ***/

static unsigned char past_7f(uint32_t trail) { return (unsigned char)(trail + (trail < 0x3F ? 0x40 : 0x41)); }

static unsigned gb18030_code(uint32_t pointer, unsigned char *code) {
  code[0] = (unsigned char)(0x81 + pointer / HP_GB18030_ROW);
  code[1] = past_7f(pointer % HP_GB18030_ROW);
  return 2;
}

static unsigned big5_code(uint32_t pointer, unsigned char *code) {
  uint32_t trail = pointer % HP_BIG5_ROW;
  code[0] = (unsigned char)(0x81 + pointer / HP_BIG5_ROW);
  code[1] = (unsigned char)(trail + (trail < 0x3F ? 0x40 : 0x62));
  return 2;
}

static unsigned shift_jis_code(uint32_t pointer, unsigned char *code) {
  uint32_t lead = pointer / HP_SHIFT_JIS_ROW;
  code[0] = (unsigned char)(lead + (lead < 0x1F ? 0x81 : 0xC1));
  code[1] = past_7f(pointer % HP_SHIFT_JIS_ROW);
  return 2;
}

static unsigned jis0212_code(uint32_t pointer, unsigned char *code) {
  code[0] = 0x8F;
  code[1] = (unsigned char)(0xA1 + pointer / HP_JIS_ROW);
  code[2] = (unsigned char)(0xA1 + pointer % HP_JIS_ROW);
  return 3;
}

static unsigned euc_kr_code(uint32_t pointer, unsigned char *code) {
  code[0] = (unsigned char)(0x81 + pointer / HP_GB18030_ROW);
  code[1] = (unsigned char)(0x41 + pointer % HP_GB18030_ROW);
  return 2;
}

typedef struct difference {
  uint16_t code;
  uint16_t character;
} difference;

/* The codes for which the standard's index differs from iconv's, or versions of iconv differ. */
static const difference gb18030_differences[] = {
    {0xA3A0, 0x3000}, {0xA6D9, 0xFE10}, {0xA6DA, 0xFE12}, {0xA6DB, 0xFE11}, {0xA6DC, 0xFE13},
    {0xA6DD, 0xFE14}, {0xA6DE, 0xFE15}, {0xA6DF, 0xFE16}, {0xA6EC, 0xFE17}, {0xA6ED, 0xFE18},
    {0xA6F3, 0xFE19}, {0xFE51, 0xE816}, {0xFE52, 0xE817}, {0xFE53, 0xE818}, {0xFE59, 0x9FB4},
    {0xFE61, 0x9FB5}, {0xFE66, 0x9FB6}, {0xFE67, 0x9FB7}, {0xFE6C, 0xE831}, {0xFE6D, 0x9FB8},
    {0xFE76, 0xE83B}, {0xFE7E, 0x9FB9}, {0xFE90, 0x9FBA}, {0xFE91, 0xE855}, {0xFEA0, 0x9FBB},
};

/* HKSCS of 2004 moved characters to their places in Big5; the standard reads both. */
static const difference big5_differences[] = {
    {0x8E69, 0x7BB8}, {0x8E6F, 0x7C06}, {0x8E7E, 0x7CCE}, {0x8EAB, 0x7DD2}, {0x8EB4, 0x7E1D}, {0x8ECD, 0x8005},
    {0x8ED0, 0x8028}, {0x8F57, 0x83C1}, {0x8F69, 0x84A8}, {0x8F6E, 0x840F}, {0x8FCB, 0x89A6}, {0x8FCC, 0x89A9},
    {0x8FFE, 0x8D77}, {0x906D, 0x90FD}, {0x907A, 0x92B9}, {0x90DC, 0x975C}, {0x90F1, 0x97FF}, {0x91BF, 0x9F16},
    {0x9244, 0x8503}, {0x92AF, 0x5159}, {0x92B0, 0x515B}, {0x92B1, 0x515D}, {0x92B2, 0x515E}, {0x92C8, 0x936E},
    {0x92D1, 0x7479}, {0x9447, 0x6D67}, {0x94CA, 0x799B}, {0x95D9, 0x9097}, {0x9644, 0x975D}, {0x96ED, 0x701E},
    {0x96FC, 0x5B28}, {0x9B76, 0x7201}, {0x9B78, 0x77D7}, {0x9B7B, 0x7E87}, {0x9BC6, 0x99D6}, {0x9BDE, 0x91D4},
    {0x9BEC, 0x60DE}, {0x9BF6, 0x6FB6}, {0x9C42, 0x8F36}, {0x9C53, 0x4FBB}, {0x9C62, 0x71DF}, {0x9C68, 0x9104},
    {0x9C6B, 0x9DF0}, {0x9C77, 0x83CF}, {0x9CBC, 0x5C10}, {0x9CBD, 0x79E3}, {0x9CD0, 0x5A67}, {0x9D57, 0x8F0B},
    {0x9D5A, 0x7B51}, {0x9DC4, 0x62D0}, {0x9EA9, 0x6062}, {0x9EEF, 0x75F9}, {0x9EFD, 0x6C4A}, {0x9F60, 0x9B2E},
    {0x9F66, 0x9F17}, {0x9FCB, 0x50ED}, {0x9FD8, 0x5F0C}, {0xA063, 0x880F}, {0xA077, 0x62CE}, {0xA0D5, 0x7468},
    {0xA0DF, 0x7162}, {0xA0E4, 0x7250}, {0xA145, 0x2027}, {0xA14E, 0xFE51}, {0xA15A, 0x2574}, {0xA1C2, 0x00AF},
    {0xA1C3, 0xFFE3}, {0xA1C5, 0x02CD}, {0xA1E3, 0xFF5E}, {0xA1F2, 0x2295}, {0xA1F3, 0x2299}, {0xA1FE, 0xFF0F},
    {0xA240, 0xFF3C}, {0xA241, 0x2215}, {0xA242, 0xFE68}, {0xA244, 0xFFE5}, {0xA246, 0xFFE0}, {0xA247, 0xFFE1},
    {0xA2CC, 0x5341}, {0xA2CE, 0x5345}, {0xA3E0, 0x2421}, {0xA3E1, 0x20AC}, {0xC6CF, 0x5EF4}, {0xC6D3, 0x65E0},
    {0xC6D5, 0x7676}, {0xC6D7, 0x96B6}, {0xC6DE, 0x3003}, {0xC6DF, 0x4EDD}, {0xFA5F, 0x5029}, {0xFA66, 0x507D},
    {0xFABD, 0x5305}, {0xFAC5, 0x5344}, {0xFAD5, 0x537F}, {0xFB48, 0x5605}, {0xFBB8, 0x5A77}, {0xFBF3, 0x5E75},
    {0xFBF9, 0x5ED0}, {0xFC4F, 0x5F58}, {0xFC6C, 0x60A4}, {0xFCB9, 0x6490}, {0xFCE2, 0x6674}, {0xFCF1, 0x675E},
    {0xFDB7, 0x6C9C}, {0xFDB8, 0x6E1D}, {0xFDBB, 0x6E2F}, {0xFDF1, 0x716E}, {0xFE52, 0x732A}, {0xFE6F, 0x745C},
    {0xFEAA, 0x74E9}, {0xFEDD, 0x7809},
};

typedef struct source {
  const char *name;
  coder code_of;
  uint32_t size;
  const difference *differences;
  size_t difference_count;
} source;

#define DIFFERENCES(list) (list), sizeof(list) / sizeof *(list)

static const source sources[HP_INDEXES] = {
    [HP_INDEX_GB18030] = {"GB18030", gb18030_code, 126 * HP_GB18030_ROW, DIFFERENCES(gb18030_differences)},
    [HP_INDEX_BIG5] = {"BIG5-HKSCS", big5_code, 126 * HP_BIG5_ROW, DIFFERENCES(big5_differences)},
    [HP_INDEX_JIS0208] = {"CP932", shift_jis_code, 60 * HP_SHIFT_JIS_ROW, NULL, 0},
    [HP_INDEX_JIS0212] = {"EUC-JP", jis0212_code, HP_JIS_ROW *HP_JIS_ROW, NULL, 0},
    [HP_INDEX_EUC_KR] = {"UHC", euc_kr_code, 126 * HP_GB18030_ROW, NULL, 0},
};

uint32_t hp_index_size(hp_index index) { return sources[index].size; }

/* Big5: these stand for a letter and a combining accent each. */
static void add_pairs(hp_character *table) {
  table[1133] = (hp_character){{'\xC3', '\x8A', '\xCC', '\x84'}};
  table[1135] = (hp_character){{'\xC3', '\x8A', '\xCC', '\x8C'}};
  table[1164] = (hp_character){{'\xC3', '\xAA', '\xCC', '\x84'}};
  table[1166] = (hp_character){{'\xC3', '\xAA', '\xCC', '\x8C'}};
}

/* The row of control pictures, which HKSCS leaves out. */
static void add_control_pictures(hp_character *table) {
  for (uint32_t i = 0; i < 32; i++) table[5432 + i] = character(0x2400 + i);
}

static hpar_status make_index(const void *key, void *table) {
  const source *s = key;
  hp_character *entries = table;
  hpar_status status = ask_all(s->name, s->code_of, s->size, entries);
  if (status != HPAR_OK) return status;
  for (uint32_t pointer = 0, done = 0; done < s->difference_count && pointer < s->size; pointer++) {
    unsigned char code[LONGEST_CODE];
    s->code_of(pointer, code);
    if ((code[0] << 8 | code[1]) != s->differences[done].code) continue;
    entries[pointer] = character(s->differences[done++].character);
  }
  if (s == &sources[HP_INDEX_BIG5]) {
    add_pairs(entries);
    add_control_pictures(entries);
  }
  return HPAR_OK;
}

hpar_status hp_index_open(hp_index index, const hp_character **table) {
  const source *s = &sources[index];
  const void *made_table = NULL;
  hpar_status status = open_table(s, s->size * sizeof **table, make_index, &made_table);
  if (status == HPAR_OK) *table = made_table;
  return status;
}

/*** four bytes of GB18030 ***/

/* The 25 characters that lost a code of two bytes, or got one, after the four-byte codes had
 * been dealt out. */
static bool has_two_bytes(const unsigned char *used, uint32_t c) {
  if ((c >= 0x9FB4 && c <= 0x9FBB) || (c >= 0xFE10 && c <= 0xFE19)) return false;
  if ((c >= 0xE78D && c <= 0xE796) || c == 0xE5E5 || c == 0xE7C7) return true;
  switch (c) {
    case 0x1E3F: return false;
    case 0xE81E:
    case 0xE826:
    case 0xE82B:
    case 0xE82C:
    case 0xE832:
    case 0xE843:
    case 0xE854:
    case 0xE864: return true;
    default: return used[c >> 3] >> (c & 7) & 1;
  }
}

/* They stand for what has no code of two bytes, in order, and U+E7C7 for the place of U+1E3F. */
static hpar_status make_ranges(const void *key, void *table) {
  (void)key;
  const hp_character *two_bytes;
  hpar_status status = hp_index_open(HP_INDEX_GB18030, &two_bytes);
  if (status != HPAR_OK) return status;
  uint16_t *entries = table;
  unsigned char used[0x10000 / 8] = {0};
  for (uint32_t i = 0; i < hp_index_size(HP_INDEX_GB18030); i++) {
    const unsigned char *u = (const unsigned char *)two_bytes[i].utf8;
    uint32_t c = u[0] < 0xE0 ? (uint32_t)(u[0] & 0x1F) << 6 | (u[1] & 0x3F)
                             : (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
    used[c >> 3] |= (unsigned char)(1 << (c & 7));
  }
  uint32_t pointer = 0;
  for (uint32_t c = 0x80; c < 0x10000 && pointer < HP_GB18030_FOUR_BYTES; c++) {
    if ((c >= 0xD800 && c < 0xE000) || has_two_bytes(used, c)) continue;
    entries[pointer++] = (uint16_t)(c == 0x1E3F ? 0xE7C7 : c);
  }
  return pointer == HP_GB18030_FOUR_BYTES ? HPAR_OK : HPAR_ERROR_UNSUPPORTED;
}

hpar_status hp_gb18030_ranges_open(const uint16_t **table) {
  static const char key = 0;
  const void *made_table = NULL;
  const hp_character *two_bytes;
  hpar_status status = hp_index_open(HP_INDEX_GB18030, &two_bytes); /* takes the lock */
  if (status == HPAR_OK) status = open_table(&key, HP_GB18030_FOUR_BYTES * sizeof **table, make_ranges, &made_table);
  if (status == HPAR_OK) *table = made_table;
  return status;
}

/*** single bytes ***/

static unsigned single_byte_code(uint32_t pointer, unsigned char *code) {
  code[0] = (unsigned char)pointer;
  return 1;
}

static const struct {
  const char *name;
  unsigned char byte;
  uint16_t character;
} single_byte_differences[] = {
    {"KOI8-U", 0xAE, 0x045E},    {"KOI8-U", 0xBE, 0x040E},       {"macintosh", 0xC6, 0x2206},
    {"macintosh", 0xF0, 0xF8FF}, {"windows-1255", 0xCA, 0x05BA}, {"x-mac-cyrillic", 0xFF, 0x20AC},
};

/* 80 to 9F, here so that the fallback needs no iconv. */
static const uint16_t windows1252_upper[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

static hpar_status make_single_byte(const void *key, void *table) {
  const hp_encoding *encoding = key;
  const char *name = encoding->name;
  hp_character *entries = table;
  for (uint32_t byte = 0; byte < 0x80; byte++) entries[byte].utf8[0] = (char)byte;
  if (encoding == &hp_windows1252) {
    for (uint32_t byte = 0x80; byte < 0x100; byte++)
      entries[byte] = character(byte < 0xA0 ? windows1252_upper[byte - 0x80] : byte);
    return HPAR_OK;
  }
  char iconv_name[16];
  bool windows = !strncmp(name, "windows-", 8);
  if (windows)
    snprintf(iconv_name, sizeof iconv_name, "CP%s", name + 8);
  else if (!strcmp(name, "x-mac-cyrillic"))
    strcpy(iconv_name, "MAC-CYRILLIC");
  else if (!strcmp(name, "ISO-8859-8-I"))
    strcpy(iconv_name, "ISO-8859-8");
  else
    snprintf(iconv_name, sizeof iconv_name, "%s", name);
  iconv_t converter = iconv_open("UTF-8", iconv_name);
  if (converter == (iconv_t)-1) return HPAR_ERROR_UNSUPPORTED; // NOLINT: nothing was opened
  hpar_status status = ask(converter, single_byte_code, 0x80, 0x100, entries);
  iconv_close(converter);
  if (status != HPAR_OK) return status;
  for (size_t i = 0; i < sizeof single_byte_differences / sizeof *single_byte_differences; i++)
    if (!strcmp(name, single_byte_differences[i].name))
      entries[single_byte_differences[i].byte] = character(single_byte_differences[i].character);
  for (uint32_t byte = 0x80; byte < 0x100; byte++)
    if (!entries[byte].utf8[0]) entries[byte] = character(windows && byte < 0xA0 ? byte : 0xFFFD);
  return HPAR_OK;
}

hpar_status hp_single_byte_open(const hp_encoding *encoding, const hp_character **table) {
  const void *made_table = NULL;
  hpar_status status = open_table(encoding, 256 * sizeof **table, make_single_byte, &made_table);
  if (status == HPAR_OK) *table = made_table;
  return status;
}
