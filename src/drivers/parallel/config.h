#ifndef HP_DRIVERS_PARALLEL_CONFIG_H
#define HP_DRIVERS_PARALLEL_CONFIG_H

/* The resolved options and the counters of the data-parallel parser. */

#include "drivers/pipelined/config.h"
#include "merge/merge.h"
#include "platform/pool.h"
#include "script/scripts.h"
#include "speculation/worker/strategy.h"

#include <hpar/parse.h>

/* Where the tasks of a parse run. */
typedef struct hp_executor {
  hpar_executor kind;
  hpar_run_callback run; /* of HPAR_EXECUTOR_CALLER */
  void *context;
  unsigned threads; /* with the calling thread; at least 1 */
  hp_pool_wait wait;
  bool bind; /* each pool thread to a processor */
} hp_executor;

typedef struct hp_parallel_config {
  hp_executor executor;
  hp_plan plan;
  hp_pipeline_config pipeline; /* of pipelined workers */
  bool validates;              /* the text may be invalid UTF-8: the threads find that out */
  const char *fragment;        /* the context element; NULL: a document */
  bool fits_threads_to_input;  /* a short input takes fewer threads */
  bool merges_as_tree;
  bool pipelined_workers; /* each worker is a tokenizer thread and a builder thread */
  size_t chunk_size;      /* bytes; 0: by the input and the threads */
  size_t chunks;          /* about; 0: by chunk_size */
  hp_finder *finder;      /* of the exact builder; NULL: resources are not requested */
  hp_scripts *scripts;    /* of the exact engine; NULL: no script runs */
  const uint64_t *cuts;   /* forced cuts, ascending; NULL: by plan.cut */
  size_t cut_count;
} hp_parallel_config;

/* What a parallel parse counts. */
typedef struct hp_parallel_counters {
  hp_merge_counters merge;
  unsigned threads;
  const char *strategy, *predictor, *mode_predictor, *cut_policy;
  bool merged_as_tree, pipelined;
  uint64_t chunks, chunks_started_before_end, chunks_rescued;
  uint64_t wait_ns, cut_ns, merge_ns, oracle_ns, predict_ns, first_chunk_ns;
  uint64_t parse_ns_per_worker[HPAR_MAX_THREADS];
  hp_pipeline_counters pipeline; /* the sum over all workers, with `pipelined` */
} hp_parallel_counters;

#endif
