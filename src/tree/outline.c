/* The outline: the rules without a tree, and all open elements are on its own stack. The rewriter
 * and the scan for resources use it. */

#include "tree/outline.h"

#include "tree/no_context.h"
#include "tree/no_nodes.h"

#include "tree/tree_builder.inc"
