#ifndef HP_REWRITE_TEAM_H
#define HP_REWRITE_TEAM_H

/* The threads that rewrite one window, and the data between them.
 *
 *   parallel.c   decides whether a window has a team, and runs the parts below
 *   team.c       allocates the team, resets the state of a window, claims chunks, and rewrites each
 *                one into the log of a slot
 *   chunks.c     divides the window among the threads while they run
 *   merger.c     takes the chunks in order, adopts the logs, rewrites the rest, and publishes the
 *                next assumptions
 *
 *   input -> chunks -- claim --> worker -> slot.chunk.log -- slot.state --> merger -> output
 *              ^                   ^                                         |
 *              +------ merger -----+-- passed, prediction, encoding, ... ----+
 *
 * Workers write only their slots and their rewriters, and claim chunks under a lock. The calling
 * thread writes the rest. */

#include "base/memory.h"
#include "rewrite/parallel.h"
#include "rewrite/speculation.h"
#include "runtime/units.h"
#include "speculation/prescan.h"

#include <pthread.h>
#include <stdatomic.h>

/*** chunks.c ***/

/* The division of a window among the merger and its workers. A worker claims a chunk when it has no
 * other work. All other bytes are the merger's: the gaps before, between and after the chunks in
 * flight. A worker that finds no more bytes after the last chunk takes the end of another gap, so
 * all threads end at about the same time. Any thread may call these functions, except the first
 * two. */

/* A chunk in flight. The cut of a worker is the first tag from `begin` on, or the given one. */
typedef struct hp_window_chunk {
  size_t begin, end;
  uint32_t slot, number; /* `number`: of the window */
} hp_window_chunk;

typedef struct hp_window_chunks {
  pthread_mutex_t lock;
  bool has_lock;
  /*** of the window; they do not change ***/
  size_t length;
  const size_t *cuts; /* given offsets of the chunks after the first one; NULL: none */
  size_t cut_count;
  size_t first;     /* the offset of the first chunk */
  size_t size;      /* of all chunks, without cuts; 0: as the next member */
  unsigned threads; /* chunks have sizes by the bytes that are left for so many threads */
  uint32_t most;    /* chunks in flight; half as many if they are of the greatest length */
  /*** under the lock ***/
  hp_window_chunk *items; /* the chunks in flight, in the order of the text */
  uint32_t count, capacity;
  uint32_t number;  /* of chunks so far, including those of the merger */
  uint32_t next;    /* the given chunk that no thread has claimed */
  uint32_t skipped; /* given chunks that the merger passed before a worker claimed them */
  size_t merger;    /* all bytes before are done */
  size_t reach;     /* the merger has claimed the bytes before */
  bool is_closed;   /* the merger rewrites the rest alone */
} hp_window_chunks;

typedef enum hp_claim {
  HP_CLAIM_MADE,
  HP_CLAIM_LATER, /* too many chunks are in flight */
  HP_CLAIM_NEVER  /* no bytes are left for workers */
} hp_claim;

/* Begins a window. Requires: the first members are set. HPAR_ERROR_MEMORY: returns false. */
bool hp_chunks_begin(hp_window_chunks *chunks);
void hp_chunks_free(hp_window_chunks *chunks);

/* Claims a chunk for a worker, in the slot `slot`. A worker takes `percent` of the merger's time
 * for the same bytes. */
hp_claim hp_chunks_claim(hp_window_chunks *chunks, uint32_t slot, unsigned percent, size_t most_bytes,
                         hp_window_chunk *chunk);
/* The merger has reached `at`. Claims some bytes from there on for it, and returns their end. If a
 * chunk begins at `at` or before, there are none, and `*chunk` is that chunk. Otherwise its end is
 * 0. */
size_t hp_chunks_advance(hp_window_chunks *chunks, size_t at, hp_window_chunk *chunk);
/* The first chunk in flight is done. */
void hp_chunks_remove_first(hp_window_chunks *chunks);
/* No thread claims a chunk any more. */
void hp_chunks_close(hp_window_chunks *chunks);
/* Returns the number of a part that the merger rewrites. */
uint32_t hp_chunks_number(hp_window_chunks *chunks);

/*** team.c ***/

/* A chunk in flight, and the results of its worker. */
typedef struct hp_rewrite_slot {
  hp_rewrite_chunk chunk;
  hp_window_chunk claimed; /* by a thread of the pool */
  hp_unit_state state;     /* given up: a worker writes it, and no thread needs the result */
} hp_rewrite_slot;

typedef struct hp_rewrite_worker {
  _Alignas(HP_CACHE_LINE) hpar_rewriter *rewriter;
  hp_speculation speculation;
} hp_rewrite_worker;

/* The state of the merger, which workers assume. Only the merger's thread writes it. */
typedef struct hp_published {
  /* Under the lock of the chunks. The heir bits of the prediction are those of the current node. */
  _Alignas(HP_CACHE_LINE) hp_assumptions assumed;
  hp_assumed_sets sets;
  _Atomic bool has_alternatives; /* in the prediction */
  _Atomic uint64_t passed;       /* of the merger; UINT64_MAX: threads return */
  _Atomic bool merges;           /* the merger has started: workers may wait for it */
} hp_published;

/* What the merger learns for the predictions of later chunks. */
typedef struct hp_learning {
  /* the near bits of `prediction`; two sets of `log`; the lessons; a set */
  hp_bits *near;
  hp_bits *adopted; /* scratch of adoption.c: four sets */
  hp_rewrite_lessons lessons;
  hp_candidate_log log;
  bool has_guesses; /* the lessons are guesses */
  bool is_exact;    /* also from chunks that the merger rewrites: versions cost little */
  /* so many chunks have alternatives after the last one that needed them */
  uint32_t chunks_with_alternatives;
} hp_learning;

typedef struct hp_rewrite_team {
  /*** for all windows ***/
  hp_rewrite_division division;
  hp_rewrite_counters counters;
  hp_crew crew; /* its stragglers read the window, the rules and the merger's options */
  hp_executor executor;
  hp_rewrite_worker *workers;
  hp_rewrite_slot *slots;
  unsigned threads; /* that have a worker, with the calling one */
  unsigned active;  /* that rewrite the current window */
  uint32_t slot_count;
  hp_bits *sets; /* of all slots, and of the merger */
  uint32_t set_capacity;

  /*** the current window ***/
  hpar_rewriter *merger;
  struct {
    const hpar_rules *rules; /* in use */
    hp_unit_queue queue;
    hpar_status status; /* of the merge */
  } run;
  hp_speculation_input input;
  hp_prescan prescan;
  hp_window_chunks chunks;
  uint32_t first_chunk;   /* the number of chunks of earlier windows */
  uint32_t words;         /* of a set of instructions; 0: the selectors need no frames */
  uint32_t scope_words;   /* of `scopes`; 0: no rule is for texts, comments or the doctype */
  uint32_t assumed_words; /* of all sets in hp_assumed_sets */

  hp_published published;

  /*** the merger ***/
  _Alignas(HP_CACHE_LINE) hp_learning learning;
  bool is_past_begin; /* of the window */
  struct {
    uint64_t ns, bytes;
  } exact; /* of the parts that the merger has rewritten */
  /* chunks in a row of which the merger has adopted less than half */
  unsigned wasted;
} hp_rewrite_team;

static inline size_t hp_rewrite_offset(const hpar_rewriter *r) { return (size_t)(r->scanner.at - r->scanner.begin); }

/*** team.c ***/

/* Returns the rewriter's team, which the first call makes; NULL: memory is short. */
hp_rewrite_team *hp_rewrite_team_of(hpar_rewriter *rewriter);
/* Begins a window: prepares the team for the rules and resets its state. Returns false if the
 * calling thread works alone. */
bool hp_rewrite_team_begin(hpar_rewriter *merger);
/* Returns the time, or 0 if there is no trace. */
uint64_t hp_rewrite_team_event_time(const hp_rewrite_team *team);
/* Records an event that began at `begin_ns`; 0: when no trace was requested. The offsets are in the
 * window. */
void hp_rewrite_team_note(hp_rewrite_team *team, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                          size_t begin, size_t end);

/* Claims a chunk of at most `most_bytes` for a worker. */
hp_claim hp_rewrite_team_claim(hp_rewrite_team *team, size_t most_bytes, hp_window_chunk *chunk);
/* Rewrites a claimed chunk into its slot. Thread 0 is the calling one. */
void hp_rewrite_team_run_chunk(hp_rewrite_team *team, unsigned thread, const hp_window_chunk *chunk);
/* Claims a chunk for a thread of the pool, into a slot. Waits while too many chunks are in flight.
 * Returns false if none is left. */
bool hp_rewrite_team_await_claim(hp_rewrite_team *team, size_t *slot);

/*** merger.c ***/

/* Publishes the position of the merger, and the state that workers assume. */
void hp_rewrite_team_publish(hp_rewrite_team *team);
/* Rewrites the window, or a part of it, with the other threads. */
hpar_status hp_rewrite_team_run(hp_rewrite_team *team);

#endif
