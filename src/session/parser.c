#include "session/parser.h"

/*** whole input ***/

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

/* Returns whether the parse may go on without a straggler in a slice, with the sequential
 * parser. With a copy, the caller may free the bytes. A record needs the threads, and so do options
 * that state their chunks. */
static bool may_leave_slices(const hp_session *session, const hp_config *config) {
  const hp_parallel_config *p = &config->parallel;
  if (session->result.driver != HP_DRIVER_PARALLEL || config->copy_input || config->inspection) return false;
  if (config->mode == HPAR_MODE_AUTO) return true;
  if (hp_plan_uses_caller(&p->plan)) return false;
  return !p->chunk_size && !p->chunks && !p->cuts && !p->pairs && !config->bind;
}

/* Decodes the bytes on the threads of the coming parse. If there is a straggler, the sequential
 * parser takes over. */
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
  bool leaves_slices = may_leave_slices(session, config);
  hp_team_let_leave_slices(&session->team, leaves_slices);
  hpar_status status = hp_input_decode_sniffed(&document->input, bytes, length, sniffed, &slices);
  /* The pool is not free while it has a straggler. */
  if (leaves_slices && hp_team_lend_document(&session->team, document)) {
    session->result.driver = HP_DRIVER_SEQUENTIAL;
    session->result.slice_given_up = true;
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

static hpar_status parse_by_driver(void *argument) {
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
  hp_outcome outcome = hp_engine_try(&session->engine, parse_by_driver, &whole, status);
  if (outcome != HP_OUTCOME_DONE) hp_session_stop(session);
  return outcome;
}

/* Returns true if the sequential parser may reach a limit of nodes or memory. It usually takes
 * less memory than the parallel parser. */
static bool may_reach_limit(const hp_session *session, const hp_limits *limits, uint64_t memory_limit,
                            const hpar_document *document, hpar_status status) {
  if (status == HPAR_LIMIT_NODES || status == HPAR_LIMIT_MEMORY) return true;
  return status == HPAR_OK && ((limits->nodes && hp_node_count(&session->engine.builder) > limits->nodes) ||
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

/* Parses `length` bytes into `document`, and fills session->result. `begin` is the time of the
 * call. The bytes must stay valid as long as the document unless the configuration requests a
 * copy. */
static hpar_status parse_whole(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                               hpar_document *document) {
  bool cut_off = config->limits.input && length > config->limits.input;
  if (cut_off) length = (size_t)config->limits.input;
  uint64_t memory_limit = hp_config_memory_limit(config, length);
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
  hp_request request = hp_session_request(session, config, document, length, begin, NULL);
  hpar_status status;
#if HPAR_PARALLEL
  choose_validation(session, config, &sniffed, &request.limits);
#endif
  bool estimates = may_estimate(session, config, memory_limit, length);
  /* A second round follows a meta element beyond the prescan that declares another encoding, and a
   * text that is not valid. */
  for (bool again = true, ends_earlier; again;) {
    ends_earlier = false;
    hp_session_restart_resources(session, &request);
    uint64_t decoding = hp_now();
    request.trace = hp_begin_trace(session, config, decoding);
    status = hp_document_open(document, config->by_jemalloc, length);
    if (status == HPAR_OK) status = open_input(session, config, bytes, length, &sniffed, document);
    hp_limit_memory(document, memory_limit, estimates);
    uint64_t parsing = hp_now();
    result->decode_ns += parsing - decoding;
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
    const hp_encoding *declared = hp_changed_encoding(&session->engine.builder);
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
    hpar_status status = parse_whole(session, config, bytes, length, begin, document);
    if (!hp_restore_affinity(&saved)) refused = true;
    session->result.bound = true;
    session->result.binding_refused = refused || hp_session_refused_binding(session);
    return status;
  }
#endif
  return parse_whole(session, config, bytes, length, begin, document);
}

hpar_status hp_parse_input(hp_session *session, hp_config *config, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document) {
  hpar_status status = parse_in_place(session, config, bytes, length, begin, document);
  if (status == HPAR_OK || hp_is_limit(status)) {
    if (config->copy_input) hp_input_use_copy(&document->input);
    session->result.total_ns = hp_now() - begin;
#if HPAR_PARALLEL
    hp_session_note_waits(session, config, length);
#endif
    status = hp_close_trace(session, config, document, status);
  }
  hp_document_trim(document);
  return status;
}

/*** arriving input ***/

enum { MIN_TIMED_BYTES = 64 }; /* shorter feeds are not timed */

/* Requires: no thread works for the feed. */
static void release_document(hp_feed *feed) {
  if (feed->document) hp_document_set_feeder(feed->document, NULL, NULL);
  if (feed->document && feed->config.resources.callback) hp_published_input_close(&feed->published);
  feed->document = NULL;
  hp_stream_close(&feed->stream);
}

/* Called by the document before the caller uses or destroys it in another way. */
static void lose_document(void *context) {
  hp_feed *feed = context;
  hp_session_stop(feed->session);
  release_document(feed);
  feed->failed = HPAR_ERROR_ARGUMENT;
}

static hpar_status fail(hp_feed *feed, hpar_status status) {
  hpar_document *document = feed->document;
  hp_session_stop(feed->session);
  release_document(feed);
  hp_document_empty(document);
  feed->failed = status;
  return status;
}

void hp_feed_abandon(hp_feed *feed) {
  if (!feed->active) return;
  /* A callback of a call that reads the tree may end the feed. The tree then stays. */
  if (feed->document && hp_is_in_use(&feed->document->use))
    lose_document(feed);
  else if (feed->document)
    fail(feed, HPAR_ERROR_ARGUMENT);
  feed->active = false;
}

static void hold_document(hp_feed *feed) { hp_document_set_feeder(feed->document, lose_document, feed); }

static hp_feed_way first_way(hp_feed *feed) {
  hp_config *config = &feed->config;
  if (hp_config_needs_length(config)) return HP_FEED_AT_FINISH;
  if (config->limits.nodes) return HP_FEED_SEQUENTIAL;
  /* The other ways would delay scripts until more text has arrived. */
  bool in_parallel = config->mode == HPAR_MODE_PARALLEL && !config->fed_at_finish;
  if (hp_config_runs_scripts(config) && !in_parallel) return HP_FEED_SEQUENTIAL;
  if (config->fed_at_finish) return HP_FEED_AT_FINISH;
  return hp_session_chooses_parallel(feed->session, config, HPAR_MAX_INPUT) ? HP_FEED_UNDECIDED : HP_FEED_SEQUENTIAL;
}

hpar_status hp_feed_begin(hp_feed *feed, hp_session *session, const hp_config *config, hpar_document *document) {
  hpar_status status = hp_document_open(document, config->by_jemalloc, HPAR_MAX_INPUT);
  if (status != HPAR_OK) {
    hp_document_empty(document);
    return status;
  }
  *feed = (hp_feed){.session = session, .config = *config, .document = document, .begin = hp_now()};
  config = &feed->config;
  session->result = (hp_result){.driver = HP_DRIVER_SEQUENTIAL};
  feed->way = first_way(feed);
  bool reports = config->resources.callback;
  if (reports) hp_published_input_open(&feed->published);
  feed->request = hp_session_request(session, &feed->config, document, 0, feed->begin, &feed->published);
  feed->request.more = true;
  bool offsets = reports || config->source_offsets || config->max_errors || config->cut_count || config->inspection;
  status = hp_stream_open(&feed->stream, &document->input, &document->text, &document->source, config->encoding,
                          !config->fragment, offsets);
  hp_stream_share(&feed->stream, reports);
  feed->request.text = document->text.base;
  if (status != HPAR_OK) return fail(feed, status);
  hold_document(feed);
  feed->active = true;
  return HPAR_OK;
}

#if HPAR_PARALLEL
/* Passes the decoded text to the parallel parser. Returns false if it is not the driver yet. */
static bool parse_in_parallel(hp_feed *feed, size_t available, bool last) {
  /* The threads wake between feeds. */
  enum { MIN_BYTES = 128 << 10 };
  hp_session *session = feed->session;
  size_t expected = available < MIN_BYTES ? available : HPAR_MAX_INPUT;
  if (feed->way == HP_FEED_UNDECIDED && hp_session_chooses_parallel(session, &feed->config, expected)) {
    feed->way = HP_FEED_PARALLEL;
    session->result.driver = HP_DRIVER_PARALLEL;
    hp_parallel_begin(&session->team, &session->engine, &feed->request, &feed->config.parallel,
                      &session->parallel_counters);
  }
  if (feed->way != HP_FEED_PARALLEL) return false;
  if (feed->config.resources.callback) hp_publish_input(&feed->published, &feed->document->input);
  if (last)
    hp_parallel_finish(&session->team, available);
  else
    hp_parallel_feed(&session->team, available, hp_stream_mapped(&feed->stream));
  return true;
}
#else
static bool parse_in_parallel(hp_feed *feed, size_t available, bool last) {
  (void)feed, (void)available, (void)last;
  return false;
}
#endif

/* Parses the text that has arrived. */
static void parse_on(hp_feed *feed, bool last) {
  hp_session *session = feed->session;
  hp_stream *stream = &feed->stream;
  size_t available = stream->text->length;
  if (!feed->open) {
    feed->request.trace = hp_begin_trace(session, &feed->config, feed->begin);
    feed->request.tentative =
        hp_stream_sniffed(stream)->certain || feed->config.fragment ? NULL : hp_stream_encoding(stream);
    hp_open_request(session, &feed->config, &feed->request);
    feed->open = true;
  }
  if (parse_in_parallel(feed, available, last)) return;
  hp_tokenizer_extend(&session->engine.tokenizer, available, last);
  if (last)
    hp_finish_sequentially(session, &feed->config);
  else if (feed->way == HP_FEED_SEQUENTIAL)
    hp_continue_sequentially(session, &feed->config);
}

static hpar_status parse_part(void *feed) {
  parse_on(feed, false);
  return HPAR_OK;
}

static hpar_status parse_last_part(void *feed) {
  parse_on(feed, true);
  return HPAR_OK;
}

static hp_outcome parse_some(hp_feed *feed, bool last, hpar_status *status) {
  return hp_engine_try(&feed->session->engine, last ? parse_last_part : parse_part, feed, status);
}

/* Notes the encoding that a meta element declares, or that the encoding is final. */
static void note_meta(hp_feed *feed) {
  hp_stream *stream = &feed->stream;
  const hp_builder *b = &feed->session->engine.builder;
  if (!feed->open || hp_stream_sniffed(stream)->certain || b->encoding.tentative || !feed->request.tentative) return;
  if (hp_stream_keep_encoding(stream, hp_changed_encoding(b))) feed->agreed = true;
}

static hpar_status begin_again(hp_feed *feed, hp_sniffed sniffed, bool last) {
  hp_session_stop(feed->session);
  hp_session_restart_resources(feed->session, &feed->request);
  hpar_status status = hp_stream_recall(&feed->stream);
  hp_document_set_feeder(feed->document, NULL, NULL);
  if (status == HPAR_OK) hp_document_reset(feed->document);
  hold_document(feed);
  feed->session->result = (hp_result){.driver = HP_DRIVER_SEQUENTIAL};
  feed->way = first_way(feed);
  feed->open = false;
  return status == HPAR_OK ? hp_stream_again(&feed->stream, sniffed, last) : status;
}

/* Returns true if the text may be parsed. Scripts wait until the encoding of the page is known. */
static bool may_parse(const hp_feed *feed, bool last) {
  const hp_stream *stream = &feed->stream;
  if (!hp_stream_is_readable(stream)) return false;
  return last || !hp_config_runs_scripts(&feed->config) || hp_stream_sniffed(stream)->encoding;
}

/* Parses the decoded text, in at most three encodings. `begin`: when the decoding began, if it is
 * timed. */
static hpar_status parse_decoded(hp_feed *feed, bool timed, uint64_t begin, bool last) {
  hp_stream *stream = &feed->stream;
  hpar_status status = HPAR_OK;
  for (;;) {
    if (timed) feed->decode_ns += hp_now() - begin;
    hp_outcome outcome = HP_OUTCOME_DONE;
    if (status == HPAR_OK && may_parse(feed, last)) outcome = parse_some(feed, last, &status);
    if (outcome != HP_OUTCOME_RESTART && (status != HPAR_OK || !hp_stream_needs_fallback(stream))) break;
    timed = true;
    begin = hp_now();
    hp_sniffed next = {&hp_windows1252, HP_ENCODING_FROM_FALLBACK, false};
    if (!hp_stream_needs_fallback(stream))
      next = (hp_sniffed){hp_changed_encoding(&feed->session->engine.builder), HP_ENCODING_FROM_LATE_META, true};
    status = begin_again(feed, next, last);
  }
  if (status == HPAR_OK) note_meta(feed);
  return status;
}

/* Takes the bytes and parses the text. */
static hpar_status go_on(hp_feed *feed, const char *bytes, size_t length, bool last) {
  bool timed = last || length >= MIN_TIMED_BYTES;
  uint64_t begin = timed ? hp_now() : 0;
  hpar_status status = hp_stream_add(&feed->stream, bytes, length, last);
  return status == HPAR_OK ? parse_decoded(feed, timed, begin, last) : status;
}

/* Takes bytes after the limit that has ended the parse. Bytes without a declared encoding are UTF-8
 * only if all of them are valid, as in parse_whole. */
static hpar_status look_past_limit(hp_feed *feed, const char *bytes, size_t length, bool last) {
  hp_stream *stream = &feed->stream;
  bool is_undeclared = !hp_stream_sniffed(stream)->encoding || feed->agreed;
  if (!is_undeclared || hp_stream_has_replaced(stream) || hp_stream_check(stream, bytes, length, last))
    return feed->limit;
  hp_stream_note_invalid(stream, feed->agreed);
  hpar_status status = hp_stream_needs_fallback(stream) ? parse_decoded(feed, true, hp_now(), false) : HPAR_OK;
  return status == HPAR_OK ? feed->limit : status;
}

static hpar_status fail_after_fork(hp_feed *feed) {
  hp_explain(&feed->session->error, HPAR_ERROR_ARGUMENT, "the process has forked during the feed");
  return fail(feed, HPAR_ERROR_ARGUMENT);
}

hpar_status hp_feed_add(hp_feed *feed, const char *bytes, size_t length) {
  if (!feed->document) return feed->failed;
  if (hp_session_is_lost(feed->session)) return fail_after_fork(feed);
  if (feed->limit && !feed->ended) return feed->limit;
  hpar_status status = HPAR_OK;
  if (!feed->taken && feed->way == HP_FEED_UNDECIDED) hp_session_wake(feed->session, &feed->config);
  uint64_t most = feed->config.limits.input;
  if (most && length > most - feed->taken) {
    length = (size_t)(most - feed->taken);
    if (!feed->ended) feed->limit = HPAR_LIMIT_INPUT;
  }
  feed->taken += length;
  if (feed->ended)
    status = look_past_limit(feed, bytes, length, false);
  else if (feed->way != HP_FEED_AT_FINISH)
    status = go_on(feed, bytes, length, false);
  else if (length > HPAR_MAX_INPUT - feed->document->source.length)
    status = HPAR_ERROR_TOO_LARGE;
  else
    status = hp_buffer_add(&feed->document->source, bytes, length);
  if (hp_is_limit(status)) {
    hp_session_stop(feed->session);
    feed->ended = true;
    return feed->limit = status;
  }
  return status == HPAR_OK ? feed->limit : fail(feed, status);
}

/* Checks the forced cuts, unless a limit ended the input before its length was known. */
static hpar_status check_cuts(hp_feed *feed, uint64_t length) {
  return feed->limit ? HPAR_OK : hp_config_check_cuts(&feed->config, length, &feed->session->error);
}

/* Parses the rest of the input after the last feed. */
static hpar_status finish(hp_feed *feed) {
  hp_session *session = feed->session;
  hp_stream *stream = &feed->stream;
  hpar_status status = feed->limit ? feed->limit : check_cuts(feed, stream->total);
  bool limited = feed->ended; /* by a limit of the parse or of its scripts */
  if (feed->ended) {
    status = look_past_limit(feed, NULL, 0, true);
    hpar_status mapped = hp_stream_end_map(stream);
    if (mapped != HPAR_OK) status = mapped;
  } else if (status == HPAR_OK || status == HPAR_LIMIT_INPUT) {
    status = go_on(feed, NULL, 0, true);
    limited = hp_is_limit(status);
    if (limited) hp_session_stop(session);
    if (status == HPAR_OK) status = feed->limit;
  }
  if (status != HPAR_OK && !hp_is_limit(status)) return status;
  if (!hp_stream_sniffed(stream)->encoding || (feed->agreed && !hp_stream_has_replaced(stream)))
    hp_stream_set_utf8(stream);
  hp_request request = feed->request;
  request.length = stream->text->length;
  session->result.decode_ns = feed->decode_ns;
  hpar_status closed = hp_close_request(session, &feed->config, &request, hp_stream_sniffed(stream), limited);
  return closed == HPAR_OK ? status : closed;
}

/* Parses all bytes that the feeds have collected. */
static hpar_status parse_collected(hp_feed *feed) {
  const hp_buffer *source = &feed->document->source;
  hpar_status status = check_cuts(feed, source->length);
  if (status != HPAR_OK) return status;
  hp_document_set_feeder(feed->document, NULL, NULL);
  status = parse_whole(feed->session, &feed->config, source->base, source->length, feed->begin, feed->document);
  return status == HPAR_OK ? feed->limit : status;
}

hpar_status hp_feed_finish(hp_feed *feed) {
  hp_session *session = feed->session;
  feed->active = false;
  if (!feed->document) return feed->failed;
  if (hp_session_is_lost(feed->session)) return fail_after_fork(feed);
  uint64_t end = hp_now();
  hpar_status status = feed->way == HP_FEED_AT_FINISH ? parse_collected(feed) : finish(feed);
  if (status != HPAR_OK && !hp_is_limit(status)) return fail(feed, status);
  hpar_document *document = feed->document;
  release_document(feed);
  hp_result *result = &session->result;
  result->input_ns = end - feed->begin;
  result->total_ns = hp_now() - feed->begin;
#if HPAR_PARALLEL
  result->bound = feed->config.bind && result->driver != HP_DRIVER_SEQUENTIAL;
  result->binding_refused = hp_session_refused_binding(session);
#endif
  status = hp_close_trace(session, &feed->config, document, status);
  /* Nothing converts offsets any more, so that the document need not keep the bytes. */
  if (!feed->config.source_offsets) document->input.source = NULL;
  hp_document_trim(document);
  return status;
}
