#ifndef HPAR_STUDY_H
#define HPAR_STUDY_H

/* What a study of speculation plugs in and reads out. It has the choices of a study, custom
 * predictors, all counters of a parse and the record of its chunks. It also has the tokenizer
 * alone. Its functions are in libhpar-study. hpar/hpar.h does not include it, because parsing,
 * selecting and rewriting need none of this. A parse takes the choices from hpar_options.study:
 *
 *   hpar_study study = {HPAR_STUDY_INIT, .strategy = "hpar2013"};
 *   hpar_options options = {HPAR_OPTIONS_INIT, .threads = 4, .study = &study};
 *   hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
 *   hpar_study_parse(parser, &options, bytes, length, document, &stats);
 *
 * The interface follows the research. Its structures may change with each version of the library,
 * while those of the other headers keep their layout within a version. */

#include <hpar/node.h>
#include <hpar/parse.h>
#include <hpar/rewrite.h>
#include <hpar/script.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

HPAR_BEGIN_C

/*** names ***/

/* The following functions return the names that hpar_study accepts, and a line on each; NULL past
 * the last. The texts have static storage. A build without the parallel parser has no names. Any
 * number of threads may call these at once. */

/* A strategy brings a predictor of the start state, a predictor of the insertion mode and a cut
 * policy. The other fields of hpar_study can replace each of them. */
HPAR_API const char *hpar_strategy_name(size_t index);
HPAR_API const char *hpar_strategy_summary(size_t index);
/* A predictor guesses the tokenizer state in which a chunk begins. */
HPAR_API const char *hpar_predictor_name(size_t index);
HPAR_API const char *hpar_predictor_summary(size_t index);
/* A mode predictor guesses the insertion mode in which a chunk begins. */
HPAR_API const char *hpar_mode_predictor_name(size_t index);
HPAR_API const char *hpar_mode_predictor_summary(size_t index);
/* A cut policy moves an even cut. "even" moves it out of a character only. "before-tag" and
 * "after-tag" move it to a tag, and "smart" to one that does not end raw text. "exact" moves it to
 * the next true token in the data state, which costs a sequential parse before (ns.oracle). */
HPAR_API const char *hpar_cut_policy_name(size_t index);
HPAR_API const char *hpar_cut_policy_summary(size_t index);
/* A pipeline predictor guesses how the tree builder changes the tokenizer's state. */
HPAR_API const char *hpar_pipeline_predictor_name(size_t index);
HPAR_API const char *hpar_pipeline_predictor_summary(size_t index);
/* A driver parses a whole text in another way than the sequential and the parallel parser. */
HPAR_API const char *hpar_driver_name(size_t index);
HPAR_API const char *hpar_driver_summary(size_t index);

/*** choices ***/

/* The order in which the merger takes the workers' logs. */
typedef enum hpar_merge_order {
  HPAR_MERGE_CHAIN = 0, /* from left to right, each as soon as it is complete */
  HPAR_MERGE_TREE       /* all threads compose neighbouring logs pairwise first */
} hpar_merge_order;

/* The driver "pipelined": a tokenizer thread ahead of the tree builder. It is also the tokenizer
 * off the main thread that WebKit and Blink had: 10,000 for buffer_tokens and 1,000 for
 * batch_tokens are Blink's limits. docs/guides/experiments.md has the differences. */
typedef struct hpar_pipeline_options {
  const char *predictor;  /* a name of hpar_pipeline_predictor_name; NULL: the default */
  unsigned buffer_tokens; /* tokens that the tokenizer may be ahead, up to 65536; 0: the default */
  unsigned batch_tokens;  /* tokens that it hands over at once, up to 65536; 0: the default */
  uint64_t reserved[4];   /* zero */
} hpar_pipeline_options;

struct hpar_predictor;
struct hpar_cut_policy;
struct hpar_strategy;
struct hpar_driver;
struct hpar_frequency_table;

/* Applies options->study to a parse, for which `target` stands. Only the library calls it, through
 * hpar_study.apply. HPAR_ERROR_ARGUMENT: a pointer is NULL, or a choice is not accepted.
 * HPAR_ERROR_UNSUPPORTED: this build lacks the requested part. */
typedef struct hpar_study_target hpar_study_target;
typedef hpar_status (*hpar_study_callback)(hpar_study_target *target, const hpar_options *options);
HPAR_API hpar_status hpar_study_apply(hpar_study_target *target, const hpar_options *options);

/* The choices of a study, for hpar_options.study. A call that takes the options reads it at once,
 * and hpar_parser_begin copies it. What its pointers refer to must stay until the parse ends. Zero
 * in any field but the first two is its default. */
typedef struct hpar_study {
  size_t size; /* HPAR_STUDY_INIT sets these two */
  hpar_study_callback apply;
  const char *strategy;       /* a name of hpar_strategy_name; NULL: the first */
  const char *predictor;      /* a name of hpar_predictor_name; NULL: the strategy's */
  const char *mode_predictor; /* a name of hpar_mode_predictor_name; NULL: the strategy's */
  /* a name of hpar_cut_policy_name; NULL: the strategy's; ignored with `cuts` */
  const char *cut_policy;
  /* forced cuts: ascending byte offsets in the input; NULL: by cut_policy. The options chunk_size
   * and chunks are ignored with them */
  const uint64_t *cuts;
  size_t cut_count;
  /* the least distance of a worker's checkpoints; 0: the default */
  size_t checkpoint_bytes;
  const struct hpar_predictor *custom_predictor; /* replaces `predictor`; NULL: none */
  /* of the predictor "frequency"; NULL: the library's own */
  const struct hpar_frequency_table *frequencies;
  /* ignored by strategies that check each cut in its true state (hpar2013), and if resources
   * are requested */
  hpar_merge_order merge;
  /* a name of hpar_driver_name, which parses whatever hpar_options.mode is; NULL: by that mode.
   * With any limit except that of input, the sequential parser parses */
  const char *driver;
  bool pipelined_workers; /* each worker is a tokenizer thread and a builder thread */
  bool inspect;           /* record chunks and times: see hpar_chunk_at */
  /* inspect, and follow all start hypotheses of each chunk: see hpar_convergence. It takes up to
   * 15 times as long as a tokenizer alone, after the measured time */
  bool converge;
  hpar_pipeline_options pipeline;
  /* Plug-ins, which replace the names above. NULL: none. See hpar_plugin. */
  const struct hpar_strategy *custom_strategy;
  const struct hpar_predictor *custom_mode_predictor; /* its guesses of the mode */
  const struct hpar_cut_policy *custom_cut_policy;
  const struct hpar_driver *custom_driver;
  uint64_t reserved[4]; /* zero */
} hpar_study;

/* Initialises `size` and `apply`. */
#if defined __cplusplus && __cplusplus >= 201103L
#define HPAR_STUDY_INIT hpar_study_defaults()
inline hpar_study hpar_study_defaults() {
  hpar_study study = hpar_study();
  study.size = sizeof(hpar_study);
  study.apply = hpar_study_apply;
  return study;
}
#else
#define HPAR_STUDY_INIT HPAR_SIZED(hpar_study), .apply = hpar_study_apply
#endif

/*** statistics ***/

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

#define HPAR_MERGE_LEVELS 32

/* The merges on one level of the merge tree. */
typedef struct hpar_merge_level {
  uint64_t merges;      /* merged logs, or composed pairs of logs */
  uint64_t segments;    /* segments of logs that were inserted */
  uint64_t tokens;      /* replayed tokens, and first halves of tokens */
  uint64_t nanoseconds; /* of all threads */
} hpar_merge_level;

/* The construct in which a chunk begins. */
typedef enum hpar_start_context {
  HPAR_CONTEXT_NONE, /* a token begins at the cut. Inside text, set hpar_guess.first */
  HPAR_CONTEXT_COMMENT,
  /* or another construct that ends at ">": doctype, bogus comment, ... */
  HPAR_CONTEXT_TAG,
  HPAR_CONTEXT_DOUBLE_QUOTES, /* of an attribute's value */
  HPAR_CONTEXT_SINGLE_QUOTES,
  HPAR_CONTEXT_RAW_TEXT, /* of hpar_guess.element */
  HPAR_CONTEXT_CDATA
} hpar_start_context;

enum { HPAR_CONVERGENCE_STEPS = 6 };

/* How fast the start hypotheses of a chunk converge: one for each context and each element of raw
 * text, as the strategy "enumerate" has them. PLAINTEXT is left out, because it never ends. Two
 * hypotheses meet at the first place that is text for both, or where a token begins for both in the
 * same state. From there on they are one. A hypothesis whose construct does not end in the chunk
 * meets no other. */
typedef struct hpar_convergence {
  uint32_t hypotheses;                         /* at the cut */
  uint32_t live_after[HPAR_CONVERGENCE_STEPS]; /* 1, 16, 64, 256, 1024 and 4096 bytes */
  uint32_t live;                               /* at the end of the chunk */
  uint32_t live_by_context[HPAR_CONTEXT_CDATA + 1];
  uint64_t bytes_until_one; /* UINT64_MAX: more than one is left */
} hpar_convergence;

/* The sums over all chunks after the first. */
typedef struct hpar_convergence_sums {
  uint64_t chunks, hypotheses, live_after[HPAR_CONVERGENCE_STEPS], live;
  uint64_t live_by_context[HPAR_CONTEXT_CDATA + 1];
  uint64_t chunks_with_one, bytes_until_one; /* of the chunks in which one is left */
} hpar_convergence_sums;

/* All counters of a parse. The library writes `size` bytes at most, and sets the fields of a newer
 * caller that it does not have to zero. Counters that do not apply to the mode are 0. Texts have
 * static storage, except the names of a caller's predictor, strategy, cut policy and driver. */
typedef struct hpar_study_stats {
  size_t size;                 /* HPAR_STUDY_STATS_INIT sets it */
  const char *mode;            /* "sequential", "parallel" or the name of a driver: what parsed */
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
  /* this and the next counts of chunks leave out chunk 0 */
  uint64_t chunks;
  /* that the merger parsed itself */
  uint64_t chunks_exact;
  uint64_t chunks_right_start; /* with a true start state */
  uint64_t chunks_right;       /* without a wrong assumption */
  /* right, and without a hazard or a byte that the merger parsed again */
  uint64_t chunks_clean;
  uint64_t chunks_started_before_end; /* during the feeds */
  uint64_t log_entries;
  uint64_t log_entries_by_kind[HPAR_LOG_KINDS];
  uint64_t wrong_assumptions_by_kind[HPAR_ASSUMPTIONS];
  uint64_t bytes_reparsed;
  uint64_t respeculations; /* chunks that their worker started again with another guess */
  uint64_t aborts;         /* chunks that their worker gave up */
  uint64_t undetected_errors_by_kind[HPAR_UNDETECTED_ERRORS]; /* each kind at most once per chunk */
  /* Chunks that a worker parsed and whose cut lies in a comment, in raw text, in a tag. These and
   * the undetected errors are 0 unless hpar_options.study was set. */
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
  hpar_convergence_sums convergence; /* with hpar_study.converge */
} hpar_study_stats;

/* Initialises `size`. */
#define HPAR_STUDY_STATS_INIT HPAR_SIZED(hpar_study_stats)

/* Fills `stats` with the counters of the parser's last hpar_parse or feed. After a failure, except
 * at a limit, and before the first parse they have the defaults. HPAR_ERROR_ARGUMENT: a pointer is
 * NULL, `size` is not set, or a call on the parser runs. */
HPAR_API hpar_status hpar_study_stats_of(const hpar_parser *parser, hpar_study_stats *stats);

/* Does the same as hpar_parse, and fills all counters. `stats` may be NULL. A wrong `size` is
 * reported before the parse. */
HPAR_API hpar_status hpar_study_parse(hpar_parser *parser, const hpar_options *options, const char *bytes,
                                      size_t length, hpar_document *document, hpar_study_stats *stats);

/* Does the same as hpar_parser_finish, and fills all counters. `stats` as in hpar_study_parse. */
HPAR_API hpar_status hpar_study_finish(hpar_parser *parser, hpar_study_stats *stats);

/*** inspection ***/

/* The record of a parser's last parse: the result of each chunk, and the times of each thread's
 * work. hpar_study.inspect requests it. Without that, after a limit and before the
 * first parse, there is no record. A sequential parse is one exact chunk. The record's true states
 * come from a second, sequential parse after the measured time.
 *
 * The record belongs to the parser, and is valid until the next call on it. One thread at a time
 * may read it. All functions return 0, NULL or zeros for a NULL parser. Offsets are those of the
 * input. Times are nanoseconds from the beginning of the parse. */

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
  uint64_t bytes_reparsed;      /* of the text: their sum */
  hpar_convergence convergence; /* with hpar_study.converge; zeros for the first chunk */
  unsigned worker;              /* the thread that parsed it; 0 is the merger's */
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

/* Receives an event of several threads that rewrite one feed (hpar_rewrite_options.mode), on the
 * feeding thread. It uses no function of the rewriter. `event` is valid during the call. */
typedef void (*hpar_rewrite_event_callback)(const hpar_event *event, void *context);

/* Reports the events of each later feed before the feed returns, in the order of their ends on each
 * thread. NULL ends the reports. The kinds have these meanings:
 * - HPAR_EVENT_PARSE: a worker rewrites a chunk.
 * - HPAR_EVENT_EXACT: the feeding thread rewrites a chunk on the true state.
 * - HPAR_EVENT_MERGE: it adopts the results of a worker.
 * - HPAR_EVENT_ROLL_BACK: it rewrites a byte range itself, as part of that.
 * - HPAR_EVENT_WAIT: it waits for a worker.
 * Times are nanoseconds since hpar_rewriter_begin. Chunks are numbered from 0 since the rewriter
 * was created. The feeding thread is thread 0. One thread that rewrites alone has no events. If
 * memory is short, events are lost. HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT: `rewriter` is NULL, or
 * a call on it is running. */
HPAR_API hpar_status hpar_rewriter_trace(hpar_rewriter *rewriter, hpar_rewrite_event_callback callback, void *context);

/*** scripts that run late ***/

/* Postpones the script of this call, as a parser that runs scripts after a merge does. The parser
 * calls the callback for it again, with HPAR_SCRIPT_LATE, when it has parsed the bytes of the
 * current feed. For hpar_parse and parallel feeds, that is the end of the input. The script then
 * sees elements that the standard hides from it. HPAR_ERROR_ARGUMENT: the time of this call is not
 * HPAR_SCRIPT_NOW, or written text contains the script. */
HPAR_API hpar_status hpar_script_postpone(hpar_editor *editor);

/*** predictors ***/

/* Custom guesses at the state in which a chunk begins: a predictor of the caller, or counts for the
 * predictor "frequency". The merger takes only what holds. A wrong guess costs time and never
 * changes the tree. */

/* examples/study and experiments/own-predictor have examples. */

/* A chunk: the bytes [begin, end) of the text, which is UTF-8 for any encoding of the input. The
 * predictor may read `length` bytes of text: for fed input, those that had come when the worker
 * started the chunk. 0 < begin < end <= length. Only forced cuts may lie inside a character. */
typedef struct hpar_cut {
  const char *text;
  size_t length, begin, end;
  bool scripting; /* the scripting flag */
} hpar_cut;

typedef struct hpar_guess {
  hpar_start_context context;
  /* "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext" or,
   * with the scripting flag, "noscript". NULL and any other text: HPAR_CONTEXT_NONE. */
  const char *element;
  hpar_namespace ns; /* of the adjusted current node: HPAR_NAMESPACE_HTML, or that of svg or math */
  /* The insertion mode by the standard's name, as in "in row". NULL and any other text: no guess,
   * which fits most chunks. The library ignores it if a mode predictor guesses. */
  const char *mode;
  /* Where the first token begins, if that is known: then `context` is ignored. 0, or before the
   * cut: the library finds it by `context`. `end` or more: no token begins in the chunk. */
  size_t first;
} hpar_guess;

/* Fills `guess`, which is "data, HTML, no mode" before the call. The texts that it stores there
 * must stay until the parse ends.
 *
 * A worker calls it once per chunk, in any order, and different workers at the same time. The
 * merger never calls it for the chunks that it parses itself. A change of the encoding causes a
 * second call. The thread belongs to the parser, to the caller's executor, or is the calling one.
 * The calls come between the beginning and the end of hpar_parse. For fed input they come until
 * finish, also between the calls.
 *
 * The function may read the cut, its text and its context. It keeps no pointer to the cut. It must
 * return, must not use the parser or the document, and must not throw an exception or longjmp. Its
 * time is part of hpar_study_stats.ns.predict. The strategy "hpar2013" uses the namespace and the
 * mode of a guess only. */
typedef void (*hpar_predict_callback)(const hpar_cut *cut, hpar_guess *guess, void *context);

typedef struct hpar_predictor {
  size_t size; /* HPAR_PREDICTOR_INIT sets it */
  /* for hpar_study_stats.predictor; must stay as long as the caller reads that. NULL: "custom" */
  const char *name;
  hpar_predict_callback predict;
  void *context;
  bool partial_context; /* an end tag without a start tag in the chunk corrects the guess */
  const char *summary;  /* a line for `hpar compare --predictor help`; NULL: none */
} hpar_predictor;

/* Initialises `size`: hpar_predictor predictor = {HPAR_PREDICTOR_INIT, .predict = f}; */
#define HPAR_PREDICTOR_INIT HPAR_SIZED(hpar_predictor)

/*** frequencies ***/

/* The true state of the tokenizer was `state` at `count` cuts of this kind. The words are those of
 * "states_by_bytes" in a profile of `hpar profile`. `before` is the class of the byte before the
 * cut: ">", "<", "=", "quote", "backslash", "white", "word", "other" or "start". `at` is the tag
 * after the cut ("<div", "</div", "<!", "<?"), or else the class of the byte there. States have the
 * standard's names without the word "state": "data", "script data". */
typedef struct hpar_frequency {
  const char *before, *at, *state;
  uint64_t count;
} hpar_frequency;

/* The most frequent state for each kind of cut. A table never changes, so that any number of parses
 * may use it at once. */
typedef struct hpar_frequency_table hpar_frequency_table;

/* Creates a table of `count` rows in any order, and stores it in `*table`. Equal rows add up. The
 * caller may free the rows afterwards. It destroys the table after the parses that use it. A cut
 * whose `before` is in no row is looked up by `at` alone. A cut that is in no row begins in data.
 *
 * HPAR_ERROR_ARGUMENT: `rows` or `table` is NULL. Or a text is NULL, is too long, or names no
 * state: in these last cases `*wrong` is the row, if `wrong` is not NULL. HPAR_ERROR_UNSUPPORTED:
 * this build has no parallel parser. */
HPAR_API hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                                 size_t *wrong);

/* Frees the table. NULL: nothing happens. No parse may use it. */
HPAR_API void hpar_frequency_table_destroy(hpar_frequency_table *table);

/*** the tokenizer ***/

/* The tokenizer without a tree builder, as the tokenizer tests of html5lib-tests use it. Only the
 * caller's choice sets its state. */

typedef enum hpar_token_kind {
  HPAR_TOKEN_EOF = 0,
  HPAR_TOKEN_TEXT, /* a maximal run of characters; with NUL where the standard emits it */
  HPAR_TOKEN_START_TAG,
  HPAR_TOKEN_END_TAG,
  HPAR_TOKEN_COMMENT,
  HPAR_TOKEN_DOCTYPE,
  HPAR_TOKEN_PROCESSING_INSTRUCTION
} hpar_token_kind;

/* A token. All pointers are valid during the callback only. */
typedef struct hpar_token {
  hpar_token_kind kind;
  bool self_closing, force_quirks, has_name, has_public_id, has_system_id;
  hpar_string name; /* of a tag or doctype; target of a processing instruction */
  hpar_string data; /* of text, comment, processing instruction */
  hpar_string public_id, system_id;
  const hpar_attribute *attributes;
  size_t attribute_count;
  uint64_t start, end; /* byte offsets in the input */
} hpar_token;

/* Receives each token in order. It must not use the parser. */
typedef hpar_status (*hpar_token_callback)(const hpar_token *token, void *context);

/* Tokenizes `length` bytes of UTF-8 and calls `callback` for each token. `bytes` may be NULL if
 * `length` is 0. `state` is the initial state: "Data state", "RCDATA state", "RAWTEXT state",
 * "Script data state", "PLAINTEXT state" or "CDATA section state". NULL is the first.
 * `last_start_tag` decides which end tag is appropriate; NULL: none. The parser keeps
 * the first `max_errors` errors for hpar_parse_error_at. A feed with this parser is abandoned.
 *
 * HPAR_ERROR_ARGUMENT: `parser` or `callback` is NULL, or there is no such state.
 * HPAR_ERROR_TOO_LARGE, HPAR_ERROR_MEMORY. */
HPAR_API hpar_status hpar_tokenize(hpar_parser *parser, const char *state, const char *last_start_tag,
                                   size_t max_errors, const char *bytes, size_t length, hpar_token_callback callback,
                                   void *context);

/*** plug-ins ***/

/* A plug-in has predictors, cut policies, strategies and drivers of its own. `hpar compare --plugin
 * FILE.so` loads it, and hpar_study takes its parts in C. A plug-in calls no function of the
 * library, so it links nothing. The tree is the sequential one whatever a plug-in returns: it
 * decides about time only. What hpar_predict_callback may do, all of its functions may do. The
 * guide docs/guides/plugins.md has the steps, and examples/study has one file for each kind. */

/* Returns where to cut the `length` bytes of UTF-8 in `text` instead of `even`: there or later. The
 * library moves a smaller result to `even`, and one inside a character to the next character.
 * `length` or more: there is no cut in this text. The calling thread asks for one cut after the
 * other. For fed input, `text` is what has come. The thread asks again once there is more, from 16
 * bytes before the end of the earlier text on. The time is part of ns.cut. */
typedef size_t (*hpar_cut_callback)(const char *text, size_t length, size_t even, void *context);

typedef struct hpar_cut_policy {
  size_t size; /* HPAR_CUT_POLICY_INIT sets it */
  const char *name, *summary;
  hpar_cut_callback cut;
  void *context;
} hpar_cut_policy;

/* Initialises `size`. */
#define HPAR_CUT_POLICY_INIT HPAR_SIZED(hpar_cut_policy)

typedef enum hpar_decision {
  HPAR_DECISION_GO_ON = 0, /* and every other value */
  HPAR_DECISION_RESTART,   /* drop the attempt, and parse the chunk again from another guess */
  HPAR_DECISION_GIVE_UP    /* drop the attempt, and leave the chunk to the merger */
} hpar_decision;

enum { HPAR_NOTES = 8 };

/* A worker has parsed a chunk from its cut, or from guess.first, to a token, which it has read and
 * not built. */
typedef struct hpar_attempt {
  hpar_cut cut;
  hpar_guess guess;  /* with which the attempt began */
  unsigned restarts; /* attempts at this chunk before this one */
  uint64_t *notes;   /* HPAR_NOTES numbers of the strategy, zero at the chunk's first attempt */
  /* The token: a part of a run of text, a tag, a comment ... `name` is that of a tag, or empty. */
  hpar_token_kind kind;
  hpar_string name;
  size_t token_begin, token_end; /* in the text */
  /* the token is an end tag of raw text that no start tag in the chunk has begun: the chunk
   * probably began inside */
  bool is_contradiction;
  /* the token may change elements that were opened before the cut: the merger builds it */
  bool reaches_out;
  size_t open; /* elements of the chunk that are open */
  /* Returns whether one of these has this name, which is one of the standard's in lower case. */
  bool (*has_open)(const struct hpar_attempt *attempt, const char *element);
} hpar_attempt;

/* Decides how the worker continues. For HPAR_DECISION_RESTART it fills `next`, which is "data,
 * HTML, no mode" before the call. After eight restarts of a chunk each decision to restart is
 * ignored. */
typedef hpar_decision (*hpar_decide_callback)(const hpar_attempt *attempt, hpar_guess *next, void *context);

/* Stores up to `most` offsets where the first token of the chunk may begin if the guess is wrong.
 * Returns their number. The worker parses the chunk once, from the guess. At the first token
 * boundary at or after each of these places it lets the merger enter. It ignores places up to the
 * cut. `end` or more: no token begins in the chunk. `most` is 15. The places are ignored if the
 * guess of the library's predictor "lookback" is in doubt: it then has two starts of its own. */
typedef size_t (*hpar_starts_callback)(const hpar_cut *cut, size_t *starts, size_t most, void *context);

/* A strategy. Where it brings no predictor or cut policy of its own, it names one of the library's.
 * NULL in both fields is the library's default: "lookback", "replay" and "smart". The caller of
 * the parse can replace each of these parts. */
typedef struct hpar_strategy {
  size_t size; /* HPAR_STRATEGY_INIT sets it */
  const char *name, *summary;
  const struct hpar_predictor *predictor, *mode_predictor; /* of the latter, guess.mode counts */
  const hpar_cut_policy *cut_policy;
  const char *predictor_name, *mode_predictor_name, *cut_policy_name;
  /* The worker calls it before a contradiction, and before a token once every `interval` bytes. 0:
   * before contradictions only. 1: before each token, which takes time: the worker then builds no
   * tokens in its fast loop. NULL: a contradiction restarts the chunk behind it if the predictor
   * has partial_context. */
  hpar_decide_callback decide;
  size_t interval;
  hpar_starts_callback starts; /* NULL: no further places */
  /* each sibling at the level of the cut has assumptions of its own, as in HPar's Temppa */
  bool one_by_one;
  void *context; /* of both functions */
} hpar_strategy;

/* Initialises `size`. */
#define HPAR_STRATEGY_INIT HPAR_SIZED(hpar_strategy)

/* A parse of a whole text, as its driver sees it. The functions are the library's. The driver calls
 * them on the thread that called it, and passes this structure. */
typedef struct hpar_driven_parse {
  const char *text; /* UTF-8, which stays in place: other threads may read it, too */
  size_t length;
  bool scripting;   /* the scripting flag */
  unsigned threads; /* that the driver has, with the calling one: at most hpar_driver.threads */
  /* The next four change with the parse. */
  size_t at;       /* where the first token begins that is not built */
  uint64_t tokens; /* that are built */
  uint64_t nodes;
  bool has_ended; /* the end of the text is built, or the parse has failed: nothing follows */

  /* Reads and builds the tokens that begin before `near`, without a token in between: this is the
   * sequential parser. `length` or more: to the end. Returns false if the parse has ended. */
  bool (*advance)(struct hpar_driven_parse *parse, size_t near);
  /* Reads the next token, which is valid until the next call of a function of this parse. A run of
   * text may be several tokens. Offsets are those of the text. The last token is HPAR_TOKEN_EOF.
   * Returns the same token again until it is built. NULL: the parse has ended. */
  const hpar_token *(*next)(struct hpar_driven_parse *parse);
  /* Builds that token. A token that is not built is built first by the other functions. Returns
   * false if the parse has ended. */
  bool (*build)(struct hpar_driven_parse *parse);
  /* Calls work(context, t) once on each of the threads 1 to `threads` - 1, and returns at once.
   * Does nothing if `threads` is 1. `work` calls no function of this parse, and must return. */
  void (*start)(struct hpar_driven_parse *parse, void (*work)(void *context, unsigned thread), void *context);
  /* Waits until this work has returned. The library does that, too, after the driver returns. */
  void (*join)(struct hpar_driven_parse *parse);
} hpar_driven_parse;

/* Parses. When it returns, the library builds what is left of the text. A failure ends the parse.
 * So does a late meta element that declares another encoding: the driver returns, and the library
 * calls it again for the text in that encoding. */
typedef void (*hpar_drive_callback)(hpar_driven_parse *parse, void *context);

typedef struct hpar_driver {
  size_t size; /* HPAR_DRIVER_INIT sets it */
  const char *name, *summary;
  unsigned threads; /* that it can use, with the calling one; 0: one */
  hpar_drive_callback drive;
  void *context;
} hpar_driver;

/* Initialises `size`. */
#define HPAR_DRIVER_INIT HPAR_SIZED(hpar_driver)

/* What a plug-in file has. Each list ends with NULL, and a list that is NULL is empty. Each part
 * has a name. All must stay as long as the file is loaded. */
typedef struct hpar_plugin {
  unsigned version; /* HPAR_PLUGIN_VERSION when the plug-in was compiled */
  const char *name;
  const hpar_predictor *const *predictors, *const *mode_predictors;
  const hpar_cut_policy *const *cut_policies;
  const hpar_strategy *const *strategies;
  const hpar_driver *const *drivers;
} hpar_plugin;

/* Structs that begin with their size may grow within a version. */
#define HPAR_PLUGIN_VERSION 2

/* The only function that a plug-in file must export. */
#define HPAR_PLUGIN_FUNCTION "hpar_plugin_open"
typedef const hpar_plugin *(*hpar_plugin_callback)(void);

/* Begins the definition of that function, in C and in C++. The body in braces follows. */
#ifdef __cplusplus
#define HPAR_PLUGIN extern "C" __attribute__((visibility("default"))) const hpar_plugin *hpar_plugin_open(void)
#else
#define HPAR_PLUGIN                                                                 \
  __attribute__((visibility("default"))) const hpar_plugin *hpar_plugin_open(void); \
  const hpar_plugin *hpar_plugin_open(void)
#endif

HPAR_END_C
#endif
