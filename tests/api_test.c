/* Checks the rules of the interface: sizes of structures, error texts, NULL arguments, and the
 * preset of limits. */

#include "check.h"
#include "support/buffer.h"
#include "support/mode.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static const char page[] = "<!DOCTYPE html><p>one<p>two";

static hpar_status parse(const hpar_options *options, hpar_stats *stats) {
  return hpar_parse(parser, options, page, sizeof page - 1, document, stats);
}

/* Checks that the options are refused, with a text that has both words. */
static void refused_at(const hpar_options *options, const char *field, const char *accepted, int line) {
  hpar_status status = parse(options, NULL);
  const char *text = hpar_parser_error(parser)->text;
  bool is_fine = status == HPAR_ERROR_ARGUMENT && strstr(text, field) && strstr(text, accepted);
  if (!CHECK(is_fine)) printf("  line %d: %s: \"%s\"\n", line, field, text);
  CHECK_EQ(hpar_parser_begin(parser, options, document), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_prepare(parser, options), HPAR_ERROR_ARGUMENT);
  CHECK_STRING(hpar_parser_error(parser)->text, text);
  CHECK(!hpar_node_first_child(document, hpar_document_root(document)));
  CHECK_EQ(parse(NULL, NULL), HPAR_OK);
  CHECK_STRING(hpar_parser_error(parser)->text, "");
}

#define REFUSED(field, accepted, ...) \
  refused_at(&(hpar_options){HPAR_OPTIONS_INIT, __VA_ARGS__}, field, accepted, __LINE__)
#define REFUSED_BY_STUDY(text, accepted, ...) \
  REFUSED(text, accepted, .study = &(hpar_study){HPAR_STUDY_INIT, __VA_ARGS__})
#define REFUSED_STUDY(field, accepted, ...) REFUSED_BY_STUDY("hpar_study." field, accepted, __VA_ARGS__)

static void wrong_values(void) {
  const uint64_t falling[] = {5, 3}, beyond[] = {3, 5000};
  REFUSED("mode is 9", "HPAR_MODE_PARALLEL", .mode = (hpar_mode)9);
  REFUSED("threads is 257", "0 to 256", .threads = 257);
  REFUSED("allocator is 3", "HPAR_ALLOCATOR_LIBC", .allocator = (hpar_allocator)3);
  REFUSED("encoding is \"klingon\"", "Encoding Standard", .encoding = "klingon");
  REFUSED("fragment is \"svg \"", "\"svg path\"", .fragment = "svg ");
  REFUSED("parallel.executor is 3", "HPAR_EXECUTOR_CALLER", .parallel.executor = (hpar_executor)3);
  REFUSED_STUDY("merge is 2", "HPAR_MERGE_TREE", .merge = (hpar_merge_order)2);
  REFUSED("parallel.affinity is 2", "HPAR_AFFINITY_CORES", .parallel.affinity = (hpar_affinity)2);
  REFUSED("parallel.wait is 3", "HPAR_WAIT_SLEEP", .parallel.wait = (hpar_wait_policy)3);
  REFUSED("parallel.run is NULL", "function", .parallel.executor = HPAR_EXECUTOR_CALLER);
  REFUSED_STUDY("cuts[1] is 3 after 5", "ascending", .cuts = falling, .cut_count = 2);
  REFUSED_STUDY("cuts is NULL", "array", .cut_count = 2);
  REFUSED("value_decoding is 2", "HPAR_VALUES_AT_ONCE", .value_decoding = (hpar_value_decoding)2);
  REFUSED("limits.reserved[0]", "zero", .limits.reserved = {1});
  REFUSED("parallel.reserved[2]", "zero", .parallel.reserved = {0, 0, 1});
  REFUSED_STUDY("pipeline.reserved[0]", "zero", .pipeline.reserved = {1});
  REFUSED_STUDY("reserved[2]", "zero", .reserved = {0, 0, 1});
  REFUSED("hpar_options.study has no", "HPAR_STUDY_INIT", .study = &(hpar_study){.strategy = "exact"});
  REFUSED("script.reserved[3]", "zero", .script.reserved = {0, 0, 0, 1});
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = beyond, .cut_count = 2};
  hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
  CHECK_EQ(parse(&options, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_study.cuts[1] is 5000; accepted: offsets up to 27") != NULL);
  if (!hpar_strategy_name(0)) return;
  REFUSED_STUDY("pipeline.predictor is \"x\"", "feedback", .pipeline.predictor = "x");
  REFUSED_STUDY("pipeline.buffer_tokens is 65537", "65536", .pipeline.buffer_tokens = 65537);
  REFUSED_STUDY("pipeline.batch_tokens is 65537", "65536", .pipeline.batch_tokens = 65537);
  REFUSED_STUDY("strategy is \"x\"", "hpar2013", .strategy = "x");
  REFUSED_STUDY("predictor is \"x\"", "lookback", .predictor = "x");
  REFUSED_STUDY("mode_predictor is \"x\"", "replay", .mode_predictor = "x");
  REFUSED_STUDY("cut_policy is \"x\"", "smart", .cut_policy = "x");
  const hpar_predictor unsized = {0}, empty = {HPAR_PREDICTOR_INIT};
  REFUSED_BY_STUDY("hpar_predictor.size is 0", "HPAR_PREDICTOR_INIT", .custom_predictor = &unsized);
  REFUSED_STUDY("custom_predictor->predict is NULL", "function", .custom_predictor = &empty);
}

/* An older caller has fewer fields, and a newer one more. */
static void sizes(void) {
  refused_at(&(hpar_options){0}, "hpar_options.size is 0", "HPAR_OPTIONS_INIT", __LINE__);
  refused_at(&(hpar_options){.size = 7}, "hpar_options.size is 7", "HPAR_OPTIONS_INIT", __LINE__);
  refused_at(&(hpar_options){.size = SIZE_MAX}, "hpar_options.size", "HPAR_OPTIONS_INIT", __LINE__);
  struct {
    hpar_options options;
    char more[16];
  } newer = {.options = {.size = sizeof newer}};
  CHECK_EQ(parse(&newer.options, NULL), HPAR_OK);
  newer.more[15] = 1;
  refused_at(&newer.options, "does not have", "zero", __LINE__);
  /* The fields after `size` bytes are not read. */
  hpar_options older = {.size = offsetof(hpar_options, parallel), .parallel.executor = (hpar_executor)77};
  CHECK_EQ(parse(&older, NULL), HPAR_OK);

  hpar_stats stats = {0};
  CHECK_EQ(parse(NULL, &stats), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text,
               "hpar_stats.size is 0; accepted: sizeof(hpar_stats), as HPAR_STATS_INIT"));
  memset(&stats, 0x55, sizeof stats);
  stats.size = offsetof(hpar_stats, encoding);
  CHECK_EQ(parse(NULL, &stats), HPAR_OK);
  CHECK_EQ(stats.bytes, sizeof page - 1);
  CHECK_EQ(stats.tokens, 0x5555555555555555); /* not written */
  struct {
    hpar_stats stats;
    char more[16];
  } wide;
  memset(&wide, 0x55, sizeof wide);
  wide.stats.size = sizeof wide;
  CHECK_EQ(parse(NULL, &wide.stats), HPAR_OK);
  CHECK_EQ(wide.stats.size, sizeof wide);
  CHECK_EQ(wide.more[0] | wide.more[15], 0);

  hpar_many_stats many = {0};
  CHECK_EQ(hpar_parse_many(parser, NULL, NULL, 0, &many, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "HPAR_MANY_STATS_INIT") != NULL);

  /* A feed goes on if finish refuses the statistics. */
  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, sizeof page - 1), HPAR_OK);
  stats.size = 0;
  CHECK_EQ(hpar_parser_finish(parser, &stats), HPAR_ERROR_ARGUMENT);
  stats = (hpar_stats){HPAR_STATS_INIT};
  CHECK_EQ(hpar_parser_finish(parser, &stats), HPAR_OK);
  CHECK_EQ(stats.bytes, sizeof page - 1);
}

static hpar_status end_at_second(const hpar_token *token, void *context) {
  hpar_status *status = context;
  return token->kind == HPAR_TOKEN_TEXT ? HPAR_OK : *status;
}

/* The status of a callback ends the call, which returns it. */
static void ended_tokens(void) {
  for (hpar_status status = HPAR_OK; status <= HPAR_RETIRE; status++)
    CHECK_EQ(hpar_tokenize(parser, NULL, NULL, 0, "a<b>c", 5, end_at_second, &status), status);
}

static void missing_arguments(void) {
  hpar_stats stats = {HPAR_STATS_INIT, .nodes = 7};
  CHECK(*hpar_parser_error(NULL)->text != 0);
  CHECK_EQ(hpar_parser_create(NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse(NULL, NULL, page, 3, document, &stats), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse(parser, NULL, page, 3, NULL, &stats), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "document is NULL") != NULL);
  CHECK_EQ(stats.nodes, 7); /* not written */
  CHECK_EQ(hpar_parse(parser, NULL, page, 3, document, &stats), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, NULL, NULL, 3, document, &stats), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "bytes is NULL and length is 3") != NULL);
  CHECK(stats.nodes == 0 && !hpar_node_first_child(document, hpar_document_root(document)));
  CHECK_EQ(hpar_parse(parser, NULL, NULL, 0, document, &stats), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, 3), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_parser_begin") != NULL);
  CHECK_EQ(hpar_parser_feed(NULL, page, 3), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_finish(NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse_many(NULL, NULL, NULL, 0, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parse_many(parser, NULL, NULL, 2, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "inputs is NULL and count is 2") != NULL);
  CHECK_EQ(hpar_tokenize(parser, "Tag state", NULL, 0, page, 3, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "callback is NULL") != NULL);
  hpar_status refused = HPAR_ERROR_ARGUMENT; /* by the callback: the status has another reason */
  CHECK_EQ(hpar_tokenize(parser, NULL, NULL, 0, "a<b>c", 5, end_at_second, &refused), refused);
  CHECK_STRING(hpar_parser_error(parser)->text, hpar_status_text(refused));
  CHECK_EQ(hpar_parse_error_count(NULL), 0);
  CHECK_STRING(hpar_parse_error_at(NULL, 0).code, "");
  CHECK_EQ(hpar_parse_error_at(NULL, 0).offset, 0);
  CHECK_EQ(hpar_parser_error(NULL)->status, HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_chunk_count(NULL) + hpar_event_count(NULL) + hpar_hazard_event_count(NULL), 0);
  CHECK(hpar_chunk_at(NULL, 0) == NULL);
  CHECK_EQ(hpar_inspected_text(NULL).length, 0);
  /* A document that the caller uses during a feed. */
  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  hpar_parser *other = NULL;
  CHECK_EQ(hpar_parser_create(&other), HPAR_OK);
  CHECK_EQ(hpar_parse(other, NULL, page, 3, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, 3), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "during the feed") != NULL);
  CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_ERROR_ARGUMENT);
  hpar_parser_destroy(other);
}

static hpar_status parse_untrusted(const buffer *text, int mode, bool fed, hpar_stats *stats) {
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .limits = HPAR_LIMITS_UNTRUSTED};
  mode_choose(&options, &study, mode);
  if (!fed) return hpar_parse(parser, &options, text->bytes, text->length, document, stats);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  size_t half = text->length / 2;
  hpar_status status = hpar_parser_feed(parser, text->bytes, half);
  if (!status) status = hpar_parser_feed(parser, text->bytes + half, text->length - half);
  hpar_status finished = hpar_parser_finish(parser, stats);
  return status ? status : finished;
}

/* The preset ends the trees that are far larger than their input, in every mode, fed or not. */
static void untrusted(void) {
  static const struct {
    const char *before, *piece, *after;
    int count;
    hpar_status status;
  } cases[] = {
      {"", "<div>", "", 600, HPAR_LIMIT_DEPTH},
      {"", "<p>x", "", 20000, HPAR_OK},
      {"<p>", "<b a=%d>", "", 400, HPAR_OK},
      {"<a", " a%d", ">", 2000, HPAR_LIMIT_ATTRIBUTES},
      {"<p><i a=1><i a=2><i a=3><i a=4><i a=5><i a=6><i a=7><i a=8><i a=9>", "<p>x", "", 9000, HPAR_LIMIT_NODES}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    buffer text = {0};
    buffer_text(&text, cases[i].before);
    for (int k = 0; k < cases[i].count; k++)
      strchr(cases[i].piece, '%') ? buffer_format(&text, cases[i].piece, k) : buffer_text(&text, cases[i].piece);
    buffer_text(&text, cases[i].after);
    for (int mode = HPAR_MODE_AUTO; mode <= MODE_PIPELINED; mode++) {
      if (mode >= HPAR_MODE_PARALLEL && !hpar_strategy_name(0)) break;
      hpar_stats whole = {HPAR_STATS_INIT}, fed = {HPAR_STATS_INIT};
      if (!CHECK_EQ(parse_untrusted(&text, mode, false, &whole), cases[i].status)) printf("  case %zu\n", i);
      CHECK_EQ(parse_untrusted(&text, mode, true, &fed), cases[i].status);
      CHECK_EQ(fed.nodes, whole.nodes);
      CHECK_EQ(fed.tokens, whole.tokens);
    }
    buffer_free(&text);
  }
}

/* Limits by input length are for the length that is parsed. */
static void limits_by_length(void) {
  hpar_stats stats = {HPAR_STATS_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .limits.nodes_per_byte = 1};
  CHECK_EQ(parse(&options, &stats), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, "", 0, document, &stats), HPAR_LIMIT_NODES);
  CHECK_EQ(hpar_parse(parser, &options, "<p>", 3, document, &stats), HPAR_LIMIT_NODES);
  options.limits.nodes = 10;
  CHECK_EQ(hpar_parse(parser, &options, "<p>", 3, document, &stats), HPAR_OK);
  options.limits.nodes_per_byte = options.limits.memory_per_byte = UINT64_MAX;
  CHECK_EQ(parse(&options, &stats), HPAR_OK);
}

/* The two kinds of statistics agree on what both have, whichever call fills them. */
static void study_stats(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .max_errors = 5};
  hpar_study_stats all = {HPAR_STUDY_STATS_INIT}, later = {HPAR_STUDY_STATS_INIT}, fed = {HPAR_STUDY_STATS_INIT};
  hpar_stats stats = {HPAR_STATS_INIT};
  CHECK_EQ(hpar_study_parse(parser, &options, page, sizeof page - 1, document, &all), HPAR_OK);
  CHECK_EQ(hpar_study_stats_of(parser, &later), HPAR_OK);
  CHECK_EQ(memcmp(&all, &later, sizeof all), 0);
  CHECK_EQ(parse(&options, &stats), HPAR_OK);
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, page, sizeof page - 1), HPAR_OK);
  CHECK_EQ(hpar_study_finish(parser, &fed), HPAR_OK);
  CHECK(all.tokens > 2 && all.nodes > 2 && all.ns.total);
  CHECK_EQ(stats.tokens, all.tokens);
  CHECK_EQ(stats.nodes, all.nodes);
  CHECK_EQ(stats.nodes, 9); /* document, doctype, html, head, body, and two p with their texts */
  CHECK_EQ(stats.bytes, all.bytes);
  CHECK_EQ(stats.parse_errors, all.parse_errors);
  CHECK_STRING(stats.encoding, all.encoding);
  CHECK_STRING(stats.mode, all.mode);
  CHECK_EQ(fed.tokens, all.tokens);
  CHECK_EQ(fed.nodes, all.nodes);

  all.size = 0;
  CHECK_EQ(hpar_study_stats_of(parser, &all), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_study_stats_of(NULL, &later), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_study_parse(parser, NULL, page, sizeof page - 1, document, &all), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_parser_error(parser)->text, "hpar_study_stats.size is 0; accepted") != NULL);
}

static void versions(void) {
  const char *version = HPAR_VERSION;
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", HPAR_VERSION_MAJOR, HPAR_VERSION_MINOR, HPAR_VERSION_PATCH);
  CHECK_STRING(version, text);
  CHECK_STRING(hpar_version(), text);
  CHECK_EQ(HPAR_VERSION_NUMBER, HPAR_VERSION_MAJOR * 10000 + HPAR_VERSION_MINOR * 100 + HPAR_VERSION_PATCH);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  versions();
  wrong_values();
  sizes();
  study_stats();
  ended_tokens();
  missing_arguments();
  untrusted();
  limits_by_length();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
