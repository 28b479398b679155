/* Checks that the pipelined parser makes the sequential tree: own documents, the fixtures of
 * html5lib-tests and generated documents, with every length of buffer and batch below and both
 * predictors. It runs inline, where the tokenizer is always the maximum distance ahead, and on
 * two threads. Then the test checks the counters of the hazards, and adversarial input that
 * causes mispredictions.
 *
 *   HPAR_TEST_SCALE=P   percent of the generated documents (100); from 400 on all ways inline,
 *                       else three, alternately
 *   HPAR_TEST_SEED=N    the first seed (1)
 *   HPAR_TEST_LIMIT=N   stop printing after N differences (10) */

#include "study/pipelined/ring.h"

#include "check.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/shared.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS = 500, JOINED = 20, ERRORS = 1000 };

static const unsigned lengths[] = {1, 2, 16, 1024}, batches[] = {1, 8, 64};
enum { LENGTHS = 4, BATCHES = 3, WAYS = LENGTHS * BATCHES * 2 };

static comparer with;
static unsigned long parses, failures, limit = 10, scale = 100;
static unsigned long long rollbacks, turns;

static unsigned long number_from(const char *name, unsigned long usual) {
  const char *text = getenv(name);
  return text && *text ? strtoul(text, NULL, 10) : usual;
}

static compare_how way(size_t index, hpar_executor executor, size_t max_errors) {
  return (compare_how){.pipelined = true,
                       .executor = executor,
                       .threads = 2,
                       .max_errors = max_errors,
                       .buffer_tokens = lengths[index % LENGTHS],
                       .batch = batches[index / LENGTHS % BATCHES],
                       .pipeline_predictor = hpar_pipeline_predictor_name(index / LENGTHS / BATCHES)};
}

static void check_way(compare_how how, const char *origin) {
  compare_result result = compare_parallel(&with, &how);
  parses++;
  if (result != COMPARE_FAILED) rollbacks += with.got_stats.pipeline.rollbacks;
  if (result == COMPARE_SAME) return;
  if (failures++ >= limit) return;
  printf("%s: ", origin);
  compare_print(&with, &how, result);
  buffer document = {0};
  uint64_t no_cuts[1];
  buffer_add(&document, with.of.bytes, with.of.length);
  how.cuts = NULL;
  result = compare_reduce(&with, &how, no_cuts, &document, result);
  printf("reduced: ");
  compare_print(&with, &how, result);
  buffer_free(&document);
  printf("\n");
  fflush(stdout);
}

/* Checks the combined form: pairs as workers, at every possible cut. */
static void check_stages(size_t index, hpar_executor executor, const char *origin) {
  static uint64_t cuts[COMPARE_MAX_CUTS];
  size_t count = compare_candidates(with.of.bytes, with.of.length, cuts, COMPARE_MAX_CUTS);
  compare_how how = way(index, executor, ERRORS);
  how.pipelined = false;
  how.pipeline_stages = true;
  how.threads = 4;
  how.cuts = cuts;
  how.cut_count = count;
  if (!count) return;
  compare_result result = compare_parallel(&with, &how);
  parses++;
  if (result == COMPARE_SAME || failures++ >= limit) return;
  printf("%s: ", origin);
  compare_print(&with, &how, result);
}

static bool expect(const compare_case *document, const char *origin) {
  if (compare_expect(&with, document, ERRORS)) return true;
  failures++;
  printf("%s: the sequential parse failed: %s\n", origin, hpar_status_text(with.status));
  return false;
}

/* Checks all ways inline, and `threaded` of them on threads, one after the other. */
static void every_way(const compare_case *document, const char *origin, size_t threaded) {
  if (!expect(document, origin)) return;
  size_t step = scale >= 400 ? 1 : WAYS / 3;
  for (size_t i = turns % step; i < WAYS; i += step)
    check_way(way(i, HPAR_EXECUTOR_INLINE, i % 3 ? ERRORS : 0), origin);
  for (size_t i = turns % WAYS; i < WAYS; i += scale >= 400 ? 4 : WAYS) check_stages(i, HPAR_EXECUTOR_INLINE, origin);
  if (turns % 8 == 0) check_stages((size_t)turns / 8 % WAYS, HPAR_EXECUTOR_THREADS, origin);
  for (size_t i = 0; i < threaded; i++) check_way(way((size_t)turns++ % WAYS, HPAR_EXECUTOR_THREADS, ERRORS), origin);
}

static void own_documents(void) {
  for (size_t i = 0; i < document_count; i++) {
    char origin[64];
    snprintf(origin, sizeof origin, "own document %zu", i + 1);
    every_way(&documents[i], origin, 4);
    compare_case other = documents[i];
    other.scripting = !other.scripting;
    other.encoding = NULL;
    every_way(&other, origin, 1);
  }
}

static bool fixtures(const char *directory) {
  shared_list files;
  if (!shared_files(directory, ".dat", &files)) return false;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!dat_read(files.paths[i], &file)) return false;
    for (size_t k = 0; k < file.count; k++) {
      const dat_test *test = &file.tests[k];
      char origin[4200];
      snprintf(origin, sizeof origin, "%s:%u", files.paths[i], test->line);
      compare_case document = {test->data, test->data_length, test->fragment, false, "utf-8"};
      size_t threaded = 1;
      if (test->scripting != DAT_ON) every_way(&document, origin, threaded);
      document.scripting = true;
      if (test->scripting != DAT_OFF) every_way(&document, origin, threaded);
    }
    dat_free(&file);
  }
  shared_list_free(&files);
  return true;
}

static void generated_documents(void) {
  unsigned long count = DOCUMENTS * scale / 100;
  uint64_t first = number_from("HPAR_TEST_SEED", 1);
  generated document = {0};
  buffer joined = {0};
  char origin[64];
  for (uint64_t seed = first; seed < first + count && failures < limit; seed++) {
    generate(seed, &document);
    snprintf(origin, sizeof origin, "seed %llu", (unsigned long long)seed);
    compare_case of = {document.text.bytes, document.text.length, document.fragment, document.scripting, "utf-8"};
    every_way(&of, origin, 1);
    buffer_add(&joined, document.text.bytes, document.text.length);
    buffer_text(&joined, seed % 2 ? "<p>" : "\"'>-->]]></script></style></title></textarea></svg></math></table><p>");
    if (seed % JOINED) continue;
    snprintf(origin, sizeof origin, "seeds to %llu, joined", (unsigned long long)seed);
    of = (compare_case){joined.bytes, joined.length, NULL, seed % (2 * JOINED) == 0, "utf-8"};
    every_way(&of, origin, WAYS / 4);
    buffer_clear(&joined);
  }
  generate_free(&document);
  buffer_free(&joined);
}

/*** what is counted ***/

static hpar_study_stats stats_of(const char *text, const char *predictor, bool scripting) {
  compare_case document = {text, strlen(text), NULL, scripting, "utf-8"};
  compare_how how = way(0, HPAR_EXECUTOR_INLINE, ERRORS);
  how.buffer_tokens = 16;
  how.batch = 4;
  how.pipeline_predictor = predictor;
  CHECK(expect(&document, text));
  CHECK(compare_parallel(&with, &how) == COMPARE_SAME);
  return with.got_stats;
}

/* Checks the record of the document's only hazard, on threads and inline. */
static void recorded(const char *text, hpar_pipeline_hazard hazard, bool scripting, const char *predictor, bool back) {
  static const char *const tokens[HPAR_PIPELINE_HAZARDS] = {
      "<title",    "<noframes",  "<style",    "<script", "<xmp",      "<iframe", "<noembed",
      "<noscript", "<plaintext", "<textarea", "<br/>",   "<![CDATA[", "<style",  "<title"};
  for (int i = 0; i < 2; i++) {
    const hpar_study study = {HPAR_STUDY_INIT, .driver = "pipelined", .inspect = true, .pipeline.predictor = predictor};
    hpar_options options = {HPAR_OPTIONS_INIT, .parallel.executor = i ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                            .threads = 2, .scripting = scripting, .study = &study};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK(hpar_study_parse(with.parser, &options, text, strlen(text), with.document, &stats) == HPAR_OK);
    CHECK(hpar_hazard_event_count(with.parser) == 1);
    hpar_hazard_event met = hpar_hazard_event_at(with.parser, 0);
    CHECK(met.hazard == hazard);
    CHECK(met.at == (uint64_t)(strstr(text, tokens[hazard]) - text) && met.text_at == met.at);
    CHECK(met.rolled_back == back);
    CHECK(met.bytes_dropped == stats.pipeline.bytes_dropped && met.tokens_dropped == stats.pipeline.tokens_dropped);
    CHECK(met.ns <= stats.ns.total);
    bool tokenized = false;
    for (size_t k = 0; k < hpar_event_count(with.parser); k++)
      tokenized |= hpar_event_at(with.parser, k).kind == HPAR_EVENT_TOKENIZE;
    CHECK(tokenized == (i && stats.threads == 2));
  }
  CHECK(hpar_hazard_event_at(with.parser, 1).at == 0);
  const hpar_study study = {HPAR_STUDY_INIT, .driver = "pipelined"};
  hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
  CHECK(hpar_study_parse(with.parser, &options, text, strlen(text), with.document, NULL) == HPAR_OK);
  CHECK(hpar_hazard_event_count(with.parser) == 0);
}

static void hazards(void) {
  static const struct {
    hpar_pipeline_hazard hazard;
    const char *text;
    bool scripting, feedback_fails;
  } cases[] = {
      {HPAR_PIPELINE_TITLE, "<title>a<b></title>x", false, false},
      {HPAR_PIPELINE_NOFRAMES, "<noframes>a<b></noframes>x", false, false},
      {HPAR_PIPELINE_STYLE, "<style>a<b></style>x", false, false},
      {HPAR_PIPELINE_SCRIPT, "<script>a<b></script>x", false, false},
      {HPAR_PIPELINE_XMP, "<xmp>a<b></xmp>x", false, false},
      {HPAR_PIPELINE_IFRAME, "<iframe>a<b></iframe>x", false, false},
      {HPAR_PIPELINE_NOEMBED, "<noembed>a<b></noembed>x", false, false},
      {HPAR_PIPELINE_NOSCRIPT, "<body><noscript>a<b></noscript>x", true, false},
      {HPAR_PIPELINE_PLAINTEXT, "<plaintext>a<b></plaintext>x", false, false},
      {HPAR_PIPELINE_TEXTAREA, "<textarea>a<b></textarea>x", false, false},
      {HPAR_PIPELINE_SELF_CLOSING, "<p>a<br/>b", false, false},
      {HPAR_PIPELINE_CDATA, "<svg><g><![CDATA[a<b>]]></g></svg>x", false, false},
      {HPAR_PIPELINE_FOREIGN_RAW_TEXT, "<svg><style>a<b></style></svg>x", false, false},
      {HPAR_PIPELINE_IGNORED_TAG, "<frameset><title>a<b></title></frameset>x", false, true},
  };
  CHECK(sizeof cases / sizeof *cases == HPAR_PIPELINE_HAZARDS);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_pipeline_hazard hazard = cases[i].hazard;
    bool nothing_done = hazard == HPAR_PIPELINE_FOREIGN_RAW_TEXT || hazard == HPAR_PIPELINE_IGNORED_TAG;
    hpar_study_stats stats = stats_of(cases[i].text, "optimistic", cases[i].scripting);
    CHECK(!strcmp(stats.mode, "pipelined"));
    CHECK(stats.pipeline.hazards_by_kind[hazard] == 1);
    CHECK(stats.pipeline.rollbacks_by_kind[hazard] == (nothing_done ? 0 : 1));
    CHECK(stats.pipeline.rollbacks == (nothing_done ? 0 : 1));
    CHECK(nothing_done || stats.pipeline.tokens_dropped > 0);
    stats = stats_of(cases[i].text, "feedback", cases[i].scripting);
    CHECK(stats.pipeline.hazards_by_kind[hazard] == 1);
    CHECK(stats.pipeline.rollbacks_by_kind[hazard] == cases[i].feedback_fails);
    CHECK(stats.pipeline.rollbacks == cases[i].feedback_fails);
    recorded(cases[i].text, hazard, cases[i].scripting, "optimistic", !nothing_done);
    recorded(cases[i].text, hazard, cases[i].scripting, "feedback", cases[i].feedback_fails);
  }
  hpar_study_stats stats = stats_of("<noscript>a<b></noscript>x", "feedback", false);
  CHECK(stats.pipeline.hazards_by_kind[HPAR_PIPELINE_NOSCRIPT] == 0);
  stats = stats_of("<p><![CDATA[a]]>", "feedback", false);
  CHECK(stats.pipeline.hazards_by_kind[HPAR_PIPELINE_CDATA] == 0);
}

static void wrong_arguments(void) {
  static const char text[] = "<title>x</title><p>y";
  hpar_study study = {HPAR_STUDY_INIT, .driver = "pipelined", .pipeline.predictor = "none such"};
  hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
  CHECK(hpar_parse(with.parser, &options, text, sizeof text - 1, with.document, NULL) == HPAR_ERROR_ARGUMENT);
  study = (hpar_study){HPAR_STUDY_INIT, .driver = "pipelined", .pipeline.buffer_tokens = 65537};
  CHECK(hpar_parse(with.parser, &options, text, sizeof text - 1, with.document, NULL) == HPAR_ERROR_ARGUMENT);
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  study = (hpar_study){HPAR_STUDY_INIT, .driver = "pipelined", .pipeline = {.buffer_tokens = 3, .batch_tokens = 50}};
  options.threads = 1;
  CHECK(hpar_study_parse(with.parser, &options, text, sizeof text - 1, with.document, &stats) == HPAR_OK);
  CHECK(stats.threads == 1 && stats.pipeline.buffer_tokens == 3 && stats.pipeline.batch_tokens == 3);
  /* A feed parses only at the end. */
  study = (hpar_study){HPAR_STUDY_INIT, .driver = "pipelined"};
  options.threads = 0;
  CHECK(hpar_parser_begin(with.parser, &options, with.document) == HPAR_OK);
  for (size_t i = 0; i < sizeof text - 1; i++) CHECK(hpar_parser_feed(with.parser, text + i, 1) == HPAR_OK);
  CHECK(hpar_study_finish(with.parser, &stats) == HPAR_OK);
  CHECK(!strcmp(stats.mode, "pipelined") && stats.tokens == 5);
}

/*** what speculation may cost ***/

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HOSTILE_BYTES = 200000 };
#else
enum { HOSTILE_BYTES = 1000000 };
#endif

/* Checks the cost of mispredictions. The inputs have a hazard every few bytes, after which the
 * tokenizer finds a token that extends to the end of the input, or only more hazards. They also
 * have tokens that end outside every window, and a hazard after a long range without one. The test
 * counts all bytes read, including wasted bytes: stages.h has the maximum. */
static void hostile(void) {
  static const struct {
    const char *first;
    size_t times; /* percent of the bytes */
    const char *then;
    bool nested; /* the dump of the tree is quadratic */
  } inputs[] = {
      {"", 0, "<title><!--</title>", false},
      {"", 0, "<textarea><a b='</textarea>", false},
      {"", 0, "<xmp><!x</xmp>", false},
      {"", 0, "<svg><desc><p><![CDATA[</desc></svg>", true},
      {"", 0, "<style></style>", false},
      {"", 0, "<br/>", false},
      {"", 0, "<p><svg><![CDATA[<!--]]></svg>", true},
      {"<p>well <b>and</b> good", 50, "<title><!--</title>", false},
      {"<p>well <b>and</b> good", 90, "<style></style>", false},
      {"<frameset>", 1, "<title></title><style></style>", true},
      {"<p>well <b>and</b> good<style>p</style>", 95, "<iframe><!--", false},
  };
  double worst = 0;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    buffer text = {0};
    size_t bytes = inputs[i].nested ? 20000 : HOSTILE_BYTES;
    while (text.length < bytes * inputs[i].times / 100) buffer_text(&text, inputs[i].first);
    while (text.length < bytes) buffer_text(&text, inputs[i].then);
    compare_case document = {text.bytes, text.length, NULL, false, "utf-8"};
    if (expect(&document, inputs[i].then)) {
      for (size_t k = 0; k < 8; k++) {
        compare_how how = way(0, k & 1 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE, 0);
        how.buffer_tokens = k & 4 ? 65536 : 0;
        how.batch = 0;
        how.pipeline_predictor = hpar_pipeline_predictor_name(k / 2 % 2);
        CHECK(compare_parallel(&with, &how) == COMPARE_SAME);
        uint64_t read = with.got_stats.pipeline.bytes_read;
        CHECK(read >= text.length);
        CHECK(read <= 3 * text.length + (256 << 10));
        CHECK(with.got_stats.pipeline.rollbacks * 512 <= 2 * text.length + (256 << 10));
        if (!inputs[i].nested && (double)read / (double)text.length > worst) worst = (double)read / (double)text.length;
        parses++;
      }
    }
    buffer_free(&text);
  }
  /* A sequence of tokens that are longer than the largest window. */
  buffer text = {0};
  for (size_t i = 0; i < 8; i++) {
    buffer_text(&text, i % 2 ? "<!--" : "<p title='");
    for (size_t k = 0; k < 70000; k++) buffer_text(&text, "x");
    buffer_text(&text, i % 2 ? "-->" : "'><title></title>");
  }
  compare_case document = {text.bytes, text.length, NULL, false, "utf-8"};
  if (expect(&document, "long tokens")) {
    for (size_t k = 0; k < 4; k++) {
      compare_how how = way(0, k & 1 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE, 0);
      how.pipeline_predictor = hpar_pipeline_predictor_name(k / 2);
      CHECK(compare_parallel(&with, &how) == COMPARE_SAME);
      CHECK(with.got_stats.pipeline.drains > 0);
      CHECK(with.got_stats.pipeline.bytes_read <= 3 * text.length + (256 << 10));
    }
  }
  buffer_free(&text);
  printf("at most %.2f times the input was read\n", worst);
}

/* Checks that the slots start on a cache line, so that batches share no line. */
static void ring_alignment(void) {
  for (uint32_t length = 1; length <= 4096; length *= 2) {
    hp_ring ring = {.slots = NULL};
    if (!CHECK(hp_ring_open(&ring, length, 1))) return;
    CHECK_EQ((uintptr_t)ring.slots % 64, 0);
    hp_ring_close(&ring);
  }
}

int main(int count, char **arguments) {
  char directory[4096];
  bool on_fixtures = check_part(count, arguments, "fixtures");
  if (!compare_possible()) return CHECK_SKIPPED;
  if (on_fixtures && !shared_path(directory, sizeof directory, "html5lib-tests/tree-construction"))
    return CHECK_SKIPPED;
  scale = number_from("HPAR_TEST_SCALE", 100);
  limit = number_from("HPAR_TEST_LIMIT", 10);
  compare_watch();
  if (!compare_open(&with)) return 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (on_fixtures) {
    CHECK(fixtures(directory));
  } else {
    hazards();
    wrong_arguments();
    own_documents();
    generated_documents();
    hostile();
  }
  compare_close(&with);
  CHECK(!failures);
  printf("%llu parses, %lu failed; %llu rollbacks\n", (unsigned long long)parses, failures, rollbacks);
  ring_alignment();
  return check_report();
}
