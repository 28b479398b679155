#include "study/strategies.h"

#include "study/cuts.h"
#include "study/enumerate.h"
#include "study/hpar2013.h"
#include "study/predictors.h"

#include <hpar/study.h>
#include <string.h>

/* The audit of this strategy runs on the merger's thread, so a plug-in could not do the same. */
static const hp_strategy hpar2013 = {.name = "hpar2013",
                                     .summary = "HPar 4.2, the paper's scheme; its undetected errors are counted",
                                     .predictor = &hp_data_predictor,
                                     .mode_predictor = &hp_initial_predictor,
                                     .cut = &hp_cuts_before_tags,
                                     .parse = hp_hpar2013_parse,
                                     .stops = hp_hpar2013_stops,
                                     .mode_after = hp_hpar2013_mode_after};

static const hpar_strategy temppa = {HPAR_STRATEGY_INIT,
                                     .name = "temppa",
                                     .summary =
                                         "HPar 4.1: merging only; the data state, in body, one node after the other",
                                     .predictor_name = "data",
                                     .mode_predictor_name = "body",
                                     .cut_policy_name = "before-tag",
                                     .one_by_one = true};

static const hpar_strategy enumerate = {HPAR_STRATEGY_INIT, .name = "enumerate",
                                        .summary = "all states of the tokenizer at once, until they converge",
                                        .predictor_name = "data", .starts = hp_enumerate_starts};

static const hpar_strategy oracle = {HPAR_STRATEGY_INIT, .name = "oracle",
                                     .summary = "as exact, but the true start states are known: the upper bound",
                                     .predictor_name = "oracle", .mode_predictor_name = "oracle"};

static const hp_named_strategy strategies[] = {
    {&hp_exact_strategy, NULL}, {NULL, &temppa}, {&hpar2013, NULL}, {NULL, &enumerate}, {NULL, &oracle}};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

const hp_named_strategy *hp_strategy_named(const char *name) {
  for (size_t i = 0; i < STRATEGIES; i++)
    if (!name || !strcmp(hpar_strategy_name(i), name)) return &strategies[i];
  return NULL;
}

const char *hpar_strategy_name(size_t index) {
  if (index >= STRATEGIES) return NULL;
  const hp_named_strategy *named = &strategies[index];
  return named->own ? named->own->name : named->as_plugin->name;
}

const char *hpar_strategy_summary(size_t index) {
  if (index >= STRATEGIES) return NULL;
  const hp_named_strategy *named = &strategies[index];
  return named->own ? named->own->summary : named->as_plugin->summary;
}
