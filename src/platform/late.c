#include "platform/late.h"

#include "base/memory.h"
#include "base/process.h"
#include "platform/kernel.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hp_late {
  _Atomic unsigned references;
  unsigned generation;   /* of hp_fork_generation */
  _Atomic uint32_t left; /* futex: threads that have left, minus those that are expected */
  _Atomic unsigned sleepers;
};

hp_late *hp_late_create(void) {
  hp_late *late = hp_allocate_zeroed(sizeof *late);
  if (late) atomic_store_explicit(&late->references, 1, memory_order_relaxed);
  return late;
}

hp_late *hp_late_hold(hp_late *late) {
  atomic_fetch_add_explicit(&late->references, 1, memory_order_relaxed);
  return late;
}

void hp_late_release(hp_late *late) {
  if (late && atomic_fetch_sub_explicit(&late->references, 1, memory_order_acq_rel) == 1) hp_free(late);
}

bool hp_late_is_unshared(const hp_late *late) {
  return atomic_load_explicit(&late->references, memory_order_acquire) == 1;
}

void hp_late_reset(hp_late *late) {
  late->generation = hp_fork_generation();
  atomic_store_explicit(&late->left, 0, memory_order_relaxed);
}

/* The operations are sequentially consistent: a sleeper sees the change, or this thread sees the
 * sleeper. */
void hp_late_leave(hp_late *late) {
  hp_late_hold(late); /* the waiting thread may drop its reference after the change */
  atomic_fetch_add(&late->left, 1);
  if (atomic_load(&late->sleepers)) syscall(SYS_futex, &late->left, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  hp_late_release(late);
}

void hp_late_expect(hp_late *late, unsigned threads) { atomic_fetch_sub(&late->left, threads); }

void hp_late_wait(hp_late *late) {
  if (late->generation != hp_fork_generation()) return;
  atomic_fetch_add(&late->sleepers, 1);
  for (uint32_t left; (left = atomic_load(&late->left));)
    syscall(SYS_futex, &late->left, FUTEX_WAIT_PRIVATE, left, NULL, NULL, 0);
  atomic_fetch_sub(&late->sleepers, 1);
}
