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

static PyObject *represent(PyObject *self) {
  PyObject *tag = get_tag(self, NULL);
  PyObject *text = tag ? PyUnicode_FromFormat("<Node %U>", tag) : NULL;
  Py_XDECREF(tag);
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

#define IN_PYTHON(name)                                                                             \
  static PyObject *node_##name(PyObject *self, PyObject *const *a, Py_ssize_t count, PyObject *k) { \
    return hp_py_delegate("hpar.editing", #name, self, a, count, k);                                \
  }
IN_PYTHON(strip_tags)
IN_PYTHON(unwrap_tags)
IN_PYTHON(merge_text_nodes)

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
    METHOD(css_first, KEYWORDS,
           "css_first($self, selector, default=None, strict=False)\n--\n\n"
           "Returns the first element below this node that matches, or `default`."),
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
           "Returns the links of this subtree as a list of dicts. `url` is the document's own URL."),
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
           "Replaces this node by a text (str or bytes) or by a node.\n\n"
           ">>> doc = hpar.parse('<p>a<img alt=cat>', editable=True)\n"
           ">>> image = doc.css_first('img')\n"
           ">>> image.replace_with(image.attributes['alt'])\n"
           ">>> doc.body.inner_html\n'<p>acat</p>'"),
    CHANGE(insert_before, METH_O,
           "insert_before($self, value, /)\n--\n\n"
           "Inserts a text (str or bytes) or a node before this node. A node of the same document that has no\n"
           "parent is inserted itself. Any other node is copied with its content.\n\n"
           ">>> doc = hpar.parse('<p>a', editable=True)\n"
           ">>> doc.css_first('p').insert_before(hpar.parse('<hr>', fragment='body').css_first('hr'))\n"
           ">>> doc.body.inner_html\n'<hr><p>a</p>'"),
    CHANGE(insert_after, METH_O,
           "insert_after($self, value, /)\n--\n\nInserts a text or a node after this node, as insert_before() does."),
    CHANGE(insert_child, METH_O,
           "insert_child($self, value, /)\n--\n\n"
           "Inserts a text or a node after the last child, as insert_before() does."),
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
    {NULL, NULL, 0, NULL},
};

static const char outer[] = "outer"; /* tells `html` from `inner_html` */

static PyGetSetDef properties[] = {
    {"tag", get_tag, NULL, PyDoc_STR("The element's name; '-text', '-comment', '-doctype' or '-document' for others."),
     NULL},
    {"type", get_type, NULL, PyDoc_STR("'element', 'text', 'comment', 'doctype', 'document', 'fragment'."), NULL},
    {"name", get_name, NULL, PyDoc_STR("The local name of an element, or the name of a doctype; otherwise ''."), NULL},
    {"namespace", get_namespace, NULL, PyDoc_STR("'html', 'svg' or 'mathml' for elements; otherwise None."), NULL},
    {"data", get_data, hp_py_set_data,
     PyDoc_STR("The data of a text or comment; otherwise ''. Editable documents let it change."), NULL},
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
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec hp_py_node_spec = {
    .name = "hpar._core.Node",
    .basicsize = sizeof(hp_py_node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
