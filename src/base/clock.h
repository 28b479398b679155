#ifndef HP_BASE_CLOCK_H
#define HP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the nanoseconds of the monotonic clock. */
static inline uint64_t hp_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the nanoseconds for which the calling thread has had a processor. A system call. */
static inline uint64_t hp_thread_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
