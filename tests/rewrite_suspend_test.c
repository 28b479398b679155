/* Callbacks that suspend. Each callback of generated documents under generated rules suspends, and
 * does its work when it is resumed. Output, calls, status and counters are those without that, for
 * each size of pieces. Then failures, other calls and the end of the rewriter while one waits. */

#include "base/memory.h"
#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/rewriting.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*** rules whose callbacks wait ***/

typedef struct waiting {
  const hpar_rule *rule;
  void *unit;
  hpar_status (*answer)(struct waiting *);
  unsigned skips; /* suspends at each call but one of so many; 0: at each */
  uint64_t count;
} waiting;

static waiting *last; /* the callback that has suspended */

static hpar_status wait_or_answer(waiting *w, void *unit, hpar_status (*answer)(waiting *)) {
  w->unit = unit;
  w->answer = answer;
  last = w;
  return w->skips && w->count++ % w->skips == 0 ? answer(w) : HPAR_SUSPEND;
}

#define WAITING(name, type)                                                                                 \
  static hpar_status answer_##name(waiting *w) { return w->rule->name((type *)w->unit, w->rule->context); } \
  static hpar_status wait_##name(type *unit, void *context) { return wait_or_answer(context, unit, answer_##name); }
WAITING(element, hpar_element)
WAITING(end, hpar_element_end)
WAITING(text, hpar_text_piece)
WAITING(comment, hpar_comment)
WAITING(doctype, hpar_doctype)
WAITING(document_end, hpar_document_end)

static waiting waits[REWRITING_MAX_RULES];

static hpar_rules *make_waiting(const rewriting *made, unsigned skips) {
  hpar_rules *rules = NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (size_t i = 0; i < made->count; i++) {
    hpar_rule rule = made->rules[i];
    waits[i] = (waiting){.rule = &made->rules[i], .skips = skips};
    if (rule.element) rule.element = wait_element;
    if (rule.end) rule.end = wait_end;
    if (rule.text) rule.text = wait_text;
    if (rule.comment) rule.comment = wait_comment;
    if (rule.doctype) rule.doctype = wait_doctype;
    if (rule.document_end) rule.document_end = wait_document_end;
    rule.context = &waits[i];
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

/*** equality ***/

static uint64_t suspensions;

static hpar_status go_on(hpar_rewriter *rewriter, hpar_status status) {
  for (; status == HPAR_SUSPEND; suspensions++) {
    CHECK_EQ(hpar_rewriter_error(rewriter)->status, HPAR_OK);
    status = hpar_rewriter_resume(rewriter, last->answer(last));
  }
  return status;
}

static hpar_status collect(const char *bytes, size_t length, void *out) {
  buffer_add(out, bytes, length);
  return HPAR_OK;
}

/* Rewrites in pieces of `most` bytes; 0: by hpar_rewrite. Sets the output, the log and the counters
 * of `made`. */
static hpar_status run(rewriting *made, const hpar_rules *rules, hpar_rewriter *rewriter,
                       const hpar_rewrite_options *options, const char *bytes, size_t length, size_t most) {
  buffer_clear(&made->out);
  buffer_clear(&made->log);
  for (size_t i = 0; i < made->count; i++) buffer_clear(&made->calls[i].piece);
  made->stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT, .failed_at = UINT64_MAX};
  if (!most)
    return go_on(rewriter, hpar_rewrite(rewriter, rules, options, bytes, length, &made->stats, collect, &made->out));
  hpar_status status = hpar_rewriter_begin(rewriter, rules, options, collect, &made->out);
  if (status) return status;
  for (size_t at = 0; at < length && !status; at += most) {
    const size_t piece = length - at < most ? length - at : most;
    char *copy = malloc(piece);
    memcpy(copy, bytes + at, piece);
    status = go_on(rewriter, hpar_rewriter_feed(rewriter, copy, piece));
    free(copy);
  }
  return go_on(rewriter, hpar_rewriter_finish(rewriter, &made->stats));
}

static bool is_same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static bool check_run(rewriting *made, const hpar_rules *rules, hpar_rewriter *rewriter,
                      const hpar_rewrite_options *options, const generated *document, size_t most) {
  const buffer *text = &document->text;
  buffer out = {0}, log = {0};
  hpar_rewrite_options plain = *options;
  plain.suspends = false;
  const hpar_status status = run(made, made->compiled, rewriter, &plain, text->bytes, text->length, most);
  const hpar_rewrite_stats stats = made->stats;
  buffer_add(&out, made->out.length ? made->out.bytes : "", made->out.length);
  buffer_add(&log, made->log.length ? made->log.bytes : "", made->log.length);
  const hpar_status got = run(made, rules, rewriter, options, text->bytes, text->length, most);
  const bool fine = CHECK_EQ(got, status) && CHECK(is_same(&out, &made->out)) && CHECK(is_same(&log, &made->log)) &&
                    CHECK_EQ(made->stats.matches, stats.matches) && CHECK_EQ(made->stats.edits, stats.edits) &&
                    CHECK_EQ(made->stats.held_bytes, stats.held_bytes) &&
                    CHECK_EQ(made->stats.failed_at, stats.failed_at);
  if (!fine) {
    buffer shown = {0};
    buffer_escaped(&shown, text->bytes, text->length);
    printf("  pieces of %zu bytes: %s\n", most, shown.bytes);
    rewriting_print(made);
    buffer_free(&shown);
  }
  buffer_free(&out);
  buffer_free(&log);
  return fine;
}

static void documents(void) {
  static rewriting made;
  generated document = {0};
  hpar_rewriter *rewriter = NULL;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  const uint64_t count = compare_full() ? 20000 : 10 * compare_scale();
  for (uint64_t seed = 0; seed < count && !check_failed; seed++) {
    random_state random = {seed};
    const unsigned stops = seed % 4 == 3 ? REWRITING_STOPS : 0;
    rewriting_make(&made, &random, REWRITING_CALLBACKS | REWRITING_UNITS | REWRITING_IMPLIED | stops);
    generate(seed, &document);
    hpar_rules *rules = make_waiting(&made, seed % 3 == 2 ? 2 : 0);
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                          .encoding = seed % 5 ? "utf-8" : "windows-1252",
                                          .fragment = document.fragment,
                                          .no_scripting = !document.scripting,
                                          .mode = HPAR_MODE_PARALLEL,
                                          .threads = 2,
                                          .on_failure = seed % 8 == 7 ? HPAR_FAIL_PASS : HPAR_FAIL_STOP,
                                          .suspends = true};
    const size_t sizes[] = {0, 1, 2 + random_below(&random, 6), 1 + random_below(&random, 200)};
    for (int i = 0; i < 4; i++)
      if (!check_run(&made, rules, rewriter, &options, &document, sizes[i])) break;
    hpar_rules_destroy(rules);
    hpar_rules_destroy(made.compiled);
    made.compiled = NULL;
  }
  CHECK(suspensions > 0);
  hpar_rewriter_destroy(rewriter);
  generate_free(&document);
  rewriting_free(&made);
}

/*** one page with each kind of callback ***/

static const char page[] = "<!doctype html><p class=a>x<b>y</p>z</b><!--c--><ul><li>a<li>b</ul><table><td>c<svg><a>d"
                           "</table><select><option>o</select><style>e</style>f<br>&amp;<i><i>g<p>h</body>";

typedef struct page_calls {
  uint64_t left, count; /* callbacks until the one that suspends, and all */
  void *unit;
  buffer out;
} page_calls;

static hpar_status turn(page_calls *c, void *unit) {
  c->unit = unit;
  c->count++;
  return c->left-- == 0 ? HPAR_SUSPEND : HPAR_OK;
}

static hpar_status on_late_end(hpar_element_end *end, void *context) {
  hpar_element_end_insert(end, HPAR_WHERE_AFTER, "|", 1, HPAR_CONTENT_HTML);
  return turn(context, end);
}

static hpar_status on_element(hpar_element *element, void *context) {
  page_calls *c = context;
  hpar_element_insert(element, HPAR_WHERE_BEFORE, "[", 1, HPAR_CONTENT_HTML);
  const hpar_status status = hpar_element_on_end(element, on_late_end, c);
  return status ? status : turn(c, element);
}

static hpar_status on_text(hpar_text_piece *text, void *context) { return turn(context, text); }
static hpar_status on_comment(hpar_comment *comment, void *context) { return turn(context, comment); }
static hpar_status on_doctype(hpar_doctype *doctype, void *context) { return turn(context, doctype); }
static hpar_status on_document_end(hpar_document_end *end, void *context) {
  hpar_document_end_append(end, "end", 3, HPAR_CONTENT_HTML);
  return turn(context, end);
}

static hpar_rules *page_rules(page_calls *calls) {
  hpar_rules *rules = NULL;
  const hpar_rule all[] = {{HPAR_RULE_INIT, .selector = "*", .element = on_element, .implied = true, .context = calls},
                           {HPAR_RULE_INIT, .text = on_text, .comment = on_comment, .doctype = on_doctype,
                            .document_end = on_document_end, .context = calls}};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (int i = 0; i < 2; i++) CHECK_EQ(hpar_rules_add(rules, &all[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

/* Rewrites the page up to the suspension of callback `number`. Returns HPAR_OK after the last. */
static hpar_status begin_page(page_calls *c, const hpar_rules *rules, hpar_rewriter *rewriter, uint64_t number,
                              hpar_rewrite_options options) {
  options.suspends = true;
  buffer_clear(&c->out);
  c->left = number;
  c->count = 0;
  return hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, collect, &c->out);
}

static void check_refusals(hpar_rewriter *rewriter, const hpar_rules *rules) {
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_feed(rewriter, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite(rewriter, rules, NULL, "x", 1, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_resume(rewriter, HPAR_SUSPEND), HPAR_ERROR_ARGUMENT);
}

static bool begins_with(const buffer *whole, const buffer *part) {
  return part->length <= whole->length && (!part->length || !memcmp(whole->bytes, part->bytes, part->length));
}

/* At each callback: other calls, a failure as the answer, and the end of the rewriter. */
static void answers(void) {
  page_calls calls = {0};
  hpar_rules *rules = page_rules(&calls);
  hpar_rewriter *rewriter = NULL;
  buffer whole = {0};
  const hpar_rewrite_options stop = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(begin_page(&calls, rules, rewriter, UINT64_MAX, stop), HPAR_OK);
  buffer_add(&whole, calls.out.bytes, calls.out.length);
  const uint64_t count = calls.count;
  CHECK(count > 50);
  for (uint64_t i = 0; i < count && !check_failed; i++) {
    hpar_error error;
    hpar_rewrite_options options = stop;
    options.error = &error;
    CHECK_EQ(begin_page(&calls, rules, rewriter, i, options), HPAR_SUSPEND);
    CHECK_EQ(calls.count, i + 1);
    CHECK(begins_with(&whole, &calls.out));
    check_refusals(rewriter, rules);
    CHECK_EQ(hpar_rewriter_resume(rewriter, HPAR_OK), HPAR_OK);
    CHECK(is_same(&whole, &calls.out));
    CHECK_EQ(error.status, HPAR_OK);
    CHECK_EQ(hpar_rewriter_resume(rewriter, HPAR_OK), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(begin_page(&calls, rules, rewriter, i, options), HPAR_SUSPEND);
    CHECK_EQ(hpar_rewriter_resume(rewriter, HPAR_ERROR_IO), HPAR_ERROR_IO);
    CHECK_EQ(error.status, HPAR_ERROR_IO);
    CHECK_EQ(calls.count, i + 1);
    CHECK(begins_with(&whole, &calls.out));
    hpar_rewriter *lost = NULL;
    CHECK_EQ(hpar_rewriter_create(&lost), HPAR_OK);
    CHECK_EQ(begin_page(&calls, rules, lost, i, options), HPAR_SUSPEND);
    const size_t written = calls.out.length;
    hpar_rewriter_destroy(lost);
    CHECK_EQ(calls.out.length, written);
    CHECK_EQ(calls.count, i + 1);
  }
  buffer_free(&whole);
  buffer_free(&calls.out);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
}

/* Each allocation of a stream fails, at a callback or between two. */
static void allocations(void) {
  page_calls calls = {0};
  hpar_rules *rules = page_rules(&calls);
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  bool ended = false;
  for (uint64_t n = 0; !ended && n < 5000; n++) {
    hpar_rewriter *rewriter = NULL;
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    hp_memory_fail_once(n);
    hpar_status status = begin_page(&calls, rules, rewriter, 3, options);
    if (status == HPAR_SUSPEND) status = hpar_rewriter_resume(rewriter, HPAR_OK);
    ended = hp_memory_left() != UINT64_MAX && status == HPAR_OK;
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
    hpar_rewriter_destroy(rewriter);
  }
  CHECK(ended);
  buffer_free(&calls.out);
  hpar_rules_destroy(rules);
}

typedef struct thread_call {
  hpar_rewriter *rewriter;
  hpar_status status;
} thread_call;

static void *resume(void *argument) {
  thread_call *call = argument;
  call->status = hpar_rewriter_resume(call->rewriter, HPAR_OK);
  return NULL;
}

/* Another thread resumes than the one that feeds. */
static void threads(void) {
  page_calls calls = {0};
  hpar_rules *rules = page_rules(&calls);
  thread_call call = {0};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer whole = {0};
  CHECK_EQ(hpar_rewriter_create(&call.rewriter), HPAR_OK);
  CHECK_EQ(begin_page(&calls, rules, call.rewriter, UINT64_MAX, options), HPAR_OK);
  buffer_add(&whole, calls.out.bytes, calls.out.length);
  CHECK_EQ(begin_page(&calls, rules, call.rewriter, 0, options), HPAR_SUSPEND);
  do {
    pthread_t thread;
    calls.left = 0;
    CHECK_EQ(pthread_create(&thread, NULL, resume, &call), 0);
    pthread_join(thread, NULL);
  } while (call.status == HPAR_SUSPEND);
  CHECK_EQ(call.status, HPAR_OK);
  CHECK(is_same(&whole, &calls.out));
  buffer_free(&whole);
  buffer_free(&calls.out);
  hpar_rewriter_destroy(call.rewriter);
  hpar_rules_destroy(rules);
}

static hpar_status suspend_writing(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_SUSPEND;
}

static hpar_status destroy_rewriter(hpar_element *element, void *context) {
  (void)element;
  hpar_rewriter_destroy(*(hpar_rewriter **)context);
  return HPAR_SUSPEND;
}

/* Where HPAR_SUSPEND is no answer. A filter reads its output by the same rules, and suspends there,
 * too. */
static void refusals(void) {
  page_calls calls = {0};
  hpar_rules *rules = page_rules(&calls);
  hpar_rewriter *rewriter = NULL;
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  calls.left = 0;
  CHECK_EQ(hpar_rewriter_resume(NULL, HPAR_OK), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_resume(rewriter, HPAR_OK), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK(strstr(hpar_rewriter_error(rewriter)->text, "suspends"));
  for (int suspends = 0; suspends < 2; suspends++) {
    options.suspends = suspends;
    calls.left = UINT64_MAX;
    CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, suspend_writing, NULL),
             HPAR_ERROR_ARGUMENT);
  }
  hpar_rewrite_page one = {HPAR_REWRITE_PAGE_INIT, .bytes = page, .length = sizeof page - 1};
  CHECK_EQ(hpar_rewrite_many(rules, &options, &one, 1, NULL, NULL), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);

  hpar_rule rule = {HPAR_RULE_INIT, .selector = "b", .element = on_element, .pure = true, .context = &calls};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  options.filter = true;
  unsigned waited = 0;
  calls.left = 0;
  hpar_status status = hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, collect, &calls.out);
  for (; status == HPAR_SUSPEND; waited++) {
    calls.left = 0;
    status = hpar_rewriter_resume(rewriter, HPAR_OK);
  }
  CHECK_EQ(status, HPAR_OK);
  CHECK(waited >= 3); /* the element, its end, and the element of the output */
  calls.left = 2;
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, collect, &calls.out), HPAR_SUSPEND);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);

  rule = (hpar_rule){HPAR_RULE_INIT, .selector = "b", .element = destroy_rewriter, .context = &rewriter};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  options.filter = false;
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, sizeof page - 1, NULL, collect, &calls.out),
           HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
  buffer_free(&calls.out);
}

int main(void) {
  documents();
  answers();
  allocations();
  threads();
  refusals();
  return check_report();
}
