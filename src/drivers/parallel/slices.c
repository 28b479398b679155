#include "drivers/parallel/team.h"

#include "drivers/parallel/speed.h"
#include "speculation/worker.h"

/* A smaller slice costs more than it saves. */
enum { MIN_DECODED_BYTES = 4 << 10, MIN_CHECKED_BYTES = 8 << 10 };
/* Larger slices are not needed. Texts below MIN_LONG_BYTES have no smaller ones. */
enum { MAX_DECODED_BYTES = 8 << 10, MAX_CHECKED_BYTES = 32 << 10, MIN_LONG_BYTES = 128 << 10 };
/* The bytes of some slices take several times longer than those of others. */
enum { SLICES_PER_THREAD = 8 };
/* The inline executor uses small slices, so that tests cover them. */
enum { INLINE_SLICES = 5, MIN_INLINE_BYTES = 16 };
enum { STRAGGLER_NS = 150000 };

#if HPAR_TEST_HOOKS
static void begin_slice(unsigned i) { hp_worker_call_progress_hook(HP_PROGRESS_OF_SLICES + i); }
#else
static void begin_slice(unsigned i) { (void)i; }
#endif

static void open_slices(hp_slices *s, const hp_slice_batch *batch, unsigned threads) {
  s->batch = *batch;
  s->threads = threads;
  atomic_store_explicit(&s->placed, batch->place ? 0 : batch->count, memory_order_relaxed);
  atomic_store_explicit(&s->placing, 0, memory_order_relaxed);
  atomic_store_explicit(&s->moved, 0, memory_order_relaxed);
  atomic_store_explicit(&s->claimed, 0, memory_order_relaxed);
  atomic_store_explicit(&s->done, 0, memory_order_relaxed);
}

static void run_slice(hp_slices *s, unsigned i) {
  begin_slice(i);
  s->batch.work(s->batch.job, i, &s->steps[i].count);
  hp_mark_item(&s->done, i);
}

/* Runs the first slice that no thread has claimed. Returns false if there is none. */
static bool run_next_slice(hp_slices *s) {
  for (;;) {
    uint64_t free = ~atomic_load_explicit(&s->claimed, memory_order_relaxed);
    unsigned i = free ? (unsigned)__builtin_ctzll(free) : s->batch.count;
    if (i >= s->batch.count) return false;
    if (!hp_claim_item(&s->claimed, i)) continue;
    run_slice(s, s->batch.order ? s->batch.order[i] : i);
    return true;
  }
}

static bool are_placed(hp_slices *s) {
  return atomic_load_explicit(&s->placed, memory_order_relaxed) == s->batch.count;
}

/* Gives the next finished slice its place. Returns its number, or -1 if it has no free place now.
 * Requires: the thread has claimed `placing`. */
static int place_next_slice(hp_slices *s) {
  unsigned i = atomic_load_explicit(&s->placed, memory_order_relaxed);
  if (i == s->batch.count || !(atomic_load_explicit(&s->done, memory_order_acquire) >> i & 1)) return -1;
  unsigned first = (unsigned)__builtin_ctzll(~atomic_load_explicit(&s->moved, memory_order_acquire));
  hp_slice_place place = s->batch.place(s->batch.job, i, first);
  if (place == HP_PLACE_TAKEN) return -1;
  atomic_store_explicit(&s->placed, place == HP_PLACE_FREE ? i + 1 : s->batch.count, memory_order_relaxed);
  return place == HP_PLACE_FREE ? (int)i : -1;
}

/* Moves the next finished slice to its place. Returns false if that is impossible now. */
static bool move_next_slice(hp_slices *s) {
  if (are_placed(s) || !hp_claim_item(&s->placing, 0)) return false;
  int i = place_next_slice(s);
  atomic_store_explicit(&s->placing, 0, memory_order_release);
  if (i < 0) return false;
  s->batch.move(s->batch.job, (unsigned)i);
  hp_note_step(&s->steps[i].count);
  hp_mark_item(&s->moved, (unsigned)i);
  return true;
}

/* Moves slices until all have a place. Gives up if nothing happens for STRAGGLER_NS. */
static void move_slices(hp_slices *s) {
  hp_spin spin = {0};
  while (!are_placed(s)) {
    if (move_next_slice(s))
      spin = (hp_spin){0};
    else if (!hp_spin_on(&spin, STRAGGLER_NS))
      return;
  }
}

/* Runs slices on one thread. Each thread begins with its own part of the slices, in which it will
 * also parse. Writing a cache line that another core has read since costs 1, 7 or 27 ns. If the
 * slices move, the order is ascending. The calling thread moves finished slices while others work,
 * and all threads move the rest. */
static void run_slices(void *context, unsigned thread) {
  hp_slices *s = context;
  unsigned count = s->batch.count;
  if (s->batch.place) {
    do {
      while (thread == 0 && move_next_slice(s)) {
      }
    } while (run_next_slice(s));
    if (s->threads > 1) move_slices(s);
    return;
  }
  for (unsigned k = 0; k < count; k++) {
    unsigned i = (count * thread / s->threads + k) % count;
    if (hp_claim_item(&s->claimed, i)) run_slice(s, i);
  }
}

static uint64_t all_steps(const hp_slices *s) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < s->batch.count; i++) sum += atomic_load_explicit(&s->steps[i].count, memory_order_relaxed);
  return sum;
}

/* Waits for the threads of the closed batch. Returns false if one is a straggler: no slice has
 * made progress for STRAGGLER_NS. */
static bool wait_for_slices(hp_team *team) {
  uint64_t steps;
  do {
    steps = all_steps(&team->slices);
    hp_spin spin = {0};
    do {
      move_next_slice(&team->slices);
      if (hp_pool_is_idle(hp_crew_pool(team->crew))) return true;
    } while (hp_spin_on(&spin, STRAGGLER_NS));
  } while (all_steps(&team->slices) != steps);
  return false;
}

/* Runs all slices on the calling thread. */
static bool run_alone(const hp_slice_batch *batch) {
  hp_slices s = {0};
  open_slices(&s, batch, 1);
  run_slices(&s, 0);
  return true;
}

static bool run_on_pool(void *context, hp_slice_batch *batch) {
  hp_team *team = context;
  hp_slices *s = &team->slices;
  if (hp_crew_is_left(team->crew)) return run_alone(batch);
  hp_pool *pool = hp_crew_pool(team->crew);
  unsigned threads = pool ? hp_pool_threads(pool) : 1;
  if (threads > batch->count) threads = batch->count;
  open_slices(s, batch, threads);
  if (threads > 1) hp_crew_start(team->crew, s->binds, threads, run_slices, s);
  run_slices(s, 0);
  if (threads < 2) return true;
  if (!team->leaves_slices || !hp_crew_can_leave(team->crew)) {
    hp_crew_end(team->crew);
    return true;
  }
  unsigned entered = hp_pool_close(pool);
  if (wait_for_slices(team)) return true;
  hp_crew_leave(team->crew, entered, batch->drop, batch->job);
  batch->unfinished = ~atomic_load_explicit(&s->done, memory_order_acquire);
  if (batch->count < 64) batch->unfinished &= (UINT64_C(1) << batch->count) - 1;
  return false;
}

/* Each task runs slices until none is left, so that there are at most as many tasks as threads. */
static bool run_by_caller(void *context, hp_slice_batch *batch) {
  const hp_executor *executor = context;
  unsigned threads = executor->threads < batch->count ? executor->threads : batch->count;
  hp_slices s = {0};
  open_slices(&s, batch, threads);
  hp_crew_run_by_caller(executor, threads, run_slices, &s);
  return true;
}

static bool run_inline(void *context, hp_slice_batch *batch) {
  (void)context;
  _Atomic uint32_t steps = 0;
  for (unsigned i = batch->count; i--;) batch->work(batch->job, i, &steps);
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
  team->slices.binds = from->bind;
  bool is_callers = from->kind == HPAR_EXECUTOR_CALLER;
  unsigned threads = is_callers ? from->threads : hp_speed_threads(team, from, bytes, length, from->threads);
  if (!is_callers && threads > 1) threads = hp_team_threads(team, from, threads);
  if (threads < 2) return;
  executor->context = is_callers ? (void *)from : team;
  executor->run = is_callers ? run_by_caller : run_on_pool;
  executor->max_slices = threads > 2 ? SLICES_PER_THREAD * threads : threads;
  size_t share = length / ((size_t)SLICES_PER_THREAD * threads);
  if (length < MIN_LONG_BYTES) share = MAX_CHECKED_BYTES;
  executor->min_slice_bytes = between(share, MIN_DECODED_BYTES, MAX_DECODED_BYTES);
  executor->min_checked_bytes = between(share, MIN_CHECKED_BYTES, MAX_CHECKED_BYTES);
}
