/* The exact builder: all open elements are on its own stack. */

#include "html/tree/engine_loop.h"
#include "html/tree/no_context.h"
#include "html/tree/parts.inc"
#include "html/tree/selectedcontent.inc"

void hp_exact_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

typedef struct fast_run {
  const char *near;
  uint8_t plain_mode; /* in which in_body processes the tokens of HTML elements */
} fast_run;

static inline fast_run begin_fast_run(const hp_builder *b, const char *near) {
  return (fast_run){near, b->takes_slowly || b->fragment ? HP_INSERTION_MODES : HP_IN_BODY};
}

HP_LOOP bool is_near(const hp_engine *engine, void *context) {
  const fast_run *run = context;
  return engine->tokenizer.at >= run->near;
}

HP_LOOP void build_fast(hp_engine *engine, const hp_token *t, void *context) {
  const fast_run *run = context;
  hp_builder *b = &engine->builder;
  bool plain = b->mode == run->plain_mode && current(b)->ns == HPAR_NAMESPACE_HTML && !b->ignore_lf;
  if (__builtin_expect(plain, 1))
    in_body(b, t);
  else
    take_token(b, t);
}

hp_loop_end hp_engine_run_fast(hp_engine *engine, const char *near) {
  fast_run run = begin_fast_run(&engine->builder, near);
  hp_loop_parts parts = {.next = hp_loop_next, .build = build_fast, .stops = is_near, .is_complete = true};
  return hp_loop_run(engine, parts, &run);
}

hp_loop_end hp_engine_run_available(hp_engine *engine) {
  fast_run run = begin_fast_run(&engine->builder, NULL);
  return hp_loop_run(engine, (hp_loop_parts){.next = hp_loop_next, .build = build_fast}, &run);
}

void hp_exact_prepare(hp_builder *b, const hp_token *t) { prepare_token(b, t); }

void hp_exact_prepare_row(hp_builder *b, const hp_token *t) {
  if (b->mode == HP_IN_TABLE) begin_table_body(b);
  if (b->mode == HP_IN_CELL && (has_in_table_scope(b, HP_TD) || has_in_table_scope(b, HP_TH))) close_cell(b);
  if (b->mode == HP_IN_ROW && has_in_table_scope(b, HP_TR)) close_row(b, t);
}

void hp_exact_push(hp_builder *b, const hp_open_element *e) { push_entry(b, e->node, e->name, e->ns, e->tag); }

void hp_exact_push_template_mode(hp_builder *b, uint8_t mode) { push_template_mode(b, mode); }

void hp_exact_join_text(hp_builder *b, hp_ref text, const char *data, uint32_t length) {
  append_text(b, node_at(b, text), data, length);
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
  if (is_html(&b->context, HP_FORM)) b->form = b->document->root;
  if (b->context.ns != HPAR_NAMESPACE_HTML) return;
  b->tokenizer->content = hp_content_of(b->context.name, b->scripting);
}
