#ifndef HP_DRIVERS_PARALLEL_CHUNK_QUEUE_H
#define HP_DRIVERS_PARALLEL_CHUNK_QUEUE_H

/* The chunk queue holds the chunks of one job in the order of the text. The driver's thread appends
 * chunks, or it divides the text evenly: then each thread finds the cuts of the chunks that it
 * claims. Chunk 0 belongs to the merger and is never in the queue. A thread
 * claims a chunk from one of these:
 *   - the head of the queue,
 *   - the reserved range, which the merger claims from the left and other threads, when they have
 *     no other chunk, claim from the right,
 *   - the work ranges (work_range.h), if the chunks are small. */

#include "base/target.h"
#include "drivers/parallel/work_range.h"
#include "runtime/units.h"
#include "speculation/cut.h"
#include "speculation/worker.h"

#include <pthread.h>

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
  hp_chunk_work *work;    /* NULL: no worker has started, or out of memory */
} hp_chunk;

/* The most chunks that the merger claims at once before the other thread has taken its part. */
enum { HP_CLAIM_BEFORE_PARTS = 2 };

/* Zeros are a queue without memory. */
typedef struct hp_chunk_queue {
  hp_chunk *blocks[HP_CHUNK_BLOCKS]; /* block k has HP_FIRST_BLOCK << k chunks, which never move */
  hp_work_ranges ranges;
  bool by_range;     /* threads claim from the work ranges */
  bool is_staggered; /* later ranges are longer: the merger reads the first logs meanwhile */
  hp_even_cuts even; /* the text is NULL: each chunk has its cut and its limit */
  bool has_lock;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  /* hp_packed_range(i, cut): no cut is between even chunk i and `cut`. 0: none known. */
  _Atomic uint64_t known_cut;
  char padding_1[HP_CACHE_LINE];
  _Atomic uint32_t head;     /* first chunk that no thread has claimed, except reserved ones */
  _Atomic uint64_t reserved; /* hp_packed_range of it */
  char padding_2[HP_CACHE_LINE];
  _Atomic uint32_t published; /* number of chunks, with chunk 0 */
  _Atomic bool closed;        /* the driver publishes no more chunks */
  _Atomic bool cancelled;
  _Atomic unsigned sleepers;
} hp_chunk_queue;

/* Empties the queue for the next job. Keeps its memory. */
void hp_chunk_queue_reset(hp_chunk_queue *queue);
/* Forgets the lock and the sleepers, which lost threads may have used. */
void hp_chunk_queue_forget(hp_chunk_queue *queue);
void hp_chunk_queue_close(hp_chunk_queue *queue);

/* Returns a new last chunk [cut, limit) that is not published yet, or NULL if memory is short. */
hp_chunk *hp_chunk_queue_append(hp_chunk_queue *queue, uint32_t cut, uint32_t limit);
/* Publishes the chunks of a text, and finds the limit of chunk 0. Returns false if memory is short.
 * Requires: the queue is empty. */
bool hp_chunk_queue_divide(hp_chunk_queue *queue, const hp_even_cuts *cuts);
/* Publishes the appended chunk. */
void hp_chunk_queue_publish(hp_chunk_queue *queue);
/* Reserves the chunks from 1 on that begin before `end` for the merger. Requires: all chunks are
 * published. */
void hp_chunk_queue_reserve(hp_chunk_queue *queue, size_t end);
/* Divides all chunks from 1 on among the threads, by the work in them and by the speeds of the
 * threads. The merger gets the first ones. Without `work`, the first `length` bytes of the text
 * count instead: 0, if the merger gets none. Requires: all chunks are published, and the queue is
 * by range. */
void hp_chunk_queue_share(hp_chunk_queue *queue, const hp_work_estimate *work, size_t length);
/* Gives all chunks from 1 on to the merger, until the other one of two threads takes its part.
 * Requires: as above. */
void hp_chunk_queue_give_all(hp_chunk_queue *queue);
/* Takes the part of the merger's range that the other one of two threads parses in the time in
 * which the merger parses the rest. Claims the first chunk of it. Returns 0 if the merger has
 * claimed too much. */
uint32_t hp_chunk_queue_take_part(hp_chunk_queue *queue, const hp_work_estimate *work);

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
/* Publishes the result of a chunk. */
void hp_chunk_queue_finish(hp_chunk_queue *queue, uint32_t chunk);
/* Lets the thread alone use the result of a finished chunk. Returns false if the chunk is not
 * finished or another thread uses its result. */
bool hp_chunk_queue_hold(hp_chunk_queue *queue, uint32_t chunk, unsigned thread);
/* Ends the use of the result. */
void hp_chunk_queue_release(hp_chunk_queue *queue, uint32_t chunk);
/* Returns the beginning of a chunk, which no thread has to have claimed. Any thread may call it. */
uint32_t hp_chunk_queue_cut(hp_chunk_queue *queue, uint32_t chunk);
/* Finds the cut and the limit of a chunk of divided text. */
HP_SHARED void hp_chunk_queue_place(hp_chunk_queue *queue, uint32_t chunk);

/* Returns whether no thread will find a further chunk at the head. */
bool hp_chunk_queue_is_finished(hp_chunk_queue *queue);
/* Waits until the queue has a chunk at its head, is closed or is cancelled. */
void hp_chunk_queue_wait(hp_chunk_queue *queue);
/* Wakes waiting threads after a change. */
void hp_chunk_queue_wake(hp_chunk_queue *queue);

static inline uint32_t hp_published_chunks(const hp_chunk_queue *queue) {
  return atomic_load_explicit(&queue->published, memory_order_relaxed);
}

static inline bool hp_is_cancelled(const hp_chunk_queue *queue) {
  return atomic_load_explicit(&queue->cancelled, memory_order_relaxed);
}

/* Returns the number of chunks that this one stands for, with itself. */
static inline uint32_t hp_chunk_span(const hp_chunk *chunk) { return chunk->joined + 1; }

/* Returns the block that holds the chunk. */
static inline unsigned hp_chunk_block(uint32_t chunk) {
  return 31u - (unsigned)__builtin_clz(chunk + HP_FIRST_BLOCK) - (unsigned)__builtin_ctz(HP_FIRST_BLOCK);
}

static inline hp_chunk *hp_chunk_at(const hp_chunk_queue *queue, uint32_t chunk) {
  unsigned block = hp_chunk_block(chunk);
  return &queue->blocks[block][chunk + HP_FIRST_BLOCK - ((uint32_t)HP_FIRST_BLOCK << block)];
}

/* Returns the finished chunk that ends where `chunk` begins, or 0. */
static inline uint32_t hp_chunk_before(const hp_chunk_queue *queue, uint32_t chunk) {
  return chunk ? atomic_load_explicit(&hp_chunk_at(queue, chunk - 1)->first, memory_order_acquire) : 0;
}

/* Returns whether the chunk is finished and no thread uses its result. */
static inline bool hp_chunk_is_free(const hp_chunk *chunk) { return hp_unit_is_published(&chunk->unit); }

/* Returns whether a finished chunk has no text and therefore no result. */
static inline bool hp_chunk_is_empty(const hp_chunk_queue *queue, const hp_chunk *chunk) {
  return queue->even.text && chunk->cut == chunk->limit && hp_unit_is_complete(&chunk->unit);
}

#endif
