#ifndef HP_TREE_OUTLINE_LIST_RULES_H
#define HP_TREE_OUTLINE_LIST_RULES_H

/* The functions of tree/tree_list.h for the list of the outline builder. */

#include "tree/outline_list.h"

static inline uint32_t listed_at(const hp_builder *b, uint32_t index) {
  const uint32_t listed = b->stack.entries[index].listed;
  return listed && listed <= b->formatting.count && hp_outline_list(b)[listed - 1].element == hp_listed_open(index)
             ? listed
             : 0;
}

/* See hp_find_listed. */
static inline uint32_t find_listed(const hp_builder *b, hp_atom name, bool *marker) {
  const hp_outline_listed *list = hp_outline_list(b);
  const int index = hp_formatting_index(name);
  *marker = false;
  for (uint32_t i = b->formatting.count; i > b->formatting.linked; i--) {
    if (hp_listed_name(&list[i - 1]) == index) return i;
    if (!hp_is_marker(&list[i - 1])) continue;
    *marker = true;
    return 0;
  }
  if (!b->formatting.linked) return 0;
  const uint32_t last = b->formatting.last[index];
  if (last > b->formatting.marker) return last;
  *marker = b->formatting.marker != 0;
  return 0;
}

static inline uint32_t last_marker(const hp_builder *b) {
  for (uint32_t i = b->formatting.count; i > b->formatting.linked; i--)
    if (hp_is_marker(&hp_outline_list(b)[i - 1])) return i;
  return b->formatting.marker;
}

static inline void link_list(hp_builder *b) { hp_outline_list_link(b); }
static inline uint32_t previous_listed(const hp_builder *b, uint32_t i) { return hp_outline_list_previous(b, i); }
static inline bool is_marker(const hp_builder *b, uint32_t i) { return hp_is_marker(&hp_outline_list(b)[i]); }
static inline bool has_listed_name(const hp_builder *b, uint32_t i, hp_atom name) {
  const hp_outline_listed *e = &hp_outline_list(b)[i];
  return hp_listed_name(e) == hp_formatting_index(name) && !hp_is_removed(e);
}
static inline bool is_listed_open(const hp_builder *b, uint32_t i) { return hp_outline_list(b)[i].element & 1; }
static inline bool is_last_clean(const hp_builder *b) { return is_listed_open(b, b->formatting.count - 1); }
static inline bool is_last_listed(const hp_builder *b, const hp_open_element *e) {
  return hp_outline_list(b)[b->formatting.count - 1].element == hp_listed_open((uint32_t)(e - b->stack.entries));
}
static inline uint32_t listed_index(const hp_builder *b, uint32_t i) { return hp_outline_list(b)[i].element >> 1; }
static inline uint32_t listed_identity(const hp_builder *b, uint32_t i) { return hp_outline_list(b)[i].element; }
static inline hp_ref listed_attributes(const hp_builder *b, uint32_t i) { return (void)b, (void)i, 0; }
static inline void remove_listed(hp_builder *b, uint32_t i) { hp_outline_list_remove(b, i); }
static inline void pop_listed(hp_builder *b) { hp_outline_list_pop(b); }
static inline void open_listed(hp_builder *b, uint32_t i, hp_ref node, uint32_t open) {
  (void)node;
  hp_outline_list_open(b, i, open);
}
static inline void move_listed_after(hp_builder *b, uint32_t i, uint32_t target) {
  hp_outline_list_move_after(b, i, target);
}
static inline void note_opened(hp_builder *b, hp_open_element *e) {
  (void)b;
  e->listed = 0;
}
static inline void note_closed(hp_builder *b, const hp_open_element *e) {
  hp_outline_list_close(b, (uint32_t)(e - b->stack.entries));
}
static inline void note_ended(hp_builder *b, const hp_open_element *e) { (void)b, (void)e; }

/* Append without links. Require: the list has a free place. */
static inline void append_new(hp_builder *b, hp_open_element *e, hp_atom name, hp_ref attributes) {
  (void)attributes;
  hp_outline_listed *entry = &hp_outline_list(b)[b->formatting.count++];
  *entry = (hp_outline_listed){.fingerprint = {(uint32_t)hp_formatting_index(name)},
                               .element = hp_listed_open((uint32_t)(e - b->stack.entries))};
  e->listed = b->formatting.count;
}
static inline void append_marker(hp_builder *b) {
  hp_outline_list(b)[b->formatting.count++] = (hp_outline_listed){.fingerprint = {HP_LISTED_MARKER}, .element = 1};
}

#endif
