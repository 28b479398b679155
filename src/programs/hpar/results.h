#ifndef HP_PROGRAMS_HPAR_RESULTS_H
#define HP_PROGRAMS_HPAR_RESULTS_H

/* The folder of a measurement: its results and a description of the machine. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hp_results {
  char path[3072];
  const char *commit, *suite; /* of what is measured: commit, and a line with its versions */
  int count;                  /* the command line after "hpar" */
  char **arguments;
  double load[3]; /* before the run */
  uint64_t start; /* in seconds, of a clock of its own */
  char began[32];
} hp_results;

/* Creates the folder `path`. If `path` is NULL, creates
 * results/<host>/<date>-<commit>/<experiment>, with "-2" and so on if that exists. Writes
 * machine.json and, if lstopo is installed, topology.xml. Returns false after a message, also
 * if the folder already holds results. */
bool hp_results_open(hp_results *results, const char *path, const char *experiment);

/* Completes machine.json at the end of the run. Returns false after a message. */
bool hp_results_close(hp_results *results, int exit_status);

/* Writes "<folder>/<name>" into `buffer`, and returns it. */
const char *hp_results_file(const hp_results *results, const char *name, char *buffer, size_t size);

#endif
