#include "study/pipelined/driver.h"

#include "base/memory.h"
#include "study/driven.h"
#include "study/pipelined/stages.h"
#include "study/state.h"

#include <string.h>

_Static_assert(sizeof(hp_pipeline_config) <= sizeof(hp_part_options), "the options of a part hold the configuration");

hp_part_options hp_pack_pipeline(const hp_pipeline_config *config) {
  hp_part_options packed = {{0}};
  memcpy(&packed, config, sizeof *config);
  return packed;
}

static hp_pipeline_config unpack(const hp_part_options *packed) {
  hp_pipeline_config config;
  memcpy(&config, packed, sizeof config);
  return config;
}

/*** whole parses ***/

static void run_stages(hp_driven *d) {
  hp_study_state *state = d->session->study;
  hp_pipeline_config own = unpack(&d->config->other_options);
  hp_pool *pool = d->threads > 1 ? hp_crew_pool(&d->session->crew) : NULL;
  hp_parse_pipelined(&state->stages, pool, &d->session->engine, d->request, &own, &state->pipeline_counters);
  d->not_bound = state->pipeline_counters.not_bound;
  d->has_ended = true;
}

static void fail(hp_driven *d) { hp_unwind_now(&d->session->engine.unwind, HPAR_ERROR_MEMORY); }

/* The stages need more than a driver of a plug-in has: the engine as a snapshot, tokens without
 * their public form, and memory of the session between parses. */
static void drive(hpar_driven_parse *parse, void *context) {
  (void)context;
  hp_driven *d = (hp_driven *)parse;
  hp_study_state *state = hp_study_state_of(d->session);
  if (!state) {
    hp_drive_step(d, fail);
    return;
  }
  hp_drive_step(d, run_stages);
  hp_pipeline_abandon(&state->stages, hp_crew_pool(&d->session->crew));
}

const hpar_driver hp_pipelined_driver = {HPAR_DRIVER_INIT, .name = "pipelined",
                                         .summary = "HPar 3.2: a tokenizer on a thread ahead of the tree builder",
                                         .threads = 2, .drive = drive};

/*** pairs of threads ***/

/* hp_team.pairs */
typedef struct pair_state {
  hp_stages **stages; /* of each worker */
  unsigned count;
  hp_pipeline_counters counters;
} pair_state;

static void destroy(void *pairs) {
  pair_state *state = pairs;
  for (unsigned i = 0; i < state->count; i++) {
    hp_stages_close(state->stages[i]);
    hp_free(state->stages[i]);
  }
  hp_free(state->stages);
  hp_free(state);
}

static hp_stages *stages_of(const hp_job *job, unsigned worker) {
  const pair_state *state = job->team->pairs.memory;
  return state->stages[worker];
}

static hpar_status allocate(pair_state *state, unsigned workers) {
  if (state->count >= workers) return HPAR_OK;
  hp_stages **all = hp_reallocate(state->stages, workers * sizeof *all);
  if (!all) return HPAR_ERROR_MEMORY;
  state->stages = all;
  while (state->count < workers) {
    hp_stages *stages = hp_allocate_zeroed(sizeof *stages);
    if (!stages) return HPAR_ERROR_MEMORY;
    all[state->count++] = stages;
  }
  return HPAR_OK;
}

static hpar_status prepare(hp_job *job, unsigned workers) {
  hp_part_state *part = &job->team->pairs;
  if (!part->memory) *part = (hp_part_state){hp_allocate_zeroed(sizeof(pair_state)), destroy};
  pair_state *state = part->memory;
  if (!state) return HPAR_ERROR_MEMORY;
  state->counters = (hp_pipeline_counters){0};
  return allocate(state, workers);
}

static const hp_token *next_staged(void *stages) { return hp_stages_next(stages); }

static void open_pair(hp_job *job, unsigned index) {
  hp_worker *worker = job->team->workers[index];
  hp_stages *stages = stages_of(job, index);
  hp_pipeline_config config = unpack(&job->config.pair_options);
  hp_stages_open(stages, &worker->engine, &job->request, &config, hp_is_inline(job),
                 job->division.memory_parts / 2 + index, job->division.memory_parts);
  stages->ended = true; /* until the worker has a first chunk */
  worker->source = (hp_token_source){next_staged, stages};
}

static void serve(hp_job *job, unsigned worker) { hp_stages_serve(stages_of(job, worker)); }

static void stop_pair(hp_job *job, unsigned worker) { hp_stages_stop(stages_of(job, worker)); }

static void count(hp_job *job, unsigned worker) {
  pair_state *state = job->team->pairs.memory;
  hp_stages_count(state->stages[worker], &state->counters);
}

const hp_pairs hp_pipelined_pairs = {
    .prepare = prepare, .open = open_pair, .serve = serve, .stop = stop_pair, .count = count};

const hp_pipeline_counters *hp_pairs_counters(const hp_team *team) {
  const pair_state *state = team->pairs.memory;
  return state ? &state->counters : NULL;
}
