/* hpar bench: runs hpar-bench and stores its measurements. hpar-bench is a separate program,
 * so that hpar needs neither C++ nor Google Benchmark. hpar-peers, another program, measures
 * other parsers. */

#include "programs/hpar/options.h"
#include "programs/hpar/process.h"
#include "programs/hpar/results.h"

#include <stdlib.h>
#include <string.h>

enum { FILTER = 1, MIN_TIME, REPETITIONS, QUICK, PEERS, OUT };
enum { MAX_WORDS = 64, MAX_REPETITIONS = 10000 };

static const hp_option options[] = {
    {FILTER, "filter", "REGEX", "run only benchmarks whose name contains a match"},
    {MIN_TIME, "min-time", "SECONDS", "the least time of each repetition of a benchmark (0.1)"},
    {REPETITIONS, "repetitions", "N", "repetitions of each benchmark (5)"},
    {QUICK, "quick", NULL, "one repetition of 5 ms: checks that everything runs"},
    {PEERS, "peers", NULL,
     "measure the sequential parser beside other parsers instead, on each\nFILE (default: the shared corpus)"},
    {OUT, "out", "DIR", "the folder of the results\n(default: results/<host>/<date>-<commit>/bench, or .../peers)"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "bench", "[FILE...]",
    "Measures the modules of HPar, each alone, with the program hpar-bench, beside this one or in\n"
    "PATH, on generated pages and on the pages below $HPAR_SHARED or ../shared. Prints a table and\n"
    "stores bench.json, every repetition (repetitions.tsv), the machine, the command and the\n"
    "versions (machine.json), and the topology if lstopo is installed. With --peers it runs\n"
    "hpar-peers, which prints how to install missing parsers and stores peers.json and every time\n"
    "(rounds.tsv).",
    options};

/* The command line of hpar-bench, and where its results go. */
typedef struct request {
  char *words[MAX_WORDS];
  int count;
  const char *out;
} request;

static void add(request *request, const char *name, const char *value) {
  request->words[request->count++] = (char *)name;
  if (value) request->words[request->count++] = (char *)value;
}

static bool is_time(const hp_arguments *arguments) {
  char *end;
  double seconds = strtod(arguments->value, &end);
  if (end != arguments->value && !*end && seconds >= 0.0001 && seconds <= 3600) return true;
  hp_bad_usage(&command, "--min-time: '%s' is not a number of seconds from 0.0001 to 3600", arguments->value);
  return false;
}

/* Applies an option; the last of several equal ones counts. Returns an exit code, or -1 to
 * continue. */
static int take(const hp_arguments *arguments, int id, const char **values, request *files) {
  uint64_t number;
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      if (files->count == MAX_WORDS / 2) return hp_bad_usage(&command, "too many files: name a folder");
      add(files, arguments->value, NULL);
      return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    case MIN_TIME:
      if (!is_time(arguments)) return HP_EXIT_USAGE;
      break;
    case REPETITIONS:
      if (!hp_value_number(arguments, 1, MAX_REPETITIONS, &number)) return HP_EXIT_USAGE;
      break;
    default: break;
  }
  values[id] = id == QUICK || id == PEERS ? "" : arguments->value;
  return -1;
}

static int no_suite(void) {
  hp_complain("hpar-bench, the benchmark suite, is neither beside hpar nor in PATH: it is built with -DHPAR_BENCH=ON,"
              " and needs Google Benchmark and a C++ compiler (Debian: libbenchmark-dev, g++)");
  return HP_EXIT_FAILED;
}

static int no_peers(void) {
  hp_complain(
      "hpar-peers, which measures other parsers, is neither beside hpar nor in PATH. It is in the build folder and"
      " in experiments/peers, and needs Python 3 (Debian: python3)");
  return HP_EXIT_FAILED;
}

/* Finds the commit in "hpar-bench 1.2.3, commit abc, ...". */
static void find_commit(const char *versions, char *commit, size_t size) {
  static const char before[] = ", commit ";
  const char *at = strstr(versions, before);
  at = at ? at + strlen(before) : "unknown";
  snprintf(commit, size, "%.*s", (int)strcspn(at, ", \n"), at);
}

/* Opens the folder of results. `whole`, of MAX_WORDS, must live as long as the results. */
static bool open_results(hp_results *results, char **whole, const char *commit, const char *versions, const char *out,
                         const char *name, int count, char **items) {
  whole[0] = "bench";
  for (int i = 0; i < count && i < MAX_WORDS - 1; i++) whole[i + 1] = items[i];
  *results = (hp_results){
      .commit = commit, .suite = versions, .count = count < MAX_WORDS - 1 ? count + 1 : MAX_WORDS, .arguments = whole};
  return hp_results_open(results, out, name);
}

static int run_and_close(request *request, hp_results *results) {
  request->words[request->count] = NULL;
  int status = hp_run_program(request->words, NULL, 0);
  if (status) hp_complain("%s: ended with status %d", request->words[0], status);
  if (!hp_results_close(results, status < 0 ? HP_EXIT_FAILED : status)) status = HP_EXIT_FAILED;
  printf("results: %s\n", results->path);
  return status ? HP_EXIT_FAILED : HP_EXIT_FINE;
}

static int measure(const char *program, const char **values, int count, char **items) {
  char versions[512], names[64], commit[64], json[4096], raw[4096];
  char *const ask[] = {(char *)program, "--version", NULL};
  request request = {0};
  add(&request, program, NULL);
  if (values[QUICK]) add(&request, "--quick", NULL);
  if (values[FILTER]) add(&request, "--filter", values[FILTER]);
  if (values[MIN_TIME]) add(&request, "--min-time", values[MIN_TIME]);
  if (values[REPETITIONS]) add(&request, "--repetitions", values[REPETITIONS]);
  if (hp_run_program(ask, versions, sizeof versions)) {
    hp_complain("%s: does not run", program);
    return HP_EXIT_FAILED;
  }
  versions[strcspn(versions, "\n")] = 0;
  find_commit(versions, commit, sizeof commit);
  request.words[request.count] = "--list";
  int status = hp_run_program(request.words, names, sizeof names);
  if (status == 2) return hp_bad_usage(&command, "--filter: no benchmark matches '%s'", values[FILTER]);

  hp_results results;
  char *whole[MAX_WORDS];
  if (!open_results(&results, whole, commit, versions, values[OUT], "bench", count, items)) return HP_EXIT_FAILED;
  add(&request, "--json", hp_results_file(&results, "bench.json", json, sizeof json));
  add(&request, "--raw", hp_results_file(&results, "repetitions.tsv", raw, sizeof raw));
  return run_and_close(&request, &results);
}

/* Measures other parsers beside the libhpar in the folder of hpar-peers. */
static int measure_peers(const char *program, const char **values, const request *files, int count, char **items) {
  char folder[4096], *whole[MAX_WORDS];
  hp_results results;
  request request = {0};
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(program, '/') - program), program);
  add(&request, program, "--build");
  add(&request, folder, NULL);
  if (values[QUICK]) {
    add(&request, "--rounds", "1");
    add(&request, "--warm", "0");
  }
  if (values[REPETITIONS]) add(&request, "--rounds", values[REPETITIONS]);
  char suite[4096], versions[512] = "", commit[64];
  if (hp_find_program("hpar-bench", suite, sizeof suite)) {
    char *const ask[] = {suite, "--version", NULL};
    if (hp_run_program(ask, versions, sizeof versions)) *versions = 0;
  }
  versions[strcspn(versions, "\n")] = 0;
  find_commit(versions, commit, sizeof commit);
  if (!open_results(&results, whole, commit, *versions ? versions : NULL, values[OUT], "peers", count, items))
    return HP_EXIT_FAILED;
  add(&request, "--out", results.path);
  add(&request, "--", NULL);
  for (int i = 0; i < files->count; i++) add(&request, files->words[i], NULL);
  return run_and_close(&request, &results);
}

int hp_run_bench(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  const char *values[OUT + 1] = {0};
  request files = {0};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;)
    code = take(&arguments, id, values, &files);
  if (code < 0 && files.count && !values[PEERS]) code = hp_bad_usage(&command, "'%s' needs --peers", files.words[0]);
  if (code < 0 && values[PEERS] && (values[FILTER] || values[MIN_TIME]))
    code = hp_bad_usage(&command, "--filter and --min-time are not for --peers");
  if (code >= 0) return code;
  char program[4096];
  if (values[PEERS]) {
    if (!hp_find_program("hpar-peers", program, sizeof program)) return no_peers();
    return hp_finish_output(measure_peers(program, values, &files, count, items));
  }
  if (!hp_find_program("hpar-bench", program, sizeof program)) return no_suite();
  return hp_finish_output(measure(program, values, count, items));
}
