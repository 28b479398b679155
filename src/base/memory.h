#ifndef HP_BASE_MEMORY_H
#define HP_BASE_MEMORY_H

/* The heap, for objects outside arenas. */

#include "base/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *hp_allocate(size_t bytes); /* NULL on failure; uninitialised */
void *hp_allocate_zeroed(size_t bytes);
void *hp_allocate_aligned(size_t alignment, size_t bytes); /* a power of two; uninitialised */
void *hp_reallocate(void *old, size_t bytes);              /* NULL on failure: `old` is unchanged */
void hp_free(void *memory);                                /* NULL is allowed */

/* Returns false if a test makes this allocation fail. All other allocations of the library ask
 * it, too. */
bool hp_memory_may(void);

/* Only the tests link a memory.c with these hooks (HPAR_TEST_HOOKS); the library has none. */
void hp_memory_fail_after(uint64_t n); /* the allocation after `n` more fails, and all later ones; UINT64_MAX: none */
void hp_memory_fail_once(uint64_t n);  /* the allocation after `n` more fails, and no other */
uint64_t hp_memory_left(void);         /* allocations before the next failure; UINT64_MAX: none fails */

#endif
