#ifndef HP_PROGRAMS_HPAR_REWRITE_RULES_H
#define HP_PROGRAMS_HPAR_REWRITE_RULES_H

/* The rules of hpar rewrite, from the command line and from files in JSON. */

#include "programs/hpar/options.h"

typedef struct hp_edit_rule {
  hpar_rule rule; /* `actions` and `action_count` are set by hp_edit_rules_compile */
  hpar_action *actions;
  size_t count, capacity;
  const char *file; /* of rules; NULL: the command line */
  size_t number;    /* in the file or on the command line, from 1 */
  uint64_t matches; /* of the page that is being rewritten */
  uint64_t all_matches;
} hp_edit_rule;

typedef struct hp_edit_rules {
  hp_edit_rule *items;
  size_t count, capacity;
  char **kept; /* strings that the rules own */
  size_t kept_count, kept_capacity;
} hp_edit_rules;

void hp_edit_rules_free(hp_edit_rules *rules);

/* Appends a rule. `selector` NULL: a rule for the document. Returns NULL without memory. */
hp_edit_rule *hp_edit_rules_add(hp_edit_rules *rules, const char *selector);
/* Appends an action. Returns NULL without memory. */
hpar_action *hp_edit_rule_add(hp_edit_rule *rule, hpar_unit unit, hpar_action_kind kind);
/* Takes over memory from malloc. Returns false, and frees it, without memory. */
bool hp_edit_rules_keep(hp_edit_rules *rules, char *memory);

/* Returns the name of an action as in a file of rules. */
const char *hp_edit_action_name(hpar_action_kind kind);
/* Returns "element", "text", "comment", "doctype" or "end". */
const char *hp_edit_unit_name(hpar_unit unit);
/* Writes the rule's number and its selector, as in "rule 2 (p)". */
void hp_edit_rule_name(const hp_edit_rule *rule, char *name, size_t size);

/* Reads a file of rules and appends them. Returns an exit code after a message, or -1. */
int hp_edit_rules_load(hp_edit_rules *rules, const hp_command *command, const char *path);

/* Adds the rules to `to`. Before each rule, `observe` may add another one; it returns false without
 * memory. Returns an exit code after a message that names the field, or -1. */
typedef bool (*hp_observe_fn)(hp_edit_rule *rule, hpar_rule *observer, void *context);
int hp_edit_rules_compile(hp_edit_rules *rules, const hp_command *command, hp_observe_fn observe, void *context,
                          hpar_rules *to);

#endif
