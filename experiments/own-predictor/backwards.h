#ifndef OWN_PREDICTOR_BACKWARDS_H
#define OWN_PREDICTOR_BACKWARDS_H

#include <hpar/predictor.h>

/* What the predictor may do, the same for all of its calls and changed by none of them: many run at once. */
typedef struct backwards_settings {
  size_t reach; /* bytes before the cut that are looked at */
} backwards_settings;

/* Looks back from the cut for what decides where it lies: the end or the beginning of a comment or of raw text, and the
 * nearest tag, in which it counts the quotes. `context` is a backwards_settings. */
void backwards_predict(void *context, const hpar_cut *cut, hpar_guess *guess);

#endif
