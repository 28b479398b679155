#ifndef HP_MERGE_COMPOSE_H
#define HP_MERGE_COMPOSE_H

/* Composition of the logs of two adjacent chunks, for a merge tree. The open elements at the end of
 * the left log are the outer context of the right one. The composer continues the last segment of
 * the left log with the segments of the right log. It checks each segment against the left log's
 * open elements, splices it in and builds the token that ends it. If these elements do not
 * determine an answer, the composed segment logs an assumption about its own outer context.
 *
 * The composed segment ends:
 *   - when all open elements of the left log are closed,
 *   - with a token that depends on the outer context,
 *   - before a segment of the right log that begins elsewhere, or whose assumptions do not hold,
 *   - before a segment whose run the merger could repair, if it could not repair the composed run.
 * The rest of the right log stays for the merger or for another composition.
 *
 * The composer is the worker of the left log, which continues into the next chunk with spliced
 * segments. Therefore a composed segment is as sound as a segment of a worker. */

#include "base/target.h"
#include "speculation/worker.h"

enum { HP_MERGE_LEVELS = 32 };

/* The merges on one level of the merge tree. */
typedef struct hp_merge_level {
  uint64_t merges;      /* merged logs, or composed pairs of logs */
  uint64_t segments;    /* segments of logs that were inserted */
  uint64_t tokens;      /* replayed tokens, and first halves of tokens */
  uint64_t nanoseconds; /* of all threads */
} hp_merge_level;

typedef struct hp_composer {
  hp_worker *worker;   /* no other code uses its engine */
  hp_chunk_work *left; /* NULL: not composing */
  uint32_t position;
  hp_merge_level *level; /* counts segments and tokens */
} hp_composer;

/* Begins a composition. Returns false if `right`, the next chunk, does not continue the open
 * elements of `left`. This function and the next ones unwind through the worker's engine. Then the
 * left log has lost its last segment, which is sound. */
HP_SHARED bool hp_compose_begin(hp_composer *composer, const hp_request *request, hp_chunk_work *left,
                                const hp_chunk_work *right);
/* Composes the next chunk. Returns true if its whole log became part of the left log and the
 * composition continues. */
HP_SHARED bool hp_compose_chunk(hp_composer *composer, hp_chunk_work *right);
/* Ends the composition, unless it has ended. */
HP_SHARED void hp_compose_end(hp_composer *composer);

/* Returns whether the whole chunk has become part of the log to its left. */
static inline bool hp_is_composed(const hp_chunk_work *chunk) {
  return chunk->taken && chunk->taken == chunk->log.segment_count;
}

#endif
