#ifndef HP_TEXT_REFERENCES_VALUE_TEXT_H
#define HP_TEXT_REFERENCES_VALUE_TEXT_H

/* Decodes the character references of a whole attribute value, without errors. The value has no CR
 * and no NUL. A table of the first two characters has the frequent references. Others need one
 * look-up at most: without a semicolon, a name of letters and digits is a reference only as a
 * whole, and only if no equals sign follows. */

#include <stddef.h>

/* The decoder writes up to so many bytes after a decoded value. */
enum { HP_DECODING_SLACK = 16 };

/* Returns the maximal length of a decoded value. "&nGt;" and "&nLt;" are the only references that
 * are shorter than their replacements: they have 5 bytes and stand for 6. */
static inline size_t hp_decoded_bound(size_t length) { return length + length / 5; }

/* Returns the first '&' of [at, end) that begins a reference, or `end`. The value has bytes up to
 * `end`, and bytes before `limit` are readable. */
const char *hp_find_value_reference(const char *at, const char *end, const char *limit);

/* Decodes [from, end) to `to`. `first` is the first reference. Returns the end of the copy. */
char *hp_decode_value_text(char *to, const char *from, const char *first, const char *end, const char *limit);

#endif
