#ifndef HP_SPECULATION_DISPOSITIONS_H
#define HP_SPECULATION_DISPOSITIONS_H

/* Effects of a token on the outer context. */

#include "base/target.h"
#include "dom/tag.h"
#include "speculation/outer_context.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool hp_is_table_mode(uint8_t mode) {
  return mode == HP_IN_TABLE || mode == HP_IN_TABLE_BODY || mode == HP_IN_ROW;
}

static inline bool hp_is_content_mode(uint8_t mode) {
  return mode == HP_IN_BODY || mode == HP_IN_CELL || mode == HP_IN_CAPTION;
}

/* Returns whether the start tag stays in the head. */
static inline bool hp_is_head_tag(hp_atom name) {
  switch (name) {
    case HP_ANY_METADATA: return true;
    default: return false;
  }
}

/* Returns true if the merger must run the token. */
HP_SHARED bool hp_must_defer(const hp_builder *builder, const hp_token *token);
/* Returns the questions, bit q, about the outer context that the token depends on before it inserts
 * anything. */
HP_SHARED uint32_t hp_questions_of(const hp_builder *builder, const hp_token *token);
/* Returns what happens to the token. Requires: the builder has not processed it. */
hp_disposition hp_disposition_of(hp_builder *builder, const hp_token *token);
/* Returns the questions, bit q, that the merger must prepare again after the segment that `token`
 * (or NULL) ends. */
uint32_t hp_questions_reopened(const hp_builder *builder, const hp_token *token);
/* Reopens these questions. Updates the questions whose default answer is probably wrong. */
void hp_reopen_questions(hp_builder *builder, const hp_token *token);
/* Returns the insertion modes of the outer context in which the token, at its level, has the same
 * effect. */
uint32_t hp_modes_for(const hp_builder *builder, const hp_token *token);
/* Returns the same for a token inside own elements, with a foreign outer context: HTML in an
 * integration point depends on the outer mode. */
uint32_t hp_modes_inside_foreign(const hp_builder *builder, const hp_token *token);
/* Returns the kind of the outer current node for the fused loop, by the modes in which the segment
 * does the same. The loop's tokens do the same in all of them. Requires: no element is open. */
hp_open_kind hp_outer_kind(const hp_builder *builder);
/* Returns true if the token is a <tr>, whose first half prepares the table. */
bool hp_splits_row(const hp_token *token);

/* Elements that are probably open at an offset, by the last tags of the 2 KB before it. */

/* Returns whether the last tag of an `a` is a start tag. */
bool hp_follows_open_a(const char *text, uint32_t offset);

#endif
