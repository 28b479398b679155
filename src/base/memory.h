#ifndef HP_BASE_MEMORY_H
#define HP_BASE_MEMORY_H

/* The heap, for what lives outside arenas. Every allocation of the library passes here or through a range,
 * so that tests can fail the n-th one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *hp_allocate(size_t bytes); /* NULL on failure; uninitialised */
void *hp_allocate_zeroed(size_t bytes);
void *hp_reallocate(void *old, size_t bytes); /* NULL on failure, old one kept */
void hp_free(void *memory);                   /* NULL is allowed */

/* Reserves address space that costs memory where it is written to, zeroed: `most` bytes; where there is not so much, as
 * under a limit, a quarter of what there is, so that the next ones find some too. `most` is a power of two, `*size`
 * what was had. NULL when there is less than `least`. Given back with hp_unreserve. */
void *hp_reserve(size_t most, size_t least, size_t *size);
void hp_unreserve(void *base, size_t size);

/* The same from jemalloc, not zeroed. `size` is that of the reservation. */
void *hp_reserve_by_jemalloc(size_t most, size_t least, size_t *size);

/* For tests: the allocation after `n` more fails, and all later ones; UINT64_MAX: none. */
void hp_memory_fail_after(uint64_t n);
void hp_memory_fail_once(uint64_t n); /* the allocation after `n` more, and no other */
uint64_t hp_memory_left(void);        /* allocations before the next that fails; UINT64_MAX: none will */
bool hp_memory_may(void);             /* false when this allocation is to fail; called by ranges too */

#endif
