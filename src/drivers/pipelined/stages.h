#ifndef HP_DRIVERS_PIPELINED_STAGES_H
#define HP_DRIVERS_PIPELINED_STAGES_H

/* The speculative pipeline (HPar 3.2, Figure 4): a second tokenizer that runs ahead of a engine's,
 * on a thread of its own or taking turns, and hands its tokens over through the token buffer
 * (ring.h). Where it cannot know how to go on it asks the predictor (predictor.h); the hazard
 * detector (hazard.h) looks at each of these answers when the tree builder has come there; where
 * one was wrong the tokenizer rolls back to the snapshot, and what the buffer holds is dropped.
 *
 * To its user hp_stages_next is hp_next_token: the engine's own tokenizer stands, before and after
 * each call, as if it had read the token, and may be set to go on elsewhere or otherwise between
 * calls. So the same tree builders, exact and speculative, run on it, and the engine is the
 * snapshot.
 *
 * How far it may be ahead is bounded in tokens by the buffer, and in bytes by a window that shrinks
 * with each rollback and is doubled while there is none: a token that does not end in it is read
 * when everything before it is built.
 *
 * What speculation costs is charged: each byte that was read in vain, and for each rollback as many
 * as could have been parsed meanwhile. Each byte that is built pays for one. While there is a debt
 * the tree builder reads by itself, on the engine's own tokenizer, and nothing is speculated. So,
 * whatever the input is, with `n` bytes of it no more than 3 n + HP_PIPELINE_SLACK are read, by
 * both together. */

#include "drivers/pipelined/config.h"
#include "drivers/pipelined/hazard.h"
#include "drivers/pipelined/predictor.h"
#include "drivers/pipelined/ring.h"
#include "html/tree/engine.h"
#include "platform/event_count.h"
#include "platform/pool.h"

#include <hpar/parse.h>

/* From where the tokenizer is to go on. Of the self-closing flag nothing is left to be done: the
 * tree builder, not the tokenizer, reports tags whose flag nobody has acknowledged. */
enum { HP_PIPELINE_SLACK = 256 << 10 };

typedef struct hp_snapshot {
  const char *at;
  hp_content content;
  hp_atom last_start_tag;
  unsigned notes; /* on the next token's "<![CDATA[", where they are known */
  hp_feedback feedback;
  bool halt; /* it is not to go on */
} hp_snapshot;

typedef struct hp_stages { // NOLINT: grouped by the thread that writes
  hp_engine *engine;
  const hp_request *task;
  hp_pipeline_predictor predictor;
  hpar_affinity bind;
  bool has_events;   /* in the task's record: the tokenizer is thread 1, the tree builder thread 0 */
  bool taking_turns; /* no second thread: the tokenizer runs when the buffer is empty */
  hp_ring ring;
  hp_event_count parking;

  /* The tokenizer's. */
  hp_unwind unwind;
  hp_range part; /* of the document's range, for its use alone; base NULL: there is none */
  hp_arena nodes, bytes;
  hp_interner interner;
  hp_tokenizer ahead;
  hp_errors errors;
  hp_feedback feedback;
  unsigned asked; /* notes on the token being read */
  unsigned known; /* notes that are known to be right for it */
  uint32_t met;   /* the request that was answered last */
  bool ended;     /* nothing more to read until a rollback */
  bool stopped;   /* nor after one */
  bool alone;     /* everything before the next token is built: it may be as long as it wants */
  bool has_held;  /* `held` is to be put next */
  hp_packed held;
  size_t window;
  const char *from, *look; /* where the window begins, and from where it is to be moved on */
  hp_waits waits;
  uint64_t bytes_dropped, drains;
  const char *began;       /* where it was told to go on last */
  uint64_t bytes_ahead;    /* read, each time that they were, but for those since then */
  uint64_t bytes_searched; /* of those, in tokens that did not end in the window */

  char apart_1[HP_APART_BYTES];
  /* The tree builder's. */
  const char *at;               /* of the engine, as it was left; NULL: the tree builder has read by itself */
  hp_content content;           /* likewise, as predicted */
  unsigned notes;               /* on the token that is being built */
  hp_atom name;                 /* its */
  const struct hp_found *found; /* parse errors of the token to come */
  bool stopping;
  bool served; /* a thread of a pool is at it */
  hp_waits builder_waits;
  uint64_t tokens_dropped, rollbacks;
  uint32_t start;                       /* of the token that is being built */
  uint32_t dropped;                     /* tokens, by the last rollback */
  uint64_t was_dropped, dropped_so_far; /* bytes before it, and with it */
  const char *paid;                     /* what is built up to here has paid */
  int64_t credit;                       /* bytes that may yet be read in vain */
  uint64_t charged;                     /* bytes read in vain that were paid for */
  uint64_t bytes_alone;                 /* read by the tree builder itself */
  bool alone_now;                       /* it does */
  hp_token own;                         /* the token that is being built */
  uint64_t hazards[HPAR_PIPELINE_HAZARDS], rolled_back[HPAR_PIPELINE_HAZARDS];

  char apart_2[HP_APART_BYTES];
  /* A request to roll back, and its answer. */
  _Atomic uint32_t request; /* raised when `snapshot` is written */
  char apart_3[HP_APART_BYTES];
  /* The request that was met; release: `resume` and `in_vain` are written, `snapshot` has been
   * read. */
  _Atomic uint32_t answered;
  uint32_t resume;          /* the index at which new tokens begin */
  uint64_t in_vain;         /* bytes read so, up to then */
  _Atomic uint32_t drained; /* the index up to which all is built; release */
  char apart_4[HP_APART_BYTES];
  hp_snapshot snapshot;
} hp_stages;

/* Zeros are stages that are not open. Opens them where the engine stands, whose task it is; memory
 * from an earlier use is kept. The tokenizer's memory is part `part` of `parts` that the document's
 * range is divided in; 0: not. Unwinds through the engine. The engine keeps being used by the
 * calling thread only. */
void hp_stages_open(hp_stages *stages, hp_engine *engine, const hp_request *task, const hp_pipeline_config *config,
                    bool taking_turns, unsigned part, unsigned parts);
/* The tokenizer's thread: returns after hp_stages_stop. */
void hp_stages_serve(hp_stages *stages);
/* The next token, which stays until the next call: or HP_TOKEN_NEED_MORE. Unwinds through the
 * engine. */
const hp_token *hp_stages_next(hp_stages *stages);
/* All tokens there are, for the exact builder; in place of hp_stages_next. */
void hp_stages_run(hp_stages *stages);
/* Nothing more will be asked for. */
void hp_stages_stop(hp_stages *stages);
/* Adds to the counters. Requires: the thread has returned. */
void hp_stages_count(const hp_stages *stages, hp_pipeline_counters *counters);
void hp_stages_close(hp_stages *stages);

/* Parses the task to its end on `engine`, which is open, with a tokenizer on a thread of the pool;
 * NULL, and pools of one, take turns. Unwinds through the engine; then hp_pipeline_abandon is to be
 * called. */
void hp_parse_pipelined(hp_stages *stages, hp_pool *pool, hp_engine *engine, const hp_request *task,
                        const hp_pipeline_config *config, hp_pipeline_counters *counters);
void hp_pipeline_abandon(hp_stages *stages, hp_pool *pool);

#endif
