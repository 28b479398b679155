/* Resources of pages with scripts. The toy engine writes tags and changes the tree. The confirmed
 * resources are those of the sequential parse in each mode, for each cut and each way to feed. Each
 * found resource is confirmed or cancelled once.
 *
 *   HPAR_TEST_SEED=N    first seed (1)
 *   HPAR_TEST_SCALE=P   percent of the 300 pages (100) */

#include "check.h"
#include "support/compare.h"
#include "support/mode.h"
#include "support/random.h"
#include "support/resource_events.h"
#include "support/toy.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES = 300 };

static hpar_parser *parser;
static hpar_document *document;

/*** pages ***/

static const char *const pieces[] = {"<img src=%u>",
                                     "<img src=%u>",
                                     "<script src=%u></script>",
                                     "<link rel=stylesheet href=%u>",
                                     "<picture><source srcset=%u>",
                                     "</picture>",
                                     "<template>",
                                     "</template>",
                                     "<div><template shadowrootmode=open>",
                                     "<svg>",
                                     "</svg>",
                                     "<style>@import 'i%u';",
                                     "</style>",
                                     "<table><tr><td>",
                                     "</table>",
                                     "<!--",
                                     "-->",
                                     "<p>",
                                     "</p>",
                                     " text &amp; ",
                                     "<textarea>",
                                     "</textarea>",
                                     "<input type=image src=%u>",
                                     "<video poster=%u>",
                                     "<image xlink:href=%u>",
                                     "<a title=\"",
                                     "\">",
                                     "<li>",
                                     "<b>",
                                     "</b>"};

static void add_piece(random_state *random, buffer *to, unsigned number) {
  const char *piece = RANDOM_OF(random, pieces), *place = strstr(piece, "%u");
  if (place)
    buffer_format(to, "%.*s%u%s", (int)(place - piece), piece, number, place + 2);
  else
    buffer_text(to, piece);
}

/* Adds a script that writes, or, unless the page `only_writes`, changes the tree. */
static void add_script(random_state *random, buffer *to, bool only_writes, unsigned number) {
  static const char *const changes[] = {"a %u src changed\n", "r %u\n", "m %u 3\n", "h %u \\limg src=inner>\n"};
  buffer text = {0};
  buffer_text(to, "<script>\n");
  for (size_t i = 1 + random_below(random, 2); i; i--) {
    if (!only_writes && random_chance(random, 40)) {
      const char *change = RANDOM_OF(random, changes), *place = strstr(change, "%u");
      buffer_format(to, "%.*s%u%s", (int)(place - change), change, (unsigned)random_below(random, 30), place + 2);
      continue;
    }
    buffer_clear(&text);
    for (size_t k = 1 + random_below(random, 3); k; k--) add_piece(random, &text, 1000 + number);
    buffer_text(to, "w ");
    toy_escape(to, text.bytes, text.length);
    buffer_text(to, "\n");
  }
  buffer_text(to, "</script>");
  buffer_free(&text);
}

static void generate_page(random_state *random, buffer *html, bool only_writes) {
  buffer_clear(html);
  if (random_chance(random, 50)) buffer_text(html, "<!doctype html><body>");
  for (unsigned i = 0; i < 30; i++)
    if (random_chance(random, 20))
      add_script(random, html, only_writes, i);
    else
      add_piece(random, html, i);
}

/*** parses ***/

static hpar_study study; /* of the options below */

static hpar_options options_of(resource_events *e, toy *of, int mode) {
  *of = (toy){.max_scripts = 60};
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 3, .encoding = "utf-8",
                          .script = {.callback = toy_run, .context = of, .max_written = 20000},
                          .resources = {.callback = resource_events_receive, .context = e}};
  study = (hpar_study){HPAR_STUDY_INIT};
  mode_choose(&options, &study, mode);
  return options;
}

static void parse(resource_events *e, const hpar_options *options, const buffer *html) {
  resource_events_reset(e);
  CHECK_EQ(hpar_parse(parser, options, html->bytes, html->length, document, NULL), HPAR_OK);
}

static void feed(resource_events *e, const hpar_options *options, const buffer *html, size_t most,
                 random_state *random) {
  CHECK_EQ(resource_events_feed(e, parser, options, document, html, most, random), HPAR_OK);
}

static hpar_status count_resource(const hpar_resource *r, void *context) {
  (void)r;
  ++*(size_t *)context;
  return HPAR_OK;
}

static unsigned total_found, total_cancelled, total_written, total_found_fed, total_cancelled_fed;

static void check_page(resource_events *e, const buffer *html, random_state *random, bool only_writes) {
  buffer expected = {0};
  toy of;
  hpar_options options = options_of(e, &of, HPAR_MODE_SEQUENTIAL);
  parse(e, &options, html);
  buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
  CHECK_EQ(e->found + e->cancelled, 0);
  total_written += e->written;
  /* The tree builder may move a shadow root away from its host. */
  if (only_writes && !strstr(html->bytes, "shadowrootmode")) {
    size_t count = 0, confirmed = e->closed.count;
    CHECK_EQ(hpar_resources(document, hpar_document_root(document), count_resource, &count), HPAR_OK);
    if (!CHECK_EQ(count, confirmed)) printf("  %.*s\n", (int)html->length, html->bytes);
  }
  options = options_of(e, &of, HPAR_MODE_SEQUENTIAL);
  feed(e, &options, html, 7, random);
  resource_events_check(e, &expected, html, "fed", 7);
#if HPAR_PARALLEL
  for (uint64_t cut = 1 + random_below(random, 9); cut < html->length; cut += 9) {
    options = options_of(e, &of, HPAR_MODE_PARALLEL);
    options.parallel.executor = HPAR_EXECUTOR_INLINE;
    study.cuts = &cut;
    study.cut_count = 1;
    study.checkpoint_bytes = cut % 3 ? 0 : 1;
    options.resources.in_order = cut % 2;
    parse(e, &options, html);
    resource_events_check(e, &expected, html, "inline", cut);
    total_found += e->found;
    total_cancelled += e->cancelled;
  }
  static const size_t fed[] = {50, 50, 1000, 1};
  for (int i = 0; i < 4; i++) {
    options = options_of(e, &of, i ? HPAR_MODE_PARALLEL : MODE_PIPELINED);
    options.parallel.chunk_size = 1 + random_below(random, 100);
    options.resources.in_order = i == 1;
    parse(e, &options, html);
    resource_events_check(e, &expected, html, "threads", options.parallel.chunk_size);
    options = options_of(e, &of, i ? HPAR_MODE_PARALLEL : MODE_PIPELINED);
    options.parallel.chunk_size = 40;
    options.resources.in_order = i > 1;
    feed(e, &options, html, fed[i], random);
    resource_events_check(e, &expected, html, "fed to threads", fed[i]);
    total_found_fed += e->found;
    total_cancelled_fed += e->cancelled;
  }
#endif
  buffer_free(&expected);
}

static void generated(resource_events *e) {
  const char *given = getenv("HPAR_TEST_SEED");
  uint64_t first = given ? strtoull(given, NULL, 10) : 1;
  uint64_t count = (uint64_t)PAGES * compare_scale() / 100 + 1;
  buffer html = {0};
  for (uint64_t seed = first; seed < first + count && !check_failed; seed++) {
    random_state random = {seed};
    bool only_writes = random_chance(&random, 50);
    hpar_document_clear(document); /* waits for a late thread, which may still read the last page */
    generate_page(&random, &html, only_writes);
    check_page(e, &html, &random, only_writes);
    if (check_failed) printf("  seed %llu\n", (unsigned long long)seed);
  }
  printf("%u written, %u found, %u cancelled; fed: %u found, %u cancelled\n", total_written, total_found,
         total_cancelled, total_found_fed, total_cancelled_fed);
  CHECK(total_written);
  CHECK(!HPAR_PARALLEL || (total_found && total_cancelled));
  CHECK(!HPAR_PARALLEL || count < 30 || (total_found_fed && total_cancelled_fed));
  buffer_free(&html);
}

/*** sequences of events ***/

static void receive_line(const hpar_resource *r, hpar_resource_event event, void *context) {
  static const char *const names[] = {"found", "confirmed", "cancelled"};
  buffer_format(context, "%s %s %.*s at %u%s\n", names[event], hpar_resource_kind_name(r->kind), (int)r->url.length,
                r->url.bytes, (unsigned)r->offset, r->flags & HPAR_RESOURCE_WRITTEN ? ", written" : "");
}

static void check_lines(const char *html, uint64_t cut, const char *expected) {
  buffer lines = {0};
  toy of = {.max_scripts = 60};
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = cut ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL,
                          .encoding = "utf-8",
                          .parallel.executor = HPAR_EXECUTOR_INLINE,
                          .script = {.callback = toy_run, .context = &of},
                          .resources = {.callback = receive_line, .context = &lines}};
  const hpar_study cutting = {HPAR_STUDY_INIT, .cuts = cut ? &cut : NULL, .cut_count = cut != 0};
  options.study = &cutting;
  CHECK_EQ(hpar_parse(parser, &options, html, strlen(html), document, NULL), HPAR_OK);
  CHECK_BYTES(lines.bytes, lines.length, expected, strlen(expected));
  buffer_free(&lines);
}

static void sequences(void) {
  /* A resource is confirmed before a script can change it. */
  check_lines("<body><img src=1><script>\na 3 src 9</script><img src=2>", 0,
              "confirmed image 1 at 6\nconfirmed image 2 at 44\n");
  check_lines("<body><script>\nw \\limg src=1></script><img src=2>", 0,
              "confirmed image 1 at 38, written\nconfirmed image 2 at 38\n");
#if HPAR_PARALLEL
  /* A write adds a resource, and invalidates the others. */
  check_lines("<body><script>\nw \\limg src=1></script><img src=2><p><img src=3>", 38,
              "found image 2 at 38\nfound image 3 at 52\nconfirmed image 1 at 38, written\n"
              "confirmed image 2 at 38\nconfirmed image 3 at 52\n");
  check_lines("<body><script>\nw \\l!--</script><img src=2>--><img src=3>", 31,
              "found image 2 at 31\nfound image 3 at 45\ncancelled image 2 at 31\nconfirmed image 3 at 45\n");
  check_lines("<body><script>\nw \\ltemplate></script><img src=2><img src=3>", 37,
              "found image 2 at 37\nfound image 3 at 48\ncancelled image 2 at 37\ncancelled image 3 at 48\n");
#endif
}

int main(void) {
  resource_events e;
  resource_events_init(&e);
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  sequences();
  generated(&e);
  resource_events_free(&e);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
