#ifndef HP_TREE_ENGINE_H
#define HP_TREE_ENGINE_H

/* A tokenizer and a tree builder that belong together, with the memory that they share: what one
 * thread needs to parse. The sequential parser is one engine; the parallel one has an engine for
 * the true state and one for each worker. An engine is big and stays where it is. */

#include "base/error.h"
#include "base/target.h"
#include "tree/builder.h"

/* Limits of a parse, or 0. */
typedef struct hp_limits { // value
  uint32_t depth;
  uint32_t attributes;
  uint64_t nodes;
  uint64_t deadline; /* by hp_now */
} hp_limits;

typedef struct hp_engine { // value
  hp_unwind unwind;
  hp_arena nodes, bytes;
  hp_interner interner;
  hp_tokenizer tokenizer;
  hp_builder builder;
  hp_errors errors;
  uint64_t tokens;
  uint64_t until_check; /* tokens until the next check of limits: 1 with limits, else UINT64_MAX */
  unsigned until_clock; /* ... and the clock is */
  hp_limits limits;
  size_t retry; /* bytes of input without which the next token is known to be incomplete */
} hp_engine;

/* What every engine of one parse has in common. */
typedef struct hp_request { // value
  hpar_document *document;
  const char *text; /* valid UTF-8, stays in place */
  size_t length;
  bool more; /* the input does not end with the text */
  bool scripting, source_offsets;
  bool runs_scripts;            /* the exact builder runs scripts */
  bool decodes_values;          /* at once, instead of on access */
  uint64_t max_errors;          /* 0: errors are not requested */
  hp_trace *trace;              /* NULL: no trace */
  hp_tag_listener *listener;    /* of the exact builder; NULL: none */
  const hp_encoding *tentative; /* of the text, if a meta element may change it; else NULL */
  hp_limits limits;
} hp_request;

/* An engine of zeros is not open, but may be closed. */
HP_SHARED void hp_engine_init(hp_engine *engine);
/* Ready at the beginning of the text. Unwinds through engine->unwind, whose frame the caller has
 * set. */
HP_SHARED void hp_engine_open(hp_engine *engine, const hp_request *request);
HP_SHARED void hp_engine_close(hp_engine *engine);

/* After a token: unwinds where there are too many nodes, or it is too late. */
HP_SHARED void hp_engine_look_at_limits(hp_engine *engine);
static inline void hp_engine_check(hp_engine *engine) {
  if (--engine->until_check == 0) hp_engine_look_at_limits(engine);
}
/* Returns true if the request has limits. */
static inline bool hp_engine_is_limited(const hp_engine *engine) { return engine->until_check == 1; }
/* Gives the token to the exact builder and unwinds if it exceeds the limit of attributes. */
void hp_engine_build_limited(hp_engine *engine, const hp_token *token);

/* Returns the length of input at which an incomplete token is worth another attempt: half as much
 * of the token again. All attempts together are linear. */
static inline size_t hp_retry(const hp_tokenizer *t) {
  return (size_t)(t->end - t->base) + (size_t)(t->end - t->at) / 2 + 16;
}

/* Returns true if the available input cannot complete the next token. */
static inline bool hp_engine_awaits_input(const hp_engine *engine) {
  const hp_tokenizer *t = &engine->tokenizer;
  return (size_t)(t->end - t->base) < engine->retry && !t->last;
}

/* Returns a hash of the state in which the engine reads the page: of the position, the modes and
 * pointers, and the 64 last entries of the stack and of the list. */
uint64_t hp_engine_hash(const hp_engine *engine);

/* Sets the list that the tokenizer and the builder report errors to; NULL: none. */
static inline void hp_engine_report_errors(hp_engine *engine, hp_errors *errors) {
  engine->builder.observers.errors = errors;
  hp_tokenizer_report_errors(&engine->tokenizer, errors);
}
/* Opens the tokenizer and the builder of an engine that parses a fragment of the document with the
 * memory of another engine. */
void hp_engine_open_inner(hp_engine *inner, hp_engine *outer, hpar_document *document, const char *text, size_t length);

/* Continues in the raw text of the current node. */
void hp_engine_begin_raw_text(hp_engine *engine);

/* How a part of a parse ended. */
typedef enum hp_outcome {
  HP_OUTCOME_DONE,
  HP_OUTCOME_RESTART, /* a meta element declares another encoding: decode and parse again */
  HP_OUTCOME_FAILED
} hp_outcome;

/* Calls hp_try with the unwind of the engine. Writes the status, which is HPAR_OK unless the part
 * failed. */
hp_outcome hp_engine_try(hp_engine *engine, hp_try_fn function, void *argument, hpar_status *status);

/* Why an engine loop ended. */
typedef enum hp_loop_end {
  HP_LOOP_GOES_ON,     /* it did not */
  HP_LOOP_STOPPED,     /* by its own condition */
  HP_LOOP_NEEDS_INPUT, /* the input that is there does not complete the next token */
  HP_LOOP_ENDED        /* the builder processed the end of the input */
} hp_loop_end;

/* Parses the tokens that begin before `near`, as fast as possible. Requires: all input is there,
 * and the request has no limits. */
#define HP_TO_END ((const char *)UINTPTR_MAX)
HP_SHARED hp_loop_end hp_engine_run_fast(hp_engine *engine, const char *near);

/* Parses all complete tokens, as fast as possible. Requires: the request has no limits. */
hp_loop_end hp_engine_run_available(hp_engine *engine);

/* The engine loop: takes tokens from a source and gives each one to a builder. Drivers and studies
 * instantiate this loop for each source; run_fast in exact.inc is the loop without a source. The
 * members of hp_loop_parts are constants at each call and the loop is always inlined, so the
 * compiler removes unused parts and inlines the others. */

typedef struct hp_loop_parts { // value
  /* Returns the kind of the next token, or HP_TOKEN_NEED_MORE. Writes the token to `*token`, or
   * sets `*token` to a token of the source. */
  int (*next)(hp_engine *engine, hp_token **token, void *context);
  void (*build)(hp_engine *engine, const hp_token *token, void *context);
  bool (*stops)(const hp_engine *engine, void *context); /* before each token; NULL: never */
  bool checks_limits;                                    /* after each token */
} hp_loop_parts;

#define HP_LOOP static inline __attribute__((always_inline))

/* Takes the token from the engine's tokenizer. */
HP_LOOP int hp_loop_next(hp_engine *engine, hp_token **token, void *context) {
  (void)context;
  return hp_next_token_inside(&engine->tokenizer, *token, engine->builder.stack.top->name);
}

/* Processes one token. Adds it to `*tokens`. */
HP_LOOP hp_loop_end hp_loop_step(hp_engine *engine, hp_loop_parts parts, void *context, uint64_t *tokens) {
  hp_token room, *token = &room;
  if (parts.stops && parts.stops(engine, context)) return HP_LOOP_STOPPED;
  int kind = parts.next(engine, &token, context);
  if (__builtin_expect(kind == HP_TOKEN_NEED_MORE, 0)) {
    engine->retry = hp_retry(&engine->tokenizer);
    return HP_LOOP_NEEDS_INPUT;
  }
  if (kind == HP_TOKEN_EOF) {
    parts.build(engine, token, context);
    if (parts.checks_limits) hp_engine_check(engine);
    return HP_LOOP_ENDED;
  }
  parts.build(engine, token, context);
  ++*tokens; /* not if a limit ends the parse in the token */
  if (parts.checks_limits) hp_engine_check(engine);
  return HP_LOOP_GOES_ON;
}

/* Processes tokens until the loop ends, and returns why it ended. */
HP_LOOP hp_loop_end hp_loop_run(hp_engine *engine, hp_loop_parts parts, void *context) {
  hp_loop_end end;
  uint64_t tokens = 0, *counter = parts.checks_limits ? &engine->tokens : &tokens;
  if (hp_engine_awaits_input(engine)) return HP_LOOP_NEEDS_INPUT;
  do end = hp_loop_step(engine, parts, context, counter);
  while (end == HP_LOOP_GOES_ON);
  engine->tokens += tokens;
  return end;
}

#endif
