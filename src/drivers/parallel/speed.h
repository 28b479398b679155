#ifndef HP_DRIVERS_PARALLEL_SPEED_H
#define HP_DRIVERS_PARALLEL_SPEED_H

/* The speeds of the threads of a team. They size the work ranges, and the parts that a thread takes
 * from another thread's range. No result depends on them. */

#include "drivers/parallel/team.h"

/* Sets the speed of each thread: the capacity of its processor if the threads are bound, and the
 * measured speeds if the team has them. Requires: no thread has started. */
void hp_speed_set(hp_job *job);
/* Measures the speed of each thread at the end of a job. */
void hp_speed_measure(hp_job *job);

#endif
