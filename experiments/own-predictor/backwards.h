#ifndef OWN_PREDICTOR_BACKWARDS_H
#define OWN_PREDICTOR_BACKWARDS_H

#include <hpar/study.h>

/* Settings of the predictor. No call changes them, because calls run at once. */
typedef struct backwards_settings {
  size_t reach; /* bytes before the cut that the predictor reads */
} backwards_settings;

/* Searches back from the cut for the end or start of a comment or of raw text, and for the nearest
 * tag, in which it counts the quotes. `context` is a backwards_settings. */
void backwards_predict(const hpar_cut *cut, hpar_guess *guess, void *context);

#endif
