/* The peak memory of a rewriter, as hpar_rewrite_stats counts it: at most 4.5 KB, 64 bytes an open
 * element, and the longest tag that it holds. 0.4 KB are for later tags of html and body. A rule
 * with content for the end of an element keeps it until then, and has larger bounds. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/rewriting.h"

#include <hpar/rewrite.h>
#include <stdlib.h>

enum { FIXED_BYTES = 4096 + 512, ELEMENT_BYTES = 64 };

static hpar_status ignore(hpar_element *element, void *context) {
  (void)element, (void)context;
  return HPAR_OK;
}

static hpar_rules *rules_of(const char *selector, bool sets) {
  hpar_action action = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &action, .action_count = sets,
                    .element = sets ? NULL : ignore};
  return rewriting_compile(&rule);
}

/* Rewrites in pieces with a new rewriter. */
static hpar_rewrite_stats rewrite(const hpar_rules *rules, const buffer *text, size_t piece) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_token = 64 << 20};
  hpar_rewriter *rewriter = NULL;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_OK);
  for (size_t at = 0; at < text->length; at += piece)
    CHECK_EQ(hpar_rewriter_feed(rewriter, text->bytes + at, text->length - at < piece ? text->length - at : piece),
             HPAR_OK);
  CHECK_EQ(hpar_rewriter_finish(rewriter, &stats), HPAR_OK);
  hpar_rewriter_destroy(rewriter);
  return stats;
}

static void check_bound(const char *name, const char *selector, const hpar_rewrite_stats *stats, uint64_t bound) {
  if (CHECK(stats->memory_bytes <= bound)) return;
  printf("  %s, rule %s: %llu bytes, at most %llu; %llu open elements\n", name, selector,
         (unsigned long long)stats->memory_bytes, (unsigned long long)bound, (unsigned long long)stats->depth);
}

static const struct {
  const char *selector;
  bool sets;
} rules[] = {{"x-none", false}, {"x-none y", false},    {"a[href]", true},
             {"div > a", true}, {".c > a[href]", true}, {"div div b, li > i, ul a", true}};
enum { RULES = sizeof rules / sizeof *rules };

/* Pages of ordinary shape: few elements are open. */
static void check_page(const buffer *page, const char *name) {
  static const size_t pieces[] = {1 << 20, 1024, 1};
  for (int i = 0; i < RULES; i++) {
    hpar_rules *compiled = rules_of(rules[i].selector, rules[i].sets);
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
      hpar_rewrite_stats stats = rewrite(compiled, page, pieces[k]);
      check_bound(name, rules[i].selector, &stats, FIXED_BYTES + ELEMENT_BYTES * stats.depth + stats.held_bytes);
    }
    hpar_rules_destroy(compiled);
  }
}

static void check_pages(void) {
  buffer page = {0};
  buffer_text(&page, "<!doctype html><html><head><title>t</title><meta charset=utf-8></head><body>");
  for (int i = 0; i < 300; i++)
    buffer_format(&page,
                  "<div class=c id=\"n%d\"><a href=\"/p%d\" title=t>text</a><p>x<ul><li>a<li>b</ul>\n"
                  "<table><tr><td class='v'>1<td>2</table><x-item>&amp;</x-item></div>",
                  i, i);
  check_page(&page, "a page");
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><body class=c><a href=x>y</a>");
  check_page(&page, "a small page");
  buffer_clear(&page);
  for (int i = 0; i < 300; i++) buffer_text(&page, "<p>a <b>b <i>c</i></b> <em class=x>d</em> <a href=/>e</a></p>");
  check_page(&page, "formatting");
  buffer_free(&page);
}

/* `#` in `each` is the number of the element. */
static const struct {
  const char *first, *each;
} shapes[] = {{"", "<div>"},
              {"", "<div class=c>"},
              {"<ul>", "<li><ul>"},
              {"<svg>", "<g>"},
              {"", "<x-y>"},
              {"", "<x-#>"},
              {"", "<div class=c><span>"},
              {"", "<ul><li>"},
              {"", "<div><x-y><section>"},
              {"", "<b>"},
              {"", "<b class=x>"},
              {"", "<div><i>"},
              {"", "<b><i><u><em class=c>"},
              {"", "<div class=c><a href=x><table><td>"},
              {"", "<table><td><b class=c#><applet><i class=c#>"},
              {"", "<b class=c#>"},
              {"", "<i class=c#><b class=c#>"},
              {"", "<b class=c#></b><b class=d#>"},
              {"", "<p><font size=#></p>x<p>"},
              {"", "<div><b class=c#>"}};

static void add_element(buffer *text, const char *each, unsigned number) {
  for (const char *p = each; *p; p++) {
    if (*p == '#')
      buffer_format(text, "%u", number);
    else
      buffer_byte(text, *p);
  }
}

static void check_open_elements(void) {
  buffer text = {0};
  unsigned most = compare_scale() < 10 ? 1000 : compare_scale() < 100 ? 4000 : 20000;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    /* The arrays grow by half, so that few counts are just after a growth. */
    for (unsigned count = 16; count < most; count = count * 9 / 7 + 1) {
      buffer_clear(&text);
      buffer_text(&text, shapes[s].first);
      for (unsigned i = 0; i < count; i++) add_element(&text, shapes[s].each, i);
      for (int i = 0; i < RULES; i++) {
        hpar_rules *compiled = rules_of(rules[i].selector, rules[i].sets);
        hpar_rewrite_stats stats = rewrite(compiled, &text, 4096);
        CHECK(stats.depth > count);
        check_bound(shapes[s].each, rules[i].selector, &stats,
                    FIXED_BYTES + ELEMENT_BYTES * stats.depth + stats.held_bytes);
        hpar_rules_destroy(compiled);
      }
    }
  }
  buffer_free(&text);
}

/* A matched tag is kept once, in an array that is 1/16 longer. */
static void check_long_tags(void) {
  buffer text = {0};
  hpar_rules *compiled = rules_of("a[href^=x]", true);
  for (size_t length = 1000; length <= 4000000; length *= 4) {
    buffer_clear(&text);
    buffer_text(&text, "<p><a href=\"x");
    for (size_t i = 0; i < length; i++) buffer_byte(&text, 'y');
    buffer_text(&text, "\" id=i>z</a>");
    static const size_t pieces[] = {4096, 100, 1};
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
      if (pieces[k] == 1 && length > 500000) continue;
      hpar_rewrite_stats stats = rewrite(compiled, &text, pieces[k]);
      uint64_t tag = length + 24;
      check_bound("a long tag", "a[href^=x]", &stats, FIXED_BYTES + ELEMENT_BYTES * stats.depth + tag + tag / 16);
    }
  }
  hpar_rules_destroy(compiled);
  buffer_free(&text);
}

/* The rewriter keeps the names of open elements only. */
static void check_long_names(void) {
  enum { NAME_BYTES = 3000, NAMES = 500 };
  buffer text = {0};
  hpar_rules *compiled = rules_of("x-none", false);
  for (unsigned i = 0; i < NAMES; i++) {
    buffer_format(&text, "<x-%u", i);
    for (int byte = 0; byte < NAME_BYTES; byte++) buffer_byte(&text, 'y');
    buffer_text(&text, "><br></x>");
    if (i % 2) buffer_text(&text, "<table><td></table></div>");
    buffer_text(&text, "<p></p>");
    buffer_format(&text, "</x-%u", i);
    for (int byte = 0; byte < NAME_BYTES; byte++) buffer_byte(&text, 'y');
    buffer_byte(&text, '>');
  }
  hpar_rewrite_stats stats = rewrite(compiled, &text, 4096);
  check_bound("long names", "x-none", &stats, FIXED_BYTES + ELEMENT_BYTES * stats.depth + 6 * NAME_BYTES);
  hpar_rules_destroy(compiled);
  buffer_free(&text);
}

/* Rewrites `count` copies of a piece, whose number replaces "%d", by a rule that inserts text after
 * elements. Returns the statistics. */
static hpar_rewrite_stats rewrite_copies(const char *selector, const char *piece, int count) {
  hpar_action action = {.kind = HPAR_ACTION_AFTER, .format = HPAR_CONTENT_HTML, .value = {"X", 1}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = &action, .action_count = 1};
  hpar_rules *compiled = rewriting_compile(&rule);
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_begin(rewriter, compiled, NULL, NULL, NULL), HPAR_OK);
  for (int i = 0; i < count; i++) {
    char text[64];
    int length = snprintf(text, sizeof text, piece, i, i); // NOLINT: the pieces of this file
    CHECK_EQ(hpar_rewriter_feed(rewriter, text, (size_t)length), HPAR_OK);
  }
  CHECK_EQ(hpar_rewriter_finish(rewriter, &stats), HPAR_OK);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(compiled);
  return stats;
}

/* With content for ends, memory depends on the open elements, and neither on the length of the
 * input nor on names. */
static void check_ends(void) {
  enum { COUNT = 20000, FIXED = 40 << 10 };
  static const char *const flat[] = {"<x%d></x%d>", "<b a=%d>x</b>", "<p>%d", "</x%d>", "<!-- %d -->", "<td><i>%d"};
  for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
    hpar_rewrite_stats stats = rewrite_copies("x-none", flat[i], COUNT);
    if (!CHECK(stats.depth > 1000 || stats.memory_bytes < FIXED))
      printf("  %s: %zu\n", flat[i], (size_t)stats.memory_bytes);
    CHECK(stats.held_bytes < 1000);
  }
  hpar_rewrite_stats deep = rewrite_copies("x-none", "<div>", COUNT);
  CHECK_EQ(deep.depth, COUNT + 2);
  CHECK(deep.memory_bytes < FIXED + 128 * deep.depth);
  deep = rewrite_copies("div div div div div", "<div>", COUNT);
  CHECK_EQ(deep.matches, COUNT - 4);
  CHECK(deep.memory_bytes < FIXED + 512 * deep.depth);
}

/* A text of any length and a run of texts need memory for max_text bytes: sixteen times as much. */
static void check_long_texts(void) {
  enum { COUNT = 100000, BOUND = 16 * (64 << 10) };
  static const char *const each[] = {"a&amp;", "a<i>b</i>", "</>a&lt;", "<<"};
  const hpar_action find = {
      .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"a&b", 3}, .replacement = {"x", 1}};
  for (size_t i = 0; i < 2 * sizeof each / sizeof *each; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .actions = &find, .action_count = 1, .across_tags = i % 2};
    hpar_rules *compiled = rewriting_compile(&rule);
    buffer text = {0};
    buffer_text(&text, "<p>");
    for (int k = 0; k < COUNT; k++) buffer_text(&text, each[i / 2]);
    for (size_t piece = 1000; piece <= text.length; piece *= 100) {
      hpar_rewrite_stats stats = rewrite(compiled, &text, piece);
      check_bound(each[i / 2], "a&b", &stats, FIXED_BYTES + BOUND);
    }
    buffer_free(&text);
    hpar_rules_destroy(compiled);
  }
}

int main(void) {
  check_pages();
  check_open_elements();
  check_long_tags();
  check_long_names();
  check_ends();
  check_long_texts();
  return check_report();
}
