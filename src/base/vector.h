#ifndef HP_BASE_VECTOR_H
#define HP_BASE_VECTOR_H

/* Growing arrays outside the arenas: `hp_grow(&items, &capacity, need, fail)` makes room for `need` items. */

#include "base/fail.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the array, perhaps moved, with *capacity >= need; unwinds when memory is short. */
void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_fail *fail);

#define hp_grow(items, capacity, need, fail)                                            \
  do {                                                                                  \
    if ((need) > *(capacity)) {                                                         \
      *(items) = hp_grow_bytes(*(items), (capacity), (need), sizeof **(items), (fail)); \
    }                                                                                   \
  } while (0)

#endif
