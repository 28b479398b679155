/* The loop of an exact builder with a watch. */

#pragma GCC diagnostic ignored "-Wunused-function" /* exact.c has the other rules */

#include "tree/engine_loop.h"
#include "tree/is_watched.h"
#include "tree/no_context.h"
#include "tree/nodes.h"
#include "tree/parts.inc"
#include "tree/watched.h"

#include "tree/formatting.inc"

#include "tree/insert.inc"

#include "tree/fused.inc"
#include "tree/selectedcontent.inc"

hp_loop_end hp_exact_run_watched(hp_engine *engine, const char *near, bool is_complete) {
  hp_builder *b = &engine->builder;
  hp_tokenizer *t = &engine->tokenizer;
  hp_token token;
  while (t->at < near) {
    fused_run run = {0, false};
    if (may_fuse(b)) {
      run = run_fused(b, &token, near);
      engine->tokens += run.tokens;
      if (!run.has_token && t->at >= near) break;
    }
    int kind = run.has_token ? HPAR_TOKEN_START_TAG : hp_next_token_inside(t, &token, b->top->name);
    if (!is_complete && __builtin_expect(kind == HP_TOKEN_NEED_MORE, 0)) {
      engine->retry = hp_retry(t);
      return HP_LOOP_NEEDS_INPUT;
    }
    bool plain = b->mode == HP_IN_BODY && current(b)->ns == HPAR_NAMESPACE_HTML && !b->ignore_lf;
    if (__builtin_expect(plain, 1))
      in_body(b, &token);
    else
      take_token(b, &token);
    if (kind == HPAR_TOKEN_EOF) return HP_LOOP_ENDED;
    engine->tokens++;
  }
  return HP_LOOP_STOPPED;
}
