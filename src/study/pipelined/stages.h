#ifndef HP_STUDY_PIPELINED_STAGES_H
#define HP_STUDY_PIPELINED_STAGES_H

/* The speculative pipeline (HPar 3.2, Figure 4): a second tokenizer runs ahead of the engine's
 * tokenizer. It runs on its own thread or alternates with the tree builder, and passes its tokens
 * through the token buffer (ring.h). Where its state depends on the tree builder, it uses the
 * predictor (predictor.h). The hazard detector (hazard.h) checks each prediction when the tree
 * builder reaches it. After a wrong prediction the tokenizer rolls back to the snapshot, and the
 * tokens in the buffer are dropped.
 *
 * hp_stages_next replaces hp_next_token. Before and after each call, the state of the engine's own
 * tokenizer is the state after the token. The caller may change that state between calls. The
 * exact and the speculative tree builder both run on the pipeline, and the engine is the snapshot.
 *
 * The buffer bounds the tokenizer's lead in tokens, and a window bounds it in bytes. The window
 * shrinks with each rollback and doubles while there is none. A token that does not end in the
 * window is read when all tokens before it are built.
 *
 * Wasted bytes are debited, and each rollback is debited with the bytes that could have been
 * parsed meanwhile. Built bytes are credited. While there is a debt, the tree builder reads with
 * the engine's own tokenizer and does not speculate. For every input of `n` bytes, both tokenizers
 * together read at most 3 n + HP_PIPELINE_SLACK bytes. */

#include "platform/event_count.h"
#include "platform/pool.h"
#include "study/pipelined/config.h"
#include "study/pipelined/hazard.h"
#include "study/pipelined/predictor.h"
#include "study/pipelined/ring.h"
#include "tree/engine.h"

#include <hpar/parse.h>
#include <hpar/study.h>

enum { HP_PIPELINE_SLACK = 256 << 10 };

/* The state from which the tokenizer continues. The self-closing flag needs no state: the tree
 * builder reports tags with an unacknowledged flag. */
typedef struct hp_snapshot {
  const char *at;
  hp_text_state content;
  hp_script_escape escape;
  hp_atom last_start_tag;
  unsigned notes; /* on the "<![CDATA[" of the next token, if known */
  hp_feedback feedback;
  bool halt; /* the tokenizer must stop here */
} hp_snapshot;

typedef struct hp_waits {
  uint64_t count, slept;
  uint64_t nanoseconds; /* without the shortest waits, which are not timed */
} hp_waits;

typedef struct hp_stages { // NOLINT: grouped by the thread that writes
  hp_engine *engine;
  const hp_request *parse_request;
  hp_pipeline_predictor predictor;
  hpar_affinity bind;
  _Atomic bool not_bound; /* the system has refused to bind the tokenizer's thread */
  /* The request's trace has events: the tokenizer is thread 1, the tree builder thread 0. */
  bool has_events;
  bool taking_turns; /* no second thread: the tokenizer runs when the buffer is empty */
  hp_ring ring;
  hp_event_count event_count;

  /* Written by the tokenizer. */
  hp_unwind unwind;
  hp_arena nodes, bytes;
  hp_interner interner;
  hp_tokenizer ahead;
  hp_errors errors;
  hp_feedback feedback;
  unsigned cdata_notes; /* on the token being read */
  unsigned known;       /* verified notes on the token */
  uint32_t met;         /* the last request that the tokenizer answered */
  bool ended;           /* nothing more to read until a rollback */
  bool stopped;         /* nothing to read after a rollback either */
  bool alone;           /* all tokens before the next token are built: its length is unlimited */
  bool has_held;        /* `held` is the next token for the buffer */
  hp_packed held;
  size_t window;
  const char *from, *look; /* start of the window, and the position at which it moves on */
  hp_waits waits;
  uint64_t bytes_dropped, drains;
  const char *began;       /* start of the current run */
  uint64_t bytes_ahead;    /* bytes of earlier runs, with repetitions */
  uint64_t bytes_searched; /* bytes of these in tokens that did not end in the window */

  char apart_1[HP_APART_BYTES];
  /* Written by the tree builder. */
  /* The position after the last token of the buffer; NULL: the tree builder read the last token
   * itself. */
  const char *at;
  hp_text_state content;               /* predicted content state at `at` */
  unsigned notes;                      /* notes on the current token */
  hp_atom name;                        /* name of the current token */
  const struct hp_token_errors *found; /* parse errors of the next token */
  bool stopping;
  bool served; /* a pool thread runs the tokenizer */
  hp_waits builder_waits;
  uint64_t tokens_dropped, rollbacks;
  uint64_t rollbacks_by_scripts;        /* of those */
  uint64_t bytes_dropped_by_scripts;    /* ... and their bytes */
  uint32_t start;                       /* offset of the current token */
  uint32_t dropped;                     /* tokens that the last rollback dropped */
  uint64_t was_dropped, dropped_so_far; /* dropped bytes before and after the last rollback */
  const char *credited;                 /* the position up to which the built bytes are credited */
  int64_t credit;                       /* bytes that the tokenizer may still waste */
  uint64_t debited_bytes;               /* wasted bytes that are debited */
  uint64_t bytes_alone;                 /* bytes that the tree builder read itself */
  bool alone_now;                       /* the tree builder reads tokens itself */
  hp_token own;                         /* the current token */
  uint64_t hazards[HPAR_PIPELINE_HAZARDS], rolled_back[HPAR_PIPELINE_HAZARDS];

  char apart_2[HP_APART_BYTES];
  /* A request to roll back, and its answer. */
  _Atomic uint32_t request; /* incremented after `snapshot` is written */
  char apart_3[HP_APART_BYTES];
  /* The last answered request. Release: `resume` and `wasted_bytes` are written, `snapshot` has
   * been read. */
  _Atomic uint32_t answered;
  uint32_t resume;          /* index of the first new token */
  uint64_t wasted_bytes;    /* until then */
  _Atomic uint32_t drained; /* all tokens before this index are built; release */
  char apart_4[HP_APART_BYTES];
  hp_snapshot snapshot;
} hp_stages;

/* Opens the stages at the position of the engine, which parses the request. Reuses memory of an
 * earlier parse. Requires: the stages are zeroed, or were open before. The tokenizer's memory is
 * part `part` of `parts` of the document's range; parts 0: the whole range. A failure unwinds
 * through the engine. Only the calling thread uses the engine. */
void hp_stages_open(hp_stages *stages, hp_engine *engine, const hp_request *request, const hp_pipeline_config *config,
                    bool taking_turns, unsigned part, unsigned parts);
/* Runs the tokenizer on the calling thread. Returns after hp_stages_stop. */
void hp_stages_serve(hp_stages *stages);
/* Returns the next token, valid until the next call, or HP_TOKEN_NEED_MORE. A failure unwinds
 * through the engine. */
const hp_token *hp_stages_next(hp_stages *stages);
/* Builds all tokens with the exact builder. Replaces hp_stages_next. */
void hp_stages_run(hp_stages *stages);
/* Ends the tokenizer's thread. */
void hp_stages_stop(hp_stages *stages);
/* Adds to the counters. Requires: the thread has returned. */
void hp_stages_count(const hp_stages *stages, hp_pipeline_counters *counters);
void hp_stages_close(hp_stages *stages);

/* Parses the request to its end on `engine`, which is open, with a tokenizer on a pool thread.
 * Without a pool, or with a pool of one thread, the stages alternate. A failure unwinds through
 * the engine. The caller then calls hp_pipeline_abandon. */
void hp_parse_pipelined(hp_stages *stages, hp_pool *pool, hp_engine *engine, const hp_request *request,
                        const hp_pipeline_config *config, hp_pipeline_counters *counters);
void hp_pipeline_abandon(hp_stages *stages, hp_pool *pool);

#endif
