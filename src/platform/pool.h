#ifndef HP_PLATFORM_POOL_H
#define HP_PLATFORM_POOL_H

/* Threads that wait for work. The calling thread runs one batch at a time: it is thread 0, and each
 * requested thread of the pool calls the same function once with its own index. The function claims
 * its work itself. When the calling thread has no work left it closes the batch. A thread that
 * wakes after that skips the batch, and no thread waits for it.
 *
 * Between batches threads spin, then sleep on a futex. The duration is measured in time: a spinning
 * thread starts within 1 us, a sleeping one after 25 to 60 us. The calling thread removes its own
 * CPU from the affinity of a thread that sleeps or waits there, unless that thread is bound, has no
 * other CPU, or the batch has more threads than processors.
 *
 * Threads of the pool receive no signals of the host program, except those of their own faults.
 * In a forked child the threads are lost: hp_pool_is_lost returns true, and only hp_pool_end,
 * hp_pool_join and hp_pool_destroy may be called. */

#include "base/target.h"

#include <hpar/node.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hp_pool hp_pool;
typedef void (*hp_task_fn)(void *context, unsigned thread);

typedef enum hp_pool_wait {
  HP_POOL_ADAPTIVE, /* spins as long as recent batches followed each other: 50 us to 2 ms */
  HP_POOL_SPIN,     /* spins for a second */
  HP_POOL_SLEEP     /* does not spin */
} hp_pool_wait;

/* Creates a pool of `threads` threads with the caller, or fewer if the system refuses some. Returns
 * HPAR_ERROR_MEMORY if there is no memory for the pool. */
hpar_status hp_pool_create(hp_pool **pool, unsigned threads);
/* Adds threads until the pool has `threads`, or fewer if the system refuses some. Requires: no
 * batch runs. */
void hp_pool_grow(hp_pool *pool, unsigned threads);
/* Tells the threads to end. Returns whether all have ended within `patience_ns`: then
 * hp_pool_destroy returns at once. Requires: the batch is closed, and no further one follows. */
bool hp_pool_stop(hp_pool *pool, uint64_t patience_ns);
void hp_pool_destroy(hp_pool *pool);                     /* joins; NULL is allowed */
HP_SHARED unsigned hp_pool_threads(const hp_pool *pool); /* including the caller */
/* Returns whether this process is a forked child of the process that created the pool. */
bool hp_pool_is_lost(const hp_pool *pool);

/* Sets how threads wait. Sleeping threads stay asleep. */
void hp_pool_wait_as(hp_pool *pool, hp_pool_wait how);
/* Returns whether a batch of `n` threads would start at once, because none of them sleeps. */
bool hp_pool_is_awake(const hp_pool *pool, unsigned n);

/* Starts `work(context, t)` on threads 1..n-1 and returns at once. n is at most hp_pool_threads.
 * One of the next two functions ends each batch before the next one starts. */
HP_SHARED void hp_pool_start(hp_pool *pool, unsigned n, hp_task_fn work, void *context);
/* Waits until all requested threads have entered the batch and returned. Their writes are then
 * visible to the caller. */
HP_SHARED void hp_pool_join(hp_pool *pool);
/* Does the same, except that threads that have not entered the batch skip it. Does nothing without
 * a batch. */
void hp_pool_end(hp_pool *pool);

/* Closes the batch, so that no further thread enters it, and does not wait. Returns the number of
 * threads that have entered. hp_pool_end must follow, unless hp_pool_is_idle returns true. */
unsigned hp_pool_close(hp_pool *pool);
/* Returns whether no thread is in the closed batch. Their writes are then visible to the caller. */
bool hp_pool_is_idle(const hp_pool *pool);

/* Lets the first `n` threads wait for a batch awake. Requires: no batch runs. */
void hp_pool_wake(hp_pool *pool, unsigned n);
/* Lets threads that avoid a CPU run there, too: the caller is about to leave its CPU to them. */
void hp_pool_widen(hp_pool *pool);

/* Pauses for a step of a busy wait. */
HP_SHARED void hp_pause(void);

/* A busy wait that is measured in time. Requires: all zeros before the first step. */
typedef struct hp_spin {
  uint64_t begin;
  unsigned steps;
} hp_spin;
/* Waits for one step. Returns false if `nanoseconds` have passed since the first step. */
HP_SHARED bool hp_spin_on(hp_spin *spin, uint64_t nanoseconds);

#endif
