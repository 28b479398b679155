#include "base/memory.h"
#include "base/process.h"
#include "drivers/parallel/team.h"
#include "study/choices.h"

#include <hpar/study.h>
#include <string.h>

/* The counters of each worker: hp_team.order. */
typedef struct tree_counters {
  unsigned workers;
  hp_merge_level levels[][HP_MERGE_LEVELS];
} tree_counters;

static hpar_status prepare(hp_job *job, unsigned workers) {
  hp_part_state *state = &job->team->order;
  tree_counters *counters = state->memory;
  size_t size = sizeof *counters + workers * sizeof *counters->levels;
  if (!counters || counters->workers < workers) {
    counters = hp_reallocate(state->memory, size);
    if (!counters) return HPAR_ERROR_MEMORY;
    counters->workers = workers;
    *state = (hp_part_state){counters, hp_free};
  }
  memset(counters->levels, 0, workers * sizeof *counters->levels);
  return HPAR_OK;
}

static hp_merge_level *levels_of(const hp_job *job, unsigned worker) {
  tree_counters *counters = job->team->order.memory;
  return counters->levels[worker];
}

typedef struct hp_node_range {
  uint32_t low, middle, high; /* chunks: halves [low, middle) and [middle, high) */
} hp_node_range;

/* Returns the node of `level` that contains a chunk. `count`: number of chunks, with chunk 0. */
static hp_node_range node_over(uint32_t chunk, unsigned level, uint32_t count) {
  uint32_t leaf = chunk - 1, low = leaf >> level << level;
  uint64_t high = (uint64_t)low + (UINT64_C(1) << level);
  return (hp_node_range){low + 1, low + 1 + (UINT32_C(1) << (level - 1)),
                         high < count - 1 ? (uint32_t)high + 1 : count};
}

/* Returns the work of a chunk, or NULL if the merger parses the chunk. */
static hp_chunk_result *work_at(const hp_job *job, uint32_t chunk) { return hp_chunk_at(job->queue, chunk)->work; }

static bool is_taken(const hp_job *job, uint32_t chunk) {
  const hp_chunk_result *work = work_at(job, chunk);
  return work && hp_is_composed(work);
}

static void compose_range(hp_job *job, hp_composer *composer, hp_node_range node) {
  uint32_t left = node.middle - 1, right = node.middle;
  while (left > node.low && is_taken(job, left)) left--;
  if (!work_at(job, left) || !work_at(job, right)) return;
  if (!hp_compose_begin(composer, &job->request, work_at(job, left), work_at(job, right))) return;
  while (right < node.high && work_at(job, right) && hp_compose_chunk(composer, work_at(job, right))) right++;
  hp_compose_end(composer);
}

typedef struct composition {
  hp_job *job;
  hp_composer composer;
  hp_node_range node;
} composition;

static hpar_status run_composition(void *argument) {
  composition *c = argument;
  compose_range(c->job, &c->composer, c->node);
  return HPAR_OK;
}

static void compose(hp_job *job, unsigned thread, hp_node_range node, unsigned level) {
  hp_worker *worker = job->team->workers[thread];
  hp_merge_level *counters = &levels_of(job, thread)[level];
  uint64_t begin = hp_now();
  composition composition = {job, {.worker = worker, .level = counters}, node};
  /* A failure leaves a log that is shorter, and sound. */
  hp_try(&worker->engine.unwind, run_composition, &composition);
  hp_chunk_at(job->queue, node.middle)->composed = true;
  uint64_t end = hp_now();
  counters->merges++;
  counters->nanoseconds += end - begin;
  hp_trace *trace = job->merger.trace;
  if (trace)
    trace->event(trace, HP_EVENT_COMPOSE, thread, node.middle, begin, end, hp_chunk_at(job->queue, node.low)->cut,
                 hp_chunk_at(job->queue, node.high - 1)->limit);
}

#define CLOSED (UINT32_C(1) << 31)

/* Returns false if the tree is closed. Otherwise the caller may change logs, until it calls
 * end_composition. */
static bool begin_composition(hp_job *job) {
  uint32_t running = atomic_load_explicit(&job->shared.compositions, memory_order_relaxed);
  do {
    if (running & CLOSED) return false;
  } while (!atomic_compare_exchange_weak_explicit(&job->shared.compositions, &running, running + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  return true;
}

static void end_composition(hp_job *job) {
  atomic_fetch_sub_explicit(&job->shared.compositions, 1, memory_order_release);
}

static bool is_quiet(void *job) {
  return atomic_load_explicit(&((hp_job *)job)->shared.compositions, memory_order_acquire) == CLOSED;
}

/* A thread that ends a composition wakes the merger. */
static void close_tree(hp_job *job) {
  enum { SPIN_NS = 50000, SLEEP_NS = 1000000 };
  atomic_fetch_or_explicit(&job->shared.compositions, CLOSED, memory_order_acq_rel);
  hp_spin spin = {0};
  while (!is_quiet(job) && hp_spin_on(&spin, SPIN_NS)) {
  }
  while (!is_quiet(job)) hp_event_count_sleep(&job->team->merger_event, SLEEP_NS, is_quiet, job);
  job->position.is_order_closed = true;
}

/* While text arrives, the number of chunks and the shape of the tree are unknown.
 * `finish` then composes. */
static void arrive(hp_job *job, unsigned thread, uint32_t chunk) {
  uint32_t count = atomic_load(&job->queue->closed) ? hp_published_chunks(job->queue) : 0;
  for (unsigned level = 1; count && count - 1 > UINT32_C(1) << (level - 1); level++) {
    hp_node_range node = node_over(chunk, level, count);
    if (node.middle >= count) continue; /* the node has no right half */
    if (!atomic_exchange_explicit(&hp_chunk_at(job->queue, node.middle)->arrived, true, memory_order_acq_rel)) break;
    if (!begin_composition(job)) break;
    compose(job, thread, node, level);
    end_composition(job);
  }
  atomic_fetch_add_explicit(&job->shared.composed_chunks, 1, memory_order_release);
}

static void finish(hp_job *job) {
  uint32_t count = hp_published_chunks(job->queue);
  for (unsigned level = 1; count && count - 1 > UINT32_C(1) << (level - 1); level++)
    for (uint64_t chunk = 1; chunk < count; chunk += UINT64_C(1) << level) {
      hp_node_range node = node_over((uint32_t)chunk, level, count);
      if (node.middle < count && !hp_chunk_at(job->queue, node.middle)->composed) compose(job, 0, node, level);
    }
}

static void count(hp_job *job, unsigned worker) {
  hp_parallel_counters *counters = job->counters;
  const hp_merge_level *levels = levels_of(job, worker);
  for (unsigned level = 1; level < HP_MERGE_LEVELS; level++) {
    const hp_merge_level *from = &levels[level];
    hp_merge_level *to = &counters->merge.levels[level];
    to->merges += from->merges;
    to->segments += from->segments;
    to->tokens += from->tokens;
    to->nanoseconds += from->nanoseconds;
    if (!worker) counters->parse_ns_per_worker[0] -= from->nanoseconds;
  }
}

const hp_merge_order hp_merge_tree = {
    .name = "tree", .prepare = prepare, .arrive = arrive, .close = close_tree, .finish = finish, .count = count};
