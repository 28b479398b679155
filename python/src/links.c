/* Links and resources as lists of dicts. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 512 };

typedef struct collector {
  hp_py_document *document;
  PyObject *list;
  bool failed;
} collector;

/* Puts `value` under a key that is made once for all links, and drops the reference to it. */
static bool put(PyObject *dict, PyObject *key, PyObject *value) {
  bool fine = value && !PyDict_SetItem(dict, key, value);
  Py_XDECREF(value);
  return fine;
}

static bool put_string(PyObject *dict, const char *key, hpar_string s) {
  return hp_py_put(dict, key, s.bytes ? hp_py_string(s) : Py_NewRef(Py_None));
}

/* Appends the dict, and drops the reference to it. Returns false to end the walk. */
static bool append(collector *c, PyObject *dict, bool complete) {
  c->failed = !dict || !complete || PyList_Append(c->list, dict);
  Py_XDECREF(dict);
  if (!c->failed) hp_py_let_others_run(c->document, c->list, AT_ONCE);
  return !c->failed;
}

static PyObject *finish(collector *c, hpar_status status, const char *text) {
  if (status && !c->failed) hp_py_raise(c->document->state, status, text);
  if (status || c->failed) Py_CLEAR(c->list);
  return c->list;
}

/* A link in the buffer, which the bytes of its strings follow. */
typedef struct link_record {
  hpar_node element;
  size_t lengths[3]; /* SIZE_MAX: no string */
  bool host_not_converted;
} link_record;

typedef struct links {
  hp_py_buffer buffer;
  hpar_status status;
} links;

/* Runs without the interpreter's lock. */
static hpar_status keep_link(const hpar_link *link, void *context) {
  links *l = context;
  const hpar_string strings[] = {link->attribute, link->value, link->url};
  link_record record = {.element = link->element, .host_not_converted = link->host_not_converted};
  for (int i = 0; i < 3; i++) record.lengths[i] = strings[i].bytes ? strings[i].length : SIZE_MAX;
  l->status = hp_py_write((const char *)&record, sizeof record, &l->buffer);
  for (int i = 0; i < 3 && !l->status; i++)
    if (strings[i].bytes) l->status = hp_py_write(strings[i].bytes, strings[i].length, &l->buffer);
  return l->status;
}

/* Makes the dict of the link at `at`, and returns the end of the link; NULL: an exception. */
static const char *append_link(collector *c, PyObject *const *keys, const char *at) {
  link_record record;
  memcpy(&record, at, sizeof record);
  at += sizeof record;
  PyObject *d = PyDict_New();
  bool fine = d && put(d, keys[3], hp_py_new_node(c->document, record.element));
  for (int i = 0; i < 3; i++) {
    const bool exists = record.lengths[i] != SIZE_MAX;
    const hpar_string s = {exists ? at : NULL, exists ? record.lengths[i] : 0};
    fine = fine && put(d, keys[i], exists ? hp_py_string(s) : Py_NewRef(Py_None));
    at += s.length;
  }
  if (record.host_not_converted) fine = fine && hp_py_put(d, "host_not_converted", PyBool_FromLong(1));
  return append(c, d, fine) ? at : NULL;
}

static PyObject *make_links(hp_py_document *document, const hp_py_buffer *buffer, hpar_status status) {
  static const char *const names[] = {"attribute", "value", "url", "element"};
  PyObject *keys[4] = {NULL};
  collector c = {document, PyList_New(0), false};
  for (int i = 0; i < 4 && !c.failed; i++) c.failed = !(keys[i] = PyUnicode_FromString(names[i]));
  const char *at = buffer->bytes;
  for (const char *end = at + buffer->length; c.list && !c.failed && !status && at && at < end;)
    at = append_link(&c, keys, at);
  for (int i = 0; i < 4; i++) Py_XDECREF(keys[i]);
  return c.list ? finish(&c, status, "url must be a valid absolute URL") : NULL;
}

PyObject *hp_py_links(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords) {
  static const char *const names[] = {"url"};
  static const hp_py_signature signature = {"links", names, 1, 0, 1};
  PyObject *url;
  if (!hp_py_arguments(&signature, arguments, count, keywords, &url)) return NULL;
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT};
  if (url && url != Py_None && !(options.document_url = PyUnicode_AsUTF8AndSize(url, NULL))) return NULL;
  links l = {{NULL, 0, 0}, HPAR_OK};
  PyThreadState *saved = hp_py_begin_read(document);
  hpar_status status = hpar_links(document->tree, top, &options, keep_link, &l);
  hp_py_end_read(document, saved);
  PyObject *list = make_links(document, &l.buffer, status ? status : l.status);
  free(l.buffer.bytes);
  return list;
}

static bool put_flags(PyObject *dict, unsigned flags) {
  static const char *const names[] = {"async", "defer", "lazy", "source"};
  bool fine = true;
  for (unsigned i = 0; fine && i < 4; i++)
    if (flags >> i & 1) fine = hp_py_put(dict, names[i], PyBool_FromLong(1));
  return fine;
}

enum { RESOURCE_STRINGS = 13 };
static const char *const string_names[RESOURCE_STRINGS] = {
    "url",       "srcset",         "sizes",         "media",   "type",  "as",     "crossorigin",
    "integrity", "referrerpolicy", "fetchpriority", "charset", "nonce", "content"};

/* A resource in the buffer, which the bytes of its strings follow. */
typedef struct resource_record {
  hpar_resource_kind kind;
  unsigned flags;
  hpar_node element, picture;
  size_t lengths[RESOURCE_STRINGS]; /* SIZE_MAX: no string */
} resource_record;

/* Runs without the interpreter's lock. */
static hpar_status keep_resource(const hpar_resource *r, void *context) {
  links *l = context;
  const hpar_string strings[RESOURCE_STRINGS] = {
      r->url,       r->srcset,         r->sizes,         r->media,   r->type,  r->as,     r->crossorigin,
      r->integrity, r->referrerpolicy, r->fetchpriority, r->charset, r->nonce, r->content};
  resource_record record = {.kind = r->kind, .flags = r->flags, .element = r->element, .picture = r->picture};
  for (int i = 0; i < RESOURCE_STRINGS; i++) record.lengths[i] = strings[i].bytes ? strings[i].length : SIZE_MAX;
  l->status = hp_py_write((const char *)&record, sizeof record, &l->buffer);
  for (int i = 0; i < RESOURCE_STRINGS && !l->status; i++)
    if (strings[i].bytes) l->status = hp_py_write(strings[i].bytes, strings[i].length, &l->buffer);
  return l->status;
}

/* Makes the dict of the resource at `at`, and returns the end of it; NULL: an exception. */
static const char *append_resource(collector *c, const char *at) {
  resource_record record;
  memcpy(&record, at, sizeof record);
  at += sizeof record;
  PyObject *d = PyDict_New();
  bool fine = d && hp_py_put_text(d, "kind", hpar_resource_kind_name(record.kind)) &&
              hp_py_put(d, "element", hp_py_new_node(c->document, record.element)) && put_flags(d, record.flags);
  for (int i = 0; i < RESOURCE_STRINGS; i++) {
    const bool exists = record.lengths[i] != SIZE_MAX;
    const hpar_string s = {exists ? at : NULL, exists ? record.lengths[i] : 0};
    if (exists || !i) fine = fine && put_string(d, string_names[i], s);
    at += s.length;
  }
  if (fine && record.picture) fine = hp_py_put(d, "picture", hp_py_new_node(c->document, record.picture));
  return append(c, d, fine) ? at : NULL;
}

PyObject *hp_py_resources(hp_py_document *document, hpar_node top) {
  collector c = {document, PyList_New(0), false};
  if (!c.list) return NULL;
  links l = {{NULL, 0, 0}, HPAR_OK};
  PyThreadState *saved = hp_py_begin_read(document);
  hpar_status status = hpar_resources(document->tree, top, keep_resource, &l);
  hp_py_end_read(document, saved);
  if (!status) status = l.status;
  const char *at = l.buffer.bytes;
  for (const char *end = at + l.buffer.length; !status && at && at < end;) at = append_resource(&c, at);
  free(l.buffer.bytes);
  return finish(&c, status, NULL);
}
