#ifndef HP_BASE_SHORT_NAME_H
#define HP_BASE_SHORT_NAME_H

/* The names of the standard that have at most 8 bytes. A look-up takes one load of 8 bytes, one
 * multiplication and one comparison. scripts/generate-names chooses the multiplier such that each
 * slot has at most one name. */

#include "base/atom.h"
#include "base/load.h"

/* The key is the name, padded with zeros. No name has the key 0, which has the slot 0. The entry
 * there has another key. */
typedef struct hp_short_name {
  uint64_t key;
  hp_atom atom;
} hp_short_name;

extern const struct hp_short_names { // value
  uint64_t masks[18];                /* by length; 0: too long */
  hp_short_name slots[HP_SHORT_SLOTS];
} hp_short_names;

/* Returns the atom of a common name of the standard, or HP_NO_ATOM. The case is ignored. Requires:
 * `length` is at most 17, 8 bytes are readable, and the name has no controls.
 *
 * Bit 5 makes upper case lower case. It also changes '@' and the five bytes from '[' to '_'. No
 * name in the table has such a byte or its image. */
static inline hp_atom hp_short_name_atom(const char *name, unsigned length) {
  uint64_t key = (hp_load_64(name) | UINT64_C(0x2020202020202020)) & hp_short_names.masks[length];
  const hp_short_name *slot = &hp_short_names.slots[key * HP_SHORT_K >> HP_SHORT_SHIFT];
  return slot->key == key ? slot->atom : HP_NO_ATOM;
}

/* The name of a tag with the '>' after it, in the highest bytes of a word. */
typedef struct hp_end_name {
  uint64_t bytes;
  uint8_t shift, length; /* `length` is without '>' */
} hp_end_name;

/* The entry of a name with more than 7 bytes matches nothing. */
extern const hp_end_name hp_end_names[HP_TESTED_TAGS];

/* Returns the length of the name of `tag` if the name and '>' are at `at`; otherwise 0. Finds lower
 * case and frequent names only. Requires: 8 bytes are readable. */
static inline unsigned hp_end_name_length(const char *at, hp_atom tag) {
  if (tag >= HP_TESTED_TAGS) return 0;
  const hp_end_name *name = &hp_end_names[tag];
  return hp_load_64(at) << name->shift == name->bytes ? name->length : 0;
}

#endif
