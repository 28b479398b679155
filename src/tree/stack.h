#ifndef HP_TREE_STACK_H
#define HP_TREE_STACK_H

/* Questions about a builder's own stack and about tokens. The answers are the same in all
 * instances. */

#include "base/bytes.h"
#include "base/target.h"
#include "dom/tag.h"
#include "tree/builder.h"

static inline hp_node *node_at(const hp_builder *b, hp_ref ref) { return hp_node_at(b->base, ref); }
static inline hpar_string text_of(const hp_builder *b, const hp_node *text) {
  return hp_text_of(b->base, b->tokenizer->base, text);
}
/* Returns NULL if the block, or 0, has no attribute of this name. */
static inline const hp_attribute *attribute_in_block(const hp_builder *b, hp_ref attributes, hp_atom name) {
  const hp_attributes *block = hp_at(b->base, attributes);
  for (uint32_t i = 0; attributes && i < block->count; i++)
    if (block->items[i].name == name) return &block->items[i];
  return NULL;
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
/* Returns the index of this open element, an HTML element of a standard name, or 0. */
static inline uint32_t index_of_open(const hp_open_stack *s, hp_atom name, hp_ref node) {
  uint32_t index = s->last[name];
  while (index && s->entries[index].node != node) index = s->entries[index].previous_same;
  return index;
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

/*** which rules apply to a token in foreign content ***/

/* Returns true if HTML's rules apply inside the element to text and to a start tag without its own
 * rule. */
static inline bool takes_html(const hp_open_element *e) {
  return e->ns == HPAR_NAMESPACE_HTML || (e->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION));
}

static inline bool font_breaks_out(const hp_builder *b, const hp_token *t) {
  return attribute_in_block(b, t->attributes, HP_ATOM_COLOR) || attribute_in_block(b, t->attributes, HP_ATOM_FACE) ||
         attribute_in_block(b, t->attributes, HP_ATOM_SIZE);
}

/* Returns true if the tag ends foreign content. */
static inline bool breaks_out(const hp_builder *b, const hp_token *t) {
  if (t->kind == HP_TOKEN_END_TAG) return t->name == HP_ATOM_P || t->name == HP_ATOM_BR;
  return (hp_html_tag(t->name) & HP_TAG_BREAKOUT) || (t->name == HP_ATOM_FONT && font_breaks_out(b, t));
}

/* Returns true if the element's name in lower case equals the tag's name. */
static inline bool named(const hp_open_element *e, hp_atom name) {
  return e->name == name || (e->ns == HPAR_NAMESPACE_SVG && e->name == hp_svg_tag_name(name));
}

/* Returns true if the rules of the insertion mode apply to the token. The element, the adjusted
 * current node, may be foreign. */
static inline bool html_rules(const hp_open_element *e, const hp_token *t) {
  if (e->ns == HPAR_NAMESPACE_HTML) return true;
  bool start = t->kind == HP_TOKEN_START_TAG, text = t->kind == HP_TOKEN_TEXT;
  if (e->tag & HP_TAG_TEXT_INTEGRATION)
    if (text || (start && t->name != HP_ATOM_MGLYPH && t->name != HP_ATOM_MALIGNMARK)) return true;
  if (start && t->name == HP_ATOM_SVG && e->ns == HPAR_NAMESPACE_MATHML && e->name == HP_ATOM_ANNOTATION_XML)
    return true;
  return (e->tag & HP_TAG_HTML_INTEGRATION) && (start || text);
}

/* Changes in the middle of the stack of open elements. Each takes constant time: see
 * hp_open_element. */

/* An element that hp_stack_take took, and the next higher element of its name, or 0. */
typedef struct hp_taken {
  hp_open_element element;
  uint32_t above;
} hp_taken;

static inline bool is_tombstone(const hp_open_element *e) { return !e->node; }

/* Returns the index of the element below the element at `index`. */
static inline uint32_t index_below(const hp_open_stack *s, uint32_t index) {
  return s->entries[index].tag & HP_OPEN_ABOVE_TOMBSTONE ? index - 1 - s->entries[index - 1].previous_same : index - 1;
}

uint32_t hp_find_special(hp_open_stack *stack, uint32_t index);
uint32_t hp_find_li_barrier(hp_open_stack *stack, uint32_t index);

/* Returns the index of the highest special element, or 0. */
static inline uint32_t special_barrier(hp_open_stack *s) {
  uint32_t index = s->top->special;
  return !index || s->entries[index].tag & HP_TAG_SPECIAL ? index : hp_find_special(s, s->depth);
}

/* Returns the index of the highest special element other than address, div and p, or 0. */
static inline uint32_t li_barrier(hp_open_stack *s) {
  uint32_t index = s->top->li_barrier;
  return !index || s->entries[index].tag & HP_TAG_LI_BARRIER ? index : hp_find_li_barrier(s, s->depth);
}

/* Returns the index of an element that was popped just now, or 0 if it was in the middle of the
 * stack. */
static inline uint32_t hp_stack_popped(const hp_open_stack *s, hp_ref node) {
  uint32_t index = s->depth + 1;
  return index < s->capacity && s->entries[index].node == node ? index : 0;
}

/* Makes the element below the run of tombstones at the top of the stack the current node. */
void hp_stack_pass_tombstone(hp_builder *b);
/* Takes an element out of the stack. hp_stack_put must follow. */
hp_taken hp_stack_take(hp_builder *b, uint32_t index);
/* Puts elements, lowest first, at the upper end of a range. The caller took all elements of the
 * range. */
void hp_stack_put(hp_builder *b, uint32_t low, uint32_t high, const hp_taken *elements, uint32_t count);
/* Removes the element at `index`. */
void hp_stack_remove(hp_builder *b, uint32_t index);
/* Makes the stack contiguous. This costs its length if there is a tombstone. */
HP_SHARED void hp_stack_close_tombstones(hp_builder *b);

#endif
