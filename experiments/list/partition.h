#ifndef LIST_PARTITION_H
#define LIST_PARTITION_H

/* Partitioning (HPar 4.1.2).
 *
 * Merging-oriented: cuts into nearly equal chunks and moves each cut forward to the next '<'.
 * Therefore no cut is in a tag's name or in data.
 *
 * Partitioning-oriented: `preparse` walks the whole input once and lifts out units. A unit is an
 * element that a separate parse handles. The rest is the high-level structure. Fixed level L: every
 * element at depth L is a unit; the topmost has depth 0. Flexible: an element is a unit if its
 * bytes, less those of units in it, exceed the threshold. */

#include "tree.h"

/* Sets cuts[0] = 0 to cuts[chunks] = n. A chunk is empty only if the input has too few tags. */
void list_cut_evenly(const char *input, size_t n, size_t chunks, size_t *cuts);

typedef struct list_partition {
  list_unit *units; /* owned; list_partition_free frees them */
  uint32_t count, capacity;
  size_t high_level_bytes; /* of the input, outside all units */
} list_partition;

/* Returns false, without units, if tags do not match. Only a sequential parse then finds the
 * errors. Lifts out at most the first UINT32_MAX units. */
bool list_preparse_fixed(const char *input, size_t n, size_t level, list_partition *partition);
bool list_preparse_flexible(const char *input, size_t n, size_t threshold, list_partition *partition);
void list_partition_free(list_partition *partition);

#endif
