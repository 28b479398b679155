#include "drivers/parallel/chunk_queue.h"

#include "base/memory.h"
#include "base/process.h"
#include "base/target.h"

#include <string.h>

enum { WAIT_SPIN_NS = 100000 };

void hp_chunk_queue_reset(hp_chunk_queue *q) {
  q->by_range = q->is_staggered = false;
  q->lazy.text = NULL;
  atomic_store_explicit(&q->rest, hp_packed_range(1, 0), memory_order_relaxed);
  atomic_store_explicit(&q->closed, false, memory_order_relaxed);
  atomic_store_explicit(&q->cancelled, false, memory_order_relaxed);
}

void hp_chunk_queue_close(hp_chunk_queue *q) {
  for (unsigned block = 0; block < HP_CHUNK_BLOCKS; block++) hp_free(q->blocks[block]);
  hp_work_ranges_close(&q->ranges);
}

static size_t block_bytes(unsigned block) { return ((size_t)HP_FIRST_BLOCK << block) * sizeof(hp_chunk); }

static bool allocate_block(hp_chunk_queue *q, unsigned block) {
  if (!q->blocks[block]) q->blocks[block] = hp_allocate_zeroed(block_bytes(block));
  return q->blocks[block];
}

hp_chunk *hp_chunk_queue_append(hp_chunk_queue *q, uint32_t cut, uint32_t limit) {
  uint32_t chunk = hp_published_chunks(q);
  if (!allocate_block(q, hp_chunk_block(chunk))) return NULL;
  hp_chunk *c = hp_chunk_at(q, chunk);
  atomic_store_explicit(&c->unit, HP_UNIT_FREE, memory_order_relaxed);
  atomic_store_explicit(&c->arrived, false, memory_order_relaxed);
  atomic_store_explicit(&c->owner, 0, memory_order_relaxed);
  atomic_store_explicit(&c->first, 0, memory_order_relaxed);
  c->composed = false;
  c->joined = c->composed_end = 0;
  c->cut = cut;
  c->limit = limit;
  c->work = NULL;
  return c;
}

bool hp_chunk_queue_divide(hp_chunk_queue *q, const hp_lazy_cuts *cuts) {
  uint32_t count = hp_lazy_chunks(cuts);
  for (unsigned block = 0; block <= hp_chunk_block(count - 1); block++) {
    if (!allocate_block(q, block)) return false;
    memset(q->blocks[block], 0, block_bytes(block));
  }
  q->lazy = *cuts;
  q->ranges.chunk_size = cuts->distance;
  atomic_store_explicit(&q->known_cut, 0, memory_order_relaxed);
  hp_chunk_queue_place(q, 0);
  atomic_store_explicit(&q->rest, hp_packed_range(1, count), memory_order_relaxed);
  return true;
}

void hp_chunk_queue_publish(hp_chunk_queue *q) { atomic_fetch_add(&q->rest, hp_packed_range(0, 1)); }

/* The chunks before `chunk` are in ranges. */
static void begin_rest_at(hp_chunk_queue *q, uint32_t chunk) {
  atomic_store_explicit(&q->rest, hp_packed_range(chunk, hp_published_chunks(q)), memory_order_relaxed);
}

/* Returns the first chunk from 1 on that begins at or after `place`, or the number of chunks. */
static uint32_t chunk_from(const hp_chunk_queue *q, size_t place) {
  uint32_t published = hp_published_chunks(q), chunk = 1;
  if (q->lazy.text) chunk = (uint32_t)(place / q->lazy.distance) + 1;
  if (q->lazy.text) return chunk < published ? chunk : published;
  while (chunk < published && hp_chunk_at(q, chunk)->cut < place) chunk++;
  return chunk;
}

void hp_chunk_queue_reserve(hp_chunk_queue *q, size_t place) {
  uint32_t end = chunk_from(q, place);
  hp_work_range_set(&q->ranges, 0, 1, end);
  begin_rest_at(q, end);
}

/* Returns the work of the thread in the time in which each other thread does its own. */
static uint64_t work_of(const hp_work_ranges *ranges, unsigned thread) {
  return (uint64_t)hp_relative_throughput(thread) * ranges->of_thread[thread].capacity;
}

static uint64_t work_of_all(const hp_work_ranges *ranges) {
  uint64_t work = 0;
  for (unsigned t = 0; t < ranges->threads; t++) work += work_of(ranges, t);
  return work;
}

/* Returns by how many bytes each range is longer than the previous one. Their parse takes as long
 * as the merge of a log. With fewer threads, the merger needs a small part of the parse only. */
static uint64_t stagger_of(const hp_chunk_queue *q, size_t length) {
  enum { MIN_THREADS = 32, MAX_BYTES = 300 };
  uint64_t threads = q->ranges.threads, most = length / (threads * threads);
  if (threads < MIN_THREADS || !q->lazy.text) return 0;
  return most < MAX_BYTES ? most : MAX_BYTES;
}

void hp_chunk_queue_share(hp_chunk_queue *q, const hp_cost_estimate *work, size_t length) {
  hp_work_ranges *ranges = &q->ranges;
  uint64_t stagger = stagger_of(q, length), threads = ranges->threads;
  q->is_staggered = stagger;
  uint64_t whole = work_of_all(ranges), merger = work_of(ranges, 0), part = 0;
  uint32_t published = hp_published_chunks(q), low = 1, first = chunk_from(q, (size_t)(length * merger / whole));
  for (unsigned t = 0; t < threads; t++) {
    part += work_of(ranges, t); /* of the threads up to this one */
    uint32_t high = t + 1 == threads ? published
                    : work           ? chunk_from(q, hp_cost_place(work, part, whole))
                                     : first + (uint32_t)((published - first) * (part - merger) / (whole - merger));
    uint32_t shift = stagger ? (uint32_t)(stagger * (t + 1) * (threads - t - 1) / 2 / q->lazy.distance) : 0;
    high = high > shift ? high - shift : 0;
    if (high < low) high = low;
    hp_work_range_set(ranges, t, low, high);
    low = high;
  }
  begin_rest_at(q, published);
}

void hp_chunk_queue_give_all(hp_chunk_queue *q) {
  uint32_t published = hp_published_chunks(q);
  hp_work_range_set(&q->ranges, 0, 1, published);
  hp_work_range_set(&q->ranges, 1, published, published);
  begin_rest_at(q, published);
}

/* Returns the place where the chunk begins, by a lazy cut. A long script has no cut. One search
 * then serves the claims of all chunks that begin in it. */
static uint32_t find_lazy_cut(hp_chunk_queue *q, uint32_t chunk) {
  uint64_t known = atomic_load_explicit(&q->known_cut, memory_order_relaxed);
  uint32_t first = (uint32_t)known, cut = (uint32_t)(known >> 32);
  if (cut && chunk >= first && chunk * q->lazy.distance <= cut) return cut;
  cut = hp_lazy_cut(&q->lazy, chunk);
  if (cut >= (chunk + 1) * q->lazy.distance)
    atomic_store_explicit(&q->known_cut, hp_packed_range(chunk, cut), memory_order_relaxed);
  return cut;
}

/* Returns the end of the lazily cut chunk, which begins at `begin`. */
static uint32_t find_lazy_end(hp_chunk_queue *q, uint32_t chunk, uint32_t begin) {
  return begin >= (chunk + 1) * q->lazy.distance ? begin : find_lazy_cut(q, chunk + 1);
}

uint32_t hp_chunk_queue_cut(hp_chunk_queue *q, uint32_t chunk) {
  return q->lazy.text ? find_lazy_cut(q, chunk) : hp_chunk_at(q, chunk)->cut;
}

void hp_chunk_queue_place(hp_chunk_queue *q, uint32_t chunk) {
  if (!q->lazy.text) return;
  hp_chunk *c = hp_chunk_at(q, chunk);
  c->cut = find_lazy_cut(q, chunk);
  c->limit = find_lazy_end(q, chunk, c->cut);
}

/* Returns the chunk after placing it, if it is one. */
static uint32_t place_claimed(hp_chunk_queue *q, uint32_t chunk) {
  if (chunk) hp_chunk_queue_place(q, chunk);
  return chunk;
}

uint32_t hp_chunk_queue_claim(hp_chunk_queue *q, unsigned thread) {
  hp_turn();
  if (q->by_range) return place_claimed(q, hp_work_range_claim(&q->ranges, thread, hp_now()));
  uint32_t chunk = hp_claim_first_chunk(&q->rest);
  return chunk ? chunk : hp_work_range_claim_last(&q->ranges, 0);
}

uint32_t hp_chunk_queue_take_part(hp_chunk_queue *q, const hp_cost_estimate *work) {
  hp_turn();
  const hp_work_ranges *ranges = &q->ranges;
  uint32_t claimed = hp_work_range_begin(ranges, 0);
  uint32_t parsed = claimed > HP_CLAIM_BEFORE_PARTS ? claimed - HP_CLAIM_BEFORE_PARTS : 0;
  uint64_t before = parsed ? hp_cost_until(work, hp_chunk_queue_cut(q, parsed)) : 0;
  uint64_t whole = hp_cost_until(work, work->length);
  if (!whole) return 0;
  uint64_t until = before + (whole - before) * work_of(ranges, 0) / work_of_all(ranges);
  uint32_t chunk = chunk_from(q, hp_cost_place(work, until, whole));
  return hp_work_range_take(&q->ranges, 0, chunk, 1) ? place_claimed(q, chunk) : 0;
}

bool hp_chunk_queue_claim_chunk(hp_chunk_queue *q, uint32_t chunk) {
  hp_turn();
  if (!hp_work_range_claim_chunk(&q->ranges, chunk) && !hp_claim_chunks(&q->rest, chunk, 1)) return false;
  hp_chunk_queue_place(q, chunk);
  return true;
}

void hp_chunk_queue_join(hp_chunk_queue *q, uint32_t chunk, uint32_t count) {
  hp_chunk *c = hp_chunk_at(q, chunk);
  uint32_t last = chunk + (c->joined += count);
  c->limit = q->lazy.text ? find_lazy_end(q, last, c->limit) : hp_chunk_at(q, last)->limit;
  if (c->work) c->work->limit = c->limit;
}

bool hp_chunk_queue_extend(hp_chunk_queue *q, unsigned thread, uint32_t chunk, uint32_t most) {
  hp_turn();
  uint32_t next = chunk + hp_chunk_span(hp_chunk_at(q, chunk));
  hp_work_range_reach(&q->ranges, thread, next, hp_now());
  uint32_t count = hp_is_cancelled(q) ? 0 : hp_work_range_extend(&q->ranges, thread, next, most);
  if (count) hp_chunk_queue_join(q, chunk, count);
  return count;
}

void hp_chunk_queue_finish(hp_chunk_queue *q, uint32_t chunk) {
  hp_chunk *c = hp_chunk_at(q, chunk), *last = hp_chunk_at(q, chunk + c->joined);
  hp_unit_publish(&c->unit);
  atomic_store_explicit(&last->first, chunk, memory_order_release);
}

bool hp_chunk_queue_hold(hp_chunk_queue *q, uint32_t chunk, unsigned thread) {
  hp_turn();
  return hp_unit_hold(&hp_chunk_at(q, chunk)->unit, thread);
}

uint32_t hp_chunk_queue_reach(hp_chunk_queue *q, unsigned thread, uint32_t chunk) {
  const hp_lazy_cuts *lazy = &q->lazy;
  const hp_chunk *c = hp_chunk_at(q, chunk);
  uint32_t limit = c->limit;
  if (!q->by_range) return limit;
  uint32_t end = hp_work_range_limit(&q->ranges, thread, chunk + c->joined);
  if (!lazy->text) return hp_chunk_at(q, end - 1)->limit;
  size_t reach = end * lazy->distance < lazy->length ? end * lazy->distance : lazy->length;
  return reach < limit ? limit : (uint32_t)reach;
}

bool hp_chunk_queue_is_finished(hp_chunk_queue *q) {
  return atomic_load(&q->closed) && !hp_chunks_in(atomic_load(&q->rest));
}

static bool may_go_on(void *context) {
  hp_chunk_queue *q = context;
  return hp_chunks_in(atomic_load(&q->rest)) || atomic_load(&q->closed) || atomic_load(&q->cancelled);
}

void hp_chunk_queue_wait(hp_chunk_queue *q) { hp_event_count_wait(&q->wake, WAIT_SPIN_NS, may_go_on, q); }
