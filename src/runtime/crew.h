#ifndef HP_RUNTIME_CREW_H
#define HP_RUNTIME_CREW_H

/* The threads of a parser, a rewriter or a call, and how they do its work.
 *
 * A run calls one function on each of its threads. Thread 0 is the thread that calls the library.
 * The function claims what the thread does, mostly as units (units.h). The executor decides
 * where the threads come from: from the crew's pool, or from the caller, or there is only thread 0.
 *
 * A run ends when all its threads have returned. Or the calling thread does the rest of the work
 * itself and leaves: the threads that are still in the run are then stragglers. They keep the
 * memory that they use, and the crew waits for them before its next run. In a forked child the
 * threads are lost, and so is what they were changing. */

#include "platform/pool.h"
#include "runtime/stragglers.h"

#include <hpar/parse.h>
#include <stdatomic.h>

/* Where the threads of a run come from, resolved from the options of a call. */
typedef struct hp_executor { // value
  hpar_executor kind;
  hpar_run_callback run; /* of HPAR_EXECUTOR_CALLER */
  void *context;
  unsigned threads; /* with the calling thread; 0: not decided */
  hp_pool_wait wait;
  bool bind; /* each pool thread to a processor */
} hp_executor;

/* Returns the executor of a call that has no parser: the caller's, or threads of the call. 0
 * threads are one for each usable core. */
hp_executor hp_executor_of_call(hpar_run_callback run, void *context, unsigned threads);

/* Zeros are a crew without threads. */
typedef struct hp_crew {
  hp_pool *pool;
  unsigned wanted; /* the most threads that a run has asked for */
  struct {
    hp_task_fn work;
    void *context;
    bool bind;
  } run;                     /* on the pool */
  _Atomic bool not_bound;    /* the system has refused to bind a thread of the run */
  hp_stragglers *stragglers; /* counts the threads of the run; NULL: the run waits for all */
  bool is_left;              /* the last run may have stragglers */
  struct {
    void (*drop)(void *job);
    void *job;
  } kept;               /* what the stragglers of the last run use */
  struct hp_crew *next; /* in hp_late_crews */
} hp_crew;

/* Waits for the stragglers of the last run, and frees what they have kept. Returns false if they
 * are lost. */
bool hp_crew_await(hp_crew *crew);
/* Waits likewise, and ends the threads. */
void hp_crew_close(hp_crew *crew);

/* Returns how many threads a run on the executor can have, at most `wanted`, with the calling one.
 * 0: memory is short. Requires: the crew has no stragglers. */
HP_SHARED unsigned hp_crew_prepare(hp_crew *crew, const hp_executor *executor, unsigned wanted);

/* Calls work(context, t) for t below `threads`, each once, and returns when all have returned. A
 * thread of the pool that has not started when thread 0 returns skips the run. An executor without
 * other threads calls them in descending order. Requires: hp_crew_prepare has returned so many. */
void hp_crew_run(hp_crew *crew, const hp_executor *executor, unsigned threads, hp_task_fn work, void *context);
/* Calls work(context, t) likewise on the caller's executor. The calling thread runs what the
 * executor has left out. */
void hp_crew_run_by_caller(const hp_executor *executor, unsigned threads, hp_task_fn work, void *context);

/*** runs on the pool, beside which the calling thread does other work ***/

/* Returns the pool; NULL: the crew has no threads. */
static inline hp_pool *hp_crew_pool(const hp_crew *crew) { return crew->pool; }

/* Starts work(context, t) for t from 1 on, and returns at once. `bind`: each on a processor of its
 * own. hp_crew_join, hp_crew_end or hp_crew_leave ends the run. */
HP_SHARED void hp_crew_start(hp_crew *crew, bool bind, unsigned threads, hp_task_fn work, void *context);
/* Waits until all threads have started and returned. */
HP_SHARED void hp_crew_join(hp_crew *crew);
/* Waits until all threads that have started have returned. */
void hp_crew_end(hp_crew *crew);
static inline bool hp_crew_can_leave(const hp_crew *crew) { return crew->stragglers; }
/* Leaves the run without those of the `entered` threads that have not returned: hp_pool_close has
 * returned their number. They use `job`, which `drop` frees later; NULL: nothing of their own. */
void hp_crew_leave(hp_crew *crew, unsigned entered, void (*drop)(void *job), void *job);
/* Returns whether the last run was left, and no run has waited for it since. */
static inline bool hp_crew_is_left(const hp_crew *crew) { return crew->is_left; }
/* Returns whether the system has refused to bind a thread of the last run. */
static inline bool hp_crew_refused_binding(const hp_crew *crew) { return atomic_load(&crew->not_bound); }
/* Returns whether a straggler of the last run has not returned. */
bool hp_crew_has_stragglers(const hp_crew *crew);
/* Returns the stragglers for an object that must outlive them: the caller holds them. NULL: there
 * are none. */
hp_stragglers *hp_crew_lend_stragglers(const hp_crew *crew);

/*** crews of calls that have returned ***/

/* Crews with threads that may still read an object, which waits for them before it changes. Any
 * number of threads may add crews, and free those whose threads have ended. Zeros are none. */
typedef struct hp_late_crews {
  hp_crew *_Atomic first;
} hp_late_crews;

/* Ends the threads of a crew that is alone in its allocation, and frees it. Leaves it to `late` if
 * a thread does not end soon. */
void hp_crew_retire(hp_crew *crew, hp_late_crews *late);
/* Frees the crews whose threads have ended, or waits for all. Returns how many are left. */
unsigned hp_late_crews_sweep(hp_late_crews *late, bool waits);

#endif
