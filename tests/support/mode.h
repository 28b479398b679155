#ifndef MODE_H
#define MODE_H

/* The parsers that tests compare: one for each hpar_mode, and the pipelined one of a study. */

#include <hpar/study.h>

enum { MODE_PIPELINED = HPAR_MODE_PARALLEL + 1 };

/* Chooses a parser: an hpar_mode or MODE_PIPELINED. The options keep the address of the study. */
static inline void mode_choose(hpar_options *options, hpar_study *study, int mode) {
  study->driver = mode == MODE_PIPELINED ? "pipelined" : NULL;
  options->mode = study->driver ? HPAR_MODE_PARALLEL : (hpar_mode)mode;
  options->study = study;
}

#endif
