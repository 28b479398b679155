#include "drivers/parallel/parallel.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vector.h"
#include "merge/note.h"
#include "platform/affinity.h"

#include <sched.h>

enum { MAX_SLACK = 4 << 10, MIN_SHARE = 64 << 10, WAIT_SPIN = 100000, AWAIT_SPIN = 200000, PATIENCE = 100 };

/*** workers ***/

static bool inline_executor(const hp_job *r) { return r->options->executor == HPAR_EXECUTOR_INLINE; }

/* By the thread that is to use it, so that its memory is its own. False: no memory. */
static bool open_worker(const hp_job *r, hp_worker *worker) {
  const hp_builder *exact = &r->merger.engine->builder;
  if (worker->is_open) return true;
  if (setjmp(worker->engine.fail.frame)) return false;
  hp_worker_open(worker, r->task, exact->fragment, &exact->context);
  worker->pipelined = r->pipelined;
  unsigned index = 0;
  while (r->team->workers[index] != worker) index++;
  if (r->parts) {
    hp_range_part(&worker->part, &r->task->document->range, index, r->parts);
    hp_arena_open(&worker->engine.nodes, &worker->part, &worker->engine.fail);
    hp_arena_open(&worker->engine.bytes, &worker->part, &worker->engine.fail);
  }
  if (r->pipelined) {
    hp_stages_open(worker->stages, &worker->engine, r->task, r->options, inline_executor(r), r->parts / 2 + index,
                   r->parts);
    worker->stages->ended = true; /* until it is told where the first chunk begins */
  }
  return worker->is_open = true;
}

/* The chunk that `span` of them are. */
static void join(hp_job *r, uint32_t chunk, uint32_t span) {
  hp_chunk *c = hp_chunk_at(r->team, chunk);
  c->span = span;
  c->limit = hp_chunk_at(r->team, chunk + span - 1)->limit;
  if (c->work) c->work->limit = c->limit;
}

typedef struct taking {
  hp_job *job;
  unsigned thread;
  uint32_t chunk;
} taking;

static bool take_more(void *context) {
  const taking *t = context;
  if (atomic_load_explicit(&t->job->cancelled, memory_order_relaxed)) return false;
  uint32_t span = hp_chunk_at(t->job->team, t->chunk)->span;
  if (!hp_work_range_go_on(t->job, t->thread, t->chunk + span)) return false;
  join(t->job, t->chunk, span + 1);
  return true;
}

/* What the thread needs to work on the chunk; NULL: no memory. */
static hp_chunk_work *begin_work(hp_job *r, unsigned thread, uint32_t chunk, taking *taking) {
  hp_chunk *c = hp_chunk_at(r->team, chunk);
  if (!c->work) c->work = hp_worker_next_work(r->team->workers[thread]);
  hp_chunk_work *work = c->work;
  if (!work) return NULL;
  work->cut = c->cut;
  work->limit = c->limit;
  work->times.worker = thread;
  work->reach = r->shared ? hp_chunk_at(r->team, hp_work_range_end(r, thread, chunk) - 1)->limit : c->limit;
  work->more = r->shared ? take_more : NULL;
  work->more_context = taking;
  return work;
}

static void speculate(hp_job *r, unsigned thread, uint32_t chunk) {
  hp_chunk *c = hp_chunk_at(r->team, chunk);
  hp_request task = *r->task;
  task.more = !atomic_load_explicit(&r->ended, memory_order_acquire);
  task.length = atomic_load_explicit(&r->come, memory_order_acquire);
  uint64_t none = 0;
  if (!atomic_load_explicit(&r->first_start, memory_order_relaxed))
    atomic_compare_exchange_strong_explicit(&r->first_start, &none, hp_now(), memory_order_relaxed,
                                            memory_order_relaxed);
  taking taking = {r, thread, chunk};
  hp_chunk_work *work = begin_work(r, thread, chunk, &taking);
  if (work && open_worker(r, r->team->workers[thread])) {
    hp_worker_parse(r->team->workers[thread], &task, &r->plan, work);
  } else if (work) {
    work->failed = true;
    work->times.begin = work->times.end = hp_now();
    work->times.prescan = 0;
  }
  atomic_store_explicit(&c->done, true, memory_order_release);
  if (r->tree) hp_tree_arrive(r, thread, chunk);
}

static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* The last of the early chunks, or 0. */
static uint32_t claim_early(hp_job *r) {
  uint64_t early = atomic_load_explicit(&r->early, memory_order_relaxed);
  uint32_t low, high;
  do {
    low = (uint32_t)early;
    high = (uint32_t)(early >> 32);
    if (low >= high) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&r->early, &early, pair(low, high - 1), memory_order_relaxed,
                                                  memory_order_relaxed));
  return high - 1;
}

/* The next chunk for the thread, which nobody has taken, or 0. */
static uint32_t claim(hp_job *r, unsigned thread) {
  if (r->shared) return hp_work_range_take(r, thread);
  uint32_t chunk = atomic_load_explicit(&r->next, memory_order_relaxed);
  do {
    if (chunk >= atomic_load_explicit(&r->offered, memory_order_acquire)) return claim_early(r);
  } while (
      !atomic_compare_exchange_weak_explicit(&r->next, &chunk, chunk + 1, memory_order_relaxed, memory_order_relaxed));
  return chunk;
}

/* True if the merger may parse the chunk by itself, nobody having begun. */
static bool claim_exactly(hp_job *r, uint32_t chunk) {
  if (r->shared) return hp_work_range_take_this(r, chunk);
  uint64_t early = atomic_load_explicit(&r->early, memory_order_relaxed);
  while ((uint32_t)early == chunk && chunk < (uint32_t)(early >> 32))
    if (atomic_compare_exchange_weak_explicit(&r->early, &early, pair(chunk + 1, (uint32_t)(early >> 32)),
                                              memory_order_relaxed, memory_order_relaxed))
      return true;
  return atomic_compare_exchange_strong_explicit(&r->next, &chunk, chunk + 1, memory_order_relaxed,
                                                 memory_order_relaxed);
}

static bool nothing_to_do(hp_job *r) {
  return atomic_load(&r->next) >= atomic_load(&r->offered) && !atomic_load(&r->closed) && !atomic_load(&r->cancelled);
}

static void wait_for_chunk(hp_job *r) {
  hp_spin spin = {0};
  while (hp_spin_on(&spin, WAIT_SPIN))
    if (!nothing_to_do(r)) return;
  pthread_mutex_lock(&r->team->lock);
  atomic_fetch_add(&r->sleepers, 1);
  while (nothing_to_do(r)) pthread_cond_wait(&r->team->wake, &r->team->lock);
  atomic_fetch_sub(&r->sleepers, 1);
  pthread_mutex_unlock(&r->team->lock);
}

/* Sequentially consistent, as is what was changed before: either a sleeper sees that or we see the sleeper. */
static void wake_workers(hp_job *r) {
  if (!atomic_load(&r->sleepers)) return;
  pthread_mutex_lock(&r->team->lock);
  pthread_cond_broadcast(&r->team->wake);
  pthread_mutex_unlock(&r->team->lock);
}

static bool pooled(const hp_job *r) { return r->options->executor == HPAR_EXECUTOR_THREADS; }

static void work_as_worker(hp_job *r, unsigned thread) {
  while (!atomic_load_explicit(&r->cancelled, memory_order_relaxed) && !r->team->workers[thread]->saturated) {
    uint32_t chunk = claim(r, thread);
    if (chunk)
      speculate(r, thread, chunk);
    else if (atomic_load(&r->closed) && atomic_load(&r->next) >= atomic_load(&r->offered))
      return;
    else
      wait_for_chunk(r);
  }
}

static void work(void *context, unsigned thread) {
  hp_job *r = context;
  if (pooled(r) && !hp_bind_thread(r->options->bind, thread)) atomic_store(&r->not_bound, true);
  if (thread >= r->threads) {
    hp_stages_serve(r->team->workers[thread - r->threads]->stages);
    return;
  }
  work_as_worker(r, thread);
  if (r->pipelined) hp_stages_stop(r->team->workers[thread]->stages);
}

static void note_wait(hp_record *record, uint32_t chunk, uint64_t begin) {
  if (record) hp_record_event(record, HPAR_EVENT_WAIT, 0, chunk, begin, hp_now(), 0, 0);
}

/* Is there something to merge at the head? */
static bool ready(const hp_job *r) {
  if (!r->tree) return atomic_load_explicit(&hp_chunk_at(r->team, r->head)->done, memory_order_acquire);
  return atomic_load_explicit(&r->finished, memory_order_acquire) + 1 >= atomic_load(&r->offered);
}

/* Waits for that and makes itself useful on a later chunk meanwhile. */
static void await(hp_job *r) {
  if (ready(r)) return;
  hp_record *record = r->merger.record;
  uint64_t begin = record ? hp_now() : 0;
  hp_spin spin = {0};
  bool patient = true;
  while (!ready(r)) {
    uint32_t other = patient && spin.steps < PATIENCE ? 0 : claim(r, 0);
    if (other) {
      note_wait(record, r->number, begin);
      speculate(r, 0, other);
      begin = record ? hp_now() : 0;
    } else if (patient) {
      patient = hp_spin_on(&spin, AWAIT_SPIN);
    } else {
      sched_yield();
    }
  }
  note_wait(record, r->number, begin);
}

static void start_pool(hp_job *r) {
  if (r->started || (r->threads < 2 && !r->pipelined) || !pooled(r)) return;
  if (atomic_load_explicit(&r->offered, memory_order_relaxed) < 2) return;
  r->started = true;
  hp_pool_start(r->team->pool, r->pipelined ? 2 * r->threads : r->threads, work, r);
}

static void join_pool(hp_job *r) {
  atomic_store(&r->closed, true);
  if (!r->started) return;
  wake_workers(r);
  if (r->pipelined) {
    hp_stages_stop(r->team->workers[0]->stages);
    hp_pool_join(r->team->pool); /* one of a pair waits for the other */
  } else {
    hp_pool_end(r->team->pool);
  }
  r->started = false;
}

/*** cutting ***/

/* Where the byte at `offset` of the caller's input stands in the first `length` bytes of the text; `length`: not
 * there. */
static size_t text_offset(const hp_request *task, size_t length, uint64_t offset) {
  size_t low = 0, high = length;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (hp_input_offset(&task->document->input, middle) < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool cuts_exactly(const hp_job *r) { return r->plan.cut == HP_CUT_EXACT && !r->options->cuts; }

static bool ask_oracle(hp_job *r, size_t place, hp_start_state *truth) {
  bool last = atomic_load_explicit(&r->ended, memory_order_relaxed);
  size_t come = atomic_load_explicit(&r->come, memory_order_relaxed);
  return hp_oracle_at(r->oracle, (uint32_t)place, come, last, truth);
}

/* The first place to cut at or after `from` in the `come` bytes that there are; `come`: there is none. */
static size_t cut_at(hp_job *r, size_t come, size_t from) {
  if (!cuts_exactly(r)) return hp_cut((hp_cut_policy)r->plan.cut, r->task->text, come, from);
  r->next_truth.known = r->oracle && from < come && ask_oracle(r, from, &r->next_truth.state);
  return r->next_truth.known ? r->next_truth.state.first : come;
}

static void close_oracle(hp_job *r) {
  hp_oracle_close(r->oracle);
  r->oracle = NULL;
}

/* The chunk that begins at r->begin ends at `limit`. */
static void offer(hp_job *r, size_t limit) {
  hp_fail *fail = &r->merger.engine->fail;
  uint32_t chunk = atomic_load_explicit(&r->offered, memory_order_relaxed);
  unsigned block = hp_block_of(chunk);
  if (!r->team->blocks[block]) {
    r->team->blocks[block] = hp_allocate_zeroed(((size_t)HP_FIRST_BLOCK << block) * sizeof(hp_chunk));
    if (!r->team->blocks[block]) hp_fail_now(fail, HPAR_ERROR_MEMORY);
  }
  hp_chunk *c = hp_chunk_at(r->team, chunk);
  atomic_store_explicit(&c->done, false, memory_order_relaxed);
  atomic_store_explicit(&c->arrived, false, memory_order_relaxed);
  c->composed = false;
  c->span = 1;
  c->cut = (uint32_t)r->begin;
  c->limit = (uint32_t)limit;
  c->work = NULL;
  if (r->oracle && (r->begin || cuts_exactly(r))) {
    c->work = hp_worker_next_work(r->team->workers[0]);
    if (!c->work) hp_fail_now(fail, HPAR_ERROR_MEMORY);
    if (cuts_exactly(r)) {
      c->work->truth_known = r->truth.known;
      c->work->truth = r->truth.state;
      r->truth = r->next_truth;
    } else {
      c->work->truth_known = ask_oracle(r, r->begin, &c->work->truth);
    }
  }
  r->begin = limit;
  r->cut = 0;
  atomic_store(&r->offered, chunk + 1);
}

static size_t chunk_size(const hp_job *r, size_t length) {
  return r->options->chunk_size ? r->options->chunk_size : hp_chunk_size(length, r->threads);
}

static void cut_exactly(hp_job *r, size_t length, size_t size) {
  for (size_t from = size, cut; from < length && (cut = cut_at(r, length, from)) < length;) {
    offer(r, cut);
    from = from + size > cut ? from + size : cut + size;
  }
}

/* The inline executor parses each chunk by itself, all of them before the merge; a tree of merges must know them; and a
 * strategy's own way through a chunk, to its end. */
static bool may_share(const hp_job *r) {
  const hpar_options *o = r->options;
  return !o->cuts && !o->chunk_size && !o->chunks && !r->tree && !r->pipelined && !inline_executor(r) &&
         !cuts_exactly(r) && r->threads > 1 && !r->plan.strategy->parse;
}

/* All cuts of a text that is there as a whole. */
static void cut_all(hp_job *r) {
  const hp_request *task = r->task;
  const hpar_options *o = r->options;
  hp_cuts *cuts = &r->team->cuts;
  cuts->count = 0;
  r->shared = may_share(r);
  size_t size = o->chunk_size ? o->chunk_size
                : o->chunks   ? task->length / o->chunks + 1
                : r->shared   ? hp_shared_size(task->length, r->threads)
                              : 0;
  hp_fail *fail = &r->merger.engine->fail;
  if (cuts_exactly(r))
    cut_exactly(r, task->length, size ? size : hp_chunk_size(task->length, r->threads));
  else if (!o->cuts && size)
    hp_cut_evenly(cuts, (hp_cut_policy)r->plan.cut, task->text, task->length, size, fail);
  else if (!o->cuts)
    hp_cut_for(cuts, (hp_cut_policy)r->plan.cut, task->text, task->length, r->threads, fail);
  for (uint32_t i = 0; i < cuts->count; i++) offer(r, cuts->at[i]);
  for (size_t i = 0; o->cuts && i < o->cut_count; i++) {
    size_t at = text_offset(task, task->length, o->cuts[i]);
    if (at > r->begin && at < task->length) offer(r, at);
  }
  offer(r, task->length);
}

static size_t find_cut(hp_job *r, size_t come, size_t mapped) {
  const hpar_options *o = r->options;
  if (o->cuts) {
    while (r->forced < o->cut_count) {
      size_t at = text_offset(r->task, mapped, o->cuts[r->forced]);
      if (at >= mapped) break;
      r->forced++;
      if (at > r->begin) return at;
    }
    r->searched = mapped;
    return 0;
  }
  size_t size = chunk_size(r, come);
  if (size >= come || r->begin >= come - size) return 0;
  size_t from = r->begin + size > r->searched ? r->begin + size : r->searched;
  size_t cut = from < come ? cut_at(r, come, from) : come;
  if (cut < come) return cut;
  if (come - from > 16 && !cuts_exactly(r)) r->searched = come - 16;
  return 0;
}

/* What of the text has come, and is not likely to be run out of by a worker. */
static void offer_what_has_come(hp_job *r, size_t come, size_t mapped, bool all) {
  for (;;) {
    if (!r->cut) r->cut = find_cut(r, come, mapped);
    if (!r->cut) break;
    size_t slack = (r->cut - r->begin) / 8;
    if (slack > MAX_SLACK) slack = MAX_SLACK;
    if (!all && come - r->cut < slack) break;
    offer(r, r->cut);
  }
  if (all) offer(r, come);
}

/*** the merger's side ***/

/* Threads that there is work for. A worker takes some 20 KB of its own: eight of them would take as much as the tree of
 * the smallest page that is parsed in parallel (experiments/memory). */
static unsigned worth(const hp_job *r) {
  size_t length = r->task->length;
  if (r->options->mode != HPAR_MODE_AUTO || !length || length / MIN_SHARE >= HPAR_MAX_THREADS) return HPAR_MAX_THREADS;
  return length < 2 * MIN_SHARE ? 2 : (unsigned)(length / MIN_SHARE);
}

static void prepare_crew(hp_job *r) {
  hp_team *team = r->team;
  hp_engine *engine = r->merger.engine;
  unsigned threads = r->threads;
  if (inline_executor(r)) {
    threads = 1;
  } else if (!pooled(r)) {
    r->merger.stats->threads = threads;
  } else {
    threads = hp_team_threads(team, r->options, threads);
    if (!threads) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
    if (r->pipelined && threads < 2) r->pipelined = false;
    if (threads > worth(r)) threads = worth(r);
    r->merger.stats->threads = threads;
    r->threads = threads = r->pipelined ? threads / 2 : threads;
  }
  if (!team->can_sleep) {
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    team->can_sleep = true;
  }
  if (team->worker_count < threads) {
    hp_worker **workers = hp_reallocate(team->workers, threads * sizeof *workers);
    if (!workers) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
    team->workers = workers;
    hp_work_range *shares = hp_reallocate(team->shares, threads * sizeof *team->shares);
    if (!shares) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
    team->shares = shares;
    while (team->worker_count < threads) {
      hp_worker *worker = hp_allocate_zeroed(sizeof *worker);
      if (!worker) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
      workers[team->worker_count++] = worker;
    }
  }
  if (r->tree && team->level_count < threads) {
    void *levels = hp_reallocate(team->levels, threads * sizeof *team->levels);
    if (!levels) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
    team->levels = levels;
    team->level_count = threads;
  }
  if (r->tree) memset(team->levels, 0, threads * sizeof *team->levels);
  const hp_request *task = r->task;
  unsigned parts = r->pipelined ? 2 * threads : threads;
  bool divided = task->length && task->length <= HP_MAX_APART && hp_range_divide(&task->document->range, parts);
  r->parts = divided ? parts : 0;
  for (unsigned i = 0; i < threads; i++) {
    hp_worker *worker = team->workers[i];
    worker->is_open = worker->saturated = false;
    worker->done = worker->wasted_bytes = 0;
    worker->work = NULL;
    worker->nanoseconds = worker->predict_nanoseconds = 0;
    if (r->pipelined && !worker->stages) worker->stages = hp_allocate_zeroed(sizeof *worker->stages);
    if (r->pipelined && !worker->stages) hp_fail_now(&engine->fail, HPAR_ERROR_MEMORY);
    /* Where a worker is used for more than its chunks. */
    if ((r->pipelined || r->tree) && !open_worker(r, worker)) hp_fail_now(&engine->fail, worker->engine.fail.status);
  }
  r->open = true;
}

/* Quirks mode is a constant from the end of the initial mode on, and workers read it. */
static bool leave_initial_mode(hp_merger *m) {
  hp_engine *engine = m->engine;
  while (!m->done && engine->builder.mode == HP_INITIAL)
    if (!hp_merger_parse_until(m, (uint32_t)(engine->tokenizer.at - engine->tokenizer.base) + 1)) return false;
  return true;
}

/* The merger parses the chunk that it is at by itself, if nobody has begun. */
static bool take_over(hp_job *r) {
  if (r->own || r->threads < 2 || !claim_exactly(r, r->head)) return false;
  hpar_stats *stats = r->merger.stats;
  stats->chunks_exact++;
  stats->chunks_right_start++;
  stats->chunks_right++;
  stats->chunks_clean++;
  if (r->tree) hp_tree_arrive(r, 0, r->head);
  return r->own = true;
}

/* There is a record. The merger has been at the chunk since `begin`, and perhaps will again. */
static void note_merged(hp_job *r, const hp_chunk *c, uint64_t begin, bool finished) {
  hp_record *record = r->merger.record;
  uint64_t end = hp_now();
  hp_record_event(record, r->own ? HPAR_EVENT_EXACT : HPAR_EVENT_MERGE, 0, r->number, begin, end, c->cut, c->limit);
  if (!finished) return;
  if (r->own) hp_note_other(&r->merger, c->cut, c->limit, HPAR_CHUNK_EXACT);
  hpar_chunk *chunk = hp_record_last(record);
  chunk->ns.merge_begin = begin;
  chunk->ns.merge_end = end;
}

/* The chunks that the merger has not come to, and what the workers did. */
static void note_end(hp_job *r) {
  hp_record *record = r->merger.record;
  uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
  hp_record_event(record, HPAR_EVENT_CUT, 0, UINT32_MAX, r->begin_time, r->begin_time + r->merger.stats->ns.cut, 0, 0);
  uint32_t number = 0; /* of the chunk */
  for (uint32_t i = 0, span; i < offered; i += span, number++) {
    const hp_chunk *c = hp_chunk_at(r->team, i);
    span = c->span;
    if (i >= r->head) hp_note_other(&r->merger, c->cut, c->limit, i ? HPAR_CHUNK_UNREACHED : HPAR_CHUNK_EXACT);
    if (!atomic_load_explicit(&c->done, memory_order_acquire) || !c->work) continue;
    const hp_chunk_work *work = c->work;
    if (number < record->chunk_count) {
      hpar_chunk *chunk = &record->chunks[number];
      chunk->worker = work->times.worker;
      chunk->ns.prescan = work->times.prescan;
      chunk->ns.parse_begin = work->times.begin;
      chunk->ns.parse_end = work->times.end;
    }
    uint64_t predicted = work->times.begin + work->times.prescan;
    if (work->times.prescan)
      hp_record_event(record, HPAR_EVENT_PRESCAN, work->times.worker, number, work->times.begin, predicted, c->cut,
                      c->limit);
    hp_record_event(record, HPAR_EVENT_PARSE, work->times.worker, number, predicted, work->times.end, c->cut, c->limit);
  }
}

/* True if the merger, at the end of a chunk of its own, makes the next one part of it. */
static bool more_of_own(hp_job *r, const hp_chunk *c) {
  uint32_t next = r->head + c->span;
  if (!r->shared || next >= atomic_load_explicit(&r->offered, memory_order_relaxed) || !claim_exactly(r, next))
    return false;
  join(r, r->head, c->span + 1);
  return true;
}

static bool merge_log(hp_merger *m, const hp_chunk *c) {
  if (c->work) return hp_merger_merge_chunk(m, c->work);
  const hp_chunk_work lost = {.cut = c->cut, .limit = c->limit, .failed = true};
  return hp_merger_merge_chunk(m, &lost);
}

/* One chunk further; false if more must come first. */
static bool merge_chunk(hp_job *r, hp_chunk *c) {
  hp_merger *m = &r->merger;
  if (r->own) {
    uint64_t begin = m->record ? hp_now() : 0;
    bool there = hp_merger_parse_until(m, c->limit);
    while (there && !m->done && more_of_own(r, c)) there = hp_merger_parse_until(m, c->limit);
    if (m->record) note_merged(r, c, begin, there);
    if (!there) return false;
    r->own = false;
  } else {
    uint64_t begin = hp_now();
    bool taken = merge_log(m, c);
    m->stats->ns.merge += hp_now() - begin;
    if (m->record) note_merged(r, c, begin, taken);
    if (!taken) return false;
  }
  r->head += c->span;
  r->number++;
  return true;
}

/* As far as it goes without waiting. */
static void merge_what_is_done(hp_job *r) {
  hp_merger *m = &r->merger;
  uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
  while (!m->done && r->head < offered) {
    if (!r->own && (r->tree || !ready(r))) return;
    if (!merge_chunk(r, hp_chunk_at(r->team, r->head))) return;
  }
}

/* While there is more to do than the others will come to soon. */
static void help(hp_job *r) {
  for (;;) {
    merge_what_is_done(r);
    uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
    uint32_t next = atomic_load_explicit(&r->next, memory_order_relaxed);
    if (r->merger.done || offered - next <= r->threads - 1) return;
    if (take_over(r)) continue;
    uint32_t chunk = claim(r, 0);
    if (!chunk) return;
    speculate(r, 0, chunk);
  }
}

static void merge_all(hp_job *r) {
  hp_merger *m = &r->merger;
  uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
  bool composed = !r->tree;
  while (!m->done && r->head < offered) {
    if (!r->own && !take_over(r)) {
      await(r);
      if (!composed) hp_tree_finish(r);
      composed = true;
    }
    merge_chunk(r, hp_chunk_at(r->team, r->head));
  }
  hp_merger_finish(m);
}

static void fill_stats(hp_job *r) {
  hpar_stats *stats = r->merger.stats;
  uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
  for (uint32_t i = offered ? hp_chunk_at(r->team, 0)->span : 0; i < offered; i += hp_chunk_at(r->team, i)->span)
    stats->chunks++;
  stats->ns.parse_per_worker[0] = r->busy - stats->ns.merge;
  stats->merge_levels[0].nanoseconds = stats->ns.merge;
  uint64_t start = atomic_load_explicit(&r->first_start, memory_order_relaxed);
  stats->ns.first_chunk = start ? start - r->begin_time : 0;
  unsigned workers = inline_executor(r) ? 1 : r->threads;
  for (unsigned i = 0; r->open && i < workers; i++) {
    if (r->pipelined) hp_stages_count(r->team->workers[i]->stages, stats);
    if (i) stats->ns.parse_per_worker[i] = r->team->workers[i]->nanoseconds;
    if (r->parts && r->team->workers[i]->is_open)
      r->task->document->range.in_parts += hp_range_part_used(&r->team->workers[i]->part);
    stats->ns.predict += r->team->workers[i]->predict_nanoseconds;
    for (unsigned level = 1; r->tree && level < HPAR_MERGE_LEVELS; level++) {
      const hpar_merge_level *from = &r->team->levels[i][level];
      hpar_merge_level *to = &stats->merge_levels[level];
      to->merges += from->merges;
      to->segments += from->segments;
      to->tokens += from->tokens;
      to->nanoseconds += from->nanoseconds;
      if (!i) stats->ns.parse_per_worker[0] -= from->nanoseconds;
    }
  }
  if (r->merger.record) note_end(r);
  if (r->oracle) stats->ns.oracle = r->oracle->nanoseconds;
  close_oracle(r);
  for (int kind = 0; kind < HPAR_LOG_KINDS; kind++) stats->log_entries += stats->log_entries_by_kind[kind];
}

void hp_team_begin(hp_team *team, hp_engine *engine, const hp_request *task, const hpar_options *o, hpar_stats *stats) {
  hp_job *r = &team->job;
  close_oracle(r);
  memset(r, 0, sizeof *r);
  r->team = team;
  r->task = task;
  r->options = o;
  hp_plan_of(&r->plan, o);
  hp_prescan_begin(&team->prescan);
  r->plan.prescan = &team->prescan;
  r->merger = (hp_merger){.engine = engine, .stats = stats, .strategy = r->plan.strategy, .record = task->record};
  r->threads = o->threads ? o->threads : hp_usable_cores();
  r->tree = o->merge == HPAR_MERGE_TREE && !r->plan.strategy->at_seam;
  r->begin_time = hp_now();
  if (r->plan.predictor->oracle || r->plan.mode_predictor->oracle || cuts_exactly(r))
    r->oracle = hp_oracle_open(task, o->fragment);
  r->own = true;
  atomic_store_explicit(&r->next, 1, memory_order_relaxed);
  stats->mode = "parallel";
  stats->threads = r->threads;
  stats->strategy = r->plan.strategy->name;
  stats->predictor = r->plan.own && r->plan.own->name ? r->plan.own->name : r->plan.predictor->name;
  stats->mode_predictor = r->plan.mode_predictor->name;
  stats->merge = r->tree ? "tree" : "chain";
  stats->cut = o->cuts ? "forced" : hpar_cut_policy_name(r->plan.cut);
}

static void merge_as_task(hp_job *r) {
  hp_engine *engine = r->merger.engine;
  if (setjmp(engine->fail.frame)) {
    r->outcome = engine->fail.status;
  } else {
    merge_all(r);
    r->outcome = HPAR_OK;
  }
  atomic_store(&r->cancelled, true); /* who has not begun yet need not */
}

/* The frame that failures unwind to when this is over is none. */
static void task_of_caller(void *context, unsigned index) {
  if (index)
    work(context, index);
  else
    merge_as_task(context);
}

static hpar_status run_by_caller(hp_job *r) {
  const hpar_options *o = r->options;
  r->outcome = HPAR_ERROR_ARGUMENT;
  o->run(o->run_context, r->threads, task_of_caller, r);
  return r->outcome;
}

hpar_status hp_parse_in_parallel(hp_team *team, hp_engine *engine, const hp_request *task, const hpar_options *o,
                                 hpar_stats *stats) {
  hp_team_begin(team, engine, task, o, stats);
  hp_job *r = &team->job;
  r->pipelined = o->pipeline_stages && o->executor != HPAR_EXECUTOR_CALLER &&
                 o->merge != HPAR_MERGE_TREE; /* composing wants the workers' engines */
  leave_initial_mode(&r->merger);
  prepare_crew(r);
  atomic_store_explicit(&r->come, task->length, memory_order_relaxed);
  atomic_store_explicit(&r->ended, true, memory_order_relaxed);
  cut_all(r);
  atomic_store_explicit(&r->closed, true, memory_order_relaxed);
  uint64_t begin = hp_now();
  stats->ns.cut = begin - r->begin_time - (r->oracle ? r->oracle->nanoseconds : 0);
  uint32_t offered = atomic_load_explicit(&r->offered, memory_order_relaxed);
  if (inline_executor(r)) {
    for (uint32_t i = offered - 1; i > 0; i--) speculate(r, 0, i);
    atomic_store_explicit(&r->next, offered, memory_order_relaxed);
  }
  if (!inline_executor(r) && offered) {
    /* The merger parses exactly, and faster than a worker: the first share is its own. */
    size_t end = hp_merger_share(task->length, r->threads);
    uint32_t share = 1;
    while (share < offered && hp_chunk_at(team, share)->cut < end) share++;
    atomic_store_explicit(&r->early, pair(1, share), memory_order_relaxed);
    atomic_store_explicit(&r->next, r->shared ? offered : share, memory_order_relaxed);
    if (r->shared) hp_work_range_deal(r, share, offered);
  }
  if (o->executor == HPAR_EXECUTOR_CALLER && r->threads > 1 && offered > 1) {
    hpar_status status = run_by_caller(r);
    if (status != HPAR_OK) return status;
  } else {
    start_pool(r);
    merge_all(r);
    join_pool(r);
  }
  r->busy = hp_now() - begin;
  fill_stats(r);
  return HPAR_OK;
}

void hp_team_feed(hp_team *team, size_t come, size_t mapped) {
  hp_job *r = &team->job;
  hp_merger *m = &r->merger;
  uint64_t begin = hp_now();
  m->engine->tokenizer.end = r->task->text + come;
  if (!r->open) {
    if (!leave_initial_mode(m)) return;
    prepare_crew(r);
  }
  atomic_store_explicit(&r->come, come, memory_order_release);
  offer_what_has_come(r, come, mapped, false);
  start_pool(r);
  wake_workers(r);
  r->merger.stats->ns.cut += hp_now() - begin;
  if (atomic_load_explicit(&r->offered, memory_order_relaxed)) {
    help(r);
  } else {
    size_t least = r->cut ? r->cut : r->options->cuts ? 0 : chunk_size(r, come);
    if (least < r->searched) least = r->searched;
    hp_merger_parse_until(m, least < UINT32_MAX ? (uint32_t)least : UINT32_MAX);
  }
  r->busy += hp_now() - begin;
}

void hp_team_finish(hp_team *team, size_t length) {
  hp_job *r = &team->job;
  hp_merger *m = &r->merger;
  uint64_t begin = hp_now();
  m->engine->tokenizer.end = r->task->text + length;
  m->engine->tokenizer.last = true;
  m->stats->chunks_started_before_end = atomic_load_explicit(&r->next, memory_order_relaxed) - 1;
  if (r->open && !m->done) {
    atomic_store_explicit(&r->come, length, memory_order_release);
    atomic_store_explicit(&r->ended, true, memory_order_release);
    offer_what_has_come(r, length, length, true);
    atomic_store(&r->closed, true);
    start_pool(r);
    wake_workers(r);
  }
  merge_all(r);
  join_pool(r);
  r->busy += hp_now() - begin;
  fill_stats(r);
}

void hp_team_abandon(hp_team *team) {
  atomic_store(&team->job.cancelled, true);
  if (team->job.started) join_pool(&team->job);
}

void hp_team_close(hp_team *team) {
  hp_team_abandon(team);
  close_oracle(&team->job);
  hp_pool_destroy(team->pool);
  for (unsigned i = 0; i < team->worker_count; i++) {
    hp_worker_close(team->workers[i]);
    hp_free(team->workers[i]);
  }
  hp_free(team->workers);
  hp_free(team->levels);
  hp_free(team->shares);
  for (unsigned block = 0; block < HP_CHUNK_BLOCKS; block++) hp_free(team->blocks[block]);
  hp_free(team->cuts.at);
  hp_prescan_close(&team->prescan);
  if (!team->can_sleep) return;
  pthread_cond_destroy(&team->wake);
  pthread_mutex_destroy(&team->lock);
}
