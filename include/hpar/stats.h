#ifndef HPAR_STATS_H
#define HPAR_STATS_H

/* Statistics of a parse. Counters that do not apply to the mode are 0.
 *
 * A caller initialises a structure with its macro:
 *
 *   hpar_stats stats = {HPAR_STATS_INIT};
 *
 * The library writes `size` bytes at most. It sets the fields of a newer caller that it does not
 * have to zero. It never changes `size`. Texts have static storage. hpar/study.h has
 * all counters of speculation. */

#include <hpar/node.h>
#include <hpar/options.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpar_stats {
  size_t size;                 /* HPAR_STATS_INIT sets it */
  const char *mode;            /* "sequential", "parallel" or "pipelined": the parser that ran */
  uint64_t bytes;              /* of the text in UTF-8 */
  const char *encoding;        /* by its name in the Encoding Standard: "UTF-8", "windows-1252" */
  const char *encoding_source; /* "bom", "hint", "meta", "valid-utf-8", "fallback" or "late-meta" */
  /* tags, comments, doctypes, processing instructions, maximal runs of text */
  uint64_t tokens;
  /* created, with the document node and nodes that were removed later */
  uint64_t nodes;
  uint64_t parse_errors; /* all, kept or not; 0 unless hpar_options.max_errors is set */
  unsigned threads;
  /* "none"; "cores": one thread per core; "processors": by number, without hwloc; "refused": the
   * system refused to bind a thread */
  const char *affinity;
  const char *allocator; /* of the document: "libc" or "jemalloc" */
  /* Of a parallel parse, without the first chunk, which is never speculative: */
  uint64_t chunks;
  uint64_t chunks_clean;   /* the merger adopted everything that the worker made */
  uint64_t bytes_reparsed; /* by the merger, because a guess was wrong */
  struct {                 /* nanoseconds */
    uint64_t total;
    uint64_t decode; /* the encoding and UTF-8, before the parse */
    uint64_t input;  /* from the beginning until finish was called; 0 for hpar_parse */
  } ns;
  struct {                  /* with hpar_options.script */
    uint64_t runs;          /* calls of the callback */
    uint64_t bytes_written; /* by hpar_script_write, also without an effect */
  } script;
} hpar_stats;

/* Initialises `size`. */
#define HPAR_STATS_INIT HPAR_SIZED(hpar_stats)

/* Statistics of hpar_parse_many. */
typedef struct hpar_many_stats {
  size_t size;                   /* HPAR_MANY_STATS_INIT sets it */
  uint64_t inputs, failed;       /* failed: the status is not HPAR_OK; that includes limits */
  uint64_t bytes, tokens, nodes; /* of the other inputs */
  unsigned threads;
  const char *affinity, *allocator; /* as in hpar_stats */
  uint16_t processor_per_worker[HPAR_MAX_THREADS];
  uint64_t inputs_per_worker[HPAR_MAX_THREADS];
  struct {                                              /* nanoseconds */
    uint64_t total, parse_per_worker[HPAR_MAX_THREADS]; /* without the callback's time */
    uint64_t reserved[8];
  } ns;
} hpar_many_stats;

/* Initialises `size`. */
#define HPAR_MANY_STATS_INIT HPAR_SIZED(hpar_many_stats)

#ifdef __cplusplus
}
#endif
#endif
