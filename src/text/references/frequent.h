#ifndef HP_TEXT_REFERENCES_FREQUENT_H
#define HP_TEXT_REFERENCES_FREQUENT_H

/* The references that pages use most, with their semicolons. A look-up takes one load of 8 bytes,
 * one multiplication and one comparison. */

#include "base/bytes.h"

typedef struct hp_frequent_reference {
  uint64_t bytes;                      /* the name and the semicolon, in the highest bytes */
  char value[4];                       /* UTF-8 */
  uint8_t length, value_length, shift; /* `length` includes the semicolon */
} hp_frequent_reference;

/* The slot of a reference, by its first two characters. No two references here have the same. */
#define HP_FREQUENT_SLOT(pair) ((uint16_t)((pair)*87u) >> 12)

extern const hp_frequent_reference hp_frequent_references[16];

/* Returns the frequent reference whose name begins at `name`, or NULL. Requires: 8 bytes are
 * readable. */
static inline const hp_frequent_reference *hp_find_frequent_reference(const char *name) {
  uint64_t bytes = hp_load_64(name);
  const hp_frequent_reference *found = &hp_frequent_references[HP_FREQUENT_SLOT((uint16_t)bytes)];
  return bytes << found->shift == found->bytes && found->length ? found : NULL;
}

#endif
