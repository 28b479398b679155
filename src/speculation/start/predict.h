#ifndef HP_SPECULATION_START_PREDICT_H
#define HP_SPECULATION_START_PREDICT_H

/* The state in which a chunk begins, guessed from the bytes. A wrong guess costs time and nothing else: the
 * merger takes no segment that does not begin at a true token boundary, under a mode in which its tokens do the same.
 */

#include "html/tree/engine.h"

/* What a cut can lie inside of, when the tokenizer's content is data. */
typedef enum hp_inside {
  HP_INSIDE_NOTHING,
  HP_INSIDE_COMMENT,
  HP_INSIDE_TAG,
  HP_INSIDE_DOUBLE_QUOTES, /* of a tag */
  HP_INSIDE_SINGLE_QUOTES,
  HP_INSIDES
} hp_inside;

typedef struct hp_start_state {
  hp_content content;
  hp_atom raw_name; /* the element whose raw text the chunk begins in */
  uint8_t inside;   /* hp_inside */
  uint8_t ns;       /* of the adjusted current node; */
  uint8_t outer_ns; /* and around the svg or math element that it is in */
  uint8_t mode;     /* hp_insertion_mode. HP_IN_BODY is no guess: it stands for in cell and in caption, too, and
                       whatever else fits what the chunk begins with */
  uint32_t first;   /* where the first token begins, if that is known: 0: it is to be found; HP_START_BEYOND: not in
                       the chunk */
} hp_start_state;

#define HP_START_BEYOND UINT32_MAX

struct hp_plan;       /* speculation/strategies/strategy.h */
struct hp_chunk_work; /* speculation/worker/worker.h */

/* Of the tokenizer's state and the namespace. */
typedef struct hp_predictor {
  const char *name, *summary;
  /* The state at the chunk's cut, > 0; `state` is the data state in HTML before. NULL: it is left at that. */
  void (*predict)(const struct hp_plan *plan, const hp_request *task, const struct hp_chunk_work *chunk,
                  hp_start_state *state);
  /* An end tag that nothing can have opened says what the chunk began inside: everything before it is dropped. */
  bool context;
  bool oracle; /* wants hp_chunk_work.truth */
} hp_predictor;

/* Of the insertion mode. */
typedef struct hp_mode_predictor {
  const char *name, *summary;
  /* Sets state->mode, which is HP_IN_BODY before; the rest of the state has been predicted. NULL: left at that. */
  void (*predict)(const struct hp_plan *plan, const hp_request *task, const struct hp_chunk_work *chunk,
                  hp_start_state *state);
  /* What the mode, and the namespace, become by replayed tokens is predicted, too; else they stay. */
  bool after_replay;
  bool oracle;
} hp_mode_predictor;

/* The name of the raw-text element whose name stands at `at`, or 0. */
hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting);

const hp_predictor *hp_predictor_named(const char *name); /* NULL: no such */
const hp_mode_predictor *hp_mode_predictor_named(const char *name);

#endif
