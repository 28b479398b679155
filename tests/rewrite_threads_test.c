/* Several threads share compiled rules. Each has a rewriter of its own, in the last round with a
 * worker, and rules that retire at different times. Each output equals the one of a single thread.
 * ThreadSanitizer finds writes to the rules. */

#include "check.h"
#include "support/buffer.h"

#include <hpar/rewrite.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 6 };

static hpar_rules *rules;
static buffer page;

/* Retires with the first element that has the attribute. */
static hpar_status retire_at_mark(hpar_element *element, void *context) {
  (void)context;
  hpar_element_set(element, "seen", "1", 1);
  return hpar_element_attribute(element, "mark").bytes ? HPAR_RETIRE : HPAR_OK;
}

static hpar_status retire_text(hpar_text_piece *text, void *context) {
  (void)context;
  hpar_text_piece_insert(text, HPAR_WHERE_BEFORE, "#", 1, HPAR_CONTENT_HTML);
  return HPAR_RETIRE;
}

static hpar_status end(hpar_element_end *end, void *context) {
  (void)context;
  hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "\xE4\xB8\xAD", 3, HPAR_CONTENT_TEXT);
  return HPAR_OK;
}

static void add(const hpar_rule *rule) { CHECK_EQ(hpar_rules_add(rules, rule, NULL), HPAR_OK); }

static void make_rules(void) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
  static const hpar_action text = {
      .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"x", 1}, .replacement = {"\xC3\xA9", 2}};
  static const hpar_action comment = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  add(&(hpar_rule){HPAR_RULE_INIT, .selector = "div > a[href]", .actions = &set, .action_count = 1, .limit = 20});
  add(&(hpar_rule){HPAR_RULE_INIT, .selector = ".c p:nth-child(2n)", .element = retire_at_mark, .end = end});
  add(&(hpar_rule){HPAR_RULE_INIT, .selector = "li:nth-of-type(2), :scope > body", .element = retire_at_mark});
  add(&(hpar_rule){HPAR_RULE_INIT, .selector = "b", .actions = &text, .action_count = 1, .text = retire_text});
  add(&(hpar_rule){HPAR_RULE_INIT, .actions = &comment, .action_count = 1});
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
}

static void make_page(void) {
  buffer_text(&page, "<!doctype html><body mark>");
  for (int i = 0; i < 600; i++)
    buffer_format(&page,
                  "<div class=c><p>a<p%s>x<x-%d>y</x-%d><b>xx</b><a href=q>l</a><ul><li>1<li>2</ul><!-- c -->"
                  "<svg><g/></svg></div>",
                  i == 333 ? " mark" : "", i, i);
}

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static const char *const encodings[] = {"utf-8", "big5", "gb18030", "latin1"};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

typedef struct work {
  buffer out[ENCODINGS];
  unsigned failed;
  bool is_parallel; /* the last round has two threads for each page */
} work;

static void *run(void *argument) {
  work *w = argument;
  hpar_rewriter *rewriter;
  if (hpar_rewriter_create(&rewriter)) return NULL;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < ENCODINGS; i++) {
      hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = encodings[i]};
      const bool is_parallel = round == ROUNDS - 1 && w->is_parallel;
      if (is_parallel) options.mode = HPAR_MODE_PARALLEL, options.threads = 2;
      hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
      buffer_clear(&w->out[i]);
      hpar_status status = hpar_rewriter_begin(rewriter, rules, &options, collect, &w->out[i]);
      size_t piece = is_parallel ? page.length : 170 + 900 * (size_t)round;
      for (size_t at = 0; !status && at < page.length; at += piece)
        status = hpar_rewriter_feed(rewriter, page.bytes + at, page.length - at < piece ? page.length - at : piece);
      w->failed += status || hpar_rewriter_finish(rewriter, &stats) || !stats.matches;
    }
  }
  hpar_rewriter_destroy(rewriter);
  return NULL;
}

int main(void) {
  static work alone, works[THREADS];
  pthread_t threads[THREADS];
  make_rules();
  make_page();
  /* The threads come first, so that they make the tables of the encodings. */
  for (int i = 0; i < THREADS; i++) works[i].is_parallel = true;
  for (int i = 0; i < THREADS; i++) CHECK(!pthread_create(&threads[i], NULL, run, &works[i]));
  for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(threads[i], NULL));
  run(&alone);
  CHECK_EQ(alone.failed, 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQ(works[i].failed, 0);
    for (int k = 0; k < ENCODINGS; k++)
      CHECK_BYTES(works[i].out[k].bytes, works[i].out[k].length, alone.out[k].bytes, alone.out[k].length);
  }
  CHECK(alone.out[0].length && memmem(alone.out[0].bytes, alone.out[0].length, "<body mark seen=\"1\">", 20));
  for (int i = 0; i <= THREADS; i++)
    for (int k = 0; k < ENCODINGS; k++) buffer_free(i < THREADS ? &works[i].out[k] : &alone.out[k]);
  buffer_free(&page);
  hpar_rules_destroy(rules);
  return check_report();
}
