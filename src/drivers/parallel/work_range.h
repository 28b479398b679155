#ifndef HP_DRIVERS_PARALLEL_WORK_RANGE_H
#define HP_DRIVERS_PARALLEL_WORK_RANGE_H

/* Work ranges. Each thread has a range of adjacent small chunks that no thread has claimed. A
 * thread claims chunks from the left end of its range and joins adjacent chunks into one. A thread
 * whose range is empty takes the right half of the largest range. Therefore the text has few chunk
 * boundaries, and all threads finish at about the same time. The merger has the leftmost range. */

#include <hpar/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HP_CACHE_LINE = 64 };

/* [low half, high half) of the word; empty where low >= high. */
typedef struct hp_work_range {
  _Atomic uint64_t word;
  char padding[HP_CACHE_LINE - sizeof(uint64_t)];
} hp_work_range;

typedef struct hp_work_ranges {
  hp_work_range *of_thread;
  unsigned threads;  /* in this job */
  unsigned capacity; /* allocated ranges */
} hp_work_ranges;

/* Allocates one range per thread. Returns HPAR_OK or HPAR_ERROR_MEMORY. */
hpar_status hp_work_ranges_open(hp_work_ranges *ranges, unsigned threads);
void hp_work_ranges_close(hp_work_ranges *ranges);

/* Gives a thread the chunks [low, high). Requires: no thread has started. */
void hp_work_range_set(hp_work_ranges *ranges, unsigned thread, uint32_t low, uint32_t high);

/* Claims the next chunk for a thread, from its own range or from another one. Returns 0 if no range
 * has enough chunks. */
uint32_t hp_work_range_claim(hp_work_ranges *ranges, unsigned thread);
/* Claims this chunk if it is the first one of any range. Returns whether the caller has it now. */
bool hp_work_range_claim_chunk(hp_work_ranges *ranges, uint32_t chunk);
/* Claims chunks from this one on if it is the first one of the thread's own range: a part of the
 * range, at most `most`. Returns their number, or 0. */
uint32_t hp_work_range_extend(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint32_t most);
/* Returns the chunk before which the thread must stop, if no other thread takes part of its range.
 * Requires: the thread has just claimed `chunk`. */
uint32_t hp_work_range_limit(hp_work_ranges *ranges, unsigned thread, uint32_t chunk);

/* Returns the word of the range [low, high). */
static inline uint64_t hp_range_word(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

#endif
