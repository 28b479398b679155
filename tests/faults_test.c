/* Checks failing allocations. The n-th allocation fails, alone or with all later ones, for every n,
 * in each mode, without scripts and with scripts that write text and change the tree. The parse
 * returns the memory status and an empty document, or makes the same tree as with enough memory. It
 * leaks nothing, and the parser and document remain usable. */

#include "base/memory.h"
#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/stepper.h"
#include "support/toy.h"

#include <hpar/study.h>
#include <stdlib.h>

static buffer page, expected, got;
static unsigned long tried, survived;
static bool runs_scripts;

typedef enum way {
  SEQUENTIAL,
  INLINE,
  THREADS,
  FED,
  FED_IN_PARALLEL,
  /* the test tries the ways before it on every document, and the ways after it on some documents */
  OFTEN,
  KEPT = OFTEN,
  INSPECTED,
  BY_RANGE,
  TREE,
  EXACT,
  HPAR2013,
  STAGES,
  PIPELINED,
  PIPELINED_ALONE,
  STEPPED,
  INDEXED,
  FROM_JEMALLOC,
  WAYS
} way;

static bool sequential(way which) { return which == SEQUENTIAL || which == FED || which == KEPT; }
static bool one_thread(way which) { return sequential(which) || which == INLINE || which == PIPELINED_ALONE; }
static bool fed(way which) { return which == FED || which == FED_IN_PARALLEL; }

static bool possible(way which) {
  if (which == FROM_JEMALLOC && !hpar_allocator_name(HPAR_ALLOCATOR_JEMALLOC)) return false;
  return sequential(which) || hpar_predictor_name(0);
}

static hpar_study study; /* of the options below */
static stepper steps;
static const hpar_driver by_steps = STEPPER(&steps);

static hpar_options options_of(way which) {
  study = (hpar_study){HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = 50};
  if (which == KEPT) options.copy_input = options.source_offsets = true;
  if (sequential(which)) return options;
  options.mode = HPAR_MODE_PARALLEL;
  options.study = &study;
  options.threads = which == INLINE ? 1 : 3;
  options.parallel.executor =
      which == INLINE || which == PIPELINED_ALONE ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS;
  options.parallel.chunk_size = 300;
  study.checkpoint_bytes = 1;
  switch (which) {
    case INSPECTED: study.inspect = true; break;
    case BY_RANGE: options.parallel.chunk_size = 0; break;
    case TREE: study.merge = HPAR_MERGE_TREE; break;
    case EXACT: study.cut_policy = "exact"; break;
    case HPAR2013: study.strategy = "hpar2013"; break;
    case STAGES: study.pipelined_workers = true; break;
    case PIPELINED:
    case PIPELINED_ALONE: study.driver = "pipelined"; break;
    case INDEXED: study.driver = "index-ahead"; break;
    case STEPPED: study.custom_driver = &by_steps; break;
    case FROM_JEMALLOC: options.allocator = HPAR_ALLOCATOR_JEMALLOC; break;
    default: break;
  }
  return options;
}

/* After a failure, the statistics have the defaults. Without one, the parse has completed them. */
static hpar_status finish(hpar_status status, const hpar_stats *stats) {
  if (status)
    CHECK(!stats->tokens && !stats->nodes && !stats->encoding);
  else
    CHECK(stats->tokens && stats->nodes && stats->encoding);
  return status;
}

static hpar_status parse(hpar_parser *parser, hpar_document *document, way which) {
  hpar_stats stats = {HPAR_STATS_INIT};
  hpar_options options = options_of(which);
  toy engine = {.keeps_views = true};
  if (runs_scripts) options.script = (hpar_script_options){.callback = toy_run, .context = &engine};
  if (!fed(which)) return finish(hpar_parse(parser, &options, page.bytes, page.length, document, &stats), &stats);
  hpar_status status = hpar_parser_begin(parser, &options, document);
  for (size_t at = 0; !status && at < page.length; at += 900)
    status = hpar_parser_feed(parser, page.bytes + at, page.length - at < 900 ? page.length - at : 900);
  hpar_status finished = parser && document ? hpar_parser_finish(parser, &stats) : HPAR_OK;
  return finish(status ? status : finished, &stats);
}

static bool is_expected(const hpar_document *document) {
  return compare_dump(document, &got) && got.length == expected.length &&
         !memcmp(got.bytes, expected.bytes, got.length);
}

/* Returns false if the parse did not reach the allocation. */
static bool try(uint64_t n, bool once, way which) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  if (once)
    hp_memory_fail_once(n);
  else
    hp_memory_fail_after(n);
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status) status = parse(parser, document, which);
  uint64_t left = hp_memory_left();
  hp_memory_fail_after(UINT64_MAX);
  tried++;
  bool fine = CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
  if (!status) fine = CHECK(is_expected(document)) && fine;
  if (!status) survived++;
  if (status && document) fine = CHECK(!hpar_node_first_child(document, hpar_document_root(document))) && fine;
  if (parser && document)
    fine = CHECK_EQ(parse(parser, document, which), HPAR_OK) && CHECK(is_expected(document)) && fine;
  if (!fine) printf("  allocation %llu%s, way %d\n", (unsigned long long)n, once ? " alone" : "", which);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return once ? left == UINT64_MAX : left == 0;
}

/* ThreadSanitizer takes 5 minutes for all allocations. A small sample has every third or tenth of
 * them, from another one on in each way; the release build tests each. */
static void every_allocation(const char *name, way ways) {
  const uint64_t step = compare_full() ? 1 : compare_scale() < 15 ? 10 : compare_scale() < 100 ? 3 : 1;
  for (way which = SEQUENTIAL; which < ways; which++) {
    if (!possible(which) || (one_thread(which) && !CHECK_ONE_THREAD)) continue;
    hpar_parser *parser = NULL;
    hpar_document *document = NULL;
    if (!CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&document))) return;
    CHECK_EQ(parse(parser, document, SEQUENTIAL), HPAR_OK);
    CHECK(compare_dump(document, &expected));
    hpar_document_destroy(document);
    hpar_parser_destroy(parser);
    for (int once = 0; once < 2; once++) {
      uint64_t n = (uint64_t)which % step;
      while (n < 5000 && try(n, once, which)) n += step;
      if (!CHECK(n > 5 && n < 5000)) printf("  %s, way %d: %llu allocations\n", name, which, (unsigned long long)n);
    }
  }
}

/* Scripts write text with scripts, unfinished tokens and new names, and call each function that
 * changes the tree. */
static void with_scripts(void) {
  static const char *const programs[] = {
      "w \\lx-1 a=&amp;b>\\li>text\nc \\lp id=q>\\lb>c\\l/p>",
      "n 2 new-name\nb 4 3\nm 5 2\nr 6\na 3 new-attribute v\nu 3 id\nd 3 data\nt 2 text",
      "h 3 \\ltable>f\\ltd>\\ltemplate>x\\l/template>\nk 3 2\ns",
      "w \\lscript>w \\blx-2>\\bna 2 b c\\l/script>\np 2 w nested\n",
      "w \\lp title=",
      "w \\ltextarea>a\nw b",
  };
  buffer_clear(&page);
  buffer_text(&page, "<!DOCTYPE html><body>");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    buffer_format(&page, "<div id=d><b>%d<script>%s</script>", (int)i, programs[i]);
    for (int n = 0; n < 12; n++) buffer_format(&page, "<p class=c%d>x<i>&lt;</p><table>f<td>%d</table>", n, n);
    buffer_text(&page, "\"></textarea><svg><script>s</script></svg></div>");
  }
  runs_scripts = true;
  every_allocation("scripts", INSPECTED + 1);
  runs_scripts = false;
}

static void ignore_event(const hpar_resource *resource, hpar_resource_event event, void *context) {
  (void)resource, (void)event, (void)context;
}

/* Each allocation of a scan for resources fails, also before a meta element begins it again. */
static void scans(void) {
  static const char text[] = "<p>\xE4<img src=a><meta charset=shift_jis><img src=b>";
  const hpar_options options = {HPAR_OPTIONS_INIT, .resources = {.callback = ignore_event}};
  hpar_status status = HPAR_ERROR_MEMORY;
  for (uint64_t n = 0; status && n < 1000; n++) {
    hpar_parser *parser;
    CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
    hp_memory_fail_after(n);
    status = hpar_scan_resources(parser, &options, text, sizeof text - 1);
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    CHECK_EQ(hpar_scan_resources(parser, &options, text, sizeof text - 1), HPAR_OK);
    hpar_parser_destroy(parser);
  }
  CHECK_EQ(status, HPAR_OK);
}

/* Without memory, a function that creates an object stores NULL. */
static void creators(void) {
  hpar_parser *parser = (hpar_parser *)1;
  hpar_document *document = (hpar_document *)1;
  hpar_selectors *selectors = (hpar_selectors *)1;
  hpar_rules *rules = (hpar_rules *)1;
  hpar_rewriter *rewriter = (hpar_rewriter *)1;
  hp_memory_fail_after(0);
  CHECK_EQ(hpar_parser_create(&parser), HPAR_ERROR_MEMORY);
  CHECK_EQ(hpar_document_create(&document), HPAR_ERROR_MEMORY);
  CHECK_EQ(hpar_selectors_create(&selectors), HPAR_ERROR_MEMORY);
  CHECK_EQ(hpar_rules_create(&rules), HPAR_ERROR_MEMORY);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_ERROR_MEMORY);
  hp_memory_fail_after(UINT64_MAX);
  CHECK(!parser && !document && !selectors && !rules && !rewriter);
}

int main(void) {
  compare_watch();
  creators();
  scans();
  buffer_text(&page, "<p>short");
  every_allocation("short", WAYS);

  /* A deep page with formatting, foster parenting, new names and attributes, templates, raw text
   * and rewritten strings. */
  buffer_clear(&page);
  for (int i = 0; i < 90; i++) buffer_format(&page, "<div><b id=x%d><x-%d>a&amp;b<table>f<tr><td>c", i, i);
  buffer_text(&page, "<template><td>x</template><svg><a xlink:href=x><![CDATA[y]]></svg><script><!--</script>");
  for (int i = 0; i < 40; i++) buffer_format(&page, "<p y%d=1 z=&lt;>%d<i></p><html h%d>", i, i, i);
  buffer_text(&page, "<p ");
  for (int i = 0; i < 1200; i++) buffer_format(&page, "a%d ", i);
  buffer_text(&page, "><textarea>\n&notit;</textarea>");
  every_allocation("long", WAYS);

  /* New names outside of all elements. */
  buffer_clear(&page);
  for (int i = 0; i < 400; i++) buffer_format(&page, "<x-%d>a</x-%d>", i, i);
  every_allocation("names", OFTEN);

  /* Another encoding, which the parser finds late, so that the parse restarts. */
  buffer_clear(&page);
  for (int i = 0; i < 60; i++) buffer_text(&page, "<p>\xE4\xF6<b>\xFC and filler before the meta</b>");
  buffer_text(&page, "<meta charset=shift_jis><p>\x83\x65\x83\x58");
  every_allocation("late meta", WAYS);

  with_scripts();

  generated made = {0};
  for (uint64_t seed = 1; seed <= 12; seed++) {
    generate(seed, &made);
    if (made.fragment) continue;
    buffer_clear(&page);
    buffer_add(&page, made.text.bytes, made.text.length);
    every_allocation("generated", OFTEN);
  }
  generate_free(&made);
  CHECK_EQ(steps.wrong, 0);
  printf("%lu failures of allocation, %lu of which the parse survived\n", tried, survived);
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
