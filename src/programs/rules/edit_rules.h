#ifndef HP_PROGRAMS_RULES_EDIT_RULES_H
#define HP_PROGRAMS_RULES_EDIT_RULES_H

/* The rules of hpar rewrite and of the module for nginx, from the command line and from files in
 * JSON. Nothing here prints: the caller has the reason of a failure. */

#include <hpar/rewrite.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Why rules are refused. */
typedef struct hp_refusal {
  char text[640];       /* the file, the rule, the field, and what is wrong */
  const char *selector; /* the fault is at its byte `offset`; NULL: elsewhere */
  size_t offset;
} hp_refusal;

/* Appends the rules of a file that has been read; messages call it `name`, which must stay.
 * HPAR_ERROR_ARGUMENT, and HPAR_ERROR_UNSUPPORTED if the build has no reader of JSON: the reason is
 * in `refusal`. */
hpar_status hp_edit_rules_read(hp_edit_rules *rules, const char *name, const char *bytes, size_t length,
                               hp_refusal *refusal);

/* Adds the rules to `to` and compiles them. Before each rule, `observe` may add another one, unless
 * it is NULL; it returns false without memory. HPAR_ERROR_ARGUMENT: the reason is in `refusal`. */
typedef bool (*hp_observe_fn)(hp_edit_rule *rule, hpar_rule *observer, void *context);
hpar_status hp_edit_rules_compile(hp_edit_rules *rules, hp_observe_fn observe, void *context, hpar_rules *to,
                                  hp_refusal *refusal);

#endif
