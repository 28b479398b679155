#ifndef HP_DRIVERS_PARALLEL_PARALLEL_H
#define HP_DRIVERS_PARALLEL_PARALLEL_H

/* The data-level parallel parser: cuts, workers, and the merger on the calling thread. The text may be there as a
 * whole, or come piece by piece, in which case a chunk is handed out once it has come. */

#include "html/tree/engine.h"
#include "merge/compose.h"
#include "merge/merge.h"
#include "platform/pool.h"
#include "speculation/cuts/cut.h"
#include "speculation/start/oracle.h"
#include "speculation/start/prescan.h"
#include "speculation/worker/worker.h"

#include <hpar/parse.h>
#include <pthread.h>
#include <stdatomic.h>

enum { HP_CHUNK_BLOCKS = 28, HP_FIRST_BLOCK = 16, HP_CACHE_LINE = 64 };

/* A chunk is published by `done` (release); until then it is its worker's alone. It may have been made of several that
 * are next to each other, by whoever took them: then it stands for all of them. Most are made part of another before
 * anybody works on them, so what work needs is had from the worker when it begins. */
typedef struct hp_chunk {
  _Atomic bool done;
  _Atomic bool arrived; /* see tree.c */
  bool composed;
  uint32_t span;       /* chunks that it is made of */
  uint32_t cut, limit; /* of all of them */
  hp_chunk_work *work; /* NULL: nobody has begun, or there was no memory for it */
} hp_chunk;

/* One parse. What more than one thread uses stands behind the padding. */
typedef struct hp_job {
  struct hp_team *team;
  const hp_request *task; /* with no length of its own while text comes: see `come` */
  const hpar_options *options;
  hp_merger merger;
  hp_plan plan;
  hp_oracle *oracle;   /* NULL: nobody asks it */
  unsigned threads;    /* with the caller */
  bool pipelined;      /* each worker is a pair of stages: thread w + `threads` is the tokenizer of worker w */
  bool open;           /* past the initial mode, and the workers are ready */
  bool started;        /* the pool is at it */
  bool tree;           /* logs are composed before any of them is merged */
  hpar_status outcome; /* of the merger's task, with an executor of the caller's */
  unsigned parts;      /* of the document's memory, one for each worker; 0: it is not divided */
  bool shared;         /* chunks are small, and whoever comes by several makes one of them (share.c) */
  uint64_t begin_time, busy;
  /* Cutting: the chunk that is not offered yet begins at `begin` and ends at `cut`, 0 while that has not been found,
   * for which no place before `searched` need be looked at again. */
  size_t begin, cut, searched, forced;
  struct {
    bool known;
    hp_start_state state;
  } truth, next_truth; /* at `begin` and at `cut`, where it is cut exactly */
  uint32_t number;     /* chunks behind the merger, those that were made one being one */
  uint32_t head;       /* the chunk that the merger is at; */
  bool own;            /* it parses it by itself */
  char apart[HP_CACHE_LINE];
  _Atomic uint32_t next;  /* the first chunk that nobody has taken, but for those before it in `early` */
  _Atomic uint64_t early; /* chunks [low half, high half) that nobody has taken: the merger's share, from its left
                             end, and the workers' when they have nothing else, from its right */
  char apart_too[HP_CACHE_LINE];
  _Atomic uint32_t offered; /* chunks that there are so far, [0] being the merger's */
  _Atomic size_t come;      /* bytes of text that may be read; release */
  _Atomic bool ended;       /* that is all; release, after the last `come` */
  _Atomic bool closed;      /* no chunk will be offered any more */
  _Atomic bool cancelled;
  _Atomic bool not_bound; /* the system has refused to bind some thread */
  _Atomic unsigned sleepers;
  _Atomic uint32_t finished;    /* when merging as a tree: chunks after the first that are done, with all that their end
                                   let    be composed; release */
  _Atomic uint64_t first_start; /* when the first chunk was begun; 0: none was */
} hp_job;

typedef struct hp_work_range {
  _Atomic uint64_t range;
  char apart[HP_CACHE_LINE - sizeof(uint64_t)];
} hp_work_range;

/* What a parser keeps between parallel parses. Zeros are a team that has not worked yet. */
typedef struct hp_team {
  hp_pool *pool;
  unsigned threads;    /* that the pool was asked for */
  hp_worker **workers; /* [0] is the calling thread's */
  unsigned worker_count;
  hp_work_range *shares;                         /* of each of them */
  hpar_merge_level (*levels)[HPAR_MERGE_LEVELS]; /* what each of them has composed, where a tree was asked for */
  unsigned level_count;
  hp_chunk *blocks[HP_CHUNK_BLOCKS]; /* each twice as long as the one before; chunks never move */
  hp_cuts cuts;
  hp_prescan prescan;
  bool can_sleep; /* lock and wake are there */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  hp_job job;
} hp_team;

/* Parses the task to its end on `engine`, which is open. Unwinds through the engine's fail, as do the next three, or,
 * with an executor of the caller's, answers what failed; then hp_team_abandon is to be called. */
hpar_status hp_parse_in_parallel(hp_team *team, hp_engine *engine, const hp_request *task, const hpar_options *options,
                                 hpar_stats *stats);

/* The same for a text that comes bit by bit to where the task has it: `task` has no length, and it, the options and
 * `stats` stay until the end. `come` bytes of it are there; up to `mapped` their offsets in the source are settled. */
void hp_team_begin(hp_team *team, hp_engine *engine, const hp_request *task, const hpar_options *options,
                   hpar_stats *stats);
void hp_team_feed(hp_team *team, size_t come, size_t mapped);
void hp_team_finish(hp_team *team, size_t length);

/* Calls work(job, t) with t from 0 to `threads` - 1, as the options say: on the team's threads, which are there, the
 * calling one being 0; on the caller's; or all here. */
void hp_team_run(hp_team *team, const hpar_options *options, unsigned threads, hp_work work, void *job);

/* Adds to `aid` what lets the team decode `length` bytes in slices, if it may have more than one thread. */
void hp_team_slice_executor(hp_team *team, const hpar_options *options, size_t length, hp_slice_executor *aid);

/* The threads that there are, `wanted` being what was asked for, in a pool that waits as the options say; 0: no memory.
 */
unsigned hp_team_threads(hp_team *team, const hpar_options *options, unsigned wanted);

/* The block that a chunk is in: block k has HP_FIRST_BLOCK << k of them. */
static inline unsigned hp_block_of(uint32_t chunk) {
  return 31u - (unsigned)__builtin_clz(chunk + HP_FIRST_BLOCK) - (unsigned)__builtin_ctz(HP_FIRST_BLOCK);
}

static inline hp_chunk *hp_chunk_at(const hp_team *team, uint32_t chunk) {
  unsigned block = hp_block_of(chunk);
  return &team->blocks[block][chunk + HP_FIRST_BLOCK - ((uint32_t)HP_FIRST_BLOCK << block)];
}

/* Shares (share.c): the merger's are the chunks up to `first`, but for chunk 0; the others have as many each. */
void hp_work_range_deal(hp_job *job, uint32_t first, uint32_t count);
/* The next chunk for a thread, of its own share or another's; 0: there is nothing worth taking. */
uint32_t hp_work_range_take(hp_job *job, unsigned thread);
/* True if nobody had begun the chunk, whosever share it is in, and the caller has it now. */
bool hp_work_range_take_this(hp_job *job, uint32_t chunk);
/* The same, but only from the thread's own share. */
bool hp_work_range_go_on(hp_job *job, unsigned thread, uint32_t chunk);
/* Behind the last chunk up to which the thread, which has just taken `chunk`, may go on. */
uint32_t hp_work_range_end(hp_job *job, unsigned thread, uint32_t chunk);

/* Merging as a tree (tree.c). The chunk, after the first, is done or is left to the merger; composes whatever this
 * completes. Once all have arrived, and no thread works any more, the rest is composed by hp_tree_finish. */
void hp_tree_arrive(hp_job *job, unsigned thread, uint32_t chunk);
void hp_tree_finish(hp_job *job);

/* Ends what is under way, if anything is, without a result: no thread touches the document any more. */
void hp_team_abandon(hp_team *team);

void hp_team_close(hp_team *team);

#endif
