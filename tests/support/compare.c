#include "support/compare.h"
#include "support/mode.h"

#include <hpar/study.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

/* The comparer of the current parse, for the message after a crash. */
static const comparer *current;
static compare_how current_how;
static bool current_parallel, watching;

enum { FENCED_BYTES = 64 << 10 }; /* the length of a fenced document, and of the fence */

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void put(const char *text) {
  size_t length = strlen(text);
  while (length) {
    ssize_t written = write(2, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

static void put_number(uint64_t number) {
  char digits[24], *at = digits + sizeof digits;
  *--at = 0;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  put(at);
}

static void put_escaped(const char *bytes, size_t length) {
  for (size_t i = 0; i < length && i < 8192; i++) {
    unsigned char c = (unsigned char)bytes[i];
    char out[5] = {(char)c, 0};
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
      out[0] = '\\';
      out[1] = (char)('0' + (c >> 6));
      out[2] = (char)('0' + (c >> 3 & 7));
      out[3] = (char)('0' + (c & 7));
      out[4] = 0;
    }
    put(out);
  }
}

static void last_words(void) {
  const comparer *with = current;
  if (!with) return;
  current = NULL;
  put(current_parallel ? "\nduring the parallel parse of\n\"" : "\nduring the sequential parse of\n\"");
  put_escaped(with->of.bytes, with->of.length);
  put("\"\nfragment ");
  put(with->of.fragment ? with->of.fragment : "none");
  put(with->of.scripting ? ", scripting on" : ", scripting off");
  if (current_parallel) {
    if (current_how.pipelined && !current_how.driver) put(", pipelined");
    if (current_how.driver) put(", driver ");
    if (current_how.driver) put(current_how.driver);
    if (current_how.pipeline_stages) put(", with stages");
    if (current_how.pipelined || current_how.pipeline_stages) {
      put(", buffer ");
      put_number(current_how.buffer_tokens);
      put(", batch ");
      put_number(current_how.batch);
      put(", pipeline predictor ");
      put(current_how.pipeline_predictor ? current_how.pipeline_predictor : "default");
    }
    put(", predictor ");
    put(current_how.predictor ? current_how.predictor : "default");
    put(", strategy ");
    put(current_how.strategy ? current_how.strategy : "default");
    put(", mode predictor ");
    put(current_how.mode_predictor ? current_how.mode_predictor : "default");
    put(", cut ");
    put(current_how.cut ? current_how.cut : "default");
    put(current_how.merge ? ", merge tree" : ", merge chain");
    put(", chunk_size ");
    put_number(current_how.chunk_size);
    put(", chunks ");
    put_number(current_how.chunks);
    put(", threads ");
    put_number(current_how.threads);
    put(current_how.executor == HPAR_EXECUTOR_INLINE ? " inline" : "");
    put(", checkpoint_bytes ");
    put_number(current_how.checkpoint_bytes);
    put(", max_errors ");
    put_number(current_how.max_errors);
    put(", cuts");
    for (size_t i = 0; i < current_how.cut_count && i < 64; i++) {
      put(" ");
      put_number(current_how.cuts[i]);
    }
  }
  put("\n");
}

static void on_signal(int number) {
  last_words();
  signal(number, SIG_DFL);
  raise(number);
}

/* Limits processor time, because the machine may be busy or stop the process. */
static void watch(bool on) {
  static time_t patience;
  if (!patience) {
    const char *setting = getenv("HPAR_TEST_PATIENCE");
    patience = setting ? (time_t)strtoul(setting, NULL, 10) : 0;
    if (!patience) patience = 60;
  }
  const struct itimerval end = {.it_value.tv_sec = on ? patience : 0};
  if (watching) setitimer(ITIMER_PROF, &end, NULL);
}

void compare_watch(void) {
  watching = true;
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(last_words);
  } else {
    signal(SIGSEGV, on_signal);
    signal(SIGBUS, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGILL, on_signal);
  }
  signal(SIGABRT, on_signal);
  signal(SIGPROF, on_signal);
}

bool compare_open(comparer *with) {
  *with = (comparer){0};
  hpar_status status = hpar_parser_create(&with->parser);
  if (!status) status = hpar_document_create(&with->document);
  if (status) fprintf(stderr, "cannot create a parser: %s\n", hpar_status_text(status));
  return !status;
}

void compare_close(comparer *with) {
  hpar_document_destroy(with->document);
  hpar_parser_destroy(with->parser);
  for (unsigned threads = 0; threads <= COMPARE_MAX_THREADS; threads++)
    hpar_parser_destroy(with->with_threads[threads]);
  free(with->copy);
  for (int i = 0; i < 2; i++)
    if (with->fenced[i]) munmap(with->fenced[i], 2 * FENCED_BYTES);
  buffer_free(&with->expected);
  buffer_free(&with->got);
  buffer_free(&with->expected_errors);
  buffer_free(&with->got_errors);
}

/* Limits a dump. The links of a broken tree may form a ring, so a dump ends at a length that no
 * correct tree has. */
typedef struct sink {
  buffer *to;
  size_t most;
} sink;

static hpar_status to_sink(const char *bytes, size_t length, void *context) {
  sink *into = context;
  buffer_add(into->to, bytes, length);
  return into->to->length > into->most ? HPAR_ERROR_TOO_LARGE : HPAR_OK;
}

static bool dump(const hpar_document *document, buffer *to, size_t most) {
  sink into = {to, most};
  buffer_clear(to);
  return !hpar_serialize_tree(document, hpar_document_root(document), to_sink, &into);
}

bool compare_dump(const hpar_document *document, buffer *to) { return dump(document, to, SIZE_MAX); }

/* Visits children before the contents of templates. A list of remaining roots replaces
 * recursion. */
const char *compare_links(const hpar_document *document, uint64_t *nodes) {
  hpar_node *roots = malloc(64 * sizeof *roots);
  size_t count = 0, capacity = 64;
  const char *wrong = NULL;
  *nodes = 0;
  if (!roots) return "out of memory";
  roots[count++] = hpar_document_root(document);
  while (count && !wrong) {
    hpar_node top = roots[--count], node = top;
    if (hpar_node_parent(document, top)) wrong = "a root has a parent";
    for (;;) {
      if (++*nodes > UINT64_C(1) << 28) {
        wrong = "the tree has no end";
        break;
      }
      hpar_node child = hpar_node_first_child(document, node), contents = hpar_node_template_contents(document, node);
      if (contents) {
        if (count == capacity) {
          hpar_node *more = realloc(roots, (capacity *= 2) * sizeof *more);
          if (!more) {
            wrong = "out of memory";
            break;
          }
          roots = more;
        }
        roots[count++] = contents;
      }
      if (child) {
        if (hpar_node_previous(document, child)) wrong = "a first child has a previous sibling";
        if (hpar_node_parent(document, child) != node) wrong = "a first child's parent is not its parent";
        node = child;
        if (wrong) break;
        continue;
      }
      if (hpar_node_last_child(document, node)) wrong = "a last child without a first";
      while (node != top && !hpar_node_next(document, node)) {
        hpar_node parent = hpar_node_parent(document, node);
        if (hpar_node_last_child(document, parent) != node) wrong = "the last of the siblings is not the last child";
        if (wrong) break;
        node = parent;
      }
      if (wrong || node == top) break;
      hpar_node next = hpar_node_next(document, node);
      if (hpar_node_previous(document, next) != node)
        wrong = "next and previous disagree";
      else if (hpar_node_parent(document, next) != hpar_node_parent(document, node))
        wrong = "siblings have two parents";
      else if (hpar_node_kind(document, node) == HPAR_NODE_TEXT && hpar_node_kind(document, next) == HPAR_NODE_TEXT)
        wrong = "two texts stand side by side";
      if (wrong) break;
      node = next;
    }
  }
  free(roots);
  return wrong;
}

static void errors_of(const hpar_parser *parser, buffer *to) {
  buffer_clear(to);
  size_t count = hpar_parse_error_count(parser);
  for (size_t i = 0; i < count; i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    buffer_format(to, "%llu %s\n", (unsigned long long)error.offset, error.code ? error.code : "(none)");
  }
}

/* Returns memory for a document of this length. It ends with the document, so that a parse which
 * reads further fails. */
static char *room_for(comparer *with, size_t length) {
  if (length > FENCED_BYTES) return with->copy = malloc(length);
  char *place = with->fenced[1];
  if (!place) {
    place = mmap(NULL, 2 * FENCED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED || mprotect(place + FENCED_BYTES, FENCED_BYTES, PROT_NONE)) return NULL;
  }
  with->fenced[1] = with->fenced[0];
  with->fenced[0] = place;
  with->copy = NULL;
  return place + FENCED_BYTES - length;
}

bool compare_expect(comparer *with, const compare_case *document, size_t max_errors) {
  char *last = with->copy; /* the document refers to it until the next parse */
  char *copy = room_for(with, document->length);
  if (!copy) return false;
  if (document->length) memcpy(copy, document->bytes, document->length);
  with->of = *document;
  with->of.bytes = copy;
  with->expected_stats = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
  with->got_stats = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.scripting = document->scripting;
  options.fragment = document->fragment;
  options.encoding = document->encoding;
  options.max_errors = max_errors;
  current_parallel = false;
  current = with;
  watch(true);
  with->status =
      hpar_study_parse(with->parser, &options, with->of.bytes, with->of.length, with->document, &with->expected_stats);
  watch(false);
  free(last);
  current = NULL;
  if (with->status) return false;
  with->quirks = hpar_document_quirks(with->document);
  errors_of(with->parser, &with->expected_errors);
  return compare_dump(with->document, &with->expected);
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static size_t names(const char *(*name_at)(size_t)) {
  size_t count = 0;
  while (name_at(count)) count++;
  return count;
}

static size_t ways_to_speculate(void) {
  return names(hpar_predictor_name) + names(hpar_strategy_name) + names(hpar_mode_predictor_name) - 2;
}

size_t compare_ways(void) { return ways_to_speculate() + names(hpar_strategy_name); }

void compare_way(size_t index, compare_how *how) {
  if (index >= ways_to_speculate()) {
    how->strategy = hpar_strategy_name(index - ways_to_speculate());
    how->merge = HPAR_MERGE_TREE;
    return;
  }
  size_t predictors = names(hpar_predictor_name), strategies = names(hpar_strategy_name) - 1;
  if (index < predictors)
    how->predictor = hpar_predictor_name(index);
  else if (index < predictors + strategies)
    how->strategy = hpar_strategy_name(index - predictors + 1);
  else
    how->mode_predictor = hpar_mode_predictor_name(index - predictors - strategies + 1);
}

compare_result compare_parallel(comparer *with, const compare_how *how) {
  hpar_parser **parser = how->executor == HPAR_EXECUTOR_THREADS ? &with->with_threads[how->threads] : &with->parser;
  if (!*parser && (with->status = hpar_parser_create(parser))) return COMPARE_FAILED;
  hpar_options options = {HPAR_OPTIONS_INIT};
  hpar_study study = {HPAR_STUDY_INIT};
  mode_choose(&options, &study, how->pipelined ? MODE_PIPELINED : HPAR_MODE_PARALLEL);
  study.pipeline.buffer_tokens = how->buffer_tokens;
  study.pipeline.batch_tokens = how->batch;
  study.pipeline.predictor = how->pipeline_predictor;
  study.pipelined_workers = how->pipeline_stages;
  options.threads = how->threads;
  study.cuts = how->cuts;
  study.cut_count = how->cut_count;
  study.predictor = how->predictor;
  study.strategy = how->strategy;
  study.mode_predictor = how->mode_predictor;
  study.cut_policy = how->cut;
  study.frequencies = how->frequencies;
  study.custom_predictor = how->own_predictor;
  study.custom_mode_predictor = how->own_mode_predictor;
  study.custom_cut_policy = how->own_cut_policy;
  study.custom_strategy = how->own_strategy;
  study.custom_driver = how->own_driver;
  if (how->driver) study.driver = how->driver;
  options.parallel.chunk_size = how->chunk_size;
  options.parallel.chunks = how->chunks;
  study.merge = how->merge;
  options.parallel.executor = how->executor;
  study.checkpoint_bytes = how->checkpoint_bytes;
  options.scripting = with->of.scripting;
  options.fragment = with->of.fragment;
  options.encoding = with->of.encoding;
  options.max_errors = how->max_errors;
  current_how = *how;
  current_parallel = true;
  current = with;
  watch(true);
  with->status = hpar_study_parse(*parser, &options, with->of.bytes, with->of.length, with->document, &with->got_stats);
  watch(false);
  current = NULL;
  if (with->status) return COMPARE_FAILED;
  if (!dump(with->document, &with->got, with->expected.length + 100000)) return COMPARE_TREE;
  if (!same(&with->expected, &with->got)) return COMPARE_TREE;
  if (hpar_document_quirks(with->document) != with->quirks) return COMPARE_TREE;
  uint64_t nodes;
  with->what = compare_links(with->document, &nodes);
  if (with->what) return COMPARE_LINKS;
  const hpar_study_stats *expected = &with->expected_stats, *got = &with->got_stats;
  if (got->tokens != expected->tokens)
    with->what = "tokens";
  else if (got->nodes != expected->nodes)
    with->what = "nodes";
  else if (got->bytes != expected->bytes)
    with->what = "bytes";
  else if (how->cuts && got->chunks > how->cut_count) /* a cut in the BOM makes no chunk */
    with->what = "chunks";
  else if (got->chunks_right_start > got->chunks || got->chunks_clean > got->chunks)
    with->what = "right chunks";
  if (with->what) return COMPARE_STATS;
  if (how->max_errors) {
    errors_of(*parser, &with->got_errors);
    if (!same(&with->expected_errors, &with->got_errors)) return COMPARE_ERRORS;
  }
  return COMPARE_SAME;
}

static void print_both(const char *expected, size_t expected_length, const char *got, size_t got_length) {
  if (expected_length + got_length < 6000) {
    printf("sequential:\n%.*sparallel:\n%.*s", (int)expected_length, expected, (int)got_length, got);
    return;
  }
  size_t at = 0, least = expected_length < got_length ? expected_length : got_length;
  while (at < least && expected[at] == got[at]) at++;
  size_t start = at > 1000 ? at - 1000 : 0;
  size_t more = expected_length - at < 600 ? expected_length - at : 600;
  printf("the dumps differ at byte %zu\nsequential:\n...%.*s...\n", at, (int)(at - start + more), expected + start);
  more = got_length - at < 600 ? got_length - at : 600;
  printf("parallel:\n...%.*s...\n", (int)(at - start + more), got + start);
}

void compare_print(const comparer *with, const compare_how *how, compare_result result) {
  static const char *const names[] = {"same",         "parse errors differ", "statistics differ", "links are broken",
                                      "trees differ", "the parse failed"};
  buffer text = {0};
  buffer_escaped(&text, with->of.bytes, with->of.length);
  printf("%s%s%s\ndocument (%zu bytes): \"%s\"\n", names[result],
         result == COMPARE_LINKS || result == COMPARE_STATS ? ": " : "",
         result == COMPARE_LINKS || result == COMPARE_STATS ? with->what : "", with->of.length,
         text.bytes ? text.bytes : "");
  buffer_clear(&text);
  for (size_t i = 0, from = 0; i <= how->cut_count; i++) {
    size_t to = i < how->cut_count ? how->cuts[i] : with->of.length;
    buffer_text(&text, i ? " | " : "");
    buffer_escaped(&text, with->of.bytes + from, to - from);
    from = to;
  }
  if (text.length < 2000) printf("chunks: %s\n", text.bytes);
  printf(
      "fragment %s, encoding %s, scripting %s, predictor %s, threads %u%s, checkpoint_bytes %zu, max_errors %zu, cuts",
      with->of.fragment ? with->of.fragment : "none", with->of.encoding ? with->of.encoding : "not given",
      with->of.scripting ? "on" : "off", how->predictor ? how->predictor : "default", how->threads,
      how->executor == HPAR_EXECUTOR_INLINE ? " inline" : "", how->checkpoint_bytes, how->max_errors);
  for (size_t i = 0; i < how->cut_count; i++) printf(" %llu", (unsigned long long)how->cuts[i]);
  if (how->pipelined || how->pipeline_stages)
    printf("%s, buffer %u, batch %u, pipeline predictor %s", how->pipelined ? ", pipelined" : ", with stages",
           how->buffer_tokens, how->batch, how->pipeline_predictor ? how->pipeline_predictor : "default");
  printf("\n");
  if (result == COMPARE_FAILED) printf("status: %s\n", hpar_status_text(with->status));
  if (result == COMPARE_TREE) {
    if (same(&with->expected, &with->got))
      printf("quirks modes differ\n");
    else
      print_both(with->expected.bytes, with->expected.length, with->got.bytes, with->got.length);
  }
  if (result == COMPARE_ERRORS)
    print_both(with->expected_errors.bytes, with->expected_errors.length, with->got_errors.bytes,
               with->got_errors.length);
  if (result == COMPARE_STATS)
    printf("sequential: %llu tokens, %llu nodes, %llu bytes; parallel: %llu, %llu, %llu; chunks %llu\n",
           (unsigned long long)with->expected_stats.tokens, (unsigned long long)with->expected_stats.nodes,
           (unsigned long long)with->expected_stats.bytes, (unsigned long long)with->got_stats.tokens,
           (unsigned long long)with->got_stats.nodes, (unsigned long long)with->got_stats.bytes,
           (unsigned long long)with->got_stats.chunks);
  buffer_free(&text);
}

size_t compare_candidates(const char *bytes, size_t length, uint64_t *cuts, size_t capacity) {
  size_t count = 0;
  for (size_t i = 1; i + 1 < length && count < capacity; i++) {
    if (bytes[i] != '<') continue;
    size_t at = i + 1 + (bytes[i + 1] == '/');
    if (at < length && (unsigned)((bytes[at] | 32) - 'a') < 26) cuts[count++] = i;
  }
  return count;
}

/* Removes [from, to) and moves the cuts along. Removes cuts that become equal or reach an end. */
static size_t move_cuts(uint64_t *to_cuts, const uint64_t *cuts, size_t count, uint64_t from, uint64_t to,
                        uint64_t length) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t cut = cuts[i] <= from ? cuts[i] : cuts[i] < to ? from : cuts[i] - (to - from);
    if (!cut || cut >= length - (to - from) || (kept && to_cuts[kept - 1] >= cut)) continue;
    to_cuts[kept++] = cut;
  }
  return kept;
}

static bool still_wrong(comparer *with, const compare_how *how, const compare_case *smaller, compare_result least) {
  return compare_expect(with, smaller, how->max_errors) && compare_parallel(with, how) >= least;
}

compare_result compare_reduce(comparer *with, compare_how *how, uint64_t *cuts, buffer *document,
                              compare_result least) {
  uint64_t *trial_cuts = malloc((how->cut_count + 1) * sizeof *trial_cuts);
  buffer trial = {0};
  if (!trial_cuts) exit(1);
  compare_case smaller = with->of;
  unsigned budget = 20000;
  for (bool progress = true; progress && budget;) {
    progress = false;
    for (size_t i = 0; how->cut_count > 1 && i < how->cut_count && budget; budget--) {
      compare_how fewer = *how;
      memcpy(trial_cuts, cuts, i * sizeof *cuts);
      memcpy(trial_cuts + i, cuts + i + 1, (how->cut_count - i - 1) * sizeof *cuts);
      fewer.cuts = trial_cuts;
      fewer.cut_count--;
      smaller.bytes = document->bytes;
      smaller.length = document->length;
      if (!still_wrong(with, &fewer, &smaller, least)) {
        i++;
        continue;
      }
      how->cut_count = fewer.cut_count;
      memcpy(cuts, trial_cuts, fewer.cut_count * sizeof *cuts);
      progress = true;
    }
    for (size_t step = document->length / 2; step && budget; step /= 2) {
      for (size_t at = 0; at + step <= document->length && budget; budget--) {
        compare_how moved = *how;
        buffer_clear(&trial);
        buffer_add(&trial, document->bytes, at);
        buffer_add(&trial, document->bytes + at + step, document->length - at - step);
        moved.cut_count = move_cuts(trial_cuts, cuts, how->cut_count, at, at + step, document->length);
        moved.cuts = trial_cuts;
        smaller.bytes = trial.bytes;
        smaller.length = trial.length;
        if ((how->cut_count && !moved.cut_count) || !still_wrong(with, &moved, &smaller, least)) {
          at += step;
          continue;
        }
        buffer_clear(document);
        buffer_add(document, trial.bytes, trial.length);
        memcpy(cuts, trial_cuts, moved.cut_count * sizeof *cuts);
        how->cut_count = moved.cut_count;
        progress = true;
      }
    }
  }
  smaller.bytes = document->bytes;
  smaller.length = document->length;
  how->cuts = cuts;
  compare_result result = COMPARE_FAILED;
  if (compare_expect(with, &smaller, how->max_errors)) result = compare_parallel(with, how);
  buffer_free(&trial);
  free(trial_cuts);
  return result;
}

static bool is_set(const char *text) { return text && *text; }

bool compare_full(void) { return is_set(getenv("HPAR_TEST_FULL")); }

unsigned compare_scale(void) {
  const char *text = getenv("HPAR_TEST_SCALE");
  return is_set(text) ? (unsigned)strtoul(text, NULL, 10) : 100;
}

bool compare_possible(void) {
  if (hpar_predictor_name(0)) return true;
  printf("skipped: this build has no parallel parser\n");
  return false;
}
