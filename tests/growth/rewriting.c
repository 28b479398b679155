/* Entries that rewrite a page. */

#include "growth/entries.h"

#include <hpar/rewrite.h>
#include <stdio.h>

enum { MOST_RULES = 4, PIECE = 61, KILOBYTE = 1024, WHOLE = 1 << 30, HUGE_TOKEN = 1 << 30 };

/* Selectors, and what happens to each element and to texts and comments in it. */
typedef struct rule_set {
  const char *selectors[MOST_RULES];
  hpar_action_kind kind;
  size_t piece; /* bytes that are fed at once */
  bool edits_texts;
} rule_set;

static const rule_set sets[REWRITE_VARIANTS] = {
    {{"nothing"}, HPAR_ACTION_REMOVE, PIECE, false},
    {{"p", "b", "a", "td"}, HPAR_ACTION_AFTER, WHOLE, true},
    {{"div div div", "b b p", "span * x"}, HPAR_ACTION_APPEND, KILOBYTE, false},
    {{"div > p", "b > b > *", "* > * > * > *"}, HPAR_ACTION_SET_ATTRIBUTE, WHOLE, false},
    {{"p + p", "a + b + *", "a + span + *"}, HPAR_ACTION_BEFORE, KILOBYTE, false},
    {{"p ~ a", "b ~ b ~ *", "span ~ x"}, HPAR_ACTION_UNWRAP, WHOLE, false},
    {{":nth-child(2n+1)", ":first-child"}, HPAR_ACTION_RENAME, WHOLE, false},
    {{":nth-of-type(3)", ":nth-of-type(2n)", ":first-of-type"}, HPAR_ACTION_AFTER, PIECE, false},
    {{"[k]", ".c7", "#d", "[k^='1']"}, HPAR_ACTION_UNSET_ATTRIBUTE, KILOBYTE, true},
    {{":not(:is(a, b)) :where(span, p)", ":nth-child(3 of p)"}, HPAR_ACTION_REMOVE, WHOLE, false},
    {{"*"}, HPAR_ACTION_INNER, KILOBYTE, true},
    {{":lang(en) *", ":enabled", ":checked", ":root > * > *"}, HPAR_ACTION_PREPEND, WHOLE, true},
};
static hpar_rules *rules[REWRITE_VARIANTS];
static hpar_rewriter *rewriter;

static bool add_rule(hpar_rules *to, const rule_set *set, const char *selector) {
  hpar_action actions[] = {{.kind = set->kind,
                            .name = set->kind == HPAR_ACTION_RENAME ? "section" : "k",
                            .format = HPAR_CONTENT_HTML,
                            .value = {"X", 1}},
                           {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"zz", 2}},
                           {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = actions, .action_count = set->edits_texts ? 3 : 1};
  hpar_error error;
  if (hpar_rules_add(to, &rule, &error) == HPAR_OK) return true;
  fprintf(stderr, "%s: %s\n", selector, error.text);
  return false;
}

bool open_rules(void) {
  if (hpar_rewriter_create(&rewriter) != HPAR_OK) return false;
  for (unsigned set = 0; set < REWRITE_VARIANTS; set++) {
    if (hpar_rules_create(&rules[set]) != HPAR_OK) return false;
    for (unsigned i = 0; i < MOST_RULES && sets[set].selectors[i]; i++)
      if (!add_rule(rules[set], &sets[set], sets[set].selectors[i])) return false;
    if (hpar_rules_compile(rules[set]) != HPAR_OK) return false;
  }
  return true;
}

void close_rules(void) {
  hpar_rewriter_destroy(rewriter);
  for (unsigned set = 0; set < REWRITE_VARIANTS; set++) hpar_rules_destroy(rules[set]);
}

static hpar_status ignore(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

uint64_t run_rewrite(const page *of, unsigned variant) {
  const rule_set *set = &sets[variant];
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .mode = HPAR_MODE_SEQUENTIAL,
                                  .max_token = HUGE_TOKEN, .max_text = variant % 2 ? HUGE_TOKEN : 0};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rewriter_begin(rewriter, rules[variant], &options, ignore, NULL);
  for (size_t at = 0; at < of->text.length; at += set->piece) {
    size_t left = of->text.length - at;
    hpar_rewriter_feed(rewriter, of->text.bytes + at, left < set->piece ? left : set->piece);
  }
  hpar_rewriter_finish(rewriter, &stats);
  return stats.output_bytes;
}
