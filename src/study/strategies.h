#ifndef HP_STUDY_STRATEGIES_H
#define HP_STUDY_STRATEGIES_H

/* The strategies of speculation. All strategies use the same builder and the same merger. The
 * merger checks every segment, so the tree is the sequential one for every strategy. A strategy is
 * a structure in strategies.c, and its own code is in a file of this folder. If the public
 * interface suffices, it is the structure that a plug-in would have. */

#include "speculation/strategy.h"

#include <hpar/study.h>

/* One of the two is NULL. */
typedef struct hp_named_strategy {
  const hp_strategy *own;
  const hpar_strategy *as_plugin;
} hp_named_strategy;

/* Returns the strategy of that name; NULL: there is none. The first strategy is the library's own,
 * for a NULL name. */
const hp_named_strategy *hp_strategy_named(const char *name);

#endif
