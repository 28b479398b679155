/* Rewriting by several workers. The output, the status and the statistics equal those of the
 * sequential rewriter, for every cut, and for generated pages, rules and cuts.
 * With the argument "fixtures": the inputs of html5lib-tests and outside pages. */

#include "base/memory.h"
#include "check.h"
#include "rewrite/parallel.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/generate.h"
#include "support/shared.h"

#include <hpar/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 4, MAX_CUTS = 12 };

typedef struct result {
  buffer out, calls;
  hpar_status status;
  hpar_rewrite_stats stats;
} result;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static buffer *calls; /* what callbacks report */
static hpar_rewriter *sequential, *parallel;
static hp_rewrite_counters sum;

/* Rewrites, with a division or without. */
static void rewrite(hpar_rewriter *rewriter, const hpar_rules *rules, const hpar_rewrite_options *options,
                    const char *text, size_t length, result *to) {
  buffer_clear(&to->out);
  buffer_clear(&to->calls);
  calls = &to->calls;
  to->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
  to->status = hpar_rewrite(rewriter, rules, options, text, length, collect, &to->out, &to->stats);
}

static bool equals(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

/* The counters of edits differ after a failure. The rewriter stops to read tags some time after all
 * rules have retired. */
static bool is_same(const result *a, const result *b) {
  const hpar_rewrite_stats *x = &a->stats, *y = &b->stats;
  if (!equals(&a->calls, &b->calls) || !equals(&a->out, &b->out) || a->status != b->status) return false;
  if (!x->retired && !y->retired && (x->tags != y->tags || x->depth != y->depth)) return false;
  return x->matches == y->matches && (a->status || x->edits == y->edits) && x->misplaced == y->misplaced &&
         x->output_bytes == y->output_bytes && x->failed_at == y->failed_at && x->encoding == y->encoding;
}

/* Prints the counters, and the output from a little before `from` on. */
static void show(const char *name, const result *r, size_t from) {
  buffer shown = {0};
  from = from > 40 ? from - 40 : 0;
  if (from < r->out.length) buffer_escaped(&shown, r->out.bytes + from, r->out.length - from);
  printf("%.400s", r->calls.length ? r->calls.bytes : "");
  printf("%s: status %d, %llu tags, %llu matches, %llu edits, depth %llu, misplaced %llu\n  %.200s\n", name, r->status,
         (unsigned long long)r->stats.tags, (unsigned long long)r->stats.matches, (unsigned long long)r->stats.edits,
         (unsigned long long)r->stats.depth, (unsigned long long)r->stats.misplaced, shown.bytes ? shown.bytes : "");
  buffer_free(&shown);
}

static result expected, got;

static bool check_division(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text,
                           size_t length, const hp_rewrite_division *division) {
  hpar_rewrite_options own = *options;
  own.mode = HPAR_MODE_PARALLEL;
  CHECK_EQ(hp_rewriter_divide(parallel, division), HPAR_OK);
  rewrite(parallel, rules, &own, text, length, &got);
  if (CHECK(is_same(&expected, &got))) return true;
  buffer shown = {0};
  buffer_escaped(&shown, text, length);
  printf("input: %.3000s\ncuts:", shown.bytes);
  for (size_t i = 0; i < division->cut_count; i++) printf(" %zu", division->cuts[i]);
  printf(" checkpoint %u\n", division->checkpoint_bytes);
  size_t same = 0;
  while (same < expected.out.length && same < got.out.length && expected.out.bytes[same] == got.out.bytes[same]) same++;
  show("expected", &expected, same);
  show("got", &got, same);
  buffer_free(&shown);
  return false;
}

static void rewrite_alone(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text,
                          size_t length) {
  hpar_rewrite_options own = *options;
  own.mode = HPAR_MODE_SEQUENTIAL;
  rewrite(sequential, rules, &own, text, length, &expected);
}

/*** rules ***/

static const char *const selectors[] = {
    "a",      "p",        "b",           "div",     "li",           "td",           "[class]", ".x",       "a[href]",
    "div p",  "ul > li",  "div div",     "div > *", "b i",          "table td",     "tr > td", "body > p", "svg *",
    "*",      "p b",      "div div div", ":not(p)", "i, u",         "custom-x",     "form",    "option",   "html p",
    "#y > b", "select *", "template p",  "h1",      ":is(div p) b", "p:not(div p)", "font",    "nobr",     "tbody > tr",
    "li li",  "dd",       "object",      "button b"};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

/* Selectors that count or compare siblings. */
static const char *const counting[] = {"p + p",
                                       "p ~ b",
                                       "b + *",
                                       "h1 ~ h2",
                                       "* + * + *",
                                       "li ~ li > a",
                                       "div p + b",
                                       "tr + tr td",
                                       "i ~ b i",
                                       ":nth-child(2)",
                                       "p:nth-child(2n)",
                                       "li:nth-child(2n+1) b",
                                       ":first-child",
                                       "p:first-child b",
                                       "tr:nth-child(2) > td",
                                       ":nth-of-type(2)",
                                       ".x:nth-of-type(2n+1)",
                                       "p:nth-of-type(2n)",
                                       "li:first-of-type + li",
                                       ":nth-child(-n+2)",
                                       ":nth-child(2 of .x, p)",
                                       "b:nth-child(2n of b)",
                                       "p:not(:nth-child(2))",
                                       ":is(:nth-child(2), p + b)",
                                       "*:not(p ~ b)",
                                       "custom-x:nth-of-type(1)",
                                       "p:nth-child(2n+1):nth-child(3n+1)",
                                       "div > :nth-child(2)",
                                       ":nth-child(2 of p + *)",
                                       "svg > :nth-of-type(2n)",
                                       "p:not(:first-child)",
                                       "div > p:nth-child(n+2)",
                                       "td:first-child + td",
                                       "option:nth-child(2n)",
                                       "dd ~ dt"};
enum { COUNTING = sizeof counting / sizeof *counting };

static const hpar_action all_actions[] = {
    {.kind = HPAR_ACTION_BEFORE, .format = HPAR_CONTENT_HTML, .value = {"(", 1}},
    {.kind = HPAR_ACTION_AFTER, .format = HPAR_CONTENT_HTML, .value = {")", 1}},
    {.kind = HPAR_ACTION_PREPEND, .value = {"<", 1}},
    {.kind = HPAR_ACTION_APPEND, .value = {"&", 1}},
    {.kind = HPAR_ACTION_INNER, .format = HPAR_CONTENT_HTML, .value = {"inner", 5}},
    {.kind = HPAR_ACTION_REPLACE, .format = HPAR_CONTENT_HTML, .value = {"<new>", 5}},
    {.kind = HPAR_ACTION_REMOVE},
    {.kind = HPAR_ACTION_UNWRAP},
    {.kind = HPAR_ACTION_RENAME, .name = "renamed"},
    {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "class", .value = {"z", 1}},
    {.kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = "class"},
    {.kind = HPAR_ACTION_PREFIX_ATTRIBUTE, .name = "href", .value = {"q", 1}, .replacement = {"rr", 2}}};
enum { ACTIONS = sizeof all_actions / sizeof *all_actions };

static uint64_t state = 1;

static unsigned pick(unsigned below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state >> 33) % below;
}

static hpar_rewrite_result note_element(hpar_element *element, void *context) {
  uint64_t start, end;
  hpar_element_range(element, &start, &end);
  hpar_string name = hpar_element_name(element);
  buffer_format(calls, "%s %.*s %llu-%llu %d %zu\n", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)end, hpar_element_removed(element),
                hpar_element_attribute_count(element));
  if (start % 5 == 1) hpar_element_set(element, "title", "t", 1);
  if (start % 7 == 2) hpar_element_insert(element, HPAR_WHERE_AFTER, "[", 1, HPAR_CONTENT_TEXT);
  return start % 11 == 3 ? HPAR_REWRITE_RETIRE : start % 101 == 4 ? HPAR_REWRITE_STOP : HPAR_REWRITE_NEXT;
}

static hpar_rewrite_result note_end(hpar_element_end *end, void *context) {
  uint64_t start, stop;
  hpar_element_end_range(end, &start, &stop);
  hpar_string name = hpar_element_end_name(end);
  buffer_format(calls, "%s /%.*s %llu-%llu %d\n", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)stop, hpar_element_end_implied(end));
  if (start % 3 == 1) hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "]", 1, HPAR_CONTENT_TEXT);
  return HPAR_REWRITE_NEXT;
}

static void note_found(void *context, uint64_t start, uint64_t end) {
  buffer_format(calls, "%s found %llu-%llu\n", (const char *)context, (unsigned long long)start,
                (unsigned long long)end);
}

/* The same without a log: what the callback sees goes into the output. */
static hpar_rewrite_result edit_purely(hpar_element *element, void *context) {
  uint64_t start, end;
  hpar_element_range(element, &start, &end);
  buffer seen = {0};
  hpar_string name = hpar_element_name(element);
  buffer_format(&seen, "{%s %.*s %llu-%llu %d %d}", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)end, start % 3 ? hpar_element_removed(element) : 2,
                start % 13 == 1 ? (int)hpar_element_depth(element) : -1);
  hpar_element_insert(element, HPAR_WHERE_BEFORE, seen.bytes, seen.length, HPAR_CONTENT_HTML);
  buffer_free(&seen);
  if (start % 5 == 1) hpar_element_set(element, "title", "t", 1);
  return start % 23 == 3 ? HPAR_REWRITE_RETIRE : start % 301 == 4 ? HPAR_REWRITE_STOP : HPAR_REWRITE_NEXT;
}

static hpar_rewrite_result end_purely(hpar_element_end *end, void *context) {
  uint64_t start, stop;
  hpar_element_end_range(end, &start, &stop);
  (void)context;
  hpar_element_end_insert(end, HPAR_WHERE_BEFORE, start % 2 ? "]" : "[", 1, HPAR_CONTENT_TEXT);
  if (start % 7 == 1) hpar_element_end_rename(end, "x-e");
  return start % 29 == 3 ? HPAR_REWRITE_RETIRE : HPAR_REWRITE_NEXT;
}

/* Adds callbacks or a limit to some rules. */
static void add_calls(hpar_rule *rule, unsigned number) {
  static char names[][2] = {"0", "1", "2", "3"};
  rule->context = names[number];
  switch (pick(8)) {
    case 0: rule->element = note_element; break;
    case 1: rule->end = note_end; break;
    case 2: rule->limit = 1 + pick(3); break;
    case 3: rule->found = note_found; break;
    case 4: rule->limit = 1 + pick(20); /* fall through */
    case 5:
      rule->pure = true;
      if (pick(3)) rule->element = edit_purely;
      if (!rule->element || pick(2)) rule->end = end_purely;
      break;
    default: break;
  }
}

static bool has_calls = true;

static hpar_rules *make_rules(unsigned count) {
  bool counts = pick(3) == 0;
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (unsigned i = 0; i < count; i++) {
    hpar_action actions[3];
    size_t n = 1 + pick(3);
    for (size_t k = 0; k < n; k++) actions[k] = all_actions[pick(ACTIONS)];
    const char *selector = counts && pick(3) ? counting[pick(COUNTING)] : selectors[pick(SELECTORS)];
    hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = actions, .action_count = n};
    if (has_calls) add_calls(&rule, i);
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

/*** every cut ***/

static const char *const pages[] = {
    "<!doctype html><p class=x>a<b>c<p>d</b>e<div><p>f</div><ul><li>1<li>2<ul><li>3</ul></ul>g",
    "<div><div><div><a href=q>x</a></div><p>y</div></div><table><tr><td>1<td>2<tr><td><b>3</table>z",
    "<body><p>a<i>b<table><tr>c<td>d</table>e</i><svg><g><p>f</svg><svg><desc><b>g</desc></g></svg>h",
    "<form><p>a</form><b><p>c</b>d<select><option>1<option>2</select><template><p>e</template><pre>\nf</pre>",
    "<script>if (a<b) '<p>'</script><!-- <p> --><style><p></style><textarea>\n<p></textarea><p>x<title><p></title>",
    "<custom-x class=x><custom-y><p>a</custom-x>b<dl><dt>c<dd>d<dt>e</dl><h1>f<h2>g</h1><button><b>h<button>i",
    "<b><b><b><b><p>a</p></b></b><a href=q>b<a href=q>c<nobr>d<nobr>e</nobr><object><b>f</object><font color=red>g",
    "<p>a&amp<p>b&<table>\n <tbody> <tr>&#10;x<td></table><math><mi><p>c</math></p><br></br></body><p>d</html>e"};
enum { PAGES = sizeof pages / sizeof *pages };

static const unsigned checkpoints[] = {1, 16 << 10};

static void test_cuts(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (unsigned i = 0; i < PAGES; i++) {
    for (unsigned round = 0; round < 24; round++) {
      hpar_rules *rules = make_rules(1 + round % MAX_RULES);
      size_t length = strlen(pages[i]);
      rewrite_alone(rules, &options, pages[i], length);
      for (size_t cut = 1; cut < length; cut++) {
        size_t cuts[2] = {cut, cut + 1 + pick((unsigned)(length - cut))};
        hp_rewrite_division division = {.cuts = cuts,
                                        .cut_count = 1 + (cuts[1] < length),
                                        .checkpoint_bytes = checkpoints[cut % 2],
                                        .min_limit = 1 + round % 4,
                                        .is_inline = true};
        if (!check_division(rules, &options, pages[i], length, &division)) break;
      }
      hpar_rules_destroy(rules);
    }
  }
}

/*** conditions ***/

static hpar_rules *make_attribute_rules(unsigned count) {
  bool counts = pick(2) == 0;
  static const char *const given[] = {"div > p", "ul > li",    "div > *", "p > b",         "tr > td", "div > [class]",
                                      "b > b",   ":is(div>p)", "* > a",   "div>p, ul > p", "li > ul", "* > td > b"};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (unsigned i = 0; i < count; i++) {
    const hpar_action *action = &all_actions[ACTIONS - 3 + pick(3)];
    const hpar_rule rule = {HPAR_RULE_INIT,
                            .selector = counts ? counting[pick(COUNTING)] : given[pick(sizeof given / sizeof *given)],
                            .actions = action, .action_count = 1};
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

/* Rules for children of unknown elements that edit attributes. */
static void test_conditions(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (unsigned i = 0; i < PAGES; i++) {
    for (unsigned round = 0; round < 16; round++) {
      hpar_rules *rules = make_attribute_rules(1 + round % 3);
      size_t length = strlen(pages[i]);
      rewrite_alone(rules, &options, pages[i], length);
      for (size_t cut = 1; cut < length; cut++) {
        hp_rewrite_division division = {
            .cuts = &cut, .cut_count = 1, .checkpoint_bytes = checkpoints[cut % 2], .is_inline = true};
        if (!check_division(rules, &options, pages[i], length, &division)) break;
      }
      hpar_rules_destroy(rules);
    }
  }
}

/* The parents of the matching elements alternate: no prediction of a parent holds for long. */
static void test_alternating_parents(void) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "div > p", .actions = &set, .action_count = 1};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hp_rewrite_division division = {.chunk_size = 3000, .is_inline = true};
  buffer page = {0};
  hpar_rules *rules;
  for (unsigned i = 0; i < 300; i++) {
    buffer_text(&page, i % 2 ? "<section>" : "<div>");
    for (unsigned k = 0; k < 1 + i * 7 % 30; k++) buffer_text(&page, "<p>some text</p>");
    buffer_text(&page, i % 2 ? "</section>" : "</div>");
  }
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  rewrite_alone(rules, &options, page.bytes, page.length);
  CHECK(expected.stats.matches > 1000);
  hp_rewrite_counters before = hp_rewriter_counters(parallel);
  check_division(rules, &options, page.bytes, page.length, &division);
  hp_rewrite_counters after = hp_rewriter_counters(parallel);
  CHECK(after.chunks - before.chunks > 20);
  CHECK((after.rewritten_bytes - before.rewritten_bytes) * 20 < page.length);
  hpar_rules_destroy(rules);
  buffer_free(&page);
}

/* Elements with and without a first h1 alternate, and many children read no bit of it. */
static void test_alternating_siblings(void) {
  static const char *const given[] = {"h1 ~ p", "h1 ~ p:nth-child(2n)", "b + p", "p:nth-of-type(3)"};
  static const hpar_action actions[] = {{.kind = HPAR_ACTION_PREPEND, .value = {"v", 1}},
                                        {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer page = {0};
  for (unsigned i = 0; i < 60; i++) {
    buffer_text(&page, i % 3 ? "<section>" : "<div><h1>h</h1>");
    for (unsigned k = 0; k < i * 37 % 130; k++)
      buffer_text(&page, k % 13 == 5 ? "<p>some text</p>" : "<b>bold text</b>");
    buffer_text(&page, i % 3 ? "<p>x</p></section>" : "<p>y</p></div>");
  }
  for (unsigned i = 0; i < 2 * sizeof given / sizeof *given; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = given[i / 2], .actions = &actions[i % 2], .action_count = 1};
    hpar_rules *rules;
    CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    rewrite_alone(rules, &options, page.bytes, page.length);
    CHECK(expected.stats.matches > 20);
    for (size_t size = 300; size < 3000; size += 217) {
      const hp_rewrite_division division = {
          .chunk_size = size, .checkpoint_bytes = checkpoints[size % 2], .is_inline = true};
      check_division(rules, &options, page.bytes, page.length, &division);
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/* A comment, or a script, of many chunks looks like markup. The merger skips these chunks. */
static void test_long_raw_text(void) {
  static const char *const parts[][2] = {{"<!--", "-->"}, {"<script>", "</script>"}, {"<textarea>", "</textarea>"}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2};
  const hp_rewrite_division inside = {.chunk_size = 3000, .is_inline = true}, threads = {.chunk_size = 3000};
  enum { LINES = 3000 };
  state = 9;
  hpar_rules *rules = make_rules(3);
  buffer page = {0};
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
    buffer_clear(&page);
    for (unsigned line = 0; line < LINES; line++) {
      if (line == LINES / 6) buffer_text(&page, parts[i][0]);
      if (line == LINES - LINES / 6) buffer_text(&page, parts[i][1]);
      buffer_text(&page, "<p class=x>a <b>bold</b> word and <a href=q>a link</a>\n");
    }
    rewrite_alone(rules, &options, page.bytes, page.length);
    uint64_t skipped = hp_rewriter_counters(parallel).skipped_chunks;
    check_division(rules, &options, page.bytes, page.length, &inside);
    skipped = hp_rewriter_counters(parallel).skipped_chunks - skipped;
    CHECK(skipped + 5 > page.length / 3000 * 2 / 3);
    check_division(rules, &options, page.bytes, page.length, &threads);
  }
  hpar_rules_destroy(rules);
  buffer_free(&page);
}

/*** generated pages ***/

/* Compares one page under one set of rules and one division. */
static bool check_generated(const hpar_rules *rules, const char *text, size_t length, bool has_threads) {
  size_t cuts[MAX_CUTS], cut_count = 0;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = pick(4) ? "utf-8" : NULL,
                                        .scripting = pick(2), .quirks = pick(2), .threads = has_threads ? 2 : 0};
  for (size_t at = 1 + pick(20); at < length && cut_count < MAX_CUTS; at += 1 + pick((unsigned)length / 3 + 2))
    cuts[cut_count++] = at;
  const hp_rewrite_division division = {.cuts = cuts,
                                        .cut_count = cut_count,
                                        .checkpoint_bytes = checkpoints[pick(2)],
                                        .min_limit = 1 + pick(4),
                                        .is_inline = !has_threads};
  rewrite_alone(rules, &options, text, length);
  return check_division(rules, &options, text, length, &division);
}

/* Tests pages from number `from` on, each with up to `longest` bytes and with rules of its own.
 * Some pages have threads. */
static void test_generated(unsigned from, unsigned count, size_t longest) {
  enum { WITH_THREADS = 500 };
  generated made = {0};
  for (unsigned i = from; i < from + count; i++) {
    state = i;
    generate(i, &made);
    size_t length = made.text.length < longest ? made.text.length : longest;
    hpar_rules *rules = pick(4) ? make_rules(1 + pick(MAX_RULES)) : make_attribute_rules(1 + pick(3));
    bool same = check_generated(rules, made.text.bytes, length, i % WITH_THREADS == 0);
    hpar_rules_destroy(rules);
    if (!same) {
      printf("generated page %u\n", i);
      break;
    }
  }
  generate_free(&made);
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
    buffer_text(&large, parts[pick(sizeof parts / sizeof *parts)]);
  }
}

static void test_threads(unsigned rounds) {
  make_large(3000);
  for (unsigned round = 0; round < rounds; round++) {
    hpar_rules *rules = make_rules(1 + pick(MAX_RULES));
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .threads = 2 + round % 3};
    hp_rewrite_division division = {
        .chunk_size = 2000 + pick(20000), .checkpoint_bytes = checkpoints[round % 2], .min_limit = round % 3 * 5};
    rewrite_alone(rules, &options, large.bytes, large.length);
    check_division(rules, &options, large.bytes, large.length, &division);
    hpar_rules_destroy(rules);
  }
}

/* Feeds of any length give the same output. */
static void test_feeds(void) {
  hpar_rules *rules = make_rules(3);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = 2, .mode = HPAR_MODE_PARALLEL};
  hp_rewrite_division division = {.chunk_size = 3000};
  rewrite_alone(rules, &options, large.bytes, large.length);
  CHECK_EQ(hp_rewriter_divide(parallel, &division), HPAR_OK);
  for (size_t step = 100; step < large.length; step = step * 3 + 1) {
    buffer_clear(&got.out);
    buffer_clear(&got.calls);
    calls = &got.calls;
    got.stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
    got.status = hpar_rewriter_begin(parallel, rules, &options, collect, &got.out);
    for (size_t at = 0; !got.status && at < large.length; at += step)
      got.status = hpar_rewriter_feed(parallel, large.bytes + at, large.length - at < step ? large.length - at : step);
    hpar_status finished = hpar_rewriter_finish(parallel, &got.stats);
    if (!got.status) got.status = finished;
    CHECK(is_same(&expected, &got));
  }
  hpar_rules_destroy(rules);
}

/*** failures ***/

static hpar_status refuse_after(const char *bytes, size_t length, void *context) {
  buffer *out = context;
  buffer_add(out, bytes, length);
  return out->length > 60000 ? HPAR_ERROR_IO : HPAR_OK;
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
    rewrite_alone(rules, &options, large.bytes, large.length);
    CHECK_EQ(expected.status, HPAR_ERROR_ARGUMENT);
    check_division(rules, &options, large.bytes, large.length, &inside);
    check_division(rules, &options, large.bytes, large.length, &threads);
  }
  hpar_rules_destroy(rules);
  /* Rules that remove nothing: the output is longer than what the function takes. */
  const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}};
  const hpar_rule keep = {HPAR_RULE_INIT, .selector = "a", .actions = &set, .action_count = 1};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &keep, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  options.mode = HPAR_MODE_PARALLEL;
  buffer_clear(&got.out);
  CHECK_EQ(hp_rewriter_divide(parallel, &threads), HPAR_OK);
  CHECK_EQ(hpar_rewrite(parallel, rules, &options, large.bytes, large.length, refuse_after, &got.out, NULL),
           HPAR_ERROR_IO);
  hpar_rules_destroy(rules);
}

/* Each allocation in turn fails, in a worker or in the merger. */
static void test_memory(void) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hp_rewrite_division division = {.chunk_size = 700, .is_inline = true};
  state = 5;
  make_large(60);
  has_calls = false; /* a callback could not report the failure */
  hpar_rules *rules = make_rules(4);
  rewrite_alone(rules, &options, large.bytes, large.length);
  options.mode = HPAR_MODE_PARALLEL;
  bool is_complete = false;
  for (unsigned n = 0; !is_complete && n < 5000; n++) {
    hpar_rewriter *rewriter;
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    CHECK_EQ(hp_rewriter_divide(rewriter, &division), HPAR_OK);
    buffer_clear(&got.out);
    buffer_add(&got.out, large.bytes, large.length); /* takes the memory */
    buffer_clear(&got.out);
    hp_memory_fail_once(n);
    rewrite(rewriter, rules, &options, large.bytes, large.length, &got);
    is_complete = hp_memory_left() != UINT64_MAX;
    hp_memory_fail_after(UINT64_MAX);
    if (got.status == HPAR_OK)
      CHECK(got.out.length == expected.out.length && !memcmp(got.out.bytes, expected.out.bytes, got.out.length));
    else
      CHECK(got.status == HPAR_ERROR_MEMORY && got.out.length <= expected.out.length &&
            !memcmp(got.out.bytes, expected.out.bytes, got.out.length));
    hpar_rewriter_destroy(rewriter);
  }
  CHECK(is_complete);
  hpar_rules_destroy(rules);
}

static void test_options(void) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .mode = HPAR_MODE_PIPELINED};
  hpar_rules *rules = make_rules(1);
  CHECK_EQ(hpar_rewrite(parallel, rules, &options, "", 0, collect, &got.out, NULL), HPAR_ERROR_ARGUMENT);
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = HPAR_MAX_THREADS + 1;
  CHECK_EQ(hpar_rewrite(parallel, rules, &options, "", 0, collect, &got.out, NULL), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

static unsigned scale(unsigned count) {
  const char *text = getenv("HPAR_TEST_SCALE");
  unsigned percent = text ? (unsigned)strtoul(text, NULL, 10) : 100;
  return count * percent / 100 + 1;
}

/*** fixtures ***/

/* Compares a document under rules of its own for every `step`-th cut. */
static uint64_t compare_cuts(const compare_case *of, unsigned seed, size_t step) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .scripting = of->scripting,
                                        .fragment = of->fragment};
  uint64_t compared = 0;
  state = seed;
  hpar_rules *rules = seed % 4 ? make_rules(1 + seed % MAX_RULES) : make_attribute_rules(1 + seed % 3);
  rewrite_alone(rules, &options, of->bytes, of->length);
  for (size_t cut = 1 + seed % step; cut < of->length; cut += step, compared++) {
    const hp_rewrite_division division = {.cuts = &cut,
                                          .cut_count = 1,
                                          .checkpoint_bytes = checkpoints[cut % 2],
                                          .min_limit = 1 + cut % 4,
                                          .is_inline = true};
    if (!check_division(rules, &options, of->bytes, of->length, &division)) break;
  }
  hpar_rules_destroy(rules);
  return compared;
}

static uint64_t compare_file(const char *path) {
  uint64_t compared = 0;
  unsigned sets = compare_full() ? 8 : 1; /* of rules */
  dat_file file;
  if (!CHECK(dat_read(path, &file))) return 0;
  for (size_t i = 0; i < file.count; i++) {
    const dat_test *test = &file.tests[i];
    const compare_case of = {.bytes = test->data,
                             .length = test->data_length,
                             .fragment = test->fragment,
                             .scripting = test->scripting == DAT_ON};
    for (unsigned set = 0; set < sets; set++) compared += compare_cuts(&of, (unsigned)i * 8 + set, 1);
  }
  dat_free(&file);
  return compared;
}

/* Compares every cut of the fixtures, and 60 cuts of each outside page. Returns false without them.
 */
static bool test_fixtures(void) {
  enum { CUTS_OF_PAGE = 60 };
  char directory[4096];
  shared_list files;
  uint64_t of_fixtures = 0, of_pages = 0;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  if (!CHECK(shared_files(directory, ".dat", &files))) return true;
  for (size_t i = 0; i < files.count; i++) of_fixtures += compare_file(files.paths[i]);
  shared_list_free(&files);
  if (shared_path(directory, sizeof directory, "corpus/pages") && CHECK(shared_files(directory, ".html", &files))) {
    for (size_t i = 0; i < files.count; i += compare_full() ? 1 : 40) {
      compare_case of = {0};
      char *bytes = shared_read(files.paths[i], &of.length);
      of.bytes = bytes;
      if (bytes) of_pages += compare_cuts(&of, (unsigned)i + 1, 1 + of.length / CUTS_OF_PAGE);
      free(bytes);
    }
    shared_list_free(&files);
  }
  printf("%llu cuts of fixtures, %llu of pages\n", (unsigned long long)of_fixtures, (unsigned long long)of_pages);
  return true;
}

int main(int argc, char **argv) {
  CHECK_EQ(hpar_rewriter_create(&sequential), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&parallel), HPAR_OK);
  bool skipped = false;
  if (check_part(argc, argv, "fixtures")) {
    skipped = !test_fixtures();
  } else if (argc > 2) {
    test_generated((unsigned)strtoul(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10),
                   argc > 3 ? strtoul(argv[3], NULL, 10) : SIZE_MAX);
  } else {
    test_options();
    test_cuts();
    test_conditions();
    test_alternating_parents();
    test_alternating_siblings();
    test_long_raw_text();
    test_generated(1, scale(20000), SIZE_MAX);
    test_threads(scale(40));
    test_feeds();
    test_failures();
    test_memory();
  }
  sum = hp_rewriter_counters(parallel);
  printf("%llu chunks, %llu of %llu segments adopted, %llu of %llu bytes rewritten by the merger\n",
         (unsigned long long)sum.chunks, (unsigned long long)sum.adopted_segments, (unsigned long long)sum.segments,
         (unsigned long long)sum.rewritten_bytes, (unsigned long long)sum.bytes);
  CHECK(skipped || sum.adopted_segments);
  hpar_rewriter_destroy(sequential);
  hpar_rewriter_destroy(parallel);
  buffer_free(&expected.out);
  buffer_free(&got.out);
  buffer_free(&expected.calls);
  buffer_free(&got.calls);
  buffer_free(&large);
  return skipped ? CHECK_SKIPPED : check_report();
}
