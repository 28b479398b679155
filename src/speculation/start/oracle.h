#ifndef HP_SPECULATION_START_ORACLE_H
#define HP_SPECULATION_START_ORACLE_H

/* The true state at each cut, by a sequential parse of its own into a document that nobody sees: the upper bound for
 * what a predictor can give. What it costs is kept apart from the parse. */

#include "speculation/start/predict.h"

typedef struct hp_oracle {
  hp_engine engine;
  hpar_document *document; /* NULL: it knows nothing */
  uint64_t nanoseconds;
} hp_oracle;

/* At the beginning of the task's text, a fragment's context being `fragment`, or NULL. NULL: no memory. */
hp_oracle *hp_oracle_open(const hp_request *task, const char *fragment);
void hp_oracle_close(hp_oracle *oracle); /* NULL may be closed */

/* The state at the cut, the cuts ascending, as far as `come` bytes of the text tell. False: they do not. */
bool hp_oracle_at(hp_oracle *oracle, uint32_t cut, size_t come, bool last, hp_start_state *state);

#endif
