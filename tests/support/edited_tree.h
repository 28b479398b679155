#ifndef TESTS_SUPPORT_EDITED_TREE_H
#define TESTS_SUPPORT_EDITED_TREE_H

/* Trees with the edits of rules, as lines. The edit of the tree is that of `hpar rewrite --check`:
 * a test that includes this header links src/programs/hpar/rewrite_tree.c. */

#include "programs/hpar/rewrite_tree.h"

/* Writes the tree with the edits; `seen` NULL: without. The document has source offsets. The caller
 * frees the bytes. */
hp_text edited_tree(const hpar_document *document, bool scripting, hp_seen *seen, size_t seen_count);
bool edited_tree_equal(const hp_text *a, const hp_text *b);
/* Prints both trees from the first line that differs. */
void edited_tree_print(const hp_text *edited, const hp_text *got);

#endif
