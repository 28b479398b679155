/* Document: a parsed page and its input. The input is not copied, except where a program can change
 * its bytes. */

#include "module.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>

/*** input ***/

static bool hold_text(hp_py_document *d, PyObject *text) {
  d->owner = hp_py_utf8(text, &d->bytes, &d->length);
  return d->owner != NULL;
}

/* Replaces the buffer by a copy of its bytes. */
static bool copy_buffer(hp_py_document *d) {
  d->owner = PyBytes_FromStringAndSize(d->view.buf, d->view.len);
  PyBuffer_Release(&d->view);
  if (!d->owner) return false;
  char *bytes;
  Py_ssize_t length;
  PyBytes_AsStringAndSize(d->owner, &bytes, &length);
  d->bytes = bytes;
  return true;
}

static bool hold_input(hp_py_document *d, PyObject *input, int copy) {
  if (PyUnicode_Check(input)) return hold_text(d, input);
  if (PyObject_GetBuffer(input, &d->view, PyBUF_SIMPLE)) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "the input must be bytes, another buffer, or str, not %R", Py_TYPE(input));
    return false;
  }
  d->bytes = d->view.buf;
  d->length = (size_t)d->view.len;
  if (copy > 0 || (copy < 0 && !d->view.readonly)) return copy_buffer(d);
  PyObject *shown = d->view.obj;
  d->tracked = (PyBytes_Check(shown) && !PyBytes_CheckExact(shown)) ||
               (PyByteArray_Check(shown) && !PyByteArray_CheckExact(shown));
  return true;
}

static bool copy_text(const char *text, char **copy) {
  *copy = text ? strdup(text) : NULL;
  return *copy || !text;
}

hp_py_document *hp_py_new_document(hp_py_state *state, PyObject *input, const hp_py_options *options) {
  hp_py_document *d = PyObject_GC_New(hp_py_document, state->document);
  if (!d) return NULL;
  memset((char *)d + sizeof(PyObject), 0, sizeof *d - sizeof(PyObject));
  d->state = state;
  d->scripting = options->c.scripting;
  d->positions = options->c.source_offsets;
  d->max_errors = options->c.max_errors;
  d->is_fragment = options->c.fragment != NULL;
  bool held = hold_input(d, input, options->copy);
  if (held && !(copy_text(options->c.encoding, &d->label) && copy_text(options->c.fragment, &d->fragment))) {
    PyErr_NoMemory();
    held = false;
  }
  if (held && hpar_document_create(&d->tree)) {
    PyErr_NoMemory();
    held = false;
  }
  if (held && options->editable) held = hp_py_make_editable(d, &options->c.limits);
  if (!held) {
    Py_DECREF((PyObject *)d);
    return NULL;
  }
  if (d->tracked) PyObject_GC_Track(d);
  return d;
}

static void free_document(PyObject *self) {
  hp_py_document *d = (hp_py_document *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (d->weak_references) PyObject_ClearWeakRefs(self);
  hpar_document_destroy(d->tree); /* waits for late threads, which read the bytes */
  if (d->view.obj) PyBuffer_Release(&d->view);
  Py_XDECREF(d->owner);
  free(d->summary.all);
  free(d->errors);
  free(d->label);
  free(d->fragment);
  free(d->edit_limits);
  hp_py_drop_order(d);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* A cycle can only pass through the owner of the buffer. The collector could clear an owner that it
 * sees before it frees the document: a memoryview then loses its memory, and its release crashes. So
 * it sees none but objects of classes derived from bytes and bytearray, which lose their attributes
 * only, and so break the cycle. A cycle through another owner is never freed. */
static int traverse_document(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((hp_py_document *)self)->view.obj);
  return 0;
}

/*** parsing ***/

bool hp_py_keep_results(hp_py_document *d, const hpar_parser *parser, const hpar_stats *s) {
  d->summary = (hp_py_summary){.mode = s->mode,
                               .encoding = s->encoding,
                               .encoding_source = s->encoding_source,
                               .bytes = s->bytes,
                               .tokens = s->tokens,
                               .nodes = s->nodes,
                               .parse_errors = s->parse_errors,
                               .ns_total = s->ns.total,
                               .ns_decode = s->ns.decode};
  if (s->threads > 1) {
    d->summary.all = malloc(sizeof *d->summary.all);
    if (!d->summary.all) return false;
    d->summary.all->size = sizeof *d->summary.all;
    hpar_study_stats_of(parser, d->summary.all);
  }
  size_t count = hpar_parse_error_count(parser);
  if (!count) return true;
  d->errors = malloc(count * sizeof *d->errors);
  if (!d->errors) return false;
  for (size_t i = 0; i < count; i++) d->errors[i] = hpar_parse_error_at(parser, i);
  d->error_count = count;
  return true;
}

PyObject *hp_py_check_document(hp_py_document *d, const char *text) {
  if (!d->status) return (PyObject *)d;
  hp_py_raise(d->state, d->status, text);
  if (d->status >= HPAR_LIMIT_DEPTH) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && PyObject_SetAttrString(value, "document", (PyObject *)d)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
  }
  Py_DECREF((PyObject *)d);
  return NULL;
}

PyObject *hp_py_parse(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[1 + HP_PY_OPTIONS] = {"data",       "threads", "encoding",  "fragment",
                                                       "limits",     "mode",    "scripting", "positions",
                                                       "max_errors", "copy",    "editable"};
  static const hp_py_signature signature = {"parse", names, 1 + HP_PY_OPTIONS, 1, 1};
  PyObject *values[1 + HP_PY_OPTIONS];
  hp_py_options options;
  hp_py_state *state = PyModule_GetState(module);
  if (!hp_py_arguments(&signature, arguments, count, keywords, values) || !hp_py_read_options(&options, values + 1))
    return NULL;
  PyObject *input = hp_py_open_input(values[0]);
  if (!input) return NULL;
  if (PyUnicode_Check(input)) {
    if (!hp_py_check_encoding(values[1 + HP_PY_ENCODING])) Py_CLEAR(input);
    if (!input) return NULL;
    options.c.encoding = "utf-8";
  }
  hp_py_document *d = hp_py_new_document(state, input, &options);
  Py_DECREF(input);
  hpar_parser *parser = d ? hp_py_take_parser(state) : NULL;
  if (!parser) {
    Py_XDECREF((PyObject *)d);
    return NULL;
  }
  hpar_stats stats = {HPAR_STATS_INIT};
  Py_BEGIN_ALLOW_THREADS;
  d->status = hpar_parse(parser, &options.c, d->bytes, d->length, d->tree, &stats);
  if (!hp_py_keep_results(d, parser, &stats)) d->status = HPAR_ERROR_MEMORY;
  Py_END_ALLOW_THREADS;
  PyObject *result = hp_py_check_document(d, hpar_parser_error(parser)->text);
  hp_py_return_parser(state, parser);
  return result;
}

/*** members ***/

/* Returns the first child of `parent` that is an HTML element with one of two names. */
static hpar_node child_element(const hp_py_document *d, hpar_node parent, const char *name, const char *other) {
  for (hpar_node n = hpar_node_first_child(d->tree, parent); n; n = hpar_node_next(d->tree, n)) {
    if (hpar_node_kind(d->tree, n) != HPAR_NODE_ELEMENT) continue;
    hpar_string s = hpar_node_name(d->tree, n);
    if (!name || (s.length == strlen(name) && !memcmp(s.bytes, name, s.length)) ||
        (s.length == strlen(other) && !memcmp(s.bytes, other, s.length)))
      return n;
  }
  return HPAR_NO_NODE;
}

static hpar_node root_of(const hp_py_document *d) { return child_element(d, hpar_document_root(d->tree), NULL, NULL); }

static PyObject *get_root(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_new_node(d, root_of(d));
}

static PyObject *get_head(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_new_node(d, child_element(d, root_of(d), "head", "head"));
}

static hpar_node body_of(const hp_py_document *d) { return child_element(d, root_of(d), "body", "frameset"); }

static PyObject *get_body(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_new_node(d, body_of(d));
}

static PyObject *get_title(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  hpar_node title = hpar_document_title(d->tree);
  if (!title) return Py_NewRef(Py_None);
  const hpar_text_options options = {HPAR_TEXT_OPTIONS_INIT, .all_elements = true};
  hp_py_buffer buffer = {NULL, 0, 0};
  hpar_status status = hpar_text(d->tree, title, &options, hp_py_write, &buffer);
  return hp_py_buffer_str(&buffer, status);
}

static PyObject *get_children(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_related(d, hpar_document_root(d->tree), HP_PY_CHILDREN);
}

static PyObject *get_descendants(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_related(d, hpar_document_root(d->tree), HP_PY_DESCENDANTS);
}

static PyObject *iterate(PyObject *self) {
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_iter_children(d, hpar_document_root(d->tree));
}

static Py_ssize_t length_of(PyObject *self) {
  const hp_py_document *d = (hp_py_document *)self;
  return hp_py_count_children(d, hpar_document_root(d->tree));
}

static int is_true(PyObject *self) {
  (void)self;
  return 1;
}

static PyObject *represent(PyObject *self) {
  hp_py_document *d = (hp_py_document *)self;
  const hpar_node root = hpar_document_root(d->tree);
  PyThreadState *saved = hp_py_begin_read(d);
  size_t count = 0;
  for (hpar_node n = root; n; n = hpar_node_walk(d->tree, root, n)) count++;
  hp_py_end_read(d, saved);
  PyObject *title = get_title(self, NULL), *number = title ? PyLong_FromSize_t(count) : NULL;
  PyObject *comma = number ? PyUnicode_FromString(",") : NULL, *grouped = comma ? PyObject_Format(number, comma) : NULL;
  PyObject *text = NULL;
  if (grouped && title == Py_None) text = PyUnicode_FromFormat("<Document %U nodes>", grouped);
  if (grouped && title != Py_None) text = PyUnicode_FromFormat("<Document %R %U nodes>", title, grouped);
  Py_XDECREF(grouped);
  Py_XDECREF(comma);
  Py_XDECREF(number);
  Py_XDECREF(title);
  return text;
}

static PyObject *get_node(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_new_node(d, hpar_document_root(d->tree));
}

static PyObject *get_html(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_html(d, hpar_document_root(d->tree), false);
}

static PyObject *get_tree(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_tree(d, hpar_document_root(d->tree));
}

static PyObject *get_data(PyObject *self, void *closure) {
  (void)closure;
  hp_py_document *d = (hp_py_document *)self;
  if (d->fed) return Py_NewRef(Py_None);
  if (d->view.obj) return PyMemoryView_FromObject(d->view.obj);
  if (PyUnicode_Check(d->owner)) return Py_NewRef(d->owner);
  return PyMemoryView_FromObject(d->owner);
}

static PyObject *get_quirks(PyObject *self, void *closure) {
  static const char *const names[] = {"no-quirks", "limited-quirks", "quirks"};
  (void)closure;
  return PyUnicode_FromString(names[hpar_document_quirks(((hp_py_document *)self)->tree)]);
}

static PyObject *get_encoding(PyObject *self, void *closure) {
  (void)closure;
  const char *name = ((hp_py_document *)self)->summary.encoding;
  return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *get_memory(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromSize_t(hpar_document_memory(((hp_py_document *)self)->tree));
}

static PyObject *get_editable(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(((hp_py_document *)self)->editable);
}

static PyObject *get_stats(PyObject *self, void *closure) {
  (void)closure;
  return hp_py_stats((hp_py_document *)self);
}

static PyObject *get_errors(PyObject *self, void *closure) {
  (void)closure;
  return hp_py_errors((hp_py_document *)self);
}

/*** methods ***/

#define FROM_ROOT(name)                                                                             \
  static PyObject *document_##name(PyObject *self, PyObject *const *a, Py_ssize_t n, PyObject *k) { \
    hp_py_document *d = (hp_py_document *)self;                                                     \
    return hp_py_##name(d, hpar_document_root(d->tree), a, n, k);                                   \
  }
FROM_ROOT(css)
FROM_ROOT(css_first)
FROM_ROOT(xpath)
FROM_ROOT(get_text)
#define document_select document_css
#define document_select_one document_css_first
FROM_ROOT(iter)
FROM_ROOT(traverse)
FROM_ROOT(links)

static PyObject *document_css_matches(PyObject *self, PyObject *selector) {
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_css_matches(d, hpar_document_root(d->tree), selector);
}

static PyObject *document_any_css_matches(PyObject *self, PyObject *selectors) {
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_any_css_matches(d, hpar_document_root(d->tree), selectors);
}

static PyObject *document_text(PyObject *self, PyObject *const *a, Py_ssize_t n, PyObject *k) {
  hp_py_document *d = (hp_py_document *)self;
  hpar_node top = body_of(d);
  return hp_py_text(d, top ? top : hpar_document_root(d->tree), a, n, k);
}

static PyObject *document_readable_text(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) {
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_readable_text(d, hpar_document_root(d->tree), a, count, k);
}

static PyObject *document_resources(PyObject *self, PyObject *ignored) {
  (void)ignored;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_resources(d, hpar_document_root(d->tree));
}

static PyObject *document_columns(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return hp_py_table((hp_py_document *)self);
}

/* Returns the options that make the same document from the same input, or None. The limits are those
 * of changes, because edit() may have replaced those of the parse. */
static PyObject *document_origin(PyObject *self, PyObject *ignored) {
  (void)ignored;
  const hp_py_document *d = (hp_py_document *)self;
  if (d->fed || d->changed || d->status) Py_RETURN_NONE;
  PyObject *dict = PyDict_New();
  bool text = d->owner && PyUnicode_Check(d->owner);
  bool fine = dict && hp_py_put_text(dict, "encoding", text ? NULL : d->label) &&
              hp_py_put_text(dict, "fragment", d->fragment) && hp_py_put_number(dict, "max_errors", d->max_errors) &&
              hp_py_put(dict, "scripting", PyBool_FromLong(d->scripting)) &&
              hp_py_put(dict, "positions", PyBool_FromLong(d->positions)) &&
              hp_py_put(dict, "editable", PyBool_FromLong(d->editable)) &&
              hp_py_put(dict, "limits", hp_py_limits(d->edit_limits));
  if (!fine) Py_CLEAR(dict);
  return dict;
}

static PyObject *document_save(PyObject *self, PyObject *ignored) {
  (void)ignored;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_save(d, hpar_document_root(d->tree));
}

static PyObject *document_reduce(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return hp_py_delegate("hpar.copies", "reduce_document", self, NULL, 0, NULL);
}

static PyObject *document_sequence(PyObject *self, PyObject *list) {
  return hp_py_sequence((hp_py_document *)self, list);
}

static PyObject *document_events(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return hp_py_events((hp_py_document *)self, false);
}

static PyObject *document_xml(PyObject *self, PyObject *ignored) {
  (void)ignored;
  hp_py_document *d = (hp_py_document *)self;
  return hp_py_xml(d, root_of(d));
}

static PyObject *document_tag_ends(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return hp_py_events((hp_py_document *)self, true);
}

PyObject *hp_py_delegate(const char *module, const char *name, PyObject *self, PyObject *const *arguments,
                         Py_ssize_t count, PyObject *keywords) {
  PyObject *result = NULL, *all = PyTuple_New(count + 1), *named = PyDict_New();
  PyObject *imported = PyImport_ImportModule(module);
  PyObject *function = imported ? PyObject_GetAttrString(imported, name) : NULL;
  bool ready = all && named && function;
  if (ready) PyTuple_SetItem(all, 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; ready && i < count; i++) PyTuple_SetItem(all, i + 1, Py_NewRef(arguments[i]));
  for (Py_ssize_t i = 0; ready && keywords && i < PyTuple_Size(keywords); i++)
    ready = !PyDict_SetItem(named, PyTuple_GetItem(keywords, i), arguments[count + i]);
  if (ready) result = PyObject_Call(function, all, named);
  Py_XDECREF(function);
  Py_XDECREF(imported);
  Py_XDECREF(named);
  Py_XDECREF(all);
  return result;
}

#define IN_PYTHON(name, module, function)                                                           \
  static PyObject *document_##name(PyObject *self, PyObject *const *a, Py_ssize_t n, PyObject *k) { \
    return hp_py_delegate(module, function, self, a, n, k);                                         \
  }
IN_PYTHON(table, "hpar.tables", "table")
IN_PYTHON(explain, "hpar.study", "explain")
IN_PYTHON(rewrite, "hpar.rewriting", "_of_document")
IN_PYTHON(to_etree, "hpar.trees", "to_etree")
IN_PYTHON(to_dom, "hpar.trees", "to_dom")
IN_PYTHON(to_lxml, "hpar.trees", "to_lxml")
IN_PYTHON(find, "hpar.finding", "find")
IN_PYTHON(find_all, "hpar.finding", "find_all")
IN_PYTHON(getall, "hpar.extended", "getall")
IN_PYTHON(getfirst, "hpar.extended", "getfirst")
IN_PYTHON(strip_tags, "hpar.editing", "strip_tags")
IN_PYTHON(unwrap_tags, "hpar.editing", "unwrap_tags")

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define METHOD(name, flags, text) \
  { #name, (PyCFunction)(void (*)(void))document_##name, flags, PyDoc_STR(text) }

static PyMethodDef methods[] = {
    METHOD(css, KEYWORDS,
           "css($self, selector, *, threads=1)\n--\n\n"
           "Returns the elements that match a CSS selector, in document order. A selector may also end with\n"
           ":contains('text'), and begin with > for the children.\n\n"
           ">>> doc = hpar.parse('<p>a<p class=x>b')\n"
           ">>> [p.text() for p in doc.css('p.x')]\n['b']"),
    METHOD(xpath, KEYWORDS,
           "xpath($self, expression, /, **variables)\n--\n\n"
           "Returns the value of an expression of XPath 1.0: a list, float, bool or str.\n\n"
           "The list has nodes, and a str for each text and each attribute, in document order. The context node\n"
           "is the document node. A name without a prefix matches in HTML, SVG and MathML. The prefixes html, svg,\n"
           "math, xlink and xml are known. The contents of templates are not part of the tree. XPathError: the\n"
           "expression is wrong.\n\n"
           ">>> doc = hpar.parse('<p><a href=/x>One</a><p><a href=/y>Two</a>')\n"
           ">>> doc.xpath('//a/@href'), doc.xpath('count(//p)')\n(['/x', '/y'], 2.0)\n"
           ">>> doc.xpath('//a[. = $text]', text='Two')\n[<a href=\"/y\">]"),
    METHOD(css_first, KEYWORDS,
           "css_first($self, selector, default=None, strict=False)\n--\n\n"
           "Returns the first element that matches, or `default`.\n\n"
           "With `strict`, ValueError is raised if several elements match.\n\n"
           ">>> hpar.parse('<p>a<p>b').css_first('p').text()\n'a'"),
    METHOD(select, KEYWORDS, "select($self, selector, *, threads=1)\n--\n\nThe same as css()."),
    METHOD(select_one, KEYWORDS,
           "select_one($self, selector, default=None, strict=False)\n--\n\nThe same as css_first()."),
    METHOD(find, KEYWORDS,
           "find($self, name=None, attrs={}, *, recursive=True, string=None, **attributes)\n--\n\n"
           "Returns the first element with this name and these attributes, or None: see Node.find_all.\n\n"
           ">>> hpar.parse('<p>1<p id=x>2').find('p', id='x').text()\n'2'"),
    METHOD(find_all, KEYWORDS,
           "find_all($self, name=None, attrs={}, *, recursive=True, string=None, limit=None, **attributes)\n--\n\n"
           "Returns the elements with this name and these attributes: see Node.find_all."),
    METHOD(
        getall, KEYWORDS,
        "getall($self, selector)\n--\n\n"
        "Returns values as parsel does: with '::text' the texts that are children, with '::attr(name)' the values of\n"
        "the attribute, and otherwise the HTML of the elements. A space before '::text' takes all texts below.\n\n"
        ">>> doc = hpar.parse('<p>a <b>b</b></p><a href=c>d</a>')\n"
        ">>> doc.getall('p::text'), doc.getall('p ::text'), doc.getall('a::attr(href)'), doc.getall('b')\n"
        "(['a '], ['a ', 'b'], ['c'], ['<b>b</b>'])"),
    METHOD(getfirst, KEYWORDS,
           "getfirst($self, selector, default=None)\n--\n\nReturns the first value of getall(), or `default`."),
    METHOD(css_matches, METH_O,
           "css_matches($self, selector, /)\n--\n\n"
           "Returns whether an element matches the selector.\n\n"
           ">>> hpar.parse('<p>a').css_matches('p')\nTrue"),
    METHOD(any_css_matches, METH_O,
           "any_css_matches($self, selectors, /)\n--\n\n"
           "Returns whether an element matches one of the selectors.\n\n"
           ">>> hpar.parse('<p>a').any_css_matches(('a', 'p'))\nTrue"),
    METHOD(text, KEYWORDS,
           "text($self, deep=True, separator='', strip=False, skip_empty=False)\n--\n\n"
           "Returns the text of the body, as Node.text() does.\n\n"
           ">>> hpar.parse('<p> a <p> b ').text(separator='|', strip=True)\n'a|b'"),
    METHOD(get_text, KEYWORDS,
           "get_text($self, separator='', strip=False)\n--\n\n"
           "Returns the text as Beautiful Soup does: without that of scripts and styles below. `strip` removes white\n"
           "space around each text, and leaves out texts that are empty then.\n\n"
           ">>> hpar.parse('<p> a <script>b</script><b> c ').get_text('-', strip=True)\n'a-c'"),
    METHOD(readable_text, KEYWORDS,
           "readable_text($self, *, all=False)\n--\n\n"
           "Returns the text as a reader sees it: without hidden elements, scripts and styles, with line breaks at\n"
           "blocks. `all` leaves out no element.\n\n"
           ">>> hpar.parse('<title>t</title><p>a\\n  b<p>c').readable_text()\n'a b\\nc'"),
    METHOD(iter, KEYWORDS,
           "iter($self, include_text=False)\n--\n\n"
           "Returns an iterator over the children of the document node, without texts by default."),
    METHOD(traverse, KEYWORDS,
           "traverse($self, include_text=False)\n--\n\n"
           "Returns an iterator over all nodes in document order, without texts by default.\n\n"
           ">>> [n.tag for n in hpar.parse('<p>a').traverse()]\n"
           "['-document', 'html', 'head', 'body', 'p']"),
    METHOD(links, KEYWORDS,
           "links($self, url=None)\n--\n\n"
           "Returns the links of the document as a sequence of dicts, hpar.Links. `url` is the document's own URL.\n\n"
           ">>> doc = hpar.parse('<a href=b?c>')\n"
           ">>> doc.links('https://example.org/a')[0]['url']\n'https://example.org/b?c'"),
    METHOD(resources, METH_NOARGS,
           "resources($self, /)\n--\n\n"
           "Returns the scripts, styles, images and other resources as a list of dicts.\n\n"
           ">>> [(r['kind'], r['url']) for r in hpar.parse('<script src=a.js></script>').resources()]\n"
           "[('script', 'a.js')]"),
    METHOD(table, KEYWORDS,
           "table($self)\n--\n\n"
           "Returns the nodes as columns: see hpar.Table.\n\n"
           ">>> table = hpar.parse('<p>a').table()\n"
           ">>> [table.names[i] for i in table['name'] if i >= 0]\n['html', 'head', 'body', 'p']"),
    METHOD(explain, KEYWORDS,
           "explain($self, threads=4, chunks=0)\n--\n\n"
           "Parses the input again in parallel, and returns the outcome of each chunk: see hpar.explain."),
    METHOD(rewrite, KEYWORDS,
           "rewrite($self, rules, **options)\n--\n\n"
           "Returns the input with the edits of the rules, as bytes: see hpar.rewrite.\n\n"
           ">>> hpar.parse(b'<p>a<img>').rewrite([('img', 'set', 'loading', 'lazy')])\n"
           "b'<p>a<img loading=\"lazy\">'"),
    METHOD(to_etree, KEYWORDS,
           "to_etree($self, namespaceHTMLElements=True)\n--\n\n"
           "Returns the root as an xml.etree.ElementTree.Element, as html5lib makes it.\n\n"
           ">>> hpar.parse('<p>a').to_etree(namespaceHTMLElements=False).find('body/p').text\n'a'"),
    METHOD(to_dom, KEYWORDS,
           "to_dom($self, namespaceHTMLElements=True)\n--\n\n"
           "Returns an xml.dom.minidom.Document, as html5lib makes it."),
    METHOD(to_lxml, KEYWORDS,
           "to_lxml($self)\n--\n\n"
           "Returns the root as an element of lxml.html, for XPath. Needs lxml."),
    {"edit", (PyCFunction)(void (*)(void))hp_py_edit, KEYWORDS,
     PyDoc_STR("edit($self, *, limits=None)\n--\n\n"
               "Makes the document editable, and returns it. Calls that read an editable document keep the\n"
               "interpreter's lock. hpar.Error is raised while another thread reads the document.\n"
               "limits: bounds for changes, as for hpar.parse. `nodes` counts those that changes make.\n\n"
               ">>> doc = hpar.parse('<p>a<b>c</b>').edit()\n"
               ">>> doc.css_first('b').unwrap()\n"
               ">>> doc.body.html\n'<body><p>ac</p></body>'")},
    {"freeze", hp_py_freeze, METH_NOARGS,
     PyDoc_STR("freeze($self, /)\n--\n\nEnds the changes, and returns the document. Threads can read it side by side "
               "again.")},
    {"create_tag", (PyCFunction)(void (*)(void))hp_py_create_tag, KEYWORDS,
     PyDoc_STR("create_tag($self, name, *, namespace='html')\n--\n\n"
               "Returns a new element without a parent.\n\n"
               ">>> doc = hpar.parse('<p>a', editable=True)\n"
               ">>> image = doc.create_tag('img')\n"
               ">>> image.attrs['src'] = 'b.png'\n"
               ">>> doc.css_first('p').insert_child(image)\n"
               ">>> doc.body.inner_html\n'<p>a<img src=\"b.png\"></p>'")},
    {"create_text", hp_py_create_text, METH_O,
     PyDoc_STR("create_text($self, data, /)\n--\n\nReturns a new text without a parent.")},
    {"create_comment", hp_py_create_comment, METH_O,
     PyDoc_STR("create_comment($self, data, /)\n--\n\nReturns a new comment without a parent.")},
    METHOD(strip_tags, KEYWORDS,
           "strip_tags($self, tags)\n--\n\n"
           "Removes the elements with these names, and their content.\n\n"
           ">>> doc = hpar.parse('<p>a<i>b</i><script>c</script>', editable=True)\n"
           ">>> doc.strip_tags(['script', 'style'])\n"
           ">>> doc.body.inner_html\n'<p>a<i>b</i></p>'"),
    METHOD(unwrap_tags, KEYWORDS,
           "unwrap_tags($self, tags, delete_empty=False)\n--\n\n"
           "Replaces the elements with these names by their content.\n\n"
           ">>> doc = hpar.parse('<p>a<i>b</i>', editable=True)\n"
           ">>> doc.unwrap_tags(['i'])\n"
           ">>> doc.body.inner_html\n'<p>ab</p>'"),
    {"_columns", document_columns, METH_NOARGS, NULL},
    {"_events", document_events, METH_NOARGS, NULL},
    {"_xml", document_xml, METH_NOARGS, NULL},
    {"_tag_ends", document_tag_ends, METH_NOARGS, NULL},
    {"_sequence", document_sequence, METH_O, NULL},
    {"_origin", document_origin, METH_NOARGS, NULL},
    {"_save", document_save, METH_NOARGS, NULL},
    {"__reduce__", document_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"root", get_root, NULL, PyDoc_STR("The html element, or the first element of a fragment."), NULL},
    {"head", get_head, NULL, PyDoc_STR("The head element, or None."), NULL},
    {"body", get_body, NULL, PyDoc_STR("The body or frameset element, or None."), NULL},
    {"title", get_title, NULL,
     PyDoc_STR("The text of the title as browsers show it, or None without a title element.\n\n"
               ">>> hpar.parse('<title> a\\n b </title>').title\n'a b'"),
     NULL},
    {"children", get_children, NULL, PyDoc_STR("The children of the document node as a sequence."), NULL},
    {"descendants", get_descendants, NULL, PyDoc_STR("All nodes below the document node, in document order."), NULL},
    {"node", get_node, NULL, PyDoc_STR("The document node."), NULL},
    {"html", get_html, NULL, PyDoc_STR("The document as HTML, by the standard's serialisation."), NULL},
    {"tree", get_tree, NULL, PyDoc_STR("The tree in the format of html5lib-tests, one line a node."), NULL},
    {"data", get_data, NULL, PyDoc_STR("The input: a memoryview, or the str; None if hpar.Parser was fed with it."),
     NULL},
    {"quirks", get_quirks, NULL, PyDoc_STR("'no-quirks', 'limited-quirks' or 'quirks'."), NULL},
    {"encoding", get_encoding, NULL, PyDoc_STR("The encoding by its name in the Encoding Standard."), NULL},
    {"memory", get_memory, NULL, PyDoc_STR("The bytes of the tree in memory, without the input."), NULL},
    {"editable", get_editable, NULL, PyDoc_STR("Whether the document can change: see edit()."), NULL},
    {"stats", get_stats, NULL, PyDoc_STR("The statistics of the parse, as a dict."), NULL},
    {"errors", get_errors, NULL,
     PyDoc_STR("The parse errors as (code, offset), if max_errors was given to parse.\n\n"
               ">>> hpar.parse('<p', max_errors=9).errors\n[('eof-in-tag', 2), ('tree-construction', 2)]"),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(hp_py_document, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)PyDoc_STR(
         "A parsed page. hpar.parse makes it. It never changes unless it is editable, and threads may share it.")},
    {Py_tp_dealloc, free_document},
    {Py_tp_traverse, traverse_document},
    {Py_tp_repr, represent},
    {Py_tp_iter, iterate},
    {Py_mp_length, length_of},
    {Py_nb_bool, is_true},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_tp_members, offsets},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_document_spec = {
    .name = "hpar._core.Document",
    .basicsize = sizeof(hp_py_document),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
