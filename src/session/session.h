#ifndef HP_SESSION_SESSION_H
#define HP_SESSION_SESSION_H

/* The resolved options of a call, the state of a parser between parses, and the steps that whole
 * and incremental input share. */

#include "base/call.h"
#include "base/process.h"
#include "base/target.h"
#include "resources/finder.h"
#include "runtime/crew.h"
#include "script/scripts.h"
#include "text/encoding/encoding.h"
#include "tree/engine.h"

#if HPAR_PARALLEL
#include "drivers/parallel/team.h"
#endif

#include <hpar/parse.h>

/*** config.c ***/

/* The resolved form of hpar_options. It decides mode, thread count, executor, strategy, cut policy
 * and limits once per call. The modules below the session get values from it, or the part of it
 * that they declare. */
typedef struct hp_config {
  hpar_mode mode;
  const hp_encoding *encoding; /* the encoding that the transport declares; NULL: none */
  const char *fragment;        /* the context element; NULL: a document */
  bool scripting, copy_input, source_offsets, decodes_values, by_jemalloc;
  bool bind;          /* bind the calling thread and the pool's threads to processors */
  bool fed_at_finish; /* the mode or the executor needs the whole input */
  bool bytes_stay;    /* a call need not wait for late threads */
  size_t max_errors;
  hp_script_config script;
  hpar_limits limits;
  hpar_resource_options resources;
  const uint64_t *cuts;   /* forced cuts, ascending */
  const char *cuts_field; /* the caller's name for them, in errors */
  size_t cut_count;
  const struct hp_inspector *inspection; /* of a study; NULL: none */
  /* A parser of whole texts that a study brings. It parses, whatever `mode` is. NULL: none */
  const struct hp_other_driver *other;
  const void *other_data; /* of that parser */
#if HPAR_PARALLEL
  hp_parallel_config parallel;
  hp_part_options other_options;
  unsigned other_threads;
#endif
} hp_config;

/* Reads the options; NULL: the defaults. The configuration borrows their pointers. Requires: the
 * calling thread is not bound yet, because the default thread count is that of its usable
 * processors. On failure `error` names the field. */
hpar_status hp_config_resolve(hp_config *config, const hpar_options *options, hpar_error *error);

/* Turns the configuration into that of one input of a batch: sequential, on a thread that is bound
 * already. */
void hp_config_make_sequential(hp_config *config);

#if HPAR_PARALLEL
/* Returns the number of threads, with the calling thread. Counts the usable cores if the options
 * leave the number open. Counting takes milliseconds the first time, so a sequential parse does
 * not call this function. */
unsigned hp_config_threads(hp_config *config);
#endif

/* Returns HPAR_ERROR_ARGUMENT if a forced cut lies past `length` bytes of input. */
hpar_status hp_config_check_cuts(const hp_config *config, uint64_t length, hpar_error *error);

/* Returns the engine's limits for an input of `length` bytes and a parse that began at the time
 * `begin`. */
hp_limits hp_config_limits(const hp_config *config, uint64_t length, uint64_t begin);

/* Returns true if the parse runs scripts. */
static inline bool hp_config_runs_scripts(const hp_config *config) {
  return config->script.callback && !config->fragment;
}

/* Returns true if a limit depends on the input's length, or ends a tree in the middle of a token.
 * The parse then starts when the input is complete. */
bool hp_config_needs_length(const hp_config *config);

/* Returns the limit of the tree's memory for an input of `length` bytes; 0: none. */
uint64_t hp_config_memory_limit(const hp_config *config, uint64_t length);

/* What hpar_study.apply changes: the configuration, which has all other options. */
struct hpar_study_target {
  hp_config *config;
  hpar_error *error;
};

/*** session.c ***/

typedef enum hp_driver { HP_DRIVER_SEQUENTIAL, HP_DRIVER_PARALLEL, HP_DRIVER_OTHER } hp_driver;

/* The result of a parse, without the driver's counters. */
typedef struct hp_result {
  hp_driver driver; /* the last driver */
  bool complete;    /* the fields below are set */
  bool runs_scripts;
  const char *encoding, *encoding_source;
  uint64_t bytes, tokens, nodes, parse_errors;
  bool by_jemalloc;
  bool bound, binding_refused;
  uint64_t decode_ns, input_ns, total_ns;
  bool slice_given_up; /* of decoding or validation, by a straggler */
  struct {
    const char *name;
    unsigned threads;
    bool not_bound;
  } other; /* of HP_DRIVER_OTHER */
} hp_result;

#if HPAR_PARALLEL
/* The automatic mode avoids the parallel parser for some parses after one that had no processor for
 * long: the merger waited for other threads, or the system withheld its own processor. */
typedef struct hp_parallel_backoff {
  uint64_t thread_begin; /* hp_thread_now at the begin of a long parallel parse; 0: not read */
  uint8_t waited;        /* bit i: the i-th last parallel parse waited */
  uint8_t steady;        /* successive parallel parses without a wait, at most STEADY_PARSES */
  uint16_t skipped;      /* parses until the next parallel one */
  uint16_t next_skip;    /* parses to skip the next time; 0: the first number */
} hp_parallel_backoff;
#endif

struct hp_session;

/* What a study records of a parse. */
typedef struct hp_inspector {
  /* Returns the trace of a parse that begins at the time `begin`. NULL: out of memory. */
  hp_trace *(*begin)(struct hp_session *session, uint64_t begin);
  /* Completes the trace of a parse into the document. */
  hpar_status (*complete)(struct hp_session *session, const hp_config *config, hpar_document *document);
} hp_inspector;

/* A parser of whole texts beside the sequential and the parallel one. */
typedef struct hp_other_driver {
  /* Parses the request to its end on session->engine, which is open, and sets result.other. A
   * failure unwinds through the engine, when no other thread works for the parse. */
  void (*parse)(struct hp_session *session, const hp_config *config, const hp_request *request);
} hp_other_driver;

typedef struct hp_session {
  hp_engine engine; /* the true state */
  hp_scripts scripts;
  hp_finder finder; /* of its builder, if resources are requested */
  hp_resource_report resources;
  void *scan; /* of the scans of resources, which a higher module makes; NULL: none */
  void (*destroy_scan)(void *scan);
  hp_crew crew; /* for all that the parser divides among threads */
#if HPAR_PARALLEL
  hp_parallel_backoff backoff;
  hp_team team; /* has its threads from `crew` */
#endif
  bool has_trace; /* the last parse had memory for a trace */
  bool inspected; /* ... which is complete */
  void *study;    /* of studies, between parses; NULL: none */
  void (*destroy_study)(void *study);
  hp_result result;
  hpar_error error;
#if HPAR_PARALLEL
  hp_parallel_counters parallel_counters; /* undefined before the first parallel parse */
#endif
} hp_session;

/* Keeps the memory of scans for later parses, and destroys it with the session. */
static inline void hp_session_keep_scan(hp_session *session, void *scan, void (*destroy)(void *scan)) {
  session->scan = scan;
  session->destroy_scan = destroy;
}

void hp_session_open(hp_session *session); /* requires no initialised memory */
/* Frees everything except the documents. Requires: no parse is in progress. */
void hp_session_close(hp_session *session);

/* Returns true if the parallel parser is the choice for `length` bytes. In the automatic mode the
 * result depends on whether the pool is awake and on the waits of earlier parses. It may change. */
bool hp_session_chooses_parallel(const hp_session *session, hp_config *config, size_t length);

#if HPAR_PARALLEL
/* Begins to note the waits of a parse for the automatic mode, by the driver of session->result. */
void hp_session_begin_waits(hp_session *session, const hp_config *config, size_t length);

/* Notes the waits of a parallel parse that the automatic mode chose, or a sequential parse. */
void hp_session_note_waits(hp_session *session, const hp_config *config, size_t length);
#endif

/* Starts and wakes the threads that a parse would use. */
hpar_status hp_session_prepare(hp_session *session, hp_config *config);

/* Wakes the threads that the session has, unless its last parse needed none of them. */
void hp_session_wake(hp_session *session, hp_config *config);

/* Returns true for the statuses HPAR_LIMIT_*. */
bool hp_is_limit(hpar_status status);

/* Limits the tree's memory to `limit` bytes until the document is reset; 0: does nothing. With
 * `estimates`, the bytes of the tree may depend on caches. */
void hp_limit_memory(hpar_document *document, uint64_t limit, bool estimates);

/* Makes the request for a parse that began at the time `begin`, and prepares the drivers for its
 * resources and scripts. `length`: of the input; 0: not known. `published`: of a fed parse. */
hp_request hp_session_request(hp_session *session, hp_config *config, hpar_document *document, uint64_t length,
                              uint64_t begin, hp_published_input *published);

/* Cancels the resources that the parse has confirmed, because it begins again. */
void hp_session_restart_resources(hp_session *session, const hp_request *request);

/* Opens the engine at the request's beginning, in the fragment's context. A failure unwinds through
 * the engine. */
void hp_open_request(hp_session *session, const hp_config *config, const hp_request *request);

/* The sequential parser: the engine alone, on the calling thread. Both run scripts. Failures and
 * limits unwind through the engine. */
/* Parses to the end of the input. Requires: all input is there. */
void hp_finish_sequentially(hp_session *session, const hp_config *config);
/* Parses all complete tokens of the input that is there. More input must come. */
void hp_continue_sequentially(hp_session *session, const hp_config *config);

/* Completes a parse that processed all tokens or reached a limit: the fragment's root, the errors,
 * the result. `limited`: the parser has not read all of the text. */
hpar_status hp_close_request(hp_session *session, const hp_config *config, const hp_request *request,
                             const hp_sniffed *sniffed, bool limited);

/* Begins the trace of a parse. Returns NULL if no study inspects the parse. */
hp_trace *hp_begin_trace(hp_session *session, const hp_config *config, uint64_t begin);
/* Completes the trace of a parse that returned `parsed`. Returns `parsed`, or the status of a
 * failed trace: then the document is empty. There is no trace after a limit. */
hpar_status hp_close_trace(hp_session *session, const hp_config *config, hpar_document *document, hpar_status parsed);

#if HPAR_PARALLEL
/* Returns true if the system refused to bind a pool thread in the parse that ended last. */
bool hp_session_refused_binding(const hp_session *session);
#endif

/* Returns whether this process is a child, and the parse that runs is its parent's. */
bool hp_session_is_lost(const hp_session *session);

/* Ends the threads' work on the current parse, if there is any. */
void hp_session_stop(hp_session *session);

/*** statistics ***/

/* The only writer of hpar_stats. */

/* Fills the statistics of the session's last parse. After a failure only the defaults are set. */
HP_SHARED void hp_fill_stats(const hp_session *session, hpar_stats *stats);

/* Writes the processors of the first `threads` threads. Returns the result of binding: "cores",
 * "processors" or "refused". */
HP_SHARED const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused);

#endif
