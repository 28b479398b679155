/* hpar-work-span LOG CORES WAKE FILE...: prints the work and the span of parallel parses in
 * instructions as JSON, one line for each FILE and each number of cores in the list CORES.
 * Requires: valgrind --tool=callgrind --log-file=LOG runs the program. WAKE is the number of
 * instructions from the start of a batch until its threads run.
 *
 * Each parse is the second one into its document, so that all memory is present. */

#include "virtual.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {
  char *bytes;
  size_t length;
} page;

static bool load(const char *path, page *p) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  p->bytes = malloc((size_t)length + 1);
  p->length = p->bytes ? fread(p->bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return p->bytes && p->length == (size_t)length;
}

static void print_number(const char *key, uint64_t number) { printf(",\"%s\":%llu", key, (unsigned long long)number); }

/* Parses the page twice. Returns the span of the second parse, or 0 after a failure. */
static uint64_t measure(const page *p, const hpar_options *options, hpar_study_stats *stats, uint64_t *work) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  uint64_t span = 0;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  for (int run = 0; run < 2 && !status; run++) {
    uint64_t work_before = virtual_work(), before = virtual_now();
    status = hpar_study_parse(parser, options, p->bytes, p->length, document, stats);
    span = virtual_now() - before;
    *work = virtual_work() - work_before;
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status ? 0 : span;
}

static bool study(const char *path, const page *p, unsigned cores, uint64_t sequential) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = cores};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  uint64_t work = 0, span = measure(p, &options, &stats, &work);
  if (!span) return false;
  printf("{\"file\":\"%s\"", path);
  print_number("bytes", p->length);
  print_number("cores", cores);
  print_number("threads", stats.threads);
  print_number("sequential", sequential);
  print_number("span", span);
  print_number("work", work);
  print_number("decode", stats.ns.decode);
  print_number("cut", stats.ns.cut);
  print_number("predict", stats.ns.predict);
  print_number("merge", stats.ns.merge);
  print_number("chunks", stats.chunks);
  print_number("chunks_exact", stats.chunks_exact);
  print_number("chunks_right_start", stats.chunks_right_start);
  print_number("chunks_clean", stats.chunks_clean);
  print_number("bytes_reparsed", stats.bytes_reparsed);
  print_number("log_entries", stats.log_entries);
  puts("}");
  fflush(stdout);
  return true;
}

static bool study_all(const char *path, const page *p, const char *cores) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  uint64_t work = 0, sequential = measure(p, &options, &stats, &work);
  bool is_done = sequential;
  while (is_done && *cores) {
    char *end;
    unsigned long count = strtoul(cores, &end, 10);
    if (end == cores || count < 2 || count > HPAR_MAX_THREADS) return false;
    is_done = study(path, p, (unsigned)count, sequential);
    cores = *end == ',' ? end + 1 : end;
  }
  return is_done;
}

int main(int count, char **words) {
  if (count < 5) {
    fputs("usage: hpar-work-span LOG CORES WAKE FILE...\n", stderr);
    return 2;
  }
  if (!virtual_open(words[1])) {
    fprintf(stderr, "hpar-work-span: %s: no log of valgrind\n", words[1]);
    return 1;
  }
  virtual_wake_after(strtoull(words[3], NULL, 10));
  for (int i = 4; i < count; i++) {
    page p = {0};
    bool is_done = load(words[i], &p) && study_all(words[i], &p, words[2]);
    free(p.bytes);
    if (is_done) continue;
    fprintf(stderr, "hpar-work-span: %s: not measured\n", words[i]);
    return 1;
  }
  return 0;
}
