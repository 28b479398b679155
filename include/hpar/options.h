#ifndef HPAR_OPTIONS_H
#define HPAR_OPTIONS_H

/* The options of a parse.
 *
 * The tree does not depend on any option except `scripting`, `fragment`, `encoding` and the limits.
 *
 * A caller initialises the structure with HPAR_OPTIONS_INIT:
 *
 *   hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL};
 *
 * In C++, write the macro alone between the braces: see hpar/node.h. Zero in any other field is
 * its default. `size` lets a program and a library of different versions work together.
 * The library takes zero for the fields that an older caller does not have. It returns
 * HPAR_ERROR_ARGUMENT if a newer caller sets a field that the library does not have. */

#include <hpar/resources.h>
#include <hpar/script.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest input in bytes: offsets have 32 bits. */
#define HPAR_MAX_INPUT UINT64_C(0xfffffff0)

/* The most threads of a parse. */
#define HPAR_MAX_THREADS 256

typedef enum hpar_mode {
  /* Parallel from 256 KB on, or from 32 KB if the pool is awake; else sequential. After a parse
   * that had no processor for long, sequential for the next 16 to 256 parses. Sequential while a
   * late thread is still in the parser's last parse. */
  HPAR_MODE_AUTO = 0,
  HPAR_MODE_SEQUENTIAL, /* one thread */
  /* Speculative workers and a merger, for any size of input. Waits for a late thread of the
   * parser's last parse. Sequential if a thread is late while it decodes or validates the input. */
  HPAR_MODE_PARALLEL
} hpar_mode;

/* The threads that run the tasks of a parse. */
typedef enum hpar_executor {
  HPAR_EXECUTOR_THREADS = 0, /* the parser's pool */
  /* the calling thread: all workers before the merge, the last chunk first */
  HPAR_EXECUTOR_INLINE,
  HPAR_EXECUTOR_CALLER /* hpar_parallel_options.run */
} hpar_executor;

/* The processors that the parser's threads run on. */
typedef enum hpar_affinity {
  HPAR_AFFINITY_NONE = 0, /* any; a pool thread avoids the processor of the thread that woke it */
  /* one processor per thread: different cores before hyperthreads, fast cores before slow ones,
   * near memory first */
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
  /* jemalloc keeps the pages of destroyed documents for new ones. It returns unused pages to
   * the system after about ten seconds */
  HPAR_ALLOCATOR_JEMALLOC
} hpar_allocator;

/* The way in which pool threads wait for the next parse. */
typedef enum hpar_wait_policy {
  HPAR_WAIT_ADAPTIVE = 0, /* they spin while parses follow each other, at most 2 ms, then sleep */
  HPAR_WAIT_SPIN,         /* they spin for one second: the next parse starts within a microsecond */
  HPAR_WAIT_SLEEP         /* they sleep at once, and wake in 25 to 60 us */
} hpar_wait_policy;

/* A task of the library. `index` is its number. A task returns: it never waits for a task that has
 * not started, and it never unwinds. */
typedef void (*hpar_task_callback)(void *job, unsigned index);

/* The caller's executor. It calls task(job, i) once for each i below `count`, on any threads and in
 * any order. It returns when all tasks have returned and their writes are visible. `count` is at
 * most hpar_options.threads. Task 0 merges. The calling thread runs the tasks that the executor
 * leaves out. The library starts no thread with this executor. The executor must not throw an
 * exception and must not longjmp. */
typedef void (*hpar_run_callback)(unsigned count, hpar_task_callback task, void *job, void *context);

/* Options of the parallel parser and of the threads. */
typedef struct hpar_parallel_options {
  hpar_executor executor;
  hpar_wait_policy wait;
  /* the calling thread is bound during hpar_parse and hpar_parse_many only; the caller's
   * executor is not affected */
  hpar_affinity affinity;
  hpar_run_callback run; /* with HPAR_EXECUTOR_CALLER. Fed input is then parsed in finish */
  void *run_context;
  size_t chunk_size; /* bytes; 0: by the length of the input and the threads */
  /* the number, about; ignored if chunk_size is given, and for fed input; 0: by chunk_size */
  size_t chunks;
  uint64_t reserved[4]; /* zero */
} hpar_parallel_options;

/* Limits of a parse; 0: none. The parse ends at the first limit that it reaches. The document keeps
 * the tree so far, and the call returns HPAR_LIMIT_DEPTH, HPAR_LIMIT_NODES and so on. The parser
 * does not process the end of the input then, so that even html, head or body may be missing. After
 * HPAR_LIMIT_INPUT it does.
 *
 * All limits except that of time end every parse of the same bytes at the same tree, in each mode.
 * Therefore `depth` and `attributes` select the sequential parser. A parallel parse that reaches a
 * limit of nodes, or half of a limit of memory, is repeated sequentially: hpar_stats.mode names the
 * last parser. The sequential parser also parses fed input with any of these limits. With a limit
 * of memory, or one by input length, it starts in finish. */
typedef struct hpar_limits {
  uint64_t depth;          /* open elements; the next element is not inserted. Browsers use 512 */
  uint64_t attributes;     /* of one element; a tag with more is not processed */
  uint64_t nodes;          /* checked after each token, whose nodes stay together */
  uint64_t nodes_per_byte; /* is multiplied by the input's length, and added to `nodes` */
  /* bytes of hpar_document_memory. Below 100 KB there may be no tree. The open elements, decoded
   * input and logs take memory besides. Later accesses to attribute values stay below
   * the limit */
  uint64_t memory;
  uint64_t memory_per_byte; /* is multiplied by the input's length, and added to `memory` */
  /* since the call, or since begin; checked every 64 tokens, and within tokens that take long */
  uint64_t time_ns;
  uint64_t input;       /* bytes; the parser ignores the rest */
  uint64_t reserved[4]; /* zero */
} hpar_limits;

/* Limits for input from untrusted sources. The standard defines trees that are far larger than the
 * input. Ordinary pages stay below these limits:
 *
 *   hpar_options options = {HPAR_OPTIONS_INIT, .limits = HPAR_LIMITS_UNTRUSTED};
 *
 * In C++: `options.limits = HPAR_LIMITS_UNTRUSTED;`. The values are in the order of the fields. */
#define HPAR_LIMITS_UNTRUSTED                                                             \
  {                                                                                       \
    512, 1024, 10000, 1, UINT64_C(16) << 20, 64, UINT64_C(10000000000), 0, { 0, 0, 0, 0 } \
  }

struct hpar_study;

typedef struct hpar_options {
  size_t size; /* HPAR_OPTIONS_INIT sets it */
  hpar_mode mode;
  /* including the calling one, up to HPAR_MAX_THREADS; 0: one per usable core */
  unsigned threads;
  /* the label that the transport gives, in any case of letters; NULL: none */
  const char *encoding;
  /* the context element, as in "div", "svg path" or "math mi"; NULL: a document */
  const char *fragment;
  size_t max_errors;        /* parse errors to keep, by offset; 0: the parser ignores errors */
  hpar_allocator allocator; /* a document with other memory gives it back and takes new memory */
  bool scripting;           /* the scripting flag; true if script.callback is set */
  bool copy_input;          /* copy the bytes; otherwise they must outlive the document */
  bool source_offsets;      /* keep the source positions of tags and attributes */
  hpar_value_decoding value_decoding;
  uint32_t reserved_half; /* zero */
  /* the choices of a study of speculation, which hpar/study.h declares; NULL: the library's own */
  const struct hpar_study *study;
  uint64_t reserved[2]; /* zero */
  hpar_limits limits;
  hpar_parallel_options parallel;
  hpar_script_options script;
  hpar_resource_options resources; /* not with hpar_parse_many */
} hpar_options;

/* Initialises `size`. All other fields have their defaults unless the caller sets them. */
#define HPAR_OPTIONS_INIT HPAR_SIZED(hpar_options)

/* Returns the allocators of this build in the order of hpar_allocator; NULL past the last. Only the
 * static library has jemalloc, if the build found it, because jemalloc needs thread-local memory
 * that a library loaded later does not get. HPAR_ALLOCATOR_JEMALLOC is
 * HPAR_ERROR_UNSUPPORTED without jemalloc, and with one for smaller pages than the system has. */
HPAR_API const char *hpar_allocator_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
