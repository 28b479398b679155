/* Tests late threads of selections. A hook stops a thread of the library where it claims a part of
 * the tree or goes on with it, until the selection has returned. The matches must be those of one
 * thread, although the caller destroys the selectors, the document or both, changes them, forks, or
 * selects again while the thread is still inside. A selection that waits for a stopped thread fails
 * after a minute; one that may wait has a thread that sleeps for a moment. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"
#include "support/stops.h"

#include <hpar/hpar.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 60, SELECTORS = 66, CALLERS = 3 };

/*** the document and its matches ***/

static buffer page;
static hpar_parser *parser;

typedef struct matches {
  hpar_node *elements;
  size_t count, capacity;
  uint64_t selectors; /* a hash of them in order */
  bool waits;         /* the first report does, for other threads */
} matches;

/* Lets another thread divide a part of the tree before the calling thread goes on. A busy machine
 * may have no processor for it. */
static void wait_for_others(void) {
  enum { CALLS = 20, MOST_TURNS = 200 };
  for (unsigned i = 0; i < MOST_TURNS && atomic_load(&stops_calls) < CALLS && !atomic_load(&stops_begun); i++)
    sched_yield();
}

static hpar_status add_match(hpar_node element, uint32_t selector, void *context) {
  matches *m = context;
  if (!m->count && m->waits) wait_for_others();
  if (m->count == m->capacity) {
    m->capacity = 2 * m->capacity + 1024;
    if (!(m->elements = realloc(m->elements, m->capacity * sizeof *m->elements))) abort();
  }
  m->elements[m->count++] = element;
  m->selectors = m->selectors * 31 + selector;
  return HPAR_OK;
}

static void write_page(unsigned elements) {
  static const char *const names[] = {"div", "p", "ul", "li", "b", "select", "fieldset", "section"};
  const char *open[40];
  unsigned depth = 0;
  random_state random = {5};
  buffer_clear(&page);
  buffer_text(&page, "<!DOCTYPE html><body>");
  for (unsigned i = 0; i < elements; i++) {
    while (depth == 40 || (depth && random_below(&random, 9) < 4)) buffer_format(&page, "</%s>", open[--depth]);
    open[depth] = names[random_below(&random, 8)];
    buffer_format(&page, "<%s class='x%u z' title='a&amp;%u'>text<input checked>", open[depth],
                  (unsigned)random_below(&random, 5), i);
    depth++;
  }
}

/* More than 64 compounds, so that trees of 1.5 MB have several threads. */
static hpar_selectors *compile(const char *first) {
  hpar_selectors *set = NULL;
  if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) abort();
  CHECK_EQ(hpar_selectors_add(set, first, strlen(first), NULL), HPAR_OK);
  for (unsigned i = 1; i < SELECTORS; i++) {
    char text[40];
    snprintf(text, sizeof text, i % 3 ? ".x%u" : "div > p.x%u", i);
    CHECK_EQ(hpar_selectors_add(set, text, strlen(text), NULL), HPAR_OK);
  }
  return set;
}

static hpar_document *parse(void) {
  hpar_document *document = NULL;
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  return document;
}

static hpar_status select_by(const hpar_selectors *set, const hpar_document *document, unsigned threads, matches *got) {
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads};
  got->count = 0;
  got->selectors = 0;
  got->waits = threads > 1;
  atomic_store(&stops_calls, 0);
  return hpar_select(set, document, hpar_document_root(document), &options, add_match, got);
}

static bool is_equal(const matches *a, const matches *b) {
  return a->count == b->count && a->selectors == b->selectors &&
         (!a->count || !memcmp(a->elements, b->elements, a->count * sizeof *a->elements));
}

/*** what the caller does while a thread is late ***/

typedef enum follow_up {
  DESTROY_SELECTORS,
  ADD_SELECTOR,
  DESTROY_DOCUMENT,
  CLEAR_DOCUMENT,
  PARSE_INTO_DOCUMENT,
  EDIT_DOCUMENT,
  SELECT_AGAIN,
  FORK,
  FOLLOW_UPS
} follow_up;

static void fork_and_destroy(hpar_document *document, hpar_selectors *set) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    alarm(TIMEOUT_SECONDS);
    hpar_document_destroy(document);
    hpar_selectors_destroy(set);
    /* In _exit, ThreadSanitizer may report the threads that only the parent has as leaked. */
    syscall(SYS_exit_group, 0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void edit(hpar_document *document) {
  hpar_editor *editor;
  hpar_node first = hpar_node_last_child(document, hpar_document_root(document));
  CHECK_EQ(hpar_document_edit(document, NULL, &editor, NULL), HPAR_OK);
  CHECK_EQ(hpar_node_set_inner_html(editor, first, "<p>changed", 10), HPAR_OK);
  hpar_document_finish_edit(document);
}

/* Does what waits for no late thread. */
static void use_beside(follow_up what, hpar_document *document, hpar_selectors **set, const matches *right) {
  matches again = {0};
  switch (what) {
    case DESTROY_SELECTORS:
      hpar_selectors_destroy(*set);
      *set = NULL;
      break;
    case ADD_SELECTOR: CHECK_EQ(hpar_selectors_add(*set, "a:not(b c)", 10, NULL), HPAR_OK); break;
    case SELECT_AGAIN:
      for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(select_by(*set, document, 1 + i, &again), HPAR_OK);
        CHECK(is_equal(&again, right));
      }
      break;
    case FORK: fork_and_destroy(document, *set); break;
    default: break;
  }
  free(again.elements);
}

/* Does what waits for the late thread. */
static void change(follow_up what, hpar_document *document) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .threads = 2};
  switch (what) {
    case CLEAR_DOCUMENT: hpar_document_clear(document); break;
    case PARSE_INTO_DOCUMENT: CHECK_EQ(hpar_parse(parser, &options, "<p>other", 8, document, NULL), HPAR_OK); break;
    case EDIT_DOCUMENT: edit(document); break;
    default: break;
  }
}

static unsigned long stops;

static void select_with_stop(const char *first, unsigned threads, long calls, follow_up what) {
  hpar_selectors *set = compile(first);
  hpar_document *document = parse();
  matches right = {0}, got = {0};
  CHECK_EQ(select_by(set, document, 1, &right), HPAR_OK);
  CHECK(right.count > 100);
  stops_after(calls, 1);
  bool fine = CHECK_EQ(select_by(set, document, threads, &got), HPAR_OK);
  unsigned late = stops_end();
  stops += late;
  fine = CHECK(is_equal(&got, &right)) && fine;
  use_beside(what, document, &set, &right);
  stops_let_go_after(late, 200);
  change(what, document);
  hpar_document_destroy(document);
  stops_join();
  hpar_selectors_destroy(set);
  free(right.elements);
  free(got.elements);
  if (!fine) printf("  %s, %u threads, stop after %ld calls, then %d\n", first, threads, calls, (int)what);
}

/*** several selections ***/

typedef struct caller {
  pthread_t thread;
  const hpar_selectors *set;
  const hpar_document *document;
  matches got;
  hpar_status status;
} caller;

static void *select_beside(void *context) {
  caller *c = context;
  stops_spare = true;
  c->status = select_by(c->set, c->document, 2, &c->got);
  return NULL;
}

/* Each of several callers leaves a thread. A further one still gets all matches. */
static void beside_others(void) {
  hpar_selectors *set = compile("div p");
  hpar_document *document = parse();
  matches right = {0}, got = {0};
  caller callers[CALLERS] = {0};
  CHECK_EQ(select_by(set, document, 1, &right), HPAR_OK);
  stops_after(0, CALLERS);
  for (unsigned i = 0; i < CALLERS; i++) {
    callers[i].set = set;
    callers[i].document = document;
    CHECK_EQ(pthread_create(&callers[i].thread, NULL, select_beside, &callers[i]), 0);
  }
  for (unsigned i = 0; i < CALLERS; i++) {
    pthread_join(callers[i].thread, NULL);
    CHECK_EQ(callers[i].status, HPAR_OK);
    CHECK(is_equal(&callers[i].got, &right));
    free(callers[i].got.elements);
  }
  /* The documents may have more late threads than a selection adds to. */
  unsigned late = stops_end();
  for (unsigned i = 0; i < 6; i++) {
    stops_after(0, 1);
    CHECK_EQ(select_by(set, document, 2, &got), HPAR_OK);
    CHECK(is_equal(&got, &right));
    late += stops_end();
  }
  stops += late;
  hpar_selectors_destroy(set);
  stops_let_go(late);
  hpar_document_destroy(document);
  free(right.elements);
  free(got.elements);
}

/* During an edit, changes do not wait, so the selection does. */
static void in_an_edit(void) {
  hpar_selectors *set = compile("li");
  hpar_document *document = parse();
  hpar_editor *editor;
  matches right = {0}, got = {0};
  CHECK_EQ(hpar_document_edit(document, NULL, &editor, NULL), HPAR_OK);
  CHECK_EQ(select_by(set, document, 1, &right), HPAR_OK);
  stops_briefly = true;
  for (long i = 0; i < 5; i++) {
    stops_after(i, 1);
    CHECK_EQ(select_by(set, document, 2, &got), HPAR_OK);
    CHECK(is_equal(&got, &right));
    stops_end();
    CHECK_EQ(hpar_node_remove(editor, right.elements[--right.count]), HPAR_OK);
    CHECK_EQ(select_by(set, document, 1, &right), HPAR_OK);
  }
  stops_briefly = false;
  hpar_document_finish_edit(document);
  hpar_document_destroy(document);
  hpar_selectors_destroy(set);
  free(right.elements);
  free(got.elements);
}

/* The callback destroys both while a thread is late. */
static hpar_document *destroyed_document;
static hpar_selectors *destroyed_set;
static unsigned to_let_go;

static hpar_status destroy_both(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(unsigned *)context;
  hpar_selectors_destroy(destroyed_set);
  hpar_document_destroy(destroyed_document);
  to_let_go = stops_end();
  stops_let_go(to_let_go);
  return HPAR_STOP;
}

static void destroyed_in_callback(void) {
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2};
  for (long i = 0; i < 4; i++) {
    unsigned calls = 0;
    destroyed_set = compile("div");
    destroyed_document = parse();
    stops_after(i, 1);
    CHECK_EQ(hpar_select(destroyed_set, destroyed_document, hpar_document_root(destroyed_document), &options,
                         destroy_both, &calls),
             HPAR_OK);
    CHECK_EQ(calls, 1);
    stops += to_let_go;
  }
}

int main(void) {
  static const char *const texts[] = {"title,p",       ":checked",         "ul li",      "p:first-child",
                                      "[title*='&1']", "b:nth-of-type(2)", "div ~ p.x1", "input:disabled, fieldset p"};
  enum { TEXTS = sizeof texts / sizeof *texts };
  random_state random = {11};
  stops_open();
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  write_page(16000);
  const unsigned places = (compare_full() ? 400 : compare_scale() < 100 ? 2 : 8) * FOLLOW_UPS;
  for (unsigned i = 0; i < places; i++)
    select_with_stop(texts[random_below(&random, TEXTS)], 2 + (unsigned)random_below(&random, 3),
                     (long)random_below(&random, 1u << random_below(&random, 9)), (follow_up)(i % FOLLOW_UPS));
  beside_others();
  in_an_edit();
  destroyed_in_callback();
  printf("%lu threads stopped\n", stops);
  CHECK(stops > 0);
  stops_close();
  hpar_parser_destroy(parser);
  buffer_free(&page);
  return check_report();
}
