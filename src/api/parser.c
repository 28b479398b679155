/* The parser's functions: argument checks. */

#include "session/parser.h"
#include "base/memory.h"
#include "rewrite/page_scan.h"
#include "session/sized.h"
#include "session/stats.h"
#include "session/tokens.h"
#include "session/whole.h"

#include <stddef.h>
#include <string.h>

hpar_status hpar_parser_create(hpar_parser **parser) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hpar_parser *made = hp_allocate(sizeof *made);
  *parser = made;
  if (!made) return HPAR_ERROR_MEMORY;
  memset(made, 0, offsetof(hpar_parser, session));
  hp_session_open(&made->session);
  return HPAR_OK;
}

void hpar_parser_destroy(hpar_parser *parser) {
  if (!parser) return;
  hp_feed_abandon(&parser->feed);
  hp_batch_close(&parser->batch);
  hp_session_close(&parser->session);
  hp_free(parser);
}

const char *hpar_parser_error(const hpar_parser *parser) {
  return parser ? parser->session.error.bytes : "parser is NULL";
}

/* Begins a call with the parser: ends a feed, and forgets the last error and result. */
static hp_call_error *begin_call(hpar_parser *parser) {
  hp_feed_abandon(&parser->feed);
  parser->session.error.bytes[0] = 0;
  parser->session.result = (hp_result){.driver = HP_DRIVER_SEQUENTIAL};
  return &parser->session.error;
}

static hpar_status no_bytes(hp_call_error *error, size_t length) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "bytes is NULL and length is %zu; accepted: a pointer, or length 0",
                    length);
}

static hpar_status no_document(hp_call_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "document is NULL");
}

static hpar_status check_stats(const hpar_stats *stats, hp_call_error *error) {
  return stats ? hp_check_size(stats, "hpar_stats", "HPAR_STATS_INIT", error) : HPAR_OK;
}

static void write_stats(const hpar_parser *parser, hpar_stats *stats) {
  if (!stats) return;
  hpar_stats full = {HPAR_STATS_INIT};
  hp_fill_stats(&parser->session, &full);
  hp_write_sized(stats, &full, sizeof full);
}

hpar_status hpar_parser_prepare(hpar_parser *parser, const hpar_options *options) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = begin_call(parser);
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK) status = hp_session_prepare(&parser->session, &config);
  return hp_explain_status(error, status);
}

static hpar_status parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                         uint64_t begin, hpar_document *document) {
  hp_call_error *error = &parser->session.error;
  if (!document) return no_document(error);
  if (!bytes && length) return no_bytes(error, length);
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK) status = hp_config_check_cuts(&config, length, error);
  if (status == HPAR_OK) return hp_parse_input(&parser->session, &config, bytes, length, begin, document);
  hp_document_reset(document);
  return status;
}

hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                       hpar_document *document, hpar_stats *stats) {
  uint64_t begin = hp_now();
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hpar_status status = check_stats(stats, begin_call(parser));
  if (status != HPAR_OK) return status;
  status = parse(parser, options, bytes, length, begin, document);
  write_stats(parser, stats);
  return hp_explain_status(&parser->session.error, status);
}

hpar_status hpar_scan_resources(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = begin_call(parser);
  if (!bytes && length) return no_bytes(error, length);
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK && !config.resources.callback)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.resources.callback is NULL; accepted: a function");
  if (status == HPAR_OK) status = hp_scan_page(&parser->session, &config, bytes, length);
  return hp_explain_status(error, status);
}

hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = begin_call(parser);
  if (!document) return no_document(error);
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK)
    status = hp_feed_begin(&parser->feed, &parser->session, &config, document);
  else
    hp_document_reset(document);
  return hp_explain_status(error, status);
}

static hpar_status no_feed(hp_call_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_parser_begin was not called, or failed");
}

static hpar_status lost_document(hpar_parser *parser) {
  if (parser->feed.failed == HPAR_ERROR_ARGUMENT)
    hp_explain(&parser->session.error, HPAR_ERROR_ARGUMENT, "the document was used or destroyed during the feed");
  return hp_explain_status(&parser->session.error, parser->feed.failed);
}

hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = &parser->session.error;
  if (!parser->feed.active) return no_feed(error);
  if (!bytes && length) return no_bytes(error, length);
  if (!parser->feed.document) return lost_document(parser);
  if (!length) return HPAR_OK;
  return hp_explain_status(error, hp_feed_add(&parser->feed, bytes, length));
}

hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  if (!parser->feed.active) return no_feed(&parser->session.error);
  if (check_stats(stats, &parser->session.error) != HPAR_OK) return HPAR_ERROR_ARGUMENT;
  bool lost = !parser->feed.document;
  hpar_status status = hp_feed_finish(&parser->feed);
  if (lost) return lost_document(parser);
  write_stats(parser, stats);
  return hp_explain_status(&parser->session.error, status);
}

hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                            hpar_batch_callback callback, void *context, hpar_many_stats *stats) {
  uint64_t begin = hp_now();
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = begin_call(parser);
  if (!inputs && count)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "inputs is NULL and count is %zu; accepted: an array, or count 0",
                      count);
  if (stats && hp_check_size(stats, "hpar_many_stats", "HPAR_MANY_STATS_INIT", error) != HPAR_OK)
    return HPAR_ERROR_ARGUMENT;
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status != HPAR_OK) return status;
  if (config.resources.callback)
    return hp_explain(
        error, HPAR_ERROR_ARGUMENT,
        "hpar_options.resources.callback is set; accepted: NULL, because hpar_parse_many has many documents");
  hpar_many_stats full = {HPAR_MANY_STATS_INIT};
  hp_batch_request request = {parser, &config, inputs, count, callback, context};
  status = hp_batch_parse(&parser->batch, &request, begin, &full);
  if (stats) hp_write_sized(stats, &full, sizeof full);
  return hp_explain_status(error, status);
}

hpar_status hpar_tokenize(hpar_parser *parser, const char *state, const char *last_start_tag, size_t max_errors,
                          const char *bytes, size_t length, hpar_token_callback callback, void *context) {
  if (!parser) return HPAR_ERROR_ARGUMENT;
  hp_call_error *error = begin_call(parser);
  if (!callback) return hp_explain(error, HPAR_ERROR_ARGUMENT, "callback is NULL");
  if (!bytes && length) return no_bytes(error, length);
  hpar_status status =
      hp_tokenize(&parser->session, state, last_start_tag, max_errors, bytes, length, callback, context);
  return hp_explain_status(error, status);
}

size_t hpar_parse_error_count(const hpar_parser *parser) { return parser ? parser->session.engine.errors.count : 0; }

hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index) {
  if (index >= hpar_parse_error_count(parser)) return (hpar_parse_error){"", 0};
  hp_error error = parser->session.engine.errors.items[index];
  return (hpar_parse_error){hp_error_text((hp_error_code)error.code), error.offset};
}
