#include "platform/pool.h"

#include "base/clock.h"
#include "base/memory.h"
#include "platform/affinity.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#if HPAR_HWLOC
#include <hwloc.h>
#endif

enum { CACHE_LINE = 64, STEPS_A_LOOK = 16, MIN_SPIN = 50000, MAX_SPIN = 2000000, CROWDED_SPIN = 5000 };
enum { LONG_SPIN = 1000000000, JOIN_SPIN = 50000 };

/* What a thread of the pool knows, on cache lines of its own. */
typedef struct worker {
  hp_pool *pool;
  pthread_t thread;
  unsigned index;
  uint32_t last;   /* the batch that it was in last */
  uint64_t spin;   /* how long to spin next time, if that adapts */
  cpu_set_t aside; /* where step_aside let it run; empty: it was never there */
  unsigned left;   /* the processor that was taken from it then */
  char apart[CACHE_LINE];
} worker;

/* The gate of a batch, in one word so that a thread enters all at once or not at all: its number, whether it is open,
 * how many threads are wanted, have come, and are inside. */
enum { COUNT_BITS = 10, COUNT = (1 << COUNT_BITS) - 1 };
#define ONE_INSIDE UINT64_C(1)
#define ONE_COME (UINT64_C(1) << COUNT_BITS)
#define ONE_WANTED (UINT64_C(1) << 2 * COUNT_BITS)
#define OPEN (UINT64_C(1) << 3 * COUNT_BITS)

static unsigned inside(uint64_t gate) { return (unsigned)gate & COUNT; }
static unsigned come(uint64_t gate) { return (unsigned)(gate >> COUNT_BITS) & COUNT; }
static unsigned wanted(uint64_t gate) { return (unsigned)(gate >> 2 * COUNT_BITS) & COUNT; }
static uint32_t number(uint64_t gate) { return (uint32_t)(gate >> 32); }

/* `work` and `context` change only while the gate is closed and nobody is inside. */
struct hp_pool {
  hp_work work;
  void *context;
  unsigned threads; /* with the caller */
  bool crowded;     /* more than there are cores: who spins keeps others from working */
  _Atomic uint8_t how;
  char apart[CACHE_LINE];
  _Atomic uint64_t gate; /* opened with release, entered with acquire; left with release */
  char apart_too[CACHE_LINE];
  _Atomic uint32_t signal; /* of another value with each batch, and at the end; the futex */
  _Atomic uint32_t sleepers;
  _Atomic int caller; /* the processor that sleepers were last woken from, or -1 */
  _Atomic bool stop;
  char apart_as_well[CACHE_LINE];
  worker workers[];
};

void hp_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

bool hp_spin_on(hp_spin *spin, uint64_t nanoseconds) {
  hp_pause();
  if (spin->steps++ % STEPS_A_LOOK) return true;
  uint64_t now = hp_now();
  if (!spin->begin) spin->begin = now;
  return now - spin->begin < nanoseconds;
}

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

static uint64_t patience_of(const worker *self) {
  const hp_pool *pool = self->pool;
  switch (atomic_load_explicit(&pool->how, memory_order_relaxed)) {
    case HP_POOL_SPIN: return LONG_SPIN;
    case HP_POOL_SLEEP: return 0;
    default: return pool->crowded ? CROWDED_SPIN : self->spin;
  }
}

/* Twice what was just needed, but not more than that is worth; after a long wait half as long as before. So a thread
 * never spins for much longer than a wake-up takes where it is in vain. */
static void adapt(worker *self, uint64_t waited) {
  uint64_t spin = waited < MAX_SPIN ? 2 * waited : self->spin / 2, least = self->spin - self->spin / 8;
  if (waited < MAX_SPIN && spin < least) spin = least;
  self->spin = spin < MIN_SPIN ? MIN_SPIN : spin < MAX_SPIN ? spin : MAX_SPIN;
}

/* A virtual machine's kernel takes a processor that sleeps for one that is not there, and lets a thread begin on that
 * of the thread that has woken it. It goes to another one, and keeps off that until it is woken from another. */
static void step_aside(worker *self) {
  int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || hp_thread_is_bound()) return;
  if (here != atomic_load_explicit(&self->pool->caller, memory_order_relaxed)) return;
  cpu_set_t others; /* from those that it may use now, which the program may have changed */
  if (sched_getaffinity(0, sizeof others, &others)) return;
  if (CPU_EQUAL(&others, &self->aside)) CPU_SET(self->left, &others);
  CPU_CLR((unsigned)here, &others);
  if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof others, &others)) return;
  self->aside = others;
  self->left = (unsigned)here;
}

/* Until the signal is another one. Sequentially consistent: either a sleeper sees that or `announce` sees the sleeper.
 */
static uint32_t wait_for_signal(worker *self, uint32_t seen) {
  hp_pool *pool = self->pool;
  uint64_t begin = hp_now(), patience = patience_of(self);
  hp_spin spin = {.begin = begin};
  bool changed = false;
  while (!(changed = atomic_load_explicit(&pool->signal, memory_order_acquire) != seen) && patience &&
         hp_spin_on(&spin, patience)) {
  }
  if (!changed) {
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->signal) == seen) sleep_while(&pool->signal, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
    step_aside(self);
  }
  adapt(self, hp_now() - begin);
  return atomic_load_explicit(&pool->signal, memory_order_acquire);
}

/* True once for each batch that the thread is wanted for, while its gate is open. */
static bool enter(worker *self) {
  hp_pool *pool = self->pool;
  uint64_t gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
  do {
    if (!(gate & OPEN) || number(gate) == self->last || self->index >= wanted(gate)) return false;
  } while (!atomic_compare_exchange_weak_explicit(&pool->gate, &gate, gate + ONE_INSIDE + ONE_COME,
                                                  memory_order_acquire, memory_order_acquire));
  self->last = number(gate);
  return true;
}

static void *serve(void *argument) {
  worker *self = argument;
  hp_pool *pool = self->pool;
  for (uint32_t seen = 0;;) {
    seen = wait_for_signal(self, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) return NULL;
    if (!enter(self)) continue;
    pool->work(pool->context, self->index);
    atomic_fetch_sub_explicit(&pool->gate, ONE_INSIDE, memory_order_release);
  }
}

static void announce(hp_pool *pool) {
  if (atomic_load_explicit(&pool->sleepers, memory_order_relaxed))
    atomic_store_explicit(&pool->caller, sched_getcpu(), memory_order_relaxed);
  atomic_fetch_add(&pool->signal, 1);
  if (atomic_load(&pool->sleepers)) wake_all(&pool->signal);
}

static unsigned allowed_processors(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : (unsigned)CPU_COUNT(&allowed);
}

hpar_status hp_pool_create(hp_pool **out, unsigned threads) {
  if (threads < 1) threads = 1;
  if (threads > COUNT) threads = COUNT;
  hp_pool *pool = hp_allocate_zeroed(sizeof *pool + threads * sizeof *pool->workers);
  if (!pool) return HPAR_ERROR_MEMORY;
  pool->threads = 1;
  pool->crowded = threads > allowed_processors();
  atomic_store_explicit(&pool->caller, -1, memory_order_relaxed);
  while (pool->threads < threads) {
    worker *next = &pool->workers[pool->threads];
    next->pool = pool;
    next->index = pool->threads;
    next->spin = MAX_SPIN / 2;
    if (pthread_create(&next->thread, NULL, serve, next)) break;
    pool->threads++;
  }
  *out = pool;
  return HPAR_OK;
}

void hp_pool_destroy(hp_pool *pool) {
  if (!pool) return;
  atomic_store_explicit(&pool->stop, true, memory_order_release);
  announce(pool);
  for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
  hp_free(pool);
}

unsigned hp_pool_threads(const hp_pool *pool) { return pool->threads; }

void hp_pool_wait_as(hp_pool *pool, hp_pool_wait how) {
  atomic_store_explicit(&pool->how, (uint8_t)how, memory_order_relaxed);
}

bool hp_pool_is_awake(const hp_pool *pool) { return !atomic_load_explicit(&pool->sleepers, memory_order_relaxed); }

void hp_pool_start(hp_pool *pool, unsigned n, hp_work work, void *context) {
  uint64_t last = number(atomic_load_explicit(&pool->gate, memory_order_relaxed));
  pool->work = work;
  pool->context = context;
  uint64_t next = (uint64_t)(uint32_t)(last + 1) << 32;
  atomic_store_explicit(&pool->gate, next | OPEN | n * ONE_WANTED, memory_order_release);
  announce(pool);
}

/* Until nobody is inside, and everybody that is wanted has come where `all` are to. */
static void wait_until_left(hp_pool *pool, bool all) {
  hp_spin spin = {0};
  bool patient = true;
  for (;;) {
    uint64_t gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
    if (!inside(gate) && (!all || come(gate) + 1 >= wanted(gate))) return;
    if (patient)
      patient = hp_spin_on(&spin, JOIN_SPIN);
    else
      sched_yield();
  }
}

void hp_pool_join(hp_pool *pool) {
  wait_until_left(pool, true);
  hp_pool_end(pool);
}

void hp_pool_end(hp_pool *pool) {
  atomic_fetch_and_explicit(&pool->gate, ~OPEN, memory_order_relaxed);
  wait_until_left(pool, false);
}

static unsigned cores;

static void count_cores(void) {
  cores = allowed_processors();
#if HPAR_HWLOC
  hwloc_topology_t topology;
  /* Without sysfs, as in a bare chroot, hwloc has nothing to tell but prints that. */
  if (access("/sys/devices/system/cpu", R_OK) || hwloc_topology_init(&topology)) return;
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PU, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (!hwloc_topology_load(topology)) {
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    unsigned found = 0;
    if (mine && !hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS))
      for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));)
        found += hwloc_bitmap_intersects(mine, core->cpuset) != 0;
    hwloc_bitmap_free(mine);
    if (found && found < cores) cores = found;
  }
  hwloc_topology_destroy(topology);
#endif
  if (!cores) cores = 1;
}

unsigned hp_usable_cores(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, count_cores);
  return cores;
}
