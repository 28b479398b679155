/* hpar-rewriter-parallel ROUNDS FILE: the speed of several threads that rewrite a page, as one JSON
 * object. Each case is a selector and a beginning of the page. The sequential rewriter and two
 * threads take turns, after rounds of two sequential rewriters at once and before those of an
 * inline division; the shortest round of each counts. */

#include "rewrite/parallel.h"
#include "base/process.h"

#include <hpar/rewrite.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct way {
  hpar_rewriter *rewriter;
  hpar_mode mode;
  uint64_t shortest, workers; /* nanoseconds: of the round, and of its workers */
} way;

enum { SEQUENTIAL, TWO, INLINE, COPY, OTHER_COPY, WAYS };

static const char *const selectors[] = {"x-none", "x-none y", "a[href]", "div", "div > a", "ul > li", "div div div"};

static void check(bool is_fine, const char *problem) {
  if (is_fine) return;
  fprintf(stderr, "hpar-rewriter-parallel: %s\n", problem);
  exit(1);
}

static _Thread_local uint64_t sum; /* of lengths, for the compiler to keep the calls */

static hpar_status add_output(const char *bytes, size_t length, void *context) {
  (void)context;
  sum += length + (unsigned char)*bytes;
  return HPAR_OK;
}

static hpar_rules *make_rules(const char *selector) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "title", .value = {"x", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &set, .action_count = 1};
  hpar_rules *rules;
  bool is_made = !hpar_rules_create(&rules) && !hpar_rules_add(rules, &rule, NULL) && !hpar_rules_compile(rules);
  check(is_made, "no rules");
  return rules;
}

static void run(way *w, const hpar_rules *rules, const char *bytes, size_t length) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .mode = w->mode, .threads = 2};
  uint64_t workers = hp_rewriter_counters(w->rewriter).worker_ns, begin = hp_now();
  check(!hpar_rewrite(w->rewriter, rules, &options, bytes, length, NULL, add_output, NULL), "the rewriter failed");
  uint64_t time = hp_now() - begin;
  if (time >= w->shortest) return;
  w->shortest = time;
  w->workers = hp_rewriter_counters(w->rewriter).worker_ns - workers;
}

/*** two sequential rewriters at once ***/

/* A thread that rewrites what `run` of the calling thread rewrites. It waits awake. */
typedef struct copier {
  pthread_t thread;
  way *way;
  const hpar_rules *rules;
  const char *bytes;
  size_t length;
  _Atomic unsigned started, done; /* rounds */
  _Atomic bool stops;
} copier;

static void *copy_rounds(void *context) {
  copier *c = context;
  for (unsigned round = 1;; round++) {
    while (atomic_load(&c->started) != round)
      if (atomic_load(&c->stops)) return NULL;
    run(c->way, c->rules, c->bytes, c->length);
    atomic_store(&c->done, round);
  }
}

/* Runs one round on both threads. Returns the time until both have ended, in nanoseconds. */
static uint64_t run_copies(copier *c, way *own) {
  uint64_t begin = hp_now();
  unsigned round = atomic_fetch_add(&c->started, 1) + 1;
  run(own, c->rules, c->bytes, c->length);
  while (atomic_load(&c->done) != round) continue;
  return hp_now() - begin;
}

/*** a case ***/

static void measure(const char *selector, const char *bytes, size_t length, unsigned rounds, bool is_first) {
  enum { TURNS = 4 << 20 };
  rounds += rounds * (unsigned)(TURNS / length); /* threads that other load delays need some time */
  way ways[WAYS] = {{.mode = HPAR_MODE_SEQUENTIAL},
                    {.mode = HPAR_MODE_PARALLEL},
                    {.mode = HPAR_MODE_PARALLEL},
                    {.mode = HPAR_MODE_SEQUENTIAL},
                    {.mode = HPAR_MODE_SEQUENTIAL}};
  const hp_rewrite_division division = {.is_inline = true};
  hpar_rules *rules = make_rules(selector);
  for (int i = 0; i < WAYS; i++) {
    check(!hpar_rewriter_create(&ways[i].rewriter), "no memory");
    ways[i].shortest = UINT64_MAX;
  }
  check(!hp_rewriter_divide(ways[INLINE].rewriter, &division), "no memory");
  uint64_t copies = UINT64_MAX;
  copier other = {.way = &ways[OTHER_COPY], .rules = rules, .bytes = bytes, .length = length};
  check(!pthread_create(&other.thread, NULL, copy_rounds, &other), "no thread");
  for (unsigned round = 0; round < rounds; round++) {
    uint64_t both = run_copies(&other, &ways[COPY]);
    if (both < copies) copies = both;
  }
  atomic_store(&other.stops, true);
  pthread_join(other.thread, NULL);
  for (unsigned round = 0; round < rounds; round++)
    for (int i = 0; i <= TWO; i++) run(&ways[i], rules, bytes, length);
  for (unsigned round = 0; round < rounds; round++) run(&ways[INLINE], rules, bytes, length);
  hp_rewrite_counters c = hp_rewriter_counters(ways[INLINE].rewriter);
  printf("%s\n{\"selector\": \"%s\", \"bytes\": %zu, \"sequential\": %llu, \"two\": %llu, \"inline\": %llu, "
         "\"copies\": %llu, "
         "\"workers\": %llu, "
         "\"segments\": %llu, \"adopted\": %llu, \"rewritten\": %.4f}",
         is_first ? "" : ",", selector, length, (unsigned long long)ways[SEQUENTIAL].shortest,
         (unsigned long long)ways[TWO].shortest, (unsigned long long)ways[INLINE].shortest, (unsigned long long)copies,
         (unsigned long long)ways[INLINE].workers, (unsigned long long)c.segments,
         (unsigned long long)c.adopted_segments, c.bytes ? (double)c.rewritten_bytes / (double)c.bytes : 0);
  for (int i = 0; i < WAYS; i++) hpar_rewriter_destroy(ways[i].rewriter);
  hpar_rules_destroy(rules);
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {256 << 10, 1 << 20, SIZE_MAX};
  check(argc == 3, "arguments: ROUNDS FILE");
  unsigned rounds = (unsigned)strtoul(argv[1], NULL, 10);
  FILE *file = fopen(argv[2], "rb");
  check(file && !fseek(file, 0, SEEK_END), "the file cannot be read");
  size_t length = (size_t)ftell(file);
  char *bytes = malloc(length + 1);
  rewind(file);
  check(bytes && fread(bytes, 1, length, file) == length, "the file cannot be read");
  fclose(file);
  printf("{\"rounds\": %u, \"cases\": [", rounds);
  bool is_first = true;
  for (size_t k = 0; k < sizeof selectors / sizeof *selectors; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, is_first = false)
      measure(selectors[k], bytes, sizes[i] < length ? sizes[i] : length, rounds, is_first);
  printf("\n], \"sum\": %llu}\n", (unsigned long long)sum);
  free(bytes);
  return 0;
}
