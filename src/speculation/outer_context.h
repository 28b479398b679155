#ifndef HP_SPECULATION_OUTER_CONTEXT_H
#define HP_SPECULATION_OUTER_CONTEXT_H

/* The outer context of a worker's builder: its assumptions and its current segment. */

#include "base/target.h"
#include "speculation/log.h"

/* What happens to a token:
 *   LOCAL  The worker builds it.
 *   DEFER  The merger runs it on the true state.
 *   SPLIT  The merger runs the steps before an insertion: it closes a p or an li, or reconstructs
 *          formatting. Then the default answers hold, and the worker builds the rest. It
 *          splits for a question again only if the answer may have changed. */
typedef enum hp_disposition { HP_DISPOSITION_LOCAL, HP_DISPOSITION_DEFER, HP_DISPOSITION_SPLIT } hp_disposition;

/* The assumptions about the outer context (tree/context.inc). */
typedef struct hp_outer_context {
  hp_segment now; /* the segment that the worker writes */
  /* The predicted mode of the outer context. HP_IN_BODY stands for "in cell" and "in caption", too.
   * In some modes a worker defers every token: they serve only to predict the next mode. */
  uint8_t base_mode;
  uint32_t confident;     /* bit q: the merger prepares question q, so the default answer holds */
  uint32_t p_search_from; /* begin of the chunk, before which an open p is to be searched; or 0 */
  const uint32_t *joins;  /* where other hypotheses join this one, ascending */
  uint32_t *joined;       /* the segments that start there */
  uint32_t join, join_count;
  /* The outer mode is a table's, and a deferred tag may have left another current node. */
  bool fostered;
  /* At the begin of the segment, the form element pointer may have an element: the last form tag of
   * the log was a start tag, or the log has none. The worker then defers a start tag of a form. */
  bool form_may_be_open;
  uint32_t ask_at;            /* the strategy sees the next token from here on; UINT32_MAX: none */
  size_t checkpoint_bytes;    /* of a segment that the worker ends at the outer level */
  bool minimise_log;          /* choose the shorter log where two dispositions are right */
  uint8_t outer_ns;           /* namespace around the foreign element of the outer current node */
  uint8_t poisoned;           /* hp_hazard: why the segment is poisoned; or none */
  hp_disposition disposition; /* of the last token */
  hp_token token;             /* the last token that was not LOCAL */
} hp_outer_context;

/* The merger prepares these questions (bit q), so their default answers hold; no others do. */
static inline void hp_outer_trust(hp_outer_context *outer, uint32_t questions) { outer->confident = questions; }
static inline uint32_t hp_outer_trusted(const hp_outer_context *outer) { return outer->confident; }
/* From now on, the shorter log is chosen where two dispositions are right. */
static inline void hp_outer_minimise_log(hp_outer_context *outer) { outer->minimise_log = true; }
static inline bool hp_outer_is_poisoned(const hp_outer_context *outer) { return outer->poisoned; }
static inline bool hp_outer_is_local(const hp_outer_context *outer) {
  return outer->disposition == HP_DISPOSITION_LOCAL;
}

/* Gives the builder this outer context. */
void hp_outer_open(hp_outer_context *outer, hp_builder *builder);

void hp_outer_begin(hp_outer_context *outer, uint32_t start, uint8_t mode, uint8_t ns);
/* Makes the segment unusable, unless it is. */
static inline void hp_outer_give_up(hp_outer_context *outer) {
  if (!outer->poisoned) outer->poisoned = HP_HAZARD_UNFORESEEN;
}
/* Gives the segment up if the builder would have changed the mode of the outer context. */
void hp_outer_check_mode(hp_outer_context *outer, const hp_builder *builder);
/* Returns what happens to the last token. The next one is local unless the builder decides. */
static inline hp_disposition hp_outer_take_disposition(hp_outer_context *outer) {
  hp_disposition disposition = outer->disposition;
  outer->disposition = HP_DISPOSITION_LOCAL;
  return disposition;
}

static inline hp_outer_context *hp_outer_of(const hp_builder *builder) { return hp_read_speculative(builder)->outer; }

/*** prediction ***/

/* The outer context after the merger runs a deferred token. A wrong prediction costs
 * time only. */

/* Returns the mode that the outer context probably has after the token. */
HP_SHARED uint8_t hp_predicted_mode(uint8_t mode, const hp_token *token);
/* Returns the mode of the outer context after it adopts the builder's open elements. */
uint8_t hp_adopted_mode(const hp_builder *builder);
/* Changes the mode to the one after the token. Requires: the segment has not ended. */
void hp_predict_mode_after(hp_builder *builder, const hp_token *token, uint8_t *mode);
/* Changes the namespace to the one after the token. */
void hp_predict_namespace_after(hp_builder *builder, const hp_token *token, uint8_t *mode, uint8_t *ns);

#endif
