/* parse: prints the links of a page, with their text. */

#include <hpar/hpar.h>
#include <stdio.h>

static const char page[] = "<!DOCTYPE html><title>Links</title>"
                           "<p><a href=/one>first <b>link</b></a> <a name=here>no link</a> <a href='two.html'>second";

static int is(hpar_string string, const char *text) {
  size_t i = 0;
  while (i < string.length && text[i] && string.bytes[i] == text[i]) i++;
  return i == string.length && !text[i];
}

static void print_link(const hpar_document *document, hpar_node link) {
  hpar_string target = hpar_node_attribute_value(document, link, "href");
  if (!target.bytes) return; /* the element has no such attribute */
  printf("%.*s: ", (int)target.length, target.bytes);
  for (hpar_node node = link; node; node = hpar_node_walk(document, link, node)) {
    if (hpar_node_kind(document, node) != HPAR_NODE_TEXT) continue;
    hpar_string text = hpar_node_data(document, node);
    printf("%.*s", (int)text.length, text.bytes);
  }
  putchar('\n');
}

int main(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL);
  if (!status) {
    hpar_node root = hpar_document_root(document);
    for (hpar_node node = root; node; node = hpar_node_walk(document, root, node))
      if (is(hpar_node_name(document, node), "a")) print_link(document, node);
  } else {
    fprintf(stderr, "%s\n", hpar_status_text(status));
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status != HPAR_OK;
}
