/* Python strings, bytes and dict entries from C values. */

#include "module.h"

#include "base/bytes.h"
#include "text/scan/scan.h"

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

/*** long texts ***/

/* CPython decodes UTF-8 at a tenth of the speed of a copy, and with its lock. Therefore a long text
 * becomes Latin-1 or UTF-16 before the call takes the lock: of these, CPython makes a str in little more
 * than the time of a copy. */

enum { LONG = 1024 };

typedef enum form { UTF_8, LATIN_1, UTF_16 } form;

enum { TOGETHER = sizeof(uint64_t) };
typedef uint8_t byte_vector __attribute__((vector_size(TOGETHER)));
typedef uint16_t unit_vector __attribute__((vector_size(2 * TOGETHER)));
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Returns the form for valid UTF-8: LATIN_1 also for ASCII. A byte from 0xC4 on begins a character from
 * U+0100 on. */
static form form_of(const char *bytes, size_t length, bool *is_ascii) {
  size_t i = 0;
  uint64_t all = 0;
  for (; i + TOGETHER <= length; i += TOGETHER) {
    const uint64_t word = hp_load_64(bytes + i);
    all |= word;
    if (word & word << 1 & (word << 2 | word << 3 | word << 4 | word << 5) & HIGH_BITS) return UTF_16;
  }
  for (; i < length; i++) {
    all |= (unsigned char)bytes[i];
    if ((unsigned char)bytes[i] >= 0xC4) return UTF_16;
  }
  *is_ascii = !(all & HIGH_BITS);
  return LATIN_1;
}

/* Writes valid UTF-8 without characters from U+0100 on as Latin-1 in its place. Returns the length. */
static size_t narrow(char *bytes, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length;) {
    if (i + TOGETHER <= length && !(hp_load_64(bytes + i) & HIGH_BITS)) {
      memmove(bytes + count, bytes + i, TOGETHER);
      count += TOGETHER;
      i += TOGETHER;
      continue;
    }
    const unsigned char c = (unsigned char)bytes[i++];
    bytes[count++] = (char)(c < 0x80 ? c : (c & 3) << 6 | (bytes[i++] & 0x3F));
  }
  return count;
}

/* Writes UTF-16 in the processor's byte order, and moves `*to` behind it. */
static void put_unit(char **to, unsigned unit) {
  const uint16_t u = (uint16_t)unit;
  memcpy(*to, &u, sizeof u);
  *to += sizeof u;
}

/* Writes valid UTF-8 as UTF-16. Returns the number of units. It may write sizeof(unit_vector) bytes more. */
static size_t widen(const char *bytes, size_t length, char *units) {
  const unsigned char *s = (const unsigned char *)bytes, *end = s + length;
  char *to = units;
  while (s < end) {
    const unsigned c = *s;
    if (c < 0x80 && (size_t)(end - s) >= TOGETHER) {
      const uint64_t others = hp_load_64(s) & HIGH_BITS;
      const size_t ascii = others ? (size_t)__builtin_ctzll(others) / 8 : TOGETHER;
      byte_vector some;
      memcpy(&some, s, sizeof some);
      const unit_vector wide = __builtin_convertvector(some, unit_vector);
      memcpy(to, &wide, sizeof wide); /* what follows overwrites those that are not ASCII */
      to += ascii * sizeof(uint16_t);
      s += ascii;
    } else if (c < 0x80) {
      put_unit(&to, *s++);
    } else if (c < 0xE0) {
      put_unit(&to, (c & 0x1F) << 6 | (s[1] & 0x3Fu));
      s += 2;
    } else if (c < 0xF0) {
      put_unit(&to, (c & 0xF) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu));
      s += 3;
    } else {
      const unsigned code = (c & 7) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
      put_unit(&to, 0xD7C0 + (code >> 10));
      put_unit(&to, 0xDC00 | (code & 0x3FF));
      s += 4;
    }
  }
  return (size_t)(to - units) / sizeof(uint16_t);
}

/* A text with characters from U+0100 on becomes a str piece by piece, because the lock can be given up in
 * between. Most pieces of most such texts are ASCII. */
enum { PIECE = 1 << 16 };

typedef struct piece {
  char *bytes;
  size_t length; /* in bytes */
  form form;
} piece;

/* Returns the end of the piece that begins at `at`: where a character ends. */
static size_t piece_end(const hp_py_buffer *b, size_t at) {
  if (b->length - at <= PIECE) return b->length;
  size_t end = at + PIECE;
  while ((b->bytes[end] & 0xC0) == 0x80) end--;
  return end;
}

/* Returns valid UTF-8 in another form. `units` has room for it as UTF-16, if it is wide. Needs no Python
 * thread state. */
static piece change_form(char *bytes, size_t length, char *units) {
  bool is_ascii = false;
  const form form = form_of(bytes, length, &is_ascii);
  if (form == UTF_16) return (piece){units, sizeof(uint16_t) * widen(bytes, length, units), form};
  return (piece){bytes, is_ascii ? length : narrow(bytes, length), form};
}

static PyObject *piece_str(piece p) {
  int order = PY_LITTLE_ENDIAN ? -1 : 1;
  if (p.form == LATIN_1) return PyUnicode_DecodeLatin1(p.bytes, (Py_ssize_t)p.length, NULL);
  return PyUnicode_DecodeUTF16(p.bytes, (Py_ssize_t)p.length, NULL, &order);
}

/* Returns the text whose bytes before `at` are the str `text`, and takes the reference to that. */
static PyObject *join_pieces(PyObject *text, const hp_py_buffer *b, size_t at, char *units, bool gives_up_lock) {
  PyObject *list = PyList_New(0), *empty = PyUnicode_FromString(""), *joined = NULL;
  bool fine = list && empty && text && !PyList_Append(list, text);
  Py_XDECREF(text);
  while (fine && at < b->length) {
    PyThreadState *saved = gives_up_lock ? PyEval_SaveThread() : NULL;
    const size_t end = piece_end(b, at);
    const piece p = change_form(b->bytes + at, end - at, units);
    if (saved) PyEval_RestoreThread(saved);
    text = piece_str(p);
    fine = text && !PyList_Append(list, text);
    Py_XDECREF(text);
    at = end;
  }
  if (fine) joined = PyUnicode_Join(empty, list);
  Py_XDECREF(empty);
  Py_XDECREF(list);
  return joined;
}

PyObject *hp_py_end_text(hp_py_document *d, PyThreadState *saved, hp_py_buffer *b, hpar_status status) {
  bool is_ascii;
  size_t end = b->length;
  char *units = NULL;
  piece p = {b->bytes, b->length, UTF_8};
  if (!status && end >= LONG && hp_scan()->invalid_utf8(b->bytes, b->bytes + end) == b->bytes + end) {
    const form whole = form_of(b->bytes, end, &is_ascii);
    if (whole == UTF_16) end = piece_end(b, 0);
    if (whole == UTF_16) units = malloc(sizeof(uint16_t) * PIECE + sizeof(unit_vector));
    if (whole == LATIN_1 || units) p = change_form(b->bytes, end, units);
  }
  hp_py_end_read(d, saved);
  if (p.form == UTF_8) return hp_py_buffer_str(b, status);
  PyObject *text = piece_str(p);
  if (end < b->length) text = join_pieces(text, b, end, units, saved != NULL);
  free(units);
  free(b->bytes);
  return text;
}

PyObject *hp_py_buffer_str(hp_py_buffer *buffer, hpar_status status) {
  PyObject *text = status ? PyErr_NoMemory() : hp_py_str(buffer->bytes ? buffer->bytes : "", buffer->length);
  free(buffer->bytes);
  return text;
}

PyObject *hp_py_bytes(const char *from, size_t length) {
  enum { COPY_AT_ONCE = 1 << 18 };
  if (length < COPY_AT_ONCE) return PyBytes_FromStringAndSize(from, (Py_ssize_t)length);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
  char *to;
  Py_ssize_t same;
  if (!bytes || PyBytes_AsStringAndSize(bytes, &to, &same)) return bytes;
  Py_BEGIN_ALLOW_THREADS;
  memcpy(to, from, length);
  Py_END_ALLOW_THREADS;
  return bytes;
}

PyObject *hp_py_buffer_bytes(hp_py_buffer *buffer, hpar_status status) {
  PyObject *bytes = status ? PyErr_NoMemory() : hp_py_bytes(buffer->bytes, buffer->length);
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
