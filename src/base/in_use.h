#ifndef HP_BASE_IN_USE_H
#define HP_BASE_IN_USE_H

/* Keeps an object alive while calls use it. A callback of such a call may destroy the object: it is
 * then freed when the last call that uses it returns. Each public function that runs a callback, or
 * calls `write`, uses its objects in this way. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HP_IN_USE_DESTROYED = 1 << 30 };

/* The number of calls, and HP_IN_USE_DESTROYED. */
typedef struct hp_in_use {
  _Atomic uint32_t calls;
} hp_in_use;

static inline bool hp_is_in_use(const hp_in_use *use) {
  return atomic_load_explicit(&use->calls, memory_order_relaxed) != 0;
}

static inline bool hp_is_destroyed(const hp_in_use *use) {
  return atomic_load_explicit(&use->calls, memory_order_relaxed) & HP_IN_USE_DESTROYED;
}

/* Begins a call that may run beside others. A call that only reads the object counts, too: for it
 * the object is constant, although its memory is not. */
static inline void hp_begin_use(const hp_in_use *use) {
  atomic_fetch_add_explicit(&((hp_in_use *)(uintptr_t)use)->calls, 1, memory_order_relaxed);
}

/* Begins a call that changes the object. Returns false if another call uses it. */
static inline bool hp_begin_sole_use(hp_in_use *use) {
  uint32_t none = 0;
  return atomic_compare_exchange_strong_explicit(&use->calls, &none, 1, memory_order_relaxed, memory_order_relaxed);
}

/* Returns true if the object was destroyed in the meantime, and no other call uses it: then the
 * caller frees it. Release and acquire order the reads of all calls before that. */
static inline bool hp_end_use(const hp_in_use *use) {
  hp_in_use *own = (hp_in_use *)(uintptr_t)use;
  return atomic_fetch_sub_explicit(&own->calls, 1, memory_order_acq_rel) == (HP_IN_USE_DESTROYED | 1);
}

/* Returns true if the caller may free the object now. Otherwise the last call frees it. */
static inline bool hp_destroy_use(hp_in_use *use) {
  return atomic_fetch_or_explicit(&use->calls, HP_IN_USE_DESTROYED, memory_order_acq_rel) == 0;
}

#endif
