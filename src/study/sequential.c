/* The names and tables of a study in a build without the parallel parser: there are none. */

#include <hpar/study.h>

#if !HPAR_PARALLEL
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
NONE(hpar_driver_name)
NONE(hpar_driver_summary)
#undef NONE

hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                        size_t *wrong) {
  (void)wrong;
  return table && (rows || !count) ? HPAR_ERROR_UNSUPPORTED : HPAR_ERROR_ARGUMENT;
}

void hpar_frequency_table_destroy(hpar_frequency_table *table) { (void)table; }
#endif
