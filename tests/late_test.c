/* Tests late threads. A hook stops a thread of the pool in the middle of a chunk, until the parse
 * has returned. The tree must be the sequential one while the thread is still inside. Afterwards
 * the document or the parser is used or destroyed, and waits for the thread. A parse that waits for
 * the stopped thread fails after a minute. Parses that wait for all threads have threads that sleep
 * for a moment.
 *
 *   late_test PART PARTS  runs every PARTS-th case, from case PART on
 *   HPAR_VERBOSE=1        prints the longest time by which a parse exceeds the sequential one
 *
 * The hook is called at each token, at each slice of decoding or validation, and where a thread
 * claims a chunk. A number of calls is therefore a place in the text. */

#include "check.h"
#include "runtime/units.h"
#include "speculation/worker.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/stops.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_PLACES = 8, PLACES = 60, ALL_PLACES = 1000, ERRORS = 1000 };

static _Atomic bool stops_slices;       /* also stops a thread in a slice */
static _Atomic bool stops_compositions; /* stops only a thread that composes neighbouring logs */
static unsigned long stops, rescues;
static long long longest_delay; /* ns after the time of the sequential parse */

static void stop_at_unit(void) {
  if (stops_slices && !stops_compositions) stops_call();
}

static uint32_t stop_at_token(uint32_t at) {
  if ((at == HP_PROGRESS_OF_COMPOSITIONS) == stops_compositions) stops_call();
  return at + 1;
}

/* How a case parses, and what happens while the thread is stopped. */
typedef struct late_case {
  const char *name;
  hpar_options options;
  size_t feed;       /* bytes of a feed; 0: hpar_parse */
  bool waits;        /* the parse waits for all threads */
  bool chooses;      /* the automatic mode */
  bool leaves;       /* the parse does not wait for a thread in a slice */
  bool composes;     /* a thread stops while it composes neighbouring logs */
  bool ends_as_text; /* the second half of the page is one text */
} late_case;

static const hpar_study hpar2013 = {HPAR_STUDY_INIT, .strategy = "hpar2013"};
static const hpar_study inspected = {HPAR_STUDY_INIT, .inspect = true};
static const hpar_study merged_as_tree = {HPAR_STUDY_INIT, .merge = HPAR_MERGE_TREE};

static const late_case cases[] = {
    {"joined chunks", {HPAR_OPTIONS_INIT, .threads = 2}, .leaves = true},
    {"three threads", {HPAR_OPTIONS_INIT, .threads = 3}, .leaves = true},
    {"five threads", {HPAR_OPTIONS_INIT, .threads = 5}, .leaves = true},
    {"neighbouring logs of 32 threads", {HPAR_OPTIONS_INIT, .threads = 32}, .composes = true},
    {"neighbouring logs of 40 threads", {HPAR_OPTIONS_INIT, .threads = 40, .fragment = "div"}, .composes = true},
    {"plain text", {HPAR_OPTIONS_INIT, .threads = 4}, .ends_as_text = true},
    {"chunks of 4 KB", {HPAR_OPTIONS_INIT, .threads = 2, .parallel.chunk_size = 4 << 10}, .feed = 0},
    {"errors and offsets",
     {HPAR_OPTIONS_INIT, .threads = 2, .max_errors = ERRORS, .source_offsets = true},
     .leaves = true},
    {"fragment", {HPAR_OPTIONS_INIT, .threads = 2, .fragment = "div"}, .feed = 0},
    {"copied input", {HPAR_OPTIONS_INIT, .threads = 2, .copy_input = true}, .feed = 0},
    {"windows-1252", {HPAR_OPTIONS_INIT, .threads = 2, .encoding = "windows-1252"}, .leaves = true},
    /* The encoding is known: a parse that starts again waits for its threads. */
    {"fed", {HPAR_OPTIONS_INIT, .encoding = "utf-8", .threads = 2, .parallel.chunk_size = 8 << 10}, .feed = 50000},
    {"fed fragment",
     {HPAR_OPTIONS_INIT, .encoding = "utf-8", .threads = 3, .parallel.chunk_size = 8 << 10, .fragment = "td"},
     .feed = 9000},
    {"automatic", {HPAR_OPTIONS_INIT, .threads = 2}, .chooses = true},
    {"automatic, windows-1252", {HPAR_OPTIONS_INIT, .threads = 3, .encoding = "windows-1252"}, .chooses = true},
    {"automatic, no encoding", {HPAR_OPTIONS_INIT, .threads = 2, .max_errors = ERRORS}, .chooses = true},
    {"hpar2013", {HPAR_OPTIONS_INIT, .threads = 2, .study = &hpar2013}, .feed = 0},
    {"a limit that no token reaches", {HPAR_OPTIONS_INIT, .threads = 2, .limits.nodes = 1000000}, .feed = 0},
    {"a limit of nodes", {HPAR_OPTIONS_INIT, .threads = 2, .limits.nodes = 3000}, .waits = true},
    {"a limit of memory", {HPAR_OPTIONS_INIT, .threads = 2, .limits.memory = 200000}, .waits = true},
    {"a limit of input", {HPAR_OPTIONS_INIT, .threads = 2, .limits.input = 150000}, .feed = 0},
    {"inspected", {HPAR_OPTIONS_INIT, .threads = 3, .study = &inspected}, .waits = true},
    {"merged as a tree",
     {HPAR_OPTIONS_INIT, .threads = 3, .parallel.chunk_size = 4 << 10, .study = &merged_as_tree},
     .feed = 0},
    {"few chunks merged as a tree",
     {HPAR_OPTIONS_INIT, .threads = 2, .max_errors = ERRORS, .study = &merged_as_tree},
     .leaves = true},
    {"windows-1252 merged as a tree",
     {HPAR_OPTIONS_INIT, .threads = 3, .encoding = "windows-1252", .study = &merged_as_tree},
     .leaves = true},
    {"fed and merged as a tree",
     {HPAR_OPTIONS_INIT, .encoding = "utf-8", .threads = 3, .parallel.chunk_size = 8 << 10, .study = &merged_as_tree},
     .feed = 40000},
    {"everything",
     {HPAR_OPTIONS_INIT, .threads = 3, .parallel.chunk_size = 4 << 10, .max_errors = ERRORS, .source_offsets = true,
      .copy_input = true, .fragment = "body", .limits.nodes = 1000000},
     .feed = 0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What the caller does after the parse. */
typedef enum follow_up {
  DESTROY_DOCUMENT,
  PARSE_INTO_DOCUMENT,
  CLEAR_DOCUMENT,
  EDIT_DOCUMENT,
  PARSE_OTHER,
  DESTROY_PARSER,
  FOLLOW_UPS
} follow_up;

static buffer page, expected, got;
static hpar_document *sequential;
static hpar_parser *sequential_parser;

/* Returns whether the text makes the rest of a page text. */
static bool ends_content(const buffer *text) {
  static const char name[] = "<plaintext";
  for (size_t i = 0; i + sizeof name - 1 <= text->length; i++)
    if (!strncasecmp(text->bytes + i, name, sizeof name - 1)) return true;
  return false;
}

/* Fills the page with generated documents. Each ends with the end of all kinds of tokens and raw
 * text, so that every chunk has elements. With `ends_as_text`, the second half is one text. */
static void fill_page(uint64_t seed, bool ends_as_text) {
  generated made = {0};
  buffer_clear(&page);
  buffer_format(&page, "<!doctype html><title>%llu</title><body>", (unsigned long long)seed);
  for (uint64_t part = 0; page.length < 300000; part++) {
    generate(seed * 1000 + part, &made);
    if (made.fragment || ends_content(&made.text)) continue;
    if (ends_as_text && page.length > 150000) {
      buffer_format(&page, "<plaintext>");
      ends_as_text = false;
    }
    buffer_format(&page, "<div id=d%llu class='a b'>text &amp; more<b>bold</b><custom-%llu x%llu=y>",
                  (unsigned long long)part, (unsigned long long)part, (unsigned long long)part);
    if (part % 4 == 0) buffer_add(&page, made.text.bytes, made.text.length);
    buffer_format(&page, "\"'>-->]]></script></script></title></textarea></style></xmp></iframe></noframes></noembed>");
    buffer_format(&page, "</noscript></svg></math></table></select></div><p>line<ul><li>one<li>two</ul>\n");
  }
  generate_free(&made);
}

/* The result of the sequential parse of a case. */
typedef struct outcome {
  hpar_status status;
  size_t errors;
  long long nanoseconds; /* the shortest of some parses */
} outcome;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static outcome expect(const late_case *c) {
  outcome result = {.nanoseconds = LLONG_MAX};
  hpar_options options = c->options;
  options.mode = HPAR_MODE_SEQUENTIAL;
  for (int i = 0; i < 5; i++) {
    long long begin = now();
    result.status = hpar_parse(sequential_parser, &options, page.bytes, page.length, sequential, NULL);
    if (now() - begin < result.nanoseconds) result.nanoseconds = now() - begin;
  }
  CHECK(result.status == HPAR_OK || c->options.limits.nodes || c->options.limits.memory || c->options.limits.input);
  CHECK(compare_dump(sequential, &expected));
  result.errors = hpar_parse_error_count(sequential_parser);
  return result;
}

static hpar_status parse_as(const late_case *c, hpar_parser *parser, hpar_document *document, hpar_study_stats *stats) {
  hpar_options options = c->options;
  options.mode = c->chooses ? HPAR_MODE_AUTO : HPAR_MODE_PARALLEL;
  if (!c->feed) return hpar_study_parse(parser, &options, page.bytes, page.length, document, stats);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (size_t at = 0; at < page.length; at += c->feed) {
    size_t n = page.length - at < c->feed ? page.length - at : c->feed;
    CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, n), HPAR_OK);
  }
  return hpar_study_finish(parser, stats);
}

/* The tree takes about the memory of the sequential one, with what a late thread has made. */
static bool is_expected(const hpar_document *document) {
  uint64_t nodes;
  const size_t memory = hpar_document_memory(sequential);
  const char *wrong = compare_links(document, &nodes);
  return CHECK(!wrong) && CHECK(compare_dump(document, &got)) && CHECK_EQ(got.length, expected.length) &&
         CHECK(!memcmp(got.bytes, expected.bytes, got.length)) &&
         CHECK(hpar_document_memory(document) >= memory - memory / 10);
}

/* Adds an element with a name of its own, reads the tree, and removes the element. */
static void change_and_restore(hpar_document *document) {
  hpar_editor *edit;
  hpar_node made, first = hpar_node_last_child(document, hpar_document_root(document));
  CHECK_EQ(hpar_document_edit(document, NULL, &edit, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "x-added", 7, &made), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(edit, made, "<p>a<b x-new=y>c", 16), HPAR_OK);
  if (hpar_node_insert_before(edit, first, made, hpar_node_first_child(document, first)) == HPAR_OK)
    CHECK_EQ(hpar_node_parent(document, made), first);
  CHECK_EQ(hpar_node_remove(edit, made), HPAR_OK);
  is_expected(document);
  hpar_document_finish_edit(document);
  is_expected(document);
}

static void follow(follow_up what, const late_case *c, outcome right, hpar_parser **parser, hpar_document **document) {
  hpar_document *other;
  CHECK_EQ(hpar_document_create(&other), HPAR_OK);
  switch (what) {
    case CLEAR_DOCUMENT: /* waits, so that the next parse may use other bytes */
      hpar_document_clear(*document);
      CHECK_EQ(hpar_node_first_child(*document, hpar_document_root(*document)), HPAR_NO_NODE);
      break;
    case EDIT_DOCUMENT: change_and_restore(*document); break;
    case PARSE_INTO_DOCUMENT:
      CHECK_EQ(parse_as(c, *parser, *document, NULL), right.status);
      is_expected(*document);
      break;
    case PARSE_OTHER:
      CHECK_EQ(hpar_parse(*parser, &c->options, page.bytes, page.length, other, NULL), right.status);
      is_expected(other);
      is_expected(*document);
      break;
    case DESTROY_PARSER:
      hpar_parser_destroy(*parser);
      *parser = NULL;
      is_expected(*document);
      break;
    default: break;
  }
  hpar_document_destroy(*document);
  *document = other;
  if (!*parser) CHECK_EQ(hpar_parser_create(parser), HPAR_OK);
}

/* Parses once with a stop after `calls` calls of the hook. */
static void parse_with_stop(const late_case *c, long calls, follow_up what, outcome right, hpar_parser **parser,
                            hpar_document **document) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  /* On a busy machine, threads may be late by themselves. A thread of the last parse must not make
   * the chosen call: this parse would wait for it. */
  hpar_document_clear(*document);
  stops_briefly = c->waits;
  stops_slices = c->chooses || c->leaves;
  stops_compositions = c->composes;
  stops_after(calls, 1);
  long long begin = now();
  bool fine = CHECK_EQ(parse_as(c, *parser, *document, &stats), right.status);
  long long delay = now() - begin - right.nanoseconds;
  fine = is_expected(*document) && fine;
  fine = CHECK_EQ(hpar_parse_error_count(*parser), right.errors) && fine;
  fine = CHECK(stats.chunks >= stats.chunks_right_start && stats.chunks >= stats.chunks_clean) && fine;
  const unsigned stopped = stops_end();
  rescues += stats.chunks_rescued;
  stops += stopped;
  if (stopped && !c->waits && !c->feed && delay > longest_delay) longest_delay = delay;
  const bool stays = stopped && !c->waits;
  /* Nobody looks at the worker of a late thread. */
  if (stays && c->options.threads == 2) fine = CHECK_EQ(stats.ns.parse_per_worker[1], 0) && fine;
  if (stays) stops_let_go_after(1, 200);
  follow(what, c, right, parser, document);
  if (stays) stops_join();
  if (!fine) printf("  %s, stop after %ld calls, then %d\n", c->name, calls, (int)what);
}

/* Returns the number of calls before the stop. */
static long random_calls(random_state *random, const late_case *c) {
  return (long)random_below(random, 1u << random_below(random, c->chooses || c->composes ? 3 : 10));
}

static void every_case(unsigned places, unsigned first, unsigned step) {
  random_state random = {7};
  hpar_parser *parser;
  hpar_document *document;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  for (unsigned i = first; i < CASES; i += step) {
    fill_page(i + 1, cases[i].ends_as_text);
    outcome right = expect(&cases[i]);
    for (unsigned k = 0; k < places; k++)
      parse_with_stop(&cases[i], random_calls(&random, &cases[i]), (follow_up)(k % FOLLOW_UPS), right, &parser,
                      &document);
  }
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
}

static unsigned starts; /* calls of the hook by the calling thread, which starts threads */

static void note_start(void) {
  if (stops_spare) starts++;
  stop_at_unit();
}

/* The automatic mode uses one thread for 16 parses after a rescue, and then tries the pool again.
 * On a busy machine that parse may give up a slice, and count as sequential. */
static void automatic_mode(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2, .parallel.wait = HPAR_WAIT_SPIN};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  random_state random = {11};
  hpar_document *document;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  stops_compositions = false;
  hp_unit_set_hook(note_start);
  fill_page(1, false);
  for (unsigned try = 0; try < ALL_PLACES && !stats.chunks_rescued; try++) {
    hpar_parser *parser;
    CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
    options.mode = HPAR_MODE_PARALLEL; /* starts the threads */
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    hpar_document_clear(document);
    options.mode = HPAR_MODE_AUTO;
    stops_after((long)random_below(&random, 500), 1);
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    stops_let_go(stops_end());
    hpar_document_clear(document);
    hpar_study_stats next = {HPAR_STUDY_STATS_INIT};
    for (unsigned i = 0; stats.chunks_rescued && i < 16; i++) {
      CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &next), HPAR_OK);
      CHECK_STRING(next.mode, "sequential");
    }
    starts = 0;
    /* A thread may have left the document, and not yet the pool. */
    for (unsigned i = 0; stats.chunks_rescued && i < ALL_PLACES && !starts; i++) {
      usleep(1000);
      CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &next), HPAR_OK);
    }
    if (stats.chunks_rescued) CHECK(starts > 0);
    hpar_document_clear(document);
    hpar_parser_destroy(parser);
  }
  CHECK(stats.chunks_rescued > 0);
  hp_unit_set_hook(stop_at_unit);
  hpar_document_destroy(document);
}

static _Atomic unsigned claims;

/* Lets a thread sleep for up to 0.9 ms at each third call of the hook. */
static void nap_at_unit(void) {
  const unsigned claim = atomic_fetch_add(&claims, 1);
  if (!stops_spare && claim % 3 == 0) usleep(claim * 37 % 900);
}

/* A chunk that the merger has parsed for a late thread counts, although the thread then finds that
 * the chunk is empty: a long comment has no cut. */
static void empty_chunks(void) {
  enum { PARSES = 120 };
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 8, .encoding = "utf-8"};
  hpar_parser *parser;
  hpar_document *document;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  buffer_clear(&page);
  while (page.length < 600000) {
    for (int i = 0; i < 700; i++) buffer_text(&page, "<ul><li>one<p>two</ul>");
    buffer_text(&page, "<!--");
    for (int i = 0; i < 3000; i++) buffer_text(&page, " no cut ");
    buffer_text(&page, "-->");
  }
  hp_worker_hook_progress(NULL);
  hp_unit_set_hook(nap_at_unit);
  for (int i = 0; i < PARSES; i++) {
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    CHECK(stats.chunks >= stats.chunks_right_start && stats.chunks >= stats.chunks_clean);
    hpar_document_clear(document);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

/* As in tests/support/naps.c: up to 20 ms. */
static void nap_long(void) {
  const unsigned claim = atomic_fetch_add(&claims, 1);
  if (!stops_spare && claim % 8 == 0) usleep(claim * 37 % 41 * 500);
}

/* Near a limit of memory, a thread late in the parallel parse is waited for, and the parse begins
 * again on one thread. The bytes that were fed must still be there. */
static void repeated_feed(void) {
  enum { PARSES = 60, PIECE = 10000, BYTES = 30000 };
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  hpar_parser *parser;
  hpar_document *document;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  buffer_clear(&page);
  buffer_text(&page, "\xFF"); /* so that the document's text is not the bytes that were fed */
  while (page.length < BYTES) buffer_text(&page, "<p>some text and <b>bold</b> and more text of the page");
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  const size_t html = hpar_serialize_html_copy(document, hpar_document_root(document), 0, NULL, 0);
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 3;
  options.limits.memory = hpar_document_memory(document) * 3 / 2;
  hp_unit_set_hook(nap_long);
  for (int i = 0; i < PARSES; i++) {
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    for (size_t at = 0; at < page.length; at += PIECE)
      CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, page.length - at < PIECE ? page.length - at : PIECE), HPAR_OK);
    CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
    CHECK_EQ(hpar_serialize_html_copy(document, hpar_document_root(document), 0, NULL, 0), html);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

int main(int count, char **arguments) {
  unsigned first = count == 3 ? (unsigned)atoi(arguments[1]) : 0, step = count == 3 ? (unsigned)atoi(arguments[2]) : 1;
  if (!compare_possible()) return CHECK_SKIPPED;
  CHECK_EQ(hpar_parser_create(&sequential_parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&sequential), HPAR_OK);
  hp_worker_hook_progress(stop_at_token);
  stops_open();
  hp_unit_set_hook(stop_at_unit);
  unsigned places = compare_full() ? ALL_PLACES : PLACES * compare_scale() / 100;
  const unsigned least = compare_scale() < 100 ? LEAST_PLACES / 2 : LEAST_PLACES;
  every_case(places < least ? least : places, first, step ? step : 1);
  printf("%lu threads stopped, %lu chunks rescued\n", stops, rescues);
  if (getenv("HPAR_VERBOSE")) printf("%.3f ms after the sequential parse at most\n", (double)longest_delay / 1e6);
  CHECK(stops > 0);
  automatic_mode();
  empty_chunks();
  repeated_feed();
  stops_close();
  hpar_document_destroy(sequential);
  hpar_parser_destroy(sequential_parser);
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
