/* hpar-late-users USER PLACES REPETITIONS FILE...: runs a call of the library on each FILE by two
 * threads, the second of which sleeps at one place. Prints one row a place, as JSON. USER is
 * parser, selection, decoding, rewriter, scan or batch.
 *
 * A place is a number of calls of the hook: where the second thread claims a unit, and at each
 * step, tag or element inside; in the parser every 512 bytes. Each place has REPETITIONS calls.
 * Before each, the call runs twice on one thread, and once on two without a sleep. A place has more
 * calls while the two on one thread differ, which is noise of the machine. The program links the
 * files of the library that have the hook, compiled with it.
 *
 * For the rewriter, each page also has the time of a copy of its bytes: by memcpy, and by the
 * kernel, which may read bytes that the caller has freed. */

#include "../page.h"
#include "runtime/units.h"
#include "sleep.h"
#include "speculation/worker.h"

#include <hpar/hpar.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
  WARM_RUNS = 9,
  TRIES = 3,
  SLEEP_NS = 10000000,
  BATCH = 256,
  BATCH_BYTES = 8 << 10,
  COPIES = 25,
  PARSED_BYTES = 512,
  CALM_NS = 200000, /* calls on one thread and their control differ by at most so much */
  MOST_ROUNDS = 4   /* of REPETITIONS at a place, until they do */
};

typedef long long nanoseconds;

static nanoseconds now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/*** the second thread ***/

static _Thread_local bool is_main;
static sem_t woken;
static _Atomic bool is_armed; /* the thread has not slept, and is to sleep */
static _Atomic long calls, place;

static void note(void) {
  if (is_main) return;
  const long call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  if (call == place && atomic_exchange(&is_armed, false)) sleep_until_woken(&woken, SLEEP_NS);
}

static uint32_t note_progress(uint32_t at) {
  if (at != HP_PROGRESS_OF_LEAVING && at != HP_PROGRESS_OF_LEAVING + 1) note();
  return at + PARSED_BYTES;
}

/*** users ***/

typedef struct page {
  const char *name;
  char *bytes;
  size_t length;
} page;

static hpar_parser *parser;
static hpar_document *document;
static hpar_rewriter *rewriter;
static hpar_rules *rules;
static hpar_selectors *selectors;
static size_t results; /* so that no call is left out */

static hpar_mode mode_of(bool parallel) { return parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL; }

static hpar_options parse_options(bool parallel) {
  return (hpar_options){HPAR_OPTIONS_INIT, .mode = mode_of(parallel), .threads = 2,
                        .parallel = {.wait = HPAR_WAIT_SPIN, .bytes_stay = 1}};
}

/* A parser that remembers late threads would be another state. */
static bool renew_parser(const page *p) {
  (void)p;
  hpar_document_clear(document);
  hpar_parser_destroy(parser);
  return !hpar_parser_create(&parser);
}

static bool open_selection(const page *p) {
  static const char *const texts[] = {"a[href]", "div p", "li:first-child", "table td > b", ".x", "h2 ~ p"};
  hpar_options options = parse_options(false);
  if (hpar_selectors_create(&selectors)) return false;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (hpar_selectors_add(selectors, texts[i], strlen(texts[i]), NULL)) return false;
  return !hpar_parse(parser, &options, p->bytes, p->length, document, NULL);
}

static hpar_status count_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(size_t *)context;
  return HPAR_OK;
}

static bool run_selection(const page *p, bool parallel) {
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = mode_of(parallel), .threads = 2};
  (void)p;
  return !hpar_select(selectors, document, hpar_document_root(document), &options, count_match, &results);
}

static void close_selection(void) { hpar_selectors_destroy(selectors); }

static bool open_parser(const page *p) {
  (void)p;
  hp_unit_set_hook(NULL);
  hp_worker_hook_progress(note_progress);
  return true;
}

static bool run_parser(const page *p, bool parallel) {
  hpar_options options = parse_options(parallel);
  return !hpar_parse(parser, &options, p->bytes, p->length, document, NULL);
}

static bool run_decoding(const page *p, bool parallel) {
  hpar_options options = parse_options(parallel);
  options.encoding = "windows-1252";
  return !hpar_parse(parser, &options, p->bytes, p->length, document, NULL);
}

static bool open_rewriter(const page *p) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "rel", .value = {"nofollow", 8}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "a[href]", .actions = &set, .action_count = 1};
  (void)p;
  return !hpar_rules_create(&rules) && !hpar_rules_add(rules, &rule, NULL) && !hpar_rules_compile(rules) &&
         !hpar_rewriter_create(&rewriter);
}

static hpar_status count_bytes(const char *bytes, size_t length, void *context) {
  (void)bytes;
  *(size_t *)context += length;
  return HPAR_OK;
}

static bool run_rewriter(const page *p, bool parallel) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .mode = mode_of(parallel), .threads = 2,
                                        .encoding = "utf-8", .bytes_stay = 1};
  return !hpar_rewrite(rewriter, rules, &options, p->bytes, p->length, NULL, count_bytes, &results);
}

static void close_rewriter(void) {
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
}

static void count_resource(const hpar_resource *resource, hpar_resource_event event, void *context) {
  (void)resource, (void)context;
  if (event == HPAR_RESOURCE_CONFIRMED) results++;
}

static bool run_scan(const page *p, bool parallel) {
  hpar_options options = parse_options(parallel);
  options.encoding = "utf-8";
  options.resources.callback = count_resource;
  return !hpar_scan_resources(parser, &options, p->bytes, p->length);
}

static hpar_document *documents[BATCH];

static bool open_batch(const page *p) {
  (void)p;
  for (size_t i = 0; i < BATCH; i++)
    if (hpar_document_create(&documents[i])) return false;
  return true;
}

static void close_batch(void) {
  for (size_t i = 0; i < BATCH; i++) hpar_document_destroy(documents[i]);
}

static bool run_batch(const page *p, bool parallel) {
  hpar_options options = parse_options(parallel);
  hpar_input inputs[BATCH];
  options.threads = parallel ? 2 : 1;
  for (size_t i = 0; i < BATCH; i++)
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = p->bytes,
                             .length = p->length < BATCH_BYTES ? p->length : BATCH_BYTES, .document = documents[i]};
  return !hpar_parse_many(parser, &options, inputs, BATCH, NULL, NULL, NULL);
}

static bool do_nothing(const page *p) {
  (void)p;
  return true;
}

static void close_nothing(void) {}

static const struct user {
  const char *name;
  bool (*open)(const page *page);
  bool (*run)(const page *page, bool parallel);
  bool (*renew)(const page *page); /* after a late thread */
  void (*close)(void);
} users[] =
    {
        {"parser", open_parser, run_parser, renew_parser, close_nothing},
        {"selection", open_selection, run_selection, do_nothing, close_selection},
        {"decoding", do_nothing, run_decoding, renew_parser, close_nothing},
        {"rewriter", open_rewriter, run_rewriter, do_nothing, close_rewriter},
        {"scan", do_nothing, run_scan, do_nothing, close_nothing},
        {"batch", open_batch, run_batch, do_nothing, close_batch},
},
  *user;

/*** places ***/

/* The times of a call on one thread, of another such call as a control, of one on two threads, and
 * of one with a late thread. */
enum { ALONE, AGAIN, TOGETHER, LATE, KINDS };

static bool run(const page *p, bool parallel, nanoseconds *time) {
  atomic_store(&calls, 0);
  const nanoseconds begin = now();
  const bool done = user->run(p, parallel);
  *time = now() - begin;
  return done;
}

/* Runs with a sleep at the place. Returns false after a failure. */
static bool run_late(const page *p, long at, nanoseconds *time, bool *slept) {
  *slept = false;
  place = at;
  atomic_store(&is_armed, true);
  const bool done = run(p, true, time);
  *slept = !atomic_exchange(&is_armed, false);
  if (*slept) sem_post(&woken);
  const bool is_new = !*slept || user->renew(p);
  nanoseconds unused;
  /* Threads that wait for work are awake again. A late one has used the semaphore. */
  const bool is_ready = done && is_new && run(p, true, &unused);
  usleep(100);
  while (!sem_trywait(&woken)) {
  }
  return is_ready;
}

static void note_shortest(nanoseconds *shortest, nanoseconds time) {
  if (!*shortest || time < *shortest) *shortest = time;
}

/* Returns whether the two kinds of calls on one thread took about as long. */
static bool is_calm(const nanoseconds *shortest) { return llabs(shortest[AGAIN] - shortest[ALONE]) <= CALM_NS; }

static bool measure_place(const page *p, long at, unsigned repetitions, bool *is_first) {
  nanoseconds shortest[KINDS] = {0}, time;
  unsigned sleeps = 0;
  for (unsigned i = 0; i < repetitions || (i < MOST_ROUNDS * repetitions && !is_calm(shortest)); i++) {
    for (int kind = ALONE; kind < LATE; kind++) {
      if (!run(p, kind == TOGETHER, &time)) return false;
      note_shortest(&shortest[kind], time);
    }
    bool slept = false;
    for (int k = 0; k < TRIES && !slept; k++) {
      if (!run_late(p, at, &time, &slept)) return false;
      if (slept) note_shortest(&shortest[LATE], time);
    }
    sleeps += slept;
  }
  if (!sleeps) return true;
  printf("%s[%ld, %u", *is_first ? "\n  " : ",\n  ", at, sleeps);
  for (int kind = 0; kind < KINDS; kind++) printf(", %lld", shortest[kind]);
  printf("]");
  *is_first = false;
  return true;
}

static int by_number(const void *a, const void *b) {
  const long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

/* Finds the median number of calls of the second thread. */
static bool find_calls(const page *p, long *median) {
  long all[WARM_RUNS];
  nanoseconds unused;
  for (int i = 0; i < WARM_RUNS; i++) {
    if (!run(p, true, &unused)) return false;
    all[i] = calls;
  }
  qsort(all, WARM_RUNS, sizeof *all, by_number);
  *median = all[WARM_RUNS / 2];
  return true;
}

/* Prints the shortest of some copies: by memcpy, and by the kernel (0: it refuses). */
static void print_copies(const page *p, char *to) {
  nanoseconds plain = 0, by_kernel = 0;
  for (int i = 0; i < COPIES; i++) {
    nanoseconds begin = now();
    memcpy(to, p->bytes, p->length);
    note_shortest(&plain, now() - begin);
    results += (unsigned char)to[p->length / 2];
    const struct iovec own = {to, p->length}, other = {p->bytes, p->length};
    begin = now();
    if (process_vm_readv(getpid(), &own, 1, &other, 1, 0) == (ssize_t)p->length)
      note_shortest(&by_kernel, now() - begin);
  }
  printf(", \"copy\": %lld, \"kernel_copy\": %lld", plain, by_kernel);
}

static bool measure(const page *p, unsigned places, unsigned repetitions) {
  long count = 0;
  bool is_first = true, done = user->open(p) && find_calls(p, &count);
  char *copy = malloc(p->length + 1);
  if (done && copy) {
    printf("{\"length\": %zu, \"calls\": %ld", p->length, count);
    print_copies(p, copy);
    printf(", \"places\": [");
    for (unsigned i = 0; done && i < places && i < (unsigned long)count; i++)
      done = measure_place(p, places < (unsigned long)count ? count * (long)i / (long)places : (long)i, repetitions,
                           &is_first);
    printf("]}");
  }
  free(copy);
  user->close();
  return done && copy;
}

int main(int count, char **arguments) {
  const size_t all = sizeof users / sizeof *users;
  size_t chosen = 0;
  while (count > 1 && chosen < all && strcmp(arguments[1], users[chosen].name) != 0) chosen++;
  if (count < 5 || chosen == all || atoi(arguments[2]) < 1 || atoi(arguments[3]) < 1) {
    fputs("usage: hpar-late-users parser|selection|decoding|rewriter|scan|batch PLACES REPETITIONS FILE...\n", stderr);
    return 2;
  }
  user = &users[chosen];
  is_main = true;
  sem_init(&woken, 0, 0);
  hp_unit_set_hook(note);
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  printf("{\"pages\": [");
  for (int i = 4; i < count; i++) {
    page p = {.name = arguments[i]};
    p.bytes = read_page(arguments[i], 0, &p.length);
    printf(i > 4 ? ",\n" : "\n");
    if (!p.bytes || !measure(&p, (unsigned)atoi(arguments[2]), (unsigned)atoi(arguments[3]))) {
      fprintf(stderr, "hpar-late-users: %s could not be measured\n", arguments[i]);
      return 1;
    }
    hpar_document_clear(document);
    free(p.bytes);
  }
  puts("\n]}");
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return fflush(stdout) || !results ? 1 : 0;
}
