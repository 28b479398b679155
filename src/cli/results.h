#ifndef HP_CLI_RESULTS_H
#define HP_CLI_RESULTS_H

/* Where measurements are filed: a folder with what they depend on beside them. */

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

/* Makes the folder `path`, or, where that is NULL, results/<host>/<date>-<commit>/<experiment>, "-2" and so on after it
 * while that exists, and puts machine.json and, where lstopo is installed, topology.xml into it. False after a
 * complaint; a folder that holds results already is one. */
bool hp_results_open(hp_results *results, const char *path, const char *experiment);

/* Completes machine.json with what only the end of the run tells. False after a complaint. */
bool hp_results_close(hp_results *results, int exit_status);

/* "<folder>/<name>" in `buffer`. */
const char *hp_results_file(const hp_results *results, const char *name, char *buffer, size_t size);

#endif
