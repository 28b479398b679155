#include "programs/hpar/report.h"

#include <hpar/study.h>
#include <string.h>

static void count(FILE *file, const char *name, uint64_t value) {
  fprintf(file, "%-22s %llu\n", name, (unsigned long long)value);
}

static void text(FILE *file, const char *name, const char *value) { fprintf(file, "%-22s %s\n", name, value); }

static void milliseconds(FILE *file, const char *name, uint64_t ns) {
  fprintf(file, "%-22s %.3f ms\n", name, (double)ns / 1e6);
}

static bool is_bound(const char *bind) { return !strcmp(bind, "cores") || !strcmp(bind, "processors"); }

static void bound(FILE *file, const char *bind, const uint16_t *processors, unsigned threads) {
  fprintf(file, "%-22s %s", "bind", bind);
  for (unsigned i = 0; is_bound(bind) && i < threads && i < HPAR_MAX_THREADS; i++)
    fprintf(file, "%s%u", i ? ", " : ": ", processors[i]);
  fputc('\n', file);
}

static void bound_json(hp_json *json, const char *bind, const uint16_t *processors, unsigned threads) {
  hp_json_key(json, "bind");
  hp_json_text(json, bind);
  hp_json_key(json, "processor_per_worker");
  hp_json_open(json, '[');
  for (unsigned i = 0; is_bound(bind) && i < threads && i < HPAR_MAX_THREADS; i++) hp_json_number(json, processors[i]);
  hp_json_close(json, ']');
}

/* Levels up to the last that has merged something. */
static unsigned merge_levels(const hpar_study_stats *stats) {
  unsigned levels = HPAR_MERGE_LEVELS;
  while (levels && !stats->merge_levels[levels - 1].merges) levels--;
  return levels;
}

/* The counters of speculation: log entries, wrong assumptions and work that was lost. */
static void report_speculation(FILE *file, const hpar_study_stats *stats) {
  uint64_t wrong = 0;
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) wrong += stats->wrong_assumptions_by_kind[i];
  count(file, "wrong assumptions", wrong);
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) {
    if (!stats->wrong_assumptions_by_kind[i]) continue;
    fprintf(file, "  %-20s %llu\n", hpar_assumption_name((hpar_assumption)i),
            (unsigned long long)stats->wrong_assumptions_by_kind[i]);
  }
  count(file, "bytes parsed again", stats->bytes_reparsed);
  if (stats->respeculations) count(file, "speculated again", stats->respeculations);
  if (stats->bytes_respeculated) count(file, "  bytes wasted", stats->bytes_respeculated);
  if (stats->aborts) count(file, "aborts", stats->aborts);
  if (stats->rollbacks) count(file, "rollbacks", stats->rollbacks);
  uint64_t silent = 0;
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++) silent += stats->undetected_errors_by_kind[i];
  if (silent) count(file, "silent errors", silent);
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++) {
    if (!stats->undetected_errors_by_kind[i]) continue;
    fprintf(file, "  %-20s %llu\n", hpar_undetected_error_name((hpar_undetected_error)i),
            (unsigned long long)stats->undetected_errors_by_kind[i]);
  }
}

static void report_parallel(FILE *file, const hpar_study_stats *stats) {
  count(file, "chunks", stats->chunks);
  count(file, "  exact", stats->chunks_exact);
  count(file, "  right start", stats->chunks_right_start);
  count(file, "  right", stats->chunks_right);
  count(file, "  clean", stats->chunks_clean);
  if (stats->chunks_rescued) count(file, "  of late threads", stats->chunks_rescued);
  if (stats->ns.input) count(file, "  started before the end", stats->chunks_started_before_end);
  count(file, "log entries", stats->log_entries);
  for (int i = 0; i < HPAR_LOG_KINDS; i++) {
    if (!stats->log_entries_by_kind[i]) continue;
    fprintf(file, "  %-20s %llu\n", hpar_log_kind_name((hpar_log_kind)i),
            (unsigned long long)stats->log_entries_by_kind[i]);
  }
  report_speculation(file, stats);
  milliseconds(file, "cut", stats->ns.cut);
  milliseconds(file, "predict, all threads", stats->ns.predict);
  for (unsigned i = 0; i < stats->threads && i < HPAR_MAX_THREADS; i++) {
    char name[32];
    snprintf(name, sizeof name, "parse, thread %u", i);
    milliseconds(file, name, stats->ns.parse_per_worker[i]);
  }
  milliseconds(file, "merge", stats->ns.merge);
  for (unsigned level = 1; level < merge_levels(stats); level++) {
    const hpar_merge_level *at = &stats->merge_levels[level];
    fprintf(file, "  level %-14u %.3f ms: %llu merges, %llu entries answered\n", level, (double)at->nanoseconds / 1e6,
            (unsigned long long)at->merges, (unsigned long long)at->tokens);
  }
}

static void report_scripts(FILE *file, const hpar_study_stats *stats) {
  count(file, "scripts", stats->script.runs);
  milliseconds(file, "  for", stats->ns.scripts);
  count(file, "  bytes written", stats->script.bytes_written);
  count(file, "  state changes", stats->script.state_changes);
  count(file, "  segments lost", stats->script.segments_lost);
  count(file, "  bytes lost", stats->script.bytes_lost);
  count(file, "  bytes after a change", stats->script.bytes_after_change);
  if (stats->pipeline.predictor) count(file, "  rollbacks", stats->script.rollbacks);
}

static void report_pipeline(FILE *file, const hpar_study_stats *stats) {
  text(file, "pipeline predictor", stats->pipeline.predictor);
  count(file, "buffer, tokens", stats->pipeline.buffer_tokens);
  count(file, "batch", stats->pipeline.batch_tokens);
  uint64_t hazards = 0;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) hazards += stats->pipeline.hazards_by_kind[i];
  count(file, "hazards", hazards);
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) {
    if (!stats->pipeline.hazards_by_kind[i] && !stats->pipeline.rollbacks_by_kind[i]) continue;
    fprintf(file, "  %-20s %llu, %llu of them not foreseen\n", hpar_pipeline_hazard_name((hpar_pipeline_hazard)i),
            (unsigned long long)stats->pipeline.hazards_by_kind[i],
            (unsigned long long)stats->pipeline.rollbacks_by_kind[i]);
  }
  count(file, "rollbacks", stats->pipeline.rollbacks);
  count(file, "  tokens dropped", stats->pipeline.tokens_dropped);
  count(file, "  bytes dropped", stats->pipeline.bytes_dropped);
  count(file, "  bytes read", stats->pipeline.bytes_read);
  count(file, "  bytes read alone", stats->pipeline.bytes_alone);
  count(file, "drains", stats->pipeline.drains);
  count(file, "tokenizer waits", stats->pipeline.tokenizer_waits);
  count(file, "  asleep", stats->pipeline.tokenizer_slept);
  milliseconds(file, "  for", stats->pipeline.tokenizer_wait_ns);
  count(file, "tree builder waits", stats->pipeline.builder_waits);
  count(file, "  asleep", stats->pipeline.builder_slept);
  milliseconds(file, "  for", stats->pipeline.builder_wait_ns);
}

void hp_report_stats(FILE *file, const hpar_study_stats *stats) {
  fprintf(file, "%-22s %s\n", "mode", stats->mode);
  count(file, "threads", stats->threads);
  bound(file, stats->affinity, stats->processor_per_worker, stats->threads);
  text(file, "allocator", stats->allocator);
  if (stats->strategy) {
    text(file, "strategy", stats->strategy);
    text(file, "predictor", stats->predictor);
    text(file, "mode predictor", stats->mode_predictor);
    text(file, "cut", stats->cut_policy);
    text(file, "merge", stats->merge);
  }
  fprintf(file, "%-22s %s, %s\n", "encoding", stats->encoding, stats->encoding_source);
  count(file, "bytes", stats->bytes);
  count(file, "tokens", stats->tokens);
  count(file, "nodes", stats->nodes);
  count(file, "parse errors", stats->parse_errors);
  if (stats->strategy) report_parallel(file, stats);
  if (stats->pipeline.predictor) report_pipeline(file, stats);
  if (stats->script.runs) report_scripts(file, stats);
  milliseconds(file, "decode", stats->ns.decode);
  if (stats->ns.first_chunk) milliseconds(file, "first chunk after", stats->ns.first_chunk);
  if (stats->ns.wait) milliseconds(file, "merger's waits", stats->ns.wait);
  if (stats->ns.input) milliseconds(file, "end of input after", stats->ns.input);
  milliseconds(file, "total", stats->ns.total);
  if (stats->ns.total)
    fprintf(file, "%-22s %.1f MB/s\n", "speed", (double)stats->bytes * 1e3 / (double)stats->ns.total);
}

void hp_report_convergence_json(hp_json *json, const hpar_convergence_sums *sums) {
  static const char *const steps[HPAR_CONVERGENCE_STEPS] = {"1", "16", "64", "256", "1024", "4096"};
  static const char *const contexts[] = {"data",          "comment",  "tag",  "double_quotes",
                                         "single_quotes", "raw_text", "cdata"};
  hp_json_key(json, "convergence");
  hp_json_open(json, '{');
  hp_json_number_member(json, "chunks", sums->chunks);
  hp_json_number_member(json, "hypotheses", sums->hypotheses);
  hp_json_key(json, "live_after");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_CONVERGENCE_STEPS; i++) hp_json_number_member(json, steps[i], sums->live_after[i]);
  hp_json_close(json, '}');
  hp_json_number_member(json, "live", sums->live);
  hp_json_key(json, "live_by_context");
  hp_json_open(json, '{');
  for (int i = 0; i <= HPAR_CONTEXT_CDATA; i++) hp_json_number_member(json, contexts[i], sums->live_by_context[i]);
  hp_json_close(json, '}');
  hp_json_number_member(json, "chunks_with_one", sums->chunks_with_one);
  hp_json_number_member(json, "bytes_until_one", sums->bytes_until_one);
  hp_json_close(json, '}');
}

static void pipeline_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_key(json, "pipeline");
  hp_json_open(json, '{');
  hp_json_key(json, "predictor");
  hp_json_text(json, stats->pipeline.predictor);
  hp_json_number_member(json, "buffer_tokens", stats->pipeline.buffer_tokens);
  hp_json_number_member(json, "batch", stats->pipeline.batch_tokens);
  hp_json_key(json, "hazards_by_kind");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++)
    hp_json_number_member(json, hpar_pipeline_hazard_name((hpar_pipeline_hazard)i), stats->pipeline.hazards_by_kind[i]);
  hp_json_close(json, '}');
  hp_json_key(json, "rollbacks_by_kind");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++)
    hp_json_number_member(json, hpar_pipeline_hazard_name((hpar_pipeline_hazard)i),
                          stats->pipeline.rollbacks_by_kind[i]);
  hp_json_close(json, '}');
  hp_json_number_member(json, "rollbacks", stats->pipeline.rollbacks);
  hp_json_number_member(json, "tokens_dropped", stats->pipeline.tokens_dropped);
  hp_json_number_member(json, "bytes_dropped", stats->pipeline.bytes_dropped);
  hp_json_number_member(json, "bytes_read", stats->pipeline.bytes_read);
  hp_json_number_member(json, "bytes_alone", stats->pipeline.bytes_alone);
  hp_json_number_member(json, "drains", stats->pipeline.drains);
  hp_json_number_member(json, "tokenizer_waits", stats->pipeline.tokenizer_waits);
  hp_json_number_member(json, "tokenizer_slept", stats->pipeline.tokenizer_slept);
  hp_json_number_member(json, "tokenizer_wait_ns", stats->pipeline.tokenizer_wait_ns);
  hp_json_number_member(json, "builder_waits", stats->pipeline.builder_waits);
  hp_json_number_member(json, "builder_slept", stats->pipeline.builder_slept);
  hp_json_number_member(json, "builder_wait_ns", stats->pipeline.builder_wait_ns);
  hp_json_close(json, '}');
}

void hp_report_scripts_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_key(json, "script");
  hp_json_open(json, '{');
  hp_json_number_member(json, "runs", stats->script.runs);
  hp_json_number_member(json, "ns", stats->ns.scripts);
  hp_json_number_member(json, "bytes_written", stats->script.bytes_written);
  hp_json_number_member(json, "state_changes", stats->script.state_changes);
  hp_json_number_member(json, "segments_lost", stats->script.segments_lost);
  hp_json_number_member(json, "bytes_lost", stats->script.bytes_lost);
  hp_json_number_member(json, "bytes_after_change", stats->script.bytes_after_change);
  if (stats->pipeline.predictor) hp_json_number_member(json, "rollbacks", stats->script.rollbacks);
  hp_json_close(json, '}');
}

static void chunks_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_number_member(json, "chunks", stats->chunks);
  hp_json_number_member(json, "chunks_exact", stats->chunks_exact);
  hp_json_number_member(json, "chunks_right_start", stats->chunks_right_start);
  hp_json_number_member(json, "chunks_right", stats->chunks_right);
  hp_json_number_member(json, "chunks_clean", stats->chunks_clean);
  hp_json_number_member(json, "chunks_started_before_end", stats->chunks_started_before_end);
  hp_json_number_member(json, "chunks_rescued", stats->chunks_rescued);
  hp_json_number_member(json, "log_entries", stats->log_entries);
  hp_json_key(json, "log_entries_by_kind");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_LOG_KINDS; i++) {
    hp_json_number_member(json, hpar_log_kind_name((hpar_log_kind)i), stats->log_entries_by_kind[i]);
  }
  hp_json_close(json, '}');
  hp_json_key(json, "wrong_assumptions_by_kind");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) {
    hp_json_number_member(json, hpar_assumption_name((hpar_assumption)i), stats->wrong_assumptions_by_kind[i]);
  }
  hp_json_close(json, '}');
  hp_json_number_member(json, "bytes_reparsed", stats->bytes_reparsed);
  hp_json_number_member(json, "respeculations", stats->respeculations);
  hp_json_number_member(json, "aborts", stats->aborts);
  hp_json_number_member(json, "rollbacks", stats->rollbacks);
  hp_json_number_member(json, "bytes_respeculated", stats->bytes_respeculated);
  hp_json_number_member(json, "chunks_in_comment", stats->chunks_in_comment);
  hp_json_number_member(json, "chunks_in_raw_text", stats->chunks_in_raw_text);
  hp_json_number_member(json, "chunks_in_markup", stats->chunks_in_markup);
  hp_json_number_member(json, "chunks_misguessed", stats->chunks_misguessed);
  hp_json_number_member(json, "chunks_silent", stats->chunks_with_undetected_errors);
  hp_json_key(json, "silent_errors_by_kind");
  hp_json_open(json, '{');
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++) {
    hp_json_number_member(json, hpar_undetected_error_name((hpar_undetected_error)i),
                          stats->undetected_errors_by_kind[i]);
  }
  hp_json_close(json, '}');
}

static void merge_levels_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_key(json, "merge_levels");
  hp_json_open(json, '[');
  for (unsigned level = 0; level < merge_levels(stats); level++) {
    const hpar_merge_level *at = &stats->merge_levels[level];
    hp_json_open(json, '{');
    hp_json_number_member(json, "merges", at->merges);
    hp_json_number_member(json, "segments", at->segments);
    hp_json_number_member(json, "tokens", at->tokens);
    hp_json_number_member(json, "ns", at->nanoseconds);
    hp_json_close(json, '}');
  }
  hp_json_close(json, ']');
}

static void times_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_key(json, "ns");
  hp_json_open(json, '{');
  hp_json_number_member(json, "cut", stats->ns.cut);
  hp_json_number_member(json, "decode", stats->ns.decode);
  hp_json_number_member(json, "predict", stats->ns.predict);
  hp_json_number_member(json, "oracle", stats->ns.oracle);
  hp_json_key(json, "parse_per_worker");
  hp_json_open(json, '[');
  for (unsigned i = 0; i < stats->threads && i < HPAR_MAX_THREADS; i++) {
    hp_json_number(json, stats->ns.parse_per_worker[i]);
  }
  hp_json_close(json, ']');
  hp_json_number_member(json, "merge", stats->ns.merge);
  hp_json_number_member(json, "patch", 0); /* alias for 0.2: no phase patches nodes */
  hp_json_number_member(json, "first_chunk", stats->ns.first_chunk);
  hp_json_number_member(json, "wait", stats->ns.wait);
  hp_json_number_member(json, "scripts", stats->ns.scripts);
  hp_json_number_member(json, "input", stats->ns.input);
  hp_json_number_member(json, "total", stats->ns.total);
  hp_json_close(json, '}');
}

void hp_report_stats_json(hp_json *json, const hpar_study_stats *stats) {
  hp_json_open(json, '{');
  hp_json_number_member(json, "bytes", stats->bytes);
  hp_json_number_member(json, "tokens", stats->tokens);
  hp_json_number_member(json, "nodes", stats->nodes);
  hp_json_number_member(json, "parse_errors", stats->parse_errors);
  hp_json_key(json, "mode");
  hp_json_text(json, stats->mode);
  hp_json_number_member(json, "threads", stats->threads);
  bound_json(json, stats->affinity, stats->processor_per_worker, stats->threads);
  hp_json_key(json, "allocator");
  hp_json_text(json, stats->allocator);
  hp_json_key(json, "strategy");
  hp_json_text(json, stats->strategy);
  hp_json_key(json, "predictor");
  hp_json_text(json, stats->predictor);
  hp_json_key(json, "mode_predictor");
  hp_json_text(json, stats->mode_predictor);
  hp_json_key(json, "cut");
  hp_json_text(json, stats->cut_policy);
  hp_json_key(json, "merge");
  hp_json_text(json, stats->merge);
  hp_json_key(json, "encoding");
  hp_json_text(json, stats->encoding);
  hp_json_key(json, "encoding_source");
  hp_json_text(json, stats->encoding_source);
  chunks_json(json, stats);
  merge_levels_json(json, stats);
  times_json(json, stats);
  if (stats->pipeline.predictor) pipeline_json(json, stats);
  if (stats->script.runs) hp_report_scripts_json(json, stats);
  hp_json_close(json, '}');
}

void hp_report_many(FILE *file, const hpar_many_stats *stats) {
  count(file, "documents", stats->inputs);
  count(file, "  failed", stats->failed);
  count(file, "bytes", stats->bytes);
  count(file, "tokens", stats->tokens);
  count(file, "nodes", stats->nodes);
  count(file, "threads", stats->threads);
  bound(file, stats->affinity, stats->processor_per_worker, stats->threads);
  text(file, "allocator", stats->allocator);
  for (unsigned i = 0; i < stats->threads && i < HPAR_MAX_THREADS; i++)
    fprintf(file, "  thread %-13u %.3f ms: %llu documents\n", i, (double)stats->ns.parse_per_worker[i] / 1e6,
            (unsigned long long)stats->inputs_per_worker[i]);
  milliseconds(file, "total", stats->ns.total);
  if (stats->ns.total)
    fprintf(file, "%-22s %.1f MB/s\n", "speed", (double)stats->bytes * 1e3 / (double)stats->ns.total);
}

static void list_json(hp_json *json, const char *key, const uint64_t *items, unsigned count) {
  hp_json_key(json, key);
  hp_json_open(json, '[');
  for (unsigned i = 0; i < count && i < HPAR_MAX_THREADS; i++) hp_json_number(json, items[i]);
  hp_json_close(json, ']');
}

void hp_report_many_json(hp_json *json, const hpar_many_stats *stats) {
  hp_json_open(json, '{');
  hp_json_number_member(json, "documents", stats->inputs);
  hp_json_number_member(json, "failed", stats->failed);
  hp_json_number_member(json, "bytes", stats->bytes);
  hp_json_number_member(json, "tokens", stats->tokens);
  hp_json_number_member(json, "nodes", stats->nodes);
  hp_json_number_member(json, "threads", stats->threads);
  bound_json(json, stats->affinity, stats->processor_per_worker, stats->threads);
  hp_json_key(json, "allocator");
  hp_json_text(json, stats->allocator);
  list_json(json, "documents_per_worker", stats->inputs_per_worker, stats->threads);
  hp_json_key(json, "ns");
  hp_json_open(json, '{');
  hp_json_number_member(json, "total", stats->ns.total);
  list_json(json, "parse_per_worker", stats->ns.parse_per_worker, stats->threads);
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}
