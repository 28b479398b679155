#ifndef HP_TREE_ENGINE_LOOP_H
#define HP_TREE_ENGINE_LOOP_H

/* The engine loop: takes tokens from a source and gives each one to a builder. All drivers that
 * parse exactly instantiate this loop. The members of hp_loop_parts are constants at each call and
 * the loop is always inlined, so the compiler removes unused parts and inlines the others. */

#include "tree/engine.h"

typedef struct hp_loop_parts { // value
  /* Returns the kind of the next token, or HP_TOKEN_NEED_MORE. Writes the token to `*token`, or
   * sets `*token` to a token of the source. */
  int (*next)(hp_engine *engine, hp_token **token, void *context);
  void (*build)(hp_engine *engine, const hp_token *token, void *context);
  bool (*stops)(const hp_engine *engine, void *context); /* before each token; NULL: never */
  bool is_complete;                                      /* no HP_TOKEN_NEED_MORE from `next` */
  bool checks_limits;                                    /* after each token */
  bool counts_nothing;                                   /* engine->tokens stays as it is */
} hp_loop_parts;

#define HP_LOOP static inline __attribute__((always_inline))

/* Takes the token from the engine's tokenizer. */
HP_LOOP int hp_loop_next(hp_engine *engine, hp_token **token, void *context) {
  (void)context;
  return hp_next_token_inside(&engine->tokenizer, *token, engine->builder.stack.top->name);
}

/* Gives the token to the exact builder. */
HP_LOOP void hp_loop_build(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_exact_token(&engine->builder, token);
}

/* Processes one token. Adds it to `*tokens`. */
HP_LOOP hp_loop_end hp_loop_step(hp_engine *engine, hp_loop_parts parts, void *context, uint64_t *tokens) {
  hp_token room, *token = &room;
  if (parts.stops && parts.stops(engine, context)) return HP_LOOP_STOPPED;
  int kind = parts.next(engine, &token, context);
  if (!parts.is_complete && __builtin_expect(kind == HP_TOKEN_NEED_MORE, 0)) {
    engine->retry = hp_retry(&engine->tokenizer);
    return HP_LOOP_NEEDS_INPUT;
  }
  if (kind == HP_TOKEN_EOF) {
    parts.build(engine, token, context);
    if (parts.checks_limits) hp_engine_check(engine);
    return HP_LOOP_ENDED;
  }
  if (!parts.counts_nothing) ++*tokens;
  parts.build(engine, token, context);
  if (parts.checks_limits) hp_engine_check(engine);
  return HP_LOOP_GOES_ON;
}

/* Processes tokens until the loop ends, and returns why it ended. */
HP_LOOP hp_loop_end hp_loop_run(hp_engine *engine, hp_loop_parts parts, void *context) {
  hp_loop_end end;
  uint64_t tokens = 0, *counter = parts.checks_limits ? &engine->tokens : &tokens;
  if (!parts.is_complete && hp_engine_awaits_input(engine)) return HP_LOOP_NEEDS_INPUT;
  do end = hp_loop_step(engine, parts, context, counter);
  while (end == HP_LOOP_GOES_ON);
  engine->tokens += tokens;
  return end;
}

#endif
