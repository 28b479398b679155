/* Rewriting many pages at once. Each has the output, the status and the statistics that it has
 * alone, for all numbers of threads and executors. The reports come in the order of the pages, one
 * at a time. A page that fails affects no other one. */

#include "base/memory.h"
#include "check.h"
#include "support/buffer.h"
#include "support/generate.h"

#include <hpar/parse.h>
#include <hpar/rewrite.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { COUNT = 48, SPECIAL = 5, WIDE = 9, STOPPED = 11 };

static buffer pages[COUNT], expected[COUNT], got[COUNT];
static hpar_rewrite_stats stats[COUNT];
static hpar_status statuses[COUNT];
static hpar_rules *rules, *special;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static hpar_status stop_at_mark(hpar_element *element, void *context) {
  (void)context;
  return hpar_element_attribute(element, "stop").bytes ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static void make_rules(void) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
  static const hpar_action append = {.kind = HPAR_ACTION_APPEND, .format = HPAR_CONTENT_HTML, .value = {"<hr>", 4}};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "a, b", .actions = &set, .action_count = 1, .limit = 9};
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  rule = (hpar_rule){HPAR_RULE_INIT, .selector = "div > *", .actions = &append, .action_count = 1,
                     .element = stop_at_mark};
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  CHECK_EQ(hpar_rules_create(&special), HPAR_OK);
  rule = (hpar_rule){HPAR_RULE_INIT, .selector = "p", .actions = &append, .action_count = 1};
  CHECK_EQ(hpar_rules_add(special, &rule, NULL), HPAR_OK);
}

static void make_pages(void) {
  generated made = {0};
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (unsigned i = 0; i < COUNT; i++) {
    generate(500 + i, &made);
    for (unsigned times = 0; times <= i * 7 % 30; times++) buffer_add(&pages[i], made.text.bytes, made.text.length);
    if (i == SPECIAL) buffer_text(&pages[i], "<p>a<p>b");
    if (i == WIDE) buffer_clear(&pages[i]);
    if (i == STOPPED) buffer_text(&pages[i], "</table></template><div><i stop>");
    stats[i] = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT};
    statuses[i] = hpar_rewrite(rewriter, i == SPECIAL ? special : rules, NULL, pages[i].bytes, pages[i].length,
                               &stats[i], collect, &expected[i]);
  }
  hpar_rewriter_destroy(rewriter);
  generate_free(&made);
}

typedef struct seen {
  size_t next;
  _Atomic unsigned at_once;
  bool wrong;
} seen;

static void note(size_t index, hpar_rewrite_page *page, void *context) {
  seen *s = context;
  s->wrong |= atomic_fetch_add(&s->at_once, 1) != 0 || index != s->next++ || page->context != &got[index];
  atomic_fetch_sub(&s->at_once, 1);
}

static void run_backwards(unsigned count, hpar_task_callback task, void *job, void *context) {
  unsigned *calls = context;
  for (unsigned i = count; i-- > 0;) task(job, i);
  *calls += count;
}

static void check_all(const hpar_rewrite_options *options, bool reports) {
  hpar_rewrite_page many[COUNT];
  seen s = {0};
  for (unsigned i = 0; i < COUNT; i++) {
    buffer_clear(&got[i]);
    many[i] = (hpar_rewrite_page){HPAR_REWRITE_PAGE_INIT,    .bytes = pages[i].length ? pages[i].bytes : NULL,
                                  .length = pages[i].length, .rules = i == SPECIAL ? special : NULL,
                                  .write = collect,          .context = &got[i]};
  }
  CHECK_EQ(hpar_rewrite_many(rules, options, many, COUNT, reports ? note : NULL, &s), HPAR_OK);
  CHECK(!s.wrong);
  CHECK_EQ(s.next, reports ? COUNT : 0);
  for (unsigned i = 0; i < COUNT; i++) {
    CHECK_EQ(many[i].status, statuses[i]);
    CHECK_BYTES(got[i].bytes, got[i].length, expected[i].bytes, expected[i].length);
    CHECK_EQ(many[i].stats.matches, stats[i].matches);
    CHECK_EQ(many[i].stats.edits, stats[i].edits);
    CHECK_EQ(many[i].stats.failed_at, stats[i].failed_at);
    CHECK_EQ(many[i].stats.output_bytes, stats[i].output_bytes);
  }
}

static void test_arguments(void) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = HPAR_MAX_THREADS + 1};
  hpar_rewrite_page page = {HPAR_REWRITE_PAGE_INIT, .bytes = "x", .length = 1},
                    empty = {HPAR_REWRITE_PAGE_INIT, .length = 1};
  CHECK_EQ(hpar_rewrite_many(rules, NULL, NULL, 0, NULL, NULL), HPAR_OK);
  CHECK_EQ(hpar_rewrite_many(rules, NULL, NULL, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite_many(rules, &options, &page, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite_many(NULL, NULL, &page, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite_many(rules, NULL, &empty, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite_many(special, NULL, &page, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
}

/* Each allocation in turn fails. No page is lost, and none is rewritten twice. */
static void test_memory(void) {
  for (uint32_t n = 0; n < 60; n++) {
    hpar_rewrite_page many[2] = {{HPAR_REWRITE_PAGE_INIT, .bytes = "<a>", .length = 3},
                                 {HPAR_REWRITE_PAGE_INIT, .bytes = "<div><b>", .length = 8}};
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = 1};
    seen s = {0};
    many[0].context = &got[0];
    many[1].context = &got[1];
    hp_memory_fail_after(n);
    hpar_status status = hpar_rewrite_many(rules, &options, many, 2, note, &s);
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    CHECK_EQ(s.next, status ? 0 : 2);
    CHECK(!s.wrong);
  }
}

int main(void) {
  unsigned calls = 0;
  make_rules();
  test_arguments();
  CHECK_EQ(hpar_rules_compile(special), HPAR_OK);
  make_pages();
  CHECK_EQ(statuses[STOPPED], HPAR_ERROR_CALLBACK);
  check_all(NULL, true);
  for (unsigned threads = 1; threads <= 5; threads++) {
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .threads = threads};
    check_all(&options, true);
    check_all(&options, false);
    options.run = run_backwards;
    options.run_context = &calls;
    check_all(&options, true);
  }
  CHECK_EQ(calls, 2 + 3 + 4 + 5);
  test_memory();
  for (unsigned i = 0; i < COUNT; i++) {
    buffer_free(&pages[i]);
    buffer_free(&expected[i]);
    buffer_free(&got[i]);
  }
  hpar_rules_destroy(rules);
  hpar_rules_destroy(special);
  return check_report();
}
