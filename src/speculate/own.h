#ifndef HP_SPECULATE_OWN_H
#define HP_SPECULATE_OWN_H

/* A predictor that the caller brings: hpar_options.own_predictor. */

#include "speculate/predict.h"

#include <hpar/predictor.h>

const hp_predictor *hp_predictor_for(const hpar_predictor *own);

#endif
