#include "drivers/parallel/executor.h"

#include "base/target.h"

enum { WORD_BITS = 64 };

typedef struct task_set {
  hp_work work;
  void *context;
  unsigned count;
  _Atomic uint64_t started[(HPAR_MAX_THREADS + WORD_BITS - 1) / WORD_BITS]; /* bit t: task t */
} task_set;

bool hp_claim_item(_Atomic uint64_t *claimed, unsigned index) {
  uint64_t bit = UINT64_C(1) << index % WORD_BITS;
  hp_turn();
  return !(atomic_fetch_or_explicit(&claimed[index / WORD_BITS], bit, memory_order_acquire) & bit);
}

void hp_mark_item(_Atomic uint64_t *finished, unsigned index) {
  uint64_t bit = UINT64_C(1) << index % WORD_BITS;
  hp_turn();
  atomic_fetch_or_explicit(&finished[index / WORD_BITS], bit, memory_order_release);
}

/* Runs a task, unless it has been started before. Ignores an index that is no task. */
static void run_task(void *context, unsigned index) {
  task_set *tasks = context;
  if (index >= tasks->count) return;
  if (hp_claim_item(tasks->started, index)) tasks->work(tasks->context, index);
}

void hp_run_on_caller(const hp_executor *executor, unsigned count, hp_work work, void *context) {
  task_set tasks = {.work = work, .context = context, .count = count};
  executor->run(count, run_task, &tasks, executor->context);
  for (unsigned i = 0; i < count; i++) run_task(&tasks, i);
}
