#ifndef HP_DRIVERS_PARALLEL_NEIGHBOURS_H
#define HP_DRIVERS_PARALLEL_NEIGHBOURS_H

/* A thread without work composes the logs of adjacent chunks before the merger reaches them. The
 * merger then has fewer segments to merge. Of the threads that parse two adjacent chunks, the last
 * one without work composes their logs. Any logs may be composed, in any order.
 *
 * A thread holds all chunks whose logs it changes, and the merger holds each chunk that it merges.
 * No thread waits to hold a chunk, except the merger. If a thread is a straggler, the merger parses
 * the text of the chunks that the thread holds. */

#include <stdbool.h>
#include <stdint.h>

struct hp_job;

enum { HP_MAX_FINISHED = 16 };

/* The last chunks that a thread has finished. */
typedef struct hp_finished {
  uint32_t count; /* of all chunks */
  uint32_t chunks[HP_MAX_FINISHED];
} hp_finished;

static inline void hp_note_finished(hp_finished *finished, uint32_t chunk) {
  finished->chunks[finished->count++ % HP_MAX_FINISHED] = chunk;
}

/* Returns whether threads compose neighbouring logs in this job. Requires: the chunks are
 * published. */
bool hp_may_compose_neighbours(const struct hp_job *job);
/* Composes the logs of these chunks with those of their neighbours, as far as these are finished.
 */
void hp_compose_neighbours(struct hp_job *job, unsigned thread, const hp_finished *finished);

#endif
