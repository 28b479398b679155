/* untrusted: parses input from an untrusted source with limits. */

#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report(hpar_parser *parser, hpar_document *document, const char *name, const char *bytes, size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT, .limits = HPAR_LIMITS_UNTRUSTED};
  hpar_status status = hpar_parse(parser, &options, bytes, length, document, NULL);
  /* After a limit, the document keeps the tree so far. */
  printf("%s: %s, %s\n", name, hpar_status_text(status),
         hpar_document_root(document) != HPAR_NO_NODE ? "a tree" : "no tree");
}

int main(void) {
  enum { DEPTH = 100000, TAG = 5 };
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  char *deep = malloc(DEPTH * TAG);
  hpar_status status = deep ? hpar_parser_create(&parser) : HPAR_ERROR_MEMORY;
  if (!status) status = hpar_document_create(&document);
  if (!status) {
    report(parser, document, "a page", "<title>t</title><p>text", 23);
    for (size_t i = 0; i < DEPTH; i++) memcpy(deep + i * TAG, "<div>", TAG);
    report(parser, document, "100,000 nested elements", deep, DEPTH * TAG);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  free(deep);
  return status != HPAR_OK;
}
