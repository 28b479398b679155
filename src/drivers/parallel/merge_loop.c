#include "drivers/parallel/merge_loop.h"

#include "base/clock.h"
#include "drivers/parallel/merge_tree.h"
#include "drivers/parallel/report.h"

enum { AWAIT_SPIN_NS = 200000, MIN_SPIN_STEPS = 100 };

/* Lets the merger parse its chunk itself, if no worker has claimed the chunk. Returns whether it
 * does. */
static bool take_over_chunk(hp_job *job) {
  if (job->is_exact || job->threads < 2 || !hp_chunk_queue_claim_chunk(job->queue, job->chunk)) return false;
  hp_merge_counters *counters = job->merger.counters;
  counters->chunks_exact++;
  counters->chunks_right_start++;
  counters->chunks_right++;
  counters->chunks_clean++;
  if (job->config->merges_as_tree) hp_merge_tree_arrive(job, 0, job->chunk);
  return job->is_exact = true;
}

/* Joins the next chunk to the merger's own one, if no worker has claimed it. Returns whether it
 * does. */
static bool extend_exact_chunk(hp_job *job, const hp_chunk *c) {
  uint32_t next = job->chunk + c->span;
  if (!job->queue->by_range || next >= hp_published_chunks(job->queue)) return false;
  if (!hp_chunk_queue_claim_chunk(job->queue, next)) return false;
  hp_chunk_queue_join(job->queue, job->chunk, c->span + 1);
  return true;
}

/* Parses the merger's own chunk. Returns false if more input must come first. */
static bool parse_exact_chunk(hp_job *job, const hp_chunk *c) {
  hp_merger *m = &job->merger;
  uint64_t begin = m->record ? hp_now() : 0;
  bool is_finished = hp_merger_parse_until(m, c->limit);
  while (is_finished && !m->done && extend_exact_chunk(job, c)) is_finished = hp_merger_parse_until(m, c->limit);
  if (m->record) hp_report_merged_chunk(job, c, begin, is_finished);
  return is_finished;
}

/* Merges the log of a worker. Returns false if more input must come first. */
static bool merge_log(hp_job *job, const hp_chunk *c) {
  hp_merger *m = &job->merger;
  uint64_t begin = hp_now();
  const hp_chunk_work lost = {.cut = c->cut, .limit = c->limit, .failed = true};
  bool is_finished = hp_merger_merge_chunk(m, c->work ? c->work : &lost);
  job->counters->merge_ns += hp_now() - begin;
  if (m->record) hp_report_merged_chunk(job, c, begin, is_finished);
  return is_finished;
}

/* Merges the next chunk. Returns false if more input must come first. */
static bool merge_chunk(hp_job *job) {
  const hp_chunk *c = hp_chunk_at(job->queue, job->chunk);
  if (job->is_exact ? !parse_exact_chunk(job, c) : !merge_log(job, c)) return false;
  job->is_exact = false;
  job->chunk += c->span;
  job->chunk_number++;
  return true;
}

/* Returns whether the merger can merge its chunk now. A merge tree must be complete before. */
static bool is_ready(const hp_job *job) {
  if (job->config->merges_as_tree)
    return atomic_load_explicit(&job->composed_chunks, memory_order_acquire) + 1 >= atomic_load(&job->queue->published);
  return atomic_load_explicit(&hp_chunk_at(job->queue, job->chunk)->done, memory_order_acquire);
}

static bool merger_is_ready(void *job) { return is_ready(job); }

static void note_wait(const hp_job *job, uint64_t begin) {
  hp_record *record = job->merger.record;
  if (record) hp_record_event(record, HPAR_EVENT_WAIT, 0, job->chunk_number, begin, hp_now(), 0, 0);
}

/* Waits until the merger can merge its chunk. Parses later chunks meanwhile. */
static void wait_until_ready(hp_job *job) {
  if (is_ready(job)) return;
  bool has_record = job->merger.record;
  uint64_t begin = has_record ? hp_now() : 0;
  hp_spin spin = {0};
  bool spins = true;
  while (!is_ready(job)) {
    uint32_t other = spins && spin.steps < MIN_SPIN_STEPS ? 0 : hp_chunk_queue_claim(job->queue, 0);
    if (other) {
      note_wait(job, begin);
      hp_team_parse_chunk(job, 0, other);
      begin = has_record ? hp_now() : 0;
    } else if (spins) {
      spins = hp_spin_on(&spin, AWAIT_SPIN_NS);
    } else {
      hp_waits waits = {0};
      hp_event_count_wait(&job->team->merger_event, &waits, merger_is_ready, job);
    }
  }
  note_wait(job, begin);
}

/* Merges the finished chunks. Returns instead of waiting. */
static void merge_finished_chunks(hp_job *job) {
  hp_merger *m = &job->merger;
  uint32_t published = hp_published_chunks(job->queue);
  while (!m->done && job->chunk < published) {
    if (!job->is_exact && (job->config->merges_as_tree || !is_ready(job))) return;
    if (!merge_chunk(job)) return;
  }
}

void hp_merge_between_feeds(hp_job *job) {
  for (;;) {
    merge_finished_chunks(job);
    uint32_t head = atomic_load_explicit(&job->queue->head, memory_order_relaxed);
    if (job->merger.done || hp_published_chunks(job->queue) - head <= job->threads - 1) return;
    if (take_over_chunk(job)) continue;
    uint32_t chunk = hp_chunk_queue_claim(job->queue, 0);
    if (!chunk) return;
    hp_team_parse_chunk(job, 0, chunk);
  }
}

void hp_merge_all(hp_job *job) {
  hp_merger *m = &job->merger;
  uint32_t published = hp_published_chunks(job->queue);
  bool is_composed = !job->config->merges_as_tree;
  while (!m->done && job->chunk < published) {
    if (!job->is_exact && !take_over_chunk(job)) {
      wait_until_ready(job);
      if (!is_composed) hp_merge_tree_finish(job);
      is_composed = true;
    }
    merge_chunk(job);
  }
  hp_merger_finish(m);
}
