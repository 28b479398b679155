#ifndef HP_PROGRAMS_HPAR_SCRIPTS_H
#define HP_PROGRAMS_HPAR_SCRIPTS_H

/* The option --scripts run. The program hpar has no script engine: it executes hpar-scripts, the
 * same program with one. hpar-scripts parses each page in a child process with limits of
 * processor time and memory. */

#include "programs/hpar/cli.h"
#include "programs/hpar/options.h"

enum { HP_OPTION_SCRIPTS = 1100, HP_OPTION_SCRIPT_TIME, HP_OPTION_SCRIPT_MEMORY };
#define HP_SCRIPT_OPTIONS                                                                                        \
  {HP_OPTION_SCRIPTS, "scripts", "off|run", "run: run the classic inline scripts of FILE with Duktape (off)"},   \
      {HP_OPTION_SCRIPT_TIME, "script-time", "SECONDS",                                                          \
       "with --scripts run: end a parse that takes more processor time\nwith its scripts (10)"},                 \
  {                                                                                                              \
    HP_OPTION_SCRIPT_MEMORY, "script-memory", "MB",                                                              \
        "with --scripts run: the memory of the process that parses FILE\n(1024); its scripts can use half of it" \
  }

typedef struct hp_script_settings {
  bool run;
  uint64_t seconds, megabytes;
} hp_script_settings;

#define HP_SCRIPT_SETTINGS_INIT .seconds = 10, .megabytes = 1024

/* Applies one of these options. Returns an exit code, or -1 to continue. */
int hp_take_scripts(const hp_arguments *arguments, int id, hp_script_settings *settings);

/* Continues in hpar-scripts with the same arguments, unless this is hpar-scripts: then it returns
 * -1. Returns an exit code after a message if there is no hpar-scripts. */
int hp_enter_script_program(const char *command, int count, char **items);

/* Calls `function` in a child process with limits, and returns its exit code. If a signal ends the
 * child, the function prints a message with the path and returns HP_EXIT_FAILED. */
int hp_run_in_child(const char *path, const hp_script_settings *settings, int (*function)(void *argument),
                    void *argument);

/* The scripts of one parse. Errors refer to `path` and to lines of `bytes`, which may grow during
 * the parse. */
typedef struct hp_script_run {
  const char *path, *bytes;
  size_t length;
  bool quiet; /* errors are only counted */
  size_t scripts, failed;
  void *engine;
} hp_script_run;

/* Creates the engine, sets it in the options, and begins the limit of processor time.
 * HPAR_ERROR_MEMORY. */
hpar_status hp_script_run_open(hp_script_run *run, const hp_script_settings *settings, hpar_options *options);
/* Sets the counts and destroys the engine. Prints the number of errors unless `quiet` is set. */
void hp_script_run_close(hp_script_run *run);

#endif
