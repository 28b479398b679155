#ifndef HP_SPECULATION_STRATEGIES_ENUMERATE_H
#define HP_SPECULATION_STRATEGIES_ENUMERATE_H

/* The strategy enumerate: no start state is predicted. All are followed from the cut, as data-parallel finite-state
 * machines do, until they have become one.
 *
 * The tokenizer's states fall into classes, of which one member stands for all, since what a class is left by does not
 * depend on the member:
 *   data            any state in which a token begins here
 *   comment         left by "-->" or "--!>"; the states after a dash differ in the first three bytes only
 *   tag             before, in and after names, before values, unquoted values; left by ">"
 *   double quotes   of an attribute's value; left by the quote, and then as tag
 *   single quotes   the same
 *   raw text        one class for each element that has it: it is left by that element's end tag. For script this is
 *                   the state that is not escaped; one that is escaped twice is left by a later end tag, at which
 *                   another class, or the merger by itself, comes to the same place
 *   CDATA section   left by "]]>"
 * PLAINTEXT is never left. A doctype, a processing instruction and a bogus comment are left by ">", as a tag is.
 * So each class has a place where its first token of data begins, or none in the chunk. The chunk is parsed once, in
 * the data class; where that comes to a token boundary at or behind the place of another class, the two have become
 * one, for the tokenizer has no memory at such a place but its content. There a segment ends, so that the merger can
 * begin with the next. What stands between the two places is text, and the merger parses it.
 *
 * Insertion mode and namespace are states of the tree builder: nothing is assumed of the mode that is not checked, and
 * HTML is assumed, and checked, for the namespace. */

#include "speculation/strategies/strategy.h"

void hp_enumerate_parse(struct hp_worker *worker, const hp_request *task, const hp_plan *plan,
                        struct hp_chunk_work *chunk);

#endif
