/* The options of the parallel parser, resolved. */

#include "platform/affinity.h"
#include "session/config.h"

static hp_pool_wait wait_of(hpar_wait_policy policy) {
  switch (policy) {
    case HPAR_WAIT_SPIN: return HP_POOL_SPIN;
    case HPAR_WAIT_SLEEP: return HP_POOL_SLEEP;
    default: return HP_POOL_ADAPTIVE;
  }
}

hpar_status hp_config_resolve_parallel(hp_config *config, const hpar_options *o, hpar_error *error) {
  (void)error;
  bool on_threads = o->parallel.executor == HPAR_EXECUTOR_THREADS;
  hp_parallel_config *p = &config->parallel;
  config->bind = on_threads && o->parallel.affinity == HPAR_AFFINITY_CORES;
  config->fed_at_finish = !on_threads && o->mode != HPAR_MODE_SEQUENTIAL;
  p->executor = (hp_executor){.kind = o->parallel.executor,
                              .run = o->parallel.run,
                              .context = o->parallel.run_context,
                              .threads = o->threads,
                              .wait = wait_of(o->parallel.wait),
                              .bind = config->bind};
  p->plan = hp_strategy_plan(&hp_exact_strategy);
  p->fragment = o->fragment;
  p->fits_threads_to_input = o->mode == HPAR_MODE_AUTO;
  p->chunk_size = o->parallel.chunk_size;
  p->chunks = o->parallel.chunks;
  if (config->bind || o->mode == HPAR_MODE_PARALLEL) hp_config_threads(config);
  return HPAR_OK;
}

unsigned hp_config_threads(hp_config *config) {
  unsigned *threads = &config->parallel.executor.threads;
  if (!*threads) *threads = hp_usable_cores();
  if (*threads > HPAR_MAX_THREADS) *threads = HPAR_MAX_THREADS;
  return *threads;
}
