#ifndef HP_SCHED_POOL_H
#define HP_SCHED_POOL_H

/* Threads that wait for work. One batch of work at a time: every thread of the pool calls the same function
 * once with its own index, which claims what is to be done by itself. The caller is thread 0 and does not call
 * the function through the pool. Threads spin for a while after a batch, then sleep on a futex or condition.
 * If fewer threads can be created than asked for, the pool has fewer. */

#include <hpar/status.h>

typedef struct hp_pool hp_pool;
typedef void (*hp_work)(void *context, unsigned thread);

/* `threads` includes the caller. HPAR_ERROR_MEMORY only if the pool itself cannot be had. */
hpar_status hp_pool_create(hp_pool **pool, unsigned threads);
void hp_pool_destroy(hp_pool *pool);           /* joins; NULL is allowed */
unsigned hp_pool_threads(const hp_pool *pool); /* including the caller */

/* Starts `work(context, t)` on threads 1..n-1, n at most hp_pool_threads, and returns at once. */
void hp_pool_start(hp_pool *pool, unsigned n, hp_work work, void *context);
/* Waits until all of them have returned; what they wrote is then visible. */
void hp_pool_join(hp_pool *pool);

/* Waiting for a flag that another thread sets (release) with a few polite spins first. */
void hp_pause(void);

/* Processing units this process may run on, one for each core; at least 1. From hwloc when built with it. */
unsigned hp_usable_cores(void);

#endif
