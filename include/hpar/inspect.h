#ifndef HPAR_INSPECT_H
#define HPAR_INSPECT_H

/* The record of a parser's last parse: the result of each chunk, and the times of each thread's
 * work. hpar_options.experiment.inspect requests it. Without that, after a limit and before the
 * first parse, there is no record. A sequential parse is one exact chunk. The record's true states
 * come from a second, sequential parse after the measured time.
 *
 * The record belongs to the parser, and is valid until the next call on it. One thread at a time
 * may read it. All functions return 0, NULL or zeros for a NULL parser. Offsets are those of the
 * input. Times are nanoseconds from the beginning of the parse. */

#include <hpar/document.h>
#include <hpar/parse.h>
#include <hpar/stats.h>
#include <hpar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reasons for which a worker gives up the segment since its last restart point. A token would read
 * or change elements from before the cut, and the worker can neither assume nor defer that. */
typedef enum hpar_hazard {
  HPAR_HAZARD_NONE,
  HPAR_HAZARD_UNENDED_TEXT,  /* raw text that begins in the chunk has no end tag */
  HPAR_HAZARD_INPUT_TO_COME, /* raw text that begins in the chunk continues past the fed input */
  /* a token that should have been deferred reads the outer context. No test has found such a
   * token */
  HPAR_HAZARD_UNFORESEEN,
  HPAR_HAZARDS
} hpar_hazard;

typedef enum hpar_chunk_outcome {
  HPAR_CHUNK_EXACT,     /* the merger parsed it on the true state */
  HPAR_CHUNK_CLEAN,     /* the merger adopted everything that the worker made */
  HPAR_CHUNK_PASSED,    /* it lies inside a token from before it, as its worker assumed */
  HPAR_CHUNK_REPAIRED,  /* the merger adopted a part, and parsed the rest again */
  HPAR_CHUNK_DISCARDED, /* the merger adopted nothing */
  HPAR_CHUNK_UNREACHED, /* a token from before it continues to the end of the input */
  HPAR_CHUNK_OUTCOMES
} hpar_chunk_outcome;

typedef enum hpar_event_kind {
  HPAR_EVENT_DECODE,
  HPAR_EVENT_CUT,
  HPAR_EVENT_PRESCAN,   /* a worker predicts the start state */
  HPAR_EVENT_PARSE,     /* a worker parses a chunk */
  HPAR_EVENT_EXACT,     /* the merger parses a chunk on the true state */
  HPAR_EVENT_MERGE,     /* the merger processes a worker's log */
  HPAR_EVENT_ROLL_BACK, /* ... and parses a byte range again, as part of that */
  HPAR_EVENT_WAIT,      /* the merger waits for a chunk; a pipeline stage waits for the other */
  /* a thread composes two neighbouring logs; the chunk is the first of the right */
  HPAR_EVENT_COMPOSE,
  HPAR_EVENT_TOKENIZE, /* the tokenizer of a pipelined parse reads */
  /* a script of the page runs, with the parse of the text that it writes. The byte range is what
   * that text has used of the page; it begins after the end tag of the script */
  HPAR_EVENT_SCRIPT,
  HPAR_EVENT_KINDS
} hpar_event_kind;

/* The following functions return stable lower-case names, and a line on each value. They are never
 * NULL for a valid value. Any number of threads may call these at once. */
HPAR_API const char *hpar_hazard_name(hpar_hazard hazard);
HPAR_API const char *hpar_hazard_summary(hpar_hazard hazard);
HPAR_API const char *hpar_assumption_summary(hpar_assumption assumption);
HPAR_API const char *hpar_chunk_outcome_name(hpar_chunk_outcome outcome);
HPAR_API const char *hpar_event_kind_name(hpar_event_kind kind);

/* A state at a cut. `state` is the tokenizer's by the standard's name without the word "state":
 * "data", "script data". `element` has the raw text, or is "". `mode` is the insertion mode: "in
 * body". `ns` is that of the adjusted current node. */
typedef struct hpar_start_state {
  const char *state, *element, *mode;
  hpar_namespace ns;
  /* where the first token begins, at the cut or later. UINT64_MAX: not in the chunk, or unknown
   * */
  uint64_t first;
} hpar_start_state;

/* A byte range that the merger did not adopt, from a restart point to its end. Either `assumption`
 * did not hold, or the worker gave it up and `hazard` is not HPAR_HAZARD_NONE. */
typedef struct hpar_failure {
  hpar_hazard hazard;
  hpar_assumption assumption; /* HPAR_ASSUMPTIONS for a hazard */
  uint64_t begin, end;
} hpar_failure;

typedef struct hpar_byte_range {
  uint64_t begin, end; /* [begin, end) */
} hpar_byte_range;

typedef struct hpar_chunk {
  uint64_t begin, end;         /* [begin, end); begin is the cut */
  size_t text_begin, text_end; /* the same in the text: see hpar_inspected_text */
  hpar_chunk_outcome outcome;
  bool right_start;           /* a start hypothesis begins where a token begins */
  hpar_start_state predicted; /* `state` is NULL for HPAR_CHUNK_EXACT */
  hpar_start_state actual;    /* by the sequential parser */
  uint32_t hypotheses;        /* start hypotheses that the worker kept */
  uint32_t segments;          /* in the worker's log */
  uint32_t taken;             /* of those, the merger adopted */
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint32_t assumed_by_kind[HPAR_ASSUMPTIONS]; /* segments that relied on it */
  uint64_t undetected_errors_by_kind[HPAR_UNDETECTED_ERRORS];
  uint32_t respeculations; /* restarts of its worker with another guess */
  bool aborted;
  bool rolled_back; /* the strategy refused it */
  const hpar_failure *failures;
  size_t failure_count;
  const hpar_byte_range *reparsed; /* by the merger */
  size_t reparsed_count;
  uint64_t bytes_reparsed; /* of the text: their sum */
  unsigned worker;         /* the thread that parsed it; 0 is the merger's */
  struct {
    /* of that thread; prescan is a duration from parse_begin */
    uint64_t prescan, parse_begin, parse_end;
    uint64_t merge_begin, merge_end; /* for HPAR_CHUNK_EXACT: when the merger parsed it */
  } ns;
} hpar_chunk;

typedef struct hpar_event {
  hpar_event_kind kind;
  unsigned thread;
  uint32_t chunk; /* UINT32_MAX: none */
  uint64_t begin_ns, end_ns;
  uint64_t begin, end; /* the byte range of the input */
} hpar_event;

/* Returns the number of chunks of the record. */
HPAR_API size_t hpar_chunk_count(const hpar_parser *parser);
/* Returns a chunk; NULL past the last. */
HPAR_API const hpar_chunk *hpar_chunk_at(const hpar_parser *parser, size_t index);

/* Returns the number of events. They are ordered by thread only. An event that lies inside another
 * one comes before or after it. */
HPAR_API size_t hpar_event_count(const hpar_parser *parser);
/* Returns an event; zeros past the last. */
HPAR_API hpar_event hpar_event_at(const hpar_parser *parser, size_t index);

/* A place that the tokenizer of a pipelined parse had passed and where the tree builder determines
 * how the tokenizer continues. After a wrong guess the tokenizer rolled back. */
typedef struct hpar_hazard_event {
  hpar_pipeline_hazard hazard;
  uint64_t at;    /* where the token begins: the tag, or the text with "<![CDATA[" */
  size_t text_at; /* the same in the text */
  bool rolled_back;
  uint64_t tokens_dropped, bytes_dropped;
  uint64_t ns;
} hpar_hazard_event;

/* Returns the number of hazard events. They are in the order of the input for one pair of stages.
 */
HPAR_API size_t hpar_hazard_event_count(const hpar_parser *parser);
/* Returns a hazard event; zeros past the last. */
HPAR_API hpar_hazard_event hpar_hazard_event_at(const hpar_parser *parser, size_t index);

/* Returns the text that was parsed into the document, in UTF-8. It is empty for NULL and after a
 * failure. It lives as long as the document and the caller's bytes. */
HPAR_API hpar_string hpar_inspected_text(const hpar_document *document);

#ifdef __cplusplus
}
#endif
#endif
