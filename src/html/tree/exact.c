/* The exact builder: all open elements are on its own stack. */

#include "html/tree/no_context.h"
#include "html/tree/parts.inc"
#include "html/tree/selectedcontent.inc"

void hp_exact_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

bool hp_exact_tokens(hp_builder *b, const char *near, uint64_t *tokens) {
  hp_tokenizer *tokenizer = b->tokenizer;
  hp_token token;
  uint64_t count = 0;
  bool ended = false;
  uint8_t plain_mode = b->errors || b->fragment ? HP_INSERTION_MODES : HP_IN_BODY;
  while (tokenizer->at < near) {
    if (hp_next_token(tokenizer, &token) == HPAR_TOKEN_EOF) {
      hp_exact_token(b, &token);
      ended = true;
      break;
    }
    count++;
    if (__builtin_expect(b->mode == plain_mode && current(b)->ns == HPAR_NAMESPACE_HTML && !b->ignore_lf, 1))
      in_body(b, &token);
    else
      hp_exact_token(b, &token);
  }
  *tokens += count;
  return ended;
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
  if (is_html(&b->context, HP_FORM)) b->form = b->document->root; /* some form that is not on the stack */
  if (b->context.ns != HPAR_NAMESPACE_HTML) return;
  b->tokenizer->content = hp_content_of(b->context.name, b->scripting);
}
