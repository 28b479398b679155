/* The start hypotheses that a strategy combines: one hypothesis, or several that share a log. */

#include "speculation/worker/chunk_run.h"
#include "speculation/worker/segment.h"

/* Moves the tokenizer to `from`, in the data state. */
static void move_tokenizer(hp_worker *w, const hp_request *request, uint32_t from) {
  hp_engine_report_errors(&w->engine, NULL);
  hp_tokenizer_move(&w->engine.tokenizer, from);
  hp_tokenizer_extend(&w->engine.tokenizer, request->length, !request->more);
}

static hp_start_hypothesis *begin_hypothesis(hp_worker *w, const hp_request *request, uint32_t from,
                                             hp_chunk_work *chunk) {
  hp_start_hypothesis *hypothesis = &chunk->hypotheses[chunk->hypothesis_count++];
  hypothesis->segment = chunk->log.segment_count;
  hp_speculative_clear(&w->engine.builder);
  move_tokenizer(w, request, from);
  return hypothesis;
}

static void run_hypothesis(hp_worker *w, const hp_request *request, const hp_plan *plan, uint8_t mode, uint8_t ns,
                           bool may_restart, hp_start_hypothesis *hypothesis, hp_chunk_work *chunk) {
  hp_engine_report_errors(&w->engine, request->max_errors ? &chunk->log.errors : NULL);
  hypothesis->first = hp_tokenizer_offset(&w->engine.tokenizer);
  w->outer.confident = 1u << HP_ASSUME_FORMATTING_CLEAN;
  w->outer.fostered = false;
  w->outer.form_may_be_open = hp_chooses_dispositions(plan->strategy);
  hp_begin_segment(w, hypothesis->first, mode, ns);
  hp_run_chunk(w, request, plan, may_restart, hypothesis, chunk);
  hypothesis->end = chunk->log.segment_count;
}

void hp_worker_speculate(hp_worker *w, const hp_request *request, const hp_plan *plan, const hp_start_state *state,
                         bool may_restart, hp_chunk_work *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_start_hypothesis *hypothesis = begin_hypothesis(w, request, chunk->cut, chunk);
  if (hp_find_chunk_start(tokenizer, state, tokenizer->base + chunk->reach, request->scripting)) {
    w->outer.outer_ns = state->outer_ns ? state->outer_ns : HPAR_NAMESPACE_HTML;
    run_hypothesis(w, request, plan, state->mode, state->ns, may_restart, hypothesis, chunk);
  } else {
    hypothesis->first = HP_NO_SEGMENT;
    hypothesis->end = hypothesis->segment;
    while (hp_chunk_goes_on(chunk)) {
    }
  }
}

void hp_worker_read(hp_worker *w, const hp_request *request, const hp_plan *plan, uint32_t from, uint8_t mode,
                    uint8_t ns, hp_chunk_work *chunk) {
  w->outer.outer_ns = HPAR_NAMESPACE_HTML;
  run_hypothesis(w, request, plan, mode, ns, false, begin_hypothesis(w, request, from, chunk), chunk);
}

void hp_worker_speculate_joined(hp_worker *w, const hp_request *request, const hp_plan *plan,
                                const hp_start_state *state, const uint32_t *places, uint32_t count,
                                hp_chunk_work *chunk) {
  hp_outer_context *outer = &w->outer;
  uint32_t joined[HP_MAX_HYPOTHESES];
  if (count > HP_MAX_HYPOTHESES) count = HP_MAX_HYPOTHESES;
  outer->joins = places + 1;
  outer->joined = joined;
  outer->join = 0;
  outer->join_count = count - 1;
  hp_worker_speculate(w, request, plan, state, false, chunk);
  uint32_t end = chunk->hypotheses[0].end;
  for (uint32_t i = 1; i < count; i++) {
    bool has_joined = i - 1 < outer->join;
    uint32_t segment = has_joined ? joined[i - 1] : end; // NOLINT: set for each i that has joined
    chunk->hypotheses[chunk->hypothesis_count++] = (hp_start_hypothesis){places[i], segment, end};
  }
  outer->join_count = 0;
}

void hp_worker_speculate_doubtfully(hp_worker *w, const hp_request *request, const hp_plan *plan,
                                    const hp_start_state *state, hp_chunk_work *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  uint32_t places[] = {chunk->cut, UINT32_MAX};
  move_tokenizer(w, request, chunk->cut);
  if (hp_find_chunk_start(tokenizer, state, tokenizer->base + chunk->reach, request->scripting))
    places[1] = hp_tokenizer_offset(&w->engine.tokenizer);
  hp_start_state data = *state;
  data.content = HP_CONTENT_DATA;
  data.raw_name = 0;
  data.inside = HP_INSIDE_NOTHING;
  hp_worker_speculate_joined(w, request, plan, &data, places, 2, chunk);
}
