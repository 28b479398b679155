#ifndef HP_TEXT_ENCODING_INDEX_H
#define HP_TEXT_ENCODING_INDEX_H

/* The indexes of the Encoding Standard, as tables from pointers to UTF-8. The
 * process unpacks each table once, at its first use (1 to 96 KB), and keeps it. */

#include "text/encoding/encoding.h"

#include <hpar/node.h>
#include <stddef.h>

/* One character in UTF-8, in the first bytes; all bytes are zero for none. Only Big5 has four
 * entries of two characters each. */
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
  HP_GB18030_FOUR_BYTES = 39420 /* pointers of four-byte codes for characters up to U+FFFF */
};

/* Fills the memory of a table, which is zero. Makes no other table. */
typedef hpar_status (*hp_table_maker)(const void *key, void *table);
/* Returns the table of `key`. Makes it at its first use; it stays in memory. */
hpar_status hp_table_open(const void *key, size_t bytes, hp_table_maker make, const void **table);

/* Returns the number of pointers of the index. */
uint32_t hp_index_size(hp_index index);
/* HPAR_ERROR_MEMORY. */
hpar_status hp_index_open(hp_index index, const hp_character **table);

/* The characters of the four-byte codes of GB18030 below HP_GB18030_FOUR_BYTES. */
hpar_status hp_gb18030_ranges_open(const uint16_t **table);

/* Sets `*table` to the characters of all 256 bytes. A byte without a character has U+FFFD.
 * HPAR_ERROR_MEMORY. */
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
