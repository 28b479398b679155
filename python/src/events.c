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
  const hpar_document *tree;
  PyObject *list;
  bool ends;            /* of the start tags, in place of events */
  hpar_node *templates; /* those whose contents the walk is in */
  size_t template_count, template_capacity;
} writer;

static bool append(writer *w, PyObject *event) {
  bool fine = event && !PyList_Append(w->list, event);
  Py_XDECREF(event);
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
  return prefix ? Py_BuildValue("(NNi)", prefix, local, (int)a->ns) : NULL;
}

static PyObject *attributes_of(const writer *w, hpar_node element) {
  hpar_attribute a;
  if (!hpar_node_attribute_count(w->tree, element)) return Py_NewRef(Py_None);
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && hpar_node_attribute_at(w->tree, element, i, &a); i++) {
    PyObject *key = attribute_key(&a), *value = hp_py_string(a.value);
    if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return dict;
}

static PyObject *element_event(const writer *w, hpar_node element) {
  PyObject *name = interned(hpar_node_name(w->tree, element)), *attributes = name ? attributes_of(w, element) : NULL;
  if (attributes) return Py_BuildValue("(NiN)", name, (int)hpar_node_namespace(w->tree, element), attributes);
  Py_XDECREF(name);
  return NULL;
}

static PyObject *event_of(const writer *w, hpar_node node) {
  hpar_string name = hpar_node_name(w->tree, node), data = hpar_node_data(w->tree, node);
  hpar_string public_id, system_id;
  switch (hpar_node_kind(w->tree, node)) {
    case HPAR_NODE_ELEMENT: return element_event(w, node);
    case HPAR_NODE_TEXT: return hp_py_string(data);
    case HPAR_NODE_COMMENT: return Py_BuildValue("(N)", hp_py_string(data));
    case HPAR_NODE_PROCESSING_INSTRUCTION: return Py_BuildValue("(NN)", hp_py_string(name), hp_py_string(data));
    default:
      public_id = hpar_node_public_id(w->tree, node);
      system_id = hpar_node_system_id(w->tree, node);
      return Py_BuildValue("(NNNO)", hp_py_string(name), hp_py_string(public_id), hp_py_string(system_id), Py_None);
  }
}

/* Appends the offset of the end of the start tag, or -1. */
static bool append_end(writer *w, hpar_node node) {
  uint64_t start, end;
  if (hpar_node_kind(w->tree, node) != HPAR_NODE_ELEMENT) return true;
  bool tag = hpar_node_start_tag_range(w->tree, node, &start, &end);
  return append(w, tag ? PyLong_FromUnsignedLongLong(end) : PyLong_FromLong(-1));
}

static bool enter_template(writer *w, hpar_node node) {
  if (w->template_count == w->template_capacity) {
    size_t capacity = 2 * w->template_capacity + 8;
    hpar_node *grown = realloc(w->templates, capacity * sizeof *grown);
    if (!grown) {
      PyErr_NoMemory();
      return false;
    }
    w->templates = grown;
    w->template_capacity = capacity;
  }
  w->templates[w->template_count++] = node;
  return true;
}

/* Sets `*child` to the first child, or to that of a template's contents. */
static bool descend(writer *w, hpar_node node, hpar_node *child) {
  *child = hpar_node_first_child(w->tree, node);
  if (*child) return true;
  *child = hpar_node_first_child(w->tree, hpar_node_template_contents(w->tree, node));
  return !*child || enter_template(w, node);
}

/* Returns the parent, which is the template for a child of its contents. */
static hpar_node ascend(writer *w, hpar_node node) {
  hpar_node parent = hpar_node_parent(w->tree, node);
  return hpar_node_kind(w->tree, parent) == HPAR_NODE_FRAGMENT ? w->templates[--w->template_count] : parent;
}

static bool write_events(writer *w) {
  hpar_node root = hpar_document_root(w->tree), node = hpar_node_first_child(w->tree, root), child;
  while (node) {
    if (!(w->ends ? append_end(w, node) : append(w, event_of(w, node))) || !descend(w, node, &child)) return false;
    for (; !child; node = ascend(w, node)) {
      if (node == root) return true;
      if (!w->ends && hpar_node_kind(w->tree, node) == HPAR_NODE_ELEMENT && PyList_Append(w->list, Py_None))
        return false;
      child = hpar_node_next(w->tree, node);
      if (child) break;
    }
    node = child;
  }
  return true;
}

PyObject *hp_py_events(hp_py_document *d, bool ends) {
  writer w = {.tree = d->tree, .list = PyList_New(0), .ends = ends};
  if (w.list && !write_events(&w)) Py_CLEAR(w.list);
  free(w.templates);
  return w.list;
}
