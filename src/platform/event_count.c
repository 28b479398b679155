#include "platform/event_count.h"

#include "base/process.h"
#include "platform/pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

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

bool hp_event_count_sleep(hp_event_count *event, uint64_t nanoseconds, bool (*ready)(void *context), void *context) {
  uint64_t end = nanoseconds < HP_WITHOUT_LIMIT ? hp_now() + nanoseconds : 0;
  struct timespec until = {.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
  bool is_ready, is_late = false;
  atomic_fetch_add(&event->sleepers, 1);
  fence_all_threads();
  for (;;) {
    uint32_t seen = atomic_load_explicit(&event->wakes, memory_order_acquire);
    is_ready = ready(context);
    if (is_ready || is_late) break;
    is_late =
        syscall(SYS_futex, &event->wakes, FUTEX_WAIT_BITSET_PRIVATE, seen, end ? &until : NULL, NULL, UINT32_MAX) &&
        errno == ETIMEDOUT;
  }
  atomic_fetch_sub(&event->sleepers, 1);
  return is_ready;
}

void hp_event_count_wait(hp_event_count *event, uint64_t spin_ns, bool (*ready)(void *context), void *context) {
  hp_spin spin = {0};
  do {
    if (ready(context)) return;
  } while (hp_spin_on(&spin, spin_ns));
  hp_event_count_sleep(event, HP_WITHOUT_LIMIT, ready, context);
}

/* A thread between its test and its sleep does not fall asleep, because the word has changed. */
void hp_event_count_wake_sleepers(hp_event_count *event) {
  atomic_fetch_add(&event->wakes, 1);
  syscall(SYS_futex, &event->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
