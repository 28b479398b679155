#include "drivers/parallel/team.h"

#include "speculation/worker.h"

/* On two threads, the merger parses until the last chunk, and compositions gain nothing. */
enum { MIN_THREADS = 3 };
/* A composition copies the open elements of the left log. */
enum { MAX_OPEN_ELEMENTS = 1024 };

/* With chunks by range, there are no scripts, no pairs of threads, no other order of merging, and
 * no judge of single segments. */
bool hp_may_compose_neighbours(const hp_job *job) {
  return job->division.threads >= MIN_THREADS && hp_is_pooled(job) && job->queue->by_range && !job->request.trace &&
         !hp_merger_is_observed(&job->merger) && !job->request.max_errors && !job->plan.strategy->one_by_one &&
         !hp_engine_is_limited(job->merger.engine);
}

/* A composition of adjacent chunks by a thread. It holds the chunks [left, end). */
typedef struct composition {
  hp_job *job;
  unsigned thread;
  hp_composer composer;
  hp_merge_level level;
  uint32_t left, right, end; /* the logs of the chunks [left, right) continue into `right` */
} composition;

static hp_chunk_result *work_at(const hp_job *job, uint32_t chunk) { return hp_chunk_at(job->queue, chunk)->work; }

/* Notes progress of the thread while it holds chunks. */
static void note_progress(const composition *c) {
  hp_worker_call_progress_hook(HP_PROGRESS_OF_COMPOSITIONS);
  _Atomic uint32_t *progress = &c->job->team->workers[c->thread]->progress;
  atomic_store_explicit(progress, atomic_load_explicit(progress, memory_order_relaxed) + 1, memory_order_relaxed);
}

static void release(const composition *c) {
  hp_chunk_queue *queue = c->job->queue;
  for (uint32_t chunk = c->left; chunk < c->end;) {
    hp_chunk *held = hp_chunk_at(queue, chunk);
    chunk += hp_chunk_span(held);
    hp_unit_release(&held->unit);
  }
  hp_event_count_wake(&c->job->team->merger_event);
}

/* Holds the finished chunk at `end`. */
static bool hold_next(composition *c) {
  hp_chunk_queue *queue = c->job->queue;
  if (c->end >= hp_published_chunks(queue) || !hp_chunk_queue_hold(queue, c->end, c->thread)) return false;
  c->end += hp_chunk_span(hp_chunk_at(queue, c->end));
  return true;
}

/* Holds the finished chunk before `left`, unless the merger is there. */
static bool hold_previous(composition *c) {
  hp_chunk_queue *queue = c->job->queue;
  uint32_t before = hp_chunk_before(queue, c->left);
  if (before <= atomic_load_explicit(&c->job->shared.merging, memory_order_relaxed)) return false;
  if (!hp_chunk_queue_hold(queue, before, c->thread)) return false;
  c->left = before;
  return true;
}

/* Holds the chunk, and the one before it whose log continues there. Returns false if it holds none.
 */
static bool hold_boundary(composition *c, uint32_t chunk) {
  c->left = c->right = c->end = chunk;
  if (chunk <= atomic_load_explicit(&c->job->shared.merging, memory_order_relaxed) || !hold_next(c)) return false;
  bool is_free = !hp_chunk_at(c->job->queue, chunk)->composed && work_at(c->job, chunk);
  while (is_free && (is_free = hold_previous(c))) {
    const hp_chunk_result *work = work_at(c->job, c->left);
    if (!work || !hp_is_composed(work)) break;
  }
  if (!is_free || !work_at(c->job, c->left)) {
    release(c);
    return false;
  }
  return true;
}

static hpar_status run_composition(void *argument) {
  composition *c = argument;
  const hp_job *job = c->job;
  if (!hp_compose_begin(&c->composer, &job->request, work_at(job, c->left), work_at(job, c->right))) return HPAR_OK;
  uint32_t next = c->right;
  while (work_at(job, next) && hp_compose_chunk(&c->composer, work_at(job, next))) {
    note_progress(c);
    next += hp_chunk_span(hp_chunk_at(job->queue, next));
    if (next == c->end && !hold_next(c)) break;
  }
  hp_compose_end(&c->composer);
  if (next < c->end && work_at(job, next) && hp_is_composed(work_at(job, next)))
    next += hp_chunk_span(hp_chunk_at(job->queue, next));
  hp_chunk_at(job->queue, c->left)->composed_end = next;
  return HPAR_OK;
}

static bool has_few_open_elements(const hp_chunk_result *work) {
  uint32_t count = work->log.segments.count;
  return count && work->log.segments.items[count - 1].open_elements.count <= MAX_OPEN_ELEMENTS;
}

/* Composes the log before the chunk with its log. Returns false if that is impossible now. Each
 * boundary is composed once, so that all compositions together are linear in the logs. */
static bool compose_before(composition *c, uint32_t chunk) {
  hp_worker *worker = c->job->team->workers[c->thread];
  if (!hold_boundary(c, chunk)) return false;
  note_progress(c);
  c->composer = (hp_composer){.worker = worker, .level = &c->level};
  /* A failure leaves a log that is shorter, and sound. */
  if (has_few_open_elements(work_at(c->job, c->left))) hp_try(&worker->engine.unwind, run_composition, c);
  hp_chunk_at(c->job->queue, c->right)->composed = true;
  note_progress(c);
  release(c);
  return true;
}

/* Composes before the chunk, then before the composed chunks and after them. */
static void compose_around(composition *c, uint32_t chunk) {
  while (!hp_is_cancelled(c->job->queue) && compose_before(c, chunk)) {
    composition after = *c;
    compose_before(&after, c->end);
    chunk = c->left;
  }
}

void hp_compose_neighbours(hp_job *job, unsigned thread, const hp_finished *finished) {
  uint32_t count = finished->count < HP_MAX_FINISHED ? finished->count : HP_MAX_FINISHED;
  composition c = {.job = job, .thread = thread};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t chunk = finished->chunks[i];
    compose_around(&c, chunk);
    compose_around(&c, chunk + hp_chunk_span(hp_chunk_at(job->queue, chunk)));
  }
}
