#include "study/true_state.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "tree/engine.h"

#include <string.h>

/*** the tokenizer's state inside of a token ***/

static bool begins(const char *at, const char *end, const char *with) {
  size_t length = strlen(with);
  return (size_t)(end - at) >= length && hp_ascii_equal(at, with, length);
}

/* Returns whether the text ends within a character reference. */
static bool in_reference(const char *begin, const char *end) {
  enum { LONGEST = 40 };
  for (const char *at = end; at > begin && end - at < LONGEST;) {
    char c = *--at;
    if (c == '&') return true;
    if (!hp_ascii_is_letter(c) && (unsigned char)(c - '0') >= 10 && c != '#') return false;
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

static hp_state of_content(hp_text_state content) {
  switch (content) {
    case HP_TEXT_STATE_RCDATA: return HP_STATE_RCDATA;
    case HP_TEXT_STATE_RAWTEXT: return HP_STATE_RAWTEXT;
    case HP_TEXT_STATE_SCRIPT_DATA: return HP_STATE_SCRIPT_DATA;
    case HP_TEXT_STATE_PLAINTEXT: return HP_STATE_PLAINTEXT;
    case HP_TEXT_STATE_CDATA_SECTION: return HP_STATE_CDATA_SECTION;
    default: return HP_STATE_DATA;
  }
}

static hp_state in_script(const char *at, const char *end) {
  switch (hp_script_escape_at(HP_SCRIPT_PLAIN, at, end)) {
    case HP_SCRIPT_ESCAPED: return HP_STATE_SCRIPT_DATA_ESCAPED;
    case HP_SCRIPT_DOUBLE_ESCAPED: return HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED;
    default: return HP_STATE_SCRIPT_DATA;
  }
}

/* Returns the state before the byte at `place`, if the text ends there. The token that contains
 * `place`, or begins there, begins at `start`. The tokenizer's content was `content` at `start`. */
static hp_state state_at(const char *text, uint32_t start, hp_text_state content, uint32_t place) {
  const char *at = text + start, *end = text + place;
  if (at == end) return of_content(content);
  if (content != HP_TEXT_STATE_DATA) {
    if (content == HP_TEXT_STATE_SCRIPT_DATA) return in_script(at, end);
    return content == HP_TEXT_STATE_RCDATA && in_reference(at, end) ? HP_STATE_CHARACTER_REFERENCE
                                                                    : of_content(content);
  }
  if (*at != '<') return in_text(at, end);
  if (end - at == 1) return HP_STATE_TAG_OPEN;
  if (hp_ascii_is_letter(at[1])) return hp_state_of_tag(HP_STATE_TAG_NAME, at + 1, end);
  switch (at[1]) {
    case '/':
      if (end - at == 2) return HP_STATE_END_TAG_OPEN;
      return hp_ascii_is_letter(at[2]) ? hp_state_of_tag(HP_STATE_TAG_NAME, at + 2, end) : HP_STATE_BOGUS_COMMENT;
    case '?': return HP_STATE_PROCESSING_INSTRUCTION;
    case '!':
      if (begins(at, end, "<!--")) return HP_STATE_COMMENT;
      if (begins(at, end, "<!doctype")) return HP_STATE_DOCTYPE;
      if (begins(at, end, "<![CDATA[")) return in_text(at, end);
      return end - at < 9 ? HP_STATE_MARKUP_DECLARATION_OPEN : HP_STATE_BOGUS_COMMENT;
    default: return in_text(at, end);
  }
}

/*** the observer ***/

typedef struct observed_token {
  const hp_observer *observer;
  hp_text_state content; /* before the token */
  uint32_t start;
} observed_token;

static int next_observed(hp_engine *engine, hp_token **token, void *context) {
  observed_token *now = context;
  const hp_tokenizer *t = &engine->tokenizer;
  now->content = t->content;
  now->start = (uint32_t)(t->at - t->base);
  return hp_loop_next(engine, token, NULL);
}

static void build_observed(hp_engine *engine, const hp_token *token, void *context) {
  const observed_token *now = context;
  const hp_observer *o = now->observer;
  if (o->before) o->before(o->context, engine, token, now->content, now->start);
  hp_exact_token(&engine->builder, token);
  if (o->after) o->after(o->context, engine, token);
}

static void run_to_places(hp_engine *engine, const hp_request *request, const char *fragment, const hp_observer *o) {
  hp_engine_open(engine, request);
  if (fragment) {
    if (!hp_builder_parse_context(&engine->builder, fragment)) hp_unwind_now(&engine->unwind, HPAR_ERROR_ARGUMENT);
    hp_exact_begin_fragment(&engine->builder);
  }
  observed_token now = {.observer = o};
  hp_loop_run(engine, (hp_loop_parts){.next = next_observed, .build = build_observed}, &now);
}

typedef struct observed_parse {
  hp_engine *engine;
  const hp_request *request;
  const char *fragment;
  const hp_observer *observer;
} observed_parse;

static hpar_status run_observed(void *argument) {
  const observed_parse *p = argument;
  run_to_places(p->engine, p->request, p->fragment, p->observer);
  return HPAR_OK;
}

hpar_status hp_observe(const hp_request *request, const char *fragment, const hp_observer *observer) {
  hp_request own = *request;
  own.max_errors = 0;
  own.tentative = NULL;
  own.listener = NULL;
  own.more = false;
  hpar_document *document = NULL;
  hp_engine *engine = hp_allocate_zeroed(sizeof *engine);
  hpar_status status = engine ? hpar_document_create(&document) : HPAR_ERROR_MEMORY;
  if (status == HPAR_OK) status = hp_document_open(document, false, request->length);
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
  hp_true_state *states; /* of the places [0, count) */
  const uint32_t *places;
  uint32_t count, next; /* the states before `next` are known */
  uint32_t pending;     /* except `first` of the states from here on */
} survey;

/* Sets `first` of the pending states up to a token boundary. */
static void complete_states(survey *s, uint32_t boundary) {
  for (; s->pending < s->next && s->states[s->pending].place <= boundary; s->pending++)
    s->states[s->pending].first = boundary;
}

/* Returns the number of entries of the list and markers. */
static uint32_t list_length(const hp_builder *b) {
  uint32_t length = 0;
  for (uint32_t i = 0; i < b->formatting.count; i++) length += b->formatting.entries[i].node != HP_FORMATTING_TOMBSTONE;
  return length;
}

static void survey_token(void *context, const hp_engine *engine, const hp_token *t, hp_text_state content,
                         uint32_t start) {
  survey *s = context;
  const hp_builder *b = &engine->builder;
  bool boundary = content == HP_TEXT_STATE_DATA && b->mode != HP_IN_TEXT;
  for (; s->next < s->count; s->next++) {
    uint32_t place = s->places[s->next];
    if (place >= t->end && t->kind != HP_TOKEN_EOF) break;
    s->states[s->next] = (hp_true_state){
        .place = place,
        .token = place == start ? place : start,
        .state = state_at(s->text, start, content, place),
        .content = content,
        .raw_name = content == HP_TEXT_STATE_DATA ? 0 : engine->tokenizer.last_start_tag,
        .mode = b->mode,
        .ns = hp_exact_adjusted_current_node(b)->ns,
        .depth = b->stack.depth - hp_tombstones(b),
        .formatting = list_length(b),
    };
  }
  if (boundary) complete_states(s, start);
}

hpar_status hp_true_states(const hp_request *request, const char *fragment, const uint32_t *places, uint32_t count,
                           hp_true_state *states) {
  survey s = {.text = request->text, .states = states, .places = places, .count = count};
  hp_observer observer = {.context = &s, .before = survey_token};
  hpar_status status = hp_observe(request, fragment, &observer);
  if (status != HPAR_OK) return status;
  for (; s.pending < count; s.pending++) states[s.pending].first = (uint32_t)request->length;
  return HPAR_OK;
}
