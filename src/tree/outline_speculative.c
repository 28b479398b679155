/* The speculative outline: the rules without a tree, and an outer context is below its own stack.
 * The workers of a rewrite use it. */

#define HP_HAS_NODES 0
#define HP_HAS_OUTER 1
#include "tree/tree_builder.inc"
