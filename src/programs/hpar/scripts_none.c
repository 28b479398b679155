/* The program hpar: it has no script engine. */

#include "programs/hpar/process.h"
#include "programs/hpar/scripts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hp_enter_script_program(const char *command, int count, char **items) {
  char path[4096];
  if (!hp_find_program("hpar-scripts", path, sizeof path)) {
    hp_complain("--scripts run needs the program hpar-scripts; install Duktape (Debian: duktape-dev) and build again");
    return HP_EXIT_USAGE;
  }
  char **arguments = calloc((size_t)count + 3, sizeof *arguments);
  if (!arguments) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  arguments[0] = path;
  arguments[1] = (char *)(uintptr_t)command;
  memcpy(arguments + 2, items, (size_t)count * sizeof *items);
  execv(path, arguments);
  hp_complain("%s: cannot be executed: %s", path, strerror(errno));
  free(arguments);
  return HP_EXIT_FAILED;
}

/* hpar never reaches these functions. */
hpar_status hp_script_run_open(hp_script_run *run, const hp_script_settings *settings, hpar_options *options) {
  (void)run, (void)settings, (void)options;
  return HPAR_ERROR_UNSUPPORTED;
}

void hp_script_run_close(hp_script_run *run) { (void)run; }
