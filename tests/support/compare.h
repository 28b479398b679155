#ifndef TESTS_SUPPORT_COMPARE_H
#define TESTS_SUPPORT_COMPARE_H

/* One document parsed sequentially, kept as a dump with its parse errors, and then in parallel as often as
 * wanted: every time the dump must be the same, the tree's links sound, and the counters those of the
 * sequential parse. A document is copied to memory of exactly its size, so that a sanitizer sees a read past it. */

#include "support/buffer.h"

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMPARE_MAX_CUTS = 8192, COMPARE_MAX_THREADS = 8 };

typedef struct compare_case {
  const char *bytes;
  size_t length;
  const char *fragment; /* NULL: a document */
  bool scripting;
  const char *encoding; /* as in hpar_options */
} compare_case;

typedef struct compare_how {
  const uint64_t *cuts;
  size_t cut_count;
  const char *predictor;
  unsigned threads; /* at most COMPARE_MAX_THREADS */
  hpar_executor executor;
  size_t checkpoint_bytes;
  size_t max_errors;
  const char *strategy, *mode_predictor, *cut; /* NULL as in hpar_options */
  size_t chunk_size, chunks;
  hpar_merge_order merge;
  bool pipelined; /* in place of parallel: by these */
  unsigned buffer_tokens, batch;
  const char *pipeline_predictor;
  bool pipeline_stages; /* of a parallel parse */
  const hpar_frequency_table *frequencies;
  const hpar_predictor *own_predictor;
} compare_how;

typedef enum compare_result {
  COMPARE_SAME,
  COMPARE_ERRORS, /* the trees are the same, the lists of parse errors are not */
  COMPARE_STATS,  /* tokens, nodes or bytes are counted differently */
  COMPARE_LINKS,  /* parents, siblings, last children or adjacent texts that cannot be */
  COMPARE_TREE,
  COMPARE_FAILED /* hpar_parse did not succeed */
} compare_result;

typedef struct comparer {
  hpar_parser *parser;                                /* for parses on the calling thread */
  hpar_parser *with_threads[COMPARE_MAX_THREADS + 1]; /* made when first asked for: threads cost more than parses */
  hpar_document *document;
  char *copy;
  compare_case of; /* the document at hand; bytes are the copy */
  buffer expected, got, expected_errors, got_errors;
  hpar_stats expected_stats, got_stats;
  hpar_quirks quirks;
  hpar_status status;
  const char *what; /* after COMPARE_LINKS and COMPARE_STATS: what is wrong */
} comparer;

/* From now on, when the process dies during a parse, what was being parsed is written to standard error. A parse
 * that takes more than a minute of processor time is such a death. Not for fuzzers, which want to die by themselves. */
void compare_watch(void);

/* False, and a line on standard error, when the parser or document cannot be created. */
bool compare_open(comparer *with);
void compare_close(comparer *with);

/* Parses `document` sequentially. False when that fails. At most `max_errors` parse errors are kept. */
bool compare_expect(comparer *with, const compare_case *document, size_t max_errors);

/* The ways to speculate and merge: every predictor of the first strategy, every other strategy, the other predictors of
 * the insertion mode, and then every strategy merged as a tree. Way `index` is set in `how`, which stays as it is past
 * the last. */
size_t compare_ways(void);
void compare_way(size_t index, compare_how *how);

/* Parses the document at hand in parallel. The errors are compared when `how->max_errors` is not 0, and must
 * then be what compare_expect was given. */
compare_result compare_parallel(comparer *with, const compare_how *how);

/* Prints document, options and both dumps (or the first lines that differ, when long). */
void compare_print(const comparer *with, const compare_how *how, compare_result result);

/* The offsets at which a smart cut could fall: > 0, before '<' and a letter or '</' and a letter. */
size_t compare_candidates(const char *bytes, size_t length, uint64_t *cuts, size_t room);

/* A smaller document, and fewer cuts, on which the result is still `least` or worse; `how->cuts` must point to
 * `cuts`, which is changed. Leaves the comparer at the smaller document and returns its result. */
compare_result compare_reduce(comparer *with, compare_how *how, uint64_t *cuts, buffer *document, compare_result least);

/* The tree as html5lib-tests print it. */
bool compare_dump(const hpar_document *document, buffer *to);

/* NULL, or what is wrong with the links of the tree. */
const char *compare_links(const hpar_document *document, uint64_t *nodes);

/* $HPAR_TEST_SCALE, percent of what a test samples (100); with $HPAR_TEST_FULL set it samples nothing, and takes all.
 */
unsigned compare_scale(void);
bool compare_full(void);

/* Whether this build has the parallel parser; else prints that the test is skipped. */
bool compare_possible(void);

#endif
