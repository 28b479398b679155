#ifndef HPAR_INSPECT_H
#define HPAR_INSPECT_H

/* What became of each chunk of the last parse with this parser, and when who did what. Recorded where
 * hpar_options.inspect asks for it; else, after a limit, and before the first parse, there is nothing. A sequential
 * parse is one chunk, parsed exactly. To know the true states the text is parsed once more, sequentially and outside
 * the times.
 *
 * All that is answered here is valid until the parser is used again or destroyed; reading it is for one thread at a
 * time. Offsets are those of the caller's bytes, times are nanoseconds from the beginning of the parse. */

#include <hpar/document.h>
#include <hpar/parse.h>
#include <hpar/stats.h>
#include <hpar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What makes a worker give up the stretch since the last restart point: it would read or change what lies below its own
 * elements in a way that can neither be assumed nor replayed. */
typedef enum hpar_hazard {
  HPAR_HAZARD_NONE,
  HPAR_HAZARD_UNENDED_TEXT,  /* raw text that begins in the chunk has no end tag */
  HPAR_HAZARD_INPUT_TO_COME, /* raw text that begins in the chunk goes on beyond what has come of the input */
  HPAR_HAZARD_UNFORESEEN,    /* a token was not left to the merger that reads or writes what stands before the cut: a
                                  net under the rules for that, in which nothing has been found */
  HPAR_HAZARDS
} hpar_hazard;

typedef enum hpar_chunk_outcome {
  HPAR_CHUNK_EXACT,  /* the merger parsed it on the true state: the first, and those that it came to before a worker */
  HPAR_CHUNK_CLEAN,  /* all that its worker made was taken */
  HPAR_CHUNK_PASSED, /* it lies inside of what began before it, as its worker took it to, and had nothing to make */
  HPAR_CHUNK_REPAIRED,  /* some of what its worker made was taken, the rest parsed again, or left out by the worker */
  HPAR_CHUNK_DISCARDED, /* nothing of what its worker made was taken */
  HPAR_CHUNK_UNREACHED, /* a token that began before it ran on to the end of the input */
  HPAR_CHUNK_OUTCOMES
} hpar_chunk_outcome;

typedef enum hpar_event_kind {
  HPAR_EVENT_DECODE,
  HPAR_EVENT_CUT,
  HPAR_EVENT_PRESCAN,   /* a worker predicts the start state */
  HPAR_EVENT_PARSE,     /* a worker parses a chunk */
  HPAR_EVENT_EXACT,     /* the merger parses a chunk on the true state */
  HPAR_EVENT_MERGE,     /* the merger goes through what a worker made of a chunk */
  HPAR_EVENT_ROLL_BACK, /* ... and parses a stretch again, as part of that */
  HPAR_EVENT_WAIT,      /* the merger waits for a chunk; a stage of a pipeline for the other */
  HPAR_EVENT_COMPOSE,   /* two neighbouring logs are composed, merging as a tree; the chunk is the first of the right */
  HPAR_EVENT_TOKENIZE,  /* the tokenizer of a pipelined parse reads */
  HPAR_EVENT_KINDS
} hpar_event_kind;

/* Stable lower-case names and a line on each. Never NULL for a valid value. */
HPAR_API const char *hpar_hazard_name(hpar_hazard hazard);
HPAR_API const char *hpar_hazard_summary(hpar_hazard hazard);
HPAR_API const char *hpar_assumption_summary(hpar_assumption assumption); /* what is assumed */
HPAR_API const char *hpar_chunk_outcome_name(hpar_chunk_outcome outcome);
HPAR_API const char *hpar_event_kind_name(hpar_event_kind kind);

/* A state at a cut: what the standard calls the tokenizer's state, without that word ("data", "script data"), the
 * element whose raw text it is or "", the insertion mode ("in body"), the namespace of the adjusted current node, and
 * where the first token of the chunk begins, which is not before the cut. */
typedef struct hpar_start {
  const char *state, *element, *mode;
  hpar_namespace ns;
  uint64_t first; /* UINT64_MAX: no token begins within the chunk, or none was looked for */
} hpar_start;

/* A stretch that was not taken, from one restart point to what ended it: either its `assumption` did not hold, or the
 * worker had given it up, and `hazard` is not HPAR_HAZARD_NONE. */
typedef struct hpar_failure {
  hpar_hazard hazard;
  hpar_assumption assumption; /* HPAR_ASSUMPTIONS for a hazard */
  uint64_t begin, end;
} hpar_failure;

typedef struct hpar_stretch {
  uint64_t begin, end;
} hpar_stretch;

typedef struct hpar_chunk {
  uint64_t begin, end;         /* [begin, end); begin is the cut */
  size_t text_begin, text_end; /* the same in the text: see hpar_inspected_text */
  hpar_chunk_outcome outcome;
  bool right_start;     /* some reading began where a token began */
  hpar_start predicted; /* of no account where the outcome is HPAR_CHUNK_EXACT: state is NULL */
  hpar_start actual;    /* by the sequential parser */
  uint32_t readings;    /* that the worker left of the chunk's beginning */
  uint32_t segments;    /* stretches in the worker's log, of which the merger */
  uint32_t taken;       /* took so many */
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint32_t assumed_by_kind[HPAR_ASSUMPTIONS]; /* stretches that relied on it */
  uint64_t silent_errors_by_kind[HPAR_SILENT_ERRORS];
  uint32_t respeculations; /* how often its worker began again with another guess */
  bool aborted;
  bool rolled_back; /* the strategy would have none of it */
  const hpar_failure *failures;
  size_t failure_count;
  const hpar_stretch *again; /* parsed again by the merger */
  size_t again_count;
  uint64_t bytes_reparsed; /* of the text: their sum */
  unsigned worker;         /* the thread that parsed it, 0 being the merger's */
  struct {
    uint64_t prescan, parse_begin, parse_end; /* of that thread; prescan is how long that took, from parse_begin on */
    uint64_t merge_begin, merge_end;          /* where it is exact, when it was parsed */
  } ns;
} hpar_chunk;

typedef struct hpar_event {
  hpar_event_kind kind;
  unsigned thread;
  uint32_t chunk; /* UINT32_MAX: none */
  uint64_t begin_ns, end_ns;
  uint64_t begin, end; /* the stretch of the input that it is about */
} hpar_event;

HPAR_API size_t hpar_chunk_count(const hpar_parser *parser);
HPAR_API const hpar_chunk *hpar_chunk_at(const hpar_parser *parser, size_t index); /* NULL past the last */

/* In no order but that of each thread: an event that lies inside another comes after it or before it. */
HPAR_API size_t hpar_event_count(const hpar_parser *parser);
HPAR_API hpar_event hpar_event_at(const hpar_parser *parser, size_t index); /* zeros past the last */

/* Where the tree builder decided how a tokenizer ahead of it goes on, in a pipelined parse: each such place that the
 * tokenizer had passed. Where that had not foreseen it, it went back, and so many tokens and bytes were read in vain.
 */
typedef struct hpar_met_hazard {
  hpar_pipeline_hazard hazard;
  uint64_t at;    /* where the token begins: the tag, or what "<![CDATA[" belongs to */
  size_t text_at; /* the same in the text */
  bool rolled_back;
  uint64_t tokens_dropped, bytes_dropped;
  uint64_t ns;
} hpar_met_hazard;

/* In the order of the input, but where several pairs were at work. */
HPAR_API size_t hpar_met_hazard_count(const hpar_parser *parser);
HPAR_API hpar_met_hazard hpar_met_hazard_at(const hpar_parser *parser, size_t index); /* zeros past the last */

/* The text that was parsed into the document, in UTF-8; lives as long as the document, and the caller's bytes. */
HPAR_API hpar_string hpar_inspected_text(const hpar_document *document);

#ifdef __cplusplus
}
#endif
#endif
