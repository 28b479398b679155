/* incremental: parses standard input in pieces, as from a network, and prints the counters. */

#include <hpar/hpar.h>
#include <inttypes.h>
#include <stdio.h>

int main(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT};
  hpar_stats stats = {HPAR_STATS_INIT};
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_parser_begin(parser, &options, document);
  char piece[7]; /* real programs use some KB */
  for (size_t n; !status && (n = fread(piece, 1, sizeof piece, stdin));) status = hpar_parser_feed(parser, piece, n);
  if (!status) status = hpar_parser_finish(parser, &stats);
  if (status)
    fprintf(stderr, "%s\n", hpar_parser_error(parser)->text);
  else
    printf("%" PRIu64 " bytes of %s, %" PRIu64 " tokens, %" PRIu64 " nodes\n", stats.bytes, stats.encoding,
           stats.tokens, stats.nodes);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status != HPAR_OK;
}
