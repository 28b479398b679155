#ifndef HP_STUDY_TRUE_STATE_H
#define HP_STUDY_TRUE_STATE_H

/* The sequential parser under observation, and its state at any place of a text. */

#include "tokenizer/tokenizer.h"
#include "tree/engine.h"

/* The state of the sequential parser at a place. It has only the top of the stack. */
typedef struct hp_true_state {
  uint32_t place;
  uint32_t token; /* begin of the token that contains the place; `place`: it lies between two */
  uint32_t first; /* first token boundary in the data state at or after `place`, or the length */
  hp_state state;
  hp_text_state content;
  hp_atom raw_name; /* element of the raw text; 0: none */
  uint8_t mode, ns; /* before the token; ns of the adjusted current node */
  uint32_t depth;
  uint32_t formatting; /* entries of the list of active formatting elements, with markers */
} hp_true_state;

/* Functions that hp_observe calls for each token. Each may be NULL. */
typedef struct hp_observer {
  void *context;
  /* Before the builder processes the token, which begins at `start`, in `content`. */
  void (*before)(void *context, const hp_engine *engine, const hp_token *token, hp_text_state content, uint32_t start);
  void (*after)(void *context, const hp_engine *engine, const hp_token *token);
} hp_observer;

/* Parses the request's text into a temporary document. `fragment` is as in hpar_options. Does not
 * change the request's document. */
hpar_status hp_observe(const hp_request *request, const char *fragment, const hp_observer *observer);

/* Finds the states at `count` ascending places, which lie within the text. */
hpar_status hp_true_states(const hp_request *request, const char *fragment, const uint32_t *places, uint32_t count,
                           hp_true_state *states);

/* Returns the standard's name of the state, without the word "state". */
const char *hp_state_name(hp_state state);
/* Returns the standard's name of an hp_insertion_mode, without the words "insertion mode". */
const char *hp_mode_name(uint8_t mode);

#endif
