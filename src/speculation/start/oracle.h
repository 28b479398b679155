#ifndef HP_SPECULATION_START_ORACLE_H
#define HP_SPECULATION_START_ORACLE_H

/* The oracle finds the true state at each cut by a sequential parse into a temporary document. It
 * is the upper bound for predictors. Its time is counted apart from the parse. */

#include "speculation/start/predict.h"

typedef struct hp_oracle {
  hp_engine engine;
  hpar_document *document; /* NULL: the oracle has no answer */
  uint64_t nanoseconds;
} hp_oracle;

/* Opens an oracle at the beginning of the request's text. `fragment` is as in hpar_options. Returns
 * NULL if memory is short. */
hp_oracle *hp_oracle_open(const hp_request *request, const char *fragment);
void hp_oracle_close(hp_oracle *oracle); /* accepts NULL */

/* Finds the state at the cut. Returns false if `available` bytes of text do not determine it. The
 * cuts of successive calls ascend. */
bool hp_oracle_at(hp_oracle *oracle, uint32_t cut, size_t available, bool last, hp_start_state *state);

#endif
