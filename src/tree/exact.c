/* The exact instance: it makes a tree, and all open elements are on its own stack. The sequential
 * parser and the merger use it. */

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 0
#include "tree/tree_builder.inc"
