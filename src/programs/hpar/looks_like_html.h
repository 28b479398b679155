#ifndef HP_PROGRAMS_HPAR_LOOKS_LIKE_HTML_H
#define HP_PROGRAMS_HPAR_LOOKS_LIKE_HTML_H

/* A guess from the first bytes whether a file is HTML. It serves for a warning only: every input
 * has a tree. */

#include <stddef.h>

/* Returns NULL if the bytes may be HTML, or else what they look like, for example "a PNG image",
 * "binary data" or "plain text". Reads at most the first 4096 bytes: known signatures, the share
 * of NUL, the first character that is not white space, and whether a tag follows. `encoding` is
 * a name of the Encoding Standard; UTF-16 contains NULs. */
const char *hp_looks_like_else(const char *bytes, size_t length, const char *encoding);

#endif
