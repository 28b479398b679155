#include "inspect/state.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "html/dom/tag.h"

#include <string.h>

/*** within a token ***/

static bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'; }
static bool is_alpha(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

static bool begins(const char *at, const char *end, const char *with) {
  size_t length = strlen(with);
  return (size_t)(end - at) >= length && hp_ascii_equal(at, with, length);
}

/* "script" and what can follow it, from `at` on. */
static bool script_name(const char *at, const char *end) {
  return begins(at, end, "script") && end - at > 6 && (is_white(at[6]) || at[6] == '/' || at[6] == '>');
}

//§ script-data-escaped-state
static hp_state in_script(const char *at, const char *end) {
  hp_state state = HP_STATE_SCRIPT_DATA;
  unsigned dashes = 0;
  for (; at < end; at++) {
    if (state == HP_STATE_SCRIPT_DATA) {
      if (!begins(at, end, "<!--")) continue;
      state = HP_STATE_SCRIPT_DATA_ESCAPED;
      at += 3;
      dashes = 2;
      continue;
    }
    if (*at == '-') {
      dashes++;
      continue;
    }
    if (*at == '>' && dashes >= 2) state = HP_STATE_SCRIPT_DATA;
    dashes = 0;
    if (*at != '<') continue;
    if (state == HP_STATE_SCRIPT_DATA_ESCAPED && script_name(at + 1, end))
      state = HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED;
    else if (state == HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED && begins(at, end, "</") && script_name(at + 2, end))
      state = HP_STATE_SCRIPT_DATA_ESCAPED;
  }
  return state;
}

static hp_state in_tag(const char *at, const char *end) {
  hp_state state = HP_STATE_TAG_NAME;
  for (; at < end; at++) {
    char c = *at;
    switch (state) {
      case HP_STATE_DOUBLE_QUOTED:
        if (c == '"') state = HP_STATE_AFTER_QUOTED;
        continue;
      case HP_STATE_SINGLE_QUOTED:
        if (c == '\'') state = HP_STATE_AFTER_QUOTED;
        continue;
      case HP_STATE_UNQUOTED:
        if (is_white(c)) state = HP_STATE_BEFORE_ATTRIBUTE_NAME;
        continue;
      case HP_STATE_BEFORE_ATTRIBUTE_VALUE:
        if (!is_white(c))
          state = c == '"' ? HP_STATE_DOUBLE_QUOTED : c == '\'' ? HP_STATE_SINGLE_QUOTED : HP_STATE_UNQUOTED;
        continue;
      default: break;
    }
    bool name = state == HP_STATE_ATTRIBUTE_NAME;
    if (c == '/')
      state = HP_STATE_SELF_CLOSING;
    else if (is_white(c))
      state = name || state == HP_STATE_AFTER_ATTRIBUTE_NAME ? HP_STATE_AFTER_ATTRIBUTE_NAME
                                                             : HP_STATE_BEFORE_ATTRIBUTE_NAME;
    else if (c == '=' && (name || state == HP_STATE_AFTER_ATTRIBUTE_NAME))
      state = HP_STATE_BEFORE_ATTRIBUTE_VALUE;
    else if (state != HP_STATE_TAG_NAME)
      state = HP_STATE_ATTRIBUTE_NAME;
  }
  return state;
}

/* An "&" with nothing behind it that ends a reference. */
static bool in_reference(const char *begin, const char *end) {
  enum { LONGEST = 40 };
  for (const char *at = end; at > begin && end - at < LONGEST;) {
    char c = *--at;
    if (c == '&') return true;
    if (!is_alpha(c) && (unsigned char)(c - '0') >= 10 && c != '#') return false;
  }
  return false;
}

static hp_state in_text(const char *at, const char *end) {
  for (const char *from = at; (from = memchr(from, '<', (size_t)(end - from)));) {
    if (begins(from, end, "<![CDATA[")) {
      from += 9;
      const char *close = memmem(from, (size_t)(end - from), "]]>", 3);
      if (!close) return HP_STATE_CDATA_SECTION;
      at = from = close + 3;
    } else {
      from++;
    }
  }
  return in_reference(at, end) ? HP_STATE_CHARACTER_REFERENCE : HP_STATE_DATA;
}

static hp_state of_content(hp_content content) {
  switch (content) {
    case HP_CONTENT_RCDATA: return HP_STATE_RCDATA;
    case HP_CONTENT_RAWTEXT: return HP_STATE_RAWTEXT;
    case HP_CONTENT_SCRIPT_DATA: return HP_STATE_SCRIPT_DATA;
    case HP_CONTENT_PLAINTEXT: return HP_STATE_PLAINTEXT;
    case HP_CONTENT_CDATA_SECTION: return HP_STATE_CDATA_SECTION;
    default: return HP_STATE_DATA;
  }
}

hp_state hp_state_at(const char *text, uint32_t start, hp_content content, uint32_t place) {
  const char *at = text + start, *end = text + place;
  if (at == end) return of_content(content);
  if (content != HP_CONTENT_DATA) {
    if (content == HP_CONTENT_SCRIPT_DATA) return in_script(at, end);
    return content == HP_CONTENT_RCDATA && in_reference(at, end) ? HP_STATE_CHARACTER_REFERENCE : of_content(content);
  }
  if (*at != '<') return in_text(at, end);
  if (end - at == 1) return HP_STATE_TAG_OPEN;
  if (is_alpha(at[1])) return in_tag(at + 1, end);
  switch (at[1]) {
    case '/':
      if (end - at == 2) return HP_STATE_END_TAG_OPEN;
      return is_alpha(at[2]) ? in_tag(at + 2, end) : HP_STATE_BOGUS_COMMENT;
    case '?': return HP_STATE_PROCESSING_INSTRUCTION;
    case '!':
      if (begins(at, end, "<!--")) return HP_STATE_COMMENT;
      if (begins(at, end, "<!doctype")) return HP_STATE_DOCTYPE;
      if (begins(at, end, "<![CDATA[")) return in_text(at, end);
      return end - at < 9 ? HP_STATE_MARKUP_DECLARATION_OPEN : HP_STATE_BOGUS_COMMENT;
    default: return in_text(at, end);
  }
}

/*** a parse under observation ***/

static void run(hp_engine *engine, const hp_request *task, const char *fragment, const hp_observer *o) {
  hp_token token;
  hp_engine_open(engine, task);
  if (fragment) {
    if (!hp_builder_parse_context(&engine->builder, fragment)) hp_unwind_now(&engine->unwind, HPAR_ERROR_ARGUMENT);
    hp_exact_begin_fragment(&engine->builder);
  }
  hp_tokenizer *tokenizer = &engine->tokenizer;
  do {
    hp_content content = tokenizer->content;
    uint32_t start = (uint32_t)(tokenizer->at - tokenizer->base);
    hp_next_token(tokenizer, &token);
    if (o->before) o->before(o->context, engine, &token, content, start);
    hp_exact_token(&engine->builder, &token);
    if (o->after) o->after(o->context, engine, &token);
  } while (token.kind != HPAR_TOKEN_EOF);
}

typedef struct observed_parse {
  hp_engine *engine;
  const hp_request *request;
  const char *fragment;
  const hp_observer *observer;
} observed_parse;

static hpar_status run_observed(void *argument) {
  const observed_parse *p = argument;
  run(p->engine, p->request, p->fragment, p->observer);
  return HPAR_OK;
}

hpar_status hp_observe(const hp_request *task, const char *fragment, const hp_observer *observer) {
  hp_request own = *task;
  own.max_errors = 0;
  own.tentative = NULL;
  own.more = false;
  hpar_document *document = NULL;
  hp_engine *engine = hp_allocate_zeroed(sizeof *engine);
  hpar_status status = engine ? hpar_document_create(&document) : HPAR_ERROR_MEMORY;
  if (status == HPAR_OK) status = hp_document_open(document, false, task->length);
  if (status == HPAR_OK) {
    own.document = document;
    hp_engine_init(engine);
    observed_parse parse = {engine, &own, fragment, observer};
    status = hp_try(&engine->unwind, run_observed, &parse);
    hp_engine_close(engine);
  }
  hpar_document_destroy(document);
  hp_free(engine);
  return status;
}

typedef struct survey {
  const char *text;
  hp_true_state *states;
  const uint32_t *places;
  uint32_t count, next; /* places before `next` are known, but for `first` of those from `pending` on */
  uint32_t pending;
} survey;

static void settle(survey *s, uint32_t boundary) {
  for (; s->pending < s->next && s->states[s->pending].place <= boundary; s->pending++)
    s->states[s->pending].first = boundary;
}

static void survey_token(void *context, const hp_engine *engine, const hp_token *t, hp_content content,
                         uint32_t start) {
  survey *s = context;
  const hp_builder *b = &engine->builder;
  bool boundary = content == HP_CONTENT_DATA && b->mode != HP_IN_TEXT;
  for (; s->next < s->count; s->next++) {
    uint32_t place = s->places[s->next];
    if (place >= t->end && t->kind != HPAR_TOKEN_EOF) break;
    s->states[s->next] = (hp_true_state){
        .place = place,
        .token = place == start ? place : start,
        .state = hp_state_at(s->text, start, content, place),
        .content = content,
        .raw_name = content == HP_CONTENT_DATA ? 0 : engine->tokenizer.last_start_tag,
        .mode = b->mode,
        .ns = hp_exact_adjusted_current_node(b)->ns,
        .depth = b->depth,
        .formatting = b->formatting_count,
    };
  }
  if (boundary) settle(s, start);
}

hpar_status hp_true_states(const hp_request *task, const char *fragment, const uint32_t *places, uint32_t count,
                           hp_true_state *states) {
  survey s = {.text = task->text, .states = states, .places = places, .count = count};
  hp_observer observer = {.context = &s, .before = survey_token};
  hpar_status status = hp_observe(task, fragment, &observer);
  if (status != HPAR_OK) return status;
  for (; s.pending < count; s.pending++) states[s.pending].first = (uint32_t)task->length;
  return HPAR_OK;
}
