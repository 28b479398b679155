#ifndef HP_MERGE_RECONSTRUCT_H
#define HP_MERGE_RECONSTRUCT_H

/* Reconstruction of formatting elements in the run of a segment.
 *
 * A worker assumes that no formatting element of its outer context must be reconstructed. If one
 * must be, each insertion that reconstructs would put clones of those elements around itself and
 * around all later children of its parent. The clones change nothing else: they bound no scope,
 * they are not special, and no implied end tag closes them. The merger therefore inserts the clones
 * into the worker's tree. Segments in which the clones could matter are excluded: see
 * hp_can_reconstruct. */

#include "speculation/log.h"

/* Returns whether hp_splice can reconstruct the formatting elements in the run of the segment.
 * Requires: an exact builder. */
bool hp_can_reconstruct(const hp_builder *builder, const hp_segment *segment);

/* Returns whether the run of the segment reconstructs formatting elements here. */
bool hp_must_reconstruct(const hp_builder *builder, const hp_segment *segment);
/* Returns whether the first node of the run reconstructs them. */
bool hp_run_begins_with_reconstruction(const hp_builder *builder, const hp_segment *segment);
/* Reconstructs them in the run, which is spliced in. Pushes the first `*pushed` open elements of
 * the segment. Returns the number of clones that stay open above them. Requires:
 * hp_can_reconstruct. Applies Noah's Ark clause for `names` (see merge/ark.h) from the first such
 * insertion on. */
uint32_t hp_reconstruct_in_run(hp_builder *builder, const hp_log *log, const hp_segment *segment, uint32_t names,
                               uint32_t *pushed);

#endif
