#include "speculation/worker/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "speculation/start/prescan.h"
#include "tokenizer/content.h"

void hp_worker_open(hp_worker *w, const hp_request *request, const hp_fragment_case *fragment) {
  hp_engine_open(&w->engine, request);
  hp_builder *b = &w->engine.builder;
  hp_outer_open(&w->outer, b);
  b->fragment = *fragment;
  b->speculative.defers_scripts = request->runs_scripts;
  w->engine.tokenizer.cdata.is_foreign = hp_speculative_adjusted_current_node_is_foreign;
  hp_builder_watch(b, NULL);
  w->nanoseconds = w->predict_nanoseconds = 0;
}

void hp_worker_find_resources(hp_worker *w, const hp_resource_report *report, unsigned thread) {
  hp_finder_open(&w->finder, report, &w->engine.builder, thread, false);
  hp_finder_set_gate(&w->finder, &w->gate);
  hp_builder_watch(&w->engine.builder, &w->finder.watch);
}

void hp_worker_close(hp_worker *w) {
  for (hp_chunk_work *work = w->works, *next; work; work = next) {
    next = work->next;
    hp_log_free(&work->log);
    hp_free(work);
  }
  hp_finder_close(&w->finder);
  hp_finder_gate_close(&w->gate);
  hp_engine_close(&w->engine);
}

hp_chunk_work *hp_worker_next_work(hp_worker *w) {
  hp_chunk_work **next = w->work ? &w->work->next : &w->works;
  if (!*next) *next = hp_allocate_zeroed(sizeof **next);
  if (!*next) return NULL;
  w->work = *next;
  w->work->hypothesis_count = w->work->taken = 0;
  w->work->truth_known = false;
  w->work->log.sightings.count = 0; /* also if the parse of the chunk fails early */
  return w->work;
}

void hp_worker_clear(hp_worker *w, hp_chunk_work *chunk) {
  hp_log_clear(&chunk->log);
  if (w->engine.builder.observers.watch) hp_finder_begin_log(&w->finder, &chunk->log.sightings);
  chunk->log.errors.limit = UINT32_MAX;
  chunk->log.errors.unwind = &w->engine.unwind;
  chunk->hypothesis_count = 0;
  w->outer.join_count = w->outer.join = 0;
  chunk->hypotheses[0] = (hp_start_hypothesis){.first = HP_NO_SEGMENT};
  chunk->taken = 0;
  chunk->cut_short = chunk->is_complete = false;
  memset(&chunk->outcome, 0, sizeof chunk->outcome);
  memset(chunk->notes, 0, sizeof chunk->notes);
}

hp_start_state hp_worker_predict(hp_worker *w, const hp_request *request, const hp_plan *plan,
                                 const hp_chunk_work *chunk) {
  hp_start_state state = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  if (!plan->predictor->predict && !plan->mode_predictor->predict) return state;
  uint64_t begin = hp_now();
  hp_predictor_input input = {.request = request,
                              .cut = chunk->cut,
                              .limit = chunk->limit,
                              .reach = chunk->reach,
                              .truth = chunk->truth_known ? &chunk->truth : NULL,
                              .prescan = plan->prescan,
                              .data = plan->predictor_data};
  if (plan->predictor->predict) plan->predictor->predict(&input, &state);
  input.data = plan->mode_data;
  if (plan->mode_predictor->predict) plan->mode_predictor->predict(&input, &state);
  w->predict_nanoseconds += hp_now() - begin;
  return state;
}

/* Returns true if the chunk ends in the body, without foreign content. */
static bool ended_in_html(const hp_worker *w, const hp_chunk_work *chunk) {
  const hp_log *log = &chunk->log;
  if (chunk->cut_short || !log->segment_count) return false;
  const hp_segment *s = &log->segments[log->segment_count - 1];
  if (s->ends != HP_ENDS_CLEAN || s->assumes.ns != HPAR_NAMESPACE_HTML || w->outer.outer_ns != HPAR_NAMESPACE_HTML)
    return false;
  if (s->assumes.base_mode != HP_IN_BODY && !hp_is_table_mode(s->assumes.base_mode)) return false;
  for (uint32_t i = 0; i < s->open_elements.count; i++)
    if (log->open[s->open_elements.first + i].ns != HPAR_NAMESPACE_HTML) return false;
  return true;
}

void hp_worker_speculate_from_start(hp_worker *w, const hp_request *request, const hp_plan *plan, bool may_restart,
                                    hp_chunk_work *chunk) {
  may_restart = may_restart && plan->predictor->restarts_after_end_tag && !chunk->start.is_sure;
  if (chunk->start.is_doubtful)
    hp_worker_speculate_doubtfully(w, request, plan, &chunk->start, chunk);
  else
    hp_worker_speculate(w, request, plan, &chunk->start, may_restart, chunk);
  if (plan->prescan && !chunk->start.is_doubtful && ended_in_html(w, chunk))
    hp_prescan_skip(plan->prescan, chunk->log.segments[chunk->log.segment_count - 1].end);
}

static void parse(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_work *chunk) {
  chunk->start = hp_worker_predict(w, request, plan, chunk);
  hp_worker_speculate_from_start(w, request, plan, true, chunk);
}

typedef struct chunk_parse {
  hp_worker *worker;
  const hp_request *request;
  const hp_plan *plan;
  hp_chunk_work *chunk;
} chunk_parse;

static hpar_status parse_as_planned(void *argument) {
  const chunk_parse *p = argument;
  const hp_strategy *strategy = p->plan->strategy;
  hp_worker_clear(p->worker, p->chunk);
  (strategy->parse ? strategy->parse : parse)(p->worker, p->request, p->plan, p->chunk);
  if (p->worker->engine.builder.observers.watch) hp_finder_flush(&p->worker->finder);
  return HPAR_OK;
}

void hp_worker_parse(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_work *chunk) {
  uint64_t begin = hp_now(), predicting = w->predict_nanoseconds;
  chunk_parse parse = {w, request, plan, chunk};
  chunk->failed = hp_try(&w->engine.unwind, parse_as_planned, &parse) != HPAR_OK;
  chunk->times.begin = begin;
  chunk->times.end = hp_now();
  chunk->times.prescan = w->predict_nanoseconds - predicting;
  w->nanoseconds += chunk->times.end - begin;
}
