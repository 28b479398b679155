/* hpar-records FILE: prints a line for each record of a web archive: problem, offset, type, URI,
 * length and the FNV-1a hash of the block. tests/warcio_compare.mjs reads the lines. */

#include "warc/warc.h"

#include <stdio.h>
#include <string.h>

static bool print_record(void *context, const hp_warc_record *r) {
  uint32_t hash = 0x811c9dc5;
  (void)context;
  for (size_t i = 0; i < r->block.length; i++) hash = (hash ^ (unsigned char)r->block.bytes[i]) * 0x01000193;
  printf("%s\t%llu\t%.*s\t%.*s\t%zu\t%08x\n", hp_warc_problem_name(r->problem), (unsigned long long)r->offset,
         (int)r->type.length, r->type.bytes, (int)r->uri.length, r->uri.bytes, r->block.length, hash);
  return true;
}

int main(int count, char **arguments) {
  static char bytes[1 << 16];
  hp_warc_reader *reader = NULL;
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!file) {
    fputs("usage: hpar-records FILE\n", stderr);
    return 2;
  }
  hpar_status status = hp_warc_create(&reader, NULL, print_record, NULL);
  for (size_t got; !status && (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
    status = hp_warc_feed(reader, bytes, got);
  if (!status) status = hp_warc_finish(reader);
  hp_warc_destroy(reader);
  fclose(file);
  if (status) fprintf(stderr, "hpar-records: %s: %s\n", arguments[1], hpar_status_text(status));
  return status != HPAR_OK;
}
