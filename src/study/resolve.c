/* hpar_options.study, resolved. */

#include "base/call.h"
#include "study/state.h"
#if HPAR_PARALLEL
#include "study/choices.h"
#include "study/convergence.h"
#include "study/custom.h"
#include "study/driven.h"
#include "study/judge.h"
#include "study/pipelined/driver.h"
#include "study/pipelined/ring.h"
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

static hpar_status name_predictor(hp_plan *plan, const char *name, const char *field, hpar_error *error) {
  const hp_predictor *predictor = hp_predictor_named(name);
  if (!predictor) return no_name(error, field, name, hpar_predictor_name);
  plan->predictor = predictor;
  plan->predictor_name = predictor->name;
  plan->predictor_data = NULL;
  return HPAR_OK;
}

static hpar_status name_mode_predictor(hp_plan *plan, const char *name, const char *field, hpar_error *error) {
  const hp_mode_predictor *predictor = hp_mode_predictor_named(name);
  if (!predictor) return no_name(error, field, name, hpar_mode_predictor_name);
  plan->mode_predictor = predictor;
  plan->mode_predictor_name = predictor->name;
  plan->mode_data = NULL;
  return HPAR_OK;
}

static hpar_status name_cut_policy(hp_plan *plan, const char *name, const char *field, hpar_error *error) {
  const hp_cut_policy *policy = hp_cut_policy_named(name);
  if (!policy) return no_name(error, field, name, hpar_cut_policy_name);
  plan->cut = (hp_cut_choice){.policy = policy, .name = policy->name};
  return HPAR_OK;
}

/* Sets a part of the plan to the caller's, or else to the library's of that name, or else keeps
 * it. */
#define CHOOSE(kind, custom, custom_field, name, name_field)          \
  ((custom) ? hp_use_custom_##kind(plan, custom, custom_field, error) \
   : (name) ? name_##kind(plan, name, name_field, error)              \
            : HPAR_OK)

static hpar_status resolve_strategy(hp_plan *plan, const hpar_study *study, hpar_error *error) {
  const hp_named_strategy *named = hp_strategy_named(study->strategy);
  if (!named) return no_name(error, "strategy", study->strategy, hpar_strategy_name);
  const hpar_strategy *custom = study->custom_strategy ? study->custom_strategy : named->as_plugin;
  *plan = hp_strategy_plan(custom ? &hp_exact_strategy : named->own);
  plan->truth = &hp_oracle;
  if (!custom) return HPAR_OK;
  hpar_strategy s;
  hpar_status status = hp_use_custom_strategy(plan, &s, custom, error);
  if (status == HPAR_OK)
    status = CHOOSE(predictor, s.predictor, "custom_strategy->predictor", s.predictor_name,
                    "custom_strategy->predictor_name");
  if (status == HPAR_OK)
    status = CHOOSE(mode_predictor, s.mode_predictor, "custom_strategy->mode_predictor", s.mode_predictor_name,
                    "custom_strategy->mode_predictor_name");
  if (status == HPAR_OK)
    status = CHOOSE(cut_policy, s.cut_policy, "custom_strategy->cut_policy", s.cut_policy_name,
                    "custom_strategy->cut_policy_name");
  plan->strategy_is_callers = study->custom_strategy && plan->strategy_data;
  return status;
}

static hpar_status resolve_plan(hp_plan *plan, const hpar_study *study, hpar_error *error) {
  hpar_status status = resolve_strategy(plan, study, error);
  if (status == HPAR_OK)
    status = CHOOSE(predictor, study->custom_predictor, "custom_predictor", study->predictor, "predictor");
  if (status == HPAR_OK)
    status = CHOOSE(mode_predictor, study->custom_mode_predictor, "custom_mode_predictor", study->mode_predictor,
                    "mode_predictor");
  if (status == HPAR_OK)
    status = CHOOSE(cut_policy, study->custom_cut_policy, "custom_cut_policy", study->cut_policy, "cut_policy");
  if (!plan->predictor_data) plan->predictor_data = study->frequencies;
  if (study->checkpoint_bytes) plan->checkpoint_bytes = study->checkpoint_bytes;
  return status;
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

static hpar_status resolve_driver(hp_config *config, const hpar_study *study, const hpar_options *o,
                                  hpar_error *error) {
  const hpar_driver *driver = study->custom_driver;
  unsigned threads = 0;
  if (driver) {
    hpar_status status = hp_use_custom_driver(driver, &threads, error);
    if (status != HPAR_OK) return status;
  } else if (study->driver) {
    driver = hp_driver_named(study->driver);
    if (!driver) return no_name(error, "driver", study->driver, hpar_driver_name);
    threads = driver->threads;
  }
  if (!driver) return HPAR_OK;
  if (o->parallel.executor != HPAR_EXECUTOR_THREADS || !threads) threads = 1;
  if (o->threads && o->threads < threads) threads = o->threads;
  config->other = &hp_study_driver;
  config->other_data = driver;
  config->other_threads = threads < HPAR_MAX_THREADS ? threads : HPAR_MAX_THREADS;
  config->fed_at_finish = true;
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

/*** inspection ***/

static hp_trace *begin_record(hp_session *session, uint64_t begin) {
  hp_study_state *state = hp_study_state_of(session);
  if (!state) return NULL;
  hp_record_open(&state->record, begin);
  return &state->record.trace;
}

static hp_request request_of(const hp_config *config, hpar_document *document) {
  return (hp_request){.document = document,
                      .text = document->input.bytes,
                      .length = document->input.length,
                      .scripting = config->scripting};
}

static hpar_status complete_record(hp_session *session, const hp_config *config, hpar_document *document) {
  hp_study_state *state = session->study;
  const hp_request request = request_of(config, document);
  return hp_record_complete(&state->record, &request, config->fragment);
}

static const hp_inspector by_record = {begin_record, complete_record};

#if HPAR_PARALLEL
static hpar_status complete_with_convergence(hp_session *session, const hp_config *config, hpar_document *document) {
  hp_study_state *state = session->study;
  const hp_request request = request_of(config, document);
  hpar_status status = complete_record(session, config, document);
  return status == HPAR_OK ? hp_record_convergence(&state->record, &request) : status;
}

static const hp_inspector with_convergence = {begin_record, complete_with_convergence};
#endif

static void resolve_reading(hp_config *config, const hpar_study *study) {
  if (study->inspect || study->converge) config->inspection = &by_record;
#if HPAR_PARALLEL
  if (study->converge) config->inspection = &with_convergence;
#endif
  config->cuts = study->cut_count ? study->cuts : NULL;
  config->cuts_field = "hpar_study.cuts";
  config->cut_count = study->cut_count;
}

#if HPAR_PARALLEL
static hpar_status resolve(hp_config *config, const hpar_options *o, hpar_error *error) {
  hpar_study study;
  hp_parallel_config *p = &config->parallel;
  hpar_status status = read_study(&study, o->study, error);
  if (status == HPAR_OK) status = resolve_plan(&p->plan, &study, error);
  hp_pipeline_config pipeline;
  if (status == HPAR_OK)
    status = resolve_pipeline(&pipeline, &study, o->parallel.affinity == HPAR_AFFINITY_CORES, error);
  if (status == HPAR_OK) status = resolve_driver(config, &study, o, error);
  if (status != HPAR_OK) return status;
  config->other_options = p->pair_options = hp_pack_pipeline(&pipeline);
  resolve_reading(config, &study);
  if (config->inspection) p->trace = &hp_job_record;
  p->judge = hp_judge_of(p->plan.strategy);
  /* A strategy that audits its guesses does so at each chunk boundary in turn. */
  if (study.merge == HPAR_MERGE_TREE && !p->judge->at_chunk_boundary && !o->resources.callback)
    p->order = &hp_merge_tree;
  /* Composing logs uses the workers' engines, and so do their tokenizers. */
  if (study.pipelined_workers && o->parallel.executor != HPAR_EXECUTOR_CALLER && study.merge != HPAR_MERGE_TREE)
    p->pairs = &hp_pipelined_pairs;
  p->cuts = config->cuts;
  p->cut_count = config->cut_count;
  return HPAR_OK;
}
#else
static hpar_status resolve(hp_config *config, const hpar_options *o, hpar_error *error) {
  hpar_study study;
  hpar_status status = read_study(&study, o->study, error);
  if (status != HPAR_OK) return status;
  resolve_reading(config, &study);
  if (!study.driver && !study.custom_driver) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                    "hpar_study.driver: this library was built without the parallel parser");
}
#endif

hpar_status hpar_study_apply(hpar_study_target *target, const hpar_options *options) {
  if (!target || !options || !options->study) return HPAR_ERROR_ARGUMENT;
  return resolve(target->config, options, target->error);
}
