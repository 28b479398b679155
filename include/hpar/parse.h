#ifndef HPAR_PARSE_H
#define HPAR_PARSE_H

/* Parsing bytes into a document: HTML Living Standard, "Parsing HTML documents".
 *
 *   hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
 *   hpar_error error;
 *   hpar_document *document = hpar_parse_bytes(page, length, &options, &error);
 *   if (!document) fprintf(stderr, "%s\n", error.text);
 *   hpar_document_destroy(document);
 *
 * Zero in any field of a structure but `size` is its default, and `reserved` words are zero. `size`
 * lets a program and a library of different versions work together. The library takes zero for the
 * fields that an older caller does not have. If a newer caller sets a field that the library lacks,
 * it returns HPAR_ERROR_ARGUMENT, and the error has the structure and the offset of the field. It
 * sets such fields of a structure that it fills to zero. In an array, `size` of the first element
 * is the distance of all elements.
 *
 * The tree depends on no option except `scripting`, `fragment`, `encoding`, the script callback and
 * the limits. A parser keeps memory and threads between parses. Each serves one thread at a time.
 *
 * Time is linear in the input, except where the standard defines a tree that is larger, because it
 * opens formatting elements again in each of many paragraphs. hpar_limits bound the tree and the
 * time. SECURITY.md lists the functions that take more than linear time. */

#include <hpar/resources.h>
#include <hpar/script.h>

HPAR_BEGIN_C

/*** options ***/

#define HPAR_MAX_INPUT UINT64_C(0xfffffff0) /* bytes; offsets have 32 bits */
#define HPAR_MAX_THREADS 256                /* of a parse */

typedef enum hpar_mode {
  /* parallel from 256 KB on, or from 32 KB if the pool is awake; else sequential. It is sequential
   * while a late thread is still in the parser's last parse. If a thread of a parse had no
   * processor for long, so are the next 16 to 256 parses */
  HPAR_MODE_AUTO = 0,
  HPAR_MODE_SEQUENTIAL, /* one thread */
  /* speculative workers and a merger, for any size of input. It waits for a late thread of the
   * parser's last parse. Sequential if a thread is late while it decodes or validates the input */
  HPAR_MODE_PARALLEL
} hpar_mode;

/* The threads that run the tasks of a parse. */
typedef enum hpar_executor {
  HPAR_EXECUTOR_THREADS = 0, /* the parser's pool */
  HPAR_EXECUTOR_INLINE,      /* the calling thread: workers before the merge, last chunk first */
  HPAR_EXECUTOR_CALLER       /* hpar_parallel_options.run */
} hpar_executor;

/* The processors that the parser's threads run on. */
typedef enum hpar_affinity {
  HPAR_AFFINITY_NONE = 0, /* any; a pool thread avoids the processor of the thread that woke it */
  /* one for each: different cores before hyperthreads, fast ones and near memory first */
  HPAR_AFFINITY_CORES
} hpar_affinity;

/* When the parser decodes character references in attribute values. */
typedef enum hpar_value_decoding {
  HPAR_VALUES_ON_ACCESS = 0, /* at the first access to the value; see hpar_node_attribute_at */
  HPAR_VALUES_AT_ONCE        /* during the parse; it takes longer, and accesses take less time */
} hpar_value_decoding;

/* The source of the tree's memory. */
typedef enum hpar_allocator {
  HPAR_ALLOCATOR_LIBC = 0, /* the system, through the C library */
  /* keeps the pages of destroyed documents for new ones, up to about ten seconds */
  HPAR_ALLOCATOR_JEMALLOC
} hpar_allocator;

/* The way in which pool threads wait for the next parse. */
typedef enum hpar_wait_policy {
  HPAR_WAIT_ADAPTIVE = 0, /* they spin while parses follow each other, at most 2 ms, then sleep */
  HPAR_WAIT_SPIN,         /* they spin for one second: the next parse starts within a microsecond */
  HPAR_WAIT_SLEEP         /* they sleep at once, and wake in 25 to 60 us */
} hpar_wait_policy;

/* A task of the library. It never waits for one that has not started, and never unwinds. */
typedef void (*hpar_task_callback)(void *job, unsigned index);

/* The caller's executor, with which the library starts no thread. It calls task(job, i) once for
 * each i below `count`, on any threads and in any order. It returns when all tasks have returned
 * and their writes are visible. `count` is at most hpar_options.threads. Task 0 merges. The calling
 * thread runs the tasks that the executor leaves out. */
typedef void (*hpar_run_callback)(unsigned count, hpar_task_callback task, void *job, void *context);

/* Options of the parallel parser and of the threads. */
typedef struct hpar_parallel_options {
  hpar_executor executor;
  hpar_wait_policy wait;
  hpar_affinity affinity; /* not of a caller's executor; of the calling thread in a call only */
  hpar_run_callback run;  /* with HPAR_EXECUTOR_CALLER. Fed input is then parsed in finish */
  void *run_context;
  size_t chunk_size; /* bytes; 0: by the length of the input and the threads */
  size_t chunks;     /* about; 0: by chunk_size. Ignored with chunk_size, and for fed input */
  /* 1: hpar_scan_resources and hpar_parse_many do not wait for a late thread. The bytes must then
   * stay until the parser's next such call succeeds, or the parser is destroyed: both wait */
  uint64_t bytes_stay;
  uint64_t reserved[3]; /* zero */
} hpar_parallel_options;

/* Limits of a parse; 0: none. The parse ends at the first limit that it reaches. The document keeps
 * the tree so far, and the call returns HPAR_LIMIT_DEPTH, HPAR_LIMIT_NODES and so on. Except after
 * HPAR_LIMIT_INPUT, the parser does not process the end of the input then, so that even html, head
 * or body may be missing. All limits except that of time end every parse of the same bytes at the
 * same tree, in each mode. Therefore `depth` and `attributes` select the sequential parser. It also
 * repeats a parallel parse that reaches a limit of nodes, or half of a limit of memory:
 * hpar_stats.mode names the last parser. And it parses fed input with any of these limits; with one
 * of memory, or one by input length, it starts in finish. */
typedef struct hpar_limits {
  uint64_t depth;          /* open elements; the next element is not inserted. Browsers use 512 */
  uint64_t attributes;     /* of one element; a tag with more is not processed */
  uint64_t nodes;          /* checked after each token, whose nodes stay together */
  uint64_t nodes_per_byte; /* is multiplied by the input's length, and added to `nodes` */
  /* bytes of hpar_document_memory, also after later accesses to attribute values. Below 100 KB
   * there may be no tree. The open elements, decoded input and logs take memory besides */
  uint64_t memory;
  uint64_t memory_per_byte; /* is multiplied by the input's length, and added to `memory` */
  uint64_t time_ns;         /* since the call, or since begin; checked at least every 64 tokens */
  uint64_t input;           /* bytes; the parser ignores the rest */
  uint64_t reserved[4];     /* zero */
} hpar_limits;

/* Limits for input from untrusted sources, below which ordinary pages stay. In C, they initialise a
 * field, as in {HPAR_OPTIONS_INIT, .limits = HPAR_LIMITS_UNTRUSTED}. In C++, assign them to it. */
#define HPAR_LIMITS_UNTRUSTED                                                             \
  {                                                                                       \
    512, 1024, 10000, 1, UINT64_C(16) << 20, 64, UINT64_C(10000000000), 0, { 0, 0, 0, 0 } \
  }

struct hpar_study;

typedef struct hpar_options {
  size_t size; /* HPAR_OPTIONS_INIT sets it */
  hpar_mode mode;
  unsigned threads;         /* with the calling one, up to HPAR_MAX_THREADS; 0: one per core */
  const char *encoding;     /* the label that the transport gives, in any case; NULL: none */
  const char *fragment;     /* the context: "div", "svg path", "math mi"; NULL: a document */
  size_t max_errors;        /* parse errors to keep, by offset; 0: the parser ignores errors */
  hpar_allocator allocator; /* a document with other memory gives it back and takes new memory */
  bool scripting;           /* the scripting flag; true if script.callback is set */
  bool copy_input;          /* copy the bytes; otherwise they must outlive the document */
  bool source_offsets;      /* keep the source positions of tags and attributes */
  hpar_value_decoding value_decoding;
  /* the choices of a study of speculation, which hpar/study.h declares; NULL: the library's own */
  const struct hpar_study *study;
  hpar_limits limits;
  hpar_parallel_options parallel;
  hpar_script_options script;
  hpar_resource_options resources; /* not with hpar_parse_many */
} hpar_options;
#define HPAR_OPTIONS_INIT HPAR_SIZED(hpar_options)

/* Returns the allocators of this build in the order of hpar_allocator; NULL past the last. Only the
 * static library can have jemalloc, which needs thread-local memory from the start of the program.
 * HPAR_ALLOCATOR_JEMALLOC is HPAR_ERROR_UNSUPPORTED without one for the system's size of pages. */
HPAR_API const char *hpar_allocator_name(size_t index);

/*** statistics ***/

/* Statistics of a parse; hpar/study.h has more. Counters of other modes are 0. Texts are static. */
typedef struct hpar_stats {
  size_t size;                 /* HPAR_STATS_INIT sets it */
  const char *mode;            /* "sequential", "parallel" or a study's driver: what parsed */
  uint64_t bytes;              /* of the text in UTF-8 */
  const char *encoding;        /* by its name in the Encoding Standard: "UTF-8", "windows-1252" */
  const char *encoding_source; /* "bom", "hint", "meta", "valid-utf-8", "fallback" or "late-meta" */
  uint64_t tokens;             /* tags, comments, doctypes, processing instructions, runs of text */
  uint64_t nodes;              /* created, with the document node and nodes removed later */
  uint64_t parse_errors;       /* all, kept or not; 0 unless hpar_options.max_errors is set */
  unsigned threads;
  const char *affinity;  /* "none", "cores", "processors" (no hwloc), "refused" by the system */
  const char *allocator; /* of the document: "libc" or "jemalloc" */
  /* Of a parallel parse, without the first chunk, which is never speculative: */
  uint64_t chunks;
  uint64_t chunks_clean;   /* the merger adopted everything that the worker made */
  uint64_t bytes_reparsed; /* by the merger, because a guess was wrong */
  struct {                 /* nanoseconds */
    uint64_t total;
    uint64_t decode; /* the encoding and UTF-8, before the parse */
    uint64_t input;  /* from the beginning until finish was called; 0 for hpar_parse */
  } ns;
  struct {                  /* with hpar_options.script */
    uint64_t runs;          /* calls of the callback */
    uint64_t bytes_written; /* by hpar_script_write, also without an effect */
  } script;
} hpar_stats;
#define HPAR_STATS_INIT HPAR_SIZED(hpar_stats)

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
  } ns;
} hpar_many_stats;
#define HPAR_MANY_STATS_INIT HPAR_SIZED(hpar_many_stats)

/*** parsers ***/

typedef struct hpar_parser hpar_parser;

/* A parse error: the standard's name for it ("eof-in-tag"), in static storage, and the byte offset
 * in the input. Errors of tree construction have no name, and the code "tree-construction". */
typedef struct hpar_parse_error {
  const char *code;
  uint64_t offset;
} hpar_parse_error;

HPAR_API hpar_status hpar_parser_create(hpar_parser **parser);
/* Frees the parser and ends its threads. Documents stay. A feed that has not finished is abandoned:
 * its document becomes empty. See hpar_document_destroy for callbacks. */
HPAR_API void hpar_parser_destroy(hpar_parser *parser);
/* Returns why the parser's last call failed, valid until the next one. For NULL, it says so. */
HPAR_API const hpar_error *hpar_parser_error(const hpar_parser *parser);

/* Starts the threads that a parse with these options would use, if any, and wakes them. They spin
 * for up to 2 ms, so that the next parse starts without delay. A caller that waits for input calls
 * it when the first bytes arrive. The first feed does this itself. */
HPAR_API hpar_status hpar_parser_prepare(hpar_parser *parser, const hpar_options *options);

/* Parses `length` bytes into `document` and drops its earlier tree. The bytes must outlive the
 * document, unless hpar_options.copy_input is set.
 *
 * Neither hpar_select nor a parallel parse waits for a late thread, unless the parse fails, begins
 * again, reports resources or has the caller's executor. The thread may still read the bytes and
 * write to its part of the document's memory. Destroying, clearing, parsing into or changing the
 * document waits for it. So does destroying the parser. Clear a document before its bytes go.
 *
 * The parser finds the encoding as the standard defines it: a byte order mark,
 * hpar_options.encoding, then a meta element in the first 1024 bytes, but not of a fragment.
 * Without any of these, valid UTF-8 is UTF-8, and other bytes are windows-1252. A later meta
 * element with another encoding starts the parse again. The tree is in UTF-8, with U+FFFD for
 * invalid sequences by the Encoding Standard. Offsets are those of the input.
 *
 * After a failure, except at a limit, the document is empty and `stats` has the defaults. If the
 * parser or the document is NULL, nothing changes. HPAR_ERROR_UNSUPPORTED, HPAR_ERROR_TOO_LARGE. */
HPAR_API hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                hpar_document *document, hpar_stats *stats);

/* Parses `length` bytes into a document of its own, which the caller destroys. It makes a parser
 * for this one call; a program that parses many pages keeps one, and calls hpar_parse. The bytes
 * must outlive the document, unless hpar_options.copy_input is set. No thread uses them after the
 * call. Returns NULL after a failure of hpar_parse. After a limit, the document has the tree so
 * far, and `error->status` is the limit's. */
HPAR_API hpar_document *hpar_parse_bytes(const char *bytes, size_t length, const hpar_options *options,
                                         hpar_error *error);
/* Does the same with the bytes of the file or pipe `path`. The document owns a copy of them.
 * HPAR_ERROR_IO: the file cannot be read, and `error->text` has its name and the reason. */
HPAR_API hpar_document *hpar_parse_file(const char *path, const hpar_options *options, hpar_error *error);

/* Incremental input: begin, any number of feeds, finish. The tree, the parse errors and the
 * counters of tokens and nodes are those of hpar_parse for any division of the input.
 * - The caller may change or free the bytes after a feed returns. The document keeps the text.
 * - The feeds parse as much as they can, after 1024 bytes or when the encoding is certain. Other
 *   threads parse chunks between the calls. With another executor or parser, finish parses all.
 * - A meta element that declares another encoding starts the parse again, as in hpar_parse. So do
 *   bytes that are not valid UTF-8, if nothing declares the encoding.
 * - The options are copied. What they point to must stay, and the document be unread, until finish.
 * - These abandon the feed: another begin, hpar_parse, hpar_parse_many or hpar_tokenize with the
 *   parser; destroying the parser; any other use of the document. The document is then empty. */

/* Begins a feed into `document` and drops its earlier tree. After a failure there is no feed. */
HPAR_API hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document);
/* Feeds `length` bytes, which may be 0. After a limit, feed ignores the bytes and returns its
 * status. HPAR_ERROR_ARGUMENT without a change: there is no feed, or a pointer is NULL. After any
 * other failure the document is empty, and feed and finish return the same status again. They
 * return HPAR_ERROR_ARGUMENT if the caller used the document. */
HPAR_API hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length);
/* Ends the feed, with any status. `stats` is as in hpar_parse. HPAR_ERROR_ARGUMENT, also: there is
 * no feed, or `stats` is not valid, and then the feed goes on. */
HPAR_API hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats);

typedef struct hpar_input {
  size_t size;       /* HPAR_INPUT_INIT sets it */
  const char *bytes; /* may be NULL if `length` is 0; must stay as for hpar_parse */
  size_t length;
  hpar_status status;      /* the library sets it to the result of this input's parse */
  hpar_document *document; /* of one input only. NULL: the parser lends one to the callback */
} hpar_input;
#define HPAR_INPUT_INIT HPAR_SIZED(hpar_input)

/* Reports a parsed input, on the thread that parsed it, while others run. `thread` is below
 * hpar_many_stats.threads, and two calls at once have different numbers. `document` is empty after
 * a failure. `parser` has the parse errors and the error text of this input. The callback may read
 * both, and may change or clear `*input`, but nothing of the other inputs. A parser that it
 * destroys lives until the call returns, and a document until the callback does. */
typedef void (*hpar_batch_callback)(size_t index, hpar_input *input, const hpar_document *document,
                                    const hpar_parser *parser, const hpar_stats *stats, unsigned thread, void *context);

/* Parses `count` inputs, each with the sequential parser on one of hpar_options.threads threads,
 * the longest first. For many documents this has a higher throughput than to parse each in
 * parallel. But one thread may need longer for an input of 1 MB or more than all threads for all
 * inputs. All threads then parse this input before the others, unless `mode` is
 * HPAR_MODE_SEQUENTIAL. Otherwise `mode` and all options of cutting and merging are ignored. The
 * limits apply to each input. With HPAR_EXECUTOR_INLINE, or without the parallel parser, the
 * calling thread parses all inputs. `callback` may be NULL, and `inputs` if `count` is 0. Returns
 * HPAR_OK even if inputs fail: each has its own status. Otherwise nothing is parsed. */
HPAR_API hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                                     hpar_many_stats *stats, hpar_batch_callback callback, void *context);

/* Returns the number of parse errors that the last parse kept; 0: it failed, or is not finished. */
HPAR_API size_t hpar_parse_error_count(const hpar_parser *parser);
/* Returns a parse error of the last parse. They are ordered by offset, and valid until the next
 * call on the parser. Past the last: an empty code and offset 0. */
HPAR_API hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index);

/* Reports the resources of an input to options->resources without a tree, in about the time of a
 * parse. The memory does not grow with the page. The events are those of a parse, with three
 * differences. `element` is HPAR_NO_NODE. `picture` is a number that the images of one picture
 * share. CANCELLED comes at the end, or before the scan begins again in an encoding that a meta
 * element declares. With resources.in_order, only the calling thread scans. It runs no scripts. Of
 * the options, it uses resources, mode, threads, encoding, fragment, scripting, limits.input, the
 * predictor of a study, and executor, wait and bytes_stay of `parallel`. HPAR_ERROR_ARGUMENT, also:
 * there is no callback. HPAR_ERROR_UNSUPPORTED: UTF-16, ISO-2022-JP or "replacement".
 * HPAR_LIMIT_INPUT: the input is longer than limits.input, and its beginning is scanned. */
HPAR_API hpar_status hpar_scan_resources(hpar_parser *parser, const hpar_options *options, const char *bytes,
                                         size_t length);

/*** encodings ***/

/* Returns the name of a label in the Encoding Standard, in static storage: "windows-1252" for
 * "latin1". A label has any case of letters, and may have white space around. NULL: it is none. */
HPAR_API const char *hpar_encoding_name(const char *label);
/* Decodes `length` bytes to UTF-8, and writes the text in pieces. A byte order mark of the encoding
 * is left out. Invalid sequences become U+FFFD. HPAR_ERROR_ARGUMENT, also: it is no label. */
HPAR_API hpar_status hpar_decode(const char *label, const char *bytes, size_t length, hpar_write_callback write,
                                 void *context);

HPAR_END_C
#endif
