/* Faults together. A seed decides a page, a use of the library and its options, and which of these
 * happen. An allocation fails, alone or with all later ones. A thread of the library stops at one
 * of its steps. The caller cancels by a limit of time, by a callback that fails or destroys
 * objects, or by the end of a feed. The page changes its encoding. Scripts write and change the
 * tree.
 *
 * The same call on one thread without faults gives the expected outcome. With faults, the call
 * succeeds with this outcome, or it has a status that the faults explain. It then keeps what the
 * headers promise about a call that has failed. Then it is repeated without faults, with the same
 * objects, and has the expected outcome.
 *
 *   HPAR_TEST_SEED=N   the first seed (1); HPAR_TEST_SEED=N HPAR_TEST_LIMIT=1 repeats run N
 *   HPAR_TEST_LIMIT=N  the number of runs (3,000 at HPAR_TEST_SCALE=100)
 *   HPAR_VERBOSE=1     prints what each run draws
 *
 * Faults that concern several threads come at another place when a run is repeated. */

#include "base/memory.h"
#include "check.h"
#include "rewrite/parallel.h"
#include "runtime/units.h"
#include "speculation/worker.h"
#include "support/compare.h"
#include "support/documents.h"
#include "support/executors.h"
#include "support/generate.h"
#include "support/resource_events.h"
#include "support/rewriting.h"
#include "support/scripted.h"
#include "support/toy.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { RUNS = 3000, INPUTS = 5, SELECTORS = 70, LARGE = 200000, HANG_SECONDS = 60 };

/* So many allocations do not fail, but count. */
static const uint64_t COUNTED = UINT64_C(1) << 40;

/* Ways to use the library. */
typedef enum use { PARSE, FEED, PARSE_MANY, SCAN, REWRITE, REWRITE_MANY, USES } use;
static const char *const use_names[] = {"parse", "feed", "parse many", "scan", "rewrite", "rewrite many"};

/* How the caller cancels. */
typedef enum cancellation { NOTHING, TIME, FAILS, DESTROYS, ABANDONS } cancellation;
static const char *const cancellation_names[] = {"nothing", "time", "callback fails", "callback destroys",
                                                 "feed abandoned"};

/* What a run draws. */
static struct {
  uint64_t seed;
  use use;
  buffer pages[INPUTS];
  size_t page_count;
  hpar_options options; /* of the call with faults */
  hpar_study study;
  size_t piece; /* most bytes of a feed; 0: all */
  hpar_rewrite_options rewrite;
  hp_rewrite_division division;
  hpar_select_options select;
  bool fails_memory, fails_alone;
  unsigned allocation_share; /* ... in thousandths of those of the plain call */
  uint64_t allocation;       /* that fails */
  long step;                 /* at which a thread stops; negative: none */
  bool waits;                /* the calling thread lets others begin */
  bool stops_units;          /* units count as steps, too */
  bool stays;                /* it stops until the call has returned, which must not wait */
  unsigned follow_up;
  cancellation cancellation;
  size_t cancels_at; /* callback or piece */
  unsigned destroys; /* bits: parser, document, rewriter */
} run;

typedef struct outcome {
  hpar_status status, selection;
  hpar_stats stats;
  buffer tree, errors, confirmed, matches; /* the tree, or the output of the rewriter */
  const char *problem;                     /* of the resource events */
  buffer log;
  bool is_unread; /* nobody could read the tree */
  hpar_rewrite_stats rewrite_stats;
  uint64_t views;
  size_t scripts;
} outcome;

static outcome expected[INPUTS], got[INPUTS];

/* The objects of a run, and what its callbacks have done. */
static struct {
  hpar_parser *parser;
  hpar_document *document, *documents[INPUTS];
  hpar_selectors *selectors;
  hpar_rewriter *rewriter;
  rewriting rules;
  resource_events events;
  toy engine;
  bool has_faults;        /* callbacks cancel */
  _Atomic size_t calls;   /* of callbacks that may cancel */
  _Atomic bool cancelled; /* by a callback, or by the end of a feed */
  bool has_no_parser;     /* the callback destroyed it */
  bool has_no_document;
  bool has_no_rewriter;
  outcome *outcomes; /* of a call for many inputs */
} stage;

static unsigned long runs_of[USES], stops, failures_of_memory, cancellations, stayed;

/*** threads that stop ***/

enum { IN_CALL, RETURNED, LEAVES };
static unsigned waits; /* of the calling thread in this run */
enum { MOST_WAITS = 3, STEP_US = 20, NAPS = 6, MOST_NAPS = 300000 };

static _Thread_local bool is_caller;
static _Atomic long steps_left; /* negative: a thread has stopped, or none is to stop */
static _Atomic int phase;
static _Atomic unsigned steps, stopped, hangs;

/* Lets other threads begin: the calling thread could finish a short page before they wake. */
static void wait_for_others(void) {
  const unsigned before = atomic_load(&steps);
  if (!stage.has_faults || !run.waits || run.step < 0 || waits++ >= MOST_WAITS) return;
  for (unsigned naps = 0; naps < NAPS && atomic_load(&steps) == before; naps++) usleep(STEP_US);
}

static void stop_here(void) {
  if (atomic_fetch_sub(&steps_left, 1) != 0) return;
  atomic_fetch_add(&stopped, 1);
  unsigned naps = 0;
  const unsigned most = run.stays ? MOST_NAPS : NAPS;
  while (atomic_load(&phase) < (run.stays ? LEAVES : RETURNED) && naps++ < most) usleep(STEP_US);
  if (run.stays && naps >= most) atomic_fetch_add(&hangs, 1);
  usleep((useconds_t)(run.seed % 7 * STEP_US));
}

static void take_step(bool may_stop) {
  if (is_caller) {
    wait_for_others();
    return;
  }
  atomic_fetch_add(&steps, 1);
  if (may_stop) stop_here();
}

static void stop_at_unit(void) { take_step(run.stops_units); }

static uint32_t stop_at_token(uint32_t at) {
  if (!is_caller || at >= HP_PROGRESS_OF_LEAVING) take_step(at < HP_PROGRESS_OF_LEAVING || run.stops_units);
  return at + 1;
}

static void begin_faults(void) {
  stage.has_faults = true;
  atomic_store(&stage.calls, 0);
  atomic_store(&phase, IN_CALL);
  atomic_store(&stopped, 0);
  waits = 0;
  atomic_store(&steps_left, run.step);
  if (!run.fails_memory) return;
  if (run.fails_alone)
    hp_memory_fail_once(run.allocation);
  else
    hp_memory_fail_after(run.allocation);
}

/* Returns whether an allocation may have failed. */
static bool end_faults(void) {
  const uint64_t left = hp_memory_left();
  hp_memory_fail_after(UINT64_MAX);
  atomic_store(&steps_left, LONG_MIN / 2);
  atomic_store(&phase, RETURNED);
  stage.has_faults = false;
  const bool failed = run.fails_memory && (run.fails_alone ? left == UINT64_MAX : !left);
  failures_of_memory += failed;
  stops += atomic_load(&stopped);
  return failed;
}

/*** callbacks ***/

/* Every callback that may cancel returns this. */
static hpar_status call_back(void) {
  if (!stage.has_faults || (run.cancellation != FAILS && run.cancellation != DESTROYS)) return HPAR_OK;
  if (atomic_fetch_add(&stage.calls, 1) != run.cancels_at) return HPAR_OK;
  atomic_store(&stage.cancelled, true);
  if (run.cancellation == FAILS) return HPAR_ERROR_IO;
  if (run.destroys & 1) hpar_parser_destroy(stage.parser), stage.has_no_parser = true;
  if (run.destroys & 2) hpar_document_destroy(stage.document), stage.has_no_document = true;
  if (run.destroys & 4) hpar_rewriter_destroy(stage.rewriter), stage.has_no_rewriter = true;
  return HPAR_OK;
}

static hpar_status run_script(hpar_editor *editor, const hpar_script *script, void *context) {
  const hpar_status status = call_back();
  wait_for_others();
  return status ? status : toy_run(editor, script, context);
}

/* A script of a batch may run beside others. */
static hpar_status run_own_script(hpar_editor *editor, const hpar_script *script, void *context) {
  toy engine = {.keeps_views = false};
  (void)context;
  return toy_run(editor, script, &engine);
}

static void receive_event(const hpar_resource *resource, hpar_resource_event event, void *context) {
  resource_events_receive(resource, event, context);
  if (event != HPAR_RESOURCE_CONFIRMED) return;
  wait_for_others();
  if (run.cancellation == DESTROYS) call_back();
}

static hpar_status receive_match(hpar_node element, uint32_t selector, void *context) {
  const hpar_string name = hpar_node_name(stage.document, element);
  const hpar_status status = call_back();
  if (!status && !stage.has_no_document) buffer_format(context, "%.*s %u\n", (int)name.length, name.bytes, selector);
  return status;
}

static hpar_status receive_output(const char *bytes, size_t length, void *context) {
  const hpar_status status = call_back();
  if (!status) buffer_add(context, bytes, length);
  return status;
}

static void list_errors(const hpar_parser *parser, buffer *to) {
  buffer_clear(to);
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    const hpar_parse_error error = hpar_parse_error_at(parser, i);
    buffer_format(to, "%s %llu\n", error.code, (unsigned long long)error.offset);
  }
}

static void receive_input(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                          const hpar_stats *stats, unsigned thread, void *context) {
  outcome *to = (outcome *)context + index;
  (void)thread;
  to->status = input->status;
  to->stats = *stats;
  to->is_unread = !compare_dump(document, &to->tree); /* it may lack memory */
  list_errors(parser, &to->errors);
  if (run.cancellation == DESTROYS) call_back();
}

static void receive_page(size_t index, hpar_rewrite_page *page, void *context) {
  outcome *to = (outcome *)context + index;
  to->status = page->status;
  to->rewrite_stats = page->stats;
}

/*** what is drawn: the page ***/

static void insert(buffer *page, size_t at, const char *text, size_t length) {
  buffer made = {0};
  if (at) buffer_add(&made, page->bytes, at);
  buffer_add(&made, text, length);
  if (page->length > at) buffer_add(&made, page->bytes + at, page->length - at);
  buffer_free(page);
  *page = made;
}

static void insert_bytes(random_state *random, buffer *page, size_t from) {
  static const char *const bytes[] = {"\xE4", "\xFC", "\x83\x65", "\xC3\xA9", "\xA4\xA2", "\xE2\x82"};
  for (size_t n = 1 + random_below(random, 3); n > 0; n--) {
    const char *text = RANDOM_OF(random, bytes);
    insert(page, from + random_below(random, page->length - from + 1), text, strlen(text));
  }
}

static void insert_filler(buffer *page) {
  char filler[1200];
  memset(filler, 'x', sizeof filler);
  memcpy(filler, "<!--", 4);
  memcpy(filler + sizeof filler - 3, "-->", 3);
  insert(page, 0, filler, sizeof filler);
}

static void insert_meta(random_state *random, buffer *page, size_t from) {
  static const char *const labels[] = {"windows-1252", "shift_jis", "utf-8", "gb18030",
                                       "koi8-r",       "utf-16le",  "big5",  "none"};
  char meta[64];
  const int length = snprintf(meta, sizeof meta, "<meta charset=%s>", RANDOM_OF(random, labels));
  insert(page, from + random_below(random, page->length - from + 1), meta, (size_t)length);
}

/* Gives the page bytes of another encoding, and declares one where the parse finds it late. */
static const char *change_encoding(random_state *random, buffer *page) {
  static const char *const hints[] = {"windows-1252", "shift_jis", "euc-jp", "utf-8", "x-user-defined"};
  switch (random_below(random, 10)) {
    case 0: insert_bytes(random, page, 0); return RANDOM_OF(random, hints);
    case 1: insert(page, 0, "\xEF\xBB\xBF", 3); return NULL;
    case 2: insert(page, 0, "\xFF\xFE", 2); return NULL;
    case 3: /* not valid UTF-8 at the end */
      insert_filler(page);
      insert(page, page->length - random_below(random, 3), "\xE4", 1);
      return NULL;
    case 4: insert_meta(random, page, 0); return NULL;
    default:
      insert_filler(page);
      insert_bytes(random, page, page->length > 1200 ? 1200 : 0);
      insert_meta(random, page, page->length > 1200 ? 1200 : 0);
      if (random_chance(random, 30)) insert_meta(random, page, 1200);
      return NULL;
  }
}

static generated made;

/* Draws a page. Returns the context of a fragment, or NULL. */
static const char *draw_page(random_state *random, buffer *page, bool *scripting) {
  const char *fragment = NULL;
  buffer_clear(page);
  const size_t kind = random_below(random, 10);
  if (kind < 2) {
    const compare_case *of = &documents[random_below(random, document_count)];
    buffer_add(page, of->bytes, of->length);
    *scripting = of->scripting;
    fragment = of->fragment;
  } else if (kind < 5) {
    scripted_page(random, page, (scripted_kind)random_below(random, SCRIPTED_SHORT + 1));
    *scripting = true;
  }
  for (size_t n = random_below(random, 4); n > 0 || !page->length; n -= n > 0) {
    generate(random_next(random), &made);
    buffer_add(page, made.text.bytes, made.text.length);
    fragment = made.fragment;
    *scripting = made.scripting;
  }
  return fragment;
}

/* Repeats the page, so that several threads select. */
static void enlarge(buffer *page) {
  buffer part = {0};
  for (unsigned i = 0; i < 40; i++) buffer_format(&part, "<p class=x%u><a href=z>a<b id=y>&lt;</b></a>", i % 5);
  if (page->length) buffer_add(&part, page->bytes, page->length);
  while (page->length < LARGE) buffer_add(page, part.bytes, part.length);
  buffer_free(&part);
}

/*** what is drawn: options and faults ***/

static unsigned executor_calls;

static size_t draw_chunk_size(random_state *random) {
  return 8 + random_below(random, 1 + random_below(random, run.pages[0].length / 2 + 1));
}

static void draw_threads(random_state *random, hpar_options *o) {
  static const hpar_run_callback runs[] = {run_threads, run_forwards, run_backwards, run_last, run_none};
  hpar_study *study = &run.study;
  o->study = study;
  o->threads = 2 + (unsigned)random_below(random, 3);
  o->mode = random_chance(random, 10) ? HPAR_MODE_AUTO : HPAR_MODE_PARALLEL;
  o->parallel.chunk_size = draw_chunk_size(random);
  o->parallel.wait = (hpar_wait_policy)random_below(random, 3);
  study->checkpoint_bytes = random_below(random, 3);
  switch (random_below(random, 14)) {
    case 0: o->mode = HPAR_MODE_SEQUENTIAL; break;
    case 1: o->parallel.executor = HPAR_EXECUTOR_INLINE; break;
    case 2:
    case 3:
      o->parallel.executor = HPAR_EXECUTOR_CALLER;
      o->parallel.run = RANDOM_OF(random, runs);
      o->parallel.run_context = &executor_calls;
      break;
    case 4: study->driver = "pipelined"; break;
    case 5: study->driver = "index-ahead"; break;
    case 6: study->pipelined_workers = true; break;
    case 7: study->merge = HPAR_MERGE_TREE; break;
    case 8: study->strategy = "hpar2013"; break;
    case 9: study->inspect = true; break;
    default: break;
  }
}

static void draw_limits(random_state *random, hpar_limits *limits, size_t length) {
  switch (random_below(random, 5)) {
    case 0: limits->nodes = 1 + random_below(random, 60); break;
    case 1: limits->depth = 3 + random_below(random, 12); break;
    case 2: limits->attributes = 1 + random_below(random, 3); break;
    case 3: limits->memory = 100000 + random_below(random, 60000); break;
    default: limits->input = 1 + random_below(random, length + 1); break;
  }
}

static void draw_options(random_state *random) {
  hpar_options *o = &run.options;
  bool scripting = false;
  *o = (hpar_options){HPAR_OPTIONS_INIT};
  run.study = (hpar_study){HPAR_STUDY_INIT};
  o->fragment = draw_page(random, &run.pages[0], &scripting);
  o->scripting = scripting;
  o->encoding = "utf-8";
  if (run.use == PARSE && random_chance(random, 1)) enlarge(&run.pages[0]);
  const bool changes = random_chance(random, 40);
  if (changes) o->encoding = change_encoding(random, &run.pages[0]);
  if (!changes && random_chance(random, 20)) o->encoding = NULL;
  for (run.page_count = 1; run.page_count < INPUTS && random_chance(random, 60); run.page_count++)
    draw_page(random, &run.pages[run.page_count], &scripting);
  draw_threads(random, o);
  if (random_chance(random, 50)) o->max_errors = 1 + random_below(random, 200);
  o->copy_input = random_chance(random, 20);
  o->source_offsets = random_chance(random, 20);
  if (random_chance(random, 20)) o->value_decoding = HPAR_VALUES_AT_ONCE;
  if (random_chance(random, 12)) draw_limits(random, &o->limits, run.pages[0].length);
  if (run.use == SCAN || (run.use != PARSE_MANY && random_chance(random, 30))) {
    o->resources = (hpar_resource_options){.callback = receive_event, .context = &stage.events};
    o->resources.in_order = random_chance(random, 30);
  }
  if (random_chance(random, 45)) {
    o->script.callback = run.use == PARSE_MANY ? run_own_script : run_script;
    o->script.context = &stage.engine;
    if (random_chance(random, 10)) o->script.max_written = 1 + random_below(random, 100);
  }
  run.piece =
      run.use == FEED || random_chance(random, 60) ? 1 + random_below(random, 1u << random_below(random, 12)) : 0;
}

static void draw_rewriting(random_state *random) {
  static const char *const encodings[] = {"utf-8", "utf-8", NULL, "windows-1252", "shift_jis", "gb18030"};
  static const hpar_run_callback runs[] = {run_threads, run_forwards, run_backwards, run_none};
  hpar_rewrite_options *o = &run.rewrite;
  *o = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .encoding = RANDOM_OF(random, encodings),
                              .mode = HPAR_MODE_PARALLEL};
  o->threads = 2 + (unsigned)random_below(random, 3);
  o->no_scripting = !run.options.scripting;
  o->quirks = random_chance(random, 20);
  if (random_chance(random, 5)) o->fragment = run.options.fragment;
  if (random_chance(random, 50)) o->on_failure = HPAR_FAIL_PASS;
  if (random_chance(random, 10)) o->max_text = 1 + random_below(random, 40);
  if (random_chance(random, 5)) o->max_token = 1 + random_below(random, 60);
  if (random_chance(random, 4)) o->max_input = 1 + random_below(random, run.pages[0].length + 1);
  if (random_chance(random, 3)) o->max_depth = 1 + (uint32_t)random_below(random, 12);
  if (random_chance(random, 20)) o->run = RANDOM_OF(random, runs);
  o->run_context = &executor_calls;
  run.division = (hp_rewrite_division){.chunk_size = draw_chunk_size(random),
                                       .checkpoint_bytes = (uint32_t)random_below(random, 3)};
  unsigned kinds = (unsigned)random_below(random, 64);
  if (run.use == REWRITE_MANY) kinds &= ~(unsigned)(REWRITING_CALLBACKS | REWRITING_STOPS);
  rewriting_make(&stage.rules, random, kinds);
}

static void draw_selection(random_state *random) {
  static const hpar_run_callback runs[] = {run_threads, run_forwards, run_backwards, run_last, run_none};
  static const char *const first[] = {"p", "*", "b, i", "div p", "td:first-child", ":empty", "a[href]", ":has(b)"};
  const bool many = run.pages[0].length >= LARGE;
  run.select = (hpar_select_options){HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 3};
  if (random_chance(random, many ? 30 : 60)) run.select.run = RANDOM_OF(random, runs);
  run.select.run_context = &executor_calls;
  CHECK_EQ(hpar_selectors_create(&stage.selectors), HPAR_OK);
  for (unsigned i = 0; i < (many ? SELECTORS : 2); i++) {
    char class[16];
    snprintf(class, sizeof class, i % 3 ? ".x%u" : "p + p.x%u", i % 9);
    const char *text = i ? class : RANDOM_OF(random, first);
    CHECK_EQ(hpar_selectors_add(stage.selectors, text, strlen(text), NULL), HPAR_OK);
  }
}

static hpar_status receive_text(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* Bytes that are no UTF-8 begin the parse again, which then waits for all threads. */
static bool is_utf8(const buffer *page) {
  buffer text = {0};
  CHECK_EQ(hpar_decode("utf-8", page->bytes, page->length, receive_text, &text), HPAR_OK);
  const bool is_equal = text.length == page->length && !memcmp(text.bytes, page->bytes, text.length);
  buffer_free(&text);
  return is_equal;
}

/* Makes the call one that must not wait for a thread: see late_test.c. */
static void keep_thread(random_state *random) {
  hpar_options *o = &run.options;
  o->mode = HPAR_MODE_PARALLEL;
  o->parallel.executor = HPAR_EXECUTOR_THREADS;
  o->limits = (hpar_limits){0};
  o->resources = (hpar_resource_options){0};
  run.study.driver = NULL;
  run.study.inspect = run.study.pipelined_workers = run.stops_units = run.fails_memory = false;
  run.cancellation = NOTHING;
  run.waits = true;
  run.step = (long)random_below(random, 1u << random_below(random, 6));
  run.stays = o->encoding && !strcmp(o->encoding, "utf-8") && is_utf8(&run.pages[0]);
}

static void draw_faults(random_state *random) {
  run.fails_memory = random_chance(random, 45);
  run.fails_alone = random_chance(random, 50);
  run.allocation_share = (unsigned)random_below(random, 1200);
  run.step = random_chance(random, 60) ? (long)random_below(random, 1u << random_below(random, 7)) : LONG_MIN / 2;
  run.waits = random_chance(random, 70);
  run.stops_units = (run.use != PARSE && run.use != FEED) || random_chance(random, 50);
  run.cancellation = random_chance(random, 40) ? (cancellation)(1 + random_below(random, ABANDONS)) : NOTHING;
  run.cancels_at = random_below(random, 1u << random_below(random, 6));
  run.destroys = 1 + (unsigned)random_below(random, 7);
  run.follow_up = (unsigned)random_below(random, 6);
  if (run.cancellation == TIME) run.options.limits.time_ns = 1 + random_below(random, 1u << random_below(random, 20));
  if (run.cancellation == ABANDONS && run.use != FEED && run.use != REWRITE) run.cancellation = NOTHING;
  if (run.cancellation == TIME && run.use == REWRITE)
    run.rewrite.max_time_ns = 1 + random_below(random, 1u << random_below(random, 20));
  if (run.cancellation == TIME && (run.use == REWRITE_MANY || run.use == SCAN)) run.cancellation = NOTHING;
  if (run.stays) keep_thread(random);
}

static void draw(uint64_t seed) {
  random_state random = {seed * 1000003};
  run.seed = seed;
  run.use = (use)random_below(&random, USES);
  run.stays = run.use <= FEED && random_chance(&random, 25);
  draw_options(&random);
  if (run.use == REWRITE || run.use == REWRITE_MANY) draw_rewriting(&random);
  draw_selection(&random);
  draw_faults(&random);
}

static void print_run(void) {
  const hpar_options *o = &run.options;
  buffer page = {0};
  if (run.pages[0].length) buffer_escaped(&page, run.pages[0].bytes, run.pages[0].length);
  printf(
      "  seed %llu: %s, mode %d, executor %d, driver %s, strategy %s, merge %d, stages %d, inspect %d, chunks of %zu, "
      "checkpoint %zu, %u threads, encoding %s, fragment %s, scripts %d, resources %d%s, pieces of %zu, errors %zu\n"
      "  limits: nodes %llu, depth %llu, attributes %llu, memory %llu, input %llu, time %llu\n"
      "  memory %d, allocation %llu%s; step %ld, units %d, stays %d; cancels: %s at %zu, destroys %u; then %u\n",
      (unsigned long long)run.seed, use_names[run.use], o->mode, o->parallel.executor,
      run.study.driver ? run.study.driver : "-", run.study.strategy ? run.study.strategy : "-", run.study.merge,
      run.study.pipelined_workers, run.study.inspect, o->parallel.chunk_size, run.study.checkpoint_bytes, o->threads,
      o->encoding ? o->encoding : "-", o->fragment ? o->fragment : "-", o->script.callback != NULL,
      o->resources.callback != NULL, o->resources.in_order ? " in order" : "", run.piece, o->max_errors,
      (unsigned long long)o->limits.nodes, (unsigned long long)o->limits.depth,
      (unsigned long long)o->limits.attributes, (unsigned long long)o->limits.memory,
      (unsigned long long)o->limits.input, (unsigned long long)o->limits.time_ns, run.fails_memory,
      (unsigned long long)run.allocation, run.fails_alone ? " alone" : "", run.step, run.stops_units, run.stays,
      cancellation_names[run.cancellation], run.cancels_at, run.destroys, run.follow_up);
  printf("  page: \"%.1500s\"\n", page.bytes ? page.bytes : "");
  buffer_free(&page);
  if (run.use >= REWRITE) rewriting_print(&stage.rules);
  for (size_t i = 0; i < run.page_count; i++) printf("  statuses %d, %d\n", expected[i].status, got[i].status);
  fflush(stdout);
}

/*** the calls ***/

/* Creates what the last call has destroyed. */
static hpar_status create_objects(void) {
  hpar_status status = HPAR_OK;
  if (stage.has_no_parser) stage.parser = NULL;
  if (stage.has_no_document) stage.document = NULL;
  if (stage.has_no_rewriter) stage.rewriter = NULL;
  stage.has_no_parser = stage.has_no_document = stage.has_no_rewriter = false;
  if (run.use < REWRITE) {
    if (!stage.parser) status = hpar_parser_create(&stage.parser);
    if (!status && !stage.document) status = hpar_document_create(&stage.document);
    for (size_t i = 0; run.use == PARSE_MANY && !status && i < run.page_count; i += 2)
      if (!stage.documents[i]) status = hpar_document_create(&stage.documents[i]);
  } else if (run.use == REWRITE && !stage.rewriter) {
    status = hpar_rewriter_create(&stage.rewriter);
    if (!status) status = hp_rewriter_divide(stage.rewriter, &run.division);
    if (status) hpar_rewriter_destroy(stage.rewriter), stage.rewriter = NULL;
  }
  return status;
}

/* Copies the piece, so that a sanitizer finds a read of it after the call. */
static hpar_status feed_copy(const char *bytes, size_t length) {
  char *copy = malloc(length + 1);
  if (!copy) abort();
  memcpy(copy, bytes, length);
  const hpar_status status =
      run.use == FEED ? hpar_parser_feed(stage.parser, copy, length) : hpar_rewriter_feed(stage.rewriter, copy, length);
  memset(copy, '<', length);
  free(copy);
  return status;
}

static bool is_limit(hpar_status status) { return status >= HPAR_LIMIT_DEPTH; }

static bool is_empty(const hpar_document *document) {
  return !hpar_node_first_child(document, hpar_document_root(document));
}

/* Ends the feed as the caller may. The document is empty then. */
static void abandon(void) {
  hpar_document *other = NULL;
  atomic_store(&stage.cancelled, true);
  switch (run.destroys) {
    case 1:
      hpar_parser_destroy(stage.parser);
      stage.has_no_parser = true;
      CHECK(is_empty(stage.document));
      return;
    case 2:
      hpar_document_destroy(stage.document);
      stage.has_no_document = true;
      break;
    case 3: hpar_document_clear(stage.document); break;
    case 4: hpar_parse_many(stage.parser, NULL, NULL, 0, NULL, NULL, NULL); break;
    default:
      if (!hpar_document_create(&other)) hpar_parse(stage.parser, &run.options, "<p>a", 4, other, NULL);
      hpar_document_destroy(other);
      if (!other) hpar_document_clear(stage.document);
      break;
  }
  CHECK_EQ(hpar_parser_finish(stage.parser, NULL), HPAR_ERROR_ARGUMENT);
  if (!stage.has_no_document) CHECK(is_empty(stage.document));
}

static hpar_status feed_parser(const hpar_options *options, size_t piece, hpar_stats *stats) {
  const buffer *page = &run.pages[0];
  random_state random = {run.seed};
  hpar_status status = hpar_parser_begin(stage.parser, options, stage.document);
  if (status) {
    CHECK_EQ(hpar_parser_feed(stage.parser, "", 0), HPAR_ERROR_ARGUMENT);
    return status;
  }
  size_t count = 0;
  for (size_t at = 0, n; (!status || is_limit(status)) && at < page->length; at += n) {
    if (stage.has_faults && run.cancellation == ABANDONS && count++ == run.cancels_at) {
      abandon();
      return HPAR_STOP;
    }
    n = piece ? 1 + random_below(&random, piece) : page->length;
    if (n > page->length - at) n = page->length - at;
    status = feed_copy(page->bytes + at, n);
    if (random_chance(&random, 30)) wait_for_others();
    if (stage.has_no_parser || stage.has_no_document) return HPAR_STOP;
  }
  /* Bytes after a limit may decide the encoding, and with it another limit. */
  if (status && !is_limit(status)) CHECK_EQ(hpar_parser_feed(stage.parser, "x", 1), status);
  const hpar_status finished = hpar_parser_finish(stage.parser, stats);
  if (status && !is_limit(status)) CHECK_EQ(finished, status);
  return finished;
}

static void parse(hpar_options options, size_t piece, outcome *to) {
  resource_events_reset(&stage.events);
  stage.engine = (toy){.keeps_views = true};
  stage.events.in_order = options.resources.in_order;
  stage.events.any_thread = options.parallel.executor == HPAR_EXECUTOR_CALLER;
  if (stage.has_faults && run.waits && run.step >= 0 && !hpar_parser_prepare(stage.parser, &options))
    usleep(3 * STEP_US);
  const buffer *page = &run.pages[0];
  to->status = run.use == SCAN ? hpar_scan_resources(stage.parser, &options, page->bytes, page->length)
               : run.use == PARSE || to == expected
                   ? hpar_parse(stage.parser, &options, page->bytes, page->length, stage.document, &to->stats)
                   : feed_parser(&options, piece, &to->stats);
  if (!to->status && !stage.has_no_document && run.use != SCAN) {
    const hpar_select_options one = {HPAR_SELECT_OPTIONS_INIT};
    to->selection = hpar_select(stage.selectors, stage.document, hpar_document_root(stage.document),
                                to == expected ? &one : &run.select, receive_match, &to->matches);
  }
}

/* Reads what the parse has made. */
static void read_parse(outcome *to) {
  if (!stage.has_no_document && stage.document) compare_dump(stage.document, &to->tree);
  list_errors(stage.has_no_parser ? NULL : stage.parser, &to->errors);
  if (stage.events.confirmed.length)
    buffer_add(&to->confirmed, stage.events.confirmed.bytes, stage.events.confirmed.length);
  to->problem = stage.events.errors ? "an event that the parse may not report"
                : stage.events.open.count && run.options.resources.callback && !to->status
                    ? "a resource that is found only"
                    : NULL;
  to->views = stage.engine.views;
  to->scripts = stage.engine.scripts;
}

static void parse_many(const hpar_options *options, outcome *to) {
  hpar_input inputs[INPUTS];
  for (size_t i = 0; i < run.page_count; i++) {
    inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = run.pages[i].bytes, .length = run.pages[i].length,
                             .status = HPAR_ERROR_UNSUPPORTED, .document = stage.documents[i]};
  }
  const hpar_status status = hpar_parse_many(stage.parser, options, inputs, run.page_count, NULL, receive_input, to);
  for (size_t i = 0; i < run.page_count; i++) {
    to[i].status = status ? status : inputs[i].status;
    if (status) CHECK_EQ(inputs[i].status, HPAR_ERROR_UNSUPPORTED);
  }
}

static hpar_status rewrite_page(const hpar_rewrite_options *options, size_t piece, outcome *to) {
  random_state random = {run.seed};
  const buffer *page = &run.pages[0];
  buffer_clear(&stage.rules.log);
  for (size_t i = 0; i < stage.rules.count; i++) buffer_clear(&stage.rules.calls[i].piece);
  hpar_status status = hpar_rewriter_begin(stage.rewriter, stage.rules.compiled, options, receive_output, &to->tree);
  if (status) return status;
  size_t count = 0;
  for (size_t at = 0, n; at < page->length; at += n) {
    n = piece ? 1 + random_below(&random, piece) : page->length;
    if (n > page->length - at) n = page->length - at;
    status = feed_copy(page->bytes + at, n);
    if (stage.has_no_rewriter) return HPAR_STOP;
    if (stage.has_faults && run.cancellation == ABANDONS && count++ == run.cancels_at) {
      atomic_store(&stage.cancelled, true);
      return HPAR_STOP;
    }
  }
  const hpar_status finished = hpar_rewriter_finish(stage.rewriter, &to->rewrite_stats);
  if (stage.has_no_rewriter) return HPAR_STOP;
  if (status) CHECK_EQ(finished, status);
  return finished;
}

static void rewrite(const hpar_rewrite_options *options, size_t piece, outcome *to) {
  to->status = rewrite_page(options, piece, to);
  if (stage.rules.log.length) buffer_add(&to->log, stage.rules.log.bytes, stage.rules.log.length);
}

static void rewrite_many(const hpar_rewrite_options *options, outcome *to) {
  hpar_rewrite_page pages[INPUTS];
  for (size_t i = 0; i < run.page_count; i++) {
    pages[i] = (hpar_rewrite_page){HPAR_REWRITE_PAGE_INIT, .bytes = run.pages[i].bytes, .length = run.pages[i].length,
                                   .write = receive_output, .context = &to[i].tree};
  }
  const hpar_status status = hpar_rewrite_many(stage.rules.compiled, options, pages, run.page_count, receive_page, to);
  for (size_t i = 0; i < run.page_count; i++) {
    if (!status) CHECK_EQ(to[i].status, pages[i].status);
    if (status) to[i].status = status;
  }
}

static void clear_outcome(outcome *o) {
  buffer *const buffers[] = {&o->tree, &o->errors, &o->confirmed, &o->matches, &o->log};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) buffer_clear(buffers[i]);
  o->status = o->selection = HPAR_STOP;
  o->is_unread = false;
  o->stats = (hpar_stats){HPAR_STATS_INIT};
  o->rewrite_stats = (hpar_rewrite_stats){HPAR_REWRITE_STATS_INIT, .failed_at = UINT64_MAX};
}

/* Runs the call: plain on one thread, or as drawn. */
static void call(bool plain, outcome *to) {
  hpar_options options = run.options;
  hpar_rewrite_options rewrites = run.rewrite;
  if (plain || !stage.has_faults) options.limits.time_ns = rewrites.max_time_ns = 0;
  if (plain) {
    options.study = NULL;
    options.mode = rewrites.mode = HPAR_MODE_SEQUENTIAL;
    options.parallel = (hpar_parallel_options){.executor = HPAR_EXECUTOR_INLINE};
    rewrites.threads = 1;
    rewrites.run = NULL;
  }
  const hpar_status status = create_objects();
  for (size_t i = 0; i < INPUTS; i++) {
    clear_outcome(&to[i]);
    if (status) to[i].status = status;
  }
  if (status) return;
  switch (run.use) {
    case PARSE_MANY: parse_many(&options, to); break;
    case REWRITE: rewrite(&rewrites, plain ? 0 : run.piece, to); break;
    case REWRITE_MANY: rewrite_many(&rewrites, to); break;
    default: parse(options, plain ? 0 : run.piece, to);
  }
}

/*** the checks ***/

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static bool begins(const buffer *whole, const char *bytes, size_t length) {
  return length <= whole->length && (!length || !memcmp(whole->bytes, bytes, length));
}

static bool explains(hpar_status status, hpar_status plain, bool memory) {
  if (status == plain) return true;
  if (memory && status == HPAR_ERROR_MEMORY) return true;
  if (run.cancellation == TIME && status == HPAR_LIMIT_TIME) return true;
  return run.cancellation == FAILS && atomic_load(&stage.cancelled) && status == HPAR_ERROR_IO;
}

static bool check_same_parse(const outcome *o, const outcome *e) {
  bool fine = CHECK(!o->problem);
  if (run.use == SCAN) return CHECK(same(&o->confirmed, &e->confirmed)) && fine;
  if (!stage.has_no_document && !o->is_unread) fine = CHECK(same(&o->tree, &e->tree)) && fine;
  if (!stage.has_no_parser) fine = CHECK(same(&o->errors, &e->errors)) && fine;
  fine = CHECK_EQ(o->stats.tokens, e->stats.tokens) && CHECK_EQ(o->stats.nodes, e->stats.nodes) &&
         (o->status || CHECK_EQ(o->stats.bytes, e->stats.bytes)) && CHECK(o->stats.encoding == e->stats.encoding) &&
         CHECK(!o->stats.encoding == !e->stats.encoding_source) &&
         (!o->stats.encoding || run.use == FEED || CHECK_STRING(o->stats.encoding_source, e->stats.encoding_source)) &&
         fine;
  if (run.options.resources.callback) fine = CHECK(same(&o->confirmed, &e->confirmed)) && fine;
  if (run.use != PARSE_MANY) fine = CHECK_EQ(o->scripts, e->scripts) && CHECK_EQ(o->views, e->views) && fine;
  return fine;
}

static bool check_links(void) {
  uint64_t nodes;
  if (run.options.script.callback) return true; /* scripts make texts side by side */
  const char *wrong = compare_links(stage.document, &nodes);
  if (wrong) printf("  %s\n", wrong);
  return CHECK(!wrong);
}

/* Checks the outcome of a parse with faults. */
static bool check_parse(const outcome *o, const outcome *e, bool memory) {
  if (atomic_load(&stage.cancelled) && o->status == HPAR_STOP)
    return stage.has_no_document || !stage.document || CHECK(is_empty(stage.document));
  if (!CHECK(explains(o->status, e->status, memory))) return printf("  status %d\n", o->status), false;
  bool fine = true;
  const bool has_document = !stage.has_no_document && stage.document && run.use != SCAN;
  if (o->status == HPAR_LIMIT_TIME) return !has_document || check_links();
  if (o->status == e->status) fine = check_same_parse(o, e);
  if (o->status && !is_limit(o->status)) {
    if (has_document) fine = CHECK(is_empty(stage.document)) && fine;
    return CHECK_EQ(o->stats.tokens, 0) && CHECK_EQ(o->stats.nodes, 0) && CHECK(!stage.events.errors) && fine;
  }
  if (has_document) fine = check_links() && fine;
  if (o->status || !has_document) return fine;
  if (!CHECK(explains(o->selection, e->selection, memory))) return printf("  status %d\n", o->selection), false;
  if (o->selection == e->selection) return CHECK(same(&o->matches, &e->matches)) && fine;
  return CHECK(begins(&e->matches, o->matches.bytes, o->matches.length)) && fine;
}

static bool check_inputs(const outcome *o, bool memory) {
  bool fine = true;
  for (size_t i = 0; i < run.page_count; i++, o++) {
    const outcome *e = &expected[i];
    fine = CHECK(explains(o->status, e->status, memory)) && fine;
    if (o->status == e->status)
      fine = check_same_parse(o, e) && fine;
    else if (!is_limit(o->status) && stage.documents[i])
      fine = CHECK(is_empty(stage.documents[i])) && fine;
  }
  return fine;
}

/* Returns how many bytes at the end of the output are the rest of the input without edits. */
static size_t passed_on(const outcome *o, size_t length) {
  const bool passes = run.rewrite.on_failure == HPAR_FAIL_PASS && o->status && o->rewrite_stats.failed_at < length;
  return passes ? length - (size_t)o->rewrite_stats.failed_at : 0;
}

/* The output is the beginning of the expected one. With HPAR_FAIL_PASS, the rest of the input
 * follows. */
static bool is_sound(const outcome *o, const outcome *e, const buffer *page) {
  if (e->rewrite_stats.decoded) return true; /* what is passed on is decoded, too */
  const size_t rest = passed_on(o, page->length), expected_rest = passed_on(e, page->length);
  if (o->tree.length < rest || e->tree.length < expected_rest) return false;
  const buffer edited = {e->tree.bytes, e->tree.length - expected_rest, 0};
  return begins(&edited, o->tree.bytes, o->tree.length - rest) &&
         (!rest || !memcmp(o->tree.bytes + o->tree.length - rest, page->bytes + page->length - rest, rest));
}

static bool check_rewrite(const outcome *o, const outcome *e, const buffer *page, bool memory) {
  const bool cancelled = atomic_load(&stage.cancelled);
  if (cancelled && o->status == HPAR_STOP) return memory || CHECK(begins(&e->tree, o->tree.bytes, o->tree.length));
  if (!CHECK(explains(o->status, e->status, memory))) return printf("  status %d\n", o->status), false;
  /* A call of the output function failed. Without HPAR_FAIL_PASS, an earlier failure counts. */
  if (run.cancellation == FAILS && cancelled &&
      (o->status == HPAR_ERROR_IO || run.rewrite.on_failure == HPAR_FAIL_STOP))
    return memory || CHECK(begins(&e->tree, o->tree.bytes, o->tree.length));
  if (o->status != e->status) return CHECK(is_sound(o, e, page));
  const hpar_rewrite_stats *a = &o->rewrite_stats, *b = &e->rewrite_stats;
  bool fine = CHECK(same(&o->tree, &e->tree));
  if (run.use == REWRITE) fine = CHECK(same(&o->log, &e->log)) && fine;
  return CHECK_EQ(a->matches, b->matches) && CHECK_EQ(a->misplaced, b->misplaced) &&
         CHECK_EQ(a->output_bytes, b->output_bytes) && CHECK_EQ(a->failed_at, b->failed_at) &&
         (o->status || CHECK_EQ(a->edits, b->edits)) && fine;
}

static bool check_outcome(bool memory) {
  if (run.use < REWRITE && run.use != PARSE_MANY) {
    read_parse(got);
    return check_parse(got, expected, memory);
  }
  if (run.use == PARSE_MANY) return check_inputs(got, memory);
  bool fine = true;
  for (size_t i = 0; i < (run.use == REWRITE ? 1 : run.page_count); i++)
    fine = check_rewrite(&got[i], &expected[i], &run.pages[i], memory) && fine;
  return fine;
}

/*** runs ***/

static void edit_document(void) {
  hpar_editor *edit;
  hpar_node made_node;
  if (hpar_document_edit(stage.document, NULL, &edit, NULL)) return;
  if (!hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "x-added", 7, &made_node)) {
    hpar_node_set_inner_html(edit, made_node, "<p>a<b x-new=y>c", 16);
    hpar_node_append(edit, hpar_document_html(stage.document), made_node);
  }
  hpar_document_finish_edit(stage.document);
}

/* Does what the caller may do after the call, while a thread may be late. */
static void follow_up(void) {
  if (stage.has_no_parser) stage.parser = NULL;
  if (stage.has_no_document) stage.document = NULL;
  stage.has_no_parser = stage.has_no_document = false;
  switch (run.follow_up) {
    case 0: hpar_document_clear(stage.document); break;
    case 1:
      hpar_document_destroy(stage.document);
      stage.document = NULL;
      break;
    case 2:
      hpar_parser_destroy(stage.parser);
      stage.parser = NULL;
      break;
    case 3:
      if (stage.document && run.use != SCAN) edit_document();
      break;
    default: break; /* the objects are used again at once */
  }
}

static void destroy_objects(void) {
  hpar_parser_destroy(stage.parser);
  hpar_document_destroy(stage.document);
  hpar_rewriter_destroy(stage.rewriter);
  stage.parser = NULL;
  stage.document = NULL;
  stage.rewriter = NULL;
  for (size_t i = 0; i < INPUTS; i++) {
    hpar_document_destroy(stage.documents[i]);
    stage.documents[i] = NULL;
  }
}

static void run_seed(uint64_t seed) {
  draw(seed);
  runs_of[run.use]++;
  if (getenv("HPAR_VERBOSE")) print_run();
  atomic_store(&stage.cancelled, false);
  hp_memory_fail_after(COUNTED);
  call(true, expected);
  run.stays &= !expected->status; /* a parse that fails waits for its threads */
  run.allocation = (COUNTED - hp_memory_left()) * run.allocation_share / 1000;
  hp_memory_fail_after(UINT64_MAX);
  if (run.use < REWRITE && run.use != PARSE_MANY) read_parse(expected);
  destroy_objects();
  begin_faults();
  call(false, got);
  const bool memory = end_faults();
  stayed += run.stays && atomic_load(&stopped);
  bool fine = check_outcome(memory);
  if (!fine) printf("  with the faults\n");
  cancellations += atomic_load(&stage.cancelled);
  atomic_store(&phase, LEAVES);
  follow_up();
  run.cancellation = NOTHING;
  atomic_store(&stage.cancelled, false);
  call(false, got);
  if (!check_outcome(false)) fine = (bool)printf("  after the faults\n") && false;
  destroy_objects();
  hpar_selectors_destroy(stage.selectors);
  hpar_rules_destroy(stage.rules.compiled);
  stage.rules.compiled = NULL;
  if (!CHECK_EQ(atomic_load(&hangs), 0)) fine = false;
  atomic_store(&hangs, 0);
  if (!fine) {
    draw(seed);
    print_run();
    hpar_selectors_destroy(stage.selectors);
    hpar_rules_destroy(stage.rules.compiled);
    stage.rules.compiled = NULL;
  }
}

static void on_alarm(int signal) {
  (void)signal;
  char text[64];
  const int length = snprintf(text, sizeof text, "seed %llu hangs\n", (unsigned long long)run.seed);
  if (write(2, text, (size_t)length) != length) _exit(3);
  abort();
}

static unsigned long number_from(const char *name, unsigned long usual) {
  const char *text = getenv(name);
  return text && *text ? strtoul(text, NULL, 10) : usual;
}

/* LeakSanitizer reports at the end of the process only, unless it is asked. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  const unsigned long first = number_from("HPAR_TEST_SEED", 1);
  const unsigned long count = number_from("HPAR_TEST_LIMIT", RUNS * compare_scale() / 100);
  is_caller = true;
  resource_events_init(&stage.events);
  atomic_store(&steps_left, LONG_MIN / 2);
  hp_worker_hook_progress(stop_at_token);
  hp_unit_set_hook(stop_at_unit);
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGALRM, on_alarm);
  prctl(PR_SET_TIMERSLACK, 1UL); /* short sleeps are short */
  for (unsigned long seed = first; seed < first + count && check_failed < 20; seed++) {
    alarm(HANG_SECONDS);
    run_seed(seed);
    if ((seed - first + 1) % 500 || !__lsan_do_recoverable_leak_check) continue;
    if (!CHECK_EQ(__lsan_do_recoverable_leak_check(), 0)) printf("  seeds %lu to %lu leak\n", seed - 499, seed);
  }
  hp_worker_hook_progress(NULL);
  hp_unit_set_hook(NULL);
  for (use u = PARSE; u < USES; u++) printf("%s %lu%s", use_names[u], runs_of[u], u + 1 < USES ? ", " : "\n");
  printf("%lu threads stopped, %lu of them until the call had returned; %lu failures of memory, %lu cancellations\n",
         stops, stayed, failures_of_memory, cancellations);
  if (count >= RUNS) CHECK(stops && stayed && failures_of_memory && cancellations);
  resource_events_free(&stage.events);
  rewriting_free(&stage.rules);
  generate_free(&made);
  for (size_t i = 0; i < INPUTS; i++) {
    buffer_free(&run.pages[i]);
    for (int k = 0; k < 2; k++) {
      outcome *o = k ? &got[i] : &expected[i];
      buffer *const buffers[] = {&o->tree, &o->errors, &o->confirmed, &o->matches, &o->log};
      for (size_t n = 0; n < sizeof buffers / sizeof *buffers; n++) buffer_free(buffers[n]);
    }
  }
  return check_report();
}
