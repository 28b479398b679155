#include "dom/tag.h"

#include <hpar/node.h>

enum {
  S = HP_TAG_SPECIAL | HP_TAG_LI_BARRIER,
  P = HP_TAG_SPECIAL, /* special, but the search for an open li, dd or dt continues past it */
  C = HP_TAG_SCOPE,
  F = HP_TAG_FORMATTING,
  I = HP_TAG_IMPLIED_END | HP_TAG_IMPLIED_THOROUGH,
  T = HP_TAG_IMPLIED_THOROUGH,
  H = HP_TAG_HEADING,
  X = HP_TAG_TABLE_CONTEXT,
  V = HP_TAG_VOID,
  R = HP_TAG_TABLE_PART,
  B = HP_TAG_BREAKOUT,
  O = HP_TAG_OUTWARD,
  W = HP_TAG_RAW_TEXT,
  L = HP_TAG_ITEM
};

const uint16_t hp_html_tags[HP_KNOWN_ATOMS] = {
#define HEADING(name) [HP_ATOM_##name] = S | H | B,
#define PHRASE(name) [HP_ATOM_##name] = F | B,
    HP_EACH_LOW_HEADING(HEADING) HP_EACH_PHRASE(PHRASE)[HP_ATOM_ADDRESS] = P,
    [HP_ATOM_APPLET] = S | C,
    [HP_ATOM_AREA] = S | V,
    [HP_ATOM_ARTICLE] = S,
    [HP_ATOM_ASIDE] = S,
    [HP_ATOM_BASE] = S | V,
    [HP_ATOM_BASEFONT] = S | V,
    [HP_ATOM_BGSOUND] = S | V,
    [HP_ATOM_BLOCKQUOTE] = S | B,
    [HP_ATOM_BODY] = S | B | O,
    [HP_ATOM_BR] = S | V | B,
    [HP_ATOM_BUTTON] = S,
    [HP_ATOM_CAPTION] = S | C | T | R | O,
    [HP_ATOM_CENTER] = S | B,
    [HP_ATOM_COL] = S | V | R | O,
    [HP_ATOM_COLGROUP] = S | T | R | O,
    [HP_ATOM_DD] = S | I | B | L,
    [HP_ATOM_DETAILS] = S,
    [HP_ATOM_DIR] = S,
    [HP_ATOM_DIV] = P | B,
    [HP_ATOM_DL] = S | B,
    [HP_ATOM_DT] = S | I | B | L,
    [HP_ATOM_EMBED] = S | V | B,
    [HP_ATOM_FIELDSET] = S,
    [HP_ATOM_FIGCAPTION] = S,
    [HP_ATOM_FIGURE] = S,
    [HP_ATOM_FOOTER] = S,
    [HP_ATOM_FORM] = S | O,
    [HP_ATOM_FRAME] = S | V,
    [HP_ATOM_FRAMESET] = S | O,
    [HP_ATOM_H1] = S | H | B,
    [HP_ATOM_HEAD] = S | B | O,
    [HP_ATOM_HEADER] = S,
    [HP_ATOM_HGROUP] = S,
    [HP_ATOM_HR] = S | V | B,
    [HP_ATOM_HTML] = S | C | O,
    [HP_ATOM_IFRAME] = S,
    [HP_ATOM_IMG] = S | V | B,
    [HP_ATOM_INPUT] = S | V,
    [HP_ATOM_KEYGEN] = S | V,
    [HP_ATOM_LI] = S | I | B | L,
    [HP_ATOM_LINK] = S | V,
    [HP_ATOM_LISTING] = S | B,
    [HP_ATOM_MAIN] = S,
    [HP_ATOM_MARQUEE] = S | C,
    [HP_ATOM_MENU] = S | B,
    [HP_ATOM_META] = S | V | B | O,
    [HP_ATOM_NAV] = S,
    [HP_ATOM_NOEMBED] = S,
    [HP_ATOM_NOFRAMES] = S,
    [HP_ATOM_NOSCRIPT] = S,
    [HP_ATOM_OBJECT] = S | C,
    [HP_ATOM_OL] = S | B,
    [HP_ATOM_OPTGROUP] = I,
    [HP_ATOM_OPTION] = I,
    [HP_ATOM_P] = P | I | B,
    [HP_ATOM_PARAM] = S | V,
    [HP_ATOM_PLAINTEXT] = S,
    [HP_ATOM_PRE] = S | B,
    [HP_ATOM_RB] = I | O,
    [HP_ATOM_RP] = I | O,
    [HP_ATOM_RT] = I | O,
    [HP_ATOM_RTC] = I | O,
    [HP_ATOM_RUBY] = B,
    [HP_ATOM_SCRIPT] = S | W | O,
    [HP_ATOM_SELECTEDCONTENT] = O,
    [HP_ATOM_SEARCH] = S,
    [HP_ATOM_SECTION] = S,
    [HP_ATOM_SELECT] = S | C,
    [HP_ATOM_SOURCE] = S | V,
    [HP_ATOM_SPAN] = B,
    [HP_ATOM_STYLE] = S | W,
    [HP_ATOM_SUB] = B,
    [HP_ATOM_SUMMARY] = S,
    [HP_ATOM_SUP] = B,
    [HP_ATOM_TABLE] = S | C | X | B,
    [HP_ATOM_TBODY] = S | X | T | R | O,
    [HP_ATOM_TD] = S | C | T | R | O,
    [HP_ATOM_TEMPLATE] = S | C | O,
    [HP_ATOM_TEXTAREA] = S | W,
    [HP_ATOM_TFOOT] = S | X | T | R | O,
    [HP_ATOM_TH] = S | C | T | R | O,
    [HP_ATOM_THEAD] = S | X | T | R | O,
    [HP_ATOM_TITLE] = S | W,
    [HP_ATOM_TR] = S | X | T | R | O,
    [HP_ATOM_TRACK] = S | V,
    [HP_ATOM_UL] = S | B,
    [HP_ATOM_VAR] = B,
    [HP_ATOM_WBR] = S | V,
    [HP_ATOM_XMP] = S,
    [HP_ATOM_A] = F,
    [HP_ATOM_FONT] = F,
    [HP_ATOM_NOBR] = F | B,
};

#define EACH_FORMATTING_NAME(_) \
  _(A) _(B) _(BIG) _(CODE) _(EM) _(FONT) _(I) _(NOBR) _(S) _(SMALL) _(STRIKE) _(STRONG) _(TT) _(U)

enum {
#define INDEX(name) INDEX_OF_##name,
  EACH_FORMATTING_NAME(INDEX) INDICES
};
_Static_assert((int)INDICES == (int)HP_FORMATTING_NAMES, "a formatting element is missing");

static const hp_atom formatting_names[] = {
#define NAME(name) HP_ATOM_##name,
    EACH_FORMATTING_NAME(NAME)};

const uint8_t hp_formatting_indices_and_one[HP_KNOWN_ATOMS] = {
#define AND_ONE(name) [HP_ATOM_##name] = INDEX_OF_##name + 1,
    EACH_FORMATTING_NAME(AND_ONE)};

hp_atom hp_formatting_name(int index) { return formatting_names[index]; }

uint16_t hp_foreign_tag(uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) {
    if (name == HP_ATOM_FOREIGNOBJECT_MIXED || name == HP_ATOM_DESC || name == HP_ATOM_TITLE)
      return S | C | HP_TAG_HTML_INTEGRATION;
  } else if (name == HP_ATOM_MI || name == HP_ATOM_MO || name == HP_ATOM_MN || name == HP_ATOM_MS ||
             name == HP_ATOM_MTEXT) {
    return S | C | HP_TAG_TEXT_INTEGRATION;
  } else if (name == HP_ATOM_ANNOTATION_XML) {
    return S | C;
  }
  return 0;
}

hp_atom hp_svg_tag_name(hp_atom name) {
  switch (name) {
#define X(lower, mixed) \
  case lower: return mixed;
    HP_SVG_TAGS(X)
#undef X
    default: return name;
  }
}

//§ adjust-svg-attributes
//§ adjust-foreign-attributes
hp_atom hp_foreign_attribute_name(uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) {
    switch (name) {
#define X(lower, mixed) \
  case lower: return mixed;
      HP_SVG_ATTRIBUTES(X)
#undef X
      default: break;
    }
  } else if (name == HP_ATOM_DEFINITIONURL) {
    return HP_ATOM_DEFINITIONURL_MIXED;
  }
  switch (name) {
#define X(plain, adjusted) \
  case plain: return adjusted;
    HP_FOREIGN_ATTRIBUTES(X)
#undef X
    default: return name;
  }
}
