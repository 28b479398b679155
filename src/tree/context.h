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

/* Logs an assumption of hp_outer_assume. */
void hp_outer_log(hp_builder *builder, hp_assumption question, hp_atom name);
/* Relies on the default answer to `question` about `name` from here to the end of the segment. */
static inline void hp_outer_assume(hp_builder *builder, hp_assumption question, hp_atom name) {
  bool about_a_name = question == HP_ASSUME_NOT_IN_SCOPE || question == HP_ASSUME_TOP_NOT_IMPLIED ||
                      question == HP_ASSUME_NO_FORMATTING;
  if (about_a_name || !(builder->assumed >> question & 1)) hp_outer_log(builder, question, name);
}

/* Logs an assumption of hp_outer_assume_ark. */
void hp_outer_log_ark(hp_builder *builder, hp_atom name, uint32_t ours);
/* Assumes that the list can take `ours` formatting entries of this name beside those of the
 * outer context. Noah's Ark clause allows three in all. */
static inline void hp_outer_assume_ark(hp_builder *builder, hp_atom name, uint32_t ours) {
  int index = hp_formatting_index(name);
  if (index < 0 || ours > builder->ark_assumed[index]) hp_outer_log_ark(builder, name, ours);
}

/* Reports that the builder would have changed the outer context, or read it without a default
 * answer. */
void hp_outer_poison(hp_builder *builder);

/* Returns true if the builder must ignore the token, because the owner of the outer context
 * processes it. */
bool hp_outer_takes(hp_builder *builder, const hp_token *token);

/* Returns true if the builder may go on after the token, which has left no own element open. */
bool hp_outer_goes_on(hp_builder *builder, const hp_token *token);

/* Returns the insertion mode that applies if the builder's own elements do not determine one. */
uint8_t hp_outer_mode(const hp_builder *builder);

#endif
