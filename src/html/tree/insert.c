#include "html/tree/construct.h"

#include <strings.h>

void parse_error(hp_builder *b, const hp_token *t) {
  if (b->errors) hp_errors_add(b->errors, HP_ERROR_TREE_CONSTRUCTION, t->start);
}

static hp_ref contents_of(const hp_builder *b, hp_ref template) { return *hp_template_slot(node_at(b, template)); }

/* The last table on the stack gives its parent away. */
static hp_place foster_place(hp_builder *b) {
  uint32_t template = b->last[HP_TEMPLATE], table = b->last[HP_TABLE];
  if (template && template > table) return (hp_place){contents_of(b, b->stack[template].node), 0};
  if (!table) {
    if (HP_SPECULATIVE) {
      hp_outer_poison(b);
      return (hp_place){b->stack[0].node, 0};
    }
    return (hp_place){b->stack[1].node, 0};
  }
  hp_node *node = node_at(b, b->stack[table].node);
  hp_ref parent = hp_parent_of(b->base, node);
  if (HP_SPECULATIVE && !parent) parent = node->parent;
  if (parent) return (hp_place){parent, b->stack[table].node};
  hp_open_element *above = &b->stack[table - 1];
  return (hp_place){is_html(above, HP_TEMPLATE) ? contents_of(b, above->node) : above->node, 0};
}

//§ appropriate-place-for-inserting-a-node
hp_place place_for(hp_builder *b, hp_ref target, uint16_t tag, hp_atom name) {
  if (b->foster_parenting && (tag & HP_TAG_TABLE_CONTEXT)) return foster_place(b);
  if (name == HP_TEMPLATE && (node_at(b, target)->flags & HP_FLAG_TEMPLATE))
    return (hp_place){contents_of(b, target), 0};
  return (hp_place){target, 0};
}

//§ create-an-element-for-the-token
hp_ref new_element(hp_builder *b, hp_atom name, uint8_t ns, hp_ref attributes, const hp_token *source) {
  size_t before = b->source_offsets ? 8 : 0;
  bool template = name == HP_TEMPLATE && ns == HPAR_NAMESPACE_HTML;
  char *memory = hp_arena_take(b->nodes, before + sizeof(hp_node) + (template ? 8 : 0));
  hp_node *node = (hp_node *)(memory + before);
  memset(node, 0, sizeof *node);
  node->kind = HPAR_NODE_ELEMENT;
  node->ns = ns;
  node->name = name;
  node->attributes = attributes;
  if (before && source) {
    hp_source_slot(node)[0] = source->start;
    hp_source_slot(node)[1] = source->end;
    node->flags |= HP_FLAG_SOURCE;
  }
  b->node_count++;
  if (template) {
    hp_node *contents = hp_arena_take(b->nodes, sizeof *contents);
    memset(contents, 0, sizeof *contents);
    contents->kind = HPAR_NODE_FRAGMENT;
    node->flags |= HP_FLAG_TEMPLATE;
    *hp_template_slot(node) = hp_ref_of(b->base, contents);
    b->node_count++;
  }
  if (name == HP_SELECTEDCONTENT && ns == HPAR_NAMESPACE_HTML) b->selectedcontent_seen = true;
  return hp_ref_of(b->base, node);
}

hp_ref insert_html_slowly(hp_builder *b, const hp_token *t, bool push) {
  hp_place place = appropriate_place(b);
  hp_ref ref = new_element(b, t->name, HPAR_NAMESPACE_HTML, t->attributes, t->end ? t : NULL);
  insert_element_at(b, place, ref);
  if (push) push_html(b, ref, t->name);
  return ref;
}

/* The names of the attributes as they stand on a foreign element. They are ours to change: the block is the token's. */
static bool adjust_attributes(hp_builder *b, hp_ref attributes, uint8_t ns, hp_atom name) {
  bool html_integration = false;
  if (!attributes) return false;
  hp_attributes *block = hp_at(b->base, attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    hp_attribute *a = &block->items[i];
    a->name = hp_foreign_attribute_name(ns, a->name);
    //§ html-integration-point
    if (a->name == HP_ENCODING && ns == HPAR_NAMESPACE_MATHML && name == HP_ANNOTATION_XML)
      html_integration = (a->length == 9 && !strncasecmp(a->value, "text/html", 9)) ||
                         (a->length == 21 && !strncasecmp(a->value, "application/xhtml+xml", 21));
  }
  return html_integration;
}

//§ insert-a-foreign-element
void insert_foreign_element(hp_builder *b, const hp_token *t, uint8_t ns) {
  hp_atom name = ns == HPAR_NAMESPACE_SVG ? hp_svg_tag_name(t->name) : t->name;
  bool html_integration = adjust_attributes(b, t->attributes, ns, name);
  hp_place place = appropriate_place(b);
  hp_ref ref = new_element(b, name, ns, t->attributes, t);
  insert_element_at(b, place, ref);
  if (t->flags & HP_TOKEN_SELF_CLOSING) return;
  uint16_t tag = hp_foreign_tag(ns, name);
  if (html_integration) {
    node_at(b, ref)->flags |= HP_FLAG_HTML_INTEGRATION;
    tag |= HP_TAG_HTML_INTEGRATION;
  }
  push_entry(b, ref, name, ns, tag);
}

/* Appending doubles the room, so that a text joined from n pieces costs O(its length). */
static void append_text(hp_builder *b, hp_node *text, const char *data, uint32_t length) {
  if (text->capacity == 0 && text->data + text->length == data) { /* neighbours in the input, too */
    text->length += length;
    return;
  }
  size_t joined = (size_t)text->length + length;
  if (joined > text->capacity) {
    if (joined > UINT32_MAX / 2) hp_fail_now(b->fail, HPAR_ERROR_MEMORY);
    char *room = hp_arena_take(b->bytes, joined * 2);
    memcpy(room, text->data, text->length);
    text->data = room;
    text->capacity = (uint32_t)(joined * 2);
  }
  memcpy((char *)(uintptr_t)text->data + text->length, data, length);
  text->length = (uint32_t)joined;
}

#if !HP_SPECULATIVE
void hp_exact_join_text(hp_builder *b, hp_ref text, const char *data, uint32_t length) {
  append_text(b, node_at(b, text), data, length);
}
#endif

static inline void fill_text(hp_node *text, const char *data, uint32_t length) {
  text->kind = HPAR_NODE_TEXT;
  text->ns = 0;
  text->flags = 0;
  text->data = data;
  text->length = length;
  text->capacity = 0;
}

//§ insert-a-character
void insert_text_at(hp_builder *b, hp_place place, const char *data, uint32_t length) {
  hp_node *parent = node_at(b, place.parent);
  if (parent->kind == HPAR_NODE_DOCUMENT || !length) return;
  hp_ref before = place.next ? node_at(b, place.next)->previous : parent->last;
  if (before && node_at(b, before)->kind == HPAR_NODE_TEXT) {
    append_text(b, node_at(b, before), data, length);
    return;
  }
  hp_node *text = hp_arena_take(b->nodes, sizeof *text);
  fill_text(text, data, length);
  b->node_count++;
  insert_at(b, place, hp_ref_of(b->base, text));
}

static HP_OUT_OF_LINE void insert_text_slowly(hp_builder *b, const char *data, uint32_t length) {
  insert_text_at(b, appropriate_place(b), data, length);
}

/* The usual case calls nothing: into an element, behind a last child that is no text, with room for a node. */
void insert_text(hp_builder *b, const char *data, uint32_t length) {
  const hp_open_element *target = current(b);
  hp_arena *nodes = b->nodes;
  if (target->name == HP_TEMPLATE || b->foster_parenting || (!HP_SPECULATIVE && b->depth == 0) || !length ||
      (size_t)(nodes->end - nodes->at) < sizeof(hp_node)) {
    insert_text_slowly(b, data, length);
    return;
  }
  hp_node *parent = node_at(b, target->node);
  hp_ref previous = parent->last;
  if (previous && node_at(b, previous)->kind == HPAR_NODE_TEXT) {
    insert_text_slowly(b, data, length);
    return;
  }
  hp_node *text = hp_arena_take(nodes, sizeof *text);
  hp_ref ref = hp_ref_of(b->base, text);
  fill_text(text, data, length);
  b->node_count++;
  text->parent = target->node;
  text->previous = previous;
  text->next = 0;
  parent->last = ref;
  if (previous)
    node_at(b, previous)->next = ref;
  else
    parent->first = ref;
}

//§ insert-a-comment
void insert_comment_at(hp_builder *b, const hp_token *t, hp_place place) {
  hp_node *node = hp_arena_take(b->nodes, sizeof *node);
  node->kind = t->kind == HPAR_TOKEN_COMMENT ? HPAR_NODE_COMMENT : HPAR_NODE_PROCESSING_INSTRUCTION;
  node->ns = 0;
  node->flags = 0;
  node->data = t->data;
  node->length = t->length;
  node->target = t->name;
  b->node_count++;
  insert_at(b, place, hp_ref_of(b->base, node));
}

hp_token text_without_nul(hp_builder *b, const hp_token *t, bool replace) {
  hp_token clean = *t;
  char *to = hp_arena_take(b->bytes, replace ? (size_t)t->length * 3 : t->length);
  clean.data = to;
  clean.flags &= (uint8_t)~HP_TEXT_NUL;
  for (uint32_t i = 0; i < t->length; i++) {
    if (t->data[i]) {
      *to++ = t->data[i];
    } else if (replace) {
      memcpy(to, "\xef\xbf\xbd", 3);
      to += 3;
    }
  }
  clean.length = (uint32_t)(to - clean.data);
  if (leading_white(&clean) == clean.length) clean.flags |= HP_TEXT_WHITE;
  return clean;
}

void insert_white(hp_builder *b, const hp_token *t, void (*insert)(hp_builder *, const char *, uint32_t)) {
  if (t->flags & HP_TEXT_WHITE) {
    insert(b, t->data, t->length);
    return;
  }
  parse_error(b, t);
  for (uint32_t i = 0; i < t->length;) {
    uint32_t start = i;
    while (i < t->length && is_white(t->data[i])) i++;
    if (i > start) insert(b, t->data + start, i - start);
    while (i < t->length && !is_white(t->data[i])) i++;
  }
}
