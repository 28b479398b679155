#include "support/rewriting.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*** selectors ***/

static const char *const types[] = {
    "p",      "b",      "i",    "a",     "div",    "span",   "table",    "tr",   "td",   "tbody",        "li",
    "ul",     "svg",    "g",    "title", "select", "option", "template", "form", "svg",  "math",         "style",
    "script", "button", "br",   "img",   "input",  "h1",     "dd",       "x-y",  "nobr", "object",       "font",
    "body",   "html",   "head", "mi",    "em",     "small",  "col",      "desc", "p",    "foreignObject"};
static const char *const simples[] = {".x",
                                      "#y",
                                      "[a]",
                                      "[class]",
                                      "[href=z]",
                                      "[b='2']",
                                      "[e*='p']",
                                      "[type=hidden i]",
                                      "[c^='3']",
                                      ":first-child",
                                      ":nth-child(2n+1)",
                                      ":nth-child(even)",
                                      ":nth-of-type(2)",
                                      ":first-of-type",
                                      ":not(p)",
                                      ":not(.x, div > p)",
                                      ":is(p, b, li)",
                                      ":where(td, div b)",
                                      ":nth-child(2 of p, b)",
                                      ":not([a])",
                                      "[l]",
                                      "[n$='\\a ']"};
static const char *const combinators[] = {" ", " ", " > ", " > ", " + ", " ~ "};

static void compound(random_state *random, char *to) {
  size_t kind = random_below(random, 10);
  if (kind < 6)
    strcat(to, RANDOM_OF(random, types));
  else if (kind < 7 || kind == 9)
    strcat(to, "*");
  if (kind >= 5 && kind < 9) strcat(to, RANDOM_OF(random, simples));
}

void rewriting_selector(random_state *random, char *to) {
  *to = 0;
  compound(random, to);
  for (size_t n = random_below(random, 10); n >= 7; n--) {
    strcat(to, random_chance(random, 15) ? ", " : RANDOM_OF(random, combinators));
    compound(random, to);
  }
}

/*** actions ***/

static const char *const balanced[] = {"X", "<i>1</i>", "<br>", "a b", "&amp;", "<span title=1>s</span>",
                                       "",  "<!--c-->"};
static const char *const any[] = {"<b>",          "</p>", "<div>",    "<",  "\xC3\xA9", "<svg>", "</div></body>", "&",
                                  "\xE2\x82\xAC", "<!--", "<script>", "\"", "<td>",     "]]>",   "</style>",      "'"};
static const char *const attribute_names[] = {"a", "class", "href", "id", "title", "data-x", "B", "c", "xlink:href"};
static const char *const values[] = {"", "1", "a b", "\"", "'", "<&>", "\xC3\xA9", "&amp;", "x=y", "\"'"};
static const char *const new_names[] = {"section", "x-z", "em", "article"};
static const char *const raw_names[] = {"style", "title", "p", "svg", "table", "br", "b"};

static hpar_string string_of(const char *text) { return (hpar_string){text, strlen(text)}; }

static const char *content_of(random_state *random, unsigned kinds) {
  return kinds & REWRITING_ANY_TEXT && random_chance(random, 50) ? RANDOM_OF(random, any) : RANDOM_OF(random, balanced);
}

static void make_element_action(random_state *random, unsigned kinds, hpar_action *a) {
  static const hpar_action_kind kinds_of_actions[] = {
      HPAR_ACTION_BEFORE,        HPAR_ACTION_BEFORE,        HPAR_ACTION_AFTER,           HPAR_ACTION_AFTER,
      HPAR_ACTION_PREPEND,       HPAR_ACTION_APPEND,        HPAR_ACTION_APPEND,          HPAR_ACTION_INNER,
      HPAR_ACTION_REPLACE,       HPAR_ACTION_REMOVE,        HPAR_ACTION_UNWRAP,          HPAR_ACTION_RENAME,
      HPAR_ACTION_SET_ATTRIBUTE, HPAR_ACTION_SET_ATTRIBUTE, HPAR_ACTION_UNSET_ATTRIBUTE, HPAR_ACTION_PREFIX_ATTRIBUTE,
  };
  a->kind = RANDOM_OF(random, kinds_of_actions);
  if (kinds & REWRITING_CALLBACKS && random_chance(random, 10))
    a->kind = random_chance(random, 50) ? HPAR_ACTION_PREFIX_URLS : HPAR_ACTION_REBASE_URLS;
  a->format = random_chance(random, 30) ? HPAR_CONTENT_TEXT : HPAR_CONTENT_HTML;
  switch (a->kind) {
    case HPAR_ACTION_RENAME:
      a->name = kinds & REWRITING_ANY_TEXT && random_chance(random, 40) ? RANDOM_OF(random, raw_names)
                                                                        : RANDOM_OF(random, new_names);
      break;
    case HPAR_ACTION_SET_ATTRIBUTE:
    case HPAR_ACTION_UNSET_ATTRIBUTE:
      a->name = RANDOM_OF(random, attribute_names);
      if (a->kind == HPAR_ACTION_UNSET_ATTRIBUTE && kinds & REWRITING_CALLBACKS && random_chance(random, 30))
        a->name = "*a*";
      a->value = string_of(RANDOM_OF(random, values));
      break;
    case HPAR_ACTION_PREFIX_URLS: a->value = string_of("/p"); break;
    case HPAR_ACTION_REBASE_URLS: a->value = string_of("http://x.y/a/b"); break;
    case HPAR_ACTION_PREFIX_ATTRIBUTE:
      a->name = RANDOM_OF(random, attribute_names);
      a->value = string_of(random_chance(random, 50) ? "x" : "1");
      a->replacement = string_of(RANDOM_OF(random, values));
      break;
    default: a->value = string_of(content_of(random, kinds)); break;
  }
}

static void make_unit_action(random_state *random, unsigned kinds, bool is_document, hpar_action *a) {
  static const hpar_action_kind of_text[] = {HPAR_ACTION_BEFORE, HPAR_ACTION_AFTER, HPAR_ACTION_REPLACE,
                                             HPAR_ACTION_REMOVE, HPAR_ACTION_FIND,  HPAR_ACTION_FIND};
  static const hpar_action_kind of_comment[] = {HPAR_ACTION_BEFORE, HPAR_ACTION_AFTER, HPAR_ACTION_REPLACE,
                                                HPAR_ACTION_REMOVE};
  static const char *const places[] = {NULL, "all", "all", "script, text", "style title"};
  static const char *const found[] = {"x", "lorem", " ", "\n", "\xC3", "a"};
  size_t unit = random_below(random, is_document ? 6 : 4);
  a->value = string_of(content_of(random, kinds));
  a->format = random_chance(random, 50) ? HPAR_CONTENT_TEXT : HPAR_CONTENT_HTML;
  if (unit < 3) {
    a->unit = HPAR_UNIT_TEXT;
    a->kind = RANDOM_OF(random, of_text);
    if (a->kind != HPAR_ACTION_FIND) return;
    a->replacement = a->value;
    a->value = string_of(RANDOM_OF(random, found));
    a->name = RANDOM_OF(random, places);
  } else if (unit == 3) {
    a->unit = HPAR_UNIT_COMMENT;
    a->kind = RANDOM_OF(random, of_comment);
  } else if (unit == 4) {
    a->unit = HPAR_UNIT_DOCTYPE;
    a->kind = HPAR_ACTION_REMOVE;
  } else {
    a->unit = HPAR_UNIT_DOCUMENT_END;
    a->kind = HPAR_ACTION_APPEND;
  }
}

/*** callbacks ***/

/* Returns a number that depends on the rule, the place and the kind of the callback. */
static uint64_t choice_of(const rewriting_call *call, uint64_t place, unsigned kind) {
  random_state random = {call->seed ^ place * 31 ^ kind};
  return random_next(&random);
}

/* `edited` is the status of the callback's edits. */
static hpar_status result_of(const rewriting_call *call, uint64_t choice, hpar_status edited) {
  if (edited == HPAR_ERROR_MEMORY) return edited;
  if (choice % 41 == 1) return HPAR_RETIRE;
  return call->owner->kinds & REWRITING_STOPS && choice % 67 == 3 ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static void log_string(buffer *log, hpar_string text) {
  buffer_format(log, " %zu:", text.length);
  if (text.length) buffer_add(log, text.bytes, text.length);
}

static hpar_status on_own_end(hpar_element_end *end, void *context) {
  rewriting_call *call = context;
  buffer_format(&call->owner->log, "own end of %u\n", call->number);
  return hpar_element_end_insert(end, HPAR_WHERE_AFTER, "[own]", 5, HPAR_CONTENT_TEXT);
}

/* The same in a rule whose callbacks are pure. */
static hpar_status on_pure_own_end(hpar_element_end *end, void *context) {
  (void)context;
  return hpar_element_end_insert(end, HPAR_WHERE_AFTER, "[own]", 5, HPAR_CONTENT_TEXT);
}

static hpar_status edit_element(rewriting_call *call, hpar_element *e, uint64_t choice, buffer *log) {
  const char *text = balanced[choice / 64 % (sizeof balanced / sizeof *balanced)];
  size_t length = strlen(text);
  hpar_content format = choice / 16 % 2 ? HPAR_CONTENT_TEXT : HPAR_CONTENT_HTML;
  hpar_status status = HPAR_OK;
  switch (choice % 24) {
    case 0: status = hpar_element_insert(e, HPAR_WHERE_BEFORE, text, length, format); break;
    case 1: status = hpar_element_insert(e, HPAR_WHERE_AFTER, text, length, format); break;
    case 2: status = hpar_element_insert(e, HPAR_WHERE_PREPEND, text, length, format); break;
    case 3: status = hpar_element_insert(e, HPAR_WHERE_APPEND, text, length, format); break;
    case 4: status = hpar_element_set(e, "class", text, length); break;
    case 5: status = hpar_element_unset(e, "class"); break;
    case 6: status = hpar_element_rename(e, "x-w"); break;
    case 7: status = hpar_element_insert(e, HPAR_WHERE_INNER, text, length, format); break;
    case 8: status = hpar_element_insert(e, HPAR_WHERE_REPLACE, text, length, format); break;
    case 9: status = hpar_element_remove(e); break;
    case 10: status = hpar_element_unwrap(e); break;
    case 11: status = hpar_element_on_end(e, log == &call->owner->log ? on_own_end : on_pure_own_end, call); break;
    case 12: status = hpar_element_set(e, "data-new", text, length); break;
    default: break;
  }
  buffer_format(log, " status %d", status);
  return status;
}

/* Returns the buffer for what a callback notes. */
static buffer *log_of(rewriting_call *call, buffer *own) {
  return call->owner->rules[call->number].pure ? own : &call->owner->log;
}

static hpar_status on_element(hpar_element *e, void *context) {
  rewriting_call *call = context;
  buffer own = {0}, *log = log_of(call, &own);
  const uint64_t start = e->start, end = e->end;
  bool reads_all = log != &own || call->seed % 4 == 0; /* some results of threads are discarded */
  buffer_format(log, "element %u %llu-%llu ns %d depth %u flags %d%d%d%d", call->number, (unsigned long long)start,
                (unsigned long long)end, e->ns, reads_all ? hpar_element_depth(e) : 0, e->implied, e->self_closing,
                e->has_content, call->seed % 2 ? hpar_element_removed(e) : 2);
  log_string(log, e->name);
  hpar_string name, value;
  for (size_t i = 0; hpar_element_attribute_at(e, i, &name, &value); i++) {
    log_string(log, name);
    log_string(log, value);
  }
  uint64_t choice = choice_of(call, start, 0);
  hpar_status status = edit_element(call, e, choice / 128, log);
  log_string(log, hpar_element_attribute(e, "class"));
  buffer_byte(log, '\n');
  if (log == &own && status != HPAR_ERROR_MEMORY)
    status = hpar_element_insert(e, HPAR_WHERE_BEFORE, own.bytes, own.length, HPAR_CONTENT_TEXT);
  buffer_free(&own);
  return result_of(call, choice, status);
}

static hpar_status on_end(hpar_element_end *end, void *context) {
  rewriting_call *call = context;
  const uint64_t start = end->start, stop = end->end;
  uint64_t choice = choice_of(call, start, 1);
  hpar_status status = HPAR_OK;
  switch (choice / 128 % 12) {
    case 0: status = hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "(", 1, HPAR_CONTENT_TEXT); break;
    case 1: status = hpar_element_end_insert(end, HPAR_WHERE_AFTER, ")", 1, HPAR_CONTENT_HTML); break;
    case 2: status = hpar_element_end_remove(end); break;
    case 3: status = hpar_element_end_rename(end, "x-v"); break;
    default: break;
  }
  buffer own = {0}, *log = log_of(call, &own);
  buffer_format(log, "end %u %llu-%llu implied %d status %d", call->number, (unsigned long long)start,
                (unsigned long long)stop, end->implied, status);
  log_string(log, end->name);
  buffer_byte(log, '\n');
  if (log == &own && status != HPAR_ERROR_MEMORY)
    status = hpar_element_end_insert(end, HPAR_WHERE_BEFORE, own.bytes, own.length, HPAR_CONTENT_TEXT);
  buffer_free(&own);
  return result_of(call, choice, status);
}

/* A rule that takes pieces logs the whole text, because the division determines the pieces. */
static hpar_status on_text(hpar_text_piece *t, void *context) {
  rewriting_call *call = context;
  buffer own = {0}, *log = log_of(call, &own);
  hpar_string raw = t->raw, decoded = hpar_text_piece_decoded(t);
  uint64_t choice = choice_of(call, t->offset, 2);
  if (call->owner->rules[call->number].text_pieces) {
    if (raw.length) buffer_add(&call->piece, raw.bytes, raw.length);
    if (!t->last) return HPAR_OK;
    buffer_format(log, "pieces %u", call->number);
    log_string(log, (hpar_string){call->piece.bytes, call->piece.length});
    buffer_byte(log, '\n');
    buffer_clear(&call->piece);
    return HPAR_OK;
  }
  hpar_status status = HPAR_OK;
  switch (choice / 128 % 10) {
    case 0: status = hpar_text_piece_insert(t, HPAR_WHERE_BEFORE, "<", 1, HPAR_CONTENT_TEXT); break;
    case 1: status = hpar_text_piece_insert(t, HPAR_WHERE_AFTER, "t", 1, HPAR_CONTENT_HTML); break;
    case 2: status = hpar_text_piece_insert(t, HPAR_WHERE_REPLACE, "&", 1, HPAR_CONTENT_TEXT); break;
    case 3: status = hpar_text_piece_remove(t); break;
    default: break;
  }
  buffer_format(log, "text %u at %llu kind %d last %d status %d", call->number, (unsigned long long)t->offset, t->kind,
                t->last, status);
  log_string(log, raw);
  log_string(log, decoded);
  buffer_byte(log, '\n');
  if (log == &own && status != HPAR_ERROR_MEMORY)
    status = hpar_text_piece_insert(t, HPAR_WHERE_BEFORE, own.bytes, own.length, HPAR_CONTENT_TEXT);
  buffer_free(&own);
  return result_of(call, choice, status);
}

static hpar_status on_comment(hpar_comment *c, void *context) {
  rewriting_call *call = context;
  buffer own = {0}, *log = log_of(call, &own);
  uint64_t choice = choice_of(call, c->offset, 3);
  hpar_status status = HPAR_OK;
  switch (choice / 128 % 10) {
    case 0: status = hpar_comment_set_text(c, "new", 3); break;
    case 1: status = hpar_comment_insert(c, HPAR_WHERE_BEFORE, "<", 1, HPAR_CONTENT_TEXT); break;
    case 2: status = hpar_comment_insert(c, HPAR_WHERE_AFTER, "<i>c</i>", 8, HPAR_CONTENT_HTML); break;
    case 3: status = hpar_comment_insert(c, HPAR_WHERE_REPLACE, "r", 1, HPAR_CONTENT_HTML); break;
    case 4: status = hpar_comment_remove(c); break;
    case 5: status = hpar_comment_set_text(c, "-->", 3); break;
    default: break;
  }
  buffer_format(log, "comment %u at %llu status %d", call->number, (unsigned long long)c->offset, status);
  log_string(log, c->text);
  buffer_byte(log, '\n');
  if (log == &own && status != HPAR_ERROR_MEMORY)
    status = hpar_comment_insert(c, HPAR_WHERE_BEFORE, own.bytes, own.length, HPAR_CONTENT_TEXT);
  buffer_free(&own);
  return result_of(call, choice, status);
}

static hpar_status on_doctype(hpar_doctype *d, void *context) {
  rewriting_call *call = context;
  buffer own = {0}, *log = log_of(call, &own);
  buffer_format(log, "doctype %u", call->number);
  log_string(log, d->name);
  log_string(log, d->public_id);
  log_string(log, d->system_id);
  buffer_byte(log, '\n');
  buffer_free(&own); /* a pure callback cannot write it to the output */
  return call->seed % 3 ? HPAR_OK : hpar_doctype_remove(d);
}

static hpar_status on_document_end(hpar_document_end *end, void *context) {
  rewriting_call *call = context;
  buffer_format(&call->owner->log, "document end %u\n", call->number);
  return hpar_document_end_append(end, "<end>", 5, HPAR_CONTENT_TEXT);
}

/*** rules ***/

static void add_callbacks(random_state *random, bool is_document, hpar_rule *rule) {
  if (!is_document && random_chance(random, 70)) rule->element = on_element;
  if (!is_document && random_chance(random, 50)) rule->end = on_end;
  if (random_chance(random, 40)) rule->text = on_text;
  if (random_chance(random, 40)) rule->comment = on_comment;
  if (is_document && random_chance(random, 50)) rule->doctype = on_doctype;
  if (is_document && random_chance(random, 50)) rule->document_end = on_document_end;
  rule->text_pieces = rule->text && random_chance(random, 15);
}

static void make_rule(rewriting *rules, random_state *random, size_t index) {
  unsigned kinds = rules->kinds;
  hpar_rule *rule = &rules->rules[index];
  hpar_action *actions = rules->actions[index];
  rewriting_call *call = &rules->calls[index];
  bool is_document = kinds & (REWRITING_UNITS | REWRITING_CALLBACKS) && random_chance(random, 12);
  bool calls = kinds & REWRITING_CALLBACKS && random_chance(random, 60);
  *call =
      (rewriting_call){.owner = rules, .seed = random_next(random), .number = (unsigned)index, .piece = call->piece};
  *rule = (hpar_rule){HPAR_RULE_INIT, .context = call, .actions = actions};
  if (!is_document) {
    rewriting_selector(random, rules->selectors[index]);
    rule->selector = rules->selectors[index];
  }
  if (calls) add_callbacks(random, is_document, rule);
  bool units = kinds & REWRITING_UNITS && !rule->text_pieces;
  rule->action_count = random_below(random, REWRITING_MAX_ACTIONS + 1);
  if (is_document && !units) rule->action_count = 0;
  if (!rule->action_count && !rule->element && !rule->end && !rule->text && !rule->comment && !is_document)
    rule->action_count = 1;
  for (size_t i = 0; i < rule->action_count; i++) {
    actions[i] = (hpar_action){0};
    if (is_document || (units && random_chance(random, 25)))
      make_unit_action(random, kinds, is_document, &actions[i]);
    else
      make_element_action(random, kinds, &actions[i]);
  }
  if (!is_document && random_chance(random, 15)) rule->limit = 1 + random_below(random, 3);
  rule->implied = !is_document && kinds & REWRITING_IMPLIED && random_chance(random, 30);
  if (!(kinds & REWRITING_PURE) || !(rule->element || rule->end || rule->text || rule->comment) ||
      !random_chance(random, 60))
    return;
  rule->pure = true;
  rule->text_pieces = false; /* that callback has a state */
}

hpar_rules *rewriting_compile(const hpar_rule *rule) {
  hpar_rules *rules = NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

void rewriting_make(rewriting *rules, random_state *random, unsigned kinds) {
  rules->kinds = kinds;
  rules->count = 1 + random_below(random, REWRITING_MAX_RULES);
  if (hpar_rules_create(&rules->compiled)) abort();
  for (size_t i = 0; i < rules->count; i++) {
    hpar_error error = {.status = HPAR_OK};
    make_rule(rules, random, i);
    if (!hpar_rules_add(rules->compiled, &rules->rules[i], &error)) continue;
    rules->count = i + 1;
    rewriting_print(rules);
    printf("the last rule is refused at %zu: %s\n", error.offset, error.text);
    fflush(stdout);
    abort();
  }
  if (hpar_rules_compile(rules->compiled)) abort();
}

void rewriting_free(rewriting *rules) {
  hpar_rules_destroy(rules->compiled);
  buffer_free(&rules->out);
  buffer_free(&rules->log);
  for (size_t i = 0; i < REWRITING_MAX_RULES; i++) buffer_free(&rules->calls[i].piece);
  *rules = (rewriting){0};
}

void rewriting_print(const rewriting *rules) {
  static const char *const names[] = {"before",  "after",  "prepend", "append",      "inner",
                                      "replace", "remove", "unwrap",  "rename",      "set",
                                      "unset",   "prefix", "find",    "prefix URLs", "rebase URLs"};
  static const char *const units[] = {"", "text ", "comment ", "doctype ", "end "};
  for (size_t i = 0; i < rules->count; i++) {
    const hpar_rule *rule = &rules->rules[i];
    printf("  rule %zu: %s; callbacks:%s%s%s%s%s%s;%s%s%s limit %d;", i, rule->selector ? rule->selector : "(document)",
           rule->element ? " element" : "", rule->end ? " end" : "", rule->text ? " text" : "",
           rule->comment ? " comment" : "", rule->doctype ? " doctype" : "", rule->document_end ? " document_end" : "",
           rule->implied ? " implied" : "", rule->text_pieces ? " pieces" : "", rule->pure ? " pure" : "",
           (int)rule->limit);
    for (size_t k = 0; k < rule->action_count; k++) {
      const hpar_action *a = &rules->actions[i][k];
      printf(" %s%s%s %s '%.*s' '%.*s';", units[a->unit], names[a->kind], a->format == HPAR_CONTENT_TEXT ? " text" : "",
             a->name ? a->name : "", (int)a->value.length, a->value.bytes ? a->value.bytes : "",
             (int)a->replacement.length, a->replacement.bytes ? a->replacement.bytes : "");
    }
    printf("\n");
  }
}

/*** streams ***/

static hpar_status add_output(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

hpar_status rewriting_run(rewriting *rules, hpar_rewriter *rewriter, const hpar_rewrite_options *options,
                          const char *bytes, size_t length, size_t most, uint64_t seed) {
  random_state random = {seed};
  buffer_clear(&rules->out);
  buffer_clear(&rules->log);
  for (size_t i = 0; i < rules->count; i++) buffer_clear(&rules->calls[i].piece);
  rules->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT, .failed_at = UINT64_MAX};
  hpar_status status = hpar_rewriter_begin(rewriter, rules->compiled, options, add_output, &rules->out);
  if (status) return status;
  for (size_t at = 0; at < length;) {
    size_t part = most ? 1 + random_below(&random, most) : length;
    if (part > length - at) part = length - at;
    char *copy = malloc(part);
    if (!copy) abort();
    memcpy(copy, bytes + at, part);
    hpar_rewriter_feed(rewriter, copy, part);
    memset(copy, '<', part);
    free(copy);
    at += part;
  }
  return hpar_rewriter_finish(rewriter, &rules->stats);
}

/*** divisions ***/

static bool same_bytes(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

/* After a failure, the counters of input and edits depend on the division. The rewriter stops to
 * read tags some time after all rules have retired. */
/* The elements around a text count before its callbacks, which may fail in an earlier piece. */
static bool same_counters(const hpar_rewrite_stats *a, const hpar_rewrite_stats *b, bool failed) {
  if (!failed && (a->input_bytes != b->input_bytes || a->edits != b->edits)) return false;
  if (!a->retired && !b->retired && (a->tags != b->tags || (!failed && a->depth != b->depth))) return false;
  return a->matches == b->matches && a->misplaced == b->misplaced && a->encoding == b->encoding;
}

/* Returns true if two divisions of the input failed at different places of one text, of which a
 * rule takes pieces: each failed at the beginning of a piece. */
static bool fails_in_one_text(const rewriting *rules, const char *bytes, size_t length, uint64_t a, uint64_t b) {
  const uint64_t from = a < b ? a : b, to = a < b ? b : a;
  for (size_t i = 0; i < rules->count; i++)
    if (rules->rules[i].text_pieces) return from < to && to <= length && !memchr(bytes + from, '<', to - from);
  return false;
}

static void print_escaped(const char *name, const buffer *text) {
  buffer shown = {0};
  buffer_escaped(&shown, text->bytes ? text->bytes : "", text->length);
  printf("%s: \"%s\"\n", name, shown.bytes ? shown.bytes : "");
  buffer_free(&shown);
}

static void print_stats(const char *name, const hpar_rewrite_stats *s) {
  printf("%s: in %llu, out %llu, tags %llu, matches %llu, edits %llu, depth %llu, misplaced %llu, failed at %lld\n",
         name, (unsigned long long)s->input_bytes, (unsigned long long)s->output_bytes, (unsigned long long)s->tags,
         (unsigned long long)s->matches, (unsigned long long)s->edits, (unsigned long long)s->depth,
         (unsigned long long)s->misplaced, (long long)s->failed_at);
}

static void copy_buffer(buffer *to, const buffer *from) {
  buffer_clear(to);
  if (from->length) buffer_add(to, from->bytes, from->length);
}

const char *rewriting_difference(rewriting *rules, hpar_rewriter *rewriter, const hpar_rewrite_options *options,
                                 const char *bytes, size_t length, uint64_t seed) {
  static buffer out, log;
  static const size_t most[] = {1, 7, 60};
  hpar_status first = rewriting_run(rules, rewriter, options, bytes, length, 0, 0);
  hpar_rewrite_stats stats = rules->stats;
  copy_buffer(&out, &rules->out);
  copy_buffer(&log, &rules->log);
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    hpar_status second = rewriting_run(rules, rewriter, options, bytes, length, most[i], seed);
    const char *wrong = NULL;
    if (!same_counters(&stats, &rules->stats, first)) wrong = "the counters differ";
    if (first != second) wrong = "the statuses differ";
    if (!fails_in_one_text(rules, bytes, length, stats.failed_at, rules->stats.failed_at)) {
      if (stats.failed_at != rules->stats.failed_at || stats.output_bytes != rules->stats.output_bytes)
        wrong = "the counters differ";
      if (!same_bytes(&log, &rules->log)) wrong = "the callbacks differ";
      if (!same_bytes(&out, &rules->out)) wrong = "the outputs differ";
    }
    if (!wrong) continue;
    printf("pieces of up to %zu bytes, statuses %d and %d; rules:\n", most[i], first, second);
    rewriting_print(rules);
    print_escaped("output of the whole", &out);
    print_escaped("output of pieces   ", &rules->out);
    print_stats("whole ", &stats);
    print_stats("pieces", &rules->stats);
    printf("callbacks of the whole:\n%.*s\n", (int)log.length, log.bytes ? log.bytes : "");
    printf("callbacks of pieces:\n%.*s\n", (int)rules->log.length, rules->log.bytes ? rules->log.bytes : "");
    return wrong;
  }
  return NULL;
}
