#include "session/stats.h"

#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <hpar/study.h>
#include <string.h>

#if HPAR_PARALLEL
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  const hp_processors *found = hp_allowed_processors();
  for (unsigned i = 0; found && i < threads && i < HPAR_MAX_THREADS; i++)
    processor_per_worker[i] = found->processor[i % found->count];
  return refused || !found ? "refused" : found->how;
}

static void fill_merge(const hp_merge_counters *from, hpar_study_stats *stats) {
  stats->chunks_exact = from->chunks_exact;
  stats->chunks_right_start = from->chunks_right_start;
  stats->chunks_right = from->chunks_right;
  stats->chunks_clean = from->chunks_clean;
  stats->chunks_in_comment = from->chunks_in_comment;
  stats->chunks_in_raw_text = from->chunks_in_raw_text;
  stats->chunks_in_markup = from->chunks_in_markup;
  stats->chunks_misguessed = from->chunks_misguessed;
  stats->chunks_with_undetected_errors = from->chunks_with_undetected_errors;
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
  memcpy(stats->undetected_errors_by_kind, from->undetected_errors_by_kind, sizeof stats->undetected_errors_by_kind);
  memcpy(stats->merge_levels, from->levels, sizeof stats->merge_levels);
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
  stats->mode = "parallel";
  stats->threads = from->threads;
  stats->strategy = from->strategy;
  stats->predictor = from->predictor;
  stats->mode_predictor = from->mode_predictor;
  stats->cut_policy = from->cut_policy;
  stats->merge = from->merged_as_tree ? "tree" : "chain";
  stats->chunks = from->chunks;
  stats->chunks_started_before_end = from->chunks_started_before_end;
  stats->ns.cut = from->cut_ns;
  stats->ns.merge = from->merge_ns;
  stats->ns.oracle = from->oracle_ns;
  stats->ns.predict = from->predict_ns;
  stats->ns.first_chunk = from->first_chunk_ns;
  stats->ns.wait = from->wait_ns;
  stats->chunks_rescued = from->chunks_rescued;
  memcpy(stats->ns.parse_per_worker, from->parse_ns_per_worker, sizeof stats->ns.parse_per_worker);
  fill_merge(&from->merge, stats);
  if (from->pipelined) fill_pipeline(&from->pipeline, stats);
}

static void fill_driver(const hp_session *session, hpar_study_stats *stats) {
  if (session->result.driver == HP_DRIVER_PARALLEL) fill_parallel(&session->parallel_counters, stats);
  if (session->result.driver == HP_DRIVER_PIPELINED) {
    stats->mode = "pipelined";
    stats->threads = session->pipeline_counters.threads;
    fill_pipeline(&session->pipeline_counters, stats);
    stats->script.rollbacks = session->pipeline_counters.rollbacks_by_scripts;
    stats->script.bytes_lost = session->pipeline_counters.bytes_dropped_by_scripts;
  }
}
#else
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  (void)processor_per_worker, (void)threads, (void)refused;
  return "none";
}

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
  const hp_result *result = &session->result;
  *stats = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
  stats->mode = "sequential";
  stats->threads = 1;
  stats->affinity = "none";
  stats->allocator = hpar_allocator_name(result->complete && result->by_jemalloc);
  if (!result->complete) return;
  fill_driver(session, stats);
  if (result->runs_scripts) fill_scripts(session, stats);
  stats->encoding = result->encoding;
  stats->encoding_source = result->encoding_source;
  stats->bytes = result->bytes;
  stats->tokens = result->tokens;
  stats->nodes = result->nodes;
  stats->parse_errors = result->parse_errors;
  stats->ns.decode = result->decode_ns;
  stats->ns.input = result->input_ns;
  stats->ns.total = result->total_ns - stats->ns.oracle;
  if (stats->threads == 1) stats->ns.parse_per_worker[0] = stats->ns.total;
  if (result->bound)
    stats->affinity = hp_note_processors(stats->processor_per_worker, stats->threads, result->binding_refused);
}

void hp_fill_stats(const hp_session *session, hpar_stats *stats) {
  hpar_study_stats all;
  hp_fill_study_stats(session, &all);
  *stats = (hpar_stats){HPAR_STATS_INIT};
  stats->mode = all.mode;
  stats->bytes = all.bytes;
  stats->encoding = all.encoding;
  stats->encoding_source = all.encoding_source;
  stats->tokens = all.tokens;
  stats->nodes = all.nodes;
  stats->parse_errors = all.parse_errors;
  stats->threads = all.threads;
  stats->affinity = all.affinity;
  stats->allocator = all.allocator;
  stats->chunks = all.chunks;
  stats->chunks_clean = all.chunks_clean;
  stats->bytes_reparsed = all.bytes_reparsed;
  stats->ns.total = all.ns.total;
  stats->ns.decode = all.ns.decode;
  stats->ns.input = all.ns.input;
  stats->script.runs = all.script.runs;
  stats->script.bytes_written = all.script.bytes_written;
}
