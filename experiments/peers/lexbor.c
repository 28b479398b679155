/* lexbor. The adapter keeps the parser in its first two forms. The second form also keeps the
 * document, cleans it and parses into it again. */

#include "peer.h"

#include <lexbor/dom/dom.h>
#include <lexbor/html/html.h>
#include <lexbor/html/interfaces/template_element.h>
#include <stdlib.h>
#include <string.h>

static lxb_html_parser_t *parser;
static lxb_html_document_t *kept;

static void *parse(const char *bytes, size_t length) {
  return lxb_html_parse(parser, (const lxb_char_t *)bytes, length);
}

static void destroy(void *document) { lxb_html_document_destroy(document); }

static void *parse_again(const char *bytes, size_t length) {
  lxb_html_document_clean(kept);
  return lxb_html_document_parse(kept, (const lxb_char_t *)bytes, length) == LXB_STATUS_OK ? kept : NULL;
}

static size_t end_of(const lxb_char_t *bytes, size_t length) { return length + (length ? bytes[length - 1] : 0); }

static size_t read_element(lxb_dom_element_t *element) {
  size_t sum = 0, length;
  for (lxb_dom_attr_t *a = lxb_dom_element_first_attribute(element); a; a = lxb_dom_element_next_attribute(a)) {
    const lxb_char_t *name = lxb_dom_attr_local_name(a, &length);
    sum += end_of(name, length);
    const lxb_char_t *value = lxb_dom_attr_value(a, &length);
    sum += end_of(value, value ? length : 0);
  }
  return sum;
}

static size_t read(void *document) {
  lxb_dom_node_t *root = lxb_dom_interface_node(document), *node = root;
  size_t sum = 0;
  for (;;) {
    if (node->type == LXB_DOM_NODE_TYPE_ELEMENT) sum += read_element(lxb_dom_interface_element(node));
    if (node->first_child) {
      node = node->first_child;
      continue;
    }
    while (node != root && !node->next) node = node->parent;
    if (node == root) return sum;
    node = node->next;
  }
}

static bool parse_new(const char *bytes, size_t length) {
  lxb_html_parser_t *own = lxb_html_parser_create();
  lxb_html_document_t *document = NULL;
  if (own && !lxb_html_parser_init(own)) document = lxb_html_parse(own, (const lxb_char_t *)bytes, length);
  if (document) lxb_html_document_destroy(document);
  lxb_html_parser_destroy(own);
  return document;
}

static const char *prefix_of(lxb_ns_id_t ns) {
  switch (ns) {
    case LXB_NS_SVG: return "svg ";
    case LXB_NS_MATH: return "math ";
    case LXB_NS_XLINK: return "xlink ";
    case LXB_NS_XML: return "xml ";
    case LXB_NS_XMLNS: return "xmlns ";
    default: return "";
  }
}

static void dump_attributes(lxb_dom_element_t *element, FILE *out, unsigned depth) {
  size_t count = 0, capacity = 0;
  peer_attribute *list = NULL;
  for (lxb_dom_attr_t *a = lxb_dom_element_first_attribute(element); a; a = lxb_dom_element_next_attribute(a)) {
    if (count == capacity) list = realloc(list, (capacity = capacity * 2 + 16) * sizeof *list);
    peer_attribute *to = &list[count++];
    to->prefix = "";
    to->name = (const char *)lxb_dom_attr_qualified_name(a, &to->name_length);
    to->value = (const char *)lxb_dom_attr_value(a, &to->value_length);
    if (!to->value) to->value = "";
    if (a->node.ns == LXB_NS_XLINK || a->node.ns == LXB_NS_XML || a->node.ns == LXB_NS_XMLNS)
      to->prefix = prefix_of(a->node.ns); /* others have that of their element */
    const char *colon = *to->prefix ? memchr(to->name, ':', to->name_length) : NULL;
    if (colon) {
      to->name_length -= (size_t)(colon + 1 - to->name);
      to->name = colon + 1;
    }
  }
  peer_attributes(out, depth, list, count);
  free(list);
}

static void dump_doctype(lxb_dom_document_type_t *type, FILE *out) {
  size_t name, public_id, system_id;
  const lxb_char_t *text = lxb_dom_document_type_name(type, &name);
  fprintf(out, "<!DOCTYPE %.*s", (int)name, text ? (const char *)text : "");
  const lxb_char_t *first = lxb_dom_document_type_public_id(type, &public_id);
  const lxb_char_t *second = lxb_dom_document_type_system_id(type, &system_id);
  if (public_id || system_id) {
    fprintf(out, " \"%.*s\" \"%.*s\"", (int)public_id, first ? (const char *)first : "", (int)system_id,
            second ? (const char *)second : "");
  }
  fputs(">\n", out);
}

static void dump_children(lxb_dom_node_t *parent, FILE *out, unsigned depth) {
  for (lxb_dom_node_t *node = parent->first_child; node; node = node->next) {
    const lexbor_str_t *data = &lxb_dom_interface_character_data(node)->data;
    peer_line(out, depth);
    switch (node->type) {
      case LXB_DOM_NODE_TYPE_DOCUMENT_TYPE: dump_doctype(lxb_dom_interface_document_type(node), out); break;
      case LXB_DOM_NODE_TYPE_COMMENT: {
        fputs("<!-- ", out);
        fwrite(data->data, 1, data->length, out);
        fputs(" -->\n", out);
        break;
      }
      case LXB_DOM_NODE_TYPE_PROCESSING_INSTRUCTION: {
        size_t length;
        const lxb_char_t *target =
            lxb_dom_processing_instruction_target(lxb_dom_interface_processing_instruction(node), &length);
        fprintf(out, "<?%.*s ", (int)length, (const char *)target);
        fwrite(data->data, 1, data->length, out);
        fputs("?>\n", out);
        break;
      }
      case LXB_DOM_NODE_TYPE_ELEMENT: {
        size_t length;
        const lxb_char_t *name = lxb_dom_element_qualified_name(lxb_dom_interface_element(node), &length);
        fprintf(out, "<%s%.*s>\n", prefix_of(node->ns), (int)length, (const char *)name);
        dump_attributes(lxb_dom_interface_element(node), out, depth + 1);
        if (lxb_html_tree_node_is(node, LXB_TAG_TEMPLATE) && node->ns == LXB_NS_HTML) {
          peer_line(out, depth + 1);
          fputs("content\n", out);
          dump_children(lxb_dom_interface_node(lxb_html_interface_template(node)->content), out, depth + 2);
        }
        dump_children(node, out, depth + 1);
        break;
      }
      default: {
        fputc('"', out);
        fwrite(data->data, 1, data->length, out);
        fputs("\"\n", out);
      }
    }
  }
}

static void dump(void *document, FILE *out) { dump_children(lxb_dom_interface_node(document), out, 0); }

int main(int count, char **arguments) {
  parser = lxb_html_parser_create();
  kept = lxb_html_document_create();
  if (!parser || lxb_html_parser_init(parser) || !kept) return 1;
  return peer_run(&(peer){"lexbor " LEXBOR_VERSION_STRING, parse, destroy, parse_again, parse_new, read, dump}, count,
                  arguments);
}
