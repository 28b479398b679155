#ifndef HP_DRIVERS_PARALLEL_SLICES_H
#define HP_DRIVERS_PARALLEL_SLICES_H

/* Decoding in slices on the threads of a team. */

#include "drivers/parallel/team.h"
#include "text/input.h"

/* Adds the means of `from` to decode `length` bytes to `executor`, if that may use more than one
 * thread. */
void hp_team_slice_executor(hp_team *team, const hp_executor *from, size_t length, hp_slice_executor *executor);

#endif
