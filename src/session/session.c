#include "session/session.h"

#include "dom/value.h"

#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <stddef.h>
#include <string.h>

/* The sizes from which two threads on equal processors gain, with and without an awake pool:
 * results/epyc-2core, break-even. */
enum { BREAK_EVEN_AWAKE = 32 << 10, BREAK_EVEN_ASLEEP = 256 << 10 };

void hp_session_open(hp_session *session) {
#if HPAR_PARALLEL
  memset(session, 0, offsetof(hp_session, parallel_counters));
  session->team.crew = &session->crew;
#else
  memset(session, 0, sizeof *session);
#endif
  session->error.item = SIZE_MAX;
}

void hp_session_close(hp_session *session) {
#if HPAR_PARALLEL
  hp_parallel_close(&session->team);
#endif
  hp_crew_close(&session->crew);
  hp_scripts_close(&session->scripts);
  hp_finder_close(&session->finder);
  if (session->scan) session->destroy_scan(session->scan);
  hp_engine_close(&session->engine);
  if (session->study) session->destroy_study(session->study);
}

bool hp_session_is_lost(const hp_session *session) {
#if HPAR_PARALLEL
  return hp_parallel_is_lost(&session->team);
#else
  (void)session;
  return false;
#endif
}

void hp_session_stop(hp_session *session) {
#if HPAR_PARALLEL
  if (hp_session_is_lost(session)) {
    session->study = NULL; /* the memory leaks */
    session->inspected = session->has_trace = session->result.complete = false;
  }
  hp_parallel_abandon(&session->team);
#else
  (void)session;
#endif
}

/* Replaces the html element that represents a fragment's root by its children. */
static void unwrap_fragment(hpar_document *document) {
  char *base = document->range.base;
  hp_document_mark_fragment(document);
  hp_ref html = hp_node_at(base, document->root)->first;
  while (html && hp_node_at(base, html)->kind != HPAR_NODE_ELEMENT) html = hp_node_at(base, html)->next;
  if (!html) return; /* a limit ended the parse earlier */
  hp_remove(base, html);
  hp_move_children(base, html, document->root);
}

bool hp_is_limit(hpar_status status) { return status >= HPAR_LIMIT_DEPTH && status <= HPAR_LIMIT_INPUT; }

void hp_limit_memory(hpar_document *document, uint64_t limit, bool estimates) {
  if (!limit || limit >= document->range.size) return;
  hp_range_set_limit(&document->range, (size_t)limit, estimates);
  if (!estimates) hp_atoms_forget(&document->atoms); /* the bytes must not depend on them */
}

#if HPAR_PARALLEL
/* Returns true if the pool's threads would start at once. */
static bool is_awake(const hp_session *session, const hp_config *config) {
  hp_pool_wait wait = config->parallel.executor.wait;
  if (wait == HP_POOL_SPIN) return true;
  return wait == HP_POOL_ADAPTIVE && hp_crew_pool(&session->crew) &&
         hp_pool_is_awake(hp_crew_pool(&session->crew), config->parallel.executor.threads);
}

/* Returns the size from which two bound threads gain. A slow second processor saves less time. */
static size_t break_even(const hp_config *config, size_t equal) {
  const hp_processors *found = config->bind ? hp_allowed_processors() : NULL;
  return found && found->count > 1 ? equal * HP_FULL_CAPACITY / found->capacity[1] : equal;
}

bool hp_session_refused_binding(const hp_session *session) {
  if (session->result.driver == HP_DRIVER_OTHER) return session->result.other.not_bound;
  return session->result.driver == HP_DRIVER_PARALLEL && hp_crew_refused_binding(&session->crew);
}
#endif

/* Returns true if the limits may end the tree of the parallel parser elsewhere, so that the
 * sequential parser would repeat the parse. Scripts run once. */
static bool may_repeat(const hpar_limits *limits) {
  return limits->nodes || limits->nodes_per_byte || limits->memory || limits->memory_per_byte;
}

bool hp_session_chooses_parallel(const hp_session *session, hp_config *config, size_t length) {
  if (config->limits.depth || config->limits.attributes) return false;
  if (hp_config_runs_scripts(config) && may_repeat(&config->limits)) return false;
#if HPAR_PARALLEL
  if (config->other) return false;
  if (config->mode != HPAR_MODE_AUTO) return config->mode == HPAR_MODE_PARALLEL;
  if (length < BREAK_EVEN_AWAKE || hp_config_threads(config) < 2) return false;
  if (session->backoff.skipped || hp_crew_has_stragglers(&session->crew)) return false;
  if (length >= break_even(config, BREAK_EVEN_ASLEEP)) return true;
  return length >= break_even(config, BREAK_EVEN_AWAKE) && is_awake(session, config);
#else
  (void)session, (void)length;
  return false;
#endif
}

hpar_status hp_session_prepare(hp_session *session, hp_config *config) {
#if HPAR_PARALLEL
  const hp_executor *executor = &config->parallel.executor;
  unsigned threads = config->other                          ? config->other_threads
                     : config->mode == HPAR_MODE_SEQUENTIAL ? 1
                                                            : hp_config_threads(config);
  if (threads < 2 || executor->kind != HPAR_EXECUTOR_THREADS || hp_crew_has_stragglers(&session->crew)) return HPAR_OK;
  if (!hp_team_threads(&session->team, executor, threads)) return HPAR_ERROR_MEMORY;
  if (!hp_team_is_alone(&session->team)) hp_pool_wake(hp_crew_pool(&session->crew), threads);
#else
  (void)session, (void)config;
#endif
  return HPAR_OK;
}

void hp_session_wake(hp_session *session, hp_config *config) {
#if HPAR_PARALLEL
  hp_team *team = &session->team;
  hp_pool *pool = hp_crew_pool(team->crew);
  if (pool && !hp_team_is_alone(team) && !hp_crew_has_stragglers(team->crew))
    hp_pool_wake(pool, hp_config_threads(config));
#else
  (void)session, (void)config;
#endif
}

#if HPAR_PARALLEL
enum {
  LONG_WAIT_SHARE = 5,
  WAITS_LOOKED_AT = 4,
  FIRST_SKIP = 16,
  LAST_SKIP = 256,
  STEADY_PARSES = 64,
  LONG_PARSE = 512 * 1024 /* bytes whose parse costs 100 times as much as hp_thread_now */
};

void hp_session_begin_waits(hp_session *session, const hp_config *config, size_t length) {
  bool noted = config->mode == HPAR_MODE_AUTO && session->result.driver == HP_DRIVER_PARALLEL && length >= LONG_PARSE;
  session->backoff.thread_begin = noted ? hp_thread_now() : 0;
}

/* Returns the time of the last parse without progress: the merger's waits, and the time for which
 * its thread had no processor, if that was measured. */
static uint64_t lost_time(const hp_session *session) {
  uint64_t waited = session->parallel_counters.wait_ns, total = session->result.total_ns;
  if (!session->backoff.thread_begin) return waited;
  uint64_t run = hp_thread_now() - session->backoff.thread_begin;
  uint64_t withheld = total > run ? total - run : 0;
  return withheld > waited ? withheld : waited;
}

void hp_session_note_waits(hp_session *session, const hp_config *config, size_t length) {
  hp_parallel_backoff *p = &session->backoff;
  if (config->mode != HPAR_MODE_AUTO || length < BREAK_EVEN_AWAKE) return;
  const hp_result *result = &session->result;
  if (result->driver != HP_DRIVER_PARALLEL && !result->slice_given_up) {
    if (p->skipped) p->skipped--;
    return;
  }
  uint64_t lost = result->slice_given_up ? 0 : lost_time(session), total = result->total_ns;
  bool stopped = result->slice_given_up || session->parallel_counters.chunks_rescued || lost * 2 > total;
  bool waited = stopped || lost * LONG_WAIT_SHARE > total;
  p->waited = (uint8_t)((p->waited << 1 | waited) & ((1 << WAITS_LOOKED_AT) - 1));
  p->steady = waited ? 0 : p->steady < STEADY_PARSES ? p->steady + 1 : STEADY_PARSES;
  if (p->steady == STEADY_PARSES) p->next_skip = 0;
  if (!stopped && __builtin_popcount(p->waited) < 2) return;
  p->skipped = p->next_skip ? p->next_skip : FIRST_SKIP;
  p->next_skip = p->skipped < LAST_SKIP ? (uint16_t)(2 * p->skipped) : LAST_SKIP;
  p->waited = 1; /* one more wait is enough */
}
#endif

/* Sets the listener of the request and the finder of the driver. */
static void find_resources(hp_session *session, hp_config *config, hp_published_input *published, hp_request *request) {
  const hpar_resource_options *options = &config->resources;
  session->resources = (hp_resource_report){.callback = options->callback,
                                            .context = options->context,
                                            .document = request->document,
                                            .input = &request->document->input,
                                            .published = published,
                                            .in_order = options->in_order,
                                            .runs_scripts = request->runs_scripts};
  hp_finder_open(&session->finder, &session->resources, &session->engine.builder, 0, true);
  request->listener = &session->finder.listener;
#if HPAR_PARALLEL
  config->parallel.finder = &session->finder;
#endif
}

hp_request hp_session_request(hp_session *session, hp_config *config, hpar_document *document, uint64_t length,
                              uint64_t begin, hp_published_input *published) {
  const bool runs_scripts = hp_config_runs_scripts(config);
  hp_request request = {.document = document,
                        .limits = hp_config_limits(config, length, begin),
                        .scripting = config->scripting,
                        .runs_scripts = runs_scripts,
                        .source_offsets = config->source_offsets,
                        /* scripts read values before the end of the parse */
                        .decodes_values = config->decodes_values || runs_scripts,
                        .max_errors = config->max_errors};
  if (config->resources.callback) find_resources(session, config, published, &request);
#if HPAR_PARALLEL
  config->parallel.scripts = runs_scripts ? &session->scripts : NULL;
#endif
  return request;
}

static hpar_status restart_resources(void *finder) {
  hp_finder_restart(finder);
  return HPAR_OK;
}

void hp_session_restart_resources(hp_session *session, const hp_request *request) {
  if (request->listener) hp_try(&session->engine.unwind, restart_resources, &session->finder);
}

static hpar_status finish_resources(void *finder) {
  hp_finder_finish(finder);
  return HPAR_OK;
}

void hp_open_request(hp_session *session, const hp_config *config, const hp_request *request) {
  hp_engine *engine = &session->engine;
  hp_engine_open(engine, request);
  hp_set_node_count(&engine->builder, 1); /* the document */
  if (hp_config_runs_scripts(config)) hp_scripts_begin(&session->scripts, &config->script, engine, request->trace);
  if (!config->fragment) return;
  hp_builder_parse_context(&engine->builder, config->fragment);
  hp_exact_begin_fragment(&engine->builder);
}

static void build_limited(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_engine_build_limited(engine, token);
}

/* Checks the limits after each token: a parse ends at the same tree however its input is fed. */
static void parse_limited(hp_engine *engine) {
  hp_loop_run(engine, (hp_loop_parts){.next = hp_loop_next, .build = build_limited, .checks_limits = true}, NULL);
}

void hp_finish_sequentially(hp_session *session, const hp_config *config) {
  hp_engine *engine = &session->engine;
  bool scripts = hp_config_runs_scripts(config);
  if (scripts) hp_scripts_resume(&session->scripts);
  if (hp_engine_is_limited(engine))
    parse_limited(engine);
  else
    hp_engine_run_fast(engine, HP_TO_END);
  if (scripts) hp_scripts_finish(&session->scripts);
}

void hp_continue_sequentially(hp_session *session, const hp_config *config) {
  hp_engine *engine = &session->engine;
  bool scripts = hp_config_runs_scripts(config);
  if (scripts && !hp_scripts_resume(&session->scripts)) return;
  if (hp_engine_is_limited(engine))
    parse_limited(engine);
  else
    hp_engine_run_available(engine);
  if (scripts) hp_scripts_run_late(&session->scripts);
}

typedef struct error_list {
  hp_engine *engine;
  const hp_request *request;
  bool limited;
} error_list;

/* Adds the errors of the input stream, sorts all errors, and converts their offsets to those of the
 * caller's bytes. */
static hpar_status finish_error_list(void *argument) {
  const error_list *list = argument;
  hp_engine *engine = list->engine;
  const hp_request *request = list->request;
  size_t length = list->limited ? hp_tokenizer_offset(&engine->tokenizer) : request->length;
  hp_find_input_errors(request->text, length, &engine->errors);
  hp_errors_finish(&engine->errors);
  for (uint32_t i = 0; i < engine->errors.count; i++) {
    uint64_t offset = hp_input_offset(&request->document->input, engine->errors.items[i].offset);
    engine->errors.items[i].offset = (uint32_t)offset;
  }
  return HPAR_OK;
}

static hpar_status finish_errors(hp_session *session, const hp_request *request, bool limited) {
  error_list list = {&session->engine, request, limited};
  return request->max_errors ? hp_try(&session->engine.unwind, finish_error_list, &list) : HPAR_OK;
}

/* Reserves memory for the deferred attribute values. The length of the text bounds them: tokenizers
 * may read a value twice. If the deadline ended a parse with several tokenizers, they have not
 * added their bytes. */
static hpar_status reserve_values(const hp_session *session, const hp_request *request) {
  hpar_document *document = request->document;
  const hp_tokenizer *t = &session->engine.tokenizer;
  document->deferred_bytes += t->deferred_bytes;
  size_t most = hp_decoded_bound(request->length);
  bool unknown = request->limits.deadline && session->result.driver != HP_DRIVER_SEQUENTIAL;
  if (!t->may_defer)
    document->deferred_bytes = 0;
  else if (unknown || document->deferred_bytes > most)
    document->deferred_bytes = most;
  return hp_document_reserve_values(document);
}

hpar_status hp_close_request(hp_session *session, const hp_config *config, const hp_request *request,
                             const hp_sniffed *sniffed, bool limited) {
  hp_engine *engine = &session->engine;
  if (config->fragment) {
    unwrap_fragment(request->document);
    hp_uncount_node(&engine->builder);
  }
  hpar_status status = finish_errors(session, request, limited);
  if (status == HPAR_OK && request->listener && hp_finder_waits(&session->finder))
    status = hp_try(&engine->unwind, finish_resources, &session->finder);
  if (status != HPAR_OK) return status;
  hp_arena_close(&engine->nodes);
  hp_arena_close(&engine->bytes);
  status = reserve_values(session, request);
  if (status != HPAR_OK) return status;
  hp_result *result = &session->result;
  result->complete = true;
  result->runs_scripts = hp_config_runs_scripts(config);
  result->encoding = sniffed->encoding->name;
  result->encoding_source = hp_encoding_source_name(sniffed->source);
  result->bytes = request->length;
  result->by_jemalloc = request->document->range.by_jemalloc;
  result->tokens = engine->tokens;
  result->nodes = hp_node_count(&engine->builder);
  result->parse_errors = engine->errors.seen;
  return HPAR_OK;
}

hp_trace *hp_begin_trace(hp_session *session, const hp_config *config, uint64_t begin) {
  session->inspected = false;
  hp_trace *trace = config->inspection ? config->inspection->begin(session, begin) : NULL;
  session->has_trace = trace;
  return trace;
}

hpar_status hp_close_trace(hp_session *session, const hp_config *config, hpar_document *document, hpar_status parsed) {
  if (!config->inspection || parsed != HPAR_OK) return parsed;
  hpar_status status = session->has_trace ? config->inspection->complete(session, config, document) : HPAR_ERROR_MEMORY;
  session->inspected = session->result.complete = status == HPAR_OK;
  if (status != HPAR_OK) hp_document_reset(document);
  return status;
}

/*** statistics ***/

#if HPAR_PARALLEL
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  const hp_processors *found = hp_allowed_processors();
  for (unsigned i = 0; found && i < threads && i < HPAR_MAX_THREADS; i++)
    processor_per_worker[i] = found->processor[i % found->count];
  return refused || !found ? "refused" : found->how;
}

static void fill_parallel(const hp_parallel_counters *from, hpar_stats *stats) {
  stats->mode = "parallel";
  stats->threads = from->threads;
  stats->chunks = from->chunks;
  stats->chunks_clean = from->merge.chunks_clean;
  stats->bytes_reparsed = from->merge.bytes_reparsed;
  stats->ns.total -= from->truth_ns;
}
#else
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused) {
  (void)processor_per_worker, (void)threads, (void)refused;
  return "none";
}
#endif

void hp_fill_stats(const hp_session *session, hpar_stats *stats) {
  const hp_result *result = &session->result;
  *stats = (hpar_stats){HPAR_STATS_INIT};
  stats->mode = "sequential";
  stats->threads = 1;
  stats->affinity = "none";
  stats->allocator = hpar_allocator_name(result->complete && result->by_jemalloc);
  if (!result->complete) return;
  stats->encoding = result->encoding;
  stats->encoding_source = result->encoding_source;
  stats->bytes = result->bytes;
  stats->tokens = result->tokens;
  stats->nodes = result->nodes;
  stats->parse_errors = result->parse_errors;
  stats->ns.decode = result->decode_ns;
  stats->ns.input = result->input_ns;
  stats->ns.total = result->total_ns;
  if (result->runs_scripts) {
    stats->script.runs = session->scripts.counters.runs;
    stats->script.bytes_written = session->scripts.counters.written;
  }
#if HPAR_PARALLEL
  if (result->driver == HP_DRIVER_PARALLEL) fill_parallel(&session->parallel_counters, stats);
#endif
  if (result->driver == HP_DRIVER_OTHER) {
    stats->mode = result->other.name;
    stats->threads = result->other.threads;
  }
  uint16_t processors[HPAR_MAX_THREADS];
  if (result->bound) stats->affinity = hp_note_processors(processors, stats->threads, result->binding_refused);
}
