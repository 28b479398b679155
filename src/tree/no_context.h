#ifndef HP_TREE_NO_CONTEXT_H
#define HP_TREE_NO_CONTEXT_H

/* The functions of tree/context.h for a builder that has all open elements on its own stack.
 * They are constants, so the compiler removes the calls and the conditions before them. */

#include "tree/builder.h"

#define HP_HAS_OUTER 0

static inline void hp_outer_assume(hp_builder *b, hp_assumption q, hp_atom n) { (void)b, (void)q, (void)n; }
static inline void hp_outer_assume_ark(hp_builder *b, hp_atom n, uint32_t ours) { (void)b, (void)n, (void)ours; }
static inline void hp_outer_poison(hp_builder *b) { (void)b; }
static inline bool hp_outer_is_assumed(const hp_builder *b, hp_assumption q) { return (void)b, (void)q, true; }
static inline bool hp_outer_is_foreign(const hp_builder *b) { return (void)b, false; }
static inline void hp_outer_note_misnested(hp_builder *b) { (void)b; }
static inline void hp_outer_note_fostered(hp_builder *b) { (void)b; }
static inline uint8_t hp_outer_mode(const hp_builder *b) { return (void)b, HP_IN_BODY; }

#endif
