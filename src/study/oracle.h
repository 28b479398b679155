#ifndef HP_STUDY_ORACLE_H
#define HP_STUDY_ORACLE_H

/* The oracle finds the true state at each cut by a sequential parse into a temporary document. It
 * is the upper bound for predictors. Its time is counted apart from the parse. */

#include "speculation/strategy.h"

extern const hp_truth hp_oracle;

#endif
