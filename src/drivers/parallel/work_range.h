#ifndef HP_DRIVERS_PARALLEL_WORK_RANGE_H
#define HP_DRIVERS_PARALLEL_WORK_RANGE_H

/* Work ranges. Each thread has a range of adjacent small chunks that no thread has claimed. A
 * thread claims chunks from the left end of its range and joins adjacent chunks into one. A thread
 * whose range is empty takes the right part of the range that would last longest: half of it if
 * both threads are equally fast. Therefore the text has few chunk boundaries, and all threads
 * finish at about the same time. The merger has the leftmost range.
 *
 * With many threads, later ranges are longer: the merger reads the first logs while later threads
 * still parse. Another thread takes a part only of what exceeds that (`lag`). */

#include "base/memory.h"

#include <hpar/status.h>
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
  char padding[HP_CACHE_LINE - 2 * sizeof(uint64_t) - 4 * sizeof(uint32_t)];
} hp_work_range;

typedef struct hp_work_ranges {
  hp_work_range *of_thread;
  unsigned threads;  /* in this job */
  uint32_t lag;      /* a range is too long beyond lag / 65536 times its last chunk's number */
  unsigned capacity; /* allocated ranges */
} hp_work_ranges;

/* Allocates one range per thread, and gives all threads the same speed. Returns HPAR_OK or
 * HPAR_ERROR_MEMORY. */
hpar_status hp_work_ranges_open(hp_work_ranges *ranges, unsigned threads);
void hp_work_ranges_close(hp_work_ranges *ranges);

/* Gives a thread the chunks [low, high). Requires: no thread has started. */
void hp_work_range_set(hp_work_ranges *ranges, unsigned thread, uint32_t low, uint32_t high);

/* Claims the next chunk for a thread, from its own range or from another one. Returns 0 if no range
 * has enough chunks. */
uint32_t hp_work_range_claim(hp_work_ranges *ranges, unsigned thread);
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
static inline uint64_t hp_range_word(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

#endif
