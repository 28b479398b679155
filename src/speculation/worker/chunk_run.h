#ifndef HP_SPECULATION_WORKER_CHUNK_RUN_H
#define HP_SPECULATION_WORKER_CHUNK_RUN_H

#include "speculation/worker/worker.h"

/* Parses from the tokenizer's position to the end of the chunk and writes the log. Requires: a
 * segment starts there. With `may_restart`, the end tag of raw text that began before this chunk
 * restarts the hypothesis after that tag. */
void hp_run_chunk(hp_worker *worker, const hp_request *request, const hp_plan *plan, bool may_restart,
                  hp_start_hypothesis *hypothesis, hp_chunk_work *chunk);

#endif
