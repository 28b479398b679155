#ifndef HP_TREE_QUERY_H
#define HP_TREE_QUERY_H

/* Questions about a builder's own stack and about tokens. The answers are the same in both
 * builders. */

#include "base/bytes.h"
#include "tree/builder.h"

static inline hp_node *node_at(const hp_builder *b, hp_ref ref) { return hp_node_at(b->base, ref); }
static inline hpar_string text_of(const hp_builder *b, const hp_node *text) {
  return hp_text_of(b->base, b->tokenizer->base, text);
}
static inline hp_open_element *current(const hp_builder *b) { return b->stack.top; }
static inline bool is_html(const hp_open_element *e, hp_atom name) {
  return e->name == name && e->ns == HPAR_NAMESPACE_HTML;
}
static inline uint32_t last_of(const hp_builder *b, hp_atom name) {
  if (name < b->stack.last_capacity) return b->stack.last[name];
  return b->stack.last_own && name - HP_KNOWN_ATOMS < b->stack.last_own_capacity
             ? b->stack.last_own[name - HP_KNOWN_ATOMS]
             : 0;
}
/* Returns the number of open elements. */
static inline uint32_t open_count(const hp_builder *b) { return b->stack.depth - b->stack.tombstones; }
/* Returns true if the next token does not depend on the one before: it is no raw text, and keeps
 * its newline. */
static inline bool is_between_tokens(const hp_builder *b) { return b->mode != HP_IN_TEXT && !b->flags.ignore_lf; }
static inline uint32_t higher(uint32_t a, uint32_t b) { return a > b ? a : b; }

//§ has-an-element-in-the-specific-scope
static inline bool in_bounds(uint32_t found, uint32_t barrier) { return found && found >= barrier; }

static inline bool is_comment(const hp_token *t) {
  return t->kind == HP_TOKEN_COMMENT || t->kind == HP_TOKEN_PROCESSING_INSTRUCTION;
}
static inline bool is_start(const hp_token *t, hp_atom name) {
  return t->kind == HP_TOKEN_START_TAG && t->name == name;
}
static inline bool is_end(const hp_token *t, hp_atom name) { return t->kind == HP_TOKEN_END_TAG && t->name == name; }

/* The token's leading white space, and what is left of it. */
static inline uint32_t leading_white(const hp_token *t) {
  if (t->flags & HP_TEXT_WHITE) return t->length;
  uint32_t n = 0;
  while (n < t->length && hp_ascii_is_white(t->data[n])) n++;
  return n;
}
static inline hp_token rest_of(const hp_token *t, uint32_t skip) {
  hp_token rest = *t;
  rest.data += skip;
  rest.length -= skip;
  return rest;
}

#endif
