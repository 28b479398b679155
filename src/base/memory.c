#include "base/memory.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#if HPAR_TEST_HOOKS
#include <stdatomic.h>

static _Atomic uint64_t allocations_left = UINT64_MAX;
static _Atomic bool only_one;

static void fail_after(uint64_t n, bool once) {
  atomic_store(&only_one, once);
  atomic_store(&allocations_left, n);
}

void hp_memory_fail_after(uint64_t n) { fail_after(n, false); }
void hp_memory_fail_once(uint64_t n) { fail_after(n, true); }

uint64_t hp_memory_left(void) { return atomic_load(&allocations_left); }

bool hp_memory_may(void) {
  uint64_t left = atomic_load_explicit(&allocations_left, memory_order_relaxed);
  if (left == UINT64_MAX) return true;
  do {
    if (left == UINT64_MAX) return true;
    if (!left && !atomic_load(&only_one)) return false;
    /* 0 wraps to UINT64_MAX: later allocations succeed */
  } while (!atomic_compare_exchange_weak(&allocations_left, &left, left - 1));
  return left != 0;
}
#else
bool hp_memory_may(void) { return true; }
#endif

void *hp_allocate(size_t bytes) { return hp_memory_may() ? malloc(bytes ? bytes : 1) : NULL; }
void *hp_allocate_zeroed(size_t bytes) { return hp_memory_may() ? calloc(1, bytes ? bytes : 1) : NULL; }
void *hp_reallocate(void *old, size_t bytes) { return hp_memory_may() ? realloc(old, bytes ? bytes : 1) : NULL; }
void hp_free(void *memory) { free(memory); }

void *hp_allocate_aligned(size_t alignment, size_t bytes) {
  return hp_memory_may() ? aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1)) : NULL;
}

hpar_status hp_try(hp_unwind *unwind, hp_try_fn function, void *argument) {
  jmp_buf frame;
  void *const outer = unwind->frame;
  hpar_status status;
  unwind->frame = &frame;
  if (setjmp(frame) == 0)
    status = function(argument);
  else
    status = unwind->status;
  unwind->frame = outer;
  return status;
}

void hp_unwind_now(hp_unwind *unwind, hpar_status status) {
  unwind->status = status;
  longjmp(*(jmp_buf *)unwind->frame, 1);
}

/* Returns the array with its first bytes, or NULL. */
static void *resize(void *items, size_t old_bytes, size_t bytes, const hp_unwind *unwind) {
  if (!unwind->separates) return hp_reallocate(items, bytes);
  void *moved = hp_allocate_aligned(HP_CACHE_LINE, bytes);
  if (!moved) return NULL;
  if (items) memcpy(moved, items, old_bytes);
  hp_free(items);
  return moved;
}

/* Most vectors of a parallel parse stay short. */
enum { FIRST_BYTES = 256, MANY = 16, LONG = 32, VERY_LONG = 256 };

static void *grow(void *items, uint32_t *capacity, size_t target, size_t need, size_t item_size, hp_unwind *unwind) {
  if (target < need) target = need;
  if (target > UINT32_MAX) target = UINT32_MAX;
  void *grown = need > UINT32_MAX ? NULL : resize(items, *capacity * item_size, target * item_size, unwind);
  if (!grown) hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  *capacity = (uint32_t)target;
  return grown;
}

void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind) {
  size_t target = *capacity + (size_t)(*capacity < MANY ? *capacity : *capacity >> 1);
  if (target < FIRST_BYTES / item_size) target = FIRST_BYTES / item_size;
  return grow(items, capacity, target, need, item_size, unwind);
}

void *hp_grow_tight_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind) {
  const unsigned shift = *capacity < LONG ? 2 : *capacity < VERY_LONG ? 3 : 4;
  return grow(items, capacity, *capacity + (size_t)(*capacity >> shift), need, item_size, unwind);
}

bool hp_reserve(void *items, uint32_t *capacity, size_t need, size_t item_size) {
  if (need <= *capacity) return true;
  size_t room = *capacity ? 2 * (size_t)*capacity : 16;
  if (room < need) room = need;
  if (room > UINT32_MAX || room > SIZE_MAX / item_size) return false;
  void *old, *made;
  memcpy(&old, items, sizeof old);
  if (!(made = hp_reallocate(old, room * item_size))) return false;
  memcpy(items, &made, sizeof made);
  *capacity = (uint32_t)room;
  return true;
}
