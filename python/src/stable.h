#ifndef HPAR_PYTHON_STABLE_H
#define HPAR_PYTHON_STABLE_H

/* The limited API of Python 3.9, and what joined it later although Python 3.9 has it with the same
 * meaning. The headers hide those declarations, which are therefore here. The test test_build lists
 * the functions. */

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

/*** since 3.10 ***/

#define METH_FASTCALL 0x0080
/* Python 3.9 ignores these flags. */
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7)
#define Py_TPFLAGS_IMMUTABLETYPE (1UL << 8)

PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *length);

static inline PyObject *hp_py_new_reference(PyObject *object) {
  Py_INCREF(object);
  return object;
}
#undef Py_NewRef
#define Py_NewRef(object) hp_py_new_reference((PyObject *)(object))

/*** since 3.11 ***/

enum { PyBUF_SIMPLE = 0, PyBUF_WRITABLE = 1, PyBUF_FORMAT = 4, PyBUF_ND = 8, PyBUF_STRIDES = 16 | PyBUF_ND };

typedef struct Py_buffer {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} Py_buffer;

PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *object);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);

#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2

#endif
