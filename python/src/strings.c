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
