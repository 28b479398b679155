/* Trees as bytes, for pickle and copy. A tree is not always that of its own HTML, so that the bytes
 * hold the nodes themselves:
 *
 *   header  version, flags, quirks, name of the encoding
 *   E ... / element: namespace, name, attributes; then its children, and the end
 *   { ... } the contents of a template, as the first of its children
 *   T C     text, comment: data
 *   P       processing instruction: name, data
 *   D       doctype: name, public and system identifier
 *
 * Numbers have seven bits a byte, the low ones first. A string is its length and its bytes.
 *
 * The public interface changes trees, but makes no doctype, no processing instruction and no
 * attribute with a namespace. Therefore the reader parses a few bytes of HTML for each of these. */

#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, FRAGMENT = 1, SCRIPTING = 2, ONE_NODE = 4, CONTENTS = 8 };

/* Nodes that a walk returns to. */
typedef struct stack {
  hpar_node *nodes;
  size_t count, capacity;
} stack;

static hpar_status push(stack *s, hpar_node node) {
  if (s->count == s->capacity) {
    size_t capacity = 2 * s->capacity + 8;
    hpar_node *grown = realloc(s->nodes, capacity * sizeof *grown);
    if (!grown) return HPAR_ERROR_MEMORY;
    s->nodes = grown;
    s->capacity = capacity;
  }
  s->nodes[s->count++] = node;
  return HPAR_OK;
}

/*** writing ***/

typedef struct writer {
  const hpar_document *tree;
  hp_py_buffer buffer;
  hpar_status status;
  stack templates; /* in whose contents the walk is */
} writer;

static void put(writer *w, const char *bytes, size_t length) {
  if (!w->status) w->status = hp_py_write(bytes, length, &w->buffer);
}

static void put_byte(writer *w, int byte) {
  const char c = (char)byte;
  put(w, &c, 1);
}

static void put_number(writer *w, size_t number) {
  for (; number > 127; number >>= 7) put_byte(w, (int)(number & 127) | 128);
  put_byte(w, (int)number);
}

static void put_string(writer *w, hpar_string s) {
  put_number(w, s.length);
  put(w, s.bytes, s.length);
}

static void put_element(writer *w, hpar_node node) {
  const size_t count = hpar_node_attribute_count(w->tree, node);
  hpar_attribute a;
  put_byte(w, 'E');
  put_byte(w, hpar_node_namespace(w->tree, node));
  put_string(w, hpar_node_name(w->tree, node));
  put_number(w, count);
  for (size_t i = 0; i < count && hpar_node_attribute_at(w->tree, node, i, &a); i++) {
    put_byte(w, a.ns);
    put_string(w, a.prefix);
    put_string(w, a.local_name);
    put_string(w, a.value);
  }
}

static void put_node(writer *w, hpar_node node) {
  switch (hpar_node_kind(w->tree, node)) {
    case HPAR_NODE_ELEMENT: put_element(w, node); break;
    case HPAR_NODE_TEXT:
    case HPAR_NODE_COMMENT:
      put_byte(w, hpar_node_kind(w->tree, node) == HPAR_NODE_TEXT ? 'T' : 'C');
      put_string(w, hpar_node_data(w->tree, node));
      break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      put_byte(w, 'P');
      put_string(w, hpar_node_name(w->tree, node));
      put_string(w, hpar_node_data(w->tree, node));
      break;
    case HPAR_NODE_DOCTYPE:
      put_byte(w, 'D');
      put_string(w, hpar_node_name(w->tree, node));
      put_string(w, hpar_node_public_id(w->tree, node));
      put_string(w, hpar_node_system_id(w->tree, node));
      break;
    default: break; /* a document node or the contents of a template: only their children count */
  }
}

/* Writes `top` with its descendants. Of a document node or of contents, it writes the children. */
static void put_tree(writer *w, hpar_node top) {
  hpar_node node = top;
  while (node && !w->status) {
    hpar_node contents = hpar_node_template_contents(w->tree, node), next;
    put_node(w, node);
    if (contents) {
      put_byte(w, '{');
      if (!w->status) w->status = push(&w->templates, node);
      next = hpar_node_first_child(w->tree, contents);
    } else {
      next = hpar_node_first_child(w->tree, node);
    }
    for (hpar_node inside = contents ? contents : node; !next && !w->status;) {
      /* All children of `inside` are written. */
      if (w->templates.count &&
          inside == hpar_node_template_contents(w->tree, w->templates.nodes[w->templates.count - 1])) {
        put_byte(w, '}');
        inside = w->templates.nodes[--w->templates.count];
        next = hpar_node_first_child(w->tree, inside);
        continue;
      }
      if (hpar_node_kind(w->tree, inside) == HPAR_NODE_ELEMENT) put_byte(w, '/');
      if (inside == top) return;
      next = hpar_node_next(w->tree, inside);
      inside = hpar_node_parent(w->tree, inside);
    }
    node = next;
  }
}

/* Writes a node. Contents are those of a template, whose attributes do not matter. */
static void put_top(writer *w, hpar_node top) {
  const bool is_contents = hpar_node_kind(w->tree, top) == HPAR_NODE_FRAGMENT;
  if (is_contents) put(w, "E\1\10template\0{", 13);
  put_tree(w, top);
  if (is_contents) put(w, "}/", 2);
}

PyObject *hp_py_save(hp_py_document *d, hpar_node top) {
  writer w = {.tree = d->tree};
  const hpar_node_type kind = hpar_node_kind(d->tree, top);
  const char *encoding = d->summary.encoding ? d->summary.encoding : "";
  put_byte(&w, VERSION);
  put_byte(&w, (d->is_fragment ? FRAGMENT : 0) | (d->scripting ? SCRIPTING : 0) |
                   (kind == HPAR_NODE_DOCUMENT ? 0 : ONE_NODE) | (kind == HPAR_NODE_FRAGMENT ? CONTENTS : 0));
  put_byte(&w, hpar_document_quirks(d->tree));
  put_string(&w, (hpar_string){encoding, strlen(encoding)});
  PyThreadState *saved = hp_py_begin_read(d);
  put_top(&w, top);
  hp_py_end_read(d, saved);
  free(w.templates.nodes);
  return hp_py_buffer_bytes(&w.buffer, w.status);
}

/*** reading ***/

typedef struct reader {
  const unsigned char *at, *end;
  hpar_editor *edit;
  hpar_document *tree;
  hpar_node top, scratch, doctype; /* top: has the nodes, or 0 */
  hpar_node first;                 /* without a parent */
  hpar_status status;              /* HPAR_ERROR_ARGUMENT: the bytes are not those of a tree */
  stack open;                      /* elements and contents of templates */
  hp_py_buffer html;               /* for what only a parse makes */
} reader;

static void fail(reader *r) {
  if (!r->status) r->status = HPAR_ERROR_ARGUMENT;
  r->at = r->end;
}

static int get_byte(reader *r) {
  if (r->at < r->end) return *r->at++;
  fail(r);
  return 0;
}

static size_t get_number(reader *r) {
  size_t number = 0;
  for (unsigned shift = 0; shift < 8 * sizeof number; shift += 7) {
    int byte = get_byte(r);
    number |= (size_t)(byte & 127) << shift;
    if (!(byte & 128)) return number;
  }
  fail(r);
  return 0;
}

static hpar_string get_bytes(reader *r, size_t length) {
  hpar_string s = {(const char *)r->at, length};
  if (length > (size_t)(r->end - r->at)) {
    fail(r);
    return (hpar_string){"", 0};
  }
  r->at += length;
  return s;
}

static hpar_string get_string(reader *r) { return get_bytes(r, get_number(r)); }

static void add(reader *r, const char *bytes, size_t length) {
  if (!r->status) r->status = hp_py_write(bytes, length, &r->html);
}

static void add_text(reader *r, const char *text) { add(r, text, strlen(text)); }

/* Parses `html` as the children of an element without a parent, and returns the first one. */
static hpar_node parse_scratch(reader *r) {
  if (!r->status && !r->scratch)
    r->status = hpar_node_create_element(r->edit, HPAR_NAMESPACE_HTML, "div", 3, &r->scratch);
  if (!r->status) r->status = hpar_node_set_inner_html(r->edit, r->scratch, r->html.bytes, r->html.length);
  r->html.length = 0;
  return r->status ? HPAR_NO_NODE : hpar_node_first_child(r->tree, r->scratch);
}

typedef struct read_attribute {
  hpar_namespace ns;
  hpar_string prefix, local, value;
} read_attribute;

static read_attribute get_attribute(reader *r) {
  read_attribute a = {.ns = (hpar_namespace)get_byte(r)};
  a.prefix = get_string(r);
  a.local = get_string(r);
  a.value = get_string(r);
  return a;
}

static bool equal(hpar_string a, hpar_string b) { return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length); }

/* Reads the attributes that follow, and returns the end of the last one with a namespace: its index
 * plus one. An editor gives only attributes without one, and at the end, so that a parse makes all
 * attributes before it. */
static size_t count_until_namespace(reader *r, size_t count) {
  const unsigned char *const attributes = r->at;
  size_t until = 0;
  for (size_t i = 0; i < count && !r->status; i++)
    if (get_attribute(r).ns != HPAR_NAMESPACE_NONE) until = i + 1;
  if (!r->status) r->at = attributes;
  return until;
}

static void add_value(reader *r, hpar_string value) {
  add_text(r, "=\"");
  for (size_t i = 0; i < value.length; i++) {
    const char c = value.bytes[i];
    const char *reference = c == '&' ? "&amp;" : c == '"' ? "&quot;" : c == '\r' ? "&#13;" : NULL;
    if (reference)
      add_text(r, reference);
    else
      add(r, &c, 1);
  }
  add_text(r, "\"");
}

/* Returns whether the element has this name, and the attributes that follow, apart from the values of
 * those without a namespace. */
static bool is_element(reader *r, hpar_node node, hpar_namespace ns, hpar_string name, size_t count) {
  hpar_attribute a;
  bool same = hpar_node_kind(r->tree, node) == HPAR_NODE_ELEMENT && hpar_node_namespace(r->tree, node) == ns &&
              equal(hpar_node_name(r->tree, node), name) && hpar_node_attribute_count(r->tree, node) == count;
  for (size_t i = 0; same && i < count; i++) {
    read_attribute b = get_attribute(r);
    same = hpar_node_attribute_at(r->tree, node, i, &a) && a.ns == b.ns && equal(a.prefix, b.prefix) &&
           equal(a.local_name, b.local) && (b.ns == HPAR_NAMESPACE_NONE || equal(a.value, b.value));
  }
  return same;
}

/* Returns an element as a parse makes it, with the first `count` of the attributes that follow; 0 if
 * a parse makes another one. */
static hpar_node parse_element(reader *r, hpar_namespace ns, hpar_string name, size_t count) {
  const char *root = ns == HPAR_NAMESPACE_SVG ? "svg" : ns == HPAR_NAMESPACE_MATHML ? "math" : NULL;
  const bool is_below = root && !equal(name, (hpar_string){root, strlen(root)});
  const unsigned char *const attributes = r->at;
  if (is_below) {
    add_text(r, "<");
    add_text(r, root);
    add_text(r, ">");
  }
  add_text(r, "<");
  add(r, name.bytes, name.length);
  for (size_t i = 0; i < count && !r->status; i++) {
    read_attribute a = get_attribute(r);
    add_text(r, " ");
    if (a.prefix.length) add(r, a.prefix.bytes, a.prefix.length);
    if (a.prefix.length) add_text(r, ":");
    add(r, a.local.bytes, a.local.length);
    add_value(r, a.value);
  }
  add_text(r, ">");
  hpar_node node = parse_scratch(r);
  if (is_below) node = hpar_node_first_child(r->tree, node);
  if (r->status) return HPAR_NO_NODE;
  r->at = attributes;
  if (!is_element(r, node, ns, name, count)) node = HPAR_NO_NODE;
  r->at = attributes;
  if (node) r->status = hpar_node_remove(r->edit, node);
  return node;
}

/* Sets the attributes that follow, of which the element has the first `made`, perhaps with other
 * values. */
static void set_attributes(reader *r, hpar_node node, size_t made, size_t count) {
  hpar_attribute a;
  for (size_t i = 0; i < count && !r->status; i++) {
    const read_attribute b = get_attribute(r);
    if (r->status || b.ns != HPAR_NAMESPACE_NONE) continue;
    if (i < made && hpar_node_attribute_at(r->tree, node, i, &a) && equal(a.value, b.value)) continue;
    r->status = hpar_node_set_attribute(r->edit, node, b.local.bytes, b.local.length, b.value.bytes, b.value.length);
  }
}

/* Each attribute that is set copies those before it, so that a parse makes many. */
enum { MANY_ATTRIBUTES = 32 };

static hpar_node make_element(reader *r) {
  const hpar_namespace ns = (hpar_namespace)get_byte(r);
  const hpar_string name = get_string(r);
  const size_t count = get_number(r);
  hpar_node node = HPAR_NO_NODE;
  if (ns < HPAR_NAMESPACE_HTML || ns > HPAR_NAMESPACE_MATHML) fail(r);
  const size_t needed = count_until_namespace(r, count);
  size_t made = count;
  if (count > MANY_ATTRIBUTES && !r->status) node = parse_element(r, ns, name, count);
  if (!node && needed && !r->status) {
    made = needed;
    node = parse_element(r, ns, name, needed);
    if (!node) fail(r);
  }
  if (!node && !r->status) {
    made = 0;
    r->status = hpar_node_create_element(r->edit, ns, name.bytes, name.length, &node);
  }
  set_attributes(r, node, made, count);
  return node;
}

static hpar_node make_instruction(reader *r) {
  const hpar_string name = get_string(r), data = get_string(r);
  add_text(r, "<?");
  add(r, name.bytes, name.length);
  add_text(r, data.length ? " x?>" : "?>");
  hpar_node node = parse_scratch(r);
  if (r->status) return HPAR_NO_NODE;
  if (hpar_node_kind(r->tree, node) != HPAR_NODE_PROCESSING_INSTRUCTION || !equal(hpar_node_name(r->tree, node), name))
    fail(r);
  if (!r->status) r->status = hpar_node_remove(r->edit, node);
  /* The data may be such as no parse makes. */
  if (!r->status) r->status = hpar_node_set_text(r->edit, node, data.bytes, data.length);
  return node;
}

static hpar_node make_data(reader *r, bool text) {
  const hpar_string data = get_string(r);
  hpar_node node = HPAR_NO_NODE;
  if (r->status) return node;
  r->status = text ? hpar_node_create_text(r->edit, data.bytes, data.length, &node)
                   : hpar_node_create_comment(r->edit, data.bytes, data.length, &node);
  return node;
}

static hpar_node read_doctype(reader *r) {
  for (int i = 0; i < 3; i++) get_string(r);
  if (!r->doctype) fail(r);
  return r->doctype;
}

/* Links a node into the node that is open, unless it is the one whose parent is missing. The library
 * looks at all ancestors of the place of a node with descendants. Therefore a node is linked when it
 * is complete, and its parent has no ancestors yet. */
static void link_node(reader *r, hpar_node node) {
  if (r->status) return;
  const hpar_node parent = r->open.count ? r->open.nodes[r->open.count - 1] : r->top;
  if (parent)
    r->status = hpar_node_append(r->edit, parent, node);
  else if (!r->first)
    r->first = node;
  else
    fail(r);
}

static void open_node(reader *r, hpar_node node) {
  if (!r->status) r->status = push(&r->open, node);
}

/* Takes the open node of this kind off the stack. */
static hpar_node close_node(reader *r, hpar_node_type kind) {
  const hpar_node node = r->open.count ? r->open.nodes[r->open.count - 1] : HPAR_NO_NODE;
  if (!node || hpar_node_kind(r->tree, node) != kind)
    fail(r);
  else
    r->open.count--;
  return node;
}

static void open_contents(reader *r) {
  const hpar_node node = r->open.count ? r->open.nodes[r->open.count - 1] : HPAR_NO_NODE;
  const hpar_node contents = hpar_node_template_contents(r->tree, node);
  if (!contents) fail(r);
  open_node(r, contents);
}

static void read_nodes(reader *r) {
  while (r->at < r->end && !r->status) {
    switch (get_byte(r)) {
      case 'E': open_node(r, make_element(r)); break;
      case '/': link_node(r, close_node(r, HPAR_NODE_ELEMENT)); break;
      case '{': open_contents(r); break;
      case '}': close_node(r, HPAR_NODE_FRAGMENT); break;
      case 'T': link_node(r, make_data(r, true)); break;
      case 'C': link_node(r, make_data(r, false)); break;
      case 'P': link_node(r, make_instruction(r)); break;
      case 'D': link_node(r, read_doctype(r)); break;
      default: fail(r);
    }
  }
  if (r->open.count) fail(r);
}

static void close_reader(reader *r) {
  free(r->open.nodes);
  free(r->html.bytes);
}

/* The ways to write a doctype, of which one gives the quirks mode of the tree. Identifiers that are
 * empty in the tree may have been missing, or the input may have ended inside the doctype. */
enum { WITHOUT_EMPTY, WITH_EMPTY, UNFINISHED, WAYS };

static void write_identifier(reader *r, const char *keyword, hpar_string id) {
  const char *quote = memchr(id.bytes, '"', id.length) ? "'" : "\"";
  add_text(r, keyword);
  add_text(r, quote);
  add(r, id.bytes, id.length);
  add_text(r, quote);
}

static void write_doctype(reader *r, hpar_string name, hpar_string public_id, hpar_string system_id, int way) {
  const bool all = way == WITH_EMPTY;
  add_text(r, "<!DOCTYPE ");
  add(r, name.bytes, name.length);
  if (all || public_id.length) write_identifier(r, " PUBLIC ", public_id);
  if (all || system_id.length) write_identifier(r, all || public_id.length ? " " : " SYSTEM ", system_id);
  if (way != UNFINISHED) add_text(r, ">");
}

/* Writes the doctype that follows the header, or one for the quirks mode. */
static void write_base(reader *r, hpar_quirks wanted, int way) {
  static const hpar_string html = {"html", 4}, none = {"", 0};
  static const hpar_string limited = {"-//W3C//DTD XHTML 1.0 Transitional//EN", 38};
  const unsigned char *const begin = r->at;
  int kind = 'C';
  while (r->at < r->end && !r->status) {
    kind = get_byte(r);
    if (kind != 'C' && kind != 'P') break;
    get_string(r);
    if (kind == 'P') get_string(r);
  }
  if (kind == 'D') {
    const hpar_string name = get_string(r), public_id = get_string(r), system_id = get_string(r);
    write_doctype(r, name, public_id, system_id, way);
  } else if (wanted != HPAR_QUIRKS) {
    write_doctype(r, html, wanted == HPAR_LIMITED_QUIRKS ? limited : none, none, way);
  }
  if (!r->status) r->at = begin;
}

/* Parses a page whose doctype and quirks mode are those of the tree. */
static void parse_base(reader *r, hpar_parser *parser, const hpar_options *options, hpar_quirks wanted) {
  for (int way = 0; way < WAYS && !r->status; way++) {
    r->html.length = 0;
    if (!options->fragment) write_base(r, wanted, way);
    if (!r->status)
      r->status = hpar_parse(parser, options, r->html.bytes ? r->html.bytes : "", r->html.length, r->tree, NULL);
    if (options->fragment || hpar_document_quirks(r->tree) == wanted) break;
  }
  r->html.length = 0;
}

/* Leaves the doctype alone, without a parent. */
static void empty_base(reader *r) {
  hpar_node child;
  while (!r->status && (child = hpar_node_first_child(r->tree, hpar_document_root(r->tree)))) {
    if (hpar_node_kind(r->tree, child) == HPAR_NODE_DOCTYPE) r->doctype = child;
    r->status = hpar_node_remove(r->edit, child);
  }
}

/* Sets `*node` to the node that the bytes hold; 0: they hold a document. */
static hpar_status load(hp_py_document *d, hpar_parser *parser, const char *bytes, size_t length, hpar_node *node) {
  reader r = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + length, .tree = d->tree};
  if (get_byte(&r) != VERSION) fail(&r);
  const int flags = get_byte(&r);
  const hpar_quirks quirks = (hpar_quirks)get_byte(&r);
  const hpar_string encoding = get_string(&r);
  char label[64];
  if (encoding.length >= sizeof label) fail(&r);
  if (!r.status) {
    memcpy(label, encoding.bytes, encoding.length);
    label[encoding.length] = 0;
    d->summary.encoding = encoding.length ? hpar_encoding_name(label) : NULL;
  }
  d->scripting = flags & SCRIPTING;
  d->is_fragment = flags & FRAGMENT;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .scripting = d->scripting,
                          .copy_input = true, .fragment = d->is_fragment ? "div" : NULL};
  parse_base(&r, parser, &options, quirks);
  if (!r.status) r.status = hpar_document_edit(d->tree, &options, &r.edit, NULL);
  if (!r.status) {
    empty_base(&r);
    r.top = flags & ONE_NODE ? HPAR_NO_NODE : hpar_document_root(r.tree);
    read_nodes(&r);
  }
  if (flags & ONE_NODE && !r.status && !r.first) fail(&r);
  *node = flags & CONTENTS ? hpar_node_template_contents(r.tree, r.first) : r.first;
  hpar_document_finish_edit(d->tree);
  close_reader(&r);
  return r.status;
}

hpar_status hp_py_import(hpar_editor *edit, const hpar_document *from, hpar_node top, hpar_node *made) {
  const hpar_node_type kind = hpar_node_kind(from, top);
  if (kind == HPAR_NODE_DOCUMENT || kind == HPAR_NODE_DOCTYPE) return HPAR_ERROR_ARGUMENT;
  writer w = {.tree = from};
  put_top(&w, top);
  const unsigned char *bytes = (const unsigned char *)w.buffer.bytes;
  reader r = {.at = bytes, .edit = edit, .tree = hpar_editor_document(edit), .status = w.status};
  if (bytes) r.end = bytes + w.buffer.length;
  read_nodes(&r);
  if (!r.first) fail(&r);
  if (!r.status) *made = kind == HPAR_NODE_FRAGMENT ? hpar_node_template_contents(r.tree, r.first) : r.first;
  close_reader(&r);
  free(w.templates.nodes);
  free(w.buffer.bytes);
  return r.status;
}

PyObject *hp_py_load(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"data", "editable"};
  static const hp_py_signature signature = {"load", names, 2, 1, 2};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[2];
  hp_py_options options = {.c = {HPAR_OPTIONS_INIT}, .copy = 0};
  char *bytes;
  Py_ssize_t length;
  hpar_node node = HPAR_NO_NODE;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values) ||
      !hp_py_read_flag(values[1], &options.editable) || PyBytes_AsStringAndSize(values[0], &bytes, &length))
    return NULL;
  PyObject *nothing = PyBytes_FromStringAndSize(NULL, 0);
  hp_py_document *d = nothing ? hp_py_new_document(state, nothing, &options) : NULL;
  Py_XDECREF(nothing);
  hpar_parser *parser = d ? hp_py_take_parser(state) : NULL;
  if (!parser) {
    Py_XDECREF((PyObject *)d);
    return NULL;
  }
  d->fed = d->changed = true;
  Py_BEGIN_ALLOW_THREADS;
  d->status = load(d, parser, bytes, (size_t)length, &node);
  Py_END_ALLOW_THREADS;
  hp_py_return_parser(state, parser);
  PyObject *document = hp_py_check_document(d, d->status == HPAR_ERROR_ARGUMENT ? "the bytes hold no tree" : NULL);
  if (!document || !node) return document;
  PyObject *result = hp_py_new_node(d, node);
  Py_DECREF(document);
  return result;
}
