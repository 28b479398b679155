/* hpar-script-speedup FILE THREADS COST WRITES REPEATS: times parses of a page with and without
 * scripts, on one thread and on THREADS. The script engine runs nothing: each inline script burns
 * processor time. All of them together burn COST times the time of the sequential parse. WRITES is
 * "none", "balanced" or "open": each script writes nothing, "<b>x</b>" or "<div>".
 *
 * It also computes a bound of the time with scripts on THREADS, from the time at which a sequential
 * parse reaches each script. A script starts after the script before it, and after all threads have
 * parsed the page up to it. The bound assumes threads that lose no time: the speculation costs
 * nothing, and the rest of the page can be divided at every byte.
 *
 * The modes take turns. Prints one JSON object. Exit status: 0 success, 1 failure, 2 wrong
 * usage. */

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODES = 4, MAX_REPEATS = 2000, MAX_SCRIPTS = 10000 };
enum { OFF_SEQUENTIAL, OFF_PARALLEL, RUN_SEQUENTIAL, RUN_PARALLEL };

typedef struct engine {
  uint64_t burn_ns; /* of each script */
  const char *writes;
  size_t scripts;
  uint64_t begin;                /* of the parse */
  bool notes_times;              /* ... instead of burning time */
  uint64_t reached[MAX_SCRIPTS]; /* the shortest time from the beginning to each script */
} engine;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static hpar_status burn(hpar_editor *editor, const hpar_script *script, void *context) {
  engine *e = context;
  uint64_t begin = now(), end = begin + e->burn_ns;
  (void)script;
  size_t index = e->scripts++;
  if (e->notes_times) {
    uint64_t reached = begin - e->begin, *shortest = &e->reached[index];
    if (index < MAX_SCRIPTS && (!*shortest || reached < *shortest)) *shortest = reached;
    return HPAR_OK;
  }
  hpar_status status = *e->writes ? hpar_script_write(editor, e->writes, strlen(e->writes)) : HPAR_OK;
  while (now() < end) continue;
  return status;
}

typedef struct bench {
  char *bytes;
  size_t length;
  unsigned threads;
  engine engine;
  hpar_parser *parsers[MODES];
  hpar_document *documents[MODES];
  uint64_t times[MODES][MAX_REPEATS];
  hpar_study_stats stats; /* of the fastest run of RUN_PARALLEL */
} bench;

static hpar_status parse(bench *b, unsigned mode, uint64_t *ns) {
  bool parallel = mode == OFF_PARALLEL || mode == RUN_PARALLEL;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  options.threads = parallel ? b->threads : 1;
  options.scripting = true;
  if (mode >= RUN_SEQUENTIAL) {
    options.script.callback = burn;
    options.script.context = &b->engine;
  }
  b->engine.scripts = 0;
  uint64_t begin = b->engine.begin = now();
  hpar_status status = hpar_study_parse(b->parsers[mode], &options, b->bytes, b->length, b->documents[mode], &stats);
  *ns = now() - begin;
  if (mode == RUN_PARALLEL && (!b->stats.ns.total || stats.ns.total < b->stats.ns.total)) b->stats = stats;
  return status;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static hpar_status measure(bench *b, unsigned first, unsigned end, size_t repeats) {
  hpar_status status = HPAR_OK;
  uint64_t ns;
  for (unsigned mode = first; mode < end && !status; mode++) status = parse(b, mode, &ns);
  for (size_t i = 0; i < repeats && !status; i++)
    for (unsigned mode = first; mode < end && !status; mode++) status = parse(b, mode, &b->times[mode][i]);
  for (unsigned mode = first; mode < end; mode++) qsort(b->times[mode], repeats, sizeof(uint64_t), by_number);
  return status;
}

/* Notes when a sequential parse reaches each script. */
static hpar_status note_scripts(bench *b, size_t repeats) {
  hpar_status status = HPAR_OK;
  uint64_t ns;
  b->engine.notes_times = true;
  for (size_t i = 0; i <= repeats && !status; i++) status = parse(b, RUN_SEQUENTIAL, &ns);
  b->engine.notes_times = false;
  return status;
}

/* Returns the shortest possible time of a parse with scripts on threads that parse `speed` times as
 * fast as a sequential parse, all together. */
static uint64_t bound(const bench *b, double speed) {
  const engine *e = &b->engine;
  size_t scripts = e->scripts < MAX_SCRIPTS ? e->scripts : MAX_SCRIPTS;
  double end = 0, threads = b->threads; /* end: of the last script */
  double burn = (double)(b->times[RUN_SEQUENTIAL][0] - b->times[OFF_SEQUENTIAL][0]) / (double)(scripts ? scripts : 1);
  for (size_t i = 0; i < scripts; i++) {
    double earliest = (double)e->reached[i] / speed + (double)i * burn / threads;
    end = (earliest > end ? earliest : end) + burn;
  }
  double work = (double)b->times[OFF_SEQUENTIAL][0] / speed + (double)scripts * burn / threads;
  return (uint64_t)(end > work ? end : work);
}

/* Returns true if both documents have the same nodes and data in the same order. */
static bool is_same(const hpar_document *a, const hpar_document *b) {
  hpar_node top[2] = {hpar_document_root(a), hpar_document_root(b)}, x = top[0], y = top[1];
  for (; x && y; x = hpar_node_walk(a, top[0], x), y = hpar_node_walk(b, top[1], y)) {
    hpar_string names[2] = {hpar_node_name(a, x), hpar_node_name(b, y)};
    hpar_string data[2] = {hpar_node_data(a, x), hpar_node_data(b, y)};
    if (hpar_node_kind(a, x) != hpar_node_kind(b, y) || names[0].length != names[1].length ||
        data[0].length != data[1].length)
      return false;
    if (names[0].length && memcmp(names[0].bytes, names[1].bytes, names[0].length) != 0) return false;
    if (data[0].length && memcmp(data[0].bytes, data[1].bytes, data[0].length) != 0) return false;
  }
  return !x && !y;
}

static bool load(bench *b, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return false;
  long length = ftell(file);
  rewind(file);
  b->bytes = malloc((size_t)length + 1);
  bool read = b->bytes && fread(b->bytes, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  b->length = (size_t)length;
  return read;
}

static void print(const bench *b, size_t repeats, bool equal) {
  static const char *const names[MODES] = {"off_sequential", "off_parallel", "run_sequential", "run_parallel"};
  printf("{\"bytes\":%zu,\"scripts\":%zu,\"equal\":%s,\"ns\":{", b->length, b->engine.scripts,
         equal ? "true" : "false");
  for (unsigned mode = 0; mode < MODES; mode++)
    printf("%s\"%s\":[%llu,%llu]", mode ? "," : "", names[mode], (unsigned long long)b->times[mode][0],
           (unsigned long long)b->times[mode][repeats / 2]);
  double speed = (double)b->times[OFF_SEQUENTIAL][0] / (double)b->times[OFF_PARALLEL][0];
  printf("},\"bound\":%llu,\"bound_of_threads\":%llu", (unsigned long long)bound(b, b->threads),
         (unsigned long long)bound(b, speed));
  printf(",\"state_changes\":%llu,\"segments_lost\":%llu,\"bytes_lost\":%llu,\"bytes_after_change\":%llu}\n",
         (unsigned long long)b->stats.script.state_changes, (unsigned long long)b->stats.script.segments_lost,
         (unsigned long long)b->stats.script.bytes_lost, (unsigned long long)b->stats.script.bytes_after_change);
}

int main(int count, char **arguments) {
  static bench b;
  static const char *const words[] = {"none", "balanced", "open"}, *const texts[] = {"", "<b>x</b>", "<div>"};
  for (size_t i = 0; i < 3 && count == 6; i++)
    if (!strcmp(arguments[4], words[i])) b.engine.writes = texts[i];
  size_t repeats = count == 6 ? strtoul(arguments[5], NULL, 10) : 0;
  if (!b.engine.writes || !repeats || repeats > MAX_REPEATS) {
    fputs("usage: hpar-script-speedup FILE THREADS COST none|balanced|open REPEATS\n", stderr);
    return 2;
  }
  b.threads = (unsigned)strtoul(arguments[2], NULL, 10);
  hpar_status status = load(&b, arguments[1]) ? HPAR_OK : HPAR_ERROR_IO;
  for (unsigned mode = 0; mode < MODES && !status; mode++) {
    status = hpar_parser_create(&b.parsers[mode]);
    if (!status) status = hpar_document_create(&b.documents[mode]);
  }
  if (!status) status = measure(&b, OFF_SEQUENTIAL, RUN_SEQUENTIAL, repeats);
  if (!status) status = note_scripts(&b, repeats);
  size_t scripts = b.engine.scripts ? b.engine.scripts : 1;
  b.engine.burn_ns = (uint64_t)(strtod(arguments[3], NULL) * (double)b.times[OFF_SEQUENTIAL][0] / (double)scripts);
  if (!status) status = measure(&b, RUN_SEQUENTIAL, MODES, repeats);
  if (status) {
    fprintf(stderr, "hpar-script-speedup: %s: %s\n", arguments[1], hpar_status_text(status));
    return 1;
  }
  print(&b, repeats, is_same(b.documents[RUN_SEQUENTIAL], b.documents[RUN_PARALLEL]));
  for (unsigned mode = 0; mode < MODES; mode++) {
    hpar_document_destroy(b.documents[mode]);
    hpar_parser_destroy(b.parsers[mode]);
  }
  free(b.bytes);
  return 0;
}
