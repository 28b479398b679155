#ifndef HP_BASE_ARENA_H
#define HP_BASE_ARENA_H

/* The memory of a document: one range of addresses. Arenas take slabs from the range, one or two
 * arenas a thread, and cut objects from a slab by moving a pointer. A 32-bit reference names an
 * object: its distance from the range's base in units of 8 bytes. Links therefore cost 4 bytes, and
 * following one needs no table.
 *
 *   base <= every object < base + top <= base + size;  reference 0 is no object
 *
 * platform/address_range.h reserves the addresses. */

#include "base/memory.h"
#include "base/target.h"

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

/* Mapped addresses for one tree or text (platform/address_range.h). */
typedef struct hp_block { // value
  char *base;             /* NULL: no memory */
  size_t size;
  size_t touched; /* only bytes before it may have been written to */
  char *huge;     /* the end of the requested huge pages; NULL: none */
  size_t kept;    /* bytes of the tree or text outside a parse */
  size_t wanted;  /* requested size */
  bool open;      /* a parse is using the block */
  bool stays;     /* the block keeps `wanted` bytes between parses */
} hp_block;

/* Memory that a range has left for larger memory. It has the bytes of the time of the move. */
typedef struct hp_former_memory {
  struct hp_former_memory *before; /* left earlier; NULL: none */
  hp_block block;                  /* no memory: `by_jemalloc` */
  char *by_jemalloc;               /* NULL: the block */
} hp_former_memory;

typedef struct hp_range {
  char *base;
  size_t size;
  size_t limit;       /* <= size: objects use at most this number of bytes */
  bool estimates;     /* the limit is provisional: the bytes of the objects may depend on caches */
  _Atomic size_t top; /* relaxed: a slab is published together with the objects in it */
  size_t part_size, parts_start;
  unsigned part_count;    /* 0: the range is not divided */
  size_t spare_end;       /* end of the spare bytes; 0: none */
  _Atomic size_t spare;   /* offset of the first spare byte; relaxed */
  struct hp_range *whole; /* the range that a full part falls back to; NULL: not a part */
  hp_block block;         /* no memory: jemalloc, or before the first parse */
  bool by_jemalloc;
  _Atomic bool is_full; /* an object did not fit, and no limit was the reason; relaxed */
} hp_range;

/* Returns the range that objects of this one, perhaps a part, fall back to. */
static inline const hp_range *hp_whole_range(const hp_range *range) { return range->whole ? range->whole : range; }
static inline bool hp_range_is_full(const hp_range *range) {
  return atomic_load_explicit(&range->is_full, memory_order_relaxed);
}
/* Notes that the range has grown. */
static inline void hp_range_note_room(hp_range *range) {
  atomic_store_explicit(&range->is_full, false, memory_order_relaxed);
}
/* Limits the bytes of the objects. With `estimates`, the bytes may depend on caches. */
static inline void hp_range_set_limit(hp_range *range, size_t limit, bool estimates) {
  range->limit = limit;
  range->estimates = estimates;
}

enum { HP_FIRST_OBJECT = 64 }; /* offset 0 is no object; the first object starts a cache line */

/* Drops all objects and the limit. The memory stays. */
void hp_range_reset(hp_range *range);
/* Returns the number of bytes that objects and unfinished slabs use, without the spare bytes. */
size_t hp_range_used(const hp_range *range);
/* Returns the bytes of parts that no thread has taken. */
size_t hp_range_unused(const hp_range *range);
/* Returns true if the range has a limit, and the bytes of its objects may only depend on the
 * input. */
bool hp_range_is_exact(const hp_range *range);
/* Reserves spare bytes after all objects. Their user moves `spare` towards `spare_end`. Returns
 * false without a change if the range has less space. Another thread may take slabs meanwhile. */
bool hp_range_spare(hp_range *range, size_t bytes);

enum { HP_MAX_APART = 256 << 20 }; /* bytes of input; parts for longer inputs are too large */

/* Reserves `count` empty parts, one for each thread, for an input of `length` bytes. The next
 * document of that size has the same parts, so each thread finds its memory in its own caches.
 * Returns false without a change if the range is small or limited. Requires: no other thread uses
 * the range. */
HP_SHARED bool hp_range_divide(hp_range *whole, unsigned count, size_t length);
/* Returns the part of this index. It lies in the range, which can therefore count the bytes of a
 * thread that is late. */
HP_SHARED hp_range *hp_range_part(const hp_range *whole, unsigned index);
/* Copies all objects to the same places in other memory. The unused memory of the parts, which may
 * be a hundred times larger, stays untouched. Requires: no other thread uses the range. */
void hp_range_copy(const hp_range *range, char *to);

typedef struct hp_arena {
  char *at, *end;
  hp_range *range;
  hp_unwind *unwind;
  size_t slab; /* size of the next slab; grows with use to keep small documents small */
} hp_arena;

HP_SHARED void hp_arena_open(hp_arena *arena, hp_range *range, hp_unwind *unwind);
HP_SHARED void *hp_arena_refill(hp_arena *arena, size_t bytes);
/* Gives back the rest of the slab if the slab is the range's last one. Another thread may take
 * slabs meanwhile. */
void hp_arena_close(hp_arena *arena);

/* Returns `bytes` of uninitialised memory, aligned to 8. Failure unwinds. */
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
