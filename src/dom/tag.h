#ifndef HP_DOM_TAG_H
#define HP_DOM_TAG_H

/* The standard's classes of element names, as bits. */

#include "base/atom.h"
#include "base/target.h"

#include <hpar/node.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  HP_TAG_SPECIAL = 1 << 0,          //§ special
  HP_TAG_SCOPE = 1 << 1,            //§ has-an-element-in-scope
  HP_TAG_FORMATTING = 1 << 2,       //§ formatting
  HP_TAG_IMPLIED_END = 1 << 3,      //§ closing-elements-that-have-implied-end-tags
  HP_TAG_IMPLIED_THOROUGH = 1 << 4, // also in "generate all implied end tags thoroughly"
  HP_TAG_LI_BARRIER = 1 << 5,       // special, but not address, div or p
  HP_TAG_HEADING = 1 << 6,
  HP_TAG_TABLE_CONTEXT = 1 << 7, // table, tbody, tfoot, thead, tr: children may be foster parented
  HP_TAG_VOID = 1 << 8,
  HP_TAG_TABLE_PART = 1 << 9, // caption, col, colgroup, tbody, td, tfoot, th, thead, tr
  HP_TAG_BREAKOUT = 1 << 10,  // start tags that end foreign content
  HP_TAG_HTML_INTEGRATION = 1 << 11,
  HP_TAG_TEXT_INTEGRATION = 1 << 12,
  HP_TAG_OUTWARD = 1 << 13,  // a worker checks whether the tag concerns its outer context
  HP_TAG_RAW_TEXT = 1 << 14, // raw text or RCDATA: their end tag occurs only where such text ends
  HP_TAG_ITEM = 1 << 15      // dd, dt, li: their start tags close an open element of the same kind
};

HP_SHARED extern const uint16_t hp_html_tags[HP_KNOWN_ATOMS];

/* Returns the bits of an element in the HTML namespace. */
static inline uint16_t hp_html_tag(hp_atom name) { return name < HP_KNOWN_ATOMS ? hp_html_tags[name] : 0; }

/* Returns true if the tree builder reads attribute values of this tag, or adds attributes to its
 * element later. */
static inline bool hp_reads_values(hp_atom name) {
  return name == HP_ATOM_HTML || name == HP_ATOM_BODY || name == HP_ATOM_META || name == HP_ATOM_INPUT ||
         name == HP_ATOM_SELECT || name == HP_ATOM_ANNOTATION_XML;
}

enum { HP_FORMATTING_NAMES = 14 };

extern const uint8_t hp_formatting_indices_and_one[HP_KNOWN_ATOMS];

/* Returns the index of a formatting element's name, or -1. */
static inline int hp_formatting_index(hp_atom name) {
  return name < HP_KNOWN_ATOMS ? hp_formatting_indices_and_one[name] - 1 : -1;
}

/* Returns the name with an index that hp_formatting_index has returned. */
hp_atom hp_formatting_name(int index);

/* Returns the bits of an element in the SVG or MathML namespace. The integration bits of
 * annotation-xml depend on its attributes, so they are not included. */
HP_SHARED uint16_t hp_foreign_tag(uint8_t ns, hp_atom name);

/* Returns the tag name in the SVG namespace, "foreignObject" for "foreignobject". Most names remain
 * unchanged. */
HP_SHARED hp_atom hp_svg_tag_name(hp_atom name);

/* Returns the attribute name on an element of namespace `ns`. */
hp_atom hp_foreign_attribute_name(uint8_t ns, hp_atom name);

/*** tag names that the rules treat alike, for tables and switches ***/

/* Their start tags close a p, their end tags close them; p, pre, listing and form are special cases
 * of it. So are address and div, which do not bound the search for an open li, and dialog, which is
 * not special. */
// clang-format off
#define HP_EACH_BLOCK(_) \
  _(ARTICLE) _(ASIDE) _(BLOCKQUOTE) _(CENTER) _(DETAILS) _(DIR) _(DL) _(FIELDSET) _(FIGCAPTION) _(FIGURE) _(FOOTER) \
  _(HEADER) _(HGROUP) _(MAIN) _(MENU) _(NAV) _(OL) _(SEARCH) _(SECTION) _(SUMMARY) _(UL)
#define HP_EACH_LOW_HEADING(_) _(H2) _(H3) _(H4) _(H5) _(H6)
/* Formatting elements except a, nobr and font. */
#define HP_EACH_PHRASE(_) _(B) _(BIG) _(CODE) _(EM) _(I) _(S) _(SMALL) _(STRIKE) _(STRONG) _(TT) _(U)
/* Tags that the rules for "in head" process, except base. */
#define HP_EACH_METADATA(_) \
  _(BASEFONT) _(BGSOUND) _(LINK) _(META) _(NOFRAMES) _(SCRIPT) _(STYLE) _(TEMPLATE) _(TITLE)
// clang-format on

/* Labels of a switch: `case HP_ANY_BLOCK: case HP_ATOM_P:`. */
#define HP_OR_CASE(name) : case HP_ATOM_##name
#define HP_ANY_BLOCK HP_ATOM_ADDRESS HP_OR_CASE(DIALOG) HP_OR_CASE(DIV) HP_EACH_BLOCK(HP_OR_CASE)
#define HP_ANY_HEADING HP_ATOM_H1 HP_EACH_LOW_HEADING(HP_OR_CASE)
#define HP_ANY_PHRASE HP_ATOM_FONT HP_EACH_PHRASE(HP_OR_CASE)
#define HP_ANY_METADATA HP_ATOM_BASE HP_EACH_METADATA(HP_OR_CASE)

#endif
