/* Several threads rewrite one window: chunks, workers, and the order of their results. */

#include "rewrite/parallel.h"

#include "base/clock.h"
#include "base/memory.h"
#include "platform/pool.h"
#include "platform/topology.h"
#include "rewrite/chunks.h"
#include "rewrite/speculation.h"
#include "speculation/start/prescan.h"

#include <hpar/stats.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* PREDICTION is the number of sets in a prediction. */
enum { PREDICTION = 4 + HP_MAX_ALTERNATIVES };
enum { CHECKPOINT = 16 << 10, MAX_WASTED = 3, MIN_LIMIT = 4096 };

/* A chunk in flight, and the results of its worker. */
typedef struct slot {
  hp_rewrite_chunk chunk;
  _Atomic bool is_busy;  /* a worker writes it */
  _Atomic uint32_t done; /* number of the chunk + 1; release */
} slot;

typedef struct worker {
  hpar_rewriter *rewriter;
  hp_speculation speculation;
} worker;

struct hp_rewrite_team {
  hp_rewrite_division division;
  hp_rewrite_counters counters;
  hp_pool *pool;
  unsigned threads; /* that have a worker, with the calling one */
  unsigned active;  /* that rewrite the current window */
  worker *workers;
  slot *slots;
  uint32_t slot_count;
  _Atomic hp_bits *prediction; /* as in a chunk; the heir bits are those of the current node */
  _Atomic hp_bits *retired;    /* by rule: the merger runs it no more */
  uint32_t retired_capacity;
  uint32_t prediction_capacity, words;
  _Atomic uint32_t alternatives, lesson_count; /* of `prediction`; lessons.total */
  /* the near bits of `prediction`; two sets of `watch`; the lessons; a set */
  hp_bits *learned;
  hp_rewrite_lessons lessons;
  bool has_guesses;    /* the lessons are guesses */
  bool learns_exactly; /* also from chunks that the merger rewrites: versions cost little */
  /* so many chunks have alternatives after the last one that needed them */
  uint32_t chunks_with_alternatives;
  hp_candidate_watch watch;
  /* The current window. */
  hpar_rewriter *merger;
  hp_speculation_input input;
  hp_prescan prescan;
  hp_chunks chunks;
  uint32_t first_chunk; /* the number of chunks of earlier windows */
  _Atomic(const hp_encoding *) encoding;
  _Atomic bool is_certain, frameset_ok;
  _Atomic uint32_t active_rules; /* of the merger, as in `retired` */
  hpar_quirks quirks;
  _Atomic uint32_t next, merged;  /* the next chunk to claim; the chunk that the merger is in */
  _Atomic uint64_t passed;        /* the position of the merger; UINT64_MAX: threads return */
  uint64_t nanoseconds_per_chunk; /* of the calling thread */
  /* chunks in a row of which the merger has adopted less than half */
  unsigned wasted;
};

typedef struct hp_rewrite_team team;

/* Records an event that began at `begin_ns`; 0: when no trace was requested. The offsets are in the
 * window. */
static void note(team *t, hpar_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns, size_t begin,
                 size_t end) {
  if (!begin_ns) return;
  const uint64_t position = t->input.position;
  hp_record_event(&t->input.merger->trace->record, kind, thread, t->first_chunk + chunk, begin_ns, hp_now(),
                  position + begin, position + end);
}

/* Returns the time, or 0 if there is no trace. */
static uint64_t time_of_event(const team *t) { return t->input.merger->trace ? hp_now() : 0; }

/*** chunks ***/

static size_t begin_of(const team *t, uint32_t chunk) { return hp_chunk_begin(&t->chunks, chunk); }

static slot *slot_of(const team *t, uint32_t chunk) { return &t->slots[chunk % t->slot_count]; }

/* Claims the next chunk for a worker, and leaves the merger's chunks out. Returns false if all
 * chunks are claimed, or too many are in flight. */
static bool claim_chunk(team *t, uint32_t *chunk) {
  uint32_t next = atomic_load(&t->next), claimed = next + hp_chunk_is_reserved(&t->chunks, next);
  if (claimed >= t->chunks.count || claimed >= atomic_load(&t->merged) + t->slot_count) return false;
  slot *s = slot_of(t, claimed);
  if (atomic_exchange(&s->is_busy, true)) return false;
  if (atomic_compare_exchange_strong(&t->next, &next, claimed + 1)) {
    *chunk = claimed;
    return true;
  }
  atomic_store(&s->is_busy, false);
  return false;
}

static void run_worker(team *t, unsigned thread, uint32_t number) {
  slot *s = slot_of(t, number);
  worker *w = &t->workers[thread];
  hp_rewrite_chunk *chunk = &s->chunk;
  chunk->cut = begin_of(t, number);
  chunk->limit = begin_of(t, number + 1);
  chunk->encoding = atomic_load(&t->encoding);
  chunk->is_certain = atomic_load(&t->is_certain);
  chunk->quirks = t->quirks;
  chunk->active_rules = atomic_load(&t->active_rules);
  chunk->frameset_ok = atomic_load(&t->frameset_ok);
  chunk->lessons = atomic_load(&t->lesson_count);
  chunk->alternatives = atomic_load(&t->alternatives);
  for (uint32_t i = 0; i < PREDICTION * t->words; i++)
    chunk->prediction[i] = atomic_load_explicit(&t->prediction[i], memory_order_relaxed);
  uint32_t checkpoint = t->division.checkpoint_bytes ? t->division.checkpoint_bytes : CHECKPOINT;
  uint64_t begin = thread ? 0 : hp_now(), event = time_of_event(t);
  hp_speculation_run_chunk(w->rewriter, &w->speculation, &t->input, checkpoint, &t->passed, chunk);
  if (!thread) t->counters.worker_ns += hp_now() - begin;
  note(t, HPAR_EVENT_PARSE, thread, number, event, chunk->cut, chunk->limit);
  atomic_store_explicit(&s->done, number + 1, memory_order_release);
  atomic_store(&s->is_busy, false);
}

/* The work of a thread of the pool. It waits while too many chunks are in flight: the merger runs
 * then. */
static void run_thread(void *context, unsigned thread) {
  enum { SPIN_NS = 50000 };
  team *t = context;
  hp_spin spin = {0};
  while (atomic_load(&t->passed) != UINT64_MAX && atomic_load(&t->next) < t->chunks.count) {
    uint32_t chunk;
    if (claim_chunk(t, &chunk)) {
      run_worker(t, thread, chunk);
      spin = (hp_spin){0};
    } else if (!hp_spin_on(&spin, SPIN_NS)) {
      sched_yield();
    }
  }
}

/*** the merger ***/

static size_t offset_of(const hpar_rewriter *r) { return (size_t)(r->scanner.at - r->scanner.begin); }

static void publish_retired(team *t) {
  const hpar_rewriter *r = t->merger;
  for (uint32_t i = 0; i < r->rules->count; i += HP_BITS) {
    hp_bits bits = 0;
    for (uint32_t k = i; k < r->rules->count && k < i + HP_BITS; k++)
      bits |= (hp_bits)r->rule_states[k].is_retired << (k - i);
    atomic_store_explicit(&t->retired[i / HP_BITS], bits, memory_order_relaxed);
  }
  atomic_store(&t->active_rules, r->active_rules);
}

static void publish_bits(team *t, uint32_t word, hp_bits bits) {
  atomic_store_explicit(&t->prediction[word], bits, memory_order_relaxed);
}

/* Publishes the position of the merger, and the state that workers assume. */
static void publish(team *t) {
  const hpar_rewriter *r = t->merger;
  atomic_store(&t->passed, hp_scanner_position(&r->scanner, r->scanner.at));
  atomic_store(&t->encoding, r->encoding);
  atomic_store(&t->is_certain, r->is_certain);
  atomic_store(&t->frameset_ok, t->merged && r->shadow.builder.frameset_ok);
  if (t->active_rules != r->active_rules) publish_retired(t);
  if (!t->words) return;
  const hp_bits *bits = hp_matching_bits_of(&r->matching, r->shadow.builder.top->node);
  for (uint32_t i = 0; i < t->words; i++) publish_bits(t, i, t->learned[i]);
  for (uint32_t i = t->words; i < 2 * t->words; i++) publish_bits(t, i, bits[i]);
  for (uint32_t i = 0; i < (2 + HP_MAX_ALTERNATIVES) * t->words; i++)
    publish_bits(t, 2 * t->words + i, t->lessons.read[i]);
  atomic_store(&t->alternatives, t->has_guesses || t->chunks_with_alternatives ? t->lessons.count : 0);
  atomic_store(&t->lesson_count, t->lessons.total);
}

/* Ends a chunk. Workers know little about long raw text, and the merger reads it fast. It therefore
 * reads all of it, and skips the chunks inside. */
static void leave_chunk(team *t) {
  size_t from = offset_of(t->merger);
  hp_rewriter_leave_raw_text(t->merger);
  t->counters.rewritten_bytes += offset_of(t->merger) - from;
  publish(t);
}

/* The merger has true examples of outer frames. */
static void drop_guesses(team *t) {
  if (t->has_guesses) t->lessons.count = 0;
  t->has_guesses = false;
}

/* Rewrites a chunk on the true state. Notes its outer frames as examples for workers. */
static void rewrite_exactly(team *t, uint32_t chunk) {
  hpar_rewriter *r = t->merger;
  size_t from = offset_of(r), limit = begin_of(t, chunk + 1);
  uint64_t begin = hp_now();
  drop_guesses(t);
  for (size_t at = from; at < limit && r->phase == HP_PHASE_RUNS; at = offset_of(r) > at ? offset_of(r) : limit) {
    hp_rewriter_scan_until(r, limit - at > CHECKPOINT ? at + CHECKPOINT : limit);
    if (t->words && t->learns_exactly && r->phase == HP_PHASE_RUNS) hp_rewriter_learn_heir(r, &t->lessons);
  }
  t->counters.rewritten_bytes += offset_of(r) - from;
  t->nanoseconds_per_chunk = hp_now() - begin;
  if (r->trace) note(t, HPAR_EVENT_EXACT, 0, chunk, begin, from, offset_of(r));
}

static bool is_done(const team *t, uint32_t chunk) {
  return atomic_load_explicit(&slot_of(t, chunk)->done, memory_order_acquire) == chunk + 1;
}

/* Waits for a chunk, first without other work because most workers are almost done. Then it runs
 * workers meanwhile. Returns false if the chunk takes too long. */
static bool await_chunk(team *t, uint32_t chunk) {
  hp_spin spin = {0};
  uint64_t event = time_of_event(t);
  while (!is_done(t, chunk) && hp_spin_on(&spin, t->nanoseconds_per_chunk / 4)) continue;
  spin = (hp_spin){0};
  while (!is_done(t, chunk)) {
    uint32_t other;
    if (claim_chunk(t, &other)) {
      run_worker(t, 0, other);
      continue;
    }
    if (!hp_spin_on(&spin, t->nanoseconds_per_chunk)) break;
  }
  note(t, HPAR_EVENT_WAIT, 0, chunk, event, 0, 0);
  return is_done(t, chunk);
}

/* Returns true if no worker may claim a chunk any more. */
static bool is_closed(const team *t) { return t->wasted >= MAX_WASTED && !t->division.cuts; }

/* Alternatives cost time, so workers have them for a while after a chunk that needed them. A chunk
 * with guesses does not count. */
static void note_alternatives(team *t, const hp_rewrite_chunk *chunk) {
  enum { CHUNKS = 8 };
  bool has_guesses = chunk->alternatives && !chunk->lessons;
  if (t->lessons.are_used && !has_guesses)
    t->chunks_with_alternatives = CHUNKS;
  else if (t->chunks_with_alternatives)
    t->chunks_with_alternatives--;
}

static void adopt(team *t, uint32_t number) {
  hp_rewrite_chunk *chunk = &slot_of(t, number)->chunk;
  hp_rewrite_counters *c = &t->counters;
  c->segments += chunk->log.segment_count;
  uint64_t adopted = c->adopted_segments, event = time_of_event(t);
  t->lessons.are_used = false;
  drop_guesses(t);
  size_t from = offset_of(t->merger);
  size_t rewritten = hp_rewriter_adopt(t->merger, chunk, t->first_chunk + number, &t->lessons, &c->adopted_segments);
  c->rewritten_bytes += rewritten;
  note(t, HPAR_EVENT_MERGE, 0, number, event, from, offset_of(t->merger));
  if (is_closed(t)) return;
  note_alternatives(t, chunk);
  /* Workers whose rules have ended meanwhile, or that lack an alternative, cannot be right. Later
   * ones can. */
  bool lacks_alternatives = chunk->lessons != t->lessons.total || (!chunk->alternatives && t->lessons.are_used);
  if (chunk->active_rules != t->merger->active_rules || lacks_alternatives) return;
  bool gains = c->adopted_segments > adopted && rewritten <= (chunk->limit - chunk->cut) / 2;
  t->wasted = gains ? 0 : t->wasted + 1;
  if (is_closed(t)) atomic_store(&t->next, t->chunks.count);
}

static void merge_chunk(team *t, uint32_t chunk) {
  uint32_t expected = chunk;
  atomic_store(&t->merged, chunk);
  if (offset_of(t->merger) >= begin_of(t, chunk + 1)) {
    atomic_compare_exchange_strong(&t->next, &expected, chunk + 1);
    t->counters.skipped_chunks++;
    return;
  }
  if (t->division.is_inline) {
    for (uint32_t claimed; !is_done(t, chunk) && claim_chunk(t, &claimed);) run_worker(t, 0, claimed);
    if (!is_done(t, chunk)) {
      rewrite_exactly(t, chunk);
      return;
    }
  } else if (!is_done(t, chunk) && (is_closed(t) || atomic_compare_exchange_strong(&t->next, &expected, chunk + 1) ||
                                    hp_chunk_is_reserved(&t->chunks, chunk))) {
    t->counters.exact_chunks++;
    rewrite_exactly(t, chunk);
    return;
  } else if (!await_chunk(t, chunk)) {
    t->counters.rescued_chunks++;
    rewrite_exactly(t, chunk);
    return;
  }
  adopt(t, chunk);
}

static hpar_status merge_chunks(void *context) {
  team *t = context;
  hpar_rewriter *r = t->merger;
  if (!t->division.is_inline) {
    atomic_store(&t->next, 1);
    hp_pool_start(t->pool, t->active, run_thread, t);
    rewrite_exactly(t, 0);
    leave_chunk(t);
  }
  for (uint32_t i = !t->division.is_inline; i < t->chunks.count && r->phase == HP_PHASE_RUNS; i++) {
    merge_chunk(t, i);
    leave_chunk(t);
    if (r->sink.status != HPAR_OK) break;
  }
  return HPAR_OK;
}

/*** the team ***/

static void free_worker(worker *w) {
  hpar_rewriter_destroy(w->rewriter);
  hp_free(w->speculation.bits);
  hp_free(w->speculation.deferring_space);
}

void hp_rewrite_team_destroy(team *t) {
  if (!t) return;
  hp_pool_destroy(t->pool);
  for (unsigned i = 0; i < t->threads; i++) free_worker(&t->workers[i]);
  for (uint32_t i = 0; i < t->slot_count; i++) {
    hp_rewrite_log_free(&t->slots[i].chunk.log);
    hp_free(t->slots[i].chunk.prediction);
  }
  hp_free(t->workers);
  hp_free(t->slots);
  hp_free((void *)t->prediction);
  hp_free((void *)t->retired);
  hp_free(t->learned);
  hp_chunks_free(&t->chunks);
  hp_prescan_close(&t->prescan);
  hp_free(t);
}

static bool make_workers(team *t, unsigned threads) {
  if (threads <= t->threads) return true;
  worker *workers = hp_reallocate(t->workers, threads * sizeof *workers);
  if (!workers) return false;
  t->workers = workers;
  while (t->threads < threads) {
    workers[t->threads] = (worker){0};
    if (hpar_rewriter_create(&workers[t->threads].rewriter)) return false;
    t->threads++;
  }
  return true;
}

static bool make_slots(team *t) {
  uint32_t count = 2 * t->threads, bits = PREDICTION * t->words;
  if (count > t->slot_count) {
    slot *slots = hp_reallocate(t->slots, count * sizeof *slots);
    if (!slots) return false;
    memset(slots + t->slot_count, 0, (count - t->slot_count) * sizeof *slots);
    t->slots = slots;
    t->slot_count = count;
    t->prediction_capacity = 0;
  }
  if (bits <= t->prediction_capacity) return true;
  for (uint32_t i = 0; i < t->slot_count; i++) {
    hp_bits *prediction = hp_reallocate(t->slots[i].chunk.prediction, bits * sizeof *prediction);
    if (!prediction) return false;
    t->slots[i].chunk.prediction = prediction;
  }
  _Atomic hp_bits *prediction = hp_reallocate((void *)t->prediction, bits * sizeof *prediction);
  if (!prediction) return false;
  t->prediction = prediction;
  hp_bits *learned = hp_reallocate(t->learned, (bits + 3 * (size_t)t->words) * sizeof *learned);
  if (!learned) return false;
  t->learned = learned;
  t->prediction_capacity = bits;
  return true;
}

static bool make_retired(team *t, uint32_t rules) {
  uint32_t words = (rules + HP_BITS - 1) / HP_BITS;
  if (words <= t->retired_capacity) return true;
  _Atomic hp_bits *retired = hp_reallocate((void *)t->retired, words * sizeof *retired);
  if (!retired) return false;
  t->retired = retired;
  t->retired_capacity = words;
  return true;
}

static bool divide_window(team *t, const hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  const hp_rewrite_division *division = &t->division;
  t->chunks.window = s->begin;
  t->chunks.length = (size_t)(s->end - s->begin);
  t->chunks.first = offset_of(r);
  if (!division->cuts) return hp_chunks_divide(&t->chunks, division->chunk_size, t->active);
  hp_chunks_use_cuts(&t->chunks, division->cuts, division->cut_count);
  return true;
}

/* Prepares the team for the rules. Returns false if the calling thread works alone. */
static bool prepare_team(hpar_rewriter *r) {
  if (!r->team) r->team = hp_allocate_zeroed(sizeof *r->team);
  team *t = r->team;
  if (!t) return false;
  unsigned threads = t->division.is_inline ? 1 : r->options.threads ? r->options.threads : hp_usable_cores();
  if (threads < 2 && !t->division.is_inline) return false;
  if (threads > 1 && !t->pool && hp_pool_create(&t->pool, threads)) return false;
  if (t->pool && hp_pool_is_lost(t->pool)) return false;
  if (t->pool && hp_pool_threads(t->pool) < threads) hp_pool_grow(t->pool, threads);
  t->words = r->rules->needs_frames ? r->matching.matcher.words : 0;
  if (t->pool && threads > hp_pool_threads(t->pool)) threads = hp_pool_threads(t->pool);
  t->active = threads;
  return make_retired(t, r->rules->count) && make_workers(t, threads) && make_slots(t) && divide_window(t, r);
}

static void begin_window(team *t, hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  t->merger = r;
  t->input = (hp_speculation_input){.merger = r,
                                    .window = s->begin,
                                    .length = (size_t)(s->end - s->begin),
                                    .position = s->position,
                                    .prescan = &t->prescan,
                                    .min_limit = t->division.min_limit ? t->division.min_limit : MIN_LIMIT,
                                    .retired = t->retired};
  hp_prescan_begin(&t->prescan);
  t->quirks = r->shadow.quirks;
  if (t->words) {
    hp_bits *after = t->learned + t->words;
    hp_matching_find_successors(&r->matching, after, after + t->words,
                                after + (4 + HP_MAX_ALTERNATIVES) * (size_t)t->words);
    memset(t->learned, 0, t->words * sizeof *t->learned);
    t->lessons = (hp_rewrite_lessons){.read = after + 2 * t->words, .alternatives = after + 4 * t->words};
    memset(t->lessons.read, 0, 2 * t->words * sizeof *after);
    t->learns_exactly = r->rules->skips_tags;
    if (t->learns_exactly) hp_rewriter_guess_heir(r, after + t->words, &t->lessons);
    t->has_guesses = t->lessons.count != 0;
    t->chunks_with_alternatives = 0;
    t->watch = (hp_candidate_watch){.learned = t->learned, .after_near = after, .after_heir = after + t->words};
    r->matching.matcher.watch = &t->watch;
  }
  for (uint32_t i = 0; i < t->slot_count; i++) {
    atomic_store(&t->slots[i].done, 0);
    atomic_store(&t->slots[i].is_busy, false);
  }
  atomic_store(&t->next, 0);
  atomic_store(&t->merged, 0);
  t->wasted = 0;
  publish_retired(t);
  publish(t);
  t->first_chunk = (uint32_t)t->counters.chunks;
  t->counters.windows++;
  t->counters.chunks += t->chunks.count;
  t->counters.bytes += t->chunks.length - t->chunks.first;
}

/* Rewrites the first tokens, up to the first one that leaves the initial mode. */
static void leave_initial_mode(hpar_rewriter *r) {
  for (size_t at = SIZE_MAX; r->shadow.builder.mode == HP_INITIAL && r->phase == HP_PHASE_RUNS && offset_of(r) != at;) {
    at = offset_of(r);
    hp_rewriter_scan_until(r, at + 1);
  }
}

void hp_rewriter_scan_parallel(hpar_rewriter *r) {
  leave_initial_mode(r);
  if (r->phase == HP_PHASE_RUNS && r->shadow.builder.mode != HP_INITIAL && prepare_team(r)) {
    team *t = r->team;
    begin_window(t, r);
    hpar_status status = hp_try(&r->unwind, merge_chunks, t);
    r->limit = NULL;
    r->matching.matcher.watch = NULL;
    atomic_store(&t->passed, UINT64_MAX);
    if (!t->division.is_inline) hp_pool_end(t->pool);
    hp_rewrite_trace_report(r->trace);
    if (status != HPAR_OK) hp_unwind_now(&r->unwind, status);
  }
  if (r->phase == HP_PHASE_RUNS && r->sink.status == HPAR_OK) hp_rewriter_scan(r);
}

/*** whether to use the team ***/

/* Returns true if workers can apply the rules, or leave elements to the merger. */
static bool fits_rules(const hpar_rules *rules) {
  if (rules->selectors->languages || rules->selectors->looks_at_forms || rules->reads_implied) return false;
  for (uint32_t i = 0; i < rules->count; i++) {
    const hp_rule *rule = &rules->rules[i];
    if (rule->edits_text || rule->edits_comments || rule->edits_doctype) return false;
  }
  return true;
}

bool hp_rewriter_is_parallel(const hpar_rewriter *r, size_t length) {
  enum { BREAK_EVEN = 256 << 10, TWO_CHUNKS = 64 << 10 };
  const hp_stream_options *o = &r->options;
  const hp_rewrite_division *division = r->team ? &r->team->division : NULL;
  bool is_divided = division && (division->cuts || division->chunk_size);
  if (length < TWO_CHUNKS && !is_divided) return false;
  if (o->mode == HPAR_MODE_SEQUENTIAL || (o->mode == HPAR_MODE_AUTO && (o->threads < 2 || length < BREAK_EVEN)))
    return false;
  if (o->max_depth || o->max_memory || o->max_time_ns || o->fragment || r->decoder) return false;
  return r->phase == HP_PHASE_RUNS && fits_rules(r->rules);
}

hpar_status hp_rewriter_divide(hpar_rewriter *r, const hp_rewrite_division *division) {
  if (!r->team) r->team = hp_allocate_zeroed(sizeof *r->team);
  if (!r->team) return HPAR_ERROR_MEMORY;
  r->team->division = *division;
  return HPAR_OK;
}

hp_rewrite_counters hp_rewriter_counters(const hpar_rewriter *r) {
  return r->team ? r->team->counters : (hp_rewrite_counters){0};
}
