/* hpar project: the projected time of a parse on more cores than the machine has. The command
 * parses the chunks of a parse with P threads one by one on one thread, where nothing disturbs
 * them. Then it puts the measured tasks on P virtual cores (study/schedule.h). The library cuts
 * the chunks in advance, large ones first, as threads that share them
 * (drivers/parallel/work_range.c) join them. All cores share decoding and validation in slices. */

#include "programs/hpar/json.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/mean.h"
#include "programs/hpar/options.h"
#include "programs/hpar/pages.h"
#include "study/schedule.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CORES = 1, REPEAT, WAKE, BANDWIDTH, JSON };
enum { MAX_CORES = 16, REPEATS = 15, MAX_REPEATS = 10000, USUAL_WAKE = 1000, WIDEST_NAME = 32 };

static const hp_option options[] = {
    {CORES, "cores", "N,N,...", "virtual cores, at most 16 counts (1,2,4,8,16,32,64)"},
    {REPEAT, "repeat", "N", "runs, of which the fastest counts for each task (15)"},
    {WAKE, "wake", "NS", "nanoseconds until a spinning worker starts (1000)"},
    {BANDWIDTH, "bandwidth", "MB/S",
     "memory bandwidth of all cores together: input and tree pass through\nit once (default: unlimited)"},
    {JSON, "json", NULL, "print one JSON object instead of the tables"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "project", "FILE...",
    "Measures the tasks of a parallel parse of each FILE, and of each page in each folder, one by\n"
    "one, and schedules them on virtual cores. Prints the projected time, the speed-up over the\n"
    "sequential parser, the critical path, and the bound: work, merge, chunk (one that cannot be\n"
    "cut), memory or imbalance. For the cores of this machine it also prints the measured time.",
    options};

typedef struct projection {
  unsigned cores;
  uint64_t time, critical, measured; /* measured: 0 where it was not */
  const char *bound;
} projection;

typedef struct study {
  unsigned cores[MAX_CORES];
  size_t core_count, repeat;
  uint64_t wake, bandwidth;
  bool as_json;
  hp_pages pages;
  hp_json json;
  hpar_parser *parser;
  hpar_document *document;
  hp_mean projected[MAX_CORES], measured[MAX_CORES], ratio[MAX_CORES];
  int code;
  /* of the current page */
  const char *path, *bytes;
  size_t length;
  uint64_t sequential, decode, prelude; /* prelude: the share of a core in decoding, and cutting */
  hp_scheduled_task *tasks;
  size_t task_count, task_capacity;
} study;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

/*** measuring ***/

static hpar_status parse(study *s, const hpar_options *o, uint64_t *best, hpar_study_stats *stats) {
  uint64_t begin = now();
  hpar_status status = hpar_study_parse(s->parser, o, s->bytes, s->length, s->document, stats);
  *best = lesser(*best, now() - begin);
  return status;
}

static bool keep_tasks(study *s, bool first) {
  size_t count = hpar_chunk_count(s->parser);
  if (first && count > s->task_capacity) {
    hp_scheduled_task *grown = realloc(s->tasks, count * sizeof *grown);
    if (!grown) return false;
    s->tasks = grown;
    s->task_capacity = count;
  }
  if (first) s->task_count = count;
  for (size_t i = 0; i < s->task_count && i < count; i++) {
    const hpar_chunk *c = hpar_chunk_at(s->parser, i);
    hp_scheduled_task *t = &s->tasks[i];
    if (first) *t = (hp_scheduled_task){UINT64_MAX, UINT64_MAX, UINT64_MAX, c->text_begin, 0};
    if (c->outcome == HPAR_CHUNK_EXACT) {
      t->exact = lesser(t->exact, c->ns.merge_end - c->ns.merge_begin);
      t->parse = t->merge = 0;
    } else {
      t->parse = lesser(t->parse, c->ns.parse_end - c->ns.parse_begin);
      t->merge = lesser(t->merge, c->ns.merge_end - c->ns.merge_begin);
    }
  }
  return true;
}

/* The tasks of a parse with so many threads. What the merger would need for a chunk by itself is
 * the worker's time less what speculation adds, which the sequential time tells. */
static hpar_status measure_tasks(study *s, unsigned cores) {
  const hpar_study inspected = {HPAR_STUDY_INIT, .inspect = true};
  hpar_options o = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .parallel.executor = HPAR_EXECUTOR_INLINE,
                    .threads = cores, .study = &inspected};
  uint64_t cut = UINT64_MAX;
  s->decode = UINT64_MAX;
  for (size_t run = 0; run < s->repeat; run++) {
    uint64_t ignored = UINT64_MAX;
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    hpar_status status = parse(s, &o, &ignored, &stats);
    if (status) return status;
    if (!keep_tasks(s, run == 0)) return HPAR_ERROR_MEMORY;
    s->decode = lesser(s->decode, stats.ns.decode);
    cut = lesser(cut, stats.ns.cut);
  }
  s->prelude = cut + s->decode / cores;
  uint64_t by_workers = 0, by_merger = s->decode + cut;
  for (size_t i = 0; i < s->task_count; i++) {
    by_workers += s->tasks[i].parse;
    if (s->tasks[i].exact != UINT64_MAX) by_merger += s->tasks[i].exact;
  }
  double less = 1;
  if (by_workers && s->sequential > by_merger) less = (double)(s->sequential - by_merger) / (double)by_workers;
  if (less > 1) less = 1;
  for (size_t i = 0; i < s->task_count; i++)
    if (s->tasks[i].exact == UINT64_MAX) s->tasks[i].exact = (uint64_t)((double)s->tasks[i].parse * less);
  return HPAR_OK;
}

static hpar_status measure_sequential(study *s) {
  hpar_options o = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  s->sequential = UINT64_MAX;
  for (size_t run = 0; run <= s->repeat; run++) {
    hpar_status status = parse(s, &o, &s->sequential, NULL);
    if (status) return status;
  }
  return HPAR_OK;
}

/* On the threads that there are. */
static hpar_status measure_parallel(study *s, unsigned cores, uint64_t *time) {
  hpar_options o = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = cores};
  *time = UINT64_MAX;
  for (size_t run = 0; run <= s->repeat; run++) {
    hpar_status status = parse(s, &o, time, NULL);
    if (status) return status;
  }
  return HPAR_OK;
}

/*** projecting ***/

static projection project(study *s, unsigned cores, uint64_t *workers) {
  projection p = {.cores = cores};
  hp_schedule_input input = {.tasks = s->tasks,
                             .count = s->task_count,
                             .length = s->length,
                             .cores = cores,
                             .prelude = s->prelude,
                             .wake = s->wake};
  uint64_t time = hp_schedule(&input, workers);
  uint64_t work = 0, merges = s->task_count ? s->tasks[0].exact : 0, chunk = 0;
  for (size_t i = 0; i < s->task_count; i++) {
    const hp_scheduled_task *t = &s->tasks[i];
    work += i ? t->parse + t->merge : t->exact;
    if (i) merges += t->merge;
    if (i) chunk = greater(chunk, t->parse);
  }
  uint64_t memory = 0;
  if (s->bandwidth) memory = (s->length + hpar_document_memory(s->document)) * 1000 / s->bandwidth;
  p.critical = greater(s->prelude + merges, s->prelude + chunk);
  p.time = greater(time, memory);
  uint64_t least = s->prelude + work / cores;
  if (memory >= time && memory)
    p.bound = "memory";
  else if (least >= p.critical)
    p.bound = p.time > least + least / 10 ? "imbalance" : "work";
  else
    p.bound = merges >= chunk ? "merge" : "chunk";
  return p;
}

/*** reporting ***/

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void print_row(const study *s, const projection *p) {
  printf("%6u %12.3f %9.2f %12.3f  %-9s", p->cores, (double)p->time / 1e6, ratio(s->sequential, p->time),
         (double)p->critical / 1e6, p->bound);
  if (p->measured)
    printf(" %12.3f %9.2f %9.3f", (double)p->measured / 1e6, ratio(s->sequential, p->measured),
           ratio(p->time, p->measured));
  putchar('\n');
}

static void print_heading(const study *s) {
  printf("\n%s: %.1f KB, sequential %.3f ms (measured)\n", hp_shown_name(s->path), (double)s->length / 1e3,
         (double)s->sequential / 1e6);
  printf("%6s %12s %9s %12s  %-9s %12s %9s %9s\n", "cores", "projected ms", "speed-up", "critical ms", "bound",
         "measured ms", "speed-up", "proj/meas");
}

static void real_member(hp_json *json, const char *key, double value) {
  hp_json_key(json, key);
  hp_json_real(json, value);
}

static void row_json(study *s, const projection *p) {
  hp_json *json = &s->json;
  hp_json_open(json, '{');
  hp_json_number_member(json, "cores", p->cores);
  hp_json_number_member(json, "ns_projected", p->time);
  real_member(json, "speedup_projected", ratio(s->sequential, p->time));
  hp_json_number_member(json, "ns_critical", p->critical);
  hp_json_key(json, "bound");
  hp_json_text(json, p->bound);
  if (p->measured) {
    hp_json_number_member(json, "ns_measured", p->measured);
    real_member(json, "speedup_measured", ratio(s->sequential, p->measured));
  }
  hp_json_close(json, '}');
}

static hpar_status study_page(study *s, uint64_t *workers) {
  hpar_status status = measure_sequential(s);
  if (status) return status;
  if (s->as_json) {
    hp_json_break(&s->json);
    hp_json_open(&s->json, '{');
    hp_json_key(&s->json, "file");
    hp_json_text(&s->json, s->path);
    hp_json_number_member(&s->json, "bytes", s->length);
    hp_json_number_member(&s->json, "ns_sequential", s->sequential);
    hp_json_key(&s->json, "cores");
    hp_json_open(&s->json, '[');
  } else {
    print_heading(s);
  }
  for (size_t i = 0; i < s->core_count && !status; i++) {
    unsigned cores = s->cores[i];
    status = measure_tasks(s, cores);
    if (status) break;
    projection p = project(s, cores, workers);
    if (cores <= hp_machine_cores()) status = measure_parallel(s, cores, &p.measured);
    if (status) break;
    hp_mean_add(&s->projected[i], ratio(s->sequential, p.time));
    if (p.measured) {
      hp_mean_add(&s->measured[i], ratio(s->sequential, p.measured));
      hp_mean_add(&s->ratio[i], ratio(p.time, p.measured));
    }
    if (s->as_json)
      row_json(s, &p);
    else
      print_row(s, &p);
  }
  if (s->as_json) {
    hp_json_close(&s->json, ']');
    hp_json_close(&s->json, '}');
  }
  return status;
}

static void print_summary(const study *s) {
  printf("\ngeometric means over %zu pages\n%6s %18s %18s %9s\n", s->projected[0].count, "cores", "speed-up projected",
         "speed-up measured", "proj/meas");
  for (size_t i = 0; i < s->core_count; i++) {
    printf("%6u %18.3f", s->cores[i], hp_mean_of(&s->projected[i]));
    if (s->measured[i].count) printf(" %18.3f %9.3f", hp_mean_of(&s->measured[i]), hp_mean_of(&s->ratio[i]));
    putchar('\n');
  }
}

static void summary_json(study *s) {
  hp_json *json = &s->json;
  hp_json_break(json);
  hp_json_close(json, ']');
  hp_json_break(json);
  hp_json_key(json, "summary");
  hp_json_open(json, '[');
  for (size_t i = 0; i < s->core_count; i++) {
    hp_json_open(json, '{');
    hp_json_number_member(json, "cores", s->cores[i]);
    hp_json_number_member(json, "pages", s->projected[i].count);
    real_member(json, "speedup_projected", hp_mean_of(&s->projected[i]));
    if (s->measured[i].count) {
      real_member(json, "speedup_measured", hp_mean_of(&s->measured[i]));
      real_member(json, "projected_over_measured", hp_mean_of(&s->ratio[i]));
    }
    hp_json_close(json, '}');
  }
  hp_json_close(json, ']');
  hp_json_close(json, '}');
  fputc('\n', json->file);
}

static void study_all(study *s) {
  uint64_t workers[HPAR_MAX_THREADS];
  s->json.file = stdout;
  if (s->as_json) {
    hp_json_open(&s->json, '{');
    hp_json_key(&s->json, "machine");
    hp_machine_json(&s->json);
    hp_json_key(&s->json, "version");
    hp_json_text(&s->json, hpar_version());
    hp_json_number_member(&s->json, "wake_ns", s->wake);
    hp_json_number_member(&s->json, "bandwidth_mb_s", s->bandwidth);
    hp_json_number_member(&s->json, "repeat", s->repeat);
    hp_json_break(&s->json);
    hp_json_key(&s->json, "pages");
    hp_json_open(&s->json, '[');
  } else {
    hp_machine_line(stdout);
  }
  for (size_t i = 0; i < s->pages.count && !ferror(stdout); i++) {
    s->path = s->pages.paths[i];
    char *bytes = hp_load(s->path, 0, &s->length);
    if (!bytes) {
      s->code = HP_EXIT_FAILED;
      continue;
    }
    s->bytes = bytes;
    hpar_status status = study_page(s, workers);
    if (status) s->code = hp_complain_call(s->path, s->parser, status);
    hpar_document_clear(s->document);
    free(bytes);
  }
  if (s->as_json)
    summary_json(s);
  else
    print_summary(s);
}

/*** the command ***/

static bool take_cores(const hp_arguments *arguments, study *s) {
  const char *at = arguments->value;
  s->core_count = 0;
  for (;;) {
    char *end;
    unsigned long cores = strtoul(at, &end, 10);
    if (end == at || *at < '0' || *at > '9' || cores < 1 || cores > HPAR_MAX_THREADS || s->core_count == MAX_CORES)
      break;
    s->cores[s->core_count++] = (unsigned)cores;
    if (!*end) return true;
    if (*end != ',') break;
    at = end + 1;
  }
  hp_bad_usage(&command, "--cores: '%s' is not a list of at most %d numbers from 1 to %d", arguments->value, MAX_CORES,
               HPAR_MAX_THREADS);
  return false;
}

/* An exit code, or -1 to go on. */
static int take(const hp_arguments *arguments, int id, study *s) {
  uint64_t number = 0;
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      return hp_pages_add(&s->pages, arguments->value) ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    case CORES: return take_cores(arguments, s) ? -1 : HP_EXIT_USAGE;
    case REPEAT:
      if (!hp_value_number(arguments, 1, MAX_REPEATS, &number)) return HP_EXIT_USAGE;
      s->repeat = number;
      return -1;
    case WAKE:
      if (!hp_value_number(arguments, 0, 1000000000, &s->wake)) return HP_EXIT_USAGE;
      return -1;
    case BANDWIDTH:
      if (!hp_value_number(arguments, 1, 10000000, &s->bandwidth)) return HP_EXIT_USAGE;
      return -1;
    default: s->as_json = true; return -1;
  }
}

int hp_run_project(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  study s = {.cores = {1, 2, 4, 8, 16, 32, 64}, .core_count = 7, .repeat = REPEATS, .wake = USUAL_WAKE};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, &s);
  if (code < 0 && !s.pages.count && !s.pages.failures) code = hp_bad_usage(&command, "name a FILE or a folder");
  if (code < 0 && !hpar_predictor_name(0)) {
    hp_complain("this build has no parallel parser");
    code = HP_EXIT_FAILED;
  }
  if (code < 0) {
    if (s.pages.failures) s.code = HP_EXIT_FAILED;
    hpar_status status = hpar_parser_create(&s.parser);
    if (!status) status = hpar_document_create(&s.document);
    if (status)
      s.code = hp_complain_status(NULL, status);
    else
      study_all(&s);
    code = hp_finish_output(s.code);
  }
  hpar_document_destroy(s.document);
  hpar_parser_destroy(s.parser);
  free(s.tasks);
  hp_pages_free(&s.pages);
  return code;
}
