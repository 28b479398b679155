#include "programs/hpar/compare.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/report.h"

#include <hpar/study.h>
#include <string.h>

static uint64_t fastest(const hp_compared_mode *mode) { return mode->times[0] ? mode->times[0] : 1; }

static uint64_t median(const hp_compared_mode *mode, size_t repeats) {
  uint64_t low = mode->times[(repeats - 1) / 2], high = mode->times[repeats / 2];
  uint64_t middle = low + (high - low) / 2;
  return middle ? middle : 1;
}

static double speedup_min(const hp_comparison *c, size_t i) {
  return (double)fastest(&c->modes[HP_COMPARE_SEQUENTIAL]) / (double)fastest(&c->modes[i]);
}

static double speedup_median(const hp_comparison *c, size_t i, const hp_compared_page *page) {
  return (double)median(&c->modes[HP_COMPARE_SEQUENTIAL], page->repeats) / (double)median(&c->modes[i], page->repeats);
}

static double percent(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 100; }

static double per_thousand(uint64_t entries, uint64_t tokens) {
  return tokens ? 1000 * (double)entries / (double)tokens : 0;
}

static void add_convergence(hpar_convergence_sums *to, const hpar_convergence_sums *of) {
  to->chunks += of->chunks;
  to->hypotheses += of->hypotheses;
  to->live += of->live;
  for (int i = 0; i < HPAR_CONVERGENCE_STEPS; i++) to->live_after[i] += of->live_after[i];
  for (int i = 0; i <= HPAR_CONTEXT_CDATA; i++) to->live_by_context[i] += of->live_by_context[i];
  to->chunks_with_one += of->chunks_with_one;
  to->bytes_until_one += of->bytes_until_one;
}

void hp_comparison_add(hp_comparison *c, const hp_compared_page *page) {
  hp_compare_totals *totals = &c->totals;
  totals->pages++;
  totals->equal += page->equal;
  totals->bytes += page->bytes;
  if (c->mode_count <= HP_COMPARE_PARALLEL) return;
  const hpar_study_stats *stats = &c->modes[HP_COMPARE_PARALLEL].stats;
  hp_mean_add(&totals->speedup_min, speedup_min(c, HP_COMPARE_PARALLEL));
  hp_mean_add(&totals->speedup_median, speedup_median(c, HP_COMPARE_PARALLEL, page));
  if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE)
    hp_mean_add(&totals->side_by_side, speedup_median(c, HP_COMPARE_SIDE_BY_SIDE, page));
  totals->tokens += stats->tokens;
  totals->log_entries += stats->log_entries;
  totals->chunks += stats->chunks;
  totals->clean += stats->chunks_clean;
  add_convergence(&totals->convergence, &page->convergence);
}

static void print_heading(const hp_comparison *c) {
  hp_machine_line(stdout);
  printf("%-*s %9s %-5s  sequential", c->name_width, "", "", "");
  if (c->mode_count > HP_COMPARE_PARALLEL) printf("%16s  %-26s  ", "", c->modes[HP_COMPARE_PARALLEL].name);
  if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE) printf("%-26s  ", c->modes[HP_COMPARE_SIDE_BY_SIDE].name);
  if (c->mode_count > HP_COMPARE_PARALLEL) printf("speed-up");
  printf("\n%-*s %9s %-5s  %8s %8s %8s", c->name_width, "file", "KB", "equal", "min ms", "median", "MB/s");
  if (c->mode_count > HP_COMPARE_PARALLEL) {
    for (size_t i = HP_COMPARE_PARALLEL; i < c->mode_count; i++) printf("  %8s %8s %8s", "min ms", "median", "MB/s");
    printf("  %5s %6s  %6s %6s %9s", "min", "median", "chunks", "clean", "log/1000");
    if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE) printf(" %12s", "side by side");
  }
  putchar('\n');
  fflush(stdout);
}

static void print_times(const hp_compared_mode *mode, const hp_compared_page *page) {
  uint64_t middle = median(mode, page->repeats);
  printf("  %8.3f %8.3f %8.1f", (double)fastest(mode) / 1e6, (double)middle / 1e6,
         (double)page->bytes * 1e3 / (double)middle);
}

static void print_row(const hp_comparison *c, const hp_compared_page *page) {
  const char *name = hp_shown_name(page->path), *mark = "";
  size_t length = strlen(name);
  if (length > (size_t)c->name_width) {
    mark = "...";
    name += length - (size_t)c->name_width + 3;
  }
  printf("%s%-*s %9.1f %-5s", mark, c->name_width - (int)strlen(mark), name, (double)page->bytes / 1e3,
         page->equal ? "yes" : "NO");
  for (size_t i = 0; i < c->mode_count; i++) print_times(&c->modes[i], page);
  if (c->mode_count > HP_COMPARE_PARALLEL) {
    const hpar_study_stats *stats = &c->modes[HP_COMPARE_PARALLEL].stats;
    printf("  %5.2f %6.2f  %6llu ", speedup_min(c, HP_COMPARE_PARALLEL), speedup_median(c, HP_COMPARE_PARALLEL, page),
           (unsigned long long)stats->chunks);
    if (stats->chunks)
      printf("%5.1f%%", percent(stats->chunks_clean, stats->chunks));
    else
      printf("%6s", "-");
    printf(" %9.2f", per_thousand(stats->log_entries, stats->tokens));
    if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE) printf(" %12.2f", speedup_median(c, HP_COMPARE_SIDE_BY_SIDE, page));
  }
  putchar('\n');
  fflush(stdout);
}

static void print_convergence(const hpar_convergence_sums *sums) {
  double chunks = sums->chunks ? (double)sums->chunks : 1;
  printf("start hypotheses of a chunk: %.1f at the cut; %.1f, %.1f, %.1f, %.1f, %.1f, %.1f after 1, 16, 64, 256, 1024,"
         " 4096 bytes; %.1f at its end\n",
         (double)sums->hypotheses / chunks, (double)sums->live_after[0] / chunks, (double)sums->live_after[1] / chunks,
         (double)sums->live_after[2] / chunks, (double)sums->live_after[3] / chunks,
         (double)sums->live_after[4] / chunks, (double)sums->live_after[5] / chunks, (double)sums->live / chunks);
  printf("one is left in %llu of %llu chunks", (unsigned long long)sums->chunks_with_one,
         (unsigned long long)sums->chunks);
  if (sums->chunks_with_one)
    printf(", after %.1f bytes on average", (double)sums->bytes_until_one / (double)sums->chunks_with_one);
  printf("; the others are in raw text (%llu), comments (%llu), tags and values (%llu), CDATA (%llu)\n",
         (unsigned long long)sums->live_by_context[HPAR_CONTEXT_RAW_TEXT],
         (unsigned long long)sums->live_by_context[HPAR_CONTEXT_COMMENT],
         (unsigned long long)(sums->live_by_context[HPAR_CONTEXT_TAG] +
                              sums->live_by_context[HPAR_CONTEXT_DOUBLE_QUOTES] +
                              sums->live_by_context[HPAR_CONTEXT_SINGLE_QUOTES]),
         (unsigned long long)sums->live_by_context[HPAR_CONTEXT_CDATA]);
}

static void print_summary(const hp_comparison *c) {
  const hp_compare_totals *totals = &c->totals;
  printf("%zu of %zu equal, ", totals->equal, totals->pages);
  if (totals->not_parsed) printf("%zu not parsed, ", totals->not_parsed);
  printf("%.1f MB", (double)totals->bytes / 1e6);
  if (!totals->pages) {
    putchar('\n');
  } else if (c->mode_count > HP_COMPARE_PARALLEL) {
    printf("; speed-up, geometric mean: %.3f of minima, %.3f of medians; %llu chunks, %.2f%% clean;"
           " %.2f log entries per 1000 tokens\n",
           hp_mean_of(&totals->speedup_min), hp_mean_of(&totals->speedup_median), (unsigned long long)totals->chunks,
           percent(totals->clean, totals->chunks), per_thousand(totals->log_entries, totals->tokens));
    if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE)
      printf("%u copies side by side: %.3f of medians; splitting one reaches %.1f%% of that\n",
             c->modes[HP_COMPARE_SIDE_BY_SIDE].copies, hp_mean_of(&totals->side_by_side),
             100 * hp_mean_of(&totals->speedup_median) / hp_mean_of(&totals->side_by_side));
    if (c->converges) print_convergence(&totals->convergence);
  } else {
    printf("; this build has no parallel parser, so nothing was compared\n");
  }
}

static void real_member(hp_json *json, const char *key, double number) {
  hp_json_key(json, key);
  hp_json_real(json, number);
}

static void open_json(hp_comparison *c) {
  hp_json *json = &c->json;
  const hpar_study *study = &c->study;
  hp_json_open(json, '{');
  hp_json_key(json, "machine");
  hp_machine_json(json);
  hp_json_break(json);
  hp_json_key(json, "version");
  hp_json_text(json, hpar_version());
  hp_json_break(json);
  hp_json_key(json, "options");
  hp_json_open(json, '{');
  hp_json_number_member(json, "threads", c->options.threads);
  hp_json_number_member(json, "chunk_size", c->options.parallel.chunk_size);
  hp_json_number_member(json, "chunks", c->options.parallel.chunks);
  hp_json_key(json, "executor");
  hp_json_text(json, c->options.parallel.executor == HPAR_EXECUTOR_INLINE ? "inline" : "threads");
  hp_json_key(json, "strategy");
  hp_json_text(json, study->custom_strategy ? study->custom_strategy->name
                     : study->strategy      ? study->strategy
                                            : hpar_strategy_name(0));
  hp_json_key(json, "predictor");
  hp_json_text(json, study->custom_predictor ? study->custom_predictor->name : study->predictor);
  hp_json_key(json, "mode_predictor");
  hp_json_text(json, study->custom_mode_predictor ? study->custom_mode_predictor->name : study->mode_predictor);
  hp_json_key(json, "cut");
  hp_json_text(json, study->custom_cut_policy ? study->custom_cut_policy->name : study->cut_policy);
  hp_json_key(json, "pool");
  hp_json_text(json, c->options.parallel.wait == HPAR_WAIT_SPIN    ? "spin"
                     : c->options.parallel.wait == HPAR_WAIT_SLEEP ? "sleep"
                                                                   : "adaptive");
  hp_json_key(json, "merge");
  hp_json_text(json, c->study.merge == HPAR_MERGE_TREE ? "tree" : "chain");
  const char *driver = hp_chosen_driver(&c->study);
  if (driver && !strcmp(driver, "pipelined")) {
    hp_json_number_member(json, "buffer_tokens", c->study.pipeline.buffer_tokens);
    hp_json_number_member(json, "batch", c->study.pipeline.batch_tokens);
    hp_json_key(json, "pipeline_predictor");
    hp_json_text(json, c->study.pipeline.predictor);
  }
  hp_json_key(json, "scripting");
  hp_json_bool(json, c->options.scripting);
  hp_json_key(json, "scripts");
  hp_json_text(json, c->scripts.run ? "run" : "off");
  hp_json_key(json, "encoding");
  hp_json_text(json, c->options.encoding);
  hp_json_key(json, "bind");
  hp_json_text(json, c->options.parallel.affinity == HPAR_AFFINITY_CORES ? "cores" : "none");
  hp_json_key(json, "allocator");
  hp_json_text(json, hpar_allocator_name(c->options.allocator));
  hp_json_number_member(json, "repeat", c->repeat);
  hp_json_close(json, '}');
  hp_json_break(json);
  hp_json_key(json, "pages");
  hp_json_open(json, '[');
}

static void page_json(hp_comparison *c, const hp_compared_page *page) {
  hp_json *json = &c->json;
  hp_json_break(json);
  hp_json_open(json, '{');
  hp_json_key(json, "file");
  hp_json_text(json, page->path);
  hp_json_number_member(json, "bytes", page->bytes);
  hp_json_key(json, "equal");
  hp_json_bool(json, page->equal);
  hp_json_number_member(json, "runs", page->repeats);
  if (c->scripts.run) {
    hp_json_number_member(json, "scripts", page->scripts.scripts);
    hp_json_number_member(json, "script_errors", page->scripts.failed);
  }
  hp_json_key(json, "modes");
  hp_json_open(json, '{');
  for (size_t i = 0; i < c->mode_count; i++) {
    const hp_compared_mode *mode = &c->modes[i];
    hp_json_key(json, mode->name);
    hp_json_open(json, '{');
    hp_json_number_member(json, "ns_min", fastest(mode));
    hp_json_number_member(json, "ns_median", median(mode, page->repeats));
    hp_json_key(json, "ns_runs");
    hp_json_open(json, '[');
    for (size_t run = 0; run < page->repeats; run++) hp_json_number(json, mode->times[run]);
    hp_json_close(json, ']');
    real_member(json, "speedup_min", speedup_min(c, i));
    real_member(json, "speedup_median", speedup_median(c, i, page));
    if (mode->copies) hp_json_number_member(json, "copies", mode->copies);
    hp_json_key(json, "stats");
    if (mode->copies)
      hp_report_many_json(json, &mode->many);
    else
      hp_report_stats_json(json, &mode->stats);
    hp_json_close(json, '}');
  }
  hp_json_close(json, '}');
  if (c->converges) hp_report_convergence_json(json, &page->convergence);
  hp_json_close(json, '}');
}

static void close_json(hp_comparison *c) {
  hp_json *json = &c->json;
  const hp_compare_totals *totals = &c->totals;
  hp_json_break(json);
  hp_json_close(json, ']');
  hp_json_break(json);
  hp_json_key(json, "summary");
  hp_json_open(json, '{');
  hp_json_number_member(json, "pages", totals->pages);
  hp_json_number_member(json, "equal", totals->equal);
  hp_json_number_member(json, "not_parsed", totals->not_parsed);
  if (c->mode_count > HP_COMPARE_PARALLEL && totals->pages) {
    real_member(json, "speedup_min", hp_mean_of(&totals->speedup_min));
    real_member(json, "speedup_median", hp_mean_of(&totals->speedup_median));
    if (c->mode_count > HP_COMPARE_SIDE_BY_SIDE) real_member(json, "side_by_side", hp_mean_of(&totals->side_by_side));
    hp_json_number_member(json, "chunks", totals->chunks);
    hp_json_number_member(json, "chunks_clean", totals->clean);
    if (c->converges) hp_report_convergence_json(json, &totals->convergence);
  }
  hp_json_close(json, '}');
  hp_json_close(json, '}');
  fputc('\n', json->file);
}

void hp_comparison_begin(hp_comparison *c) {
  c->json.file = stdout;
  if (c->as_json)
    open_json(c);
  else
    print_heading(c);
}

void hp_comparison_page(hp_comparison *c, const hp_compared_page *page) {
  if (c->as_json)
    page_json(c, page);
  else
    print_row(c, page);
}

void hp_comparison_end(hp_comparison *c) {
  if (c->as_json)
    close_json(c);
  else
    print_summary(c);
}
