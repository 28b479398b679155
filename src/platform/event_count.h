#ifndef HP_PLATFORM_EVENT_COUNT_H
#define HP_PLATFORM_EVENT_COUNT_H

/* Where a stage waits for the other: a while of polite spinning, then asleep. Who changes what the other may wait for
 * stores it by release or stronger, and then unparks: either the sleeper sees the change or it is seen.
 *
 * Why it is cheap: that needs a full barrier between the store and the look at `sleepers`, a hundred times for each
 * time that somebody sleeps. So it is the sleeper who makes all other threads of the process run one, by Linux's
 * membarrier. Where there is none, the look changes `sleepers` by nothing, which orders it as well. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hp_event_count {
  bool open;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  _Atomic unsigned sleepers;
} hp_event_count;

typedef struct hp_waits {
  uint64_t count, slept, nanoseconds; /* of which the shortest are not timed */
} hp_waits;

void hp_event_count_open(hp_event_count *parking); /* if it is not open yet */
void hp_event_count_close(hp_event_count *parking);

/* Returns once `ready(context)`, which reads what it reads by acquire or stronger, is true. */
void hp_event_count_wait(hp_event_count *parking, hp_waits *waits, bool (*ready)(void *context), void *context);
void hp_event_count_wake_waiters(hp_event_count *parking);

extern bool hp_event_count_has_membarrier; /* set once, before any parking is open */

static inline void hp_event_count_wake(hp_event_count *parking) {
  atomic_signal_fence(memory_order_seq_cst);
  unsigned sleepers = hp_event_count_has_membarrier ? atomic_load_explicit(&parking->sleepers, memory_order_relaxed)
                                                    : atomic_fetch_add(&parking->sleepers, 0);
  if (__builtin_expect(sleepers != 0, 0)) hp_event_count_wake_waiters(parking);
}

#endif
