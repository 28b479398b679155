#ifndef HP_TREE_OUTLINE_LIST_H
#define HP_TREE_OUTLINE_LIST_H

/* The list of active formatting elements of the outline builder. An entry has no node: a
 * fingerprint represents its name and its attributes, and an open element is its index in the
 * stack. As in tree/active_formatting.h, the last entries, HP_MAX_UNLINKED at most, have no links,
 * and a hash table finds equal entries once a name has many.
 *
 * It has the fields of hp_active_formatting in common with the list of a tree builder, except
 * `by_index` and those of attributes. `last` never leads to a removed entry. */

#include "dom/tag.h"
#include "tree/active_formatting.h"
#include "tree/outline.h"

enum { HP_LISTED_NAME_BITS = 15, HP_LISTED_MARKER = 15, HP_LISTED_REMOVED = 2 };

/* An entry. `element` is one of these:
 *   2 * index + 1     of an open element, with its index in the stack; of a marker: 1
 *   a reference       of a closed element: its node, which is in use (see hp_outline)
 *   HP_LISTED_REMOVED of a removed entry, which keeps its name
 * Links are the index + 1 of another entry, or 0. */
struct hp_outline_listed {
  uint32_t fingerprint[3]; /* lowest 4 bits: hp_formatting_index of the name, or HP_LISTED_MARKER */
  uint32_t element;
  /* Of linked entries. A marker leads to the previous marker. All other entries of the name that
   * precede this one have an index below `previous`. The entry before that index may have another
   * name, because entries move. */
  uint32_t previous;
  uint32_t alike; /* the previous entry in the hash bucket */
};

static inline hp_outline_listed *hp_outline_list(const hp_builder *b) { return b->formatting.outline_entries; }
static inline uint32_t hp_listed_open(uint32_t index) { return 2 * index + 1; }
static inline int hp_listed_name(const hp_outline_listed *e) { return (int)(e->fingerprint[0] & HP_LISTED_NAME_BITS); }
static inline bool hp_is_marker(const hp_outline_listed *e) { return hp_listed_name(e) == HP_LISTED_MARKER; }
static inline bool hp_is_removed(const hp_outline_listed *e) { return e->element == HP_LISTED_REMOVED; }
static inline bool hp_is_closed(const hp_outline_listed *e) { return !(e->element & 1) && !hp_is_removed(e); }
static inline bool hp_same_fingerprint(const hp_outline_listed *l, const hp_outline_listed *r) {
  return l->fingerprint[0] == r->fingerprint[0] && l->fingerprint[1] == r->fingerprint[1] &&
         l->fingerprint[2] == r->fingerprint[2];
}

/* Ends one use of the node. A sweep frees a node without uses, because an open table may have it as
 * the parent. */
static inline void hp_outline_release(hp_outline *s, hp_ref ref) {
  if (ref == s->plain) return;
  if (!hp_outline_node(s, ref)->first--) s->loose++;
}

/* Links all entries. */
void hp_outline_list_link_all(hp_builder *b);
static inline void hp_outline_list_link(hp_builder *b) {
  if (b->formatting.linked < b->formatting.count) hp_outline_list_link_all(b);
}
void hp_outline_list_grow(hp_builder *b);
/* Reserves memory for another entry. May move the entries. */
static inline void hp_outline_list_reserve(hp_builder *b) {
  if (b->formatting.count == b->formatting.capacity) hp_outline_list_grow(b);
}
/* Appends an entry, without its links. */
void hp_outline_list_append(hp_builder *b, const hp_outline_listed *entry);
/* Returns the index + 1 of the previous entry of the name, or 0. */
uint32_t hp_outline_list_previous(const hp_builder *b, uint32_t index);
void hp_outline_list_remove(hp_builder *b, uint32_t index);
/* Removes the last entry. */
void hp_outline_list_pop(hp_builder *b);
void hp_outline_list_clear(hp_builder *b);
/* The entry, whose element is closed, stands for the element at `open` of the stack from now on. */
void hp_outline_list_open(hp_builder *b, uint32_t index, uint32_t open);
/* If the element at `open` of the stack has an entry, the entry uses its node from now on. */
void hp_outline_list_close(hp_builder *b, uint32_t open);
/* The element has moved down the stack, to the index `to`. */
void hp_outline_list_renumber(hp_builder *b, uint32_t from, uint32_t to);
/* Moves the last entry of its name to the position after `target`, a later entry. Both are open and
 * after the last marker. */
void hp_outline_list_move_after(hp_builder *b, uint32_t index, uint32_t target);
/* Makes the list contiguous from `first` on. All entries from there on are closed or removed. */
void hp_outline_list_close_tombstones(hp_builder *b, uint32_t first);
/* Makes the whole list contiguous. This costs its length. */
void hp_outline_list_close_all_tombstones(hp_builder *b);
/* Returns the number of entries after the last marker that equal `entry`. `earliest` becomes the
 * index of the first of them. */
uint32_t hp_outline_list_count_equal(hp_builder *b, const hp_outline_listed *entry, uint32_t *earliest);
/* Returns true if the closed element with this node has an entry. Requires: it was the only
 * element with this node. */
bool hp_outline_lists(const hp_outline *outline, hp_ref node);

/*** lists of any builder ***/

static inline bool hp_is_outline(const hp_builder *b) { return !b->document; }
/* Does the same as find_listed != 0. */
bool hp_has_listed(const hp_builder *b, hp_atom name, bool *marker);
/* Returns the name of entry `i`, HP_NO_ATOM if it is removed, or UINT32_MAX for a marker. */
hp_atom hp_listed_name_of(const hp_builder *b, uint32_t i);

#endif
