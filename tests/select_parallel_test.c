/* Checks that hpar_select with several threads reports the matches of one thread in the same order:
 * with threads of the library, with the caller's executor, on wide, deep and mixed trees. Checks
 * failing allocations of the compiler and of both selections. */

#include "base/memory.h"
#include "check.h"
#include "runtime/units.h"
#include "select/match.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/executors.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <sched.h>
#include <stdlib.h>

static bool is_small; /* the sample, as for emulated processors */
static hpar_parser *parser;
static hpar_document *document;

static const char *const texts[] = {
    "p",
    ".x",
    "#i7",
    "[href]",
    "div p",
    "div > p.x, li.y",
    "h2 + p",
    "h2 ~ p",
    "p:first-child",
    "li:nth-child(3n+1)",
    "li:nth-child(2n of .x)",
    "b:nth-of-type(2)",
    "p:not(.x):last-child",
    ":is(ul, div) > :is(li, p)",
    ":lang(de) b",
    "input:disabled",
    "fieldset:enabled input:enabled",
    "div div div div div",
    ":scope > body p:empty",
    "ul ~ div p ~ b",
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* At most 64 instructions, of which the walk keeps one word, without and with inner selectors. */
static const char *const narrow_texts[] = {"div > p.x, li.y", "h2 + p", "h2 ~ p", "p:first-child", "ul ~ div p ~ b"};
static const char *const nested_texts[] = {":is(h2, ul .y) ~ p", "li:nth-child(2n of .x)", "p:not(div > p) + ul"};

typedef struct matches {
  hpar_node *elements;
  uint32_t *selectors;
  size_t count, capacity, limit; /* limit 0: none */
} matches;

static hpar_status add_match(hpar_node element, uint32_t selector, void *context) {
  matches *m = context;
  if (m->count == m->capacity) {
    m->capacity = 2 * m->capacity + 1024;
    m->elements = realloc(m->elements, m->capacity * sizeof *m->elements);
    m->selectors = realloc(m->selectors, m->capacity * sizeof *m->selectors);
    if (!m->elements || !m->selectors) abort();
  }
  m->elements[m->count] = element;
  m->selectors[m->count++] = selector;
  return !m->limit || m->count < m->limit ? HPAR_OK : HPAR_STOP;
}

static void free_matches(matches *m) {
  free(m->elements);
  free(m->selectors);
  *m = (matches){0};
}

static bool equal(const matches *a, const matches *b) {
  return a->count == b->count && (!a->count || (!memcmp(a->elements, b->elements, a->count * sizeof *a->elements) &&
                                                !memcmp(a->selectors, b->selectors, a->count * sizeof *a->selectors)));
}

static hpar_selectors *compile(const char *const *from, size_t count) {
  hpar_selectors *set = NULL;
  if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) abort();
  for (size_t i = 0; i < count; i++)
    if (!CHECK_EQ(hpar_selectors_add(set, from[i], strlen(from[i]), NULL), HPAR_OK)) printf("  %s\n", from[i]);
  return set;
}

static bool parse(const buffer *page) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  return CHECK_EQ(hpar_parse(parser, &options, page->bytes, page->length, document, NULL), HPAR_OK);
}

/* Writes a page of about `elements` elements, at most `depth` of them open. */
static void write_page(buffer *page, uint64_t number, unsigned elements, unsigned depth) {
  static const char *const names[] = {"div", "p", "ul", "li", "b", "h2", "fieldset", "div"};
  random_state state = {number}, *seed = &state;
  const char **open = malloc(depth * sizeof *open);
  unsigned count = 0;
  if (!open) abort();
  buffer_clear(page);
  buffer_text(page, "<!DOCTYPE html><body>");
  for (unsigned i = 0; i < elements; i++) {
    while (count == depth || (count && random_below(seed, 9) < 4)) buffer_format(page, "</%s>", open[--count]);
    const char *name = names[random_below(seed, 8)];
    buffer_format(page, "<%s", name);
    if (!random_below(seed, 3)) buffer_format(page, " class='%s z'", random_below(seed, 2) ? "x" : "y");
    if (!random_below(seed, 20)) buffer_format(page, " id=i%u", (unsigned)random_below(seed, 9));
    if (!random_below(seed, 50)) buffer_text(page, " lang=de");
    if (!random_below(seed, 9)) buffer_text(page, " disabled href='a&amp;b'");
    buffer_text(page, random_below(seed, 2) ? "><input>" : ">");
    open[count++] = name;
  }
  free(open);
}

static void compare(const hpar_selectors *set, hpar_node top, const char *what) {
  matches expected = {0}, got = {0};
  CHECK_EQ(hpar_select(set, document, top, NULL, add_match, &expected), HPAR_OK);
  static const hpar_run_callback executors[] = {NULL, run_threads, run_none, run_last};
  for (size_t e = 0; e < sizeof executors / sizeof *executors; e++) {
    for (unsigned threads = 0; threads <= 7; threads += !threads ? 1 : is_small ? 3 : 2) {
      unsigned runs = 0;
      hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads,
                                     .run = executors[e], .run_context = &runs};
      got.count = 0;
      CHECK_EQ(hpar_select(set, document, top, &options, add_match, &got), HPAR_OK);
      if (!CHECK(equal(&expected, &got)))
        printf("  %s: executor %zu, %u threads: %zu of %zu\n", what, e, threads, got.count, expected.count);
      CHECK(executors[e] || !runs);
    }
  }
  got.count = 0;
  got.limit = expected.limit = expected.count / 2;
  if (got.limit) {
    const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL};
    CHECK_EQ(hpar_select(set, document, top, &options, add_match, &got), HPAR_OK);
    CHECK_EQ(got.count, got.limit);
  }
  free_matches(&expected);
  free_matches(&got);
}

static void check_pages(void) {
  static const char *const ahead[] = {"p:has(> b)", "li:nth-last-child(2)", "b:last-of-type"};
  buffer page = {0};
  hpar_selectors *set = compile(texts, TEXTS), *backward = compile(ahead, 3), *narrow = compile(narrow_texts, 5),
                 *nested = compile(nested_texts, 3), *flat = compile(texts, 4);
  for (uint64_t number = 0; number < 4; number += is_small ? 3 : 1) {
    write_page(&page, number, 30000, number == 3 ? 3 : 200);
    if (!parse(&page)) continue;
    hpar_node root = hpar_document_root(document), html = hpar_node_last_child(document, root);
    hpar_node body = hpar_node_last_child(document, html);
    compare(set, root, "page");
    compare(set, body, "body");
    compare(set, hpar_node_first_child(document, body), "first child");
    compare(backward, root, "backward");
    compare(narrow, root, "narrow");
    compare(nested, root, "nested");
    compare(flat, root, "flat");
    unsigned runs = 0;
    uint64_t all = 0;
    hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .threads = 3, .run = run_threads, .run_context = &runs};
    matches found = {0};
    CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_OK);
    all = found.count;
    CHECK_EQ(runs, 1);
    CHECK(all > 1000);
    options.mode = HPAR_MODE_SEQUENTIAL; /* one thread, whatever the executor is */
    CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_OK);
    CHECK_EQ(runs, 1);
    CHECK_EQ(found.count, 2 * all);
    options.mode = HPAR_MODE_AUTO; /* the executor alone asks for several threads */
    options.threads = 0;
    CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_OK);
    CHECK_EQ(found.count, 3 * all);
    free_matches(&found);
  }
  hpar_selectors_destroy(flat);
  hpar_selectors_destroy(nested);
  hpar_selectors_destroy(narrow);
  hpar_selectors_destroy(backward);
  hpar_selectors_destroy(set);
  buffer_free(&page);
}

/* Checks a tree of one path and a tree of one row of siblings. */
static void check_shapes(void) {
  buffer page = {0};
  hpar_selectors *set = compile(texts, TEXTS), *narrow = compile(narrow_texts, 5), *nested = compile(nested_texts, 3);
  for (int wide = 0; wide < 2; wide++) {
    buffer_clear(&page);
    buffer_text(&page, "<!DOCTYPE html><body>");
    for (int i = 0; i < (is_small ? 10000 : 100000); i++)
      buffer_text(&page, wide ? i % 3 ? "<p class=x></p>" : "<h2></h2>" : "<div class=x>");
    if (!parse(&page)) continue;
    compare(set, hpar_document_root(document), wide ? "wide" : "deep");
    compare(narrow, hpar_document_root(document), wide ? "wide, narrow" : "deep, narrow");
    compare(nested, hpar_document_root(document), wide ? "wide, nested" : "deep, nested");
  }
  hpar_selectors_destroy(nested);
  hpar_selectors_destroy(narrow);
  hpar_selectors_destroy(set);
  buffer_free(&page);
}

static void yield(void) { sched_yield(); }

/* Threads that take turns at ranges of deep and wide trees step over each node three times at most:
 * for their shares, for the nodes that they match, and on one way to a range. */
static void check_steps(void) {
  enum { THREADS = 64 };
  static const char *const selectors[] = {"div s", ":nth-of-type(7n)", "s + div:not(.x)"};
  const unsigned pairs = is_small ? 40000 : 200000;
  buffer page = {0};
  for (unsigned shape = 0; shape < 3; shape++) {
    buffer_clear(&page);
    buffer_text(&page, "<!DOCTYPE html><body>");
    for (unsigned i = 0; shape == 2 && i < 300; i++) buffer_text(&page, "<div>");
    for (unsigned i = 0; i < pairs; i++) buffer_text(&page, shape ? "<s></s><div></div>" : "<s></s><div>");
    if (!parse(&page)) continue;
    hpar_selectors *set = compile(&selectors[shape], 1);
    unsigned runs = 0;
    matches expected = {0}, got = {0};
    const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .threads = THREADS, .run = run_threads,
                                         .run_context = &runs};
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add_match, &expected), HPAR_OK);
    const uint64_t before = hp_begin_steps();
    hp_unit_set_hook(yield);
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), &options, add_match, &got), HPAR_OK);
    hp_unit_set_hook(NULL);
    const uint64_t steps = hp_begin_steps() - before;
    CHECK_EQ(runs, 1);
    CHECK(equal(&expected, &got));
    if (!CHECK(steps <= 6 * pairs)) printf("  %s: %llu steps\n", selectors[shape], (unsigned long long)steps);
    free_matches(&expected);
    free_matches(&got);
    hpar_selectors_destroy(set);
  }
  buffer_free(&page);
}

static void check_arguments(void) {
  hpar_selectors *set = compile(texts, 1);
  hpar_node root = hpar_document_root(document);
  matches found = {0};
  hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .threads = 1000};
  CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_ERROR_ARGUMENT);
  options = (hpar_select_options){HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL + 1};
  CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_ERROR_ARGUMENT);
  options = (hpar_select_options){.size = 0};
  CHECK_EQ(hpar_select(set, document, root, &options, add_match, &found), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_select(NULL, document, root, NULL, add_match, &found), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_select(set, NULL, root, NULL, add_match, &found), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_select(set, document, root, NULL, NULL, &found), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_select(set, document, HPAR_NO_NODE, NULL, add_match, &found), HPAR_OK);
  CHECK_EQ(found.count, 0);
  free_matches(&found);
  hpar_selectors_destroy(set);
}

/* Selects in a document that is being fed: the elements so far, or none if the parse waits for the
 * whole input. */
static void check_feeds(void) {
  enum { ELEMENTS = 5000 };
  hpar_selectors *set = compile(texts, 1);
  buffer page = {0};
  for (int i = 0; i < ELEMENTS; i++) buffer_text(&page, "<p>x</p>");
  for (int collects = 0; collects < 2; collects++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
    if (collects) options.limits.memory_per_byte = 1000;
    const hpar_select_options two = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2};
    matches during = {0}, after = {0};
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(parser, page.bytes, page.length), HPAR_OK);
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), &two, add_match, &during), HPAR_OK);
    CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), &two, add_match, &after), HPAR_OK);
    if (!CHECK(collects ? !during.count : during.count >= ELEMENTS - 1)) printf("  %zu elements\n", during.count);
    CHECK_EQ(after.count, ELEMENTS);
    free_matches(&during);
    free_matches(&after);
  }
  hpar_selectors_destroy(set);
  buffer_free(&page);
}

/* Compiles and selects while allocations fail. Returns false if none failed. */
static bool try(uint64_t n, bool once, bool in_parallel, const matches *expected) {
  hpar_selectors *set = NULL;
  matches got = {0};
  unsigned runs = 0, added = 0;
  hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .threads = 3, .run = run_last, .run_context = &runs};
  hpar_node root = hpar_document_root(document);
  if (once)
    hp_memory_fail_once(n);
  else
    hp_memory_fail_after(n);
  hpar_status status = hpar_selectors_create(&set);
  for (; !status && added < TEXTS; added += !status) {
    hpar_error error = {.text = "x"};
    status = hpar_selectors_add(set, texts[added], strlen(texts[added]), &error);
    if (status) CHECK_STRING(error.text, hpar_status_text(status));
  }
  if (!status) status = hpar_select(set, document, root, in_parallel ? &options : NULL, add_match, &got);
  uint64_t left = hp_memory_left();
  hp_memory_fail_after(UINT64_MAX);
  bool fine = CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
  if (!status) fine = CHECK(equal(expected, &got)) && fine;
  if (status && in_parallel) fine = CHECK_EQ(got.count, 0) && fine;
  /* The set remains usable, without the selector that failed. */
  if (set) fine = CHECK_EQ(hpar_selectors_count(set), added) && fine;
  for (; set && added < TEXTS; added++)
    fine = CHECK_EQ(hpar_selectors_add(set, texts[added], strlen(texts[added]), NULL), HPAR_OK) && fine;
  got.count = 0;
  if (set) {
    fine = CHECK_EQ(hpar_select(set, document, root, NULL, add_match, &got), HPAR_OK) && fine;
    fine = CHECK(equal(expected, &got)) && fine;
  }
  if (!fine)
    printf("  allocation %llu%s%s\n", (unsigned long long)n, once ? " alone" : "", in_parallel ? ", parallel" : "");
  free_matches(&got);
  hpar_selectors_destroy(set);
  return once ? left == UINT64_MAX : left == 0;
}

static void check_faults(bool in_parallel, unsigned elements, unsigned step) {
  buffer page = {0};
  matches expected = {0};
  hpar_selectors *set = compile(texts, TEXTS);
  write_page(&page, 5, elements, 50);
  if (parse(&page))
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add_match, &expected), HPAR_OK);
  for (int once = 0; once < 2; once++) {
    uint64_t n = 0;
    while (n < 4000 && try(n, once, in_parallel, &expected)) n += step;
    CHECK(n > 20 && n < 4000);
  }
  hpar_selectors_destroy(set);
  free_matches(&expected);
  buffer_free(&page);
}

/* Checks failing allocations of look-ahead tests and of hpar_matches. */
static void check_ahead_faults(void) {
  static const char *const ahead[] = {"p:has(> b + i, ~ div b), :is(ul li:nth-last-child(2 of .x)) b:last-of-type"};
  buffer page = {0};
  matches expected = {0}, got = {0};
  hpar_selectors *set = compile(ahead, 1);
  write_page(&page, 6, 300, 9);
  if (!parse(&page)) return;
  hpar_node root = hpar_document_root(document);
  CHECK_EQ(hpar_select(set, document, root, NULL, add_match, &expected), HPAR_OK);
  CHECK(expected.count > 0);
  for (int way = 0; way < 4; way++) {
    bool once = way & 1, is_reached = true;
    uint64_t n = 0;
    for (; is_reached && n < 1000; n++) {
      bool matches = false;
      got.count = 0;
      if (once)
        hp_memory_fail_once(n);
      else
        hp_memory_fail_after(n);
      hpar_status status = way & 2 ? hpar_select(set, document, root, NULL, add_match, &got)
                                   : hpar_matches(set, document, *expected.elements, HPAR_ANY_SELECTOR, &matches);
      uint64_t left = hp_memory_left();
      hp_memory_fail_after(UINT64_MAX);
      is_reached = once ? left == UINT64_MAX : left == 0;
      CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
      if (!status) CHECK(way & 2 ? equal(&expected, &got) : matches);
    }
    CHECK(n > 10 && n < 1000);
  }
  free_matches(&expected);
  free_matches(&got);
  hpar_selectors_destroy(set);
  buffer_free(&page);
}

int main(void) {
  is_small = compare_scale() < 100;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  check_pages();
  check_shapes();
  check_steps();
  check_arguments();
  check_feeds();
  check_faults(false, 300, 1);
  check_faults(true, 20000, is_small ? 401 : 13);
  check_ahead_faults();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
