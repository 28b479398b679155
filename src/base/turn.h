#ifndef HP_BASE_TURN_H
#define HP_BASE_TURN_H

/* A turn is a place where the next step of a thread depends on what other threads have done, and
 * where the thread does not read the clock. Only experiments that decide which thread runs next
 * need to know these places (experiments/work-span, experiments/memory). They build the files that
 * have turns with HPAR_TURNS, and define the function. */
#if HPAR_TURNS
void hp_turn(void);
#else
static inline void hp_turn(void) {}
#endif

#endif
