#ifndef HP_TREE_WATCHED_H
#define HP_TREE_WATCHED_H

/* Loops for builders with a watch (tree/builder.h). They have files of their own, so that the
 * loops of other builders do not change. */

#include "tree/engine.h"

/* Processes the tokens that begin before `near`. `is_complete`: all input is there. Requires: the
 * builder takes no token slowly and builds no fragment. */
hp_loop_end hp_exact_run_watched(hp_engine *engine, const char *near, bool is_complete);

/* Builds the next plain tokens that begin before `limit`, as hp_speculative_plain_tokens does. */
hp_plain_run hp_speculative_watched_tokens(hp_builder *builder, hp_token *token, const char *limit);

#endif
