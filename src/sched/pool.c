#include "sched/pool.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#if HPAR_HWLOC
#include <hwloc.h>
#include <unistd.h>
#endif

/* A millisecond or two of polite spinning: on a virtual machine an idle processor may take hundreds of microseconds to
 * come back, which is a whole parse of a small page. */
enum { SPINS = 30000 };

typedef struct worker {
  hp_pool *pool;
  pthread_t thread;
  unsigned index;
} worker;

/* A batch is announced by its number. `running` counts threads that are still at it. */
struct hp_pool {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  _Atomic unsigned batch;   /* release: work, context and wanted are set */
  _Atomic unsigned running; /* release on decrement: results are written */
  _Atomic unsigned sleepers;
  hp_work work;
  void *context;
  unsigned wanted;
  bool stop;
  unsigned threads; /* with the caller */
  worker workers[];
};

void hp_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

static unsigned wait_for_batch(hp_pool *pool, unsigned seen) {
  for (int i = 0; i < SPINS; i++) {
    unsigned batch = atomic_load_explicit(&pool->batch, memory_order_acquire);
    if (batch != seen) return batch;
    hp_pause();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->sleepers, 1);
  while (atomic_load_explicit(&pool->batch, memory_order_acquire) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->lock);
  return atomic_load_explicit(&pool->batch, memory_order_acquire);
}

static void *serve(void *argument) {
  worker *self = argument;
  hp_pool *pool = self->pool;
  unsigned seen = 0;
  for (;;) {
    seen = wait_for_batch(pool, seen);
    if (pool->stop) return NULL;
    if (self->index < pool->wanted) pool->work(pool->context, self->index);
    atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
  }
}

/* Sequentially consistent: either a sleeper sees the new number or we see the sleeper. */
static void announce(hp_pool *pool) {
  atomic_fetch_add(&pool->batch, 1);
  if (!atomic_load(&pool->sleepers)) return;
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
}

hpar_status hp_pool_create(hp_pool **out, unsigned threads) {
  if (threads < 1) threads = 1;
  hp_pool *pool = hp_allocate_zeroed(sizeof *pool + threads * sizeof *pool->workers);
  if (!pool) return HPAR_ERROR_MEMORY;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pool->threads = 1;
  while (pool->threads < threads) {
    worker *next = &pool->workers[pool->threads];
    next->pool = pool;
    next->index = pool->threads;
    if (pthread_create(&next->thread, NULL, serve, next)) break;
    pool->threads++;
  }
  *out = pool;
  return HPAR_OK;
}

void hp_pool_destroy(hp_pool *pool) {
  if (!pool) return;
  pool->stop = true;
  announce(pool);
  for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  hp_free(pool);
}

unsigned hp_pool_threads(const hp_pool *pool) { return pool->threads; }

void hp_pool_start(hp_pool *pool, unsigned n, hp_work work, void *context) {
  pool->work = work;
  pool->context = context;
  pool->wanted = n;
  atomic_store_explicit(&pool->running, pool->threads - 1, memory_order_relaxed);
  announce(pool);
}

void hp_pool_join(hp_pool *pool) {
  for (unsigned spins = 0; atomic_load_explicit(&pool->running, memory_order_acquire); spins++) {
    if (spins < SPINS)
      hp_pause();
    else
      sched_yield();
  }
}

static unsigned cores;

static void count_cores(void) {
  cpu_set_t allowed;
  cores = sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : (unsigned)CPU_COUNT(&allowed);
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
