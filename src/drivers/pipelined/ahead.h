#ifndef HP_DRIVERS_PIPELINED_AHEAD_H
#define HP_DRIVERS_PIPELINED_AHEAD_H

/* The two stages of the pipeline for each other: ahead.c fills the token buffer, behind.c builds
 * the tree from it. */

#include "drivers/pipelined/stages.h"
#include "trace/record.h"

/* The parse errors of a token. They are in the arena, because the token may be dropped. */
typedef struct hp_found {
  uint32_t count;
  uint64_t seen;
  hp_error items[];
} hp_found;

/* Why the stage ahead cannot continue. */
typedef enum hp_stuck {
  HP_STUCK_FULL,     /* the buffer is full */
  HP_STUCK_DRAINING, /* the next token does not end in the window: the stage behind must build the rest first */
  HP_STUCK_ENDED     /* there is nothing to read before a rollback */
} hp_stuck;

/* Prepares the tokenizer at the position of the engine. Its memory is part `part` of `parts` of the
 * document's range; parts 0: the whole range. */
void hp_stages_open_ahead(hp_stages *stages, unsigned part, unsigned parts);
/* Tokenizes until the stage is stuck. The stage behind reports a failure when it reaches the failed
 * token. */
hp_stuck hp_stages_run_ahead(hp_stages *stages);
/* Answers a request: continues at the snapshot. */
void hp_stages_roll_back(hp_stages *stages);
/* Lets the next token be as long as it is. Requires: the stage behind has built all tokens, or
 * there is a request. */
void hp_stages_go_on_alone(hp_stages *stages);

/* Returns true if there is a request without an answer. */
static inline bool hp_is_asked_back(const hp_stages *s) {
  return atomic_load(&s->request) != atomic_load(&s->answered);
}

/* Records an event of a stage: thread 1 is ahead, thread 0 behind. `from` is where its tokenizer
 * was at the time `begin`. Returns the time of its end. */
uint64_t hp_stages_note(hp_stages *stages, hpar_event_kind kind, unsigned thread, uint64_t begin, const char *from);

#endif
