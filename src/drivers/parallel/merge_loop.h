#ifndef HP_DRIVERS_PARALLEL_MERGE_LOOP_H
#define HP_DRIVERS_PARALLEL_MERGE_LOOP_H

/* The merge loop of thread 0. It merges the chunks in the order of the text. It parses a chunk that
 * no worker has claimed itself, on the true state. While it waits for a chunk it parses later ones
 * as a worker. */

#include "drivers/parallel/team.h"

/* Merges the finished chunks. Parses further chunks while the queue has more than the other threads
 * can claim. Returns instead of waiting. */
void hp_merge_between_feeds(hp_job *job);
/* Merges all chunks and processes the end of the input. */
void hp_merge_all(hp_job *job);

#endif
