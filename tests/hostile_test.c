/* Checks adversarial input: open elements that never close, one token, one tag or one attribute
 * of the whole input.
 *
 *   hostile_test                    the parallel tree is the sequential one; memory is
 *                                   proportional to the input
 *   hostile_test growth             CPU time is proportional to the input; two threads take at
 *                                   most 1.5x the CPU time of one on the calling thread
 *   hostile_test --json [--quick]   prints the times of each input for experiments/hostile */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/growth.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct shape {
  /* %u in the unit counts; \2 divides the unit in two: all first parts precede all second parts */
  const char *name, *before, *unit, *after;
  unsigned count;
} shape;

/* Longer than the distance in which a predictor searches backwards for the start of foreign
 * content. */
#define TEN(text) text text text text text text text text text text
#define BREAKS "<br><br><br><br><br><br><br><br><br><br><br><br>"
#define FAR TEN(TEN(TEN("y<br>")))

#define BUTTON "<select><button><selectedcontent></selectedcontent></button>"

/* More text than a worker searches for an open p. */
#define TEXT_64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define TEXT_512 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64
#define FAR_TEXT TEXT_512 TEXT_512 TEXT_512 TEXT_512 TEXT_512

static const shape shapes[] = {
    {"nested div", "", "<div>", "", 100000},
    {"nested b", "", "<b>", "", 60000},
    {"p and b", "", "<p><b>", "", 40000},
    {"nested ul", "", "<ul><li>", "", 60000},
    {"nested dl", "", "<dl><dd><div>", "", 40000},
    {"many dd", "<dl>", "<dd><span>", "", 60000},
    {"nested tables", "", "<table><tr><td>", "", 40000},
    {"tables in tables", "", "<table>", "", 60000},
    {"nested templates", "", "<template>", "", 60000},
    {"nested svg", "", "<svg>", "", 60000},
    {"nested buttons", "", "<button><p>", "", 40000},
    {"nested objects", "", "<object><b>", "", 40000},
    {"forms and tables", "", "<form><table>", "", 40000},
    {"a and div", "", "<a><div>", "", 20000},
    {"text in a table", "<table>", "x<tr>", "", 60000},
    {"end tags without start", "<div><p><span>", "</i></div2></table>", "", 40000},
    {"mis-nested pairs", "", "<b><i></b></i>", "", 20000},
    {"options", "<select>", "<option>x", "", 60000},
    {"options with a button", BUTTON, "<option>x", "", 20000},
    {"selected options with a button", BUTTON, "<option selected>x", "", 20000},
    {"disabled options with a button", BUTTON, "<option disabled>x\2<option>x", "", 15000},
    {"options deep in a select", BUTTON, "<div>\2<option>x", "", 20000},
    {"options within options", BUTTON, "<div><option>x", "", 20000},
    {"a button behind much else", "<select>", "<br>\2<selectedcontent></selectedcontent><option selected>x", "", 15000},
    {"selects in a select", BUTTON, "<object><select><option>x</select></object><option selected>y", "", 6000},
    {"buttons after options", "<select><option>x</option>", "<selectedcontent></selectedcontent>", "", 20000},
    {"selects deep in the tree", "", "<div>\2<select><selectedcontent></selectedcontent><option>x</select>", "", 10000},
    {"options with templates", BUTTON, "<option selected><template>x</template>", "", 10000},
    {"fostered options", BUTTON, "<option disabled>x\2<table><tr><td></td><option selected>y</table>", "", 10000},
    {"one comment", "<!--", "-x- <b>", "", 400000},
    {"one attribute", "<p a='", "x <b> ", "'>", 400000},
    {"one text", "", "x y\n", "", 600000},
    {"one script", "<script><!--", "<script></script", "", 100000},
    {"attributes", "<p ", "a%u=1 ", ">", 40000},
    {"one attribute, again and again", "<p ", "a=1 ", ">", 60000},
    {"attributes of body", "", "<body a%u=1>", "", 3000},
    {"attributes of html", "", "<html a%u=1>", "", 3000},
    {"names", "", "<x%u>", "", 40000},
    {"only <", "", "<", "", 1000000},
    {"only </", "", "</", "", 500000},
    {"only <!--", "", "<!--->", "", 200000},
    {"open instructions", "", "<?a b", "", 100000},
    {"open CDATA", "<svg>", "<![CDATA[", "", 100000},
    {"CDATA sections", "<svg>", "<![CDATA[x]]>", "", 60000},
    {"references", "", "&notit;&#;&#x80;&", "", 60000},
    {"long references", "", "&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegra", "", 20000},
    {"references in an attribute", "<p a='", "&notit;&amp=&#0;&lt", "'>", 60000},
    {"NUL", "", "\1", "", 600000}, /* \1 replaces NUL */
    {"CR LF", "", "\r\n\r", "", 300000},
    {"bytes that are no UTF-8", "", "\xFF\xC3(", "", 300000},
    /* Against the speculation: the assumptions of a chunk are wrong, or each entry of its log is a
     * check. */
    {"formatting that stays open", "<b><i><u>", "<p>x</p>", "", 100000},
    {"paragraphs far before", "", "<p>" FAR_TEXT "<b><p>y</b>", "", 400},
    {"blocks in formatting", "", "<p><b>x", "", 40000},
    {"text in rows", "<table>", "x<tr>y<td>z</td>", "", 40000},
    {"rows without a table", "<table><tr>", "<td>x</td></table><tr>", "", 40000},
    {"cells", "<table>", "<caption>x<tr><td>y</caption>", "", 30000},
    {"columns", "<table><colgroup>", "<col>x<tr>", "", 60000},
    {"fostered links", "<table>", "<a>x<tr></a>", "", 40000},
    {"links without end tags", "", "<div><a>x<!--</a>--></div>", "", 20000},
    {"foreign content", "<svg>", "<g>x</g><a></a><title>t</title>", "", 30000},
    {"breaking out", "", "<svg><g></p>x</g></svg>", "", 40000},
    {"integration points", "<math>", "<mi>x<div>y</mi></div><mo>", "", 40000},
    {"CDATA or not", "<svg><desc>", "<p><![CDATA[</desc>x<svg>]]></svg><desc>", "", 25000},
    {"tags in a comment", "<!--", "<p>x</p>", "-->", 100000},
    {"tags in a title", "<title>", "<p>x</p>", "</title>", 100000},
    {"tags in plain text", "<plaintext>", "<p>x</p>", "", 100000},
    {"tags in an attribute", "<p a='", "<p>x</p>", "'>", 100000},
    {"ends of escaped scripts", "<script><!--<script>", "<p>x</p></script>", "--></script>", 60000},
    {"quotes that turn", "", "<p a=\"<!-- '<script>\" b='<textarea>'>x", "", 12000},
    {"frames", "<frameset>", "<p>x</p><frame>", "", 60000},
    {"cells in a template", "<template><tr>", "<td>x<p>y</p>", "", 60000},
    {"end tags only", "", "</br></p>", "", 100000},
    {"templates deep down", "", "<div>\2<template></template>", "", 40000},
    {"tables deep down", "", "<div>\2<table></table>", "", 40000},
    {"a million </p>", "", "</p>", "", 1000000},
    {"attributes of html and body", "", "<html a=b><body c=d>x", "", 40000},
    {"ends and more", "", "</body></html>x<p>", "", 50000},
    {"line feeds that are eaten", "", "<pre>\n<b>x</pre>", "", 40000},
    {"ruby", "<ruby>", "<rb>x<rt>y<rtc>z", "", 50000},
    {"buttons", "<button>", "<button>x<p>", "", 60000},
    {"forms", "<form>", "<form>x</form><input>", "", 40000},
    {"nobr", "<nobr>", "<nobr>x<p>y", "", 40000},
    /* The merger needs less time for a token than the worker needs for its log entry. */
    {"ends of headings", "<p>x", "</h1>", "", 400000},
    {"cells without a table", "<p>x", "<td>x", "", 400000},
    {"cells without a table, ended", "<p>x", "<td>xy</td>", "", 180000},
    {"comments in a table", "<table>", "</p><!---->", "", 180000},
    {"ends of headings and breaks", "<p>x", "</h1></h1><br><br>", "", 90000},
    {"markers that remain", "",
     "<table><td><b><b><b>" BREAKS BREAKS "<b>x<table><object><table></table></table></table>", "", 3000},
    {"ends of headings and bold", "<p>x", "</h1><b></b>", "", 150000},
    {"rows and cells without content", "<table>", "<tr><td>", "", 100000},
    {"paragraphs in a frameset", "<frameset>", "<p>", "", 400000},
    {"ends in foreign content", "<svg>", "</g>", "", 400000},
    {"ends deep in foreign content", "", "<svg>\2</td>", "", 40000},
    {"ends of what stands below HTML", "<svg><g><desc><p>", "<math>\2</g>", "", 40000},
    {"ends within foreign content", "<svg>", "<g>\2<x></y></x></g></z>", "", 20000},
    {"forms in a form", "<form>", "<div><form>x</div>", "", 40000},
    {"forms in a template", "<template>", "<form>x<p></form>", "", 30000},
    {"headings in headings", "", "<h1>x<p>", "", 40000},
    {"li far behind svg", "", "<li><svg><desc>" FAR FAR "<li></li></svg>", "", 60},
    {"dd far behind svg", "", "<dd><svg><desc>" FAR FAR "<dd></dd></svg>", "", 60},
    {"tags that never end", "", "<p a='", "", 100000},
    {"openers in strings", "<script>", "{}()'<style>", "", 60000},
    {"comments in strings", "<script>", "{}()'<!--", "", 60000},
    {"comments that end far away", "<script>", "{}()<!--", "--></script>", 60000},
    {"styles that end in a string", "<script>", "{}()<style>", "'</style>'</script>", 60000},
    {"openers that do not end", "", "{}()<script ", "", 60000},
    {"foreign tags", "<svg ", "<svg <path ", "", 60000},
    {"quotes in a value", "<p a=\"", "{}&quot;<b>", "\">", 60000},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void write_units(const char *unit, int length, unsigned count, buffer *to) {
  const char *place = strstr(unit, "%u");
  if (place && place - unit >= length) place = NULL;
  for (unsigned i = 0; i < count; i++) {
    if (!place)
      buffer_add(to, unit, (size_t)length);
    else
      buffer_format(to, "%.*s%u%.*s", (int)(place - unit), unit, i, length - (int)(place - unit) - 2, place + 2);
  }
}

static void write_shape(const shape *of, unsigned count, buffer *to) {
  const char *divide = strchr(of->unit, 2);
  int length = divide ? (int)(divide - of->unit) : (int)strlen(of->unit);
  buffer_clear(to);
  buffer_text(to, of->before);
  write_units(of->unit, length, count, to);
  if (divide) write_units(divide + 1, (int)strlen(divide + 1), count, to);
  buffer_text(to, of->after);
  for (size_t i = 0; i < to->length; i++)
    if (to->bytes[i] == 1) to->bytes[i] = 0;
}

static double seconds_of(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static hpar_parser *parser;
static hpar_document *document;

/* The measurements of a shape at two sizes, the second four times the first, and with two threads
 * at the second size. */
typedef struct measured {
  size_t bytes[2], memory;
  double cpu[2]; /* CPU seconds of a sequential parse, the minimum of several runs */
  /* one thread, two threads: elapsed seconds of the parse; CPU seconds of the calling thread */
  double wall[2], own[2];
  hpar_study_stats sequential, parallel;
} measured;

static double best_time(const buffer *page, int times, hpar_study_stats *stats) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.encoding = "utf-8";
  double best = 1e9;
  for (int i = 0; i < times; i++) {
    double begin = growth_thread_seconds();
    hpar_status status = hpar_study_parse(parser, &options, page->bytes, page->length, document, stats);
    double took = growth_thread_seconds() - begin;
    CHECK_EQ(status, HPAR_OK);
    if (took < best) best = took;
  }
  return best;
}

static void measure(const shape *of, unsigned count, int times, measured *m) {
  static buffer page;
  for (unsigned i = 0; i < 2; i++) {
    write_shape(of, i ? count : count / 4, &page);
    m->bytes[i] = page.length;
    m->sequential = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
    m->cpu[i] = best_time(&page, times, &m->sequential);
  }
  m->memory = hpar_document_memory(document);
}

static void bounded_memory(const shape *of) {
  static buffer page;
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.encoding = "utf-8";
  write_shape(of, of->count, &page);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  size_t memory = hpar_document_memory(document);
  if (!CHECK(memory < 64 * page.length + (1 << 20)))
    printf("  %s: %zu bytes of input take %zu bytes of memory\n", of->name, page.length, memory);
}

/* A shape and its two inputs. */
typedef struct sized {
  buffer pages[2];
  hpar_options options;
} sized;

static double time_shape(void *context, int size) {
  const sized *of = context;
  double start = growth_thread_seconds();
  CHECK_EQ(hpar_parse(parser, &of->options, of->pages[size].bytes, of->pages[size].length, document, NULL), HPAR_OK);
  return growth_thread_seconds() - start;
}

/* Checks that four times the input takes about four times the CPU time, sequentially and in
 * parallel on the calling thread. */
static void linear(const shape *of, bool parallel) {
  static sized both;
  for (unsigned i = 0; i < 2; i++) write_shape(of, i ? of->count : of->count / GROWTH_FACTOR, &both.pages[i]);
  both.options = (hpar_options){HPAR_OPTIONS_INIT};
  both.options.encoding = "utf-8";
  both.options.mode = HPAR_MODE_SEQUENTIAL;
  CHECK(growth_is_below(GROWTH_BOUND, of->name, time_shape, &both));
  if (!parallel) return;
  both.options.mode = HPAR_MODE_PARALLEL;
  both.options.threads = 2;
  both.options.parallel.executor = HPAR_EXECUTOR_INLINE;
  CHECK(growth_is_below(GROWTH_BOUND, of->name, time_shape, &both));
}

static void the_same_in_parallel(const shape *of) {
  static buffer page;
  uint64_t cuts[7];
  comparer with;
  unsigned count = of->count / 16 + 2; /* the indentation of a dump is quadratic in the depth */
  if (count > 1500) count = 1500;
  write_shape(of, count, &page);
  if (!CHECK(compare_open(&with))) return;
  compare_case page_case = {page.bytes, page.length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &page_case, 0));
  for (size_t i = 0; i < 7; i++) cuts[i] = (i + 1) * page.length / 8;
  for (int executor = HPAR_EXECUTOR_THREADS; executor <= HPAR_EXECUTOR_INLINE; executor++) {
    compare_how how = {
        .cuts = cuts, .cut_count = 7, .threads = 3, .executor = (hpar_executor)executor, .checkpoint_bytes = 0};
    compare_result result = compare_parallel(&with, &how);
    if (!CHECK(result == COMPARE_SAME)) {
      printf("  %s: ", of->name);
      compare_print(&with, &how, result);
    }
  }
  compare_close(&with);
}

/* Counts the wrong assumptions of workers. At least one shape violates each assumption. */
static uint64_t denied[HPAR_ASSUMPTIONS];

/* Parses the whole input at once, if the build has a parallel parser. */
static void large_in_parallel(const shape *of) {
  static buffer page;
  write_shape(of, of->count, &page);
  hpar_options options = {HPAR_OPTIONS_INIT};
  hpar_study_stats sequential = {HPAR_STUDY_STATS_INIT}, parallel = {HPAR_STUDY_STATS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.encoding = "utf-8";
  CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &sequential), HPAR_OK);
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 2;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &parallel), HPAR_OK);
  if (!CHECK(parallel.nodes == sequential.nodes && parallel.tokens == sequential.tokens)) printf("  %s\n", of->name);
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (!CHECK(wrong == NULL)) printf("  %s: %s\n", of->name, wrong);
  for (int kind = 0; kind < HPAR_ASSUMPTIONS; kind++) denied[kind] += parallel.wrong_assumptions_by_kind[kind];
}

/* The CPU seconds on the calling thread that two threads may take beyond 1.5x of one thread. */
static const double slack = 0.0002;

static bool is_fast_enough(const measured *m) { return m->own[1] < 1.5 * m->own[0] + slack; }

/* Parses with one thread and with two alternately, at least `fewest` times. Repeats until two
 * threads are fast enough, at most for `seconds`. Pauses between the runs, so that other processes
 * may end. */
static void race(const shape *of, unsigned count, int fewest, double seconds, measured *m) {
  enum { BEFORE_A_PAUSE = 50 };
  static buffer page;
  write_shape(of, count, &page);
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.encoding = "utf-8";
  options.threads = 2;
  m->parallel = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
  m->own[0] = m->own[1] = m->wall[0] = m->wall[1] = 1e9;
  double end = seconds_of(CLOCK_MONOTONIC) + seconds;
  for (int i = 0; i < fewest || (!is_fast_enough(m) && seconds_of(CLOCK_MONOTONIC) < end); i++) {
    if (i % BEFORE_A_PAUSE == BEFORE_A_PAUSE - 1) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    options.mode = i & 1 ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
    double own = seconds_of(CLOCK_THREAD_CPUTIME_ID), wall = seconds_of(CLOCK_MONOTONIC);
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, i & 1 ? &m->parallel : NULL),
             HPAR_OK);
    own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    if (own < m->own[i & 1]) m->own[i & 1] = own;
    if (wall < m->wall[i & 1]) m->wall[i & 1] = wall;
  }
}

/* Checks that two threads take at most 1.5x the CPU time of one thread, on the calling thread. That
 * thread cuts and merges, so this time approximates the elapsed time on shared processors. It
 * includes waiting for a worker that lost its processor. Therefore the measurement repeats until
 * one run is fast enough. */
static void worth_its_while(const shape *of) {
  enum { FEWEST = 14, SECONDS = 30 };
  measured m;
  race(of, of->count, FEWEST, SECONDS, &m);
  bool fine = CHECK(is_fast_enough(&m));
  if (!fine || getenv("HPAR_VERBOSE"))
    printf("  %s: one thread %.3f ms, two %.3f (%.2f); the calling one alone %.3f (%.2f)\n", of->name, m.wall[0] * 1e3,
           m.wall[1] * 1e3, m.wall[1] / m.wall[0], m.own[1] * 1e3, m.own[1] / m.own[0]);
}

static double ns(double s) { return s * 1e9; }

static int print_json(bool quick, bool parallel) {
  printf("{\"attacks\": [");
  for (size_t i = 0; i < SHAPES; i++) {
    const shape *of = &shapes[i];
    unsigned count = quick ? of->count / 8 : of->count;
    measured m = {0};
    measure(of, count, quick ? 2 : 5, &m);
    printf("%s\n{\"name\": \"%s\", \"bytes\": [%zu, %zu], \"ns\": [%.0f, %.0f], \"nodes\": %" PRIu64
           ", \"memory\": %zu",
           i ? "," : "", of->name, m.bytes[0], m.bytes[1], ns(m.cpu[0]), ns(m.cpu[1]), m.sequential.nodes, m.memory);
    if (parallel) {
      race(of, count, quick ? 6 : 20, quick ? 0 : 0.1, &m);
      uint64_t wrong = 0;
      for (int kind = 0; kind < HPAR_ASSUMPTIONS; kind++) wrong += m.parallel.wrong_assumptions_by_kind[kind];
      printf(", \"equal\": %s, \"ns_wall\": [%.0f, %.0f], \"ns_asking\": [%.0f, %.0f], \"chunks\": %" PRIu64
             ", \"chunks_clean\": %" PRIu64 ", \"bytes_reparsed\": %" PRIu64 ", \"wrong\": %" PRIu64,
             m.parallel.nodes == m.sequential.nodes && m.parallel.tokens == m.sequential.tokens ? "true" : "false",
             ns(m.wall[0]), ns(m.wall[1]), ns(m.own[0]), ns(m.own[1]), m.parallel.chunks, m.parallel.chunks_clean,
             m.parallel.bytes_reparsed, wrong);
    }
    putchar('}');
  }
  puts("\n]}");
  return check_failed ? 1 : 0;
}

static void everything_was_denied(void) {
  for (int kind = 0; kind < HPAR_ASSUMPTIONS; kind++)
    if (!CHECK(denied[kind])) printf("  %s: denied by none\n", hpar_assumption_name((hpar_assumption)kind));
}

static void correctness(bool parallel) {
  for (size_t i = 0; i < SHAPES; i++) {
    bounded_memory(&shapes[i]);
    if (!parallel) continue;
    the_same_in_parallel(&shapes[i]);
    large_in_parallel(&shapes[i]);
  }
  if (parallel) everything_was_denied();
}

static void growth(bool parallel) {
  for (size_t i = 0; i < SHAPES; i++) {
    linear(&shapes[i], parallel);
    if (parallel) worth_its_while(&shapes[i]);
  }
}

int main(int count, char **arguments) {
  bool parallel = hpar_predictor_name(0) != NULL, timed = check_part(count, arguments, "growth");
  if (timed && !growth_can_be_measured()) return CHECK_SKIPPED;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  int status = 0;
  if (check_part(count, arguments, "--json")) {
    status = print_json(count > 2 && !strcmp(arguments[2], "--quick"), parallel);
  } else {
    if (parallel) compare_watch();
    if (timed)
      growth(parallel);
    else
      correctness(parallel);
    status = check_report();
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status;
}
