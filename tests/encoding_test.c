/* Checks encodings: labels, sniffing, decoders, offsets, and parses that change their encoding. The
 * hashes cover the values of the indexes of the Encoding Standard (2026) for every code. */

#include "base/memory.h"
#include "text/encoding/encoding.h"
#include "text/input.h"

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"
#include "support/shared.h"
#include "support/slice_check.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

/*** labels ***/

static const hp_encoding *named(const char *label) { return hp_encoding_for_label(label, strlen(label)); }

static void test_labels(void) {
  static const char *const pairs[][2] = {
      {"utf8", "UTF-8"},
      {"unicode-1-1-utf-8", "UTF-8"},
      {"x-unicode20utf8", "UTF-8"},
      {"866", "IBM866"},
      {"l2", "ISO-8859-2"},
      {"iso_8859-3:1988", "ISO-8859-3"},
      {"latin4", "ISO-8859-4"},
      {"cyrillic", "ISO-8859-5"},
      {"asmo-708", "ISO-8859-6"},
      {"sun_eu_greek", "ISO-8859-7"},
      {"visual", "ISO-8859-8"},
      {"logical", "ISO-8859-8-I"},
      {"csiso88598i", "ISO-8859-8-I"},
      {"latin6", "ISO-8859-10"},
      {"iso885913", "ISO-8859-13"},
      {"iso8859-14", "ISO-8859-14"},
      {"l9", "ISO-8859-15"},
      {"iso-8859-16", "ISO-8859-16"},
      {"koi", "KOI8-R"},
      {"koi8-ru", "KOI8-U"},
      {"x-mac-roman", "macintosh"},
      {"tis-620", "windows-874"},
      {"iso-8859-11", "windows-874"},
      {"x-cp1250", "windows-1250"},
      {"cp1251", "windows-1251"},
      {"latin1", "windows-1252"},
      {"us-ascii", "windows-1252"},
      {"ISO-8859-1", "windows-1252"},
      {"ansi_x3.4-1968", "windows-1252"},
      {"cp1253", "windows-1253"},
      {"latin5", "windows-1254"},
      {"iso-8859-9", "windows-1254"},
      {"cp1255", "windows-1255"},
      {"cp1256", "windows-1256"},
      {"cp1257", "windows-1257"},
      {"cp1258", "windows-1258"},
      {"x-mac-ukrainian", "x-mac-cyrillic"},
      {"gb2312", "GBK"},
      {"gb_2312-80", "GBK"},
      {"chinese", "GBK"},
      {"gb18030", "gb18030"},
      {"big5-hkscs", "Big5"},
      {"x-x-big5", "Big5"},
      {"x-euc-jp", "EUC-JP"},
      {"csiso2022jp", "ISO-2022-JP"},
      {"sjis", "Shift_JIS"},
      {"windows-31j", "Shift_JIS"},
      {"ks_c_5601-1987", "EUC-KR"},
      {"windows-949", "EUC-KR"},
      {"hz-gb-2312", "replacement"},
      {"iso-2022-cn-ext", "replacement"},
      {"unicodefffe", "UTF-16BE"},
      {"utf-16", "UTF-16LE"},
      {"ucs-2", "UTF-16LE"},
      {"x-user-defined", "x-user-defined"},
      {" \t\n\f\rUTF-8\r ", "UTF-8"},
      {"WinDows-1252", "windows-1252"},
  };
  static const char *const none[] = {"",
                                     " ",
                                     "utf-7",
                                     "utf-32",
                                     "utf 8",
                                     "utf-8 utf8",
                                     "utf8x",
                                     "tf8",
                                     "\"utf-8\"",
                                     "cesu-8",
                                     "iso-8859-12",
                                     "cp437",
                                     "\vutf-8",
                                     "utf-8\302\240",
                                     "a-label-that-is-longer-than-all-there-are-in-the-standard"};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const hp_encoding *encoding = named(pairs[i][0]);
    if (CHECK(encoding)) CHECK_STRING(encoding->name, pairs[i][1]);
    CHECK(encoding == named(pairs[i][1]));
    CHECK_STRING(hpar_encoding_name(pairs[i][0]), pairs[i][1]);
  }
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK(!hpar_encoding_name(none[i]));
  CHECK(!hpar_encoding_name(NULL));
  CHECK(!hp_encoding_for_label("utf-8\0", 6));
  CHECK(named("latin1") == &hp_windows1252 && named("utf8") == &hp_utf8);
}

/*** decoders ***/

static hpar_status gather(const char *text, size_t length, void *context) {
  buffer *into = context;
  CHECK(length > 0);
  buffer_add(into, text, length);
  return HPAR_OK;
}

/* Decodes in pieces that end at `splits`, each after an empty one. Frees each piece before the next
 * one. */
static bool decode(const hp_encoding *encoding, const char *bytes, size_t length, const size_t *splits, size_t count,
                   buffer *text) {
  hp_decoder *decoder;
  text->length = 0;
  if (!CHECK_EQ(hp_decoder_create(&decoder, encoding), HPAR_OK)) return false;
  size_t at = 0;
  bool fine = true;
  for (size_t i = 0; i <= count && fine; i++) {
    size_t to = i < count ? splits[i] : length;
    char *piece = malloc(to - at + 1);
    if (!piece) exit(1);
    memcpy(piece, bytes + at, to - at);
    fine = hp_decoder_run(decoder, NULL, 0, false, gather, text) == HPAR_OK &&
           hp_decoder_run(decoder, piece, to - at, i == count, gather, text) == HPAR_OK;
    free(piece);
    at = to;
  }
  hp_decoder_destroy(decoder);
  return fine;
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

/* Returns true at the second of the two characters that one sequence of Big5 stands for. */
static bool is_second_of_pair(const hp_input *input, size_t at) {
  return input->encoding->kind == HP_ENCODING_BIG5 && at + 1 < input->length && input->bytes[at] == '\xcc';
}

/* Returns true if the source from `offset` on decodes to the text from `at` on. Does not check
 * encodings with state between characters. */
static bool continues_at(const hp_input *input, size_t at, const char *bytes, size_t length, uint64_t offset) {
  hp_input rest = {0};
  if (input->encoding->kind == HP_ENCODING_ISO_2022_JP || input->encoding->kind == HP_ENCODING_REPLACEMENT) return true;
  if (!CHECK_EQ(hp_input_decode(&rest, bytes + offset, length - offset, input->encoding), HPAR_OK)) return false;
  bool fine = rest.bom || is_second_of_pair(input, at) ||
              (rest.length == input->length - at && !memcmp(rest.bytes, input->bytes + at, rest.length));
  hp_input_close(&rest);
  return fine;
}

/* Checks every single split, single bytes, decoding to the final position, slices, and offsets. */
static bool check_ways(const hp_encoding *encoding, const char *bytes, size_t length, const buffer *whole) {
  buffer text = {0};
  bool fine = true;
  for (size_t at = 0; at <= length && fine; at++)
    fine = decode(encoding, bytes, length, &at, 1, &text) && same(&text, whole);
  size_t *each = malloc((length + 1) * sizeof *each);
  if (!each) exit(1);
  for (size_t i = 0; i < length; i++) each[i] = i;
  fine = fine && decode(encoding, bytes, length, each, length, &text) && same(&text, whole);
  free(each);
  hp_input input = {0};
  if (CHECK_EQ(hp_input_decode(&input, bytes, length, encoding), HPAR_OK)) {
    fine = fine && input.length == whole->length && (!input.length || !memcmp(input.bytes, whole->bytes, input.length));
    uint64_t before = 0;
    hp_input_cursor cursor = {0, 0, 0, 0}, rare = cursor;
    for (size_t i = 0; i <= input.length && fine; i++) {
      if (i < input.length && ((unsigned char)input.bytes[i] & 0xC0) == 0x80) continue;
      uint64_t offset = hp_input_offset(&input, i);
      fine = offset >= before && offset <= length && hp_input_offset_from(&input, &cursor, i) == offset;
      if (i % 61 == 0) fine = fine && hp_input_offset_from(&input, &rare, i) == offset;
      if (i % 17 == 0) fine = fine && continues_at(&input, i, bytes, length, offset);
      before = offset;
    }
    fine = fine && check_slices(encoding, bytes, length, &input);
    hp_input_close(&input);
  }
  buffer_free(&text);
  return fine;
}

static const struct {
  const char *label, *bytes;
  size_t length;
  const char *text;
} cases[] = {
#define CASE(label, bytes, text) \
  { label, bytes, sizeof bytes - 1, text }
#define R "\xEF\xBF\xBD"
    CASE("latin1", "a\x80\x81\x8D\x8F\x90\x9D\xE9\xFF", "a€\xC2\x81\xC2\x8D\xC2\x8F\xC2\x90\xC2\x9Déÿ"),
    CASE("us-ascii", "\xA0\x93", "\xC2\xA0“"),
    CASE("windows-874", "\x80\x81\xA1\xDB\xDF\xFC", "€\xC2\x81ก" R "฿" R),
    CASE("windows-1253", "\xAA\xC1\xFF", R "Α" R),
    CASE("windows-1255", "\xCA\xD9", "ֺ" R),
    CASE("iso-8859-8-i", "\xE0\xBF\xFD", "א" R "\xE2\x80\x8E"),
    CASE("macintosh", "\xC6\xF0\xDB", "∆\xEF\xA3\xBF€"),
    CASE("x-mac-cyrillic", "\xA2\xFF", "Ґ€"),
    CASE("koi8-r", "\xC1\xB3", "аЁ"),
    CASE("koi8-u", "\xAE\xBE\xA4", "ўЎє"),
    CASE("ibm866", "\x80\xF0", "АЁ"),
    CASE("x-user-defined", "a\x80\xFF", "a\xEF\x9E\x80\xEF\x9F\xBF"),
    CASE("utf-8", "\xC2\xA0\xC3\xA9\xDF\xBF\xE0\xA0\x80\xF4\x8F\xBF\xBF\xC2",
         "\xC2\xA0é\xDF\xBF\xE0\xA0\x80\xF4\x8F\xBF\xBF" R),
    CASE("replacement", "abc", R),
    CASE("hz-gb-2312", "~{VPND~}", R),
    CASE("replacement", "", ""),
    CASE("gbk", "\xC4\xE3\x80\xFF.", "你€" R "."),
    CASE("gbk", "\x81 x", R " x"),
    CASE("gbk", "\x81\x7F\x81\xFF", R "\x7F" R),
    /* four bytes, because GBK is decoded as gb18030 */
    CASE("gb2312", "\x81\x30\x81\x30", "\xC2\x80"),
    CASE("gb18030", "\x84\x31\xA4\x37\x90\x30\x81\x30\xE3\x32\x9A\x35", R "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
    CASE("gb18030", "\xE3\x32\x9A\x36\x84\x31\xA4\x39", R "\xEF\xBF\xBF"),
    CASE("gb18030", "\x81\x30\x81<", R "0" R "<"),
    CASE("gb18030", "\x81\x30<", R "0<"),
    CASE("gb18030", "a\x81\x30\x81", "a" R),
    CASE("gb18030", "\x81\x35\xF4\x37\xA3\xA0\xFE\x51", "\xEE\x9F\x87\xE3\x80\x80\xEE\xA0\x96"),
    CASE("big5", "\xA4\xA4\x87\x40\x88\x62\x88\xA5", "中䏰Ê̄ê̌"),
    CASE("big5", "\x81<\x80\xFF\xA4\xFF\xA4", R "<" R R R R),
    CASE("big5", "\xA1\x45\xA2\xCC\xA3\xE1\xF9\xFE", "‧十€\xEF\xBF\xAD"),
    CASE("euc-jp", "\xA4\xA2\x8E\xB1\x8F\xB0\xA1\xA1\xC1", "あｱ丂～"),
    CASE("euc-jp", "\x8F\xA2\xB7\x8E<\x8F\xA1<\xA1", "～" R "<" R "<" R),
    CASE("euc-jp", "\x8F\x41\xA4\x80\xFF", R "A" R R),
    CASE("shift_jis", "\x82\xA0\xB1\x80\xA0\xFD\x5C\x7E", "あｱ\xC2\x80" R R "\\~"),
    CASE("shift_jis", "\x81<\x81\x7F\x81\xFD\x81", R "<" R "\x7F" R R),
    CASE("shift_jis", "\xF0\x40\xF9\xFC\x87\x40\x81\x60", "\xEE\x80\x80\xEE\x9D\x97①～"),
    CASE("euc-kr", "\xB0\xA1\x81\x41\xC8\xFE", "가갂힝"),
    CASE("euc-kr", "\xB0<\xC9\xA1\x80\xFF\xB0", R "<" R R R R),
    CASE("iso-2022-jp", "\x1B$B$\"\x1B(Ba\x1B(J\\~\x1B(I1", "あa¥‾ｱ"),
    CASE("iso-2022-jp", "\x1B$B\x1B$B\x1B(B\x1B(Bx", R R R "x"),
    CASE("iso-2022-jp", "\x1B$Ax\x1B", R "$Ax" R),
    CASE("iso-2022-jp", "\x1B$B$\x1B(Bx\x80\x0E", R "x" R R),
    /* the decoder reads '$' again, as a lead byte without a trail byte */
    CASE("iso-2022-jp", "\x1B$B\x1B$", R R),
    CASE("utf-16le", "<\0\x3D\xD8\x00\xDE\xAC\x20", "<😀€"),
    CASE("utf-16be", "\0<\xD8\x3D\xDE\x00\x20\xAC", "<😀€"),
    CASE("utf-16le",
         "\xFF\xFE"
         "a\0\xFF\xFE",
         "a\xEF\xBB\xBF"),
    CASE("utf-16be", "\xFE\xFF\0a\xFF\xFE", "a\xEF\xBF\xBE"),
    CASE("utf-16le",
         "\x00\xD8"
         "a\0\x00\xDC\x00\xD8",
         R "a" R R),
    CASE("utf-16le", "\x00\xD8\x00\xD8\x00\xDC", R "\xF0\x90\x80\x80"),
    CASE("utf-16le", "a\0b", "a" R),
    CASE("utf-16le", "\x00\xD8x", R),
    CASE("utf-16le", "\xFF", R),
    CASE("utf-16le", "\xFE\xFF", "\xEF\xBF\xBE"),
    CASE("utf-8",
         "\xEF\xBB\xBF"
         "a\xEF\xBB\xBF",
         "a\xEF\xBB\xBF"),
    CASE("utf-8", "\xEF\xBB", R),
    CASE("utf-8", "\xEF\xBBx\xF0\x9F\x98\x80\xF0\x9F\x98\xED\xA0\x80\xC0\xFF", R "x😀" R R R R R R),
};

static void test_cases(void) {
  buffer text = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hp_encoding *encoding = named(cases[i].label);
    const char *expected = cases[i].text;
    if (!CHECK(decode(encoding, cases[i].bytes, cases[i].length, NULL, 0, &text))) continue;
    if (!CHECK_BYTES(text.bytes, text.length, expected, strlen(expected)))
      printf("  in case %zu, %s\n", i, cases[i].label);
    if (!CHECK(check_ways(encoding, cases[i].bytes, cases[i].length, &text))) printf("  in case %zu\n", i);
  }
  buffer_free(&text);
}

enum { ONE, TWO, THREE, FOUR, ESCAPED };

static void all_codes(int kind, buffer *codes) {
  codes->length = 0;
  unsigned char code[4];
#define ADD(n) buffer_add(codes, (const char *)code, n)
  if (kind == ONE)
    for (unsigned b = 0; b < 256; b++) {
      code[0] = (unsigned char)b;
      ADD(1);
    }
  if (kind == ESCAPED) buffer_add(codes, "\x1B$B", 3);
  unsigned least = kind == THREE ? 0xA0 : kind == ESCAPED ? 0x21 : 0x80, most = kind == ESCAPED ? 0x7E : 0xFF;
  unsigned trail = kind == THREE ? 0x80 : kind == ESCAPED ? 0x21 : 0x20;
  for (unsigned lead = least; kind != ONE && kind != FOUR && lead <= most; lead++)
    for (unsigned t = trail; t <= most; t++) {
      code[0] = 0x8F;
      code[1] = (unsigned char)lead;
      code[2] = (unsigned char)t;
      code[3] = '\n';
      buffer_add(codes, (const char *)code + (kind != THREE), (size_t)(kind == THREE ? 4 : kind == TWO ? 3 : 2));
    }
  for (uint32_t p = 0; kind == FOUR && p < 1237600; p += p < 39499 ? 1 : p == 39499 ? 188990 - 39499 : 997) {
    code[0] = (unsigned char)(0x81 + p / 12600);
    code[1] = (unsigned char)(0x30 + p / 1260 % 10);
    code[2] = (unsigned char)(0x81 + p / 10 % 126);
    code[3] = (unsigned char)(0x30 + p % 10);
    ADD(4);
  }
}

static const struct {
  const char *label;
  int codes;
  uint64_t hash;
} indexes[] = {
    {"gbk", TWO, 0xB9544F5B821A94FE},
    {"big5", TWO, 0xFA4CBC42022BA14C},
    {"shift_jis", TWO, 0x1E887F21E041B5A1},
    {"euc-kr", TWO, 0x9944A9278C65CA38},
    {"euc-jp", TWO, 0x8467EAA95D2C04B5},
    {"euc-jp", THREE, 0xB9AEB6DFBA13BA3D},
    {"iso-2022-jp", ESCAPED, 0x0F191C1C356BB12A},
    {"gb18030", FOUR, 0x3829FA4742FE0D5A},
    {"ibm866", ONE, 0x6B8F44234EFAE54A},
    {"iso-8859-2", ONE, 0x0891CDFF42687236},
    {"iso-8859-3", ONE, 0xF9BEEC0AEF2D7A97},
    {"iso-8859-4", ONE, 0xEC5455CDCA7B918F},
    {"iso-8859-5", ONE, 0x4616B17A577DBFAF},
    {"iso-8859-6", ONE, 0xC2CA17CF95AEA1E2},
    {"iso-8859-7", ONE, 0xAEF1CF286AFA4969},
    {"iso-8859-8", ONE, 0xDB6B1189065B2F5D},
    {"iso-8859-10", ONE, 0xF0720492E19FD91B},
    {"iso-8859-13", ONE, 0x4CC282A8BA420A61},
    {"iso-8859-14", ONE, 0x27EF6FCEADA8F435},
    {"iso-8859-15", ONE, 0x461F37F7C64278C0},
    {"iso-8859-16", ONE, 0x5EB2ED1A24BEA882},
    {"koi8-r", ONE, 0x635471103B3E073D},
    {"koi8-u", ONE, 0xDD7FDB40AF8D1D41},
    {"macintosh", ONE, 0x2AC543A0FA54B935},
    {"windows-874", ONE, 0x90812B3712221A93},
    {"windows-1250", ONE, 0x17BE4B5FAA6291B5},
    {"windows-1251", ONE, 0xB8FB9938A8961325},
    {"windows-1252", ONE, 0x9CD7DAFFBB28039A},
    {"windows-1253", ONE, 0x8961A92196EAD090},
    {"windows-1254", ONE, 0xC9D2E7CF7C3CAF14},
    {"windows-1255", ONE, 0x625D3BD8D612361F},
    {"windows-1256", ONE, 0x8D69C07530A8824B},
    {"windows-1257", ONE, 0xE142EB2FB596A64E},
    {"windows-1258", ONE, 0x8052F975114C9E83},
    {"x-mac-cyrillic", ONE, 0x66C4C06C8E064185},
    {"iso-8859-8-i", ONE, 0xDB6B1189065B2F5D},
    {"x-user-defined", ONE, 0x814C22AA7C99D825},
};

static void test_indexes(void) {
  buffer codes = {0}, text = {0};
  for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
    all_codes(indexes[i].codes, &codes);
    if (!CHECK(decode(named(indexes[i].label), codes.bytes, codes.length, NULL, 0, &text))) continue;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t at = 0; at < text.length; at++) hash = (hash ^ (unsigned char)text.bytes[at]) * UINT64_C(0x100000001B3);
    if (!CHECK(hash == indexes[i].hash)) printf("  %s: 0x%016" PRIX64 "\n", indexes[i].label, hash);
  }
  buffer_free(&codes);
  buffer_free(&text);
}

/* Checks that decoding gives valid UTF-8 for every input and every split. */
static void test_random(void) {
  static const char hot[] =
      "\x1B\x1B$(BJI@0\n<\x80\x81\x8E\x8F\xA1\xA3\xC3\xFE\xFF\xD8\xDC\xDD\xDF\0\xEF\xBB\xBF\xFF\xFE";
  buffer whole = {0};
  random_state state = {7};
  for (int round = 0; round < 40; round++) {
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes + 4; i++) {
      static const char *const more[] = {"utf-8", "utf-16le", "utf-16be", "replacement"};
      bool extra = i >= sizeof indexes / sizeof *indexes;
      const hp_encoding *encoding = named(extra ? more[i - sizeof indexes / sizeof *indexes] : indexes[i].label);
      char bytes[64];
      size_t length = random_below(&state, sizeof bytes);
      for (size_t at = 0; at < length; at++) {
        bytes[at] = (char)random_below(&state, 256);
        if (random_below(&state, 3)) bytes[at] = hot[random_below(&state, sizeof hot - 1)];
      }
      if (!CHECK(decode(encoding, bytes, length, NULL, 0, &whole))) continue;
      hp_input input = {0};
      CHECK_EQ(hp_input_open(&input, whole.bytes, whole.length), HPAR_OK);
      CHECK(!input.owned);
      hp_input_close(&input);
      if (!CHECK(check_ways(encoding, bytes, length, &whole))) printf("  %s, round %d\n", encoding->name, round);
    }
  }
  buffer_free(&whole);
}

static hpar_status refuse(const char *text, size_t length, void *context) {
  (void)text;
  (void)length;
  (void)context;
  return HPAR_ERROR_IO;
}

/* Checks the offsets of long texts across checkpoints: each character has its source offset. */
static void test_offsets(void) {
  static const char *const labels[] = {"windows-1251", "gb18030", "shift_jis", "utf-16le", "iso-2022-jp", "euc-jp"};
  static const char *const units[] = {
      "\xC0 b",           "\x81\x30\x81\x30\xC4\xE3 a", "\x82\xA0\xB1x\x81<", "\x3D\xD8\x00\xDE\x61\0\0\xDC",
      "\x1B$B$\"\x1B(Ba", "\x8F\xB0\xA1\xA4\xA2<"};
  static const size_t lengths[] = {3, 7, 6, 8, 9, 6};
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    const hp_encoding *encoding = named(labels[i]);
    buffer bytes = {0}, text = {0};
    for (int n = 0; n < 700; n++) buffer_add(&bytes, units[i], lengths[i]);
    hp_input input = {0};
    if (!CHECK_EQ(hp_input_decode(&input, bytes.bytes, bytes.length, encoding), HPAR_OK)) continue;
    CHECK(decode(encoding, bytes.bytes, bytes.length, NULL, 0, &text));
    CHECK_BYTES(input.bytes, input.length, text.bytes, text.length);
    size_t unit_text = text.length / 700;
    bool fine = text.length % 700 == 0;
    for (size_t n = 0; n <= 700 && fine; n++) fine = hp_input_offset(&input, n * unit_text) == n * lengths[i];
    if (!CHECK(fine)) printf("  %s\n", labels[i]);
    CHECK_EQ(hp_input_keep(&input, NULL, true), HPAR_OK);
    memset(bytes.bytes, 'x', bytes.length);
    CHECK_EQ(hp_input_offset(&input, 300 * unit_text), 300 * lengths[i]);
    hp_input_close(&input);
    buffer_free(&bytes);
    buffer_free(&text);
  }
  hp_input ascii = {0};
  static const char plain[] = "<p>plain";
  CHECK_EQ(hp_input_decode(&ascii, plain, 8, named("gbk")), HPAR_OK);
  CHECK(ascii.bytes == plain && !ascii.owned);
  CHECK_EQ(hp_input_offset(&ascii, 5), 5);
  hp_input_close(&ascii);
  CHECK_EQ(hpar_decode("latin1", "\xE9", 1, refuse, NULL), HPAR_ERROR_IO);
  CHECK_EQ(hpar_decode("latin-1", "\xE9", 1, refuse, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_decode("latin1", NULL, 0, refuse, NULL), HPAR_OK);
}

typedef struct unit {
  const char *bytes, *text;
} unit;

/* Checks each offset of texts of regular and irregular sequences, some of them rare. */
static void test_mixed_offsets(void) {
  enum { TEXTS = 60, UNITS = 2500, KINDS = 8 };
  static const struct {
    const char *label;
    unit units[KINDS]; /* from the fourth on: rare ones */
  } kinds[] = {
      {"gb18030",
       {{"a", "a"},
        {"\xC4\xE3", "\xE4\xBD\xA0"},
        {"\xA1\xA4", "\xC2\xB7"},
        {"\x80", "\xE2\x82\xAC"},
        {"\x81\x30\x81\x30", "\xC2\x80"},
        {"\x81\x39\xEE\x39", "\xE3\x90\x80"},
        {"\x90\x30\x81\x30", "\xF0\x90\x80\x80"},
        {"\xFF", "\xEF\xBF\xBD"}}},
      {"euc-kr",
       {{"<p>", "<p>"},
        {"\xB0\xA1", "\xEA\xB0\x80"},
        {"\xA1\xA4", "\xC2\xB7"},
        {"\xFF", "\xEF\xBF\xBD"},
        {"\x80", "\xEF\xBF\xBD"},
        {"\xC9\xFE", "\xEF\xBF\xBD"},
        {"b", "b"},
        {"c", "c"}}},
      {"windows-1252",
       {{"a", "a"},
        {"\xE9", "\xC3\xA9"},
        {"\x80", "\xE2\x82\xAC"},
        {"\x81", "\xC2\x81"},
        {"b", "b"},
        {"c", "c"},
        {"\xFF", "\xC3\xBF"},
        {"d", "d"}}},
      {"x-user-defined",
       {{"a", "a"},
        {"\x80", "\xEF\x9E\x80"},
        {"b", "b"},
        {"\xFF", "\xEF\x9F\xBF"},
        {"c", "c"},
        {"d", "d"},
        {"e", "e"},
        {"f", "f"}}},
  };
  random_state state = {11};
  for (size_t i = 0; i < TEXTS; i++) {
    size_t kind = i % (sizeof kinds / sizeof *kinds), starts[UNITS + 1], sources[UNITS + 1];
    size_t rare = random_below(&state, 3) ? random_below(&state, 20) : 0, run = 0;
    const unit *of = kinds[kind].units, *used = of;
    buffer bytes = {0}, text = {0};
    for (size_t n = 0; n < UNITS; n++) {
      if (!run) {
        run = 1 + random_below(&state, 100);
        used = &of[random_below(&state, 3)];
      }
      run--;
      const unit *now = random_below(&state, 2000) < rare ? &of[3 + random_below(&state, KINDS - 3)] : used;
      starts[n] = text.length;
      sources[n] = bytes.length;
      buffer_text(&bytes, now->bytes);
      buffer_text(&text, now->text);
    }
    hp_input input = {0};
    if (CHECK_EQ(hp_input_decode(&input, bytes.bytes, bytes.length, named(kinds[kind].label)), HPAR_OK)) {
      CHECK_BYTES(input.bytes, input.length, text.bytes, text.length);
      hp_input_cursor cursor = {0, 0, 0, 0};
      bool fine = hp_input_offset(&input, text.length) == bytes.length;
      for (size_t n = 0; n < UNITS && fine; n++) {
        fine = hp_input_offset(&input, starts[n]) == sources[n];
        if (n % 37 == 0) fine = fine && hp_input_offset_from(&input, &cursor, starts[n]) == sources[n];
      }
      if (!CHECK(fine)) printf("  %s, text %zu\n", kinds[kind].label, i);
      hp_input_close(&input);
    }
    buffer_free(&bytes);
    buffer_free(&text);
  }
}

/*** sniffing ***/

static void test_sniff(void) {
  CHECK(!hp_encoding_in_content("charset=\"gbk\"", 7));
  static const struct {
    const char *bytes;
    size_t length;
    const char *hint, *encoding, *source;
  } found[] = {
#define FOUND(bytes, hint, encoding, source) {bytes, sizeof bytes - 1, hint, encoding, source}
      FOUND("\xEF\xBB\xBF<meta charset=gbk>", "koi8-r", "UTF-8", "bom"),
      FOUND("\xFF\xFE<\0", NULL, "UTF-16LE", "bom"),
      FOUND("\xFE\xFF\0<", "utf-8", "UTF-16BE", "bom"),
      FOUND("<meta charset=gbk>", "koi8-r", "KOI8-R", "hint"),
      FOUND("", "utf-16", "UTF-16LE", "hint"),
      FOUND("<meta charset=gbk>", NULL, "GBK", "meta"),
      FOUND("<META/CHARSET='GBK'>", NULL, "GBK", "meta"),
      FOUND("<meta charset=utf-16be>", NULL, "UTF-8", "meta"),
      FOUND("<meta charset=x-user-defined>", NULL, "windows-1252", "meta"),
      FOUND("<meta charset=\"\x09koi8-u \">", NULL, "KOI8-U", "meta"),
      FOUND("<meta charset=bogus><meta charset=big5>", NULL, "Big5", "meta"),
      FOUND("<meta charset=big5 charset=gbk>", NULL, "Big5", "meta"),
      FOUND("<meta id charset \n = gbk>", NULL, "GBK", "meta"),
      FOUND("<meta http-equiv=content-type content='text/html;charset=euc-kr'>", NULL, "EUC-KR", "meta"),
      FOUND("<meta content='x charset charset = \"sjis\"' http-equiv=CONTENT-TYPE>", NULL, "Shift_JIS", "meta"),
      FOUND("<meta http-equiv=content-type content='charset=big5' charset=gbk>", NULL, "GBK", "meta"),
      FOUND("<meta charset=x http-equiv=content-type content='charset=big5'><meta charset=gbk>", NULL, "GBK", "meta"),
      FOUND("<!-- <meta charset=gbk> --><meta charset=big5>", NULL, "Big5", "meta"),
      FOUND("<!--><meta charset=big5>", NULL, "Big5", "meta"),
      FOUND("<a title='<meta charset=gbk>'><meta charset=big5>", NULL, "Big5", "meta"),
      FOUND("</a title='<meta charset=gbk>'><meta charset=big5>", NULL, "Big5", "meta"),
      FOUND("<!x <meta charset=gbk><?x <meta charset=gbk></<meta charset=gbk><meta charset=big5>", NULL, "Big5",
            "meta"),
      FOUND("<script>'<meta charset=gbk>'</script>", NULL, "GBK", "meta"),
      FOUND("<\0?\0x\0m\0", NULL, "UTF-16LE", "meta"),
      FOUND("\0<\0?\0x\0m", NULL, "UTF-16BE", "meta"),
      FOUND("<?xml version='1.0' encoding='euc-jp'?><html>", NULL, "EUC-JP", "meta"),
      FOUND("<?xml encoding = \"utf-16\" ?>", NULL, "UTF-8", "meta"),
      FOUND("<?xml encoding='gbk'?><meta charset=big5>", NULL, "Big5", "meta"),
  };
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
    hp_sniffed sniffed = hp_sniff(found[i].bytes, found[i].length, found[i].hint ? named(found[i].hint) : NULL, true);
    if (!CHECK(sniffed.encoding)) printf("  in case %zu\n", i);
    if (!sniffed.encoding) continue;
    if (!CHECK_STRING(sniffed.encoding->name, found[i].encoding)) printf("  in case %zu\n", i);
    CHECK_STRING(hp_encoding_source_name(sniffed.source), found[i].source);
    CHECK_EQ(sniffed.certain, strcmp(found[i].source, "meta") != 0);
    /* The sniffer finds the encoding, or not, at any end of the input, and does not read past that
     * end. */
    for (size_t length = 0; length < found[i].length; length++) {
      char *part = malloc(length ? length : 1);
      if (!part) exit(1);
      memcpy(part, found[i].bytes, length);
      hp_sniff(part, length, NULL, true);
      free(part);
    }
  }
  static const char *const none[] = {
      "",
      "x",
      "<meta",
      "<meta charset=gbk",
      "<metacharset=gbk>",
      "<meta charset>",
      "<meta charset=>",
      "<meta charset='gbk>",
      "<meta http-equiv=content-type content='charset=gbk",
      "<meta content='charset=gbk'>",
      "<meta http-equiv=refresh content='charset=gbk'>",
      "<meta http-equiv=content-type content='charset=\"gbk'>",
      "<meta http-equiv=content-type content='charset gbk'>",
      "<!-- <meta charset=gbk>",
      "<!-<meta charset=gbk",
      "<p title='<meta charset=gbk>",
      "<?xml encoding='bogus'?>",
      "<?xml encoding='g bk'?>",
      "<?xml encoding=gbk?>",
      "<?xml encoding='gbk'",
      " <?xml encoding='gbk'?>",
      "<?xml?> encoding='gbk'",
  };
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (!CHECK(!hp_sniff(none[i], strlen(none[i]), NULL, true).encoding)) printf("  in case %zu: %s\n", i, none[i]);
  char long_one[1100];
  memset(long_one, ' ', sizeof long_one);
  memcpy(long_one + 1006, "<meta charset=gbk>", 18);
  CHECK(hp_sniff(long_one, sizeof long_one, NULL, true).encoding == named("gbk"));
  CHECK(!hp_sniff(long_one, 1023, NULL, true).encoding);
  memmove(long_one + 1007, long_one + 1006, 18);
  CHECK(!hp_sniff(long_one, sizeof long_one, NULL, true).encoding);
  CHECK(!hp_sniff("<meta charset=gbk>", 18, NULL, false).encoding);
}

/*** parses ***/

static hpar_parser *parser;
static hpar_document *document, *other;

static hpar_status into_buffer(const char *text, size_t length, void *context) {
  buffer_add(context, text, length);
  return HPAR_OK;
}

static void dump(const hpar_document *of, buffer *tree) {
  tree->length = 0;
  CHECK_EQ(hpar_serialize_tree(of, hpar_document_root(of), into_buffer, tree), HPAR_OK);
}

/* Parses sequentially, and in parallel with a cut at each byte and in small chunks. All parses give
 * one tree and one encoding. */
static void check_parse(const char *bytes, size_t length, const char *hint, const char *encoding, const char *source,
                        const char *contains) {
  buffer tree = {0}, parallel = {0};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT,  .encoding = hint,       .mode = HPAR_MODE_SEQUENTIAL,
                          .max_errors = 1000, .source_offsets = true, .study = &study};
  if (!CHECK_EQ(hpar_study_parse(parser, &options, bytes, length, document, &stats), HPAR_OK)) return;
  CHECK_STRING(stats.encoding, encoding);
  CHECK_STRING(stats.encoding_source, source);
  dump(document, &tree);
  buffer_add(&tree, "", 1);
  if (contains && !CHECK(strstr(tree.bytes, contains))) printf("  %s is not in\n%s", contains, tree.bytes);
  size_t errors = hpar_parse_error_count(parser);
  if (hpar_predictor_name(0)) {
    options.mode = HPAR_MODE_PARALLEL;
    options.parallel.executor = HPAR_EXECUTOR_INLINE;
    for (uint64_t cut = 0; cut <= length; cut += length > 500 ? 7 : 1) {
      study.cuts = cut ? &cut : NULL;
      study.cut_count = cut != 0;
      options.parallel.chunk_size = cut ? 0 : 64;
      if (!CHECK_EQ(hpar_study_parse(parser, &options, bytes, length, other, &stats), HPAR_OK)) break;
      dump(other, &parallel);
      buffer_add(&parallel, "", 1);
      if (!CHECK(same(&tree, &parallel))) printf("  cut at %" PRIu64 "\n%s---\n%s", cut, tree.bytes, parallel.bytes);
      CHECK_STRING(stats.encoding, encoding);
      CHECK_STRING(stats.encoding_source, source);
      CHECK_EQ(hpar_parse_error_count(parser), errors);
    }
  }
  buffer_free(&tree);
  buffer_free(&parallel);
}

#define PARSE(bytes, hint, encoding, source, contains) \
  check_parse(bytes, sizeof bytes - 1, hint, encoding, source, contains)
#define FAR1024 "<!--" FAR256 FAR256 FAR256 FAR256 "-->"
#define FAR256 FAR64 FAR64 FAR64 FAR64
#define FAR64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_parses(void) {
  PARSE("<p>\xE9", NULL, "windows-1252", "fallback", "\"é\"");
  PARSE("<p>é", NULL, "UTF-8", "valid-utf-8", "\"é\"");
  PARSE("<p>e", NULL, "UTF-8", "valid-utf-8", "\"e\"");
  PARSE("<p>\xE9", "utf-8", "UTF-8", "hint", "\"" R "\"");
  PARSE("<meta charset=windows-1251><p>\xE9", NULL, "windows-1251", "meta", "\"й\"");
  PARSE("<meta charset=utf-8><p>\xE9", NULL, "UTF-8", "meta", "\"" R "\"");
  PARSE("\xFF\xFE<\0p\0>\0\xE9\0", "utf-8", "UTF-16LE", "bom", "\"é\"");
  PARSE(FAR1024 "<meta charset=windows-1251><p>\xE9", NULL, "windows-1251", "late-meta", "\"й\"");
  PARSE(FAR1024 "<meta charset=windows-1252><p>\xE9", NULL, "windows-1252", "fallback", "\"é\"");
  PARSE(FAR1024 "<meta charset=windows-1251><p>e", NULL, "windows-1251", "late-meta", "\"e\"");
  PARSE(FAR1024 "<p>\xE9<div><b><meta charset=cp1251></b></div><p>x", NULL, "windows-1251", "late-meta", "\"й\"");
  PARSE(FAR1024 "<svg><g><meta charset=koi8-r></g></svg><p>\xE9", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE(FAR1024 "<template><p><meta charset=koi8-r></template><p>\xE9", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE(FAR1024 "<table><tr><td><meta charset=koi8-r>\xE9</table>", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE(FAR1024 "<script><meta charset=koi8-r></script><p>\xE9", NULL, "windows-1252", "fallback", "\"é\"");
  PARSE(FAR1024 "<noscript><meta charset=koi8-r></noscript><p>\xE9", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE(FAR1024 "<meta name=x content='charset=koi8-r'><p>\xE9", NULL, "windows-1252", "fallback", "\"é\"");
  PARSE(FAR1024 "<meta http-equiv=Content-Type content='a; charset=koi8-r'><p>\xE9", NULL, "KOI8-R", "late-meta",
        "\"И\"");
  PARSE(FAR1024 "<meta http-equiv=content-type><meta http-equiv=content-typo content='charset=gbk'><p>\xE9", NULL,
        "windows-1252", "fallback", "\"é\"");
  /* a declaration that only the prescan sees, and then another one */
  PARSE("<script><meta charset=gbk></script><meta charset=gb18030><p>\xC4\xE3", NULL, "gb18030", "late-meta", "\"你\"");
  PARSE("<script><meta charset=iso-2022-jp></script><meta charset=koi8-r><p>\xE9", NULL, "KOI8-R", "late-meta",
        "\"И\"");
  PARSE(FAR1024 "<meta charset=x><meta charset=koi8-r><meta charset=gbk>\xE9", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE(FAR1024 "<meta charset=utf-16le><p>é", NULL, "UTF-8", "valid-utf-8", "\"é\"");
  PARSE(FAR1024 "<meta charset=iso-2022-jp><p>\x1B$B$\"", NULL, "ISO-2022-JP", "late-meta", "\"あ\"");
  PARSE(FAR1024 "<meta charset=gbk><p>\xC4\xE3 \x81<b>", "latin1", "windows-1252", "hint", "Äã");
  PARSE("<!--<meta charset=gbk>--><meta charset=big5><p>\xA4\xA4", NULL, "Big5", "meta", "\"中\"");
  /* The prescan accepts a declaration that the parser does not see. Then the parser finds another
   * one. */
  PARSE("<script><meta charset=gbk></script><meta charset=koi8-r><p>\xE9", NULL, "KOI8-R", "late-meta", "\"И\"");
  PARSE("<meta charset=hz-gb-2312><p>x", NULL, "replacement", "meta", "\"" R "\"");

  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "latin1", .fragment = "div"};
  CHECK_EQ(hpar_study_parse(parser, &options, "<meta charset=gbk>\xE9", 19, document, &stats), HPAR_OK);
  CHECK_STRING(stats.encoding, "windows-1252");
  options.encoding = NULL;
  CHECK_EQ(hpar_study_parse(parser, &options, "<meta charset=gbk>\xC4\xE3", 20, document, &stats), HPAR_OK);
  CHECK_STRING(stats.encoding_source, "fallback");
  options.encoding = "nonsense";
  CHECK_EQ(hpar_study_parse(parser, &options, "x", 1, document, &stats), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_node_first_child(document, hpar_document_root(document)), HPAR_NO_NODE);
}

/* Checks the offsets of tags in the caller's bytes, which the caller has freed by then. */
static void test_source_offsets(void) {
  char bytes[] = "\xC4\xE3\xC4\xE3<b>\xC4\xE3<i>x</i></b>";
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "gbk", .source_offsets = true, .copy_input = true,
                          .max_errors = 9};
  if (!CHECK_EQ(hpar_parse(parser, &options, bytes, sizeof bytes - 1, document, NULL), HPAR_OK)) return;
  memset(bytes, 0, sizeof bytes);
  uint64_t start = 0, end = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string name = hpar_node_name(document, node);
    if (name.length != 1 || !hpar_node_start_tag_range(document, node, &start, &end)) continue;
    CHECK_EQ(start, name.bytes[0] == 'b' ? 4 : 9);
    CHECK_EQ(end, name.bytes[0] == 'b' ? 7 : 12);
  }
  CHECK(end);
}

static void test_memory(void) {
  static const char page[] = FAR1024 "<meta charset=big5><p>\xA4\xA4 and more";
  hpar_options options = {HPAR_OPTIONS_INIT, .copy_input = true, .source_offsets = true, .max_errors = 10};
  bool done = false;
  for (uint64_t n = 0; n < 3000 && !done; n++) {
    hp_memory_fail_after(n);
    hpar_status status = hpar_parse(parser, &options, page, sizeof page - 1, document, NULL);
    hp_memory_fail_after(UINT64_MAX);
    done = status == HPAR_OK;
    if (!done && !CHECK_EQ(status, HPAR_ERROR_MEMORY)) break;
  }
  CHECK(done);
}

/*** html5lib-tests ***/

/* Checks the encoding of one fixture with a parse. The fixtures expect windows-1252 for undeclared
 * input. */
static void check_fixture(const char *path, unsigned line, const char *data, size_t length, const char *label) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  static const hpar_mode modes[] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL};
  for (size_t i = 0; i < (hpar_predictor_name(0) ? 2 : 1); i++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = modes[i], .parallel.executor = HPAR_EXECUTOR_INLINE,
                            .parallel.chunk_size = 100};
    if (!CHECK_EQ(hpar_study_parse(parser, &options, data, length, document, &stats), HPAR_OK)) return;
    bool undeclared = !strcmp(stats.encoding_source, "valid-utf-8");
    const char *expected = hpar_encoding_name(label);
    if (!CHECK_STRING(undeclared ? "windows-1252" : stats.encoding, expected)) printf("  %s:%u\n", path, line);
  }
}

static void check_file(const char *path) {
  size_t length = 0;
  char *bytes = shared_read(path, &length), *end = bytes + length, *data = NULL;
  size_t data_length = 0;
  unsigned line = 1, tests = 0, first = 0;
  enum { OUTSIDE, DATA, ENCODING } in = OUTSIDE;
  if (!CHECK(bytes)) return;
  for (char *at = bytes; at < end; line++) {
    char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    size_t n = (size_t)(stop - at);
    if (n == 5 && !memcmp(at, "#data", 5)) {
      in = DATA;
      first = line;
      data = stop + 1;
    } else if (in == DATA && n == 9 && !memcmp(at, "#encoding", 9)) {
      in = ENCODING;
      data_length = (size_t)(at - data);
      if (data_length) data_length--;
    } else if (in == ENCODING && n) {
      char label[64];
      snprintf(label, sizeof label, "%.*s", (int)n, at);
      check_fixture(path, first, data, data_length, label);
      in = OUTSIDE;
      tests++;
    }
    at = stop + 1;
  }
  CHECK(tests > 0);
  printf("%s: %u tests\n", path, tests);
  free(bytes);
}

static void test_fixtures(const char *path) {
  shared_list files;
  if (!CHECK(shared_files(path, ".dat", &files))) return;
  for (size_t i = 0; i < files.count; i++) check_file(files.paths[i]);
  shared_list_free(&files);
}

int main(int count, char **arguments) {
  if (check_part(count, arguments, "fixtures")) {
    char path[4096];
    if (!shared_path(path, sizeof path, "html5lib-tests/encoding")) return CHECK_SKIPPED;
    if (hpar_parser_create(&parser) || hpar_document_create(&document)) exit(1);
    test_fixtures(path);
    hpar_document_destroy(document);
    hpar_parser_destroy(parser);
    return check_report();
  }
  test_labels();
  test_cases();
  test_indexes();
  test_random();
  test_offsets();
  test_mixed_offsets();
  test_sniff();
  if (hpar_parser_create(&parser) || hpar_document_create(&document) || hpar_document_create(&other)) exit(1);
  test_parses();
  test_source_offsets();
  test_memory();
  hpar_document_destroy(document);
  hpar_document_destroy(other);
  hpar_parser_destroy(parser);
  return check_report();
}
