#include "study/pipelined/ring.h"

#include "base/memory.h"

bool hp_ring_open(hp_ring *r, uint32_t length, uint32_t batch) {
  uint32_t slots = 1;
  while (slots < length) slots *= 2;
  if (!r->slots || r->mask + 1 < slots) {
    /* Aligned to a cache line, so that no two batches share a line. */
    hp_packed *more = hp_allocate_aligned(HP_SLOTS_A_LINE * sizeof *more, slots * sizeof *more);
    if (!more) return false;
    hp_free(r->slots);
    r->slots = more;
    r->mask = slots - 1;
  }
  r->length = length;
  r->batch = batch < length ? batch : length;
  r->tail = r->tail_shown = r->head_seen = 0;
  r->head = r->head_shown = r->tail_seen = 0;
  atomic_store_explicit(&r->shared_tail, 0, memory_order_relaxed);
  atomic_store_explicit(&r->shared_head, 0, memory_order_relaxed);
  return true;
}

void hp_ring_close(hp_ring *r) {
  hp_free(r->slots);
  r->slots = NULL;
}
