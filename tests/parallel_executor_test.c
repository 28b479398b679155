/* Tests executors of the caller, thread affinity and allocators. The executors start a thread per
 * task, run the tasks on one thread in several orders, or run only some tasks. The tree is always
 * the sequential one. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/mode.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERRORS = 100, MOST = 16 };

static hpar_parser *parser;
static hpar_document *document;
static buffer page, expected, got;
static size_t expected_errors;

typedef void task(void *job, unsigned index);
typedef struct started {
  task *run;
  void *job;
  unsigned index;
  pthread_t thread;
} started;

static _Atomic unsigned calls, tasks;

static void *run_started(void *context) {
  started *s = context;
  s->run(s->job, s->index);
  return NULL;
}

/* Starts a thread for each task, and runs the first task on the calling thread, last of all. */
static void on_threads(unsigned count, task *run, void *job, void *context) {
  (void)context;
  started all[MOST * 4];
  CHECK(count <= MOST * 4);
  calls++;
  tasks += count;
  for (unsigned i = 0; i < count; i++) {
    all[i] = (started){.run = run, .job = job, .index = i};
    CHECK_EQ(pthread_create(&all[i].thread, NULL, run_started, &all[i]), 0);
  }
  for (unsigned i = 0; i < count; i++) pthread_join(all[i].thread, NULL);
}

static void forwards(unsigned count, task *run, void *job, void *context) {
  (void)context;
  calls++;
  tasks += count;
  for (unsigned i = 0; i < count; i++) run(job, i);
}

static void backwards(unsigned count, task *run, void *job, void *context) {
  (void)context;
  calls++;
  tasks += count;
  while (count--) run(job, count);
}

/* Runs two workers late, and the others after the merge. */
static void shuffled(unsigned count, task *run, void *job, void *context) {
  random_state *random = context;
  unsigned order[MOST * 4];
  calls++;
  tasks += count;
  for (unsigned i = 0; i < count; i++) order[i] = i;
  for (unsigned i = count; i > 1; i--) {
    unsigned other = (unsigned)random_below(random, i), kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }
  for (unsigned i = 0; i < count; i++) run(job, order[i]);
}

static void first_only(unsigned count, task *run, void *job, void *context) {
  (void)context;
  (void)count;
  calls++;
  run(job, 0);
}

static void odd_only(unsigned count, task *run, void *job, void *context) {
  (void)context;
  calls++;
  for (unsigned i = 1; i < count; i += 2) run(job, i);
}

/* Runs each task twice, and one that there is not. The second call must have no effect. */
static void twice(unsigned count, task *run, void *job, void *context) {
  (void)context;
  calls++;
  tasks += count;
  for (unsigned i = 0; i <= 2 * count; i++) run(job, i / 2);
}

static void nothing(unsigned count, task *run, void *job, void *context) {
  (void)context;
  (void)count;
  (void)run;
  (void)job;
  calls++;
}

static random_state order = {5};
static const struct {
  const char *name;
  hpar_run_callback run;
} executors[] = {{"threads", on_threads}, {"forwards", forwards}, {"backwards", backwards}, {"shuffled", shuffled},
                 {"first", first_only},   {"odd", odd_only},      {"twice", twice},         {"nothing", nothing}};
enum { EXECUTORS = sizeof executors / sizeof *executors };

static void expect(const char *bytes, size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ERRORS};
  CHECK_EQ(hpar_parse(parser, &options, bytes, length, document, NULL), HPAR_OK);
  CHECK(compare_dump(document, &expected));
  expected_errors = hpar_parse_error_count(parser);
}

static bool is_expected(void) {
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  return CHECK(!wrong) && CHECK(compare_dump(document, &got)) && CHECK(got.length == expected.length) &&
         CHECK(!memcmp(got.bytes, expected.bytes, got.length));
}

static void every_executor(void) {
  generated made = {0};
  const uint64_t seeds = compare_scale() < 100 ? 40 : 300;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    generate(seed, &made);
    if (made.fragment) continue;
    buffer_clear(&page);
    for (unsigned times = 0; times < 1 + seed % 5; times++) buffer_add(&page, made.text.bytes, made.text.length);
    if (page.length < 100) continue;
    expect(page.bytes, page.length);
    for (unsigned e = 0; e < EXECUTORS; e++) {
      if (seed % 8 && executors[e].run == on_threads) continue; /* starting threads is slow */
      const hpar_study study = {HPAR_STUDY_INIT, .merge = seed % 3 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE,
                                .pipelined_workers = seed % 7 == 0};
      hpar_options options = {HPAR_OPTIONS_INIT,
                              .mode = HPAR_MODE_PARALLEL,
                              .threads = 2 + (unsigned)(seed % 5),
                              .parallel.chunk_size = page.length / (2 + seed % 9),
                              .parallel.executor = HPAR_EXECUTOR_CALLER,
                              .parallel.run = executors[e].run,
                              .parallel.run_context = &order,
                              .study = &study,
                              .max_errors = ERRORS};
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      calls = tasks = 0;
      bool fine = CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK) &&
                  is_expected() && CHECK_EQ(hpar_parse_error_count(parser), expected_errors) &&
                  CHECK_STRING(stats.mode, "parallel") && CHECK_EQ(stats.threads, options.threads) &&
                  CHECK_EQ(calls, stats.chunks > 0);
      if (fine && stats.chunks && tasks) fine = CHECK_EQ(tasks, options.threads);
      if (fine && executors[e].run == backwards) fine = CHECK_EQ(stats.chunks_exact, 0);
      if (fine && executors[e].run == forwards) fine = CHECK_EQ(stats.log_entries, 0);
      if (!fine) printf("  seed %llu, %s\n", (unsigned long long)seed, executors[e].name);
    }
  }
  generate_free(&made);
}

/* An executor that checks that it gets at most as many tasks as threads. */
typedef struct limited {
  unsigned threads, largest;
  hpar_run_callback run;
} limited;

static void run_limited(unsigned count, task *run, void *job, void *context) {
  limited *l = context;
  if (count > l->largest) l->largest = count;
  CHECK(count > 1 && count <= l->threads);
  l->run(count, run, job, &order);
}

/* Parses the page with executors that run all, some or no tasks, for each number of threads. */
static void parse_with_partial_executors(const char *name, const char *encoding) {
  for (unsigned threads = 2; threads <= 40; threads += threads < 4 ? 1 : 9) {
    for (unsigned e = 0; e < EXECUTORS; e++) {
      limited l = {.threads = threads, .run = executors[e].run};
      hpar_options options = {HPAR_OPTIONS_INIT,           .mode = HPAR_MODE_PARALLEL,
                              .threads = threads,          .parallel.executor = HPAR_EXECUTOR_CALLER,
                              .parallel.run = run_limited, .parallel.run_context = &l,
                              .encoding = encoding,        .max_errors = ERRORS};
      hpar_status status = hpar_parse(parser, &options, page.bytes, page.length, document, NULL);
      bool fine = CHECK_EQ(status, HPAR_OK) && is_expected() && CHECK_EQ(l.largest, threads) &&
                  CHECK_EQ(hpar_parse_error_count(parser), expected_errors);
      if (!fine) printf("  %s, %u threads, executor %s\n", name, threads, executors[e].name);
    }
  }
}

/* Validation, decoding and parsing use at most `threads` tasks. The calling thread runs the tasks
 * that an executor leaves out. */
static void partial_executors(void) {
  static const struct {
    const char *name, *encoding, *line;
  } pages[] = {{"valid", NULL, "<p>\xC3\xA4 line %u <b>b</b>\n"},
               {"fallback", NULL, "<p>\xE4 line %u <b>b</b>\n"},
               {"repaired", "utf-8", "<p>\xE4 line %u <b>b</b>\n"},
               {"decoded", "shift_jis", "<p>\x83\x41 line %u <b>b</b>\n"}};
  const unsigned lines = compare_scale() < 100 ? 1500 : 10000;
  for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++) {
    buffer_clear(&page);
    for (unsigned k = 0; k < lines; k++) buffer_format(&page, pages[i].line, k);
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ERRORS,
                            .encoding = pages[i].encoding};
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    CHECK(compare_dump(document, &expected));
    expected_errors = hpar_parse_error_count(parser);
    parse_with_partial_executors(pages[i].name, pages[i].encoding);
  }
}

/* Checks that fed input waits for finish, that the pipelined parser stays on the calling thread,
 * and that the executor decodes other encodings. */
static void other_ways(void) {
  buffer_clear(&page);
  for (unsigned i = 0; i < 40000; i++) buffer_format(&page, "<p>\xE4 line %u <b>b</b>\n", i);
  expect(page.bytes, page.length);
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = HPAR_MODE_PARALLEL,
                          .threads = 3,
                          .parallel.executor = HPAR_EXECUTOR_CALLER,
                          .parallel.run = on_threads,
                          .parallel.run_context = &order};
  calls = 0;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(calls, 3); /* checking for UTF-8, decoding, and parsing */
  is_expected();
  calls = 0;
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (size_t at = 0; at < page.length; at += 50000) {
    size_t n = page.length - at < 50000 ? page.length - at : 50000;
    CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, n), HPAR_OK);
  }
  CHECK_EQ(calls, 0);
  CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_OK);
  CHECK_EQ(calls, 3);
  is_expected();
  options.study = &(hpar_study){HPAR_STUDY_INIT, .driver = "pipelined"};
  calls = 0;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(calls, 0);
  is_expected();

  options.study = NULL;
  options.parallel.run = NULL;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_ERROR_ARGUMENT);
  options.parallel.run = nothing;
  options.encoding = "windows-1252";
  options.parallel.chunk_size = 10000;
  /* one chunk: no task */
  CHECK_EQ(hpar_parse(parser, &options, "<p>x<p>y", 8, document, NULL), HPAR_OK);
  buffer_clear(&page);
  for (unsigned i = 0; i < 4000; i++) buffer_format(&page, "<p>line %u\n", i);
  expect(page.bytes, page.length);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  is_expected();
  options.parallel.run = forwards;
  options.limits.nodes = 100;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_LIMIT_NODES);
  options.limits.nodes = 0;
  expect(page.bytes, page.length);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  is_expected();
}

/* Checks that failures unwind in the task that merges, on any thread. */
static void want_of_memory(void) {
  uint64_t n = 0;
  buffer_clear(&page);
  for (unsigned i = 0; i < 60; i++) buffer_format(&page, "<div><b id=x%d><x-%d>a&amp;b<table>f<tr><td>c", i, i);
  expect(page.bytes, page.length);
  for (bool reached = true; reached && n < 4000; n++) {
    hpar_parser *own = NULL;
    const hpar_study study = {HPAR_STUDY_INIT, .checkpoint_bytes = 1};
    hpar_options options = {HPAR_OPTIONS_INIT,
                            .mode = HPAR_MODE_PARALLEL,
                            .threads = 3,
                            .parallel.chunk_size = 300,
                            .study = &study,
                            .parallel.executor = HPAR_EXECUTOR_CALLER,
                            .parallel.run = n % 2 ? shuffled : on_threads,
                            .parallel.run_context = &order};
    hp_memory_fail_after(n / 2);
    hpar_status status = hpar_parser_create(&own);
    if (!status) status = hpar_parse(own, &options, page.bytes, page.length, document, NULL);
    reached = hp_memory_left() == 0;
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    if (!status)
      is_expected();
    else if (own)
      CHECK(!hpar_node_first_child(document, hpar_document_root(document)));
    if (own) {
      CHECK_EQ(hpar_parse(own, &options, page.bytes, page.length, document, NULL), HPAR_OK);
      is_expected();
    }
    hpar_parser_destroy(own);
  }
  CHECK(n > 10 && n < 4000);
}

static int allowed(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

/* Checks that the parse restores the affinity of the calling thread, and that the statistics name
 * allowed processors. */
static void binding(void) {
  int before = allowed();
  buffer_clear(&page);
  for (unsigned i = 0; i < 4000; i++) buffer_format(&page, "<p>line %u\n", i);
  expect(page.bytes, page.length);
  static const int modes[] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, MODE_PIPELINED, HPAR_MODE_PARALLEL};
  for (unsigned m = 0; m < sizeof modes / sizeof *modes; m++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .threads = 3, .parallel.chunk_size = 2000,
                            .parallel.affinity = m < 3 ? HPAR_AFFINITY_CORES : HPAR_AFFINITY_NONE};
    hpar_study study = {HPAR_STUDY_INIT};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    mode_choose(&options, &study, modes[m]);
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    is_expected();
    CHECK_EQ(allowed(), before); /* restored */
    if (m == 3) {
      CHECK_STRING(stats.affinity, "none");
    } else {
      CHECK(!strcmp(stats.affinity, "cores") || !strcmp(stats.affinity, "processors"));
      cpu_set_t set;
      CHECK(!sched_getaffinity(0, sizeof set, &set));
      for (unsigned i = 0; i < stats.threads; i++) CHECK(CPU_ISSET(stats.processor_per_worker[i], &set));
      if (before > 1 && stats.threads > 1) CHECK(stats.processor_per_worker[0] != stats.processor_per_worker[1]);
    }
  }
  hpar_input inputs[4];
  for (unsigned i = 0; i < 4; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page.bytes, .length = page.length};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2, .parallel.affinity = HPAR_AFFINITY_CORES};
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, 4, &stats, NULL, NULL), HPAR_OK);
  CHECK(strcmp(stats.affinity, "none") != 0);
  CHECK_EQ(allowed(), before);
}

/* Returns the threads of two parallel parses in a fresh process: the first one with `affinity`,
 * the second one without. The process counts its cores in the first. */
static unsigned threads_of_fresh_process(hpar_affinity bind, int second) {
  pid_t child = fork();
  if (!child) {
    unsigned threads = 0;
    for (int round = 0; round <= second; round++) {
      /* A thread that is late in a slice of decoding leaves the parse to one thread. */
      hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .encoding = "utf-8",
                              .parallel.affinity = round ? HPAR_AFFINITY_NONE : bind};
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      if (hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats)) _exit(0);
      threads = stats.threads;
    }
    _exit((int)threads);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
  return (unsigned)WEXITSTATUS(status);
}

/* Requires: this process has not counted its cores yet. */
static void binding_leaves_the_thread_count(void) {
  buffer_clear(&page);
  for (unsigned i = 0; i < 4000; i++) buffer_format(&page, "<p>line %u\n", i);
  unsigned unbound = threads_of_fresh_process(HPAR_AFFINITY_NONE, 0);
  CHECK(unbound > 0);
  CHECK_EQ(threads_of_fresh_process(HPAR_AFFINITY_CORES, 0), unbound);
  CHECK_EQ(threads_of_fresh_process(HPAR_AFFINITY_CORES, 1), unbound);
}

static void allocators(void) {
  hpar_document_clear(document); /* late threads may read the page */
  bool there = hpar_allocator_name(HPAR_ALLOCATOR_JEMALLOC);
  CHECK_STRING(hpar_allocator_name(HPAR_ALLOCATOR_LIBC), "libc");
  CHECK(!hpar_allocator_name(2));
  buffer_clear(&page);
  for (unsigned i = 0; i < 4000; i++) buffer_format(&page, "<p>line %u<x-%u>\n", i, i % 300);
  expect(page.bytes, page.length);
  hpar_options options = {HPAR_OPTIONS_INIT, .allocator = HPAR_ALLOCATOR_JEMALLOC};
  if (!there) {
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_ERROR_UNSUPPORTED);
    return;
  }
  for (unsigned round = 0; round < 40; round++) {
    hpar_document *fresh = round % 4 ? document : NULL;
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    options.allocator = round % 3 ? HPAR_ALLOCATOR_JEMALLOC : HPAR_ALLOCATOR_LIBC;
    options.mode = round % 2 ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
    options.threads = 2;
    options.parallel.chunk_size = 3000;
    if (!fresh) CHECK_EQ(hpar_document_create(&fresh), HPAR_OK);
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, fresh, &stats), HPAR_OK);
    CHECK_STRING(stats.allocator, hpar_allocator_name(options.allocator));
    CHECK(compare_dump(fresh, &got) && got.length == expected.length && !memcmp(got.bytes, expected.bytes, got.length));
    if (fresh != document) hpar_document_destroy(fresh);
  }
  /* If the document cannot move to another allocator, it becomes empty and remains usable. */
  options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .allocator = HPAR_ALLOCATOR_LIBC};
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  options.allocator = HPAR_ALLOCATOR_JEMALLOC;
  hp_memory_fail_after(0);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_ERROR_MEMORY);
  hp_memory_fail_after(UINT64_MAX);
  CHECK(!hpar_node_first_child(document, hpar_document_root(document)));
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page.bytes, page.length), HPAR_OK);
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK);
  CHECK_STRING(stats.allocator, "jemalloc");
  is_expected();
}

int main(void) {
  CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&document));
  binding_leaves_the_thread_count();
  every_executor();
  partial_executors();
  other_ways();
  want_of_memory();
  binding();
  allocators();
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
