#include "drivers/parallel/team.h"

#include "base/memory.h"
#include "base/process.h"
#include "speculation/worker.h"
#include "text/scan/scan.h"

#include <string.h>

enum {
  MIN_BYTES_PER_THREAD = 64 << 10,
  LEAVE_SPIN_NS = 50000,
  PUBLISH_BYTES = 64 << 10,
  /* While the merger reads a long script, some threads have no work. */
  MIN_THREADS_READING_AHEAD = 4,
  READ_AHEAD_BYTES = 64 << 10
};

unsigned hp_team_threads(hp_team *team, const hp_executor *executor, unsigned wanted) {
  hp_team_await_stragglers(team);
  return hp_crew_prepare(team->crew, executor, wanted);
}

/*** preparation ***/

unsigned hp_useful_threads(const hp_parallel_config *config, size_t length) {
  if (!config->fits_threads_to_input || !length || length / MIN_BYTES_PER_THREAD >= HPAR_MAX_THREADS)
    return HPAR_MAX_THREADS;
  return length < 2 * MIN_BYTES_PER_THREAD ? 2 : (unsigned)(length / MIN_BYTES_PER_THREAD);
}

typedef struct opening {
  hp_job *job;
  hp_worker *worker;
} opening;

static hpar_status open_guarded(void *argument) {
  const opening *of = argument;
  hp_job *job = of->job;
  hp_worker *worker = of->worker;
  hp_worker_open(worker, &job->request, &job->fragment);
  worker->cancelled = &job->queue->cancelled;
  worker->source = (hp_token_source){0};
  unsigned index = 0;
  while (job->team->workers[index] != worker) index++;
  if (job->config.finder) hp_worker_find_resources(worker, job->config.finder->report, index);
  if (job->division.memory_parts) {
    hp_range *part = hp_range_part(&job->request.document->range, index);
    hp_arena_open(&worker->engine.nodes, part, &worker->engine.unwind);
    hp_arena_open(&worker->engine.bytes, part, &worker->engine.unwind);
  }
  if (job->division.has_pairs) job->config.pairs->open(job, index);
  worker->is_open = true;
  return HPAR_OK;
}

/* Opens the worker on the thread that uses it, so that the memory is near that thread. Returns
 * false if memory is short. */
static bool open_worker(hp_job *job, hp_worker *worker) {
  opening of = {job, worker};
  return worker->is_open || hp_try(&worker->engine.unwind, open_guarded, &of) == HPAR_OK;
}

/* Decides how many threads and workers the job has. Returns the number of workers. */
static unsigned choose_threads(hp_job *job) {
  if (hp_is_inline(job)) return 1;
  if (!hp_is_pooled(job)) return job->counters->threads = job->division.threads;
  unsigned useful = hp_useful_threads(&job->config, job->request.length);
  if (job->division.threads > useful) job->division.threads = useful;
  const hp_request *request = &job->request;
  unsigned saving = job->division.threads;
  if (hp_may_join_chunks(job))
    saving = hp_speed_threads(job->team, &job->config.executor, request->text, request->length, saving);
  atomic_store_explicit(&job->shared.is_estimated, saving < job->division.threads, memory_order_relaxed);
  job->division.is_alone = saving < 2 && saving < job->division.threads;
  job->division.threads = saving;
  unsigned threads = hp_team_threads(job->team, &job->config.executor, job->division.threads);
  if (!threads) hp_unwind_now(&job->merger.engine->unwind, HPAR_ERROR_MEMORY);
  if (threads < 2) job->division.has_pairs = false;
  job->counters->threads = threads;
  return job->division.threads = job->division.has_pairs ? threads / 2 : threads;
}

static hpar_status allocate_workers(hp_team *team, unsigned count) {
  if (team->worker_count >= count) return HPAR_OK;
  hp_worker **workers = hp_reallocate(team->workers, count * sizeof *workers);
  if (!workers) return HPAR_ERROR_MEMORY;
  team->workers = workers;
  while (team->worker_count < count) {
    hp_worker *worker = hp_allocate_zeroed(sizeof *worker);
    if (!worker) return HPAR_ERROR_MEMORY;
    hp_finder_gate_open(&worker->gate);
    workers[team->worker_count++] = worker;
  }
  return HPAR_OK;
}

static hpar_status prepare_worker(hp_job *job, hp_worker *worker) {
  hp_worker_reset(worker);
  /* In these cases other threads use the worker before its own thread does. */
  if ((job->division.has_pairs || job->config.order) && !open_worker(job, worker)) return worker->engine.unwind.status;
  return HPAR_OK;
}

/* Keeps the workers from reporting tags that the exact builder has passed. */
static void pass_gates(void *context, uint32_t passed) {
  hp_team *team = context;
  for (unsigned i = 0; i < team->worker_count; i++) hp_finder_gate_pass(&team->workers[i]->gate, passed);
}

void hp_team_prepare(hp_job *job) {
  hp_team *team = job->team;
  job->fragment = job->merger.engine->builder.fragment;
  unsigned workers = choose_threads(job);
  hpar_status status = allocate_workers(team, workers);
  if (status == HPAR_OK) status = hp_work_ranges_open(&team->queue.ranges, workers);
  if (status == HPAR_OK && job->config.order) status = job->config.order->prepare(job, workers);
  if (status == HPAR_OK && job->division.has_pairs) status = job->config.pairs->prepare(job, workers);
  if (status == HPAR_OK && job->config.judge) status = job->config.judge->open(&team->judge);
  hp_merger_judge_in(&job->merger, team->judge.memory);
  const hp_request *request = &job->request;
  unsigned parts = job->division.has_pairs ? 2 * workers : workers;
  bool is_divided = status == HPAR_OK && request->length && request->length <= HP_MAX_APART &&
                    hp_range_divide(&request->document->range, parts, request->length);
  job->division.memory_parts = is_divided ? parts : 0;
  for (unsigned i = 0; status == HPAR_OK && i < workers; i++) status = prepare_worker(job, team->workers[i]);
  if (status != HPAR_OK) hp_unwind_now(&job->merger.engine->unwind, status);
  if (job->config.finder) hp_finder_share(job->config.finder, pass_gates, team);
  job->is_open = true;
}

/*** work ***/

typedef struct claim {
  hp_job *job;
  unsigned thread;
  uint32_t chunk;
} claim;

bool hp_team_validate(hp_job *job, uint32_t from, uint32_t to) {
  if (!job->config.validates) return true;
  const char *end = job->request.text + to;
  if (hp_scan()->invalid_utf8(job->request.text + from, end) == end) return true;
  atomic_store_explicit(&job->shared.is_invalid, true, memory_order_relaxed);
  atomic_store(&job->queue->cancelled, true);
  return false;
}

/* Raises the limit of the claimed chunk by the next one, unless the merger waits for the chunk or
 * the chunk is long enough to be published. */
static bool extend_claim(void *context) {
  const claim *c = context;
  if (atomic_load_explicit(&c->job->shared.wanted, memory_order_relaxed) == c->chunk) return false;
  const hp_chunk *chunk = hp_chunk_at(c->job->queue, c->chunk);
  if (c->job->division.publishes_early && chunk->limit - chunk->cut >= PUBLISH_BYTES) return false;
  uint32_t limit = chunk->limit;
  uint32_t most = c->job->division.publishes_early ? 1 : UINT32_MAX;
  return hp_chunk_queue_extend(c->job->queue, c->thread, c->chunk, most) &&
         hp_team_validate(c->job, limit, chunk->limit);
}

/* Returns the work of a claimed chunk, or NULL if memory is short. */
static hp_chunk_result *begin_work(hp_job *job, claim *claimed) {
  hp_chunk *c = hp_chunk_at(job->queue, claimed->chunk);
  if (!c->work) c->work = hp_worker_next_work(job->team->workers[claimed->thread]);
  hp_chunk_result *work = c->work;
  if (!work) return NULL;
  work->cut = c->cut;
  work->limit = c->limit;
  work->reach = hp_chunk_queue_reach(job->queue, claimed->thread, claimed->chunk);
  work->read_ahead = job->division.threads < MIN_THREADS_READING_AHEAD ? 0 : READ_AHEAD_BYTES;
  work->times.worker = claimed->thread;
  work->more = job->queue->by_range ? extend_claim : NULL;
  work->more_context = claimed;
  return work;
}

static void note_first_start(hp_job *job) {
  uint64_t none = 0;
  if (!atomic_load_explicit(&job->shared.first_start, memory_order_relaxed))
    atomic_compare_exchange_strong_explicit(&job->shared.first_start, &none, hp_now(), memory_order_relaxed,
                                            memory_order_relaxed);
}

/* Speculates about a chunk that has text. */
static void speculate(hp_job *job, unsigned thread, uint32_t chunk) {
  hp_worker *worker = job->team->workers[thread];
  hp_request request = job->request;
  request.more = !atomic_load_explicit(&job->shared.text_is_complete, memory_order_acquire);
  request.length = atomic_load_explicit(&job->shared.available, memory_order_acquire);
  note_first_start(job);
  claim claimed = {job, thread, chunk};
  hp_chunk_result *work = begin_work(job, &claimed);
  if (work && open_worker(job, worker)) {
    hp_unit_call_hook();
    hp_worker_parse(worker, &request, &job->plan, work);
  } else if (work) {
    work->failed = true;
    work->times.begin = work->times.end = hp_now();
    work->times.prescan = 0;
  }
}

/* Joins further chunks to an empty one, as only chunks by range are. Returns false if all of them
 * are empty. */
static bool claim_until_not_empty(const hp_job *job, unsigned thread, uint32_t chunk) {
  const hp_chunk *c = hp_chunk_at(job->queue, chunk);
  while (c->cut == c->limit && hp_chunk_queue_extend(job->queue, thread, chunk, 1)) {
  }
  return c->cut < c->limit;
}

void hp_team_parse_chunk(hp_job *job, unsigned thread, uint32_t chunk) {
  hp_chunk *c = hp_chunk_at(job->queue, chunk);
  atomic_store_explicit(&c->owner, (uint16_t)(thread + 1), memory_order_relaxed);
  atomic_store_explicit(&c->unit, HP_UNIT_CLAIMED, memory_order_relaxed);
  hp_unit_call_hook();
  bool is_valid = claim_until_not_empty(job, thread, chunk) && hp_team_validate(job, c->cut, c->limit);
  if (is_valid && !job->team->workers[thread]->saturated) speculate(job, thread, chunk);
  hp_chunk_queue_finish(job->queue, chunk);
  if (job->config.order) job->config.order->arrive(job, thread, chunk);
  hp_event_count_wake(&job->team->merger_event);
}

/* Estimates the work beside the merger, and claims the first chunk of the thread's part. */
static uint32_t claim_first(hp_job *job, unsigned thread) {
  hp_cost_estimate *work = &job->team->work;
  hp_worker_call_progress_hook(HP_PROGRESS_OF_PARTS);
  hp_estimate_cost(work, job->request.text, job->request.length);
  hp_worker_call_progress_hook(HP_PROGRESS_OF_PARTS);
  uint32_t chunk = hp_chunk_queue_take_part(job->queue, work);
  atomic_store_explicit(&job->shared.is_estimated, true, memory_order_release);
  return chunk ? chunk : hp_chunk_queue_claim(job->queue, thread);
}

/* Parses chunks until none is left. Then composes the logs of the last ones with others. */
static void parse_chunks(hp_job *job, unsigned thread) {
  hp_finished finished;
  finished.count = 0;
  bool is_first = job->division.divides_later;
  while (!hp_is_cancelled(job->queue) && !job->team->workers[thread]->saturated) {
    uint32_t chunk = is_first ? claim_first(job, thread) : hp_chunk_queue_claim(job->queue, thread);
    is_first = false;
    if (chunk) {
      hp_team_parse_chunk(job, thread, chunk);
      hp_note_finished(&finished, chunk);
    } else if (hp_chunk_queue_is_finished(job->queue)) {
      if (job->division.composes) hp_compose_neighbours(job, thread, &finished);
      return;
    } else {
      hp_chunk_queue_wait(job->queue);
    }
  }
}

void hp_team_run_thread(void *context, unsigned thread) {
  hp_job *job = context;
  if (thread >= job->division.threads) {
    job->config.pairs->serve(job, thread - job->division.threads);
    return;
  }
  parse_chunks(job, thread);
  if (job->division.has_pairs) job->config.pairs->stop(job, thread);
  atomic_store_explicit(&job->team->workers[thread]->left, true, memory_order_release);
}

void hp_team_start_pool(hp_job *job) {
  if (job->pool_runs || (job->division.threads < 2 && !job->division.has_pairs) || !hp_is_pooled(job)) return;
  if (hp_published_chunks(job->queue) < 2) return;
  job->pool_runs = true;
  hp_crew_start(job->team->crew, job->config.executor.bind,
                job->division.has_pairs ? 2 * job->division.threads : job->division.threads, hp_team_run_thread, job);
}

void hp_team_join_pool(hp_job *job) {
  atomic_store(&job->queue->closed, true);
  if (!job->pool_runs) return;
  hp_chunk_queue_wake(job->queue);
  if (job->division.has_pairs) {
    job->config.pairs->stop(job, 0);
    hp_crew_join(job->team->crew); /* each thread of a pair waits for the other one */
  } else {
    hp_crew_end(job->team->crew);
  }
  job->pool_runs = false;
}

/* Returns whether the document may return before the threads: they use only their own memory, the
 * document's, which waits for them, and the team's. The caller's callbacks and tables, and the
 * record, belong to the parse. */
static bool may_leave_threads(const hp_job *job) {
  const hp_plan *plan = &job->plan;
  return hp_crew_can_leave(job->team->crew) && !job->division.has_pairs && !job->cutter.source && !job->merger.trace &&
         !job->config.finder && !hp_plan_uses_caller(plan);
}

/* Waits for up to LEAVE_SPIN_NS until no thread of the pool is in the closed batch. Does not wait
 * for a straggler that is still in its chunk. Returns whether none is left. */
static bool wait_for_threads(const hp_job *job) {
  const hp_pool *pool = hp_crew_pool(job->team->crew);
  bool is_in_chunk = job->position.given_up && !hp_chunk_is_free(hp_chunk_at(job->queue, job->position.given_up));
  hp_spin spin = {0};
  bool is_idle;
  while (!(is_idle = hp_pool_is_idle(pool)) && !is_in_chunk && hp_spin_on(&spin, LEAVE_SPIN_NS)) {
  }
  return is_idle;
}

static void leave_pool(hp_job *job) {
  hp_team *team = job->team;
  if (!job->pool_runs || !may_leave_threads(job)) {
    hp_team_join_pool(job);
    return;
  }
  atomic_store(&job->queue->closed, true);
  atomic_store(&job->queue->cancelled, true);
  hp_chunk_queue_wake(job->queue);
  if (job->config.order) job->config.order->close(job);
  unsigned entered = hp_pool_close(hp_crew_pool(team->crew));
  bool is_idle = wait_for_threads(job);
  job->pool_runs = false;
  if (is_idle) return;
  hp_crew_leave(team->crew, entered, NULL, NULL);
  hp_team_lend_document(team, job->request.document);
  hp_atoms_close(&job->request.document->atoms);
}

void hp_team_leave_pool(hp_job *job) {
  hp_worker_call_progress_hook(HP_PROGRESS_OF_LEAVING);
  leave_pool(job);
  hp_worker_call_progress_hook(HP_PROGRESS_OF_LEAVING + 1);
}

bool hp_team_lend_document(hp_team *team, hpar_document *document) {
  hp_stragglers *stragglers = hp_crew_lend_stragglers(team->crew);
  if (stragglers) document->stragglers = stragglers;
  return stragglers;
}

void hp_team_await_stragglers(hp_team *team) {
  if (!hp_crew_await(team->crew)) hp_team_forget(team);
}

/* Forgets the state that lost threads may have left in the middle of a change. Its memory leaks. */
void hp_team_forget(hp_team *team) {
  team->workers = NULL;
  team->pairs = team->order = team->judge = (hp_part_state){NULL, NULL};
  team->worker_count = 0;
  team->merger_event = team->queue.wake = (hp_event_count){0};
  team->job.pool_runs = team->job.is_open = false;
}

void hp_team_free(hp_team *team) {
  hp_team_await_stragglers(team);
  for (unsigned i = 0; i < team->worker_count; i++) {
    hp_worker_close(team->workers[i]);
    hp_free(team->workers[i]);
  }
  hp_free(team->workers);
  if (team->pairs.memory) team->pairs.destroy(team->pairs.memory);
  if (team->order.memory) team->order.destroy(team->order.memory);
  if (team->judge.memory) team->judge.destroy(team->judge.memory);
  hp_chunk_queue_close(&team->queue);
  hp_prescan_close(&team->prescan);
}

/*** decoding in slices ***/

/* A smaller slice costs more than it saves. */
enum { MIN_DECODED_BYTES = 4 << 10, MIN_CHECKED_BYTES = 8 << 10 };
/* Larger slices are not needed. Texts below MIN_LONG_BYTES have no smaller ones. */
enum { MAX_DECODED_BYTES = 8 << 10, MAX_CHECKED_BYTES = 32 << 10, MIN_LONG_BYTES = 128 << 10 };
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
  hp_unit_queue_stop_consuming(&s->units);
  return false;
}

static bool run_inline(void *context, hp_slice_batch *batch) {
  (void)context;
  hp_unit_steps steps = {0};
  for (unsigned i = batch->count; i--;) batch->client->run(batch->job, i, 0, &steps);
  return true;
}

void hp_team_slice_executor(hp_team *team, const hp_executor *from, const char *bytes, size_t length,
                            hp_slice_executor *executor) {
  hp_team_await_stragglers(team);
  executor->first_slice_bytes = hp_merger_bytes(length, 2);
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
  executor->max_slices = threads > 2 ? HP_UNITS_PER_THREAD * threads : threads;
  const size_t shared = length < MIN_LONG_BYTES ? SIZE_MAX : length;
  executor->min_slice_bytes = hp_unit_length(shared, threads, MIN_DECODED_BYTES, MAX_DECODED_BYTES);
  executor->min_checked_bytes = hp_unit_length(shared, threads, MIN_CHECKED_BYTES, MAX_CHECKED_BYTES);
}
