/* Shares. Each thread has a range of neighbouring chunks, small ones, that nobody has begun. It takes them from the
 * left and makes one chunk of all that it comes by without a gap; who has none left takes the right half of what
 * another has most of. So there are few seams, and yet the threads end together, however unevenly the work lies in the
 * text. The merger's share is the leftmost; there, and in shares that nobody has begun, it goes chunk by chunk by
 * itself.
 *
 *   a share is [low, high): low half of the word, high half; empty where low >= high */

#include "drivers/parallel/parallel.h"

/* What is left of a share in its owner's hands is soon done, and a seam costs as much as a few KB. */
enum { MIN_TAKEN_FROM = 2 };

static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
static uint32_t low_of(uint64_t share) { return (uint32_t)share; }
static uint32_t high_of(uint64_t share) { return (uint32_t)(share >> 32); }
static uint32_t size_of(uint64_t share) { return high_of(share) > low_of(share) ? high_of(share) - low_of(share) : 0; }

static _Atomic uint64_t *share_of(hp_job *r, unsigned thread) { return &r->team->shares[thread].range; }

static uint64_t look(hp_job *r, unsigned thread) {
  return atomic_load_explicit(share_of(r, thread), memory_order_relaxed);
}

static bool change(hp_job *r, unsigned thread, uint64_t from, uint64_t to) {
  return atomic_compare_exchange_strong_explicit(share_of(r, thread), &from, to, memory_order_relaxed,
                                                 memory_order_relaxed);
}

void hp_work_range_deal(hp_job *r, uint32_t first, uint32_t count) {
  uint64_t others = r->threads - 1;
  for (unsigned t = 0; t < r->threads; t++) {
    uint32_t low = t ? first + (uint32_t)((count - first) * (uint64_t)(t - 1) / others) : 1;
    uint32_t high = t ? first + (uint32_t)((count - first) * (uint64_t)t / others) : first;
    atomic_store_explicit(share_of(r, t), pair(low, high), memory_order_relaxed);
  }
}

uint32_t hp_work_range_take(hp_job *r, unsigned thread) {
  for (uint64_t own; size_of(own = look(r, thread));)
    if (change(r, thread, own, pair(low_of(own) + 1, high_of(own)))) return low_of(own);
  for (;;) {
    uint64_t most = 0;
    unsigned from = 0;
    for (unsigned t = 0; t < r->threads; t++) {
      uint64_t other = look(r, t);
      if (size_of(other) <= size_of(most)) continue;
      most = other;
      from = t;
    }
    if (size_of(most) < MIN_TAKEN_FROM) return 0;
    uint32_t middle = low_of(most) + size_of(most) / 2;
    if (!change(r, from, most, pair(low_of(most), middle))) continue;
    atomic_store_explicit(share_of(r, thread), pair(middle + 1, high_of(most)), memory_order_relaxed);
    return middle;
  }
}

bool hp_work_range_take_this(hp_job *r, uint32_t chunk) {
  for (unsigned t = 0; t < r->threads; t++)
    for (uint64_t share; size_of(share = look(r, t)) && low_of(share) == chunk;)
      if (change(r, t, share, pair(chunk + 1, high_of(share)))) return true;
  return false;
}

bool hp_work_range_go_on(hp_job *r, unsigned thread, uint32_t chunk) {
  for (uint64_t own; size_of(own = look(r, thread)) && low_of(own) == chunk;)
    if (change(r, thread, own, pair(chunk + 1, high_of(own)))) return true;
  return false;
}

uint32_t hp_work_range_end(hp_job *r, unsigned thread, uint32_t chunk) {
  uint64_t own = look(r, thread);
  return size_of(own) && low_of(own) == chunk + 1 ? high_of(own) : chunk + 1;
}
