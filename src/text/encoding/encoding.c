#include "text/encoding/encoding.h"

#include "base/bytes.h"

#include <string.h>

const hp_encoding hp_utf8 = {"UTF-8", HP_ENCODING_UTF8};
const hp_encoding hp_utf16le = {"UTF-16LE", HP_ENCODING_UTF16LE};
const hp_encoding hp_utf16be = {"UTF-16BE", HP_ENCODING_UTF16BE};
const hp_encoding hp_windows1252 = {"windows-1252", HP_ENCODING_SINGLE_BYTE};

#define SINGLE_BYTE(name) (&(const hp_encoding){name, HP_ENCODING_SINGLE_BYTE})

/* A space precedes and follows each label. The encodings that pages use most come first. */
static const struct {
  const hp_encoding *encoding;
  const char *labels;
} encodings[] = {
    {&hp_utf8, " unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 "},
    {&hp_windows1252, " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591"
                      " iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 "},
    {SINGLE_BYTE("windows-1251"), " cp1251 windows-1251 x-cp1251 "},
    {&(const hp_encoding){"GBK", HP_ENCODING_GB18030},
     " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk "},
    {&(const hp_encoding){"Shift_JIS", HP_ENCODING_SHIFT_JIS},
     " csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis "},
    {&(const hp_encoding){"EUC-KR", HP_ENCODING_EUC_KR},
     " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
     " windows-949 "},
    {&(const hp_encoding){"EUC-JP", HP_ENCODING_EUC_JP}, " cseucpkdfmtjapanese euc-jp x-euc-jp "},
    {SINGLE_BYTE("IBM866"), " 866 cp866 csibm866 ibm866 "},
    {SINGLE_BYTE("ISO-8859-2"),
     " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "},
    {SINGLE_BYTE("ISO-8859-3"),
     " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "},
    {SINGLE_BYTE("ISO-8859-4"),
     " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "},
    {SINGLE_BYTE("ISO-8859-5"),
     " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "},
    {SINGLE_BYTE("ISO-8859-6"),
     " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e"
     " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "},
    {SINGLE_BYTE("ISO-8859-7"),
     " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
     " iso_8859-7:1987 sun_eu_greek "},
    {SINGLE_BYTE("ISO-8859-8"),
     " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
     " iso_8859-8:1988 visual "},
    {SINGLE_BYTE("ISO-8859-8-I"), " csiso88598i iso-8859-8-i logical "},
    {SINGLE_BYTE("ISO-8859-10"), " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 "},
    {SINGLE_BYTE("ISO-8859-13"), " iso-8859-13 iso8859-13 iso885913 "},
    {SINGLE_BYTE("ISO-8859-14"), " iso-8859-14 iso8859-14 iso885914 "},
    {SINGLE_BYTE("ISO-8859-15"), " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 "},
    {SINGLE_BYTE("ISO-8859-16"), " iso-8859-16 "},
    {SINGLE_BYTE("KOI8-R"), " cskoi8r koi koi8 koi8-r koi8_r "},
    {SINGLE_BYTE("KOI8-U"), " koi8-ru koi8-u "},
    {SINGLE_BYTE("macintosh"), " csmacintosh mac macintosh x-mac-roman "},
    {SINGLE_BYTE("windows-874"), " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 "},
    {SINGLE_BYTE("windows-1250"), " cp1250 windows-1250 x-cp1250 "},
    {SINGLE_BYTE("windows-1253"), " cp1253 windows-1253 x-cp1253 "},
    {SINGLE_BYTE("windows-1254"),
     " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
     " windows-1254 x-cp1254 "},
    {SINGLE_BYTE("windows-1255"), " cp1255 windows-1255 x-cp1255 "},
    {SINGLE_BYTE("windows-1256"), " cp1256 windows-1256 x-cp1256 "},
    {SINGLE_BYTE("windows-1257"), " cp1257 windows-1257 x-cp1257 "},
    {SINGLE_BYTE("windows-1258"), " cp1258 windows-1258 x-cp1258 "},
    {SINGLE_BYTE("x-mac-cyrillic"), " x-mac-cyrillic x-mac-ukrainian "},
    {&(const hp_encoding){"gb18030", HP_ENCODING_GB18030}, " gb18030 "},
    {&(const hp_encoding){"Big5", HP_ENCODING_BIG5}, " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {&(const hp_encoding){"ISO-2022-JP", HP_ENCODING_ISO_2022_JP}, " csiso2022jp iso-2022-jp "},
    {&(const hp_encoding){"replacement", HP_ENCODING_REPLACEMENT},
     " csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement "},
    {&hp_utf16be, " unicodefffe utf-16be "},
    {&hp_utf16le, " csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le "},
    {&(const hp_encoding){"x-user-defined", HP_ENCODING_X_USER_DEFINED}, " x-user-defined "},
};

enum { COUNT = sizeof encodings / sizeof *encodings, LONGEST = 32 };

const hp_encoding *hp_encoding_for_label(const char *label, size_t length) {
  while (length && hp_ascii_is_white(*label)) {
    label++;
    length--;
  }
  while (length && hp_ascii_is_white(label[length - 1])) length--;
  char word[LONGEST + 3];
  if (!length || length > LONGEST) return NULL;
  word[0] = ' ';
  for (size_t i = 0; i < length; i++) {
    char c = label[i];
    if (c <= ' ') return NULL;
    word[i + 1] = hp_ascii_lower(c);
  }
  word[length + 1] = ' ';
  word[length + 2] = 0;
  for (size_t i = 0; i < COUNT; i++)
    if (strstr(encodings[i].labels, word)) return encodings[i].encoding;
  return NULL;
}

bool hp_encoding_keeps_ascii(const hp_encoding *encoding) {
  switch (encoding->kind) {
    case HP_ENCODING_UTF16LE:
    case HP_ENCODING_UTF16BE:
    case HP_ENCODING_ISO_2022_JP:
    case HP_ENCODING_REPLACEMENT: return false;
    default: return true;
  }
}

bool hp_encoding_has_bracket_trails(const hp_encoding *e) {
  return e->kind == HP_ENCODING_GB18030 || e->kind == HP_ENCODING_BIG5 || e->kind == HP_ENCODING_SHIFT_JIS;
}

bool hp_encoding_is_lead(const hp_encoding *e, unsigned char b) {
  if (e->kind == HP_ENCODING_SHIFT_JIS) return (b > 0x80 && b < 0xA0) || (b >= 0xE0 && b <= 0xFC);
  if (e->kind == HP_ENCODING_EUC_JP && b < 0xA1) return b == 0x8E || b == 0x8F;
  return b > 0x80 && b < 0xFF;
}

/* By the rows of the indexes that are empty at "]". */
bool hp_encoding_takes_bracket(const hp_encoding *e, unsigned char lead) {
  static const char empty[] = "\x82\x85\x86\x88\xEB\xEC\xEF\xFC"; /* of Shift_JIS */
  if (e->kind == HP_ENCODING_BIG5) return lead >= 0x87;
  return e->kind != HP_ENCODING_SHIFT_JIS || !memchr(empty, lead, sizeof empty - 1);
}

size_t hp_encoding_length_at(const hp_encoding *e, const char *at, const char *end) {
  const size_t left = (size_t)(end - at);
  if (!hp_encoding_is_lead(e, (unsigned char)*at)) return 1;
  if (left < 2) return 0;
  const unsigned char second = (unsigned char)at[1];
  if (e->kind == HP_ENCODING_EUC_JP && *at == '\x8F' && second > 0xA0 && second < 0xFF)
    return left < 3 ? 0 : (unsigned char)at[2] < 0x80 ? 2 : 3;
  if (second >= 0x80) return 2;
  if (e->kind == HP_ENCODING_GB18030 && hp_ascii_is_digit(at[1])) {
    if (left > 2 && !hp_encoding_is_lead(e, (unsigned char)at[2])) return 1;
    return left < 4 ? 0 : 4;
  }
  if (second == ']')
    return hp_encoding_has_bracket_trails(e) && hp_encoding_takes_bracket(e, (unsigned char)*at) ? 2 : 1;
  if (e->kind == HP_ENCODING_EUC_KR) return hp_ascii_is_letter(at[1]) ? 2 : 1;
  return e->kind == HP_ENCODING_EUC_JP || second < 0x40 || second == 0x7F ? 1 : 2;
}

const char *hp_encoding_source_name(hp_encoding_source source) {
  static const char *const names[] = {
      [HP_ENCODING_FROM_BOM] = "bom",           [HP_ENCODING_FROM_HINT] = "hint",
      [HP_ENCODING_FROM_META] = "meta",         [HP_ENCODING_FROM_VALID_UTF8] = "valid-utf-8",
      [HP_ENCODING_FROM_FALLBACK] = "fallback", [HP_ENCODING_FROM_LATE_META] = "late-meta",
  };
  return names[source];
}

/* For a document whose declaration has been read byte by byte. */
static const hp_encoding *as_declared(const hp_encoding *encoding) {
  if (!encoding) return NULL;
  if (encoding->kind == HP_ENCODING_UTF16LE || encoding->kind == HP_ENCODING_UTF16BE) return &hp_utf8;
  return encoding->kind == HP_ENCODING_X_USER_DEFINED ? &hp_windows1252 : encoding;
}

const hp_encoding *hp_encoding_in_content(const char *content, size_t length) {
  static const char word[] = "charset";
  const size_t word_length = sizeof word - 1;
  const char *at = content, *end = content + length;
  for (;;) {
    while ((size_t)(end - at) >= word_length && !hp_ascii_equal(at, word, word_length)) at++;
    if ((size_t)(end - at) < word_length) return NULL;
    at += word_length;
    while (at < end && hp_ascii_is_white(*at)) at++;
    if (at < end && *at == '=') break;
  }
  at++;
  while (at < end && hp_ascii_is_white(*at)) at++;
  if (at == end) return NULL;
  const char *stop;
  if (*at == '"' || *at == '\'') {
    stop = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!stop) return NULL;
    at++;
  } else {
    for (stop = at; stop < end && !hp_ascii_is_white(*stop) && *stop != ';'; stop++) continue;
  }
  return hp_encoding_for_label(at, (size_t)(stop - at));
}

const hp_encoding *hp_change_encoding(const hp_encoding *now, const hp_encoding *named) {
  if (now->kind == HP_ENCODING_UTF16LE || now->kind == HP_ENCODING_UTF16BE) return now;
  return as_declared(named);
}

/* The bytes that the prescan may see. `at` at the end means that it has run out of them. */
typedef struct scan {
  const char *at, *end;
} scan;

/* A name or value as far as it matters, in lower case: one that is longer than all that are
 * looked for, or not kept as a whole, is not equal to any of them. */
typedef struct word {
  char bytes[HP_SNIFF_BYTES];
  size_t length;
} word;

static void add_letter(word *word, char c) {
  if (word->length < sizeof word->bytes) word->bytes[word->length++] = hp_ascii_lower(c);
}

static void add_all(word *word, const char *at, const char *end) {
  while (at < end) add_letter(word, *at++);
}

static bool is(const word *word, const char *text) {
  return word->length == strlen(text) && !memcmp(word->bytes, text, word->length);
}

static void skip_white(scan *s) {
  while (s->at < s->end && hp_ascii_is_white(*s->at)) s->at++;
}

//§ concept-get-attributes-when-sniffing
/* Reads an attribute. `name` and `value` are NULL if the caller only skips it. Returns false if the
 * tag has no more attributes or the bytes end. */
static bool next_attribute(scan *s, word *name, word *value) {
  if (name) name->length = value->length = 0;
  while (s->at < s->end && (hp_ascii_is_white(*s->at) || *s->at == '/')) s->at++;
  if (s->at == s->end || *s->at == '>') return false;
  for (const char *begin = s->at;; s->at++) {
    if (s->at == s->end) return false;
    char c = *s->at;
    if (c == '=' && s->at > begin) break;
    if (hp_ascii_is_white(c)) {
      skip_white(s);
      if (s->at == s->end) return false;
      if (*s->at != '=') return true;
      break;
    }
    if (c == '/' || c == '>') return true;
    if (name) add_letter(name, c);
  }
  s->at++;
  skip_white(s);
  if (s->at == s->end) return false;
  char quote = *s->at;
  if (quote == '"' || quote == '\'') {
    const char *begin = s->at + 1, *stop = memchr(begin, quote, (size_t)(s->end - begin));
    s->at = stop ? stop + 1 : s->end;
    if (value && stop) add_all(value, begin, stop);
    return stop;
  }
  for (; s->at < s->end && !hp_ascii_is_white(*s->at) && *s->at != '>'; s->at++)
    if (value) add_letter(value, *s->at);
  return s->at < s->end;
}

/* Returns the encoding that a meta tag declares. The scan is after "<meta" and a space. */
static const hp_encoding *meta(scan *s) {
  bool pragma = false, needs_pragma = false, charset_seen = false, http_equiv_seen = false, content_seen = false;
  const hp_encoding *encoding = NULL;
  word name, value;
  while (next_attribute(s, &name, &value)) {
    if (is(&name, "http-equiv") && !http_equiv_seen) {
      http_equiv_seen = true;
      pragma = is(&value, "content-type");
    } else if (is(&name, "content") && !content_seen) {
      content_seen = true;
      const hp_encoding *found = hp_encoding_in_content(value.bytes, value.length);
      if (found && !encoding && !charset_seen) {
        encoding = found;
        needs_pragma = true;
      }
    } else if (is(&name, "charset") && !charset_seen) {
      charset_seen = true;
      encoding = hp_encoding_for_label(value.bytes, value.length);
      needs_pragma = false;
    }
  }
  if (s->at == s->end || (needs_pragma && !pragma)) return NULL;
  return as_declared(encoding);
}

static bool starts(const scan *s, const char *text) {
  size_t length = strlen(text);
  return (size_t)(s->end - s->at) >= length && hp_ascii_equal(s->at, text, length);
}

/* To the last byte of the first `text` that begins at `from` or later; to the end without one. */
static void skip_to(scan *s, const char *from, const char *text) {
  size_t length = strlen(text);
  const char *found = from < s->end ? memmem(from, (size_t)(s->end - from), text, length) : NULL;
  s->at = found ? found + length - 1 : s->end;
}

static void skip_tag(scan *s) {
  while (s->at < s->end && !hp_ascii_is_white(*s->at) && *s->at != '>') s->at++;
  while (next_attribute(s, NULL, NULL)) continue;
}

//§ concept-get-xml-encoding-when-sniffing
static const hp_encoding *xml_encoding(const char *bytes, size_t length) {
  static const char word[] = "encoding";
  if (length < 5 || memcmp(bytes, "<?xml", 5) != 0) return NULL;
  const char *end = memchr(bytes, '>', length);
  const char *at = end ? memmem(bytes, (size_t)(end - bytes), word, sizeof word - 1) : NULL;
  if (!at) return NULL;
  at += sizeof word - 1;
  while (at < end && (unsigned char)*at <= ' ') at++;
  if (*at++ != '=') return NULL;
  while (at < end && (unsigned char)*at <= ' ') at++;
  if (at >= end || (*at != '"' && *at != '\'')) return NULL;
  const char *stop = memchr(at + 1, *at, (size_t)(end - at - 1));
  if (!stop) return NULL;
  for (const char *c = ++at; c < stop; c++)
    if ((unsigned char)*c <= ' ') return NULL;
  return as_declared(hp_encoding_for_label(at, (size_t)(stop - at)));
}

//§ prescan-a-byte-stream-to-determine-its-encoding
static const hp_encoding *prescan(const char *bytes, size_t length) {
  scan s = {bytes, bytes + length};
  if (length >= 6 && !memcmp(bytes, "<\0?\0x\0", 6)) return &hp_utf16le;
  if (length >= 6 && !memcmp(bytes, "\0<\0?\0x", 6)) return &hp_utf16be;
  for (; s.at < s.end; s.at += s.at < s.end) {
    s.at = memchr(s.at, '<', (size_t)(s.end - s.at));
    if (!s.at) break;
    if (starts(&s, "<!--")) {
      skip_to(&s, s.at + 2, "-->");
    } else if (starts(&s, "<meta") && s.end - s.at > 5 && (hp_ascii_is_white(s.at[5]) || s.at[5] == '/')) {
      s.at += 5;
      const hp_encoding *found = meta(&s);
      if (found) return found;
    } else if (s.end - s.at > 1 &&
               (hp_ascii_is_letter(s.at[1]) || (s.at[1] == '/' && s.end - s.at > 2 && hp_ascii_is_letter(s.at[2])))) {
      skip_tag(&s);
    } else if (s.end - s.at > 1 && (s.at[1] == '!' || s.at[1] == '/' || s.at[1] == '?')) {
      skip_to(&s, s.at, ">");
    }
  }
  return xml_encoding(bytes, length);
}

hp_sniffed hp_sniff(const char *bytes, size_t length, const hp_encoding *hint, bool scan) {
  if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) return (hp_sniffed){&hp_utf8, HP_ENCODING_FROM_BOM, true};
  if (length >= 2 && !memcmp(bytes, "\xFF\xFE", 2)) return (hp_sniffed){&hp_utf16le, HP_ENCODING_FROM_BOM, true};
  if (length >= 2 && !memcmp(bytes, "\xFE\xFF", 2)) return (hp_sniffed){&hp_utf16be, HP_ENCODING_FROM_BOM, true};
  if (hint) return (hp_sniffed){hint, HP_ENCODING_FROM_HINT, true};
  const hp_encoding *found = scan && length ? prescan(bytes, length < HP_SNIFF_BYTES ? length : HP_SNIFF_BYTES) : NULL;
  return (hp_sniffed){found, HP_ENCODING_FROM_META, false};
}
