#ifndef HP_SPECULATION_WORKER_WORKER_H
#define HP_SPECULATION_WORKER_WORKER_H

/* A worker parses a chunk that it knows nothing about but its bytes, on top of BASE, and writes the log. */

#include "drivers/pipelined/stages.h"
#include "html/tree/engine.h"
#include "speculation/log.h"
#include "speculation/strategies/strategy.h"

/* What becomes of a token. To prepare is to let the merger do on the true state what the token does before it
 * inserts anything - close a p, an li, reconstruct formatting - so that afterwards the default answers hold; each
 * question is prepared for once in a chunk. */
typedef enum hp_disposition { HP_DISPOSITION_LOCAL, HP_DISPOSITION_DEFER, HP_DISPOSITION_SPLIT } hp_disposition;

/* What the speculative builder's floor needs to know. */
struct hp_outer_context {
  hp_segment now;        /* the segment being made */
  uint8_t base_mode;     /* predicted mode while nothing of the worker's own is open: HP_IN_BODY stands for in cell and
                            in caption, too; the modes that are not for a worker are kept to predict the next */
  uint32_t confident;    /* bit q: BASE was prepared for question q, so the default answer is trusted */
  const uint32_t *joins; /* hp_worker_speculate_joined's: ascending, */
  uint32_t *joined, join, join_count;
  bool fostered;     /* BASE's mode is a table's, its current node perhaps something that a replayed tag left there */
  bool minimise_log; /* of what is right in any case the disposition is chosen that makes the shorter log */
  uint8_t outer_ns;  /* around the foreign element that BASE's current node is in */
  uint8_t poisoned;  /* hpar_hazard: what the builder would have done to BASE */
  hp_disposition disposition; /* of the last token */
  hp_token token;             /* that one */
};

typedef struct hp_worker {
  hp_engine engine;
  bool is_open;   /* for the parse at hand */
  bool saturated; /* new names, or tokens without an end, have been most of what it met in this parse: it had
                   better not go on */
  uint64_t done,
      wasted_bytes;  /* bytes of its chunks, and those that it looked at behind them for tokens without an end */
  hp_range part;     /* of the document's memory, where each worker has one */
  hp_stages *stages; /* where `staged`: a tokenizer ahead of the engine's, from chunk to chunk */
  bool pipelined;
  struct hp_chunk_work *works, *work; /* the first of those that it has had, each with the next; the last of this parse,
                                         or NULL */
  struct hp_outer_context outer;
  uint64_t nanoseconds, predict_nanoseconds;
  void *own; /* the strategy's, while it is at a chunk */
} hp_worker;

#define HP_NO_SEGMENT UINT32_MAX

/* What a chunk is taken to begin inside decides where its first token begins. A worker may leave several such
 * readings, of which the merger takes the first that begins where it stands. They share the chunk's log: each has
 * segments of its own, or the same ones from some place on. */
typedef struct hp_start_hypothesis {
  uint32_t first;        /* where the first token begins; HP_NO_SEGMENT: nothing does within the chunk */
  uint32_t segment, end; /* its segments in the log: [segment, end) */
} hp_start_hypothesis;

enum { HP_MAX_HYPOTHESES = 16 };

/* First what is set for every chunk, near together. */
typedef struct hp_chunk_work {
  uint32_t cut, limit;       /* the chunk is [cut, limit); its worker runs on to a clean token boundary */
  uint32_t hypothesis_count; /* of `readings` */
  uint32_t taken;   /* of the only reading's segments, those that a composition has made part of the log to the left */
  bool truth_known; /* see `truth` */
  bool failed;      /* out of memory: the log holds nothing */
  bool cut_short;   /* the log ends early: a token reached beyond what had come of the input, or it was in vain */
  uint32_t reach;   /* where it will end if nothing comes between; >= limit */
  bool (*more)(void *); /* at the limit: raises it, or says that there it ends. NULL: it does */
  void *more_context;
  hp_start_state start; /* as predicted */
  hp_start_state truth; /* for the predictors named oracle, if it is known */
  struct {
    uint32_t respeculations;
    uint64_t bytes_respeculated; /* gone over in vain */
    bool aborted;
  } outcome; /* for the statistics */
  struct {
    hp_atom raw_name;    /* reading 0 begins behind this end tag; or 0 */
    hp_atom top;         /* taken for BASE's current node; or 0 */
    uint8_t end_comment; /* the reading that begins behind a comment's end; 0: none does */
    bool noscript;       /* one was left early, as in a head */
  } guess;               /* hpar2013's, for its judge */
  struct {
    uint64_t begin, end, prescan;
    unsigned worker;
  } times; /* for the record: of the clock, and how long the prediction took */
  hp_start_hypothesis hypotheses[HP_MAX_HYPOTHESES]; /* [0] is the predicted one */
  hp_log log;
  struct hp_chunk_work *next; /* of its worker's */
} hp_chunk_work;

static inline bool hp_chunk_goes_on(hp_chunk_work *chunk) { return chunk->more && chunk->more(chunk->more_context); }

/* All zeros before first use. */
void hp_worker_open(hp_worker *worker, const hp_request *task, bool fragment, const hp_open_element *context);
void hp_worker_close(hp_worker *worker);
/* For its next chunk in this parse, as yet without a reading, with what was allocated for one of the last parse. NULL:
 * no memory. */
hp_chunk_work *hp_worker_next_work(hp_worker *worker);
/* The chunk as the plan's strategy has it; its cut, limit, reach and what may raise the limit are given. */
void hp_worker_parse(hp_worker *worker, const hp_request *task, const hp_plan *plan, hp_chunk_work *chunk);

/*** for the strategies' own ways through a chunk ***/

/* Empties the log, without a reading. */
void hp_worker_clear(hp_worker *worker, const hp_request *task, hp_chunk_work *chunk);
/* The start state by the plan's predictors. */
hp_start_state hp_worker_predict(hp_worker *worker, const hp_request *task, const hp_plan *plan,
                                 const hp_chunk_work *chunk);
/* Adds a reading that begins in `state` at the cut, to the end of the chunk or, where an end tag contradicts the state
 * and `context` is set, once more from behind that tag. */
void hp_worker_speculate(hp_worker *worker, const hp_request *task, const hp_plan *plan, const hp_start_state *state,
                         bool context, hp_chunk_work *chunk);

/* Adds a reading that begins at a token boundary of the data state. */
void hp_worker_read(hp_worker *worker, const hp_request *task, const hp_plan *plan, uint32_t from, uint8_t mode,
                    uint8_t ns, hp_chunk_work *chunk);
/*** for compositions ***/

/* Takes the last segment out of the log, which ended clean, and up again: what it left open is this worker's own, on
 * whichever thread it was opened. The worker is not in the middle of a chunk. */
void hp_worker_resume(hp_worker *worker, const hp_request *task, hp_log *log);
/* Logs worker->outer.now, whose `end` is set, with what is open now, and lets go of that. Of a token that ends it
 * worker->outer.token is logged, too. */
void hp_worker_end_segment(hp_worker *worker, hp_log *log, hp_segment_end ends);

/* The same, with `count` readings: the first token of reading i begins at places[i], ascending, places[0] being the
 * cut, UINT32_MAX: not in the chunk. All but the first begin with the segment that begins where the first has come to a
 * token boundary at or behind their place. */
void hp_worker_speculate_joined(hp_worker *worker, const hp_request *task, const hp_plan *plan,
                                const hp_start_state *state, const uint32_t *places, uint32_t count,
                                hp_chunk_work *chunk);

/*** between the worker and its floor ***/

/* Is the token one to replay? */
bool hp_must_defer(const hp_builder *builder, const hp_token *token);
/* bit q: what the token asks of BASE, at its level, before it inserts anything. */
uint32_t hp_questions_of(const hp_builder *builder, const hp_token *token);

/* Called before the builder has done anything about the token. */
hp_disposition hp_disposition_of(hp_builder *builder, const hp_token *token);
/* The questions, as bits, for which BASE has to be prepared anew after the segment that `token`, or nothing, ends. */
uint32_t hp_unsettled(const hp_builder *builder, const hp_token *token);
/* The insertion modes of BASE under which the token, at BASE's level, does the same. */
uint32_t hp_modes_for(const hp_builder *builder, const hp_token *token);
/* The same for a token above BASE where BASE is foreign: HTML in an integration point goes by BASE's mode. */
uint32_t hp_modes_inside_foreign(const hp_builder *builder, const hp_token *token);
/* The mode, and the namespace, that BASE probably has after the token. */
uint8_t hp_predicted_mode(uint8_t mode, const hp_token *token);
/* Is what the token does first, where it is prepared, to make room for a row? */
bool hp_splits_row(const hp_token *token);
/* Does the tag, run in a table's mode, leave an element there that belongs elsewhere? */
bool hp_is_fostered(uint8_t mode, const hp_token *token);
uint8_t hp_predicted_namespace(uint8_t ns, const hp_builder *builder, const hp_token *token);

#endif
