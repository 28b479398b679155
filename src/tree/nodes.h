#ifndef HP_TREE_NODES_H
#define HP_TREE_NODES_H

/* The hooks of a builder that makes a tree. Those of nodes are empty, so the compiler removes the
 * calls. tree/no_nodes.h has the hooks of the outline builder. */

#include "tree/tree_list.h"

#define HP_HAS_NODES 1

static inline hp_ref root_of(const hp_builder *b) { return b->document->root; }
static inline hpar_quirks quirks(const hp_builder *b) { return b->document->quirks; }
static inline void set_quirks(hp_builder *b, hpar_quirks to) { b->document->quirks = to; }
/* The content of the text that follows. */
static inline hp_content content_of(const hp_builder *b) { return b->tokenizer->content; }
static inline void set_content(hp_builder *b, hp_content content) { b->tokenizer->content = content; }

static inline void hp_note_popped(hp_builder *b, hp_ref node, uint16_t tag) { (void)b, (void)node, (void)tag; }
static inline void hp_note_ended(hp_builder *b, hp_ref node) { (void)b, (void)node; }
static inline void hp_note_cloning(hp_builder *b, hp_ref origin) { (void)b, (void)origin; }
static inline void hp_note_merging(hp_builder *b, bool is_body) { (void)b, (void)is_body; }
static inline void hp_note_inserted(hp_builder *b, hp_place place, hp_ref node) { (void)b, (void)place, (void)node; }

#endif
