#ifndef HP_STUDY_PIPELINED_PRODUCER_H
#define HP_STUDY_PIPELINED_PRODUCER_H

/* The interface between the two stages of the pipeline: producer.c fills the token buffer,
 * consumer.c builds the tree from it. */

#include "study/pipelined/stages.h"
#include "study/record.h"

#include <hpar/study.h>

/* The parse errors of a token. They are in the arena, because the token may be dropped. */
typedef struct hp_token_errors {
  uint32_t count;
  hp_error items[];
} hp_token_errors;

/* The reason why the tokenizer cannot continue. */
typedef enum hp_stuck {
  HP_STUCK_FULL, /* the buffer is full */
  /* The next token does not end in the window. The tree builder must build all tokens first. */
  HP_STUCK_DRAINING,
  HP_STUCK_ENDED /* there is nothing to read before a rollback */
} hp_stuck;

/* Prepares the tokenizer at the position of the engine. Its memory is part `part` of `parts` of the
 * document's range; parts 0: the whole range. */
void hp_stages_open_ahead(hp_stages *stages, unsigned part, unsigned parts);
/* Tokenizes until the stage is stuck. The tree builder reports a failure when it reaches the
 * failed token. */
hp_stuck hp_stages_run_ahead(hp_stages *stages);
/* Answers a request: the tokenizer continues at the snapshot. */
void hp_stages_roll_back(hp_stages *stages);
/* Removes the limit on the length of the next token. Requires: the tree builder has built all
 * tokens, or there is a request. */
void hp_stages_go_on_alone(hp_stages *stages);

/* Waits until `ready(stages)` returns true, and counts the wait. */
void hp_stages_wait(hp_stages *stages, hp_waits *waits, bool (*ready)(void *stages));

/* Returns true if there is a request without an answer. */
static inline bool hp_is_asked_back(const hp_stages *s) {
  return atomic_load(&s->request) != atomic_load(&s->answered);
}

/* Records an event of a stage: thread 1 is the tokenizer, thread 0 the tree builder. `from` is the
 * position of the tokenizer at the time `begin`. Returns the time of its end. */
uint64_t hp_stages_note(hp_stages *stages, hp_event_kind kind, unsigned thread, uint64_t begin, const char *from);

#endif
