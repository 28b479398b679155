/* Checks every strategy with every cut policy, both shapes of the merge and 1 to 64 chunks, on each
 * number of threads from 2 to 8 and inline. The tree, the counters and the parse errors equal those
 * of the sequential parser, on own documents and on generated ones. The test takes a sample of the
 * product, equal in each run.
 *
 *   HPAR_TEST_FULL=1    takes all
 *   HPAR_TEST_SCALE=P   percent of the usual sample (100)
 *   HPAR_TEST_LIMIT=N   prints at most N failures (20) */

#include "check.h"
#include "support/compare.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>

enum { ERRORS = 1000, CHUNKS = 64, GENERATED = 24, PARTS = 8, MIN_THREADS = 2, MAX_THREADS = 8 };
enum { SAMPLE = 100 }; /* of 10,000 */

#ifdef __SANITIZE_THREAD__
enum { INLINE_TOO = 0 };
#else
enum { INLINE_TOO = 1 };
#endif

static comparer with;
static unsigned long parses, failures, limit = 20;
static unsigned long long chunks, chunks_exact; /* of the parses on threads */
static unsigned long met[CHUNKS + 1];           /* parses by final number of chunks */
static unsigned long met_threads[MAX_THREADS + 1];
static unsigned scale;
static bool full;
static random_state dice = {64};

static void check(const compare_how *how, const char *origin) {
  compare_result result = compare_parallel(&with, how);
  parses++;
  if (result != COMPARE_FAILED) {
    size_t count = with.got_stats.chunks + 1;
    met[count < CHUNKS ? count : CHUNKS]++;
    if (how->executor == HPAR_EXECUTOR_THREADS) {
      met_threads[how->threads]++;
      chunks += with.got_stats.chunks;
      chunks_exact += with.got_stats.chunks_exact;
    }
  }
  if (result == COMPARE_SAME || failures++ >= limit) return;
  printf("%s: strategy %s, cut %s, %s, %zu chunks: ", origin, how->strategy, how->cut, how->merge ? "tree" : "chain",
         how->chunks);
  compare_print(&with, how, result);
  printf("\n");
}

/* Checks every combination. Each one uses the next number of threads, so that all values meet all
 * numbers of threads. */
static void every_combination(const compare_case *document, bool all, const char *origin) {
  static const size_t checkpoints[] = {1, 64, 0};
  static size_t turn;
  if (!compare_expect(&with, document, ERRORS)) {
    failures++;
    printf("%s: the sequential parse failed: %s\n", origin, hpar_status_text(with.status));
    return;
  }
  const char *strategy, *cut;
  for (size_t s = 0; (strategy = hpar_strategy_name(s)); s++)
    for (size_t c = 0; (cut = hpar_cut_policy_name(c)); c++)
      for (int merge = HPAR_MERGE_CHAIN; merge <= HPAR_MERGE_TREE; merge++)
        for (size_t n = 1; n <= CHUNKS; n++) {
          /* the same cuts */
          if (n > 1 && document->length / n == document->length / (n - 1)) continue;
          if (!(full && all) && random_below(&dice, 1000000) >= (size_t)SAMPLE * scale) continue;
          size_t k = turn++ % (MAX_THREADS - MIN_THREADS + 1 + INLINE_TOO);
          bool inlined = k > MAX_THREADS - MIN_THREADS;
          compare_how how = {.strategy = strategy,
                             .cut = cut,
                             .merge = (hpar_merge_order)merge,
                             .chunks = n,
                             .threads = inlined ? MIN_THREADS : MIN_THREADS + (unsigned)k,
                             .executor = inlined ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                             .checkpoint_bytes = checkpoints[turn % 3],
                             .max_errors = ERRORS};
          check(&how, origin);
        }
}

static void own_documents(void) {
  for (size_t i = 0; i < document_count; i++) {
    char origin[64];
    snprintf(origin, sizeof origin, "own document %zu", i + 1);
    every_combination(&documents[i], i % 32 == 0, origin);
  }
}

/* Parses several generated documents in sequence as one, so that the text has enough possible
 * cuts. */
static void generated_documents(void) {
  generated document = {0};
  buffer joined = {0};
  for (uint64_t seed = 1; seed <= GENERATED * PARTS; seed++) {
    generate(seed, &document);
    buffer_add(&joined, document.text.bytes, document.text.length);
    buffer_text(&joined, seed % 3 ? "\"'>--></script></style></svg></table></b></a><p>" : "<p>");
    if (seed % PARTS) continue;
    char origin[64];
    snprintf(origin, sizeof origin, "seeds %llu to %llu", (unsigned long long)(seed - PARTS + 1),
             (unsigned long long)seed);
    compare_case of = {joined.bytes, joined.length, NULL, seed / PARTS % 3 == 0, "utf-8"};
    every_combination(&of, seed / PARTS % 8 == 0, origin);
    buffer_clear(&joined);
  }
  generate_free(&document);
  buffer_free(&joined);
}

/* Checks that the sample covers the intended cases. */
static void check_reach(void) {
  size_t counts = 0, threads = 0;
  for (size_t i = 1; i <= CHUNKS; i++) counts += met[i] != 0;
  for (size_t i = MIN_THREADS; i <= MAX_THREADS; i++) threads += met_threads[i] != 0;
  printf(
      "%lu parses, %zu numbers of chunks up to 64, %zu of threads; on threads %llu chunks, %llu of them by a worker\n",
      parses, counts, threads, chunks, chunks - chunks_exact);
  if (scale < 100 && !full) return;
  if (counts < CHUNKS || threads < MAX_THREADS - MIN_THREADS + 1) failures++;
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (getenv("HPAR_TEST_LIMIT")) limit = strtoul(getenv("HPAR_TEST_LIMIT"), NULL, 10);
  full = compare_full();
  scale = compare_scale();
  compare_watch();
  if (!compare_open(&with)) return 1;
  own_documents();
  generated_documents();
  compare_close(&with);
  check_reach();
  printf("%lu passed, %lu failed\n", parses > failures ? parses - failures : 0, failures);
  return failures != 0;
}
