/* The chunks that workers rewrite, on the threads of the pool and on the calling thread. */

#include "rewrite/team.h"

#include "base/process.h"
#include "speculation/cut.h"

#include <sched.h>

/* Returns a slot that no chunk uses, and reserves it. */
static hp_rewrite_slot *find_slot(hp_rewrite_team *t) {
  for (uint32_t i = 0; i < HP_REWRITE_SLOTS * t->active; i++)
    if (hp_unit_claim(&t->slots[i].state)) return &t->slots[i];
  return NULL;
}

hp_claim hp_rewrite_team_claim(hp_rewrite_team *t, size_t most_bytes, hp_chunk *chunk) {
  /* The time of a worker, in percent of the merger's. Alternatives cost time. */
  enum { PERCENT = 110, PERCENT_WITH_ALTERNATIVES = 140 };
  hp_rewrite_slot *s = find_slot(t);
  if (!s) return HP_CLAIM_LATER;
  const unsigned percent = atomic_load(&t->published.alternatives) ? PERCENT_WITH_ALTERNATIVES : PERCENT;
  hp_claim claim = hp_chunks_claim(&t->chunks, (uint32_t)(s - t->slots), percent, most_bytes, chunk);
  if (claim != HP_CLAIM_MADE) hp_unit_free(&s->state);
  return claim;
}

void hp_rewrite_team_run_chunk(hp_rewrite_team *t, unsigned thread, const hp_chunk *claimed) {
  hp_rewrite_slot *s = &t->slots[claimed->slot];
  hp_rewrite_worker *w = &t->workers[thread];
  hp_rewrite_chunk *chunk = &s->chunk;
  chunk->cut = claimed->begin;
  chunk->limit = claimed->end;
  if (!t->chunks.cuts) chunk->cut = hp_cut(&hp_smart_cuts, t->input.window, claimed->end, claimed->begin);
  chunk->page.encoding = atomic_load(&t->published.encoding);
  chunk->page.is_certain = atomic_load(&t->published.is_certain);
  chunk->page.quirks = t->quirks;
  chunk->page.base = atomic_load(&t->published.base);
  chunk->active_rules = atomic_load(&t->published.active_rules);
  chunk->page.frameset_ok = atomic_load(&t->published.frameset_ok);
  chunk->lessons = atomic_load(&t->published.lesson_count);
  chunk->alternatives = atomic_load(&t->published.alternatives);
  for (uint32_t i = 0; i < HP_REWRITE_PREDICTION * t->words; i++)
    chunk->prediction[i] = atomic_load_explicit(&t->published.prediction[i], memory_order_relaxed);
  for (uint32_t i = 0; i < t->scope_words; i++)
    chunk->scopes[i] = atomic_load_explicit(&t->published.scopes[i], memory_order_relaxed);
  uint32_t checkpoint = t->division.checkpoint_bytes ? t->division.checkpoint_bytes : HP_REWRITE_CHECKPOINT;
  uint64_t begin = thread ? 0 : hp_now(), event = hp_rewrite_team_event_time(t);
  hp_speculation_run_chunk(w->rewriter, &w->speculation, &t->input, checkpoint, &t->published.passed, chunk);
  if (!thread) t->counters.worker_ns += hp_now() - begin;
  hp_rewrite_team_note(t, HP_EVENT_PARSE, thread, claimed->number, event, chunk->cut, chunk->limit);
  if (!hp_unit_publish(&s->state)) hp_unit_free(&s->state);
}

/* Waits while too many chunks are in flight, if the merger runs. A caller's executor may start it
 * later, or run this task below a callback of the merger, which then goes on after MOST_SPINS. */
void hp_rewrite_team_run_worker(hp_rewrite_team *t, unsigned thread) {
  enum { SPIN_NS = 50000, MOST_SPINS = 20 };
  unsigned spins = 0;
  hp_spin spin = {0};
  while (atomic_load(&t->published.passed) != UINT64_MAX) {
    hp_chunk chunk;
    hp_claim claim = hp_rewrite_team_claim(t, SIZE_MAX, &chunk);
    if (claim == HP_CLAIM_NEVER) return;
    if (claim == HP_CLAIM_MADE) {
      hp_rewrite_team_run_chunk(t, thread, &chunk);
      spin = (hp_spin){0};
      spins = 0;
    } else if (!atomic_load_explicit(&t->published.merges, memory_order_relaxed)) {
      return;
    } else if (!hp_spin_on(&spin, SPIN_NS)) {
      if (t->executor.kind == HPAR_EXECUTOR_CALLER) {
        if (++spins == MOST_SPINS) return;
        spin = (hp_spin){0};
      }
      sched_yield();
    }
  }
}
