#include "base/vector.h"

#include "base/memory.h"

#include <string.h>

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
