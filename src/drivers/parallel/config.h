#ifndef HP_DRIVERS_PARALLEL_CONFIG_H
#define HP_DRIVERS_PARALLEL_CONFIG_H

/* The resolved options and the counters of the data-parallel parser. */

#include "merge/merge.h"
#include "runtime/crew.h"
#include "script/scripts.h"
#include "speculation/strategy.h"

#include <hpar/parse.h>

struct hp_job;
struct hp_chunk;

/* What a trace receives of a parallel parse, beside its events. */
typedef struct hp_job_trace {
  const hp_merge_trace *merge;
  /* The merger has been in the chunk since `begin`. `is_finished`: it has left the chunk. */
  void (*merged_chunk)(struct hp_job *job, const struct hp_chunk *chunk, uint64_t begin, bool is_finished);
  /* The job has ended: no thread works for it. */
  void (*complete)(struct hp_job *job);
} hp_job_trace;

/* Another order of merging than from left to right. All chunks are published and parsed before the
 * merger takes one of them, unless there is a straggler. */
typedef struct hp_merge_order {
  const char *name;
  hpar_status (*prepare)(struct hp_job *job, unsigned workers);
  /* A chunk after the first is done, or the merger parses it. */
  void (*arrive)(struct hp_job *job, unsigned thread, uint32_t chunk);
  /* Changes no further log, and waits until no thread does. The merger then takes single logs. */
  void (*close)(struct hp_job *job);
  /* All chunks have arrived, and no other thread works. */
  void (*finish)(struct hp_job *job);
  void (*count)(struct hp_job *job, unsigned worker);
} hp_merge_order;

/* Workers in pairs of threads: thread w + threads is the tokenizer of worker w, which builds. */
typedef struct hp_pairs {
  hpar_status (*prepare)(struct hp_job *job, unsigned workers);
  /* Opens the tokenizer of the worker, and sets worker->source. A failure unwinds through the
   * worker's engine. */
  void (*open)(struct hp_job *job, unsigned worker);
  void (*serve)(struct hp_job *job, unsigned worker); /* on the tokenizer's thread, until `stop` */
  void (*stop)(struct hp_job *job, unsigned worker);
  void (*count)(struct hp_job *job, unsigned worker);
} hp_pairs;

/* The options of such a part, which only the part reads. */
typedef struct hp_part_options {
  unsigned values[4];
} hp_part_options;

typedef struct hp_parallel_config { // value
  hp_executor executor;
  hp_plan plan;
  bool validates;              /* the text may be invalid UTF-8: the threads find that out */
  const char *fragment;        /* the context element; NULL: a document */
  bool fits_threads_to_input;  /* a short input takes fewer threads */
  const hp_merge_order *order; /* NULL: from left to right */
  const hp_pairs *pairs;       /* NULL: each worker is one thread */
  hp_part_options pair_options;
  const hp_merge_judge *judge; /* of a study; NULL: none */
  const hp_job_trace *trace;   /* with a trace of the request; NULL: none */
  size_t chunk_size;           /* bytes; 0: by the input and the threads */
  size_t chunks;               /* about; 0: by chunk_size */
  hp_finder *finder;           /* of the exact builder; NULL: resources are not requested */
  hp_scripts *scripts;         /* of the exact engine; NULL: no script runs */
  const uint64_t *cuts;        /* forced cuts, ascending; NULL: by plan.cut */
  size_t cut_count;
} hp_parallel_config;

/* What a parallel parse counts. */
typedef struct hp_parallel_counters { // value
  hp_merge_counters merge;
  unsigned threads;
  const char *strategy, *predictor, *mode_predictor, *cut_policy;
  const char *merge_order; /* NULL: from left to right */
  bool has_pairs;
  uint64_t chunks, chunks_started_before_end, chunks_rescued;
  uint64_t wait_ns, cut_ns, merge_ns, truth_ns, predict_ns, first_chunk_ns;
  uint64_t parse_ns_per_worker[HPAR_MAX_THREADS];
} hp_parallel_counters;

#endif
