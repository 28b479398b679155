/* The speculative builder: an outer context is below its own stack. */

#include "html/tree/context.h"
#include "html/tree/no_watch.h"
#include "html/tree/nodes.h"
#include "html/tree/parts.inc"

#include "html/tree/formatting.inc"

#include "html/tree/insert.inc"

#include "html/tree/fused.inc"

/* After changes by scripts, the exact builder finds the select of an option in the tree. */
static void option_popped(hp_builder *b, hp_ref option) {
  (void)option;
  if (b->selectedcontent_seen)
    hp_outer_poison(b);
  else if (!b->last[HP_SELECT] || b->defers_scripts)
    hp_outer_assume(b, HPAR_ASSUME_NO_SELECTEDCONTENT, HP_SELECTEDCONTENT);
}

/* Requires: never called. Workers leave the token <selectedcontent> to the merger. */
static void selectedcontent_inserted(hp_builder *b, hp_ref content) {
  (void)content;
  hp_outer_poison(b);
}

void hp_speculative_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

/* Processes the token if it is part of a table. Otherwise returns false and leaves the token
 * alone. */
static HP_OUT_OF_LINE bool take_part_of_table(hp_builder *b, const hp_token *t) {
  if (!((CONTENT_MODES | TABLE_MODES) >> b->mode & 1) || !plainly_table(b, t)) return false;
  by_mode(b, t);
  return true;
}

/* Processes the token if it is plain. Otherwise returns false and leaves the token alone. */
static inline bool take_plain_token(hp_builder *b, const hp_token *t, int kind) {
  const hp_open_element *top = current(b);
  if (top->ns != HPAR_NAMESPACE_HTML || b->depth == 0 || b->ignore_lf || kind == HP_TOKEN_NEED_MORE) return false;
  if (kind == HPAR_TOKEN_END_TAG && b->depth == 1) return false;
  if (!(CONTENT_MODES >> b->mode & 1) || !plainly_content(b, t, kind, top)) return take_part_of_table(b, t);
  in_body(b, t);
  return true;
}

hp_plain_run hp_speculative_plain_tokens(hp_builder *b, hp_token *t, const char *limit) {
  hp_tokenizer *tokenizer = b->tokenizer;
  const char *at = tokenizer->at;
  uint32_t tokens = 0;
  int kind = HP_TOKEN_NEED_MORE;
  b->plain_limit = limit;
  for (;;) {
    fused_run run = {0, false};
    if (at < b->plain_limit && !b->foreign_base && may_fuse(b)) {
      run = run_fused(b, t, b->plain_limit);
      tokens += run.tokens;
      at = run.has_token ? tokenizer->base + t->start : tokenizer->at;
      if (at >= b->plain_limit) break;
    }
    kind = run.has_token ? HPAR_TOKEN_START_TAG : hp_next_token_inside(tokenizer, t, b->top->name);
    if (b->foreign_base || !take_plain_token(b, t, kind)) return (hp_plain_run){tokens, kind, false, at};
    tokens++;
    at = tokenizer->at;
    if (at >= b->plain_limit) break;
  }
  return (hp_plain_run){tokens, kind, true, at};
}

void hp_speculative_prepare(hp_builder *b, const hp_token *t) { prepare_token(b, t); }

void hp_speculative_clear_stack(hp_builder *b) { clear_stack(b); }

bool hp_speculative_adjusted_current_node_is_foreign(void *builder) {
  return adjusted_current_node_is_foreign(builder);
}
