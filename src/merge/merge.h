#ifndef HP_MERGE_MERGE_H
#define HP_MERGE_MERGE_H

/* The merger: the sequential parser on the true state. Where the assumptions of a worker's segment
 * hold, it splices the segment in. Otherwise it parses that region itself. */

#include "base/target.h"
#include "speculation/log.h"
#include "speculation/worker.h"
#include "tree/engine.h"

/*** composition ***/

/* Composition of the logs of two adjacent chunks. The open elements at the end of
 * the left log are the outer context of the right one. The composer continues the last segment of
 * the left log with the segments of the right log. It checks each segment against the left log's
 * open elements, splices it in and builds the token that ends it. If these elements do not
 * determine an answer, the composed segment logs an assumption about its own outer context.
 *
 * The composed segment ends:
 *   - when all open elements of the left log are closed,
 *   - with a token that depends on the outer context,
 *   - before a segment of the right log that begins elsewhere, or whose assumptions do not hold,
 *   - before a segment whose run the merger could repair, if it could not repair the composed run.
 * The rest of the right log stays for the merger or for another composition.
 *
 * The composer is the worker of the left log, which continues into the next chunk with spliced
 * segments. Therefore a composed segment is as sound as a segment of a worker. */

enum { HP_MERGE_LEVELS = 32 };

/* The merges on one level of the merge tree. */
typedef struct hp_merge_level { // value
  uint64_t merges;              /* merged logs, or composed pairs of logs */
  uint64_t segments;            /* segments of logs that were inserted */
  uint64_t tokens;              /* replayed tokens, and first halves of tokens */
  uint64_t nanoseconds;         /* of all threads */
} hp_merge_level;

typedef struct hp_composer {
  hp_worker *worker;     /* no other code uses its engine */
  hp_chunk_result *left; /* NULL: not composing */
  uint32_t position;
  hp_merge_level *level; /* counts segments and tokens */
} hp_composer;

/* Begins a composition. Returns false if `right`, the next chunk, does not continue the open
 * elements of `left`. This function and the next ones unwind through the worker's engine. Then the
 * left log has lost its last segment, which is sound. */
HP_SHARED bool hp_compose_begin(hp_composer *composer, const hp_request *request, hp_chunk_result *left,
                                const hp_chunk_result *right);
/* Composes the next chunk. Returns true if its whole log became part of the left log and the
 * composition continues. Otherwise the composition has ended. */
HP_SHARED bool hp_compose_chunk(hp_composer *composer, hp_chunk_result *right);
/* Ends the composition, unless it has ended. */
HP_SHARED void hp_compose_end(hp_composer *composer);

/* Returns whether the whole chunk has become part of the log to its left. */
static inline bool hp_is_composed(const hp_chunk_result *chunk) {
  return chunk->taken && chunk->taken == chunk->log.segments.count;
}

/*** the merger ***/

/* Entries of a worker's log. */
typedef enum hp_log_kind {
  HP_LOG_SPLICE,      /* the merger inserts a run of siblings as a whole */
  HP_LOG_REPLAY,      /* the merger processes a token on the true state */
  HP_LOG_ASSUME,      /* an assumption about elements that were opened before the cut */
  HP_LOG_HAZARD,      /* a segment that the worker gave up */
  HP_LOG_END_MISSING, /* an element that is still open at the end, pushed on the true stack */
  HP_LOG_KINDS
} hp_log_kind;

/* What a merger counts. See hpar_study_stats for each counter. */
typedef struct hp_merge_counters { // value
  uint64_t chunks_exact, chunks_right_start, chunks_right, chunks_clean;
  uint64_t chunks_misguessed;
  uint64_t bytes_reparsed, respeculations, bytes_respeculated, aborts, rollbacks;
  uint64_t segments_lost_to_writes, bytes_lost_to_writes;
  uint64_t log_entries_by_kind[HP_LOG_KINDS];
  uint64_t wrong_assumptions_by_kind[HP_ASSUMPTION_KINDS];
  hp_merge_level levels[HP_MERGE_LEVELS]; /* the merger itself counts on level 0 */
} hp_merge_counters;

struct hp_merger;

/* What a trace receives of the merger. */
typedef struct hp_merge_trace { // value
  /* The merger begins a chunk, at its first token boundary or at the end of the input. */
  void (*begin_chunk)(struct hp_merger *merger, const hp_chunk_result *chunk);
  /* `hypothesis` is the start hypothesis that is right, or -1. */
  void (*start)(struct hp_merger *merger, const hp_chunk_result *chunk, int hypothesis);
  void (*end_chunk)(struct hp_merger *merger, const hp_chunk_result *chunk);
  /* The merger rejects a segment, or takes one that ends with a hazard. */
  void (*wrong_assumption)(struct hp_merger *merger, const hp_segment *segment, hp_assumption assumption);
  void (*hazard)(struct hp_merger *merger, const hp_segment *segment);
  /* The merger has parsed a range again since `begin_ns`. */
  void (*again)(struct hp_merger *merger, uint32_t begin, uint32_t end, uint64_t begin_ns);
} hp_merge_trace;

/* The memory of a part of another module. Zeros are none. */
typedef struct hp_part_state {
  void *memory;
  void (*destroy)(void *memory);
} hp_part_state;

/* What a study adds to the merger: it sees each chunk, and may judge the strategy's guesses. Only
 * `open` and `classify` must be set. The others judge each chunk and segment: they need
 * `at_chunk_boundary`, with which the merger takes none of these together. */
typedef struct hp_merge_judge { // value
  /* Prepares the memory for a parse. */
  hpar_status (*open)(hp_part_state *state);
  /* The merger comes to the chunk, whose first token begins at `first`. It makes no call for a
   * rescued chunk. */
  void (*classify)(struct hp_merger *merger, const hp_chunk_result *chunk, uint32_t first);
  /* `hypothesis` is the start hypothesis that is right, or -1. Returns false if the merger must
   * parse the chunk itself. */
  bool (*at_chunk_boundary)(struct hp_merger *merger, const hp_chunk_result *chunk, int hypothesis);
  /* The merger is about to reject a segment, or to splice it in. */
  void (*at_wrong_assumption)(struct hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment,
                              hp_assumption wrong);
  void (*before_splice)(struct hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment);
  /* The merger has built the token at the segment's end. */
  void (*after_entry)(struct hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment);
  void (*end_chunk)(struct hp_merger *merger);
} hp_merge_judge;

typedef struct hp_merger {
  hp_engine *engine; /* the true state */
  hp_merge_counters *counters;
  const hp_merge_judge *judge; /* of a study, with its memory; NULL: none */
  void *judgement;
  hp_trace *trace; /* NULL: no trace, and no `notes` */
  const hp_merge_trace *notes;
  hp_finder *finder; /* NULL: resources are not requested */
  bool is_observed;  /* `finder`, or the function before_splice of the judge, is not NULL */
  bool done;         /* the end of the input was processed */
  /* The current chunk. The merger may leave it and return when more input is available. */
  bool is_in_chunk;
  bool is_passed;           /* no token begins in it, and its worker has not predicted that */
  bool is_clean;            /* the merger has not parsed any of it */
  bool is_right;            /* no assumption was wrong */
  uint32_t segment;         /* the next segment of its log */
  uint32_t hypothesis;      /* the start hypothesis that begins at the merger's position, or 0 */
  uint32_t skipped;         /* segments that are not merged on their own */
  bool is_rolled_back;      /* the merger parses the whole chunk itself */
  uint64_t reparsed_before; /* counters->bytes_reparsed at its start */
  uint32_t merged_to;       /* end of the last merged segment */
  /* The merger has parsed a chunk itself up to this offset, because its worker was a straggler.
   * Segments that begin before it are skipped. */
  uint32_t rescued_to;
  bool is_rescued; /* ... the current chunk, and has not spliced a segment of it yet */
} hp_merger;

/* Returns a merger at the beginning of a parse. `trace` and `notes`: see hp_merger; `finder` and
 * `judge` may be NULL. */
static inline hp_merger hp_merger_of(hp_engine *engine, hp_merge_counters *counters, hp_trace *trace,
                                     const hp_merge_trace *notes, hp_finder *finder, const hp_merge_judge *judge) {
  return (hp_merger){.engine = engine,
                     .counters = counters,
                     .trace = trace,
                     .notes = notes,
                     .finder = finder,
                     .judge = judge,
                     .is_observed = finder || (judge && judge->before_splice)};
}
static inline void hp_merger_judge_in(hp_merger *m, void *memory) { m->judgement = m->judge ? memory : NULL; }
static inline bool hp_merger_is_observed(const hp_merger *merger) { return merger->is_observed; }
/* Returns true between two calls of hp_merger_merge_chunk for one chunk. */
static inline bool hp_merger_is_in_chunk(const hp_merger *merger) { return merger->is_in_chunk; }
/* The merger has parsed a late worker's chunk itself up to this offset. */
static inline void hp_merger_note_rescue(hp_merger *merger, uint32_t offset) { merger->rescued_to = offset; }

/* Parses up to the first token boundary at or after `offset` in the data state. Returns false if
 * more input must come first. The caller then repeats the call. */
bool hp_merger_parse_until(hp_merger *merger, uint32_t offset);
/* Merges the log of a chunk. Returns as above. */
bool hp_merger_merge_chunk(hp_merger *merger, const hp_chunk_result *chunk);
/* Counts a chunk whose log is wholly in the last merged log. Returns false if the merger has not
 * merged that part of the log: the caller then merges the chunk. Requires: no trace, no finder and
 * no judge of chunks. */
bool hp_merger_count_composed(hp_merger *merger, const hp_chunk_result *chunk);
/* Counts chunks that the last token of the input contains. */
void hp_merger_count_passed(hp_merger *merger, uint64_t chunks);
/* Parses to the end of the input. Requires: all input is available. */
void hp_merger_finish(hp_merger *merger);

/*** adoption ***/

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
