#include "rewrite/rules.h"

#include "base/bytes.h"
#include "base/call.h"
#include "base/memory.h"
#include "rewrite/readable.h"
#include "rewrite/urls.h"
#include "select/program.h"
#include "tree/builder.h"

#include <string.h>

static void free_rule(hp_rule *rule) {
  for (size_t i = 0; rule->actions && i < rule->given.action_count; i++) {
    hp_free((char *)(uintptr_t)rule->actions[i].name);
    hp_free((char *)(uintptr_t)rule->actions[i].value.bytes);
    hp_free((char *)(uintptr_t)rule->actions[i].replacement.bytes);
  }
  hp_free(rule->actions);
  hp_free(rule->setting);
}

static void free_rules(hpar_rules *rules) {
  for (uint32_t i = 0; i < rules->count; i++) free_rule(&rules->rules[i]);
  hp_matcher_close(&rules->matcher);
  hpar_selectors_destroy(rules->selectors);
  hpar_document_destroy(rules->document);
  hp_free(rules->rules);
  hp_free(rules->of_selector);
  hp_free(rules->unit_rules);
  hp_free(rules);
}

hpar_status hpar_rules_create(hpar_rules **rules) {
  if (!rules) return HPAR_ERROR_ARGUMENT;
  *rules = NULL;
  hpar_rules *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hpar_status status = hpar_selectors_create(&made->selectors);
  if (!status) status = hpar_document_create(&made->document);
  if (status) {
    free_rules(made);
    return status;
  }
  *rules = made;
  return HPAR_OK;
}

void hpar_rules_destroy(hpar_rules *rules) {
  if (rules && hp_destroy_use(&rules->use)) free_rules(rules);
}

void hp_rules_end_use(const hpar_rules *rules) {
  if (hp_end_use(&rules->use)) free_rules((hpar_rules *)(uintptr_t)rules);
}

/*** checks ***/

bool hp_is_rule_name(const char *name, bool of_attribute) {
  if (!name || !*name) return false;
  if (!of_attribute && (unsigned char)((*name | 0x20) - 'a') >= 26) return false;
  for (const char *p = name; *p; p++)
    if ((unsigned char)*p <= ' ' || strchr("/>", *p) || (of_attribute && strchr("\"'<=", *p))) return false;
  return true;
}

static const char out_of_memory[] = "out of memory";

static const char *check_base(hpar_string url) {
  const hpar_status status = hp_check_absolute_url(url);
  if (status == HPAR_ERROR_MEMORY) return out_of_memory;
  return status == HPAR_OK ? NULL : "the value is not an absolute URL";
}

/* Returns true if the rule may end, or take a part of a text. */
static bool may_end_early(const hpar_rule *r) {
  return r->text_pieces || r->limit || r->element || r->end || r->text || r->comment || r->doctype || r->document_end ||
         r->url;
}

/* Returns why the action is invalid, or NULL. */
static const char *check_action(const hpar_action *a, const hpar_rule *rule) {
  const bool is_document = !rule->selector;
  if (a->value.length && !a->value.bytes) return "the value is missing";
  if (a->replacement.length && !a->replacement.bytes) return "the replacement is missing";
  if (a->format != HPAR_CONTENT_TEXT && a->format != HPAR_CONTENT_HTML) return "the format is unknown";
  bool around = a->kind == HPAR_ACTION_BEFORE || a->kind == HPAR_ACTION_AFTER;
  bool common = around || a->kind == HPAR_ACTION_REPLACE || a->kind == HPAR_ACTION_REMOVE;
  switch (a->unit) {
    case HPAR_UNIT_ELEMENT: break;
    case HPAR_UNIT_TEXT:
      if (a->kind == HPAR_ACTION_FIND && !hp_find_places(a->name))
        return "the places are not a list of text, script, style, title, comment or all";
      if (a->kind == HPAR_ACTION_FIND && rule->across_tags && may_end_early(rule))
        return "a rule that finds across tags has no limit, pieces or callbacks";
      if (a->kind == HPAR_ACTION_FIND) return a->value.length ? NULL : "the text to find is empty";
      return common ? NULL : "a text does not have this action";
    case HPAR_UNIT_CONDITIONAL:
      if (a->kind == HPAR_ACTION_UNWRAP) return NULL;
      return common ? NULL : "a comment does not have this action";
    case HPAR_UNIT_COMMENT:
    case HPAR_UNIT_INSTRUCTION: return common ? NULL : "a comment does not have this action";
    case HPAR_UNIT_DOCTYPE:
      return is_document && a->kind == HPAR_ACTION_REMOVE ? NULL : "only a rule for the document removes a doctype";
    case HPAR_UNIT_DOCUMENT_END:
      return is_document && a->kind == HPAR_ACTION_APPEND ? NULL : "only a rule for the document appends to its end";
    default: return "the unit is unknown";
  }
  if (is_document) return "a rule for the document has no element";
  switch (a->kind) {
    case HPAR_ACTION_RENAME: return hp_is_rule_name(a->name, false) ? NULL : "the name of an element is invalid";
    case HPAR_ACTION_SET_ATTRIBUTE:
    case HPAR_ACTION_UNSET_ATTRIBUTE:
      return hp_is_rule_name(a->name, true) ? NULL : "the name of an attribute is invalid";
    case HPAR_ACTION_PREFIX_ATTRIBUTE:
      if (!a->value.length) return "the prefix is empty";
      return hp_is_rule_name(a->name, true) ? NULL : "the name of an attribute is invalid";
    case HPAR_ACTION_FIND: return "only a text has this action";
    case HPAR_ACTION_PREFIX_URLS: return a->value.length ? NULL : "the prefix is empty";
    case HPAR_ACTION_REBASE_URLS: return a->value.length ? check_base(a->value) : NULL;
    default: return (unsigned)a->kind <= HPAR_ACTION_UNWRAP ? NULL : "the action is unknown";
  }
}

static const char *check_rule(const hpar_rule *rule) {
  if (rule->action_count && !rule->actions) return "the actions are missing";
  if (rule->selector && (rule->doctype || rule->document_end))
    return "only a rule for the document has callbacks for the doctype and the end";
  if (!rule->selector && (rule->element || rule->end || rule->found || rule->url))
    return "a rule for the document has no element";
  return NULL;
}

/*** copies ***/

static bool copy_string(hpar_string *string) {
  if (!string->length) {
    *string = (hpar_string){NULL, 0};
    return true;
  }
  char *copy = hp_allocate(string->length);
  if (copy) memcpy(copy, string->bytes, string->length);
  string->bytes = copy;
  return copy;
}

static bool copy_action(hpar_action *to, const hpar_action *from) {
  *to = *from;
  hpar_string name = {from->name, from->name ? strlen(from->name) + 1 : 0};
  bool copied = copy_string(&name);
  to->name = name.bytes;
  bool is_attribute = from->kind >= HPAR_ACTION_SET_ATTRIBUTE && from->kind <= HPAR_ACTION_PREFIX_ATTRIBUTE;
  for (char *c = (char *)(uintptr_t)name.bytes; c && *c && is_attribute; c++) *c = hp_ascii_lower(*c);
  copied = copy_string(&to->value) && copied;
  return copy_string(&to->replacement) && copied;
}

/* Returns true if the text has a byte below `first` or one of `bytes`. */
static bool has_any(hpar_string text, unsigned char first, const char *bytes) {
  for (size_t i = 0; i < text.length; i++)
    if ((unsigned char)text.bytes[i] < first || strchr(bytes, text.bytes[i])) return true;
  return false;
}

/* Writes `setting` if the rule only sets an attribute to a simple value. */
static bool copy_setting(hp_rule *rule) {
  const hpar_rule *given = &rule->given;
  const hpar_action *a = rule->actions;
  if (given->action_count != 1 || given->element || given->end || given->text || given->comment || given->found ||
      given->limit || given->url || a->kind != HPAR_ACTION_SET_ATTRIBUTE)
    return true;
  hpar_string name = {a->name, strlen(a->name)};
  if (!a->value.length || !hp_is_ascii(name.bytes, name.length) || !hp_is_ascii(a->value.bytes, a->value.length) ||
      has_any(a->value, 1, "\"'&\r"))
    return true;
  size_t length = name.length + a->value.length + 4;
  if (length > UINT32_MAX) return true;
  char *to = rule->setting = hp_allocate(length);
  if (!to) return false;
  *to = ' ';
  memcpy(to + 1, name.bytes, name.length);
  memcpy(to + 1 + name.length, "=\"", 2);
  memcpy(to + 3 + name.length, a->value.bytes, a->value.length);
  to[length - 1] = '"';
  rule->name_length = (uint32_t)name.length;
  rule->setting_length = (uint32_t)length;
  rule->value_needs_quotes = has_any(a->value, 0x21, "=<>`");
  return true;
}

/* The CSS of a style element is a text. */
static void note_sheets(hp_rule *rule) {
  if (!rule->edits_urls) return;
  rule->edits_sheets_only = !rule->edits_text;
  rule->edits_text = true;
}

static bool copy_rule(hp_rule *to, const hpar_rule *from) {
  *to = (hp_rule){.given = *from, .is_document = !from->selector};
  to->given.selector = NULL;
  to->given.actions = NULL;
  to->edits_text = from->text;
  to->edits_comments = from->comment;
  to->edits_doctype = from->doctype;
  to->edits_urls = from->url;
  if (from->action_count) to->actions = hp_allocate_zeroed(from->action_count * sizeof *to->actions);
  if (from->action_count && !to->actions) return false;
  bool copied = true;
  for (size_t i = 0; i < from->action_count; i++) {
    copied = copy_action(&to->actions[i], &from->actions[i]) && copied;
    to->edits_text |= from->actions[i].unit == HPAR_UNIT_TEXT;
    to->edits_comments |= hp_is_comment_unit(from->actions[i].unit) || hp_finds_in_comments(&from->actions[i]);
    to->edits_doctype |= from->actions[i].unit == HPAR_UNIT_DOCTYPE;
    to->edits_urls |= hp_is_url_action(&from->actions[i]);
  }
  note_sheets(to);
  return copied && copy_setting(to);
}

static hpar_status no_memory(hpar_error *error) {
  return hp_explain(error, HPAR_ERROR_MEMORY, "%s", hpar_status_text(HPAR_ERROR_MEMORY));
}

/* Appends the rule, which is valid but for its selector. */
static hpar_status add_rule(hpar_rules *rules, const hpar_rule *rule, hpar_error *error) {
  if (!hp_reserve(&rules->rules, &rules->capacity, (size_t)rules->count + 1, sizeof *rules->rules) ||
      !hp_reserve(&rules->of_selector, &rules->selector_capacity, (size_t)rules->selector_count + 1,
                  sizeof *rules->of_selector))
    return no_memory(error);
  hp_rule *made = &rules->rules[rules->count];
  if (!copy_rule(made, rule)) {
    free_rule(made);
    return no_memory(error);
  }
  if (rule->selector) {
    hpar_status status = hp_selectors_add(rules->selectors, rule->selector, strlen(rule->selector), true, error);
    if (status != HPAR_OK) {
      free_rule(made);
      return status;
    }
    rules->of_selector[rules->selector_count++] = rules->count;
  }
  rules->edits_urls |= made->edits_urls;
  made->runs = rules->run_count;
  if (rule->across_tags) rules->run_count += (uint32_t)rule->action_count;
  rules->count++;
  return HPAR_OK;
}

hpar_status hpar_rules_add(hpar_rules *rules, const hpar_rule *given, hpar_error *error) {
  hp_set_error(error, HPAR_OK, 0, "%s", "");
  if (!rules || !given) return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s is NULL", rules ? "rule" : "rules");
  if (rules->is_compiled) return hp_explain(error, HPAR_ERROR_ARGUMENT, "the rules are compiled");
  hpar_rule full;
  const hpar_rule *rule = &full;
  hpar_status status = hp_read_sized(&full, sizeof full, given, "hpar_rule", "HPAR_RULE_INIT", error);
  if (status != HPAR_OK) return status;
  const char *reason = check_rule(rule);
  if (reason) return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s", reason);
  for (size_t i = 0; i < rule->action_count; i++) {
    reason = check_action(&rule->actions[i], rule);
    if (!reason) continue;
    status = reason == out_of_memory ? HPAR_ERROR_MEMORY : HPAR_ERROR_ARGUMENT;
    hp_explain(error, status, "%s", reason);
    if (error) error->item = i;
    return status;
  }
  return add_rule(rules, rule, error);
}

/*** compilation ***/

typedef struct interning {
  hpar_rules *rules;
  hp_interner interner;
  hp_unwind unwind;
} interning;

static hpar_status intern_names(void *argument) {
  interning *i = argument;
  const hpar_selectors *set = i->rules->selectors;
  hp_interner_open(&i->interner, &i->rules->document->atoms, &i->unwind);
  for (uint32_t k = 0; k < set->names_count; k++) {
    const hp_selector_name *name = &set->names[k];
    hp_intern(&i->interner, set->text + name->exact, name->length);
    hp_intern(&i->interner, set->text + name->lower, name->length);
  }
  return HPAR_OK;
}

static bool is_any(const hp_bits *bits, uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (bits[w]) return true;
  return false;
}

static void note_reading(hpar_rules *rules, hp_atom attribute, hp_reading reading) {
  hp_name name = hp_atom_name(&rules->document->atoms, attribute);
  rules->reading.names |= (uint64_t)1 << hp_attribute_bit(name.bytes, name.length);
  for (uint32_t i = 0; i < name.length; i++) /* a tag may have the name in another encoding */
    if ((unsigned char)name.bytes[i] >= 0x80) rules->reading.names = UINT64_MAX;
  if (attribute >= HP_KNOWN_ATOMS) {
    rules->reading.known_only = false;
  } else if (rules->reading.of[attribute] < reading) {
    rules->reading.count += !rules->reading.of[attribute];
    rules->reading.of[attribute] = (uint8_t)reading;
  }
}

/* Finds the attributes of HTML elements that some selector reads. */
static void find_attributes(hpar_rules *rules) {
  static const hp_atom of_forms[] = {HP_ATOM_TYPE, HP_ATOM_SELECTED, HP_ATOM_CHECKED, HP_ATOM_DISABLED};
  const hpar_selectors *set = rules->selectors;
  rules->reading.known_only = true;
  for (uint32_t i = 0; i < set->tests_count; i++) {
    const hp_test *test = &set->tests[i];
    switch ((hp_test_kind)test->kind) {
      case HP_TEST_ID: note_reading(rules, HP_ATOM_ID, HP_READS_VALUE); break;
      case HP_TEST_CLASS: note_reading(rules, HP_ATOM_CLASS, HP_READS_VALUE); break;
      case HP_TEST_LINK: note_reading(rules, HP_ATOM_HREF, HP_READS_NAME); break;
      case HP_TEST_LANG: note_reading(rules, HP_ATOM_LANG, HP_READS_VALUE); break;
      case HP_TEST_ENABLED:
      case HP_TEST_DISABLED:
      case HP_TEST_CHECKED:
        for (size_t k = 0; k < sizeof of_forms / sizeof *of_forms; k++)
          note_reading(rules, of_forms[k], HP_READS_VALUE);
        break;
      case HP_TEST_ATTRIBUTE:
        note_reading(rules, rules->matcher.names[test->name].lower,
                     test->operator== HP_ATTRIBUTE_PRESENT ? HP_READS_NAME : HP_READS_VALUE);
        break;
      default: break;
    }
  }
}

/* Finds the start tags that the fast loop may process, because no compound can match them. */
static void find_fast_tags(hpar_rules *rules) {
  if (rules->needs_attributes || rules->has_universal) return;
  for (hp_atom name = 0; name < HP_KNOWN_ATOMS; name++)
    if (!hp_matcher_has_tag(&rules->matcher, name)) rules->starts[name] = hp_fused_starts[name];
}

static void find_needs(hpar_rules *rules) {
  const hpar_selectors *set = rules->selectors;
  const hp_matcher *m = &rules->matcher;
  rules->needs_every_tag =
      set->looks_at_siblings || set->counts_types || set->looks_at_forms || set->counters || set->languages;
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    uint8_t combinator = set->instructions[i].combinator;
    if (combinator != HP_COMBINATOR_NONE) rules->needs_frames = true;
    if (combinator == HP_COMBINATOR_NEXT || combinator == HP_COMBINATOR_LATER) rules->needs_every_tag = true;
  }
  rules->needs_frames |= rules->needs_every_tag;
  rules->needs_attributes = hp_matcher_needs_attributes(m);
  rules->has_universal = is_any(hp_matcher_universal(m), m->words);
  for (uint32_t i = 0; i < rules->count; i++) rules->reads_implied |= rules->rules[i].given.implied;
  rules->skips_tags = !rules->needs_every_tag;
  find_fast_tags(rules);
}

/* Lists the rules for texts, comments and the doctype. */
static hpar_status find_unit_rules(hpar_rules *rules) {
  uint32_t *units = hp_reallocate(rules->unit_rules, (rules->count + 1) * sizeof *units);
  if (!units) return HPAR_ERROR_MEMORY;
  rules->unit_rules = units;
  rules->unit_rule_count = 0;
  for (uint32_t i = 0; i < rules->count; i++) {
    const hp_rule *rule = &rules->rules[i];
    if (!rule->edits_text && !rule->edits_comments && !rule->edits_doctype) continue;
    units[rules->unit_rule_count++] = i;
    rules->edits_texts |= rule->edits_text;
    rules->has_scopes |= !rule->is_document;
  }
  return HPAR_OK;
}

/* Adds the rule that finds the base URL, unless no rule edits URLs, or an earlier call has. */
static hpar_status add_base_rule(hpar_rules *rules) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "base[href]", .element = hp_urls_take_base};
  if (!rules->edits_urls || rules->rules[rules->count - 1].finds_base) return HPAR_OK;
  hpar_status status = add_rule(rules, &rule, NULL);
  if (status == HPAR_OK) rules->rules[rules->count - 1].finds_base = true;
  return status;
}

hpar_status hpar_rules_compile(hpar_rules *rules) {
  if (!rules) return HPAR_ERROR_ARGUMENT;
  if (rules->is_compiled) return HPAR_OK;
  interning i = {.rules = rules};
  hpar_status status = add_base_rule(rules);
  if (!status) status = find_unit_rules(rules);
  if (status) return status;
  if (rules->selectors->names_count) {
    status = hp_document_open(rules->document, false, 0);
    if (!status) status = hp_try(&i.unwind, intern_names, &i);
    hp_interner_close(&i.interner);
  }
  if (!status) status = hp_matcher_open(&rules->matcher, rules->selectors, rules->document, 0);
  if (status) {
    hp_matcher_close(&rules->matcher);
    memset(&rules->matcher, 0, sizeof rules->matcher);
    return status;
  }
  find_needs(rules);
  find_attributes(rules);
  rules->is_compiled = true;
  return HPAR_OK;
}

/*** while a stream runs ***/

/* Adds 1, or UINT32_MAX to subtract 1, to the counters of what the rule edits. */
static void count(hp_running_rules *s, const hp_rule *rule, uint32_t one) {
  if (rule->edits_text) s->texts += one;
  if (rule->edits_text && !rule->edits_sheets_only && !rule->given.text_pieces) s->whole_texts += one;
  if (rule->edits_text && rule->given.across_tags) s->across += one;
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
  s->active = s->texts = s->whole_texts = s->across = s->comments = s->doctypes = s->ends = 0;
  for (uint32_t i = 0; i < rules->count; i++) {
    const hp_rule *rule = &rules->rules[i];
    s->states[i] = (hp_rule_state){.open = rule->is_document};
    if (!rule->is_document && !rule->finds_base) s->active++;
    if (!rule->is_document || s->confirms) continue;
    const bool ends = edits_end(rule);
    s->ends += ends;
    s->active += ends || rule->edits_text || rule->edits_comments || rule->edits_doctype;
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
  s->texts = s->whole_texts = s->across = s->comments = s->doctypes = 0;
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

bool hp_running_rules_complete(hp_running_rules *s, const hpar_rules *rules, uint32_t index) {
  hp_rule_state *state = &s->states[index];
  if (state->is_complete) return false;
  state->is_complete = true;
  if (!rules->rules[index].finds_base) s->active--;
  return true;
}

void hp_running_rules_retire(hp_running_rules *s, const hpar_rules *rules, uint32_t index) {
  hp_rule_state *state = &s->states[index];
  if (state->open && !state->is_retired) count(s, &rules->rules[index], UINT32_MAX);
  state->is_retired = true;
}
