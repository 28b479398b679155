#include "programs/javascript/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*** memory ***/

/* Each block begins with its size. */
typedef union block {
  size_t size;
  max_align_t aligned;
} block;

static bool fits(const hp_javascript *engine, size_t old, size_t size) {
  size_t limit = engine->options.memory;
  return size < SIZE_MAX / 2 && (!limit || size <= limit - (engine->used - old));
}

static void *reallocate(void *context, void *bytes, duk_size_t size) {
  hp_javascript *engine = context;
  block *old = bytes ? (block *)bytes - 1 : NULL;
  size_t old_size = old ? old->size : 0, new_size = size ? size + sizeof(block) : 0;
  block *new = NULL;
  if (new_size && !fits(engine, old_size, new_size)) return NULL;
  if (new_size) {
    new = realloc(old, new_size);
    if (!new) return NULL;
    new->size = new_size;
  } else {
    free(old);
  }
  engine->used += new_size - old_size;
  return new ? new + 1 : NULL;
}

static void *allocate(void *engine, duk_size_t size) { return reallocate(engine, NULL, size); }
static void release(void *engine, void *bytes) { reallocate(engine, bytes, 0); }

duk_context *hp_javascript_heap(hp_javascript *engine) {
  return duk_create_heap(allocate, reallocate, release, engine, NULL);
}

/*** errors ***/

static void add_to_effect(hp_javascript *engine, const char *text) {
  hp_javascript_note_text(engine, (hp_javascript_text){(char *)(uintptr_t)text, strlen(text)});
}

/* Returns the line of the script's text that an error names, or 0. The property `lineNumber` of an
 * error from a native function is a line of this program. */
static unsigned line_of(duk_context *heap, duk_idx_t error) {
  static const char place[] = "(" HP_SCRIPT_NAME ":";
  duk_get_prop_string(heap, error, "stack");
  const char *found = strstr(duk_safe_to_string(heap, -1), place);
  unsigned long line = found ? strtoul(found + sizeof place - 1, NULL, 10) : 0;
  duk_pop(heap);
  return line < UINT32_MAX ? (unsigned)line : 0;
}

/* Fills the error from the value on the top of the stack. */
static duk_ret_t describe(duk_context *heap, void *context) {
  hp_javascript_error *error = context;
  if (duk_is_error(heap, -1)) error->line = line_of(heap, duk_get_top_index(heap));
  duk_safe_to_string(heap, -1);
  error->text = hp_javascript_utf8_at(heap, -1).bytes;
  return 1;
}

/* Counts and reports the error on the top of the stack. */
static void report(hp_javascript *engine) {
  duk_context *heap = engine->heap;
  hp_javascript_error error = {.script = engine->counters.run, .node = engine->script, .text = "out of memory"};
  engine->counters.failed++;
  duk_dup_top(heap);
  bool described = duk_safe_call(heap, describe, &error, 1, 1) == DUK_EXEC_SUCCESS;
  if (!described) error.text = "out of memory";
  add_to_effect(engine, error.text);
  if (engine->options.report) engine->options.report(engine->options.context, engine->document, &error);
  duk_pop(heap);
}

/*** running ***/

/* Compiles the string on the top of the stack. */
static void compile_source(duk_context *heap) {
  duk_push_string(heap, HP_SCRIPT_NAME);
  duk_compile(heap, 0);
}

/* Pushes the function of the script, if it is compiled ahead. */
static bool push_compiled(duk_context *heap, const hp_javascript *engine) {
  hpar_node text = hpar_node_first_child(engine->document, engine->script);
  size_t length;
  if (!engine->ahead || !text || hpar_node_next(engine->document, text)) return false;
  hpar_string data = hpar_node_data(engine->document, text);
  const void *bytes = hp_javascript_ahead_find(engine->ahead, data.bytes, data.length, &length);
  if (!bytes) return false;
  memcpy(duk_push_fixed_buffer(heap, length), bytes, length);
  duk_load_function(heap);
  return true;
}

/* Runs the child text content of the script. */
static duk_ret_t run_script(duk_context *heap, void *context) {
  hp_javascript *engine = context;
  duk_idx_t count = 0;
  if (push_compiled(heap, engine)) {
    engine->counters.compiled_ahead++;
    duk_call(heap, 0);
    return 0;
  }
  for (hpar_node child = hpar_node_first_child(engine->document, engine->script); child;
       child = hpar_node_next(engine->document, child)) {
    if (hpar_node_kind(engine->document, child) != HPAR_NODE_TEXT) continue;
    hpar_string data = hpar_node_data(engine->document, child);
    duk_require_stack(heap, 2);
    hp_javascript_push_utf8(heap, data.bytes, data.length);
    count++;
  }
  duk_concat(heap, count);
  compile_source(heap);
  duk_call(heap, 0);
  return 0;
}

/* The bytecode of the binding, once an engine of this process has compiled it. Loading it makes
 * an engine in 0.9 ms in place of 2.4 ms. */
static struct {
  pthread_mutex_t lock;
  void *bytes;
  size_t length;
} compiled = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Keeps a copy of the bytecode of the function on the top of the stack. */
static void keep_binding(duk_context *heap) {
  duk_dup_top(heap);
  duk_dump_function(heap);
  duk_size_t length;
  const void *bytes = duk_get_buffer(heap, -1, &length);
  pthread_mutex_lock(&compiled.lock);
  if (!compiled.bytes) {
    compiled.bytes = malloc(length);
    if (compiled.bytes) memcpy(compiled.bytes, bytes, length);
    compiled.length = length;
  }
  pthread_mutex_unlock(&compiled.lock);
  duk_pop(heap);
}

static void push_binding(duk_context *heap) {
  pthread_mutex_lock(&compiled.lock);
  const void *bytes = compiled.bytes;
  pthread_mutex_unlock(&compiled.lock);
  if (bytes) {
    memcpy(duk_push_fixed_buffer(heap, compiled.length), bytes, compiled.length);
    duk_load_function(heap);
  } else {
    duk_push_string(heap, "binding");
    duk_compile_lstring_filename(heap, DUK_COMPILE_EVAL, hp_javascript_binding, hp_javascript_binding_length);
    keep_binding(heap);
  }
}

/* Evaluates the binding. It leaves a function in the heap stash that takes the document. */
static duk_ret_t bind_natives(duk_context *heap, void *unused) {
  (void)unused;
  duk_push_heap_stash(heap);
  push_binding(heap);
  duk_call(heap, 0);
  duk_push_object(heap);
  duk_put_function_list(heap, -1, hp_javascript_natives);
  duk_push_global_object(heap);
  duk_call(heap, 2);
  duk_put_prop_string(heap, -2, "begin");
  return 0;
}

static duk_ret_t bind_document(duk_context *heap, void *unused) {
  (void)unused;
  duk_push_heap_stash(heap);
  duk_get_prop_string(heap, -1, "begin");
  duk_call(heap, 0);
  return 0;
}

/* Calls a function that returns no value. Returns false after an error. */
static bool call(hp_javascript *engine, duk_safe_call_function function) {
  bool done = duk_safe_call(engine->heap, function, engine, 0, 1) == DUK_EXEC_SUCCESS;
  if (!done) report(engine);
  duk_pop(engine->heap);
  return done;
}

hp_javascript *hp_javascript_create(const hp_javascript_options *options) {
  hp_javascript *engine = calloc(1, sizeof *engine);
  if (!engine) return NULL;
  if (options) engine->options = *options;
  engine->heap = hp_javascript_heap(engine);
  if (engine->heap && call(engine, bind_natives)) return engine;
  hp_javascript_destroy(engine);
  return NULL;
}

void hp_javascript_destroy(hp_javascript *engine) {
  if (!engine) return;
  hp_javascript_ahead_close(engine->ahead);
  if (engine->heap) duk_destroy_heap(engine->heap);
  free(engine);
}

hp_javascript_counters hp_javascript_count(const hp_javascript *engine) { return engine->counters; }

static duk_ret_t run_program(duk_context *heap, void *program) {
  duk_push_string(heap, program);
  compile_source(heap);
  duk_call(heap, 0);
  return 0;
}

/* Calls `function`. Returns false after an error. */
static bool evaluate(hp_javascript *engine, duk_safe_call_function function, void *context) {
  bool done = duk_safe_call(engine->heap, function, context, 0, 1) == DUK_EXEC_SUCCESS;
  if (!done) report(engine);
  duk_pop(engine->heap);
  return done;
}

bool hp_javascript_evaluate(hp_javascript *engine, const char *program) {
  return evaluate(engine, run_program, (void *)(uintptr_t)program);
}

void hp_javascript_compile_ahead(hp_javascript *engine, const char *bytes, size_t length) {
  hp_javascript_ahead_close(engine->ahead);
  engine->ahead = hp_javascript_ahead_open(bytes, length, engine->options.memory / 4);
}

hpar_status hp_javascript_run(hpar_editor *editor, const hpar_script *script, void *context) {
  hp_javascript *engine = context;
  if (script->type != HPAR_SCRIPT_CLASSIC || script->external) return HPAR_OK;
  hpar_node outer = engine->script;
  hp_javascript_effect outer_effect = engine->effect;
  char outer_surrogate[sizeof engine->surrogate];
  memcpy(outer_surrogate, engine->surrogate, sizeof outer_surrogate);
  *engine->surrogate = 0;
  engine->editor = editor;
  engine->document = hpar_editor_document(editor);
  engine->script = script->node;
  engine->effect = (hp_javascript_effect){.node = script->node};
  if (!duk_check_stack(engine->heap, 8)) return HPAR_ERROR_MEMORY;
  if (!engine->has_document && !call(engine, bind_document)) return HPAR_ERROR_MEMORY;
  engine->has_document = true;
  engine->counters.run++;
  evaluate(engine, run_script, engine);
  /* the other half never came */
  if (*engine->surrogate) hpar_script_write(editor, "\xEF\xBF\xBD", 3);
  memcpy(engine->surrogate, outer_surrogate, sizeof outer_surrogate);
  if (engine->options.note) engine->options.note(engine->options.context, engine->document, &engine->effect);
  engine->script = outer;
  engine->effect = outer_effect;
  return HPAR_OK;
}
