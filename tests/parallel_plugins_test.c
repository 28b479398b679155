/* Checks the plug-ins of hpar_study: what their functions see, what their answers lead to, and that
 * the tree is the sequential one for hostile answers: random ones, cuts before and after the text
 * and inside a character, guesses that no parser can have, restarts and surrenders everywhere. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/documents.h"
#include "support/random.h"

#include <hpar/study.h>
#include <stdatomic.h>
#include <stddef.h>

static comparer with;

/*** cut policies ***/

static size_t after_paragraph(const char *text, size_t length, size_t even, void *context) {
  (void)context;
  const char *found = memmem(text + even, length - even, "</p>", 4);
  return found ? (size_t)(found - text) + 4 : length;
}

static void expect_page(const buffer *page) {
  compare_case document = {page->bytes, page->length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
}

/* Returns a place before the even cut, or inside the next character. */
static size_t misplaced(const char *text, size_t length, size_t even, void *context) {
  (void)context;
  size_t at = even;
  while (at < length && ((unsigned char)text[at] & 0xc0) != 0x80) at++;
  return even % 3 ? at : even % 2 ? 0 : even - 1;
}

/* Parses the page with the policy, and returns the number of chunks in the record. */
static size_t record_cuts(const buffer *page, const hpar_cut_policy *policy) {
  const hpar_study study = {HPAR_STUDY_INIT, .custom_cut_policy = policy, .inspect = true};
  const hpar_options options = {HPAR_OPTIONS_INIT,
                                .mode = HPAR_MODE_PARALLEL,
                                .threads = 2,
                                .encoding = "utf-8",
                                .parallel = {.executor = HPAR_EXECUTOR_INLINE, .chunk_size = 1000},
                                .study = &study};
  CHECK_EQ(hpar_parse(with.parser, &options, page->bytes, page->length, with.document, NULL), HPAR_OK);
  size_t count = hpar_chunk_count(with.parser);
  CHECK(count > 5);
  return count;
}

static void cut_policy_decides(void) {
  static buffer page;
  buffer_clear(&page);
  for (int i = 0; i < 500; i++) buffer_text(&page, i % 3 ? "<div>a<b>b</b></div>" : "<p>c\u00fc<i>d</i></p>");
  const hpar_cut_policy own = {HPAR_CUT_POLICY_INIT, .name = "paragraphs", .cut = after_paragraph};
  const hpar_cut_policy wrong = {HPAR_CUT_POLICY_INIT, .cut = misplaced};
  expect_page(&page);
  for (int way = 0; way < 3; way++) {
    compare_how how = {.threads = 2,
                       .executor = way == 2 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                       .chunk_size = way == 1 ? 0 : 1000,
                       .own_cut_policy = &own};
    compare_check(&with, &how);
    CHECK(with.got_stats.chunks > 0);
    CHECK_STRING(with.got_stats.cut_policy, "paragraphs");
  }
  size_t count = record_cuts(&page, &own);
  for (size_t i = 1; i < count; i++) CHECK(!memcmp(page.bytes + hpar_chunk_at(with.parser, i)->begin - 4, "</p>", 4));
  count = record_cuts(&page, &wrong);
  for (size_t i = 1; i < count; i++) {
    uint64_t begin = hpar_chunk_at(with.parser, i)->begin;
    CHECK(((unsigned char)page.bytes[begin] & 0xc0) != 0x80);
    CHECK(begin >= 1000 * i); /* the even cut */
  }
}

/*** strategies ***/

typedef struct watched {
  unsigned calls, contradictions, reaching, with_div;
  hpar_decision decision; /* at a contradiction */
  size_t last_begin;
  bool in_order;
} watched;

static hpar_decision watch(const hpar_attempt *attempt, hpar_guess *next, void *context) {
  watched *w = context;
  bool is_fresh = next->context == HPAR_CONTEXT_NONE && !next->element && !next->mode && !next->first;
  w->in_order = w->in_order && is_fresh && attempt->token_begin >= attempt->cut.begin &&
                (!w->calls || attempt->restarts || attempt->token_begin >= w->last_begin);
  w->last_begin = attempt->token_begin;
  if (attempt->notes[HPAR_NOTES - 1]++ != w->calls) w->in_order = false;
  w->calls++;
  w->contradictions += attempt->is_contradiction;
  w->reaching += attempt->reaches_out;
  w->with_div += attempt->has_open(attempt, "div") && attempt->open;
  if (attempt->has_open(attempt, NULL) || attempt->has_open(attempt, "")) w->in_order = false;
  if (!attempt->is_contradiction) return HPAR_DECISION_GO_ON;
  next->first = attempt->token_end;
  return w->decision;
}

/* The chunk begins in a script, which no predictor foresees. */
static const char in_script[] = "<!doctype html><script>a('|<p>b');</script><p>c<div>d<i>e</i></div></section><p>f";

static void decide_once(hpar_decision decision, size_t interval, watched *result) {
  static buffer page;
  uint64_t cut;
  compare_unmark(in_script, &page, &cut);
  *result = (watched){.decision = decision, .in_order = true};
  const hpar_strategy own = {HPAR_STRATEGY_INIT, .name = "watcher",    .predictor_name = "data",
                             .decide = watch,    .interval = interval, .context = result};
  compare_how how = {
      .cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .own_strategy = &own};
  expect_page(&page);
  compare_check(&with, &how);
  CHECK(result->in_order);
  CHECK_STRING(with.got_stats.strategy, "watcher");
  CHECK_STRING(with.got_stats.predictor, "data");
  CHECK_STRING(with.got_stats.mode_predictor, "replay");
}

static void decisions_count(void) {
  watched w;
  decide_once(HPAR_DECISION_GO_ON, 0, &w);
  CHECK_EQ(w.contradictions, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(with.got_stats.chunks_right_start, 0);
  decide_once(HPAR_DECISION_RESTART, 0, &w);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(with.got_stats.respeculations, 1);
  CHECK_EQ(with.got_stats.bytes_respeculated, strlen("<p>b');</script>"));
  CHECK_EQ(with.got_stats.chunks_right_start, 1);
  decide_once(HPAR_DECISION_GIVE_UP, 0, &w);
  CHECK_EQ(with.got_stats.aborts, 1);
  CHECK_EQ(with.got_stats.chunks_right_start, 0);
  decide_once((hpar_decision)77, 0, &w);
  CHECK_EQ(with.got_stats.respeculations + with.got_stats.aborts, 0);
  decide_once(HPAR_DECISION_RESTART, 1, &w);
  CHECK(w.calls > 8);
  CHECK_EQ(w.reaching, 1); /* </section> */
  CHECK_EQ(w.with_div, 5); /* before d, <i>, e, </i> and </div> */
}

/* A strategy that is asked at intervals sees tokens of text that the worker builds in one loop. */
static void intervals_count(void) {
  static buffer page;
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><body>");
  uint64_t cut = page.length;
  for (int i = 0; i < 4000; i++) buffer_text(&page, "<p>text<i>x</i>");
  size_t calls[2];
  for (int at_once = 0; at_once < 2; at_once++) {
    watched w = {.in_order = true};
    const hpar_strategy own = {HPAR_STRATEGY_INIT, .name = "watcher", .predictor_name = "data",
                               .decide = watch,    .interval = 1000,  .context = &w};
    compare_how how = {.cuts = &cut,
                       .cut_count = 1,
                       .threads = 2,
                       .executor = HPAR_EXECUTOR_INLINE,
                       .own_strategy = &own,
                       .max_errors = at_once ? 100 : 0};
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, at_once ? 100 : 0));
    compare_check(&with, &how);
    CHECK(w.in_order);
    calls[at_once] = w.calls;
  }
  CHECK(calls[0] >= (page.length - cut) / 1000 - 1 && calls[0] <= (page.length - cut) / 1000 + 1);
  /* Parse errors make the worker read each token. */
  CHECK(calls[1] >= calls[0] - 1 && calls[1] <= calls[0] + 1);
}

static void parts_of_strategy(void) {
  static buffer page;
  uint64_t cut;
  compare_unmark(in_script, &page, &cut);
  const hpar_cut_policy paragraphs = {HPAR_CUT_POLICY_INIT, .name = "paragraphs", .cut = after_paragraph};
  const hpar_strategy own = {HPAR_STRATEGY_INIT,          .name = "parts",
                             .predictor_name = "context", .mode_predictor_name = "table",
                             .cut_policy = &paragraphs,   .one_by_one = true};
  compare_how how = {.threads = 2, .executor = HPAR_EXECUTOR_INLINE, .chunk_size = 20, .own_strategy = &own};
  expect_page(&page);
  compare_check(&with, &how);
  CHECK_STRING(with.got_stats.strategy, "parts");
  CHECK_STRING(with.got_stats.predictor, "context");
  CHECK_STRING(with.got_stats.mode_predictor, "table");
  CHECK_STRING(with.got_stats.cut_policy, "paragraphs");
  how.predictor = "data";
  how.cut = "even";
  how.mode_predictor = "body";
  compare_check(&with, &how);
  CHECK_STRING(with.got_stats.predictor, "data");
  CHECK_STRING(with.got_stats.mode_predictor, "body");
  CHECK_STRING(with.got_stats.cut_policy, "even");
}

static size_t one_start(const hpar_cut *cut, size_t *starts, size_t most, void *context) {
  CHECK_EQ(most, 15);
  const char *found = memmem(cut->text + cut->begin, cut->end - cut->begin, context, strlen(context));
  starts[0] = found ? (size_t)(found - cut->text) + strlen(context) : SIZE_MAX;
  return 1;
}

static void starts_are_tried(void) {
  static buffer page;
  uint64_t cut;
  compare_unmark(in_script, &page, &cut);
  expect_page(&page);
  for (int right = 0; right < 2; right++) {
    hpar_strategy own = {HPAR_STRATEGY_INIT, .predictor_name = "data", .starts = one_start,
                         .context = right ? "</script>" : "<div>"};
    compare_how how = {
        .cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .own_strategy = &own};
    compare_check(&with, &how);
    CHECK_EQ(with.got_stats.chunks_right_start, right);
    CHECK_STRING(with.got_stats.strategy, "custom");
  }
}

static void refused(void) {
  static const char page[] = "<p>a<p>b";
  static const hpar_cut_policy no_cut = {HPAR_CUT_POLICY_INIT, .name = "empty"};
  static const hpar_predictor no_predict = {HPAR_PREDICTOR_INIT, .name = "empty"};
  static const hpar_strategy nothing = {.name = "unsized"}, no_name = {HPAR_STRATEGY_INIT, .predictor_name = "nosuch"},
                             bad_part = {HPAR_STRATEGY_INIT, .cut_policy = &no_cut},
                             no_mode = {HPAR_STRATEGY_INIT, .mode_predictor_name = "nosuch"},
                             no_policy = {HPAR_STRATEGY_INIT, .cut_policy_name = "nosuch"};
  /* The library would read their context, which is the last field, where they end. */
  static const hpar_cut_policy short_policy = {.size = offsetof(hpar_cut_policy, context), .cut = after_paragraph};
  static const hpar_strategy short_strategy = {.size = offsetof(hpar_strategy, context), .starts = one_start};
  static const struct {
    hpar_study study;
    const char *message;
  } cases[] = {
      {{HPAR_STUDY_INIT, .custom_strategy = &nothing}, "hpar_strategy.size is 0"},
      {{HPAR_STUDY_INIT, .custom_strategy = &no_name}, "hpar_study.custom_strategy->predictor_name is \"nosuch\""},
      {{HPAR_STUDY_INIT, .custom_strategy = &no_mode}, "hpar_study.custom_strategy->mode_predictor_name is"},
      {{HPAR_STUDY_INIT, .custom_strategy = &no_policy}, "hpar_study.custom_strategy->cut_policy_name is"},
      {{HPAR_STUDY_INIT, .custom_strategy = &bad_part}, "hpar_study.custom_strategy->cut_policy->cut is NULL"},
      {{HPAR_STUDY_INIT, .custom_strategy = &short_strategy}, "hpar_strategy.size is"},
      {{HPAR_STUDY_INIT, .custom_cut_policy = &short_policy}, "hpar_cut_policy.size is"},
      {{HPAR_STUDY_INIT, .custom_cut_policy = &no_cut}, "hpar_study.custom_cut_policy->cut is NULL"},
      {{HPAR_STUDY_INIT, .custom_mode_predictor = &no_predict}, "hpar_study.custom_mode_predictor->predict is NULL"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .study = &cases[i].study};
    CHECK_EQ(hpar_parse(with.parser, &options, page, sizeof page - 1, with.document, NULL), HPAR_ERROR_ARGUMENT);
    const hpar_error *error = hpar_parser_error(with.parser);
    if (!CHECK(strstr(error->text, cases[i].message) != NULL)) printf("  %s\n", error->text);
  }
}

/*** hostile plug-ins ***/

/* Answers depend on the number of the call, so that no two calls agree. Workers call at once. */
typedef struct hostile {
  uint64_t seed;
  _Atomic uint64_t calls;
  hpar_decision always; /* or, if it is 3, at random */
} hostile;

static random_state draw(hostile *h) { return (random_state){h->seed + 977 * atomic_fetch_add(&h->calls, 1)}; }

static size_t any_place(random_state *random, size_t begin, size_t end) {
  switch (random_below(random, 6)) {
    case 0: return 0;
    case 1: return SIZE_MAX;
    case 2: return begin;
    case 3: return end;
    case 4: return end + random_below(random, 100);
    default: return begin + random_below(random, end - begin + 1);
  }
}

static size_t any_cut(const char *text, size_t length, size_t even, void *context) {
  random_state random = draw(context);
  size_t place = any_place(&random, even, length);
  if (random_chance(&random, 50)) return even + random_below(&random, 40);
  for (size_t at = even; at < length && at < even + 64; at++)
    if (((unsigned char)text[at] & 0xc0) == 0x80) return at; /* inside a character */
  return place;
}

static void any_guess(const hpar_cut *cut, hpar_guess *guess, void *context) {
  static const char *const elements[] = {"script",   "style", "textarea", "title", "plaintext",
                                         "noscript", "b",     "",         NULL};
  static const char *const modes[] = {"in body", "in row", "initial", "text", "after after frameset",
                                      "in cell", "",       NULL};
  random_state random = draw(context);
  guess->context = (hpar_start_context)random_below(&random, HPAR_CONTEXT_CDATA + 3);
  guess->element = RANDOM_OF(&random, elements);
  guess->ns = (hpar_namespace)random_below(&random, 8);
  guess->mode = RANDOM_OF(&random, modes);
  guess->first = random_chance(&random, 50) ? 0 : any_place(&random, cut->begin, cut->end);
}

static hpar_decision any_decision(const hpar_attempt *attempt, hpar_guess *next, void *context) {
  hostile *h = context;
  any_guess(&attempt->cut, next, context);
  if (h->always != 3) return h->always;
  random_state random = draw(h);
  return random_chance(&random, 70) ? HPAR_DECISION_GO_ON : (hpar_decision)random_below(&random, 5);
}

static size_t any_starts(const hpar_cut *cut, size_t *starts, size_t most, void *context) {
  random_state random = draw(context);
  size_t count = random_below(&random, most + 1);
  for (size_t i = 0; i < count; i++) starts[i] = any_place(&random, cut->begin, cut->end);
  return random_chance(&random, 10) ? SIZE_MAX : count;
}

static const size_t intervals[] = {0, 1, 1, 2, 100, SIZE_MAX};
enum { HOSTS = 24 };

/* Parses the current document with one set of hostile plug-ins. */
static void parse_hostile(unsigned index) {
  hostile h = {.seed = index * UINT64_C(1000003), .always = (hpar_decision)(index % 4)};
  const hpar_predictor predictor = {HPAR_PREDICTOR_INIT, .name = "any", .predict = any_guess, .context = &h,
                                    .partial_context = index % 3 == 0};
  const hpar_cut_policy policy = {HPAR_CUT_POLICY_INIT, .name = "any", .cut = any_cut, .context = &h};
  const hpar_strategy strategy = {HPAR_STRATEGY_INIT,
                                  .name = "any",
                                  .predictor = index % 5 ? &predictor : NULL,
                                  .mode_predictor = index % 2 ? &predictor : NULL,
                                  .cut_policy = &policy,
                                  .decide = index % 6 == 5 ? NULL : any_decision,
                                  .interval = intervals[index % 6],
                                  .starts = index % 3 == 1 ? any_starts : NULL,
                                  .one_by_one = index % 7 == 0,
                                  .context = &h};
  static const size_t sizes[] = {0, 1, 7, 50, 300};
  compare_how how = {.threads = 2 + index % 3,
                     .executor = index % 4 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                     .chunk_size = sizes[index % 5],
                     .merge = index % 3 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE,
                     .max_errors = with.of.length < 5000 ? 1000 : 0,
                     .checkpoint_bytes = index % 2,
                     .pipeline_stages = index % 8 == 4,
                     .own_strategy = &strategy};
  if (!compare_check(&with, &how)) printf("  hostile plug-in %u\n", index);
}

static void hostile_plugins(void) {
  unsigned calls = compare_scale() >= 100 ? HOSTS : 8;
  for (size_t i = 0; i < document_count; i++) {
    if (!CHECK(compare_expect(&with, &documents[i], 1000))) continue;
    for (unsigned k = 0; k < calls; k++) parse_hostile((unsigned)i * calls + k);
  }
  static buffer page;
  static const char *const pieces[] = {"<p>\u00fc\u20ac\U0001f600",  "<table><tr><td>x",  "</table>",
                                       "<script>'<p>'</script>",     "<!-- -- > <b> -->", "<a href='\u00e4>'>y</a>",
                                       "<svg><![CDATA[<i>]]></svg>", "<b><i>z</b>",       "</div>",
                                       "<textarea></p></textarea>",  "<select><option>o", "</select>"};
  random_state random = {5};
  buffer_clear(&page);
  while (page.length < 40000) buffer_text(&page, RANDOM_OF(&random, pieces));
  expect_page(&page);
  for (unsigned k = 0; k < 2 * HOSTS; k++) parse_hostile(k);
}

/* Fed input asks for cuts in text that is still coming. */
static void hostile_feed(void) {
  static buffer page;
  buffer_clear(&page);
  for (int i = 0; i < 4000; i++) buffer_text(&page, i % 5 ? "<p>\u00fc<i>a</i>" : "<script>'</p>'</script>");
  expect_page(&page);
  for (unsigned k = 0; k < 6; k++) {
    hostile h = {.seed = k, .always = (hpar_decision)3};
    const hpar_cut_policy policy = {HPAR_CUT_POLICY_INIT, .cut = any_cut, .context = &h};
    const hpar_strategy strategy = {HPAR_STRATEGY_INIT, .cut_policy = &policy, .decide = any_decision,
                                    .interval = intervals[k], .context = &h};
    const hpar_study study = {HPAR_STUDY_INIT, .custom_strategy = &strategy};
    const hpar_options options = {HPAR_OPTIONS_INIT,   .mode = HPAR_MODE_PARALLEL,      .threads = 2,
                                  .encoding = "utf-8", .parallel.chunk_size = 1000 + k, .study = &study};
    hpar_parser **parser = &with.with_threads[2];
    CHECK_EQ(hpar_parser_begin(*parser, &options, with.document), HPAR_OK);
    for (size_t at = 0, step; at < page.length; at += step) {
      step = page.length - at < 3001 ? page.length - at : 3001;
      CHECK_EQ(hpar_parser_feed(*parser, page.bytes + at, step), HPAR_OK);
    }
    CHECK_EQ(hpar_parser_finish(*parser, NULL), HPAR_OK);
    buffer_clear(&with.got);
    compare_dump(with.document, &with.got);
    CHECK(with.got.length == with.expected.length && !memcmp(with.got.bytes, with.expected.bytes, with.got.length));
    CHECK(h.calls > 10);
  }
}

int main(void) {
  if (!compare_open(&with)) return 1;
  compare_watch();
  cut_policy_decides();
  decisions_count();
  intervals_count();
  parts_of_strategy();
  starts_are_tried();
  refused();
  hostile_plugins();
  hostile_feed();
  compare_close(&with);
  return check_report();
}
