/* The merger of a window: it publishes the state that workers assume, adopts their results in
 * order, and rewrites the other chunks on the true state. */

#include "rewrite/team.h"

#include "base/clock.h"

#include <string.h>

enum { MAX_WASTED = 3 };

void hp_rewrite_team_publish_retired(hp_rewrite_team *t) {
  const hpar_rewriter *r = t->merger;
  for (uint32_t i = 0; i < r->rules->count; i += HP_BITS) {
    hp_bits bits = 0;
    for (uint32_t k = i; k < r->rules->count && k < i + HP_BITS; k++)
      bits |= (hp_bits)r->rule_states[k].is_retired << (k - i);
    atomic_store_explicit(&t->retired[i / HP_BITS], bits, memory_order_relaxed);
  }
  atomic_store(&t->active_rules, r->active_rules);
}

static void publish_bits(hp_rewrite_team *t, uint32_t word, hp_bits bits) {
  atomic_store_explicit(&t->prediction[word], bits, memory_order_relaxed);
}

void hp_rewrite_team_publish(hp_rewrite_team *t) {
  const hpar_rewriter *r = t->merger;
  atomic_store(&t->passed, hp_scanner_position(&r->scanner, r->scanner.at));
  atomic_store(&t->encoding, r->encoding);
  atomic_store(&t->is_certain, r->is_certain);
  atomic_store(&t->frameset_ok, t->merged && r->shadow.builder.frameset_ok);
  if (t->active_rules != r->active_rules) hp_rewrite_team_publish_retired(t);
  for (uint32_t i = 0; i < t->scope_words; i++)
    atomic_store_explicit(&t->scopes[i], t->lessons.scopes[i], memory_order_relaxed);
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
static void leave_chunk(hp_rewrite_team *t) {
  size_t from = hp_rewrite_offset(t->merger);
  hp_rewriter_leave_raw_text(t->merger);
  t->counters.rewritten_bytes += hp_rewrite_offset(t->merger) - from;
  hp_rewrite_team_publish(t);
}

/* The merger has true examples of outer frames. */
static void drop_guesses(hp_rewrite_team *t) {
  if (t->has_guesses) t->lessons.count = 0;
  t->has_guesses = false;
}

/* Rewrites a chunk on the true state. Notes its outer frames as examples for workers. */
static void rewrite_exactly(hp_rewrite_team *t, uint32_t chunk) {
  hpar_rewriter *r = t->merger;
  size_t from = hp_rewrite_offset(r), limit = hp_rewrite_chunk_begin(t, chunk + 1);
  uint64_t begin = hp_now();
  drop_guesses(t);
  for (size_t at = from; at < limit && r->phase == HP_PHASE_RUNS;
       at = hp_rewrite_offset(r) > at ? hp_rewrite_offset(r) : limit) {
    hp_rewriter_scan_until(r, limit - at > HP_REWRITE_CHECKPOINT ? at + HP_REWRITE_CHECKPOINT : limit);
    if (t->words && t->learns_exactly && r->phase == HP_PHASE_RUNS) hp_rewriter_learn_heir(r, &t->lessons);
  }
  t->counters.rewritten_bytes += hp_rewrite_offset(r) - from;
  t->nanoseconds_per_chunk = hp_now() - begin;
  if (r->trace) hp_rewrite_team_note(t, HPAR_EVENT_EXACT, 0, chunk, begin, from, hp_rewrite_offset(r));
}

static bool is_done(const hp_rewrite_team *t, uint32_t chunk) {
  return atomic_load_explicit(&hp_rewrite_slot_of(t, chunk)->done, memory_order_acquire) == chunk + 1;
}

/* Waits for a chunk, first without other work because most workers are almost done. Then it runs
 * workers meanwhile. Returns false if the chunk takes too long. */
static bool await_chunk(hp_rewrite_team *t, uint32_t chunk) {
  hp_spin spin = {0};
  uint64_t event = hp_rewrite_team_event_time(t);
  while (!is_done(t, chunk) && hp_spin_on(&spin, t->nanoseconds_per_chunk / 4)) continue;
  spin = (hp_spin){0};
  while (!is_done(t, chunk)) {
    uint32_t other;
    if (hp_rewrite_team_claim(t, &other)) {
      hp_rewrite_team_run_chunk(t, 0, other);
      continue;
    }
    if (!hp_spin_on(&spin, t->nanoseconds_per_chunk)) break;
  }
  hp_rewrite_team_note(t, HPAR_EVENT_WAIT, 0, chunk, event, 0, 0);
  return is_done(t, chunk);
}

/* Returns true if no worker may claim a chunk any more. */
static bool is_closed(const hp_rewrite_team *t) { return t->wasted >= MAX_WASTED && !t->division.cuts; }

/* Alternatives cost time, so workers have them for a while after a chunk that needed them. A chunk
 * with guesses does not count. */
static void note_alternatives(hp_rewrite_team *t, const hp_rewrite_chunk *chunk) {
  enum { CHUNKS = 8 };
  bool has_guesses = chunk->alternatives && !chunk->lessons;
  if (t->lessons.are_used && !has_guesses)
    t->chunks_with_alternatives = CHUNKS;
  else if (t->chunks_with_alternatives)
    t->chunks_with_alternatives--;
}

/* Returns true if the merger has learned of other open scopes than the chunk has. */
static bool lacks_scopes(const hp_rewrite_team *t, const hp_rewrite_chunk *chunk) {
  return t->scope_words && memcmp(chunk->scopes, t->lessons.scopes, t->scope_words * sizeof *chunk->scopes) != 0;
}

static void adopt(hp_rewrite_team *t, uint32_t number) {
  hp_rewrite_chunk *chunk = &hp_rewrite_slot_of(t, number)->chunk;
  hp_rewrite_counters *c = &t->counters;
  c->segments += chunk->log.segment_count;
  uint64_t adopted = c->adopted_segments, event = hp_rewrite_team_event_time(t);
  t->lessons.are_used = false;
  drop_guesses(t);
  size_t from = hp_rewrite_offset(t->merger);
  size_t rewritten = hp_rewriter_adopt(t->merger, chunk, t->first_chunk + number, &t->lessons, &c->adopted_segments);
  c->rewritten_bytes += rewritten;
  hp_rewrite_team_note(t, HPAR_EVENT_MERGE, 0, number, event, from, hp_rewrite_offset(t->merger));
  if (is_closed(t)) return;
  note_alternatives(t, chunk);
  /* Workers whose rules have ended meanwhile, or that lack an alternative, cannot be right. Later
   * ones can. */
  bool lacks_alternatives = chunk->lessons != t->lessons.total || (!chunk->alternatives && t->lessons.are_used);
  if (chunk->active_rules != t->merger->active_rules || lacks_alternatives || lacks_scopes(t, chunk)) return;
  bool gains = c->adopted_segments > adopted && rewritten <= (chunk->limit - chunk->cut) / 2;
  t->wasted = gains ? 0 : t->wasted + 1;
  if (is_closed(t)) atomic_store(&t->next, t->chunks.count);
}

static void merge_chunk(hp_rewrite_team *t, uint32_t chunk) {
  uint32_t expected = chunk;
  atomic_store(&t->merged, chunk);
  if (hp_rewrite_offset(t->merger) >= hp_rewrite_chunk_begin(t, chunk + 1)) {
    atomic_compare_exchange_strong(&t->next, &expected, chunk + 1);
    t->counters.skipped_chunks++;
    return;
  }
  if (t->division.is_inline) {
    for (uint32_t claimed; !is_done(t, chunk) && hp_rewrite_team_claim(t, &claimed);)
      hp_rewrite_team_run_chunk(t, 0, claimed);
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

hpar_status hp_rewrite_team_merge(void *context) {
  hp_rewrite_team *t = context;
  hpar_rewriter *r = t->merger;
  if (!t->division.is_inline) {
    atomic_store(&t->next, 1);
    hp_pool_start(t->pool, t->active, hp_rewrite_team_run_thread, t);
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
