#ifndef HP_DRIVERS_PARALLEL_MERGE_TREE_H
#define HP_DRIVERS_PARALLEL_MERGE_TREE_H

/* The merge tree. The chunks after the first are the leaves. A node of level k stands for up to 2^k
 * adjacent chunks and composes the logs of its two halves. The thread that completes the second
 * half composes the node. Therefore the nodes of a level are composed in parallel. The first chunk
 * of its right half identifies a node. */

#include <stdint.h>

struct hp_job;

/* Notes that a chunk after the first is done, or that the merger parses it. Composes every node
 * that this completes. */
void hp_merge_tree_arrive(struct hp_job *job, unsigned thread, uint32_t chunk);
/* Lets no further composition begin, and waits for those that run. Afterwards the merger may take
 * each chunk that is done, because no other thread changes its log. */
void hp_merge_tree_close(struct hp_job *job);
/* Composes the remaining nodes. Requires: all chunks have arrived, and no other thread works. */
void hp_merge_tree_finish(struct hp_job *job);

#endif
