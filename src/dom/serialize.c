#include "dom/serialize.h"

#include "base/memory.h"
#include "base/names.h"
#include "dom/node.h"

enum { OUTPUT_BYTES = 64 * 1024 };

/*** a buffer before the caller's sink ***/

/* `status` keeps the first failure of the sink or of memory. Later writes do nothing. */
typedef struct output {
  char *buffer; /* OUTPUT_BYTES */
  size_t used;
  const hpar_document *document;
  hpar_write_callback write;
  void *context;
  hpar_status status;
} output;

/* Returns false if the document or `write` is missing. May set `status`. */
static bool open_output(output *out, const hpar_document *document, hpar_write_callback write, void *context) {
  if (!document || !write) return false;
  hp_begin_reading(&document->use);
  *out = (output){hp_allocate(OUTPUT_BYTES), 0, document, write, context, HPAR_OK};
  if (!out->buffer) {
    out->status = HPAR_ERROR_MEMORY;
    out->used = OUTPUT_BYTES; /* every write takes the slow path, which reads the status */
  }
  return true;
}

static void flush(output *out) {
  if (out->status) return;
  if (out->used) out->status = out->write(out->buffer, out->used, out->context);
  out->used = out->status ? OUTPUT_BYTES : 0;
}

/* Writes the rest of the buffer and frees it. Returns the status. */
static hpar_status close_output(output *out) {
  flush(out);
  hp_free(out->buffer);
  hp_document_end_reading(out->document);
  return out->status;
}

/* Writes bytes that do not fit in the buffer. */
static __attribute__((noinline)) void put_long(output *out, const char *bytes, size_t length) {
  flush(out);
  if (out->status) return;
  if (length < OUTPUT_BYTES) {
    memcpy(out->buffer, bytes, length);
    out->used = length;
    return;
  }
  out->status = out->write(bytes, length, out->context);
  if (out->status) out->used = OUTPUT_BYTES;
}

static inline void put_bytes(output *out, const char *bytes, size_t length) {
  if (length <= OUTPUT_BYTES - out->used) {
    memcpy(out->buffer + out->used, bytes, length);
    out->used += length;
  } else {
    put_long(out, bytes, length);
  }
}

static inline void put_byte(output *out, char byte) { put_bytes(out, &byte, 1); }
static inline void put_string(output *out, hpar_string string) { put_bytes(out, string.bytes, string.length); }
#define PUT(out, text) put_bytes((out), (text), sizeof(text) - 1)
#define PUT_BETWEEN(out, before, string, after) (PUT(out, before), put_string(out, string), PUT(out, after))

static void put_spaces(output *out, size_t count) {
  static const char spaces[] = "                                                                "
                               "                                                                ";
  const size_t block = sizeof spaces - 1;
  for (; count > block; count -= block) put_bytes(out, spaces, block);
  put_bytes(out, spaces, count);
}

/*** a walk of the tree ***/

/* A walk of a tree: it enters or leaves `node`. The contents of a template precede the template's
 * children, one level down, as a fragment node. A fragment has no parent: `templates` keeps the
 * way back. With `replaces`, the contents stand in for the children, which only an edit makes. */
typedef struct tree_walk {
  const hpar_document *document;
  hpar_node top, node;
  bool leaving, replaces;
  size_t depth; /* children of `top`: 0 */
  hpar_node *templates;
  size_t template_count, template_capacity;
} tree_walk;

/* Starts the walk at the first child of `top`, or at its template contents if there are any. */
static void open_walk(tree_walk *walk, const hpar_document *document, hpar_node top) {
  *walk = (tree_walk){.document = document, .top = top, .node = top};
}

static void close_walk(tree_walk *walk) { hp_free(walk->templates); }

static bool remember_template(tree_walk *walk, hpar_node element) {
  if (walk->template_count == walk->template_capacity) {
    size_t capacity = walk->template_capacity ? walk->template_capacity * 2 : 16;
    hpar_node *grown = hp_reallocate(walk->templates, capacity * sizeof *grown);
    if (!grown) return false;
    walk->templates = grown;
    walk->template_capacity = capacity;
  }
  walk->templates[walk->template_count++] = element;
  return true;
}

static bool enter(tree_walk *walk, hpar_node node) {
  walk->node = node;
  walk->leaving = false;
  return true;
}

static bool leave(tree_walk *walk, hpar_node node) {
  if (node == walk->top) return false;
  walk->node = node;
  walk->leaving = true;
  walk->depth--;
  return true;
}

/* Moves to the next node. Returns false at the end, and if out of memory; then *status is set. */
static bool step(tree_walk *walk, hpar_status *status) {
  const hpar_document *document = walk->document;
  if (!walk->node) return false;
  if (!walk->leaving) {
    hpar_node inner = hpar_node_template_contents(document, walk->node);
    if (inner && !remember_template(walk, walk->node)) {
      *status = HPAR_ERROR_MEMORY;
      return false;
    }
    if (!inner) inner = hpar_node_first_child(document, walk->node);
    if (!inner && walk->node == walk->top) return false;
    if (inner) {
      if (walk->node != walk->top) walk->depth++;
      return enter(walk, inner);
    }
    walk->leaving = true;
    return true;
  }
  if (hpar_node_kind(document, walk->node) == HPAR_NODE_FRAGMENT) {
    hpar_node element = walk->templates[--walk->template_count];
    hpar_node child = walk->replaces ? HPAR_NO_NODE : hpar_node_first_child(document, element);
    return child ? enter(walk, child) : leave(walk, element);
  }
  hpar_node next = hpar_node_next(document, walk->node);
  return next ? enter(walk, next) : leave(walk, hpar_node_parent(document, walk->node));
}

hpar_status hp_copy_piece(const char *bytes, size_t length, void *copy) {
  hp_copy *c = copy;
  size_t room = c->capacity > c->length ? c->capacity - c->length : 0, n = length < room ? length : room;
  if (n) memcpy(c->to + c->length, bytes, n);
  c->length += length;
  return HPAR_OK;
}

/* The HTML fragment serialisation algorithm. The serialiser copies the text between escaped
 * characters in one piece. A table of 256 entries finds these characters. */

enum { PLAIN, AMPERSAND, LESS, GREATER, QUOTE, TWO_BYTES };

static const unsigned char special[256] = {
    /* U+00A0 is C2 A0. */
    ['&'] = AMPERSAND,
    ['<'] = LESS,
    ['>'] = GREATER,
    ['"'] = QUOTE,
    [0xC2] = TWO_BYTES};

//§ escapingString
static void write_escaped(output *out, hpar_string string, bool attribute) {
  const char *at = string.bytes, *end = at + string.length, *run = at;
  for (; at < end; at++) {
    unsigned char class = special[(unsigned char)*at];
    if (class == PLAIN || (class == QUOTE && !attribute)) continue;
    if (class == TWO_BYTES && (end - at < 2 || (unsigned char)at[1] != 0xA0)) continue;
    put_bytes(out, run, (size_t)(at - run));
    switch (class) {
      case AMPERSAND: PUT(out, "&amp;"); break;
      case LESS: PUT(out, "&lt;"); break;
      case GREATER: PUT(out, "&gt;"); break;
      case QUOTE: PUT(out, "&quot;"); break;
      default:
        PUT(out, "&nbsp;");
        at++;
        break;
    }
    run = at + 1;
  }
  put_bytes(out, run, (size_t)(end - run));
}

static hp_atom html_name(const hpar_document *document, hpar_node node) {
  if (hpar_node_namespace(document, node) != HPAR_NAMESPACE_HTML) return HP_NO_ATOM;
  return hp_node_at(document->range.base, node)->name;
}

//§ serializes-as-void
static bool serializes_as_void(const hpar_document *document, hpar_node node) {
  switch (html_name(document, node)) {
    case HP_ANY(AREA, BASE, BR, COL, EMBED, HR, IMG, INPUT, LINK, META, SOURCE, TRACK):
    case HP_ANY(WBR, BASEFONT, BGSOUND, FRAME, KEYGEN, PARAM): return true;
    default: return false;
  }
}

static bool holds_raw_text(const hpar_document *document, hpar_node parent, bool scripting) {
  switch (html_name(document, parent)) {
    case HP_ANY(STYLE, SCRIPT, XMP, IFRAME, NOEMBED, NOFRAMES, PLAINTEXT): return true;
    case HP_ATOM_NOSCRIPT: return scripting;
    default: return false;
  }
}

static void write_start_tag(output *out, const hpar_document *document, hpar_node element) {
  put_byte(out, '<');
  put_string(out, hpar_node_name(document, element));
  hpar_attribute attribute;
  for (size_t i = 0; hpar_node_attribute_at(document, element, i, &attribute); i++) {
    put_byte(out, ' ');
    if (attribute.prefix.length) {
      put_string(out, attribute.prefix);
      put_byte(out, ':');
    }
    put_string(out, attribute.local_name);
    PUT(out, "=\"");
    write_escaped(out, attribute.value, true);
    put_byte(out, '"');
  }
  put_byte(out, '>');
}

static void write_node(output *out, const hpar_document *document, hpar_node node, bool scripting) {
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_ELEMENT: write_start_tag(out, document, node); break;
    case HPAR_NODE_TEXT:
      if (holds_raw_text(document, hpar_node_parent(document, node), scripting))
        put_string(out, hpar_node_data(document, node));
      else
        write_escaped(out, hpar_node_data(document, node), false);
      break;
    case HPAR_NODE_COMMENT: PUT_BETWEEN(out, "<!--", hpar_node_data(document, node), "-->"); break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      PUT_BETWEEN(out, "<?", hpar_node_name(document, node), " ");
      PUT_BETWEEN(out, "", hpar_node_data(document, node), "?>");
      break;
    case HPAR_NODE_DOCTYPE: PUT_BETWEEN(out, "<!DOCTYPE ", hpar_node_name(document, node), ">"); break;
    default: break;
  }
}

static void write_end_tag(output *out, const hpar_document *document, hpar_node element) {
  PUT_BETWEEN(out, "</", hpar_node_name(document, element), ">");
}

//§ html-fragment-serialisation-algorithm
static void write_children(output *out, const hpar_document *document, hpar_node node, bool scripting) {
  hpar_node contents = hpar_node_template_contents(document, node);
  if (serializes_as_void(document, node)) return;
  tree_walk walk;
  open_walk(&walk, document, contents ? contents : node);
  walk.replaces = true;
  while (!out->status && step(&walk, &out->status)) {
    if (!walk.leaving) {
      write_node(out, document, walk.node, scripting);
      if (serializes_as_void(document, walk.node)) walk.leaving = true;
    } else if (hpar_node_kind(document, walk.node) == HPAR_NODE_ELEMENT) {
      write_end_tag(out, document, walk.node);
    }
  }
  close_walk(&walk);
}

hpar_status hpar_serialize_html(const hpar_document *document, hpar_node node, unsigned flags,
                                hpar_write_callback write, void *context) {
  const bool scripting = flags & HPAR_HTML_SCRIPTING, outer = flags & HPAR_HTML_OUTER;
  output out;
  if (flags & ~(unsigned)(HPAR_HTML_OUTER | HPAR_HTML_SCRIPTING)) return HPAR_ERROR_ARGUMENT;
  if (!open_output(&out, document, write, context)) return HPAR_ERROR_ARGUMENT;
  if (outer) write_node(&out, document, node, scripting);
  write_children(&out, document, node, scripting);
  if (outer && hpar_node_kind(document, node) == HPAR_NODE_ELEMENT && !serializes_as_void(document, node))
    write_end_tag(&out, document, node);
  return close_output(&out);
}

size_t hpar_serialize_html_copy(const hpar_document *document, hpar_node node, unsigned flags, char *buffer,
                                size_t capacity) {
  hp_copy c = {buffer, 0, buffer ? capacity : 0};
  return hpar_serialize_html(document, node, flags, hp_copy_piece, &c) == HPAR_OK ? c.length : 0;
}

/*** the tree in the format of html5lib-tests: one line for each node and attribute ***/

/* An attribute's displayed name is designator, space, local name. The namespace determines the
 * designator, so that `xmlns` becomes "xmlns xmlns". */
typedef struct line_list {
  hpar_attribute *items; /* `prefix` holds the designator */
  size_t capacity;
} line_list;

static void begin_line(output *out, size_t depth) {
  PUT(out, "| ");
  put_spaces(out, depth * 2);
}

static hpar_string designator(hpar_namespace ns) {
  switch (ns) {
    case HPAR_NAMESPACE_SVG: return (hpar_string){"svg", 3};
    case HPAR_NAMESPACE_MATHML: return (hpar_string){"math", 4};
    case HPAR_NAMESPACE_XLINK: return (hpar_string){"xlink", 5};
    case HPAR_NAMESPACE_XML: return (hpar_string){"xml", 3};
    case HPAR_NAMESPACE_XMLNS: return (hpar_string){"xmlns", 5};
    default: return (hpar_string){"", 0};
  }
}

static void write_name(output *out, hpar_string prefix, hpar_string local_name) {
  if (prefix.length) {
    put_string(out, prefix);
    put_byte(out, ' ');
  }
  put_string(out, local_name);
}

/* Returns a byte of the displayed name as a sort key; -1 is the end. UTF-8 sorts by code point.
 * UTF-16 sorts surrogates, and with them all characters after U+FFFF, before U+E000. */
static int rank_at(const hpar_attribute *attribute, size_t index) {
  const hpar_string *prefix = &attribute->prefix, *name = &attribute->local_name;
  unsigned char byte;
  if (prefix->length && index <= prefix->length) {
    byte = index < prefix->length ? (unsigned char)prefix->bytes[index] : ' ';
  } else {
    if (prefix->length) index -= prefix->length + 1;
    if (index >= name->length) return -1;
    byte = (unsigned char)name->bytes[index];
  }
  return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

static bool before(const hpar_attribute *a, const hpar_attribute *b) {
  for (size_t i = 0;; i++) {
    int x = rank_at(a, i), y = rank_at(b, i);
    if (x != y) return x < y;
    if (x < 0) return false;
  }
}

static void sift_down(hpar_attribute *items, size_t root, size_t count) {
  hpar_attribute moved = items[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && before(&items[child], &items[child + 1])) child++;
    if (!before(&moved, &items[child])) break;
    items[root] = items[child];
  }
  items[root] = moved;
}

/* Sorts in place by heap sort: O(n log n) even for adversarial input with 100,000 attributes. */
static void sort_attributes(hpar_attribute *items, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift_down(items, i, count);
  for (size_t left = count; left-- > 1;) {
    hpar_attribute last = items[left];
    items[left] = items[0];
    items[0] = last;
    sift_down(items, 0, left);
  }
}

static void write_tree_attributes(output *out, const hpar_document *document, hpar_node element, size_t depth,
                                  line_list *list) {
  size_t count = hpar_node_attribute_count(document, element);
  if (!count) return;
  if (count > list->capacity) {
    hpar_attribute *grown = hp_reallocate(list->items, (count + 16) * sizeof *grown);
    if (!grown) {
      out->status = HPAR_ERROR_MEMORY;
      return;
    }
    list->items = grown;
    list->capacity = count + 16;
  }
  for (size_t i = 0; i < count; i++) {
    hpar_node_attribute_at(document, element, i, &list->items[i]);
    list->items[i].prefix = designator(list->items[i].ns);
  }
  sort_attributes(list->items, count);
  for (size_t i = 0; i < count; i++) {
    begin_line(out, depth);
    write_name(out, list->items[i].prefix, list->items[i].local_name);
    PUT_BETWEEN(out, "=\"", list->items[i].value, "\"\n");
  }
}

static void write_tree_doctype(output *out, const hpar_document *document, hpar_node node) {
  hpar_string public_id = hpar_node_public_id(document, node), system_id = hpar_node_system_id(document, node);
  PUT(out, "<!DOCTYPE ");
  put_string(out, hpar_node_name(document, node));
  if (public_id.length || system_id.length) {
    PUT_BETWEEN(out, " \"", public_id, "\"");
    PUT_BETWEEN(out, " \"", system_id, "\"");
  }
  PUT(out, ">\n");
}

static void write_tree_node(output *out, const hpar_document *document, hpar_node node, size_t depth, line_list *list) {
  begin_line(out, depth);
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_ELEMENT:
      put_byte(out, '<');
      write_name(out, designator(hpar_node_namespace(document, node)), hpar_node_name(document, node));
      PUT(out, ">\n");
      write_tree_attributes(out, document, node, depth + 1, list);
      break;
    case HPAR_NODE_FRAGMENT: PUT(out, "content\n"); break;
    case HPAR_NODE_TEXT: PUT_BETWEEN(out, "\"", hpar_node_data(document, node), "\"\n"); break;
    case HPAR_NODE_COMMENT: PUT_BETWEEN(out, "<!-- ", hpar_node_data(document, node), " -->\n"); break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      PUT_BETWEEN(out, "<?", hpar_node_name(document, node), " ");
      PUT_BETWEEN(out, "", hpar_node_data(document, node), "?>\n");
      break;
    case HPAR_NODE_DOCTYPE: write_tree_doctype(out, document, node); break;
    default: break; /* a walk neither enters the document nor leaves the tree */
  }
}

hpar_status hpar_serialize_tree(const hpar_document *document, hpar_node node, hpar_write_callback write,
                                void *context) {
  output out;
  if (!open_output(&out, document, write, context)) return HPAR_ERROR_ARGUMENT;
  tree_walk walk;
  open_walk(&walk, document, node);
  line_list list = {NULL, 0};
  while (!out.status && step(&walk, &out.status)) {
    if (!walk.leaving) write_tree_node(&out, document, walk.node, walk.depth, &list);
  }
  hp_free(list.items);
  close_walk(&walk);
  return close_output(&out);
}
