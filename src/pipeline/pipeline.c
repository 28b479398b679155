/* The pipelined parser: a lane with an exact builder, and a tokenizer ahead of it. */

#include "pipeline/stages.h"

#include "sched/place.h"

static void serve(void *context, unsigned thread) {
  hp_stages *s = context;
  hp_place_thread(s->bind, thread);
  hp_stages_serve(s);
}

/* Not to be inlined where setjmp is: its locals live in registers. */
static __attribute__((noinline)) void run_to_end(hp_stages *s) {
  hp_lane *lane = s->lane;
  const hp_token *token;
  uint64_t tokens = 0;
  while ((token = hp_stages_next(s))->kind != HPAR_TOKEN_EOF) {
    tokens++;
    hp_exact_token(&lane->builder, token);
  }
  hp_exact_token(&lane->builder, token);
  lane->tokens += tokens;
}

void hp_parse_pipelined(hp_stages *s, hp_pool *pool, hp_lane *lane, const hp_task *task, const hpar_options *o,
                        hpar_stats *stats) {
  bool threads = pool && hp_pool_threads(pool) > 1;
  stats->mode = "pipelined";
  stats->threads = threads ? 2 : 1;
  hp_stages_open(s, lane, task, o, !threads);
  s->bind = o->bind;
  s->has_events = task->record;
  if (threads) {
    hp_pool_start(pool, 2, serve, s);
    s->served = true;
  }
  run_to_end(s);
  hp_pipeline_abandon(s, pool);
  hp_stages_count(s, stats);
}

void hp_pipeline_abandon(hp_stages *s, hp_pool *pool) {
  if (!s->served) return;
  hp_stages_stop(s);
  hp_pool_join(pool);
  s->served = false;
}
