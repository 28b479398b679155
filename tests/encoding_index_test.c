/* Compares the tables of the encodings with those that the system's iconv and the corrections of
 * the Encoding Standard give. `encoding_index_test --write` prints index_data.c instead. */

#include "base/bytes.h"
#include "check.h"
#include "text/encoding/decoder.h"

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static bool ask(iconv_t converter, coder code_of, uint32_t from, uint32_t to, hp_character *table) {
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
    if (!end) return false;
    bool one = line < end && (unsigned char)*line >= 0x80 && hp_utf8_sequence(line, end) == end - line;
    if (one && memcmp(line, "\xEF\xBF\xBD", 3) != 0) memcpy(table[pointer].utf8, line, (size_t)(end - line));
    line = end + 1;
  }
  return true;
}

static bool ask_all(const char *name, coder code_of, uint32_t size, hp_character *table) {
  iconv_t converter = iconv_open("UTF-8", name);
  if (converter == (iconv_t)-1) return false;
  bool known = true;
  for (uint32_t from = 0; from < size && known; from += BATCH)
    known = ask(converter, code_of, from, from + BATCH < size ? from + BATCH : size, table);
  iconv_close(converter);
  return known;
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

/* The row of control pictures, which HKSCS leaves out. */
static void add_control_pictures(hp_character *table) {
  for (uint32_t i = 0; i < 32; i++) table[5432 + i] = character(0x2400 + i);
}

#define DIFFERENCES(list) (list), sizeof(list) / sizeof *(list)

static const struct {
  const char *name, *iconv_name;
  coder code_of;
  const difference *differences;
  size_t difference_count;
} indexes[HP_INDEXES] = {
    [HP_INDEX_GB18030] = {"gb18030", "GB18030", gb18030_code, DIFFERENCES(gb18030_differences)},
    [HP_INDEX_BIG5] = {"big5", "BIG5-HKSCS", big5_code, DIFFERENCES(big5_differences)},
    [HP_INDEX_JIS0208] = {"jis0208", "CP932", shift_jis_code, NULL, 0},
    [HP_INDEX_JIS0212] = {"jis0212", "EUC-JP", jis0212_code, NULL, 0},
    [HP_INDEX_EUC_KR] = {"euc_kr", "UHC", euc_kr_code, NULL, 0},
};

/* Fills the table of the index. Returns false if the system's iconv lacks its encoding. */
static bool make_index(hp_index index, hp_character *table) {
  if (!ask_all(indexes[index].iconv_name, indexes[index].code_of, hp_index_size(index), table)) return false;
  const difference *at = indexes[index].differences, *end = at + indexes[index].difference_count;
  for (uint32_t pointer = 0; at < end && pointer < hp_index_size(index); pointer++) {
    unsigned char code[LONGEST_CODE];
    indexes[index].code_of(pointer, code);
    if ((code[0] << 8 | code[1]) == at->code) table[pointer] = character(at++->character);
  }
  if (index == HP_INDEX_BIG5) add_control_pictures(table);
  return true;
}

/*** single bytes ***/

static const char *const single_byte_names[] = {
    "windows-1252", "IBM866",       "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",   "ISO-8859-5",   "ISO-8859-6",
    "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-8-I", "ISO-8859-10",  "ISO-8859-13",  "ISO-8859-14",  "ISO-8859-15",
    "ISO-8859-16",  "KOI8-R",       "KOI8-U",       "macintosh",    "windows-874",  "windows-1250", "windows-1251",
    "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic",
};
enum { SINGLE_BYTES = sizeof single_byte_names / sizeof *single_byte_names };

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

/* 80 to 9F of windows-1252. */
static const uint16_t windows1252_upper[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

static const char *iconv_name_of(const char *name, char *memory, size_t size) {
  if (!strncmp(name, "windows-", 8)) {
    snprintf(memory, size, "CP%s", name + 8);
    return memory;
  }
  if (!strcmp(name, "x-mac-cyrillic")) return "MAC-CYRILLIC";
  return strcmp(name, "ISO-8859-8-I") ? name : "ISO-8859-8";
}

/* Fills the table of 256 bytes. Returns false if the system's iconv lacks the encoding. */
static bool make_single_byte(const char *name, hp_character *table) {
  for (uint32_t byte = 0; byte < 0x80; byte++) table[byte].utf8[0] = (char)byte;
  if (!strcmp(name, "windows-1252")) {
    for (uint32_t byte = 0x80; byte < 0x100; byte++)
      table[byte] = character(byte < 0xA0 ? windows1252_upper[byte - 0x80] : byte);
    return true;
  }
  char memory[16];
  iconv_t converter = iconv_open("UTF-8", iconv_name_of(name, memory, sizeof memory));
  if (converter == (iconv_t)-1) return false;
  bool known = ask(converter, single_byte_code, 0x80, 0x100, table);
  iconv_close(converter);
  if (!known) return false;
  for (size_t i = 0; i < sizeof single_byte_differences / sizeof *single_byte_differences; i++)
    if (!strcmp(name, single_byte_differences[i].name))
      table[single_byte_differences[i].byte] = character(single_byte_differences[i].character);
  bool windows = !strncmp(name, "windows-", 8);
  for (uint32_t byte = 0x80; byte < 0x100; byte++)
    if (!table[byte].utf8[0]) table[byte] = character(windows && byte < 0xA0 ? byte : 0xFFFD);
  return true;
}

/*** packing ***/

static unsigned column;

/* Writes a byte of a string literal. A line has at most 1000 columns, because nobody reads it. A
 * digit that would continue an octal escape is one, too. */
static void put(unsigned byte) {
  static bool may_continue;
  unsigned char c = (unsigned char)byte;
  if (column >= 995) {
    puts("\"");
    column = 0;
  }
  if (!column) column += (unsigned)printf("    \"");
  bool plain = c >= ' ' && c < 0x7F && c != '"' && c != '\\' && c != '?' && !(may_continue && c >= '0' && c < '8');
  column += (unsigned)printf(plain ? "%c" : "\\%o", c);
  may_continue = !plain && c < 0100;
}

static uint32_t code_point(const hp_character *character) {
  const unsigned char *u = (const unsigned char *)character->utf8;
  if (u[0] < 0x80) return u[0];
  if (u[0] < 0xE0) return (uint32_t)(u[0] & 0x1F) << 6 | (u[1] & 0x3F);
  uint32_t three = (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
  return u[0] < 0xF0 ? three : (three & 0x7FFF) << 6 | (u[3] & 0x3F);
}

static uint32_t put_gap(const hp_character *table, uint32_t from, uint32_t size) {
  uint32_t end = from;
  while (end < size && !table[end].utf8[0] && end - from < 0xFFFF) end++;
  uint32_t length = end - from;
  if (length < 32) {
    put(0x9F + length);
  } else {
    put(0xBF);
    put(length >> 8);
    put(length);
  }
  return end;
}

static void put_code_point(uint32_t c, uint32_t last) {
  int32_t difference = (int32_t)(c - last);
  if (difference >= -48 && difference < 48) {
    put((unsigned)(difference + 0x70));
  } else if (difference >= -0x1F00 && difference < 0x1F00) {
    put(0xC0 + ((unsigned)(difference + 0x1F00) >> 8));
    put((unsigned)(difference + 0x1F00));
  } else {
    put(c < 0x10000 ? 0xFE : 0xFF);
    if (c >= 0x10000) put(c >> 16);
    put(c >> 8);
    put(c);
  }
}

static void put_table(const hp_character *table, uint32_t size) {
  uint32_t last = 0;
  for (uint32_t pointer = 0; pointer < size;) {
    if (!table[pointer].utf8[0]) {
      pointer = put_gap(table, pointer, size);
      continue;
    }
    uint32_t run = 0;
    while (run < 64 && pointer + run < size && code_point(&table[pointer + run]) == last + 1 + run) run++;
    if (run)
      put(run - 1);
    else
      put_code_point(code_point(&table[pointer]), last);
    pointer += run ? run : 1;
    last = code_point(&table[pointer - 1]);
  }
}

static void begin_array(const char *name) {
  printf("\nconst unsigned char hp_packed_%s[] =\n", name);
  column = 0;
}

static int write_data(void) {
  puts("/* Characters of the encodings, packed for index.c. The system's iconv and the corrections of\n"
       " * tests/encoding_index_test.c give them: `encoding_index_test --write` prints this file. */\n"
       "/* clang-format off */\n\n#include \"text/encoding/decoder.h\"");
  for (hp_index index = 0; index < HP_INDEXES; index++) {
    hp_character *table = calloc(hp_index_size(index), sizeof *table);
    if (!table || !make_index(index, table)) return 1;
    begin_array(indexes[index].name);
    put_table(table, hp_index_size(index));
    puts("\";");
    free(table);
  }
  begin_array("single_bytes");
  for (unsigned i = 0; i < SINGLE_BYTES; i++) {
    hp_character table[256] = {{{0}}};
    if (!make_single_byte(single_byte_names[i], table)) return 1;
    put_table(table + 0x80, 0x80);
  }
  puts("\";\n/* clang-format on */");
  return fflush(stdout) ? 1 : 0;
}

/*** the test ***/

/* Big5 has four pairs of characters, which no library gives as one. */
static bool is_pair(hp_index index, uint32_t pointer) {
  return index == HP_INDEX_BIG5 && (pointer == 1133 || pointer == 1135 || pointer == 1164 || pointer == 1166);
}

static void compare_index(hp_index index) {
  const hp_character *ours = hp_index_open(index);
  hp_character *table = calloc(hp_index_size(index), sizeof *table);
  if (CHECK(table && ours) && make_index(index, table))
    for (uint32_t i = 0; i < hp_index_size(index); i++)
      if (!is_pair(index, i)) CHECK_EQ(code_point(&ours[i]), code_point(&table[i]));
  free(table);
}

static void compare_single_byte(const char *name) {
  hp_character table[256] = {{{0}}};
  const hp_encoding *encoding = hp_encoding_for_label(name, strlen(name));
  if (!CHECK(encoding != NULL) || !make_single_byte(name, table)) return;
  const hp_character *ours = hp_single_byte_open(encoding);
  if (!CHECK(ours != NULL)) return;
  for (unsigned byte = 0; byte < 256; byte++) CHECK_EQ(code_point(&ours[byte]), code_point(&table[byte]));
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "--write")) return write_data();
#ifndef __GLIBC__ /* the corrections are those of glibc's iconv; others lack characters */
  puts("skipped: the C library is not glibc");
  return CHECK_SKIPPED;
#endif
  iconv_t converter = iconv_open("UTF-8", "BIG5-HKSCS");
  if (converter == (iconv_t)-1) return CHECK_SKIPPED;
  iconv_close(converter);
  for (hp_index index = 0; index < HP_INDEXES; index++) compare_index(index);
  for (unsigned i = 0; i < SINGLE_BYTES; i++) compare_single_byte(single_byte_names[i]);
  return check_report();
}
