/* Tests the options that a parallel parse refuses. The parser works afterwards. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <string.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer page;

static void refuse_options(void) {
  static const uint64_t unsorted[] = {40, 20}, beyond[] = {10, 1000}, fine[] = {3, 10}, at_end[] = {3, 24};
  static const char text[] = "<p>one<b>two</b><i>three";
  size_t length = sizeof text - 1;
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};

  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 2;
  study.cuts = fine;
  study.cut_count = 2;
  CHECK_EQ(hpar_study_parse(parser, &options, text, length, document, &stats), HPAR_OK);
  CHECK_EQ(stats.chunks, 2);
  CHECK_EQ(length, 24);
  study.cuts = at_end;
  CHECK_EQ(hpar_study_parse(parser, &options, text, length, document, &stats), HPAR_OK);
  study.cuts = beyond;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(!hpar_node_first_child(document, hpar_document_root(document)));
  study.cuts = unsorted;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_ERROR_ARGUMENT);
  study.cuts = NULL;
  study.cut_count = 0;

  study.predictor = "tea leaves";
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  const char **names[] = {&study.strategy, &study.mode_predictor, &study.cut_policy, &study.predictor};
  for (size_t i = 0; i < 4; i++) {
    study.predictor = NULL;
    *names[i] = "tea leaves";
    CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
    *names[i] = NULL;
  }
  study.predictor = "";
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  study.predictor = NULL;

  options.threads = HPAR_MAX_THREADS + 1;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  options.threads = 0;

  options.mode = (hpar_mode)77;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  options.mode = HPAR_MODE_PARALLEL;
  options.parallel.executor = (hpar_executor)77;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  options.parallel.executor = HPAR_EXECUTOR_THREADS;
  study.merge = (hpar_merge_order)77;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  study.merge = HPAR_MERGE_CHAIN;
  options.parallel.wait = (hpar_wait_policy)77;
  CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT);
  options.parallel.wait = HPAR_WAIT_ADAPTIVE;

  static const char *const contexts[] = {"", " ", "svg ", "math ", "xml a", "svg a b", "div p"};
  for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++) {
    options.fragment = contexts[i];
    if (!CHECK_EQ(hpar_parse(parser, &options, text, length, document, NULL), HPAR_ERROR_ARGUMENT))
      printf("  context \"%s\"\n", contexts[i]);
  }
  options.fragment = NULL;
  CHECK_EQ(hpar_parse(parser, &options, NULL, 5, document, NULL), HPAR_ERROR_ARGUMENT);
}

/* Checks that the tree of a parallel parse equals that of a sequential one. */
static void parse_after_refusals(void) {
  buffer expected = {0}, got = {0};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK(compare_dump(document, &expected));
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 2;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK(compare_dump(document, &got));
  CHECK(got.length == expected.length && !memcmp(got.bytes, expected.bytes, got.length));
  buffer_free(&expected);
  buffer_free(&got);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  for (int i = 0; i < 2000; i++) buffer_text(&page, "<p>some <b>text</b><table><td>y</table>\n");
  if (CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) && CHECK_EQ(hpar_document_create(&document), HPAR_OK)) {
    refuse_options();
    parse_after_refusals();
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&page);
  return check_report();
}
