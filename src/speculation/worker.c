#include "speculation/worker.h"

#include "base/memory.h"
#include "base/process.h"
#include "speculation/strategy.h"
#include "text/scan/scan.h"
#include "tokenizer/tokenizer.h"

/*** the strategy exact ***/

enum { CHECKPOINT_BYTES = 16 << 10 };

const hp_mode_predictor hp_replay_predictor = {
    .name = "replay", .summary = "no guess at the start, only at what replayed tokens lead to", .after_replay = true};

const hp_strategy hp_exact_strategy = {
    .name = "exact",
    .summary = "assumptions and replays, runs spliced in bulk, no guess of a chunk's start mode",
    .predictor = &hp_lookback_predictor,
    .mode_predictor = &hp_replay_predictor,
    .cut = &hp_smart_cuts};

hp_plan hp_strategy_plan(const hp_strategy *strategy) {
  return (hp_plan){.strategy = strategy,
                   .strategy_name = strategy->name,
                   .predictor = strategy->predictor,
                   .predictor_name = strategy->predictor->name,
                   .mode_predictor = strategy->mode_predictor,
                   .mode_predictor_name = strategy->mode_predictor->name,
                   .cut = {.policy = strategy->cut, .name = strategy->cut->name},
                   .checkpoint_bytes = CHECKPOINT_BYTES};
}

/*** progress ***/

#if HPAR_TEST_HOOKS
static uint32_t (*_Atomic progress_hook)(uint32_t at);

void hp_worker_hook_progress(uint32_t (*hook)(uint32_t at)) { atomic_store(&progress_hook, hook); }

void hp_worker_call_progress_hook(uint32_t at) {
  uint32_t (*hook)(uint32_t) = atomic_load(&progress_hook);
  if (hook) hook(at);
}

static uint32_t next_offset(uint32_t at) {
  uint32_t (*hook)(uint32_t) = atomic_load(&progress_hook);
  return hook ? hook(at) : at + HP_PROGRESS_BYTES;
}
#else
static uint32_t next_offset(uint32_t at) { return at + HP_PROGRESS_BYTES; }
#endif

uint32_t hp_worker_note_progress(hp_worker *w, uint32_t at) {
  atomic_store_explicit(&w->progress, at, memory_order_relaxed);
  uint32_t next = next_offset(at);
  if (w->cancelled && atomic_load_explicit(w->cancelled, memory_order_relaxed))
    hp_unwind_now(&w->engine.unwind, HP_CANCELLED);
  return next;
}

/*** the first token of a chunk ***/

/* Returns the first place from `at` on that may escape the script or end it, or NULL if no end tag
 * of a script follows. */
static const char *script_text_end(const char *at, const char *limit) {
  const hp_scan_kernels *scan = hp_scan();
  const char *first = NULL;
  for (; (at = scan->in_script(at, limit)) < limit; at++) {
    bool is_end_tag = at[1] == '/', ends = is_end_tag && hp_tag_is(at + 2, limit, "script");
    if (!first && (ends || !is_end_tag)) first = at;
    if (ends) return first;
  }
  return NULL;
}

/* Skips the raw text in which the chunk begins. The merger parses that text. Returns false if the
 * text fills the rest of the chunk. */
static bool skip_raw_text_before(hp_tokenizer *tokenizer, const char *limit) {
  if (tokenizer->content == HP_TEXT_STATE_SCRIPT_DATA) {
    const char *at = script_text_end(tokenizer->at, limit);
    if (!at) return false;
    tokenizer->at = at;
  }
  const char *end = tokenizer->end;
  bool last = tokenizer->last;
  tokenizer->end = limit;
  tokenizer->last = last && limit == end;
  int kind = hp_read_raw_text(tokenizer);
  tokenizer->end = end;
  tokenizer->last = last;
  return kind != HP_TOKEN_NEED_MORE;
}

/* Skips the tag in which the chunk begins. `quote` is the open quotation mark, or 0. Returns false
 * if the tag does not end before `limit`. */
static bool skip_tag(hp_tokenizer *tokenizer, const char *limit, char quote) {
  char before = 0;
  for (const char *at = tokenizer->at; at < limit; at++) {
    char c = *at;
    if (quote) {
      at = memchr(at, quote, (size_t)(limit - at));
      if (!at) return false;
      before = quote;
      quote = 0;
    } else if (c == '>') {
      tokenizer->at = at + 1;
      return true;
    } else if ((c == '"' || c == '\'') && before == '=') {
      quote = c;
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f') {
      before = c;
    }
  }
  return false;
}

/* Skips the end tag of raw text that is empty: the skipped tag may have started such text. */
static void skip_raw_text_end(hp_tokenizer *tokenizer, bool scripting) {
  const char *at = tokenizer->at, *end = tokenizer->end;
  if (end - at < 3 || at[0] != '<' || at[1] != '/' || !hp_raw_text_at(at + 2, end, scripting)) return;
  const char *close = memchr(at, '>', (size_t)(end - at));
  if (close) tokenizer->at = close + 1;
}

/* Moves the tokenizer to the first token boundary of the data state, from a chunk that begins in
 * `state`. Returns false if there is no boundary before `limit`. */
static bool find_chunk_start(hp_tokenizer *tokenizer, const hp_start_state *state, const char *limit, bool scripting) {
  if (state->first) {
    if (state->first != HP_START_BEYOND) tokenizer->at = tokenizer->base + state->first;
    return state->first != HP_START_BEYOND;
  }
  bool found = true;
  const char *end;
  switch (state->inside) {
    case HP_INSIDE_COMMENT:
      end = hp_comment_end(tokenizer->at, tokenizer->at, limit);
      if (end) tokenizer->at = end;
      return end;
    case HP_INSIDE_TAG: found = skip_tag(tokenizer, limit, 0); break;
    case HP_INSIDE_DOUBLE_QUOTES: found = skip_tag(tokenizer, limit, '"'); break;
    case HP_INSIDE_SINGLE_QUOTES: found = skip_tag(tokenizer, limit, '\''); break;
    default: break;
  }
  if (state->inside) {
    if (found) skip_raw_text_end(tokenizer, scripting);
    return found;
  }
  if (state->content == HP_TEXT_STATE_DATA) return true;
  hp_tokenizer_begin_raw_text(tokenizer, state->content, state->raw_name);
  found = skip_raw_text_before(tokenizer, limit);
  tokenizer->content = HP_TEXT_STATE_DATA;
  return found;
}

/*** hypotheses ***/

/* The start hypotheses that a strategy combines: one hypothesis, or several that share a log. */

/* Moves the tokenizer to `from`, in the data state. */
static void move_tokenizer(hp_worker *w, const hp_request *request, uint32_t from) {
  hp_engine_report_errors(&w->engine, NULL);
  hp_tokenizer_move(&w->engine.tokenizer, from);
  hp_tokenizer_extend(&w->engine.tokenizer, request->length, !request->more);
}

static void run_hypothesis(hp_worker *w, const hp_request *request, const hp_plan *plan, uint8_t mode, uint8_t ns,
                           bool may_restart, hp_start_hypothesis *hypothesis, hp_chunk_result *chunk) {
  hp_engine_report_errors(&w->engine, request->max_errors ? &chunk->log.errors : NULL);
  hypothesis->first = hp_tokenizer_offset(&w->engine.tokenizer);
  w->outer.confident = 1u << HP_ASSUME_FORMATTING_CLEAN;
  w->outer.fostered = false;
  w->outer.form_may_be_open = hp_chooses_dispositions(plan->strategy);
  hp_begin_segment(w, hypothesis->first, mode, ns);
  hp_run_chunk(w, request, plan, may_restart, hypothesis, chunk);
  hypothesis->end = chunk->log.segments.count;
}

void hp_worker_speculate(hp_worker *w, const hp_request *request, const hp_plan *plan, const hp_start_state *state,
                         bool may_restart, hp_chunk_result *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_start_hypothesis *hypothesis = &chunk->hypotheses[chunk->hypothesis_count++];
  hypothesis->segment = chunk->log.segments.count;
  hp_speculative_clear(&w->engine.builder);
  move_tokenizer(w, request, chunk->cut);
  if (find_chunk_start(tokenizer, state, tokenizer->base + chunk->reach, request->scripting)) {
    w->outer.outer_ns = state->outer_ns ? state->outer_ns : HPAR_NAMESPACE_HTML;
    run_hypothesis(w, request, plan, state->mode, state->ns, may_restart, hypothesis, chunk);
  } else {
    hypothesis->first = HP_NO_SEGMENT;
    hypothesis->end = hypothesis->segment;
    while (hp_chunk_goes_on(chunk)) {
    }
  }
}

void hp_worker_speculate_joined(hp_worker *w, const hp_request *request, const hp_plan *plan,
                                const hp_start_state *state, const uint32_t *places, uint32_t count,
                                hp_chunk_result *chunk) {
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

/* Adds two hypotheses: the cut lies in data, and the cut lies in `state`. They share the log from
 * the first token after `state` on. */
static void speculate_doubtfully(hp_worker *w, const hp_request *request, const hp_plan *plan,
                                 const hp_start_state *state, hp_chunk_result *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  uint32_t places[] = {chunk->cut, UINT32_MAX};
  move_tokenizer(w, request, chunk->cut);
  if (find_chunk_start(tokenizer, state, tokenizer->base + chunk->reach, request->scripting))
    places[1] = hp_tokenizer_offset(&w->engine.tokenizer);
  hp_start_state data = *state;
  data.content = HP_TEXT_STATE_DATA;
  data.raw_name = 0;
  data.inside = HP_INSIDE_NOTHING;
  hp_worker_speculate_joined(w, request, plan, &data, places, 2, chunk);
}

/*** lifecycle ***/

void hp_worker_open(hp_worker *w, const hp_request *request, const hp_fragment_case *fragment) {
  hp_engine_open(&w->engine, request);
  hp_builder *b = &w->engine.builder;
  hp_outer_open(&w->outer, b);
  b->fragment = *fragment;
  hp_speculative_of(b)->defers_scripts = request->runs_scripts;
  hp_tokenizer_ask_foreign(&w->engine.tokenizer, hp_speculative_adjusted_current_node_is_foreign, b);
  hp_builder_set_listener(b, NULL);
  w->nanoseconds = w->predict_nanoseconds = 0;
}

void hp_worker_find_resources(hp_worker *w, const hp_resource_report *report, unsigned thread) {
  hp_finder_open(&w->finder, report, &w->engine.builder, thread, false);
  hp_finder_set_gate(&w->finder, &w->gate);
  hp_builder_set_listener(&w->engine.builder, &w->finder.listener);
}

void hp_worker_close(hp_worker *w) {
  for (hp_chunk_result *work = w->works, *next; work; work = next) {
    next = work->next;
    hp_log_free(&work->log);
    hp_free(work);
  }
  hp_finder_close(&w->finder);
  hp_finder_gate_close(&w->gate);
  hp_engine_close(&w->engine);
}

hp_chunk_result *hp_worker_next_work(hp_worker *w) {
  hp_chunk_result **next = w->work ? &w->work->next : &w->works;
  if (!*next) *next = hp_allocate_zeroed(sizeof **next);
  if (!*next) return NULL;
  w->work = *next;
  w->work->hypothesis_count = w->work->taken = 0;
  w->work->truth_known = false;
  w->work->failed = true;           /* until hp_worker_parse has run */
  w->work->log.sightings.count = 0; /* also if the parse of the chunk fails early */
  return w->work;
}

static void clear_work(hp_worker *w, hp_chunk_result *chunk) {
  hp_log_clear(&chunk->log);
  if (hp_listener_of(&w->engine.builder)) hp_finder_begin_log(&w->finder, &chunk->log.sightings);
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
                                 const hp_chunk_result *chunk) {
  hp_start_state state = {
      .content = HP_TEXT_STATE_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
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
static bool ended_in_html(const hp_worker *w, const hp_chunk_result *chunk) {
  const hp_log *log = &chunk->log;
  if (chunk->cut_short || !log->segments.count) return false;
  const hp_segment *s = &log->segments.items[log->segments.count - 1];
  if (s->ends != HP_ENDS_CLEAN || s->assumes.ns != HPAR_NAMESPACE_HTML || w->outer.outer_ns != HPAR_NAMESPACE_HTML)
    return false;
  if (s->assumes.base_mode != HP_IN_BODY && !hp_is_table_mode(s->assumes.base_mode)) return false;
  for (uint32_t i = 0; i < s->open_elements.count; i++)
    if (log->open.items[s->open_elements.first + i].ns != HPAR_NAMESPACE_HTML) return false;
  return true;
}

void hp_worker_speculate_from_start(hp_worker *w, const hp_request *request, const hp_plan *plan, bool may_restart,
                                    hp_chunk_result *chunk) {
  may_restart = may_restart && plan->predictor->restarts_after_end_tag && !chunk->start.is_sure;
  if (chunk->start.is_doubtful)
    speculate_doubtfully(w, request, plan, &chunk->start, chunk);
  else
    hp_worker_speculate(w, request, plan, &chunk->start, may_restart, chunk);
  if (plan->predictor->skip && plan->prescan && !chunk->start.is_doubtful && ended_in_html(w, chunk))
    plan->predictor->skip(plan->prescan, chunk->log.segments.items[chunk->log.segments.count - 1].end);
}

static void parse_chunk(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk) {
  chunk->start = hp_worker_predict(w, request, plan, chunk);
  hp_worker_speculate_from_start(w, request, plan, true, chunk);
}

typedef struct chunk_parse {
  hp_worker *worker;
  const hp_request *request;
  const hp_plan *plan;
  hp_chunk_result *chunk;
} chunk_parse;

static hpar_status parse_as_planned(void *argument) {
  const chunk_parse *p = argument;
  const hp_strategy *strategy = p->plan->strategy;
  clear_work(p->worker, p->chunk);
  (strategy->parse ? strategy->parse : parse_chunk)(p->worker, p->request, p->plan, p->chunk);
  if (hp_listener_of(&p->worker->engine.builder)) hp_finder_flush(&p->worker->finder);
  return HPAR_OK;
}

void hp_worker_parse(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk) {
  uint64_t begin = hp_now(), predicting = w->predict_nanoseconds;
  chunk_parse parse = {w, request, plan, chunk};
  chunk->failed = hp_try(&w->engine.unwind, parse_as_planned, &parse) != HPAR_OK;
  chunk->times.begin = begin;
  chunk->times.end = hp_now();
  chunk->times.prescan = w->predict_nanoseconds - predicting;
  w->nanoseconds += chunk->times.end - begin;
}
