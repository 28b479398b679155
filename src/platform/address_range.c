#include "platform/address_range.h"

#include "base/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RANGE_BYTES ((size_t)32 << 30) /* the reach of a 32-bit reference */
#define MIN_RANGE_BYTES ((size_t)1 << 20)

enum { MAX_INTERVALS = 64, STAYING_FRACTION = 16, SHARES = 2 };
enum { MAX_WARM_BYTES = 64 << 20, SLACK_BYTES = 1 << 20, PERIOD_SECONDS = 5 };
enum { HUGE_PAGE_BYTES = 2 << 20, WASTE_FRACTION = 8, MAX_GROWTH = 4 };

/* Mapped addresses that belong to no block. */
typedef struct interval {
  char *start, *end;
  size_t wanted; /* requested size of its blocks: that of trees, or that of texts */
  size_t dirty;  /* only the bytes before it may have been written to */
  char *huge;    /* the end of the requested huge pages; NULL: none */
} interval;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static interval intervals[MAX_INTERVALS];
static unsigned interval_count;
static size_t limited_bytes; /* size of the last block that a limit reduced; 0: none */
static size_t page_bytes;
static _Atomic int64_t may_stay;  /* bytes that blocks may still reserve between parses */
static _Atomic size_t kept_bytes; /* bytes of trees and texts outside parses */
static _Atomic size_t open_blocks;

/* The bytes of the largest block in this period of time and in the one before. */
static struct recent_blocks {
  int64_t period;
  size_t most, most_before;
} recent;

static void lock_list(void) { pthread_mutex_lock(&lock); }
static void unlock_list(void) { pthread_mutex_unlock(&lock); }

/* Allows a sixteenth of the address space to stay reserved. The address of a local variable
 * shows the size of the address space, because the stack is at its upper end. */
static void initialise(void) {
  struct rlimit limit;
  size_t space = (size_t)2 << (63 - __builtin_clzl((uintptr_t)&limit));
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur < space) space = (size_t)limit.rlim_cur;
  atomic_store_explicit(&may_stay, (int64_t)(space / STAYING_FRACTION), memory_order_relaxed);
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  pthread_atfork(lock_list, unlock_list, unlock_list);
}

void *hp_map(size_t bytes) {
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? NULL : base;
}

/* Unmaps a range. The kernel refuses to divide a mapping if the process has too many mappings. In
 * this case only the memory is released, and the addresses are lost. */
void hp_unmap(void *base, size_t bytes) {
  if (munmap(base, bytes)) madvise(base, bytes, MADV_DONTNEED);
}

static size_t page_up(size_t bytes) { return (bytes + page_bytes - 1) & ~(page_bytes - 1); }
static size_t size_of(const interval *i) { return (size_t)(i->end - i->start); }

static char *huge_page_down(char *at) { return at - ((uintptr_t)at & (HUGE_PAGE_BYTES - 1)); }
static char *huge_page_up(char *at) { return at + (-(uintptr_t)at & (HUGE_PAGE_BYTES - 1)); }
static char *later(char *a, char *b) { return a > b ? a : b; }

/* Returns the number of bytes at the start of a memory piece that may be in use. A huge page is in
 * use as a whole. */
static size_t used_pages(char *start, size_t bytes, size_t size, char *huge) {
  char *end = start + bytes;
  size_t whole = (size_t)((bytes && end < huge ? huge_page_up(end) : end) - start);
  return whole < size ? whole : size;
}

/*** the list; requires its lock ***/

/* Returns the minimum size of an interval for a block of `wanted` bytes. */
static size_t least_useful(size_t wanted) {
  return limited_bytes && limited_bytes / 2 < wanted ? limited_bytes / 2 : wanted;
}

/* Returns the smallest sufficient interval for a block of `wanted` bytes, or NULL. */
static interval *best_fit(size_t wanted) {
  interval *best = NULL;
  for (unsigned i = 0; i < interval_count; i++) {
    interval *one = &intervals[i];
    if (one->wanted != wanted || size_of(one) < least_useful(wanted)) continue;
    if (!best || size_of(one) < size_of(best)) best = one;
  }
  return best;
}

/* Moves the first `size` bytes of the interval to the block. */
static void take_interval(interval *from, hp_block *block, size_t size) {
  size_t dirty = from->dirty < size ? from->dirty : size;
  *block = (hp_block){.base = from->start, .size = size, .touched = dirty, .huge = from->huge, .wanted = from->wanted};
  from->start += size;
  from->dirty -= dirty;
  if (from->start == from->end) *from = intervals[--interval_count];
}

/* Returns the part of the interval for a block: only 2 times `wanted` bytes, if it has at least 3
 * times as many. */
static size_t part_of(const interval *i) {
  size_t size = size_of(i), shared = SHARES * i->wanted;
  return size >= shared + i->wanted ? shared : size;
}

static bool take_listed(hp_block *block, size_t wanted) {
  interval *found = best_fit(wanted);
  if (found) take_interval(found, block, part_of(found));
  return found;
}

/* Releases the memory after the first `kept` bytes. If a huge page may contain the boundary, the
 * interval keeps the whole page, because the kernel frees no part of a huge page. */
static void cool_interval(interval *i, size_t kept) {
  if (kept) kept = used_pages(i->start, kept, size_of(i), i->huge);
  if (i->dirty <= kept) return;
  madvise(i->start + kept, i->dirty - kept, MADV_DONTNEED);
  i->dirty = kept;
}

static size_t recent_bytes(void) {
  return page_up(recent.most > recent.most_before ? recent.most : recent.most_before);
}

/* Enforces the bounds of one interval and of all together. The slack saves system calls. */
static void limit_dirty(interval *changed) {
  size_t others = 0, kept = recent_bytes();
  for (unsigned i = 0; i < interval_count; i++)
    if (&intervals[i] != changed) others += intervals[i].dirty;
  size_t most = others < MAX_WARM_BYTES ? MAX_WARM_BYTES - others : 0;
  size_t rest = most > SLACK_BYTES ? most - SLACK_BYTES : 0;
  if (kept > rest) kept = rest;
  if (changed->dirty > kept + SLACK_BYTES || changed->dirty > most) cool_interval(changed, kept);
}

/* Gives back the memory that the blocks of the last two periods do not need. */
static void begin_period(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  int64_t period = (int64_t)now.tv_sec / PERIOD_SECONDS;
  if (period == recent.period) return;
  recent.most_before = period == recent.period + 1 ? recent.most : 0;
  recent.most = 0;
  recent.period = period;
  for (unsigned i = 0; i < interval_count; i++) cool_interval(&intervals[i], recent_bytes());
}

/* Joins `more` with its neighbours in the list. Returns false if `more` has no neighbour. */
static bool join_neighbours(interval more) {
  interval *before = NULL, *after = NULL;
  for (unsigned i = 0; i < interval_count; i++) {
    if (intervals[i].wanted != more.wanted) continue;
    if (intervals[i].end == more.start) before = &intervals[i];
    if (intervals[i].start == more.end) after = &intervals[i];
  }
  if (!before && !after) return false;
  if (after) {
    if (after->dirty) more.dirty = size_of(&more) + after->dirty;
    more.end = after->end;
    more.huge = later(more.huge, after->huge);
    *after = more;
  }
  if (before) {
    if (more.dirty) before->dirty = size_of(before) + more.dirty;
    before->end = more.end;
    before->huge = later(before->huge, more.huge);
    if (after) *after = intervals[--interval_count];
    if (before == &intervals[interval_count]) before = after;
  }
  limit_dirty(before ? before : after);
  return true;
}

/* Puts an interval into the list if it continues another one or serves a block, and unmaps it
 * otherwise. `used`: bytes of the block that a parse used. */
static void give_interval(interval more, size_t used) {
  HP_UNPOISON(more.start, more.dirty);
  lock_list();
  begin_period();
  if (used > recent.most) recent.most = used;
  bool kept = join_neighbours(more);
  if (!kept && size_of(&more) >= least_useful(more.wanted) && interval_count < MAX_INTERVALS) {
    limit_dirty(&more);
    intervals[interval_count++] = more;
    kept = true;
  }
  unlock_list();
  if (!kept) hp_unmap(more.start, size_of(&more));
}

/* Maps SHARES times `bytes`, so that successive trees are adjacent. If the system refuses, the
 * function maps a quarter of what it permits up to `bytes`, but at least `least` bytes. The program
 * and its threads need the rest. */
static bool map_block(hp_block *block, size_t bytes, size_t least) {
  size_t size = SHARES * bytes;
  char *base = hp_map(size);
  if (base) {
    *block = (hp_block){.base = base, .size = size, .wanted = bytes};
    return true;
  }
  base = hp_map(size = bytes);
  if (!base) {
    lock_list();
    while (interval_count) { /* all intervals are too small; frees their addresses */
      interval *last = &intervals[--interval_count];
      hp_unmap(last->start, size_of(last));
    }
    unlock_list();
    while (!(base = hp_map(size)) && size / 2 >= least) size /= 2;
    if (!base) return false;
  }
  size_t kept = size / 4 < least ? least : size / 4;
  if (kept < size) hp_unmap(base + kept, size - kept);
  *block = (hp_block){.base = base, .size = kept, .wanted = bytes};
  lock_list();
  limited_bytes = kept < bytes ? kept : 0;
  unlock_list();
  return true;
}

/*** blocks ***/

static bool acquire_block(hp_block *block, size_t bytes, size_t least) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!hp_memory_may()) return false;
  pthread_once(&once, initialise);
  lock_list();
  begin_period();
  bool taken = take_listed(block, bytes);
  unlock_list();
  return taken || map_block(block, bytes, least);
}

/* Grows the block in place by `bytes` bytes, or by more unless `exactly`. Returns false if the
 * memory after the block is not free. */
static bool extend_block(hp_block *block, size_t bytes, bool exactly) {
  if (!block->base) return false;
  bool extended = false;
  char *end = block->base + block->size;
  lock_list();
  for (unsigned i = 0; i < interval_count && !extended; i++) {
    if (intervals[i].start != end || intervals[i].wanted != block->wanted || size_of(&intervals[i]) < bytes) continue;
    hp_block more;
    take_interval(&intervals[i], &more, exactly ? bytes : part_of(&intervals[i]));
    if (more.touched) block->touched = block->size + more.touched;
    block->huge = later(block->huge, more.huge);
    block->size += more.size;
    extended = true;
  }
  unlock_list();
  return extended;
}

static bool may_keep(size_t bytes) {
  int64_t change = (int64_t)bytes;
  if (atomic_fetch_sub_explicit(&may_stay, change, memory_order_relaxed) >= change) return true;
  atomic_fetch_add_explicit(&may_stay, change, memory_order_relaxed);
  return false;
}

/* Changes the bytes that the block has outside parses. */
static void keep_bytes(hp_block *block, size_t bytes) {
  atomic_fetch_add_explicit(&kept_bytes, bytes - block->kept, memory_order_relaxed);
  block->kept = bytes;
}

static void close_block(hp_block *block) {
  if (block->open) atomic_fetch_sub_explicit(&open_blocks, 1, memory_order_relaxed);
  block->open = false;
}

bool hp_block_open(hp_block *block, size_t bytes, size_t least) {
  if (block->open) return true;
  bool again = block->base;
  if (!extend_block(block, bytes > block->size ? bytes - block->size : 0, false)) {
    hp_block made;
    if (!acquire_block(&made, bytes, least)) return false;
    hp_block_release(block);
    *block = made;
  }
  block->open = true;
  keep_bytes(block, 0);
  atomic_fetch_add_explicit(&open_blocks, 1, memory_order_relaxed);
  block->stays = again && block->size >= bytes && may_keep(bytes);
  return true;
}

void hp_block_expect(hp_block *block, size_t bytes) {
  size_t kept = atomic_load_explicit(&kept_bytes, memory_order_relaxed),
         open = atomic_load_explicit(&open_blocks, memory_order_relaxed);
  bool may_waste = kept / open + bytes >= WASTE_FRACTION * HUGE_PAGE_BYTES;
  size_t reach = may_waste ? MAX_GROWTH * bytes : bytes + HUGE_PAGE_BYTES / 2;
  char *start = huge_page_up(later(block->base + block->touched, block->huge));
  char *end = huge_page_down(block->base + (reach < block->size ? reach : block->size));
  if (end > start && !madvise(start, (size_t)(end - start), MADV_HUGEPAGE)) block->huge = end;
}

/* Gives back all pages after the first `kept` bytes. `used`: bytes that a parse used. */
static void shorten_block(hp_block *block, size_t kept, size_t used) {
  if (kept >= block->size) return;
  interval rest = {block->base + kept, block->base + block->size, block->wanted, 0, block->huge};
  size_t touched = used_pages(block->base, page_up(block->touched), block->size, block->huge);
  if (touched > kept) rest.dirty = touched - kept;
  give_interval(rest, used);
  block->size = kept;
  if (block->touched > kept) block->touched = kept;
}

void hp_block_trim(hp_block *block, size_t used) {
  if (!block->open) return;
  keep_bytes(block, used);
  if (block->stays) {
    shorten_block(block, block->wanted, used);
    return;
  }
  shorten_block(block, page_up(used), used);
  close_block(block);
  if (!block->size) *block = (hp_block){0};
}

void hp_block_release(hp_block *block) {
  if (!block->base) return;
  close_block(block);
  keep_bytes(block, 0);
  if (block->stays) atomic_fetch_add_explicit(&may_stay, (int64_t)block->wanted, memory_order_relaxed);
  HP_UNPOISON(block->base, block->touched);
  if (HP_ASAN)
    hp_unmap(block->base, block->size); /* AddressSanitizer finds later accesses */
  else
    shorten_block(block, 0, 0);
  *block = (hp_block){0};
}

/*** ranges ***/

static void note_touched(hp_range *range) {
  size_t top = atomic_load_explicit(&range->top, memory_order_relaxed);
  if (range->block.base && top > range->block.touched) range->block.touched = top;
}

static void set_memory(hp_range *range, char *base, size_t size) {
  range->base = base;
  range->size = size < RANGE_BYTES ? size : RANGE_BYTES;
}

/* Takes memory in which no thread has had a part. */
static void take_memory(hp_range *range, char *base, size_t size) {
  set_memory(range, base, size);
  range->part_size = 0;
}

/* Returns the bytes that jemalloc reserves for a tree. jemalloc takes back only whole ranges. */
static size_t jemalloc_bytes(size_t length) {
  const size_t least = (size_t)256 << 20, factor = 1024;
  size_t size = least;
  while (size < RANGE_BYTES && size / factor < length) size *= 2;
  return size;
}

static bool take_from_jemalloc(hp_range *range, size_t length) {
  size_t size = jemalloc_bytes(length);
  if (range->by_jemalloc && range->size >= size) return true;
  char *base = hp_memory_may() ? hp_jemalloc_take(size) : NULL;
  while (!base && size / 2 >= MIN_RANGE_BYTES && hp_memory_may()) base = hp_jemalloc_take(size /= 2);
  if (!base) return false;
  hp_range_release(range);
  range->by_jemalloc = true;
  take_memory(range, base, size);
  return true;
}

static void give_to_jemalloc(hp_range *range) {
  if (!range->by_jemalloc) return;
  HP_UNPOISON(range->base, atomic_load(&range->top));
  hp_jemalloc_give(range->base);
  range->by_jemalloc = false;
}

static bool take_block(hp_range *range) {
  bool open = range->block.open;
  note_touched(range);
  if (!hp_block_open(&range->block, RANGE_BYTES, MIN_RANGE_BYTES)) return false;
  give_to_jemalloc(range);
  if (!open) take_memory(range, range->block.base, range->block.size);
  return true;
}

hpar_status hp_range_open(hp_range *range, size_t length, bool by_jemalloc) {
  if (!(by_jemalloc ? take_from_jemalloc(range, length) : take_block(range))) return HPAR_ERROR_MEMORY;
  hp_range_reset(range);
  if (!by_jemalloc) hp_block_expect(&range->block, length);
  return HPAR_OK;
}

static bool lengthen_range(hp_range *range, size_t size) {
  hp_block *block = &range->block;
  note_touched(range);
  if (range->by_jemalloc || !hp_memory_may() || !extend_block(block, size - range->size, true)) return false;
  if (!block->open) atomic_fetch_add_explicit(&open_blocks, 1, memory_order_relaxed);
  block->open = true;
  set_memory(range, block->base, block->size);
  return true;
}

static bool move_range(hp_range *range, size_t size, hp_former_memory **former) {
  size_t top = atomic_load_explicit(&range->top, memory_order_relaxed);
  hp_former_memory *left = hp_allocate(sizeof *left);
  hp_block made = {0};
  if (!left || !hp_block_open(&made, size, 2 * range->size)) {
    hp_free(left);
    return false;
  }
  HP_UNPOISON(range->base, top);
  hp_range_copy(range, made.base);
  hp_block_trim(&range->block, top);
  *left = (hp_former_memory){*former, range->block, range->by_jemalloc ? range->base : NULL};
  *former = left;
  range->block = made;
  range->by_jemalloc = false;
  set_memory(range, made.base, made.size);
  return true;
}

hpar_status hp_range_grow(hp_range *range, hp_former_memory **former) {
  enum { FACTOR = 4 };
  size_t size = MIN_RANGE_BYTES;
  if (range->size >= RANGE_BYTES) return HPAR_ERROR_MEMORY;
  while (size < RANGE_BYTES && size < FACTOR * range->size) size *= 2;
  if (!lengthen_range(range, size) && !move_range(range, size, former)) return HPAR_ERROR_MEMORY;
  range->limit = range->size;
  hp_range_note_room(range);
  return HPAR_OK;
}

void hp_former_memory_release(hp_former_memory *former) {
  while (former) {
    hp_former_memory *left = former;
    former = left->before;
    if (left->by_jemalloc) hp_jemalloc_give(left->by_jemalloc);
    hp_block_release(&left->block);
    hp_free(left);
  }
}

void hp_range_trim(hp_range *range) {
  if (!range->block.open) return;
  note_touched(range);
  hp_block_trim(&range->block, atomic_load_explicit(&range->top, memory_order_relaxed));
  if (range->block.open) return;
  set_memory(range, range->block.base, range->block.size);
  range->limit = range->size;
}

void hp_range_release(hp_range *range) {
  note_touched(range);
  give_to_jemalloc(range);
  hp_block_release(&range->block);
  range->base = NULL;
  atomic_store_explicit(&range->top, 0, memory_order_relaxed);
}
