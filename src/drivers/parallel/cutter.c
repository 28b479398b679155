#include "drivers/parallel/team.h"

/* `LOOKBACK_BYTES`: a policy may find a cut that begins in the last bytes once more text is
 * available. */
enum { MAX_SLACK_BYTES = 4 << 10, LOOKBACK_BYTES = 16 };

/* Of chunks of a page with scripts. The workers finish them in their order, so that the merger
 * reaches each script early. */
enum { SCRIPT_CHUNK_BYTES = 32 << 10 };

/* Returns whether the cuts are true token boundaries. */
static bool cuts_exactly(const hp_job *job) { return !job->plan.cut.policy->find && !job->config.cuts; }

void hp_cutter_open(hp_job *job) {
  const hp_plan *plan = &job->plan;
  if (plan->truth && (plan->predictor->asks_for_truth || plan->mode_predictor->asks_for_truth || cuts_exactly(job)))
    job->cutter.source = plan->truth->open(&job->request, job->config.fragment);
}

void hp_cutter_close(hp_cutter *cutter, const hp_plan *plan) {
  if (cutter->source) plan->truth->close(cutter->source);
  cutter->source = NULL;
}

uint64_t hp_cutter_truth_ns(const hp_cutter *cutter, const hp_plan *plan) {
  return cutter->source ? plan->truth->nanoseconds(cutter->source) : 0;
}

/* Returns the offset in the first `length` bytes of the text of a byte of the caller's input, or
 * `length`. */
static size_t text_offset(const hp_request *request, size_t length, uint64_t offset) {
  size_t low = 0, high = length;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (hp_input_offset(&request->document->input, middle) < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool find_truth(hp_job *job, size_t offset, hp_start_state *truth) {
  bool last = atomic_load_explicit(&job->shared.text_is_complete, memory_order_relaxed);
  size_t available = atomic_load_explicit(&job->shared.available, memory_order_relaxed);
  return job->plan.truth->at(job->cutter.source, (uint32_t)offset, available, last, truth);
}

/* Returns the first cut at or after `from`, or `available`. Requires: from < available. */
static size_t find_cut_from(hp_job *job, size_t available, size_t from) {
  hp_cutter *c = &job->cutter;
  if (!cuts_exactly(job)) return hp_cut_by(&job->plan.cut, job->request.text, available, from);
  c->next_truth.known = c->source && find_truth(job, from, &c->next_truth.state);
  return c->next_truth.known ? c->next_truth.state.first : available;
}

static void give_truth(hp_job *job, hp_chunk *chunk) {
  hp_cutter *c = &job->cutter;
  chunk->work = hp_worker_next_work(job->team->workers[0]);
  if (!chunk->work) hp_unwind_now(&job->merger.engine->unwind, HPAR_ERROR_MEMORY);
  if (cuts_exactly(job)) {
    chunk->work->truth_known = c->truth.known;
    chunk->work->truth = c->truth.state;
    c->truth = c->next_truth;
  } else {
    chunk->work->truth_known = find_truth(job, c->begin, &chunk->work->truth);
  }
}

/* Publishes the chunk [begin, limit). */
static void publish_chunk(hp_job *job, size_t limit) {
  hp_cutter *c = &job->cutter;
  hp_chunk *chunk = hp_chunk_queue_append(job->queue, (uint32_t)c->begin, (uint32_t)limit);
  if (!chunk) hp_unwind_now(&job->merger.engine->unwind, HPAR_ERROR_MEMORY);
  if (c->source && (c->begin || cuts_exactly(job))) give_truth(job, chunk);
  c->begin = limit;
  c->cut = 0;
  hp_chunk_queue_publish(job->queue);
}

static size_t chunk_bytes(const hp_job *job, size_t length) {
  return job->config.chunk_size ? job->config.chunk_size : hp_chunk_size(length, job->division.threads);
}

static void cut_evenly(hp_job *job, size_t size) {
  const size_t length = job->request.length;
  for (size_t from = size, cut; from < length && (cut = find_cut_from(job, length, from)) < length;) {
    publish_chunk(job, cut);
    from = from + size > cut ? from + size : cut + size;
  }
}

/* Cuts up to `end`, and at `end` unless the text ends there. The chunks become smaller, so that all
 * threads finish at about the same time. */
static void cut_down(hp_job *job, size_t end, unsigned takers, size_t least) {
  enum { MOST = 1 << 20 };
  const size_t length = job->request.length;
  for (size_t from; (from = job->cutter.begin) < end;) {
    size_t size = (end - from) / (2 * (size_t)takers);
    if (size > MOST) size = MOST;
    if (size < least) size = least;
    size_t cut = end - from < size + least ? end : from + size;
    if (cut < length) cut = find_cut_from(job, length, cut);
    if (cut >= length) return;
    publish_chunk(job, cut);
  }
}

/* The merger begins on the left, and the other threads begin after its share. Both find large
 * chunks first and then smaller ones. */
static void cut_tapered(hp_job *job) {
  enum { LEAST = 4 << 10, MOST = 32 << 10, PARTS = 64 };
  size_t length = job->request.length, least = length / PARTS;
  unsigned threads = job->division.threads;
  if (least < LEAST) least = LEAST;
  if (least > MOST) least = MOST;
  if (threads > 1) cut_down(job, hp_merger_bytes(length, threads), 1, least);
  cut_down(job, length, threads > 1 ? threads - 1 : 1, least);
}

bool hp_may_join_chunks(const hp_job *job) {
  const hp_parallel_config *config = &job->config;
  return !config->cuts && !config->chunk_size && !config->chunks && !job->config.order && !job->division.has_pairs &&
         !config->scripts && !hp_is_inline(job) && !cuts_exactly(job) && job->division.threads > 1 &&
         !job->plan.strategy->parse;
}

static void cut_by_policy(hp_job *job) {
  const size_t length = job->request.length;
  const hp_parallel_config *config = &job->config;
  size_t size = config->chunk_size     ? config->chunk_size
                : config->chunks       ? length / config->chunks + 1
                : config->scripts      ? SCRIPT_CHUNK_BYTES
                : job->queue->by_range ? hp_joinable_chunk_size(length, job->division.threads)
                : cuts_exactly(job)    ? hp_chunk_size(length, job->division.threads)
                                       : 0;
  if (size)
    cut_evenly(job, size);
  else
    cut_tapered(job);
}

/* Lets the threads find the cuts. */
static void divide_evenly(hp_job *job) {
  const hp_request *request = &job->request;
  const hp_lazy_cuts lazy = {.text = request->text,
                             .length = request->length,
                             .distance = hp_joinable_chunk_size(request->length, job->division.threads),
                             .policy = job->plan.cut.policy};
  if (!hp_chunk_queue_divide(job->queue, &lazy)) hp_unwind_now(&job->merger.engine->unwind, HPAR_ERROR_MEMORY);
}

void hp_cut_text(hp_job *job) {
  job->queue->by_range = hp_may_join_chunks(job);
  if (job->queue->by_range && !job->cutter.source && !job->plan.cut.find) {
    divide_evenly(job);
    return;
  }
  if (job->config.cuts) {
    hp_cut_available(job, job->request.length, job->request.length, true);
    return;
  }
  if (!job->division.is_alone) cut_by_policy(job);
  publish_chunk(job, job->request.length);
}

/* Returns the next forced cut, or 0 if it lies after the mapped text. */
static size_t find_forced_cut(hp_job *job, size_t mapped) {
  const hp_parallel_config *config = &job->config;
  hp_cutter *c = &job->cutter;
  for (; c->forced < config->cut_count;) {
    size_t at = text_offset(&job->request, mapped, config->cuts[c->forced]);
    if (at >= mapped) break;
    c->forced++;
    if (at > c->begin) return at;
  }
  c->searched = mapped;
  return 0;
}

/* Returns the end of the next chunk, or 0 if it is not known yet. */
static size_t next_cut(hp_job *job, size_t available, size_t mapped) {
  hp_cutter *c = &job->cutter;
  if (job->config.cuts) return find_forced_cut(job, mapped);
  size_t size = chunk_bytes(job, available);
  if (size >= available || c->begin >= available - size) return 0;
  size_t from = c->begin + size > c->searched ? c->begin + size : c->searched;
  size_t cut = find_cut_from(job, available, from);
  if (cut < available) return cut;
  if (available - from > LOOKBACK_BYTES && !cuts_exactly(job)) c->searched = available - LOOKBACK_BYTES;
  return 0;
}

void hp_cut_available(hp_job *job, size_t available, size_t mapped, bool all) {
  hp_cutter *c = &job->cutter;
  for (;;) {
    if (!c->cut) c->cut = next_cut(job, available, mapped);
    if (!c->cut) break;
    size_t slack = (c->cut - c->begin) / 8;
    if (slack > MAX_SLACK_BYTES) slack = MAX_SLACK_BYTES;
    if (!all && available - c->cut < slack) break;
    publish_chunk(job, c->cut);
  }
  if (all) publish_chunk(job, available);
}

size_t hp_cutter_next_cut(const hp_job *job, size_t available) {
  const hp_cutter *c = &job->cutter;
  size_t next = c->cut ? c->cut : job->config.cuts ? 0 : chunk_bytes(job, available);
  return next < c->searched ? c->searched : next;
}
