#ifndef HP_STUDY_CUSTOM_H
#define HP_STUDY_CUSTOM_H

/* The predictor of hpar_study.custom_predictor. */

#include "speculation/start/predict.h"

#include <hpar/study.h>

/* Returns the predictor that calls the hpar_predictor which is its data. */
const hp_predictor *hp_custom_predictor(bool partial_context);

#endif
