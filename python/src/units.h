#ifndef HPAR_PYTHON_UNITS_H
#define HPAR_PYTHON_UNITS_H

#include "module.h"

/* A function of on_end that has not been called, in the list of its rewrite. */
typedef struct hp_py_end_function {
  PyObject *function;
  struct hp_py_end_function *next, **link; /* link: what points to this one */
} hp_py_end_function;

/* Makes the object for `of`. `ends` is the list of the rewrite that calls the function, because the
 * function may start other rewrites, or use the object in another thread. hp_py_end_unit makes the
 * object invalid when the callback returns. */
PyObject *hp_py_new_unit(PyTypeObject *type, void *of, hp_py_end_function **ends);
void hp_py_end_unit(PyObject *self);

/* Frees the function and takes it out of its list. */
void hp_py_drop_end_function(hp_py_end_function *f);

/* The library's callback for the end of an element. `context` is an hp_py_end_function. */
hpar_status hp_py_call_at_end(hpar_element_end *end, void *context);

#endif
