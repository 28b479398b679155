/* The native functions of the binding. They take and return handles. */

#include "programs/javascript/engine.h"

#include <stdlib.h>
#include <string.h>

static hp_javascript *engine_of(duk_context *heap) {
  duk_memory_functions functions;
  duk_get_memory_functions(heap, &functions);
  return functions.udata;
}

static void push_string(duk_context *heap, hpar_string string) {
  hp_javascript_push_utf8(heap, string.bytes, string.length);
}

static hpar_node node_at(duk_context *heap, duk_idx_t index) { return (hpar_node)duk_get_uint(heap, index); }

/* Throws an error for a status; `refusal` is the standard's name of the one for wrong arguments. */
static void check_as(duk_context *heap, hpar_status status, const char *refusal) {
  if (status == HPAR_ERROR_ARGUMENT) (void)duk_error(heap, DUK_ERR_ERROR, "%s", refusal);
  if (status != HPAR_OK) (void)duk_error(heap, DUK_ERR_ERROR, "%s", hpar_status_text(status));
}

static void check(duk_context *heap, hpar_status status) { check_as(heap, status, "HierarchyRequestError"); }

static duk_ret_t push_node(duk_context *heap, hpar_node node) {
  duk_push_uint(heap, node);
  return 1;
}

#define NODE_FUNCTION(name, call)                              \
  static duk_ret_t name(duk_context *heap) {                   \
    const hpar_document *document = engine_of(heap)->document; \
    return push_node(heap, call(document, node_at(heap, 0)));  \
  }
NODE_FUNCTION(get_parent, hpar_node_parent)
NODE_FUNCTION(get_first, hpar_node_first_child)
NODE_FUNCTION(get_last, hpar_node_last_child)
NODE_FUNCTION(get_next, hpar_node_next)
NODE_FUNCTION(get_previous, hpar_node_previous)
NODE_FUNCTION(get_contents, hpar_node_template_contents)
NODE_FUNCTION(get_namespace, hpar_node_namespace)
#undef NODE_FUNCTION

static duk_ret_t get_root(duk_context *heap) { return push_node(heap, hpar_document_root(engine_of(heap)->document)); }

static duk_ret_t get_kind(duk_context *heap) {
  static const unsigned char kinds[] = {0, 9, 11, 10, 1, 3, 8, 7};
  duk_push_uint(heap, kinds[hpar_node_kind(engine_of(heap)->document, node_at(heap, 0))]);
  return 1;
}

static duk_ret_t get_name(duk_context *heap) {
  push_string(heap, hpar_node_name(engine_of(heap)->document, node_at(heap, 0)));
  return 1;
}

static duk_ret_t get_data(duk_context *heap) {
  push_string(heap, hpar_node_data(engine_of(heap)->document, node_at(heap, 0)));
  return 1;
}

static duk_ret_t get_text(duk_context *heap) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_node top = node_at(heap, 0);
  duk_idx_t count = 0;
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    if (hpar_node_kind(document, node) != HPAR_NODE_TEXT) continue;
    duk_require_stack(heap, 2);
    push_string(heap, hpar_node_data(document, node));
    count++;
  }
  if (count)
    duk_concat(heap, count);
  else
    duk_push_string(heap, "");
  return 1;
}

static duk_ret_t set_data(duk_context *heap) {
  hp_javascript_text data = hp_javascript_utf8_at(heap, 1);
  hp_javascript *engine = engine_of(heap);
  hp_javascript_note_node(engine, "data", node_at(heap, 0));
  hp_javascript_note_text(engine, data);
  check(heap, hpar_node_set_text(engine->editor, node_at(heap, 0), data.bytes, data.length));
  return 0;
}

static duk_ret_t get_attribute(duk_context *heap) {
  hp_javascript_text name = hp_javascript_utf8_at(heap, 1);
  name.bytes[name.length] = 0;
  hpar_string value = hpar_node_attribute_value(engine_of(heap)->document, node_at(heap, 0), name.bytes);
  if (value.bytes)
    push_string(heap, value);
  else
    duk_push_null(heap);
  return 1;
}

static duk_ret_t set_attribute(duk_context *heap) {
  hp_javascript_text name = hp_javascript_utf8_at(heap, 1), value = hp_javascript_utf8_at(heap, 2);
  hp_javascript *engine = engine_of(heap);
  hp_javascript_note_node(engine, "attribute", node_at(heap, 0));
  hp_javascript_note_text(engine, name);
  hp_javascript_note_text(engine, value);
  bool refused = name.length && *name.bytes == '='; /* a tag may have such an attribute */
  hpar_status status = refused ? HPAR_ERROR_ARGUMENT
                               : hpar_node_set_attribute(engine->editor, node_at(heap, 0), name.bytes, name.length,
                                                         value.bytes, value.length);
  check_as(heap, status, "InvalidCharacterError");
  return 0;
}

static duk_ret_t remove_attribute(duk_context *heap) {
  hp_javascript_text name = hp_javascript_utf8_at(heap, 1);
  hp_javascript *engine = engine_of(heap);
  hp_javascript_note_node(engine, "no attribute", node_at(heap, 0));
  hp_javascript_note_text(engine, name);
  check(heap, hpar_node_remove_attribute(engine->editor, node_at(heap, 0), name.bytes, name.length));
  return 0;
}

static duk_ret_t create_element(duk_context *heap) {
  hp_javascript_text name = hp_javascript_utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  hpar_editor *editor = engine_of(heap)->editor;
  check_as(heap, hpar_node_create_element(editor, HPAR_NAMESPACE_HTML, name.bytes, name.length, &node),
           "InvalidCharacterError");
  return push_node(heap, node);
}

static duk_ret_t create_text(duk_context *heap) {
  hp_javascript_text data = hp_javascript_utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  check(heap, hpar_node_create_text(engine_of(heap)->editor, data.bytes, data.length, &node));
  return push_node(heap, node);
}

static duk_ret_t create_comment(duk_context *heap) {
  hp_javascript_text data = hp_javascript_utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  check(heap, hpar_node_create_comment(engine_of(heap)->editor, data.bytes, data.length, &node));
  return push_node(heap, node);
}

static duk_ret_t clone(duk_context *heap) {
  hpar_node copy = HPAR_NO_NODE;
  check(heap, hpar_node_clone(engine_of(heap)->editor, node_at(heap, 0), duk_get_boolean(heap, 1), &copy));
  return push_node(heap, copy);
}

static duk_ret_t insert(duk_context *heap) {
  hp_javascript *engine = engine_of(heap);
  hpar_node node = node_at(heap, 1);
  hp_javascript_note_node(engine, "move", node);
  hpar_status status = hpar_node_insert_before(engine->editor, node_at(heap, 0), node, node_at(heap, 2));
  hp_javascript_note_node(engine, "to", node);
  check(heap, status);
  return 0;
}

static duk_ret_t remove_node(duk_context *heap) {
  hp_javascript *engine = engine_of(heap);
  hp_javascript_note_node(engine, "remove", node_at(heap, 0));
  check(heap, hpar_node_remove(engine->editor, node_at(heap, 0)));
  return 0;
}

static duk_ret_t set_html(duk_context *heap) {
  hp_javascript_text html = hp_javascript_utf8_at(heap, 1);
  hp_javascript *engine = engine_of(heap);
  hp_javascript_note_node(engine, "html", node_at(heap, 0));
  hp_javascript_note_text(engine, html);
  check(heap, hpar_node_set_inner_html(engine->editor, node_at(heap, 0), html.bytes, html.length));
  return 0;
}

typedef struct gathered {
  char *bytes;
  size_t length, capacity;
} gathered;

static hpar_status gather(const char *bytes, size_t length, void *context) {
  gathered *all = context;
  if (all->capacity - all->length < length) {
    size_t capacity = 2 * (all->length + length);
    char *grown = realloc(all->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    all->bytes = grown;
    all->capacity = capacity;
  }
  memcpy(all->bytes + all->length, bytes, length);
  all->length += length;
  return HPAR_OK;
}

static duk_ret_t push_gathered(duk_context *heap, void *context) {
  const gathered *all = context;
  hp_javascript_push_utf8(heap, all->length ? all->bytes : "", all->length);
  return 1;
}

static duk_ret_t get_html(duk_context *heap) {
  gathered all = {NULL, 0, 0};
  hpar_status status =
      hpar_serialize_html(engine_of(heap)->document, node_at(heap, 0), HPAR_HTML_SCRIPTING, gather, &all);
  bool failed = duk_safe_call(heap, push_gathered, &all, 0, 1) != DUK_EXEC_SUCCESS;
  free(all.bytes);
  check(heap, status);
  return failed ? duk_throw(heap) : 1;
}

static bool equals(hpar_string string, hp_javascript_text text) {
  return string.length == text.length && !memcmp(string.bytes, text.bytes, text.length);
}

/* Returns true if the white-space separated tokens of `names` include `name`. */
static bool has_token(hpar_string names, hp_javascript_text name) {
  const char *at = names.bytes, *end = at + names.length;
  while (at < end) {
    while (at < end && strchr(" \t\n\f\r", *at)) at++;
    const char *start = at;
    while (at < end && !strchr(" \t\n\f\r", *at)) at++;
    if (at > start && equals((hpar_string){start, (size_t)(at - start)}, name)) return true;
  }
  return false;
}

static bool has_tag(const hpar_document *document, hpar_node node, hp_javascript_text name) {
  return (name.length == 1 && *name.bytes == '*') || equals(hpar_node_name(document, node), name);
}

static bool has_class(const hpar_document *document, hpar_node node, hp_javascript_text name) {
  hpar_string value = hpar_node_attribute_value(document, node, "class");
  return value.bytes && has_token(value, name);
}

static bool has_name(const hpar_document *document, hpar_node node, hp_javascript_text name) {
  hpar_string value = hpar_node_attribute_value(document, node, "name");
  return value.bytes && equals(value, name);
}

/* Pushes an array of the elements below the first argument that pass the test. */
static duk_ret_t push_all(duk_context *heap,
                          bool (*passes)(const hpar_document *document, hpar_node node, hp_javascript_text name)) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_node top = node_at(heap, 0), node = top;
  hp_javascript_text name = hp_javascript_utf8_at(heap, 1);
  duk_idx_t found = duk_push_array(heap);
  for (duk_uarridx_t count = 0; (node = hpar_node_walk(document, top, node));) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT || !passes(document, node, name)) continue;
    duk_push_uint(heap, node);
    duk_put_prop_index(heap, found, count++);
  }
  return 1;
}

static duk_ret_t get_by_tag(duk_context *heap) { return push_all(heap, has_tag); }
static duk_ret_t get_by_class(duk_context *heap) { return push_all(heap, has_class); }
static duk_ret_t get_by_name(duk_context *heap) { return push_all(heap, has_name); }

static duk_ret_t get_by_id(duk_context *heap) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_node top = node_at(heap, 0), node = top;
  hp_javascript_text id = hp_javascript_utf8_at(heap, 1);
  while ((node = hpar_node_walk(document, top, node))) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    hpar_string has = hpar_node_attribute_value(document, node, "id");
    if (has.bytes && has.length && equals(has, id)) break;
  }
  return push_node(heap, node);
}

/* The matches of a selector. An engine must not throw while it has them. */
typedef struct matches {
  hpar_node *nodes;
  size_t count, capacity, wanted;
  bool no_memory;
} matches;

static hpar_status take_match(hpar_node element, uint32_t selector, void *context) {
  matches *m = context;
  (void)selector;
  if (m->count == m->capacity) {
    size_t capacity = m->capacity ? 2 * m->capacity : 16;
    hpar_node *grown = realloc(m->nodes, capacity * sizeof *grown);
    m->no_memory = !grown;
    if (!grown) return HPAR_STOP;
    m->nodes = grown;
    m->capacity = capacity;
  }
  m->nodes[m->count++] = element;
  return m->count < m->wanted ? HPAR_OK : HPAR_STOP;
}

static hpar_status compile(hp_javascript_text text, hpar_selectors **selectors) {
  hpar_status status = hpar_selectors_create(selectors);
  return status == HPAR_OK ? hpar_selectors_add(*selectors, text.bytes, text.length, NULL) : status;
}

static duk_ret_t push_copy(duk_context *heap, void *context) {
  const matches *m = context;
  size_t bytes = m->count * sizeof *m->nodes;
  memcpy(duk_push_fixed_buffer(heap, bytes), m->nodes, bytes);
  return 1;
}

/* select(top, selector, all): pushes an array of the matches below `top`. */
static duk_ret_t select_nodes(duk_context *heap) {
  hp_javascript_text text = hp_javascript_utf8_at(heap, 1);
  matches m = {.wanted = duk_get_boolean(heap, 2) ? SIZE_MAX : 1};
  hpar_selectors *selectors = NULL;
  hpar_status status = compile(text, &selectors);
  if (status == HPAR_OK)
    status = hpar_select(selectors, engine_of(heap)->document, node_at(heap, 0), NULL, take_match, &m);
  hpar_selectors_destroy(selectors);
  size_t count = m.count;
  if (m.no_memory) status = HPAR_ERROR_MEMORY;
  if (status != HPAR_OK || !count) {
    free(m.nodes);
    if (status == HPAR_ERROR_ARGUMENT) return duk_error(heap, DUK_ERR_SYNTAX_ERROR, "SyntaxError: not a selector");
    check(heap, status);
    duk_push_array(heap);
    return 1;
  }
  if (duk_safe_call(heap, push_copy, &m, 0, 1) != DUK_EXEC_SUCCESS) {
    free(m.nodes);
    return duk_throw(heap);
  }
  free(m.nodes);
  const hpar_node *kept = duk_get_buffer(heap, -1, NULL);
  duk_idx_t found = duk_push_array(heap);
  for (size_t i = 0; i < count; i++) {
    duk_push_uint(heap, kept[i]);
    duk_put_prop_index(heap, found, (duk_uarridx_t)i);
  }
  return 1;
}

static duk_ret_t match_node(duk_context *heap) {
  hp_javascript_text text = hp_javascript_utf8_at(heap, 1);
  hpar_selectors *selectors = NULL;
  bool found = false;
  hpar_status status = compile(text, &selectors);
  if (status == HPAR_OK)
    status = hpar_matches(selectors, engine_of(heap)->document, node_at(heap, 0), HPAR_ANY_SELECTOR, &found);
  hpar_selectors_destroy(selectors);
  if (status == HPAR_ERROR_ARGUMENT) return duk_error(heap, DUK_ERR_SYNTAX_ERROR, "SyntaxError: not a selector");
  check(heap, status);
  duk_push_boolean(heap, found);
  return 1;
}

static duk_ret_t get_script(duk_context *heap) { return push_node(heap, engine_of(heap)->script); }

/* attributeNames(element): pushes the names of the attributes. */
static duk_ret_t get_attribute_names(duk_context *heap) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_attribute attribute;
  duk_idx_t names = duk_push_array(heap);
  for (size_t i = 0; hpar_node_attribute_at(document, node_at(heap, 0), i, &attribute); i++) {
    push_string(heap, attribute.local_name);
    duk_put_prop_index(heap, names, (duk_uarridx_t)i);
  }
  return 1;
}

/* The input stream of browsers has code units: a surrogate at the end of a write and one at the
 * beginning of the next are one character. The string at 0 takes the surrogate that waits, and
 * leaves its own last one. Duktape encodes a surrogate in three bytes. */
static void join_surrogates(duk_context *heap, hp_javascript *engine) {
  enum { BYTES = sizeof engine->surrogate };
  duk_size_t length;
  if (*engine->surrogate) {
    duk_push_lstring(heap, engine->surrogate, BYTES);
    duk_dup(heap, 0);
    duk_concat(heap, 2);
    duk_replace(heap, 0);
    *engine->surrogate = 0;
  }
  const char *text = duk_get_lstring(heap, 0, &length);
  if (length < BYTES || text[length - 3] != '\xED' || ((unsigned char)text[length - 2] & 0xF0) != 0xA0) return;
  memcpy(engine->surrogate, text + length - BYTES, BYTES);
  duk_push_lstring(heap, text, length - BYTES);
  duk_replace(heap, 0);
}

static duk_ret_t write_text(duk_context *heap) {
  hp_javascript *engine = engine_of(heap);
  join_surrogates(heap, engine);
  hp_javascript_text written = hp_javascript_utf8_at(heap, 0);
  engine->effect.writes = true;
  hp_javascript_note_text(engine, written);
  check(heap, hpar_script_write(engine->editor, written.bytes, written.length));
  return 0;
}

const duk_function_list_entry hp_javascript_natives[] = {
    {"root", get_root, 0},
    {"parent", get_parent, 1},
    {"first", get_first, 1},
    {"last", get_last, 1},
    {"next", get_next, 1},
    {"previous", get_previous, 1},
    {"contents", get_contents, 1},
    {"ns", get_namespace, 1},
    {"kind", get_kind, 1},
    {"name", get_name, 1},
    {"data", get_data, 1},
    {"text", get_text, 1},
    {"html", get_html, 1},
    {"setData", set_data, 2},
    {"setHtml", set_html, 2},
    {"attribute", get_attribute, 2},
    {"setAttribute", set_attribute, 3},
    {"removeAttribute", remove_attribute, 2},
    {"createElement", create_element, 1},
    {"createText", create_text, 1},
    {"createComment", create_comment, 1},
    {"clone", clone, 2},
    {"insert", insert, 3},
    {"remove", remove_node, 1},
    {"byTag", get_by_tag, 2},
    {"byClass", get_by_class, 2},
    {"byName", get_by_name, 2},
    {"byId", get_by_id, 2},
    {"select", select_nodes, 3},
    {"matches", match_node, 2},
    {"script", get_script, 0},
    {"attributeNames", get_attribute_names, 1},
    {"write", write_text, 1},
    {NULL, NULL, 0},
};
