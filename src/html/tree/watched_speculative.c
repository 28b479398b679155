/* The loop of a speculative builder with a watch. */

#pragma GCC diagnostic ignored "-Wunused-function" /* speculative.c has the other rules */

#include "html/tree/context.h"
#include "html/tree/is_watched.h"
#include "html/tree/nodes.h"
#include "html/tree/parts.inc"
#include "html/tree/watched.h"

#include "html/tree/formatting.inc"

#include "html/tree/insert.inc"

#include "html/tree/fused.inc"

static void option_popped(hp_builder *b, hp_ref option) { (void)b, (void)option; }
static void selectedcontent_inserted(hp_builder *b, hp_ref content) { (void)b, (void)content; }

hp_plain_run hp_speculative_watched_tokens(hp_builder *b, hp_token *t, const char *limit) {
  hp_tokenizer *tokenizer = b->tokenizer;
  const char *at = tokenizer->at;
  fused_run run = {0, false};
  b->plain_limit = limit;
  if (at < limit && !b->foreign_base && may_fuse(b)) {
    run = run_fused(b, t, limit);
    at = run.has_token ? tokenizer->base + t->start : tokenizer->at;
    if (at >= b->plain_limit) return (hp_plain_run){run.tokens, HP_TOKEN_NEED_MORE, true, at};
  }
  int kind = run.has_token ? HPAR_TOKEN_START_TAG : hp_next_token_inside(tokenizer, t, b->top->name);
  return (hp_plain_run){run.tokens, kind, false, at};
}
