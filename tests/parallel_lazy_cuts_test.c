/* Checks chunks whose cuts the threads find: the chunks of any text are adjacent, and each begins
 * at the first cut of its bytes or of later ones. Texts with few tags, or none, have empty chunks.
 * The parallel parse of such texts has the sequential tree, and counts no empty chunk. */

#include "study/choices.h"
#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/random.h"

enum { CUT_TEXTS = 40, CUT_BYTES = 20000, PARSED_TEXTS = 22, PARSED_BYTES = 100000 };

static comparer with;

static const char *const units[] = {
    "<p>text</p>",
    "<div><b>x</b>",
    "a <! b ",
    "a < b ",
    "</script>",
    "<!-- <p> -->",
    "<script>if (a) b = '<p>';</script>",
    "x",
    "<",
    "é",
};

/* Returns where the chunk begins, by the definition. */
static uint32_t first_cut(const hp_lazy_cuts *cuts, uint32_t chunk) {
  uint32_t count = hp_lazy_chunks(cuts);
  for (uint32_t i = chunk; chunk && i < count; i++) {
    uint32_t cut = hp_lazy_cut(cuts, i);
    if (cut < (i + 1) * cuts->distance) return cut;
  }
  return chunk ? (uint32_t)cuts->length : 0;
}

static void check_cuts(const buffer *text, size_t distance, int policy) {
  const hp_lazy_cuts cuts = {text->bytes, text->length, distance, hp_cut_policies[policy]};
  uint32_t count = hp_lazy_chunks(&cuts), begin = 0;
  CHECK(count >= 1);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t end = hp_lazy_end(&cuts, i, begin);
    bool fine = hp_lazy_cut(&cuts, i) == begin && first_cut(&cuts, i) == begin && end == hp_lazy_cut(&cuts, i + 1);
    if (!CHECK(fine && end >= begin && (begin == text->length || begin >= i * distance))) return;
    begin = end;
  }
  CHECK_EQ(begin, text->length);
}

static void check_parse(const buffer *text) {
  compare_case document = {text->bytes, text->length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    compare_how how = {.threads = threads};
    compare_check(&with, &how);
    CHECK(with.got_stats.chunks >= with.got_stats.chunks_clean);
    CHECK(with.got_stats.chunks >= with.got_stats.chunks_right_start);
  }
}

/* Parses the text on threads without work, which compose the logs of neighbours while the merger is
 * behind them. With limits, no thread does so. */
static void check_composed(const buffer *text) {
  compare_case document = {text->bytes, text->length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
  for (unsigned i = 0; i < (CHECK_ONE_THREAD ? 20 : 6); i++) {
    compare_how how = {.threads = i % 2 ? 8 : 3};
    compare_check(&with, &how);
  }
  hpar_options limited = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 4, .encoding = "utf-8"};
  limited.limits.nodes = UINT64_MAX / 2;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_study_parse(with.parser, &limited, text->bytes, text->length, with.document, &stats), HPAR_OK);
  CHECK_EQ(stats.nodes, with.expected_stats.nodes);
  CHECK_EQ(stats.tokens, with.expected_stats.tokens);
  hpar_document_clear(with.document); /* a late thread reads the text until then */
}

/* Most chunks end within long lists, within comments, or below more elements than a composition
 * copies. */
static void check_compositions(void) {
  enum { LONG = 600000, DEEP = 1500 };
  static buffer text;
  for (unsigned kind = 0; kind < 3; kind++) {
    buffer_clear(&text);
    for (unsigned i = 0; text.length < LONG; i++) {
      buffer_text(&text, "<section><ul>");
      for (unsigned k = 0; kind == 1 && k < DEEP; k++) buffer_text(&text, "<div>");
      for (unsigned k = 0; k < 700; k++) buffer_format(&text, "<li>%u<p>text</p><!-- %u -->", k, i);
      buffer_text(&text, "<!-- a comment");
      for (unsigned k = 0; kind == 2 && k < 3000; k++) buffer_text(&text, " of more");
      buffer_text(&text, "-->");
      for (unsigned k = 0; kind == 1 && k < DEEP; k++) buffer_text(&text, "</div>");
      buffer_text(&text, "</ul></section>\n");
    }
    check_composed(&text);
  }
  buffer_free(&text);
}

static size_t cut_before_p(const char *text, size_t length, size_t from, void *context) {
  (void)context;
  for (; from + 1 < length; from++)
    if (text[from] == '<' && text[from + 1] == 'p') return from;
  return length;
}

/* The other strategies, ways to cut, and executors, without a given size of chunks. */
static void check_other_ways(const buffer *text) {
  static const hpar_cut_policy own = {HPAR_CUT_POLICY_INIT, .cut = cut_before_p};
  const compare_how ways[] = {{.threads = 4, .executor = HPAR_EXECUTOR_INLINE},
                              {.threads = 4, .cut = "exact"},
                              {.threads = 4, .own_cut_policy = &own}};
  compare_case document = {text->bytes, text->length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
  for (size_t i = !CHECK_ONE_THREAD; i < sizeof ways / sizeof *ways; i++) compare_check(&with, &ways[i]);
  for (size_t i = 0; hpar_strategy_name(i); i++) {
    compare_how how = {.threads = 4, .strategy = hpar_strategy_name(i)};
    compare_check(&with, &how);
  }
}

/* Writes regions of one unit each. */
static void write_regions(random_state *random, size_t bytes, size_t region, buffer *to) {
  buffer_clear(to);
  while (to->length < bytes) {
    const char *unit = RANDOM_OF(random, units);
    for (size_t end = to->length + 1 + random_below(random, region); to->length < end;) buffer_text(to, unit);
  }
}

int main(void) {
  static const size_t distances[] = {64, 1000, 4096};
  buffer text = {0};
  random_state random = {15};
  for (int i = 0; CHECK_ONE_THREAD && i < CUT_TEXTS; i += compare_scale() < 100 ? 3 : 1) {
    write_regions(&random, CUT_BYTES, (size_t)1 << (4 + i % 10), &text);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
      for (int policy = 0; policy < HP_CUT_BY_BYTES; policy++) check_cuts(&text, distances[d], policy);
  }
  if (compare_possible() && CHECK(compare_open(&with))) {
    compare_watch();
    for (unsigned i = 0; i < 1 + PARSED_TEXTS * (compare_full() ? 100 : compare_scale()) / 100; i++) {
      write_regions(&random, PARSED_BYTES, (size_t)1 << (6 + i % 11), &text);
      check_parse(&text);
      if (i % 4 == 0) check_other_ways(&text);
    }
    check_compositions();
    compare_close(&with);
  }
  buffer_free(&text);
  return check_report();
}
