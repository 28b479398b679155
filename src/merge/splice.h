#ifndef HP_MERGE_SPLICE_H
#define HP_MERGE_SPLICE_H

#include "speculation/log.h"

/* Splices a segment into the tree of a builder. The nodes of its run become children of the current
 * node. The builder gets its open elements, formatting entries, mode, form pointer and errors.
 * An exact builder reconstructs formatting elements in the run if the segment assumes that none is
 * to be reconstructed. Requires: all other assumptions of the segment hold. A speculative builder
 * has an open element. */
void hp_splice(hp_builder *builder, const hp_log *log, uint32_t segment);

#endif
