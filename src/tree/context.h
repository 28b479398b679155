#ifndef HP_TREE_CONTEXT_H
#define HP_TREE_CONTEXT_H

/* The outer context: the unknown elements and formatting entries below a builder's own stack and
 * list. A builder reads it only through these functions. Each read is an assumption, which the
 * owner of the outer context logs. A write is impossible: hp_outer_poison reports the attempt.
 *
 * tree/no_context.h has the same functions for a builder that has all elements on its own
 * stack. */

#include "tree/builder.h"

#define HP_HAS_OUTER 1

static inline bool hp_outer_is_assumed(const hp_builder *b, hp_assumption question) {
  return b->speculative.assumed >> question & 1;
}
/* Relies on the default answer to `question` about `name` from here to the end of the segment. */
static inline void hp_outer_assume(hp_builder *b, hp_assumption question, hp_atom name) {
  bool about_a_name = question == HP_ASSUME_NOT_IN_SCOPE || question == HP_ASSUME_TOP_NOT_IMPLIED ||
                      question == HP_ASSUME_NO_FORMATTING;
  if (about_a_name || !hp_outer_is_assumed(b, question)) b->speculative.owner->log(b, question, name);
}

/* Assumes that the list can take `ours` formatting entries of this name beside those of the
 * outer context. Noah's Ark clause allows three in all. */
static inline void hp_outer_assume_ark(hp_builder *b, hp_atom name, uint32_t ours) {
  int index = hp_formatting_index(name);
  if (index < 0 || ours > b->speculative.ark_assumed[index]) b->speculative.owner->log_ark(b, name, ours);
}

static inline void hp_outer_poison(hp_builder *b) { b->speculative.owner->poison(b); }
static inline bool hp_outer_takes(hp_builder *b, const hp_token *t) { return b->speculative.owner->takes(b, t); }
static inline bool hp_outer_goes_on(hp_builder *b, const hp_token *t) { return b->speculative.owner->goes_on(b, t); }

static inline uint8_t hp_outer_mode(const hp_builder *b) { return b->speculative.owner->mode(b); }

static inline bool hp_outer_is_foreign(const hp_builder *b) { return b->speculative.foreign_base; }
static inline void hp_outer_note_misnested(hp_builder *b) { b->speculative.misnested = true; }
static inline void hp_outer_note_fostered(hp_builder *b) { b->speculative.misnested = b->speculative.fostered = true; }

#endif
