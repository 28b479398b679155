/* Changes of editable documents. Each change holds the interpreter's lock, and so does each call
 * that reads an editable document. Any thread may therefore change it. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

PyThreadState *hp_py_begin_read(hp_py_document *d) {
  if (d->editable) return NULL;
  d->readers++;
  return PyEval_SaveThread();
}

void hp_py_end_read(hp_py_document *d, PyThreadState *saved) {
  if (!saved) return;
  PyEval_RestoreThread(saved);
  d->readers--;
}

void hp_py_let_others_run(hp_py_document *d, PyObject *list, Py_ssize_t step) {
  if (PyList_Size(list) % step == 0) hp_py_end_read(d, hp_py_begin_read(d));
}

bool hp_py_make_editable(hp_py_document *d, const hpar_limits *limits) {
  static const hpar_limits none = {0};
  d->editable = true;
  hp_py_drop_order(d);
  free(d->edit_limits);
  d->edit_limits = NULL;
  if (!limits || !memcmp(limits, &none, sizeof none)) return true;
  d->edit_limits = malloc(sizeof *limits);
  if (!d->edit_limits) {
    PyErr_NoMemory();
    return false;
  }
  *d->edit_limits = *limits;
  d->edit_limits->time_ns = 0;
  return true;
}

/* Returns the handle for changes by this thread, or NULL with an exception. */
static hpar_editor *begin(hp_py_document *d) {
  if (!d->editable) {
    PyErr_SetString(PyExc_TypeError, "the document never changes: parse with editable=True, or call edit()");
    return NULL;
  }
  d->changed = true;
  unsigned long thread = PyThread_get_thread_ident();
  if (d->edit && d->edit_thread == thread) return d->edit;
  if (d->edit) hpar_document_finish_edit(d->tree);
  hpar_options options = {HPAR_OPTIONS_INIT, .scripting = d->scripting};
  if (d->edit_limits) options.limits = *d->edit_limits;
  d->edit = NULL;
  d->edit_thread = thread;
  hpar_status status = hpar_document_edit(d->tree, &options, &d->edit, NULL);
  if (status) hp_py_raise(d->state, status, NULL);
  return d->edit;
}

/* Returns true if the change succeeded. Otherwise there is an exception. */
static bool check(const hp_py_document *d, hpar_status status) {
  if (status)
    hp_py_raise(d->state, status, status == HPAR_ERROR_ARGUMENT ? "the DOM standard forbids this change" : NULL);
  return !status;
}

static PyObject *none_if(bool fine) { return fine ? Py_NewRef(Py_None) : NULL; }

/* Reads str, or bytes in UTF-8. */
static bool read_text(PyObject *value, hpar_string *text) {
  Py_ssize_t length = 0;
  if (PyBytes_Check(value)) {
    char *bytes;
    if (PyBytes_AsStringAndSize(value, &bytes, &length)) return false;
    text->bytes = bytes;
  } else if (PyUnicode_Check(value)) {
    text->bytes = PyUnicode_AsUTF8AndSize(value, &length);
  } else {
    PyErr_Format(PyExc_TypeError, "expected str or bytes, not %R", Py_TYPE(value));
    return false;
  }
  text->length = (size_t)length;
  return text->bytes != NULL;
}

/*** nodes ***/

static hpar_node new_element(hp_py_document *d, hpar_editor *edit, hpar_namespace ns, PyObject *value) {
  hpar_string name;
  hpar_node made = HPAR_NO_NODE;
  if (!read_text(value, &name)) return made;
  hpar_status status = hpar_node_create_element(edit, ns, name.bytes, name.length, &made);
  if (status == HPAR_ERROR_ARGUMENT)
    PyErr_Format(PyExc_ValueError, "%R is not the name of an element", value);
  else
    check(d, status);
  return made;
}

/* Returns the node to insert for a str, bytes or Node, or 0 with an exception. A node of another
 * document is copied, and one of this document is itself, so that it moves. */
static hpar_node node_for(hp_py_document *d, hpar_editor *edit, PyObject *value) {
  hpar_node made = HPAR_NO_NODE;
  hpar_string text;
  if (Py_IS_TYPE(value, d->state->node)) {
    const hp_py_node *n = (hp_py_node *)value;
    if (n->document == d) return n->handle;
    check(d, hp_py_import(edit, n->document->tree, n->handle, &made));
  } else if (read_text(value, &text)) {
    check(d, hpar_node_create_text(edit, text.bytes, text.length, &made));
  }
  return PyErr_Occurred() ? HPAR_NO_NODE : made;
}

/* Moves the node to its place, or leaves the tree as it is. */
static bool place(hp_py_document *d, hpar_editor *edit, hpar_node parent, hpar_node node, hpar_node before) {
  if (hpar_node_parent(d->tree, node)) d->removals++;
  return check(d, hpar_node_insert_before(edit, parent, node, before));
}

/* Inserts the value into `parent` before `before`. */
static bool insert(hp_py_document *d, hpar_node parent, PyObject *value, hpar_node before) {
  hpar_editor *edit = begin(d);
  if (!edit) return false;
  if (!parent) {
    PyErr_SetString(PyExc_ValueError, "the node has no parent");
    return false;
  }
  hpar_node made = node_for(d, edit, value);
  return made && place(d, edit, parent, made, before);
}

PyObject *hp_py_insert_before(PyObject *self, PyObject *value) {
  const hp_py_node *n = (hp_py_node *)self;
  return none_if(insert(n->document, hpar_node_parent(n->document->tree, n->handle), value, n->handle));
}

PyObject *hp_py_insert_after(PyObject *self, PyObject *value) {
  const hp_py_node *n = (hp_py_node *)self;
  const hpar_document *tree = n->document->tree;
  return none_if(insert(n->document, hpar_node_parent(tree, n->handle), value, hpar_node_next(tree, n->handle)));
}

PyObject *hp_py_insert_child(PyObject *self, PyObject *value) {
  const hp_py_node *n = (hp_py_node *)self;
  return none_if(insert(n->document, n->handle, value, HPAR_NO_NODE));
}

PyObject *hp_py_append(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"value"};
  static const hp_py_signature signature = {"append", names, 1, 1, 1};
  PyObject *value;
  return hp_py_arguments(&signature, arguments, count, keywords, &value) ? hp_py_insert_child(self, value) : NULL;
}

PyObject *hp_py_insert(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"index", "value"};
  static const hp_py_signature signature = {"insert", names, 2, 2, 2};
  const hp_py_node *n = (hp_py_node *)self;
  const hpar_document *tree = n->document->tree;
  PyObject *values[2];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  Py_ssize_t index = PyNumber_AsSsize_t(values[0], NULL); /* as list.insert, which takes any number */
  if (index == -1 && PyErr_Occurred()) return NULL;
  if (index < 0) index += hp_py_count_children(n->document, n->handle);
  hpar_node before = hpar_node_first_child(tree, n->handle);
  for (; before && index > 0; index--) before = hpar_node_next(tree, before);
  return none_if(insert(n->document, n->handle, values[1], before));
}

static bool remove_node(const hp_py_node *n) {
  hpar_editor *edit = begin(n->document);
  n->document->removals++;
  return edit && check(n->document, hpar_node_remove(edit, n->handle));
}

/* Puts `made` in the place of the node, which has no parent then. A failure leaves the tree as it is.
 * The node goes first, because a document has one element. */
static bool replace(hp_py_document *d, hpar_editor *edit, hpar_node node, hpar_node made) {
  const hpar_node parent = hpar_node_parent(d->tree, node), next = hpar_node_next(d->tree, node);
  if (!parent) {
    PyErr_SetString(PyExc_ValueError, "the node has no parent");
    return false;
  }
  d->removals++;
  if (!check(d, hpar_node_remove(edit, node))) return false;
  hpar_status status = hpar_node_insert_before(edit, parent, made, next);
  if (status) hpar_node_insert_before(edit, parent, node, next); /* needs no memory */
  return check(d, status);
}

PyObject *hp_py_replace_with(PyObject *self, PyObject *value) {
  const hp_py_node *n = (hp_py_node *)self;
  hp_py_document *d = n->document;
  hpar_editor *edit = begin(d);
  hpar_node made = edit ? node_for(d, edit, value) : HPAR_NO_NODE;
  return none_if(made && (made == n->handle || replace(d, edit, n->handle, made)));
}

/* Returns the element around which a node may be wrapped, or 0 with an exception. */
static hpar_node wrapper_for(const hp_py_node *n, hpar_editor *edit, PyObject *value) {
  hp_py_document *d = n->document;
  const hp_py_node *around = (hp_py_node *)value;
  const char *why = NULL;
  if (!Py_IS_TYPE(value, d->state->node)) return new_element(d, edit, HPAR_NAMESPACE_HTML, value);
  if (around->document != d)
    why = "the element is one of another document";
  else if (hpar_node_kind(d->tree, around->handle) != HPAR_NODE_ELEMENT)
    why = "only an element can be around a node";
  for (hpar_node above = n->handle; above && !why; above = hpar_node_parent(d->tree, above))
    if (above == around->handle) why = "a node cannot move into itself";
  if (why) PyErr_SetString(PyExc_ValueError, why);
  return why ? HPAR_NO_NODE : around->handle;
}

PyObject *hp_py_wrap(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"element"};
  static const hp_py_signature signature = {"wrap", names, 1, 1, 1};
  const hp_py_node *n = (hp_py_node *)self;
  hp_py_document *d = n->document;
  PyObject *value;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &value)) return NULL;
  hpar_editor *edit = begin(d);
  if (!edit) return NULL;
  if (hpar_node_kind(d->tree, n->handle) == HPAR_NODE_DOCTYPE) {
    PyErr_SetString(PyExc_ValueError, "a doctype cannot be in an element");
    return NULL;
  }
  hpar_node around = wrapper_for(n, edit, value);
  if (!around || !replace(d, edit, n->handle, around)) return NULL;
  return check(d, hpar_node_append(edit, around, n->handle)) ? hp_py_new_node(d, around) : NULL;
}

PyObject *hp_py_decompose(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"recursive"};
  static const hp_py_signature signature = {"decompose", names, 1, 0, 1};
  PyObject *ignored;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &ignored)) return NULL;
  return none_if(remove_node((hp_py_node *)self));
}

PyObject *hp_py_unwrap(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"delete_empty"};
  static const hp_py_signature signature = {"unwrap", names, 1, 0, 1};
  const hp_py_node *n = (hp_py_node *)self;
  hp_py_document *d = n->document;
  PyObject *value;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &value)) return NULL;
  int delete_empty = value ? PyObject_IsTrue(value) : 0;
  hpar_editor *edit = delete_empty < 0 ? NULL : begin(d);
  if (!edit) return NULL;
  hpar_node child, parent = hpar_node_parent(d->tree, n->handle);
  d->removals++;
  if (!parent || (!hpar_node_first_child(d->tree, n->handle) && !delete_empty)) return Py_NewRef(Py_None);
  while ((child = hpar_node_first_child(d->tree, n->handle)))
    if (!check(d, hpar_node_insert_before(edit, parent, child, n->handle))) return NULL;
  return none_if(remove_node(n));
}

PyObject *hp_py_clone(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"deep"};
  static const hp_py_signature signature = {"clone", names, 1, 0, 1};
  const hp_py_node *n = (hp_py_node *)self;
  PyObject *value;
  hpar_node copy;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &value)) return NULL;
  int deep = value ? PyObject_IsTrue(value) : 1;
  hpar_editor *edit = deep < 0 ? NULL : begin(n->document);
  if (!edit || !check(n->document, hpar_node_clone(edit, n->handle, deep, &copy))) return NULL;
  return hp_py_new_node(n->document, copy);
}

/*** properties ***/

static bool read_new_value(PyObject *value, hpar_string *text) {
  if (value) return read_text(value, text);
  PyErr_SetString(PyExc_AttributeError, "the property cannot be deleted");
  return false;
}

int hp_py_set_data(PyObject *self, PyObject *value, void *closure) {
  const hp_py_node *n = (hp_py_node *)self;
  hpar_string text;
  (void)closure;
  hpar_editor *edit = begin(n->document);
  if (!edit || !read_new_value(value, &text)) return -1;
  if (hpar_node_kind(n->document->tree, n->handle) < HPAR_NODE_TEXT) {
    PyErr_SetString(PyExc_ValueError, "only a text, a comment or a processing instruction has data");
    return -1;
  }
  return check(n->document, hpar_node_set_text(edit, n->handle, text.bytes, text.length)) ? 0 : -1;
}

int hp_py_set_text(PyObject *self, PyObject *value, void *closure) {
  const hp_py_node *n = (hp_py_node *)self;
  hpar_string text;
  (void)closure;
  hpar_editor *edit = begin(n->document);
  if (!edit || !read_new_value(value, &text)) return -1;
  n->document->removals++;
  return check(n->document, hpar_node_set_text(edit, n->handle, text.bytes, text.length)) ? 0 : -1;
}

int hp_py_set_inner_html(PyObject *self, PyObject *value, void *closure) {
  const hp_py_node *n = (hp_py_node *)self;
  hpar_string text;
  (void)closure;
  hpar_editor *edit = begin(n->document);
  if (!edit || !read_new_value(value, &text)) return -1;
  n->document->removals++;
  return check(n->document, hpar_node_set_inner_html(edit, n->handle, text.bytes, text.length)) ? 0 : -1;
}

int hp_py_change_attribute(hp_py_document *d, hpar_node element, PyObject *name, PyObject *value) {
  hpar_string key, text = {"", 0};
  hpar_editor *edit = begin(d);
  if (!edit || !read_text(name, &key)) return -1;
  if (value && value != Py_None && !read_text(value, &text)) return -1;
  hpar_status status = value ? hpar_node_set_attribute(edit, element, key.bytes, key.length, text.bytes, text.length)
                             : hpar_node_remove_attribute(edit, element, key.bytes, key.length);
  if (status == HPAR_ERROR_ARGUMENT) {
    PyErr_Format(PyExc_ValueError, "%R is not the name of an attribute", name);
    return -1;
  }
  return check(d, status) ? 0 : -1;
}

/*** documents ***/

PyObject *hp_py_edit(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"limits"};
  static const hp_py_signature signature = {"edit", names, 1, 0, 0};
  hp_py_document *d = (hp_py_document *)self;
  PyObject *value;
  hpar_limits limits = {0};
  if (!hp_py_arguments(&signature, arguments, count, keywords, &value) || !hp_py_read_limits(value, &limits))
    return NULL;
  if (d->readers) {
    PyErr_SetString(d->state->error, "another thread is reading the document");
    return NULL;
  }
  if (d->edit) hpar_document_finish_edit(d->tree);
  d->edit = NULL;
  return hp_py_make_editable(d, &limits) ? Py_NewRef(self) : NULL;
}

PyObject *hp_py_freeze(PyObject *self, PyObject *ignored) {
  hp_py_document *d = (hp_py_document *)self;
  (void)ignored;
  if (d->edit) hpar_document_finish_edit(d->tree);
  d->edit = NULL;
  d->editable = false;
  return Py_NewRef(self);
}

PyObject *hp_py_create_tag(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"name", "namespace"}, *const spaces[] = {"html", "svg", "mathml"};
  static const hp_py_signature signature = {"create_tag", names, 2, 1, 1};
  static const hpar_namespace values_of[] = {HPAR_NAMESPACE_HTML, HPAR_NAMESPACE_SVG, HPAR_NAMESPACE_MATHML};
  hp_py_document *d = (hp_py_document *)self;
  PyObject *values[2];
  size_t space = 0;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  while (values[1] && space < 3 &&
         (!PyUnicode_Check(values[1]) || PyUnicode_CompareWithASCIIString(values[1], spaces[space])))
    space++;
  if (space == 3) {
    PyErr_SetString(PyExc_ValueError, "namespace must be 'html', 'svg' or 'mathml'");
    return NULL;
  }
  hpar_editor *edit = begin(d);
  hpar_node made = edit ? new_element(d, edit, values_of[space], values[0]) : HPAR_NO_NODE;
  return made ? hp_py_new_node(d, made) : NULL;
}

static PyObject *create_data(PyObject *self, PyObject *value, bool comment) {
  hp_py_document *d = (hp_py_document *)self;
  hpar_string data;
  hpar_node made;
  hpar_editor *edit = begin(d);
  if (!edit || !read_text(value, &data)) return NULL;
  hpar_status status = comment ? hpar_node_create_comment(edit, data.bytes, data.length, &made)
                               : hpar_node_create_text(edit, data.bytes, data.length, &made);
  return check(d, status) ? hp_py_new_node(d, made) : NULL;
}

PyObject *hp_py_create_text(PyObject *self, PyObject *value) { return create_data(self, value, false); }
PyObject *hp_py_create_comment(PyObject *self, PyObject *value) { return create_data(self, value, true); }
