#ifndef HP_STUDY_MERGE_TREE_H
#define HP_STUDY_MERGE_TREE_H

/* The merge tree. The chunks after the first are the leaves. A node of level k stands for up to 2^k
 * adjacent chunks and composes the logs of its two halves. The thread that completes the second
 * half composes the node. Therefore the nodes of a level are composed in parallel. The first chunk
 * of its right half identifies a node. */

#include "drivers/parallel/team.h"

extern const hp_merge_order hp_merge_tree;

#endif
