/* Rules and the rewriter. The package's Python part reads the rules, and this file compiles them.
 * A rewrite runs without the interpreter's lock. A callback takes the lock while its function
 * runs. */

#include "units.h"

#include <stdlib.h>
#include <string.h>

/* The functions of a rule. */
typedef struct functions {
  PyObject *of[HP_PY_UNITS]; /* NULL: none */
} functions;

typedef struct rules {
  PyObject_HEAD hpar_rules *set;
  functions *functions;
  Py_ssize_t count; /* of rules */
} rules;

static int clear_rules(PyObject *self) {
  rules *r = (rules *)self;
  for (Py_ssize_t i = 0; i < r->count; i++)
    for (int unit = 0; unit < HP_PY_UNITS; unit++) Py_CLEAR(r->functions[i].of[unit]);
  return 0;
}

static int traverse_rules(PyObject *self, visitproc visit, void *arg) {
  const rules *r = (rules *)self;
  Py_VISIT(Py_TYPE(self));
  for (Py_ssize_t i = 0; i < r->count; i++)
    for (int unit = 0; unit < HP_PY_UNITS; unit++) Py_VISIT(r->functions[i].of[unit]);
  return 0;
}

static void free_rules(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_rules(self);
  hpar_rules_destroy(((rules *)self)->set);
  free(((rules *)self)->functions);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/*** callbacks ***/

/* A rewrite that runs on this thread. A function may start another one. */
typedef struct call {
  const hp_py_state *state;
  PyThreadState *saved;                /* while the thread has no lock */
  hp_py_end_function **ends;           /* those that wait for the ends of elements */
  PyObject *exception, *value, *trace; /* of the function that failed */
  bool suspends;                       /* functions may return awaitables */
  PyObject *awaited, *unit;            /* what a function has returned, and the object it has */
  struct call *outer;
} call;

static _Thread_local call *running;

/* Reads what the function returned: None, or "retire". */
static hpar_status read_result(PyObject *returned) {
  if (!returned) return HPAR_ERROR_CALLBACK;
  if (returned == Py_None) return HPAR_OK;
  if (PyUnicode_Check(returned) && !PyUnicode_CompareWithASCIIString(returned, "retire")) return HPAR_RETIRE;
  PyErr_Format(PyExc_TypeError, "a callback must return None or 'retire', not %R", returned);
  return HPAR_ERROR_CALLBACK;
}

/* Calls the function with the unit, and drops `called` then. */
static hpar_status run(PyObject *function, int kind, void *unit, hp_py_end_function *called) {
  call *c = running;
  PyEval_RestoreThread(c->saved);
  PyObject *argument = hp_py_new_unit(c->state->units[kind], unit, c->ends);
  PyObject *returned = argument ? PyObject_CallFunctionObjArgs(function, argument, NULL) : NULL;
  if (returned && c->suspends && PyObject_HasAttrString(returned, "__await__")) {
    c->awaited = returned;
    c->unit = argument;
    if (called) hp_py_drop_end_function(called);
    c->saved = PyEval_SaveThread();
    return HPAR_SUSPEND;
  }
  hpar_status result = read_result(returned);
  if (argument) hp_py_end_unit(argument);
  Py_XDECREF(returned);
  Py_XDECREF(argument);
  if (result == HPAR_ERROR_CALLBACK) PyErr_Fetch(&c->exception, &c->value, &c->trace);
  if (called) hp_py_drop_end_function(called);
  c->saved = PyEval_SaveThread();
  return result;
}

/* The library calls it once, because an element ends once. */
hpar_status hp_py_call_at_end(hpar_element_end *end, void *context) {
  return run(((hp_py_end_function *)context)->function, HP_PY_ELEMENT_END, end, context);
}

#define CALLBACK(name, type, kind)                                  \
  static hpar_status call_##name(type *unit, void *context) {       \
    return run(((functions *)context)->of[kind], kind, unit, NULL); \
  }
CALLBACK(element, hpar_element, HP_PY_ELEMENT)
CALLBACK(end, hpar_element_end, HP_PY_ELEMENT_END)
CALLBACK(text, hpar_text_piece, HP_PY_TEXT)
CALLBACK(comment, hpar_comment, HP_PY_COMMENT)
CALLBACK(doctype, hpar_doctype, HP_PY_DOCTYPE)
CALLBACK(document_end, hpar_document_end, HP_PY_DOCUMENT_END)

/*** rules ***/

static void raise_rule_error(const hp_py_state *state, const hpar_error *error, Py_ssize_t number) {
  hp_py_raise_selector_error(state, PyUnicode_FromFormat("rule %zd: %s", number, error->text), error->offset);
}

/* Reads (unit, kind, format, name, value, replacement). */
static bool read_action(PyObject *tuple, hpar_action *action) {
  int unit, kind, format;
  Py_ssize_t value_length = 0, replacement_length = 0;
  const char *name, *value, *replacement;
  if (!PyArg_ParseTuple(tuple, "iiizs#s#", &unit, &kind, &format, &name, &value, &value_length, &replacement,
                        &replacement_length))
    return false;
  *action = (hpar_action){.unit = (hpar_unit)unit,
                          .kind = (hpar_action_kind)kind,
                          .format = (hpar_content)format,
                          .name = name,
                          .value = {value, (size_t)value_length},
                          .replacement = {replacement, (size_t)replacement_length}};
  return true;
}

/* Reads a tuple with a function or None for each unit. */
static bool read_functions(PyObject *tuple, functions *f) {
  for (int unit = 0; unit < HP_PY_UNITS; unit++) {
    PyObject *function = PyTuple_GetItem(tuple, unit);
    if (!function) return false;
    if (function != Py_None) f->of[unit] = Py_NewRef(function);
  }
  return true;
}

/* Adds a rule: (selector, list of actions, tuple of functions, implied, across_tags). */
static bool add_rule(const hp_py_state *state, rules *r, PyObject *tuple, Py_ssize_t number) {
  const char *selector;
  PyObject *list, *callbacks;
  int implied, across_tags;
  functions *f = &r->functions[number];
  if (!PyArg_ParseTuple(tuple, "zO!O!pp", &selector, &PyList_Type, &list, &PyTuple_Type, &callbacks, &implied,
                        &across_tags))
    return false;
  size_t count = (size_t)PyList_Size(list);
  hpar_action *actions = calloc(count + 1, sizeof *actions);
  bool fine = actions && read_functions(callbacks, f);
  if (!actions) PyErr_NoMemory();
  for (size_t i = 0; i < count && fine; i++) fine = read_action(PyList_GetItem(list, (Py_ssize_t)i), &actions[i]);
  if (fine) {
    const hpar_rule rule = {HPAR_RULE_INIT,
                            .selector = selector,
                            .actions = actions,
                            .action_count = count,
                            .implied = implied,
                            .across_tags = across_tags,
                            .element = f->of[HP_PY_ELEMENT] ? call_element : NULL,
                            .end = f->of[HP_PY_ELEMENT_END] ? call_end : NULL,
                            .text = f->of[HP_PY_TEXT] ? call_text : NULL,
                            .comment = f->of[HP_PY_COMMENT] ? call_comment : NULL,
                            .doctype = f->of[HP_PY_DOCTYPE] ? call_doctype : NULL,
                            .document_end = f->of[HP_PY_DOCUMENT_END] ? call_document_end : NULL,
                            .context = f};
    hpar_error error = {.status = HPAR_OK};
    hpar_status status = hpar_rules_add(r->set, &rule, &error);
    if (status == HPAR_ERROR_ARGUMENT) raise_rule_error(state, &error, number);
    if (status && status != HPAR_ERROR_ARGUMENT) hp_py_raise(state, status, NULL);
    fine = !status;
  }
  free(actions);
  return fine;
}

static PyObject *make_rules(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"rules", NULL};
  PyObject *list;
  const hp_py_state *state = PyType_GetModuleState(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!", names, &PyList_Type, &list)) return NULL;
  rules *r = PyObject_GC_New(rules, state->rules);
  if (!r) return NULL;
  r->set = NULL;
  r->count = PyList_Size(list);
  r->functions = calloc((size_t)r->count + 1, sizeof *r->functions);
  if (!r->functions) r->count = 0;
  PyObject_GC_Track(r);
  bool fine = r->functions && !hpar_rules_create(&r->set);
  if (!fine) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < r->count && fine; i++) fine = add_rule(state, r, PyList_GetItem(list, i), i);
  if (fine && hpar_rules_compile(r->set)) {
    PyErr_NoMemory();
    fine = false;
  }
  if (fine) return (PyObject *)r;
  Py_DECREF((PyObject *)r);
  return NULL;
}

static PyObject *stats_of(const hpar_rewrite_stats *s) {
  PyObject *d = PyDict_New();
  bool fine = d && hp_py_put_number(d, "input_bytes", s->input_bytes) &&
              hp_py_put_number(d, "output_bytes", s->output_bytes) && hp_py_put_number(d, "tags", s->tags) &&
              hp_py_put_number(d, "matches", s->matches) && hp_py_put_number(d, "edits", s->edits) &&
              hp_py_put_number(d, "misplaced", s->misplaced) && hp_py_put_text(d, "encoding", s->encoding) &&
              hp_py_put(d, "passed_through", PyBool_FromLong(s->passed_through));
  if (!fine) Py_CLEAR(d);
  return d;
}

/* Reads a number for each limit of the options. */
static bool read_limits(PyObject *tuple, hpar_rewrite_options *options) {
  static const char *const names[6] = {"memory", "token", "text", "depth", "input", "time_ns"};
  uint64_t limits[6], depth;
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 6) {
    PyErr_SetString(PyExc_TypeError, "limits must be a tuple of 6 numbers");
    return false;
  }
  for (int i = 0; i < 6; i++)
    if (!hp_py_read_number(PyTuple_GetItem(tuple, i), names[i], &limits[i])) return false;
  depth = limits[3] < UINT32_MAX ? limits[3] : 0; /* more than any page has */
  options->max_memory = (size_t)limits[0];
  options->max_token = (size_t)limits[1];
  options->max_text = (size_t)limits[2];
  options->max_depth = (uint32_t)depth;
  options->max_input = limits[4];
  options->max_time_ns = limits[5];
  return true;
}

static bool read_options(hpar_rewrite_options *options, PyObject *const *values) {
  bool scripting = true;
  uint64_t utf16 = 0, on_failure = 0;
  if (!hp_py_read_text(values[0], "encoding", &options->encoding) ||
      !hp_py_read_text(values[1], "fragment", &options->fragment) || !hp_py_read_flag(values[2], &scripting) ||
      !hp_py_read_flag(values[3], &options->quirks) || !hp_py_read_flag(values[4], &options->filter) ||
      (values[5] && !hp_py_read_number(values[5], "utf16", &utf16)) ||
      (values[6] && !hp_py_read_number(values[6], "on_failure", &on_failure)) ||
      (values[7] && !read_limits(values[7], options)))
    return false;
  options->no_scripting = !scripting;
  options->utf16 = (hpar_utf16)utf16;
  options->on_failure = (hpar_on_failure)on_failure;
  return true;
}

/*** streams ***/

/* A rewrite of input that arrives in pieces. */
typedef struct stream {
  PyObject_HEAD hp_py_state *state;
  PyObject *rules, *values; /* values: those that `options` borrows */
  hp_py_end_function *ends;
  hpar_rewrite_options options;
  hpar_rewriter *rewriter; /* NULL: the stream has ended */
  hp_py_buffer output;
  hp_py_kind kind;
  bool busy;
  /* Of a call that waits for `awaited`, which a function has returned: its input or statistics, and
   * the object of the function. */
  PyObject *awaited, *unit;
  bool has_piece, closes;
  hp_py_piece piece;
  hpar_rewrite_stats stats;
} stream;

/* The object of a function ends with the answer. */
static void end_waiting(stream *s) {
  if (s->unit) hp_py_end_unit(s->unit);
  Py_CLEAR(s->unit);
  Py_CLEAR(s->awaited);
}

/* Ends the stream, and drops what waits for the ends of elements. */
static void end_stream(stream *s) {
  hpar_rewriter_destroy(s->rewriter);
  s->rewriter = NULL;
  end_waiting(s);
  if (s->has_piece) hp_py_release_piece(&s->piece);
  s->has_piece = false;
  while (s->ends) hp_py_drop_end_function(s->ends);
}

static int clear_stream(PyObject *self) {
  end_stream((stream *)self);
  Py_CLEAR(((stream *)self)->rules);
  return 0;
}

static int traverse_stream(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((stream *)self)->rules);
  Py_VISIT(((stream *)self)->awaited);
  Py_VISIT(((stream *)self)->unit);
  for (const hp_py_end_function *f = ((stream *)self)->ends; f; f = f->next) Py_VISIT(f->function);
  return 0;
}

static void free_stream(PyObject *self) {
  stream *s = (stream *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_stream(self);
  free(s->output.bytes);
  Py_XDECREF(s->values);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* start_rewrite(rules, encoding, fragment, scripting, quirks, filter, utf16, on_failure, limits) */
PyObject *hp_py_start_rewrite(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  enum { OPTIONS = 8 };
  static const char *const names[] = {"rules",  "encoding", "fragment",   "scripting", "quirks",
                                      "filter", "utf16",    "on_failure", "limits"};
  static const hp_py_signature signature = {"Rewriter", names, 1 + OPTIONS, 1, 1};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[1 + OPTIONS];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  if (!Py_IS_TYPE(values[0], state->rules)) {
    PyErr_SetString(PyExc_TypeError, "rules must be compiled rules");
    return NULL;
  }
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT};
  if (!read_options(&options, values + 1)) return NULL;
  stream *s = PyObject_GC_New(stream, state->rewriter);
  if (!s) return NULL;
  *s = (stream){.ob_base = s->ob_base, .state = state, .rules = Py_NewRef(values[0]), .options = options};
  PyObject_GC_Track(s);
  s->values = PyTuple_New(OPTIONS);
  for (int i = 0; s->values && i < OPTIONS; i++)
    PyTuple_SetItem(s->values, i, Py_NewRef(values[1 + i] ? values[1 + i] : Py_None));
  hpar_status status = s->values ? hpar_rewriter_create(&s->rewriter) : HPAR_ERROR_MEMORY;
  if (!status)
    status = hpar_rewriter_begin(s->rewriter, ((rules *)s->rules)->set, &s->options, hp_py_write, &s->output);
  if (!status) return (PyObject *)s;
  hp_py_raise(state, status, s->rewriter ? hpar_rewriter_error(s->rewriter)->text : NULL);
  Py_DECREF((PyObject *)s);
  return NULL;
}

typedef enum step { FEED, FINISH, RESUME } step;

/* Feeds the piece, finishes, or goes on with `answer`. Returns false with an exception, which ends
 * the stream. With `suspends`, the status may be HPAR_SUSPEND, and `awaited` is set then. */
static bool advance(stream *s, step step, bool suspends, hpar_status answer, hpar_status *status) {
  call here = {
      .state = s->state, .ends = &s->ends, .saved = PyEval_SaveThread(), .suspends = suspends, .outer = running};
  s->busy = true;
  running = &here;
  *status = step == FEED     ? hpar_rewriter_feed(s->rewriter, s->piece.bytes, s->piece.length)
            : step == FINISH ? hpar_rewriter_finish(s->rewriter, &s->stats)
                             : hpar_rewriter_resume(s->rewriter, answer);
  running = here.outer;
  PyEval_RestoreThread(here.saved);
  s->awaited = here.awaited;
  s->unit = here.unit;
  if (*status == HPAR_SUSPEND) return true;
  s->busy = false;
  if (s->has_piece) hp_py_release_piece(&s->piece);
  s->has_piece = false;
  const bool passed = s->options.on_failure == HPAR_FAIL_PASS && *status >= HPAR_LIMIT_DEPTH;
  if (here.exception)
    PyErr_Restore(here.exception, here.value, here.trace);
  else if (*status && !passed)
    hp_py_raise(s->state, *status, hpar_rewriter_error(s->rewriter)->text);
  else
    return true;
  end_stream(s);
  return false;
}

static bool enter(const stream *s) {
  if (s->rewriter && !s->busy) return true;
  PyErr_SetString(s->state->error, s->rewriter ? "another call uses the rewriter" : "the rewriter is closed");
  return false;
}

/* Returns what the stream has written since the last call. */
static PyObject *output_of(stream *s) {
  PyObject *bytes = PyBytes_FromStringAndSize(s->output.bytes ? s->output.bytes : "", (Py_ssize_t)s->output.length);
  s->output.length = 0;
  return bytes;
}

/* A str is UTF-8, whatever its page declares, so that the stream begins again. */
static bool accept_kind(stream *s, const hp_py_piece *piece) {
  if (!hp_py_check_kind(s->kind, piece)) return false;
  hpar_status status = HPAR_OK;
  if (s->kind == HP_PY_NO_PIECE && piece->is_text) {
    s->options.encoding = "utf-8";
    status = hpar_rewriter_begin(s->rewriter, ((rules *)s->rules)->set, &s->options, hp_py_write, &s->output);
  }
  if (status) hp_py_raise(s->state, status, hpar_rewriter_error(s->rewriter)->text);
  s->kind = piece->is_text ? HP_PY_TEXT_PIECES : HP_PY_BYTE_PIECES;
  return !status;
}

/* Feeds a piece, and keeps it until the call is over. */
static bool feed_piece(stream *s, PyObject *data, bool suspends, hpar_status *status) {
  hp_py_piece piece;
  *status = HPAR_OK;
  if (!hp_py_hold_piece(&piece, data)) return false;
  const bool fine = enter(s) && accept_kind(s, &piece);
  if (!fine || !piece.length) {
    hp_py_release_piece(&piece);
    return fine;
  }
  s->piece = piece;
  s->has_piece = true;
  s->closes = false;
  return advance(s, FEED, suspends, HPAR_OK, status);
}

static PyObject *feed_stream(PyObject *self, PyObject *data) {
  stream *s = (stream *)self;
  hpar_status status;
  return feed_piece(s, data, false, &status) ? output_of(s) : NULL;
}

static bool finish_stream(stream *s, bool suspends, hpar_status *status) {
  if (!enter(s)) return false;
  s->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
  s->closes = true;
  return advance(s, FINISH, suspends, HPAR_OK, status);
}

/* Returns (output, statistics) of a stream that has finished. */
static PyObject *result_of(stream *s, hpar_status status) {
  end_stream(s);
  PyObject *bytes = output_of(s), *counts = bytes ? stats_of(&s->stats) : NULL, *result = NULL;
  if (counts && hp_py_put_text(counts, "failure", status ? hpar_status_text(status) : NULL))
    result = PyTuple_Pack(2, bytes, counts);
  Py_XDECREF(bytes);
  Py_XDECREF(counts);
  return result;
}

static PyObject *close_stream(PyObject *self, PyObject *ignored) {
  stream *s = (stream *)self;
  hpar_status status;
  (void)ignored;
  return finish_stream(s, false, &status) ? result_of(s, status) : NULL;
}

/*** functions that wait ***/

/* A stream suspends from its beginning on. */
static bool let_suspend(stream *s) {
  if (s->options.suspends || s->kind != HP_PY_NO_PIECE || !s->rewriter || s->busy) return true;
  s->options.suspends = true;
  const hpar_status status =
      hpar_rewriter_begin(s->rewriter, ((rules *)s->rules)->set, &s->options, hp_py_write, &s->output);
  if (status) hp_py_raise(s->state, status, hpar_rewriter_error(s->rewriter)->text);
  return !status;
}

/* Returns (output or the result of close, None), or (output, awaitable). */
static PyObject *step_of(stream *s, hpar_status status) {
  const bool waits = status == HPAR_SUSPEND;
  PyObject *output = !waits && s->closes ? result_of(s, status) : output_of(s);
  PyObject *step = output ? PyTuple_Pack(2, output, waits ? s->awaited : Py_None) : NULL;
  Py_XDECREF(output);
  return step;
}

static PyObject *begin_feed(PyObject *self, PyObject *data) {
  stream *s = (stream *)self;
  hpar_status status;
  return let_suspend(s) && feed_piece(s, data, s->options.suspends, &status) ? step_of(s, status) : NULL;
}

static PyObject *begin_close(PyObject *self, PyObject *ignored) {
  stream *s = (stream *)self;
  hpar_status status;
  (void)ignored;
  return let_suspend(s) && finish_stream(s, s->options.suspends, &status) ? step_of(s, status) : NULL;
}

/* resume(result of the awaitable) */
static PyObject *resume_stream(PyObject *self, PyObject *result) {
  stream *s = (stream *)self;
  hpar_status status;
  if (!s->awaited) {
    PyErr_SetString(s->state->error, "no function waits");
    return NULL;
  }
  const hpar_status answer = read_result(result);
  end_waiting(s);
  if (answer == HPAR_ERROR_CALLBACK) {
    end_stream(s);
    return NULL;
  }
  return advance(s, RESUME, true, answer, &status) ? step_of(s, status) : NULL;
}

/* Ends the stream: the awaitable has failed. */
static PyObject *abort_stream(PyObject *self, PyObject *ignored) {
  stream *s = (stream *)self;
  (void)ignored;
  if (s->awaited) end_stream(s);
  return Py_NewRef(Py_None);
}

static PyMethodDef stream_methods[] = {
    {"feed", feed_stream, METH_O, NULL},
    {"close", close_stream, METH_NOARGS, NULL},
    {"begin_feed", begin_feed, METH_O, NULL},
    {"begin_close", begin_close, METH_NOARGS, NULL},
    {"resume", resume_stream, METH_O, NULL},
    {"abort", abort_stream, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_dealloc, free_stream},
    {Py_tp_traverse, traverse_stream},
    {Py_tp_clear, clear_stream},
    {Py_tp_methods, stream_methods},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_rewriter_spec = {
    .name = "hpar._core.Rewriter",
    .basicsize = sizeof(stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = stream_slots,
};

/*** whole pages ***/

/* rewrite(data, rules, encoding, fragment, scripting, quirks, filter, utf16, on_failure, limits): returns
 * (output, statistics). */
PyObject *hp_py_rewrite(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"data",   "rules",  "encoding", "fragment",   "scripting",
                                      "quirks", "filter", "utf16",    "on_failure", "limits"};
  static const hp_py_signature signature = {"rewrite", names, 10, 2, 2};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[10], *result = NULL;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  if (!Py_IS_TYPE(values[1], state->rules)) {
    PyErr_SetString(PyExc_TypeError, "rules must be compiled rules");
    return NULL;
  }
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT};
  if (!read_options(&options, values + 2)) return NULL;
  if (PyUnicode_Check(values[0])) {
    if (!hp_py_check_encoding(values[2])) return NULL;
    options.encoding = "utf-8";
  }
  hp_py_piece page;
  if (!hp_py_hold_piece(&page, values[0])) return NULL;
  hpar_rewriter *rewriter = NULL;
  hp_py_buffer output = {NULL, 0, 0};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hp_py_end_function *ends = NULL;
  call here = {.state = state, .ends = &ends, .saved = PyEval_SaveThread(), .outer = running};
  running = &here;
  hpar_status status = hpar_rewriter_create(&rewriter);
  if (!status)
    status = hpar_rewrite(rewriter, ((rules *)values[1])->set, &options, page.bytes, page.length, &stats, hp_py_write,
                          &output);
  running = here.outer;
  PyEval_RestoreThread(here.saved);
  hp_py_release_piece(&page);
  while (ends) hp_py_drop_end_function(ends);
  if (here.exception) {
    PyErr_Restore(here.exception, here.value, here.trace);
    free(output.bytes);
  } else if (status && (options.on_failure != HPAR_FAIL_PASS || status < HPAR_LIMIT_DEPTH)) {
    hp_py_raise(state, status, rewriter ? hpar_rewriter_error(rewriter)->text : NULL);
    free(output.bytes);
  } else {
    PyObject *bytes = hp_py_buffer_bytes(&output, HPAR_OK), *counts = bytes ? stats_of(&stats) : NULL;
    if (counts && hp_py_put_text(counts, "failure", status ? hpar_status_text(status) : NULL))
      result = Py_BuildValue("(OO)", bytes, counts);
    Py_XDECREF(bytes);
    Py_XDECREF(counts);
  }
  hpar_rewriter_destroy(rewriter);
  return result;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Compiled rules: see hpar.rewrite.")},
    {Py_tp_new, make_rules},
    {Py_tp_dealloc, free_rules},
    {Py_tp_traverse, traverse_rules},
    {Py_tp_clear, clear_rules},
    {0, NULL},
};

PyType_Spec hp_py_rules_spec = {
    .name = "hpar._core.Rules",
    .basicsize = sizeof(rules),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
