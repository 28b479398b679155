#ifndef HP_SPECULATION_STRATEGY_H
#define HP_SPECULATION_STRATEGY_H

/* The interface of a strategy of speculation, the predictors of start states that it chooses, and
 * the plan of a parse. A worker calls the hooks of the strategy. The library has one strategy, and
 * a study has others. */

#include "base/target.h"
#include "speculation/cut.h"
#include "tokenizer/tokenizer.h"
#include "tree/engine.h"

#include <hpar/parse.h>

/*** start states ***/

/* Prediction of the state at the begin of a chunk. A wrong prediction only costs time. The merger
 * splices a segment in only if it begins at a true token boundary and its tokens do the same in the
 * true mode. */

/* The markup that a cut lies inside of, when the tokenizer's content is data. */
typedef enum hp_inside {
  HP_INSIDE_NOTHING,
  HP_INSIDE_COMMENT,
  HP_INSIDE_TAG,
  HP_INSIDE_DOUBLE_QUOTES, /* of a tag */
  HP_INSIDE_SINGLE_QUOTES,
  HP_INSIDES
} hp_inside;

typedef struct hp_start_state { // value
  hp_text_state content;
  hp_atom raw_name; /* element whose raw text contains the cut; 0: none */
  uint8_t inside;   /* hp_inside */
  uint8_t ns;       /* of the adjusted current node */
  uint8_t outer_ns; /* around its svg or math element */
  uint8_t mode;     /* hp_insertion_mode; HP_IN_BODY includes in cell and in caption */
  uint32_t first;   /* begin of the first token; 0: unknown; HP_START_BEYOND: after the chunk */
  bool is_sure;     /* an end tag without a start tag in the chunk does not contradict the state */
  bool is_doubtful; /* the cut may lie in data: the worker tries that state, too */
} hp_start_state;

#define HP_START_BEYOND UINT32_MAX

/* Knows the true state at any place of a text. */
typedef struct hp_truth {
  /* Opens it at the beginning of the request's text. `fragment` is as in hpar_options. Returns NULL
   * if memory is short. */
  void *(*open)(const hp_request *request, const char *fragment);
  /* Finds the state at the cut. Returns false if `available` bytes of text do not determine it. The
   * cuts of successive calls ascend. */
  bool (*at)(void *truth, uint32_t cut, size_t available, bool last, hp_start_state *state);
  uint64_t (*nanoseconds)(const void *truth);
  void (*close)(void *truth);
} hp_truth;

typedef struct hp_predictor_input {
  const hp_request *request;
  uint32_t cut, limit;         /* of the chunk; the cut is positive */
  uint32_t reach;              /* end of the text that the worker may read for the chunk */
  const hp_start_state *truth; /* the true state at the cut; NULL: unknown */
  struct hp_prescan *prescan;  /* shared by all workers; NULL: none */
  const void *data;            /* hp_plan.predictor_data or mode_data */
} hp_predictor_input;

/* Predicts `state`, which is initially the data state in HTML. */
typedef void (*hp_predict_fn)(const hp_predictor_input *input, hp_start_state *state);

/* A predictor of the tokenizer's state and the namespace. */
typedef struct hp_predictor { // value
  const char *name, *summary;
  hp_predict_fn predict; /* NULL: no prediction */
  /* A worker has found that `to` is a token boundary in the body and not in foreign content. Any
   * thread may call it. NULL: the predictor has no use for that. */
  void (*skip)(struct hp_prescan *prescan, uint32_t to);
  /* An end tag without a start tag in the chunk reveals the state at the cut. The worker then
   * starts again after it. */
  bool restarts_after_end_tag;
  bool asks_for_truth; /* reads hp_predictor_input.truth */
} hp_predictor;

/* A predictor of the insertion mode. */
typedef struct hp_mode_predictor { // value
  const char *name, *summary;
  /* Sets state->mode, which is initially HP_IN_BODY. The rest of the state is predicted. NULL: no
   * prediction. */
  hp_predict_fn predict;
  /* The worker also predicts the mode and the namespace after each deferred token. */
  bool after_replay;
  bool asks_for_truth;
} hp_mode_predictor;

/* The predictor "lookback". It uses the nearest place before the cut that determines the state, the
 * names of the tags after the cut, some of which occur in foreign content only, and the end of the
 * head. */
HP_SHARED extern const hp_predictor hp_lookback_predictor;

/*** strategies ***/

struct hp_worker;
struct hp_chunk_result;
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
                struct hp_chunk_result *chunk);
  /* Returns true to end the start hypothesis before this token of data. */
  bool (*stops)(struct hp_worker *worker, const hp_request *request, const hp_token *token,
                struct hp_chunk_result *chunk);
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

/*** markup ***/

/* Recognition of markup in bytes without a tokenizer, for predictors. */

typedef struct hp_raw_text {
  const char *name;
  hp_atom atom;
  hp_text_state content;
} hp_raw_text;

/* Returns whether this name, in any case, is at `at` and ends before `end`. */
HP_SHARED bool hp_tag_goes_on(const char *at, const char *end, const char *name);
static inline bool hp_tag_is(const char *at, const char *end, const char *name) {
  return at < end && (*at | 0x20) == *name && hp_tag_goes_on(at, end, name);
}
/* Returns the place after the end of the comment whose text begins at `from`. Searches [at, limit).
 * NULL: the end is not there. */
const char *hp_comment_end(const char *from, const char *at, const char *limit);
/* Returns the raw-text element whose name is at `at`, or NULL. */
HP_SHARED const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting);
HP_SHARED const hp_raw_text *hp_raw_text_of_atom(hp_atom atom, bool scripting);
enum { HP_RAW_TEXTS = 9 };
/* Converts between raw-text elements and their indices. */
HP_SHARED uint8_t hp_raw_text_index(const hp_raw_text *raw);
HP_SHARED const hp_raw_text *hp_raw_text_of(uint8_t index);
/* Returns the atom of the name, in any case, that is at `at` and ends before `end`, or HP_NO_ATOM
 * if names.h has no such name. */
HP_SHARED hp_atom hp_name_at(const char *at, const char *end);
/* Returns whether the start tag may begin the head or belong to it. */
bool hp_may_be_in_head(hp_atom name);
bool hp_is_self_closing(const char *at, const char *end);

/* Returns the only namespace in which the name at `at` occurs, or HP_NO_NAMESPACE. */
enum { HP_NO_NAMESPACE = 0xFF };
uint8_t hp_namespace_of_name(const char *at, const char *end);

#endif
