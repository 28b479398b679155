/* serialize: parses a fragment, as innerHTML does, and writes it back as HTML. */

#include <hpar/hpar.h>
#include <stdio.h>

static hpar_status write_to(const char *bytes, size_t length, void *file) {
  return fwrite(bytes, 1, length, file) == length ? HPAR_OK : HPAR_ERROR_IO;
}

int main(void) {
  static const char cells[] = "<td>a &lt; b<td title='\"x\"'>c</table>d";
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT, .fragment = "tr", .encoding = "utf-8"};
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_parse(parser, &options, cells, sizeof cells - 1, document, NULL);
  if (!status) status = hpar_serialize_html(document, hpar_document_root(document), 0, write_to, stdout);
  if (status) fprintf(stderr, "%s\n", hpar_status_text(status));
  putchar('\n');
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status != HPAR_OK;
}
