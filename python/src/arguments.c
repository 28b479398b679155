/* Arguments, options, exceptions and idle parsers. */

#include "module.h"

#include <string.h>

const char *const hp_py_option_names[HP_PY_OPTIONS] = {"threads",   "encoding",  "fragment",   "limits", "mode",
                                                       "scripting", "positions", "max_errors", "copy",   "editable"};

/* Returns the index of the signature's name that equals `keyword`, or the count. */
static size_t find_name(const hp_py_signature *s, PyObject *keyword) {
  size_t i = 0;
  while (i < s->count && PyUnicode_CompareWithASCIIString(keyword, s->names[i])) i++;
  return i;
}

bool hp_py_arguments(const hp_py_signature *s, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
                     PyObject **values) {
  memset(values, 0, s->count * sizeof *values);
  if ((size_t)count > s->positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zu positional arguments (%zd given)", s->function, s->positional,
                 count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) values[i] = arguments[i];
  Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject *keyword = PyTuple_GetItem(keywords, i);
    size_t at = find_name(s, keyword);
    if (at == s->count || values[at]) {
      const char *why = at == s->count ? "an unexpected keyword argument" : "multiple values for argument";
      PyErr_Format(PyExc_TypeError, "%s() got %s '%U'", s->function, why, keyword);
      return false;
    }
    values[at] = arguments[count + i];
  }
  for (size_t i = 0; i < s->required; i++)
    if (!values[i]) {
      PyErr_Format(PyExc_TypeError, "%s() is missing the argument '%s'", s->function, s->names[i]);
      return false;
    }
  return true;
}

bool hp_py_read_text(PyObject *value, const char *name, const char **text) {
  if (!value || value == Py_None) return true;
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be str or None", name);
    return false;
  }
  Py_ssize_t length;
  *text = PyUnicode_AsUTF8AndSize(value, &length);
  if (*text && strlen(*text) != (size_t)length) {
    PyErr_Format(PyExc_ValueError, "%s has a null character", name);
    return false;
  }
  return *text != NULL;
}

bool hp_py_read_flag(PyObject *value, bool *flag) {
  if (!value) return true;
  int truth = PyObject_IsTrue(value);
  *flag = truth > 0;
  return truth >= 0;
}

bool hp_py_read_number(PyObject *value, const char *name, uint64_t *number) {
  *number = PyLong_AsUnsignedLongLong(value);
  if (*number != (uint64_t)-1 || !PyErr_Occurred()) return true;
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s must be from 0 to 2**64 - 1, not %R", name, value);
  } else if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s must be int, not %R", name, Py_TYPE(value));
  }
  return false;
}

bool hp_py_read_threads(PyObject *value, unsigned *threads) {
  uint64_t number;
  if (!hp_py_read_number(value, "threads", &number)) return false;
  if (number > HPAR_MAX_THREADS) {
    PyErr_Format(PyExc_ValueError, "threads must be at most %d", HPAR_MAX_THREADS);
    return false;
  }
  *threads = (unsigned)number;
  return true;
}

bool hp_py_check_encoding(PyObject *label) {
  const char *text = NULL;
  if (!hp_py_read_text(label, "encoding", &text)) return false;
  if (!text || hpar_encoding_name(text)) return true;
  PyErr_Format(PyExc_ValueError, "encoding must be a label of the Encoding Standard, not %R", label);
  return false;
}

static bool read_mode(PyObject *value, hpar_options *options) {
  static const hpar_study pipelined = {HPAR_STUDY_INIT, .driver = "pipelined"};
  static const char *const names[] = {"auto", "sequential", "parallel", "pipelined"};
  if (!value || value == Py_None) return true;
  if (PyUnicode_Check(value))
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (!PyUnicode_CompareWithASCIIString(value, names[i])) {
        options->mode = i <= HPAR_MODE_PARALLEL ? (hpar_mode)i : HPAR_MODE_PARALLEL;
        options->study = i > HPAR_MODE_PARALLEL ? &pipelined : NULL;
        return true;
      }
  PyErr_SetString(PyExc_ValueError, "mode must be 'auto', 'sequential', 'parallel' or 'pipelined'");
  return false;
}

static const struct {
  const char *name;
  size_t offset;
} fields[] = {{"depth", offsetof(hpar_limits, depth)},     {"attributes", offsetof(hpar_limits, attributes)},
              {"nodes", offsetof(hpar_limits, nodes)},     {"nodes_per_byte", offsetof(hpar_limits, nodes_per_byte)},
              {"memory", offsetof(hpar_limits, memory)},   {"memory_per_byte", offsetof(hpar_limits, memory_per_byte)},
              {"time_ns", offsetof(hpar_limits, time_ns)}, {"input", offsetof(hpar_limits, input)}};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool read_limits(PyObject *dict, hpar_limits *limits) {
  Py_ssize_t at = 0;
  PyObject *key, *number;
  while (PyDict_Next(dict, &at, &key, &number)) {
    size_t i = 0;
    if (PyUnicode_Check(key))
      while (i < FIELDS && PyUnicode_CompareWithASCIIString(key, fields[i].name)) i++;
    if (i == FIELDS || !PyUnicode_Check(key)) {
      PyErr_Format(PyExc_ValueError,
                   "there is no limit %R: the limits are depth, attributes, nodes, nodes_per_byte, memory, "
                   "memory_per_byte, time_ns and input",
                   key);
      return false;
    }
    uint64_t limit;
    if (!hp_py_read_number(number, fields[i].name, &limit)) return false;
    memcpy((char *)limits + fields[i].offset, &limit, sizeof limit);
  }
  return true;
}

bool hp_py_read_limits(PyObject *value, hpar_limits *limits) {
  if (!value || value == Py_None) return true;
  if (PyUnicode_Check(value) && !PyUnicode_CompareWithASCIIString(value, "untrusted")) {
    *limits = (hpar_limits)HPAR_LIMITS_UNTRUSTED;
    return true;
  }
  if (PyUnicode_Check(value) || !PyObject_HasAttrString(value, "keys")) {
    PyErr_SetString(PyExc_TypeError, "limits must be a mapping, 'untrusted' or None");
    return false;
  }
  PyObject *dict = PyDict_New(); /* a copy, because numbers may be objects that run code */
  bool fine = dict && !PyDict_Update(dict, value) && read_limits(dict, limits);
  Py_XDECREF(dict);
  return fine;
}

PyObject *hp_py_limits(const hpar_limits *limits) {
  if (!limits) Py_RETURN_NONE;
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < FIELDS; i++) {
    uint64_t limit;
    memcpy(&limit, (const char *)limits + fields[i].offset, sizeof limit);
    if (!hp_py_put_number(dict, fields[i].name, limit)) Py_CLEAR(dict);
  }
  return dict;
}

bool hp_py_read_options(hp_py_options *o, PyObject *const *values) {
  o->c = (hpar_options){HPAR_OPTIONS_INIT};
  o->copy = -1;
  o->editable = false;
  uint64_t errors = 0;
  PyObject *copy = values[HP_PY_COPY];
  if (values[HP_PY_THREADS] && !hp_py_read_threads(values[HP_PY_THREADS], &o->c.threads)) return false;
  if (values[HP_PY_MAX_ERRORS] && !hp_py_read_number(values[HP_PY_MAX_ERRORS], "max_errors", &errors)) return false;
  if (copy && copy != Py_None && (o->copy = PyObject_IsTrue(copy)) < 0) return false;
  o->c.max_errors = (size_t)errors;
  return hp_py_read_text(values[HP_PY_ENCODING], "encoding", &o->c.encoding) &&
         hp_py_read_text(values[HP_PY_FRAGMENT], "fragment", &o->c.fragment) &&
         hp_py_read_limits(values[HP_PY_LIMITS], &o->c.limits) && read_mode(values[HP_PY_MODE], &o->c) &&
         hp_py_read_flag(values[HP_PY_SCRIPTING], &o->c.scripting) &&
         hp_py_read_flag(values[HP_PY_POSITIONS], &o->c.source_offsets) &&
         hp_py_read_flag(values[HP_PY_EDITABLE], &o->editable);
}

PyObject *hp_py_refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)arguments;
  (void)keywords;
  return PyErr_Format(PyExc_TypeError, "cannot create instances of %R", type);
}

void hp_py_raise(const hp_py_state *state, hpar_status status, const char *text) {
  const char *reason = text && *text ? text : hpar_status_text(status);
  switch (status) {
    case HPAR_ERROR_MEMORY: PyErr_NoMemory(); return;
    case HPAR_ERROR_ARGUMENT:
    case HPAR_ERROR_TOO_LARGE: PyErr_SetString(PyExc_ValueError, reason); return;
    default: PyErr_SetString(status < HPAR_LIMIT_DEPTH ? state->error : state->limit_error, reason);
  }
}

hpar_parser *hp_py_take_parser(hp_py_state *state) {
  if (state->parser_count) return state->parsers[--state->parser_count];
  hpar_parser *parser = NULL;
  if (hpar_parser_create(&parser)) PyErr_NoMemory();
  return parser;
}

void hp_py_return_parser(hp_py_state *state, hpar_parser *parser) {
  if (state->parser_count < HP_PY_PARSERS)
    state->parsers[state->parser_count++] = parser;
  else
    hpar_parser_destroy(parser);
}

PyObject *hp_py_open_input(PyObject *value) {
  if (PyUnicode_Check(value) || PyObject_CheckBuffer(value)) return Py_NewRef(value);
  const bool path = PyObject_HasAttrString(value, "__fspath__");
  if (!path) return PyObject_HasAttrString(value, "read") ? PyObject_CallMethod(value, "read", NULL) : Py_NewRef(value);
  PyObject *io = PyImport_ImportModule("io"), *contents = NULL;
  PyObject *file = io ? PyObject_CallMethod(io, "open", "Os", value, "rb") : NULL;
  if (file) contents = PyObject_CallMethod(file, "read", NULL);
  PyObject *closed = contents ? PyObject_CallMethod(file, "close", NULL) : NULL;
  if (!closed) Py_CLEAR(contents);
  Py_XDECREF(closed);
  Py_XDECREF(file);
  Py_XDECREF(io);
  return contents;
}
