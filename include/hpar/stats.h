#ifndef HPAR_STATS_H
#define HPAR_STATS_H

/* What a parse did. Filled on every parse that succeeds or ends at a limit; counters that do not apply to the mode are
 * 0. */

#include <hpar/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpar_log_kind {
  HPAR_LOG_SPLICE,      /* a run of siblings put in place as a whole */
  HPAR_LOG_REPLAY,      /* a token that the merger ran on the true state */
  HPAR_LOG_ASSUME,      /* an answer about BASE that the worker relied on */
  HPAR_LOG_HAZARD,      /* a stretch that the worker gave up */
  HPAR_LOG_END_MISSING, /* an element left open, pushed on the true stack */
  HPAR_LOG_KINDS
} hpar_log_kind;

/* The questions that fall through a worker's own stack, and what else can make a segment unusable. */
typedef enum hpar_assumption {
  HPAR_ASSUME_NO_P_IN_BUTTON_SCOPE,
  HPAR_ASSUME_NOT_IN_SCOPE,
  HPAR_ASSUME_NO_LI,
  HPAR_ASSUME_NO_DD_DT,
  HPAR_ASSUME_FORMATTING_CLEAN,
  HPAR_ASSUME_NOAHS_ARK,
  HPAR_ASSUME_NO_FORMATTING,
  HPAR_ASSUME_NO_TEMPLATE,
  HPAR_ASSUME_FORM_NULL,
  HPAR_ASSUME_NO_SELECTEDCONTENT,
  HPAR_ASSUME_TOP_NOT_IMPLIED,
  HPAR_ASSUME_NAMESPACE,
  HPAR_ASSUME_MODE,
  HPAR_ASSUME_START_STATE, /* the token boundary or tokenizer state at which the stretch begins */
  HPAR_ASSUMPTIONS
} hpar_assumption;

/* Where a scheme that does not check what it takes for granted would have made another tree (strategy hpar2013). */
typedef enum hpar_silent_error {
  HPAR_SILENT_START_STATE, /* the chunk began in text, a comment or a tag, and nothing showed it */
  HPAR_SILENT_NAMESPACE,   /* ... in foreign content */
  HPAR_SILENT_MODE,        /* ... in another insertion mode */
  HPAR_SILENT_TOP,         /* the current node was not the one taken for it */
  HPAR_SILENT_END_TAG,     /* an unpaired end tag closed something else, or nothing */
  HPAR_SILENT_IMPLIED_END, /* a start tag closed an element from before the cut: p, li, option ... */
  HPAR_SILENT_FORMATTING,  /* formatting elements from before the cut were to be reconstructed, or adopted */
  HPAR_SILENT_FOSTER,      /* content was to be foster-parented */
  HPAR_SILENT_TEXT,        /* text on both sides of the cut was one */
  HPAR_SILENT_OTHER,
  HPAR_SILENT_ERRORS
} hpar_silent_error;

/* Where the tree builder decides how the tokenizer goes on, which a tokenizer on another thread cannot wait for (HPar
 * 3.1). The first ten are those of the paper's Table II: the tokenizer's state is switched for the element's contents.
 */
typedef enum hpar_pipeline_hazard {
  HPAR_PIPELINE_TITLE,
  HPAR_PIPELINE_NOFRAMES,
  HPAR_PIPELINE_STYLE,
  HPAR_PIPELINE_SCRIPT,
  HPAR_PIPELINE_XMP,
  HPAR_PIPELINE_IFRAME,
  HPAR_PIPELINE_NOEMBED,
  HPAR_PIPELINE_NOSCRIPT, /* with the scripting flag only */
  HPAR_PIPELINE_PLAINTEXT,
  HPAR_PIPELINE_TEXTAREA,
  HPAR_PIPELINE_SELF_CLOSING,     /* the self-closing flag of a tag is acknowledged */
  HPAR_PIPELINE_CDATA,            /* "<![CDATA[" in foreign content begins a section, elsewhere a comment */
  HPAR_PIPELINE_FOREIGN_RAW_TEXT, /* a start tag of the first ten in svg or math, where it switches nothing */
  HPAR_PIPELINE_IGNORED_TAG,      /* such a tag in HTML that the tree builder drops, and so switches nothing */
  HPAR_PIPELINE_HAZARDS
} hpar_pipeline_hazard;

/* Stable lower-case names, as they stand in the JSON. Never NULL for a valid value. */
HPAR_API const char *hpar_pipeline_hazard_name(hpar_pipeline_hazard hazard);
HPAR_API const char *hpar_silent_error_name(hpar_silent_error error);
HPAR_API const char *hpar_log_kind_name(hpar_log_kind kind);
HPAR_API const char *hpar_assumption_name(hpar_assumption assumption);

#define HPAR_MAX_THREADS 256
#define HPAR_MERGE_LEVELS 32

/* What was merged on one level of the tree of merges. */
typedef struct hpar_merge_level {
  uint64_t merges;      /* logs gone through, or pairs of logs */
  uint64_t segments;    /* stretches of a log that were put in place */
  uint64_t tokens;      /* entries of logs, replayed tokens and first halves of tokens, that were answered */
  uint64_t nanoseconds; /* of all threads */
} hpar_merge_level;

typedef struct hpar_stats {
  const char *mode;            /* "sequential", "parallel" or "pipelined": what ran, not what was asked for */
  uint64_t bytes;              /* of input, as parsed: in UTF-8 */
  const char *encoding;        /* by its name in the Encoding Standard: "UTF-8", "windows-1252" */
  const char *encoding_source; /* "bom", "hint", "meta", "valid-utf-8", "fallback" (undeclared), "late-meta" */
  uint64_t tokens;             /* tags, comments, doctypes, processing instructions, maximal runs of text */
  uint64_t nodes;        /* made, the document's own among them; a body that a frameset replaced is still counted */
  uint64_t parse_errors; /* 0 unless errors were asked for */
  unsigned threads;
  const char *bind; /* "none"; "cores", one thread on each; "processors", by number, as hwloc sees nothing or is not
                       built in; "refused" by the system, for one thread at least */
  uint16_t
      processor_per_worker[HPAR_MAX_THREADS]; /* bound to it, by the system's number; only of "cores", "processors" */
  const char *allocator;                      /* of the document: "libc" or "jemalloc" */
  const char *strategy, *predictor, *mode_predictor, *cut; /* NULL when sequential */
  const char *merge;                                       /* "chain" or "tree"; NULL when sequential */
  uint64_t chunks;                                         /* chunk 0, which is always right, is not counted in these */
  uint64_t chunks_exact;                                   /* reached by the merger before any worker took them */
  uint64_t chunks_right_start;                             /* the predicted start state was the true one */
  uint64_t chunks_right;                                   /* made no wrong assumption */
  uint64_t chunks_clean;                                   /* no wrong assumption, no hazard, nothing parsed again */
  uint64_t chunks_started_before_end;                      /* begun while the input was still being fed */
  uint64_t log_entries;
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint64_t wrong_assumptions_by_kind[HPAR_ASSUMPTIONS];
  uint64_t bytes_reparsed;
  uint64_t respeculations;                            /* chunks begun once more by their worker, with another guess */
  uint64_t aborts;                                    /* chunks that their worker gave up */
  uint64_t silent_errors_by_kind[HPAR_SILENT_ERRORS]; /* each kind once a chunk */
  /* Of the chunks that a worker took, those whose cut lay inside of a comment, of raw text, of a tag; those whose
   * strategy found its guess wrong and began once more, gave up or was rolled back; those with a silent error. */
  uint64_t chunks_in_comment, chunks_in_raw_text, chunks_in_markup;
  uint64_t chunks_misguessed, chunks_silent;
  uint64_t rollbacks;          /* chunks that the merger parsed, since they began in another state than was guessed */
  uint64_t bytes_respeculated; /* gone over by a worker before it began once more */
  /* [0]: on the true state, from left to right. [k], when merging as a tree: two neighbours of up to 2^(k-1) chunks. */
  hpar_merge_level merge_levels[HPAR_MERGE_LEVELS];
  struct {
    uint64_t cut, merge, total;                  /* nanoseconds */
    uint64_t parse_per_worker[HPAR_MAX_THREADS]; /* the first `threads`; [0] is the calling thread */
    uint64_t decode;                             /* sniffing, validating and decoding, ahead of parsing */
    uint64_t
        oracle; /* of a sequential parse for the predictors named oracle and for exact cuts; in none of the others */
    uint64_t predict;     /* in all workers together, part of their parse time */
    uint64_t first_chunk; /* from the beginning until a worker took the first chunk */
    uint64_t input;       /* from the beginning until the end of the input was known; 0 for hpar_parse */
  } ns;
  struct { /* of a tokenizer that runs ahead of its tree builder; in a parallel parse, of all such pairs together */
    const char *predictor; /* NULL: there was none */
    unsigned buffer_tokens, batch;
    uint64_t hazards_by_kind[HPAR_PIPELINE_HAZARDS];   /* met, foreseen or not */
    uint64_t rollbacks_by_kind[HPAR_PIPELINE_HAZARDS]; /* not foreseen: the tokenizer went back */
    uint64_t rollbacks, tokens_dropped, bytes_dropped; /* dropped: read in vain; bytes of input, some of them twice */
    uint64_t bytes_read;  /* by both stages, each time that they were; at most three times the input and 256 KB */
    uint64_t bytes_alone; /* of those by the tree builder itself, while speculation had cost too much */
    uint64_t drains;      /* the tokenizer waited until all was built, before a token too long to read on speculation */
    /* Waits of the tokenizer for room, and of the tree builder for tokens; how many of them were slept through; how
     * long, the shortest waits not being timed. */
    uint64_t tokenizer_waits, tokenizer_slept, tokenizer_wait_ns;
    uint64_t builder_waits, builder_slept, builder_wait_ns;
  } pipeline;
} hpar_stats;

#ifdef __cplusplus
}
#endif
#endif
