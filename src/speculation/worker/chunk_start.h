#ifndef HP_SPECULATION_WORKER_CHUNK_START_H
#define HP_SPECULATION_WORKER_CHUNK_START_H

#include "speculation/start/predict.h"
#include "tokenizer/tokenizer.h"

/* Moves the tokenizer to the first token boundary of the data state, from a chunk that begins in
 * this state. Returns false if there is no boundary before `limit`. */
bool hp_find_chunk_start(hp_tokenizer *tokenizer, const hp_start_state *state, const char *limit, bool scripting);

#endif
