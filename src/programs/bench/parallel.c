/* Measures three subjects:
 *
 * - many pages in parallel, by threads; each thread reuses its document
 * - the parallel parser, by threads and chunk size; it reuses the document, and the pool is as warm
 *   as consecutive parses keep it
 * - merging alone, as a chain and as a tree, by number of chunks; the inline executor runs nothing
 *   else at the same time
 *
 * The time of a tree is the time of all its compositions plus the time of the merger after them.
 * `merger_ns` is the time of the merger alone. `level_ns` with `merger_ns` is the elapsed time if
 * each level has as many threads as merges. */

#include "programs/bench/suite.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>

static void parse(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = (unsigned)self->arguments[0],
                          .parallel.chunk_size = (size_t)self->arguments[1]};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  uint64_t chunks = 0, clean = 0, again = 0;
  while (!status && hp_bench_next(run)) {
    chunks = clean = again = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      status = hpar_study_parse(bed.parser, &options, page->bytes, page->length, bed.document, &stats);
      if (status) break;
      chunks += stats.chunks;
      clean += stats.chunks_clean;
      again += stats.bytes_reparsed;
    }
  }
  if (status) {
    hp_bench_fail(run, hpar_status_text(status));
  } else {
    hp_bench_counter(run, "chunks", (double)chunks);
    hp_bench_counter(run, "chunks_clean", (double)clean);
    hp_bench_counter(run, "bytes_reparsed", (double)again);
  }
  hp_bench_close_bed(&bed);
}

static void many(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = (unsigned)self->arguments[0]};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_input *inputs = calloc(subject->count, sizeof *inputs);
  hpar_status status = inputs ? HPAR_OK : HPAR_ERROR_MEMORY;
  for (size_t i = 0; !status && i < subject->count; i++) {
    const hp_page *page = hp_subject_page(subject, i);
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = page->bytes, .length = page->length};
  }
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  while (!status && hp_bench_next(run)) {
    status = hpar_parse_many(bed.parser, &options, inputs, subject->count, &stats, NULL, NULL);
    if (!status && stats.failed) status = HPAR_ERROR_MEMORY;
  }
  if (status) {
    hp_bench_fail(run, hpar_status_text(status));
  } else {
    hp_bench_counter(run, "documents", (double)stats.inputs);
  }
  free(inputs);
  hp_bench_close_bed(&bed);
}

static void merge(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  size_t bytes = hp_subject_bytes(subject);
  const hpar_study study = {HPAR_STUDY_INIT, .merge = (hpar_merge_order)self->arguments[1]};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .parallel.executor = HPAR_EXECUTOR_INLINE,
                          .parallel.chunk_size = bytes / (size_t)self->arguments[0] + 1, .study = &study};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  uint64_t merger = 0, levels = 0, answered = 0, entries = 0, rounds = 0;
  const hp_page *page = hp_subject_page(subject, 0);
  for (; !status && hp_bench_next(run); rounds++) {
    status = hpar_study_parse(bed.parser, &options, page->bytes, page->length, bed.document, &stats);
    uint64_t took = stats.ns.merge;
    merger += stats.ns.merge;
    answered = 0;
    for (unsigned level = 1; level < HPAR_MERGE_LEVELS; level++) {
      const hpar_merge_level *at = &stats.merge_levels[level];
      took += at->nanoseconds;
      answered += at->tokens;
      if (at->merges) levels += at->nanoseconds / at->merges;
    }
    entries = answered + stats.merge_levels[0].tokens;
    hp_bench_took(run, took ? took : 1);
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_bench_counter(run, "chunks", (double)stats.chunks);
  hp_bench_counter(run, "log_entries", (double)stats.log_entries);
  hp_bench_counter(run, "answered", entries ? (double)answered / (double)entries : 0);
  hp_bench_counter(run, "merger_ns", rounds ? (double)merger / (double)rounds : 0);
  hp_bench_counter(run, "level_ns", rounds ? (double)(merger + levels) / (double)rounds : 0);
  hp_bench_counter(run, "bytes_reparsed", (double)stats.bytes_reparsed);
  hp_bench_close_bed(&bed);
}

void hp_bench_add_parallel(void) {
  static const unsigned threads[] = {1, 2};
  static const size_t chunk_sizes[] = {0, 16 << 10, 64 << 10, 256 << 10};
  static const unsigned chunks[] = {2, 4, 8, 16, 32, 64, 128, 512};
  static const char *const merged[] = {"generated/manual",
                                       "generated/table",
                                       "generated/malformed",
                                       "paper/qq",
                                       "paper/wikipedia",
                                       "large/maxima-manual",
                                       "large/wikipedia-nba-transactions"};
  char name[128];
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
    for (size_t c = 0; c < sizeof chunk_sizes / sizeof *chunk_sizes; c++) {
      if (chunk_sizes[c])
        snprintf(name, sizeof name, "parallel/threads:%u/chunk:%zu", threads[t], chunk_sizes[c]);
      else
        snprintf(name, sizeof name, "parallel/threads:%u/chunk:auto", threads[t]);
      hp_bench bench = {.function = parse, .arguments = {threads[t], (int64_t)chunk_sizes[c]}, .clock = HP_BENCH_WALL};
      hp_bench_add_subjects(name, HP_SETS | (chunk_sizes[c] ? 0 : HP_SINGLE_PAGES), &bench);
    }
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
    snprintf(name, sizeof name, "many/threads:%u", threads[t]);
    hp_bench_add_subjects(name, HP_SETS,
                          &(hp_bench){.function = many, .arguments = {threads[t]}, .clock = HP_BENCH_WALL});
  }
  for (size_t m = 0; m < sizeof merged / sizeof *merged; m++)
    for (size_t i = 0; i < 2 * (sizeof chunks / sizeof *chunks); i++) {
      const hp_subject *subject = hp_subject_named(merged[m]);
      bool tree = i % 2;
      if (!subject) break;
      snprintf(name, sizeof name, "merge%s/chunks:%u/%s", tree ? "-tree" : "", chunks[i / 2], merged[m]);
      hp_bench_add(&(hp_bench){.name = name,
                               .function = merge,
                               .subject = subject,
                               .arguments = {chunks[i / 2], tree ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN},
                               .clock = HP_BENCH_MANUAL});
    }
}
