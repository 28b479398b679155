#ifndef TESTS_SUPPORT_COMPARE_H
#define TESTS_SUPPORT_COMPARE_H

/* Parses one document sequentially and keeps the dump and the parse errors. Then parses the
 * document in parallel any number of times. Each parallel parse must have the same dump, correct
 * links, and the counters of the sequential parse. The comparer copies the document to memory of
 * exactly its size, so that a sanitizer detects a read past the end. */

#include "support/buffer.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
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
  const char *driver; /* parses instead of the parallel parser */
  bool pipelined;     /* the same for the driver "pipelined", with these stages */
  unsigned buffer_tokens, batch;
  const char *pipeline_predictor;
  bool pipeline_stages; /* of a parallel parse */
  const hpar_frequency_table *frequencies;
  const hpar_predictor *own_predictor, *own_mode_predictor;
  const hpar_cut_policy *own_cut_policy;
  const hpar_strategy *own_strategy;
  const hpar_driver *own_driver; /* parses instead of the parallel parser */
} compare_how;

typedef enum compare_result {
  COMPARE_SAME,
  COMPARE_ERRORS, /* equal trees, different lists of parse errors */
  COMPARE_STATS,  /* different counts of tokens, nodes or bytes */
  COMPARE_LINKS,  /* impossible parents, siblings, last children or adjacent texts */
  COMPARE_TREE,
  COMPARE_FAILED /* hpar_parse failed */
} compare_result;

typedef struct comparer {
  hpar_parser *parser; /* for parses on the calling thread */
  /* created at first use: threads cost more than parses */
  hpar_parser *with_threads[COMPARE_MAX_THREADS + 1];
  hpar_document *document;
  char *copy;      /* of a long document */
  char *fenced[2]; /* for short documents by turns; no page follows that the process may read */
  compare_case of; /* the current document; bytes are the copy */
  buffer expected, got, expected_errors, got_errors;
  hpar_study_stats expected_stats, got_stats;
  hpar_quirks quirks;
  hpar_status status;
  const char *what; /* the problem, after COMPARE_LINKS and COMPARE_STATS */
} comparer;

/* Writes the current document to standard error if the process dies during a later parse. Ends the
 * process after a parse of more than a minute of processor time. Fuzzers do not call it, because
 * they handle crashes themselves. */
void compare_watch(void);

/* Returns false, and prints a line on standard error, if the parser or document cannot be
 * created. */
bool compare_open(comparer *with);
void compare_close(comparer *with);

/* Parses `document` sequentially. Returns false if that fails. Keeps at most `max_errors` parse
 * errors. */
bool compare_expect(comparer *with, const compare_case *document, size_t max_errors);

/* Returns the number of ways to speculate and merge: every predictor of the first strategy, every
 * other strategy, the other predictors of the insertion mode, and then every strategy merged as a
 * tree. compare_way sets way `index` in `how`, and leaves `how` unchanged past the last way. */
size_t compare_ways(void);
void compare_way(size_t index, compare_how *how);

/* Parses the current document in parallel. Compares the errors if `how->max_errors` is not 0. It
 * must then be the `max_errors` of compare_expect. */
compare_result compare_parallel(comparer *with, const compare_how *how);

/* Prints the document, the options and both dumps. If the dumps are long, prints the first lines
 * that differ. */
void compare_print(const comparer *with, const compare_how *how, compare_result result);

/* Returns the possible offsets of a smart cut: > 0, before '<' and a letter or '</' and a
 * letter. */
size_t compare_candidates(const char *bytes, size_t length, uint64_t *cuts, size_t capacity);

/* Finds a smaller document, and fewer cuts, with a result of `least` or worse. Requires:
 * `how->cuts` points to `cuts`, which the function changes. Leaves the comparer at the smaller
 * document and returns its result. */
compare_result compare_reduce(comparer *with, compare_how *how, uint64_t *cuts, buffer *document, compare_result least);

/* Appends the tree in the format of html5lib-tests. */
bool compare_dump(const hpar_document *document, buffer *to);

/* Returns NULL, or the problem of the tree's links. */
const char *compare_links(const hpar_document *document, uint64_t *nodes);

/* Returns $HPAR_TEST_SCALE, the size of a test's sample in percent (100). With $HPAR_TEST_FULL a
 * test takes everything. */
unsigned compare_scale(void);
bool compare_full(void);

/* Returns whether this build has the parallel parser. If not, prints that the test is skipped. */
bool compare_possible(void);

#endif
