/* A document as a list of events, from which Python code builds other trees: without an object for
 * each node, and with the contents of templates as children.
 *
 *   None                          the end of an element
 *   str                           a text
 *   (data,)                       a comment
 *   (target, data)                a processing instruction
 *   (name, namespace, attributes) the start of an element; attributes: None or a dict
 *   (name, public id, system id, None)  a doctype
 *
 * A key of the dict is a str, or (prefix or None, local name, namespace) for an attribute with a
 * namespace. Namespaces are the numbers of hpar_namespace. */

#include "module.h"

#include <stdlib.h>

typedef struct writer {
  hp_py_walk walk;
  hp_py_document *document;
  PyObject *list;
} writer;

enum { AT_ONCE = 256 };

static bool append(writer *w, PyObject *event) {
  bool fine = event && !PyList_Append(w->list, event);
  Py_XDECREF(event);
  if (fine) hp_py_let_others_run(w->document, w->list, AT_ONCE);
  return fine;
}

/* Returns an interned str: names and keys repeat. */
static PyObject *interned(hpar_string s) {
  PyObject *text = hp_py_string(s);
  if (text) PyUnicode_InternInPlace(&text);
  return text;
}

static PyObject *attribute_key(const hpar_attribute *a) {
  PyObject *local = interned(a->local_name);
  if (!local || a->ns == HPAR_NAMESPACE_NONE) return local;
  PyObject *prefix = a->prefix.length ? interned(a->prefix) : Py_NewRef(Py_None);
  if (prefix) return Py_BuildValue("(NNi)", prefix, local, (int)a->ns);
  Py_DECREF(local);
  return NULL;
}

static PyObject *attributes_of(const hpar_document *tree, hpar_node element) {
  hpar_attribute a;
  if (!hpar_node_attribute_count(tree, element)) return Py_NewRef(Py_None);
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && hpar_node_attribute_at(tree, element, i, &a); i++) {
    PyObject *key = attribute_key(&a), *value = hp_py_string(a.value);
    if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return dict;
}

static PyObject *element_event(const hpar_document *tree, hpar_node element) {
  PyObject *name = interned(hpar_node_name(tree, element)), *attributes = name ? attributes_of(tree, element) : NULL;
  if (attributes) return Py_BuildValue("(NiN)", name, (int)hpar_node_namespace(tree, element), attributes);
  Py_XDECREF(name);
  return NULL;
}

static PyObject *event_of(const hpar_document *tree, hpar_node node) {
  hpar_string name = hpar_node_name(tree, node), data = hpar_node_data(tree, node);
  hpar_string public_id, system_id;
  switch (hpar_node_kind(tree, node)) {
    case HPAR_NODE_ELEMENT: return element_event(tree, node);
    case HPAR_NODE_TEXT: return hp_py_string(data);
    case HPAR_NODE_COMMENT: return Py_BuildValue("(N)", hp_py_string(data));
    case HPAR_NODE_PROCESSING_INSTRUCTION: return Py_BuildValue("(NN)", hp_py_string(name), hp_py_string(data));
    default:
      public_id = hpar_node_public_id(tree, node);
      system_id = hpar_node_system_id(tree, node);
      return Py_BuildValue("(NNNO)", hp_py_string(name), hp_py_string(public_id), hp_py_string(system_id), Py_None);
  }
}

static bool enter_node(hp_py_walk *walk, hpar_node node) { return append((writer *)walk, event_of(walk->tree, node)); }

static bool leave_node(hp_py_walk *walk, hpar_node node) {
  return hpar_node_kind(walk->tree, node) != HPAR_NODE_ELEMENT || append((writer *)walk, Py_NewRef(Py_None));
}

/* Appends the offset of the end of the start tag, or -1. */
static bool enter_tag(hp_py_walk *walk, hpar_node node) {
  uint64_t start, end;
  if (hpar_node_kind(walk->tree, node) != HPAR_NODE_ELEMENT) return true;
  bool tag = hpar_node_start_tag_range(walk->tree, node, &start, &end);
  return append((writer *)walk, tag ? PyLong_FromUnsignedLongLong(end) : PyLong_FromLong(-1));
}

static bool leave_tag(hp_py_walk *walk, hpar_node node) {
  (void)walk;
  (void)node;
  return true;
}

static bool enter_template(hp_py_walk *w, hpar_node node) {
  if (w->template_count == w->template_capacity) {
    size_t capacity = 2 * w->template_capacity + 8;
    hpar_node *grown = realloc(w->templates, capacity * sizeof *grown);
    w->is_memory_short = !grown;
    if (!grown) return false;
    w->templates = grown;
    w->template_capacity = capacity;
  }
  w->templates[w->template_count++] = node;
  return true;
}

/* Sets `*child` to the first child, or to that of a template's contents. */
static bool descend(hp_py_walk *w, hpar_node node, hpar_node *child) {
  *child = hpar_node_first_child(w->tree, node);
  if (*child) return true;
  *child = hpar_node_first_child(w->tree, hpar_node_template_contents(w->tree, node));
  return !*child || enter_template(w, node);
}

/* Returns the parent, which is the template for a child of its contents. */
static hpar_node ascend(hp_py_walk *w, hpar_node node) {
  hpar_node parent = hpar_node_parent(w->tree, node);
  return hpar_node_kind(w->tree, parent) == HPAR_NODE_FRAGMENT && w->template_count ? w->templates[--w->template_count]
                                                                                    : parent;
}

static bool visit_below(hp_py_walk *w, hpar_node top) {
  hpar_node node, child;
  if (!descend(w, top, &node)) return false;
  while (node) {
    if (!w->enter(w, node) || !descend(w, node, &child)) return false;
    for (; !child; node = ascend(w, node)) {
      if (node == top || !node) return true; /* a finalizer may have changed an editable document */
      if (!w->leave(w, node)) return false;
      child = hpar_node_next(w->tree, node);
      if (child) break;
    }
    node = child;
  }
  return true;
}

bool hp_py_walk_below(hp_py_walk *w, hpar_node top) {
  bool fine = visit_below(w, top);
  free(w->templates);
  return fine;
}

PyObject *hp_py_events(hp_py_document *d, bool ends) {
  writer w = {.walk = {.tree = d->tree, .enter = ends ? enter_tag : enter_node, .leave = ends ? leave_tag : leave_node},
              .document = d,
              .list = PyList_New(0)};
  if (w.list && !hp_py_walk_below(&w.walk, hpar_document_root(d->tree))) Py_CLEAR(w.list);
  if (w.walk.is_memory_short) PyErr_NoMemory();
  return w.list;
}
