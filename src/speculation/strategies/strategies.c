#include "speculation/strategies/strategies.h"

#include "speculation/cuts/cut.h"
#include "speculation/start/frequency.h"
#include "speculation/strategies/enumerate.h"
#include "speculation/strategies/hpar2013.h"

#include <hpar/study.h>

enum { CHECKPOINT_BYTES = 16 << 10 };

static const hp_strategy strategies[] = {
    {.name = "exact",
     .summary = "assumptions and replays, runs spliced in bulk, no guess of a chunk's start mode",
     .predictor = "lookback",
     .mode_predictor = "replay",
     .cut = "smart"},
    {.name = "temppa",
     .summary = "HPar 4.1: merging only; the data state, in body, one node after the other",
     .predictor = "data",
     .mode_predictor = "body",
     .cut = "before-tag",
     .one_by_one = true},
    {.name = "hpar2013",
     .summary = "HPar 4.2, the paper's scheme; its undetected errors are counted",
     .predictor = "data",
     .mode_predictor = "initial",
     .cut = "before-tag",
     .parse = hp_hpar2013_parse,
     .stops = hp_hpar2013_stops,
     .mode_after = hp_hpar2013_mode_after,
     .at_chunk_boundary = hp_hpar2013_at_chunk_boundary,
     .at_wrong_assumption = hp_hpar2013_at_wrong_assumption,
     .before_splice = hp_hpar2013_before_splice,
     .after_entry = hp_hpar2013_after_entry},
    {.name = "enumerate",
     .summary = "all states of the tokenizer at once, until they converge",
     .predictor = "data",
     .mode_predictor = "replay",
     .cut = "smart",
     .parse = hp_enumerate_parse},
    {.name = "oracle",
     .summary = "as exact, but the true start states are known: the upper bound",
     .predictor = "oracle",
     .mode_predictor = "oracle",
     .cut = "smart"},
};

const hp_strategy *hp_strategy_named(const char *name) {
  if (!name) return &strategies[0];
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
    if (!strcmp(strategies[i].name, name)) return &strategies[i];
  return NULL;
}

hp_plan hp_strategy_plan(const hp_strategy *strategy) {
  return (hp_plan){.strategy = strategy,
                   .predictor = hp_predictor_named(strategy->predictor),
                   .mode_predictor = hp_mode_predictor_named(strategy->mode_predictor),
                   .cut = (uint8_t)hp_cut_policy_named(strategy->cut),
                   .frequencies = &hp_default_frequencies,
                   .checkpoint_bytes = CHECKPOINT_BYTES};
}

const char *hpar_strategy_name(size_t index) {
  return index < sizeof strategies / sizeof *strategies ? strategies[index].name : NULL;
}

const char *hpar_strategy_summary(size_t index) {
  return index < sizeof strategies / sizeof *strategies ? strategies[index].summary : NULL;
}
