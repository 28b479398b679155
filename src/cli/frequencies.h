#ifndef HP_CLI_FREQUENCIES_H
#define HP_CLI_FREQUENCIES_H

/* A profile by hpar profile, for the predictor "frequency". */

#include "cli/options.h"

/* Takes the figures of the file that the current option names into `options`; they stay until the process ends, or the
 * next file is taken. An exit code after a complaint, or -1. */
int hp_take_profile(const hp_arguments *arguments, hpar_options *options);

#endif
