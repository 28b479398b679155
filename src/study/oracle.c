#include "study/choices.h"

#include "base/memory.h"
#include "base/process.h"
#include "dom/tag.h"
#include "tree/engine.h"
#include "tree/stack.h"

#include <hpar/study.h>

typedef struct oracle {
  hp_engine engine;
  hpar_document *document; /* NULL: the oracle has no answer */
  uint64_t nanoseconds;
} oracle;

typedef struct opening {
  hp_engine *engine;
  const hp_request *request;
  const char *fragment;
} opening;

static hpar_status open_engine(void *argument) {
  const opening *of = argument;
  hp_engine *engine = of->engine;
  hp_engine_open(engine, of->request);
  if (!of->fragment) return HPAR_OK;
  if (!hp_builder_parse_context(&engine->builder, of->fragment)) return HPAR_ERROR_ARGUMENT;
  hp_exact_begin_fragment(&engine->builder);
  return HPAR_OK;
}

static void *open_oracle(const hp_request *request, const char *fragment) {
  uint64_t begin = hp_now();
  oracle *o = hp_allocate_zeroed(sizeof *o);
  if (!o) return NULL;
  hp_engine_init(&o->engine);
  if (hpar_document_create(&o->document)) o->document = NULL;
  if (o->document && hp_document_open(o->document, false, request->length)) {
    hpar_document_destroy(o->document);
    o->document = NULL;
  }
  hp_request own = {.document = o->document,
                    .text = request->text,
                    .length = request->length,
                    .more = true,
                    .scripting = request->scripting};
  opening of = {&o->engine, &own, fragment};
  if (o->document && hp_try(&o->engine.unwind, open_engine, &of) != HPAR_OK) {
    hpar_document_destroy(o->document);
    o->document = NULL;
  }
  o->nanoseconds = hp_now() - begin;
  return o;
}

static void close_oracle(void *opened) {
  oracle *o = opened;
  hp_engine_close(&o->engine);
  hpar_document_destroy(o->document);
  hp_free(o);
}

static uint32_t position(const oracle *o) { return (uint32_t)(o->engine.tokenizer.at - o->engine.tokenizer.base); }

/* Ignores the end of the input, so that the open elements stay. */
static void build(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  if (token->kind != HP_TOKEN_EOF) hp_exact_token(&engine->builder, token);
}

static bool is_boundary(const hp_engine *engine, void *context) {
  const uint32_t *cut = context;
  const hp_tokenizer *t = &engine->tokenizer;
  return t->at >= t->base + *cut && t->content == HP_TEXT_STATE_DATA && engine->builder.mode != HP_IN_TEXT;
}

/* Parses until the first token boundary at or after `cut` in the data state. Returns false if more
 * input must come first, or if the text ends. */
static bool parse_to(oracle *o, uint32_t cut) {
  hp_loop_parts parts = {.next = hp_loop_next, .build = build, .stops = is_boundary};
  return hp_loop_run(&o->engine, parts, &cut) == HP_LOOP_STOPPED;
}

typedef struct search {
  oracle *oracle;
  uint32_t cut;
  bool found;
} search;

static hpar_status run_search(void *argument) {
  search *search = argument;
  search->found = parse_to(search->oracle, search->cut);
  return HPAR_OK;
}

/* Calls parse_to. Gives the oracle up if memory is short. */
static bool walk_to(oracle *o, uint32_t cut) {
  search search = {o, cut, false};
  if (hp_try(&o->engine.unwind, run_search, &search) == HPAR_OK) return search.found;
  hpar_document_destroy(o->document);
  o->document = NULL;
  return false;
}

static uint8_t namespace_of(const hp_open_element *e) {
  bool integration = e->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION);
  return integration || e->ns == HPAR_NAMESPACE_NONE ? HPAR_NAMESPACE_HTML : e->ns;
}

static uint8_t start_mode(const hp_builder *b) {
  switch (b->mode) {
    case HP_IN_CELL:
    case HP_IN_CAPTION:
    case HP_IN_TEMPLATE:
    case HP_IN_TEXT: return HP_IN_BODY;
    case HP_IN_TABLE:
    case HP_IN_TABLE_BODY:
    case HP_IN_ROW: return b->stack.top->tag & HP_TAG_TABLE_CONTEXT ? b->mode : HP_IN_BODY;
    default: return b->mode;
  }
}

static bool find_state(void *opened, uint32_t cut, size_t come, bool last, hp_start_state *state) {
  oracle *o = opened;
  if (!o->document) return false;
  uint64_t begin = hp_now();
  hp_builder *b = &o->engine.builder;
  o->engine.tokenizer.end = o->engine.tokenizer.base + come;
  o->engine.tokenizer.last = last;
  bool known = walk_to(o, cut);
  if (known) {
    *state = (hp_start_state){.ns = namespace_of(hp_exact_adjusted_current_node(b)),
                              .outer_ns = HPAR_NAMESPACE_HTML,
                              .mode = start_mode(b),
                              .first = position(o)};
    uint32_t i = b->stack.depth;
    while (i > 0 && namespace_of(&b->stack.entries[i]) == state->ns && b->stack.entries[i].name != HP_ATOM_SVG &&
           b->stack.entries[i].name != HP_ATOM_MATH)
      i--;
    if (i > 1) state->outer_ns = namespace_of(&b->stack.entries[index_below(&b->stack, i)]);
  }
  o->nanoseconds += hp_now() - begin;
  return known;
}

static uint64_t nanoseconds(const void *opened) {
  const oracle *o = opened;
  return o->nanoseconds;
}

const hp_truth hp_oracle = {.open = open_oracle, .at = find_state, .nanoseconds = nanoseconds, .close = close_oracle};
