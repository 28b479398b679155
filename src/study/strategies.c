#include "study/strategies.h"

#include "speculation/cuts/cut.h"
#include "speculation/start/lookback.h"
#include "study/enumerate.h"
#include "study/hpar2013.h"
#include "study/predictors.h"

#include <hpar/study.h>
#include <string.h>

static const hp_strategy temppa = {.name = "temppa",
                                   .summary =
                                       "HPar 4.1: merging only; the data state, in body, one node after the other",
                                   .predictor = &hp_data_predictor,
                                   .mode_predictor = &hp_body_predictor,
                                   .cut = HP_CUT_BEFORE_TAG,
                                   .one_by_one = true};

static const hp_strategy hpar2013 = {.name = "hpar2013",
                                     .summary = "HPar 4.2, the paper's scheme; its undetected errors are counted",
                                     .predictor = &hp_data_predictor,
                                     .mode_predictor = &hp_initial_predictor,
                                     .cut = HP_CUT_BEFORE_TAG,
                                     .parse = hp_hpar2013_parse,
                                     .stops = hp_hpar2013_stops,
                                     .mode_after = hp_hpar2013_mode_after,
                                     .at_chunk_boundary = hp_hpar2013_at_chunk_boundary,
                                     .at_wrong_assumption = hp_hpar2013_at_wrong_assumption,
                                     .before_splice = hp_hpar2013_before_splice,
                                     .after_entry = hp_hpar2013_after_entry};

static const hp_strategy enumerate = {.name = "enumerate",
                                      .summary = "all states of the tokenizer at once, until they converge",
                                      .predictor = &hp_data_predictor,
                                      .mode_predictor = &hp_replay_predictor,
                                      .cut = HP_CUT_SMART,
                                      .parse = hp_enumerate_parse};

static const hp_strategy oracle = {.name = "oracle",
                                   .summary = "as exact, but the true start states are known: the upper bound",
                                   .predictor = &hp_oracle_predictor,
                                   .mode_predictor = &hp_mode_oracle_predictor,
                                   .cut = HP_CUT_SMART};

static const hp_strategy *const strategies[] = {&hp_exact_strategy, &temppa, &hpar2013, &enumerate, &oracle};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

const hp_strategy *hp_strategy_named(const char *name) {
  if (!name) return &hp_exact_strategy;
  for (size_t i = 0; i < STRATEGIES; i++)
    if (!strcmp(strategies[i]->name, name)) return strategies[i];
  return NULL;
}

const char *hpar_strategy_name(size_t index) { return index < STRATEGIES ? strategies[index]->name : NULL; }

const char *hpar_strategy_summary(size_t index) { return index < STRATEGIES ? strategies[index]->summary : NULL; }
