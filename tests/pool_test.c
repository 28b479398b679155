/* Checks the thread pool. All threads of a batch work on a batch that the caller joins. If the
 * caller ends a batch, only the threads that arrived in time work on it, and none of them after the
 * end. Both hold for every wait policy. */

#include "platform/affinity.h"
#include "platform/pool.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200 };

typedef struct batch {
  _Atomic unsigned begun[THREADS], left;
  _Atomic bool over;
  _Atomic unsigned late;
  unsigned plain[THREADS]; /* visible after the wait for the batch */
} batch;

static void work(void *context, unsigned thread) {
  batch *b = context;
  if (atomic_load(&b->over)) atomic_fetch_add(&b->late, 1);
  atomic_fetch_add(&b->begun[thread], 1);
  b->plain[thread]++;
  for (int i = 0; i < 50; i++) hp_pause();
  if (atomic_load(&b->over)) atomic_fetch_add(&b->late, 1);
  atomic_fetch_add(&b->left, 1);
}

static void rounds(hp_pool *pool, unsigned threads, bool all) {
  static batch batches[ROUNDS];
  unsigned worked = 0;
  for (unsigned i = 0; i < ROUNDS; i++) {
    batch *b = &batches[i];
    *b = (batch){.left = 0};
    unsigned n = 1 + i % threads, begun = 0;
    hp_pool_start(pool, n, work, b);
    for (unsigned pauses = i % 7 * 20; !all && pauses; pauses--) hp_pause();
    if (all)
      hp_pool_join(pool);
    else
      hp_pool_end(pool);
    atomic_store(&b->over, true);
    CHECK_EQ(b->plain[0], 0);
    for (unsigned t = 1; t < THREADS; t++) {
      unsigned times = atomic_load(&b->begun[t]);
      CHECK(all ? times == (t < n) : times <= (t < n));
      CHECK_EQ(b->plain[t], times);
      begun += times;
    }
    CHECK_EQ(atomic_load(&b->left), begun);
    worked += begun;
  }
  for (unsigned i = 0; i < ROUNDS; i++) CHECK_EQ(atomic_load(&batches[i].late), 0);
  if (all) CHECK(worked > 0 || threads == 1);
}

static void spins(void) {
  hp_spin spin = {0};
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  while (hp_spin_on(&spin, 2000000)) {
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  CHECK((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec >= 2000000);
  CHECK(spin.steps > 1);
}

static void note_processor(void *context, unsigned thread) {
  (void)thread;
  atomic_store((_Atomic int *)context, sched_getcpu());
}

/* Keeps two of the allowed processors. Returns false if there are fewer. */
static bool keep_two(const cpu_set_t *allowed, size_t processors[2]) {
  cpu_set_t two;
  unsigned found = 0;
  CPU_ZERO(&two);
  for (size_t i = 0; i < CPU_SETSIZE && found < 2; i++) {
    if (!CPU_ISSET(i, allowed)) continue;
    processors[found++] = i;
    CPU_SET(i, &two);
  }
  return found == 2 && CHECK_EQ(sched_setaffinity(0, sizeof two, &two), 0);
}

/* Checks that a thread does not run on the processor of the caller, which moves before each batch.
 * The thread sleeps, or spins on the processor to which the caller moves. */
static void avoids_caller(hp_pool_wait wait) {
  cpu_set_t allowed, one;
  size_t processors[2];
  hp_pool *pool = NULL;
  if (sched_getaffinity(0, sizeof allowed, &allowed) || !keep_two(&allowed, processors)) return;
  if (!CHECK_EQ(hp_pool_create(&pool, 2), HPAR_OK)) return;
  hp_pool_wait_as(pool, wait);
  for (int i = 0; i < 30; i++) {
    _Atomic int its = -1;
    size_t processor = processors[i % 2];
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (!CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0)) break;
    for (int look = 0; wait == HP_POOL_SLEEP && look < 5000 && hp_pool_is_awake(pool, 2); look++)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    hp_pool_start(pool, 2, note_processor, &its);
    hp_pool_join(pool);
    CHECK(i == 0 || hp_pool_threads(pool) < 2 || atomic_load(&its) != (int)processor);
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
  hp_pool_destroy(pool);
}

static void note_allowed(void *context, unsigned thread) {
  cpu_set_t set;
  _Atomic int *counts = context;
  atomic_store(&counts[thread], sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set));
}

/* Checks that the threads of a pool do not inherit the binding of their creator. There are more
 * threads than processors, so that the pool does not narrow their affinity. */
static void inherits_no_binding(void) {
  enum { MOST = 65 };
  _Atomic int counts[MOST];
  cpu_set_t allowed;
  hp_saved_affinity saved;
  hp_pool *pool = NULL;
  if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) >= MOST) return;
  unsigned threads = (unsigned)CPU_COUNT(&allowed) + 1;
  if (!CHECK(hp_save_affinity(&saved)) || !CHECK_EQ(hp_pool_create(&pool, threads), HPAR_OK)) return;
  CHECK(hp_restore_affinity(&saved));
  threads = hp_pool_threads(pool);
  hp_pool_start(pool, threads, note_allowed, counts);
  note_allowed(counts, 0);
  hp_pool_join(pool);
  for (unsigned i = 0; i < threads; i++) CHECK_EQ(atomic_load(&counts[i]), CPU_COUNT(&allowed));
  hp_pool_destroy(pool);
}

/* Lists a capacity for each processor. Requires: nobody has asked for the processors. */
static void lists_capacities(void) {
  static char list[CPU_SETSIZE * 5 + 1];
  for (size_t i = 0; i < CPU_SETSIZE; i++) memcpy(list + 5 * i, "1024,", 5);
  CHECK_EQ(setenv("HPAR_CPU_CAPACITY", list, 1), 0);
  const hp_processors *found = hp_allowed_processors();
  CHECK(!found || (found->is_listed && found->capacity[0] == HP_FULL_CAPACITY));
}

static void bind_for_once(void *context, unsigned thread) {
  CHECK(hp_bind_thread(true, thread) && hp_thread_is_bound());
  CHECK(hp_bind_thread(false, thread) && !hp_thread_is_bound());
  note_allowed(context, thread);
}

/* Checks that a thread has all processors again after a batch that bound it. */
static void ends_its_binding(void) {
  _Atomic int counts[2];
  hp_pool *pool = NULL;
  note_allowed(counts, 0);
  if (!CHECK_EQ(hp_pool_create(&pool, 2), HPAR_OK)) return;
  if (hp_pool_threads(pool) > 1) {
    hp_pool_start(pool, 2, bind_for_once, counts);
    hp_pool_join(pool);
    CHECK_EQ(atomic_load(&counts[1]), atomic_load(&counts[0]));
  }
  CHECK(hp_pool_stop(pool, UINT64_C(20000000000)));
  hp_pool_destroy(pool);
}

enum { SIGNALS = 65 };

typedef struct masks {
  _Atomic bool is_blocked[THREADS][SIGNALS];
} masks;

static void note_mask(void *context, unsigned thread) {
  masks *m = context;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  for (int i = 1; i < SIGNALS; i++) atomic_store(&m->is_blocked[thread][i], sigismember(&mask, i) == 1);
}

/* Checks that the threads of the pool leave the host's signals to the host's threads, and receive
 * their own faults. */
static void signals(void) {
  static masks m;
  static const int hosts[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPROF, SIGIO};
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  hp_pool *pool = NULL;
  note_mask(&m, 0);
  if (!CHECK_EQ(hp_pool_create(&pool, 2), HPAR_OK)) return;
  hp_pool_grow(pool, THREADS);
  hp_pool_start(pool, hp_pool_threads(pool), note_mask, &m);
  hp_pool_join(pool);
  for (unsigned t = 1; t < hp_pool_threads(pool); t++) {
    for (unsigned i = 0; i < sizeof hosts / sizeof *hosts; i++) CHECK(atomic_load(&m.is_blocked[t][hosts[i]]));
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) CHECK(!atomic_load(&m.is_blocked[t][faults[i]]));
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  for (int i = 1; i < SIGNALS; i++) CHECK_EQ(sigismember(&mask, i) == 1, atomic_load(&m.is_blocked[0][i]));
  hp_pool_destroy(pool);
}

typedef struct identities {
  _Atomic long of[THREADS];
} identities;

static void note_identity(void *context, unsigned thread) {
  atomic_store(&((identities *)context)->of[thread], syscall(SYS_gettid));
}

static void sleep_for_a_millisecond(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

/* Checks that a growing pool keeps its threads. A batch of fewer threads leaves the others
 * asleep. */
static void growth(void) {
  hp_pool *pool = NULL;
  if (!CHECK_EQ(hp_pool_create(&pool, 2), HPAR_OK)) return;
  hp_pool_wait_as(pool, HP_POOL_SPIN);
  long first = 0;
  for (unsigned n = 2; n <= THREADS && hp_pool_threads(pool) == n; n++) {
    for (unsigned used = n; used >= 2; used--) {
      identities found = {.of = {0}};
      hp_pool_start(pool, used, note_identity, &found);
      hp_pool_join(pool);
      if (!first) first = atomic_load(&found.of[1]);
      CHECK_EQ(atomic_load(&found.of[1]), first);
      for (unsigned t = 1; t < THREADS; t++) CHECK_EQ(atomic_load(&found.of[t]) != 0, t < used);
      for (int wait = 0; wait < 5000 && used < n && hp_pool_is_awake(pool, n); wait++) sleep_for_a_millisecond();
      CHECK(used == n || !hp_pool_is_awake(pool, n));
    }
    if (n < THREADS) hp_pool_grow(pool, n + 1);
  }
  hp_pool_grow(pool, 2); /* has no effect */
  CHECK_EQ(hp_pool_threads(pool), THREADS);
  hp_pool_destroy(pool);
}

typedef struct wait_for_sleep {
  long caller;
  _Atomic bool has_slept;
} wait_for_sleep;

/* Works until the thread that waits for it sleeps. */
static void watch_caller(void *context, unsigned thread) {
  wait_for_sleep *w = context;
  char path[64], line[256];
  (void)thread;
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", w->caller);
  for (int i = 0; i < 5000 && !atomic_load(&w->has_slept); i++) {
    FILE *file = fopen(path, "r");
    const char *state = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (state && state[2] == 'S') atomic_store(&w->has_slept, true);
    if (file) fclose(file);
    sleep_for_a_millisecond();
  }
}

/* Checks that the caller sleeps during long work, in hp_pool_join and in hp_pool_end. */
static void long_waits(void) {
  hp_pool *pool = NULL;
  if (!CHECK_EQ(hp_pool_create(&pool, 2), HPAR_OK)) return;
  wait_for_sleep w = {.caller = syscall(SYS_gettid)};
  hp_pool_start(pool, 2, watch_caller, &w);
  hp_pool_join(pool);
  CHECK(hp_pool_threads(pool) < 2 || atomic_load(&w.has_slept));
  hp_pool_destroy(pool);
}

int main(void) {
  lists_capacities();
  inherits_no_binding();
  ends_its_binding();
  static const hp_pool_wait ways[] = {HP_POOL_ADAPTIVE, HP_POOL_SPIN, HP_POOL_SLEEP};
  for (unsigned threads = 1; threads <= THREADS; threads++) {
    hp_pool *pool = NULL;
    if (!CHECK_EQ(hp_pool_create(&pool, threads), HPAR_OK)) break;
    unsigned there = hp_pool_threads(pool);
    CHECK(there >= 1 && there <= threads);
    hp_pool_end(pool); /* without a batch */
    for (unsigned way = 0; way < 3; way++) {
      hp_pool_wait_as(pool, ways[way]);
      rounds(pool, there, true);
      rounds(pool, there, false);
    }
    /* The next batch wakes sleeping threads. */
    hp_pool_wait_as(pool, HP_POOL_SLEEP);
    for (int i = 0; i < 5; i++) {
      batch one = {.left = 0};
      hp_pool_start(pool, there, work, &one);
      hp_pool_join(pool);
      CHECK_EQ(atomic_load(&one.left), there - 1);
      for (int wait = 0; wait < 5000 && there > 1 && hp_pool_is_awake(pool, 2); wait++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      CHECK(there == 1 || !hp_pool_is_awake(pool, there));
    }
    hp_pool_destroy(pool);
  }
  hp_pool *alone = NULL;
  if (CHECK_EQ(hp_pool_create(&alone, 0), HPAR_OK)) CHECK_EQ(hp_pool_threads(alone), 1);
  hp_pool_destroy(alone);
  hp_pool_destroy(NULL);
  CHECK(hp_usable_cores() >= 1);
  spins();
  avoids_caller(HP_POOL_SLEEP);
  avoids_caller(HP_POOL_SPIN);
  signals();
  growth();
  long_waits();
  return check_report();
}
