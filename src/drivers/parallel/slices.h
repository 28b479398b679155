#ifndef HP_DRIVERS_PARALLEL_SLICES_H
#define HP_DRIVERS_PARALLEL_SLICES_H

/* Decoding in slices on the threads of a team. */

#include "drivers/parallel/team.h"
#include "text/input.h"

/* Adds the means of `from` to decode the bytes to `executor`, if several threads save time. */
void hp_team_slice_executor(hp_team *team, const hp_executor *from, const char *bytes, size_t length,
                            hp_slice_executor *executor);

#endif
