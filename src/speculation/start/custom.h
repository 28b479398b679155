#ifndef HP_SPECULATION_START_CUSTOM_H
#define HP_SPECULATION_START_CUSTOM_H

/* A predictor that the caller brings: hpar_options.own_predictor. */

#include "speculation/start/predict.h"

#include <hpar/predictor.h>

const hp_predictor *hp_predictor_for(const hpar_predictor *own);

#endif
