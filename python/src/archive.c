/* Archive: the records of a web archive that arrives in pieces, by the reader of the program. hpar.warc
 * feeds it, and takes one record after the other. The reader runs without the interpreter's lock, so
 * that the archive keeps a copy of each record until the program takes it. */

#include "module.h"

#include "programs/warc/fields.h"
#include "programs/warc/http.h"
#include "programs/warc/warc.h"

#include <stdlib.h>
#include <string.h>

typedef struct record {
  struct record *next;
  const char *problem; /* NULL: none */
  uint64_t offset, inner;
  size_t head_length, block_length;
  char bytes[]; /* the head and the block */
} record;

typedef struct archive {
  PyObject_HEAD hp_py_state *state;
  hp_warc_reader *reader; /* NULL: the file has ended */
  record *first, **last;
  bool busy; /* a call of another thread has released the interpreter's lock */
  bool short_of_memory;
} archive;

static bool keep_record(void *context, const hp_warc_record *r) {
  archive *a = context;
  record *copy = malloc(sizeof *copy + r->head.length + r->block.length);
  if (!copy) {
    a->short_of_memory = true;
    return false;
  }
  copy->next = NULL;
  copy->problem = r->problem ? hp_warc_problem_name(r->problem) : NULL;
  copy->offset = r->offset;
  copy->inner = r->inner;
  copy->head_length = r->head.length;
  copy->block_length = r->block.length;
  if (r->head.length) memcpy(copy->bytes, r->head.bytes, r->head.length);
  if (r->block.length) memcpy(copy->bytes + r->head.length, r->block.bytes, r->block.length);
  *a->last = copy;
  a->last = &copy->next;
  return true;
}

static void free_archive(PyObject *self) {
  archive *a = (archive *)self;
  PyTypeObject *type = Py_TYPE(self);
  hp_warc_destroy(a->reader);
  for (record *r; (r = a->first);) {
    a->first = r->next;
    free(r);
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject *hp_py_open_archive(PyObject *module, PyObject *max_record) {
  hp_py_state *state = PyModule_GetState(module);
  hp_warc_options options = {0};
  if (!hp_py_read_number(max_record, "max_record", &options.max_block)) return NULL;
  archive *a = PyObject_New(archive, state->archive);
  if (!a) return NULL;
  a->state = state;
  a->reader = NULL;
  a->first = NULL;
  a->last = &a->first;
  a->busy = a->short_of_memory = false;
  if (hp_warc_create(&a->reader, &options, keep_record, a)) {
    Py_DECREF((PyObject *)a);
    return PyErr_NoMemory();
  }
  return (PyObject *)a;
}

static bool enter(archive *a) {
  if (a->reader && !a->busy) return a->busy = true;
  PyErr_SetString(a->state->error, a->reader ? "another thread reads the archive" : "the archive has ended");
  return false;
}

/* Ends a call of the reader, which is of no further use after a failure. */
static PyObject *leave(archive *a, hpar_status status, bool ends) {
  const char *missing = hp_warc_missing(a->reader);
  if (a->short_of_memory) status = HPAR_ERROR_MEMORY;
  if (status) hp_py_raise(a->state, status, missing);
  if (status || ends) {
    hp_warc_destroy(a->reader);
    a->reader = NULL;
  }
  a->busy = false;
  return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *archive_feed(PyObject *self, PyObject *data) {
  archive *a = (archive *)self;
  hp_py_piece piece;
  if (!hp_py_hold_piece(&piece, data)) return NULL;
  if (piece.is_text) PyErr_SetString(PyExc_TypeError, "an archive has to be open in binary mode");
  if (piece.is_text || !enter(a)) {
    hp_py_release_piece(&piece);
    return NULL;
  }
  hpar_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = hp_warc_feed(a->reader, piece.bytes, piece.length);
  Py_END_ALLOW_THREADS;
  hp_py_release_piece(&piece);
  return leave(a, status, false);
}

static PyObject *archive_close(PyObject *self, PyObject *ignored) {
  (void)ignored;
  archive *a = (archive *)self;
  if (!enter(a)) return NULL;
  hpar_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = hp_warc_finish(a->reader);
  Py_END_ALLOW_THREADS;
  return leave(a, status, true);
}

static PyObject *text_of(hpar_string value) { return hp_py_str(value.bytes ? value.bytes : "", value.length); }

/* Returns (problem or None, offset, inner, head, block, type, URI, date), or None if there is no record. */
static PyObject *archive_next(PyObject *self, PyObject *ignored) {
  (void)ignored;
  archive *a = (archive *)self;
  if (a->busy) return PyErr_Format(a->state->error, "another thread reads the archive");
  record *r = a->first;
  if (!r) return Py_NewRef(Py_None);
  a->first = r->next;
  if (!a->first) a->last = &a->first;
  const hpar_string head = {r->bytes, r->head_length};
  PyObject *block = hp_py_bytes(r->bytes + r->head_length, r->block_length);
  PyObject *type = text_of(hp_warc_field(head, "WARC-Type")), *uri = text_of(hp_warc_uri(head)),
           *date = text_of(hp_warc_field(head, "WARC-Date")), *result = NULL;
  if (block && type && uri && date)
    result = Py_BuildValue("(zKKy#OOOO)", r->problem, (unsigned long long)r->offset, (unsigned long long)r->inner,
                           head.bytes, (Py_ssize_t)head.length, block, type, uri, date);
  Py_XDECREF(block);
  Py_XDECREF(type);
  Py_XDECREF(uri);
  Py_XDECREF(date);
  free(r);
  return result;
}

/*** heads and messages ***/

PyObject *hp_py_fields(PyObject *module, PyObject *data) {
  (void)module;
  char *bytes;
  Py_ssize_t length;
  if (PyBytes_AsStringAndSize(data, &bytes, &length)) return NULL;
  const hpar_string head = {bytes, (size_t)length};
  PyObject *list = PyList_New(0);
  hpar_string name, value;
  for (const char *at = NULL; list && (name = hp_warc_next_field(head, &at, &value)).length;) {
    PyObject *first = hp_py_string(name), *second = hp_py_string(value);
    PyObject *field = first && second ? PyTuple_Pack(2, first, second) : NULL;
    if (!field || PyList_Append(list, field)) Py_CLEAR(list);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(field);
  }
  return list;
}

PyObject *hp_py_message(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
  hp_py_state *state = PyModule_GetState(module);
  char *bytes;
  Py_ssize_t length;
  uint64_t limit;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "a block and a limit expected");
  if (PyBytes_AsStringAndSize(arguments[0], &bytes, &length) || !hp_py_read_number(arguments[1], "limit", &limit))
    return NULL;
  hp_http_memory memory = {0};
  hp_http_message m;
  hpar_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = hp_http_read((hpar_string){bytes, (size_t)length}, (size_t)limit, &memory, &m);
  Py_END_ALLOW_THREADS;
  PyObject *result = NULL, *body = status ? NULL : hp_py_bytes(m.body.bytes, m.body.length);
  if (status) hp_py_raise(state, status, NULL);
  if (body)
    result = Py_BuildValue("(zIy#zNO)", m.problem ? hp_http_problem_name(m.problem) : NULL, m.status, m.head.bytes,
                           (Py_ssize_t)m.head.length, hpar_encoding_name(m.charset),
                           hp_py_str(m.coding, strlen(m.coding)), body);
  Py_XDECREF(body);
  hp_http_memory_free(&memory);
  return result;
}

static PyMethodDef methods[] = {
    {"feed", archive_feed, METH_O, NULL},
    {"close", archive_close, METH_NOARGS, NULL},
    {"next", archive_next, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, free_archive}, {Py_tp_methods, methods}, HP_PY_NO_NEW, {0, NULL}};

PyType_Spec hp_py_archive_spec = {
    .name = "hpar._core.Archive",
    .basicsize = sizeof(archive),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
