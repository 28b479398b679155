#ifndef HP_PLATFORM_JEMALLOC_H
#define HP_PLATFORM_JEMALLOC_H

/* Address ranges from jemalloc, where it was found when the library was built: a copy of its own, whose malloc and free
 * nobody sees. The pages of a range that is given back stay warm for the next for a while, and go back to the system
 * when nobody takes them. One jemalloc arena for all: a document is one range, taken once. */

#include <stdbool.h>
#include <stddef.h>

bool hp_jemalloc_is_there(void);
void *hp_jemalloc_take(size_t bytes); /* aligned to a page, not zeroed; NULL on failure */
void hp_jemalloc_give(void *memory);

#endif
