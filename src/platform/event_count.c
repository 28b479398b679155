#define _DEFAULT_SOURCE /* for syscall */

#include "platform/event_count.h"

#include "platform/pool.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A wait is timed from its UNTIMED-th look on: the clock costs as much as a short wait. */
enum { SPINS = 4000, UNTIMED = 16 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool hp_event_count_has_membarrier;

static void find_membarrier(void) {
  hp_event_count_has_membarrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

static void let_all_see(void) {
  if (hp_event_count_has_membarrier) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void hp_event_count_open(hp_event_count *p) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (p->open) return;
  pthread_once(&once, find_membarrier);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  p->open = true;
}

void hp_event_count_close(hp_event_count *p) {
  if (!p->open) return;
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  p->open = false;
}

void hp_event_count_wait(hp_event_count *p, hp_waits *waits, bool (*ready)(void *context), void *context) {
  uint64_t begin = 0;
  waits->count++;
  for (int i = 0; i < SPINS; i++) {
    if (ready(context)) {
      if (begin) waits->nanoseconds += now() - begin;
      return;
    }
    if (i == UNTIMED) begin = now();
    hp_pause();
  }
  waits->slept++;
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleepers, 1);
  let_all_see();
  while (!ready(context)) pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
  waits->nanoseconds += now() - begin;
}

void hp_event_count_wake_waiters(hp_event_count *p) {
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}
