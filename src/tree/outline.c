/* The outline: the rules without a tree, and all open elements are on its own stack. The rewriter
 * and the scan for resources use it. */

#define HP_HAS_NODES 0
#define HP_HAS_OUTER 0
#include "tree/tree_builder.inc"
