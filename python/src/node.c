/* Node: a handle and its document. A node keeps the document alive, and the document makes a new
 * object for each access. Equal nodes are the same node of the same document. */

#include "module.h"

#include <string.h>

PyObject *hp_py_new_node(hp_py_document *document, hpar_node handle) {
  if (!handle) return Py_NewRef(Py_None);
  hp_py_node *node = PyObject_GC_New(hp_py_node, document->state->node);
  if (!node) return NULL;
  node->document = (hp_py_document *)Py_NewRef((PyObject *)document);
  node->handle = handle;
  if (document->tracked) PyObject_GC_Track(node);
  return (PyObject *)node;
}

static void free_node(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF((PyObject *)((hp_py_node *)self)->document);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int traverse_node(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT((PyObject *)((hp_py_node *)self)->document);
  return 0;
}

static PyObject *compare_nodes(PyObject *left, PyObject *right, int operation) {
  if (Py_TYPE(left) != Py_TYPE(right) || (operation != Py_EQ && operation != Py_NE))
    return Py_NewRef(Py_NotImplemented);
  const hp_py_node *a = (hp_py_node *)left, *b = (hp_py_node *)right;
  bool equal = a->document == b->document && a->handle == b->handle;
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t hash_node(PyObject *self) {
  const hp_py_node *n = (hp_py_node *)self;
  Py_hash_t hash = (Py_hash_t)(((uintptr_t)n->document >> 4) * 31 + n->handle);
  return hash == -1 ? -2 : hash;
}

/*** properties ***/

static hpar_node_type kind_of(const hp_py_node *n) { return hpar_node_kind(n->document->tree, n->handle); }

/* Returns an element's name as selectolax has it: in lower case, except in SVG. Others have a name
 * that begins with "-". */
static PyObject *get_tag(PyObject *self, void *closure) {
  static const char *const names[] = {"", "-document", "-fragment", "-doctype",
                                      "", "-text",     "-comment",  "-instruction"};
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  hpar_node_type kind = kind_of(n);
  if (kind == HPAR_NODE_ELEMENT) return hp_py_string(hpar_node_name(n->document->tree, n->handle));
  return PyUnicode_FromString(names[kind]);
}

static PyObject *get_type(PyObject *self, void *closure) {
  static const char *const names[] = {"",        "document", "fragment", "doctype",
                                      "element", "text",     "comment",  "processing-instruction"};
  (void)closure;
  return PyUnicode_FromString(names[kind_of((hp_py_node *)self)]);
}

static PyObject *get_namespace(PyObject *self, void *closure) {
  static const char *const names[] = {NULL, "html", "svg", "mathml", "xlink", "xml", "xmlns"};
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  const char *name = names[hpar_node_namespace(n->document->tree, n->handle)];
  return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *get_name(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_string(hpar_node_name(n->document->tree, n->handle));
}

static PyObject *get_data(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_string(hpar_node_data(n->document->tree, n->handle));
}

static PyObject *get_public_id(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_string(hpar_node_public_id(n->document->tree, n->handle));
}

static PyObject *get_system_id(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_string(hpar_node_system_id(n->document->tree, n->handle));
}

static PyObject *get_id(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  hpar_string value = hpar_node_attribute_value(n->document->tree, n->handle, "id");
  return value.bytes ? hp_py_string(value) : Py_NewRef(Py_None);
}

static PyObject *get_document(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef((PyObject *)((hp_py_node *)self)->document);
}

static PyObject *get_handle(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLong(((hp_py_node *)self)->handle);
}

static PyObject *get_html(PyObject *self, void *closure) {
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_html(n->document, n->handle, closure != NULL);
}

#define NEIGHBOUR(name)                                                                 \
  static PyObject *get_##name(PyObject *self, void *closure) {                          \
    (void)closure;                                                                      \
    const hp_py_node *n = (hp_py_node *)self;                                           \
    return hp_py_new_node(n->document, hpar_node_##name(n->document->tree, n->handle)); \
  }
NEIGHBOUR(parent)
NEIGHBOUR(first_child)
NEIGHBOUR(last_child)
NEIGHBOUR(next)
NEIGHBOUR(previous)
NEIGHBOUR(template_contents)

static PyObject *get_attributes(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_attribute_dict(n->document, n->handle);
}

static PyObject *get_attrs(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_new_attributes(n->document, n->handle);
}

static bool need_positions(const hp_py_node *n) {
  if (!n->document->positions) PyErr_SetString(PyExc_ValueError, "parse the document with positions=True");
  return n->document->positions;
}

static PyObject *get_start_tag(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  uint64_t start, end;
  if (!need_positions(n)) return NULL;
  if (!hpar_node_start_tag_range(n->document->tree, n->handle, &start, &end)) return Py_NewRef(Py_None);
  return Py_BuildValue("(KK)", (unsigned long long)start, (unsigned long long)end);
}

static PyObject *get_end_tag(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  uint64_t start, end;
  if (!need_positions(n)) return NULL;
  if (!hpar_node_end_tag_range(n->document->tree, n->handle, &start, &end)) return Py_NewRef(Py_None);
  return Py_BuildValue("(KK)", (unsigned long long)start, (unsigned long long)end);
}

static PyObject *get_attribute_positions(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  return need_positions(n) ? hp_py_attribute_positions(n->document, n->handle) : NULL;
}

#define RELATED(name, relation)                                \
  static PyObject *get_##name(PyObject *self, void *closure) { \
    (void)closure;                                             \
    const hp_py_node *n = (hp_py_node *)self;                  \
    return hp_py_related(n->document, n->handle, relation);    \
  }
RELATED(children, HP_PY_CHILDREN)
RELATED(descendants, HP_PY_DESCENDANTS)
RELATED(parents, HP_PY_PARENTS)
RELATED(next_siblings, HP_PY_NEXT_SIBLINGS)
RELATED(previous_siblings, HP_PY_PREVIOUS_SIBLINGS)

/* The only text below the element, through elements with one child. */
static PyObject *get_string(PyObject *self, void *closure) {
  (void)closure;
  const hp_py_node *n = (hp_py_node *)self;
  const hpar_document *tree = n->document->tree;
  hpar_node node = n->handle, child = hpar_node_first_child(tree, node);
  for (; child && !hpar_node_next(tree, child); child = hpar_node_first_child(tree, node)) node = child;
  hpar_node_type kind = hpar_node_kind(tree, node);
  if (kind != HPAR_NODE_TEXT && kind != HPAR_NODE_COMMENT) return Py_NewRef(Py_None);
  return hp_py_string(hpar_node_data(tree, node));
}

#define LIST_IN_PYTHON(name)                                           \
  static PyObject *get_##name(PyObject *self, void *closure) {         \
    (void)closure;                                                     \
    return hp_py_delegate("hpar.finding", #name, self, NULL, 0, NULL); \
  }
LIST_IN_PYTHON(strings)
LIST_IN_PYTHON(stripped_strings)

/*** as a container ***/

static PyObject *iterate(PyObject *self) {
  hp_py_node *n = (hp_py_node *)self;
  return hp_py_iter_children(n->document, n->handle);
}

static Py_ssize_t length_of(PyObject *self) {
  const hp_py_node *n = (hp_py_node *)self;
  return hp_py_count_children(n->document, n->handle);
}

/* An element without children is true, unlike other objects without items. */
static int is_true(PyObject *self) {
  (void)self;
  return 1;
}

static bool is_name(PyObject *key) {
  if (!PyUnicode_Check(key))
    PyErr_Format(PyExc_TypeError, "the name of an attribute must be str, not %R; `children` has the nodes",
                 Py_TYPE(key));
  return PyUnicode_Check(key);
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  return is_name(key) ? hp_py_attribute_of(self, key) : NULL;
}

static int assign(PyObject *self, PyObject *key, PyObject *value) {
  return is_name(key) ? hp_py_assign_attribute(self, key, value) : -1;
}

/* `text` is a method, as in selectolax, and yet it can be set, as in lxml. */
static int set_member(PyObject *self, PyObject *name, PyObject *value) {
  if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, "text"))
    return PyObject_GenericSetAttr(self, name, value);
  return hp_py_set_text(self, value, NULL);
}

/*** the representation ***/

enum { SHOWN_BYTES = 60, SHOWN_ATTRIBUTES = 8 };

static bool add(hp_py_buffer *buffer, const char *bytes, size_t length) { return !hp_py_write(bytes, length, buffer); }

/* Adds the beginning of a text, up to the end of a character. */
static bool add_beginning(hp_py_buffer *buffer, hpar_string s) {
  static const char ellipsis[] = "\xe2\x80\xa6";
  size_t length = s.length;
  if (length > SHOWN_BYTES)
    for (length = SHOWN_BYTES; length && (s.bytes[length] & 0xC0) == 0x80;) length--;
  return add(buffer, s.bytes, length) && (length == s.length || add(buffer, ellipsis, sizeof ellipsis - 1));
}

static bool add_attribute(hp_py_buffer *buffer, const hpar_attribute *a) {
  bool fine = add(buffer, " ", 1);
  if (a->prefix.length) fine = fine && add(buffer, a->prefix.bytes, a->prefix.length) && add(buffer, ":", 1);
  fine = fine && add(buffer, a->local_name.bytes, a->local_name.length);
  if (!fine || !a->value.length) return fine;
  return add(buffer, "=\"", 2) && add_beginning(buffer, a->value) && add(buffer, "\"", 1);
}

static PyObject *represent_element(const hp_py_node *n) {
  hp_py_buffer buffer = {NULL, 0, 0};
  hpar_attribute a;
  hpar_string name = hpar_node_name(n->document->tree, n->handle);
  bool fine = add(&buffer, "<", 1) && add(&buffer, name.bytes, name.length);
  size_t i = 0;
  for (; fine && i < SHOWN_ATTRIBUTES && hpar_node_attribute_at(n->document->tree, n->handle, i, &a); i++)
    fine = add_attribute(&buffer, &a);
  if (fine && i < hpar_node_attribute_count(n->document->tree, n->handle)) fine = add(&buffer, " \xe2\x80\xa6", 4);
  fine = fine && add(&buffer, ">", 1);
  return hp_py_buffer_str(&buffer, fine ? HPAR_OK : HPAR_ERROR_MEMORY);
}

static PyObject *represent(PyObject *self) {
  const hp_py_node *n = (hp_py_node *)self;
  hpar_node_type kind = kind_of(n);
  if (kind == HPAR_NODE_ELEMENT) return represent_element(n);
  if (kind == HPAR_NODE_DOCUMENT) return PyUnicode_FromString("<document>");
  if (kind == HPAR_NODE_FRAGMENT) return PyUnicode_FromString("<fragment>");
  if (kind == HPAR_NODE_DOCTYPE) {
    PyObject *name = get_name(self, NULL), *text = name ? PyUnicode_FromFormat("<!DOCTYPE %U>", name) : NULL;
    Py_XDECREF(name);
    return text;
  }
  hp_py_buffer buffer = {NULL, 0, 0};
  bool fine = add_beginning(&buffer, hpar_node_data(n->document->tree, n->handle));
  PyObject *data = hp_py_buffer_str(&buffer, fine ? HPAR_OK : HPAR_ERROR_MEMORY);
  PyObject *type = get_type(self, NULL), *text = NULL;
  if (data && type) text = PyUnicode_FromFormat("<%U %R>", type, data);
  Py_XDECREF(type);
  Py_XDECREF(data);
  return text;
}

/*** methods ***/

#define OF_NODE(name)                                                                               \
  static PyObject *node_##name(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) { \
    hp_py_node *n = (hp_py_node *)self;                                                             \
    return hp_py_##name(n->document, n->handle, a, count, k);                                       \
  }
OF_NODE(css)
OF_NODE(css_first)
OF_NODE(xpath)
#define node_select node_css
#define node_select_one node_css_first
#define node_get hp_py_get_attribute
OF_NODE(get_text)
OF_NODE(iter)
OF_NODE(traverse)
OF_NODE(links)
OF_NODE(text)

#define TEST_OF_NODE(name)                                           \
  static PyObject *node_##name(PyObject *self, PyObject *selector) { \
    hp_py_node *n = (hp_py_node *)self;                              \
    return hp_py_##name(n->document, n->handle, selector);           \
  }
TEST_OF_NODE(css_matches)
TEST_OF_NODE(any_css_matches)
TEST_OF_NODE(matches)

static PyObject *node_readable_text(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) {
  hp_py_node *n = (hp_py_node *)self;
  return hp_py_readable_text(n->document, n->handle, a, count, k);
}

static PyObject *node_resources(PyObject *self, PyObject *ignored) {
  (void)ignored;
  hp_py_node *n = (hp_py_node *)self;
  return hp_py_resources(n->document, n->handle);
}

#define IN_PYTHON(module, name)                                                                     \
  static PyObject *node_##name(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) { \
    return hp_py_delegate(module, #name, self, a, count, k);                                        \
  }
IN_PYTHON("hpar.editing", strip_tags)
IN_PYTHON("hpar.editing", unwrap_tags)
IN_PYTHON("hpar.editing", merge_text_nodes)
IN_PYTHON("hpar.editing", extract)
IN_PYTHON("hpar.editing", clear)
IN_PYTHON("hpar.finding", find)
IN_PYTHON("hpar.finding", find_all)
IN_PYTHON("hpar.finding", closest)
IN_PYTHON("hpar.extended", getall)
IN_PYTHON("hpar.extended", getfirst)

static PyObject *node_save(PyObject *self, PyObject *ignored) {
  (void)ignored;
  hp_py_node *n = (hp_py_node *)self;
  return hp_py_save(n->document, n->handle);
}

static PyObject *node_reduce(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return hp_py_delegate("hpar.copies", "reduce_node", self, NULL, 0, NULL);
}

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS
#define METHOD(name, flags, text) \
  { #name, (PyCFunction)(void (*)(void))node_##name, flags, PyDoc_STR(text) }

#define CHANGE(name, flags, text) \
  { #name, (PyCFunction)(void (*)(void))hp_py_##name, flags, PyDoc_STR(text) }

static PyMethodDef methods[] = {
    METHOD(css, KEYWORDS,
           "css($self, selector, *, threads=1)\n--\n\n"
           "Returns the elements below this node that match, in document order.\n\n"
           ">>> hpar.parse('<p>a<b>c').css_first('p').css('b')[0].text()\n'c'"),
    METHOD(xpath, KEYWORDS,
           "xpath($self, expression, /, **variables)\n--\n\n"
           "Returns the value of an XPath expression for this node. See Document.xpath.\n\n"
           ">>> hpar.parse('<p>a<b>c').css_first('p').xpath('string(b)')\n'c'"),
    METHOD(css_first, KEYWORDS,
           "css_first($self, selector, default=None, strict=False)\n--\n\n"
           "Returns the first element below this node that matches, or `default`."),
    METHOD(select, KEYWORDS, "select($self, selector, *, threads=1)\n--\n\nThe same as css()."),
    METHOD(select_one, KEYWORDS,
           "select_one($self, selector, default=None, strict=False)\n--\n\nThe same as css_first()."),
    METHOD(find, KEYWORDS,
           "find($self, name=None, attrs={}, *, recursive=True, string=None, **attributes)\n--\n\n"
           "Returns the first element that find_all() would return, or None."),
    METHOD(find_all, KEYWORDS,
           "find_all($self, name=None, attrs={}, *, recursive=True, string=None, limit=None, **attributes)\n--\n\n"
           "Returns the elements below with this name and these attributes, as Beautiful Soup does.\n\n"
           "A name or value is a str, a compiled pattern, a function, a list of these, True (any) or, for a value,\n"
           "None (missing). `class_` stands for the attribute class, of which one class suffices, as does one word of\n"
           "rel and the other lists of words. `string`, or `text`, tests the element's `string`; without a name and\n"
           "attributes, texts are returned.\n\n"
           ">>> doc = hpar.parse('<p class=\"a b\">1<p id=x>2<i>3')\n"
           ">>> doc.find('p', class_='a'), doc.find_all(['p', 'i'], id=None)[1:], doc.find(id=True).text()\n"
           "(<p class=\"a b\">, [<i>], '23')"),
    METHOD(closest, KEYWORDS,
           "closest($self, selector)\n--\n\n"
           "Returns the nearest of this element and its parents that matches, or None.\n\n"
           ">>> hpar.parse('<table><tr><td>a').find('td').closest('table')\n<table>"),
    METHOD(get, KEYWORDS,
           "get($self, name, default=None)\n--\n\n"
           "Returns the value of an attribute, or `default`. node[name] raises KeyError if it is missing.\n\n"
           ">>> link = hpar.parse('<a href=b>').find('a')\n"
           ">>> link['href'], link.get('rel')\n('b', None)"),
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
           "Returns whether this element, or an element below it, matches."),
    METHOD(any_css_matches, METH_O,
           "any_css_matches($self, selectors, /)\n--\n\n"
           "Returns whether this element, or an element below it, matches one of the selectors."),
    METHOD(matches, METH_O,
           "matches($self, selector, /)\n--\n\n"
           "Returns whether this element itself matches.\n\n"
           ">>> hpar.parse('<p class=x>').css_first('p').matches('body > .x')\nTrue"),
    METHOD(text, KEYWORDS,
           "text($self, deep=True, separator='', strip=False, skip_empty=False)\n--\n\n"
           "Returns the data of the texts below this node, joined by `separator`.\n\n"
           "Without `deep`, only texts that are children count. `strip` removes white space around each text.\n"
           "`skip_empty` leaves out texts of ASCII white space only.\n\n"
           ">>> p = hpar.parse('<p>a <b> b </b>').css_first('p')\n"
           ">>> p.text(), p.text(deep=False), p.text(separator='-', strip=True)\n('a  b ', 'a ', 'a-b')"),
    METHOD(get_text, KEYWORDS,
           "get_text($self, separator='', strip=False)\n--\n\n"
           "Returns the text as Beautiful Soup does: without that of scripts and styles below. `strip` removes white\n"
           "space around each text, and leaves out texts that are empty then.\n\n"
           ">>> hpar.parse('<p> a <script>b</script><b> c ').get_text('-', strip=True)\n'a-c'"),
    METHOD(readable_text, KEYWORDS,
           "readable_text($self, *, all=False)\n--\n\n"
           "Returns the text as a reader sees it: without hidden elements, scripts and styles, with line breaks at\n"
           "blocks. `all` leaves out no element."),
    METHOD(iter, KEYWORDS,
           "iter($self, include_text=False)\n--\n\n"
           "Returns an iterator over the children, without texts by default.\n\n"
           ">>> [n.tag for n in hpar.parse('<p>a<b>c</b>').css_first('p').iter(include_text=True)]\n"
           "['-text', 'b']"),
    METHOD(traverse, KEYWORDS,
           "traverse($self, include_text=False)\n--\n\n"
           "Returns an iterator over this node and all nodes below it, without texts by default."),
    METHOD(links, KEYWORDS,
           "links($self, url=None)\n--\n\n"
           "Returns the links of this subtree as a sequence of dicts, hpar.Links. `url` is the document's own URL."),
    METHOD(resources, METH_NOARGS,
           "resources($self, /)\n--\n\n"
           "Returns the resources of this subtree as a list of dicts."),
    CHANGE(decompose, KEYWORDS,
           "decompose($self, recursive=True)\n--\n\n"
           "Removes this node and its content from the tree. Both stay readable. `recursive` has no effect.\n\n"
           ">>> doc = hpar.parse('<p>a<b>c</b>', editable=True)\n"
           ">>> bold = doc.css_first('b')\n"
           ">>> bold.decompose()\n"
           ">>> doc.body.inner_html, bold.text()\n('<p>a</p>', 'c')"),
    {"remove", (PyCFunction)(void (*)(void))hp_py_decompose, KEYWORDS,
     PyDoc_STR("remove($self, recursive=True)\n--\n\nThe same as decompose().")},
    CHANGE(unwrap, KEYWORDS,
           "unwrap($self, delete_empty=False)\n--\n\n"
           "Replaces this element by its content. An element without content stays unless `delete_empty`."),
    CHANGE(replace_with, METH_O,
           "replace_with($self, value, /)\n--\n\n"
           "Replaces this node by a text (str or bytes) or by a node, which moves as with insert_before().\n\n"
           ">>> doc = hpar.parse('<p>a<img alt=cat>', editable=True)\n"
           ">>> image = doc.css_first('img')\n"
           ">>> image.replace_with(image.attributes['alt'])\n"
           ">>> doc.body.inner_html\n'<p>acat</p>'"),
    CHANGE(insert_before, METH_O,
           "insert_before($self, value, /)\n--\n\n"
           "Inserts a text (str or bytes) or a node before this node. A node of the same document moves. One of\n"
           "another document is copied with its content.\n\n"
           ">>> doc = hpar.parse('<p>a', editable=True)\n"
           ">>> doc.css_first('p').insert_before(hpar.parse('<hr>', fragment='body').css_first('hr'))\n"
           ">>> doc.body.inner_html\n'<hr><p>a</p>'"),
    CHANGE(insert_after, METH_O,
           "insert_after($self, value, /)\n--\n\nInserts a text or a node after this node, as insert_before() does."),
    CHANGE(insert_child, METH_O,
           "insert_child($self, value, /)\n--\n\n"
           "Inserts a text or a node after the last child, as insert_before() does."),
    CHANGE(append, KEYWORDS, "append($self, value)\n--\n\nThe same as insert_child()."),
    CHANGE(insert, KEYWORDS,
           "insert($self, index, value)\n--\n\n"
           "Inserts a text or a node as the child with this index. A node of this document moves.\n\n"
           ">>> doc = hpar.parse('<ul><li>1<li>2', editable=True)\n"
           ">>> items = doc.find('ul')\n"
           ">>> items.insert(0, items.children[-1])\n"
           ">>> items.text()\n'21'"),
    METHOD(extract, KEYWORDS, "extract($self)\n--\n\nRemoves this node from the tree, and returns it."),
    METHOD(clear, KEYWORDS, "clear($self)\n--\n\nRemoves all children."),
    CHANGE(wrap, KEYWORDS,
           "wrap($self, element)\n--\n\n"
           "Puts `element`, a Node or a name, in the place of this node, and this node into it. Returns `element`.\n\n"
           ">>> doc = hpar.parse('<p>a<b>c</b>', editable=True)\n"
           ">>> doc.find('b').wrap('i')['id'] = 'x'\n"
           ">>> doc.body.inner_html\n'<p>a<i id=\"x\"><b>c</b></i></p>'"),
    CHANGE(clone, KEYWORDS,
           "clone($self, deep=True)\n--\n\nReturns a copy without a parent; `deep`: with its content."),
    METHOD(strip_tags, KEYWORDS,
           "strip_tags($self, tags)\n--\n\nRemoves the elements below with these names, and their content."),
    METHOD(unwrap_tags, KEYWORDS,
           "unwrap_tags($self, tags, delete_empty=False)\n--\n\n"
           "Replaces the elements below with these names by their content."),
    METHOD(merge_text_nodes, KEYWORDS,
           "merge_text_nodes($self)\n--\n\n"
           "Joins adjacent texts below this node.\n\n"
           ">>> doc = hpar.parse('<p>a<b>c</b>d', editable=True)\n"
           ">>> doc.unwrap_tags(['b'])\n"
           ">>> doc.body.merge_text_nodes()\n"
           ">>> doc.css_first('p').child.data\n'acd'"),
    {"_save", node_save, METH_NOARGS, NULL},
    {"__reduce__", node_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static const char outer[] = "outer"; /* tells `html` from `inner_html` */

static PyGetSetDef properties[] = {
    {"tag", get_tag, NULL, PyDoc_STR("The element's name; '-text', '-comment', '-doctype' or '-document' for others."),
     NULL},
    {"type", get_type, NULL,
     PyDoc_STR("'element', 'text', 'comment', 'processing-instruction', 'doctype', 'document', 'fragment'."), NULL},
    {"name", get_name, NULL,
     PyDoc_STR("The local name of an element, name of a doctype, or target of a processing instruction; otherwise ''."),
     NULL},
    {"namespace", get_namespace, NULL, PyDoc_STR("'html', 'svg' or 'mathml' for elements; otherwise None."), NULL},
    {"data", get_data, hp_py_set_data,
     PyDoc_STR("The data of a text, comment or processing instruction; otherwise ''.\n\n"
               "Editable documents let it change."),
     NULL},
    {"public_id", get_public_id, NULL, PyDoc_STR("The public identifier of a doctype; otherwise ''."), NULL},
    {"system_id", get_system_id, NULL, PyDoc_STR("The system identifier of a doctype; otherwise ''."), NULL},
    {"id", get_id, NULL, PyDoc_STR("The value of the attribute `id`, or None."), NULL},
    {"document", get_document, NULL, PyDoc_STR("The document."), NULL},
    {"handle", get_handle, NULL, PyDoc_STR("The number of the node in its document."), NULL},
    {"mem_id", get_handle, NULL, PyDoc_STR("The same as `handle`."), NULL},
    {"html", get_html, NULL,
     PyDoc_STR("The node and its children as HTML.\n\n>>> hpar.parse('<p>a').css_first('p').html\n'<p>a</p>'"),
     (void *)outer},
    {"inner_html", get_html, hp_py_set_inner_html,
     PyDoc_STR("The children as HTML. Editable documents let it change.\n\n"
               ">>> doc = hpar.parse('<table><tr>', editable=True)\n"
               ">>> doc.css_first('tr').inner_html = '<td>a<td>b'\n"
               ">>> doc.css_first('tr').html\n'<tr><td>a</td><td>b</td></tr>'"),
     NULL},
    {"parent", get_parent, NULL, PyDoc_STR("The parent, or None."), NULL},
    {"children", get_children, NULL,
     PyDoc_STR("The children as a sequence, with texts and comments. Iteration over a node is over the children.\n\n"
               ">>> p = hpar.parse('<p>a<b>c</b>').find('p')\n"
               ">>> p.children, len(p), [child.type for child in p]\n"
               "([<text 'a'>, <b>], 2, ['text', 'element'])"),
     NULL},
    {"descendants", get_descendants, NULL, PyDoc_STR("All nodes below this one as a sequence, in document order."),
     NULL},
    {"parents", get_parents, NULL, PyDoc_STR("The parent, its parent and so on, as a sequence."), NULL},
    {"next_siblings", get_next_siblings, NULL, PyDoc_STR("The later siblings as a sequence, the next one first."),
     NULL},
    {"previous_siblings", get_previous_siblings, NULL,
     PyDoc_STR("The earlier siblings as a sequence, the nearest first."), NULL},
    {"string", get_string, hp_py_set_text,
     PyDoc_STR("The text of an element with one text and nothing else below it, or None. In editable documents, a new\n"
               "value takes the place of all children.\n\n"
               ">>> doc = hpar.parse('<p><b>a</b>', editable=True)\n"
               ">>> doc.find('p').string\n'a'\n"
               ">>> doc.find('p').string = '1 < 2'\n"
               ">>> doc.find('p').html\n'<p>1 &lt; 2</p>'"),
     NULL},
    {"strings", get_strings, NULL, PyDoc_STR("The data of the texts below, as a list."), NULL},
    {"stripped_strings", get_stripped_strings, NULL,
     PyDoc_STR("The data of the texts below without white space around it, as a list without empty ones."), NULL},
    {"child", get_first_child, NULL, PyDoc_STR("The first child, or None."), NULL},
    {"first_child", get_first_child, NULL, PyDoc_STR("The first child, or None."), NULL},
    {"last_child", get_last_child, NULL, PyDoc_STR("The last child, or None."), NULL},
    {"next", get_next, NULL, PyDoc_STR("The next sibling, or None."), NULL},
    {"prev", get_previous, NULL, PyDoc_STR("The previous sibling, or None."), NULL},
    {"contents", get_template_contents, NULL, PyDoc_STR("The contents of a template element, or None."), NULL},
    {"attributes", get_attributes, NULL,
     PyDoc_STR("The attributes as a new dict.\n\n"
               ">>> hpar.parse('<a href=b c>').css_first('a').attributes\n{'href': 'b', 'c': ''}"),
     NULL},
    {"attrs", get_attrs, NULL,
     PyDoc_STR("The attributes as a mapping that reads each value on access. Editable documents let them change.\n\n"
               ">>> link = hpar.parse('<a href=b>', editable=True).css_first('a')\n"
               ">>> link.attrs['href']\n'b'\n"
               ">>> link.attrs['rel'] = 'nofollow'\n"
               ">>> del link.attrs['href']\n"
               ">>> link.html\n'<a rel=\"nofollow\"></a>'"),
     NULL},
    {"start_tag", get_start_tag, NULL,
     PyDoc_STR("The byte range of the start tag in the input, or None. Needs positions=True.\n\n"
               ">>> hpar.parse(b'a<p>b', positions=True).css_first('p').start_tag\n(1, 4)"),
     NULL},
    {"end_tag", get_end_tag, NULL, PyDoc_STR("The byte range of the end tag, or None. Needs positions=True."), NULL},
    {"attribute_positions", get_attribute_positions, NULL,
     PyDoc_STR("For each attribute with a position: the offsets of its name and of its value.\n\n"
               ">>> hpar.parse(b'<p a=\"b\">', positions=True).css_first('p').attribute_positions\n"
               "{'a': (3, 4, 6, 7)}"),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A node of a document.")},
    {Py_tp_dealloc, free_node},
    {Py_tp_traverse, traverse_node},
    {Py_tp_richcompare, compare_nodes},
    {Py_tp_hash, hash_node},
    {Py_tp_repr, represent},
    {Py_tp_iter, iterate},
    {Py_tp_setattro, set_member},
    {Py_mp_length, length_of},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, assign},
    {Py_nb_bool, is_true},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    HP_PY_NO_NEW,
    {0, NULL},
};

PyType_Spec hp_py_node_spec = {
    .name = "hpar._core.Node",
    .basicsize = sizeof(hp_py_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
