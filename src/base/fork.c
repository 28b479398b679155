#include "base/fork.h"

#include <pthread.h>

static unsigned generation; /* changes only in a new child, which has one thread */

static void count_fork(void) { generation++; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned hp_fork_generation(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return generation;
}
