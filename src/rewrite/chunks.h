#ifndef HP_REWRITE_CHUNKS_H
#define HP_REWRITE_CHUNKS_H

/* The chunks of a window that several threads rewrite. A chunk of the merger comes before one chunk
 * for each other thread. The merger rewrites its chunks on the true state. That takes less time
 * than the work of a worker, so the merger's chunks are longer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hp_chunks {
  const char *window;
  size_t length;      /* of the window */
  const size_t *cuts; /* given offsets of the chunks after the first one; NULL: none */
  size_t first;       /* the offset of the first chunk */
  size_t *begins;     /* by chunk, unless there are cuts: where the search for a cut begins */
  uint32_t count, capacity;
  uint32_t period; /* each `period`-th chunk from the first one on is the merger's; 0: none is */
} hp_chunks;

/* Divides the window from `first` on at the cuts. */
void hp_chunks_use_cuts(hp_chunks *chunks, const size_t *cuts, size_t cut_count);
/* Divides the window from `first` on into chunks of `size` bytes or, for 0, by the number of
 * threads. Then the chunks become smaller towards the end, so that all threads end at about the
 * same time. `has_versions`: in the first round, workers match elements in several versions.
 * Returns false if memory is short. */
bool hp_chunks_divide(hp_chunks *chunks, size_t size, unsigned threads, bool has_versions);
void hp_chunks_free(hp_chunks *chunks);

/* Returns the offset of a chunk, or the length of the window for the number after the last one. */
size_t hp_chunk_begin(const hp_chunks *chunks, uint32_t chunk);
/* Returns true if no worker may claim the chunk. */
static inline bool hp_chunk_is_reserved(const hp_chunks *chunks, uint32_t chunk) {
  return chunks->period && chunk % chunks->period == 0;
}

#endif
