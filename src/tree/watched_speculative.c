/* The loop of a speculative builder with a watch. */

#pragma GCC diagnostic ignored "-Wunused-function" /* speculative.c has the other rules */

#include "tree/context.h"
#include "tree/is_watched.h"
#include "tree/nodes.h"
#include "tree/parts.inc"
#include "tree/watched.h"

#include "tree/formatting.inc"

#include "tree/insert.inc"

#include "tree/fused.inc"

#include "tree/plain_run.inc"

hp_plain_run hp_speculative_watched_tokens(hp_builder *b, hp_token *t, const char *limit) {
  return run_plain_tokens(b, t, limit);
}
