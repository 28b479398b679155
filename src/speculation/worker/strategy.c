#include "speculation/worker/strategy.h"

#include "speculation/start/lookback.h"

enum { CHECKPOINT_BYTES = 16 << 10 };

const hp_mode_predictor hp_replay_predictor = {
    .name = "replay", .summary = "no guess at the start, only at what replayed tokens lead to", .after_replay = true};

const hp_strategy hp_exact_strategy = {
    .name = "exact",
    .summary = "assumptions and replays, runs spliced in bulk, no guess of a chunk's start mode",
    .predictor = &hp_lookback_predictor,
    .mode_predictor = &hp_replay_predictor,
    .cut = &hp_smart_cuts};

hp_plan hp_strategy_plan(const hp_strategy *strategy) {
  return (hp_plan){.strategy = strategy,
                   .strategy_name = strategy->name,
                   .predictor = strategy->predictor,
                   .predictor_name = strategy->predictor->name,
                   .mode_predictor = strategy->mode_predictor,
                   .mode_predictor_name = strategy->mode_predictor->name,
                   .cut = {.policy = strategy->cut, .name = strategy->cut->name},
                   .checkpoint_bytes = CHECKPOINT_BYTES};
}
