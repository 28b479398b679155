#ifndef HP_PROGRAMS_HPAR_REWRITE_EXPLAIN_H
#define HP_PROGRAMS_HPAR_REWRITE_EXPLAIN_H

/* hpar rewrite --explain: which rule edits what, and why a rule does not match. Observers, rules
 * without actions, see each element before the rule itself edits it. */

#include "programs/hpar/cli.h"
#include "programs/rules/edit_rules.h"

/* An element that a rule edits. */
typedef struct hp_seen {
  const hp_edit_rule *rule;
  uint64_t start; /* of the tag */
  bool has_content;
  /* the tag adds attributes to the open element with this name; NULL: it begins an element */
  const char *merges_into;
} hp_seen;

/* A type selector at the end of a complex selector, and the elements with this name. */
typedef struct hp_counted_name {
  const hp_edit_rule *rule;
  const char *name;
  size_t length;
  uint64_t tags, implied;
} hp_counted_name;

typedef struct hp_explanation {
  bool prints, records;
  const char *path; /* to begin each line with; NULL: none */
  hp_counted_name *subjects;
  size_t subject_count, subject_capacity;
  hp_seen *seen; /* in the order of the page */
  size_t seen_count, seen_capacity;
  uint64_t removed; /* start of the last element that a rule removed */
  bool lacks_memory;
} hp_explanation;

/* Adds observers and the rules to `to`, as hp_edit_rules_compile. */
hpar_status hp_explanation_compile(hp_explanation *explanation, hp_edit_rules *rules, hpar_rules *to,
                                   hp_refusal *refusal);
/* Forgets the previous page. */
void hp_explanation_begin(hp_explanation *explanation, const char *path);
/* Prints why rules have not matched. `failed`: the rewriter did not reach the end of the page. */
void hp_explanation_finish(const hp_explanation *explanation, const hp_edit_rules *rules,
                           const hpar_rewrite_stats *stats, bool failed);
void hp_explanation_free(hp_explanation *explanation);

#endif
