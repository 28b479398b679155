#ifndef HP_SPECULATION_START_LOOKBACK_H
#define HP_SPECULATION_START_LOOKBACK_H

#include "base/target.h"
#include "speculation/start/predict.h"

/* The predictor "lookback". It uses the nearest place before the cut that determines the state, the
 * names of the tags after the cut, some of which occur in foreign content only, and the end of the
 * head. */
HP_SHARED extern const hp_predictor hp_lookback_predictor;

#endif
