#ifndef HP_BASE_MEMORY_H
#define HP_BASE_MEMORY_H

/* The heap, for objects outside arenas. */

#include "base/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads that write to the same line of this length slow each other. */
enum { HP_CACHE_LINE = 64 };

/* Takes the cache line from other cores before the caller writes to it. Any address is allowed. For
 * x86-64, compilers make a prefetch for reading of their built-in function: it leaves the line to
 * the other core. Processors without the instruction ignore it. */
static inline void hp_prefetch_to_write(const void *at) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw (%0)" : : "r"(at));
#else
  __builtin_prefetch(at, 1);
#endif
}

HP_SHARED void *hp_allocate(size_t bytes); /* NULL on failure; uninitialised */
HP_SHARED void *hp_allocate_zeroed(size_t bytes);
/* `alignment` is a power of two. The bytes are uninitialised. */
HP_SHARED void *hp_allocate_aligned(size_t alignment, size_t bytes);
HP_SHARED void *hp_reallocate(void *old, size_t bytes); /* NULL on failure: `old` is unchanged */
HP_SHARED void hp_free(void *memory);                   /* NULL is allowed */

/* Returns false if a test makes this allocation fail. Every other allocator of the library
 * calls it, too. */
bool hp_memory_may(void);

/* Test hooks: only the tests link a memory.c that is built with HPAR_TEST_HOOKS. */

/* Lets the next `n` allocations succeed. All later allocations fail. UINT64_MAX: none fails. */
void hp_memory_fail_after(uint64_t n);
/* Lets only the allocation after the next `n` allocations fail. */
void hp_memory_fail_once(uint64_t n);
/* Returns the number of allocations before the next failure. UINT64_MAX: none fails. */
uint64_t hp_memory_left(void);

#endif
