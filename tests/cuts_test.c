/* Checks every cut. The test cuts each document at each offset of a smart cut, and at all of them
 * at once, for every way to speculate, with checkpoints at the minimum and at the default distance.
 * The tree merge cuts at every two of them. Workers run inline; with all cuts at once also on
 * threads. The tree must be the sequential tree. The test also compares the parse errors, and
 * counts their differences separately. It takes a sample of all this, equal in each run, which
 * tries each cut, and each document with all cuts, in some of the ways:
 *
 *   HPAR_TEST_FULL=1    takes all
 *   HPAR_TEST_SCALE=P   percent of the usual sample (100)
 *   HPAR_TEST_LIMIT=N   prints at most N failures (20)
 *   HPAR_TEST_THREADS=N uses N threads, for single cuts too (2, for all cuts at once) */

#include "check.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/random.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>

enum { ERRORS = 1000, MAX_PAIRED = 48 };

/* The size of the sample in percent. With the thread sanitizer, more parses run on threads. */
#ifdef __SANITIZE_THREAD__
enum { AT_ONCE = 10, ON_THREADS = 100, ALONE = 10, PAIRS = 10 };
#else
enum { AT_ONCE = 50, ON_THREADS = 10, ALONE = 15, PAIRS = 15 };
#endif

static comparer with;
static unsigned long parses, failures, error_differences, limit = 20;
static unsigned long long chunks, chunks_exact; /* of the parses on threads */
static unsigned threads = 2;
static hpar_executor single_cuts = HPAR_EXECUTOR_INLINE;
static unsigned scale;
static bool full;
static random_state dice;
static size_t number; /* of the document */

static bool sampled(unsigned percent) { return full || random_below(&dice, 10000) < (size_t)percent * scale; }

static void check(const compare_how *how, const char *origin) {
  compare_result result = compare_parallel(&with, how);
  parses++;
  if (how->executor == HPAR_EXECUTOR_THREADS && result != COMPARE_FAILED) {
    chunks += with.got_stats.chunks;
    chunks_exact += with.got_stats.chunks_exact;
  }
  if (result == COMPARE_SAME) return;
  if (result == COMPARE_ERRORS) {
    if (error_differences++ >= limit) return;
  } else if (failures++ >= limit) {
    return;
  }
  printf("%s: ", origin);
  compare_print(&with, how, result);
  printf("\n");
}

/* Checks pairs of cuts with the tree merge. The chunk between the cuts has any length and may leave
 * elements open for the next chunk. */
static void every_pair(const uint64_t *cuts, size_t count, const char *origin) {
  compare_how how = {.cut_count = 2,
                     .threads = threads,
                     .executor = single_cuts,
                     .checkpoint_bytes = 1,
                     .max_errors = ERRORS,
                     .merge = HPAR_MERGE_TREE};
  for (size_t i = 0; i < count; i++)
    for (size_t j = i + 2; j < count; j++) {
      if (!sampled(PAIRS)) continue;
      const uint64_t pair[] = {cuts[i], cuts[j]};
      how.cuts = pair;
      check(&how, origin);
    }
}

static void every_cut(const compare_case *document, const char *origin) {
  static uint64_t cuts[COMPARE_MAX_CUTS];
  static const size_t checkpoints[] = {1, 0};
  if (!compare_expect(&with, document, ERRORS)) {
    failures++;
    printf("%s: the sequential parse failed: %s\n", origin, hpar_status_text(with.status));
    return;
  }
  size_t count = compare_candidates(document->bytes, document->length, cuts, COMPARE_MAX_CUTS);
  if (!count) return;
  size_t ways = compare_ways();
  number++;
  for (size_t way = 0; way < ways; way++) {
    for (size_t c = 0; c < 2; c++) {
      /* each single cut has one way that the sample always includes */
      size_t turn = number + 2 * way + c;
      compare_how how = {.cuts = cuts,
                         .cut_count = count,
                         .threads = threads,
                         .executor = HPAR_EXECUTOR_INLINE,
                         .checkpoint_bytes = checkpoints[c]};
      compare_way(way, &how);
      if (sampled(AT_ONCE)) check(&how, origin);
      how.max_errors = ERRORS;
      if (turn % (2 * ways) == 0 || sampled(AT_ONCE)) check(&how, origin);
      how.executor = HPAR_EXECUTOR_THREADS;
      if (sampled(ON_THREADS)) check(&how, origin);
      how.executor = single_cuts;
      how.cut_count = how.merge == HPAR_MERGE_TREE ? 2 : 1; /* one chunk alone makes no tree */
      how.max_errors = c ? 0 : ERRORS;
      for (size_t i = 0; i + how.cut_count <= count; i++) {
        how.cuts = cuts + i;
        if ((turn + i) % (2 * ways) == 0 || sampled(ALONE)) check(&how, origin);
      }
    }
  }
  if (count <= MAX_PAIRED) every_pair(cuts, count, origin);
}

static bool fixtures(const char *directory) {
  shared_list files;
  if (!shared_files(directory, ".dat", &files)) return false;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!dat_read(files.paths[i], &file)) return false;
    for (size_t k = 0; k < file.count; k++) {
      const dat_test *test = &file.tests[k];
      char origin[4200];
      snprintf(origin, sizeof origin, "%s:%u", files.paths[i], test->line);
      compare_case document = {test->data, test->data_length, test->fragment, false, "utf-8"};
      if (test->scripting != DAT_ON) every_cut(&document, origin);
      document.scripting = true;
      if (test->scripting != DAT_OFF) every_cut(&document, origin);
    }
    dat_free(&file);
  }
  shared_list_free(&files);
  return true;
}

static void own_documents(void) {
  for (size_t i = 0; i < document_count; i++) {
    char origin[64];
    snprintf(origin, sizeof origin, "own document %zu", i + 1);
    every_cut(&documents[i], origin);
    compare_case other = documents[i];
    other.scripting = !other.scripting;
    other.encoding = NULL;
    every_cut(&other, origin);
  }
}

int main(int count, char **arguments) {
  char directory[4096];
  bool on_fixtures = check_part(count, arguments, "fixtures"), fine = true;
  if (!compare_possible()) return CHECK_SKIPPED;
  if (on_fixtures && !shared_path(directory, sizeof directory, "html5lib-tests/tree-construction"))
    return CHECK_SKIPPED;
  if (getenv("HPAR_TEST_LIMIT")) limit = strtoul(getenv("HPAR_TEST_LIMIT"), NULL, 10);
  if (getenv("HPAR_TEST_THREADS")) {
    threads = (unsigned)strtoul(getenv("HPAR_TEST_THREADS"), NULL, 10);
    if (!threads || threads > COMPARE_MAX_THREADS) {
      printf("HPAR_TEST_THREADS is a number from 1 to %d\n", COMPARE_MAX_THREADS);
      return 2;
    }
    single_cuts = HPAR_EXECUTOR_THREADS;
  }
  full = compare_full();
  scale = compare_scale();
  compare_watch();
  if (!compare_open(&with)) return 1;
  if (on_fixtures)
    fine = fixtures(directory);
  else
    own_documents();
  compare_close(&with);
  printf("on threads: %llu chunks, %llu of them by a worker\n", chunks, chunks - chunks_exact);
  printf("%lu passed, %lu failed, %lu of the failed in parse errors only\n",
         parses > failures + error_differences ? parses - failures - error_differences : 0,
         failures + error_differences, error_differences);
  return !fine || failures || error_differences;
}
