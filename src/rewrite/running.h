#ifndef HP_REWRITE_RUNNING_H
#define HP_REWRITE_RUNNING_H

/* The rules of a stream while it runs. A rule for texts, comments or the doctype has a scope: the
 * document, or the open elements that match. The counters tell the loop what no rule is for. */

#include "rewrite/rules.h"

typedef struct hp_rule_state {
  uint64_t matches;
  uint32_t open; /* elements in scope; 1 more for a rule for the document */
  bool is_retired;
} hp_rule_state;

typedef struct hp_running_rules {
  const hpar_rules *held; /* that a stream from hpar_rewriter_begin keeps alive; NULL: none */
  hp_rule_state *states;  /* by rule */
  uint32_t capacity;
  uint32_t active; /* that are not retired, and may still edit something */
  /* Those of them whose scope is open here. */
  uint32_t texts, whole_texts, comments, doctypes;
  uint32_t ends; /* for the end of the document */
  bool confirms; /* the rewriter only reads the output of another one: see window.c */
} hp_running_rules;

/* Begins with all rules, or with `confirms` those for elements. */
void hp_running_rules_open(hp_running_rules *running, const hpar_rules *rules, hp_unwind *unwind);
/* Ends the stream's use of the rules. */
void hp_running_rules_release(hp_running_rules *running);
void hp_running_rules_close(hp_running_rules *running);

/* Sets which scopes are open, by rule. */
void hp_running_rules_set_scopes(hp_running_rules *running, const hpar_rules *rules, const hp_bits *open);
/* One more element is in the scope of a rule, or one less. */
void hp_running_rules_change_scope(hp_running_rules *running, const hpar_rules *rules, uint32_t rule, bool opens);
/* Ends a rule. Returns false if it has ended before. */
bool hp_running_rules_retire(hp_running_rules *running, const hpar_rules *rules, uint32_t rule);

/* Returns true if the rule runs for units in the current scopes. */
static inline bool hp_running_rules_reach(const hp_running_rules *running, uint32_t rule) {
  return running->states[rule].open && !running->states[rule].is_retired;
}

#endif
