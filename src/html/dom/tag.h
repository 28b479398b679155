#ifndef HP_HTML_DOM_TAG_H
#define HP_HTML_DOM_TAG_H

/* What the standard says about element names, as bits. */

#include "base/atom.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  HP_TAG_SPECIAL = 1 << 0,          //§ special
  HP_TAG_SCOPE = 1 << 1,            //§ has-an-element-in-scope
  HP_TAG_FORMATTING = 1 << 2,       //§ formatting
  HP_TAG_IMPLIED_END = 1 << 3,      //§ closing-elements-that-have-implied-end-tags
  HP_TAG_IMPLIED_THOROUGH = 1 << 4, // those of "generate all implied end tags thoroughly"
  HP_TAG_LI_BARRIER = 1 << 5,       // special, but not address, div or p
  HP_TAG_HEADING = 1 << 6,
  HP_TAG_TABLE_CONTEXT = 1 << 7, // table, tbody, tfoot, thead, tr: children may be foster parented
  HP_TAG_VOID = 1 << 8,
  HP_TAG_TABLE_PART = 1 << 9, // caption, col, colgroup, tbody, td, tfoot, th, thead, tr
  HP_TAG_BREAKOUT = 1 << 10,  // start tags that end foreign content
  HP_TAG_HTML_INTEGRATION = 1 << 11,
  HP_TAG_TEXT_INTEGRATION = 1 << 12,
  HP_TAG_OUTWARD = 1 << 13,  // tags of which a worker must ask whether they reach below its own elements
  HP_TAG_RAW_TEXT = 1 << 14, // end tags that only stand where such text ends
  HP_TAG_ITEM = 1 << 15      // dd, dt, li: their start tags look for one of their kind to close
};

extern const uint16_t hp_html_tags[HP_KNOWN_ATOMS];

/* Bits of an element in the HTML namespace. */
static inline uint16_t hp_html_tag(hp_atom name) { return name < HP_KNOWN_ATOMS ? hp_html_tags[name] : 0; }

enum { HP_FORMATTING_NAMES = 14 };

extern const uint8_t hp_formatting_indices_and_one[HP_KNOWN_ATOMS];

/* Index of a formatting element's name, or -1; and back. */
static inline int hp_formatting_index(hp_atom name) {
  return name < HP_KNOWN_ATOMS ? hp_formatting_indices_and_one[name] - 1 : -1;
}
hp_atom hp_formatting_name(int index);

/* Bits of an element in the SVG or MathML namespace; annotation-xml's integration depends on its attributes. */
uint16_t hp_foreign_tag(uint8_t ns, hp_atom name);

/* The tag name as it stands in the SVG namespace, "foreignObject" for "foreignobject"; others unchanged. */
hp_atom hp_svg_tag_name(hp_atom name);

/* The attribute name as it stands on an element of namespace `ns`. */
hp_atom hp_foreign_attribute_name(uint8_t ns, hp_atom name);

#endif
