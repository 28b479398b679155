#ifndef HP_SPECULATION_START_CUSTOM_H
#define HP_SPECULATION_START_CUSTOM_H

/* The predictor of hpar_study.custom_predictor. */

#include "speculation/start/predict.h"

#include <hpar/study.h>

/* Returns the predictor that calls `custom`. */
const hp_predictor *hp_custom_predictor(const hpar_predictor *custom);

#endif
