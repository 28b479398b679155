/* Rewriting by threads: pages with long raw text, feeds of any length, failures, and memory that
 * runs out. Output, status, statistics and calls equal those of the sequential rewriter. */

#include "base/memory.h"
#include "check.h"
#include "support/division.h"
#include "support/executors.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 4 };

/* A comment, or a script, of many chunks looks like markup. The merger skips these chunks. */
static void test_long_raw_text(void) {
  static const char *const parts[][2] = {{"<!--", "-->"}, {"<script>", "</script>"}, {"<textarea>", "</textarea>"}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2};
  const hp_rewrite_division inside = {.chunk_size = 3000, .is_inline = true}, threads = {.chunk_size = 3000};
  enum { LINES = 3000, KINDS = sizeof parts / sizeof *parts };
  buffer page = {0};
  for (unsigned round = 0; round < 2 * KINDS; round++) {
    const unsigned i = round % KINDS;
    division_state = 9;
    hpar_rules *rules = round < KINDS ? division_make_rules(3) : division_make_unit_rules(3);
    buffer_clear(&page);
    for (unsigned line = 0; line < LINES; line++) {
      if (line == LINES / 6) buffer_text(&page, parts[i][0]);
      if (line == LINES - LINES / 6) buffer_text(&page, parts[i][1]);
      buffer_text(&page, "<p class=x>a <b>bold</b> word and <a href=q>a link</a>\n");
    }
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    uint64_t skipped = hp_rewriter_counters(division_parallel).skipped_chunks;
    CHECK(division_check(rules, &options, page.bytes, page.length, &inside));
    skipped = hp_rewriter_counters(division_parallel).skipped_chunks - skipped;
    CHECK(skipped + 5 > page.length / 3000 * 2 / 3);
    CHECK(division_check(rules, &options, page.bytes, page.length, &threads));
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/*** texts and comments ***/

static const hpar_action find = {
    .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"word", 4}, .replacement = {"WORD", 4}};
static const hpar_action drop = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};

static uint64_t texts_seen;

static hpar_status see_text(hpar_text_piece *text, void *context) {
  (void)text, (void)context;
  texts_seen++;
  return HPAR_OK;
}

/* Workers run rules for texts and comments, and leave only callbacks to the merger. */
static void test_units(void) {
  const struct {
    hpar_rule rule;
    unsigned share; /* the merger rewrites one part of so many, or less */
  } given[] = {{{HPAR_RULE_INIT, .actions = &find, .action_count = 1}, 20},
               {{HPAR_RULE_INIT, .actions = &drop, .action_count = 1}, 20},
               {{HPAR_RULE_INIT, .text = see_text}, 20},
               {{HPAR_RULE_INIT, .text = see_text, .text_pieces = true}, 20},
               {{HPAR_RULE_INIT, .selector = "body", .actions = &find, .action_count = 1}, 20},
               {{HPAR_RULE_INIT, .selector = "body", .actions = &find, .action_count = 1, .limit = 1}, 20},
               {{HPAR_RULE_INIT, .selector = "body", .text = see_text, .actions = &find, .action_count = 1}, 20},
               {{HPAR_RULE_INIT, .selector = "p", .actions = &find, .action_count = 1}, 10},
               {{HPAR_RULE_INIT, .selector = "section b", .actions = &find, .action_count = 1}, 4},
               {{HPAR_RULE_INIT, .selector = "section", .actions = &drop, .action_count = 1}, 3}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer page = {0};
  buffer_text(&page, "<!doctype html><title>t</title><body>");
  for (unsigned i = 0; i < 3000; i++) {
    if (i % 40 == 7) buffer_text(&page, "</section><section>");
    buffer_text(&page, "<p class=x>a <b>bold</b> word and<!-- note --> <a href=q>a link</a>\n<ul><li>word<li>two</ul>");
    if (i % 9 == 7) buffer_text(&page, "</div><div>text<br>word &amp; word < word");
  }
  for (unsigned i = 0; i < sizeof given / sizeof *given; i++) {
    hpar_rules *rules = division_begin_rules();
    division_add_rule(rules, &given[i].rule);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    texts_seen = 0;
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    const uint64_t seen = texts_seen;
    for (size_t size = 3000; size < page.length / 2; size = size * 3 + 7) {
      const hp_rewrite_division division = {.chunk_size = size, .is_inline = true};
      const hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
      texts_seen = 0;
      CHECK(division_check(rules, &options, page.bytes, page.length, &division));
      const hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
      const uint64_t rewritten = after.rewritten_bytes - before.rewritten_bytes;
      if (!CHECK(rewritten * given[i].share < page.length + size * given[i].share))
        printf("  rule %u, chunks of %zu: %llu of %zu bytes\n", i, size, (unsigned long long)rewritten, page.length);
      CHECK_EQ(texts_seen, seen);
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/* Texts are longer than what a worker reads after its chunk. */
static void test_long_texts(void) {
  const hpar_rule given[] = {{HPAR_RULE_INIT, .actions = &find, .action_count = 1},
                             {HPAR_RULE_INIT, .actions = &find, .action_count = 1, .text_pieces = true},
                             {HPAR_RULE_INIT, .text = see_text, .text_pieces = true},
                             {HPAR_RULE_INIT, .selector = "p", .actions = &find, .action_count = 1, .text = see_text}};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer page = {0};
  buffer_text(&page, "<!doctype html><title>t</title><body>");
  for (unsigned i = 0; i < 20000; i++) {
    buffer_text(&page, i % 9000 == 7 ? "<p>" : i % 9000 == 8500 ? " < " : "word &amp; ");
    if (i % 9000 == 40) buffer_text(&page, "<b>b</b>");
  }
  for (unsigned i = 0; i < 2 * sizeof given / sizeof *given; i++) {
    hpar_rules *rules = division_begin_rules();
    division_add_rule(rules, &given[i / 2]);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    options.max_text = i % 2 ? 1000 : 0;
    texts_seen = 0;
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    const uint64_t seen = texts_seen;
    for (size_t cut = 100; cut < page.length; cut = cut * 3 / 2) {
      const size_t cuts[] = {cut, cut + (page.length - cut) / 2};
      const hp_rewrite_division division = {.cuts = cuts, .cut_count = 2, .is_inline = true};
      texts_seen = 0;
      CHECK(division_check(rules, &options, page.bytes, page.length, &division));
      CHECK_EQ(texts_seen, seen);
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

static hpar_status retire_from(hpar_text_piece *text, void *from) {
  return text->offset >= *(const uint64_t *)from ? HPAR_RETIRE : HPAR_OK;
}

/* A raw text without its tags has references, also in a segment whose rule for texts the merger
 * ends. */
static void test_retired_texts(void) {
  static const char page[] = "<body><p>a<style><b>&</style>c<xmp><i></xmp>d<title><u>&</title>e<p>f";
  static const hpar_action unwrap = {.kind = HPAR_ACTION_UNWRAP};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (uint64_t from = 0; from < sizeof page; from++) {
    const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "style, xmp, title", .actions = &unwrap, .action_count = 1},
                               {HPAR_RULE_INIT, .text = retire_from, .context = &from}};
    hpar_rules *rules = division_begin_rules();
    for (int i = 0; i < 2; i++) division_add_rule(rules, &given[i]);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    division_rewrite_alone(rules, &options, page, strlen(page));
    for (size_t cut = 1; cut < strlen(page); cut++) {
      const hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .is_inline = true};
      CHECK(division_check(rules, &options, page, strlen(page), &division));
    }
    hpar_rules_destroy(rules);
  }
}

/*** threads ***/

static buffer large;

/* A page of regular sections with some that are not. */
static void make_large(unsigned sections) {
  static const char *const parts[] = {
      "<div class=x><p>text <a href=q>link</a> and <b>bold</b> text<ul><li>one<li>two</ul></div>\n",
      "<table><tr><td>1<td>2<tr><td><b>3</table><h2 id=y>head</h2><p>a<p>b<p>c\n",
      "<div><div><div><p>deep</p></div></div></div><svg><g><path/></g></svg><custom-x>y</custom-x>\n",
      "<script>if (a<b) '<p>'</script><!-- <p> --><style><p></style><form><p>f</form>\n",
      "<b><p>misnested</b>end<template><p>t</template><select><option>1<option>2</select>\n"};
  buffer_clear(&large);
  buffer_text(&large, "<!doctype html><title>t</title><body><div class=x>");
  for (unsigned i = 0; i < sections; i++) {
    if (i % 211 == 7) buffer_text(&large, "<div><p><b>");
    if (i % 307 == 9) buffer_text(&large, "</div></div></table>");
    if (i == sections / 4 * 3) buffer_format(&large, "<p class=x title='%0300d'>", 1);
    buffer_text(&large, parts[division_pick(sizeof parts / sizeof *parts)]);
  }
}

static void test_threads(unsigned rounds) {
  make_large(3000);
  for (unsigned round = 0; round < rounds; round++) {
    hpar_rules *rules = round % 2 ? division_make_unit_rules(1 + division_pick(MAX_RULES))
                                  : division_make_rules(1 + division_pick(MAX_RULES));
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2 + round % 3};
    if (round % 5 == 3) options.max_text = 7;    /* texts come in pieces */
    if (round % 3 == 2) options.max_token = 200; /* the page has a longer tag */
    hp_rewrite_division division = {.chunk_size = 2000 + division_pick(20000),
                                    .checkpoint_bytes = division_checkpoints[round % 2],
                                    .min_limit = round % 3 * 5};
    division_rewrite_alone(rules, &options, large.bytes, large.length);
    CHECK(division_check(rules, &options, large.bytes, large.length, &division));
    hpar_rules_destroy(rules);
  }
}

/* Feeds of any length give the same output. */
static void test_feeds(bool edits_units) {
  division_has_pieces = false;
  hpar_rules *rules = edits_units ? division_make_unit_rules(3) : division_make_rules(3);
  division_has_pieces = true;
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = 2, .mode = HPAR_MODE_PARALLEL};
  hp_rewrite_division division = {.chunk_size = 3000};
  division_rewrite_alone(rules, &options, large.bytes, large.length);
  CHECK_EQ(hp_rewriter_divide(division_parallel, &division), HPAR_OK);
  for (size_t step = 100; step < large.length; step = step * 3 + 1) {
    division_clear(&division_got);
    division_got.status = hpar_rewriter_begin(division_parallel, rules, &options, division_collect, &division_got.out);
    for (size_t at = 0; !division_got.status && at < large.length; at += step)
      division_got.status =
          hpar_rewriter_feed(division_parallel, large.bytes + at, large.length - at < step ? large.length - at : step);
    hpar_status finished = hpar_rewriter_finish(division_parallel, &division_got.stats);
    if (!division_got.status) division_got.status = finished;
    CHECK(division_is_same(&division_expected, &division_got));
  }
  hpar_rules_destroy(rules);
}

/*** failures ***/

static hpar_status refuse_after(const char *bytes, size_t length, void *context) {
  buffer *out = context;
  buffer_add(out, bytes, length);
  return out->length > 60000 ? HPAR_ERROR_IO : HPAR_OK;
}

static hpar_status refuse_all(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_ERROR_IO;
}

static hpar_status fail_element(hpar_element *element, void *context) {
  (void)element, (void)context;
  return HPAR_ERROR_CALLBACK;
}

/* In an adopted segment, the output function fails before a callback: its status counts. */
static void test_failed_output(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "a", .element = fail_element};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .mode = HPAR_MODE_PARALLEL};
  buffer text = {0};
  buffer_text(&text, "<body><p>");
  const size_t cut = text.length;
  while (text.length < 1000) buffer_text(&text, "<b>b</b>");
  buffer_text(&text, "<a>c</a><p>d");
  const hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .is_inline = true};
  hpar_rules *rules = division_begin_rules();
  division_add_rule(rules, &rule);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  CHECK_EQ(hp_rewriter_divide(division_parallel, &division), HPAR_OK);
  for (int passes = 0; passes < 2; passes++) {
    options.on_failure = passes ? HPAR_FAIL_PASS : HPAR_FAIL_STOP;
    CHECK_EQ(hpar_rewrite(division_parallel, rules, &options, text.bytes, text.length, NULL, refuse_all, NULL),
             HPAR_ERROR_IO);
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
}

/* A rule cannot be applied, or the output function fails. */
static void test_failures(void) {
  hpar_rules *rules;
  const hpar_action rename = {.kind = HPAR_ACTION_RENAME, .name = "x\xE4\xB8\xAD"};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "div > #y", .actions = &rename, .action_count = 1};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "latin1", .threads = 2};
  const hp_rewrite_division inside = {.chunk_size = 3000, .is_inline = true}, threads = {.chunk_size = 3000};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  for (int passes = 0; passes < 2; passes++) {
    options.on_failure = passes ? HPAR_FAIL_PASS : HPAR_FAIL_STOP;
    division_rewrite_alone(rules, &options, large.bytes, large.length);
    CHECK_EQ(division_expected.status, HPAR_ERROR_ARGUMENT);
    CHECK(division_check(rules, &options, large.bytes, large.length, &inside));
    CHECK(division_check(rules, &options, large.bytes, large.length, &threads));
  }
  hpar_rules_destroy(rules);
  /* Rules that remove nothing: the output is longer than what the function takes. */
  const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}};
  const hpar_rule keep = {HPAR_RULE_INIT, .selector = "a", .actions = &set, .action_count = 1};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &keep, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  options.mode = HPAR_MODE_PARALLEL;
  buffer_clear(&division_got.out);
  CHECK_EQ(hp_rewriter_divide(division_parallel, &threads), HPAR_OK);
  CHECK_EQ(hpar_rewrite(division_parallel, rules, &options, large.bytes, large.length, NULL, refuse_after,
                        &division_got.out),
           HPAR_ERROR_IO);
  hpar_rules_destroy(rules);
}

/* A tag above max_token begins a chunk, inside an element with an edit at its end. The body has the
 * first half of such a tag, and the worker the second one. */
static void test_long_tag(void) {
  static const char text[] = "<p>a<em>b<input checked>c</em>d<p>e";
  const hpar_action append = {.kind = HPAR_ACTION_APPEND, .value = {"f", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "em", .actions = &append, .action_count = 1};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_token = 14};
  const size_t cut = (size_t)(strstr(text, "<input") - text);
  const hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .checkpoint_bytes = 1, .is_inline = true};
  hpar_rules *rules = division_begin_rules();
  division_add_rule(rules, &rule);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  division_rewrite_alone(rules, &options, text, sizeof text - 1);
  CHECK_EQ(division_expected.status, HPAR_LIMIT_MEMORY);
  CHECK(division_check(rules, &options, text, sizeof text - 1, &division));
  hpar_rules_destroy(rules);
}

/* No edit makes a byte order mark at the front, in whichever chunk its bytes are: not a removal, an
 * insertion of one, or an insertion of its first byte. */
static void test_marks(void) {
  static const char *const encodings[] = {"utf-8", "windows-1252"};
  static const char *const pages[] = {"<p>a</p><p>b</p>\xFF\xFE<u>x</u>", "<p>a</p><p>b</p><u>x</u><u>y</u>",
                                      "<p>a</p><s></s>\xFE<u>x</u>"};
  const hpar_action remove = {.kind = HPAR_ACTION_REMOVE},
                    before = {.kind = HPAR_ACTION_BEFORE, .value = {"\xEF\xBB\xBF", 3}},
                    replace = {.kind = HPAR_ACTION_REPLACE, .value = {"\xC3\xBF", 2}};
  const hpar_rule rule[] = {{HPAR_RULE_INIT, .selector = "p", .actions = &remove, .action_count = 1},
                            {HPAR_RULE_INIT, .selector = "u", .actions = &before, .action_count = 1},
                            {HPAR_RULE_INIT, .selector = "s", .actions = &replace, .action_count = 1}};
  unsigned guards = 0;
  for (size_t i = 0; i < 6; i++) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = encodings[i % 2]};
    const char *page = pages[i / 2];
    hpar_rules *rules = division_begin_rules();
    for (size_t k = 0; k < 3; k++) division_add_rule(rules, &rule[k]);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    division_rewrite_alone(rules, &options, page, strlen(page));
    guards += !memcmp(division_expected.out.bytes, "</>", 3);
    for (size_t cut = 1; cut < strlen(page); cut++) {
      const hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .is_inline = true};
      CHECK(division_check(rules, &options, page, strlen(page), &division));
    }
    hpar_rules_destroy(rules);
  }
  CHECK_EQ(guards, 4);
}

/* Each allocation in turn fails, in a worker or in the merger. */
static void test_memory(bool edits_units) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hp_rewrite_division division = {.chunk_size = 700, .is_inline = true};
  division_state = 5;
  make_large(60);
  division_has_calls = false; /* a callback could not report the failure */
  hpar_rules *rules = edits_units ? division_make_unit_rules(4) : division_make_rules(4);
  division_rewrite_alone(rules, &options, large.bytes, large.length);
  options.mode = HPAR_MODE_PARALLEL;
  bool is_complete = false;
  for (unsigned n = 0; !is_complete && n < 5000; n++) {
    hpar_rewriter *rewriter;
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    CHECK_EQ(hp_rewriter_divide(rewriter, &division), HPAR_OK);
    buffer_clear(&division_got.out);
    buffer_add(&division_got.out, large.bytes, large.length); /* takes the memory */
    buffer_clear(&division_got.out);
    hp_memory_fail_once(n);
    division_rewrite(rewriter, rules, &options, large.bytes, large.length, &division_got);
    is_complete = hp_memory_left() != UINT64_MAX;
    hp_memory_fail_after(UINT64_MAX);
    if (division_got.status == HPAR_OK)
      CHECK(division_got.out.length == division_expected.out.length &&
            !memcmp(division_got.out.bytes, division_expected.out.bytes, division_got.out.length));
    else
      CHECK(division_got.status == HPAR_ERROR_MEMORY && division_got.out.length <= division_expected.out.length &&
            !memcmp(division_got.out.bytes, division_expected.out.bytes, division_got.out.length));
    hpar_rewriter_destroy(rewriter);
  }
  CHECK(is_complete);
  hpar_rules_destroy(rules);
}

static void test_options(void) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .mode = (hpar_mode)(HPAR_MODE_PARALLEL + 1)};
  hpar_rules *rules = division_make_rules(1);
  CHECK_EQ(hpar_rewrite(division_parallel, rules, &options, "", 0, NULL, division_collect, &division_got.out),
           HPAR_ERROR_ARGUMENT);
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = HPAR_MAX_THREADS + 1;
  CHECK_EQ(hpar_rewrite(division_parallel, rules, &options, "", 0, NULL, division_collect, &division_got.out),
           HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

/* Chunks that threads claim, between parts that the merger rewrites. */
static void test_claimed_chunks(unsigned rounds) {
  static const char *const given[] = {"a[href]", "div p", "tr > td", "x-none"};
  enum { GIVEN = sizeof given / sizeof *given };
  const hp_rewrite_division division = {.chunk_size = 0};
  make_large(12000);
  for (unsigned i = 0; i < GIVEN + rounds; i++) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2 + i % 3};
    hpar_rules *rules = i < GIVEN ? division_make_setting(given[i])
                        : i % 2   ? division_make_rules(1 + i % MAX_RULES)
                                  : division_make_unit_rules(1 + i % 3);
    hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
    division_rewrite_alone(rules, &options, large.bytes, large.length);
    CHECK(division_check(rules, &options, large.bytes, large.length, &division));
    hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
    CHECK(i >= GIVEN || after.exact_chunks > before.exact_chunks);
    CHECK(after.rewritten_bytes - before.rewritten_bytes <= large.length);
    hpar_rules_destroy(rules);
  }
}

/*** the caller's executor ***/

/* The caller's executor runs a window, in any order and with any threads. */
static void test_executors(unsigned rounds) {
  static const hpar_run_callback given[] = {run_threads, run_backwards, run_forwards, run_none};
  enum { GIVEN = sizeof given / sizeof *given };
  const hp_rewrite_division division = {.chunk_size = 5000};
  const uint64_t state = division_state; /* the later tests depend on it */
  unsigned runs = 0;
  make_large(300);
  for (unsigned i = 0; i < rounds * GIVEN; i++) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2 + i % 5,
                                          .run = given[i % GIVEN], .run_context = &runs};
    division_state = 70 + i;
    hpar_rules *rules = i % 2 ? division_make_rules(1 + i % MAX_RULES) : division_make_unit_rules(1 + i % 3);
    division_rewrite_alone(rules, &options, large.bytes, large.length);
    const hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
    CHECK(division_check(rules, &options, large.bytes, large.length, &division));
    const hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
    CHECK(given[i % GIVEN] != run_backwards || after.adopted_segments > before.adopted_segments);
    hpar_rules_destroy(rules);
  }
  CHECK(runs > rounds * GIVEN / 2);
  division_state = state;
}

int main(void) {
  division_open();
  test_options();
  test_long_raw_text();
  test_executors(division_scale(8));
  test_threads(division_scale(40));
  if (CHECK_ONE_THREAD) {
    test_units();
    test_long_texts();
  }
  test_retired_texts();
  test_feeds(false);
  test_feeds(true);
  test_failures();
  test_failed_output();
  test_long_tag();
  test_marks();
  test_claimed_chunks(division_scale(10));
  test_memory(false);
  test_memory(true);
  CHECK(hp_rewriter_counters(division_parallel).adopted_segments);
  division_close();
  buffer_free(&large);
  return check_report();
}
