/* The events of several threads that rewrite feeds. Those of the merger cover the input, and those
 * of workers are chunks. */

#include "check.h"
#include "rewrite/parallel.h"
#include "support/buffer.h"

#include <hpar/study.h>

enum { MAX_EVENTS = 4096 };

static hpar_event events[MAX_EVENTS];
static size_t count;
static hpar_rewriter *rewriter;

static void take_event(const hpar_event *event, void *context) {
  CHECK(context == events);
  CHECK_EQ(hpar_rewriter_trace(rewriter, NULL, NULL), HPAR_ERROR_ARGUMENT); /* a call is running */
  if (count < MAX_EVENTS) events[count++] = *event;
}

static hpar_status drop_output(const char *bytes, size_t length, void *context) {
  return (void)bytes, (void)length, (void)context, HPAR_OK;
}

static hpar_rules *make_rules(void) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "k", .value = {"v", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "a", .actions = &set, .action_count = 1};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static void rewrite(const hpar_rules *rules, const buffer *page, const hpar_rewrite_options *options, size_t feed) {
  count = 0;
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, options, drop_output, NULL), HPAR_OK);
  for (size_t at = 0; at < page->length; at += feed)
    CHECK_EQ(hpar_rewriter_feed(rewriter, page->bytes + at, page->length - at < feed ? page->length - at : feed),
             HPAR_OK);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_OK);
  CHECK(count < MAX_EVENTS);
}

/* Checks the events of a page. `first` is the number of the first chunk. Returns the number of the
 * chunk after the last. */
static uint32_t check_events(const buffer *page, unsigned threads, uint32_t first) {
  uint64_t covered = 0, workers = 0, last_ns = 0;
  uint32_t next = first;
  for (size_t i = 0; i < count; i++) {
    const hpar_event *e = &events[i];
    CHECK(e->thread < threads && e->begin_ns <= e->end_ns && e->begin <= e->end && e->end <= page->length);
    CHECK(e->chunk >= first);
    if (e->chunk >= next) next = e->chunk + 1;
    switch (e->kind) {
      case HPAR_EVENT_EXACT:
      case HPAR_EVENT_MERGE:
        CHECK(e->thread == 0 && e->end_ns >= last_ns);
        CHECK(covered <= e->begin);
        last_ns = e->end_ns;
        covered = e->end;
        break;
      case HPAR_EVENT_ROLL_BACK:
      case HPAR_EVENT_WAIT: CHECK_EQ(e->thread, 0); break;
      case HPAR_EVENT_PARSE: workers += e->end - e->begin; break;
      default: CHECK(false);
    }
  }
  CHECK(covered > page->length * 9 / 10);
  CHECK(workers <= page->length);
  return next;
}

int main(void) {
  buffer page = {0};
  buffer_text(&page, "<!doctype html><title>t</title><body>");
  for (unsigned i = 0; i < 6000; i++) buffer_text(&page, i % 97 ? "<p>some <a href=q>text</a>\n" : "</div><b>x</p>");
  hpar_rules *rules = make_rules();
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .mode = HPAR_MODE_PARALLEL,
                                        .threads = 3};
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_trace(NULL, take_event, events), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_trace(rewriter, take_event, events), HPAR_OK);
  uint32_t chunks = 0;
  const hp_rewrite_division divisions[] = {{.chunk_size = 5000, .is_inline = true}, {.chunk_size = 5000}, {0}};
  for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++) {
    CHECK_EQ(hp_rewriter_divide(rewriter, &divisions[i]), HPAR_OK);
    rewrite(rules, &page, &options, page.length);
    CHECK(count);
    chunks = check_events(&page, 3, chunks);
    rewrite(rules, &page, &options, page.length / 2 + 1);
    chunks = check_events(&page, 3, chunks);
  }
  const hpar_rewrite_options alone = {HPAR_REWRITE_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  rewrite(rules, &page, &alone, page.length);
  CHECK_EQ(count, 0);
  CHECK_EQ(hpar_rewriter_trace(rewriter, NULL, NULL), HPAR_OK);
  rewrite(rules, &page, &options, page.length);
  CHECK_EQ(count, 0);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  buffer_free(&page);
  return check_report();
}
