#ifndef HP_BASE_PROCESS_H
#define HP_BASE_PROCESS_H

/* What a process has: its clocks, its number among its forks, and the secret key of its hashes. */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Returns the nanoseconds of the monotonic clock. */
static inline uint64_t hp_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the nanoseconds for which the calling thread has had a processor. A system call. */
static inline uint64_t hp_thread_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the clock of the calling thread's processor time, by which other threads see whether it
 * runs. 0: there is none. */
static inline clockid_t hp_thread_clock(void) {
  clockid_t clock;
  return pthread_getcpuclockid(pthread_self(), &clock) ? 0 : clock;
}

/* Returns a number that differs between a process and its forked children. A child has only the
 * thread that forked: other threads are lost, and may leave a lock held or data inconsistent. */
unsigned hp_fork_generation(void);

/* A hash with a secret key. An author of a page cannot compute names or values that collide, so
 * hash tables stay fast on adversarial input.
 *
 * The key is random for each process and constant from the first call of hp_hash_open on. */
extern uint64_t hp_hash_key[2];
void hp_hash_open(void);

/* Mixes a word with the key: the upper and lower halves of a product of 128 bits. */
static inline uint64_t hp_hash_mix(uint64_t word) {
  __extension__ typedef unsigned __int128 product;
  product both = (product)(word ^ hp_hash_key[0]) * hp_hash_key[1];
  return (uint64_t)both ^ (uint64_t)(both >> 64);
}

/* Adds bytes to a hash. */
static inline uint64_t hp_hash_bytes(uint64_t hash, const char *bytes, size_t length) {
  uint64_t word, rest = 0;
  size_t at = 0;
  for (; at + sizeof word <= length; at += sizeof word) {
    memcpy(&word, bytes + at, sizeof word);
    hash = hp_hash_mix(hash ^ word) + word;
  }
  if (at < length) memcpy(&rest, bytes + at, length - at);
  return hp_hash_mix(hp_hash_mix(hash ^ rest) + length);
}

#endif
