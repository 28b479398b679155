#ifndef HP_TEXT_ENCODING_ENCODING_H
#define HP_TEXT_ENCODING_ENCODING_H

/* The encodings of the Encoding Standard, by their labels. Each has one hp_encoding, so code
 * compares addresses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hp_encoding_kind {
  HP_ENCODING_UTF8,
  HP_ENCODING_UTF16LE,
  HP_ENCODING_UTF16BE,
  HP_ENCODING_SINGLE_BYTE,
  HP_ENCODING_GB18030, /* and GBK, which is decoded the same */
  HP_ENCODING_BIG5,
  HP_ENCODING_EUC_JP,
  HP_ENCODING_ISO_2022_JP,
  HP_ENCODING_SHIFT_JIS,
  HP_ENCODING_EUC_KR,
  HP_ENCODING_REPLACEMENT,
  HP_ENCODING_X_USER_DEFINED
} hp_encoding_kind;

typedef struct hp_encoding {
  const char *name; /* as the Encoding Standard writes it */
  hp_encoding_kind kind;
} hp_encoding;

extern const hp_encoding hp_utf8, hp_utf16le, hp_utf16be, hp_windows1252;

//§ concept-encoding-get, of the Encoding Standard: NULL where the label names none
const hp_encoding *hp_encoding_for_label(const char *label, size_t length);

/* Returns true if every byte below 80 means itself after another such byte. */
bool hp_encoding_keeps_ascii(const hp_encoding *encoding);

#endif
