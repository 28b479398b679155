/* The merger of a window: it publishes the state that workers assume, adopts their results in
 * order, and rewrites the other chunks on the true state. */

#include "rewrite/team.h"
#include "rewrite/urls.h"

#include "base/process.h"

#include <string.h>

enum { MAX_WASTED = 3 };

/* Publishes the rules that the merger runs no more. */
static void publish_retired(const hpar_rewriter *r, hp_bits *retired) {
  memset(retired, 0, (r->rules->count + HP_BITS - 1) / HP_BITS * sizeof *retired);
  for (uint32_t i = 0; i < r->rules->count; i++)
    if (r->running.states[i].is_complete) hp_set_bit(retired, i);
}

static void publish_prediction(const hp_rewrite_team *t, hp_bits *to) {
  const hpar_rewriter *r = t->merger;
  const size_t words = t->words, bytes = words * sizeof *to;
  memcpy(to, t->learning.near, bytes);
  memcpy(to + words, hp_frame_of_node(&r->matching, r->outline.builder.stack.top->node)->bits + words, bytes);
  memcpy(to + 2 * words, t->learning.lessons.read, (2 + HP_MAX_ALTERNATIVES) * bytes);
}

void hp_rewrite_team_publish(hp_rewrite_team *t) {
  const hpar_rewriter *r = t->merger;
  const hp_learning *l = &t->learning;
  hp_published *to = &t->published;
  const hp_assumptions assumed = {.page = {.encoding = r->encoding.used,
                                           .is_certain = r->encoding.is_certain,
                                           .quirks = r->outline.quirks,
                                           .frameset_ok = t->is_past_begin && r->outline.builder.flags.frameset_ok,
                                           .base = hp_urls_base(r)},
                                  .active_rules = r->running.active,
                                  .alternatives = l->has_guesses || l->chunks_with_alternatives ? l->lessons.count : 0,
                                  .lessons = l->lessons.total};
  atomic_store_explicit(&to->passed, hp_scanner_position(&r->scanner, r->scanner.at), memory_order_relaxed);
  atomic_store_explicit(&to->has_alternatives, assumed.alternatives != 0, memory_order_relaxed);
  pthread_mutex_lock(&t->chunks.lock);
  if (to->assumed.active_rules != assumed.active_rules) publish_retired(r, to->sets.retired);
  to->assumed = assumed;
  if (t->scope_words) memcpy(to->sets.scopes, l->lessons.scopes, t->scope_words * sizeof *to->sets.scopes);
  if (t->words) publish_prediction(t, to->sets.prediction);
  pthread_mutex_unlock(&t->chunks.lock);
}

/* Ends a chunk. Workers know little about long raw text, and the merger reads it fast. It therefore
 * reads all of it, and skips the chunks inside. */
static void leave_chunk(hp_rewrite_team *t) {
  size_t from = hp_rewrite_offset(t->merger);
  hp_rewriter_leave_raw_text(t->merger);
  t->counters.rewritten_bytes += hp_rewrite_offset(t->merger) - from;
  t->is_past_begin = true;
  hp_rewrite_team_publish(t);
}

/* The merger has true examples of outer frames. */
static void drop_guesses(hp_rewrite_team *t) {
  const uint32_t total = t->learning.lessons.total;
  if (t->learning.has_guesses) t->learning.lessons.count = total < HP_MAX_ALTERNATIVES ? total : HP_MAX_ALTERNATIVES;
  t->learning.has_guesses = false;
}

/* Rewrites the bytes before the next chunk on the true state. Notes outer frames as examples for
 * workers. Returns false if the rest of the window has no complete token. */
static bool rewrite_exactly(hp_rewrite_team *t) {
  hpar_rewriter *r = t->merger;
  const size_t from = hp_rewrite_offset(r);
  const uint64_t begin = hp_now();
  size_t at = from, last = SIZE_MAX, end;
  hp_window_chunk chunk;
  while ((end = hp_chunks_advance(&t->chunks, at, &chunk)) > at && at != last && r->progress.phase == HP_PHASE_RUNS) {
    last = at;
    hp_rewriter_scan_until(r, end);
    if (t->words && t->learning.is_exact && r->progress.phase == HP_PHASE_RUNS)
      hp_rewriter_learn_heir(r, &t->learning.lessons);
    hp_rewrite_team_publish(t);
    at = hp_rewrite_offset(r);
  }
  t->counters.exact_chunks++;
  t->counters.rewritten_bytes += at - from;
  t->exact.ns += hp_now() - begin;
  t->exact.bytes += at - from;
  if (r->parallel.trace) hp_rewrite_team_note(t, HP_EVENT_EXACT, 0, hp_chunks_number(&t->chunks), begin, from, at);
  return at > from;
}

static bool is_done(const hp_rewrite_team *t, const hp_window_chunk *chunk) {
  return hp_unit_is_published(&t->slots[chunk->slot].state);
}

/* Returns the time of the merger for a chunk. */
static uint64_t estimate(const hp_rewrite_team *t, const hp_window_chunk *chunk) {
  enum { LEAST_NS = 20000, MOST_NS = 120000 };
  const uint64_t ns = t->exact.ns * (chunk->end - chunk->begin) / (t->exact.bytes + 1);
  return ns < LEAST_NS ? LEAST_NS : ns < MOST_NS ? ns : MOST_NS;
}

/* Waits for a chunk, first without other work because most workers are almost done. Then it runs
 * workers meanwhile. Returns false if the chunk takes too long. */
static bool await_chunk(hp_rewrite_team *t, const hp_window_chunk *chunk) {
  enum { MOST_BYTES = 64 << 10 };
  hp_spin spin = {0};
  const uint64_t event = hp_rewrite_team_event_time(t), limit_ns = estimate(t, chunk);
  while (!is_done(t, chunk) && hp_spin_on(&spin, limit_ns / 4)) continue;
  const uint64_t begin = hp_now();
  while (!is_done(t, chunk) && hp_now() - begin < limit_ns) {
    hp_window_chunk other;
    if (hp_rewrite_team_claim(t, MOST_BYTES, &other) == HP_CLAIM_MADE)
      hp_rewrite_team_run_chunk(t, 0, &other);
    else
      hp_unit_pause(&spin);
  }
  hp_rewrite_team_note(t, HP_EVENT_WAIT, 0, chunk->number, event, 0, 0);
  return is_done(t, chunk);
}

/* Returns true if no worker may claim a chunk any more. */
static bool is_closed(const hp_rewrite_team *t) { return t->wasted >= MAX_WASTED && !t->division.cuts; }

/* Alternatives cost time, so workers have them for a while after a chunk that needed them. A chunk
 * with guesses does not count. */
static void note_alternatives(hp_rewrite_team *t, const hp_rewrite_chunk *chunk) {
  enum { CHUNKS = 8 };
  bool has_guesses = chunk->assumed.alternatives && !chunk->assumed.lessons;
  if (t->learning.lessons.are_used && !has_guesses)
    t->learning.chunks_with_alternatives = CHUNKS;
  else if (t->learning.chunks_with_alternatives && !has_guesses)
    t->learning.chunks_with_alternatives--;
}

/* Returns true if the merger has learned of other open scopes than the chunk has. */
static bool lacks_scopes(const hp_rewrite_team *t, const hp_rewrite_chunk *chunk) {
  return t->scope_words &&
         memcmp(chunk->sets.scopes, t->learning.lessons.scopes, t->scope_words * sizeof *chunk->sets.scopes) != 0;
}

static void adopt(hp_rewrite_team *t, const hp_window_chunk *claimed) {
  hp_rewrite_chunk *chunk = &t->slots[claimed->slot].chunk;
  hp_rewrite_counters *c = &t->counters;
  c->segments += chunk->log.segments.count;
  uint64_t adopted = c->adopted_segments, event = hp_rewrite_team_event_time(t);
  t->learning.lessons.are_used = false;
  drop_guesses(t);
  size_t from = hp_rewrite_offset(t->merger);
  size_t rewritten = hp_rewriter_adopt(t->merger, chunk, claimed->number);
  c->rewritten_bytes += rewritten;
  hp_rewrite_team_note(t, HP_EVENT_MERGE, 0, claimed->number, event, from, hp_rewrite_offset(t->merger));
  if (is_closed(t)) return;
  note_alternatives(t, chunk);
  /* Workers whose rules have ended meanwhile, or that lack an alternative, cannot be right. Later
   * ones can. */
  const hp_assumptions *assumed = &chunk->assumed;
  bool lacks_alternatives =
      assumed->lessons != t->learning.lessons.total || (!assumed->alternatives && t->learning.lessons.are_used);
  if (assumed->active_rules != t->merger->running.active || lacks_alternatives || lacks_scopes(t, chunk)) return;
  bool gains = c->adopted_segments > adopted && rewritten <= (claimed->end - claimed->begin) / 2;
  t->wasted = gains ? 0 : t->wasted + 1;
  if (is_closed(t)) hp_chunks_close(&t->chunks);
}

/* The first chunk in flight needs no result any more. */
static void release(hp_rewrite_team *t, const hp_window_chunk *chunk) {
  hp_unit_state *state = &t->slots[chunk->slot].state;
  hp_chunks_remove_first(&t->chunks);
  if (!hp_unit_give_up(state)) hp_unit_free(state);
}

/* Adopts the first chunk in flight, if its worker has a result. */
static void merge_chunk(hp_rewrite_team *t, const hp_window_chunk *chunk) {
  if (hp_rewrite_offset(t->merger) >= chunk->end)
    t->counters.skipped_chunks++;
  else if (is_done(t, chunk) || (!is_closed(t) && await_chunk(t, chunk)))
    adopt(t, chunk);
  release(t, chunk);
}

/* Runs a worker, unless a chunk is in flight. */
static void run_inline(hp_rewrite_team *t) {
  hp_window_chunk claimed;
  if (!t->chunks.count && hp_rewrite_team_claim(t, SIZE_MAX, &claimed) == HP_CLAIM_MADE)
    hp_rewrite_team_run_chunk(t, 0, &claimed);
}

static hpar_status merge(void *context) {
  hp_rewrite_team *t = context;
  hpar_rewriter *r = t->merger;
  bool goes_on = true;
  while (goes_on && r->progress.phase == HP_PHASE_RUNS && r->sink.status == HPAR_OK) {
    hp_window_chunk chunk;
    if (t->division.is_inline) run_inline(t);
    const size_t at = hp_rewrite_offset(r), end = hp_chunks_advance(&t->chunks, at, &chunk);
    if (at >= t->chunks.length) break;
    if (chunk.end)
      merge_chunk(t, &chunk);
    else
      goes_on = end > at && rewrite_exactly(t);
    leave_chunk(t);
  }
  return HPAR_OK;
}

/*** the threads ***/

/* Unwinding ends the merger's task, because it must not pass the frames of an executor. */
static void lead(void *context) {
  hp_rewrite_team *t = context;
  atomic_store_explicit(&t->published.merges, true, memory_order_relaxed);
  t->run.status = hp_try(&t->merger->unwind, merge, t);
  atomic_store(&t->published.passed, UINT64_MAX);
  hp_chunks_close(&t->chunks);
}

static bool claim(void *context, unsigned thread, size_t *unit) {
  return thread && hp_rewrite_team_await_claim(context, unit);
}

static void run(void *context, size_t unit, unsigned thread, hp_unit_steps *steps) {
  hp_rewrite_team *t = context;
  (void)steps;
  hp_rewrite_team_run_chunk(t, thread, &t->slots[unit].claimed);
}

static void release_rules(void *context) {
  const hp_rewrite_team *t = context;
  hp_rules_end_use(t->run.rules);
}

hpar_status hp_rewrite_team_run(hp_rewrite_team *t) {
  static const hp_unit_client client = {.run = run, .claim = claim, .lead = lead, .drop = release_rules};
  const hp_unit_plan plan = {.client = &client, .job = t};
  const bool may_leave = t->merger->options.bytes_stay && !t->merger->parallel.trace;
  atomic_store_explicit(&t->published.merges, t->executor.kind == HPAR_EXECUTOR_THREADS, memory_order_relaxed);
  t->run.rules = t->merger->rules;
  hp_begin_use(&t->run.rules->use);
  if (hp_unit_queue_run(&t->run.queue, &plan, &t->crew, &t->executor, t->active, may_leave)) release_rules(t);
  return t->run.status;
}
