#include "study/stats.h"

#include "session/session.h"
#include "study/state.h"
#if HPAR_PARALLEL
#include "study/judge.h"
#include "study/pipelined/driver.h"
#endif

#include <string.h>

#if HPAR_PARALLEL
static void fill_merge(const hp_merge_counters *from, hpar_study_stats *stats) {
  stats->chunks_exact = from->chunks_exact;
  stats->chunks_right_start = from->chunks_right_start;
  stats->chunks_right = from->chunks_right;
  stats->chunks_clean = from->chunks_clean;
  stats->chunks_misguessed = from->chunks_misguessed;
  stats->bytes_reparsed = from->bytes_reparsed;
  stats->script.segments_lost = from->segments_lost_to_writes;
  stats->script.bytes_lost = from->bytes_lost_to_writes;
  stats->respeculations = from->respeculations;
  stats->bytes_respeculated = from->bytes_respeculated;
  stats->aborts = from->aborts;
  stats->rollbacks = from->rollbacks;
  for (int kind = 0; kind < HPAR_LOG_KINDS; kind++) stats->log_entries += from->log_entries_by_kind[kind];
  memcpy(stats->log_entries_by_kind, from->log_entries_by_kind, sizeof stats->log_entries_by_kind);
  memcpy(stats->wrong_assumptions_by_kind, from->wrong_assumptions_by_kind, sizeof stats->wrong_assumptions_by_kind);
  memcpy(stats->merge_levels, from->levels, sizeof stats->merge_levels);
}

static void fill_judgement(const hp_judgement *from, hpar_study_stats *stats) {
  stats->chunks_in_comment = from->in_comment;
  stats->chunks_in_raw_text = from->in_raw_text;
  stats->chunks_in_markup = from->in_markup;
  stats->chunks_with_undetected_errors = from->chunks_with_undetected_errors;
  memcpy(stats->undetected_errors_by_kind, from->undetected_errors_by_kind, sizeof stats->undetected_errors_by_kind);
}

static void fill_pipeline(const hp_pipeline_counters *from, hpar_study_stats *stats) {
  stats->pipeline.predictor = from->predictor;
  stats->pipeline.buffer_tokens = from->buffer_tokens;
  stats->pipeline.batch_tokens = from->batch_tokens;
  memcpy(stats->pipeline.hazards_by_kind, from->hazards_by_kind, sizeof from->hazards_by_kind);
  memcpy(stats->pipeline.rollbacks_by_kind, from->rollbacks_by_kind, sizeof from->rollbacks_by_kind);
  stats->pipeline.rollbacks = from->rollbacks;
  stats->pipeline.tokens_dropped = from->tokens_dropped;
  stats->pipeline.bytes_dropped = from->bytes_dropped;
  stats->pipeline.bytes_read = from->bytes_read;
  stats->pipeline.bytes_alone = from->bytes_alone;
  stats->pipeline.drains = from->drains;
  stats->pipeline.tokenizer_waits = from->tokenizer_waits;
  stats->pipeline.tokenizer_slept = from->tokenizer_slept;
  stats->pipeline.tokenizer_wait_ns = from->tokenizer_wait_ns;
  stats->pipeline.builder_waits = from->builder_waits;
  stats->pipeline.builder_slept = from->builder_slept;
  stats->pipeline.builder_wait_ns = from->builder_wait_ns;
}

static void fill_parallel(const hp_parallel_counters *from, hpar_study_stats *stats) {
  stats->strategy = from->strategy;
  stats->predictor = from->predictor;
  stats->mode_predictor = from->mode_predictor;
  stats->cut_policy = from->cut_policy;
  stats->merge = from->merge_order ? from->merge_order : "chain";
  stats->chunks = from->chunks;
  stats->chunks_started_before_end = from->chunks_started_before_end;
  stats->ns.cut = from->cut_ns;
  stats->ns.merge = from->merge_ns;
  stats->ns.oracle = from->truth_ns;
  stats->ns.predict = from->predict_ns;
  stats->ns.first_chunk = from->first_chunk_ns;
  stats->ns.wait = from->wait_ns;
  stats->chunks_rescued = from->chunks_rescued;
  memcpy(stats->ns.parse_per_worker, from->parse_ns_per_worker, sizeof stats->ns.parse_per_worker);
  fill_merge(&from->merge, stats);
}

static void fill_driver(const hp_session *session, hpar_study_stats *stats) {
  const hp_study_state *state = session->study;
  if (session->result.driver == HP_DRIVER_PARALLEL) {
    fill_parallel(&session->parallel_counters, stats);
    if (session->inspected) stats->convergence = state->record.convergence;
    const hp_judgement *judgement = hp_judgement_of(&session->team);
    if (judgement) fill_judgement(judgement, stats);
    const hp_pipeline_counters *pairs = hp_pairs_counters(&session->team);
    if (session->parallel_counters.has_pairs && pairs) fill_pipeline(pairs, stats);
  } else if (session->result.driver == HP_DRIVER_OTHER && session->result.other.name == hp_pipelined_driver.name) {
    fill_pipeline(&state->pipeline_counters, stats);
    stats->script.rollbacks = state->pipeline_counters.rollbacks_by_scripts;
    stats->script.bytes_lost = state->pipeline_counters.bytes_dropped_by_scripts;
  }
}
#else
static void fill_driver(const hp_session *session, hpar_study_stats *stats) { (void)session, (void)stats; }
#endif

static void fill_scripts(const hp_session *session, hpar_study_stats *stats) {
  const hp_script_counters *from = &session->scripts.counters;
  stats->script.runs = from->runs;
  stats->script.bytes_written = from->written;
  stats->script.state_changes = from->state_changes;
  if (session->result.driver != HP_DRIVER_SEQUENTIAL) stats->script.bytes_lost += from->joined;
  if (from->state_changes) stats->script.bytes_after_change = session->result.bytes - from->first_change;
  stats->ns.scripts = from->callbacks_ns;
}

void hp_fill_study_stats(const hp_session *session, hpar_study_stats *stats) {
  hpar_stats few;
  hp_fill_stats(session, &few);
  *stats = (hpar_study_stats){HPAR_STUDY_STATS_INIT, .mode = few.mode, .threads = few.threads, .affinity = few.affinity,
                              .allocator = few.allocator};
  const hp_result *result = &session->result;
  if (!result->complete) return;
  stats->encoding = few.encoding;
  stats->encoding_source = few.encoding_source;
  stats->bytes = few.bytes;
  stats->tokens = few.tokens;
  stats->nodes = few.nodes;
  stats->parse_errors = few.parse_errors;
  stats->ns.decode = few.ns.decode;
  stats->ns.input = few.ns.input;
  stats->ns.total = few.ns.total;
  fill_driver(session, stats);
  if (result->runs_scripts) fill_scripts(session, stats);
  if (stats->threads == 1) stats->ns.parse_per_worker[0] = stats->ns.total;
  if (result->bound) hp_note_processors(stats->processor_per_worker, stats->threads, result->binding_refused);
}
