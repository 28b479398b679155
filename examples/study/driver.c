/* Two drivers. "warm" lets a second thread read the text ahead, so that the parser finds it in the
 * cache. "tokens" reads each token before it builds it, and so shows what a parser pays that does
 * not build most tags without a token. Builds with
 *   cc -shared -fPIC $(pkg-config --cflags hpar) driver.c -o driver.so
 * and runs with
 *   hpar compare --plugin driver.so --mode warm PAGE.html */

#include <hpar/study.h>

enum { LINE = 64, LEAD = 256 << 10, STEP = 32 << 10 };

/* What both threads of "warm" use. */
typedef struct ahead {
  const char *text;
  size_t length;
  _Atomic size_t at; /* where the parser is */
  _Atomic bool has_ended;
  _Atomic unsigned sum; /* keeps the loads */
} ahead;

/* Reads each line of the cache, at most LEAD bytes before the parser. It must not wait for the
 * parser after its end. */
static void read_ahead(void *context, unsigned thread) {
  ahead *a = context;
  unsigned sum = 0;
  if (thread != 1) return;
  for (size_t at = 0; at < a->length; at += LINE) {
    while (at > a->at + LEAD)
      if (a->has_ended) return;
    sum += (unsigned char)a->text[at];
  }
  a->sum = sum;
}

static void drive_warm(hpar_driven_parse *parse, void *context) {
  (void)context;
  ahead a = {.text = parse->text, .length = parse->length};
  parse->start(parse, read_ahead, &a); /* nothing with one thread */
  while (parse->advance(parse, parse->at + STEP)) a.at = parse->at;
  a.has_ended = true;
  parse->join(parse); /* before `a` goes */
}

static void drive_tokens(hpar_driven_parse *parse, void *context) {
  (void)context;
  while (parse->next(parse)) parse->build(parse);
}

static const hpar_driver warm = {HPAR_DRIVER_INIT, .name = "warm", .threads = 2, .drive = drive_warm,
                                 .summary = "a second thread reads the text ahead of the parser"};
static const hpar_driver tokens = {HPAR_DRIVER_INIT, .name = "tokens", .drive = drive_tokens,
                                   .summary = "reads each token before it builds it"};
static const hpar_driver *const drivers[] = {&warm, &tokens, NULL};
static const hpar_plugin plugin = {HPAR_PLUGIN_VERSION, .name = "driver", .drivers = drivers};

HPAR_PLUGIN { return &plugin; }
