#ifndef LIST_MERGE_H
#define LIST_MERGE_H

/* From trees of pieces to the tree of the document. */

#include "tree.h"

/* `mergeTwo` of Temppa (HPar 4.1.2.2, Figure 9): `next` is what follows `tree`, and becomes part of it. Returns the
 * steps: children of the root of `next`. A mismatched tag is counted in tree->errors. */
size_t list_merge_two(list_tree *tree, list_tree *next);

/* `merge`: all into trees[0]. Elements that no end tag has closed are errors, and stay end-missing. */
size_t list_merge(list_tree *trees, size_t count);

/* Counts what is wrong with a tree that is the whole document's. */
void list_finish(list_tree *tree);

/* Puts each unit's element where a LIST_UNIT stands for it in one of these trees. `elements` is by unit; `holders` is
 * the LIST_UNIT of each unit. */
void list_merge_units(list_node *const *holders, list_node *const *elements, size_t count);

#endif
