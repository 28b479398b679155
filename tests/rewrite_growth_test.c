/* Adversarial shapes for the rewriter. Work is linear: the number of allocations and the peak of
 * memory are proportional to the input. The peak does not grow with input that opens no element.
 * With the argument "growth": CPU time is proportional to the input, too. */

#include "base/memory.h"
#include "check.h"
#include "rewrite/state.h"
#include "support/buffer.h"
#include "support/growth.h"
#include "support/rewriting.h"

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <stdlib.h>

enum { SMALL = 4000, FEED = 4096, FIXED_BYTES = 64 << 10, ELEMENT_BYTES = 512 };

/* `first`, then `each` repeated `scale` times SMALL, with # as its number, then `last`. */
typedef struct shape {
  const char *name, *selector;
  hpar_action_kind action;
  const char *first, *each, *last;
  bool nests; /* elements stay open */
} shape;

static const shape shapes[] = {
    {"descendants", "div div div div div", HPAR_ACTION_AFTER, "", "<div>", "", true},
    {"descendants and siblings", "div > div ~ div div + div", HPAR_ACTION_BEFORE, "", "<div></div><div>", "", true},
    {"closed descendants", "div div div div div", HPAR_ACTION_APPEND, "", "<div>", "</div></div></div>", true},
    {"stray end tags", "p", HPAR_ACTION_REMOVE, "", "</p>", "", false},
    {"stray end tags below elements", "b", HPAR_ACTION_AFTER, "<i><i><i><div><div>", "</b></x#>", "", false},
    {"end tags that find nothing", "x", HPAR_ACTION_AFTER, "", "<x></y>", "", true},
    {"an unclosed attribute", "p", HPAR_ACTION_REMOVE, "<a href='", "x=\"#\" ", "", false},
    {"attributes of one tag", "p", HPAR_ACTION_BEFORE, "<p ", "a# ", ">", false},
    {"equal attributes of one tag", "p", HPAR_ACTION_UNSET_ATTRIBUTE, "<p ", "a ", ">", false},
    {"ignored text", "p", HPAR_ACTION_REMOVE, "<p>", "x<y ", "</p>", false},
    {"an unclosed comment", "p", HPAR_ACTION_REMOVE, "<!--", "-->x<!-- --", "", false},
    {"dashes of a comment", "p", HPAR_ACTION_REMOVE, "<!--", "--!-", "", false},
    {"tags in a script", "script", HPAR_ACTION_APPEND, "<script>", "<!--<script></scrip", "</script>", false},
    {"a section of brackets", "g", HPAR_ACTION_APPEND, "<svg><g><![CDATA[", "]]", "]]></g>", false},
    {"new names", "p", HPAR_ACTION_AFTER, "", "<x#></x#>", "", false},
    {"new open names", "p", HPAR_ACTION_AFTER, "", "<x#>", "", true},
    {"types of siblings", "x1:nth-of-type(2)", HPAR_ACTION_BEFORE, "<div>", "<x#></x#>", "</div>", false},
    {"formatting elements", "b", HPAR_ACTION_AFTER, "", "<b a=#>", "", true},
    {"reopened formatting elements", "b", HPAR_ACTION_AFTER, "<p><b><i><u><s>", "<p>x", "", false},
    {"inputs below elements", "p", HPAR_ACTION_AFTER, "", "<div><input type=hidden></p>", "", true},
    {"formatting elements in blocks", "b", HPAR_ACTION_UNWRAP, "", "<b><p>x</b></p>", "", false},
    {"list items", "li", HPAR_ACTION_AFTER, "<ul>", "<li>#", "</ul>", false},
    {"cells in foster-parented tables", "td", HPAR_ACTION_APPEND, "", "<table><td>x", "", true},
    {"removed elements in each other", "div", HPAR_ACTION_REMOVE, "", "<div>", "", true},
    {"renamed elements in each other", "div", HPAR_ACTION_RENAME, "", "<div>", "", true},
    {"templates", "template", HPAR_ACTION_APPEND, "", "<template>", "", true},
    {"character references", "p", HPAR_ACTION_APPEND, "<p>", "&#x&amp;&", "", false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static hpar_rules *rules_of(const shape *s) {
  hpar_action actions[] = {{.kind = s->action,
                            .name = s->action == HPAR_ACTION_RENAME ? "section" : "a",
                            .format = HPAR_CONTENT_HTML,
                            .value = {"X", 1}},
                           {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"zz", 2}},
                           {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = s->selector, .actions = actions, .action_count = 3};
  return rewriting_compile(&rule);
}

static void write_shape(const shape *s, unsigned count, buffer *to) {
  buffer_clear(to);
  buffer_text(to, s->first);
  for (unsigned i = 0; i < count; i++)
    for (const char *at = s->each; *at; at++)
      if (*at == '#')
        buffer_format(to, "%u", i);
      else
        buffer_byte(to, *at);
  buffer_text(to, s->last);
}

/* Rewrites the text in pieces. Returns the status. */
static hpar_status rewrite(hpar_rewriter *rewriter, const hpar_rules *rules, const buffer *text, size_t piece,
                           hpar_rewrite_stats *stats) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_token = 16 << 20};
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, NULL, NULL), HPAR_OK);
  for (size_t at = 0; at < text->length; at += piece) {
    size_t part = text->length - at < piece ? text->length - at : piece;
    hpar_rewriter_feed(rewriter, text->bytes + at, part);
  }
  return hpar_rewriter_finish(rewriter, stats);
}

typedef struct work {
  uint64_t allocations, memory, depth;
} work;

static work measure(const shape *s, unsigned count, size_t piece, buffer *text) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rules *rules = rules_of(s);
  hpar_rewriter *rewriter;
  write_shape(s, count, text);
  hp_memory_fail_after(UINT64_MAX / 2);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(rewrite(rewriter, rules, text, piece, &stats), HPAR_OK);
  uint64_t allocations = UINT64_MAX / 2 - hp_memory_left();
  hp_memory_fail_after(UINT64_MAX);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  return (work){allocations, stats.memory_bytes, stats.depth};
}

/* Four times the input takes about four times the allocations and the memory, at most. */
static void check_shape(const shape *s, buffer *text) {
  static const size_t pieces[] = {FEED, 1};
  for (int i = 0; i < 2; i++) {
    work small = measure(s, SMALL, pieces[i], text), large = measure(s, 4 * SMALL, pieces[i], text);
    bool is_held = !s->nests && large.memory > FIXED_BYTES; /* one token or text */
    if (!CHECK(large.allocations <= 4 * small.allocations + 200) ||
        !CHECK(large.memory <= 5 * small.memory + FIXED_BYTES) ||
        !CHECK(is_held || large.memory <= FIXED_BYTES + ELEMENT_BYTES * large.depth))
      printf("  %s, pieces of %zu: %llu and %llu allocations, %llu and %llu bytes, depth %llu\n", s->name, pieces[i],
             (unsigned long long)small.allocations, (unsigned long long)large.allocations,
             (unsigned long long)small.memory, (unsigned long long)large.memory, (unsigned long long)large.depth);
  }
}

/* 65,536 open elements, as in the reports about other rewriters. */
static void open_elements(buffer *text) {
  enum { COUNT = 65536 };
  static const shape deep = {"open", "div div:not(.x) div", HPAR_ACTION_SET_ATTRIBUTE, "", "<div>", "", true};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rules *rules = rules_of(&deep);
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  write_shape(&deep, COUNT, text);
  CHECK_EQ(rewrite(rewriter, rules, text, FEED, &stats), HPAR_OK);
  CHECK_EQ(stats.depth, COUNT + 2);
  CHECK_EQ(stats.matches, COUNT - 2);
  CHECK(stats.memory_bytes <= FIXED_BYTES + ELEMENT_BYTES * stats.depth);
  hpar_rewriter_destroy(rewriter);
  printf("%d open elements: %.1f bytes each\n", COUNT, (double)stats.memory_bytes / COUNT);
  hpar_rules_destroy(rules);
}

/* After the names of many open elements, a sweep visits their places. So it must be rare. */
static void names_after_many(void) {
  enum { MANY = 50000 };
  static const hp_atoms fixed;
  static hp_unwind unwind;
  hp_names names = {0};
  char name[16];
  unsigned added = 0;
  hp_names_open(&names, &fixed, &unwind);
  for (unsigned i = 0; i < MANY; i++) hp_names_add(&names, name, (size_t)snprintf(name, sizeof name, "x%u", i));
  hp_names_sweep(&names, 0);
  for (; !hp_names_are_many(&names); added++)
    hp_names_add(&names, name, (size_t)snprintf(name, sizeof name, "y%u", added));
  CHECK(added > MANY / 20);
  hp_names_close(&names);
}

/*** time ***/

static buffer growing[2];
static hpar_rewriter *warm; /* keeps its memory, so that no page faults are measured */

static double run_growth(void *context, int size) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  double start = growth_thread_seconds();
  rewrite(warm, context, &growing[size], FEED, &stats);
  return growth_thread_seconds() - start;
}

static void check_growth(void) {
  CHECK_EQ(hpar_rewriter_create(&warm), HPAR_OK);
  for (size_t i = 0; i < SHAPES; i++) {
    for (int size = 0; size < 2; size++) write_shape(&shapes[i], (size ? 4 : 1) * SMALL, &growing[size]);
    hpar_rules *rules = rules_of(&shapes[i]);
    CHECK(growth_is_below(GROWTH_BOUND, shapes[i].name, run_growth, rules));
    hpar_rules_destroy(rules);
  }
  for (int size = 0; size < 2; size++) buffer_free(&growing[size]);
  hpar_rewriter_destroy(warm);
}

int main(int count, char **arguments) {
  buffer text = {0};
  if (check_part(count, arguments, "growth")) {
    if (!growth_can_be_measured()) return CHECK_SKIPPED;
    check_growth();
  } else {
    for (size_t i = 0; i < SHAPES; i++) check_shape(&shapes[i], &text);
    open_elements(&text);
    names_after_many();
  }
  buffer_free(&text);
  return check_report();
}
