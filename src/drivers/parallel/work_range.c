#include "drivers/parallel/work_range.h"

#include "base/memory.h"

#include <string.h>

/* The owner soon finishes a smaller range, and a chunk boundary costs as much as the parse of a few
 * KB. */
enum { MIN_CHUNKS_TO_DIVIDE = 2 };
/* Each extension costs as much as the parse of some hundred bytes. A thread therefore extends its
 * chunk by a part of its range: by many chunks at first, and by single ones towards the end. */
enum { PARTS_OF_RANGE = 3 };

static uint32_t low_of(uint64_t word) { return (uint32_t)word; }
static uint32_t high_of(uint64_t word) { return (uint32_t)(word >> 32); }
static uint32_t size_of(uint64_t word) { return high_of(word) > low_of(word) ? high_of(word) - low_of(word) : 0; }

static uint64_t word_of(const hp_work_ranges *ranges, unsigned thread) {
  return atomic_load_explicit(&ranges->of_thread[thread].word, memory_order_relaxed);
}

static bool change_word(hp_work_ranges *ranges, unsigned thread, uint64_t from, uint64_t to) {
  return atomic_compare_exchange_strong_explicit(&ranges->of_thread[thread].word, &from, to, memory_order_relaxed,
                                                 memory_order_relaxed);
}

hpar_status hp_work_ranges_open(hp_work_ranges *ranges, unsigned threads) {
  if (ranges->capacity < threads) {
    hp_work_range *grown = hp_reallocate(ranges->of_thread, threads * sizeof *grown);
    if (!grown) return HPAR_ERROR_MEMORY;
    memset(grown + ranges->capacity, 0, (threads - ranges->capacity) * sizeof *grown);
    ranges->of_thread = grown;
    ranges->capacity = threads;
  }
  for (unsigned t = 0; t < threads; t++) ranges->of_thread[t].capacity = ranges->of_thread[t].speed = HP_FULL_SPEED;
  ranges->threads = threads;
  ranges->lag = 0;
  return HPAR_OK;
}

void hp_work_ranges_close(hp_work_ranges *ranges) {
  hp_free(ranges->of_thread);
  *ranges = (hp_work_ranges){0};
}

void hp_work_range_set(hp_work_ranges *ranges, unsigned thread, uint32_t low, uint32_t high) {
  atomic_store_explicit(&ranges->of_thread[thread].word, hp_range_word(low, high), memory_order_relaxed);
}

/* Returns the chunks of the range that would delay the merger. It reads the logs before that range
 * meanwhile. */
static uint32_t excess_of(const hp_work_ranges *ranges, uint64_t word) {
  uint32_t size = size_of(word), lag = (uint32_t)(((uint64_t)ranges->lag * high_of(word) + (1 << 15)) >> 16);
  return size > lag ? size - lag : 0;
}

/* Returns the thread whose range would delay the merger longest, and the word of the range. */
static unsigned slowest_thread(const hp_work_ranges *ranges, uint64_t *word) {
  unsigned slowest = 0;
  *word = word_of(ranges, 0);
  for (unsigned t = 1; t < ranges->threads; t++) {
    uint64_t other = word_of(ranges, t);
    uint64_t its = (uint64_t)excess_of(ranges, other) * ranges->of_thread[slowest].speed;
    if (its <= (uint64_t)excess_of(ranges, *word) * ranges->of_thread[t].speed) continue;
    *word = other;
    slowest = t;
  }
  return slowest;
}

uint32_t hp_work_range_begin(const hp_work_ranges *ranges, unsigned thread) { return low_of(word_of(ranges, thread)); }

bool hp_work_range_take(hp_work_ranges *ranges, unsigned from, uint32_t chunk, unsigned thread) {
  for (uint64_t word; low_of(word = word_of(ranges, from)) < chunk && chunk < high_of(word);) {
    if (!change_word(ranges, from, word, hp_range_word(low_of(word), chunk))) continue;
    hp_work_range_set(ranges, thread, chunk + 1, high_of(word));
    return true;
  }
  return false;
}

uint32_t hp_work_range_claim(hp_work_ranges *ranges, unsigned thread) {
  for (uint64_t own; size_of(own = word_of(ranges, thread));)
    if (change_word(ranges, thread, own, hp_range_word(low_of(own) + 1, high_of(own)))) return low_of(own);
  for (;;) {
    uint64_t longest;
    unsigned from = slowest_thread(ranges, &longest);
    uint64_t speed = ranges->of_thread[thread].speed, its = ranges->of_thread[from].speed, both = speed + its;
    if (excess_of(ranges, longest) < MIN_CHUNKS_TO_DIVIDE || size_of(longest) * speed < both) return 0;
    uint32_t middle = low_of(longest) + (uint32_t)(size_of(longest) * its / both);
    if (!change_word(ranges, from, longest, hp_range_word(low_of(longest), middle))) continue;
    uint64_t rest = hp_range_word(middle + 1, high_of(longest));
    atomic_store_explicit(&ranges->of_thread[thread].word, rest, memory_order_relaxed);
    return middle;
  }
}

bool hp_work_range_claim_chunk(hp_work_ranges *ranges, uint32_t chunk) {
  for (unsigned t = 0; t < ranges->threads; t++)
    if (hp_work_range_extend(ranges, t, chunk, 1)) return true;
  return false;
}

uint32_t hp_work_range_extend(hp_work_ranges *ranges, unsigned thread, uint32_t chunk, uint32_t most) {
  for (uint64_t own; size_of(own = word_of(ranges, thread)) && low_of(own) == chunk;) {
    uint32_t count = size_of(own) / PARTS_OF_RANGE;
    if (count > most) count = most;
    if (count < 1) count = 1;
    if (change_word(ranges, thread, own, hp_range_word(chunk + count, high_of(own)))) return count;
  }
  return 0;
}

uint32_t hp_work_range_limit(hp_work_ranges *ranges, unsigned thread, uint32_t chunk) {
  uint64_t own = word_of(ranges, thread);
  return size_of(own) && low_of(own) == chunk + 1 ? high_of(own) : chunk + 1;
}
