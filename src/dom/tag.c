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
    [HP_ADDRESS] = P,
    [HP_APPLET] = S | C,
    [HP_AREA] = S | V,
    [HP_ARTICLE] = S,
    [HP_ASIDE] = S,
    [HP_BASE] = S | V,
    [HP_BASEFONT] = S | V,
    [HP_BGSOUND] = S | V,
    [HP_BLOCKQUOTE] = S | B,
    [HP_BODY] = S | B | O,
    [HP_BR] = S | V | B,
    [HP_BUTTON] = S,
    [HP_CAPTION] = S | C | T | R | O,
    [HP_CENTER] = S | B,
    [HP_COL] = S | V | R | O,
    [HP_COLGROUP] = S | T | R | O,
    [HP_DD] = S | I | B | L,
    [HP_DETAILS] = S,
    [HP_DIR] = S,
    [HP_DIV] = P | B,
    [HP_DL] = S | B,
    [HP_DT] = S | I | B | L,
    [HP_EMBED] = S | V | B,
    [HP_FIELDSET] = S,
    [HP_FIGCAPTION] = S,
    [HP_FIGURE] = S,
    [HP_FOOTER] = S,
    [HP_FORM] = S | O,
    [HP_FRAME] = S | V,
    [HP_FRAMESET] = S | O,
    [HP_H1] = S | H | B,
    [HP_H2] = S | H | B,
    [HP_H3] = S | H | B,
    [HP_H4] = S | H | B,
    [HP_H5] = S | H | B,
    [HP_H6] = S | H | B,
    [HP_HEAD] = S | B | O,
    [HP_HEADER] = S,
    [HP_HGROUP] = S,
    [HP_HR] = S | V | B,
    [HP_HTML] = S | C | O,
    [HP_IFRAME] = S,
    [HP_IMG] = S | V | B,
    [HP_INPUT] = S | V,
    [HP_KEYGEN] = S | V,
    [HP_LI] = S | I | B | L,
    [HP_LINK] = S | V,
    [HP_LISTING] = S | B,
    [HP_MAIN] = S,
    [HP_MARQUEE] = S | C,
    [HP_MENU] = S | B,
    [HP_META] = S | V | B | O,
    [HP_NAV] = S,
    [HP_NOEMBED] = S,
    [HP_NOFRAMES] = S,
    [HP_NOSCRIPT] = S,
    [HP_OBJECT] = S | C,
    [HP_OL] = S | B,
    [HP_OPTGROUP] = I,
    [HP_OPTION] = I,
    [HP_P] = P | I | B,
    [HP_PARAM] = S | V,
    [HP_PLAINTEXT] = S,
    [HP_PRE] = S | B,
    [HP_RB] = I | O,
    [HP_RP] = I | O,
    [HP_RT] = I | O,
    [HP_RTC] = I | O,
    [HP_RUBY] = B,
    [HP_SCRIPT] = S | W | O,
    [HP_SELECTEDCONTENT] = O,
    [HP_SEARCH] = S,
    [HP_SECTION] = S,
    [HP_SELECT] = S | C,
    [HP_SOURCE] = S | V,
    [HP_SPAN] = B,
    [HP_STYLE] = S | W,
    [HP_SUB] = B,
    [HP_SUMMARY] = S,
    [HP_SUP] = B,
    [HP_TABLE] = S | C | X | B,
    [HP_TBODY] = S | X | T | R | O,
    [HP_TD] = S | C | T | R | O,
    [HP_TEMPLATE] = S | C | O,
    [HP_TEXTAREA] = S | W,
    [HP_TFOOT] = S | X | T | R | O,
    [HP_TH] = S | C | T | R | O,
    [HP_THEAD] = S | X | T | R | O,
    [HP_TITLE] = S | W,
    [HP_TR] = S | X | T | R | O,
    [HP_TRACK] = S | V,
    [HP_UL] = S | B,
    [HP_VAR] = B,
    [HP_WBR] = S | V,
    [HP_XMP] = S,
    [HP_A] = F,
    [HP_B] = F | B,
    [HP_BIG] = F | B,
    [HP_CODE] = F | B,
    [HP_EM] = F | B,
    [HP_FONT] = F,
    [HP_I] = F | B,
    [HP_NOBR] = F | B,
    [HP_S] = F | B,
    [HP_SMALL] = F | B,
    [HP_STRIKE] = F | B,
    [HP_STRONG] = F | B,
    [HP_TT] = F | B,
    [HP_U] = F | B,
};

#define EACH_FORMATTING_NAME(_) \
  _(A) _(B) _(BIG) _(CODE) _(EM) _(FONT) _(I) _(NOBR) _(S) _(SMALL) _(STRIKE) _(STRONG) _(TT) _(U)

enum {
#define INDEX(name) INDEX_OF_##name,
  EACH_FORMATTING_NAME(INDEX) INDICES
};
_Static_assert((int)INDICES == (int)HP_FORMATTING_NAMES, "a formatting element is missing");

static const hp_atom formatting_names[] = {
#define NAME(name) HP_##name,
    EACH_FORMATTING_NAME(NAME)};

const uint8_t hp_formatting_indices_and_one[HP_KNOWN_ATOMS] = {
#define AND_ONE(name) [HP_##name] = INDEX_OF_##name + 1,
    EACH_FORMATTING_NAME(AND_ONE)};

hp_atom hp_formatting_name(int index) { return formatting_names[index]; }

uint16_t hp_foreign_tag(uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) {
    if (name == HP_FOREIGNOBJECT_MIXED || name == HP_DESC || name == HP_TITLE) return S | C | HP_TAG_HTML_INTEGRATION;
  } else if (name == HP_MI || name == HP_MO || name == HP_MN || name == HP_MS || name == HP_MTEXT) {
    return S | C | HP_TAG_TEXT_INTEGRATION;
  } else if (name == HP_ANNOTATION_XML) {
    return S | C;
  }
  return 0;
}

//§ adjust-svg-attributes
//§ adjust-foreign-attributes
hp_atom hp_svg_tag_name(hp_atom name) {
  switch (name) {
#define X(lower, mixed) \
  case lower: return mixed;
    HP_SVG_TAGS(X)
#undef X
    default: return name;
  }
}

hp_atom hp_foreign_attribute_name(uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) {
    switch (name) {
#define X(lower, mixed) \
  case lower: return mixed;
      HP_SVG_ATTRIBUTES(X)
#undef X
      default: break;
    }
  } else if (name == HP_DEFINITIONURL) {
    return HP_DEFINITIONURL_MIXED;
  }
  switch (name) {
#define X(plain, adjusted) \
  case plain: return adjusted;
    HP_FOREIGN_ATTRIBUTES(X)
#undef X
    default: return name;
  }
}
