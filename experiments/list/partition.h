#ifndef LIST_PARTITION_H
#define LIST_PARTITION_H

/* Where to cut (HPar 4.1.2).
 *
 * Merging-oriented: about evenly, each cut moved forward to the next '<', so that neither a tag's name nor data is cut.
 *
 * Partitioning-oriented: `preparse` walks the whole input once and lifts out units, elements that are parsed by
 * themselves; the rest is the high-level structure. Fixed level L: every element at depth L, the topmost being 0, is a
 * unit. Flexible: an element whose bytes, less those of units in it, exceed the threshold is a unit. */

#include "tree.h"

/* cuts[0] = 0, cuts[chunks] = n; chunks are nonempty except where the input has too few tags. */
void list_cut_evenly(const char *input, size_t n, size_t chunks, size_t *cuts);

typedef struct list_partition {
  list_unit *units; /* owned: list_partition_free */
  uint32_t count, capacity;
  size_t high_level_bytes; /* of the input, in no unit */
} list_partition;

/* False, with no units, where tags do not match: then only a sequential parse says what is wrong. The first at most
 * UINT32_MAX units are lifted. */
bool list_preparse_fixed(const char *input, size_t n, size_t level, list_partition *partition);
bool list_preparse_flexible(const char *input, size_t n, size_t threshold, list_partition *partition);
void list_partition_free(list_partition *partition);

#endif
