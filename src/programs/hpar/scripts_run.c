/* The program hpar-scripts: hpar with a script engine. */

#include "programs/hpar/scripts.h"
#include "programs/javascript/javascript.h"
#include "text/position.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

int hp_enter_script_program(const char *command, int count, char **items) {
  (void)command, (void)count, (void)items;
  return -1;
}

/* Ends the process with SIGXCPU after this processor time from now on. */
static void limit_time(uint64_t seconds) {
  struct rusage used;
  struct rlimit limit;
  if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit)) return;
  rlim_t end = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + (rlim_t)seconds;
  if (end < limit.rlim_max) limit.rlim_cur = end;
  setrlimit(RLIMIT_CPU, &limit);
}

static bool is_utf16(const hp_script_run *run) {
  const unsigned char *at = (const unsigned char *)run->bytes;
  return run->length >= 2 && ((at[0] == 0xFE && at[1] == 0xFF) || (at[0] == 0xFF && at[1] == 0xFE));
}

/* Prints "FILE:LINE: script N: TEXT". Without a position in the file it prints the line of the
 * script's own text. */
static void print_error(void *context, const hpar_document *document, const hp_javascript_error *error) {
  const hp_script_run *run = context;
  const char *name = hp_shown_name(run->path);
  uint64_t start, end;
  if (run->quiet) return;
  hp_clear_progress();
  bool placed = document && error->node && hpar_node_start_tag_range(document, error->node, &start, &end) &&
                start < end && end <= run->length && !is_utf16(run);
  if (placed) {
    hp_line_finder finder;
    hp_line_open(&finder, run->bytes, run->length);
    uint64_t line = hp_line_at(&finder, end).line + (error->line ? error->line - 1 : 0);
    fprintf(stderr, "%s:%llu: script %zu: %s\n", name, (unsigned long long)line, error->script, error->text);
  } else {
    fprintf(stderr, "%s: script %zu, line %u of its text: %s\n", name, error->script, error->line, error->text);
  }
  fflush(stderr);
}

/* Returns true if another thread may compile the scripts: the user allows threads, there is a
 * processor for it, and the memory suffices for its stack and its heap. */
static bool may_compile_ahead(const hp_script_settings *settings, const hpar_options *options) {
  enum { MIN_MEGABYTES = 256 };
  cpu_set_t usable;
  return options->mode != HPAR_MODE_SEQUENTIAL && options->threads != 1 && settings->megabytes >= MIN_MEGABYTES &&
         !sched_getaffinity(0, sizeof usable, &usable) && CPU_COUNT(&usable) > 1;
}

hpar_status hp_script_run_open(hp_script_run *run, const hp_script_settings *settings, hpar_options *options) {
  hp_javascript_options engine = {.memory = (size_t)settings->megabytes << 19, .report = print_error, .context = run};
  run->engine = hp_javascript_create(&engine);
  if (!run->engine) return HPAR_ERROR_MEMORY;
  options->script.callback = hp_javascript_run;
  options->script.context = run->engine;
  options->script.max_written = settings->megabytes << 20;
  limit_time(settings->seconds);
  if (may_compile_ahead(settings, options) && run->length)
    hp_javascript_compile_ahead(run->engine, run->bytes, run->length);
  return HPAR_OK;
}

void hp_script_run_close(hp_script_run *run) {
  if (!run->engine) return;
  hp_javascript_counters counters = hp_javascript_count(run->engine);
  run->scripts = counters.run;
  run->failed = counters.failed;
  hp_javascript_destroy(run->engine);
  run->engine = NULL;
  if (run->failed && !run->quiet)
    hp_complain("%s: %zu of %zu scripts ended with an uncaught error", hp_shown_name(run->path), run->failed,
                run->scripts);
}
