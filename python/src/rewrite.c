/* Rules and the rewriter. The package's Python part reads the rules, and this file compiles them. */

#include "module.h"

#include <stdlib.h>

typedef struct rules {
  PyObject_HEAD hpar_rules *set;
} rules;

static void free_rules(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  hpar_rules_destroy(((rules *)self)->set);
  PyObject_Free(self);
  Py_DECREF(type);
}

static void raise_rule_error(const hp_py_state *state, const hpar_rule_error *error, Py_ssize_t number) {
  PyErr_Format(state->selector_error, "rule %zd: %s", number, error->reason);
}

/* Reads (unit, kind, format, name, value, replacement). */
static bool read_action(PyObject *tuple, hpar_action *action) {
  int unit, kind, format;
  Py_ssize_t value_length = 0, replacement_length = 0;
  const char *name, *value, *replacement;
  if (!PyArg_ParseTuple(tuple, "iiizs#s#", &unit, &kind, &format, &name, &value, &value_length, &replacement,
                        &replacement_length))
    return false;
  *action = (hpar_action){.unit = (hpar_unit)unit,
                          .kind = (hpar_action_kind)kind,
                          .format = (hpar_content)format,
                          .name = name,
                          .value = {value, (size_t)value_length},
                          .replacement = {replacement, (size_t)replacement_length}};
  return true;
}

/* Adds a rule: (selector, list of actions, limit, implied). */
static bool add_rule(const hp_py_state *state, hpar_rules *set, PyObject *tuple, Py_ssize_t number) {
  const char *selector;
  PyObject *list;
  unsigned long long limit;
  int implied;
  if (!PyArg_ParseTuple(tuple, "zO!Kp", &selector, &PyList_Type, &list, &limit, &implied)) return false;
  size_t count = (size_t)PyList_Size(list);
  hpar_action *actions = calloc(count + 1, sizeof *actions);
  bool fine = actions != NULL;
  if (!fine) PyErr_NoMemory();
  for (size_t i = 0; i < count && fine; i++) fine = read_action(PyList_GetItem(list, (Py_ssize_t)i), &actions[i]);
  if (fine) {
    const hpar_rule rule = {HPAR_RULE_INIT,        .selector = selector, .actions = actions,
                            .action_count = count, .limit = limit,       .implied = implied};
    hpar_rule_error error = {0, 0, ""};
    hpar_status status = hpar_rules_add(set, &rule, &error);
    if (status == HPAR_ERROR_ARGUMENT) raise_rule_error(state, &error, number);
    if (status && status != HPAR_ERROR_ARGUMENT) hp_py_raise(state, status, NULL);
    fine = !status;
  }
  free(actions);
  return fine;
}

static PyObject *make_rules(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"rules", NULL};
  PyObject *list;
  const hp_py_state *state = PyType_GetModuleState(type);
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!", names, &PyList_Type, &list)) return NULL;
  rules *r = PyObject_New(rules, state->rules);
  if (!r) return NULL;
  r->set = NULL;
  bool fine = !hpar_rules_create(&r->set);
  if (!fine) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < PyList_Size(list) && fine; i++) fine = add_rule(state, r->set, PyList_GetItem(list, i), i);
  if (fine && hpar_rules_compile(r->set)) {
    PyErr_NoMemory();
    fine = false;
  }
  if (fine) return (PyObject *)r;
  Py_DECREF((PyObject *)r);
  return NULL;
}

static PyObject *stats_of(const hpar_rewrite_stats *s) {
  PyObject *d = PyDict_New();
  bool fine = d && hp_py_put_number(d, "input_bytes", s->input_bytes) &&
              hp_py_put_number(d, "output_bytes", s->output_bytes) && hp_py_put_number(d, "tags", s->tags) &&
              hp_py_put_number(d, "matches", s->matches) && hp_py_put_number(d, "edits", s->edits) &&
              hp_py_put_number(d, "misplaced", s->misplaced) && hp_py_put_text(d, "encoding", s->encoding) &&
              hp_py_put(d, "passed_through", PyBool_FromLong(s->passed_through));
  if (!fine) Py_CLEAR(d);
  return d;
}

/* rewrite(data, rules, encoding, fragment, scripting, quirks): returns (output, statistics). */
PyObject *hp_py_rewrite(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"data", "rules", "encoding", "fragment", "scripting", "quirks"};
  static const hp_py_signature signature = {"rewrite", names, 6, 2, 2};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[6], *result = NULL;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  if (!Py_IS_TYPE(values[1], state->rules)) {
    PyErr_SetString(PyExc_TypeError, "rules must be compiled rules");
    return NULL;
  }
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT};
  for (int i = 2; i < 4; i++) {
    const char *text = NULL;
    if (values[i] && values[i] != Py_None && !(text = PyUnicode_AsUTF8AndSize(values[i], NULL))) return NULL;
    *(i == 2 ? &options.encoding : &options.fragment) = text;
  }
  options.scripting = values[4] && PyObject_IsTrue(values[4]) == 1;
  options.quirks = values[5] && PyObject_IsTrue(values[5]) == 1;
  Py_buffer view;
  if (PyObject_GetBuffer(values[0], &view, PyBUF_SIMPLE)) return NULL;
  hpar_rewriter *rewriter = NULL;
  hp_py_buffer output = {NULL, 0, 0};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = hpar_rewriter_create(&rewriter);
  if (!status)
    status = hpar_rewrite(rewriter, ((rules *)values[1])->set, &options, view.buf, (size_t)view.len, hp_py_write,
                          &output, &stats);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  if (status) {
    hp_py_raise(state, status, rewriter ? hpar_rewriter_error(rewriter) : NULL);
    free(output.bytes);
  } else {
    PyObject *bytes = hp_py_buffer_bytes(&output, HPAR_OK), *counts = bytes ? stats_of(&stats) : NULL;
    if (counts) result = Py_BuildValue("(OO)", bytes, counts);
    Py_XDECREF(bytes);
    Py_XDECREF(counts);
  }
  hpar_rewriter_destroy(rewriter);
  return result;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Compiled rules: see hpar.rewrite.")},
    {Py_tp_new, make_rules},
    {Py_tp_dealloc, free_rules},
    {0, NULL},
};

PyType_Spec hp_py_rules_spec = {
    .name = "hpar._core.Rules",
    .basicsize = sizeof(rules),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
