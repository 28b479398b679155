#include "drivers/parallel/report.h"

#include "base/process.h"
#include "drivers/parallel/speed.h"

static void add_worker(hp_job *job, unsigned index) {
  hp_parallel_counters *counters = job->counters;
  const hp_worker *worker = job->team->workers[index];
  bool is_straggler = hp_crew_is_left(job->team->crew) && !atomic_load_explicit(&worker->left, memory_order_acquire);
  if (index && is_straggler) {
    /* The number is unknown: hp_close_request takes the largest one. */
    job->request.document->deferred_bytes = UINT32_MAX;
    return;
  }
  if (job->division.has_pairs) job->config.pairs->count(job, index);
  if (index) counters->parse_ns_per_worker[index] = worker->nanoseconds;
  if (job->division.memory_parts && worker->is_open) hp_range_count_part(&job->request.document->range, &worker->part);
  if (worker->is_open) job->request.document->deferred_bytes += worker->engine.tokenizer.deferred_bytes;
  counters->predict_ns += hp_worker_predict_ns(worker);
  if (job->config.order) job->config.order->count(job, index);
}

/* Returns the number of chunks from `first` on, without the merger's own one at the beginning.
 * Joined chunks count as one. */
static uint64_t count_chunks(const hp_chunk_queue *queue, uint32_t first) {
  uint32_t published = hp_published_chunks(queue);
  uint64_t count = 0;
  /* A straggler may have joined `first` to the chunk that the merger has parsed for it. */
  for (uint32_t i = published ? hp_chunk_span(hp_chunk_at(queue, 0)) : 0; i < published;) {
    const hp_chunk *c = hp_chunk_at(queue, i);
    count += i >= first && !hp_chunk_is_empty(queue, c);
    i += hp_chunk_span(c);
  }
  return count;
}

/* After a job with a straggler, the workers of the next jobs publish their chunks early. */
static void note_stragglers(const hp_job *job) {
  enum { JOBS_TO_PUBLISH = 16 };
  hp_team *team = job->team;
  if (job->position.rescued || hp_crew_is_left(team->crew))
    team->jobs_to_publish = JOBS_TO_PUBLISH;
  else if (team->jobs_to_publish)
    team->jobs_to_publish--;
}

void hp_report_job(hp_job *job) {
  hp_parallel_counters *counters = job->counters;
  hp_chunk_queue *queue = job->queue;
  if (hp_crew_is_left(job->team->crew) && queue->by_range) { /* a straggler may still join chunks */
    counters->chunks = job->position.number ? job->position.number - 1 : 0;
  } else {
    counters->chunks = count_chunks(queue, 0);
    if (job->is_open && job->merger.done)
      hp_merger_count_passed(&job->merger, count_chunks(queue, job->position.chunk));
  }
  counters->parse_ns_per_worker[0] = job->times.busy_ns - counters->merge_ns;
  counters->merge.levels[0].nanoseconds = counters->merge_ns;
  uint64_t start = atomic_load_explicit(&job->shared.first_start, memory_order_relaxed);
  counters->first_chunk_ns = start ? start - job->times.begin : 0;
  counters->wait_ns = job->times.wait_ns;
  counters->chunks_rescued = job->position.rescued;
  note_stragglers(job);
  hp_speed_measure(job);
  counters->has_pairs = job->division.has_pairs;
  unsigned workers = hp_is_inline(job) ? 1 : job->division.threads;
  for (unsigned i = 0; job->is_open && i < workers; i++) add_worker(job, i);
  if (job->merger.notes) job->config.trace->complete(job);
  counters->truth_ns = hp_cutter_truth_ns(&job->cutter, &job->plan);
  hp_cutter_close(&job->cutter, &job->plan);
}
