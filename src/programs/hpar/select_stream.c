#include "programs/hpar/select_stream.h"

#include "programs/hpar/feeder.h"
#include "programs/hpar/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
  const hp_stream_query *query;
  const char *path;
  uint64_t matches; /* in the page */
  hpar_rewriter *rewriter;
  hp_feeder feeder;
} stream;

/* The context of a rule. */
typedef struct observer {
  stream *stream;
  uint32_t selector;
} observer;

static void report(uint64_t start, uint64_t end, void *context) {
  const observer *o = context;
  stream *s = o->stream;
  atomic_fetch_add_explicit(&s->query->matches[o->selector], 1, memory_order_relaxed);
  s->matches++;
  if (s->query->prints_count) return;
  if (s->query->names_files) printf("%s: ", hp_shown_name(s->path));
  printf("%llu-%llu\n", (unsigned long long)start, (unsigned long long)end);
}

/* Returns an exit code, or -1. */
static int add_rules(const hp_stream_query *q, observer *observers, hpar_rules *rules) {
  for (uint32_t i = 0; i < q->count; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = q->texts[i], .found = report, .context = &observers[i]};
    hpar_error error;
    hpar_status status = hpar_rules_add(rules, &rule, &error);
    if (status == HPAR_ERROR_MEMORY) return hp_complain_status(NULL, status);
    if (!status) continue;
    hp_bad_usage(q->command, "--stream: selector, byte %zu: %s", error.offset + 1, error.text);
    fprintf(stderr, "  %s\n  %*s^\n", q->texts[i], (int)error.offset, "");
    return HP_EXIT_USAGE;
  }
  hpar_status status = hpar_rules_compile(rules);
  return status ? hp_complain_status(NULL, status) : -1;
}

static hpar_status feed(const char *bytes, size_t length, void *context) {
  stream *s = context;
  if (ferror(stdout)) return HPAR_ERROR_IO;
  if (s->query->options.mode == HPAR_MODE_SEQUENTIAL) return hpar_rewriter_feed(s->rewriter, bytes, length);
  return hp_feeder_take(&s->feeder, bytes, length);
}

/* Returns an exit code. */
static int select_in(stream *s, const hpar_rules *rules, const char *path) {
  const hp_stream_query *q = s->query;
  s->path = path;
  s->matches = 0;
  hp_feeder_begin(&s->feeder, s->rewriter);
  hpar_status status = hpar_rewriter_begin(s->rewriter, rules, &q->options, NULL, NULL);
  if (status) {
    hp_complain("%s: %s", hp_shown_name(path), hpar_rewriter_error(s->rewriter)->text);
    return status == HPAR_ERROR_ARGUMENT ? HP_EXIT_USAGE : HP_EXIT_FAILED;
  }
  status = hp_read_pieces(path, feed, s);
  if (!status) status = hp_feeder_flush(&s->feeder);
  const int number = errno;
  hpar_status finished = hpar_rewriter_finish(s->rewriter, NULL);
  errno = number;
  if (ferror(stdout)) return HP_EXIT_FAILED;
  if (status == HPAR_LIMIT_MEMORY || finished == HPAR_LIMIT_MEMORY) {
    hp_complain("%s: a tag has more than 1 MB, which --stream does not keep; select without --stream",
                hp_shown_name(path));
    return HP_EXIT_FAILED;
  }
  if (status || finished) return hp_complain_status(path, status ? status : finished);
  if (!q->prints_count) return HP_EXIT_FINE;
  if (q->names_files) printf("%s: ", hp_shown_name(path));
  printf("%llu\n", (unsigned long long)s->matches);
  return HP_EXIT_FINE;
}

int hp_select_stream(const hp_stream_query *q, const char *const *paths, size_t count) {
  stream s = {.query = q};
  hpar_rules *rules = NULL;
  observer *observers = calloc((size_t)q->count + 1, sizeof *observers);
  bool has_memory = observers && !hpar_rewriter_create(&s.rewriter) && !hpar_rules_create(&rules);
  int code = has_memory ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (uint32_t i = 0; code < 0 && i < q->count; i++) observers[i] = (observer){&s, i};
  if (code < 0) code = add_rules(q, observers, rules);
  if (code < 0) {
    code = HP_EXIT_FINE;
    for (size_t i = 0; i < count && !ferror(stdout); i++) {
      int page_code = select_in(&s, rules, paths[i]);
      if (page_code > code) code = page_code;
    }
  }
  hpar_rules_destroy(rules);
  hpar_rewriter_destroy(s.rewriter);
  hp_feeder_free(&s.feeder);
  free(observers);
  return code;
}
