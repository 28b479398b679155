#include "drivers/parallel/team.h"

#include "drivers/parallel/speed.h"

#include <string.h>

/* A smaller slice costs more than it saves. */
enum { MIN_DECODED_BYTES = 4 << 10, MIN_CHECKED_BYTES = 8 << 10 };
/* Larger slices are not needed. Texts below MIN_LONG_BYTES have no smaller ones. */
enum { MAX_DECODED_BYTES = 8 << 10, MAX_CHECKED_BYTES = 32 << 10, MIN_LONG_BYTES = 128 << 10 };
/* The bytes of some slices take several times longer than those of others. */
enum { SLICES_PER_THREAD = 8 };
/* The inline executor uses small slices, so that tests cover them. */
enum { INLINE_SLICES = 5, MIN_INLINE_BYTES = 16 };
enum { STRAGGLER_NS = 150000 };

/* Each thread begins with its own part of the slices, in which it will also parse. Writing a cache
 * line that another core has read since costs 1, 7 or 27 ns. If the slices move, the order is
 * ascending. The calling thread moves finished slices while others work, and all threads move the
 * rest. */
static bool run_slices(hp_slices *s, const hp_slice_batch *batch, hp_crew *crew, const hp_executor *executor,
                       unsigned threads, bool may_leave) {
  memset((void *)s->states, 0, batch->count * sizeof *s->states);
  const hp_unit_plan plan = {.client = batch->client,
                             .job = batch->job,
                             .count = batch->count,
                             .states = s->states,
                             .steps = s->steps,
                             .order = batch->order,
                             .by_part = !batch->client->admit,
                             .consumers = 1,
                             .patience_ns = threads > 1 ? STRAGGLER_NS : 0};
  return hp_unit_queue_run(&s->units, &plan, crew, executor, threads, may_leave);
}

/* Runs all slices on the calling thread. */
static bool run_alone(const hp_slice_batch *batch) {
  hp_slices s = {0};
  return run_slices(&s, batch, NULL, &(hp_executor){.kind = HPAR_EXECUTOR_INLINE}, 1, false);
}

static bool run_on_threads(void *context, hp_slice_batch *batch) {
  hp_team *team = context;
  hp_slices *s = &team->slices;
  if (hp_crew_is_left(team->crew)) return run_alone(batch);
  const hp_pool *pool = hp_crew_pool(team->crew);
  const bool is_callers = s->executor.kind == HPAR_EXECUTOR_CALLER;
  unsigned threads = is_callers ? s->executor.threads : pool ? hp_pool_threads(pool) : 1;
  if (threads > batch->count) threads = batch->count;
  if (run_slices(s, batch, team->crew, &s->executor, threads, team->leaves_slices)) return true;
  for (unsigned i = 0; i < batch->count; i++) batch->unfinished |= (uint64_t)hp_unit_give_up(&s->states[i]) << i;
  return false;
}

static bool run_inline(void *context, hp_slice_batch *batch) {
  (void)context;
  hp_unit_steps steps = {0};
  for (unsigned i = batch->count; i--;) batch->client->run(batch->job, i, 0, &steps);
  return true;
}

static size_t between(size_t bytes, size_t least, size_t most) {
  return bytes < least ? least : bytes < most ? bytes : most;
}

void hp_team_slice_executor(hp_team *team, const hp_executor *from, const char *bytes, size_t length,
                            hp_slice_executor *executor) {
  hp_team_await_stragglers(team);
  executor->first_slice_bytes = hp_merger_share(length, 2);
  if (from->kind == HPAR_EXECUTOR_INLINE) {
    executor->run = run_inline;
    executor->max_slices = INLINE_SLICES;
    executor->min_slice_bytes = executor->min_checked_bytes = MIN_INLINE_BYTES;
    return;
  }
  team->slices.executor = *from;
  bool is_callers = from->kind == HPAR_EXECUTOR_CALLER;
  unsigned threads = is_callers ? from->threads : hp_speed_threads(team, from, bytes, length, from->threads);
  if (!is_callers && threads > 1) threads = hp_team_threads(team, from, threads);
  if (threads < 2) return;
  executor->context = team;
  executor->run = run_on_threads;
  executor->max_slices = threads > 2 ? SLICES_PER_THREAD * threads : threads;
  size_t share = length / ((size_t)SLICES_PER_THREAD * threads);
  if (length < MIN_LONG_BYTES) share = MAX_CHECKED_BYTES;
  executor->min_slice_bytes = between(share, MIN_DECODED_BYTES, MAX_DECODED_BYTES);
  executor->min_checked_bytes = between(share, MIN_CHECKED_BYTES, MAX_CHECKED_BYTES);
}
