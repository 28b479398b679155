#ifndef HP_TREE_ACTIVE_FORMATTING_H
#define HP_TREE_ACTIVE_FORMATTING_H

/* The list of active formatting elements as a data structure: see hp_formatting. The last entries,
 * HP_MAX_UNLINKED at most, have no links, so that a short list needs none. Every other entry is
 * linked with those of its name. Once a name has many entries, a hash table finds equal ones. Each
 * operation takes constant time, except those that clear the list or make it contiguous. */

#include "dom/tag.h"
#include "tree/stack.h"

enum { HP_MAX_UNLINKED = 12 };

/* Returns whether the start tag of an element adds a marker to the list. */
static inline bool hp_begins_list(hpar_namespace ns, hp_atom name) {
  if (ns != HPAR_NAMESPACE_HTML) return false;
  switch (name) {
    case HP_ATOM_TD:
    case HP_ATOM_TH:
    case HP_ATOM_CAPTION:
    case HP_ATOM_TEMPLATE:
    case HP_ATOM_APPLET:
    case HP_ATOM_MARQUEE:
    case HP_ATOM_OBJECT: return true;
    default: return false;
  }
}

/* Links all entries. */
void hp_active_formatting_link_all(hp_builder *b);
static inline void hp_active_formatting_link(hp_builder *b) {
  if (b->formatting.linked < b->formatting.count) hp_active_formatting_link_all(b);
}

/* Returns the index + 1 of the last entry of this name after the last marker, or 0. `marker`
 * becomes true if a marker ended the search. */
static inline uint32_t hp_find_listed(const hp_builder *b, hp_atom name, bool *marker) {
  const hp_formatting *list = b->formatting.entries;
  *marker = false;
  for (uint32_t i = b->formatting.count; i > b->formatting.linked; i--) {
    if (list[i - 1].name == name) return i;
    if (list[i - 1].node) continue;
    *marker = true;
    return 0;
  }
  if (!b->formatting.linked) return 0;
  uint32_t last = b->formatting.last[hp_formatting_index(name)];
  if (last > b->formatting.marker) return last;
  *marker = b->formatting.marker != 0;
  return 0;
}

static inline uint32_t hp_last_listed(const hp_builder *b, hp_atom name) {
  bool marker;
  return hp_find_listed(b, name, &marker);
}

/* Returns the index + 1 of the last marker, or 0. */
static inline uint32_t hp_last_marker(const hp_builder *b) {
  for (uint32_t i = b->formatting.count; i > b->formatting.linked; i--)
    if (!b->formatting.entries[i - 1].node) return i;
  return b->formatting.marker;
}

/* Returns the index + 1 of the entry of the element at `index` of the stack, or 0. */
uint32_t hp_listed_at(const hp_builder *b, uint32_t index);

/* Appends an entry, or a marker. */
void hp_active_formatting_append(hp_builder *b, const hp_formatting *entry);
/* Removes an entry after the last marker. */
void hp_active_formatting_remove(hp_builder *b, uint32_t index);
/* Removes the last entry, which is linked. */
void hp_active_formatting_unlink_last(hp_builder *b);
static inline void hp_active_formatting_pop(hp_builder *b) {
  if (b->formatting.count > b->formatting.linked)
    b->formatting.count--;
  else
    hp_active_formatting_unlink_last(b);
}
void hp_active_formatting_clear(hp_builder *b);
/* The entry stands for the element `node` at index `open` of the stack from now on. */
void hp_active_formatting_open(hp_builder *b, uint32_t index, hp_ref node, uint32_t open);
/* Moves the last entry of its name to the position after `target`, a later entry. Both are open and
 * after the last marker. */
void hp_active_formatting_move_after(hp_builder *b, uint32_t index, uint32_t target);
/* Makes the list contiguous from `first` on. All entries from there on are closed or removed. */
void hp_active_formatting_close_tombstones(hp_builder *b, uint32_t first);
/* Makes the whole list contiguous. This costs its length if there is a tombstone. */
void hp_active_formatting_close_all_tombstones(hp_builder *b);

/* Returns true if the attributes are the same, in any order. */
bool hp_same_attributes(hp_builder *b, hp_ref left, hp_ref right);
/* Returns the number of entries after the last marker that equal the node. `earliest` becomes the
 * index of the first of them. */
uint32_t hp_active_formatting_count_equal(hp_builder *b, const hp_node *node, uint32_t *earliest);

/* Appends a worker's entries, whose open elements are on the stack from `depth` + 1 on. */
void hp_active_formatting_splice(hp_builder *b, const hp_formatting *entries, uint32_t count, uint32_t depth);

#endif
