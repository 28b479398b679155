/* Checks that fresh documents take warm memory. The memory of destroyed documents stays mapped for
 * documents of the same size, within a bound. The library releases it after a time without use. */

#include <hpar/hpar.h>

#include "base/arena.h"

#include "check.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || HP_ASAN
int main(void) {
  printf("skipped: a sanitizer changes the use of memory\n");
  return 77;
}
#else
enum { MEGABYTE = 1 << 20, PAGE_BYTES = MEGABYTE, LARGE_BYTES = 12 * MEGABYTE, MAX_WARM_BYTES = 64 * MEGABYTE };
enum { FEW_FAULTS = 40, SLACK_BYTES = 4 * MEGABYTE, DOCUMENTS = 20 };

static time_t seconds = 1000, step = 0;

/* Replaces the function of the C library. Time passes only where the test changes `seconds`, and by
 * `step` at each call. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  (void)clock;
  seconds += step;
  *time = (struct timespec){.tv_sec = seconds};
  return 0;
}

static char *page;
static hpar_parser *parser;

static hpar_document *parse(size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  hpar_document *document = NULL;
  CHECK(!hpar_document_create(&document));
  CHECK(!hpar_parse(parser, &options, page, length, document, NULL));
  return document;
}

static long faults(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_minflt;
}

static long faults_of(size_t length) {
  long before = faults();
  hpar_document_destroy(parse(length));
  return faults() - before;
}

static size_t resident(void) {
  size_t all = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%zu %zu", &all, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void reuse(void) {
  long cold = faults_of(PAGE_BYTES);
  CHECK(cold > FEW_FAULTS);
  CHECK(faults_of(PAGE_BYTES) < FEW_FAULTS);
  CHECK(faults_of(PAGE_BYTES / 2) < FEW_FAULTS);
}

/* Expects that `unused` seconds leave at most `bytes` more than `before`. */
static void expect_after(time_t unused, size_t before, size_t bytes) {
  seconds += unused;
  hpar_document_destroy(parse(100));
  CHECK(resident() <= before + bytes);
}

static void release(size_t before) {
  CHECK(resident() > before + PAGE_BYTES);
  expect_after(100, before, SLACK_BYTES);
  faults_of(PAGE_BYTES);
  /* Small documents follow a larger one without a pause. */
  for (int i = 0; i < 4; i++) expect_after(5, before, i < 2 ? SIZE_MAX / 2 : SLACK_BYTES);
}

/* Many documents, and one beyond the bound, leave no more than the bound. */
static void bound(size_t before) {
  hpar_document *documents[DOCUMENTS];
  for (int i = 0; i < DOCUMENTS; i++) documents[i] = parse(PAGE_BYTES);
  for (int i = 0; i < DOCUMENTS; i += 2) hpar_document_destroy(documents[i]);
  for (int i = 1; i < DOCUMENTS; i += 2) hpar_document_destroy(documents[i]);
  CHECK(resident() <= before + MAX_WARM_BYTES + SLACK_BYTES);
  hpar_document_destroy(parse(LARGE_BYTES));
  CHECK(resident() <= before + MAX_WARM_BYTES + SLACK_BYTES);
}

/* Returns whether the process has requested huge pages, by the flags of its mappings. */
static bool has_huge_pages(void) {
  char line[4096];
  bool found = false;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "VmFlags:", 8) && strstr(line, " hg")) found = true;
  if (file) fclose(file);
  return found;
}

/* Large documents that live at once take huge pages, of which less than one is unused. An emulator
 * requests huge pages itself. */
static void huge_pages(void) {
  if (getenv("HPAR_TEST_EMULATOR")) return;
  enum { KEPT = 4, HUGE_PAGE_BYTES = 2 * MEGABYTE };
  hpar_document *documents[KEPT];
  size_t before = resident(), memory = 0;
  CHECK(!has_huge_pages());
  for (int i = 0; i < KEPT; i++) {
    documents[i] = parse(LARGE_BYTES / 4);
    memory += hpar_document_memory(documents[i]);
  }
  CHECK(has_huge_pages() || access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK));
  CHECK(resident() <= before + memory + HUGE_PAGE_BYTES + MEGABYTE);
  for (int i = 0; i < KEPT; i++) hpar_document_destroy(documents[i]);
  expect_after(100, before, SLACK_BYTES);
}

static void run_tasks(unsigned tasks, void (*task)(void *job, unsigned index), void *job, void *context) {
  (void)context;
  while (tasks--) task(job, tasks);
}

/* An edit that moves a tree leaves alone the memory that no thread of its parse has used. */
static void moved_parts(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .encoding = "utf-8", .threads = 32,
                                .parallel = {.executor = HPAR_EXECUTOR_CALLER, .run = run_tasks}};
  hpar_document *document, *next;
  hpar_editor *editor;
  hpar_node made;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, HPAR_PARALLEL ? &options : NULL, page, PAGE_BYTES, document, NULL), HPAR_OK);
  next = parse(100); /* in the addresses after the tree */
  size_t before = resident(), memory = hpar_document_memory(document);
  CHECK_EQ(hpar_document_edit(document, NULL, &editor, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_text(editor, page, PAGE_BYTES / 8, &made), HPAR_OK);
  CHECK(resident() > before + memory / 2);
  CHECK(resident() <= before + memory + MEGABYTE);
  hpar_document_destroy(document);
  hpar_document_destroy(next);
}

/* A limit of time also ends a parse if it is longer than the clock has run. */
static void long_deadline(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8",
                                .limits.time_ns = UINT64_C(5000000000000)};
  hpar_document *document = parse(100);
  CHECK(seconds < 4000);
  step = 1000;
  CHECK_EQ(hpar_parse(parser, &options, page, PAGE_BYTES, document, NULL), HPAR_LIMIT_TIME);
  step = 0;
  hpar_document_destroy(document);
}

/* So it does with one long change. */
static void long_clone(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .limits.time_ns = UINT64_C(100000000000)};
  hpar_document *document = parse(PAGE_BYTES);
  hpar_editor *editor;
  hpar_node copy;
  step = 1;
  CHECK_EQ(hpar_document_edit(document, &options, &editor, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_clone(editor, hpar_document_html(document), true, &copy), HPAR_LIMIT_TIME);
  step = 0;
  hpar_document_destroy(document);
}

int main(void) {
  page = malloc(LARGE_BYTES);
  if (!CHECK(page) || !CHECK(!hpar_parser_create(&parser))) return check_report();
  for (size_t i = 0; i < LARGE_BYTES; i += 8) memcpy(page + i, "<p>xxxxx", 8);
  for (int i = 0; i < 2; i++) hpar_document_destroy(parse(PAGE_BYTES / 8));
  expect_after(100, 0, SIZE_MAX / 2);
  size_t before = resident();
  huge_pages();
  reuse();
  release(before);
  bound(before);
  moved_parts();
  long_deadline();
  long_clone();
  hpar_parser_destroy(parser);
  free(page);
  return check_report();
}
#endif
