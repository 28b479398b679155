#include "support/growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MIN_ROUNDS = 3, MAX_ROUNDS = 60, MAX_PAUSE_MS = 1000 };
/* maximum CPU seconds of one measurement, unless MIN_ROUNDS take longer */
static const double max_seconds = 20;

#ifndef HPAR_UNTIMED
#define HPAR_UNTIMED 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

bool growth_can_be_measured(void) {
  if (!SANITIZED && !HPAR_UNTIMED) return true;
  printf("skipped: the times of this build have no meaning\n");
  return false;
}

double growth_thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits for other processes to end. */
static void pause_after(int round) {
  long ms = 50L * (round - MIN_ROUNDS + 2);
  if (ms > MAX_PAUSE_MS) ms = MAX_PAUSE_MS;
  struct timespec duration = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&duration, NULL);
}

bool growth_is_below(double bound, const char *name, growth_run run, void *context) {
  double least[2] = {1e9, 1e9}, start = growth_thread_seconds();
  for (int round = 0; round < MAX_ROUNDS; round++) {
    for (int size = 0; size < 2; size++) {
      double seconds = run(context, size);
      if (seconds < least[size]) least[size] = seconds;
    }
    if (round + 1 < MIN_ROUNDS) continue;
    if (least[1] < bound * least[0] || growth_thread_seconds() - start > max_seconds) break;
    pause_after(round);
  }
  bool below = least[1] < bound * least[0];
  if (!below || getenv("HPAR_VERBOSE"))
    printf("  %s: %.3f ms, %d times as much: %.3f ms (%.2f times)\n", name, least[0] * 1e3, GROWTH_FACTOR,
           least[1] * 1e3, least[1] / least[0]);
  return below;
}
