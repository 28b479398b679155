/* Decoding in slices: each thread takes the next that nobody has taken. */

#include "base/memory.h"
#include "parallel/parallel.h"

#include <stdatomic.h>

/* Below these bytes a slice costs more to hand over than it saves. */
enum { ROOM = 32 << 20 };
enum { LEAST_SLICE = 128 << 10, SLICES_A_THREAD = 2, INLINE_SLICES = 5, INLINE_LEAST = 16 };

unsigned hp_crew_threads(hp_crew *crew, unsigned wanted) {
  if (!crew->pool || crew->threads != wanted) {
    hp_pool_destroy(crew->pool);
    crew->pool = NULL;
    size_t size;
    void *room = hp_reserve(ROOM, ROOM / 32, &size); /* or stacks take all address space, and the workers find none */
    hpar_status status = hp_pool_create(&crew->pool, wanted);
    if (room) hp_unreserve(room, size);
    if (status != HPAR_OK) return 0;
    crew->threads = wanted;
  }
  return hp_pool_threads(crew->pool);
}

typedef struct slices {
  void (*work)(void *job, unsigned i);
  void *job;
  unsigned count;
  _Atomic unsigned next;
} slices;

static void take_slices(void *context, unsigned thread) {
  slices *s = context;
  (void)thread;
  for (unsigned i; (i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->count;) s->work(s->job, i);
}

static void run_threads(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  hp_crew *crew = context;
  slices s = {work, job, count, 0};
  unsigned threads = crew->pool ? hp_pool_threads(crew->pool) : 1;
  if (threads > count) threads = count;
  if (threads > 1) hp_pool_start(crew->pool, threads, take_slices, &s);
  take_slices(&s, 0);
  if (threads > 1) hp_pool_join(crew->pool);
}

static void run_slices(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  const hpar_options *o = context;
  o->run(o->run_context, count, work, job);
}

static void run_inline(void *context, unsigned count, void (*work)(void *job, unsigned i), void *job) {
  (void)context;
  while (count--) work(job, count);
}

void hp_crew_run(hp_crew *crew, const hpar_options *o, unsigned threads, hp_work work, void *job) {
  if (threads > 1 && o->executor == HPAR_EXECUTOR_CALLER) {
    o->run(o->run_context, threads, work, job);
  } else if (threads > 1 && o->executor == HPAR_EXECUTOR_THREADS) {
    hp_pool_start(crew->pool, threads, work, job);
    work(job, 0);
    hp_pool_join(crew->pool);
  } else {
    while (threads--) work(job, threads);
  }
}

void hp_crew_aid(hp_crew *crew, const hpar_options *o, hp_decode_aid *aid) {
  aid->context = crew;
  if (o->executor == HPAR_EXECUTOR_INLINE) {
    aid->run = run_inline;
    aid->most = INLINE_SLICES;
    aid->least = INLINE_LEAST;
    return;
  }
  if (o->executor == HPAR_EXECUTOR_CALLER) {
    unsigned wanted = o->threads ? o->threads : hp_usable_cores();
    if (wanted < 2) return;
    aid->context = (void *)o;
    aid->run = run_slices;
    aid->most = wanted * SLICES_A_THREAD;
    aid->least = LEAST_SLICE;
    return;
  }
  unsigned threads = hp_crew_threads(crew, o->threads ? o->threads : hp_usable_cores());
  if (threads < 2) return;
  aid->run = run_threads;
  aid->most = threads * SLICES_A_THREAD;
  aid->least = LEAST_SLICE;
}
