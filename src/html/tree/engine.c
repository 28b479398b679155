#include "html/tree/engine.h"

#include "base/clock.h"
#include "base/memory.h"
#include "html/tree/construct.h"

#if !HP_SPECULATIVE

void hp_lane_init(hp_lane *lane) { memset(lane, 0, sizeof *lane); }

void hp_lane_open(hp_lane *lane, const hp_task *task) {
  hpar_document *document = task->document;
  hp_arena_open(&lane->nodes, &document->range, &lane->fail);
  hp_arena_open(&lane->bytes, &document->range, &lane->fail);
  hp_interner_open(&lane->interner, &document->atoms, &lane->fail);
  hp_tokenizer_open(&lane->tokenizer, &lane->nodes, &lane->bytes, &lane->interner);
  hp_builder_open(&lane->builder, document, &lane->tokenizer, &lane->fail);
  lane->tokenizer.base = lane->tokenizer.at = task->text;
  lane->tokenizer.end = task->text + task->length;
  lane->tokenizer.last = !task->more;
  lane->tokenizer.foreign = hp_exact_adjusted_current_node_is_foreign;
  lane->tokenizer.context = &lane->builder;
  lane->builder.scripting = task->scripting;
  lane->builder.source_offsets = task->source_offsets;
  lane->builder.tentative = task->tentative;
  lane->errors.count = 0;
  lane->errors.seen = 0;
  lane->errors.limit = task->max_errors;
  lane->errors.fail = &lane->fail;
  lane->tokenizer.errors = lane->builder.errors = task->max_errors ? &lane->errors : NULL;
  lane->tokens = 0;
  const hp_limits *limits = &task->limits;
  lane->limits = *limits;
  lane->until_check = limits->depth || limits->attributes || limits->nodes || limits->deadline ? 1 : UINT64_MAX;
  lane->until_clock = 1;
  if (limits->depth) hp_builder_limit_depth(&lane->builder, limits->depth);
  lane->retry = 0;
}

enum { TOKENS_A_LOOK = 64 };

void hp_lane_look_at_limits(hp_lane *lane) {
  const hp_limits *limits = &lane->limits;
  lane->until_check = 1;
  if (limits->nodes && lane->builder.node_count > limits->nodes) hp_fail_now(&lane->fail, HPAR_LIMIT_NODES);
  if (!limits->deadline || --lane->until_clock) return;
  lane->until_clock = TOKENS_A_LOOK;
  if (hp_now() >= limits->deadline) hp_fail_now(&lane->fail, HPAR_LIMIT_TIME);
}

/* An element that <html> or <body> has given too many. */
static void trim_attributes(hp_lane *lane, hp_ref element) {
  const hp_node *node = node_at(&lane->builder, element);
  if (!node->attributes) return;
  hp_attributes *block = hp_at(lane->builder.base, node->attributes);
  if (block->count <= lane->limits.attributes) return;
  block->count = lane->limits.attributes;
  hp_fail_now(&lane->fail, HPAR_LIMIT_ATTRIBUTES);
}

void hp_lane_take_checked(hp_lane *lane, const hp_token *t) {
  hp_builder *b = &lane->builder;
  uint32_t most = lane->limits.attributes;
  bool start = most && t->kind == HPAR_TOKEN_START_TAG;
  if (start && t->attributes && ((const hp_attributes *)hp_at(b->base, t->attributes))->count > most)
    hp_fail_now(&lane->fail, HPAR_LIMIT_ATTRIBUTES);
  hp_exact_token(b, t);
  if (start && (t->name == HP_HTML || t->name == HP_BODY))
    for (uint32_t i = 1; i <= b->depth && i <= 2; i++) trim_attributes(lane, b->stack[i].node);
  if (t->kind != HPAR_TOKEN_EOF) lane->tokens++;
  hp_lane_check(lane);
}

void hp_lane_close(hp_lane *lane) {
  hp_interner_close(&lane->interner);
  hp_tokenizer_close(&lane->tokenizer);
  hp_builder_close(&lane->builder);
  hp_free(lane->errors.items);
}

#endif
