#ifndef HP_TREE_ACTIVE_FORMATTING_H
#define HP_TREE_ACTIVE_FORMATTING_H

/* The list of active formatting elements as a data structure. tree/active_formatting.inc implements
 * it for the entries of a tree (hp_formatting) and for those of an outline (hp_outline_listed).
 *
 * The last entries, HP_MAX_UNLINKED at most, have no links, so that a short list needs none. Every
 * other entry leads to an earlier one of its name. Once a name has many entries, a hash table finds
 * equal ones. Each operation takes constant time, except those that clear the list or make it
 * contiguous. */

#include "dom/tag.h"
#include "tree/outline.h"
#include "tree/stack.h"

enum { HP_MAX_UNLINKED = 12 };

/* Returns whether the start tag of an element adds a marker to the list. */
static inline bool hp_begins_list(hpar_namespace ns, hp_atom name) {
  if (ns != HPAR_NAMESPACE_HTML) return false;
  switch (name) {
    case HP_ANY(TD, TH, CAPTION, TEMPLATE, APPLET, MARQUEE, OBJECT): return true;
    default: return false;
  }
}

/*** the entries of an outline ***/

enum { HP_LISTED_NAME_BITS = 15, HP_LISTED_MARKER = 15, HP_LISTED_REMOVED = 2 };

/* An entry has no node: a fingerprint represents its name and its attributes, and an open element
 * is its index in the stack. `element` is one of these:
 *   2 * index + 1     of an open element, with its index in the stack; of a marker: 1
 *   a reference       of a closed element: its node, which is in use (see hp_outline)
 *   HP_LISTED_REMOVED of a removed entry, which keeps its name */
struct hp_outline_listed {
  uint32_t fingerprint[3]; /* lowest 4 bits: hp_formatting_index of the name, or HP_LISTED_MARKER */
  uint32_t element;
  uint32_t previous, alike; /* as in hp_formatting */
};

static inline uint32_t hp_listed_open(uint32_t index) { return 2 * index + 1; }
static inline int hp_listed_name(const hp_outline_listed *e) { return (int)(e->fingerprint[0] & HP_LISTED_NAME_BITS); }
static inline bool hp_is_marker(const hp_outline_listed *e) { return hp_listed_name(e) == HP_LISTED_MARKER; }
static inline bool hp_is_removed(const hp_outline_listed *e) { return e->element == HP_LISTED_REMOVED; }
static inline bool hp_is_closed(const hp_outline_listed *e) { return !(e->element & 1) && !hp_is_removed(e); }

/*** the functions of both lists ***/

/* Links are the index + 1 of an entry, or 0.
 *
 * link_all  links all entries
 * append    appends an entry, or a marker, without its links
 * previous  returns the link to the previous entry of the name
 * find      returns the link to the last entry of this name after the last marker. `marker` becomes
 *           true if a marker ended the search
 * remove    removes an entry after the last marker
 * pop_last  removes the last entry
 * clear     removes all entries
 * open      lets the entry stand for the element `node` at `open` of the stack from now on
 * renumber  follows an element that has moved down the stack from `from` to `to`
 * move_after             moves the last entry of its name to the position after `target`, a later
 *                        entry. Both are open and after the last marker
 * close_tombstones       makes the list contiguous from `first` on. All entries from there on are
 *                        closed or removed
 * close_all_tombstones   makes the whole list contiguous. This costs its length if there is a
 *                        tombstone
 * count_equal            returns the number of entries after the last marker that equal `entry`.
 *                        `earliest` becomes the index of the first of them */
#define HP_LIST_FUNCTIONS(list, listed)                                        \
  void list##_link_all(hp_builder *b);                                         \
  void list##_append(hp_builder *b, const listed *entry);                      \
  uint32_t list##_previous(const hp_builder *b, uint32_t index);               \
  uint32_t list##_find(const hp_builder *b, hp_atom name, bool *marker);       \
  void list##_remove(hp_builder *b, uint32_t index);                           \
  void list##_pop_last(hp_builder *b);                                         \
  void list##_clear(hp_builder *b);                                            \
  void list##_open(hp_builder *b, uint32_t index, hp_ref node, uint32_t open); \
  void list##_renumber(hp_builder *b, uint32_t from, uint32_t to);             \
  void list##_move_after(hp_builder *b, uint32_t index, uint32_t target);      \
  void list##_close_tombstones(hp_builder *b, uint32_t first);                 \
  void list##_close_all_tombstones(hp_builder *b);                             \
  uint32_t list##_count_equal(hp_builder *b, const listed *entry, uint32_t *earliest)

HP_LIST_FUNCTIONS(hp_active_formatting, hp_formatting);
HP_LIST_FUNCTIONS(hp_outline_list, hp_outline_listed);

/* If the element at `open` of the stack has an entry, the entry uses its node from now on. */
void hp_outline_list_close(hp_builder *b, uint32_t open);

/*** the list of a tree ***/

/* Returns true if the attributes are the same, in any order. */
bool hp_same_attributes(hp_builder *b, hp_ref left, hp_ref right);
/* Returns a hash of the name and the set of attributes. */
uint32_t hp_formatting_hash(const hp_builder *b, hp_atom name, hp_ref attributes);
/* Appends a worker's entries, whose open elements are on the stack from `depth` + 1 on. */
void hp_active_formatting_splice(hp_builder *b, const hp_formatting *entries, uint32_t count, uint32_t depth);

/*** lists of any builder ***/

static inline bool hp_is_outline(const hp_builder *b) { return !b->document; }
/* Returns true if the list has an entry of this name after the last marker. `marker` becomes true
 * if a marker ended the search. */
bool hp_has_listed(const hp_builder *b, hp_atom name, bool *marker);
/* Returns the name of entry `i`, HP_NO_ATOM if it is removed, or UINT32_MAX for a marker. */
hp_atom hp_listed_name_of(const hp_builder *b, uint32_t i);

#endif
