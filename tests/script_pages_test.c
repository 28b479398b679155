/* Scripts on larger pages and hostile scripts, with the toy engine, in every way to parse.
 *
 * After 4 KB, start tags with equal bytes share a block of attributes. A script that changes the
 * attributes of one element must not change those of the others. The limited parse shares no block,
 * so its tree shows the difference.
 *
 *   HPAR_TEST_SCALE=P   percent of the 300 pages (100) */

#include "check.h"
#include "support/compare.h"
#include "support/random.h"
#include "support/toy_ways.h"
#include "tokenizer/parts.h"

#include <hpar/study.h>
#include <stdlib.h>

enum { MAX_SCRIPTS = 60 };

static hpar_parser *parser;
static hpar_document *document;
static buffer page;

/* Parses the page in every way. Returns false after a difference. */
static bool check_ways(const hpar_options *options, random_state *from, toy_outcome *expected) {
  toy_way way = {.options = *options};
  *expected = toy_parse(parser, document, &way, MAX_SCRIPTS, page.bytes, page.length);
  uint64_t nodes;
  const char *problem = compare_links(document, &nodes);
  CHECK(!problem || !strcmp(problem, "two texts stand side by side"));
  for (way.way = TOY_SEQUENTIAL + 1; way.way < TOY_WAYS; way.way++) {
    bool changes_limit = way.way == TOY_LIMITED && options->limits.time_ns;
    if (!toy_way_exists(way.way) || changes_limit) continue;
    way.chunk_size = 1 + random_below(from, 2000);
    way.piece_size = 1 + random_below(from, 600);
    way.seed = random_below(from, 1 << 20);
    toy_outcome got = toy_parse(parser, document, &way, MAX_SCRIPTS, page.bytes, page.length);
    if (CHECK(toy_is_same(got, *expected))) continue;
    toy_print_difference(way.way, got, *expected);
    return false;
  }
  return true;
}

/*** attributes that elements share ***/

static const char *const tags[] = {"<i class=x>",     "<a href=u title=t>", "<span id=s class=\"y z\">",
                                   "<b class=x a=1>", "<p align=left>",     "<font size=1 color=red>"};

static void add_tags(random_state *from, size_t bytes) {
  for (size_t end = page.length + bytes; page.length < end;) {
    buffer_text(&page, RANDOM_OF(from, tags));
    buffer_text(&page, random_chance(from, 50) ? "text" : "</i></a></b></p>");
  }
}

static void add_change(random_state *from) {
  unsigned element = (unsigned)random_below(from, 400);
  const char *name = random_chance(from, 50) ? "class" : random_chance(from, 50) ? "href" : "new";
  switch (random_below(from, 5)) {
    case 0: buffer_format(&page, "u %u %s\n", element, name); break;
    case 1: buffer_format(&page, "k %u %u\n", element, (unsigned)random_below(from, 400)); break;
    case 2: buffer_format(&page, "w \\l%s\\l/i>\n", RANDOM_OF(from, tags) + 1); break;
    default: buffer_format(&page, "a %u %s v%u\n", element, name, (unsigned)random_below(from, 9));
  }
}

static void shared_attributes(void) {
  size_t count = (size_t)300 * compare_scale() / 100;
  for (uint64_t seed = 1; seed <= count; seed++) {
    random_state from = {seed};
    toy_outcome outcome;
    hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
    buffer_clear(&page);
    buffer_text(&page, "<!doctype html>");
    add_tags(&from, HP_UNCACHED_BYTES);
    for (size_t scripts = 1 + random_below(&from, 4); scripts > 0; scripts--) {
      add_tags(&from, 500);
      buffer_text(&page, "<script>");
      for (size_t n = 1 + random_below(&from, 5); n > 0; n--) add_change(&from);
      buffer_text(&page, "</script>");
    }
    add_tags(&from, 500);
    if (check_ways(&options, &from, &outcome)) continue;
    printf("seed %" PRIu64 "\n", seed);
    return;
  }
}

/* A change of one element leaves the next elements with the same tag as they are. */
static void one_element(void) {
  random_state from = {1};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  toy_outcome outcome;
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><body>");
  while (page.length < 2 * HP_UNCACHED_BYTES) buffer_text(&page, "<i class=x></i>");
  buffer_text(&page, "<script>a 500 class changed</script>");
  for (int i = 0; i < 100; i++) buffer_text(&page, "<i class=x></i>");
  if (!check_ways(&options, &from, &outcome)) return;
  size_t changed = 0, others = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string value = hpar_node_attribute_value(document, node, "class");
    changed += value.length == 7;
    others += value.length == 1;
  }
  CHECK_EQ(changed, 1);
  CHECK_EQ(others, (2 * HP_UNCACHED_BYTES - 21 + 14) / 15 + 99);
}

/*** hostile scripts ***/

static const struct {
  const char *page;
  hpar_status status; /* with the limits below */
} hostile[] = {
    {"<p>a<script>r 0</script>b<table><tr>c<script>w d</script></table>e", HPAR_OK},
    {"<p>a<script>r 2\nw \\lp>b</script>c</p><i>d", HPAR_OK},
    {"<table><tr><td>a<script>m 3 2\nw \\ltr>\\ltd>b</script>c<tr>d</table>e", HPAR_OK},
    {"<div></div><table><tr><script>m 4 3</script>a<td>b</table>c", HPAR_OK},
    {"<div></div><table><tr><script>r 4</script>a<td>b</table>c", HPAR_OK},
    {"<template></template><table><script>m 4 3</script>a<tr>b</table>c", HPAR_OK},
    {"<b><p><script>m 3 4\nm 4 3\nr 3</script>a</b>c</p>d", HPAR_OK},
    {"<p>a<script>w \\lplaintext></script><p>b</p></plaintext>", HPAR_OK},
    {"<p>a<script>w \\l!--</script><p>b</p>", HPAR_OK},
    {"<p>a<script>w \\lscript>\n</script>b</script>c", HPAR_OK},
    {"<p>a<script>w \\ltextarea></script><p>b</p>", HPAR_OK},
    {"<script>h 0 \nr 1\nw a</script><p>b", HPAR_OK},
    {"<script>h 1 \\lscript>w x\\l/script></script><p>b", HPAR_OK},
    {"<select><script>m 3 1\nw \\loption></script>a</select>b", HPAR_OK},
    {"<form><script>r 3\nw \\l/form>\\lform></script><input></form>b", HPAR_OK},
    {"<svg><script>m 3 1\nw \\l/svg></script>a</svg>b", HPAR_OK},
    {"<frameset><script>w \\lframe></script></frameset>", HPAR_OK},
    {"<script>p 0 p 0 p 0 w a</script>b", HPAR_OK},
    {"<script>x</script>a", HPAR_ERROR_CALLBACK},
};

static void hostile_pages(void) {
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
    random_state from = {i};
    toy_outcome outcome;
    hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .script.max_written = 10000};
    buffer_clear(&page);
    buffer_text(&page, hostile[i].page);
    if (!check_ways(&options, &from, &outcome) || !CHECK_EQ(outcome.status, hostile[i].status))
      printf("%s\n", hostile[i].page);
  }
}

/* A limit ends a page with many writes, with the same status and tree in every way. */
static void limited_writes(void) {
  static const struct {
    hpar_options options;
    hpar_status status;
  } cases[] = {
      {{.script.max_written = 5000}, HPAR_LIMIT_INPUT},
      {{.script.max_written = 1 << 20, .limits.depth = 40}, HPAR_LIMIT_DEPTH},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    random_state from = {i};
    toy_outcome outcome;
    hpar_options options = cases[i].options;
    options.size = sizeof options;
    options.encoding = "utf-8";
    buffer_clear(&page);
    buffer_text(&page, "<body>");
    for (int n = 0; n < 60; n++) buffer_format(&page, "<script>w \\ldiv>%0100d</script>", 0);
    if (check_ways(&options, &from, &outcome)) CHECK_EQ(outcome.status, cases[i].status);
  }
}

/*** postponed scripts ***/

typedef struct late_call {
  unsigned elements[4]; /* that the calls saw */
  hpar_script_time times[4];
  unsigned count, refused;
} late_call;

static hpar_status postpone(hpar_editor *editor, const hpar_script *script, void *context) {
  late_call *calls = context;
  const hpar_document *of = hpar_editor_document(editor);
  unsigned elements = 0;
  hpar_node root = hpar_document_root(of);
  for (hpar_node node = root; node; node = hpar_node_walk(of, root, node))
    elements += hpar_node_kind(of, node) == HPAR_NODE_ELEMENT;
  if (calls->count < 4) {
    calls->elements[calls->count] = elements;
    calls->times[calls->count++] = script->time;
  }
  bool now = script->time == HPAR_SCRIPT_NOW;
  hpar_status status = hpar_script_postpone(editor);
  calls->refused += status == HPAR_ERROR_ARGUMENT;
  if (now) return status;
  return hpar_script_write(editor, "<i>", 3); /* without an effect */
}

/* A postponed script sees the content of its feed, and of the whole page otherwise. */
static void postponed(void) {
  static const char first[] = "<!doctype html><body><script>a</script><p>", second[] = "<b>x</b>";
  for (int feeds = 1; feeds < 3; feeds++) {
    late_call calls = {.count = 0};
    hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8",
                            .script = {.callback = postpone, .context = &calls}};
    buffer_clear(&page);
    buffer_text(&page, first);
    buffer_text(&page, second);
    if (feeds == 1) {
      CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
    } else {
      CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
      CHECK_EQ(hpar_parser_feed(parser, first, sizeof first - 1), HPAR_OK);
      CHECK_EQ(hpar_parser_feed(parser, second, sizeof second - 1), HPAR_OK);
      CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
    }
    CHECK_EQ(calls.count, 2);
    CHECK_EQ(calls.times[0], HPAR_SCRIPT_NOW);
    CHECK_EQ(calls.times[1], HPAR_SCRIPT_LATE);
    CHECK_EQ(calls.elements[0], 4);
    CHECK_EQ(calls.elements[1], feeds == 1 ? 6 : 5);
    CHECK_EQ(calls.refused, 1); /* a script is postponed once */
    hpar_node root = hpar_document_root(document);
    for (hpar_node node = root; node; node = hpar_node_walk(document, root, node))
      CHECK(hpar_node_name(document, node).length != 1 || *hpar_node_name(document, node).bytes != 'i');
  }
  CHECK_EQ(hpar_script_postpone(NULL), HPAR_ERROR_ARGUMENT);
}

int main(void) {
  if (!CHECK(hpar_parser_create(&parser) == HPAR_OK) || !CHECK(hpar_document_create(&document) == HPAR_OK)) return 1;
  shared_attributes();
  one_element();
  hostile_pages();
  limited_writes();
  postponed();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
