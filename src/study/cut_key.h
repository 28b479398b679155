#ifndef HP_STUDY_CUT_KEY_H
#define HP_STUDY_CUT_KEY_H

/* The key of a cut, by which profiles count states: the class of the byte before the cut, and the
 * tag after the cut or the class of the byte there. */

#include "base/target.h"

#include <stddef.h>

enum { HP_CUT_KEY = 20 };

/* Zeros follow the texts, so that keys can be compared as bytes. `before` is one of ">", "<", "=",
 * "quote", "backslash", "white", "word", "other", "start". `at` is one of these, "end", "<!", "<?",
 * or a truncated tag in lower case such as "<div" or "</div". */
typedef struct hp_cut_key {
  char before[HP_CUT_KEY], at[HP_CUT_KEY];
} hp_cut_key;

/* Returns the key of the cut at `place`. */
HP_SHARED hp_cut_key hp_cut_key_at(const char *text, size_t length, size_t place);

#endif
