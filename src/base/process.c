#include "base/process.h"

#include <pthread.h>
#include <sys/random.h>

static unsigned generation; /* changes only in a new child, which has one thread */

static void count_fork(void) { generation++; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned hp_fork_generation(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return generation;
}

uint64_t hp_hash_key[2];

/* Without random numbers of the system, the key depends on the time and on addresses. */
static void choose_key(void) {
  uint64_t key[2];
  if (getrandom(key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key) {
    hp_hash_key[1] = UINT64_C(0x9E3779B97F4A7C15);
    key[0] = hp_hash_mix(hp_now());
    key[1] = hp_hash_mix(key[0] ^ (uint64_t)(uintptr_t)&key);
  }
  hp_hash_key[0] = key[0];
  hp_hash_key[1] = key[1] | 1;
}

void hp_hash_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose_key);
}
