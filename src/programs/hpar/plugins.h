#ifndef HP_PROGRAMS_HPAR_PLUGINS_H
#define HP_PROGRAMS_HPAR_PLUGINS_H

/* Plug-in files (hpar_plugin), and their parts by name. A file stays loaded until the program
 * ends. */

#include "programs/hpar/options.h"

typedef enum hp_plugin_kind {
  HP_PLUGIN_STRATEGY,
  HP_PLUGIN_PREDICTOR,
  HP_PLUGIN_MODE_PREDICTOR,
  HP_PLUGIN_CUT_POLICY,
  HP_PLUGIN_DRIVER,
  HP_PLUGIN_KINDS
} hp_plugin_kind;

typedef struct hp_plugin_part {
  const char *name, *summary; /* the latter may be NULL */
  const char *file;
  const void *part; /* hpar_strategy, hpar_predictor, hpar_cut_policy or hpar_driver */
} hp_plugin_part;

/* Loads the file of each --plugin on the command line that is not loaded. Options before it may
 * therefore name its parts. Returns an exit code after a message, or -1. */
int hp_load_plugins(const hp_arguments *arguments);

/* Returns a part of all loaded files; past the last, one without `part`. */
hp_plugin_part hp_plugin_part_at(hp_plugin_kind kind, size_t index);

#endif
