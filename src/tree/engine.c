#include "tree/engine.h"

#include "base/memory.h"
#include "base/process.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

void hp_engine_init(hp_engine *engine) { memset(engine, 0, sizeof *engine); }

void hp_engine_open(hp_engine *engine, const hp_request *request) {
  hpar_document *document = request->document;
  hp_arena_open(&engine->nodes, &document->range, &engine->unwind);
  hp_arena_open(&engine->bytes, &document->range, &engine->unwind);
  hp_interner_open(&engine->interner, &document->atoms, &engine->unwind);
  hp_tokenizer_open(&engine->tokenizer, &engine->nodes, &engine->bytes, &engine->interner);
  hp_builder_open(&engine->builder, document, &engine->tokenizer, &engine->unwind);
  const char *text = request->text ? request->text : ""; /* an empty input may have no bytes */
  engine->tokenizer.base = engine->tokenizer.at = text;
  engine->tokenizer.end = text + request->length;
  engine->tokenizer.last = !request->more;
  if (request->decodes_values) engine->tokenizer.may_defer = false;
  hp_tokenizer_ask_foreign(&engine->tokenizer, hp_exact_adjusted_current_node_is_foreign, &engine->builder);
  engine->builder.script.scripting = request->scripting;
  engine->builder.flags.source_offsets = request->source_offsets;
  engine->builder.encoding.tentative = request->tentative;
  hp_errors_open(&engine->errors, request->max_errors, &engine->unwind);
  hp_engine_report_errors(engine, request->max_errors ? &engine->errors : NULL);
  hp_builder_set_listener(&engine->builder, request->listener);
  engine->tokens = 0;
  const hp_limits *limits = &request->limits;
  engine->limits = *limits;
  engine->until_check = limits->depth || limits->attributes || limits->nodes || limits->deadline ? 1 : UINT64_MAX;
  engine->until_clock = 1;
  engine->builder.clock.deadline = limits->deadline;
  if (limits->depth) hp_stack_limit_depth(&engine->builder.stack, limits->depth);
  engine->retry = 0;
}

void hp_engine_open_inner(hp_engine *inner, hp_engine *outer, hpar_document *document, const char *text,
                          size_t length) {
  hp_tokenizer *t = &inner->tokenizer;
  hp_builder *b = &inner->builder;
  hp_tokenizer_open(t, &outer->nodes, &outer->bytes, &outer->interner);
  hp_builder_open(b, document, t, &outer->unwind);
  t->base = t->at = text;
  hp_tokenizer_extend(t, length, true);
  t->may_defer = false;
  hp_tokenizer_ask_foreign(t, hp_exact_adjusted_current_node_is_foreign, b);
  b->script.scripting = outer->builder.script.scripting;
  b->clock.deadline = outer->limits.deadline;
  if (outer->limits.depth) hp_stack_limit_depth(&b->stack, outer->limits.depth);
}

hp_outcome hp_engine_try(hp_engine *engine, hp_try_fn function, void *argument, hpar_status *status) {
  engine->builder.encoding.restarts = false;
  *status = hp_try(&engine->unwind, function, argument);
  if (*status != HPAR_OK) return HP_OUTCOME_FAILED;
  return engine->builder.encoding.restarts ? HP_OUTCOME_RESTART : HP_OUTCOME_DONE;
}

enum { TOKENS_A_LOOK = 64 };

void hp_engine_look_at_limits(hp_engine *engine) {
  const hp_limits *limits = &engine->limits;
  engine->until_check = 1;
  if (limits->nodes && engine->builder.node_count > limits->nodes) hp_unwind_now(&engine->unwind, HPAR_LIMIT_NODES);
  if (!limits->deadline || --engine->until_clock) return;
  engine->until_clock = TOKENS_A_LOOK;
  if (hp_now() >= limits->deadline) hp_unwind_now(&engine->unwind, HPAR_LIMIT_TIME);
}

/* Truncates the attributes of an element and unwinds if later <html> or <body> tags have added too
 * many. */
static void trim_attributes(hp_engine *engine, hp_ref element) {
  const hp_node *node = node_at(&engine->builder, element);
  if (!node->attributes) return;
  hp_attributes *block = hp_at(engine->builder.base, node->attributes);
  if (block->count <= engine->limits.attributes) return;
  block->count = engine->limits.attributes;
  hp_unwind_now(&engine->unwind, HPAR_LIMIT_ATTRIBUTES);
}

void hp_engine_build_limited(hp_engine *engine, const hp_token *t) {
  hp_builder *b = &engine->builder;
  uint32_t most = engine->limits.attributes;
  bool start = most && t->kind == HP_TOKEN_START_TAG;
  if (start && t->attributes && ((const hp_attributes *)hp_at(b->base, t->attributes))->count > most)
    hp_unwind_now(&engine->unwind, HPAR_LIMIT_ATTRIBUTES);
  hp_exact_token(b, t);
  if (start && (t->name == HP_ATOM_HTML || t->name == HP_ATOM_BODY))
    for (uint32_t i = 1; i <= b->stack.depth && i <= 2; i++)
      if (b->stack.entries[i].node) trim_attributes(engine, b->stack.entries[i].node);
}

static uint64_t mix(uint64_t hash, uint64_t value) { return hp_hash_mix(hash ^ value); }

uint64_t hp_engine_hash(const hp_engine *engine) {
  enum { MAX_ENTRIES = 64 };
  const hp_builder *b = &engine->builder;
  uint64_t hash = mix(0, (uintptr_t)engine->tokenizer.at);
  hash = mix(hash, (uint64_t)engine->tokenizer.content << 32 | b->mode);
  hash = mix(hash, (uint64_t)b->flags.frameset_ok << 32 | b->flags.ignore_lf);
  hash = mix(hash, (uint64_t)b->pointers.form << 32 | b->pointers.head);
  hash = mix(hash, (uint64_t)b->stack.depth << 32 | b->stack.tombstones);
  hash = mix(hash, (uint64_t)b->formatting.count << 32 | b->templates.count);
  for (uint32_t i = 0; i < b->stack.depth && i < MAX_ENTRIES; i++)
    hash = mix(hash, b->stack.entries[b->stack.depth - i].node);
  for (uint32_t i = 1; i <= b->formatting.count && i <= MAX_ENTRIES; i++)
    hash = mix(hash, b->formatting.entries[b->formatting.count - i].node);
  for (uint32_t i = 1; i <= b->templates.count && i <= MAX_ENTRIES; i++)
    hash = mix(hash, b->templates.modes[b->templates.count - i]);
  return hash;
}

void hp_engine_begin_raw_text(hp_engine *engine) {
  hp_builder *b = &engine->builder;
  hp_atom name = current(b)->name;
  b->original_mode = b->mode;
  b->mode = HP_IN_TEXT;
  hp_tokenizer_begin_raw_text(&engine->tokenizer, hp_text_state_of(name, b->script.scripting), name);
}

void hp_engine_close(hp_engine *engine) {
  hp_interner_close(&engine->interner);
  hp_tokenizer_close(&engine->tokenizer);
  hp_builder_close(&engine->builder);
  hp_free(engine->errors.items);
}
