/* Files of rules: JSON. */

#include "programs/rules/edit_rules.h"

#include <stdio.h>

#if HPAR_JSONC

#include <json-c/json.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
  hp_edit_rules *rules;
  hp_edit_rule *rule;
  const char *name;
  char field[128]; /* of the rule, as in "text.find" */
  hp_refusal *refusal;
} reading;

/* Writes a message that names the rule and the field. Returns HPAR_ERROR_ARGUMENT. */
static __attribute__((format(printf, 2, 3))) hpar_status bad(const reading *in, const char *format, ...) {
  char problem[256];
  va_list values;
  va_start(values, format);
  vsnprintf(problem, sizeof problem, format, values);
  va_end(values);
  char *text = in->refusal->text;
  size_t size = sizeof in->refusal->text;
  if (in->rule)
    snprintf(text, size, "%s: rule %zu: %s%s%s", in->name, in->rule->number, in->field, *in->field ? ": " : "",
             problem);
  else
    snprintf(text, size, "%s: %s", in->name, problem);
  return HPAR_ERROR_ARGUMENT;
}

/* Returns a copy of a string that ends with a NUL, or NULL without memory. */
static const char *keep(reading *in, json_object *value) {
  size_t length = (size_t)json_object_get_string_len(value);
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, json_object_get_string(value), length);
  copy[length] = 0;
  return hp_edit_rules_keep(in->rules, copy) ? copy : NULL;
}

static hpar_status read_string(reading *in, json_object *value, hpar_string *string) {
  if (!json_object_is_type(value, json_type_string)) return bad(in, "a string is missing");
  string->bytes = keep(in, value);
  string->length = (size_t)json_object_get_string_len(value);
  return string->bytes ? HPAR_OK : HPAR_ERROR_MEMORY;
}

static hpar_status read_name(reading *in, json_object *value, const char **name) {
  hpar_string string = {NULL, 0};
  hpar_status status = read_string(in, value, &string);
  if (!status && strlen(string.bytes) != string.length) return bad(in, "a name contains U+0000");
  *name = string.bytes;
  return status;
}

/* Reads {"html": ...} or {"text": ...}. */
static hpar_status read_content(reading *in, json_object *value, hpar_action *action) {
  static const char expected[] = "the content is not {\"html\": \"...\"} or {\"text\": \"...\"}";
  if (!json_object_is_type(value, json_type_object) || json_object_object_length(value) != 1)
    return bad(in, "%s", expected);
  json_object *content = NULL;
  if (json_object_object_get_ex(value, "html", &content))
    action->format = HPAR_CONTENT_HTML;
  else if (json_object_object_get_ex(value, "text", &content))
    action->format = HPAR_CONTENT_TEXT;
  else
    return bad(in, "%s", expected);
  return read_string(in, content, &action->value);
}

static hpar_status read_switch(reading *in, json_object *value, bool *is_on) {
  if (!json_object_is_type(value, json_type_boolean)) return bad(in, "is not true or false");
  *is_on = json_object_get_boolean(value);
  return HPAR_OK;
}

static hpar_status add_switch(reading *in, hpar_unit unit, hpar_action_kind kind, json_object *value) {
  bool is_on = false;
  hpar_status status = read_switch(in, value, &is_on);
  if (status || !is_on) return status;
  return hp_edit_rule_add(in->rule, unit, kind) ? HPAR_OK : HPAR_ERROR_MEMORY;
}

/* Reads {"name": "value", ...}. */
static hpar_status add_attributes(reading *in, json_object *value) {
  if (!json_object_is_type(value, json_type_object)) return bad(in, "is not {\"NAME\": \"VALUE\"}");
  json_object_object_foreach(value, name, text) {
    hpar_action *action = hp_edit_rule_add(in->rule, HPAR_UNIT_ELEMENT, HPAR_ACTION_SET_ATTRIBUTE);
    char *copy = strdup(name);
    if (!action || !copy || !hp_edit_rules_keep(in->rules, copy)) return HPAR_ERROR_MEMORY;
    action->name = copy;
    hpar_status status = read_string(in, text, &action->value);
    if (status) return status;
  }
  return HPAR_OK;
}

static hpar_status add_unset(reading *in, json_object *value) {
  if (!json_object_is_type(value, json_type_array)) return bad(in, "is not a list of names");
  for (size_t i = 0; i < json_object_array_length(value); i++) {
    hpar_action *action = hp_edit_rule_add(in->rule, HPAR_UNIT_ELEMENT, HPAR_ACTION_UNSET_ATTRIBUTE);
    if (!action) return HPAR_ERROR_MEMORY;
    hpar_status status = read_name(in, json_object_array_get_idx(value, i), &action->name);
    if (status) return status;
  }
  return HPAR_OK;
}

static bool is_list(json_object *value, size_t length) {
  return json_object_is_type(value, json_type_array) && json_object_array_length(value) == length;
}

/* Reads ["name", "from", "to"]. */
static hpar_status add_prefix(reading *in, json_object *value) {
  if (!is_list(value, 3)) return bad(in, "is not [\"NAME\", \"FROM\", \"TO\"]");
  hpar_action *action = hp_edit_rule_add(in->rule, HPAR_UNIT_ELEMENT, HPAR_ACTION_PREFIX_ATTRIBUTE);
  if (!action) return HPAR_ERROR_MEMORY;
  hpar_status status = read_name(in, json_object_array_get_idx(value, 0), &action->name);
  if (!status) status = read_string(in, json_object_array_get_idx(value, 1), &action->value);
  return status ? status : read_string(in, json_object_array_get_idx(value, 2), &action->replacement);
}

/* Reads [["from", "to"], ["from", "to", "places"], ...]. */
static hpar_status add_finds(reading *in, json_object *value) {
  if (!json_object_is_type(value, json_type_array)) return bad(in, "is not a list of [\"FROM\", \"TO\"]");
  for (size_t i = 0; i < json_object_array_length(value); i++) {
    json_object *pair = json_object_array_get_idx(value, i);
    if (!is_list(pair, 2) && !is_list(pair, 3)) return bad(in, "is not a list of [\"FROM\", \"TO\"]");
    hpar_action *action = hp_edit_rule_add(in->rule, HPAR_UNIT_TEXT, HPAR_ACTION_FIND);
    if (!action) return HPAR_ERROR_MEMORY;
    action->format = HPAR_CONTENT_TEXT;
    hpar_status status = read_string(in, json_object_array_get_idx(pair, 0), &action->value);
    if (!status) status = read_string(in, json_object_array_get_idx(pair, 1), &action->replacement);
    if (!status && is_list(pair, 3)) status = read_name(in, json_object_array_get_idx(pair, 2), &action->name);
    if (status) return status;
  }
  return HPAR_OK;
}

static hpar_status add_action(reading *in, hpar_unit unit, hpar_action_kind kind, json_object *value) {
  hpar_action *action;
  switch (kind) {
    case HPAR_ACTION_REMOVE:
    case HPAR_ACTION_UNWRAP: return add_switch(in, unit, kind, value);
    case HPAR_ACTION_SET_ATTRIBUTE: return add_attributes(in, value);
    case HPAR_ACTION_UNSET_ATTRIBUTE: return add_unset(in, value);
    case HPAR_ACTION_PREFIX_ATTRIBUTE: return add_prefix(in, value);
    case HPAR_ACTION_FIND: return add_finds(in, value);
    default: break;
  }
  if (!(action = hp_edit_rule_add(in->rule, unit, kind))) return HPAR_ERROR_MEMORY;
  if (kind == HPAR_ACTION_PREFIX_URLS || kind == HPAR_ACTION_REBASE_URLS) return read_string(in, value, &action->value);
  return kind == HPAR_ACTION_RENAME ? read_name(in, value, &action->name) : read_content(in, value, action);
}

/* Reads the actions of a unit of the page: {"before": ..., "remove": true}. */
static hpar_status read_unit(reading *in, hpar_unit unit, json_object *value) {
  if (!json_object_is_type(value, json_type_object)) return bad(in, "is not an object");
  json_object_object_foreach(value, key, item) {
    unsigned kind = 0;
    while (kind <= HPAR_ACTION_REBASE_URLS && strcmp(key, hp_edit_action_name((hpar_action_kind)kind)) != 0) kind++;
    snprintf(in->field, sizeof in->field, "%s.%s", hp_edit_unit_name(unit), key);
    if (kind > HPAR_ACTION_REBASE_URLS) return bad(in, "no action has this name");
    if (kind == HPAR_ACTION_FIND && unit != HPAR_UNIT_TEXT) return bad(in, "only a text has this action");
    const bool unwraps = kind == HPAR_ACTION_UNWRAP && unit == HPAR_UNIT_CONDITIONAL;
    if (kind > HPAR_ACTION_REMOVE && kind != HPAR_ACTION_FIND && !unwraps)
      return bad(in, "only an element has this action");
    hpar_status status = add_action(in, unit, (hpar_action_kind)kind, item);
    if (status) return status;
  }
  return HPAR_OK;
}

static hpar_status read_limit(reading *in, json_object *value) {
  if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
    return bad(in, "is not a whole number");
  in->rule->rule.limit = (uint64_t)json_object_get_int64(value);
  return HPAR_OK;
}

static hpar_status read_field(reading *in, const char *key, json_object *value) {
  snprintf(in->field, sizeof in->field, "%s", key);
  if (!strcmp(key, "select")) return read_name(in, value, &in->rule->rule.selector);
  if (!strcmp(key, "limit")) return read_limit(in, value);
  if (!strcmp(key, "implied")) return read_switch(in, value, &in->rule->rule.implied);
  if (!strcmp(key, "across-tags")) return read_switch(in, value, &in->rule->rule.across_tags);
  if (!strcmp(key, "pieces")) return read_switch(in, value, &in->rule->rule.text_pieces);
  for (unsigned unit = HPAR_UNIT_TEXT; unit <= HPAR_UNIT_INSTRUCTION; unit++)
    if (!strcmp(key, hp_edit_unit_name((hpar_unit)unit))) return read_unit(in, (hpar_unit)unit, value);
  for (unsigned kind = 0; kind <= HPAR_ACTION_REBASE_URLS; kind++)
    if (kind != HPAR_ACTION_FIND && !strcmp(key, hp_edit_action_name((hpar_action_kind)kind)))
      return add_action(in, HPAR_UNIT_ELEMENT, (hpar_action_kind)kind, value);
  return bad(in, "no field of a rule has this name");
}

static hpar_status read_rules(reading *in, json_object *root) {
  json_object *list = NULL;
  if (!json_object_is_type(root, json_type_object) || json_object_object_length(root) != 1 ||
      !json_object_object_get_ex(root, "rules", &list) || !json_object_is_type(list, json_type_array))
    return bad(in, "the JSON is not {\"rules\": [...]}");
  for (size_t i = 0; i < json_object_array_length(list); i++) {
    json_object *item = json_object_array_get_idx(list, i);
    if (!(in->rule = hp_edit_rules_add(in->rules, NULL))) return HPAR_ERROR_MEMORY;
    in->rule->file = in->name;
    in->rule->number = i + 1;
    *in->field = 0;
    if (!json_object_is_type(item, json_type_object)) return bad(in, "is not an object");
    json_object_object_foreach(item, key, value) {
      hpar_status status = read_field(in, key, value);
      if (status) return status;
    }
    *in->field = 0;
    if (!in->rule->count) return bad(in, "has no action");
  }
  return HPAR_OK;
}

/* Returns whether the key of a member contains U+0000, at which json-c ends it. Requires: valid
 * JSON. */
static bool has_cut_key(const char *bytes, size_t length) {
  const char *at = bytes, *end = bytes + length;
  while (at < end) {
    if (*at++ != '"') continue;
    bool has_null = false;
    for (; at < end && *at != '"'; at++) {
      if (*at != '\\') continue;
      has_null |= end - at > 5 && !memcmp(at, "\\u0000", 6);
      at++;
    }
    at++;
    while (at < end && strchr(" \t\r\n", *at)) at++;
    if (has_null && at < end && *at == ':') return true;
  }
  return false;
}

hpar_status hp_edit_rules_read(hp_edit_rules *rules, const char *name, const char *bytes, size_t length,
                               hp_refusal *refusal) {
  reading in = {.rules = rules, .name = name, .refusal = refusal};
  refusal->selector = NULL;
  if (length > INT_MAX) return bad(&in, "it is too long");
  json_tokener *tokener = json_tokener_new();
  if (!tokener) return HPAR_ERROR_MEMORY;
  json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
  json_object *root = json_tokener_parse_ex(tokener, bytes, (int)length);
  enum json_tokener_error error = json_tokener_get_error(tokener);
  hpar_status status;
  if (error == json_tokener_success && has_cut_key(bytes, length))
    status = bad(&in, "a name contains U+0000");
  else if (error == json_tokener_success)
    status = read_rules(&in, root);
  else if (error == json_tokener_continue)
    status = bad(&in, "the JSON ends too early");
  else
    status = bad(&in, "byte %zu: the JSON is invalid: %s", json_tokener_get_parse_end(tokener) + 1,
                 json_tokener_error_desc(error));
  json_object_put(root);
  json_tokener_free(tokener);
  return status;
}

#else

hpar_status hp_edit_rules_read(hp_edit_rules *rules, const char *name, const char *bytes, size_t length,
                               hp_refusal *refusal) {
  (void)rules, (void)name, (void)bytes, (void)length;
  refusal->selector = NULL;
  snprintf(refusal->text, sizeof refusal->text,
           "this build cannot read JSON; build it with json-c (Debian: libjson-c-dev)");
  return HPAR_ERROR_UNSUPPORTED;
}

#endif
