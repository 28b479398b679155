#ifndef HP_SPECULATION_WORKER_CHUNK_RUN_H
#define HP_SPECULATION_WORKER_CHUNK_RUN_H

/* The parts of a start hypothesis. */

#include "speculation/worker/worker.h"

/* Moves the tokenizer to the first token boundary of the data state, from a chunk that begins in
 * this state. Returns false if there is no boundary before `limit`. */
bool hp_find_chunk_start(hp_tokenizer *tokenizer, const hp_start_state *state, const char *limit, bool scripting);

/* Parses from the tokenizer's position to the end of the chunk and writes the log. Requires: a
 * segment starts there. With `may_restart`, the end tag of raw text that began before this chunk
 * restarts the hypothesis after that tag. */
void hp_run_chunk(hp_worker *worker, const hp_request *request, const hp_plan *plan, bool may_restart,
                  hp_start_hypothesis *hypothesis, hp_chunk_work *chunk);

#endif
