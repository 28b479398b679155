#ifndef HP_SPECULATION_STRATEGIES_STRATEGIES_H
#define HP_SPECULATION_STRATEGIES_STRATEGIES_H

/* The strategies of speculation. All strategies use the same builder and the same merger. The
 * merger checks every segment, so the tree is the sequential one for every strategy. A strategy is
 * a row of the table in strategies.c. Its own code is in a file of this folder. */

#include "speculation/worker/strategy.h"

/* Returns the strategy of that name; NULL: there is none. The first strategy is the default, for a
 * NULL name. */
const hp_strategy *hp_strategy_named(const char *name);
/* Returns the strategy's own plan: its predictors, its cut policy and the defaults of the rest. */
hp_plan hp_strategy_plan(const hp_strategy *strategy);

#endif
