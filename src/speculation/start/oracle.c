#include "speculation/start/oracle.h"

#include "base/clock.h"
#include "base/memory.h"
#include "html/dom/tag.h"

static bool open_lane(hp_oracle *o, const hp_task *task, const char *fragment) {
  hp_lane *lane = &o->lane;
  if (setjmp(lane->fail.frame)) return false;
  hp_lane_open(lane, task);
  if (!fragment) return true;
  if (!hp_builder_parse_context(&lane->builder, fragment)) return false;
  hp_exact_begin_fragment(&lane->builder);
  return true;
}

hp_oracle *hp_oracle_open(const hp_task *task, const char *fragment) {
  uint64_t begin = hp_now();
  hp_oracle *o = hp_allocate_zeroed(sizeof *o);
  if (!o) return NULL;
  hp_lane_init(&o->lane);
  if (hpar_document_create(&o->document)) o->document = NULL;
  if (o->document && hp_document_reset(o->document)) {
    hpar_document_destroy(o->document);
    o->document = NULL;
  }
  hp_task own = {
      .document = o->document, .text = task->text, .length = task->length, .more = true, .scripting = task->scripting};
  if (o->document && !open_lane(o, &own, fragment)) {
    hpar_document_destroy(o->document);
    o->document = NULL;
  }
  o->nanoseconds = hp_now() - begin;
  return o;
}

void hp_oracle_close(hp_oracle *o) {
  if (!o) return;
  hp_lane_close(&o->lane);
  hpar_document_destroy(o->document);
  hp_free(o);
}

static uint32_t position(const hp_oracle *o) { return (uint32_t)(o->lane.tokenizer.at - o->lane.tokenizer.base); }

/* Not to be inlined where setjmp is. False: more must come, or the text ends. */
static __attribute__((noinline)) bool walk(hp_oracle *o, uint32_t cut) {
  hp_lane *lane = &o->lane;
  hp_token token;
  while (position(o) < cut || lane->tokenizer.content != HP_CONTENT_DATA || lane->builder.mode == HP_IN_TEXT) {
    if (!hp_lane_next(lane, &token) || token.kind == HPAR_TOKEN_EOF) return false;
    hp_exact_token(&lane->builder, &token);
  }
  return true;
}

static bool walk_to(hp_oracle *o, uint32_t cut) {
  if (setjmp(o->lane.fail.frame)) {
    hpar_document_destroy(o->document);
    o->document = NULL;
    return false;
  }
  return walk(o, cut);
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
    case HP_IN_ROW: return b->top->tag & HP_TAG_TABLE_CONTEXT ? b->mode : HP_IN_BODY;
    default: return b->mode;
  }
}

bool hp_oracle_at(hp_oracle *o, uint32_t cut, size_t come, bool last, hp_start_state *state) {
  if (!o->document) return false;
  uint64_t begin = hp_now();
  hp_builder *b = &o->lane.builder;
  o->lane.tokenizer.end = o->lane.tokenizer.base + come;
  o->lane.tokenizer.last = last;
  bool known = walk_to(o, cut);
  if (known) {
    *state = (hp_start_state){.ns = namespace_of(hp_adjusted_current_node(b)),
                              .outer_ns = HPAR_NAMESPACE_HTML,
                              .mode = start_mode(b),
                              .first = position(o)};
    uint32_t i = b->depth;
    while (i > 0 && namespace_of(&b->stack[i]) == state->ns && b->stack[i].name != HP_SVG &&
           b->stack[i].name != HP_MATH)
      i--;
    if (i > 1) state->outer_ns = namespace_of(&b->stack[i - 1]);
  }
  o->nanoseconds += hp_now() - begin;
  return known;
}
