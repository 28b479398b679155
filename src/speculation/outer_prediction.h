#ifndef HP_SPECULATION_OUTER_PREDICTION_H
#define HP_SPECULATION_OUTER_PREDICTION_H

/* Prediction of the outer context after the merger runs a deferred token. A wrong prediction costs
 * time only. */

#include "base/target.h"
#include "speculation/dispositions.h"

/* Returns the mode that the outer context probably has after the token. */
HP_SHARED uint8_t hp_predicted_mode(uint8_t mode, const hp_token *token);
/* Returns the mode of the outer context after it adopts the builder's open elements. */
uint8_t hp_adopted_mode(const hp_builder *builder);
/* Changes the mode to the one after the token. Requires: the segment has not ended. */
void hp_predict_mode_after(hp_builder *builder, const hp_token *token, uint8_t *mode);
/* Changes the namespace to the one after the token. */
void hp_predict_namespace_after(hp_builder *builder, const hp_token *token, uint8_t *mode, uint8_t *ns);

#endif
