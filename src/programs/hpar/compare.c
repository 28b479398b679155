/* hpar compare: parses each page in each mode, compares the trees and times the modes. Parsers
 * and documents are warm. The modes take turns inside each repetition, in alternating order, so
 * that other load of the machine disturbs all modes alike. Only where threads spin on all cores
 * do the sequential runs come first, while the threads sleep. */

#include "programs/hpar/compare.h"
#include "programs/hpar/equal.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/options.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { REPEAT = 1, JSON, MODE, MANY };
enum { MIN_REPEATS = 5, MAX_REPEATS = 50, MAX_ASKED = 100000, PAGE_NS = 200000000, WIDEST_NAME = 44 };

static const hp_option options[] = {
    {MODE, "mode", "NAME",
     "what to compare with the sequential parser: parallel (the default)\nor a driver; \"help\" lists the drivers"},
    HP_COMMON_OPTIONS,
    {REPEAT, "repeat", "N",
     "timed runs of each mode (default: as many as fit into 0.2 s for\neach page, at least 5, at most 50)"},
    {MANY, "many", NULL,
     "also parse a copy of FILE on each thread side by side, sequentially:\nthe most that splitting FILE can reach"},
    {JSON, "json", NULL, "print one JSON object instead of the table"},
    HP_SCRIPT_OPTIONS,
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "compare", "FILE...",
    "Parses each FILE, and each *.html and *.htm in each folder, sequentially and in parallel:\n"
    "equal trees, times, speed-up, accuracy. Times are milliseconds. MB/s is 10^6 bytes in a\n"
    "second, by the median. The first chunk is not counted. clean: no wrong assumption.",
    options};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static hpar_status run_side_by_side(const hp_comparison *c, hp_compared_mode *mode, const char *bytes, size_t length,
                                    uint64_t *ns) {
  for (unsigned i = 0; i < mode->copies; i++) {
    mode->inputs[i].size = sizeof mode->inputs[i];
    mode->inputs[i].bytes = bytes;
    mode->inputs[i].length = length;
  }
  mode->many = (hpar_many_stats){HPAR_MANY_STATS_INIT};
  uint64_t start = now();
  hpar_status status = hpar_parse_many(mode->parser, &c->options, mode->inputs, mode->copies, &mode->many, NULL, NULL);
  *ns = (now() - start) / mode->copies;
  for (unsigned i = 0; i < mode->copies && !status; i++) status = mode->inputs[i].status;
  return status;
}

/* Parses the page with a new script engine, so that each parse runs the same scripts. */
static hpar_status run_once(const hp_comparison *c, hp_compared_mode *mode, hp_compared_page *page, const char *bytes,
                            uint64_t *ns, hpar_study_stats *stats) {
  if (mode->copies) return run_side_by_side(c, mode, bytes, page->bytes, ns);
  hpar_options options = c->options;
  hpar_study study = c->study;
  if (!mode->by_driver) study.driver = NULL;
  if (!mode->by_driver) study.custom_driver = NULL;
  options.mode = mode->mode;
  options.study = &study;
  if (c->scripts.run) {
    hpar_status status = hp_script_run_open(&page->scripts, &c->scripts, &options);
    if (status) return status;
    options.source_offsets = !page->scripts.quiet; /* for the lines of errors */
  }
  uint64_t start = now();
  hpar_status status = hpar_study_parse(mode->parser, &options, bytes, page->bytes, mode->document, stats);
  *ns = now() - start - stats->ns.oracle;
  hp_script_run_close(&page->scripts);
  page->scripts.quiet = true; /* later parses have the same errors */
  return status;
}

/* Reports the first difference, once a page. */
static void check_equal(hp_comparison *c, hp_compared_page *page) {
  for (size_t i = 1; i < c->mode_count && page->equal; i++) {
    hp_difference difference;
    if (hp_trees_equal(c->modes[HP_COMPARE_SEQUENTIAL].document, c->modes[i].document, &difference)) continue;
    page->equal = false;
    c->code = HP_EXIT_FAILED;
    hp_complain("%s: the trees differ at node %llu: %s has %s, %s has %s", hp_shown_name(page->path),
                (unsigned long long)difference.node, c->modes[HP_COMPARE_SEQUENTIAL].name, difference.first,
                c->modes[i].name, difference.second);
  }
}

static size_t repeats_for(const hp_comparison *c, uint64_t ns) {
  if (c->repeat) return c->repeat;
  uint64_t fit = PAGE_NS / (ns + 1);
  return fit < MIN_REPEATS ? MIN_REPEATS : fit > MAX_REPEATS ? MAX_REPEATS : fit;
}

/* Times the modes from `first` to `end`, exclusive. They take turns, in alternating order. */
static hpar_status time_modes(hp_comparison *c, hp_compared_page *page, const char *bytes, size_t first, size_t end) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  for (size_t run = 0; run < page->repeats; run++) {
    for (size_t turn = first; turn < end; turn++) {
      hp_compared_mode *mode = &c->modes[run & 1 ? end - 1 - (turn - first) : turn];
      hpar_status status = run_once(c, mode, page, bytes, &mode->times[run], &stats);
      if (status) return status;
      if (!mode->copies && (!run || stats.ns.total < mode->stats.ns.total)) mode->stats = stats;
    }
  }
  return HPAR_OK;
}

/* Sends the threads of the parallel parser to sleep: a parse with that policy ends their
 * spinning. */
static hpar_status stop_spinning(const hp_comparison *c) {
  static const char bytes[] = "<p>a<p>b<p>c<p>d";
  static const uint64_t cuts[] = {4, 8, 12};
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = sizeof cuts / sizeof *cuts};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = c->options.threads,
                          .parallel.wait = HPAR_WAIT_SLEEP, .study = &study};
  hpar_document *document = NULL;
  hpar_status status = hpar_document_create(&document);
  if (!status)
    status = hpar_parse(c->modes[HP_COMPARE_PARALLEL].parser, &options, bytes, sizeof bytes - 1, document, NULL);
  hpar_document_destroy(document);
  return status;
}

/* Follows the start hypotheses of the page's chunks. */
static hpar_status follow_hypotheses(hp_comparison *c, hp_compared_page *page, const char *bytes) {
  uint64_t ns;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  c->study.converge = true;
  hpar_status status = run_once(c, &c->modes[HP_COMPARE_PARALLEL], page, bytes, &ns, &stats);
  c->study.converge = false;
  page->convergence = stats.convergence;
  return status;
}

static hpar_status measure(hp_comparison *c, hp_compared_page *page, const char *bytes) {
  uint64_t ns = 0, sum = 0;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  for (size_t i = 0; i < c->mode_count; i++) {
    hpar_status status = run_once(c, &c->modes[i], page, bytes, &ns, &stats);
    if (status) return status;
    sum += ns;
  }
  check_equal(c, page);
  page->repeats = repeats_for(c, sum);
  if (c->apart) {
    hpar_status status = stop_spinning(c);
    if (!status) status = time_modes(c, page, bytes, 0, 1);
    /* wakes the threads */
    if (!status) status = run_once(c, &c->modes[HP_COMPARE_PARALLEL], page, bytes, &ns, &stats);
    if (status) return status;
  }
  hpar_status status = time_modes(c, page, bytes, c->apart ? 1 : 0, c->mode_count);
  if (status) return status;
  check_equal(c, page);
  if (c->converges) status = follow_hypotheses(c, page, bytes);
  if (status) return status;
  for (size_t i = 0; i < c->mode_count; i++) qsort(c->modes[i].times, page->repeats, sizeof(uint64_t), by_number);
  return HPAR_OK;
}

/* Ends the use of the page by all documents. */
static void clear_documents(hp_comparison *c) {
  for (size_t i = 0; i < c->mode_count; i++) hpar_document_clear(c->modes[i].document);
}

static void compare_page(hp_comparison *c, const char *path) {
  hp_compared_page page = {.path = path, .equal = true, .scripts.path = path};
  char *bytes = hp_load(path, 0, &page.bytes);
  page.scripts.bytes = bytes;
  page.scripts.length = page.bytes;
  if (!bytes) {
    c->totals.not_parsed++;
    c->code = HP_EXIT_FAILED;
    return;
  }
  hpar_status status = measure(c, &page, bytes);
  hp_clear_progress();
  if (status) {
    int code = hp_complain_call(path, c->mode_count > HP_COMPARE_PARALLEL ? c->modes[HP_COMPARE_PARALLEL].parser : NULL,
                                status);
    c->totals.not_parsed++;
    if (code > c->code) c->code = code;
  } else {
    hp_comparison_add(c, &page);
    hp_comparison_page(c, &page);
  }
  clear_documents(c);
  free(bytes);
}

/* A document for each, so that nothing is shared but the page. */
static hpar_status open_copies(hp_comparison *c) {
  hp_compared_mode *mode = &c->modes[HP_COMPARE_SIDE_BY_SIDE];
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

static void choose_modes(hp_comparison *c) {
  c->modes[HP_COMPARE_SEQUENTIAL] = (hp_compared_mode){.name = "sequential", .mode = HPAR_MODE_SEQUENTIAL};
  const char *driver = hp_chosen_driver(&c->study);
  c->modes[HP_COMPARE_PARALLEL] =
      (hp_compared_mode){.name = driver ? driver : "parallel", .mode = HPAR_MODE_PARALLEL, .by_driver = driver};
  c->modes[HP_COMPARE_SIDE_BY_SIDE] = (hp_compared_mode){.name = "side-by-side", .mode = HPAR_MODE_SEQUENTIAL};
  unsigned threads = c->options.threads ? c->options.threads : 1;
  c->apart = c->options.parallel.wait == HPAR_WAIT_SPIN && hpar_predictor_name(0) && threads > hp_machine_cores();
  c->converges = hp_follows_all_starts(&c->study);
  c->mode_count = !hpar_predictor_name(0) ? HP_COMPARE_PARALLEL : c->many ? HP_COMPARE_MODES : HP_COMPARE_SIDE_BY_SIDE;
}

/* Creates the parsers and documents. */
static hpar_status open_modes(hp_comparison *c) {
  hpar_status status = HPAR_OK;
  for (size_t i = 0; i < c->mode_count && !status; i++) {
    hp_compared_mode *mode = &c->modes[i];
    mode->times = malloc((c->repeat ? c->repeat : MAX_REPEATS) * sizeof *mode->times);
    if (!mode->times) return HPAR_ERROR_MEMORY;
    /* the threads of another parser would spin beside the threads of this one */
    if (i == HP_COMPARE_SIDE_BY_SIDE)
      mode->parser = c->modes[HP_COMPARE_PARALLEL].parser;
    else
      status = hpar_parser_create(&mode->parser);
    if (!status) status = hpar_document_create(&mode->document);
  }
  if (!status && c->mode_count > HP_COMPARE_SIDE_BY_SIDE) status = open_copies(c);
  return status;
}

static void close_modes(hp_comparison *c) {
  for (size_t i = 0; i < c->mode_count; i++) {
    free(c->modes[i].times);
    for (unsigned copy = 1; copy < c->modes[i].copies; copy++) hpar_document_destroy(c->modes[i].inputs[copy].document);
    free(c->modes[i].inputs);
    hpar_document_destroy(c->modes[i].document);
    if (i != HP_COMPARE_SIDE_BY_SIDE) hpar_parser_destroy(c->modes[i].parser);
  }
}

/* The results that a child process hands to its parent. */
typedef struct child_results {
  hp_compare_totals totals;
  hp_json json;
  int code;
  bool done;
} child_results;

typedef struct child_task {
  hp_comparison *c;
  const char *path;
  child_results *results;
} child_task;

static int compare_in_child(void *argument) {
  child_task *task = argument;
  hp_comparison *c = task->c;
  hpar_status status = open_modes(c);
  if (status)
    c->code = hp_complain_status(task->path, status);
  else
    compare_page(c, task->path);
  *task->results = (child_results){c->totals, c->json, c->code, status == HPAR_OK};
  return HP_EXIT_FINE;
}

/* Compares a page whose scripts run, in a child process. */
static void compare_limited(hp_comparison *c, const char *path) {
  child_results *results = mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  child_task task = {c, path, results};
  bool ran = results != MAP_FAILED && hp_run_in_child(path, &c->scripts, compare_in_child, &task) == HP_EXIT_FINE;
  if (results == MAP_FAILED) hp_complain_status(path, HPAR_ERROR_MEMORY);
  if (ran && results->done) {
    c->totals = results->totals;
    c->json = results->json;
    c->code = results->code;
  } else {
    c->totals.not_parsed++;
    c->code = HP_EXIT_FAILED;
  }
  if (results != MAP_FAILED) munmap(results, sizeof *results);
}

static void compare_all(hp_comparison *c) {
  c->name_width = 4;
  for (size_t i = 0; i < c->pages.count; i++) {
    size_t length = strlen(hp_shown_name(c->pages.paths[i]));
    if (length > (size_t)c->name_width) c->name_width = length > WIDEST_NAME ? WIDEST_NAME : (int)length;
  }
  hp_comparison_begin(c);
  for (size_t i = 0; i < c->pages.count && !ferror(stdout); i++) {
    hp_show_progress("%zu of %zu: %.60s", i + 1, c->pages.count, c->pages.paths[i]);
    if (c->scripts.run)
      compare_limited(c, c->pages.paths[i]);
    else
      compare_page(c, c->pages.paths[i]);
  }
  hp_clear_progress();
  hp_comparison_end(c);
}

/* An exit code, or -1 to go on. */
static int take(const hp_arguments *arguments, int id, hp_comparison *c) {
  static const char *const modes[] = {"parallel", NULL};
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
    case MODE: return hp_take_mode(arguments, modes, &index, &c->study);
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default:
      return id >= HP_OPTION_SCRIPTS ? hp_take_scripts(arguments, id, &c->scripts)
                                     : hp_take_common(arguments, id, &c->options, &c->study);
  }
}

int hp_run_compare(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  hp_comparison c = {.options = {HPAR_OPTIONS_INIT}, .study = {HPAR_STUDY_INIT}, .scripts = {HP_SCRIPT_SETTINGS_INIT}};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, &c);
  if (code < 0 && !c.pages.count && !c.pages.failures) code = hp_bad_usage(&command, "name a FILE or a folder");
  if (code < 0) code = hp_check_driver(&command, &c.options, &c.study);
  if (code < 0 && c.scripts.run && c.many) code = hp_bad_usage(&command, "--many excludes --scripts run");
  if (code < 0 && c.scripts.run) code = hp_enter_script_program(command.name, count, items);
  if (code < 0) {
    if (c.pages.failures) c.code = HP_EXIT_FAILED;
    c.totals.not_parsed = c.pages.failures;
    /* a child process has a parser of its own, because threads do not survive a fork */
    choose_modes(&c);
    hpar_status status = c.scripts.run ? HPAR_OK : open_modes(&c);
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
