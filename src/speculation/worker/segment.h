#ifndef HP_SPECULATION_WORKER_SEGMENT_H
#define HP_SPECULATION_WORKER_SEGMENT_H

/* Segments of a worker's log: how they begin and end. A segment begins without open elements of the
 * worker, at a token boundary. */

#include "speculation/worker/worker.h"
#include "tree/query.h"

/* Returns true if no token is in progress: the builder and the tokenizer need nothing from the
 * tokens before. */
static inline bool hp_worker_is_at_boundary(const hp_worker *w) {
  const hp_builder *b = &w->engine.builder;
  return is_between_tokens(b) && w->engine.tokenizer.content == HP_CONTENT_DATA;
}

/* Begins a segment at `offset`. The outer context has this insertion mode and namespace. */
void hp_begin_segment(hp_worker *worker, uint32_t offset, uint8_t base_mode, uint8_t ns);

/* Ends the segment at `end` as poisoned, skips raw text, and begins the next segment. */
void hp_give_segment_up(hp_worker *worker, hp_log *log, uint32_t end);

/* Logs the raw text after the deferred start tag `name`, and its end tag, as deferred tokens. The
 * tokens depend only on the fact that the text is raw. Returns false at the end of the input. */
bool hp_log_raw_text(hp_worker *worker, hp_log *log, hp_atom name);

#endif
