#ifndef HP_MERGE_NOTE_H
#define HP_MERGE_NOTE_H

/* The entries of the merger in the record of a parse. Each function requires a record. */

#include "merge/merge.h"

#include <hpar/study.h>

/* Adds a chunk. The merger is at its first token boundary, or at the end of the input. */
void hp_note_chunk(hp_merger *merger, const hp_chunk_work *chunk);
/* Describes the worker's result. `hypothesis` is the start hypothesis that is right, or -1. */
void hp_note_start(hp_merger *merger, const hp_chunk_work *chunk, int hypothesis);
/* Describes the outcome of the chunk. The merger has left it. */
void hp_note_merged(hp_merger *merger, const hp_chunk_work *chunk);
/* Adds a segment that the merger has rejected. */
void hp_note_wrong_assumption(hp_merger *merger, const hp_segment *segment, hpar_assumption assumption);
/* Adds a segment that ends with a hazard. */
void hp_note_hazard(hp_merger *merger, const hp_segment *segment);
/* Adds a chunk that the merger has parsed itself or has not reached. */
void hp_note_unmerged(hp_merger *merger, uint32_t cut, uint32_t limit, hpar_chunk_outcome outcome);

#endif
