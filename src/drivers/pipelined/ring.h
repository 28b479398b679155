#ifndef HP_DRIVERS_PIPELINED_RING_H
#define HP_DRIVERS_PIPELINED_RING_H

/* The token buffer: a ring between one thread that puts tokens and one that takes them, after Lamport's queue. Neither
 * waits in here; stages.c does. A slot is read out at once, and given back with that.
 *
 *   shown_head <= head <= shown_tail <= tail <= shown_head + length,  length <= slots,  all modulo 2^32
 *   slots [shown_head, shown_tail) are the taker's, the others the putter's
 *
 * Why it is fast: each side works on indices of its own and remembers what the other has shown, so a shared line is
 * touched once a batch; what the two sides write stands in lines of its own; the taker asks for slots before it reads
 * them, since each fourth is a line that comes from the other's cache. tests/ring.pml is the model of this. */

#include "drivers/pipelined/packed.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Two lines: a processor that misses one may bring in its neighbour, too. */
enum { HP_APART_BYTES = 128, HP_SLOTS_A_LINE = 4, HP_RING_AHEAD = 16, HP_MAX_BUFFER_TOKENS = 1 << 16 };

typedef struct hp_ring {
  hp_packed *slots;
  uint32_t mask, length, batch;
  char apart_1[HP_APART_BYTES];
  uint32_t tail, tail_shown, head_seen; /* the putter's */
  char apart_2[HP_APART_BYTES];
  uint32_t head, head_shown, tail_seen; /* the taker's */
  char apart_3[HP_APART_BYTES];
  /* Release, with which what was written to the slots is seen; what follows is hp_event_count_wake. Acquire where the
   * other side reads. */
  _Atomic uint32_t shared_tail;
  char apart_4[HP_APART_BYTES];
  _Atomic uint32_t shared_head; /* release: what was in the slots has been read */
  char apart_5[HP_APART_BYTES];
} hp_ring;

/* Room for `length` tokens, shown to the other side `batch` at a time, or as many as there are when one side has to
 * wait. Keeps memory from an earlier use. False: no memory. */
bool hp_ring_open(hp_ring *ring, uint32_t length, uint32_t batch);
void hp_ring_close(hp_ring *ring);

static inline hp_packed *hp_ring_slot(const hp_ring *r, uint32_t index) { return &r->slots[index & r->mask]; }

/*** the putter ***/

static inline bool hp_ring_has_room(hp_ring *r) {
  if (r->tail - r->head_seen < r->length) return true;
  r->head_seen = atomic_load_explicit(&r->shared_head, memory_order_acquire);
  return r->tail - r->head_seen < r->length;
}

/* There is room. True if it is time to show what there is. */
static inline bool hp_ring_put(hp_ring *r, hp_packed token) {
  *hp_ring_slot(r, r->tail) = token;
  return ++r->tail - r->tail_shown >= r->batch;
}

static inline void hp_ring_show_tail(hp_ring *r) {
  r->tail_shown = r->tail;
  atomic_store_explicit(&r->shared_tail, r->tail, memory_order_release);
}

/*** the taker ***/

/* Where slot `index`, which is to be read now, begins a line: asks for the line HP_RING_AHEAD slots further on, if it
 * is the taker's. */
static inline void hp_ring_look_ahead(const hp_ring *r, uint32_t index) {
  if (index % HP_SLOTS_A_LINE == 0 && r->tail_seen - index > HP_RING_AHEAD)
    __builtin_prefetch(hp_ring_slot(r, index + HP_RING_AHEAD));
}

/* False while there is none. */
static inline bool hp_ring_take(hp_ring *r, hp_packed *token) {
  if (r->head == r->tail_seen) {
    r->tail_seen = atomic_load_explicit(&r->shared_tail, memory_order_acquire);
    if (r->head == r->tail_seen) return false;
  }
  *token = *hp_ring_slot(r, r->head++);
  return true;
}

/* True if it is time to show what was taken. */
static inline bool hp_ring_taken(const hp_ring *r) { return r->head - r->head_shown >= r->batch; }

static inline void hp_ring_show_head(hp_ring *r) {
  r->head_shown = r->head;
  atomic_store_explicit(&r->shared_head, r->head, memory_order_release);
}

/* Drops what stands before `index`, which the putter has reached and told of. */
static inline void hp_ring_drop_to(hp_ring *r, uint32_t index) {
  r->head = r->tail_seen = index;
  hp_ring_show_head(r);
}

#endif
