/* Replaces config_parallel.c in a build without the parallel parser. */

#include "session/config.h"

hpar_status hp_config_resolve_parallel(hp_config *config, const hpar_options *o, hpar_error *error) {
  (void)config;
  if (o->mode < HPAR_MODE_PARALLEL && !o->parallel.affinity) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_UNSUPPORTED,
                    "hpar_options.%s: this library was built without the parallel parser",
                    o->parallel.affinity ? "parallel.affinity" : "mode");
}
