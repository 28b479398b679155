#ifndef HP_SPECULATION_WORKER_H
#define HP_SPECULATION_WORKER_H

/* A worker parses a chunk without knowledge of the bytes before it. It runs the speculative builder
 * on an outer context of unknown elements and writes a log, which the merger checks and adopts.
 *
 * worker.c opens and closes workers, finds the first token of a chunk, and tries start hypotheses.
 * chunk_run.c processes tokens, and ends work that costs more than it gains. segment.c writes the
 * log. */

#include "base/target.h"
#include "speculation/dispositions.h"
#include "speculation/strategy.h"
#include "tree/engine.h"

/* A source of tokens in place of the tokenizer of the worker's engine. The driver sets it. */
typedef struct hp_token_source {
  /* Returns the next token; kind HP_TOKEN_NEED_MORE: there is none. NULL: no source. */
  const hp_token *(*next)(void *context);
  void *context;
} hp_token_source;

typedef struct hp_worker {
  hp_engine engine;
  bool is_open;          /* for the current parse */
  bool saturated;        /* most of its work in this parse was useless: it takes no other chunk */
  uint64_t done;         /* bytes of its chunks */
  uint64_t wasted_bytes; /* bytes after its chunks that it read for incomplete tokens */
  hp_token_source source;
  struct hp_chunk_result *works; /* of all parses, each with the next */
  struct hp_chunk_result *work;  /* the last of this parse; NULL: none */
  hp_outer_context outer;
  hp_finder finder; /* of the builder, if resources are requested */
  hp_finder_gate gate;
  uint64_t nanoseconds, predict_nanoseconds;
  void *own;                     /* of the strategy, during a chunk */
  const _Atomic bool *cancelled; /* the driver's: the results are not needed; NULL: never */
  _Atomic uint32_t progress;     /* an offset that grows while the worker runs; relaxed */
  _Atomic bool left;             /* its thread has left the current parse; release */
} hp_worker;

#define HP_NO_SEGMENT UINT32_MAX

/* A start hypothesis: where the first token of a chunk begins. A worker may try several. The merger
 * takes the first hypothesis that begins at the merger's position. They share the chunk's log: each
 * has its own segments, or from some segment on those of another hypothesis. */
typedef struct hp_start_hypothesis {
  uint32_t first;        /* offset of the first token; HP_NO_SEGMENT: none */
  uint32_t segment, end; /* its segments in the log: [segment, end) */
} hp_start_hypothesis;

enum { HP_MAX_HYPOTHESES = 16 };

/* A worker's chunk and its result. The members that change for every chunk come first and share
 * cache lines. */
typedef struct hp_chunk_result { // value
  uint32_t cut, limit;           /* [cut, limit); its worker continues to a token boundary */
  uint32_t hypothesis_count;     /* of `hypotheses` */
  uint32_t taken;                /* segments that a composition moved to the left log */
  bool truth_known;              /* see `truth` */
  bool failed;                   /* there is no log: memory was short, or nobody parsed the chunk */
  bool cut_short;                /* the log ends early, at an incomplete token or for its cost */
  bool is_complete;              /* ... at a token that the chunk's input does not complete */
  uint32_t reach;                /* its end unless another thread takes a part; >= limit */
  uint32_t read_ahead;           /* additional bytes after its end that a token may have */
  /* Raises the limit and returns true, or returns false. The worker calls it at the limit. NULL:
   * no. */
  bool (*more)(void *);
  void *more_context;
  hp_start_state start; /* the predicted state */
  hp_start_state truth; /* see hp_plan.truth */
  struct {
    uint32_t respeculations;
    uint64_t bytes_respeculated; /* parsed twice */
    bool aborted;
  } outcome;               /* for the statistics */
  unsigned char notes[16]; /* of the strategy; zeros before it parses the chunk */
  struct {
    uint64_t begin, end, prescan;
    unsigned worker;
  } times; /* for the record: clock times, and the duration of the prediction */
  hp_start_hypothesis hypotheses[HP_MAX_HYPOTHESES]; /* [0] is the predicted one */
  hp_log log;
  struct hp_chunk_result *next; /* of its worker */
} hp_chunk_result;

/* Raises the limit of the chunk if its driver allows that. Returns false at the end of the chunk.
 */
static inline bool hp_chunk_goes_on(hp_chunk_result *chunk) { return chunk->more && chunk->more(chunk->more_context); }

/*** lifecycle ***/

/* Opens a worker for a parse. Requires: the worker is zeroed, or was open before. A failure unwinds
 * through the engine. */
void hp_worker_open(hp_worker *worker, const hp_request *request, const hp_fragment_case *fragment);
/* Reports the resources that the open worker finds, as the thread with this number. */
void hp_worker_find_resources(hp_worker *worker, const hp_resource_report *report, unsigned thread);
void hp_worker_close(hp_worker *worker);
static inline void hp_worker_reset(hp_worker *worker) {
  worker->is_open = worker->saturated = false;
  atomic_store_explicit(&worker->left, false, memory_order_relaxed);
  worker->done = worker->wasted_bytes = 0;
  worker->work = NULL;
  worker->nanoseconds = worker->predict_nanoseconds = 0;
}
static inline uint64_t hp_worker_predict_ns(const hp_worker *worker) { return worker->predict_nanoseconds; }
/* Returns the worker's next chunk in this parse, without a hypothesis; NULL: out of memory. Uses
 * the memory of an earlier parse. */
hp_chunk_result *hp_worker_next_work(hp_worker *worker);
/* Parses the chunk with the strategy of the plan. Requires: cut, limit, reach and `more` are set.
 */
void hp_worker_parse(hp_worker *worker, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk);

/*** parts of a strategy ***/

/* Returns the start state that the predictors of the plan predict. */
HP_SHARED hp_start_state hp_worker_predict(hp_worker *worker, const hp_request *request, const hp_plan *plan,
                                           const hp_chunk_result *chunk);
/* Adds a hypothesis that begins in `state` at the cut, and parses to the end of the chunk. With
 * `may_restart`, an end tag that contradicts the state restarts the hypothesis after that tag. */
HP_SHARED void hp_worker_speculate(hp_worker *worker, const hp_request *request, const hp_plan *plan,
                                   const hp_start_state *state, bool may_restart, hp_chunk_result *chunk);
/* Adds `count` hypotheses. The first token of hypothesis i begins at places[i], ascending;
 * places[0] is the cut, and UINT32_MAX is outside the chunk. Each hypothesis but the first joins
 * the first one at the first token boundary at or after its place. */
HP_SHARED void hp_worker_speculate_joined(hp_worker *worker, const hp_request *request, const hp_plan *plan,
                                          const hp_start_state *state, const uint32_t *places, uint32_t count,
                                          hp_chunk_result *chunk);

/* Speculates from chunk->start, also where it is doubtful, and lets later scans of the text begin
 * at its end. `may_restart`: an end tag that contradicts the state may restart the hypothesis. */
HP_SHARED void hp_worker_speculate_from_start(hp_worker *worker, const hp_request *request, const hp_plan *plan,
                                              bool may_restart, hp_chunk_result *chunk);

/*** composition ***/

/* Removes the last segment from the log and makes it current again: the worker owns its open
 * elements, whichever worker opened them. Requires: the segment ended clean, and the worker is not
 * inside a chunk. */
void hp_worker_resume(hp_worker *worker, const hp_request *request, hp_log *log);
/* Logs worker->outer.now and the open elements, and removes them from the builder. Requires: `end`
 * is set; and worker->outer.token, if a token ends the segment. */
void hp_worker_end_segment(hp_worker *worker, hp_log *log, hp_segment_end ends);
/* Removes the segments from the number `segments` on from the log. Cancels their resources. */
HP_SHARED void hp_worker_cut_log(hp_worker *worker, hp_log *log, uint32_t segments);

/*** progress ***/

enum { HP_PROGRESS_BYTES = 4 << 10 };

/* Publishes the worker's offset. If the driver has cancelled the work, unwinds through the worker's
 * engine. Returns the offset at which to call the function again. */
uint32_t hp_worker_note_progress(hp_worker *worker, uint32_t at);

#define HP_PROGRESS_OF_COMPOSITIONS UINT32_C(0xfffffe00)
#define HP_PROGRESS_OF_PARTS UINT32_C(0xfffffd00)
#define HP_PROGRESS_OF_LEAVING UINT32_C(0xfffffc00)

/* Test hook: only the tests and an experiment link a worker.c that is built with HPAR_TEST_HOOKS.
 * Each call of hp_worker_note_progress then calls the hook, which returns the offset of the next
 * call: at + 1 for all tokens that no loop builds together. NULL: no hook. Units have a hook of
 * their own (runtime/units.h). */
void hp_worker_hook_progress(uint32_t (*hook)(uint32_t at));
/* Calls the hook. While a thread composes neighbouring logs, `at` is HP_PROGRESS_OF_COMPOSITIONS.
 * Before a thread estimates the work, and before it takes its part, it is HP_PROGRESS_OF_PARTS.
 * When the merging thread begins to leave the pool, it is HP_PROGRESS_OF_LEAVING, and
 * HP_PROGRESS_OF_LEAVING + 1 afterwards. */
#if HPAR_TEST_HOOKS
void hp_worker_call_progress_hook(uint32_t at);
#else
static inline void hp_worker_call_progress_hook(uint32_t at) { (void)at; }
#endif

/*** segments ***/

/* Segments of a worker's log: how they begin and end. A segment begins without open elements of the
 * worker, at a token boundary. */

/* Begins a segment at `offset`. The outer context has this insertion mode and namespace. */
void hp_begin_segment(hp_worker *worker, uint32_t offset, uint8_t base_mode, uint8_t ns);

/* Ends the segment at `end` as poisoned, skips raw text, and begins the next segment. */
void hp_give_segment_up(hp_worker *worker, hp_log *log, uint32_t end);

/* Logs the raw text after the deferred start tag `name`, and its end tag, as deferred tokens. The
 * tokens depend only on the fact that the text is raw. Returns false at the end of the input. */
bool hp_log_raw_text(hp_worker *worker, hp_log *log, hp_atom name);

/* Parses from the tokenizer's position to the end of the chunk and writes the log. Requires: a
 * segment starts there. With `may_restart`, the end tag of raw text that began before this chunk
 * restarts the hypothesis after that tag. */
void hp_run_chunk(hp_worker *worker, const hp_request *request, const hp_plan *plan, bool may_restart,
                  hp_start_hypothesis *hypothesis, hp_chunk_result *chunk);

#endif
