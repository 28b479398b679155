#ifndef HP_PROGRAMS_JAVASCRIPT_JAVASCRIPT_H
#define HP_PROGRAMS_JAVASCRIPT_JAVASCRIPT_H

/* Runs the classic inline scripts of a page with Duktape, over hpar/script.h. This module is no
 * part of the library: the program hpar-scripts and the tests link it.
 *
 * The binding has the part of the DOM that scripts of common pages use. Everything else is
 * undefined, and such scripts end with an error, as in an old browser. Scripts reach no file and
 * no network. The clock and the random numbers are the same in each run, so that all modes of the
 * parser run the same scripts. Timers and listeners never fire. */

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct hp_javascript hp_javascript;

/* An uncaught error. */
typedef struct hp_javascript_error {
  size_t script;  /* the number of the script in the order of execution, from 1 */
  hpar_node node; /* its element; HPAR_NO_NODE: a program of hp_javascript_evaluate */
  unsigned line;  /* of the script's text, from 1; 0: unknown */
  const char *text;
} hp_javascript_error;

typedef void (*hp_javascript_error_fn)(void *context, const hpar_document *document, const hp_javascript_error *error);

/* Receives a script that has run. `effect` is the hash of all changes and writes, with the paths
 * of the nodes from the root, and of the uncaught error. `writes`: it called document.write. */
typedef struct hp_javascript_effect {
  hpar_node node;
  uint64_t effect;
  bool writes;
} hp_javascript_effect;

typedef void (*hp_javascript_effect_fn)(void *context, const hpar_document *document,
                                        const hp_javascript_effect *effect);

typedef struct hp_javascript_options {
  size_t memory;                 /* bytes that the scripts may use; 0: no limit */
  hp_javascript_error_fn report; /* NULL: nothing is reported */
  hp_javascript_effect_fn note;  /* NULL: the engine computes no hash */
  void *context;                 /* of both functions */
} hp_javascript_options;

typedef struct hp_javascript_counters {
  size_t run;    /* scripts */
  size_t failed; /* with an uncaught error */
  size_t compiled_ahead;
} hp_javascript_counters;

/* Creates an engine for one parse. NULL as options: the defaults. Returns NULL if memory is
 * short. */
hp_javascript *hp_javascript_create(const hp_javascript_options *options);
void hp_javascript_destroy(hp_javascript *engine);

/* Compiles the scripts of the next parse on another thread before they run (ahead.h).
 * `bytes` is the input of the parse, and stays until hp_javascript_destroy. If memory is short, the
 * engine compiles each script when it runs. */
void hp_javascript_compile_ahead(hp_javascript *engine, const char *bytes, size_t length);

/* An hpar_script_callback. Its context is the engine. */
hpar_status hp_javascript_run(hpar_editor *editor, const hpar_script *script, void *engine);

/* Evaluates a program before the parse, such as a test harness. Returns false if it fails. */
bool hp_javascript_evaluate(hp_javascript *engine, const char *program);

hp_javascript_counters hp_javascript_count(const hp_javascript *engine);

#endif
