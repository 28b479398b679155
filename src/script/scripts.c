/* The life of scripts: after their end tag, while others run, and at the end of the input. */

#include "script/scripts.h"

#include "base/memory.h"
#include "base/process.h"
#include "text/scan/scan.h"
#include "tree/query.h"

#include <hpar/parse.h>

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
  hp_tag_watch *watch = s->engine->builder.observers.watch;
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
    script.type = hp_script_type_of(s, script.node);
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
  s->starved.waits = s->engine->builder.script.page_is_used_up = s->written.count > 1;
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
  s->engine->builder.script.text_written = true;
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
    script.type = hp_script_type_of(s, script.node);
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
