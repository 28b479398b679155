#include "drivers/parallel/report.h"

#include "base/clock.h"
#include "merge/note.h"

void hp_report_merged_chunk(hp_job *job, const hp_chunk *c, uint64_t begin, bool is_finished) {
  hp_record *record = job->merger.record;
  uint64_t end = hp_now();
  hpar_event_kind kind = job->is_exact ? HPAR_EVENT_EXACT : HPAR_EVENT_MERGE;
  hp_record_event(record, kind, 0, job->chunk_number, begin, end, c->cut, c->limit);
  if (!is_finished) return;
  if (job->is_exact) hp_note_other(&job->merger, c->cut, c->limit, HPAR_CHUNK_EXACT);
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
  hp_record_event(record, HPAR_EVENT_CUT, 0, UINT32_MAX, job->begin_time, job->begin_time + job->merger.stats->ns.cut,
                  0, 0);
  uint32_t number = 0;
  for (uint32_t i = 0, span; i < published; i += span, number++) {
    const hp_chunk *c = hp_chunk_at(job->queue, i);
    span = c->span;
    if (i >= job->chunk) hp_note_other(&job->merger, c->cut, c->limit, i ? HPAR_CHUNK_UNREACHED : HPAR_CHUNK_EXACT);
    if (atomic_load_explicit(&c->done, memory_order_acquire) && c->work) record_work(record, c, number);
  }
}

static void add_levels(hpar_stats *stats, hpar_merge_level *levels, bool is_merger) {
  for (unsigned level = 1; level < HPAR_MERGE_LEVELS; level++) {
    const hpar_merge_level *from = &levels[level];
    hpar_merge_level *to = &stats->merge_levels[level];
    to->merges += from->merges;
    to->segments += from->segments;
    to->tokens += from->tokens;
    to->nanoseconds += from->nanoseconds;
    if (is_merger) stats->ns.parse_per_worker[0] -= from->nanoseconds;
  }
}

static void add_worker(hp_job *job, unsigned index) {
  hpar_stats *stats = job->merger.stats;
  const hp_worker *worker = job->team->workers[index];
  if (job->pipelined) hp_stages_count(worker->stages, stats);
  if (index) stats->ns.parse_per_worker[index] = worker->nanoseconds;
  if (job->memory_parts && worker->is_open) job->request->document->range.in_parts += hp_range_part_used(&worker->part);
  stats->ns.predict += worker->predict_nanoseconds;
  if (job->merges_as_tree) add_levels(stats, job->team->levels[index], !index);
}

void hp_report_job(hp_job *job) {
  hpar_stats *stats = job->merger.stats;
  hp_chunk_queue *queue = job->queue;
  uint32_t published = hp_published_chunks(queue);
  for (uint32_t i = published ? hp_chunk_at(queue, 0)->span : 0; i < published; i += hp_chunk_at(queue, i)->span)
    stats->chunks++;
  stats->ns.parse_per_worker[0] = job->busy_ns - stats->ns.merge;
  stats->merge_levels[0].nanoseconds = stats->ns.merge;
  uint64_t start = atomic_load_explicit(&job->first_start, memory_order_relaxed);
  stats->ns.first_chunk = start ? start - job->begin_time : 0;
  unsigned workers = hp_is_inline(job) ? 1 : job->threads;
  for (unsigned i = 0; job->is_open && i < workers; i++) add_worker(job, i);
  if (job->merger.record) complete_record(job);
  if (job->cutter.oracle) stats->ns.oracle = job->cutter.oracle->nanoseconds;
  hp_cutter_close(&job->cutter);
  for (int kind = 0; kind < HPAR_LOG_KINDS; kind++) stats->log_entries += stats->log_entries_by_kind[kind];
}
