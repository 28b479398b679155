/* Decoding in slices. */

#include "base/memory.h"
#include "drivers/parallel/parallel.h"

#include <stdatomic.h>

/* Below these bytes a slice costs more to hand over than it saves. */
enum { ROOM = 32 << 20 };
enum { MIN_SLICE = 16 << 10, SLICES_A_THREAD = 1, INLINE_SLICES = 5, INLINE_LEAST = 16, MIN_CHECKED = 32 << 10 };

static hp_pool_wait wait_of(hpar_pool pool) {
  switch (pool) {
    case HPAR_POOL_SPIN: return HP_POOL_SPIN;
    case HPAR_POOL_SLEEP: return HP_POOL_SLEEP;
    default: return HP_POOL_ADAPTIVE;
  }
}

unsigned hp_team_threads(hp_team *team, const hpar_options *o, unsigned wanted) {
  if (!team->pool || team->threads != wanted) {
    hp_pool_destroy(team->pool);
    team->pool = NULL;
    size_t size;
    void *room = hp_reserve(ROOM, ROOM / 32, &size); /* or stacks take all address space, and the workers find none */
    hpar_status status = hp_pool_create(&team->pool, wanted);
    if (room) hp_unreserve(room, size);
    if (status != HPAR_OK) return 0;
    team->threads = wanted;
  }
  hp_pool_wait_as(team->pool, wait_of(o->pool));
  return hp_pool_threads(team->pool);
}

typedef struct slices {
  void (*work)(void *job, unsigned i);
  void *job;
  unsigned count, threads;
  _Atomic uint32_t taken; /* bit i: slice i */
} slices;

/* Each thread begins with its own part of the slices, the same each time, for it will parse there, too: a line of the
 * text that another thread has read since is dear to write again. */
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

void hp_team_run(hp_team *team, const hpar_options *o, unsigned threads, hp_work work, void *job) {
  if (threads > 1 && o->executor == HPAR_EXECUTOR_CALLER) {
    o->run(o->run_context, threads, work, job);
  } else if (threads > 1 && o->executor == HPAR_EXECUTOR_THREADS) {
    hp_pool_start(team->pool, threads, work, job);
    work(job, 0);
    hp_pool_join(team->pool);
  } else {
    while (threads--) work(job, threads);
  }
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
