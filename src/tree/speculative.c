/* The speculative instance: it makes a tree, and an outer context is below its own stack. The
 * workers of a parse use it. */

#include "tree/context.h"
#include "tree/nodes.h"

#include "tree/tree_builder.inc"

void hp_speculative_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

hp_plain_run hp_speculative_plain_tokens(hp_builder *b, hp_token *t, const char *limit) {
  return run_plain_tokens(b, t, limit);
}

void hp_speculative_prepare(hp_builder *b, const hp_token *t) { prepare_insertion_of(b, t); }

void hp_speculative_clear_stack(hp_builder *b) { clear_stack(b); }

bool hp_speculative_adjusted_current_node_is_foreign(void *builder) {
  return adjusted_current_node_is_foreign(builder);
}
