#include "base/arena.h"

#include "base/memory.h"
#include "platform/jemalloc.h"

/* Offset 0 is no object; a cache line keeps the first one aligned. */
enum { FIRST_OBJECT = 64, SMALLEST_SLAB = 4 << 10, LARGEST_SLAB = 2 << 20 };

static hpar_status reserve(hp_range *range, bool by_jemalloc) {
  /* 32-bit references reach 32 GB. */
  const size_t most = (size_t)32 << 30, least = (size_t)1 << 20;
  size_t size;
  char *base = by_jemalloc ? hp_reserve_by_jemalloc(most, least, &size) : hp_reserve(most, least, &size);
  if (!base) return HPAR_ERROR_MEMORY;
  hp_range_release(range);
  range->base = base;
  range->size = size;
  range->by_jemalloc = by_jemalloc;
  hp_range_reset(range);
  return HPAR_OK;
}

hpar_status hp_range_reserve(hp_range *range) {
  range->base = NULL;
  return reserve(range, false);
}

hpar_status hp_range_move(hp_range *range, bool to_jemalloc) {
  return range->by_jemalloc == to_jemalloc ? HPAR_OK : reserve(range, to_jemalloc);
}

void hp_range_release(hp_range *range) {
  if (!range->base) return;
#if HP_ASAN
  __asan_unpoison_memory_region(range->base, atomic_load(&range->top));
#endif
  if (range->by_jemalloc)
    hp_jemalloc_give(range->base);
  else
    hp_unreserve(range->base, range->size);
  range->base = NULL;
}

void hp_range_reset(hp_range *range) {
  range->limit = range->size;
  range->end = range->size;
  range->in_parts = 0;
  atomic_store_explicit(&range->top, FIRST_OBJECT, memory_order_relaxed);
}

static size_t part_start(const hp_range *part) { return part->limit - part->size; }

static size_t size_of_part(const hp_range *whole, unsigned count) { return whole->size / 2 / count & ~(size_t)4095; }

bool hp_range_divide(hp_range *whole, unsigned count) {
  const size_t least = (size_t)32 << 20;
  size_t size = size_of_part(whole, count);
  if (HP_ASAN || size < least || whole->limit < whole->size) return false;
  whole->end = whole->size - size * count;
  return true;
}

void hp_range_part(hp_range *part, hp_range *whole, unsigned index, unsigned count) {
  size_t size = size_of_part(whole, count), end = whole->size - size * index;
  *part = (hp_range){.base = whole->base, .size = size, .limit = end, .end = end, .whole = whole};
  atomic_store_explicit(&part->top, end - size, memory_order_relaxed);
}

size_t hp_range_part_used(const hp_range *part) {
  return atomic_load_explicit(&part->top, memory_order_relaxed) - part_start(part);
}

void hp_arena_open(hp_arena *arena, hp_range *range, hp_fail *fail) {
  arena->at = arena->end = range->base;
  arena->range = range;
  arena->fail = fail;
  arena->slab = SMALLEST_SLAB;
}

void *hp_arena_refill(hp_arena *arena, size_t bytes) {
  hp_range *range = arena->range;
  size_t slab = arena->slab;
  if (slab < bytes) slab = (bytes + 63) & ~(size_t)63;
  size_t start = atomic_load_explicit(&range->top, memory_order_relaxed), limit = range->limit;
  if (range->whole && limit - start < slab) {
    arena->range = range->whole;
    return hp_arena_refill(arena, bytes);
  }
  if (!hp_memory_may()) hp_fail_now(arena->fail, HPAR_ERROR_MEMORY);
  if (limit > range->end) limit = range->end;
  do {
    size_t left = start < limit ? limit - start : 0;
    if (left < slab) slab = (bytes + 63) & ~(size_t)63;
    if (left < slab) hp_fail_now(arena->fail, range->limit < range->size ? HPAR_LIMIT_MEMORY : HPAR_ERROR_MEMORY);
  } while (!atomic_compare_exchange_weak_explicit(&range->top, &start, start + slab, memory_order_relaxed,
                                                  memory_order_relaxed));
  if (arena->slab < LARGEST_SLAB)
    arena->slab += arena->slab / 8 & ~(size_t)63; /* about an eighth of all is not used yet */
  char *object = range->base + start;
  HP_POISON(object, slab);
  if (slab - bytes >= (size_t)(arena->end - arena->at)) { /* the larger rest serves the next objects */
    arena->at = object + bytes;
    arena->end = object + slab;
  }
  HP_UNPOISON(object, bytes);
  return object;
}
