#ifndef HPAR_STATS_H
#define HPAR_STATS_H

/* Statistics of a parse. Counters that do not apply to the mode are 0.
 *
 * A caller initialises a structure with its macro:
 *
 *   hpar_stats stats = {HPAR_STATS_INIT};
 *
 * The library writes `size` bytes at most. It sets the fields of a newer caller that it does not
 * have to zero. It never changes `size`. Texts have static storage, except the name of a custom
 * predictor. */

#include <hpar/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Entries of a worker's log. */
typedef enum hpar_log_kind {
  HPAR_LOG_SPLICE,      /* the merger inserts a run of siblings as a whole */
  HPAR_LOG_REPLAY,      /* the merger processes a token on the true state */
  HPAR_LOG_ASSUME,      /* an assumption about elements that were opened before the cut */
  HPAR_LOG_HAZARD,      /* a segment that the worker gave up */
  HPAR_LOG_END_MISSING, /* an element that is still open at the end, pushed on the true stack */
  HPAR_LOG_KINDS
} hpar_log_kind;

/* Assumptions about the elements that were opened before the cut, and other conditions of a
 * segment. */
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
  HPAR_ASSUME_START_STATE, /* the token boundary or tokenizer state at which the segment begins */
  HPAR_ASSUMPTIONS
} hpar_assumption;

/* Errors that a scheme without checks would make in the tree (strategy hpar2013). */
typedef enum hpar_undetected_error {
  /* the chunk begins in text, a comment or a tag, without a sign of it */
  HPAR_UNDETECTED_START_STATE,
  HPAR_UNDETECTED_NAMESPACE, /* ... in foreign content */
  HPAR_UNDETECTED_MODE,      /* ... in another insertion mode */
  HPAR_UNDETECTED_TOP,       /* another current node than assumed */
  HPAR_UNDETECTED_END_TAG,   /* an unpaired end tag closes another element, or none */
  /* a start tag closes an element from before the cut: p, li, option ... */
  HPAR_UNDETECTED_IMPLIED_END,
  /* formatting elements from before the cut are reconstructed or adopted */
  HPAR_UNDETECTED_FORMATTING,
  HPAR_UNDETECTED_FOSTER, /* content is foster-parented */
  HPAR_UNDETECTED_TEXT,   /* text on both sides of the cut is one node */
  HPAR_UNDETECTED_OTHER,
  HPAR_UNDETECTED_ERRORS
} hpar_undetected_error;

/* Places where the tree builder determines how the tokenizer continues (HPar 3.1). A tokenizer on
 * another thread guesses there. The first ten are those of the paper's Table II: the element's
 * contents have another tokenizer state. */
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
  HPAR_PIPELINE_SELF_CLOSING, /* the builder acknowledges the self-closing flag of a tag */
  /* "<![CDATA[" begins a section in foreign content, elsewhere a comment */
  HPAR_PIPELINE_CDATA,
  HPAR_PIPELINE_FOREIGN_RAW_TEXT, /* a start tag of the first ten in svg or math: no other state */
  HPAR_PIPELINE_IGNORED_TAG,      /* such a tag in HTML that the builder ignores: no other state */
  HPAR_PIPELINE_HAZARDS
} hpar_pipeline_hazard;

/* The following functions return stable lower-case names, as the program's JSON has them. They
 * return "unknown" for any other value. Any number of threads may call these at once. */
HPAR_API const char *hpar_pipeline_hazard_name(hpar_pipeline_hazard hazard);
HPAR_API const char *hpar_undetected_error_name(hpar_undetected_error error);
HPAR_API const char *hpar_log_kind_name(hpar_log_kind kind);
HPAR_API const char *hpar_assumption_name(hpar_assumption assumption);

#define HPAR_MAX_THREADS 256
#define HPAR_MERGE_LEVELS 32

/* The merges on one level of the merge tree. */
typedef struct hpar_merge_level {
  uint64_t merges;      /* merged logs, or composed pairs of logs */
  uint64_t segments;    /* segments of logs that were inserted */
  uint64_t tokens;      /* replayed tokens, and first halves of tokens */
  uint64_t nanoseconds; /* of all threads */
} hpar_merge_level;

typedef struct hpar_stats {
  size_t size;                 /* HPAR_STATS_INIT sets it */
  const char *mode;            /* "sequential", "parallel" or "pipelined": the parser that ran */
  uint64_t bytes;              /* of the text in UTF-8 */
  const char *encoding;        /* by its name in the Encoding Standard: "UTF-8", "windows-1252" */
  const char *encoding_source; /* "bom", "hint", "meta", "valid-utf-8", "fallback" or "late-meta" */
  /* tags, comments, doctypes, processing instructions, maximal runs of text */
  uint64_t tokens;
  /* created, with the document node and nodes that were removed later */
  uint64_t nodes;
  uint64_t parse_errors; /* all, kept or not; 0 unless hpar_options.max_errors is set */
  unsigned threads;
  /* "none"; "cores": one thread per core; "processors": by number, without hwloc; "refused": the
   * system refused to bind a thread */
  const char *affinity;
  /* with "cores" and "processors" */
  uint16_t processor_per_worker[HPAR_MAX_THREADS];
  /* of the document: "libc" or "jemalloc" */
  const char *allocator;
  const char *strategy, *predictor, *mode_predictor, *cut_policy; /* NULL unless parallel */
  /* "chain" or "tree"; NULL unless parallel */
  const char *merge;
  /* without chunk 0, here and below */
  uint64_t chunks;
  /* that the merger parsed itself */
  uint64_t chunks_exact;
  uint64_t chunks_right_start; /* with a true start state */
  uint64_t chunks_right;       /* without a wrong assumption */
  /* also without a hazard and a reparsed byte */
  uint64_t chunks_clean;
  uint64_t chunks_started_before_end; /* during the feeds */
  uint64_t log_entries;
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint64_t wrong_assumptions_by_kind[HPAR_ASSUMPTIONS];
  uint64_t bytes_reparsed;
  uint64_t respeculations; /* chunks that their worker started again with another guess */
  uint64_t aborts;         /* chunks that their worker gave up */
  uint64_t undetected_errors_by_kind[HPAR_UNDETECTED_ERRORS]; /* each kind at most once per chunk */
  /* Chunks that a worker parsed and whose cut lies in a comment, in raw text, in a tag. */
  uint64_t chunks_in_comment, chunks_in_raw_text, chunks_in_markup;
  uint64_t chunks_misguessed; /* whose strategy restarted, gave up or rolled back */
  uint64_t chunks_with_undetected_errors;
  /* chunks that the merger parsed because their start state was wrong */
  uint64_t rollbacks;
  uint64_t bytes_respeculated; /* that workers had parsed before they restarted */
  /* [0]: on the true state, from left to right. [k]: neighbours of up to 2^(k-1) chunks. */
  hpar_merge_level merge_levels[HPAR_MERGE_LEVELS];
  struct { /* nanoseconds */
    uint64_t cut, merge, total;
    /* the first `threads`; [0] is the calling thread */
    uint64_t parse_per_worker[HPAR_MAX_THREADS];
    uint64_t decode; /* the encoding and UTF-8, before the parse */
    /* of the sequential parse for oracle predictors and exact cuts; in no other time */
    uint64_t oracle;
    uint64_t predict;     /* in all workers, as part of their parse time */
    uint64_t first_chunk; /* from the beginning until a worker started the first chunk */
    uint64_t input;       /* from the beginning until finish was called; 0 for hpar_parse */
    uint64_t wait;        /* of the merging thread, for other threads */
    uint64_t scripts;     /* in hpar_options.script.callback, with the parse of written text */
    uint64_t reserved[6];
  } ns;
  /* of tokenizers that run ahead of their tree builder; the sum of all pairs */
  struct {
    const char *predictor; /* NULL: there was none */
    unsigned buffer_tokens, batch_tokens;
    uint64_t hazards_by_kind[HPAR_PIPELINE_HAZARDS];
    uint64_t rollbacks_by_kind[HPAR_PIPELINE_HAZARDS]; /* the tokenizer had guessed wrong */
    uint64_t rollbacks, tokens_dropped, bytes_dropped;
    uint64_t bytes_read;  /* by both stages; at most three times the input and 256 KB */
    uint64_t bytes_alone; /* of those, by the tree builder itself after too many rollbacks */
    uint64_t drains;      /* waits of the tokenizer for the builder before a very long token */
    /* Waits of the tokenizer for space and of the builder for tokens; how many slept; their time
     * without the shortest waits. */
    uint64_t tokenizer_waits, tokenizer_slept, tokenizer_wait_ns;
    uint64_t builder_waits, builder_slept, builder_wait_ns;
    uint64_t reserved[8];
  } pipeline;
  /* that the merger parsed itself, because the thread that had claimed them made no progress */
  uint64_t chunks_rescued;
  struct {                  /* with hpar_options.script */
    uint64_t runs;          /* calls of the callback */
    uint64_t bytes_written; /* by hpar_script_write, also without an effect */
    /* scripts of the page whose written text left another state of the parser */
    uint64_t state_changes;
    /* Of the workers, after the first such script: segments that the merger rejected, and bytes
     * that it parsed again. Some of them would be lost without scripts, too. Of a pipelined parse:
     * the bytes of tokens that the rollbacks below have dropped, or that complete written text. */
    uint64_t segments_lost, bytes_lost;
    /* after the first such script. A parser that keeps its speculation only if the state is equal
     * loses these bytes */
    uint64_t bytes_after_change;
    /* of a pipelined parse: scripts whose written text has rolled the tokenizer back */
    uint64_t rollbacks;
    uint64_t reserved[7];
  } script;
} hpar_stats;

/* Initialises `size`. */
#define HPAR_STATS_INIT HPAR_SIZED(hpar_stats)

/* Statistics of hpar_parse_many. */
typedef struct hpar_many_stats {
  size_t size;                   /* HPAR_MANY_STATS_INIT sets it */
  uint64_t inputs, failed;       /* failed: the status is not HPAR_OK; that includes limits */
  uint64_t bytes, tokens, nodes; /* of the other inputs */
  unsigned threads;
  const char *affinity, *allocator; /* as in hpar_stats */
  uint16_t processor_per_worker[HPAR_MAX_THREADS];
  uint64_t inputs_per_worker[HPAR_MAX_THREADS];
  struct {                                              /* nanoseconds */
    uint64_t total, parse_per_worker[HPAR_MAX_THREADS]; /* without the callback's time */
    uint64_t reserved[8];
  } ns;
} hpar_many_stats;

/* Initialises `size`. */
#define HPAR_MANY_STATS_INIT HPAR_SIZED(hpar_many_stats)

#ifdef __cplusplus
}
#endif
#endif
