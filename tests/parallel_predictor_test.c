/* What a caller brings to the guess at a chunk's start state: tables for the predictor "frequency". Whatever they say,
 * on every own document, in each state, at every smart cut and at any byte, the tree is the sequential one. */

#include "base/memory.h"
#include "check.h"
#include "inspect/state.h"
#include "support/compare.h"
#include "support/documents.h"

#include "chunk/key.h"

#include <stdlib.h>

static comparer with;

/*** tables ***/

static hpar_frequency_table *table_of(const hpar_frequency *rows, size_t count) {
  hpar_frequency_table *table = NULL;
  CHECK_EQ(hpar_frequency_table_create(rows, count, &table, NULL), HPAR_OK);
  return table;
}

/* Chunks that were begun in the true state, of those behind the only cut. */
static uint64_t right_start(const char *page, uint64_t cut, const hpar_frequency_table *table) {
  compare_case document = {page, strlen(page), NULL, false, "utf-8"};
  compare_how how = {.cuts = &cut,
                     .cut_count = 1,
                     .threads = 2,
                     .executor = HPAR_EXECUTOR_INLINE,
                     .predictor = "frequency",
                     .frequencies = table};
  CHECK(compare_expect(&with, &document, 0));
  CHECK_EQ(compare_parallel(&with, &how), COMPARE_SAME);
  CHECK_EQ(with.got_stats.chunks, 1);
  CHECK_STRING(with.got_stats.predictor, "frequency");
  return with.got_stats.chunks_right_start;
}

/* A page whose "x<p" lies in the state that is named. */
static const struct {
  const char *state, *page;
} places[] = {
    {"data", "<!doctype html><div>x<p>y</div>z<b>w"},
    {"comment", "<!doctype html><div><!-- x<p>y --></div>z<b>w"},
    {"script data", "<!doctype html><div><script>'x<p>y'</script></div>z<b>w"},
    {"script data escaped", "<!doctype html><div><script><!--x<p>y--></script></div>z<b>w"},
    {"RAWTEXT", "<!doctype html><div><style>x<p>y</style></div>z<b>w"},
    {"RCDATA", "<!doctype html><div><textarea>x<p>y</textarea></div>z<b>w"},
    {"attribute value (double-quoted)", "<!doctype html><div title=\"x<p>y\">z<b>w"},
    {"attribute value (single-quoted)", "<!doctype html><div title='x<p>y'>z<b>w"},
    {"attribute value (unquoted)", "<!doctype html><div title=x<p>z<b>w"},
    {"attribute name", "<!doctype html><div x<p>z<b>w"},
    {"tag name", "<!doctype html><divx<p>z<b>w"},
    {"bogus comment", "<!doctype html><div></ x<p>z<b>w"},
    {"DOCTYPE", "<!doctype html><div><!doctype x<p>z<b>w"},
    {"CDATA section", "<!doctype html><div><svg><![CDATA[x<p>y]]></svg></div>z<b>w"},
};

static void tables_decide(void) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *page = places[i].page;
    uint64_t cut = (uint64_t)(strstr(page, "x<p") + 1 - page);
    const hpar_frequency right[] = {{"word", "<p", places[i].state, 2}, {"word", "<p", "tag open", 1}};
    const hpar_frequency wrong[] = {{"word", "<p", places[i].state, 2}, {"word", "<p", "tag open", 3}};
    hpar_frequency_table *table = table_of(right, 2);
    if (!CHECK_EQ(right_start(page, cut, table), 1)) printf("  in %s\n", places[i].state);
    hpar_frequency_table_destroy(table);
    if (strstr(page, "x<p>z")) continue; /* "tag open" is left by the same ">" */
    table = table_of(wrong, 2);
    if (!CHECK_EQ(right_start(page, cut, table), 0)) printf("  in %s\n", places[i].state);
    hpar_frequency_table_destroy(table);
  }
}

static void tables_fall_back(void) {
  const char *comment = places[1].page;
  uint64_t cut = (uint64_t)(strstr(comment, "x<p") + 1 - comment);
  const hpar_frequency elsewhere[] = {
      {"white", "<p", "comment", 3}, {">", "<p", "data", 2}, {"word", "<b", "data", 100}};
  hpar_frequency_table *table = table_of(elsewhere, 3);
  CHECK_EQ(right_start(comment, cut, table), 1); /* by what stands behind the cut */
  hpar_frequency_table_destroy(table);
  table = table_of(elsewhere + 1, 2);
  CHECK_EQ(right_start(comment, cut, table), 0);
  hpar_frequency_table_destroy(table);
  table = table_of(elsewhere + 2, 1);
  CHECK_EQ(right_start(comment, cut, table), 0); /* data, of which nothing is known */
  CHECK_EQ(right_start(places[0].page, (uint64_t)(strstr(places[0].page, "<p>") - places[0].page), table), 1);
  hpar_frequency_table_destroy(table);
  table = table_of(NULL, 0);
  CHECK_EQ(right_start(comment, cut, table), 0);
  hpar_frequency_table_destroy(table);
  const hpar_frequency parts[] = {{"word", "<p", "data", 5},
                                  {"word", "<p", "comment", 3},
                                  {"word", "<p", "comment", 3},
                                  {"word", "<p", "RCDATA", 0}};
  table = table_of(parts, 4);
  CHECK_EQ(right_start(comment, cut, table), 1); /* what is said twice adds up */
  hpar_frequency_table_destroy(table);
  const hpar_frequency many[] = {{"word", "<p", "data", UINT64_MAX - 1},
                                 {"word", "<p", "comment", UINT64_MAX - 1},
                                 {"word", "<p", "comment", UINT64_MAX - 1}};
  table = table_of(many, 3);
  CHECK_EQ(right_start(comment, cut, table), 1);
  hpar_frequency_table_destroy(table);
  hpar_frequency_table_destroy(NULL);
}

/* The table that the library brings with it: at an end tag that only raw text has. */
static void default_table(void) {
  const char *page = "<!doctype html><script>if (a) { b; }</script><style>i { c: d }</style><p>e";
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "</script") - page), NULL), 1);
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "</style") - page), NULL), 1);
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "<p>") - page), NULL), 1);
}

static void tables_refused(void) {
  static const hpar_frequency good = {"word", "<p", "data", 1};
  const hpar_frequency bad[] = {{NULL, "<p", "data", 1},
                                {"word", NULL, "data", 1},
                                {"word", "<p", NULL, 1},
                                {"", "<p", "data", 1},
                                {"word", "<p", "date", 1},
                                {"word", "<p", "", 1},
                                {"word", "<a-name-that-is-longer-than-any-key", "data", 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const hpar_frequency rows[] = {good, bad[i]};
    hpar_frequency_table *table = NULL;
    size_t wrong = 7;
    CHECK_EQ(hpar_frequency_table_create(rows, 2, &table, &wrong), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(wrong, 1);
    CHECK(!table);
    CHECK_EQ(hpar_frequency_table_create(rows, 2, &table, NULL), HPAR_ERROR_ARGUMENT);
  }
  for (uint64_t n = 0; n < 3; n++) {
    hpar_frequency_table *table = NULL;
    hp_memory_fail_once(n);
    CHECK_EQ(hpar_frequency_table_create(&good, 1, &table, NULL), HPAR_ERROR_MEMORY);
    hp_memory_fail_once(UINT64_MAX);
    CHECK(!table);
  }
}

/*** every document ***/

enum { MOST_CUTS = 512 };

static void check(const compare_how *how) {
  compare_result result = compare_parallel(&with, how);
  if (!CHECK(result == COMPARE_SAME)) compare_print(&with, how, result);
}

/* Each of the states, at all cuts. */
static void check_states(const uint64_t *cuts, size_t count) {
  hpar_frequency rows[MOST_CUTS];
  hp_cut_key keys[MOST_CUTS];
  for (int state = 0; state < HP_STATES; state++) {
    for (size_t i = 0; i < count; i++) {
      keys[i] = hp_cut_key_at(with.of.bytes, with.of.length, cuts[i]);
      rows[i] = (hpar_frequency){keys[i].before, keys[i].at, hp_state_name((hp_state)state), 1};
    }
    hpar_frequency_table *table = table_of(rows, count);
    compare_how how = {.cuts = cuts,
                       .cut_count = count,
                       .threads = 2,
                       .executor = HPAR_EXECUTOR_INLINE,
                       .checkpoint_bytes = state % 2 ? 1 : 0,
                       .max_errors = 1000,
                       .predictor = "frequency",
                       .merge = state % 3 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE,
                       .frequencies = table};
    check(&how);
    hpar_frequency_table_destroy(table);
  }
}

static void every_document(void) {
  static uint64_t cuts[COMPARE_MAX_CUTS];
  for (size_t i = 0; i < document_count; i++) {
    compare_case document = documents[i];
    document.encoding = "utf-8";
    if (!CHECK(compare_expect(&with, &document, 1000))) continue;
    size_t count = compare_candidates(document.bytes, document.length, cuts, MOST_CUTS);
    if (count) check_states(cuts, count);
    count = 0;
    for (uint64_t at = 1 + i % 5; at < document.length && count < MOST_CUTS; at += 5) cuts[count++] = at;
    if (count) check_states(cuts, count);
  }
}

int main(void) {
  if (!compare_possible()) return 0;
  if (!compare_open(&with)) return 1;
  compare_watch();
  tables_decide();
  tables_fall_back();
  default_table();
  tables_refused();
  every_document();
  compare_close(&with);
  return check_report();
}
