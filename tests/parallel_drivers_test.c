/* Checks the drivers of hpar_study: what a driver of the caller sees, that its threads work once
 * for each start, and that the tree is the sequential one whatever steps it takes. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/stepper.h"

#include <hpar/study.h>

static comparer with;

static hpar_status parse(const hpar_driver *driver, const char *page, size_t length, const hpar_options *more,
                         hpar_study_stats *stats) {
  hpar_study study = {HPAR_STUDY_INIT, .custom_driver = driver};
  hpar_options options = more ? *more : (hpar_options){HPAR_OPTIONS_INIT};
  options.study = &study;
  return hpar_study_parse(with.parser, &options, page, length, with.document, stats);
}

/*** what a driver sees ***/

typedef struct seen {
  char text[1024];
  size_t length;
  unsigned calls, threads;
  uint64_t tokens, nodes;
} seen;

static void note(seen *s, const char *format, const hpar_token *token, hpar_string string) {
  s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, format, token->start, token->end,
                                (int)string.length, string.bytes);
}

static void list_tokens(hpar_driven_parse *p, void *context) {
  seen *s = context;
  const hpar_token *token;
  s->calls++;
  while ((token = p->next(p))) {
    switch (token->kind) {
      case HPAR_TOKEN_START_TAG: note(s, "%zu-%zu <%.*s", token, token->name); break;
      case HPAR_TOKEN_END_TAG: note(s, "%zu-%zu </%.*s", token, token->name); break;
      case HPAR_TOKEN_EOF: note(s, "%zu-%zu end%.*s", token, token->name); break;
      case HPAR_TOKEN_DOCTYPE: note(s, "%zu-%zu doctype %.*s", token, token->name); break;
      default: note(s, "%zu-%zu '%.*s'", token, token->data); break;
    }
    for (size_t i = 0; i < token->attribute_count; i++) {
      const hpar_attribute *a = &token->attributes[i];
      s->length +=
          (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, " %.*s=%.*s", (int)a->local_name.length,
                           a->local_name.bytes, (int)a->value.length, a->value.bytes);
    }
    s->length += (size_t)snprintf(s->text + s->length, sizeof s->text - s->length, "\n");
    p->build(p);
  }
  s->tokens = p->tokens;
  s->nodes = p->nodes;
}

static void tokens_are_shown(void) {
  static const char page[] = "\xEF\xBB\xBF<!doctype html><p a='1&amp;2' b>x&lt;y<title><b></title><!--c-->";
  seen s = {.calls = 0};
  const hpar_driver driver = {HPAR_DRIVER_INIT, .name = "list", .drive = list_tokens, .context = &s};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(parse(&driver, page, sizeof page - 1, NULL, &stats), HPAR_OK);
  CHECK_STRING(s.text, "0-15 doctype html\n15-32 <p a=1&2 b=\n32-38 'x<y'\n38-45 <title\n45-48 '<b>'\n48-56 </title\n"
                       "56-64 'c'\n64-64 end\n");
  CHECK_EQ(s.calls, 1);
  CHECK_STRING(stats.mode, "list");
  CHECK_EQ(stats.threads, 1);
  CHECK_EQ(stats.tokens, s.tokens);
  CHECK_EQ(stats.nodes, s.nodes);
  CHECK_EQ(stats.tokens, 7);
  CHECK(!stats.pipeline.predictor && !stats.strategy);
  const hpar_driver nameless = {HPAR_DRIVER_INIT, .drive = list_tokens, .context = &s};
  s.length = 0;
  CHECK_EQ(parse(&nameless, page, sizeof page - 1, NULL, &stats), HPAR_OK);
  CHECK_STRING(stats.mode, "custom");
}

static void stop_at_six(hpar_driven_parse *p, void *context) {
  size_t *at = context;
  CHECK_EQ(p->at, 0);
  CHECK(p->advance(p, 1)); /* the token that begins there */
  at[0] = p->at;
  CHECK(p->advance(p, 5));
  at[1] = p->at;
  CHECK(p->advance(p, 3)); /* behind */
  CHECK_EQ(p->at, at[1]);
  at[2] = p->tokens;
  CHECK(!p->has_ended);
}

static void advance_stops(void) {
  static const char page[] = "<p>a<b>c<i>d";
  size_t at[3] = {0};
  const hpar_driver driver = {HPAR_DRIVER_INIT, .drive = stop_at_six, .context = at};
  CHECK_EQ(parse(&driver, page, sizeof page - 1, NULL, NULL), HPAR_OK);
  CHECK_EQ(at[0], 3);
  CHECK_EQ(at[1], 7);
  CHECK_EQ(at[2], 3);
}

static void do_nothing(hpar_driven_parse *p, void *context) {
  seen *s = context;
  s->calls++;
  s->threads = p->threads;
}

/* A driver that leaves its parse to the library, and options that have no use for one. */
static void where_drivers_run(void) {
  static const char page[] = "<p>a<b>c";
  seen s = {.calls = 0};
  const hpar_driver driver = {HPAR_DRIVER_INIT, .threads = 4, .drive = do_nothing, .context = &s};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .limits.depth = 100};
  CHECK_EQ(parse(&driver, page, sizeof page - 1, &options, &stats), HPAR_OK);
  CHECK_EQ(s.calls, 0);
  CHECK_STRING(stats.mode, "sequential");
  options.limits.depth = 0;
  CHECK_EQ(parse(&driver, page, sizeof page - 1, &options, &stats), HPAR_OK);
  CHECK_EQ(s.calls, 1);
  CHECK_STRING(stats.mode, "custom");
  CHECK_EQ(stats.nodes, 8);
  static const struct {
    unsigned threads, expected;
    hpar_executor executor;
  } cases[] = {{1, 1, HPAR_EXECUTOR_THREADS},
               {3, 3, HPAR_EXECUTOR_THREADS},
               {64, 4, HPAR_EXECUTOR_THREADS},
               {3, 1, HPAR_EXECUTOR_INLINE},
               {0, 4, HPAR_EXECUTOR_THREADS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    options.threads = cases[i].threads;
    options.parallel.executor = cases[i].executor;
    CHECK_EQ(parse(&driver, page, sizeof page - 1, &options, &stats), HPAR_OK);
    CHECK_EQ(s.threads, cases[i].expected);
    CHECK_EQ(stats.threads, cases[i].expected);
  }
}

/* A meta element after the bytes that decide on the encoding: the driver begins again. */
static void encoding_restarts(void) {
  static buffer page;
  buffer_clear(&page);
  for (int i = 0; i < 60; i++) buffer_text(&page, "<p>\xE4\xF6<b>\xFC and filler before the meta</b>");
  buffer_text(&page, "<meta charset=shift_jis><p>\x83\x65\x83\x58");
  compare_case document = {page.bytes, page.length, NULL, false, NULL};
  CHECK(compare_expect(&with, &document, 0));
  stepper s = {.seed = 7};
  const hpar_driver driver = STEPPER(&s);
  compare_how how = {.threads = 2, .executor = HPAR_EXECUTOR_THREADS, .own_driver = &driver};
  compare_check(&with, &how);
  CHECK_EQ(s.calls, 2);
  CHECK_EQ(s.wrong, 0);
  CHECK_STRING(with.got_stats.encoding_source, "late-meta");
}

/* Fed input is parsed when it is complete. */
static void fed_input(void) {
  static const char page[] = "<p>a<b>c<i>d</i></p>e";
  seen s = {.calls = 0};
  const hpar_driver driver = {HPAR_DRIVER_INIT, .name = "list", .drive = list_tokens, .context = &s};
  const hpar_study study = {HPAR_STUDY_INIT, .custom_driver = &driver};
  const hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_parser_begin(with.parser, &options, with.document), HPAR_OK);
  for (size_t at = 0; at < sizeof page - 1; at += 7) CHECK_EQ(hpar_parser_feed(with.parser, page + at, 7), HPAR_OK);
  CHECK_EQ(s.calls, 0);
  CHECK_EQ(hpar_study_finish(with.parser, &stats), HPAR_OK);
  CHECK_EQ(s.calls, 1);
  CHECK_EQ(s.tokens, 9);
  CHECK_STRING(stats.mode, "list");
}

static void refused(void) {
  static const char page[] = "<p>a<p>b";
  static const hpar_driver no_size = {.drive = do_nothing}, no_function = {HPAR_DRIVER_INIT, .name = "empty"};
  static const struct {
    hpar_study study;
    const char *message;
  } cases[] = {{{HPAR_STUDY_INIT, .custom_driver = &no_size}, "hpar_driver.size is 0"},
               {{HPAR_STUDY_INIT, .custom_driver = &no_function}, "hpar_study.custom_driver->drive is NULL"},
               {{HPAR_STUDY_INIT, .driver = "nosuch"},
                "hpar_study.driver is \"nosuch\"; accepted: pipelined, indexed, index-ahead"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .study = &cases[i].study};
    CHECK_EQ(hpar_parse(with.parser, &options, page, sizeof page - 1, with.document, NULL), HPAR_ERROR_ARGUMENT);
    const hpar_error *error = hpar_parser_error(with.parser);
    if (!CHECK(strstr(error->text, cases[i].message) != NULL)) printf("  %s\n", error->text);
  }
}

static void count_call(void *context, unsigned thread) { atomic_fetch_add((_Atomic unsigned *)context, thread); }

/* A driver that writes to all fields of its parse, between steps of any kind. */
static void overwrite(hpar_driven_parse *p, void *context) {
  unsigned *round = context;
  _Atomic unsigned sum = 0;
  for (unsigned i = 0; i < 8; i++) {
    if ((i + *round) % 2) p->next(p);
    p->text = "x";
    p->length = i;
    p->threads = 64;
    p->at = i % 3 ? 0 : SIZE_MAX;
    p->tokens = p->nodes = 1000;
    p->has_ended = i % 2;
    if (i == *round) p->start(p, count_call, &sum);
    p->advance(p, 10 * (size_t)i);
  }
  p->join(p);
  CHECK_EQ(atomic_load(&sum), 1); /* one thread, number 1 */
  p->has_ended = true;
  p->advance = NULL;
}

/* What a driver writes there changes nothing, and a start has the threads that there are. */
static void overwritten_fields(void) {
  static const char page[] = "<p>a<b>c<i>d</i></b><table>e<tr><td>f</table>g<p>h</p><ul><li>i<li>j</ul>k";
  compare_case document = {page, sizeof page - 1, NULL, false, "utf-8"};
  if (!CHECK(compare_expect(&with, &document, 0))) return;
  for (unsigned round = 0; round < 8; round++) {
    const hpar_driver driver = {HPAR_DRIVER_INIT, .threads = 2, .drive = overwrite, .context = &round};
    compare_how how = {.threads = 2, .executor = HPAR_EXECUTOR_THREADS, .own_driver = &driver};
    if (!compare_check(&with, &how)) return;
    CHECK_EQ(with.got_stats.threads, 2);
  }
}

/*** any steps ***/

static void step_through(const compare_case *document, uint64_t seed) {
  for (int way = 0; way < 3; way++) {
    stepper s = {.seed = seed * 3 + (uint64_t)way};
    const hpar_driver driver = STEPPER(&s);
    compare_how how = {.threads = 2 + (unsigned)way % 2,
                       .executor = way ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                       .max_errors = way ? 1000 : 0,
                       .own_driver = &driver};
    if (!CHECK(compare_expect(&with, document, how.max_errors))) return;
    compare_check(&with, &how);
    if (!CHECK_EQ(s.wrong, 0)) printf("  seed %llu\n", (unsigned long long)s.seed);
    CHECK_EQ(atomic_load(&s.worked), s.expected);
  }
}

/* Parses with each driver of the library, as they are by default. */
static void use_drivers(const compare_case *document) {
  const char *name;
  for (size_t i = 0; (name = hpar_driver_name(i)); i++) {
    for (int way = 0; way < 3; way++) {
      compare_how how = {.threads = 2,
                         .executor = way ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                         .max_errors = way == 2 ? 1000 : 0,
                         .driver = name};
      if (!CHECK(compare_expect(&with, document, how.max_errors))) return;
      if (!compare_check(&with, &how)) printf("  driver %s\n", name);
    }
  }
}

/* Runs of each byte of the index, at each distance from the blocks of the index. */
static void indexed_bytes(void) {
  static buffer page;
  static const char *const pieces[] = {"<",     ">",   "\"",       "'",         "&",       "&amp;",
                                       "\r",    "\n",  "<p>",      "</p>",      "<a b=\"", "<a b='",
                                       "<!-- ", "-->", "<script>", "</script>", "x",       "\xC3\xA9"};
  random_state random = {11};
  for (int i = 0; i < 400; i++) {
    buffer_clear(&page);
    size_t length = random_below(&random, 700);
    while (page.length < length) {
      size_t run = random_chance(&random, 70) ? 1 : random_below(&random, 140);
      const char *piece = RANDOM_OF(&random, pieces);
      while (run--) buffer_text(&page, piece);
      if (random_chance(&random, 10)) buffer_add(&page, "", 1); /* NUL */
    }
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    use_drivers(&document);
  }
}

static void any_steps(void) {
  for (size_t i = 0; i < document_count; i++) {
    step_through(&documents[i], i);
    use_drivers(&documents[i]);
  }
  generated made = {0};
  uint64_t last = 300 * (uint64_t)compare_scale() / 100;
  for (uint64_t seed = 1; seed <= last; seed++) {
    generate(seed, &made);
    compare_case document = {made.text.bytes, made.text.length, made.fragment, made.scripting, NULL};
    step_through(&document, 1000 + seed);
    if (seed % 3 == 0) use_drivers(&document);
  }
  generate_free(&made);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  tokens_are_shown();
  advance_stops();
  where_drivers_run();
  encoding_restarts();
  fed_input();
  refused();
  overwritten_fields();
  any_steps();
  indexed_bytes();
  compare_close(&with);
  return check_report();
}
