#include "rewrite/running.h"

#include "base/memory.h"

/* Adds 1, or UINT32_MAX to subtract 1, to the counters of what the rule edits. */
static void count(hp_running_rules *s, const hp_rule *rule, uint32_t one) {
  if (rule->edits_text) s->texts += one;
  if (rule->edits_text && !rule->given.text_pieces) s->whole_texts += one;
  if (rule->edits_comments) s->comments += one;
  if (rule->edits_doctype) s->doctypes += one;
}

static bool edits_end(const hp_rule *rule) {
  if (rule->given.document_end) return true;
  for (size_t i = 0; i < rule->given.action_count; i++)
    if (rule->actions[i].unit == HPAR_UNIT_DOCUMENT_END) return true;
  return false;
}

void hp_running_rules_open(hp_running_rules *s, const hpar_rules *rules, hp_unwind *unwind) {
  hp_grow_tight(&s->states, &s->capacity, rules->count, unwind);
  s->active = s->texts = s->whole_texts = s->comments = s->doctypes = s->ends = 0;
  for (uint32_t i = 0; i < rules->count; i++) {
    const hp_rule *rule = &rules->rules[i];
    s->states[i] = (hp_rule_state){0, rule->is_document, false};
    if (!rule->is_document && !rule->finds_base) s->active++;
    if (!rule->is_document || s->confirms) continue;
    s->ends += edits_end(rule);
    s->active += rule->edits_text || rule->edits_comments || rule->edits_doctype;
    count(s, rule, 1);
  }
}

void hp_running_rules_release(hp_running_rules *s) {
  const hpar_rules *rules = s->held;
  s->held = NULL;
  if (rules) hp_rules_end_use(rules);
}

void hp_running_rules_close(hp_running_rules *s) {
  hp_running_rules_release(s);
  hp_free(s->states);
}

void hp_running_rules_set_scopes(hp_running_rules *s, const hpar_rules *rules, const hp_bits *open) {
  s->texts = s->whole_texts = s->comments = s->doctypes = 0;
  for (uint32_t i = 0; i < rules->unit_rule_count; i++) {
    const uint32_t index = rules->unit_rules[i];
    s->states[index].open = hp_bit_is_set(open, index);
    if (s->states[index].open) count(s, &rules->rules[index], 1);
  }
}

void hp_running_rules_change_scope(hp_running_rules *s, const hpar_rules *rules, uint32_t index, bool opens) {
  hp_rule_state *state = &s->states[index];
  const bool changes = opens ? state->open++ == 0 : --state->open == 0;
  if (changes && !state->is_retired) count(s, &rules->rules[index], opens ? 1 : UINT32_MAX);
}

bool hp_running_rules_retire(hp_running_rules *s, const hpar_rules *rules, uint32_t index) {
  hp_rule_state *state = &s->states[index];
  if (state->is_retired) return false;
  state->is_retired = true;
  if (!rules->rules[index].finds_base) s->active--;
  if (state->open) count(s, &rules->rules[index], UINT32_MAX);
  return true;
}
