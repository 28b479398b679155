#include "base/memory.h"

#include "platform/jemalloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

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
  } while (!atomic_compare_exchange_weak(&allocations_left, &left, left - 1)); /* after 0 there is no failure to come */
  return left != 0;
}

void *hp_allocate(size_t bytes) { return hp_memory_may() ? malloc(bytes ? bytes : 1) : NULL; }
void *hp_allocate_zeroed(size_t bytes) { return hp_memory_may() ? calloc(1, bytes ? bytes : 1) : NULL; }
void *hp_reallocate(void *old, size_t bytes) { return hp_memory_may() ? realloc(old, bytes ? bytes : 1) : NULL; }
void hp_free(void *memory) { free(memory); }

static void *map(size_t size) {
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? NULL : base;
}

void *hp_reserve(size_t most, size_t least, size_t *size) {
  if (!hp_memory_may()) return NULL;
  void *base = map(*size = most);
  while (!base && (*size >>= 1) >= least) base = map(*size);
  if (!base || *size == most) return base;
  size_t kept = *size / 4 < least ? least : *size / 4;
  munmap((char *)base + kept, *size - kept);
  *size = kept;
  return base;
}

void hp_unreserve(void *base, size_t size) { munmap(base, size); }

void *hp_reserve_by_jemalloc(size_t most, size_t least, size_t *size) {
  if (!hp_memory_may()) return NULL;
  void *base = hp_jemalloc_take(*size = most);
  while (!base && (*size >>= 1) >= least) base = hp_jemalloc_take(*size);
  return base;
}
