#include "study/driven.h"

#include "base/memory.h"
#include "tree/engine.h"

#include <stdatomic.h>

/*** steps ***/

static size_t position(const hp_driven *d) {
  const hp_tokenizer *t = &d->session->engine.tokenizer;
  return d->has_token ? d->token.start : (size_t)(t->at - t->base);
}

/* The library reads none of these fields: a driver may have overwritten them. */
static void show_progress(hp_driven *d) {
  d->shown.at = position(d);
  d->shown.tokens = d->session->engine.tokens;
  d->shown.nodes = d->session->engine.builder.node_count;
  d->shown.has_ended = d->has_ended;
}

typedef struct step_call {
  hp_driven *driven;
  void (*step)(hp_driven *driven);
  bool has_returned;
} step_call;

static hpar_status run_step(void *argument) {
  step_call *call = argument;
  call->step(call->driven);
  call->has_returned = true;
  return HPAR_OK;
}

bool hp_drive_step(hp_driven *d, void (*step)(hp_driven *driven)) {
  step_call call = {d, step, false};
  if (d->has_ended) return false;
  hpar_status status = hp_try(&d->session->engine.unwind, run_step, &call);
  if (!call.has_returned) {
    d->failed = d->has_ended = true;
    d->status = status;
  }
  show_progress(d);
  return !d->has_ended;
}

static void build_token(hp_driven *d) {
  hp_engine *engine = &d->session->engine;
  if (!d->has_token) return;
  bool is_last = d->token.kind == HP_TOKEN_EOF;
  d->has_token = d->token_is_shown = false;
  hp_exact_token(&engine->builder, &d->token);
  engine->tokens += !is_last;
  if (is_last) d->has_ended = true;
}

static void read_token(hp_driven *d) {
  hp_engine *engine = &d->session->engine;
  if (!d->has_token) hp_next_token_inside(&engine->tokenizer, &d->token, engine->builder.stack.top->name);
  d->has_token = true;
  hp_show_token(engine, &d->token, &d->attributes, &d->shown_token);
  d->token_is_shown = true;
}

/*** the functions of hpar_driven_parse ***/

static bool build(hpar_driven_parse *parse) { return hp_drive_step((hp_driven *)parse, build_token); }

static const hpar_token *next(hpar_driven_parse *parse) {
  hp_driven *d = (hp_driven *)parse;
  return d->token_is_shown || hp_drive_step(d, read_token) ? &d->shown_token : NULL;
}

static void advance_to_end(hp_driven *d) {
  build_token(d);
  if (d->has_ended) return;
  hp_engine_run_fast(&d->session->engine, HP_TO_END);
  d->has_ended = true;
}

static void advance_near(hp_driven *d) {
  hp_engine *engine = &d->session->engine;
  const char *near = engine->tokenizer.base + d->near;
  build_token(d);
  if (!d->has_ended && hp_engine_run_fast(engine, near) == HP_LOOP_ENDED) d->has_ended = true;
}

static bool advance(hpar_driven_parse *parse, size_t near) {
  hp_driven *d = (hp_driven *)parse;
  if (near >= d->request->length) return hp_drive_step(d, advance_to_end);
  if (near <= position(d)) return !d->has_ended;
  d->near = near;
  return hp_drive_step(d, advance_near);
}

static void join(hpar_driven_parse *parse) {
  hp_driven *d = (hp_driven *)parse;
  if (!d->works) return;
  hp_crew_join(&d->session->crew);
  d->not_bound |= hp_crew_refused_binding(&d->session->crew);
  d->works = false;
}

static void start(hpar_driven_parse *parse, void (*work)(void *context, unsigned thread), void *context) {
  hp_driven *d = (hp_driven *)parse;
  if (d->threads < 2 || !work) return;
  join(parse);
  d->works = true;
  hp_crew_start(&d->session->crew, d->config->bind, d->threads, work, context);
}

/*** the parse ***/

/* Returns the number of threads for the driver, with the calling one. */
static unsigned find_threads(hp_session *session, const hp_config *config) {
  unsigned wanted = config->other_threads;
  unsigned threads = wanted < 2 ? 1 : hp_team_threads(&session->team, &config->parallel.executor, wanted);
  return threads ? threads : 1;
}

static void parse_driven(hp_session *session, const hp_config *config, const hp_request *request) {
  const hpar_driver *driver = config->other_data;
  unsigned threads = find_threads(session, config);
  hp_driven driven = {.shown = {.text = request->text,
                                .length = request->length,
                                .scripting = request->scripting,
                                .threads = threads,
                                .advance = advance,
                                .next = next,
                                .build = build,
                                .start = start,
                                .join = join},
                      .session = session,
                      .config = config,
                      .request = request,
                      .threads = threads};
  show_progress(&driven);
  driver->drive(&driven.shown, driver->context);
  join(&driven.shown);
  advance(&driven.shown, SIZE_MAX);
  hp_free(driven.attributes.items);
  session->result.other.name = driver->name ? driver->name : "custom";
  session->result.other.threads = threads;
  session->result.other.not_bound = driven.not_bound;
  if (driven.failed) hp_unwind_now(&session->engine.unwind, driven.status);
  if (request->runs_scripts) hp_scripts_finish(&session->scripts);
}

const hp_other_driver hp_study_driver = {.parse = parse_driven};
