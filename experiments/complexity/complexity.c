/* hpar-complexity MODE WHAT SIZE [COUNT [SEED]]: searches for documents whose parse time grows
 * faster than the input and the tree. Each document is A x N, B x N, C x N, with fragments A, B and
 * C of a fixed set.
 *
 *   MODE    sequential or parallel (on the calling thread)
 *   WHAT    pairs, triples or quadruples
 *   SIZE    N of the small documents; the large ones have 4 N
 *   COUNT   a random sample of so many documents; 0: all
 *
 * The program writes JSON. `growth` is the CPU time of the large document over that of the small
 * one, divided by the same ratio of input bytes and nodes: 1 is linear, 4 is quadratic. Each group
 * of documents has its own process, so that the search survives a parse that does not end. */

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* # is the number of the repetition. */
static const char *const fragments[] = {
    "",           "<b>",         "</b>",        "<i k=#>",     "<b j=1 k=#>",   "<a>",
    "</a>",       "<nobr>",      "</nobr>",     "<font k=#>",  "</font>",       "<div>",
    "</div>",     "<p>",         "</p>",        "<x>",         "</x>",          "<x#>",
    "</x#>",      "<span>",      "</span>",     "<ul>",        "<li>",          "</li>",
    "<dl>",       "<dd>",        "</dd>",       "<table>",     "</table>",      "<tr>",
    "</tr>",      "<td>",        "</td>",       "<caption>",   "<tbody>",       "<colgroup>",
    "<col>",      "<template>",  "</template>", "<applet>",    "</applet>",     "<button>",
    "</button>",  "<form>",      "</form>",     "<select>",    "</select>",     "<option>",
    "<optgroup>", "<input>",     "<h1>",        "</h2>",       "<svg>",         "</svg>",
    "<g>",        "</g>",        "<desc>",      "<math>",      "<mi>",          "</mi>",
    "<ruby>",     "<rt>",        "<pre>\n",     "<textarea>",  "</textarea>",   "<script>",
    "</script>",  "<style>",     "<title>",     "<!--x-->",    "<!--",          "-->",
    "x",          " ",           "&amp;",       "&notit;",     "<br>",          "<img a=b>",
    "<hr>",       "<body k#=1>", "<html k#=1>", "<head>",      "<frameset>",    "<frame>",
    "</body>",    "</html>",     "<section>",   "</section>",  "<div><x>",      "<x><div>",
    "<p><b>",     "</b><div>",   "<a><div>",    "<plaintext>", "<![CDATA[x]]>",
};
enum { FRAGMENTS = sizeof fragments / sizeof *fragments, MOST_PARTS = 4, FACTOR = 4, SIZES = 2, GROUP_SECONDS = 600 };

static const double suspicious = 1.75;
static const double shortest = 2e-4; /* seconds: a large document that takes less is ignored */

typedef struct measured {
  double seconds[SIZES];
  uint64_t bytes[SIZES], nodes[SIZES];
  bool limited; /* the time limit ended a parse */
} measured;

static hpar_parser *parser;
static hpar_document *document;
static hpar_options options = {HPAR_OPTIONS_INIT};

static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t write_document(char *to, const unsigned *parts, unsigned count, unsigned repeat) {
  char *at = to;
  for (unsigned part = 0; part < count; part++)
    for (unsigned i = 0; i < repeat; i++)
      for (const char *from = fragments[parts[part]]; *from; from++)
        if (*from == '#')
          at += sprintf(at, "%u", i);
        else
          *at++ = *from;
  return (size_t)(at - to);
}

static bool parse(const char *text, size_t length, hpar_study_stats *stats, measured *result, unsigned at) {
  double start = thread_seconds();
  hpar_status status = hpar_study_parse(parser, &options, text, length, document, stats);
  double seconds = thread_seconds() - start;
  if (seconds < result->seconds[at]) result->seconds[at] = seconds;
  if (status == HPAR_LIMIT_TIME) result->limited = true;
  return status == HPAR_OK || status == HPAR_LIMIT_TIME;
}

static bool measure(const unsigned *parts, unsigned count, unsigned size, unsigned rounds, measured *result) {
  enum { MOST_BYTES = 32 };
  char *text = malloc((size_t)size * FACTOR * count * MOST_BYTES + 1);
  if (!text) return false;
  bool done = true;
  result->limited = false;
  for (unsigned i = 0; i < SIZES && done; i++) {
    size_t length = write_document(text, parts, count, i ? size * FACTOR : size);
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    result->seconds[i] = 1e9;
    for (unsigned round = 0; round < rounds && done && !result->limited; round++)
      done = parse(text, length, &stats, result, i);
    result->bytes[i] = length;
    result->nodes[i] = stats.nodes;
  }
  free(text);
  return done;
}

/* A node costs as much as about 16 bytes of text. */
static double work(const measured *m, unsigned size) {
  enum { BYTES_A_NODE = 16 };
  return (double)(m->bytes[size] + BYTES_A_NODE * m->nodes[size] + 1);
}

static double growth(const measured *m) {
  if (m->seconds[1] < shortest) return 1;
  if (m->limited) return FACTOR;
  return m->seconds[1] / m->seconds[0] / (work(m, 1) / work(m, 0));
}

static void print_case(const unsigned *parts, unsigned count, const measured *m) {
  printf("{\"fragments\": [");
  for (unsigned i = 0; i < count; i++) {
    printf("%s\"", i ? ", " : "");
    for (const char *at = fragments[parts[i]]; *at; at++) *at == '\n' ? printf("\\n") : printf("%c", *at);
    printf("\"");
  }
  printf("], \"seconds\": [%.6f, %.6f], \"bytes\": [%llu, %llu], \"nodes\": [%llu, %llu], \"growth\": %.2f}",
         m->seconds[0], m->seconds[1], (unsigned long long)m->bytes[0], (unsigned long long)m->bytes[1],
         (unsigned long long)m->nodes[0], (unsigned long long)m->nodes[1], growth(m));
}

/* Measures a document. It is printed only if it grows too fast in all measurements. The last one
 * has larger documents: at 64 KB, parallel parsers change how they predict, and take longer. */
static bool search(const unsigned *parts, unsigned count, unsigned size, bool *first) {
  static const struct { unsigned times, rounds; } measurements[] = {{1, 2}, {1, 6}, {2, 2}, {8, 2}};
  measured m;
  for (unsigned i = 0; i < sizeof measurements / sizeof *measurements; i++) {
    if (!measure(parts, count, size * measurements[i].times, measurements[i].rounds, &m)) return false;
    if (growth(&m) < suspicious) return true;
  }
  printf("%s\n", *first ? "" : ",");
  print_case(parts, count, &m);
  *first = false;
  return true;
}

static uint64_t next_random(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t mixed = (*state ^ *state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  return mixed ^ mixed >> 31;
}

/* Document `index` of all documents of `count` fragments, or of a sample. */
static void choose(uint64_t index, bool sample, uint64_t seed, unsigned count, unsigned *parts) {
  uint64_t state = seed + index * MOST_PARTS;
  for (unsigned i = 0; i < count; i++) {
    parts[i] = (unsigned)((sample ? next_random(&state) >> 8 : index) % FRAGMENTS);
    index /= FRAGMENTS;
  }
}

static int search_group(uint64_t from, uint64_t to, bool sample, uint64_t seed, unsigned count, unsigned size,
                        bool first) {
  alarm(GROUP_SECONDS);
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 2;
  for (uint64_t i = from; i < to; i++) {
    unsigned parts[MOST_PARTS];
    choose(i, sample, seed, count, parts);
    if (!search(parts, count, size, &first)) return 2;
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return fflush(stdout) ? 2 : !first;
}

int main(int count, char **arguments) {
  static const char *const names[] = {"", "", "pairs", "triples", "quadruples"};
  enum { GROUP = 64, MOST_SECONDS = 5, CHUNK_BYTES = 4096 };
  unsigned parts = 2;
  while (count > 3 && parts <= MOST_PARTS && strcmp(arguments[2], names[parts]) != 0) parts++;
  bool parallel = count > 1 && !strcmp(arguments[1], "parallel");
  if (count < 4 || parts > MOST_PARTS || (!parallel && strcmp(arguments[1], "sequential") != 0)) {
    fputs("usage: hpar-complexity sequential|parallel pairs|triples|quadruples SIZE [COUNT [SEED]]\n", stderr);
    return 2;
  }
  unsigned size = (unsigned)strtoul(arguments[3], NULL, 10);
  uint64_t all = 1, seed = count > 5 ? strtoull(arguments[5], NULL, 10) : 1;
  for (unsigned i = 0; i < parts; i++) all *= FRAGMENTS;
  uint64_t chosen = count > 4 ? strtoull(arguments[4], NULL, 10) : 0;
  bool sample = chosen != 0;
  if (sample) all = chosen;
  options.encoding = "utf-8";
  options.mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  /* Otherwise, small documents have fewer chunks. */
  if (parallel) options.parallel.chunk_size = CHUNK_BYTES;
  options.limits.time_ns = UINT64_C(1000000000) * MOST_SECONDS;
  printf("{\"mode\": \"%s\", \"documents\": %llu, \"size\": %u, \"fragments\": %u, \"faster\": [", arguments[1],
         (unsigned long long)all, size, (unsigned)FRAGMENTS);
  uint64_t stopped = 0;
  bool first = true;
  for (uint64_t from = 0; from < all; from += GROUP) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) _exit(search_group(from, from + GROUP < all ? from + GROUP : all, sample, seed, parts, size, first));
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
      stopped++;
    else if (WEXITSTATUS(status))
      first = false;
  }
  printf("\n], \"stopped\": %llu}\n", (unsigned long long)stopped);
  return 0;
}
