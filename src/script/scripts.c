/* The life of scripts: after their end tag, while others run, and at the end of the input. */

#include "script/scripts.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/process.h"
#include "text/scan/scan.h"
#include "tree/stack.h"

#include <hpar/parse.h>

#include <string.h>

/*** preparation ***/

/* The standard's algorithm "prepare the script element". */

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

static hpar_script_type script_type_of(const hp_scripts *s, hp_ref element) {
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

/*** the life of scripts ***/

enum { MAX_WRITE_DEPTH = 21 }; /* of browsers */

/* Adds the time of a script that no other script contains. */
static void note_time(hp_scripts *s, uint64_t begin, const char *from) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  uint64_t end = hp_now();
  s->counters.callbacks_ns += end - begin;
  if (s->trace)
    s->trace->event(s->trace, HP_EVENT_SCRIPT, 0, UINT32_MAX, begin, end, (size_t)(from - t->base),
                    hp_tokenizer_offset(t));
}

void hp_script_call(hp_scripts *s, const hpar_script *script) {
  hp_tag_watch *watch = hp_watch_of(&s->engine->builder);
  if (watch) watch->before_script(watch);
  s->running++;
  uint64_t begin = hp_now();
  const char *from = s->engine->tokenizer.at;
  hpar_status status = s->config.callback(s, script, s->config.context);
  if (s->running == 1) note_time(s, begin, from);
  s->counters.runs++;
  s->running--;
  if (s->status == HPAR_OK) s->status = status;
  if (s->status != HPAR_OK) hp_unwind_now(&s->engine->unwind, s->status);
}

/* The insertion point of an outer script. */
typedef struct insertion_point {
  uint32_t own;
  bool defined;
} insertion_point;

/* Sets the insertion point to the position of the next character. */
static insertion_point begin_writes(hp_scripts *s) {
  insertion_point old = {s->written.own, s->defined};
  hp_written_push(s);
  s->written.own = s->written.count - 1;
  s->defined = true;
  s->level++;
  return old;
}

static void end_writes(hp_scripts *s, insertion_point old) {
  s->level--;
  s->written.own = old.own;
  s->defined = old.defined;
  hp_written_pop(s, s->written.own);
}

void hp_script_call_without_writes(hp_scripts *s, const hpar_script *script) {
  bool defined = s->defined;
  s->defined = false;
  s->ignoring++;
  hp_script_call(s, script);
  s->ignoring--;
  s->defined = defined;
}

//§ scriptEndTag
/* Runs the scripts that block the parser, one after the other. */
static void run_blocking(hp_scripts *s) {
  while (s->pending) {
    hpar_script script = {.node = s->pending, .time = HPAR_SCRIPT_BLOCKING, .external = true};
    s->pending = 0;
    insertion_point old = begin_writes(s);
    s->defined = true;
    s->ignoring++;
    hp_script_call(s, &script);
    s->ignoring--;
    end_writes(s, old);
    s->defined = false;
    if (!s->level) s->paused = false;
  }
}

static void run_now(hp_scripts *s, const hpar_script *script, bool svg) {
  insertion_point old = begin_writes(s);
  bool may_postpone = s->may_postpone;
  if (svg) s->paused = true;
  s->may_postpone = s->level == 1;
  hp_script_call(s, script);
  s->may_postpone = may_postpone;
  end_writes(s, old);
  if (!s->postpones) return;
  s->postpones = false;
  hp_grow(&s->late.items, &s->late.capacity, s->late.count + 1, &s->engine->unwind);
  s->late.items[s->late.count++] = script->node;
}

void hp_scripts_run_late(hp_scripts *s) {
  for (uint32_t i = 0; i < s->late.count; i++) {
    hpar_script script = {.node = s->late.items[i], .time = HPAR_SCRIPT_LATE};
    script.type = script_type_of(s, script.node);
    hp_script_call_without_writes(s, &script);
  }
  s->late.count = 0;
}

static void defer(hp_scripts *s, hp_ref script) {
  hp_grow(&s->deferred.items, &s->deferred.capacity, s->deferred.count + 1, &s->engine->unwind);
  s->deferred.items[s->deferred.count++] = script;
}

/* Parses the written text up to the next byte of the page. */
static void drain(hp_scripts *s) {
  hp_tokenizer *t = &s->engine->tokenizer;
  s->draining = true;
  hp_written_parse(s, 0);
  s->draining = false;
  s->starved.waits = s->written.count > 1;
  hp_note_page_is_used_up(&s->engine->builder, s->starved.waits);
  if (s->starved.waits) t->end = t->at; /* hp_scripts_resume continues */
}

/*** changes of the state ***/

/* Notes the state before the first write of a script of the page. */
static void note_state(hp_scripts *s) {
  if (s->first_write.has_come) return;
  s->first_write.has_come = true;
  s->first_write.state = hp_engine_hash(s->engine);
  s->first_write.at = s->engine->tokenizer.at;
}

/* Counts the script of the page if the state is another one after its writes. */
static void compare_state(hp_scripts *s) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  if (!s->first_write.has_come) return;
  s->first_write.has_come = false;
  s->counters.joined += (uint64_t)(t->at - s->first_write.at);
  if (!s->starved.waits && hp_engine_hash(s->engine) == s->first_write.state) return;
  hp_note_written_text(&s->engine->builder);
  if (!s->counters.state_changes++) s->counters.first_change = hp_tokenizer_offset(t);
}

/* Called by the builder. The element has left the stack. */
static void script_ended(void *context, hp_ref element) {
  hp_scripts *s = context;
  hpar_script script;
  bool svg = hp_node_at(s->engine->builder.base, element)->ns == HPAR_NAMESPACE_SVG;
  if (hp_script_prepare(s, element, true, &script)) {
    s->engine->builder.encoding.tentative = NULL; /* the encoding is certain */
    switch (script.time) {
      case HPAR_SCRIPT_NOW: run_now(s, &script, svg); break;
      case HPAR_SCRIPT_BLOCKING: s->pending = element; break;
      case HPAR_SCRIPT_DEFERRED: defer(s, element); break;
      case HPAR_SCRIPT_ASYNC: hp_script_call_without_writes(s, &script); break;
      case HPAR_SCRIPT_LATE: break; /* no element has this time before it has run */
    }
  }
  if (s->level) {
    if (s->pending) s->paused = true;
    return;
  }
  s->paused = false;
  run_blocking(s);
  if (s->draining) return;
  drain(s);
  compare_state(s);
}

void hp_scripts_begin(hp_scripts *s, const hp_script_config *config, hp_engine *engine, hp_trace *trace) {
  hp_written *pieces = s->written.pieces;
  hp_ref *deferred = s->deferred.items, *late = s->late.items;
  uint32_t piece_capacity = s->written.capacity, deferred_capacity = s->deferred.capacity;
  uint32_t late_capacity = s->late.capacity;
  hp_engine inner = s->inner;
  *s = (hp_scripts){.config = *config, .engine = engine, .document = engine->builder.document, .trace = trace};
  s->written.pieces = pieces;
  s->written.capacity = piece_capacity;
  s->deferred.items = deferred;
  s->deferred.capacity = deferred_capacity;
  s->late.items = late;
  s->late.capacity = late_capacity;
  s->inner = inner;
  if (!s->config.max_write_depth) s->config.max_write_depth = MAX_WRITE_DEPTH;
  if (!s->config.max_written) s->config.max_written = HPAR_MAX_INPUT;
  hp_written_push(s);
  engine->builder.script.ended = script_ended;
  engine->builder.script.context = s;
  engine->tokenizer.may_defer = false; /* scripts read values before the end of the parse */
}

void hp_scripts_close(hp_scripts *s) {
  hp_free(s->written.pieces);
  hp_free(s->deferred.items);
  hp_free(s->late.items);
  hp_engine_close(&s->inner);
}

bool hp_scripts_resume(hp_scripts *s) {
  if (s->starved.waits) drain(s);
  return !s->starved.waits;
}

//§ the-end
void hp_scripts_finish(hp_scripts *s) {
  hp_scripts_run_late(s);
  for (uint32_t i = 0; i < s->deferred.count; i++) {
    hpar_script script = {.node = s->deferred.items[i], .time = HPAR_SCRIPT_DEFERRED};
    script.external = hpar_node_attribute_value(s->document, script.node, "src").bytes != NULL;
    script.type = script_type_of(s, script.node);
    hp_script_call_without_writes(s, &script);
  }
}

hpar_document *hpar_editor_document(const hpar_editor *s) { return s ? s->document : NULL; }

/*** document.write ***/

typedef struct text_to_write {
  hp_scripts *scripts;
  const char *bytes;
  size_t length;
} text_to_write;

static hpar_status write_text(void *argument) {
  const text_to_write *text = argument;
  hp_scripts *s = text->scripts;
  if (!text->length) return HPAR_OK;
  hp_written_add(s, s->written.own, text->bytes, text->length);
  if (!s->pending && !s->paused) hp_written_parse(s, s->written.own);
  return HPAR_OK;
}

/* Counts the bytes of a write, also of one without an effect. Returns the limit that is reached. */
static hpar_status count_written(hp_scripts *s, size_t length) {
  uint64_t deadline = s->engine->limits.deadline;
  if (length > s->config.max_written - s->counters.written) return HPAR_LIMIT_INPUT;
  s->counters.written += length;
  return deadline && hp_now() >= deadline ? HPAR_LIMIT_TIME : HPAR_OK;
}

/* Returns true if this call and all calls around it may write. */
static bool enters_write(hp_scripts *s) {
  s->writes++;
  s->too_deep = (s->writes > 1 && s->too_deep) || s->writes > s->config.max_write_depth;
  return !s->too_deep;
}

hpar_status hpar_script_write(hpar_editor *s, const char *bytes, size_t length) {
  if (!s || !s->running || (!bytes && length)) return HPAR_ERROR_ARGUMENT;
  if (s->status != HPAR_OK) return s->status;
  const char *end = bytes + length;
  if (length && hp_scan()->invalid_utf8(bytes, end) != end) return HPAR_ERROR_ARGUMENT;
  s->status = count_written(s, length);
  if (s->status != HPAR_OK) return s->status;
  if (!s->defined) return s->ignoring ? HPAR_OK : HPAR_ERROR_ARGUMENT;
  if (enters_write(s)) {
    note_state(s);
    text_to_write text = {s, bytes, length};
    hpar_status status = hp_try(&s->engine->unwind, write_text, &text);
    if (s->status == HPAR_OK) s->status = status;
  }
  s->writes--;
  return s->status;
}
