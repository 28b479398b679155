#ifndef HP_SPECULATION_CUTS_KEY_H
#define HP_SPECULATION_CUTS_KEY_H

/* What a cut looks like, by which profiles count states: the class of the byte before it, and the tag behind it, or the
 * class of the byte there. */

#include <stddef.h>

enum { HP_CUT_KEY = 20 };

/* Zeros behind the texts, so that keys may be compared as bytes. `before` is one of ">", "<", "=", "quote",
 * "backslash", "white", "word", "other", "start"; `at` one of these, or "end", "<!", "<?", or as "<div" and "</div", in
 * lower case and cut short. */
typedef struct hp_cut_key {
  char before[HP_CUT_KEY], at[HP_CUT_KEY];
} hp_cut_key;

hp_cut_key hp_cut_key_at(const char *text, size_t length, size_t place);

#endif
