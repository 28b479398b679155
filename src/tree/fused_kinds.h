#ifndef HP_TREE_FUSED_KINDS_H
#define HP_TREE_FUSED_KINDS_H

/* The tags that the fused loop (tree/fused.inc) processes, by kind. */

#include "base/atom.h"

/* How the loop processes a tag. The kind of a start tag determines which links of the stack the
 * element changes. */
typedef enum hp_fused_kind {
  HP_FUSED_OTHER, /* the loop leaves the tag to its caller */
  HP_FUSED_ORDINARY,
  HP_FUSED_DIV,   /* special: closes a p */
  HP_FUSED_BLOCK, /* also bounds the search for an open li */
  HP_FUSED_HEADING,
  HP_FUSED_ITEM, /* li, dd, dt */
  HP_FUSED_FORMATTING,
  HP_FUSED_VOID,
  HP_FUSED_CELL, /* td, th */
  HP_FUSED_ROW   /* tr */
} hp_fused_kind;

/* By name: the kind of the start tag. */
extern const uint8_t hp_fused_starts[HP_KNOWN_ATOMS];
/* By the name of the current node: the kind of its end tag. Most are ORDINARY. */
extern const uint8_t hp_fused_ends[HP_TESTED_TAGS];

#endif
