/* What a callback of the rewriter receives: an element, its end, a text, a comment, a doctype, the
 * end of the document. Each object is valid during its callback. */

#include "units.h"

#include <stdlib.h>
#include <string.h>

typedef struct unit {
  PyObject_HEAD void *of; /* NULL: the callback has returned */
  hp_py_end_function **ends;
} unit;

PyObject *hp_py_new_unit(PyTypeObject *type, void *of, hp_py_end_function **ends) {
  unit *u = PyObject_New(unit, type);
  if (!u) return NULL;
  u->of = of;
  u->ends = ends;
  return (PyObject *)u;
}

void hp_py_end_unit(PyObject *self) { ((unit *)self)->of = NULL; }

static void free_unit(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* Returns the library's object, or NULL with an exception. */
static void *get(PyObject *self) {
  void *of = ((unit *)self)->of;
  if (!of) PyErr_SetString(PyExc_ValueError, "the object was valid in its callback only");
  return of;
}

static PyObject *none_or_error(hpar_status status) {
  if (!status) return Py_NewRef(Py_None);
  if (status == HPAR_ERROR_MEMORY) return PyErr_NoMemory();
  PyErr_SetString(PyExc_ValueError, "the name or the content is invalid here");
  return NULL;
}

static bool read_string(PyObject *value, hpar_string *string) {
  Py_ssize_t length;
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "expected str, not %R", Py_TYPE(value));
    return false;
  }
  string->bytes = PyUnicode_AsUTF8AndSize(value, &length);
  string->length = (size_t)length;
  return string->bytes != NULL;
}

/* The library takes names without their length, and would take the part before a null character. */
static const char *read_name(PyObject *value) {
  hpar_string name;
  if (!read_string(value, &name)) return NULL;
  if (strlen(name.bytes) == name.length) return name.bytes;
  PyErr_SetString(PyExc_ValueError, "embedded null character");
  return NULL;
}

static PyObject *string_or_none(hpar_string string) { return string.bytes ? hp_py_string(string) : Py_NewRef(Py_None); }

static PyObject *range_of(uint64_t start, uint64_t end) {
  return Py_BuildValue("(KK)", (unsigned long long)start, (unsigned long long)end);
}

/* Reads content and `html`, which is `html` by default. */
static bool read_content(const char *function, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
                         bool html, hpar_string *content, hpar_content *format) {
  static const char *const names[] = {"content", "html"};
  const hp_py_signature signature = {function, names, 2, 1, 1};
  PyObject *values[2];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return false;
  int is_html = values[1] ? PyObject_IsTrue(values[1]) : html;
  *format = is_html ? HPAR_CONTENT_HTML : HPAR_CONTENT_TEXT;
  return is_html >= 0 && read_string(values[0], content);
}

#define ARGUMENTS PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords
#define CONTENT(id, name, type, html, call)                                                            \
  static PyObject *id##_##name(ARGUMENTS) {                                                            \
    hpar_string content;                                                                               \
    hpar_content format;                                                                               \
    type *of = get(self);                                                                              \
    if (!of || !read_content(#name, arguments, count, keywords, html, &content, &format)) return NULL; \
    return none_or_error(call);                                                                        \
  }
#define PLAIN(id, name, type, call)                                 \
  static PyObject *id##_##name(PyObject *self, PyObject *ignored) { \
    type *of = get(self);                                           \
    (void)ignored;                                                  \
    return of ? none_or_error(call) : NULL;                         \
  }
#define GETTER(id, name, type, call)                            \
  static PyObject *id##_##name(PyObject *self, void *closure) { \
    const type *of = get(self);                                 \
    (void)closure;                                              \
    return of ? (call) : NULL;                                  \
  }
#define IN content.bytes, content.length, format

/*** elements ***/

CONTENT(element, before, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_BEFORE, IN))
CONTENT(element, after, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_AFTER, IN))
CONTENT(element, prepend, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_PREPEND, IN))
CONTENT(element, append, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_APPEND, IN))
CONTENT(element, inner, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_INNER, IN))
CONTENT(element, replace, hpar_element, true, hpar_element_insert(of, HPAR_WHERE_REPLACE, IN))
PLAIN(element, remove, hpar_element, hpar_element_remove(of))
PLAIN(element, unwrap, hpar_element, hpar_element_unwrap(of))
GETTER(element, name, hpar_element, hp_py_string(of->name))
GETTER(element, implied, hpar_element, PyBool_FromLong(of->implied))
GETTER(element, removed, hpar_element, PyBool_FromLong(hpar_element_removed(of)))
GETTER(element, has_content, hpar_element, PyBool_FromLong(of->has_content))
GETTER(element, depth, hpar_element, PyLong_FromUnsignedLong(hpar_element_depth(of)))

static PyObject *element_namespace(PyObject *self, void *closure) {
  static const char *const names[] = {NULL, "html", "svg", "mathml"};
  const hpar_element *of = get(self);
  (void)closure;
  return of ? PyUnicode_FromString(names[of->ns]) : NULL;
}

static PyObject *element_range(PyObject *self, void *closure) {
  const hpar_element *of = get(self);
  (void)closure;
  return of ? range_of(of->start, of->end) : NULL;
}

static PyObject *element_attributes(PyObject *self, void *closure) {
  const hpar_element *of = get(self);
  (void)closure;
  PyObject *dict = of ? PyDict_New() : NULL;
  hpar_string name, value;
  for (size_t i = 0; dict && hpar_element_attribute_at(of, i, &name, &value); i++) {
    PyObject *key = hp_py_string(name), *text = hp_py_string(value);
    if (!key || !text || PyDict_SetItem(dict, key, text)) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(text);
  }
  return dict;
}

static PyObject *element_get(ARGUMENTS) {
  static const char *const names[] = {"name", "default"};
  static const hp_py_signature signature = {"get", names, 2, 1, 2};
  const hpar_element *of = get(self);
  PyObject *values[2];
  if (!of || !hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  const char *name = read_name(values[0]);
  if (!name) return NULL;
  hpar_string value = hpar_element_attribute(of, name);
  if (!value.bytes && values[1]) return Py_NewRef(values[1]);
  return string_or_none(value);
}

static PyObject *element_set(ARGUMENTS) {
  static const char *const names[] = {"name", "value"};
  static const hp_py_signature signature = {"set", names, 2, 2, 2};
  hpar_element *of = get(self);
  PyObject *values[2];
  if (!of || !hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  const char *name = read_name(values[0]);
  hpar_string value;
  if (!name || !read_string(values[1], &value)) return NULL;
  return none_or_error(hpar_element_set(of, name, value.bytes, value.length));
}

static PyObject *element_unset(PyObject *self, PyObject *value) {
  hpar_element *of = get(self);
  const char *name = of ? read_name(value) : NULL;
  return name ? none_or_error(hpar_element_unset(of, name)) : NULL;
}

static PyObject *element_rename(PyObject *self, PyObject *value) {
  hpar_element *of = get(self);
  const char *name = of ? read_name(value) : NULL;
  return name ? none_or_error(hpar_element_rename(of, name)) : NULL;
}

/* Adds the function to the list of the rewrite. Returns NULL with an exception. */
static hp_py_end_function *keep_function(PyObject *self, PyObject *function) {
  hp_py_end_function **ends = ((unit *)self)->ends, *f = malloc(sizeof *f);
  if (!f) {
    PyErr_NoMemory();
    return NULL;
  }
  *f = (hp_py_end_function){Py_NewRef(function), *ends, ends};
  if (f->next) f->next->link = &f->next;
  *ends = f;
  return f;
}

void hp_py_drop_end_function(hp_py_end_function *f) {
  PyObject *function = f->function;
  *f->link = f->next;
  if (f->next) f->next->link = f->link;
  free(f);
  Py_DECREF(function);
}

static PyObject *element_on_end(PyObject *self, PyObject *function) {
  hpar_element *of = get(self);
  if (!of) return NULL;
  if (!PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "on_end() needs a function");
    return NULL;
  }
  hp_py_end_function *f = keep_function(self, function);
  if (!f) return NULL;
  hpar_status status = hpar_element_on_end(of, hp_py_call_at_end, f);
  if (status) hp_py_drop_end_function(f);
  return none_or_error(status);
}

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define METHOD(id, name, flags, text) \
  { #name, (PyCFunction)(void (*)(void))id##_##name, flags, PyDoc_STR(text) }
#define PROPERTY(id, name, text) \
  { #name, id##_##name, NULL, PyDoc_STR(text), NULL }

static PyMethodDef element_methods[] = {
    METHOD(element, get, KEYWORDS,
           "get($self, name, default=None)\n--\n\nReturns the value of an attribute. Edits of this element show."),
    METHOD(element, set, KEYWORDS, "set($self, name, value)\n--\n\nSets an attribute."),
    METHOD(element, unset, METH_O, "unset($self, name, /)\n--\n\nRemoves an attribute."),
    METHOD(element, rename, METH_O, "rename($self, name, /)\n--\n\nRenames both tags."),
    METHOD(element, before, KEYWORDS, "before($self, content, *, html=True)\n--\n\nInserts before the element."),
    METHOD(element, after, KEYWORDS, "after($self, content, *, html=True)\n--\n\nInserts after the element."),
    METHOD(element, prepend, KEYWORDS, "prepend($self, content, *, html=True)\n--\n\nInserts after the start tag."),
    METHOD(element, append, KEYWORDS, "append($self, content, *, html=True)\n--\n\nInserts before the end."),
    METHOD(element, inner, KEYWORDS, "inner($self, content, *, html=True)\n--\n\nReplaces the content."),
    METHOD(element, replace, KEYWORDS, "replace($self, content, *, html=True)\n--\n\nReplaces the element."),
    METHOD(element, remove, METH_NOARGS, "remove($self, /)\n--\n\nRemoves the element with its content."),
    METHOD(element, unwrap, METH_NOARGS, "unwrap($self, /)\n--\n\nRemoves the tags, and keeps the content."),
    METHOD(element, on_end, METH_O,
           "on_end($self, function, /)\n--\n\nCalls the function with the ElementEnd of this element."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef element_properties[] = {
    PROPERTY(element, name, "The name, as selectors see it."),
    PROPERTY(element, namespace, "'html', 'svg' or 'mathml'."),
    PROPERTY(element, attributes, "The attributes of the input as a new dict."),
    PROPERTY(element, range, "The offsets of the start tag in the input."),
    PROPERTY(element, depth, "The number of its open ancestors."),
    PROPERTY(element, implied, "Whether the element has no tag of its own."),
    PROPERTY(element, removed, "Whether an edit has removed the element, or an ancestor."),
    PROPERTY(element, has_content, "Whether the element can have content."),
    {NULL, NULL, NULL, NULL, NULL},
};

/*** ends of elements ***/

CONTENT(end, before, hpar_element_end, true, hpar_element_end_insert(of, HPAR_WHERE_BEFORE, IN))
CONTENT(end, after, hpar_element_end, true, hpar_element_end_insert(of, HPAR_WHERE_AFTER, IN))
PLAIN(end, remove, hpar_element_end, hpar_element_end_remove(of))
GETTER(end, name, hpar_element_end, hp_py_string(of->name))
GETTER(end, implied, hpar_element_end, PyBool_FromLong(of->implied))

static PyObject *end_rename(PyObject *self, PyObject *value) {
  hpar_element_end *of = get(self);
  const char *name = of ? read_name(value) : NULL;
  return name ? none_or_error(hpar_element_end_rename(of, name)) : NULL;
}

static PyObject *end_range(PyObject *self, void *closure) {
  const hpar_element_end *of = get(self);
  (void)closure;
  return of ? range_of(of->start, of->end) : NULL;
}

static PyMethodDef end_methods[] = {
    METHOD(end, before, KEYWORDS, "before($self, content, *, html=True)\n--\n\nInserts before the end."),
    METHOD(end, after, KEYWORDS, "after($self, content, *, html=True)\n--\n\nInserts after the end."),
    METHOD(end, remove, METH_NOARGS, "remove($self, /)\n--\n\nRemoves the end tag."),
    METHOD(end, rename, METH_O, "rename($self, name, /)\n--\n\nRenames the end tag."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef end_properties[] = {
    PROPERTY(end, name, "The name of the element that ends."),
    PROPERTY(end, implied, "Whether no end tag of its own ends it."),
    PROPERTY(end, range, "The offsets of the end tag in the input."),
    {NULL, NULL, NULL, NULL, NULL},
};

/*** texts ***/

CONTENT(text, before, hpar_text_piece, false, hpar_text_piece_insert(of, HPAR_WHERE_BEFORE, IN))
CONTENT(text, after, hpar_text_piece, false, hpar_text_piece_insert(of, HPAR_WHERE_AFTER, IN))
CONTENT(text, replace, hpar_text_piece, false, hpar_text_piece_insert(of, HPAR_WHERE_REPLACE, IN))
PLAIN(text, remove, hpar_text_piece, hpar_text_piece_remove(of))
GETTER(text, offset, hpar_text_piece, PyLong_FromUnsignedLongLong(of->offset))
GETTER(text, is_last, hpar_text_piece, PyBool_FromLong(of->last))

static PyObject *text_text(PyObject *self, void *closure) {
  const hpar_text_piece *of = get(self);
  (void)closure;
  if (!of) return NULL;
  hpar_string text = hpar_text_piece_decoded(of);
  return text.bytes ? hp_py_string(text) : PyErr_NoMemory();
}

static PyObject *bytes_or_none(hpar_string s) {
  return s.bytes ? PyBytes_FromStringAndSize(s.bytes, (Py_ssize_t)s.length) : Py_NewRef(Py_None);
}
GETTER(text, raw, hpar_text_piece, bytes_or_none(of->raw))

static PyObject *text_kind(PyObject *self, void *closure) {
  static const char *const names[] = {"data", "rcdata", "raw", "script", "plain"};
  const hpar_text_piece *of = get(self);
  (void)closure;
  return of ? PyUnicode_FromString(names[of->kind]) : NULL;
}

static PyMethodDef text_methods[] = {
    METHOD(text, before, KEYWORDS, "before($self, content, *, html=False)\n--\n\nInserts before the text."),
    METHOD(text, after, KEYWORDS, "after($self, content, *, html=False)\n--\n\nInserts after the text."),
    METHOD(text, replace, KEYWORDS, "replace($self, content, *, html=False)\n--\n\nReplaces the text."),
    METHOD(text, remove, METH_NOARGS, "remove($self, /)\n--\n\nRemoves the text."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef text_properties[] = {
    PROPERTY(text, text, "The text, with character references replaced."),
    PROPERTY(text, raw, "The bytes of the input."),
    PROPERTY(text, kind, "'data', 'rcdata', 'raw', 'script' or 'plain'."),
    PROPERTY(text, offset, "The offset in the input."),
    PROPERTY(text, is_last, "False if the text is longer than 64 KB, and continues in another call."),
    {NULL, NULL, NULL, NULL, NULL},
};

/*** comments, doctypes, the end of the document ***/

CONTENT(comment, before, hpar_comment, true, hpar_comment_insert(of, HPAR_WHERE_BEFORE, IN))
CONTENT(comment, after, hpar_comment, true, hpar_comment_insert(of, HPAR_WHERE_AFTER, IN))
CONTENT(comment, replace, hpar_comment, true, hpar_comment_insert(of, HPAR_WHERE_REPLACE, IN))
PLAIN(comment, remove, hpar_comment, hpar_comment_remove(of))
GETTER(comment, raw, hpar_comment, bytes_or_none(of->text))
GETTER(comment, offset, hpar_comment, PyLong_FromUnsignedLongLong(of->offset))

static PyObject *comment_set_text(PyObject *self, PyObject *value) {
  hpar_comment *of = get(self);
  hpar_string text;
  return of && read_string(value, &text) ? none_or_error(hpar_comment_set_text(of, text.bytes, text.length)) : NULL;
}

static PyMethodDef comment_methods[] = {
    METHOD(comment, set_text, METH_O, "set_text($self, text, /)\n--\n\nReplaces the text of the comment."),
    METHOD(comment, before, KEYWORDS, "before($self, content, *, html=True)\n--\n\nInserts before the comment."),
    METHOD(comment, after, KEYWORDS, "after($self, content, *, html=True)\n--\n\nInserts after the comment."),
    METHOD(comment, replace, KEYWORDS, "replace($self, content, *, html=True)\n--\n\nReplaces the comment."),
    METHOD(comment, remove, METH_NOARGS, "remove($self, /)\n--\n\nRemoves the comment."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef comment_properties[] = {
    PROPERTY(comment, raw, "The bytes between the delimiters in the input."),
    PROPERTY(comment, offset, "The offset in the input."),
    {NULL, NULL, NULL, NULL, NULL},
};

PLAIN(doctype, remove, hpar_doctype, hpar_doctype_remove(of))
GETTER(doctype, name, hpar_doctype, bytes_or_none(of->name))
GETTER(doctype, public_id, hpar_doctype, bytes_or_none(of->public_id))
GETTER(doctype, system_id, hpar_doctype, bytes_or_none(of->system_id))

static PyMethodDef doctype_methods[] = {
    METHOD(doctype, remove, METH_NOARGS, "remove($self, /)\n--\n\nRemoves the doctype."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef doctype_properties[] = {
    PROPERTY(doctype, name, "The name in the input, as bytes; None: missing."),
    PROPERTY(doctype, public_id, "The public identifier, as bytes; None: missing."),
    PROPERTY(doctype, system_id, "The system identifier, as bytes; None: missing."),
    {NULL, NULL, NULL, NULL, NULL},
};

CONTENT(document, append, hpar_document_end, true, hpar_document_end_append(of, IN))

static PyMethodDef document_methods[] = {
    METHOD(document, append, KEYWORDS, "append($self, content, *, html=True)\n--\n\nAppends after the input."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef document_properties[] = {{NULL, NULL, NULL, NULL, NULL}};

/*** types ***/

#define TYPE(id, title, text)                                                                       \
  static PyType_Slot id##_slots[] = {{Py_tp_doc, (void *)PyDoc_STR(text)},                          \
                                     {Py_tp_dealloc, free_unit},                                    \
                                     {Py_tp_methods, id##_methods},                                 \
                                     {Py_tp_getset, id##_properties},                               \
                                     HP_PY_NO_NEW,                                                  \
                                     {0, NULL}};                                                    \
  static PyType_Spec id##_spec = {.name = "hpar._core." title,                                      \
                                  .basicsize = sizeof(unit),                                        \
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | \
                                           Py_TPFLAGS_IMMUTABLETYPE,                                \
                                  .slots = id##_slots};
TYPE(element, "RewriteElement", "An element for a callback of hpar.rewrite.")
TYPE(end, "RewriteEnd", "The end of an element for a callback of hpar.rewrite.")
TYPE(text, "RewriteText", "A text for a callback of hpar.rewrite.")
TYPE(comment, "RewriteComment", "A comment for a callback of hpar.rewrite.")
TYPE(doctype, "RewriteDoctype", "The doctype for a callback of hpar.rewrite.")
TYPE(document, "RewriteDocumentEnd", "The end of the document for a callback of hpar.rewrite.")

PyType_Spec *const hp_py_unit_specs[HP_PY_UNITS] = {&element_spec, &end_spec,     &text_spec,
                                                    &comment_spec, &doctype_spec, &document_spec};
