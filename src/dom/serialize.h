#ifndef HP_DOM_SERIALIZE_H
#define HP_DOM_SERIALIZE_H

/* What serialisers share: copies into a buffer of the caller, and what elements mean for text. */

#include "base/names.h"
#include "dom/node.h"

#include <hpar/node.h>
#include <string.h>

/* A buffer of the caller that receives as much as fits. `length` counts all. */
typedef struct hp_copy {
  char *to;
  size_t length, capacity;
} hp_copy;

/* An hpar_write_callback for an hp_copy. */
hpar_status hp_copy_piece(const char *bytes, size_t length, void *copy);

/* The effect of an element on the text. */
enum {
  HP_TEXT_INLINE,
  HP_TEXT_BLOCK,
  HP_TEXT_CELL,
  HP_TEXT_BREAK,
  HP_TEXT_KEEPS,        /* a block whose white space is kept */
  HP_TEXT_INLINE_KEEPS, /* textarea */
  HP_TEXT_OMITTED
};

extern const uint8_t hp_text_classes[HP_KNOWN_ATOMS]; /* by HTML element */

static inline uint8_t hp_text_class(const hp_node *element) {
  if (element->name >= HP_KNOWN_ATOMS) return HP_TEXT_INLINE;
  if (element->ns == HPAR_NAMESPACE_HTML) return hp_text_classes[element->name];
  return element->name == HP_ATOM_SCRIPT || element->name == HP_ATOM_STYLE ? HP_TEXT_OMITTED : HP_TEXT_INLINE;
}

#endif
