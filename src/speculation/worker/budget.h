#ifndef HP_SPECULATION_WORKER_BUDGET_H
#define HP_SPECULATION_WORKER_BUDGET_H

/* Limits for the work of a worker that the merger cannot use. */

#include "speculation/worker/worker.h"

enum { HP_CHECK_BYTES = 4 << 10 }; /* between two checks of the number of new names */

/* Returns false if the merger is faster without the log. An entry of the log costs as much as some
 * tokens without a node, or fewer tokens with a node. Checks the segments from `*from` on, in
 * groups of 64. */
bool hp_log_pays_off(const hp_log *log, uint32_t *from);

/* Returns true if most of the last `bytes` are new names. Threads that enter new names wait for the
 * lock of the table. */
static inline bool hp_interning_dominates(const hp_worker *w, uint32_t names_before, uint32_t bytes) {
  enum { MIN_NAMES = 64, BYTES_PER_NAME = 32 };
  uint32_t names = w->engine.interner.used - names_before;
  return names > MIN_NAMES && names > bytes / BYTES_PER_NAME;
}

/* Widens the input that the tokenizer may read beyond the chunk. Returns false if that is
 * impossible. A token may end 32 KB plus the length of the chunk after its end, and `read_ahead`
 * bytes more. Otherwise every worker would read a long token that begins in its chunk. */
bool hp_widen_input(hp_tokenizer *tokenizer, const hp_request *request, const hp_chunk_work *chunk);

/* Returns true if the worker read more bytes for incomplete tokens than it parsed. */
bool hp_worker_wastes_bytes(const hp_worker *worker);

#endif
