/* Rewriting by workers at every cut, and at cuts of generated pages under generated rules. Output,
 * status, statistics and calls equal those of the sequential rewriter.
 * With the argument "fixtures": the inputs of html5lib-tests and outside pages. With "page FILE":
 * every 24th cut of the file or, with HPAR_TEST_FULL=1, every one. With two numbers: generated
 * pages. */

#include "check.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/division.h"
#include "support/generate.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 4, MAX_CUTS = 12 };

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

static void test_cuts(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (unsigned i = 0; i < PAGES; i++) {
    for (unsigned round = 0; round < 36; round++) {
      hpar_rules *rules = round % 3 == 2 ? division_make_unit_rules(1 + round / 3 % MAX_RULES)
                                         : division_make_rules(1 + round % MAX_RULES);
      size_t length = strlen(pages[i]);
      division_rewrite_alone(rules, &options, pages[i], length);
      for (size_t cut = 1; cut < length; cut++) {
        size_t cuts[2] = {cut, cut + 1 + division_pick((unsigned)(length - cut))};
        hp_rewrite_division division = {.cuts = cuts,
                                        .cut_count = 1 + (cuts[1] < length),
                                        .checkpoint_bytes = division_checkpoints[cut % 2],
                                        .min_limit = 1 + round % 4,
                                        .is_inline = true};
        if (!CHECK(division_check(rules, &options, pages[i], length, &division))) break;
      }
      hpar_rules_destroy(rules);
    }
  }
}

/*** conditions ***/

/* Rules for children of unknown elements that edit attributes. */
static void test_conditions(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (unsigned i = 0; i < PAGES; i++) {
    for (unsigned round = 0; round < 16; round++) {
      hpar_rules *rules = division_make_attribute_rules(1 + round % 3);
      size_t length = strlen(pages[i]);
      division_rewrite_alone(rules, &options, pages[i], length);
      for (size_t cut = 1; cut < length; cut++) {
        hp_rewrite_division division = {
            .cuts = &cut, .cut_count = 1, .checkpoint_bytes = division_checkpoints[cut % 2], .is_inline = true};
        if (!CHECK(division_check(rules, &options, pages[i], length, &division))) break;
      }
      hpar_rules_destroy(rules);
    }
  }
}

/* The first element after the cut matches nothing, and has the frame of its parent. A child of it
 * is no child of the outer current node. */
static void test_children_of_children(void) {
  static const char page[] =
      "<body><div><span title=text>       text <p id=i> text <li class=\"a class of a list item\">x";
  static const char *const given[] = {"div > p", "div div", "body p", "div > li"};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  for (unsigned i = 0; i < sizeof given / sizeof *given; i++) {
    hpar_rules *rules = division_make_settings((const char *[]){given[i], given[(i + 1) % 4]}, 2);
    division_rewrite_alone(rules, &options, page, strlen(page));
    for (size_t cut = 1; cut < strlen(page); cut++) {
      hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .checkpoint_bytes = 1, .is_inline = true};
      if (!CHECK(division_check(rules, &options, page, strlen(page), &division))) break;
    }
    hpar_rules_destroy(rules);
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
  division_rewrite_alone(rules, &options, page.bytes, page.length);
  CHECK(division_expected.stats.matches > 1000);
  hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
  CHECK(division_check(rules, &options, page.bytes, page.length, &division));
  hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
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
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    CHECK(division_expected.stats.matches > 20);
    for (size_t size = 300; size < 3000; size += 217) {
      const hp_rewrite_division division = {
          .chunk_size = size, .checkpoint_bytes = division_checkpoints[size % 2], .is_inline = true};
      CHECK(division_check(rules, &options, page.bytes, page.length, &division));
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/* The depth of ancestors and the numbers of rows change all the time. No prediction holds for long,
 * and the merger rewrites little nevertheless. */
static void test_hypotheses(void) {
  static const char *const given[] = {"div div div",         "section div p",           "div div > p",
                                      "tr:nth-child(2n) td", "tr:nth-child(3n+1) > td", "div:nth-child(2n) b",
                                      "tr:nth-of-type(2n) b"};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hp_rewrite_division divisions[] = {{.chunk_size = 4000, .is_inline = true}, {.chunk_size = 5000}};
  buffer page = {0};
  buffer_text(&page, "<!doctype html><title>t</title><body>");
  for (unsigned i = 0; i < 120; i++) {
    buffer_text(&page, i % 3 ? "<section><div><div>" : "<div>");
    for (unsigned k = 0; k < 5 + i * 7 % 31; k++) buffer_text(&page, "<div><p>some <b>bold</b> text</p></div>");
    buffer_text(&page, i % 3 ? "</div></div></section><table>" : "</div><table>");
    for (unsigned k = 0; k < 3 + i * 11 % 40; k++) buffer_text(&page, "<tr><td>1</td><td><b>2</b></td></tr>");
    buffer_text(&page, "</table>");
  }
  for (unsigned i = 0; i < sizeof given / sizeof *given; i++) {
    hpar_rules *rules = division_make_setting(given[i]);
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    CHECK(division_expected.stats.matches > 100);
    hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
    CHECK(division_check(rules, &options, page.bytes, page.length, &divisions[0]));
    hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
    CHECK(after.chunks - before.chunks > 20);
    if (!CHECK((after.rewritten_bytes - before.rewritten_bytes) * 3 < page.length)) printf("  %s\n", given[i]);
    CHECK(division_check(rules, &options, page.bytes, page.length, &divisions[1]));
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/* Sets of selectors with more instructions than a word has bits. */
static void test_long_sets(void) {
  enum { FILLERS = 40, GIVEN = 12, LONGEST = 24 };
  static const char *const given[GIVEN] = {"div div div",
                                           "section > p",
                                           "div:nth-child(2n) b",
                                           "b + p",
                                           "h1 ~ p",
                                           "p:nth-of-type(2)",
                                           "div > p > b",
                                           "section b",
                                           "h1 + p ~ b, i",
                                           "p:nth-child(2n+1) ~ p",
                                           "tr td",
                                           "tr ~ tr > td"};
  static const char digits[] = "0123456789ab";
  static char filler[FILLERS][LONGEST];
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer page = {0};
  for (unsigned i = 0; i < 12; i++) {
    buffer_text(&page, i % 3 ? "<section><div><div>" : "<div><h1>h</h1>");
    for (unsigned k = 0; k < i * 7 % 9; k++) buffer_text(&page, k % 4 == 1 ? "<b>x</b>" : "<p>text <b>bold</b></p>");
    buffer_text(&page, i % 3 ? "</div></div><p>y<b>z</b></section>" : "<p>z</div><table>");
    for (unsigned k = 0; k < i % 3; k++) buffer_text(&page, "<tr><td>1</td><td><i>2</i></td></tr>");
    buffer_text(&page, i % 3 ? "" : "</table>");
  }
  for (unsigned first = 0; first <= FILLERS; first += FILLERS / 2) { /* fillers before the others */
    hpar_rules *rules = division_begin_rules();
    hpar_action actions[GIVEN];
    for (unsigned i = 0; i < FILLERS + GIVEN; i++) {
      hpar_rule rule = {HPAR_RULE_INIT, .action_count = 1};
      const unsigned number = i - first < GIVEN ? i - first : 0, f = i < first ? i : i - GIVEN;
      actions[number] = (hpar_action){.kind = HPAR_ACTION_PREPEND, .value = {digits + number, 1}};
      rule.actions = &actions[number];
      if (i - first < GIVEN) {
        rule.selector = given[number];
      } else {
        snprintf(filler[f], LONGEST, "section > q%u q", f);
        rule.selector = filler[f];
      }
      division_add_rule(rules, &rule);
    }
    division_require(!hpar_rules_compile(rules), "rules");
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    CHECK(division_expected.stats.matches > 100);
    for (size_t size = 40; size < 800; size += 37) {
      const hp_rewrite_division division = {
          .chunk_size = size, .checkpoint_bytes = division_checkpoints[size % 2], .is_inline = true};
      if (!CHECK(division_check(rules, &options, page.bytes, page.length, &division))) break;
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
}

/*** generated pages ***/

/* Compares one page under one set of rules and one division. */
static bool check_generated(const hpar_rules *rules, const char *text, size_t length, bool has_threads) {
  size_t cuts[MAX_CUTS], cut_count = 0;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = division_pick(4) ? "utf-8" : NULL,
                                        .no_scripting = division_pick(2), .quirks = division_pick(2),
                                        .threads = has_threads ? 2 : 0};
  for (size_t at = 1 + division_pick(20); at < length && cut_count < MAX_CUTS;
       at += 1 + division_pick((unsigned)length / 3 + 2))
    cuts[cut_count++] = at;
  const hp_rewrite_division division = {.cuts = cuts,
                                        .cut_count = cut_count,
                                        .checkpoint_bytes = division_checkpoints[division_pick(2)],
                                        .min_limit = 1 + division_pick(4),
                                        .is_inline = !has_threads};
  division_rewrite_alone(rules, &options, text, length);
  return CHECK(division_check(rules, &options, text, length, &division));
}

/* Tests pages from number `from` on, each with up to `longest` bytes and with rules of its own.
 * Some pages have threads. */
static void test_generated(unsigned from, unsigned count, size_t longest) {
  enum { WITH_THREADS = 500 };
  generated made = {0};
  for (unsigned i = from; i < from + count; i++) {
    division_state = i;
    generate(i, &made);
    size_t length = made.text.length < longest ? made.text.length : longest;
    hpar_rules *rules = i % 2              ? division_make_unit_rules(1 + division_pick(MAX_RULES))
                        : division_pick(4) ? division_make_rules(1 + division_pick(MAX_RULES))
                                           : division_make_attribute_rules(1 + division_pick(3));
    bool same = check_generated(rules, made.text.bytes, length, i % WITH_THREADS == 0);
    hpar_rules_destroy(rules);
    if (!same) {
      printf("generated page %u\n", i);
      break;
    }
  }
  generate_free(&made);
}

/*** fixtures ***/

/* Compares a document under rules of its own for every `step`-th cut. */
static uint64_t compare_cuts(const compare_case *of, unsigned seed, size_t step) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .no_scripting = !of->scripting,
                                        .fragment = of->fragment};
  uint64_t compared = 0;
  division_state = seed;
  const unsigned kind = (seed + seed / 8) % 4; /* a run with one set for each test has all kinds */
  hpar_rules *rules = kind == 0   ? division_make_attribute_rules(1 + seed % 3)
                      : kind == 1 ? division_make_unit_rules(1 + seed / 16 % MAX_RULES)
                                  : division_make_rules(1 + seed % MAX_RULES);
  division_rewrite_alone(rules, &options, of->bytes, of->length);
  for (size_t cut = 1 + seed % step; cut < of->length; cut += step, compared++) {
    const hp_rewrite_division division = {.cuts = &cut,
                                          .cut_count = 1,
                                          .checkpoint_bytes = division_checkpoints[cut % 2],
                                          .min_limit = 1 + cut % 4,
                                          .is_inline = true};
    if (!CHECK(division_check(rules, &options, of->bytes, of->length, &division))) break;
  }
  hpar_rules_destroy(rules);
  return compared;
}

/* Compares a page at the cuts `offset`, `offset` + `distance` and so on, under its own rules. */
static uint64_t compare_many_cuts(const compare_case *of, size_t offset, size_t distance, size_t *cuts) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hp_rewrite_division division = {.cuts = cuts,
                                  .checkpoint_bytes = division_checkpoints[offset / 3 % 2],
                                  .min_limit = 1 + offset % 4,
                                  .is_inline = true};
  for (size_t cut = offset; cut < of->length; cut += distance) cuts[division.cut_count++] = cut;
  division_has_calls = offset % 3 == 1;
  division_state = offset + of->length;
  hpar_rules *rules = offset % 3 == 0  ? division_make_attribute_rules(2)
                      : offset / 3 % 2 ? division_make_unit_rules(1 + offset % MAX_RULES)
                                       : division_make_rules(1 + offset % MAX_RULES);
  division_has_calls = true;
  division_rewrite_alone(rules, &options, of->bytes, of->length);
  CHECK(division_check(rules, &options, of->bytes, of->length, &division));
  hpar_rules_destroy(rules);
  return division.cut_count;
}

/* Compares every cut of a page: each run has cuts at equal distances. By default, a few runs. */
static uint64_t compare_page(const compare_case *of) {
  enum { DISTANCE = 499, DEFAULT_RUNS = 20 };
  uint64_t compared = 0;
  size_t *cuts = malloc((of->length / DISTANCE + 1) * sizeof *cuts);
  if (!CHECK(cuts != NULL)) return 0;
  for (size_t offset = 1; offset <= DISTANCE; offset += compare_full() ? 1 : DISTANCE / DEFAULT_RUNS)
    compared += compare_many_cuts(of, offset, DISTANCE, cuts);
  free(cuts);
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

/* Compares every cut of the pages. Returns their number. */
static uint64_t test_pages(const shared_list *files) {
  enum { CUTS_OF_PAGE = 60 };
  uint64_t compared = 0;
  for (size_t i = 0; i < files->count; i += compare_full() ? 1 : 40) {
    compare_case of = {0};
    char *bytes = shared_read(files->paths[i], &of.length);
    of.bytes = bytes;
    if (bytes) compared += compare_cuts(&of, (unsigned)i + 1, 1 + of.length / CUTS_OF_PAGE) + compare_page(&of);
    free(bytes);
  }
  return compared;
}

/* Compares every cut of the fixtures and of outside pages. Returns false without them. */
static bool test_fixtures(void) {
  char directory[4096];
  shared_list files;
  uint64_t of_fixtures = 0, of_pages = 0;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  if (!CHECK(shared_files(directory, ".dat", &files))) return true;
  for (size_t i = 0; i < files.count; i++) of_fixtures += compare_file(files.paths[i]);
  shared_list_free(&files);
  if (shared_path(directory, sizeof directory, "corpus/pages") && CHECK(shared_files(directory, ".html", &files))) {
    of_pages = test_pages(&files);
    shared_list_free(&files);
  }
  printf("%llu cuts of fixtures, %llu of pages\n", (unsigned long long)of_fixtures, (unsigned long long)of_pages);
  return true;
}

int main(int argc, char **argv) {
  bool skipped = false;
  division_open();
  if (check_part(argc, argv, "fixtures")) {
    skipped = !test_fixtures();
  } else if (argc == 3 && !strcmp(argv[1], "page")) {
    compare_case of = {0};
    of.bytes = shared_read(argv[2], &of.length);
    if (CHECK(of.bytes != NULL)) printf("%llu cuts\n", (unsigned long long)compare_page(&of));
    free((char *)(uintptr_t)of.bytes);
  } else if (argc > 2) {
    test_generated((unsigned)strtoul(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10),
                   argc > 3 ? strtoul(argv[3], NULL, 10) : SIZE_MAX);
  } else {
    test_cuts();
    test_conditions();
    test_children_of_children();
    test_alternating_parents();
    test_alternating_siblings();
    test_hypotheses();
    test_long_sets();
    test_generated(1, division_scale(20000), SIZE_MAX);
    test_generated(1405978, 1, SIZE_MAX); /* a callback stops at a tag whose first half has run */
  }
  CHECK(skipped || hp_rewriter_counters(division_parallel).adopted_segments);
  division_close();
  return skipped ? CHECK_SKIPPED : check_report();
}
