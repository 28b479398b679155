#ifndef HP_DRIVERS_SEQUENTIAL_SEQUENTIAL_H
#define HP_DRIVERS_SEQUENTIAL_SEQUENTIAL_H

/* The sequential parser: one engine on the calling thread. Failures and limits unwind through the
 * engine. */

#include "tree/engine.h"

/* Parses to the end of the input. Requires: all input is there. */
void hp_sequential_finish(hp_engine *engine);

/* Parses all complete tokens of the input that is there. More input must come. */
void hp_sequential_continue(hp_engine *engine);

#endif
