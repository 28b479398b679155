#include "merge/ark.h"

#include "dom/tag.h"
#include "tree/active_formatting.h"
#include "tree/alike.h"

enum { MAX_EQUAL = 3 }; /* of Noah's Ark clause */

/* Returns the number of entries of the name after the last marker, or 3 if there are more. */
static uint32_t count_named(const hp_builder *b, int index) {
  uint32_t count = 0;
  for (uint32_t i = b->formatting.last[index]; i > b->formatting.marker && count < MAX_EQUAL;
       i = b->formatting.entries[i - 1].previous)
    count++;
  return count;
}

uint32_t hp_names_beyond_ark(hp_builder *b, const hp_segment *s) {
  uint32_t names = 0;
  if (!(s->assumes.questions >> HP_ASSUME_NOAHS_ARK & 1) || !b->formatting.count) return 0;
  hp_active_formatting_link(b);
  for (int i = 0; i < HP_FORMATTING_NAMES; i++)
    if (s->assumes.ark[i] && count_named(b, i) + s->assumes.ark[i] > MAX_EQUAL) names |= 1u << i;
  return names;
}

bool hp_can_apply_ark(const hp_segment *s) { return s->ark_known && s->anchor; }

/* Counts the entries after the last marker that equal the element. `earliest` becomes the index of
 * the first of them. */
static uint32_t count_equal(hp_builder *b, const hp_node *element, uint32_t *earliest) {
  enum { MAX_COMPARED = 32 };
  uint32_t equal = 0, compared = 0;
  for (uint32_t i = b->formatting.count; i > 0 && b->formatting.entries[i - 1].node; i--) {
    const hp_formatting *entry = &b->formatting.entries[i - 1];
    if (compared++ == MAX_COMPARED) return hp_active_formatting_count_equal(b, element, earliest);
    if (entry->node == HP_FORMATTING_TOMBSTONE || entry->name != element->name) continue;
    if (!hp_same_attributes(b, entry->attributes, element->attributes)) continue;
    equal++;
    *earliest = i - 1;
  }
  return equal;
}

/* Removes outer entries that equal the element until `own` more of them fit into the list. */
static void make_room(hp_builder *b, const hp_node *element, uint32_t own) {
  uint32_t earliest = 0;
  while (count_equal(b, element, &earliest) + own > MAX_EQUAL) hp_active_formatting_remove(b, earliest);
}

void hp_apply_ark(hp_builder *b, hp_ref first, hp_ref root, uint32_t names) {
  const hp_node *node = node_at(b, first);
  for (;;) {
    bool is_element = node->kind == HPAR_NODE_ELEMENT;
    int index = is_element && node->ns == HPAR_NAMESPACE_HTML ? hp_formatting_index(node->name) : -1;
    if (index >= 0 && names >> index & 1) {
      uint32_t own = node->flags >> HP_EQUAL_SHIFT & HP_MAX_EQUAL;
      make_room(b, node, own ? own : 1);
    }
    if (is_element && node->first && !hp_begins_list(node->ns, node->name)) {
      node = node_at(b, node->first);
      continue;
    }
    while (!node->next) {
      if (node->parent == root) return;
      node = node_at(b, node->parent);
    }
    node = node_at(b, node->next);
  }
}
