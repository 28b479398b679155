/* Checks documents of few fragments, each repeated many times. Tree construction took quadratic
 * time on them.
 *
 *   complexity_test          parallel trees equal the sequential ones; the time limit ends a parse
 *   complexity_test growth   CPU time is proportional to the input */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/growth.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <string.h>

enum { MOST_PARTS = 5 };

/* The parts follow each other, each repeated `count` times. # is the number of the repetition. A
 * part that begins with 1 is not repeated. */
typedef struct repeated {
  const char *name;
  unsigned count;
  const char *parts[MOST_PARTS];
} repeated;

static const repeated cases[] = {
    {"adoption past unlisted elements", 16000, {"1<b>", "<x>", "<div>", "1</b>"}},
    {"b past div", 8000, {"<b>", "<div>", "</b>"}},
    {"b with attributes past div", 8000, {"<b k=#>", "<div>", "</b>"}},
    {"a past div", 8000, {"<a>", "<div>", "</a>"}},
    {"nobr past section", 8000, {"<nobr>", "<section>", "</nobr>"}},
    {"b past section below div", 8000, {"<b k=#>", "1<section>", "<div>", "</b>"}},
    {"b past div and unlisted elements", 8000, {"1<b>", "<div><x>", "</b>"}},
    {"b past div and formatting elements", 8000, {"<b k=#>", "<div><i>", "</b>", "<p>x"}},
    {"list items above moved sections", 4000, {"<b k=#>", "1<section>", "<div>", "</b>", "</div><li></li>"}},
    {"end tags of two names", 8000, {"<b k=#><i k=#>", "<div>", "</b></i>"}},
    {"marker of applet, then a", 16000, {"<applet>", "<a>"}},
    {"marker of object, then a", 16000, {"<object>", "x", "<a>"}},
    {"marker of marquee, then b", 16000, {"<marquee>", "<b></b>"}},
    {"marker of template, then a", 16000, {"<template>", "<a>"}},
    {"marker of cell, then a", 8000, {"<table><tr><td>", "<a>", "</a>"}},
    {"Noah's Ark, differing attributes", 16000, {"<i k=#>"}},
    {"Noah's Ark, then end tags", 16000, {"<i k=#>", "</i>"}},
    {"Noah's Ark, twice", 8000, {"<i k=#>", "<i k=#>"}},
    {"Noah's Ark below markers", 8000, {"<object><i k=#>", "<i k=#>"}},
    {"Noah's Ark, other order of attributes", 16000, {"1<i ", "a#=1 ", "1><i ", "1z=2 ", "1>"}},
    {"a out of scope", 4000, {"<a><div><div><div><div><div><div><div><div><div>", "1<table>", "<a></a>"}},
    {"form below foreign elements", 8000, {"<div>", "<form><svg></form></svg>"}},
    {"form below div", 16000, {"1<form>", "<div>", "1</form>"}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void write_case(const repeated *of, unsigned count, buffer *to) {
  buffer_clear(to);
  for (unsigned part = 0; part < MOST_PARTS && of->parts[part]; part++) {
    const char *text = of->parts[part];
    bool once = *text == '1';
    for (unsigned i = 0; i < (once ? 1 : count); i++)
      for (const char *at = text + once; *at; at++)
        if (*at == '#')
          buffer_format(to, "%u", i);
        else
          buffer_byte(to, *at);
  }
}

static void same_in_parallel(comparer *with, const repeated *of, unsigned count) {
  static buffer page;
  write_case(of, count, &page);
  compare_case document = {.bytes = page.bytes, .length = page.length};
  if (!CHECK(compare_expect(with, &document, 0))) return;
  for (size_t chunk = 8; chunk < page.length; chunk *= 3) {
    compare_how how = {.executor = HPAR_EXECUTOR_INLINE, .threads = 2, .chunk_size = chunk, .checkpoint_bytes = 1};
    for (unsigned merge = 0; merge < 2; merge++) {
      how.merge = merge ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN;
      compare_result result = compare_parallel(with, &how);
      if (!CHECK_EQ(result, COMPARE_SAME)) {
        printf("  %s, %u times\n", of->name, count);
        compare_print(with, &how, result);
        return;
      }
    }
  }
}

/* A document of a mixture of the cases' parts. */
static void mixed_in_parallel(comparer *with, unsigned seed) {
  static const char *const pieces[] = {"<b>",     "<b k=1>",  "</b>",      "<i>",      "</i>",     "<a>",      "</a>",
                                       "<div>",   "</div>",   "<section>", "<x>",      "</x>",     "<li>",     "<form>",
                                       "</form>", "<object>", "</object>", "<table>",  "<td>",     "</table>", "<p>",
                                       "</p>",    "x",        "<nobr>",    "<dd>",     "<svg>",    "<g>",      "</svg>",
                                       "<font>",  "</font>",  "<option>",  "<select>", "</select>"};
  repeated mixture = {.name = "mixture", .parts = {"", "", "", "", ""}};
  static char parts[MOST_PARTS][64];
  uint32_t state = seed * 2654435761u + 1;
  for (unsigned i = 0; i < MOST_PARTS; i++) {
    parts[i][0] = 0;
    for (unsigned j = 0; j < 4; j++) {
      state = state * 1664525u + 1013904223u;
      strcat(parts[i], pieces[(state >> 16) % (sizeof pieces / sizeof *pieces)]);
    }
    mixture.parts[i] = parts[i];
  }
  same_in_parallel(with, &mixture, 1 + seed % 7);
}

static void parallel(void) {
  comparer with;
  if (!CHECK(compare_open(&with))) return;
  for (unsigned i = 0; i < CASES; i++) {
    same_in_parallel(&with, &cases[i], 3);
    same_in_parallel(&with, &cases[i], 30);
  }
  for (unsigned seed = 0; seed < 40 * compare_scale() / 5; seed++) mixed_in_parallel(&with, seed);
  compare_close(&with);
}

static hpar_parser *parser;
static hpar_document *document;

/* Each p of the standard's tree has all the b elements: 2.5 billion nodes. Only the limit ends the
 * parse early. */
static void time_is_limited(hpar_mode mode) {
  enum { MILLISECOND = 1000000 };
  static buffer page;
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = mode;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.limits.time_ns = 20 * MILLISECOND;
  write_case(&(repeated){.parts = {"1<p>", "<b k=#>", "<p>x"}}, 50000, &page);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_LIMIT_TIME);
}

typedef struct sized {
  buffer pages[2];
  hpar_options options;
} sized;

static double parse_sized(void *context, int size) {
  const sized *of = context;
  double start = growth_thread_seconds();
  CHECK_EQ(hpar_parse(parser, &of->options, of->pages[size].bytes, of->pages[size].length, document, NULL), HPAR_OK);
  return growth_thread_seconds() - start;
}

static void linear(const repeated *of) {
  static sized both;
  for (unsigned i = 0; i < 2; i++) write_case(of, i ? of->count : of->count / GROWTH_FACTOR, &both.pages[i]);
  both.options = (hpar_options){HPAR_OPTIONS_INIT};
  both.options.encoding = "utf-8";
  both.options.mode = HPAR_MODE_SEQUENTIAL;
  CHECK(growth_is_below(GROWTH_BOUND, of->name, parse_sized, &both));
  if (!hpar_predictor_name(0)) return;
  both.options.mode = HPAR_MODE_PARALLEL;
  both.options.threads = 2;
  both.options.parallel.executor = HPAR_EXECUTOR_INLINE;
  CHECK(growth_is_below(GROWTH_BOUND, of->name, parse_sized, &both));
}

int main(int count, char **arguments) {
  bool timed = check_part(count, arguments, "growth");
  if (timed && !growth_can_be_measured()) return CHECK_SKIPPED;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  if (timed) {
    for (unsigned i = 0; i < CASES; i++) linear(&cases[i]);
  } else {
    time_is_limited(HPAR_MODE_SEQUENTIAL);
    if (compare_possible()) {
      time_is_limited(HPAR_MODE_PARALLEL);
      parallel();
    }
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
