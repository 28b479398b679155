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

void hp_speculative_clear(hp_builder *b) {
  clear_elements(b);
  hp_active_formatting_clear(b);
}

void hp_speculative_begin_segment(hp_builder *b, hp_ref outer, uint8_t mode, uint8_t ns) {
  begin_segment(b, outer, mode, ns);
}

hp_segment_state hp_speculative_state_of(const hp_builder *b, uint8_t base_mode, bool before_raw_text) {
  hp_segment_state state = {.nodes = b->node_count,
                            .form = b->pointers.form,
                            .mode = before_raw_text ? b->original_mode : b->mode,
                            .frameset_not_ok = !b->flags.frameset_ok,
                            .form_written = b->pointers.form_known};
  state.mode_is_base = state.mode == base_mode && !b->stack.last[HP_ATOM_TEMPLATE];
  return state;
}

void hp_speculative_resume(hp_builder *b, const hp_segment_state *s) {
  b->mode = s->mode;
  b->flags.frameset_ok = !s->frameset_not_ok;
  b->pointers.form = s->form;
  b->pointers.form_known = s->form_written;
  b->node_count = s->nodes;
}

bool hp_speculative_adjusted_current_node_is_foreign(void *builder) {
  return adjusted_current_node_is_foreign(builder);
}
