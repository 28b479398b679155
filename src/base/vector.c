#include "base/vector.h"

#include "base/memory.h"

void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_fail *fail) {
  size_t wanted = *capacity + (size_t)(*capacity >> 1);
  if (wanted < need) wanted = need;
  if (wanted < 16) wanted = 16;
  if (wanted > UINT32_MAX) wanted = UINT32_MAX;
  void *grown = need > UINT32_MAX ? NULL : hp_reallocate(items, wanted * item_size);
  if (!grown) hp_fail_now(fail, HPAR_ERROR_MEMORY);
  *capacity = (uint32_t)wanted;
  return grown;
}
