/* Batch: parses many inputs on several threads, and hands the documents over as each is complete.
 *
 * hpar_parse_many runs on a thread of the batch. Its callback marks an input as complete under the
 * lock and wakes the program's thread. The program's thread waits without the interpreter's lock.
 * The parsing threads never use Python. */

#include "module.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct batch {
  PyObject_HEAD hp_py_state *state;
  PyObject *values;           /* the option values that `options` borrows */
  hp_py_document **documents; /* owned until the program takes them */
  hp_py_options options;
  hpar_parser *parser;
  hpar_input *inputs;
  size_t *order; /* indices of complete inputs, in that order */
  bool *complete;
  size_t count, completed, taken, index; /* `completed` and what it covers: under the lock */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started, ended; /* ended: hpar_parse_many has returned; under the lock */
  hpar_status status;
} batch;

/*** the parsing threads ***/

static void keep_document(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                          const hpar_stats *stats, unsigned thread, void *context) {
  batch *b = context;
  (void)document;
  (void)thread;
  hp_py_document *d = b->documents[index];
  d->status = input->status;
  if (!hp_py_keep_results(d, parser, stats)) d->status = HPAR_ERROR_MEMORY;
  pthread_mutex_lock(&b->lock);
  b->complete[index] = true;
  b->order[b->completed++] = index;
  pthread_cond_signal(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

static void *run(void *context) {
  batch *b = context;
  hpar_status status = hpar_parse_many(b->parser, &b->options.c, b->inputs, b->count, NULL, keep_document, b);
  pthread_mutex_lock(&b->lock);
  b->status = status;
  b->ended = true;
  pthread_cond_signal(&b->changed);
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

/*** construction ***/

static void free_batch(PyObject *self) {
  batch *b = (batch *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (b->started) {
    Py_BEGIN_ALLOW_THREADS;
    pthread_join(b->thread, NULL);
    Py_END_ALLOW_THREADS;
  }
  if (b->parser) hp_py_return_parser(b->state, b->parser);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
  free(b->inputs);
  free(b->order);
  free(b->complete);
  for (size_t i = 0; b->documents && i < b->count; i++) Py_XDECREF((PyObject *)b->documents[i]);
  free(b->documents);
  Py_XDECREF(b->values);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* The program's thread alone takes documents, so that the array does not change here. */
static int traverse_batch(PyObject *self, visitproc visit, void *arg) {
  const batch *b = (batch *)self;
  Py_VISIT(Py_TYPE(self));
  for (size_t i = 0; b->documents && i < b->count; i++) Py_VISIT((PyObject *)b->documents[i]);
  return 0;
}

/* Makes a document for each input. All are str, or none is: only one encoding applies to a batch. */
static bool add_inputs(batch *b, PyObject *all) {
  bool text = false;
  for (size_t i = 0; i < b->count; i++) {
    PyObject *input = hp_py_open_input(PyTuple_GetItem(all, (Py_ssize_t)i));
    if (!input) return false;
    if (!i) text = PyUnicode_Check(input);
    hp_py_document *d = NULL;
    bool fine = PyUnicode_Check(input) == text;
    if (!fine) PyErr_SetString(PyExc_TypeError, "a batch has either str or bytes as inputs, not both");
    if (!i && text) fine = hp_py_check_encoding(PyTuple_GetItem(b->values, HP_PY_ENCODING));
    if (text) b->options.c.encoding = "utf-8";
    if (fine) d = hp_py_new_document(b->state, input, &b->options);
    Py_DECREF(input);
    if (!d) return false;
    b->documents[i] = d;
    b->inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = d->bytes, .length = d->length, .document = d->tree};
  }
  return true;
}

static bool start(batch *b, PyObject *all, PyObject *const *values) {
  b->values = PyTuple_New(HP_PY_OPTIONS);
  for (int i = 0; b->values && i < HP_PY_OPTIONS; i++)
    PyTuple_SetItem(b->values, i, Py_NewRef(values[i] ? values[i] : Py_None));
  b->documents = calloc(b->count + 1, sizeof *b->documents);
  b->inputs = calloc(b->count + 1, sizeof *b->inputs);
  b->order = calloc(b->count + 1, sizeof *b->order);
  b->complete = calloc(b->count + 1, sizeof *b->complete);
  if (!b->values || !b->documents || !b->inputs || !b->order || !b->complete) {
    PyErr_NoMemory();
    return false;
  }
  if (!add_inputs(b, all) || !(b->parser = hp_py_take_parser(b->state))) return false;
  b->started = !pthread_create(&b->thread, NULL, run, b);
  if (!b->started) PyErr_NoMemory();
  return b->started;
}

PyObject *hp_py_start_batch(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[1 + HP_PY_OPTIONS] = {"inputs",     "threads", "encoding",  "fragment",
                                                       "limits",     "mode",    "scripting", "positions",
                                                       "max_errors", "copy",    "editable"};
  static const hp_py_signature signature = {"parse_many", names, 1 + HP_PY_OPTIONS, 1, 1};
  PyObject *values[1 + HP_PY_OPTIONS];
  hp_py_options options;
  hp_py_state *state = PyModule_GetState(module);
  if (!hp_py_arguments(&signature, arguments, count, keywords, values) || !hp_py_read_options(&options, values + 1))
    return NULL;
  if (!PyList_Check(values[0])) {
    PyErr_SetString(PyExc_TypeError, "inputs must be a list");
    return NULL;
  }
  PyObject *all = PyList_AsTuple(values[0]); /* which files cannot change while they are read */
  batch *b = all ? PyObject_GC_New(batch, state->batch) : NULL;
  if (!b) {
    Py_XDECREF(all);
    return NULL;
  }
  *b = (batch){.ob_base = b->ob_base, .state = state, .options = options, .count = (size_t)PyTuple_Size(all)};
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->changed, NULL);
  const bool started = start(b, all, values + 1);
  Py_DECREF(all);
  if (!started) {
    Py_DECREF((PyObject *)b);
    return NULL;
  }
  PyObject_GC_Track(b);
  return (PyObject *)b;
}

/*** results ***/

/* Waits until the input at `index` is complete, or for SIZE_MAX until any other one is. Returns its
 * index, or SIZE_MAX if the batch has failed. Needs no Python thread state. */
static size_t wait_for(batch *b, size_t index) {
  pthread_mutex_lock(&b->lock);
  while (!b->ended && (index == SIZE_MAX ? b->completed <= b->taken : !b->complete[index]))
    pthread_cond_wait(&b->changed, &b->lock);
  if (index == SIZE_MAX && b->completed > b->taken) index = b->order[b->taken++];
  bool complete = index != SIZE_MAX && b->complete[index];
  pthread_mutex_unlock(&b->lock);
  return complete ? index : SIZE_MAX;
}

/* Gives the document to the program, or raises the exception of its status. */
static PyObject *take(batch *b, size_t index) {
  size_t at;
  Py_BEGIN_ALLOW_THREADS;
  at = wait_for(b, index);
  Py_END_ALLOW_THREADS;
  hp_py_document *d = at == SIZE_MAX ? NULL : b->documents[at];
  if (!d) {
    if (b->status)
      hp_py_raise(b->state, b->status, hpar_parser_error(b->parser)->text);
    else
      PyErr_SetString(PyExc_IndexError, "the document has been taken");
    return NULL;
  }
  b->documents[at] = NULL;
  b->index = at;
  return hp_py_check_document(d, NULL);
}

static PyObject *result(PyObject *self, PyObject *number) {
  batch *b = (batch *)self;
  Py_ssize_t index = PyLong_AsSsize_t(number);
  if (index == -1 && PyErr_Occurred()) return NULL;
  if (index >= 0 && (size_t)index < b->count) return take(b, (size_t)index);
  PyErr_SetString(PyExc_IndexError, "input index out of range");
  return NULL;
}

static PyObject *next_completed(PyObject *self, PyObject *ignored) {
  (void)ignored;
  batch *b = (batch *)self;
  if (b->taken < b->count) return take(b, SIZE_MAX);
  PyErr_SetString(PyExc_IndexError, "all documents have been taken");
  return NULL;
}

static PyObject *get_index(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromSize_t(((batch *)self)->index);
}

static PyMethodDef methods[] = {
    {"result", result, METH_O, PyDoc_STR("result($self, index, /)\n--\n\nWaits for a document and returns it.")},
    {"next_completed", next_completed, METH_NOARGS,
     PyDoc_STR("next_completed($self, /)\n--\n\nWaits for the next complete document and returns it.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"index", get_index, NULL, PyDoc_STR("The index of the input of the last result."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Documents that threads parse at the moment.")},
    {Py_tp_dealloc, free_batch},
    {Py_tp_traverse, traverse_batch},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_batch_spec = {
    .name = "hpar._core.Batch",
    .basicsize = sizeof(batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
