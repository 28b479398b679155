/* Input that is made to hurt: nothing nested closes, everything is one token, one tag or one attribute. The tree is
 * the same in parallel, memory stays within a multiple of the input, and twice the input takes about twice the time
 * of the processor. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"

#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct shape {
  const char *name, *before, *unit, *after; /* %u in the unit counts */
  unsigned count;
} shape;

static const shape shapes[] = {
    {"nested div", "", "<div>", "", 100000},
    {"nested b", "", "<b>", "", 60000},
    {"p and b", "", "<p><b>", "", 40000},
    {"nested ul", "", "<ul><li>", "", 60000},
    {"nested dl", "", "<dl><dd><div>", "", 40000},
    {"many dd", "<dl>", "<dd><span>", "", 60000},
    {"nested tables", "", "<table><tr><td>", "", 40000},
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
    {"options with a button", "<select><button><selectedcontent></selectedcontent></button>", "<option>x", "", 600},
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
    {"NUL", "", "\1", "", 600000}, /* \1 stands for NUL */
    {"CR LF", "", "\r\n\r", "", 300000},
    {"bytes that are no UTF-8", "", "\xFF\xC3(", "", 300000},
    /* Against the speculation: what a chunk takes for granted is wrong, or its log is one question after another. */
    {"formatting that stays open", "<b><i><u>", "<p>x</p>", "", 100000},
    {"blocks in formatting", "", "<p><b>x", "", 40000},
    {"text in rows", "<table>", "x<tr>y<td>z</td>", "", 40000},
    {"rows without a table", "<table><tr>", "<td>x</td></table><tr>", "", 40000},
    {"cells", "<table>", "<caption>x<tr><td>y</caption>", "", 30000},
    {"columns", "<table><colgroup>", "<col>x<tr>", "", 60000},
    {"fostered links", "<table>", "<a>x<tr></a>", "", 40000},
    {"foreign content", "<svg>", "<g>x</g><a></a><title>t</title>", "", 30000},
    {"breaking out", "", "<svg><g></p>x</g></svg>", "", 40000},
    {"integration points", "<math>", "<mi>x<div>y</mi></div><mo>", "", 40000},
    {"CDATA or not", "<svg><desc>", "<p><![CDATA[</desc>x<svg>]]></svg><desc>", "", 25000},
    {"tags in a comment", "<!--", "<p>x</p>", "-->", 100000},
    {"tags in a title", "<title>", "<p>x</p>", "</title>", 100000},
    {"tags in plain text", "<plaintext>", "<p>x</p>", "", 100000},
    {"tags in an attribute", "<p a='", "<p>x</p>", "'>", 100000},
    {"ends of escaped scripts", "<script><!--<script>", "<p>x</p></script>", "--></script>", 60000},
    {"quotes that turn", "", "<p a=\"<!-- '<script>\" b='<textarea>'>x", "", 25000},
    {"frames", "<frameset>", "<p>x</p><frame>", "", 60000},
    {"cells in a template", "<template><tr>", "<td>x<p>y</p>", "", 60000},
    {"end tags only", "", "</br></p>", "", 100000},
    {"attributes of html and body", "", "<html a=b><body c=d>x", "", 40000},
    {"ends and more", "", "</body></html>x<p>", "", 50000},
    {"line feeds that are eaten", "", "<pre>\n<b>x</pre>", "", 40000},
    {"ruby", "<ruby>", "<rb>x<rt>y<rtc>z", "", 50000},
    {"buttons", "<button>", "<button>x<p>", "", 60000},
    {"forms", "<form>", "<form>x</form><input>", "", 40000},
    {"nobr", "<nobr>", "<nobr>x<p>y", "", 40000},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void write_shape(const shape *of, unsigned count, buffer *to) {
  buffer_clear(to);
  buffer_text(to, of->before);
  const char *place = strstr(of->unit, "%u");
  for (unsigned i = 0; i < count; i++) {
    if (!place)
      buffer_text(to, of->unit);
    else
      buffer_format(to, "%.*s%u%s", (int)(place - of->unit), of->unit, i, place + 2);
  }
  buffer_text(to, of->after);
  for (size_t i = 0; i < to->length; i++)
    if (to->bytes[i] == 1) to->bytes[i] = 0;
}

static double seconds_of(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static hpar_parser *parser;
static hpar_document *document;

static double best_time(const buffer *page, hpar_stats *stats) {
  hpar_options options = HPAR_OPTIONS_DEFAULT;
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.encoding = "utf-8";
  double best = 1e9;
  for (int i = 0; i < 3; i++) {
    double begin = seconds();
    hpar_status status = hpar_parse(parser, &options, page->bytes, page->length, document, stats);
    double took = seconds() - begin;
    CHECK_EQ(status, HPAR_OK);
    if (took < best) best = took;
  }
  return best;
}

static void linear(const shape *of) {
  static buffer small, large;
  write_shape(of, of->count / 4, &small);
  write_shape(of, of->count, &large);
  hpar_stats stats;
  double one = best_time(&small, &stats), four = best_time(&large, &stats);
  size_t memory = hpar_document_memory(document);
  if (!CHECK(four < 10 * one + 0.03)) printf("  %s: %.4f s, four times as much %.4f s\n", of->name, one, four);
  if (!CHECK(memory < 64 * large.length + (1 << 20)))
    printf("  %s: %zu bytes of input take %zu of memory\n", of->name, large.length, memory);
}

static void the_same_in_parallel(const shape *of) {
  static buffer page;
  uint64_t cuts[7];
  comparer with;
  unsigned count = of->count / 16 + 2; /* a dump's indentation is quadratic in the depth */
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

/* The whole of it at once, where there is a parallel parser. */
static void large_in_parallel(const shape *of) {
  static buffer page;
  write_shape(of, of->count, &page);
  hpar_options options = HPAR_OPTIONS_DEFAULT;
  hpar_stats sequential, parallel;
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.encoding = "utf-8";
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &sequential), HPAR_OK);
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 2;
  options.executor = HPAR_EXECUTOR_INLINE;
  double begin = seconds();
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &parallel), HPAR_OK);
  double took = seconds() - begin;
  if (!CHECK(took < 5)) printf("  %s: %.1f s\n", of->name, took);
  if (!CHECK(parallel.nodes == sequential.nodes && parallel.tokens == sequential.tokens)) printf("  %s\n", of->name);
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (!CHECK(wrong == NULL)) printf("  %s: %s\n", of->name, wrong);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__has_feature)
enum { TIMED = 0 };
#else
enum { TIMED = 1 };
#endif

/* Two threads take at most 1.5 times the time of one. Where processors are shared, what the asking thread itself needs
 * may be taken for it: that begins, merges and ends last. It waits in vain for a worker that others keep from its
 * processor; so it is tried until that was not so. */
static void worth_its_while(const shape *of) {
  enum { FEWEST = 14, MOST = 600 };
  static buffer page;
  write_shape(of, of->count, &page);
  hpar_options options = HPAR_OPTIONS_DEFAULT;
  options.encoding = "utf-8";
  options.threads = 2;
  double best[2][2] = {{1e9, 1e9}, {1e9, 1e9}};
  for (int i = 0; i < FEWEST || (i < MOST && best[1][0] >= 1.5 * best[0][0]); i++) {
    options.mode = i & 1 ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
    double own = seconds_of(CLOCK_THREAD_CPUTIME_ID), wall = seconds_of(CLOCK_MONOTONIC);
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    if (own < best[i & 1][0]) best[i & 1][0] = own;
    if (wall < best[i & 1][1]) best[i & 1][1] = wall;
  }
  bool fine = CHECK(best[1][0] < 1.5 * best[0][0] + 0.001);
  if (!fine || getenv("HPAR_VERBOSE"))
    printf("  %s: one thread %.3f ms, two %.3f (%.2f); the asking one alone %.3f (%.2f)\n", of->name, best[0][1] * 1e3,
           best[1][1] * 1e3, best[1][1] / best[0][1], best[1][0] * 1e3, best[1][0] / best[0][0]);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  bool parallel = compare_possible();
  if (parallel) compare_watch();
  for (size_t i = 0; i < SHAPES; i++) {
    linear(&shapes[i]);
    if (!parallel) continue;
    the_same_in_parallel(&shapes[i]);
    large_in_parallel(&shapes[i]);
    if (TIMED) worth_its_while(&shapes[i]);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
