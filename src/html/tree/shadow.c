/* The shadow builder: the tree builder's rules without a tree. */

#include "html/tree/shadow.h"

#include "html/tree/no_context.h"
#include "html/tree/no_nodes.h"
#include "html/tree/no_watch.h"
#include "html/tree/parts.inc"
#include "text/scan/scan.h"

#include "html/tree/shadow_nodes.inc"

#include "html/tree/shadow_fused.inc"

void hp_shadow_open(hp_shadow *s, const hp_shadow_events *events, bool scripting, hp_unwind *unwind) {
  hp_builder *b = &s->builder;
  s->events = *events;
  s->content = HP_CONTENT_DATA;
  s->quirks = HPAR_NO_QUIRKS;
  s->slot_count = 1;
  s->free_nodes = s->free_blocks = 0;
  s->loose = 0;
  s->loose_limit = MIN_LOOSE;
  s->origin = 0;
  hp_builder_reset(b, FIRST_ENTRIES, unwind);
  s->root = ref_of_slot(add_slots(s, 1, SLOT_NODE));
  s->unpushed = ref_of_slot(add_slots(s, 1, SLOT_NODE));
  s->plain = ref_of_slot(add_slots(s, 1, SLOT_NODE));
  *hp_shadow_node(s, s->root) = (hp_node){.kind = HPAR_NODE_DOCUMENT};
  *hp_shadow_node(s, s->unpushed) = *hp_shadow_node(s, s->plain) = (hp_node){.kind = HPAR_NODE_ELEMENT};
  b->scripting = scripting;
}

//§ html-fragment-parsing-algorithm
void hp_shadow_begin_fragment(hp_shadow *s, hp_atom name, uint8_t ns) {
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

void hp_shadow_close(hp_shadow *s) {
  hp_builder_close(&s->builder);
  hp_free(s->slots);
  hp_free(s->uses);
  memset(s, 0, sizeof *s);
}

/* Returns a block that represents the attributes of a formatting element. hp_same_attributes
 * compares the names and the lengths of its items: the names are the hash. */
static hp_ref new_block(hp_shadow *s, const hp_shadow_tag *tag) {
  static const char nothing[8];
  enum { PARTS = 4 };
  _Static_assert(sizeof(hp_attributes) + (PARTS + 1) * sizeof(hp_attribute) <= HP_SHADOW_BLOCK * HP_SHADOW_SLOT,
                 "a block has space for the hash and for one attribute");
  uint32_t slot = take_slots(s, &s->free_blocks, HP_SHADOW_BLOCK, SLOT_BLOCK);
  hp_attributes *block = (hp_attributes *)(void *)&s->slots[slot];
  block->count = PARTS;
  block->deferred = 0;
  for (uint32_t i = 0; i < PARTS; i++)
    block->items[i] = (hp_attribute){.name = tag->hash[i] | 1u << 31, .length = i, .value = nothing};
  if (tag->breaks_out) block->items[block->count++] = (hp_attribute){.name = HP_COLOR, .value = nothing};
  s->loose++; /* unless the element is inserted and listed */
  return ref_of_slot(slot);
}

/* Returns the attributes that the rules read, for the time of the token. */
static hp_ref token_attributes(hp_shadow *s, const hp_shadow_tag *tag) {
  if (tag->is_end) return 0;
  if (tag->has_attributes) return new_block(s, tag);
  if (!tag->is_hidden && !tag->html_integration) return 0;
  hp_ref ref = new_block(s, tag);
  hp_attributes *block = hp_at(s->builder.base, ref);
  block->count = 1;
  block->items[0] = tag->is_hidden ? (hp_attribute){.name = HP_TYPE, .length = 6, .value = "hidden"}
                                   : (hp_attribute){.name = HP_ENCODING, .length = 9, .value = "text/html"};
  return ref;
}

void hp_shadow_take_tag(hp_shadow *s, const hp_shadow_tag *tag) {
  hp_builder *b = &s->builder;
  if (s->loose > s->loose_limit) sweep_slots(s);
  hp_token token = {.kind = tag->is_end ? HPAR_TOKEN_END_TAG : HPAR_TOKEN_START_TAG,
                    .flags = tag->self_closing ? HP_TOKEN_SELF_CLOSING : 0,
                    .name = tag->name,
                    .attributes = token_attributes(s, tag),
                    .end = 1};
  if (tag->is_end) s->content = HP_CONTENT_DATA;
  take_token(b, &token);
}

void hp_shadow_take_text(hp_shadow *s, hp_shadow_text text) {
  static const char *const data[] = {"\n", " ", "\0", "x"};
  static const uint8_t flags[] = {HP_TEXT_WHITE, HP_TEXT_WHITE, HP_TEXT_NUL, 0};
  hp_token token = {.kind = HPAR_TOKEN_TEXT, .flags = flags[text], .length = 1, .data = data[text]};
  take_token(&s->builder, &token);
}

void hp_shadow_take_comment(hp_shadow *s) { s->builder.ignore_lf = false; }

void hp_shadow_take_doctype(hp_shadow *s, const hp_doctype *doctype, bool force_quirks) {
  hp_token token = {.kind = HPAR_TOKEN_DOCTYPE, .flags = force_quirks ? HP_TOKEN_FORCE_QUIRKS : 0, .doctype = doctype};
  take_token(&s->builder, &token);
}

void hp_shadow_take_end(hp_shadow *s) {
  hp_token token = {.kind = HPAR_TOKEN_EOF};
  take_token(&s->builder, &token);
}

bool hp_shadow_text_matters(const hp_shadow *s) {
  const hp_builder *b = &s->builder;
  if (b->ignore_lf) return true;
  if (b->mode == HP_IN_TEXT) return false;
  if (b->frameset_ok || current(b)->ns != HPAR_NAMESPACE_HTML) return true;
  if (!(CONTENT_MODES >> b->mode & 1)) return true;
  if (!b->formatting_count) return false;
  const hp_formatting *top = &b->formatting[b->formatting_count - 1];
  return top->node && !(node_at(b, top->node)->flags & HP_FLAG_OPEN);
}

bool hp_shadow_takes_cdata(hp_shadow *s) { return adjusted_current_node_is_foreign(&s->builder); }

size_t hp_shadow_memory(const hp_shadow *s) {
  const hp_builder *b = &s->builder;
  return s->slot_capacity * sizeof *s->slots + s->use_capacity + b->stack_capacity * sizeof *b->stack +
         (b->last_capacity + b->last_own_capacity) * sizeof *b->last + b->formatting_capacity * sizeof *b->formatting +
         b->higher_capacity * sizeof *b->higher + b->listed_capacity * sizeof *b->listed +
         b->alike_capacity * sizeof *b->alike + b->attribute_place_capacity * sizeof *b->attribute_places +
         b->template_capacity + b->followed_capacity * sizeof *b->followed +
         b->last_foreign_capacity * sizeof *b->last_foreign;
}
