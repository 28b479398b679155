#ifndef HP_SELECT_AHEAD_H
#define HP_SELECT_AHEAD_H

/* Answers the look-ahead tests of all elements below a root: one walk in document order finds
 * the matches of inner selectors, one in reverse order the rest. Both are linear.
 *
 * For a relative selector of :has() with compounds c(0) ... c(n-1), T(r, x) means that x holds
 * c(r) and that the rest of the selector is found from x. R(r, e) is true if an element x with
 * T(r, x) relates to e by the combinator before c(r). In reverse document order the descendants
 * and later siblings of e come before e, so R(., e) is known when T(., e) is computed. */

#include "select/match.h"

typedef struct hp_ahead {
  uint32_t count; /* elements below the root, in document order */
  uint32_t words; /* of a set of look-ahead tests */
  hp_bits *tests; /* a set per element */
} hp_ahead;

/* HPAR_ERROR_MEMORY; hp_ahead_close is to be called after any result. */
hpar_status hp_ahead_open(hp_ahead *ahead, hp_matcher *matcher, hp_ref root);
void hp_ahead_close(hp_ahead *ahead);

#endif
