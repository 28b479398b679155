/* The encoders of inserted text. Each character that an encoding encodes decodes to itself, and
 * each character of a code is encoded. The rewriter writes references for the others, and while
 * the encoding is uncertain. */

#include "check.h"
#include "support/buffer.h"
#include "text/encoding/decoder.h"

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <stdlib.h>

static const char *const labels[] = {
    "ibm866",       "iso-8859-2",   "iso-8859-3",   "iso-8859-4",   "iso-8859-5",   "iso-8859-6",   "iso-8859-7",
    "iso-8859-8",   "iso-8859-8-i", "iso-8859-10",  "iso-8859-13",  "iso-8859-14",  "iso-8859-15",  "iso-8859-16",
    "koi8-r",       "koi8-u",       "macintosh",    "windows-874",  "windows-1250", "windows-1251", "windows-1252",
    "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic",
    "gbk",          "gb18030",      "big5",         "euc-jp",       "shift_jis",    "euc-kr",       "x-user-defined"};
enum { LABELS = sizeof labels / sizeof *labels };

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* Encodes every character, decodes all codes at once, and compares. Returns the number. Encodings
 * of one byte have no character beyond U+FFFF, and search 128 entries to find that out: a part of
 * these characters suffices. */
static uint32_t check_characters(const char *label, const hp_encoder *encoder) {
  buffer codes = {0}, wanted = {0}, decoded = {0};
  uint32_t count = 0, step = encoder->encoding->kind == HP_ENCODING_SINGLE_BYTE ? 97 : 1;
  for (uint32_t c = 0x80; c < 0x110000; c += c < 0x10000 ? 1 : step) {
    unsigned char code[HP_MAX_CODE];
    char utf8[8];
    if (c == 0xD800) c = 0xE000;
    size_t length = hp_encode_character(encoder, c, code);
    if (!length) continue;
    count++;
    buffer_add(&codes, (const char *)code, length);
    buffer_add(&wanted, utf8, (size_t)(hp_put_code_point(utf8, c) - utf8));
  }
  CHECK_EQ(hpar_decode(label, codes.bytes, codes.length, collect, &decoded), HPAR_OK);
  CHECK_BYTES(decoded.bytes, decoded.length, wanted.bytes, wanted.length);
  buffer_free(&codes);
  buffer_free(&wanted);
  buffer_free(&decoded);
  return count;
}

/* Reads one character of UTF-8 that is the whole text, or returns 0. */
static uint32_t only_character(const buffer *text) {
  const unsigned char *p = (const unsigned char *)text->bytes;
  if (text->length == 2 && p[0] >= 0xC0) return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
  if (text->length == 3 && p[0] >= 0xE0) return (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
  if (text->length == 4 && p[0] >= 0xF0)
    return (p[0] & 7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
  return 0;
}

/* Codes that only decoders read: Shift_JIS's private characters, the rows of HKSCS in Big5. */
static bool is_only_read(hp_encoding_kind kind, const unsigned char *code, uint32_t c) {
  if (kind == HP_ENCODING_SHIFT_JIS) return c >= 0xE000 && c < 0xE800;
  return kind == HP_ENCODING_BIG5 && code[0] < 0xA1;
}

static void check_codes(const char *label, const hp_encoder *encoder) {
  buffer text = {0};
  hp_encoding_kind kind = encoder->encoding->kind;
  unsigned trails = kind == HP_ENCODING_SINGLE_BYTE || kind == HP_ENCODING_X_USER_DEFINED ? 1 : 0x100;
  for (unsigned lead = 0x80; lead < 0x100; lead++) {
    for (unsigned trail = 0; trail < trails; trail++) {
      unsigned char code[] = {(unsigned char)lead, (unsigned char)trail}, again[HP_MAX_CODE];
      size_t length = trail ? 2 : 1;
      buffer_clear(&text);
      CHECK_EQ(hpar_decode(label, (const char *)code, length, collect, &text), HPAR_OK);
      uint32_t c = only_character(&text);
      if (c < 0x80 || c == 0xFFFD || is_only_read(kind, code, c)) continue;
      if (!CHECK(hp_encode_character(encoder, c, again) != 0)) printf("  %s: U+%04X has no code\n", label, c);
    }
  }
  buffer_free(&text);
}

static void check_encodings(void) {
  for (int i = 0; i < LABELS; i++) {
    const hp_encoding *encoding = hp_encoding_for_label(labels[i], strlen(labels[i]));
    hp_encoder encoder;
    if (!CHECK(encoding) || !CHECK_EQ(hp_encoder_open(&encoder, encoding), HPAR_OK)) continue;
    uint32_t count = check_characters(labels[i], &encoder);
    CHECK(count >= 48);
    check_codes(labels[i], &encoder);
    if (encoding->kind == HP_ENCODING_GB18030 && strcmp(encoding->name, "GBK") != 0) CHECK(count > 1100000);
    if (encoding->kind == HP_ENCODING_BIG5) CHECK(count > 13000);
    if (encoding->kind == HP_ENCODING_EUC_JP) CHECK(count > 13000);
  }
  hp_encoder none;
  CHECK_EQ(hp_encoder_open(&none, &hp_utf16le), HPAR_ERROR_UNSUPPORTED);
}

static hpar_rewriter *rewriter;

static void check_output(const char *label, const char *page, const hpar_action *action, const char *wanted) {
  hpar_rules *rules = NULL;
  buffer out = {0};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .actions = action, .action_count = 1};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = label};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, strlen(page), NULL, collect, &out), HPAR_OK);
  if (!CHECK_BYTES(out.bytes, out.length, wanted, strlen(wanted))) printf("  %s\n", label ? label : "no label");
  buffer_free(&out);
  hpar_rules_destroy(rules);
}

static void check_rewriter(void) {
  hpar_action text = {.kind = HPAR_ACTION_APPEND, .value = {"<\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80", 10}};
  hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "a", .value = {"\xE4\xB8\xAD\"\xC3\xA9", 6}};
  check_output("latin1", "<p></p>", &text, "<p>&lt;\xE9&#20013;&#128512;</p>");
  check_output("big5", "<p></p>", &text, "<p>&lt;&#233;\xA4\xA4&#128512;</p>");
  check_output("gbk", "<p></p>", &text, "<p>&lt;\xA8\xA6\xD6\xD0&#128512;</p>");
  check_output("gb18030", "<p></p>", &text, "<p>&lt;\xA8\xA6\xD6\xD0\x94\x39\xFC\x36</p>");
  check_output("shift_jis", "<p></p>", &text, "<p>&lt;&#233;\x92\x86&#128512;</p>");
  check_output("euc-jp", "<p></p>", &text, "<p>&lt;\x8F\xAB\xB1\xC3\xE6&#128512;</p>");
  check_output("euc-kr", "<p></p>", &text, "<p>&lt;&#233;\xF1\xE9&#128512;</p>");
  check_output("utf-8", "<p></p>", &text, "<p>&lt;\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80</p>");
  check_output("big5", "<p a='x'>", &set, "<p a='\xA4\xA4\"&#233;'>");
  /* uncertain up to the declaration */
  check_output(NULL, "<p></p><meta charset=big5><p></p>", &text,
               "<p>&lt;&#233;&#20013;&#128512;</p><meta charset=big5><p>&lt;&#233;\xA4\xA4&#128512;</p>");
  check_output(NULL, "<p></p>", &text, "<p>&lt;&#233;&#20013;&#128512;</p>");
  /* An undeclared value is UTF-8 if it can be, and else windows-1252. */
  hpar_action prefix = {.kind = HPAR_ACTION_PREFIX_ATTRIBUTE, .name = "a", .value = {"x", 1}, .replacement = {"y", 1}};
  check_output(NULL, "<p a='x\x8E\xE9'>", &prefix, "<p a='y&#381;&#233;'>");
  check_output(NULL, "<p a='x\xC3\xA9'>", &prefix, "<p a='y&#233;'>");
  check_output(NULL, "<meta charset=utf-8><p a='x\x8E'>", &prefix, "<meta charset=utf-8><p a='y\xEF\xBF\xBD'>");
  /* No text of the page equals one that its encoding lacks. */
  hpar_action find = {
      .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"\xE2\x98\x83", 3}, .replacement = {"x", 1}};
  check_output("windows-1252", "<p>\xE2\x98\x83</p>", &find, "<p>\xE2\x98\x83</p>");
  check_output("utf-8", "<p>\xE2\x98\x83</p>", &find, "<p>x</p>");
  /* U+00A5 would be a backslash in Shift_JIS */
  hpar_action yen = {.kind = HPAR_ACTION_APPEND, .value = {"\xC2\xA5", 2}};
  check_output("shift_jis", "<p></p>", &yen, "<p>&#165;</p>");
}

int main(void) {
  check_encodings();
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  check_rewriter();
  hpar_rewriter_destroy(rewriter);
  return check_report();
}
