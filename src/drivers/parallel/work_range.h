#ifndef HP_DRIVERS_PARALLEL_WORK_RANGE_H
#define HP_DRIVERS_PARALLEL_WORK_RANGE_H

/* Work ranges. Each thread has a range of adjacent small chunks that no thread has claimed. A
 * thread claims chunks from the left end of its range and joins adjacent chunks into one. A thread
 * whose range is empty takes the right part of another range. Therefore the text has few chunk
 * boundaries, and all threads finish at about the same time. The merger has the leftmost range.
 *
 * The bytes of a text cost unequal time. Each thread therefore notes when it comes to a chunk. A
 * thief predicts when each range ends. It takes a part of the range for which both threads then
 * finish earliest, compared with the owner alone. Times are in nanoseconds of one clock, which the
 * caller reads. Wrong predictions cost time only. */

#include "base/memory.h"

#include <hpar/node.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The speed of the fastest thread. */
enum { HP_FULL_SPEED = 1024 };

typedef struct hp_work_range {
  _Atomic uint64_t word; /* chunks [low half, high half); empty where low >= high */
  uint32_t capacity;     /* the speed of the thread by its processor, at least 1: sizes the range */
  uint32_t speed;        /* the same, but measured if possible: sizes parts that are taken */
  uint32_t measured;     /* work of the thread in 1024 ns, mean over earlier jobs */
  uint32_t jobs;         /* that count in `measured` */
  uint64_t work;         /* of the thread in the last job */
  /* Where the thread was at a time. The fields are read singly: a wrong pair misleads a thief. */
  _Atomic uint64_t at_time;
  _Atomic uint32_t at_chunk;   /* 0: not known */
  _Atomic uint32_t chunk_time; /* the latest time for a chunk; 0: not known */
  char padding[HP_CACHE_LINE - 3 * sizeof(uint64_t) - 6 * sizeof(uint32_t)];
} hp_work_range;

typedef struct hp_work_ranges {
  hp_work_range *of_thread;
  unsigned threads;  /* in this job */
  unsigned capacity; /* allocated ranges */
  size_t chunk_size; /* mean bytes of a chunk */
} hp_work_ranges;

/* Allocates one range per thread, and gives all threads the same speed. Returns HPAR_OK or
 * HPAR_ERROR_MEMORY. */
hpar_status hp_work_ranges_open(hp_work_ranges *ranges, unsigned threads);
void hp_work_ranges_close(hp_work_ranges *ranges);

/* Gives a thread the chunks [low, high). Requires: no thread has started. */
void hp_work_range_set(hp_work_ranges *ranges, unsigned thread, uint32_t low, uint32_t high);

/* Claims the next chunk for a thread, from its own range or from another one. Returns 0 if the job
 * would not end earlier. */
uint32_t hp_work_range_claim(hp_work_ranges *ranges, unsigned thread, uint64_t now);
/* Notes that the thread has come to the chunk. */
void hp_work_range_reach(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint64_t now);
/* Returns the first chunk of the thread's range. */
uint32_t hp_work_range_begin(const hp_work_ranges *ranges, unsigned thread);
/* Takes the chunks from this one on from the range of `from`, and claims this one for `thread`,
 * whose range is empty. Returns false if the chunk is the first one of that range, or outside. */
bool hp_work_range_take(hp_work_ranges *ranges, unsigned from, uint32_t chunk, unsigned thread);
/* Claims this chunk if it is the first one of any range. Returns whether the caller has it now. */
bool hp_work_range_claim_chunk(hp_work_ranges *ranges, uint32_t chunk);
/* Claims chunks from this one on if it is the first one of the thread's own range: a part of the
 * range, at most `most`. Returns their number, or 0. */
uint32_t hp_work_range_extend(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint32_t most);
/* Returns the chunk before which the thread must stop, if no other thread takes part of its range.
 * Requires: the thread has just claimed `chunk`. */
uint32_t hp_work_range_limit(hp_work_ranges *ranges, unsigned thread, uint32_t chunk);

/* Returns the word of the range [low, high). */
static inline uint64_t hp_packed_range(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

#endif
