#ifndef HP_RUNTIME_UNITS_H
#define HP_RUNTIME_UNITS_H

/* Units of work that threads share: chunks of a parse, slices of a text, pages of a batch.
 * tests/units.pml is the model of this protocol, and the comments name its steps.
 *
 *   FREE -- claim --> CLAIMED -- publish --> PUBLISHED -- consume --> CONSUMED
 *     |                |   ^                 |       ^
 *     |             begin end              hold   release
 *     |                v   |                 v       |
 *     +---- give up    WRITING            HELD, by one thread
 *              v
 *           GIVEN_UP
 *
 * Only the thread that has claimed a unit writes its result. The publication is a release, and the
 * look at it an acquire, so that whoever sees a unit published may read the result. A consumer
 * whose unit is late gives it up: it does the unit itself, and the late thread learns from its next
 * step that nobody wants its result. Either the consumer does that in other memory, or threads
 * write to the memory of a unit only between begin and end, where a unit is not given up. */

#include "base/memory.h"
#include "runtime/crew.h"

#include <stdatomic.h>

/* A word, because exchanges of bytes need a library on RISC-V. Zero is a free unit. */
typedef _Atomic uint32_t hp_unit_state;

enum {
  HP_UNIT_FREE,
  HP_UNIT_CLAIMED,
  HP_UNIT_WRITING,
  HP_UNIT_GIVEN_UP,
  HP_UNIT_PUBLISHED, /* the result is complete in this state and in the next ones */
  HP_UNIT_CONSUMED,
  HP_UNIT_HELD /* + the number of the thread */
};

/* Step `claim`. Returns false if another thread has claimed the unit, or it was given up. */
bool hp_unit_claim(hp_unit_state *unit);
/* Step `publish`, which ends a write, too. Returns false if the unit was given up. Requires: the
 * thread has claimed it. */
bool hp_unit_publish(hp_unit_state *unit);
/* Step `give_up`, which waits for the end of a write. Returns false if the result is complete. A
 * free unit is given up, too: a thread may have taken its number from a queue, and be late before
 * it claims the unit. */
bool hp_unit_give_up(hp_unit_state *unit);
/* Pauses in a wait for a thread that may need this processor. Requires: all zeros before the first
 * call. */
void hp_unit_pause(hp_spin *spin);
/* Step `hold`: lets the thread alone use the result. Returns false if the unit is not published, or
 * another thread holds it. */
bool hp_unit_hold(hp_unit_state *unit, unsigned thread);
/* Step `release`. */
static inline void hp_unit_release(hp_unit_state *unit) {
  atomic_store_explicit(unit, HP_UNIT_PUBLISHED, memory_order_release);
}
/* Makes the unit free again. Requires: no other thread uses it. */
static inline void hp_unit_free(hp_unit_state *unit) {
  atomic_store_explicit(unit, HP_UNIT_FREE, memory_order_release);
}
static inline bool hp_unit_is_complete(const hp_unit_state *unit) {
  return atomic_load_explicit(unit, memory_order_acquire) >= HP_UNIT_PUBLISHED;
}
/* Returns whether the result is complete and no thread holds it. */
static inline bool hp_unit_is_published(const hp_unit_state *unit) {
  return atomic_load_explicit(unit, memory_order_acquire) == HP_UNIT_PUBLISHED;
}
/* Returns the number + 1 of the thread that holds the unit; 0: none. */
static inline unsigned hp_unit_holder(const hp_unit_state *unit) {
  uint32_t state = atomic_load_explicit(unit, memory_order_acquire);
  return state >= HP_UNIT_HELD ? state - HP_UNIT_HELD + 1 : 0;
}

/* Returns the length of a unit of a work that threads divide. Each of them claims about
 * HP_UNITS_PER_THREAD units, so that a slow one delays the others little. A unit shorter than
 * `least` would cost more than it saves, but none is longer than `most`. */
enum { HP_UNITS_PER_THREAD = 8 };
static inline size_t hp_unit_length(size_t work, unsigned threads, size_t least, size_t most) {
  size_t length = work / ((size_t)threads * HP_UNITS_PER_THREAD);
  if (length < least) length = least;
  return length < most ? length : most;
}

/* Test hook: only the tests and an experiment link a units.c that is built with HPAR_TEST_HOOKS.
 * Each thread then calls the hook when it has claimed a unit, and where it notes a step. So does
 * the calling thread when it has woken the others (crew.c). NULL: no hook. */
void hp_unit_set_hook(void (*hook)(void));
#if HPAR_TEST_HOOKS
void hp_unit_call_hook(void);
#else
static inline void hp_unit_call_hook(void) {}
#endif

/*** a queue of units, which threads claim and consume in order ***/

/* Progress within a unit, by which its consumer knows a straggler. */
typedef struct hp_unit_steps {
  _Atomic uint32_t count;
  hp_unit_state *unit; /* of a thread that may become a straggler; NULL: it does not */
  char padding[HP_CACHE_LINE - sizeof(uint32_t) - sizeof(hp_unit_state *)];
} hp_unit_steps;

/* Notes a step. Only the thread that runs the unit calls this. NULL is allowed. */
static inline void hp_note_step(hp_unit_steps *steps) {
  if (!steps) return;
  hp_unit_call_hook();
  const uint32_t count = atomic_load_explicit(&steps->count, memory_order_relaxed);
  atomic_store_explicit(&steps->count, count + 1, memory_order_relaxed);
}

/* Returns whether the calling thread may take the unit from the one that runs it. */
static inline bool hp_unit_may_be_taken(const hp_unit_steps *steps) { return steps && steps->unit; }
/* Step `begin`: lets the thread write what it would share with the one that takes the unit. Returns
 * false if the unit was given up. A write should be short, because give_up waits for its end. */
static inline bool hp_unit_begin_write(hp_unit_steps *steps) {
  uint32_t state = HP_UNIT_CLAIMED;
  return !hp_unit_may_be_taken(steps) ||
         atomic_compare_exchange_strong_explicit(steps->unit, &state, HP_UNIT_WRITING, memory_order_relaxed,
                                                 memory_order_relaxed);
}
/* Step `end`: a release, so that the thread that takes the unit writes after this one. */
static inline void hp_unit_end_write(hp_unit_steps *steps) {
  if (hp_unit_may_be_taken(steps)) atomic_store_explicit(steps->unit, HP_UNIT_CLAIMED, memory_order_release);
}

typedef enum hp_admission {
  HP_ADMIT_NOW,
  HP_ADMIT_LATER,
  HP_ADMIT_NONE /* nor any later unit */
} hp_admission;

/* What a user does with its units. The functions that it does not need are NULL. */
typedef struct hp_unit_client { // value
  void (*run)(void *job, size_t unit, unsigned thread, hp_unit_steps *steps);
  /* Called for published units in ascending order, by one thread at a time. All units before
   * `first` are consumed. */
  hp_admission (*admit)(void *job, size_t unit, size_t first);
  void (*consume)(void *job, size_t unit); /* an admitted unit, beside other threads */
  void (*drop)(void *job);                 /* frees the job when its stragglers have left */
  void (*lead)(void *job);                 /* what thread 0 does before it claims units */
  /* Claims a unit in an order of the client's, whose `lead` ends when all are done. */
  bool (*claim)(void *job, unsigned thread, size_t *unit);
} hp_unit_client;

typedef struct hp_unit_plan { // value
  const hp_unit_client *client;
  void *job;
  size_t count;
  hp_unit_state *states; /* by unit; NULL: only the end of the run publishes */
  hp_unit_steps *steps;  /* by unit; NULL: nobody looks for stragglers */
  const uint8_t *order;  /* in which threads claim; NULL: ascending */
  bool by_part;          /* each thread begins with its own part of the units; needs states */
  unsigned consumers;    /* these threads consume between two units, and the others at the end */
  uint64_t patience_ns;  /* the end waits so long for a unit; 0: only for published ones */
} hp_unit_plan;

/* The state of a run. A thread that runs units must not outlive it. */
typedef struct hp_unit_queue {
  hp_unit_plan plan; /* constant while threads run, as the next two */
  unsigned threads;
  bool may_leave;

  char padding_1[HP_CACHE_LINE];
  _Atomic size_t next; /* to claim, in the order */
  char padding_2[HP_CACHE_LINE];
  _Atomic uint32_t admits;    /* 1: a thread admits a unit */
  _Atomic uint32_t consuming; /* threads that consume an admitted unit */
  _Atomic size_t admitted;    /* units before this one; of the thread that admits, as the next */
  size_t consumed;            /* units before this one */
} hp_unit_queue;

/* Step `cancel`: no thread claims a further unit. Requires: not by part. */
void hp_unit_queue_cancel(hp_unit_queue *queue);
/* Claims the unit after `*unit`, too, if it is the next one to claim. Requires: the thread runs
 * `*unit`, and units are claimed in ascending order, without states. */
bool hp_unit_queue_join(hp_unit_queue *queue, size_t *unit);
/* Lets no thread consume a further unit, and waits for those that do. */
void hp_unit_queue_stop_consuming(hp_unit_queue *queue);
/* Runs all units on the threads, with its state in `queue`. Returns true if all threads have
 * returned. Returns false if there are stragglers, which only `may_leave` allows: the crew drops
 * the job when they have left. The caller gives up their units, and keeps the queue until the crew
 * has waited. */
bool hp_unit_queue_run(hp_unit_queue *queue, const hp_unit_plan *plan, hp_crew *crew, const hp_executor *executor,
                       unsigned threads, bool may_leave);

#endif
