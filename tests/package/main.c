#include <hpar/hpar.h>
#include <stdio.h>

static hpar_status print(const char *bytes, size_t length, void *file) {
  return fwrite(bytes, 1, length, file) == length ? HPAR_OK : HPAR_ERROR_IO;
}

int main(void) {
  static const char page[] = "<!DOCTYPE html><title>t</title><p>Hello <b>world";
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_parse(parser, NULL, page, sizeof page - 1, document, NULL);
  if (!status) status = hpar_serialize_tree(document, hpar_document_root(document), print, stdout);
  if (status) fprintf(stderr, "%s\n", hpar_status_text(status));
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status != HPAR_OK;
}
