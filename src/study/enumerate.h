#ifndef HP_STUDY_ENUMERATE_H
#define HP_STUDY_ENUMERATE_H

/* The strategy "enumerate": it predicts no start state. It follows all states from the cut until
 * they agree, as data-parallel finite-state machines do.
 *
 * The tokenizer's states fall into classes. The end of a class does not depend on its member, so
 * one member represents it:
 *
 *   - data: any state in which a token begins here.
 *   - comment: ends with "-->" or "--!>". The states after a dash differ in the first three bytes.
 *   - tag: before, in and after names, before values, in unquoted values. Ends with ">". A doctype,
 *     a processing instruction and a bogus comment end in the same way.
 *   - double quotes, single quotes: in an attribute's value. End with the quote and continue as
 *     tag.
 *   - raw text, one class per element: ends with the end tag of its element. For a script this is
 *     the state that is not escaped. A doubly escaped script ends with a later end tag, where
 *     another class or the merger reaches the same place.
 *   - CDATA section: ends with "]]>".
 *   - PLAINTEXT: never ends.
 *
 * In each class the first token of data begins at one place, or not in the chunk. The worker parses
 * the chunk once, in the data class. At a token boundary at or after the place of another class,
 * the two classes agree, because the tokenizer's only memory there is its content. A segment ends
 * there, so that the merger can begin with the next one. The merger parses the text between both
 * places.
 *
 * Insertion mode and namespace are states of the tree builder. The merger checks every assumption
 * about the mode, and the assumption that the namespace is HTML. */

#include <hpar/study.h>

/* The classes that end at a mark which needs no tokenizer: comment, tag, double quotes, single
 * quotes, CDATA section. */
enum { HP_ENUMERATED = 5 };

/* Stores where the first token begins in each of these classes; SIZE_MAX: not in the chunk. */
void hp_enumerate_ends(const hpar_cut *cut, size_t ends[HP_ENUMERATED]);

/* The function hpar_strategy.starts. */
size_t hp_enumerate_starts(const hpar_cut *cut, size_t *starts, size_t most, void *context);

#endif
