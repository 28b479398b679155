#ifndef HP_TREE_NO_NODES_H
#define HP_TREE_NO_NODES_H

/* The hooks of the outline builder, which makes no tree. A node of it is only a record of an open
 * element or of a closed one in the list of formatting elements: see tree/outline.h. */

#include "tree/outline_list_rules.h"

#define HP_HAS_NODES 0

/* The outline builder has no document and no tokenizer. */
static inline hp_ref root_of(const hp_builder *b) { return ((const hp_outline *)b)->root; }
static inline hpar_quirks quirks(const hp_builder *b) { return ((const hp_outline *)b)->quirks; }
static inline void set_quirks(hp_builder *b, hpar_quirks to) { ((hp_outline *)b)->quirks = to; }
static inline hp_outline *outline_of(hp_builder *b) { return (hp_outline *)b; }
static inline hp_content content_of(const hp_builder *b) { return ((const hp_outline *)b)->content; }
static inline void set_content(hp_builder *b, hp_content content) { ((hp_outline *)b)->content = content; }

/* An element with these bits of its name leaves the stack. Its entry in the list of formatting
 * elements may stay. */
static void hp_note_popped(hp_builder *b, hp_ref node, uint16_t tag);
/* The current node leaves the stack. Its entry has left the list of formatting elements. */
static void hp_note_ended(hp_builder *b, hp_ref node);
/* The next element that is created is a clone of `origin`. */
static void hp_note_cloning(hp_builder *b, hp_ref origin);
/* The attributes of the current tag reach the open body, or the open html. */
static void hp_note_merging(hp_builder *b, bool is_body);
/* The element is at `place` of the tree now. */
static void hp_note_inserted(hp_builder *b, hp_place place, hp_ref node);

#endif
