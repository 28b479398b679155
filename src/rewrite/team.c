/* The memory of the threads that rewrite a window, the beginning of a window, and the workers. */

#include "rewrite/team.h"

#include "base/memory.h"
#include "base/process.h"
#include "speculation/cut.h"

#include <sched.h>
#include <string.h>

/* The number of sets in a prediction; slots for each thread. */
enum { PREDICTION = 4 + HP_MAX_ALTERNATIVES, SLOTS = 4 };

/*** memory ***/

hp_rewrite_team *hp_rewrite_team_of(hpar_rewriter *r) {
  if (r->parallel.team) return r->parallel.team;
  hp_rewrite_team *t = r->parallel.team = hp_allocate_aligned(HP_CACHE_LINE, sizeof *t);
  if (t) memset(t, 0, sizeof *t);
  return t;
}

void hp_rewrite_team_destroy(hp_rewrite_team *t) {
  if (!t) return;
  hp_crew_close(&t->crew);
  for (unsigned i = 0; i < t->threads; i++) {
    hpar_rewriter_destroy(t->workers[i].rewriter);
    hp_free(t->workers[i].speculation.memory);
  }
  for (uint32_t i = 0; i < t->slot_count; i++) hp_rewrite_log_free(&t->slots[i].chunk.log);
  hp_free(t->workers);
  hp_free(t->slots);
  hp_free(t->sets);
  hp_chunks_free(&t->chunks);
  hp_prescan_close(&t->prescan);
  hp_free(t);
}

static bool make_workers(hp_rewrite_team *t, unsigned threads) {
  if (threads <= t->threads) return true;
  hp_rewrite_worker *workers = hp_allocate_aligned(HP_CACHE_LINE, threads * sizeof *workers);
  if (!workers) return false;
  if (t->threads) memcpy(workers, t->workers, t->threads * sizeof *workers);
  hp_free(t->workers);
  t->workers = workers;
  while (t->threads < threads) {
    workers[t->threads] = (hp_rewrite_worker){0};
    if (hpar_rewriter_create(&workers[t->threads].rewriter)) return false;
    t->threads++;
  }
  return true;
}

static bool make_slots(hp_rewrite_team *t) {
  const uint32_t count = SLOTS * t->threads;
  if (count <= t->slot_count) return true;
  hp_rewrite_slot *slots = hp_reallocate(t->slots, count * sizeof *slots);
  if (!slots) return false;
  memset(slots + t->slot_count, 0, (count - t->slot_count) * sizeof *slots);
  t->slots = slots;
  t->slot_count = count;
  return true;
}

/* Makes the sets of the slots and of the merger. No two of them share a cache line. */
static bool make_sets(hp_rewrite_team *t, const hpar_rules *rules) {
  enum { LINE = HP_CACHE_LINE / sizeof(hp_bits), LEARNED = 13 };
  const size_t rule_words = (rules->count + HP_BITS - 1) / HP_BITS;
  t->scope_words = hp_scope_words(rules);
  t->assumed_words = (uint32_t)rule_words + t->scope_words + PREDICTION * t->words;
  const size_t distance = t->assumed_words + LINE, learned = LEARNED * (size_t)t->words + t->scope_words;
  if (!hp_reserve(&t->sets, &t->set_capacity, (t->slot_count + 1) * distance + learned, sizeof *t->sets)) return false;
  hp_bits *at = t->sets;
  for (uint32_t i = 0; i <= t->slot_count; i++, at += distance) {
    hp_assumed_sets *sets = i < t->slot_count ? &t->slots[i].chunk.sets : &t->published.sets;
    *sets = (hp_assumed_sets){at, at + rule_words, at + rule_words + t->scope_words};
  }
  hp_bits *adopted = at + t->scope_words;
  t->learning = (hp_learning){
      .near = adopted + 4 * (size_t)t->words, .adopted = adopted, .lessons.scopes = t->scope_words ? at : NULL};
  return true;
}

/*** a window ***/

static bool divide_window(hp_rewrite_team *t, const hpar_rewriter *r) {
  enum { INLINE_CHUNK = 256 << 10 };
  const hp_scanner *s = &r->scanner;
  const hp_rewrite_division *division = &t->division;
  hp_window_chunks *c = &t->chunks;
  c->length = (size_t)(s->end - s->begin);
  c->first = hp_rewrite_offset(r);
  c->cuts = division->cuts;
  c->cut_count = division->cut_count;
  c->size = division->chunk_size || !division->is_inline ? division->chunk_size : INLINE_CHUNK;
  c->threads = t->active;
  c->most = SLOTS * t->active;
  return hp_chunks_begin(c);
}

/* Resets the predictions of outer frames. */
static void begin_learning(hp_rewrite_team *t, const hpar_rewriter *r) {
  enum { FIRST_CHUNKS = 2 };
  hp_bits *after = t->learning.near + t->words;
  hp_matching_find_successors(&r->matching, after, after + t->words,
                              after + (4 + HP_MAX_ALTERNATIVES) * (size_t)t->words);
  memset(t->learning.near, 0, t->words * sizeof *t->learning.near);
  t->learning.lessons.read = after + 2 * t->words;
  t->learning.lessons.alternatives = after + 4 * t->words;
  memset(t->learning.lessons.read, 0, 2 * t->words * sizeof *after);
  t->learning.is_exact = r->rules->skips_tags && t->words == 1;
  if (t->learning.is_exact) hp_rewriter_guess_heir(r, after + t->words, &t->learning.lessons);
  t->learning.has_guesses = t->learning.lessons.count != 0;
  t->learning.chunks_with_alternatives = t->learning.is_exact ? FIRST_CHUNKS : 0;
  t->learning.log =
      (hp_candidate_log){.learned = t->learning.near, .after_near = after, .after_heir = after + t->words};
}

/* Resets the state of the window. */
static void begin_window(hp_rewrite_team *t, hpar_rewriter *r) {
  enum { MIN_LIMIT = 4096, CHECKPOINT = 16 << 10 };
  const hp_scanner *s = &r->scanner;
  const hp_rewrite_division *division = &t->division;
  t->merger = r;
  t->input =
      (hp_speculation_input){.merger = r,
                             .window = s->begin,
                             .length = (size_t)(s->end - s->begin),
                             .position = s->position,
                             .prescan = &t->prescan,
                             .min_limit = division->min_limit ? division->min_limit : MIN_LIMIT,
                             .checkpoint_bytes = division->checkpoint_bytes ? division->checkpoint_bytes : CHECKPOINT,
                             .passed = &t->published.passed};
  hp_prescan_begin(&t->prescan);
  if (t->words) r->matching.matcher.log = &t->learning.log;
  for (uint32_t i = 0; i < t->slot_count; i++) hp_unit_free(&t->slots[i].state);
  t->is_past_begin = false;
  t->exact.ns = t->exact.bytes = 0;
  t->wasted = 0;
  if (t->scope_words) hp_rewriter_write_scopes(r, t->learning.lessons.scopes);
  t->published.assumed.active_rules = UINT32_MAX; /* `retired` is not set */
  hp_rewrite_team_publish(t);
  t->first_chunk = (uint32_t)t->counters.chunks;
  t->counters.bytes += t->chunks.length - t->chunks.first;
}

bool hp_rewrite_team_begin(hpar_rewriter *r) {
  hp_rewrite_team *t = hp_rewrite_team_of(r);
  if (!t) return false;
  /* The rewriters of workers that a fork has lost are of no use. */
  if (hp_crew_pool(&t->crew) && hp_pool_is_lost(hp_crew_pool(&t->crew))) return false;
  if (hp_crew_has_stragglers(&t->crew)) return false;
  hp_crew_await(&t->crew);
  t->executor = hp_executor_of_call(t->executor.run, t->executor.context, r->options.threads);
  if (t->division.is_inline) t->executor = (hp_executor){.kind = HPAR_EXECUTOR_INLINE, .threads = 1};
  unsigned threads = hp_crew_prepare(&t->crew, &t->executor, t->executor.threads);
  if (threads < 2 && !t->division.is_inline) return false;
  t->words = r->rules->needs_frames ? r->matching.matcher.words : 0;
  t->active = threads;
  if (!make_workers(t, threads) || !make_slots(t) || !make_sets(t, r->rules)) return false;
  if (t->words) begin_learning(t, r);
  if (!divide_window(t, r)) return false;
  begin_window(t, r);
  return true;
}

/*** events ***/

void hp_rewrite_team_note(hp_rewrite_team *t, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                          size_t begin, size_t end) {
  if (!begin_ns) return;
  const uint64_t position = t->input.position;
  hp_trace *trace = &t->input.merger->parallel.trace->trace;
  trace->event(trace, kind, thread, t->first_chunk + chunk, begin_ns, hp_now(), position + begin, position + end);
}

uint64_t hp_rewrite_team_event_time(const hp_rewrite_team *t) { return t->input.merger->parallel.trace ? hp_now() : 0; }

/*** the chunks that workers rewrite, on the threads of the pool and on the calling thread ***/

/* Returns a slot that no chunk uses, and reserves it. */
static hp_rewrite_slot *find_slot(hp_rewrite_team *t) {
  for (uint32_t i = 0; i < SLOTS * t->active; i++)
    if (hp_unit_claim(&t->slots[i].state)) return &t->slots[i];
  return NULL;
}

hp_claim hp_rewrite_team_claim(hp_rewrite_team *t, size_t most_bytes, hp_window_chunk *chunk) {
  /* The time of a worker, in percent of the merger's. Alternatives cost time. */
  enum { PERCENT = 110, PERCENT_WITH_ALTERNATIVES = 140 };
  hp_rewrite_slot *s = find_slot(t);
  if (!s) return HP_CLAIM_LATER;
  const unsigned percent = atomic_load(&t->published.has_alternatives) ? PERCENT_WITH_ALTERNATIVES : PERCENT;
  hp_claim claim = hp_chunks_claim(&t->chunks, (uint32_t)(s - t->slots), percent, most_bytes, chunk);
  if (claim != HP_CLAIM_MADE) hp_unit_free(&s->state);
  return claim;
}

void hp_rewrite_team_run_chunk(hp_rewrite_team *t, unsigned thread, const hp_window_chunk *claimed) {
  hp_rewrite_slot *s = &t->slots[claimed->slot];
  hp_rewrite_worker *w = &t->workers[thread];
  hp_rewrite_chunk *chunk = &s->chunk;
  chunk->cut = claimed->begin;
  chunk->limit = claimed->end;
  if (!t->chunks.cuts) chunk->cut = hp_find_cut(&hp_smart_cuts, t->input.window, claimed->end, claimed->begin);
  pthread_mutex_lock(&t->chunks.lock);
  chunk->assumed = t->published.assumed;
  memcpy(chunk->sets.retired, t->published.sets.retired, t->assumed_words * sizeof(hp_bits));
  pthread_mutex_unlock(&t->chunks.lock);
  uint64_t begin = thread ? 0 : hp_now(), event = hp_rewrite_team_event_time(t);
  hp_speculation_run_chunk(w->rewriter, &w->speculation, &t->input, chunk);
  if (!thread) t->counters.worker_ns += hp_now() - begin;
  hp_rewrite_team_note(t, HP_EVENT_PARSE, thread, claimed->number, event, chunk->cut, chunk->limit);
  if (!hp_unit_publish(&s->state)) hp_unit_free(&s->state);
}

/* Waits only if the merger runs. A caller's executor may start it later, or run this task below a
 * callback of the merger, which then goes on after MOST_SPINS. */
bool hp_rewrite_team_await_claim(hp_rewrite_team *t, size_t *slot) {
  enum { SPIN_NS = 50000, MOST_SPINS = 20 };
  unsigned spins = 0;
  hp_spin spin = {0};
  while (atomic_load(&t->published.passed) != UINT64_MAX) {
    hp_window_chunk chunk;
    hp_claim claim = hp_rewrite_team_claim(t, SIZE_MAX, &chunk);
    if (claim == HP_CLAIM_NEVER) return false;
    if (claim == HP_CLAIM_MADE) {
      t->slots[ *slot = chunk.slot].claimed = chunk;
      return true;
    }
    if (!atomic_load_explicit(&t->published.merges, memory_order_relaxed)) return false;
    if (hp_spin_on(&spin, SPIN_NS)) continue;
    if (t->executor.kind == HPAR_EXECUTOR_CALLER) {
      if (++spins == MOST_SPINS) return false;
      spin = (hp_spin){0};
    }
    sched_yield();
  }
  return false;
}
