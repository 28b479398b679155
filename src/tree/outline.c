/* The outline builder: the tree builder's rules without a tree. */

#include "tree/outline.h"

#include "text/scan/scan.h"
#include "tree/no_context.h"
#include "tree/no_nodes.h"
#include "tree/parts.inc"

#include "tree/outline_formatting.inc"

#include "tree/outline_nodes.inc"

#include "tree/outline_fused.inc"

#include "tree/outline_tokens.inc"

#include "tree/outline_state.inc"

void hp_outline_open(hp_outline *s, const hp_outline_events *events, bool scripting, hp_unwind *unwind) {
  hp_builder *b = &s->builder;
  s->parts = &parts;
  s->events = *events;
  s->content = HP_CONTENT_DATA;
  s->quirks = HPAR_NO_QUIRKS;
  hp_builder_reset(b, FIRST_ENTRIES, unwind);
  reset_slots(s);
  b->scripting = scripting;
}

//§ html-fragment-parsing-algorithm
void hp_outline_begin_fragment(hp_outline *s, hp_atom name, uint8_t ns) {
  hp_builder *b = &s->builder;
  uint16_t tag = ns == HPAR_NAMESPACE_HTML ? hp_html_tag(name) : hp_foreign_tag(ns, name);
  b->context = (hp_open_element){.name = name, .ns = ns, .tag = tag};
  b->fragment = true;
  hp_ref html = new_element(b, HP_HTML, HPAR_NAMESPACE_HTML, 0, NULL);
  node_at(b, html)->parent = s->root;
  push_html(b, html, HP_HTML);
  if (is_html(&b->context, HP_TEMPLATE)) push_template_mode(b, HP_IN_TEMPLATE);
  reset_insertion_mode_appropriately(b);
  if (is_html(&b->context, HP_FORM)) b->form = s->root;
  if (ns == HPAR_NAMESPACE_HTML) s->content = hp_content_of(name, b->scripting);
}

void hp_outline_close(hp_outline *s) {
  hp_builder_close(&s->builder);
  hp_free(s->slots);
  hp_free(s->uses);
  memset(s, 0, sizeof *s);
}

void hp_outline_take_end(hp_outline *s) {
  hp_token token = {.kind = HPAR_TOKEN_EOF};
  take_token(&s->builder, &token);
}

bool hp_outline_may_share(const hp_outline *s, hp_ref ref) {
  const hp_node *node = hp_outline_node(s, ref);
  return !node->previous && !needs_node(node);
}

size_t hp_outline_memory(const hp_outline *s) {
  const hp_builder *b = &s->builder;
  return s->slot_capacity * sizeof *s->slots + s->use_capacity + b->stack_capacity * sizeof *b->stack +
         (b->last_capacity + b->last_own_capacity) * sizeof *b->last +
         b->formatting_capacity * sizeof *b->outline_list + b->higher_capacity * sizeof *b->higher +
         b->alike_capacity * sizeof *b->alike + b->template_capacity + b->followed_capacity * sizeof *b->followed +
         b->last_foreign_capacity * sizeof *b->last_foreign;
}
