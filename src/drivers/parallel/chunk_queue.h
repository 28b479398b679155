#ifndef HP_DRIVERS_PARALLEL_CHUNK_QUEUE_H
#define HP_DRIVERS_PARALLEL_CHUNK_QUEUE_H

/* The chunk queue holds the chunks of one job in the order of the text. The driver's thread appends
 * chunks, or it divides the text evenly: then each thread finds the cuts of the chunks that it
 * claims. Chunk 0 belongs to the merger and is never in the queue.
 *
 * Small chunks are divided into the work ranges of the threads. Otherwise, all threads claim chunks
 * of the rest in their order, and only the merger has a range, the first chunks. It claims them
 * from the left. Other threads claim them from the right when there is no rest. */

#include "base/memory.h"
#include "base/target.h"
#include "platform/event_count.h"
#include "runtime/units.h"
#include "speculation/cut.h"
#include "speculation/worker.h"

#include <hpar/node.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*** work_range.c ***/

/* Work ranges. Each thread has a range of adjacent small chunks that no thread has claimed. A
 * thread claims chunks from the left end of its range and joins adjacent chunks into one. A thread
 * whose range is empty takes the right part of another range. Therefore the text has few chunk
 * boundaries, and all threads finish at about the same time. The merger has the leftmost range.
 *
 * The bytes of a text cost unequal time. Each thread therefore notes when it comes to a chunk. A
 * thief predicts when each range ends. It takes a part of the range for which both threads then
 * finish earliest, compared with the owner alone. Times are in nanoseconds of one clock, which the
 * caller reads. Wrong predictions cost time only. */

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
uint32_t hp_work_range_begin(const hp_work_ranges *ranges, unsigned thread);
/* Takes the chunks from this one on from the range of `from`, and claims this one for `thread`,
 * whose range is empty. Returns false if the chunk is the first one of that range, or outside. */
bool hp_work_range_take(hp_work_ranges *ranges, unsigned from, uint32_t chunk, unsigned thread);
/* Claims the last chunk of a thread's range for any thread. Returns 0 if the range is empty. */
uint32_t hp_work_range_claim_last(hp_work_ranges *ranges, unsigned thread);
/* Claims this chunk if it is the first one of any range. Returns whether the caller has it now. */
bool hp_work_range_claim_chunk(hp_work_ranges *ranges, uint32_t chunk);
/* Claims chunks from this one on if it is the first one of the thread's own range: a part of the
 * range, at most `most`. Returns their number, or 0. */
uint32_t hp_work_range_extend(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint32_t most);
/* Returns the chunk before which the thread must stop, if no other thread takes part of its range.
 * Requires: the thread has just claimed `chunk`. */
uint32_t hp_work_range_limit(hp_work_ranges *ranges, unsigned thread, uint32_t chunk);

static inline uint64_t hp_packed_range(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
static inline uint32_t hp_low_chunk(uint64_t word) { return (uint32_t)word; }
static inline uint32_t hp_high_chunk(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint32_t hp_chunks_in(uint64_t word) {
  return hp_high_chunk(word) > hp_low_chunk(word) ? hp_high_chunk(word) - hp_low_chunk(word) : 0;
}
/* Claims `count` chunks from this one on if it is the first one of the range. Returns whether it
 * has: the range may have fewer. */
bool hp_claim_chunks(_Atomic uint64_t *range, uint32_t chunk, uint32_t count);
/* Claims the first chunk of the range. Returns 0 if the range is empty. */
uint32_t hp_claim_first_chunk(_Atomic uint64_t *range);

/*** the queue ***/

enum { HP_CHUNK_BLOCKS = 28, HP_FIRST_BLOCK = 16 };

/* A worker publishes its result by `unit`. Before that, only this worker accesses the
 * chunk. A chunk may stand for several adjacent chunks that a thread has joined. Zeros are a chunk
 * of evenly divided text that no thread has claimed. */
typedef struct hp_chunk {
  _Atomic bool arrived;   /* with another order of merging */
  bool composed;          /* the log before it was composed with its log */
  _Atomic uint16_t owner; /* number of the parsing thread + 1; 0: none, or the chunk is joined */
  hp_unit_state unit;     /* who composes or merges the log holds it */
  uint32_t joined;        /* number of further chunks that it stands for */
  uint32_t composed_end;  /* its log contains those of the chunks before this one; 0: none */
  uint32_t cut, limit;    /* bytes [cut, limit) of the text, of all joined chunks */
  _Atomic uint32_t first; /* the finished chunk whose last joined chunk this is; 0: none */
  hp_chunk_result *work;  /* NULL: no worker has started, or out of memory */
} hp_chunk;

/* The most chunks that the merger claims at once before the other thread has taken its part. */
enum { HP_CLAIM_BEFORE_PARTS = 2 };

/* Zeros are a queue without memory. */
typedef struct hp_chunk_queue {
  hp_chunk *blocks[HP_CHUNK_BLOCKS]; /* block k has HP_FIRST_BLOCK << k chunks, which never move */
  hp_work_ranges ranges;
  bool by_range;     /* threads claim from the work ranges */
  bool is_staggered; /* later ranges are longer: the merger reads the first logs meanwhile */
  hp_lazy_cuts lazy; /* the text is NULL: each chunk has its cut and its limit */
  /* hp_packed_range(i, cut): no cut is between lazily cut chunk i and `cut`. 0: none known. */
  _Atomic uint64_t known_cut;
  char padding_1[HP_CACHE_LINE];
  /* hp_packed_range of the chunks that are in no range and that no thread has claimed. The high
   * half is the number of all published chunks, with chunk 0. */
  _Atomic uint64_t rest;
  char padding_2[HP_CACHE_LINE];
  _Atomic bool closed; /* the driver publishes no more chunks */
  _Atomic bool cancelled;
  hp_event_count wake;
} hp_chunk_queue;

/* Empties the queue for the next job. Keeps its memory. */
void hp_chunk_queue_reset(hp_chunk_queue *queue);
void hp_chunk_queue_close(hp_chunk_queue *queue);

/* Returns a new last chunk [cut, limit) that is not published yet, or NULL if memory is short. */
hp_chunk *hp_chunk_queue_append(hp_chunk_queue *queue, uint32_t cut, uint32_t limit);
/* Publishes the chunks of a text, and finds the limit of chunk 0. Returns false if memory is short.
 * Requires: the queue is empty. */
bool hp_chunk_queue_divide(hp_chunk_queue *queue, const hp_lazy_cuts *cuts);
void hp_chunk_queue_publish(hp_chunk_queue *queue);
/* Reserves the chunks from 1 on that begin before `end` for the merger. Requires: all chunks are
 * published, and the queue is not by range. */
void hp_chunk_queue_reserve(hp_chunk_queue *queue, size_t end);
/* Divides all chunks from 1 on among the threads, by the work in them and by the speeds of the
 * threads. The merger gets the first ones. Without `work`, the first `length` bytes of the text
 * count instead: 0, if the merger gets none. Requires: all chunks are published, and the queue is
 * by range. */
void hp_chunk_queue_share(hp_chunk_queue *queue, const hp_cost_estimate *work, size_t length);
/* Gives all chunks from 1 on to the merger, until the other one of two threads takes its part.
 * Requires: as above. */
void hp_chunk_queue_give_all(hp_chunk_queue *queue);
/* Takes the part of the merger's range that the other one of two threads parses in the time in
 * which the merger parses the rest. Claims the first chunk of it. Returns 0 if the merger has
 * claimed too much. */
uint32_t hp_chunk_queue_take_part(hp_chunk_queue *queue, const hp_cost_estimate *work);

/* Claims a chunk for the thread. Returns 0 if no chunk is left for it. */
uint32_t hp_chunk_queue_claim(hp_chunk_queue *queue, unsigned thread);
/* Claims this chunk. Returns false if another thread has claimed it. */
bool hp_chunk_queue_claim_chunk(hp_chunk_queue *queue, uint32_t chunk);
/* Claims chunks after `chunk`, which the thread has, and joins all: a part of its range, at most
 * `most`. Returns false if that is impossible. */
bool hp_chunk_queue_extend(hp_chunk_queue *queue, unsigned thread, uint32_t chunk, uint32_t most);
/* Joins the next `count` chunks to `chunk`. Requires: the caller has all of them. */
void hp_chunk_queue_join(hp_chunk_queue *queue, uint32_t chunk, uint32_t count);
/* Returns the end of the text that the thread parses if no other thread takes a part. Requires: the
 * thread has just claimed `chunk`. */
uint32_t hp_chunk_queue_reach(hp_chunk_queue *queue, unsigned thread, uint32_t chunk);
void hp_chunk_queue_finish(hp_chunk_queue *queue, uint32_t chunk);
/* Lets the thread alone use the result of a finished chunk, until it releases the unit. Returns
 * false if the chunk is not finished or another thread uses its result. */
bool hp_chunk_queue_hold(hp_chunk_queue *queue, uint32_t chunk, unsigned thread);
/* Returns the beginning of a chunk, which no thread has to have claimed. Any thread may call it. */
uint32_t hp_chunk_queue_cut(hp_chunk_queue *queue, uint32_t chunk);
/* Finds the cut and the limit of a chunk of divided text. */
HP_SHARED void hp_chunk_queue_place(hp_chunk_queue *queue, uint32_t chunk);

/* Returns whether the queue is closed and has no rest. */
bool hp_chunk_queue_is_finished(hp_chunk_queue *queue);
/* Waits until the queue has a rest, is closed or is cancelled. */
void hp_chunk_queue_wait(hp_chunk_queue *queue);
static inline void hp_chunk_queue_wake(hp_chunk_queue *queue) { hp_event_count_wake(&queue->wake); }

static inline uint32_t hp_published_chunks(const hp_chunk_queue *queue) {
  return hp_high_chunk(atomic_load_explicit(&queue->rest, memory_order_acquire));
}
/* Returns the number of published chunks that are not in the rest. */
static inline uint32_t hp_chunks_before_rest(const hp_chunk_queue *queue) {
  return hp_low_chunk(atomic_load_explicit(&queue->rest, memory_order_relaxed));
}

static inline bool hp_is_cancelled(const hp_chunk_queue *queue) {
  return atomic_load_explicit(&queue->cancelled, memory_order_relaxed);
}

/* Returns the number of chunks that this one stands for, with itself. */
static inline uint32_t hp_chunk_span(const hp_chunk *chunk) { return chunk->joined + 1; }

static inline unsigned hp_chunk_block(uint32_t chunk) {
  return 31u - (unsigned)__builtin_clz(chunk + HP_FIRST_BLOCK) - (unsigned)__builtin_ctz(HP_FIRST_BLOCK);
}

static inline hp_chunk *hp_chunk_at(const hp_chunk_queue *queue, uint32_t chunk) {
  unsigned block = hp_chunk_block(chunk);
  return &queue->blocks[block][chunk + HP_FIRST_BLOCK - ((uint32_t)HP_FIRST_BLOCK << block)];
}

/* Returns the finished chunk that ends where `chunk` begins, or 0. Requires: chunk > 0. */
static inline uint32_t hp_chunk_before(const hp_chunk_queue *queue, uint32_t chunk) {
  return atomic_load_explicit(&hp_chunk_at(queue, chunk - 1)->first, memory_order_acquire);
}

/* Returns whether the chunk is finished and no thread uses its result. */
static inline bool hp_chunk_is_free(const hp_chunk *chunk) { return hp_unit_is_published(&chunk->unit); }

/* Returns whether a finished chunk has no text and therefore no result. */
static inline bool hp_chunk_is_empty(const hp_chunk_queue *queue, const hp_chunk *chunk) {
  return queue->lazy.text && chunk->cut == chunk->limit && hp_unit_is_complete(&chunk->unit);
}

#endif
