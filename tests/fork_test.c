/* Checks a fork in a program that has a pool. The child parses, destroys parsers and creates new
 * pools. During a feed the threads of the pool may be at any point when the process forks. */

#include <hpar/hpar.h>
#include <hpar/study.h>

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_BYTES = 600 << 10, FEEDS = 12, ROUNDS = 30, FORKS = 40 };
/* A guard only: no check depends on it. */
enum { MAX_CHILD_SECONDS = 600 };

static char *page;
static uint64_t page_nodes;

static hpar_options parallel_options(void) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 3;
  options.parallel.chunk_size = 5000;
  return options;
}

static bool parses(hpar_parser *parser, hpar_document *document) {
  hpar_options options = parallel_options();
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  return !hpar_study_parse(parser, &options, page, PAGE_BYTES, document, &stats) && stats.nodes == page_nodes;
}

static bool parses_anew(void) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  bool right = !hpar_parser_create(&parser) && !hpar_document_create(&document) && parses(parser, document);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  return right;
}

/* Of scripts/coverage, which would not see the children otherwise. */
int __llvm_profile_write_file(void) __attribute__((weak));

/* Runs the function in a child. A child that hangs ends after MAX_CHILD_SECONDS. */
static void in_child(int (*run)(void *context), void *context) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    alarm(MAX_CHILD_SECONDS);
    int result = run(context);
    if (__llvm_profile_write_file) __llvm_profile_write_file();
    _exit(result);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

typedef struct pair {
  hpar_parser *parser;
  hpar_document *document;
} pair;

static int use_and_destroy(void *context) {
  pair *p = context;
  if (!parses(p->parser, p->document)) return 1;
  hpar_parser_destroy(p->parser);
  if (!parses_anew()) return 2;
  hpar_document_destroy(p->document);
  return 0;
}

static int destroy_parser_first(void *context) {
  pair *p = context;
  hpar_parser_destroy(p->parser);
  hpar_parser *other = NULL;
  if (hpar_parser_create(&other) || !parses(other, p->document)) return 1;
  hpar_parser_destroy(other);
  hpar_document_destroy(p->document);
  return !parses_anew();
}

static int destroy_document_first(void *context) {
  pair *p = context;
  hpar_document_destroy(p->document);
  hpar_parser_destroy(p->parser);
  return !parses_anew();
}

/* The threads of the feed are gone, so the feed fails; the parser and the document remain
 * usable. */
static int go_on(void *context) {
  pair *p = context;
  hpar_status status = hpar_parser_feed(p->parser, page, 1000);
  if (status != HPAR_ERROR_ARGUMENT) return 1;
  if (hpar_study_finish(p->parser, NULL) != HPAR_ERROR_ARGUMENT) return 2;
  return use_and_destroy(p);
}

static int finish(void *context) {
  pair *p = context;
  if (hpar_study_finish(p->parser, NULL) != HPAR_ERROR_ARGUMENT) return 1;
  return use_and_destroy(p);
}

static int parse_again(void *context) { return use_and_destroy(context); }

static void idle_pool(void) {
  pair p = {NULL, NULL};
  if (!CHECK(!hpar_parser_create(&p.parser)) || !CHECK(!hpar_document_create(&p.document))) return;
  CHECK(parses(p.parser, p.document));
  in_child(use_and_destroy, &p);
  in_child(destroy_parser_first, &p);
  in_child(destroy_document_first, &p);
  CHECK(parses(p.parser, p.document));
  hpar_parser_destroy(p.parser);
  hpar_document_destroy(p.document);
}

static void during_feeds(void) {
  static int (*const ways[])(void *) = {destroy_parser_first, destroy_document_first, go_on, finish, parse_again};
  hpar_options options = parallel_options();
  pair p = {NULL, NULL};
  if (!CHECK(!hpar_parser_create(&p.parser)) || !CHECK(!hpar_document_create(&p.document))) return;
  for (unsigned round = 0; round < ROUNDS; round++) {
    CHECK(!hpar_parser_begin(p.parser, &options, p.document));
    for (unsigned i = 0; i < FEEDS; i++) {
      if (!CHECK(!hpar_parser_feed(p.parser, page + i * (PAGE_BYTES / FEEDS), PAGE_BYTES / FEEDS))) return;
      if (i == 3 + round % (FEEDS - 3)) in_child(ways[round % (sizeof ways / sizeof *ways)], &p);
    }
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK(!hpar_study_finish(p.parser, &stats));
    CHECK_EQ(stats.nodes, page_nodes);
    CHECK_EQ(stats.threads, 3);
  }
  hpar_parser_destroy(p.parser);
  hpar_document_destroy(p.document);
}

static atomic_bool stop;

/* Reserves and releases address space continuously. */
static void *churn(void *unused) {
  hpar_parser *parser = NULL;
  if (hpar_parser_create(&parser)) return unused;
  while (!atomic_load(&stop)) {
    hpar_document *document = NULL;
    if (!hpar_document_create(&document)) hpar_parse(parser, NULL, "<p>x", 4, document, NULL);
    hpar_document_destroy(document);
  }
  hpar_parser_destroy(parser);
  return unused;
}

static int parse_own(void *unused) {
  (void)unused;
  return !parses_anew();
}

/* Forks while another thread is in a call of the library. */
static void beside_other_threads(void) {
  pthread_t thread;
  if (!CHECK(!pthread_create(&thread, NULL, churn, NULL))) return;
  for (unsigned i = 0; i < FORKS; i++) in_child(parse_own, NULL);
  atomic_store(&stop, true);
  pthread_join(thread, NULL);
}

int main(void) {
#if defined(__SANITIZE_THREAD__)
  printf("skipped: ThreadSanitizer allows no thread in the child of a process with threads\n");
  return 77;
#elif defined(__SANITIZE_ADDRESS__)
  printf("skipped: the allocator of AddressSanitizer does not take its locks at a fork\n");
  return 77;
#endif
  page = malloc(PAGE_BYTES + 100);
  if (!page) return 1;
  for (size_t length = 0, i = 0; length < PAGE_BYTES; i++)
    length += (size_t)sprintf(page + length, "<div class=c%zu><p x-%zu>text <b>bold</b> &amp; more</div>\n", i, i);
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  CHECK(!hpar_study_parse(parser, &options, page, PAGE_BYTES, document, &stats));
  page_nodes = stats.nodes;
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  idle_pool();
  during_feeds();
  beside_other_threads();
  free(page);
  return check_report();
}
