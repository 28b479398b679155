#ifndef HP_DOM_SERIALIZE_TEXT_CLASS_H
#define HP_DOM_SERIALIZE_TEXT_CLASS_H

#include "base/names.h"
#include "dom/node.h"

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
