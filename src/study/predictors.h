#ifndef HP_STUDY_PREDICTORS_H
#define HP_STUDY_PREDICTORS_H

/* The predictors that a study can choose. The library's own are hp_lookback_predictor and
 * hp_replay_predictor. */

#include "speculation/strategy.h"

extern const hp_predictor hp_data_predictor, hp_oracle_predictor, hp_prescan_predictor;
extern const hp_mode_predictor hp_body_predictor, hp_initial_predictor, hp_mode_oracle_predictor;

/* Return the predictor of this name, or NULL. */
const hp_predictor *hp_predictor_named(const char *name);
const hp_mode_predictor *hp_mode_predictor_named(const char *name);

#endif
