#include "drivers/parallel/chunk_queue.h"

#include "base/memory.h"
#include "platform/pool.h"

enum { WAIT_SPIN_NS = 100000 };

void hp_chunk_queue_reset(hp_chunk_queue *q) {
  if (!q->has_lock) {
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->wake, NULL);
    q->has_lock = true;
  }
  q->by_range = false;
  atomic_store_explicit(&q->head, 1, memory_order_relaxed);
  atomic_store_explicit(&q->reserved, 0, memory_order_relaxed);
  atomic_store_explicit(&q->published, 0, memory_order_relaxed);
  atomic_store_explicit(&q->closed, false, memory_order_relaxed);
  atomic_store_explicit(&q->cancelled, false, memory_order_relaxed);
}

void hp_chunk_queue_forget(hp_chunk_queue *q) {
  q->has_lock = false;
  atomic_store(&q->sleepers, 0);
}

void hp_chunk_queue_close(hp_chunk_queue *q) {
  for (unsigned block = 0; block < HP_CHUNK_BLOCKS; block++) hp_free(q->blocks[block]);
  hp_work_ranges_close(&q->ranges);
  if (!q->has_lock) return;
  pthread_cond_destroy(&q->wake);
  pthread_mutex_destroy(&q->lock);
}

hp_chunk *hp_chunk_queue_append(hp_chunk_queue *q, uint32_t cut, uint32_t limit) {
  uint32_t chunk = hp_published_chunks(q);
  unsigned block = hp_chunk_block(chunk);
  if (!q->blocks[block]) {
    q->blocks[block] = hp_allocate_zeroed(((size_t)HP_FIRST_BLOCK << block) * sizeof(hp_chunk));
    if (!q->blocks[block]) return NULL;
  }
  hp_chunk *c = hp_chunk_at(q, chunk);
  atomic_store_explicit(&c->done, false, memory_order_relaxed);
  atomic_store_explicit(&c->arrived, false, memory_order_relaxed);
  atomic_store_explicit(&c->owner, 0, memory_order_relaxed);
  c->composed = false;
  c->span = 1;
  c->cut = cut;
  c->limit = limit;
  c->work = NULL;
  return c;
}

void hp_chunk_queue_publish(hp_chunk_queue *q) { atomic_fetch_add(&q->published, 1); }

void hp_chunk_queue_reserve(hp_chunk_queue *q, uint32_t end) {
  uint32_t published = hp_published_chunks(q);
  atomic_store_explicit(&q->reserved, hp_range_word(1, end), memory_order_relaxed);
  atomic_store_explicit(&q->head, q->by_range ? published : end, memory_order_relaxed);
  if (q->by_range) hp_work_ranges_divide(&q->ranges, end, published);
}

/* Claims the last reserved chunk. Returns 0 if the reserved range is empty. */
static uint32_t claim_last_reserved(hp_chunk_queue *q) {
  uint64_t reserved = atomic_load_explicit(&q->reserved, memory_order_relaxed);
  uint32_t low, high;
  do {
    low = (uint32_t)reserved;
    high = (uint32_t)(reserved >> 32);
    if (low >= high) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&q->reserved, &reserved, hp_range_word(low, high - 1),
                                                  memory_order_relaxed, memory_order_relaxed));
  return high - 1;
}

uint32_t hp_chunk_queue_claim(hp_chunk_queue *q, unsigned thread) {
  if (q->by_range) return hp_work_range_claim(&q->ranges, thread);
  uint32_t chunk = atomic_load_explicit(&q->head, memory_order_relaxed);
  do {
    if (chunk >= atomic_load_explicit(&q->published, memory_order_acquire)) return claim_last_reserved(q);
  } while (
      !atomic_compare_exchange_weak_explicit(&q->head, &chunk, chunk + 1, memory_order_relaxed, memory_order_relaxed));
  return chunk;
}

bool hp_chunk_queue_claim_chunk(hp_chunk_queue *q, uint32_t chunk) {
  if (q->by_range) return hp_work_range_claim_chunk(&q->ranges, chunk);
  uint64_t reserved = atomic_load_explicit(&q->reserved, memory_order_relaxed);
  while ((uint32_t)reserved == chunk && chunk < (uint32_t)(reserved >> 32))
    if (atomic_compare_exchange_weak_explicit(&q->reserved, &reserved,
                                              hp_range_word(chunk + 1, (uint32_t)(reserved >> 32)),
                                              memory_order_relaxed, memory_order_relaxed))
      return true;
  return atomic_compare_exchange_strong_explicit(&q->head, &chunk, chunk + 1, memory_order_relaxed,
                                                 memory_order_relaxed);
}

void hp_chunk_queue_join(hp_chunk_queue *q, uint32_t chunk, uint32_t span) {
  hp_chunk *c = hp_chunk_at(q, chunk);
  c->span = span;
  c->limit = hp_chunk_at(q, chunk + span - 1)->limit;
  if (c->work) c->work->limit = c->limit;
}

bool hp_chunk_queue_extend(hp_chunk_queue *q, unsigned thread, uint32_t chunk) {
  uint32_t span = hp_chunk_at(q, chunk)->span;
  if (hp_is_cancelled(q) || !hp_work_range_extend(&q->ranges, thread, chunk + span)) return false;
  hp_chunk_queue_join(q, chunk, span + 1);
  return true;
}

bool hp_chunk_queue_is_finished(hp_chunk_queue *q) {
  return atomic_load(&q->closed) && atomic_load(&q->head) >= atomic_load(&q->published);
}

static bool must_wait(hp_chunk_queue *q) {
  return atomic_load(&q->head) >= atomic_load(&q->published) && !atomic_load(&q->closed) && !atomic_load(&q->cancelled);
}

void hp_chunk_queue_wait(hp_chunk_queue *q) {
  hp_spin spin = {0};
  while (hp_spin_on(&spin, WAIT_SPIN_NS))
    if (!must_wait(q)) return;
  pthread_mutex_lock(&q->lock);
  atomic_fetch_add(&q->sleepers, 1);
  while (must_wait(q)) pthread_cond_wait(&q->wake, &q->lock);
  atomic_fetch_sub(&q->sleepers, 1);
  pthread_mutex_unlock(&q->lock);
}

/* The change and this load are sequentially consistent: the sleeper sees the change, or this thread
 * sees the sleeper. */
void hp_chunk_queue_wake(hp_chunk_queue *q) {
  if (!atomic_load(&q->sleepers)) return;
  pthread_mutex_lock(&q->lock);
  pthread_cond_broadcast(&q->wake);
  pthread_mutex_unlock(&q->lock);
}
