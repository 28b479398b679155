/* Checks the resources that a parse reports: the confirmed ones are the same in each mode, for each
 * cut and each way to feed; a found one is confirmed or cancelled once; a restart cancels all.
 *
 *   HPAR_TEST_SCALE=P   percent of the 300 documents (100) */

#include "check.h"
#include "support/executors.h"
#include "support/mode.h"
#include "support/random.h"
#include "support/resource_events.h"
#include "support/shared.h"

#include <hpar/study.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static const char *encoding; /* of the pages */

static hpar_study study; /* of the options below */

static hpar_options options_of(resource_events *e, int mode) {
  hpar_options options = {HPAR_OPTIONS_INIT, .threads = 3, .encoding = encoding,
                          .resources = {.callback = resource_events_receive, .context = e, .in_order = e->in_order}};
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

static unsigned scan_found, scan_cancelled, restarts;

static const char *const pieces[] = {"<img src=%u>",
                                     "<img src=%u>",
                                     "<img src='a&amp;%u' loading=lazy>",
                                     "<picture><source srcset=%u>",
                                     "</picture>",
                                     "<template>",
                                     "</template>",
                                     "<div><template shadowrootmode=open>",
                                     "<div>",
                                     "</div>",
                                     "<table>",
                                     "<tr>",
                                     "<td>",
                                     "</td>",
                                     "</table>",
                                     "<b>",
                                     "</b>",
                                     "<svg>",
                                     "</svg>",
                                     "<style>@import '%u';",
                                     "</style>",
                                     "<style>@import url(%u)</style>",
                                     "<script src=%u></script>",
                                     "<script src=%u nonce=n></script>",
                                     "<script src=%u>",
                                     "</script>",
                                     "<script>",
                                     "<!--",
                                     "-->",
                                     "<link rel=stylesheet href=%u>",
                                     "<p>",
                                     "</p>",
                                     " text &amp; ",
                                     "<textarea>",
                                     "</textarea>",
                                     "<select>",
                                     "<option>",
                                     "</select>",
                                     "<input type=image src=%u>",
                                     "<video poster=%u>",
                                     "<meta name=viewport content=%u>",
                                     "<base href='%u'>",
                                     "<math>",
                                     "</math>",
                                     "<image xlink:href=%u>",
                                     "<a title=\"",
                                     "\">",
                                     "<noscript>",
                                     "</noscript>",
                                     "<li>",
                                     "</body>",
                                     "<svg><style>@import '%u';",
                                     "<![CDATA[@import '%u';]]>",
                                     "@import '%u';",
                                     "</x>",
                                     "</br>",
                                     "<!doctype x>",
                                     "<iframe src=%u>",
                                     "</iframe>",
                                     "<object data=%u>",
                                     "</object>",
                                     "<embed src=%u>",
                                     "<audio src=%u>",
                                     "<audio>",
                                     "<video crossorigin>",
                                     "</audio>",
                                     "</video>",
                                     "<source src=%u>",
                                     "<source src=%u srcset=x type=video/x>",
                                     "<use href=%u>",
                                     "<use xlink:href='#%u'/>",
                                     "<feImage xlink:href='&#3%u;'/>",
                                     "<desc>",
                                     "<script type=module>import './%u.js';",
                                     "<script type=module>import '%u'</script>",
                                     "export * from '%u';",
                                     "<script type=importmap>{%u}",
                                     "<body background=%u>",
                                     "<body id=%u>",
                                     "<html background=%u>",
                                     "<x-own background=%u>",
                                     "<br>",
                                     "<td >",
                                     "<table background=%u>",
                                     "<tbody background=%u>",
                                     "<tr background=%u>",
                                     "<tr class=x>",
                                     "<td background=%u>",
                                     "<td class=x>",
                                     "<th id=x background='&lt;%u'>",
                                     "</tr>",
                                     "<track src=%u>",
                                     "<frameset><frame src=%u>",
                                     "<link rel='alternate stylesheet prefetch' title=x href=%u>",
                                     "<meta http-equiv=refresh content='0;url=%u'>"};

/* Some pages are stated to be UTF-8, but have a byte that is not. A parallel parse that finds it
 * begins again. */
static void generate_page(random_state *random, buffer *html) {
  unsigned invalid = (unsigned)random_below(random, 120);
  buffer_clear(html);
  encoding = random_chance(random, 60) ? "utf-8" : NULL;
  if (random_chance(random, 50)) buffer_text(html, "<!doctype html><head>");
  for (unsigned i = 0; i < 40; i++) {
    const char *piece = RANDOM_OF(random, pieces);
    const char *number = strstr(piece, "%u");
    if (i == invalid) buffer_text(html, "\xff");
    if (number)
      buffer_format(html, "%.*s%u%s", (int)(number - piece), piece, i, number + 2);
    else
      buffer_text(html, piece);
  }
}

/* Scans have the list of the sequential parse, too. */
static void check_scans(resource_events *e, const hpar_options *given, const buffer *expected, const buffer *html) {
  hpar_options options = *given;
  options.study = NULL;
  options.resources.in_order = e->in_order = false;
  unsigned runs = 0;
  options.parallel.run = run_threads;
  options.parallel.run_context = &runs;
  for (unsigned threads = 1; threads <= 5; threads++) {
    options.threads = threads;
    options.mode = threads == 1 || !HPAR_PARALLEL ? HPAR_MODE_SEQUENTIAL : HPAR_MODE_PARALLEL;
    options.parallel.executor = threads == 4   ? HPAR_EXECUTOR_THREADS
                                : threads == 5 ? HPAR_EXECUTOR_CALLER
                                               : HPAR_EXECUTOR_INLINE;
    if (threads == 1 || !HPAR_PARALLEL) options.parallel.executor = HPAR_EXECUTOR_THREADS;
    resource_events_reset(e);
    CHECK_EQ(hpar_scan_resources(parser, &options, html->bytes, html->length), HPAR_OK);
    resource_events_check(e, expected, html, "scanned with threads", threads);
    scan_found += e->found;
    scan_cancelled += e->cancelled;
  }
}

static hpar_status count_resource(const hpar_resource *r, void *context) {
  (void)r;
  ++*(unsigned *)context;
  return HPAR_OK;
}

/* The finished tree has the confirmed resources, unless a frameset has removed the body, or the
 * template of a shadow root has got another parent. */
static void check_walk(const resource_events *e, const buffer *html) {
  unsigned walked = 0;
  if (html->length && (strstr(html->bytes, "<frameset") || strstr(html->bytes, "shadowrootmode"))) return;
  CHECK_EQ(hpar_resources(document, hpar_document_root(document), count_resource, &walked), HPAR_OK);
  if (!CHECK_EQ(walked, e->confirmations - e->cancelled)) printf("  %.*s\n", (int)html->length, html->bytes);
}

static void check_page(resource_events *e, const buffer *html, random_state *random) {
  static const size_t sizes[] = {1, 7, 100};
  buffer expected = {0};
  hpar_options options = options_of(e, HPAR_MODE_SEQUENTIAL);
  parse(e, &options, html);
  buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
  CHECK_EQ(e->found + e->cancelled, 0);
  check_walk(e, html);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    feed(e, &options, html, sizes[i], random);
    resource_events_check(e, &expected, html, "fed", sizes[i]);
  }
  options.source_offsets = true;
  parse(e, &options, html);
  resource_events_check(e, &expected, html, "with source offsets", 0);
  check_scans(e, &options, &expected, html);
#if HPAR_PARALLEL
  options = options_of(e, MODE_PIPELINED);
  parse(e, &options, html);
  resource_events_check(e, &expected, html, "pipelined", 0);
  options = options_of(e, HPAR_MODE_PARALLEL);
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  for (uint64_t cut = 1; cut < html->length; cut++) {
    uint64_t cuts[] = {cut, cut + 1 + random_below(random, 40)};
    study.cuts = cuts;
    study.cut_count = cut % 4 > 1 && cuts[1] < html->length ? 2 : 1;
    study.checkpoint_bytes = cut % 3 ? 0 : 1;
    study.merge = cut % 5 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE;
    options.resources.in_order = e->in_order = cut % 2;
    parse(e, &options, html);
    resource_events_check(e, &expected, html, "inline", cut);
    restarts += e->confirmations > e->closed.count;
  }
  e->in_order = random_chance(random, 50);
  options = options_of(e, HPAR_MODE_PARALLEL);
  options.parallel.chunk_size = 40;
  for (size_t i = 0; hpar_strategy_name(i); i++) {
    study.strategy = hpar_strategy_name(i);
    parse(e, &options, html);
    resource_events_check(e, &expected, html, study.strategy, 0);
  }
  study.strategy = NULL;
  feed(e, &options, html, 50, random);
  resource_events_check(e, &expected, html, "fed in parallel", 0);
  e->in_order = false;
#endif
  buffer_free(&expected);
}

/* Resources together with other options: each mode has the list of the sequential parse. */
static void check_combinations(resource_events *e, const buffer *html, random_state *random) {
  static const int modes[] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, MODE_PIPELINED};
  static const char *const fragments[] = {NULL, "div", "template", "svg path", "table"};
  hpar_options with = options_of(e, HPAR_MODE_SEQUENTIAL);
  with.fragment = RANDOM_OF(random, fragments);
  if (random_chance(random, 30)) with.encoding = "gbk";
  with.scripting = random_chance(random, 50);
  with.copy_input = random_chance(random, 50);
  with.source_offsets = random_chance(random, 30);
  with.max_errors = random_chance(random, 30) ? 100 : 0;
  with.value_decoding = random_chance(random, 30) ? HPAR_VALUES_AT_ONCE : HPAR_VALUES_ON_ACCESS;
  study.inspect = random_chance(random, 30);
  buffer expected = {0};
  for (size_t i = 0; i < (HPAR_PARALLEL ? 3 : 1); i++) {
    mode_choose(&with, &study, modes[i]);
    with.resources.in_order = e->in_order = random_chance(random, 50);
    with.parallel.chunk_size = 1 + random_below(random, 200);
    parse(e, &with, html);
    if (!i) buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
    resource_events_check(e, &expected, html, with.fragment ? with.fragment : "document", with.parallel.chunk_size);
  }
  check_scans(e, &with, &expected, html);
  e->in_order = false;
  buffer_free(&expected);
}

static void generated(resource_events *e) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  unsigned count = 300 * (scale ? (unsigned)strtoul(scale, NULL, 10) : 100) / 100 + 1;
  random_state random = {1};
  buffer html = {0};
  for (unsigned i = 0; i < count && !check_failed; i++) {
    generate_page(&random, &html);
    check_page(e, &html, &random);
    for (int k = 0; k < 10; k++) check_combinations(e, &html, &random);
  }
  CHECK(!HPAR_PARALLEL || count < 20 || (scan_found && scan_cancelled && restarts));
  encoding = NULL;
  buffer_free(&html);
}

#if HPAR_PARALLEL
/* Pages in which each scout has several parts, and goes on from one to the next. */
static void long_scans(resource_events *e) {
  enum { BYTES = 96 << 10 };
  random_state random = {2};
  buffer html = {0}, page = {0}, expected = {0};
  for (int i = 0; i < 3; i++) {
    buffer_clear(&html);
    do {
      generate_page(&random, &page);
      buffer_add(&html, page.bytes, page.length);
    } while (html.length < BYTES);
    encoding = NULL;
    const hpar_options options = options_of(e, HPAR_MODE_SEQUENTIAL);
    parse(e, &options, &html);
    buffer_clear(&expected);
    buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
    check_scans(e, &options, &expected, &html);
  }
  buffer_free(&html);
  buffer_free(&page);
  buffer_free(&expected);
}

/* The exact builder passes the second cut and confirms an img in a picture. The worker has found
 * that img alone, so the parse must not cancel it then. */
static void passed_image(resource_events *e) {
  buffer html = {0}, expected = {0};
  buffer_text(&html,
              "<tr><p><picture><source srcset=2><svg><video poster=4><script src=5>@import '6';<img "
              "src=7><style>@import '8';<select></math>\"><textarea><textarea><img src=14><div></x><img "
              "src=17><![CDATA[@import '18';]]><svg><style>@import '19';</select><![CDATA[@import '21';]]><tr><input "
              "type=image src=23><div></br><svg></svg></noscript><p><table></textarea><textarea><math><script "
              "src=34></script><table><!doctype x>\"><textarea><li>");
  hpar_options options = options_of(e, HPAR_MODE_SEQUENTIAL);
  parse(e, &options, &html);
  buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
  e->in_order = true;
  options = options_of(e, HPAR_MODE_PARALLEL);
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  study.checkpoint_bytes = 1;
  for (uint64_t cuts[] = {39, 0}; cuts[0] < 60; cuts[0]++) {
    for (cuts[1] = cuts[0] + 1; cuts[1] < html.length; cuts[1]++) {
      study.cuts = cuts;
      study.cut_count = 2;
      parse(e, &options, &html);
      resource_events_check(e, &expected, &html, "two cuts", cuts[0]);
    }
  }
  e->in_order = false;
  buffer_free(&expected);
  buffer_free(&html);
}
#endif

/* In SVG, tags that the tree builder ignores do not end the text of a style element. */
static void foreign_sheets(resource_events *e) {
  static const struct {
    const char *html;
    unsigned imports;
  } pages[] = {
      {"<svg><style>@import 'a';</x>@import 'b';</style></svg>", 2},
      {"<svg><style></x>@im</y>port 'a</z>b';</style>@import 'c'", 1},
      {"<svg><style>@import 'a';</x><!doctype x></y>@import 'b';<!--x-->@import 'c'", 2},
      {"<svg><style>@import 'a';<!-- -->@import 'b'", 1},
      {"<svg><style>@import 'a';</ x>@import 'b'", 1},
      {"<svg><style>@import 'a';<?x?>@import 'b'", 1},
      {"<svg><style>@import 'a';</></x></>@import 'b'", 2},
      {"<svg><style><!-- -->@import 'a'", 0},
      {"<svg><style><![CDATA[]]></x><![CDATA[@import 'a';</y>]]></z>@import 'b'", 1},
      {"<svg><style><![CDATA[@import 'a';]]></x><![CDATA[@import 'b';</y>]]></z>@import 'c'", 2},
      {"<svg><style>@import 'a';</x><g></g>@import 'b'", 1},
      {"<svg><style>@import 'a';<g/>@import 'b'", 1},
      {"<svg><style><g/>@import 'a'", 0},
      {"<svg><style>@import 'a';<p>@import 'b'</p>@import 'c'", 1},
      {"<svg><style>@import 'a';</p>@import 'b'", 1},
      {"<svg><style>@import 'a';</br>@import 'b'", 1},
      {"<svg><style>@import 'a';</svg>@import 'b'", 1},
      {"<svg><style/>@import 'a'", 0},
      {"<svg><style><style/>@import 'a'", 0},
      {"<svg><style>@import 'a';<style>@import 'b';</x>@import 'c';</style>@import 'd'", 3},
      {"<form><svg><style>@import 'a';</form>@import 'b';</body>@import 'c';</html>@import 'd'", 4},
      {"<b><svg><style>@import 'a';</b>@import 'b'", 1},
      {"<b><svg><desc><svg><style>@import 'a';</b>@import 'b'", 2},
      {"<svg><style>@import 'a';<foreignObject><b><svg><desc><svg><style>@import 'b';</style></b>@import 'c'", 2},
      {"<svg><style>@import 'a';</x><image href=b></style><image href=c>", 1},
      {"<svg><style>@import 'a';\r</x>\n@import 'b&amp</x>;c'", 2},
      {"<table><svg><style>@import 'a';</table>@import 'b'", 1},
      {"<table><svg><style>@import 'a';</td>@import 'b'", 2},
      {"<svg><title><style>@import 'a';</x></style><svg><style>@import 'b';</x>@import 'c'", 3},
      {"<math><style>@import 'a';</x>@import 'b'", 0},
      {"<math><mi><svg><style>@import 'a';</mi>@import 'b'", 1},
      {"<template><svg><style>@import 'a';</x>@import 'b'</template><svg><style>@import 'c';</x>@import 'd'", 2},
      {"<svg><style>@import 'a';</x>@import 'b", 2},
      {"<style>@import 'a';</x>@import 'b'</style>", 1},
      {"<p><style>@import 'a';@import 'b';@import 'c'</style>", 3},
  };
  random_state random = {1};
  buffer html = {0};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    buffer_clear(&html);
    buffer_text(&html, pages[i].html);
    hpar_options options = options_of(e, HPAR_MODE_SEQUENTIAL);
    parse(e, &options, &html);
    unsigned imports = 0;
    for (const char *at = e->confirmed.bytes, *end = at + e->confirmed.length;
         at < end && (at = memmem(at, (size_t)(end - at), "import ", 7)); at += 7)
      imports++;
    if (!CHECK_EQ(imports, pages[i].imports))
      printf("  %s\n%.*s", html.bytes, (int)e->confirmed.length, e->confirmed.bytes);
    check_page(e, &html, &random);
  }
  static const char nulls[] = "<svg><style>\0@import 'a\0';</x>\0@import '\0b';<![CDATA[\0@import 'c\0';]]>";
  buffer_clear(&html);
  buffer_add(&html, nulls, sizeof nulls - 1);
  check_page(e, &html, &random);
  buffer_free(&html);
}

static void receive_line(const hpar_resource *r, hpar_resource_event event, void *context) {
  static const char *const names[] = {"found", "confirmed", "cancelled"};
  CHECK_EQ(r->thread, 0); /* the calling one */
  buffer_format(context, "%s %s %.*s at %u\n", names[event], hpar_resource_kind_name(r->kind), (int)r->url.length,
                r->url.bytes, (unsigned)r->offset);
}

static void check_lines(const hpar_options *options, const char *html, const char *expected) {
  buffer lines = {0};
  hpar_options own = *options;
  own.resources.callback = receive_line;
  own.resources.context = &lines;
  hpar_parse(parser, &own, html, strlen(html), document, NULL);
  CHECK_BYTES(lines.bytes, lines.length, expected, strlen(expected));
  buffer_free(&lines);
}

/* The order of events, offsets and restarts. */
static void sequences(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  check_lines(&options, "\xef\xbb\xbf<p><img src=1><style>@import '2'</style>x<img src=3>",
              "confirmed image 1 at 6\nconfirmed import 2 at 17\nconfirmed image 3 at 44\n");
  check_lines(&options, "<template><img src=1></template><style>@import '2'", "confirmed import 2 at 32\n");
  buffer late = {0};
  buffer_text(&late, "<img src=1>");
  for (int i = 0; i < 400; i++) buffer_text(&late, "<p>x</p>");
  buffer_text(&late, "\xe9<meta charset=koi8-r><img src=2>");
  buffer expected = {0};
  size_t second = late.length - strlen("<img src=2>");
  buffer_format(&expected,
                "confirmed image 1 at 0\ncancelled image 1 at 0\nconfirmed image 1 at 0\nconfirmed image 2 at %zu\n",
                second);
  check_lines(&options, late.bytes, expected.bytes);
  buffer_free(&late);
  buffer_free(&expected);
#if HPAR_PARALLEL
  uint64_t cut = 18;
  study = (hpar_study){HPAR_STUDY_INIT};
  options.study = &study;
  options.mode = HPAR_MODE_PARALLEL;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  study.cuts = &cut;
  study.cut_count = 1;
  check_lines(&options, "<p><img src=1></p><p><img src=2></p><img src=3>",
              "found image 2 at 21\nfound image 3 at 36\nconfirmed image 1 at 3\nconfirmed image 2 at 21\n"
              "confirmed image 3 at 36\n");
  static const uint64_t cuts[] = {18, 36};
  study.cuts = cuts;
  study.cut_count = 2;
  check_lines(&options, "<p><img src=1></p><p><img src=2></p><img src=3>",
              "found image 3 at 36\nfound image 2 at 21\nconfirmed image 1 at 3\nconfirmed image 2 at 21\n"
              "confirmed image 3 at 36\n");
  options.resources.in_order = true;
  check_lines(&options, "<p><img src=1></p><p><img src=2></p><img src=3>",
              "confirmed image 1 at 3\nfound image 2 at 21\nfound image 3 at 36\nconfirmed image 2 at 21\n"
              "confirmed image 3 at 36\n");
  options.resources.in_order = false;
  /* The URLs of an import with escapes differ between the namespaces, and are equally long. */
  static const char style[] =
      "<!doctype html><body><svg><g>aaaaaaaaabbbb<style>@import \"\\61 bc&#92;\"; xy\";</style></g></svg><p>x";
  static const uint64_t in_svg[] = {38};
  study.cuts = in_svg;
  study.cut_count = 1;
  study.predictor = "data";
  check_lines(&options, style,
              "found import abc&#92; at 42\ncancelled import abc&#92; at 42\nconfirmed import abc\"; xy at 42\n");
  study.predictor = NULL;
  study.cuts = &cut;
  check_lines(&options, "<template>xxxxx<p><img src=1></p><img src=3>",
              "found image 1 at 18\nfound image 3 at 33\ncancelled image 1 at 18\ncancelled image 3 at 33\n");
#endif
}

/* Templates in templates are shadow roots up to a depth of 16. */
static void shadow_roots(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  buffer html = {0}, expected = {0};
  for (int i = 0; i < 18; i++) {
    buffer_text(&html, "<div><template shadowrootmode=open>");
    if (i < 16) buffer_format(&expected, "confirmed image %d at %zu\n", i, html.length);
    buffer_format(&html, "<img src=%d>", i);
  }
  check_lines(&options, html.bytes, expected.bytes);
  buffer_free(&html);
  buffer_free(&expected);
}

/* In memory, a script's attributes precede its node, which begins with the number of its parent. No
 * such number is the name of a further attribute. */
static void numbered_parents(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  for (size_t i = 0; i < 120; i++) {
    buffer html = {0}, expected = {0};
    for (size_t k = 0; k < i; k++) buffer_text(&html, "<br>");
    buffer_text(&html, "<div>");
    buffer_format(&expected, "confirmed module-import 1 at %zu\n", html.length);
    buffer_text(&html, "<script type=module>import '1'</script>");
    check_lines(&options, html.bytes, expected.bytes);
    buffer_free(&html);
    buffer_free(&expected);
  }
}

/* A fed parse reports a resource as soon as the tag after it has come. */
static void prompt_events(void) {
  buffer lines = {0};
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8",
                                .resources = {.callback = receive_line, .context = &lines}};
  static const char html[] = "<style>@import '1'</style><img src=2><p>x",
                    expected[] = "confirmed import 1 at 0\nconfirmed image 2 at 26\n";
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, html, strlen(html)), HPAR_OK);
  CHECK_BYTES(lines.bytes, lines.length, expected, strlen(expected));
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
  buffer_free(&lines);
}

/* A late meta element declares the encoding that the parse has assumed. After that feed, bytes that
 * are invalid in it begin no other parse. */
static void agreed_encoding(void) {
  buffer lines = {0}, html = {0}, expected = {0};
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL,
                                .resources = {.callback = receive_line, .context = &lines}};
  while (html.length < 1100) buffer_text(&html, "<!-- the prescan takes 1024 bytes -->");
  buffer_text(&html, "<meta charset=utf-8>");
  buffer_format(&expected, "confirmed image 1 at %zu\n", html.length);
  buffer_text(&html, "<img src=1>");
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, html.bytes, html.length), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, "\xFF<p>", 4), HPAR_OK);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
  CHECK_BYTES(lines.bytes, lines.length, expected.bytes, expected.length);
  buffer_free(&lines);
  buffer_free(&html);
  buffer_free(&expected);
}

static void refusals(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .resources = {.callback = receive_line}};
  hpar_input input = {HPAR_INPUT_INIT, .bytes = "x", .length = 1};
  CHECK_EQ(hpar_parse_many(parser, &options, &input, 1, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_options.resources.callback"));
  CHECK_EQ(hpar_scan_resources(parser, &options, "\xff\xfe", 2), HPAR_ERROR_UNSUPPORTED);
  CHECK_EQ(hpar_scan_resources(parser, &options, NULL, 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_scan_resources(NULL, &options, "x", 1), HPAR_ERROR_ARGUMENT);
  options.resources.callback = NULL;
  CHECK_EQ(hpar_scan_resources(parser, &options, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_options.resources.callback"));
  options.resources.reserved[0] = 1;
  CHECK_EQ(hpar_parse(parser, &options, "x", 1, document, NULL), HPAR_ERROR_ARGUMENT);
}

/* Limits: what was reported before the end of the parse stays confirmed. */
static void limits(resource_events *e) {
  buffer html = {0};
  for (int i = 0; i < 3000; i++) buffer_format(&html, "<p><img src=%d>text</p>", i);
  static const int modes[] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, MODE_PIPELINED};
  buffer expected = {0};
  for (size_t i = 0; i < (HPAR_PARALLEL ? 3 : 1); i++) {
    hpar_options options = options_of(e, modes[i]);
    options.limits.nodes = 4000;
    resource_events_reset(e);
    CHECK_EQ(hpar_parse(parser, &options, html.bytes, html.length, document, NULL), HPAR_LIMIT_NODES);
    if (!i) buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
    resource_events_check(e, &expected, &expected, "limited", i);
  }
  CHECK(expected.length > 10000);
  buffer_free(&expected);
  buffer_free(&html);
}

/* Real pages: threads, and the list of the finished tree. */
static int pages(resource_events *e) {
  char directory[4096];
  shared_list list;
  if (!shared_path(directory, sizeof directory, "corpus/paper")) return CHECK_SKIPPED;
  if (!CHECK(shared_files(directory, ".html", &list))) return check_report();
  random_state random = {1};
  for (size_t i = 0; i < list.count; i++) {
    buffer html = {0}, expected = {0};
    size_t length;
    char *bytes = shared_read(list.paths[i], &length);
    if (!CHECK(bytes)) break;
    buffer_add(&html, bytes, length);
    free(bytes);
    hpar_options options = options_of(e, HPAR_MODE_SEQUENTIAL);
    parse(e, &options, &html);
    buffer_add(&expected, e->confirmed.bytes, e->confirmed.length);
    unsigned walked = 0;
    CHECK_EQ(hpar_resources(document, hpar_document_root(document), count_resource, &walked), HPAR_OK);
    CHECK_EQ(e->confirmations - e->cancelled, walked);
    check_scans(e, &options, &expected, &html);
#if HPAR_PARALLEL
    static const size_t sizes[] = {0, 2000, 16000, 4000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      e->in_order = k % 2;
      options = options_of(e, HPAR_MODE_PARALLEL);
      options.parallel.chunk_size = sizes[k];
      parse(e, &options, &html);
      resource_events_check(e, &expected, &expected, list.paths[i], sizes[k]);
    }
    e->in_order = false;
#endif
    buffer_free(&html);
    buffer_free(&expected);
  }
  (void)random;
  shared_list_free(&list);
  return check_report();
}

int main(int count, char **arguments) {
  int status;
  resource_events e;
  resource_events_init(&e);
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  if (check_part(count, arguments, "pages")) {
    status = pages(&e);
  } else {
    sequences();
    shadow_roots();
    prompt_events();
    agreed_encoding();
    numbered_parents();
    refusals();
    limits(&e);
    foreign_sheets(&e);
#if HPAR_PARALLEL
    passed_image(&e);
    long_scans(&e);
#endif
    generated(&e);
    status = check_report();
  }
  resource_events_free(&e);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status;
}
