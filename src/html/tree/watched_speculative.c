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

#include "html/tree/plain_run.inc"

hp_plain_run hp_speculative_watched_tokens(hp_builder *b, hp_token *t, const char *limit) {
  return run_plain_tokens(b, t, limit);
}
