#ifndef HP_TEXT_ENCODING_INDEX_H
#define HP_TEXT_ENCODING_INDEX_H

/* The indexes of the Encoding Standard, as tables from pointers to UTF-8. The system's iconv says what each code
 * stands for; the few places where the standard wants something else are ours. A table is made once for the
 * process, when it is first asked for (32 to 160 KB, a millisecond or less), and kept. */

#include "text/encoding/encoding.h"

#include <hpar/status.h>

/* One character in UTF-8, in the first bytes; all zero: none. Big5 alone has four "characters" of two each. */
typedef struct hp_character {
  char utf8[4];
} hp_character;

typedef enum hp_index {
  HP_INDEX_GB18030,
  HP_INDEX_BIG5,
  HP_INDEX_JIS0208,
  HP_INDEX_JIS0212,
  HP_INDEX_EUC_KR,
  HP_INDEXES
} hp_index;

enum {
  HP_BIG5_ROW = 157,
  HP_GB18030_ROW = 190,
  HP_JIS_ROW = 94,
  HP_SHIFT_JIS_ROW = 188,
  HP_GB18030_FOUR_BYTES = 39420 /* pointers of four-byte codes that stand for characters up to U+FFFF */
};

/* What `pointer`s there are lies below hp_index_size. */
uint32_t hp_index_size(hp_index index);
hpar_status hp_index_open(hp_index index, const hp_character **table);

/* The characters of the four-byte codes of GB18030 below HP_GB18030_FOUR_BYTES. */
hpar_status hp_gb18030_ranges_open(const uint16_t **table);

/* All 256 bytes; what has no character has U+FFFD. Never fails for windows-1252 but for memory. */
hpar_status hp_single_byte_open(const hp_encoding *encoding, const hp_character **table);

static inline char *hp_put_code_point(char *out, uint32_t c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xC0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out++ = (char)(0xE0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *out++ = (char)(0xF0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  }
  return out;
}

#endif
