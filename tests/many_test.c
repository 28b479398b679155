/* Checks many inputs in parallel. Each has the same tree, status and parse errors as alone, for all
 * numbers of threads and executors, in documents of the caller or of the parser. Limits and
 * failures affect only one input. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/generate.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 60, OWN = 8, ERRORS = 100 }; /* the first OWN inputs have documents of the caller */

static buffer pages[COUNT], trees[COUNT], got[COUNT];
static size_t errors[COUNT];
static uint64_t tokens, nodes, bytes;

static void make_pages(void) {
  generated made = {0};
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&document));
  for (unsigned i = 0; i < COUNT; i++) {
    generate(1000 + i, &made);
    for (unsigned times = 0; times <= i * i / 40; times++) buffer_add(&pages[i], made.text.bytes, made.text.length);
    if (i == 7) buffer_clear(&pages[i]);
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ERRORS};
    hpar_stats stats = {HPAR_STATS_INIT};
    CHECK_EQ(hpar_parse(parser, &options, pages[i].bytes, pages[i].length, document, &stats), HPAR_OK);
    CHECK(compare_dump(document, &trees[i]));
    errors[i] = hpar_parse_error_count(parser);
    tokens += stats.tokens;
    nodes += stats.nodes;
    bytes += stats.bytes;
  }
  generate_free(&made);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

typedef struct seen {
  _Atomic unsigned calls[COUNT];
  size_t errors[COUNT];
  _Atomic unsigned at_once[HPAR_MAX_THREADS];
  _Atomic bool wrong;
  unsigned threads;
} seen;

static void note(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                 const hpar_stats *stats, unsigned thread, void *context) {
  seen *s = context;
  if (thread >= HPAR_MAX_THREADS || atomic_fetch_add(&s->at_once[thread], 1)) atomic_store(&s->wrong, true);
  atomic_fetch_add(&s->calls[index], 1);
  s->errors[index] = hpar_parse_error_count(parser);
  if (input->document && input->document != document) atomic_store(&s->wrong, true);
  if (strcmp(stats->mode, "sequential") != 0) atomic_store(&s->wrong, true);
  if (!document || !compare_dump(document, &got[index])) atomic_store(&s->wrong, true);
  atomic_fetch_sub(&s->at_once[thread], 1);
}

static void fill(hpar_input *inputs, hpar_document *const *documents) {
  for (unsigned i = 0; i < COUNT; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = pages[i].bytes, .length = pages[i].length,
                             .document = documents && i < OWN ? documents[i] : NULL, .status = HPAR_ERROR_IO};
}

static void check_sums(const hpar_many_stats *stats) {
  uint64_t inputs = 0;
  for (unsigned i = 0; i < HPAR_MAX_THREADS; i++) {
    inputs += stats->inputs_per_worker[i];
    CHECK(stats->ns.parse_per_worker[i] <= stats->ns.total);
  }
  CHECK_EQ(inputs, COUNT);
  CHECK_EQ(stats->inputs, COUNT);
  CHECK_EQ(stats->failed, 0);
  CHECK_EQ(stats->bytes, bytes);
  CHECK_EQ(stats->tokens, tokens);
  CHECK_EQ(stats->nodes, nodes);
  CHECK_STRING(stats->allocator, "libc");
  CHECK_STRING(stats->affinity, "none");
}

static void backwards(unsigned count, void (*task)(void *job, unsigned index), void *job, void *context) {
  (void)context;
  while (count--) task(job, count);
}

static void nothing(unsigned count, void (*task)(void *job, unsigned index), void *job, void *context) {
  (void)context;
  (void)count;
  (void)task;
  (void)job;
}

static void all_of_them(hpar_parser *parser, unsigned threads, hpar_executor executor, hpar_document **documents) {
  hpar_input inputs[COUNT];
  seen s = {.threads = threads};
  /* The call ignores the options for one parallel document. */
  const uint64_t cuts[] = {0};
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = 1};
  hpar_options options = {HPAR_OPTIONS_INIT,         .mode = threads % 2 ? HPAR_MODE_AUTO : HPAR_MODE_SEQUENTIAL,
                          .threads = threads,        .parallel.executor = executor,
                          .parallel.run = backwards, .parallel.chunk_size = 10,
                          .study = &study,           .max_errors = ERRORS};
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  fill(inputs, documents);
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, COUNT, &stats, note, &s), HPAR_OK);
  CHECK(!atomic_load(&s.wrong));
  check_sums(&stats);
  bool several = hpar_predictor_name(0) && executor != HPAR_EXECUTOR_INLINE;
  CHECK(stats.threads == (several ? threads : 1) || executor == HPAR_EXECUTOR_THREADS);
  for (unsigned i = 0; i < COUNT; i++) {
    bool fine = CHECK_EQ(inputs[i].status, HPAR_OK) && CHECK_EQ(atomic_load(&s.calls[i]), 1) &&
                CHECK(same(&got[i], &trees[i])) && CHECK_EQ(s.errors[i], errors[i]);
    if (fine && documents && i < OWN) fine = CHECK(compare_dump(documents[i], &got[i]) && same(&got[i], &trees[i]));
    if (!fine) printf("  input %u, threads %u, executor %d\n", i, threads, (int)executor);
  }
}

/*** long inputs ***/

/* What the callback of a batch with long inputs sees: the inputs from `first` on are long. */
typedef struct modes {
  _Atomic unsigned parallel, sequential, differences;
  size_t first;
  const buffer *tree; /* of a long input */
} modes;

static void note_mode(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                      const hpar_stats *stats, unsigned thread, void *context) {
  modes *m = context;
  (void)input, (void)parser, (void)thread;
  atomic_fetch_add(strcmp(stats->mode, "parallel") ? &m->sequential : &m->parallel, 1);
  buffer tree = {0};
  const buffer *expected = index < m->first ? &trees[index] : m->tree;
  if (!compare_dump(document, &tree) || !same(&tree, expected)) atomic_fetch_add(&m->differences, 1);
  buffer_free(&tree);
}

/* All threads together parse an input for which one thread needs longer than all for all inputs. */
static void check_long(hpar_mode mode, hpar_executor executor, unsigned few, unsigned longs) {
  enum { LONGS = 3 };
  const size_t least = (size_t)(compare_scale() < 100 ? 2 : 3) << 20;
  hpar_input inputs[COUNT + LONGS];
  buffer page = {0}, tree = {0};
  hpar_document *document = NULL;
  hpar_parser *parser = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  buffer_text(&page, "\xEF\xBB\xBF"); /* the parse looks for no encoding */
  while (page.length < least) buffer_text(&page, "<p class=a>some <b>text</b> <i>and");
  CHECK(!hpar_document_create(&document) && !hpar_parser_create(&parser));
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK(compare_dump(document, &tree));
  hpar_document_destroy(document);
  options = (hpar_options){HPAR_OPTIONS_INIT, .mode = mode, .threads = 2,
                           .parallel = {.executor = executor, .run = backwards}};
  fill(inputs, NULL);
  for (unsigned i = 0; i < longs; i++)
    inputs[few + i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page.bytes, .length = page.length};
  modes m = {.tree = &tree, .first = few};
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, few + longs, &stats, note_mode, &m), HPAR_OK);
  buffer_free(&page); /* no thread reads it any more */
  /* Two equal ones keep both threads busy. */
  const bool splits = hpar_predictor_name(0) && mode != HPAR_MODE_SEQUENTIAL && executor != HPAR_EXECUTOR_INLINE;
  const unsigned parallel = splits ? longs % 2 : 0;
  if (!CHECK_EQ(atomic_load(&m.parallel), parallel) || !CHECK_EQ(atomic_load(&m.sequential), few + longs - parallel) ||
      !CHECK_EQ(atomic_load(&m.differences), 0))
    printf("  mode %d, executor %d, %u short and %u long inputs\n", (int)mode, (int)executor, few, longs);
  if (parallel) CHECK_EQ(stats.threads, 2);
  hpar_parser_destroy(parser);
  buffer_free(&tree);
}

static void long_inputs(void) {
  for (unsigned longs = 1; longs <= 2; longs++)
    for (unsigned few = compare_scale() < 100 ? COUNT : 0; few <= COUNT; few += COUNT) {
      check_long(HPAR_MODE_AUTO, HPAR_EXECUTOR_THREADS, few, longs);
      check_long(HPAR_MODE_AUTO, HPAR_EXECUTOR_CALLER, few, longs);
      if (CHECK_ONE_THREAD) check_long(HPAR_MODE_AUTO, HPAR_EXECUTOR_INLINE, few, longs);
      check_long(HPAR_MODE_SEQUENTIAL, HPAR_EXECUTOR_THREADS, few, longs);
    }
}

static void trees_are_the_same(void) {
  hpar_document *documents[OWN];
  for (unsigned i = 0; i < OWN; i++) CHECK_EQ(hpar_document_create(&documents[i]), HPAR_OK);
  hpar_parser *parser = NULL;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  const bool is_small = compare_scale() < 100;
  for (unsigned threads = is_small ? 3 : 1; threads <= 8; threads = is_small ? 9 : threads * 2 - threads / 3)
    for (int executor = HPAR_EXECUTOR_THREADS; executor <= HPAR_EXECUTOR_CALLER; executor++) {
      all_of_them(parser, threads, (hpar_executor)executor, NULL);
      all_of_them(parser, threads, (hpar_executor)executor, documents);
    }
  hpar_parser_destroy(parser); /* does not destroy documents */
  for (unsigned i = 0; i < OWN; i++) {
    CHECK(compare_dump(documents[i], &got[i]) && same(&got[i], &trees[i]));
    hpar_document_destroy(documents[i]);
  }
}

static void one_fails(void) {
  hpar_parser *parser = NULL;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  hpar_input inputs[3] = {{HPAR_INPUT_INIT, .bytes = "<p>a", .length = 4},
                          {HPAR_INPUT_INIT, .bytes = NULL, .length = 9},
                          {HPAR_INPUT_INIT, .bytes = "<p><p><p><p><p>", .length = 15}};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2, .limits.nodes = 6};
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, 3, &stats, NULL, NULL), HPAR_OK);
  CHECK_EQ(inputs[0].status, HPAR_OK);
  CHECK_EQ(inputs[1].status, HPAR_ERROR_ARGUMENT);
  CHECK_EQ(inputs[2].status, HPAR_LIMIT_NODES);
  CHECK_EQ(stats.failed, 2);
  CHECK_EQ(stats.bytes, 4);
  CHECK_EQ(hpar_parse_many(parser, NULL, inputs, 3, NULL, NULL, NULL), HPAR_OK);
  CHECK_EQ(inputs[2].status, HPAR_OK);

  /* The call parses no input. */
  inputs[0].status = HPAR_ERROR_IO;
  options = (hpar_options){HPAR_OPTIONS_INIT, .encoding = "no label"};
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse_many(NULL, NULL, inputs, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse_many(parser, NULL, NULL, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  options = (hpar_options){HPAR_OPTIONS_INIT, .threads = 2, .parallel.executor = HPAR_EXECUTOR_CALLER};
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, 3, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(inputs[0].status, HPAR_ERROR_IO);
  /* the calling thread parses the inputs that the executor leaves out */
  if (hpar_predictor_name(0)) {
    options.parallel.run = nothing;
    CHECK_EQ(hpar_parse_many(parser, &options, inputs, 3, NULL, NULL, NULL), HPAR_OK);
    CHECK_EQ(inputs[0].status, HPAR_OK);
  }
  CHECK_EQ(hpar_parse_many(parser, NULL, NULL, 0, &stats, NULL, NULL), HPAR_OK);
  CHECK_EQ(stats.inputs, 0);
  CHECK_EQ(stats.ns.total > 0, true);

  /* The call abandons a feed, as any other call on the parser does. */
  hpar_document *document = NULL;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, "<p>x", 4), HPAR_OK);
  CHECK_EQ(hpar_parse_many(parser, NULL, inputs, 1, NULL, NULL, NULL), HPAR_OK);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_ERROR_ARGUMENT);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

/* The n-th allocation fails: an input reports it and is empty, or has its tree. The other inputs
 * continue. */
static void want_of_memory(void) {
  enum { INPUTS = 9, MOST = 4000 };
  uint64_t n = 0;
  bool reached = true;
  for (; reached && n < MOST; n++) {
    hpar_parser *parser = NULL;
    hpar_input inputs[INPUTS];
    memset(inputs, 0, sizeof inputs);
    for (unsigned i = 0; i < INPUTS; i++)
      inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = pages[i].bytes, .length = pages[i].length};
    seen s = {.threads = 3};
    hpar_options options = {HPAR_OPTIONS_INIT, .threads = n % 2 ? 3 : 1, .max_errors = ERRORS};
    hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
    for (unsigned i = 0; i < INPUTS; i++) {
      buffer_clear(&got[i]);
      if (!inputs[i].document) CHECK_EQ(hpar_document_create(&inputs[i].document), HPAR_OK);
    }
    hp_memory_fail_after(n / 2);
    hpar_status status = hpar_parser_create(&parser);
    if (!status) status = hpar_parse_many(parser, &options, inputs, INPUTS, &stats, NULL, &s);
    reached = hp_memory_left() == 0;
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    for (unsigned i = 0; i < INPUTS; i++) {
      hpar_document *document = inputs[i].document;
      if (!status && !inputs[i].status)
        CHECK(compare_dump(document, &got[i]) && same(&got[i], &trees[i]));
      else
        CHECK((status || inputs[i].status == HPAR_ERROR_MEMORY) &&
              !hpar_node_first_child(document, hpar_document_root(document)));
      if (parser) CHECK_EQ(hpar_parse(parser, NULL, inputs[i].bytes, inputs[i].length, document, NULL), HPAR_OK);
      hpar_document_destroy(document);
    }
    hpar_parser_destroy(parser);
  }
  CHECK(n > 10 && n < MOST);
  printf("%llu failures of allocation\n", (unsigned long long)n);
}

static void note_order(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                       const hpar_stats *stats, unsigned thread, void *context) {
  size_t *next = context;
  (void)input, (void)document, (void)parser, (void)stats, (void)thread;
  CHECK_EQ(index, *next);
  ++*next;
}

/* One thread keeps the order of the inputs, however long they are. */
static void one_thread_keeps_the_order(void) {
  hpar_parser *parser = NULL;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  const hpar_options options = {HPAR_OPTIONS_INIT, .threads = 1};
  hpar_input inputs[COUNT];
  size_t next = 0;
  fill(inputs, NULL);
  CHECK_EQ(hpar_parse_many(parser, &options, inputs, COUNT, NULL, note_order, &next), HPAR_OK);
  CHECK_EQ(next, COUNT);
  hpar_parser_destroy(parser);
}

/* Without the parallel parser, no thread is lost. The sanitizers have no threads after a fork. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !HPAR_PARALLEL
static void child_goes_on(void) {}
#else
typedef struct forked {
  pid_t child;
  uint64_t allocations;
  _Atomic size_t calls; /* from two threads */
} forked;

static void fork_first(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                       const hpar_stats *stats, unsigned thread, void *context) {
  forked *f = context;
  (void)index, (void)input, (void)document, (void)parser, (void)stats, (void)thread;
  if (f->calls++) return;
  f->child = fork();
  if (!f->child) hp_memory_fail_once(f->allocations);
}

/* The callback of a long input forks. The child makes new threads for the other inputs, and parses
 * all of them if an allocation fails. */
static void child_goes_on(void) {
  enum { INPUTS = 4 };
  buffer page = {0};
  buffer_text(&page, "\xEF\xBB\xBF");
  while (page.length < 1 << 20) buffer_text(&page, "<p class=a>some <b>text</b> <i>and");
  for (unsigned n = 0; n < 12; n++) {
    hpar_parser *parser = NULL;
    CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
    const hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2};
    hpar_input inputs[INPUTS] = {{HPAR_INPUT_INIT, .bytes = page.bytes, .length = page.length}};
    for (unsigned i = 1; i < INPUTS; i++)
      inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = "<p>a", .length = 4, .status = HPAR_ERROR_IO};
    forked f = {.allocations = n};
    const hpar_status status = hpar_parse_many(parser, &options, inputs, INPUTS, NULL, fork_first, &f);
    bool fine = status == HPAR_OK && f.child >= 0 && f.calls == INPUTS;
    for (unsigned i = 0; i < INPUTS; i++)
      fine = fine && (inputs[i].status == HPAR_OK || (!f.child && inputs[i].status == HPAR_ERROR_MEMORY));
    if (!f.child) _exit(!fine);
    int ended = -1;
    CHECK(fine && waitpid(f.child, &ended, 0) == f.child && ended == 0);
    hpar_parser_destroy(parser);
  }
  buffer_free(&page);
}
#endif

int main(void) {
  make_pages();
  trees_are_the_same();
  long_inputs();
  one_thread_keeps_the_order();
  one_fails();
  child_goes_on();
  want_of_memory();
  for (unsigned i = 0; i < COUNT; i++) {
    buffer_free(&pages[i]);
    buffer_free(&trees[i]);
    buffer_free(&got[i]);
  }
  return check_report();
}
