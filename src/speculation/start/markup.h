#ifndef HP_SPECULATION_START_MARKUP_H
#define HP_SPECULATION_START_MARKUP_H

/* What predictors recognise in bare bytes. */

#include "html/tokenizer/tokenizer.h"

typedef struct hp_raw_text {
  const char *name;
  hp_atom atom;
  hp_content content;
} hp_raw_text;

/* Does this name, in either case, stand at `at`, and end before `end`? */
bool hp_tag_goes_on(const char *at, const char *end, const char *name);
static inline bool hp_tag_is(const char *at, const char *end, const char *name) {
  return at < end && (*at | 0x20) == *name && hp_tag_goes_on(at, end, name);
}
/* The element whose content is raw text and whose name stands at `at`, or NULL. */
const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting);
/* The one of this name, or NULL. */
const hp_raw_text *hp_raw_text_named(const char *name, bool scripting);
/* The one whose name this is; there is one. */
const hp_raw_text *hp_raw_text_of_atom(hp_atom atom);
/* They are numbered. */
uint8_t hp_raw_text_index(const hp_raw_text *raw);
const hp_raw_text *hp_raw_text_of(uint8_t index);
/* Is the tag that begins at `at` closed by "/>"? */
bool hp_is_self_closing(const char *at, const char *end);

/* The namespace that the tag whose name stands at `at` is in wherever it is met; HP_NO_NAMESPACE: that depends. */
enum { HP_NO_NAMESPACE = 0xFF };
uint8_t hp_namespace_of_name(const char *at, const char *end);

#endif
