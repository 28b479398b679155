#ifndef HP_STUDY_PIPELINED_RING_H
#define HP_STUDY_PIPELINED_RING_H

/* The token buffer: a ring between a producer thread and a consumer thread, after Lamport's queue.
 * Its functions never wait; stages.c waits. The consumer copies a slot and frees it at once.
 *
 *   shared_head <= head <= shared_tail <= tail <= shared_head + length
 *   length <= slots, all modulo 2^32
 *   slots [shared_head, shared_tail) belong to the consumer, the others to the producer
 *
 * The ring is fast for three reasons. Each side works on its own indices and caches the published
 * index of the other side, so it accesses a shared line once a batch. The two sides write to
 * separate cache lines. The consumer prefetches slots: every fourth slot begins a line from the
 * other core's cache. tests/ring.pml is a model of the ring. */

#include "study/pipelined/packed.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Two lines: on a miss, a processor may also fetch the neighbouring line. */
enum { HP_APART_BYTES = 128, HP_SLOTS_A_LINE = 4, HP_RING_AHEAD = 16, HP_MAX_BUFFER_TOKENS = 1 << 16 };

typedef struct hp_ring {
  hp_packed *slots;
  uint32_t mask, length, batch;
  char apart_1[HP_APART_BYTES];
  uint32_t tail, tail_shown, head_seen; /* of the producer */
  char apart_2[HP_APART_BYTES];
  uint32_t head, head_shown, tail_seen; /* of the consumer */
  char apart_3[HP_APART_BYTES];
  /* The producer stores with release order, which publishes the slots, and then calls
   * hp_event_count_wake. The consumer loads with acquire order. */
  _Atomic uint32_t shared_tail;
  char apart_4[HP_APART_BYTES];
  _Atomic uint32_t shared_head; /* release: the consumer has read these slots */
  char apart_5[HP_APART_BYTES];
} hp_ring;

/* Opens a ring with space for `length` tokens. Each side publishes its index after `batch` tokens,
 * or before it waits. Reuses the memory of an earlier parse. Returns false if out of memory. */
bool hp_ring_open(hp_ring *ring, uint32_t length, uint32_t batch);
void hp_ring_close(hp_ring *ring);

static inline hp_packed *hp_ring_slot(const hp_ring *r, uint32_t index) { return &r->slots[index & r->mask]; }

/*** the producer ***/

static inline bool hp_ring_has_room(hp_ring *r) {
  if (r->tail - r->head_seen < r->length) return true;
  r->head_seen = atomic_load_explicit(&r->shared_head, memory_order_acquire);
  return r->tail - r->head_seen < r->length;
}

/* Appends the token. Returns true if it is time to publish the tail. Requires: hp_ring_has_room. */
static inline bool hp_ring_put(hp_ring *r, hp_packed token) {
  *hp_ring_slot(r, r->tail) = token;
  return ++r->tail - r->tail_shown >= r->batch;
}

static inline void hp_ring_show_tail(hp_ring *r) {
  r->tail_shown = r->tail;
  atomic_store_explicit(&r->shared_tail, r->tail, memory_order_release);
}

/*** the consumer ***/

/* Prefetches the line HP_RING_AHEAD slots after `index`, if slot `index` begins a line and the
 * consumer owns the later slot. */
static inline void hp_ring_look_ahead(const hp_ring *r, uint32_t index) {
  if (index % HP_SLOTS_A_LINE == 0 && r->tail_seen - index > HP_RING_AHEAD)
    __builtin_prefetch(hp_ring_slot(r, index + HP_RING_AHEAD));
}

/* Takes the next token. Returns false if there is none. */
static inline bool hp_ring_take(hp_ring *r, hp_packed *token) {
  if (r->head == r->tail_seen) {
    r->tail_seen = atomic_load_explicit(&r->shared_tail, memory_order_acquire);
    if (r->head == r->tail_seen) return false;
  }
  *token = *hp_ring_slot(r, r->head++);
  return true;
}

/* Returns true if it is time to publish the head. */
static inline bool hp_ring_taken(const hp_ring *r) { return r->head - r->head_shown >= r->batch; }

static inline void hp_ring_show_head(hp_ring *r) {
  r->head_shown = r->head;
  atomic_store_explicit(&r->shared_head, r->head, memory_order_release);
}

/* Drops the slots before `index`. Requires: the producer has published `index`. */
static inline void hp_ring_drop_to(hp_ring *r, uint32_t index) {
  r->head = r->tail_seen = index;
  hp_ring_show_head(r);
}

#endif
