#include "base/arena.h"

#include "base/memory.h"

#include <string.h>

/* The growth by a sixteenth keeps about 3 % of all slabs unused. */
enum { SLAB_GROWTH = 16, SMALLEST_SLAB = 4 << 10, LARGEST_SLAB = 64 << 10 };
enum { PAGE = 4 << 10, SMALLEST_PART = 64 << 10, PART_FACTOR = 4 };

static void note_touched(hp_range *range, size_t top) {
  if (range->block.base && top > range->block.touched) range->block.touched = top;
}

void hp_range_reset(hp_range *range) {
  note_touched(range, atomic_load_explicit(&range->top, memory_order_relaxed));
  range->limit = range->size;
  range->estimates = false;
  range->part_count = 0;
  range->spare_end = 0;
  atomic_store_explicit(&range->spare, 0, memory_order_relaxed);
  atomic_store_explicit(&range->is_full, false, memory_order_relaxed);
  atomic_store_explicit(&range->top, HP_FIRST_OBJECT, memory_order_relaxed);
}

hp_range *hp_range_part(const hp_range *whole, unsigned index) {
  return (hp_range *)(whole->base + whole->parts_start) - whole->part_count + index;
}

size_t hp_range_unused(const hp_range *range) {
  size_t bytes = 0;
  for (unsigned i = 0; i < range->part_count; i++) {
    const hp_range *part = hp_range_part(range, i);
    bytes += part->limit - atomic_load_explicit(&part->top, memory_order_relaxed);
  }
  return bytes;
}

size_t hp_range_used(const hp_range *range) {
  size_t spare_bytes = range->spare_end - atomic_load_explicit(&range->spare, memory_order_relaxed);
  return atomic_load_explicit(&range->top, memory_order_relaxed) - hp_range_unused(range) - spare_bytes;
}

bool hp_range_is_exact(const hp_range *range) {
  if (range->whole) range = range->whole;
  return range->limit < range->size && !range->estimates;
}

bool hp_range_spare(hp_range *range, size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  size_t top = atomic_load_explicit(&range->top, memory_order_relaxed);
  do { /* a late thread may take a slab */
    if (top > range->limit || range->limit - top < bytes) return false;
  } while (!atomic_compare_exchange_weak_explicit(&range->top, &top, top + bytes, memory_order_relaxed,
                                                  memory_order_relaxed));
  atomic_store_explicit(&range->spare, top, memory_order_relaxed);
  range->spare_end = top + bytes;
  HP_UNPOISON(range->base + top, bytes);
  return true;
}

bool hp_range_divide(hp_range *whole, unsigned count, size_t length) {
  const size_t least = (size_t)16 << 30;
  if (HP_ASAN || whole->size < least || whole->limit < whole->size || whole->part_count) return false;
  size_t size = whole->part_size > SMALLEST_PART ? whole->part_size : SMALLEST_PART;
  while (size < length * PART_FACTOR) size *= 2;
  size_t top = atomic_load_explicit(&whole->top, memory_order_relaxed) + count * sizeof(hp_range);
  size_t start = (top + PAGE - 1) & ~(size_t)(PAGE - 1), end = start + size * count;
  if (end > whole->size / 2) return false;
  whole->part_size = size;
  whole->parts_start = start;
  whole->part_count = count;
  atomic_store_explicit(&whole->top, end, memory_order_relaxed);
  for (unsigned i = 0; i < count; i++, start += size) {
    hp_range *part = hp_range_part(whole, i);
    *part = (hp_range){.base = whole->base, .size = size, .limit = start + size, .whole = whole};
    atomic_store_explicit(&part->top, start, memory_order_relaxed);
  }
  return true;
}

void hp_range_copy(const hp_range *range, char *to) {
  size_t from = 0;
  for (unsigned i = 0; i < range->part_count; i++) {
    const hp_range *part = hp_range_part(range, i);
    size_t end = atomic_load_explicit(&part->top, memory_order_relaxed);
    memcpy(to + from, range->base + from, end - from);
    from = part->limit;
  }
  memcpy(to + from, range->base + from, atomic_load_explicit(&range->top, memory_order_relaxed) - from);
}

void hp_arena_open(hp_arena *arena, hp_range *range, hp_unwind *unwind) {
  arena->at = arena->end = range->base;
  arena->range = range;
  arena->unwind = unwind;
  arena->slab = SMALLEST_SLAB;
}

/* Unwinds because the range has no space for an object. */
static _Noreturn void refuse(const hp_arena *arena) {
  hp_range *range = arena->range;
  if (range->limit < range->size) hp_unwind_now(arena->unwind, HPAR_LIMIT_MEMORY);
  atomic_store_explicit(&range->is_full, true, memory_order_relaxed);
  hp_unwind_now(arena->unwind, HPAR_ERROR_MEMORY);
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
  if (!hp_memory_may()) hp_unwind_now(arena->unwind, HPAR_ERROR_MEMORY);
  do {
    size_t left = start < limit ? limit - start : 0;
    if (left < slab) slab = (bytes + 63) & ~(size_t)63;
    if (left < slab) refuse(arena);
  } while (!atomic_compare_exchange_weak_explicit(&range->top, &start, start + slab, memory_order_relaxed,
                                                  memory_order_relaxed));
  if (arena->slab < LARGEST_SLAB) arena->slab += arena->slab / SLAB_GROWTH & ~(size_t)63;
  char *object = range->base + start;
  HP_POISON(object, slab);
  if (slab - bytes >= (size_t)(arena->end - arena->at)) { /* keeps the larger rest */
    arena->at = object + bytes;
    arena->end = object + slab;
  }
  HP_UNPOISON(object, bytes);
  return object;
}

void hp_arena_close(hp_arena *arena) {
  hp_range *range = arena->range;
  size_t end = (size_t)(arena->end - range->base), at = (size_t)(arena->at - range->base);
  note_touched(range, end);
  /* A late thread may take a slab. */
  atomic_compare_exchange_strong_explicit(&range->top, &end, at, memory_order_relaxed, memory_order_relaxed);
  arena->end = arena->at;
}
