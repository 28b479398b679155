#ifndef HP_PLATFORM_EVENT_COUNT_H
#define HP_PLATFORM_EVENT_COUNT_H

/* An event count: a thread sleeps here until another thread has changed a condition. That thread
 * changes it by a release store or a stronger one, then calls hp_event_count_wake. Either the
 * sleeper sees the change, or the waker sees the sleeper.
 *
 * This protocol needs a full barrier between the store and the load of `sleepers`. Wakes are
 * about 100 times as frequent as sleeps. The sleeper therefore runs Linux's membarrier, which
 * executes a barrier on all other threads of the process. Without membarrier,
 * hp_event_count_wake adds 0 to `sleepers` instead of loading it, which has the same effect.
 *
 * A process must register for membarrier. With one thread, that takes less than 1 us; with several,
 * 10 ms. Only processes with one thread therefore register. */

#include "base/target.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Zeros are an event count that nobody has used. */
typedef struct hp_event_count {
  _Atomic uint32_t wakes; /* futex */
  _Atomic unsigned sleepers;
} hp_event_count;

/* Chooses the barrier of the process at the first call. Whoever starts threads calls this first. */
HP_SHARED void hp_event_count_prepare(void);

/* Sleeps until `ready(context)` returns true or the time has passed. Returns whether it is ready.
 * Requires: `ready` uses acquire loads or stronger ones. */
#define HP_WITHOUT_LIMIT UINT64_MAX
HP_SHARED bool hp_event_count_sleep(hp_event_count *event, uint64_t nanoseconds, bool (*ready)(void *context),
                                    void *context);
/* Spins for `spin_ns` before it sleeps without a limit. */
HP_SHARED void hp_event_count_wait(hp_event_count *event, uint64_t spin_ns, bool (*ready)(void *context),
                                   void *context);
HP_SHARED void hp_event_count_wake_sleepers(hp_event_count *event);

/* Set once, by hp_event_count_prepare. */
HP_SHARED extern bool hp_event_count_has_membarrier;

static inline void hp_event_count_wake(hp_event_count *event) {
  atomic_signal_fence(memory_order_seq_cst);
  unsigned sleepers = hp_event_count_has_membarrier ? atomic_load_explicit(&event->sleepers, memory_order_relaxed)
                                                    : atomic_fetch_add(&event->sleepers, 0);
  if (__builtin_expect(sleepers != 0, 0)) hp_event_count_wake_sleepers(event);
}

/* The constants of futex(2) and membarrier(2). Some C libraries, as musl in Debian, are installed
 * without the headers of the kernel. The values are part of the kernel's interface to programs. */

#if __has_include(<linux/futex.h>) && __has_include(<linux/membarrier.h>)
#include <linux/futex.h>
#include <linux/membarrier.h>
#else
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#define FUTEX_WAIT_BITSET_PRIVATE 137
#define FUTEX_WAKE_BITSET_PRIVATE 138
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED 8
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED 16
#endif

#endif
