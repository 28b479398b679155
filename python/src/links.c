/* Links as a sequence whose dicts are made when the program accesses them, and resources as a list of
 * dicts. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

/*** links ***/

enum { LINK_STRINGS = 3, LINK_KEYS };

typedef struct links {
  PyObject_HEAD hp_py_document *document;
  hp_py_buffer records;
  hp_py_buffer places;       /* size_t: where each record begins */
  PyObject **made;           /* the dicts; NULL: not accessed yet */
  PyObject *keys[LINK_KEYS]; /* of the strings, and of the element */
} links;

/* A link in the buffer, which the bytes of its strings follow. */
typedef struct link_record {
  hpar_node element;
  size_t lengths[LINK_STRINGS]; /* SIZE_MAX: no string */
  bool host_not_converted;
} link_record;

/* Runs without the interpreter's lock. */
static hpar_status keep_link(const hpar_link *link, void *context) {
  links *l = context;
  const hpar_string strings[LINK_STRINGS] = {link->attribute, link->value, link->url};
  link_record record = {.element = link->element, .host_not_converted = link->host_not_converted};
  for (int i = 0; i < LINK_STRINGS; i++) record.lengths[i] = strings[i].bytes ? strings[i].length : SIZE_MAX;
  hpar_status status = hp_py_write((const char *)&l->records.length, sizeof l->records.length, &l->places);
  if (!status) status = hp_py_write((const char *)&record, sizeof record, &l->records);
  for (int i = 0; i < LINK_STRINGS && !status; i++)
    if (strings[i].bytes) status = hp_py_write(strings[i].bytes, strings[i].length, &l->records);
  return status;
}

/* Puts `value` under the key, and drops the reference to it. */
static bool put(PyObject *dict, PyObject *key, PyObject *value) {
  const bool fine = value && !PyDict_SetItem(dict, key, value);
  Py_XDECREF(value);
  return fine;
}

static PyObject *make_link(const links *l, size_t place) {
  const char *at = l->records.bytes + place;
  link_record record;
  memcpy(&record, at, sizeof record);
  at += sizeof record;
  PyObject *d = PyDict_New();
  bool fine = d && put(d, l->keys[LINK_STRINGS], hp_py_new_node(l->document, record.element));
  for (int i = 0; i < LINK_STRINGS && fine; i++) {
    const bool exists = record.lengths[i] != SIZE_MAX;
    const hpar_string s = {at, exists ? record.lengths[i] : 0};
    fine = put(d, l->keys[i], exists ? hp_py_string(s) : Py_NewRef(Py_None));
    at += s.length;
  }
  if (record.host_not_converted) fine = fine && hp_py_put(d, "host_not_converted", PyBool_FromLong(1));
  if (!fine) Py_CLEAR(d);
  return d;
}

static Py_ssize_t count_links(PyObject *self) { return (Py_ssize_t)(((links *)self)->places.length / sizeof(size_t)); }

static PyObject *item(PyObject *self, Py_ssize_t index) {
  links *l = (links *)self;
  if (index < 0 || index >= count_links(self)) {
    PyErr_SetString(PyExc_IndexError, "link index out of range");
    return NULL;
  }
  if (!l->made[index]) {
    size_t place;
    memcpy(&place, l->places.bytes + (size_t)index * sizeof place, sizeof place);
    PyObject *made = make_link(l, place);
    if (!made) return NULL;
    if (l->made[index]) /* by a finalizer, meanwhile */
      Py_DECREF(made);
    else
      l->made[index] = made;
  }
  return Py_NewRef(l->made[index]);
}

static PyObject *slice(PyObject *self, PyObject *key) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step)) return NULL;
  const Py_ssize_t count = PySlice_AdjustIndices(count_links(self), &start, &stop, step);
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; list && i < count; i++) {
    PyObject *link = item(self, start + i * step);
    if (!link || PyList_SetItem(list, i, link)) Py_CLEAR(list);
  }
  return list;
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  if (PySlice_Check(key)) return slice(self, key);
  const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return NULL;
  return item(self, index < 0 ? index + count_links(self) : index);
}

static int clear_links(PyObject *self) {
  links *l = (links *)self;
  for (Py_ssize_t i = 0; l->made && i < count_links(self); i++) Py_CLEAR(l->made[i]);
  return 0;
}

static int traverse_links(PyObject *self, visitproc visit, void *arg) {
  const links *l = (links *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)l->document);
  for (Py_ssize_t i = 0; l->made && i < count_links(self); i++) Py_VISIT(l->made[i]);
  return 0;
}

static void free_links(PyObject *self) {
  links *l = (links *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_links(self);
  for (int i = 0; i < LINK_KEYS; i++) Py_XDECREF(l->keys[i]);
  Py_DECREF((PyObject *)l->document);
  free(l->records.bytes);
  free(l->places.bytes);
  free(l->made);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"index", hp_py_sequence_index, METH_O,
     PyDoc_STR("index($self, link, /)\n--\n\nReturns the index of a link, or ValueError.")},
    {"count", hp_py_sequence_count, METH_O,
     PyDoc_STR("count($self, link, /)\n--\n\nReturns how often the sequence has a link.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A sequence of links. Each is a dict, which is made when it is accessed first.")},
    {Py_tp_dealloc, free_links},
    {Py_tp_traverse, traverse_links},
    {Py_tp_clear, clear_links},
    {Py_tp_richcompare, hp_py_sequence_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_repr, hp_py_sequence_repr},
    {Py_tp_methods, methods},
    {Py_sq_length, count_links},
    {Py_sq_item, item},
    {Py_mp_length, count_links},
    {Py_mp_subscript, subscript},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_links_spec = {
    .name = "hpar._core.Links",
    .basicsize = sizeof(links),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

static links *new_links(hp_py_document *document) {
  static const char *const names[LINK_KEYS] = {"attribute", "value", "url", "element"};
  links *l = PyObject_GC_New(links, document->state->links);
  if (!l) return NULL;
  memset((char *)l + sizeof(PyObject), 0, sizeof *l - sizeof(PyObject));
  l->document = (hp_py_document *)Py_NewRef((PyObject *)document);
  for (int i = 0; i < LINK_KEYS; i++)
    if (!(l->keys[i] = PyUnicode_InternFromString(names[i]))) {
      Py_DECREF((PyObject *)l);
      return NULL;
    }
  return l;
}

PyObject *hp_py_links(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
  static const char *const names[] = {"url"};
  static const hp_py_signature signature = {"links", names, 1, 0, 1};
  PyObject *url;
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT};
  if (!hp_py_arguments(&signature, arguments, count, keywords, &url) ||
      !hp_py_read_text(url, "url", &options.document_url))
    return NULL;
  links *l = new_links(document);
  if (!l) return NULL;
  PyThreadState *saved = hp_py_begin_read(document);
  hpar_status status = hpar_links(document->tree, top, &options, keep_link, l);
  l->made = calloc((size_t)count_links((PyObject *)l) + 1, sizeof *l->made);
  hp_py_end_read(document, saved);
  if (!status && !l->made) status = HPAR_ERROR_MEMORY;
  if (!status) {
    PyObject_GC_Track(l);
    return (PyObject *)l;
  }
  hp_py_raise(document->state, status, "url must be a valid absolute URL");
  Py_DECREF((PyObject *)l);
  return NULL;
}

/*** resources ***/

enum { AT_ONCE = 512 };

static bool put_flags(PyObject *dict, unsigned flags) {
  static const char *const names[] = {"async", "defer", "lazy", "source"};
  bool fine = true;
  for (unsigned i = 0; fine && i < 4; i++)
    if (flags >> i & 1) fine = hp_py_put(dict, names[i], PyBool_FromLong(1));
  return fine;
}

enum { RESOURCE_STRINGS = 13 };
static const char *const string_names[RESOURCE_STRINGS] = {
    "url",       "srcset",         "sizes",         "media",   "type",  "as",     "crossorigin",
    "integrity", "referrerpolicy", "fetchpriority", "charset", "nonce", "content"};

/* A resource in the buffer, which the bytes of its strings follow. */
typedef struct resource_record {
  hpar_resource_kind kind;
  unsigned flags;
  hpar_node element, picture;
  size_t lengths[RESOURCE_STRINGS]; /* SIZE_MAX: no string */
} resource_record;

/* Runs without the interpreter's lock. */
static hpar_status keep_resource(const hpar_resource *r, void *context) {
  hp_py_buffer *buffer = context;
  const hpar_string strings[RESOURCE_STRINGS] = {
      r->url,       r->srcset,         r->sizes,         r->media,   r->type,  r->as,     r->crossorigin,
      r->integrity, r->referrerpolicy, r->fetchpriority, r->charset, r->nonce, r->content};
  resource_record record = {.kind = r->kind, .flags = r->flags, .element = r->element, .picture = r->picture};
  for (int i = 0; i < RESOURCE_STRINGS; i++) record.lengths[i] = strings[i].bytes ? strings[i].length : SIZE_MAX;
  hpar_status status = hp_py_write((const char *)&record, sizeof record, buffer);
  for (int i = 0; i < RESOURCE_STRINGS && !status; i++)
    if (strings[i].bytes) status = hp_py_write(strings[i].bytes, strings[i].length, buffer);
  return status;
}

/* Appends the dict of the resource at `at`, and returns the end of it; NULL: an exception. */
static const char *append_resource(hp_py_document *document, PyObject *list, const char *at) {
  resource_record record;
  memcpy(&record, at, sizeof record);
  at += sizeof record;
  PyObject *d = PyDict_New();
  bool fine = d && hp_py_put_text(d, "kind", hpar_resource_kind_name(record.kind)) &&
              hp_py_put(d, "element", hp_py_new_node(document, record.element)) && put_flags(d, record.flags);
  for (int i = 0; i < RESOURCE_STRINGS; i++) {
    const bool exists = record.lengths[i] != SIZE_MAX;
    const hpar_string s = {exists ? at : NULL, exists ? record.lengths[i] : 0};
    if (exists || !i) fine = fine && hp_py_put(d, string_names[i], exists ? hp_py_string(s) : Py_NewRef(Py_None));
    at += s.length;
  }
  if (record.picture) fine = fine && hp_py_put(d, "picture", hp_py_new_node(document, record.picture));
  fine = fine && !PyList_Append(list, d);
  Py_XDECREF(d);
  if (fine) hp_py_let_others_run(document, list, AT_ONCE);
  return fine ? at : NULL;
}

PyObject *hp_py_resources(hp_py_document *document, hpar_node top) {
  hp_py_buffer buffer = {NULL, 0, 0};
  PyThreadState *saved = hp_py_begin_read(document);
  const hpar_status status = hpar_resources(document->tree, top, keep_resource, &buffer);
  hp_py_end_read(document, saved);
  PyObject *list = status ? NULL : PyList_New(0);
  if (status) hp_py_raise(document->state, status, NULL);
  const char *at = buffer.bytes;
  for (const char *end = at + buffer.length; list && at < end;)
    if (!(at = append_resource(document, list, at))) Py_CLEAR(list);
  free(buffer.bytes);
  return list;
}
