/* The native part of the package: a rewriter whose handlers are functions of JavaScript, and a
 * parsed document that JavaScript reads. index.js has the classes.
 *
 * A rewriter always has `suspends`. A handler that returns a promise suspends the rewriter, and
 * index.js resumes it when the promise is settled. */

#include <hpar/hpar.h>
#include <hpar/rewrite.h>
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS(most)        \
  napi_value given[most];      \
  size_t given_count = (most); \
  if (napi_get_cb_info(env, info, &given_count, given, NULL, NULL) != napi_ok) return NULL

/*** values ***/

static napi_value text_of(napi_env env, hpar_string text) {
  napi_value value;
  if (!text.bytes) return napi_get_null(env, &value) == napi_ok ? value : NULL;
  return napi_create_string_utf8(env, text.bytes, text.length, &value) == napi_ok ? value : NULL;
}

static napi_value number_of(napi_env env, double number) {
  napi_value value;
  return napi_create_double(env, number, &value) == napi_ok ? value : NULL;
}

static napi_value bool_of(napi_env env, bool is_set) {
  napi_value value;
  return napi_get_boolean(env, is_set, &value) == napi_ok ? value : NULL;
}

static uint32_t read_number(napi_env env, napi_value value) {
  uint32_t number = 0;
  napi_get_value_uint32(env, value, &number);
  return number;
}

static bool read_bool(napi_env env, napi_value value) {
  bool is_set = false;
  napi_get_value_bool(env, value, &is_set);
  return is_set;
}

/* A string of JavaScript in UTF-8, which ends with NUL. */
typedef struct string {
  char *bytes, small[240];
  size_t length;
} string;

static bool read_string(napi_env env, napi_value value, string *s) {
  s->bytes = s->small;
  if (napi_get_value_string_utf8(env, value, s->small, sizeof s->small, &s->length) != napi_ok) {
    napi_throw_type_error(env, NULL, "a string is expected");
    return false;
  }
  if (s->length + 4 < sizeof s->small) return true;
  napi_get_value_string_utf8(env, value, NULL, 0, &s->length);
  s->bytes = malloc(s->length + 1);
  if (s->bytes) napi_get_value_string_utf8(env, value, s->bytes, s->length + 1, &s->length);
  if (!s->bytes) napi_throw_error(env, NULL, "out of memory");
  return s->bytes != NULL;
}

static void free_string(string *s) {
  if (s->bytes != s->small) free(s->bytes);
}

static napi_value throw_type(napi_env env, const char *text) {
  napi_throw_type_error(env, NULL, text);
  return NULL;
}

/* Reads a string for a function that takes it without a length. */
static bool read_name(napi_env env, napi_value value, const char *argument, string *s) {
  if (!read_string(env, value, s)) return false;
  if (!memchr(s->bytes, 0, s->length)) return true;
  char text[64];
  snprintf(text, sizeof text, "%s: a NUL character", argument);
  free_string(s);
  return throw_type(env, text) != NULL;
}

typedef struct buffer {
  char *bytes;
  size_t length, capacity;
} buffer;

static hpar_status append(const char *bytes, size_t length, void *context) {
  buffer *b = context;
  if (b->length + length > b->capacity) {
    const size_t capacity = 2 * b->capacity + length;
    char *grown = realloc(b->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    b->bytes = grown;
    b->capacity = capacity;
  }
  if (length) memcpy(b->bytes + b->length, bytes, length);
  b->length += length;
  return HPAR_OK;
}

static const napi_type_tag rewriter_tag = {0x1d1a6d1f0b8e4c57, 0x9a07e2f6c43b5d11};
static const napi_type_tag document_tag = {0x6e0c7c2a51f94d83, 0x8b5d30f17a962e44};

static void *object_of(napi_env env, napi_value value, const napi_type_tag *tag) {
  bool is_tagged = false;
  void *object = NULL;
  if (napi_check_object_type_tag(env, value, tag, &is_tagged) == napi_ok && is_tagged)
    napi_get_value_external(env, value, &object);
  if (!object) napi_throw_type_error(env, NULL, "an object of hpar is expected");
  return object;
}

static napi_value make_external(napi_env env, void *object, napi_finalize finalize, void *hint,
                                const napi_type_tag *tag) {
  napi_value external;
  if (napi_create_external(env, object, finalize, hint, &external) != napi_ok) return NULL;
  napi_type_tag_object(env, external, tag);
  return external;
}

/*** the rewriter ***/

/* The numbers of units that index.js knows. */
enum { ELEMENT, COMMENT, TEXT, END_TAG, DOCTYPE, DOCUMENT_END };

typedef struct rewriter rewriter;

/* What a callback of the library gets: a rule, or a function for the end of an element. */
typedef struct handler {
  rewriter *owner;
  uint32_t number;
  struct handler *next, **link; /* link: what points to this one */
} handler;

struct rewriter {
  napi_env env;
  hpar_rules *rules;
  hpar_rewriter *stream;
  napi_ref dispatch; /* function (unit, number, string or null, is last): true for a promise */
  napi_ref failure;  /* what a handler has thrown; NULL: nothing */
  handler *handlers;
  void *unit; /* what the running handler received */
  int kind;
  uint32_t count; /* of rules */
  size_t max_token;
  bool is_running; /* a call is not over: it runs, or a handler waits */
  bool is_freed;
  buffer output;
  char *input; /* of the running call: the caller's array may be detached meanwhile */
};

static void free_rewriter(napi_env env, void *data, void *hint) {
  rewriter *r = data;
  (void)hint;
  hpar_rewriter_destroy(r->stream);
  hpar_rules_destroy(r->rules);
  if (r->dispatch) napi_delete_reference(env, r->dispatch);
  if (r->failure) napi_delete_reference(env, r->failure);
  for (handler *h = r->handlers, *next; h; h = next) {
    next = h->next;
    free(h);
  }
  free(r->output.bytes);
  free(r->input);
  free(r);
}

static handler *add_handler(rewriter *r, uint32_t number) {
  handler *h = malloc(sizeof *h);
  if (!h) return NULL;
  *h = (handler){r, number, r->handlers, &r->handlers};
  if (h->next) h->next->link = &h->next;
  return r->handlers = h;
}

/* Keeps the exception of a handler for the call around it. */
static void keep_failure(rewriter *r) {
  napi_value error;
  if (napi_get_and_clear_last_exception(r->env, &error) != napi_ok) return;
  if (r->failure) napi_delete_reference(r->env, r->failure);
  r->failure = NULL;
  /* A reference needs an object, and anything can be thrown. */
  napi_value box;
  if (napi_create_array(r->env, &box) == napi_ok && napi_set_element(r->env, box, 0, error) == napi_ok)
    napi_create_reference(r->env, box, 1, &r->failure);
}

static hpar_status call(handler *h, int kind, void *unit, hpar_string text, bool is_last) {
  rewriter *r = h->owner;
  napi_env env = r->env;
  napi_handle_scope scope;
  napi_value dispatch, global, result, arguments[4];
  hpar_status status = HPAR_ERROR_CALLBACK;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return status;
  r->unit = unit;
  r->kind = kind;
  arguments[0] = number_of(env, kind);
  arguments[1] = number_of(env, h->number);
  arguments[2] = text_of(env, text);
  arguments[3] = bool_of(env, is_last);
  if (napi_get_reference_value(env, r->dispatch, &dispatch) == napi_ok && napi_get_global(env, &global) == napi_ok &&
      arguments[2]) {
    if (napi_call_function(env, global, dispatch, 4, arguments, &result) == napi_ok)
      status = read_bool(env, result) ? HPAR_SUSPEND : HPAR_OK;
    else
      keep_failure(r);
  }
  if (status != HPAR_SUSPEND) r->unit = NULL;
  napi_close_handle_scope(env, scope);
  return status;
}

static hpar_status on_element(hpar_element *e, void *context) { return call(context, ELEMENT, e, e->name, false); }
static hpar_status on_comment(hpar_comment *c, void *context) { return call(context, COMMENT, c, c->text, false); }
static hpar_status on_text(hpar_text_piece *t, void *context) {
  static const hpar_string empty = {"", 0};
  return call(context, TEXT, t, t->raw.length ? t->raw : empty, t->last);
}
/* An element ends once. */
static hpar_status on_end_tag(hpar_element_end *e, void *context) {
  handler *h = context;
  const hpar_status status = call(h, END_TAG, e, e->name, e->implied);
  *h->link = h->next;
  if (h->next) h->next->link = h->link;
  free(h);
  return status;
}
static hpar_status on_doctype(hpar_doctype *d, void *context) { return call(context, DOCTYPE, d, d->name, false); }
static hpar_status on_document_end(hpar_document_end *e, void *context) {
  return call(context, DOCUMENT_END, e, (hpar_string){NULL, 0}, false);
}

/* newRewriter(dispatch, bytes of a tag, comment or doctype) */
static napi_value new_rewriter(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r = calloc(1, sizeof *r);
  if (!r) return throw_type(env, "out of memory");
  r->env = env;
  r->max_token = read_number(env, given[1]);
  /* Weak, because the function holds the object that holds this rewriter. index.js keeps it. */
  if (napi_create_reference(env, given[0], 0, &r->dispatch) != napi_ok || hpar_rules_create(&r->rules)) {
    free_rewriter(env, r, NULL);
    return throw_type(env, "out of memory");
  }
  return make_external(env, r, free_rewriter, NULL, &rewriter_tag);
}

/* addRule(rewriter, selector or null, units): units is 1 << ELEMENT and so on. Returns the number
 * of the rule. */
static napi_value add_rule(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  rewriter *r = object_of(env, given[0], &rewriter_tag);
  if (!r) return NULL;
  if (r->is_freed) return throw_type(env, "the rewriter was freed");
  napi_valuetype type;
  string selector = {.bytes = selector.small};
  const uint32_t units = read_number(env, given[2]);
  napi_typeof(env, given[1], &type);
  if (type != napi_null && !read_name(env, given[1], "selector", &selector)) return NULL;
  handler *h = add_handler(r, r->count);
  const hpar_rule rule = {HPAR_RULE_INIT,
                          .selector = type == napi_null ? NULL : selector.bytes,
                          .element = units & 1 << ELEMENT ? on_element : NULL,
                          .comment = units & 1 << COMMENT ? on_comment : NULL,
                          .text = units & 1 << TEXT ? on_text : NULL,
                          .doctype = units & 1 << DOCTYPE ? on_doctype : NULL,
                          .document_end = units & 1 << DOCUMENT_END ? on_document_end : NULL,
                          .text_pieces = true,
                          .context = h};
  hpar_error error;
  const hpar_status status = h ? hpar_rules_add(r->rules, &rule, &error) : HPAR_ERROR_MEMORY;
  free_string(&selector);
  if (status) return throw_type(env, h ? error.text : "out of memory");
  return number_of(env, r->count++);
}

static void end_call(rewriter *r) {
  r->is_running = false;
  r->unit = NULL;
  free(r->input);
  r->input = NULL;
}

/* Ends a call, or a part of one. Returns [output so far or undefined, is waiting]. */
static napi_value leave(napi_env env, rewriter *r, hpar_status status) {
  napi_value pair, bytes, array;
  void *to;
  if (status != HPAR_SUSPEND) end_call(r);
  if (r->failure) {
    napi_value box, error;
    napi_get_reference_value(env, r->failure, &box);
    napi_get_element(env, box, 0, &error);
    napi_delete_reference(env, r->failure);
    r->failure = NULL;
    napi_throw(env, error);
    return NULL;
  }
  if (status && status != HPAR_SUSPEND) {
    napi_throw_error(env, NULL, r->stream ? hpar_rewriter_error(r->stream)->text : "the rewriter was freed");
    return NULL;
  }
  if (napi_create_array_with_length(env, 2, &pair) != napi_ok) return NULL;
  if (r->output.length) {
    if (napi_create_arraybuffer(env, r->output.length, &to, &bytes) != napi_ok) return NULL;
    memcpy(to, r->output.bytes, r->output.length);
    napi_create_typedarray(env, napi_uint8_array, r->output.length, bytes, 0, &array);
    napi_set_element(env, pair, 0, array);
    r->output.length = 0;
  }
  napi_set_element(env, pair, 1, bool_of(env, status == HPAR_SUSPEND));
  return pair;
}

/* Begins the stream with the first call. */
static bool begin(napi_env env, rewriter *r) {
  if (r->stream) return true;
  if (r->is_freed) return throw_type(env, "the rewriter was freed") != NULL;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .suspends = true,
                                        .max_token = r->max_token};
  hpar_status status = hpar_rules_compile(r->rules);
  if (!status) status = hpar_rewriter_create(&r->stream);
  if (!status) status = hpar_rewriter_begin(r->stream, r->rules, &options, append, &r->output);
  if (status) napi_throw_error(env, NULL, hpar_status_text(status));
  return !status;
}

/* feed(rewriter, bytes), or feed(rewriter, null) to finish: returns [output or undefined, is
 * waiting]. */
static napi_value feed(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r = object_of(env, given[0], &rewriter_tag);
  bool is_array = false;
  if (!r) return NULL;
  if (r->is_running) return throw_type(env, "the last call is not over");
  napi_is_typedarray(env, given[1], &is_array);
  if (!begin(env, r)) return NULL;
  r->is_running = true;
  if (!is_array) return leave(env, r, hpar_rewriter_finish(r->stream, NULL));
  napi_typedarray_type type;
  size_t length;
  void *bytes;
  napi_get_typedarray_info(env, given[1], &type, &length, &bytes, NULL, NULL);
  r->input = malloc(length + 1);
  if (!r->input) return leave(env, r, HPAR_ERROR_MEMORY);
  if (length) memcpy(r->input, bytes, length);
  return leave(env, r, hpar_rewriter_feed(r->stream, r->input, length));
}

/* resume(rewriter, has failed): as feed */
static napi_value resume(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r = object_of(env, given[0], &rewriter_tag);
  if (!r) return NULL;
  const bool has_failed = read_bool(env, given[1]);
  if (!r->stream) {
    end_call(r);
    return has_failed ? NULL : throw_type(env, "the rewriter was freed");
  }
  r->unit = NULL;
  const hpar_status status = hpar_rewriter_resume(r->stream, has_failed ? HPAR_ERROR_CALLBACK : HPAR_OK);
  if (!has_failed) return leave(env, r, status);
  end_call(r);
  return NULL;
}

/* free(rewriter) */
static napi_value free_now(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  rewriter *r = object_of(env, given[0], &rewriter_tag);
  if (!r) return NULL;
  hpar_rewriter *stream = r->stream;
  r->stream = NULL;
  r->is_freed = true;
  r->unit = NULL;
  hpar_rewriter_destroy(stream); /* at once, or when the running call returns */
  if (!r->is_running) {
    hpar_rules_destroy(r->rules);
    r->rules = NULL;
  }
  return NULL;
}

/*** what handlers do ***/

static napi_value throw_invalid(napi_env env, napi_callback_info info) {
  (void)info;
  return throw_type(env, "This content token is no longer valid. Content tokens are only valid during the execution "
                         "of the relevant content handler.");
}

/* Returns the unit of the kind that a handler has, or NULL with an exception. */
static void *unit_of(napi_env env, napi_value value, int kind, rewriter **owner) {
  rewriter *r = object_of(env, value, &rewriter_tag);
  if (!r) return NULL;
  *owner = r;
  if (r->unit && r->kind == kind) return r->unit;
  return throw_invalid(env, NULL);
}

static napi_value finish_edit(napi_env env, hpar_status status) {
  if (status) napi_throw_type_error(env, NULL, status == HPAR_ERROR_MEMORY ? "out of memory" : "invalid here");
  return NULL;
}

/* insert(rewriter, kind, where, content, is HTML) */
static napi_value insert(napi_env env, napi_callback_info info) {
  ARGUMENTS(5);
  rewriter *r;
  string s;
  const int kind = (int)read_number(env, given[1]);
  void *unit = unit_of(env, given[0], kind, &r);
  if (!unit || !read_string(env, given[3], &s)) return NULL;
  const hpar_where where = (hpar_where)read_number(env, given[2]);
  const hpar_content format = read_bool(env, given[4]) ? HPAR_CONTENT_HTML : HPAR_CONTENT_TEXT;
  hpar_status status = HPAR_ERROR_ARGUMENT;
  switch (kind) {
    case ELEMENT: status = hpar_element_insert(unit, where, s.bytes, s.length, format); break;
    case COMMENT: status = hpar_comment_insert(unit, where, s.bytes, s.length, format); break;
    case TEXT: status = hpar_text_piece_insert(unit, where, s.bytes, s.length, format); break;
    case END_TAG: status = hpar_element_end_insert(unit, where, s.bytes, s.length, format); break;
    case DOCUMENT_END: status = hpar_document_end_append(unit, s.bytes, s.length, format); break;
  }
  free_string(&s);
  return finish_edit(env, status);
}

/* remove(rewriter, kind) */
static napi_value remove_unit(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r;
  const int kind = (int)read_number(env, given[1]);
  void *unit = unit_of(env, given[0], kind, &r);
  if (!unit) return NULL;
  hpar_status status = HPAR_ERROR_ARGUMENT;
  switch (kind) {
    case ELEMENT: status = hpar_element_remove(unit); break;
    case COMMENT: status = hpar_comment_remove(unit); break;
    case TEXT: status = hpar_text_piece_remove(unit); break;
    case END_TAG: status = hpar_element_end_remove(unit); break;
  }
  return finish_edit(env, status);
}

/* setName(rewriter, kind, name): of an element, an end tag; the text of a comment */
static napi_value set_name(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  rewriter *r;
  string s;
  const int kind = (int)read_number(env, given[1]);
  void *unit = unit_of(env, given[0], kind, &r);
  if (!unit || !(kind == COMMENT ? read_string(env, given[2], &s) : read_name(env, given[2], "name", &s))) return NULL;
  hpar_status status = kind == COMMENT   ? hpar_comment_set_text(unit, s.bytes, s.length)
                       : kind == END_TAG ? hpar_element_end_rename(unit, s.bytes)
                                         : hpar_element_rename(unit, s.bytes);
  free_string(&s);
  return finish_edit(env, status);
}

/* getAttribute(rewriter, name): null without such an attribute */
static napi_value get_attribute(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r;
  string s;
  const hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  if (!element || !read_name(env, given[1], "name", &s)) return NULL;
  napi_value value = text_of(env, hpar_element_attribute(element, s.bytes));
  free_string(&s);
  return value;
}

/* setAttribute(rewriter, name, value), or without a value to remove it */
static napi_value set_attribute(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  rewriter *r;
  string name, value = {.bytes = value.small};
  hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  if (!element || !read_name(env, given[1], "name", &name)) return NULL;
  hpar_status status = HPAR_OK;
  bool is_fine = true;
  if (given_count < 3)
    status = hpar_element_unset(element, name.bytes);
  else if ((is_fine = read_string(env, given[2], &value)))
    status = hpar_element_set(element, name.bytes, value.bytes, value.length);
  free_string(&name);
  free_string(&value);
  return is_fine ? finish_edit(env, status) : NULL;
}

/* attributeAt(rewriter, index): [name, value] of the tag, or undefined */
static napi_value attribute_at(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r;
  hpar_string name, value;
  napi_value pair;
  const hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  if (!element || !hpar_element_attribute_at(element, read_number(env, given[1]), &name, &value)) return NULL;
  if (napi_create_array_with_length(env, 2, &pair) != napi_ok) return NULL;
  napi_set_element(env, pair, 0, text_of(env, name));
  napi_set_element(env, pair, 1, text_of(env, value));
  return pair;
}

/* elementState(rewriter): bit 0: removed, bit 1: has content, then its namespace */
static napi_value element_state(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  rewriter *r;
  const hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  if (!element) return NULL;
  return number_of(env, hpar_element_removed(element) + 2 * element->has_content + 4 * (int)element->ns);
}

/* unwrap(rewriter) */
static napi_value unwrap(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  rewriter *r;
  hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  return element ? finish_edit(env, hpar_element_unwrap(element)) : NULL;
}

/* onEnd(rewriter, number) */
static napi_value on_end(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  rewriter *r;
  hpar_element *element = unit_of(env, given[0], ELEMENT, &r);
  if (!element) return NULL;
  handler *h = add_handler(r, read_number(env, given[1]));
  return finish_edit(env, h ? hpar_element_on_end(element, on_end_tag, h) : HPAR_ERROR_MEMORY);
}

/* doctypeIds(rewriter): [public identifier, system identifier] */
static napi_value doctype_ids(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  rewriter *r;
  napi_value pair;
  const hpar_doctype *doctype = unit_of(env, given[0], DOCTYPE, &r);
  if (!doctype || napi_create_array_with_length(env, 2, &pair) != napi_ok) return NULL;
  napi_set_element(env, pair, 0, text_of(env, doctype->public_id));
  napi_set_element(env, pair, 1, text_of(env, doctype->system_id));
  return pair;
}

/*** documents ***/

/* `hint` has the bytes that the garbage collector counts, because a tree may grow. */
static void free_document(napi_env env, void *data, void *hint) {
  int64_t all;
  hpar_document_destroy(data);
  napi_adjust_external_memory(env, -(int64_t)(intptr_t)hint, &all);
}

/* Without the size of documents, the garbage collector would let many of them wait. */
static napi_value make_document(napi_env env, hpar_document *document, size_t input_length) {
  int64_t all;
  const int64_t size = (int64_t)(hpar_document_memory(document) + input_length);
  napi_adjust_external_memory(env, size, &all);
  return make_external(env, document, free_document, (void *)(intptr_t)size, &document_tag);
}

/* parse(string or array of bytes) */
static napi_value parse(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  bool is_array = false;
  hpar_error error;
  hpar_document *document;
  size_t length;
  hpar_options options = {HPAR_OPTIONS_INIT, .copy_input = true};
  napi_is_typedarray(env, given[0], &is_array);
  if (is_array) {
    napi_typedarray_type type;
    void *bytes;
    napi_get_typedarray_info(env, given[0], &type, &length, &bytes, NULL, NULL);
    document = hpar_parse_bytes(length ? bytes : "", length, &options, &error);
  } else {
    string s;
    if (!read_string(env, given[0], &s)) return NULL;
    options.encoding = "utf-8";
    length = s.length;
    document = hpar_parse_bytes(s.bytes, length, &options, &error);
    free_string(&s);
  }
  if (document) return make_document(env, document, length);
  napi_throw_error(env, NULL, error.text);
  return NULL;
}

/* Reads (document, node). */
#define NODE(most)                                                         \
  ARGUMENTS(most);                                                         \
  const hpar_document *document = object_of(env, given[0], &document_tag); \
  const hpar_node node = document ? read_number(env, given[1]) : 0;        \
  if (!document) return NULL

#define WALK(name)                                                       \
  static napi_value node_##name(napi_env env, napi_callback_info info) { \
    NODE(2);                                                             \
    return number_of(env, hpar_node_##name(document, node));             \
  }
WALK(kind)
WALK(namespace)
WALK(parent)
WALK(first_child)
WALK(next)

static napi_value node_root(napi_env env, napi_callback_info info) {
  NODE(2);
  (void)node;
  return number_of(env, hpar_document_root(document));
}

/* nodeText(document, node, what): 0 name, 1 data, 2 textContent, 3 innerHTML, 4 outerHTML */
static napi_value node_text(napi_env env, napi_callback_info info) {
  NODE(3);
  const hpar_text_options all = {HPAR_TEXT_OPTIONS_INIT, .all_elements = true, .keep_white_space = true,
                                 .no_breaks = true};
  const uint32_t what = read_number(env, given[2]);
  if (what == 0) return text_of(env, hpar_node_name(document, node));
  if (what == 1) return text_of(env, hpar_node_data(document, node));
  buffer text = {0};
  const hpar_status status = what == 2
                                 ? hpar_text(document, node, &all, append, &text)
                                 : hpar_serialize_html(document, node, what == 4 ? HPAR_HTML_OUTER : 0, append, &text);
  napi_value value = status ? NULL : text_of(env, (hpar_string){text.bytes ? text.bytes : "", text.length});
  free(text.bytes);
  if (status) napi_throw_error(env, NULL, hpar_status_text(status));
  return value;
}

/* nodeAttributes(document, node): [name, value, name, value...] */
static napi_value node_attributes(napi_env env, napi_callback_info info) {
  NODE(2);
  napi_value list;
  hpar_attribute a;
  if (napi_create_array(env, &list) != napi_ok) return NULL;
  for (uint32_t i = 0; hpar_node_attribute_at(document, node, i, &a); i++) {
    buffer name = {0};
    if (a.prefix.length) append(a.prefix.bytes, a.prefix.length, &name), append(":", 1, &name);
    append(a.local_name.bytes, a.local_name.length, &name);
    napi_set_element(env, list, 2 * i, text_of(env, (hpar_string){name.bytes ? name.bytes : "", name.length}));
    napi_set_element(env, list, 2 * i + 1, text_of(env, a.value));
    free(name.bytes);
  }
  return list;
}

/* select(document, node, selector): numbers of nodes */
static napi_value select_nodes(napi_env env, napi_callback_info info) {
  NODE(4);
  string s;
  hpar_error error;
  napi_value list = NULL;
  if (!read_name(env, given[2], "selector", &s)) return NULL;
  if (read_bool(env, given[3])) {
    const hpar_node first = hpar_select_first(document, node, s.bytes, &error);
    list = number_of(env, first);
  } else {
    hpar_node_list *found = hpar_select_all(document, node, s.bytes, &error);
    if (found && napi_create_array_with_length(env, found->count, &list) == napi_ok)
      for (size_t i = 0; i < found->count; i++)
        napi_set_element(env, list, (uint32_t)i, number_of(env, found->nodes[i]));
    hpar_list_destroy(found);
  }
  free_string(&s);
  return error.status ? throw_type(env, error.text) : list;
}

static napi_value open_module(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback function;
  } all[] = {{"newRewriter", new_rewriter},
             {"addRule", add_rule},
             {"feed", feed},
             {"resume", resume},
             {"free", free_now},
             {"insert", insert},
             {"remove", remove_unit},
             {"setName", set_name},
             {"getAttribute", get_attribute},
             {"setAttribute", set_attribute},
             {"attributeAt", attribute_at},
             {"elementState", element_state},
             {"unwrap", unwrap},
             {"onEnd", on_end},
             {"doctypeIds", doctype_ids},
             {"throwInvalid", throw_invalid},
             {"parse", parse},
             {"root", node_root},
             {"kind", node_kind},
             {"namespace", node_namespace},
             {"parent", node_parent},
             {"firstChild", node_first_child},
             {"next", node_next},
             {"nodeText", node_text},
             {"nodeAttributes", node_attributes},
             {"select", select_nodes}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    napi_value function;
    if (napi_create_function(env, all[i].name, NAPI_AUTO_LENGTH, all[i].function, NULL, &function) != napi_ok ||
        napi_set_named_property(env, exports, all[i].name, function) != napi_ok)
      return NULL;
  }
  return exports;
}

NAPI_MODULE_INIT() { return open_module(env, exports); }
