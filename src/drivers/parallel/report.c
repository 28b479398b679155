#include "drivers/parallel/report.h"

#include "base/clock.h"
#include "drivers/parallel/speed.h"
#include "merge/note.h"

#include <hpar/study.h>

void hp_report_merged_chunk(hp_job *job, const hp_chunk *c, uint64_t begin, bool is_finished) {
  hp_record *record = job->merger.record;
  uint64_t end = hp_now();
  hpar_event_kind kind = job->is_exact ? HPAR_EVENT_EXACT : HPAR_EVENT_MERGE;
  hp_record_event(record, kind, 0, job->chunk_number, begin, end, c->cut, c->limit);
  if (!is_finished) return;
  if (job->is_exact) hp_note_unmerged(&job->merger, c->cut, c->limit, HPAR_CHUNK_EXACT);
  hpar_chunk *chunk = hp_record_last(record);
  chunk->ns.merge_begin = begin;
  chunk->ns.merge_end = end;
}

/* Records the work of the chunk's worker. */
static void record_work(hp_record *record, const hp_chunk *c, uint32_t number) {
  const hp_chunk_work *work = c->work;
  if (number < record->chunk_count) {
    hpar_chunk *chunk = &record->chunks[number];
    chunk->worker = work->times.worker;
    chunk->ns.prescan = work->times.prescan;
    chunk->ns.parse_begin = work->times.begin;
    chunk->ns.parse_end = work->times.end;
  }
  uint64_t predicted = work->times.begin + work->times.prescan;
  if (work->times.prescan)
    hp_record_event(record, HPAR_EVENT_PRESCAN, work->times.worker, number, work->times.begin, predicted, c->cut,
                    c->limit);
  hp_record_event(record, HPAR_EVENT_PARSE, work->times.worker, number, predicted, work->times.end, c->cut, c->limit);
}

/* Records the chunks that the merger has not reached, and the work on all chunks. */
static void complete_record(hp_job *job) {
  hp_record *record = job->merger.record;
  uint32_t published = hp_published_chunks(job->queue);
  hp_record_event(record, HPAR_EVENT_CUT, 0, UINT32_MAX, job->begin_time, job->begin_time + job->counters->cut_ns, 0,
                  0);
  uint32_t number = 0;
  for (uint32_t i = 0, span; i < published; i += span) {
    const hp_chunk *c = hp_chunk_at(job->queue, i);
    span = hp_chunk_span(c);
    if (hp_chunk_is_empty(job->queue, c)) continue;
    if (!c->limit) hp_chunk_queue_place(job->queue, i);
    if (i >= job->chunk) hp_note_unmerged(&job->merger, c->cut, c->limit, i ? HPAR_CHUNK_UNREACHED : HPAR_CHUNK_EXACT);
    if (atomic_load_explicit(&c->done, memory_order_acquire) && c->work) record_work(record, c, number);
    number++;
  }
}

static void add_levels(hp_parallel_counters *counters, const hpar_merge_level *levels, bool is_merger) {
  for (unsigned level = 1; level < HPAR_MERGE_LEVELS; level++) {
    const hpar_merge_level *from = &levels[level];
    hpar_merge_level *to = &counters->merge.levels[level];
    to->merges += from->merges;
    to->segments += from->segments;
    to->tokens += from->tokens;
    to->nanoseconds += from->nanoseconds;
    if (is_merger) counters->parse_ns_per_worker[0] -= from->nanoseconds;
  }
}

static void add_worker(hp_job *job, unsigned index) {
  hp_parallel_counters *counters = job->counters;
  const hp_worker *worker = job->team->workers[index];
  bool is_late = job->team->has_late_threads && !atomic_load_explicit(&worker->left, memory_order_acquire);
  if (index && is_late) {
    /* The number is unknown: hp_close_request takes the largest one. */
    job->request.document->deferred_bytes = UINT32_MAX;
    return;
  }
  if (job->pipelined) hp_stages_count(job->team->stages[index], &counters->pipeline);
  if (index) counters->parse_ns_per_worker[index] = worker->nanoseconds;
  if (job->memory_parts && worker->is_open) job->request.document->range.in_parts += hp_range_part_used(&worker->part);
  if (worker->is_open) job->request.document->deferred_bytes += worker->engine.tokenizer.deferred_bytes;
  counters->predict_ns += worker->predict_nanoseconds;
  if (job->config.merges_as_tree) add_levels(counters, job->team->levels[index], !index);
}

/* Returns the number of chunks from `first` on, without the merger's own one at the beginning.
 * Joined chunks count as one. */
static uint64_t count_chunks(const hp_chunk_queue *queue, uint32_t first) {
  uint32_t published = hp_published_chunks(queue);
  uint64_t count = 0;
  /* A late worker may have joined `first` to the chunk that the merger has parsed for it. */
  for (uint32_t i = published ? hp_chunk_span(hp_chunk_at(queue, 0)) : 0; i < published;) {
    const hp_chunk *c = hp_chunk_at(queue, i);
    count += i >= first && !hp_chunk_is_empty(queue, c);
    i += hp_chunk_span(c);
  }
  return count;
}

/* After a job with a late thread, the workers of the next jobs publish their chunks early. */
static void note_late_threads(const hp_job *job) {
  enum { JOBS_TO_PUBLISH = 16 };
  hp_team *team = job->team;
  if (job->rescued || team->has_late_threads)
    team->jobs_to_publish = JOBS_TO_PUBLISH;
  else if (team->jobs_to_publish)
    team->jobs_to_publish--;
}

void hp_report_job(hp_job *job) {
  hp_parallel_counters *counters = job->counters;
  hp_chunk_queue *queue = job->queue;
  if (job->team->has_late_threads && queue->by_range) { /* a late thread may still join chunks */
    counters->chunks = job->chunk_number ? job->chunk_number - 1 : 0;
  } else {
    counters->chunks = count_chunks(queue, 0);
    if (job->is_open && job->merger.done) hp_merger_count_passed(&job->merger, count_chunks(queue, job->chunk));
  }
  counters->parse_ns_per_worker[0] = job->busy_ns - counters->merge_ns;
  counters->merge.levels[0].nanoseconds = counters->merge_ns;
  uint64_t start = atomic_load_explicit(&job->first_start, memory_order_relaxed);
  counters->first_chunk_ns = start ? start - job->begin_time : 0;
  counters->wait_ns = job->wait_ns;
  counters->chunks_rescued = job->rescued;
  note_late_threads(job);
  hp_speed_measure(job);
  counters->pipelined = job->pipelined;
  unsigned workers = hp_is_inline(job) ? 1 : job->threads;
  for (unsigned i = 0; job->is_open && i < workers; i++) add_worker(job, i);
  if (job->merger.record) complete_record(job);
  if (job->cutter.oracle) counters->oracle_ns = job->cutter.oracle->nanoseconds;
  hp_cutter_close(&job->cutter);
}
