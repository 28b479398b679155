/* hpar-late PLACES REPETITIONS STATE FILE...: parses each FILE on two threads, merged as a chain.
 * The second thread sleeps at one place, while the first one parses. Prints one row a place,
 * as JSON. Each place has REPETITIONS parses, and two sequential parses before each.
 *
 * PLACES places are evenly spread over the text that the second thread parses. Further places are
 * the start of the thread, and up to MAX_SLICES slices that it decodes or validates. A chunk that
 * it claims counts as a slice. The program links the files of the library that have test hooks,
 * compiled with them. A worker calls the hook every 4 KB, or at the first token after the place if
 * that is nearer.
 *
 * STATE is the state before the parse:
 * first: no parse before had a late thread. The second thread joins all its chunks into one.
 * again: a parse before had a late thread. The second thread ends its chunks after 64 KB.
 * cold: like first, but only a parse without a late thread has written to the document's memory.
 * fresh: like first, but no parse has written to the document's memory.
 * tree: like first, but merged as a tree.
 * auto: like first, but in the automatic mode, which remembers no earlier waits.
 * In the states cold and fresh, the sequential parses have such a document, too. */

#include "../page.h"
#include "dom/node.h"
#include "programs/hpar/equal.h"
#include "runtime/units.h"
#include "sleep.h"
#include "speculation/worker.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { WARM_RUNS = 9, TRIES = 3, SLEEP_NS = 100000000, MAX_SLICES = 8, NO_SLICE = -1, START = -2 };

typedef unsigned long long nanoseconds;

static nanoseconds read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (nanoseconds)time.tv_sec * 1000000000u + (nanoseconds)time.tv_nsec;
}

/* What the calling thread has used so far. */
typedef struct usage {
  nanoseconds elapsed, processor;
  long sleeps, page_faults;
} usage;

static usage read_usage(void) {
  struct rusage used = {0};
  getrusage(RUSAGE_THREAD, &used);
  return (usage){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID), used.ru_nvcsw, used.ru_minflt};
}

static pthread_t main_thread;
static sem_t woken;
static enum { FIRST, AGAIN, COLD, FRESH, TREE, AUTO, STATES } state;
static const char *const state_names[STATES] = {"first", "again", "cold", "fresh", "tree", "auto"};

/* A place: the second thread's slice, or the bytes after the first offset that it parses. */
typedef struct place {
  int slice; /* NO_SLICE: the place is in the text; START: it is before the first chunk */
  uint32_t bytes;
} place;

/* The second thread's state in one parse. The main thread reads it while the thread sleeps. */
static struct {
  _Atomic bool is_armed; /* the thread has not slept, and is to sleep */
  place at;
  _Atomic uint32_t first, last; /* offsets that the thread has noted; `first` is 0: none */
  _Atomic int slices;
} second;

static struct {
  nanoseconds begin, time;
} leaving; /* how long the main thread takes to leave the pool, at the end of a parse */

static void sleep_here(void) {
  if (atomic_exchange(&second.is_armed, false)) sleep_until_woken(&woken, SLEEP_NS);
}

/* The library calls it in each thread of the pool: before the thread takes its part of the text,
 * and at its tokens. In the main thread, it calls it before and after that leaves the pool. Returns
 * the offset of the next call at a token. */
static uint32_t note(uint32_t at) {
  uint32_t next = at + HP_PROGRESS_BYTES;
  if (at == HP_PROGRESS_OF_LEAVING) leaving.begin = read_clock(CLOCK_MONOTONIC);
  if (at == HP_PROGRESS_OF_LEAVING + 1) leaving.time = read_clock(CLOCK_MONOTONIC) - leaving.begin;
  if (pthread_equal(pthread_self(), main_thread) || at == HP_PROGRESS_OF_COMPOSITIONS) return next;
  if (at == HP_PROGRESS_OF_PARTS) {
    if (second.at.slice == START) sleep_here();
    return next;
  }
  if (!second.first) second.first = second.last = at;
  if (at > second.last) second.last = at;
  if (!second.is_armed || second.at.slice != NO_SLICE) return next;
  uint32_t target = second.first + second.at.bytes;
  if (at < target) return target < next ? target : next;
  sleep_here();
  return next;
}

static void note_unit(void) {
  if (!pthread_equal(pthread_self(), main_thread) && second.slices++ == second.at.slice) sleep_here();
}

/*** parses ***/

static hpar_parser *sequential_parser, *parser;
static hpar_document *sequential, *document;

typedef struct page {
  const char *name, *bytes;
  size_t length;
} page;

/* The parts of one parse. */
typedef struct sample {
  long long elapsed, processor, wait, leave;
  long page_faults, rescued;
} sample;

static bool parse(const page *p, hpar_mode mode, hpar_document *target, sample *taken) {
  const hpar_study study = {HPAR_STUDY_INIT, .merge = state == TREE ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = mode, .threads = 2, .parallel.wait = HPAR_WAIT_SPIN,
                          .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  leaving.time = 0;
  usage before = read_usage();
  hpar_parser *own = mode == HPAR_MODE_SEQUENTIAL ? sequential_parser : parser;
  if (hpar_study_parse(own, &options, p->bytes, p->length, target, &stats)) return false;
  usage after = read_usage();
  *taken = (sample){(long long)(after.elapsed - before.elapsed),
                    (long long)(after.processor - before.processor),
                    (long long)stats.ns.wait,
                    (long long)leaving.time,
                    after.page_faults - before.page_faults,
                    (long)stats.chunks_rescued};
  return true;
}

/* Wakes the sleeping thread, and waits for it. */
static void wake(void) {
  if (!atomic_exchange(&second.is_armed, false)) sem_post(&woken);
  hpar_document_clear(document);
  while (!sem_trywait(&woken)) {
  }
}

static void free_pages(void) {
  hpar_document_clear(document);
  const hp_block *block = &document->range.block;
  if (block->base) madvise(block->base, block->size, MADV_DONTNEED);
}

/* Replaces the parser, which remembers late threads and waits. */
static bool forget_late_threads(void) {
  if (state == AGAIN) return true;
  hpar_parser_destroy(parser);
  parser = NULL;
  return !hpar_parser_create(&parser);
}

/* Prepares the document for a parse. The pool is awake afterwards. */
static bool prepare(const page *p) {
  sample unused;
  if (state == COLD) free_pages();
  if (!parse(p, HPAR_MODE_PARALLEL, document, &unused)) return false;
  hpar_document_clear(document);
  if (state == FRESH) free_pages();
  second.first = second.last = 0;
  second.slices = 0;
  return true;
}

static bool parse_sequentially(const page *p, sample *taken) {
  if (state != COLD && state != FRESH) return parse(p, HPAR_MODE_SEQUENTIAL, sequential, taken);
  return prepare(p) && parse(p, HPAR_MODE_SEQUENTIAL, document, taken);
}

/* Parses with a sleep at the place. Sets `*slept`. Returns false after a failure or, if `compares`,
 * for a wrong tree. */
static bool parse_late(const page *p, place at, bool compares, sample *taken, bool *slept) {
  hp_difference difference;
  *slept = false;
  for (int i = 0; i < TRIES && !*slept; i++) {
    if (!prepare(p)) return false;
    second.at = at;
    second.is_armed = true;
    if (!parse(p, state == AUTO ? HPAR_MODE_AUTO : HPAR_MODE_PARALLEL, document, taken)) return false;
    *slept = !second.is_armed;
    if (compares && !hp_trees_equal(sequential, document, &difference)) return false;
    wake();
    if (!forget_late_threads()) return false;
  }
  return true;
}

/*** places ***/

static int by_number(const void *a, const void *b) {
  long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

/* The parses of one place: with a sleep, sequential, and sequential as a control. */
enum { LATE, SEQUENTIAL, CONTROL, KINDS };

typedef struct series {
  sample *of[KINDS];
  long long *sorted;
  size_t count;
} series;

static bool open_series(series *s, size_t repetitions) {
  *s = (series){.sorted = malloc(repetitions * sizeof *s->sorted)};
  bool done = s->sorted;
  for (int kind = 0; kind < KINDS; kind++) done = (s->of[kind] = malloc(repetitions * sizeof(sample))) && done;
  return done;
}

static void close_series(series *s) {
  for (int kind = 0; kind < KINDS; kind++) free(s->of[kind]);
  free(s->sorted);
}

/* Sorts the times of a kind. */
static const long long *sort(series *s, int kind, bool is_processor) {
  for (size_t i = 0; i < s->count; i++) s->sorted[i] = is_processor ? s->of[kind][i].processor : s->of[kind][i].elapsed;
  qsort(s->sorted, s->count, sizeof *s->sorted, by_number);
  return s->sorted;
}

static const sample *shortest(const series *s) {
  const sample *best = s->of[LATE];
  for (size_t i = 1; i < s->count; i++)
    if (s->of[LATE][i].elapsed < best->elapsed) best = &s->of[LATE][i];
  return best;
}

/* Prints the shortest and median times of each kind, and the parts of the shortest late parse. */
static void print_place(series *s, place at, uint32_t offset) {
  printf("[%d, %u, %zu", at.slice, at.slice == NO_SLICE ? offset : 0, s->count);
  for (int is_processor = 0; is_processor < 2; is_processor++)
    for (int kind = 0; kind < KINDS; kind++) {
      const long long *sorted = sort(s, kind, is_processor);
      printf(", %lld, %lld", sorted[0], sorted[s->count / 2]);
    }
  const sample *best = shortest(s);
  printf(", %lld, %lld, %ld, %ld]", best->wait, best->leave, best->page_faults, best->rescued);
}

static bool measure_place(const page *p, place at, size_t repetitions, series *s, bool *is_first) {
  uint32_t offset = 0;
  s->count = 0;
  for (size_t i = 0; i < repetitions; i++) {
    bool slept;
    for (int kind = SEQUENTIAL; kind < KINDS; kind++)
      if (!parse_sequentially(p, &s->of[kind][s->count])) return false;
    if (!parse_late(p, at, i == 0, &s->of[LATE][s->count], &slept)) return false;
    if (slept) offset = second.last;
    s->count += slept;
  }
  if (!s->count) return true;
  printf(*is_first ? "\n  " : ",\n  ");
  *is_first = false;
  print_place(s, at, offset);
  return true;
}

/* Finds the bytes that the second thread parses, as the median of some parses, and the largest
 * number of its slices. */
static bool find_places(const page *p, uint32_t *bytes, int *slices) {
  long long all_bytes[WARM_RUNS];
  sample unused;
  *slices = 0;
  for (int i = 0; i < WARM_RUNS; i++) {
    if (!prepare(p) || !parse(p, HPAR_MODE_PARALLEL, document, &unused)) return false;
    hpar_document_clear(document);
    all_bytes[i] = second.last - second.first;
    if (second.slices > *slices) *slices = second.slices;
  }
  qsort(all_bytes, WARM_RUNS, sizeof *all_bytes, by_number);
  *bytes = (uint32_t)all_bytes[WARM_RUNS / 2];
  return true;
}

static bool measure(const page *p, size_t places, size_t repetitions) {
  series s;
  uint32_t bytes = 0;
  int slices = 0;
  bool is_first = true;
  sample unused;
  bool done = open_series(&s, repetitions) && parse(p, HPAR_MODE_SEQUENTIAL, sequential, &unused) &&
              find_places(p, &bytes, &slices);
  if (done) printf("{\"length\": %zu, \"slices\": %d, \"places\": [", p->length, slices);
  if (done) done = measure_place(p, (place){.slice = START}, repetitions, &s, &is_first);
  int chosen = slices < MAX_SLICES ? slices : MAX_SLICES;
  for (int i = 0; done && i < chosen; i++)
    done = measure_place(p, (place){.slice = slices * i / chosen}, repetitions, &s, &is_first);
  for (size_t i = 0; done && i < places; i++)
    done = measure_place(p, (place){NO_SLICE, (uint32_t)((uint64_t)bytes * i / places)}, repetitions, &s, &is_first);
  printf("]}");
  close_series(&s);
  return done;
}

static bool open_all(void) {
  main_thread = pthread_self();
  hp_worker_hook_progress(note);
  hp_unit_set_hook(note_unit);
  sem_init(&woken, 0, 0);
  return !hpar_parser_create(&parser) && !hpar_parser_create(&sequential_parser) && !hpar_document_create(&document) &&
         !hpar_document_create(&sequential);
}

int main(int count, char **arguments) {
  if (count < 5 || atoi(arguments[1]) < 1 || atoi(arguments[2]) < 1) {
    fputs("usage: hpar-late PLACES REPETITIONS first|again|cold|fresh|tree|auto FILE...\n", stderr);
    return 2;
  }
  while (state < STATES && strcmp(arguments[3], state_names[state]) != 0) state++;
  if (state == STATES || !open_all()) return 1;
  printf("{\"pages\": [");
  for (int i = 4; i < count; i++) {
    page p = {.name = arguments[i]};
    char *bytes = read_page(arguments[i], 0, &p.length);
    p.bytes = bytes;
    printf(i > 4 ? ",\n" : "\n");
    if (!bytes || !measure(&p, (size_t)atoi(arguments[1]), (size_t)atoi(arguments[2]))) {
      fprintf(stderr, "hpar-late: %s could not be measured\n", arguments[i]);
      return 1;
    }
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
