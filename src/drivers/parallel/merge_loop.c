#include "drivers/parallel/team.h"

#include "base/process.h"

enum { AWAIT_SPIN_NS = 50000, STRAGGLER_NS = 100000, RESCUE_BYTES = 4 << 10 };

static uint32_t merger_position(const hp_merger *m) { return hp_tokenizer_offset(&m->engine->tokenizer); }

static void count_exact_chunk(hp_merge_counters *counters) {
  counters->chunks_exact++;
  counters->chunks_right_start++;
  counters->chunks_right++;
  counters->chunks_clean++;
}

/* Returns whether a worker has finished the merger's chunk. */
static bool is_done(const hp_job *job) {
  return hp_unit_is_complete(&hp_chunk_at(job->queue, job->position.chunk)->unit);
}

/* Ends the parse of a text that is no valid UTF-8. */
static void reject_text(const hp_job *job) {
  hp_engine *engine = job->merger.engine;
  engine->builder.encoding.restarts = true;
  hp_unwind_now(&engine->unwind, HPAR_OK);
}

/* Validates the text up to the offset, unless its validity is known. Unwinds if it is invalid. */
static void validate_to(hp_job *job, uint32_t end) {
  if (end <= job->position.valid_to) return;
  if (!hp_team_validate(job, job->position.valid_to, end)) reject_text(job);
  job->position.valid_to = end;
}

/* Trusts the text of a finished chunk: its thread has validated the text. All text before it is
 * valid. */
static void trust_chunk(hp_job *job, const hp_chunk *c) {
  if (atomic_load_explicit(&job->shared.is_invalid, memory_order_relaxed)) reject_text(job);
  if (c->limit > job->position.valid_to) job->position.valid_to = c->limit;
}

/* Lets the merger parse its chunk itself, if no worker has claimed the chunk. Returns whether it
 * does. */
static bool take_over_chunk(hp_job *job) {
  if (job->position.is_exact || job->division.threads < 2 || is_done(job) ||
      !hp_chunk_queue_claim_chunk(job->queue, job->position.chunk))
    return false;
  count_exact_chunk(job->merger.counters);
  if (job->config.order) job->config.order->arrive(job, 0, job->position.chunk);
  return job->position.is_exact = true;
}

/* Joins the next chunk to the merger's own one, if no worker has claimed it. Returns whether it
 * does. */
static bool extend_exact_chunk(hp_job *job, const hp_chunk *c) {
  uint32_t next = job->position.chunk + hp_chunk_span(c), most = UINT32_MAX;
  if (job->division.divides_later && !atomic_load_explicit(&job->shared.is_estimated, memory_order_relaxed))
    most = HP_CLAIM_BEFORE_PARTS;
  if (!job->queue->by_range || next >= hp_published_chunks(job->queue)) return false;
  if (hp_chunk_queue_extend(job->queue, 0, job->position.chunk, most)) return true;
  if (!hp_chunk_queue_claim_chunk(job->queue, next)) return false;
  hp_chunk_queue_join(job->queue, job->position.chunk, 1);
  return true;
}

static uint32_t progress_of(const hp_job *job, unsigned worker) {
  return atomic_load_explicit(&job->team->workers[worker]->progress, memory_order_relaxed);
}

/* Looks at the other one of two threads from time to time. A wait for it is then short if it has
 * made no progress for a while. */
static void look_at_other_thread(hp_job *job) {
  enum { DISTANCE_BYTES = 128 << 10 };
  uint32_t place = merger_position(&job->merger);
  if (!job->pool_runs || job->division.threads != 2 || place - job->position.seen.place < DISTANCE_BYTES) return;
  uint32_t progress = progress_of(job, 1);
  job->position.seen.place = place;
  if (job->position.seen.since && progress == job->position.seen.progress) return;
  job->position.seen.progress = progress;
  job->position.seen.since = hp_now();
}

/* Parses the merger's own chunk. Returns false if more input must come first. */
static bool parse_exact_chunk(hp_job *job, const hp_chunk *c) {
  hp_merger *m = &job->merger;
  uint64_t begin = m->notes ? hp_now() : 0;
  bool is_finished;
  do {
    validate_to(job, c->limit);
    if (m->finder) hp_finder_own(m->finder, c->limit);
    is_finished = hp_merger_parse_until(m, c->limit);
    look_at_other_thread(job);
  } while (is_finished && !m->done && extend_exact_chunk(job, c));
  if (m->notes) job->config.trace->merged_chunk(job, c, begin, is_finished);
  return is_finished;
}

/* In order, reports what the workers have found in the finished chunks from the merger's chunk on,
 * up to the first unfinished one. All text before is parsed. */
static void deliver_found(hp_job *job) {
  hp_merger *m = &job->merger;
  if (!m->finder || !m->finder->report->in_order || !hp_finder_is_settled(m->finder)) return;
  uint32_t first = job->position.chunk +
                   (hp_merger_is_in_chunk(m) ? hp_chunk_span(hp_chunk_at(job->queue, job->position.chunk)) : 0);
  if (job->position.found_chunk < first) job->position.found_chunk = first;
  while (job->position.found_chunk < hp_published_chunks(job->queue)) {
    const hp_chunk *c = hp_chunk_at(job->queue, job->position.found_chunk);
    if (!hp_unit_is_complete(&c->unit)) return;
    unsigned owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
    if (c->work && !c->work->failed)
      hp_finder_deliver(m->finder, &c->work->log.sightings, merger_position(m), owner ? owner - 1 : 0);
    job->position.found_chunk += hp_chunk_span(c);
  }
}

/* Parses a chunk that has no log, because memory was short. */
static bool merge_without_log(hp_merger *m, const hp_chunk *c) {
  const hp_chunk_result lost = {.cut = c->cut, .limit = c->limit, .failed = true};
  return hp_merger_merge_chunk(m, &lost);
}

/* Merges the log of a worker. Returns false if more input must come first. */
static bool merge_log(hp_job *job, const hp_chunk *c) {
  hp_merger *m = &job->merger;
  trust_chunk(job, c);
  uint64_t begin = hp_now();
  deliver_found(job);
  bool is_finished = c->work ? hp_merger_merge_chunk(m, c->work) : merge_without_log(m, c);
  job->counters->merge_ns += hp_now() - begin;
  if (m->notes) job->config.trace->merged_chunk(job, c, begin, is_finished);
  return is_finished;
}

static void leave_chunk(hp_job *job, const hp_chunk *c) {
  job->position.chunk += hp_chunk_span(c);
  job->position.number += !hp_chunk_is_empty(job->queue, c);
}

/* Counts the chunks whose logs are in the merged log. No thread changes them, because the merger
 * holds the chunk of that log. */
static void pass_composed_chunks(hp_job *job, uint32_t end) {
  while (job->position.chunk < end) {
    const hp_chunk *c = hp_chunk_at(job->queue, job->position.chunk);
    if (!hp_merger_count_composed(&job->merger, c->work)) return;
    trust_chunk(job, c);
    leave_chunk(job, c);
  }
}

/* Merges the next chunk. Returns false if more input must come first. */
static bool merge_chunk(hp_job *job) {
  const hp_chunk *c = hp_chunk_at(job->queue, job->position.chunk);
  uint32_t composed_end = job->position.is_exact ? 0 : c->composed_end;
  if (job->position.is_exact ? !parse_exact_chunk(job, c) : !hp_chunk_is_empty(job->queue, c) && !merge_log(job, c))
    return false;
  job->position.is_exact = false;
  leave_chunk(job, c);
  pass_composed_chunks(job, composed_end);
  return true;
}

/* Returns whether the merger can merge its chunk now. Another order must be complete before. No
 * other thread changes the log of the chunk afterwards. */
static bool is_ready(hp_job *job) {
  if (job->config.order && !job->position.is_order_closed)
    return atomic_load_explicit(&job->shared.composed_chunks, memory_order_acquire) + 1 >=
           hp_published_chunks(job->queue);
  if (!job->division.composes) return is_done(job);
  if (job->position.held_chunk == job->position.chunk) return true;
  if (!hp_chunk_queue_hold(job->queue, job->position.chunk, 0)) return false;
  job->position.held_chunk = job->position.chunk;
  return true;
}

static bool merger_is_ready(void *job) { return is_ready(job); }

static void note_wait(const hp_job *job, uint64_t begin) {
  hp_trace *trace = job->merger.trace;
  if (trace) trace->event(trace, HP_EVENT_WAIT, 0, job->position.number, begin, hp_now(), 0, 0);
}

/*** stragglers ***/

/* What the merger waits for: the worker that parses or composes a chunk, or all workers in
 * another order of merging. */
typedef struct awaited {
  unsigned owner; /* its number + 1; 0: the thread that claimed the chunk has not started */
  uint32_t progress;
} awaited;

static awaited look_at_all_workers(const hp_job *job) {
  awaited found = {.progress = atomic_load_explicit(&job->shared.composed_chunks, memory_order_relaxed)};
  for (unsigned i = 0; i < job->division.threads; i++) found.progress += progress_of(job, i);
  return found;
}

static awaited look_at_worker(const hp_job *job) {
  if (job->config.order && !job->position.is_order_closed) return look_at_all_workers(job);
  const hp_chunk *c = hp_chunk_at(job->queue, job->position.chunk);
  awaited found = {.owner = hp_unit_holder(&c->unit)};
  if (!found.owner) found.owner = atomic_load_explicit(&c->owner, memory_order_relaxed);
  if (found.owner) found.progress = progress_of(job, found.owner - 1);
  return found;
}

/* Returns whether the merger may parse the awaited chunk itself. A record states the chunks' joins,
 * which a straggler may still change. So it may the resources that it has found. */
static bool can_rescue(const hp_job *job) {
  return job->division.threads > 1 && !job->division.has_pairs && !job->merger.trace && !job->config.finder;
}

/* Spins until the chunk is ready or STRAGGLER_NS have passed. A sleep could last longer: other
 * processes may take the processor. */
static bool spin_until_ready(hp_job *job) {
  hp_spin spin = {0};
  bool ready;
  while (!(ready = is_ready(job)) && hp_spin_on(&spin, STRAGGLER_NS)) {
  }
  return ready;
}

/* Waits for up to STRAGGLER_NS. Without a rescue, the merger sleeps, so that the kernel can run the
 * awaited thread on this processor. Returns false if the worker of the chunk is a straggler: it has
 * made no progress. */
static bool wait_for_worker(hp_job *job, bool sleeps) {
  awaited before = look_at_worker(job);
  atomic_store_explicit(&job->shared.wanted, job->position.chunk, memory_order_relaxed);
  if (job->pool_runs) hp_pool_widen(hp_crew_pool(job->team->crew));
  bool is_done = sleeps ? hp_event_count_sleep(&job->team->merger_event, STRAGGLER_NS, merger_is_ready, job)
                        : spin_until_ready(job);
  atomic_store_explicit(&job->shared.wanted, 0, memory_order_relaxed);
  awaited after = look_at_worker(job);
  return is_done || after.owner != before.owner || after.progress != before.progress;
}

/* Returns whether the worker of the chunk is a straggler, by an earlier look at it. */
static bool is_known_straggler(const hp_job *job) {
  if (!job->position.seen.since || look_at_worker(job).owner != 2 || !can_rescue(job)) return false;
  return progress_of(job, 1) == job->position.seen.progress &&
         hp_now() - job->position.seen.since >= AWAIT_SPIN_NS + STRAGGLER_NS;
}

/* Claims a chunk for the merger while it waits. Returns 0 if there is none. The merger of many
 * threads claims none, because their logs would wait for it. */
static uint32_t claim_meanwhile(hp_job *job) {
  return job->queue->is_staggered ? 0 : hp_chunk_queue_claim(job->queue, 0);
}

/* Waits until the merger can merge its chunk. Parses later chunks meanwhile. Returns false if the
 * worker of the chunk is a straggler. */
static bool wait_until_ready(hp_job *job) {
  if (is_ready(job)) return true;
  uint64_t begin = hp_now();
  hp_spin spin = {0};
  bool spins = true, sleeps = !can_rescue(job), is_straggler = false;
  while (!is_straggler && !is_ready(job)) {
    if ((is_straggler = is_known_straggler(job))) break;
    uint32_t other = claim_meanwhile(job);
    if (other) {
      job->times.wait_ns += hp_now() - begin;
      note_wait(job, begin);
      hp_team_parse_chunk(job, 0, other);
      begin = hp_now();
    } else if (spins) {
      spins = hp_spin_on(&spin, AWAIT_SPIN_NS);
    } else {
      is_straggler = !wait_for_worker(job, sleeps) && can_rescue(job);
      if (is_straggler && job->config.order) job->config.order->close(job);
      sleeps = true; /* the worker makes progress */
    }
  }
  job->times.wait_ns += hp_now() - begin;
  note_wait(job, begin);
  return !is_straggler || is_ready(job);
}

/* Parses on the true state up to the offset, or until the chunk's log is free. Returns whether it
 * is free. */
static bool parse_until_free(hp_merger *m, const hp_chunk *chunk, uint32_t end) {
  while (!hp_chunk_is_free(chunk)) {
    uint32_t at = merger_position(m);
    if (m->done || at >= end) return false;
    hp_merger_parse_until(m, end - at > RESCUE_BYTES ? at + RESCUE_BYTES : end);
  }
  return true;
}

/* Parses a chunk itself whose worker is a straggler. When the worker is done, the merger takes the
 * rest of its log. A straggler may have joined further chunks: the merger parses those, too, but
 * stops at a chunk of another thread, and at one that no thread has claimed. */
static void rescue_chunk(hp_job *job) {
  hp_merger *m = &job->merger;
  uint32_t published = hp_published_chunks(job->queue);
  uint32_t begin = merger_position(m);
  const hp_chunk *given_up = hp_chunk_at(job->queue, job->position.chunk);
  job->position.rescued++;
  job->position.given_up = job->position.chunk;
  for (uint32_t next = job->position.chunk + 1;; next++) {
    uint32_t end = next < published ? hp_chunk_queue_cut(job->queue, next) : UINT32_MAX;
    validate_to(job, next < published ? end : (uint32_t)job->request.length);
    if (parse_until_free(m, given_up, end)) {
      if (merger_position(m) != begin) hp_merger_note_rescue(m, merger_position(m));
      return;
    }
    bool is_others = m->done || next == published ||
                     atomic_load_explicit(&hp_chunk_at(job->queue, next)->owner, memory_order_relaxed);
    if (!is_others && !hp_chunk_queue_claim_chunk(job->queue, next)) continue;
    job->position.chunk = next;
    job->position.number++;
    count_exact_chunk(m->counters);
    if (is_others) return;
    count_exact_chunk(m->counters);
    job->position.is_exact = true;
    return;
  }
}

/* Merges the finished chunks. Returns instead of waiting. */
static void merge_finished_chunks(hp_job *job) {
  hp_merger *m = &job->merger;
  uint32_t published = hp_published_chunks(job->queue);
  while (!m->done && job->position.chunk < published) {
    if (!job->position.is_exact && (job->config.order || !is_ready(job))) return;
    if (!merge_chunk(job)) return;
  }
}

void hp_merge_between_feeds(hp_job *job) {
  for (;;) {
    merge_finished_chunks(job);
    uint32_t rest = hp_published_chunks(job->queue) - hp_chunks_before_rest(job->queue);
    if (job->merger.done || rest <= job->division.threads - 1) return;
    if (take_over_chunk(job)) continue;
    uint32_t chunk = hp_chunk_queue_claim(job->queue, 0);
    if (!chunk) return;
    hp_team_parse_chunk(job, 0, chunk);
  }
}

void hp_merge_all(hp_job *job) {
  hp_merger *m = &job->merger;
  uint32_t published = hp_published_chunks(job->queue);
  bool is_composed = !job->config.order;
  while (!m->done && job->position.chunk < published) {
    if (job->division.composes) atomic_store_explicit(&job->shared.merging, job->position.chunk, memory_order_relaxed);
    if (!job->position.is_exact && !take_over_chunk(job)) {
      if (!wait_until_ready(job)) {
        rescue_chunk(job);
        continue;
      }
      if (!is_composed && !job->position.is_order_closed) job->config.order->finish(job);
      is_composed = true;
    }
    merge_chunk(job);
  }
  if (job->config.validates) validate_to(job, (uint32_t)job->request.length);
  hp_merger_finish(m);
  if (job->config.scripts) hp_scripts_finish(job->config.scripts);
}
