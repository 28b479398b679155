#ifndef HP_TEXT_REFERENCES_REFERENCES_H
#define HP_TEXT_REFERENCES_REFERENCES_H

/* Character references. One look-up resolves a reference with a semicolon. The few names that are
 * valid without a semicolon have at most six letters, so the longest match costs at most five more
 * look-ups. */

#include "base/bytes.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_reference {
  const char *end; /* end of the consumed bytes, always after '&' */
  unsigned length; /* of the replacement; 0: the characters up to `end` stand for themselves */
  char bytes[8];   /* at most 6 are used */
} hp_reference;

/* Reads the reference at `at`, which points to '&'. `end` is the end of the input. Error offsets
 * count from `base`. */
hp_reference hp_read_reference(const char *at, const char *end, bool in_attribute, const char *base, hp_errors *errors);

/* Returns true if more bytes after `end` can change the meaning of the reference whose text after
 * '&' is [at, end). The text is letters, digits and '#'. */
bool hp_reference_may_continue(const char *at, const char *end);

/* The references that pages use most, with their semicolons. A look-up takes one load of 8 bytes,
 * one multiplication and one comparison. */

typedef struct hp_frequent_reference {
  uint64_t bytes;                      /* the name and the semicolon, in the highest bytes */
  char value[4];                       /* UTF-8 */
  uint8_t length, value_length, shift; /* `length` includes the semicolon */
} hp_frequent_reference;

/* The slot of a reference, by its first two characters. No two references here have the same. */
#define HP_FREQUENT_SLOT(pair) ((uint16_t)((pair)*87u) >> 12)

extern const hp_frequent_reference hp_frequent_references[16];

/* Returns the frequent reference whose name begins at `name`, or NULL. Requires: 8 bytes are
 * readable. */
static inline const hp_frequent_reference *hp_find_frequent_reference(const char *name) {
  uint64_t bytes = hp_load_64(name);
  const hp_frequent_reference *found = &hp_frequent_references[HP_FREQUENT_SLOT((uint16_t)bytes)];
  return bytes << found->shift == found->bytes && found->length ? found : NULL;
}

/* Decodes the character references of a whole attribute value, without errors. The value has no CR
 * and no NUL. A table of the first two characters has the frequent references. Others need one
 * look-up at most: without a semicolon, a name of letters and digits is a reference only as a
 * whole, and only if no equals sign follows. */

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
