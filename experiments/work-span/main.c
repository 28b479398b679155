/* hpar-work-span LOG CORES WAKE [--rewrite SELECTOR] FILE...: prints the work and the span of
 * parallel parses in instructions as JSON, one line for each FILE and each number of cores in the
 * list CORES. With a selector, of parallel rewrites: the elements that match get an attribute.
 * Requires: valgrind --tool=callgrind --log-file=LOG runs the program. WAKE is the number of
 * instructions from the start of a batch until its threads run.
 *
 * Each parse is the second one into its document, so that all memory is present, and each rewrite
 * the second one of its rewriter. */

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

/* Parses the page three times. Returns the span of the second parse, or 0 after a failure. The
 * third one fills the statistics, which cost instructions, too. */
static uint64_t measure(const page *p, const hpar_options *options, hpar_study_stats *stats, uint64_t *work) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  uint64_t span = 0;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  for (int run = 0; run < 2 && !status; run++) {
    uint64_t work_before = virtual_work(), before = virtual_now();
    status = hpar_parse(parser, options, p->bytes, p->length, document, NULL);
    span = virtual_now() - before;
    virtual_finish();
    *work = virtual_work() - work_before;
  }
  if (!status) status = hpar_study_parse(parser, options, p->bytes, p->length, document, stats);
  virtual_finish();
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

static hpar_status drop(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

/* Rewrites the page twice. Returns the span of the second time, or 0 after a failure. */
static uint64_t measure_rewrite(const page *p, const hpar_rules *rules, unsigned threads, uint64_t *work) {
  const hpar_rewrite_options options = {
      HPAR_REWRITE_OPTIONS_INIT, .mode = threads ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL, .threads = threads};
  hpar_rewriter *rewriter = NULL;
  uint64_t span = 0;
  hpar_status status = hpar_rewriter_create(&rewriter);
  for (int run = 0; run < 2 && !status; run++) {
    uint64_t work_before = virtual_work(), before = virtual_now();
    status = hpar_rewrite(rewriter, rules, &options, p->bytes, p->length, NULL, drop, NULL);
    span = virtual_now() - before;
    virtual_finish();
    *work = virtual_work() - work_before;
  }
  hpar_rewriter_destroy(rewriter);
  return status ? 0 : span;
}

static bool study_rewrite(const char *path, const page *p, const hpar_rules *rules, unsigned cores,
                          uint64_t sequential) {
  uint64_t work = 0, span = measure_rewrite(p, rules, cores, &work);
  if (!span) return false;
  printf("{\"file\":\"%s\"", path);
  print_number("bytes", p->length);
  print_number("cores", cores);
  print_number("sequential", sequential);
  print_number("span", span);
  print_number("work", work);
  puts("}");
  return true;
}

/* `rules`: NULL for parses. */
static bool study_all(const char *path, const page *p, const char *cores, const hpar_rules *rules) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  uint64_t work = 0, sequential = rules ? measure_rewrite(p, rules, 0, &work) : measure(p, &options, &stats, &work);
  bool is_done = sequential;
  while (is_done && *cores) {
    char *end;
    unsigned long count = strtoul(cores, &end, 10);
    if (end == cores || count < 2 || count > HPAR_MAX_THREADS) return false;
    is_done = rules ? study_rewrite(path, p, rules, (unsigned)count, sequential)
                    : study(path, p, (unsigned)count, sequential);
    cores = *end == ',' ? end + 1 : end;
  }
  return is_done;
}

static hpar_rules *compile(const char *selector) {
  const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "data-seen", .value = {"", 0}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &set, .action_count = 1};
  hpar_rules *rules = NULL;
  if (!hpar_rules_create(&rules) && !hpar_rules_add(rules, &rule, NULL) && !hpar_rules_compile(rules)) return rules;
  hpar_rules_destroy(rules);
  return NULL;
}

int main(int count, char **words) {
  const bool rewrites = count > 4 && !strcmp(words[4], "--rewrite");
  const int first = rewrites ? 6 : 4;
  if (count <= first) {
    fputs("usage: hpar-work-span LOG CORES WAKE [--rewrite SELECTOR] FILE...\n", stderr);
    return 2;
  }
  if (!virtual_open(words[1])) {
    fprintf(stderr, "hpar-work-span: %s: no log of valgrind\n", words[1]);
    return 1;
  }
  virtual_wake_after(strtoull(words[3], NULL, 10));
  hpar_rules *rules = rewrites ? compile(words[5]) : NULL;
  if (rewrites && !rules) {
    fprintf(stderr, "hpar-work-span: %s: no selector\n", words[5]);
    return 1;
  }
  for (int i = first; i < count; i++) {
    page p = {0};
    bool is_done = load(words[i], &p) && study_all(words[i], &p, words[2], rules);
    free(p.bytes);
    if (is_done) continue;
    fprintf(stderr, "hpar-work-span: %s: not measured\n", words[i]);
    return 1;
  }
  hpar_rules_destroy(rules);
  return 0;
}
