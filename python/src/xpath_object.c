/* XPath: a compiled expression. An evaluation runs without the interpreter's lock. Its result becomes
 * objects afterwards: nodes, str for texts and attributes, or float, str or bool. */

#include "module.h"
#include "xpath.h"

#include <stdlib.h>
#include <string.h>

typedef struct expression {
  PyObject_HEAD hp_xpath_program *program;
  PyObject *text;
} expression;

/*** expressions ***/

/* The place is in bytes. */
static void raise_error(const hp_py_state *state, const hp_xpath_failure *failure, PyObject *text) {
  if (failure->status == HPAR_ERROR_MEMORY) {
    PyErr_NoMemory();
    return;
  }
  Py_ssize_t length, offset = 0;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (!bytes) return;
  for (size_t i = 0; i < failure->place && i < (size_t)length; i++) offset += (bytes[i] & 0xC0) != 0x80;
  PyObject *message = PyUnicode_FromFormat("%s, at character %zd of %R", failure->text, offset, text);
  PyObject *exception = message ? PyObject_CallFunctionObjArgs(state->xpath_error, message, NULL) : NULL;
  PyObject *place = exception ? PyLong_FromSsize_t(offset) : NULL;
  if (place && !PyObject_SetAttrString(exception, "offset", place)) PyErr_SetObject(state->xpath_error, exception);
  Py_XDECREF(place);
  Py_XDECREF(exception);
  Py_XDECREF(message);
}

static PyObject *new_expression(hp_py_state *state, PyObject *text) {
  Py_ssize_t length;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (!bytes) return NULL;
  hp_xpath_failure failure;
  PyThreadState *saved = PyEval_SaveThread();
  hp_xpath_program *program = hp_xpath_compile(bytes, (size_t)length, &failure);
  PyEval_RestoreThread(saved);
  if (!program) {
    raise_error(state, &failure, text);
    return NULL;
  }
  expression *x = PyObject_GC_New(expression, state->xpath);
  if (!x) {
    hp_xpath_destroy(program);
    return NULL;
  }
  x->program = program;
  x->text = Py_NewRef(text);
  PyObject_GC_Track(x);
  return (PyObject *)x;
}

static PyObject *make_expression(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"expression", NULL};
  PyObject *text;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U", names, &text)) return NULL;
  return new_expression(PyType_GetModuleState(type), text);
}

/* The module keeps expressions, and their type the module. */
static int traverse_expression(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

static void free_expression(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  hp_xpath_destroy(((expression *)self)->program);
  Py_DECREF(((expression *)self)->text);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* Returns a compiled expression. The module keeps those of the last texts. */
static PyObject *to_expression(hp_py_state *state, PyObject *value) {
  if (Py_IS_TYPE(value, state->xpath)) return Py_NewRef(value);
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "an expression must be str or hpar.XPath, not %R", Py_TYPE(value));
    return NULL;
  }
  PyObject *found = PyDict_GetItemWithError(state->xpaths, value);
  if (found) return Py_NewRef(found);
  if (PyErr_Occurred()) return NULL;
  found = new_expression(state, value);
  if (!found) return NULL;
  if (PyDict_Size(state->xpaths) >= HP_PY_SELECTORS) PyDict_Clear(state->xpaths);
  if (PyDict_SetItem(state->xpaths, value, found)) Py_CLEAR(found);
  return found;
}

/*** variables ***/

/* A variable, with the objects that hold its memory. */
typedef struct variable {
  PyObject *owner;
  hp_xpath_item *items;
} variable;

static bool read_node(const hp_py_document *d, PyObject *object, hp_xpath_item *item) {
  const bool fits = Py_IS_TYPE(object, d->state->node) && ((hp_py_node *)object)->document == d;
  if (fits)
    *item = ((hp_py_node *)object)->handle;
  else
    PyErr_SetString(PyExc_TypeError, "a variable must be bool, a number, str, or nodes of the document");
  return fits;
}

static bool read_nodes(const hp_py_document *d, PyObject *sequence, hp_xpath_value *value, variable *v) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) return false;
  v->items = malloc((size_t)count * sizeof *v->items + 1);
  if (!v->items) {
    PyErr_NoMemory();
    return false;
  }
  value->type = HP_XPATH_SET;
  value->set = (hp_xpath_set){.items = v->items};
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *object = PySequence_GetItem(sequence, i);
    bool fits = object && read_node(d, object, &v->items[i]);
    Py_XDECREF(object);
    if (!fits) return false;
    value->set.count++;
  }
  return true;
}

static bool read_variable(const hp_py_document *d, PyObject *object, hp_xpath_value *value, variable *v) {
  if (PyBool_Check(object)) {
    *value = (hp_xpath_value){.type = HP_XPATH_BOOLEAN, .truth = object == Py_True};
  } else if (PyLong_Check(object) || PyFloat_Check(object)) {
    *value = (hp_xpath_value){.type = HP_XPATH_NUMBER, .number = PyFloat_AsDouble(object)};
    return !PyErr_Occurred();
  } else if (PyUnicode_Check(object)) {
    value->type = HP_XPATH_STRING_VALUE;
    v->owner = hp_py_utf8(object, &value->string.bytes, &value->string.length);
    return v->owner != NULL;
  } else if (PyList_Check(object) || PyTuple_Check(object) || Py_IS_TYPE(object, d->state->nodes)) {
    return read_nodes(d, object, value, v);
  } else {
    hp_xpath_item item;
    if (!read_node(d, object, &item)) return false;
    PyObject *single = PyTuple_Pack(1, object);
    bool fine = single && read_nodes(d, single, value, v);
    Py_XDECREF(single);
    return fine;
  }
  return true;
}

/* The variables of a call, in the order of the program's. */
typedef struct variables {
  uint32_t count;
  hp_xpath_value *values;
  variable *memory;
} variables;

static void release_variables(variables *v) {
  for (uint32_t i = 0; v->memory && i < v->count; i++) {
    Py_XDECREF(v->memory[i].owner);
    free(v->memory[i].items);
  }
  free(v->memory);
  free(v->values);
}

/* `named` is a dict or NULL. */
static bool read_variables(const hp_py_document *d, const expression *x, PyObject *named, variables *v) {
  v->count = x->program->variable_count;
  if (!v->count) return true;
  v->values = calloc(v->count, sizeof *v->values);
  v->memory = calloc(v->count, sizeof *v->memory);
  if (!v->values || !v->memory) {
    PyErr_NoMemory();
    return false;
  }
  for (uint32_t i = 0; i < v->count; i++) {
    hpar_string name = x->program->variables[i];
    PyObject *key = hp_py_string(name);
    PyObject *object = key && named ? PyDict_GetItemWithError(named, key) : NULL;
    Py_XDECREF(key);
    if (!object) {
      hp_xpath_failure failure = {HPAR_ERROR_ARGUMENT, "the variable has no value",
                                  (size_t)(name.bytes - x->program->text) - 1};
      if (!PyErr_Occurred()) raise_error(d->state, &failure, x->text);
      return false;
    }
    if (!read_variable(d, object, &v->values[i], &v->memory[i])) return false;
  }
  return true;
}

/*** results ***/

static PyObject *item_object(hp_py_document *d, hp_xpath_item item) {
  if (hp_xpath_attribute(item)) return hp_py_string(hp_xpath_attribute_value(d->tree, item));
  const hp_ref ref = hp_xpath_node(item);
  if (hp_node_at(d->tree->range.base, ref)->kind != HPAR_NODE_TEXT) return hp_py_new_node(d, ref);
  return hp_py_string(hpar_node_data(d->tree, ref));
}

/* Lets other threads run after each thousand items, unless they may change the document. */
static PyObject *list_items(hp_py_document *d, const hp_xpath_set *set) {
  enum { AT_ONCE = 1024 };
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < set->count; i++) {
    if (i % AT_ONCE == AT_ONCE - 1) hp_py_end_read(d, hp_py_begin_read(d));
    PyObject *object = item_object(d, set->items[i]);
    if (!object || PyList_Append(list, object)) Py_CLEAR(list);
    Py_XDECREF(object);
  }
  return list;
}

static PyObject *result_object(hp_py_document *d, const hp_xpath_value *v) {
  switch (v->type) {
    case HP_XPATH_SET: return list_items(d, &v->set);
    case HP_XPATH_NUMBER: return PyFloat_FromDouble(v->number);
    case HP_XPATH_BOOLEAN: return PyBool_FromLong(v->truth);
    default: return hp_py_string(v->string);
  }
}

/*** calls ***/

/* The lock is not held; NULL: it is, and signals wait. */
static bool is_interrupted(void *argument) {
  PyThreadState **saved = argument;
  if (!*saved) return false;
  PyEval_RestoreThread(*saved);
  bool interrupted = PyErr_CheckSignals() != 0;
  *saved = PyEval_SaveThread();
  return interrupted;
}

void hp_py_drop_order(hp_py_document *d) {
  if (d->order) hp_xpath_free_order(d->order);
  free(d->order);
  d->order = NULL;
}

static PyObject *evaluate(hp_py_document *d, hpar_node context, const expression *x, PyObject *named) {
  variables v = {.count = 0};
  PyObject *result = NULL;
  hp_xpath_order *order = d->order ? d->order : calloc(1, sizeof *order);
  d->order = NULL; /* a call in another thread makes its own */
  if (!order) return PyErr_NoMemory();
  if (read_variables(d, x, named, &v)) {
    PyThreadState *saved = hp_py_begin_read(d);
    hp_xpath_call call = {.document = d->tree,
                          .context = context,
                          .variables = v.values,
                          .order = order,
                          .interrupted = is_interrupted,
                          .argument = &saved};
    hpar_status status = hp_xpath_run(x->program, &call);
    hp_py_end_read(d, saved);
    if (!status)
      result = result_object(d, &call.result);
    else if (status != HPAR_STOP)
      raise_error(d->state, &call.failure, x->text);
    hp_xpath_free_value(&call.result);
  }
  release_variables(&v);
  if (d->order || d->editable) {
    hp_xpath_free_order(order);
    free(order);
  } else {
    d->order = order;
  }
  return result;
}

PyObject *hp_py_xpath(hp_py_document *d, hpar_node context, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
  if (count != 1) return PyErr_Format(PyExc_TypeError, "xpath() takes one positional argument (%zd given)", count);
  PyObject *x = to_expression(d->state, arguments[0]), *named = NULL, *result = NULL;
  Py_ssize_t variables = keywords ? PyTuple_Size(keywords) : 0;
  bool ready = x && (!variables || (named = PyDict_New()));
  for (Py_ssize_t i = 0; ready && i < variables; i++)
    ready = !PyDict_SetItem(named, PyTuple_GetItem(keywords, i), arguments[count + i]);
  if (ready) result = evaluate(d, context, (expression *)x, named);
  Py_XDECREF(named);
  Py_XDECREF(x);
  return result;
}

static PyObject *call_expression(PyObject *self, PyObject *arguments, PyObject *keywords) {
  const hp_py_state *state = PyType_GetModuleState(Py_TYPE(self));
  PyObject *of;
  if (!PyArg_ParseTuple(arguments, "O:XPath", &of)) return NULL;
  if (Py_IS_TYPE(of, state->node)) {
    const hp_py_node *n = (hp_py_node *)of;
    return evaluate(n->document, n->handle, (expression *)self, keywords);
  }
  if (Py_IS_TYPE(of, state->document)) {
    hp_py_document *d = (hp_py_document *)of;
    return evaluate(d, hpar_document_root(d->tree), (expression *)self, keywords);
  }
  return PyErr_Format(PyExc_TypeError, "expected a document or a node, not %R", Py_TYPE(of));
}

static PyObject *represent_expression(PyObject *self) {
  return PyUnicode_FromFormat("XPath(%R)", ((expression *)self)->text);
}

static PyObject *get_path(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef(((expression *)self)->text);
}

static PyObject *reduce_expression(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return Py_BuildValue("(O(O))", Py_TYPE(self), ((expression *)self)->text);
}

static PyMethodDef methods[] = {{"__reduce__", reduce_expression, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyGetSetDef members[] = {{"path", get_path, NULL, PyDoc_STR("The text of the expression."), NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("XPath(expression)\n--\n\n"
                                  "A compiled expression of XPath 1.0. A call takes a document or a node, and the\n"
                                  "values of variables. XPathError: the expression is wrong.\n\n"
                                  ">>> by_id = hpar.XPath('string(//*[@id = $id])')\n"
                                  ">>> by_id(hpar.parse('<p id=a>x<p id=b>y'), id='b')\n'y'")},
    {Py_tp_new, make_expression},
    {Py_tp_dealloc, free_expression},
    {Py_tp_traverse, traverse_expression},
    {Py_tp_call, call_expression},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_tp_repr, represent_expression},
    {0, NULL},
};

PyType_Spec hp_py_xpath_spec = {
    .name = "hpar._core.XPath",
    .basicsize = sizeof(expression),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
