/* Prints the document of each FILE as HTML, by the library in two files. */

#include "hpar.h"

#include <stdio.h>
#include <stdlib.h>

static hpar_status print(const char *text, size_t length, void *context) {
  return fwrite(text, 1, length, context) == length ? HPAR_OK : HPAR_ERROR_IO;
}

static int print_page(hpar_parser *parser, hpar_document *document, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return 1;
  long length = ftell(file);
  rewind(file);
  char *bytes = malloc((size_t)length + 1);
  int failed = !bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length ||
               hpar_parse(parser, NULL, bytes, (size_t)length, document, NULL) ||
               hpar_serialize_html(document, hpar_document_root(document), 0, print, stdout);
  hpar_document_clear(document);
  free(bytes);
  fclose(file);
  return failed;
}

int main(int count, char **arguments) {
  hpar_parser *parser;
  hpar_document *document;
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  int failed = 0;
  for (int i = 1; i < count; i++) failed |= print_page(parser, document, arguments[i]);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return failed || fflush(stdout);
}
