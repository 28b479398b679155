#include "study/custom.h"

#include "base/bytes.h"
#include "base/call.h"
#include "base/process.h"
#include "dom/tag.h"
#include "speculation/strategy.h"
#include "speculation/worker.h"
#include "study/choices.h"
#include "study/true_state.h"
#include "tree/builder.h"
#include "tree/stack.h"

#include <string.h>

/*** guesses ***/

static uint8_t mode_named(const char *name) {
  for (uint8_t mode = 0; name && mode < HP_INSERTION_MODES; mode++) {
    if (strcmp(hp_mode_name(mode), name) != 0) continue;
    switch (mode) {
      case HP_INITIAL: /* ends before the first cut */
      case HP_IN_CELL:
      case HP_IN_CAPTION:
      case HP_IN_TEMPLATE:
      case HP_IN_TEXT: return HP_IN_BODY;
      default: return mode;
    }
  }
  return HP_IN_BODY;
}

static void inside_raw_text(const hp_request *request, const char *element, hp_start_state *state) {
  const hp_atom name = element ? hp_known_atom_in_any_case(element, strlen(element)) : HP_NO_ATOM;
  const hp_raw_text *raw = hp_raw_text_of_atom(name, request->scripting);
  if (raw) {
    state->content = raw->content;
    state->raw_name = raw->atom;
  } else if (name == HP_ATOM_PLAINTEXT) {
    state->first = HP_START_BEYOND;
  }
}

/* Applies the guess to `state`, which is initially the data state in HTML. */
static void apply_guess(const hpar_guess *guess, const hp_request *request, const hpar_cut *cut,
                        hp_start_state *state) {
  switch (guess->context) {
    case HPAR_CONTEXT_COMMENT: state->inside = HP_INSIDE_COMMENT; break;
    case HPAR_CONTEXT_TAG: state->inside = HP_INSIDE_TAG; break;
    case HPAR_CONTEXT_DOUBLE_QUOTES: state->inside = HP_INSIDE_DOUBLE_QUOTES; break;
    case HPAR_CONTEXT_SINGLE_QUOTES: state->inside = HP_INSIDE_SINGLE_QUOTES; break;
    case HPAR_CONTEXT_RAW_TEXT: inside_raw_text(request, guess->element, state); break;
    case HPAR_CONTEXT_CDATA: state->content = HP_TEXT_STATE_CDATA_SECTION; break;
    default: break;
  }
  if (guess->ns == HPAR_NAMESPACE_SVG || guess->ns == HPAR_NAMESPACE_MATHML) state->ns = (uint8_t)guess->ns;
  state->mode = mode_named(guess->mode);
  if (guess->first >= cut->end)
    state->first = HP_START_BEYOND;
  else if (guess->first >= cut->begin)
    state->first = (uint32_t)guess->first;
}

/* Returns the guess that a state stands for. */
static hpar_guess guess_of(const hp_start_state *state) {
  static const hpar_start_context contexts[HP_INSIDES] = {[HP_INSIDE_COMMENT] = HPAR_CONTEXT_COMMENT,
                                                          [HP_INSIDE_TAG] = HPAR_CONTEXT_TAG,
                                                          [HP_INSIDE_DOUBLE_QUOTES] = HPAR_CONTEXT_DOUBLE_QUOTES,
                                                          [HP_INSIDE_SINGLE_QUOTES] = HPAR_CONTEXT_SINGLE_QUOTES};
  hpar_guess guess = {.context = contexts[state->inside],
                      .ns = (hpar_namespace)state->ns,
                      .mode = hp_mode_name(state->mode),
                      .first = state->first == HP_START_BEYOND ? SIZE_MAX : state->first};
  if (state->content == HP_TEXT_STATE_CDATA_SECTION) guess.context = HPAR_CONTEXT_CDATA;
  if (!state->raw_name) return guess;
  guess.context = HPAR_CONTEXT_RAW_TEXT;
  guess.element = hp_known_names[state->raw_name].bytes;
  return guess;
}

static hpar_cut cut_of(const hp_request *request, uint32_t begin, uint32_t end) {
  return (hpar_cut){request->text, request->length, begin, end, request->scripting};
}

/*** predictors ***/

static hpar_guess ask_predictor(const hpar_predictor *custom, const hpar_cut *cut) {
  hpar_guess guess = {.ns = HPAR_NAMESPACE_HTML};
  custom->predict(cut, &guess, custom->context);
  return guess;
}

static void predict(const hp_predictor_input *input, hp_start_state *state) {
  const hpar_cut cut = cut_of(input->request, input->cut, input->limit);
  const hpar_guess guess = ask_predictor(input->data, &cut);
  apply_guess(&guess, input->request, &cut, state);
}

static void predict_mode(const hp_predictor_input *input, hp_start_state *state) {
  const hpar_cut cut = cut_of(input->request, input->cut, input->limit);
  state->mode = mode_named(ask_predictor(input->data, &cut).mode);
}

/* Reads a part of the caller's, which begins with its size and has at least `least` bytes. Workers
 * read the fields where the caller has them. */
static hpar_status read_part(void *part, size_t size, const void *given, size_t least, const char *type,
                             const char *initialiser, hpar_error *error) {
  size_t has;
  hpar_status status = hp_read_sized(part, size, given, type, initialiser, error);
  memcpy(&has, given, sizeof has);
  if (status != HPAR_OK || has >= least) return status;
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s.size is %zu; accepted: %s", type, has, initialiser);
}

static hpar_status lacks(const char *field, const char *function, hpar_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.%s->%s is NULL; accepted: a function", field, function);
}

static hpar_status read_predictor(hpar_predictor *part, const hpar_predictor *given, const char *field,
                                  hpar_error *error) {
  hpar_status status = read_part(part, sizeof *part, given, offsetof(hpar_predictor, partial_context), "hpar_predictor",
                                 "HPAR_PREDICTOR_INIT", error);
  return status != HPAR_OK || part->predict ? status : lacks(field, "predict", error);
}

hpar_status hp_use_custom_predictor(hp_plan *plan, const hpar_predictor *given, const char *field, hpar_error *error) {
  static const hp_predictor predictors[] = {
      {.name = "custom", .summary = "the caller's", .predict = predict},
      {.name = "custom", .summary = "the caller's", .predict = predict, .restarts_after_end_tag = true}};
  hpar_predictor part;
  hpar_status status = read_predictor(&part, given, field, error);
  if (status != HPAR_OK) return status;
  plan->predictor = &predictors[part.partial_context];
  plan->predictor_name = part.name ? part.name : plan->predictor->name;
  plan->predictor_data = given;
  return HPAR_OK;
}

hpar_status hp_use_custom_mode_predictor(hp_plan *plan, const hpar_predictor *given, const char *field,
                                         hpar_error *error) {
  static const hp_mode_predictor custom = {
      .name = "custom", .summary = "the caller's", .predict = predict_mode, .after_replay = true};
  hpar_predictor part;
  hpar_status status = read_predictor(&part, given, field, error);
  if (status != HPAR_OK) return status;
  plan->mode_predictor = &custom;
  plan->mode_predictor_name = part.name ? part.name : custom.name;
  plan->mode_data = given;
  return HPAR_OK;
}

/*** cut policies ***/

static size_t call_cut_function(const void *data, const char *text, size_t length, size_t from) {
  const hpar_cut_policy *custom = data;
  return custom->cut(text, length, from, custom->context);
}

hpar_status hp_use_custom_cut_policy(hp_plan *plan, const hpar_cut_policy *given, const char *field,
                                     hpar_error *error) {
  hpar_cut_policy part;
  hpar_status status =
      read_part(&part, sizeof part, given, sizeof part, "hpar_cut_policy", "HPAR_CUT_POLICY_INIT", error);
  if (status == HPAR_OK && !part.cut) status = lacks(field, "cut", error);
  if (status != HPAR_OK) return status;
  plan->cut = (hp_cut_choice){.policy = hp_cut_policies[HP_CUT_EVEN],
                              .find = call_cut_function,
                              .data = given,
                              .name = part.name ? part.name : "custom"};
  return HPAR_OK;
}

/*** drivers ***/

hpar_status hp_use_custom_driver(const hpar_driver *given, unsigned *threads, hpar_error *error) {
  hpar_driver part;
  hpar_status status = read_part(&part, sizeof part, given, sizeof part, "hpar_driver", "HPAR_DRIVER_INIT", error);
  if (status == HPAR_OK && !part.drive) status = lacks("custom_driver", "drive", error);
  *threads = part.threads;
  return status;
}

/*** strategies ***/

enum { MAX_RESTARTS = 8 };

/* What worker.own points at. The caller sees the first member only. */
typedef struct own_attempt {
  hpar_attempt shown;
  const hpar_strategy *strategy;
  const hp_builder *builder;
  hpar_decision decision;
  hpar_guess next;
} own_attempt;

static bool has_open(const hpar_attempt *attempt, const char *element) {
  const hp_builder *b = ((const own_attempt *)attempt)->builder;
  size_t length = element ? strlen(element) : 0;
  hp_atom atom = length ? hp_known_atom(element, length, hp_name_key_of(element, length)) : 0;
  return atom && last_of(b, atom);
}

/* Returns whether the token contradicts each guess by which the chunk does not begin in raw text.
 * Requires: the builder is in no raw text. */
static bool contradicts(const hp_builder *b, const hp_token *t) {
  if (t->kind != HP_TOKEN_END_TAG || b->stack.top->ns != HPAR_NAMESPACE_HTML) return false;
  return hp_html_tag(t->name) & HP_TAG_RAW_TEXT || (t->name == HP_ATOM_NOSCRIPT && b->script.scripting);
}

static void show_token(own_attempt *a, const hp_worker *w, const hp_token *t) {
  bool is_tag = t->kind == HP_TOKEN_START_TAG || t->kind == HP_TOKEN_END_TAG;
  hp_name name = is_tag ? hp_atom_name(w->engine.interner.atoms, t->name) : (hp_name){"", 0};
  a->shown.kind = (hpar_token_kind)t->kind;
  a->shown.name = (hpar_string){name.bytes, name.length};
  a->shown.token_begin = t->start;
  a->shown.token_end = t->end;
  a->shown.is_contradiction = contradicts(a->builder, t);
  a->shown.reaches_out = hp_must_defer(a->builder, t);
  a->shown.open = a->builder->stack.depth;
}

static bool stops(hp_worker *w, const hp_request *request, const hp_token *t, hp_chunk_result *chunk) {
  (void)request, (void)chunk;
  own_attempt *a = w->own;
  const hpar_strategy *custom = a->strategy;
  bool is_due = custom->interval && t->start >= w->outer.ask_at;
  if (!is_due && !contradicts(a->builder, t)) return false;
  if (custom->interval)
    w->outer.ask_at = custom->interval < UINT32_MAX - t->start ? t->start + (uint32_t)custom->interval : UINT32_MAX;
  show_token(a, w, t);
  a->next = (hpar_guess){.ns = HPAR_NAMESPACE_HTML};
  hpar_decision decision = custom->decide(&a->shown, &a->next, custom->context);
  bool restarts = decision == HPAR_DECISION_RESTART && a->shown.restarts < MAX_RESTARTS;
  if (restarts || decision == HPAR_DECISION_GIVE_UP) a->decision = decision;
  return a->decision != HPAR_DECISION_GO_ON;
}

/* Stores the cut, and the strategy's further places in ascending order. Returns their number. A
 * place after the chunk is HP_NO_SEGMENT. */
static uint32_t find_starts(const hpar_strategy *custom, const hpar_cut *cut, uint32_t *places) {
  enum { MOST = HP_MAX_HYPOTHESES - 1 };
  size_t given[MOST] = {0}; /* a place that is not stored is ignored */
  size_t given_count = custom->starts ? custom->starts(cut, given, MOST, custom->context) : 0;
  uint32_t count = 1;
  places[0] = (uint32_t)cut->begin;
  for (size_t i = 0; i < given_count && i < MOST; i++) {
    if (given[i] <= cut->begin) continue;
    uint32_t place = given[i] < cut->end ? (uint32_t)given[i] : HP_NO_SEGMENT, at = count;
    while (places[at - 1] > place) at--;
    if (places[at - 1] == place) continue;
    memmove(places + at + 1, places + at, (count - at) * sizeof *places);
    places[at] = place;
    count++;
  }
  return count;
}

/* Parses the chunk once, from chunk->start. */
static void attempt_chunk(hp_worker *w, const hp_request *request, const hp_plan *plan, const uint32_t *places,
                          uint32_t count, hp_chunk_result *chunk) {
  const hpar_strategy *custom = plan->strategy_data;
  if (count > 1 && !chunk->start.is_doubtful)
    hp_worker_speculate_joined(w, request, plan, &chunk->start, places, count, chunk);
  else
    hp_worker_speculate_from_start(w, request, plan, !custom->decide, chunk);
}

/* Drops the worker's attempt. */
static void drop_attempt(hp_worker *w, hp_chunk_result *chunk) {
  hp_worker_cut_log(w, &chunk->log, 0);
  chunk->hypothesis_count = 0;
  chunk->hypotheses[0] = (hp_start_hypothesis){.first = HP_NO_SEGMENT};
  chunk->cut_short = chunk->is_complete = false;
}

static void parse_by_strategy(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk) {
  const hpar_strategy *custom = plan->strategy_data;
  const hpar_cut cut = cut_of(request, chunk->cut, chunk->limit);
  uint32_t places[HP_MAX_HYPOTHESES];
  uint64_t notes[HPAR_NOTES] = {0}, begin = hp_now();
  uint32_t count = find_starts(custom, &cut, places);
  w->predict_nanoseconds += hp_now() - begin;
  chunk->start = hp_worker_predict(w, request, plan, chunk);
  for (unsigned restarts = 0;; restarts++) {
    own_attempt now = {.shown = {.cut = cut,
                                 .guess = guess_of(&chunk->start),
                                 .restarts = restarts,
                                 .notes = notes,
                                 .has_open = has_open},
                       .strategy = custom,
                       .builder = &w->engine.builder};
    w->own = &now; // NOLINT: used only in this turn
    attempt_chunk(w, request, plan, places, count, chunk);
    if (now.decision == HPAR_DECISION_GO_ON) return;
    drop_attempt(w, chunk);
    chunk->outcome.aborted = now.decision == HPAR_DECISION_GIVE_UP;
    if (chunk->outcome.aborted) return;
    chunk->outcome.respeculations++;
    chunk->outcome.bytes_respeculated += now.shown.token_end - chunk->cut;
    chunk->start = (hp_start_state){
        .content = HP_TEXT_STATE_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
    apply_guess(&now.next, request, &cut, &chunk->start);
  }
}

/* The functions of a caller's strategy that the worker calls. */
enum { NONE, STARTS, WATCHES, DECIDES, FUNCTIONS };

#define CUSTOM(...) \
  { .name = "custom", .summary = "the caller's", __VA_ARGS__ }
/* [1]: one by one */
static const hp_strategy strategies[FUNCTIONS][2] = {
    [NONE] = {CUSTOM(.parse = NULL), CUSTOM(.one_by_one = true)},
    [STARTS] = {CUSTOM(.parse = parse_by_strategy), CUSTOM(.one_by_one = true, .parse = parse_by_strategy)},
    [WATCHES] = {CUSTOM(.parse = parse_by_strategy, .stops = stops, .watches = true),
                 CUSTOM(.one_by_one = true, .parse = parse_by_strategy, .stops = stops, .watches = true)},
    [DECIDES] = {CUSTOM(.parse = parse_by_strategy, .stops = stops),
                 CUSTOM(.one_by_one = true, .parse = parse_by_strategy, .stops = stops)}};

hpar_status hp_use_custom_strategy(hp_plan *plan, hpar_strategy *part, const hpar_strategy *given, hpar_error *error) {
  hpar_status status = read_part(part, sizeof *part, given, sizeof *part, "hpar_strategy", "HPAR_STRATEGY_INIT", error);
  if (status != HPAR_OK) return status;
  int functions = part->decide ? part->interval == 1 ? DECIDES : WATCHES : part->starts ? STARTS : NONE;
  plan->strategy = &strategies[functions][part->one_by_one];
  plan->strategy_name = part->name ? part->name : plan->strategy->name;
  plan->strategy_data = functions ? given : NULL;
  plan->ask_every = part->decide ? part->interval : 0;
  return HPAR_OK;
}
