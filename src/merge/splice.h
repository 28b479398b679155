#ifndef HP_MERGE_SPLICE_H
#define HP_MERGE_SPLICE_H

#include "speculation/log.h"

/* Takes a segment as a whole, all of whose assumptions hold here: its run goes under the current node, and what it left
 * open, its formatting entries, mode, form pointer and errors become the builder's. The builder may be either one; a
 * speculative one has something of its own open. */
void hp_splice(hp_builder *builder, const hp_log *log, uint32_t segment);

#endif
