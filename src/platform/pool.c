#include "platform/pool.h"

#include "base/memory.h"
#include "base/process.h"
#include "platform/affinity.h"
#include "platform/event_count.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEPS_PER_LOOK = 16 };
enum { MIN_SPIN_NS = 50000, MAX_SPIN_NS = 2000000, SATURATED_SPIN_NS = 5000 };
enum { LONG_SPIN_NS = 1000000000, JOIN_SPIN_NS = 50000 };

/* The state of one thread, on separate cache lines. */
typedef struct worker {
  _Alignas(HP_CACHE_LINE) hp_pool *pool;
  pthread_t thread;
  unsigned index;
  uint32_t last_batch; /* number of the batch that the thread entered last */
  uint64_t spin;       /* duration of the next adaptive spin */
  bool idle;           /* the last batch did not request the thread */
  cpu_set_t narrowed;  /* the affinity that avoid_cpu set; the calling thread's field */
  int avoided;         /* the CPU that avoid_cpu removed, or -1; the calling thread's field */
  _Alignas(HP_CACHE_LINE) _Atomic bool asleep;
  _Atomic int cpu; /* of its last wait or batch; -1: the thread is bound, or did not run */
} worker;

/* The batch word: a thread enters a batch by one atomic change. The word holds the number of the
 * batch, whether it is open, and how many threads are requested, have entered, and are active. */
enum { COUNT_BITS = 10, COUNT = (1 << COUNT_BITS) - 1 };
#define ONE_ACTIVE UINT64_C(1)
#define ONE_ENTERED (UINT64_C(1) << COUNT_BITS)
#define ONE_REQUESTED (UINT64_C(1) << 2 * COUNT_BITS)
#define OPEN (UINT64_C(1) << 3 * COUNT_BITS)

static unsigned active(uint64_t batch) { return (unsigned)batch & COUNT; }
static unsigned entered(uint64_t batch) { return (unsigned)(batch >> COUNT_BITS) & COUNT; }
static unsigned requested(uint64_t batch) { return (unsigned)(batch >> 2 * COUNT_BITS) & COUNT; }
static uint32_t number(uint64_t batch) { return (uint32_t)(batch >> 32); }

/* `work` and `context` change only while the batch is closed and no thread is active. */
struct hp_pool {
  hp_task_fn work;
  void *context;
  worker **workers; /* [1] to [threads - 1] */
  unsigned threads; /* with the caller */
  unsigned processors;
  unsigned generation;    /* of hp_fork_generation */
  _Atomic bool saturated; /* the batch has more threads than processors */
  _Atomic uint8_t wait;
  _Alignas(HP_CACHE_LINE) _Atomic uint64_t batch;  /* open, leave: release; enter: acquire */
  _Alignas(HP_CACHE_LINE) _Atomic uint32_t signal; /* futex: a batch or the end changes it */
  _Atomic bool stop;
  _Atomic unsigned ended;                       /* threads that use the pool no more */
  _Alignas(HP_CACHE_LINE) hp_event_count leave; /* a thread leaves the batch */
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
  if (spin->steps++ % STEPS_PER_LOOK) return true;
  uint64_t now = hp_now();
  if (!spin->begin) spin->begin = now;
  return now - spin->begin < nanoseconds;
}

/* Returns the bit of a futex that wakes a thread. The last one is for all threads with higher
 * indices. */
static uint32_t mask_of(unsigned index) { return UINT32_C(1) << (index < 31 ? index : 31); }
static uint32_t masks_below(unsigned n) { return n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX; }

static uint64_t spin_duration(const worker *self) {
  const hp_pool *pool = self->pool;
  if (self->idle) return 0;
  switch (atomic_load_explicit(&pool->wait, memory_order_relaxed)) {
    case HP_POOL_SPIN: return LONG_SPIN_NS;
    case HP_POOL_SLEEP: return 0;
    default: return atomic_load_explicit(&pool->saturated, memory_order_relaxed) ? SATURATED_SPIN_NS : self->spin;
  }
}

/* Sets the next spin to twice the last wait, at most MAX_SPIN_NS. After a longer wait the spin
 * halves, so that a thread never spins for much longer than a wake-up takes. */
static void adapt_spin(worker *self, uint64_t waited) {
  uint64_t spin = waited < MAX_SPIN_NS ? 2 * waited : self->spin / 2, least = self->spin - self->spin / 8;
  if (waited < MAX_SPIN_NS && spin < least) spin = least;
  self->spin = spin < MIN_SPIN_NS ? MIN_SPIN_NS : spin < MAX_SPIN_NS ? spin : MAX_SPIN_NS;
}

static void note_cpu(worker *self) {
  atomic_store_explicit(&self->cpu, hp_thread_is_bound() ? -1 : sched_getcpu(), memory_order_relaxed);
}

/* Waits until the signal changes. The operations are sequentially consistent: a sleeper sees the
 * change, or `signal_threads` sees the sleeper. */
static uint32_t wait_for_signal(worker *self, uint32_t seen) {
  hp_pool *pool = self->pool;
  uint64_t begin = hp_now(), duration = spin_duration(self);
  hp_spin spin = {.begin = begin};
  note_cpu(self);
  bool changed = false;
  while (!(changed = atomic_load_explicit(&pool->signal, memory_order_acquire) != seen) && duration &&
         hp_spin_on(&spin, duration)) {
  }
  if (!changed) {
    atomic_store(&self->asleep, true);
    while (atomic_load(&pool->signal) == seen)
      syscall(SYS_futex, &pool->signal, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL, mask_of(self->index));
    atomic_store(&self->asleep, false);
  }
  if (!self->idle) adapt_spin(self, hp_now() - begin);
  return atomic_load_explicit(&pool->signal, memory_order_acquire);
}

/* Enters the open batch. Returns false if the batch is closed, does not request the thread, or
 * is one that the thread has entered before. */
static bool enter_batch(worker *self) {
  hp_pool *pool = self->pool;
  uint64_t batch = atomic_load_explicit(&pool->batch, memory_order_acquire);
  do {
    self->idle = self->index >= requested(batch);
    if (!(batch & OPEN) || number(batch) == self->last_batch || self->idle) return false;
  } while (!atomic_compare_exchange_weak_explicit(&pool->batch, &batch, batch + ONE_ACTIVE + ONE_ENTERED,
                                                  memory_order_acquire, memory_order_acquire));
  self->last_batch = number(batch);
  note_cpu(self);
  return true;
}

static void *serve_batches(void *argument) {
  worker *self = argument;
  hp_pool *pool = self->pool;
  for (uint32_t seen = 0;;) {
    seen = wait_for_signal(self, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) break;
    if (!enter_batch(self)) continue;
    pool->work(pool->context, self->index);
    atomic_fetch_sub_explicit(&pool->batch, ONE_ACTIVE, memory_order_release);
    hp_event_count_wake(&pool->leave);
  }
  atomic_fetch_add_explicit(&pool->ended, 1, memory_order_release);
  return NULL;
}

static bool any_sleeps(const hp_pool *pool, unsigned n) {
  for (unsigned i = 1; i < n; i++)
    if (atomic_load(&pool->workers[i]->asleep)) return true;
  return false;
}

/* Removes a CPU from the affinity of a thread. Requires: the thread is not bound. */
static void avoid_cpu(worker *w, int cpu) {
  cpu_set_t others; /* based on the current affinity, which the program may have changed */
  if (pthread_getaffinity_np(w->thread, sizeof others, &others)) return;
  if (w->avoided >= 0 && CPU_EQUAL(&others, &w->narrowed)) CPU_SET((unsigned)w->avoided, &others);
  CPU_CLR((unsigned)cpu, &others);
  w->avoided = cpu;
  w->narrowed = others;
  if (CPU_COUNT(&others)) pthread_setaffinity_np(w->thread, sizeof others, &others);
}

/* Moves threads away from the caller's CPU. A spinning thread may have it because the caller has
 * moved there. A woken thread may get it, because the kernel of a virtual machine treats a sleeping
 * CPU as absent. Such a thread would start only when the kernel takes the CPU away from the caller,
 * after milliseconds. */
static void leave_cpu_to_caller(hp_pool *pool, unsigned n) {
  int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || atomic_load_explicit(&pool->saturated, memory_order_relaxed)) return;
  for (unsigned i = 1; i < n; i++) {
    worker *w = pool->workers[i];
    int cpu = atomic_load_explicit(&w->cpu, memory_order_relaxed);
    if (cpu >= 0 && w->avoided != here && (cpu == here || atomic_load(&w->asleep))) avoid_cpu(w, here);
  }
}

static void widen_affinity(worker *w) {
  cpu_set_t set;
  if (w->avoided < 0 || pthread_getaffinity_np(w->thread, sizeof set, &set)) return;
  if (CPU_EQUAL(&set, &w->narrowed)) {
    CPU_SET((unsigned)w->avoided, &set);
    pthread_setaffinity_np(w->thread, sizeof set, &set);
  }
  w->avoided = -1;
}

static void signal_threads(hp_pool *pool, unsigned n) {
  leave_cpu_to_caller(pool, n);
  atomic_fetch_add(&pool->signal, 1);
  if (any_sleeps(pool, n))
    syscall(SYS_futex, &pool->signal, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, masks_below(n));
}

/* Blocks all signals that another thread or process sends. Faults of the thread itself stay. */
static void block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  sigset_t blocked;
  sigfillset(&blocked);
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, before);
}

/* Creates the thread, and lets it run on another CPU than the caller's, if there is one. The thread
 * does not keep a binding of the caller, which ends before the thread does. */
static bool create_thread(worker *next, bool avoids_caller) {
  int here = avoids_caller ? sched_getcpu() : -1;
  bool avoids = here >= 0 && here < CPU_SETSIZE;
  cpu_set_t cpus;
  if (pthread_create(&next->thread, NULL, serve_batches, next)) return false;
  if ((!avoids && !hp_caller_is_bound()) || !hp_unbound_affinity(&cpus)) return true;
  if (avoids) CPU_CLR((unsigned)here, &cpus);
  if (!CPU_COUNT(&cpus) || pthread_setaffinity_np(next->thread, sizeof cpus, &cpus) || !avoids) return true;
  next->narrowed = cpus;
  next->avoided = here;
  return true;
}

static bool start_thread(hp_pool *pool, bool avoids_caller) {
  worker *next = hp_allocate_aligned(HP_CACHE_LINE, sizeof *next);
  if (!next) return false;
  memset(next, 0, sizeof *next);
  next->pool = pool;
  next->index = pool->threads;
  next->spin = MAX_SPIN_NS / 2;
  next->avoided = -1;
  atomic_store_explicit(&next->cpu, -1, memory_order_relaxed);
  if (!create_thread(next, avoids_caller)) {
    hp_free(next);
    return false;
  }
  pool->workers[pool->threads++] = next;
  return true;
}

void hp_pool_grow(hp_pool *pool, unsigned threads) {
  if (threads > COUNT) threads = COUNT;
  if (threads <= pool->threads) return;
  worker **workers = hp_reallocate(pool->workers, threads * sizeof(worker *));
  if (!workers) return;
  pool->workers = workers;
  hp_event_count_prepare();
  sigset_t before;
  block_signals(&before);
  while (pool->threads < threads && start_thread(pool, threads <= pool->processors)) {
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

hpar_status hp_pool_create(hp_pool **out, unsigned threads) {
  hp_pool *pool = hp_allocate_aligned(HP_CACHE_LINE, sizeof *pool);
  if (!pool) return HPAR_ERROR_MEMORY;
  memset(pool, 0, sizeof *pool);
  pool->threads = 1;
  cpu_set_t allowed;
  pool->processors = hp_unbound_affinity(&allowed) ? (unsigned)CPU_COUNT(&allowed) : 1;
  pool->generation = hp_fork_generation();
  hp_pool_grow(pool, threads);
  *out = pool;
  return HPAR_OK;
}

bool hp_pool_is_lost(const hp_pool *pool) { return pool->generation != hp_fork_generation(); }

static void tell_to_end(hp_pool *pool) {
  if (!atomic_exchange_explicit(&pool->stop, true, memory_order_release)) signal_threads(pool, pool->threads);
}

bool hp_pool_stop(hp_pool *pool, uint64_t patience_ns) {
  if (hp_pool_is_lost(pool)) return true;
  tell_to_end(pool);
  hp_spin spin = {0};
  while (atomic_load_explicit(&pool->ended, memory_order_acquire) + 1 < pool->threads)
    if (!hp_spin_on(&spin, patience_ns)) return false;
  return true;
}

void hp_pool_destroy(hp_pool *pool) {
  if (!pool) return;
  bool lost = hp_pool_is_lost(pool);
  if (!lost) tell_to_end(pool);
  for (unsigned i = 1; i < pool->threads; i++) {
    if (!lost) pthread_join(pool->workers[i]->thread, NULL);
    hp_free(pool->workers[i]);
  }
  hp_free(pool->workers);
  hp_free(pool);
}

unsigned hp_pool_threads(const hp_pool *pool) { return pool->threads; }

void hp_pool_widen(hp_pool *pool) {
  if (hp_pool_is_lost(pool)) return;
  for (unsigned i = 1; i < pool->threads; i++) widen_affinity(pool->workers[i]);
}

void hp_pool_wake(hp_pool *pool, unsigned n) {
  if (n > pool->threads) n = pool->threads;
  if (!hp_pool_is_lost(pool) && any_sleeps(pool, n)) signal_threads(pool, n);
}

void hp_pool_wait_as(hp_pool *pool, hp_pool_wait how) {
  atomic_store_explicit(&pool->wait, (uint8_t)how, memory_order_relaxed);
}

bool hp_pool_is_awake(const hp_pool *pool, unsigned n) {
  if (n > pool->threads) n = pool->threads;
  return !hp_pool_is_lost(pool) && !any_sleeps(pool, n);
}

void hp_pool_start(hp_pool *pool, unsigned n, hp_task_fn work, void *context) {
  uint64_t last = number(atomic_load_explicit(&pool->batch, memory_order_relaxed));
  pool->work = work;
  pool->context = context;
  uint64_t next = (uint64_t)(uint32_t)(last + 1) << 32;
  atomic_store_explicit(&pool->saturated, n > pool->processors, memory_order_relaxed);
  atomic_store_explicit(&pool->batch, next | OPEN | n * ONE_REQUESTED, memory_order_release);
  signal_threads(pool, n);
}

static bool is_idle(void *pool) { return hp_pool_is_idle(pool); }

static bool is_complete(void *context) {
  const hp_pool *pool = context;
  uint64_t batch = atomic_load_explicit(&pool->batch, memory_order_acquire);
  return hp_pool_is_lost(pool) || (!active(batch) && entered(batch) + 1 >= requested(batch));
}

void hp_pool_join(hp_pool *pool) {
  hp_event_count_wait(&pool->leave, JOIN_SPIN_NS, is_complete, pool);
  hp_pool_end(pool);
}

unsigned hp_pool_close(hp_pool *pool) {
  return entered(atomic_fetch_and_explicit(&pool->batch, ~OPEN, memory_order_relaxed));
}

bool hp_pool_is_idle(const hp_pool *pool) {
  return hp_pool_is_lost(pool) || !active(atomic_load_explicit(&pool->batch, memory_order_acquire));
}

void hp_pool_end(hp_pool *pool) {
  hp_pool_close(pool);
  hp_event_count_wait(&pool->leave, JOIN_SPIN_NS, is_idle, pool);
}
