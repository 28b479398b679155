#ifndef HP_TREE_FOREIGN_H
#define HP_TREE_FOREIGN_H

/* Which rules apply to a token in foreign content. */

#include "dom/tag.h"
#include "tree/query.h"

/* Returns true if HTML's rules apply inside the element to text and to a start tag without its own
 * rule. */
static inline bool takes_html(const hp_open_element *e) {
  return e->ns == HPAR_NAMESPACE_HTML || (e->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION));
}

static inline bool font_breaks_out(const hp_builder *b, const hp_token *t) {
  if (!t->attributes) return false;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    hp_atom name = block->items[i].name;
    if (name == HP_ATOM_COLOR || name == HP_ATOM_FACE || name == HP_ATOM_SIZE) return true;
  }
  return false;
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

#endif
