#include "drivers/sequential/sequential.h"

#include "tree/engine.h"

static void build_limited(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_engine_build_limited(engine, token);
}

/* Checks the limits after each token: a parse ends at the same tree however its input is fed. */
static void parse_limited(hp_engine *engine) {
  hp_loop_run(engine, (hp_loop_parts){.next = hp_loop_next, .build = build_limited, .checks_limits = true}, NULL);
}

void hp_sequential_finish(hp_engine *engine) {
  if (hp_engine_is_limited(engine))
    parse_limited(engine);
  else
    hp_engine_run_fast(engine, HP_TO_END);
}

void hp_sequential_continue(hp_engine *engine) {
  if (hp_engine_is_limited(engine))
    parse_limited(engine);
  else
    hp_engine_run_available(engine);
}
