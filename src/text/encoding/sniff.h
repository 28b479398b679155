#ifndef HP_TEXT_ENCODING_SNIFF_H
#define HP_TEXT_ENCODING_SNIFF_H

/* Finds the encoding of a byte stream from its first bytes and its transport. */

#include "text/encoding/encoding.h"

typedef enum hp_encoding_source {
  HP_ENCODING_FROM_BOM,
  HP_ENCODING_FROM_HINT,
  HP_ENCODING_FROM_META,       /* the prescan's */
  HP_ENCODING_FROM_VALID_UTF8, /* undeclared; all bytes are valid UTF-8 */
  HP_ENCODING_FROM_FALLBACK,   /* undeclared and not valid UTF-8: windows-1252 */
  HP_ENCODING_FROM_LATE_META   /* a meta that the tree builder found, and that differs */
} hp_encoding_source;

/* "bom", "hint", "meta", "valid-utf-8", "fallback", "late-meta" */
const char *hp_encoding_source_name(hp_encoding_source source);

/* If `certain` is true, no meta element changes the encoding. */
typedef struct hp_sniffed {    // value
  const hp_encoding *encoding; /* NULL: undeclared, UTF-8 or windows-1252 */
  hp_encoding_source source;
  bool certain;
} hp_sniffed;

enum { HP_SNIFF_BYTES = 1024 };

//§ determining-the-character-encoding
/* Requires: `bytes` are the first HP_SNIFF_BYTES, or all if there are fewer; it reads no more.
 * `hint` is that of the transport, or NULL. Without `prescan`, as for a fragment, it skips the
 * search for a meta. */
hp_sniffed hp_sniff(const char *bytes, size_t length, const hp_encoding *hint, bool prescan);

//§ algorithm-for-extracting-a-character-encoding-from-a-meta-element
const hp_encoding *hp_encoding_in_content(const char *content, size_t length);

//§ changing-the-encoding-while-parsing
/* What a tentative `now` becomes when a meta element names `named`: `now` itself if the text
 * need not be decoded again on that account. */
const hp_encoding *hp_change_encoding(const hp_encoding *now, const hp_encoding *named);

#endif
