/* gumbo, which has no form that reuses memory. */

#include "peer.h"

#include <ctype.h>
#include <gumbo.h>
#include <stdlib.h>
#include <string.h>

static void *parse(const char *bytes, size_t length) {
  return gumbo_parse_with_options(&kGumboDefaultOptions, bytes, length);
}

static void destroy(void *output) { gumbo_destroy_output(&kGumboDefaultOptions, output); }

static const char *prefix_of(GumboNamespaceEnum ns) {
  return ns == GUMBO_NAMESPACE_SVG ? "svg " : ns == GUMBO_NAMESPACE_MATHML ? "math " : "";
}

static void dump_attributes(const GumboElement *element, FILE *out, unsigned depth) {
  static const char *const prefixes[] = {"", "xlink ", "xml ", "xmlns "};
  unsigned count = element->attributes.length;
  peer_attribute *list = calloc(count + 1, sizeof *list);
  for (unsigned i = 0; i < count; i++) {
    const GumboAttribute *from = element->attributes.data[i];
    list[i] = (peer_attribute){prefixes[from->attr_namespace], from->name, strlen(from->name), from->value,
                               strlen(from->value)};
  }
  peer_attributes(out, depth, list, count);
  free(list);
}

static void dump_name(const GumboElement *element, FILE *out) {
  fprintf(out, "<%s", prefix_of(element->tag_namespace));
  GumboStringPiece tag = element->original_tag;
  gumbo_tag_from_original_text(&tag);
  const char *svg =
      element->tag_namespace == GUMBO_NAMESPACE_SVG && tag.data ? gumbo_normalize_svg_tagname(&tag) : NULL;
  if (svg)
    fputs(svg, out);
  else if (element->tag != GUMBO_TAG_UNKNOWN)
    fputs(gumbo_normalized_tagname(element->tag), out);
  else
    for (size_t i = 0; i < tag.length; i++) fputc(tolower((unsigned char)tag.data[i]), out);
  fputs(">\n", out);
}

static void dump_node(const GumboNode *node, FILE *out, unsigned depth) {
  peer_line(out, depth);
  if (node->type == GUMBO_NODE_COMMENT) {
    fprintf(out, "<!-- %s -->\n", node->v.text.text);
  } else if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) {
    fprintf(out, "\"%s\"\n", node->v.text.text);
  } else {
    const GumboElement *element = &node->v.element;
    dump_name(element, out);
    dump_attributes(element, out, ++depth);
    if (node->type == GUMBO_NODE_TEMPLATE) {
      peer_line(out, depth++);
      fputs("content\n", out);
    }
    for (unsigned i = 0; i < element->children.length; i++) dump_node(element->children.data[i], out, depth);
  }
}

static void dump(void *output, FILE *out) {
  const GumboDocument *document = &((GumboOutput *)output)->document->v.document;
  bool put = !document->has_doctype;
  for (unsigned i = 0; i <= document->children.length; i++) {
    const GumboNode *child = i < document->children.length ? document->children.data[i] : NULL;
    if (!put && (!child || child->type == GUMBO_NODE_ELEMENT || !i)) {
      peer_line(out, 0);
      fprintf(out, "<!DOCTYPE %s", document->name);
      if (*document->public_identifier || *document->system_identifier)
        fprintf(out, " \"%s\" \"%s\"", document->public_identifier, document->system_identifier);
      fputs(">\n", out);
      put = true;
    }
    if (child) dump_node(child, out, 0);
  }
}

int main(int count, char **arguments) {
  return peer_run(&(peer){"gumbo " GUMBO_VERSION, parse, destroy, NULL, NULL, NULL, dump}, count, arguments);
}
