#ifndef HP_MERGE_NOTE_H
#define HP_MERGE_NOTE_H

/* What the merger writes into the record, if there is one: <hpar/inspect.h>. */

#include "merge/merge.h"

/* The merger stands at the chunk's first token boundary, or at the end of the input; */
void hp_note_chunk(hp_merger *merger, const hp_chunk_work *chunk);
/* and begins with what its worker made: `reading` begins there, -1: none. */
void hp_note_begun(hp_merger *merger, const hp_chunk_work *chunk, int reading);
/* It has gone through the chunk. */
void hp_note_taken(hp_merger *merger, const hp_chunk_work *chunk);
/* A segment was left out. */
void hp_note_wrong(hp_merger *merger, const hp_segment *segment, hpar_assumption assumption);
void hp_note_hazard(hp_merger *merger, const hp_segment *segment);
/* A chunk that the merger has parsed by itself, or has not come to. */
void hp_note_other(hp_merger *merger, uint32_t cut, uint32_t limit, hpar_chunk_outcome outcome);

#endif
