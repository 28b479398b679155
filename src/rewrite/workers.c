/* The chunks that workers rewrite, on the threads of the pool and on the calling thread. */

#include "rewrite/team.h"

#include "base/clock.h"

#include <sched.h>

bool hp_rewrite_team_claim(hp_rewrite_team *t, uint32_t *chunk) {
  uint32_t next = atomic_load(&t->next), claimed = next + hp_chunk_is_reserved(&t->chunks, next);
  if (claimed >= t->chunks.count || claimed >= atomic_load(&t->merged) + t->slot_count) return false;
  hp_rewrite_slot *s = hp_rewrite_slot_of(t, claimed);
  if (atomic_exchange(&s->is_busy, true)) return false;
  if (atomic_compare_exchange_strong(&t->next, &next, claimed + 1)) {
    *chunk = claimed;
    return true;
  }
  atomic_store(&s->is_busy, false);
  return false;
}

void hp_rewrite_team_run_chunk(hp_rewrite_team *t, unsigned thread, uint32_t number) {
  hp_rewrite_slot *s = hp_rewrite_slot_of(t, number);
  hp_rewrite_worker *w = &t->workers[thread];
  hp_rewrite_chunk *chunk = &s->chunk;
  chunk->cut = hp_rewrite_chunk_begin(t, number);
  chunk->limit = hp_rewrite_chunk_begin(t, number + 1);
  chunk->encoding = atomic_load(&t->encoding);
  chunk->is_certain = atomic_load(&t->is_certain);
  chunk->quirks = t->quirks;
  chunk->active_rules = atomic_load(&t->active_rules);
  chunk->frameset_ok = atomic_load(&t->frameset_ok);
  chunk->lessons = atomic_load(&t->lesson_count);
  chunk->alternatives = atomic_load(&t->alternatives);
  for (uint32_t i = 0; i < HP_REWRITE_PREDICTION * t->words; i++)
    chunk->prediction[i] = atomic_load_explicit(&t->prediction[i], memory_order_relaxed);
  for (uint32_t i = 0; i < t->scope_words; i++)
    chunk->scopes[i] = atomic_load_explicit(&t->scopes[i], memory_order_relaxed);
  uint32_t checkpoint = t->division.checkpoint_bytes ? t->division.checkpoint_bytes : HP_REWRITE_CHECKPOINT;
  uint64_t begin = thread ? 0 : hp_now(), event = hp_rewrite_team_event_time(t);
  hp_speculation_run_chunk(w->rewriter, &w->speculation, &t->input, checkpoint, &t->passed, chunk);
  if (!thread) t->counters.worker_ns += hp_now() - begin;
  hp_rewrite_team_note(t, HPAR_EVENT_PARSE, thread, number, event, chunk->cut, chunk->limit);
  atomic_store_explicit(&s->done, number + 1, memory_order_release);
  atomic_store(&s->is_busy, false);
}

/* The thread waits while too many chunks are in flight: the merger runs
 * then. */
void hp_rewrite_team_run_thread(void *context, unsigned thread) {
  enum { SPIN_NS = 50000 };
  hp_rewrite_team *t = context;
  hp_spin spin = {0};
  while (atomic_load(&t->passed) != UINT64_MAX && atomic_load(&t->next) < t->chunks.count) {
    uint32_t chunk;
    if (hp_rewrite_team_claim(t, &chunk)) {
      hp_rewrite_team_run_chunk(t, thread, chunk);
      spin = (hp_spin){0};
    } else if (!hp_spin_on(&spin, SPIN_NS)) {
      sched_yield();
    }
  }
}
