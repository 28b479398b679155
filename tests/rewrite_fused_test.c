/* Rewrites documents with rules that let the rewriter skip tags, and again beside a rule that
 * matches every element, so that it skips none. Output, events and counters must be equal. With the
 * argument "fixtures": outside pages. */

#include "check.h"
#include "support/buffer.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/shared.h"

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <stdlib.h>

typedef struct event {
  uint64_t start, end;
  uint32_t depth, kind;
  char name[16];
} event;

typedef struct outcome {
  buffer text, events;
  hpar_rewrite_stats stats;
} outcome;

static hpar_rewriter *rewriter;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static void add_event(event *e, hpar_string name, void *context) {
  size_t length = name.length < sizeof e->name ? name.length : sizeof e->name;
  memcpy(e->name, name.bytes, length);
  buffer_add(*(buffer **)context, (const char *)e, sizeof *e);
}

static hpar_status note_element(hpar_element *e, void *context) {
  event made = {.depth = hpar_element_depth(e), .start = e->start, .end = e->end};
  add_event(&made, e->name, context);
  return HPAR_OK;
}

static hpar_status note_end(hpar_element_end *e, void *context) {
  event made = {.kind = 1, .start = e->start, .end = e->end};
  add_event(&made, e->name, context);
  return HPAR_OK;
}

static hpar_status ignore(hpar_element *e, void *context) {
  (void)e, (void)context;
  return HPAR_OK;
}

static buffer *log_of_events;

static const hpar_action actions[] = {
    {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "x", .value = {"1", 1}},
    {.kind = HPAR_ACTION_APPEND, .value = {"<i>", 3}, .format = HPAR_CONTENT_HTML},
    {.kind = HPAR_ACTION_AFTER, .value = {"-", 1}},
};
static const hpar_action unwrap[] = {{.kind = HPAR_ACTION_UNWRAP}};

static const struct set {
  const char *selector;
  bool has_events;
  const hpar_action *actions;
  size_t action_count;
} sets[] = {
    {"x-none", true, NULL, 0},
    {"a, td, select, dd", true, NULL, 0},
    {"x-none y", true, NULL, 0},
    {"div b, li > a, p i, table span, body > p", true, NULL, 0},
    {"b.x, [href], #a p", true, NULL, 0},
    {"body div", true, NULL, 0},
    {"html i, td code, ul i > i", true, NULL, 0},
    {"html b, html hr, table p", false, actions, 3},
    {"p, li", false, actions, 3},
    {"a, td", false, actions, 3},
    {"div > a, ul a", false, actions, 3},
    {"b, span", false, unwrap, 1},
};
enum { SETS = sizeof sets / sizeof *sets };

static hpar_rules *rules[SETS][2];

static void add_rule(hpar_rules *to, const hpar_rule *rule) { CHECK_EQ(hpar_rules_add(to, rule, NULL), HPAR_OK); }

static void make_rules(const struct set *set, hpar_rules *made[2]) {
  hpar_rule every = {HPAR_RULE_INIT, .selector = "*", .element = ignore};
  hpar_rule rule = {HPAR_RULE_INIT,
                    .selector = set->selector,
                    .actions = set->actions,
                    .action_count = set->action_count,
                    .element = set->has_events ? note_element : NULL,
                    .end = set->has_events ? note_end : NULL,
                    .context = &log_of_events};
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(hpar_rules_create(&made[i]), HPAR_OK);
    add_rule(made[i], &rule);
    if (i) add_rule(made[i], &every);
    CHECK_EQ(hpar_rules_compile(made[i]), HPAR_OK);
  }
}

/* Rewrites in pieces of random lengths up to `most`; 0: as a whole. */
static void rewrite(const hpar_rules *of, const compare_case *input, size_t most, outcome *to) {
  random_state random = {input->length};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .no_scripting = !input->scripting, .encoding = "utf-8",
                                  .fragment = input->fragment};
  buffer_clear(&to->text);
  buffer_clear(&to->events);
  log_of_events = &to->events;
  to->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
  CHECK_EQ(hpar_rewriter_begin(rewriter, of, &options, collect, &to->text), HPAR_OK);
  for (size_t at = 0; at < input->length;) {
    size_t part = most ? 1 + random_below(&random, most) : input->length;
    if (part > input->length - at) part = input->length - at;
    CHECK_EQ(hpar_rewriter_feed(rewriter, input->bytes + at, part), HPAR_OK);
    at += part;
  }
  CHECK_EQ(hpar_rewriter_finish(rewriter, &to->stats), HPAR_OK);
}

static bool same_bytes(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static void check_document(const compare_case *input) {
  static outcome skipping, complete;
  static const size_t pieces[] = {0, 300, 40};
  for (int i = 0; i < SETS; i++) {
    rewrite(rules[i][1], input, 0, &complete);
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
      rewrite(rules[i][0], input, pieces[k], &skipping);
      bool same = same_bytes(&skipping.text, &complete.text) && same_bytes(&skipping.events, &complete.events) &&
                  skipping.stats.tags == complete.stats.tags && skipping.stats.depth == complete.stats.depth;
      if (!CHECK(same))
        printf("  \"%s\", pieces of %zu: %zu and %zu bytes of events, %" PRIu64 " and %" PRIu64 " tags, depths %" PRIu64
               " and %" PRIu64 ", in:\n%.*s\n",
               sets[i].selector, pieces[k], skipping.events.length, complete.events.length, skipping.stats.tags,
               complete.stats.tags, skipping.stats.depth, complete.stats.depth,
               input->length < 800 ? (int)input->length : 800, input->bytes);
    }
  }
}

static bool check_pages(void) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, "corpus/pages")) return false;
  if (!CHECK(shared_files(directory, ".html", &files))) return false;
  for (size_t i = 0; i < files.count; i += compare_full() ? 1 : 20) {
    compare_case input = {0};
    char *bytes = shared_read(files.paths[i], &input.length);
    input.bytes = bytes;
    if (bytes) check_document(&input);
    free(bytes);
  }
  shared_list_free(&files);
  return true;
}

static void check_generated(void) {
  uint64_t count = compare_full() ? 200000 : 10 * (uint64_t)compare_scale();
  for (uint64_t seed = 0; seed < count; seed++) {
    generated made = {0};
    generate(seed, &made);
    compare_case input = {
        .bytes = made.text.bytes, .length = made.text.length, .fragment = made.fragment, .scripting = made.scripting};
    check_document(&input);
    generate_free(&made);
  }
}

int main(int count, char **arguments) {
  bool skipped = false;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (int i = 0; i < SETS; i++) make_rules(&sets[i], rules[i]);
  if (check_part(count, arguments, "fixtures")) {
    skipped = !check_pages();
  } else {
    for (size_t i = 0; i < document_count; i++)
      if (!documents[i].encoding) check_document(&documents[i]);
    check_generated();
  }
  for (int i = 0; i < SETS; i++)
    for (int k = 0; k < 2; k++) hpar_rules_destroy(rules[i][k]);
  hpar_rewriter_destroy(rewriter);
  return skipped ? CHECK_SKIPPED : check_report();
}
