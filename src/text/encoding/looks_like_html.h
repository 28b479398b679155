#ifndef HP_TEXT_ENCODING_LOOKS_LIKE_HTML_H
#define HP_TEXT_ENCODING_LOOKS_LIKE_HTML_H

/* Is it HTML at all? A guess from the first bytes, good for a warning and for nothing else: everything has a tree. */

#include "text/encoding/encoding.h"

/* NULL if it may well be HTML; otherwise what it looks like, as in "a PNG image", "binary data" or "plain text". At
 * most the first 4096 bytes are looked at: known beginnings, how many are NUL, what the first is that is no white
 * space, and whether there is a tag. In UTF-16, NULs do not count. `encoding` may be NULL. */
const char *hp_looks_like_else(const char *bytes, size_t length, const hp_encoding *encoding);

#endif
