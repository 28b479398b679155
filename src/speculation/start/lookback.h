#ifndef HP_SPECULATION_START_LOOKBACK_H
#define HP_SPECULATION_START_LOOKBACK_H

#include "speculation/start/predict.h"

/* The predictor "lookback": the nearest place before the cut that decides in which state the tokenizer is there; the
 * names of the tags behind it, of which some stand in foreign content only; and how far the head reaches. */
void hp_predict_by_lookback(const struct hp_plan *plan, const hp_request *task, const struct hp_chunk_work *chunk,
                            hp_start_state *state);

#endif
