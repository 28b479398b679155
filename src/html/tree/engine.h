#ifndef HP_HTML_TREE_ENGINE_H
#define HP_HTML_TREE_ENGINE_H

/* A tokenizer and a tree builder that belong together, with the memory that they share: what one
 * thread needs to parse. The sequential parser is one engine; the parallel one has a engine for the
 * true state and one for each worker. A engine is big and stays where it is. */

#include "html/tree/builder.h"
#include "trace/record.h"

/* Limits of a parse, or 0. */
typedef struct hp_limits {
  uint32_t depth;
  uint32_t attributes;
  uint64_t nodes;
  uint64_t deadline; /* by hp_now */
} hp_limits;

typedef struct hp_engine {
  hp_unwind unwind;
  hp_arena nodes, bytes;
  hp_interner interner;
  hp_tokenizer tokenizer;
  hp_builder builder;
  hp_errors errors;
  uint64_t tokens;
  uint64_t until_check; /* tokens before the limits are looked at: one, or more than there can be */
  unsigned until_clock; /* ... and the clock is */
  hp_limits limits;
  size_t retry; /* bytes of input without which the next token is known to be incomplete */
} hp_engine;

/* What every engine of one parse has in common. */
typedef struct hp_request {
  hpar_document *document;
  const char *text; /* valid UTF-8, stays in place */
  size_t length;
  bool more; /* the input does not end with the text */
  bool scripting, source_offsets;
  uint64_t max_errors;          /* 0: nobody asks */
  hp_record *record;            /* NULL: no record */
  const hp_encoding *tentative; /* of the text, if a meta element may change it; else NULL */
  hp_limits limits;
} hp_request;

void hp_engine_init(hp_engine *engine); /* a engine of zeros is not open, but may be closed */
/* Ready at the beginning of the text. Unwinds through engine->unwind, whose frame the caller has set.
 */
void hp_engine_open(hp_engine *engine, const hp_request *task);
void hp_engine_close(hp_engine *engine);

/* After a token: unwinds where there are too many nodes, or it is too late. */
void hp_engine_look_at_limits(hp_engine *engine);
static inline void hp_engine_check(hp_engine *engine) {
  if (--engine->until_check == 0) hp_engine_look_at_limits(engine);
}
/* For the sequential parser, where there are limits: a token with its checks. */
static inline bool hp_engine_is_limited(const hp_engine *engine) { return engine->until_check == 1; }
void hp_engine_take_checked(hp_engine *engine, const hp_token *token);

/* A token that was incomplete is tried again when half as much again has come of it, so that the
 * whole stays linear. */
static inline size_t hp_retry(const hp_tokenizer *t) {
  return (size_t)(t->end - t->base) + (size_t)(t->end - t->at) / 2 + 16;
}

/* The next token; false if the input that has come does not complete it, or is known not to. */
static inline bool hp_engine_next(hp_engine *engine, hp_token *token) {
  hp_tokenizer *t = &engine->tokenizer;
  size_t come = (size_t)(t->end - t->base);
  if (come < engine->retry && !t->last) return false;
  if (hp_next_token(t, token) != HP_TOKEN_NEED_MORE) return true;
  engine->retry = hp_retry(t);
  return false;
}

#endif
