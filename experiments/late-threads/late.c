/* hpar-late PLACES MODE FILE...: parses each FILE on two threads. In each parse, the second thread
 * sleeps at another place of the text. Prints by how much the parses exceed the sequential one: the
 * median, the 95th percentile and the longest excess in nanoseconds, as JSON. The same numbers of
 * the sequential parse beside its own median state the noise of the machine. The processor time of
 * the calling thread has less noise. It is complete if the thread did not sleep: its voluntary
 * context switches count the sleeps. MODE is "chain", "tree" or "auto".
 *
 * The linker leads the library's calls of hp_worker_note_progress and hp_claim_item through this
 * program. A worker calls the first one every 4 KB. Threads call the second one for each slice of
 * decoding or validation. While the thread sleeps, the program compares the tree with the
 * sequential one. */

#include "../page.h"
#include "cli/equal.h"

#include <errno.h>
#include <hpar/hpar.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SLEEP_NS = 100000000, SEQUENTIAL_RUNS = 3, WARM_RUNS = 5 };

struct hp_worker;
uint32_t __real_hp_worker_note_progress(struct hp_worker *worker, uint32_t at);
uint32_t __wrap_hp_worker_note_progress(struct hp_worker *worker, uint32_t at);
bool __real_hp_claim_item(_Atomic uint64_t *claimed, unsigned index);
bool __wrap_hp_claim_item(_Atomic uint64_t *claimed, unsigned index);

typedef unsigned long long nanoseconds;

typedef struct times {
  long long elapsed, processor;
  bool slept; /* the calling thread has waited without a processor */
} times;

static pthread_t main_thread;
static sem_t woken;
static _Atomic long calls_before_sleep; /* negative: a thread has slept, or none is to sleep */
static _Atomic long calls;              /* of the threads of the pool, in one parse */

static nanoseconds now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (nanoseconds)time.tv_sec * 1000000000u + (nanoseconds)time.tv_nsec;
}

static void pass(void) {
  if (pthread_equal(pthread_self(), main_thread)) return;
  atomic_fetch_add(&calls, 1);
  if (atomic_fetch_sub(&calls_before_sleep, 1)) return;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += SLEEP_NS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  while (sem_timedwait(&woken, &until) && errno == EINTR) {
  }
}

uint32_t __wrap_hp_worker_note_progress(struct hp_worker *worker, uint32_t at) {
  pass();
  return __real_hp_worker_note_progress(worker, at);
}

bool __wrap_hp_claim_item(_Atomic uint64_t *claimed, unsigned index) {
  bool is_mine = __real_hp_claim_item(claimed, index);
  if (is_mine) pass();
  return is_mine;
}

static int by_number(const void *a, const void *b) {
  long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

static hpar_parser *sequential_parser, *parser;
static hpar_document *sequential, *document;
static hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2};

static long sleeps_so_far(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

/* Parses once and measures the parse, if `taken` is not NULL. Returns false after a failure. */
static bool parse(bool is_sequential, const char *bytes, size_t length, hpar_stats *stats, times *taken) {
  hpar_options own = options;
  if (is_sequential) own = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_document *target = is_sequential ? sequential : document;
  long sleeps = sleeps_so_far();
  nanoseconds begin = now(CLOCK_MONOTONIC), used = now(CLOCK_THREAD_CPUTIME_ID);
  if (hpar_parse(is_sequential ? sequential_parser : parser, &own, bytes, length, target, stats)) return false;
  if (taken)
    *taken = (times){(long long)(now(CLOCK_MONOTONIC) - begin), (long long)(now(CLOCK_THREAD_CPUTIME_ID) - used),
                     sleeps_so_far() != sleeps};
  return true;
}

/* Wakes the sleeping thread, and waits for it. The next parse then reuses the document's memory. */
static void wake(void) {
  if (atomic_exchange(&calls_before_sleep, LONG_MIN / 2) < 0) sem_post(&woken);
  hpar_document_clear(document);
  while (!sem_trywait(&woken)) {
  }
}

/* The parses of one page. */
typedef struct series {
  long long *elapsed, *processor; /* in nanoseconds, of `count` parses */
  size_t count, slept;
} series;

static void add(series *s, const times *taken) {
  s->elapsed[s->count] = taken->elapsed;
  s->processor[s->count++] = taken->processor;
  s->slept += taken->slept;
}

/* Parses with a sleep at the place, after sequential parses. Returns whether the tree is right. */
static bool parse_late(const char *bytes, size_t length, long place, series *own, series *late,
                       unsigned long *rescued) {
  hpar_stats stats = {HPAR_STATS_INIT};
  hp_difference difference;
  times taken;
  for (int i = 0; i < SEQUENTIAL_RUNS; i++) {
    if (!parse(true, bytes, length, NULL, &taken)) return false;
    add(own, &taken);
  }
  if (!parse(false, bytes, length, NULL, NULL)) return false; /* the pool is awake */
  wake();
  atomic_store(&calls_before_sleep, place);
  if (!parse(false, bytes, length, &stats, &taken)) return false;
  if (atomic_load(&calls_before_sleep) < 0) add(late, &taken);
  *rescued += stats.chunks_rescued;
  bool is_right = hp_trees_equal(sequential, document, &difference);
  wake();
  return is_right;
}

/* Sorts the numbers. Returns the median. */
static long long sort(long long *numbers, size_t count) {
  qsort(numbers, count, sizeof *numbers, by_number);
  return count ? numbers[count / 2] : 0;
}

/* Prints the median, the 95th percentile and the largest of sorted numbers, minus `base`. */
static void print(const char *name, const long long *sorted, size_t count, long long base) {
  if (!count) printf(", \"%s\": null", name);
  if (count)
    printf(", \"%s\": [%lld, %lld, %lld]", name, sorted[count / 2] - base, sorted[count * 19 / 20] - base,
           sorted[count - 1] - base);
}

static size_t count_within(const long long *sorted, size_t count, long long most) {
  size_t within = 0;
  while (within < count && sorted[within] <= most) within++;
  return within;
}

static void print_page(const char *path, series *own, series *late, unsigned long rescued) {
  enum { AIM_NS = 500000 };
  long long elapsed = sort(own->elapsed, own->count), processor = sort(own->processor, own->count);
  sort(late->elapsed, late->count);
  sort(late->processor, late->count);
  const char *name = strrchr(path, '/');
  printf("{\"file\": \"%s\", \"sequential\": %lld, \"sleeps\": %zu, \"rescued\": %lu, \"waited\": %zu",
         name ? name + 1 : path, elapsed, late->count, rescued, late->slept);
  printf(", \"within\": %zu, \"processor_within\": %zu", count_within(late->elapsed, late->count, elapsed + AIM_NS),
         count_within(late->processor, late->count, processor + AIM_NS));
  print("noise", own->elapsed, own->count, elapsed);
  print("late", late->elapsed, late->count, elapsed);
  print("processor_noise", own->processor, own->count, processor);
  print("processor_late", late->processor, late->count, processor);
  putchar('}');
}

static bool measure(const char *path, const char *bytes, size_t length, size_t places) {
  long long *numbers = malloc(places * 2 * (SEQUENTIAL_RUNS + 1) * sizeof *numbers);
  series own = {.elapsed = numbers, .processor = numbers + places * SEQUENTIAL_RUNS};
  series late = {.elapsed = own.processor + places * SEQUENTIAL_RUNS};
  late.processor = late.elapsed + places;
  unsigned long rescued = 0;
  bool done = numbers != NULL;
  long most = 0;
  for (int i = 0; done && i < WARM_RUNS; i++) {
    atomic_store(&calls, 0);
    done = parse(false, bytes, length, NULL, NULL) && parse(true, bytes, length, NULL, NULL);
    if (atomic_load(&calls) > most) most = atomic_load(&calls);
  }
  for (size_t i = 0; done && i < places; i++)
    done = parse_late(bytes, length, (long)((unsigned long)most * i / places), &own, &late, &rescued);
  if (done) print_page(path, &own, &late, rescued);
  free(numbers);
  return done;
}

int main(int count, char **arguments) {
  if (count < 4 || atoi(arguments[1]) < 1) {
    fputs("usage: hpar-late PLACES chain|tree|auto FILE...\n", stderr);
    return 2;
  }
  main_thread = pthread_self();
  sem_init(&woken, 0, 0);
  atomic_store(&calls_before_sleep, LONG_MIN / 2);
  options.mode = strcmp(arguments[2], "auto") ? HPAR_MODE_PARALLEL : HPAR_MODE_AUTO;
  options.parallel.merge = strcmp(arguments[2], "tree") ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE;
  if (hpar_parser_create(&parser) || hpar_parser_create(&sequential_parser)) return 1;
  if (hpar_document_create(&document) || hpar_document_create(&sequential)) return 1;
  printf("{\"pages\": [");
  for (int i = 3; i < count; i++) {
    size_t length;
    char *bytes = read_page(arguments[i], 0, &length);
    printf(i > 3 ? ",\n" : "\n");
    if (!bytes || !measure(arguments[i], bytes, length, (size_t)atoi(arguments[1]))) {
      fprintf(stderr, "hpar-late: %s could not be measured\n", arguments[i]);
      return 1;
    }
    hpar_document_clear(document);
    hpar_document_clear(sequential);
    free(bytes);
  }
  puts("\n]}");
  hpar_document_destroy(document);
  hpar_document_destroy(sequential);
  hpar_parser_destroy(parser);
  hpar_parser_destroy(sequential_parser);
  return fflush(stdout) ? 1 : 0;
}
