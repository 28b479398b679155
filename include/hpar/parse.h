#ifndef HPAR_PARSE_H
#define HPAR_PARSE_H

/* Parsing bytes into a document: HTML Living Standard, "Parsing HTML documents".
 *
 * The tree is the same for every mode, thread count, cut, strategy, predictor and way to merge. A parser is used by one
 * thread at a time and holds what is worth keeping between parses: stacks, worker arenas' bookkeeping, threads.
 * Different parsers may run at once.
 *
 * Time is linear in the input but where the standard itself asks for more: reconstructing formatting
 * elements makes a tree that is larger than the input (`<p><b a=1><b a=2>...` then many `<p>`), Noah's Ark and a
 * formatting element's end tag look at every entry after the last marker, the adoption agency moves all children of a
 * furthest block, and in a select with a selectedcontent what is fostered, or stands in that content, changes which
 * option comes first in what is there already. Limits are applied where they are asked for: see max_depth and what
 * follows it. */

#include <hpar/document.h>
#include <hpar/predictor.h>
#include <hpar/stats.h>
#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest input, in bytes: offsets are 32-bit. */
#define HPAR_MAX_INPUT UINT64_C(0xfffffff0)

typedef struct hpar_parser hpar_parser;

typedef enum hpar_mode {
  HPAR_MODE_AUTO = 0, /* parallel where that is measured to win: from 256 KB on, or 32 KB with a pool that is awake */
  HPAR_MODE_SEQUENTIAL,
  HPAR_MODE_PARALLEL, /* cuts however small the input is */
  HPAR_MODE_PIPELINED /* a thread for the tokenizer, ahead of the tree builder, or both in turns if there is but one;
                         sequential with any limit but that of input */
} hpar_mode;

typedef enum hpar_executor {
  HPAR_EXECUTOR_THREADS = 0,
  HPAR_EXECUTOR_INLINE, /* workers run on the calling thread, all before the merge, last chunk first */
  HPAR_EXECUTOR_CALLER  /* hpar_options.run starts them */
} hpar_executor;

/* An executor of the caller. Calls task(job, i) once for each i below `count`, on any threads and in
 * any order. Returns when all calls have returned and their writes are visible. Every task returns.
 * It never waits for a task that has not started, and it never longjmps out. `count` is at most
 * hpar_options.threads. With an executor the library starts no thread.
 *
 * Task 0 merges. The other tasks that run at the same time make the parse parallel. The calling
 * thread runs the tasks that the executor has left out, after the executor has returned. */
typedef void hpar_run(void *context, unsigned count, void (*task)(void *job, unsigned index), void *job);

typedef enum hpar_bind {
  HPAR_BIND_NONE = 0, /* where the system lets them run, but a thread of the pool that finds itself on the processor of
                         the one that has woken it keeps off that */
  HPAR_BIND_CORES     /* each thread to a processor: a core each before hyperthreads, fast cores before slow ones, near
                         memory first */
} hpar_bind;

/* Where the tree's memory comes from. */
typedef enum hpar_allocator {
  HPAR_ALLOCATOR_LIBC = 0, /* the system, through the C library */
  HPAR_ALLOCATOR_JEMALLOC /* pages of destroyed documents stay warm for new ones; those that nobody takes go back to the
                             system after some ten seconds, as other documents come and go */
} hpar_allocator;

typedef enum hpar_merge {
  HPAR_MERGE_CHAIN = 0, /* log after log on the true state, each as soon as it is there */
  HPAR_MERGE_TREE       /* first neighbours with each other, then pairs of neighbours and so on, on all threads */
} hpar_merge;

/* How a parser's threads wait for its next parse. */
typedef enum hpar_pool {
  HPAR_POOL_ADAPTIVE =
      0,          /* they spin for as long as parses lately came one after the other, at most 2 ms, then sleep */
  HPAR_POOL_SPIN, /* they spin for a second: the next parse begins on all of them within a microsecond, but
                     meanwhile they take the processors' time */
  HPAR_POOL_SLEEP /* they sleep at once, and wake in 25 to 60 us */
} hpar_pool;

/* A parse error by the standard's name for it ("eof-in-tag") and the byte offset in the input.
 * Tree-construction errors that the standard leaves unnamed have code "tree-construction". */
typedef struct hpar_parse_error {
  const char *code;
  uint64_t offset;
} hpar_parse_error;

typedef struct hpar_options {
  hpar_mode mode;
  unsigned threads;     /* including the caller; 0: one for each core that may be used */
  size_t chunk_size;    /* bytes; 0: chosen from input size and threads */
  const uint64_t *cuts; /* forced cuts, ascending byte offsets; NULL: smart cuts */
  size_t cut_count;
  const char *predictor; /* a name from hpar_predictor_name; NULL: the strategy's */
  hpar_executor executor;
  size_t checkpoint_bytes;    /* least distance between two checkpoints of a worker; 0: the default */
  bool scripting;             /* the scripting flag; no script is ever run */
  const char *fragment;       /* context element, "div", "svg path", "math mi"; NULL: a document */
  bool copy_input;            /* keep a copy; otherwise the caller's bytes must outlive the document */
  bool source_offsets;        /* remember where each element's start tag stood */
  size_t max_errors;          /* parse errors to keep, 0: none are looked for */
  const char *encoding;       /* what the transport says, any label of the Encoding Standard; NULL: nothing */
  const char *strategy;       /* a name from hpar_strategy_name; NULL: the first */
  const char *mode_predictor; /* a name from hpar_mode_predictor_name; NULL: the strategy's */
  const char *cut; /* a name from hpar_cut_policy_name; NULL: the strategy's; of no account with `cuts`. "even" cuts at
                      equal distances, but between characters; the others look from there on for a place: "before-tag"
                      and "after-tag" for a tag, "smart" for one that does not end raw text, "exact" for where a token
                      truly begins, in the data state, which takes a sequential parse before (ns.oracle) */
  unsigned
      buffer_tokens; /* of the pipelined parser: tokens that the tokenizer may be ahead, up to 65536; 0: the default */
  unsigned batch;    /* ... and how many are handed over at once; 0: the default */
  const char *pipeline_predictor; /* a name from hpar_pipeline_predictor_name; NULL: the default */
  bool pipeline_stages;           /* in a parallel parse: each worker is such a pair, on two of the threads */
  size_t chunks;    /* so many, about, if neither chunk_size nor cuts are given; not of input that comes piece by
                       piece, whose length nobody knows; 0: by chunk_size */
  hpar_merge merge; /* as a tree: not with strategies that look at each cut in its true state (hpar2013) */
  bool inspect;     /* record what becomes of each chunk, and when: see hpar/inspect.h */
  hpar_run *run;    /* of HPAR_EXECUTOR_CALLER. Both stages of the pipelined parser are then on the calling thread, and
                       input that is fed is parsed in finish */
  void *run_context;
  hpar_bind bind; /* the calling thread is bound during hpar_parse and hpar_parse_many and put back; threads of
                     the caller's executor are left alone */
  hpar_allocator allocator;                /* a document whose memory is from elsewhere gives it back and takes new: see
                                              hpar_allocator_name */
  const hpar_predictor *own_predictor;     /* in place of `predictor`: see hpar/predictor.h; NULL: none */
  const hpar_frequency_table *frequencies; /* for the predictor "frequency": see hpar/predictor.h; NULL: a small table
                                              of figures that the library brings with it */
  hpar_pool pool;

  /* Limits. 0, the default, is none. The parse ends where one is reached: the document keeps the tree so far, and the
   * call answers the limit's own status, HPAR_LIMIT_DEPTH and so on. The end of the input is then not processed, so
   * that even html, head or body may be missing; after HPAR_LIMIT_INPUT it is. All but that of time end every parse of
   * the same bytes at the same tree, in each mode: with `max_depth` or `max_attributes` the sequential parser is used
   * whatever `mode` says, and a parallel parse that reaches one of nodes or memory, or half of the latter, is done
   * again by it (hpar_stats.mode says which parser it was in the end). Input that is fed is parsed by it with
   * any of these four; with `max_memory` not before finish. */
  size_t max_depth;   /* elements open at once; 512 is what browsers use. The next is not inserted */
  uint64_t max_nodes; /* looked at after each token: what one token inserts stays together */
  size_t max_memory;  /* bytes of hpar_document_memory; beside it there are the stack of open elements, names, a copy of
                         input that is not UTF-8 and, in parallel, logs. Below some 100 KB no tree may be left */
  size_t max_attributes; /* of an element. A tag with more is not processed; what <html> and <body> would add to an
                            element that is there is left out */
  uint64_t max_time;     /* nanoseconds since the call, or since begin; looked at every 64 tokens */
  uint64_t max_input;    /* bytes; what follows is left out */
} hpar_options;

/* All fields at their defaults: zero. */
#define HPAR_OPTIONS_DEFAULT \
  { 0 }

/* The caller destroys the parser; NULL may be destroyed. Destroying it leaves documents alone. */
HPAR_API hpar_status hpar_parser_create(hpar_parser **parser);
HPAR_API void hpar_parser_destroy(hpar_parser *parser);

/* Returns why the parser's last call failed: a sentence that names the argument or the option, its value and the
 * accepted values. It is empty after a success. The text is never NULL, and valid until the next call with the parser.
 */
HPAR_API const char *hpar_parser_error(const hpar_parser *parser);

/* Parses `length` bytes into `document`, whose earlier tree is dropped. `options` NULL means the defaults; `stats`
 * may be NULL. On failure the document is left empty, but for HPAR_LIMIT_DEPTH and what follows it.
 *
 * The encoding is found as the standard says: a byte order mark, hpar_options.encoding, a meta element in the first
 * 1024 bytes. Bytes that none of these tells about are UTF-8 if they are valid UTF-8, else windows-1252. A meta
 * element that the parser comes upon later and that declares another encoding has everything parsed once more. A
 * fragment is not searched for meta elements. Whatever the encoding, the tree is in UTF-8 and offsets are those of
 * the caller's bytes; what cannot be decoded becomes U+FFFD as the Encoding Standard says.
 *
 * HPAR_ERROR_ARGUMENT for a label that is none; HPAR_ERROR_UNSUPPORTED where the system's iconv lacks the encoding. */
HPAR_API hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                hpar_document *document, hpar_stats *stats);

/* The same for input that comes piece by piece: begin, any number of feeds, finish. However the bytes are split, down
 * to single ones, and with feeds of none among them, tree, parse errors and counters of tokens and nodes are those of
 * hpar_parse.
 *
 * - The caller's bytes may be changed or freed as soon as a feed has returned: the document keeps the text, whatever
 *   `copy_input` says, and where the encoding may still change or offsets are asked for the bytes as well. Their memory
 *   serves the next feed into the document.
 * - What can be parsed is parsed during the feeds, once 1024 bytes have come or the encoding is certain. In a parallel
 *   parse chunks are started on other threads when they have come, and go on between the calls; with the inline
 *   executor everything happens in finish. In the automatic mode nothing is parsed before it is known whether the
 *   input is long enough for threads.
 * - What was parsed is dropped and begun again when the bytes turn out not to be in the encoding taken for granted: at
 *   a meta element, as in hpar_parse, and where bytes of which nothing tells the encoding cease to be valid UTF-8.
 * - Until finish, what `options` points to (cuts, names, fragment, encoding, predictor, frequencies) must stay, and the
 * document must not be read; `options` itself is copied. Forced cuts are compared with the input's length in finish.
 * - Another begin, hpar_parse or hpar_tokenize with this parser, destroying the parser, and parsing into, feeding into
 *   or destroying the document, none of them while a call on the parser runs, abandon what was fed. The document, if
 *   it is still there, is left empty.
 * - Once a limit has been reached feed answers its status, and finish does, too, with the tree so far.
 * - When a call has failed with anything else but HPAR_ERROR_ARGUMENT the document is empty, and feed and finish answer
 *   the same status until the next begin. Feed answers HPAR_ERROR_ARGUMENT without a begin before it, when the document
 * was taken away, and, nothing being changed, for no bytes where `length` is not 0.
 * - Finish ends the feeding whatever it answers, HPAR_ERROR_ARGUMENT if there was none. `stats` may be NULL. */
HPAR_API hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document);
HPAR_API hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length);
HPAR_API hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats);

/* One of several inputs. */
typedef struct hpar_input {
  const char *bytes; /* `length` of them, borrowed as by hpar_parse; may be NULL if that is 0 */
  size_t length;
  hpar_document *document; /* the caller's, each in one input at most. NULL: one of the parser's own, which is the
                              next input's as soon as `done` has returned, and belongs to the parser */
  hpar_status status;      /* set: what hpar_parse would answer */
} hpar_input;

/* Told of each input as soon as it is parsed, on the thread that did, while others go on; `thread` is below
 * hpar_many_stats.threads, and two calls at once have different ones. `document` is the input's, or the parser's own,
 * and empty after a failure; `parser` has the parse errors, if they were asked for. It may read the document and be
 * slow, but must not use `parser` for a parse, nor destroy anything of the call's. */
typedef void hpar_done(void *context, size_t index, hpar_input *input, const hpar_document *document,
                       const hpar_parser *parser, const hpar_stats *stats, unsigned thread);

/* What all of them came to. */
typedef struct hpar_many_stats {
  uint64_t inputs, failed;       /* failed: status is not HPAR_OK, limits among them */
  uint64_t bytes, tokens, nodes; /* of those that did not fail */
  unsigned threads;
  const char *bind, *allocator; /* as in hpar_stats */
  uint16_t processor_per_worker[HPAR_MAX_THREADS];
  uint64_t inputs_per_worker[HPAR_MAX_THREADS];
  struct {
    uint64_t total, parse_per_worker[HPAR_MAX_THREADS]; /* nanoseconds; `done` is not part of a worker's */
  } ns;
} hpar_many_stats;

/* Parses `count` inputs side by side: each by the sequential parser, on one of hpar_options.threads threads, the
 * longest first. For throughput: where there are more documents than cores this beats splitting each of them.
 *
 * Of the options `mode`, and what is about cutting and merging, are of no account; limits, that of time among them, are
 * for each input. With HPAR_EXECUTOR_INLINE, or in a build without the parallel parser, all is done on the calling
 * thread. The parser keeps its threads, and for each a parser and perhaps a document; it is used by one thread at a
 * time, as ever. `done`, with its context, and `stats` may be NULL.
 *
 * HPAR_OK although inputs failed: see their status. HPAR_ERROR_ARGUMENT for options that hpar_parse refuses, no parser,
 * or no inputs where `count` is not 0; HPAR_ERROR_MEMORY where there is
 * none to begin with. Nothing has then been parsed. */
HPAR_API hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                                     hpar_done *done, void *context, hpar_many_stats *stats);

/* The allocators that this library was built with, in the order of hpar_allocator; NULL past the last. jemalloc is in
 * the static library only, where it was found at build time: it wants thread-local memory that a library which is
 * loaded later does not get. Without it HPAR_ALLOCATOR_JEMALLOC is HPAR_ERROR_UNSUPPORTED. */
HPAR_API const char *hpar_allocator_name(size_t index);

/* The parse errors of the last parse, ordered by offset; valid until the next. */
HPAR_API size_t hpar_parse_error_count(const hpar_parser *parser);
HPAR_API hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index);

/* The names that there are, with a line on each; NULL past the last. None of them in a build without the parallel
 * parser. A strategy is a way to speculate: it brings a predictor of the tokenizer state in which a chunk begins, one
 * of its insertion mode and a policy for cutting, each of which can be chosen by itself as well. */
HPAR_API const char *hpar_strategy_name(size_t index);
HPAR_API const char *hpar_strategy_summary(size_t index);
HPAR_API const char *hpar_predictor_name(size_t index);
HPAR_API const char *hpar_predictor_summary(size_t index);
HPAR_API const char *hpar_mode_predictor_name(size_t index);
HPAR_API const char *hpar_mode_predictor_summary(size_t index);
HPAR_API const char *hpar_cut_policy_name(size_t index);
HPAR_API const char *hpar_cut_policy_summary(size_t index);
/* How the pipelined parser's tokenizer guesses what the tree builder does to it. */
HPAR_API const char *hpar_pipeline_predictor_name(size_t index);
HPAR_API const char *hpar_pipeline_predictor_summary(size_t index);

#ifdef __cplusplus
}
#endif
#endif
