/* The exact instance: it makes a tree, and all open elements are on its own stack. The sequential
 * parser and the merger use it. */

#include "tree/engine.h"

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 0
#include "tree/tree_builder.inc"

void hp_exact_token(hp_builder *b, const hp_token *t) { take_token(b, t); }

const hp_open_element *hp_exact_adjusted_current_node(const hp_builder *b) { return adjusted_current_node(b); }

bool hp_exact_adjusted_current_node_is_foreign(void *builder) { return adjusted_current_node_is_foreign(builder); }

//§ html-fragment-parsing-algorithm
void hp_exact_begin_fragment(hp_builder *b) {
  hp_ref html = new_element(b, HP_ATOM_HTML, HPAR_NAMESPACE_HTML, 0, NULL);
  hp_append(b->base, b->document->root, html);
  push_html(b, html, HP_ATOM_HTML);
  if (is_html(&b->fragment.context, HP_ATOM_TEMPLATE)) push_template_mode(b, HP_IN_TEMPLATE);
  reset_insertion_mode_appropriately(b);
  /* a form that is not on the stack */
  if (is_html(&b->fragment.context, HP_ATOM_FORM) && !b->pointers.form) b->pointers.form = b->document->root;
  if (b->fragment.context.ns != HPAR_NAMESPACE_HTML) return;
  b->tokenizer->content = hp_text_state_of(b->fragment.context.name, b->script.scripting);
}

/*** the loop of the exact builder over the tokens of a text ***/

/* Builds a token. In the mode `plain_mode`, in_body processes the tokens of HTML elements. */
static inline void build_fast(hp_builder *b, const hp_token *t, uint8_t plain_mode) {
  bool plain = b->mode == plain_mode && current(b)->ns == HPAR_NAMESPACE_HTML && !b->flags.ignore_lf;
  if (__builtin_expect(plain, 1))
    in_body(b, t);
  else
    take_token(b, t);
}

/* Processes the tokens that begin before `near`. `is_complete`: all input is there. */
HP_LOOP hp_loop_end run_fast(hp_engine *engine, const char *near, bool is_complete) {
  hp_builder *b = &engine->builder;
  hp_tokenizer *t = &engine->tokenizer;
  bool fuses = !b->flags.takes_slowly && !b->fragment.is_parsed;
  uint8_t plain_mode = fuses ? HP_IN_BODY : HP_INSERTION_MODES;
  hp_token token;
  while (t->at < near) {
    fused_run run = {0, false};
    if (fuses && may_fuse(b)) {
      run = run_fused(b, &token, near);
      engine->tokens += run.tokens;
      if (!run.has_token && t->at >= near) break;
    }
    int kind = run.has_token ? HP_TOKEN_START_TAG : hp_next_token_inside(t, &token, b->stack.top->name);
    if (!is_complete && __builtin_expect(kind == HP_TOKEN_NEED_MORE, 0)) {
      engine->retry = hp_retry(t);
      return HP_LOOP_NEEDS_INPUT;
    }
    build_fast(b, &token, plain_mode);
    if (kind == HP_TOKEN_EOF) return HP_LOOP_ENDED;
    engine->tokens++;
  }
  return HP_LOOP_STOPPED;
}

hp_loop_end hp_engine_run_fast(hp_engine *engine, const char *near) { return run_fast(engine, near, true); }

hp_loop_end hp_engine_run_available(hp_engine *engine) {
  return hp_engine_awaits_input(engine) ? HP_LOOP_NEEDS_INPUT : run_fast(engine, HP_TO_END, false);
}

/*** steps of the exact builder by which the merger adopts what a worker has built ***/

hp_text_use hp_exact_use_of_text(const hp_builder *b) {
  const hp_open_element *top = current(b);
  if (b->stack.depth == 0 || (top->ns != HPAR_NAMESPACE_HTML && !takes_html(top))) return HP_TEXT_BY_CHARACTER;
  if (b->mode == HP_IN_COLUMN_GROUP && is_html(top, HP_ATOM_COLGROUP)) return HP_TEXT_WHITE_FIRST;
  bool in_table = b->mode == HP_IN_TABLE || b->mode == HP_IN_TABLE_BODY || b->mode == HP_IN_ROW;
  return in_table && ((top->tag & HP_TAG_TABLE_CONTEXT) || is_html(top, HP_ATOM_TEMPLATE)) ? HP_TEXT_WHOLE
                                                                                           : HP_TEXT_BY_CHARACTER;
}

void hp_exact_prepare(hp_builder *b, const hp_token *t) { prepare_insertion_of(b, t); }

void hp_exact_prepare_row(hp_builder *b, const hp_token *t) {
  if (b->mode == HP_IN_TABLE) begin_table_body(b);
  if (b->mode == HP_IN_CELL && (has_element_in_table_scope(b, HP_ATOM_TD) || has_element_in_table_scope(b, HP_ATOM_TH)))
    close_cell(b);
  if (b->mode == HP_IN_ROW && has_element_in_table_scope(b, HP_ATOM_TR)) close_row(b, t);
}

void hp_exact_push(hp_builder *b, const hp_open_element *e) { push_entry(b, e->node, e->name, e->ns, e->tag); }

void hp_exact_reconstruct(hp_builder *b) { reconstruct_active_formatting(b); }

void hp_exact_pop_to(hp_builder *b, uint32_t depth) { pop_through(b, depth + 1); }

void hp_exact_push_template_mode(hp_builder *b, uint8_t mode) { push_template_mode(b, mode); }

void hp_exact_join_text(hp_builder *b, hp_ref text, const hp_node *more) {
  hpar_string added = text_of(b, more);
  append_text(b, node_at(b, text), added.bytes, (uint32_t)added.length);
}

hp_place hp_exact_appropriate_place(hp_builder *b) { return appropriate_insertion_place(b); }

void hp_exact_adopt_state(hp_builder *b, const hp_segment_state *s, bool has_open_elements) {
  if (has_open_elements && !s->mode_is_base) b->mode = s->mode;
  if (s->frameset_not_ok) b->flags.frameset_ok = false;
  if (!s->form_written) return;
  b->pointers.form = s->form;
  b->pointers.form_known = true;
}

/*** nodes that scripts make and change, for the module `script`. Exact builder only ***/

hp_ref hp_exact_create_element(hp_builder *b, hp_atom name, uint8_t ns) {
  hp_ref ref = new_element(b, name, ns, 0, NULL);
  hp_node *node = node_at(b, ref);
  node->flags |= HP_FLAG_CREATED;
  if (name == HP_ATOM_BASE && ns == HPAR_NAMESPACE_HTML) hp_document_note_base(b->document);
  return ref;
}

hp_ref hp_exact_create_data(hp_builder *b, hpar_node_type kind, const char *data, uint32_t length) {
  hp_node *node = hp_arena_take(b->nodes, sizeof *node);
  memset(node, 0, sizeof *node);
  if (kind == HPAR_NODE_TEXT) {
    fill_text(b, node, data, length);
  } else {
    node->kind = (uint8_t)kind;
    node->data = data;
    node->length = length;
  }
  b->node_count++;
  return hp_ref_of(b->base, node);
}

void hp_exact_set_data(hp_builder *b, hp_ref ref, const char *data, uint32_t length) {
  hp_node *node = node_at(b, ref);
  if (node->kind == HPAR_NODE_TEXT) {
    fill_text(b, node, data, length);
  } else {
    node->data = data;
    node->length = length;
  }
}

//§ concept-node-clone
hp_ref hp_exact_clone(hp_builder *b, hp_ref ref, bool deep) {
  b->select.clone_count = 0;
  hp_ref copy = clone_of(b, ref);
  if (deep) {
    clone_children(b, ref, copy);
    while (b->select.clone_count) {
      hp_clone pending = b->select.clones[--b->select.clone_count];
      clone_children(b, pending.from, pending.to);
    }
  }
  return copy;
}

hp_ref hp_exact_create_root(hp_builder *b) {
  hp_node *root = hp_arena_take(b->nodes, sizeof *root);
  memset(root, 0, sizeof *root);
  root->kind = HPAR_NODE_DOCUMENT;
  return hp_ref_of(b->base, root);
}

//§ html-fragment-parsing-algorithm
void hp_exact_set_context(hp_builder *b, hp_ref element) {
  const hp_node *node = node_at(b, element);
  uint16_t tag = node->ns == HPAR_NAMESPACE_HTML ? hp_html_tag(node->name) : hp_foreign_tag(node->ns, node->name);
  if (node->flags & HP_FLAG_HTML_INTEGRATION) tag |= HP_TAG_HTML_INTEGRATION;
  b->fragment.context = (hp_open_element){.name = node->name, .ns = node->ns, .tag = tag};
  b->fragment.is_parsed = true;
  while (element && !is_element(b, element, HP_ATOM_FORM)) element = hp_parent_of(b->base, node_at(b, element));
  b->pointers.form = element;
}

void hp_exact_forget_tree(hp_builder *b) {
  b->script.tree_changed = true;
  b->select.walk.select = 0;
  b->select.steps_since = b->select.walk_steps = 0;
  b->merged.targets = 0;
}

bool hp_exact_stack_is_in_tree(const hp_builder *b) {
  if (b->script.tree_changed) return false;
  uint32_t select = b->select.stale ? b->stack.last[HP_ATOM_SELECT] : 0;
  while (select && b->stack.entries[select].node != b->select.stale) select = b->stack.entries[select].previous_same;
  return !select;
}
