/* hpar_options.study, resolved. */

#include "base/sized.h"
#include "session/config.h"
#if HPAR_PARALLEL
#include "drivers/pipelined/stages.h"
#include "speculation/cuts/cut.h"
#include "study/custom.h"
#include "study/predictors.h"
#include "study/strategies.h"
#endif

#include <hpar/study.h>
#include <inttypes.h>
#include <stdio.h>

#if HPAR_PARALLEL
/* Explains an unknown name, with the list of the known names. */
static hpar_status no_name(hpar_error *error, const char *field, const char *given, const char *(*name)(size_t)) {
  char names[256] = "";
  size_t length = 0;
  for (size_t i = 0; name(i) && length < sizeof names; i++)
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", name(i));
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.%s is \"%.60s\"; accepted: %s", field, given, names);
}

/* Sets the caller's predictor. The workers read it where it is. */
static hpar_status use_custom_predictor(hp_plan *plan, const hpar_predictor *given, hpar_error *error) {
  hpar_predictor custom;
  hpar_status status = hp_read_sized(&custom, sizeof custom, given, "hpar_predictor", "HPAR_PREDICTOR_INIT", error);
  if (status != HPAR_OK) return status;
  if (given->size < offsetof(hpar_predictor, partial_context))
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_predictor.size is %zu; accepted: HPAR_PREDICTOR_INIT",
                      given->size);
  if (!custom.predict)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.custom_predictor->predict is NULL; accepted: a function");
  plan->predictor = hp_custom_predictor(custom.partial_context);
  plan->predictor_name = custom.name ? custom.name : plan->predictor->name;
  plan->predictor_data = given;
  return HPAR_OK;
}

static hpar_status resolve_plan(hp_plan *plan, const hpar_study *study, hpar_error *error) {
  const hp_strategy *strategy = hp_strategy_named(study->strategy);
  if (!strategy) return no_name(error, "strategy", study->strategy, hpar_strategy_name);
  *plan = hp_strategy_plan(strategy);
  if (study->predictor && !(plan->predictor = hp_predictor_named(study->predictor)))
    return no_name(error, "predictor", study->predictor, hpar_predictor_name);
  if (study->mode_predictor && !(plan->mode_predictor = hp_mode_predictor_named(study->mode_predictor)))
    return no_name(error, "mode_predictor", study->mode_predictor, hpar_mode_predictor_name);
  plan->predictor_name = plan->predictor->name;
  plan->predictor_data = study->frequencies;
  if (study->custom_predictor) {
    hpar_status status = use_custom_predictor(plan, study->custom_predictor, error);
    if (status != HPAR_OK) return status;
  }
  int cut = study->cut_policy ? hp_cut_policy_named(study->cut_policy) : plan->cut;
  if (cut < 0) return no_name(error, "cut_policy", study->cut_policy, hpar_cut_policy_name);
  plan->cut = (uint8_t)cut;
  if (study->checkpoint_bytes) plan->checkpoint_bytes = study->checkpoint_bytes;
  return HPAR_OK;
}

static hpar_status resolve_pipeline(hp_pipeline_config *config, const hpar_study *study, bool bind, hpar_error *error) {
  if (study->pipeline.buffer_tokens > HP_MAX_BUFFER_TOKENS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.pipeline.buffer_tokens is %u; accepted: 0 to %d",
                      study->pipeline.buffer_tokens, HP_MAX_BUFFER_TOKENS);
  if (study->pipeline.batch_tokens > HP_MAX_BUFFER_TOKENS)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.pipeline.batch_tokens is %u; accepted: 0 to %d",
                      study->pipeline.batch_tokens, HP_MAX_BUFFER_TOKENS);
  *config = (hp_pipeline_config){.predictor = hp_pipeline_predictor_named(study->pipeline.predictor),
                                 .buffer_tokens = study->pipeline.buffer_tokens,
                                 .batch_tokens = study->pipeline.batch_tokens,
                                 .bind = bind};
  if (config->predictor >= HP_PIPELINE_PREDICTORS)
    return no_name(error, "pipeline.predictor", study->pipeline.predictor, hpar_pipeline_predictor_name);
  return HPAR_OK;
}
#endif

static hpar_status check_cuts(const hpar_study *study, hpar_error *error) {
  if (study->cut_count && !study->cuts)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.cuts is NULL and cut_count is %zu; accepted: an array",
                      study->cut_count);
  for (size_t i = 1; i < study->cut_count; i++)
    if (study->cuts[i] <= study->cuts[i - 1])
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "hpar_study.cuts[%zu] is %" PRIu64 " after %" PRIu64 "; accepted: ascending offsets", i,
                        study->cuts[i], study->cuts[i - 1]);
  return HPAR_OK;
}

static hpar_status check_reserved(const char *field, const uint64_t *reserved, size_t count, hpar_error *error) {
  for (size_t i = 0; i < count; i++)
    if (reserved[i])
      return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_study.%s[%zu] is set; accepted: zero", field, i);
  return HPAR_OK;
}

static hpar_status read_study(hpar_study *study, const hpar_study *given, hpar_error *error) {
  hpar_status status = hp_read_sized(study, sizeof *study, given, "hpar_study", "HPAR_STUDY_INIT", error);
  if (status == HPAR_OK) status = check_reserved("reserved", study->reserved, 4, error);
  if (status == HPAR_OK) status = check_reserved("pipeline.reserved", study->pipeline.reserved, 4, error);
  if (status == HPAR_OK && study->merge > HPAR_MERGE_TREE)
    status = hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "hpar_study.merge is %u; accepted: HPAR_MERGE_CHAIN, HPAR_MERGE_TREE", study->merge);
  return status == HPAR_OK ? check_cuts(study, error) : status;
}

#if HPAR_PARALLEL
static hpar_status resolve(hp_config *config, const hpar_options *o, hpar_error *error) {
  hpar_study study;
  hp_parallel_config *p = &config->parallel;
  hpar_status status = read_study(&study, o->study, error);
  if (status == HPAR_OK) status = resolve_plan(&p->plan, &study, error);
  if (status == HPAR_OK)
    status = resolve_pipeline(&config->pipeline, &study, o->parallel.affinity == HPAR_AFFINITY_CORES, error);
  if (status != HPAR_OK) return status;
  config->inspect = study.inspect;
  config->cuts = study.cut_count ? study.cuts : NULL;
  config->cut_count = study.cut_count;
  config->pipelined = study.pipelined;
  config->pipeline_threads = o->parallel.executor == HPAR_EXECUTOR_THREADS && o->threads != 1 ? 2 : 1;
  config->fed_at_finish |= study.pipelined;
  p->pipeline = config->pipeline;
  /* A strategy that audits its guesses does so at each chunk boundary in turn. */
  p->merges_as_tree = study.merge == HPAR_MERGE_TREE && !p->plan.strategy->at_chunk_boundary && !o->resources.callback;
  /* Composing logs uses the workers' engines, and so do their tokenizers. */
  p->pipelined_workers =
      study.pipelined_workers && o->parallel.executor != HPAR_EXECUTOR_CALLER && study.merge != HPAR_MERGE_TREE;
  p->cuts = config->cuts;
  p->cut_count = config->cut_count;
  return HPAR_OK;
}
#else
static hpar_status resolve(hp_config *config, const hpar_options *o, hpar_error *error) {
  hpar_study study;
  hpar_status status = read_study(&study, o->study, error);
  if (status != HPAR_OK) return status;
  config->inspect = study.inspect;
  config->cuts = study.cut_count ? study.cuts : NULL;
  config->cut_count = study.cut_count;
  if (!study.pipelined) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                    "hpar_study.pipelined: this library was built without the parallel parser");
}
#endif

hpar_status hpar_study_apply(hpar_study_target *target, const hpar_options *options) {
  if (!target || !options || !options->study) return HPAR_ERROR_ARGUMENT;
  return resolve(target->config, options, target->error);
}
