#ifndef HP_PROGRAMS_HPAR_FREQUENCIES_H
#define HP_PROGRAMS_HPAR_FREQUENCIES_H

/* A profile by hpar profile, for the predictor "frequency". */

#include "programs/hpar/options.h"

/* Reads the profile that the current option names into `study`. The profile stays valid until the
 * process ends, or until the next call. Returns -1, or an exit code after a message. */
int hp_take_profile(const hp_arguments *arguments, hpar_study *study);

#endif
