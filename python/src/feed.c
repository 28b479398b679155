/* Feed: a parse of input that arrives in pieces. hpar.Parser holds one. The document is nobody else's
 * until the feed ends. */

#include "module.h"

typedef struct feed {
  PyObject_HEAD hp_py_state *state;
  PyObject *values; /* the option values that `options` borrows */
  hp_py_options options;
  hp_py_document *document;
  hpar_parser *parser; /* NULL: the feed has ended */
  bool busy;           /* a call of another thread has released the interpreter's lock */
  hp_py_kind kind;
} feed;

static void free_feed(PyObject *self) {
  feed *f = (feed *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (f->parser) hpar_parser_destroy(f->parser); /* abandons what it was fed */
  Py_XDECREF((PyObject *)f->document);
  Py_XDECREF(f->values);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject *hp_py_start_feed(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  hp_py_state *state = PyModule_GetState(module);
  const hp_py_signature signature = {"Parser", hp_py_option_names, HP_PY_OPTIONS, 0, 0};
  PyObject *values[HP_PY_OPTIONS];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  feed *f = PyObject_New(feed, state->feed);
  if (!f) return NULL;
  f->state = state;
  f->values = PyTuple_New(HP_PY_OPTIONS);
  f->document = NULL;
  f->parser = NULL;
  f->busy = false;
  f->kind = HP_PY_NO_PIECE;
  PyObject *nothing = PyBytes_FromStringAndSize(NULL, 0);
  bool fine = f->values && nothing && hp_py_read_options(&f->options, values);
  for (int i = 0; fine && i < HP_PY_OPTIONS; i++)
    PyTuple_SetItem(f->values, i, Py_NewRef(values[i] ? values[i] : Py_None));
  fine =
      fine && (f->document = hp_py_new_document(state, nothing, &f->options)) && (f->parser = hp_py_take_parser(state));
  Py_XDECREF(nothing);
  if (fine) {
    f->document->fed = true;
    hpar_status status = hpar_parser_begin(f->parser, &f->options.c, f->document->tree);
    if (!status) return (PyObject *)f;
    hp_py_raise(state, status, hpar_parser_error(f->parser)->text);
  }
  Py_DECREF((PyObject *)f);
  return NULL;
}

static bool enter(feed *f) {
  if (f->parser && !f->busy) return f->busy = true;
  PyErr_SetString(f->state->error, f->parser ? "another thread uses the parser" : "the parser is closed");
  return false;
}

/* Ends the feed, and returns the document, or NULL with the exception of its status. */
static PyObject *finish(feed *f) {
  hp_py_document *d = f->document;
  hpar_stats stats = {HPAR_STATS_INIT};
  Py_BEGIN_ALLOW_THREADS;
  d->status = hpar_parser_finish(f->parser, &stats);
  if (!hp_py_keep_results(d, f->parser, &stats)) d->status = HPAR_ERROR_MEMORY;
  Py_END_ALLOW_THREADS;
  f->document = NULL;
  f->busy = false;
  PyObject *result = hp_py_check_document(d, hpar_parser_error(f->parser)->text);
  hp_py_return_parser(f->state, f->parser);
  f->parser = NULL;
  return result;
}

/* A str is UTF-8, whatever its page declares, so that the feed begins again. */
static bool accept_kind(feed *f, const hp_py_piece *piece) {
  if (!hp_py_check_kind(f->kind, piece)) return false;
  hpar_status status = HPAR_OK;
  if (f->kind == HP_PY_NO_PIECE && piece->is_text) {
    f->options.c.encoding = "utf-8";
    status = hpar_parser_begin(f->parser, &f->options.c, f->document->tree);
  }
  if (status) hp_py_raise(f->state, status, hpar_parser_error(f->parser)->text);
  f->kind = piece->is_text ? HP_PY_TEXT_PIECES : HP_PY_BYTE_PIECES;
  return !status;
}

static PyObject *feed_piece(PyObject *self, PyObject *data) {
  feed *f = (feed *)self;
  hp_py_piece piece;
  if (!hp_py_hold_piece(&piece, data)) return NULL;
  if (!enter(f)) {
    hp_py_release_piece(&piece);
    return NULL;
  }
  hpar_status status = HPAR_OK;
  const bool accepted = accept_kind(f, &piece);
  if (accepted && piece.length) {
    Py_BEGIN_ALLOW_THREADS;
    status = hpar_parser_feed(f->parser, piece.bytes, piece.length);
    Py_END_ALLOW_THREADS;
  }
  hp_py_release_piece(&piece);
  f->busy = status != HPAR_OK;
  if (!accepted) return NULL;
  if (!status) return Py_NewRef(Py_None);
  PyObject *document = finish(f); /* raises the status of the feed */
  if (document) hp_py_raise(f->state, status, NULL);
  Py_XDECREF(document);
  return NULL;
}

static PyObject *close_feed(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return enter((feed *)self) ? finish((feed *)self) : NULL;
}

static PyMethodDef methods[] = {
    {"feed", feed_piece, METH_O, NULL},
    {"close", close_feed, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, free_feed}, {Py_tp_methods, methods}, HP_PY_NO_NEW, {0, NULL}};

PyType_Spec hp_py_feed_spec = {
    .name = "hpar._core.Feed",
    .basicsize = sizeof(feed),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
