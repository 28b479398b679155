#ifndef HP_DRIVERS_PARALLEL_SPEED_H
#define HP_DRIVERS_PARALLEL_SPEED_H

/* The speeds of the threads of a team. They size the work ranges, and the parts that a thread takes
 * from another thread's range. No result depends on them. */

#include "drivers/parallel/team.h"
#include "platform/affinity.h"

/* Returns how many of the first `threads` threads save time. Threads of equal capacity
 * count together, from the last one on. `alone_ns` is the time of a parse by the first thread. */
unsigned hp_threads_that_save(const hp_processors *processors, unsigned threads, uint64_t alone_ns);
/* Returns how many of the threads save time in the decoding and the parse of a complete text.
 * Listed capacities may be quotas: such a processor pauses, and the merger waits for it at the end.
 * The threads are bound, and the first one has a measured speed. Otherwise all threads count. */
unsigned hp_speed_threads(hp_team *team, const hp_executor *executor, const char *text, size_t length,
                          unsigned threads);
/* Sets the speed of each thread: the capacity of its processor if the threads are bound, and the
 * measured speeds if the team has them. Requires: no thread has started. */
void hp_speed_set(hp_job *job);
/* Measures the speed of each thread at the end of a job. */
void hp_speed_measure(hp_job *job);

#endif
