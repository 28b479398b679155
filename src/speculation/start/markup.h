#ifndef HP_SPECULATION_START_MARKUP_H
#define HP_SPECULATION_START_MARKUP_H

/* Recognition of markup in bytes without a tokenizer, for predictors. */

#include "base/target.h"
#include "tokenizer/tokenizer.h"

typedef struct hp_raw_text {
  const char *name;
  hp_atom atom;
  hp_content content;
} hp_raw_text;

/* Returns whether this name, in any case, is at `at` and ends before `end`. */
HP_SHARED bool hp_tag_goes_on(const char *at, const char *end, const char *name);
static inline bool hp_tag_is(const char *at, const char *end, const char *name) {
  return at < end && (*at | 0x20) == *name && hp_tag_goes_on(at, end, name);
}
/* Returns the raw-text element whose name is at `at`, or NULL. */
HP_SHARED const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting);
/* Returns the name of the raw-text element whose name is at `at`, or 0. */
HP_SHARED hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting);
/* Returns the raw-text element of this name, or NULL. */
HP_SHARED const hp_raw_text *hp_raw_text_named(const char *name, bool scripting);
/* Returns the raw-text element of this name. Requires: there is one. */
const hp_raw_text *hp_raw_text_of_atom(hp_atom atom);
/* Converts between raw-text elements and their indices. */
HP_SHARED uint8_t hp_raw_text_index(const hp_raw_text *raw);
const hp_raw_text *hp_raw_text_of(uint8_t index);
/* Returns whether the tag that begins at `at` ends with "/>". */
bool hp_is_self_closing(const char *at, const char *end);

/* Returns the only namespace in which the name at `at` occurs, or HP_NO_NAMESPACE. */
enum { HP_NO_NAMESPACE = 0xFF };
uint8_t hp_namespace_of_name(const char *at, const char *end);

#endif
