#ifndef LIST_MERGE_H
#define LIST_MERGE_H

/* Joins the trees of pieces to the tree of the document. */

#include "tree.h"

/* Appends `next` to `tree`: `mergeTwo` of Temppa (HPar 4.1.2.2, Figure 9). Returns the number of
 * steps, which are the children of the root of `next`. Counts mismatched tags in tree->errors. */
size_t list_merge_two(list_tree *tree, list_tree *next);

/* Merges all trees into trees[0]: `merge` of the paper. Elements without an end tag are errors and
 * stay end-missing. */
size_t list_merge(list_tree *trees, size_t count);

/* Counts the errors of the tree of the whole document. */
void list_finish(list_tree *tree);

/* Puts each unit's element in the place of its LIST_UNIT in one of these trees. `elements` and
 * `holders` (the LIST_UNITs) are indexed by unit. */
void list_merge_units(list_node *const *holders, list_node *const *elements, size_t count);

#endif
