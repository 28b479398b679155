#include "programs/rules/edit_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void *items, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 8;
  void *grown = realloc(*(void **)items, wanted * size);
  if (!grown) return false;
  *(void **)items = grown;
  *capacity = wanted;
  return true;
}

void hp_edit_rules_free(hp_edit_rules *rules) {
  for (size_t i = 0; i < rules->count; i++) free(rules->items[i].actions);
  for (size_t i = 0; i < rules->kept_count; i++) free(rules->kept[i]);
  free(rules->items);
  free(rules->kept);
}

hp_edit_rule *hp_edit_rules_add(hp_edit_rules *rules, const char *selector) {
  if (!grow(&rules->items, &rules->capacity, rules->count, sizeof *rules->items)) return NULL;
  hp_edit_rule *rule = &rules->items[rules->count++];
  *rule = (hp_edit_rule){.rule = {HPAR_RULE_INIT, .selector = selector}, .number = rules->count};
  return rule;
}

hpar_action *hp_edit_rule_add(hp_edit_rule *rule, hpar_unit unit, hpar_action_kind kind) {
  if (!grow(&rule->actions, &rule->capacity, rule->count, sizeof *rule->actions)) return NULL;
  hpar_action *action = &rule->actions[rule->count++];
  *action = (hpar_action){.unit = unit, .kind = kind, .format = HPAR_CONTENT_HTML};
  return action;
}

bool hp_edit_rules_keep(hp_edit_rules *rules, char *memory) {
  if (!grow(&rules->kept, &rules->kept_capacity, rules->kept_count, sizeof *rules->kept)) {
    free(memory);
    return false;
  }
  rules->kept[rules->kept_count++] = memory;
  return true;
}

const char *hp_edit_action_name(hpar_action_kind kind) {
  static const char *const names[] = {"before",  "after",  "prepend", "append",      "inner",
                                      "replace", "remove", "unwrap",  "rename",      "set",
                                      "unset",   "prefix", "find",    "prefix-urls", "rebase"};
  return names[kind];
}

const char *hp_edit_unit_name(hpar_unit unit) {
  static const char *const names[] = {"element", "text", "comment", "doctype", "end", "conditional", "instruction"};
  return names[unit];
}

void hp_edit_rule_name(const hp_edit_rule *rule, char *name, size_t size) {
  snprintf(name, size, "%s%srule %zu (%s)", rule->file ? rule->file : "", rule->file ? ": " : "", rule->number,
           rule->rule.selector ? rule->rule.selector : "the document");
}

/* Writes why the rule is refused. */
static void refuse(const hp_edit_rule *rule, const hpar_error *error, hp_refusal *refusal) {
  char name[256], field[64] = "";
  hp_edit_rule_name(rule, name, sizeof name);
  bool is_of_selector = error->item >= rule->count && rule->rule.selector;
  if (error->item < rule->count) {
    const hpar_action *action = &rule->actions[error->item];
    bool is_element = action->unit == HPAR_UNIT_ELEMENT;
    snprintf(field, sizeof field, "%s%s%s: ", is_element ? "" : hp_edit_unit_name(action->unit), is_element ? "" : ".",
             hp_edit_action_name(action->kind));
  } else if (is_of_selector) {
    snprintf(name, sizeof name, "%s%srule %zu", rule->file ? rule->file : "", rule->file ? ": " : "", rule->number);
    snprintf(field, sizeof field, "selector, byte %zu: ", error->offset + 1);
  }
  *refusal = (hp_refusal){.selector = is_of_selector ? rule->rule.selector : NULL, .offset = error->offset};
  snprintf(refusal->text, sizeof refusal->text, "%s: %s%s", name, field, error->text);
}

hpar_status hp_edit_rules_compile(hp_edit_rules *rules, hp_observe_fn observe, void *context, hpar_rules *to,
                                  hp_refusal *refusal) {
  for (size_t i = 0; i < rules->count; i++) {
    hp_edit_rule *rule = &rules->items[i];
    hpar_error error;
    rule->rule.actions = rule->actions;
    rule->rule.action_count = rule->count;
    hpar_rule observer = {HPAR_RULE_INIT, .selector = rule->rule.selector};
    observer.limit = rule->rule.limit;
    observer.implied = rule->rule.implied;
    hpar_status status = HPAR_OK;
    if (observe && observe(rule, &observer, context)) status = hpar_rules_add(to, &observer, &error);
    if (!status) status = hpar_rules_add(to, &rule->rule, &error);
    if (status == HPAR_ERROR_MEMORY) return status;
    if (status) {
      refuse(rule, &error, refusal);
      return HPAR_ERROR_ARGUMENT;
    }
  }
  return hpar_rules_compile(to);
}
