#ifndef HP_SPECULATION_STRATEGY_H
#define HP_SPECULATION_STRATEGY_H

/* The interface of a strategy of speculation, and the plan of a parse. A worker calls the
 * hooks of the strategy. The library has one strategy, and a study has others. */

#include "base/target.h"
#include "speculation/cut.h"
#include "speculation/start.h"

#include <hpar/parse.h>

struct hp_worker;
struct hp_chunk_work;
struct hp_plan;

typedef struct hp_strategy { // value
  const char *name, *summary;
  /* The strategy's own choices, which a study can replace. */
  const hp_predictor *predictor;
  const hp_mode_predictor *mode_predictor;
  const hp_cut_policy *cut;
  /* Each sibling at the outer level is a segment with its own assumptions. */
  bool one_by_one;
  /* The strategy only watches the worker: `stops` sees the tokens that no loop builds together, and
   * the first one after outer->ask_at. */
  bool watches;

  /*** hooks; NULL: the default behaviour ***/

  /* Parses a chunk on the worker's thread: fills chunk->log, ->hypotheses and ->outcome. It may
   * call hp_worker_speculate (worker.h) several times. The worker calls it in hp_try. */
  void (*parse)(struct hp_worker *worker, const hp_request *request, const struct hp_plan *plan,
                struct hp_chunk_work *chunk);
  /* Returns true to end the start hypothesis before this token of data. */
  bool (*stops)(struct hp_worker *worker, const hp_request *request, const hp_token *token,
                struct hp_chunk_work *chunk);
  /* Returns the mode of the outer context after a deferred token. `mode` is the mode before it. */
  uint8_t (*mode_after)(const struct hp_worker *worker, uint8_t mode, const hp_token *token);
} hp_strategy;

/* Returns whether the strategy decides before each token. */
static inline bool hp_sees_each_token(const hp_strategy *strategy) { return strategy->stops && !strategy->watches; }

/* Returns whether the workers may choose among dispositions that are all right. */
static inline bool hp_chooses_dispositions(const hp_strategy *strategy) {
  return !hp_sees_each_token(strategy) && !strategy->one_by_one;
}

/* The resolved choices for all workers of a parse. */
typedef struct hp_plan { // value
  const hp_strategy *strategy;
  const hp_predictor *predictor;
  const hp_mode_predictor *mode_predictor;
  hp_cut_choice cut;
  const hp_truth *truth;      /* for those that ask for the true state; NULL: unknown */
  struct hp_prescan *prescan; /* shared by all workers; NULL: none */
  /* What these read besides: the caller's, which stays until the parse ends. NULL: none */
  const void *predictor_data, *mode_data, *strategy_data;
  const char *strategy_name, *predictor_name, *mode_predictor_name; /* for statistics */
  bool strategy_is_callers;                                         /* `strategy_data` */
  size_t ask_every; /* a strategy that watches is asked once in so many bytes; 0: it is not */
  size_t checkpoint_bytes;
} hp_plan;

/* Returns whether the parse uses functions or data of the caller. They belong to the parse, and
 * may read only text that is known to be valid. */
static inline bool hp_plan_uses_caller(const hp_plan *plan) {
  return plan->predictor_data || plan->mode_data || plan->strategy_is_callers || plan->cut.find;
}

/* The library's strategy and its mode predictor. */
HP_SHARED extern const hp_strategy hp_exact_strategy;
HP_SHARED extern const hp_mode_predictor hp_replay_predictor;

/* Returns the strategy's own plan: its predictors, its cut policy and the defaults of the rest. */
HP_SHARED hp_plan hp_strategy_plan(const hp_strategy *strategy);

#endif
