#include "support/model_dom.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *old, size_t bytes) {
  void *memory = realloc(old, bytes);
  if (!memory) abort();
  return memory;
}

static void set(buffer *to, const char *bytes, size_t length) {
  buffer_clear(to);
  buffer_add(to, bytes, length);
}

static bool equals(const buffer *expected, hpar_string got) {
  return expected->length == got.length && (!got.length || !memcmp(expected->bytes, got.bytes, got.length));
}

void model_free(model *of) {
  for (size_t i = 0; i < of->count; i++) {
    model_node *n = &of->nodes[i];
    buffer_free(&n->name);
    buffer_free(&n->data);
    for (size_t k = 0; k < n->attribute_count; k++) {
      buffer_free(&n->attributes[k].name);
      buffer_free(&n->attributes[k].value);
    }
    free(n->attributes);
    free(n->children);
  }
  free(of->nodes);
  *of = (model){0};
}

static size_t add(model *to, hpar_node handle, hpar_node_type kind) {
  if (!to->count) {
    to->nodes = grown(NULL, sizeof *to->nodes);
    to->nodes[to->count++] = (model_node){0};
  }
  to->nodes = grown(to->nodes, (to->count + 1) * sizeof *to->nodes);
  to->nodes[to->count] = (model_node){.handle = handle, .kind = kind};
  return to->count++;
}

static void add_child(model *of, size_t parent, size_t node, size_t at) {
  model_node *p = &of->nodes[parent];
  p->children = grown(p->children, (p->child_count + 1) * sizeof *p->children);
  memmove(p->children + at + 1, p->children + at, (p->child_count - at) * sizeof *p->children);
  p->children[at] = node;
  p->child_count++;
  of->nodes[node].parent = parent;
}

static void add_attribute(model_node *n, hpar_namespace ns, hpar_string name, hpar_string value) {
  n->attributes = grown(n->attributes, (n->attribute_count + 1) * sizeof *n->attributes);
  model_attribute *a = &n->attributes[n->attribute_count++];
  *a = (model_attribute){.ns = ns};
  buffer_add(&a->name, name.bytes, name.length);
  buffer_add(&a->value, value.bytes, value.length);
}

/* Adds one node with its own properties. */
static size_t add_plain(model *to, const hpar_document *d, hpar_node handle) {
  size_t node = add(to, handle, hpar_node_kind(d, handle));
  model_node *n = &to->nodes[node];
  n->ns = hpar_node_namespace(d, handle);
  hpar_string name = hpar_node_name(d, handle), data = hpar_node_data(d, handle);
  buffer_add(&n->name, name.bytes, name.length);
  buffer_add(&n->data, data.bytes, data.length);
  hpar_attribute a;
  for (size_t i = 0; hpar_node_attribute_at(d, handle, i, &a); i++) add_attribute(n, a.ns, a.local_name, a.value);
  return node;
}

size_t model_add(model *to, const hpar_document *d, hpar_node top) {
  size_t node = add_plain(to, d, top);
  for (hpar_node child = hpar_node_first_child(d, top); child; child = hpar_node_next(d, child)) {
    size_t made = model_add(to, d, child);
    add_child(to, node, made, to->nodes[node].child_count);
  }
  hpar_node contents = hpar_node_template_contents(d, top);
  if (contents) {
    size_t made = model_add(to, d, contents);
    to->nodes[node].contents = made;
  }
  return node;
}

size_t model_add_node(model *to, hpar_node handle, hpar_node_type kind, const char *text) {
  size_t node = add(to, handle, kind);
  buffer_text(kind == HPAR_NODE_ELEMENT ? &to->nodes[node].name : &to->nodes[node].data, text);
  return node;
}

/*** changes ***/

static size_t host_of(const model *of, size_t node) {
  for (size_t i = 1; i < of->count; i++)
    if (of->nodes[i].contents == node) return i;
  return 0;
}

static bool contains(const model *of, size_t node, size_t inside) {
  while (inside && inside != node) {
    size_t parent = of->nodes[inside].parent;
    inside = parent ? parent : of->nodes[inside].kind == HPAR_NODE_FRAGMENT ? host_of(of, inside) : 0;
  }
  return inside != 0;
}

static size_t index_of(const model *of, size_t node) {
  const model_node *p = &of->nodes[of->nodes[node].parent];
  size_t i = 0;
  while (p->children[i] != node) i++;
  return i;
}

/* Returns whether a child of the document node from index `first` on has the kind. */
static bool has_kind(const model *of, size_t first, hpar_node_type kind) {
  const model_node *root = &of->nodes[1];
  for (size_t i = first; i < root->child_count; i++)
    if (of->nodes[root->children[i]].kind == kind) return true;
  return false;
}

/* Returns whether the document node of a page may take the node before its child `before`. */
static bool fits_page(const model *of, size_t node, size_t before) {
  size_t at = before ? index_of(of, before) : of->nodes[1].child_count;
  switch (of->nodes[node].kind) {
    case HPAR_NODE_ELEMENT: return !has_kind(of, 0, HPAR_NODE_ELEMENT) && !has_kind(of, at, HPAR_NODE_DOCTYPE);
    case HPAR_NODE_DOCTYPE: {
      if (has_kind(of, 0, HPAR_NODE_DOCTYPE)) return false;
      for (size_t i = 0; i < at; i++)
        if (of->nodes[of->nodes[1].children[i]].kind == HPAR_NODE_ELEMENT) return false;
      return true;
    }
    case HPAR_NODE_COMMENT:
    case HPAR_NODE_PROCESSING_INSTRUCTION: return true;
    default: return false;
  }
}

static bool fits(const model *of, size_t parent, size_t node, size_t before) {
  hpar_node_type into = of->nodes[parent].kind, kind = of->nodes[node].kind;
  if (into != HPAR_NODE_DOCUMENT && into != HPAR_NODE_FRAGMENT && into != HPAR_NODE_ELEMENT) return false;
  if (kind == HPAR_NODE_DOCUMENT || (kind == HPAR_NODE_DOCTYPE && into != HPAR_NODE_DOCUMENT)) return false;
  if ((before && of->nodes[before].parent != parent) || contains(of, node, parent)) return false;
  if (into != HPAR_NODE_DOCUMENT) return true;
  if (of->is_fragment) return kind != HPAR_NODE_DOCTYPE;
  if (kind != HPAR_NODE_FRAGMENT) return fits_page(of, node, before);
  unsigned elements = 0;
  for (size_t i = 0; i < of->nodes[node].child_count; i++) {
    size_t child = of->nodes[node].children[i];
    elements += of->nodes[child].kind == HPAR_NODE_ELEMENT;
    if (!fits_page(of, child, before) || elements > 1) return false;
  }
  return true;
}

void model_remove(model *of, size_t node) {
  if (!of->nodes[node].parent) return;
  model_node *p = &of->nodes[of->nodes[node].parent];
  size_t at = index_of(of, node);
  memmove(p->children + at, p->children + at + 1, (--p->child_count - at) * sizeof *p->children);
  of->nodes[node].parent = 0;
}

bool model_insert(model *of, size_t parent, size_t node, size_t before) {
  if (!fits(of, parent, node, before)) return false;
  if (of->nodes[node].kind == HPAR_NODE_FRAGMENT) {
    while (of->nodes[node].child_count) {
      size_t child = of->nodes[node].children[0];
      model_remove(of, child);
      add_child(of, parent, child, before ? index_of(of, before) : of->nodes[parent].child_count);
    }
    return true;
  }
  if (before == node) {
    size_t at = index_of(of, node);
    before = at + 1 < of->nodes[parent].child_count ? of->nodes[parent].children[at + 1] : 0;
  }
  model_remove(of, node);
  add_child(of, parent, node, before ? index_of(of, before) : of->nodes[parent].child_count);
  return true;
}

static size_t find_attribute(const model_node *n, const char *name) {
  size_t i = 0;
  for (; i < n->attribute_count; i++)
    if (n->attributes[i].ns == HPAR_NAMESPACE_NONE && equals(&n->attributes[i].name, (hpar_string){name, strlen(name)}))
      break;
  return i;
}

void model_set_attribute(model *of, size_t element, const char *name, const char *value) {
  model_node *n = &of->nodes[element];
  size_t i = find_attribute(n, name);
  if (i < n->attribute_count)
    set(&n->attributes[i].value, value, strlen(value));
  else
    add_attribute(n, HPAR_NAMESPACE_NONE, (hpar_string){name, strlen(name)}, (hpar_string){value, strlen(value)});
}

void model_remove_attribute(model *of, size_t element, const char *name) {
  model_node *n = &of->nodes[element];
  size_t i = find_attribute(n, name);
  if (i == n->attribute_count) return;
  buffer_free(&n->attributes[i].name);
  buffer_free(&n->attributes[i].value);
  memmove(n->attributes + i, n->attributes + i + 1, (--n->attribute_count - i) * sizeof *n->attributes);
}

void model_set_data(model *of, size_t node, const char *data) { set(&of->nodes[node].data, data, strlen(data)); }

/* Replaces the handles of the subtree by those of the document, as far as both have the same
 * form. */
static void take_handles(model *of, size_t node, const hpar_document *d, hpar_node handle) {
  of->nodes[node].handle = handle;
  hpar_node child = hpar_node_first_child(d, handle);
  for (size_t i = 0; i < of->nodes[node].child_count && child; i++, child = hpar_node_next(d, child))
    take_handles(of, of->nodes[node].children[i], d, child);
  if (of->nodes[node].contents) take_handles(of, of->nodes[node].contents, d, hpar_node_template_contents(d, handle));
}

void model_set_children(model *of, size_t element, const hpar_document *from, const hpar_document *document) {
  size_t into = of->nodes[element].contents ? of->nodes[element].contents : element;
  while (of->nodes[into].child_count) model_remove(of, of->nodes[into].children[0]);
  hpar_node child = hpar_node_first_child(from, hpar_document_root(from));
  for (; child; child = hpar_node_next(from, child)) {
    size_t made = model_add(of, from, child);
    add_child(of, into, made, of->nodes[into].child_count);
  }
  hpar_node handle = hpar_node_first_child(document, of->nodes[into].handle);
  for (size_t i = 0; i < of->nodes[into].child_count && handle; i++, handle = hpar_node_next(document, handle))
    take_handles(of, of->nodes[into].children[i], document, handle);
}

static bool alike(const model *of, size_t copy, size_t origin, bool deep) {
  const model_node *a = &of->nodes[copy], *b = &of->nodes[origin];
  if (a->handle == b->handle || a->kind != b->kind || a->ns != b->ns || a->attribute_count != b->attribute_count)
    return false;
  if (!equals(&a->name, (hpar_string){b->name.bytes, b->name.length})) return false;
  if (!equals(&a->data, (hpar_string){b->data.bytes, b->data.length})) return false;
  for (size_t i = 0; i < a->attribute_count; i++) {
    const model_attribute *x = &a->attributes[i], *y = &b->attributes[i];
    if (x->ns != y->ns || !equals(&x->name, (hpar_string){y->name.bytes, y->name.length}) ||
        !equals(&x->value, (hpar_string){y->value.bytes, y->value.length}))
      return false;
  }
  if (!a->contents != !b->contents || a->child_count != (deep ? b->child_count : 0)) return false;
  for (size_t i = 0; i < a->child_count; i++)
    if (!alike(of, a->children[i], b->children[i], true)) return false;
  if (!a->contents) return true;
  return deep ? alike(of, a->contents, b->contents, true) : of->nodes[a->contents].child_count == 0;
}

size_t model_add_clone(model *to, const hpar_document *document, hpar_node copy, size_t origin, bool deep,
                       const char **problem) {
  size_t made = model_add(to, document, copy);
  *problem = alike(to, made, origin, deep) ? NULL : "a copy differs from its origin";
  return made;
}

/*** comparison ***/

static hpar_node handle_at(const model *of, size_t node) { return node ? of->nodes[node].handle : HPAR_NO_NODE; }

static const char *compare_attributes(const model_node *n, const hpar_document *d) {
  hpar_attribute a;
  if (hpar_node_attribute_count(d, n->handle) != n->attribute_count) return "the number of attributes";
  for (size_t i = 0; i < n->attribute_count; i++) {
    if (!hpar_node_attribute_at(d, n->handle, i, &a) || a.ns != n->attributes[i].ns) return "an attribute";
    if (!equals(&n->attributes[i].name, a.local_name)) return "the name of an attribute";
    if (!equals(&n->attributes[i].value, a.value)) return "the value of an attribute";
  }
  return NULL;
}

static const char *compare_node(const model *of, size_t node, const hpar_document *d) {
  const model_node *n = &of->nodes[node];
  if (hpar_node_kind(d, n->handle) != n->kind) return "a kind";
  if (hpar_node_namespace(d, n->handle) != n->ns) return "a namespace";
  if (!equals(&n->name, hpar_node_name(d, n->handle))) return "a name";
  if (!equals(&n->data, hpar_node_data(d, n->handle))) return "data";
  if (hpar_node_parent(d, n->handle) != handle_at(of, n->parent)) return "a parent";
  if (hpar_node_template_contents(d, n->handle) != handle_at(of, n->contents)) return "template contents";
  size_t count = n->child_count;
  if (hpar_node_first_child(d, n->handle) != handle_at(of, count ? n->children[0] : 0)) return "a first child";
  if (hpar_node_last_child(d, n->handle) != handle_at(of, count ? n->children[count - 1] : 0)) return "a last child";
  for (size_t i = 0; i < count; i++) {
    hpar_node child = handle_at(of, n->children[i]);
    if (hpar_node_next(d, child) != handle_at(of, i + 1 < count ? n->children[i + 1] : 0)) return "a next sibling";
    if (hpar_node_previous(d, child) != handle_at(of, i ? n->children[i - 1] : 0)) return "a previous sibling";
  }
  return n->kind == HPAR_NODE_ELEMENT ? compare_attributes(n, d) : NULL;
}

const char *model_compare(const model *of, const hpar_document *document) {
  const char *problem = NULL;
  for (size_t i = 1; i < of->count && !problem; i++) problem = compare_node(of, i, document);
  return problem;
}
