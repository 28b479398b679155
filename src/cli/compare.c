/* hpar compare: parses each page in each mode, compares the trees and times the modes. Parsers and documents are warm.
 * The modes take turns inside each repetition, in alternating order, so that other load of the machine disturbs all
 * modes alike. Only where threads spin on all cores do the sequential runs come first, while the threads sleep. */

#include "cli/equal.h"
#include "cli/machine.h"
#include "cli/mean.h"
#include "cli/options.h"
#include "cli/pages.h"
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 1, JSON, MODE, MANY };
enum { SEQUENTIAL, PARALLEL, SIDE_BY_SIDE, MODES };
enum { MIN_REPEATS = 5, MAX_REPEATS = 50, MAX_ASKED = 100000, PAGE_NS = 200000000, WIDEST_NAME = 44 };

static const hp_option options[] = {
    {MODE, "mode", "parallel|pipelined", "what is compared with the sequential parser (parallel)"},
    HP_COMMON_OPTIONS,
    {REPEAT, "repeat", "N", "timed runs of each mode (default: what fits into 0.2 s a page, at\nleast 5, at most 50)"},
    {MANY, "many", NULL,
     "also parse as many copies of FILE as there are threads side by side,\neach sequentially: what splitting one "
     "could "
     "reach at best"},
    {JSON, "json", NULL, "print one JSON object instead of the table"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "compare", "FILE...",
    "Parses each FILE, and each *.html and *.htm in each folder, sequentially and in parallel:\n"
    "equal or not, times, speed-up, accuracy. Times are milliseconds; MB is 10^6 bytes, per\n"
    "second of the median; chunks after the first; clean: made no wrong assumption.",
    options};

typedef struct mode {
  const char *name;
  hpar_mode mode;
  hpar_parser *parser;
  hpar_document *document;
  uint64_t *times;  /* of the page at hand, `repeats` of them, then sorted */
  hpar_stats stats; /* of the fastest run */
  /* Side by side: `copies` of the page, the time being that of all over their number. */
  unsigned copies;
  hpar_input *inputs;
  hpar_many_stats many;
} mode;

typedef struct totals {
  size_t pages, equal, not_parsed;
  hp_mean speedup_min, speedup_median, side_by_side;
  uint64_t bytes, tokens, log_entries, chunks, clean;
} totals;

typedef struct comparison {
  hpar_options options;
  size_t repeat; /* 0: as many as seem right */
  bool as_json, many;
  bool apart; /* the sequential runs come before the others, instead of in turn with them */
  size_t mode_count;
  hpar_mode other; /* what stands at PARALLEL */
  mode modes[MODES];
  hp_pages pages;
  int name_width;
  totals totals;
  hp_json json;
  int code;
} comparison;

typedef struct page {
  const char *path;
  size_t bytes, repeats;
  bool equal;
} page;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t fastest(const mode *mode) { return mode->times[0] ? mode->times[0] : 1; }

static uint64_t median(const mode *mode, size_t repeats) {
  uint64_t low = mode->times[(repeats - 1) / 2], high = mode->times[repeats / 2];
  uint64_t middle = low + (high - low) / 2;
  return middle ? middle : 1;
}

static double speedup_min(const comparison *c, size_t i) {
  return (double)fastest(&c->modes[SEQUENTIAL]) / (double)fastest(&c->modes[i]);
}

static double speedup_median(const comparison *c, size_t i, const page *page) {
  return (double)median(&c->modes[SEQUENTIAL], page->repeats) / (double)median(&c->modes[i], page->repeats);
}

static double percent(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 100; }

static double per_thousand(uint64_t entries, uint64_t tokens) {
  return tokens ? 1000 * (double)entries / (double)tokens : 0;
}

static hpar_status run_side_by_side(const comparison *c, mode *mode, const char *bytes, size_t length, uint64_t *ns) {
  for (unsigned i = 0; i < mode->copies; i++) {
    mode->inputs[i].bytes = bytes;
    mode->inputs[i].length = length;
  }
  mode->many = (hpar_many_stats){HPAR_MANY_STATS_INIT};
  uint64_t start = now();
  hpar_status status = hpar_parse_many(mode->parser, &c->options, mode->inputs, mode->copies, NULL, NULL, &mode->many);
  *ns = (now() - start) / mode->copies;
  for (unsigned i = 0; i < mode->copies && !status; i++) status = mode->inputs[i].status;
  return status;
}

static hpar_status run_once(const comparison *c, mode *mode, const char *bytes, size_t length, uint64_t *ns,
                            hpar_stats *stats) {
  if (mode->copies) return run_side_by_side(c, mode, bytes, length, ns);
  hpar_options options = c->options;
  options.mode = mode->mode;
  uint64_t start = now();
  hpar_status status = hpar_parse(mode->parser, &options, bytes, length, mode->document, stats);
  *ns = now() - start - stats->ns.oracle;
  return status;
}

/* Says where the first difference is, once a page. */
static void check_equal(comparison *c, page *page) {
  for (size_t i = 1; i < c->mode_count && page->equal; i++) {
    hp_difference difference;
    if (hp_trees_equal(c->modes[SEQUENTIAL].document, c->modes[i].document, &difference)) continue;
    page->equal = false;
    c->code = HP_EXIT_FAILED;
    hp_complain("%s: the trees differ at node %llu: %s has %s, %s has %s", hp_shown_name(page->path),
                (unsigned long long)difference.node, c->modes[SEQUENTIAL].name, difference.first, c->modes[i].name,
                difference.second);
  }
}

static size_t repeats_for(const comparison *c, uint64_t ns) {
  if (c->repeat) return c->repeat;
  uint64_t fit = PAGE_NS / (ns + 1);
  return fit < MIN_REPEATS ? MIN_REPEATS : fit > MAX_REPEATS ? MAX_REPEATS : fit;
}

/* Times the modes from `first` to `end`, exclusive. They take turns, in alternating order. */
static hpar_status time_modes(comparison *c, const page *page, const char *bytes, size_t first, size_t end) {
  hpar_stats stats = {HPAR_STATS_INIT};
  for (size_t run = 0; run < page->repeats; run++) {
    for (size_t turn = first; turn < end; turn++) {
      mode *mode = &c->modes[run & 1 ? end - 1 - (turn - first) : turn];
      hpar_status status = run_once(c, mode, bytes, page->bytes, &mode->times[run], &stats);
      if (status) return status;
      if (!mode->copies && (!run || stats.ns.total < mode->stats.ns.total)) mode->stats = stats;
    }
  }
  return HPAR_OK;
}

/* Sends the threads of the parallel parser to sleep: a parse with that policy ends their spinning. */
static hpar_status stop_spinning(const comparison *c) {
  static const char bytes[] = "<p>a<p>b<p>c<p>d";
  static const uint64_t cuts[] = {4, 8, 12};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = c->options.threads,
                          .parallel.wait = HPAR_WAIT_SLEEP};
  options.experiment.cuts = cuts;
  options.experiment.cut_count = sizeof cuts / sizeof *cuts;
  hpar_document *document = NULL;
  hpar_status status = hpar_document_create(&document);
  if (!status) status = hpar_parse(c->modes[PARALLEL].parser, &options, bytes, sizeof bytes - 1, document, NULL);
  hpar_document_destroy(document);
  return status;
}

static hpar_status measure(comparison *c, page *page, const char *bytes) {
  uint64_t ns = 0, sum = 0;
  hpar_stats stats = {HPAR_STATS_INIT};
  for (size_t i = 0; i < c->mode_count; i++) {
    hpar_status status = run_once(c, &c->modes[i], bytes, page->bytes, &ns, &stats);
    if (status) return status;
    sum += ns;
  }
  check_equal(c, page);
  page->repeats = repeats_for(c, sum);
  if (c->apart) {
    hpar_status status = stop_spinning(c);
    if (!status) status = time_modes(c, page, bytes, 0, 1);
    if (!status) status = run_once(c, &c->modes[PARALLEL], bytes, page->bytes, &ns, &stats); /* wakes the threads */
    if (status) return status;
  }
  hpar_status status = time_modes(c, page, bytes, c->apart ? 1 : 0, c->mode_count);
  if (status) return status;
  check_equal(c, page);
  for (size_t i = 0; i < c->mode_count; i++) qsort(c->modes[i].times, page->repeats, sizeof(uint64_t), by_number);
  return HPAR_OK;
}

static void add_to_totals(comparison *c, const page *page) {
  totals *totals = &c->totals;
  totals->pages++;
  totals->equal += page->equal;
  totals->bytes += page->bytes;
  if (c->mode_count <= PARALLEL) return;
  const hpar_stats *stats = &c->modes[PARALLEL].stats;
  hp_mean_add(&totals->speedup_min, speedup_min(c, PARALLEL));
  hp_mean_add(&totals->speedup_median, speedup_median(c, PARALLEL, page));
  if (c->mode_count > SIDE_BY_SIDE) hp_mean_add(&totals->side_by_side, speedup_median(c, SIDE_BY_SIDE, page));
  totals->tokens += stats->tokens;
  totals->log_entries += stats->log_entries;
  totals->chunks += stats->chunks;
  totals->clean += stats->chunks_clean;
}

static void print_heading(const comparison *c) {
  hp_machine_line(stdout);
  printf("%-*s %9s %-5s  sequential", c->name_width, "", "", "");
  if (c->mode_count > PARALLEL) printf("%16s  %-26s  ", "", c->modes[PARALLEL].name);
  if (c->mode_count > SIDE_BY_SIDE) printf("%-26s  ", c->modes[SIDE_BY_SIDE].name);
  if (c->mode_count > PARALLEL) printf("speed-up");
  printf("\n%-*s %9s %-5s  %8s %8s %8s", c->name_width, "file", "KB", "equal", "min ms", "median", "MB/s");
  if (c->mode_count > PARALLEL) {
    for (size_t i = PARALLEL; i < c->mode_count; i++) printf("  %8s %8s %8s", "min ms", "median", "MB/s");
    printf("  %5s %6s  %6s %6s %9s", "min", "median", "chunks", "clean", "log/1000");
    if (c->mode_count > SIDE_BY_SIDE) printf(" %12s", "side by side");
  }
  putchar('\n');
  fflush(stdout);
}

static void print_times(const mode *mode, const page *page) {
  uint64_t middle = median(mode, page->repeats);
  printf("  %8.3f %8.3f %8.1f", (double)fastest(mode) / 1e6, (double)middle / 1e6,
         (double)page->bytes * 1e3 / (double)middle);
}

static void print_row(const comparison *c, const page *page) {
  const char *name = hp_shown_name(page->path), *mark = "";
  size_t length = strlen(name);
  if (length > (size_t)c->name_width) {
    mark = "...";
    name += length - (size_t)c->name_width + 3;
  }
  printf("%s%-*s %9.1f %-5s", mark, c->name_width - (int)strlen(mark), name, (double)page->bytes / 1e3,
         page->equal ? "yes" : "NO");
  for (size_t i = 0; i < c->mode_count; i++) print_times(&c->modes[i], page);
  if (c->mode_count > PARALLEL) {
    const hpar_stats *stats = &c->modes[PARALLEL].stats;
    printf("  %5.2f %6.2f  %6llu ", speedup_min(c, PARALLEL), speedup_median(c, PARALLEL, page),
           (unsigned long long)stats->chunks);
    if (stats->chunks)
      printf("%5.1f%%", percent(stats->chunks_clean, stats->chunks));
    else
      printf("%6s", "-");
    printf(" %9.2f", per_thousand(stats->log_entries, stats->tokens));
    if (c->mode_count > SIDE_BY_SIDE) printf(" %12.2f", speedup_median(c, SIDE_BY_SIDE, page));
  }
  putchar('\n');
  fflush(stdout);
}

static void print_summary(const comparison *c) {
  const totals *totals = &c->totals;
  printf("%zu of %zu equal, ", totals->equal, totals->pages);
  if (totals->not_parsed) printf("%zu not parsed, ", totals->not_parsed);
  printf("%.1f MB", (double)totals->bytes / 1e6);
  if (!totals->pages) {
    putchar('\n');
  } else if (c->mode_count > PARALLEL) {
    printf("; speed-up, geometric mean: %.3f of minima, %.3f of medians; %llu chunks, %.2f%% clean;"
           " %.2f log entries per 1000 tokens\n",
           hp_mean_of(&totals->speedup_min), hp_mean_of(&totals->speedup_median), (unsigned long long)totals->chunks,
           percent(totals->clean, totals->chunks), per_thousand(totals->log_entries, totals->tokens));
    if (c->mode_count > SIDE_BY_SIDE)
      printf("%u copies side by side: %.3f of medians; splitting one reaches %.1f%% of that\n",
             c->modes[SIDE_BY_SIDE].copies, hp_mean_of(&totals->side_by_side),
             100 * hp_mean_of(&totals->speedup_median) / hp_mean_of(&totals->side_by_side));
  } else {
    printf("; this build has no parallel parser, so nothing was compared\n");
  }
}

static void number_member(hp_json *json, const char *key, uint64_t number) {
  hp_json_key(json, key);
  hp_json_number(json, number);
}

static void real_member(hp_json *json, const char *key, double number) {
  hp_json_key(json, key);
  hp_json_real(json, number);
}

static void open_json(comparison *c) {
  hp_json *json = &c->json;
  hp_json_open(json, '{');
  hp_json_key(json, "machine");
  hp_machine_json(json);
  hp_json_break(json);
  hp_json_key(json, "version");
  hp_json_text(json, hpar_version());
  hp_json_break(json);
  hp_json_key(json, "options");
  hp_json_open(json, '{');
  number_member(json, "threads", c->options.threads);
  number_member(json, "chunk_size", c->options.parallel.chunk_size);
  number_member(json, "chunks", c->options.parallel.chunks);
  hp_json_key(json, "executor");
  hp_json_text(json, c->options.parallel.executor == HPAR_EXECUTOR_INLINE ? "inline" : "threads");
  hp_json_key(json, "strategy");
  hp_json_text(json, c->options.experiment.strategy ? c->options.experiment.strategy : hpar_strategy_name(0));
  hp_json_key(json, "predictor");
  hp_json_text(json, c->options.experiment.predictor);
  hp_json_key(json, "mode_predictor");
  hp_json_text(json, c->options.experiment.mode_predictor);
  hp_json_key(json, "cut");
  hp_json_text(json, c->options.experiment.cut_policy);
  hp_json_key(json, "pool");
  hp_json_text(json, c->options.parallel.wait == HPAR_WAIT_SPIN    ? "spin"
                     : c->options.parallel.wait == HPAR_WAIT_SLEEP ? "sleep"
                                                                   : "adaptive");
  hp_json_key(json, "merge");
  hp_json_text(json, c->options.parallel.merge == HPAR_MERGE_TREE ? "tree" : "chain");
  if (c->other == HPAR_MODE_PIPELINED) {
    number_member(json, "buffer_tokens", c->options.pipeline.buffer_tokens);
    number_member(json, "batch", c->options.pipeline.batch_tokens);
    hp_json_key(json, "pipeline_predictor");
    hp_json_text(json, c->options.pipeline.predictor);
  }
  hp_json_key(json, "scripting");
  hp_json_bool(json, c->options.scripting);
  hp_json_key(json, "encoding");
  hp_json_text(json, c->options.encoding);
  hp_json_key(json, "bind");
  hp_json_text(json, c->options.parallel.affinity == HPAR_AFFINITY_CORES ? "cores" : "none");
  hp_json_key(json, "allocator");
  hp_json_text(json, hpar_allocator_name(c->options.allocator));
  number_member(json, "repeat", c->repeat);
  hp_json_close(json, '}');
  hp_json_break(json);
  hp_json_key(json, "pages");
  hp_json_open(json, '[');
}

static void page_json(comparison *c, const page *page) {
  hp_json *json = &c->json;
  hp_json_break(json);
  hp_json_open(json, '{');
  hp_json_key(json, "file");
  hp_json_text(json, page->path);
  number_member(json, "bytes", page->bytes);
  hp_json_key(json, "equal");
  hp_json_bool(json, page->equal);
  number_member(json, "runs", page->repeats);
  hp_json_key(json, "modes");
  hp_json_open(json, '{');
  for (size_t i = 0; i < c->mode_count; i++) {
    const mode *mode = &c->modes[i];
    hp_json_key(json, mode->name);
    hp_json_open(json, '{');
    number_member(json, "ns_min", fastest(mode));
    number_member(json, "ns_median", median(mode, page->repeats));
    hp_json_key(json, "ns_runs");
    hp_json_open(json, '[');
    for (size_t run = 0; run < page->repeats; run++) hp_json_number(json, mode->times[run]);
    hp_json_close(json, ']');
    real_member(json, "speedup_min", speedup_min(c, i));
    real_member(json, "speedup_median", speedup_median(c, i, page));
    if (mode->copies) number_member(json, "copies", mode->copies);
    hp_json_key(json, "stats");
    if (mode->copies)
      hp_report_many_json(json, &mode->many);
    else
      hp_report_stats_json(json, &mode->stats);
    hp_json_close(json, '}');
  }
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

static void close_json(comparison *c) {
  hp_json *json = &c->json;
  const totals *totals = &c->totals;
  hp_json_break(json);
  hp_json_close(json, ']');
  hp_json_break(json);
  hp_json_key(json, "summary");
  hp_json_open(json, '{');
  number_member(json, "pages", totals->pages);
  number_member(json, "equal", totals->equal);
  number_member(json, "not_parsed", totals->not_parsed);
  if (c->mode_count > PARALLEL && totals->pages) {
    real_member(json, "speedup_min", hp_mean_of(&totals->speedup_min));
    real_member(json, "speedup_median", hp_mean_of(&totals->speedup_median));
    if (c->mode_count > SIDE_BY_SIDE) real_member(json, "side_by_side", hp_mean_of(&totals->side_by_side));
    number_member(json, "chunks", totals->chunks);
    number_member(json, "chunks_clean", totals->clean);
  }
  hp_json_close(json, '}');
  hp_json_close(json, '}');
  fputc('\n', json->file);
}

static void compare_page(comparison *c, const char *path) {
  page page = {.path = path, .equal = true};
  char *bytes = hp_load(path, 0, &page.bytes);
  if (!bytes) {
    c->totals.not_parsed++;
    c->code = HP_EXIT_FAILED;
    return;
  }
  hpar_status status = measure(c, &page, bytes);
  hp_clear_progress();
  if (status) {
    int code = hp_complain_status(path, status);
    c->totals.not_parsed++;
    if (code > c->code) c->code = code;
  } else {
    add_to_totals(c, &page);
    if (c->as_json)
      page_json(c, &page);
    else
      print_row(c, &page);
  }
  free(bytes);
}

/* A document for each, so that nothing is shared but the page. */
static hpar_status open_copies(comparison *c) {
  mode *mode = &c->modes[SIDE_BY_SIDE];
  unsigned copies = c->options.threads;
  if (!copies) copies = hp_default_threads();
  mode->inputs = calloc(copies, sizeof *mode->inputs);
  if (!mode->inputs) return HPAR_ERROR_MEMORY;
  mode->copies = copies;
  mode->inputs[0].document = mode->document;
  hpar_status status = HPAR_OK;
  for (unsigned i = 1; i < copies && !status; i++) status = hpar_document_create(&mode->inputs[i].document);
  return status;
}

static hpar_status open_modes(comparison *c) {
  c->modes[SEQUENTIAL] = (mode){.name = "sequential", .mode = HPAR_MODE_SEQUENTIAL};
  const char *name = c->other == HPAR_MODE_PIPELINED ? "pipelined" : "parallel";
  c->modes[PARALLEL] = (mode){.name = name, .mode = c->other};
  c->modes[SIDE_BY_SIDE] = (mode){.name = "side-by-side", .mode = HPAR_MODE_SEQUENTIAL};
  unsigned threads = c->options.threads ? c->options.threads : 1;
  c->apart = c->options.parallel.wait == HPAR_WAIT_SPIN && hpar_predictor_name(0) && threads > hp_machine_cores();
  c->mode_count = !hpar_predictor_name(0) ? PARALLEL : c->many ? MODES : SIDE_BY_SIDE;
  hpar_status status = HPAR_OK;
  for (size_t i = 0; i < c->mode_count && !status; i++) {
    mode *mode = &c->modes[i];
    mode->times = malloc((c->repeat ? c->repeat : MAX_REPEATS) * sizeof *mode->times);
    if (!mode->times) return HPAR_ERROR_MEMORY;
    if (i == SIDE_BY_SIDE)
      mode->parser = c->modes[PARALLEL].parser; /* a second one's threads would wait where these work */
    else
      status = hpar_parser_create(&mode->parser);
    if (!status) status = hpar_document_create(&mode->document);
  }
  if (!status && c->mode_count > SIDE_BY_SIDE) status = open_copies(c);
  return status;
}

static void close_modes(comparison *c) {
  for (size_t i = 0; i < c->mode_count; i++) {
    free(c->modes[i].times);
    for (unsigned copy = 1; copy < c->modes[i].copies; copy++) hpar_document_destroy(c->modes[i].inputs[copy].document);
    free(c->modes[i].inputs);
    hpar_document_destroy(c->modes[i].document);
    if (i != SIDE_BY_SIDE) hpar_parser_destroy(c->modes[i].parser);
  }
}

static void compare_all(comparison *c) {
  c->name_width = 4;
  for (size_t i = 0; i < c->pages.count; i++) {
    size_t length = strlen(hp_shown_name(c->pages.paths[i]));
    if (length > (size_t)c->name_width) c->name_width = length > WIDEST_NAME ? WIDEST_NAME : (int)length;
  }
  c->json.file = stdout;
  if (c->as_json)
    open_json(c);
  else
    print_heading(c);
  for (size_t i = 0; i < c->pages.count && !ferror(stdout); i++) {
    hp_show_progress("%zu of %zu: %.60s", i + 1, c->pages.count, c->pages.paths[i]);
    compare_page(c, c->pages.paths[i]);
  }
  hp_clear_progress();
  if (c->as_json)
    close_json(c);
  else
    print_summary(c);
}

/* An exit code, or -1 to go on. */
static int take(const hp_arguments *arguments, int id, comparison *c) {
  static const char *const modes[] = {"parallel", "pipelined", NULL};
  uint64_t number = 0;
  size_t index = 0;
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      return hp_pages_add(&c->pages, arguments->value) ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
    case REPEAT:
      if (!hp_value_number(arguments, 1, MAX_ASKED, &number)) return HP_EXIT_USAGE;
      c->repeat = number;
      return -1;
    case JSON: c->as_json = true; return -1;
    case MANY: c->many = true; return -1;
    case MODE:
      if (!hp_value_word(arguments, modes, &index)) return HP_EXIT_USAGE;
      c->other = index ? HPAR_MODE_PIPELINED : HPAR_MODE_PARALLEL;
      return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default: return hp_take_common(arguments, id, &c->options);
  }
}

int hp_run_compare(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  comparison c = {.options = {HPAR_OPTIONS_INIT}, .other = HPAR_MODE_PARALLEL};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, &c);
  if (code < 0 && !c.pages.count && !c.pages.failures) code = hp_bad_usage(&command, "name a FILE or a folder");
  if (code < 0) {
    if (c.pages.failures) c.code = HP_EXIT_FAILED;
    c.totals.not_parsed = c.pages.failures;
    hpar_status status = open_modes(&c);
    if (status)
      c.code = hp_complain_status(NULL, status);
    else
      compare_all(&c);
    close_modes(&c);
    code = hp_finish_output(c.code);
  }
  hp_pages_free(&c.pages);
  return code;
}
