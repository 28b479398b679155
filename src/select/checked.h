#ifndef HP_SELECT_CHECKED_H
#define HP_SELECT_CHECKED_H

/* The elements that are `:checked` after a parse. An option and a radio button depend on the others
 * of their select element or group. One walk finds all, in linear time.
 *
 * Source: HTML Standard, "selectedness setting algorithm", "list of options", "radio button group".
 * The form owner of a radio button is the element that its `form` attribute names, or the form
 * around it. */

#include "select/match.h"

typedef struct hp_checked {
  hp_ref *slots; /* a hash table of elements; NULL: no selector has the test */
  uint32_t mask, count;
} hp_checked;

/* Finds the elements below `root` if a selector of the set has the test. HPAR_ERROR_MEMORY;
 * hp_checked_close is to be called after any result. */
hpar_status hp_checked_open(hp_checked *checked, const hpar_selectors *set, const hpar_document *document, hp_ref root);
void hp_checked_close(hp_checked *checked);
bool hp_checked_has(const hp_checked *checked, hp_ref element);

#endif
