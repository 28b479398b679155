/* Checks encodings. A page in a declared encoding has the tree of its text after hpar_decode, which
 * is valid UTF-8. Every mode parses undeclared bytes to the same tree. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

static hpar_status keep(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

static bool is_utf8(const unsigned char *p, size_t n) {
  for (size_t i = 0; i < n;) {
    unsigned c = p[i];
    size_t more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 9;
    if (more > n - i - 1) return false;
    for (size_t k = 1; k <= more; k++)
      if ((p[i + k] & 0xC0) != 0x80) return false;
    if ((c == 0xE0 && p[i + 1] < 0xA0) || (c == 0xED && p[i + 1] > 0x9F) || (c == 0xF0 && p[i + 1] < 0x90) ||
        (c == 0xF4 && p[i + 1] > 0x8F))
      return false;
    i += more + 1;
  }
  return true;
}

static bool begins(const char *bytes, size_t length, const char *with) {
  return length >= strlen(with) && !memcmp(bytes, with, strlen(with));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const labels[] = {
      NULL,          "utf-8",       "windows-1252", "gbk",          "gb18030",      "big5",
      "euc-jp",      "iso-2022-jp", "shift_jis",    "euc-kr",       "utf-16le",     "utf-16be",
      "iso-8859-2",  "iso-8859-8",  "iso-8859-16",  "koi8-r",       "koi8-u",       "macintosh",
      "windows-874", "ibm866",      "windows-1250", "windows-1255", "windows-1258", "x-mac-cyrillic",
      "iso-8859-6",  "iso-8859-15", "replacement",  "iso-8859-8-i", "windows-1257", "x-user-defined"};
  static comparer with;
  static buffer text, direct;
  static uint64_t cuts[COMPARE_MAX_CUTS];
  compare_case document;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &document, &choices)) return 0;
  if (!with.parser && !compare_open(&with)) abort();
  const char *bytes = document.bytes;
  size_t length = document.length;
  document.encoding = labels[choices[0] % (sizeof labels / sizeof *labels)];
  if (!compare_expect(&with, &document, 0)) fuzz_wrong(hpar_status_text(with.status), bytes, length);
  size_t count = 0;
  for (uint64_t at = 1 + choices[1] % 16; at < length && count < 16; at += 1 + choices[2] % 64) cuts[count++] = at;
  if (count && hpar_predictor_name(0)) {
    compare_how how = {
        .threads = 1, .executor = HPAR_EXECUTOR_INLINE, .cuts = cuts, .cut_count = count, .checkpoint_bytes = 1};
    compare_result result = compare_parallel(&with, &how);
    if (result != COMPARE_SAME) {
      compare_print(&with, &how, result);
      fflush(stdout);
      abort();
    }
  }
  if (!document.encoding) return 0;
  buffer_clear(&text);
  hpar_status status = hpar_decode(document.encoding, length ? bytes : NULL, length, keep, &text);
  if (status) fuzz_wrong(hpar_status_text(status), bytes, length);
  if (!is_utf8((const unsigned char *)text.bytes, text.length)) fuzz_wrong("decoded to no UTF-8", bytes, length);
  bool marked =
      begins(bytes, length, "\xEF\xBB\xBF") || begins(bytes, length, "\xFE\xFF") || begins(bytes, length, "\xFF\xFE");
  if (marked || (text.length && begins(text.bytes, text.length, "\xEF\xBB\xBF"))) return 0;
  buffer_clear(&direct);
  buffer_add(&direct, with.expected.bytes, with.expected.length);
  compare_case decoded = {text.bytes ? text.bytes : "", text.length, NULL, false, "utf-8"};
  if (!compare_expect(&with, &decoded, 0)) fuzz_wrong(hpar_status_text(with.status), bytes, length);
  if (with.expected.length != direct.length ||
      (direct.length && memcmp(with.expected.bytes, direct.bytes, direct.length)))
    fuzz_wrong("the tree is not that of the decoded text", bytes, length);
  return 0;
}
