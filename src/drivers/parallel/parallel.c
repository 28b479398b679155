#include "drivers/parallel/team.h"

#include "base/process.h"

/*** the caller's executor ***/

static hpar_status merge_all(void *job) {
  hp_merge_all(job);
  return HPAR_OK;
}

/* Merges as task 0. Unwinding ends this task, because it must not pass the executor's frames. */
static void merge_as_task(hp_job *job) {
  job->merge_status = hp_try(&job->merger.engine->unwind, merge_all, job);
  atomic_store(&job->queue->cancelled, true);
}

static void run_task(void *context, unsigned index) {
  if (index)
    hp_team_run_thread(context, index);
  else
    merge_as_task(context);
}

/* Runs the tasks on the caller's executor. Then unwinds if the merger did. */
static void run_by_caller(hp_job *job) {
  hp_engine *engine = job->merger.engine;
  hp_crew_run_by_caller(&job->config.executor, job->division.threads, run_task, job);
  if (job->merge_status != HPAR_OK || engine->builder.encoding.restarts)
    hp_unwind_now(&engine->unwind, job->merge_status);
}

/*** resources ***/

/* Cancels the resources that the workers have found and the merger has not taken. Requires: no
 * thread works for the job. */
static void end_resources(hp_job *job) {
  hp_finder *finder = job->merger.finder;
  if (!finder) return;
  hp_finder_end_chunk(finder);
  for (uint32_t i = job->position.chunk + hp_merger_is_in_chunk(&job->merger); i < hp_published_chunks(job->queue);
       i++) {
    const hp_chunk *chunk = hp_chunk_at(job->queue, i);
    if (!chunk->work || !hp_unit_is_complete(&chunk->unit)) continue;
    hp_finder_begin_chunk(finder, &chunk->work->log.sightings);
    hp_finder_end_chunk(finder);
  }
  job->merger.finder = NULL;
}

static hpar_status end_guarded(void *job) {
  end_resources(job);
  return HPAR_OK;
}

/*** counters of a job ***/

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

/* Completes the trace and the counters. Requires: no thread works for the job. */
static void report_job(hp_job *job) {
  hp_parallel_counters *counters = job->counters;
  hp_chunk_queue *queue = job->queue;
  /* By the merger's numbers: a straggler may find later that a chunk parsed for it is empty, and
   * may still join chunks. */
  bool is_dividing = hp_crew_is_left(job->team->crew) && queue->by_range;
  uint64_t passed = is_dividing ? 0 : count_chunks(queue, job->position.chunk);
  counters->chunks = (job->position.number ? job->position.number - 1 : 0) + passed;
  if (job->is_open) hp_merger_count_passed(&job->merger, passed);
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

/*** one parse ***/

/* Leaves the initial mode. Afterwards quirks mode is constant, and workers may read it. Returns
 * false if more input must come first. */
static bool leave_initial_mode(hp_merger *m) {
  hp_engine *engine = m->engine;
  while (!m->done && engine->builder.mode == HP_INITIAL)
    if (!hp_merger_parse_until(m, hp_tokenizer_offset(&engine->tokenizer) + 1)) return false;
  return true;
}

static void name_choices(const hp_job *job) {
  const hp_plan *plan = &job->plan;
  hp_parallel_counters *counters = job->counters;
  counters->threads = job->division.threads;
  counters->strategy = plan->strategy_name;
  counters->predictor = plan->predictor_name;
  counters->mode_predictor = plan->mode_predictor_name;
  counters->merge_order = job->config.order ? job->config.order->name : NULL;
  counters->cut_policy = job->config.cuts ? "forced" : plan->cut.name;
}

void hp_parallel_begin(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                       hp_parallel_counters *counters) {
  hp_job *job = &team->job;
  hp_team_await_stragglers(team);
  hp_cutter_close(&job->cutter, &job->plan);
  hp_chunk_queue_reset(&team->queue);
  hp_event_count_prepare();
  memset(job, 0, sizeof *job);
  job->team = team;
  job->queue = &team->queue;
  job->request = *request;
  job->config = *config;
  job->division.publishes_early = team->jobs_to_publish > 0;
  job->counters = counters;
  *counters = (hp_parallel_counters){0};
  job->plan = config->plan;
  hp_prescan_begin(&team->prescan);
  job->plan.prescan = &team->prescan;
  const hp_merge_trace *notes = request->trace ? config->trace->merge : NULL;
  job->merger = hp_merger_of(engine, &counters->merge, request->trace, notes, config->finder, config->judge);
  job->request.listener = NULL;                      /* the workers have their own */
  request->document->atoms.shared = config->scripts; /* scripts read the document beside workers */
  job->division.threads = config->executor.threads;
  job->times.begin = hp_now();
  hp_cutter_open(job);
  job->position.is_exact = true;
  name_choices(job);
}

/* Returns whether the threads divide the text by its estimated work. Short ranges gain less by the
 * estimate than it costs. Their boundaries cost as much in scripts and text as among tags.
 * Requires: the page runs no scripts. */
static bool estimates_work(const hp_job *job) {
  enum { LEAST_BYTES_OF_THREAD = 128 << 10 };
  return job->division.threads == 2 || job->request.length / job->division.threads >= LEAST_BYTES_OF_THREAD;
}

/* Gives the published chunks to the threads. The merger parses exactly, and therefore faster than a
 * worker. The first chunks are reserved for it, unless it runs scripts meanwhile. */
static void assign_chunks(hp_job *job) {
  hp_chunk_queue *queue = job->queue;
  if (hp_is_inline(job)) {
    for (uint32_t i = hp_published_chunks(queue) - 1; i > 0; i--) hp_team_parse_chunk(job, 0, i);
    return;
  }
  size_t length = job->config.scripts ? 0 : job->request.length;
  if (!queue->by_range) {
    hp_chunk_queue_reserve(queue, hp_merger_bytes(length, job->division.threads));
    return;
  }
  hp_speed_set(job);
  hp_cost_estimate *work = &job->team->work;
  bool has_estimate = atomic_load_explicit(&job->shared.is_estimated, memory_order_relaxed),
       estimates = estimates_work(job);
  job->division.divides_later = estimates && !has_estimate && job->division.threads == 2 && hp_is_pooled(job);
  if (job->division.divides_later) {
    hp_chunk_queue_give_all(queue);
    return;
  }
  if (estimates && !has_estimate) hp_estimate_cost(work, job->request.text, length);
  atomic_store_explicit(&job->shared.is_estimated, estimates, memory_order_relaxed);
  hp_chunk_queue_share(queue, estimates ? work : NULL, length);
}

void hp_parse_in_parallel(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                          hp_parallel_counters *counters) {
  hp_parallel_begin(team, engine, request, config, counters);
  hp_job *job = &team->job;
  job->division.has_pairs = config->pairs;
  leave_initial_mode(&job->merger);
  hp_team_prepare(job);
  atomic_store_explicit(&job->shared.available, request->length, memory_order_relaxed);
  atomic_store_explicit(&job->shared.text_is_complete, true, memory_order_relaxed);
  hp_cut_text(job);
  atomic_store_explicit(&job->queue->closed, true, memory_order_relaxed);
  uint64_t begin = hp_now();
  counters->cut_ns = begin - job->times.begin - hp_cutter_truth_ns(&job->cutter, &job->plan);
  assign_chunks(job);
  job->division.composes = hp_may_compose_neighbours(job);
  if (config->executor.kind == HPAR_EXECUTOR_CALLER && job->division.threads > 1 &&
      hp_published_chunks(job->queue) > 1) {
    run_by_caller(job);
  } else {
    hp_team_start_pool(job);
    hp_merge_all(job);
    hp_team_leave_pool(job);
  }
  request->document->atoms.shared = false;
  end_resources(job);
  job->times.busy_ns = hp_now() - begin;
  report_job(job);
}

/* Continues a token of written text whose rest is in the page. */
static void resume_scripts(const hp_job *job) {
  if (job->config.scripts) hp_scripts_resume(job->config.scripts);
}

void hp_parallel_feed(hp_team *team, size_t available, size_t mapped) {
  hp_job *job = &team->job;
  hp_merger *m = &job->merger;
  uint64_t begin = hp_now();
  hp_tokenizer_extend(&m->engine->tokenizer, available, false);
  resume_scripts(job);
  if (!job->is_open) {
    if (!leave_initial_mode(m)) return;
    hp_team_prepare(job);
  }
  atomic_store_explicit(&job->shared.available, available, memory_order_release);
  hp_cut_available(job, available, mapped, false);
  hp_team_start_pool(job);
  hp_chunk_queue_wake(job->queue);
  job->counters->cut_ns += hp_now() - begin;
  if (hp_published_chunks(job->queue)) {
    hp_merge_between_feeds(job);
  } else {
    size_t next = hp_cutter_next_cut(job, available);
    if (m->finder) hp_finder_own(m->finder, next < UINT32_MAX ? (uint32_t)next : UINT32_MAX);
    hp_merger_parse_until(m, next < UINT32_MAX ? (uint32_t)next : UINT32_MAX);
  }
  job->times.busy_ns += hp_now() - begin;
}

void hp_parallel_finish(hp_team *team, size_t length) {
  hp_job *job = &team->job;
  hp_merger *m = &job->merger;
  uint64_t begin = hp_now();
  hp_tokenizer_extend(&m->engine->tokenizer, length, true);
  resume_scripts(job);
  job->counters->chunks_started_before_end = hp_chunks_before_rest(job->queue) - 1;
  if (job->is_open) {
    atomic_store_explicit(&job->shared.available, length, memory_order_release);
    atomic_store_explicit(&job->shared.text_is_complete, true, memory_order_release);
    hp_cut_available(job, length, length, true);
    atomic_store(&job->queue->closed, true);
    hp_team_start_pool(job);
    hp_chunk_queue_wake(job->queue);
  }
  hp_merge_all(job);
  hp_team_leave_pool(job);
  job->request.document->atoms.shared = false;
  end_resources(job);
  job->times.busy_ns += hp_now() - begin;
  report_job(job);
}

void hp_parallel_abandon(hp_team *team) {
  atomic_store(&team->queue.cancelled, true);
  if (hp_parallel_is_lost(team)) {
    hp_team_forget(team);
    team->job.merger.finder = NULL;
  } else if (team->job.pool_runs) {
    hp_team_join_pool(&team->job);
  }
  if (team->job.merger.finder) hp_try(&team->job.merger.engine->unwind, end_guarded, &team->job);
  team->job.merger.finder = NULL;
}

bool hp_parallel_is_lost(const hp_team *team) {
  return team->job.pool_runs && hp_pool_is_lost(hp_crew_pool(team->crew));
}

void hp_parallel_close(hp_team *team) {
  hp_parallel_abandon(team);
  hp_cutter_close(&team->job.cutter, &team->job.plan);
  hp_team_free(team);
}
