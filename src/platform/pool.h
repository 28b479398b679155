#ifndef HP_PLATFORM_POOL_H
#define HP_PLATFORM_POOL_H

/* Threads that wait for work. One batch of work at a time: threads of the pool call the same function, once each with
 * its own index, which claims what is to be done by itself. The caller is thread 0 and does not call the function
 * through the pool. A batch has a gate: once the caller has done what there was to do it closes the gate, and a thread
 * that wakes too late finds it closed, so that nobody waits for it.
 *
 * Between batches threads spin for a while, then sleep on a futex. How long is measured in time: a spinning thread
 * begins within a microsecond, a sleeping one after 25 to 60; if it is not bound, and may run on another, then not on
 * the processor of the thread that wakes it: that is taken out of its affinity.
 * If fewer threads can be created than asked for, the pool has fewer. */

#include <hpar/status.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hp_pool hp_pool;
typedef void (*hp_work)(void *context, unsigned thread);

typedef enum hp_pool_wait {
  HP_POOL_ADAPTIVE, /* as long as batches lately came one after the other, at most 2 ms, at least 50 us */
  HP_POOL_SPIN,     /* a second */
  HP_POOL_SLEEP     /* not at all */
} hp_pool_wait;

/* `threads` includes the caller. HPAR_ERROR_MEMORY only if the pool itself cannot be had. */
hpar_status hp_pool_create(hp_pool **pool, unsigned threads);
void hp_pool_destroy(hp_pool *pool);           /* joins; NULL is allowed */
unsigned hp_pool_threads(const hp_pool *pool); /* including the caller */

/* How threads wait from now on; those that sleep already go on with it. */
void hp_pool_wait_as(hp_pool *pool, hp_pool_wait how);
/* Does no thread sleep, so that a batch would begin at once? */
bool hp_pool_is_awake(const hp_pool *pool);

/* Starts `work(context, t)` on threads 1..n-1, n at most hp_pool_threads, and returns at once. Each batch is ended by
 * one of the next two before another is started. */
void hp_pool_start(hp_pool *pool, unsigned n, hp_work work, void *context);
/* Waits until all of them have begun and returned: for work that wants every one of its threads. What they wrote is
 * then visible. */
void hp_pool_join(hp_pool *pool);
/* The same, but threads that have not begun by now never do. Without a batch it does nothing. */
void hp_pool_end(hp_pool *pool);

/* A polite step of a busy wait. */
void hp_pause(void);

/* A busy wait measured in time, of zeros before its first step. */
typedef struct hp_spin {
  uint64_t begin;
  unsigned steps;
} hp_spin;
/* One step; false once so many nanoseconds have passed since the first. */
bool hp_spin_on(hp_spin *spin, uint64_t nanoseconds);

/* Processing units this process may run on, one for each core; at least 1. From hwloc when built with it. */
unsigned hp_usable_cores(void);

#endif
