/* The module hpar._core: its types, exceptions and functions. Each interpreter has a module object
 * of its own, with its own state. */

#include "module.h"

static PyObject *library_version(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return PyUnicode_FromString(hpar_version());
}

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define FUNCTION(name, text) \
  { #name, (PyCFunction)(void (*)(void))hp_py_##name, KEYWORDS, PyDoc_STR(text) }

static PyMethodDef functions[] = {
    FUNCTION(parse,
             "parse($module, data, /, *, threads=0, encoding=None, fragment=None, limits=None, mode='auto',\n"
             "      scripting=False, positions=False, max_errors=0, copy=None, editable=False)\n--\n\n"
             "Parses a page and returns a Document.\n\n"
             "`data` is bytes, another buffer such as mmap or memoryview, str, a path (pathlib.Path), or an open\n"
             "file. A str is HTML, not the name of a file. The document keeps the object\n"
             "and reads its bytes. It copies a buffer that a program can write to, unless `copy` is False.\n"
             "With copy=False the bytes must not change while the document lives. The same holds for a mapped\n"
             "file, and for a read-only view of memory that a program can write to.\n\n"
             "threads: of the parallel parser; 0: one per core. Pages below 256 KB have one thread.\n"
             "encoding: the label that the transport gives, as in 'windows-1252'. Ignored for str.\n"
             "fragment: the context element of a fragment, as in 'div' or 'svg path'.\n"
             "limits: a dict with the names of hpar_limits ('depth', 'nodes', 'memory', 'time_ns', ...), or\n"
             "    'untrusted'. LimitError is raised at a limit. Its attribute `document` has the tree so far.\n"
             "mode: 'auto', 'sequential', 'parallel' or 'pipelined'. The tree is the same.\n"
             "scripting: the scripting flag of the standard. It changes the contents of noscript.\n"
             "positions: keep the positions of tags and attributes in the input.\n"
             "max_errors: the number of parse errors to keep.\n"
             "editable: the program can change the document: see Document.edit.\n\n"
             ">>> hpar.parse(b'<title>a &amp; b</title>').css_first('title').text()\n'a & b'\n"
             ">>> hpar.parse('<td>x', fragment='tr').html\n'<td>x</td>'"),
    {"_start_batch", (PyCFunction)(void (*)(void))hp_py_start_batch, KEYWORDS, NULL},
    {"_load", (PyCFunction)(void (*)(void))hp_py_load, KEYWORDS, NULL},
    {"_start_feed", (PyCFunction)(void (*)(void))hp_py_start_feed, KEYWORDS, NULL},
    {"_open_archive", hp_py_open_archive, METH_O, NULL},
    {"_fields", hp_py_fields, METH_O, NULL},
    {"_message", (PyCFunction)(void (*)(void))hp_py_message, METH_FASTCALL, NULL},
    {"_start_rewrite", (PyCFunction)(void (*)(void))hp_py_start_rewrite, KEYWORDS, NULL},
    {"_rewrite", (PyCFunction)(void (*)(void))hp_py_rewrite, KEYWORDS, NULL},
    {"_inspect", (PyCFunction)(void (*)(void))hp_py_inspect, KEYWORDS, NULL},
    {"_profile", (PyCFunction)(void (*)(void))hp_py_profile, KEYWORDS, NULL},
    {"_schedule", (PyCFunction)(void (*)(void))hp_py_schedule, KEYWORDS, NULL},
    {"library_version", library_version, METH_NOARGS,
     PyDoc_STR("library_version($module, /)\n--\n\nReturns the version of the C library.")},
    {NULL, NULL, 0, NULL},
};

static bool add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec) {
  *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  return *type && !PyModule_AddType(module, *type);
}

/* `attribute`: one of its instances that is None unless it is set. */
static bool add_exception(PyObject *module, PyObject **exception, const char *name, const char *doc,
                          const char *attribute, PyObject *bases) {
  const char *last = name;
  for (const char *c = name; *c; c++)
    if (*c == '.') last = c + 1;
  PyObject *members = attribute ? Py_BuildValue("{sO}", attribute, Py_None) : NULL;
  if (attribute && !members) return false;
  *exception = PyErr_NewExceptionWithDoc(name, doc, bases, members);
  Py_XDECREF(members);
  return *exception && !PyObject_SetAttrString(module, last, *exception);
}

static int execute(PyObject *module) {
  hp_py_state *s = PyModule_GetState(module);
  bool fine = add_type(module, &s->document, &hp_py_document_spec) && add_type(module, &s->node, &hp_py_node_spec) &&
              add_type(module, &s->nodes, &hp_py_nodes_spec) && add_type(module, &s->links, &hp_py_links_spec) &&
              add_type(module, &s->attributes, &hp_py_attributes_spec) &&
              add_type(module, &s->children, &hp_py_children_spec) &&
              add_type(module, &s->descendants, &hp_py_descendants_spec) &&
              add_type(module, &s->selector, &hp_py_selector_spec) &&
              add_type(module, &s->column, &hp_py_column_spec) && add_type(module, &s->batch, &hp_py_batch_spec) &&
              add_type(module, &s->rules, &hp_py_rules_spec) && add_type(module, &s->feed, &hp_py_feed_spec) &&
              add_type(module, &s->rewriter, &hp_py_rewriter_spec) &&
              add_type(module, &s->archive, &hp_py_archive_spec) && add_type(module, &s->xpath, &hp_py_xpath_spec);
  for (int i = 0; i < HP_PY_UNITS && fine; i++) fine = add_type(module, &s->units[i], hp_py_unit_specs[i]);
  fine = fine && (s->selectors = PyDict_New()) && (s->xpaths = PyDict_New()) &&
         add_exception(module, &s->error, "hpar.Error", "The base of the errors of HPar.", NULL, NULL) &&
         add_exception(module, &s->limit_error, "hpar.LimitError",
                       "A limit was reached. `document` has the tree so far, or is None after a change or a rewrite.",
                       "document", s->error);
  PyObject *bases = fine ? PyTuple_Pack(2, s->error, PyExc_ValueError) : NULL;
  fine = bases &&
         add_exception(module, &s->selector_error, "hpar.SelectorError",
                       "A selector or a rule is not supported. `offset` is the place in the selector, or None.",
                       "offset", bases) &&
         add_exception(module, &s->xpath_error, "hpar.XPathError",
                       "An expression is wrong, or cannot have a value. `offset` is the place in it, in characters.",
                       "offset", bases);
  Py_XDECREF(bases);
  return fine ? 0 : -1;
}

#define STATE_OBJECTS(s)                                                                                            \
  {                                                                                                                 \
    (PyObject **)&(s)->document, (PyObject **)&(s)->node, (PyObject **)&(s)->nodes, (PyObject **)&(s)->links,       \
        (PyObject **)&(s)->attributes, (PyObject **)&(s)->children, (PyObject **)&(s)->descendants,                 \
        (PyObject **)&(s)->selector, (PyObject **)&(s)->column, (PyObject **)&(s)->batch, (PyObject **)&(s)->rules, \
        (PyObject **)&(s)->feed, (PyObject **)&(s)->rewriter, (PyObject **)&(s)->archive, (PyObject **)&(s)->xpath, \
        &(s)->error, &(s)->limit_error, &(s)->selector_error, &(s)->xpath_error, &(s)->selectors, &(s)->xpaths      \
  }

static int traverse_module(PyObject *module, visitproc visit, void *arg) {
  hp_py_state *s = PyModule_GetState(module);
  PyObject **const objects[] = STATE_OBJECTS(s);
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) Py_VISIT(*objects[i]);
  for (int i = 0; i < HP_PY_UNITS; i++) Py_VISIT((PyObject *)s->units[i]);
  return 0;
}

static int clear_module(PyObject *module) {
  hp_py_state *s = PyModule_GetState(module);
  PyObject **const objects[] = STATE_OBJECTS(s);
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) Py_CLEAR(*objects[i]);
  for (int i = 0; i < HP_PY_UNITS; i++) Py_CLEAR(s->units[i]);
  return 0;
}

static void free_module(void *module) {
  hp_py_state *s = PyModule_GetState(module);
  while (s->parser_count) hpar_parser_destroy(s->parsers[--s->parser_count]);
  clear_module(module);
}

/* The second slot says that each interpreter may have its own lock. Versions before 3.12 refuse it. */
enum { PY_3_12 = 0x030C0000, MULTIPLE_INTERPRETERS = 3, OWN_LOCK = 2 };
static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {MULTIPLE_INTERPRETERS, (void *)OWN_LOCK}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,         .m_name = "hpar._core",  .m_doc = PyDoc_STR("The compiled part of hpar."),
    .m_size = sizeof(hp_py_state), .m_methods = functions,  .m_slots = slots,
    .m_traverse = traverse_module, .m_clear = clear_module, .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  PyObject *version = PySys_GetObject("hexversion"); /* borrowed */
  if (version && PyLong_AsLong(version) < PY_3_12) slots[1].slot = 0;
  return PyModuleDef_Init(&definition);
}
