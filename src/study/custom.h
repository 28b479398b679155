#ifndef HP_STUDY_CUSTOM_H
#define HP_STUDY_CUSTOM_H

/* The plug-ins of hpar_study: predictors, cut policies, strategies and drivers of the caller.
 * Nothing that they return is trusted. The library moves cuts into the text and ignores guesses
 * that no parser can have, and the merger checks the rest. */

#include "base/call.h"
#include "speculation/strategy.h"

#include <hpar/study.h>

/* These set a part of the plan to the caller's. `field` names it in messages. */
hpar_status hp_use_custom_predictor(hp_plan *plan, const hpar_predictor *given, const char *field, hpar_error *error);
hpar_status hp_use_custom_mode_predictor(hp_plan *plan, const hpar_predictor *given, const char *field,
                                         hpar_error *error);
hpar_status hp_use_custom_cut_policy(hp_plan *plan, const hpar_cut_policy *given, const char *field, hpar_error *error);
/* Checks the driver, and sets `*threads` to those that it can use. */
hpar_status hp_use_custom_driver(const hpar_driver *given, unsigned *threads, hpar_error *error);
/* Copies the strategy to `*part`, and sets it alone, without what it brings. */
hpar_status hp_use_custom_strategy(hp_plan *plan, hpar_strategy *part, const hpar_strategy *given, hpar_error *error);

#endif
