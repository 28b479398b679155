#include "runtime/stragglers.h"

#include "base/memory.h"
#include "base/process.h"
#include "platform/event_count.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hp_stragglers {
  _Atomic unsigned references;
  unsigned generation;   /* of hp_fork_generation */
  _Atomic uint32_t left; /* futex: threads that have left, minus those that are expected */
  _Atomic unsigned sleepers;
};

hp_stragglers *hp_stragglers_create(void) {
  hp_stragglers *it = hp_allocate_zeroed(sizeof *it);
  if (it) atomic_store_explicit(&it->references, 1, memory_order_relaxed);
  return it;
}

hp_stragglers *hp_stragglers_hold(hp_stragglers *it) {
  atomic_fetch_add_explicit(&it->references, 1, memory_order_relaxed);
  return it;
}

void hp_stragglers_release(hp_stragglers *it) {
  if (it && atomic_fetch_sub_explicit(&it->references, 1, memory_order_acq_rel) == 1) hp_free(it);
}

bool hp_stragglers_are_unshared(const hp_stragglers *it) {
  return atomic_load_explicit(&it->references, memory_order_acquire) == 1;
}

void hp_stragglers_reset(hp_stragglers *it) {
  it->generation = hp_fork_generation();
  atomic_store_explicit(&it->left, 0, memory_order_relaxed);
}

/* The operations are sequentially consistent: a sleeper sees the change, or this thread sees the
 * sleeper. */
void hp_stragglers_leave(hp_stragglers *it) {
  hp_stragglers_hold(it); /* the waiting thread may drop its reference after the change */
  atomic_fetch_add(&it->left, 1);
  if (atomic_load(&it->sleepers)) syscall(SYS_futex, &it->left, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  hp_stragglers_release(it);
}

void hp_stragglers_expect(hp_stragglers *it, unsigned threads) { atomic_fetch_sub(&it->left, threads); }

void hp_stragglers_wait(hp_stragglers *it) {
  if (it->generation != hp_fork_generation()) return;
  atomic_fetch_add(&it->sleepers, 1);
  for (uint32_t left; (left = atomic_load(&it->left));)
    syscall(SYS_futex, &it->left, FUTEX_WAIT_PRIVATE, left, NULL, NULL, 0);
  atomic_fetch_sub(&it->sleepers, 1);
}
