#ifndef HP_INSPECT_STATE_H
#define HP_INSPECT_STATE_H

/* The state of the sequential parser at any place of a text, also inside tokens, of which the tokenizer itself keeps
 * none: what the standard's state machine would be in there. */

#include "html/tree/engine.h"

/* The standard's states, those few that come to the same (of dashes, of less-than signs, of names' ends) being one. */
typedef enum hp_state {
  HP_STATE_DATA,
  HP_STATE_RCDATA,
  HP_STATE_RAWTEXT,
  HP_STATE_SCRIPT_DATA,
  HP_STATE_SCRIPT_DATA_ESCAPED,
  HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED,
  HP_STATE_PLAINTEXT,
  HP_STATE_CDATA_SECTION,
  HP_STATE_CHARACTER_REFERENCE,
  HP_STATE_TAG_OPEN,
  HP_STATE_END_TAG_OPEN,
  HP_STATE_TAG_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_NAME,
  HP_STATE_ATTRIBUTE_NAME,
  HP_STATE_AFTER_ATTRIBUTE_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_VALUE,
  HP_STATE_DOUBLE_QUOTED,
  HP_STATE_SINGLE_QUOTED,
  HP_STATE_UNQUOTED,
  HP_STATE_AFTER_QUOTED,
  HP_STATE_SELF_CLOSING,
  HP_STATE_MARKUP_DECLARATION_OPEN,
  HP_STATE_COMMENT,
  HP_STATE_BOGUS_COMMENT,
  HP_STATE_PROCESSING_INSTRUCTION,
  HP_STATE_DOCTYPE,
  HP_STATES
} hp_state;

const char *hp_state_name(hp_state state); /* without the word "state" */
const char *hp_mode_name(uint8_t mode);    /* hp_insertion_mode, without the words "insertion mode" */

/* Before the text, which ends at `place`, is read on. The token that `place` lies in, or at whose beginning it stands,
 * begins at `start`, where the tokenizer's content was `content`. */
hp_state hp_state_at(const char *text, uint32_t start, hp_content content, uint32_t place);

/* A state vector, of which the stack is only the top. */
typedef struct hp_true_state {
  uint32_t place;
  uint32_t token; /* the token that the place lies in begins here; `place`: it lies between two */
  uint32_t first; /* the first token boundary in the data state from `place` on; the text's length at its end */
  hp_state state;
  hp_content content;
  hp_atom raw_name; /* whose raw text it is; 0: none */
  uint8_t mode, ns; /* before the token; ns of the adjusted current node */
  uint32_t depth;
  uint32_t formatting; /* entries of the list of active formatting elements, markers among them */
} hp_true_state;

/* A sequential parse under observation. Any of the three may be NULL. */
typedef struct hp_observer {
  void *context;
  /* A token was read, in `content` and from `start` on; the builder has not got it. */
  void (*before)(void *context, const hp_engine *engine, const hp_token *token, hp_content content, uint32_t start);
  void (*after)(void *context, const hp_engine *engine, const hp_token *token);
} hp_observer;

/* Parses the task's text into a document of its own, which is dropped; `fragment` as in hpar_options. The task's
 * document is not touched. */
hpar_status hp_observe(const hp_request *task, const char *fragment, const hp_observer *observer);

/* The states at `count` ascending places, none of them beyond the text. */
hpar_status hp_true_states(const hp_request *task, const char *fragment, const uint32_t *places, uint32_t count,
                           hp_true_state *states);

#endif
