#ifndef HP_TREE_ALIKE_H
#define HP_TREE_ALIKE_H

/* Tag names that "in body" treats alike, as labels of a switch: `case HP_ANY_BLOCK: case HP_P:`. */

/* Their start tags close a p, their end tags close them; p, pre, listing and form are special cases
 * of it. */
#define HP_ANY_BLOCK  \
  HP_ADDRESS:         \
  case HP_ARTICLE:    \
  case HP_ASIDE:      \
  case HP_BLOCKQUOTE: \
  case HP_CENTER:     \
  case HP_DETAILS:    \
  case HP_DIALOG:     \
  case HP_DIR:        \
  case HP_DIV:        \
  case HP_DL:         \
  case HP_FIELDSET:   \
  case HP_FIGCAPTION: \
  case HP_FIGURE:     \
  case HP_FOOTER:     \
  case HP_HEADER:     \
  case HP_HGROUP:     \
  case HP_MAIN:       \
  case HP_MENU:       \
  case HP_NAV:        \
  case HP_OL:         \
  case HP_SEARCH:     \
  case HP_SECTION:    \
  case HP_SUMMARY:    \
  case HP_UL

#define HP_ANY_HEADING \
  HP_H1:               \
  case HP_H2:          \
  case HP_H3:          \
  case HP_H4:          \
  case HP_H5:          \
  case HP_H6

/* Formatting elements except a and nobr. */
#define HP_ANY_PHRASE \
  HP_B:               \
  case HP_BIG:        \
  case HP_CODE:       \
  case HP_EM:         \
  case HP_FONT:       \
  case HP_I:          \
  case HP_S:          \
  case HP_SMALL:      \
  case HP_STRIKE:     \
  case HP_STRONG:     \
  case HP_TT:         \
  case HP_U

/* Tags that the rules for "in head" process. */
#define HP_ANY_METADATA \
  HP_BASE:              \
  case HP_BASEFONT:     \
  case HP_BGSOUND:      \
  case HP_LINK:         \
  case HP_META:         \
  case HP_NOFRAMES:     \
  case HP_SCRIPT:       \
  case HP_STYLE:        \
  case HP_TEMPLATE:     \
  case HP_TITLE

#endif
