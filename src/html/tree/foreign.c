#include "html/tree/construct.h"

/* Does a start tag of this kind, or text, go by HTML's rules inside the element? */
static bool takes_html(const hp_open_element *e) {
  return e->ns == HPAR_NAMESPACE_HTML || (e->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION));
}

static bool font_breaks_out(const hp_builder *b, const hp_token *t) {
  if (!t->attributes) return false;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    hp_atom name = block->items[i].name;
    if (name == HP_COLOR || name == HP_FACE || name == HP_SIZE) return true;
  }
  return false;
}

static bool breaks_out(const hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_END_TAG) return t->name == HP_P || t->name == HP_BR;
  return (hp_html_tag(t->name) & HP_TAG_BREAKOUT) || (t->name == HP_FONT && font_breaks_out(b, t));
}

static const hp_open_element *adjusted_current_node(const hp_builder *b) {
  return !HP_SPECULATIVE && b->fragment && b->depth == 1 ? &b->context : current(b);
}

/* The element's name in lower case is the tag's. */
static bool named(const hp_open_element *e, hp_atom name) {
  return e->name == name || (e->ns == HPAR_NAMESPACE_SVG && e->name == hp_svg_tag_name(name));
}

/* Brings what is known of the stack in line with it: by name the highest foreign element, and below each the highest
 * HTML element. That costs no more than what was pushed and popped since. */
static void follow_stack(hp_builder *b) {
  hp_grow(&b->followed, &b->followed_capacity, (size_t)b->depth + 1, b->fail);
  hp_followed *f = b->followed;
  if (!b->followed_top) f[0] = (hp_followed){0};
  while (b->followed_top > b->depth || (b->followed_top && f[b->followed_top].node != b->stack[b->followed_top].node)) {
    const hp_followed *e = &f[b->followed_top--];
    if (e->foreign) b->last_foreign[e->name] = e->previous_same;
  }
  while (b->followed_top < b->depth) {
    uint32_t i = b->followed_top + 1;
    const hp_open_element *e = &b->stack[i];
    bool foreign = e->ns != HPAR_NAMESPACE_HTML;
    if (foreign && e->name >= b->last_foreign_capacity) {
      uint32_t old = b->last_foreign_capacity;
      hp_grow(&b->last_foreign, &b->last_foreign_capacity, (size_t)e->name + 1, b->fail);
      memset(b->last_foreign + old, 0, (b->last_foreign_capacity - old) * sizeof *b->last_foreign);
    }
    f[i] = (hp_followed){e->node, e->name, 0, foreign ? f[i - 1].html : i, foreign};
    if (foreign) {
      f[i].previous_same = b->last_foreign[e->name];
      b->last_foreign[e->name] = i;
    }
    b->followed_top = i;
  }
}

static uint32_t last_foreign(const hp_builder *b, hp_atom name) {
  return name < b->last_foreign_capacity ? b->last_foreign[name] : 0;
}

static void end_tag(hp_builder *b, const hp_token *t) {
  enum { NEAR = 8 };
  uint32_t from = b->depth;
  for (uint32_t i = from; from - i < NEAR; i--) {
    const hp_open_element *e = &b->stack[i];
    if (HP_SPECULATIVE && i == 0) {
      hp_outer_poison(b);
      return;
    }
    if (i < from && e->ns == HPAR_NAMESPACE_HTML) {
      follow_mode(b, t);
      return;
    }
    if (i == 1 && !HP_SPECULATIVE) return; /* html; of a fragment */
    if (named(e, t->name)) {
      pop_through(b, i);
      return;
    }
    if (i == from) parse_error(b, t);
  }
  follow_stack(b);
  uint32_t found = higher(last_foreign(b, t->name), last_foreign(b, hp_svg_tag_name(t->name)));
  uint32_t html = b->followed[from].html;
  if (found > html)
    pop_through(b, found);
  else if (html)
    follow_mode(b, t);
  else
    hp_outer_poison(b);
}

//§ parsing-main-inforeign
void in_foreign_content(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_TEXT: {
      hp_token text = t->flags & HP_TEXT_NUL ? text_without_nul(b, t, true) : *t;
      if (t->flags & HP_TEXT_NUL) parse_error(b, t);
      insert_text(b, text.data, text.length);
      if (b->frameset_ok && !(t->flags & HP_TEXT_WHITE)) {
        for (uint32_t i = 0; i < t->length; i++)
          if (t->data[i] && !is_white(t->data[i])) b->frameset_ok = false;
      }
      return;
    }
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_START_TAG:
      if (!breaks_out(b, t)) {
        insert_foreign_element(b, t, adjusted_current_node(b)->ns);
        return;
      }
      break;
    default:
      if (!breaks_out(b, t)) {
        end_tag(b, t);
        return;
      }
  }
  parse_error(b, t);
  while (!takes_html(current(b)) && !HP_AT_OUTER(b)) pop(b);
  if (HP_AT_OUTER(b) && b->stack[0].ns != HPAR_NAMESPACE_HTML) hp_outer_poison(b);
  follow_mode(b, t);
}

/* Does the token go by the rules of the insertion mode, with a foreign element as adjusted current node? */
static bool html_rules(const hp_open_element *e, const hp_token *t) {
  if (e->ns == HPAR_NAMESPACE_HTML) return true;
  bool start = t->kind == HPAR_TOKEN_START_TAG, text = t->kind == HPAR_TOKEN_TEXT;
  if (e->tag & HP_TAG_TEXT_INTEGRATION)
    if (text || (start && t->name != HP_MGLYPH && t->name != HP_MALIGNMARK)) return true;
  if (start && t->name == HP_SVG && e->ns == HPAR_NAMESPACE_MATHML && e->name == HP_ANNOTATION_XML) return true;
  return (e->tag & HP_TAG_HTML_INTEGRATION) && (start || text);
}

void process_in_foreign(hp_builder *b, const hp_token *t) {
  if ((!HP_SPECULATIVE && b->depth == 0) || t->kind == HPAR_TOKEN_EOF || html_rules(adjusted_current_node(b), t))
    follow_mode(b, t);
  else
    in_foreign_content(b, t);
}

bool HP_FLAVOUR(adjusted_current_node_is_foreign)(void *builder) {
  const hp_builder *b = builder;
  if (HP_AT_OUTER(b)) hp_outer_assume(builder, HPAR_ASSUME_NAMESPACE, 0);
  /* Text before the section may reconstruct formatting here, and be in HTML afterwards: it is to come first. */
  if (b->tokenizer->pending_text &&
      (adjusted_current_node(b)->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION)))
    return false;
  return adjusted_current_node(b)->ns != HPAR_NAMESPACE_HTML && adjusted_current_node(b)->ns != HPAR_NAMESPACE_NONE;
}

#if !HP_SPECULATIVE
const hp_open_element *hp_adjusted_current_node(const hp_builder *b) { return adjusted_current_node(b); }
#endif

bool HP_FLAVOUR(breaks_out)(const hp_builder *b, const hp_token *t) { return breaks_out(b, t); }
bool HP_FLAVOUR(by_html_rules)(const hp_open_element *adjusted_current, const hp_token *t) {
  return html_rules(adjusted_current, t);
}
bool HP_FLAVOUR(is_named)(const hp_open_element *e, hp_atom name) { return named(e, name); }
