/* The life of scripts: after their end tag, while others run, and at the end of the input; and the
 * text that they write. */

#include "script/scripts.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/process.h"
#include "resources/describe.h"
#include "text/scan/scan.h"
#include "tokenizer/parts.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

#include <hpar/parse.h>

#include <string.h>

/*** the text that scripts have written ***/

/* That text is an input of the engine's tokenizer.
 *
 * A token may begin in one piece and end in a later piece or in the page. The tokenizer then reads
 * it from a copy of the bytes. The copy grows by factors of two until the token is complete. */

/* Appends a piece without text. */
static void push_piece(hp_scripts *s) {
  hp_grow(&s->written.pieces, &s->written.capacity, s->written.count + 1, &s->engine->unwind);
  static char no_text[1];
  s->written.pieces[s->written.count++] = (hp_written){.bytes = no_text};
}

/* Removes the parsed pieces at the end of the list down to `bottom`, which stays. */
static void pop_pieces(hp_scripts *s, uint32_t bottom) {
  while (s->written.count > bottom + 1 &&
         s->written.pieces[s->written.count - 1].at == s->written.pieces[s->written.count - 1].end)
    s->written.count--;
}

/* Returns true if a comment that goes on with `bytes` has no end in them. Requires: it has at least
 * two characters before them. */
static bool comment_goes_on(const char *end, const char *bytes, size_t length) {
  const char *at = bytes, *stop = bytes + length;
  while ((at = memchr(at, '>', (size_t)(stop - at)))) {
    char before[3]; /* the last byte first */
    for (ptrdiff_t i = 0; i < 3; i++) before[i] = at - bytes > i ? at[-1 - i] : end[at - bytes - 1 - i];
    if (before[0] == '-' && before[1] == '-') return false;
    if (before[0] == '!' && before[1] == '-' && before[2] == '-') return false;
    at++;
  }
  return true;
}

/* Returns true if a tag, a comment or other markup begins here. */
static bool begins_markup(const char bytes[3]) {
  if (bytes[0] != '<') return false;
  if (bytes[1] == '/') return bytes[2] != '>'; /* "</>" has no token */
  return hp_ascii_is_letter(bytes[1]) || bytes[1] == '!' || bytes[1] == '?';
}

/* Returns true if a text that goes on with `bytes` has no end in them. Requires: two bytes of the
 * text or more are before `end`. */
static bool text_goes_on(const char *end, const char *bytes, size_t length) {
  char window[3] = {0, end[-2], end[-1]};
  for (size_t i = 0; i < length; i++) {
    window[0] = window[1];
    window[1] = window[2];
    window[2] = bytes[i];
    if (begins_markup(window) || begins_markup((char[3]){window[1], window[2], '>'})) return false;
  }
  return true;
}

/* Returns true if no byte of `bytes` ends the tag of the piece, because each ">" is in quotes. */
static bool tag_goes_on(hp_written *piece, const char *bytes, size_t length) {
  const char *tag = piece->bytes + piece->at, *end = bytes + length;
  const size_t n = piece->end - piece->at, name = tag[1] == '/' ? 2 : 1;
  hp_state state = piece->tag_bytes ? piece->tag_state : HP_STATE_TAG_NAME;
  state = hp_state_of_tag(state, tag + (piece->tag_bytes ? piece->tag_bytes : name), tag + n);
  for (const char *stop; (stop = memchr(bytes, '>', (size_t)(end - bytes))); bytes = stop) {
    state = hp_state_of_tag(state, bytes, stop++);
    if (state != HP_STATE_DOUBLE_QUOTED && state != HP_STATE_SINGLE_QUOTED) return false;
  }
  piece->tag_state = hp_state_of_tag(state, bytes, end);
  piece->tag_bytes = n + length;
  return true;
}

/* Returns true if no byte of `bytes` can complete the token that begins at `at`. Otherwise each
 * write would read the token again from its beginning. */
static bool stays_unfinished(const hp_scripts *s, hp_written *piece, const char *bytes, size_t length) {
  const char *at = piece->bytes + piece->at, *end = piece->bytes + piece->end;
  size_t n = piece->end - piece->at;
  if (!piece->waits || n < 3 || s->engine->tokenizer.content != HP_TEXT_STATE_DATA) return false;
  if (!begins_markup(at)) return text_goes_on(end, bytes, length);
  if (n >= 6 && !memcmp(at, "<!--", 4)) return comment_goes_on(end, bytes, length);
  if (hp_ascii_is_letter(at[at[1] == '/' ? 2 : 1])) return tag_goes_on(piece, bytes, length);
  return !memchr(bytes, '>', length);
}

/* Appends text to the piece. */
static void add_written(hp_scripts *s, uint32_t index, const char *bytes, size_t length) {
  hp_written *piece = &s->written.pieces[index];
  bool waits = stays_unfinished(s, piece, bytes, length);
  if (piece->capacity - piece->end < length) {
    size_t left = piece->end - piece->at, capacity = left + length;
    if (left) capacity *= 2;
    char *moved = hp_arena_take(&s->engine->bytes, capacity);
    if (left) memcpy(moved, piece->bytes + piece->at, left);
    piece->bytes = moved;
    piece->at = 0;
    piece->end = left;
    piece->capacity = capacity;
  }
  memcpy(piece->bytes + piece->end, bytes, length);
  piece->end += length;
  piece->waits = waits;
  if (!waits) piece->tag_bytes = 0;
}

/* Sets the offsets of a token, and of the errors since `count`, to the position in the page. */
static void place_token(hp_scripts *s, hp_token *token, uint32_t count) {
  hp_tokenizer *t = &s->engine->tokenizer;
  uint32_t position = hp_tokenizer_offset(t);
  token->start = token->end = position;
  const hp_errors *errors = hp_tokenizer_errors(t);
  for (uint32_t i = count; errors && i < errors->count; i++) errors->items[i].offset = position;
}

static uint32_t error_count(const hp_scripts *s) {
  const hp_errors *errors = hp_tokenizer_errors(&s->engine->tokenizer);
  return errors ? errors->count : 0;
}

/* Reads a token of these bytes. Moves `*at` to its end. */
static int read_token(hp_scripts *s, const char **at, const char *end, bool last, hp_token *token) {
  hp_tokenizer *t = &s->engine->tokenizer;
  uint32_t count = error_count(s);
  hp_tokenizer_input saved = hp_tokenizer_set_input(t, *at, end, last);
  int kind = hp_next_token_inside(t, token, s->engine->builder.stack.top->name);
  *at = t->at;
  hp_tokenizer_restore_input(t, &saved);
  place_token(s, token, count);
  return kind;
}

/* Reads a token that ends in the piece. */
static int read_in_piece(hp_scripts *s, uint32_t index, hp_token *token) {
  hp_written *piece = &s->written.pieces[index];
  if (piece->at == piece->end || piece->waits) return HP_TOKEN_NEED_MORE;
  const char *at = piece->bytes + piece->at;
  int kind = read_token(s, &at, piece->bytes + piece->end, false, token);
  piece->at = (size_t)(at - piece->bytes);
  piece->waits = kind == HP_TOKEN_NEED_MORE;
  return kind;
}

/* Copies the next `length` bytes of the input stream, down to the piece `bottom`. Returns the
 * number of copied bytes. */
static size_t copy_stream(const hp_scripts *s, uint32_t bottom, char *to, size_t length) {
  size_t copied = 0;
  for (uint32_t i = s->written.count; i-- > bottom && copied < length;) {
    const hp_tokenizer *t = &s->engine->tokenizer;
    const char *at = i ? s->written.pieces[i].bytes + s->written.pieces[i].at : t->at;
    size_t n = i ? s->written.pieces[i].end - s->written.pieces[i].at : (size_t)(t->end - t->at);
    if (n > length - copied) n = length - copied;
    if (n) memcpy(to + copied, at, n);
    copied += n;
  }
  return copied;
}

static size_t stream_length(const hp_scripts *s, uint32_t bottom) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  size_t length = bottom ? 0 : (size_t)(t->end - t->at);
  for (uint32_t i = s->written.count; i-- > (bottom ? bottom : 1);)
    length += s->written.pieces[i].end - s->written.pieces[i].at;
  return length;
}

/* Skips `length` bytes of the input stream. */
static void skip_stream(hp_scripts *s, uint32_t bottom, size_t length) {
  for (uint32_t i = s->written.count; i-- > (bottom ? bottom : 1) && length;) {
    hp_written *piece = &s->written.pieces[i];
    size_t n = piece->end - piece->at < length ? piece->end - piece->at : length;
    piece->at += n;
    piece->waits = false;
    piece->tag_bytes = 0;
    length -= n;
  }
  if (!bottom) s->engine->tokenizer.at += length;
  pop_pieces(s, bottom);
}

/* Reads a token from a copy of the next `length` bytes of the stream. */
static int read_copy(hp_scripts *s, uint32_t bottom, size_t length, bool last, hp_token *token) {
  hp_arena mark = s->engine->bytes;
  char *copy = hp_arena_take(&s->engine->bytes, length + 1);
  copy_stream(s, bottom, copy, length);
  const char *at = copy;
  int kind = read_token(s, &at, copy + length, last, token);
  if (kind == HP_TOKEN_NEED_MORE)
    hp_arena_return(&s->engine->bytes, &mark);
  else
    skip_stream(s, bottom, (size_t)(at - copy));
  return kind;
}

/* Reads a token that begins in the last piece and ends after it. */
static int read_across(hp_scripts *s, uint32_t bottom, hp_token *token) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  size_t all = stream_length(s, bottom),
         length = s->written.pieces[s->written.count - 1].end - s->written.pieces[s->written.count - 1].at;
  if (!bottom && !t->last && (size_t)(t->end - t->base) < s->starved.retry) return HP_TOKEN_NEED_MORE;
  for (length += 64;; length *= 2) {
    if (length > all) length = all;
    bool last = length == all && !bottom && t->last;
    int kind = read_copy(s, bottom, length, last, token);
    if (kind == HP_TOKEN_EOF) return HP_TOKEN_NEED_MORE; /* the page reads it, too */
    if (kind != HP_TOKEN_NEED_MORE) return kind;
    if (length == all) break;
  }
  if (!bottom) s->starved.retry = (size_t)(t->end - t->base) + all / 2 + 16;
  return HP_TOKEN_NEED_MORE;
}

/* Makes one piece of the unfinished token, whose bytes are in several pieces. */
static void join_pieces(hp_scripts *s, uint32_t bottom) {
  size_t length = stream_length(s, bottom);
  char *joined = hp_arena_take(&s->engine->bytes, length + 1);
  copy_stream(s, bottom, joined, length);
  s->written.count = bottom + 1;
  s->written.pieces[bottom] = (hp_written){.bytes = joined, .end = length, .capacity = length, .waits = true};
}

/* Reads the next token before the end of the piece `bottom`; 0: before the page, or a token that
 * page text completes. Returns HP_TOKEN_NEED_MORE if there is no complete token. */
static int next_written(hp_scripts *s, uint32_t bottom, hp_token *token) {
  pop_pieces(s, bottom);
  uint32_t top = s->written.count - 1;
  if (!top) return HP_TOKEN_NEED_MORE;
  int kind = read_in_piece(s, top, token);
  if (kind != HP_TOKEN_NEED_MORE || top == bottom) return kind;
  kind = read_across(s, bottom, token);
  if (kind == HP_TOKEN_NEED_MORE && bottom) join_pieces(s, bottom);
  return kind;
}

/* Builds a token that begins in written text. It may run a script that writes. */
static void build(hp_engine *engine, const hp_token *token) {
  hp_tag_listener *listener = hp_listener_of(&engine->builder);
  if (listener) listener->text_is_written = true;
  engine->tokens++;
  if (hp_engine_is_limited(engine))
    hp_engine_build_limited(engine, token);
  else
    hp_exact_token(&engine->builder, token);
  if (listener) listener->text_is_written = false;
  hp_engine_check(engine);
}

/* Inserts the text of an unfinished run that a script can see already. */
static void flush(hp_scripts *s, uint32_t index) {
  hp_engine *engine = s->engine;
  hp_tokenizer *t = &engine->tokenizer;
  hp_written *piece = &s->written.pieces[index];
  hp_text_use use = hp_exact_use_of_text(&engine->builder);
  if (piece->at == piece->end || use == HP_TEXT_WHOLE) return;
  uint32_t count = error_count(s);
  hp_tokenizer_input saved = hp_tokenizer_set_input(t, piece->bytes + piece->at, piece->bytes + piece->end, false);
  hp_tokenizer_begin_errors(t, count);
  hp_token token;
  bool read = hp_flush_text(t, &token, use == HP_TEXT_WHITE_FIRST);
  piece->at = (size_t)(t->at - piece->bytes);
  hp_tokenizer_restore_input(t, &saved);
  place_token(s, &token, count);
  if (!read) return;
  build(engine, &token);
}

/* Parses the text before the end of the piece `bottom`. */
static void parse_written(hp_scripts *s, uint32_t bottom) {
  hp_token token;
  while (!s->paused) {
    if (next_written(s, bottom, &token) == HP_TOKEN_NEED_MORE) {
      if (bottom) flush(s, bottom);
      return;
    }
    build(s->engine, &token);
  }
}

/*** preparation ***/

/* The standard's algorithm "prepare the script element". */

static hpar_string value_of(const hp_scripts *s, hp_ref element, const char *name) {
  return hpar_node_attribute_value(s->document, element, name);
}

/* Sets `*type`. Returns false for a data block. */
static bool read_type(const hp_scripts *s, hp_ref element, hpar_script_type *type) {
  hpar_string given = value_of(s, element, "type"), language = value_of(s, element, "language");
  *type = HPAR_SCRIPT_CLASSIC;
  if (given.bytes ? !given.length : !language.length) return true;
  if (!given.bytes) return hp_is_script_language(language);
  given = hp_trim(given);
  if (hp_is_script_type(given)) return true;
  if (hp_is_word(given, "module")) return *type = HPAR_SCRIPT_MODULE, true;
  if (hp_is_word(given, "importmap")) return *type = HPAR_SCRIPT_IMPORT_MAP, true;
  if (hp_is_word(given, "speculationrules")) return *type = HPAR_SCRIPT_SPECULATION_RULES, true;
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
  return target.bytes && event.bytes && !hp_runs_at_load(target, event);
}

/* Returns the source of a script; its `bytes` is NULL if the script is inline. */
static hpar_string source_of(const hp_scripts *s, hp_ref element) {
  if (hp_node_at(s->document->range.base, element)->ns == HPAR_NAMESPACE_HTML) return value_of(s, element, "src");
  hpar_attribute attribute;
  for (size_t i = 0; hpar_node_attribute_at(s->document, element, i, &attribute); i++) {
    bool reference = attribute.ns == HPAR_NAMESPACE_NONE || attribute.ns == HPAR_NAMESPACE_XLINK;
    if (reference && hp_is_word(attribute.local_name, "href")) return attribute.value;
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
  hp_tag_listener *listener = hp_listener_of(&s->engine->builder);
  if (listener) listener->before_script(listener);
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
  push_piece(s);
  s->written.own = s->written.count - 1;
  s->defined = true;
  s->level++;
  return old;
}

static void end_writes(hp_scripts *s, insertion_point old) {
  s->level--;
  s->written.own = old.own;
  s->defined = old.defined;
  pop_pieces(s, s->written.own);
}

void hp_script_call_without_writes(hp_scripts *s, const hpar_script *script) {
  bool defined = s->defined;
  s->defined = false;
  hp_script_call(s, script);
  s->defined = defined;
}

//§ scriptEndTag
/* Runs the scripts that block the parser, one after the other. */
static void run_blocking(hp_scripts *s) {
  while (s->pending) {
    hpar_script script = {.node = s->pending, .time = HPAR_SCRIPT_BLOCKING, .external = true};
    s->pending = 0;
    insertion_point old = begin_writes(s);
    hp_script_call(s, &script);
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
  *hp_push(&s->late, &s->engine->unwind) = script->node;
}

void hp_scripts_run_late(hp_scripts *s) {
  for (uint32_t i = 0; i < s->late.count; i++) {
    hpar_script script = {.node = s->late.items[i], .time = HPAR_SCRIPT_LATE};
    script.type = script_type_of(s, script.node);
    hp_script_call_without_writes(s, &script);
  }
  s->late.count = 0;
}

/* Parses the written text up to the next byte of the page. */
static void drain(hp_scripts *s) {
  hp_tokenizer *t = &s->engine->tokenizer;
  s->draining = true;
  parse_written(s, 0);
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
      case HPAR_SCRIPT_DEFERRED: *hp_push(&s->deferred, &s->engine->unwind) = element; break;
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
  const hp_scripts kept = *s; /* its memory */
  *s = (hp_scripts){.config = *config,
                    .engine = engine,
                    .document = engine->builder.document,
                    .trace = trace,
                    .written.pieces = kept.written.pieces,
                    .written.capacity = kept.written.capacity,
                    .deferred = {kept.deferred.items, 0, kept.deferred.capacity},
                    .late = {kept.late.items, 0, kept.late.capacity},
                    .inner = kept.inner,
                    .found = {0, kept.found.places, kept.found.capacity}};
  if (!s->config.max_write_depth) s->config.max_write_depth = MAX_WRITE_DEPTH;
  if (!s->config.max_written) s->config.max_written = HPAR_MAX_INPUT;
  push_piece(s);
  engine->builder.script.ended = script_ended;
  engine->builder.script.context = s;
  engine->tokenizer.may_defer = false; /* scripts read values before the end of the parse */
}

void hp_scripts_close(hp_scripts *s) {
  hp_free(s->written.pieces);
  hp_free(s->deferred.items);
  hp_free(s->late.items);
  hp_free(s->found.places);
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
  add_written(s, s->written.own, text->bytes, text->length);
  if (!s->pending && !s->paused) parse_written(s, s->written.own);
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
  if (!s->defined) return HPAR_OK;
  if (enters_write(s)) {
    note_state(s);
    text_to_write text = {s, bytes, length};
    hpar_status status = hp_try(&s->engine->unwind, write_text, &text);
    if (s->status == HPAR_OK) s->status = status;
  }
  s->writes--;
  return s->status;
}
