/* Replaces config_parallel.c in a build without the parallel parser. */

#include "session/config.h"

#include <hpar/study.h>

hpar_status hp_config_resolve_parallel(hp_config *config, const hpar_options *o, hpar_error *error) {
  (void)config;
  if (o->mode < HPAR_MODE_PARALLEL && !o->parallel.affinity) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                    "hpar_options.%s: this library was built without the parallel parser",
                    o->parallel.affinity ? "parallel.affinity" : "mode");
}

#define NONE(function)                 \
  const char *function(size_t index) { \
    (void)index;                       \
    return NULL;                       \
  }
NONE(hpar_strategy_name)
NONE(hpar_strategy_summary)
NONE(hpar_predictor_name)
NONE(hpar_predictor_summary)
NONE(hpar_mode_predictor_name)
NONE(hpar_mode_predictor_summary)
NONE(hpar_cut_policy_name)
NONE(hpar_cut_policy_summary)
NONE(hpar_pipeline_predictor_name)
NONE(hpar_pipeline_predictor_summary)
#undef NONE

hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                        size_t *wrong) {
  (void)wrong;
  return table && (rows || !count) ? HPAR_ERROR_UNSUPPORTED : HPAR_ERROR_ARGUMENT;
}

void hpar_frequency_table_destroy(hpar_frequency_table *table) { (void)table; }
