/* Begin, feed, finish. What comes is decoded into the document's own buffer, so that nodes can point there, and parsed
 * as far as whole tokens have come. Where the encoding turns out to be another, all is begun again. */

#include "session/feed.h"

#include "session/parser.h"
#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

enum { WORTH_TIMING = 64 };

static void stop_threads(hpar_parser *parser) {
#if HPAR_PARALLEL
  hp_parallel_abandon(&parser->team);
#else
  (void)parser;
#endif
}

static void let_go(hpar_parser *parser) {
  hp_feed *feed = &parser->feed;
  if (feed->document) feed->document->abandon = NULL;
  feed->document = NULL;
  hp_stream_close(&feed->stream);
}

/* The document is about to be used or destroyed by somebody else. */
static void lose_document(void *context) {
  hpar_parser *parser = context;
  stop_threads(parser);
  let_go(parser);
  parser->feed.failed = HPAR_ERROR_ARGUMENT;
}

static hpar_status fail(hpar_parser *parser, hpar_status status) {
  hpar_document *document = parser->feed.document;
  stop_threads(parser);
  let_go(parser);
  hp_document_reset(document);
  parser->feed.failed = status;
  return status;
}

void hp_feed_abandon(hpar_parser *parser) {
  if (!parser->feed.active) return;
  if (parser->feed.document) fail(parser, HPAR_ERROR_ARGUMENT);
  parser->feed.active = false;
}

static void hold_document(hpar_parser *parser) {
  hpar_document *document = parser->feed.document;
  document->abandon = lose_document;
  document->feeder = parser;
}

static hp_feed_way first_way(const hpar_parser *parser, const hpar_options *o) {
  if (o->max_memory) return HP_FEED_AT_FINISH; /* tokens that come in pieces may take more */
  if (o->max_nodes) return HP_FEED_SEQUENTIAL;
  if (o->mode == HPAR_MODE_PIPELINED) return HP_FEED_AT_FINISH;
  if (o->executor != HPAR_EXECUTOR_THREADS && o->mode != HPAR_MODE_SEQUENTIAL) return HP_FEED_AT_FINISH;
  return hp_chooses_parallel(parser, o, HPAR_MAX_INPUT) ? HP_FEED_UNDECIDED : HP_FEED_SEQUENTIAL;
}

/* Returns whether the fragment's context is valid. Leaves the document empty: the input must be opened afterwards. */
static hpar_status check_context(hpar_parser *parser) {
  hp_engine *engine = &parser->engine;
  hp_feed *feed = &parser->feed;
  if (setjmp(engine->fail.frame)) return engine->fail.status;
  hp_open_request(parser, &feed->options, &feed->task);
  return hp_document_reset(feed->document);
}

hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document) {
  static const hpar_options defaults = HPAR_OPTIONS_DEFAULT;
  const hpar_options *o = options ? options : &defaults;
  if (!parser || !document) return HPAR_ERROR_ARGUMENT;
  hp_feed_abandon(parser);
  hpar_status status = hp_document_reset(document);
  if (status == HPAR_OK) status = hp_check_options(o);
  if (status == HPAR_OK) status = hp_document_reset_in(document, o->allocator == HPAR_ALLOCATOR_JEMALLOC);
  if (status != HPAR_OK) return status;
  hp_feed *feed = &parser->feed;
  *feed = (hp_feed){.options = *o, .document = document, .way = first_way(parser, o), .begin = hp_now()};
  hp_begin_stats(&feed->stats);
  feed->task = (hp_request){.document = document,
                            .more = true,
                            .scripting = o->scripting,
                            .source_offsets = o->source_offsets,
                            .max_errors = o->max_errors,
                            .limits = hp_limits_of(o, feed->begin)};
  if (o->fragment) status = check_context(parser);
  bool offsets = o->source_offsets || o->max_errors || o->cut_count || o->inspect;
  if (status == HPAR_OK)
    status = hp_stream_open(&feed->stream, &document->input, &document->text, &document->source, hp_encoding_hint(o),
                            !o->fragment, offsets);
  feed->task.text = document->text.base;
  if (status != HPAR_OK) return fail(parser, status);
  hold_document(parser);
  feed->active = true;
  return HPAR_OK;
}

static const hp_encoding *encoding_of(const hp_stream *stream) {
  return stream->sniffed.encoding ? stream->sniffed.encoding : &hp_utf8;
}

static void run_on(hp_engine *engine) {
  hp_token token;
  uint64_t tokens = 0;
  hp_tokenizer *t = &engine->tokenizer;
  if (hp_engine_is_limited(engine))
    while (hp_next_token(t, &token) != HP_TOKEN_NEED_MORE) hp_engine_take_checked(engine, &token);
  for (; hp_next_token(t, &token) != HP_TOKEN_NEED_MORE; tokens++) hp_exact_token(&engine->builder, &token);
  engine->retry = hp_retry(t);
  engine->tokens += tokens;
}

/* Parses what has come. Not to be inlined where setjmp is. */
static __attribute__((noinline)) void parse_on(hpar_parser *parser, bool last) {
  hp_feed *feed = &parser->feed;
  hp_engine *engine = &parser->engine;
  hp_stream *stream = &feed->stream;
  size_t come = stream->text->length;
  if (!feed->open) {
    feed->task.record = hp_begin_record(parser, &feed->options, feed->begin);
    feed->task.tentative = stream->sniffed.certain || feed->options.fragment ? NULL : encoding_of(stream);
    hp_limit_memory(feed->document, &feed->options);
    hp_open_request(parser, &feed->options, &feed->task);
    feed->open = true;
  }
#if HPAR_PARALLEL
  /* Between feeds threads have the time to wake. */
  enum { ENOUGH = 128 << 10 };
  if (feed->way == HP_FEED_UNDECIDED &&
      hp_chooses_parallel(parser, &feed->options, come < ENOUGH ? come : HPAR_MAX_INPUT)) {
    feed->way = HP_FEED_PARALLEL;
    hp_parallel_begin(&parser->team, engine, &feed->task, &feed->options, &feed->stats);
  }
  if (feed->way == HP_FEED_PARALLEL) {
    if (last)
      hp_parallel_finish(&parser->team, come);
    else
      hp_parallel_feed(&parser->team, come, hp_stream_mapped(stream));
    return;
  }
#endif
  engine->tokenizer.end = feed->task.text + come;
  if (last) {
    engine->tokenizer.last = true;
    hp_run_to_end(engine);
  } else if (feed->way == HP_FEED_SEQUENTIAL && come >= engine->retry) {
    run_on(engine);
  }
}

static hpar_status parse_some(hpar_parser *parser, bool last) {
  hp_engine *engine = &parser->engine;
  if (setjmp(engine->fail.frame)) return engine->fail.status;
  parse_on(parser, last);
  return HPAR_OK;
}

/* What a meta element said, or an end of doubt. */
static void heed_meta(hpar_parser *parser) {
  hp_stream *stream = &parser->feed.stream;
  const hp_builder *b = &parser->engine.builder;
  if (!parser->feed.open || stream->sniffed.certain || b->tentative || !parser->feed.task.tentative) return;
  bool undeclared = !stream->sniffed.encoding;
  hp_stream_settle(stream);
  if (b->declared) stream->sniffed.encoding = b->declared;
  if (b->declared || undeclared) stream->sniffed.source = HP_ENCODING_FROM_LATE_META;
  if (undeclared && !b->declared) parser->feed.agreed = true;
}

static hpar_status begin_again(hpar_parser *parser, hp_sniffed sniffed, bool last) {
  hp_feed *feed = &parser->feed;
  stop_threads(parser);
  hpar_status status = hp_stream_recall(&feed->stream);
  feed->document->abandon = NULL;
  if (status == HPAR_OK) status = hp_document_reset(feed->document);
  hold_document(parser);
  hp_begin_stats(&feed->stats);
  feed->way = first_way(parser, &feed->options);
  feed->open = false;
  return status == HPAR_OK ? hp_stream_again(&feed->stream, sniffed, last) : status;
}

/* Takes the bytes in and parses what has come, in at most three encodings. */
static hpar_status go_on(hpar_parser *parser, const char *bytes, size_t length, bool last) {
  hp_feed *feed = &parser->feed;
  hp_stream *stream = &feed->stream;
  bool timed = last || length >= WORTH_TIMING;
  uint64_t begin = timed ? hp_now() : 0;
  hpar_status status = hp_stream_add(stream, bytes, length, last);
  for (;;) {
    if (timed) feed->decode_ns += hp_now() - begin;
    if (status == HPAR_OK && stream->begun) status = parse_some(parser, last);
    if (status < HP_ANOTHER_ENCODING) break;
    timed = true;
    begin = hp_now();
    if (status == HP_STREAM_INVALID) {
      hp_sniffed fallback = {&hp_windows1252, HP_ENCODING_FROM_FALLBACK, false};
      status = begin_again(parser, fallback, last);
    } else {
      hp_sniffed declared = {parser->engine.builder.declared, HP_ENCODING_FROM_LATE_META, true};
      status = begin_again(parser, declared, last);
    }
  }
  if (status == HPAR_OK) heed_meta(parser);
  return status;
}

hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length) {
  if (!parser || !parser->feed.active || (!bytes && length)) return HPAR_ERROR_ARGUMENT;
  hp_feed *feed = &parser->feed;
  if (!feed->document) return feed->failed;
  if (!length) return HPAR_OK;
  if (feed->limit) return feed->limit;
  hpar_status status = HPAR_OK;
  uint64_t most = feed->options.max_input;
  if (most && length > most - feed->taken) {
    length = (size_t)(most - feed->taken);
    feed->limit = HPAR_LIMIT_INPUT;
  }
  feed->taken += length;
  if (feed->way != HP_FEED_AT_FINISH)
    status = go_on(parser, bytes, length, false);
  else if (length > HPAR_MAX_INPUT - feed->document->source.length)
    status = HPAR_ERROR_TOO_LARGE;
  else
    status = hp_buffer_add(&feed->document->source, bytes, length);
  if (hp_is_limit(status)) {
    stop_threads(parser);
    return feed->limit = status;
  }
  return status == HPAR_OK ? feed->limit : fail(parser, status);
}

static hpar_status finish(hpar_parser *parser) {
  hp_feed *feed = &parser->feed;
  hp_stream *stream = &feed->stream;
  hpar_status status = feed->limit ? feed->limit : hp_check_cuts(&feed->options, stream->total);
  if (status == HPAR_OK || status == HPAR_LIMIT_INPUT) {
    status = go_on(parser, NULL, 0, true);
    if (hp_is_limit(status)) stop_threads(parser);
    if (status == HPAR_OK) status = feed->limit;
  }
  if (status != HPAR_OK && !hp_is_limit(status)) return status;
  if (!stream->sniffed.encoding || (feed->agreed && !stream->replaced))
    stream->sniffed = (hp_sniffed){&hp_utf8, HP_ENCODING_FROM_VALID_UTF8, true};
  hp_request task = feed->task;
  task.length = stream->text->length;
  feed->stats.ns.decode = feed->decode_ns;
  hpar_status closed = hp_close_request(parser, &feed->options, &task, &stream->sniffed, &feed->stats);
  return closed == HPAR_OK ? status : closed;
}

hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats) {
  if (!parser || !parser->feed.active) return HPAR_ERROR_ARGUMENT;
  hp_feed *feed = &parser->feed;
  feed->active = false;
  if (!feed->document) return feed->failed;
  uint64_t end = hp_now();
  hpar_status status;
  if (feed->way == HP_FEED_AT_FINISH) {
    feed->document->abandon = NULL;
    status = hp_parse_whole(parser, &feed->options, feed->document->source.base, feed->document->source.length,
                            feed->begin, feed->document, &feed->stats);
    if (status == HPAR_OK) status = feed->limit;
  } else {
    status = finish(parser);
  }
  if (status != HPAR_OK && !hp_is_limit(status)) return fail(parser, status);
  hpar_document *document = feed->document;
  let_go(parser);
  hpar_stats *own = &feed->stats;
  own->ns.input = end - feed->begin;
  own->ns.total = hp_now() - feed->begin - own->ns.oracle;
#if HPAR_PARALLEL
  if (own->threads > 1 && feed->options.bind == HPAR_BIND_CORES)
    hp_note_places(own, atomic_load(&parser->team.job.not_bound));
#endif
  if (own->threads == 1) own->ns.parse_per_worker[0] = own->ns.total;
  if (stats) *stats = *own;
  return hp_close_record(parser, &feed->options, document, status);
}
