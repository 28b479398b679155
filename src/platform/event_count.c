#include "platform/event_count.h"

#include "base/process.h"
#include "platform/pool.h"

#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

/* The timer starts after UNTIMED checks, because reading the clock costs as much as a short
 * wait. */
enum { SPINS = 4000, UNTIMED = 16 };

bool hp_event_count_has_membarrier;

#if __has_include(<sys/single_threaded.h>)
static bool has_one_thread(void) { return __libc_single_threaded; }
#else
static bool has_one_thread(void) { return false; }
#endif

/* In a process with several threads, the kernel takes about 10 ms for the registration: it waits
 * until each processor has passed through the scheduler. */
static void register_for_membarrier(void) {
  hp_event_count_has_membarrier =
      has_one_thread() && !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void hp_event_count_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_for_membarrier);
}

static void fence_all_threads(void) {
  if (hp_event_count_has_membarrier) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void hp_event_count_open(hp_event_count *event) {
  if (event->open) return;
  hp_event_count_prepare();
  pthread_mutex_init(&event->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&event->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  event->open = true;
}

void hp_event_count_close(hp_event_count *event) {
  if (!event->open) return;
  pthread_cond_destroy(&event->wake);
  pthread_mutex_destroy(&event->lock);
  event->open = false;
}

void hp_event_count_wait(hp_event_count *event, hp_waits *waits, bool (*ready)(void *context), void *context) {
  uint64_t begin = 0;
  waits->count++;
  for (int i = 0; i < SPINS; i++) {
    if (ready(context)) {
      if (begin) waits->nanoseconds += hp_now() - begin;
      return;
    }
    if (i == UNTIMED) begin = hp_now();
    hp_pause();
  }
  waits->slept++;
  pthread_mutex_lock(&event->lock);
  atomic_fetch_add(&event->sleepers, 1);
  fence_all_threads();
  while (!ready(context)) pthread_cond_wait(&event->wake, &event->lock);
  atomic_fetch_sub(&event->sleepers, 1);
  pthread_mutex_unlock(&event->lock);
  waits->nanoseconds += hp_now() - begin;
}

bool hp_event_count_sleep(hp_event_count *event, uint64_t nanoseconds, bool (*ready)(void *context), void *context) {
  uint64_t end = hp_now() + nanoseconds;
  struct timespec until = {.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
  bool is_ready;
  pthread_mutex_lock(&event->lock);
  atomic_fetch_add(&event->sleepers, 1);
  fence_all_threads();
  int failure = 0;
  while (!(is_ready = ready(context)) && !failure) failure = pthread_cond_timedwait(&event->wake, &event->lock, &until);
  atomic_fetch_sub(&event->sleepers, 1);
  pthread_mutex_unlock(&event->lock);
  return is_ready;
}

void hp_event_count_wake_waiters(hp_event_count *event) {
  pthread_mutex_lock(&event->lock);
  pthread_cond_broadcast(&event->wake);
  pthread_mutex_unlock(&event->lock);
}
