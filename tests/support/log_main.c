/* hpar-log FILE CHUNK-BYTES: parses FILE in chunks on one thread, and prints the log of each chunk
 * after the first as its worker wrote it. docs/life-of-a-chunk.md shows the output. */

#include <stdio.h>

#if HPAR_PARALLEL
#include "session/parser.h"
#include "support/buffer.h"

#include <hpar/study.h>
#include <stdlib.h>

static void print_bytes(const char *page, uint32_t from, uint32_t to) {
  buffer text = {0};
  buffer_escaped(&text, page + from, to - from);
  printf("\"%s\"", text.length ? text.bytes : "");
  buffer_free(&text);
}

/* Prints the siblings of a run. The merger has linked them, but the anchor still has both ends. */
static void print_run(const hpar_document *document, hp_ref anchor) {
  char *base = document->range.base;
  for (hp_ref at = hp_node_at(base, anchor)->first;; at = hp_node_at(base, at)->next) {
    const hp_node *node = hp_node_at(base, at);
    hp_name name = node->kind == HPAR_NODE_ELEMENT ? hp_atom_name(&document->atoms, node->name)
                                                   : (hp_name){.bytes = "text", .length = 4};
    printf(" %.*s", (int)name.length, name.bytes);
    if (at == hp_node_at(base, anchor)->last) break;
  }
}

static void print_segment(const hpar_document *document, const hp_log *log, uint32_t index, const char *page) {
  static const char *const ends[] = {"the end of the chunk", "DEFER", "SPLIT", "HAZARD"};
  const hp_segment *s = &log->segments.items[index];
  printf("segment %u ", index);
  print_bytes(page, s->start, s->end);
  if (s->anchor) printf("\n  run:");
  if (s->anchor) print_run(document, s->anchor);
  if (s->open_elements.count) printf("\n  open at its end:");
  for (uint32_t i = 0; i < s->open_elements.count; i++) {
    hp_name name = hp_atom_name(&document->atoms, log->open.items[s->open_elements.first + i].name);
    printf(" %.*s", (int)name.length, name.bytes);
  }
  if (s->assumes.questions) printf("\n  assumes:");
  for (int i = 0; i < HP_ASSUMPTION_KINDS; i++)
    if (s->assumes.questions >> i & 1) printf(" %s", hpar_assumption_name((hpar_assumption)i));
  printf("\n  ended by: %s", ends[s->ends]);
  if (s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT) {
    const hp_token *token = &log->tokens.items[s->token];
    putchar(' ');
    if (token->kind == HP_TOKEN_EOF)
      printf("end of file");
    else
      print_bytes(page, token->start, token->end);
  }
  putchar('\n');
}

static bool read_page(const char *path, buffer *page) {
  char bytes[4096];
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;) buffer_add(page, bytes, got);
  fclose(file);
  return true;
}

int main(int count, char **arguments) {
  buffer page = {0};
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 2;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.study = &study;
  if (count == 3) options.parallel.chunk_size = strtoul(arguments[2], NULL, 10);
  if (count != 3 || !read_page(arguments[1], &page)) {
    fputs("usage: hpar-log FILE CHUNK-BYTES\n", stderr);
    return 2;
  }
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = hpar_parse(parser, &options, page.bytes, page.length, document, NULL);
  const hp_chunk_queue *queue = parser ? parser->session.team.job.queue : NULL;
  for (uint32_t i = 1; !status && i < hp_published_chunks(queue); i++) {
    const hp_chunk_result *work = hp_chunk_at(queue, i)->work;
    if (!work) continue;
    printf("chunk %u: bytes %u to %u\n", i, work->cut, work->limit);
    for (uint32_t j = 0; j < work->log.segments.count; j++)
      print_segment(document, &work->log, j, document->input.bytes);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&page);
  return status != HPAR_OK;
}
#else
int main(void) {
  puts("hpar-log: this build has no parallel parser");
  return 77;
}
#endif
