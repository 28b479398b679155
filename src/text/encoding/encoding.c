#include "text/encoding/encoding.h"

#include "base/bytes.h"

#include <string.h>

const hp_encoding hp_utf8 = {"UTF-8", HP_ENCODING_UTF8};
const hp_encoding hp_utf16le = {"UTF-16LE", HP_ENCODING_UTF16LE};
const hp_encoding hp_utf16be = {"UTF-16BE", HP_ENCODING_UTF16BE};
const hp_encoding hp_windows1252 = {"windows-1252", HP_ENCODING_SINGLE_BYTE};

/* A space precedes and follows each label. */
static const struct {
  const hp_encoding *encoding;
  const char *labels;
} encodings[] = {
    {&hp_utf8, " unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 "},
    {&(const hp_encoding){"IBM866", HP_ENCODING_SINGLE_BYTE}, " 866 cp866 csibm866 ibm866 "},
    {&(const hp_encoding){"ISO-8859-2", HP_ENCODING_SINGLE_BYTE},
     " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "},
    {&(const hp_encoding){"ISO-8859-3", HP_ENCODING_SINGLE_BYTE},
     " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "},
    {&(const hp_encoding){"ISO-8859-4", HP_ENCODING_SINGLE_BYTE},
     " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "},
    {&(const hp_encoding){"ISO-8859-5", HP_ENCODING_SINGLE_BYTE},
     " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "},
    {&(const hp_encoding){"ISO-8859-6", HP_ENCODING_SINGLE_BYTE},
     " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e"
     " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "},
    {&(const hp_encoding){"ISO-8859-7", HP_ENCODING_SINGLE_BYTE},
     " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
     " iso_8859-7:1987 sun_eu_greek "},
    {&(const hp_encoding){"ISO-8859-8", HP_ENCODING_SINGLE_BYTE},
     " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
     " iso_8859-8:1988 visual "},
    {&(const hp_encoding){"ISO-8859-8-I", HP_ENCODING_SINGLE_BYTE}, " csiso88598i iso-8859-8-i logical "},
    {&(const hp_encoding){"ISO-8859-10", HP_ENCODING_SINGLE_BYTE},
     " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 "},
    {&(const hp_encoding){"ISO-8859-13", HP_ENCODING_SINGLE_BYTE}, " iso-8859-13 iso8859-13 iso885913 "},
    {&(const hp_encoding){"ISO-8859-14", HP_ENCODING_SINGLE_BYTE}, " iso-8859-14 iso8859-14 iso885914 "},
    {&(const hp_encoding){"ISO-8859-15", HP_ENCODING_SINGLE_BYTE},
     " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 "},
    {&(const hp_encoding){"ISO-8859-16", HP_ENCODING_SINGLE_BYTE}, " iso-8859-16 "},
    {&(const hp_encoding){"KOI8-R", HP_ENCODING_SINGLE_BYTE}, " cskoi8r koi koi8 koi8-r koi8_r "},
    {&(const hp_encoding){"KOI8-U", HP_ENCODING_SINGLE_BYTE}, " koi8-ru koi8-u "},
    {&(const hp_encoding){"macintosh", HP_ENCODING_SINGLE_BYTE}, " csmacintosh mac macintosh x-mac-roman "},
    {&(const hp_encoding){"windows-874", HP_ENCODING_SINGLE_BYTE},
     " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 "},
    {&(const hp_encoding){"windows-1250", HP_ENCODING_SINGLE_BYTE}, " cp1250 windows-1250 x-cp1250 "},
    {&(const hp_encoding){"windows-1251", HP_ENCODING_SINGLE_BYTE}, " cp1251 windows-1251 x-cp1251 "},
    {&hp_windows1252, " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591"
                      " iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 "},
    {&(const hp_encoding){"windows-1253", HP_ENCODING_SINGLE_BYTE}, " cp1253 windows-1253 x-cp1253 "},
    {&(const hp_encoding){"windows-1254", HP_ENCODING_SINGLE_BYTE},
     " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
     " windows-1254 x-cp1254 "},
    {&(const hp_encoding){"windows-1255", HP_ENCODING_SINGLE_BYTE}, " cp1255 windows-1255 x-cp1255 "},
    {&(const hp_encoding){"windows-1256", HP_ENCODING_SINGLE_BYTE}, " cp1256 windows-1256 x-cp1256 "},
    {&(const hp_encoding){"windows-1257", HP_ENCODING_SINGLE_BYTE}, " cp1257 windows-1257 x-cp1257 "},
    {&(const hp_encoding){"windows-1258", HP_ENCODING_SINGLE_BYTE}, " cp1258 windows-1258 x-cp1258 "},
    {&(const hp_encoding){"x-mac-cyrillic", HP_ENCODING_SINGLE_BYTE}, " x-mac-cyrillic x-mac-ukrainian "},
    {&(const hp_encoding){"GBK", HP_ENCODING_GB18030},
     " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk "},
    {&(const hp_encoding){"gb18030", HP_ENCODING_GB18030}, " gb18030 "},
    {&(const hp_encoding){"Big5", HP_ENCODING_BIG5}, " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {&(const hp_encoding){"EUC-JP", HP_ENCODING_EUC_JP}, " cseucpkdfmtjapanese euc-jp x-euc-jp "},
    {&(const hp_encoding){"ISO-2022-JP", HP_ENCODING_ISO_2022_JP}, " csiso2022jp iso-2022-jp "},
    {&(const hp_encoding){"Shift_JIS", HP_ENCODING_SHIFT_JIS},
     " csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis "},
    {&(const hp_encoding){"EUC-KR", HP_ENCODING_EUC_KR},
     " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
     " windows-949 "},
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
    word[i + 1] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
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
