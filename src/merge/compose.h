#ifndef HP_MERGE_COMPOSE_H
#define HP_MERGE_COMPOSE_H

/* Composing two neighbouring logs, for merging as a tree: what the left one leaves open at its end is the floor of the
 * right one. The left log's last segment is taken up again and goes on into the right log: a segment there that begins
 * where it stands is checked on what it has open, spliced in, and the token that ends it run. What that does not answer
 * is asked of BASE by the composed segment. It ends
 *   - where everything that the left log had open is closed,
 *   - at a token that BASE must answer, which it is then logged with,
 *   - before a segment that does not begin there or of which something does not hold;
 * the rest of the right log stays as it is, for the merger or for another composition.
 *
 * The composer is the worker whose log the left one is, gone on into the next chunk with short cuts; so what makes a
 * worker's segment sound makes a composed one sound. */

#include "speculation/worker/worker.h"

#include <hpar/stats.h>

typedef struct hp_composer {
  hp_worker *worker;   /* its engine is in no other use */
  hp_chunk_work *left; /* NULL: not composing */
  uint32_t position;
  hpar_merge_level *level; /* segments and tokens are counted */
} hp_composer;

/* Does `left` leave something open that `right`, the next chunk, goes on from? Then the composition is begun. Unwinds
 * through the worker's engine, as do the others: then the left log is without its last segment, which is sound. */
bool hp_compose_begin(hp_composer *composer, const hp_request *task, hp_chunk_work *left, const hp_chunk_work *right);
/* Goes through the chunk after the last one. True: all of it became part of the left log, and the composition goes on;
 * false: it has ended. */
bool hp_compose_take(hp_composer *composer, hp_chunk_work *right);
void hp_compose_end(hp_composer *composer);

/* Has the whole chunk become part of the log to its left? */
static inline bool hp_is_taken(const hp_chunk_work *chunk) {
  return chunk->taken && chunk->taken == chunk->log.segment_count;
}

#endif
