/* The exact instance: it makes a tree, and all open elements are on its own stack. The sequential
 * parser and the merger use it. */

#include "tree/no_context.h"
#include "tree/nodes.h"

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
  b->tokenizer->content = hp_content_of(b->fragment.context.name, b->script.scripting);
}
