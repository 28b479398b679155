#ifndef HP_STUDY_SHOW_TOKEN_H
#define HP_STUDY_SHOW_TOKEN_H

/* Tokens as a study sees them. */

#include "tree/engine.h"

#include <hpar/study.h>

/* The memory of the attributes of shown tokens, which hp_free frees. */
typedef struct hp_shown_attributes {
  hpar_attribute *items;
  uint32_t capacity;
} hp_shown_attributes;

/* Writes to `shown` a token that the engine's tokenizer has read. Offsets are those of the text.
 * Unwinds through the engine. */
void hp_show_token(hp_engine *engine, const hp_token *token, hp_shown_attributes *attributes, hpar_token *shown);

#endif
