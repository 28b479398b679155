#ifndef HP_STUDY_CHOICES_H
#define HP_STUDY_CHOICES_H

/* What a study chooses by name: cut policies, predictors, strategies, an order of merging and
 * drivers. The function of a choice is in choices.c if it is short, and otherwise in a file of this
 * folder. */

#include "speculation/cut.h"
#include "speculation/strategy.h"

#include <hpar/study.h>

/*** cut policies, of which the library has the first ***/

enum {
  HP_CUT_SMART,
  HP_CUT_BEFORE_TAG,              /* HPar 4.2.1(a) */
  HP_CUT_AFTER_TAG,               /* as the prototype of HPar's authors */
  HP_CUT_EVEN,                    /* at equal distances, between characters */
  HP_CUT_BY_BYTES,                /* number of policies that need only bytes */
  HP_CUT_EXACT = HP_CUT_BY_BYTES, /* at a token boundary, by a sequential parse before */
  HP_CUT_POLICIES
};

extern const hp_cut_policy *const hp_cut_policies[HP_CUT_POLICIES];

/* These functions return the choice of this name, or NULL. */
const hp_cut_policy *hp_cut_policy_named(const char *name);

/*** predictors; the library's own are hp_lookback_predictor and hp_replay_predictor ***/

extern const hp_predictor hp_prescan_predictor;

const hp_predictor *hp_predictor_named(const char *name);
const hp_mode_predictor *hp_mode_predictor_named(const char *name);

/* The oracle finds the true state at each cut by a sequential parse into a temporary document. It
 * is the upper bound for predictors. Its time is counted apart from the parse. */
extern const hp_truth hp_oracle;

/*** strategies ***/

/* All strategies use the same builder and the same merger. The merger checks every segment, so the
 * tree is the sequential one for every strategy. If the public interface suffices, a strategy is
 * the structure that a plug-in would have. One of the two is NULL. */
typedef struct hp_named_strategy {
  const hp_strategy *own;
  const hpar_strategy *as_plugin;
} hp_named_strategy;

/* The first strategy is the library's own, for a NULL name. */
const hp_named_strategy *hp_strategy_named(const char *name);

/*** orders of merging ***/

/* The merge tree. The chunks after the first are the leaves. A node of level k stands for up to 2^k
 * adjacent chunks and composes the logs of its two halves. The thread that completes the second
 * half composes the node. Therefore the nodes of a level are composed in parallel. The first chunk
 * of its right half identifies a node. */
extern const struct hp_merge_order hp_merge_tree;

/*** drivers, which have the structure that a plug-in would have ***/

const hpar_driver *hp_driver_named(const char *name);

#endif
