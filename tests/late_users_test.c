/* Tests late threads of rewriters, of scans for resources and of batches, with `bytes_stay`. A hook
 * stops a thread of the library until the call has returned. Output, status, events and trees must
 * be those of one thread, although the call fails or the process forks while the thread is inside.
 * The next call or the destruction waits for the thread. The test then frees the bytes at once, so
 * that a sanitizer detects a late read. */

#include "check.h"
#include "rewrite/team.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"
#include "support/stops.h"

#include <hpar/hpar.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 60, FEED_BYTES = 150000, SOON_US = 200, LONG_US = 20000, ITEMS = 5000, INPUTS = 64 };

static buffer page;
static random_state chance = {3};
static unsigned long stops;

/* Images in comments and scripts are no resources, but a thread that begins there finds them. */
static void write_page(bool declares_late) {
  static const char *const items[] = {"<p class=x><a href=/q?a&amp;b>link</a> text<img src=i%u.png>",
                                      "<ul><li>one<li><a href=b%u>two</a></ul>",
                                      "<!-- <img src=c%u> --><picture><source srcset=s><img src=t></picture>",
                                      "<script>document.x = '<img src=j%u>'</script>", "<style>@import 'k%u';</style>"};
  buffer_clear(&page);
  buffer_text(&page, "<!DOCTYPE html><title>t</title><body>");
  for (unsigned i = 0; i < ITEMS; i++) {
    char text[200];
    snprintf(text, sizeof text, items[random_below(&chance, 5)], i);
    buffer_text(&page, text);
    if (declares_late && i == ITEMS / 2) buffer_text(&page, "<meta charset=windows-1252>");
    if (i % 1000 == 500) buffer_text(&page, "<!--");
    if (i % 1000 == 600) buffer_text(&page, "-->");
  }
}

static char *copy_page(void) {
  char *copy = malloc(page.length);
  if (!copy) abort();
  return memcpy(copy, page.bytes, page.length);
}

/* Runs in a child, which has not the late threads. */
static void in_child(void (*use)(void *object), void *object) {
  fflush(stdout);
  const pid_t child = fork();
  if (!child) {
    alarm(TIMEOUT_SECONDS);
    use(object);
    _exit(0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static long some_calls(void) { return (long)random_below(&chance, 1u << random_below(&chance, 9)); }

/*** the rewriter ***/

typedef enum ending { ENDS, OUTPUT_FAILS, RULE_FAILS, ENDINGS } ending;

typedef struct rewriting {
  hpar_rewriter *rewriter;
  hpar_rules *rules;
  hpar_rewrite_options options;
  char *bytes;
  unsigned *pure; /* what the pure callback reads */
  bool feeds;
  ending ending;
  unsigned matches;
  buffer output;
} rewriting;

static hpar_status add_output(const char *bytes, size_t length, void *context) {
  rewriting *r = context;
  buffer_add(&r->output, bytes, length);
  return r->ending == OUTPUT_FAILS && r->output.length > page.length / 3 ? HPAR_ERROR_IO : HPAR_OK;
}

static hpar_status note_list(hpar_element *element, void *context) {
  rewriting *r = context;
  hpar_element_set(element, "seen", "1", 1);
  return ++r->matches == ITEMS / 9 && r->ending == RULE_FAILS ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

static hpar_status mark(hpar_element *element, void *context) {
  return hpar_element_set(element, "mark", "12", *(const unsigned *)context);
}

static void open_rewriting(rewriting *r) {
  static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "rel", .value = {"nofollow", 8}};
  const hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "p > a[href]", .actions = &set, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "img", .element = mark, .context = r->pure, .pure = true},
                             {HPAR_RULE_INIT, .selector = "ul", .element = note_list, .context = r}};
  CHECK_EQ(hpar_rewriter_create(&r->rewriter), HPAR_OK);
  CHECK_EQ(hpar_rules_create(&r->rules), HPAR_OK);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    CHECK_EQ(hpar_rules_add(r->rules, &rules[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(r->rules), HPAR_OK);
}

static hpar_status rewrite(rewriting *r, unsigned threads) {
  r->options = (hpar_rewrite_options){HPAR_REWRITE_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads,
                                      .encoding = "utf-8", .bytes_stay = 1};
  r->matches = 0;
  buffer_clear(&r->output);
  if (!r->feeds) return hpar_rewrite(r->rewriter, r->rules, &r->options, r->bytes, page.length, NULL, add_output, r);
  hpar_status status = hpar_rewriter_begin(r->rewriter, r->rules, &r->options, add_output, r);
  for (size_t at = 0; at < page.length && status == HPAR_OK; at += FEED_BYTES)
    status =
        hpar_rewriter_feed(r->rewriter, r->bytes + at, page.length - at < FEED_BYTES ? page.length - at : FEED_BYTES);
  const hpar_status finished = hpar_rewriter_finish(r->rewriter, NULL);
  return status ? status : finished;
}

static void close_rewriting(void *given) {
  rewriting *r = given;
  hpar_rules_destroy(r->rules);
  hpar_rewriter_destroy(r->rewriter);
  free(r->bytes);
  free(r->pure);
}

/* Does so in a child. The lost threads may have left their logs in the middle of any change. */
static void close_in_child(void *given) {
  rewriting *r = given;
  hp_rewrite_team *team = r->rewriter->parallel.team;
  for (uint32_t i = 0; team && hp_crew_is_left(&team->crew) && i < team->slot_count; i++)
    team->slots[i].chunk.log.bits.items = (hp_bits *)(uintptr_t)page.bytes;
  close_rewriting(r);
}

/* The output function may fail at another piece. */
static bool has_output(const rewriting *r, const buffer *expected) {
  const size_t length =
      r->ending == OUTPUT_FAILS && r->output.length < expected->length ? r->output.length : expected->length;
  return CHECK(r->output.length == length || r->ending == OUTPUT_FAILS) &&
         CHECK(length > page.length / 3 && !memcmp(r->output.bytes, expected->bytes, length));
}

static void rewrite_with_stop(unsigned number) {
  rewriting r = {.bytes = copy_page(), .pure = malloc(sizeof *r.pure), .feeds = number % 2};
  if (!r.pure) abort();
  *r.pure = 2;
  r.ending = (ending)(number / 2 % ENDINGS);
  open_rewriting(&r);
  const hpar_status right = rewrite(&r, 1);
  buffer expected = r.output;
  r.output = (buffer){0};
  const unsigned threads = 2 + (unsigned)random_below(&chance, 3);
  const long calls = some_calls();
  stops_after(calls, 1);
  bool fine = CHECK_EQ(rewrite(&r, threads), right);
  fine = has_output(&r, &expected) && fine;
  const unsigned late = stops_end();
  stops += late;
  if (number % 5 == 4) in_child(close_in_child, &r);
  if (number % 5 == 3) {
    hpar_rules_destroy(r.rules);
    r.rules = NULL;
  }
  stops_let_go_after(late, number % 5 < 2 ? LONG_US : SOON_US);
  if (number % 5 < 2) {
    char *old = r.bytes;
    r.bytes = copy_page();
    fine = CHECK_EQ(rewrite(&r, number % 5 ? 1 : threads), right) && fine;
    free(old);
    fine = has_output(&r, &expected) && fine;
  }
  close_rewriting(&r);
  stops_join();
  buffer_free(&r.output);
  buffer_free(&expected);
  if (!fine) printf("  rewrite %u, %u threads, stop after %ld calls\n", number, threads, calls);
}

/*** the scan ***/

typedef struct event {
  uint64_t offset, hash;
} event;

typedef struct scanning {
  hpar_parser *parser;
  char *bytes;
  pthread_mutex_t lock;
  struct {
    event items[8 * ITEMS];
    size_t count;
  } of[3]; /* by kind of event */
  bool has_returned;
} scanning;

static void note_event(const hpar_resource *resource, hpar_resource_event kind, void *context) {
  scanning *s = context;
  event e = {resource->offset, resource->kind};
  for (size_t i = 0; i < resource->url.length; i++) e.hash = e.hash * 31 + (unsigned char)resource->url.bytes[i];
  pthread_mutex_lock(&s->lock);
  CHECK(!s->has_returned);
  if (s->of[kind].count < sizeof s->of[kind].items / sizeof *s->of[kind].items)
    s->of[kind].items[s->of[kind].count++] = e;
  pthread_mutex_unlock(&s->lock);
}

static hpar_status scan(scanning *s, unsigned threads, const char *encoding) {
  const hpar_options options = {
      HPAR_OPTIONS_INIT,        .mode = threads > 1 ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL,
      .threads = threads,       .encoding = encoding,
      .parallel.bytes_stay = 1, .resources = {.callback = note_event, .context = s}};
  for (int i = 0; i < 3; i++) s->of[i].count = 0;
  s->has_returned = false;
  const hpar_status status = hpar_scan_resources(s->parser, &options, s->bytes, page.length);
  pthread_mutex_lock(&s->lock);
  s->has_returned = true;
  pthread_mutex_unlock(&s->lock);
  return status;
}

static int compare_events(const void *a, const void *b) { return memcmp(a, b, sizeof(event)); }

/* Each resource that was found is confirmed or cancelled. `confirmed` are those of one thread. */
static bool check_events(scanning *s, const event *confirmed, size_t count) {
  enum { FOUND = HPAR_RESOURCE_FOUND, CONFIRMED = HPAR_RESOURCE_CONFIRMED, CANCELLED = HPAR_RESOURCE_CANCELLED };
  bool fine = CHECK_EQ(s->of[CONFIRMED].count, count) &&
              CHECK(!memcmp(s->of[CONFIRMED].items, confirmed, count * sizeof *confirmed));
  for (int i = 0; i < 3; i++) qsort(s->of[i].items, s->of[i].count, sizeof(event), compare_events);
  for (size_t i = 0; i < s->of[FOUND].count && fine; i++) {
    const event *e = &s->of[FOUND].items[i];
    const bool is_confirmed = bsearch(e, s->of[CONFIRMED].items, count, sizeof *e, compare_events),
               is_cancelled = bsearch(e, s->of[CANCELLED].items, s->of[CANCELLED].count, sizeof *e, compare_events);
    fine = CHECK(is_confirmed || is_cancelled);
  }
  return fine;
}

static void close_scanning(void *given) {
  scanning *s = given;
  hpar_parser_destroy(s->parser);
  free(s->bytes);
}

/* ThreadSanitizer does not support new threads in a child. */
#ifdef __SANITIZE_THREAD__
enum { CHILD_THREADS = 1 };
#else
enum { CHILD_THREADS = 2 };
#endif

static void use_parser(void *given) {
  scanning *s = given;
  CHECK_EQ(scan(s, CHILD_THREADS, "utf-8"), HPAR_OK);
  close_scanning(given);
}

static void scan_with_stop(unsigned number) {
  static scanning s;
  s = (scanning){.bytes = copy_page(), .lock = PTHREAD_MUTEX_INITIALIZER};
  const char *encoding = number % 2 ? "utf-8" : NULL;
  CHECK_EQ(hpar_parser_create(&s.parser), HPAR_OK);
  CHECK_EQ(scan(&s, 1, encoding), HPAR_OK);
  const size_t count = s.of[HPAR_RESOURCE_CONFIRMED].count;
  event *confirmed = malloc((count + 1) * sizeof *confirmed);
  if (!confirmed) abort();
  memcpy(confirmed, s.of[HPAR_RESOURCE_CONFIRMED].items, count * sizeof *confirmed);
  const unsigned threads = 2 + (unsigned)random_below(&chance, 3);
  const long calls = some_calls();
  stops_after(calls, 1);
  bool fine = CHECK_EQ(scan(&s, threads, encoding), HPAR_OK);
  const unsigned late = stops_end();
  stops += late;
  fine = check_events(&s, confirmed, count) && fine;
  if (number % 4 == 3) in_child(use_parser, &s);
  stops_let_go_after(late, number % 4 == 2 ? LONG_US : SOON_US);
  if (number % 4 == 2) {
    char *old = s.bytes;
    s.bytes = copy_page();
    fine = CHECK_EQ(scan(&s, number % 8 == 2 ? 1 : threads, encoding), HPAR_OK) && check_events(&s, confirmed, count) &&
           fine;
    free(old);
  }
  close_scanning(&s);
  stops_join();
  free(confirmed);
  if (!fine) printf("  scan %u, %u threads, stop after %ld calls\n", number, threads, calls);
}

/*** the batch ***/

typedef struct batch {
  hpar_parser *parser;
  char *bytes;
  hpar_input inputs[INPUTS];
  hpar_document *documents[INPUTS]; /* some are NULL: the callback sees the tree */
  buffer trees[INPUTS];
  hpar_many_stats stats;
  bool has_returned;
  _Atomic bool is_wrong; /* in a callback */
} batch;

static void note_tree(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                      const hpar_stats *stats, unsigned thread, void *context) {
  batch *b = context;
  (void)input, (void)stats, (void)thread;
  buffer_clear(&b->trees[index]);
  if (b->has_returned || hpar_parser_error(parser)->status != b->inputs[index].status ||
      !compare_dump(document, &b->trees[index]))
    atomic_store(&b->is_wrong, true);
}

/* The lengths of inputs differ, two of them lack bytes, and long ones reach a limit. */
static hpar_status parse_many(batch *b, unsigned threads) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .threads = threads, .encoding = "utf-8", .limits.nodes = 600,
                                .parallel.bytes_stay = 1};
  for (unsigned i = 0; i < INPUTS; i++)
    b->inputs[i] = (hpar_input){HPAR_INPUT_INIT, .bytes = i % 16 == 9 ? NULL : b->bytes + 100 * i,
                                .length = 200 + i * i * 5, .document = b->documents[i]};
  b->stats = (hpar_many_stats){HPAR_MANY_STATS_INIT};
  b->has_returned = false;
  const hpar_status status = hpar_parse_many(b->parser, &options, b->inputs, INPUTS, &b->stats, note_tree, b);
  b->has_returned = true;
  return status;
}

static bool is_same_tree(const buffer *a, const buffer *b) {
  return CHECK(a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length)));
}

static bool is_same_batch(const batch *a, const batch *b) {
  bool fine = CHECK(!b->is_wrong) && CHECK_EQ(a->stats.failed, b->stats.failed) &&
              CHECK_EQ(a->stats.nodes, b->stats.nodes) && CHECK_EQ(a->stats.bytes, b->stats.bytes) &&
              CHECK_EQ(a->stats.tokens, b->stats.tokens);
  buffer tree = {0};
  for (unsigned i = 0; i < INPUTS; i++) {
    fine = CHECK_EQ(a->inputs[i].status, b->inputs[i].status) && fine;
    fine = is_same_tree(&a->trees[i], &b->trees[i]) && fine;
    if (!b->documents[i]) continue;
    buffer_clear(&tree);
    fine = CHECK(compare_dump(b->documents[i], &tree)) && fine;
    fine = is_same_tree(&tree, &b->trees[i]) && fine;
  }
  buffer_free(&tree);
  return fine;
}

static void open_batch(batch *b) {
  b->bytes = copy_page();
  CHECK_EQ(hpar_parser_create(&b->parser), HPAR_OK);
  for (unsigned i = 0; i < INPUTS; i++)
    if (i % 3) CHECK_EQ(hpar_document_create(&b->documents[i]), HPAR_OK);
}

static void close_batch(void *given) {
  batch *b = given;
  for (unsigned i = 0; i < INPUTS; i++) hpar_document_destroy(b->documents[i]);
  hpar_parser_destroy(b->parser);
  CHECK(!b->is_wrong); /* no late thread has called back */
  for (unsigned i = 0; i < INPUTS; i++) buffer_free(&b->trees[i]);
  free(b->bytes);
}

static void use_batch(void *given) {
  CHECK_EQ(parse_many(given, CHILD_THREADS), HPAR_OK);
  close_batch(given);
}

static void parse_many_with_stop(unsigned number) {
  static batch right, b;
  right = (batch){0};
  b = (batch){0};
  open_batch(&right);
  open_batch(&b);
  CHECK_EQ(parse_many(&right, 1), HPAR_OK);
  if (number % 3) CHECK_EQ(parse_many(&b, 2), HPAR_OK); /* the documents have memory */
  const unsigned threads = 2 + (unsigned)random_below(&chance, 3);
  const long calls = (long)random_below(&chance, 1 + random_below(&chance, INPUTS));
  stops_after(calls, 1 + number % 2);
  bool fine = CHECK_EQ(parse_many(&b, threads), HPAR_OK);
  const unsigned late = stops_end();
  stops += late;
  fine = is_same_batch(&right, &b) && fine;
  if (number % 4 == 3) in_child(use_batch, &b);
  stops_let_go_after(late, number % 4 == 2 ? LONG_US : SOON_US);
  if (number % 4 == 2) {
    char *old = b.bytes;
    b.bytes = copy_page();
    fine = CHECK_EQ(parse_many(&b, number % 8 == 2 ? 1 : threads), HPAR_OK) && is_same_batch(&right, &b) && fine;
    free(old);
  }
  close_batch(&b);
  stops_join();
  close_batch(&right);
  if (!fine) printf("  batch %u, %u threads, stop after %ld calls\n", number, threads, calls);
}

int main(void) {
  const unsigned places = compare_full() ? 500 : compare_scale() < 100 ? 12 : 60;
  stops_open();
  for (unsigned i = 0; i < places; i++) {
    write_page(i % 3 == 2);
    rewrite_with_stop(i);
    scan_with_stop(i);
    parse_many_with_stop(i);
  }
  printf("%lu threads stopped\n", stops);
  CHECK(stops > 0);
  stops_close();
  buffer_free(&page);
  return check_report();
}
