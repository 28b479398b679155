/* The standard's algorithm "prepare the script element". */

#include "base/bytes.h"
#include "script/scripts.h"
#include "tree/query.h"

#include <string.h>

static hpar_string value_of(const hp_scripts *s, hp_ref element, const char *name) {
  return hpar_node_attribute_value(s->document, element, name);
}

static bool equals(hpar_string string, const char *text) {
  return string.length == strlen(text) && hp_ascii_equal(string.bytes, text, string.length);
}

static hpar_string trimmed(hpar_string string) {
  while (string.length && hp_ascii_is_white(string.bytes[0])) string.bytes++, string.length--;
  while (string.length && hp_ascii_is_white(string.bytes[string.length - 1])) string.length--;
  return string;
}

//§ javascript-mime-type
static bool is_javascript(hpar_string type) {
  static const char *const types[] = {
      "application/ecmascript", "application/javascript", "application/x-ecmascript", "application/x-javascript",
      "text/ecmascript",        "text/javascript",        "text/javascript1.0",       "text/javascript1.1",
      "text/javascript1.2",     "text/javascript1.3",     "text/javascript1.4",       "text/javascript1.5",
      "text/jscript",           "text/livescript",        "text/x-ecmascript",        "text/x-javascript"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (equals(type, types[i])) return true;
  return false;
}

/* Returns true if "text/" and the language are a JavaScript MIME type. */
static bool is_javascript_language(hpar_string language) {
  char type[32] = "text/";
  if (language.length > sizeof type - 6) return false;
  memcpy(type + 5, language.bytes, language.length);
  return is_javascript((hpar_string){type, language.length + 5});
}

/* Sets `*type`. Returns false for a data block. */
static bool read_type(const hp_scripts *s, hp_ref element, hpar_script_type *type) {
  hpar_string given = value_of(s, element, "type"), language = value_of(s, element, "language");
  *type = HPAR_SCRIPT_CLASSIC;
  if (given.bytes ? !given.length : !language.length) return true;
  if (!given.bytes) return is_javascript_language(language);
  given = trimmed(given);
  if (is_javascript(given)) return true;
  if (equals(given, "module")) return *type = HPAR_SCRIPT_MODULE, true;
  if (equals(given, "importmap")) return *type = HPAR_SCRIPT_IMPORT_MAP, true;
  if (equals(given, "speculationrules")) return *type = HPAR_SCRIPT_SPECULATION_RULES, true;
  return false;
}

hpar_script_type hp_script_type_of(const hp_scripts *s, hp_ref element) {
  hpar_script_type type;
  read_type(s, element, &type);
  return type;
}

static bool has_text(const hp_scripts *s, hp_ref element) {
  for (hpar_node child = hpar_node_first_child(s->document, element); child; child = hpar_node_next(s->document, child))
    if (hpar_node_kind(s->document, child) == HPAR_NODE_TEXT && hpar_node_data(s->document, child).length) return true;
  return false;
}

bool hp_script_is_connected(const hp_scripts *s, hp_ref node) {
  const char *base = s->document->range.base;
  while (node && node != s->document->root) node = hp_parent_of(base, hp_node_at(base, node));
  return node != 0;
}

/* Returns true if the script is in the document. The stack tells this for a script that the parser
 * has inserted just now, unless another script or a copy of an option has changed the tree. The way
 * up to the root is long in a deep tree. */
static bool is_in_document(const hp_scripts *s, hp_ref element, bool parser_inserted) {
  const hp_builder *b = &s->engine->builder;
  if (parser_inserted && hp_exact_stack_is_in_tree(b)) return !b->stack.last[HP_ATOM_TEMPLATE];
  return hp_script_is_connected(s, element);
}

/* Returns true if the attributes `for` and `event` forbid the script. */
static bool is_event_handler(const hp_scripts *s, hp_ref element) {
  hpar_string target = value_of(s, element, "for"), event = value_of(s, element, "event");
  if (!target.bytes || !event.bytes) return false;
  event = trimmed(event);
  return !equals(trimmed(target), "window") || (!equals(event, "onload") && !equals(event, "onload()"));
}

/* Returns the source of a script; its `bytes` is NULL if the script is inline. */
static hpar_string source_of(const hp_scripts *s, hp_ref element) {
  if (hp_node_at(s->document->range.base, element)->ns == HPAR_NAMESPACE_HTML) return value_of(s, element, "src");
  hpar_attribute attribute;
  for (size_t i = 0; hpar_node_attribute_at(s->document, element, i, &attribute); i++) {
    bool reference = attribute.ns == HPAR_NAMESPACE_NONE || attribute.ns == HPAR_NAMESPACE_XLINK;
    if (reference && equals(attribute.local_name, "href")) return attribute.value;
  }
  return (hpar_string){NULL, 0};
}

static hpar_script_time time_of(const hp_scripts *s, hp_ref element, const hpar_script *script, bool parser_inserted) {
  bool async = value_of(s, element, "async").bytes, defer = value_of(s, element, "defer").bytes;
  if (script->type > HPAR_SCRIPT_MODULE) return HPAR_SCRIPT_NOW;
  if (script->type == HPAR_SCRIPT_MODULE) return async || !parser_inserted ? HPAR_SCRIPT_ASYNC : HPAR_SCRIPT_DEFERRED;
  if (!script->external) return HPAR_SCRIPT_NOW;
  if (async || !parser_inserted) return HPAR_SCRIPT_ASYNC;
  return defer ? HPAR_SCRIPT_DEFERRED : HPAR_SCRIPT_BLOCKING;
}

//§ prepare-the-script-element
bool hp_script_prepare(hp_scripts *s, hp_ref element, bool parser_inserted, hpar_script *script) {
  hp_node *node = hp_node_at(s->document->range.base, element);
  if (node->flags & HP_FLAG_STARTED) return false;
  hpar_string source = source_of(s, element);
  if (!source.bytes && !has_text(s, element)) return false;
  if (!is_in_document(s, element, parser_inserted)) return false;
  *script = (hpar_script){.node = element, .external = source.bytes != NULL};
  if (!read_type(s, element, &script->type)) return false;
  node->flags |= HP_FLAG_STARTED;
  if (script->type == HPAR_SCRIPT_CLASSIC && value_of(s, element, "nomodule").bytes) return false;
  if (script->type == HPAR_SCRIPT_CLASSIC && is_event_handler(s, element)) return false;
  bool has_file = script->type <= HPAR_SCRIPT_MODULE && source.length && s->config.external;
  if (script->external && !has_file) return false;
  script->time = time_of(s, element, script, parser_inserted);
  return true;
}
