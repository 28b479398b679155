/* The pipelined parser: an engine with an exact builder, and a tokenizer that runs ahead of it. */

#include "study/pipelined/stages.h"

#include "platform/affinity.h"

static void serve(void *context, unsigned thread) {
  hp_stages *s = context;
  if (!hp_bind_thread(s->bind, thread)) atomic_store(&s->not_bound, true);
  hp_stages_serve(s);
}

void hp_parse_pipelined(hp_stages *s, hp_pool *pool, hp_engine *engine, const hp_request *request,
                        const hp_pipeline_config *config, hp_pipeline_counters *counters) {
  bool threads = pool && hp_pool_threads(pool) > 1;
  *counters = (hp_pipeline_counters){.threads = threads ? 2 : 1};
  /* Without separate parts the threads would take slabs alternately. In the next parse each thread
   * would write to memory that the other has written before. */
  bool divided =
      threads && request->length <= HP_MAX_APART && hp_range_divide(&request->document->range, 1, request->length);
  hp_stages_open(s, engine, request, config, !threads, 0, divided);
  s->bind = config->bind;
  atomic_store(&s->not_bound, false);
  s->has_events = request->trace;
  /* Scripts read names beside the tokenizer. */
  request->document->atoms.shared = threads && request->runs_scripts;
  if (threads) {
    hp_pool_start(pool, 2, serve, s);
    s->served = true;
  }
  hp_stages_run(s);
  hp_pipeline_abandon(s, pool);
  request->document->atoms.shared = false;
  hp_stages_count(s, counters);
  counters->not_bound = atomic_load(&s->not_bound);
}

void hp_pipeline_abandon(hp_stages *s, hp_pool *pool) {
  if (!s->served) return;
  hp_stages_stop(s);
  hp_pool_join(pool);
  s->served = false;
}
