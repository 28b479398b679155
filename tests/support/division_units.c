/* Generated rules for texts, comments and doctypes, with and without callbacks. */

#include "support/division.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const selectors[] = {"p",       "b",        "div",      "body",     "a",     "li",     "td",
                                        "ul > li", "div p",    "title",    "i, u",     ".x",    "script", "svg *",
                                        "tr > td", "template", "option",   "table",    "h1",    "*",      "select",
                                        "form",    "button",   "textarea", "custom-x", "style", "p + p"};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

static const hpar_action of_texts[] = {
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_BEFORE, .format = HPAR_CONTENT_HTML, .value = {"{", 1}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_AFTER, .format = HPAR_CONTENT_HTML, .value = {"}", 1}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_REPLACE, .value = {"<>", 2}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_REMOVE},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"e", 1}, .replacement = {"EE", 2}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"b", 1}, .replacement = {NULL, 0}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {"a<", 2}, .replacement = {"&", 1}},
    {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "all", .value = {" ", 1}, .replacement = {"_", 1}},
    {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_BEFORE, .value = {"<", 1}},
    {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_AFTER, .format = HPAR_CONTENT_HTML, .value = {"|", 1}},
    {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REPLACE, .value = {"c", 1}},
    {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE}};
enum { UNITS = sizeof of_texts / sizeof *of_texts };

static const hpar_action of_elements[] = {
    {.kind = HPAR_ACTION_BEFORE, .format = HPAR_CONTENT_HTML, .value = {"(", 1}},
    {.kind = HPAR_ACTION_AFTER, .format = HPAR_CONTENT_HTML, .value = {")", 1}},
    {.kind = HPAR_ACTION_APPEND, .value = {"&", 1}},
    {.kind = HPAR_ACTION_INNER, .format = HPAR_CONTENT_HTML, .value = {"inner", 5}},
    {.kind = HPAR_ACTION_REMOVE},
    {.kind = HPAR_ACTION_UNWRAP},
    {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "class", .value = {"z", 1}}};

static const hpar_action of_document[] = {
    {.unit = HPAR_UNIT_DOCTYPE, .kind = HPAR_ACTION_REMOVE},
    {.unit = HPAR_UNIT_DOCUMENT_END, .kind = HPAR_ACTION_APPEND, .value = {"end", 3}}};

/*** callbacks ***/

static hpar_status result_at(uint64_t place) {
  return place % 17 == 3 ? HPAR_RETIRE : place % 97 == 4 ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static hpar_status note_text(hpar_text_piece *text, void *context) {
  const char *name = context;
  hpar_string raw = text->raw, decoded = hpar_text_piece_decoded(text);
  const uint64_t start = text->offset;
  buffer_format(division_calls(), "%s text %llu %.*s %zu %d %d\n", name, (unsigned long long)start, (int)raw.length,
                raw.length ? raw.bytes : "", decoded.length, text->kind, text->last);
  if (start % 5 == 1) hpar_text_piece_insert(text, HPAR_WHERE_BEFORE, "[", 1, HPAR_CONTENT_TEXT);
  if (start % 5 == 2) hpar_text_piece_insert(text, HPAR_WHERE_AFTER, "]", 1, HPAR_CONTENT_HTML);
  if (start % 7 == 3) hpar_text_piece_insert(text, HPAR_WHERE_REPLACE, "</title>", 8, HPAR_CONTENT_HTML);
  if (start % 7 == 4) hpar_text_piece_remove(text);
  return result_at(start);
}

static hpar_status note_comment(hpar_comment *comment, void *context) {
  hpar_string data = comment->text;
  const uint64_t start = comment->offset;
  buffer_format(division_calls(), "%s comment %llu %.*s\n", (const char *)context, (unsigned long long)start,
                (int)data.length, data.length ? data.bytes : "");
  if (start % 3 == 1) hpar_comment_set_text(comment, "new", 3);
  if (start % 3 == 2) hpar_comment_insert(comment, HPAR_WHERE_AFTER, "+", 1, HPAR_CONTENT_TEXT);
  return result_at(start);
}

static hpar_status note_doctype(hpar_doctype *doctype, void *context) {
  hpar_string name = doctype->name;
  buffer_format(division_calls(), "%s doctype %.*s\n", (const char *)context, (int)name.length,
                name.length ? name.bytes : "");
  if (name.length % 2) hpar_doctype_remove(doctype);
  return name.length == 4 ? HPAR_OK : HPAR_RETIRE;
}

static hpar_status note_document_end(hpar_document_end *end, void *context) {
  buffer_format(division_calls(), "%s end\n", (const char *)context);
  hpar_document_end_append(end, ".", 1, HPAR_CONTENT_TEXT);
  return HPAR_OK;
}

/* The same without a log: what the callback sees goes into the output. */
static hpar_status edit_text_purely(hpar_text_piece *text, void *context) {
  const uint64_t start = text->offset;
  hpar_string raw = text->raw, decoded = hpar_text_piece_decoded(text);
  buffer seen = {0};
  buffer_format(&seen, "{%s %llu %zu %zu %d %d}", (const char *)context, (unsigned long long)start, raw.length,
                decoded.length, text->kind, text->last);
  hpar_text_piece_insert(text, HPAR_WHERE_BEFORE, seen.bytes, seen.length, HPAR_CONTENT_HTML);
  buffer_free(&seen);
  return start % 23 == 3 ? HPAR_RETIRE : start % 301 == 4 ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static hpar_status edit_comment_purely(hpar_comment *comment, void *context) {
  const uint64_t start = comment->offset;
  (void)context;
  if (start % 3 == 1) hpar_comment_set_text(comment, "pure", 4);
  hpar_comment_insert(comment, HPAR_WHERE_BEFORE, start % 2 ? "1" : "0", 1, HPAR_CONTENT_TEXT);
  return start % 29 == 3 ? HPAR_RETIRE : HPAR_OK;
}

static hpar_status note_element(hpar_element *element, void *context) {
  const uint64_t start = element->start, end = element->end;
  buffer_format(division_calls(), "%s element %llu-%llu\n", (const char *)context, (unsigned long long)start,
                (unsigned long long)end);
  return start % 13 == 3 ? HPAR_RETIRE : HPAR_OK;
}

static hpar_status note_end(hpar_element_end *end, void *context) {
  const uint64_t start = end->start, stop = end->end;
  buffer_format(division_calls(), "%s /%llu-%llu\n", (const char *)context, (unsigned long long)start,
                (unsigned long long)stop);
  return start % 13 == 3 ? HPAR_RETIRE : HPAR_OK;
}

static void note_found(uint64_t start, uint64_t end, void *context) {
  buffer_format(division_calls(), "%s found %llu-%llu\n", (const char *)context, (unsigned long long)start,
                (unsigned long long)end);
}

/*** rules ***/

static void add_calls(hpar_rule *rule, unsigned number) {
  static char names[][2] = {"0", "1", "2", "3"};
  rule->context = names[number];
  switch (division_pick(10)) {
    case 0: rule->text = note_text; break;
    case 1: rule->comment = note_comment; break;
    case 2:
      rule->text = note_text;
      rule->comment = note_comment;
      break;
    case 3:
      if (rule->selector)
        rule->limit = 1 + division_pick(9);
      else
        rule->doctype = note_doctype;
      break;
    case 4:
      if (!rule->selector) rule->document_end = note_document_end;
      rule->pure = true; /* fall through */
    case 5:
      rule->pure = true;
      if (division_pick(3)) rule->text = edit_text_purely;
      if (!rule->text || division_pick(2)) rule->comment = edit_comment_purely;
      break;
    case 6:
      if (rule->selector && division_pick(2)) rule->element = note_element;
      if (rule->selector && !rule->element) rule->end = note_end;
      break;
    default: break;
  }
  rule->text_pieces = !division_pick(6) && division_has_pieces;
  if (rule->selector && !division_pick(4)) rule->found = note_found;
}

hpar_rules *division_make_unit_rules(unsigned count) {
  hpar_rules *rules = division_begin_rules();
  const bool has_calls = division_has_calls && division_pick(3);
  for (unsigned i = 0; i < count; i++) {
    hpar_action actions[3];
    const bool is_document = !division_pick(3);
    size_t n = 1 + division_pick(3);
    for (size_t k = 0; k < n; k++)
      actions[k] = is_document && !division_pick(5) ? of_document[division_pick(2)]
                   : is_document || division_pick(4)
                       ? of_texts[division_pick(UNITS)]
                       : of_elements[division_pick(sizeof of_elements / sizeof *of_elements)];
    hpar_rule rule = {HPAR_RULE_INIT, .selector = is_document ? NULL : selectors[division_pick(SELECTORS)],
                      .actions = actions, .action_count = n};
    if (has_calls) add_calls(&rule, i);
    if (!division_pick(6)) rule.text_pieces = division_has_pieces;
    division_add_rule(rules, &rule);
  }
  division_require(!hpar_rules_compile(rules), "rules");
  return rules;
}
