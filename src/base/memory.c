#include "base/memory.h"

#include <stdlib.h>

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
