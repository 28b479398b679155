#include "session/whole.h"

#if HPAR_PARALLEL
#include "platform/affinity.h"

/* Lets the threads validate the text while they parse, if that is possible. Scripts and predictors
 * of the caller receive only text that is known to be valid. The text of a resource is valid: its
 * thread has validated it. If other text is not, the parse begins again and cancels the resource.
 * The tree of a parse that a limit ends is final. */
static void choose_validation(hp_session *session, hp_config *config, const hp_sniffed *sniffed,
                              const hp_limits *limits) {
  bool calls_back = config->inspection || hp_config_runs_scripts(config) || hp_plan_uses_caller(&config->parallel.plan);
  config->parallel.validates = session->result.driver == HP_DRIVER_PARALLEL && sniffed->encoding &&
                               sniffed->encoding->kind == HP_ENCODING_UTF8 && !calls_back && !limits->nodes &&
                               !limits->deadline;
}

/* Returns whether the parse may go on without a thread that is late in a slice, with the sequential
 * parser. With a copy, the caller may free the bytes. A record needs the threads, and so do options
 * that state their chunks. */
static bool may_leave_slices(const hp_session *session, const hp_config *config) {
  const hp_parallel_config *p = &config->parallel;
  if (session->result.driver != HP_DRIVER_PARALLEL || config->copy_input || config->inspection) return false;
  if (config->mode == HPAR_MODE_AUTO) return true;
  if (hp_plan_uses_caller(&p->plan)) return false;
  return !p->chunk_size && !p->chunks && !p->cuts && !p->pairs && !config->bind;
}

/* Decodes the bytes on the threads of the coming parse. If a thread is late, the sequential parser
 * takes over. */
static hpar_status decode_on_team(hp_session *session, const hp_config *config, const char *bytes, size_t length,
                                  hp_sniffed *sniffed, hpar_document *document) {
  hp_slice_executor slices = {.buffer = &document->text};
  hp_executor executor = config->parallel.executor;
  bool is_others = session->result.driver == HP_DRIVER_OTHER && config->other_threads > 1;
  unsigned useful = hp_useful_threads(&config->parallel, length);
  if (executor.threads > useful) executor.threads = useful;
  if (is_others) executor.threads = config->other_threads;
  if (is_others || session->result.driver == HP_DRIVER_PARALLEL)
    hp_team_slice_executor(&session->team, &executor, bytes, length, &slices);
  session->team.leaves_slices = may_leave_slices(session, config);
  hpar_status status = hp_input_decode_sniffed(&document->input, bytes, length, sniffed, &slices);
  /* The pool is not free while one of its threads is late. */
  if (session->team.leaves_slices && hp_team_lend_document(&session->team, document)) {
    session->result.driver = HP_DRIVER_SEQUENTIAL;
    session->result.late_slice = true;
  }
  return status;
}
#endif

/* Decodes the bytes in the encoding of `sniffed`, and completes `sniffed`. */
static hpar_status open_input(hp_session *session, const hp_config *config, const char *bytes, size_t length,
                              hp_sniffed *sniffed, hpar_document *document) {
  hp_input *input = &document->input;
#if HPAR_PARALLEL
  hpar_status status = config->parallel.validates ? hp_input_assume_utf8(input, bytes, length)
                                                  : decode_on_team(session, config, bytes, length, sniffed, document);
#else
  (void)session;
  const hp_slice_executor alone = {.buffer = &document->text};
  hpar_status status = hp_input_decode_sniffed(input, bytes, length, sniffed, &alone);
#endif
  return status == HPAR_OK && config->copy_input ? hp_input_keep(input, &document->text, config->source_offsets)
                                                 : status;
}

typedef struct whole_parse {
  hp_session *session;
  const hp_config *config;
  const hp_request *request;
} whole_parse;

static hpar_status parse_whole(void *argument) {
  const whole_parse *whole = argument;
  hp_session *session = whole->session;
  const hp_config *config = whole->config;
  const hp_request *request = whole->request;
  hp_open_request(session, config, request);
#if HPAR_PARALLEL
  if (session->result.driver == HP_DRIVER_PARALLEL)
    hp_parse_in_parallel(&session->team, &session->engine, request, &config->parallel, &session->parallel_counters);
  else
#endif
      if (session->result.driver == HP_DRIVER_OTHER)
    config->other->parse(session, config, request);
  else
    hp_finish_sequentially(session, config);
  return HPAR_OK;
}

static hp_outcome run_driver(hp_session *session, const hp_config *config, const hp_request *request,
                             hpar_status *status) {
  whole_parse whole = {session, config, request};
  hp_outcome outcome = hp_engine_try(&session->engine, parse_whole, &whole, status);
  if (outcome != HP_OUTCOME_DONE) hp_session_stop(session);
  return outcome;
}

/* Returns true if the sequential parser may reach a limit of nodes or memory. It usually takes
 * less memory than the parallel parser. */
static bool may_reach_limit(const hp_session *session, const hp_limits *limits, uint64_t memory_limit,
                            const hpar_document *document, hpar_status status) {
  if (status == HPAR_LIMIT_NODES || status == HPAR_LIMIT_MEMORY) return true;
  return status == HPAR_OK && ((limits->nodes && session->engine.builder.node_count > limits->nodes) ||
                               (memory_limit && hpar_document_memory(document) > memory_limit / 2));
}

/* An exact parse takes at most twice the bytes of an estimating one, 16 bytes for each byte of
 * input, and two slabs. Attributes take up to 8 bytes for each byte of their tag, decoded values
 * 3. The factor 2 is for the unused ends of slabs. */
static uint64_t exact_memory(uint64_t estimated, size_t length) {
  return 2 * (estimated + 16 * (uint64_t)length) + (UINT64_C(256) << 10);
}

/* Returns true if the parse may share attributes and defer values although its memory is limited:
 * a parse far below the limit has the same tree. A parse that may be near it is repeated. */
static bool may_estimate(const hp_session *session, const hp_config *config, uint64_t memory_limit, size_t length) {
  return memory_limit && session->result.driver == HP_DRIVER_SEQUENTIAL && !hp_config_runs_scripts(config) &&
         !config->inspection && exact_memory(0, length) < memory_limit;
}

/* Returns true if the exact parse of these bytes may end at the limit of memory. */
static bool may_exceed(const hpar_document *document, uint64_t memory_limit, size_t length, hpar_status status) {
  if (status != HPAR_OK && (!hp_is_limit(status) || status == HPAR_LIMIT_TIME)) return false;
  return status == HPAR_LIMIT_MEMORY || exact_memory(hpar_document_memory(document), length) >= memory_limit;
}

static hp_driver driver_for(const hp_session *session, hp_config *config, size_t length) {
  if (hp_session_chooses_parallel(session, config, length)) return HP_DRIVER_PARALLEL;
  return config->other ? HP_DRIVER_OTHER : HP_DRIVER_SEQUENTIAL;
}

/* Returns true if `limits` end a parse at a tree that only the sequential parser finds. */
static bool is_limited(const hp_limits *limits, uint64_t memory_limit) {
  return limits->depth || limits->attributes || limits->nodes || limits->deadline || memory_limit;
}

hpar_status hp_parse_whole(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document) {
  bool cut_off = config->limits.input && length > config->limits.input;
  if (cut_off) length = (size_t)config->limits.input;
  uint64_t memory_limit = hp_config_memory_limit(config, length);
  hp_request request = {.document = document,
                        .limits = hp_config_limits(config, length, begin),
                        .scripting = config->scripting,
                        .source_offsets = config->source_offsets,
                        .decodes_values = config->decodes_values,
                        .max_errors = config->max_errors};
  hp_result *result = &session->result;
  *result = (hp_result){.driver = driver_for(session, config, length)};
#if HPAR_PARALLEL
  /* The wake-up takes longer than all steps before the threads' first work. */
  if (result->driver == HP_DRIVER_PARALLEL && config->parallel.executor.kind == HPAR_EXECUTOR_THREADS)
    hp_session_wake(session, config);
  hp_session_begin_waits(session, config, length);
#endif
  const hp_sniffed first = hp_sniff(bytes, length, config->encoding, !config->fragment);
  hp_sniffed sniffed = first;
  uint64_t decode_ns = 0;
  hpar_status status;
  /* A second round follows a meta element beyond the prescan that declares another encoding, and a
   * text that is not valid. */
  if (config->resources.callback) hp_session_find_resources(session, config, NULL, &request);
  hp_session_run_scripts(session, config, &request);
#if HPAR_PARALLEL
  choose_validation(session, config, &sniffed, &request.limits);
#endif
  bool estimates = may_estimate(session, config, memory_limit, length);
  for (bool again = true, ends_earlier; again;) {
    ends_earlier = false;
    hp_session_restart_resources(session, &request);
    uint64_t decoding = hp_now();
    request.trace = hp_begin_trace(session, config, decoding);
    status = hp_document_open(document, config->by_jemalloc, length);
    if (status == HPAR_OK) status = open_input(session, config, bytes, length, &sniffed, document);
    hp_limit_memory(document, memory_limit, estimates);
    uint64_t parsing = hp_now();
    decode_ns += parsing - decoding;
    if (status != HPAR_OK) break;
    if (request.trace)
      request.trace->event(request.trace, HP_EVENT_DECODE, 0, UINT32_MAX, decoding, parsing, 0, document->input.length);
    request.text = document->input.bytes;
    request.length = document->input.length;
    request.tentative = sniffed.certain || config->fragment ? NULL : sniffed.encoding;
    if (result->driver == HP_DRIVER_OTHER && is_limited(&request.limits, memory_limit))
      result->driver = HP_DRIVER_SEQUENTIAL;
    again = run_driver(session, config, &request, &status) == HP_OUTCOME_RESTART;
#if HPAR_PARALLEL
    config->parallel.validates = false; /* in a second round */
#endif
    const hp_encoding *declared = session->engine.builder.encoding.declared;
    if (declared) sniffed = (hp_sniffed){declared, HP_ENCODING_FROM_LATE_META, true};
    /* Scripts run once: a limit that a script returns does not repeat the parse. */
    if (!again && result->driver == HP_DRIVER_PARALLEL && !hp_config_runs_scripts(config) &&
        may_reach_limit(session, &request.limits, memory_limit, document, status)) {
      result->driver = HP_DRIVER_SEQUENTIAL;
      again = ends_earlier = true;
    }
    if (!again && estimates && may_exceed(document, memory_limit, request.length, status)) {
      estimates = false;
      again = ends_earlier = true;
    }
    /* The meta element that declared the encoding may be after the limit. */
    if (ends_earlier) sniffed = first;
  }
  result->decode_ns = decode_ns;
  if (status == HPAR_OK || hp_is_limit(status)) {
    hpar_status closed = hp_close_request(session, config, &request, &sniffed, status != HPAR_OK);
    if (closed != HPAR_OK) status = closed;
  }
  if (status == HPAR_OK) return cut_off ? HPAR_LIMIT_INPUT : HPAR_OK;
  if (!hp_is_limit(status)) hp_document_reset(document);
  return status;
}

/* Binds the calling thread while it parses, if the options request that. */
static hpar_status parse_in_place(hp_session *session, hp_config *config, const char *bytes, size_t length,
                                  uint64_t begin, hpar_document *document) {
#if HPAR_PARALLEL
  if (config->bind) {
    hp_saved_affinity saved;
    bool refused = !hp_save_affinity(&saved);
    hpar_status status = hp_parse_whole(session, config, bytes, length, begin, document);
    if (!hp_restore_affinity(&saved)) refused = true;
    session->result.bound = true;
    session->result.binding_refused = refused || hp_session_refused_binding(session);
    return status;
  }
#endif
  return hp_parse_whole(session, config, bytes, length, begin, document);
}

hpar_status hp_parse_input(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document) {
  hpar_status status = parse_in_place(session, config, bytes, length, begin, document);
  if (status == HPAR_OK || hp_is_limit(status)) {
    if (config->copy_input) document->input.source = document->input.owned_source;
    session->result.total_ns = hp_now() - begin;
#if HPAR_PARALLEL
    hp_session_note_waits(session, config, length);
#endif
    status = hp_close_trace(session, config, document, status);
  }
  hp_document_trim(document);
  return status;
}
