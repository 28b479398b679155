#ifndef HP_STUDY_PIPELINED_CONFIG_H
#define HP_STUDY_PIPELINED_CONFIG_H

/* The resolved options and the counters of the pipelined parser. */

#include "study/pipelined/predictor.h"

#include <hpar/study.h>
#include <stdbool.h>

typedef struct hp_pipeline_config {
  hp_pipeline_predictor predictor;
  unsigned buffer_tokens, batch_tokens; /* 0: the default */
  bool bind;                            /* bind the tokenizer's thread to a processor */
} hp_pipeline_config;

typedef struct hp_pipeline_counters {
  unsigned threads; /* 1: both stages ran on the calling thread */
  bool not_bound;   /* the system has refused to bind the tokenizer's thread */
  const char *predictor;
  unsigned buffer_tokens, batch_tokens;
  uint64_t hazards_by_kind[HPAR_PIPELINE_HAZARDS], rollbacks_by_kind[HPAR_PIPELINE_HAZARDS];
  uint64_t rollbacks_by_scripts, bytes_dropped_by_scripts; /* of those below */
  uint64_t rollbacks, tokens_dropped, bytes_dropped, bytes_read, bytes_alone, drains;
  uint64_t tokenizer_waits, tokenizer_slept, tokenizer_wait_ns;
  uint64_t builder_waits, builder_slept, builder_wait_ns;
} hp_pipeline_counters;

#endif
