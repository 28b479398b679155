#ifndef HP_SESSION_CONFIG_H
#define HP_SESSION_CONFIG_H

/* The resolved form of hpar_options. It decides mode, thread count, executor, strategy, cut policy
 * and limits once per call. The modules below the session get values from it, or the part of it
 * that they declare. */

#include "base/call.h"
#include "script/scripts.h"
#include "text/encoding/encoding.h"
#include "tree/engine.h"
#if HPAR_PARALLEL
#include "drivers/parallel/config.h"
#endif

#include <hpar/parse.h>

typedef struct hp_config {
  hpar_mode mode;
  const hp_encoding *encoding; /* the encoding that the transport declares; NULL: none */
  const char *fragment;        /* the context element; NULL: a document */
  bool scripting, copy_input, source_offsets, decodes_values, by_jemalloc;
  bool bind;          /* bind the calling thread and the pool's threads to processors */
  bool fed_at_finish; /* the mode or the executor needs the whole input */
  size_t max_errors;
  hp_script_config script;
  hpar_limits limits;
  hpar_resource_options resources;
  const uint64_t *cuts;   /* forced cuts, ascending */
  const char *cuts_field; /* the caller's name for them, in errors */
  size_t cut_count;
  const struct hp_inspector *inspection; /* of a study; NULL: none */
  /* A parser of whole texts that a study brings. It parses, whatever `mode` is. NULL: none */
  const struct hp_other_driver *other;
  const void *other_data; /* of that parser */
#if HPAR_PARALLEL
  hp_parallel_config parallel;
  hp_part_options other_options;
  unsigned other_threads;
#endif
} hp_config;

/* Reads the options; NULL: the defaults. The configuration borrows their pointers. Requires: the
 * calling thread is not bound yet, because the default thread count is that of its usable
 * processors. On failure `error` names the field. */
hpar_status hp_config_resolve(hp_config *config, const hpar_options *options, hpar_error *error);

/* Turns the configuration into that of one input of a batch: sequential, on a thread that is bound
 * already. */
void hp_config_make_sequential(hp_config *config);

#if HPAR_PARALLEL
/* Returns the number of threads, with the calling thread. Counts the usable cores if the options
 * leave the number open. Counting takes milliseconds the first time, so a sequential parse does
 * not call this function. */
unsigned hp_config_threads(hp_config *config);
#endif

/* Returns HPAR_ERROR_ARGUMENT if a forced cut lies past `length` bytes of input. */
hpar_status hp_config_check_cuts(const hp_config *config, uint64_t length, hpar_error *error);

/* Returns the engine's limits for an input of `length` bytes and a parse that began at the time
 * `begin`. */
hp_limits hp_config_limits(const hp_config *config, uint64_t length, uint64_t begin);

/* Returns true if the parse runs scripts. */
static inline bool hp_config_runs_scripts(const hp_config *config) {
  return config->script.callback && !config->fragment;
}

/* Returns true if a limit depends on the input's length, or ends a tree in the middle of a token.
 * The parse then starts when the input is complete. */
bool hp_config_needs_length(const hp_config *config);

/* Returns the limit of the tree's memory for an input of `length` bytes; 0: none. */
uint64_t hp_config_memory_limit(const hp_config *config, uint64_t length);

/* What hpar_study.apply changes: the configuration, which has all other options. */
struct hpar_study_target {
  hp_config *config;
  hpar_error *error;
};

#endif
