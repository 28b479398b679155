#ifndef HP_SESSION_BATCH_H
#define HP_SESSION_BATCH_H

/* Parses of many inputs at once, each by the sequential parser on one thread. Each thread takes the
 * longest input that is left, so that no thread is alone with a long input at the end. All threads
 * first parse those for which one thread would take longer than all for the rest. */

#include "session/session.h"

/* What a thread keeps between batches. */
typedef struct hp_batch_thread {
  hpar_parser *parser;     /* NULL for the calling thread, which has the caller's parser */
  hpar_document *document; /* for inputs without a document; NULL: not created yet */
} hp_batch_thread;

/* Zeros are a batch without memory. */
typedef struct hp_batch {
  hp_batch_thread *threads;
  unsigned count;
} hp_batch;

typedef struct hp_batch_request { // value
  hpar_parser *parser;            /* the caller's */
  hp_config *config;
  hpar_input *inputs;
  size_t count;
  hpar_batch_callback callback; /* NULL: none */
  void *context;
} hp_batch_request;

/* Parses all inputs and fills `stats`. Returns HPAR_ERROR_MEMORY if not one thread has memory; then
 * nothing is parsed. */
hpar_status hp_batch_parse(hp_batch *batch, const hp_batch_request *request, uint64_t begin, hpar_many_stats *stats);

void hp_batch_close(hp_batch *batch);

#endif
