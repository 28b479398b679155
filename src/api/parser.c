/* The parser's functions: argument checks. */

#include "session/parser.h"
#include "base/call.h"
#include "base/memory.h"
#include "base/process.h"
#include "rewrite/resource_scan.h"
#include "script/scripts.h"
#include "session/session.h"
#include "text/encoding/encoding.h"

#include <hpar/parse.h>

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

static void free_parser(hpar_parser *parser) {
  hp_feed_abandon(&parser->feed);
  hp_batch_close(&parser->batch);
  hp_session_close(&parser->session);
  hp_free(parser);
}

void hpar_parser_destroy(hpar_parser *parser) {
  if (parser && hp_destroy_use(&parser->use)) free_parser(parser);
}

const hpar_error *hpar_parser_error(const hpar_parser *parser) {
  static const hpar_error missing = {HPAR_ERROR_ARGUMENT, 0, SIZE_MAX, "parser is NULL"};
  return parser ? &parser->session.error : &missing;
}

/* Begins a call that continues the parser's feed. Returns NULL if the parser is missing, or if the
 * call comes from a callback of another one. */
static hpar_error *continue_feed(hpar_parser *parser) {
  return parser && hp_begin_sole_use(&parser->use) ? &parser->session.error : NULL;
}

/* Begins any other call: ends a feed, and forgets the last error and result. */
hpar_error *hp_begin_parser_call(hpar_parser *parser) {
  hpar_error *error = continue_feed(parser);
  if (!error) return NULL;
  hp_feed_abandon(&parser->feed);
  error->text[0] = 0;
  parser->session.result = (hp_result){.driver = HP_DRIVER_SEQUENTIAL};
  return error;
}

/* Ends a call. A callback may have destroyed the parser: then it is freed. */
hpar_status hp_end_parser_call(hpar_parser *parser, hpar_status status) {
  hp_explain_status(&parser->session.error, status);
  if (hp_end_use(&parser->use)) free_parser(parser);
  return status;
}

hpar_status hp_explain_no_bytes(hpar_error *error, size_t length) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "bytes is NULL and length is %zu; accepted: a pointer, or length 0",
                    length);
}

static hpar_status no_document(hpar_error *error) { return hp_explain(error, HPAR_ERROR_ARGUMENT, "document is NULL"); }

static hpar_status check_stats(void *stats, hpar_error *error) {
  return stats ? hp_check_size(stats, "hpar_stats", "HPAR_STATS_INIT", error) : HPAR_OK;
}

static void write_stats(const hp_session *session, void *stats) {
  if (!stats) return;
  hpar_stats full;
  hp_fill_stats(session, &full);
  hp_write_sized(stats, &full, sizeof full);
}

static hpar_status busy_document(hpar_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "the document is in use by another call");
}

hpar_status hpar_parser_prepare(hpar_parser *parser, const hpar_options *options) {
  hpar_error *error = hp_begin_parser_call(parser);
  if (!error) return HPAR_ERROR_ARGUMENT;
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK) status = hp_session_prepare(&parser->session, &config);
  return hp_end_parser_call(parser, status);
}

static hpar_status parse_into(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                              uint64_t begin, hpar_document *document) {
  hpar_error *error = &parser->session.error;
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK && !bytes && length) status = hp_explain_no_bytes(error, length);
  if (status == HPAR_OK) status = hp_config_check_cuts(&config, length, error);
  if (status == HPAR_OK) return hp_parse_input(&parser->session, &config, bytes, length, begin, document);
  hp_document_empty(document);
  return status;
}

static hpar_status parse_bytes(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                               uint64_t begin, hpar_document *document) {
  if (!hp_begin_sole_use(&document->use)) return busy_document(&parser->session.error);
  hpar_status status = parse_into(parser, options, bytes, length, begin, document);
  hp_document_end_use(document);
  return status;
}

hpar_status hp_parse_call(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                          hpar_document *document, hp_stats_target target) {
  uint64_t begin = hp_now();
  hpar_error *error = hp_begin_parser_call(parser);
  if (!error) return HPAR_ERROR_ARGUMENT;
  hpar_status status = target.check(target.stats, error);
  if (status == HPAR_OK && !document) status = no_document(error);
  if (status != HPAR_OK) return hp_end_parser_call(parser, status);
  status = parse_bytes(parser, options, bytes, length, begin, document);
  target.write(&parser->session, target.stats);
  return hp_end_parser_call(parser, status);
}

hpar_status hp_parse_call_inside(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                 hpar_document *document) {
  uint64_t begin = hp_now();
  hp_begin_parser_call(parser);
  return hp_end_parser_call(parser, parse_into(parser, options, bytes, length, begin, document));
}

hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                       hpar_document *document, hpar_stats *stats) {
  return hp_parse_call(parser, options, bytes, length, document, (hp_stats_target){stats, check_stats, write_stats});
}

static hpar_status scan_resources(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length) {
  hpar_error *error = &parser->session.error;
  if (!bytes && length) return hp_explain_no_bytes(error, length);
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status == HPAR_OK && !config.resources.callback)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_options.resources.callback is NULL; accepted: a function");
  return status == HPAR_OK ? hp_scan_page(&parser->session, &config, bytes, length) : status;
}

hpar_status hpar_scan_resources(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length) {
  if (!hp_begin_parser_call(parser)) return HPAR_ERROR_ARGUMENT;
  return hp_end_parser_call(parser, scan_resources(parser, options, bytes, length));
}

static hpar_status begin_feed(hpar_parser *parser, const hpar_options *options, hpar_document *document) {
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, &parser->session.error);
  if (status == HPAR_OK) return hp_feed_begin(&parser->feed, &parser->session, &config, document);
  hp_document_empty(document);
  return status;
}

hpar_status hpar_parser_begin(hpar_parser *parser, const hpar_options *options, hpar_document *document) {
  hpar_error *error = hp_begin_parser_call(parser);
  if (!error) return HPAR_ERROR_ARGUMENT;
  if (!document) return hp_end_parser_call(parser, no_document(error));
  if (!hp_begin_sole_use(&document->use)) return hp_end_parser_call(parser, busy_document(error));
  hpar_status status = begin_feed(parser, options, document);
  hp_document_end_use(document);
  return hp_end_parser_call(parser, status);
}

static hpar_status no_feed(hpar_error *error) {
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "hpar_parser_begin was not called, or failed");
}

static hpar_status lost_document(hpar_parser *parser) {
  if (parser->feed.failed == HPAR_ERROR_ARGUMENT)
    hp_explain(&parser->session.error, HPAR_ERROR_ARGUMENT, "the document was used or destroyed during the feed");
  return parser->feed.failed;
}

static hpar_status feed(hpar_parser *parser, const char *bytes, size_t length) {
  hpar_error *error = &parser->session.error;
  hpar_document *document = parser->feed.document;
  if (!parser->feed.active) return no_feed(error);
  if (!bytes && length) return hp_explain_no_bytes(error, length);
  if (!document) return lost_document(parser);
  if (!length) return parser->feed.limit;
  if (!hp_begin_sole_use(&document->use)) return busy_document(error);
  hpar_status status = hp_feed_add(&parser->feed, bytes, length);
  hp_document_end_use(document);
  return status;
}

hpar_status hpar_parser_feed(hpar_parser *parser, const char *bytes, size_t length) {
  if (!continue_feed(parser)) return HPAR_ERROR_ARGUMENT;
  return hp_end_parser_call(parser, feed(parser, bytes, length));
}

static hpar_status finish(hpar_parser *parser, hp_stats_target target) {
  hpar_error *error = &parser->session.error;
  hpar_document *document = parser->feed.document;
  if (!parser->feed.active) return no_feed(error);
  if (target.check(target.stats, error) != HPAR_OK) return HPAR_ERROR_ARGUMENT;
  if (document && !hp_begin_sole_use(&document->use)) return busy_document(error);
  hpar_status status = hp_feed_finish(&parser->feed);
  target.write(&parser->session, target.stats);
  if (!document) return lost_document(parser);
  hp_document_end_use(document);
  return status;
}

hpar_status hp_finish_call(hpar_parser *parser, hp_stats_target target) {
  if (!continue_feed(parser)) return HPAR_ERROR_ARGUMENT;
  return hp_end_parser_call(parser, finish(parser, target));
}

hpar_status hpar_parser_finish(hpar_parser *parser, hpar_stats *stats) {
  return hp_finish_call(parser, (hp_stats_target){stats, check_stats, write_stats});
}

static hpar_status parse_many(const hp_batch_request *given, const hpar_options *options, uint64_t begin,
                              hpar_many_stats *stats) {
  hp_batch_request request = *given;
  hpar_error *error = &request.parser->session.error;
  if (!request.inputs && request.count)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "inputs is NULL and count is %zu; accepted: an array, or count 0",
                      request.count);
  if (stats && hp_check_size(stats, "hpar_many_stats", "HPAR_MANY_STATS_INIT", error) != HPAR_OK)
    return HPAR_ERROR_ARGUMENT;
  hpar_status status = hp_check_sized_array(request.inputs, request.count, sizeof *request.inputs, "hpar_input",
                                            "HPAR_INPUT_INIT", error);
  if (status != HPAR_OK) return status;
  hp_config config;
  status = hp_config_resolve(&config, options, error);
  if (status != HPAR_OK) return status;
  if (config.resources.callback)
    return hp_explain(
        error, HPAR_ERROR_ARGUMENT,
        "hpar_options.resources.callback is set; accepted: NULL, because hpar_parse_many has many documents");
  hpar_many_stats full = {HPAR_MANY_STATS_INIT};
  request.config = &config;
  status = hp_batch_parse(&request.parser->batch, &request, begin, &full);
  if (stats) hp_write_sized(stats, &full, sizeof full);
  return status;
}

hpar_status hpar_parse_many(hpar_parser *parser, const hpar_options *options, hpar_input *inputs, size_t count,
                            hpar_many_stats *stats, hpar_batch_callback callback, void *context) {
  uint64_t begin = hp_now();
  if (!hp_begin_parser_call(parser)) return HPAR_ERROR_ARGUMENT;
  const hp_batch_request request = {parser, NULL, inputs, count, callback, context};
  return hp_end_parser_call(parser, parse_many(&request, options, begin, stats));
}

size_t hpar_parse_error_count(const hpar_parser *parser) {
  return parser && parser->session.result.complete ? parser->session.engine.errors.count : 0;
}

hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index) {
  if (index >= hpar_parse_error_count(parser)) return (hpar_parse_error){"", 0};
  hp_error error = parser->session.engine.errors.items[index];
  return (hpar_parse_error){hp_error_text((hp_error_code)error.code), error.offset};
}

/*** changes of documents after their parse ***/

hpar_status hpar_document_edit(hpar_document *document, const hpar_options *options, hpar_editor **editor,
                               hpar_error *error) {
  hpar_error own;
  if (!error) error = &own;
  error->text[0] = 0;
  if (editor) *editor = document ? hp_edit_running(document) : NULL; /* a failure does not end it */
  if (!document || !editor)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s is NULL", document ? "editor" : "document");
  hp_config config;
  hpar_status status = hp_config_resolve(&config, options, error);
  if (status != HPAR_OK) return hp_explain_status(error, status);
  size_t length = document->input.length;
  const hp_edit_config settings = {.scripting = config.scripting,
                                   .limits = hp_config_limits(&config, length, hp_now()),
                                   .memory_limit = hp_config_memory_limit(&config, length)};
  status = hp_edit_begin(document, &settings, editor);
  if (status == HPAR_ERROR_ARGUMENT)
    hp_explain(error, status, "another thread edits the document, a parse fills it, or another call reads it");
  return hp_explain_status(error, status);
}

void hpar_document_finish_edit(hpar_document *document) {
  if (document) hp_edit_end(document);
}

/*** encodings ***/

const char *hpar_encoding_name(const char *label) {
  const hp_encoding *encoding = label ? hp_encoding_for_label(label, strlen(label)) : NULL;
  return encoding ? encoding->name : NULL;
}

hpar_status hpar_decode(const char *label, const char *bytes, size_t length, hpar_write_callback write, void *context) {
  const hp_encoding *encoding = label ? hp_encoding_for_label(label, strlen(label)) : NULL;
  if (!encoding || !write || (!bytes && length)) return HPAR_ERROR_ARGUMENT;
  hp_decoder *decoder;
  hpar_status status = hp_decoder_create(&decoder, encoding);
  if (status != HPAR_OK) return status;
  status = hp_decoder_run(decoder, bytes, length, true, write, context);
  hp_decoder_destroy(decoder);
  return status;
}
