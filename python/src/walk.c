/* Iterators over children and over descendants. A loop may remove the node that it has: the iterator
 * then goes on with the node that followed its content. */

#include "module.h"

#include <stdlib.h>

typedef struct iterator {
  PyObject_HEAD hp_py_document *document;
  hpar_node top, next;
  hpar_node parent, sibling; /* of the last node, when it was returned */
  unsigned long removals;    /* of the document, when the last node was returned */
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
  it->parent = it->sibling = HPAR_NO_NODE;
  it->removals = d->removals;
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

PyObject *hp_py_iter_children(hp_py_document *d, hpar_node top) {
  PyObject *iterator_object = hp_py_iter(d, top, NULL, 0, NULL);
  if (iterator_object) ((iterator *)iterator_object)->include_text = true;
  return iterator_object;
}

Py_ssize_t hp_py_count_children(const hp_py_document *d, hpar_node node) {
  Py_ssize_t count = 0;
  for (hpar_node n = hpar_node_first_child(d->tree, node); n; n = hpar_node_next(d->tree, n)) count++;
  return count;
}

static hpar_node follow(const hpar_document *tree, hpar_node top, hpar_node node, hp_py_relation relation) {
  switch (relation) {
    case HP_PY_CHILDREN: return node == top ? hpar_node_first_child(tree, node) : hpar_node_next(tree, node);
    case HP_PY_DESCENDANTS: return hpar_node_walk(tree, top, node);
    case HP_PY_PARENTS: return hpar_node_parent(tree, node);
    case HP_PY_NEXT_SIBLINGS: return hpar_node_next(tree, node);
    default: return hpar_node_previous(tree, node);
  }
}

PyObject *hp_py_related(hp_py_document *d, hpar_node node, hp_py_relation relation) {
  hpar_node *handles = NULL;
  size_t count = 0, capacity = 0;
  bool failed = false;
  PyThreadState *saved = hp_py_begin_read(d);
  for (hpar_node n = follow(d->tree, node, node, relation); n && !failed; n = follow(d->tree, node, n, relation)) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      hpar_node *grown = realloc(handles, capacity * sizeof *grown);
      failed = !grown;
      if (grown) handles = grown;
    }
    if (!failed) handles[count++] = n;
  }
  hp_py_end_read(d, saved);
  if (!failed) return hp_py_new_nodes(d, handles, count);
  free(handles);
  return PyErr_NoMemory();
}

/* Returns the node that the iterator returns now, and remembers its place. */
static PyObject *advance(iterator *it, hpar_node node, hpar_node next) {
  const hpar_document *tree = it->document->tree;
  it->next = next;
  it->parent = hpar_node_parent(tree, node);
  it->sibling = hpar_node_next(tree, node);
  it->removals = it->document->removals;
  return node ? hp_py_new_node(it->document, node) : NULL;
}

static PyObject *next_child(PyObject *self) {
  iterator *it = (iterator *)self;
  const hpar_document *tree = it->document->tree;
  hpar_node node = it->next;
  if (hpar_node_parent(tree, node) != it->top) node = HPAR_NO_NODE; /* it has left */
  while (node && !it->include_text && hpar_node_kind(tree, node) == HPAR_NODE_TEXT) node = hpar_node_next(tree, node);
  return advance(it, node, hpar_node_next(tree, node));
}

static bool is_below(const hpar_document *tree, hpar_node top, hpar_node node) {
  while (node && node != top) node = hpar_node_parent(tree, node);
  return node == top;
}

/* Returns the next node after one was removed: the one that followed the last node, or if it has left
 * the subtree, what followed the content of the last node. */
static hpar_node find_next(const iterator *it) {
  const hpar_document *tree = it->document->tree;
  if (!it->next || is_below(tree, it->top, it->next)) return it->next;
  if (it->sibling && is_below(tree, it->top, it->sibling)) return it->sibling;
  if (!is_below(tree, it->top, it->parent)) return HPAR_NO_NODE;
  hpar_node node = it->parent;
  while (node != it->top && !hpar_node_next(tree, node)) node = hpar_node_parent(tree, node);
  return node == it->top ? HPAR_NO_NODE : hpar_node_next(tree, node);
}

static PyObject *next_descendant(PyObject *self) {
  iterator *it = (iterator *)self;
  const hpar_document *tree = it->document->tree;
  hpar_node node = it->removals == it->document->removals ? it->next : find_next(it);
  while (node && !it->include_text && node != it->top && hpar_node_kind(tree, node) == HPAR_NODE_TEXT)
    node = hpar_node_walk(tree, it->top, node);
  return advance(it, node, node ? hpar_node_walk(tree, it->top, node) : HPAR_NO_NODE);
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
                                     HP_PY_NO_NEW,                                                        \
                                     {0, NULL}};                                                          \
  PyType_Spec hp_py_##id##_spec = {.name = "hpar._core." title,                                           \
                                   .basicsize = sizeof(iterator),                                         \
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |                     \
                                            Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, \
                                   .slots = id##_slots}
ITERATOR(children, "Children", next_child);
ITERATOR(descendants, "Descendants", next_descendant);
