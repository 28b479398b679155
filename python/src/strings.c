/* Python strings, bytes and dict entries from C values. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

hpar_status hp_py_write(const char *bytes, size_t length, void *context) {
  hp_py_buffer *buffer = context;
  if (length > buffer->capacity - buffer->length) {
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity - buffer->length < length) capacity *= 2;
    char *grown = realloc(buffer->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    buffer->bytes = grown;
    buffer->capacity = capacity;
  }
  if (length) memcpy(buffer->bytes + buffer->length, bytes, length);
  buffer->length += length;
  return HPAR_OK;
}

/* Returns a str. The bytes are UTF-8, unless a program has changed the buffer that the document
 * borrows. */
PyObject *hp_py_str(const char *bytes, size_t length) {
  return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, "replace");
}

PyObject *hp_py_string(hpar_string string) { return hp_py_str(string.bytes, string.length); }

PyObject *hp_py_buffer_str(hp_py_buffer *buffer, hpar_status status) {
  PyObject *text = status ? PyErr_NoMemory() : hp_py_str(buffer->bytes ? buffer->bytes : "", buffer->length);
  free(buffer->bytes);
  return text;
}

PyObject *hp_py_buffer_bytes(hp_py_buffer *buffer, hpar_status status) {
  PyObject *bytes = status ? PyErr_NoMemory() : PyBytes_FromStringAndSize(buffer->bytes, (Py_ssize_t)buffer->length);
  free(buffer->bytes);
  return bytes;
}

bool hp_py_put(PyObject *dict, const char *key, PyObject *value) {
  if (!value) return false;
  int failed = PyDict_SetItemString(dict, key, value);
  Py_DECREF(value);
  return !failed;
}

bool hp_py_put_number(PyObject *dict, const char *key, uint64_t number) {
  return hp_py_put(dict, key, PyLong_FromUnsignedLongLong(number));
}

bool hp_py_put_text(PyObject *dict, const char *key, const char *text) {
  return hp_py_put(dict, key, text ? PyUnicode_FromString(text) : Py_NewRef(Py_None));
}

/*** input ***/

/* Returns the str with U+FFFD in place of each lone surrogate. */
static PyObject *without_surrogates(PyObject *text) {
  PyObject *units = PyUnicode_AsEncodedString(text, "utf-16-le", "surrogatepass");
  if (!units) return NULL;
  char *bytes;
  Py_ssize_t length;
  PyObject *clean = NULL;
  if (!PyBytes_AsStringAndSize(units, &bytes, &length)) clean = PyUnicode_Decode(bytes, length, "utf-16-le", "replace");
  Py_DECREF(units);
  return clean;
}

PyObject *hp_py_utf8(PyObject *text, const char **bytes, size_t *length) {
  Py_ssize_t count = 0;
  PyObject *owner = Py_NewRef(text);
  *bytes = PyUnicode_AsUTF8AndSize(owner, &count);
  if (!*bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    owner = without_surrogates(text);
    Py_DECREF(text);
    *bytes = owner ? PyUnicode_AsUTF8AndSize(owner, &count) : NULL;
  }
  if (!*bytes) Py_CLEAR(owner);
  *length = (size_t)count;
  return owner;
}

bool hp_py_hold_piece(hp_py_piece *p, PyObject *data) {
  *p = (hp_py_piece){.is_text = PyUnicode_Check(data)};
  if (p->is_text) {
    p->owner = hp_py_utf8(data, &p->bytes, &p->length);
    return p->owner != NULL;
  }
  if (PyObject_GetBuffer(data, &p->view, PyBUF_SIMPLE)) return false;
  p->bytes = p->view.buf;
  p->length = (size_t)p->view.len;
  if (p->view.readonly) return true;
  char *copy;
  Py_ssize_t length;
  p->owner = PyBytes_FromStringAndSize(p->view.buf, p->view.len);
  PyBuffer_Release(&p->view);
  if (!p->owner || PyBytes_AsStringAndSize(p->owner, &copy, &length)) return false;
  p->bytes = copy;
  return true;
}

void hp_py_release_piece(hp_py_piece *p) {
  if (p->view.obj) PyBuffer_Release(&p->view);
  Py_CLEAR(p->owner);
}

bool hp_py_check_kind(hp_py_kind kind, const hp_py_piece *piece) {
  if (kind == HP_PY_NO_PIECE || (kind == HP_PY_TEXT_PIECES) == piece->is_text) return true;
  PyErr_SetString(PyExc_TypeError, "the pieces of a page are either str or bytes, not both");
  return false;
}
