/* Tests late threads. A hook stops a thread of the pool in the middle of a chunk, until the parse
 * has returned. The tree must be the sequential one while the thread is still inside. Afterwards
 * the document or the parser is used or destroyed, and waits for the thread. A parse that waits for
 * the stopped thread fails after a minute. */

#include "check.h"
#include "speculation/worker/progress.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/random.h"

#include <errno.h>
#include <hpar/hpar.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_PLACES = 8, PLACES = 60, ALL_PLACES = 1000, ERRORS = 1000, TIMEOUT_SECONDS = 60 };

static pthread_t main_thread;
static sem_t release;
static _Atomic long calls_before_stop; /* negative: a thread has stopped, or none is to stop */
static _Atomic unsigned timeouts;
static unsigned long stops, rescues;

/* The hook: stops the thread that makes the chosen call. */
static void stop_here(uint32_t at) {
  (void)at;
  if (pthread_equal(pthread_self(), main_thread)) return;
  if (atomic_fetch_sub(&calls_before_stop, 1) != 0) return;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += TIMEOUT_SECONDS;
  int failed;
  while ((failed = sem_timedwait(&release, &until)) && errno == EINTR) {
  }
  if (failed) atomic_fetch_add(&timeouts, 1);
}

static void *release_soon(void *context) {
  (void)context;
  usleep(200);
  sem_post(&release);
  return NULL;
}

/* How a case parses, and what happens while the thread is stopped. */
typedef struct late_case {
  const char *name;
  hpar_options options;
  size_t feed; /* bytes of a feed; 0: hpar_parse */
} late_case;

static const late_case cases[] = {
    {"joined chunks", {HPAR_OPTIONS_INIT, .threads = 2}, 0},
    {"three threads", {HPAR_OPTIONS_INIT, .threads = 3}, 0},
    {"chunks of 4 KB", {HPAR_OPTIONS_INIT, .threads = 2, .parallel.chunk_size = 4 << 10}, 0},
    {"errors and offsets", {HPAR_OPTIONS_INIT, .threads = 2, .max_errors = ERRORS, .source_offsets = true}, 0},
    {"fragment", {HPAR_OPTIONS_INIT, .threads = 2, .fragment = "div"}, 0},
    {"copied input", {HPAR_OPTIONS_INIT, .threads = 2, .copy_input = true}, 0},
    {"windows-1252", {HPAR_OPTIONS_INIT, .threads = 2, .encoding = "windows-1252"}, 0},
    /* The encoding is known: a parse that starts again waits for its threads. */
    {"fed", {HPAR_OPTIONS_INIT, .encoding = "utf-8", .threads = 2, .parallel.chunk_size = 8 << 10}, 50000},
    {"fed fragment",
     {HPAR_OPTIONS_INIT, .encoding = "utf-8", .threads = 3, .parallel.chunk_size = 8 << 10, .fragment = "td"},
     9000},
    {"hpar2013", {HPAR_OPTIONS_INIT, .threads = 2, .experiment.strategy = "hpar2013"}, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What the caller does after the parse. */
typedef enum follow_up {
  DESTROY_DOCUMENT,
  PARSE_INTO_DOCUMENT,
  CLEAR_DOCUMENT,
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
 * text, so that every chunk has elements. */
static void fill_page(uint64_t seed) {
  generated made = {0};
  buffer_clear(&page);
  buffer_format(&page, "<!doctype html><title>%llu</title><body>", (unsigned long long)seed);
  for (uint64_t part = 0; page.length < 200000; part++) {
    generate(seed * 1000 + part, &made);
    if (made.fragment || ends_content(&made.text)) continue;
    buffer_format(&page, "<div id=d%llu class='a b'>text &amp; more<b>bold</b><custom-%llu x%llu=y>",
                  (unsigned long long)part, (unsigned long long)part, (unsigned long long)part);
    if (part % 4 == 0) buffer_add(&page, made.text.bytes, made.text.length);
    buffer_format(&page, "\"'>-->]]></script></script></title></textarea></style></xmp></iframe></noframes></noembed>");
    buffer_format(&page, "</noscript></svg></math></table></select></div><p>line<ul><li>one<li>two</ul>\n");
  }
  generate_free(&made);
}

static size_t expect(const late_case *c) {
  hpar_options options = c->options;
  options.mode = HPAR_MODE_SEQUENTIAL;
  CHECK_EQ(hpar_parse(sequential_parser, &options, page.bytes, page.length, sequential, NULL), HPAR_OK);
  CHECK(compare_dump(sequential, &expected));
  return hpar_parse_error_count(sequential_parser);
}

static hpar_status parse_as(const late_case *c, hpar_parser *parser, hpar_document *document, hpar_stats *stats) {
  hpar_options options = c->options;
  options.mode = HPAR_MODE_PARALLEL;
  if (!c->feed) return hpar_parse(parser, &options, page.bytes, page.length, document, stats);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (size_t at = 0; at < page.length; at += c->feed) {
    size_t n = page.length - at < c->feed ? page.length - at : c->feed;
    CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, n), HPAR_OK);
  }
  return hpar_parser_finish(parser, stats);
}

static bool is_expected(const hpar_document *document) {
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  return CHECK(!wrong) && CHECK(compare_dump(document, &got)) && CHECK_EQ(got.length, expected.length) &&
         CHECK(!memcmp(got.bytes, expected.bytes, got.length));
}

static void follow(follow_up what, const late_case *c, hpar_parser **parser, hpar_document **document) {
  hpar_document *other;
  CHECK_EQ(hpar_document_create(&other), HPAR_OK);
  switch (what) {
    case CLEAR_DOCUMENT: /* waits, so that the next parse may use other bytes */
      hpar_document_clear(*document);
      CHECK_EQ(hpar_node_first_child(*document, hpar_document_root(*document)), HPAR_NO_NODE);
      break;
    case PARSE_INTO_DOCUMENT:
      CHECK_EQ(parse_as(c, *parser, *document, NULL), HPAR_OK);
      is_expected(*document);
      break;
    case PARSE_OTHER:
      CHECK_EQ(hpar_parse(*parser, &c->options, page.bytes, page.length, other, NULL), HPAR_OK);
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

/* Parses once with a stop after `calls` calls of the hook. Returns whether a thread was stopped. */
static bool parse_with_stop(const late_case *c, long calls, follow_up what, size_t errors, hpar_parser **parser,
                            hpar_document **document) {
  hpar_stats stats = {HPAR_STATS_INIT};
  atomic_store(&calls_before_stop, calls);
  bool fine = CHECK_EQ(parse_as(c, *parser, *document, &stats), HPAR_OK);
  fine = is_expected(*document) && fine;
  fine = CHECK_EQ(hpar_parse_error_count(*parser), errors) && fine;
  bool stopped = atomic_exchange(&calls_before_stop, LONG_MIN / 2) < 0;
  rescues += stats.chunks_rescued;
  stops += stopped;
  pthread_t releaser;
  if (stopped) CHECK_EQ(pthread_create(&releaser, NULL, release_soon, NULL), 0);
  follow(what, c, parser, document);
  if (stopped) pthread_join(releaser, NULL);
  if (!fine) printf("  %s, stop after %ld calls, then %d\n", c->name, calls, (int)what);
  return stopped;
}

static void every_case(unsigned places) {
  random_state random = {7};
  hpar_parser *parser;
  hpar_document *document;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  for (unsigned i = 0; i < CASES; i++) {
    fill_page(i + 1);
    size_t errors = expect(&cases[i]);
    for (unsigned k = 0; k < places; k++)
      parse_with_stop(&cases[i], (long)random_below(&random, 1u << random_below(&random, 10)),
                      (follow_up)(k % FOLLOW_UPS), errors, &parser, &document);
  }
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
}

/* The automatic mode uses one thread for 16 parses after a rescue, and then the pool again. */
static void automatic_mode(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2, .parallel.wait = HPAR_WAIT_SPIN};
  hpar_stats stats = {HPAR_STATS_INIT};
  random_state random = {11};
  hpar_document *document;
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  fill_page(1);
  for (unsigned try = 0; try < ALL_PLACES && !stats.chunks_rescued; try++) {
    hpar_parser *parser;
    CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
    options.mode = HPAR_MODE_PARALLEL; /* starts the threads */
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    hpar_document_clear(document);
    options.mode = HPAR_MODE_AUTO;
    atomic_store(&calls_before_stop, (long)random_below(&random, 500));
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    if (atomic_exchange(&calls_before_stop, LONG_MIN / 2) < 0) sem_post(&release);
    hpar_document_clear(document);
    for (unsigned i = 0; stats.chunks_rescued && i <= 16; i++) {
      hpar_stats next = {HPAR_STATS_INIT};
      CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &next), HPAR_OK);
      CHECK_STRING(next.mode, i < 16 ? "sequential" : "parallel");
    }
    hpar_document_clear(document);
    hpar_parser_destroy(parser);
  }
  CHECK(stats.chunks_rescued > 0);
  hpar_document_destroy(document);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  main_thread = pthread_self();
  sem_init(&release, 0, 0);
  atomic_store(&calls_before_stop, LONG_MIN / 2);
  CHECK_EQ(hpar_parser_create(&sequential_parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&sequential), HPAR_OK);
  hp_worker_hook_progress(stop_here);
  unsigned places = compare_full() ? ALL_PLACES : PLACES * compare_scale() / 100;
  every_case(places < LEAST_PLACES ? LEAST_PLACES : places);
  printf("%lu threads stopped, %lu chunks rescued\n", stops, rescues);
  CHECK(stops > 0);
  automatic_mode();
  CHECK_EQ(atomic_load(&timeouts), 0);
  hpar_document_destroy(sequential);
  hpar_parser_destroy(sequential_parser);
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
