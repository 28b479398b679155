/* Iterators over children and over descendants. */

#include "module.h"

typedef struct iterator {
  PyObject_HEAD hp_py_document *document;
  hpar_node top, next;
  bool include_text;
} iterator;

static PyObject *new_iterator(PyTypeObject *type, hp_py_document *d, hpar_node top, hpar_node first,
                              const hp_py_signature *signature, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *keywords) {
  PyObject *include;
  if (!hp_py_arguments(signature, arguments, count, keywords, &include)) return NULL;
  int include_text = include ? PyObject_IsTrue(include) : 0;
  if (include_text < 0) return NULL;
  iterator *it = PyObject_GC_New(iterator, type);
  if (!it) return NULL;
  it->document = (hp_py_document *)Py_NewRef((PyObject *)d);
  it->top = top;
  it->next = first;
  it->include_text = include_text;
  if (d->tracked) PyObject_GC_Track(it);
  return (PyObject *)it;
}

static const char *const names[] = {"include_text"};

PyObject *hp_py_iter(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords) {
  static const hp_py_signature signature = {"iter", names, 1, 0, 1};
  hpar_node first = hpar_node_first_child(d->tree, top);
  return new_iterator(d->state->children, d, top, first, &signature, arguments, count, keywords);
}

PyObject *hp_py_traverse(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords) {
  static const hp_py_signature signature = {"traverse", names, 1, 0, 1};
  return new_iterator(d->state->descendants, d, top, top, &signature, arguments, count, keywords);
}

static PyObject *next_child(PyObject *self) {
  iterator *it = (iterator *)self;
  const hpar_document *tree = it->document->tree;
  hpar_node node = it->next;
  while (node && !it->include_text && hpar_node_kind(tree, node) == HPAR_NODE_TEXT) node = hpar_node_next(tree, node);
  it->next = hpar_node_next(tree, node);
  return node ? hp_py_new_node(it->document, node) : NULL;
}

static PyObject *next_descendant(PyObject *self) {
  iterator *it = (iterator *)self;
  const hpar_document *tree = it->document->tree;
  hpar_node node = it->next;
  while (node && !it->include_text && node != it->top && hpar_node_kind(tree, node) == HPAR_NODE_TEXT)
    node = hpar_node_walk(tree, it->top, node);
  it->next = node ? hpar_node_walk(tree, it->top, node) : HPAR_NO_NODE;
  return node ? hp_py_new_node(it->document, node) : NULL;
}

static void free_iterator(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF((PyObject *)((iterator *)self)->document);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int traverse_iterator(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)((iterator *)self)->document);
  return 0;
}

#define ITERATOR(id, title, next)                                                                         \
  static PyType_Slot id##_slots[] = {{Py_tp_dealloc, free_iterator},                                      \
                                     {Py_tp_traverse, traverse_iterator},                                 \
                                     {Py_tp_iter, PyObject_SelfIter},                                     \
                                     {Py_tp_iternext, next},                                              \
                                     {0, NULL}};                                                          \
  PyType_Spec hp_py_##id##_spec = {.name = "hpar._core." title,                                           \
                                   .basicsize = sizeof(iterator),                                         \
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |                     \
                                            Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, \
                                   .slots = id##_slots}
ITERATOR(children, "Children", next_child);
ITERATOR(descendants, "Descendants", next_descendant);
