#ifndef HP_PLATFORM_JEMALLOC_H
#define HP_PLATFORM_JEMALLOC_H

/* Address ranges from jemalloc, if the build found it. The library links a private copy, so the
 * malloc and free of the program do not change. jemalloc keeps the pages of a returned range for
 * the next range. It returns unused pages to the system after a while. All ranges come from one
 * jemalloc arena, because a document takes only one range. */

#include <stdbool.h>
#include <stddef.h>

bool hp_jemalloc_is_there(void);
/* Returns why the library cannot use jemalloc, or NULL. */
const char *hp_jemalloc_problem(void);
void *hp_jemalloc_take(size_t bytes); /* aligned to a page, not zeroed; NULL on failure */
void hp_jemalloc_give(void *memory);

#endif
