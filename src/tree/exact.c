/* The exact builder: all open elements are on its own stack. */

#include "tree/engine_loop.h"
#include "tree/no_context.h"
#include "tree/nodes.h"
#include "tree/parts.inc"

#include "tree/formatting.inc"

#include "tree/insert.inc"

#include "tree/fused.inc"
#include "tree/selectedcontent.inc"

#include "tree/changes.inc"

void hp_exact_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

/* Builds a token. In the mode `plain_mode`, in_body processes the tokens of HTML elements. */
static inline void build_fast(hp_builder *b, const hp_token *t, uint8_t plain_mode) {
  bool plain = b->mode == plain_mode && current(b)->ns == HPAR_NAMESPACE_HTML && !b->ignore_lf;
  if (__builtin_expect(plain, 1))
    in_body(b, t);
  else
    take_token(b, t);
}

/* Processes the tokens that begin before `near`. `is_complete`: all input is there. */
HP_LOOP hp_loop_end run_fast(hp_engine *engine, const char *near, bool is_complete) {
  hp_builder *b = &engine->builder;
  hp_tokenizer *t = &engine->tokenizer;
  bool fuses = !b->takes_slowly && !b->fragment;
  uint8_t plain_mode = fuses ? HP_IN_BODY : HP_INSERTION_MODES;
  hp_token token;
  while (t->at < near) {
    fused_run run = {0, false};
    if (fuses && may_fuse(b)) {
      run = run_fused(b, &token, near);
      engine->tokens += run.tokens;
      if (!run.has_token && t->at >= near) break;
    }
    int kind = run.has_token ? HPAR_TOKEN_START_TAG : hp_next_token_inside(t, &token, b->top->name);
    if (!is_complete && __builtin_expect(kind == HP_TOKEN_NEED_MORE, 0)) {
      engine->retry = hp_retry(t);
      return HP_LOOP_NEEDS_INPUT;
    }
    build_fast(b, &token, plain_mode);
    if (kind == HPAR_TOKEN_EOF) return HP_LOOP_ENDED;
    engine->tokens++;
  }
  return HP_LOOP_STOPPED;
}

hp_loop_end hp_engine_run_fast(hp_engine *engine, const char *near) { return run_fast(engine, near, true); }

hp_loop_end hp_engine_run_available(hp_engine *engine) {
  return hp_engine_awaits_input(engine) ? HP_LOOP_NEEDS_INPUT : run_fast(engine, HP_TO_END, false);
}

hp_text_use hp_exact_use_of_text(const hp_builder *b) {
  const hp_open_element *top = current(b);
  if (b->depth == 0 || (top->ns != HPAR_NAMESPACE_HTML && !takes_html(top))) return HP_TEXT_BY_CHARACTER;
  if (b->mode == HP_IN_COLUMN_GROUP && is_html(top, HP_COLGROUP)) return HP_TEXT_WHITE_FIRST;
  bool in_table = b->mode == HP_IN_TABLE || b->mode == HP_IN_TABLE_BODY || b->mode == HP_IN_ROW;
  return in_table && ((top->tag & HP_TAG_TABLE_CONTEXT) || is_html(top, HP_TEMPLATE)) ? HP_TEXT_WHOLE
                                                                                      : HP_TEXT_BY_CHARACTER;
}

void hp_exact_prepare(hp_builder *b, const hp_token *t) { prepare_token(b, t); }

void hp_exact_prepare_row(hp_builder *b, const hp_token *t) {
  if (b->mode == HP_IN_TABLE) begin_table_body(b);
  if (b->mode == HP_IN_CELL && (has_in_table_scope(b, HP_TD) || has_in_table_scope(b, HP_TH))) close_cell(b);
  if (b->mode == HP_IN_ROW && has_in_table_scope(b, HP_TR)) close_row(b, t);
}

void hp_exact_push(hp_builder *b, const hp_open_element *e) { push_entry(b, e->node, e->name, e->ns, e->tag); }

void hp_exact_reconstruct(hp_builder *b) { reconstruct_formatting(b); }

void hp_exact_pop_to(hp_builder *b, uint32_t depth) { pop_through(b, depth + 1); }

void hp_exact_push_template_mode(hp_builder *b, uint8_t mode) { push_template_mode(b, mode); }

void hp_exact_join_text(hp_builder *b, hp_ref text, const hp_node *more) {
  hpar_string added = text_of(b, more);
  append_text(b, node_at(b, text), added.bytes, (uint32_t)added.length);
}

hp_place hp_exact_appropriate_place(hp_builder *b) { return appropriate_place(b); }

const hp_open_element *hp_exact_adjusted_current_node(const hp_builder *b) { return adjusted_current_node(b); }

bool hp_exact_adjusted_current_node_is_foreign(void *builder) { return adjusted_current_node_is_foreign(builder); }

//§ html-fragment-parsing-algorithm
void hp_exact_begin_fragment(hp_builder *b) {
  hp_ref html = new_element(b, HP_HTML, HPAR_NAMESPACE_HTML, 0, NULL);
  hp_append(b->base, b->document->root, html);
  push_html(b, html, HP_HTML);
  if (is_html(&b->context, HP_TEMPLATE)) push_template_mode(b, HP_IN_TEMPLATE);
  reset_insertion_mode_appropriately(b);
  /* a form that is not on the stack */
  if (is_html(&b->context, HP_FORM) && !b->form) b->form = b->document->root;
  if (b->context.ns != HPAR_NAMESPACE_HTML) return;
  b->tokenizer->content = hp_content_of(b->context.name, b->scripting);
}
