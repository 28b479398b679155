/* Checks options of any value, with limits. The call returns an appropriate status and leaves a
 * correct tree. If no limit is reached, that tree is the tree of the sequential parser. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

static uint64_t number(random_state *random) {
  static const uint64_t edges[] = {
      0, 0, 0, 1, 2, 3, 7, 64, 1000, 65536, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, SIZE_MAX / 2};
  return random_chance(random, 30) ? random_below(random, 3000) : RANDOM_OF(random, edges);
}

static const char *name(random_state *random, const char *(*name_at)(size_t)) {
  static const char *const none[] = {"", "no such thing", "exact ", "\xFF"};
  return random_chance(random, 10)   ? RANDOM_OF(random, none)
         : random_chance(random, 50) ? NULL
                                     : fuzz_name(name_at, random_below(random, 64));
}

/* An executor of the caller that runs the tasks forwards or backwards. */
static void one_by_one(unsigned count, void (*task)(void *job, unsigned index), void *job, void *context) {
  bool backwards = random_chance(context, 50);
  for (unsigned i = 0; i < count; i++) task(job, backwards ? count - 1 - i : i);
}

/* A predictor that returns any answer; `context` is a guess. */
static void answer(const hpar_cut *cut, hpar_guess *guess, void *context) {
  (void)cut;
  *guess = *(const hpar_guess *)context;
}

/* Returns a table of any figures. The library rejects the invalid ones. */
static hpar_frequency_table *figures(random_state *random) {
  static const char *const texts[] = {">", "<", "=", "quote", "white", "word", "other", "<p", "</script", "", NULL};
  static const char *const states[] = {"data",      "comment",       "script data", "RCDATA", "tag name",
                                       "PLAINTEXT", "CDATA section", "date",        NULL};
  hpar_frequency rows[8];
  size_t count = random_below(random, 9);
  for (size_t i = 0; i < count; i++)
    rows[i] =
        (hpar_frequency){RANDOM_OF(random, texts), RANDOM_OF(random, texts), RANDOM_OF(random, states), number(random)};
  hpar_frequency_table *table = NULL;
  size_t wrong = SIZE_MAX;
  hpar_status status = hpar_frequency_table_create(rows, count, &table, &wrong);
  if (status == HPAR_ERROR_ARGUMENT ? wrong >= count : status != HPAR_OK && status != HPAR_ERROR_UNSUPPORTED) abort();
  return table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static comparer with;
  static hpar_parser *parser;
  static hpar_document *document;
  static buffer got;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!parser && (!compare_open(&with) || hpar_parser_create(&parser) || hpar_document_create(&document))) abort();
  random_state random = {0};
  for (int i = 0; i < FUZZ_CHOICES; i++) random.at = random.at << 8 | choices[i];
  uint64_t cuts[8];
  size_t count = random_chance(&random, 30) ? random_below(&random, 9) : 0;
  for (size_t i = 0; i < count; i++)
    cuts[i] = random_chance(&random, 5) ? number(&random) : (i + 1) * (page.length / 9);
  page.scripting = random_chance(&random, 50);
  page.fragment = random_chance(&random, 20) ? fuzz_context(random_below(&random, 64)) : NULL;
  page.encoding = random_chance(&random, 80) ? "utf-8" : random_chance(&random, 50) ? NULL : "no label";
  hpar_study study = {HPAR_STUDY_INIT,
                      .cuts = random_chance(&random, 95) && count ? cuts : NULL,
                      .cut_count = count,
                      .predictor = name(&random, hpar_predictor_name),
                      .checkpoint_bytes = (size_t)number(&random),
                      .strategy = name(&random, hpar_strategy_name),
                      .mode_predictor = name(&random, hpar_mode_predictor_name),
                      .cut_policy = name(&random, hpar_cut_policy_name),
                      .driver = random_chance(&random, 20) ? name(&random, hpar_driver_name) : NULL};
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = (hpar_mode)random_below(&random, 4),
                          .threads = random_chance(&random, 95) ? (unsigned)random_below(&random, 4) : 100000,
                          .parallel.chunk_size = (size_t)number(&random),
                          .parallel.executor = (hpar_executor)random_below(&random, 4),
                          .scripting = page.scripting,
                          .fragment = page.fragment,
                          .copy_input = random_chance(&random, 50),
                          .source_offsets = random_chance(&random, 50),
                          .max_errors = (size_t)number(&random),
                          .encoding = page.encoding,
                          .study = &study};
  bool limited = random_chance(&random, 40);
  if (limited) {
    options.limits.depth = (size_t)number(&random);
    options.limits.nodes = number(&random);
    options.limits.memory = (size_t)number(&random);
    options.limits.attributes = (size_t)number(&random);
    options.limits.time_ns = random_chance(&random, 10) ? 1 : 0;
    options.limits.input = number(&random);
  }
  options.parallel.affinity = (hpar_affinity)(random_chance(&random, 5) ? 1 + random_below(&random, 2) : 0);
  options.parallel.wait = (hpar_wait_policy)(random_chance(&random, 5) ? 1 + random_below(&random, 3) : 0);
  options.allocator = (hpar_allocator)(random_chance(&random, 20) ? 1 + random_below(&random, 2) : 0);
  if (random_chance(&random, 30)) {
    options.parallel.executor = HPAR_EXECUTOR_CALLER;
    options.parallel.run = random_chance(&random, 95) ? one_by_one : NULL;
    options.parallel.run_context = &random;
  }
  study.merge = (hpar_merge_order)random_below(&random, random_chance(&random, 95) ? 2 : 3);
  options.parallel.chunks = (size_t)number(&random);
  hpar_guess guess = {.context = (hpar_start_context)number(&random),
                      .element = random_chance(&random, 50) ? "script" : name(&random, hpar_mode_predictor_name),
                      .ns = (hpar_namespace)random_below(&random, 6),
                      .mode = random_chance(&random, 50) ? "in row" : NULL,
                      .first = (size_t)number(&random)};
  hpar_predictor own = {HPAR_PREDICTOR_INIT, .predict = random_chance(&random, 95) ? answer : NULL, .context = &guess};
  if (random_chance(&random, 20)) study.custom_predictor = &own;
  hpar_frequency_table *table = random_chance(&random, 20) ? figures(&random) : NULL;
  study.frequencies = table;
  if (table) study.predictor = "frequency";
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_status status = hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats);
  hpar_frequency_table_destroy(table);
  bool limit = status >= HPAR_LIMIT_DEPTH && status <= HPAR_LIMIT_INPUT;
  if (status && status != HPAR_ERROR_ARGUMENT && status != HPAR_ERROR_UNSUPPORTED && !(limit && limited))
    fuzz_wrong(hpar_status_text(status), page.bytes, page.length);
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (wrong) fuzz_wrong(wrong, page.bytes, page.length);
  if (status && !limit && nodes != 1) fuzz_wrong("a tree after a failure", page.bytes, page.length);
  if (!status && !compare_dump(document, &got)) abort();
  hpar_document_clear(document); /* a late thread may read the bytes, which go now */
  if (status) return 0;
  if (!compare_expect(&with, &page, 0)) abort();
  if (got.length != with.expected.length || (got.length && memcmp(got.bytes, with.expected.bytes, got.length)))
    fuzz_wrong("the trees differ", page.bytes, page.length);
  return 0;
}
