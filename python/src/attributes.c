/* Attributes of an element, as a dict and as a mapping that reads on access. A name has its prefix,
 * as in "xlink:href". */

#include "module.h"

#include <string.h>

static PyObject *attribute_name(const hpar_attribute *a) {
  if (!a->prefix.length) return hp_py_string(a->local_name);
  PyObject *prefix = hp_py_string(a->prefix), *local = hp_py_string(a->local_name), *name = NULL;
  if (prefix && local) name = PyUnicode_FromFormat("%U:%U", prefix, local);
  Py_XDECREF(prefix);
  Py_XDECREF(local);
  return name;
}

PyObject *hp_py_attribute_dict(hp_py_document *d, hpar_node element) {
  PyObject *dict = PyDict_New();
  hpar_attribute a;
  for (size_t i = 0; dict && hpar_node_attribute_at(d->tree, element, i, &a); i++) {
    PyObject *name = attribute_name(&a), *value = hp_py_string(a.value);
    if (!name || !value || PyDict_SetItem(dict, name, value)) Py_CLEAR(dict);
    Py_XDECREF(name);
    Py_XDECREF(value);
  }
  return dict;
}

PyObject *hp_py_attribute_positions(hp_py_document *d, hpar_node element) {
  enum { AT_ONCE = 16 };
  hpar_attribute_range ranges[AT_ONCE];
  PyObject *dict = PyDict_New();
  hpar_attribute a;
  size_t count = AT_ONCE;
  for (size_t first = 0; dict && count == AT_ONCE; first += AT_ONCE) {
    count = hpar_node_attribute_ranges(d->tree, element, first, AT_ONCE, ranges);
    for (size_t i = 0; dict && i < count && hpar_node_attribute_at(d->tree, element, first + i, &a); i++) {
      const hpar_attribute_range *r = &ranges[i];
      PyObject *name = attribute_name(&a);
      PyObject *range = Py_BuildValue("(KKKK)", (unsigned long long)r->name_start, (unsigned long long)r->name_end,
                                      (unsigned long long)r->value_start, (unsigned long long)r->value_end);
      if (!name || !range || PyDict_SetItem(dict, name, range)) Py_CLEAR(dict);
      Py_XDECREF(name);
      Py_XDECREF(range);
    }
  }
  return dict;
}

/*** the mapping ***/

PyObject *hp_py_new_attributes(hp_py_document *d, hpar_node element) {
  hp_py_node *attributes = PyObject_GC_New(hp_py_node, d->state->attributes);
  if (!attributes) return NULL;
  attributes->document = (hp_py_document *)Py_NewRef((PyObject *)d);
  attributes->handle = element;
  if (d->tracked) PyObject_GC_Track(attributes);
  return (PyObject *)attributes;
}

static void free_attributes(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF((PyObject *)((hp_py_node *)self)->document);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int traverse_attributes(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)((hp_py_node *)self)->document);
  return 0;
}

static bool equal(hpar_string s, const char *bytes, size_t length) {
  return s.length == length && !memcmp(s.bytes, bytes, length);
}

/* Returns whether the attribute has the name "local", or "prefix:local". */
static bool has_name(const hpar_attribute *a, const char *name, size_t length) {
  size_t prefix = a->prefix.length;
  if (!prefix) return equal(a->local_name, name, length);
  return length > prefix && name[prefix] == ':' && equal(a->prefix, name, prefix) &&
         equal(a->local_name, name + prefix + 1, length - prefix - 1);
}

/* Returns 1 and sets `*attribute`, 0 if the element has no such attribute, or -1 with an exception. */
static int find(PyObject *self, PyObject *name, hpar_attribute *attribute) {
  const hp_py_node *n = (hp_py_node *)self;
  Py_ssize_t length;
  if (!PyUnicode_Check(name)) return 0;
  const char *bytes = PyUnicode_AsUTF8AndSize(name, &length);
  if (!bytes) return -1;
  for (size_t i = 0; hpar_node_attribute_at(n->document->tree, n->handle, i, attribute); i++)
    if (has_name(attribute, bytes, (size_t)length)) return 1;
  return 0;
}

PyObject *hp_py_attribute_of(PyObject *self, PyObject *name) {
  hpar_attribute a;
  int found = find(self, name, &a);
  if (found > 0) return hp_py_string(a.value);
  if (!found) PyErr_SetObject(PyExc_KeyError, name);
  return NULL;
}

static int refuse_namespace(void) {
  PyErr_SetString(PyExc_ValueError, "an attribute with a namespace cannot change");
  return -1;
}

/* Those with a namespace stay as they are. */
int hp_py_assign_attribute(PyObject *self, PyObject *name, PyObject *value) {
  const hp_py_node *n = (hp_py_node *)self;
  hpar_attribute a;
  /* Elements of HTML have no attribute with a namespace, so that no search is necessary. */
  const bool is_html = hpar_node_namespace(n->document->tree, n->handle) == HPAR_NAMESPACE_HTML;
  int found = value && is_html ? 0 : find(self, name, &a);
  if (found < 0) return -1;
  if (found && a.ns != HPAR_NAMESPACE_NONE) return refuse_namespace();
  if (!found && !value && n->document->editable) {
    PyErr_SetObject(PyExc_KeyError, name);
    return -1;
  }
  return hp_py_change_attribute(n->document, n->handle, name, value);
}

static int contains(PyObject *self, PyObject *name) {
  hpar_attribute a;
  return find(self, name, &a);
}

static Py_ssize_t length_of(PyObject *self) {
  const hp_py_node *n = (hp_py_node *)self;
  return (Py_ssize_t)hpar_node_attribute_count(n->document->tree, n->handle);
}

static PyObject *to_dict(PyObject *self) {
  hp_py_node *n = (hp_py_node *)self;
  return hp_py_attribute_dict(n->document, n->handle);
}

static PyObject *iterate(PyObject *self) {
  PyObject *dict = to_dict(self);
  PyObject *iterator = dict ? PyObject_GetIter(dict) : NULL;
  Py_XDECREF(dict);
  return iterator;
}

static PyObject *represent(PyObject *self) {
  PyObject *dict = to_dict(self);
  PyObject *text = dict ? PyObject_Repr(dict) : NULL;
  Py_XDECREF(dict);
  return text;
}

PyObject *hp_py_get_attribute(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"name", "default"};
  static const hp_py_signature signature = {"get", names, 2, 1, 2};
  PyObject *values[2];
  hpar_attribute a;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  int found = find(self, values[0], &a);
  if (found < 0) return NULL;
  return found ? hp_py_string(a.value) : Py_NewRef(values[1] ? values[1] : Py_None);
}

static PyObject *sget(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  PyObject *value = hp_py_get_attribute(self, arguments, count, keywords);
  if (value != Py_None) return value;
  Py_DECREF(value);
  return PyUnicode_FromString("");
}

#define BY_DICT(name, call)                                  \
  static PyObject *name(PyObject *self, PyObject *ignored) { \
    (void)ignored;                                           \
    PyObject *dict = to_dict(self);                          \
    PyObject *list = dict ? call(dict) : NULL;               \
    Py_XDECREF(dict);                                        \
    return list;                                             \
  }
BY_DICT(keys, PyDict_Keys)
BY_DICT(values_of, PyDict_Values)
BY_DICT(items, PyDict_Items)

/* Equal to any mapping with the same items. */
static PyObject *compare(PyObject *left, PyObject *right, int operation) {
  const hp_py_state *state = ((hp_py_node *)left)->document->state;
  if ((operation != Py_EQ && operation != Py_NE) || (!PyDict_Check(right) && !Py_IS_TYPE(right, state->attributes)))
    return Py_NewRef(Py_NotImplemented);
  PyObject *a = to_dict(left), *b = PyDict_Check(right) ? Py_NewRef(right) : to_dict(right);
  PyObject *result = a && b ? PyObject_RichCompare(a, b, operation) : NULL;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return result;
}

#define IN_PYTHON(name)                                                                      \
  static PyObject *name(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) { \
    return hp_py_delegate("hpar.editing", "attributes_" #name, self, a, count, k);           \
  }
IN_PYTHON(pop)
IN_PYTHON(popitem)
IN_PYTHON(setdefault)
IN_PYTHON(update)

/* Removes all attributes, or none. */
static PyObject *clear(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const hp_py_signature signature = {"clear", NULL, 0, 0, 0};
  const hp_py_node *n = (hp_py_node *)self;
  PyObject *none[1];
  hpar_attribute a;
  if (!hp_py_arguments(&signature, arguments, count, keywords, none)) return NULL;
  for (size_t i = 0; hpar_node_attribute_at(n->document->tree, n->handle, i, &a); i++)
    if (a.ns != HPAR_NAMESPACE_NONE) {
      refuse_namespace();
      return NULL;
    }
  for (size_t left = length_of(self); left--;) { /* from the last, because all after it move */
    if (!hpar_node_attribute_at(n->document->tree, n->handle, left, &a)) break;
    PyObject *name = hp_py_string(a.local_name);
    int failed = name ? hp_py_change_attribute(n->document, n->handle, name, NULL) : -1;
    Py_XDECREF(name);
    if (failed) return NULL;
  }
  return Py_NewRef(Py_None);
}

#define CHANGE(name, text) \
  { #name, (PyCFunction)(void (*)(void))name, METH_FASTCALL | METH_KEYWORDS, PyDoc_STR(text) }

static PyMethodDef methods[] = {
    CHANGE(pop, "pop($self, name, default=...)\n--\n\nRemoves an attribute, and returns its value or `default`."),
    CHANGE(popitem, "popitem($self)\n--\n\nRemoves the first attribute, and returns it as a pair."),
    CHANGE(setdefault,
           "setdefault($self, name, default='')\n--\n\nReturns the value of an attribute, and sets it first "
           "if it is missing."),
    CHANGE(update, "update($self, other=(), /, **attributes)\n--\n\nSets attributes, as dict.update() does."),
    CHANGE(clear, "clear($self)\n--\n\nRemoves all attributes."),
    {"get", (PyCFunction)(void (*)(void))hp_py_get_attribute, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("get($self, name, default=None)\n--\n\nReturns the value of an attribute, or `default`.")},
    {"sget", (PyCFunction)(void (*)(void))sget, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("sget($self, name, default='')\n--\n\nReturns the value of an attribute, or `default`.")},
    {"keys", keys, METH_NOARGS, PyDoc_STR("keys($self, /)\n--\n\nReturns the names as a list.")},
    {"values", values_of, METH_NOARGS, PyDoc_STR("values($self, /)\n--\n\nReturns the values as a list.")},
    {"items", items, METH_NOARGS, PyDoc_STR("items($self, /)\n--\n\nReturns the pairs as a list.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)PyDoc_STR("The attributes of an element, as a mapping. Those of an editable document can change.")},
    {Py_tp_dealloc, free_attributes},
    {Py_tp_traverse, traverse_attributes},
    {Py_tp_iter, iterate},
    {Py_tp_repr, represent},
    {Py_tp_methods, methods},
    {Py_tp_richcompare, compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_mp_subscript, hp_py_attribute_of},
    {Py_mp_ass_subscript, hp_py_assign_attribute},
    {Py_mp_length, length_of},
    {Py_sq_contains, contains},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_attributes_spec = {
    .name = "hpar._core.Attributes",
    .basicsize = sizeof(hp_py_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
