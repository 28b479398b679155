#ifndef HP_BASE_MEMORY_H
#define HP_BASE_MEMORY_H

/* The heap, for objects outside arenas; unwinding when it is exhausted; growing arrays. */

#include "base/target.h"

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* A parse, or a worker's chunk, that runs out of memory or reaches a limit unwinds to the hp_try
 * call that started it. The algorithms of the standard therefore contain no error checks. All
 * allocated memory belongs to an arena or a vector with an owner, so nothing leaks. No function may
 * hold a lock while it calls hp_unwind_now. */

/* The status of work that another thread has cancelled. No public function returns it. */
#define HP_CANCELLED ((hpar_status)-1)

typedef struct hp_unwind {
  void *frame; /* the innermost active hp_try; NULL: none */
  hpar_status status;
  bool separates; /* vectors of the owner share no cache line with memory of other threads */
} hp_unwind;

static inline bool hp_separates_lines(const hp_unwind *unwind) { return unwind->separates; }
static inline void hp_separate_lines(hp_unwind *unwind, bool separates) { unwind->separates = separates; }

typedef hpar_status (*hp_try_fn)(void *argument);

/* Returns the result of `function`, or the status of the hp_unwind_now call that ended it. Calls
 * may be nested. No other function calls setjmp. `function` has its own frame, so its locals can
 * live in registers. */
HP_SHARED hpar_status hp_try(hp_unwind *unwind, hp_try_fn function, void *argument);

/* Ends the innermost hp_try of `unwind` with this status. HPAR_OK ends it early without a failure.
 * Requires: an hp_try call of `unwind` is active. */
HP_SHARED _Noreturn void hp_unwind_now(hp_unwind *unwind, hpar_status status);

/* Growing arrays outside the arenas: `hp_grow(&items, &capacity, need, unwind)` reserves memory
 * for `need` items. */

/* Returns the array with *capacity >= need. The array may move. Unwinds if no memory is left. */
HP_SHARED void *hp_grow_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind);

#define hp_grow(items, capacity, need, unwind)                                            \
  do {                                                                                    \
    if ((need) > *(capacity)) {                                                           \
      *(items) = hp_grow_bytes(*(items), (capacity), (need), sizeof **(items), (unwind)); \
    }                                                                                     \
  } while (0)

/* An array with its length. */
#define HP_ARRAY(type)        \
  struct {                    \
    type *items;              \
    uint32_t count, capacity; \
  }

/* Does the same for arrays that often stay tiny, or whose memory has a bound: reserves a quarter
 * more, for long arrays an eighth or a sixteenth, and no minimum. */
void *hp_grow_tight_bytes(void *items, uint32_t *capacity, size_t need, size_t item_size, hp_unwind *unwind);

#define hp_grow_tight(items, capacity, need, unwind)                                            \
  do {                                                                                          \
    if ((need) > *(capacity)) {                                                                 \
      *(items) = hp_grow_tight_bytes(*(items), (capacity), (need), sizeof **(items), (unwind)); \
    }                                                                                           \
  } while (0)

/* Appends an item to an array, and returns its address. The second one grows as hp_grow_tight. */
#define hp_push_by(grow, array, unwind)                                                                              \
  ((array)->items =                                                                                                  \
       (array)->count < (array)->capacity                                                                            \
           ? (array)->items                                                                                          \
           : grow((array)->items, &(array)->capacity, (size_t)(array)->count + 1, sizeof *(array)->items, (unwind)), \
   (array)->items + (array)->count++)
#define hp_push(array, unwind) hp_push_by(hp_grow_bytes, array, unwind)
#define hp_push_tight(array, unwind) hp_push_by(hp_grow_tight_bytes, array, unwind)
/* Appends `n` items from `from`, which may be NULL if there are none. */
#define hp_push_all(array, from, n, unwind)                                                       \
  do {                                                                                            \
    hp_grow(&(array)->items, &(array)->capacity, (size_t)(array)->count + (n), (unwind));         \
    if (n) memcpy((array)->items + (array)->count, (from), (size_t)(n) * sizeof *(array)->items); \
    (array)->count += (n);                                                                        \
  } while (0)

/* Reserves memory as hp_grow for `items`, the address of an array. Does not unwind, but returns
 * false when memory is short. */
HP_SHARED bool hp_reserve(void *items, uint32_t *capacity, size_t need, size_t item_size);

#endif
