#ifndef HP_TEXT_REFERENCES_CHARACTER_REFERENCE_H
#define HP_TEXT_REFERENCES_CHARACTER_REFERENCE_H

/* Character references. One look-up resolves a reference with a semicolon. The few names that are
 * valid without a semicolon have at most six letters, so the longest match costs at most five more
 * look-ups. */

#include "base/error.h"

#include <stdbool.h>

typedef struct hp_reference {
  const char *end; /* end of the consumed bytes, always after '&' */
  unsigned length; /* of the replacement; 0: the characters up to `end` stand for themselves */
  char bytes[8];   /* at most 6 are used */
} hp_reference;

/* Reads the reference at `at`, which points to '&'. `end` is the end of the input. Error offsets
 * count from `base`. */
hp_reference hp_read_reference(const char *at, const char *end, bool in_attribute, const char *base, hp_errors *errors);

/* Looks up a name of letters and digits. Without a semicolon after it, the name must be valid
 * alone. */
hp_reference hp_read_named_reference(const char *name, size_t length, bool semicolon);

/* Returns true if more bytes after `end` can change the meaning of the reference whose text after
 * '&' is [at, end). The text is letters, digits and '#'. */
bool hp_reference_may_continue(const char *at, const char *end);

#endif
