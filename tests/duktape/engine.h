#ifndef TESTS_DUKTAPE_ENGINE_H
#define TESTS_DUKTAPE_ENGINE_H

/* Runs the classic inline scripts of a page with Duktape, over hpar/script.h. The binding has the
 * part of the DOM that small scripts use. Everything else is undefined, so other scripts end with
 * an error, as in an old browser. */

#include <hpar/hpar.h>
#include <stdio.h>

typedef struct script_engine script_engine;

typedef struct script_engine_counters {
  size_t run;    /* scripts */
  size_t failed; /* with an uncaught error */
} script_engine_counters;

/* Creates an engine for one parse. Prints uncaught errors on `errors`, with the name of the page;
 * NULL: prints nothing. Returns NULL if memory is short. */
script_engine *script_engine_create(const char *page, FILE *errors);
void script_engine_destroy(script_engine *engine);

/* An hpar_script_callback. Its context is the engine. */
hpar_status script_engine_run(void *engine, hpar_scripting *scripting, const hpar_script *script);

/* Evaluates a program before the parse, such as a test harness. Returns false if it fails. */
bool script_engine_evaluate(script_engine *engine, const char *program);

script_engine_counters script_engine_count(const script_engine *engine);

/* The binding in ECMAScript 5, over native functions with handles (duktape/dom.c). */
extern const char script_dom[];

#endif
