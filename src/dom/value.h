#ifndef HP_DOM_VALUE_H
#define HP_DOM_VALUE_H

/* Attribute values with character references. The tokenizer defers such a value: it keeps the span
 * of the input and sets a bit in the block. The first reader decodes the value into the spare bytes
 * of the document's range. The parse reserves these bytes, so decoding never fails. One lock of the
 * document protects all its deferred values. Other values need no lock. */

#include "dom/node.h"
#include "text/references/references.h"

/* Returns the attribute with this name, or NULL. `attributes` may be NULL. */
static inline const hp_attribute *hp_find_attribute(const hp_attributes *attributes, hp_atom name) {
  if (!attributes) return NULL;
  for (const hp_attribute *item = attributes->items, *end = item + attributes->count; item < end; item++)
    if (item->name == name) return item;
  return NULL;
}

/* Decodes a deferred value. Returns the value. */
__attribute__((cold)) hpar_string hp_decode_value(const hpar_document *document, const hp_attributes *block,
                                                  uint32_t index);

static inline bool hp_is_deferred(const hp_attributes *block, uint32_t index) {
  return index < HP_MAX_DEFERRED && atomic_load_explicit(&block->deferred, memory_order_acquire) >> index & 1;
}

/* Does the same for `item`, an attribute of `block`. */
static inline bool hp_is_item_deferred(const hp_attributes *block, const hp_attribute *item) {
  return hp_is_deferred(block, (uint32_t)(item - block->items));
}

/* Returns the value of `item`, an attribute of `block`. Requires: the parse has ended. */
static inline hpar_string hp_attribute_value(const hpar_document *document, const hp_attributes *block,
                                             const hp_attribute *item) {
  uint32_t index = (uint32_t)(item - block->items);
  if (__builtin_expect(hp_is_deferred(block, index), 0)) return hp_decode_value(document, block, index);
  return (hpar_string){item->value, item->length};
}

/* Returns the value of attribute `index` during a parse. Decodes a deferred value into the arena.
 * Does not change the block, which other threads may read. */
HP_SHARED hpar_string hp_read_value(const hp_attributes *block, uint32_t index, hp_arena *bytes);

/* Returns true if the values of the two attributes are equal. Decodes only the bytes up to the
 * first difference. */
bool hp_values_equal(const hp_attributes *left, uint32_t i, const hp_attributes *right, uint32_t j);

/* Reads a value byte by byte without memory for the decoded value. */
typedef struct hp_value_reader {
  const char *at, *end;
  bool is_deferred;
  unsigned used, length; /* of the bytes of a reference */
  char bytes[8];
} hp_value_reader;

hp_value_reader hp_value_reader_of(const hp_attributes *block, uint32_t index);
/* Returns the next byte, or -1 after the last. */
int hp_next_value_byte(hp_value_reader *reader);

/* Returns whether the display size of a select with this attribute `size`, and without `multiple`,
 * is 1. It is 0 for "0", although browsers then show one option. */
bool hp_display_size_is_one(const char *size, size_t length);

#endif
