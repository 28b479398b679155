/* Merging as a tree. The chunks after the first are the leaves, and a node of level k is over up to 2^k neighbours: it
 * composes the logs of its two halves. Whoever completes the second half does it, on whatever thread that is, so that
 * the nodes of a level are composed side by side. A node is known by the first chunk of its right half: each chunk but
 * the first leaf is that of one node. */

#include "base/clock.h"
#include "drivers/parallel/parallel.h"
#include "trace/record.h"

typedef struct hp_node_range {
  uint32_t low, middle, high; /* chunks: halves [low, middle) and [middle, high) */
} hp_node_range;

/* The node of `level` over a chunk, where there are `count` chunks with the first one of all. */
static hp_node_range node_over(uint32_t chunk, unsigned level, uint32_t count) {
  uint32_t leaf = chunk - 1, low = leaf >> level << level;
  uint64_t high = (uint64_t)low + (UINT64_C(1) << level);
  return (hp_node_range){low + 1, low + 1 + (UINT32_C(1) << (level - 1)),
                         high < count - 1 ? (uint32_t)high + 1 : count};
}

/* NULL: the merger has taken the chunk over. */
static hp_chunk_work *work_at(const hp_job *r, uint32_t chunk) { return hp_chunk_at(r->team, chunk)->work; }

static bool is_taken(const hp_job *r, uint32_t chunk) {
  const hp_chunk_work *work = work_at(r, chunk);
  return work && hp_is_taken(work);
}

/* Not to be inlined where setjmp is: its locals live in registers. */
static __attribute__((noinline)) void compose_range(hp_job *r, hp_composer *composer, hp_node_range node) {
  uint32_t left = node.middle - 1, right = node.middle;
  while (left > node.low && is_taken(r, left)) left--;
  if (!work_at(r, left) || !work_at(r, right)) return;
  if (!hp_compose_begin(composer, r->task, work_at(r, left), work_at(r, right))) return;
  while (right < node.high && work_at(r, right) && hp_compose_take(composer, work_at(r, right))) right++;
  hp_compose_end(composer);
}

static void compose(hp_job *r, unsigned thread, hp_node_range node, unsigned level) {
  hp_worker *worker = r->team->workers[thread];
  hpar_merge_level *now = &r->team->levels[thread][level];
  uint64_t begin = hp_now();
  hp_composer composer = {.worker = worker, .level = now};
  if (!setjmp(worker->engine.fail.frame)) compose_range(r, &composer, node);
  hp_chunk_at(r->team, node.middle)->composed = true;
  uint64_t end = hp_now();
  now->merges++;
  now->nanoseconds += end - begin;
  if (r->merger.record)
    hp_record_event(r->merger.record, HPAR_EVENT_COMPOSE, thread, node.middle, begin, end,
                    hp_chunk_at(r->team, node.low)->cut, hp_chunk_at(r->team, node.high - 1)->limit);
}

void hp_tree_arrive(hp_job *r, unsigned thread, uint32_t chunk) {
  uint32_t count = atomic_load(&r->closed) ? atomic_load(&r->offered) : 0; /* before, nobody knows the tree */
  for (unsigned level = 1; count && count - 1 > UINT32_C(1) << (level - 1); level++) {
    hp_node_range node = node_over(chunk, level, count);
    if (node.middle >= count) continue; /* it has no right half */
    if (!atomic_exchange_explicit(&hp_chunk_at(r->team, node.middle)->arrived, true, memory_order_acq_rel)) break;
    compose(r, thread, node, level);
  }
  atomic_fetch_add_explicit(&r->finished, 1, memory_order_release);
}

void hp_tree_finish(hp_job *r) {
  uint32_t count = atomic_load(&r->offered);
  for (unsigned level = 1; count && count - 1 > UINT32_C(1) << (level - 1); level++)
    for (uint64_t chunk = 1; chunk < count; chunk += UINT64_C(1) << level) {
      hp_node_range node = node_over((uint32_t)chunk, level, count);
      if (node.middle < count && !hp_chunk_at(r->team, node.middle)->composed) compose(r, 0, node, level);
    }
}
