#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

/* Random numbers. The same seed gives the same numbers on every machine. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct random_state {
  uint64_t at;
} random_state;

static inline uint64_t random_next(random_state *from) {
  uint64_t z = from->at += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* Returns a number from 0 to limit - 1. */
static inline size_t random_below(random_state *from, size_t limit) {
  return (size_t)((random_next(from) >> 32) * (uint64_t)limit >> 32);
}

static inline bool random_chance(random_state *from, unsigned percent) { return random_below(from, 100) < percent; }

#define RANDOM_OF(from, list) ((list)[random_below((from), sizeof(list) / sizeof((list)[0]))])

#endif
