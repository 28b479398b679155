#include "base/vector.h"

#include "base/memory.h"

enum { FIRST_BYTES = 256, MANY = 16 }; /* a parallel parse has many vectors of which most stay short */

void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind) {
  size_t wanted = *capacity + (size_t)(*capacity < MANY ? *capacity : *capacity >> 1);
  if (wanted < FIRST_BYTES / item_size) wanted = FIRST_BYTES / item_size;
  if (wanted < need) wanted = need;
  if (wanted > UINT32_MAX) wanted = UINT32_MAX;
  void *grown = need > UINT32_MAX ? NULL : hp_reallocate(items, wanted * item_size);
  if (!grown) hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  *capacity = (uint32_t)wanted;
  return grown;
}
