#ifndef HP_BASE_ARENA_H
#define HP_BASE_ARENA_H

/* Memory of a document: one reserved address range, handed out in slabs to arenas (one or two a thread), from
 * which objects are cut by moving a pointer. An object is named by a 32-bit reference, its distance from the
 * range's base in units of 8 bytes, so links cost 4 bytes and no table is needed to follow them.
 *
 *   base <= every object < base + top <= base + size;  reference 0 is nothing */

#include "base/fail.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define HP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HP_ASAN 1
#endif
#endif
#if HP_ASAN
#include <sanitizer/asan_interface.h>
#define HP_POISON(memory, bytes) __asan_poison_memory_region(memory, bytes)
#define HP_UNPOISON(memory, bytes) __asan_unpoison_memory_region(memory, bytes)
#else
#define HP_ASAN 0
#define HP_POISON(memory, bytes) ((void)0)
#define HP_UNPOISON(memory, bytes) ((void)0)
#endif

typedef uint32_t hp_ref;

typedef struct hp_range {
  char *base;
  size_t size;
  size_t limit; /* <= size: what objects may take */
  bool by_jemalloc;
  _Atomic size_t top;     /* relaxed: a slab is published together with what is put into it */
  size_t end;             /* where parts begin, or size */
  size_t in_parts;        /* bytes that were taken from parts */
  struct hp_range *whole; /* of which this is a part: where to go on when it is full; NULL: none */
} hp_range;

hpar_status hp_range_reserve(hp_range *range);
/* The range is as new, and from jemalloc or not. On failure nothing is changed. */
hpar_status hp_range_move(hp_range *range, bool to_jemalloc);
void hp_range_release(hp_range *range);
void hp_range_reset(hp_range *range); /* all objects and the limit are gone; memory is kept */

enum { HP_MAX_APART = 256 << 20 }; /* bytes of input: of more, a part might not hold its share */

/* Divides the upper half of a range into `count` parts, for threads that would otherwise take slabs by turns: so each
 * comes back to the memory that it had for the last document, in its own caches. Before anybody else uses the range.
 * False, and nothing is done, where it is small or limited. */
bool hp_range_divide(hp_range *whole, unsigned count);
/* One of these parts, empty. */
void hp_range_part(hp_range *part, hp_range *whole, unsigned index, unsigned count);
size_t hp_range_part_used(const hp_range *part);

typedef struct hp_arena {
  char *at, *end;
  hp_range *range;
  hp_fail *fail;
  size_t slab; /* size of the next slab: grows with use, so that small documents stay small */
} hp_arena;

void hp_arena_open(hp_arena *arena, hp_range *range, hp_fail *fail);
void *hp_arena_refill(hp_arena *arena, size_t bytes);

/* `bytes` of uninitialised memory, aligned to 8. Never NULL: failure unwinds. */
static inline void *hp_arena_take(hp_arena *arena, size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  if ((size_t)(arena->end - arena->at) < bytes) return hp_arena_refill(arena, bytes);
  void *object = arena->at;
  arena->at += bytes;
  HP_UNPOISON(object, bytes);
  return object;
}

static inline void *hp_at(const char *base, hp_ref ref) { return (void *)(base + ((size_t)ref << 3)); }
static inline hp_ref hp_ref_of(const char *base, const void *object) {
  return (hp_ref)((size_t)((const char *)object - base) >> 3);
}

#endif
