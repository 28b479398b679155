#include "support/division.h"

#include <hpar/parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test if the library refuses what the test needs. */
void division_require(bool is_fine, const char *what) {
  if (is_fine) return;
  printf("no %s\n", what);
  abort();
}

const unsigned division_checkpoints[2] = {1, 16 << 10};

hpar_status division_collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static buffer *calls; /* what callbacks report */
buffer *division_calls(void) { return calls; }

static buffer described; /* the selectors of the rules that were made last */
static hpar_rewriter *sequential;
hpar_rewriter *division_parallel;

void division_clear(division_result *to) {
  buffer_clear(&to->out);
  buffer_clear(&to->calls);
  calls = &to->calls;
  to->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
}

void division_rewrite(hpar_rewriter *rewriter, const hpar_rules *rules, const hpar_rewrite_options *options,
                      const char *text, size_t length, division_result *to) {
  division_clear(to);
  to->status = hpar_rewrite(rewriter, rules, options, text, length, &to->stats, division_collect, &to->out);
}

static bool equals(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

/* The counters of edits differ after a failure. The rewriter stops to read tags some time after all
 * rules have retired. */
bool division_is_same(const division_result *a, const division_result *b) {
  const hpar_rewrite_stats *x = &a->stats, *y = &b->stats;
  if (!equals(&a->calls, &b->calls) || !equals(&a->out, &b->out) || a->status != b->status) return false;
  if (!x->retired && !y->retired && (x->tags != y->tags || x->depth != y->depth)) return false;
  return x->matches == y->matches && (a->status || x->edits == y->edits) && x->misplaced == y->misplaced &&
         x->output_bytes == y->output_bytes && x->failed_at == y->failed_at && x->encoding == y->encoding;
}

/* Returns the length of the common beginning. */
static size_t common(const buffer *a, const buffer *b) {
  size_t same = 0;
  while (same < a->length && same < b->length && a->bytes[same] == b->bytes[same]) same++;
  return same;
}

/* Prints the counters, and the calls and the output from a little before the difference on. */
static void show(const char *name, const division_result *r, size_t from, size_t from_call) {
  buffer shown = {0};
  from = from > 40 ? from - 40 : 0;
  if (from < r->out.length) buffer_escaped(&shown, r->out.bytes + from, r->out.length - from);
  from_call = from_call > 60 ? from_call - 60 : 0;
  if (from_call < r->calls.length)
    printf("calls: %.*s\n", (int)(r->calls.length - from_call < 400 ? r->calls.length - from_call : 400),
           r->calls.bytes + from_call);
  printf("%s: status %d, %llu tags, %llu matches, %llu edits, depth %llu, misplaced %llu\n  %.200s\n", name, r->status,
         (unsigned long long)r->stats.tags, (unsigned long long)r->stats.matches, (unsigned long long)r->stats.edits,
         (unsigned long long)r->stats.depth, (unsigned long long)r->stats.misplaced, shown.bytes ? shown.bytes : "");
  buffer_free(&shown);
}

division_result division_expected, division_got;

bool division_check(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text, size_t length,
                    const hp_rewrite_division *division) {
  hpar_rewrite_options own = *options;
  own.mode = HPAR_MODE_PARALLEL;
  division_require(!hp_rewriter_divide(division_parallel, division), "division");
  division_rewrite(division_parallel, rules, &own, text, length, &division_got);
  if (division_is_same(&division_expected, &division_got)) return true;
  buffer shown = {0};
  buffer_escaped(&shown, text, length);
  printf("rules: %sinput: %.3000s\ncuts:", described.bytes, shown.bytes);
  for (size_t i = 0; i < division->cut_count; i++) printf(" %zu", division->cuts[i]);
  printf(" checkpoint %u\n", division->checkpoint_bytes);
  const size_t same = common(&division_expected.out, &division_got.out);
  const size_t same_calls = common(&division_expected.calls, &division_got.calls);
  show("expected", &division_expected, same, same_calls);
  show("got", &division_got, same, same_calls);
  buffer_free(&shown);
  return false;
}

void division_rewrite_alone(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text,
                            size_t length) {
  hpar_rewrite_options own = *options;
  own.mode = HPAR_MODE_SEQUENTIAL;
  division_rewrite(sequential, rules, &own, text, length, &division_expected);
}

void division_open(void) {
  division_require(!hpar_rewriter_create(&sequential), "rewriter");
  division_require(!hpar_rewriter_create(&division_parallel), "rewriter");
}

void division_close(void) {
  hp_rewrite_counters sum = hp_rewriter_counters(division_parallel);
  printf("%llu chunks, %llu of %llu segments adopted, %llu of %llu bytes rewritten by the merger\n",
         (unsigned long long)sum.chunks, (unsigned long long)sum.adopted_segments, (unsigned long long)sum.segments,
         (unsigned long long)sum.rewritten_bytes, (unsigned long long)sum.bytes);
  hpar_rewriter_destroy(sequential);
  hpar_rewriter_destroy(division_parallel);
  buffer_free(&division_expected.out);
  buffer_free(&division_got.out);
  buffer_free(&division_expected.calls);
  buffer_free(&division_got.calls);
  buffer_free(&described);
}

unsigned division_scale(unsigned count) {
  const char *text = getenv("HPAR_TEST_SCALE");
  unsigned percent = text ? (unsigned)strtoul(text, NULL, 10) : 100;
  return count * percent / 100 + 1;
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

uint64_t division_state = 1;

unsigned division_pick(unsigned below) {
  division_state = division_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(division_state >> 33) % below;
}

static hpar_status note_element(hpar_element *element, void *context) {
  const uint64_t start = element->start, end = element->end;
  hpar_string name = element->name;
  size_t count = 0;
  while (hpar_element_attribute_at(element, count, NULL, NULL)) count++;
  buffer_format(calls, "%s %.*s %llu-%llu %d %zu\n", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)end, hpar_element_removed(element), count);
  if (start % 5 == 1) hpar_element_set(element, "title", "t", 1);
  if (start % 7 == 2) hpar_element_insert(element, HPAR_WHERE_AFTER, "[", 1, HPAR_CONTENT_TEXT);
  return start % 11 == 3 ? HPAR_RETIRE : start % 101 == 4 ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static hpar_status note_end(hpar_element_end *end, void *context) {
  const uint64_t start = end->start, stop = end->end;
  hpar_string name = end->name;
  buffer_format(calls, "%s /%.*s %llu-%llu %d\n", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)stop, end->implied);
  if (start % 3 == 1) hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "]", 1, HPAR_CONTENT_TEXT);
  return HPAR_OK;
}

static void note_found(uint64_t start, uint64_t end, void *context) {
  buffer_format(calls, "%s found %llu-%llu\n", (const char *)context, (unsigned long long)start,
                (unsigned long long)end);
}

/* The same without a log: what the callback sees goes into the output. */
static hpar_status edit_purely(hpar_element *element, void *context) {
  const uint64_t start = element->start, end = element->end;
  buffer seen = {0};
  hpar_string name = element->name;
  buffer_format(&seen, "{%s %.*s %llu-%llu %d %d}", (const char *)context, (int)name.length, name.bytes,
                (unsigned long long)start, (unsigned long long)end, start % 3 ? hpar_element_removed(element) : 2,
                start % 13 == 1 ? (int)hpar_element_depth(element) : -1);
  hpar_element_insert(element, HPAR_WHERE_BEFORE, seen.bytes, seen.length, HPAR_CONTENT_HTML);
  buffer_free(&seen);
  if (start % 5 == 1) hpar_element_set(element, "title", "t", 1);
  return start % 23 == 3 ? HPAR_RETIRE : start % 301 == 4 ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static hpar_status end_purely(hpar_element_end *end, void *context) {
  const uint64_t start = end->start;
  (void)context;
  hpar_element_end_insert(end, HPAR_WHERE_BEFORE, start % 2 ? "]" : "[", 1, HPAR_CONTENT_TEXT);
  if (start % 7 == 1) hpar_element_end_rename(end, "x-e");
  return start % 29 == 3 ? HPAR_RETIRE : HPAR_OK;
}

/* Adds callbacks or a limit to some rules. */
static void add_calls(hpar_rule *rule, unsigned number) {
  static char names[][2] = {"0", "1", "2", "3"};
  rule->context = names[number];
  switch (division_pick(8)) {
    case 0: rule->element = note_element; break;
    case 1: rule->end = note_end; break;
    case 2: rule->limit = 1 + division_pick(3); break;
    case 3: rule->found = note_found; break;
    case 4: rule->limit = 1 + division_pick(20); /* fall through */
    case 5:
      rule->pure = true;
      if (division_pick(3)) rule->element = edit_purely;
      if (!rule->element || division_pick(2)) rule->end = end_purely;
      break;
    default: break;
  }
}

bool division_has_calls = true, division_has_pieces = true;

hpar_rules *division_begin_rules(void) {
  hpar_rules *rules;
  division_require(!hpar_rules_create(&rules), "rules");
  buffer_clear(&described);
  return rules;
}

void division_add_rule(hpar_rules *rules, const hpar_rule *rule) {
  division_require(!hpar_rules_add(rules, rule, NULL), "rules");
  buffer_format(&described, "%s%s%s%s%s%s%s%s%s%s limit %d;", rule->selector ? rule->selector : "(document)",
                rule->element ? " element" : "", rule->end ? " end" : "", rule->text ? " text" : "",
                rule->comment ? " comment" : "", rule->doctype ? " doctype" : "", rule->document_end ? " document" : "",
                rule->found ? " found" : "", rule->pure ? " pure" : "", rule->text_pieces ? " pieces" : "",
                (int)rule->limit);
  for (size_t i = 0; i < rule->action_count; i++)
    buffer_format(&described, " %d/%d %.*s;", rule->actions[i].unit, rule->actions[i].kind,
                  (int)rule->actions[i].value.length, rule->actions[i].value.bytes ? rule->actions[i].value.bytes : "");
  buffer_text(&described, "\n");
}

hpar_rules *division_make_rules(unsigned count) {
  bool counts = division_pick(3) == 0;
  hpar_rules *rules = division_begin_rules();
  for (unsigned i = 0; i < count; i++) {
    hpar_action actions[3];
    size_t n = 1 + division_pick(3);
    for (size_t k = 0; k < n; k++) actions[k] = all_actions[division_pick(ACTIONS)];
    const char *selector =
        counts && division_pick(3) ? counting[division_pick(COUNTING)] : selectors[division_pick(SELECTORS)];
    hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = actions, .action_count = n};
    if (division_has_calls) add_calls(&rule, i);
    division_add_rule(rules, &rule);
  }
  division_require(!hpar_rules_compile(rules), "rules");
  return rules;
}

hpar_rules *division_make_attribute_rules(unsigned count) {
  static const char *const given[] = {"div > p",       "ul > li",    "div > *",         "p > b",       "tr > td",
                                      "div > [class]", "b > b",      ":is(div>p)",      "* > a",       "div>p, ul > p",
                                      "li > ul",       "* > td > b", "div div",         "div div div", "div p b",
                                      "ul li",         "table td",   "div > div p, b b"};
  static const char *const numbered[] = {"tr:nth-child(2n) td",
                                         "tr:nth-child(odd) > td b",
                                         "li:nth-of-type(2n) b",
                                         "p:nth-child(3n+1) b",
                                         "div > p:nth-child(2n) b",
                                         "tbody:nth-child(2n) td",
                                         ":nth-child(2n) b, p:nth-child(2) a",
                                         "p:nth-of-type(3n+2) + b",
                                         "div p:not(:nth-child(2n)) b",
                                         "li:nth-child(-n+2) *",
                                         "b + p:nth-child(2n) i",
                                         "tr:nth-child(4n+3) ~ tr td",
                                         "tbody:nth-child(2) td"};
  const unsigned kind = division_pick(3);
  hpar_rules *rules = division_begin_rules();
  for (unsigned i = 0; i < count; i++) {
    const hpar_action *action = &all_actions[ACTIONS - 3 + division_pick(3)];
    const hpar_rule rule = {HPAR_RULE_INIT,
                            .selector = kind == 0   ? counting[division_pick(COUNTING)]
                                        : kind == 1 ? given[division_pick(sizeof given / sizeof *given)]
                                                    : numbered[division_pick(sizeof numbered / sizeof *numbered)],
                            .actions = action, .action_count = 1};
    division_add_rule(rules, &rule);
  }
  division_require(!hpar_rules_compile(rules), "rules");
  return rules;
}

hpar_rules *division_make_settings(const char *const *given, unsigned count) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}};
  hpar_rules *rules = division_begin_rules();
  for (unsigned i = 0; i < count; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = given[i], .actions = &set, .action_count = 1};
    division_add_rule(rules, &rule);
  }
  division_require(!hpar_rules_compile(rules), "rules");
  return rules;
}

hpar_rules *division_make_setting(const char *selector) { return division_make_settings(&selector, 1); }
