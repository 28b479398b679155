#ifndef HP_PIPELINE_RING_H
#define HP_PIPELINE_RING_H

/* The token buffer: a ring between one thread that puts tokens and one that takes them, after Lamport's queue. Neither
 * waits in here; stages.c does. Tokens are read where they were put: the one taken last stays in place until the next
 * is taken, for which the ring has one slot more than its length.
 *
 *   shown_head <= head <= shown_tail <= tail <= shown_head + length,  length + 1 <= slots,  all modulo 2^32
 *   slots [head - 1, shown_tail) are the taker's, the others the putter's
 *
 * Why it is fast: each side works on indices of its own and remembers what the other has shown, so a shared line is
 * touched once a batch; what the two sides write stands in lines of its own. tests/ring.pml is the model of this. */

#include "tokenize/token.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { HP_CACHE_LINE_BYTES = 64, HP_MOST_BUFFER_TOKENS = 1 << 16 };

typedef struct hp_ring {
  hp_token *slots;
  uint32_t mask, length, batch;
  char apart_1[HP_CACHE_LINE_BYTES];
  uint32_t tail, tail_shown, head_seen; /* the putter's */
  char apart_2[HP_CACHE_LINE_BYTES];
  uint32_t head, head_shown, tail_seen; /* the taker's */
  char apart_3[HP_CACHE_LINE_BYTES];
  /* Release, with which what was written to the slots is seen; what follows is hp_unpark. Acquire where the other side
   * reads. */
  _Atomic uint32_t shared_tail;
  char apart_4[HP_CACHE_LINE_BYTES];
  _Atomic uint32_t shared_head; /* release: what was in the slots has been read */
  char apart_5[HP_CACHE_LINE_BYTES];
} hp_ring;

/* Room for `length` tokens, shown to the other side `batch` at a time, or as many as there are when one side has to
 * wait. Keeps memory from an earlier use. False: no memory. */
bool hp_ring_open(hp_ring *ring, uint32_t length, uint32_t batch);
void hp_ring_close(hp_ring *ring);

static inline hp_token *hp_ring_slot(const hp_ring *r, uint32_t index) { return &r->slots[index & r->mask]; }

/*** the putter ***/

/* Where the next token is to be written, or NULL while there is no room. */
static inline hp_token *hp_ring_room(hp_ring *r) {
  if (r->tail - r->head_seen >= r->length) {
    r->head_seen = atomic_load_explicit(&r->shared_head, memory_order_acquire);
    if (r->tail - r->head_seen >= r->length) return NULL;
  }
  return hp_ring_slot(r, r->tail);
}

/* The token is written. True if it is time to show what there is. */
static inline bool hp_ring_put(hp_ring *r) { return ++r->tail - r->tail_shown >= r->batch; }

static inline void hp_ring_show_tail(hp_ring *r) {
  r->tail_shown = r->tail;
  atomic_store_explicit(&r->shared_tail, r->tail, memory_order_release);
}

/*** the taker ***/

/* The next token, or NULL while there is none. The one before is given back. */
static inline const hp_token *hp_ring_take(hp_ring *r) {
  if (r->head == r->tail_seen) {
    r->tail_seen = atomic_load_explicit(&r->shared_tail, memory_order_acquire);
    if (r->head == r->tail_seen) return NULL;
  }
  return hp_ring_slot(r, r->head++);
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
