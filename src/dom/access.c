/* The public functions that read the tree. Most take a few loads: a handle is the node's reference,
 * and strings point into the input or the arenas. hpar_node_parent passes the splice anchors
 * between a node and its parent (node.h). */

#include "base/bytes.h"
#include "dom/tag.h"
#include "dom/value.h"

#include <stdatomic.h>
#include <string.h>

static const hpar_string empty = {"", 0};

static hp_node *at(const hpar_document *document, hpar_node node) { return hp_node_at(document->range.base, node); }

static hpar_string string_of(const char *bytes, size_t length) {
  return bytes && length ? (hpar_string){bytes, length} : empty;
}

static hpar_string name_string(const hpar_document *document, hp_atom atom) {
  hp_name name = hp_atom_name(&document->atoms, atom);
  return string_of(name.bytes, name.length);
}

/* A missing document has no nodes. */
static bool is_node(const hpar_document *document, hpar_node node) { return document && node; }

static bool is_element(const hpar_document *document, hpar_node node) {
  return is_node(document, node) && at(document, node)->kind == HPAR_NODE_ELEMENT;
}

static const hp_attributes *attributes_of(const hpar_document *document, hpar_node element) {
  if (!is_element(document, element)) return NULL;
  hp_ref block = at(document, element)->attributes;
  return block ? hp_at(document->range.base, block) : NULL;
}

hpar_node hpar_document_root(const hpar_document *document) { return document ? document->root : HPAR_NO_NODE; }

/* Returns the first child of HTML that has one of these names. */
static hpar_node child_named(const hpar_document *document, hpar_node parent, hp_atom name, hp_atom other) {
  hpar_node child = hpar_node_first_child(document, parent);
  for (; child; child = hpar_node_next(document, child)) {
    const hp_node *n = at(document, child);
    if (n->kind == HPAR_NODE_ELEMENT && n->ns == HPAR_NAMESPACE_HTML && (n->name == name || n->name == other)) break;
  }
  return child;
}

hpar_node hpar_document_html(const hpar_document *document) {
  return child_named(document, hpar_document_root(document), HP_ATOM_HTML, HP_ATOM_HTML);
}

hpar_node hpar_document_head(const hpar_document *document) {
  return child_named(document, hpar_document_html(document), HP_ATOM_HEAD, HP_ATOM_HEAD);
}

hpar_node hpar_document_body(const hpar_document *document) {
  return child_named(document, hpar_document_html(document), HP_ATOM_BODY, HP_ATOM_FRAMESET);
}

hpar_node hpar_document_title(const hpar_document *document) {
  hpar_node root = hpar_document_root(document), node = root;
  for (; node; node = hpar_node_walk(document, root, node)) {
    const hp_node *n = at(document, node);
    if (n->kind == HPAR_NODE_ELEMENT && n->ns == HPAR_NAMESPACE_HTML && n->name == HP_ATOM_TITLE) break;
  }
  return node;
}

hpar_quirks hpar_document_quirks(const hpar_document *document) { return document ? document->quirks : HPAR_NO_QUIRKS; }

size_t hpar_document_memory(const hpar_document *document) { return document ? hp_range_used(&document->range) : 0; }

hpar_node_type hpar_node_kind(const hpar_document *document, hpar_node node) {
  return is_node(document, node) ? (hpar_node_type)at(document, node)->kind : HPAR_NODE_NONE;
}

hpar_namespace hpar_node_namespace(const hpar_document *document, hpar_node node) {
  return is_element(document, node) ? (hpar_namespace)at(document, node)->ns : HPAR_NAMESPACE_NONE;
}

hpar_tag hpar_node_tag(const hpar_document *document, hpar_node node) {
  if (!is_element(document, node)) return HPAR_TAG_NONE;
  hp_atom name = at(document, node)->name;
  if (name >= HP_TESTED_TAGS || name == HP_ATOM_FOREIGNOBJECT) return HPAR_TAG_UNKNOWN;
  return (hpar_tag)(name + 1);
}

hpar_string hpar_node_name(const hpar_document *document, hpar_node node) {
  if (!is_node(document, node)) return empty;
  const hp_node *n = at(document, node);
  switch (n->kind) {
    case HPAR_NODE_ELEMENT: return name_string(document, n->name);
    case HPAR_NODE_PROCESSING_INSTRUCTION: return name_string(document, n->target);
    case HPAR_NODE_DOCTYPE: return string_of(n->doctype->name.bytes, n->doctype->name.length);
    default: return empty;
  }
}

hpar_string hpar_node_data(const hpar_document *document, hpar_node node) {
  if (!is_node(document, node)) return empty;
  const hp_node *n = at(document, node);
  switch (n->kind) {
    case HPAR_NODE_TEXT: {
      hpar_string text = hp_text_of(document->range.base, document->input.bytes, n);
      return string_of(text.bytes, text.length);
    }
    case HPAR_NODE_COMMENT:
    case HPAR_NODE_PROCESSING_INSTRUCTION: return string_of(n->data, n->length);
    default: return empty;
  }
}

static const hp_doctype *doctype_of(const hpar_document *document, hpar_node node) {
  return is_node(document, node) && at(document, node)->kind == HPAR_NODE_DOCTYPE ? at(document, node)->doctype : NULL;
}

hpar_string hpar_node_public_id(const hpar_document *document, hpar_node node) {
  const hp_doctype *doctype = doctype_of(document, node);
  return doctype ? string_of(doctype->public_id.bytes, doctype->public_id.length) : empty;
}

hpar_string hpar_node_system_id(const hpar_document *document, hpar_node node) {
  const hp_doctype *doctype = doctype_of(document, node);
  return doctype ? string_of(doctype->system_id.bytes, doctype->system_id.length) : empty;
}

hpar_node hpar_node_parent(const hpar_document *document, hpar_node node) {
  return is_node(document, node) ? hp_parent_of(document->range.base, at(document, node)) : HPAR_NO_NODE;
}

hpar_node hpar_node_first_child(const hpar_document *document, hpar_node node) {
  return is_node(document, node) && hp_can_have_children(at(document, node)) ? at(document, node)->first : HPAR_NO_NODE;
}

hpar_node hpar_node_last_child(const hpar_document *document, hpar_node node) {
  return is_node(document, node) && hp_can_have_children(at(document, node)) ? at(document, node)->last : HPAR_NO_NODE;
}

hpar_node hpar_node_next(const hpar_document *document, hpar_node node) {
  return is_node(document, node) ? at(document, node)->next : HPAR_NO_NODE;
}

hpar_node hpar_node_previous(const hpar_document *document, hpar_node node) {
  return is_node(document, node) ? at(document, node)->previous : HPAR_NO_NODE;
}

hpar_node hpar_node_template_contents(const hpar_document *document, hpar_node node) {
  if (!is_element(document, node) || !(at(document, node)->flags & HP_FLAG_TEMPLATE)) return HPAR_NO_NODE;
  return *hp_template_slot(at(document, node));
}

hpar_node hpar_node_walk(const hpar_document *document, hpar_node top, hpar_node node) {
  return is_node(document, node) ? hp_next_in_tree(document->range.base, node, top) : HPAR_NO_NODE;
}

size_t hpar_node_attribute_count(const hpar_document *document, hpar_node element) {
  const hp_attributes *attributes = attributes_of(document, element);
  return attributes ? attributes->count : 0;
}

static hpar_string value_of(const hpar_document *document, const hp_attributes *block, const hp_attribute *item) {
  hpar_string value = hp_attribute_value(document, block, item);
  return string_of(value.bytes, value.length);
}

/* Sets `*attribute` to any attribute. Returns true. */
static __attribute__((noinline)) bool show_any(const hpar_document *document, const hp_attributes *attributes,
                                               const hp_attribute *item, hpar_attribute *attribute) {
  hpar_namespace ns = HPAR_NAMESPACE_NONE;
  hpar_string prefix = empty;
  if (item->name >= HP_ATOM_ADJUSTED_XLINK_ACTUATE && item->name < HP_KNOWN_ATOMS) {
    if (item->name <= HP_ATOM_ADJUSTED_XLINK_TYPE) {
      ns = HPAR_NAMESPACE_XLINK;
      prefix = (hpar_string){"xlink", 5};
    } else if (item->name <= HP_ATOM_ADJUSTED_XML_SPACE) {
      ns = HPAR_NAMESPACE_XML;
      prefix = (hpar_string){"xml", 3};
    } else {
      ns = HPAR_NAMESPACE_XMLNS;
      if (item->name == HP_ATOM_ADJUSTED_XMLNS_XLINK) prefix = (hpar_string){"xmlns", 5};
    }
  }
  *attribute = (hpar_attribute){ns, prefix, name_string(document, item->name), value_of(document, attributes, item)};
  return true;
}

bool hpar_node_attribute_at(const hpar_document *document, hpar_node element, size_t index, hpar_attribute *attribute) {
  const hp_attributes *attributes = attributes_of(document, element);
  if (!attributes || !attribute || index >= attributes->count) return false;
  const hp_attribute *item = &attributes->items[index];
  if (item->name - 1 >= HP_ATOM_ADJUSTED_XLINK_ACTUATE - 1 || hp_is_deferred(attributes, (uint32_t)index))
    return show_any(document, attributes, item, attribute);
  const hp_known_name *name = &hp_known_names[item->name];
  attribute->ns = HPAR_NAMESPACE_NONE;
  attribute->prefix = empty;
  attribute->local_name = (hpar_string){name->bytes, name->length};
  attribute->value = string_of(item->value, item->length);
  return true;
}

hpar_string hpar_node_attribute_value(const hpar_document *document, hpar_node element, const char *name) {
  const hp_attributes *attributes = attributes_of(document, element);
  if (!attributes || !name) return (hpar_string){NULL, 0};
  size_t length = strlen(name);
  hp_atom known = hp_known_atom(name, length, hp_name_key_of(name, length));
  for (uint32_t i = 0; i < attributes->count; i++) {
    const hp_attribute *item = &attributes->items[i];
    if (item->name == known) return value_of(document, attributes, item);
    if (known || item->name < HP_KNOWN_ATOMS) continue;
    hp_name other = hp_atom_name(&document->atoms, item->name);
    if (other.length == length && !memcmp(other.bytes, name, length)) return value_of(document, attributes, item);
  }
  return (hpar_string){NULL, 0};
}

/* Returns the offsets of the element's tags in the text (hp_source_slot), or NULL. */
static const uint32_t *source_of(const hpar_document *document, hpar_node element) {
  if (!is_element(document, element) || !(at(document, element)->flags & HP_FLAG_SOURCE)) return NULL;
  return hp_source_slot(at(document, element));
}

/* Converts the offsets of a tag to offsets of the input. Returns false for a missing tag. */
static bool tag_range(const hpar_document *document, const uint32_t *tag, uint64_t *start, uint64_t *end) {
  if (tag[1] <= tag[0] || !start || !end) return false;
  *start = hp_input_offset(&document->input, tag[0]);
  *end = hp_input_offset(&document->input, tag[1]);
  return true;
}

bool hpar_node_start_tag_range(const hpar_document *document, hpar_node element, uint64_t *start, uint64_t *end) {
  const uint32_t *source = source_of(document, element);
  return source && tag_range(document, source, start, end);
}

bool hpar_node_end_tag_range(const hpar_document *document, hpar_node element, uint64_t *start, uint64_t *end) {
  const uint32_t *source = source_of(document, element);
  return source && tag_range(document, source + 2, start, end);
}

/*** the positions of attributes in the source of a start tag ***/

/* A position in a start tag, and the attribute before it. The tag ended with '>' when it was
 * parsed, but each search has a bound: Python reads bytes that the program may have changed. */
typedef struct tag_scan {
  const char *at, *end;
  const char *name, *name_end, *value, *value_end; /* without a value: all at name_end */
} tag_scan;

static bool ends_name(char c) { return hp_ascii_is_white(c) || c == '/' || c == '>'; }

static const char *skip_white(const char *at, const char *end) {
  while (at < end && hp_ascii_is_white(*at)) at++;
  return at;
}

/* Returns a scan that is after the tag's name. Requires: `tag` to `end` is a whole start tag, from
 * "<" to ">". */
static tag_scan open_tag_scan(const char *tag, const char *end) {
  const char *at = tag + 1;
  while (at < end && !ends_name(*at)) at++;
  return (tag_scan){.at = at, .end = end};
}

/* Scans the value if an equals sign follows. */
static void take_value(tag_scan *s) {
  const char *at = skip_white(s->at, s->end);
  s->value = s->value_end = s->name_end;
  if (at == s->end || *at != '=') return;
  at = skip_white(at + 1, s->end);
  s->value = s->value_end = at;
  if (at == s->end || *at == '>') {
    s->at = at;
  } else if (*at == '"' || *at == '\'') {
    const char *quote = memchr(at + 1, *at, (size_t)(s->end - at - 1));
    s->value = at + 1;
    s->value_end = quote ? quote : s->end;
    s->at = quote ? quote + 1 : s->end;
  } else {
    while (at < s->end && !hp_ascii_is_white(*at) && *at != '>') at++;
    s->at = s->value_end = at;
  }
}

/* Finds the next attribute. Returns false if there is none. */
static bool next_attribute(tag_scan *s) {
  while (s->at < s->end && (hp_ascii_is_white(*s->at) || *s->at == '/')) s->at++;
  if (s->at == s->end || *s->at == '>') return false;
  s->name = s->at++; /* an equals sign may begin a name */
  while (s->at < s->end && !ends_name(*s->at) && *s->at != '=') s->at++;
  s->name_end = s->at;
  take_value(s);
  return true;
}

/* Returns the position after `name` in the source, or NULL if the source has another name. Ignores
 * case, because some SVG attributes have capital letters in the tree. NUL in the source is U+FFFD
 * in the tree. */
static const char *match(const char *at, const char *end, hpar_string name) {
  for (size_t i = 0; i < name.length; i++, at++) {
    if (at == end) return NULL;
    if (!*at && name.length - i >= 3 && !memcmp(name.bytes + i, "\xEF\xBF\xBD", 3))
      i += 2;
    else if (hp_ascii_lower(*at) != hp_ascii_lower(name.bytes[i]))
      return NULL;
  }
  return at;
}

/* Returns whether the attribute in the source has the name of `attribute`. */
static bool has_attribute_name(const tag_scan *s, const hpar_attribute *attribute) {
  const char *at = s->name;
  if (attribute->prefix.length) {
    at = match(at, s->name_end, attribute->prefix);
    if (!at || at == s->name_end || *at++ != ':') return false;
  }
  at = match(at, s->name_end, attribute->local_name);
  return at == s->name_end;
}

/* Converts the scan's current attribute to offsets of the input. */
static hpar_attribute_range attribute_range(const hp_input *input, const tag_scan *scan) {
  const char *text = input->bytes;
  return (hpar_attribute_range){.name_start = hp_input_offset(input, (uint64_t)(scan->name - text)),
                                .name_end = hp_input_offset(input, (uint64_t)(scan->name_end - text)),
                                .value_start = hp_input_offset(input, (uint64_t)(scan->value - text)),
                                .value_end = hp_input_offset(input, (uint64_t)(scan->value_end - text))};
}

/* Scans the start tag again. The element's attributes have the order of the tag, and the element
 * has only the first attribute of each name. */
size_t hpar_node_attribute_ranges(const hpar_document *document, hpar_node element, size_t first, size_t count,
                                  hpar_attribute_range *ranges) {
  const uint32_t *source = source_of(document, element);
  if (!source || source[1] <= source[0] || !ranges) return 0;
  const char *text = document->input.bytes;
  tag_scan scan = open_tag_scan(text + source[0], text + source[1]);
  size_t index = 0, found = 0, in_tag = SIZE_MAX;
  const hp_node *node = at(document, element);
  if (node->flags & HP_FLAG_OWN_BLOCK && node->attributes)
    in_tag = hp_growth_of(hp_at(document->range.base, node->attributes))->in_tag;
  hpar_attribute attribute;
  while (found < count && index < in_tag && hpar_node_attribute_at(document, element, index, &attribute) &&
         next_attribute(&scan)) {
    if (!has_attribute_name(&scan, &attribute)) continue;
    if (index++ >= first) ranges[found++] = attribute_range(&document->input, &scan);
  }
  return found;
}
