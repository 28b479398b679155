/* The tree in the format of html5lib-tests: one line for each node and attribute. */

#include "base/memory.h"
#include "dom/serialize_out.h"

/* An attribute's displayed name is designator, space, local name. The namespace determines the
 * designator, so that `xmlns` becomes "xmlns xmlns". */
typedef struct line_list {
  hpar_attribute *items; /* `prefix` holds the designator */
  size_t capacity;
} line_list;

static void begin_line(hp_out *out, size_t depth) {
  HP_OUT_LITERAL(out, "| ");
  hp_out_spaces(out, depth * 2);
}

static hpar_string designator(hpar_namespace ns) {
  switch (ns) {
    case HPAR_NAMESPACE_SVG: return (hpar_string){"svg", 3};
    case HPAR_NAMESPACE_MATHML: return (hpar_string){"math", 4};
    case HPAR_NAMESPACE_XLINK: return (hpar_string){"xlink", 5};
    case HPAR_NAMESPACE_XML: return (hpar_string){"xml", 3};
    case HPAR_NAMESPACE_XMLNS: return (hpar_string){"xmlns", 5};
    case HPAR_NAMESPACE_NONE:
    case HPAR_NAMESPACE_HTML: break;
  }
  return (hpar_string){"", 0};
}

static void write_name(hp_out *out, hpar_string prefix, hpar_string local_name) {
  if (prefix.length) {
    hp_out_string(out, prefix);
    hp_out_byte(out, ' ');
  }
  hp_out_string(out, local_name);
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
static void sort(hpar_attribute *items, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift_down(items, i, count);
  for (size_t left = count; left-- > 1;) {
    hpar_attribute last = items[left];
    items[left] = items[0];
    items[0] = last;
    sift_down(items, 0, left);
  }
}

static void write_attributes(hp_out *out, const hpar_document *document, hpar_node element, size_t depth,
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
  sort(list->items, count);
  for (size_t i = 0; i < count; i++) {
    begin_line(out, depth);
    write_name(out, list->items[i].prefix, list->items[i].local_name);
    HP_OUT_LITERAL(out, "=\"");
    hp_out_string(out, list->items[i].value);
    HP_OUT_LITERAL(out, "\"\n");
  }
}

static void write_doctype(hp_out *out, const hpar_document *document, hpar_node node) {
  hpar_string public_id = hpar_node_public_id(document, node), system_id = hpar_node_system_id(document, node);
  HP_OUT_LITERAL(out, "<!DOCTYPE ");
  hp_out_string(out, hpar_node_name(document, node));
  if (public_id.length || system_id.length) {
    HP_OUT_LITERAL(out, " \"");
    hp_out_string(out, public_id);
    HP_OUT_LITERAL(out, "\" \"");
    hp_out_string(out, system_id);
    hp_out_byte(out, '"');
  }
  HP_OUT_LITERAL(out, ">\n");
}

static void write_node(hp_out *out, const hpar_document *document, hpar_node node, size_t depth, line_list *list) {
  begin_line(out, depth);
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_ELEMENT:
      hp_out_byte(out, '<');
      write_name(out, designator(hpar_node_namespace(document, node)), hpar_node_name(document, node));
      HP_OUT_LITERAL(out, ">\n");
      write_attributes(out, document, node, depth + 1, list);
      break;
    case HPAR_NODE_FRAGMENT: HP_OUT_LITERAL(out, "content\n"); break;
    case HPAR_NODE_TEXT:
      hp_out_byte(out, '"');
      hp_out_string(out, hpar_node_data(document, node));
      HP_OUT_LITERAL(out, "\"\n");
      break;
    case HPAR_NODE_COMMENT:
      HP_OUT_LITERAL(out, "<!-- ");
      hp_out_string(out, hpar_node_data(document, node));
      HP_OUT_LITERAL(out, " -->\n");
      break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      HP_OUT_LITERAL(out, "<?");
      hp_out_string(out, hpar_node_name(document, node));
      hp_out_byte(out, ' ');
      hp_out_string(out, hpar_node_data(document, node));
      HP_OUT_LITERAL(out, "?>\n");
      break;
    case HPAR_NODE_DOCTYPE: write_doctype(out, document, node); break;
    case HPAR_NODE_NONE:
    case HPAR_NODE_DOCUMENT: break;
  }
}

hpar_status hpar_serialize_tree(const hpar_document *document, hpar_node node, hpar_write_callback write,
                                void *context) {
  hp_out out;
  if (!hp_out_open(&out, document, write, context)) return HPAR_ERROR_ARGUMENT;
  hp_tour tour;
  hp_tour_open(&tour, document, node);
  line_list list = {NULL, 0};
  while (!out.status && hp_tour_step(&tour, &out.status)) {
    if (!tour.leaving) write_node(&out, document, tour.node, tour.depth, &list);
  }
  hp_free(list.items);
  hp_tour_close(&tour);
  return hp_out_close(&out);
}
