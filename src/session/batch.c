/* hpar_parse_many: threads parse inputs side by side, the longest first, each one at a time. */

#include "base/call.h"
#include "base/memory.h"
#include "session/parser.h"
#include "session/session.h"
#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct queued_input {
  size_t length, index;
} queued_input;

/* The state of an input whose thread may be late. */
typedef struct batch_unit {
  hp_unit_state state;
  _Atomic clockid_t clock; /* of its thread; 0: none has begun */
} batch_unit;

/* A late thread keeps the job, and the memory of all threads. */
typedef struct batch_job {
  hp_batch memory;                 /* of the parser; of the job if a thread is late */
  const hp_batch_request *request; /* not for a thread that may be late, as `inputs` and `stats` */
  hp_sized_array inputs;           /* of the request */
  hp_config config;                /* of each input */
  const queued_input *queue;       /* NULL: the order of the inputs */
  size_t first;                    /* in the order: all threads together have parsed those before */
  unsigned threads;                /* that have parsed one of these */
  bool bound, not_bound;
  _Atomic uint64_t failed, bytes, tokens, nodes; /* relaxed: read after all threads have returned */
  hpar_many_stats *stats;                        /* each thread writes its own entries */
  batch_unit *units; /* from `first` on in the order; NULL: the call waits for all threads */
  hp_unit_queue run; /* of the units */
  bool is_left;
  char padding[HP_CACHE_LINE];
  _Atomic size_t next; /* unit to claim */
} batch_job;

static void add_to_sum(_Atomic uint64_t *sum, uint64_t n) { atomic_fetch_add_explicit(sum, n, memory_order_relaxed); }

/* Begins the use of the input's document, or of the one that the thread lends. The second use of
 * that one keeps it alive, whatever a callback does. */
static hpar_status begin_document(hp_batch_thread *thread, const hpar_input *input, hpar_document **document,
                                  hpar_error *error) {
  if (input->document && !hp_begin_sole_use(&input->document->use))
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_input.document is in use by another call");
  *document = input->document;
  if (input->document) return HPAR_OK;
  if (!thread->document) {
    hpar_status status = hpar_document_create(&thread->document);
    if (status != HPAR_OK) return status;
    hp_begin_use(&thread->document->use);
  }
  *document = thread->document;
  hp_begin_use(&thread->document->use);
  return HPAR_OK;
}

static hpar_status parse_one(hp_session *session, const hp_config *config, const hpar_input *input,
                             hpar_document *document) {
  if (!input->bytes && input->length) {
    hp_document_empty(document);
    return hp_explain(&session->error, HPAR_ERROR_ARGUMENT, "hpar_input.bytes is NULL and length is %zu",
                      input->length);
  }
  hp_config own = *config;
  return hp_parse_input(session, &own, input->bytes, input->length, hp_now(), document);
}

/* Gives the tree of a thread's own document to that of the input, which replaces it. */
static hpar_status hand_over(hp_batch_thread *thread, const hpar_input *input, hpar_document **document,
                             hpar_status status, hpar_error *error) {
  hpar_document *own = *document;
  *document = NULL;
  const hpar_status begun = begin_document(thread, input, document, error);
  if (begun == HPAR_OK && own)
    hp_document_exchange(*document, own);
  else if (begun == HPAR_OK)
    hp_document_empty(*document);
  if (own) hp_document_end_use(own);
  return begun == HPAR_OK ? status : begun;
}

/* An older caller has no status. */
static void write_status(hp_sized_array inputs, size_t index, hpar_status status) {
  hpar_input *given = hp_sized_at(inputs, index);
  if (inputs.distance >= offsetof(hpar_input, status) + sizeof given->status) given->status = status;
}

/* Parses an input. If another thread may take it, the thread parses into its own document, and uses
 * what is the caller's in writes only, of which the callback is a part. */
static void parse_input(batch_job *job, const hp_config *config, size_t index, unsigned number, hp_unit_steps *steps) {
  hpar_input input;
  if (!hp_unit_begin_write(steps)) return;
  hp_read_sized_at(&input, sizeof input, job->inputs, index);
  hp_unit_end_write(steps);
  hp_note_step(steps);
  hp_batch_thread *thread = &job->memory.threads[number];
  hpar_parser *parser = number ? thread->parser : job->request->parser;
  hp_session *session = &parser->session;
  hpar_document *document = NULL, *const given = input.document;
  if (hp_unit_may_be_taken(steps)) input.document = NULL;
  uint64_t begin = hp_now();
  session->error.text[0] = 0;
  session->result = (hp_result){.driver = HP_DRIVER_SEQUENTIAL};
  hpar_status status = begin_document(thread, &input, &document, &session->error);
  if (status == HPAR_OK) status = parse_one(session, config, &input, document);
  if (!hp_unit_begin_write(steps)) {
    if (document) hp_document_end_use(document);
    return;
  }
  if (given != input.document) {
    input.document = given;
    status = hand_over(thread, &input, &document, status, &session->error);
  }
  hp_explain_status(&session->error, status);
  write_status(job->inputs, index, status);
  job->stats->ns.parse_per_worker[number] += hp_now() - begin;
  job->stats->inputs_per_worker[number]++;
  if (status != HPAR_OK) {
    add_to_sum(&job->failed, 1);
  } else {
    add_to_sum(&job->bytes, session->result.bytes);
    add_to_sum(&job->tokens, session->result.tokens);
    add_to_sum(&job->nodes, session->result.nodes);
  }
  if (job->request->callback) {
    hpar_stats stats = {HPAR_STATS_INIT};
    hp_fill_stats(session, &stats);
    job->request->callback(index, hp_sized_at(job->inputs, index), document, parser, &stats, number,
                           job->request->context);
  }
  if (document) hp_document_end_use(document);
}

static void parse_queued(void *context, size_t place, unsigned thread, hp_unit_steps *steps) {
  batch_job *job = context;
  place += job->first;
  parse_input(job, &job->config, job->queue ? job->queue[place].index : place, thread, steps);
}

static int longest_first(const void *a, const void *b) {
  const queued_input *x = a, *y = b;
  return (x->length < y->length) - (x->length > y->length);
}

/* Returns the inputs by length; NULL if memory is short: then the batch takes them in their own
 * order. */
static queued_input *queue_of(hp_sized_array inputs, size_t count) {
  queued_input *queue = count < SIZE_MAX / sizeof *queue ? hp_allocate(count * sizeof *queue) : NULL;
  if (!queue) return NULL;
  for (size_t i = 0; i < count; i++) {
    hpar_input input;
    hp_read_sized_at(&input, sizeof input, inputs, i);
    queue[i] = (queued_input){input.length, i};
  }
  qsort(queue, count, sizeof *queue, longest_first);
  return queue;
}

/* Creates what `wanted` threads need. Returns the number of threads that have it, which may be
 * smaller. */
static unsigned prepare_threads(hp_batch *batch, unsigned wanted) {
  if (batch->count < wanted) {
    hp_batch_thread *threads = hp_reallocate(batch->threads, wanted * sizeof *threads);
    if (!threads) return batch->count;
    batch->threads = threads;
  }
  while (batch->count < wanted) {
    hp_batch_thread *thread = &batch->threads[batch->count];
    *thread = (hp_batch_thread){0};
    if (batch->count) {
      thread->parser = hp_allocate_zeroed(sizeof *thread->parser);
      if (!thread->parser) break;
      hp_session_open(&thread->parser->session);
      hp_begin_use(&thread->parser->use); /* the callback's parser stays whatever it does */
    }
    batch->count++;
  }
  return batch->count < wanted ? batch->count : wanted;
}

#if HPAR_PARALLEL
/* Parses each long input by all threads, one after the other, if it would take longer on one thread
 * than all inputs together on all threads. */
static void parse_long_inputs(batch_job *job) {
  enum { LEAST_BYTES = 1 << 20 };
  hp_session *session = &job->request->parser->session;
  hp_config config = *job->request->config;
  uint64_t left = 0, threads = hp_config_threads(&config);
  hp_parallel_config *p = &config.parallel;
  if (!job->queue || config.mode == HPAR_MODE_SEQUENTIAL || p->executor.kind == HPAR_EXECUTOR_INLINE) return;
  if (p->order || p->pairs || p->judge || config.inspection || hp_plan_uses_caller(&p->plan)) return;
  hp_config_make_sequential(&config);
  config.mode = HPAR_MODE_AUTO;
  config.bind = job->bound;
  p->chunk_size = p->chunks = 0;
  for (size_t i = 0; i < job->request->count; i++) left += job->queue[i].length;
  for (; job->first < job->request->count; job->first++) {
    const uint64_t length = job->queue[job->first].length;
    if (length < LEAST_BYTES || length > HPAR_MAX_INPUT || length * threads < left + left / 4) return;
    if (!hp_session_chooses_parallel(session, &config, (size_t)length)) {
      if (session->backoff.skipped) session->backoff.skipped--;
      return;
    }
    parse_input(job, &config, job->queue[job->first].index, 0, NULL);
    hp_team_await_stragglers(&session->team); /* the caller may free the bytes */
    job->not_bound |= session->result.binding_refused;
    left -= length;
    if (session->result.driver != HP_DRIVER_PARALLEL || hp_team_is_alone(&session->team)) {
      job->first++;
      return; /* the next one would not gain, either */
    }
    if (session->parallel_counters.threads > job->threads) job->threads = session->parallel_counters.threads;
  }
}
#endif

/* Returns the number of threads for the inputs that are parsed side by side. */
static unsigned useful_threads(hp_session *session, hp_config *config, size_t count) {
#if HPAR_PARALLEL
  const hp_executor *executor = &config->parallel.executor;
  if (executor->kind == HPAR_EXECUTOR_INLINE) return 1;
  unsigned wanted = hp_config_threads(config);
  if (count < 2 || wanted < 2) return 1;
  unsigned threads = hp_team_threads(&session->team, executor, wanted);
  if (threads < 1) return 1;
  return count < threads ? (unsigned)count : threads;
#else
  (void)session, (void)config, (void)count;
  return 1;
#endif
}

static void free_job(batch_job *job) {
  hp_free((void *)job->queue);
  hp_free((void *)job->units);
  hp_free(job);
}

#if HPAR_PARALLEL
/*** inputs whose threads may be late ***/

static void drop_job(void *given) {
  batch_job *job = given;
  hp_batch_close(&job->memory);
  free_job(job);
}

/* Returns whether a late thread uses nothing of the caller's except the bytes. */
static bool may_leave(const batch_job *job) {
  const hp_config *c = &job->config;
  return c->bytes_stay && c->parallel.executor.kind == HPAR_EXECUTOR_THREADS && !job->bound && !c->fragment &&
         !c->script.callback && !c->inspection;
}

static bool claim_unit(void *context, unsigned thread, size_t *unit) {
  batch_job *job = context;
  (void)thread;
  while ((*unit = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->run.plan.count)
    if (hp_unit_claim(&job->units[*unit].state)) return true;
  return false;
}

static void run_unit(void *context, size_t index, unsigned thread, hp_unit_steps *steps) {
  batch_job *job = context;
  batch_unit *unit = &job->units[index];
  hp_unit_steps own = {.unit = thread ? &unit->state : NULL};
  (void)steps;
  atomic_store_explicit(&unit->clock, hp_thread_clock(), memory_order_relaxed);
  parse_queued(job, index, thread, &own);
  hp_unit_publish(&unit->state);
}

/* Returns the processor time of the unit's thread; 0: it has not begun. */
static uint64_t processor_time(const batch_unit *unit) {
  const clockid_t clock = atomic_load_explicit(&unit->clock, memory_order_relaxed);
  struct timespec time;
  return clock && !clock_gettime(clock, &time) ? (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec : 0;
}

/* Returns whether the unit is complete. Gives it up if its thread has no processor. */
static bool await_unit(batch_unit *unit) {
  enum { PATIENCE_NS = 100000 };
  uint64_t since = hp_now(), seen = processor_time(unit);
  hp_spin spin = {0};
  while (!hp_unit_is_complete(&unit->state)) {
    hp_unit_pause(&spin);
    if (hp_now() - since < PATIENCE_NS) continue;
    const uint64_t now = processor_time(unit);
    if (now == seen && hp_unit_give_up(&unit->state)) return false;
    since = hp_now();
    seen = now;
  }
  return true;
}

/* The calling thread parses what others leave. */
static void parse_units(void *context) {
  batch_job *job = context;
  size_t unit;
  while (claim_unit(job, 0, &unit)) run_unit(job, unit, 0, NULL);
  for (unit = 0; unit < job->run.plan.count; unit++)
    if (!await_unit(&job->units[unit])) run_unit(job, unit, 0, NULL);
}

/*** all inputs ***/

static void run_on_threads(batch_job *job, unsigned threads) {
  hp_session *session = &job->request->parser->session;
  parse_long_inputs(job);
  const size_t count = job->request->count - job->first;
  if (!count) return;
  /* A callback may have forked, so that the threads are new. */
  const hp_executor *executor = &job->config.parallel.executor;
  const unsigned prepared = job->first ? hp_team_threads(&session->team, executor, threads) : threads;
  threads = prepared < 1 ? 1 : prepared;
  static const hp_unit_client waiting = {.run = parse_queued},
                              leaving = {.run = run_unit, .claim = claim_unit, .lead = parse_units, .drop = drop_job};
  if (threads > 1 && may_leave(job)) job->units = hp_allocate_zeroed(count * sizeof *job->units);
  const hp_unit_plan plan = {.client = job->units ? &leaving : &waiting, .job = job, .count = count};
  job->is_left = !hp_unit_queue_run(&job->run, &plan, &session->crew, executor, threads, job->units);
  if (job->bound && hp_crew_refused_binding(&session->crew)) job->not_bound = true;
}

static void run_batch(batch_job *job, unsigned threads) {
  hp_saved_affinity saved = {0};
  if (job->bound && !hp_save_affinity(&saved)) job->not_bound = true;
  run_on_threads(job, threads);
  if (!hp_restore_affinity(&saved)) job->not_bound = true;
}
#else
static void run_batch(batch_job *job, unsigned threads) {
  (void)threads;
  for (size_t i = 0; i < job->request->count; i++) parse_queued(job, i, 0, NULL);
}
#endif

static void fill_stats(const batch_job *job, uint64_t begin, hpar_many_stats *stats) {
  if (stats->threads < job->threads) stats->threads = job->threads;
  stats->allocator = hpar_allocator_name(job->config.by_jemalloc);
  stats->affinity = "none";
  if (job->bound) stats->affinity = hp_note_processors(stats->processor_per_worker, stats->threads, job->not_bound);
  stats->failed = atomic_load(&job->failed);
  stats->bytes = atomic_load(&job->bytes);
  stats->tokens = atomic_load(&job->tokens);
  stats->nodes = atomic_load(&job->nodes);
  stats->ns.total = hp_now() - begin;
}

hpar_status hp_batch_parse(hp_batch *batch, const hp_batch_request *request, uint64_t begin, hpar_many_stats *stats) {
  size_t count = request->count;
#if HPAR_PARALLEL
  hp_team_await_stragglers(&request->parser->session.team);
#endif
  unsigned threads = prepare_threads(batch, useful_threads(&request->parser->session, request->config, count));
  batch_job *job = threads ? hp_allocate_zeroed(sizeof *job) : NULL;
  if (!job) return HPAR_ERROR_MEMORY;
  job->memory = *batch;
  job->request = request;
  job->config = *request->config;
  job->stats = stats;
  job->inputs = hp_sized_array_of(request->inputs, count);
  job->bound = job->config.bind;
  hp_config_make_sequential(&job->config);
  stats->threads = threads;
  stats->inputs = count;
  if (count) {
    job->queue = threads > 1 || count == 1 ? queue_of(job->inputs, count) : NULL;
    run_batch(job, threads);
  }
  fill_stats(job, begin, stats);
  if (job->is_left)
    *batch = (hp_batch){0};
  else
    free_job(job);
  return HPAR_OK;
}

void hp_batch_close(hp_batch *batch) {
  for (unsigned i = 0; i < batch->count; i++) {
    if (batch->threads[i].parser) hp_session_close(&batch->threads[i].parser->session);
    hp_free(batch->threads[i].parser);
    if (!batch->threads[i].document) continue;
    hpar_document_destroy(batch->threads[i].document);
    hp_document_end_use(batch->threads[i].document);
  }
  hp_free(batch->threads);
}
