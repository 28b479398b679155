#include "drivers/parallel/slices.h"

#include "drivers/parallel/executor.h"

/* A smaller slice costs more than it saves. */
enum { MIN_DECODED_BYTES = 4 << 10, MIN_CHECKED_BYTES = 8 << 10 };
/* Larger slices are not needed. Texts below MIN_LONG_BYTES have no smaller ones. */
enum { MAX_DECODED_BYTES = 8 << 10, MAX_CHECKED_BYTES = 32 << 10, MIN_LONG_BYTES = 128 << 10 };
/* The bytes of some slices take several times longer than those of others. */
enum { SLICES_PER_THREAD = 4 };
/* The inline executor uses small slices, so that tests cover them. */
enum { INLINE_SLICES = 5, MIN_INLINE_BYTES = 16 };

typedef struct slices {
  void (*work)(void *job, unsigned i);
  void *job;
  unsigned count, threads;
  _Atomic uint64_t claimed; /* bit i: slice i */
} slices;

/* Runs slices on one thread. Each thread begins with its own part of the slices, in which it will
 * also parse. Writing a cache line that another core has read since costs 1, 7 or 27 ns. */
static void run_slices(void *context, unsigned thread) {
  slices *s = context;
  for (unsigned k = 0; k < s->count; k++) {
    unsigned i = (s->count * thread / s->threads + k) % s->count;
    if (hp_claim_item(&s->claimed, i)) s->work(s->job, i);
  }
}

static void run_on_pool(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  hp_team *team = context;
  unsigned threads = team->pool ? hp_pool_threads(team->pool) : 1;
  if (threads > count) threads = count;
  slices s = {work, job, count, threads, 0};
  if (threads > 1) hp_pool_start(team->pool, threads, run_slices, &s);
  run_slices(&s, 0);
  if (threads > 1) hp_pool_end(team->pool);
}

/* Each task runs slices until none is left, so that there are at most as many tasks as threads. */
static void run_by_caller(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  const hp_executor *executor = context;
  unsigned threads = executor->threads < count ? executor->threads : count;
  slices s = {work, job, count, threads, 0};
  hp_run_on_caller(executor, threads, run_slices, &s);
}

static void run_inline(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  (void)context;
  while (count--) work(job, count);
}

static size_t between(size_t bytes, size_t least, size_t most) {
  return bytes < least ? least : bytes < most ? bytes : most;
}

void hp_team_slice_executor(hp_team *team, const hp_executor *from, size_t length, hp_slice_executor *executor) {
  executor->first_slice_bytes = hp_merger_share(length, 2);
  if (from->kind == HPAR_EXECUTOR_INLINE) {
    executor->run = run_inline;
    executor->max_slices = INLINE_SLICES;
    executor->min_slice_bytes = executor->min_checked_bytes = MIN_INLINE_BYTES;
    return;
  }
  bool is_callers = from->kind == HPAR_EXECUTOR_CALLER;
  unsigned threads = is_callers ? from->threads : hp_team_threads(team, from->wait, from->threads);
  if (threads < 2) return;
  executor->context = is_callers ? (void *)from : team;
  executor->run = is_callers ? run_by_caller : run_on_pool;
  executor->max_slices = threads > 2 ? SLICES_PER_THREAD * threads : threads;
  size_t share = length / ((size_t)SLICES_PER_THREAD * threads);
  if (length < MIN_LONG_BYTES) share = MAX_CHECKED_BYTES;
  executor->min_slice_bytes = between(share, MIN_DECODED_BYTES, MAX_DECODED_BYTES);
  executor->min_checked_bytes = between(share, MIN_CHECKED_BYTES, MAX_CHECKED_BYTES);
}
