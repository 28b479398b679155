/* Selectors, and sequences of the nodes that match. A selection runs without the interpreter's
 * lock. It makes one array of handles. A node becomes an object when the program accesses it. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

typedef struct selector {
  PyObject_HEAD hpar_selectors *set;
  PyObject *text;
} selector;

typedef struct nodes {
  PyObject_HEAD hp_py_document *document;
  hpar_node *handles;
  size_t count;
} nodes;

/*** selectors ***/

void hp_py_raise_selector_error(const hp_py_state *state, PyObject *message, size_t place) {
  PyObject *exception = message ? PyObject_CallFunctionObjArgs(state->selector_error, message, NULL) : NULL;
  PyObject *offset = exception ? PyLong_FromSize_t(place) : NULL;
  if (offset && !PyObject_SetAttrString(exception, "offset", offset)) PyErr_SetObject(state->selector_error, exception);
  Py_XDECREF(offset);
  Py_XDECREF(exception);
  Py_XDECREF(message);
}

static PyObject *new_selector(hp_py_state *state, PyObject *text) {
  Py_ssize_t length;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (!bytes) return NULL;
  selector *s = PyObject_GC_New(selector, state->selector);
  if (!s) return NULL;
  s->set = NULL;
  s->text = Py_NewRef(text);
  hpar_error error = {.status = HPAR_OK};
  hpar_status status = hpar_selectors_create(&s->set);
  if (!status) status = hpar_selectors_add(s->set, bytes, (size_t)length, &error);
  PyObject_GC_Track(s);
  if (!status) return (PyObject *)s;
  if (status == HPAR_ERROR_ARGUMENT)
    hp_py_raise_selector_error(state, PyUnicode_FromFormat("%s at byte %zu of %R", error.text, error.offset, text),
                               error.offset);
  else
    hp_py_raise(state, status, NULL);
  Py_DECREF((PyObject *)s);
  return NULL;
}

static PyObject *make_selector(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"text", NULL};
  PyObject *text;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U", names, &text)) return NULL;
  return new_selector(PyType_GetModuleState(type), text);
}

/* The module keeps selectors, and their type the module. */
static int traverse_selector(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

static void free_selector(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  hpar_selectors_destroy(((selector *)self)->set);
  Py_XDECREF(((selector *)self)->text);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyObject *reduce_selector(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return Py_BuildValue("(O(O))", Py_TYPE(self), ((selector *)self)->text);
}

static PyMethodDef selector_methods[] = {{"__reduce__", reduce_selector, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyObject *represent_selector(PyObject *self) {
  return PyUnicode_FromFormat("Selector(%R)", ((selector *)self)->text);
}

/* Returns a compiled selector. The module keeps those of the last texts. */
static PyObject *to_selector(hp_py_state *state, PyObject *value) {
  if (Py_IS_TYPE(value, state->selector)) return Py_NewRef(value);
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "a selector must be str or hpar.Selector, not %R", Py_TYPE(value));
    return NULL;
  }
  PyObject *found = PyDict_GetItemWithError(state->selectors, value);
  if (found) return Py_NewRef(found);
  if (PyErr_Occurred()) return NULL;
  found = new_selector(state, value);
  if (!found) return NULL;
  if (PyDict_Size(state->selectors) >= HP_PY_SELECTORS) PyDict_Clear(state->selectors);
  if (PyDict_SetItem(state->selectors, value, found)) Py_CLEAR(found);
  return found;
}

/*** selection ***/

typedef struct matches {
  hpar_node *handles;
  size_t count, capacity, limit;
  bool failed;
} matches;

static hpar_status keep_match(hpar_node element, uint32_t number, void *context) {
  matches *m = context;
  (void)number;
  if (m->count == m->capacity) {
    size_t capacity = m->capacity ? 2 * m->capacity : 16;
    hpar_node *grown = realloc(m->handles, capacity * sizeof *grown);
    m->failed = !grown;
    if (!grown) return HPAR_STOP;
    m->handles = grown;
    m->capacity = capacity;
  }
  m->handles[m->count++] = element;
  return m->count != m->limit ? HPAR_OK : HPAR_STOP;
}

/* Collects the matches below `top`. Returns false with an exception. */
static bool select_below(hp_py_document *d, hpar_node top, PyObject *text, unsigned threads, matches *m) {
  PyObject *chosen = to_selector(d->state, text);
  if (!chosen) return false;
  const hpar_selectors *set = ((selector *)chosen)->set;
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads};
  PyThreadState *saved = hp_py_begin_read(d);
  hpar_status status = hpar_select(set, d->tree, top, &options, keep_match, m);
  hp_py_end_read(d, saved);
  Py_DECREF(chosen);
  if (m->failed) status = HPAR_ERROR_MEMORY;
  if (!status) return true;
  free(m->handles);
  hp_py_raise(d->state, status, NULL);
  return false;
}

/* Selects with a selector that the library has refused, if it is one of hpar.extended. Otherwise the
 * exception stays. */
static PyObject *extended(hp_py_document *d, hpar_node top, PyObject *text) {
  if (!PyErr_ExceptionMatches(d->state->selector_error) || !PyUnicode_Check(text)) return NULL;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *node = hp_py_new_node(d, top);
  PyObject *found = node ? hp_py_delegate("hpar.extended", "css", node, &text, 1, NULL) : NULL;
  Py_XDECREF(node);
  if (found == Py_NotImplemented) {
    Py_DECREF(found);
    PyErr_Restore(type, value, trace);
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return found;
}

PyObject *hp_py_css(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *keywords) {
  static const char *const names[] = {"selector", "threads"};
  static const hp_py_signature signature = {"css", names, 2, 1, 1};
  PyObject *values[2];
  matches m = {0};
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  unsigned threads = 1;
  if (values[1] && !hp_py_read_threads(values[1], &threads)) return NULL;
  if (!select_below(d, top, values[0], threads, &m)) return extended(d, top, values[0]);
  return hp_py_new_nodes(d, m.handles, m.count);
}

PyObject *hp_py_css_first(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords) {
  static const char *const names[] = {"selector", "default", "strict"};
  static const hp_py_signature signature = {"css_first", names, 3, 1, 3};
  PyObject *values[3];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  int strict = values[2] ? PyObject_IsTrue(values[2]) : 0;
  matches m = {.limit = strict ? 0 : 1};
  hpar_node first = HPAR_NO_NODE;
  if (strict < 0) return NULL;
  if (!select_below(d, top, values[0], 1, &m)) {
    PyObject *found = extended(d, top, values[0]);
    if (!found) return NULL;
    /* A program may have replaced hpar.extended.css, or hold the sequence, too. */
    const nodes *n = (nodes *)found;
    const bool fits = Py_IS_TYPE(found, d->state->nodes) && n->document == d;
    if (fits) {
      m.count = n->count;
      first = n->count ? n->handles[0] : HPAR_NO_NODE;
    }
    Py_DECREF(found);
    if (!fits) return PyErr_Format(PyExc_TypeError, "hpar.extended.css() must return nodes of this document");
  } else {
    if (m.count) first = m.handles[0];
    free(m.handles);
  }
  if (strict && m.count != 1) {
    PyErr_Format(PyExc_ValueError, "expected 1 match, but found %zu matches", m.count);
    return NULL;
  }
  if (!first) return Py_NewRef(values[1] ? values[1] : Py_None);
  return hp_py_new_node(d, first);
}

/* Returns 1 if the element itself matches, 0 if not, -1 with an exception. */
static int element_matches(hp_py_document *d, hpar_node element, PyObject *text) {
  PyObject *chosen = to_selector(d->state, text);
  if (!chosen) return -1;
  bool matching = false;
  hpar_status status;
  PyThreadState *saved = hp_py_begin_read(d);
  status = hpar_matches(((selector *)chosen)->set, d->tree, element, HPAR_ANY_SELECTOR, &matching);
  hp_py_end_read(d, saved);
  Py_DECREF(chosen);
  if (!status) return matching;
  hp_py_raise(d->state, status, NULL);
  return -1;
}

static int subtree_matches(hp_py_document *d, hpar_node top, PyObject *text) {
  matches m = {.limit = 1};
  int self = element_matches(d, top, text);
  if (self) return self;
  if (!select_below(d, top, text, 1, &m)) return -1;
  free(m.handles);
  return m.count > 0;
}

PyObject *hp_py_matches(hp_py_document *d, hpar_node element, PyObject *text) {
  int matching = element_matches(d, element, text);
  return matching < 0 ? NULL : PyBool_FromLong(matching);
}

PyObject *hp_py_css_matches(hp_py_document *d, hpar_node top, PyObject *text) {
  int matching = subtree_matches(d, top, text);
  return matching < 0 ? NULL : PyBool_FromLong(matching);
}

PyObject *hp_py_any_css_matches(hp_py_document *d, hpar_node top, PyObject *texts) {
  PyObject *iterator = PyObject_GetIter(texts), *text;
  if (!iterator) return NULL;
  int matching = 0;
  while (!matching && (text = PyIter_Next(iterator))) {
    matching = subtree_matches(d, top, text);
    Py_DECREF(text);
  }
  Py_DECREF(iterator);
  return matching < 0 || PyErr_Occurred() ? NULL : PyBool_FromLong(matching);
}

/*** sequences of nodes ***/

PyObject *hp_py_new_nodes(hp_py_document *d, hpar_node *handles, size_t count) {
  nodes *n = PyObject_GC_New(nodes, d->state->nodes);
  if (!n) {
    free(handles);
    return NULL;
  }
  n->document = (hp_py_document *)Py_NewRef((PyObject *)d);
  n->handles = handles;
  n->count = count;
  if (d->tracked) PyObject_GC_Track(n);
  return (PyObject *)n;
}

PyObject *hp_py_sequence(hp_py_document *d, PyObject *list) {
  if (!PyList_Check(list)) return PyErr_Format(PyExc_TypeError, "expected a list of nodes");
  const Py_ssize_t count = PyList_Size(list);
  hpar_node *handles = malloc((size_t)count * sizeof *handles + 1);
  if (!handles) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++) {
    const hp_py_node *n = (hp_py_node *)PyList_GetItem(list, i);
    if (!Py_IS_TYPE((PyObject *)n, d->state->node) || n->document != d) {
      free(handles);
      return PyErr_Format(PyExc_TypeError, "expected nodes of this document");
    }
    handles[i] = n->handle;
  }
  return hp_py_new_nodes(d, handles, (size_t)count);
}

static void free_nodes(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  free(((nodes *)self)->handles);
  Py_DECREF((PyObject *)((nodes *)self)->document);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int traverse_nodes(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)((nodes *)self)->document);
  return 0;
}

static Py_ssize_t count_nodes(PyObject *self) { return (Py_ssize_t)((nodes *)self)->count; }

static PyObject *item(PyObject *self, Py_ssize_t index) {
  const nodes *n = (nodes *)self;
  if (index >= 0 && (size_t)index < n->count) return hp_py_new_node(n->document, n->handles[index]);
  PyErr_SetString(PyExc_IndexError, "node index out of range");
  return NULL;
}

static PyObject *slice(const nodes *n, PyObject *key) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step)) return NULL;
  Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)n->count, &start, &stop, step);
  hpar_node *handles = malloc((size_t)count * sizeof *handles + 1);
  if (!handles) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++) handles[i] = n->handles[start + i * step];
  return hp_py_new_nodes(n->document, handles, (size_t)count);
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  if (PySlice_Check(key)) return slice((nodes *)self, key);
  Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) return NULL;
  return item(self, index < 0 ? index + count_nodes(self) : index);
}

/* Reads the node whose subtree has all the nodes. */
static const hp_py_node *read_top(const nodes *n, PyObject *value) {
  const hp_py_node *top = (hp_py_node *)value;
  if (Py_IS_TYPE(value, n->document->state->node) && top->document == n->document) return top;
  PyErr_SetString(PyExc_TypeError, "expected a node of the document");
  return NULL;
}

static PyObject *texts(PyObject *self, PyObject *value) {
  const nodes *n = (nodes *)self;
  const hp_py_node *top = read_top(n, value);
  return top ? hp_py_texts_of(n->document, top->handle, n->handles, n->count) : NULL;
}

static PyObject *containing(PyObject *self, PyObject *arguments) {
  const nodes *n = (nodes *)self;
  PyObject *value;
  const char *needle;
  Py_ssize_t length;
  int ignore_case;
  if (!PyArg_ParseTuple(arguments, "Os#p", &value, &needle, &length, &ignore_case)) return NULL;
  const hp_py_node *top = read_top(n, value);
  if (!top) return NULL;
  return hp_py_containing(n->document, top->handle, n->handles, n->count, (hpar_string){needle, (size_t)length},
                          ignore_case);
}

static PyMethodDef methods[] = {
    {"_texts", texts, METH_O, NULL},
    {"_containing", containing, METH_VARARGS, NULL},
    {"index", hp_py_sequence_index, METH_O,
     PyDoc_STR("index($self, node, /)\n--\n\nReturns the index of a node, or ValueError.")},
    {"count", hp_py_sequence_count, METH_O,
     PyDoc_STR("count($self, node, /)\n--\n\nReturns how often the sequence has a node.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot nodes_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A sequence of nodes that never changes. It takes 4 bytes for each node.")},
    {Py_tp_dealloc, free_nodes},
    {Py_tp_traverse, traverse_nodes},
    {Py_tp_richcompare, hp_py_sequence_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_repr, hp_py_sequence_repr},
    {Py_tp_methods, methods},
    {Py_sq_length, count_nodes},
    {Py_sq_item, item},
    {Py_mp_length, count_nodes},
    {Py_mp_subscript, subscript},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_nodes_spec = {
    .name = "hpar._core.Nodes",
    .basicsize = sizeof(nodes),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = nodes_slots,
};

static PyType_Slot selector_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Selector(text)\n--\n\n"
                                  "A compiled CSS selector. SelectorError: the text is not a supported selector.\n\n"
                                  ">>> selector = hpar.Selector('a[href]')\n"
                                  ">>> len(hpar.parse('<a href=b>').css(selector))\n1")},
    {Py_tp_new, make_selector},
    {Py_tp_dealloc, free_selector},
    {Py_tp_traverse, traverse_selector},
    {Py_tp_methods, selector_methods},
    {Py_tp_repr, represent_selector},
    {0, NULL},
};

PyType_Spec hp_py_selector_spec = {
    .name = "hpar._core.Selector",
    .basicsize = sizeof(selector),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = selector_slots,
};
