#ifndef TESTS_SUPPORT_GROWTH_H
#define TESTS_SUPPORT_GROWTH_H

/* Checks that work grows in proportion to its size. The measure is the CPU time of the calling
 * thread, the minimum of several runs. Other processes share caches and cores, so they can only
 * raise the times. A measurement therefore alternates both sizes, and repeats with pauses until the
 * ratio is below its bound. Only work that grows too fast exceeds the bound in all rounds. */

#include <stdbool.h>

/* Runs the work of the given size, 0 (small) or 1 (four times as much). Returns the CPU seconds
 * of the measured part. */
typedef double (*growth_run)(void *context, int size);

enum { GROWTH_FACTOR = 4, GROWTH_BOUND = 7 }; /* Quadratic work grows 16 times. */

/* Returns whether four times as much work takes less than `bound` times the CPU time. Prints
 * both times if not, or if the environment has HPAR_VERBOSE. */
bool growth_is_below(double bound, const char *name, growth_run run, void *context);

/* Returns the CPU seconds that the calling thread has used. */
double growth_thread_seconds(void);

/* Returns false, and prints why, in builds whose times have no meaning: sanitizers, and
 * HPAR_UNTIMED. */
bool growth_can_be_measured(void);

#endif
