/* hpar-own-predictor FILE...: parses each page in parallel with the predictor of backwards.c, with
 * "data" and with "oracle", cut evenly. Compares the trees with that of the sequential parser and
 * prints how many chunks each predictor started in the true state. Exit status: 0 success, 1 if a
 * tree differs or a file cannot be parsed, 2 wrong usage. */

#include "backwards.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, CHUNK_SIZE = 4096, REACH = 64 << 10 };

typedef struct text {
  char *bytes;
  size_t length, capacity;
} text;

static hpar_status add(const char *bytes, size_t length, void *to) {
  text *t = to;
  if (t->length + length > t->capacity) {
    size_t capacity = 2 * (t->length + length);
    char *grown = realloc(t->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    t->bytes = grown;
    t->capacity = capacity;
  }
  memcpy(t->bytes + t->length, bytes, length);
  t->length += length;
  return HPAR_OK;
}

static hpar_status read_file(const char *path, text *to) {
  char piece[1 << 16];
  FILE *file = fopen(path, "rb");
  hpar_status status = file ? HPAR_OK : HPAR_ERROR_IO;
  to->length = 0;
  for (size_t n; !status && (n = fread(piece, 1, sizeof piece, file));) status = add(piece, n, to);
  if (file && ferror(file)) status = HPAR_ERROR_IO;
  if (file) fclose(file);
  return status;
}

typedef struct tally {
  const char *name;
  unsigned long long chunks, right;
} tally;

typedef struct bench {
  hpar_parser *parser;
  hpar_document *document;
  text page, expected, got;
} bench;

static hpar_status parse(bench *b, const hpar_options *options, text *tree, hpar_study_stats *stats) {
  hpar_status status = hpar_study_parse(b->parser, options, b->page.bytes, b->page.length, b->document, stats);
  tree->length = 0;
  return status ? status : hpar_serialize_tree(b->document, hpar_document_root(b->document), add, tree);
}

static backwards_settings settings = {REACH};
static const hpar_predictor own = {HPAR_PREDICTOR_INIT, .name = "backwards", .predict = backwards_predict,
                                   .context = &settings};

static int try(bench *b, const char *path, tally *tallies, size_t count) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_study study = {HPAR_STUDY_INIT, .cut_policy = "even"};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_status status = read_file(path, &b->page);
  if (!status) status = parse(b, &options, &b->expected, &stats);
  options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = THREADS,
                           .parallel.chunk_size = CHUNK_SIZE, .study = &study};
  /* A worker parses each chunk, so that the count is the same every time. */
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  for (size_t i = 0; !status && i < 2 * count; i++) {
    tally *t = &tallies[i % count];
    if (i == count) options.parallel.executor = HPAR_EXECUTOR_THREADS;
    study.custom_predictor = t->name == own.name ? &own : NULL;
    study.predictor = t->name == own.name ? NULL : t->name;
    status = parse(b, &options, &b->got, &stats);
    if (status) break;
    if (b->got.length != b->expected.length || memcmp(b->got.bytes, b->expected.bytes, b->got.length)) {
      printf("%s: %s makes another tree\n", path, t->name);
      return 1;
    }
    if (i >= count) continue;
    t->chunks += stats.chunks;
    t->right += stats.chunks_right_start;
  }
  if (status) fprintf(stderr, "%s: %s\n", path, hpar_status_text(status));
  return status != HPAR_OK;
}

int main(int count, char **paths) {
  tally tallies[] = {{own.name, 0, 0}, {"data", 0, 0}, {"oracle", 0, 0}};
  size_t tally_count = sizeof tallies / sizeof *tallies;
  bench b = {0};
  if (count < 2) {
    fprintf(stderr, "usage: hpar-own-predictor FILE...\n");
    return 2;
  }
  int code = hpar_parser_create(&b.parser) || hpar_document_create(&b.document);
  for (int i = 1; i < count && b.document; i++) code |= try(&b, paths[i], tallies, tally_count);
  for (size_t i = 0; i < tally_count; i++)
    printf("%-10s %llu of %llu chunks begun in the true state\n", tallies[i].name, tallies[i].right, tallies[i].chunks);
  if (!code) printf("all trees are the sequential ones\n");
  hpar_document_destroy(b.document);
  hpar_parser_destroy(b.parser);
  free(b.page.bytes);
  free(b.expected.bytes);
  free(b.got.bytes);
  return code;
}
