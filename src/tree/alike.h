#ifndef HP_TREE_ALIKE_H
#define HP_TREE_ALIKE_H

/* Tag names that "in body" treats alike, as labels of a switch:
 * `case HP_ANY_BLOCK: case HP_ATOM_P:`. */

/* Their start tags close a p, their end tags close them; p, pre, listing and form are special cases
 * of it. */
#define HP_ANY_BLOCK       \
  HP_ATOM_ADDRESS:         \
  case HP_ATOM_ARTICLE:    \
  case HP_ATOM_ASIDE:      \
  case HP_ATOM_BLOCKQUOTE: \
  case HP_ATOM_CENTER:     \
  case HP_ATOM_DETAILS:    \
  case HP_ATOM_DIALOG:     \
  case HP_ATOM_DIR:        \
  case HP_ATOM_DIV:        \
  case HP_ATOM_DL:         \
  case HP_ATOM_FIELDSET:   \
  case HP_ATOM_FIGCAPTION: \
  case HP_ATOM_FIGURE:     \
  case HP_ATOM_FOOTER:     \
  case HP_ATOM_HEADER:     \
  case HP_ATOM_HGROUP:     \
  case HP_ATOM_MAIN:       \
  case HP_ATOM_MENU:       \
  case HP_ATOM_NAV:        \
  case HP_ATOM_OL:         \
  case HP_ATOM_SEARCH:     \
  case HP_ATOM_SECTION:    \
  case HP_ATOM_SUMMARY:    \
  case HP_ATOM_UL

#define HP_ANY_HEADING \
  HP_ATOM_H1:          \
  case HP_ATOM_H2:     \
  case HP_ATOM_H3:     \
  case HP_ATOM_H4:     \
  case HP_ATOM_H5:     \
  case HP_ATOM_H6

/* Formatting elements except a and nobr. */
#define HP_ANY_PHRASE  \
  HP_ATOM_B:           \
  case HP_ATOM_BIG:    \
  case HP_ATOM_CODE:   \
  case HP_ATOM_EM:     \
  case HP_ATOM_FONT:   \
  case HP_ATOM_I:      \
  case HP_ATOM_S:      \
  case HP_ATOM_SMALL:  \
  case HP_ATOM_STRIKE: \
  case HP_ATOM_STRONG: \
  case HP_ATOM_TT:     \
  case HP_ATOM_U

/* Tags that the rules for "in head" process. */
#define HP_ANY_METADATA  \
  HP_ATOM_BASE:          \
  case HP_ATOM_BASEFONT: \
  case HP_ATOM_BGSOUND:  \
  case HP_ATOM_LINK:     \
  case HP_ATOM_META:     \
  case HP_ATOM_NOFRAMES: \
  case HP_ATOM_SCRIPT:   \
  case HP_ATOM_STYLE:    \
  case HP_ATOM_TEMPLATE: \
  case HP_ATOM_TITLE

#endif
