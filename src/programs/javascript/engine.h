#ifndef HP_PROGRAMS_JAVASCRIPT_ENGINE_H
#define HP_PROGRAMS_JAVASCRIPT_ENGINE_H

/* The engine's state, for the files of this module. */

#include "programs/javascript/ahead.h"
#include "programs/javascript/javascript.h"

#include <duktape.h>

struct hp_javascript {
  duk_context *heap;
  hp_javascript_options options;
  size_t used; /* bytes of the heap */
  hpar_editor *editor;
  hpar_document *document;
  hpar_node script; /* the innermost running script */
  hp_javascript_effect effect;
  char surrogate[3];          /* a high one at the end of the last write, in Duktape's form; or 0 */
  bool has_document;          /* the binding has the document node */
  hp_javascript_ahead *ahead; /* NULL: the engine compiles each script itself */
  hp_javascript_counters counters;
};

#define HP_SCRIPT_NAME "script" /* in the traces of errors */

/* Creates a heap without the binding, whose memory the engine limits. NULL if memory is short. */
duk_context *hp_javascript_heap(hp_javascript *engine);

/* The native functions of the binding, by name (natives.c). */
extern const duk_function_list_entry hp_javascript_natives[];

/* The binding in ECMAScript 5: a function of the native functions and the global object. The build
 * makes it from dom.js. */
extern const char hp_javascript_binding[];
extern const size_t hp_javascript_binding_length;

/* Strings of Duktape are CESU-8, those of the library are UTF-8 (strings.c). */
typedef struct hp_javascript_text {
  char *bytes; /* ends with a NUL */
  size_t length;
} hp_javascript_text;

/* Returns the string at `index` as UTF-8, in a buffer that it pushes. A lone surrogate becomes
 * U+FFFD. */
hp_javascript_text hp_javascript_utf8_at(duk_context *heap, duk_idx_t index);
void hp_javascript_push_utf8(duk_context *heap, const char *bytes, size_t length);

/* Add to the hash of the running script's effect (effect.c): the kind of a change, with the
 * path of the node from the root; text. */
void hp_javascript_note_node(hp_javascript *engine, const char *change, hpar_node node);
void hp_javascript_note_text(hp_javascript *engine, hp_javascript_text text);

#endif
