#ifndef HP_HTML_TOKENIZER_CHARACTER_REFERENCE_H
#define HP_HTML_TOKENIZER_CHARACTER_REFERENCE_H

/* Character references. One look-up decides a reference that has its semicolon; the few names that are known
 * without one are at most six letters long, so that the longest match costs five more at most. */

#include "base/error.h"

#include <stdbool.h>

typedef struct hp_reference {
  const char *end; /* past what was consumed, on the far side of '&' in any case */
  unsigned length; /* of the replacement; 0: the characters up to `end` stand for themselves */
  char bytes[6];
} hp_reference;

/* `at` is at '&'; `end` counts as the end of the input, `base` is where error offsets count from. */
hp_reference hp_read_reference(const char *at, const char *end, bool in_attribute, const char *base, hp_errors *errors);

#endif
