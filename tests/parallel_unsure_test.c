/* Checks open elements before a cut that a tag after it closes: a p, and a select, button or nobr.
 * The tree is the sequential tree, and the chunk after the cut is clean if the worker could expect
 * the element. The same holds for cuts in tables. */

#include "support/buffer.h"
#include "support/compare_check.h"

#include <string.h>

static comparer with;

static const compare_marked pages[] = {
    {"a p in an element", "<!doctype html><p>x<font>|<b>y<p>z</b></font>w", true},
    {"a p in upper case", "<!doctype html><P align=x>x<I>|<B>y<DIV>z</DIV></B>w", true},
    {"a p after end tags", "<!doctype html><p><i>x|</i>y<b>z<p>w</b>v<p>u", true},
    {"a closed p", "<!doctype html><p>x</p>|<b>y<p>z</b>w", true},
    {"a p in a block", "<!doctype html><div><p>x</div>|<b>y<p>z</b>w", true},
    {"a p before a cell", "<!doctype html><p>x<table><td>|<b>y<p>z</b></table>w", true},
    {"a p in a button", "<!doctype html><p>x<button>|<b>y<p>z</b></button>w", true},
    {"a list in a p", "<!doctype html><p>x<b>|<i>y<ul><li>z</ul></i>w", true},
    {"a heading in a p", "<!doctype html><p>x<b>|<i>y<h1>z</h1></i>w", true},
    {"a rule in a p", "<!doctype html><p>x<b>|<i>y<hr>z</i>w", true},
    {"a form in a p", "<!doctype html><p>x<b>|<i>y<form></form></i>w", true},
    {"a p in svg", "<!doctype html><p>x<b>|<svg><desc>y<p>z</desc></svg>w", true},
    {"a p in a template", "<!doctype html><p>x<b>|<template><b>y<p>z</b></template>w", true},
    {"an own p", "<!doctype html><div>x|<p>y</i></div>z<b>w<p>v</b>u", true},
    {"a select", "<!doctype html><div>|</div><select><option>x</form><b>y<input>z</b>w", true},
    {"an option", "<!doctype html><select><option>x<b>|y<option>z</select>", true},
    {"options", "<!doctype html><select><option>x<b>|y<option>z<option>w</select>", true},
    {"an option after a block", "<!doctype html><select><option>x<b>|<div>y</div><option>z</select>", true},
    {"an optgroup", "<!doctype html><select><optgroup><option>x<b>|y<optgroup>z</select>", true},
    {"a button", "<!doctype html><div>|<button>x</section><b>y<button>z</b>w", true},
    {"a button with an end tag", "<!doctype html><div>|<button>x</section>y</button><b>z<button>w</button></b>v", true},
    {"a nobr", "<!doctype html><div>|<nobr>x</section><b>y<nobr>z</b>w", false},
};

static const compare_marked tables[] = {
    {"a comparison in a script of the head", "<!doctype html><script>if (a<!b) c</script>|<title>x</title><p>y", true},
    {"a row after a cell", "<!doctype html><table><tr><td>x|</td><td>y<tr><td>z</table>w", true},
    {"rows", "<!doctype html><table><tr><td>x</td></tr>|<tr><td>y</td></tr></table>z", true},
    {"cells", "<!doctype html><table><tr><td>x</td>|<td>y</td></tr></table>z", true},
    {"a section", "<!doctype html><table><thead><tr><td>x</thead>|<tbody><tr><td>y</tbody></table>z", true},
    {"content of a cell", "<!doctype html><table><tr><td><p>x</p>|<p>y</p></td></tr></table>z", true},
    {"comments in a table", "<!doctype html><table>|<!--x--><!--y--><tr><td>z</table>", true},
    {"rows in a template", "<!doctype html><template><tr><td>x</td></tr>|<tr><td>y</td></tr></template>z", false},
    {"sections in a template", "<!doctype html><template><tbody><tr></tbody>|<tbody><tr></tbody></template>x", false},
    {"cells in a template", "<!doctype html><template><td>x</td>|<td>y</td></template>z", false},
};

/* The p is too far away for the worker after the first cut. A composition has run the first half of
 * the second <p>, but does not take the misnested run. The merger parses the first chunk and "</i>"
 * again, and no other bytes. */
static void check_split_after_rejection(void) {
  enum { FAR = 4096 };
  static const char first[] = "<b>x<p>y<i>", second[] = "</i>", rest[] = "<p><b>z<i>w</b>v</i></p>u";
  static buffer page;
  uint64_t cuts[2];
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><p>");
  for (size_t i = 0; i < FAR; i++) buffer_text(&page, "x");
  cuts[0] = page.length;
  buffer_text(&page, first);
  cuts[1] = page.length;
  buffer_text(&page, second);
  buffer_text(&page, rest);
  compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
  compare_how how = {
      .cuts = cuts, .cut_count = 2, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .merge = HPAR_MERGE_TREE};
  CHECK(compare_expect(&with, &document, 0));
  compare_check(&with, &how);
  CHECK_EQ(with.got_stats.bytes_reparsed, strlen(first) + strlen(second));
}

/* A start tag of a block before the cut has ended the p, so that the worker expects none. */
static void check_blocks(void) {
  static const char *const names[] = {"article", "dd",     "DIV", "dl",  "dt", "h1",      "h2", "h3",
                                      "h4",      "header", "li",  "nav", "ol", "section", "ul"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    static buffer page;
    buffer_clear(&page);
    buffer_format(&page, "<!doctype html><p>x<%s>y", names[i]);
    uint64_t cut = page.length;
    buffer_text(&page, "<b>z<p>w</b>v");
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
    CHECK(compare_expect(&with, &document, 0));
    compare_check(&with, &how);
    if (!CHECK_EQ(with.got_stats.chunks_clean, 1)) printf("  %s\n", names[i]);
  }
}

/* A cut in a tag whose attributes any white space separates. The worker begins after the tag. */
static void check_cuts_in_tag(void) {
  static const char page[] = "<!doctype html><div class=a\fid=b\ttitle=c\rlang=d\ndir= \f'>'>x</div><p>y";
  compare_case document = {page, sizeof page - 1, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
  for (uint64_t cut = (uint64_t)(strstr(page, "class") - page); page[cut - 3] != '>'; cut++) {
    compare_how how = {
        .cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .predictor = "oracle"};
    compare_check(&with, &how);
    CHECK_EQ(with.got_stats.chunks_right_start, 1);
  }
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  compare_check_marked(&with, pages, sizeof pages / sizeof *pages);
  compare_check_marked(&with, tables, sizeof tables / sizeof *tables);
  check_split_after_rejection();
  check_blocks();
  check_cuts_in_tag();
  compare_close(&with);
  return check_report();
}
