#ifndef HP_MERGE_MERGE_H
#define HP_MERGE_MERGE_H

/* The merger: the sequential parser, walking the document on the true state and taking the workers'
 * shortcuts where their conditions hold. */

#include "html/tree/engine.h"
#include "merge/boundary.h"
#include "speculation/worker/worker.h"
#include "trace/record.h"

#include <hpar/stats.h>

/* What a merger counts. See hpar_stats for each counter. */
typedef struct hp_merge_counters {
  uint64_t chunks_exact, chunks_right_start, chunks_right, chunks_clean;
  uint64_t chunks_in_comment, chunks_in_raw_text, chunks_in_markup;
  uint64_t chunks_misguessed, chunks_with_undetected_errors;
  uint64_t bytes_reparsed, respeculations, bytes_respeculated, aborts, rollbacks;
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint64_t wrong_assumptions_by_kind[HPAR_ASSUMPTIONS];
  uint64_t undetected_errors_by_kind[HPAR_UNDETECTED_ERRORS];
  hpar_merge_level levels[HPAR_MERGE_LEVELS]; /* the merger itself counts on level 0 */
} hp_merge_counters;

typedef struct hp_merger {
  hp_engine *engine; /* the true state */
  hp_merge_counters *counters;
  const hp_strategy *strategy;
  hp_record *record; /* NULL: nobody asks */
  bool done;         /* the end of the input was processed */
  /* The chunk at hand, where it has to wait for more input: */
  bool begun, clean, right;
  uint32_t segment; /* the next one of its log */
  uint32_t reading;
  uint32_t lost;  /* of its segments, those that were made part of one that was left out */
  uint64_t again; /* bytes parsed again before it */
  hp_audit judgement;
  hp_tag_search tag_search;
  uint32_t taken_to; /* where the last segment that was taken ends */
} hp_merger;

/* Parses by itself up to the first token boundary at or after `offset` in the data state. False:
 * more input must come first, and the call be repeated. */
bool hp_merger_parse_until(hp_merger *merger, uint32_t offset);
/* Goes through a chunk, as far as its log leads. False as above. */
bool hp_merger_merge_chunk(hp_merger *merger, const hp_chunk_work *chunk);
/* To the end of the input, all of which has come. */
void hp_merger_finish(hp_merger *merger);

#endif
