#include "runtime/crew.h"

#include "base/memory.h"
#include "base/target.h"
#include "runtime/units.h"
#if HPAR_PARALLEL
#include "platform/address_range.h"
#include "platform/affinity.h"
#endif

enum { WORD_BITS = 64 };

/*** executors ***/

hp_executor hp_executor_of_call(hpar_run_callback run, void *context, unsigned threads) {
#if HPAR_PARALLEL
  if (!threads) threads = hp_usable_cores();
#else
  if (!threads || !run) threads = 1;
#endif
  if (threads > HPAR_MAX_THREADS) threads = HPAR_MAX_THREADS;
  return (hp_executor){
      .kind = run ? HPAR_EXECUTOR_CALLER : HPAR_EXECUTOR_THREADS, .run = run, .context = context, .threads = threads};
}

typedef struct task_set {
  hp_task_fn work;
  void *context;
  unsigned count;
  _Atomic uint64_t started[(HPAR_MAX_THREADS + WORD_BITS - 1) / WORD_BITS]; /* bit t: task t */
} task_set;

/* Runs a task, unless it has been started before. Ignores an index that is no task. */
static void run_task(void *context, unsigned index) {
  task_set *tasks = context;
  if (index >= tasks->count) return;
  const uint64_t bit = UINT64_C(1) << index % WORD_BITS;
  hp_turn();
  if (!(atomic_fetch_or_explicit(&tasks->started[index / WORD_BITS], bit, memory_order_acquire) & bit))
    tasks->work(tasks->context, index);
}

void hp_crew_run_by_caller(const hp_executor *executor, unsigned threads, hp_task_fn work, void *context) {
  task_set tasks = {.work = work, .context = context, .count = threads};
  executor->run(threads, run_task, &tasks, executor->context);
  for (unsigned i = 0; i < threads; i++) run_task(&tasks, i);
}

/*** the pool ***/

#if HPAR_PARALLEL
/* Without the reservation, the stacks of the threads may take all address space, and the parser
 * would find none. */
static bool grow_pool(hp_crew *crew, unsigned threads) {
  enum { STACK_ADDRESS_SPACE = 32 << 20 };
  void *reserved = hp_map(STACK_ADDRESS_SPACE);
  hpar_status status = HPAR_OK;
  if (crew->pool)
    hp_pool_grow(crew->pool, threads);
  else
    status = hp_pool_create(&crew->pool, threads);
  if (reserved) hp_unmap(reserved, STACK_ADDRESS_SPACE);
  return status == HPAR_OK;
}

static unsigned prepare_pool(hp_crew *crew, hp_pool_wait wait, unsigned wanted) {
  if (crew->pool && hp_pool_is_lost(crew->pool)) {
    hp_pool_destroy(crew->pool);
    crew->pool = NULL;
    crew->wanted = 0;
  }
  if (crew->wanted < wanted) {
    if (!grow_pool(crew, wanted)) return 0;
    crew->wanted = wanted;
  }
  hp_pool_wait_as(crew->pool, wait);
  unsigned threads = hp_pool_threads(crew->pool);
  return threads < wanted ? threads : wanted;
}

static void run_on_thread(void *context, unsigned thread) {
  hp_crew *crew = context;
  hp_stragglers *stragglers = crew->stragglers;
  if (!hp_bind_thread(crew->run.bind, thread)) atomic_store(&crew->not_bound, true);
  crew->run.work(crew->run.context, thread);
  if (stragglers) hp_stragglers_leave(stragglers);
}

/* Objects of earlier runs may still hold the old count. */
static void count_stragglers(hp_crew *crew) {
  if (crew->stragglers && !hp_stragglers_are_unshared(crew->stragglers)) {
    hp_stragglers_release(crew->stragglers);
    crew->stragglers = NULL;
  }
  if (!crew->stragglers) crew->stragglers = hp_stragglers_create();
  if (crew->stragglers) hp_stragglers_reset(crew->stragglers);
}

void hp_crew_start(hp_crew *crew, bool bind, unsigned threads, hp_task_fn work, void *context) {
  count_stragglers(crew);
  crew->run.work = work;
  crew->run.context = context;
  crew->run.bind = bind;
  atomic_store_explicit(&crew->not_bound, false, memory_order_relaxed);
  hp_pool_start(crew->pool, threads, run_on_thread, crew);
  hp_unit_call_hook();
}

void hp_crew_join(hp_crew *crew) { hp_pool_join(crew->pool); }
void hp_crew_end(hp_crew *crew) { hp_pool_end(crew->pool); }

void hp_crew_leave(hp_crew *crew, unsigned entered, void (*drop)(void *job), void *job) {
  hp_pool_widen(crew->pool);
  hp_stragglers_expect(crew->stragglers, entered);
  crew->is_left = true;
  crew->kept.drop = drop;
  crew->kept.job = job;
}

bool hp_crew_has_stragglers(const hp_crew *crew) { return crew->is_left && !hp_pool_is_idle(crew->pool); }

hp_stragglers *hp_crew_lend_stragglers(const hp_crew *crew) {
  return crew->is_left ? hp_stragglers_hold(crew->stragglers) : NULL;
}

bool hp_crew_await(hp_crew *crew) {
  if (!crew->is_left) return true;
  crew->is_left = false;
  if (hp_pool_is_lost(crew->pool)) return false;
  hp_pool_end(crew->pool);
  if (crew->kept.drop) crew->kept.drop(crew->kept.job);
  return true;
}

void hp_crew_close(hp_crew *crew) {
  hp_crew_await(crew);
  hp_pool_destroy(crew->pool);
  hp_stragglers_release(crew->stragglers);
}

static void close_and_free(hp_crew *crew) {
  hp_crew_close(crew);
  hp_free(crew);
}

static void add_late(hp_late_crews *late, hp_crew *crew) {
  crew->next = atomic_load_explicit(&late->first, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&late->first, &crew->next, crew, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

void hp_crew_retire(hp_crew *crew, hp_late_crews *late) {
  enum { PATIENCE_NS = 150000 };
  if (!crew->pool || hp_pool_stop(crew->pool, crew->is_left ? 0 : PATIENCE_NS)) {
    close_and_free(crew);
    return;
  }
  hp_pool_widen(crew->pool);
  add_late(late, crew);
}

/* The thread that takes the crews out has them alone. */
unsigned hp_late_crews_sweep(hp_late_crews *late, bool waits) {
  unsigned left = 0;
  if (!atomic_load_explicit(&late->first, memory_order_relaxed)) return 0;
  hp_crew *crew = atomic_exchange_explicit(&late->first, NULL, memory_order_acquire);
  for (hp_crew *next; crew; crew = next) {
    next = crew->next;
    if (waits || hp_pool_stop(crew->pool, 0)) {
      close_and_free(crew);
    } else {
      add_late(late, crew);
      left++;
    }
  }
  return left;
}

static void run_on_pool(hp_crew *crew, const hp_executor *executor, unsigned threads, hp_task_fn work, void *context) {
  hp_crew_start(crew, executor->bind, threads, work, context);
  work(context, 0);
  hp_crew_end(crew);
}
#else
static unsigned prepare_pool(hp_crew *crew, hp_pool_wait wait, unsigned wanted) {
  (void)crew, (void)wait, (void)wanted;
  return 1;
}

static void run_on_pool(hp_crew *crew, const hp_executor *executor, unsigned threads, hp_task_fn work, void *context) {
  (void)crew, (void)executor, (void)threads;
  work(context, 0);
}

void hp_crew_close(hp_crew *crew) { (void)crew; }
void hp_crew_retire(hp_crew *crew, hp_late_crews *late) {
  (void)late;
  hp_free(crew);
}
unsigned hp_late_crews_sweep(hp_late_crews *late, bool waits) {
  (void)late, (void)waits;
  return 0;
}
#endif

/*** runs ***/

unsigned hp_crew_prepare(hp_crew *crew, const hp_executor *executor, unsigned wanted) {
  atomic_store_explicit(&crew->not_bound, false, memory_order_relaxed);
  return wanted < 2 || executor->kind != HPAR_EXECUTOR_THREADS ? wanted : prepare_pool(crew, executor->wait, wanted);
}

void hp_crew_run(hp_crew *crew, const hp_executor *executor, unsigned threads, hp_task_fn work, void *context) {
  if (threads > 1 && executor->kind == HPAR_EXECUTOR_CALLER) {
    hp_crew_run_by_caller(executor, threads, work, context);
  } else if (threads > 1 && executor->kind == HPAR_EXECUTOR_THREADS) {
    run_on_pool(crew, executor, threads, work, context);
  } else {
    while (threads--) work(context, threads);
  }
}
