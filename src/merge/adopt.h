#ifndef HP_MERGE_ADOPT_H
#define HP_MERGE_ADOPT_H

/* Adoption of a worker's nodes, and the repairs that let more segments be adopted.
 *
 * A worker assumes that no formatting element of its outer context must be reconstructed. If one
 * must be, each insertion that reconstructs would put clones of those elements around itself and
 * around all later children of its parent. The clones change nothing else: they bound no scope,
 * they are not special, and no implied end tag closes them. The merger therefore inserts the clones
 * into the worker's tree. Segments in which the clones could matter are excluded: see
 * hp_can_reconstruct.
 *
 * Noah's Ark clause removes the earliest of three equal entries before the list takes another equal
 * one. A worker sees only its own entries. If the outer context has equal ones, they are earlier,
 * so the clause removes an outer entry. That entry's element stays open, so the run remains as it
 * is. Only a later reconstruction lacks the entry. docs/soundness.md has the proof. */

#include "speculation/log.h"

/* Adopts a segment: the nodes of its run become children of the builder's current node. The builder
 * gets its open elements, formatting entries, mode, form pointer and errors. An exact builder
 * reconstructs formatting elements in the run if the segment assumes that none is to be
 * reconstructed. Requires: all other assumptions of the segment hold. A speculative builder has an
 * open element. */
void hp_adopt_segment(hp_builder *builder, const hp_log *log, uint32_t segment);

/* Returns whether hp_adopt_segment can reconstruct the formatting elements in the segment's run.
 * Requires: an exact builder. */
bool hp_can_reconstruct(const hp_builder *builder, const hp_segment *segment);
/* Returns whether hp_adopt_segment can apply Noah's Ark clause for the segment. */
bool hp_can_apply_ark(const hp_segment *segment);

#endif
