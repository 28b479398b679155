#ifndef HP_PROGRAMS_HPAR_FEEDER_H
#define HP_PROGRAMS_HPAR_FEEDER_H

/* Feeds a rewriter from pieces of a file. While the pieces arrive quickly, it collects them for
 * several threads. The first bytes leave at once. */

#include "programs/hpar/cli.h"

#include <hpar/rewrite.h>

typedef struct hp_feeder {
  hpar_rewriter *rewriter;
  hp_text ahead;
  size_t most_ahead;
} hp_feeder;

/* Begins a file, with the memory of the previous one. */
void hp_feeder_begin(hp_feeder *feeder, hpar_rewriter *rewriter);
hpar_status hp_feeder_take(hp_feeder *feeder, const char *bytes, size_t length);
/* Feeds the pieces that wait. */
hpar_status hp_feeder_flush(hp_feeder *feeder);
void hp_feeder_free(hp_feeder *feeder);

#endif
