/* The speculative outline: the rules without a tree, and an outer context is below its own stack.
 * The workers of a rewrite use it. */

#include "base/memory.h"
#include "tree/outline_state.h"

#include "tree/context.h"
#include "tree/no_nodes.h"

#include "tree/tree_builder.inc"
