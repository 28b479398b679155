/* Scripts with the toy engine during a parallel and a pipelined parse. Pages are cut at every byte,
 * and at random places with every strategy and predictor, inline and on threads, in both shapes of
 * the merge, whole and fed in pieces. The tree, the view of each script, the parse errors, the tag
 * ranges and the counters of scripts equal those of the sequential parser. Balanced writes lose no
 * segment, and no token of the pipelined parser.
 * Short pages are parsed in one random way each, and a sample of them with each cut.
 *
 *   HPAR_TEST_SEED=N    first seed (1)
 *   HPAR_TEST_SCALE=P   percent of the usual number of pages (100)
 *   HPAR_TEST_SHORT=N   number of short pages, with a line for each million */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/mode.h"
#include "support/scripted.h"
#include "support/stepper.h"
#include "support/toy.h"

#include <hpar/study.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 3000, CUT_EVERYWHERE = 40, WAYS_A_PAGE = 6, MAX_CUTS = 64, ERRORS = 200 };
enum { SHORT_PAGES = 20000, CUT_SHORT_EVERYWHERE = 500, PAGES_A_LINE = 1000000 };

static hpar_parser *parser;
static hpar_document *document;
static unsigned long parses;
static uint64_t chunks, segments, rejected, rollbacks;
static unsigned long fed, threaded, pipelined, trees; /* parses */

static stepper steps;
static const hpar_driver by_steps = STEPPER(&steps);

typedef struct outcome {
  hpar_status status;
  uint64_t tree, views, errors, written, changes;
  size_t scripts;
} outcome;

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + 1; }

/* Returns the hash of the tag ranges below the node. */
static uint64_t hash_ranges(hpar_node top, uint64_t hash) {
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    uint64_t start = 1, end = 1;
    hpar_node contents = hpar_node_template_contents(document, node);
    hpar_node_start_tag_range(document, node, &start, &end);
    hash = mix(mix(hash, start), end);
    if (contents) hash = hash_ranges(contents, hash);
  }
  return hash;
}

static uint64_t hash_errors(void) {
  uint64_t hash = hpar_parse_error_count(parser);
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    hash = mix(hash, error.offset);
    for (const char *at = error.code; *at; at++) hash = mix(hash, (unsigned char)*at);
  }
  return hash;
}

/* A way to parse: options, and the size of the pieces; 0: the page is not fed. */
typedef struct way {
  hpar_options options;
  hpar_study study; /* of `options` while they are in use */
  size_t piece;
} way;

static hpar_status feed(const way *how, const hpar_options *options, const buffer *page, hpar_study_stats *stats) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t at = 0, n; at < page->length && status == HPAR_OK; at += n) {
    n = page->length - at < how->piece ? page->length - at : how->piece;
    status = hpar_parser_feed(parser, page->bytes + at, n);
  }
  hpar_status finished = hpar_study_finish(parser, stats);
  fed++;
  return status == HPAR_OK ? finished : status;
}

static outcome run(const way *how, const buffer *page) {
  toy of = {.keeps_views = true, .max_scripts = 60};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_options options = how->options;
  options.study = &how->study;
  options.script = (hpar_script_options){.callback = toy_run, .context = &of, .max_written = 20000};
  hpar_status status = how->piece ? feed(how, &options, page, &stats)
                                  : hpar_study_parse(parser, &options, page->bytes, page->length, document, &stats);
  parses++;
  threaded += options.mode != HPAR_MODE_SEQUENTIAL && options.parallel.executor == HPAR_EXECUTOR_THREADS;
  pipelined += how->study.driver != NULL;
  trees += how->study.merge == HPAR_MERGE_TREE;
  rollbacks += stats.pipeline.rollbacks;
  chunks += stats.chunks;
  segments += stats.merge_levels[0].segments;
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) rejected += stats.wrong_assumptions_by_kind[i];
  if (stats.chunks && how->study.inspect && status == HPAR_OK) CHECK_EQ(hpar_chunk_count(parser), stats.chunks + 1);
  outcome got = {.status = status, .tree = toy_hash(document), .views = of.views, .scripts = of.scripts};
  CHECK_EQ(steps.wrong, 0);
  if (status != HPAR_OK) return got;
  got.errors = hash_errors();
  got.written = stats.script.bytes_written;
  /* In a feed, the end of a written token may come later. */
  if (!how->piece) got.changes = mix(stats.script.state_changes, stats.script.bytes_after_change);
  if (options.source_offsets) got.tree = hash_ranges(hpar_document_root(document), got.tree);
  return got;
}

static bool is_same(const outcome *a, const outcome *b, const way *how) {
  return a->status == b->status && a->tree == b->tree && a->views == b->views && a->scripts == b->scripts &&
         a->errors == b->errors && a->written == b->written && (how->piece || a->changes == b->changes);
}

static bool compare(const outcome *got, const outcome *expected, const way *how, uint64_t seed, const buffer *page) {
  const hpar_options *options = &how->options;
  const hpar_study *study = &how->study;
  if (CHECK(is_same(got, expected, how))) return true;
  printf("seed %" PRIu64 ", mode %d, executor %d, pieces of %zu, buffer %u, strategy %s, predictor %s, checkpoint %zu, "
         "merge %d, chunk size %zu, cuts",
         seed, options->mode, options->parallel.executor, how->piece, study->pipeline.buffer_tokens,
         study->strategy ? study->strategy : "default", study->predictor ? study->predictor : "default",
         study->checkpoint_bytes, study->merge, options->parallel.chunk_size);
  for (size_t i = 0; i < study->cut_count; i++) printf(" %" PRIu64, study->cuts[i]);
  printf("\nstatus %d and %d, scripts %zu and %zu, trees %d, views %d, errors %d, written %d, changes %d\n%.*s\n",
         got->status, expected->status, got->scripts, expected->scripts, got->tree == expected->tree,
         got->views == expected->views, got->errors == expected->errors, got->written == expected->written,
         got->changes == expected->changes, (int)page->length, page->bytes);
  return false;
}

/*** ways to parse ***/

/* The options that the sequential and the parallel parse share. */
static hpar_options common(random_state *from) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = random_chance(from, 70) ? "utf-8" : NULL};
  options.source_offsets = random_chance(from, 20);
  if (random_chance(from, 20)) options.max_errors = ERRORS;
  if (random_chance(from, 10)) options.limits.time_ns = UINT64_MAX / 2;
  options.mode = HPAR_MODE_SEQUENTIAL;
  return options;
}

static const char *name_of(random_state *from, const char *(*name_at)(size_t)) {
  size_t count = 0;
  while (name_at(count)) count++;
  return name_at(random_below(from, count + 1));
}

static void make_parallel(hpar_options *options) {
  options->mode = HPAR_MODE_PARALLEL;
  options->threads = 2;
  options->parallel.executor = HPAR_EXECUTOR_INLINE;
}

/* Sets options of the pipelined parser. */
static void choose_pipeline(random_state *from, hpar_options *options, hpar_study *study) {
  static const unsigned lengths[] = {2, 8, 64, 0};
  options->mode = HPAR_MODE_PARALLEL;
  study->driver = random_chance(from, 70) ? "pipelined" : name_of(from, hpar_driver_name);
  options->parallel.executor = random_chance(from, 8) ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE;
  study->pipeline.buffer_tokens = RANDOM_OF(from, lengths);
  study->pipeline.batch_tokens = study->pipeline.buffer_tokens / 2;
  study->pipeline.predictor = name_of(from, hpar_pipeline_predictor_name);
  study->inspect = random_chance(from, 10);
}

/* Sets options of a driver that goes by random steps. */
static void choose_steps(random_state *from, hpar_options *options, hpar_study *study) {
  options->mode = HPAR_MODE_PARALLEL;
  steps = (stepper){.seed = random_next(from)};
  study->custom_driver = &by_steps;
  options->parallel.executor = random_chance(from, 8) ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE;
}

/* Sets options of the parallel parser or of a driver. */
static void choose_way(random_state *from, way *how, const buffer *page, uint64_t *cuts) {
  static const size_t checkpoints[] = {1, 64, 0};
  hpar_options *options = &how->options;
  hpar_study *study = &how->study;
  if (random_chance(from, 10)) {
    choose_steps(from, options, study);
    return;
  }
  if (random_chance(from, 25)) {
    choose_pipeline(from, options, study);
    return;
  }
  make_parallel(options);
  study->checkpoint_bytes = RANDOM_OF(from, checkpoints);
  if (random_chance(from, 30)) study->merge = HPAR_MERGE_TREE;
  if (random_chance(from, 20)) study->strategy = name_of(from, hpar_strategy_name);
  if (random_chance(from, 20)) study->predictor = name_of(from, hpar_predictor_name);
  if (random_chance(from, 20)) study->mode_predictor = name_of(from, hpar_mode_predictor_name);
  study->inspect = random_chance(from, 10);
  if (random_chance(from, 12)) {
    options->parallel.executor = HPAR_EXECUTOR_THREADS;
    options->threads = 2 + (unsigned)random_below(from, 2);
    if (random_chance(from, 50)) how->piece = 1 + random_below(from, 2 * page->length);
  }
  study->pipelined_workers = random_chance(from, 10);
  if (random_chance(from, 30)) {
    options->parallel.chunk_size = 1 + random_below(from, 80);
    return;
  }
  size_t count = 0;
  for (uint64_t at = 0; count < 1 + random_below(from, MAX_CUTS - 1);) {
    at += 1 + random_below(from, page->length / 3 + 2);
    if (at >= page->length) break;
    cuts[count++] = at;
  }
  study->cuts = count ? cuts : NULL;
  study->cut_count = count;
}

/* Cuts the page at each byte. */
static bool cut_everywhere(const hpar_options *options, const outcome *expected, uint64_t seed, const buffer *page) {
  bool fine = true;
  way how = {.options = *options, .study = {HPAR_STUDY_INIT}};
  make_parallel(&how.options);
  for (uint64_t cut = 1; cut < page->length && fine; cut++) {
    how.study.cuts = &cut;
    how.study.cut_count = 1;
    how.study.merge = cut % 4 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE;
    outcome got = run(&how, page);
    fine = compare(&got, expected, &how, seed, page);
  }
  return fine;
}

static bool check_page(uint64_t seed) {
  static buffer page;
  static uint64_t cuts[MAX_CUTS];
  static const scripted_kind kinds[] = {SCRIPTED_CHANGES, SCRIPTED_LONG, SCRIPTED_WRITES};
  random_state from = {seed};
  hpar_document_clear(document); /* waits for a late thread, which may still read the last page */
  scripted_page(&from, &page, RANDOM_OF(&from, kinds));
  const way alone = {.options = common(&from), .study = {HPAR_STUDY_INIT}};
  outcome expected = run(&alone, &page);
  bool fine = true;
  for (int i = 0; i < WAYS_A_PAGE && fine; i++) {
    way how = alone;
    choose_way(&from, &how, &page, cuts);
    outcome got = run(&how, &page);
    fine = compare(&got, &expected, &how, seed, &page);
  }
  return seed % CUT_EVERYWHERE || !fine ? fine : cut_everywhere(&alone.options, &expected, seed, &page);
}

static uint64_t number_of(const char *variable, uint64_t otherwise) {
  const char *given = getenv(variable);
  return given ? strtoull(given, NULL, 10) : otherwise;
}

static void print_counts(uint64_t pages, uint64_t scripts, uint64_t bytes, uint64_t failures) {
  printf("%" PRIu64 " short pages, %" PRIu64 " bytes, %" PRIu64 " scripts, %lu parses, %lu fed, %lu on threads, "
         "%lu pipelined, %lu merged as a tree, %" PRIu64 " failures\n",
         pages, bytes, scripts, parses, fed, threaded, pipelined, trees, failures);
  fflush(stdout);
}

/* Parses each short page sequentially and in one random way. */
static void short_pages(void) {
  static buffer page;
  static uint64_t cuts[MAX_CUTS];
  uint64_t first = number_of("HPAR_TEST_SEED", 1), failures = 0, scripts = 0, bytes = 0;
  uint64_t count = number_of("HPAR_TEST_SHORT", (uint64_t)SHORT_PAGES * compare_scale() / 100);
  for (uint64_t seed = first; seed < first + count && failures < 5; seed++) {
    random_state from = {seed};
    hpar_document_clear(document); /* waits for a late thread, which may still read the last page */
    scripted_page(&from, &page, SCRIPTED_SHORT);
    const way alone = {.options = common(&from), .study = {HPAR_STUDY_INIT}};
    outcome expected = run(&alone, &page);
    way how = alone;
    choose_way(&from, &how, &page, cuts);
    outcome got = run(&how, &page);
    bool fine = compare(&got, &expected, &how, seed, &page);
    if (fine && seed % CUT_SHORT_EVERYWHERE == 0) fine = cut_everywhere(&alone.options, &expected, seed, &page);
    failures += !fine;
    scripts += expected.scripts;
    bytes += page.length;
    if ((seed + 1 - first) % PAGES_A_LINE == 0) print_counts(seed + 1 - first, scripts, bytes, failures);
  }
  print_counts(count, scripts, bytes, failures);
}

static void random_pages(void) {
  uint64_t first = number_of("HPAR_TEST_SEED", 1);
  uint64_t count = (uint64_t)PAGES * compare_scale() / 100;
  for (uint64_t seed = first, failures = 0; seed < first + count && failures < 5; seed++) failures += !check_page(seed);
  printf("%lu parses, %lu fed, %" PRIu64 " chunks, %" PRIu64 " segments adopted, %" PRIu64 " rejected, %" PRIu64
         " rollbacks\n",
         parses, fed, chunks, segments, rejected, rollbacks);
  CHECK(segments > rejected);
}

/*** lost segments ***/

/* Returns the statistics of a page of many paragraphs. 20 of them have the script. `runs` is the
 * number of scripts that run; 0: any. */
static hpar_study_stats count_losses(int mode, const char *script, size_t runs) {
  static buffer page;
  toy of = {.max_scripts = 0};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .parallel.chunk_size = 500};
  hpar_study study = {HPAR_STUDY_INIT};
  make_parallel(&options);
  mode_choose(&options, &study, mode);
  options.script = (hpar_script_options){.callback = toy_run, .context = &of};
  buffer_clear(&page);
  buffer_text(&page, "<!DOCTYPE html><title>t</title><body><div>");
  for (int i = 0; i < 100; i++) {
    buffer_format(&page, "<p>Paragraph %d with <b>some</b> <a href=x>text</a></p><ul><li>1<li>2</ul>", i);
    if (i % 5 == 4) buffer_format(&page, "<script>%s</script>", script);
    buffer_text(&page, "<table><tr><td>x<td>y</table>\n");
  }
  CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
  if (runs) CHECK_EQ(stats.script.runs, runs);
  return stats;
}

static void losses(void) {
  static const char *const balanced[] = {"s",
                                         "w x",
                                         "w \\li>y\\l/i>",
                                         "w \\lp>a\\l/p>\\lul>\\lli>a\\l/ul>",
                                         "w \\ltable>\\ltr>\\ltd>x\\l/table>",
                                         "r 90\na 3 class v\nt 4 text"};
  static const char *const unbalanced[] = {"w \\ldiv>", "w \\lspan>", "w \\lsection>\\lp>"};
  uint64_t again = count_losses(HPAR_MODE_PARALLEL, "z", 20).bytes_reparsed;
  for (size_t i = 0; i < sizeof balanced / sizeof *balanced; i++) {
    hpar_study_stats stats = count_losses(HPAR_MODE_PARALLEL, balanced[i], 20);
    CHECK_EQ(stats.script.state_changes, 0);
    CHECK_EQ(stats.script.segments_lost, 0);
    CHECK_EQ(stats.script.bytes_lost, 0);
    CHECK_EQ(stats.bytes_reparsed, again);
  }
  for (size_t i = 0; i < sizeof unbalanced / sizeof *unbalanced; i++) {
    hpar_study_stats stats = count_losses(HPAR_MODE_PARALLEL, unbalanced[i], 20);
    CHECK_EQ(stats.script.state_changes, 20);
    CHECK(stats.script.bytes_lost < stats.script.bytes_after_change);
  }
  CHECK(count_losses(HPAR_MODE_PARALLEL, "w \\ltextarea>", 1).script.bytes_lost > 0);
}

/* The pipelined parser keeps its tokens unless the content state or the position changes. */
static void rollbacks_by_scripts(void) {
  static const char *const kept[] = {"z", "w x", "w \\li>y", "w \\ldiv>", "w \\ltable>\\ltr>", "w \\lsvg>"};
  static const char *const dropped[] = {"w \\ltextarea>", "w \\l!--", "w \\lp title="};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    hpar_study_stats stats = count_losses(MODE_PIPELINED, kept[i], 20);
    CHECK(!strcmp(stats.mode, "pipelined"));
    CHECK_EQ(stats.script.rollbacks, 0);
    CHECK_EQ(stats.script.bytes_lost, 0);
  }
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
    hpar_study_stats stats = count_losses(MODE_PIPELINED, dropped[i], 0);
    CHECK(stats.script.rollbacks > 0);
    CHECK(stats.script.bytes_lost > 0);
  }
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!CHECK(hpar_parser_create(&parser) == HPAR_OK) || !CHECK(hpar_document_create(&document) == HPAR_OK)) return 1;
  losses();
  rollbacks_by_scripts();
  random_pages();
  short_pages();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
