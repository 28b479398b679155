#ifndef HP_BASE_LOAD_H
#define HP_BASE_LOAD_H

/* Loads and stores bytes as a number. The first byte has the lowest bits on every system, so that
 * masks, shifts and generated keys are the same everywhere. */

#include <stdint.h>
#include <string.h>

static inline uint64_t hp_load_64(const void *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline uint32_t hp_load_32(const void *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

static inline void hp_store_32(void *at, uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  memcpy(at, &word, sizeof word);
}

#endif
