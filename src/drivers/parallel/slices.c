#include "drivers/parallel/slices.h"

#include <stdatomic.h>

/* Below these bytes a slice costs more to hand over than it saves. */
enum { MIN_SLICE = 16 << 10, SLICES_A_THREAD = 1, INLINE_SLICES = 5, INLINE_LEAST = 16, MIN_CHECKED = 32 << 10 };

typedef struct slices {
  void (*work)(void *job, unsigned i);
  void *job;
  unsigned count, threads;
  _Atomic uint32_t taken; /* bit i: slice i */
} slices;

/* Runs slices on one thread. Each thread begins with its own part of the slices, in which it will
 * also parse. Writing a cache line that another core has read since costs 1, 7 or 27 ns. */
static void take_slices(void *context, unsigned thread) {
  slices *s = context;
  for (unsigned k = 0; k < s->count; k++) {
    unsigned i = (s->count * thread / s->threads + k) % s->count;
    if (!(atomic_fetch_or_explicit(&s->taken, 1u << i, memory_order_relaxed) >> i & 1)) s->work(s->job, i);
  }
}

static void run_threads(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  hp_team *team = context;
  unsigned threads = team->pool ? hp_pool_threads(team->pool) : 1;
  if (threads > count) threads = count;
  slices s = {work, job, count, threads, 0};
  if (threads > 1) hp_pool_start(team->pool, threads, take_slices, &s);
  take_slices(&s, 0);
  if (threads > 1) hp_pool_end(team->pool);
}

static void run_slices(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  const hpar_options *o = context;
  o->run(o->run_context, count, work, job);
}

static void run_inline(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  (void)context;
  while (count--) work(job, count);
}

void hp_team_slice_executor(hp_team *team, const hpar_options *o, size_t length, hp_slice_executor *aid) {
  aid->context = team;
  aid->first = hp_merger_share(length, 2);
  if (o->executor == HPAR_EXECUTOR_INLINE) {
    aid->run = run_inline;
    aid->most = INLINE_SLICES;
    aid->least = aid->least_checked = INLINE_LEAST;
    return;
  }
  if (o->executor == HPAR_EXECUTOR_CALLER) {
    unsigned wanted = o->threads ? o->threads : hp_usable_cores();
    if (wanted < 2) return;
    aid->context = (void *)o;
    aid->run = run_slices;
    aid->most = wanted * SLICES_A_THREAD;
    aid->least = MIN_SLICE;
    aid->least_checked = MIN_CHECKED;
    return;
  }
  unsigned threads = hp_team_threads(team, o, o->threads ? o->threads : hp_usable_cores());
  if (threads < 2) return;
  aid->run = run_threads;
  aid->most = threads * SLICES_A_THREAD;
  aid->least = MIN_SLICE;
  aid->least_checked = MIN_CHECKED;
}
