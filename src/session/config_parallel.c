/* The options of the parallel and the pipelined parser, resolved. */

#include "base/sized.h"
#include "drivers/pipelined/stages.h"
#include "platform/topology.h"
#include "session/config.h"
#include "speculation/cuts/cut.h"
#include "speculation/start/custom.h"
#include "speculation/strategies/strategies.h"

#include <hpar/study.h>
#include <stdio.h>

/* Explains an unknown name, with the list of the known names. */
static hpar_status no_name(hp_call_error *error, const char *field, const char *given, const char *(*name)(size_t)) {
  char names[256] = "";
  size_t length = 0;
  for (size_t i = 0; name(i) && length < sizeof names; i++)
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", name(i));
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.%s is \"%.60s\"; accepted: %s", field, given, names);
}

static hpar_status read_custom_predictor(hpar_predictor *custom, const hpar_predictor *given, hp_call_error *error) {
  hpar_status status = hp_read_sized(custom, sizeof *custom, given, "hpar_predictor", "HPAR_PREDICTOR_INIT", error);
  if (status == HPAR_OK && !custom->predict)
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_options.experiment.custom_predictor->predict is NULL; accepted: a function");
  return status;
}

static hpar_status resolve_plan(hp_plan *plan, const hpar_options *o, hp_call_error *error) {
  const hp_strategy *strategy = hp_strategy_named(o->experiment.strategy);
  if (!strategy) return no_name(error, "experiment.strategy", o->experiment.strategy, hpar_strategy_name);
  *plan = hp_strategy_plan(strategy);
  if (o->experiment.predictor && !(plan->predictor = hp_predictor_named(o->experiment.predictor)))
    return no_name(error, "experiment.predictor", o->experiment.predictor, hpar_predictor_name);
  if (o->experiment.mode_predictor && !(plan->mode_predictor = hp_mode_predictor_named(o->experiment.mode_predictor)))
    return no_name(error, "experiment.mode_predictor", o->experiment.mode_predictor, hpar_mode_predictor_name);
  if (o->experiment.custom_predictor) {
    hpar_status status = read_custom_predictor(&plan->custom, o->experiment.custom_predictor, error);
    if (status != HPAR_OK) return status;
    plan->predictor = hp_custom_predictor(&plan->custom);
  }
  int cut = o->experiment.cut_policy ? hp_cut_policy_named(o->experiment.cut_policy) : plan->cut;
  if (cut < 0) return no_name(error, "experiment.cut_policy", o->experiment.cut_policy, hpar_cut_policy_name);
  plan->cut = (uint8_t)cut;
  if (o->experiment.frequencies) plan->frequencies = o->experiment.frequencies;
  if (o->experiment.checkpoint_bytes) plan->checkpoint_bytes = o->experiment.checkpoint_bytes;
  return HPAR_OK;
}

static hpar_status resolve_pipeline(hp_pipeline_config *config, const hpar_options *o, hp_call_error *error) {
  if (o->pipeline.buffer_tokens > HP_MAX_BUFFER_TOKENS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.pipeline.buffer_tokens is %u; accepted: 0 to %d",
                      o->pipeline.buffer_tokens, HP_MAX_BUFFER_TOKENS);
  if (o->pipeline.batch_tokens > HP_MAX_BUFFER_TOKENS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.pipeline.batch_tokens is %u; accepted: 0 to %d",
                      o->pipeline.batch_tokens, HP_MAX_BUFFER_TOKENS);
  *config = (hp_pipeline_config){.predictor = hp_pipeline_predictor_named(o->pipeline.predictor),
                                 .buffer_tokens = o->pipeline.buffer_tokens,
                                 .batch_tokens = o->pipeline.batch_tokens,
                                 .bind = o->parallel.affinity == HPAR_AFFINITY_CORES};
  if (config->predictor >= HP_PIPELINE_PREDICTORS)
    return no_name(error, "pipeline.predictor", o->pipeline.predictor, hpar_pipeline_predictor_name);
  return HPAR_OK;
}

static hp_pool_wait wait_of(hpar_wait_policy policy) {
  switch (policy) {
    case HPAR_WAIT_SPIN: return HP_POOL_SPIN;
    case HPAR_WAIT_SLEEP: return HP_POOL_SLEEP;
    default: return HP_POOL_ADAPTIVE;
  }
}

hpar_status hp_config_resolve_parallel(hp_config *config, const hpar_options *o, hp_call_error *error) {
  bool on_threads = o->parallel.executor == HPAR_EXECUTOR_THREADS;
  hp_parallel_config *p = &config->parallel;
  hpar_status status = resolve_plan(&p->plan, o, error);
  if (status == HPAR_OK) status = resolve_pipeline(&config->pipeline, o, error);
  if (status != HPAR_OK) return status;
  config->bind = on_threads && o->parallel.affinity == HPAR_AFFINITY_CORES;
  config->pipeline_threads = on_threads && o->threads != 1 ? 2 : 1;
  config->fed_at_finish = o->mode == HPAR_MODE_PIPELINED || (!on_threads && o->mode != HPAR_MODE_SEQUENTIAL);
  p->executor = (hp_executor){.kind = o->parallel.executor,
                              .run = o->parallel.run,
                              .context = o->parallel.run_context,
                              .threads = o->threads,
                              .wait = wait_of(o->parallel.wait),
                              .bind = config->bind};
  p->pipeline = config->pipeline;
  p->fragment = o->fragment;
  p->fits_threads_to_input = o->mode == HPAR_MODE_AUTO;
  /* A strategy that audits its guesses does so at each chunk boundary in turn. */
  p->merges_as_tree =
      o->parallel.merge == HPAR_MERGE_TREE && !p->plan.strategy->at_chunk_boundary && !o->resources.callback;
  /* Composing logs uses the workers' engines, and so do their tokenizers. */
  p->pipelined_workers = o->experiment.pipelined_workers && o->parallel.executor != HPAR_EXECUTOR_CALLER &&
                         o->parallel.merge != HPAR_MERGE_TREE;
  p->chunk_size = o->parallel.chunk_size;
  p->chunks = o->parallel.chunks;
  p->cuts = config->cuts;
  p->cut_count = config->cut_count;
  if (config->bind || o->mode == HPAR_MODE_PARALLEL) hp_config_threads(config);
  return HPAR_OK;
}

unsigned hp_config_threads(hp_config *config) {
  unsigned *threads = &config->parallel.executor.threads;
  if (!*threads) *threads = hp_usable_cores();
  if (*threads > HPAR_MAX_THREADS) *threads = HPAR_MAX_THREADS;
  return *threads;
}
