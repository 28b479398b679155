#include "duktape/engine.h"

#include <duktape.h>
#include <stdlib.h>
#include <string.h>

struct script_engine {
  duk_context *heap;
  const char *page;
  FILE *errors;
  hpar_scripting *scripting;
  hpar_document *document;
  bool has_document; /* the binding exists */
  script_engine_counters counters;
};

/*** strings: Duktape's are CESU-8, the library's are UTF-8 ***/

typedef struct text {
  char *bytes;
  size_t length;
} text;

/* Returns the surrogate at `at`, or -1. */
static int surrogate_at(const unsigned char *at, const unsigned char *end) {
  if (end - at < 3 || at[0] != 0xED || at[1] < 0xA0) return -1;
  return 0xD000 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F);
}

/* Returns the string at `index` as UTF-8 in a buffer that it pushes. A lone surrogate becomes
 * U+FFFD. */
static text utf8_at(duk_context *heap, duk_idx_t index) {
  duk_size_t n;
  const unsigned char *at = (const unsigned char *)duk_to_lstring(heap, index, &n), *end = at + n;
  unsigned char *to = duk_push_fixed_buffer(heap, n + 1), *start = to;
  while (at < end) {
    int lead = surrogate_at(at, end);
    if (lead < 0) {
      *to++ = *at++;
      continue;
    }
    int trail = surrogate_at(at + 3, end);
    at += 3;
    if (lead < 0xDC00 && trail >= 0xDC00) {
      unsigned code = 0x10000u + ((unsigned)(lead & 0x3FF) << 10 | (unsigned)(trail & 0x3FF));
      *to++ = (unsigned char)(0xF0 | code >> 18);
      *to++ = (unsigned char)(0x80 | (code >> 12 & 0x3F));
      *to++ = (unsigned char)(0x80 | (code >> 6 & 0x3F));
      *to++ = (unsigned char)(0x80 | (code & 0x3F));
      at += 3;
    } else {
      memcpy(to, "\xEF\xBF\xBD", 3);
      to += 3;
    }
  }
  return (text){(char *)start, (size_t)(to - start)};
}

static void push_surrogate(unsigned char **to, unsigned code) {
  *(*to)++ = (unsigned char)(0xE0 | code >> 12);
  *(*to)++ = (unsigned char)(0x80 | (code >> 6 & 0x3F));
  *(*to)++ = (unsigned char)(0x80 | (code & 0x3F));
}

static void push_utf8(duk_context *heap, const char *bytes, size_t length) {
  const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
  const unsigned char *p = at;
  while (p < end && *p < 0xF0) p++;
  if (p == end) {
    duk_push_lstring(heap, bytes, length);
    return;
  }
  unsigned char *to = duk_push_fixed_buffer(heap, length * 3 / 2 + 1), *start = to;
  for (; at < end; at++) {
    if (*at < 0xF0 || end - at < 4) {
      *to++ = *at;
      continue;
    }
    unsigned code = (unsigned)(at[0] & 7) << 18 | (unsigned)(at[1] & 0x3F) << 12 | (unsigned)(at[2] & 0x3F) << 6 |
                    (unsigned)(at[3] & 0x3F);
    push_surrogate(&to, 0xD800 | (code - 0x10000) >> 10);
    push_surrogate(&to, 0xDC00 | ((code - 0x10000) & 0x3FF));
    at += 3;
  }
  duk_push_lstring(heap, (char *)start, (size_t)(to - start));
  duk_remove(heap, -2);
}

static void push_string(duk_context *heap, hpar_string string) { push_utf8(heap, string.bytes, string.length); }

/*** native functions ***/

static script_engine *engine_of(duk_context *heap) {
  duk_memory_functions functions;
  duk_get_memory_functions(heap, &functions);
  return functions.udata;
}

static hpar_node node_at(duk_context *heap, duk_idx_t index) { return (hpar_node)duk_get_uint(heap, index); }

/* Throws an error for a status. */
static void check(duk_context *heap, hpar_status status) {
  if (status == HPAR_ERROR_ARGUMENT) (void)duk_error(heap, DUK_ERR_ERROR, "HierarchyRequestError");
  if (status != HPAR_OK) (void)duk_error(heap, DUK_ERR_ERROR, "%s", hpar_status_text(status));
}

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
  text data = utf8_at(heap, 1);
  check(heap, hpar_script_set_data(engine_of(heap)->scripting, node_at(heap, 0), data.bytes, data.length));
  return 0;
}

static duk_ret_t get_attribute(duk_context *heap) {
  text name = utf8_at(heap, 1);
  name.bytes[name.length] = 0;
  hpar_string value = hpar_node_attribute_value(engine_of(heap)->document, node_at(heap, 0), name.bytes);
  if (value.bytes)
    push_string(heap, value);
  else
    duk_push_null(heap);
  return 1;
}

static duk_ret_t set_attribute(duk_context *heap) {
  text name = utf8_at(heap, 1), value = utf8_at(heap, 2);
  check(heap, hpar_script_set_attribute(engine_of(heap)->scripting, node_at(heap, 0), name.bytes, name.length,
                                        value.bytes, value.length));
  return 0;
}

static duk_ret_t remove_attribute(duk_context *heap) {
  text name = utf8_at(heap, 1);
  check(heap, hpar_script_remove_attribute(engine_of(heap)->scripting, node_at(heap, 0), name.bytes, name.length));
  return 0;
}

static duk_ret_t create_element(duk_context *heap) {
  text name = utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  check(heap,
        hpar_script_create_element(engine_of(heap)->scripting, HPAR_NAMESPACE_HTML, name.bytes, name.length, &node));
  return push_node(heap, node);
}

static duk_ret_t create_text(duk_context *heap) {
  text data = utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  check(heap, hpar_script_create_text(engine_of(heap)->scripting, data.bytes, data.length, &node));
  return push_node(heap, node);
}

static duk_ret_t create_comment(duk_context *heap) {
  text data = utf8_at(heap, 0);
  hpar_node node = HPAR_NO_NODE;
  check(heap, hpar_script_create_comment(engine_of(heap)->scripting, data.bytes, data.length, &node));
  return push_node(heap, node);
}

static duk_ret_t clone(duk_context *heap) {
  hpar_node copy = HPAR_NO_NODE;
  check(heap, hpar_script_clone(engine_of(heap)->scripting, node_at(heap, 0), duk_get_boolean(heap, 1), &copy));
  return push_node(heap, copy);
}

static duk_ret_t insert(duk_context *heap) {
  check(heap, hpar_script_insert(engine_of(heap)->scripting, node_at(heap, 0), node_at(heap, 1), node_at(heap, 2)));
  return 0;
}

static duk_ret_t remove_node(duk_context *heap) {
  check(heap, hpar_script_remove(engine_of(heap)->scripting, node_at(heap, 0)));
  return 0;
}

static duk_ret_t set_html(duk_context *heap) {
  text html = utf8_at(heap, 1);
  check(heap, hpar_script_set_inner_html(engine_of(heap)->scripting, node_at(heap, 0), html.bytes, html.length));
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

static duk_ret_t get_html(duk_context *heap) {
  gathered all = {NULL, 0, 0};
  hpar_status status = hpar_serialize_html(engine_of(heap)->document, node_at(heap, 0), true, gather, &all);
  char *copy = duk_push_fixed_buffer(heap, all.length + 1);
  if (all.length) memcpy(copy, all.bytes, all.length);
  free(all.bytes);
  check(heap, status);
  push_utf8(heap, copy, all.length);
  return 1;
}

static duk_ret_t get_by_tag(duk_context *heap) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_node top = node_at(heap, 0), node = top;
  text name = utf8_at(heap, 1);
  bool all = name.length == 1 && name.bytes[0] == '*';
  duk_idx_t found = duk_push_array(heap);
  for (duk_uarridx_t count = 0; (node = hpar_node_walk(document, top, node));) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    hpar_string has = hpar_node_name(document, node);
    if (!all && (has.length != name.length || memcmp(has.bytes, name.bytes, name.length) != 0)) continue;
    duk_push_uint(heap, node);
    duk_put_prop_index(heap, found, count++);
  }
  return 1;
}

static duk_ret_t get_by_id(duk_context *heap) {
  const hpar_document *document = engine_of(heap)->document;
  hpar_node top = node_at(heap, 0), node = top;
  text id = utf8_at(heap, 1);
  while ((node = hpar_node_walk(document, top, node))) {
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    hpar_string has = hpar_node_attribute_value(document, node, "id");
    if (has.bytes && has.length && has.length == id.length && !memcmp(has.bytes, id.bytes, id.length)) break;
  }
  return push_node(heap, node);
}

static duk_ret_t write_text(duk_context *heap) {
  text written = utf8_at(heap, 0);
  check(heap, hpar_script_write(engine_of(heap)->scripting, written.bytes, written.length));
  return 0;
}

static const duk_function_list_entry functions[] = {
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
    {"byId", get_by_id, 2},
    {"write", write_text, 1},
    {NULL, NULL, 0},
};

/*** the engine ***/

static void *allocate(void *engine, duk_size_t size) {
  (void)engine;
  return malloc(size);
}

static void *reallocate(void *engine, void *bytes, duk_size_t size) {
  (void)engine;
  return realloc(bytes, size);
}

static void release(void *engine, void *bytes) {
  (void)engine;
  free(bytes);
}

script_engine *script_engine_create(const char *page, FILE *errors) {
  script_engine *engine = calloc(1, sizeof *engine);
  if (!engine) return NULL;
  engine->page = page;
  engine->errors = errors;
  engine->heap = duk_create_heap(allocate, reallocate, release, engine, NULL);
  if (engine->heap) return engine;
  free(engine);
  return NULL;
}

void script_engine_destroy(script_engine *engine) {
  if (!engine) return;
  duk_destroy_heap(engine->heap);
  free(engine);
}

script_engine_counters script_engine_count(const script_engine *engine) { return engine->counters; }

/* Creates the binding. Requires: `document` is set. */
static duk_ret_t bind_document(duk_context *heap, void *unused) {
  (void)unused;
  duk_push_string(heap, script_dom);
  duk_eval(heap);
  duk_push_object(heap);
  duk_put_function_list(heap, -1, functions);
  duk_push_global_object(heap);
  duk_call(heap, 2);
  return 0;
}

/* Counts and prints the error on the top of the stack. */
static void report(script_engine *engine) {
  engine->counters.failed++;
  if (!engine->errors) return;
  duk_context *heap = engine->heap;
  duk_push_undefined(heap);
  if (duk_is_error(heap, -2)) {
    duk_pop(heap);
    duk_get_prop_string(heap, -1, "lineNumber");
  }
  const char *line = duk_safe_to_string(heap, -1);
  fprintf(engine->errors, "%s: script %zu, line %s: %s\n", engine->page, engine->counters.run, line,
          duk_safe_to_string(heap, -2));
  duk_pop(heap);
}

/* Evaluates the string on the top of the stack, and pops it. */
static bool evaluate(script_engine *engine) {
  duk_context *heap = engine->heap;
  duk_push_string(heap, engine->page);
  bool done = duk_pcompile(heap, 0) == DUK_EXEC_SUCCESS && duk_pcall(heap, 0) == DUK_EXEC_SUCCESS;
  if (!done) report(engine);
  duk_pop(heap);
  return done;
}

bool script_engine_evaluate(script_engine *engine, const char *program) {
  duk_push_string(engine->heap, program);
  return evaluate(engine);
}

/* Pushes the child text content of the script. */
static duk_ret_t push_source(duk_context *heap, void *script) {
  const hpar_document *document = engine_of(heap)->document;
  duk_idx_t count = 0;
  for (hpar_node child = hpar_node_first_child(document, *(const hpar_node *)script); child;
       child = hpar_node_next(document, child)) {
    if (hpar_node_kind(document, child) != HPAR_NODE_TEXT) continue;
    duk_require_stack(heap, 2);
    push_string(heap, hpar_node_data(document, child));
    count++;
  }
  duk_concat(heap, count);
  return 1;
}

hpar_status script_engine_run(void *context, hpar_scripting *scripting, const hpar_script *script) {
  script_engine *engine = context;
  duk_context *heap = engine->heap;
  if (script->type != HPAR_SCRIPT_CLASSIC || script->external) return HPAR_OK;
  engine->scripting = scripting;
  engine->document = hpar_script_document(scripting);
  duk_require_stack(heap, 8);
  if (!engine->has_document) {
    engine->has_document = true;
    if (duk_safe_call(heap, bind_document, NULL, 0, 1) != DUK_EXEC_SUCCESS) {
      report(engine);
      duk_pop(heap);
      return HPAR_ERROR_MEMORY;
    }
    duk_pop(heap);
  }
  engine->counters.run++;
  hpar_node node = script->node;
  if (duk_safe_call(heap, push_source, &node, 0, 1) == DUK_EXEC_SUCCESS) {
    evaluate(engine);
  } else {
    report(engine);
    duk_pop(heap);
  }
  return HPAR_OK;
}
