#include "base/memory.h"
#include "platform/jemalloc.h"
#include "session/parser.h"
#if HPAR_PARALLEL
#include "platform/affinity.h"
#endif

#include <hpar/tokenizer.h>
#include <stdlib.h>

/* From what size on two threads gain: results/epyc-2core, break-even. */
enum { BREAK_EVEN_AWAKE = 32 << 10, BREAK_EVEN_ASLEEP = 256 << 10 };

hpar_status hpar_parser_create(hpar_parser **parser) {
  hpar_parser *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hp_engine_init(&made->engine);
  *parser = made;
  return HPAR_OK;
}

void hpar_parser_destroy(hpar_parser *parser) {
  if (!parser) return;
  hp_feed_abandon(parser);
  hp_many_close(&parser->many);
#if HPAR_PARALLEL
  hp_stages_close(&parser->stages);
  hp_parallel_close(&parser->team);
#endif
  hp_engine_close(&parser->engine);
  hp_record_free(&parser->record);
  hp_free(parser);
}

/* Not to be inlined where setjmp is: its locals live in registers. */
__attribute__((noinline)) void hp_run_to_end(hp_engine *engine) {
  hp_token token;
  if (!hp_engine_is_limited(engine)) {
    hp_exact_tokens(&engine->builder, HP_TO_END, &engine->tokens);
    return;
  }
  do {
    hp_next_token(&engine->tokenizer, &token);
    hp_engine_take_checked(engine, &token);
  } while (token.kind != HPAR_TOKEN_EOF);
}

/* The fragment's nodes are the children of the html element that stood for its root. */
static void unwrap_fragment(hpar_document *document) {
  char *base = document->range.base;
  hp_ref html = hp_node_at(base, document->root)->first;
  while (html && hp_node_at(base, html)->kind != HPAR_NODE_ELEMENT) html = hp_node_at(base, html)->next;
  if (!html) return; /* a limit was reached before */
  hp_remove(base, html);
  hp_move_children(base, html, document->root);
}

const hp_encoding *hp_encoding_hint(const hpar_options *o) {
  return o->encoding ? hp_encoding_for_label(o->encoding, strlen(o->encoding)) : NULL;
}

hpar_status hp_check_options(const hpar_options *o) {
  if (o->mode > HPAR_MODE_PIPELINED || o->executor > HPAR_EXECUTOR_CALLER || o->threads > HPAR_MAX_THREADS ||
      o->merge > HPAR_MERGE_TREE || o->bind > HPAR_BIND_CORES || o->allocator > HPAR_ALLOCATOR_JEMALLOC ||
      o->pool > HPAR_POOL_SLEEP)
    return HPAR_ERROR_ARGUMENT;
  if (o->executor == HPAR_EXECUTOR_CALLER && !o->run) return HPAR_ERROR_ARGUMENT;
  if (o->allocator == HPAR_ALLOCATOR_JEMALLOC && !hp_jemalloc_is_there()) return HPAR_ERROR_UNSUPPORTED;
  if (o->encoding && !hp_encoding_hint(o)) return HPAR_ERROR_ARGUMENT;
  for (size_t i = 0; i < o->cut_count; i++)
    if (!o->cuts || (i && o->cuts[i] <= o->cuts[i - 1])) return HPAR_ERROR_ARGUMENT;
#if HPAR_PARALLEL
  hp_plan plan;
  if (!hp_plan_of(&plan, o) || !hp_stages_check(o)) return HPAR_ERROR_ARGUMENT;
#else
  if (o->mode >= HPAR_MODE_PARALLEL || o->bind) return HPAR_ERROR_UNSUPPORTED;
#endif
  return HPAR_OK;
}

hpar_status hp_check_cuts(const hpar_options *o, uint64_t length) {
  return o->cut_count && o->cuts[o->cut_count - 1] > length ? HPAR_ERROR_ARGUMENT : HPAR_OK;
}

bool hp_is_limit(hpar_status status) { return status >= HPAR_LIMIT_DEPTH && status <= HPAR_LIMIT_INPUT; }

hp_limits hp_limits_of(const hpar_options *o, uint64_t begin) {
  return (hp_limits){.depth = o->max_depth < UINT32_MAX - 1 ? (uint32_t)o->max_depth : UINT32_MAX - 1,
                     .attributes = o->max_attributes < UINT32_MAX ? (uint32_t)o->max_attributes : UINT32_MAX,
                     .nodes = o->max_nodes,
                     .deadline =
                         o->max_time ? (o->max_time < UINT64_MAX - begin ? begin + o->max_time : UINT64_MAX) : 0};
}

void hp_limit_memory(hpar_document *document, const hpar_options *o) {
  if (o->max_memory && o->max_memory < document->range.size) document->range.limit = o->max_memory;
}

#if HPAR_PARALLEL
/* Will the pool's threads begin at once? */
static bool is_awake(const hpar_parser *parser, const hpar_options *o) {
  if (o->pool == HPAR_POOL_SPIN) return true;
  return o->pool == HPAR_POOL_ADAPTIVE && parser->team.pool && hp_pool_is_awake(parser->team.pool);
}
#endif

bool hp_chooses_parallel(const hpar_parser *parser, const hpar_options *o, size_t length) {
  if (o->max_depth || o->max_attributes) return false;
#if HPAR_PARALLEL
  if (o->mode != HPAR_MODE_AUTO) return o->mode == HPAR_MODE_PARALLEL;
  if (length < BREAK_EVEN_AWAKE || (o->threads ? o->threads : hp_usable_cores()) < 2) return false;
  return length >= BREAK_EVEN_ASLEEP || is_awake(parser, o);
#else
  (void)parser;
  (void)o;
  (void)length;
  return false;
#endif
}

#if HPAR_PARALLEL
/* Of the pipelined parser. */
static bool takes_two_threads(const hpar_options *o) {
  return o->mode == HPAR_MODE_PIPELINED && o->executor == HPAR_EXECUTOR_THREADS && o->threads != 1;
}
#endif

/* Decodes as `sniffed` says, and completes it. */
static hpar_status open_input(hpar_parser *parser, const hpar_options *o, bool parallel, const char *bytes,
                              size_t length, hp_sniffed *sniffed, hpar_document *document) {
  hp_slice_executor aid = {.buffer = &document->text};
#if HPAR_PARALLEL
  if (parallel) {
    hp_team_slice_executor(&parser->team, o, length, &aid);
  } else if (takes_two_threads(o)) {
    hpar_options two = *o;
    two.threads = 2;
    hp_team_slice_executor(&parser->team, &two, length, &aid);
  }
#else
  (void)parser, (void)parallel;
#endif
  hp_input *input = &document->input;
  hpar_status status = hp_input_decode_sniffed(input, bytes, length, sniffed, &aid);
  return status == HPAR_OK && o->copy_input ? hp_input_keep(input, o->source_offsets) : status;
}

void hp_open_request(hpar_parser *parser, const hpar_options *o, const hp_request *task) {
  hp_engine *engine = &parser->engine;
  hp_engine_open(engine, task);
  engine->builder.node_count = 1; /* the document */
  if (!o->fragment) return;
  if (!hp_builder_parse_context(&engine->builder, o->fragment)) hp_fail_now(&engine->fail, HPAR_ERROR_ARGUMENT);
  hp_exact_begin_fragment(&engine->builder);
}

#if HPAR_PARALLEL
/* NULL: both stages on this thread. */
static hp_pool *pool_for_stages(hpar_parser *parser, const hpar_options *o) {
  if (!takes_two_threads(o)) return NULL;
  return hp_team_threads(&parser->team, o, 2) ? parser->team.pool : NULL;
}
#endif

static hpar_status parse(hpar_parser *parser, const hpar_options *o, bool parallel, const hp_request *task,
                         hpar_stats *stats) {
  hp_engine *engine = &parser->engine;
  if (setjmp(engine->fail.frame)) {
#if HPAR_PARALLEL
    hp_pipeline_abandon(&parser->stages, parser->team.pool);
    hp_parallel_abandon(&parser->team);
#endif
    return engine->fail.status;
  }
  hp_open_request(parser, o, task);
#if HPAR_PARALLEL
  if (parallel) {
    hpar_status status = hp_parse_in_parallel(&parser->team, engine, task, o, stats);
    if (status != HPAR_OK) hp_parallel_abandon(&parser->team);
    return status;
  }
  if (o->mode == HPAR_MODE_PIPELINED && !hp_engine_is_limited(engine) && !o->max_memory)
    hp_parse_pipelined(&parser->stages, pool_for_stages(parser, o), engine, task, o, stats);
  else
#else
  (void)parallel, (void)stats;
#endif
    hp_run_to_end(engine);
  return HPAR_OK;
}

/* Errors by offset in the caller's bytes, those of the input stream among them. */
static hpar_status finish_errors(hpar_parser *parser, const hp_request *task) {
  hp_engine *engine = &parser->engine;
  if (!task->max_errors) return HPAR_OK;
  if (setjmp(engine->fail.frame)) return engine->fail.status;
  hp_find_input_errors(task->text, task->length, &engine->errors);
  hp_errors_sort(&engine->errors);
  for (uint32_t i = 0; i < engine->errors.count; i++)
    engine->errors.items[i].offset = (uint32_t)hp_input_offset(&task->document->input, engine->errors.items[i].offset);
  return HPAR_OK;
}

struct hp_record *hp_begin_record(hpar_parser *parser, const hpar_options *o, uint64_t begin) {
  parser->inspected = false;
  if (!o->inspect) return NULL;
  hp_record_open(&parser->record, begin);
  return &parser->record;
}

hpar_status hp_close_record(hpar_parser *parser, const hpar_options *o, hpar_document *document, hpar_status parsed) {
  if (!o->inspect || parsed != HPAR_OK) return parsed;
  hp_request task = {
      .document = document, .text = document->input.bytes, .length = document->input.length, .scripting = o->scripting};
  hpar_status status = hp_record_close(&parser->record, &task, o->fragment);
  parser->inspected = status == HPAR_OK;
  if (status != HPAR_OK) hp_document_reset(document);
  return status;
}

void hp_begin_stats(hpar_stats *stats) {
  memset(stats, 0, sizeof *stats);
  stats->mode = "sequential";
  stats->threads = 1;
  stats->bind = "none";
  stats->allocator = "libc";
}

hpar_status hp_close_request(hpar_parser *parser, const hpar_options *o, const hp_request *task,
                             const hp_sniffed *sniffed, hpar_stats *stats) {
  if (o->fragment) {
    unwrap_fragment(task->document);
    parser->engine.builder.node_count--;
  }
  hpar_status status = finish_errors(parser, task);
  if (status != HPAR_OK) return status;
  stats->encoding = sniffed->encoding->name;
  stats->encoding_source = hp_encoding_source_name(sniffed->source);
  stats->bytes = task->length;
  stats->allocator = hpar_allocator_name(task->document->range.by_jemalloc);
  stats->tokens = parser->engine.tokens;
  stats->nodes = parser->engine.builder.node_count;
  stats->parse_errors = parser->engine.errors.seen;
  return HPAR_OK;
}

/* Whether the sequential parser reaches a limit of the tree, or might: it takes less memory than the parallel one, but
 * not always. */
static bool reaches_limit(const hpar_parser *parser, const hpar_options *o, const hpar_document *document,
                          hpar_status status) {
  if (status == HPAR_LIMIT_NODES || status == HPAR_LIMIT_MEMORY) return true;
  return status == HPAR_OK && ((o->max_nodes && parser->engine.builder.node_count > o->max_nodes) ||
                               (o->max_memory && hpar_document_memory(document) > o->max_memory / 2));
}

hpar_status hp_parse_whole(hpar_parser *parser, const hpar_options *o, const char *bytes, size_t length, uint64_t begin,
                           hpar_document *document, hpar_stats *stats) {
  hp_request task = {.document = document,
                     .limits = hp_limits_of(o, begin),
                     .scripting = o->scripting,
                     .source_offsets = o->source_offsets,
                     .max_errors = o->max_errors};
  hpar_status status = hp_check_options(o);
  if (status == HPAR_OK) status = hp_check_cuts(o, length);
  bool cut_off = o->max_input && length > o->max_input;
  if (cut_off) length = (size_t)o->max_input;
  bool parallel = hp_chooses_parallel(parser, o, length);
  hpar_options sequential;
  hp_sniffed sniffed = hp_sniff(bytes, length, hp_encoding_hint(o), !o->fragment);
  /* Twice where a meta element beyond the prescan, or not seen by it, declares another encoding. */
  uint64_t decode_ns = 0;
  for (bool again = status == HPAR_OK; again;) {
    uint64_t decoding = hp_now();
    hp_begin_stats(stats);
    task.record = hp_begin_record(parser, o, decoding);
    status = hp_document_reset_in(document, o->allocator == HPAR_ALLOCATOR_JEMALLOC);
    if (status == HPAR_OK) status = open_input(parser, o, parallel, bytes, length, &sniffed, document);
    hp_limit_memory(document, o);
    uint64_t parsing = hp_now();
    decode_ns += parsing - decoding;
    if (status != HPAR_OK) break;
    if (task.record)
      hp_record_event(task.record, HPAR_EVENT_DECODE, 0, UINT32_MAX, decoding, parsing, 0, document->input.length);
    task.text = document->input.bytes;
    task.length = document->input.length;
    task.tentative = sniffed.certain || o->fragment ? NULL : sniffed.encoding;
    status = parse(parser, o, parallel, &task, stats);
    const hp_encoding *declared = parser->engine.builder.declared;
    again = status == HP_ANOTHER_ENCODING;
    if (declared) sniffed = (hp_sniffed){declared, HP_ENCODING_FROM_LATE_META, true};
    if (!again && parallel && reaches_limit(parser, o, document, status)) {
      sequential = *o;
      sequential.mode = HPAR_MODE_SEQUENTIAL;
      o = &sequential;
      parallel = false;
      again = true;
    }
  }
  if (status == HPAR_OK || hp_is_limit(status)) {
    hpar_status closed = hp_close_request(parser, o, &task, &sniffed, stats);
    if (closed != HPAR_OK) status = closed;
  }
  stats->ns.decode = decode_ns;
  if (status == HPAR_OK) return cut_off ? HPAR_LIMIT_INPUT : HPAR_OK;
  if (!hp_is_limit(status)) hp_document_reset(document);
  return status;
}

/* Where the options say so, on a processor that is bound to. */
static hpar_status parse_in_place(hpar_parser *parser, const hpar_options *o, const char *bytes, size_t length,
                                  uint64_t begin, hpar_document *document, hpar_stats *stats) {
#if HPAR_PARALLEL
  if (o->bind == HPAR_BIND_CORES && o->executor == HPAR_EXECUTOR_THREADS) {
    hp_saved_affinity home;
    bool refused = !hp_save_affinity(&home);
    hpar_status status = hp_parse_whole(parser, o, bytes, length, begin, document, stats);
    hp_restore_affinity(&home);
    hp_note_places(stats, refused || (stats->threads > 1 && atomic_load(&parser->team.job.not_bound)));
    return status;
  }
#endif
  return hp_parse_whole(parser, o, bytes, length, begin, document, stats);
}

const char *hpar_allocator_name(size_t index) {
  static const char *const names[] = {"libc", "jemalloc"};
  return index < 1 + (size_t)hp_jemalloc_is_there() ? names[index] : NULL;
}

hpar_status hpar_parse(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                       hpar_document *document, hpar_stats *stats) {
  static const hpar_options defaults = HPAR_OPTIONS_DEFAULT;
  const hpar_options *o = options ? options : &defaults;
  uint64_t begin = hp_now();
  hpar_stats own;
  if (!stats) stats = &own;
  hp_begin_stats(stats);
  if (!parser || !document || (!bytes && length)) return HPAR_ERROR_ARGUMENT;
  hp_feed_abandon(parser);
  hpar_status status = parse_in_place(parser, o, bytes, length, begin, document, stats);
  if (status != HPAR_OK && !hp_is_limit(status)) return status;
  if (o->copy_input) document->input.source = document->input.owned_source;
  stats->ns.total = hp_now() - begin - stats->ns.oracle;
  if (stats->threads == 1) stats->ns.parse_per_worker[0] = stats->ns.total;
  return hp_close_record(parser, o, document, status);
}

size_t hpar_parse_error_count(const hpar_parser *parser) { return parser->engine.errors.count; }

hpar_parse_error hpar_parse_error_at(const hpar_parser *parser, size_t index) {
  if (index >= parser->engine.errors.count) return (hpar_parse_error){"", 0};
  hp_error error = parser->engine.errors.items[index];
  return (hpar_parse_error){hp_error_text((hp_error_code)error.code), error.offset};
}

#if !HPAR_PARALLEL
#define NONE(function)                 \
  const char *function(size_t index) { \
    (void)index;                       \
    return NULL;                       \
  }
NONE(hpar_strategy_name)
NONE(hpar_strategy_summary)
NONE(hpar_predictor_name)
NONE(hpar_predictor_summary)
NONE(hpar_mode_predictor_name)
NONE(hpar_mode_predictor_summary)
NONE(hpar_cut_policy_name)
NONE(hpar_cut_policy_summary)
NONE(hpar_pipeline_predictor_name)
NONE(hpar_pipeline_predictor_summary)
#undef NONE

hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                        size_t *wrong) {
  (void)rows, (void)count, (void)table, (void)wrong;
  return HPAR_ERROR_UNSUPPORTED;
}

void hpar_frequency_table_destroy(hpar_frequency_table *table) { (void)table; }
#endif
