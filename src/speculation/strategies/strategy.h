#ifndef HP_SPECULATION_STRATEGIES_STRATEGY_H
#define HP_SPECULATION_STRATEGIES_STRATEGY_H

/* Ways to speculate, side by side on one builder and one merger: whatever a strategy guesses, the merger takes only
 * what holds, so the tree is the sequential one. A strategy is a row of the table in strategy.c; what it has of its own
 * stands in a file of its own in this room. */

#include "speculation/start/predict.h"

#include <hpar/parse.h>

struct hp_worker;
struct hp_segment;

/* What a cut truly lay inside of. */
typedef enum hp_boundary {
  HP_BOUNDARY_DATA, /* nothing: a token begins here */
  HP_BOUNDARY_TEXT, /* a run of text */
  HP_BOUNDARY_COMMENT,
  HP_BOUNDARY_RAW_TEXT,
  HP_BOUNDARY_MARKUP /* a tag, or what else begins with "<" */
} hp_boundary;

/* What is known of the chunk that the merger is at, for a strategy that judges its guesses. */
typedef struct hp_audit {
  hp_boundary boundary;
  hp_atom raw_name;    /* of the element whose raw text the cut lay inside of */
  uint32_t silent;     /* bit k: hpar_undetected_error k was made */
  bool rolled_back;    /* nothing of the chunk was taken */
  bool behind_end_tag; /* the last entry was a replayed end tag */
  /* From before_splice to after_entry, what the strategy expects of the true stack: */
  uint32_t depth;
  hp_ref top;
  enum { HP_CLOSES_NOTHING, HP_CLOSES_CURRENT, HP_CLOSES_MORE } closes;
} hp_audit;

typedef struct hp_strategy {
  const char *name, *summary;
  /* What is used where the options name none. */
  const char *predictor, *mode_predictor, *cut;
  /* Each sibling at BASE's level is a segment of its own, and questions of BASE are asked each time: nothing is
   * spliced in bulk. */
  bool one_by_one;

  /*** hooks; NULL: as usual ***/

  /* A worker's way through a chunk, on the worker's thread: fills chunk->log, ->hypotheses and ->outcome, may call
   * hp_worker_speculate (worker.h) as often as it likes. Runs inside an hp_try of the worker. */
  void (*parse)(struct hp_worker *worker, const hp_request *task, const struct hp_plan *plan,
                struct hp_chunk_work *chunk);
  /* Before a token of data is built: true ends the reading here, its last segment unfinished. */
  bool (*stops)(struct hp_worker *worker, const hp_request *task, const hp_token *token, struct hp_chunk_work *chunk);
  /* BASE's mode after a replayed token, `mode` before it. */
  uint8_t (*mode_after)(const struct hp_worker *worker, uint8_t mode, const hp_token *token);

  /* The rest on the merger's thread, to count what the strategy alone would have made of it. */

  /* The merger stands at the first token boundary at or after the chunk's cut, in the true state, and has taken nothing
   * of the chunk yet. `reading` is the index of the reading that begins here, or -1: none does. False: the merger is to
   * parse the chunk by itself. */
  bool (*at_chunk_boundary)(const hp_engine *truth, const struct hp_chunk_work *chunk, int reading, hp_audit *audit);
  /* It is about to leave out a segment, since `wrong` of it does not hold; */
  void (*at_wrong_assumption)(const hp_engine *truth, const struct hp_chunk_work *chunk,
                              const struct hp_segment *segment, hpar_assumption wrong, hp_audit *audit);
  /* or to splice it in; */
  void (*before_splice)(const hp_engine *truth, const struct hp_chunk_work *chunk, const struct hp_segment *segment,
                        hp_audit *audit);
  /* and now it has, and the token at its end is done with. */
  void (*after_entry)(const hp_engine *truth, const struct hp_chunk_work *chunk, const struct hp_segment *segment,
                      hp_audit *audit);
} hp_strategy;

/* What all workers of a parse go by. */
typedef struct hp_plan {
  const hp_strategy *strategy;
  const hp_predictor *predictor;
  const hp_mode_predictor *mode_predictor;
  uint8_t cut;                /* hp_cut_policy */
  struct hp_prescan *prescan; /* that the workers share; NULL: there is none */
  const hpar_frequency_table *frequencies;
  hpar_predictor custom; /* the caller's, with `predict` NULL for none; `predictor` calls it */
  size_t checkpoint_bytes;
} hp_plan;

/* Returns the strategy of that name; NULL: there is none. The first strategy is the default, for a NULL name. */
const hp_strategy *hp_strategy_named(const char *name);
/* Returns the strategy's own plan: its predictors, its cut policy and the defaults of the rest. */
hp_plan hp_strategy_plan(const hp_strategy *strategy);

#endif
