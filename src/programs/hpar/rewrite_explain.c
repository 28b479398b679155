#include "programs/hpar/rewrite_explain.h"

#include "base/bytes.h"
#include "rewrite/readable.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The context of an observer. */
typedef struct observer {
  hp_explanation *explanation;
  const hp_edit_rule *rule;
} observer;

static bool grow(void *items, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 16;
  void *grown = realloc(*(void **)items, wanted * size);
  if (!grown) return false;
  *(void **)items = grown;
  *capacity = wanted;
  return true;
}

/*** lines ***/

static void begin_line(const hp_explanation *x) {
  if (x->path) printf("%s: ", hp_shown_name(x->path));
}

static void print_rule(const hp_edit_rule *rule) {
  char name[256];
  hp_edit_rule_name(rule, name, sizeof name);
  fputs(name, stdout);
}

/* Returns why an action changes nothing at the element, or NULL. */
static const char *obstacle(const hp_explanation *x, const hpar_action *action, const hpar_element *element) {
  hpar_string value;
  bool is_around = action->kind == HPAR_ACTION_BEFORE || action->kind == HPAR_ACTION_AFTER;
  if (hpar_element_removed(element) && !(is_around && x->removed == element->start)) return "the element is removed";
  if (element->merges && (action->kind < HPAR_ACTION_REPLACE || action->kind == HPAR_ACTION_RENAME))
    return "the tag only adds attributes";
  switch (action->kind) {
    case HPAR_ACTION_PREPEND:
    case HPAR_ACTION_APPEND:
    case HPAR_ACTION_INNER: return element->has_content ? NULL : "the element has no content";
    case HPAR_ACTION_RENAME:
    case HPAR_ACTION_SET_ATTRIBUTE: return element->implied ? "the element has no tag" : NULL;
    case HPAR_ACTION_UNSET_ATTRIBUTE:
      return hpar_element_attribute(element, action->name).bytes ? NULL : "there is no such attribute";
    case HPAR_ACTION_PREFIX_ATTRIBUTE:
      value = hpar_element_attribute(element, action->name);
      if (!value.bytes) return "there is no such attribute";
      if (value.length >= action->value.length && !memcmp(value.bytes, action->value.bytes, action->value.length))
        return NULL;
      return "the value has another beginning";
    default: return NULL;
  }
}

/* Returns true if the action removes the element's tags. */
static bool removes(const hpar_action *action) {
  return action->unit == HPAR_UNIT_ELEMENT && action->kind >= HPAR_ACTION_REPLACE && action->kind <= HPAR_ACTION_UNWRAP;
}

static void print_action(const hp_explanation *x, const hpar_action *action, const hpar_element *element) {
  printf("%s%s%s", hp_edit_action_name(action->kind), action->name ? " " : "", action->name ? action->name : "");
  const char *reason = obstacle(x, action, element);
  if (reason) printf(" is ignored (%s)", reason);
}

static void print_element(const observer *o, const hpar_element *element) {
  hpar_string name = element->name;
  begin_line(o->explanation);
  if (element->implied)
    printf("%llu <%.*s> without a tag: ", (unsigned long long)element->start, (int)name.length, name.bytes);
  else
    printf("%llu-%llu <%.*s>: ", (unsigned long long)element->start, (unsigned long long)element->end, (int)name.length,
           name.bytes);
  print_rule(o->rule);
  const char *between = ": ";
  for (size_t i = 0; i < o->rule->count; i++) {
    const hpar_action *action = &o->rule->actions[i];
    fputs(between, stdout);
    between = ", ";
    if (action->unit == HPAR_UNIT_ELEMENT)
      print_action(o->explanation, action, element);
    else
      printf("%ss inside", hp_edit_unit_name(action->unit));
  }
  putchar('\n');
  if (hpar_element_removed(element)) return;
  for (size_t i = 0; i < o->rule->count; i++)
    if (removes(&o->rule->actions[i])) o->explanation->removed = element->start;
}

/*** callbacks ***/

static hpar_status see_element(hpar_element *element, void *context) {
  observer *o = context;
  hp_explanation *x = o->explanation;
  if (x->prints) print_element(o, element);
  if (!x->records || element->implied) return HPAR_OK;
  if (!grow(&x->seen, &x->seen_capacity, x->seen_count, sizeof *x->seen)) {
    x->lacks_memory = true;
    return HPAR_RETIRE;
  }
  const char *name = element->name.length == 4 && element->name.bytes[0] == 'b' ? "body" : "html";
  const char *merges_into = element->merges ? name : NULL;
  x->seen[x->seen_count++] = (hp_seen){o->rule, element->start, element->has_content, merges_into};
  return HPAR_OK;
}

static hpar_status see_text(hpar_text_piece *text, void *context) {
  const observer *o = context;
  bool begun = false;
  for (size_t i = 0; i < o->rule->count; i++) {
    const hpar_action *action = &o->rule->actions[i];
    if (action->unit != HPAR_UNIT_TEXT) continue;
    size_t count = action->kind == HPAR_ACTION_FIND ? hp_count_finds(text, action) : 1;
    if (!count) continue;
    if (!begun) {
      begin_line(o->explanation);
      printf("%llu text: ", (unsigned long long)text->offset);
      print_rule(o->rule);
    }
    printf("%s%s", begun ? ", " : ": ", hp_edit_action_name(action->kind));
    if (action->kind == HPAR_ACTION_FIND)
      printf(" \"%.*s\" (%zu)", (int)action->value.length, action->value.bytes, count);
    begun = true;
  }
  if (begun) putchar('\n');
  return HPAR_OK;
}

static hpar_status see_comment(hpar_comment *comment, void *context) {
  const observer *o = context;
  begin_line(o->explanation);
  printf("%llu comment: ", (unsigned long long)comment->offset);
  print_rule(o->rule);
  const char *between = ": ";
  for (size_t i = 0; i < o->rule->count; i++) {
    if (o->rule->actions[i].unit != HPAR_UNIT_COMMENT) continue;
    printf("%s%s", between, hp_edit_action_name(o->rule->actions[i].kind));
    between = ", ";
  }
  putchar('\n');
  return HPAR_OK;
}

static hpar_status count_name(hpar_element *element, void *context) {
  hp_explanation *x = context;
  hpar_string name = element->name;
  for (size_t i = 0; i < x->subject_count; i++) {
    hp_counted_name *subject = &x->subjects[i];
    if (subject->length != name.length || strncasecmp(subject->name, name.bytes, name.length) != 0) continue;
    if (element->implied)
      subject->implied++;
    else
      subject->tags++;
  }
  return HPAR_OK;
}

/*** subjects ***/

static bool is_name(char c) { return hp_ascii_is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

/* Adds the name at the beginning of a compound selector, if it has one. */
static bool add_subject(hp_explanation *x, const hp_edit_rule *rule, const char *compound) {
  const char *end = compound;
  while (is_name(*end)) end++;
  if (*end == '|' || *end == '\\' || !hp_ascii_is_letter(*compound)) return true;
  if (!grow(&x->subjects, &x->subject_capacity, x->subject_count, sizeof *x->subjects)) return false;
  x->subjects[x->subject_count++] = (hp_counted_name){rule, compound, (size_t)(end - compound), 0, 0};
  return true;
}

/* Adds the last compound selectors of the list. */
static bool add_subjects(hp_explanation *x, const hp_edit_rule *rule) {
  const char *at = rule->rule.selector, *compound = at;
  unsigned depth = 0;
  for (char quote = 0;; at++) {
    char c = *at;
    if (c && quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      depth++;
    } else if (c == ')' || c == ']') {
      depth--;
    } else if (!c || (c == ',' && !depth)) {
      if (!add_subject(x, rule, compound)) return false;
      compound = at + 1;
    } else if (!depth && strchr(" \t\r\n\f>+~", c)) {
      const char *next = at + strspn(at, " \t\r\n\f>+~");
      if (*next && *next != ',') compound = next;
      at = next - 1;
    }
    if (c == '\\' && at[1]) at++;
    if (!c) return true;
  }
}

/*** rules ***/

typedef struct compilation {
  hp_explanation *explanation;
  hp_edit_rules *rules;
} compilation;

static bool observe(hp_edit_rule *rule, hpar_rule *made, void *context) {
  compilation *c = context;
  observer *o = malloc(sizeof *o);
  if (!o || !hp_edit_rules_keep(c->rules, (char *)o)) {
    c->explanation->lacks_memory = true;
    return false;
  }
  *o = (observer){c->explanation, rule};
  made->context = o;
  if (rule->rule.selector) made->element = see_element;
  for (size_t i = 0; c->explanation->prints && i < rule->count; i++) {
    if (rule->actions[i].unit == HPAR_UNIT_TEXT) made->text = see_text;
    if (rule->actions[i].unit == HPAR_UNIT_COMMENT) made->comment = see_comment;
  }
  return true;
}

/*** counts of names ***/

/* The context of a rule that counts the start tags of a name. */
typedef struct tag_counter {
  hp_explanation *explanation;
  size_t subject; /* the first one with the name */
} tag_counter;

static bool is_same_name(const hp_counted_name *a, const hp_counted_name *b) {
  return a->length == b->length && !strncasecmp(a->name, b->name, a->length);
}

static void count_tag(uint64_t start, uint64_t end, void *context) {
  const tag_counter *c = context;
  hp_explanation *x = c->explanation;
  (void)start, (void)end;
  for (size_t i = c->subject; i < x->subject_count; i++)
    x->subjects[i].tags += is_same_name(&x->subjects[i], &x->subjects[c->subject]);
}

/* Returns true if an element may have the name although the page has no start tag of it. */
static bool may_be_implied(const hp_counted_name *s) {
  static const char *const names[] = {"html", "head", "body", "tbody", "tr", "colgroup", "p", "br"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == s->length && !strncasecmp(names[i], s->name, s->length)) return true;
  return false;
}

static bool add_counter(hp_explanation *x, hp_edit_rules *rules, size_t subject, hpar_rules *to) {
  const hp_counted_name *s = &x->subjects[subject];
  char *name = strndup(s->name, s->length);
  if (!name || !hp_edit_rules_keep(rules, name)) return false;
  tag_counter *counter = malloc(sizeof *counter);
  if (!counter || !hp_edit_rules_keep(rules, (char *)counter)) return false;
  *counter = (tag_counter){x, subject};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = name, .found = count_tag, .context = counter};
  return hpar_rules_add(to, &rule, NULL) == HPAR_OK;
}

/* Adds rules that count the elements with the names of the subjects. Elements without a tag require
 * a rule for all elements, which one thread runs. */
static bool count_names(hp_explanation *x, hp_edit_rules *rules, hpar_rules *to) {
  const hpar_rule all = {HPAR_RULE_INIT, .selector = "*", .element = count_name, .context = x, .implied = true};
  for (size_t i = 0; i < rules->count; i++)
    if (rules->items[i].rule.selector && !add_subjects(x, &rules->items[i])) return false;
  for (size_t i = 0; i < x->subject_count; i++)
    if (may_be_implied(&x->subjects[i])) return hpar_rules_add(to, &all, NULL) == HPAR_OK;
  for (size_t i = 0; i < x->subject_count; i++) {
    size_t first = 0;
    while (!is_same_name(&x->subjects[first], &x->subjects[i])) first++;
    if (first == i && !add_counter(x, rules, i, to)) return false;
  }
  return true;
}

hpar_status hp_explanation_compile(hp_explanation *x, hp_edit_rules *rules, hpar_rules *to, hp_refusal *refusal) {
  compilation c = {x, rules};
  if (x->prints && !count_names(x, rules, to)) return HPAR_ERROR_MEMORY;
  hpar_status status = hp_edit_rules_compile(rules, observe, &c, to, refusal);
  return !status && x->lacks_memory ? HPAR_ERROR_MEMORY : status;
}

void hp_explanation_begin(hp_explanation *x, const char *path) {
  x->path = path;
  x->seen_count = 0;
  x->removed = UINT64_MAX;
  for (size_t i = 0; i < x->subject_count; i++) x->subjects[i].tags = x->subjects[i].implied = 0;
}

static void explain_silence(const hp_explanation *x, const hp_edit_rule *rule) {
  size_t named = 0;
  for (size_t i = 0; i < x->subject_count; i++) {
    const hp_counted_name *s = &x->subjects[i];
    if (s->rule != rule) continue;
    begin_line(x);
    print_rule(rule);
    printf(" matches nothing: ");
    if (s->tags)
      printf("the page has %llu <%.*s>, and the rest of the selector excludes each of them\n",
             (unsigned long long)s->tags, (int)s->length, s->name);
    else if (s->implied && !rule->rule.implied)
      printf("the page has <%.*s> without a tag only, which a rule with --implied matches\n", (int)s->length, s->name);
    else
      printf("the page has no <%.*s>\n", (int)s->length, s->name);
    named++;
  }
  if (named) return;
  begin_line(x);
  print_rule(rule);
  puts(" matches nothing: the selector excludes each element of the page");
}

static void explain_failure(const hp_explanation *x, const hp_edit_rule *rule) {
  begin_line(x);
  print_rule(rule);
  puts(" matches nothing before the failure");
}

void hp_explanation_finish(const hp_explanation *x, const hp_edit_rules *rules, const hpar_rewrite_stats *stats,
                           bool failed) {
  if (!x->prints) return;
  for (size_t i = 0; i < rules->count && !stats->passed_through; i++) {
    if (!rules->items[i].rule.selector || rules->items[i].matches) continue;
    if (failed)
      explain_failure(x, &rules->items[i]);
    else
      explain_silence(x, &rules->items[i]);
  }
  if (stats->passed_through) {
    begin_line(x);
    puts("no rule applies: the page is in UTF-16 and passes unchanged; see --utf16");
  }
  if (stats->misplaced) {
    begin_line(x);
    printf("%llu contents of --after are inside their elements, because no end tag can be written there\n",
           (unsigned long long)stats->misplaced);
  }
}

void hp_explanation_free(hp_explanation *x) {
  free(x->subjects);
  free(x->seen);
}
