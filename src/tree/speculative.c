/* The speculative instance: it makes a tree, and an outer context is below its own stack. The
 * workers of a parse use it. */

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 1
#include "tree/tree_builder.inc"
