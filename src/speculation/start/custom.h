#ifndef HP_SPECULATION_START_CUSTOM_H
#define HP_SPECULATION_START_CUSTOM_H

/* The predictor of hpar_options.experiment.custom_predictor. */

#include "speculation/start/predict.h"

#include <hpar/predictor.h>

const hp_predictor *hp_predictor_for(const hpar_predictor *custom);

#endif
