#ifndef HP_MERGE_ARK_H
#define HP_MERGE_ARK_H

/* Noah's Ark clause for the formatting elements of a segment.
 *
 * The clause removes the earliest of three equal entries before the list takes another equal one. A
 * worker sees only its own entries. If the outer context has equal ones, they are earlier, so the
 * clause removes an outer entry. That entry's element stays open, so the run remains as it is. Only
 * a later reconstruction lacks the entry. docs/soundness.md has the proof. */

#include "speculation/log.h"

/* Returns the formatting elements (bit i: name i) of which the outer entries and those of the
 * segment may be more than three. Requires: an exact builder, without the segment's entries. */
uint32_t hp_names_beyond_ark(hp_builder *builder, const hp_segment *segment);
/* Returns whether hp_apply_ark can apply the clause for the segment. */
bool hp_can_apply_ark(const hp_segment *segment);
/* Applies the clause for the formatting elements with these names, in tree order, from `first` to
 * the end of its ancestor `root`. */
void hp_apply_ark(hp_builder *builder, hp_ref first, hp_ref root, uint32_t names);

#endif
