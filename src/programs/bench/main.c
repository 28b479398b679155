/* hpar-bench: measures, and prints a table. `hpar bench` runs it and stores the measurements. */

#include "bench/commit.h"
#include "programs/bench/suite.h"
#include "text/scan/scan.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER = 1, MIN_TIME, REPETITIONS, QUICK, JSON, RAW, LIST, HELP, VERSION };

static const struct option options[] = {
    {"filter", required_argument, NULL, FILTER},
    {"min-time", required_argument, NULL, MIN_TIME},
    {"repetitions", required_argument, NULL, REPETITIONS},
    {"quick", no_argument, NULL, QUICK},
    {"json", required_argument, NULL, JSON},
    {"raw", required_argument, NULL, RAW},
    {"list", no_argument, NULL, LIST},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static void print_help(void) {
  puts("usage: hpar-bench [options]\n\n"
       "Measures the modules of HPar, each alone, on generated pages and on pages below $HPAR_SHARED or\n"
       "../shared, where they are.\n\noptions:\n"
       "  --filter REGEX     only benchmarks whose name the expression matches in some part\n"
       "  --min-time SECONDS for each repetition (0.1)\n"
       "  --repetitions N    of each benchmark (5)\n"
       "  --quick            one repetition of 5 ms: to see that all runs, not to measure\n"
       "  --json FILE        write the report of Google Benchmark\n"
       "  --raw FILE         write each repetition, one a line, fields separated by tabs\n"
       "  --list             print the names and exit\n"
       "  --version          print version and commit and exit\n"
       "  --help             show this and exit\n\n"
       "Exit status: 0 fine, 1 a benchmark failed or a file cannot be written, 2 wrong usage.");
}

static bool number(const char *text, double least, double most, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end && *value >= least && *value <= most;
}

/* Reads one option. Returns an exit code, or -1 to continue. */
static int take(int option, hp_bench_plan *plan) {
  double value = 0;
  switch (option) {
    case FILTER: plan->filter = optarg; return -1;
    case JSON: plan->json = optarg; return -1;
    case RAW: plan->raw = optarg; return -1;
    case LIST: plan->list = true; return -1;
    case QUICK:
      plan->min_time = 0.005;
      plan->repetitions = 1;
      return -1;
    case MIN_TIME:
      if (number(optarg, 0.0001, 3600, &plan->min_time)) return -1;
      fprintf(stderr, "hpar-bench: --min-time: '%s' is not a number of seconds\n", optarg);
      return 2;
    case REPETITIONS:
      if (!number(optarg, 1, 10000, &value) || value != (unsigned)value) {
        fprintf(stderr, "hpar-bench: --repetitions: '%s' is not a whole number from 1 to 10000\n", optarg);
        return 2;
      }
      plan->repetitions = (unsigned)value;
      return -1;
    case HELP: print_help(); return 0;
    case VERSION:
      printf("hpar-bench %s, commit %s, Google Benchmark %s, compiler %s\n", hpar_version(), HP_COMMIT,
             HP_GOOGLE_BENCHMARK, __VERSION__);
      return 0;
    default: fputs("see 'hpar-bench --help'\n", stderr); return 2;
  }
}

int main(int count, char **arguments) {
  hp_bench_plan plan = {.min_time = 0.1, .repetitions = 5, .commit = HP_COMMIT, .simd = hp_scan()->name};
  for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
    int code = take(option, &plan);
    if (code >= 0) return code;
  }
  if (optind < count) {
    fprintf(stderr, "hpar-bench: unexpected argument '%s'\nsee 'hpar-bench --help'\n", arguments[optind]);
    return 2;
  }
  hp_subjects_open();
  hp_bench_add_scan();
  hp_bench_add_input();
  hp_bench_add_tokenize();
  hp_bench_add_serialize();
  hp_bench_add_select();
  hp_bench_add_document();
  hp_bench_add_parse();
#if HPAR_PARALLEL
  hp_bench_add_pool();
  hp_bench_add_parallel();
  hp_bench_add_pipeline();
#endif
  int code = hp_bench_run_all(arguments[0], &plan);
  hp_subjects_close();
  return code;
}
