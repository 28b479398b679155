#ifndef HP_BASE_VECTOR_H
#define HP_BASE_VECTOR_H

/* Growing arrays outside the arenas: `hp_grow(&items, &capacity, need, unwind)` reserves memory
 * for `need` items. */

#include "base/target.h"
#include "base/unwind.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the array with *capacity >= need. The array may move. Unwinds if no memory is left. */
HP_SHARED void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind);

#define hp_grow(items, capacity, need, unwind)                                            \
  do {                                                                                    \
    if ((need) > *(capacity)) {                                                           \
      *(items) = hp_grow_bytes(*(items), (capacity), (need), sizeof **(items), (unwind)); \
    }                                                                                     \
  } while (0)

/* Does the same for arrays that often stay tiny, or whose memory has a bound: reserves a quarter
 * more, for long arrays an eighth or a sixteenth, and no minimum. */
void *hp_grow_tight_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind);

#define hp_grow_tight(items, capacity, need, unwind)                                            \
  do {                                                                                          \
    if ((need) > *(capacity)) {                                                                 \
      *(items) = hp_grow_tight_bytes(*(items), (capacity), (need), sizeof **(items), (unwind)); \
    }                                                                                           \
  } while (0)

#endif
