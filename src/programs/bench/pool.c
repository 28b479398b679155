/* Measures the time from the announcement of work to its start on the other thread. That thread has
 * spun since the last batch, or has slept for a long time. Also measures the time to the end of the
 * batch as the caller observes it. */

#include "platform/pool.h"

#include "programs/bench/suite.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { WAKE, ROUND_TRIP };
enum { SPINNING = 5000, ASLEEP = 100, NAP = 10000000 };

static void begin(void *context, unsigned thread) {
  (void)thread;
  atomic_store_explicit((_Atomic uint64_t *)context, hp_bench_now(CLOCK_MONOTONIC), memory_order_relaxed);
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void wake(hp_bench_run *run, const hp_bench *self) {
  bool asleep = self->arguments[1];
  uint64_t *times = malloc(self->iterations * sizeof *times);
  hp_pool *pool = NULL;
  if (!times || hp_pool_create(&pool, 2) != HPAR_OK || hp_pool_threads(pool) < 2) {
    hp_bench_fail(run, "a pool of two threads cannot be had");
    hp_pool_destroy(pool);
    free(times);
    return;
  }
  size_t count = 0;
  while (hp_bench_next(run)) {
    _Atomic uint64_t began = 0;
    if (asleep) nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    uint64_t start = hp_bench_now(CLOCK_MONOTONIC);
    hp_pool_start(pool, 2, begin, &began);
    hp_pool_join(pool);
    uint64_t end = hp_bench_now(CLOCK_MONOTONIC), then = atomic_load_explicit(&began, memory_order_relaxed);
    uint64_t took = self->arguments[0] == ROUND_TRIP ? end - start : then > start ? then - start : 1;
    hp_bench_took(run, took);
    if (count < self->iterations) times[count++] = took;
  }
  qsort(times, count, sizeof *times, by_number);
  if (count) {
    hp_bench_counter(run, "least_ns", (double)times[0]);
    size_t middle = count / 2;
    hp_bench_counter(run, "median_ns", (double)times[middle]);
  }
  hp_pool_destroy(pool);
  free(times);
}

void hp_bench_add_pool(void) {
  static const char *const names[2][2] = {{"pool/wake/spinning", "pool/wake/asleep"},
                                          {"pool/round_trip/spinning", "pool/round_trip/asleep"}};
  for (int what = WAKE; what <= ROUND_TRIP; what++)
    for (int asleep = 0; asleep < 2; asleep++)
      hp_bench_add(&(hp_bench){.name = names[what][asleep],
                               .function = wake,
                               .arguments = {what, asleep},
                               .iterations = asleep ? ASLEEP : SPINNING,
                               .clock = HP_BENCH_MANUAL});
}
