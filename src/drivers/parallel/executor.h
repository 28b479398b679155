#ifndef HP_DRIVERS_PARALLEL_EXECUTOR_H
#define HP_DRIVERS_PARALLEL_EXECUTOR_H

/* Calls of the caller's executor. */

#include "drivers/parallel/config.h"

/* Calls work(context, t) once for each t below `count`. The caller's executor calls the tasks. The
 * calling thread then runs the tasks that the executor has left out, in ascending order. Returns
 * when all have returned. Requires: `count` is at most HPAR_MAX_THREADS. */
void hp_run_on_caller(const hp_executor *executor, unsigned count, hp_work work, void *context);

/* Claims item `index` of a set whose claimed items have their bit set. Returns false if another
 * thread has claimed it. */
bool hp_claim_item(_Atomic uint64_t *claimed, unsigned index);
/* Marks an item as finished. */
void hp_mark_item(_Atomic uint64_t *finished, unsigned index);

#endif
