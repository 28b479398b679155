#include "study/pipelined/stages.h"

#include "base/memory.h"
#include "base/process.h"
#include "study/pipelined/producer.h"

#include <hpar/study.h>

/* The tokenizer of a worker reads useless tokens after the end of the chunk: its buffer is short.
 */
enum { DEFAULT_LENGTH = 16384, WORKERS_LENGTH = 256, DEFAULT_BATCH = 256 };
enum { FIRST_CREDIT = 64 << 10 };

uint64_t hp_stages_note(hp_stages *s, hp_event_kind kind, unsigned thread, uint64_t begin, const char *from) {
  if (!s->has_events) return 0;
  const hp_tokenizer *t = thread ? &s->ahead : &s->engine->tokenizer;
  uint64_t end = hp_now();
  size_t first = (size_t)(from - t->base), last = (size_t)(t->at - t->base);
  hp_trace *trace = s->parse_request->trace;
  trace->event(trace, kind, thread, UINT32_MAX, begin, end, first < last ? first : last, last);
  return end;
}

/* The timer starts after UNTIMED checks, because reading the clock costs as much as a short
 * wait. */
void hp_stages_wait(hp_stages *s, hp_waits *waits, bool (*ready)(void *stages)) {
  enum { SPINS = 4000, UNTIMED = 16 };
  uint64_t begin = 0;
  int spins = 0;
  waits->count++;
  for (; !ready(s) && spins < SPINS; spins++) {
    if (spins == UNTIMED) begin = hp_now();
    hp_pause();
  }
  if (spins == SPINS) {
    waits->slept++;
    hp_event_count_sleep(&s->event_count, HP_WITHOUT_LIMIT, ready, s);
  }
  if (begin) waits->nanoseconds += hp_now() - begin;
}

void hp_stages_stop(hp_stages *s) {
  s->stopping = true;
  atomic_fetch_add(&s->request, 1);
  hp_event_count_wake(&s->event_count);
}

void hp_stages_open(hp_stages *s, hp_engine *engine, const hp_request *request, const hp_pipeline_config *config,
                    bool taking_turns, unsigned part, unsigned parts) {
  const hp_tokenizer *from = &engine->tokenizer;
  hp_unwind *unwind = &engine->unwind;
  s->engine = engine;
  s->parse_request = request;
  s->predictor = config->predictor;
  s->taking_turns = taking_turns;
  s->has_events = false;
  uint32_t usual = hp_speculative_of(&engine->builder)->owner ? WORKERS_LENGTH : DEFAULT_LENGTH;
  uint32_t length = config->buffer_tokens ? config->buffer_tokens : usual;
  if (!hp_ring_open(&s->ring, length, config->batch_tokens ? config->batch_tokens : DEFAULT_BATCH))
    hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  hp_event_count_prepare();
  hp_stages_open_ahead(s, part, parts);
  s->waits = s->builder_waits = (hp_waits){0};
  s->bytes_dropped = s->tokens_dropped = s->rollbacks = s->drains = 0;
  s->rollbacks_by_scripts = s->bytes_dropped_by_scripts = 0;
  s->bytes_ahead = s->bytes_searched = s->bytes_alone = s->debited_bytes = s->wasted_bytes = s->dropped_so_far =
      s->was_dropped = 0;
  s->began = s->credited = from->at;
  s->credit = FIRST_CREDIT;
  s->alone_now = false;
  s->met = 0;
  memset(s->hazards, 0, sizeof s->hazards);
  memset(s->rolled_back, 0, sizeof s->rolled_back);
  s->at = from->at;
  s->content = from->content;
  s->notes = 0;
  s->found = NULL;
  atomic_store_explicit(&s->request, 0, memory_order_relaxed);
  atomic_store_explicit(&s->answered, 0, memory_order_relaxed);
  atomic_store_explicit(&s->drained, 0, memory_order_relaxed);
}

void hp_stages_count(const hp_stages *s, hp_pipeline_counters *counters) {
  counters->predictor = hp_pipeline_predictor_name(s->predictor);
  s->parse_request->document->deferred_bytes += s->ahead.deferred_bytes;
  counters->buffer_tokens = s->ring.length;
  counters->batch_tokens = s->ring.batch;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) {
    counters->hazards_by_kind[i] += s->hazards[i];
    counters->rollbacks_by_kind[i] += s->rolled_back[i];
  }
  counters->rollbacks += s->rollbacks;
  counters->rollbacks_by_scripts += s->rollbacks_by_scripts;
  counters->bytes_dropped_by_scripts += s->bytes_dropped_by_scripts;
  counters->tokens_dropped += s->tokens_dropped;
  counters->bytes_dropped += s->bytes_dropped;
  counters->bytes_read += s->bytes_ahead + (uint64_t)(s->ahead.at - s->began) + s->bytes_alone;
  counters->bytes_alone += s->bytes_alone;
  counters->drains += s->drains;
  counters->tokenizer_waits += s->waits.count;
  counters->tokenizer_slept += s->waits.slept;
  counters->tokenizer_wait_ns += s->waits.nanoseconds;
  counters->builder_waits += s->builder_waits.count;
  counters->builder_slept += s->builder_waits.slept;
  counters->builder_wait_ns += s->builder_waits.nanoseconds;
}

void hp_stages_close(hp_stages *s) {
  hp_ring_close(&s->ring);
  hp_interner_close(&s->interner);
  hp_tokenizer_close(&s->ahead);
  hp_free(s->errors.items);
}
