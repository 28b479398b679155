#ifndef HP_BASE_HASH_H
#define HP_BASE_HASH_H

/* A hash with a secret key. An author of a page cannot compute names or values that collide, so
 * hash tables stay fast on adversarial input. */

#include <stdint.h>

/* The key is random for each process and constant from the first call of hp_hash_open on. */
extern uint64_t hp_hash_key[2];
void hp_hash_open(void);

/* Mixes a word with the key: the upper and lower halves of a product of 128 bits. */
static inline uint64_t hp_hash_mix(uint64_t word) {
  __extension__ typedef unsigned __int128 product;
  product both = (product)(word ^ hp_hash_key[0]) * hp_hash_key[1];
  return (uint64_t)both ^ (uint64_t)(both >> 64);
}

#endif
