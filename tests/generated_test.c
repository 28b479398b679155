/* Checks generated documents: each in 2, 3 and 8 chunks with smart cuts, in up to 64 chunks merged
 * as a tree, and in up to 6 chunks with cuts at any byte. The parallel tree must be the sequential
 * tree. Then the test joins twenty of them into one document, which it parses in many chunks on 2,
 * 3 and 8 threads: a small document is finished before a second thread wakes up. The test reduces a
 * difference to a small document before it prints it.
 *
 *   HPAR_TEST_SCALE=P   percent of the 20,000 documents (100)
 *   HPAR_TEST_SEED=N    the first seed (1)
 *   HPAR_TEST_LIMIT=N   stop after N differences (5) */

#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS = 20000, JOINED = 20, MANY = 64, MAX_ERRORS = 1000 };

/* The text between joined documents. Otherwise the next document would be inside the open elements
 * of the previous one. */
#define CLOSING "\"'>-->]]></script></style></title></textarea></svg></math></table></template></b></i></a></div><p>"

static unsigned long number_from(const char *name, unsigned long usual) {
  const char *text = getenv(name);
  return text && *text ? strtoul(text, NULL, 10) : usual;
}

/* Chooses `count` random candidates, ascending, or all of them if there are fewer. */
static size_t choose(random_state *random, const uint64_t *candidates, size_t candidate_count, size_t count,
                     uint64_t *cuts) {
  size_t chosen = 0;
  for (size_t i = 0; i < candidate_count && chosen < count; i++) {
    if (random_below(random, candidate_count - i) < count - chosen) cuts[chosen++] = candidates[i];
  }
  return chosen;
}

/* Chooses arbitrary offsets. */
static size_t choose_any(random_state *random, size_t length, size_t count, uint64_t *cuts) {
  size_t chosen = 0;
  for (uint64_t at = 0; chosen < count; cuts[chosen++] = at) {
    at += 1 + random_below(random, length / count + 1);
    if (at >= length) break;
  }
  return chosen;
}

static void report(comparer *with, compare_how how, compare_result result, const char *origin) {
  uint64_t cuts[MANY];
  buffer document = {0};
  printf("%s: ", origin);
  compare_print(with, &how, result);
  if (result != COMPARE_FAILED) {
    buffer_add(&document, with->of.bytes, with->of.length);
    memcpy(cuts, how.cuts, how.cut_count * sizeof *cuts);
    how.cuts = cuts;
    result = compare_reduce(with, &how, cuts, &document, result);
    printf("reduced: ");
    compare_print(with, &how, result);
    buffer_free(&document);
  }
  printf("\n");
  fflush(stdout);
}

static comparer with;
static uint64_t candidates[COMPARE_MAX_CUTS];
static size_t candidate_count;
static unsigned long limit, parses, failures, error_differences;
static unsigned long long chunks, chunks_exact; /* of the parses on threads */
static size_t ways;

/* Returns false if the test of the document is complete. */
static bool check(const compare_how *how, const char *origin) {
  compare_result result = compare_parallel(&with, how);
  parses++;
  if (how->executor == HPAR_EXECUTOR_THREADS && result != COMPARE_FAILED) {
    chunks += with.got_stats.chunks;
    chunks_exact += with.got_stats.chunks_exact;
  }
  if (result == COMPARE_SAME) return true;
  if (result == COMPARE_ERRORS) {
    if (error_differences++ >= limit) return true;
  } else {
    failures++;
  }
  report(&with, *how, result, origin);
  return false;
}

/* Parses sequentially, and finds the possible cuts. */
static bool prepare(const compare_case *of, size_t max_errors, const char *origin) {
  if (compare_expect(&with, of, max_errors)) {
    candidate_count = compare_candidates(of->bytes, of->length, candidates, COMPARE_MAX_CUTS);
    return true;
  }
  printf("%s: the sequential parse failed: %s\n", origin, hpar_status_text(with.status));
  failures++;
  return false;
}

static const size_t checkpoints[] = {1, 64, 0};

static void check_small(uint64_t seed, const generated *document) {
  static const size_t pieces[] = {2, 3, 8, 0, MANY};
  char origin[64];
  snprintf(origin, sizeof origin, "seed %llu", (unsigned long long)seed);
  random_state random = {seed};
  size_t max_errors = random_chance(&random, 50) ? MAX_ERRORS : 0;
  compare_case of = {document->text.bytes, document->text.length, document->fragment, document->scripting,
                     random_chance(&random, 75) ? "utf-8" : NULL};
  if (!prepare(&of, max_errors, origin)) return;
  for (size_t k = 0; k < 5; k++) {
    uint64_t cuts[MANY];
    size_t cut_count = k != 3 ? choose(&random, candidates, candidate_count, pieces[k] - 1, cuts)
                              : choose_any(&random, of.length, 5, cuts);
    if (!cut_count) continue;
    compare_how how = {.cuts = cuts,
                       .cut_count = cut_count,
                       .threads = k == 2 ? 4 : 2,
                       .executor = random_chance(&random, 30) ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                       .checkpoint_bytes = checkpoints[random_below(&random, 3)],
                       .max_errors = max_errors};
    compare_way((seed + k) % ways, &how);
    if (k == 4) how.merge = HPAR_MERGE_TREE;
    if (!check(&how, origin)) return;
  }
}

/* Requires: `seed` is the seed of the last joined document. */
static void check_large(uint64_t seed, const buffer *text) {
  static const unsigned threads[] = {2, 3, 8};
  char origin[80];
  snprintf(origin, sizeof origin, "seeds to %llu, joined", (unsigned long long)seed);
  random_state random = {seed};
  size_t max_errors = random_chance(&random, 30) ? MAX_ERRORS : 0;
  compare_case of = {text->bytes, text->length, NULL, random_chance(&random, 50), "utf-8"};
  if (!prepare(&of, max_errors, origin)) return;
  for (size_t k = 0; k < 3; k++) {
    uint64_t cuts[MANY];
    size_t count = choose(&random, candidates, candidate_count, 1 + random_below(&random, MANY), cuts);
    compare_how how = {.cuts = cuts,
                       .cut_count = count,
                       .threads = threads[k],
                       .executor = HPAR_EXECUTOR_THREADS,
                       .checkpoint_bytes = checkpoints[random_below(&random, 3)],
                       .max_errors = max_errors};
    compare_way((seed / JOINED + k) % ways, &how);
    if (!check(&how, origin)) return;
  }
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  unsigned long count = DOCUMENTS * number_from("HPAR_TEST_SCALE", 100) / 100;
  uint64_t first = number_from("HPAR_TEST_SEED", 1);
  limit = number_from("HPAR_TEST_LIMIT", 5);
  ways = compare_ways();
  generated document = {0};
  buffer joined = {0};
  compare_watch();
  if (!compare_open(&with)) return 1;

  for (uint64_t seed = first; seed < first + count && failures < limit; seed++) {
    generate(seed, &document);
    check_small(seed, &document);
    buffer_add(&joined, document.text.bytes, document.text.length);
    buffer_text(&joined, seed % 2 ? "<p>" : CLOSING);
    if (seed % JOINED) continue;
    check_large(seed, &joined);
    buffer_clear(&joined);
  }
  generate_free(&document);
  buffer_free(&joined);
  compare_close(&with);
  printf("on threads: %llu chunks, %llu of them by a worker\n", chunks, chunks - chunks_exact);
  printf("%lu passed, %lu failed, %lu of the failed in parse errors only\n", parses - failures - error_differences,
         failures + error_differences, error_differences);
  return failures || error_differences;
}
