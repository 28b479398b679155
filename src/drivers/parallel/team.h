#ifndef HP_DRIVERS_PARALLEL_TEAM_H
#define HP_DRIVERS_PARALLEL_TEAM_H

/* The worker team: the pool, the workers and the memory that a parser keeps between parallel
 * parses. The parallel job: one parse by the team. Thread 0 is the thread that calls the library.
 * It merges. Every thread parses chunks with the worker of its number. */

#include "base/target.h"
#include "drivers/parallel/chunk_queue.h"
#include "merge/merge.h"
#include "platform/affinity.h"
#include "platform/event_count.h"
#include "runtime/crew.h"
#include "runtime/units.h"
#include "script/scripts.h"
#include "speculation/cut.h"
#include "speculation/prescan.h"
#include "speculation/strategy.h"
#include "tree/engine.h"

#include <hpar/parse.h>

/*** the resolved options and the counters of a parse ***/

struct hp_job;

/* What a trace receives of a parallel parse, beside its events. */
typedef struct hp_job_trace {
  const hp_merge_trace *merge;
  /* The merger has been in the chunk since `begin`. `is_finished`: it has left the chunk. */
  void (*merged_chunk)(struct hp_job *job, const hp_chunk *chunk, uint64_t begin, bool is_finished);
  /* The job has ended: no thread works for it. */
  void (*complete)(struct hp_job *job);
} hp_job_trace;

/* Another order of merging than from left to right. All chunks are published and parsed before the
 * merger takes one of them, unless there is a straggler. */
typedef struct hp_merge_order {
  const char *name;
  hpar_status (*prepare)(struct hp_job *job, unsigned workers);
  /* A chunk after the first is done, or the merger parses it. */
  void (*arrive)(struct hp_job *job, unsigned thread, uint32_t chunk);
  /* Changes no further log, and waits until no thread does. The merger then takes single logs. */
  void (*close)(struct hp_job *job);
  /* All chunks have arrived, and no other thread works. */
  void (*finish)(struct hp_job *job);
  void (*count)(struct hp_job *job, unsigned worker);
} hp_merge_order;

/* Workers in pairs of threads: thread w + threads is the tokenizer of worker w, which builds. */
typedef struct hp_pairs {
  hpar_status (*prepare)(struct hp_job *job, unsigned workers);
  /* Opens the tokenizer of the worker, and sets worker->source. A failure unwinds through the
   * worker's engine. */
  void (*open)(struct hp_job *job, unsigned worker);
  void (*serve)(struct hp_job *job, unsigned worker); /* on the tokenizer's thread, until `stop` */
  void (*stop)(struct hp_job *job, unsigned worker);
  void (*count)(struct hp_job *job, unsigned worker);
} hp_pairs;

/* The options of such a part, which only the part reads. */
typedef struct hp_part_options {
  unsigned values[4];
} hp_part_options;

typedef struct hp_parallel_config { // value
  hp_executor executor;
  hp_plan plan;
  bool validates;              /* the text may be invalid UTF-8: the threads find that out */
  const char *fragment;        /* the context element; NULL: a document */
  bool fits_threads_to_input;  /* a short input takes fewer threads */
  const hp_merge_order *order; /* NULL: from left to right */
  const hp_pairs *pairs;       /* NULL: each worker is one thread */
  hp_part_options pair_options;
  const hp_merge_judge *judge; /* of a study; NULL: none */
  const hp_job_trace *trace;   /* with a trace of the request; NULL: none */
  size_t chunk_size;           /* bytes; 0: by the input and the threads */
  size_t chunks;               /* about; 0: by chunk_size */
  hp_finder *finder;           /* of the exact builder; NULL: resources are not requested */
  hp_scripts *scripts;         /* of the exact engine; NULL: no script runs */
  const uint64_t *cuts;        /* forced cuts, ascending; NULL: by plan.cut */
  size_t cut_count;
} hp_parallel_config;

typedef struct hp_parallel_counters { // value
  hp_merge_counters merge;
  unsigned threads;
  const char *strategy, *predictor, *mode_predictor, *cut_policy;
  const char *merge_order; /* NULL: from left to right */
  bool has_pairs;
  uint64_t chunks, chunks_started_before_end, chunks_rescued;
  uint64_t wait_ns, cut_ns, merge_ns, truth_ns, predict_ns, first_chunk_ns;
  uint64_t parse_ns_per_worker[HPAR_MAX_THREADS];
} hp_parallel_counters;

/*** the job ***/

/* Divides the text of a job into chunks, and appends them to the chunk queue. */
typedef struct hp_cutter {
  void *source;    /* of plan.truth; NULL: no predictor and no cut policy needs the true state */
  size_t begin;    /* the next chunk begins here */
  size_t cut;      /* and ends here; 0: not found yet */
  size_t searched; /* no cut lies between `begin` and here */
  size_t forced;   /* forced cuts that are used up */
  struct {
    bool known;
    hp_start_state state;
  } truth, next_truth; /* at `begin` and at `cut`, with exact cuts */
} hp_cutter;

/* How the parse is divided. Constant while other threads work. */
typedef struct hp_job_division {
  unsigned threads;      /* with the calling thread */
  unsigned memory_parts; /* of the document's range; 0: it is not divided */
  bool is_alone;         /* no other thread would save time: the text is one chunk */
  bool has_pairs;        /* of config.pairs */
  bool publishes_early;  /* workers end their chunks early: there was a straggler recently */
  bool divides_later;    /* the other one of two threads estimates the work, and takes its part */
  bool composes;         /* threads without work compose neighbouring logs */
} hp_job_division;

/* Where the merger is. The calling thread's. */
typedef struct hp_merger_position {
  uint32_t number;      /* merged chunks, where joined chunks count as one */
  uint32_t chunk;       /* the chunk that the merger is in */
  uint32_t held_chunk;  /* the last chunk whose log the merger has held */
  uint32_t found_chunk; /* in order: the first chunk whose found resources are not reported */
  bool is_exact;        /* the merger parses this chunk itself, on the true state */
  uint32_t rescued;     /* chunks that the merger parsed because their worker was a straggler */
  uint32_t given_up;    /* the last of these; 0: none */
  bool is_order_closed; /* the merger takes single logs, because there was a straggler */
  struct {
    uint32_t place;    /* where the merger looked at the worker last */
    uint32_t progress; /* the worker's, which has not changed since then */
    uint64_t since;    /* time; 0: the merger has not looked */
  } seen;              /* the worker of two threads */
  uint32_t valid_to;   /* with config.validates, the text before this offset is valid UTF-8 */
} hp_merger_position;

/* What all threads read and write. */
typedef struct hp_job_shared {
  _Atomic uint32_t wanted;          /* the chunk for which the merger waits; 0: none */
  _Atomic uint32_t merging;         /* the merger's chunk, if threads compose neighbouring logs */
  _Atomic size_t available;         /* readable bytes of text; release */
  _Atomic bool text_is_complete;    /* release, after the last `available` */
  _Atomic bool is_estimated;        /* team.work is the estimate for the text; release */
  _Atomic bool is_invalid;          /* some thread has found bytes that are no valid UTF-8 */
  _Atomic uint32_t composed_chunks; /* finished chunks, with config.order; release */
  _Atomic uint32_t compositions;    /* that run now, and whether config.order is closed */
  _Atomic uint64_t first_start;     /* time at which the first chunk was started; 0: none */
} hp_job_shared;

/* One parse. Each group of fields has its own cache lines: a thread that reads a line which another
 * one has changed waits for up to 1,000 cycles. */
typedef struct hp_job {
  /* constant while other threads work */
  struct hp_team *team;
  hp_chunk_queue *queue;
  hp_request request; /* without a length while text arrives: see `available` */
  hp_parallel_config config;
  hp_plan plan;
  hp_fragment_case fragment; /* the exact builder's, for the workers */
  hp_job_division division;
  char padding_1[HP_CACHE_LINE];

  /* the calling thread's */
  hp_parallel_counters *counters;
  hp_merger merger;
  hp_cutter cutter;
  bool is_open;             /* the merger has left the initial mode, and the workers are ready */
  bool pool_runs;           /* threads of the pool work for the job */
  hpar_status merge_status; /* of task 0, with the caller's executor */
  struct {
    uint64_t begin, busy_ns;
    uint64_t wait_ns; /* the merger's waits for other threads */
  } times;
  hp_merger_position position;
  char padding_2[HP_CACHE_LINE];

  hp_job_shared shared;
  char padding_3[HP_CACHE_LINE];
} hp_job;

/* A batch of slices that are decoded or validated. */
typedef struct hp_slices {
  hp_executor executor;
  hp_unit_queue units;
  hp_unit_state states[HP_DECODE_SLICES];
  hp_unit_steps steps[HP_DECODE_SLICES];
} hp_slices;

/* Zeros are a team without memory. */
typedef struct hp_team {
  hp_crew *crew;       /* of the session */
  hp_worker **workers; /* [0] belongs to the calling thread */
  unsigned worker_count;
  hp_part_state pairs, order, judge; /* of config.pairs, .order and .judge, between parses */
  hp_chunk_queue queue;
  hp_cost_estimate work;
  hp_prescan prescan;
  hp_event_count merger_event; /* a chunk is done */
  bool leaves_slices;          /* the parse does not wait for a straggler in a slice */
  hp_slices slices;            /* the batch that precedes the job */
  unsigned jobs_to_publish;    /* jobs that still publish early, after one with a straggler */
  hp_job job;
} hp_team;

/* Returns the largest useful number of threads. A worker takes some 20 KB of memory. Eight workers
 * take as much memory as the tree of the smallest page that is parsed in parallel
 * (experiments/memory). A thread without work takes some 12 KB. */
unsigned hp_useful_threads(const hp_parallel_config *config, size_t length);
/* Returns how many of `wanted` threads a run on the executor may use, after the stragglers of the
 * last job. 0: memory is short. */
HP_SHARED unsigned hp_team_threads(hp_team *team, const hp_executor *executor, unsigned wanted);

/* Prepares the team for the job: its threads, its workers and their memory. Unwinds through the
 * merger's engine. */
void hp_team_prepare(hp_job *job);
/* Returns whether the bytes [from, to) of the text are valid UTF-8, unless the text is known to be.
 * Each thread calls this before it parses the bytes. Invalid bytes cancel the job. */
bool hp_team_validate(hp_job *job, uint32_t from, uint32_t to);
void hp_team_parse_chunk(hp_job *job, unsigned thread, uint32_t chunk);
/* Parses chunks until none is left. The function of every thread except thread 0. */
void hp_team_run_thread(void *job, unsigned thread);
/* Starts the threads of the pool, unless they run or there is nothing to do. */
void hp_team_start_pool(hp_job *job);
/* Closes the queue. Waits until the threads of the pool have returned. */
void hp_team_join_pool(hp_job *job);
/* Does the same at the end of a job, but does not wait for a straggler. Then the document waits for
 * the thread before it changes, and the team before its next job. */
void hp_team_leave_pool(hp_job *job);
/* Lets the document wait for stragglers before it changes. Returns whether there are any. */
bool hp_team_lend_document(hp_team *team, hpar_document *document);
void hp_team_await_stragglers(hp_team *team);

/* Returns true if other threads would have saved no time in the last parse. */
static inline bool hp_team_is_alone(const hp_team *team) { return team->job.division.is_alone; }
/* Lets the next parse go on without a straggler in a slice. */
static inline void hp_team_let_leave_slices(hp_team *team, bool leaves) { team->leaves_slices = leaves; }

/* Ends the job of a process whose child this process is. */
void hp_team_forget(hp_team *team);
/* Frees all memory. Requires: no job runs. */
void hp_team_free(hp_team *team);

/* Returns whether all chunks are parsed by the calling thread, before the merge. */
static inline bool hp_is_inline(const hp_job *job) { return job->config.executor.kind == HPAR_EXECUTOR_INLINE; }

static inline bool hp_is_pooled(const hp_job *job) { return job->config.executor.kind == HPAR_EXECUTOR_THREADS; }

/* Adds the means of `from` to decode the bytes to `executor`, if several threads save time. */
void hp_team_slice_executor(hp_team *team, const hp_executor *from, const char *bytes, size_t length,
                            hp_slice_executor *executor);

/*** merge_loop.c ***/

/* The merge loop of thread 0. It merges the chunks in the order of the text. It parses a chunk that
 * no worker has claimed itself, on the true state. While it waits for a chunk it parses later ones
 * as a worker. It parses a chunk again whose worker is a straggler. */

/* Merges the finished chunks. Parses further chunks while the queue has more than the other threads
 * can claim. Returns instead of waiting. */
void hp_merge_between_feeds(hp_job *job);
/* Merges all chunks and processes the end of the input. */
void hp_merge_all(hp_job *job);

/*** cutter.c ***/

void hp_cutter_open(hp_job *job);
void hp_cutter_close(hp_cutter *cutter, const hp_plan *plan);
/* Returns the time that the true states have taken. */
uint64_t hp_cutter_truth_ns(const hp_cutter *cutter, const hp_plan *plan);

/* Returns whether the chunks may be small, so that threads join adjacent ones. The inline executor
 * parses each chunk by itself, before the merge. Another order of merging needs all chunks at its
 * start. A strategy with its own `parse` ends at the limit of its chunk. */
bool hp_may_join_chunks(const hp_job *job);
/* Cuts the whole text. Sets queue.by_range. Unwinds through the merger's engine, as the next
 * function. */
void hp_cut_text(hp_job *job);
/* Cuts the first `available` bytes of incoming text. The offsets of the first `mapped` bytes are
 * known. `all`: the text ends there. Keeps back a chunk whose worker would soon wait for more text.
 */
void hp_cut_available(hp_job *job, size_t available, size_t mapped, bool all);
/* Returns the offset before which the cutter will not cut next. */
size_t hp_cutter_next_cut(const hp_job *job, size_t available);

/*** neighbours.c ***/

/* A thread without work composes the logs of adjacent chunks before the merger reaches them. The
 * merger then has fewer segments to merge. Of the threads that parse two adjacent chunks, the last
 * one without work composes their logs. Any logs may be composed, in any order.
 *
 * A thread holds all chunks whose logs it changes, and the merger holds each chunk that it merges.
 * No thread waits to hold a chunk, except the merger. If a thread is a straggler, the merger parses
 * the text of the chunks that the thread holds. */

enum { HP_MAX_FINISHED = 16 };

/* The last chunks that a thread has finished. */
typedef struct hp_finished {
  uint32_t count; /* of all chunks */
  uint32_t chunks[HP_MAX_FINISHED];
} hp_finished;

static inline void hp_note_finished(hp_finished *finished, uint32_t chunk) {
  finished->chunks[finished->count++ % HP_MAX_FINISHED] = chunk;
}

/* Returns whether threads compose neighbouring logs in this job. Requires: the chunks are
 * published. */
bool hp_may_compose_neighbours(const hp_job *job);
/* Composes the logs of these chunks with those of their neighbours, as far as these are finished.
 */
void hp_compose_neighbours(hp_job *job, unsigned thread, const hp_finished *finished);

/*** work_range.c: the speeds of threads ***/

/* The speeds of the threads of a team. They size the work ranges, and the parts that a thread takes
 * from another thread's range. No result depends on them. */

/* Returns how many of the first `threads` threads save time. Threads of equal capacity
 * count together, from the last one on. `alone_ns` is the time of a parse by the first thread. */
unsigned hp_threads_that_save(const hp_processors *processors, unsigned threads, uint64_t alone_ns);
/* Returns how many of the threads save time in the decoding and the parse of a complete text.
 * Listed capacities may be quotas: such a processor pauses, and the merger waits for it at the end.
 * The threads are bound, and the first one has a measured speed. Otherwise all threads count. */
unsigned hp_speed_threads(hp_team *team, const hp_executor *executor, const char *text, size_t length,
                          unsigned threads);
/* Sets the speed of each thread: the capacity of its processor if the threads are bound, and the
 * measured speeds if the team has them. Requires: no thread has started. */
void hp_speed_set(hp_job *job);
void hp_speed_measure(hp_job *job);

/*** parallel.c ***/

/* The data-parallel parser: it cuts the text into chunks, workers parse the chunks, and the calling
 * thread merges. The text is complete, or it arrives in pieces. In the latter case the driver
 * publishes a chunk when its bytes are there. */

/* Parses the request to its end on `engine`, which is open. Failures and restarts unwind through
 * the engine. Then the caller calls hp_parallel_abandon. */
void hp_parse_in_parallel(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                          hp_parallel_counters *counters);

/* The next three functions parse arriving text and unwind as above. The text arrives where
 * `request` has its text. The request, the configuration and the counters must stay until the
 * end. */

void hp_parallel_begin(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                       hp_parallel_counters *counters);
/* Parses `available` bytes of text as far as possible. The source offsets of the first `mapped`
 * bytes are final. */
void hp_parallel_feed(hp_team *team, size_t available, size_t mapped);
/* Parses the rest of the text, which has `length` bytes. */
void hp_parallel_finish(hp_team *team, size_t length);

/* Ends the job, if any runs, without a result. No thread accesses the document afterwards. */
void hp_parallel_abandon(hp_team *team);

/* Returns whether a fork has lost the threads of the job. Only hp_parallel_abandon may follow. */
bool hp_parallel_is_lost(const hp_team *team);

/* Abandons the job and frees the team's memory. */
void hp_parallel_close(hp_team *team);

#endif
