#ifndef HP_TOKENIZER_ATTRIBUTE_VALUE_H
#define HP_TOKENIZER_ATTRIBUTE_VALUE_H

/* Attribute values that are not plain spans: character references, CR, NUL, unquoted values. A
 * value whose references are its only special bytes stays a span, and its first reader decodes it
 * (dom/value.h). */

#include "dom/value.h"
#include "tokenizer/states.h"

/* The attributes of a tag while the tokenizer reads it. They are at the end of the nodes' arena,
 * which is updated when the tag is complete. At the end of a slab they move to another one.
 *
 * items <= item <= limit; attributes == nodes->at unless the arena allocated them elsewhere. */
typedef struct hp_tag_state {
  hp_attributes *attributes;
  hp_attribute *item;
  const char *limit;
  uint32_t serial, deferred; /* deferred: as in hp_attributes */
  hp_atom name;
  uint8_t flags; /* HP_TOKEN_SELF_CLOSING */
} hp_tag_state;

/* Returns the bit of the next attribute in hp_attributes.deferred, or 0 if it has none. */
static inline uint32_t hp_next_value_bit(const hp_tag_state *tag) {
  ptrdiff_t index = tag->item - tag->attributes->items;
  return index < HP_MAX_DEFERRED ? UINT32_C(1) << index : 0;
}

/* Reads the quoted value of the next attribute, which begins at `value`. Its first special byte is
 * at `stop`. Returns the address of the quote, or the end of the input. */
const char *hp_read_special_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, const char *stop, char quote,
                                  hp_attribute *attribute);

/* Reads the unquoted value of the next attribute. Returns its end. */
const char *hp_read_unquoted_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, hp_attribute *attribute);

#endif
