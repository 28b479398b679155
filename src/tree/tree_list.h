#ifndef HP_TREE_TREE_LIST_H
#define HP_TREE_TREE_LIST_H

/* The list of active formatting elements, as the rules read and change it.
 * tree/outline_list_rules.h has the same functions for the list of the outline builder. `i` is
 * the index of an entry. */

#include "tree/active_formatting.h"

/* Return the index + 1 of an entry: see tree/active_formatting.h. */
static inline uint32_t listed_at(const hp_builder *b, uint32_t index) { return hp_listed_at(b, index); }
static inline uint32_t find_listed(const hp_builder *b, hp_atom name, bool *marker) {
  return hp_find_listed(b, name, marker);
}
static inline uint32_t last_marker(const hp_builder *b) { return hp_last_marker(b); }
/* Links all entries. */
static inline void link_list(hp_builder *b) { hp_active_formatting_link(b); }
/* Returns the index + 1 of the previous entry of the name, or 0. */
static inline uint32_t previous_listed(const hp_builder *b, uint32_t i) { return b->formatting.entries[i].previous; }
static inline bool is_marker(const hp_builder *b, uint32_t i) { return !b->formatting.entries[i].node; }
static inline bool has_listed_name(const hp_builder *b, uint32_t i, hp_atom name) {
  return b->formatting.entries[i].name == name;
}
static inline bool is_listed_open(const hp_builder *b, uint32_t i) {
  return node_at(b, b->formatting.entries[i].node)->flags & HP_FLAG_OPEN;
}
/* Returns true if the last entry is a marker or open. */
static inline bool is_last_clean(const hp_builder *b) {
  const uint32_t last = b->formatting.count - 1;
  return is_marker(b, last) || is_listed_open(b, last);
}
/* Returns true if the last entry stands for this open element. */
static inline bool is_last_listed(const hp_builder *b, const hp_open_element *e) {
  return b->formatting.entries[b->formatting.count - 1].node == e->node;
}
/* Returns the index of the element in the stack, while it is open. */
static inline uint32_t listed_index(const hp_builder *b, uint32_t i) { return b->formatting.entries[i].open; }
/* Returns a value that differs for two open elements of one name. */
static inline uint32_t listed_identity(const hp_builder *b, uint32_t i) { return b->formatting.entries[i].node; }
static inline hp_ref listed_attributes(const hp_builder *b, uint32_t i) { return b->formatting.entries[i].attributes; }
static inline void remove_listed(hp_builder *b, uint32_t i) { hp_active_formatting_remove(b, i); }
static inline void pop_listed(hp_builder *b) { hp_active_formatting_pop(b); }
static inline void open_listed(hp_builder *b, uint32_t i, hp_ref node, uint32_t open) {
  hp_active_formatting_open(b, i, node, open);
}
static inline void move_listed_after(hp_builder *b, uint32_t i, uint32_t target) {
  hp_active_formatting_move_after(b, i, target);
}
/* The formatting element is on the stack now. */
static inline void note_opened(hp_builder *b, hp_open_element *e) { node_at(b, e->node)->flags |= HP_FLAG_OPEN; }
/* The formatting element leaves the stack. Its entry stays. */
static inline void note_closed(hp_builder *b, const hp_open_element *e) {
  node_at(b, e->node)->flags &= (uint16_t)~HP_FLAG_OPEN;
}
/* The formatting element leaves the stack and the list. */
static inline void note_ended(hp_builder *b, const hp_open_element *e) { note_closed(b, e); }

/* Append without links. Require: the list has a free place. */
static inline void append_new(hp_builder *b, hp_open_element *e, hp_atom name, hp_ref attributes) {
  hp_formatting *entry = &b->formatting.entries[b->formatting.count++];
  entry->node = e->node;
  entry->name = name;
  entry->attributes = attributes;
  entry->open = (uint32_t)(e - b->stack.entries);
  node_at(b, e->node)->flags = HP_FLAG_OPEN;
}
static inline void append_marker(hp_builder *b) { b->formatting.entries[b->formatting.count++] = (hp_formatting){0}; }

#endif
