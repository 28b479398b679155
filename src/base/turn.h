#ifndef HP_BASE_TURN_H
#define HP_BASE_TURN_H

/* A turn is a place where the next step of a thread depends on what other threads have done, and
 * where the thread does not read the clock. Only a simulation of threads
 * (experiments/work-span) needs to know these places. It builds the files that have turns with
 * HPAR_TURNS, and defines the function. */
#if HPAR_TURNS
void hp_turn(void);
#else
static inline void hp_turn(void) {}
#endif

#endif
