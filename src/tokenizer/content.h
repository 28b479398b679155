#ifndef HP_TOKENIZER_CONTENT_H
#define HP_TOKENIZER_CONTENT_H

/* The content model that the tokenizer uses after the start tag of an HTML element, if the tree
 * builder inserts that element. */

#include "base/atom.h"
#include "tokenizer/tokenizer.h"

static inline hp_content hp_content_of(hp_atom element, bool scripting) {
  switch (element) {
    case HP_ATOM_TITLE:
    case HP_ATOM_TEXTAREA: return HP_CONTENT_RCDATA;
    case HP_ATOM_STYLE:
    case HP_ATOM_XMP:
    case HP_ATOM_IFRAME:
    case HP_ATOM_NOEMBED:
    case HP_ATOM_NOFRAMES: return HP_CONTENT_RAWTEXT;
    case HP_ATOM_NOSCRIPT: return scripting ? HP_CONTENT_RAWTEXT : HP_CONTENT_DATA;
    case HP_ATOM_SCRIPT: return HP_CONTENT_SCRIPT_DATA;
    case HP_ATOM_PLAINTEXT: return HP_CONTENT_PLAINTEXT;
    default: return HP_CONTENT_DATA;
  }
}

#endif
