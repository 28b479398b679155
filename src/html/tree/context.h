#ifndef HP_HTML_TREE_CONTEXT_H
#define HP_HTML_TREE_CONTEXT_H

/* What lies below a builder's own stack and list. For the exact builder nothing does, and all of this is constant.
 * The speculative builder stands on BASE: every read of it is an assumption that is logged here, every write is
 * poison, which gives up the stretch since the last restart point (speculation/worker/outer_context.c). */

#include "html/tree/builder.h"

#include <hpar/inspect.h>

#ifndef HP_SPECULATIVE
#define HP_SPECULATIVE 0
#endif

#if HP_SPECULATIVE
void hp_outer_log(hp_builder *builder, hpar_assumption question, hp_atom name);
/* The default answer to `question` about `name` is relied on from here to the end of the segment. */
static inline void hp_outer_assume(hp_builder *builder, hpar_assumption question, hp_atom name) {
  bool about_a_name = question == HPAR_ASSUME_NOT_IN_SCOPE || question == HPAR_ASSUME_TOP_NOT_IMPLIED ||
                      question == HPAR_ASSUME_NO_FORMATTING;
  if (about_a_name || !(builder->assumed >> question & 1)) hp_outer_log(builder, question, name);
}
void hp_outer_poison(hp_builder *builder);
void hp_outer_log_ark(hp_builder *builder, hp_atom name, uint32_t ours);
/* Formatting entries of this name that BASE may hold beside ours: Noah's Ark has room for three. */
static inline void hp_outer_assume_ark(hp_builder *builder, hp_atom name, uint32_t ours) {
  int index = hp_formatting_index(name);
  if (index < 0 || ours > builder->ark_asked[index]) hp_outer_log_ark(builder, name, ours);
}
/* Leaves the token to the merger; true if it did. */
bool hp_outer_takes(hp_builder *builder, const hp_token *token);
uint8_t hp_outer_mode(const hp_builder *builder);
#else
static inline void hp_outer_assume(hp_builder *b, hpar_assumption q, hp_atom n) { (void)b, (void)q, (void)n; }
static inline void hp_outer_poison(hp_builder *b) { (void)b; }
static inline void hp_outer_assume_ark(hp_builder *b, hp_atom n, uint32_t o) { (void)b, (void)n, (void)o; }
#endif

/* Is the current node BASE? Never so in the exact builder. */
#define HP_AT_OUTER(builder) (HP_SPECULATIVE && (builder)->depth == 0)

/* The two builders' functions differ in name only. */
#if HP_SPECULATIVE
#define HP_FLAVOUR(name) hp_speculative_##name
#else
#define HP_FLAVOUR(name) hp_exact_##name
#endif

#endif
