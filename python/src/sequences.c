/* What the sequences of nodes and of links share: they compare and print as lists do. */

#include "module.h"

PyObject *hp_py_sequence_compare(PyObject *left, PyObject *right, int operation) {
  const bool comparable = PyList_Check(right) || Py_TYPE(left) == Py_TYPE(right);
  if (!comparable || (operation != Py_EQ && operation != Py_NE)) return Py_NewRef(Py_NotImplemented);
  PyObject *a = PySequence_List(left), *b = a ? PySequence_List(right) : NULL;
  PyObject *result = b ? PyObject_RichCompare(a, b, operation) : NULL;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return result;
}

PyObject *hp_py_sequence_repr(PyObject *self) {
  PyObject *list = PySequence_List(self);
  PyObject *text = list ? PyObject_Repr(list) : NULL;
  Py_XDECREF(list);
  return text;
}

PyObject *hp_py_sequence_index(PyObject *self, PyObject *value) {
  PyObject *list = PySequence_List(self);
  const Py_ssize_t index = list ? PySequence_Index(list, value) : -1;
  Py_XDECREF(list);
  return index < 0 ? NULL : PyLong_FromSsize_t(index);
}

PyObject *hp_py_sequence_count(PyObject *self, PyObject *value) {
  PyObject *list = PySequence_List(self);
  const Py_ssize_t count = list ? PySequence_Count(list, value) : -1;
  Py_XDECREF(list);
  return count < 0 ? NULL : PyLong_FromSsize_t(count);
}
