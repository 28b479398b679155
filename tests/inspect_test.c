/* Checks the records of hpar_study.inspect and the names that `hpar explain` prints. For each
 * kind of wrong assumption, and each hazard that a document can cause, the test has the smallest
 * document that causes it. It also checks true states at arbitrary offsets, outcomes, and the
 * timeline. */

#include "base/memory.h"
#include "check.h"
#include "support/generate.h"
#include "support/mode.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static hpar_parser *parser;
static hpar_document *document;

typedef struct kind_case {
  const char *marked; /* the bar marks the cut */
  int assumption;     /* the wrong assumption, or HPAR_ASSUMPTIONS for */
  hpar_hazard hazard;
  const char *mode_predictor; /* NULL: the default */
} kind_case;

#define WRONG(kind, document) \
  { document, HPAR_ASSUME_##kind, HPAR_HAZARD_NONE, NULL }
#define HAZARD(kind, document) \
  { document, HPAR_ASSUMPTIONS, HPAR_HAZARD_##kind, NULL }

static const kind_case kinds[] = {
    WRONG(NO_P_IN_BUTTON_SCOPE, "<p>|<g><p>"),
    WRONG(NOT_IN_SCOPE, "<select>|<hr>"),
    /* The merger prepares the outer context before these two assumptions matter, so that they hold
     * then. It also finds end tags that may uncover another li. It has no information about the
     * elements around foreign content. */
    WRONG(NO_LI, "<li><svg><desc>|<li></li></svg><li>"),
    WRONG(NO_DD_DT, "<dd><svg><desc>|<dd></dd></svg><dd>"),
    WRONG(FORMATTING_CLEAN, "<p><b>|</form><form>x"),
    WRONG(NOAHS_ARK, "<b><b><b>|<b><table><object><table>"),
    WRONG(NO_FORMATTING, "<a>|<g><a>"),
    WRONG(NO_TEMPLATE, "<template><g>|<p><form>"),
    WRONG(FORM_NULL, "<form>|<p><form>"),
    WRONG(NO_SELECTEDCONTENT, "<selectedcontent>|<option><option>"),
    WRONG(TOP_NOT_IMPLIED, "<p>|<option>"),
    WRONG(NAMESPACE, "<i<svg>|x"),
    WRONG(MODE, "<table>|x"),
    WRONG(START_STATE, "x|x<p"),
    HAZARD(UNENDED_TEXT, "x|<xmp>"),
};

static hpar_study study; /* of the options that `inspecting` returns */

static hpar_options inspecting(uint64_t *cut, const kind_case *k) {
  /* The predictor "prescan" makes the tested assumption the only wrong one. */
  study = (hpar_study){HPAR_STUDY_INIT,        .cuts = cut,
                       .cut_count = 1,         .inspect = true,
                       .predictor = "prescan", .mode_predictor = k->mode_predictor};
  return (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 1,
                        .parallel.executor = HPAR_EXECUTOR_INLINE, .study = &study};
}

/* Removes the bar from the document and returns its offset. */
static size_t unmarked(const char *marked, char *text, uint64_t *cut) {
  const char *bar = strchr(marked, '|');
  *cut = (uint64_t)(bar - marked);
  memcpy(text, marked, *cut);
  strcpy(text + *cut, bar + 1);
  return strlen(text);
}

static bool failed_so(const hpar_chunk *c, const kind_case *k) {
  for (size_t i = 0; c && i < c->failure_count; i++) {
    const hpar_failure *f = &c->failures[i];
    if (f->hazard == k->hazard && (int)f->assumption == k->assumption)
      return f->begin >= c->begin && f->begin <= f->end;
  }
  return false;
}

static const char *name_of(const kind_case *k) {
  return k->hazard ? hpar_hazard_name(k->hazard) : hpar_assumption_name((hpar_assumption)k->assumption);
}

/* Checks that no shorter document causes it. */
static bool smallest(const kind_case *k, const char *text, size_t length, uint64_t cut) {
  for (size_t leave = 0; leave < length; leave++) {
    char less[64];
    memcpy(less, text, leave);
    memcpy(less + leave, text + leave + 1, length - leave - 1);
    uint64_t at = leave < cut ? cut - 1 : cut;
    hpar_options o = inspecting(&at, k);
    if (at == 0 || at >= length - 1) continue;
    CHECK_EQ(hpar_parse(parser, &o, less, length - 1, document, NULL), HPAR_OK);
    if (!failed_so(hpar_chunk_at(parser, 1), k)) continue;
    printf("%s: also without byte %zu\n", k->marked, leave);
    return false;
  }
  return true;
}

static void each_kind_is_recorded(void) {
  bool assumed[HPAR_ASSUMPTIONS] = {false};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind_case *k = &kinds[i];
    char text[64];
    uint64_t cut;
    size_t length = unmarked(k->marked, text, &cut);
    hpar_options o = inspecting(&cut, k);
    CHECK_EQ(hpar_parse(parser, &o, text, length, document, NULL), HPAR_OK);
    CHECK_EQ(hpar_chunk_count(parser), 2);
    if (!CHECK(failed_so(hpar_chunk_at(parser, 1), k))) printf("  %s: %s\n", name_of(k), k->marked);
    CHECK(smallest(k, text, length, cut));
    if (!k->hazard) assumed[k->assumption] = true;
  }
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++)
    if (!CHECK(assumed[i])) printf("  no document for %s\n", hpar_assumption_name((hpar_assumption)i));
}

/* Checks that the program prints the same. */
static void each_kind_is_explained(void) {
  const char *build = getenv("HPAR_BUILD_DIR"), *other = getenv("HPAR_PROGRAM");
  char program[4096], file[] = "/tmp/hpar-inspect-XXXXXX";
  snprintf(program, sizeof program, "%s%s", other ? other : build ? build : ".", other ? "" : "/hpar");
  int descriptor = access(program, X_OK) ? -1 : mkstemp(file);
  if (descriptor < 0) {
    printf("skipped: %s not found\n", program);
    return;
  }
  close(descriptor);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind_case *k = &kinds[i];
    char text[64], command[8192], expected[64], said[65536];
    uint64_t cut;
    size_t length = unmarked(k->marked, text, &cut);
    FILE *to = fopen(file, "wb");
    fwrite(text, 1, length, to);
    fclose(to);
    snprintf(command, sizeof command, "'%s' explain --predictor prescan %s%s --cuts %" PRIu64 " %s", program,
             k->mode_predictor ? "--mode-predictor " : "", k->mode_predictor ? k->mode_predictor : "", cut, file);
    FILE *from = popen(command, "r");
    size_t n = fread(said, 1, sizeof said - 1, from);
    said[n] = 0;
    CHECK_EQ(pclose(from), 0);
    snprintf(expected, sizeof expected, ": %s: ", name_of(k));
    const char *line = strstr(said, k->hazard ? "    hazard " : "    failed ");
    if (!CHECK(line && strstr(line, expected))) printf("  %s in:\n%s", expected, said);
  }
  remove(file);
}

/* Checks raw text that continues after the bytes that have arrived. Only fed input has that. */
static void input_to_come(void) {
  char text[40000];
  size_t length = 0;
  length += (size_t)sprintf(text, "<!DOCTYPE html><meta charset=utf-8><p>");
  while (length < 20000) length += (size_t)sprintf(text + length, "<b>b</b> text ");
  uint64_t cut = length;
  length += (size_t)sprintf(text + length, "<p>z<textarea>\n");
  while (length < 30000) length += (size_t)sprintf(text + length, "var a = 1; ");
  size_t come = length;
  length += (size_t)sprintf(text + length, "</textarea><p>end");
  uint64_t cuts[] = {cut, cut + 1000};
  bool found = false;
  /* The threads decide whether a worker starts before the rest arrives. */
  for (int i = 0; i < 200 && !found; i++) {
    const hpar_study recorded = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = 2, .inspect = true};
    hpar_options o = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2, .study = &recorded};
    CHECK_EQ(hpar_parser_begin(parser, &o, document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(parser, text, come), HPAR_OK);
    struct timespec moment = {0, 2000000};
    nanosleep(&moment, NULL);
    CHECK_EQ(hpar_parser_feed(parser, text + come, length - come), HPAR_OK);
    CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_OK);
    for (size_t c = 1; c < hpar_chunk_count(parser); c++) {
      const hpar_chunk *chunk = hpar_chunk_at(parser, c);
      for (size_t f = 0; f < chunk->failure_count; f++) found |= chunk->failures[f].hazard == HPAR_HAZARD_INPUT_TO_COME;
    }
  }
  CHECK(found);
}

static const struct {
  const char *marked, *state, *element, *mode;
  hpar_namespace ns;
} states[] = {
    {"<p>|<b>x", "data", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p>te|xt", "data", "", "in body", HPAR_NAMESPACE_HTML},
    {"<title>a|b</title>", "RCDATA", "title", "text", HPAR_NAMESPACE_HTML},
    {"<style>a|b</style>", "RAWTEXT", "style", "text", HPAR_NAMESPACE_HTML},
    {"<script>a|b</script>", "script data", "script", "text", HPAR_NAMESPACE_HTML},
    {"<script><!-- |--></script>", "script data escaped", "script", "text", HPAR_NAMESPACE_HTML},
    {"<script><!--> |</script>", "script data", "script", "text", HPAR_NAMESPACE_HTML},
    {"<script><!-- --> |</script>", "script data", "script", "text", HPAR_NAMESPACE_HTML},
    {"<script><!-- <script>|</script>--></script>", "script data double escaped", "script", "text",
     HPAR_NAMESPACE_HTML},
    {"<script><!-- <script></script>|--></script>", "script data escaped", "script", "text", HPAR_NAMESPACE_HTML},
    {"<plaintext>a|b", "PLAINTEXT", "plaintext", "in body", HPAR_NAMESPACE_HTML},
    {"<svg><![CDATA[a|b]]>", "CDATA section", "", "in body", HPAR_NAMESPACE_SVG},
    {"<svg><![CDATA[a]]>|b", "data", "", "in body", HPAR_NAMESPACE_SVG},
    {"<p>a&am|p;", "character reference", "", "in body", HPAR_NAMESPACE_HTML},
    {"<title>a&am|p;</title>", "character reference", "title", "text", HPAR_NAMESPACE_HTML},
    {"<|p>", "tag open", "", "initial", HPAR_NAMESPACE_NONE},
    {"<p><|/p>", "tag open", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p></|p>", "end tag open", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p></p|>", "tag name", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a |b=c>", "before attribute name", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b|=c>", "attribute name", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b |=c>", "after attribute name", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b= |c>", "before attribute value", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b=\"|<i>\">", "attribute value (double-quoted)", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b='|<i>'>", "attribute value (single-quoted)", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b=c|d>", "attribute value (unquoted)", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><a b='c'|>", "after attribute value (quoted)", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><br /|>", "self-closing start tag", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><!|-- -->", "markup declaration open", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><!-- |<i> -->", "comment", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><!bogus com|ment>", "bogus comment", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p></ |x>", "bogus comment", "", "in body", HPAR_NAMESPACE_HTML},
    {"<p><?x |y>", "processing instruction", "", "in body", HPAR_NAMESPACE_HTML},
    {"<!DOCTYPE |html>", "DOCTYPE", "", "initial", HPAR_NAMESPACE_NONE},
    {"<table>|<tr>", "data", "", "in table", HPAR_NAMESPACE_HTML},
    {"<table><tr>|<td>", "data", "", "in row", HPAR_NAMESPACE_HTML},
    {"<table><td>|x", "data", "", "in cell", HPAR_NAMESPACE_HTML},
    {"<math><mi>|<b>", "data", "", "in body", HPAR_NAMESPACE_MATHML},
    {"<head>|<base>", "data", "", "in head", HPAR_NAMESPACE_HTML},
    {"<template>|<td>", "data", "", "in template", HPAR_NAMESPACE_HTML},
};

static void true_states(void) {
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    char text[128];
    uint64_t cut;
    size_t length = unmarked(states[i].marked, text, &cut);
    hpar_options o = inspecting(&cut, &kinds[0]);
    CHECK_EQ(hpar_parse(parser, &o, text, length, document, NULL), HPAR_OK);
    const hpar_chunk *c = hpar_chunk_at(parser, 1);
    if (!CHECK(c != NULL)) continue;
    bool fine = CHECK_STRING(c->actual.state, states[i].state);
    fine &= CHECK_STRING(c->actual.element, states[i].element);
    fine &= CHECK_STRING(c->actual.mode, states[i].mode);
    fine &= CHECK_EQ(c->actual.ns, states[i].ns);
    if (!fine) printf("  %s\n", states[i].marked);
  }
}

static const struct {
  const char *marked;
  hpar_chunk_outcome outcome;
  bool right_start;
  size_t again;
} outcomes[] = {
    {"<p>a</p>|<p>b</p>", HPAR_CHUNK_CLEAN, true, 0},
    {"<title>aaaa|bbbb</title>", HPAR_CHUNK_CLEAN, true, 0},
    {"<p>|<g><p></g></div><p>x", HPAR_CHUNK_REPAIRED, true, 16},
    {"<p>aa|aa<!---->", HPAR_CHUNK_DISCARDED, false, 7},
    {"<p>aa|aa", HPAR_CHUNK_PASSED, true, 0},
    {"<xmp>a|a", HPAR_CHUNK_UNREACHED, false, 0},
};

static void each_outcome(void) {
  for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
    char text[128];
    uint64_t cut;
    size_t length = unmarked(outcomes[i].marked, text, &cut);
    hpar_options o = inspecting(&cut, &kinds[0]);
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(hpar_study_parse(parser, &o, text, length, document, &stats), HPAR_OK);
    const hpar_chunk *c = hpar_chunk_at(parser, 1);
    bool fine = CHECK_STRING(hpar_chunk_outcome_name(c->outcome), hpar_chunk_outcome_name(outcomes[i].outcome));
    fine &= CHECK_EQ(c->right_start, outcomes[i].right_start);
    fine &= CHECK_EQ(c->bytes_reparsed, outcomes[i].again);
    fine &= CHECK_EQ(stats.bytes_reparsed, outcomes[i].again);
    if (!fine) printf("  %s\n", outcomes[i].marked);
    CHECK_EQ(hpar_chunk_at(parser, 0)->outcome, HPAR_CHUNK_EXACT);
  }
}

/* Checks a chunk that is inside of a script as a whole. */
static void passed_over(void) {
  static const char text[] = "<p>x<script>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</script><p>y";
  uint64_t cuts[] = {20, 30};
  hpar_options o = inspecting(cuts, &kinds[0]);
  study.cut_count = 2;
  CHECK_EQ(hpar_parse(parser, &o, text, sizeof text - 1, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_chunk_at(parser, 1)->outcome, HPAR_CHUNK_PASSED);
  CHECK(hpar_chunk_at(parser, 1)->actual.first == UINT64_MAX);
  CHECK_EQ(hpar_chunk_at(parser, 2)->outcome, HPAR_CHUNK_CLEAN);
}

/* Each bar is a cut. The documents have at most two levels of compositions. */
static const struct {
  const char *marked, *strategy;
  bool as_tree;
  unsigned right_start, right, clean;
  unsigned levels[3][3]; /* merges, segments, tokens */
  unsigned log[HPAR_LOG_KINDS], again;
  unsigned in_comment, in_raw_text, in_markup;
} counts[] = {
    {"<p>a</p>|<p>b</p>", NULL, false, 1, 1, 1, {{1, 2, 1}}, {1, 1, 2, 0, 0}, 0, 0, 0, 0},
    {"<p>|<g><p></g></div><p>x", NULL, false, 1, 0, 0, {{1, 2, 1}}, {2, 2, 4, 0, 3}, 16, 0, 0, 0},
    {"<p>aa|aa<!---->", NULL, false, 0, 0, 0, {{1, 0, 0}}, {1, 0, 1, 0, 0}, 7, 0, 0, 0},
    {"<p>aa|aa", NULL, false, 1, 1, 1, {{1, 0, 0}}, {0, 0, 0, 0, 0}, 0, 0, 0, 0},
    {"<xmp>a|a", NULL, false, 1, 1, 1, {{0, 0, 0}}, {0, 0, 0, 0, 0}, 0, 0, 0, 0},
    {"x|<xmp>", NULL, false, 1, 1, 0, {{1, 1, 1}}, {1, 1, 2, 1, 0}, 5, 0, 0, 0},
    {"<p>x<!--|a-->", NULL, false, 1, 1, 1, {{1, 1, 0}}, {0, 0, 0, 0, 0}, 0, 1, 0, 0},
    {"<title>x|<b></ti|tle><p>", NULL, false, 1, 1, 1, {{2, 2, 1}}, {1, 2, 1, 0, 1}, 3, 0, 1, 1},
    {"<ul><li>a|<li>b</li>|<li>c</ul>|<p>d", NULL, false, 3, 3, 3, {{3, 7, 4}}, {3, 4, 8, 0, 2}, 0, 0, 0, 0},
    {"<ul><li>a|<li>b</li>|<li>c</ul>|<p>d", NULL, true, 3, 3, 3, {{3, 7, 4}, {1}, {1}}, {3, 4, 8, 0, 2}, 0, 0, 0, 0},
    {"<body>|<ul><li>a|<li>b|<li>c|<li>d", NULL, false, 4, 4, 4, {{4, 8, 4}}, {4, 4, 11, 0, 5}, 0, 0, 0, 0},
    {"<body>|<ul><li>a|<li>b|<li>c|<li>d",
     NULL,
     true,
     4,
     4,
     4,
     {{4, 2, 1}, {2, 3, 2}, {1, 3, 1}},
     {1, 1, 2, 0, 2},
     0,
     0,
     0,
     0},
    {"<p>|<b>|]]>", NULL, true, 2, 2, 2, {{2, 1, 0}, {1, 1, 0}}, {1, 0, 2, 0, 1}, 0, 0, 0, 0},
    {"]]>|<pre>|</body>", NULL, true, 2, 2, 2, {{2, 3, 2}, {1, 1, 0}}, {1, 2, 1, 0, 1}, 0, 0, 0, 0},
    {"<div>|<object></object>aaaaaaaaaaaaaaaaaaa</div>",
     NULL,
     false,
     1,
     1,
     1,
     {{1, 4, 2}},
     {1, 2, 1, 0, 0},
     0,
     0,
     0,
     0},
    {"<b></div>|<i>|<b><table><td>|x<object>|<td><b></table>",
     NULL,
     true,
     4,
     4,
     4,
     {{4, 1, 0}, {2, 2, 0}, {1, 3, 2}},
     {1, 0, 2, 0, 2},
     0,
     0,
     0,
     0},
    {"<form>|<p><form>|<b>", NULL, true, 2, 1, 1, {{2, 2, 1}, {1}}, {2, 1, 5, 0, 2}, 9, 0, 0, 0},
    {"y|-->", "hpar2013", false, 1, 1, 1, {{1, 1, 0}}, {0, 0, 0, 0, 0}, 0, 1, 0, 0},
    {"</a>|<a>", "hpar2013", false, 1, 0, 0, {{1, 0, 0}}, {1, 0, 2, 0, 1}, 3, 0, 0, 0},
    {"<svg>|<g></g><p>x</p></svg>", "hpar2013", false, 0, 0, 0, {{1, 0, 0}}, {0, 0, 0, 0, 0}, 21, 0, 0, 0},
};

/* Checks the counters of whole parses. */
static void each_counter(void) {
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char text[128];
    uint64_t cuts[4], sum = 0;
    size_t length = 0, cut_count = 0;
    for (const char *at = counts[i].marked; *at; at++) {
      if (*at == '|')
        cuts[cut_count++] = length;
      else
        text[length++] = *at;
    }
    hpar_options o = inspecting(cuts, &kinds[0]);
    study.cut_count = cut_count;
    study.merge = counts[i].as_tree ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN;
    study.strategy = counts[i].strategy;
    study.checkpoint_bytes = 16;
    study.inspect = false; /* which merges no logs with each other */
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(hpar_study_parse(parser, &o, text, length, document, &stats), HPAR_OK);
    bool fine = CHECK_EQ(stats.chunks, cut_count) && CHECK_EQ(stats.chunks_exact, 0);
    fine &= CHECK_EQ(stats.chunks_right_start, counts[i].right_start);
    fine &= CHECK_EQ(stats.chunks_right, counts[i].right);
    fine &= CHECK_EQ(stats.chunks_clean, counts[i].clean);
    for (int level = 0; level < 3; level++) {
      const hpar_merge_level *got = &stats.merge_levels[level];
      const unsigned *want = counts[i].levels[level];
      fine &= CHECK_EQ(got->merges, want[0]);
      fine &= CHECK_EQ(got->segments, want[1]);
      fine &= CHECK_EQ(got->tokens, want[2]);
    }
    for (int kind = 0; kind < HPAR_LOG_KINDS; kind++) {
      fine &= CHECK_EQ(stats.log_entries_by_kind[kind], counts[i].log[kind]);
      sum += counts[i].log[kind];
    }
    fine &= CHECK_EQ(stats.log_entries, sum);
    fine &= CHECK_EQ(stats.bytes_reparsed, counts[i].again);
    fine &= CHECK_EQ(stats.chunks_in_comment, counts[i].in_comment);
    fine &= CHECK_EQ(stats.chunks_in_raw_text, counts[i].in_raw_text);
    fine &= CHECK_EQ(stats.chunks_in_markup, counts[i].in_markup);
    if (!fine) printf("  %s\n", counts[i].marked);
  }
}

/* Checks that chunks tile the input in each encoding, that sums equal the statistics, and that
 * events are within the parse. */
static void the_record_is_whole(void) {
  generated d = {.text = {0}};
  for (uint64_t seed = 1; seed <= 300; seed++) {
    generate(seed, &d);
    const hpar_study recorded = {HPAR_STUDY_INIT, .inspect = true};
    hpar_options o = {HPAR_OPTIONS_INIT,
                      .mode = HPAR_MODE_PARALLEL,
                      .threads = 1 + (unsigned)(seed % 3),
                      .parallel.chunk_size = d.text.length / (1 + seed % 7) + 1,
                      .fragment = d.fragment,
                      .scripting = d.scripting,
                      .encoding = seed % 4 ? NULL : "windows-1252",
                      .parallel.executor = seed % 2 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                      .study = &recorded};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(hpar_study_parse(parser, &o, d.text.bytes, d.text.length, document, &stats), HPAR_OK);
    size_t count = hpar_chunk_count(parser);
    uint64_t at = 0, again = 0, wrong = 0, counted = 0, clean = 0;
    CHECK_EQ(count, stats.chunks + 1);
    for (size_t i = 0; i < count; i++) {
      const hpar_chunk *c = hpar_chunk_at(parser, i);
      CHECK_EQ(c->begin, at);
      at = c->end;
      again += c->bytes_reparsed;
      uint64_t sum = 0;
      for (size_t k = 0; k < c->reparsed_count; k++) {
        CHECK(c->reparsed[k].begin < c->reparsed[k].end);
        sum += c->reparsed[k].end - c->reparsed[k].begin;
      }
      if (stats.bytes == d.text.length) CHECK_EQ(sum, c->bytes_reparsed);
      for (size_t k = 0; k < c->failure_count; k++) wrong += c->failures[k].hazard == HPAR_HAZARD_NONE;
      clean += i && (c->outcome == HPAR_CHUNK_CLEAN || c->outcome == HPAR_CHUNK_PASSED ||
                     c->outcome == HPAR_CHUNK_EXACT || c->outcome == HPAR_CHUNK_UNREACHED);
      CHECK(c->taken <= c->segments);
      CHECK(c->actual.state != NULL);
    }
    CHECK_EQ(at, d.text.length);
    CHECK_EQ(again, stats.bytes_reparsed);
    for (int k = 0; k < HPAR_ASSUMPTIONS; k++) counted += stats.wrong_assumptions_by_kind[k];
    CHECK_EQ(wrong, counted);
    if (!CHECK_EQ(clean, stats.chunks_clean)) printf("  seed %" PRIu64 "\n", seed);
    for (size_t i = 0; i < hpar_event_count(parser); i++) {
      hpar_event e = hpar_event_at(parser, i);
      CHECK(e.begin_ns <= e.end_ns && e.thread < stats.threads && e.end <= d.text.length);
      CHECK(e.chunk == UINT32_MAX || e.chunk < count);
      if (e.kind == HPAR_EVENT_WAIT) CHECK(!e.thread && !e.begin && !e.end);
    }
    CHECK(hpar_chunk_at(parser, count) == NULL);
  }
  generate_free(&d);
}

/* Checks that the merger never meets poison. Poison is a safety net under the classification of
 * tokens (speculation/dispositions.c), which selects the tokens that read or write the outer
 * context and therefore run in the merger.
 *
 * These are the reasons why the merger meets none. If the worker has no open element, the merger
 * replays every end tag, and each start tag or text that changes the level or the mode of the outer
 * context. If the worker has open elements, a search for the element that an end tag closes, or for
 * a row or a cell, reaches the outer context only if neither the element nor a barrier is the
 * worker's. The classification checks this first.
 *
 * The merger always replays html, head, body, frameset and selectedcontent. It replays </template>
 * if no template is the worker's, and </form> if no form is the worker's. Foster parenting inserts
 * elements only before a table of the worker. Checks of formatting elements in the outer context
 * concern only the fourteen formatting elements. Only replayed tokens change the mode of the outer
 * context: the content of an integration point could leave a head, but no prediction is foreign in
 * a head. */
static void expect_no_poison(hpar_options *o, hpar_study *choices, const char *text, size_t length) {
  o->mode = HPAR_MODE_PARALLEL;
  o->threads = 1;
  o->parallel.executor = HPAR_EXECUTOR_INLINE;
  choices->inspect = true;
  o->study = choices;
  CHECK_EQ(hpar_parse(parser, o, text, length, document, NULL), HPAR_OK);
  for (size_t i = 1; i < hpar_chunk_count(parser); i++) {
    const hpar_chunk *c = hpar_chunk_at(parser, i);
    for (size_t k = 0; k < c->failure_count; k++) {
      hpar_hazard h = c->failures[k].hazard;
      if (!CHECK(h == HPAR_HAZARD_NONE || h == HPAR_HAZARD_UNENDED_TEXT))
        printf("  %s in chunk %zu, cut %" PRIu64 ": %.*s\n", hpar_hazard_name(h), i, c->begin,
               length < 400 ? (int)length : 400, text);
    }
  }
}

static size_t count_of(const char *(*name)(size_t)) {
  size_t count = 0;
  while (name(count)) count++;
  return count;
}

static uint64_t scaled(uint64_t count) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  return scale ? count * strtoull(scale, NULL, 10) / 100 + 1 : count;
}

/* Checks every prediction of a chunk. */
static void nothing_is_unforeseen(void) {
  size_t strategies = count_of(hpar_strategy_name), mode_predictors = count_of(hpar_mode_predictor_name);
  generated d = {.text = {0}};
  for (uint64_t seed = 1; seed <= scaled(3000); seed++) {
    generate(seed, &d);
    hpar_options o = {HPAR_OPTIONS_INIT, .parallel.chunk_size = d.text.length / (2 + seed % 7) + 1,
                      .fragment = d.fragment, .scripting = d.scripting};
    hpar_study choices = {HPAR_STUDY_INIT, .strategy = hpar_strategy_name(seed % strategies)};
    if (seed % 4 == 0) choices.mode_predictor = hpar_mode_predictor_name(seed / 4 % mode_predictors);
    expect_no_poison(&o, &choices, d.text.bytes, d.text.length);
  }
  generate_free(&d);
}

static uint64_t draw(uint64_t *random, uint64_t count) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*random >> 33) % count;
}

/* Checks the same for a few tags, with any open elements before the cut. */
static void nothing_is_unforeseen_in_short(void) {
  static const char *const before[] = {
      "<p>",          "<table>",     "<table><tr>",     "<table><tbody>", "<table><td>",         "<table><caption>",
      "<svg>",        "<svg><desc>", "<math><mi>",      "<head>",         "<head><noscript>",    "<table><colgroup>",
      "<template>",   "<frameset>",  "<select>",        "<form>",         "<select><option>",    "<table><td><svg>",
      "<p><b></p>",   "<a>",         "</body>",         "<li>",           "<template><td>",      "<selectedcontent>",
      "<table><svg>", "<p><b><p>",   "<math><mi><svg>", "</head>",        "<svg><foreignobject>"};
  static const char *const tags[] = {"x",
                                     " ",
                                     "<!--c-->",
                                     "<p>",
                                     "</p>",
                                     "<b>",
                                     "</b>",
                                     "<a>",
                                     "</a>",
                                     "<nobr>",
                                     "<div>",
                                     "</div>",
                                     "<li>",
                                     "</li>",
                                     "<dd>",
                                     "<ul>",
                                     "</ul>",
                                     "<h1>",
                                     "</h1>",
                                     "<form>",
                                     "</form>",
                                     "<button>",
                                     "</button>",
                                     "<select>",
                                     "</select>",
                                     "<option>",
                                     "<optgroup>",
                                     "</option>",
                                     "<selectedcontent>",
                                     "<hr>",
                                     "<input>",
                                     "<ruby>",
                                     "<rt>",
                                     "<table>",
                                     "</table>",
                                     "<caption>",
                                     "</caption>",
                                     "<colgroup>",
                                     "</colgroup>",
                                     "<col>",
                                     "<tbody>",
                                     "</tbody>",
                                     "<tr>",
                                     "</tr>",
                                     "<td>",
                                     "</td>",
                                     "<template>",
                                     "</template>",
                                     "<svg>",
                                     "</svg>",
                                     "<math>",
                                     "</math>",
                                     "<mi>",
                                     "</mi>",
                                     "<desc>",
                                     "</desc>",
                                     "<title>t</title>",
                                     "<script></script>",
                                     "<g>",
                                     "</g>",
                                     "<html>",
                                     "<head>",
                                     "</head>",
                                     "<body>",
                                     "</body>",
                                     "<frameset>",
                                     "<noframes></noframes>",
                                     "<object>",
                                     "</object>",
                                     "<pre>",
                                     "</br>",
                                     "<image>",
                                     "<plaintext>",
                                     "<noscript>",
                                     "</noscript>",
                                     "<annotation-xml>",
                                     "<span>",
                                     "</span>",
                                     "<meta>",
                                     "<textarea>t</textarea>",
                                     "<font color=a>"};
  size_t strategies = count_of(hpar_strategy_name), mode_predictors = count_of(hpar_mode_predictor_name);
  for (uint64_t seed = 1; seed <= scaled(60000); seed++) {
    uint64_t random = seed * UINT64_C(6364136223846793005);
    char text[256];
    size_t length = (size_t)sprintf(text, "%s", before[draw(&random, sizeof before / sizeof *before)]);
    uint64_t cut = length;
    for (size_t n = 1 + draw(&random, 5); n; n--)
      length += (size_t)sprintf(text + length, "%s", tags[draw(&random, sizeof tags / sizeof *tags)]);
    hpar_options o = {HPAR_OPTIONS_INIT, .scripting = draw(&random, 2)};
    hpar_study choices = {HPAR_STUDY_INIT, .cuts = &cut, .cut_count = 1, .checkpoint_bytes = draw(&random, 2)};
    choices.strategy = draw(&random, 2) ? "oracle" : hpar_strategy_name(draw(&random, strategies));
    if (draw(&random, 3) == 0) choices.mode_predictor = hpar_mode_predictor_name(draw(&random, mode_predictors));
    expect_no_poison(&o, &choices, text, length);
  }
}

static void nothing_unless_asked(void) {
  static const char text[] = "<p>a<p>b";
  const hpar_study recorded = {HPAR_STUDY_INIT, .inspect = true};
  CHECK_EQ(
      hpar_parse(parser, &(hpar_options){HPAR_OPTIONS_INIT, .study = &recorded}, text, sizeof text - 1, document, NULL),
      HPAR_OK);
  CHECK_EQ(hpar_chunk_count(parser), 1);
  CHECK_EQ(hpar_chunk_at(parser, 0)->outcome, HPAR_CHUNK_EXACT);
  CHECK_EQ(hpar_event_count(parser), 2);
  hpar_string seen = hpar_inspected_text(document);
  CHECK_BYTES(seen.bytes, seen.length, text, sizeof text - 1);
  CHECK_EQ(hpar_parse(parser, NULL, text, sizeof text - 1, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_chunk_count(parser), 0);
  CHECK_EQ(hpar_event_count(parser), 0);
  CHECK(hpar_chunk_at(parser, 0) == NULL);
  CHECK_EQ(hpar_event_at(parser, 0).end_ns, 0);
}

/* Checks that a failing allocation gives a status and no record. */
static void want_of_memory(void) {
  static const char text[] = "<svg><g>|<div>x</div><p>y<table><form><li>z<p><li>";
  uint64_t cut = 8;
  for (uint64_t n = 0; n < 400; n++) {
    hpar_parser *fresh = NULL;
    CHECK_EQ(hpar_parser_create(&fresh), HPAR_OK);
    hpar_options o = inspecting(&cut, &kinds[0]);
    hp_memory_fail_after(n);
    hpar_status status = hpar_parse(fresh, &o, text, sizeof text - 1, document, NULL);
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    CHECK_EQ(hpar_chunk_count(fresh), status == HPAR_OK ? 2 : 0);
    hpar_parser_destroy(fresh);
    if (status == HPAR_OK) return;
  }
  bool memory_sufficed = false;
  CHECK(memory_sufficed);
}

/* Checks that every value has a name, and that an invalid value is unknown. */
static void names(void) {
  for (int i = 0; i <= HPAR_LOG_KINDS; i++)
    CHECK(!strcmp(hpar_log_kind_name((hpar_log_kind)i), "unknown") == (i == HPAR_LOG_KINDS));
  for (int i = 0; i <= HPAR_ASSUMPTIONS; i++)
    CHECK(!strcmp(hpar_assumption_name((hpar_assumption)i), "unknown") == (i == HPAR_ASSUMPTIONS));
  for (int i = 0; i <= HPAR_UNDETECTED_ERRORS; i++)
    CHECK(!strcmp(hpar_undetected_error_name((hpar_undetected_error)i), "unknown") == (i == HPAR_UNDETECTED_ERRORS));
  for (int i = 0; i <= HPAR_PIPELINE_HAZARDS; i++)
    CHECK(!strcmp(hpar_pipeline_hazard_name((hpar_pipeline_hazard)i), "unknown") == (i == HPAR_PIPELINE_HAZARDS));
}

/* Parses a fragment that is fed in pieces, in one mode. The document keeps the text, and the
 * record covers the input. */
static void feed_fragment(int mode, const char *context, bool inspect, const char *text, size_t length) {
  hpar_study choices = {HPAR_STUDY_INIT, .inspect = inspect};
  hpar_options o = {HPAR_OPTIONS_INIT, .threads = 2, .fragment = context};
  mode_choose(&o, &choices, mode);
  CHECK_EQ(hpar_parser_begin(parser, &o, document), HPAR_OK);
  for (size_t at = 0, piece; at < length; at += piece) {
    piece = length - at < 7000 ? length - at : 7000;
    CHECK_EQ(hpar_parser_feed(parser, text + at, piece), HPAR_OK);
  }
  CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_OK);
  hpar_string kept = hpar_inspected_text(document);
  if (!CHECK(kept.length == length && !memcmp(kept.bytes, text, length))) printf("  in %s, mode %d\n", context, mode);
  size_t count = hpar_chunk_count(parser);
  CHECK_EQ(count > 0, inspect);
  if (count) CHECK_EQ(hpar_chunk_at(parser, count - 1)->end, length);
}

static void fed_fragments(void) {
  static const char *const contexts[] = {"div", "td", "template", "svg path", "title"};
  static const int modes[] = {HPAR_MODE_AUTO, HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, MODE_PIPELINED};
  enum { LENGTH = 30000 };
  char *text = malloc(LENGTH);
  for (size_t i = 0; i < LENGTH; i++) text[i] = "<b>text</b> and <i>more</i>"[i % 27];
  for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++)
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
      feed_fragment(modes[m], contexts[c], false, text, LENGTH);
      feed_fragment(modes[m], contexts[c], true, text, LENGTH);
    }
  free(text);
}

int main(void) {
  if (!hpar_strategy_name(0)) {
    printf("skipped: this build has no parallel parser\n");
    return CHECK_SKIPPED;
  }
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  each_kind_is_recorded();
  each_kind_is_explained();
  input_to_come();
  true_states();
  each_outcome();
  each_counter();
  passed_over();
  the_record_is_whole();
  nothing_is_unforeseen();
  nothing_is_unforeseen_in_short();
  nothing_unless_asked();
  fed_fragments();
  want_of_memory();
  names();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
