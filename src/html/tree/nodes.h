#ifndef HP_HTML_TREE_NODES_H
#define HP_HTML_TREE_NODES_H

/* The hooks of a builder that makes a tree: none. They are empty, so the compiler removes the
 * calls. html/tree/no_nodes.h has the hooks of the shadow builder. */

#include "html/tree/builder.h"

enum { HP_HAS_NODES = 1 };

static inline void hp_note_popped(hp_builder *b, hp_ref node) { (void)b, (void)node; }
static inline void hp_note_cloning(hp_builder *b, hp_ref origin) { (void)b, (void)origin; }
static inline void hp_note_inserted(hp_builder *b, hp_place place, hp_ref node) { (void)b, (void)place, (void)node; }

#endif
