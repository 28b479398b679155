/* The speculative instance: it makes a tree, and an outer context is below its own stack. The
 * workers of a parse use it. */

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 1
#include "tree/tree_builder.inc"

/*** the loop over plain tokens ***/

/* Processes the token if it is part of a table. Otherwise returns false and leaves the token
 * alone. */
static HP_OUT_OF_LINE bool take_part_of_table(hp_builder *b, const hp_token *t) {
  if (!((CONTENT_MODES | TABLE_MODES) >> b->mode & 1) || !plainly_table(b, t)) return false;
  process_using_rules_for(b, t, (hp_insertion_mode)b->mode);
  return true;
}

/* Processes the token if it is plain. Otherwise returns false and leaves the token alone. */
static inline bool take_plain_token(hp_builder *b, const hp_token *t, int kind) {
  const hp_open_element *top = current(b);
  if (top->ns != HPAR_NAMESPACE_HTML || b->stack.depth == 0 || b->flags.ignore_lf || kind == HP_TOKEN_NEED_MORE)
    return false;
  if (kind == HP_TOKEN_END_TAG && b->stack.depth == 1) return false;
  if (!(CONTENT_MODES >> b->mode & 1) || !plainly_content(b, t, kind, top)) return take_part_of_table(b, t);
  in_body(b, t);
  return true;
}

/* Returns true if the token may contradict the start state of the chunk: it ends raw text that the
 * builder has not seen. */
static inline bool ends_unseen_raw_text(const hp_builder *b, const hp_token *t) {
  if (t->kind != HP_TOKEN_END_TAG || b->mode == HP_IN_TEXT) return false;
  return hp_html_tag(t->name) & HP_TAG_RAW_TEXT || (t->name == HP_ATOM_NOSCRIPT && b->script.scripting);
}

/* Processes a token that is not plain. Returns HP_PLAIN_OVER if the run goes on after it. */
static HP_OUT_OF_LINE hp_plain_end take_other_token(hp_builder *b, const hp_token *t, int kind, uint32_t tokens) {
  if (kind == HP_TOKEN_NEED_MORE || kind == HP_TOKEN_EOF || b->flags.ignore_lf || ends_unseen_raw_text(b, t))
    return HP_PLAIN_LEFT;
  b->speculative.run_tokens = tokens;
  b->speculative.has_raw_text |= b->mode == HP_IN_TEXT;
  if (is_taken_by_outer(b, t)) return HP_PLAIN_TAKEN;
  dispatch_token(b, t);
  return b->stack.depth || hp_outer_goes_on(b, t) ? HP_PLAIN_OVER : HP_PLAIN_BUILT;
}

/* Builds the next tokens that begin before `limit`: see hp_speculative_plain_tokens. */
static HP_INLINE hp_plain_run run_plain_tokens(hp_builder *b, hp_token *t, const char *limit) {
  hp_tokenizer *tokenizer = b->tokenizer;
  hp_speculative_state *s = &b->speculative;
  const char *at = tokenizer->at;
  uint32_t tokens = 0;
  int kind = HP_TOKEN_NEED_MORE;
  s->plain_limit = limit;
  for (;;) {
    fused_run run = {0, false};
    if (at < s->plain_limit && !s->foreign_base && may_fuse(b)) {
      run = run_fused(b, t, s->plain_limit);
      tokens += run.tokens;
      at = run.has_token ? tokenizer->base + t->start : tokenizer->at;
      if (at >= s->plain_limit) break;
    }
    kind = run.has_token ? HP_TOKEN_START_TAG : hp_next_token_inside(tokenizer, t, b->stack.top->name);
    if (s->foreign_base || !take_plain_token(b, t, kind)) {
      hp_plain_end end = take_other_token(b, t, kind, tokens);
      if (end != HP_PLAIN_OVER) return (hp_plain_run){tokens, kind, end, at};
    }
    tokens++;
    at = tokenizer->at;
    if (at >= s->plain_limit) break;
  }
  return (hp_plain_run){tokens, kind, HP_PLAIN_OVER, at};
}

/*** the public functions ***/

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
