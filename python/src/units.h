#ifndef HPAR_PYTHON_UNITS_H
#define HPAR_PYTHON_UNITS_H

#include "module.h"

/* Makes the object for `of`. hp_py_end_unit makes it invalid when the callback returns. */
PyObject *hp_py_new_unit(PyTypeObject *type, void *of);
void hp_py_end_unit(PyObject *self);

/* Keeps a function until the running rewrite ends. Returns false with an exception. */
bool hp_py_keep_function(PyObject *function);

/* The library's callback for the end of an element. `context` is the function. */
hpar_status hp_py_call_at_end(hpar_element_end *end, void *context);

#endif
