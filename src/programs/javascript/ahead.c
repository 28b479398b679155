#include "programs/javascript/ahead.h"

#include "programs/javascript/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_SKIPPED = 1000 }; /* units between two scripts that run */

typedef enum state { WAITING, COMPILING, COMPILED, SKIPPED } state;

typedef struct unit {
  const char *text;
  size_t length;
  state state;
  void *bytecode; /* NULL: the text has an error, or memory was short */
  size_t bytecode_length;
} unit;

struct hp_javascript_ahead {
  unit *units; /* in the order of the page */
  size_t count, capacity;
  size_t next; /* the unit after the last one that the engine has taken */
  size_t memory;
  pthread_t thread;
  pthread_mutex_t lock; /* of the states and of `stops` */
  pthread_cond_t changed;
  bool stops;
};

/*** the scripts of the page ***/

static bool add_unit(hp_javascript_ahead *a, const char *text, size_t length) {
  if (a->count == a->capacity) {
    size_t capacity = a->capacity ? 2 * a->capacity : 64;
    unit *grown = realloc(a->units, capacity * sizeof *grown);
    if (!grown) return false;
    a->units = grown;
    a->capacity = capacity;
  }
  a->units[a->count++] = (unit){.text = text, .length = length};
  return true;
}

static bool ends_name(char c) { return c == '>' || c == '/' || c == ' ' || (c >= '\t' && c <= '\r'); }

/* Returns the next place with "<script" or "</script", or `end`. */
static const char *find_tag(const char *at, const char *end, const char *name) {
  size_t length = strlen(name);
  for (; (size_t)(end - at) > length && (at = memchr(at, '<', (size_t)(end - at) - length)); at++)
    if (!strncasecmp(at, name, length) && ends_name(at[length])) return at;
  return end;
}

/* Finds the text of each script element. Attribute values with '>' lead to a wrong text, which no
 * script has. */
static bool find_units(hp_javascript_ahead *a, const char *bytes, size_t length) {
  const char *end = bytes + length;
  for (const char *at = find_tag(bytes, end, "<script"); at < end; at = find_tag(at, end, "<script")) {
    const char *text = memchr(at, '>', (size_t)(end - at));
    if (!text) return true;
    const char *stop = find_tag(++text, end, "</script");
    if (stop > text && !add_unit(a, text, (size_t)(stop - text))) return false;
    at = stop;
  }
  return true;
}

/*** the thread ***/

/* Compiles a unit, and pushes its bytecode. */
static duk_ret_t compile(duk_context *heap, void *context) {
  const unit *u = context;
  hp_javascript_push_utf8(heap, u->text, u->length);
  duk_push_string(heap, HP_SCRIPT_NAME);
  duk_compile(heap, 0);
  duk_dump_function(heap);
  return 1;
}

static void keep_bytecode(duk_context *heap, unit *u) {
  duk_size_t length;
  const void *bytes = duk_get_buffer(heap, -1, &length);
  u->bytecode = bytes ? malloc(length) : NULL;
  if (!u->bytecode) return;
  memcpy(u->bytecode, bytes, length);
  u->bytecode_length = length;
}

/* Changes the state of a unit that has the state `from`. Returns false if it has another one, or if
 * the thread must stop. */
static bool change_state(hp_javascript_ahead *a, unit *u, state from, state to) {
  pthread_mutex_lock(&a->lock);
  bool changes = u->state == from && !(a->stops && to == COMPILING);
  if (changes) u->state = to;
  pthread_cond_signal(&a->changed);
  pthread_mutex_unlock(&a->lock);
  return changes;
}

static void *compile_units(void *context) {
  hp_javascript_ahead *a = context;
  hp_javascript engine = {.options.memory = a->memory};
  duk_context *heap = hp_javascript_heap(&engine);
  for (size_t i = 0; heap && i < a->count; i++) {
    unit *u = &a->units[i];
    if (!change_state(a, u, WAITING, COMPILING)) continue;
    if (duk_safe_call(heap, compile, u, 0, 1) == DUK_EXEC_SUCCESS) keep_bytecode(heap, u);
    duk_pop(heap);
    change_state(a, u, COMPILING, COMPILED);
  }
  if (heap) duk_destroy_heap(heap);
  return NULL;
}

/*** the interface ***/

hp_javascript_ahead *hp_javascript_ahead_open(const char *bytes, size_t length, size_t memory) {
  hp_javascript_ahead *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->memory = memory;
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->changed, NULL);
  if (find_units(a, bytes, length) && a->count && !pthread_create(&a->thread, NULL, compile_units, a)) return a;
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->changed);
  free(a->units);
  free(a);
  return NULL;
}

void hp_javascript_ahead_close(hp_javascript_ahead *a) {
  if (!a) return;
  pthread_mutex_lock(&a->lock);
  a->stops = true;
  pthread_mutex_unlock(&a->lock);
  pthread_join(a->thread, NULL);
  for (size_t i = 0; i < a->count; i++) free(a->units[i].bytecode);
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->changed);
  free(a->units);
  free(a);
}

/* Skips the units before `end` that the thread has not started. */
static void skip_to(hp_javascript_ahead *a, size_t end) {
  for (; a->next < end; a->next++)
    if (a->units[a->next].state == WAITING) a->units[a->next].state = SKIPPED;
}

const void *hp_javascript_ahead_find(hp_javascript_ahead *a, const char *text, size_t text_length, size_t *length) {
  size_t i = a->next, end = a->count - i < MAX_SKIPPED ? a->count : i + MAX_SKIPPED;
  while (i < end && (a->units[i].length != text_length || memcmp(a->units[i].text, text, text_length) != 0)) i++;
  if (i == end) return NULL;
  unit *u = &a->units[i];
  pthread_mutex_lock(&a->lock);
  skip_to(a, i + 1);
  while (u->state == COMPILING) pthread_cond_wait(&a->changed, &a->lock);
  pthread_mutex_unlock(&a->lock);
  *length = u->bytecode_length;
  return u->state == COMPILED ? u->bytecode : NULL;
}
