#include "support/stops.h"

#include "check.h"
#include "runtime/units.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 60, NAP_US = 1000 };

_Thread_local bool stops_spare;
_Atomic bool stops_briefly;
_Atomic unsigned stops_calls, stops_begun;

static sem_t release;
static _Atomic long calls_before_stop; /* negative: a thread has stopped, or none is to stop */
static _Atomic unsigned to_stop, timeouts;
static pthread_t releaser;
static unsigned released, delay_us;
static bool has_releaser;

void stops_call(void) {
  if (stops_spare) return;
  atomic_fetch_add(&stops_calls, 1);
  if (atomic_fetch_sub(&calls_before_stop, 1) > 0) return;
  if (atomic_fetch_add(&stops_begun, 1) >= atomic_load(&to_stop)) return;
  if (stops_briefly) {
    usleep(NAP_US);
    return;
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += TIMEOUT_SECONDS;
  int failed;
  while ((failed = sem_timedwait(&release, &until)) && errno == EINTR) {
  }
  if (failed) atomic_fetch_add(&timeouts, 1);
}

void stops_open(void) {
  stops_spare = true;
  sem_init(&release, 0, 0);
  stops_after(LONG_MAX, 0);
  hp_unit_set_hook(stops_call);
}

void stops_close(void) {
  CHECK_EQ(atomic_load(&timeouts), 0);
  hp_unit_set_hook(NULL);
}

void stops_after(long calls, unsigned threads) {
  atomic_store(&stops_begun, 0);
  atomic_store(&to_stop, threads);
  atomic_store(&calls_before_stop, calls);
}

unsigned stops_end(void) {
  const unsigned most = atomic_exchange(&to_stop, 0), begun = atomic_load(&stops_begun);
  return begun < most ? begun : most;
}

void stops_let_go(unsigned threads) {
  while (threads--) sem_post(&release);
}

static void *let_go_later(void *context) {
  (void)context;
  usleep(delay_us);
  stops_let_go(released);
  return NULL;
}

void stops_let_go_after(unsigned threads, unsigned us) {
  released = threads;
  delay_us = us;
  has_releaser = !pthread_create(&releaser, NULL, let_go_later, NULL);
  if (!has_releaser) stops_let_go(threads);
}

void stops_join(void) {
  if (has_releaser) pthread_join(releaser, NULL);
  has_releaser = false;
}
