/* Text and HTML of subtrees. The walks run without the interpreter's lock. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

PyObject *hp_py_html(hp_py_document *d, hpar_node node, bool outer) {
  hp_py_buffer buffer = {NULL, 0, 0};
  const unsigned flags = (outer ? HPAR_HTML_OUTER : 0) | (d->scripting ? HPAR_HTML_SCRIPTING : 0);
  PyThreadState *saved = hp_py_begin_read(d);
  hpar_status status = hpar_serialize_html(d->tree, node, flags, hp_py_write, &buffer);
  return hp_py_end_text(d, saved, &buffer, status);
}

PyObject *hp_py_tree(hp_py_document *d, hpar_node node) {
  hp_py_buffer buffer = {NULL, 0, 0};
  hpar_status status;
  PyThreadState *saved = hp_py_begin_read(d);
  status = hpar_serialize_tree(d->tree, node, hp_py_write, &buffer);
  return hp_py_end_text(d, saved, &buffer, status);
}

PyObject *hp_py_readable_text(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *keywords) {
  static const char *const names[] = {"all"};
  static const hp_py_signature signature = {"readable_text", names, 1, 0, 0};
  PyObject *value;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &value)) return NULL;
  int all = value ? PyObject_IsTrue(value) : 0;
  if (all < 0) return NULL;
  const hpar_text_options options = {HPAR_TEXT_OPTIONS_INIT, .all_elements = all};
  hp_py_buffer buffer = {NULL, 0, 0};
  hpar_status status;
  PyThreadState *saved = hp_py_begin_read(d);
  status = hpar_text(d->tree, top, &options, hp_py_write, &buffer);
  return hp_py_end_text(d, saved, &buffer, status);
}

/*** text(deep, separator, strip, skip_empty) ***/

typedef struct joiner {
  const hpar_document *tree;
  hp_py_buffer buffer;
  hpar_string separator;
  bool strip, skip_empty, skip_stripped, any;
  hpar_status status;
} joiner;

static bool is_ascii_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

/* Returns the length of the white space of str.strip() at `s`, in UTF-8; 0: there is none. */
static size_t space_length(const unsigned char *s, size_t length) {
  if (!length) return 0;
  if (s[0] < 0x80) return s[0] == ' ' || (s[0] >= 0x09 && s[0] <= 0x0D) || (s[0] >= 0x1C && s[0] <= 0x1F);
  if (length >= 2 && s[0] == 0xC2) return s[1] == 0x85 || s[1] == 0xA0 ? 2 : 0;
  if (length < 3 || s[0] < 0xE1 || s[0] > 0xE3) return 0;
  unsigned code = (s[0] & 0xFu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
  bool space = code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
               code == 0x202F || code == 0x205F || code == 0x3000;
  return space ? 3 : 0;
}

static hpar_string strip(hpar_string s) {
  const unsigned char *bytes = (const unsigned char *)s.bytes;
  size_t begin = 0, end = s.length, n;
  while ((n = space_length(bytes + begin, end - begin))) begin += n;
  while (end > begin) {
    size_t at = end - 1;
    while (at > begin && (bytes[at] & 0xC0) == 0x80) at--;
    if (space_length(bytes + at, end - at) != end - at) break;
    end = at;
  }
  return (hpar_string){s.bytes + begin, end - begin};
}

static bool is_empty(hpar_string s) {
  for (size_t i = 0; i < s.length; i++)
    if (!is_ascii_space((unsigned char)s.bytes[i])) return false;
  return true;
}

static void add_text(joiner *j, hpar_node node) {
  if (hpar_node_kind(j->tree, node) != HPAR_NODE_TEXT) return;
  hpar_string data = hpar_node_data(j->tree, node);
  if (j->skip_empty && is_empty(data)) return;
  if (j->strip) data = strip(data);
  if (j->skip_stripped && !data.length) return;
  if (j->any && j->separator.length) j->status = hp_py_write(j->separator.bytes, j->separator.length, &j->buffer);
  if (!j->status) j->status = hp_py_write(data.bytes, data.length, &j->buffer);
  j->any = true;
}

static void join(joiner *j, hpar_node top, bool deep) {
  if (deep) {
    for (hpar_node n = top; n && !j->status; n = hpar_node_walk(j->tree, top, n)) add_text(j, n);
    return;
  }
  add_text(j, top);
  for (hpar_node n = hpar_node_first_child(j->tree, top); n && !j->status; n = hpar_node_next(j->tree, n))
    add_text(j, n);
}

static bool read_separator(PyObject *value, hpar_string *separator) {
  Py_ssize_t length;
  if (!PyUnicode_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "separator must be str");
    return false;
  }
  separator->bytes = PyUnicode_AsUTF8AndSize(value, &length);
  if (separator->bytes) separator->length = (size_t)length;
  return separator->bytes != NULL;
}

PyObject *hp_py_text(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords) {
  static const char *const names[] = {"deep", "separator", "strip", "skip_empty"};
  static const hp_py_signature signature = {"text", names, 4, 0, 4};
  PyObject *values[4];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  int deep = values[0] ? PyObject_IsTrue(values[0]) : 1, stripped = values[2] ? PyObject_IsTrue(values[2]) : 0;
  int skip_empty = values[3] ? PyObject_IsTrue(values[3]) : 0;
  if (deep < 0 || stripped < 0 || skip_empty < 0) return NULL;
  joiner j = {.tree = d->tree, .separator = {"", 0}, .strip = stripped, .skip_empty = skip_empty};
  if (values[1] && !read_separator(values[1], &j.separator)) return NULL;
  PyThreadState *saved = hp_py_begin_read(d);
  join(&j, top, deep);
  return hp_py_end_text(d, saved, &j.buffer, j.status);
}

static bool is_script_or_style(const hpar_document *tree, hpar_node node) {
  hpar_tag tag = hpar_node_tag(tree, node);
  return tag == HPAR_TAG_SCRIPT || tag == HPAR_TAG_STYLE;
}

static hpar_node after_subtree(const hpar_document *tree, hpar_node top, hpar_node node) {
  while (node != top && !hpar_node_next(tree, node)) node = hpar_node_parent(tree, node);
  return node == top ? HPAR_NO_NODE : hpar_node_next(tree, node);
}

PyObject *hp_py_get_text(hp_py_document *d, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords) {
  static const char *const names[] = {"separator", "strip"};
  static const hp_py_signature signature = {"get_text", names, 2, 0, 2};
  PyObject *values[2];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  int stripped = values[1] ? PyObject_IsTrue(values[1]) : 0;
  if (stripped < 0) return NULL;
  joiner j = {.tree = d->tree, .separator = {"", 0}, .strip = stripped, .skip_stripped = stripped};
  if (values[0] && !read_separator(values[0], &j.separator)) return NULL;
  PyThreadState *saved = hp_py_begin_read(d);
  for (hpar_node n = top, next; n && !j.status; n = next) {
    next = hpar_node_walk(j.tree, top, n);
    if (n != top && is_script_or_style(j.tree, n)) next = after_subtree(j.tree, top, n);
    add_text(&j, n);
  }
  return hp_py_end_text(d, saved, &j.buffer, j.status);
}
