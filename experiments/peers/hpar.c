/* Ours: the sequential parser. VALUES is its hpar_options.value_decoding. */

#include "peer.h"

#include <hpar/hpar.h>

#ifndef VALUES
#define VALUES HPAR_VALUES_ON_ACCESS
#endif

static hpar_parser *parser;
static hpar_document *kept;
static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8",
                                     .value_decoding = VALUES};

static void *parse(const char *bytes, size_t length) {
  hpar_document *document;
  if (hpar_document_create(&document)) return NULL;
  return hpar_parse(parser, &options, bytes, length, document, NULL) ? NULL : document;
}

static void destroy(void *document) { hpar_document_destroy(document); }

static void *parse_again(const char *bytes, size_t length) {
  return hpar_parse(parser, &options, bytes, length, kept, NULL) ? NULL : kept;
}

static size_t end_of(hpar_string string) {
  return string.length + (string.length ? (unsigned char)string.bytes[string.length - 1] : 0);
}

static size_t read(void *document) {
  size_t sum = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_attribute attribute;
    for (size_t i = 0; hpar_node_attribute_at(document, node, i, &attribute); i++)
      sum += end_of(attribute.local_name) + end_of(attribute.value);
  }
  return sum;
}

static bool parse_new(const char *bytes, size_t length) {
  hpar_parser *own;
  hpar_document *document = NULL;
  if (hpar_parser_create(&own)) return false;
  bool fine = !hpar_document_create(&document) && !hpar_parse(own, &options, bytes, length, document, NULL);
  hpar_document_destroy(document);
  hpar_parser_destroy(own);
  return fine;
}

static hpar_status write(const char *bytes, size_t length, void *file) {
  return fwrite(bytes, 1, length, file) == length ? HPAR_OK : HPAR_ERROR_IO;
}

static void dump(void *document, FILE *out) { hpar_serialize_tree(document, hpar_document_root(document), write, out); }

int main(int count, char **arguments) {
  char version[64];
  snprintf(version, sizeof version, "HPar %s, sequential%s", hpar_version(),
           VALUES == HPAR_VALUES_AT_ONCE ? ", values at once" : "");
  if (hpar_parser_create(&parser) || hpar_document_create(&kept)) return 1;
  return peer_run(&(peer){version, parse, destroy, parse_again, parse_new, read, dump}, count, arguments);
}
