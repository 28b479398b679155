/* Runs the documents whose scripts write and change the tree with Duktape, in every mode, fed in
 * pieces and by single bytes. */

#include "check.h"
#include "javascript/javascript.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/shared.h"

#include <stdlib.h>

/* The ways to parse a document. */
enum { WHOLE_MODES = 4, FEEDS = 3, WAYS = WHOLE_MODES + FEEDS };
static const size_t feed_sizes[FEEDS] = {1, 7, 64};

static hpar_parser *parser;
static hpar_document *document;
static FILE *quiet; /* NULL: errors of scripts are not printed */

static hpar_status feed(const hpar_options *options, const char *data, size_t length, size_t size) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t i = 0; i < length && status == HPAR_OK; i += size)
    status = hpar_parser_feed(parser, data + i, length - i < size ? length - i : size);
  hpar_status finished = hpar_parser_finish(parser, NULL);
  return status == HPAR_OK ? finished : status;
}

/* Parses in one of the ways. */
static hpar_status parse(unsigned way, const hpar_options *given, const char *data, size_t length) {
  static const hpar_mode modes[WHOLE_MODES] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, HPAR_MODE_PARALLEL,
                                               HPAR_MODE_PIPELINED};
  hpar_options options = *given;
  options.encoding = "utf-8";
  if (way >= WHOLE_MODES) return feed(&options, data, length, feed_sizes[way - WHOLE_MODES]);
  options.mode = modes[way];
  options.threads = 2;
  if (way == 1) options.parallel.executor = HPAR_EXECUTOR_INLINE;
  if (modes[way] == HPAR_MODE_PARALLEL) options.parallel.chunk_size = 16;
#if !HPAR_PARALLEL
  options.mode = HPAR_MODE_SEQUENTIAL;
#endif
  return hpar_parse(parser, &options, data, length, document, NULL);
}

/* Parses with scripts and dumps the tree. */
static bool run(unsigned way, const char *data, size_t length, bool external, buffer *dump) {
  hp_javascript *engine = hp_javascript_create(NULL);
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .script = {.callback = hp_javascript_run, .context = engine, .external = external}};
  hpar_status status = parse(way, &options, data, length);
  hp_javascript_destroy(engine);
  const char *problem = NULL;
  uint64_t nodes;
  if (status == HPAR_OK) problem = compare_links(document, &nodes);
  if (status != HPAR_OK) printf("way %u: %s\n", way, hpar_status_text(status));
  /* Scripts may leave texts side by side. */
  if (problem && strcmp(problem, "two texts stand side by side") != 0) printf("way %u: %s\n", way, problem);
  return status == HPAR_OK && compare_dump(document, dump);
}

static void check_trees(const char *path, size_t number, const dat_test *test) {
  static buffer dump;
  for (unsigned way = 0; way < WAYS; way++) {
    bool same = run(way, test->data, test->data_length, false, &dump) && dump.length == test->expected_length &&
                !memcmp(dump.bytes, test->expected, dump.length);
    if (check_at(same, path, path, (int)test->line)) continue;
    printf("test %zu, way %u\n%.*s\nexpected:\n%.*s\ngot:\n%.*s\n", number, way, (int)test->data_length, test->data,
           (int)test->expected_length, test->expected, (int)dump.length, dump.bytes);
    return;
  }
}

static void check_file(const char *path) {
  dat_file file;
  if (!CHECK(dat_read(path, &file))) return;
  for (size_t i = 0; i < file.count; i++) check_trees(path, i + 1, &file.tests[i]);
  CHECK(file.count > 0);
  dat_free(&file);
}

static int fixtures(void) {
  static const char *const names[] = {"write.dat", "mutation.dat", "generated.dat"};
  char directory[4096], path[4200];
  if (!shared_path(directory, sizeof directory, "document-write")) return CHECK_SKIPPED;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    check_file(path);
  }
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction/scripted")) return CHECK_SKIPPED;
  shared_list files;
  if (!CHECK(shared_files(directory, ".dat", &files))) return 1;
  for (size_t i = 0; i < files.count; i++) check_file(files.paths[i]);
  shared_list_free(&files);
  return check_report();
}

int main(int count, char **arguments) {
  if (!CHECK(hpar_parser_create(&parser) == HPAR_OK) || !CHECK(hpar_document_create(&document) == HPAR_OK)) return 1;
  if (getenv("HPAR_TEST_ERRORS")) quiet = stderr;
  int status = check_part(count, arguments, "fixtures") ? fixtures() : check_report();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status;
}
